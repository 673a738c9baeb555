/* Is B better than A? Paired bootstrap and McNemar's exact test. */
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "attn/evaluation.h"
#include "attn/random.h"
#include "word_sense/names.h"
#include "word_sense/scores.h"

#define RESAMPLES     10000
#define NO_DIFFERENCE 1e-12
#define MOST_ITEMS    (INT32_MAX / 4) /* each adds at most four senses, whose number is an int32_t too */

enum { A, B, SYSTEMS };
enum { ACCURACY, MICRO, MACRO, MEASURES };

/* One sentence: what counts as its gold sense for each system, and what each said. Senses are numbered within the word. */
typedef struct item {
    int32_t word, gold[SYSTEMS], predicted[SYSTEMS];
} item;

struct attn_comparison {
    attn_allocator allocator;
    attn__arena arena;
    attn__names words;
    attn__names *senses; /* of each word */
    size_t senses_room;
    item *items;
    size_t count, room;
};

attn_comparison *attn_comparison_new(const attn_allocator *allocator)
{
    attn_comparison *c = attn__calloc(allocator, 1, sizeof *c);
    if (c != NULL) {
        c->allocator = allocator != NULL ? *allocator : attn__malloc;
        attn__arena_init(&c->arena, &c->allocator);
        c->words = attn__names_new(&c->arena);
    }
    return c;
}

void attn_comparison_free(attn_comparison *c)
{
    if (c == NULL) {
        return;
    }
    attn_allocator allocator = c->allocator;
    for (size_t w = 0; w < c->words.count; w++) {
        attn__names_free(&c->senses[w]);
    }
    attn__names_free(&c->words);
    attn__free(&allocator, c->senses);
    attn__free(&allocator, c->items);
    attn__arena_free(&c->arena);
    attn__free(&allocator, c);
}

/* ---- collecting ---- */

/* The word's number, which may be new; -1 if out of memory. */
static int64_t word_of(attn_comparison *c, const char *word)
{
    size_t count = c->words.count;
    void *array = c->senses;
    bool grown = attn__grow(&c->allocator, &array, &c->senses_room, count + 1, sizeof *c->senses);
    c->senses = array;
    int64_t w = grown ? attn__names_add(&c->words, word, strlen(word)) : -1;
    if (w == (int64_t)count) {
        c->senses[w] = attn__names_new(&c->arena);
    }
    return w;
}

static bool fill_item(attn_comparison *c, item *to, const char *gold, const char *const predicted[SYSTEMS])
{
    attn__names *senses = &c->senses[to->word];
    for (int s = 0; s < SYSTEMS; s++) {
        size_t size;
        const char *counted = attn__pick_gold(gold, predicted[s], &size);
        int64_t row = attn__names_add(senses, counted, size), column = attn__names_add(senses, predicted[s], strlen(predicted[s]));
        if (row < 0 || column < 0) {
            return false;
        }
        to->gold[s] = (int32_t)row;
        to->predicted[s] = (int32_t)column;
    }
    return true;
}

attn_status attn_comparison_add(attn_comparison *c, const char *word, const char *gold, const char *predicted_a, const char *predicted_b)
{
    const char *const predicted[SYSTEMS] = {predicted_a, predicted_b};
    size_t size;
    (void)attn__pick_gold(gold, "", &size);
    if (*word == '\0' || *predicted_a == '\0' || *predicted_b == '\0' || size == 0) {
        return ATTN_EINVAL;
    }
    if (c->count >= MOST_ITEMS) {
        return ATTN_ERANGE;
    }
    void *array = c->items;
    bool grown = attn__grow(&c->allocator, &array, &c->room, c->count + 1, sizeof *c->items);
    c->items = array;
    int64_t w = grown ? word_of(c, word) : -1;
    if (w < 0) {
        return ATTN_ENOMEM;
    }
    c->items[c->count].word = (int32_t)w;
    if (!fill_item(c, &c->items[c->count], gold, predicted)) {
        return ATTN_ENOMEM;
    }
    c->count++;
    return ATTN_OK;
}

/* ---- measuring ---- */

/* A sense of a word under one system. */
typedef struct tally {
    int32_t support, predicted, correct;
} tally;

/* Sentences and senses in the order of their words. */
typedef struct grouped {
    int words;
    int64_t n_senses;
    item *items;          /* senses are numbered over all words */
    int64_t *first_item;  /* words + 1 */
    int64_t *first_sense; /* words + 1 */
} grouped;

static bool group_by_word(const attn_comparison *c, attn__arena *arena, grouped *s)
{
    int64_t words = (int64_t)c->words.count;
    *s = (grouped){.words = (int)words};
    s->items = attn__arena_array(arena, (int64_t)c->count, sizeof *s->items);
    s->first_item = attn__arena_array(arena, words + 1, sizeof *s->first_item);
    s->first_sense = attn__arena_array(arena, words + 1, sizeof *s->first_sense);
    int64_t *next = attn__arena_array(arena, words + 1, sizeof *next);
    if (s->items == NULL || s->first_item == NULL || s->first_sense == NULL || next == NULL) {
        return false;
    }
    memset(s->first_item, 0, (size_t)(words + 1) * sizeof *s->first_item);
    for (size_t i = 0; i < c->count; i++) {
        s->first_item[c->items[i].word + 1]++;
    }
    for (int64_t w = 0; w < words; w++) {
        s->first_sense[w] = s->n_senses;
        s->n_senses += (int64_t)c->senses[w].count;
        s->first_item[w + 1] += s->first_item[w];
    }
    s->first_sense[words] = s->n_senses;
    memcpy(next, s->first_item, (size_t)(words + 1) * sizeof *next);
    for (size_t i = 0; i < c->count; i++) {
        item e = c->items[i];
        for (int k = 0; k < SYSTEMS; k++) {
            e.gold[k] += (int32_t)s->first_sense[e.word];
            e.predicted[k] += (int32_t)s->first_sense[e.word];
        }
        s->items[next[e.word]++] = e;
    }
    return true;
}

static bool right(const item *e, int system)
{
    return e->gold[system] == e->predicted[system];
}

static void count(const item *e, tally *const tallies[SYSTEMS])
{
    for (int k = 0; k < SYSTEMS; k++) {
        tallies[k][e->gold[k]].support++;
        tallies[k][e->predicted[k]].predicted++;
        tallies[k][e->gold[k]].correct += right(e, k);
    }
}

/* Means over the words of accuracy and of macro F1, as attn_scores has them. */
static void measure(const grouped *s, const tally *tallies, double *micro, double *macro)
{
    int words = 0;
    *micro = *macro = 0;
    for (int w = 0; w < s->words; w++) {
        int64_t examples = s->first_item[w + 1] - s->first_item[w], correct = 0, occurring = 0;
        double f1 = 0;
        for (int64_t k = s->first_sense[w]; k < s->first_sense[w + 1]; k++) {
            int64_t both = (int64_t)tallies[k].support + tallies[k].predicted;
            correct += tallies[k].correct;
            occurring += both > 0;
            f1 += both > 0 ? 2.0 * tallies[k].correct / (double)both : 0;
        }
        if (examples > 0) {
            words++;
            *micro += (double)correct / (double)examples;
            *macro += f1 / (double)occurring;
        }
    }
    *micro /= words;
    *macro /= words;
}

/* ---- resampling ---- */

/* Random numbers of 32 bits, four a block. */
typedef struct draws {
    uint64_t seed, stream, position;
    uint32_t word[4];
    int left;
} draws;

/* A number below n < 2^31; some are more likely than others by a share below n / 2^32. */
static int64_t draw(draws *d, int64_t n)
{
    if (d->left == 0) {
        attn_random_block(d->seed, d->stream, d->position++, d->word);
        d->left = 4;
    }
    return (int64_t)((uint64_t)d->word[--d->left] * (uint64_t)n >> 32);
}

typedef struct job {
    const grouped *data;
    int64_t count;
    uint64_t seed;
    tally *tallies; /* for each worker, of each system */
    double *differences[MEASURES];
} job;

/* From all sentences: the difference of the accuracies. */
static double resample_all(const job *j, uint64_t stream)
{
    draws d = {.seed = j->seed, .stream = stream};
    int64_t gain = 0;
    for (int64_t i = 0; i < j->count; i++) {
        const item *e = &j->data->items[draw(&d, j->count)];
        gain += right(e, B) - right(e, A);
    }
    return (double)gain / (double)j->count;
}

/* Within each word. */
static void resample_words(const job *j, uint64_t stream, tally *const tallies[SYSTEMS])
{
    draws d = {.seed = j->seed, .stream = stream};
    const grouped *s = j->data;
    for (int k = 0; k < SYSTEMS; k++) {
        memset(tallies[k], 0, (size_t)s->n_senses * sizeof *tallies[k]);
    }
    for (int w = 0; w < s->words; w++) {
        int64_t first = s->first_item[w], n = s->first_item[w + 1] - first;
        for (int64_t i = 0; i < n; i++) {
            count(&s->items[first + draw(&d, n)], tallies);
        }
    }
}

static void resample(void *ctx, int64_t r, int worker)
{
    const job *j = ctx;
    const grouped *s = j->data;
    tally *const tallies[SYSTEMS] = {j->tallies + (int64_t)worker * SYSTEMS * s->n_senses,
                                     j->tallies + ((int64_t)worker * SYSTEMS + 1) * s->n_senses};
    double micro[SYSTEMS], macro[SYSTEMS];
    j->differences[ACCURACY][r] = resample_all(j, 2 * (uint64_t)r);
    resample_words(j, 2 * (uint64_t)r + 1, tallies);
    for (int k = 0; k < SYSTEMS; k++) {
        measure(s, tallies[k], &micro[k], &macro[k]);
    }
    j->differences[MICRO][r] = micro[B] - micro[A];
    j->differences[MACRO][r] = macro[B] - macro[A];
}

/* ---- results ---- */

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Linear between neighbours, of n sorted numbers (Hyndman, Fan 1996, The American Statistician 50, definition 7). */
static double quantile(const double *sorted, int64_t n, double share)
{
    double at = share * (double)(n - 1), below = floor(at);
    int64_t i = (int64_t)below, next = i + 1 < n ? i + 1 : i;
    return sorted[i] + (at - below) * (sorted[next] - sorted[i]);
}

/* Sorts the differences. */
static attn_difference summarise(double a, double b, double *differences, int n)
{
    attn_difference d = {.a = a, .b = b, .difference = b - a};
    int not_better = 0;
    for (int r = 0; r < n; r++) {
        not_better += differences[r] <= NO_DIFFERENCE;
    }
    qsort(differences, (size_t)n, sizeof *differences, by_size);
    d.low = quantile(differences, n, 0.025);
    d.high = quantile(differences, n, 0.975);
    d.not_better = (double)not_better / n;
    return d;
}

static void count_all(const grouped *s, int64_t n, tally *const tallies[SYSTEMS], attn_comparison_result *result)
{
    memset(tallies[A], 0, (size_t)s->n_senses * sizeof *tallies[A]);
    memset(tallies[B], 0, (size_t)s->n_senses * sizeof *tallies[B]);
    for (int64_t i = 0; i < n; i++) {
        bool a = right(&s->items[i], A), b = right(&s->items[i], B);
        count(&s->items[i], tallies);
        result->both += a && b;
        result->only_a += a && !b;
        result->only_b += b && !a;
        result->neither += !a && !b;
    }
    for (int w = 0; w < s->words; w++) {
        result->words += s->first_item[w + 1] > s->first_item[w];
    }
}

static void run(job *j, int resamples, int threads, attn_comparison_result *result)
{
    const grouped *s = j->data;
    tally *const tallies[SYSTEMS] = {j->tallies, j->tallies + s->n_senses};
    double micro[SYSTEMS], macro[SYSTEMS], n = (double)j->count;
    *result = (attn_comparison_result){.sentences = j->count};
    count_all(s, j->count, tallies, result);
    for (int k = 0; k < SYSTEMS; k++) {
        measure(s, tallies[k], &micro[k], &macro[k]);
    }
    attn__parallel_workers(threads, resamples, 20 * n, resample, j);
    double right_a = (double)(result->both + result->only_a), right_b = (double)(result->both + result->only_b);
    result->accuracy = summarise(right_a / n, right_b / n, j->differences[ACCURACY], resamples);
    result->micro_f1 = summarise(micro[A], micro[B], j->differences[MICRO], resamples);
    result->macro_f1 = summarise(macro[A], macro[B], j->differences[MACRO], resamples);
    result->mcnemar = attn_mcnemar(result->only_a, result->only_b);
}

attn_status attn_comparison_run(const attn_comparison *c, const attn_comparison_config *config, attn_comparison_result *result,
                                attn_error *error)
{
    int resamples = config->resamples == 0 ? RESAMPLES : config->resamples;
    *result = (attn_comparison_result){0};
    if (resamples < 0 || c->count == 0) {
        return attn__fail(error, ATTN_EINVAL, "%zu sentences and %d resamples, expected at least one", c->count, resamples);
    }
    attn__arena arena;
    attn__arena_init(&arena, &c->allocator);
    grouped s;
    job j = {.data = &s, .count = (int64_t)c->count, .seed = config->seed};
    bool ok = group_by_word(c, &arena, &s);
    int64_t tallies = (int64_t)attn__workers(config->threads) * SYSTEMS;
    j.tallies = ok ? attn__arena_array(&arena, tallies * s.n_senses, sizeof *j.tallies) : NULL;
    ok = j.tallies != NULL;
    for (int m = 0; m < MEASURES; m++) {
        j.differences[m] = attn__arena_array(&arena, resamples, sizeof *j.differences[m]);
        ok = ok && j.differences[m] != NULL;
    }
    if (ok) {
        run(&j, resamples, config->threads, result);
    }
    attn__arena_free(&arena);
    return ok ? ATTN_OK : attn__fail(error, ATTN_ENOMEM, "out of memory for %d resamples of %zu sentences", resamples, c->count);
}

/* P(K <= k) = C(n,k) / 2^n (1 + k / (n-k+1) + k (k-1) / ((n-k+1) (n-k+2)) + ...), from its largest term down. C(n,k) is a product whose
 * binary exponent is kept apart, so that it cannot overflow. */
double attn_mcnemar(int64_t only_a, int64_t only_b)
{
    int64_t k = only_a < only_b ? only_a : only_b, n = only_a + only_b, exponent = -n;
    double largest = 1, term = 1, sum = 0;
    for (int64_t i = 1; i <= k; i++) {
        int e;
        largest = frexp(largest * ((double)(n - k + i) / (double)i), &e);
        exponent += e;
    }
    for (int64_t i = k; i >= 0 && term > 0; i--) {
        sum += term;
        term *= (double)i / (double)(n - i + 1);
    }
    return fmin(1, 2 * sum * ldexp(largest, exponent > -2000 ? (int)exponent : -2000));
}

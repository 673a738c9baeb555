/* Which words stood near an ambiguous word in the training sentences of each sense: counts, that a prediction hears beside attention.
 *     n(t,s) = sum over the words t at distances d in the sentences of sense s of near(d),   near(d) = NEAR / (NEAR + d)
 *     word t at distance d adds to the logit of s:  weight near(d) ln((n(t,s) + SHRINKAGE q_s) / ((n(t) + SHRINKAGE) q_s))
 * where q_s is the share of sense s in all counts of the ambiguous word: how much more often t stands near s than near its other senses,
 * and nothing for a word that was never seen there. Few sentences are believed less: weight = config.neighbours m / (m + FEW), m being the
 * training sentences a sense of the ambiguous word. Source: the likelihoods of naive Bayes (Gale, Church, Yarowsky 1992, "A method for
 * disambiguating word senses in a large corpus", Computers and the Humanities 26), with counts shrunk towards the share; the numbers
 * were found by cross-validation on training data (docs/word-sense.md).
 *
 * In scripts without spaces the characters of words are counted too, and each speaks like a word, but CHARACTER as loud: most words of a
 * Chinese sentence were never seen in training, their characters were. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <utf8proc.h>

#include "word_sense/tokenize.h"

#define NEAR           5.0
#define SHRINKAGE      0.3
#define FEW            10.0
#define CHARACTER      0.3
#define LAST_CHARACTER 0x10FFFF

static double near(int distance)
{
    return NEAR / (NEAR + abs(distance));
}

/* ---- counting ---- */

/* The next character of a script without spaces at *text, which moves behind it; 0 if there is none. Broken bytes are passed over. */
static int32_t next_character(const char **text)
{
    while (**text != '\0') {
        utf8proc_int32_t code = 0;
        utf8proc_ssize_t n = utf8proc_iterate((const utf8proc_uint8_t *)*text, -1, &code);
        *text += n > 0 ? n : 1;
        if (n > 0 && attn__is_unspaced(code)) {
            return code;
        }
    }
    return 0;
}

/* What stood near one ambiguous word: sums so far, and behind them what was noted since. */
typedef struct tally {
    const attn_allocator *allocator;
    attn__neighbour *list;
    size_t count, full, capacity; /* full: when it is time to sum up */
} tally;

enum { FULL = 1 << 16 };

static int compare_numbers(float a, float b)
{
    return a < b ? -1 : a > b;
}

/* By count too: sums do not depend on how ties are sorted. */
static int by_key(const void *a_, const void *b_)
{
    const attn__neighbour *a = a_, *b = b_;
    int key = compare_numbers(a->key, b->key), sense = compare_numbers(a->sense, b->sense);
    return key != 0 ? key : sense != 0 ? sense : compare_numbers(a->count, b->count);
}

/* Afterwards each key and sense stands in the list once, in order. */
static void sum_up(tally *t)
{
    size_t n = 0;
    if (t->count > 0) {
        qsort(t->list, t->count, sizeof *t->list, by_key);
    }
    for (size_t i = 0; i < t->count; n++) {
        attn__neighbour sum = t->list[i];
        while (++i < t->count && t->list[i].key == sum.key && t->list[i].sense == sum.sense) {
            sum.count += t->list[i].count;
        }
        t->list[n] = sum;
    }
    t->count = n;
    t->full = 2 * n > FULL ? 2 * n : FULL;
}

static bool note(tally *t, int32_t key, int32_t sense, double count)
{
    if (t->count >= t->full) {
        sum_up(t);
    }
    void *array = t->list;
    bool ok = attn__grow(t->allocator, &array, &t->capacity, t->count + 1, sizeof *t->list);
    t->list = array;
    if (ok) {
        t->list[t->count++] = (attn__neighbour){(float)key, (float)sense, (float)count};
    }
    return ok;
}

static bool note_sentence(tally *t, const attn__encoded *e)
{
    bool ok = true;
    for (int j = 0; j < e->length && ok; j++) {
        if (j == e->target) {
            continue;
        }
        ok = e->ids[j] == 0 || note(t, e->ids[j], e->sense, near(j - e->target));
        const char *text = e->tokens[j];
        for (int32_t code = next_character(&text); code != 0 && ok; code = next_character(&text)) {
            ok = note(t, -code, e->sense, near(j - e->target));
        }
    }
    return ok;
}

/* Moves the sums to the end of the entries. */
static bool append(attn_word_sense *m, tally *t, size_t *capacity)
{
    attn__neighbours *to = &m->neighbours;
    sum_up(t);
    void *array = to->entry;
    bool ok = attn__grow(&m->allocator, &array, capacity, (size_t)to->count + t->count, sizeof *to->entry);
    to->entry = array;
    if (ok && t->count > 0) {
        memcpy(to->entry + to->count, t->list, t->count * sizeof *t->list);
        to->count += (int64_t)t->count;
    }
    t->count = 0;
    return ok;
}

/* Sentences by their words; those of one word stay in the order of the data. False if out of memory. */
static bool sort_by_word(const attn_word_sense *m, attn__arena *arena, const attn__encoded *data, int64_t n, const attn__encoded ***order)
{
    int64_t words = (int64_t)m->lemmas.count, *end = attn__arena_array(arena, words, sizeof *end);
    *order = attn__arena_array(arena, n, sizeof **order);
    if (end == NULL || *order == NULL) {
        return false;
    }
    memset(end, 0, (size_t)words * sizeof *end);
    for (int64_t i = 0; i < n; i++) {
        end[data[i].word]++;
    }
    for (int64_t w = 1; w < words; w++) {
        end[w] += end[w - 1];
    }
    for (int64_t i = n - 1; i >= 0; i--) {
        (*order)[--end[data[i].word]] = &data[i];
    }
    return true;
}

static bool count(attn_word_sense *m, attn__arena *arena, const attn__encoded *data, int64_t n)
{
    const attn__encoded **order;
    size_t capacity = 0;
    tally t = {.allocator = &m->allocator, .full = FULL};
    bool ok = sort_by_word(m, arena, data, n, &order);
    for (int64_t i = 0; i < n && ok; i++) {
        ok = note_sentence(&t, order[i]);
        if (ok && (i + 1 == n || order[i + 1]->word != order[i]->word)) {
            ok = append(m, &t, &capacity);
        }
    }
    attn__free(&m->allocator, t.list);
    return ok;
}

attn_status attn__neighbours_count(attn_word_sense *m, const attn_corpus *train, attn_error *error)
{
    if (m->config.neighbours == 0) {
        return ATTN_OK;
    }
    attn__arena arena;
    attn__arena_init(&arena, &m->allocator);
    attn__encoded *data;
    int64_t n;
    attn_status status = attn__encode_corpus(m, &arena, train, true, &data, &n, error);
    if (status == ATTN_OK && !count(m, &arena, data, n)) {
        status = attn__fail(error, ATTN_ENOMEM, "out of memory for the neighbours");
    }
    attn__arena_free(&arena);
    return status == ATTN_OK ? attn__neighbours_open(m, error) : status;
}

/* ---- using the counts ---- */

/* Looks at all entries, which may come from anywhere, and finds where each word begins and what its senses sum to. */
static attn_status take_entries(attn_word_sense *m, attn_error *error)
{
    attn__neighbours *to = &m->neighbours;
    const float rows = (float)m->vocabulary.count, senses = (float)m->n_senses;
    const attn__sense *known = m->sense;
    const attn__neighbour *entry = to->entry;
    int64_t *begin = to->begin;
    double *share = to->share;
    int64_t last = INT64_MIN; /* word and key, as one number */
    int32_t last_sense = 0;
    for (int64_t i = 0; i < to->count; i++) {
        const attn__neighbour x = entry[i];
        bool inside = x.key >= -LAST_CHARACTER && x.key <= rows && x.sense >= 0 && x.sense < senses && x.count > 0;
        int32_t key = inside ? (int32_t)x.key : 0, sense = inside ? (int32_t)x.sense : 0;
        if (key == 0 || (float)key != x.key || (float)sense != x.sense) {
            return attn__fail(error, ATTN_EFORMAT, "neighbours: entry %lld is no word, sense and count", (long long)i);
        }
        int32_t word = known[sense].word;
        int64_t place = (int64_t)word * (1 << 30) + key;
        if ((place < last) | ((place == last) & (sense <= last_sense))) { /* as one test: which is true cannot be foretold */
            return attn__fail(error, ATTN_EFORMAT, "neighbours: entry %lld is not in its place", (long long)i);
        }
        begin[word + 1] = i + 1;
        share[sense] += (double)x.count;
        last = place;
        last_sense = sense;
    }
    return ATTN_OK;
}

attn_status attn__neighbours_open(attn_word_sense *m, attn_error *error)
{
    attn__neighbours *to = &m->neighbours;
    int64_t words = (int64_t)m->lemmas.count;
    to->begin = attn__arena_array(&m->arena, words + 1, sizeof *to->begin);
    to->share = attn__arena_array(&m->arena, m->n_senses, sizeof *to->share);
    to->weight = attn__arena_array(&m->arena, words, sizeof *to->weight);
    if (to->begin == NULL || to->share == NULL || to->weight == NULL) {
        return attn__fail(error, ATTN_ENOMEM, "out of memory for the neighbours");
    }
    memset(to->begin, 0, (size_t)(words + 1) * sizeof *to->begin);
    for (int s = 0; s < m->n_senses; s++) {
        to->share[s] = 1; /* so that none is 0 */
    }
    attn_status status = take_entries(m, error);
    for (int64_t w = 0; w < words; w++) {
        const attn__lemma *l = &m->lemma[w];
        double total = 0, sentences = 0;
        for (int s = l->first; s < l->first + l->senses; s++) {
            total += to->share[s];
            sentences += (double)m->sense[s].count;
        }
        to->weight[w] = m->config.neighbours * sentences / (sentences + FEW * l->senses);
        for (int s = l->first; s < l->first + l->senses; s++) {
            to->share[s] /= total;
        }
        to->begin[w + 1] = to->begin[w + 1] > to->begin[w] ? to->begin[w + 1] : to->begin[w];
    }
    return status;
}

/* The first entry of the word that is not before the key. */
static int64_t find(const attn__neighbours *n, int32_t word, float key)
{
    int64_t low = n->begin[word], high = n->begin[word + 1];
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        if (n->entry[middle].key < key) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

/* Adds what a word or character says that stands near an ambiguous word. */
static void speak(const attn_word_sense *m, int32_t word, int32_t key, double weight, double *logit)
{
    const attn__neighbours *n = &m->neighbours;
    const attn__lemma *l = &m->lemma[word];
    int64_t i = find(n, word, (float)key), end = i;
    double total = 0;
    for (; end < n->begin[word + 1] && n->entry[end].key == (float)key; end++) {
        total += (double)n->entry[end].count;
    }
    for (int s = l->first; s < l->first + l->senses && total > 0; s++) {
        double q = n->share[s], counted = i < end && (int)n->entry[i].sense == s ? (double)n->entry[i++].count : 0;
        logit[s] += weight * log((counted + SHRINKAGE * q) / ((total + SHRINKAGE) * q));
    }
}

void attn__neighbour_says(const attn_word_sense *m, const attn__encoded *e, int j, double *logit)
{
    if (j == e->target || m->neighbours.count == 0) {
        return;
    }
    double weight = m->neighbours.weight[e->word] * near(j - e->target);
    if (e->ids[j] != 0) {
        speak(m, e->word, e->ids[j], weight, logit);
    }
    const char *text = e->tokens[j];
    for (int32_t code = next_character(&text); code != 0; code = next_character(&text)) {
        speak(m, e->word, -code, CHARACTER * weight, logit);
    }
}

void attn__counted(const attn_word_sense *m, const attn__encoded *e, bool neighbours, double *logit)
{
    const attn__lemma *l = &m->lemma[e->word];
    for (int s = l->first; s < l->first + l->senses; s++) {
        logit[s] = attn__sense_prior(m, s);
    }
    for (int j = 0; j < e->length && neighbours; j++) {
        attn__neighbour_says(m, e, j, logit);
    }
}

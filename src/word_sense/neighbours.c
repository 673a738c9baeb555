/* Which words stood near an ambiguous word in the training sentences of each sense: counts, that a prediction hears beside attention.
 *     n(t,s) = sum over the words t at distances d in the sentences of sense s of near(d),   near(d) = NEAR / (NEAR + d)
 *     word t at distance d adds to the logit of s:  config.neighbours near(d) ln((n(t,s) + SHRINKAGE q_s) / ((n(t) + SHRINKAGE) q_s))
 * where q_s is the share of sense s in all counts of the ambiguous word: how much more often t stands near s than near its other senses,
 * and nothing for a word that was never seen there. Source: the likelihoods of naive Bayes (Gale, Church, Yarowsky 1992, "A method for
 * disambiguating word senses in a large corpus", Computers and the Humanities 26), with counts shrunk towards the share; the three
 * numbers were found by cross-validation on training data (docs/word-sense.md). */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "word_sense/model.h"

#define NEAR      5.0
#define SHRINKAGE 0.3

static double near(int distance)
{
    return NEAR / (NEAR + abs(distance));
}

/* ---- counting ---- */

/* Sentences of word w are order[begin[w]] .. order[begin[w + 1] - 1], as in the data. */
typedef struct by_word {
    int64_t *begin;
    const attn__encoded **order;
} by_word;

static bool sort_by_word(const attn_word_sense *m, attn__arena *arena, const attn__encoded *data, int64_t count, by_word *b)
{
    int64_t words = (int64_t)m->lemmas.count;
    b->begin = attn__arena_array(arena, words + 1, sizeof *b->begin);
    b->order = attn__arena_array(arena, count, sizeof *b->order);
    if (b->begin == NULL || b->order == NULL) {
        return false;
    }
    memset(b->begin, 0, (size_t)(words + 1) * sizeof *b->begin);
    for (int64_t i = 0; i < count; i++) {
        b->begin[data[i].word]++;
    }
    for (int64_t w = 1; w <= words; w++) {
        b->begin[w] += b->begin[w - 1]; /* the end of word w ... */
    }
    for (int64_t i = count - 1; i >= 0; i--) {
        b->order[--b->begin[data[i].word]] = &data[i]; /* ... moves down to its begin */
    }
    return true;
}

static int by_number(const void *a, const void *b)
{
    int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return x < y ? -1 : x > y;
}

/* Counts of one word: sums (V+1,senses), zero before and after use; met: room for V rows. */
typedef struct tally {
    float *sums;
    int32_t *met;
    int64_t n;
} tally;

static void count_sentence(const attn_word_sense *m, const attn__encoded *e, tally *t)
{
    const attn__lemma *l = &m->lemma[e->word];
    for (int j = 0; j < e->length; j++) {
        if (j == e->target || e->ids[j] == 0) {
            continue;
        }
        float *sums = t->sums + (int64_t)e->ids[j] * l->senses;
        bool new = true;
        for (int s = 0; s < l->senses && new; s++) {
            new = sums[s] == 0;
        }
        if (new) {
            t->met[t->n++] = e->ids[j];
        }
        sums[e->sense - l->first] += (float)near(j - e->target);
    }
}

/* Moves the counts of a word to the end of the entries. */
static bool append(attn_word_sense *m, int word, tally *t, size_t *capacity)
{
    attn__neighbours *to = &m->neighbours;
    const attn__lemma *l = &m->lemma[word];
    void *array = to->entry;
    bool ok = attn__grow(&m->allocator, &array, capacity, (size_t)(to->count + t->n * l->senses), sizeof *to->entry);
    to->entry = array;
    qsort(t->met, (size_t)t->n, sizeof *t->met, by_number);
    for (int64_t i = 0; i < t->n && ok; i++) {
        float *sums = t->sums + (int64_t)t->met[i] * l->senses;
        for (int s = 0; s < l->senses; s++) {
            if (sums[s] > 0) {
                to->entry[to->count++] = (attn__neighbour){(float)t->met[i], (float)(l->first + s), sums[s]};
                sums[s] = 0;
            }
        }
    }
    t->n = 0;
    return ok;
}

static bool count(attn_word_sense *m, attn__arena *arena, const attn__encoded *data, int64_t n)
{
    int64_t rows = (int64_t)m->vocabulary.count + 1, most = 0;
    for (int w = 0; w < (int)m->lemmas.count; w++) {
        most = m->lemma[w].senses > most ? m->lemma[w].senses : most;
    }
    by_word b;
    size_t capacity = 0;
    tally t = {.sums = attn__arena_array(arena, rows * most, sizeof *t.sums), .met = attn__arena_array(arena, rows, sizeof *t.met)};
    if (t.sums == NULL || t.met == NULL || !sort_by_word(m, arena, data, n, &b)) {
        return false;
    }
    memset(t.sums, 0, (size_t)(rows * most) * sizeof *t.sums);
    bool ok = true;
    for (int w = 0; w < (int)m->lemmas.count && ok; w++) {
        for (int64_t i = b.begin[w]; i < b.begin[w + 1]; i++) {
            count_sentence(m, b.order[i], &t);
        }
        ok = append(m, w, &t, &capacity);
    }
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

static bool is_index(float x, int64_t low, int64_t high)
{
    return x >= (float)low && x <= (float)high && (float)(int64_t)x == x;
}

attn_status attn__neighbours_open(attn_word_sense *m, attn_error *error)
{
    attn__neighbours *to = &m->neighbours;
    int64_t words = (int64_t)m->lemmas.count;
    to->begin = attn__arena_array(&m->arena, words + 1, sizeof *to->begin);
    to->share = attn__arena_array(&m->arena, m->n_senses, sizeof *to->share);
    if (to->begin == NULL || to->share == NULL) {
        return attn__fail(error, ATTN_ENOMEM, "out of memory for the neighbours");
    }
    memset(to->begin, 0, (size_t)(words + 1) * sizeof *to->begin);
    for (int s = 0; s < m->n_senses; s++) {
        to->share[s] = 1; /* so that none is 0 */
    }
    attn__neighbour last = {0, 0, 0};
    for (int64_t i = 0; i < to->count; i++) {
        attn__neighbour x = to->entry[i];
        if (!is_index(x.row, 1, (int64_t)m->vocabulary.count) || !is_index(x.sense, 0, m->n_senses - 1) || !(x.count > 0)) {
            return attn__fail(error, ATTN_EFORMAT, "neighbours: entry %lld is no word, sense and count", (long long)i);
        }
        int word = m->sense[(int)x.sense].word, before = m->sense[(int)last.sense].word;
        if (i > 0 && (word < before || (word == before && (x.row < last.row || (x.row == last.row && x.sense <= last.sense))))) {
            return attn__fail(error, ATTN_EFORMAT, "neighbours: entry %lld is not in its place", (long long)i);
        }
        to->begin[word + 1] = i + 1;
        to->share[(int)x.sense] += (double)x.count;
        last = x;
    }
    for (int64_t w = 0; w < words; w++) {
        const attn__lemma *l = &m->lemma[w];
        double total = 0;
        for (int s = l->first; s < l->first + l->senses; s++) {
            total += to->share[s];
        }
        for (int s = l->first; s < l->first + l->senses; s++) {
            to->share[s] /= total;
        }
        to->begin[w + 1] = to->begin[w + 1] > to->begin[w] ? to->begin[w + 1] : to->begin[w];
    }
    return ATTN_OK;
}

/* The first entry of the word that is not before the row. */
static int64_t find(const attn__neighbours *n, int32_t word, float row)
{
    int64_t low = n->begin[word], high = n->begin[word + 1];
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        if (n->entry[middle].row < row) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

void attn__neighbour_says(const attn_word_sense *m, const attn__encoded *e, int j, double *logit)
{
    const attn__neighbours *n = &m->neighbours;
    const attn__lemma *l = &m->lemma[e->word];
    int64_t i = n->count > 0 && j != e->target ? find(n, e->word, (float)e->ids[j]) : 0, end = n->count > 0 ? n->begin[e->word + 1] : 0;
    double total = 0, weight = m->config.neighbours * near(j - e->target);
    for (int64_t k = i; k < end && n->entry[k].row == (float)e->ids[j]; k++) {
        total += (double)n->entry[k].count;
    }
    if (j == e->target || total == 0) {
        return;
    }
    for (int s = l->first; s < l->first + l->senses; s++) {
        bool here = i < end && n->entry[i].row == (float)e->ids[j] && (int)n->entry[i].sense == s;
        double q = n->share[s], counted = here ? (double)n->entry[i++].count : 0;
        logit[s] += weight * log((counted + SHRINKAGE * q) / ((total + SHRINKAGE) * q));
    }
}

void attn__counted(const attn_word_sense *m, const attn__encoded *e, double *logit)
{
    const attn__lemma *l = &m->lemma[e->word];
    for (int s = l->first; s < l->first + l->senses; s++) {
        logit[s] = attn__sense_prior(m, s);
    }
    for (int j = 0; j < e->length; j++) {
        attn__neighbour_says(m, e, j, logit);
    }
}

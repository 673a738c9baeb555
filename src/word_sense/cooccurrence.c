/* Which words stand near which: positive pointwise mutual information of all pairs of vocabulary words, as a sparse matrix.
 *     x[w,u] = max(0, ln(c(w,u) / c(w)) - ln(share(u))),   share(u) = c(u)^0.5 / sum of all c^0.5
 * c(w,u) counts neighbours within NEIGHBOURS tokens, each with weight 1 / distance.
 * Source: Levy, Goldberg, Dagan 2015, "Improving distributional similarity with lessons learned from word embeddings", TACL 3. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "word_sense/cooccurrence.h"

#define NEIGHBOURS 10
#define SMOOTHING  0.5

/* All tokens of the corpus as vocabulary numbers, -1 for unknown words; sentence i is ids[begin[i]] .. ids[begin[i + 1] - 1]. Word w
 * stands at where[first[w]] .. where[first[w + 1] - 1]. */
typedef struct text {
    int64_t tokens, sentences, words;
    int32_t *ids;
    int64_t *sentence_end; /* for every token, where its sentence ends */
    int64_t *sentence_begin;
    int64_t *first, *where;
} text;

static bool read_text(const attn_word_sense *m, attn__arena *arena, const attn_corpus *train, int64_t words, text *t)
{
    *t = (text){.sentences = attn_corpus_count(train), .words = words};
    for (int64_t i = 0; i < t->sentences; i++) {
        t->tokens += attn_corpus_get(train, i).length;
    }
    t->ids = attn__arena_array(arena, t->tokens, sizeof *t->ids);
    t->sentence_begin = attn__arena_array(arena, t->tokens, sizeof *t->sentence_begin);
    t->sentence_end = attn__arena_array(arena, t->tokens, sizeof *t->sentence_end);
    t->first = attn__arena_array(arena, t->words + 1, sizeof *t->first);
    t->where = attn__arena_array(arena, t->tokens, sizeof *t->where);
    if (t->ids == NULL || t->sentence_begin == NULL || t->sentence_end == NULL || t->first == NULL || t->where == NULL) {
        return false;
    }
    int64_t at = 0;
    memset(t->first, 0, (size_t)(t->words + 1) * sizeof *t->first);
    for (int64_t i = 0; i < t->sentences; i++) {
        attn_example e = attn_corpus_get(train, i);
        int64_t begin = at;
        for (int j = 0; j < e.length; j++, at++) {
            int32_t word = attn__token_row(m, e.tokens[j]) - 1;
            t->ids[at] = word < words ? word : -1;
            t->sentence_begin[at] = begin;
            t->sentence_end[at] = begin + e.length;
            if (t->ids[at] >= 0) {
                t->first[t->ids[at]]++;
            }
        }
    }
    for (int64_t w = 1; w <= t->words; w++) {
        t->first[w] += t->first[w - 1]; /* the end of word w ... */
    }
    for (at = t->tokens - 1; at >= 0; at--) {
        if (t->ids[at] >= 0) {
            t->where[--t->first[t->ids[at]]] = at; /* ... moves down to its begin */
        }
    }
    return true;
}

static int by_number(const void *a, const void *b)
{
    int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return x < y ? -1 : x > y;
}

/* Neighbours of word w: their weights in `sums` (zeroed before and by the caller after use), their sorted numbers in `met`. */
static int64_t count_row(const text *t, int64_t w, float *sums, int32_t *met)
{
    int64_t n = 0;
    for (int64_t k = t->first[w]; k < t->first[w + 1]; k++) {
        int64_t p = t->where[k];
        int64_t low = p - NEIGHBOURS > t->sentence_begin[p] ? p - NEIGHBOURS : t->sentence_begin[p];
        int64_t high = p + NEIGHBOURS + 1 < t->sentence_end[p] ? p + NEIGHBOURS + 1 : t->sentence_end[p];
        for (int64_t q = low; q < high; q++) {
            int32_t u = t->ids[q];
            if (q == p || u < 0) {
                continue;
            }
            if (sums[u] == 0) {
                met[n++] = u;
            }
            sums[u] += 1.0F / (float)(q < p ? p - q : q - p);
        }
    }
    qsort(met, (size_t)n, sizeof *met, by_number);
    return n;
}

/* Appends the counts of all words, row by row. */
static bool count_all(const attn_word_sense *m, attn__arena *arena, const text *t, attn__sparse *s)
{
    size_t columns = 0, values = 0;
    float *sums = attn__arena_array(arena, t->words, sizeof *sums);
    int32_t *met = attn__arena_array(arena, t->words, sizeof *met);
    s->begin = attn__arena_array(arena, t->words + 1, sizeof *s->begin);
    if (sums == NULL || met == NULL || s->begin == NULL) {
        return false;
    }
    memset(sums, 0, (size_t)t->words * sizeof *sums);
    s->begin[0] = 0;
    for (int64_t w = 0; w < t->words; w++) {
        int64_t n = count_row(t, w, sums, met), at = s->begin[w];
        void *column = s->column, *value = s->value;
        bool ok = attn__grow(&m->allocator, &column, &columns, (size_t)(at + n), sizeof *s->column);
        ok = attn__grow(&m->allocator, &value, &values, (size_t)(at + n), sizeof *s->value) && ok;
        s->column = column;
        s->value = value;
        if (!ok) {
            return false;
        }
        for (int64_t i = 0; i < n; i++) {
            s->column[at + i] = met[i];
            s->value[at + i] = sums[met[i]];
            sums[met[i]] = 0;
        }
        s->begin[w + 1] = at + n;
    }
    return true;
}

/* Counts become mutual information. Counts are symmetric, so the transposed matrix has the same places: value of x[u,w] at place (w,u). */
static bool to_information(const attn_word_sense *m, attn__arena *arena, attn__sparse *s)
{
    double *sum = attn__arena_array(arena, s->rows, sizeof *sum), *share = attn__arena_array(arena, s->rows, sizeof *share), total = 0;
    s->transposed = attn__calloc(&m->allocator, (size_t)s->begin[s->rows], sizeof *s->transposed);
    if (sum == NULL || share == NULL || s->transposed == NULL) {
        return false;
    }
    for (int64_t w = 0; w < s->rows; w++) {
        sum[w] = 0;
        for (int64_t i = s->begin[w]; i < s->begin[w + 1]; i++) {
            sum[w] += (double)s->value[i];
        }
        share[w] = pow(sum[w], SMOOTHING);
        total += share[w];
    }
    for (int64_t w = 0; w < s->rows; w++) {
        for (int64_t i = s->begin[w]; i < s->begin[w + 1]; i++) {
            int32_t u = s->column[i];
            double c = (double)s->value[i];
            s->value[i] = (float)fmax(0, log(c / sum[w]) - log(share[u] / total));
            s->transposed[i] = (float)fmax(0, log(c / sum[u]) - log(share[w] / total));
        }
    }
    return true;
}

bool attn__cooccurrence(const attn_word_sense *m, attn__arena *arena, const attn_corpus *train, int64_t words, attn__sparse *s)
{
    text t;
    *s = (attn__sparse){.rows = words};
    return read_text(m, arena, train, words, &t) && count_all(m, arena, &t, s) && to_information(m, arena, s);
}

void attn__sparse_free(const attn_word_sense *m, attn__sparse *s)
{
    attn__free(&m->allocator, s->column);
    attn__free(&m->allocator, s->value);
    attn__free(&m->allocator, s->transposed);
    *s = (attn__sparse){.rows = 0};
}

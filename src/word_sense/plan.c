/* Which sentences an epoch sees, and in which batches: each sense gives at most sense_cap of its sentences, drawn anew every epoch;
 * sentences of like length stand together, so that little of a batch is padding. */
#include <stdlib.h>

#include "word_sense/model.h"

/* Batches among which sentences are sorted by length. */
#define SORTED_BATCHES 8

/* Fisher and Yates: the first `want` of n entries become a random choice in random order. */
static void shuffle(int64_t *list, int64_t n, int64_t want, uint64_t seed, uint64_t stream)
{
    for (int64_t i = 0; i < want && i < n; i++) {
        int64_t j = i + (int64_t)attn_random_below(seed, stream, (uint64_t)i, (uint64_t)(n - i)), swap = list[i];
        list[i] = list[j];
        list[j] = swap;
    }
}

/* Numbers of the sentences of one sense after those of another: sense s has by_sense[first[s]] .. by_sense[first[s + 1] - 1]. */
static void sort_by_sense(const attn__encoded *data, int64_t count, int n_senses, int64_t *first, int64_t *by_sense)
{
    for (int64_t i = 0; i < count; i++) {
        first[data[i].sense + 1]++;
    }
    for (int s = 0; s < n_senses; s++) {
        first[s + 1] += first[s];
    }
    for (int64_t i = count - 1; i >= 0; i--) { /* uses first[s + 1] as the end that moves down to first[s + 1]'s own begin */
        by_sense[--first[data[i].sense + 1]] = i;
    }
    for (int s = 0; s < n_senses; s++) {
        first[s] = first[s + 1];
    }
    first[n_senses] = count;
}

static int by_length(const void *a_, const void *b_)
{
    const attn__encoded *a = *(const attn__encoded *const *)a_, *b = *(const attn__encoded *const *)b_;
    if (a->length != b->length) {
        return a->length < b->length ? -1 : 1;
    }
    return a < b ? -1 : a > b; /* both are in one array: the order is that of the data */
}

/* Cuts the list into batches, sorted by length within groups of SORTED_BATCHES, the batches of the whole epoch in random order. */
static bool cut_batches(attn__arena *arena, int64_t batch, uint64_t seed, uint64_t stream, attn__plan *plan)
{
    int64_t group = batch * SORTED_BATCHES, *order;
    for (int64_t i = 0; i < plan->count; i += group) {
        int64_t n = plan->count - i < group ? plan->count - i : group;
        qsort(plan->list + i, (size_t)n, sizeof *plan->list, by_length);
    }
    plan->batches = attn__tiles(plan->count, batch);
    plan->begin = attn__arena_array(arena, plan->batches + 1, sizeof *plan->begin);
    order = attn__arena_array(arena, plan->batches, sizeof *order);
    const attn__encoded **sorted = plan->list;
    plan->list = attn__arena_array(arena, plan->count, sizeof *plan->list);
    if (plan->begin == NULL || order == NULL || plan->list == NULL) {
        return false;
    }
    for (int64_t i = 0; i < plan->batches; i++) {
        order[i] = i;
    }
    shuffle(order, plan->batches, plan->batches, seed, stream);
    plan->begin[0] = 0;
    for (int64_t i = 0; i < plan->batches; i++) {
        attn__span from = attn__range(plan->count, batch, order[i]);
        for (int64_t j = from.begin; j < from.end; j++) {
            plan->list[plan->begin[i] + j - from.begin] = sorted[j];
        }
        plan->begin[i + 1] = plan->begin[i] + from.end - from.begin;
    }
    return true;
}

bool attn__plan_epoch(const attn_word_sense *m, attn__arena *arena, uint64_t seed, int epoch, attn__encoded *data, int64_t count,
                      attn__plan *plan)
{
    uint64_t streams = (uint64_t)m->n_senses + 2, stream = (uint64_t)epoch * streams; /* random streams of this epoch */
    int64_t *first = attn__arena_array(arena, m->n_senses + 1, sizeof *first),
            *by_sense = attn__arena_array(arena, count, sizeof *by_sense);
    int64_t *chosen = attn__arena_array(arena, count, sizeof *chosen);
    *plan = (attn__plan){.list = attn__arena_array(arena, count, sizeof *plan->list)};
    if (first == NULL || by_sense == NULL || chosen == NULL || plan->list == NULL) {
        return false;
    }
    for (int s = 0; s <= m->n_senses; s++) {
        first[s] = 0;
    }
    sort_by_sense(data, count, m->n_senses, first, by_sense);
    for (int s = 0; s < m->n_senses; s++) {
        int64_t n = first[s + 1] - first[s], want = n < m->config.sense_cap ? n : m->config.sense_cap;
        shuffle(by_sense + first[s], n, want, seed, stream + (uint64_t)s);
        for (int64_t i = 0; i < want; i++) {
            chosen[plan->count++] = by_sense[first[s] + i];
        }
    }
    shuffle(chosen, plan->count, plan->count, seed, stream + streams - 2);
    for (int64_t i = 0; i < plan->count; i++) {
        plan->list[i] = &data[chosen[i]];
    }
    return cut_batches(arena, m->config.batch, seed, stream + streams - 1, plan);
}

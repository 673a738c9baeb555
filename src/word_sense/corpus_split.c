/* Two parts of a corpus, with the senses in equal shares. */
#include <math.h>
#include <string.h>

#include "attn/random.h"
#include "word_sense/corpus.h"
#include "word_sense/names.h"

/* Examples of one sense of one word: how many there are, how many shall be drawn, how many were seen and drawn so far. */
typedef struct group {
    int64_t all, want, seen, drawn;
} group;

/* Number of the example's word and sense among the groups, which it may add to; -1 if out of memory. */
static int64_t group_of(attn__arena *arena, attn__names *names, const attn_example *e)
{
    size_t word = strlen(e->word), sense = strlen(e->sense);
    char *key = attn__arena_alloc(arena, word + 1 + sense);
    if (key == NULL) {
        return -1;
    }
    memcpy(key, e->word, word + 1);
    memcpy(key + word + 1, e->sense, sense);
    return attn__names_add(names, key, word + 1 + sense);
}

/* The group of every example; *groups has as many entries as there are examples. */
static int64_t *sort_into_groups(const attn_corpus *c, attn__arena *arena, group **groups)
{
    attn__names names = attn__names_new(arena);
    int64_t *of = attn__arena_array(arena, (int64_t)c->count, sizeof *of);
    *groups = attn__arena_array(arena, (int64_t)c->count, sizeof **groups);
    bool ok = of != NULL && *groups != NULL;
    for (size_t i = 0; ok && i < c->count; i++) {
        size_t before = names.count;
        of[i] = group_of(arena, &names, &c->examples[i]);
        ok = of[i] >= 0;
        if (ok && names.count > before) {
            (*groups)[of[i]] = (group){0};
        }
        if (ok) {
            (*groups)[of[i]].all++;
        }
    }
    attn__names_free(&names);
    return ok ? of : NULL;
}

/* Whether the next example of the group is drawn: with probability wanted / left, so that exactly `want` of `all` are (Knuth, The Art of
 * Computer Programming 2, 3.4.2, algorithm S). */
static bool draw(group *g, uint64_t seed, uint64_t position)
{
    int64_t left = g->all - g->seen++, wanted = g->want - g->drawn;
    bool drawn = attn_random_uniform(seed, 0, position) * (double)left < (double)wanted;
    g->drawn += drawn;
    return drawn;
}

attn_status attn_corpus_split(const attn_corpus *c, double fraction, uint64_t seed, attn_corpus *rest, attn_corpus *part, attn_error *error)
{
    if (!(fraction >= 0 && fraction < 1)) {
        return attn__fail(error, ATTN_EINVAL, "fraction %g, expected 0 <= fraction < 1", fraction);
    }
    attn__arena arena;
    attn__arena_init(&arena, &c->allocator);
    group *groups;
    int64_t *of = sort_into_groups(c, &arena, &groups);
    attn_status status = of != NULL ? ATTN_OK : attn__fail(error, ATTN_ENOMEM, "out of memory for splitting %zu examples", c->count);
    for (size_t i = 0; i < c->count && status == ATTN_OK; i++) {
        const attn_example *e = &c->examples[i];
        group *g = &groups[of[i]];
        if (g->seen == 0) {
            g->want = (int64_t)fmin(round(fraction * (double)g->all), (double)g->all - 1);
        }
        status = attn__corpus_copy(draw(g, seed, i) ? part : rest, e, error);
    }
    attn__arena_free(&arena);
    return status;
}

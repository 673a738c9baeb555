/* Attention of every number of queries and keys up to 70 and of widths around the vector lengths, forward and backward, against plain loops
 * in double. The inputs are read from memory that ends at a guard page. */
#include <math.h>
#include <stdlib.h>

#include "support/attend.h"

static const attn_score scores[] = {ATTN_SCORE_SCALED_DOT, ATTN_SCORE_DOT, ATTN_SCORE_ADDITIVE};

/* Inputs lie in [-1, 1): scores of width d are at most d, outputs at most 1, gradients at most queries + keys sums of such. Twice
 * (d + Tq + Tk) roundings of numbers of that size are the bound; the largest share of it that was used is printed. */
static double bound(const attend_problem *p, attn_dtype dtype)
{
    return 2 * (double)(p->width + p->queries + attend_keys(p)) * epsilon_of(dtype);
}

static double compare(attend_problem p, attn_dtype from, attn_dtype to)
{
    attend_open(&p);
    attend_reference r = attend_by_loops(&p);
    double share = 0;
    for (attn_dtype dtype = from; dtype <= to; dtype++) {
        attn_tape *t = attn_tape_new(NULL);
        attn_tape_set_threads(t, 1); /* small work; threads have tests of their own */
        attn_attend_output out = attend_run(&p, t, dtype, true);
        double here = attend_difference(&p, &out, &r, true) / bound(&p, dtype);
        if (here > 1) {
            print_error("%s, Tq %lld, Tk %lld, d %lld, %s: %g of the bound\n", attn_score_name(p.config.score.score), (long long)p.queries,
                        (long long)p.keys, (long long)p.width, attn_dtype_name(dtype), here);
            fail();
        }
        share = fmax(share, here);
        attn_tape_free(t);
    }
    attend_reference_free(&r);
    attend_close(&p);
    return share;
}

/* All pairs of lengths; masks take turns. */
static void every_length(void **state)
{
    (void)state;
    guarded g = guard_new(70 * 3 * sizeof(double));
    double share = 0;
    for (int32_t tq = 1; tq <= 70; tq++) {
        for (int32_t tk = 1; tk <= 70; tk++) {
            const int32_t length[] = {(tk + 1) / 2}, place[] = {tk - tq};
            const attn_mask masks[] = {
                {.allow = NULL},
                {.causal = ATTN_CAUSAL_BOTTOM_RIGHT},
                {.key_lengths = length},
                {.window = true, .left = 17, .right = 3, .positions = place},
            };
            for (int s = 0; s < 3; s++) {
                attend_problem p = {.batch = 1, .queries = tq, .keys = tk, .width = 3, .value_width = 3, .guard = &g};
                p.config.score = (attn_score_config){.score = scores[s], .heads = 1, .kv_heads = 1};
                p.config.mask = masks[(tq + 3 * tk + s) % 4];
                attn_dtype dtype = (tq / 4 + tk) % 2 == 0 ? ATTN_F32 : ATTN_F64;
                share = fmax(share, compare(p, dtype, dtype));
            }
        }
    }
    print_message("largest share of the bound: %.3f\n", share);
    guard_free(&g);
}

/* Widths around the vectors of every instruction set, lengths around the blocks. */
static void every_width(void **state)
{
    (void)state;
    static const int64_t widths[] = {1, 2, 3, 5, 8, 16, 33, 64, 100}, lengths[] = {1, 15, 16, 17, 31, 33, 48, 64, 70};
    guarded g = guard_new(70 * 100 * sizeof(double));
    double share = 0;
    for (int n = 0; n < 9 * 9 * 9 * 3; n++) {
        attend_problem p = {.batch = 1, .queries = lengths[n / 3 % 9], .keys = lengths[n / 27 % 9], .width = widths[n / 243], .guard = &g};
        p.value_width = widths[(n / 243 + n) % 9];
        p.config.score = (attn_score_config){.score = scores[n % 3], .heads = 1, .kv_heads = 1};
        p.seed = (uint64_t)n;
        attn_dtype dtype = n / 3 % 2 == 0 ? ATTN_F32 : ATTN_F64;
        share = fmax(share, compare(p, dtype, dtype));
    }
    print_message("largest share of the bound: %.3f\n", share);
    guard_free(&g);
}

/* Several heads, grouped, in two batch entries, with everything that can be added to a score. */
static void every_option(void **state)
{
    (void)state;
    static const int64_t lengths[] = {1, 16, 17, 33};
    double share = 0;
    for (int n = 0; n < 3 * 4 * 4 * 4; n++) {
        const int32_t places[] = {5, 2};
        attend_problem p = {
            .batch = 2, .queries = lengths[n / 3 % 4], .keys = lengths[n / 12 % 4], .width = 3, .value_width = 5, .clip = 3};
        p.past = n / 48 % 2 == 0 ? 0 : 7;
        p.config.score = (attn_score_config){.score = scores[n % 3], .heads = 4, .kv_heads = n / 96 % 2 == 0 ? 2 : 1};
        p.config.soft_cap = 1.5;
        p.config.mask = (attn_mask){.causal = ATTN_CAUSAL_POSITION, .positions = places, .window = true, .left = 20, .right = -1};
        p.bias = ATTN_SHAPE(4, p.queries, attend_keys(&p));
        p.seed = (uint64_t)n;
        share = fmax(share, compare(p, ATTN_F32, ATTN_F64));
    }
    print_message("largest share of the bound: %.3f\n", share);
}

/* Lengths around the tiles of queries and of keys. */
static void around_the_tiles(void **state)
{
    (void)state;
    static const int64_t lengths[] = {95, 96, 97, 192, 193};
    double share = 0;
    for (int n = 0; n < 3 * 5 * 5; n++) {
        const int32_t places[] = {40};
        attend_problem p = {.batch = 1, .queries = lengths[n / 3 % 5], .keys = lengths[n / 15] - n % 2, .past = n % 2, .width = 3};
        p.value_width = 5;
        p.config.score = (attn_score_config){.score = scores[n % 3], .heads = 2, .kv_heads = 1};
        p.config.mask = n / 3 % 2 == 0 ? (attn_mask){.allow = NULL} : (attn_mask){.causal = ATTN_CAUSAL_POSITION, .positions = places};
        p.bias = n / 3 % 3 == 0 ? ATTN_SHAPE(2, p.queries, attend_keys(&p)) : ATTN_SCALAR;
        p.clip = n / 3 % 3 == 1 ? 3 : 0;
        p.config.soft_cap = n / 3 % 3 == 2 ? 1.5 : 0;
        p.seed = (uint64_t)n;
        share = fmax(share, compare(p, ATTN_F32, ATTN_F64));
    }
    print_message("largest share of the bound: %.3f\n", share);
}

/* Single precision against double in long sums: the same bound, for queries of width 64 over up to 4096 keys, and for as many queries over
 * few keys, whose gradients are sums over the queries. */
static void long_sums_in_single_precision(void **state)
{
    (void)state;
    for (int64_t length = 256; length <= 4096; length *= 4) {
        for (int n = 0; n < 3 * 2; n++) {
            attend_problem p = {.batch = 1, .queries = 3, .keys = length, .width = 64, .value_width = 16, .seed = 5};
            if (n / 3 == 1) {
                p.queries = length;
                p.keys = 3;
            }
            p.config.score = (attn_score_config){.score = scores[n % 3], .heads = 1, .kv_heads = 1};
            double share = compare(p, ATTN_F32, ATTN_F64);
            print_message("%s, %lld queries, %lld keys: %.4f of the bound %.2e\n", attn_score_name(scores[n % 3]), (long long)p.queries,
                          (long long)p.keys, share, bound(&p, ATTN_F32));
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_length),
        cmocka_unit_test(every_width),
        cmocka_unit_test(every_option),
        cmocka_unit_test(around_the_tiles),
        cmocka_unit_test(long_sums_in_single_precision),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

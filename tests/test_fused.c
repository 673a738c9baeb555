/* attn_fused_attention against the composition of plain operations, in double: the output and all gradients, within a bound that is in
 * proportion to the lengths and widths. */
#include <math.h>
#include <stdlib.h>

#include "support/fused.h"

#include "ops/fused.h"

/* Inputs lie in [-1, 1): scores of width d are at most d, gradients of weights at most dv, and sums over queries or keys have Tq or Tk
 * terms. Two roundings for each of them are the bound; the largest share of it that was used is printed. */
static double bound(const fused_problem *p, attn_dtype dtype)
{
    return 2 * (double)(p->a.width + p->a.value_width + p->a.queries + p->a.keys) * epsilon_of(dtype);
}

static void check_problem(const fused_problem *p, int passes, double *share)
{
    fused_result expected = fused_run(p, (fused_way){.dtype = ATTN_F64, .composed = true, .passes = passes});
    for (attn_dtype dtype = ATTN_F32; dtype <= ATTN_F64; dtype++) {
        int64_t worst = 0;
        fused_result r = fused_run(p, (fused_way){.dtype = dtype, .passes = passes});
        double off = fused_difference(&r, &expected, &worst), most = passes * bound(p, dtype);
        if (!(off <= most)) {
            print_error("%s, %s: %s, number %lld of all: %.17g, expected %.17g (bound %g)\n", fused_text(p, (char[FUSED_TEXT]){0}),
                        attn_dtype_name(dtype), fused_name(p, worst), (long long)worst, r.values[worst], expected.values[worst], most);
            fail();
        }
        *share = off > 0 ? fmax(*share, off / most) : *share;
        fused_free(&r);
    }
    fused_free(&expected);
}

/* Every option by chance, every part of a mask alone and some together, sizes that straddle the tiles. */
static void random_problems(void **state)
{
    (void)state;
    double share = 0;
    int several = 0, heads = 0, empty = 0, partial = 0; /* problems of a kind */
    for (uint64_t n = 0; n < 800; n++) {
        fused_problem p = fused_random(n, n % 8 == 0 ? 3e7 : 5e6);
        check_problem(&p, 1, &share);
        several += p.a.queries > ATTN__TILE_QUERIES && p.a.keys > ATTN__TILE_KEYS;
        heads += p.a.batch * p.a.config.score.kv_heads >= 8 && attend_pairs(&p.a) > 0;
        empty += attend_pairs(&p.a) == 0;
        partial += p.needs != ~0U;
        fused_close(&p);
    }
    print_message("largest share of the bound: %.3f; %d problems of several tiles both ways, %d of many heads, %d without pairs\n", share,
                  several, heads, empty);
    assert_true(several > 50 && heads > 50 && empty > 50 && partial > 200);
}

/* A number far out that float32 adds to any number of this kind without rounding. */
static double far_out(double x, double distance)
{
    return floor(x * 1024) / 1024 + distance;
}

/* Rows that the identity of additive scores cannot take, among others that it can. Where two of them meet, what is left of their sum has
 * no error, so the bound is as before. */
static void large_vectors_in_additive_scores(void **state)
{
    (void)state;
    const double distances[] = {42, -42, 60, -60, 349, -349, 400, -400, 8000, -8000};
    double share = 0;
    for (uint64_t n = 0; n < 120; n++) {
        fused_problem p = fused_random(3 * n + 2, 2e6);
        for (int input = IN_QUERY; input <= IN_KEY; input++) {
            int64_t width = p.a.width, rows = width > 0 ? attn_shape_count(attend_shape(&p.a, input)) / width : 0;
            for (int64_t i = 0; i < rows * width; i++) {
                int64_t row = fused_draw(&p, (int)(1000 + i / width + 5000 * input), 30);
                double *x = &p.a.in[input][i];
                *x = row < 10 && fused_draw(&p, (int)(20000 + i), 2) == 0 ? far_out(*x, distances[row]) : *x;
            }
        }
        check_problem(&p, 1, &share);
        fused_close(&p);
    }
    print_message("largest share of the bound: %.3f\n", share);
}

/* A problem of self-attention in `heads` heads over `kv_heads`, with widths that make inputs equal in shape. */
static fused_problem self_attention(uint64_t n, int64_t length, int heads, int kv_heads, unsigned parts)
{
    static const attn_score scores[] = {ATTN_SCORE_SCALED_DOT, ATTN_SCORE_DOT, ATTN_SCORE_ADDITIVE};
    fused_problem p = {.a = {.batch = n % 5 == 0 ? 2 : 4, .queries = length, .keys = length, .width = 3, .clip = 2, .seed = n + 1}};
    p.a.config.score = (attn_score_config){.score = scores[n % 3], .heads = heads, .kv_heads = kv_heads};
    p.a.value_width = 3;
    fused_mask(&p, parts);
    return p;
}

/* One tensor gathers the gradients of the inputs it is. With fewer heads of keys than of queries only values can be the queries. */
static void one_tensor_as_several_inputs(void **state)
{
    (void)state;
    const int64_t lengths[] = {1, 17, 96, 97, 200};
    const unsigned parts[] = {0, MASK_TOP_LEFT, MASK_KEY_LENGTHS | MASK_QUERY_LENGTHS, MASK_WINDOW};
    const unsigned all = SAME_QUERY_KEY | SAME_QUERY_VALUE, same[] = {all, SAME_QUERY_KEY, SAME_QUERY_VALUE, SAME_KEY_VALUE};
    double share = 0;
    for (uint64_t n = 0; n < 5 * 5 * 3; n++) {
        int way = (int)(n % 5);
        fused_problem p = self_attention(n, lengths[n / 5 % 5], way == 4 ? 4 : 2, 2, parts[n % 4]);
        p.same = way == 4 ? SAME_QUERY_VALUE : same[way];
        p.a.value_width *= way == 4 ? 2 : 1;
        fused_open(&p);
        check_problem(&p, 1, &share);
        fused_close(&p);
    }
    print_message("largest share of the bound: %.3f\n", share);
}

static void passes_add_up(void **state)
{
    (void)state;
    double share = 0;
    for (uint64_t n = 0; n < 90; n++) {
        fused_problem p = fused_random(n + 5000, 3e6);
        check_problem(&p, (int)(n % 3) + 2, &share);
        fused_close(&p);
    }
    print_message("largest share of the bound: %.3f\n", share);
}

/* Where a query sees one key, the output is that key's value and its score passes nothing back, exactly. */
static void one_visible_key_is_exact(void **state)
{
    (void)state;
    const int64_t lengths[] = {1, 5, 96, 97, 193}, widths[] = {1, 3, 8, 97, 300};
    for (uint64_t n = 0; n < 2 * 3 * 5 * 5; n++) {
        attn_dtype dtype = n % 2 == 0 ? ATTN_F32 : ATTN_F64;
        fused_problem p = self_attention(n / 2, lengths[n / 6 % 5], 2, 1, MASK_TOP_LEFT);
        p.a.value_width = widths[n / 30];
        p.a.config.mask.window = true;
        p.a.config.mask.left = 0;
        fused_open(&p);
        fused_result r = fused_run(&p, (fused_way){.dtype = dtype});
        int64_t width = 2 * p.a.value_width;
        for (int64_t i = 0; i < r.outputs; i++) {
            double value = p.a.in[IN_VALUE][i / width * p.a.value_width + i % p.a.value_width];
            assert_true(r.values[i] == value && fabs(value) <= 1);
        }
        for (int64_t i = r.outputs; i < r.count; i++) {
            assert_true(r.values[i] == 0 || fused_name(&p, i) == attend_names[IN_VALUE]);
        }
        fused_free(&r);
        fused_close(&p);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_problems),
        cmocka_unit_test(large_vectors_in_additive_scores),
        cmocka_unit_test(one_tensor_as_several_inputs),
        cmocka_unit_test(passes_add_up),
        cmocka_unit_test(one_visible_key_is_exact),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

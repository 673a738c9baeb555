/* Attention at its limits: huge, equal, few or no visible scores, nothing at all, and rows that see nothing wherever they stand. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support/attend.h"

static const attn_score scores[] = {ATTN_SCORE_SCALED_DOT, ATTN_SCORE_DOT, ATTN_SCORE_ADDITIVE};

static attend_problem problem(int score, int64_t queries, int64_t keys, int64_t width)
{
    attend_problem p = {.batch = 1, .queries = queries, .keys = keys, .width = width, .value_width = width};
    p.config.score = (attn_score_config){.score = scores[score], .heads = 1, .kv_heads = 1};
    return p;
}

/* Everything that a run makes is finite. */
static void assert_finite(const attend_problem *p, const attn_attend_output *out)
{
    for (int64_t i = 0; i < attend_pairs(p); i++) {
        assert_true(isfinite(attn_tensor_get(out->weights, i)) && isfinite(attn_tensor_get(out->scores, i)));
    }
    for (int64_t i = 0; i < attend_outputs(p); i++) {
        assert_true(isfinite(attn_tensor_get(out->output, i)));
    }
    for (int k = 0; k < INPUTS; k++) {
        for (int64_t i = 0; p->in[k] != NULL && i < attn_tensor_count(p->variable[k]); i++) {
            assert_true(isfinite(attn_tensor_get_grad(p->variable[k], i)));
        }
    }
}

/* Scores of exactly -1e9, -1e9 / 2, 0, 1e9 / 2 and 1e9 (additive: the tanh of 40 is 1): all weight to the largest, shared by equal ones. */
static void scores_of_billions(void **state)
{
    (void)state;
    enum { T = 37 };
    for (int n = 0; n < 3 * 2; n++) {
        attend_problem p = problem(n % 3, 5, T, 1);
        attn_dtype dtype = n / 3 == 0 ? ATTN_F32 : ATTN_F64;
        attend_open(&p);
        bool additive = n % 3 == 2;
        for (int i = 0; i < 5; i++) {
            p.in[IN_QUERY][i] = additive ? 0 : (i - 2) * 5e8;
        }
        for (int j = 0; j < T; j++) {
            p.in[IN_KEY][j] = additive ? (j % 3 - 1) * 40 : j % 3 - 1;
        }
        if (additive) {
            p.in[IN_W][0] = 1e9;
        }
        attn_tape *t = attn_tape_new(NULL);
        attn_attend_output out = attend_run(&p, t, dtype, true);
        attend_reference r = attend_by_loops(&p);
        assert_finite(&p, &out);
        assert_values(out.scores, r.scores, 0, 0);
        assert_values(out.weights, r.weights, 2 * epsilon_of(dtype), 0);
        assert_values(out.output, r.output, 0, 20 * epsilon_of(dtype));
        attend_reference_free(&r);
        attn_tape_free(t);
        attend_close(&p);
    }
}

/* Random vectors of +-1e4 in 64 dimensions: scores of up to 6.4e9 whose differences are not exact stay finite and sum to 1. */
static void huge_vectors(void **state)
{
    (void)state;
    for (int n = 0; n < 3 * 2; n++) {
        attend_problem p = problem(n % 3, 33, 65, 64);
        attend_open(&p);
        for (int k = 0; k < INPUTS; k++) {
            for (int64_t i = 0; p.in[k] != NULL && k != IN_VALUE && i < attn_shape_count(attend_shape(&p, k)); i++) {
                p.in[k][i] = p.in[k][i] < 0 ? -1e4 : 1e4;
            }
        }
        attn_tape *t = attn_tape_new(NULL);
        attn_attend_output out = attend_run(&p, t, n / 3 == 0 ? ATTN_F32 : ATTN_F64, true);
        assert_finite(&p, &out);
        for (int64_t i = 0; i < 33; i++) {
            double sum = 0;
            for (int64_t j = 0; j < 65; j++) {
                sum += attn_tensor_get(out.weights, i * 65 + j);
            }
            assert_close(sum, 1, 0, 1e-6);
        }
        attn_tape_free(t);
        attend_close(&p);
    }
}

/* Equal scores: the weights are 1 / n, and nothing passes to queries and keys through equal values. */
static void equal_scores(void **state)
{
    (void)state;
    for (int n = 0; n < 3 * 2; n++) {
        attn_dtype dtype = n / 3 == 0 ? ATTN_F32 : ATTN_F64;
        for (int64_t keys = 1; keys <= 70; keys++) {
            attend_problem p = problem(n % 3, 3, keys, 4);
            attend_open(&p);
            for (int64_t j = 0; j < keys * 4; j++) {
                p.in[IN_KEY][j] = p.in[IN_KEY][j % 4];
                p.in[IN_VALUE][j] = (double)(j % 4);
            }
            attn_tape *t = attn_tape_new(NULL);
            attn_attend_output out = attend_run(&p, t, dtype, true);
            for (int64_t i = 0; i < 3 * keys; i++) {
                assert_close(attn_tensor_get(out.weights, i), 1 / (double)keys, 2 * epsilon_of(dtype), 0);
            }
            for (int64_t i = 0; i < 12; i++) {
                assert_close(attn_tensor_get(out.output, i), (double)(i % 4), (double)keys * epsilon_of(dtype), 0);
                assert_close(attn_tensor_get_grad(p.variable[IN_QUERY], i), 0, 0, (double)(10 * keys) * epsilon_of(dtype));
            }
            attn_tape_free(t);
            attend_close(&p);
        }
    }
}

/* One visible key (the only one, or the only one that the mask leaves, wherever it stands): weight exactly 1, its value exactly, and no
 * gradient by the scores. */
static void one_visible_key(void **state)
{
    (void)state;
    for (int n = 0; n < 3 * 2; n++) {
        attn_dtype dtype = n / 3 == 0 ? ATTN_F32 : ATTN_F64;
        for (int64_t only = 0; only < 70; only++) {
            uint8_t allow[70] = {0};
            int64_t width = only == 69 ? 600 : 5; /* longer than the blocks that sums are cut into */
            allow[only] = 1;
            attend_problem p = problem(n % 3, 2, only == 0 ? 1 : 70, width);
            p.config.mask = only == 0 ? (attn_mask){.allow = NULL} : (attn_mask){.allow = allow, .allow_form = ATTN_ALLOW_KEYS};
            attend_open(&p);
            attn_tape *t = attn_tape_new(NULL);
            attn_attend_output out = attend_run(&p, t, dtype, true);
            assert_finite(&p, &out);
            for (int64_t i = 0; i < 2 * width; i++) {
                assert_true(attn_tensor_get(out.output, i) == p.in[IN_VALUE][only * width + i % width]);
                assert_true(attn_tensor_get_grad(p.variable[IN_QUERY], i) == 0);
            }
            for (int64_t i = 0; i < attend_pairs(&p); i++) {
                assert_true(attn_tensor_get(out.weights, i) == (i % p.keys == only ? 1 : 0));
            }
            for (int64_t i = 0; i < p.keys * width; i++) {
                assert_true(attn_tensor_get_grad(p.variable[IN_KEY], i) == 0);
            }
            attn_tape_free(t);
            attend_close(&p);
        }
    }
}

/* No sentence, no query, no key, no width: legal, and 0 where there is an output at all. */
static void nothing(void **state)
{
    (void)state;
    for (int n = 0; n < 3 * 2 * 31; n++) {
        int empty = n / 6 + 1; /* a bit for each extent */
        attend_problem p = {.batch = empty & 1 ? 0 : 2, .queries = empty & 2 ? 0 : 3, .keys = empty & 4 ? 0 : 4, .seed = (uint64_t)n};
        p.width = empty & 8 ? 0 : 2;
        p.value_width = empty & 16 ? 0 : 5;
        p.config.score = (attn_score_config){.score = scores[n % 3], .heads = 2, .kv_heads = 1};
        const int32_t lengths[] = {0, 0};
        p.config.mask.key_lengths = lengths;
        attend_open(&p);
        attn_tape *t = attn_tape_new(NULL);
        attn_attend_output out = attend_run(&p, t, n / 3 % 2 == 0 ? ATTN_F32 : ATTN_F64, true);
        assert_true(attn_shape_equal(attn_tensor_shape(out.weights), ATTN_SHAPE(p.batch, 2, p.queries, p.keys)));
        assert_true(attn_shape_equal(attn_tensor_shape(out.output), ATTN_SHAPE(p.batch, p.queries, 2 * p.value_width)));
        for (int64_t i = 0; i < attend_outputs(&p); i++) {
            assert_true(attn_tensor_get(out.output, i) == 0);
        }
        for (int k = 0; k < INPUTS; k++) {
            for (int64_t i = 0; p.in[k] != NULL && i < attn_tensor_count(p.variable[k]); i++) {
                assert_true(attn_tensor_get_grad(p.variable[k], i) == 0);
            }
        }
        attn_tape_free(t);
        attend_close(&p);
    }
}

/* Keys of width 0 all score 0. */
static void width_zero_is_uniform(void **state)
{
    (void)state;
    for (int n = 0; n < 3; n++) {
        attend_problem p = problem(n, 2, 4, 0);
        p.value_width = 1;
        attend_open(&p);
        attn_tape *t = attn_tape_new(NULL);
        attn_attend_output out = attend_run(&p, t, ATTN_F64, true);
        assert_values(out.weights, ((const double[]){0.25, 0.25, 0.25, 0.25, 0.25, 0.25, 0.25, 0.25}), 0, 0);
        attn_tape_free(t);
        attend_close(&p);
    }
}

/* ---- rows that see nothing ---- */

enum { TQ = 200, TK = 98, D = 6 }; /* more than two tiles, and more than one */

/* Runs the problem with NaN in the queries and the cotangent of rows that see nothing, and once with a mask that hides nothing. The other
 * rows keep their bits; the empty rows are 0; NaN reaches no gradient. */
static void check_empty_rows(int score, const uint8_t allow[TQ * TK], const bool empty[TQ])
{
    uint8_t everything[TQ * TK];
    attend_problem full = problem(score, TQ, TK, D), p = full;
    memset(everything, 1, sizeof everything);
    full.config.mask.allow = everything;
    p.config.mask.allow = allow;
    attend_open(&full);
    attend_open(&p);
    for (int64_t i = 0; i < TQ; i++) {
        for (int64_t c = 0; c < D && empty[i]; c++) {
            p.in[IN_QUERY][i * D + c] = NAN;
            p.cotangent[i * D + c] = NAN;
            full.cotangent[i * D + c] = 0; /* these rows pass nothing back */
        }
    }
    attn_tape *t = attn_tape_new(NULL);
    attn_attend_output all = attend_run(&full, t, ATTN_F32, true), out = attend_run(&p, t, ATTN_F32, true);
    for (int64_t i = 0; i < TQ; i++) {
        for (int64_t c = 0; c < D; c++) {
            assert_true(attn_tensor_get(out.output, i * D + c) == (empty[i] ? 0 : attn_tensor_get(all.output, i * D + c)));
            double g = attn_tensor_get_grad(full.variable[IN_QUERY], i * D + c);
            assert_true(attn_tensor_get_grad(p.variable[IN_QUERY], i * D + c) == (empty[i] ? 0 : g));
        }
        for (int64_t j = 0; j < TK; j++) {
            assert_true(attn_tensor_get(out.weights, i * TK + j) == (empty[i] ? 0 : attn_tensor_get(all.weights, i * TK + j)));
        }
    }
    for (int k = 0; k < INPUTS; k++) {
        for (int64_t i = 0; k != IN_QUERY && p.in[k] != NULL && i < attn_tensor_count(p.variable[k]); i++) {
            assert_close(attn_tensor_get_grad(p.variable[k], i), attn_tensor_get_grad(full.variable[k], i), 0, 0);
        }
    }
    attn_tape_free(t);
    attend_close(&p);
    attend_close(&full);
}

/* First, last, middle, around the block boundaries, runs of them, every second, all but one. */
static void empty_rows_touch_no_other(void **state)
{
    (void)state;
    static const int ranges[][3] = {{0, 1, 1},   {199, 200, 1}, {35, 36, 1},  {15, 17, 1}, {31, 33, 1},   {63, 65, 1},
                                    {95, 97, 1}, {191, 193, 1}, {96, 192, 1}, {0, 96, 1},  {192, 200, 1}, {0, 200, 2},
                                    {1, 200, 2}, {0, 199, 1},   {0, 200, 16}, {0, 200, 96}};
    uint8_t allow[TQ * TK];
    bool empty[TQ];
    for (size_t n = 0; n < 3 * sizeof ranges / sizeof ranges[0]; n++) {
        const int *range = ranges[n / 3];
        memset(allow, 1, sizeof allow);
        memset(empty, 0, sizeof empty);
        for (int i = range[0]; i < range[1]; i += range[2]) {
            empty[i] = true;
            memset(allow + (size_t)i * TK, 0, TK);
        }
        check_empty_rows((int)(n % 3), allow, empty);
    }
}

/* Scores at the cap pass back nothing, by no rounding error: it would be multiplied by numbers as large as the scores. */
static void saturated_scores_have_no_gradient(void **state)
{
    (void)state;
    const double caps[] = {0.3, 2.5, 5, 30, 49};
    for (int n = 0; n < 5 * 4; n++) {
        attn_dtype dtype = n % 2 == 0 ? ATTN_F32 : ATTN_F64;
        attn_tape *t = attn_tape_new(NULL);
        attn_tensor *q = variable_of(t, dtype, ATTN_SHAPE(1, 1, 1), (const double[]){1e9});
        attn_tensor *k = variable_of(t, dtype, ATTN_SHAPE(1, 2, 1), (const double[]){1, -1});
        attn_tensor *v = variable_of(t, dtype, ATTN_SHAPE(1, 2, 1), (const double[]){1, 2});
        const attn_attend_config config = {.soft_cap = caps[n / 4], .composed = n / 2 % 2 == 1};
        attn_attend_output out = attn_attend(t, (attn_attend_input){.query = q, .key = k, .value = v}, &config);
        assert_int_equal(attn_backward(t, attn_sum(t, out.output)), ATTN_OK);
        assert_true(attn_tensor_get_grad(v, 0) > 0.5);
        assert_gradient(q, ((const double[]){0}), 0, 0);
        assert_gradient(k, ((const double[]){0, 0}), 0, 0);
        attn_tape_free(t);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(scores_of_billions),
        cmocka_unit_test(huge_vectors),
        cmocka_unit_test(equal_scores),
        cmocka_unit_test(one_visible_key),
        cmocka_unit_test(nothing),
        cmocka_unit_test(width_zero_is_uniform),
        cmocka_unit_test(empty_rows_touch_no_other),
        cmocka_unit_test(saturated_scores_have_no_gradient),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

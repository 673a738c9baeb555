/* The attention layer: what it computes, compared with plain loops, and what it declares. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/attention.h"
#include "support/params.h"

static const attn_score scores[] = {ATTN_SCORE_SCALED_DOT, ATTN_SCORE_DOT, ATTN_SCORE_ADDITIVE};

/* Scores, weights and output of the layer are those of the loops. */
static void compare(attention_problem p, attn_dtype dtype)
{
    double tolerance = 200 * epsilon_of(dtype);
    attention_open(&p, dtype);
    attn_tape *t = attn_tape_new(NULL);
    attn_attention_output out = attention_run(&p, t);
    assert_tape_ok(t);
    attention_reference r = attention_by_loops(&p);
    assert_true(attn_shape_equal(attn_tensor_shape(out.weights), ATTN_SHAPE(p.batch, (int64_t)p.config.heads, p.queries, p.keys)));
    assert_true(attn_shape_equal(attn_tensor_shape(out.scores), attn_tensor_shape(out.weights)));
    assert_true(attn_shape_equal(attn_tensor_shape(out.output), ATTN_SHAPE(p.batch, p.queries, attention_width(&p))));
    assert_int_equal(attn_tensor_dtype(out.output), dtype);
    assert_values(out.scores, r.scores, tolerance, tolerance);
    assert_values(out.weights, r.weights, tolerance, tolerance);
    assert_values(out.output, r.output, tolerance, tolerance);
    attention_reference_free(&r);
    attn_tape_free(t);
    attention_close(&p);
}

/* Every score, 1 and 3 heads, with and without W_o, biases and positions, in both dtypes. */
static void compare_variants(attention_problem p)
{
    for (int v = 0; v < 3 * 2 * 2 * 2 * 2 * 2; v++) {
        p.config.score = scores[v % 3];
        p.config.heads = v / 3 % 2 == 0 ? 1 : 3;
        p.config.no_output = v / 6 % 2;
        p.config.bias = v / 12 % 2;
        p.config.relative_clip = v / 24 % 2 == 0 ? 0 : 2;
        p.seed = (uint64_t)v;
        compare(p, v / 48 % 2 == 0 ? ATTN_F64 : ATTN_F32);
    }
}

static void self_attention_is_that_of_the_loops(void **state)
{
    (void)state;
    compare_variants((attention_problem){.config = {.query_dim = 6}, .batch = 2, .queries = 5, .keys = 5, .self = true});
}

/* All widths differ. */
static void cross_attention_is_that_of_the_loops(void **state)
{
    (void)state;
    const int32_t start[] = {3, 0};
    const attn_attention_config config = {
        .query_dim = 9, .key_dim = 10, .value_dim = 8, .head_dim = 5, .head_value_dim = 4, .output_dim = 7};
    compare_variants((attention_problem){.config = config, .batch = 2, .queries = 3, .keys = 6, .query_start = start});
}

static void one_word_attends_to_itself(void **state)
{
    (void)state;
    compare_variants((attention_problem){.config = {.query_dim = 3}, .batch = 1, .queries = 1, .keys = 1, .self = true});
}

/* Keys and values default to the queries: the same tensor passed three times gives the same bits. */
static void missing_keys_and_values_are_the_queries(void **state)
{
    (void)state;
    attention_problem p = {.config = {.query_dim = 4, .heads = 2}, .batch = 2, .queries = 3, .keys = 3, .self = true};
    attention_open(&p, ATTN_F32);
    attn_tape *t = attn_tape_new(NULL);
    attn_attention_output short_form = attention_run(&p, t);
    attn_attention_output long_form = attn_attention_apply(t, p.layer, (attn_attention_input){.query = p.q, .key = p.q, .value = p.q});
    attn_attention_output mixed = attn_attention_apply(t, p.layer, (attn_attention_input){.query = p.q, .key = p.q});
    assert_tape_ok(t);
    size_t bytes = (size_t)attn_tensor_count(short_form.output) * sizeof(float);
    assert_memory_equal(attn_tensor_data(short_form.output), attn_tensor_data(long_form.output), bytes);
    assert_memory_equal(attn_tensor_data(short_form.output), attn_tensor_data(mixed.output), bytes);
    attn_tape_free(t);
    attention_close(&p);
}

static void set_all(attn_params *p, const char *name, const double *values)
{
    int id = attn_params_find(p, name);
    for (int64_t i = 0; i < attn_shape_count(attn_params_shape(p, id)); i++) {
        set_value(p, id, i, values[i]);
    }
}

/* score = w . tanh(q + k) with w = [1,-1] and q = 0: the keys [1,0] and [0,1] score tanh 1 and -tanh 1. Field report B22. */
static void additive_scores_have_three_learned_parts(void **state)
{
    (void)state;
    const double identity[] = {1, 0, 0, 1}, w[] = {1, -1}, zero[] = {0, 0}, keys[] = {1, 0, 0, 1};
    attn_params *p = attn_params_new(ATTN_F64, NULL);
    const attn_attention *layer =
        attn_attention_add(p, "a", (attn_attention_config){.score = ATTN_SCORE_ADDITIVE, .query_dim = 2, .no_output = true});
    assert_int_equal(attn_params_build(p, 1, NULL), ATTN_OK);
    set_all(p, "a.W_q", identity);
    set_all(p, "a.W_k", identity);
    set_all(p, "a.W_v", identity);
    set_all(p, "a.w", w);
    attn_tape *t = attn_tape_new(NULL);
    attn_attention_output out = attn_attention_apply(t, layer,
                                                     (attn_attention_input){
                                                         .query = variable_of(t, ATTN_F64, ATTN_SHAPE(1, 1, 2), zero),
                                                         .key = variable_of(t, ATTN_F64, ATTN_SHAPE(1, 2, 2), keys),
                                                         .report = {.weights = true, .scores = true},
                                                     });
    assert_close(attn_tensor_get(out.weights, 0), 0.8210, 0, 1e-4);
    assert_close(attn_tensor_get(out.weights, 1), 0.1790, 0, 1e-4);
    assert_close(attn_tensor_get(out.scores, 0), tanh(1), 1e-14, 0);
    assert_close(attn_tensor_get(out.output, 0), 0.8210, 0, 1e-4); /* the first value is [1,0] */
    const double cotangent[] = {1, 0};
    assert_int_equal(backward_from(t, out.output, cotangent), ATTN_OK);
    double slope = 0.82095 * 0.17905; /* of the first weight by the difference of the scores, e^2x / (e^2x + 1) at x = tanh 1 */
    assert_close(grad(p, attn_params_find(p, "a.w"), 0), slope * tanh(1), 1e-3, 0);
    assert_close(grad(p, attn_params_find(p, "a.w"), 1), -slope * tanh(1), 1e-3, 0);
    assert_close(grad(p, attn_params_find(p, "a.W_k"), 0), slope * (1 - tanh(1) * tanh(1)), 1e-3, 0);
    assert_close(grad(p, attn_params_find(p, "a.W_k"), 1), -slope, 1e-3, 0); /* w[1] (1 - tanh(0)^2) = -1 */
    assert_close(grad(p, attn_params_find(p, "a.W_q"), 0), 0, 0, 1e-15);     /* the query is 0 */
    attn_tape_free(t);
    attn_params_free(p);
}

/* Queries of 24, keys of 10, values of 12: what papers allow and some layers refuse. Field report B39. */
static void widths_may_all_differ(void **state)
{
    (void)state;
    const attn_attention_config widths = {.query_dim = 24, .key_dim = 10, .value_dim = 12, .head_dim = 8, .output_dim = 12};
    for (size_t s = 0; s < 3; s++) {
        attention_problem p = {.config = widths, .batch = 2, .queries = 3, .keys = 4};
        p.config.score = scores[s];
        compare(p, ATTN_F64);
        attention_open(&p, ATTN_F64);
        attn_tape *t = attn_tape_new(NULL);
        assert_true(attn_shape_equal(attn_tensor_shape(attention_run(&p, t).output), ATTN_SHAPE(2, 3, 12)));
        attn_tape_free(t);
        attention_close(&p);
    }
}

/* ---- what is declared ---- */

static void defaults_are_filled_in(void **state)
{
    (void)state;
    attn_params *p = attn_params_new(ATTN_F32, NULL);
    attn_attention_config c = attn_attention_get_config(attn_attention_add(p, "a", (attn_attention_config){.query_dim = 6}));
    assert_int_equal(c.score, ATTN_SCORE_SCALED_DOT);
    assert_int_equal(c.heads, 1);
    assert_int_equal(c.key_dim, 6);
    assert_int_equal(c.value_dim, 6);
    assert_int_equal(c.head_dim, 6);
    assert_int_equal(c.head_value_dim, 6);
    assert_int_equal(c.output_dim, 6);
    c = attn_attention_get_config(attn_attention_add(p, "b", (attn_attention_config){.query_dim = 6, .heads = 3, .key_dim = 5}));
    assert_int_equal(c.value_dim, 5);
    assert_int_equal(c.head_dim, 2);
    assert_int_equal(c.head_value_dim, 2);
    assert_int_equal(c.output_dim, 6);
    c = attn_attention_get_config(attn_attention_add(p, "c", (attn_attention_config){.query_dim = 5, .heads = 2, .head_dim = 4}));
    assert_int_equal(c.head_value_dim, 4); /* 5 need not be cut into 2 */
    attn_params_free(p);
}

static void assert_param(const attn_params *p, int id, const char *name, attn_shape shape, bool decay)
{
    assert_string_equal(attn_params_name(p, id), name);
    assert_true(attn_shape_equal(attn_params_shape(p, id), shape));
    assert_int_equal(attn_params_config(p, id).decay, decay);
}

static void parameters_have_names_and_shapes(void **state)
{
    (void)state;
    attn_params *p = attn_params_new(ATTN_F32, NULL);
    attn_attention_add(p, "x",
                       (attn_attention_config){.score = ATTN_SCORE_ADDITIVE,
                                               .heads = 2,
                                               .query_dim = 9,
                                               .key_dim = 10,
                                               .value_dim = 8,
                                               .head_dim = 5,
                                               .head_value_dim = 4,
                                               .output_dim = 7,
                                               .bias = true,
                                               .relative_clip = 3});
    assert_int_equal(attn_params_build(p, 0, NULL), ATTN_OK);
    assert_int_equal(attn_params_count(p), 10);
    assert_param(p, 0, "x.W_q", ATTN_SHAPE(9, 10), true);
    assert_param(p, 1, "x.b_q", ATTN_SHAPE(10), false);
    assert_param(p, 2, "x.W_k", ATTN_SHAPE(10, 10), true);
    assert_param(p, 3, "x.b_k", ATTN_SHAPE(10), false);
    assert_param(p, 4, "x.W_v", ATTN_SHAPE(8, 8), true);
    assert_param(p, 5, "x.b_v", ATTN_SHAPE(8), false);
    assert_param(p, 6, "x.W_o", ATTN_SHAPE(8, 7), true);
    assert_param(p, 7, "x.b_o", ATTN_SHAPE(7), false);
    assert_param(p, 8, "x.w", ATTN_SHAPE(2, 5), true);
    assert_param(p, 9, "x.position", ATTN_SHAPE(2, 7), false);
    attn_params_free(p);
    p = attn_params_new(ATTN_F32, NULL);
    attn_attention_add(p, "y", (attn_attention_config){.query_dim = 2, .no_output = true});
    assert_int_equal(attn_params_build(p, 0, NULL), ATTN_OK);
    assert_int_equal(attn_params_count(p), 3);
    attn_params_free(p);
}

/* Mean square of a parameter's values. */
static double spread(attn_params *p, const char *name)
{
    int id = attn_params_find(p, name);
    int64_t n = attn_shape_count(attn_params_shape(p, id));
    double sum = 0;
    for (int64_t i = 0; i < n; i++) {
        sum += value(p, id, i) * value(p, id, i);
    }
    return sum / (double)n;
}

static void parameters_start_as_the_header_says(void **state)
{
    (void)state;
    attn_params *p = attn_params_new(ATTN_F64, NULL);
    attn_attention_add(p, "a",
                       (attn_attention_config){.score = ATTN_SCORE_ADDITIVE,
                                               .heads = 5,
                                               .query_dim = 100,
                                               .key_dim = 50,
                                               .value_dim = 25,
                                               .head_dim = 400,
                                               .head_value_dim = 100,
                                               .output_dim = 60,
                                               .bias = true,
                                               .relative_clip = 3});
    assert_int_equal(attn_params_build(p, 5, NULL), ATTN_OK);
    assert_close(spread(p, "a.W_q"), 1.0 / 100, 0.05, 0);
    assert_close(spread(p, "a.W_k"), 1.0 / 50, 0.05, 0);
    assert_close(spread(p, "a.W_v"), 1.0 / 25, 0.05, 0);
    assert_close(spread(p, "a.W_o"), 1.0 / 500, 0.05, 0);
    assert_close(spread(p, "a.w"), 1.0 / 400, 0.1, 0);
    assert_close(spread(p, "a.b_q") + spread(p, "a.b_k") + spread(p, "a.b_v") + spread(p, "a.b_o"), 0, 0, 0);
    const double slopes[] = {0, 0.05, 0.2, 0.5, 0};
    for (int64_t h = 0; h < 5; h++) {
        for (int64_t c = 0; c < 7; c++) {
            assert_close(value(p, attn_params_find(p, "a.position"), h * 7 + c), -slopes[h] * fabs((double)(c - 3)), 1e-15, 0);
        }
    }
    attn_params_free(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(self_attention_is_that_of_the_loops),
        cmocka_unit_test(cross_attention_is_that_of_the_loops),
        cmocka_unit_test(one_word_attends_to_itself),
        cmocka_unit_test(missing_keys_and_values_are_the_queries),
        cmocka_unit_test(additive_scores_have_three_learned_parts),
        cmocka_unit_test(widths_may_all_differ),
        cmocka_unit_test(defaults_are_filled_in),
        cmocka_unit_test(parameters_have_names_and_shapes),
        cmocka_unit_test(parameters_start_as_the_header_says),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

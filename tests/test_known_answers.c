/* Known answers of public teaching material, and faults that were reported of other attention libraries, one small test each. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support/attend.h"
#include "support/params.h"

#include "attn/gradcheck.h"

static const attn_score scores[] = {ATTN_SCORE_SCALED_DOT, ATTN_SCORE_DOT, ATTN_SCORE_ADDITIVE};

#define F64(...) attn_variable(t, ATTN_F64, ATTN_SHAPE(__VA_ARGS__), NULL)

/* ---- teaching material ---- */

static void set_all(attn_params *p, const char *name, const double *values)
{
    int id = attn_params_find(p, name);
    for (int64_t i = 0; i < attn_shape_count(attn_params_shape(p, id)); i++) {
        set_value(p, id, i, values[i]);
    }
}

/* Equal keys of ones, the values 0..39 in rows of four for both sentences, of which 2 and 6 are real: the output is their mean, rows
 * [2,3,4,5] and [10,11,12,13], whatever the parameters. Queries have width 20 for the additive score, 2 for the others. */
static void padded_values_are_averaged_whatever_the_parameters(void **state)
{
    (void)state;
    const int32_t lengths[] = {2, 6};
    const double expected[] = {2, 3, 4, 5, 10, 11, 12, 13}, identity[] = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1};
    double values[80], ones[40];
    for (int i = 0; i < 80; i++) {
        values[i] = i % 40;
        ones[i % 40] = 1;
    }
    for (int n = 0; n < 3 * 2 * 10; n++) {
        int width = scores[n % 3] == ATTN_SCORE_ADDITIVE ? 20 : 2;
        attn_dtype dtype = n / 3 % 2 == 0 ? ATTN_F32 : ATTN_F64;
        attn_params *p = attn_params_new(dtype, NULL);
        attn_attention_config config = {.score = scores[n % 3], .query_dim = width, .key_dim = 2, .value_dim = 4, .no_output = true};
        config.head_dim = n / 6 % 2 == 0 ? 8 : 3;
        config.head_value_dim = 4;
        const attn_attention *layer = attn_attention_add(p, "a", config);
        assert_int_equal(attn_params_build(p, (uint64_t)n, NULL), ATTN_OK);
        set_all(p, "a.W_v", identity);
        attn_tape *t = attn_tape_new(NULL);
        attn_attention_output out =
            attn_attention_apply(t, layer,
                                 (attn_attention_input){.query = random_variable(t, dtype, ATTN_SHAPE(2, 1, width), (uint64_t)n),
                                                        .key = variable_of(t, dtype, ATTN_SHAPE(2, 10, 2), ones),
                                                        .value = variable_of(t, dtype, ATTN_SHAPE(2, 10, 4), values),
                                                        .mask = {.key_lengths = lengths},
                                                        .report = {.weights = true}});
        assert_tape_ok(t);
        assert_values(out.output, expected, 4 * epsilon_of(dtype), 0);
        for (int j = 0; j < 20; j++) {
            assert_close(attn_tensor_get(out.weights, j), j < 2 ? 0.5 : j >= 10 && j < 16 ? 1.0 / 6 : 0, epsilon_of(dtype), 0);
        }
        attn_tape_free(t);
        attn_params_free(p);
    }
}

/* Two queries, keys and values of width 2, without projections. */
static attn_attend_output two_by_two(attn_tape *t, attn_score score)
{
    const double q[] = {1, 0, 0, 1}, k[] = {0, 1, 1, 0}, v[] = {1, 2, 3, 4}, w[] = {1, 1};
    const attn_attend_config config = {.score = {.score = score}, .report = {.weights = true}};
    return attn_attend(t,
                       (attn_attend_input){.query = attn_variable(t, ATTN_F64, ATTN_SHAPE(1, 2, 2), q),
                                           .key = attn_variable(t, ATTN_F64, ATTN_SHAPE(1, 2, 2), k),
                                           .value = attn_variable(t, ATTN_F64, ATTN_SHAPE(1, 2, 2), v),
                                           .w = score == ATTN_SCORE_ADDITIVE ? attn_variable(t, ATTN_F64, ATTN_SHAPE(1, 2), w) : NULL},
                       &config);
}

static void two_by_two_by_hand(void **state)
{
    (void)state;
    attn_tape *t = attn_tape_new(NULL);
    attn_attend_output dot = two_by_two(t, ATTN_SCORE_DOT), additive = two_by_two(t, ATTN_SCORE_ADDITIVE);
    assert_tape_ok(t);
    assert_values(dot.weights, ((const double[]){0.269, 0.731, 0.731, 0.269}), 0, 5e-4);
    assert_values(dot.output, ((const double[]){2.462, 3.462, 1.538, 2.538}), 0, 5e-4);
    assert_values(additive.weights, ((const double[]){0.636, 0.363, 0.363, 0.636}), 0, 1e-3); /* cut, not rounded, in the source */
    assert_values(additive.output, ((const double[]){1.727, 2.727, 2.272, 3.272}), 0, 1e-3);
    double a = 1 / (1 + exp(tanh(2) - 2 * tanh(1))); /* scores 2 tanh 1 and tanh 2 */
    assert_values(additive.weights, ((const double[]){a, 1 - a, 1 - a, a}), 1e-15, 0);
    attn_tape_free(t);
}

/* ---- masks ---- */

/* Field report B04: a boolean mask and an additive bias are two arguments; the same numbers mean different things, both documented. */
static void b04_a_mask_is_no_bias(void **state)
{
    (void)state;
    attn_tape *t = attn_tape_new(NULL);
    const uint8_t allow[] = {1, 0};
    const attn_attend_config masked = {.mask = {.allow = allow}, .report = {.weights = true}}, open = {.report = {.weights = true}};
    attn_attend_input in = {.query = F64(1, 1, 2), .key = F64(1, 2, 2), .value = F64(1, 2, 2)};
    assert_values(attn_attend(t, in, &masked).weights, ((const double[]){1, 0}), 0, 0);
    in.bias = attn_variable(t, ATTN_F64, ATTN_SHAPE(2), (const double[]){1, 0});
    assert_values(attn_attend(t, in, &open).weights, ((const double[]){0.731058578630005, 0.268941421369995}), 1e-14, 0);
    assert_values(attn_attend(t, in, &masked).weights, ((const double[]){1, 0}), 0, 0);          /* both: the mask decides */
    in.bias = attn_variable(t, ATTN_F64, ATTN_SHAPE(2), (const double[]){-INFINITY, -INFINITY}); /* nothing left: 0, not NaN */
    attn_attend_output none = attn_attend(t, in, &open);
    assert_values(none.weights, ((const double[]){0, 0}), 0, 0);
    assert_values(none.output, ((const double[]){0, 0}), 0, 0);
    assert_int_equal(attn_backward(t, attn_sum(t, none.output)), ATTN_OK);
    assert_gradient(in.query, ((const double[]){0, 0}), 0, 0);
    assert_gradient(in.bias, ((const double[]){0, 0}), 0, 0);
    attn_tape_free(t);
}

/* A sibling of B13, where exp(-inf - (-inf)) made NaN: every query of a long input sees ten keys, by a window, in all scores; also where
 * the window has left the keys behind. */
static void b13_windows_of_long_inputs(void **state)
{
    (void)state;
    enum { T = 640 };
    for (int n = 0; n < 3 * 2; n++) {
        const int32_t places[] = {n / 3 * 300};
        attn_tape *t = attn_tape_new(NULL);
        double *ones = random_values(2 * (int64_t)T, 0, 1, 1);
        attn_tensor *x = variable_of(t, ATTN_F32, ATTN_SHAPE(1, T, 2), ones), *w = variable_of(t, ATTN_F32, ATTN_SHAPE(1, 2), ones);
        const attn_attend_config config = {.score = {.score = scores[n % 3]},
                                           .mask = {.window = true, .left = 9, .right = 0, .positions = places}};
        attn_attend_output out = attn_attend(t, (attn_attend_input){.query = x, .key = x, .value = x, .w = n % 3 == 2 ? w : NULL}, &config);
        assert_int_equal(attn_backward(t, attn_sum(t, out.output)), ATTN_OK);
        for (int64_t i = 0; i < 2 * (int64_t)T; i++) {
            assert_close(attn_tensor_get(out.output, i), i / 2 + places[0] - 9 < T ? 1 : 0, 0, 1e-6);
            assert_true(isfinite(attn_tensor_get_grad(x, i)));
        }
        free(ones);
        attn_tape_free(t);
    }
}

/* ---- numerics ---- */

/* Field report B32: tolerances are relative and absolute. */
static void b32_healthy_floats_are_close(void **state)
{
    (void)state;
    assert_true(close_enough(43.431702, 43.431667, 1e-5, 1e-6));
    assert_true(close_enough(1e-9, 3e-9, 1e-5, 1e-6));
    assert_false(close_enough(0.10, 0.11, 1e-5, 1e-6));
    assert_false(close_enough(NAN, NAN, 1, 1)); /* siblings: what is not a number is never close */
    assert_false(close_enough(1, INFINITY, 1, 1));
    assert_false(close_enough(-INFINITY, INFINITY, 1, 1));
}

/* ---- shapes ---- */

/* Field report B34: a bias of another shape than documented is an error with both shapes. Lengths and boolean masks are arrays whose form
 * is named, not guessed. */
static void b34_shapes_are_not_guessed(void **state)
{
    (void)state;
    attn_tape *t = attn_tape_new(NULL);
    static const struct {
        attn_shape shape;
        const char *text;
    } wrong[] = {{{2, {2, 3}}, "(2,3)"}, {{3, {3, 5, 2}}, "(3,5,2)"}, {{2, {2, 5}}, "(2,5)"}, {{4, {3, 1, 3, 5}}, "(3,1,3,5)"}};
    static const attn_shape right[] = {{1, {5}}, {2, {3, 5}}, {2, {1, 5}}, {4, {2, 1, 1, 5}}, {4, {2, 1, 3, 5}}, {2, {3, 1}}, {0, {0}}};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        attn_attend_output out = attn_attend(t,
                                             (attn_attend_input){.query = F64(2, 3, 7),
                                                                 .key = F64(2, 5, 7),
                                                                 .value = F64(2, 5, 4),
                                                                 .bias = attn_variable(t, ATTN_F64, wrong[i].shape, NULL)},
                                             NULL);
        assert_null(out.output);
        assert_int_equal(attn_tape_status(t), ATTN_ESHAPE);
        assert_contains(attn_tape_message(t), "(2,1,3,5)");
        assert_contains(attn_tape_message(t), wrong[i].text);
        attn_tape_reset(t);
    }
    for (size_t i = 0; i < sizeof right / sizeof right[0]; i++) {
        attn_tensor *bias = attn_variable(t, ATTN_F64, right[i], NULL);
        attn_attend_output out =
            attn_attend(t, (attn_attend_input){.query = F64(2, 3, 7), .key = F64(2, 5, 7), .value = F64(2, 5, 4), .bias = bias}, NULL);
        assert_tape_ok(t);
        assert_true(attn_shape_equal(attn_tensor_shape(out.output), ATTN_SHAPE(2, 3, 4)));
    }
    const uint8_t keys[] = {1, 1, 0, 0, 0, 1, 1, 1, 1, 0}; /* (2,5), the same for every query */
    const attn_attend_config config = {.mask = {.allow = keys, .allow_form = ATTN_ALLOW_KEYS}, .report = {.weights = true}};
    attn_attend_output out =
        attn_attend(t, (attn_attend_input){.query = F64(2, 3, 7), .key = F64(2, 5, 7), .value = F64(2, 5, 4)}, &config);
    for (int64_t i = 0; i < 30; i++) {
        double share = i < 15 ? 0.5 : 0.25;
        assert_close(attn_tensor_get(out.weights, i), keys[i / 15 * 5 + i % 5] ? share : 0, 0, 0);
    }
    attn_tape_free(t);
}

/* Field report B35: batches are never repeated over each other; nor, as siblings, are lengths, widths, pasts or w. */
static void b35_batches_and_widths_must_match(void **state)
{
    (void)state;
    attn_tape *t = attn_tape_new(NULL);
    const struct {
        attn_shape shape[6]; /* query, key, value, past key, past value, w; rank 0: none */
        const char *parts[2];
    } wrong[] = {
        {{{3, {1, 1, 8}}, {3, {4, 6, 8}}, {3, {4, 6, 8}}}, {"(1,1,8)", "(4,6,8)"}},
        {{{3, {4, 1, 8}}, {3, {4, 6, 8}}, {3, {1, 6, 8}}}, {"(4,6,8)", "(1,6,8)"}},
        {{{3, {4, 1, 8}}, {3, {4, 6, 8}}, {3, {4, 5, 8}}}, {"(4,6,8)", "(4,5,8)"}},
        {{{3, {4, 1, 24}}, {3, {4, 6, 10}}, {3, {4, 6, 8}}}, {"(4,1,24)", "(4,6,10)"}}, /* B39 */
        {{{3, {1, 1, 8}}, {3, {1, 6, 8}}, {3, {1, 6, 8}}, {3, {2, 3, 8}}, {3, {1, 3, 8}}}, {"(2,3,8)", "(1,6,8)"}},
        {{{3, {1, 1, 8}}, {3, {1, 6, 8}}, {3, {1, 6, 8}}, {3, {1, 3, 4}}, {3, {1, 3, 8}}}, {"(1,3,4)", "(1,6,8)"}},
        {{{3, {1, 1, 8}}, {3, {1, 6, 8}}, {3, {1, 6, 8}}, {3, {1, 3, 8}}, {3, {1, 2, 8}}}, {"(1,9,8)", "(1,8,8)"}},
        {{{3, {1, 1, 8}}, {3, {1, 6, 8}}, {3, {1, 6, 8}}, {0, {0}}, {0, {0}}, {2, {2, 4}}}, {"(2,4)", "(1,8)"}},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        attn_tensor *x[6];
        for (int k = 0; k < 6; k++) {
            x[k] = wrong[i].shape[k].rank > 0 ? attn_variable(t, ATTN_F64, wrong[i].shape[k], NULL) : NULL;
        }
        const attn_attend_config config = {.score = {.score = x[5] != NULL ? ATTN_SCORE_ADDITIVE : ATTN_SCORE_SCALED_DOT}};
        attn_attend_output out = attn_attend(
            t, (attn_attend_input){.query = x[0], .key = x[1], .value = x[2], .past_key = x[3], .past_value = x[4], .w = x[5]}, &config);
        assert_null(out.output);
        assert_int_equal(attn_tape_status(t), ATTN_ESHAPE);
        assert_contains(attn_tape_message(t), wrong[i].parts[0]);
        assert_contains(attn_tape_message(t), wrong[i].parts[1]);
        attn_tape_reset(t);
    }
    attn_tape_free(t);
}

/* Field report B42: a transpose is an attribute of the product, not a view: the same values and gradients as of a transposed copy. */
static void b42_transposed_operands_are_copies(void **state)
{
    (void)state;
    enum { M = 3, N = 4, D = 5 };
    attn_tape *t = attn_tape_new(NULL);
    attn_tensor *q = random_variable(t, ATTN_F64, ATTN_SHAPE(M, D), 1), *k = random_variable(t, ATTN_F64, ATTN_SHAPE(N, D), 2);
    attn_tensor *q_copy = F64(D, M), *k_copy = F64(D, N), *q2 = random_variable(t, ATTN_F64, ATTN_SHAPE(M, D), 1);
    for (int i = 0; i < D; i++) {
        for (int j = 0; j < N; j++) {
            ((double *)attn_tensor_data(k_copy))[i * N + j] = attn_tensor_get(k, j * D + i);
        }
        for (int j = 0; j < M; j++) {
            ((double *)attn_tensor_data(q_copy))[i * M + j] = attn_tensor_get(q, j * D + i);
        }
    }
    double *g = random_values(M * N, 3, -1, 1);
    attn_tensor *nt = attn_matmul(t, q, k, ATTN_NT), *nn = attn_matmul(t, q2, k_copy, ATTN_NN);
    assert_int_equal(backward_from(t, nt, g), ATTN_OK);
    assert_int_equal(backward_from(t, nn, g), ATTN_OK);
    attn_tensor *tn = attn_matmul(t, q_copy, k_copy, ATTN_TN);
    assert_int_equal(backward_from(t, tn, g), ATTN_OK);
    for (int64_t i = 0; i < M * N; i++) {
        assert_close(attn_tensor_get(nt, i), attn_tensor_get(nn, i), 1e-14, 1e-15);
        assert_close(attn_tensor_get(tn, i), attn_tensor_get(nn, i), 1e-14, 1e-15);
    }
    for (int64_t i = 0; i < M * D; i++) {
        assert_close(attn_tensor_get_grad(q, i), attn_tensor_get_grad(q2, i), 1e-14, 1e-15);
        assert_close(attn_tensor_get_grad(q_copy, i % D * M + i / D), attn_tensor_get_grad(q, i), 1e-14, 1e-15);
    }
    for (int64_t i = 0; i < N * D; i++) { /* the copy has gathered both passes */
        assert_close(attn_tensor_get_grad(k_copy, i % D * N + i / D), 2 * attn_tensor_get_grad(k, i), 1e-14, 1e-15);
    }
    free(g);
    attn_tape_free(t);
}

static attn_tensor *repeated_scalar(attn_tape *t, attn_tensor *const in[], int n, void *ctx)
{
    const double m[] = {1, 2, 3, 4};
    (void)n;
    (void)ctx;
    attn_tensor *v = attn_add(t, attn_input(t, ATTN_F64, ATTN_SHAPE(2, 1), NULL), in[0]);
    return attn_sum(t, attn_matmul(t, attn_input(t, ATTN_F64, ATTN_SHAPE(2, 2), m), v, ATTN_NN));
}

/* Field report B43: a scalar that is repeated twice gathers both gradients, and the check agrees. */
static void b43_repeated_inputs_gather_their_gradients(void **state)
{
    (void)state;
    const double three[] = {3};
    attn_tape *t = attn_tape_new(NULL);
    attn_tensor *x = attn_variable(t, ATTN_F64, ATTN_SCALAR, three);
    assert_int_equal(attn_backward(t, repeated_scalar(t, &x, 1, NULL)), ATTN_OK);
    assert_close(attn_tensor_get_grad(x, 0), 10, 0, 0);
    attn_tape_free(t);
    attn_gradcheck_report report;
    const attn_gradcheck_input input = {.shape = ATTN_SCALAR, .values = three};
    assert_int_equal(attn_gradcheck(repeated_scalar, NULL, &input, 1, NULL, &report), ATTN_OK);
    assert_string_equal(report.verdict, "ok");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(padded_values_are_averaged_whatever_the_parameters),
        cmocka_unit_test(two_by_two_by_hand),
        cmocka_unit_test(b04_a_mask_is_no_bias),
        cmocka_unit_test(b13_windows_of_long_inputs),
        cmocka_unit_test(b32_healthy_floats_are_close),
        cmocka_unit_test(b34_shapes_are_not_guessed),
        cmocka_unit_test(b35_batches_and_widths_must_match),
        cmocka_unit_test(b42_transposed_operands_are_copies),
        cmocka_unit_test(b43_repeated_inputs_gather_their_gradients),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

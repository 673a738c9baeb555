/* Masks: small cases with known answers, and rows that must not depend on other rows, bit by bit. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support/tensors.h"

#include "attn/ops.h"

/* Self- or cross-attention without projections. */
typedef struct attention {
    attn_tensor *weights, *output;
} attention;

static attention attend(attn_tape *t, attn_tensor *q, attn_tensor *k, attn_tensor *v, attn_score score, const attn_mask *mask)
{
    int64_t d = attn_tensor_shape(q).dim[2];
    attn_tensor *w = score == ATTN_SCORE_ADDITIVE ? random_variable(t, attn_tensor_dtype(q), ATTN_SHAPE(1, d), 99) : NULL;
    attention a = {.weights =
                       attn_softmax(t, attn_attention_scores(t, q, k, w, (attn_score_config){.score = score, .heads = 1}, mask), mask)};
    a.output = attn_attention_mix(t, a.weights, v, 0, mask);
    assert_tape_ok(t);
    return a;
}

/* Weights of equal scores. */
static attn_tensor *equal_weights(attn_tape *t, int64_t queries, int64_t keys, const attn_mask *mask)
{
    return attn_softmax(t, attn_variable(t, ATTN_F64, ATTN_SHAPE(1, 1, queries, keys), NULL), mask);
}

/* ---- known answers ---- */

/* One sentence of a batch has no words: the other's results and gradients are what they are without it. Field report B01. */
static void an_empty_sentence_disturbs_nobody(void **state)
{
    (void)state;
    for (attn_score score = ATTN_SCORE_SCALED_DOT; score <= ATTN_SCORE_ADDITIVE; score++) {
        for (attn_dtype dtype = ATTN_F32; dtype <= ATTN_F64; dtype++) {
            size_t size = attn_dtype_size(dtype);
            attn_tape *t = attn_tape_new(NULL);
            attn_tensor *x[2][3], *w[2], *loss[2];
            double *values = random_values(24, 1, -1, 1);
            for (int both = 0; both < 2; both++) {
                attn_tensor **in = x[both];
                const int32_t lengths[] = {3, 0};
                in[0] = variable_of(t, dtype, ATTN_SHAPE(1 + both, 1, 4), values);
                in[1] = variable_of(t, dtype, ATTN_SHAPE(1 + both, 3, 4), values);
                in[2] = variable_of(t, dtype, ATTN_SHAPE(1 + both, 3, 2), values);
                w[both] = random_variable(t, dtype, ATTN_SHAPE(4, 4), 3); /* a projection that the sentences share */
                attn_tensor *q = attn_matmul(t, in[0], w[both], ATTN_NN);
                attention a = attend(t, q, in[1], in[2], score, &(attn_mask){.key_lengths = lengths});
                attn_tensor *first = attn_gather_rows(t, attn_reshape(t, a.output, ATTN_SHAPE(1, 1 + both, 2)), (const int32_t[]){0});
                loss[both] = attn_sum(t, attn_mul(t, first, first));
                assert_int_equal(attn_backward(t, loss[both]), ATTN_OK);
                for (int j = 3; j < 3 + 3 * both; j++) {
                    assert_true(attn_tensor_get(a.weights, j) == 0);
                }
                for (int j = 2; j < 2 + 2 * both; j++) {
                    assert_true(attn_tensor_get(a.output, j) == 0);
                }
            }
            assert_memory_equal(attn_tensor_data(loss[0]), attn_tensor_data(loss[1]), size);
            assert_memory_equal(attn_tensor_grad(w[0]), attn_tensor_grad(w[1]), 16 * size);
            for (int i = 0; i < 3; i++) {
                int64_t n = attn_tensor_count(x[0][i]);
                assert_memory_equal(attn_tensor_grad(x[0][i]), attn_tensor_grad(x[1][i]), (size_t)n * size);
                for (int64_t j = n; j < 2 * n; j++) {
                    assert_true(attn_tensor_get_grad(x[1][i], j) == 0);
                }
            }
            free(values);
            attn_tape_free(t);
        }
    }
}

/* 1 means "may attend", in every form. Field report B03. */
static void true_means_may_attend(void **state)
{
    (void)state;
    attn_tape *t = attn_tape_new(NULL);
    const double expected[] = {1, 0, 0};
    const uint8_t allow[] = {1, 0, 0};
    const int32_t one[] = {1};
    assert_values(equal_weights(t, 1, 3, &(attn_mask){.allow = allow}), expected, 0, 0);
    assert_values(equal_weights(t, 1, 3, &(attn_mask){.allow = allow, .allow_form = ATTN_ALLOW_KEYS}), expected, 0, 0);
    assert_values(equal_weights(t, 1, 3, &(attn_mask){.key_lengths = one}), expected, 0, 0);
    assert_values(equal_weights(t, 1, 3, &(attn_mask){.row_lengths = one}), expected, 0, 0);
    assert_values(equal_weights(t, 1, 3, &(attn_mask){.causal = ATTN_CAUSAL_TOP_LEFT}), expected, 0, 0);
    attn_tape_free(t);
}

/* Field report B09. */
static void padding_on_the_left_and_causal(void **state)
{
    (void)state;
    attn_tape *t = attn_tape_new(NULL);
    const attn_mask mask = {.allow = (const uint8_t[]){0, 0, 1, 1}, .allow_form = ATTN_ALLOW_KEYS, .causal = ATTN_CAUSAL_TOP_LEFT};
    assert_values(equal_weights(t, 4, 4, &mask), ((const double[]){0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0.5, 0.5}), 0, 0);
    attn_tape_free(t);
}

/* Field report B10. */
static void causal_has_two_alignments(void **state)
{
    (void)state;
    attn_tape *t = attn_tape_new(NULL);
    const attn_mask top = {.causal = ATTN_CAUSAL_TOP_LEFT}, bottom = {.causal = ATTN_CAUSAL_BOTTOM_RIGHT};
    assert_values(equal_weights(t, 2, 5, &top), ((const double[]){1, 0, 0, 0, 0, 0.5, 0.5, 0, 0, 0}), 0, 0);
    assert_values(equal_weights(t, 2, 5, &bottom), ((const double[]){0.25, 0.25, 0.25, 0.25, 0, 0.2, 0.2, 0.2, 0.2, 0.2}), 1e-16, 0);
    /* more queries than keys: bottom-right leaves the first ones nothing */
    assert_values(equal_weights(t, 4, 2, &top), ((const double[]){1, 0, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5}), 0, 0);
    assert_values(equal_weights(t, 4, 2, &bottom), ((const double[]){0, 0, 0, 0, 1, 0, 0.5, 0.5}), 0, 0);
    attn_tape_free(t);
}

/* Field report B37. */
static void weights_sum_over_keys(void **state)
{
    (void)state;
    attn_tape *t = attn_tape_new(NULL);
    attn_tensor *q = random_variable(t, ATTN_F64, ATTN_SHAPE(1, 2, 4), 1), *k = random_variable(t, ATTN_F64, ATTN_SHAPE(1, 3, 4), 2);
    attn_tensor *w = attend(t, q, k, k, ATTN_SCORE_DOT, NULL).weights;
    for (int i = 0; i < 2; i++) {
        double sum = 0;
        for (int j = 0; j < 3; j++) {
            double x = attn_tensor_get(w, 3 * i + j);
            assert_true(x > 0.01 && x < 0.99);
            assert_true(fabs(attn_tensor_get(w, j) + attn_tensor_get(w, 3 + j) - 1) > 1e-3);
            sum += x;
        }
        assert_close(sum, 1, 1e-15, 0);
    }
    attn_tape_free(t);
}

/* Each query sees the last ten keys of 640: long rows that are mostly hidden. Field report B13. */
static void a_sliding_window(void **state)
{
    (void)state;
    enum { T = 640, WINDOW = 10 };
    uint8_t *allow = malloc((size_t)T * T);
    double *ones = random_values((int64_t)T * 2, 1, 1, 1);
    assert_non_null(allow);
    for (int64_t i = 0; i < (int64_t)T * T; i++) {
        allow[i] = i % T <= i / T && i % T > i / T - WINDOW;
    }
    attn_tape *t = attn_tape_new(NULL);
    attn_tensor *x = variable_of(t, ATTN_F32, ATTN_SHAPE(1, T, 2), ones);
    attention a = attend(t, x, x, x, ATTN_SCORE_SCALED_DOT, &(attn_mask){.allow = allow});
    assert_values(a.output, ones, 1e-6, 0);
    for (int64_t i = 0; i < (int64_t)T * T; i++) {
        assert_true((attn_tensor_get(a.weights, i) != 0) == (allow[i] != 0));
    }
    attn_tape_free(t);
    free(allow);
    free(ones);
}

/* Scores of billions are legal. Field report B17. */
static void huge_scores_are_finite(void **state)
{
    (void)state;
    enum { T = 4, D = 64 };
    for (attn_dtype dtype = ATTN_F32; dtype <= ATTN_F64; dtype++) {
        attn_tape *t = attn_tape_new(NULL);
        double *x = random_values(T * D, 1, -1, 1);
        for (int i = 0; i < T * D; i++) {
            x[i] = i / D % 2 == 0 || x[i] > 0 ? 1e4 : -1e4; /* rows 0 and 2 score 6.4e9 with one another */
        }
        attn_tensor *q = variable_of(t, dtype, ATTN_SHAPE(1, T, D), x);
        attention a = attend(t, q, q, q, ATTN_SCORE_DOT, NULL);
        assert_int_equal(attn_backward(t, attn_sum(t, a.output)), ATTN_OK);
        for (int i = 0; i < T; i++) {
            for (int j = 0; j < T; j++) {
                assert_true(attn_tensor_get(a.weights, i * T + j) == (i % 2 == 1 ? i == j : j % 2 == 0 ? 0.5 : 0));
            }
        }
        for (int i = 0; i < T * D; i++) {
            assert_true(isfinite(attn_tensor_get_grad(q, i)));
        }
        attn_tape_free(t);
        free(x);
    }
}

/* Each operation by itself: NaN in what comes in at a hidden pair, forward and backward, is not read; 0 comes out. */
static void hidden_pairs_are_not_read(void **state)
{
    (void)state;
    const uint8_t allow[] = {1, 0, 1, 0, 0, 0};
    const attn_mask mask = {.allow = allow};
    counting_allocator dirty;
    counting_init(&dirty, 0);
    attn_tape *t = attn_tape_new(&dirty.value);
    double pairs[6], zero_or_one[6];
    for (int i = 0; i < 6; i++) {
        pairs[i] = allow[i] ? 1 : NAN;
        zero_or_one[i] = allow[i];
    }
    attn_tensor *q = attn_variable(t, ATTN_F64, ATTN_SHAPE(1, 2, 1), (const double[]){2, 3});
    attn_tensor *k = attn_variable(t, ATTN_F64, ATTN_SHAPE(1, 3, 1), (const double[]){5, 7, 11});
    attn_tensor *s = attn_attention_scores(t, q, k, NULL, (attn_score_config){.score = ATTN_SCORE_DOT, .heads = 1}, &mask);
    assert_values(s, ((const double[]){10, 0, 22, 0, 0, 0}), 0, 0);
    assert_int_equal(attn_backward_from(t, s, pairs), ATTN_OK);
    assert_gradient(q, ((const double[]){16, 0}), 0, 0);
    assert_gradient(k, ((const double[]){2, 0, 2}), 0, 0);

    attn_tensor *in = attn_variable(t, ATTN_F64, ATTN_SHAPE(1, 1, 2, 3), pairs);
    attn_tensor *table = attn_variable(t, ATTN_F64, ATTN_SHAPE(1, 3), (const double[]){10, 20, 30});
    s = attn_relative_bias(t, in, table, NULL, &mask);
    assert_values(s, ((const double[]){21, 0, 31, 0, 0, 0}), 0, 0);
    assert_int_equal(attn_backward_from(t, s, pairs), ATTN_OK);
    assert_gradient(in, zero_or_one, 0, 0);
    assert_gradient(table, ((const double[]){0, 1, 1}), 0, 0);

    in = attn_variable(t, ATTN_F64, ATTN_SHAPE(1, 1, 2, 3), pairs);
    s = attn_softmax(t, in, &mask);
    assert_values(s, ((const double[]){0.5, 0, 0.5, 0, 0, 0}), 0, 0);
    assert_int_equal(attn_backward_from(t, s, pairs), ATTN_OK);
    assert_gradient(in, ((const double[]){0, 0, 0, 0, 0, 0}), 0, 0);

    in = attn_variable(t, ATTN_F64, ATTN_SHAPE(1, 1, 2, 3), pairs);
    k = attn_variable(t, ATTN_F64, ATTN_SHAPE(1, 3, 1), (const double[]){5, NAN, 11});
    s = attn_attention_mix(t, in, k, 0, &mask);
    assert_values(s, ((const double[]){16, 0}), 0, 0);
    assert_int_equal(attn_backward_from(t, s, (const double[]){1, NAN}), ATTN_OK); /* nothing is passed back from a row of nothing */
    assert_gradient(in, ((const double[]){5, 0, 11, 0, 0, 0}), 0, 0);
    assert_gradient(k, ((const double[]){1, 0, 1}), 0, 0);
    attn_tape_free(t);
}

/* ---- rows are independent ---- */

static const char *row_of(attn_tensor *x, int64_t row, int64_t width)
{
    return (const char *)attn_tensor_data(x) + (size_t)(row * width) * attn_dtype_size(attn_tensor_dtype(x));
}

/* A sentence of 5 words alone, padded to several lengths (with anything), and in a batch with a long one: the same bits. Field report B07.
 */
static void padding_changes_nothing(void **state)
{
    (void)state;
    enum { WORDS = 5, D = 6 };
    const int64_t lengths[] = {5, 8, 32};
    for (attn_dtype dtype = ATTN_F32; dtype <= ATTN_F64; dtype++) {
        size_t size = attn_dtype_size(dtype);
        for (attn_score score = ATTN_SCORE_SCALED_DOT; score <= ATTN_SCORE_ADDITIVE; score++) {
            attn_tape *t = attn_tape_new(NULL);
            double *x = random_values(2 * 32 * D, 4, -1, 1);
            attn_tensor *alone = variable_of(t, dtype, ATTN_SHAPE(1, WORDS, D), x);
            alone = attend(t, alone, alone, alone, score, NULL).output;
            for (int i = 0; i < 3; i++) {
                for (int64_t batch = 1; batch <= 2; batch++) {
                    const int32_t words[] = {WORDS, (int32_t)lengths[i]};
                    attn_tensor *in = variable_of(t, dtype, ATTN_SHAPE(batch, lengths[i], D), x);
                    attn_tensor *out = attend(t, in, in, in, score, &(attn_mask){.key_lengths = words, .query_lengths = words}).output;
                    assert_memory_equal(attn_tensor_data(out), attn_tensor_data(alone), WORDS * D * size);
                    for (int64_t k = WORDS * D; k < lengths[i] * D; k++) {
                        assert_true(attn_tensor_get(out, k) == 0);
                    }
                }
            }
            attn_tape_free(t);
            free(x);
        }
    }
}

/* Changing the words after t leaves the outputs up to t as they are. Field report B11. */
static void the_future_is_hidden(void **state)
{
    (void)state;
    enum { T = 6, D = 4 };
    for (attn_dtype dtype = ATTN_F32; dtype <= ATTN_F64; dtype++) {
        for (attn_score score = ATTN_SCORE_SCALED_DOT; score <= ATTN_SCORE_ADDITIVE; score++) {
            const attn_mask mask = {.causal = score == ATTN_SCORE_DOT ? ATTN_CAUSAL_BOTTOM_RIGHT : ATTN_CAUSAL_TOP_LEFT};
            double *x = random_values(T * D, 1, -1, 1), *other = random_values(T * D, 2, -9, 9);
            attn_tape *t = attn_tape_new(NULL);
            attn_tensor *in = variable_of(t, dtype, ATTN_SHAPE(1, T, D), x), *out = attend(t, in, in, in, score, &mask).output;
            for (int now = 0; now < T - 1; now++) {
                memcpy(other, x, (size_t)(now + 1) * D * sizeof *x);
                attn_tensor *changed = variable_of(t, dtype, ATTN_SHAPE(1, T, D), other);
                changed = attend(t, changed, changed, changed, score, &mask).output;
                size_t same = (size_t)(now + 1) * D * attn_dtype_size(dtype);
                assert_memory_equal(attn_tensor_data(changed), attn_tensor_data(out), same);
                assert_memory_not_equal(row_of(changed, now + 1, D), row_of(out, now + 1, D), D * attn_dtype_size(dtype));
                fill_random(other, T * D, 2, -9, 9);
            }
            attn_tape_free(t);
            free(x);
            free(other);
        }
    }
}

/* Seven queries at once and one by one. Field report B33. */
static void queries_are_independent(void **state)
{
    (void)state;
    enum { TQ = 7, TK = 9, D = 20 };
    for (attn_dtype dtype = ATTN_F32; dtype <= ATTN_F64; dtype++) {
        for (attn_score score = ATTN_SCORE_SCALED_DOT; score <= ATTN_SCORE_ADDITIVE; score++) {
            attn_tape *t = attn_tape_new(NULL);
            attn_tensor *q = random_variable(t, dtype, ATTN_SHAPE(1, TQ, D), 1), *k = random_variable(t, dtype, ATTN_SHAPE(1, TK, D), 2);
            attention all = attend(t, q, k, k, score, NULL);
            for (int i = 0; i < TQ; i++) {
                attention one = attend(t, attn_input(t, dtype, ATTN_SHAPE(1, 1, D), row_of(q, i, D)), k, k, score, NULL);
                assert_memory_equal(attn_tensor_data(one.weights), row_of(all.weights, i, TK), TK * attn_dtype_size(dtype));
                assert_memory_equal(attn_tensor_data(one.output), row_of(all.output, i, D), D * attn_dtype_size(dtype));
            }
            attn_tape_free(t);
        }
    }
}

/* NaN in what is visible is not hidden, and stays in the rows that see it. */
static void visible_nan_shows(void **state)
{
    (void)state;
    attn_tape *t = attn_tape_new(NULL);
    double x[] = {1, 2, 3, NAN, 5};
    attn_tensor *in = attn_variable(t, ATTN_F64, ATTN_SHAPE(1, 5, 1), x);
    attn_tensor *ones = attn_variable(t, ATTN_F64, ATTN_SHAPE(1, 5, 1), (const double[]){1, 1, 1, 1, 1});
    const attn_mask mask = {.causal = ATTN_CAUSAL_TOP_LEFT};
    attn_tensor *by_key = attend(t, ones, in, ones, ATTN_SCORE_DOT, &mask).output;
    attn_tensor *by_query = attend(t, in, ones, ones, ATTN_SCORE_DOT, &mask).output;
    attn_tensor *by_value = attend(t, ones, ones, in, ATTN_SCORE_DOT, &mask).output;
    for (int i = 0; i < 5; i++) {
        assert_true((isnan(attn_tensor_get(by_key, i)) != 0) == (i >= 3));
        assert_true((isnan(attn_tensor_get(by_query, i)) != 0) == (i == 3));
        assert_true((isnan(attn_tensor_get(by_value, i)) != 0) == (i >= 3));
    }
    attn_tape_free(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_empty_sentence_disturbs_nobody),
        cmocka_unit_test(true_means_may_attend),
        cmocka_unit_test(padding_on_the_left_and_causal),
        cmocka_unit_test(causal_has_two_alignments),
        cmocka_unit_test(weights_sum_over_keys),
        cmocka_unit_test(a_sliding_window),
        cmocka_unit_test(huge_scores_are_finite),
        cmocka_unit_test(padding_changes_nothing),
        cmocka_unit_test(the_future_is_hidden),
        cmocka_unit_test(queries_are_independent),
        cmocka_unit_test(visible_nan_shows),
        cmocka_unit_test(hidden_pairs_are_not_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Faults of operations on rows that users of other libraries reported, in the forms they could take here. README.md has the list. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support/attend.h"

#include "attn/ops.h"

static const attn_score scores[] = {ATTN_SCORE_SCALED_DOT, ATTN_SCORE_DOT, ATTN_SCORE_ADDITIVE};

/* ---- rows without spread ---- */

/* Field report B27: nothing is divided by a length of 0. Rows of equal numbers have no spread; without epsilon too they become beta, and
 * pass nothing back. */
static void b27_rows_without_spread(void **state)
{
    (void)state;
    const double x[] = {0.1, 0.1, 0.1, 0, 0, 0, -1e30, -1e30, -1e30, 1, 2, 3};
    for (int n = 0; n < 2 * 2; n++) {
        attn_dtype dtype = n % 2 == 0 ? ATTN_F32 : ATTN_F64;
        attn_tape *t = attn_tape_new(NULL);
        attn_tensor *in = variable_of(t, dtype, ATTN_SHAPE(4, 3), x),
                    *gamma = variable_of(t, dtype, ATTN_SHAPE(3), (const double[]){2, 2, 2});
        attn_tensor *beta = variable_of(t, dtype, ATTN_SHAPE(3), (const double[]){1, 2, 3});
        attn_tensor *y = attn_layer_norm(t, in, gamma, beta, n / 2 == 0 ? 0 : 1e-5);
        assert_int_equal(backward_from(t, y, (const double[12]){1, 0, 2, 1, 0, 2, 1, 0, 2}), ATTN_OK);
        for (int i = 0; i < 9; i++) {
            assert_close(attn_tensor_get(y, i), 1 + i % 3, 0, 1e-12);
            assert_true(isfinite(attn_tensor_get_grad(in, i)) && (n / 2 > 0 || attn_tensor_get_grad(in, i) == 0));
        }
        assert_close(attn_tensor_get(y, 9), 1 - 2 * sqrt(1.5), 1e-4, 0);
        assert_gradient(gamma, ((const double[]){0, 0, 0}), 0, 1e-12);
        assert_gradient(beta, ((const double[]){3, 0, 6}), 0, 0);
        attn_tape_free(t);
    }
}

static void b27_equal_numbers_of_every_width(void **state)
{
    (void)state;
    for (int64_t d = 1; d <= 100; d++) {
        attn_tape *t = attn_tape_new(NULL);
        double *x = random_values(d, 0, 0, 0), *ones = random_values(d, 0, 1, 1);
        for (int64_t i = 0; i < d; i++) {
            x[i] = 1e20 / 3;
        }
        attn_tensor *one = attn_variable(t, ATTN_F64, ATTN_SHAPE(d), ones);
        assert_values(attn_layer_norm(t, attn_variable(t, ATTN_F64, ATTN_SHAPE(1, d), x), one, one, 0), ones, 0, 0);
        free(x);
        free(ones);
        attn_tape_free(t);
    }
}

/* ---- rows ---- */

enum { LENGTH = 45 }; /* of a row: no multiple of a vector */

static attn_tensor *right_operand(attn_tape *t, attn_dtype dtype, int64_t rows, int64_t columns)
{
    return random_variable(t, dtype, ATTN_SHAPE(rows, columns), 5);
}

static attn_tensor *row_by_row(attn_tape *t, attn_tensor *x, int which)
{
    attn_dtype dtype = attn_tensor_dtype(x);
    attn_tensor *gamma = random_variable(t, dtype, ATTN_SHAPE(LENGTH), 6);
    switch (which) {
    case 0:
        return attn_matmul(t, x, right_operand(t, dtype, LENGTH, 131), ATTN_NN);
    case 1:
        return attn_matmul(t, x, right_operand(t, dtype, 131, LENGTH), ATTN_NT);
    case 2:
        return attn_softmax(t, x, NULL);
    case 3:
        return attn_layer_norm(t, x, gamma, gamma, 1e-5);
    case 4:
        return attn_gelu(t, x, ATTN_GELU_TANH);
    default:
        return attn_tanh(t, x);
    }
}

/* Field report B33: a row of a result does not depend on how many rows there are, by a bit, nor does what comes back to it. */
static void b33_rows_do_not_depend_on_their_number(void **state)
{
    (void)state;
    const int64_t some[] = {1, 2, 3, 5, 6, 7, 12, 13, 17, 33, 97, 193, 200};
    for (int n = 0; n < 6 * 2; n++) {
        attn_dtype dtype = n % 2 == 0 ? ATTN_F32 : ATTN_F64;
        size_t size = attn_dtype_size(dtype);
        attn_tape *t = attn_tape_new(NULL);
        attn_tensor *all = random_variable(t, dtype, ATTN_SHAPE(200, LENGTH), 1), *result = row_by_row(t, all, n / 2);
        int64_t width = attn_tensor_shape(result).dim[1];
        double *cotangent = random_values(200 * width, 2, -1, 1);
        assert_int_equal(backward_from(t, result, cotangent), ATTN_OK);
        for (size_t i = 0; i < sizeof some / sizeof some[0]; i++) {
            int64_t first = 200 - some[i]; /* the last rows, so that they stand elsewhere in their blocks */
            attn_tensor *x =
                attn_variable(t, dtype, ATTN_SHAPE(some[i], LENGTH), (char *)attn_tensor_data(all) + (size_t)(first * LENGTH) * size);
            attn_tensor *y = row_by_row(t, x, n / 2);
            assert_memory_equal(attn_tensor_data(y), (char *)attn_tensor_data(result) + (size_t)(first * width) * size,
                                (size_t)(some[i] * width) * size);
            assert_int_equal(backward_from(t, y, cotangent + first * width), ATTN_OK);
            assert_memory_equal(attn_tensor_grad(x), (char *)attn_tensor_grad(all) + (size_t)(first * LENGTH) * size,
                                (size_t)(some[i] * LENGTH) * size);
        }
        free(cotangent);
        attn_tape_free(t);
    }
}

/* ---- which dimension ---- */

/* Field report B37: softmax over the wrong dimension is seen in no test with equal sizes, and with one sentence or one query makes all
 * weights 1. Here no two sizes are equal, and each of them is 1 in turn: rows over the last dimension sum to 1, no other sums do. */
static void b37_sums_are_over_the_last_dimension(void **state)
{
    (void)state;
    for (int n = 0; n < 4 * 5; n++) {
        attn_shape shape = ATTN_SHAPE(2, 3, 4, 5);
        shape.rank = 1 + n % 4;
        memmove(shape.dim, shape.dim + 4 - shape.rank, (size_t)shape.rank * sizeof shape.dim[0]);
        if (n / 4 < shape.rank - 1) {
            shape.dim[n / 4] = 1;
        }
        attn_tape *t = attn_tape_new(NULL);
        attn_tensor *x = random_variable(t, ATTN_F64, shape, (uint64_t)n), *y = attn_softmax(t, x, NULL);
        for (int64_t i = 0; i < attn_tensor_count(y); i++) {
            int64_t row = i - i % 5;
            double sum = 0;
            for (int64_t j = row; j < row + 5; j++) {
                sum += exp(attn_tensor_get(x, j));
            }
            assert_close(attn_tensor_get(y, i), exp(attn_tensor_get(x, i)) / sum, 1e-14, 0);
            assert_true(attn_tensor_get(y, i) < 0.99);
        }
        attn_tape_free(t);
    }
}

/* Field report B37, in attention: the weights of B sentences, H heads, Tq queries and Tk keys sum to 1 over keys, also where any of the
 * other numbers is 1. */
static void b37_weights_sum_over_keys(void **state)
{
    (void)state;
    for (int n = 0; n < 3 * 4; n++) {
        attend_problem p = {.batch = n / 3 == 0 ? 1 : 2, .queries = n / 3 == 1 ? 1 : 3, .keys = 5, .width = 2, .value_width = 2};
        p.config.score = (attn_score_config){.score = scores[n % 3], .heads = n / 3 == 2 ? 1 : 4, .kv_heads = 1};
        attend_open(&p);
        attn_tape *t = attn_tape_new(NULL);
        attn_attend_output out = attend_run(&p, t, ATTN_F64, false);
        assert_true(attn_shape_equal(attn_tensor_shape(out.weights), ATTN_SHAPE(p.batch, p.config.score.heads, p.queries, 5)));
        for (int64_t i = 0; i < attend_pairs(&p); i += 5) {
            double sum = 0;
            for (int64_t j = i; j < i + 5; j++) {
                sum += attn_tensor_get(out.weights, j);
                assert_true(attn_tensor_get(out.weights, j) < 0.99);
            }
            assert_close(sum, 1, 1e-15, 0);
        }
        attn_tape_free(t);
        attend_close(&p);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(b27_rows_without_spread),
        cmocka_unit_test(b27_equal_numbers_of_every_width),
        cmocka_unit_test(b33_rows_do_not_depend_on_their_number),
        cmocka_unit_test(b37_sums_are_over_the_last_dimension),
        cmocka_unit_test(b37_weights_sum_over_keys),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

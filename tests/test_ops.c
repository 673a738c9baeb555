/* Operations on elements, sums and shapes: values and gradients by other formulas, in both dtypes. */
#include <float.h>
#include <math.h>
#include <stdlib.h>

#include "support/tensors.h"

#include "attn/ops.h"

/* ---- one input, element by element ---- */

static attn_tensor *gelu_erf(attn_tape *t, attn_tensor *x)
{
    return attn_gelu(t, x, ATTN_GELU_ERF);
}

static attn_tensor *gelu_tanh(attn_tape *t, attn_tensor *x)
{
    return attn_gelu(t, x, ATTN_GELU_TANH);
}

static attn_tensor *minus_third(attn_tape *t, attn_tensor *x)
{
    return attn_scale(t, x, -1.0 / 3);
}

static double sigmoid_value(double x)
{
    return 1 / (1 + exp(-x));
}

static double sigmoid_slope(double x)
{
    return exp(-fabs(x)) / ((1 + exp(-fabs(x))) * (1 + exp(-fabs(x))));
}

static double tanh_value(double x)
{
    return 1 - 2 / (exp(2 * x) + 1);
}

static double tanh_slope(double x)
{
    return 1 / (cosh(x) * cosh(x));
}

static double relu_value(double x)
{
    return fmax(x, 0);
}

static double relu_slope(double x)
{
    return x > 0;
}

static double gelu_erf_value(double x)
{
    return x * (1 + erf(x / sqrt(2))) / 2;
}

static double gelu_erf_slope(double x)
{
    return (1 + erf(x / sqrt(2))) / 2 + x * exp(-x * x / 2) / sqrt(2 * acos(-1));
}

/* (1 + tanh u) / 2 is the logistic function of 2 u. */
static double gelu_tanh_value(double x)
{
    return x * sigmoid_value(2 * sqrt(2 / acos(-1)) * (x + 0.044715 * x * x * x));
}

static double gelu_tanh_slope(double x)
{
    double u = 2 * sqrt(2 / acos(-1)) * (x + 0.044715 * x * x * x);
    return sigmoid_value(u) + x * sigmoid_slope(u) * 2 * sqrt(2 / acos(-1)) * (1 + 3 * 0.044715 * x * x);
}

static double minus_third_value(double x)
{
    return -x / 3;
}

static double minus_third_slope(double x)
{
    (void)x;
    return -1.0 / 3;
}

static const struct unary {
    const char *name;
    attn_tensor *(*build)(attn_tape *t, attn_tensor *x);
    double (*value)(double x), (*slope)(double x);
} unary[] = {
    {"tanh", attn_tanh, tanh_value, tanh_slope},
    {"relu", attn_relu, relu_value, relu_slope},
    {"sigmoid", attn_sigmoid, sigmoid_value, sigmoid_slope},
    {"gelu erf", gelu_erf, gelu_erf_value, gelu_erf_slope},
    {"gelu tanh", gelu_tanh, gelu_tanh_value, gelu_tanh_slope},
    {"scale", minus_third, minus_third_value, minus_third_slope},
};
#define UNARY (sizeof unary / sizeof unary[0])

static void check_unary(const struct unary *f, attn_dtype dtype, attn_shape shape)
{
    int64_t n = attn_shape_count(shape);
    double *x = random_values(n, 1, -6, 6), *g = random_values(n, 2, -1, 1), *y = malloc((size_t)(n + 1) * sizeof *y);
    double *dx = malloc((size_t)(n + 1) * sizeof *dx);
    attn_tape *t = attn_tape_new(NULL);
    for (int64_t i = 0; i < n; i++) {
        x[i] = i == 3 ? 0 : x[i];
        y[i] = f->value(x[i]);
        dx[i] = g[i] * f->slope(x[i]);
    }
    attn_tensor *input = variable_of(t, dtype, shape, x), *output = f->build(t, input);
    double e = epsilon_of(dtype);
    assert_true(attn_shape_equal(attn_tensor_shape(output), shape));
    assert_values(output, y, 8 * e, 4 * e);
    assert_int_equal(backward_from(t, output, g), ATTN_OK);
    assert_gradient(input, dx, 8 * e, 8 * e);
    attn_tape_free(t);
    free(x);
    free(g);
    free(y);
    free(dx);
}

static void elements_go_through_their_function(void **state)
{
    (void)state;
    const attn_shape shapes[] = {ATTN_SCALAR,       ATTN_SHAPE(0),    ATTN_SHAPE(1),       ATTN_SHAPE(17),
                                 ATTN_SHAPE(3, 11), ATTN_SHAPE(4097), ATTN_SHAPE(3, 0, 2), ATTN_SHAPE(2, 3, 5, 300)};
    for (size_t f = 0; f < UNARY; f++) {
        for (size_t s = 0; s < sizeof shapes / sizeof shapes[0]; s++) {
            check_unary(&unary[f], ATTN_F32, shapes[s]);
            check_unary(&unary[f], ATTN_F64, shapes[s]);
        }
    }
}

/* Every finite input has a finite value and a finite gradient, which is the limit's far out. */
static void large_inputs_stay_finite(void **state)
{
    (void)state;
    for (attn_dtype dtype = ATTN_F32; dtype <= ATTN_F64; dtype++) {
        const double most = dtype == ATTN_F32 ? (double)FLT_MAX : DBL_MAX;
        const double x[] = {most, -most, sqrt(most) / 2, -sqrt(most) / 2, cbrt(most) * 4, -cbrt(most) * 4, 100, -100};
        const double high[] = {1, 1, 1, 1, 1, -1.0 / 3}, low[] = {0, 0, 0, 0, 0, -1.0 / 3};
        const bool bends[] = {true, false, true, false, false, false}; /* flat on both sides */
        for (size_t f = 0; f < UNARY; f++) {
            attn_tape *t = attn_tape_new(NULL);
            attn_tensor *input = variable_of(t, dtype, ATTN_SHAPE(8), x), *y = unary[f].build(t, input);
            assert_int_equal(backward_from(t, y, (const double[]){1, 1, 1, 1, 1, 1, 1, 1}), ATTN_OK);
            for (int i = 0; i < 8; i++) {
                double slope = bends[f] ? 0 : x[i] > 0 ? high[f] : low[f];
                assert_true(isfinite(attn_tensor_get(y, i)));
                assert_close(attn_tensor_get_grad(input, i), slope, epsilon_of(dtype), dtype == ATTN_F32 ? 1e-37 : 1e-40);
                assert_close(attn_tensor_get(y, i),
                             f == 0   ? copysign(1, x[i])
                             : f == 2 ? x[i] > 0
                                      : x[i] * slope,
                             2 * epsilon_of(dtype), dtype == ATTN_F32 ? 1e-37 : 1e-40);
            }
            attn_tape_free(t);
        }
    }
}

/* A NaN stays where it is and reaches no neighbour. */
static void nan_stays_visible_and_in_its_place(void **state)
{
    (void)state;
    for (attn_dtype dtype = ATTN_F32; dtype <= ATTN_F64; dtype++) {
        for (size_t f = 0; f < UNARY; f++) {
            attn_tape *t = attn_tape_new(NULL);
            attn_tensor *y = unary[f].build(t, variable_of(t, dtype, ATTN_SHAPE(20), (const double[20]){[7] = NAN}));
            for (int i = 0; i < 20; i++) {
                assert_true((isnan(attn_tensor_get(y, i)) != 0) == (i == 7));
            }
            attn_tape_free(t);
        }
    }
}

/* x Phi(x) and its tanh form to 18 digits. */
static void gelu_to_many_digits(void **state)
{
    (void)state;
    const double x[] = {-5, -1, -0.5, 0.5, 1, 3};
    const double by_erf[] = {-1.43325785939596956e-6, -0.158655253931457051, -0.154268769362993448,
                             0.345731230637006552,    0.841344746068542949,  2.99595030590510972};
    const double by_tanh[] = {-2.29179619662950605e-7, -0.158808009391723295, -0.154285990174856078,
                              0.345714009825143922,    0.841191990608276705,  2.99636260791822698};
    attn_tape *t = attn_tape_new(NULL);
    attn_tensor *v = attn_variable(t, ATTN_F64, ATTN_SHAPE(6), x);
    assert_values(gelu_erf(t, v), by_erf, 1e-14, 0);
    assert_values(gelu_tanh(t, v), by_tanh, 1e-14, 1e-15);
    attn_tensor *single = variable_of(t, ATTN_F32, ATTN_SHAPE(6), x); /* the small one in the tail keeps its digits */
    assert_values(gelu_erf(t, single), by_erf, 4e-6, 0);
    attn_tape_free(t);
}

/* ---- two inputs ---- */

/* b repeats every `period` elements of a. */
static void check_add(attn_dtype dtype, attn_shape a_shape, attn_shape b_shape)
{
    int64_t n = attn_shape_count(a_shape), period = attn_shape_count(b_shape);
    double *a = random_values(n, 1, -3, 3), *b = random_values(period, 2, -3, 3), *g = random_values(n, 3, -1, 1);
    double *y = random_values(n, 4, 0, 0), *db = random_values(period, 4, 0, 0);
    attn_tape *t = attn_tape_new(NULL);
    for (int64_t i = 0; i < n; i++) {
        y[i] = a[i] + b[i % period];
        db[i % period] += g[i];
    }
    attn_tensor *x = variable_of(t, dtype, a_shape, a), *z = variable_of(t, dtype, b_shape, b), *sum = attn_add(t, x, z);
    assert_tape_ok(t);
    double e = epsilon_of(dtype);
    assert_values(sum, y, e, 0);
    assert_int_equal(backward_from(t, sum, g), ATTN_OK);
    assert_gradient(x, g, 0, 0);
    assert_gradient(z, db, e, (double)n * e);
    attn_tape_free(t);
    free(a);
    free(b);
    free(g);
    free(y);
    free(db);
}

static void add_repeats_the_second(void **state)
{
    (void)state;
    for (attn_dtype dtype = ATTN_F32; dtype <= ATTN_F64; dtype++) {
        check_add(dtype, ATTN_SCALAR, ATTN_SCALAR);
        check_add(dtype, ATTN_SHAPE(5), ATTN_SCALAR);
        check_add(dtype, ATTN_SHAPE(7), ATTN_SHAPE(7));
        check_add(dtype, ATTN_SHAPE(2, 3, 5), ATTN_SHAPE(5));
        check_add(dtype, ATTN_SHAPE(2, 3, 5), ATTN_SHAPE(3, 5));
        check_add(dtype, ATTN_SHAPE(2, 3, 5, 7), ATTN_SHAPE(3, 5, 7));
        check_add(dtype, ATTN_SHAPE(2, 3, 5, 7), ATTN_SHAPE(2, 3, 5, 7));
        check_add(dtype, ATTN_SHAPE(4, 1, 1), ATTN_SHAPE(1));
        check_add(dtype, ATTN_SHAPE(31, 301), ATTN_SHAPE(301));
        check_add(dtype, ATTN_SHAPE(2, 5000), ATTN_SHAPE(5000));
        check_add(dtype, ATTN_SHAPE(0, 5), ATTN_SHAPE(5));
        check_add(dtype, ATTN_SHAPE(5, 0), ATTN_SHAPE(0));
        check_add(dtype, ATTN_SHAPE(0), ATTN_SCALAR);
    }
}

static void check_sub_and_mul(attn_dtype dtype, int64_t n)
{
    double *a = random_values(n, 1, -3, 3), *b = random_values(n, 2, -3, 3), *g = random_values(n, 3, -1, 1);
    double *y = random_values(n, 4, 0, 0), *da = random_values(n, 4, 0, 0), *db = random_values(n, 4, 0, 0);
    attn_tape *t = attn_tape_new(NULL);
    double e = epsilon_of(dtype);
    for (int op = 0; op < 2; op++) {
        for (int64_t i = 0; i < n; i++) {
            y[i] = op == 0 ? a[i] - b[i] : a[i] * b[i];
            da[i] = op == 0 ? g[i] : g[i] * b[i];
            db[i] = op == 0 ? -g[i] : g[i] * a[i];
        }
        attn_tensor *x = variable_of(t, dtype, ATTN_SHAPE(n), a), *z = variable_of(t, dtype, ATTN_SHAPE(n), b);
        attn_tensor *result = op == 0 ? attn_sub(t, x, z) : attn_mul(t, x, z);
        assert_tape_ok(t);
        assert_values(result, y, e, 0);
        assert_int_equal(backward_from(t, result, g), ATTN_OK);
        assert_gradient(x, da, e, 0);
        assert_gradient(z, db, e, 0);
        attn_tape_reset(t);
    }
    attn_tape_free(t);
    free(a);
    free(b);
    free(g);
    free(y);
    free(da);
    free(db);
}

static void sub_and_mul_work_by_elements(void **state)
{
    (void)state;
    for (attn_dtype dtype = ATTN_F32; dtype <= ATTN_F64; dtype++) {
        for (int64_t n = 0; n < 40; n++) {
            check_sub_and_mul(dtype, n);
        }
        check_sub_and_mul(dtype, 5000);
    }
}

/* ---- shape ---- */

static void reshape_shares_the_elements(void **state)
{
    (void)state;
    attn_tape *t = attn_tape_new(NULL);
    const double v[] = {1, 2, 3, 4, 5, 6};
    attn_tensor *x = attn_variable(t, ATTN_F64, ATTN_SHAPE(2, 3), v), *y = attn_reshape(t, x, ATTN_SHAPE(3, 1, 2));
    assert_true(attn_shape_equal(attn_tensor_shape(y), ATTN_SHAPE(3, 1, 2)));
    assert_ptr_equal(attn_tensor_data(x), attn_tensor_data(y));
    attn_tensor *loss = attn_add(t, attn_sum(t, attn_mul(t, y, y)), attn_sum(t, x));
    assert_int_equal(attn_backward(t, loss), ATTN_OK);
    assert_gradient(x, ((const double[]){3, 5, 7, 9, 11, 13}), 0, 0);
    assert_gradient(y, ((const double[]){2, 4, 6, 8, 10, 12}), 0, 0);
    attn_tensor *one = attn_reshape(t, attn_reshape(t, attn_input(t, ATTN_F64, ATTN_SCALAR, v), ATTN_SHAPE(1, 1, 1, 1)), ATTN_SCALAR);
    assert_values(one, v, 0, 0);
    assert_non_null(attn_reshape(t, attn_input(t, ATTN_F64, ATTN_SHAPE(0, 3), NULL), ATTN_SHAPE(7, 0, 2)));
    assert_tape_ok(t);
    attn_tape_free(t);
}

static void concat_joins_columns(void **state)
{
    (void)state;
    for (attn_dtype dtype = ATTN_F32; dtype <= ATTN_F64; dtype++) {
        attn_tape *t = attn_tape_new(NULL);
        attn_tensor *a = variable_of(t, dtype, ATTN_SHAPE(2, 2), (const double[]){1, 2, 3, 4});
        attn_tensor *none = variable_of(t, dtype, ATTN_SHAPE(2, 0), NULL);
        attn_tensor *b = variable_of(t, dtype, ATTN_SHAPE(2, 1), (const double[]){5, 6});
        attn_tensor *y = attn_concat(t, (attn_tensor *const[]){a, none, b, a}, 4);
        assert_tape_ok(t);
        assert_true(attn_shape_equal(attn_tensor_shape(y), ATTN_SHAPE(2, 5)));
        assert_values(y, ((const double[]){1, 2, 5, 1, 2, 3, 4, 6, 3, 4}), 0, 0);
        assert_int_equal(backward_from(t, y, (const double[]){1, 2, 3, 4, 5, 6, 7, 8, 9, 10}), ATTN_OK);
        assert_gradient(a, ((const double[]){5, 7, 15, 17}), 0, 0);
        assert_gradient(b, ((const double[]){3, 8}), 0, 0);
        attn_tensor *fixed = attn_add(t, attn_input(t, dtype, ATTN_SHAPE(2, 1), NULL), attn_input(t, dtype, ATTN_SCALAR, NULL));
        y = attn_concat(t, (attn_tensor *const[]){fixed, b, fixed}, 3); /* inputs without gradient take up their columns */
        assert_int_equal(backward_from(t, y, (const double[]){1, 2, 3, 4, 5, 6}), ATTN_OK);
        assert_gradient(b, ((const double[]){3 + 2, 8 + 5}), 0, 0);
        attn_tensor *vector = attn_concat(t, (attn_tensor *const[]){variable_of(t, dtype, ATTN_SHAPE(2), (const double[]){1, 2})}, 1);
        assert_values(vector, ((const double[]){1, 2}), 0, 0);
        attn_tensor *empty = variable_of(t, dtype, ATTN_SHAPE(0, 2), NULL);
        empty = attn_concat(t, (attn_tensor *const[]){empty, empty}, 2);
        assert_true(attn_shape_equal(attn_tensor_shape(empty), ATTN_SHAPE(0, 4)));
        attn_tape_free(t);
    }
}

/* Sums of float32 lose nothing on the way: the result is the rounded sum. */
static void sum_and_mean_are_taken_in_double(void **state)
{
    (void)state;
    for (attn_dtype dtype = ATTN_F32; dtype <= ATTN_F64; dtype++) {
        for (int64_t n = 0; n < 100003; n = n < 40 ? n + 1 : n * 14 + 1) {
            attn_tape *t = attn_tape_new(NULL);
            double *x = random_values(n, 5, 0.5, 1.5), *g = random_values(n, 5, 0, 0);
            long double sum = 0;
            for (int64_t i = 0; i < n; i++) {
                sum += x[i];
                g[i] = 2 + 3.0 / (double)n;
            }
            attn_tensor *v = variable_of(t, dtype, ATTN_SHAPE(n), x), *s = attn_sum(t, v);
            assert_close(attn_tensor_get(s, 0), (double)sum, dtype == ATTN_F32 ? epsilon_of(dtype) / 2 : 1e-13, 0);
            assert_int_equal(attn_tensor_shape(s).rank, 0);
            attn_tensor *y = attn_scale(t, s, 2);
            if (n > 0) {
                attn_tensor *m = attn_mean(t, v);
                assert_close(attn_tensor_get(m, 0), (double)sum / (double)n, dtype == ATTN_F32 ? epsilon_of(dtype) / 2 : 1e-13, 0);
                y = attn_add(t, y, attn_scale(t, m, 3));
            }
            assert_int_equal(attn_backward(t, y), ATTN_OK);
            assert_gradient(v, g, 2 * epsilon_of(dtype), 0);
            attn_tape_free(t);
            free(x);
            free(g);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(elements_go_through_their_function),
        cmocka_unit_test(large_inputs_stay_finite),
        cmocka_unit_test(nan_stays_visible_and_in_its_place),
        cmocka_unit_test(gelu_to_many_digits),
        cmocka_unit_test(add_repeats_the_second),
        cmocka_unit_test(sub_and_mul_work_by_elements),
        cmocka_unit_test(reshape_shares_the_elements),
        cmocka_unit_test(concat_joins_columns),
        cmocka_unit_test(sum_and_mean_are_taken_in_double),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

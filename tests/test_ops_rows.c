/* Operations on rows: softmax, layer norm, cross entropy, by other formulas. Masks have a test of their own. */
#include <float.h>
#include <math.h>
#include <stdlib.h>

#include "support/tensors.h"

#include "attn/ops.h"

/* ---- softmax ---- */

static attn_tensor *softmax_of(attn_tape *t, attn_dtype dtype, int64_t n, const double *x, const uint8_t *allow)
{
    const attn_mask mask = {.allow = allow};
    return attn_softmax(t, variable_of(t, dtype, ATTN_SHAPE(n), x), allow != NULL ? &mask : NULL);
}

/* y = e^x / sum, dx = sum over i of g[i] dy[i]/dx[j] with the whole Jacobian, y[i] ([i = j] - y[j]). */
static void check_softmax(attn_dtype dtype, int64_t rows, int64_t n, double spread)
{
    double *x = random_values(rows * n, 1, -spread, spread), *g = random_values(rows * n, 2, -1, 1);
    double *y = random_values(rows * n, 3, 0, 0), *dx = random_values(rows * n, 3, 0, 0);
    for (int64_t r = 0; r < rows; r++) {
        long double sum = 0;
        for (int64_t j = 0; j < n; j++) {
            sum += expl((long double)x[r * n + j]);
        }
        for (int64_t j = 0; j < n; j++) {
            y[r * n + j] = (double)(expl((long double)x[r * n + j]) / sum);
        }
        for (int64_t i = 0; i < n * n; i++) {
            double yi = y[r * n + i / n], yj = y[r * n + i % n];
            dx[r * n + i % n] += g[r * n + i / n] * yi * ((i / n == i % n) - yj);
        }
    }
    attn_tape *t = attn_tape_new(NULL);
    double e = epsilon_of(dtype);
    attn_tensor *in = variable_of(t, dtype, ATTN_SHAPE(rows, n), x), *out = attn_softmax(t, in, NULL);
    assert_tape_ok(t);
    assert_values(out, y, ((double)n + 4 * spread) * e, 0);
    assert_int_equal(backward_from(t, out, g), ATTN_OK);
    assert_gradient(in, dx, 0, (8 + (double)n + 4 * spread) * e);
    attn_tape_free(t);
    free(x);
    free(g);
    free(y);
    free(dx);
}

static void softmax_by_the_whole_jacobian(void **state)
{
    (void)state;
    for (attn_dtype dtype = ATTN_F32; dtype <= ATTN_F64; dtype++) {
        for (int64_t n = 0; n < 40; n++) {
            check_softmax(dtype, 3, n, 4);
        }
        check_softmax(dtype, 33, 70, 20);
        check_softmax(dtype, 0, 5, 1);
    }
}

/* Field reports B04, B08, B17. */
static void known_softmax_values(void **state)
{
    (void)state;
    for (attn_dtype dtype = ATTN_F32; dtype <= ATTN_F64; dtype++) {
        attn_tape *t = attn_tape_new(NULL);
        double e = epsilon_of(dtype);
        attn_tensor *y = softmax_of(t, dtype, 4, (const double[]){1, 2, 3, 4}, (const uint8_t[]){1, 1, 0, 0});
        assert_values(y, ((const double[]){0.26894142136999512, 0.73105857863000488, 0, 0}), 4 * e, 0);
        y = softmax_of(t, dtype, 5, (const double[]){-249.87, -424.13, -460.29, 378.10, -292.61}, NULL);
        assert_values(y, ((const double[]){0, 0, 0, 1, 0}), 0, dtype == ATTN_F32 ? 0 : 1e-250);
        y = softmax_of(t, dtype, 3, (const double[]){0, 0, 0}, (const uint8_t[]){1, 0, 0});
        assert_values(y, ((const double[]){1, 0, 0}), 0, 0);
        y = softmax_of(t, dtype, 2, (const double[]){1, 1}, (const uint8_t[]){1, 0}); /* a mask is no bias */
        assert_values(y, ((const double[]){1, 0}), 0, 0);
        attn_tape_free(t);
    }
}

/* Field reports B19, B20. */
static void known_softmax_gradients(void **state)
{
    (void)state;
    attn_tape *t = attn_tape_new(NULL);
    attn_tensor *x = attn_variable(t, ATTN_F64, ATTN_SHAPE(3), (const double[]){1, 2, 3}), *y = attn_softmax(t, x, NULL);
    assert_int_equal(backward_from(t, y, (const double[]){1, 0, 0}), ATTN_OK);
    assert_gradient(x, ((const double[]){0.0819250, -0.0220330, -0.0598920}), 0, 5e-7);
    x = attn_variable(t, ATTN_F64, ATTN_SHAPE(3), (const double[]){1, 2, 3});
    y = attn_softmax(t, x, &(attn_mask){.allow = (const uint8_t[]){1, 0, 1}});
    assert_int_equal(backward_from(t, y, (const double[]){1, 0, 0}), ATTN_OK);
    double a = 1 / (1 + exp(2)) / (1 + exp(-2));
    assert_gradient(x, ((const double[]){a, 0, -a}), 1e-14, 0);
    attn_tape_free(t);
}

/* Any finite scores have finite weights that sum to 1; infinities and NaN show, in their own row alone. */
static void softmax_of_extreme_scores(void **state)
{
    (void)state;
    for (attn_dtype dtype = ATTN_F32; dtype <= ATTN_F64; dtype++) {
        const double most = dtype == ATTN_F32 ? (double)FLT_MAX : DBL_MAX;
        const double x[] = {most, -most, 0, -most, -most, -most, most, most, most, -INFINITY, 1, 1, NAN, 1, 2, INFINITY, 0, 0, 5, 5, 5};
        const double y[] = {1, 0, 0, 1.0 / 3, 1.0 / 3, 1.0 / 3, 1.0 / 3, 1.0 / 3, 1.0 / 3, 0, 0.5, 0.5};
        attn_tape *t = attn_tape_new(NULL);
        attn_tensor *in = variable_of(t, dtype, ATTN_SHAPE(7, 3), x), *out = attn_softmax(t, in, NULL);
        assert_int_equal(backward_from(t, out, (const double[21]){1, 0, 0, 1, 0, 0, 1, 0, 0, 1, 0, 0, 1}), ATTN_OK);
        for (int i = 0; i < 21; i++) {
            if (i / 3 == 4 || i / 3 == 5) {
                assert_true(isnan(attn_tensor_get(out, i)));
            } else {
                assert_close(attn_tensor_get(out, i), i < 12 ? y[i] : 1.0 / 3, epsilon_of(dtype), 0);
                assert_true(isfinite(attn_tensor_get_grad(in, i)));
            }
        }
        attn_tape_free(t);
    }
}

/* ---- layer norm ---- */

/* Numbers around size * offset, as far as 2 * size from it. */
static void check_layer_norm(attn_dtype dtype, int64_t rows, int64_t d, double epsilon, double offset, double size)
{
    double *x = random_values(rows * d, 1, offset - 2, offset + 2), *g = random_values(rows * d, 2, -1, 1);
    double *gamma = random_values(d, 3, 0.5, 2), *beta = random_values(d, 4, -1, 1);
    double *y = random_values(rows * d, 5, 0, 0), *dx = random_values(rows * d, 5, 0, 0);
    double *dgamma = random_values(d, 5, 0, 0), *dbeta = random_values(d, 5, 0, 0);
    for (int64_t i = 0; i < rows * d; i++) {
        x[i] *= size;
    }
    for (int64_t r = 0; r < rows; r++) {
        long double sum = 0, variance = 0;
        for (int64_t j = 0; j < d; j++) {
            sum += (long double)x[r * d + j];
        }
        for (int64_t j = 0; j < d; j++) {
            long double far = (long double)x[r * d + j] - sum / d;
            variance += far * far / d;
        }
        double m = (double)(sum / d), sd = sqrt((double)variance + epsilon);
        for (int64_t i = 0; i < d; i++) {
            double normal = (x[r * d + i] - m) / sd;
            y[r * d + i] = gamma[i] * normal + beta[i];
            dgamma[i] += g[r * d + i] * normal;
            dbeta[i] += g[r * d + i];
            for (int64_t j = 0; j < d; j++) { /* dn[i]/dx[j] = ([i = j] - 1/d - n[i] n[j] / d) / sd */
                double nj = (x[r * d + j] - m) / sd, slope = ((i == j) - 1.0 / (double)d - normal * nj / (double)d) / sd;
                dx[r * d + j] += g[r * d + i] * gamma[i] * slope;
            }
        }
    }
    attn_tape *t = attn_tape_new(NULL);
    double e = epsilon_of(dtype) * 16, far = dtype == ATTN_F64 ? 1 + fabs(offset) * 1e-3 : 1; /* float32 has its mean in double */
    attn_tensor *in[] = {variable_of(t, dtype, ATTN_SHAPE(rows, d), x), variable_of(t, dtype, ATTN_SHAPE(d), gamma),
                         variable_of(t, dtype, ATTN_SHAPE(d), beta)};
    attn_tensor *out = attn_layer_norm(t, in[0], in[1], in[2], epsilon);
    assert_tape_ok(t);
    assert_values(out, y, e, e * far);
    assert_int_equal(backward_from(t, out, g), ATTN_OK);
    assert_gradient(in[0], dx, e, e * (double)d * far / size);
    assert_gradient(in[1], dgamma, e, e * (double)(rows + 1));
    assert_gradient(in[2], dbeta, e, e * (double)(rows + 1));
    attn_tape_free(t);
    free(x);
    free(g);
    free(gamma);
    free(beta);
    free(y);
    free(dx);
    free(dgamma);
    free(dbeta);
}

static void layer_norm_by_the_whole_jacobian(void **state)
{
    (void)state;
    for (attn_dtype dtype = ATTN_F32; dtype <= ATTN_F64; dtype++) {
        for (int64_t d = 2; d < 36; d++) {
            check_layer_norm(dtype, 3, d, 1e-5, 0, 1);
        }
        check_layer_norm(dtype, 35, 8, 0, 0, 1);
        check_layer_norm(dtype, 70, 150, 1e-5, 0, 1);
        check_layer_norm(dtype, 2, 5, 0.5, 0, 1);
        check_layer_norm(dtype, 2, 1, 1e-5, 0, 1);     /* one element: always beta */
        check_layer_norm(dtype, 2, 16, 1e-5, 1000, 1); /* a mean far larger than the spread */
        check_layer_norm(dtype, 9, 5, 0, 1e5, 1);
        check_layer_norm(dtype, 0, 4, 1e-5, 0, 1);
        check_layer_norm(dtype, 3, 0, 1e-5, 0, 1);
    }
}

/* float32 takes rows in double whose squares it cannot hold. */
static void layer_norm_of_numbers_of_any_size(void **state)
{
    (void)state;
    const double sizes[] = {0x1p-120, 0x1p-60, 0x1p-40, 0x1p40, 0x1p60, 0x1p120, 0x1p126};
    for (attn_dtype dtype = ATTN_F32; dtype <= ATTN_F64; dtype++) {
        for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
            check_layer_norm(dtype, 35, 37, 0, 0, sizes[i]);
            check_layer_norm(dtype, 3, 70, 0, sizes[i] < 0x1p120 ? 8 : 0, sizes[i]);
        }
    }
}

static void a_constant_row_is_beta(void **state)
{
    (void)state;
    attn_tape *t = attn_tape_new(NULL);
    attn_tensor *x = variable_of(t, ATTN_F32, ATTN_SHAPE(3), (const double[]){0.1, 0.1, 0.1});
    attn_tensor *gamma = variable_of(t, ATTN_F32, ATTN_SHAPE(3), (const double[]){2, 2, 2});
    attn_tensor *beta = variable_of(t, ATTN_F32, ATTN_SHAPE(3), (const double[]){1, 2, 3});
    assert_values(attn_layer_norm(t, x, gamma, beta, 1e-5), ((const double[]){1, 2, 3}), 0, 1e-12);
    attn_tape_free(t);
}

/* ---- cross entropy ---- */

/* -sum over candidates of q log p, with p from the definition and q = (1 - e) [target] + e / candidates. */
static void check_cross_entropy(attn_dtype dtype, int64_t rows, int64_t classes, double e, bool some_candidates)
{
    double *x = random_values(rows * classes, 1, -4, 4), *dx = random_values(rows * classes, 2, 0, 0);
    uint8_t *allow = malloc((size_t)(rows * classes));
    int32_t *targets = malloc((size_t)rows * sizeof *targets);
    long double loss = 0;
    int64_t counted = 0;
    for (int64_t r = 0; r < rows; r++) {
        targets[r] = r % 3 == 1 ? ATTN_IGNORE : (int32_t)(r * 7 % classes);
        counted += targets[r] != ATTN_IGNORE;
    }
    for (int64_t r = 0; r < rows; r++) {
        long double sum = 0, possible = 0;
        for (int64_t j = 0; j < classes; j++) {
            allow[r * classes + j] = !some_candidates || j == targets[r] || (j + r) % 2 == 0;
            sum += allow[r * classes + j] ? expl((long double)x[r * classes + j]) : 0;
            possible += allow[r * classes + j];
        }
        for (int64_t j = 0; j < classes && targets[r] != ATTN_IGNORE; j++) {
            if (allow[r * classes + j]) {
                long double p = expl((long double)x[r * classes + j]) / sum, q = e / possible + (j == targets[r] ? 1 - e : 0);
                loss -= q * logl(p) / counted;
                dx[r * classes + j] = (double)(3 * (p - q) / counted);
            }
            x[r * classes + j] = allow[r * classes + j] ? x[r * classes + j] : NAN;
        }
    }
    attn_tape *t = attn_tape_new(NULL);
    const attn_cross_entropy_config config = {.candidates = some_candidates ? allow : NULL, .label_smoothing = e};
    attn_tensor *in = variable_of(t, dtype, ATTN_SHAPE(rows, classes), x);
    attn_tensor *out = attn_cross_entropy(t, in, targets, e > 0 || some_candidates ? &config : NULL);
    assert_tape_ok(t);
    for (int64_t i = 0; i < rows; i++) {
        targets[i] = 0; /* the operation has its own copies */
    }
    for (int64_t i = 0; i < rows * classes; i++) {
        allow[i] = 1;
    }
    assert_close(attn_tensor_get(out, 0), (double)loss, 4 * epsilon_of(dtype), 16 * DBL_EPSILON);
    assert_int_equal(backward_from(t, out, (const double[]){3}), ATTN_OK);
    assert_gradient(in, dx, 8 * epsilon_of(dtype), 8 * epsilon_of(dtype));
    attn_tape_free(t);
    free(x);
    free(dx);
    free(allow);
    free(targets);
}

static void cross_entropy_by_its_definition(void **state)
{
    (void)state;
    for (attn_dtype dtype = ATTN_F32; dtype <= ATTN_F64; dtype++) {
        for (int64_t classes = 1; classes < 20; classes++) {
            for (int form = 0; form < 4; form++) {
                check_cross_entropy(dtype, 1, classes, form & 1 ? 0.1 : 0, form & 2);
                check_cross_entropy(dtype, 7, classes, form & 1 ? 0.9 : 0, form & 2);
                check_cross_entropy(dtype, 40, classes, form & 1 ? 0.1 : 0, form & 2);
            }
        }
    }
}

/* Field reports B23, B26. */
static void known_losses(void **state)
{
    (void)state;
    for (attn_dtype dtype = ATTN_F32; dtype <= ATTN_F64; dtype++) {
        attn_tape *t = attn_tape_new(NULL);
        attn_tensor *x = variable_of(t, dtype, ATTN_SHAPE(1, 2), (const double[]){1000, 0});
        attn_tensor *loss = attn_cross_entropy(t, x, (const int32_t[]){1}, NULL);
        assert_int_equal(attn_backward(t, loss), ATTN_OK);
        assert_true(attn_tensor_get(loss, 0) == 1000);
        assert_gradient(x, ((const double[]){1, -1}), 0, 0);
        /* a padded row counts neither in the sum nor in the mean */
        attn_tensor *one = variable_of(t, dtype, ATTN_SHAPE(1, 2), NULL), *two = variable_of(t, dtype, ATTN_SHAPE(2, 2), NULL);
        assert_close(attn_tensor_get(attn_cross_entropy(t, one, (const int32_t[]){0}, NULL), 0), log(2), epsilon_of(dtype), 0);
        loss = attn_cross_entropy(t, two, (const int32_t[]){0, ATTN_IGNORE}, NULL);
        assert_close(attn_tensor_get(loss, 0), log(2), epsilon_of(dtype), 0);
        assert_int_equal(attn_backward(t, loss), ATTN_OK);
        assert_gradient(two, ((const double[]){-0.5, 0.5, 0, 0}), 0, 0);
        attn_tape_free(t);
    }
}

/* A visible NaN or +infinity is in the loss of its row; -infinity is a class that cannot be, even if all others can be no more. */
static void cross_entropy_of_extreme_logits(void **state)
{
    (void)state;
    const double x[][3] = {{1, NAN, 2}, {1, 2, INFINITY}, {-INFINITY, 2, 2}, {2, -INFINITY, -INFINITY}, {-INFINITY, 0, 0}};
    const double losses[] = {NAN, NAN, log(2), 0, INFINITY};
    const int32_t targets[] = {0, 0, 1, 0, 0};
    for (attn_dtype dtype = ATTN_F32; dtype <= ATTN_F64; dtype++) {
        for (size_t i = 0; i < sizeof losses / sizeof losses[0]; i++) {
            attn_tape *t = attn_tape_new(NULL);
            attn_tensor *in = variable_of(t, dtype, ATTN_SHAPE(1, 3), x[i]), *loss = attn_cross_entropy(t, in, &targets[i], NULL);
            double value = attn_tensor_get(loss, 0);
            assert_true(isnan(losses[i]) ? isnan(value) : close_enough(value, losses[i], epsilon_of(dtype), 0));
            attn_tape_free(t);
        }
    }
}

/* A loss is what little the other classes have, to the last digits: the exponents are rounded by up to 4 epsilon of the result. */
static void small_losses_keep_their_digits(void **state)
{
    (void)state;
    double *x = random_values(4000, 5, -7.9, -4);
    for (attn_dtype dtype = ATTN_F32; dtype <= ATTN_F64; dtype++) {
        attn_tape *t = attn_tape_new(NULL);
        for (int i = 0; i < 4000; i += 2) {
            const double two[] = {-x[i], x[i + 1]};
            attn_tensor *loss = attn_cross_entropy(t, variable_of(t, dtype, ATTN_SHAPE(1, 2), two), (const int32_t[]){0}, NULL);
            assert_close(attn_tensor_get(loss, 0), log1p(exp(two[1] - two[0])), 3 * epsilon_of(dtype), 16 * DBL_EPSILON);
            attn_tape_reset(t);
        }
        attn_tape_free(t);
    }
    free(x);
}

/* Nothing counts: the loss is 0, and so are the gradients, whatever the logits. Field report B25. */
static void a_batch_without_targets_has_loss_0(void **state)
{
    (void)state;
    attn_tape *t = attn_tape_new(NULL);
    attn_tensor *x = attn_variable(t, ATTN_F64, ATTN_SHAPE(2, 2), (const double[]){NAN, 3, INFINITY, 1});
    attn_tensor *loss = attn_cross_entropy(t, x, (const int32_t[]){ATTN_IGNORE, ATTN_IGNORE}, NULL);
    assert_int_equal(attn_backward(t, loss), ATTN_OK);
    assert_true(attn_tensor_get(loss, 0) == 0);
    assert_gradient(x, ((const double[]){0, 0, 0, 0}), 0, 0);
    attn_tensor *none = attn_variable(t, ATTN_F64, ATTN_SHAPE(0, 3), NULL);
    loss = attn_cross_entropy(t, none, NULL, NULL);
    assert_int_equal(attn_backward(t, loss), ATTN_OK);
    assert_true(attn_tensor_get(loss, 0) == 0);
    attn_tape_free(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(softmax_by_the_whole_jacobian),
        cmocka_unit_test(known_softmax_values),
        cmocka_unit_test(known_softmax_gradients),
        cmocka_unit_test(softmax_of_extreme_scores),
        cmocka_unit_test(layer_norm_by_the_whole_jacobian),
        cmocka_unit_test(layer_norm_of_numbers_of_any_size),
        cmocka_unit_test(a_constant_row_is_beta),
        cmocka_unit_test(cross_entropy_by_its_definition),
        cmocka_unit_test(cross_entropy_of_extreme_logits),
        cmocka_unit_test(small_losses_keep_their_digits),
        cmocka_unit_test(known_losses),
        cmocka_unit_test(a_batch_without_targets_has_loss_0),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

#include "support/check.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "attn/gradcheck.h"
#include "attn/ops.h"
#include "core/core.h"

/* ---- every operation is right ---- */

static void every_operation_passes(void **state)
{
    (void)state;
    assert_true(attn_op_count() >= 22);
    for (int op = 0; op < attn_op_count(); op++) {
        for (uint64_t seed = 0; seed < 5; seed++) {
            attn_gradcheck_report report;
            int cases = 0;
            attn_status status = attn_gradcheck_op(op, &(attn_gradcheck_config){.seed = seed}, &cases, &report);
            if (status != ATTN_OK) {
                print_error("%s (seed %d): %s\n", attn_op_name(op), (int)seed, report.verdict);
            }
            assert_int_equal(status, ATTN_OK);
            assert_true(cases >= 1 && report.elements > 0 && report.failed == 0);
            assert_true(report.max_rel_error <= 1e-6);
        }
    }
}

static void unknown_operation_is_refused(void **state)
{
    (void)state;
    attn_gradcheck_report report;
    int cases;
    assert_int_equal(attn_gradcheck_op(-1, NULL, &cases, &report), ATTN_EINVAL);
    assert_int_equal(attn_gradcheck_op(attn_op_count(), NULL, &cases, &report), ATTN_EINVAL);
    assert_null(attn_op_name(attn_op_count()));
}

/* ---- wrong operations are caught: y = x^2 with a broken backward ---- */

static void square_forward(attn__node *n)
{
    ATTN__K(n)->mul(n->out->count, n->in[0]->data, n->in[0]->data, n->out->data);
}

/* dx[i] += factor 2 x[i] g[i], read `shift` elements too far; overwrites if `assign`. */
static void broken_backward(attn__node *n, double factor, int64_t shift, bool assign)
{
    const double *x = n->in[0]->data, *g = n->out->grad;
    double *dx = n->in[0]->grad;
    for (int64_t i = 0; i < n->out->count; i++) {
        double d = factor * 2 * x[i] * g[(i + shift) % n->out->count];
        dx[i] = assign ? d : dx[i] + d;
    }
}

static void backward_right(attn__node *n)
{
    broken_backward(n, 1, 0, false);
}
static void backward_sign(attn__node *n)
{
    broken_backward(n, -1, 0, false);
}
static void backward_factor(attn__node *n)
{
    broken_backward(n, 2, 0, false);
}
static void backward_slightly_off(attn__node *n)
{
    broken_backward(n, 1.0001, 0, false);
}
static void backward_zero(attn__node *n)
{
    broken_backward(n, 0, 0, false);
}
static void backward_nan(attn__node *n)
{
    broken_backward(n, NAN, 0, false);
}
static void backward_infinite(attn__node *n)
{
    broken_backward(n, INFINITY, 0, false);
}
static void backward_shifted(attn__node *n)
{
    broken_backward(n, 1, 1, false);
}
static void backward_assigns(attn__node *n)
{
    broken_backward(n, 1, 0, true);
}

static attn_tensor *apply(attn_tape *t, attn_tensor *const in[], int n, void *ctx)
{
    (void)n;
    return attn__record(t, ctx, in, 1, NULL, 0);
}

static attn_status same_shape(attn__node *n)
{
    n->out->shape = n->in[0]->shape;
    return ATTN_OK;
}

static attn_status check_square(void (*backward)(attn__node *n), attn_gradcheck_report *report)
{
    attn__op op = {.name = "square", .arity = 1, .infer = same_shape, .forward = square_forward, .backward = backward};
    const double x[] = {0.5, -1.25, 2, 0.75, -0.3, 1.5};
    const attn_gradcheck_input input = {.name = "W\nk", .shape = ATTN_SHAPE(2, 3), .values = x};
    return attn_gradcheck(apply, &op, &input, 1, NULL, report);
}

static void wrong_operations_are_caught(void **state)
{
    (void)state;
    void (*const wrong[])(attn__node *) = {backward_sign, backward_factor,   backward_slightly_off, backward_zero,
                                           backward_nan,  backward_infinite, backward_shifted,      backward_assigns};
    attn_gradcheck_report report;
    assert_int_equal(check_square(backward_right, &report), ATTN_OK);
    assert_string_equal(report.verdict, "ok");
    assert_int_equal(report.elements, 6);
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        assert_int_equal(check_square(wrong[i], &report), ATTN_EMISMATCH);
        assert_true(report.failed > 0);
        assert_contains(report.verdict, "gradient of W?k at (");
    }
}

static void failure_names_tensor_index_and_values(void **state)
{
    (void)state;
    attn_gradcheck_report report;
    assert_int_equal(check_square(backward_sign, &report), ATTN_EMISMATCH);
    assert_string_equal(report.worst.tensor, "W\nk");
    assert_int_equal(report.worst.rank, 2);
    assert_int_equal(report.failed, 6);
    assert_close(report.worst.analytic, -report.worst.numeric, 1e-6, 0);
    char both[64];
    snprintf(both, sizeof both, "analytic %.10g, numeric %.10g", report.worst.analytic, report.worst.numeric);
    assert_contains(report.verdict, both);
}

/* ---- kinks, vacuous checks, bad functions ---- */

static attn_tensor *relu(attn_tape *t, attn_tensor *const in[], int n, void *ctx)
{
    (void)n;
    (void)ctx;
    return attn_relu(t, in[0]);
}

/* Field report B30. */
static void kinks_are_skipped(void **state)
{
    (void)state;
    attn_gradcheck_report report;
    const double zero[] = {0, 0.01, -1};
    const attn_gradcheck_input input = {.shape = ATTN_SHAPE(3), .values = zero};
    assert_int_equal(attn_gradcheck(relu, NULL, &input, 1, NULL, &report), ATTN_OK);
    assert_int_equal(report.skipped, 1);
    assert_int_equal(report.elements, 2);
    assert_contains(report.verdict, "skipped: not differentiable here");
    const attn_gradcheck_input only = {.shape = ATTN_SHAPE(1), .values = zero};
    assert_int_equal(attn_gradcheck(relu, NULL, &only, 1, NULL, &report), ATTN_OK);
    assert_int_equal(report.skipped, 1);
}

/* A wrong slope is no kink: relu whose backward gives 0.3 in the flat part. */
static void leaky_backward(attn__node *n)
{
    const double *y = n->out->data, *g = n->out->grad;
    double *dx = n->in[0]->grad;
    for (int64_t i = 0; i < n->out->count; i++) {
        dx[i] += y[i] > 0 ? g[i] : 0.3 * g[i];
    }
}

static void relu_forward(attn__node *n)
{
    ATTN__K(n)->relu(n->out->count, n->in[0]->data, n->out->data);
}

static void a_wrong_slope_is_no_kink(void **state)
{
    (void)state;
    attn_gradcheck_report report;
    attn__op op = {.name = "leaky", .arity = 1, .infer = same_shape, .forward = relu_forward, .backward = leaky_backward};
    const double x[] = {0.5, -0.5};
    const attn_gradcheck_input input = {.shape = ATTN_SHAPE(2), .values = x};
    assert_int_equal(attn_gradcheck(apply, &op, &input, 1, NULL, &report), ATTN_EMISMATCH);
    assert_int_equal(report.failed, 1);
    assert_int_equal(report.worst.index[0], 1);
}

/* Kinks alone are skipped and fine; beside gradients that are all 0 they do not hide that nothing was checked. */
static attn_tensor *relu_and_nothing(attn_tape *t, attn_tensor *const in[], int n, void *ctx)
{
    (void)n;
    (void)ctx;
    return attn_add(t, attn_sum(t, attn_relu(t, in[0])), attn_sum(t, attn_scale(t, in[1], 0)));
}

static void kinks_do_not_hide_a_vacuous_check(void **state)
{
    (void)state;
    attn_gradcheck_report report;
    const double zero[] = {0}, x[] = {0.5, -0.5, 0.25};
    const attn_gradcheck_input inputs[] = {{.shape = ATTN_SHAPE(1), .values = zero}, {.shape = ATTN_SHAPE(3), .values = x}};
    assert_int_equal(attn_gradcheck(relu_and_nothing, NULL, inputs, 2, NULL, &report), ATTN_EINVAL);
    assert_contains(report.verdict, "vacuous");
}

static attn_tensor *times_zero(attn_tape *t, attn_tensor *const in[], int n, void *ctx)
{
    (void)n;
    (void)ctx;
    return attn_scale(t, in[0], 0);
}

/* The sum of a softmax is 1 whatever the scores: a check through it would see nothing. */
static attn_tensor *sum_of_softmax(attn_tape *t, attn_tensor *const in[], int n, void *ctx)
{
    (void)n;
    (void)ctx;
    return attn_sum(t, attn_softmax(t, in[0], NULL));
}

static void vacuous_checks_are_refused(void **state)
{
    (void)state;
    attn_gradcheck_report report;
    const double x[] = {0.5, -0.5, 0.25};
    const attn_gradcheck_input input = {.shape = ATTN_SHAPE(3), .values = x};
    assert_int_equal(attn_gradcheck(times_zero, NULL, &input, 1, NULL, &report), ATTN_EINVAL);
    assert_contains(report.verdict, "vacuous");
    assert_int_equal(attn_gradcheck(sum_of_softmax, NULL, &input, 1, NULL, &report), ATTN_EINVAL);
    assert_contains(report.verdict, "vacuous");
    const attn_gradcheck_input nothing = {.shape = ATTN_SHAPE(0), .values = x};
    assert_int_equal(attn_gradcheck(times_zero, NULL, &nothing, 1, NULL, &report), ATTN_EINVAL);
    assert_contains(report.verdict, "vacuous");
}

static attn_tensor *fails(attn_tape *t, attn_tensor *const in[], int n, void *ctx)
{
    (void)n;
    (void)ctx;
    return attn_reshape(t, in[0], ATTN_SHAPE(5));
}

static attn_tensor *divides_by_zero(attn_tape *t, attn_tensor *const in[], int n, void *ctx)
{
    (void)n;
    (void)ctx;
    return attn_scale(t, in[0], INFINITY);
}

static void errors_of_the_function_come_through(void **state)
{
    (void)state;
    attn_gradcheck_report report;
    const double x[] = {0.5, -0.5, 0.25};
    const attn_gradcheck_input input = {.shape = ATTN_SHAPE(3), .values = x};
    assert_int_equal(attn_gradcheck(fails, NULL, &input, 1, NULL, &report), ATTN_ESHAPE);
    assert_contains(report.verdict, "reshape: (5) does not have the elements of (3)");
    assert_int_equal(attn_gradcheck(divides_by_zero, NULL, &input, 1, NULL, &report), ATTN_ENONFINITE);
    assert_int_equal(attn_gradcheck(relu, NULL, &input, 9, NULL, &report), ATTN_EINVAL);
}

/* ---- whole parameter sets ---- */

typedef struct model {
    attn_params *p;
    int w, b, table, unused;
} model;

static attn_tensor *model_loss(attn_tape *t, attn_tensor *const in[], int n, void *ctx)
{
    model *m = ctx;
    (void)in;
    (void)n;
    attn_tensor *x = attn_embedding(t, attn_param(t, m->p, m->table), (const int32_t[]){1, 3, 1}, ATTN_SHAPE(3));
    attn_tensor *y = attn_tanh(t, attn_add(t, attn_matmul(t, x, attn_param(t, m->p, m->w), ATTN_NN), attn_param(t, m->p, m->b)));
    return attn_cross_entropy(t, y, (const int32_t[]){0, 1, 1}, NULL);
}

static void parameters_of_a_model(void **state)
{
    (void)state;
    model m = {.p = attn_params_new(ATTN_F64, NULL)};
    m.w = attn_params_add(m.p, "w", ATTN_SHAPE(3, 2), (attn_param_config){.init = ATTN_INIT_NORMAL, .scale = 1});
    m.b = attn_params_add(m.p, "b", ATTN_SHAPE(2), (attn_param_config){.init = ATTN_INIT_NORMAL, .scale = 1});
    m.table =
        attn_params_add(m.p, "table", ATTN_SHAPE(4, 3), (attn_param_config){.init = ATTN_INIT_NORMAL, .scale = 1, .sparse_rows = true});
    m.unused = attn_params_add(m.p, "unused", ATTN_SHAPE(2), (attn_param_config){.init = ATTN_INIT_NORMAL, .scale = 1});
    assert_int_equal(attn_params_build(m.p, 7, NULL), ATTN_OK);
    attn_gradcheck_report report;
    assert_int_equal(attn_gradcheck_params(model_loss, &m, m.p, 0, NULL, &report), ATTN_OK);
    assert_int_equal(report.elements, 6 + 2 + 2 * 3 + 2);
    const double *g = attn_params_grad(m.p, m.table);
    for (int i = 0; i < 12; i++) {
        assert_true(g[i] == 0);
    }
    attn_params_free(m.p);
}

/* Failing every allocation in turn: out of memory is reported, nothing leaks. */
static void out_of_memory(void **state)
{
    (void)state;
    bool done = false;
    for (long k = 1; !done; k++) {
        counting_allocator a;
        counting_init(&a, k);
        const double x[] = {0.5, -1.25, 2};
        const attn_gradcheck_input input = {.shape = ATTN_SHAPE(3), .values = x};
        attn_gradcheck_report report;
        attn_status status = attn_gradcheck(relu, NULL, &input, 1, &(attn_gradcheck_config){.allocator = &a.value}, &report);
        assert_int_equal(a.live, 0);
        done = status == ATTN_OK;
        assert_true(done || status == ATTN_ENOMEM);
        assert_true(k < 100);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_operation_passes),
        cmocka_unit_test(unknown_operation_is_refused),
        cmocka_unit_test(wrong_operations_are_caught),
        cmocka_unit_test(failure_names_tensor_index_and_values),
        cmocka_unit_test(kinks_are_skipped),
        cmocka_unit_test(a_wrong_slope_is_no_kink),
        cmocka_unit_test(kinks_do_not_hide_a_vacuous_check),
        cmocka_unit_test(vacuous_checks_are_refused),
        cmocka_unit_test(errors_of_the_function_come_through),
        cmocka_unit_test(parameters_of_a_model),
        cmocka_unit_test(out_of_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

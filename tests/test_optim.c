#include <math.h>

#include "support/check.h"
#include "support/params.h"

#include "attn/optim.h"

static const attn_param_config matrix = {.init = ATTN_INIT_UNIFORM, .scale = 1, .decay = true};
static const attn_param_config bias = {.init = ATTN_INIT_UNIFORM, .scale = 1};
static const attn_param_config table = {.init = ATTN_INIT_UNIFORM, .scale = 1, .sparse_rows = true};

static attn_params *built(attn_params *p)
{
    assert_int_equal(attn_params_build(p, 7, NULL), ATTN_OK);
    return p;
}

/* One parameter "w" of one element. */
static attn_params *scalar(attn_dtype dtype, attn_param_config config, double start)
{
    attn_params *p = attn_params_new(dtype, NULL);
    assert_int_equal(attn_params_add(p, "w", ATTN_SHAPE(1), config), 0);
    set_value(built(p), 0, 0, start);
    return p;
}

static void step_ok(attn_optimizer *o, double factor)
{
    attn_error error = {0};
    assert_int_equal(attn_optimizer_step(o, factor, &error), ATTN_OK);
}

static void sgd_by_hand(void **state)
{
    (void)state;
    for (attn_dtype dtype = ATTN_F32; dtype <= ATTN_F64; dtype++) {
        double rtol = dtype == ATTN_F32 ? 1e-6 : 1e-15;
        attn_params *p = scalar(dtype, bias, 1);
        attn_optimizer *o = attn_sgd_new(p, (attn_sgd_config){.learning_rate = 0.1, .momentum = 0.9, .weight_decay = 5}, NULL);
        const double v[] = {0.5, 0.95, 1.355}, factor[] = {1, 1, 0.5}; /* g = 0.5 throughout; a bias does not decay */
        const double w[] = {0.95, 0.855, 0.78725};
        for (int i = 0; i < 3; i++) {
            set_grad(p, 0, 0, 0.5);
            step_ok(o, factor[i]);
            assert_close(get(p, attn_optimizer_slot(o, 0, 0), 0), v[i], rtol, 0);
            assert_close(value(p, 0, 0), w[i], rtol, 0);
        }
        assert_int_equal(attn_optimizer_steps(o), 3);
        attn_optimizer_free(o);
        attn_params_free(p);
    }
}

static void sgd_decays_what_declares_it(void **state)
{
    (void)state;
    attn_params *p = attn_params_new(ATTN_F64, NULL);
    attn_params_add(p, "W", ATTN_SHAPE(1, 1), matrix);
    attn_params_add(p, "b", ATTN_SHAPE(1), bias);
    set_value(built(p), 0, 0, 2);
    set_value(p, 1, 0, 2);
    attn_optimizer *o = attn_sgd_new(p, (attn_sgd_config){.weight_decay = 0.5}, NULL);
    step_ok(o, 1);
    assert_close(value(p, 0, 0), 2 - 0.01 * 0.5 * 2, 1e-15, 0); /* the default rate */
    assert_true(value(p, 1, 0) == 2);
    attn_optimizer_free(o);
    attn_params_free(p);
}

/* The formula of the header in double, for one element. */
typedef struct adam {
    double w, m, v;
    int n;
} adam;

static void adam_step(adam *a, const attn_adamw_config *c, double rate, double decay, double g)
{
    a->n++;
    a->m = c->beta1 * a->m + (1 - c->beta1) * g;
    a->v = c->beta2 * a->v + (1 - c->beta2) * g * g;
    double m_hat = a->m / (1 - pow(c->beta1, a->n)), v_hat = a->v / (1 - pow(c->beta2, a->n));
    a->w = a->w - rate * (decay * a->w + m_hat / (sqrt(v_hat) + c->epsilon));
}

static void adamw_first_step_is_the_rate(void **state)
{
    (void)state;
    attn_params *p = scalar(ATTN_F64, bias, 1);
    attn_optimizer *o = attn_adamw_new(p, (attn_adamw_config){0}, NULL);
    set_grad(p, 0, 0, -0.25);
    step_ok(o, 1); /* m/(1-b1) = g and v/(1-b2) = g^2, so w moves by rate g / (|g| + epsilon) */
    assert_close(value(p, 0, 0), 1 + 0.001 * 0.25 / (0.25 + 1e-8), 1e-15, 0);
    assert_close(get(p, attn_optimizer_slot(o, 0, 0), 0), 0.1 * -0.25, 1e-15, 0);
    assert_close(get(p, attn_optimizer_slot(o, 1, 0), 0), 0.001 * 0.0625, 1e-12, 0);
    attn_optimizer_free(o);
    attn_params_free(p);
}

/* A matrix of a length that fills no vector register, and a bias, against the formula. */
static void adamw_follows_the_formula(void **state)
{
    (void)state;
    enum { N = 37 };
    const attn_adamw_config c = {.learning_rate = 0.02, .beta1 = 0.8, .beta2 = 0.95, .epsilon = 1e-4, .weight_decay = 0.3};
    for (attn_dtype dtype = ATTN_F32; dtype <= ATTN_F64; dtype++) {
        double rtol = dtype == ATTN_F32 ? 3e-6 : 1e-13;
        attn_params *p = attn_params_new(dtype, NULL);
        attn_params_add(p, "W", ATTN_SHAPE(1, N), matrix);
        attn_params_add(p, "b", ATTN_SHAPE(N), bias);
        built(p);
        attn_optimizer *o = attn_adamw_new(p, c, NULL);
        adam expected[2][N] = {0};
        for (int64_t i = 0; i < N; i++) {
            expected[0][i].w = value(p, 0, i);
            expected[1][i].w = value(p, 1, i);
        }
        for (int step = 0; step < 3; step++) {
            const double factor[] = {1, 0.5, 0.25};
            for (int64_t i = 0; i < N; i++) {
                for (int id = 0; id < 2; id++) {
                    set_grad(p, id, i, sin((double)(1 + i + 100 * id + 1000 * step)));
                    adam_step(&expected[id][i], &c, c.learning_rate * factor[step], id == 0 ? c.weight_decay : 0, grad(p, id, i));
                }
            }
            step_ok(o, factor[step]);
        }
        for (int64_t i = 0; i < N; i++) {
            for (int id = 0; id < 2; id++) {
                assert_close(value(p, id, i), expected[id][i].w, rtol, rtol);
                assert_close(get(p, attn_optimizer_slot(o, 0, id), i), expected[id][i].m, rtol, rtol);
                assert_close(get(p, attn_optimizer_slot(o, 1, id), i), expected[id][i].v, rtol, rtol);
            }
        }
        attn_optimizer_free(o);
        attn_params_free(p);
    }
}

/* Rows 1 and 3 of five, then row 3 alone. Gradients also lie in the other rows, where nobody may look. */
static void sparse_rows_step_lazily(void **state)
{
    (void)state;
    const attn_adamw_config c = {.learning_rate = 0.1, .beta1 = 0.9, .beta2 = 0.999, .epsilon = 1e-8};
    attn_params *p = attn_params_new(ATTN_F64, NULL);
    attn_params_add(p, "before", ATTN_SHAPE(3), bias);
    int id = attn_params_add(p, "E", ATTN_SHAPE(5, 2), table);
    built(p);
    attn_optimizer *o = attn_adamw_new(p, c, NULL);
    adam expected[10] = {0};
    for (int64_t i = 0; i < 10; i++) {
        expected[i].w = value(p, id, i);
        set_grad(p, id, i, 0.5 + (double)i);
    }
    attn__params_touch(p, id, 3);
    attn__params_touch(p, id, 1);
    for (int i = 2; i < 8; i++) {
        if (i / 2 == 1 || i / 2 == 3) {
            adam_step(&expected[i], &c, 0.1, 0, 0.5 + i);
        }
    }
    step_ok(o, 1);
    attn_params_zero_grad(p);
    assert_true(grad(p, id, 6) == 0 && grad(p, id, 2) == 0 && grad(p, id, 4) == 4.5);

    attn__params_touch(p, id, 3);
    set_grad(p, id, 6, -1);
    adam_step(&expected[6], &c, 0.1, 0, -1);
    adam_step(&expected[7], &c, 0.1, 0, 0);
    step_ok(o, 1);
    for (int64_t i = 0; i < 10; i++) {
        assert_close(value(p, id, i), expected[i].w, 1e-14, 0);
        assert_close(get(p, attn_optimizer_slot(o, 0, id), i), expected[i].m, 1e-14, 0);
        assert_close(get(p, attn_optimizer_slot(o, 1, id), i), expected[i].v, 1e-14, 0);
    }
    attn_optimizer_free(o);
    attn_params_free(p);
}

static void frozen_stays(void **state)
{
    (void)state;
    attn_params *p = scalar(ATTN_F32, (attn_param_config){.frozen = true, .decay = true}, 2);
    attn_optimizer *o = attn_sgd_new(p, (attn_sgd_config){.weight_decay = 0.1}, NULL);
    set_grad(p, 0, 0, NAN);
    step_ok(o, 1);
    assert_true(value(p, 0, 0) == 2);
    assert_true(attn_clip_grad_norm(p, 1) == 0);
    attn_optimizer_free(o);
    attn_params_free(p);
}

/* A set with a matrix, a bias and a table, all gradients 1, rows 0 and 2 of the table touched. */
static attn_params *mixed(attn_dtype dtype)
{
    attn_params *p = attn_params_new(dtype, NULL);
    attn_params_add(p, "W", ATTN_SHAPE(2, 3), matrix);
    attn_params_add(p, "b", ATTN_SHAPE(5), bias);
    attn_params_add(p, "E", ATTN_SHAPE(3, 2), table);
    built(p);
    for (int id = 0; id < 3; id++) {
        for (int64_t i = 0; i < attn_shape_count(attn_params_shape(p, id)); i++) {
            set_grad(p, id, i, 1);
        }
    }
    attn__params_touch(p, 2, 2);
    attn__params_touch(p, 2, 0);
    return p;
}

/* Everything that a step may change. */
static void take(attn_params *p, attn_optimizer *o, double out[3 * 17])
{
    int64_t n = 0;
    for (int id = 0; id < attn_params_count(p); id++) {
        for (int64_t i = 0; i < attn_shape_count(attn_params_shape(p, id)); i++) {
            out[n++] = value(p, id, i);
            out[n++] = get(p, attn_optimizer_slot(o, 0, id), i);
            out[n++] = get(p, attn_optimizer_slot(o, 1, id), i);
        }
    }
    assert_int_equal(n, 3 * 17);
}

static void step_refused(attn_params *p, attn_optimizer *o, double factor, attn_status status, const char *message)
{
    double before[3 * 17], after[3 * 17];
    int64_t steps = attn_optimizer_steps(o);
    attn_error error = {0};
    take(p, o, before);
    assert_int_equal(attn_optimizer_step(o, factor, &error), status);
    assert_int_equal(error.status, status);
    assert_contains(error.message, message);
    assert_int_equal(attn_optimizer_step(o, factor, NULL), status);
    take(p, o, after);
    assert_memory_equal(before, after, sizeof before);
    assert_int_equal(attn_optimizer_steps(o), steps);
}

static void gradients_that_are_not_finite_change_nothing(void **state)
{
    (void)state;
    for (attn_dtype dtype = ATTN_F32; dtype <= ATTN_F64; dtype++) {
        attn_params *p = mixed(dtype);
        attn_optimizer *o = attn_adamw_new(p, (attn_adamw_config){.weight_decay = 0.1}, NULL);
        step_ok(o, 1);
        set_grad(p, 2, 3, NAN); /* row 1: nobody touched it */
        step_ok(o, 1);
        set_grad(p, 2, 5, NAN); /* row 2, touched before row 0 */
        step_refused(p, o, 1, ATTN_ENONFINITE, "'E' (3,2) is nan at (2,1)");
        set_grad(p, 2, 0, -INFINITY);
        step_refused(p, o, 1, ATTN_ENONFINITE, "'E' (3,2) is -inf at (0,0)");
        set_grad(p, 1, 4, INFINITY);
        step_refused(p, o, 1, ATTN_ENONFINITE, "'b' (5) is inf at (4)");
        set_grad(p, 0, 5, -NAN);
        set_grad(p, 0, 4, INFINITY);
        step_refused(p, o, 1, ATTN_ENONFINITE, "'W' (2,3) is inf at (1,1)");
        attn_optimizer_free(o);
        attn_params_free(p);
    }
}

static void rate_factor_is_checked(void **state)
{
    (void)state;
    attn_params *p = mixed(ATTN_F64);
    attn_optimizer *o = attn_adamw_new(p, (attn_adamw_config){0}, NULL);
    step_refused(p, o, NAN, ATTN_EINVAL, "rate factor is nan");
    step_refused(p, o, -0.5, ATTN_EINVAL, "rate factor is -0.5");
    step_refused(p, o, INFINITY, ATTN_EINVAL, "rate factor is inf");
    double before = value(p, 0, 0);
    step_ok(o, 0); /* the moments move, the values do not */
    assert_true(value(p, 0, 0) == before);
    assert_close(get(p, attn_optimizer_slot(o, 0, 0), 0), 0.1, 1e-15, 0);
    attn_optimizer_free(o);
    attn_params_free(p);
}

static void sgd_refused(attn_params *p, attn_sgd_config c, const char *message)
{
    attn_error error = {0};
    assert_null(attn_sgd_new(p, c, &error));
    assert_int_equal(error.status, ATTN_EINVAL);
    assert_contains(error.message, message);
    assert_null(attn_sgd_new(p, c, NULL));
}

static void adamw_refused(attn_params *p, attn_adamw_config c, const char *message)
{
    attn_error error = {0};
    assert_null(attn_adamw_new(p, c, &error));
    assert_int_equal(error.status, ATTN_EINVAL);
    assert_contains(error.message, message);
}

static void configurations_are_checked(void **state)
{
    (void)state;
    attn_params *p = attn_params_new(ATTN_F32, NULL);
    sgd_refused(p, (attn_sgd_config){0}, "sgd: the parameters are not built");
    adamw_refused(p, (attn_adamw_config){0}, "adamw: the parameters are not built");
    built(p);
    sgd_refused(p, (attn_sgd_config){.learning_rate = -1}, "learning rate is -1");
    sgd_refused(p, (attn_sgd_config){.learning_rate = NAN}, "learning rate is nan");
    sgd_refused(p, (attn_sgd_config){.momentum = 1}, "momentum is 1, expected at least 0 and below 1");
    sgd_refused(p, (attn_sgd_config){.weight_decay = INFINITY}, "weight decay is inf");
    adamw_refused(p, (attn_adamw_config){.learning_rate = INFINITY}, "learning rate is inf");
    adamw_refused(p, (attn_adamw_config){.beta1 = 1}, "beta1 is 1");
    adamw_refused(p, (attn_adamw_config){.beta2 = -0.1}, "beta2 is -0.1");
    adamw_refused(p, (attn_adamw_config){.weight_decay = -1}, "weight decay is -1");
    adamw_refused(p, (attn_adamw_config){.epsilon = 1e-50}, "epsilon is 1e-50"); /* 0 in float32 */
    attn_params_free(p);
    p = scalar(ATTN_F64, bias, 1);
    attn_optimizer *o = attn_adamw_new(p, (attn_adamw_config){.epsilon = 1e-50}, NULL);
    step_ok(o, 1); /* gradient 0 */
    assert_true(value(p, 0, 0) == 1);
    attn_optimizer_free(o);
    attn_params_free(p);
}

static void state_is_open(void **state)
{
    (void)state;
    attn_params *p = mixed(ATTN_F32);
    attn_optimizer *o = attn_sgd_new(p, (attn_sgd_config){0}, NULL), *a = attn_adamw_new(p, (attn_adamw_config){0}, NULL);
    assert_string_equal(attn_optimizer_name(o), "sgd");
    assert_string_equal(attn_optimizer_name(a), "adamw");
    assert_int_equal(attn_optimizer_slots(o), 1);
    assert_int_equal(attn_optimizer_slots(a), 2);
    assert_string_equal(attn_optimizer_slot_name(o, 0), "momentum");
    assert_string_equal(attn_optimizer_slot_name(a, 0), "m");
    assert_string_equal(attn_optimizer_slot_name(a, 1), "v");
    assert_null(attn_optimizer_slot_name(o, 1));
    assert_null(attn_optimizer_slot_name(o, -1));
    assert_null(attn_optimizer_slot(o, 1, 0));
    assert_null(attn_optimizer_slot(o, 0, 3));
    assert_null(attn_optimizer_slot(o, 0, -1));
    assert_int_equal(attn_optimizer_steps(a), 0);
    attn_optimizer_set_steps(a, 41);
    step_ok(a, 1);
    assert_int_equal(attn_optimizer_steps(a), 42);
    attn_optimizer_set_steps(a, INT64_MAX); /* as a checkpoint may claim: there the count stays */
    step_ok(a, 1);
    assert_true(attn_optimizer_steps(a) == INT64_MAX);
    attn_optimizer_set_steps(a, -3);
    assert_int_equal(attn_optimizer_steps(a), 0);
    attn_optimizer_free(o);
    attn_optimizer_free(a);
    attn_optimizer_free(NULL);
    attn_params_free(p);
}

static void memory_may_run_out(void **state)
{
    (void)state;
    counting_allocator c;
    counting_init(&c, 0);
    attn_params *p = attn_params_new(ATTN_F32, &c.value);
    attn_params_add(p, "W", ATTN_SHAPE(2, 3), matrix);
    built(p);
    long live = c.live, k = 0;
    attn_optimizer *o = NULL;
    while (o == NULL && k < 10) {
        attn_error error = {0};
        c.fail_at = c.allocations + ++k;
        o = attn_adamw_new(p, (attn_adamw_config){0}, &error);
        if (o == NULL) {
            assert_int_equal(error.status, ATTN_ENOMEM);
            assert_int_equal(c.live, live);
        }
    }
    assert_int_equal(k, 4); /* the optimiser, m and v */
    long allocations = c.allocations;
    step_ok(o, 1);
    assert_int_equal(c.allocations, allocations);
    attn_optimizer_free(o);
    assert_int_equal(c.live, live);
    attn_params_free(p);
    assert_int_equal(c.live, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sgd_by_hand),
        cmocka_unit_test(sgd_decays_what_declares_it),
        cmocka_unit_test(adamw_first_step_is_the_rate),
        cmocka_unit_test(adamw_follows_the_formula),
        cmocka_unit_test(sparse_rows_step_lazily),
        cmocka_unit_test(frozen_stays),
        cmocka_unit_test(gradients_that_are_not_finite_change_nothing),
        cmocka_unit_test(rate_factor_is_checked),
        cmocka_unit_test(configurations_are_checked),
        cmocka_unit_test(state_is_open),
        cmocka_unit_test(memory_may_run_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

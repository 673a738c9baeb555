#include <math.h>

#include "support/check.h"
#include "support/params.h"

#include "attn/optim.h"

static const attn_param_config uniform = {.init = ATTN_INIT_UNIFORM, .scale = 1};
static const attn_param_config table = {.init = ATTN_INIT_UNIFORM, .scale = 1, .sparse_rows = true};

/* Gradients x and y in two parameters, 7 in a frozen one and in a row that nobody touched. */
static attn_params *two(attn_dtype dtype, double x, double y)
{
    attn_params *p = attn_params_new(dtype, NULL);
    attn_params_add(p, "a", ATTN_SHAPE(1), uniform);
    attn_params_add(p, "frozen", ATTN_SHAPE(1), (attn_param_config){.frozen = true});
    attn_params_add(p, "E", ATTN_SHAPE(2, 1), table);
    assert_int_equal(attn_params_build(p, 7, NULL), ATTN_OK);
    set_grad(p, 0, 0, x);
    set_grad(p, 1, 0, 7);
    set_grad(p, 2, 0, 7);
    set_grad(p, 2, 1, y);
    attn__params_touch(p, 2, 1);
    return p;
}

static void clip_case(attn_dtype dtype, double x, double y, double max_norm, double norm, double expected_x, double expected_y)
{
    double rtol = dtype == ATTN_F32 ? 1e-6 : 1e-15;
    attn_params *p = two(dtype, x, y);
    double before = attn_clip_grad_norm(p, max_norm);
    if (isnan(norm)) {
        assert_true(isnan(before));
    } else {
        assert_close(before, norm, 1e-14, 0);
    }
    if (isfinite(x)) {
        assert_close(grad(p, 0, 0), expected_x, rtol, 0);
    }
    assert_close(grad(p, 2, 1), expected_y, rtol, 0);
    assert_true(grad(p, 1, 0) == 7 && grad(p, 2, 0) == 7);
    attn_params_free(p);
}

static void clipping(void **state)
{
    (void)state;
    for (attn_dtype dtype = ATTN_F32; dtype <= ATTN_F64; dtype++) {
        clip_case(dtype, 3, -4, 1, 5, 0.6, -0.8);
        clip_case(dtype, 3, -4, 5, 5, 3, -4);
        clip_case(dtype, 3, -4, 0, 5, 3, -4);
        clip_case(dtype, 3, -4, -1, 5, 3, -4);
        clip_case(dtype, INFINITY, 4, 1, INFINITY, 0, 4);
        clip_case(dtype, NAN, 4, 1, NAN, 0, 4);
        clip_case(dtype, NAN, INFINITY, 1, NAN, 0, INFINITY);
    }
    /* squares that leave the range of double */
    clip_case(ATTN_F64, 3e200, -4e200, 1, 5e200, 0.6, -0.8);
    clip_case(ATTN_F64, 3e-200, -4e-200, 1, 5e-200, 3e-200, -4e-200);
    clip_case(ATTN_F64, 3e-200, -4e-200, 1e-200, 5e-200, 6e-201, -8e-201);
    clip_case(ATTN_F32, 0x3p100, -0x4p100, 1, 0x5p100, 0.6, -0.8);
}

/* Field report B27. */
static void clipping_zero_leaves_zero(void **state)
{
    (void)state;
    for (attn_dtype dtype = ATTN_F32; dtype <= ATTN_F64; dtype++) {
        attn_params *p = two(dtype, 0, 0);
        attn_optimizer *o = attn_adamw_new(p, (attn_adamw_config){0}, NULL);
        double before[] = {value(p, 0, 0), value(p, 2, 1)};
        assert_true(attn_clip_grad_norm(p, 1) == 0);
        assert_true(grad(p, 0, 0) == 0 && grad(p, 2, 1) == 0);
        assert_int_equal(attn_optimizer_step(o, 1, NULL), ATTN_OK);
        assert_true(value(p, 0, 0) == before[0] && value(p, 2, 1) == before[1]);
        attn_optimizer_free(o);
        attn_params_free(p);
    }
}

/* More than the tiles of which sums are kept at a time. */
static void the_norm_of_many(void **state)
{
    (void)state;
    const int64_t n = 300 * 16384 + 7;
    attn_params *p = attn_params_new(ATTN_F32, NULL);
    attn_params_add(p, "many", ATTN_SHAPE(n), (attn_param_config){.init = ATTN_INIT_ZEROS});
    attn_params_add(p, "few", ATTN_SHAPE(2), (attn_param_config){.init = ATTN_INIT_ZEROS});
    assert_int_equal(attn_params_build(p, 7, NULL), ATTN_OK);
    float *g = attn_params_grad(p, 0);
    for (int64_t i = 0; i < n; i++) {
        g[i] = i % 2 == 0 ? 1 : -2;
    }
    set_grad(p, 1, 1, 1000);
    assert_close(attn_clip_grad_norm(p, 0), sqrt((double)(n / 2) * 5 + 1 + 1e6), 1e-14, 0);
    attn_params_free(p);
}

static void schedules(void **state)
{
    (void)state;
    const struct {
        attn_schedule_config config;
        int64_t step;
        double factor;
    } cases[] = {
        {{ATTN_DECAY_CONSTANT, 0, 0, 0}, 0, 1},    {{ATTN_DECAY_CONSTANT, 0, 0, 0}, INT64_MAX, 1},
        {{ATTN_DECAY_CONSTANT, 4, 0, 0}, 0, 0.25}, {{ATTN_DECAY_CONSTANT, 4, 0, 0}, 2, 0.75},
        {{ATTN_DECAY_CONSTANT, 4, 0, 0}, 3, 1},    {{ATTN_DECAY_CONSTANT, 4, 0, 0}, 4, 1},
        {{ATTN_DECAY_LINEAR, 0, 10, 0}, 0, 1},     {{ATTN_DECAY_LINEAR, 0, 10, 0}, 3, 0.7},
        {{ATTN_DECAY_LINEAR, 0, 10, 0}, 10, 0},    {{ATTN_DECAY_LINEAR, 0, 10, 0}, 11, 0},
        {{ATTN_DECAY_LINEAR, 0, 10, 0.2}, 9, 0.2}, {{ATTN_DECAY_LINEAR, 0, 10, 0.2}, INT64_MAX, 0.2},
        {{ATTN_DECAY_LINEAR, 4, 8, 0}, 0, 0.25},   {{ATTN_DECAY_LINEAR, 4, 8, 0}, 2, 0.75}, /* min(3/4, 6/8) */
        {{ATTN_DECAY_LINEAR, 4, 8, 0}, 3, 0.625},  {{ATTN_DECAY_LINEAR, 4, 8, 0}, -5, 0.25},
        {{ATTN_DECAY_COSINE, 0, 6, 0}, 0, 1},      {{ATTN_DECAY_COSINE, 0, 6, 0}, 2, 0.75}, /* cos 60 = 1/2 */
        {{ATTN_DECAY_COSINE, 0, 6, 0}, 3, 0.5},    {{ATTN_DECAY_COSINE, 0, 6, 0}, 4, 0.25},
        {{ATTN_DECAY_COSINE, 0, 6, 0}, 6, 0},      {{ATTN_DECAY_COSINE, 0, 6, 0.1}, 100, 0.1},
        {{ATTN_DECAY_COSINE, 10, 6, 0.5}, 1, 0.2}, /* rising still below the floor */
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_close(attn_schedule(&cases[i].config, cases[i].step), cases[i].factor, 1e-15, 1e-16);
    }
    assert_true(isnan(attn_schedule(&(attn_schedule_config){.decay = ATTN_DECAY_LINEAR, .warmup_steps = 3}, 0)));
    assert_true(isnan(attn_schedule(&(attn_schedule_config){.decay = ATTN_DECAY_COSINE}, 5)));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(clipping),
        cmocka_unit_test(clipping_zero_leaves_zero),
        cmocka_unit_test(the_norm_of_many),
        cmocka_unit_test(schedules),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

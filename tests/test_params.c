/* Parameter sets: declaring, building, layout, starting values, rows of sparse tables, errors. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/params.h"
#include "support/tensors.h"

#include "attn/ops.h"
#include "attn/random.h"
#include "core/core.h"

static const attn_param_config ones = {.init = ATTN_INIT_CONSTANT, .scale = 1};
static const attn_param_config table = {.init = ATTN_INIT_CONSTANT, .scale = 1, .sparse_rows = true};

static attn_params *built(attn_params *p)
{
    attn_error error = {.status = ATTN_OK};
    if (attn_params_build(p, 42, &error) != ATTN_OK) {
        print_error("%s\n", error.message);
        fail();
    }
    return p;
}

static void names_shapes_and_configs_are_kept(void **state)
{
    (void)state;
    attn_params *p = attn_params_new(ATTN_F64, NULL);
    assert_int_equal(attn_params_count(p), 0);
    char name[] = "w";
    attn_param_config config = {.init = ATTN_INIT_NORMAL, .scale = 0.5, .decay = true, .frozen = true};
    assert_int_equal(attn_params_add(p, name, ATTN_SHAPE(3, 2), config), 0);
    name[0] = '?'; /* the set has its own copy */
    assert_int_equal(attn_params_add(p, "b", ATTN_SCALAR, ones), 1);
    assert_int_equal(attn_params_add(p, "none", ATTN_SHAPE(0), ones), 2);
    assert_int_equal(attn_params_count(p), 3);
    assert_int_equal(attn_params_elements(p), 7);
    assert_int_equal(attn_params_dtype(p), ATTN_F64);
    assert_string_equal(attn_params_name(p, 0), "w");
    assert_true(attn_shape_equal(attn_params_shape(p, 0), ATTN_SHAPE(3, 2)));
    assert_true(attn_shape_equal(attn_params_shape(p, 1), ATTN_SCALAR));
    attn_param_config back = attn_params_config(p, 0);
    assert_true(back.init == ATTN_INIT_NORMAL && back.scale == 0.5 && back.decay && back.frozen && !back.sparse_rows);
    assert_int_equal(attn_params_find(p, "b"), 1);
    assert_int_equal(attn_params_find(p, "B"), -1);
    assert_int_equal(attn_params_find(p, ""), -1);
    assert_null(attn_params_value(p, 0));
    assert_null(attn_params_grad(p, 0));
    attn_params_zero_grad(p); /* nothing to do yet */
    attn_params_free(p);
    attn_params_free(NULL);
}

/* Parameters are aligned and apart, values and gradients are separate, gradients start at 0. */
static void data_is_aligned_and_apart(void **state)
{
    (void)state;
    const int64_t sizes[] = {1, 15, 16, 17, 0, 3, 1000, 1};
    const int n = (int)(sizeof sizes / sizeof sizes[0]);
    for (attn_dtype dtype = ATTN_F32; dtype <= ATTN_F64; dtype++) {
        attn_params *p = attn_params_new(dtype, NULL);
        for (int i = 0; i < n; i++) {
            assert_int_equal(attn_params_add(p, (char[]){(char)('a' + i), 0}, ATTN_SHAPE(sizes[i]), ones), i);
        }
        built(p);
        for (int i = 0; i < n; i++) {
            assert_int_equal((uintptr_t)attn_params_value(p, i) % ATTN__ALIGN, 0);
            assert_int_equal((uintptr_t)attn_params_grad(p, i) % ATTN__ALIGN, 0);
            for (int64_t k = 0; k < sizes[i]; k++) {
                assert_true(value(p, i, k) == 1 && grad(p, i, k) == 0);
                set_value(p, i, k, 10 * i + 2);
                set_grad(p, i, k, 10 * i + 3);
            }
        }
        for (int i = 0; i < n; i++) {
            for (int64_t k = 0; k < sizes[i]; k++) {
                assert_true(value(p, i, k) == 10 * i + 2 && grad(p, i, k) == 10 * i + 3);
            }
        }
        attn_params_free(p);
    }
}

/* Parameter i starts from stream i of the seed. */
static void starting_values(void **state)
{
    (void)state;
    for (attn_dtype dtype = ATTN_F32; dtype <= ATTN_F64; dtype++) {
        attn_params *p = attn_params_new(dtype, NULL);
        (void)attn_params_add(p, "zeros", ATTN_SHAPE(5), (attn_param_config){.scale = 3});
        (void)attn_params_add(p, "constant", ATTN_SHAPE(5), (attn_param_config){.init = ATTN_INIT_CONSTANT, .scale = -0.1});
        (void)attn_params_add(p, "normal", ATTN_SHAPE(50), (attn_param_config){.init = ATTN_INIT_NORMAL, .scale = 0.3});
        (void)attn_params_add(p, "uniform", ATTN_SHAPE(50), (attn_param_config){.init = ATTN_INIT_UNIFORM, .scale = 0.3});
        (void)attn_params_add(p, "distance", ATTN_SHAPE(5, 5), (attn_param_config){.init = ATTN_INIT_DISTANCE, .scale = 2});
        built(p);
        const double slopes[] = {0, 0.05, 0.2, 0.5, 0};
        const double rtol = epsilon_of(dtype);
        for (int i = 0; i < 5; i++) {
            assert_true(value(p, 0, i) == 0);
            assert_close(value(p, 1, i), -0.1, rtol, 0);
            for (int j = 0; j < 5; j++) {
                assert_close(value(p, 4, 5 * i + j), -2 * slopes[i] * abs(j - 2), rtol, 0);
            }
        }
        for (int i = 0; i < 50; i++) {
            assert_close(value(p, 2, i), 0.3 * attn_random_normal(42, 2, (uint64_t)i), rtol, 0);
            assert_close(value(p, 3, i), 0.3 * (2 * attn_random_uniform(42, 3, (uint64_t)i) - 1), rtol, 0);
            assert_true(value(p, 3, i) >= -0.3 - rtol && value(p, 3, i) < 0.3 + rtol);
        }
        attn_params_free(p);
    }
}

/* ---- errors: the first one stays, and building reports it ---- */

static void check_add_fails(const char *name, attn_shape shape, attn_param_config config, attn_status status, const char *message)
{
    attn_error error = {.status = ATTN_OK};
    attn_params *p = attn_params_new(ATTN_F32, NULL);
    assert_int_equal(attn_params_add(p, "w", ATTN_SHAPE(2), ones), 0);
    assert_int_equal(attn_params_add(p, name, shape, config), -1);
    assert_int_equal(attn_params_add(p, "fine", ATTN_SHAPE(2), ones), -1);
    assert_int_equal(attn_params_add(p, "", ATTN_SHAPE(2), ones), -1);
    assert_int_equal(attn_params_build(p, 1, &error), status);
    assert_int_equal(error.status, status);
    assert_string_equal(error.message, message);
    assert_int_equal(attn_params_build(p, 1, NULL), status);
    assert_int_equal(attn_params_count(p), 1);
    attn_params_free(p);
}

static void bad_declarations_are_reported(void **state)
{
    (void)state;
    const int64_t p31 = (int64_t)1 << 31;
    check_add_fails("w", ATTN_SHAPE(2), ones, ATTN_EINVAL, "params: name 'w' is declared twice");
    check_add_fails("", ATTN_SHAPE(2), ones, ATTN_EINVAL, "params: name '' is empty");
    check_add_fails("x", ATTN_SHAPE(2, -1), ones, ATTN_ESHAPE, "params: 'x' has shape (2,-1), which is invalid or too large");
    check_add_fails("x", ATTN_SHAPE(p31, p31, 4), ones, ATTN_ESHAPE,
                    "params: 'x' has shape (2147483648,2147483648,4), which is invalid or too large");
    check_add_fails("x", ATTN_SHAPE(2, 3, 4), table, ATTN_ESHAPE, "params: 'x' has shape (2,3,4), a table of rows has rank 2");
    check_add_fails("x", ATTN_SHAPE(2), (attn_param_config){.scale = NAN}, ATTN_EINVAL, "params: 'x' has scale nan");
    check_add_fails("x", ATTN_SHAPE(2), (attn_param_config){.scale = INFINITY}, ATTN_EINVAL, "params: 'x' has scale inf");
}

/* Gives what a machine has, so that only sizes that wrapped around could pass. */
static void *sane_alloc(void *ctx, size_t size)
{
    (void)ctx;
    return size < (size_t)1 << 30 ? malloc(size) : NULL;
}

static void sane_free(void *ctx, void *ptr)
{
    (void)ctx;
    free(ptr);
}

/* Counts fit into 64 bits one by one, but not together, or not as bytes. */
static void too_many_elements_are_out_of_memory(void **state)
{
    (void)state;
    const attn_shape shapes[] = {ATTN_SHAPE(INT64_MAX), ATTN_SHAPE(INT64_MAX / 2), ATTN_SHAPE((int64_t)1 << 60)};
    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++) {
        counting_allocator a;
        counting_init(&a, 0);
        attn_error error;
        attn_params *p = attn_params_new(ATTN_F64, &a.value);
        (void)attn_params_add(p, "x", shapes[i], ones);
        (void)attn_params_add(p, "y", shapes[i], ones);
        long before = a.allocations;
        assert_int_equal(attn_params_build(p, 1, &error), ATTN_ENOMEM);
        assert_int_equal(a.allocations, before);
        attn_params_free(p);
        assert_int_equal(a.live, 0);
    }
    /* A table without columns is empty, but its list of rows is not. */
    attn_params *p = attn_params_new(ATTN_F32, &(attn_allocator){sane_alloc, sane_free, NULL});
    assert_int_equal(attn_params_add(p, "x", ATTN_SHAPE((int64_t)1 << 61, 0), table), 0);
    assert_int_equal(attn_params_build(p, 1, NULL), ATTN_ENOMEM);
    attn_params_free(p);
}

static void no_such_element_type(void **state)
{
    (void)state;
    attn_error error;
    attn_params *p = attn_params_new((attn_dtype)2, NULL);
    assert_int_equal(attn_params_add(p, "w", ATTN_SHAPE(2), ones), -1);
    assert_int_equal(attn_params_build(p, 1, &error), ATTN_EDTYPE);
    assert_string_equal(error.message, "params: no such element type: 2");
    attn_params_free(p);
}

static void a_set_is_built_once(void **state)
{
    (void)state;
    attn_error error;
    attn_params *p = attn_params_new(ATTN_F32, NULL);
    (void)attn_params_add(p, "w", ATTN_SHAPE(2), ones);
    built(p);
    set_value(p, 0, 1, 7);
    assert_int_equal(attn_params_build(p, 1, &error), ATTN_EINVAL);
    assert_string_equal(error.message, "params: built twice");
    assert_true(value(p, 0, 1) == 7);
    assert_int_equal(attn_params_add(p, "late", ATTN_SHAPE(2), ones), -1);
    assert_int_equal(attn_params_build(p, 1, &error), ATTN_EINVAL);
    assert_string_equal(error.message, "params: 'late' declared after attn_params_build");
    attn_params_free(p);
}

/* ---- rows of sparse tables ---- */

static void check_touched(const attn_params *p, int id, const int64_t *rows, int64_t n)
{
    int64_t count;
    const int64_t *touched = attn__params_touched(p, id, &count);
    assert_int_equal(count, n);
    for (int64_t i = 0; i < n; i++) {
        assert_int_equal(touched[i], rows[i]);
    }
}

/* Steps through the table: only looked-up rows have gradients, are listed in order of first touch, and are zeroed. */
static void lookups_touch_rows(void **state)
{
    (void)state;
    attn_params *p = attn_params_new(ATTN_F64, NULL);
    int id = attn_params_add(p, "table", ATTN_SHAPE(6, 2), table), dense = attn_params_add(p, "dense", ATTN_SHAPE(2), ones);
    built(p);
    attn_tape *t = attn_tape_new(NULL);
    const int32_t ids[] = {4, 1, 4, 0};
    attn_tensor *x = attn_add(t, attn_embedding(t, attn_param(t, p, id), ids, ATTN_SHAPE(4)), attn_param(t, p, dense));
    assert_int_equal(attn_backward(t, attn_sum(t, x)), ATTN_OK);
    check_touched(p, id, (const int64_t[]){4, 1, 0}, 3);
    check_touched(p, dense, NULL, 0);
    const double expected[] = {1, 1, 1, 1, 0, 0, 0, 0, 2, 2, 0, 0};
    assert_all_close((double *)attn_params_grad(p, id), expected, 12, 0, 0);
    assert_true(grad(p, dense, 0) == 4);
    attn_params_zero_grad(p);
    check_touched(p, id, NULL, 0);
    for (int i = 0; i < 12; i++) {
        assert_true(grad(p, id, i) == 0);
    }
    assert_true(grad(p, dense, 0) == 0 && grad(p, dense, 1) == 0);
    /* a second step, two passes: gradients add up, rows are listed once */
    attn_tape_reset(t);
    attn_tensor *y = attn_sum(t, attn_embedding(t, attn_param(t, p, id), (const int32_t[]){5, 4}, ATTN_SHAPE(2)));
    assert_int_equal(attn_backward(t, y), ATTN_OK);
    assert_int_equal(attn_backward(t, y), ATTN_OK);
    check_touched(p, id, (const int64_t[]){5, 4}, 2);
    assert_true(grad(p, id, 10) == 2 && grad(p, id, 8) == 2 && grad(p, id, 0) == 0);
    attn_tape_free(t);
    attn_params_free(p);
}

/* An operation that is no lookup adds to every row. */
static void other_uses_touch_all_rows(void **state)
{
    (void)state;
    attn_params *p = attn_params_new(ATTN_F64, NULL);
    int id = attn_params_add(p, "table", ATTN_SHAPE(3, 2), table);
    built(p);
    attn_tape *t = attn_tape_new(NULL);
    attn_tensor *rows = attn_embedding(t, attn_param(t, p, id), (const int32_t[]){1}, ATTN_SHAPE(1));
    attn_tensor *all = attn_reshape(t, attn_param(t, p, id), ATTN_SHAPE(6));
    assert_int_equal(attn_backward(t, attn_add(t, attn_sum(t, all), attn_sum(t, rows))), ATTN_OK);
    int64_t count;
    (void)attn__params_touched(p, id, &count);
    assert_int_equal(count, 3);
    const double expected[] = {1, 1, 2, 2, 1, 1};
    assert_all_close((double *)attn_params_grad(p, id), expected, 6, 0, 0);
    attn_params_zero_grad(p);
    const double zeros[6] = {0};
    assert_all_close((double *)attn_params_grad(p, id), zeros, 6, 0, 0);
    /* so does a pass that begins at the table */
    assert_int_equal(attn_backward_from(t, attn_param(t, p, id), expected), ATTN_OK);
    check_touched(p, id, (const int64_t[]){0, 1, 2}, 3);
    attn_params_zero_grad(p);
    assert_all_close((double *)attn_params_grad(p, id), zeros, 6, 0, 0);
    attn_tape_free(t);
    attn_params_free(p);
}

static void frozen_parameters_get_no_gradient(void **state)
{
    (void)state;
    attn_params *p = attn_params_new(ATTN_F64, NULL);
    attn_param_config frozen = table;
    frozen.frozen = true;
    int id = attn_params_add(p, "table", ATTN_SHAPE(3, 1), frozen), w = attn_params_add(p, "w", ATTN_SHAPE(1), ones);
    built(p);
    attn_tape *t = attn_tape_new(NULL);
    attn_tensor *rows = attn_embedding(t, attn_param(t, p, id), (const int32_t[]){1}, ATTN_SHAPE(1));
    assert_int_equal(attn_backward(t, attn_sum(t, attn_add(t, rows, attn_param(t, p, w)))), ATTN_OK);
    check_touched(p, id, NULL, 0);
    assert_true(grad(p, id, 1) == 0 && grad(p, w, 0) == 1);
    attn_tape_free(t);
    attn_params_free(p);
}

/* What an optimiser visits: dense parameters whole, touched rows of tables, nothing that is frozen. */
static void add_span(void *ctx, int id, int64_t offset, int64_t n)
{
    char *text = ctx;
    size_t length = strlen(text);
    (void)snprintf(text + length, 100 - length, "%d:%d+%d ", id, (int)offset, (int)n);
}

static void spans_of_a_step(void **state)
{
    (void)state;
    attn_params *p = attn_params_new(ATTN_F32, NULL);
    attn_param_config frozen = ones;
    frozen.frozen = true;
    (void)attn_params_add(p, "w", ATTN_SHAPE(3, 4), ones);
    (void)attn_params_add(p, "frozen", ATTN_SHAPE(5), frozen);
    (void)attn_params_add(p, "table", ATTN_SHAPE(6, 2), table);
    (void)attn_params_add(p, "b", ATTN_SCALAR, ones);
    built(p);
    char text[100] = "";
    attn__params_touch(p, 2, 4);
    attn__params_touch(p, 2, 0);
    attn__params_touch(p, 2, 4);
    attn__params_touch(p, 0, 1); /* dense: nothing to note */
    attn__params_spans(p, add_span, text);
    assert_string_equal(text, "0:0+12 2:8+2 2:0+2 3:0+1 ");
    attn_params_free(p);
}

/* ---- out of memory ---- */

static attn_status build_some(const attn_allocator *allocator)
{
    attn_params *p = attn_params_new(ATTN_F32, allocator);
    if (p == NULL) {
        return ATTN_ENOMEM;
    }
    for (int i = 0; i < 20; i++) {
        (void)attn_params_add(p, (char[]){(char)('a' + i), 0}, ATTN_SHAPE(100, 100), i % 2 == 0 ? table : ones);
    }
    attn_error error = {.status = ATTN_OK};
    attn_status status = attn_params_build(p, 1, &error);
    assert_int_equal(error.status, status);
    if (status != ATTN_OK) {
        assert_contains(error.message, "params: out of memory");
        assert_false(attn__params_built(p));
    }
    attn_params_free(p);
    return status;
}

static void out_of_memory(void **state)
{
    (void)state;
    bool done = false;
    long k = 0;
    while (!done) {
        counting_allocator a;
        counting_init(&a, ++k);
        attn_status status = build_some(&a.value);
        assert_int_equal(a.live, 0);
        done = status == ATTN_OK;
        assert_true(done || status == ATTN_ENOMEM);
    }
    assert_true(k > 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_shapes_and_configs_are_kept),
        cmocka_unit_test(data_is_aligned_and_apart),
        cmocka_unit_test(starting_values),
        cmocka_unit_test(bad_declarations_are_reported),
        cmocka_unit_test(too_many_elements_are_out_of_memory),
        cmocka_unit_test(no_such_element_type),
        cmocka_unit_test(a_set_is_built_once),
        cmocka_unit_test(lookups_touch_rows),
        cmocka_unit_test(other_uses_touch_all_rows),
        cmocka_unit_test(frozen_parameters_get_no_gradient),
        cmocka_unit_test(spans_of_a_step),
        cmocka_unit_test(out_of_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Rows by number, parts of a dimension, rows that take part in attention, dropout. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support/tensors.h"

#include "attn/ops.h"

/* ---- embedding and gather_rows ---- */

static void embedding_copies_rows(void **state)
{
    (void)state;
    for (attn_dtype dtype = ATTN_F32; dtype <= ATTN_F64; dtype++) {
        attn_tape *t = attn_tape_new(NULL);
        attn_tensor *table = variable_of(t, dtype, ATTN_SHAPE(4, 2), (const double[]){1, 2, 3, 4, 5, 6, 7, 8});
        int32_t ids[] = {3, 0, 3, 3, 1, 0};
        attn_tensor *y = attn_embedding(t, table, ids, ATTN_SHAPE(2, 3));
        memset(ids, 0xFF, sizeof ids); /* they were copied */
        assert_true(attn_shape_equal(attn_tensor_shape(y), ATTN_SHAPE(2, 3, 2)));
        assert_values(y, ((const double[]){7, 8, 1, 2, 7, 8, 7, 8, 3, 4, 1, 2}), 0, 0);
        const double g[] = {1, 10, 2, 20, 3, 30, 4, 40, 5, 50, 6, 60};
        assert_int_equal(backward_from(t, y, g), ATTN_OK);
        assert_gradient(table, ((const double[]){8, 80, 5, 50, 0, 0, 8, 80}), 0, 0);
        attn_tape_free(t);
    }
}

static void embedding_of_any_shape(void **state)
{
    (void)state;
    attn_tape *t = attn_tape_new(NULL);
    attn_tensor *table = random_variable(t, ATTN_F64, ATTN_SHAPE(3, 5), 1), *narrow = random_variable(t, ATTN_F64, ATTN_SHAPE(3, 0), 1);
    const int32_t ids[8] = {2, 1, 0, 1};
    const attn_shape shapes[] = {ATTN_SCALAR, ATTN_SHAPE(4), ATTN_SHAPE(0), ATTN_SHAPE(2, 0, 3), ATTN_SHAPE(2, 2, 2)};
    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++) {
        attn_tensor *y = attn_embedding(t, table, ids, shapes[i]);
        assert_tape_ok(t);
        assert_int_equal(attn_tensor_shape(y).rank, shapes[i].rank + 1);
        assert_int_equal(attn_tensor_count(y), attn_shape_count(shapes[i]) * 5);
        for (int64_t k = 0; k < attn_tensor_count(y); k++) {
            assert_true(attn_tensor_get(y, k) == attn_tensor_get(table, ids[k / 5] * 5 + k % 5));
        }
        assert_int_equal(attn_backward(t, attn_sum(t, y)), ATTN_OK);
        assert_int_equal(attn_tensor_count(attn_embedding(t, narrow, ids, shapes[i])), 0);
    }
    assert_int_equal(attn_tensor_count(attn_embedding(t, table, NULL, ATTN_SHAPE(0))), 0);
    assert_tape_ok(t);
    attn_tape_free(t);
}

/* Wide rows, picked many times. */
static void embedding_of_wide_rows(void **state)
{
    (void)state;
    enum { ROWS = 7, WIDTH = 301, PICKED = 150 };
    int32_t ids[PICKED];
    double *table = random_values(ROWS * WIDTH, 1, -1, 1), *g = random_values(PICKED * WIDTH, 2, -1, 1);
    double *y = random_values(PICKED * WIDTH, 3, 0, 0), *dtable = random_values(ROWS * WIDTH, 3, 0, 0);
    for (int i = 0; i < PICKED * WIDTH; i++) {
        int32_t row = ids[i / WIDTH] = i / WIDTH * (i / WIDTH) % ROWS;
        y[i] = table[row * WIDTH + i % WIDTH];
        dtable[row * WIDTH + i % WIDTH] += g[i];
    }
    attn_tape *t = attn_tape_new(NULL);
    attn_tensor *x = variable_of(t, ATTN_F64, ATTN_SHAPE(ROWS, WIDTH), table), *out = attn_embedding(t, x, ids, ATTN_SHAPE(PICKED));
    assert_values(out, y, 0, 0);
    assert_int_equal(backward_from(t, out, g), ATTN_OK);
    assert_gradient(x, dtable, 0, 1e-13);
    attn_tape_free(t);
    free(table);
    free(g);
    free(y);
    free(dtable);
}

static void gather_takes_a_row_of_each(void **state)
{
    (void)state;
    for (attn_dtype dtype = ATTN_F32; dtype <= ATTN_F64; dtype++) {
        attn_tape *t = attn_tape_new(NULL);
        attn_tensor *x = variable_of(t, dtype, ATTN_SHAPE(2, 3, 2), (const double[]){1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12});
        int32_t index[] = {2, 0};
        attn_tensor *y = attn_gather_rows(t, x, index);
        index[0] = 99;
        assert_true(attn_shape_equal(attn_tensor_shape(y), ATTN_SHAPE(2, 2)));
        assert_values(y, ((const double[]){5, 6, 7, 8}), 0, 0);
        assert_int_equal(backward_from(t, y, (const double[]){1, 2, 3, 4}), ATTN_OK);
        assert_gradient(x, ((const double[]){0, 0, 0, 0, 1, 2, 3, 4, 0, 0, 0, 0}), 0, 0);
        assert_int_equal(attn_tensor_count(attn_gather_rows(t, random_variable(t, dtype, ATTN_SHAPE(0, 3, 2), 1), NULL)), 0);
        assert_tape_ok(t);
        attn_tape_free(t);
    }
}

/* ---- slice ---- */

static void slice_takes_a_part(void **state)
{
    (void)state;
    for (attn_dtype dtype = ATTN_F32; dtype <= ATTN_F64; dtype++) {
        attn_tape *t = attn_tape_new(NULL);
        attn_tensor *x = variable_of(t, dtype, ATTN_SHAPE(2, 3, 2), (const double[]){1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12});
        attn_tensor *y = attn_slice(t, x, 1, 1, 2);
        assert_true(attn_shape_equal(attn_tensor_shape(y), ATTN_SHAPE(2, 2, 2)));
        assert_values(y, ((const double[]){3, 4, 5, 6, 9, 10, 11, 12}), 0, 0);
        attn_tensor *z = attn_slice(t, attn_slice(t, x, 0, 1, 1), 2, 1, 1);
        assert_true(attn_shape_equal(attn_tensor_shape(z), ATTN_SHAPE(1, 3, 1)));
        assert_values(z, ((const double[]){8, 10, 12}), 0, 0);
        assert_int_equal(backward_from(t, y, (const double[]){1, 2, 3, 4, 5, 6, 7, 8}), ATTN_OK);
        assert_gradient(x, ((const double[]){0, 0, 1, 2, 3, 4, 0, 0, 5, 6, 7, 8}), 0, 0);
        assert_int_equal(backward_from(t, z, (const double[]){1, 10, 100}), ATTN_OK); /* inputs keep adding */
        assert_gradient(x, ((const double[]){0, 0, 1, 2, 3, 4, 0, 1, 5, 16, 7, 108}), 0, 0);
        assert_ptr_equal(attn_slice(t, x, 2, 0, 2), x);
        attn_tensor *nothing = attn_slice(t, x, 1, 3, 0);
        assert_true(attn_shape_equal(attn_tensor_shape(nothing), ATTN_SHAPE(2, 0, 2)));
        assert_int_equal(attn_backward(t, attn_sum(t, nothing)), ATTN_OK);
        assert_gradient(x, ((const double[]){0, 0, 1, 2, 3, 4, 0, 1, 5, 16, 7, 108}), 0, 0);
        attn_tensor *wide = variable_of(t, dtype, ATTN_SHAPE((int64_t)1 << 60, 3, 0), NULL); /* its blocks are never gone through */
        assert_int_equal(attn_tensor_count(attn_slice(t, wide, 1, 1, 1)), 0);
        assert_int_equal(attn_tensor_count(attn_slice(t, variable_of(t, dtype, ATTN_SHAPE(2), NULL), 0, 0, 0)), 0);
        assert_tape_ok(t);
        attn_tape_free(t);
    }
}

/* ---- visible_rows ---- */

static void rows_without_part_are_zeroed(void **state)
{
    (void)state;
    attn_tape *t = attn_tape_new(NULL);
    const double x[] = {1, 2, NAN, NAN, 5, 6, 7, 8, 9, 10, NAN, NAN}, g[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
    const uint8_t allow[] = {1, 0, 0, 0, 0, 1, 1, 0, 0, 1, 0, 0}; /* (B,Tq,Tk) = (2,2,3): keys 0 2 of the first, 0 of the second */
    attn_tensor *keys = attn_variable(t, ATTN_F64, ATTN_SHAPE(2, 3, 2), x);
    attn_tensor *y = attn_visible_rows(t, keys, ATTN_SIDE_KEYS, 0, 2, &(attn_mask){.allow = allow});
    assert_values(y, ((const double[]){1, 2, 0, 0, 5, 6, 7, 8, 0, 0, 0, 0}), 0, 0);
    assert_int_equal(backward_from(t, y, g), ATTN_OK);
    assert_gradient(keys, ((const double[]){1, 2, 0, 0, 5, 6, 7, 8, 0, 0, 0, 0}), 0, 0);
    /* queries: one that may attend to nothing */
    attn_tensor *queries = attn_variable(t, ATTN_F64, ATTN_SHAPE(2, 3, 2), x);
    const int32_t lengths[] = {1, 0, 2, 1, 2, 0};
    y = attn_visible_rows(t, queries, ATTN_SIDE_QUERIES, 0, 2, &(attn_mask){.row_lengths = lengths});
    assert_values(y, ((const double[]){1, 2, 0, 0, 5, 6, 7, 8, 9, 10, 0, 0}), 0, 0);
    /* without a mask there is nothing to do */
    assert_ptr_equal(attn_visible_rows(t, keys, ATTN_SIDE_KEYS, 0, 2, NULL), keys);
    assert_ptr_equal(attn_visible_rows(t, keys, ATTN_SIDE_QUERIES, 0, 2, &(attn_mask){.key_lengths = NULL}), keys);
    /* nobody on the other side */
    y = attn_visible_rows(t, attn_variable(t, ATTN_F64, ATTN_SHAPE(1, 2, 1), x), ATTN_SIDE_KEYS, 0, 0,
                          &(attn_mask){.causal = ATTN_CAUSAL_TOP_LEFT});
    assert_values(y, ((const double[]){0, 0}), 0, 0);
    attn_tape_free(t);
}

/* ---- dropout ---- */

static attn_tape *training_tape(uint64_t seed, uint64_t step)
{
    attn_tape *t = attn_tape_new(NULL);
    attn_tape_set_training(t, true);
    attn_tape_set_random(t, seed, step);
    return t;
}

/* Each element is 0 or x / (1 - rate); the share kept lies within five standard errors; the gradient has the same mask. */
static void check_dropout(attn_dtype dtype, double rate, int64_t n)
{
    attn_tape *t = training_tape(11, 12);
    double *x = random_values(n, 1, 1, 2), *g = random_values(n, 2, 1, 2);
    attn_tensor *in = variable_of(t, dtype, ATTN_SHAPE(n), x), *out = attn_dropout(t, in, rate);
    assert_tape_ok(t);
    assert_int_equal(backward_from(t, out, g), ATTN_OK);
    int64_t kept = 0;
    for (int64_t i = 0; i < n; i++) {
        bool keep = attn_tensor_get(out, i) != 0;
        assert_close(attn_tensor_get(out, i), keep ? x[i] / (1 - rate) : 0, 2 * epsilon_of(dtype), 0);
        assert_close(attn_tensor_get_grad(in, i), keep ? g[i] / (1 - rate) : 0, 2 * epsilon_of(dtype), 0);
        kept += keep;
    }
    assert_close((double)kept / (double)n, 1 - rate, 0, 5 * sqrt(rate * (1 - rate) / (double)n));
    attn_tape_free(t);
    free(x);
    free(g);
}

static void dropout_keeps_and_scales(void **state)
{
    (void)state;
    const double rates[] = {0.01, 0.1, 0.25, 0.5, 0.9, 0.999};
    for (size_t i = 0; i < sizeof rates / sizeof rates[0]; i++) {
        check_dropout(ATTN_F32, rates[i], 50001);
        check_dropout(ATTN_F64, rates[i], 50001);
    }
    check_dropout(ATTN_F32, 1e-12, 1000);
}

/* What is dropped is 0, also where it was infinite or no number; so is its gradient. */
static void dropped_elements_are_0(void **state)
{
    (void)state;
    const double bad[] = {NAN, INFINITY, -INFINITY, -1};
    for (attn_dtype dtype = ATTN_F32; dtype <= ATTN_F64; dtype++) {
        double x[200];
        for (int i = 0; i < 200; i++) {
            x[i] = bad[i % 4];
        }
        attn_tape *t = training_tape(3, 4);
        attn_tensor *in = variable_of(t, dtype, ATTN_SHAPE(200), x), *out = attn_dropout(t, in, 0.5);
        assert_int_equal(backward_from(t, out, x), ATTN_OK);
        int dropped = 0;
        for (int i = 0; i < 200; i++) {
            double y = attn_tensor_get(out, i), g = attn_tensor_get_grad(in, i);
            bool kept = isnan(x[i]) ? isnan(y) != 0 : y == 2 * x[i];
            assert_true(kept || (y == 0 && g == 0));
            assert_true(!kept || (isnan(x[i]) ? isnan(g) != 0 : g == 2 * x[i]));
            dropped += !kept;
        }
        assert_true(dropped > 60 && dropped < 140);
        attn_tape_free(t);
    }
}

static void dropout_rests_outside_training(void **state)
{
    (void)state;
    attn_tape *t = training_tape(1, 1);
    attn_tensor *x = random_variable(t, ATTN_F32, ATTN_SHAPE(5), 1);
    assert_ptr_equal(attn_dropout(t, x, 0), x);
    attn_tape_set_training(t, false);
    assert_ptr_equal(attn_dropout(t, x, 0.5), x);
    attn_tape_free(t);
}

/* Which of the first 64 elements are kept, as bits, by the dropout number `skip` of a step. */
static uint64_t pattern(attn_dtype dtype, uint64_t seed, uint64_t step, int skip, int64_t n)
{
    attn_tape *t = training_tape(seed, step);
    attn_tensor *x = attn_add(t, attn_variable(t, dtype, ATTN_SHAPE(n), NULL), variable_of(t, dtype, ATTN_SCALAR, (const double[]){1}));
    attn_tensor *y = NULL;
    for (int i = 0; i <= skip; i++) {
        y = attn_dropout(t, x, 0.5);
    }
    uint64_t bits = 0;
    for (int i = 0; i < 64; i++) {
        bits |= (uint64_t)(attn_tensor_get(y, i) != 0) << i;
    }
    attn_tape_free(t);
    return bits;
}

static void masks_are_a_function_of_seed_step_and_order(void **state)
{
    (void)state;
    uint64_t base = pattern(ATTN_F32, 1, 1, 0, 64);
    assert_int_equal(pattern(ATTN_F32, 1, 1, 0, 64), base);
    assert_int_equal(pattern(ATTN_F64, 1, 1, 0, 64), base);
    assert_int_equal(pattern(ATTN_F32, 1, 1, 0, 10000), base);
    uint64_t others[] = {pattern(ATTN_F32, 2, 1, 0, 64), pattern(ATTN_F32, 1, 2, 0, 64), pattern(ATTN_F32, 1, 1, 1, 64),
                         pattern(ATTN_F32, 1, 1, 2, 64), base};
    for (int i = 0; i < 5; i++) {
        for (int j = 0; j < i; j++) {
            assert_true(others[i] != others[j]);
        }
    }
}

/* A reset begins the step again, so the same operations have the same masks; a second backward pass has the first one's. */
static void masks_come_again(void **state)
{
    (void)state;
    attn_tape *t = training_tape(5, 6);
    double first[100], gradient[100];
    for (int round = 0; round < 3; round++) {
        attn_tensor *x = random_variable(t, ATTN_F64, ATTN_SHAPE(100), 1);
        attn_tensor *y = attn_dropout(t, attn_dropout(t, x, 0.3), 0.3);
        for (int pass = 1; pass <= 2; pass++) {
            assert_int_equal(attn_backward(t, attn_sum(t, y)), ATTN_OK);
            for (int i = 0; i < 100 && round == 0 && pass == 1; i++) {
                first[i] = attn_tensor_get(y, i);
                gradient[i] = attn_tensor_get_grad(x, i);
            }
        }
        assert_values(y, first, 0, 0);
        for (int i = 0; i < 100; i++) {
            assert_true(attn_tensor_get_grad(x, i) == 2 * gradient[i]);
            assert_true((gradient[i] != 0) == (first[i] != 0));
        }
        attn_tape_reset(t);
        if (round == 1) {
            attn_tape_set_random(t, 5, 6);
        }
    }
    attn_tape_free(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(embedding_copies_rows),
        cmocka_unit_test(embedding_of_any_shape),
        cmocka_unit_test(embedding_of_wide_rows),
        cmocka_unit_test(gather_takes_a_row_of_each),
        cmocka_unit_test(slice_takes_a_part),
        cmocka_unit_test(rows_without_part_are_zeroed),
        cmocka_unit_test(dropout_keeps_and_scales),
        cmocka_unit_test(dropped_elements_are_0),
        cmocka_unit_test(dropout_rests_outside_training),
        cmocka_unit_test(masks_are_a_function_of_seed_step_and_order),
        cmocka_unit_test(masks_come_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

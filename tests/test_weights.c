/* attn_weights_describe: what weights look like. */
#include <math.h>

#include "attn/attention.h"
#include "support/tensors.h"

#define DESCRIBE(t, dtype, shape, ...) attn_weights_describe(variable_of((t), (dtype), (shape), (const double[]){__VA_ARGS__}))

static void rows_are_described(void **state)
{
    (void)state;
    attn_tape *t = attn_tape_new(NULL);
    for (int dtype = ATTN_F32; dtype <= ATTN_F64; dtype++) {
        attn_weight_statistics s = DESCRIBE(t, (attn_dtype)dtype, ATTN_SHAPE(1, 1, 2, 4), 0.25, 0.25, 0.25, 0.25, 0, 1, 0, 0);
        assert_int_equal(s.rows, 2);
        assert_close(s.entropy, log(4) / 2, 1e-15, 0);
        assert_close(s.largest, 0.625, 0, 0);
        assert_close(s.saturation, 0.5, 0, 0);
    }
    attn_weight_statistics s = DESCRIBE(t, ATTN_F64, ATTN_SHAPE(3), 0.5, 0.25, 0.25); /* 1.5 bits */
    assert_int_equal(s.rows, 1);
    assert_close(s.entropy, 1.5 * log(2), 1e-15, 0);
    assert_close(s.largest, 0.5, 0, 0);
    assert_close(s.saturation, 0, 0, 0);
    attn_tape_free(t);
}

/* More than 0.99, not 0.99 itself; a single visible key saturates by nature. */
static void saturation_begins_above_its_bound(void **state)
{
    (void)state;
    attn_tape *t = attn_tape_new(NULL);
    attn_weight_statistics s = DESCRIBE(t, ATTN_F64, ATTN_SHAPE(4, 2), 0.99, 0.01, 0.01, 0.99, 0.9901, 0.0099, 1, 0);
    assert_int_equal(s.rows, 4);
    assert_close(s.saturation, 0.5, 0, 0);
    attn_tape_free(t);
}

/* Rows without weights (queries that see nothing) are not counted. */
static void empty_rows_do_not_count(void **state)
{
    (void)state;
    attn_tape *t = attn_tape_new(NULL);
    attn_weight_statistics s = DESCRIBE(t, ATTN_F64, ATTN_SHAPE(3, 2), 0, 0, 0.5, 0.5, 0, 0);
    assert_int_equal(s.rows, 1);
    assert_close(s.entropy, log(2), 1e-15, 0);
    assert_close(s.largest, 0.5, 0, 0);
    s = DESCRIBE(t, ATTN_F64, ATTN_SHAPE(2, 2), 0, 0, 0, 0);
    assert_int_equal(s.rows, 0);
    assert_true(s.entropy == 0 && s.largest == 0 && s.saturation == 0);
    attn_tape_free(t);
}

static void nothing_has_no_rows(void **state)
{
    (void)state;
    attn_tape *t = attn_tape_new(NULL);
    assert_int_equal(attn_weights_describe(variable_of(t, ATTN_F64, ATTN_SHAPE(2, 0), NULL)).rows, 0);
    assert_int_equal(attn_weights_describe(variable_of(t, ATTN_F64, ATTN_SHAPE(0, 2), NULL)).rows, 0);
    assert_int_equal(attn_weights_describe(variable_of(t, ATTN_F64, ATTN_SCALAR, NULL)).rows, 0);
    assert_int_equal(attn_weights_describe(NULL).rows, 0);
    attn_tape_free(t);
}

/* A NaN is told, wherever in its row it stands and whatever comes after. */
static void nan_is_not_hidden(void **state)
{
    (void)state;
    attn_tape *t = attn_tape_new(NULL);
    for (int at = 0; at < 6; at++) {
        double w[6] = {0, 1, 0, 0.5, 0.25, 0.25};
        w[at] = NAN;
        attn_weight_statistics s = attn_weights_describe(variable_of(t, ATTN_F64, ATTN_SHAPE(2, 3), w));
        assert_int_equal(s.rows, 2);
        assert_true(isnan(s.entropy) && isnan(s.largest));
    }
    attn_tape_free(t);
}

/* On weights of a softmax: all alike, one only, and hidden keys beside. */
static void weights_of_a_softmax(void **state)
{
    (void)state;
    attn_tape *t = attn_tape_new(NULL);
    attn_tensor *x = variable_of(t, ATTN_F64, ATTN_SHAPE(1, 3, 8), NULL);
    attn_weight_statistics s = attn_weights_describe(attn_softmax(t, x, &(attn_mask){.row_lengths = (const int32_t[]){8, 2, 0}}));
    assert_int_equal(s.rows, 2);
    assert_close(s.entropy, (log(8) + log(2)) / 2, 1e-15, 0);
    assert_close(s.largest, (0.125 + 0.5) / 2, 1e-15, 0);
    attn_tape_free(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_are_described),      cmocka_unit_test(saturation_begins_above_its_bound),
        cmocka_unit_test(empty_rows_do_not_count), cmocka_unit_test(nothing_has_no_rows),
        cmocka_unit_test(nan_is_not_hidden),       cmocka_unit_test(weights_of_a_softmax),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Packed batches: sentences side by side without padding give the numbers of the same sentences apart. */
#include <stdlib.h>
#include <string.h>

#include "attn/attention.h"
#include "support/tensors.h"

static void ranges_of_rows(void **state)
{
    (void)state;
    int32_t begins[8], lengths[8];
    memset(begins, -1, sizeof begins);
    memset(lengths, -1, sizeof lengths);
    assert_int_equal(attn_packed_rows((const int32_t[]){0, 2, 2, 5, 6}, 4, begins, lengths), ATTN_OK);
    const int32_t expected_begins[8] = {0, 0, 2, 2, 2, 5, -1, -1}, expected_lengths[8] = {2, 2, 5, 5, 5, 6, -1, -1};
    assert_memory_equal(begins, expected_begins, sizeof begins);
    assert_memory_equal(lengths, expected_lengths, sizeof lengths);
}

static void nothing_is_packed_into_nothing(void **state)
{
    (void)state;
    int32_t begins[1] = {-1}, lengths[1] = {-1};
    assert_int_equal(attn_packed_rows((const int32_t[]){0}, 0, begins, lengths), ATTN_OK);
    assert_int_equal(attn_packed_rows((const int32_t[]){0, 0, 0}, 2, begins, lengths), ATTN_OK);
    assert_true(begins[0] == -1 && lengths[0] == -1);
}

/* Refused before anything is written. */
static void wrong_offsets_are_refused(void **state)
{
    (void)state;
    int32_t begins[4] = {-1, -1, -1, -1}, lengths[4] = {-1, -1, -1, -1};
    assert_int_equal(attn_packed_rows((const int32_t[]){1, 2}, 1, begins, lengths), ATTN_EINVAL);
    assert_int_equal(attn_packed_rows((const int32_t[]){0, 3, 2, 4}, 3, begins, lengths), ATTN_EINVAL);
    assert_int_equal(attn_packed_rows((const int32_t[]){0, -1}, 1, begins, lengths), ATTN_EINVAL);
    assert_int_equal(attn_packed_rows((const int32_t[]){0}, -1, begins, lengths), ATTN_EINVAL);
    for (int i = 0; i < 4; i++) {
        assert_true(begins[i] == -1 && lengths[i] == -1);
    }
}

/* ---- the same numbers ---- */

#define WIDTH     6
#define SENTENCES 5
#define ROWS      40

static const int32_t offsets[SENTENCES + 1] = {0, 1, 18, 18, 23, ROWS}; /* one is empty, two are longer than a block of rows */

/* Output and the gradients of queries, keys and values, all rows. */
typedef struct run {
    double output[ROWS * WIDTH], gradient[3][ROWS * WIDTH];
} run;

static void get_all(run *r, int64_t first, attn_tensor *const x[3], const attn_tensor *y)
{
    for (int64_t i = 0; i < attn_tensor_count(y); i++) {
        r->output[first * WIDTH + i] = attn_tensor_get(y, i);
        for (int k = 0; k < 3; k++) {
            r->gradient[k][first * WIDTH + i] = attn_tensor_get_grad(x[k], i);
        }
    }
}

static void run_rows(attn_tape *t, attn_dtype dtype, attn_score score, const attn_mask *mask, int64_t first, int64_t n,
                     double *const data[4], run *r)
{
    attn_tensor *x[3];
    attn_tape_reset(t);
    for (int k = 0; k < 3; k++) {
        x[k] = variable_of(t, dtype, ATTN_SHAPE(1, n, WIDTH), data[k] + first * WIDTH);
    }
    attn_attend_config config = {.score = {.score = score, .heads = 2}, .mask = *mask};
    attn_attend_input in = {.query = x[0], .key = x[1], .value = x[2]};
    if (score == ATTN_SCORE_ADDITIVE) {
        in.w = variable_of(t, dtype, ATTN_SHAPE(2, 3), (const double[]){1, -0.5, 0.25, 2, 1, -1});
    }
    attn_tensor *y = attn_attend(t, in, &config).output;
    assert_tape_ok(t);
    assert_int_equal(backward_from(t, y, data[3] + first * WIDTH), ATTN_OK);
    get_all(r, first, x, y);
}

/* The same bits, forward and backward: what is hidden is skipped, and sums run over what is visible. */
static void packed_is_as_apart(void **state)
{
    (void)state;
    int32_t begins[ROWS], lengths[ROWS];
    run *packed = calloc(1, sizeof *packed), *apart = calloc(1, sizeof *apart);
    assert_true(packed != NULL && apart != NULL);
    assert_int_equal(attn_packed_rows(offsets, SENTENCES, begins, lengths), ATTN_OK);
    double *data[4];
    for (int k = 0; k < 4; k++) {
        data[k] = random_values((int64_t)ROWS * WIDTH, 11 + (uint64_t)k, -2, 2);
    }
    attn_tape *t = attn_tape_new(NULL);
    for (int dtype = ATTN_F32; dtype <= ATTN_F64; dtype++) {
        for (int score = ATTN_SCORE_SCALED_DOT; score <= ATTN_SCORE_ADDITIVE; score++) {
            for (int causal = 0; causal < 2; causal++) {
                attn_mask mask = {.causal = causal ? ATTN_CAUSAL_TOP_LEFT : ATTN_CAUSAL_NONE};
                for (int s = 0; s < SENTENCES; s++) {
                    run_rows(t, (attn_dtype)dtype, (attn_score)score, &mask, offsets[s], offsets[s + 1] - offsets[s], data, apart);
                }
                mask.row_begins = begins;
                mask.row_lengths = lengths;
                run_rows(t, (attn_dtype)dtype, (attn_score)score, &mask, 0, ROWS, data, packed);
                assert_memory_equal(packed->output, apart->output, sizeof packed->output);
                assert_memory_equal(packed->gradient, apart->gradient, sizeof packed->gradient);
            }
        }
    }
    attn_tape_free(t);
    for (int k = 0; k < 4; k++) {
        free(data[k]);
    }
    free(packed);
    free(apart);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ranges_of_rows),
        cmocka_unit_test(nothing_is_packed_into_nothing),
        cmocka_unit_test(wrong_offsets_are_refused),
        cmocka_unit_test(packed_is_as_apart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

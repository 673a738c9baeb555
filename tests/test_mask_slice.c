/* What is made of masks, for every combination of their parts: the mask of some queries, whose row i is row begin + i of the whole, and the
 * rows of queries and keys that take part. */
#include <string.h>

#include "support/tensors.h"

#include "attn/random.h"
#include "ops/op.h"

enum { MOST = 9 }; /* batch, queries, keys */

typedef struct arrays {
    int32_t keys[MOST], queries[MOST], begins[MOST * MOST], lengths[MOST * MOST], positions[MOST];
    uint8_t allow[MOST * MOST * MOST];
} arrays;

static int32_t draw(uint64_t seed, uint64_t what, int64_t i, int64_t low, int64_t high)
{
    return (int32_t)(low + (int64_t)attn_random_below(seed, what, (uint64_t)i, (uint64_t)(high - low + 1)));
}

static arrays random_arrays(attn__pairs d, uint64_t seed)
{
    arrays a;
    memset(&a, 0, sizeof a);
    for (int64_t b = 0; b < d.batch; b++) {
        a.keys[b] = draw(seed, 1, b, 0, d.keys);
        a.queries[b] = draw(seed, 2, b, 0, d.queries);
        a.positions[b] = draw(seed, 3, b, -4, 4);
    }
    for (int64_t r = 0; r < d.batch * d.queries; r++) {
        a.begins[r] = draw(seed, 4, r, 0, d.keys);
        a.lengths[r] = draw(seed, 5, r, 0, d.keys);
    }
    for (int64_t p = 0; p < d.batch * d.queries * d.keys; p++) {
        a.allow[p] = (uint8_t)(draw(seed, 6, p, 0, 3) > 0);
    }
    return a;
}

/* Four bits: what is given of the lengths; then `allow` (none, pairs, keys), and causality (four), with a window or without; last a window
 * with positions. */
enum { COMBINATIONS = 16 * 3 * 9 };

static attn_mask mask_number(const arrays *a, int number, uint64_t seed)
{
    int allow = number / 16 % 3, order = number / 48;
    attn_mask m = {
        .key_lengths = number & 1 ? a->keys : NULL,
        .query_lengths = number & 2 ? a->queries : NULL,
        .row_begins = number & 4 ? a->begins : NULL,
        .row_lengths = number & 8 ? a->lengths : NULL,
        .allow = allow > 0 ? a->allow : NULL,
        .allow_form = allow == 2 ? ATTN_ALLOW_KEYS : ATTN_ALLOW_PAIRS,
        .causal = order < 8 ? (attn_causal)(order / 2) : ATTN_CAUSAL_NONE,
        .window = order == 8 || order % 2 == 1,
        .left = draw(seed, 7, number, -1, 3),
        .right = draw(seed, 8, number, -1, 3),
    };
    m.positions = m.causal == ATTN_CAUSAL_POSITION || order == 8 ? a->positions : NULL;
    return m;
}

/* Softmax over random scores under both masks: the slice is one that operations take, and gives the same bits. */
static void assert_same_weights(attn_tape *t, attn_tensor *x, attn_tensor *whole, const attn_mask *slice, attn__pairs d, int64_t begin,
                                int64_t count)
{
    attn_tensor *some = attn_softmax(t, attn_slice(t, x, 1, begin, count), slice);
    assert_tape_ok(t);
    const double *a = attn_tensor_data(whole), *b = attn_tensor_data(some);
    for (int64_t n = 0; n < d.batch && count * d.keys > 0; n++) {
        assert_memory_equal(a + (n * d.queries + begin) * d.keys, b + n * count * d.keys, (size_t)(count * d.keys) * sizeof *a);
    }
}

static void check(attn_tape *t, const attn_mask *mask, attn__pairs d)
{
    attn_tape_reset(t);
    attn_tensor *x = random_variable(t, ATTN_F64, ATTN_SHAPE(d.batch, d.queries, d.keys), 1), *whole = attn_softmax(t, x, mask);
    for (int64_t begin = 0; begin <= d.queries; begin++) {
        for (int64_t count = 0; count <= d.queries - begin; count++) {
            attn_mask slice;
            attn__pairs some = {d.batch, d.heads, count, d.keys};
            assert_int_equal(attn__mask_slice(t, mask, d, begin, count, &slice), ATTN_OK);
            for (int64_t p = 0; p < d.batch * count * d.keys; p++) {
                int64_t b = p / d.keys / count, i = p / d.keys % count, j = p % d.keys;
                assert_true(attn__sees(attn__mask_row(&slice, some, b, i), j) == attn__sees(attn__mask_row(mask, d, b, begin + i), j));
            }
            assert_same_weights(t, x, whole, &slice, d, begin, count);
        }
    }
}

/* Some pair of query i, or of key i, is visible; nothing is asked where there is no mask. */
static bool takes_part(const attn_mask *mask, attn__pairs d, attn_side side, int64_t b, int64_t i)
{
    bool keys = side == ATTN_SIDE_KEYS, some = attn__mask_empty(mask);
    for (int64_t other = 0; other < (keys ? d.queries : d.keys); other++) {
        some = some || attn__sees(attn__mask_row(mask, d, b, keys ? other : i), keys ? i : other);
    }
    return some;
}

/* Values of rows that take part pass, and so do their gradients; of the others both are 0. */
static void check_rows(attn_tape *t, const attn_mask *mask, attn__pairs d)
{
    enum { WIDTH = 2 };
    for (int64_t c = 0; c < d.queries + d.keys; c++) {
        attn_side side = c < d.keys ? ATTN_SIDE_KEYS : ATTN_SIDE_QUERIES;
        int64_t before = c < d.keys ? c : c - d.keys, rows = (c < d.keys ? d.keys : d.queries) - before;
        attn_tape_reset(t);
        attn_tensor *x = random_variable(t, ATTN_F64, ATTN_SHAPE(d.batch, rows, WIDTH), 1);
        attn_tensor *y = attn_visible_rows(t, x, side, before, c < d.keys ? d.queries : d.keys, mask);
        assert_int_equal(attn_backward(t, attn_sum(t, y)), ATTN_OK);
        for (int64_t e = 0; e < d.batch * rows * WIDTH; e++) {
            bool there = takes_part(mask, d, side, e / WIDTH / rows, before + e / WIDTH % rows);
            assert_true(attn_tensor_get(y, e) == (there ? attn_tensor_get(x, e) : 0));
            assert_true(((const double *)attn_tensor_grad(x))[e] == (there ? 1 : 0));
        }
    }
}

static void of_every_combination(void (*fn)(attn_tape *t, const attn_mask *mask, attn__pairs d))
{
    const attn__pairs sizes[] = {{3, 2, 5, 6}, {2, 1, 6, 3}, {2, 1, 4, 4}, {1, 1, 1, 7}, {2, 2, 0, 3}, {2, 2, 3, 0}, {0, 2, 3, 3}};
    attn_tape *t = attn_tape_new(NULL);
    for (size_t n = 0; n < sizeof sizes / sizeof sizes[0]; n++) {
        arrays a = random_arrays(sizes[n], n);
        for (int number = 0; number < COMBINATIONS; number++) {
            attn_mask mask = mask_number(&a, number, n);
            fn(t, &mask, sizes[n]);
        }
    }
    attn_tape_free(t);
}

static void every_row_of_every_range(void **state)
{
    (void)state;
    of_every_combination(check);
}

static void every_row_that_takes_part(void **state)
{
    (void)state;
    of_every_combination(check_rows);
}

/* The rows of the other side, and those that stand before, cost no memory. */
static void rows_far_away(void **state)
{
    (void)state;
    const attn_mask causal = {.causal = ATTN_CAUSAL_TOP_LEFT};
    const int64_t many = (int64_t)1 << 40;
    attn_tape *t = attn_tape_new(NULL);
    attn_tensor *x = random_variable(t, ATTN_F64, ATTN_SHAPE(1, 4, 2), 1);
    size_t used = attn_tape_used(t);
    attn_tensor *queries = attn_visible_rows(t, x, ATTN_SIDE_QUERIES, 0, many, &causal);
    attn_tensor *seen = attn_visible_rows(t, x, ATTN_SIDE_KEYS, 1, 3, &causal);
    attn_tensor *hidden = attn_visible_rows(t, x, ATTN_SIDE_KEYS, INT64_MAX - 4, 1, &causal);
    assert_tape_ok(t);
    assert_true(attn_tape_used(t) - used < 4096);
    for (int64_t e = 0; e < 8; e++) {
        assert_true(attn_tensor_get(queries, e) == attn_tensor_get(x, e));
        assert_true(attn_tensor_get(seen, e) == (e < 4 ? attn_tensor_get(x, e) : 0)); /* keys 1 and 2 of queries 0 to 2 */
        assert_true(attn_tensor_get(hidden, e) == 0);
    }
    attn_tensor *none = random_variable(t, ATTN_F64, ATTN_SHAPE(0, 4, 2), 1);
    assert_non_null(attn_visible_rows(t, none, ATTN_SIDE_KEYS, INT64_MAX - 4, 1, &causal));
    assert_tape_ok(t);
    attn_tape_free(t);
}

/* Places beside which no other number of 32 bits has room. */
static void places_far_away(void **state)
{
    (void)state;
    const attn__pairs d = {3, 1, 4, 5};
    const int32_t far[] = {INT32_MAX, INT32_MIN, INT32_MAX - 2};
    const attn_mask masks[] = {
        {.causal = ATTN_CAUSAL_POSITION, .positions = far},
        {.window = true, .left = INT32_MAX, .right = -1, .positions = far},
        {.window = true, .left = -1, .right = INT32_MAX, .positions = far},
        {.window = true, .left = INT32_MAX, .right = INT32_MAX, .positions = far},
    };
    attn_tape *t = attn_tape_new(NULL);
    for (size_t n = 0; n < sizeof masks / sizeof masks[0]; n++) {
        check(t, &masks[n], d);
    }
    attn_tape_free(t);
}

/* What hides nothing needs no memory, and neither does the whole. */
static void nothing_new_where_nothing_changes(void **state)
{
    (void)state;
    const attn__pairs d = {2, 1, 3, 4};
    const int32_t lengths[] = {4, 2};
    const attn_mask empty = {.allow = NULL}, mask = {.key_lengths = lengths};
    attn_mask slice;
    attn_tape *t = attn_tape_new(NULL);
    size_t used = attn_tape_used(t);
    assert_int_equal(attn__mask_slice(t, &empty, d, 1, 2, &slice), ATTN_OK);
    assert_true(attn__mask_empty(&slice));
    assert_int_equal(attn__mask_slice(t, &mask, d, 0, 3, &slice), ATTN_OK);
    assert_ptr_equal(slice.key_lengths, lengths);
    assert_int_equal(attn_tape_used(t), used);
    attn_tensor *x = random_variable(t, ATTN_F64, ATTN_SHAPE(2, 3, 4), 1);
    const attn_mask first = {.causal = ATTN_CAUSAL_TOP_LEFT}, last = {.causal = ATTN_CAUSAL_BOTTOM_RIGHT};
    for (attn_side side = ATTN_SIDE_QUERIES; side <= ATTN_SIDE_KEYS; side++) {
        assert_ptr_equal(attn_visible_rows(t, x, side, 0, 3, &first), x);
        assert_ptr_equal(attn_visible_rows(t, x, side, 0, 3, &last), x);
        assert_ptr_not_equal(attn_visible_rows(t, x, side, 0, 3, &(attn_mask){.key_lengths = (const int32_t[]){3, 2}}), x);
    }
    assert_ptr_equal(attn_visible_rows(t, x, ATTN_SIDE_KEYS, 5, 3, &last), x); /* after a cache of 5 */
    assert_ptr_not_equal(attn_visible_rows(t, x, ATTN_SIDE_KEYS, 5, 3, &first), x);
    assert_tape_ok(t);
    const attn__pairs long_rows = {1, 1, 2, (int64_t)INT32_MAX + 1};
    assert_int_equal(attn__mask_slice(t, &(attn_mask){.causal = ATTN_CAUSAL_TOP_LEFT}, long_rows, 0, 1, &slice), ATTN_ERANGE);
    assert_string_equal(attn_tape_message(t), "mask: rows of 2147483648 keys, expected at most 2147483647");
    attn_tape_free(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_row_of_every_range), cmocka_unit_test(every_row_that_takes_part),         cmocka_unit_test(rows_far_away),
        cmocka_unit_test(places_far_away),          cmocka_unit_test(nothing_new_where_nothing_changes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

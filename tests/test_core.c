/* Status codes, shapes, checked memory and the parallel loop. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/tensors.h"

#include "attn/corpus.h"
#include "attn/tape.h"
#include "core/core.h"

static void version_is_the_headers(void **state)
{
    (void)state;
    char text[32];
    (void)snprintf(text, sizeof text, "%d.%d.%d", ATTN_VERSION_MAJOR, ATTN_VERSION_MINOR, ATTN_VERSION_PATCH);
    assert_string_equal(attn_version(), text);
}

/* ---- status ---- */

static void every_status_has_a_name_and_a_sentence(void **state)
{
    (void)state;
    const struct {
        attn_status status;
        const char *name;
    } all[] = {
#define ENTRY(suffix, sentence) {ATTN_##suffix, "ATTN_" #suffix},
        ATTN_STATUS_MAP(ENTRY)
#undef ENTRY
    };
    const int n = (int)(sizeof all / sizeof all[0]);
    assert_int_equal(ATTN_OK, 0);
    for (int i = 0; i < n; i++) {
        assert_int_equal(all[i].status, i);
        assert_string_equal(attn_status_name(all[i].status), all[i].name);
        for (int j = 0; j < i; j++) {
            assert_string_not_equal(attn_status_sentence(all[i].status), attn_status_sentence(all[j].status));
        }
    }
    assert_string_equal(attn_status_sentence(ATTN_ESHAPE), "shapes do not fit");
    for (int i = -1; i <= n; i += n + 1) {
        assert_string_equal(attn_status_name((attn_status)i), "ATTN_?");
        assert_string_equal(attn_status_sentence((attn_status)i), "unknown status");
    }
}

static void a_failure_sets_status_and_message(void **state)
{
    (void)state;
    attn_error error = {.status = ATTN_OK};
    assert_int_equal(attn__fail(&error, ATTN_EIO, "%s:%d: gone", "f.tsv", 7), ATTN_EIO);
    assert_int_equal(error.status, ATTN_EIO);
    assert_string_equal(error.message, "f.tsv:7: gone");
    assert_int_equal(attn__fail(NULL, ATTN_ENOMEM, "nobody listens"), ATTN_ENOMEM);
}

/* A message that does not fit ends between two characters. */
static void a_long_message_is_cut_and_stays_utf8(void **state)
{
    (void)state;
    const char *const character[] = {"x", "\xC3\xA9", "\xE8\x8B\xB9", "\xF0\x9F\x8D\x8E"};
    char text[1024];
    for (size_t size = 1; size <= 4; size++) {
        for (size_t shift = 0; shift < size; shift++) {
            memset(text, '.', shift);
            for (size_t i = shift; i + size < sizeof text; i += size) {
                memcpy(text + i, character[size - 1], size + 1);
            }
            attn_error error;
            (void)attn__fail(&error, ATTN_EIO, "%s", text);
            size_t length = strlen(error.message);
            assert_true(length < ATTN_MESSAGE_SIZE && length > ATTN_MESSAGE_SIZE - 1 - size);
            assert_memory_equal(error.message, text, length);
            assert_int_equal(attn_utf8_fault(error.message, length), -1);
        }
    }
}

static void a_message_is_one_line_of_utf8(void **state)
{
    (void)state;
    attn_error error;
    (void)attn__fail(&error, ATTN_EIO, "%s: %d", "\xE8\x8B\xB9\n\x1B[1m\x7F\xFF \xE8\x8B \xC2\x9B \xC2\xA0", 7);
    assert_string_equal(error.message, "\xE8\x8B\xB9??[1m?? ?? ? \xC2\xA0: 7");
}

/* Texts from outside: one line, whole characters, not too long. */
static void a_quoted_text_is_short_and_printable(void **state)
{
    (void)state;
    char text[200];
    assert_string_equal(ATTN__QUOTE(""), "");
    assert_string_equal(ATTN__QUOTE("a \"b\" \xE8\x8B\xB9"), "a \"b\" \xE8\x8B\xB9");
    assert_string_equal(ATTN__QUOTE("a\nb\x1B[1m\x7F\t"), "a?b?[1m??");
    for (size_t shift = 0; shift < 4; shift++) {
        memset(text, '.', shift);
        for (size_t i = shift; i + 4 < sizeof text; i += 4) {
            memcpy(text + i, "\xF0\x9F\x8D\x8E", 5);
        }
        const char *quoted = ATTN__QUOTE(text);
        size_t length = strlen(quoted);
        assert_true(length > ATTN__QUOTE_SIZE - 5 && length < ATTN__QUOTE_SIZE);
        assert_string_equal(quoted + length - 3, "...");
        assert_memory_equal(quoted, text, length - 3);
        assert_int_equal(attn_utf8_fault(quoted, length), -1);
    }
    memset(text, 'x', sizeof text);
    text[ATTN__QUOTE_SIZE - 4] = '\0';
    assert_string_equal(ATTN__QUOTE(text), text); /* the longest that needs no "..." */
}

/* ---- shapes ---- */

static void elements_are_counted_in_64_bits(void **state)
{
    (void)state;
    const int64_t p31 = (int64_t)1 << 31;
    assert_int_equal(attn_shape_count(ATTN_SCALAR), 1);
    assert_int_equal(attn_shape_count(ATTN_SHAPE(0)), 0);
    assert_int_equal(attn_shape_count(ATTN_SHAPE(7)), 7);
    assert_int_equal(attn_shape_count(ATTN_SHAPE(2, 3, 4, 5)), 120);
    assert_int_equal(attn_shape_count(ATTN_SHAPE(2, 0, 4)), 0);
    assert_int_equal(attn_shape_count(ATTN_SHAPE(65536, 65536)), 4294967296);
    assert_int_equal(attn_shape_count(ATTN_SHAPE(p31, p31)), (int64_t)1 << 62);
    assert_int_equal(attn_shape_count(ATTN_SHAPE(INT64_MAX)), INT64_MAX);
    assert_int_equal(attn_shape_count(ATTN_SHAPE(1, INT64_MAX, 1, 1)), INT64_MAX);
}

static void bad_shapes_have_no_count(void **state)
{
    (void)state;
    const int64_t p31 = (int64_t)1 << 31;
    assert_int_equal(attn_shape_count(ATTN_SHAPE(p31, p31, 2)), -1); /* 2^63 */
    assert_int_equal(attn_shape_count(ATTN_SHAPE(p31, p31, 4)), -1); /* 2^64, which wraps to 0 */
    assert_int_equal(attn_shape_count(ATTN_SHAPE(p31, p31, p31, p31)), -1);
    assert_int_equal(attn_shape_count(ATTN_SHAPE(INT64_MAX, 2)), -1);
    assert_int_equal(attn_shape_count(ATTN_SHAPE(-1)), -1);
    assert_int_equal(attn_shape_count(ATTN_SHAPE(-2, -3)), -1);
    assert_int_equal(attn_shape_count(ATTN_SHAPE(0, -1)), -1);
    assert_int_equal(attn_shape_count(ATTN_SHAPE(-1, 0)), -1);
    assert_int_equal(attn_shape_count(ATTN_SHAPE(INT64_MIN)), -1);
    assert_int_equal(attn_shape_count((attn_shape){-1, {1}}), -1);
    assert_int_equal(attn_shape_count((attn_shape){5, {1, 1, 1, 1}}), -1);
}

/* Rows, heads or pairs of an empty tensor are counted too, so no part of the product may overflow. */
static void an_empty_shape_with_dimensions_too_large_has_no_count(void **state)
{
    (void)state;
    const int64_t p40 = (int64_t)1 << 40;
    assert_int_equal(attn_shape_count(ATTN_SHAPE(p40, 0)), 0);
    assert_int_equal(attn_shape_count(ATTN_SHAPE(0, p40, p40)), -1);
    assert_int_equal(attn_shape_count(ATTN_SHAPE(p40, 0, p40)), -1);
    assert_int_equal(attn_shape_count(ATTN_SHAPE(p40, p40, 0)), -1);
}

static void shapes_are_compared_and_written(void **state)
{
    (void)state;
    char text[ATTN_SHAPE_TEXT];
    assert_true(attn_shape_equal(ATTN_SCALAR, ATTN_SCALAR));
    assert_true(attn_shape_equal(ATTN_SHAPE(2, 3), ATTN_SHAPE(2, 3)));
    assert_true(attn_shape_equal((attn_shape){1, {2, 9}}, (attn_shape){1, {2, 7}})); /* what lies beyond the rank does not count */
    assert_false(attn_shape_equal(ATTN_SHAPE(2, 3), ATTN_SHAPE(3, 2)));
    assert_false(attn_shape_equal(ATTN_SHAPE(2), ATTN_SHAPE(2, 1)));
    assert_false(attn_shape_equal(ATTN_SCALAR, ATTN_SHAPE(1)));
    assert_string_equal(attn_shape_format(ATTN_SCALAR, text), "()");
    assert_string_equal(attn_shape_format(ATTN_SHAPE(0), text), "(0)");
    assert_string_equal(attn_shape_format(ATTN_SHAPE(2, 3, 4, 5), text), "(2,3,4,5)");
    assert_string_equal(attn_shape_format(ATTN_SHAPE(INT64_MIN, INT64_MIN, INT64_MIN, INT64_MIN), text),
                        "(-9223372036854775808,-9223372036854775808,-9223372036854775808,-9223372036854775808)");
    assert_string_equal(attn_shape_format((attn_shape){9, {1, 2, 3, 4}}, text), "(1,2,3,4)");
}

static void dtypes_have_size_and_name(void **state)
{
    (void)state;
    assert_int_equal(attn_dtype_size(ATTN_F32), 4);
    assert_int_equal(attn_dtype_size(ATTN_F64), 8);
    assert_string_equal(attn_dtype_name(ATTN_F32), "float32");
    assert_string_equal(attn_dtype_name(ATTN_F64), "float64");
}

/* Too many elements, or too many bytes: refused before any memory is asked for. Field report B44. */
static void too_large_a_tensor_allocates_nothing(void **state)
{
    (void)state;
    const int64_t p31 = (int64_t)1 << 31;
    counting_allocator a;
    counting_init(&a, 0);
    attn_tape *t = attn_tape_new(&a.value);
    assert_non_null(attn_input(t, ATTN_F32, ATTN_SCALAR, NULL)); /* the first chunk */
    long before = a.allocations;
    assert_null(attn_input(t, ATTN_F32, ATTN_SHAPE(p31, p31, 4), NULL));
    assert_int_equal(attn_tape_status(t), ATTN_ESHAPE);
    assert_string_equal(attn_tape_message(t), "shape (2147483648,2147483648,4) is invalid or too large");
    attn_tape_reset(t);
    assert_null(attn_variable(t, ATTN_F64, ATTN_SHAPE(p31, p31 / 2), NULL)); /* 2^61 elements, 2^64 bytes */
    assert_int_equal(attn_tape_status(t), ATTN_ENOMEM);
    assert_contains(attn_tape_message(t), "out of memory: 2305843009213693952 x 8 bytes wanted");
    assert_int_equal(a.allocations, before);
    attn_tape_free(t);
    assert_int_equal(a.live, 0);
}

/* ---- memory ---- */

static void sizes_are_multiplied_with_care(void **state)
{
    (void)state;
    size_t p = 99;
    assert_true(attn__size_mul(6, 7, &p) && p == 42);
    assert_true(attn__size_mul(0, SIZE_MAX, &p) && p == 0);
    assert_true(attn__size_mul(SIZE_MAX, 0, &p) && p == 0);
    assert_true(attn__size_mul(SIZE_MAX, 1, &p) && p == SIZE_MAX);
    assert_true(attn__size_mul(SIZE_MAX / 3, 3, &p) && p == SIZE_MAX / 3 * 3);
    assert_false(attn__size_mul(SIZE_MAX / 3 + 1, 3, &p));
    assert_false(attn__size_mul((size_t)1 << 32, (size_t)1 << 32, &p));
}

static void memory_is_zeroed_and_checked(void **state)
{
    (void)state;
    counting_allocator a;
    counting_init(&a, 0);
    unsigned char *bytes = attn__calloc(&a.value, 100, 3);
    for (int i = 0; i < 300; i++) {
        assert_int_equal(bytes[i], 0);
    }
    void *nothing = attn__calloc(&a.value, 0, 8);
    assert_non_null(nothing);
    assert_null(attn__calloc(&a.value, SIZE_MAX, 2));
    char *copy = attn__strdup(&a.value, "word");
    assert_string_equal(copy, "word");
    assert_int_equal(a.allocations, 3);
    attn__free(&a.value, bytes);
    attn__free(&a.value, nothing);
    attn__free(&a.value, copy);
    attn__free(&a.value, NULL);
    assert_int_equal(a.live, 0);
    void *from_malloc = attn__calloc(NULL, 1, 1);
    assert_non_null(from_malloc);
    attn__free(NULL, from_malloc);
}

static void arrays_grow_and_keep_their_content(void **state)
{
    (void)state;
    counting_allocator a;
    counting_init(&a, 0);
    void *array = NULL;
    size_t capacity = 0;
    for (size_t i = 0; i < 1000; i++) {
        assert_true(attn__grow(&a.value, &array, &capacity, i + 1, sizeof(size_t)));
        assert_true(capacity > i);
        ((size_t *)array)[i] = i * i;
    }
    assert_int_equal(capacity, 1024);
    assert_int_equal(a.allocations, 8); /* 8, 16, ... 1024 */
    void *before = array;
    assert_false(attn__grow(&a.value, &array, &capacity, SIZE_MAX, 1));
    assert_false(attn__grow(&a.value, &array, &capacity, SIZE_MAX / 4, 8));
    a.fail_at = 1;
    assert_false(attn__grow(&a.value, &array, &capacity, 1025, sizeof(size_t)));
    assert_true(attn__grow(&a.value, &array, &capacity, 1024, sizeof(size_t)));
    assert_ptr_equal(array, before);
    assert_int_equal(capacity, 1024);
    for (size_t i = 0; i < 1000; i++) {
        assert_int_equal(((size_t *)array)[i], i * i);
    }
    attn__free(&a.value, array);
    assert_int_equal(a.live, 0);
}

/* ---- the parallel loop ---- */

#define TILES 100000 /* more than threads can be started */

/* A tile that does not exist is counted as number TILES, which must stay 0. */
static void count_tile(void *ctx, int64_t tile)
{
    ((unsigned char *)ctx)[tile >= 0 && tile < TILES ? tile : TILES]++;
}

static void every_tile_runs_once(void **state)
{
    (void)state;
    const int threads[] = {0, 1, 2, 3, 8, TILES + 1, INT32_MAX};
    for (size_t i = 0; i < sizeof threads / sizeof threads[0]; i++) {
        for (int64_t tiles = 0; tiles <= TILES; tiles += tiles < 4 ? 1 : TILES - 4) {
            static unsigned char counts[TILES + 1];
            memset(counts, 0, sizeof counts);
            attn__parallel(threads[i], tiles, 1e9, count_tile, counts);
            for (int64_t tile = 0; tile <= TILES; tile++) {
                assert_int_equal(counts[tile], tile < tiles);
            }
        }
    }
    assert_true(attn_default_threads() >= 1);
    assert_true(attn_has_threads() || attn_default_threads() == 1);
}

static void tiles_cover_a_range(void **state)
{
    (void)state;
    for (int64_t n = 0; n < 50; n++) {
        for (int64_t grain = 1; grain < 20; grain++) {
            int64_t end = 0;
            for (int64_t tile = 0; tile < attn__tiles(n, grain); tile++) {
                attn__span s = attn__range(n, grain, tile);
                assert_int_equal(s.begin, end);
                assert_true(s.end > s.begin && s.end - s.begin <= grain);
                end = s.end;
            }
            assert_int_equal(end, n);
        }
    }
    assert_int_equal(attn__tiles(INT64_MAX, 2), INT64_MAX / 2 + 1);
    assert_int_equal(attn__range(INT64_MAX, 4096, attn__tiles(INT64_MAX, 4096) - 1).end, INT64_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(version_is_the_headers),
        cmocka_unit_test(every_status_has_a_name_and_a_sentence),
        cmocka_unit_test(a_failure_sets_status_and_message),
        cmocka_unit_test(a_long_message_is_cut_and_stays_utf8),
        cmocka_unit_test(a_message_is_one_line_of_utf8),
        cmocka_unit_test(a_quoted_text_is_short_and_printable),
        cmocka_unit_test(elements_are_counted_in_64_bits),
        cmocka_unit_test(bad_shapes_have_no_count),
        cmocka_unit_test(an_empty_shape_with_dimensions_too_large_has_no_count),
        cmocka_unit_test(shapes_are_compared_and_written),
        cmocka_unit_test(dtypes_have_size_and_name),
        cmocka_unit_test(too_large_a_tensor_allocates_nothing),
        cmocka_unit_test(sizes_are_multiplied_with_care),
        cmocka_unit_test(memory_is_zeroed_and_checked),
        cmocka_unit_test(arrays_grow_and_keep_their_content),
        cmocka_unit_test(every_tile_runs_once),
        cmocka_unit_test(tiles_cover_a_range),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

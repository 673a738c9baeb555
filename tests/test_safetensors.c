#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/check.h"
#include "support/disk.h"
#include "support/files.h"

#include "attn/checkpoint.h"

#define FOLDER "test_safetensors.d"
static const char path[] = FOLDER "/m.safetensors";

static attn_safetensors *read_ok(const char *name)
{
    attn_error error = {0};
    attn_safetensors *f = attn_safetensors_read(name, NULL, &error);
    assert_string_equal(error.message, "");
    assert_non_null(f);
    return f;
}

static void write_ok(const attn_file_tensor tensors[], int n, const attn_file_text texts[], int m)
{
    attn_error error = {0};
    attn_status status = attn_safetensors_write(path, tensors, n, texts, m, NULL, &error);
    assert_string_equal(error.message, "");
    assert_int_equal(status, ATTN_OK);
}

static const float six[] = {1, -2, 0.5F, 0x1p-149F, -0.0F, 3e38F};
static const double two[] = {0x1.fffffffffffffp-2, -1e300};

/* The published format, byte for byte: wider elements first, then by name; metadata by key; spaces up to a multiple of 8. */
static void bytes_are_the_formats(void **state)
{
    (void)state;
    static const char header[] = "{\"__metadata__\":{\"a\":\"1\",\"format\":\"pt\",\"z\":\"\\\"\\\\\\n\\u000b\\u0001苹果\"},"
                                 "\"b\":{\"dtype\":\"F64\",\"shape\":[2],\"data_offsets\":[0,16]},"
                                 "\"a\":{\"dtype\":\"F32\",\"shape\":[2,3],\"data_offsets\":[16,40]},"
                                 "\"c\":{\"dtype\":\"F32\",\"shape\":[],\"data_offsets\":[40,44]}}    ";
    const attn_file_tensor tensors[] = {
        {"c", ATTN_F32, ATTN_SCALAR, six}, {"b", ATTN_F64, ATTN_SHAPE(2), two}, {"a", ATTN_F32, ATTN_SHAPE(2, 3), six}};
    const attn_file_text texts[] = {{"z", "\"\\\n\v\001苹果"}, {"a", "1"}};
    const unsigned char data[44] = {255, 255, 255, 255, 255, 255, 223, 63, 156, 117, 0, 136, 60, 228, 55,  254, 0,  0,   128, 63, 0,   0,
                                    0,   192, 0,   0,   0,   63,  1,   0,  0,   0,   0, 0,   0,  128, 230, 177, 97, 127, 0,   0,  128, 63};
    size_t n = sizeof header - 1, size;
    assert_int_equal(n % 8, 0);
    fresh_folder(FOLDER);
    write_ok(tensors, 3, texts, 2);
    char *bytes = take_file(path, &size);
    assert_int_equal(size, 8 + n + sizeof data);
    const unsigned char length[8] = {(unsigned char)(n % 256), (unsigned char)(n / 256)};
    assert_memory_equal(bytes, length, 8);
    assert_memory_equal(bytes + 8, header, n);
    assert_memory_equal(bytes + 8 + n, data, sizeof data);

    const attn_file_tensor other_order[] = {tensors[2], tensors[1], tensors[0]};
    const attn_file_text texts_too[] = {{"format", "pt"}, texts[1], texts[0]};
    size_t size_again;
    write_ok(other_order, 3, texts_too, 3);
    char *again = take_file(path, &size_again);
    assert_int_equal(size_again, size);
    assert_memory_equal(again, bytes, size);
    free(again);
    free(bytes);
}

static void headers_are_padded(void **state)
{
    (void)state;
    const char *names[] = {"a", "ab", "abc", "abcd", "abcde", "abcdef", "abcdefg", "abcdefgh", "abcdefghi"};
    fresh_folder(FOLDER);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        size_t size;
        write_ok(&(attn_file_tensor){names[i], ATTN_F32, ATTN_SHAPE(1), six}, 1, NULL, 0);
        char *bytes = take_file(path, &size);
        assert_int_equal((unsigned char)bytes[0] % 8, 0);
        free(bytes);
        attn_safetensors_free(read_ok(path));
    }
}

static void assert_tensor(const attn_safetensors *f, const attn_file_tensor *expected)
{
    int i = attn_safetensors_find(f, expected->name);
    assert_true(i >= 0);
    attn_file_tensor x = attn_safetensors_get(f, i);
    assert_string_equal(x.name, expected->name);
    assert_int_equal(x.dtype, expected->dtype);
    assert_true(attn_shape_equal(x.shape, expected->shape));
    assert_non_null(x.data);
    assert_int_equal((uintptr_t)x.data % 64, 0);
    size_t bytes = (size_t)attn_shape_count(x.shape) * attn_dtype_size(x.dtype);
    if (bytes > 0) {
        assert_memory_equal(x.data, expected->data, bytes);
    }
}

/* Every rank, empty tensors, values that only bits can tell apart, names and texts that need escapes. */
static void what_is_written_is_read(void **state)
{
    (void)state;
    const float odd[] = {NAN, -INFINITY, 0x1p-149F, -0.0F, 1};
    const attn_file_tensor tensors[] = {
        {"scalar", ATTN_F32, ATTN_SCALAR, six},
        {"odd", ATTN_F32, ATTN_SHAPE(5), odd},
        {"empty", ATTN_F32, ATTN_SHAPE(3, 0, 2), NULL},
        {"empty too", ATTN_F64, ATTN_SHAPE(0), NULL},
        {"four", ATTN_F32, ATTN_SHAPE(1, 3, 1, 2), six},
        {"double", ATTN_F64, ATTN_SHAPE(2, 1), two},
        {"苹果 \"\\/\t\n\x7f😀", ATTN_F64, ATTN_SCALAR, two},
    };
    const attn_file_text texts[] = {{"键", "值\r\n\b\f\x1f"}, {"empty", ""}, {"json", "{\"a\":[1]}"}};
    const int n = sizeof tensors / sizeof tensors[0];
    fresh_folder(FOLDER);
    write_ok(tensors, n, texts, 3);
    attn_safetensors *f = read_ok(path);
    assert_int_equal(attn_safetensors_count(f), n);
    for (int i = 0; i < n; i++) {
        assert_tensor(f, &tensors[i]);
    }
    assert_int_equal(attn_safetensors_text_count(f), 4);
    for (int i = 0; i < 3; i++) {
        assert_string_equal(attn_safetensors_text(f, texts[i].key), texts[i].value);
    }
    assert_string_equal(attn_safetensors_text(f, "format"), "pt");
    assert_null(attn_safetensors_text(f, "forma"));
    assert_string_equal(attn_safetensors_text_at(f, 0).key, "empty");
    assert_string_equal(attn_safetensors_text_at(f, 3).value, texts[0].value);
    assert_null(attn_safetensors_text_at(f, 4).key);
    assert_null(attn_safetensors_text_at(f, -1).key);
    assert_int_equal(attn_safetensors_find(f, "od"), -1);
    assert_null(attn_safetensors_get(f, -1).name);
    assert_null(attn_safetensors_get(f, n).name);
    attn_safetensors_free(f);
}

static void a_file_may_hold_nothing(void **state)
{
    (void)state;
    fresh_folder(FOLDER);
    write_ok(NULL, 0, NULL, 0);
    attn_safetensors *f = read_ok(path);
    assert_int_equal(attn_safetensors_count(f), 0);
    assert_int_equal(attn_safetensors_text_count(f), 1);
    attn_safetensors_free(f);
    attn_safetensors_free(NULL);
}

static void a_given_format_is_kept(void **state)
{
    (void)state;
    fresh_folder(FOLDER);
    write_ok(NULL, 0, &(attn_file_text){"format", "np"}, 1);
    attn_safetensors *f = read_ok(path);
    assert_int_equal(attn_safetensors_text_count(f), 1);
    assert_string_equal(attn_safetensors_text(f, "format"), "np");
    attn_safetensors_free(f);
}

static void refused(const char *name, const attn_file_tensor tensors[], int n, const attn_file_text texts[], int m, const char *message)
{
    attn_error error = {0};
    assert_int_equal(attn_safetensors_write(name, tensors, n, texts, m, NULL, &error), ATTN_EINVAL);
    assert_int_equal(error.status, ATTN_EINVAL);
    assert_contains(error.message, message);
    assert_int_equal(folder_entries(FOLDER), 0);
}

static void tensor_refused(attn_file_tensor x, const char *message)
{
    refused(path, (attn_file_tensor[]){{"fine", ATTN_F32, ATTN_SHAPE(1), six}, x}, 2, NULL, 0, message);
}

static void text_refused(attn_file_text x, const char *message)
{
    refused(path, NULL, 0, (attn_file_text[]){{"fine", "fine"}, x}, 2, message);
}

static void writer_refuses_what_is_malformed(void **state)
{
    (void)state;
    const attn_shape one = ATTN_SHAPE(1);
    fresh_folder(FOLDER);
    tensor_refused((attn_file_tensor){"fine", ATTN_F64, one, two}, "tensor 'fine' is given twice");
    tensor_refused((attn_file_tensor){"", ATTN_F32, one, six}, "tensor number 1 has a name that is empty");
    tensor_refused((attn_file_tensor){NULL, ATTN_F32, one, six}, "tensor number 1 has a name that is empty");
    tensor_refused((attn_file_tensor){"cut \xe4\xb8", ATTN_F32, one, six}, "tensor number 1 has a name that is empty or not UTF-8");
    tensor_refused((attn_file_tensor){"\xed\xa0\x80", ATTN_F32, one, six}, "not UTF-8"); /* a surrogate */
    tensor_refused((attn_file_tensor){"\xc0\xaf", ATTN_F32, one, six}, "not UTF-8");     /* overlong */
    tensor_refused((attn_file_tensor){"__metadata__", ATTN_F32, one, six}, "begins with __metadata__");
    tensor_refused((attn_file_tensor){"__metadata__x", ATTN_F32, one, six}, "'__metadata__x' has a name that begins");
    tensor_refused((attn_file_tensor){"x", (attn_dtype)7, one, six}, "tensor 'x' has an invalid dtype");
    tensor_refused((attn_file_tensor){"x", ATTN_F32, {.rank = 5}, six}, "invalid dtype or shape");
    tensor_refused((attn_file_tensor){"x", ATTN_F32, ATTN_SHAPE(-1), six}, "invalid dtype or shape");
    tensor_refused((attn_file_tensor){"x", ATTN_F32, ATTN_SHAPE(INT64_MAX, 2), six}, "invalid dtype or shape");
    tensor_refused((attn_file_tensor){"x", ATTN_F64, ATTN_SHAPE(INT64_MAX), six}, "invalid dtype or shape");
    tensor_refused((attn_file_tensor){"x", ATTN_F32, one, NULL}, "tensor 'x' has no data");
    const attn_file_tensor huge[] = {{"x", ATTN_F64, ATTN_SHAPE(INT64_MAX / 8), two}, {"y", ATTN_F64, ATTN_SHAPE(INT64_MAX / 8), two}};
    refused(path, huge, 2, NULL, 0, "tensor 'y' does not fit into the address space");
    text_refused((attn_file_text){"fine", "other"}, "metadata 'fine' is given twice");
    text_refused((attn_file_text){"", "x"}, "metadata number 1 has a name that is empty");
    text_refused((attn_file_text){"\xff", "x"}, "metadata number 1 has a name that is empty or not UTF-8");
    text_refused((attn_file_text){"x", "\xff"}, "metadata 'x' is missing or not UTF-8");
    text_refused((attn_file_text){"x", NULL}, "metadata 'x' is missing or not UTF-8");
    refused("-", NULL, 0, NULL, 0, "a model needs a file");
    refused(path, NULL, -1, NULL, 0, "at least 0");
    refused(path, NULL, 0, NULL, -1, "at least 0");
}

static void write_fails(const char *name, const attn_file_tensor *x, const char *reason)
{
    attn_error error = {0};
    assert_int_equal(attn_safetensors_write(name, x, 1, NULL, 0, NULL, &error), ATTN_EIO);
    assert_contains(error.message, name);
    assert_contains(error.message, reason);
}

/* A full disk costs neither the old file nor a lie about the new one, and leaves no remains. */
static void a_full_disk_keeps_the_old_file(void **state)
{
    (void)state;
    static const float many[4096];
    const attn_file_tensor small = {"small", ATTN_F32, ATTN_SHAPE(6), six}, large = {"large", ATTN_F32, ATTN_SHAPE(4096), many};
    fresh_folder(FOLDER);
    write_ok(&small, 1, NULL, 0);
    limit_file_size(4096);
    write_fails(path, &large, "File too large");
    write_fails(FOLDER "/new.safetensors", &large, "File too large");
    limit_file_size(0);
    assert_int_equal(folder_entries(FOLDER), 1);
    attn_safetensors *f = read_ok(path);
    assert_tensor(f, &small);
    attn_safetensors_free(f);
    if (link_full_device(FOLDER "/full")) {
        write_fails(FOLDER "/full", &large, "No space left");
        assert_int_equal(remove(FOLDER "/full"), 0);
    }
    write_fails(FOLDER "/missing/m.safetensors", &small, "No such file");
    write_fails(FOLDER, &small, "Is a directory");
    write_ok(&large, 1, NULL, 0);
    assert_int_equal(folder_entries(FOLDER), 1);
}

static void reading_names_the_file(void **state)
{
    (void)state;
    attn_error error = {0};
    fresh_folder(FOLDER);
    assert_null(attn_safetensors_read(FOLDER "/missing", NULL, &error));
    assert_int_equal(error.status, ATTN_EIO);
    assert_contains(error.message, FOLDER "/missing: cannot open: No such file");
    assert_null(attn_safetensors_read(FOLDER, NULL, &error));
    assert_contains(error.message, "Is a directory");
    put_bytes(path, "", 0);
    assert_null(attn_safetensors_read(path, NULL, &error));
    assert_int_equal(error.status, ATTN_EFORMAT);
    assert_contains(error.message, FOLDER "/m.safetensors: 0 bytes are no safetensors file");
    assert_null(attn_safetensors_read(path, NULL, NULL));
}

static void memory_may_run_out(void **state)
{
    (void)state;
    const attn_file_tensor tensors[] = {{"a", ATTN_F32, ATTN_SHAPE(6), six}, {"b", ATTN_F64, ATTN_SHAPE(2), two}};
    const attn_file_text text = {"key", "value"};
    attn_status status = ATTN_ENOMEM;
    long k = 0;
    fresh_folder(FOLDER);
    while (status != ATTN_OK && k < 100) {
        counting_allocator c;
        attn_error error = {0};
        counting_init(&c, ++k);
        status = attn_safetensors_write(path, tensors, 2, &text, 1, &c.value, &error);
        assert_int_equal(error.status, status);
        assert_true(status == ATTN_OK || status == ATTN_ENOMEM);
        assert_int_equal(c.live, 0);
        assert_int_equal(folder_entries(FOLDER), status == ATTN_OK);
    }
    assert_true(k > 5 && k < 100);

    attn_safetensors *f = NULL;
    for (k = 0; f == NULL && k < 100;) {
        counting_allocator c;
        attn_error error = {0};
        counting_init(&c, ++k);
        f = attn_safetensors_read(path, &c.value, &error);
        assert_int_equal(error.status, f == NULL ? ATTN_ENOMEM : ATTN_OK);
        assert_true(f != NULL || c.live == 0);
        attn_safetensors_free(f);
        assert_int_equal(c.live, 0);
    }
    assert_true(k > 3 && k < 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bytes_are_the_formats),
        cmocka_unit_test(headers_are_padded),
        cmocka_unit_test(what_is_written_is_read),
        cmocka_unit_test(a_file_may_hold_nothing),
        cmocka_unit_test(a_given_format_is_kept),
        cmocka_unit_test(writer_refuses_what_is_malformed),
        cmocka_unit_test(a_full_disk_keeps_the_old_file),
        cmocka_unit_test(reading_names_the_file),
        cmocka_unit_test(memory_may_run_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

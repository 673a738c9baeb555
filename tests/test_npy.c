/* .npy byte by byte: what is read, what is refused by name, what is written. */
#include "support/check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support/disk.h"
#include "support/files.h"
#include "support/matrices.h"

#define FOLDER "test_npy.d"
#define ROOM   4096

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

/* A file in memory. */
typedef struct file {
    unsigned char bytes[ROOM];
    size_t size;
} file;

/* Magic, version, length, the dictionary padded with spaces to `header_size` (0: as long as it is), then the elements. */
static file file_of(int version, const char *dictionary, size_t header_size, const void *elements, size_t size)
{
    file f = {.size = 0};
    size_t n = strlen(dictionary), begin = version == 1 ? 10 : 12;
    header_size = header_size == 0 ? n + 1 : header_size;
    assert_true(n < header_size && begin + header_size + size <= ROOM);
    memcpy(f.bytes, "\x93NUMPY", 6);
    f.bytes[6] = (unsigned char)version;
    for (size_t i = 8; i < begin; i++) {
        f.bytes[i] = (unsigned char)(header_size >> (8 * (i - 8)));
    }
    memset(f.bytes + begin, ' ', header_size);
    memcpy(f.bytes + begin, dictionary, n);
    f.bytes[begin + header_size - 1] = '\n';
    memcpy(f.bytes + begin + header_size, elements, size);
    f.size = begin + header_size + size;
    return f;
}

/* Parses from a block of exactly that size, so that a read beyond the end is seen. */
static attn_status parse(const void *bytes, size_t size, attn_matrix *m, attn_error *error)
{
    void *copy = malloc(size > 0 ? size : 1);
    assert_non_null(copy);
    memcpy(copy, bytes, size);
    attn_status status = attn_matrix_parse(copy, size, "a.npy", m, NULL, error);
    free(copy);
    return status;
}

static void file_is(const file *f, int64_t rows, int64_t columns, const double *values)
{
    attn_matrix m;
    attn_error error;
    if (parse(f->bytes, f->size, &m, &error) != ATTN_OK) {
        fail_msg("%s", error.message);
    }
    values_are(&m, rows, columns, values);
    assert_null(m.row_labels);
    assert_null(m.column_labels);
    attn_matrix_free(&m);
}

static void file_fails(const void *bytes, size_t size, const char *message)
{
    attn_matrix m;
    attn_error error = {.message = ""};
    assert_int_equal(parse(bytes, size, &m, &error), ATTN_EFORMAT);
    assert_string_equal(error.message, message);
    assert_null(m.values);
}

static void header_fails(const char *dictionary, const char *message)
{
    static const char zeros[64];
    file f = file_of(1, dictionary, 0, zeros, sizeof zeros);
    file_fails(f.bytes, f.size, message);
}

/* ---- what is read ---- */

static const unsigned char singles[] = "\0\0\x80\x3F\0\0\0\x40\0\0\x40\x40\0\0\x80\x40\0\0\xA0\x40\0\0\xC0\x40"; /* 1 to 6 */

static void orders_and_versions(void **state)
{
    (void)state;
    const double by_rows[] = {1, 2, 3, 4, 5, 6}, by_columns[] = {1, 3, 5, 2, 4, 6};
    for (int version = 1; version <= 3; version++) {
        file f = file_of(version, "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }", 0, singles, 24);
        file_is(&f, 2, 3, by_rows);
        f = file_of(version, "{'descr': '<f4', 'fortran_order': True, 'shape': (2, 3), }", 1000, singles, 24);
        file_is(&f, 2, 3, by_columns);
    }
    file f = file_of(1, "{'shape':(6,),'fortran_order':True,'descr':'<f4'}", 0, singles, 24);
    file_is(&f, 1, 6, by_rows);
    f = file_of(1, "{ \"fortran_order\" : False , \"shape\" : ( 3L , 2L , ) , \"descr\" : \"<f4\" , } ", 0, singles, 24);
    file_is(&f, 3, 2, by_rows);
}

/* Two elements of every kind, written by hand. */
static void element_types(void **state)
{
    (void)state;
    static const struct {
        const char *descr;
        size_t size;
        const char *bytes;
        double values[2];
    } kinds[] = {
        {"<f8", 8, "\0\0\0\0\0\0\xF8\x3F\x01\0\0\0\0\0\0\x80", {1.5, -0x1p-1074}},
        {">f8", 8, "\x3F\xF8\0\0\0\0\0\0\x80\0\0\0\0\0\0\x01", {1.5, -0x1p-1074}},
        {"<f4", 4, "\0\0\xC0\xBF\xFF\xFF\x7F\x7F", {-1.5, 0x1.fffffep127}},
        {">f4", 4, "\xBF\xC0\0\0\x7F\xC0\0\0", {-1.5, NAN}},
        {"<f2", 2, "\x00\x3C\x01\x80", {1, -0x1p-24}},
        {">f2", 2, "\xFC\x00\x7B\xFF", {-INFINITY, 65504}},
        {"<f2", 2, "\x01\x7C\x55\x35", {NAN, 0x1.554p-2}},
        {"<i4", 4, "\xFE\xFF\xFF\xFF\xFF\xFF\xFF\x7F", {-2, 2147483647}},
        {">i4", 4, "\xFF\xFF\xFF\xFE\x80\0\0\0", {-2, -2147483648.0}},
        {"<i8", 8, "\0\0\0\0\0\0\0\x80\xFD\xFF\xFF\xFF\xFF\xFF\xFF\xFF", {-0x1p63, -3}},
        {"<u8", 8, "\0\0\0\0\0\0\0\x80\xFF\0\0\0\0\0\0\0", {0x1p63, 255}},
        {"<i2", 2, "\x00\x80\x01\x02", {-32768, 513}},
        {">u2", 2, "\x00\x80\x01\x02", {128, 258}},
        {"|i1", 1, "\x80\x7F", {-128, 127}},
        {"|u1", 1, "\x80\xFF", {128, 255}},
        {"<u1", 1, "\x80\xFF", {128, 255}},
        {"|b1", 1, "\x01\x00", {1, 0}},
    };
    for (size_t i = 0; i < COUNT(kinds); i++) {
        char dictionary[100];
        (void)snprintf(dictionary, sizeof dictionary, "{'descr': '%s', 'fortran_order': False, 'shape': (1, 2), }", kinds[i].descr);
        file f = file_of(1, dictionary, 118, kinds[i].bytes, 2 * kinds[i].size);
        file_is(&f, 1, 2, kinds[i].values);
    }
}

/* ---- what is refused ---- */

static void refused_by_name(void **state)
{
    (void)state;
#define REST "', 'fortran_order': False, 'shape': (2, 4), }"
    header_fails("{'descr': '|O" REST, "a.npy: the dtype '|O' means pickled Python objects, which are never read");
    header_fails("{'descr': '|O8" REST, "a.npy: the dtype '|O8' means pickled Python objects, which are never read");
    static const char *const others[] = {"<c16", "<U5", "|S8", "<M8[ns]", "<f16", "=f8", "|f8", "<f3", "<b4", "<f1", "|V8", "f8", ""};
    for (size_t i = 0; i < COUNT(others); i++) {
        char dictionary[100], message[200];
        (void)snprintf(dictionary, sizeof dictionary, "{'descr': '%s" REST, others[i]);
        (void)snprintf(message, sizeof message, "a.npy: the dtype '%s' cannot be read, only floats, integers and bool of up to 64 bits",
                       others[i]);
        header_fails(dictionary, message);
    }
#undef REST
    header_fails("{'descr': [('x', '<f8')], 'fortran_order': False, 'shape': (2, 4), }",
                 "a.npy: a structured dtype cannot be read, only plain numbers");
    header_fails("{'descr': '<f8', 'fortran_order': False, 'shape': (), }",
                 "a.npy: an array of 0 dimensions, shape (), expected 1, 2 or 3");
    header_fails("{'descr': '<f8', 'fortran_order': False, 'shape': (1, 1, 2, 4), }",
                 "a.npy: an array of 4 dimensions, shape (1, 1, 2, 4), expected 1, 2 or 3");
    header_fails("{'descr': '<f8', 'fortran_order': False, 'shape': (0, 2, 4), }", "a.npy: an empty array, shape (0, 2, 4)");
    header_fails("{'descr': '<f8', 'fortran_order': False, 'shape': (0, 4), }", "a.npy: an empty array, shape (0, 4)");
    header_fails("{'descr': '<f8', 'fortran_order': False, 'shape': (0,), }", "a.npy: an empty array, shape (0,)");
    file_fails("\x93NUMPY\x04\x00\x10", 9, "a.npy: .npy version 4.0 cannot be read, only 1.0, 2.0 and 3.0");
    file_fails("\x93NUMPY\x01\x01\x10", 9, "a.npy: .npy version 1.1 cannot be read, only 1.0, 2.0 and 3.0");
    fresh_folder(FOLDER);
    put_bytes(FOLDER "/a.npy", "PK\x03\x04zip", 7);
    attn_matrix m;
    attn_error error;
    assert_int_equal(attn_matrix_read(FOLDER "/a.npy", &m, NULL, &error), ATTN_EFORMAT);
    assert_contains(error.message, "; .npz archives are not read, save one array with numpy.save");
}

/* An array of three dimensions: the first counts matrices, in either order of the elements. */
static void several_matrices(void **state)
{
    (void)state;
    static const unsigned char c[12] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}, fortran[12] = {0, 6, 3, 9, 1, 7, 4, 10, 2, 8, 5, 11};
    for (int order = 0; order < 2; order++) {
        file f = file_of(1,
                         order == 0 ? "{'descr': '|u1', 'fortran_order': False, 'shape': (2, 2, 3), }"
                                    : "{'descr': '|u1', 'fortran_order': True, 'shape': (2, 2, 3), }",
                         0, order == 0 ? c : fortran, 12);
        attn_matrices all;
        attn_matrix one;
        attn_error error;
        assert_int_equal(attn_matrices_parse(f.bytes, f.size, "a.npy", &all, NULL, &error), ATTN_OK);
        assert_int_equal(all.count, 2);
        values_are(&all.matrix[0], 2, 3, (const double[]){0, 1, 2, 3, 4, 5});
        values_are(&all.matrix[1], 2, 3, (const double[]){6, 7, 8, 9, 10, 11});
        attn_matrices_free(&all);
        assert_null(all.matrix);
        assert_int_equal(parse(f.bytes, f.size, &one, &error), ATTN_EFORMAT);
        assert_string_equal(error.message, "a.npy: 2 matrices, expected one");
        assert_null(one.values);
    }
}

/* More or fewer bytes than the header says. */
static void lies_about_the_size(void **state)
{
    (void)state;
    header_fails("{'descr': '<f8', 'fortran_order': False, 'shape': (3000000000, 1), }",
                 "a.npy: truncated: shape (3000000000, 1) of '<f8' takes 24000000000 bytes, 64 follow the header");
    header_fails("{'descr': '<f8', 'fortran_order': False, 'shape': (4611686018427387904, 4611686018427387904), }",
                 "a.npy: truncated: shape (4611686018427387904, 4611686018427387904) of '<f8' is larger than any file, 64 bytes follow the "
                 "header");
    header_fails("{'descr': '<f8', 'fortran_order': False, 'shape': (2305843009213693953, 1), }",
                 "a.npy: truncated: shape (2305843009213693953, 1) of '<f8' is larger than any file, 64 bytes follow the header");
    header_fails("{'descr': '<f8', 'fortran_order': False, 'shape': (9223372036854775808, 1), }",
                 "a.npy: no .npy header: whole numbers between commas, each below 2^63, expected before '8, 1), }?'");
    header_fails("{'descr': '<f8', 'fortran_order': False, 'shape': (2, 5), }",
                 "a.npy: truncated: shape (2, 5) of '<f8' takes 80 bytes, 64 follow the header");
    header_fails("{'descr': '<f8', 'fortran_order': False, 'shape': (2, 3), }",
                 "a.npy: shape (2, 3) of '<f8' takes 48 bytes, 64 follow the header; only one array a file is read");
    file_fails("\x93NUMPY\x01\x00\xFF\xFF{}", 12, "a.npy: truncated: a .npy header of 65535 bytes is announced, 2 bytes follow");
    file_fails("\x93NUMPY\x02\x00\xFF\xFF\xFF\xFF{}", 14,
               "a.npy: truncated: a .npy header of 4294967295 bytes is announced, 2 bytes follow");
    file_fails("\x93NUMPY\x01\x00\x03\x00{}", 12, "a.npy: truncated: a .npy header of 3 bytes is announced, 2 bytes follow");
    file_fails("\x93NUMPY\x02\x00\xFF\xFF", 10, "a.npy: truncated: a .npy file of 10 bytes");
    file_fails("\x93NUMPY\x01", 7, "a.npy: truncated: a .npy file of 7 bytes");
}

static void malformed_headers(void **state)
{
    (void)state;
    header_fails("", "a.npy: no .npy header: '{' expected before ''");
    header_fails("[]", "a.npy: no .npy header: '{' expected before '[]?'");
    header_fails("{}", "a.npy: the .npy header lacks descr");
    header_fails("{'descr': '<f8', 'shape': (2, 4)}", "a.npy: the .npy header lacks fortran_order");
    header_fails("{'descr': '<f8', 'fortran_order': True}", "a.npy: the .npy header lacks shape");
    header_fails("{'descr': '<f8', 'descr': '<f4'}",
                 "a.npy: the .npy header has the key 'descr' twice, expected descr, fortran_order and shape");
    header_fails("{'more': 1}", "a.npy: the .npy header has the key 'more', expected descr, fortran_order and shape");
    header_fails("{descr: '<f8'}", "a.npy: no .npy header: a key in quotes expected before 'descr: '<f8'}?'");
    header_fails("{'descr", "a.npy: no .npy header: a key in quotes expected before ''descr?'");
    header_fails("{'descr' '<f8'}", "a.npy: no .npy header: ':' expected before ''<f8'}?'");
    header_fails("{'descr': 8}", "a.npy: no .npy header: a dtype in quotes expected before '8}?'");
    header_fails("{'fortran_order': 0}", "a.npy: no .npy header: True or False expected before '0}?'");
    header_fails("{'shape': 8}", "a.npy: no .npy header: a shape in brackets expected before '8}?'");
    header_fails("{'shape': (8)}", "a.npy: no .npy header: whole numbers between commas, each below 2^63, expected before ')}?'");
    header_fails("{'shape': (-8,)}", "a.npy: no .npy header: whole numbers between commas, each below 2^63, expected before '-8,)}?'");
    header_fails("{'shape': (2 4)}", "a.npy: no .npy header: whole numbers between commas, each below 2^63, expected before '4)}?'");
    header_fails("{'shape': (2, 4}", "a.npy: no .npy header: whole numbers between commas, each below 2^63, expected before '}?'");
    header_fails("{'fortran_order': True 'shape'}", "a.npy: no .npy header: ',' or '}' expected before ''shape'}?'");
    header_fails("{'descr': '<f8', 'fortran_order': True, 'shape': (2, 4)} x",
                 "a.npy: no .npy header: the end of the header expected before 'x?'");
}

/* Whatever the bytes: a matrix or one line that names the file. Every prefix, and every byte with each of its bits turned. */
static void damaged_files(void **state)
{
    (void)state;
    file f = file_of(1, "{'descr': '<f4', 'fortran_order': True, 'shape': (2, 3), }", 118, singles, 24);
    for (size_t i = 0; i < f.size; i++) {
        for (int bit = 0; bit <= 8; bit++) {
            attn_matrix m;
            attn_error error = {.message = ""};
            size_t size = bit == 8 ? i : f.size;
            f.bytes[i] ^= (unsigned char)(1U << bit); /* 1 << 8 turns nothing */
            attn_status status = parse(f.bytes, size, &m, &error);
            f.bytes[i] ^= (unsigned char)(1U << bit);
            if (status != ATTN_OK) {
                assert_int_equal(status, ATTN_EFORMAT);
                assert_int_equal(strncmp(error.message, "a.npy:", 6), 0);
                assert_null(strchr(error.message, '\n'));
            }
            assert_true(status != ATTN_OK || bit < 8); /* no prefix is whole */
            attn_matrix_free(&m);
        }
    }
}

/* ---- what is written ---- */

static void written_bytes(void **state)
{
    (void)state;
    double values[] = {1.5, -0.0, NAN, 0x1p-1074, INFINITY, 6};
    const attn_matrix m = {.rows = 2, .columns = 3, .values = values};
    size_t size;
    fresh_folder(FOLDER);
    assert_int_equal(attn_matrix_write_npy(FOLDER "/苹果.npy", &m, NULL, NULL), ATTN_OK);
    assert_int_equal(folder_entries(FOLDER), 1);
    char *bytes = take_file(FOLDER "/苹果.npy", &size);
    assert_int_equal(size, 128 + 48);
    assert_memory_equal(bytes, "\x93NUMPY\x01\x00\x76\x00{'descr': '<f8', 'fortran_order': False, 'shape': (2, 3), }  ", 71);
    for (int i = 69; i < 127; i++) {
        assert_int_equal(bytes[i], ' ');
    }
    assert_int_equal(bytes[127], '\n');
    assert_memory_equal(bytes + 128, "\0\0\0\0\0\0\xF8\x3F\0\0\0\0\0\0\0\x80", 16);
    assert_memory_equal(bytes + 128 + 24, "\x01\0\0\0\0\0\0\0\0\0\0\0\0\0\xF0\x7F", 16);
    free(bytes);
    attn_matrix back;
    assert_int_equal(attn_matrix_read(FOLDER "/苹果.npy", &back, NULL, NULL), ATTN_OK);
    assert_int_equal(back.rows, 2);
    assert_int_equal(back.columns, 3);
    assert_memory_equal(back.values, values, sizeof values); /* NaN and zeros keep their bits */
    attn_matrix_free(&back);
}

static void failed_writes(void **state)
{
    (void)state;
    double *values = calloc(1000, sizeof *values);
    attn_matrix m = {.rows = 10, .columns = 100, .values = values};
    attn_error error;
    assert_non_null(values);
    fresh_folder(FOLDER);
    put_text(FOLDER "/old.npy", "old");
    limit_file_size(4000); /* as a full disk: writing stops in the middle */
    assert_int_equal(attn_matrix_write_npy(FOLDER "/old.npy", &m, NULL, &error), ATTN_EIO);
    limit_file_size(0);
    assert_contains(error.message, FOLDER "/old.npy: cannot write: ");
    size_t size;
    char *old = take_file(FOLDER "/old.npy", &size);
    assert_string_equal(old, "old");
    free(old);
    assert_int_equal(folder_entries(FOLDER), 1);
    assert_int_equal(attn_matrix_write_npy(FOLDER "/none/x.npy", &m, NULL, &error), ATTN_EIO);
    assert_contains(error.message, FOLDER "/none/x.npy: cannot write: ");
    m.rows = 0;
    assert_int_equal(attn_matrix_write_npy(FOLDER "/x.npy", &m, NULL, &error), ATTN_EINVAL);
    assert_string_equal(error.message, FOLDER "/x.npy: an empty matrix (0 x 100) is not written");
    m.rows = INT64_MAX;
    assert_int_equal(attn_matrix_write_npy(FOLDER "/x.npy", &m, NULL, &error), ATTN_ENOMEM);
    assert_int_equal(folder_entries(FOLDER), 1);
    free(values);
}

static void out_of_memory(void **state)
{
    (void)state;
    double values[] = {1, 2};
    const attn_matrix m = {.rows = 1, .columns = 2, .values = values};
    attn_status status = ATTN_ENOMEM;
    fresh_folder(FOLDER);
    for (long at = 1; status != ATTN_OK; at++) {
        counting_allocator memory;
        counting_init(&memory, at);
        status = attn_matrix_write_npy(FOLDER "/m.npy", &m, &memory.value, NULL);
        assert_true(status == ATTN_OK || status == ATTN_ENOMEM);
        assert_int_equal(memory.live, 0);
        assert_int_equal(folder_entries(FOLDER), status == ATTN_OK);
        assert_true(status != ATTN_OK || at > 1);
    }
    status = ATTN_ENOMEM;
    for (long at = 1; status != ATTN_OK; at++) {
        counting_allocator memory;
        attn_matrix back;
        counting_init(&memory, at);
        status = attn_matrix_read(FOLDER "/m.npy", &back, &memory.value, NULL);
        assert_true(status == ATTN_OK || status == ATTN_ENOMEM);
        assert_true(status != ATTN_OK || at > 2);
        attn_matrix_free(&back);
        assert_int_equal(memory.live, 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(orders_and_versions), cmocka_unit_test(element_types),       cmocka_unit_test(refused_by_name),
        cmocka_unit_test(several_matrices),    cmocka_unit_test(lies_about_the_size), cmocka_unit_test(malformed_headers),
        cmocka_unit_test(damaged_files),       cmocka_unit_test(written_bytes),       cmocka_unit_test(failed_writes),
        cmocka_unit_test(out_of_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

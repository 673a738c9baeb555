/* Matrices and labels from files: which format a file is in, what is missing, what is damaged. */
#include "support/check.h"

#include <stdlib.h>
#include <string.h>

#include "support/disk.h"
#include "support/files.h"
#include "support/matrices.h"

#define FOLDER "test_matrix_files.d"

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

static attn_status read_file(const char *path, attn_matrix *m, attn_error *error)
{
    attn_status status = attn_matrix_read(path, m, NULL, error);
    attn_matrix_free(m);
    return status;
}

/* The extension decides where it is known; else the content. */
static void names_and_contents(void **state)
{
    (void)state;
    attn_matrix m;
    attn_error error;
    fresh_folder(FOLDER);
    put_text(FOLDER "/a.tsv", "[1]\t2\n");
    assert_int_equal(attn_matrix_read(FOLDER "/a.tsv", &m, NULL, &error), ATTN_OK);
    values_are(&m, 1, 1, (const double[]){2});
    labels_are(m.row_labels, 1, "[1]");
    attn_matrix_free(&m);
    put_text(FOLDER "/b.JSON", "[[3]]");
    assert_int_equal(attn_matrix_read(FOLDER "/b.JSON", &m, NULL, &error), ATTN_OK);
    values_are(&m, 1, 1, (const double[]){3});
    attn_matrix_free(&m);
    put_text(FOLDER "/c.json", "1\t2\n");
    assert_int_equal(read_file(FOLDER "/c.json", &m, &error), ATTN_EFORMAT);
    assert_contains(error.message, FOLDER "/c.json:1: no JSON: ");
    put_text(FOLDER "/d.NPY", "[[3]]");
    assert_int_equal(read_file(FOLDER "/d.NPY", &m, &error), ATTN_EFORMAT);
    assert_string_equal(error.message, FOLDER "/d.NPY: no .npy file: it does not begin with the bytes 93 'NUMPY'");
    put_text(FOLDER "/e", "[[4]]");
    assert_int_equal(attn_matrix_read(FOLDER "/e", &m, NULL, &error), ATTN_OK);
    values_are(&m, 1, 1, (const double[]){4});
    attn_matrix_free(&m);
    put_text(FOLDER "/f.txt", "5\t6\n");
    assert_int_equal(attn_matrix_read(FOLDER "/f.txt", &m, NULL, &error), ATTN_OK);
    values_are(&m, 1, 2, (const double[]){5, 6});
    attn_matrix_free(&m);
    put_text(FOLDER "/g.tsv", "");
    assert_int_equal(read_file(FOLDER "/g.tsv", &m, &error), ATTN_EFORMAT);
    assert_string_equal(error.message, FOLDER "/g.tsv: the file is empty, expected a matrix");
    assert_int_equal(read_file(FOLDER "/none.tsv", &m, &error), ATTN_EIO);
    assert_string_equal(error.message, FOLDER "/none.tsv: cannot open: No such file or directory");
    assert_int_equal(read_file(FOLDER, &m, &error), ATTN_EIO);
}

/* Standard input, recognised by what it holds. */
static void standard_input(void **state)
{
    (void)state;
    attn_matrix m;
    attn_error error;
    static const char *const texts[] = {"1\t2\n", "[[1, 2]]", "{\"values\": [[1, 2]]}", " \n[[1, 2]]"};
    fresh_folder(FOLDER);
    for (size_t i = 0; i < COUNT(texts); i++) {
        put_text(FOLDER "/in", texts[i]);
        assert_non_null(freopen(FOLDER "/in", "r", stdin));
        assert_int_equal(attn_matrix_read("-", &m, NULL, &error), ATTN_OK);
        values_are(&m, 1, 2, (const double[]){1, 2});
        attn_matrix_free(&m);
    }
    put_text(FOLDER "/in", "1\t2\n3\n");
    assert_non_null(freopen(FOLDER "/in", "r", stdin));
    assert_int_equal(read_file("-", &m, &error), ATTN_EFORMAT);
    assert_string_equal(error.message, "standard input:2: 1 cell, expected 2 as in line 1");
}

static void label_files(void **state)
{
    (void)state;
    attn_labels labels;
    attn_error error;
    fresh_folder(FOLDER);
    put_text(FOLDER "/words", "\xEF\xBB\xBFshe\r\n\n苹果 x\n\tlast");
    assert_int_equal(attn_labels_read(FOLDER "/words", &labels, NULL, &error), ATTN_OK);
    assert_int_equal(labels.count, 4);
    labels_are(labels.text, labels.count, "she||苹果 x|\tlast");
    attn_labels_free(&labels);
    assert_null(labels.text);
    assert_int_equal(labels.count, 0);
    put_text(FOLDER "/words", "a\nb\n");
    assert_int_equal(attn_labels_read(FOLDER "/words", &labels, NULL, &error), ATTN_OK);
    assert_int_equal(labels.count, 2);
    attn_labels_free(&labels);
    put_text(FOLDER "/words", "");
    assert_int_equal(attn_labels_read(FOLDER "/words", &labels, NULL, &error), ATTN_EFORMAT);
    assert_string_equal(error.message, FOLDER "/words: the file is empty, expected labels, one a line");
    put_bytes(FOLDER "/words", "a\n\0\n", 4);
    assert_int_equal(attn_labels_read(FOLDER "/words", &labels, NULL, &error), ATTN_EFORMAT);
    assert_string_equal(error.message, FOLDER "/words:2: a zero byte at byte 0 of the line (0x00), expected UTF-8 text");
    assert_null(labels.text);
    assert_int_equal(attn_labels_read(FOLDER "/none", &labels, NULL, &error), ATTN_EIO);
    attn_labels_free(&labels); /* also after a failure */
    attn_matrix m = {0};
    attn_matrix_free(&m);
    attn_matrix_free(NULL);
    attn_labels_free(NULL);
}

/* ---- memory ---- */

/* Fails the first, second, ... allocation until the reading succeeds. */
static void sweep(const char *path, bool matrix)
{
    attn_status status = ATTN_ENOMEM;
    long at = 1;
    for (; status != ATTN_OK; at++) {
        counting_allocator memory;
        attn_error error = {.message = ""};
        attn_matrix m;
        attn_labels labels;
        counting_init(&memory, at);
        status = matrix ? attn_matrix_read(path, &m, &memory.value, &error) : attn_labels_read(path, &labels, &memory.value, &error);
        if (status != ATTN_OK) {
            assert_int_equal(status, ATTN_ENOMEM);
            assert_contains(error.message, path);
            assert_contains(error.message, "out of memory");
            assert_int_equal(memory.live, 0);
        }
        matrix ? attn_matrix_free(&m) : attn_labels_free(&labels);
        assert_int_equal(memory.live, 0);
    }
    assert_true(at > 3);
}

static void out_of_memory(void **state)
{
    (void)state;
    fresh_folder(FOLDER);
    put_text(FOLDER "/a.tsv", "\tx\ty\na\t1\t2\n");
    put_text(FOLDER "/b.json", "{\"values\": [[1]], \"rows\": [\"a\"], \"columns\": [\"b\"]}");
    put_text(FOLDER "/c", "a\nb\n");
    sweep(FOLDER "/a.tsv", true);
    sweep(FOLDER "/b.json", true);
    sweep(FOLDER "/c", false);
}

/* Whatever the bytes: a matrix or one line that names the file. Every prefix, and every byte replaced by each of a few. */
static void damaged_texts(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "\tthe\t苹果\r\nshe\t1e-3\t\nate\tnan\t-4.5\n",
        "{\"values\": [[1.5, null], [-2e3, 4]], \"rows\": [\"a\", \"苹\"], \"columns\": [\"x\", \"\\u82f9\"]}"};
    static const char others[] = "\0\t\n\r\"[]{},:0e-\x80\xE8\xFF";
    for (size_t t = 0; t < COUNT(texts); t++) {
        size_t size = strlen(texts[t]);
        for (size_t i = 0; i < size; i++) {
            for (size_t k = 0; k <= sizeof others; k++) {
                size_t length = k == sizeof others ? i : size;
                char *copy = malloc(length + 1); /* its own block, so that a read beyond the end is seen */
                attn_matrix m;
                attn_error error = {.message = ""};
                assert_non_null(copy);
                memcpy(copy, texts[t], length);
                if (k < sizeof others) {
                    copy[i] = others[k];
                }
                copy = realloc(copy, length > 0 ? length : 1);
                assert_non_null(copy);
                attn_status status = attn_matrix_parse(copy, length, "m", &m, NULL, &error);
                if (status != ATTN_OK) {
                    assert_true(status == ATTN_EFORMAT || status == ATTN_ESHAPE);
                    assert_int_equal(strncmp(error.message, "m:", 2), 0);
                    assert_null(strchr(error.message, '\n'));
                    assert_null(m.values);
                }
                attn_matrix_free(&m);
                free(copy);
            }
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_and_contents), cmocka_unit_test(standard_input), cmocka_unit_test(label_files),
        cmocka_unit_test(out_of_memory),      cmocka_unit_test(damaged_texts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

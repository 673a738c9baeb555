/* Matrices from text: TSV and JSON. */
#include "support/check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support/locales.h"
#include "support/matrices.h"

#define N NAN

static attn_matrix matrix_of(const char *text)
{
    attn_matrix m;
    attn_error error;
    if (attn_matrix_parse(text, strlen(text), "m", &m, NULL, &error) != ATTN_OK) {
        fail_msg("%s", error.message);
    }
    return m;
}

/* What a text must be read as. */
typedef struct sample {
    const char *text;
    int64_t rows, columns;
    double values[6];
    const char *row_labels, *column_labels;
} sample;

static void samples_are_read(const sample *s, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        attn_matrix m = matrix_of(s[i].text);
        values_are(&m, s[i].rows, s[i].columns, s[i].values);
        labels_are(m.row_labels, m.rows, s[i].row_labels);
        labels_are(m.column_labels, m.columns, s[i].column_labels);
        attn_matrix_free(&m);
        assert_null(m.values);
    }
}

/* What must be said of a text. */
typedef struct fault {
    const char *text, *message;
} fault;

static void faults_are_named(const fault *f, size_t n, attn_status status)
{
    for (size_t i = 0; i < n; i++) {
        attn_matrix m;
        attn_error error = {.message = ""};
        assert_int_equal(attn_matrix_parse(f[i].text, strlen(f[i].text), "m", &m, NULL, &error), status);
        assert_string_equal(error.message, f[i].message);
        assert_int_equal(error.status, status);
        assert_null(m.values);
        assert_null(m.row_labels);
        assert_null(m.column_labels);
        assert_int_equal(m.rows, 0);
    }
}

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

/* ---- TSV ---- */

static void tsv(void **state)
{
    (void)state;
    static const sample samples[] = {
        {"1\t2\t3\n4\t5\t6\n", 2, 3, {1, 2, 3, 4, 5, 6}, NULL, NULL},
        {"1\t2\t3\r\n4\t5\t6", 2, 3, {1, 2, 3, 4, 5, 6}, NULL, NULL},
        {"\xEF\xBB\xBF"
         "1\t2\n",
         1,
         2,
         {1, 2},
         NULL,
         NULL},
        {"-.5\n", 1, 1, {-0.5}, NULL, NULL},
        {"\n1\t2\n\n3\t4\n\r\n\n", 2, 2, {1, 2, 3, 4}, NULL, NULL},
        {" 1 \t2\n", 1, 2, {1, 2}, NULL, NULL},
        {"nan\t1\t\n\tNaN\tinf\n", 2, 3, {N, 1, N, N, N, INFINITY}, NULL, NULL},
        {"\t\n", 1, 2, {N, N}, NULL, NULL},
        /* labels */
        {"\tthe\t苹果\nshe\t1\t2\nate\t3\t4\n", 2, 2, {1, 2, 3, 4}, "she|ate", "the|苹果"},
        {"token\tthe\tcat\nshe\t1\t2\nate\t3\t4\n", 2, 2, {1, 2, 3, 4}, "she|ate", "the|cat"},
        {"the\tcat\n1\t2\n3\t4\n", 2, 2, {1, 2, 3, 4}, NULL, "the|cat"},
        {"she\t1\t2\n7\t3\t4\n", 2, 2, {1, 2, 3, 4}, "she|7", NULL},
        {"\t3\tapples\n3\t1\t2\n", 1, 2, {1, 2}, "3", "3|apples"},
        {"\tthe\t\n7\t1\t2\n", 1, 2, {1, 2}, "7", "the|"},
        {"weight\n1\n2\n", 2, 1, {1, 2}, NULL, "weight"},
        {"she\t1\n", 1, 1, {1}, "she", NULL},
        {"\n\ta b\tc\r\n\nx y\t\t2\n", 1, 2, {N, 2}, "x y", "a b|c"},
        {"[CLS]\t1\n[SEP]\t2\n", 2, 1, {1, 2}, "[CLS]|[SEP]", NULL},
    };
    samples_are_read(samples, COUNT(samples));
}

static void tsv_faults(void **state)
{
    (void)state;
    static const fault faults[] = {
        {"", "m: the file is empty, expected a matrix"},
        {"\n\r\n", "m: the file has no line that is not empty, expected a matrix"},
        {"1\t2\n3\n", "m:2: 1 cell, expected 2 as in line 1"},
        {"\n1\t2\n\n3\t4\t5\n", "m:4: 3 cells, expected 2 as in line 2"},
        {"\ta\tb\n1\t2\n", "m:2: 2 cells, expected 3 as in line 1"},
        {"1\t2\n3\tx\n", "m:2: cell 2 is 'x', expected a number, nan or nothing between tabs"},
        {"\ta\tb\nr\t1\t0,5\n", "m:2: cell 3 is '0,5', expected a number, nan or nothing between tabs"},
        {"a\tb\n1\t2\nx\t4\n", "m:3: cell 1 is 'x', expected a number, nan or nothing between tabs"},
        {"1\t2\n3\t1e999\n", "m:2: cell 2 is '1e999', expected a number, nan or nothing between tabs"},
        {"1 2 3\n4 5 6\n", "m:2: cell 1 is '4 5 6', expected a number, nan or nothing between tabs"},
        {"the\tcat\n", "m:1: labels only, expected numbers between tabs"},
        {"1\t2\n3\t\x80\n", "m:2: broken UTF-8 at byte 2 of the line (0x80), expected UTF-8 text"},
        {"1\n\xE8\x8B", "m:2: broken UTF-8 at byte 0 of the line (0xE8), expected UTF-8 text"},
    };
    faults_are_named(faults, COUNT(faults), ATTN_EFORMAT);
    attn_matrix m;
    attn_error error;
    assert_int_equal(attn_matrix_parse("1\t\0002\n", 5, "m", &m, NULL, &error), ATTN_EFORMAT);
    assert_string_equal(error.message, "m:1: a zero byte at byte 2 of the line (0x00), expected UTF-8 text");
}

/* ---- JSON ---- */

/* A slip in the first line makes labels of it; whoever reads the matrix can say so. */
static void doubtful_labels(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int64_t doubtful;
    } lines[] = {{"0.5\t0,2\t0.3\n1\t2\t3\n", 2},
                 {"0.5\t0,2\n1\t2\n", 1},
                 {"a\tb\t0.3\n1\t2\t3\n", 0},
                 {"\tthe\t1998\na\t1\t2\n", 0},
                 {"rows\\columns\t1\t2\n0\t1\t2\n", 0},
                 {"1\t2\n3\t4\n", 0},
                 {"x\n1\n", 0},
                 {"x\t1\t2\n", 0}};
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        attn_matrix m = matrix_of(lines[i].text);
        assert_int_equal(m.doubtful, lines[i].doubtful);
        attn_matrix_free(&m);
    }
}

static void json(void **state)
{
    (void)state;
    static const sample samples[] = {
        {"[[1, 2.5, -3e-1], [null, 5, 6]]", 2, 3, {1, 2.5, -0.3, N, 5, 6}, NULL, NULL},
        {"\xEF\xBB\xBF \n[\n[7]]\n", 1, 1, {7}, NULL, NULL},
        {"[[12345678901234567890123]]", 1, 1, {12345678901234567890123.0}, NULL, NULL},
        {"[[-0, 0.0, 9223372036854775807, -9223372036854775809]]", 1, 4, {-0.0, 0, 0x1p63, -0x1p63}, NULL, NULL},
        {"{\"values\": [[1], [2]]}", 2, 1, {1, 2}, NULL, NULL},
        {"{\"columns\": [\"苹果\", \"a\\tb\"], \"rows\": [\"\\u82f9\"], \"values\": [[1, 2]]}", 1, 2, {1, 2}, "苹", "苹果|a\tb"},
        {"{\"values\": [[1], [2]], \"rows\": [\"a\", \"\"]}", 2, 1, {1, 2}, "a|", NULL},
    };
    samples_are_read(samples, COUNT(samples));
}

static void json_faults(void **state)
{
    (void)state;
    static const fault faults[] = {
        {"[[1, 2],\n [3]]", "m: row 1 has 1 values, row 0 has 2"},
        {"[[1, 2],\n [3,]]", "m:2: no JSON: a value was expected"},
        {"[[1, NaN]]", "m:1: no JSON: a value was expected"},
        {"[[1]] [", "m:1: no JSON: something follows the end"},
        {"{\"values\": [[1]], \"values\": [[2]]}", "m:1: no JSON: duplicate object key"},
        {"[[1e999]]", "m:1: no JSON: too big a number"},
        {"[]", "m: an empty matrix (0 rows, 0 columns)"},
        {"[[], []]", "m: an empty matrix (2 rows, 0 columns)"},
        {"[1, 2]", "m: row 0 is a number, expected an array of numbers"},
        {"[[1, 2], \"x\"]", "m: row 1 is a string, expected an array of numbers"},
        {"[[1, 2], [3, \"4\"]]", "m: row 1, column 1 is a string, expected a number or null"},
        {"[[true]]", "m: row 0, column 0 is true, expected a number or null"},
        {"{}", "m: \"values\" is missing, expected an array of rows"},
        {"{\"values\": 3}", "m: \"values\" is a number, expected an array of rows"},
        {"{\"values\": [[1]], \"row\": [\"a\"]}", "m: unknown key \"row\", expected \"values\", \"rows\" and \"columns\""},
        {"{\"values\": [[1]], \"rows\": \"a\"}", "m: \"rows\" is a string, expected an array of labels"},
        {"{\"values\": [[1]], \"columns\": [1]}", "m: label 0 of \"columns\" is a number, expected a string"},
    };
    static const fault shapes[] = {
        {"{\"values\": [[1], [2]], \"rows\": [\"a\"]}", "m: 1 labels in \"rows\", the matrix has 2 rows"},
        {"{\"values\": [[1, 2]], \"columns\": [\"a\", \"b\", \"c\"]}", "m: 3 labels in \"columns\", the matrix has 2 columns"},
    };
    faults_are_named(faults, COUNT(faults), ATTN_EFORMAT);
    faults_are_named(shapes, COUNT(shapes), ATTN_ESHAPE);
}

static void deep_json_is_refused(void **state)
{
    (void)state;
    enum { DEPTH = 100000 };
    char *text = malloc(DEPTH);
    attn_matrix m;
    attn_error error;
    assert_non_null(text);
    memset(text, '[', DEPTH);
    assert_int_equal(attn_matrix_parse(text, DEPTH, "m", &m, NULL, &error), ATTN_EFORMAT);
    assert_contains(error.message, "m:1: no JSON: maximum parsing depth reached");
    free(text);
}

/* ---- everywhere the same ---- */

static void locales_do_not_matter(void **state)
{
    (void)state;
    static const sample samples[] = {
        {"1.5\t2.25\n", 1, 2, {1.5, 2.25}, NULL, NULL},
        {"[[1.5, 2.25e1, 3]]", 1, 3, {1.5, 22.5, 3}, NULL, NULL},
    };
    const char *const languages[] = {"de_DE", "ps_AF"};
    int tried = 0;
    for (int i = 0; i < 2; i++) {
        if (numbers_as_in(languages[i])) {
            char before[100], half[16];
            (void)snprintf(before, sizeof before, "%s", setlocale(LC_ALL, NULL));
            (void)snprintf(half, sizeof half, "%.1f", 0.5);
            assert_string_not_equal(half, "0.5");
            samples_are_read(samples, COUNT(samples));
            assert_string_equal(setlocale(LC_ALL, NULL), before);
            char after[16];
            (void)snprintf(after, sizeof after, "%.1f", 0.5);
            assert_string_equal(after, half); /* the program's locale is as it was */
            tried++;
        }
        numbers_as_usual();
    }
    if (tried == 0) {
        skip();
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tsv),
        cmocka_unit_test(tsv_faults),
        cmocka_unit_test(json),
        cmocka_unit_test(doubtful_labels),
        cmocka_unit_test(json_faults),
        cmocka_unit_test(deep_json_is_refused),
        cmocka_unit_test(locales_do_not_matter),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Values of panels for other programs: what is written is read back, bit by bit, labels and all. */
#include "support/check.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "attn/heatmap.h"
#include "attn/matrix.h"
#include "support/disk.h"
#include "support/files.h"

static const double values[6] = {0.1, -0.0, 1.0 / 3, NAN, INFINITY, -1e-300};
static const uint8_t masked[6] = {0, 0, 0, 0, 0, 0};

static attn_heatmap_panel panel_of(const char *const *rows, const char *const *columns)
{
    return (attn_heatmap_panel){.rows = 2, .columns = 3, .values = values, .hidden = masked, .row_labels = rows, .column_labels = columns};
}

static void write_panel(const char *path, attn_export_format format, attn_heatmap_panel p)
{
    attn_error error;
    if (attn_heatmap_export(path, format, &p, 1, NULL, &error) != ATTN_OK) {
        fail_msg("%s", error.message);
    }
}

static void labels_are(const char *const *read, const char *const *expected, int n)
{
    assert_int_equal(read == NULL, expected == NULL);
    for (int i = 0; i < n && read != NULL; i++) {
        assert_string_equal(read[i], expected[i]);
    }
}

/* Labels that look like numbers, like nothing, or like the format itself. */
static void what_is_written_is_read_back(void **state)
{
    (void)state;
    static const struct {
        attn_export_format format;
        const char *path;
    } formats[] = {{ATTN_EXPORT_TSV, "test_export.tsv"}, {ATTN_EXPORT_JSON, "test_export.json"}, {ATTN_EXPORT_NPY, "test_export.npy"}};
    static const char *const rows[][2] = {{"苹果", "\"a\\"}, {"1998", ""}, {"nan", "rows\\columns"}, {"#", " b "}};
    static const char *const columns[][3] = {{"x", "y", "z"}, {"0", "1", "2"}, {"", "", ""}, {"[", "{", "\x7f"}};
    for (size_t f = 0; f < sizeof formats / sizeof formats[0]; f++) {
        for (size_t k = 0; k < 5; k++) { /* the last without labels */
            bool labelled = k < 4 && formats[f].format != ATTN_EXPORT_NPY;
            attn_heatmap_panel p = panel_of(k < 4 ? rows[k] : NULL, k < 4 ? columns[k] : NULL);
            attn_matrix m;
            attn_error error;
            write_panel(formats[f].path, formats[f].format, p);
            if (attn_matrix_read(formats[f].path, &m, NULL, &error) != ATTN_OK) {
                fail_msg("%s", error.message);
            }
            assert_int_equal(m.rows, 2);
            assert_int_equal(m.columns, 3);
            for (int i = 0; i < 6; i++) {
                assert_true(isnan(values[i]) ? isnan(m.values[i]) : memcmp(&m.values[i], &values[i], sizeof values[i]) == 0);
            }
            labels_are(m.row_labels, labelled ? p.row_labels : NULL, 2);
            labels_are(m.column_labels, labelled ? p.column_labels : NULL, 3);
            attn_matrix_free(&m);
        }
    }
}

static void file_is(const char *path, const char *expected)
{
    size_t size;
    char *text = take_file(path, &size);
    assert_string_equal(text, expected);
    free(text);
}

static void the_bytes_are_known(void **state)
{
    (void)state;
    static const char *const rows[] = {"a\tb", "\n"}, *const columns[] = {"x", "y"};
    const double w[4] = {0.25, 0.75, 1, 0}, one[1] = {INFINITY};
    const uint8_t hidden[4] = {0, 0, 1, 0};
    const attn_heatmap_panel panels[2] = {{.title = "head \"0\"",
                                           .rows = 2,
                                           .columns = 2,
                                           .values = w,
                                           .hidden = hidden,
                                           .row_labels = rows,
                                           .column_labels = columns,
                                           .heads = 2},
                                          {.rows = 1, .columns = 1, .values = one, .heads = 2, .head = -1, .group = 7}};
    assert_int_equal(attn_heatmap_export("test_export.json", ATTN_EXPORT_JSON, panels, 2, NULL, NULL), ATTN_OK);
    attn_matrices all;
    assert_int_equal(attn_matrices_read("test_export.json", &all, NULL, NULL), ATTN_OK);
    assert_int_equal(all.count, 2);
    assert_string_equal(all.matrix[0].title, "head \"0\"");
    assert_string_equal(all.matrix[0].row_labels[0], "a\tb");
    assert_true(all.matrix[0].values[1] == 0.75 && isnan(all.matrix[0].values[2]));
    assert_null(all.matrix[1].title);
    assert_null(all.matrix[1].row_labels);
    assert_int_equal(all.matrix[1].group, 7);
    assert_true(all.matrix[1].values[0] == INFINITY);
    attn_matrices_free(&all);
    file_is("test_export.json", "{\"schema\": \"attn.weights/1\", \"panels\": [\n"
                                "{\"title\": \"head \\\"0\\\"\", \"group\": 0, \"heads\": 2, \"head\": 0,\n"
                                "  \"rows\": [\"a\\u0009b\", \"\\u000a\"],\n"
                                "  \"columns\": [\"x\", \"y\"],\n"
                                "  \"values\": [[0.25, 0.75],\n"
                                "    [null, 0]]},\n"
                                "{\"title\": \"\", \"group\": 7, \"heads\": 2, \"head\": \"mean\",\n"
                                "  \"values\": [[\"inf\"]]}\n"
                                "]}\n");
    attn_heatmap_panel p = panels[0];
    p.row_labels = NULL;
    write_panel("test_export.tsv", ATTN_EXPORT_TSV, p);
    file_is("test_export.tsv", "rows\\columns\tx\ty\n0\t0.25\t0.75\n1\tnan\t0\n");
    p.column_labels = NULL;
    write_panel("test_export.tsv", ATTN_EXPORT_TSV, p);
    file_is("test_export.tsv", "0.25\t0.75\nnan\t0\n");
}

/* Several panels of one size are one array. */
static void panels_are_stacked(void **state)
{
    (void)state;
    const double a[2] = {1, 2}, b[2] = {3, 4};
    const attn_heatmap_panel panels[2] = {{.rows = 1, .columns = 2, .values = a}, {.rows = 1, .columns = 2, .values = b}};
    assert_int_equal(attn_heatmap_export("test_export.npy", ATTN_EXPORT_NPY, panels, 2, NULL, NULL), ATTN_OK);
    size_t size;
    char *file = take_file("test_export.npy", &size);
    assert_int_equal(size, 128 + 32);
    assert_memory_equal(file + 10, "{'descr': '<f8', 'fortran_order': False, 'shape': (2, 1, 2), } ", 63);
    for (int i = 0; i < 4; i++) {
        double v = i + 1;
        assert_memory_equal(file + 128 + 8 * i, &v, sizeof v); /* on machines with the lowest byte first */
    }
    free(file);
    attn_matrices all;
    assert_int_equal(attn_matrices_read("test_export.npy", &all, NULL, NULL), ATTN_OK);
    assert_int_equal(all.count, 2);
    assert_memory_equal(all.matrix[0].values, a, sizeof a);
    assert_memory_equal(all.matrix[1].values, b, sizeof b);
    attn_matrices_free(&all);
}

static void refused(const char *path, attn_export_format format, const attn_heatmap_panel *panels, int n, attn_status status,
                    const char *part)
{
    attn_error error = {0};
    put_text(path, "old");
    assert_int_equal(attn_heatmap_export(path, format, panels, n, NULL, &error), status);
    assert_contains(error.message, part);
    file_is(path, "old");
}

static void what_a_format_cannot_hold_is_refused(void **state)
{
    (void)state;
    static const char *const tab[] = {"ok", "a\tb"}, *const bad[] = {"ok", "a\xff"}, *const end[] = {"x", "y", "z\r"};
    const attn_heatmap_panel two[2] = {panel_of(NULL, NULL), {.rows = 3, .columns = 2, .values = values}};
    attn_heatmap_panel p = panel_of(tab, NULL);
    refused("x.tsv", ATTN_EXPORT_TSV, two, 2, ATTN_ESHAPE, "x.tsv: TSV holds one matrix, there are 2 panels: JSON holds them all");
    refused("x.npy", ATTN_EXPORT_NPY, two, 2, ATTN_ESHAPE, "x.npy: panel 2 is 3 x 2, panel 1 is 2 x 3");
    refused("x.tsv", ATTN_EXPORT_TSV, &p, 1, ATTN_EFORMAT, "x.tsv: row label 2 holds a tab or a line end");
    p = panel_of(NULL, end);
    refused("x.tsv", ATTN_EXPORT_TSV, &p, 1, ATTN_EFORMAT, "x.tsv: column label 3 holds a tab or a line end");
    p = panel_of(bad, NULL);
    refused("x.json", ATTN_EXPORT_JSON, &p, 1, ATTN_EFORMAT, "x.json: row label 2 of panel 1 is not UTF-8");
    p.rows = 0;
    refused("x.json", ATTN_EXPORT_JSON, &p, 1, ATTN_EINVAL, "panel 1 is empty (0 x 3)");
    refused("x.json", ATTN_EXPORT_JSON, &p, 0, ATTN_EINVAL, "0 panels");
    p.rows = 2;
    p.row_labels = NULL;
    refused("x.json", (attn_export_format)3, &p, 1, ATTN_EINVAL, "x.json: no such format: 3");
    attn_matrix m;
    attn_error error;
    assert_int_equal(attn_heatmap_export("x.json", ATTN_EXPORT_JSON, two, 2, NULL, NULL), ATTN_OK);
    assert_int_equal(attn_matrix_read("x.json", &m, NULL, &error), ATTN_EFORMAT);
    assert_string_equal(error.message, "x.json: 2 matrices, expected one");
}

static void without_memory_the_old_file_stays(void **state)
{
    (void)state;
    static const char *const rows[] = {"a", "b"};
    attn_heatmap_panel p = panel_of(rows, NULL);
    for (int format = ATTN_EXPORT_NPY; format <= ATTN_EXPORT_JSON; format++) {
        attn_status status = ATTN_ENOMEM;
        put_text("x.out", "old");
        for (long k = 1; status == ATTN_ENOMEM; k++) {
            counting_allocator c;
            counting_init(&c, k);
            status = attn_heatmap_export("x.out", (attn_export_format)format, &p, 1, &c.value, NULL);
            assert_int_equal(c.live, 0);
            if (status == ATTN_ENOMEM) {
                file_is("x.out", "old");
            }
        }
        assert_int_equal(status, ATTN_OK);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_written_is_read_back),
        cmocka_unit_test(the_bytes_are_known),
        cmocka_unit_test(panels_are_stacked),
        cmocka_unit_test(what_a_format_cannot_hold_is_refused),
        cmocka_unit_test(without_memory_the_old_file_stays),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

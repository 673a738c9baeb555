/* Faults of pictures and of the files that they are made from, which users of other libraries reported, in the forms they could take here.
 * README.md has the list. */
#include "support/check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "attn/heatmap.h"
#include "attn/matrix.h"
#include "support/disk.h"
#include "support/files.h"
#include "support/picture.h"

#define LATIN   "/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf"
#define CHINESE "/usr/share/fonts/truetype/wqy/wqy-microhei.ttc"
#define FOLDER  "test_reports_pictures.d"

/* ---- labels and matrices from files ---- */

static attn_labels labels_of(const char *text)
{
    attn_labels labels;
    attn_error error;
    put_text("reports.txt", text);
    if (attn_labels_read("reports.txt", &labels, NULL, &error) != ATTN_OK) {
        fail_msg("%s", error.message);
    }
    return labels;
}

/* Field reports B76, B77: a byte-order mark and DOS line ends make no difference, in labels, TSV and JSON. */
static void b77_marks_and_line_ends_belong_to_no_label(void **state)
{
    (void)state;
    static const char *const forms[] = {"银行\nb\n", "\xef\xbb\xbf银行\r\nb\r\n", "银行\r\nb"};
    static const char *const matrices[] = {"\t银行\tb\nx\t1\t0\n", "\xef\xbb\xbf\t银行\tb\r\n\r\nx\t1\t0\r\n",
                                           "\xef\xbb\xbf{\"values\":[[1,0]],\r\n\"rows\":[\"x\"],\"columns\":[\"银行\",\"b\"]}\r\n"};
    for (int i = 0; i < 3; i++) {
        attn_labels labels = labels_of(forms[i]);
        assert_int_equal(labels.count, 2);
        assert_string_equal(labels.text[0], "银行");
        assert_string_equal(labels.text[1], "b");
        attn_labels_free(&labels);
        attn_matrix m;
        assert_int_equal(attn_matrix_parse(matrices[i], strlen(matrices[i]), "m", &m, NULL, NULL), ATTN_OK);
        assert_int_equal(m.rows, 1);
        assert_int_equal(m.columns, 2);
        assert_string_equal(m.row_labels[0], "x");
        assert_string_equal(m.column_labels[0], "银行");
        assert_string_equal(m.column_labels[1], "b");
        assert_true(m.values[0] == 1 && m.values[1] == 0);
        attn_matrix_free(&m);
    }
}

/* Field report B79: only the separators of the format separate. */
static void b79_wide_spaces_belong_to_labels(void **state)
{
    (void)state;
    attn_labels labels = labels_of("\u3000中国\n中国\n\u00a0中国\n");
    assert_int_equal(labels.count, 3);
    assert_string_equal(labels.text[0], "\u3000中国");
    assert_string_equal(labels.text[1], "中国");
    assert_string_equal(labels.text[2], "\u00a0中国");
    attn_labels_free(&labels);
    attn_matrix m;
    static const char text[] = "\t\u3000中国\t中国\nx\t1\t0\n";
    assert_int_equal(attn_matrix_parse(text, sizeof text - 1, "m", &m, NULL, NULL), ATTN_OK);
    assert_string_equal(m.column_labels[0], "\u3000中国");
    attn_matrix_free(&m);
}

/* Field report B80: a cut character is an error with its line, and never becomes another word. */
static void b80_broken_characters_have_a_line(void **state)
{
    (void)state;
    attn_labels labels;
    attn_matrix m;
    attn_error error;
    put_text("reports.txt", "\xe4\xb8\xad\n\xe4\xb8\n");
    assert_int_equal(attn_labels_read("reports.txt", &labels, NULL, &error), ATTN_EFORMAT);
    assert_contains(error.message, "reports.txt:2: broken UTF-8 at byte 0 of the line (0xE4)");
    static const char text[] = "\ta\xe4\xb8\tb\n";
    assert_int_equal(attn_matrix_parse(text, sizeof text - 1, "m.tsv", &m, NULL, &error), ATTN_EFORMAT);
    assert_contains(error.message, "m.tsv:1: broken UTF-8 at byte 2 of the line (0xE4)");
}

/* ---- letters ---- */

/* Field report B84: a Latin font has neither 银行 nor the snowman; the remark has their numbers and what to install. The whole chain draws
 * them otherwise than as boxes. */
static void b84_missing_characters_are_named(void **state)
{
    (void)state;
    static const double w[9] = {0};
    static const char *const words[] = {"银行", "bank", "👩"};
    if (access(LATIN, R_OK) != 0 || access(CHINESE, R_OK) != 0) {
        skip();
    }
    const attn_heatmap_panel p = {.rows = 3, .columns = 3, .values = w, .row_labels = words, .column_labels = words};
    attn_heatmap_config c = {.panels = &p, .n_panels = 1, .font = LATIN};
    attn_image latin, chinese;
    assert_int_equal(attn_heatmap_draw(&c, &latin, NULL, NULL, NULL), ATTN_OK);
    assert_contains(latin.notes,
                    "no glyph for U+884C U+94F6 U+1F469, drawn as code points in boxes: install fonts-wqy-microhei, fonts-symbola");
    assert_null(strstr(strstr(latin.notes, "no glyph") + 8, "no glyph")); /* once, though there are rows and columns */
    c.font = CHINESE;
    assert_int_equal(attn_heatmap_draw(&c, &chinese, NULL, NULL, NULL), ATTN_OK);
    assert_contains(chinese.notes, "no glyph for U+1F469, drawn as code points in boxes: install fonts-symbola");
    bool same = latin.width == chinese.width && latin.height == chinese.height &&
                memcmp(latin.rgb, chinese.rgb, 3 * (size_t)latin.width * (size_t)latin.height) == 0;
    assert_false(same);
    attn_image_free(&latin);
    attn_image_free(&chinese);
}

/* ---- cells ---- */

/* Field report B109: the same number has the same colour in any two pictures with the same options, whatever else they hold. */
static void b109_pictures_are_comparable(void **state)
{
    (void)state;
    const double a[4] = {0.25, 0.25, 0.25, 0.25}, b[4] = {0.25, 1, 0, 0.9};
    const double *const both[2] = {a, b};
    for (int i = 0; i < 2; i++) {
        drawing d =
            draw((attn_heatmap_config){.annotate = ATTN_ANNOTATE_NONE}, (attn_heatmap_panel){.rows = 2, .columns = 2, .values = both[i]});
        cell_is(&d, 0, 0, 0, 0.25);
        attn_image_free(&d.image);
    }
}

/* Field report B111: queries are rows, in every kind of picture. */
static void b111_rows_are_queries(void **state)
{
    (void)state;
    const double w[10] = {0, 0, 0, 0, 1};
    const attn_heatmap_panel p = {.rows = 2, .columns = 5, .values = w};
    attn_heatmap_config c = {.panels = &p, .n_panels = 1, .annotate = ATTN_ANNOTATE_NONE, .font = NO_FONT};
    drawing d = draw(c, p);
    cell_is(&d, 0, 0, 4, 1);
    char hot[200];
    (void)snprintf(hot, sizeof hot, "<path d=\"M%d %dh%dv%dh%dz\" fill=\"#12274f\"/>\n", d.at.panel[0].x + 4 * d.at.cell_width,
                   d.at.panel[0].y, d.at.cell_width, d.at.cell_height, -d.at.cell_width);
    attn_image_free(&d.image);
    attn_document svg, lines;
    assert_int_equal(attn_heatmap_svg(&c, &svg, NULL, NULL, NULL), ATTN_OK);
    assert_non_null(strstr(svg.text, hot));
    assert_non_null(strstr(svg.text, ">query: who looks</text>"));
    assert_non_null(strstr(svg.text, ">key: looked at</text>"));
    attn_document_free(&svg);
    c.annotate = ATTN_ANNOTATE_AUTO;
    assert_int_equal(attn_heatmap_terminal(&c, (attn_terminal){ATTN_COLORS_NONE, 80}, &lines, NULL, NULL), ATTN_OK);
    assert_non_null(strstr(lines.text, "\n0  0.00  0.00  0.00  0.00  1.00\n1  0.00"));
    attn_document_free(&lines);
}

/* ---- files ---- */

/* Field report B99: any name that the file system takes, of 300 bytes too if they are several parts. */
static void b99_names_are_bytes(void **state)
{
    (void)state;
    double w[4];
    attn_heatmap_panel p = square(2, w);
    const attn_heatmap_config c = {.panels = &p, .n_panels = 1, .font = NO_FONT};
    char path[400] = FOLDER "/", part[260] = "";
    fresh_folder(FOLDER);
    while (strlen(part) < 250) {
        strcat(part, "热");
    }
    strcat(path, part);
    strcat(path, ".ng"); /* 255 bytes in all: the most there are */
    assert_true(strlen(path) > 270);
    attn_image image;
    assert_int_equal(attn_heatmap_draw(&c, &image, NULL, NULL, NULL), ATTN_OK);
    assert_int_equal(attn_png_write(path, &image, NULL), ATTN_OK);
    assert_int_equal(attn_png_write(FOLDER "/注意力 \n\t'\".png", &image, NULL), ATTN_OK);
    assert_int_equal(folder_entries(FOLDER), 2);
    assert_int_equal(access(path, R_OK), 0);
    attn_image_free(&image);
}

/* Field report B97: exports too leave the old file when the disk is full, and nothing beside it. */
static void b97_a_full_disk_costs_nothing(void **state)
{
    (void)state;
    enum { N = 40 };
    static double w[N * N];
    const attn_heatmap_panel p = {.rows = N, .columns = N, .values = w};
    attn_error error;
    fresh_folder(FOLDER);
    for (int i = 0; i < N * N; i++) {
        w[i] = 1.0 / (i + 3);
    }
    for (int format = ATTN_EXPORT_NPY; format <= ATTN_EXPORT_JSON; format++) {
        put_text(FOLDER "/x", "old");
        limit_file_size(4096);
        attn_status status = attn_heatmap_export(FOLDER "/x", (attn_export_format)format, &p, 1, NULL, &error);
        limit_file_size(0);
        assert_int_equal(status, ATTN_EIO);
        assert_contains(error.message, FOLDER "/x: cannot write: ");
        size_t size;
        char *left = take_file(FOLDER "/x", &size);
        assert_string_equal(left, "old");
        free(left);
        assert_int_equal(folder_entries(FOLDER), 1);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(b77_marks_and_line_ends_belong_to_no_label),
        cmocka_unit_test(b79_wide_spaces_belong_to_labels),
        cmocka_unit_test(b80_broken_characters_have_a_line),
        cmocka_unit_test(b84_missing_characters_are_named),
        cmocka_unit_test(b109_pictures_are_comparable),
        cmocka_unit_test(b111_rows_are_queries),
        cmocka_unit_test(b99_names_are_bytes),
        cmocka_unit_test(b97_a_full_disk_costs_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Heatmaps as SVG, read by another program's XML parser: the labels are there as they are, the cells have their colours. */
#include "support/check.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "attn/heatmap.h"
#include "support/files.h"
#include "support/picture.h"

#define FILE_NAME "test_svg.svg"
#define SCRIPT    "python3 '" ATTN_SOURCE_DIR "/tests/reference/svg.py' "

static attn_document svg_of(attn_heatmap_config config, attn_heatmap_layout *layout)
{
    attn_document svg;
    attn_error error;
    config.font = NO_FONT;
    if (attn_heatmap_svg(&config, &svg, layout, NULL, &error) != ATTN_OK) {
        fail_msg("%s", error.message);
    }
    assert_int_equal(strlen(svg.text), svg.size);
    put_bytes(FILE_NAME, svg.text, svg.size);
    return svg;
}

/* What the script prints. */
static char *answer(const char *arguments)
{
    static char output[200000];
    char command[4000];
    (void)snprintf(command, sizeof command, SCRIPT "%s", arguments);
    FILE *from = popen(command, "r");
    assert_non_null(from);
    size_t size = fread(output, 1, sizeof output - 1, from);
    assert_int_equal(pclose(from), 0);
    output[size] = '\0';
    return output;
}

/* Whatever a label holds, the file is XML, and the reader sees the label; what XML cannot hold is shown by its picture or replaced. */
static void labels_arrive_as_they_are(void **state)
{
    (void)state;
    static const struct {
        const char *label, *codes;
    } cases[] = {
        {"<h2>", "3C 68 32 3E"},
        {"a\"b'", "61 22 62 27"},
        {"&amp;", "26 61 6D 70 3B"},
        {"<!--", "3C 21 2D 2D"},
        {"]]>", "5D 5D 3E"},
        {"</text><script>", "3C 2F 74 65 78 74 3E 3C 73 63 72 69 70 74 3E"},
        {"  a  b ", "20 20 61 20 20 62 20"},
        {"a\tb\r\n", "61 2409 62 240D 240A"},
        {"\x01\x1f\x7f", "2401 241F 2421"},
        {"\xc2\x80\xc2\x85", "80 85"},
        {"\xef\xbf\xbe\xef\xbf\xbf", "FFFD FFFD"},
        {"\xf4\x8f\xbf\xbf", "10FFFF"},
        {"\xe2\x80\xa8", "2028"},
        {"שלום", "5E9 5DC 5D5 5DD"},
        {"👩‍🔬", "1F469 200D 1F52C"},
        {"苹果", "82F9 679C"},
        {"e\xcc\x81", "E9"},
    };
    enum { N = sizeof cases / sizeof cases[0] };
    const char *labels[N];
    double w[N] = {0};
    for (int i = 0; i < N; i++) {
        labels[i] = cases[i].label;
    }
    const attn_heatmap_panel p = {.title = "<a&b>", .rows = N, .columns = 1, .values = w, .row_labels = labels};
    attn_document svg = svg_of((attn_heatmap_config){.panels = &p, .n_panels = 1, .title = "<&>", .annotate = ATTN_ANNOTATE_NONE}, NULL);
    char *line = strtok(answer("texts " FILE_NAME), "\n");
    assert_string_equal(line, "3C 26 3E");
    for (int i = 0; i < N; i++) {
        line = strtok(NULL, "\n");
        assert_non_null(line);
        assert_string_equal(line, cases[i].codes);
    }
    assert_string_equal(strtok(NULL, "\n"), "30"); /* the only column */
    assert_string_equal(strtok(NULL, "\n"), "3C 61 26 62 3E");
    assert_non_null(strstr(svg.text, "lang=\"zh-Hans\""));
    attn_document_free(&svg);
    assert_null(svg.text);
}

/* Every character there is, but for surrogates, a label each of 1024. */
static void every_character_is_well_formed(void **state)
{
    (void)state;
    char text[4 * 1024 + 1];
    for (unsigned from = 0; from < 0x110000; from += 1024) {
        size_t n = 0;
        for (unsigned c = from; c < from + 1024; c++) {
            if (c >= 0xd800 && c < 0xe000) {
                continue;
            }
            const unsigned char four[4] = {(unsigned char)(c < 0x80      ? c
                                                           : c < 0x800   ? 0xc0 | c >> 6
                                                           : c < 0x10000 ? 0xe0 | c >> 12
                                                                         : 0xf0 | c >> 18),
                                           (unsigned char)(0x80 | (c < 0x800     ? c
                                                                   : c < 0x10000 ? c >> 6
                                                                                 : c >> 12) %
                                                                      64),
                                           (unsigned char)(0x80 | (c < 0x10000 ? c : c >> 6) % 64), (unsigned char)(0x80 | c % 64)};
            size_t bytes = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
            memcpy(text + n, four, bytes);
            n += c == 0 ? 0 : bytes;
        }
        text[n] = '\0';
        if (from < 0x3000 || from % 0x10000 == 0xfc00) { /* the others hold nothing special, and each one costs a process */
            const double w[1] = {0};
            const char *const labels[1] = {""};
            const attn_heatmap_panel p = {.rows = 1, .columns = 1, .values = w, .title = text, .row_labels = labels};
            attn_document svg = svg_of((attn_heatmap_config){.panels = &p, .n_panels = 1}, NULL);
            (void)answer("texts " FILE_NAME);
            attn_document_free(&svg);
        }
    }
}

/* What the reader finds in the middle of each cell. */
static void colors_are(const attn_heatmap_panel *p, const attn_heatmap_layout *at, const char *cmap, int every)
{
    char arguments[4000] = "colors " FILE_NAME;
    for (int i = 0; i < p->rows * p->columns; i += every) {
        int x = at->panel[0].x + i % p->columns * at->cell_width, y = at->panel[0].y + i / p->columns * at->cell_height;
        (void)snprintf(arguments + strlen(arguments), sizeof arguments - strlen(arguments), " %d %d", x + at->cell_width / 2,
                       y + at->cell_height / 2);
    }
    char *line = strtok(answer(arguments), "\n");
    for (int i = 0; i < p->rows * p->columns; i += every, line = strtok(NULL, "\n")) {
        uint8_t rgb[3];
        char wanted[20];
        cell_color(cmap, p->values[i], rgb);
        (void)snprintf(wanted, sizeof wanted, "%02x%02x%02x", rgb[0], rgb[1], rgb[2]);
        assert_non_null(line);
        assert_string_equal(line, p->hidden != NULL && p->hidden[i] ? "url(#attn-masked)"
                                  : isnan(p->values[i])             ? "url(#attn-nan)"
                                                                    : wanted);
    }
}

static void cells_have_their_colours(void **state)
{
    (void)state;
    const double w[12] = {0, 0.1, 0.1, 0.1, 0.5, NAN, 0.5, 1, 0.9, 0.9, 0.2, 0.3};
    const uint8_t hidden[12] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0};
    const attn_heatmap_panel p = {.rows = 3, .columns = 4, .values = w, .hidden = hidden};
    attn_heatmap_layout at, of_png;
    attn_image image;
    attn_heatmap_config config = {.panels = &p, .n_panels = 1, .font = NO_FONT, .cmap = "viridis_r"};
    attn_document svg = svg_of(config, &at);
    assert_int_equal(attn_heatmap_draw(&config, &image, &of_png, NULL, NULL), ATTN_OK);
    assert_memory_equal(&at, &of_png, sizeof at);
    attn_image_free(&image);
    colors_are(&p, &at, "viridis_r", 1);
    assert_true(svg.size < 6000);
    assert_non_null(strstr(svg.text, ">0.50</text>"));
    attn_document_free(&svg);
}

/* 512 x 512 words: an image of a pixel a cell, and hidden ones hatched. */
static void large_matrices_are_small_files(void **state)
{
    (void)state;
    enum { N = 512 };
    double *w = calloc((size_t)N * N, sizeof *w);
    uint8_t *hidden = calloc((size_t)N * N, 1);
    assert_non_null(w);
    assert_non_null(hidden);
    for (int i = 0; i < N * N; i++) {
        w[i] = (i % 701) / 700.0;
        hidden[i] = i % N > i / N;
    }
    const attn_heatmap_panel p = {.rows = N, .columns = N, .values = w, .hidden = hidden};
    attn_heatmap_layout at;
    attn_document svg = svg_of((attn_heatmap_config){.panels = &p, .n_panels = 1}, &at);
    assert_true(svg.size < 400000);
    assert_contains(svg.notes, "one label in 10 is shown");
    colors_are(&p, &at, "blues", 16001);
    attn_document_free(&svg);
    free(hidden);
    free(w);
}

static void nothing_is_loaded_from_elsewhere(void **state)
{
    (void)state;
    double w[9];
    attn_heatmap_panel p = square(3, w);
    attn_document svg = svg_of((attn_heatmap_config){.panels = &p, .n_panels = 1}, NULL);
    int addresses = 0;
    for (const char *at = svg.text; (at = strstr(at, "//")) != NULL; at += 2) {
        addresses++;
    }
    assert_int_equal(addresses, 2); /* the names of the name spaces */
    assert_null(strstr(svg.text, "script"));
    attn_document_free(&svg);
}

static void without_memory_it_fails_cleanly(void **state)
{
    (void)state;
    double w[9];
    attn_heatmap_panel p = square(3, w);
    const attn_heatmap_config config = {.panels = &p, .n_panels = 1, .font = NO_FONT};
    attn_status status = ATTN_ENOMEM;
    for (long k = 1; status == ATTN_ENOMEM; k++) {
        counting_allocator c;
        counting_init(&c, k);
        attn_document svg;
        attn_error error;
        status = attn_heatmap_svg(&config, &svg, NULL, &c.value, &error);
        assert_true(status == ATTN_OK || (svg.text == NULL && strstr(error.message, "out of memory") != NULL));
        attn_document_free(&svg);
        assert_int_equal(c.live, 0);
    }
    assert_int_equal(status, ATTN_OK);
}

/* A Chinese label over a column too narrow for it: a text a character, one below the other; its brackets are turned. */
static void chinese_labels_stand_in_columns(void **state)
{
    (void)state;
    const double w[2] = {0.5, 0.5};
    const char *const row[1] = {"r"}, *const columns[2] = {"自(然)", "x"};
    const attn_heatmap_panel p = {.rows = 1, .columns = 2, .values = w, .row_labels = row, .column_labels = columns};
    attn_document svg = svg_of((attn_heatmap_config){.panels = &p, .n_panels = 1, .cell = 24, .annotate = ATTN_ANNOTATE_NONE}, NULL);
    assert_non_null(strstr(answer("texts " FILE_NAME), "\n81EA\n28\n7136\n29\n78\n"));
    int x[2], y[2];
    const char *first = strstr(svg.text, ">自</text>"), *second = strstr(svg.text, ">然</text>");
    assert_true(first != NULL && second != NULL);
    while (*first != '<') {
        first--;
    }
    while (*second != '<') {
        second--;
    }
    assert_int_equal(sscanf(first, "<text x=\"%d\" y=\"%d\">", &x[0], &y[0]), 2);
    assert_int_equal(sscanf(second, "<text x=\"%d\" y=\"%d\">", &x[1], &y[1]), 2);
    assert_int_equal(x[0], x[1]);
    assert_true(y[1] > y[0]);
    int turned = 0;
    for (const char *at = svg.text; (at = strstr(at, "rotate(90)")) != NULL; at++) {
        turned++;
    }
    assert_int_equal(turned, 2);
    attn_document_free(&svg);
}

/* Triangles at the ends of the colour bar: outlines and fills. */
static int points_of(double low, double high)
{
    const double w[2] = {low, high};
    const attn_heatmap_panel p = {.rows = 1, .columns = 2, .values = w};
    attn_document svg = svg_of((attn_heatmap_config){.panels = &p, .n_panels = 1, .vmin = 0.2, .vmax = 0.8}, NULL);
    int points = 0, base[2], width, back, height;
    for (const char *at = svg.text; (at = strstr(at, "<path d=\"M")) != NULL; at++) {
        if (sscanf(at, "<path d=\"M%d %dh%dl%d %dz", &base[0], &base[1], &width, &back, &height) == 5) {
            assert_int_equal(back, -(width / 2));
            assert_int_equal(abs(height), width / 2);
            points++;
        }
    }
    attn_document_free(&svg);
    return points;
}

static void the_bar_points_at_values_outside(void **state)
{
    (void)state;
    assert_int_equal(points_of(0.2, 0.8), 0);
    assert_int_equal(points_of(0.1, 0.8), 2);
    assert_int_equal(points_of(0.2, 0.9), 2);
    assert_int_equal(points_of(0.1, 0.9), 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(labels_arrive_as_they_are),        cmocka_unit_test(every_character_is_well_formed),
        cmocka_unit_test(cells_have_their_colours),         cmocka_unit_test(large_matrices_are_small_files),
        cmocka_unit_test(nothing_is_loaded_from_elsewhere), cmocka_unit_test(without_memory_it_fails_cleanly),
        cmocka_unit_test(chinese_labels_stand_in_columns),  cmocka_unit_test(the_bar_points_at_values_outside),
    };
    if (system("python3 -c '' 2>/dev/null") != 0) {
        (void)fprintf(stderr, "skipped: there is no python3\n");
        return 77;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}

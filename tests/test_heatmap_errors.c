/* Heatmaps that cannot be drawn: each refusal names what is wrong, nothing is left behind. */
#include "support/check.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "attn/heatmap.h"

/* A file that is no font: the built-in letters are used. */
#define NO_FONT ATTN_SOURCE_DIR "/tests/CMakeLists.txt"

static const double four[4] = {0.1, 0.2, 0.3, 0.4};
static const attn_heatmap_panel square = {.rows = 2, .columns = 2, .values = four};

static void refused(attn_heatmap_config config, attn_status expected, const char *part)
{
    counting_allocator c;
    counting_init(&c, 0);
    attn_image image;
    attn_error error = {0};
    assert_int_equal(attn_heatmap_draw(&config, &image, NULL, &c.value, &error), expected);
    assert_int_equal(error.status, expected);
    assert_contains(error.message, part);
    assert_null(image.rgb);
    assert_int_equal(c.live, 0);
    assert_int_equal(attn_heatmap_draw(&config, &image, NULL, NULL, NULL), expected);
}

static attn_heatmap_config with(const attn_heatmap_panel *p)
{
    return (attn_heatmap_config){.panels = p, .n_panels = 1, .font = NO_FONT};
}

static void a_wrong_configuration_is_refused(void **state)
{
    (void)state;
    attn_heatmap_config c = with(&square);
    c.cmap = "jet";
    refused(c, ATTN_EINVAL, "no colour map is called \"jet\"");
    c = with(&square);
    c.vmin = 1;
    c.vmax = 1;
    refused(c, ATTN_EINVAL, "the colours reach from 1 to 1, expected finite numbers with vmin < vmax");
    c.vmin = -INFINITY;
    refused(c, ATTN_EINVAL, "vmin < vmax");
    c.vmin = -1e308;
    c.vmax = 1e308;
    refused(c, ATTN_EINVAL, "vmin < vmax");
    c = with(&square);
    c.digits = 16;
    refused(c, ATTN_EINVAL, "digits 16");
    c = with(&square);
    c.scale = -1;
    refused(c, ATTN_EINVAL, "scale -1");
    c = with(&square);
    c.annotate = (attn_annotate)3;
    refused(c, ATTN_EINVAL, "annotate 3");
    c = with(&square);
    c.cell = -1;
    refused(c, ATTN_EINVAL, "cell -1");
    c = with(&square);
    c.annotate_top = -1;
    refused(c, ATTN_EINVAL, "annotate 0, annotate_top -1; they may be 0 to 2, and from 0");
    c = with(&square);
    c.n_panels = 0;
    refused(c, ATTN_EINVAL, "0 panels");
    c.n_panels = 65;
    refused(c, ATTN_EINVAL, "65 panels; 1 to 64");
    const attn_heatmap_panel empty = {.rows = 0, .columns = 2, .values = four}, nothing = {.rows = 1, .columns = 1};
    refused(with(&empty), ATTN_EINVAL, "panel 1 is empty (0 x 2)");
    refused(with(&nothing), ATTN_EINVAL, "panel 1 is empty");
}

static void labels_must_be_utf8(void **state)
{
    (void)state;
    const char *const bad[][2] = {{"ok", "a\xff"}, {"ok", "\xe6\x89"}, {"ok", "\xc0\x80"}, {"ok", "x\xed\xa0\x80"}};
    const char *const offsets[] = {"offset 1", "offset 0", "offset 0", "offset 1"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        attn_heatmap_panel p = square;
        p.column_labels = bad[i];
        refused(with(&p), ATTN_EFORMAT, "column label 2 of panel 1 is not UTF-8");
        refused(with(&p), ATTN_EFORMAT, offsets[i]);
    }
    attn_heatmap_panel p = square;
    p.row_labels = bad[0];
    refused(with(&p), ATTN_EFORMAT, "row label 2 of panel 1");
    attn_heatmap_config c = with(&square);
    c.bar_title = "\x80";
    refused(c, ATTN_EFORMAT, "bar title");
}

static void a_font_that_is_not_there_is_an_error(void **state)
{
    (void)state;
    attn_heatmap_config c = with(&square);
    c.font = "no/such/font.ttf";
    refused(c, ATTN_EIO, "no/such/font.ttf: ");
    c.font = "no/such/font.ttf:3";
    refused(c, ATTN_EIO, "no/such/font.ttf: ");
}

/* Fails every allocation of more than a hundred megabytes: a picture that is accepted then ends with ATTN_ENOMEM instead of taking the
 * memory. */
static void *small_only(void *ctx, size_t size)
{
    (void)ctx;
    return size > (size_t)100 << 20 ? NULL : malloc(size);
}

static void give_back(void *ctx, void *ptr)
{
    (void)ctx;
    free(ptr);
}

static attn_status with_cell(attn_heatmap_config c, int cell, attn_error *error)
{
    const attn_allocator allocator = {small_only, give_back, NULL};
    attn_image image;
    c.cell = cell;
    return attn_heatmap_draw(&c, &image, NULL, &allocator, error);
}

/* 4000 words with cells of 24 pixels: the message has the size and the largest cell that would do. */
static void too_large_a_picture_is_refused_with_advice(void **state)
{
    (void)state;
    enum { N = 4000 };
    double *w = calloc((size_t)N * N, sizeof *w);
    assert_non_null(w);
    const attn_heatmap_panel p = {.rows = N, .columns = N, .values = w};
    attn_error error = {0};
    assert_int_equal(with_cell(with(&p), 24, &error), ATTN_ESHAPE);
    int width = 0, height = 0, cell = 0;
    assert_int_equal(sscanf(error.message, "heatmap: %d x %d pixels are too many for one picture; cells of %d", &width, &height, &cell), 3);
    assert_in_range(width, 24 * N, 24 * N + 500);
    assert_in_range(height, 24 * N, 24 * N + 500);
    assert_in_range(cell, 1, 23);
    assert_int_equal(with_cell(with(&p), cell + 1, &error), ATTN_ESHAPE);
    assert_int_equal(with_cell(with(&p), cell, &error), ATTN_ENOMEM);
    free(w);
}

/* Cells grow for numbers that must be there, so that smaller ones are no advice. */
static void too_many_numbers_are_refused_with_advice(void **state)
{
    (void)state;
    enum { N = 700 };
    double *w = calloc((size_t)N * N, sizeof *w);
    assert_non_null(w);
    const attn_heatmap_panel p = {.rows = N, .columns = N, .values = w};
    attn_heatmap_config c = with(&p);
    attn_error error = {0};
    c.annotate = ATTN_ANNOTATE_ALL;
    c.digits = 9;
    assert_int_equal(with_cell(c, 0, &error), ATTN_ESHAPE);
    assert_contains(error.message, "pixels are too many for one picture; numbers only where they fit would do");
    assert_int_equal(with_cell(c, 5, &error), ATTN_ESHAPE);
    assert_contains(error.message, "; numbers only where they fit would do");
    c.annotate = ATTN_ANNOTATE_AUTO;
    attn_image image;
    assert_int_equal(attn_heatmap_draw(&c, &image, NULL, NULL, &error), ATTN_OK);
    attn_image_free(&image);
    free(w);
}

static void a_matrix_beyond_all_cells_is_refused(void **state)
{
    (void)state;
    enum { N = 700 };
    double *w = calloc((size_t)N * N, sizeof *w);
    assert_non_null(w);
    attn_heatmap_panel p = {.rows = N, .columns = N, .values = w};
    attn_heatmap_config c = with(&p);
    c.scale = 16;
    refused(c, ATTN_ESHAPE, "; a scale of 10 would do");
    c.cell = 100000; /* 10^9 pixels a side: their number does not fit 64 bits as bytes */
    refused(c, ATTN_ESHAPE, "; scale 1 and cells without a given size would do");
    c.scale = 10;
    c.cell = 0;
    attn_image image;
    const attn_allocator allocator = {small_only, give_back, NULL};
    assert_int_equal(attn_heatmap_draw(&c, &image, NULL, &allocator, NULL), ATTN_ENOMEM); /* it is true */
    p.rows = 65537;
    refused(c, ATTN_ESHAPE, "panel 1 has 65537 x 700 cells; at most 65536 a side can be drawn");
    free(w);
}

/* Fails allocation 1, 2, ...; the first picture that is drawn is whole. Large letters, so that drawing them needs memory too. */
static void without_memory(const char *font)
{
    const char *const words[] = {"苹果", "a phone"};
    attn_heatmap_panel p = square;
    p.row_labels = p.column_labels = words;
    attn_heatmap_config config = with(&p);
    config.font = font;
    config.scale = 6;
    attn_image whole;
    assert_int_equal(attn_heatmap_draw(&config, &whole, NULL, NULL, NULL), ATTN_OK);
    attn_status status = ATTN_ENOMEM;
    long k = 0;
    while (status == ATTN_ENOMEM) {
        counting_allocator c;
        counting_init(&c, ++k);
        attn_image image;
        attn_error error = {0};
        status = attn_heatmap_draw(&config, &image, NULL, &c.value, &error);
        if (status == ATTN_ENOMEM) {
            assert_null(image.rgb);
            assert_contains(error.message, "out of memory");
        } else {
            assert_memory_equal(image.rgb, whole.rgb, 3 * (size_t)whole.width * (size_t)whole.height);
        }
        attn_image_free(&image);
        assert_int_equal(c.live, 0);
    }
    assert_int_equal(status, ATTN_OK);
    assert_true(k > 3);
    attn_image_free(&whole);
}

static void drawing_without_memory_fails_cleanly(void **state)
{
    (void)state;
    without_memory(NO_FONT);
    without_memory(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_wrong_configuration_is_refused),         cmocka_unit_test(labels_must_be_utf8),
        cmocka_unit_test(a_font_that_is_not_there_is_an_error),     cmocka_unit_test(too_large_a_picture_is_refused_with_advice),
        cmocka_unit_test(too_many_numbers_are_refused_with_advice), cmocka_unit_test(a_matrix_beyond_all_cells_is_refused),
        cmocka_unit_test(drawing_without_memory_fails_cleanly),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

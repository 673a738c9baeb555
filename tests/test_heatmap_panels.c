/* Several panels, very large ones, and the range of their colours. Drawn with the built-in letters. */
#include "support/check.h"

#include <math.h>
#include <stdlib.h>

#include "attn/heatmap.h"
#include "support/picture.h"

static void panels_share_one_scale(void **state)
{
    (void)state;
    const double a[4] = {0.1, 0.2, 0.3, 0.4}, b[6] = {0.4, 0.3, 0.2, 0.1, 0.9, 1};
    const attn_heatmap_panel panels[3] = {{.title = "one", .rows = 2, .columns = 2, .values = a},
                                          {.title = "two", .rows = 2, .columns = 3, .values = b},
                                          {.rows = 1, .columns = 2, .values = a}};
    drawing d = draw((attn_heatmap_config){.panels = panels, .n_panels = 3, .title = "three", .annotate = ATTN_ANNOTATE_NONE}, panels[0]);
    assert_int_equal(d.at.n_panels, 3);
    for (int i = 1; i < 3; i++) { /* side by side */
        assert_int_equal(d.at.panel[i].y, d.at.panel[0].y);
        assert_true(d.at.panel[i].x > d.at.panel[i - 1].x + d.at.panel[i - 1].columns * d.at.cell_width + 20);
    }
    assert_int_equal(d.at.panel[1].columns, 3);
    cell_is(&d, 0, 1, 1, 0.4);
    cell_is(&d, 1, 0, 0, 0.4);
    cell_is(&d, 1, 1, 2, 1);
    cell_is(&d, 2, 0, 1, 0.2);
    attn_image_free(&d.image);
}

/* Panels of `columns` words, in groups, no wider than `most`; where[i] is the row and the column of panel i in the grid. */
static void wide_grid_is(int most, int n, int columns, const int group[], const int where[][2])
{
    double w[128] = {0};
    attn_heatmap_panel panels[16];
    for (int i = 0; i < n; i++) {
        panels[i] = (attn_heatmap_panel){.rows = 2, .columns = columns, .values = w, .group = group[i]};
    }
    drawing d = draw((attn_heatmap_config){.panels = panels, .n_panels = n, .annotate = ATTN_ANNOTATE_NONE}, panels[0]);
    for (int i = 0; i < n; i++) {
        for (int k = 0; k < n; k++) {
            assert_int_equal(d.at.panel[i].y == d.at.panel[k].y, where[i][0] == where[k][0]);
            assert_int_equal(d.at.panel[i].y < d.at.panel[k].y, where[i][0] < where[k][0]);
            assert_int_equal(d.at.panel[i].x == d.at.panel[k].x, where[i][1] == where[k][1]);
            assert_int_equal(d.at.panel[i].x < d.at.panel[k].x, where[i][1] < where[k][1]);
        }
    }
    assert_true(d.image.width < most);
    attn_image_free(&d.image);
}

static void grid_is(int n, int columns, const int group[], const int where[][2])
{
    wide_grid_is(1600, n, columns, group, where);
}

/* A group begins a row, unless every group is one panel; rows are no wider than 1400 pixels, twice that if there are as many
 * rows as columns, and as even as they can be. */
static void panels_stand_in_a_grid(void **state)
{
    (void)state;
    grid_is(4, 3, (const int[]){0, 0, 1, 1}, (const int[][2]){{0, 0}, {0, 1}, {1, 0}, {1, 1}});
    grid_is(4, 3, (const int[]){0, 1, 2, 3}, (const int[][2]){{0, 0}, {0, 1}, {0, 2}, {0, 3}});
    grid_is(4, 6, (const int[]){0, 0, 0, 0}, (const int[][2]){{0, 0}, {0, 1}, {1, 0}, {1, 1}});
    grid_is(4, 6, (const int[]){0, 1, 2, 3}, (const int[][2]){{0, 0}, {0, 1}, {1, 0}, {1, 1}});
    grid_is(5, 6, (const int[]){0, 0, 0, 1, 2}, (const int[][2]){{0, 0}, {0, 1}, {0, 2}, {1, 0}, {2, 0}});
    grid_is(3, 22, (const int[]){0, 0, 0}, (const int[][2]){{0, 0}, {0, 1}, {1, 0}});
    grid_is(2, 64, (const int[]){0, 0}, (const int[][2]){{0, 0}, {1, 0}});
    const int one[16] = {0}, square[16][2] = {{0, 0}, {0, 1}, {0, 2}, {0, 3}, {1, 0}, {1, 1}, {1, 2}, {1, 3},
                                              {2, 0}, {2, 1}, {2, 2}, {2, 3}, {3, 0}, {3, 1}, {3, 2}, {3, 3}};
    wide_grid_is(3000, 16, 6, one, square);
    wide_grid_is(3000, 8, 64, one, (const int[][2]){{0, 0}, {0, 1}, {1, 0}, {1, 1}, {2, 0}, {2, 1}, {3, 0}, {3, 1}});
}

/* Dark in the middle of nowhere: the only large value of its block. */
static void blocks_keep_their_maximum(void **state)
{
    (void)state;
    enum { N = 3201 }; /* two more than 1600 cells of 2 x 2 */
    double *w = calloc((size_t)N * N, sizeof *w), v;
    uint8_t *hidden = calloc((size_t)N * N, 1);
    assert_non_null(w);
    assert_non_null(hidden);
    const int hot[][2] = {{0, 0}, {1, 7}, {1000, 2001}, {3200, 5}, {3200, 3200}};
    for (size_t i = 0; i < sizeof hot / sizeof hot[0]; i++) {
        w[(size_t)hot[i][0] * N + (size_t)hot[i][1]] = 0.5 + 0.1 * (double)i;
    }
    hidden[0] = 1; /* the hot one */
    for (int r = 30; r < 33; r++) {
        for (int c = 30; c < 33; c++) {
            hidden[(size_t)r * N + (size_t)c] = 1; /* a block */
        }
    }
    w[30 * N + 40] = NAN;
    w[30 * N + 41] = -1; /* is more than nothing */
    attn_heatmap_panel p = {.rows = N, .columns = N, .values = w, .hidden = hidden};
    drawing d = draw((attn_heatmap_config){0}, p);
    assert_int_equal(d.at.block, 3);
    assert_int_equal(d.at.cell_width, 1);
    assert_int_equal(d.at.panel[0].rows, 1067);
    assert_int_equal(d.at.panel[0].columns, 1067);
    assert_false(d.at.numbers);
    for (size_t i = 0; i < sizeof hot / sizeof hot[0]; i++) {
        v = i == 0 ? 0 : 0.5 + 0.1 * (double)i;
        cell_is(&d, 0, hot[i][0] / 3, hot[i][1] / 3, v);
    }
    cell_is(&d, 0, 10, 13, 0);
    const uint8_t *q = pixel_at(&d.image, d.at.panel[0].x + 10, d.at.panel[0].y + 10);
    assert_true(is_hatch(q));
    assert_contains(d.image.notes, "each cell of the picture is the maximum of 3 x 3 values");
    assert_contains(d.image.notes, "one label in 60 is shown");
    int below = d.at.panel[0].y + 1067 + 34;
    assert_true(ink_in(&d.image, d.at.panel[0].x, below, d.at.panel[0].x + 300, below + 20) > 150); /* and in the picture */
    attn_image_free(&d.image);
    free(hidden);
    free(w);
}

/* Zero is lightest wherever it lies in the range, and v as dark as -v. */
static void diverging_colours_are_centred_at_0(void **state)
{
    (void)state;
    const double w[6] = {-1, 0, 1, 2, 3, 4};
    attn_heatmap_panel p = {.rows = 1, .columns = 6, .values = w};
    const double ranges[][4] = {{0, 0, -4, 4}, {-1, 4, -4, 4}, {NAN, NAN, -4, 4}, {NAN, 4, -4, 4}, {-8, 4, -8, 8}, {-1, NAN, -4, 4}};
    for (size_t i = 0; i < sizeof ranges / sizeof ranges[0]; i++) {
        attn_heatmap_config c = {.cmap = "blue_red", .annotate = ATTN_ANNOTATE_NONE, .vmin = ranges[i][0], .vmax = ranges[i][1]};
        drawing d = draw(c, p);
        for (int k = 0; k < 6; k++) {
            uint8_t rgb[3];
            cell_color("blue_red", (w[k] - ranges[i][2]) / (ranges[i][3] - ranges[i][2]), rgb);
            assert_true(pixel_is(&d.image, d.at.panel[0].x + k * d.at.cell_width, d.at.panel[0].y, rgb));
        }
        attn_image_free(&d.image);
    }
}

/* Only the finite and visible values have a say; a constant matrix has a range too. */
static void the_range_follows_the_values_if_asked(void **state)
{
    (void)state;
    const double w[6] = {-2, 3, INFINITY, -INFINITY, NAN, 99}, same[2] = {7, 7}, none[2] = {NAN, NAN};
    const uint8_t hidden[6] = {0, 0, 0, 0, 0, 1};
    attn_heatmap_config c = {.vmin = NAN, .vmax = NAN, .annotate = ATTN_ANNOTATE_NONE};
    drawing d = draw(c, (attn_heatmap_panel){.rows = 1, .columns = 6, .values = w, .hidden = hidden});
    const double shown[4] = {0, 1, 1, 0};
    for (int k = 0; k < 4; k++) {
        cell_is(&d, 0, 0, k, shown[k]);
    }
    attn_image_free(&d.image);
    d = draw(c, (attn_heatmap_panel){.rows = 1, .columns = 2, .values = same});
    cell_is(&d, 0, 0, 0, 0.5);
    attn_image_free(&d.image);
    d = draw(c, (attn_heatmap_panel){.rows = 1, .columns = 2, .values = none});
    assert_true(is_hatch(pixel_at(&d.image, d.at.panel[0].x, d.at.panel[0].y)));
    attn_image_free(&d.image);
    c.vmax = 5;
    d = draw(c, (attn_heatmap_panel){.rows = 1, .columns = 6, .values = w, .hidden = hidden});
    cell_is(&d, 0, 0, 1, 5.0 / 7);
    attn_image_free(&d.image);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(panels_share_one_scale),
        cmocka_unit_test(panels_stand_in_a_grid),
        cmocka_unit_test(blocks_keep_their_maximum),
        cmocka_unit_test(diverging_colours_are_centred_at_0),
        cmocka_unit_test(the_range_follows_the_values_if_asked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

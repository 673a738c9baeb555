/* Heatmaps: right colours in the right cells, every label and number in its place, and refusals. Drawn with the built-in letters, so that
 * the machine's fonts do not matter. */
#include "support/check.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "attn/heatmap.h"
#include "support/picture.h"

/* x of the colour bar's left edge: the first pixel right of the cells, in their top row, with the darkest colour. */
static int find_bar(const drawing *d)
{
    uint8_t top[3];
    cell_color("blues", 1, top);
    for (int x = d->at.panel[0].x + d->at.panel[0].columns * d->at.cell_width + 4; x < d->image.width; x++) {
        if (pixel_is(&d->image, x, d->at.panel[0].y, top)) {
            return x;
        }
    }
    fail_msg("no colour bar");
    return 0;
}

static void rows_are_queries_and_columns_are_keys(void **state)
{
    (void)state;
    const double w[10] = {0, 0, 0, 0, 1};
    drawing d = draw((attn_heatmap_config){.annotate = ATTN_ANNOTATE_NONE}, (attn_heatmap_panel){.rows = 2, .columns = 5, .values = w});
    assert_int_equal(d.at.n_panels, 1);
    assert_int_equal(d.at.panel[0].rows, 2);
    assert_int_equal(d.at.panel[0].columns, 5);
    cell_is(&d, 0, 0, 4, 1);
    for (int c = 0; c < 5; c++) {
        cell_is(&d, 0, 1, c, 0);
    }
    cell_is(&d, 0, 0, 0, 0);
    attn_image_free(&d.image);
}

static void all_cells_are_of_one_size_and_of_the_maps_colours(void **state)
{
    (void)state;
    double w[35];
    for (int i = 0; i < 35; i++) {
        w[i] = i / 34.0;
    }
    for (int scale = 1; scale <= 3; scale++) {
        drawing d = draw((attn_heatmap_config){.annotate = ATTN_ANNOTATE_NONE, .scale = scale},
                         (attn_heatmap_panel){.rows = 5, .columns = 7, .values = w});
        assert_int_equal(d.at.cell_width, 64 * scale);
        assert_int_equal(d.at.cell_height, 64 * scale);
        for (int i = 0; i < 35; i++) {
            cell_is(&d, 0, i / 7, i % 7, w[i]);
        }
        attn_image_free(&d.image);
    }
}

/* Test test_cmap shows that no map has these greys. */
static void cells_without_a_value_are_hatched_and_explained(void **state)
{
    (void)state;
    const double w[4] = {0, NAN, 0.5, 1};
    const uint8_t hidden[4] = {0, 0, 0, 1};
    attn_heatmap_panel p = {.rows = 2, .columns = 2, .values = w, .hidden = hidden};
    drawing d = draw((attn_heatmap_config){0}, p);
    const int place[2][2] = {{1, 0}, {1, 1}};
    for (int k = 0; k < 2; k++) {
        int x = d.at.panel[0].x + place[k][0] * d.at.cell_width, y = d.at.panel[0].y + place[k][1] * d.at.cell_height, lines = 0;
        for (int i = 0; i < d.at.cell_height; i++) {
            for (int j = 0; j < d.at.cell_width; j++) {
                const uint8_t *q = pixel_at(&d.image, x + j, y + i);
                assert_true(is_hatch(q));
                lines += q[0] == 0x9a;
            }
        }
        assert_int_equal(lines, d.at.cell_width * d.at.cell_height / 8);
    }
    int legend = 0, below = d.at.panel[0].y + 2 * d.at.cell_height + 4;
    for (int y = below; y < d.image.height; y++) {
        legend += is_hatch(pixel_at(&d.image, d.at.panel[0].x + 5, y));
    }
    assert_int_equal(legend, 16);
    assert_true(ink_in(&d.image, d.at.panel[0].x + 24, below, d.at.panel[0].x + 120, d.image.height) > 50);
    p.values = (const double[]){0, 0, 0.5, 1};
    p.hidden = NULL;
    drawing plain = draw((attn_heatmap_config){0}, p);
    assert_true(plain.image.height < d.image.height); /* no legend where nothing is to be explained */
    attn_image_free(&plain.image);
    attn_image_free(&d.image);
}

/* Whatever a hidden cell holds: the same picture. */
static void hidden_values_do_not_show(void **state)
{
    (void)state;
    const uint8_t hidden[4] = {0, 1, 0, 0};
    const double held[] = {0.3, 10000, -5, INFINITY, NAN};
    drawing first = {0};
    for (size_t i = 0; i < sizeof held / sizeof held[0]; i++) {
        const double w[4] = {0, held[i], 0.5, 1};
        drawing d = draw((attn_heatmap_config){0}, (attn_heatmap_panel){.rows = 2, .columns = 2, .values = w, .hidden = hidden});
        if (i == 0) {
            first = d;
            continue;
        }
        assert_int_equal(d.image.width, first.image.width);
        assert_memory_equal(d.image.rgb, first.image.rgb, 3 * (size_t)d.image.width * (size_t)d.image.height);
        attn_image_free(&d.image);
    }
    attn_image_free(&first.image);
}

static void the_bar_runs_from_0_to_1_whatever_the_values(void **state)
{
    (void)state;
    const double all[4] = {0.25, 0.25, 0.25, 0.25}, other[4] = {0.25, 0.75, 0, 0};
    uint8_t low[3], high[3];
    cell_color("blues", 0, low);
    cell_color("blues", 1, high);
    const double *const values[2] = {all, other};
    for (int i = 0; i < 2; i++) {
        drawing d =
            draw((attn_heatmap_config){.annotate = ATTN_ANNOTATE_NONE}, (attn_heatmap_panel){.rows = 2, .columns = 2, .values = values[i]});
        cell_is(&d, 0, 0, 0, 0.25);
        int x = find_bar(&d), top = d.at.panel[0].y, bottom = top + 2 * d.at.cell_height - 1;
        assert_true(pixel_is(&d.image, x, top, high));
        assert_true(pixel_is(&d.image, x, bottom, low));
        assert_false(pixel_is(&d.image, x, top - 1, high));
        assert_false(pixel_is(&d.image, x, bottom + 1, low));
        attn_image_free(&d.image);
    }
}

static void values_outside_the_range_are_clipped_and_marked(void **state)
{
    (void)state;
    const double w[4] = {-3, 0.1, 0.2, 7};
    drawing d = draw((attn_heatmap_config){.annotate = ATTN_ANNOTATE_NONE}, (attn_heatmap_panel){.rows = 2, .columns = 2, .values = w});
    cell_is(&d, 0, 0, 0, 0);
    cell_is(&d, 0, 1, 1, 1);
    uint8_t low[3], high[3];
    cell_color("blues", 0, low);
    cell_color("blues", 1, high);
    int x = find_bar(&d) + 8, top = d.at.panel[0].y, bottom = top + 2 * d.at.cell_height - 1;
    assert_true(pixel_is(&d.image, x, top - 3, high));
    assert_true(pixel_is(&d.image, x, bottom + 3, low));
    attn_image_free(&d.image);
    d = draw((attn_heatmap_config){.vmin = -3, .vmax = 7, .annotate = ATTN_ANNOTATE_NONE},
             (attn_heatmap_panel){.rows = 2, .columns = 2, .values = w});
    cell_is(&d, 0, 0, 1, 0.31);
    assert_true(pixel_is(&d.image, x, top - 3, white));
    attn_image_free(&d.image);
}

/* Pixels of the cell that have not its colour. */
static int number_ink(const drawing *d, const double *w, int row, int column)
{
    int n = d->at.panel[0].columns, ink = 0;
    uint8_t rgb[3];
    cell_color("blues", w[row * n + column], rgb);
    int x = d->at.panel[0].x + column * d->at.cell_width, y = d->at.panel[0].y + row * d->at.cell_height;
    for (int i = 0; i < d->at.cell_height; i++) {
        for (int j = 0; j < d->at.cell_width; j++) {
            bool other = !pixel_is(&d->image, x + j, y + i, rgb);
            assert_false(other && (i == 0 || j == 0 || i == d->at.cell_height - 1 || j == d->at.cell_width - 1)); /* numbers stay inside */
            ink += other;
        }
    }
    return ink;
}

static void every_cell_shows_its_number(void **state)
{
    (void)state;
    double w[64];
    attn_heatmap_panel p = square(8, w);
    int ink[3];
    for (int digits = 1; digits <= 3; digits++) {
        drawing d = draw((attn_heatmap_config){.digits = digits}, p);
        assert_true(d.at.numbers);
        ink[digits - 1] = 0;
        for (int i = 0; i < 64; i++) {
            int n = number_ink(&d, w, i / 8, i % 8);
            assert_true(n > 20);
            ink[digits - 1] += n;
        }
        attn_image_free(&d.image);
    }
    assert_true(ink[0] < ink[1] && ink[1] < ink[2]);
    drawing none = draw((attn_heatmap_config){.annotate = ATTN_ANNOTATE_NONE}, p), whole = draw((attn_heatmap_config){.digits = -1}, p);
    assert_int_equal(number_ink(&none, w, 3, 3), 0);
    assert_string_equal(strstr(none.image.notes, "numbers") == NULL ? "" : none.image.notes, "");
    assert_true(number_ink(&whole, w, 3, 3) > 0);
    attn_image_free(&none.image);
    attn_image_free(&whole.image);
}

/* Row by row; a hidden cell is none of the largest, and of equal ones the first is. */
static void numbers_in_the_largest_cells_only(void **state)
{
    (void)state;
    const double w[8] = {0.2, 0.5, 0.3, 0.9, 0.25, 0.25, 0.25, 0.25};
    const uint8_t hidden[8] = {0, 0, 0, 1, 0, 0, 0, 0};
    const bool numbered[8] = {false, true, true, false, true, true, false, false};
    drawing d =
        draw((attn_heatmap_config){.annotate_top = 2}, (attn_heatmap_panel){.rows = 2, .columns = 4, .values = w, .hidden = hidden});
    assert_true(d.at.numbers);
    for (int i = 0; i < 8; i++) {
        if (!hidden[i]) {
            assert_int_equal(number_ink(&d, w, i / 4, i % 4) > 20, numbered[i]);
        }
    }
    attn_image_free(&d.image);
}

/* Counts in cells that have the colours of shares: the colours are those of the values, the numbers are those of a picture of the numbers
 * themselves, all of whose colours are clipped to the first. */
static void cells_show_other_numbers_than_their_values(void **state)
{
    (void)state;
    const double zero[4] = {0}, counts[4] = {12345, 6, 78, 0}, shares[4] = {0.25, 0.5, 0.75, 1};
    attn_heatmap_panel p = {.rows = 2, .columns = 2, .values = zero, .numbers = counts};
    drawing d = draw((attn_heatmap_config){.digits = -1, .cell = 64}, p);
    p = (attn_heatmap_panel){.rows = 2, .columns = 2, .values = counts};
    drawing plain = draw((attn_heatmap_config){.digits = -1, .cell = 64, .vmin = 1e6, .vmax = 2e6}, p);
    assert_true(d.at.numbers);
    for (int i = 0; i < 128; i++) {
        for (int j = 0; j < 128; j++) {
            const uint8_t *wanted = pixel_at(&plain.image, plain.at.panel[0].x + j, plain.at.panel[0].y + i);
            assert_true(pixel_is(&d.image, d.at.panel[0].x + j, d.at.panel[0].y + i, wanted));
        }
    }
    attn_image_free(&plain.image);
    attn_image_free(&d.image);
    p = (attn_heatmap_panel){.rows = 2, .columns = 2, .values = shares, .numbers = counts};
    d = draw((attn_heatmap_config){.annotate = ATTN_ANNOTATE_NONE}, p);
    for (int i = 0; i < 4; i++) {
        cell_is(&d, 0, i / 2, i % 2, shares[i]);
    }
    attn_image_free(&d.image);
    d = draw((attn_heatmap_config){.digits = -1, .annotate = ATTN_ANNOTATE_ALL, .cell = 20}, p);
    assert_true(d.at.cell_width > 36); /* five digits wide, where the shares would be one */
    attn_image_free(&d.image);
}

/* Sixty words leave no room for numbers, unless the cells grow. */
static void cells_grow_until_numbers_fit(void **state)
{
    (void)state;
    double w[3600];
    drawing d = draw((attn_heatmap_config){.annotate = ATTN_ANNOTATE_ALL}, square(60, w));
    assert_true(d.at.numbers && d.at.cell_width > 20);
    for (int i = 0; i < 3600; i++) {
        assert_true(number_ink(&d, w, i / 60, i % 60) > 20);
    }
    attn_image_free(&d.image);
}

static void the_same_input_gives_the_same_bytes(void **state)
{
    (void)state;
    double w[64];
    drawing a = draw((attn_heatmap_config){.title = "t"}, square(8, w)), b = draw((attn_heatmap_config){.title = "t"}, square(8, w));
    assert_memory_equal(a.image.rgb, b.image.rgb, 3 * (size_t)a.image.width * (size_t)a.image.height);
    attn_image_free(&a.image);
    attn_image_free(&b.image);
    assert_null(a.image.rgb);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_are_queries_and_columns_are_keys),
        cmocka_unit_test(all_cells_are_of_one_size_and_of_the_maps_colours),
        cmocka_unit_test(cells_without_a_value_are_hatched_and_explained),
        cmocka_unit_test(hidden_values_do_not_show),
        cmocka_unit_test(the_bar_runs_from_0_to_1_whatever_the_values),
        cmocka_unit_test(values_outside_the_range_are_clipped_and_marked),
        cmocka_unit_test(every_cell_shows_its_number),
        cmocka_unit_test(numbers_in_the_largest_cells_only),
        cmocka_unit_test(cells_show_other_numbers_than_their_values),
        cmocka_unit_test(cells_grow_until_numbers_fit),
        cmocka_unit_test(the_same_input_gives_the_same_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Colours: the maps themselves, and text that can be read on every one of them. */
#include "support/check.h"

#include <math.h>

#include "attn/heatmap.h"

static double contrast(double a, double b)
{
    return (fmax(a, b) + 0.05) / (fmin(a, b) + 0.05);
}

static void color_is(const char *name, double v, uint8_t r, uint8_t g, uint8_t b)
{
    uint8_t rgb[3];
    attn_cmap_color(attn_cmap_find(name), v, rgb);
    assert_int_equal(rgb[0], r);
    assert_int_equal(rgb[1], g);
    assert_int_equal(rgb[2], b);
}

static void maps_are_found_by_name(void **state)
{
    (void)state;
    const char *const names[] = {"blues", "viridis_r", "cividis_r", "magma_r", "greys", "blue_red"};
    assert_int_equal(attn_cmap_count(), 6);
    for (int i = 0; i < 6; i++) {
        assert_string_equal(attn_cmap_name(i), names[i]);
        assert_int_equal(attn_cmap_find(names[i]), i);
        assert_int_equal(attn_cmap_diverges(i), i == 5);
    }
    assert_int_equal(attn_cmap_find("jet"), -1);
    assert_null(attn_cmap_name(-1));
    assert_null(attn_cmap_name(6));
    assert_false(attn_cmap_diverges(-1));
    assert_false(attn_cmap_diverges(6));
}

/* The published tables, read from the other end. */
static void known_colors(void **state)
{
    (void)state;
    color_is("viridis_r", 0, 0xfd, 0xe7, 0x25);
    color_is("viridis_r", 1, 0x44, 0x01, 0x54);
    color_is("magma_r", 1, 0, 0, 4);
    color_is("cividis_r", 0, 0xfe, 0xe8, 0x38);
    color_is("blues", 0, 0xf8, 0xfa, 0xfd);
    color_is("blues", 1, 0x12, 0x27, 0x4f);
    color_is("viridis_r", 127.0 / 255, 0x20, 0x90, 0x8c); /* between two anchors; the table has 21918c at 128 and 1f948c at 130 */
}

static void values_outside_are_clipped(void **state)
{
    (void)state;
    color_is("blues", -7, 0xf8, 0xfa, 0xfd);
    color_is("blues", -INFINITY, 0xf8, 0xfa, 0xfd);
    color_is("blues", 1.0001, 0x12, 0x27, 0x4f);
    color_is("blues", 254.6 / 255, 0x12, 0x27, 0x4f); /* the nearest of 256 colours */
    color_is("blues", INFINITY, 0x12, 0x27, 0x4f);
    uint8_t rgb[3] = {1, 2, 3};
    attn_cmap_color(99, 0.5, rgb);
    assert_int_equal(rgb[0] + rgb[1] + rgb[2], 0);
}

static void luminance_is_that_of_wcag(void **state)
{
    (void)state;
    assert_close(attn_luminance((const uint8_t[]){255, 255, 255}), 1, 1e-12, 0);
    assert_close(attn_luminance((const uint8_t[]){0, 0, 0}), 0, 0, 0);
    assert_close(attn_luminance((const uint8_t[]){255, 0, 0}), 0.2126, 1e-12, 0);
    assert_close(attn_luminance((const uint8_t[]){0, 255, 0}), 0.7152, 1e-12, 0);
    assert_close(attn_luminance((const uint8_t[]){10, 10, 10}), 10 / 255.0 / 12.92, 1e-12, 0);
    assert_close(contrast(attn_luminance((const uint8_t[]){0x76, 0x76, 0x76}), 1), 4.54, 2e-3, 0); /* the known lightest grey with 4.5:1 */
}

static void text_is_readable_on_every_step_of_every_map(void **state)
{
    (void)state;
    for (int map = 0; map < attn_cmap_count(); map++) {
        for (int step = 0; step < 256; step++) {
            uint8_t rgb[3];
            attn_cmap_color(map, step / 255.0, rgb);
            double ratio = contrast(attn_luminance(rgb), attn_black_text(rgb) ? 0 : 1);
            if (!(ratio >= 4.5)) {
                print_error("%s, step %d: contrast %g\n", attn_cmap_name(map), step, ratio);
                fail();
            }
        }
    }
}

/* Four steps further is always darker, on diverging maps away from the middle, where steps 127 and 128 lie; a single step may be level, for
 * colours have 8 bits. */
static void darker_is_more(void **state)
{
    (void)state;
    for (int map = 0; map < attn_cmap_count(); map++) {
        int sides = attn_cmap_diverges(map) ? 2 : 1, first = sides == 2 ? 128 : 0;
        for (int side = 0; side < sides; side++) {
            double y[256];
            for (int step = first; step < 256; step++) {
                uint8_t rgb[3];
                attn_cmap_color(map, (side == 0 ? step : 255 - step) / 255.0, rgb);
                y[step] = attn_luminance(rgb);
                bool darker = step < first + 4 || y[step] < y[step - 4], level = step < first + 1 || y[step] < y[step - 1] + 0.0005;
                if (!darker || !level) {
                    print_error("%s: step %d on side %d is too light\n", attn_cmap_name(map), step, side);
                    fail();
                }
            }
        }
    }
}

/* Of a diverging map both sides are about as dark, so that a grey print shows how far from 0 a value is. */
static void both_sides_are_equally_dark(void **state)
{
    (void)state;
    int map = attn_cmap_find("blue_red");
    for (int step = 128; step < 256; step++) {
        uint8_t up[3], down[3];
        attn_cmap_color(map, step / 255.0, up);
        attn_cmap_color(map, (255 - step) / 255.0, down);
        double a = attn_luminance(up) + 0.05, b = attn_luminance(down) + 0.05;
        assert_true(a / b > 0.8 && a / b < 1.25);
        assert_true(step < 132 || (up[0] > up[2] && down[2] > down[0])); /* red above, blue below */
    }
}

/* Ground and lines of the hatch of hidden cells. */
static void no_map_has_the_greys_of_hidden_cells(void **state)
{
    (void)state;
    for (int map = 0; map < attn_cmap_count(); map++) {
        for (int step = 0; step < 256; step++) {
            uint8_t rgb[3];
            attn_cmap_color(map, step / 255.0, rgb);
            assert_false(rgb[0] == rgb[1] && rgb[1] == rgb[2] && (rgb[0] == 0xd9 || rgb[0] == 0x9a));
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(maps_are_found_by_name),
        cmocka_unit_test(known_colors),
        cmocka_unit_test(values_outside_are_clipped),
        cmocka_unit_test(luminance_is_that_of_wcag),
        cmocka_unit_test(text_is_readable_on_every_step_of_every_map),
        cmocka_unit_test(darker_is_more),
        cmocka_unit_test(both_sides_are_equally_dark),
        cmocka_unit_test(no_map_has_the_greys_of_hidden_cells),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

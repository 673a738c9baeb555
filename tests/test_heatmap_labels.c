/* Labels and titles of heatmaps: all of them, or fewer with a remark; the picture makes room. Drawn with the built-in letters. */
#include "support/check.h"

#include <stdlib.h>
#include <string.h>

#include "attn/heatmap.h"
#include "support/picture.h"

/* Sixty words: every row and every column has its label. */
static void sixty_labels_are_all_drawn(void **state)
{
    (void)state;
    double w[3600];
    drawing d = draw((attn_heatmap_config){0}, square(60, w));
    assert_int_equal(d.at.label_step, 1);
    assert_false(d.at.numbers);
    assert_contains(d.image.notes, "numbers are hidden: cells of 20 x 20 pixels");
    for (int i = 0; i < 60; i++) {
        int y = d.at.panel[0].y + i * d.at.cell_height, x = d.at.panel[0].x + i * d.at.cell_width;
        assert_true(ink_in(&d.image, d.at.panel[0].x - 30, y + 2, d.at.panel[0].x - 3, y + d.at.cell_height - 2) > 8);
        assert_true(ink_in(&d.image, x + 2, d.at.panel[0].y - 25, x + d.at.cell_width - 2, d.at.panel[0].y - 3) > 8);
    }
    attn_image_free(&d.image);
}

static void thinned_labels_are_announced(void **state)
{
    (void)state;
    double *w = malloc(300 * 300 * sizeof *w);
    assert_non_null(w);
    drawing d = draw((attn_heatmap_config){0}, square(300, w));
    assert_int_equal(d.at.cell_height, 4);
    assert_int_equal(d.at.label_step, 5);
    assert_contains(d.image.notes, "one label in 5 is shown");
    int below = d.at.panel[0].y + 300 * 4 + 10;
    assert_true(ink_in(&d.image, d.at.panel[0].x, below, d.at.panel[0].x + 200, d.image.height) > 100); /* and in the picture */
    attn_image_free(&d.image);
    free(w);
}

static void cells_make_room_for_column_labels(void **state)
{
    (void)state;
    double w[16];
    attn_heatmap_panel p = square(4, w);
    const char *const middling[] = {"released", "new", "phone", "Apple"}, *const lengthy[] = {"released", "new", "phone",
                                                                                              "incomprehensible"};
    p.column_labels = middling;
    drawing d = draw((attn_heatmap_config){0}, p);
    assert_in_range(d.at.cell_width, 65, 96); /* wider, so that they stay level */
    assert_int_equal(d.at.cell_height, 64);
    int level = d.at.panel[0].y;
    attn_image_free(&d.image);
    d = draw((attn_heatmap_config){.cell = 64}, p);
    assert_int_equal(d.at.cell_width, 64); /* as asked; the labels stand upright */
    assert_true(d.at.panel[0].y > level + 30);
    attn_image_free(&d.image);
    p.column_labels = lengthy;
    d = draw((attn_heatmap_config){0}, p);
    assert_int_equal(d.at.cell_width, 64);
    assert_true(d.at.panel[0].y > level + 80);
    attn_image_free(&d.image);
}

static void row_labels_make_room_for_themselves(void **state)
{
    (void)state;
    double w[16];
    attn_heatmap_panel p = square(4, w);
    drawing plain = draw((attn_heatmap_config){0}, p);
    const char *const words[] = {"incomprehensible", "new", "phone", "a"};
    p.row_labels = words;
    drawing d = draw((attn_heatmap_config){0}, p);
    assert_in_range(d.at.panel[0].x, plain.at.panel[0].x + 100, plain.at.panel[0].x + 160);
    assert_int_equal(d.at.panel[0].y, plain.at.panel[0].y);
    attn_image_free(&plain.image);
    attn_image_free(&d.image);
}

static void long_titles_are_whole_or_shortened(void **state)
{
    (void)state;
    double w[4];
    char title[400];
    memset(title, 'm', sizeof title - 1);
    title[sizeof title - 1] = '\0';
    drawing d = draw((attn_heatmap_config){.title = title, .row_title = title, .column_title = title, .bar_title = title}, square(2, w));
    assert_in_range(d.image.width, 1000, 1500);
    assert_in_range(d.image.height, 400, 700);
    attn_image_free(&d.image);
    d = draw((attn_heatmap_config){.row_title = "", .column_title = "", .bar_title = ""}, square(2, w));
    assert_in_range(d.at.panel[0].x, 20, 60);
    attn_image_free(&d.image);
}

/* Letters are drawn one after the other; where that is wrong, the remarks say what does better. */
static void scripts_from_right_to_left_are_announced(void **state)
{
    (void)state;
    double w[4];
    static const char *const words[] = {"שלום", "a"}, *const left[] = {"苹果", "a"};
    attn_heatmap_panel p = square(2, w);
    p.column_labels = words;
    drawing d = draw((attn_heatmap_config){0}, p);
    assert_contains(d.image.notes, "words that run from right to left are drawn from left to right; an SVG or a page has them");
    attn_image_free(&d.image);
    p.column_labels = left;
    d = draw((attn_heatmap_config){0}, p);
    assert_null(strstr(d.image.notes, "right to left"));
    attn_image_free(&d.image);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sixty_labels_are_all_drawn),         cmocka_unit_test(thinned_labels_are_announced),
        cmocka_unit_test(cells_make_room_for_column_labels),  cmocka_unit_test(row_labels_make_room_for_themselves),
        cmocka_unit_test(long_titles_are_whole_or_shortened), cmocka_unit_test(scripts_from_right_to_left_are_announced),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

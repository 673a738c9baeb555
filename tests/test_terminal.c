/* Heatmaps as lines for a terminal: what stands where, in which colours, and never wider than the terminal. */
#include "support/check.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <utf8proc.h>

#include "attn/heatmap.h"
#include "support/picture.h"

static attn_document lines_of(attn_heatmap_config config, attn_heatmap_panel panel, attn_terminal terminal)
{
    attn_document d;
    attn_error error;
    if (config.panels == NULL) {
        config.panels = &panel;
        config.n_panels = 1;
    }
    if (attn_heatmap_terminal(&config, terminal, &d, NULL, &error) != ATTN_OK) {
        fail_msg("%s", error.message);
    }
    assert_int_equal(strlen(d.text), d.size);
    return d;
}

static void lines_are(attn_heatmap_config config, attn_heatmap_panel panel, attn_terminal terminal, const char *expected)
{
    attn_document d = lines_of(config, panel, terminal);
    assert_string_equal(d.text, expected);
    attn_document_free(&d);
    assert_null(d.text);
}

static const double four[4] = {0.1, 0.2, 0.75, 1};

/* Chinese characters are two columns wide: everything below them stands where it should. */
static void words_stand_over_their_numbers(void **state)
{
    (void)state;
    const char *const words[] = {"苹果", "a"};
    lines_are((attn_heatmap_config){.title = "all"},
              (attn_heatmap_panel){.title = "one", .rows = 2, .columns = 2, .values = four, .row_labels = words, .column_labels = words},
              (attn_terminal){ATTN_COLORS_NONE, 80},
              "all\n"
              "\n"
              "     one\n"
              "      苹果   a\n"
              "苹果  0.10  0.20\n"
              "   a  0.75  1.00\n"
              "\n"
              "rows     query: who looks\n"
              "columns  key: looked at\n"
              "numbers  attention weight\n");
}

static void cells_without_a_value_are_marked_and_explained(void **state)
{
    (void)state;
    const double w[4] = {NAN, -0.001, 10, 0.5};
    const uint8_t hidden[4] = {0, 0, 1, 0};
    lines_are((attn_heatmap_config){.row_title = "", .column_title = "", .bar_title = "score"},
              (attn_heatmap_panel){.rows = 2, .columns = 2, .values = w, .hidden = hidden}, (attn_terminal){ATTN_COLORS_NONE, 0},
              "    0     1\n"
              "0     \\  0.00\n"
              "1     /  0.50\n"
              "\n"
              "numbers  score\n"
              "/        masked\n"
              "\\        not a number\n");
}

static void two_panels_and_the_largest_numbers_only(void **state)
{
    (void)state;
    const attn_heatmap_panel panels[2] = {{.rows = 1, .columns = 3, .values = four}, {.rows = 1, .columns = 1, .values = four}};
    lines_are((attn_heatmap_config){.panels = panels, .n_panels = 2, .annotate_top = 1, .digits = 1, .row_title = "", .column_title = ""},
              panels[0], (attn_terminal){ATTN_COLORS_NONE, 80},
              "    0    1    2\n"
              "0            0.8\n"
              "\n"
              "    0\n"
              "0  0.1\n"
              "\n"
              "numbers  attention weight\n");
}

/* Fewer and fewer columns: less room around numbers, upright words, digits in two columns, in one, blocks. */
static void narrow_terminals_show_less(void **state)
{
    (void)state;
    const double w[8] = {0, 0.099, 0.1, 0.5, 0.99, 1, 0.3, 0.26};
    const char *const words[] = {"an", "apple", "苹果", "👩‍🔬"};
    const attn_heatmap_panel p = {.rows = 2, .columns = 4, .values = w, .column_labels = words};
    const attn_heatmap_config c = {.row_title = "", .column_title = ""};
    attn_document d = lines_of(c, p, (attn_terminal){ATTN_COLORS_NONE, 26});
    assert_non_null(strstr(d.text, "\n0  0.00  0.10  0.10  0.50\n1  0.99  1.00  0.30  0.26\n"));
    assert_string_equal(d.notes, "");
    attn_document_free(&d);
    d = lines_of(c, p, (attn_terminal){ATTN_COLORS_NONE, 22});
    assert_non_null(strstr(d.text, "\n0  0.00 0.10 0.10 0.50\n1  0.99 1.00 0.30 0.26\n"));
    attn_document_free(&d);
    d = lines_of(c, p, (attn_terminal){ATTN_COLORS_NONE, 21});
    assert_string_equal(d.text, "    a\n"
                                "    p\n"
                                "    p\n"
                                "  a l 苹\n"
                                "  n e 果👩‍🔬\n"
                                "0 . . 1 5\n"
                                "1 9 9 3 2\n"
                                "\n"
                                "digits   attention w…\n"
                                "         in tenths of the way from 0 to 1; a point is less than one\n");
    assert_string_equal(d.notes, "numbers are hidden: 21 columns are too few for them\n");
    attn_document_free(&d);
    d = lines_of(c, p, (attn_terminal){ATTN_COLORS_NONE, 9});
    assert_non_null(strstr(d.text, "  0\n0 ..15\n1 9932\n"));
    attn_document_free(&d);
    d = lines_of(c, p, (attn_terminal){ATTN_COLORS_NONE, 4});
    assert_non_null(strstr(d.text, "  0\n0 95\n"));
    assert_non_null(strstr(d.text, "\nblocks   a cell is the maximum of its block\n"));
    attn_document_free(&d);
}

static void colors_are_those_of_the_map(void **state)
{
    (void)state;
    const double w[3] = {0, 1, NAN};
    attn_document d = lines_of((attn_heatmap_config){0}, (attn_heatmap_panel){.rows = 1, .columns = 3, .values = w},
                               (attn_terminal){ATTN_COLORS_24BIT, 80});
    assert_non_null(strstr(d.text, "0 \033[38;2;0;0;0m\033[48;2;248;250;253m 0.00 "
                                   "\033[38;2;255;255;255m\033[48;2;18;39;79m 1.00 "
                                   "\033[38;2;0;0;0m\033[48;2;217;217;217m    \\ \033[0m\n"));
    attn_document_free(&d);
    d = lines_of((attn_heatmap_config){0}, (attn_heatmap_panel){.rows = 1, .columns = 3, .values = w},
                 (attn_terminal){ATTN_COLORS_256, 80});
    assert_non_null(strstr(d.text, "0 \033[38;5;16m\033[48;5;231m 0.00 \033[38;5;231m\033[48;5;235m 1.00 "));
    attn_document_free(&d);
    const double tall[3] = {1, 0, 0.5};
    d = lines_of((attn_heatmap_config){.annotate = ATTN_ANNOTATE_NONE}, (attn_heatmap_panel){.rows = 3, .columns = 1, .values = tall},
                 (attn_terminal){ATTN_COLORS_24BIT, 3});
    assert_non_null(strstr(d.text, "0 \033[38;2;18;39;79m\033[48;2;248;250;253m\u2580\033[0m\n2 \033[38;2;"));
    attn_document_free(&d);
}

/* Text is readable on what the terminal shows, and the order of a ramp survives the palette. */
static void the_palette_keeps_contrast_and_order(void **state)
{
    (void)state;
    static const int levels[6] = {0, 95, 135, 175, 215, 255};
    for (int map = 0; map < attn_cmap_count(); map++) {
        double before = 1;
        for (int step = 0; step < 256; step++) {
            uint8_t rgb[3], shown[3];
            char sequence[ATTN_SEQUENCE_SIZE];
            int text, ground;
            attn_cmap_color(map, step / 255.0, rgb);
            assert_int_equal(sscanf(attn_terminal_ground(ATTN_COLORS_256, rgb, sequence), "\033[38;5;%dm\033[48;5;%dm", &text, &ground), 2);
            assert_true(text == 16 || text == 231);
            assert_in_range(ground, 16, 255);
            for (int c = 0, power = 36; c < 3; c++, power /= 6) {
                shown[c] = (uint8_t)(ground < 232 ? levels[(ground - 16) / power % 6] : 8 + 10 * (ground - 232));
            }
            double y = attn_luminance(shown), ratio = text == 16 ? (y + 0.05) / 0.05 : 1.05 / (y + 0.05);
            assert_true(ratio >= 4.5);
            assert_true(attn_cmap_diverges(map) || y <= before + 0.03);
            before = y;
        }
    }
}

/* Columns of a line without its escape sequences. */
static int columns_of(const char *line, size_t n)
{
    int columns = 0, state_columns = 0;
    utf8proc_int32_t state = 0, before = 0, code;
    for (size_t i = 0; i < n;) {
        if (line[i] == '\033') {
            i += strcspn(line + i, "m") + 1;
            before = 0;
            continue;
        }
        i += (size_t)utf8proc_iterate((const utf8proc_uint8_t *)line + i, (utf8proc_ssize_t)(n - i), &code);
        int width = utf8proc_charwidth(code);
        if (before == 0 || utf8proc_grapheme_break_stateful(before, code, &state)) {
            columns += state_columns;
            state_columns = 0;
        }
        state_columns = width > state_columns ? width : state_columns;
        before = code;
    }
    return columns + state_columns;
}

static void no_line_is_wider_than_the_terminal(void **state)
{
    (void)state;
    const char *const words[] = {"苹果", "incomprehensibilities are long", "e\xcc\x81", "👩‍🔬", ""};
    double w[25];
    attn_heatmap_panel p = square(5, w);
    p.title = "a title that is longer than that: 苹果 苹果 苹果 苹果";
    p.row_labels = p.column_labels = words;
    for (int columns = 12; columns < 90; columns++) {
        for (int colors = ATTN_COLORS_NONE; colors <= ATTN_COLORS_24BIT; colors++) {
            attn_document d = lines_of((attn_heatmap_config){.title = p.title}, p, (attn_terminal){(attn_terminal_colors)colors, columns});
            const char *legend = strstr(d.text, "\nrows ");
            assert_non_null(legend);
            for (const char *line = d.text; line < legend; line += strcspn(line, "\n") + 1) {
                assert_in_range(columns_of(line, strcspn(line, "\n")), 0, columns);
            }
            attn_document_free(&d);
        }
    }
}

/* A word must not move the cursor, ring the bell, change colours, or turn the line around. */
static void words_do_not_control_the_terminal(void **state)
{
    (void)state;
    const char *const words[] = {"a\033[31mb\x07",
                                 ("\xc2\x9b"
                                  "31m"),
                                 "x\xe2\x80\xaey\xe2\x81\xa6", "\xe2\x80\xa8"};
    attn_document d =
        lines_of((attn_heatmap_config){.title = "\033]0;t\x07"},
                 (attn_heatmap_panel){.rows = 4, .columns = 1, .values = four, .row_labels = words}, (attn_terminal){ATTN_COLORS_NONE, 80});
    for (const unsigned char *c = (const unsigned char *)d.text; *c != '\0'; c++) {
        assert_true(*c >= 0x20 || *c == '\n');
    }
    assert_non_null(strstr(d.text, "␛]0;t␇\n"));
    assert_non_null(strstr(d.text, "a␛[31mb␇"));
    assert_non_null(strstr(d.text, "\xef\xbf\xbd"
                                   "31m"));
    assert_non_null(strstr(d.text, " xy "));
    assert_null(strstr(d.text, "\xc2\x9b"));
    attn_document_free(&d);
}

static void what_cannot_be_drawn_is_refused(void **state)
{
    (void)state;
    attn_document d;
    attn_error error;
    const char *const words[] = {"ok", "a\xff"};
    const attn_heatmap_panel p = {.rows = 2, .columns = 2, .values = four, .row_labels = words},
                             empty = {.rows = 0, .columns = 2, .values = four};
    attn_heatmap_config c = {.panels = &p, .n_panels = 1};
    assert_int_equal(attn_heatmap_terminal(&c, (attn_terminal){0}, &d, NULL, &error), ATTN_EFORMAT);
    assert_contains(error.message, "row label 2 of panel 1 is not UTF-8: bad byte at offset 1");
    c.panels = &empty;
    assert_int_equal(attn_heatmap_terminal(&c, (attn_terminal){0}, &d, NULL, &error), ATTN_EINVAL);
    assert_null(d.text);
    double w[9];
    attn_heatmap_panel sound = square(3, w);
    c.panels = &sound;
    attn_status status = ATTN_ENOMEM;
    for (long k = 1; status == ATTN_ENOMEM; k++) {
        counting_allocator a;
        counting_init(&a, k);
        status = attn_heatmap_terminal(&c, (attn_terminal){ATTN_COLORS_24BIT, 80}, &d, &a.value, &error);
        attn_document_free(&d);
        assert_int_equal(a.live, 0);
    }
    assert_int_equal(status, ATTN_OK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_stand_over_their_numbers),
        cmocka_unit_test(cells_without_a_value_are_marked_and_explained),
        cmocka_unit_test(two_panels_and_the_largest_numbers_only),
        cmocka_unit_test(narrow_terminals_show_less),
        cmocka_unit_test(colors_are_those_of_the_map),
        cmocka_unit_test(the_palette_keeps_contrast_and_order),
        cmocka_unit_test(no_line_is_wider_than_the_terminal),
        cmocka_unit_test(words_do_not_control_the_terminal),
        cmocka_unit_test(what_cannot_be_drawn_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

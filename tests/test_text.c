/* Labels: reading, shortening, measuring, drawing; and numbers as text. */
#include "support/check.h"

#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "support/picture.h"
#include "viz/viz.h"

#define LATIN   "/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf"
#define CHINESE "/usr/share/fonts/truetype/wqy/wqy-microhei.ttc"

/* A chain of fonts with its memory. */
typedef struct desk {
    attn__arena memory;
    attn__fonts fonts;
} desk;

static void desk_open(desk *d, const char *first, const char *second)
{
    attn__arena_init(&d->memory, NULL);
    assert_int_equal(attn__fonts_init(&d->fonts, &d->memory, NULL, NULL), ATTN_OK);
    const char *const paths[] = {first, second};
    for (int i = 0; i < 2; i++) {
        if (paths[i] != NULL && access(paths[i], R_OK) != 0) {
            attn__fonts_free(&d->fonts);
            attn__arena_free(&d->memory);
            skip(); /* the font is not installed here */
        }
        if (paths[i] != NULL) {
            assert_int_equal(attn__fonts_add(&d->fonts, paths[i], 0, NULL), ATTN_OK);
        }
    }
}

static void desk_close(desk *d)
{
    attn__fonts_free(&d->fonts);
    attn__arena_free(&d->memory);
}

static attn__text text_of(desk *d, const char *utf8, int size, double max_em)
{
    attn__text t;
    int64_t fault;
    assert_int_equal(attn__text_read(&d->fonts, utf8, &t, &fault), ATTN_OK);
    assert_int_equal(fault, -1);
    attn__text_set(&d->fonts, &t, size, max_em);
    return t;
}

static void fixed_is(double v, int digits, const char *expected)
{
    char text[ATTN__NUMBER_SIZE];
    attn__number_fixed(v, digits, text);
    assert_string_equal(text, expected);
}

static void short_is(double v, const char *expected)
{
    char text[ATTN__NUMBER_SIZE];
    attn__number_short(v, text);
    assert_string_equal(text, expected);
}

static void numbers(void)
{
    fixed_is(0.21, 2, "0.21");
    fixed_is(0.005, 1, "0.0");
    fixed_is(-0.001, 2, "0.00");
    fixed_is(-0.2, 2, "-0.20");
    fixed_is(12.5, 0, "12");
    fixed_is(-999999, 15, "-999999.000000000000000");
    fixed_is(2.5e6, 2, "2.50e+06");
    fixed_is(-1.7976931348623157e308, 15, "-1.797693134862316e+308");
    fixed_is(INFINITY, 2, "inf");
    fixed_is(-INFINITY, 2, "-inf");
    short_is(0, "0");
    short_is(0.25, "0.25");
    short_is(1.0 / 3, "0.3333");
    short_is(-1e-9, "-1e-09");
    short_is(-0.0, "0");
}

static void numbers_are_the_same_in_every_locale(void **state)
{
    (void)state;
    numbers();
    const char *const commas[] = {"de_DE.UTF-8", "fr_FR.UTF-8", "de_DE", "ps_AF"};
    for (size_t i = 0; i < sizeof commas / sizeof commas[0]; i++) {
        if (setlocale(LC_NUMERIC, commas[i]) != NULL) {
            numbers();
        }
    }
    assert_non_null(setlocale(LC_NUMERIC, "C"));
}

static void texts_are_composed(void **state)
{
    (void)state;
    desk d;
    desk_open(&d, NULL, NULL);
    attn__text t = text_of(&d, "e\u0301a\n\x7f", 14, 0);
    assert_int_equal(t.n, 4);
    assert_int_equal(t.codes[0], 0xe9);
    assert_int_equal(t.codes[1], 'a');
    assert_int_equal(t.codes[2], 0x240a); /* the picture of a newline */
    assert_int_equal(t.codes[3], 0x2421);
    assert_true(attn__fonts_uses(&d.fonts, 0xe9));
    assert_false(attn__fonts_uses(&d.fonts, 'e'));
    t = text_of(&d, "", 14, 12);
    assert_int_equal(t.n, 0);
    assert_true(attn__box_empty(t.flat));
    desk_close(&d);
}

static void faults_have_an_offset(void **state)
{
    (void)state;
    desk d;
    desk_open(&d, NULL, NULL);
    static const struct {
        const char *utf8;
        int64_t offset;
    } bad[] = {{"\xff", 0}, {"ab\x80", 2}, {"\xc1\xbf", 0}, {"\xe6\x89", 0}, {"x\xed\xbf\xbf", 1}, {"\xf4\x90\x80\x80", 0}};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        attn__text t;
        int64_t fault;
        assert_int_equal(attn__text_read(&d.fonts, bad[i].utf8, &t, &fault), ATTN_EFORMAT);
        assert_int_equal(fault, bad[i].offset);
    }
    desk_close(&d);
}

/* A family of four joined people is one grapheme of seven code points: it is kept whole or dropped whole. */
static void shortening_keeps_graphemes_whole(void **state)
{
    (void)state;
    desk d;
    desk_open(&d, NULL, NULL);
#define FAMILY "\U0001F469\u200D\U0001F469\u200D\U0001F467\u200D\U0001F466"
    for (double most = 4; most < 20; most += 0.5) {
        attn__text t = text_of(&d, FAMILY FAMILY FAMILY FAMILY FAMILY FAMILY, 14, most);
        if (t.n == 42) {
            continue;
        }
        assert_int_equal((t.n - 3) % 7, 0); /* the built-in letters have no ellipsis: three dots */
        assert_int_equal(t.codes[t.n - 1], '.');
        assert_true(t.flat.x1 - t.flat.x0 <= most * 14);
    }
    attn__text t = text_of(&d, FAMILY FAMILY FAMILY FAMILY FAMILY FAMILY, 14, 12);
    assert_in_range(t.n, 10, 41);
    t = text_of(&d, "short", 14, 12);
    assert_int_equal(t.n, 5);
    t = text_of(&d, "a rather long label that goes on and on", 14, 12);
    assert_int_equal(t.codes[0], 'a');
    assert_in_range(t.flat.x1 - t.flat.x0, 10 * 14, 12 * 14);
    desk_close(&d);
}

static attn_image blank(int width, int height)
{
    attn_image image = {.width = width, .height = height};
    image.rgb = malloc(3 * (size_t)width * (size_t)height);
    assert_non_null(image.rgb);
    memset(image.rgb, 255, 3 * (size_t)width * (size_t)height);
    return image;
}

/* Drawn on a sheet of just the size that was measured, a text has as much ink as on a large one: nothing is cut. And no line of the sheet's
 * border stays empty but for the slack of anti-aliasing. */
static void measured_box_holds_all_ink(desk *d, const char *utf8, int size, bool upright)
{
    static const uint8_t black[3] = {0};
    attn__text t = text_of(d, utf8, size, 0);
    attn__box b = upright ? t.tall : t.flat;
    attn_image large = blank(600, 600), tight = blank(b.x1 - b.x0, b.y1 - b.y0);
    attn__text_draw(&d->fonts, &large, &t, upright, 300, 300, black);
    attn__text_draw(&d->fonts, &tight, &t, upright, -b.x0, -b.y0, black);
    assert_false(d->fonts.out_of_memory);
    int ink = ink_in(&large, 0, 0, 600, 600);
    assert_true(ink > 20);
    assert_int_equal(ink_in(&tight, 0, 0, tight.width, tight.height), ink);
    assert_int_equal(ink_in(&large, 300 + b.x0, 300 + b.y0, 300 + b.x1, 300 + b.y1), ink);
    assert_true(ink_in(&tight, 2, 2, tight.width - 2, tight.height - 2) < ink); /* the box is not loose */
    attn_image_free(&large);
    attn_image_free(&tight);
}

static void nothing_is_cut(desk *d)
{
    const int sizes[] = {10, 14, 24};
    const char *const texts[] = {"gyjpqÅ汉", "Åg", "苹果", "（苹果）——…", "|_|", "\U0001F469x", "jf"};
    for (int i = 0; i < 3; i++) {
        for (size_t k = 0; k < sizeof texts / sizeof texts[0]; k++) {
            measured_box_holds_all_ink(d, texts[k], sizes[i], false);
            measured_box_holds_all_ink(d, texts[k], sizes[i], true);
        }
    }
}

static void no_ink_leaves_its_box_without_fonts(void **state)
{
    (void)state;
    desk d;
    desk_open(&d, NULL, NULL);
    nothing_is_cut(&d);
    desk_close(&d);
}

static void no_ink_leaves_its_box(void **state)
{
    (void)state;
    desk d;
    desk_open(&d, LATIN, CHINESE);
    nothing_is_cut(&d);
    desk_close(&d);
}

/* One row of glyphs: which font of the chain draws each character. */
static void the_first_font_that_has_it_draws(void **state)
{
    (void)state;
    desk d;
    desk_open(&d, LATIN, CHINESE);
    attn__text t = text_of(&d, "a果\U0001F9EC\u200D", 14, 0);
    assert_int_equal(t.n, 4);
    assert_int_equal(t.glyphs[0].font, 0);
    assert_int_equal(t.glyphs[1].font, 1);
    assert_int_equal(t.glyphs[2].font, ATTN__FONT_HEXBOX);
    assert_int_equal(t.glyphs[3].font, ATTN__FONT_BLANK);
    desk_close(&d);
}

static void chinese_labels_are_stacked_and_others_turned(void **state)
{
    (void)state;
    desk d;
    desk_open(&d, LATIN, CHINESE);
    attn__text stacked = text_of(&d, "自然语言", 20, 0), turned = text_of(&d, "language", 20, 0), mixed = text_of(&d, "iPhone手机", 20, 0);
    attn__text brackets = text_of(&d, "(苹果)", 20, 0), dash = text_of(&d, "-", 20, 0);
    assert_true(stacked.stacked && brackets.stacked);
    assert_false(turned.stacked || mixed.stacked || dash.stacked);
    assert_in_range(stacked.tall.y1 - stacked.tall.y0, 4 * 18, 4 * 23);
    assert_in_range(stacked.tall.x1 - stacked.tall.x0, 14, 21);
    assert_int_equal(turned.tall.y1 - turned.tall.y0, turned.flat.x1 - turned.flat.x0);
    assert_int_equal(turned.tall.x1 - turned.tall.x0, turned.flat.y1 - turned.flat.y0);
    desk_close(&d);
}

/* Turned to the left: pixel (u, v) of the level text is pixel (v, -1 - u) of the upright one. */
static void turned_text_is_the_level_one_turned(void **state)
{
    (void)state;
    static const uint8_t black[3] = {0};
    desk d;
    desk_open(&d, NULL, NULL);
    attn__text t = text_of(&d, "Fj", 21, 0);
    attn_image level = blank(100, 100), upright = blank(100, 100);
    attn__text_draw(&d.fonts, &level, &t, false, 50, 50, black);
    attn__text_draw(&d.fonts, &upright, &t, true, 50, 50, black);
    for (int v = -40; v < 40; v++) {
        for (int u = -40; u < 40; u++) {
            int a = pixel_at(&level, 50 + u, 50 + v)[0], b = pixel_at(&upright, 50 + v, 49 - u)[0];
            assert_int_equal(a, b);
        }
    }
    attn_image_free(&level);
    attn_image_free(&upright);
    desk_close(&d);
}

/* A bracket among stacked characters lies on its side: right becomes down, down becomes left. */
static void stacked_brackets_are_turned_to_the_right(void **state)
{
    (void)state;
    static const uint8_t black[3] = {0};
    desk d;
    desk_open(&d, LATIN, CHINESE);
    attn__text t = text_of(&d, "《", 24, 0);
    assert_true(t.stacked);
    attn_image level = blank(100, 100), stacked = blank(100, 100);
    attn__text_draw(&d.fonts, &level, &t, false, 50, 50, black);
    attn__text_draw(&d.fonts, &stacked, &t, true, 50, 50, black);
    int w = t.flat.x1 - t.flat.x0, h = t.flat.y1 - t.flat.y0;
    assert_int_equal(t.tall.x1 - t.tall.x0, h);
    assert_int_equal(t.tall.y1 - t.tall.y0, w);
    assert_in_range(t.tall.x1 + t.tall.x0 + 2, 0, 4); /* centred */
    for (int v = 0; v < h; v++) {
        for (int u = 0; u < w; u++) {
            assert_int_equal(pixel_at(&level, 50 + t.flat.x0 + u, 50 + t.flat.y0 + v)[0],
                             pixel_at(&stacked, 50 + t.tall.x1 - 1 - v, 50 + t.tall.y0 + u)[0]);
        }
    }
    attn_image_free(&level);
    attn_image_free(&stacked);
    desk_close(&d);
}

/* What a desk that has drawn other things draws is what a fresh one draws. */
static void draws_as_if_fresh(desk *d, const char *string, int size)
{
    static const uint8_t black[3] = {0};
    desk fresh;
    attn_image images[2];
    desk_open(&fresh, LATIN, CHINESE);
    for (int i = 0; i < 2; i++) {
        desk *from = i == 0 ? d : &fresh;
        attn__text t = text_of(from, string, size, 0);
        images[i] = blank(120, 60);
        attn__text_draw(&from->fonts, &images[i], &t, false, 20, 40, black);
    }
    assert_true(ink_in(&images[0], 0, 0, 120, 60) > 0);
    assert_memory_equal(images[0].rgb, images[1].rgb, 3 * 120 * 60);
    attn_image_free(&images[0]);
    attn_image_free(&images[1]);
    desk_close(&fresh);
}

/* Glyphs are drawn once and kept: also after thousands of others, each is found again. */
static void kept_glyphs_are_the_right_ones(void **state)
{
    (void)state;
    desk d;
    desk_open(&d, LATIN, CHINESE);
    for (int32_t code = 0x4e00; code < 0x5e00; code++) {
        (void)attn__glyph_pixels(&d.fonts, attn__fonts_glyph(&d.fonts, code), 14, 0);
        for (int phase = 0; phase < ATTN__PHASES; phase++) {
            (void)attn__glyph_pixels(&d.fonts, attn__fonts_glyph(&d.fonts, '!' + code % 94), 11 + code / 94 % 9, phase);
        }
    }
    assert_false(d.fonts.out_of_memory);
    const char *const strings[] = {"一丁七万丈三", "五入八公六兰", "Illustrate", "Wavy:ijl", "0.21%"};
    for (size_t i = 0; i < sizeof strings / sizeof strings[0]; i++) {
        draws_as_if_fresh(&d, strings[i], 14);
        draws_as_if_fresh(&d, strings[i], 17);
    }
    desk_close(&d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_are_the_same_in_every_locale),
        cmocka_unit_test(texts_are_composed),
        cmocka_unit_test(faults_have_an_offset),
        cmocka_unit_test(shortening_keeps_graphemes_whole),
        cmocka_unit_test(no_ink_leaves_its_box_without_fonts),
        cmocka_unit_test(no_ink_leaves_its_box),
        cmocka_unit_test(the_first_font_that_has_it_draws),
        cmocka_unit_test(chinese_labels_are_stacked_and_others_turned),
        cmocka_unit_test(turned_text_is_the_level_one_turned),
        cmocka_unit_test(stacked_brackets_are_turned_to_the_right),
        cmocka_unit_test(kept_glyphs_are_the_right_ones),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

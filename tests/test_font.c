/* Font files, sound and broken: a broken one costs its letters and a remark, never the picture or the process. */
#include "support/check.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "attn/random.h"
#include "support/disk.h"
#include "support/files.h"
#include "support/guard.h"
#include "support/picture.h"
#include "viz/viz.h"

#define LATIN   "/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf"
#define CHINESE "/usr/share/fonts/truetype/wqy/wqy-microhei.ttc"

static uint8_t *take_font(const char *path, size_t *size)
{
    if (access(path, R_OK) != 0) {
        skip(); /* the font is not installed here */
    }
    return (uint8_t *)take_file(path, size);
}

/* A picture with the labels 银行 and bank. */
static attn_image picture(const char *font)
{
    static const char *const words[] = {"银行", "bank"};
    static const double w[4] = {0.1, 0.9, 0.7, 0.3};
    const attn_heatmap_panel p = {.rows = 2, .columns = 2, .values = w, .row_labels = words, .column_labels = words};
    const attn_heatmap_config c = {.panels = &p, .n_panels = 1, .font = font};
    attn_image image;
    attn_error error = {0};
    attn_status status = attn_heatmap_draw(&c, &image, NULL, NULL, &error);
    if (status != ATTN_OK) {
        print_error("%s\n", error.message);
    }
    assert_int_equal(status, ATTN_OK);
    assert_true(ink_in(&image, 0, 0, image.width, image.height) > 1000);
    return image;
}

static bool same(const attn_image *a, const attn_image *b)
{
    return a->width == b->width && a->height == b->height && memcmp(a->rgb, b->rgb, 3 * (size_t)a->width * (size_t)a->height) == 0;
}

static void missing_characters_are_named(void **state)
{
    (void)state;
    size_t size;
    free(take_font(LATIN, &size));
    free(take_font(CHINESE, &size));
    attn_image latin = picture(LATIN), chinese = picture(CHINESE), face = picture(CHINESE ":1");
    assert_contains(latin.notes, "no glyph for U+884C U+94F6, drawn as code points in boxes");
    assert_contains(latin.notes, "fonts-wqy-microhei");
    assert_string_equal(chinese.notes, "");
    assert_string_equal(face.notes, "");
    assert_false(same(&latin, &chinese));
    assert_false(same(&chinese, &face));        /* the other face has letters of one width */
    static const char *const bell[] = {"a\ab"}; /* DejaVu has no pictures of control characters: its package would not help */
    const attn_heatmap_panel p = {.rows = 1, .columns = 1, .values = (const double[]){0.5}, .row_labels = bell, .column_labels = bell};
    const attn_heatmap_config c = {.panels = &p, .n_panels = 1, .font = LATIN};
    attn_image image;
    assert_int_equal(attn_heatmap_draw(&c, &image, NULL, NULL, NULL), ATTN_OK);
    assert_contains(image.notes, "no glyph for U+2407, drawn as code points in boxes: install fonts-symbola or");
    attn_image_free(&image);
    attn_image_free(&latin);
    attn_image_free(&chinese);
    attn_image_free(&face);
}

/* Whatever this machine has: a picture; with a Chinese font and fontconfig, one without remarks. */
static void fonts_are_found_by_the_labels(void **state)
{
    (void)state;
    attn_image image = picture(NULL);
    border_is_white(&image, 4);
    if (access(LATIN, R_OK) == 0 && access(CHINESE, R_OK) == 0) {
        assert_string_equal(image.notes, "");
    }
    attn_image_free(&image);
}

/* A family for all of East Asia, whose Japanese font comes first: the simplified Chinese one, face 2, is taken; the Japanese one, face 0,
 * if there is kana. Needs fonts-noto-cjk, at its place or where NOTO_CJK says. */
static void chinese_words_have_chinese_shapes(void **state)
{
    (void)state;
    const char *place = getenv("NOTO_CJK") != NULL ? getenv("NOTO_CJK") : "/usr/share/fonts/opentype/noto";
    const char *const labels[2] = {"直骨", "直骨の"};
    static const double w[1] = {0.5};
    char path[300], config[1200], here[400], file[500];
    (void)snprintf(path, sizeof path, "%s/NotoSansCJK-Regular.ttc", place);
    if (access(path, R_OK) != 0) {
        skip();
    }
    assert_non_null(getcwd(here, sizeof here));
    (void)snprintf(file, sizeof file, "%s/font_noto.conf", here);
    (void)snprintf(config, sizeof config, "<?xml version=\"1.0\"?><fontconfig><dir>%s</dir><cachedir>%s/font_cache</cachedir></fontconfig>",
                   place, here);
    put_text("font_noto.conf", config);
    assert_int_equal(setenv("FONTCONFIG_FILE", file, 1), 0);
    for (int i = 0; i < 2; i++) {
        attn_heatmap_panel p = {.rows = 1, .columns = 1, .values = w, .row_labels = &labels[i], .column_labels = &labels[i]};
        attn_heatmap_config c = {.panels = &p, .n_panels = 1, .scale = 2, .row_title = "", .column_title = "", .bar_title = ""};
        attn_image found, face[2];
        assert_int_equal(attn_heatmap_draw(&c, &found, NULL, NULL, NULL), ATTN_OK);
        for (int k = 0; k < 2; k++) {
            char font[320];
            (void)snprintf(font, sizeof font, "%s:%d", path, k == 0 ? 2 : 0);
            c.font = font;
            assert_int_equal(attn_heatmap_draw(&c, &face[k], NULL, NULL, NULL), ATTN_OK);
            assert_int_equal(same(&found, &face[k]), i == k);
        }
        attn_image_free(&found);
        attn_image_free(&face[0]);
        attn_image_free(&face[1]);
    }
    assert_int_equal(unsetenv("FONTCONFIG_FILE"), 0);
}

static void broken(const char *what, const uint8_t *bytes, size_t size, const char *remark)
{
    put_bytes("broken_font.ttf", (const char *)bytes, size);
    attn_image image = picture("broken_font.ttf");
    if (strstr(image.notes, remark) == NULL) {
        print_error("%s: ", what);
    }
    assert_contains(image.notes, remark);
    assert_contains(image.notes, "font broken_font.ttf: ");
    assert_contains(image.notes, "built-in letters are used");
    attn_image_free(&image);
}

static void a_font_that_is_cut_off_is_replaced(void **state)
{
    (void)state;
    size_t size;
    uint8_t *font = take_font(LATIN, &size);
    broken("empty", font, 0, "too short for a font");
    broken("10 bytes", font, 10, "too short for a font");
    broken("half a directory", font, 100, "table directory is cut off");
    for (size_t percent = 10; percent < 100; percent += 40) {
        broken("cut", font, size * percent / 100, "a table lies outside the file");
    }
    broken("one byte less than the last table", font, size - 4, "a table lies outside the file");
    free(font);
}

static void what_is_no_font_is_replaced(void **state)
{
    (void)state;
    uint8_t noise[4096];
    for (size_t i = 0; i < sizeof noise; i++) {
        noise[i] = (uint8_t)attn_random_below(3, 1, i, 256);
    }
    broken("noise", noise, sizeof noise, "not a TrueType or OpenType font");
    memcpy(noise, "ttcf\0\1\0\0\0\0\0\1\xff\xff\xff\xff", 16);
    broken("a face beyond the file", noise, sizeof noise, "the list of faces is broken");
    memcpy(noise, "ttcf\0\1\0\0\xff\xff\xff\xff", 12);
    broken("many faces", noise, sizeof noise, "the list of faces is broken");
    memcpy(noise, "\0\1\0\0\xff\xff", 6);
    broken("many tables", noise, sizeof noise, "table directory is cut off");
}

/* Place of a table's record in the directory. */
static uint8_t *record(uint8_t *font, const char *tag)
{
    for (int i = 0; i < font[4] * 256 + font[5]; i++) {
        if (memcmp(font + 12 + 16 * i, tag, 4) == 0) {
            return font + 12 + 16 * i;
        }
    }
    fail_msg("no table %s", tag);
    return NULL;
}

static uint8_t *table(uint8_t *font, const char *tag)
{
    const uint8_t *r = record(font, tag);
    return font + ((size_t)r[8] << 24 | (size_t)r[9] << 16 | (size_t)r[10] << 8 | r[11]);
}

/* One change a line: a table is renamed, or bytes in it are set. */
static void broken_tables_are_noticed(void **state)
{
    (void)state;
    static const struct {
        const char *tag, *rename;
        size_t at, n;
        const char *bytes, *remark;
    } changes[] = {
        {"GPOS", "fvar", 0, 0, "", "variable fonts are not supported"},
        {"GSUB", "CFF2", 0, 0, "", "variable fonts are not supported"},
        {"cmap", "pamc", 0, 0, "", "character table (cmap) is missing"},
        {"cmap", NULL, 2, 2, "\xff\xff", "character table (cmap) is missing or cut off"},
        {"cmap", NULL, 2, 2, "\0\0", "no Unicode character table"},
        {"head", "daeh", 0, 0, "", "head, hhea, maxp"},
        {"head", NULL, 18, 2, "\0\0", "size of the em"},
        {"head", NULL, 50, 2, "\0\2", "loca"},
        {"hhea", NULL, 34, 2, "\0\0", "table of widths"},
        {"maxp", NULL, 4, 2, "\xff\xff", "glyph index (loca)"},
        {"loca", "acol", 0, 0, "", "glyph index (loca)"},
        {"glyf", "fylg", 0, 0, "", "no outlines"},
    };
    for (size_t i = 0; i < sizeof changes / sizeof changes[0]; i++) {
        size_t size;
        uint8_t *font = take_font(LATIN, &size);
        memcpy(table(font, changes[i].tag) + changes[i].at, changes[i].bytes, changes[i].n);
        if (changes[i].rename != NULL) {
            memcpy(record(font, changes[i].tag), changes[i].rename, 4);
        }
        broken(changes[i].tag, font, size, changes[i].remark);
        free(font);
    }
}

/* Format 14 lists variation sequences: not a table of characters, though some fonts put it last. */
static void only_known_character_tables_are_read(void **state)
{
    (void)state;
    size_t size;
    uint8_t *font = take_font(LATIN, &size), *cmap = table(font, "cmap");
    attn__sfnt f;
    assert_null(attn__sfnt_open(&f, font, size, 0));
    assert_true(attn__sfnt_find(&f, 'A') > 0);
    assert_int_equal(attn__sfnt_find(&f, 0x82f9), 0);
    int glyph = attn__sfnt_find(&f, 'A'), tables = cmap[2] * 256 + cmap[3];
    assert_true(tables >= 2);
    for (int i = 0; i + 1 < tables; i++) { /* whatever their order, the table of all planes is chosen */
        uint8_t entry[8];
        memcpy(entry, cmap + 4 + 8 * i, 8);
        memmove(cmap + 4 + 8 * i, cmap + 12 + 8 * i, 8);
        memcpy(cmap + 12 + 8 * i, entry, 8);
        assert_null(attn__sfnt_open(&f, font, size, 0));
        assert_true(attn__sfnt_find(&f, 0x1d538) > 0);
    }
    for (int i = 0; i < tables; i++) { /* one after the other becomes unknown */
        uint8_t *entry = cmap + 4 + 8 * i;
        uint8_t *sub = cmap + ((size_t)entry[4] << 24 | (size_t)entry[5] << 16 | (size_t)entry[6] << 8 | entry[7]);
        bool last_known = attn__sfnt_open(&f, font, size, 0) == NULL;
        if (last_known) {
            assert_int_equal(attn__sfnt_find(&f, 'A'), glyph); /* by format 4 as by format 12 */
        }
        sub[1] = 14;
    }
    assert_non_null(attn__sfnt_open(&f, font, size, 0));
    free(font);
}

/* A table of format 4 at the very end of the file, whose glyph array would lie beyond it. */
static void character_tables_do_not_lead_out_of_the_file(void **state)
{
    (void)state;
    static const uint8_t cmap[] = {0,    0,   0,    1,    0, 3, 0, 1,   0,    0,    0, 12, /* one table, of Windows for the first plane */
                                   0,    4,   0,    32,   0, 0, 0, 4,   0,    0,    0, 0,  0, 0, /* two segments */
                                   0,    'Z', 0xff, 0xff, 0, 0, 0, 'A', 0xff, 0xff, 0, 0,  0, 1,
                                   0xf0, 0,   0,    0}; /* ends, starts, deltas, offsets */
    size_t size, whole;
    uint8_t *font = take_font(LATIN, &size);
    whole = size + sizeof cmap;
    guarded g = guard_new(whole);
    uint8_t *longer = guard_array(&g, whole, GUARD_AFTER);
    memcpy(longer, font, size);
    memcpy(longer + size, cmap, sizeof cmap);
    uint8_t *r = record(longer, "cmap");
    const uint8_t place[8] = {(uint8_t)(size >> 24), (uint8_t)(size >> 16), (uint8_t)(size >> 8), (uint8_t)size, 0, 0, 0, sizeof cmap};
    memcpy(r + 8, place, 8);
    attn__sfnt f;
    assert_null(attn__sfnt_open(&f, longer, whole, 0));
    for (int32_t code = 0; code < 0x20000; code++) {
        assert_int_equal(attn__sfnt_find(&f, code), 0);
    }
    longer[whole - 4] = longer[whole - 3] = 0; /* without the array, characters are glyphs */
    assert_int_equal(attn__sfnt_find(&f, 'A'), 'A');
    assert_int_equal(attn__sfnt_find(&f, '['), 0);
    guard_free(&g);
    free(font);
}

/* A letter eight ems wide is a fault of the font: as if the font had no such letter. */
static void enormous_letters_are_passed_over(void **state)
{
    (void)state;
    size_t size;
    uint8_t *font = take_font(LATIN, &size), *loca = table(font, "loca"), *glyf = table(font, "glyf");
    attn__arena memory;
    attn__arena_init(&memory, NULL);
    const char *why;
    attn__font *f = attn__font_open(&memory, font, size, 0, &why);
    assert_non_null(f);
    int glyph = attn__font_find(f, 'A');
    assert_true(glyph > 0);
    const uint8_t *entry = loca + 4 * (size_t)glyph;
    uint8_t *letter = glyf + ((size_t)entry[0] << 24 | (size_t)entry[1] << 16 | (size_t)entry[2] << 8 | entry[3]);
    memcpy(letter + 6, "\x7f\xff", 2); /* right edge of its box */
    assert_int_equal(attn__font_find(f, 'A'), 0);
    int other = attn__font_find(f, 'B');
    assert_true(other > 0);
    uint8_t *way = table(font, "hmtx") + 4 * (size_t)other; /* to the next letter */
    memcpy(way, "\x40\x00", 2);                             /* eight ems of 2048 */
    assert_int_equal(attn__font_find(f, 'B'), other);
    assert_close(attn__font_advance(f, other, 10), 80, 0, 0);
    memcpy(way, "\x40\x01", 2);
    assert_int_equal(attn__font_find(f, 'B'), 0);
    memcpy(way, "\xff\xff", 2); /* not a step back */
    assert_int_equal(attn__font_find(f, 'B'), 0);
    attn__arena_free(&memory);
    free(font);
}

/* Dots that lie far apart do not make a shortened label longer. */
static void an_ellipsis_fits_into_its_label(void **state)
{
    (void)state;
    size_t size;
    uint8_t *font = take_font(LATIN, &size), *hmtx = table(font, "hmtx");
    attn__sfnt f;
    assert_null(attn__sfnt_open(&f, font, size, 0));
    memcpy(hmtx + 4 * attn__sfnt_find(&f, '.'), "\x38\x00", 2);    /* seven ems */
    memcpy(hmtx + 4 * attn__sfnt_find(&f, 0x2026), "\xff\xff", 2); /* none: the font has no ellipsis */
    put_bytes("far_dots.ttf", (const char *)font, size);
    static const char *const label = "a label of far more than twelve ems";
    static const double value = 0.5;
    const attn_heatmap_panel p = {.rows = 1, .columns = 1, .values = &value, .row_labels = &label, .column_labels = &label};
    attn_heatmap_config c = {.panels = &p, .n_panels = 1, .font = LATIN, .annotate = ATTN_ANNOTATE_NONE};
    attn_image sound, far_dots;
    assert_int_equal(attn_heatmap_draw(&c, &sound, NULL, NULL, NULL), ATTN_OK);
    c.font = "far_dots.ttf";
    assert_int_equal(attn_heatmap_draw(&c, &far_dots, NULL, NULL, NULL), ATTN_OK);
    assert_true(far_dots.height < sound.height + 28); /* two ems, of the column's label, which stands upright */
    attn_image_free(&far_dots);
    attn_image_free(&sound);
    free(font);
}

/* The rasteriser's own memory comes from us too; when there is none, it says so and can be asked again. */
static void drawing_a_letter_without_memory_fails_cleanly(void **state)
{
    (void)state;
    size_t size;
    uint8_t *font = take_font(LATIN, &size);
    enum { SIZE = 700 };
    uint8_t *coverage = malloc((size_t)SIZE * SIZE * 4);
    assert_non_null(coverage);
    bool done = false;
    int failed = 0;
    while (!done) {
        counting_allocator c;
        counting_init(&c, 0);
        attn__arena memory;
        attn__arena_init(&memory, &c.value);
        const char *why;
        attn__font *f = attn__font_open(&memory, font, size, 0, &why);
        assert_non_null(f);
        int glyph = attn__font_find(f, '@');
        attn__box ink = attn__font_ink(f, glyph, SIZE, 0);
        /* All but fills the first chunk, so that drawing needs another. */
        assert_non_null(attn__arena_alloc(&memory, memory.capacity - memory.used - 4096));
        c.fail_at = c.allocations + 1 + failed;
        done = attn__font_render(f, glyph, SIZE, 0, ink, coverage);
        failed += !done;
        attn__arena_free(&memory);
        assert_int_equal(c.live, 0);
    }
    assert_true(failed > 0);
    free(coverage);
    free(font);
}

/* Draws all ASCII letters of a font in memory, if it opens. Sanitizers see what it touches. */
static int draw_all(const uint8_t *font, size_t size)
{
    attn__arena memory;
    attn__arena_init(&memory, NULL);
    const char *why;
    attn__font *f = attn__font_open(&memory, font, size, 0, &why);
    int drawn = 0;
    for (int32_t code = '!'; f != NULL && code <= '~'; code++) {
        int glyph = attn__font_find(f, code);
        attn__box ink = glyph > 0 ? attn__font_ink(f, glyph, 14, 0.25) : (attn__box){0, 0, 0, 0};
        (void)attn__font_advance(f, glyph, 14);
        if (!attn__box_empty(ink)) {
            uint8_t *coverage = attn__arena_alloc(&memory, (size_t)(ink.x1 - ink.x0) * (size_t)(ink.y1 - ink.y0));
            assert_non_null(coverage);
            drawn += attn__font_render(f, glyph, 14, 0.25, ink, coverage);
        }
    }
    attn__arena_free(&memory);
    return drawn;
}

/* Random damage, most of it where it hurts: directory, indexes, outlines of ASCII letters. Same seed, same damage. */
static void random_damage_is_survived(void **state)
{
    (void)state;
    size_t size;
    uint8_t *font = take_font(LATIN, &size), *copy = malloc(size);
    assert_non_null(copy);
    assert_int_equal(draw_all(font, size), 94);
    static const char *const tags[] = {"cmap", "glyf", "loca", "head", "hhea", "hmtx", "maxp"};
    for (uint64_t round = 0; round < 300; round++) {
        memcpy(copy, font, size);
        size_t start = round % 8 == 7 ? 0 : (size_t)(table(copy, tags[round % 8]) - copy);
        size_t span = round % 8 < 3 ? 20000 : 300;
        span = span < size - start ? span : size - start;
        for (uint64_t k = 0; k < 40; k++) {
            copy[start + attn_random_below(round, 1, k, span)] = (uint8_t)attn_random_below(round, 2, k, 256);
        }
        (void)draw_all(copy, size);
    }
    free(copy);
    free(font);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(missing_characters_are_named),
        cmocka_unit_test(fonts_are_found_by_the_labels),
        cmocka_unit_test(chinese_words_have_chinese_shapes),
        cmocka_unit_test(a_font_that_is_cut_off_is_replaced),
        cmocka_unit_test(what_is_no_font_is_replaced),
        cmocka_unit_test(broken_tables_are_noticed),
        cmocka_unit_test(only_known_character_tables_are_read),
        cmocka_unit_test(character_tables_do_not_lead_out_of_the_file),
        cmocka_unit_test(enormous_letters_are_passed_over),
        cmocka_unit_test(an_ellipsis_fits_into_its_label),
        cmocka_unit_test(drawing_a_letter_without_memory_fails_cleanly),
        cmocka_unit_test(random_damage_is_survived),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Whole pictures against stored ones: with the built-in letters to the bit, with fonts up to the edges of letters, where other compilers
 * round otherwise. Each is also written as a file and read by a decoder that is not ours, and by pngcheck where it is installed.
 * "test_golden write" stores them anew; then look at them. */
#include "support/check.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define STBI_ONLY_PNG
#define STBI_NO_STDIO
#define STB_IMAGE_IMPLEMENTATION
#include <stb_image.h>

#include "support/disk.h"
#include "support/picture.h"

#define SANS    "/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf"
#define SERIF   "/usr/share/fonts/truetype/dejavu/DejaVuSerif.ttf"
#define CHINESE "/usr/share/fonts/truetype/wqy/wqy-microhei.ttc"

static bool writing;

/* ---- the pictures ---- */

static const double w[16] = {0.5, 0.25, 0.2, 0.05, 0, 1, 0, 0, 0.1, 0.2, 0.3, 0.4, NAN, 0.7, 0.2, 0.1};
static const double scores[12] = {-3, -1.5, 0, 1, 2.25, 3, -INFINITY, 0.5, -0.5, 4, -4, 0.001};
static const uint8_t hidden[16] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0};
static const char *const latin[] = {"gyjpqÅ", "\"quoted\"", "incomprehensibilities", "a"};
static const char *const chinese[] = {"苹果", "《手机》", "很长很长的一个词", "pays"};
static const char *const missing[] = {"银行", "bank", "☃", "é"};

static const attn_heatmap_panel words = {
    .title = "four words", .rows = 4, .columns = 4, .values = w, .hidden = hidden, .row_labels = latin, .column_labels = latin};
static const attn_heatmap_panel han = {
    .title = "苹果_公司 (0.98)", .rows = 4, .columns = 4, .values = w, .row_labels = chinese, .column_labels = chinese};
static const attn_heatmap_panel boxes = {.rows = 4, .columns = 4, .values = w, .row_labels = missing, .column_labels = missing};
static const attn_heatmap_panel grid[4] = {{.title = "head 0", .rows = 2, .columns = 3, .values = scores},
                                           {.title = "head 1", .rows = 2, .columns = 3, .values = scores + 6},
                                           {.title = "head 0", .rows = 3, .columns = 2, .values = scores, .group = 1},
                                           {.title = "head 1", .rows = 3, .columns = 2, .values = scores + 6, .group = 1}};

static const struct golden {
    const char *name;
    attn_heatmap_config look;
} goldens[] = {
    {"builtin_words", {.panels = &words, .n_panels = 1, .title = "Built-in letters", .font = NO_FONT, .vmax = 0.5}},
    {"builtin_boxes", {.panels = &boxes, .n_panels = 1, .font = NO_FONT, .cmap = "greys"}},
    {"builtin_grid",
     {.panels = grid, .n_panels = 4, .font = NO_FONT, .cmap = "blue_red", .bar_title = "score", .cell = 40, .vmin = -2, .vmax = 4}},
    {"sans_words", {.panels = &words, .n_panels = 1, .title = "DejaVu Sans", .font = SANS, .cmap = "viridis_r"}},
    {"serif_words", {.panels = &words, .n_panels = 1, .title = "DejaVu Serif", .font = SERIF, .cmap = "magma_r", .cell = 36}},
    {"chinese_words", {.panels = &han, .n_panels = 1, .title = "文泉驿微米黑", .font = CHINESE, .cell = 40}},
    {"chinese_twice", {.panels = &han, .n_panels = 1, .font = CHINESE ":1", .cell = 24, .scale = 2, .cmap = "cividis_r"}},
};

static void path_of(const struct golden *g, char *path, size_t room)
{
    (void)snprintf(path, room, ATTN_SOURCE_DIR "/tests/golden/%s.png", g->name);
}

/* False where the font is not installed. */
static bool picture_of(const struct golden *g, attn_image *image)
{
    attn_error error;
    attn_heatmap_config look = g->look;
    char font[200];
    (void)snprintf(font, sizeof font, "%s", look.font);
    font[strcspn(font, ":")] = '\0';
    if (access(font, R_OK) != 0) {
        return false;
    }
    if (attn_heatmap_draw(&look, image, NULL, NULL, &error) != ATTN_OK) {
        fail_msg("%s", error.message);
    }
    return true;
}

/* ---- comparing ---- */

/* What letters are made of lies between these; a pixel far from all of them is the same to the bit. */
static bool near_letters(const attn_image *image, int x, int y)
{
    static const uint8_t flat[][3] = {{255, 255, 255}, {0xb4, 0xb8, 0xbc}, {0xd9, 0xd9, 0xd9}, {0x9a, 0x9a, 0x9a}};
    for (int j = y - 1; j <= y + 1; j++) {
        for (int i = x - 1; i <= x + 1; i++) {
            bool inside = i >= 0 && j >= 0 && i < image->width && j < image->height, known = !inside;
            for (size_t k = 0; k < sizeof flat / sizeof flat[0] && !known; k++) {
                known = pixel_is(image, i, j, flat[k]);
            }
            for (int map = 0; map < attn_cmap_count() && !known; map++) {
                for (int step = 0; step < 256 && !known; step++) {
                    uint8_t rgb[3];
                    attn_cmap_color(map, step / 255.0, rgb);
                    known = pixel_is(image, i, j, rgb);
                }
            }
            if (!known) {
                return true;
            }
        }
    }
    return false;
}

static void pictures_are_as_stored(void **state)
{
    (void)state;
    enum { EDGE = 16 };
    for (size_t g = 0; g < sizeof goldens / sizeof goldens[0]; g++) {
        attn_image image, stored = {0};
        char path[400];
        size_t size;
        if (!picture_of(&goldens[g], &image)) {
            print_message("%s: its font is not installed\n", goldens[g].name);
            continue;
        }
        path_of(&goldens[g], path, sizeof path);
        if (writing) {
            assert_int_equal(attn_png_write(path, &image, NULL), ATTN_OK);
            attn_image_free(&image);
            continue;
        }
        char *bytes = take_file(path, &size);
        int channels;
        stored.rgb = stbi_load_from_memory((const stbi_uc *)bytes, (int)size, &stored.width, &stored.height, &channels, 3);
        assert_non_null(stored.rgb);
        if (image.width != stored.width || image.height != stored.height) {
            fail_msg("%s: %d x %d pixels, stored %d x %d", goldens[g].name, image.width, image.height, stored.width, stored.height);
        }
        bool exact = strncmp(goldens[g].name, "builtin", 7) == 0;
        for (int y = 0; y < image.height; y++) {
            for (int x = 0; x < image.width; x++) {
                const uint8_t *a = pixel_at(&image, x, y), *b = pixel_at(&stored, x, y);
                int apart = abs(a[0] - b[0]) + abs(a[1] - b[1]) + abs(a[2] - b[2]);
                if (apart > 0 && (exact || apart > 3 * EDGE || !near_letters(&stored, x, y))) {
                    assert_int_equal(attn_png_write("golden_now.png", &image, NULL), ATTN_OK);
                    fail_msg("%s: pixel %d, %d is %02x%02x%02x, stored %02x%02x%02x; the picture is in golden_now.png", goldens[g].name, x,
                             y, a[0], a[1], a[2], b[0], b[1], b[2]);
                }
            }
        }
        stbi_image_free(stored.rgb);
        free(bytes);
        attn_image_free(&image);
    }
}

/* ---- other readers ---- */

static void others_read_the_same_pixels(void **state)
{
    (void)state;
    if (system("python3 -c '' 2>/dev/null") != 0) {
        skip();
    }
    for (size_t g = 0; g < sizeof goldens / sizeof goldens[0]; g += 4) { /* it takes a second for each */
        attn_image image;
        char expected[100], line[100] = "";
        if (!picture_of(&goldens[g], &image)) {
            continue;
        }
        assert_int_equal(attn_png_write("golden.png", &image, NULL), ATTN_OK);
        (void)snprintf(expected, sizeof expected, "%d %d %08x\n", image.width, image.height,
                       crc(image.rgb, 3 * (size_t)image.width * (size_t)image.height));
        FILE *from = popen("python3 '" ATTN_SOURCE_DIR "/tests/reference/png.py' golden.png", "r");
        assert_non_null(from);
        assert_non_null(fgets(line, sizeof line, from));
        assert_int_equal(pclose(from), 0);
        assert_string_equal(line, expected);
        attn_image_free(&image);
    }
}

static void pngcheck_is_content(void **state)
{
    (void)state;
    if (system("command -v pngcheck >/dev/null") != 0) {
        skip();
    }
    for (size_t g = 0; g < sizeof goldens / sizeof goldens[0]; g++) {
        attn_image image;
        if (picture_of(&goldens[g], &image)) {
            assert_int_equal(attn_png_write("golden.png", &image, NULL), ATTN_OK);
            assert_int_equal(system("pngcheck -q golden.png"), 0);
            attn_image_free(&image);
        }
    }
    assert_int_equal(system("pngcheck -q '" ATTN_SOURCE_DIR "'/tests/golden/*.png"), 0);
    assert_int_not_equal(system("head -c 1000 golden.png >cut.png; pngcheck -q cut.png >/dev/null 2>&1"), 0); /* it can tell */
}

int main(int argc, char **argv)
{
    writing = argc > 1 && strcmp(argv[1], "write") == 0;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pictures_are_as_stored),
        cmocka_unit_test(others_read_the_same_pixels),
        cmocka_unit_test(pngcheck_is_content),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

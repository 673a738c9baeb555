/* Looking at a picture pixel by pixel. */
#ifndef ATTN_TEST_PICTURE_H
#define ATTN_TEST_PICTURE_H

#include <stdbool.h>
#include <string.h>

#include "attn/heatmap.h"
#include "support/check.h"

/* PNG specification, annex D, bit by bit. */
static inline uint32_t crc(const uint8_t *p, size_t n)
{
    uint32_t c = 0xffffffff;
    while (n-- > 0) {
        c ^= *p++;
        for (int k = 0; k < 8; k++) {
            c = (c & 1) != 0 ? c >> 1 ^ 0xedb88320 : c >> 1;
        }
    }
    return ~c;
}

static inline const uint8_t *pixel_at(const attn_image *image, int x, int y)
{
    assert_in_range(x, 0, image->width - 1);
    assert_in_range(y, 0, image->height - 1);
    return image->rgb + 3 * ((size_t)y * (size_t)image->width + (size_t)x);
}

static inline bool pixel_is(const attn_image *image, int x, int y, const uint8_t rgb[3])
{
    return memcmp(pixel_at(image, x, y), rgb, 3) == 0;
}

static const uint8_t white[3] = {255, 255, 255};

/* Pixels that are not white in the rectangle, which is cut to the picture. */
static inline int ink_in(const attn_image *image, int x0, int y0, int x1, int y1)
{
    int n = 0;
    for (int y = y0 < 0 ? 0 : y0; y < y1 && y < image->height; y++) {
        for (int x = x0 < 0 ? 0 : x0; x < x1 && x < image->width; x++) {
            n += !pixel_is(image, x, y, white);
        }
    }
    return n;
}

/* Nothing touches the outermost pixels. */
static inline void border_is_white(const attn_image *image, int width)
{
    int w = image->width, h = image->height;
    int outside = ink_in(image, 0, 0, w, width) + ink_in(image, 0, h - width, w, h);
    outside += ink_in(image, 0, 0, width, h) + ink_in(image, w - width, 0, w, h);
    assert_int_equal(outside, 0);
}

/* A file that is no font: the built-in letters are used. */
#define NO_FONT ATTN_SOURCE_DIR "/tests/CMakeLists.txt"

typedef struct drawing {
    attn_image image;
    attn_heatmap_layout at;
} drawing;

static inline drawing draw(attn_heatmap_config config, attn_heatmap_panel panel)
{
    drawing d;
    attn_error error = {0};
    config.font = NO_FONT;
    if (config.panels == NULL) {
        config.panels = &panel;
        config.n_panels = 1;
    }
    attn_status status = attn_heatmap_draw(&config, &d.image, &d.at, NULL, &error);
    if (status != ATTN_OK) {
        print_error("%s\n", error.message);
    }
    assert_int_equal(status, ATTN_OK);
    assert_int_equal(d.image.width, d.at.width);
    assert_int_equal(d.image.height, d.at.height);
    border_is_white(&d.image, 4);
    return d;
}

static inline void cell_color(const char *cmap, double v, uint8_t rgb[3])
{
    attn_cmap_color(attn_cmap_find(cmap), v, rgb);
}

/* Every pixel of the cell has this colour (there is no number), and it ends where its neighbour begins. */
static inline void cell_is(const drawing *d, int panel, int row, int column, double v)
{
    uint8_t rgb[3];
    cell_color("blues", v, rgb);
    int x = d->at.panel[panel].x + column * d->at.cell_width, y = d->at.panel[panel].y + row * d->at.cell_height;
    for (int i = 0; i < d->at.cell_height; i++) {
        for (int j = 0; j < d->at.cell_width; j++) {
            assert_true(pixel_is(&d->image, x + j, y + i, rgb));
        }
    }
}

static inline bool is_hatch(const uint8_t *p)
{
    return p[0] == p[1] && p[1] == p[2] && (p[0] == 0xd9 || p[0] == 0x9a);
}

/* n x n values, none like its neighbours. */
static inline attn_heatmap_panel square(int n, double *values)
{
    for (int i = 0; i < n * n; i++) {
        values[i] = (i * 7 % 11) / 11.0;
    }
    return (attn_heatmap_panel){.rows = n, .columns = n, .values = values};
}

#endif

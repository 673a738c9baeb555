/* Looking at a picture pixel by pixel. */
#ifndef ATTN_TEST_PICTURE_H
#define ATTN_TEST_PICTURE_H

#include <stdbool.h>
#include <string.h>

#include "attn/heatmap.h"
#include "support/check.h"

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

#endif

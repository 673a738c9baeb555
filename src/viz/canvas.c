/* Pixels. Everything is clipped to the picture. */
#include "viz/viz.h"

static int max(int a, int b)
{
    return a > b ? a : b;
}

static int min(int a, int b)
{
    return a < b ? a : b;
}

bool attn__box_empty(attn__box b)
{
    return b.x0 >= b.x1 || b.y0 >= b.y1;
}

attn__box attn__box_union(attn__box a, attn__box b)
{
    if (attn__box_empty(a) || attn__box_empty(b)) {
        return attn__box_empty(a) ? b : a;
    }
    return (attn__box){min(a.x0, b.x0), min(a.y0, b.y0), max(a.x1, b.x1), max(a.y1, b.y1)};
}

attn__box attn__box_move(attn__box b, int dx, int dy)
{
    return (attn__box){b.x0 + dx, b.y0 + dy, b.x1 + dx, b.y1 + dy};
}

static attn__box clip(const attn_image *canvas, attn__box b)
{
    return (attn__box){max(b.x0, 0), max(b.y0, 0), min(b.x1, canvas->width), min(b.y1, canvas->height)};
}

static uint8_t *pixel(const attn_image *canvas, int x, int y)
{
    return canvas->rgb + 3 * ((size_t)y * (size_t)canvas->width + (size_t)x);
}

static void set(uint8_t *p, const uint8_t rgb[3])
{
    p[0] = rgb[0];
    p[1] = rgb[1];
    p[2] = rgb[2];
}

void attn__fill(attn_image *canvas, attn__box box, const uint8_t rgb[3])
{
    box = clip(canvas, box);
    for (int y = box.y0; y < box.y1; y++) {
        for (int x = box.x0; x < box.x1; x++) {
            set(pixel(canvas, x, y), rgb);
        }
    }
}

void attn__frame(attn_image *canvas, attn__box b, int width, const uint8_t rgb[3])
{
    attn__fill(canvas, (attn__box){b.x0 - width, b.y0 - width, b.x1 + width, b.y0}, rgb);
    attn__fill(canvas, (attn__box){b.x0 - width, b.y1, b.x1 + width, b.y1 + width}, rgb);
    attn__fill(canvas, (attn__box){b.x0 - width, b.y0, b.x0, b.y1}, rgb);
    attn__fill(canvas, (attn__box){b.x1, b.y0, b.x1 + width, b.y1}, rgb);
}

void attn__hatch(attn_image *canvas, attn__box box, bool falling, int scale)
{
    static const uint8_t ground[3] = {0xd9, 0xd9, 0xd9}, line[3] = {0x9a, 0x9a, 0x9a};
    int period = 8 * scale;
    box = clip(canvas, box);
    for (int y = box.y0; y < box.y1; y++) {
        int shift = falling ? period - y % period : y; /* x - y, but not below 0 */
        for (int x = box.x0; x < box.x1; x++) {
            set(pixel(canvas, x, y), (x + shift) % period < scale ? line : ground);
        }
    }
}

void attn__blend(attn_image *canvas, int x, int y, const uint8_t rgb[3], uint8_t coverage)
{
    if (coverage == 0 || x < 0 || y < 0 || x >= canvas->width || y >= canvas->height) {
        return;
    }
    uint8_t *p = pixel(canvas, x, y);
    for (int c = 0; c < 3; c++) {
        p[c] = (uint8_t)((p[c] * (255 - coverage) + rgb[c] * coverage + 127) / 255);
    }
}

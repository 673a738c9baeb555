/* Is the outline of one TrueType glyph sound? Walks it as the rasteriser will, without drawing. */
#include "viz/viz.h"

#define MAX_DEPTH 6   /* of glyphs made of glyphs */
#define MAX_PARTS 256 /* of one glyph */

/* Bytes of a glyph; reading beyond the end gives 0 and is remembered. */
typedef struct reader {
    const uint8_t *at, *end;
    bool overrun;
} reader;

static uint32_t u8(reader *r)
{
    if (r->at == r->end) {
        r->overrun = true;
        return 0;
    }
    return *r->at++;
}

static uint32_t u16(reader *r)
{
    uint32_t high = u8(r);
    return high << 8 | u8(r);
}

static void skip(reader *r, uint64_t n)
{
    uint64_t left = (uint64_t)(r->end - r->at);
    r->overrun = r->overrun || n > left;
    r->at += n > left ? left : n;
}

/* Where loca says that the glyph is; false if it lies outside glyf. Both ends may be equal: an empty glyph. */
static bool locate(const attn__sfnt *f, int glyph, reader *r)
{
    size_t width = f->long_loca ? 4 : 2, at = f->loca + (size_t)glyph * width;
    reader loca = {f->data + at, f->data + at + 2 * width, false};
    uint32_t end[2];
    for (int i = 0; i < 2; i++) {
        uint32_t high = f->long_loca ? u16(&loca) : 0, low = u16(&loca);
        end[i] = f->long_loca ? high << 16 | low : 2 * low;
    }
    if (end[0] > end[1] || end[1] > f->glyf_size) {
        return false;
    }
    *r = (reader){f->data + f->glyf + end[0], f->data + f->glyf + end[1], false};
    return true;
}

/* Ends of the contours (rising), instructions, then flags, x and y of every point, packed. */
static bool simple_ok(reader *r, uint32_t contours)
{
    int64_t last = -1;
    for (uint32_t i = 0; i < contours; i++) {
        int64_t end = u16(r);
        if (end <= last) {
            return false;
        }
        last = end;
    }
    skip(r, u16(r));
    uint64_t bytes = 0;
    uint32_t flags = 0, repeat = 0;
    for (int64_t i = 0; i <= last && !r->overrun; i++) {
        if (repeat == 0) {
            flags = u8(r);
            repeat = (flags & 8) != 0 ? u8(r) : 0;
        } else {
            repeat--;
        }
        bytes += (flags & 2) != 0 ? 1 : (flags & 16) != 0 ? 0 : 2;
        bytes += (flags & 4) != 0 ? 1 : (flags & 32) != 0 ? 0 : 2;
    }
    skip(r, bytes);
    return !r->overrun;
}

/* The deepest nesting and the number of parts are bounded, so that a glyph which contains itself ends. */
static bool glyph_ok(const attn__sfnt *f, int glyph, int depth, int *parts) // NOLINT(misc-no-recursion)
{
    reader r;
    if (glyph >= f->glyphs || depth > MAX_DEPTH || ++*parts > MAX_PARTS || !locate(f, glyph, &r)) {
        return false;
    }
    if (r.at == r.end) {
        return true;
    }
    uint32_t contours = u16(&r);
    skip(&r, 8); /* bounding box */
    if (contours < 0x8000) {
        return contours == 0 ? !r.overrun : simple_ok(&r, contours);
    }
    uint32_t flags;
    do {
        flags = u16(&r);
        int part = (int)u16(&r);
        bool offsets = (flags & 2) != 0; /* not: positions by matching points, which stb does not know */
        skip(&r, (flags & 1) != 0 ? 4 : 2);
        skip(&r, (flags & 8) != 0 ? 2 : (flags & 64) != 0 ? 4 : (flags & 128) != 0 ? 8 : 0);
        if (r.overrun || !offsets || !glyph_ok(f, part, depth + 1, parts)) {
            return false;
        }
    } while ((flags & 32) != 0);
    return true;
}

bool attn__sfnt_glyph_ok(const attn__sfnt *f, int glyph)
{
    int parts = 0;
    return f->cff_size > 0 || glyph_ok(f, glyph, 0, &parts);
}

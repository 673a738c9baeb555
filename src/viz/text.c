/* Labels: reading, measuring, shortening, drawing. */
#include "viz/viz.h"

#include <math.h>
#include <string.h>

#include <utf8proc.h>

int64_t attn__utf8_fault(const char *utf8)
{
    const utf8proc_uint8_t *bytes = (const utf8proc_uint8_t *)utf8;
    utf8proc_ssize_t size = (utf8proc_ssize_t)strlen(utf8), at = 0;
    while (at < size) {
        utf8proc_int32_t code;
        utf8proc_ssize_t n = utf8proc_iterate(bytes + at, size - at, &code);
        if (n <= 0) {
            return at;
        }
        at += n;
    }
    return -1;
}

/* Control characters are shown by their pictures: a newline as U+240A. */
static int32_t visible(int32_t code)
{
    return code < 0x20 ? 0x2400 + code : code == 0x7f ? 0x2421 : code;
}

attn_status attn__text_read(attn__fonts *f, const char *utf8, attn__text *t, int64_t *fault)
{
    *t = (attn__text){0};
    *fault = attn__utf8_fault(utf8);
    if (*fault >= 0) {
        return ATTN_EFORMAT;
    }
    const utf8proc_uint8_t *bytes = (const utf8proc_uint8_t *)utf8;
    utf8proc_option_t composed = UTF8PROC_NULLTERM | UTF8PROC_STABLE | UTF8PROC_COMPOSE;
    utf8proc_ssize_t n = utf8proc_decompose(bytes, 0, NULL, 0, composed);
    int32_t *codes = n >= 0 && n < INT32_MAX / 8 ? attn__arena_array(f->memory, n + 3, sizeof *codes) : NULL; /* 3: room for "..." */
    if (codes == NULL) {
        return ATTN_ENOMEM;
    }
    (void)utf8proc_decompose(bytes, 0, codes, n, composed);
    n = utf8proc_normalize_utf32(codes, n, composed);
    t->glyphs = n >= 0 ? attn__arena_array(f->memory, n + 3, sizeof *t->glyphs) : NULL;
    if (t->glyphs == NULL) {
        return ATTN_ENOMEM;
    }
    t->codes = codes;
    t->n = (int)n;
    for (int i = 0; i < t->n; i++) {
        codes[i] = visible(codes[i]);
        attn__fonts_use(f, codes[i]);
    }
    return ATTN_OK;
}

static double width(const attn__fonts *f, const attn__text *t, int begin, int end)
{
    double w = 0;
    for (int i = begin; i < end; i++) {
        w += attn__glyph_advance(f, t->glyphs[i], t->size);
    }
    return w;
}

/* Characters that stay before an ellipsis: as many whole graphemes as leave room for it. */
static int cut(const attn__fonts *f, const attn__text *t, double room)
{
    utf8proc_int32_t state = 0;
    int keep = 0;
    double w = 0;
    for (int i = 0; i < t->n && w <= room; i++) {
        if (i > 0 && utf8proc_grapheme_break_stateful(t->codes[i - 1], t->codes[i], &state)) {
            keep = i;
        }
        w += attn__glyph_advance(f, t->glyphs[i], t->size);
    }
    return keep;
}

static void shorten(attn__fonts *f, attn__text *t, double most)
{
    if (width(f, t, 0, t->n) <= most) {
        return;
    }
    attn__glyph ellipsis = attn__fonts_glyph(f, ATTN__ELLIPSIS);
    int dots = 1;
    if (ellipsis.font < 0) {
        ellipsis = attn__fonts_glyph(f, '.');
        dots = 3;
    }
    if (dots * attn__glyph_advance(f, ellipsis, t->size) > most) { /* in a font whose dots lie far apart */
        ellipsis = (attn__glyph){.font = ATTN__FONT_BUILTIN, .index = '.'};
        dots = 3;
    }
    t->n = cut(f, t, most - dots * attn__glyph_advance(f, ellipsis, t->size));
    for (int i = 0; i < dots; i++) {
        t->codes[t->n] = dots == 1 ? ATTN__ELLIPSIS : '.';
        t->glyphs[t->n++] = ellipsis;
    }
}

static attn__box ink_of(const attn__fonts *f, const attn__text *t, int i, double x)
{
    double left = floor(x);
    int phase = (int)((x - left) * ATTN__PHASES);
    return attn__box_move(attn__glyph_ink(f, t->glyphs[i], t->size, phase), (int)left, 0);
}

/* How the pixels of a glyph are laid on the canvas. */
typedef enum turn { LEVEL, LEFT, RIGHT } turn;

/* Where a tilted glyph turns: the middle of its ink comes to lie in the middle of the character's square. */
typedef struct pivot {
    attn__point from, to;
} pivot;

static attn__point middle(const attn__fonts *f, attn__glyph g, int size)
{
    return (attn__point){(int)lround(attn__glyph_advance(f, g, size) / 2), (int)lround(-0.38 * size)};
}

static pivot pivot_of(const attn__fonts *f, attn__glyph g, int size)
{
    attn__box b = attn__glyph_ink(f, g, size, 0);
    return (pivot){{(b.x0 + b.x1) / 2, (b.y0 + b.y1) / 2}, middle(f, g, size)};
}

/* Pixel (u, v) of a glyph, relative to its origin, relative to a place on the canvas. */
static attn__point turned(turn how, pivot p, int u, int v)
{
    switch (how) {
    case LEFT: /* right becomes up, down becomes right */
        return (attn__point){v, -1 - u};
    case RIGHT: /* right becomes down, down becomes left */
        return (attn__point){p.to.x + p.from.y - v - 1, p.to.y - p.from.x + u};
    default:
        return (attn__point){u, v};
    }
}

/* Stacked characters: centred, one below the other, the last one's foot at y = 0. */
int attn__stack_base(const attn__text *t, int i)
{
    return (int)lround(-(t->n - 1 - i) * 1.1 * t->size - 0.12 * t->size);
}

static attn__point stack_place(const attn__fonts *f, const attn__text *t, int i)
{
    return (attn__point){-middle(f, t->glyphs[i], t->size).x, attn__stack_base(t, i)};
}

static attn__box stacked_ink(const attn__fonts *f, const attn__text *t, int i)
{
    attn__point at = stack_place(f, t, i);
    attn__box b = attn__glyph_ink(f, t->glyphs[i], t->size, 0);
    if (t->glyphs[i].tilt && !attn__box_empty(b)) {
        pivot p = pivot_of(f, t->glyphs[i], t->size);
        attn__point a = turned(RIGHT, p, b.x0, b.y1 - 1), z = turned(RIGHT, p, b.x1 - 1, b.y0);
        b = (attn__box){a.x, a.y, z.x + 1, z.y + 1};
    }
    return attn__box_move(b, at.x, at.y);
}

static bool can_stack(const attn__text *t)
{
    bool any = false;
    for (int i = 0; i < t->n; i++) {
        any = any || t->glyphs[i].wide;
        if (!t->glyphs[i].wide && !t->glyphs[i].tilt) {
            return false;
        }
    }
    return any;
}

static void measure(const attn__fonts *f, attn__text *t)
{
    double x = 0;
    t->flat = t->tall = (attn__box){0, 0, 0, 0};
    for (int i = 0; i < t->n; i++) {
        t->flat = attn__box_union(t->flat, ink_of(f, t, i, x));
        x += attn__glyph_advance(f, t->glyphs[i], t->size);
    }
    t->stacked = can_stack(t);
    if (!t->stacked) {
        t->tall = (attn__box){t->flat.y0, -t->flat.x1, t->flat.y1, -t->flat.x0};
        return;
    }
    for (int i = 0; i < t->n; i++) {
        t->tall = attn__box_union(t->tall, stacked_ink(f, t, i));
    }
}

static void resolve(attn__fonts *f, attn__text *t, int size)
{
    t->size = size;
    for (int i = 0; i < t->n; i++) {
        t->glyphs[i] = attn__fonts_glyph(f, t->codes[i]);
    }
}

void attn__text_set(attn__fonts *f, attn__text *t, int size, double max_em)
{
    resolve(f, t, size);
    if (max_em > 0) {
        shorten(f, t, max_em * size);
    }
    measure(f, t);
}

void attn__ascii_set(attn__fonts *f, attn__ascii *a, const char *string, int size)
{
    a->text = (attn__text){.codes = a->codes, .glyphs = a->glyphs};
    for (int i = 0; i < ATTN__NUMBER_SIZE && string[i] != '\0'; i++) {
        a->codes[i] = (unsigned char)string[i];
        a->text.n = i + 1;
    }
    resolve(f, &a->text, size);
    measure(f, &a->text);
}

static void stamp(attn__fonts *f, attn_image *canvas, const attn__text *t, int i, int phase, turn how, attn__point at, const uint8_t rgb[3])
{
    const attn__drawn_glyph *d = attn__glyph_pixels(f, t->glyphs[i], t->size, phase);
    if (d == NULL) {
        return;
    }
    pivot turning = pivot_of(f, t->glyphs[i], t->size);
    const uint8_t *coverage = d->coverage;
    for (int v = d->ink.y0; v < d->ink.y1; v++) {
        for (int u = d->ink.x0; u < d->ink.x1; u++) {
            attn__point p = turned(how, turning, u, v);
            attn__blend(canvas, at.x + p.x, at.y + p.y, rgb, *coverage++);
        }
    }
}

static void draw_stacked(attn__fonts *f, attn_image *canvas, const attn__text *t, int x, int y, const uint8_t rgb[3])
{
    for (int i = 0; i < t->n; i++) {
        attn__point p = stack_place(f, t, i);
        stamp(f, canvas, t, i, 0, t->glyphs[i].tilt ? RIGHT : LEVEL, (attn__point){x + p.x, y + p.y}, rgb);
    }
}

void attn__text_draw(attn__fonts *f, attn_image *canvas, const attn__text *t, bool upright, int x, int y, const uint8_t rgb[3])
{
    if (upright && t->stacked) {
        draw_stacked(f, canvas, t, x, y, rgb);
        return;
    }
    double pen = 0;
    for (int i = 0; i < t->n; i++) {
        int whole = (int)floor(pen), phase = (int)((pen - whole) * ATTN__PHASES);
        attn__point at = upright ? (attn__point){x, y - whole} : (attn__point){x + whole, y};
        stamp(f, canvas, t, i, phase, upright ? LEFT : LEVEL, at, rgb);
        pen += attn__glyph_advance(f, t->glyphs[i], t->size);
    }
}

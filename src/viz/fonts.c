/* The chain of fonts of one picture: the first that has a character draws it. After them come the built-in letters, then the box. */
#include "viz/viz.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <utf8proc.h>

#include "core/file.h"

#define BUCKETS 1024

attn_status attn__fonts_init(attn__fonts *f, attn__arena *memory, const attn_allocator *allocator, attn_error *error)
{
    *f = (attn__fonts){.memory = memory, .allocator = allocator};
    f->used = attn__arena_alloc(memory, ATTN__CODE_POINTS / 8);
    f->bucket = attn__arena_array(memory, BUCKETS, sizeof(attn__drawn_glyph *));
    if (f->used == NULL || f->bucket == NULL) {
        return attn__fail(error, ATTN_ENOMEM, "heatmap: out of memory");
    }
    memset(f->used, 0, ATTN__CODE_POINTS / 8);
    for (int i = 0; i < BUCKETS; i++) {
        f->bucket[i] = NULL;
    }
    return ATTN_OK;
}

void attn__fonts_free(attn__fonts *f)
{
    for (int i = 0; i < f->n; i++) {
        attn__free(f->allocator, f->bytes[i]);
    }
    f->n = 0;
}

void attn__fonts_use(attn__fonts *f, int32_t code)
{
    f->used[code / 8] |= (uint8_t)(1 << code % 8);
    f->last_used = code > f->last_used ? code : f->last_used;
}

bool attn__fonts_uses(const attn__fonts *f, int32_t code)
{
    return (f->used[code / 8] >> code % 8 & 1) != 0;
}

int32_t attn__fonts_next(const attn__fonts *f, int32_t code)
{
    while (code <= f->last_used && !attn__fonts_uses(f, code)) {
        code = f->used[code / 8] == 0 ? (code | 7) + 1 : code + 1; /* eight at a time where none is used, as nearly everywhere */
    }
    return code <= f->last_used ? code : ATTN__CODE_POINTS;
}

static bool uses_any(const attn__fonts *f, int32_t first, int32_t last)
{
    return attn__fonts_next(f, first) <= last;
}

const char *attn__fonts_language(const attn__fonts *f)
{
    if (uses_any(f, 0x3041, 0x30fa) || uses_any(f, 0xff66, 0xff9d)) { /* kana, narrow kana */
        return "ja";
    }
    if (uses_any(f, 0x1100, 0x11ff) || uses_any(f, 0xac00, 0xd7a3)) { /* Hangul */
        return "ko";
    }
    return uses_any(f, 0x3400, 0x9fff) || uses_any(f, 0x20000, 0x3ffff) ? "zh-Hans" : NULL;
}

attn_status attn__fonts_add(attn__fonts *f, const char *path, int face, attn_error *error)
{
    if (f->n == ATTN__MAX_FONTS) {
        return attn__fail(error, ATTN_EFORMAT, "%s: too many fonts", path);
    }
    size_t size;
    attn_status status = attn__read_file(path, f->allocator, &f->bytes[f->n], &size, error);
    if (status != ATTN_OK) {
        return status;
    }
    const char *why;
    attn__font *font = attn__font_open(f->memory, (const uint8_t *)f->bytes[f->n], size, face, &why);
    if (font == NULL) {
        attn__free(f->allocator, f->bytes[f->n]);
        return why == NULL ? attn__fail(error, ATTN_ENOMEM, "%s: out of memory", path)
                           : attn__fail(error, ATTN_EFORMAT, "%s: %s", path, why);
    }
    f->font[f->n++] = font;
    return ATTN_OK;
}

/* "FILE:7" is face 7 of FILE. */
static size_t split_face(const char *font, int *face)
{
    const char *colon = strrchr(font, ':');
    *face = 0;
    if (colon == NULL || colon[1] == '\0' || strlen(colon) > 5 || strspn(colon + 1, "0123456789") != strlen(colon + 1)) {
        return strlen(font);
    }
    *face = (int)strtol(colon + 1, NULL, 10);
    return (size_t)(colon - font);
}

attn_status attn__fonts_choose(attn__fonts *f, const char *font, attn_error *error)
{
    if (font == NULL) {
        attn_status status = attn__fonts_find(f);
        return status == ATTN_OK ? status : attn__fail(error, status, "heatmap: out of memory");
    }
    int face;
    size_t length = split_face(font, &face);
    char *path = attn__arena_copy(f->memory, font, length + 1);
    if (path == NULL) {
        return attn__fail(error, ATTN_ENOMEM, "heatmap: out of memory");
    }
    path[length] = '\0';
    attn_error why;
    attn_status status = attn__fonts_add(f, path, face, &why);
    if (status == ATTN_EFORMAT) { /* a broken font costs its letters, not the picture */
        (void)snprintf(f->remark, sizeof f->remark, "font %.200s", why.message);
        return ATTN_OK;
    }
    return status == ATTN_OK ? status : attn__fail(error, status, "%s", why.message);
}

static bool is_invisible(int32_t code)
{
    return (code >= 0xfe00 && code <= 0xfe0f) || utf8proc_category(code) == UTF8PROC_CATEGORY_CF;
}

static bool is_mark(int32_t code)
{
    utf8proc_category_t c = utf8proc_category(code);
    return c == UTF8PROC_CATEGORY_MN || c == UTF8PROC_CATEGORY_ME;
}

static bool is_tilting(int32_t code)
{
    utf8proc_category_t c = utf8proc_category(code);
    return (c >= UTF8PROC_CATEGORY_PD && c <= UTF8PROC_CATEGORY_PF) || code == ATTN__ELLIPSIS; /* dashes, brackets, quotation marks */
}

attn__glyph attn__fonts_glyph(const attn__fonts *f, int32_t code)
{
    if (is_invisible(code)) {
        return (attn__glyph){.font = ATTN__FONT_BLANK, .mark = true};
    }
    attn__glyph g = {.font = ATTN__FONT_HEXBOX, .index = code};
    for (int i = 0; i < f->n && g.font < 0; i++) {
        int glyph = attn__font_find(f->font[i], code);
        if (glyph != 0) {
            g.font = (int16_t)i;
            g.index = glyph;
            g.mark = is_mark(code);
        }
    }
    if (g.font < 0 && attn__builtin_has(code)) {
        g.font = ATTN__FONT_BUILTIN;
    }
    g.wide = utf8proc_charwidth(code) == 2;
    g.tilt = g.font != ATTN__FONT_HEXBOX && is_tilting(code);
    return g;
}

double attn__glyph_advance(const attn__fonts *f, attn__glyph g, int size)
{
    if (g.mark) {
        return 0;
    }
    if (g.font >= 0) {
        return attn__font_advance(f->font[g.font], g.index, size);
    }
    return g.font == ATTN__FONT_BUILTIN ? attn__builtin_advance(g.index, size) : attn__hexbox_advance(g.index, size);
}

attn__box attn__glyph_ink(const attn__fonts *f, attn__glyph g, int size, int phase)
{
    switch (g.font) {
    case ATTN__FONT_BLANK:
        return (attn__box){0, 0, 0, 0};
    case ATTN__FONT_BUILTIN:
        return attn__builtin_ink(g.index, size);
    case ATTN__FONT_HEXBOX:
        return attn__hexbox_ink(g.index, size);
    default:
        return attn__font_ink(f->font[g.font], g.index, size, (double)phase / ATTN__PHASES);
    }
}

/* New glyph in front of its bucket. */
static attn__drawn_glyph *draw(attn__fonts *f, attn__drawn_glyph **bucket, attn__glyph g, int size, int phase, attn__box ink)
{
    size_t pixels = (size_t)(ink.x1 - ink.x0) * (size_t)(ink.y1 - ink.y0);
    attn__drawn_glyph *d = attn__arena_alloc(f->memory, sizeof *d + pixels);
    if (d == NULL) {
        return NULL;
    }
    *d = (attn__drawn_glyph){.next = *bucket, .glyph = g, .size = size, .phase = phase, .ink = ink};
    if (g.font == ATTN__FONT_BUILTIN) {
        attn__builtin_render(g.index, size, ink, d->coverage);
    } else if (g.font == ATTN__FONT_HEXBOX) {
        attn__hexbox_render(g.index, size, ink, d->coverage);
    } else if (!attn__font_render(f->font[g.font], g.index, size, (double)phase / ATTN__PHASES, ink, d->coverage)) {
        return NULL;
    }
    return *bucket = d;
}

const attn__drawn_glyph *attn__glyph_pixels(attn__fonts *f, attn__glyph g, int size, int phase)
{
    attn__box ink = attn__glyph_ink(f, g, size, phase);
    if (f->out_of_memory || attn__box_empty(ink)) {
        return NULL;
    }
    uint32_t hash = ((uint32_t)g.index * 31 + (uint32_t)(g.font + 4) * 7 + (uint32_t)size * 5 + (uint32_t)phase) * UINT32_C(2654435761);
    attn__drawn_glyph **bucket = &f->bucket[hash >> 22];
    for (attn__drawn_glyph *d = *bucket; d != NULL; d = d->next) {
        if (d->glyph.font == g.font && d->glyph.index == g.index && d->size == size && d->phase == phase) {
            return d;
        }
    }
    attn__drawn_glyph *d = draw(f, bucket, g, size, phase, ink);
    f->out_of_memory = d == NULL;
    return d;
}

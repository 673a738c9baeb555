/* Outlines to coverage: the only file that sees stb_truetype. Its memory comes from the picture's arena and is given back after each glyph;
 * when there is none, its allocation does not return but jumps back to us, for it does not check everywhere. Its assertions are off: what
 * they guard has been checked (sfnt.c, sfnt_glyph.c) or reads as zero. */
#include <math.h>
#include <setjmp.h>
#include <string.h>

#include "viz/viz.h"

typedef struct scratch {
    attn__arena *memory;
    jmp_buf out_of_memory;
} scratch;

#define SLACK 64 /* stb looks one point beyond a contour that consists of a single one */

static void *scratch_alloc(size_t size, void *userdata)
{
    scratch *s = userdata;
    void *p = size < (size_t)1 << 30 ? attn__arena_alloc(s->memory, size + SLACK) : NULL;
    if (p == NULL) {
        longjmp(s->out_of_memory, 1);
    }
    return memset(p, 0, size + SLACK);
}

#define STBTT_STATIC
#define STBTT_assert(x)    ((void)0)
#define STBTT_malloc(x, u) scratch_alloc((size_t)(x), (u))
#define STBTT_free(x, u)   ((void)(u), (void)(x))
#define STB_TRUETYPE_IMPLEMENTATION
#include <stb_truetype.h>

struct attn__font {
    attn__sfnt sfnt;
    stbtt_fontinfo info;
    attn__arena *memory;
};

/* PostScript outlines are read through bounded buffers, but stb_truetype's own start takes the table to be half a gigabyte long. This is
 * that start with the true size: the indexes of names, dictionaries, strings and subroutines, then what the top dictionary points to. */
static bool open_cff(stbtt_fontinfo *info, const attn__sfnt *f)
{
    stbtt__buf b = stbtt__new_buf(f->data + f->cff, f->cff_size);
    stbtt_uint32 kind = 2, glyphs = 0, dictionaries = 0, select = 0;
    info->cff = b;
    stbtt__buf_skip(&b, 2);
    stbtt__buf_seek(&b, stbtt__buf_get8(&b));
    (void)stbtt__cff_get_index(&b);
    stbtt__buf tops = stbtt__cff_get_index(&b), top = stbtt__cff_index_get(tops, 0);
    (void)stbtt__cff_get_index(&b);
    info->gsubrs = stbtt__cff_get_index(&b);
    stbtt__dict_get_ints(&top, 17, 1, &glyphs);
    stbtt__dict_get_ints(&top, 0x100 | 6, 1, &kind);
    stbtt__dict_get_ints(&top, 0x100 | 36, 1, &dictionaries);
    stbtt__dict_get_ints(&top, 0x100 | 37, 1, &select);
    info->subrs = stbtt__get_subrs(b, top);
    if (dictionaries != 0) {
        stbtt__buf_seek(&b, (int)dictionaries);
        info->fontdicts = stbtt__cff_get_index(&b);
        info->fdselect = stbtt__buf_range(&b, (int)select, b.size - (int)select);
    }
    stbtt__buf_seek(&b, (int)glyphs);
    info->charstrings = stbtt__cff_get_index(&b);
    return kind == 2 && glyphs != 0 && stbtt__cff_index_count(&info->charstrings) >= f->glyphs && (dictionaries == 0 || select != 0);
}

static bool open_info(stbtt_fontinfo *info, const attn__sfnt *f)
{
    unsigned char *data = (unsigned char *)(uintptr_t)f->data; /* stb never writes to it */
    if (f->cff_size == 0) {
        return stbtt_InitFont(info, data, (int)f->start) != 0;
    }
    info->data = data;
    info->fontstart = (int)f->start;
    info->numGlyphs = f->glyphs;
    info->head = (int)stbtt__find_table(data, f->start, "head");
    info->hhea = (int)stbtt__find_table(data, f->start, "hhea");
    info->hmtx = (int)stbtt__find_table(data, f->start, "hmtx");
    return open_cff(info, f);
}

attn__font *attn__font_open(attn__arena *memory, const uint8_t *bytes, size_t size, int face, const char **why)
{
    attn__sfnt sfnt;
    *why = attn__sfnt_open(&sfnt, bytes, size, face);
    if (*why != NULL) {
        return NULL;
    }
    attn__font *f = attn__arena_alloc(memory, sizeof *f);
    if (f == NULL) {
        return NULL;
    }
    *f = (attn__font){.sfnt = sfnt, .memory = memory};
    if (!open_info(&f->info, &sfnt)) {
        *why = "the outlines cannot be read";
        return NULL;
    }
    return f;
}

/* An outline more than this many ems wide or high, or so long a way to the next letter, is a fault of the font. */
#define MAX_EMS 8

/* The way to the next letter, in units of the font. Its 16 bits have no sign, which stb gives them. */
static int way(const attn__font *f, int glyph)
{
    int advance = 0;
    stbtt_GetGlyphHMetrics(&f->info, glyph, &advance, NULL);
    return (uint16_t)advance;
}

int attn__font_find(const attn__font *f, int32_t code)
{
    int glyph = attn__sfnt_find(&f->sfnt, code), x0 = 0, y0 = 0, x1 = 0, y1 = 0;
    if (glyph == 0 || !attn__sfnt_glyph_ok(&f->sfnt, glyph)) {
        return 0;
    }
    (void)stbtt_GetGlyphBox(&f->info, glyph, &x0, &y0, &x1, &y1);
    int most = MAX_EMS * f->sfnt.units;
    bool sane = x0 <= x1 && y0 <= y1 && x0 > -most && y0 > -most && x1 < most && y1 < most && way(f, glyph) <= most;
    return sane ? glyph : 0;
}

static float scale(const attn__font *f, int size)
{
    return (float)size / (float)f->sfnt.units;
}

double attn__font_advance(const attn__font *f, int glyph, int size)
{
    return (double)way(f, glyph) * (double)scale(f, size);
}

attn__box attn__font_ink(const attn__font *f, int glyph, int size, double shift)
{
    attn__box b = {0, 0, 0, 0};
    stbtt_GetGlyphBitmapBoxSubpixel(&f->info, glyph, scale(f, size), scale(f, size), (float)shift, 0, &b.x0, &b.y0, &b.x1, &b.y1);
    return b;
}

bool attn__font_render(attn__font *f, int glyph, int size, double shift, attn__box ink, uint8_t *coverage)
{
    scratch s = {.memory = f->memory};
    attn__mark mark = attn__arena_mark(f->memory);
    int width = ink.x1 - ink.x0, height = ink.y1 - ink.y0;
    memset(coverage, 0, (size_t)width * (size_t)height);
    f->info.userdata = &s;
    if (setjmp(s.out_of_memory) != 0) {
        attn__arena_rewind(f->memory, mark);
        return false;
    }
    stbtt_MakeGlyphBitmapSubpixel(&f->info, coverage, width, height, width, scale(f, size), scale(f, size), (float)shift, 0, glyph);
    attn__arena_rewind(f->memory, mark);
    return true;
}

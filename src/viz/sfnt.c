/* Is this a sound font file? stb_truetype trusts every number in a font, so all that it will follow is checked here first, and the
 * character table is read here altogether. Format: the OpenType specification, "The OpenType Font File", "cmap", "glyf", "loca". Offsets
 * are from the start of the file and fit 32 bits, for larger files are refused. */
#include "viz/viz.h"

#include <string.h>

#define MAX_FILE ((size_t)1 << 30)

typedef struct table {
    uint32_t at, size; /* size 0: the font has none */
} table;

static bool inside(const attn__sfnt *f, uint64_t at, uint64_t size)
{
    return at <= f->size && size <= f->size - at;
}

static uint32_t u16(const attn__sfnt *f, uint64_t at)
{
    return (uint32_t)f->data[at] << 8 | f->data[at + 1];
}

static uint32_t u32(const attn__sfnt *f, uint64_t at)
{
    return u16(f, at) << 16 | u16(f, at + 2);
}

static bool is_tag(const attn__sfnt *f, uint64_t at, const char *tag)
{
    return memcmp(f->data + at, tag, 4) == 0;
}

/* Finds the face; a plain font has face 0 only. */
static const char *find_face(attn__sfnt *f, int face)
{
    if (f->size >= MAX_FILE) {
        return "the file is too large for a font";
    }
    if (!inside(f, 0, 12)) {
        return "too short for a font";
    }
    if (!is_tag(f, 0, "ttcf")) {
        return face == 0 ? NULL : "the file has one face only, number 0";
    }
    uint32_t faces = u32(f, 8);
    if (!inside(f, 12, 4 * (uint64_t)faces)) {
        return "the list of faces is broken";
    }
    if (face < 0 || (uint32_t)face >= faces) {
        return "the file has no face of that number";
    }
    f->start = u32(f, 12 + 4 * (uint64_t)face);
    return inside(f, f->start, 12) ? NULL : "the list of faces is broken";
}

/* Every table must lie inside the file, used or not. */
static const char *check_directory(const attn__sfnt *f)
{
    if (!is_tag(f, f->start, "\0\1\0\0") && !is_tag(f, f->start, "true") && !is_tag(f, f->start, "OTTO")) {
        return "not a TrueType or OpenType font";
    }
    uint32_t tables = u16(f, f->start + 4);
    if (!inside(f, f->start + (uint64_t)12, 16 * (uint64_t)tables)) {
        return "the table directory is cut off";
    }
    for (uint32_t i = 0; i < tables; i++) {
        uint64_t record = f->start + (uint64_t)12 + 16 * (uint64_t)i;
        if (!inside(f, u32(f, record + 8), u32(f, record + 12))) {
            return "a table lies outside the file: it is cut off or damaged";
        }
    }
    return NULL;
}

/* The first of that tag, which is also the one that stb takes. */
static table find_table(const attn__sfnt *f, const char *tag)
{
    uint32_t tables = u16(f, f->start + 4);
    for (uint32_t i = 0; i < tables; i++) {
        uint64_t record = f->start + (uint64_t)12 + 16 * (uint64_t)i;
        if (is_tag(f, record, tag)) {
            return (table){u32(f, record + 8), u32(f, record + 12)};
        }
    }
    return (table){0, 0};
}

/* Whether the subtable at `at`, of a cmap that ends at `end`, is one that attn__sfnt_find reads, and whole. */
static bool cmap_readable(const attn__sfnt *f, uint64_t at, uint64_t end)
{
    if (at + 16 > end) {
        return false;
    }
    if (u16(f, at) == 12) {
        return 16 + 12 * (uint64_t)u32(f, at + 12) <= end - at;
    }
    return u16(f, at) == 4 && 16 + 4 * (uint64_t)u16(f, at + 6) <= end - at;
}

/* Unicode tables only, and the one for all planes before the one for the first. */
static const char *choose_cmap(attn__sfnt *f)
{
    table t = find_table(f, "cmap");
    if (t.size < 4 || 4 + 8 * (uint64_t)u16(f, t.at + 2) > t.size) {
        return "the character table (cmap) is missing or cut off";
    }
    uint32_t best = 0;
    for (uint32_t i = 0; i < u16(f, t.at + 2); i++) {
        uint64_t record = t.at + (uint64_t)4 + 8 * (uint64_t)i;
        uint32_t platform = u16(f, record), encoding = u16(f, record + 2);
        uint64_t at = t.at + (uint64_t)u32(f, record + 4), end = (uint64_t)t.at + t.size;
        bool unicode = platform == 0 || (platform == 3 && (encoding == 1 || encoding == 10));
        if (unicode && cmap_readable(f, at, end) && u16(f, at) > best) {
            best = u16(f, at);
            f->cmap = (uint32_t)at;
        }
    }
    return best > 0 ? NULL : "no Unicode character table of format 4 or 12";
}

static const char *check_metrics(attn__sfnt *f)
{
    table head = find_table(f, "head"), hhea = find_table(f, "hhea"), hmtx = find_table(f, "hmtx"), maxp = find_table(f, "maxp");
    if (head.size < 54 || hhea.size < 36 || maxp.size < 6) {
        return "one of the tables head, hhea, maxp is missing or cut off";
    }
    f->units = (int)u16(f, head.at + (uint64_t)18);
    f->glyphs = (int)u16(f, maxp.at + (uint64_t)4);
    f->long_loca = u16(f, head.at + (uint64_t)50) == 1;
    uint32_t metrics = u16(f, hhea.at + (uint64_t)34);
    if (f->units < 16 || f->units > 16384 || metrics == 0 || hmtx.size < 4 * (uint64_t)metrics) {
        return "the size of the em or the table of widths (hmtx) is broken";
    }
    return u16(f, head.at + (uint64_t)50) <= 1 ? NULL : "the glyph index (loca) has an unknown format";
}

static const char *check_outlines(attn__sfnt *f)
{
    table glyf = find_table(f, "glyf"), loca = find_table(f, "loca"), cff = find_table(f, "CFF ");
    if (find_table(f, "fvar").size > 0 || find_table(f, "CFF2").size > 0) {
        return "variable fonts are not supported; use one with a fixed weight";
    }
    if (glyf.size > 0) {
        f->glyf = glyf.at;
        f->glyf_size = glyf.size;
        f->loca = loca.at;
        bool whole = ((uint64_t)f->glyphs + 1) * (f->long_loca ? 4 : 2) <= loca.size;
        return whole ? NULL : "the glyph index (loca) is missing or cut off";
    }
    f->cff = cff.at;
    f->cff_size = cff.size;
    return cff.size >= 8 ? NULL : "no outlines (neither glyf nor CFF)";
}

const char *attn__sfnt_open(attn__sfnt *f, const uint8_t *bytes, size_t size, int face)
{
    *f = (attn__sfnt){.data = bytes, .size = size};
    const char *why = find_face(f, face);
    why = why != NULL ? why : check_directory(f);
    why = why != NULL ? why : choose_cmap(f);
    why = why != NULL ? why : check_metrics(f);
    return why != NULL ? why : check_outlines(f);
}

/* Groups of (first, last, first glyph). */
static int find_in_groups(const attn__sfnt *f, uint32_t code)
{
    uint32_t low = 0, high = u32(f, f->cmap + (uint64_t)12);
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        uint64_t group = f->cmap + (uint64_t)16 + 12 * (uint64_t)middle;
        if (code > u32(f, group + 4)) {
            low = middle + 1;
        } else if (code < u32(f, group)) {
            high = middle;
        } else {
            uint64_t glyph = (uint64_t)u32(f, group + 8) + (code - u32(f, group));
            return glyph < (uint64_t)f->glyphs ? (int)glyph : 0;
        }
    }
    return 0;
}

/* Segments as four arrays: last, (a pad), first, delta, offset of an array of glyphs relative to the place of the offset itself. */
static int find_in_segments(const attn__sfnt *f, uint32_t code)
{
    uint64_t bytes = u16(f, f->cmap + (uint64_t)6) & ~UINT32_C(1), last = f->cmap + (uint64_t)14, first = last + bytes + 2;
    uint64_t low = 0, high = bytes / 2;
    while (low < high) {
        uint64_t middle = low + (high - low) / 2;
        if (code > u16(f, last + 2 * middle)) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    if (code > 0xffff || 2 * low >= bytes || code < u16(f, first + 2 * low)) {
        return 0;
    }
    uint32_t delta = u16(f, first + bytes + 2 * low);
    uint64_t place = first + 2 * bytes + 2 * low;
    uint32_t offset = u16(f, place), glyph = code;
    if (offset != 0) {
        uint64_t at = place + offset + 2 * (uint64_t)(code - u16(f, first + 2 * low));
        glyph = inside(f, at, 2) ? u16(f, at) : 0;
    }
    glyph = offset != 0 && glyph == 0 ? 0 : (glyph + delta) & 0xffff;
    return (int)glyph < f->glyphs ? (int)glyph : 0;
}

int attn__sfnt_find(const attn__sfnt *f, int32_t code)
{
    return u16(f, f->cmap) == 12 ? find_in_groups(f, (uint32_t)code) : find_in_segments(f, (uint32_t)code);
}

/* What a picture has to say besides what it shows. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <utf8proc.h>

#include "viz/viz.h"

/* Appends a line if there is room for all of it. */
static void note(char notes[ATTN_NOTES_SIZE], const char *format, ...) ATTN_PRINTF(2, 3);
static void note(char notes[ATTN_NOTES_SIZE], const char *format, ...)
{
    size_t used = strlen(notes), room = ATTN_NOTES_SIZE - used;
    char *start = notes + used;
    va_list args;
    va_start(args, format);
    int n = vsnprintf(start, room, format, args);
    va_end(args);
    if (n < 0 || (size_t)n + 1 >= room) {
        *start = '\0';
        return;
    }
    start[n] = '\n';
    start[n + 1] = '\0';
}

/* Debian's packages of fonts with one weight and one colour, by the characters that lack one; the first that fits. */
static const struct {
    int32_t first, last;
    const char *package;
} packages[] = {
    {0x0000, 0x024f, "fonts-dejavu-core"},  {0x0370, 0x052f, "fonts-dejavu-core"},
    {0x1100, 0x11ff, "fonts-noto-cjk"},     {0x2400, 0x243f, "fonts-symbola"},
    {0x2000, 0x25ff, "fonts-dejavu-core"},  {0x2600, 0x27bf, "fonts-symbola"},
    {0x2e80, 0x312f, "fonts-wqy-microhei"}, {0x3130, 0x318f, "fonts-noto-cjk"},
    {0x3190, 0x9fff, "fonts-wqy-microhei"}, {0xac00, 0xd7ff, "fonts-noto-cjk"},
    {0xf900, 0xfaff, "fonts-wqy-microhei"}, {0xff00, 0xffef, "fonts-wqy-microhei"},
    {0x1d000, 0x1d7ff, "fonts-symbola"},    {0x1f000, 0x1faff, "fonts-symbola"},
    {0x20000, 0x3ffff, "fonts-noto-cjk"},   {0x0000, ATTN__CODE_POINTS, "fonts-noto-core"},
};
#define N_PACKAGES ((int)(sizeof packages / sizeof packages[0]))

static const char *package_for(int32_t code)
{
    int i = 0;
    while (code < packages[i].first || code > packages[i].last) {
        i++;
    }
    return packages[i].package;
}

/* The first characters without a glyph, and all packages that would help. */
static void note_missing(const attn__fonts *f, char notes[ATTN_NOTES_SIZE])
{
    enum { SHOWN = 16 };
    char list[SHOWN * 10] = "", wanted[200] = "";
    int missing = 0;
    for (int32_t c = attn__fonts_next(f, 0); c < ATTN__CODE_POINTS; c = attn__fonts_next(f, c + 1)) {
        if (attn__fonts_glyph(f, c).font != ATTN__FONT_HEXBOX) {
            continue;
        }
        if (missing++ < SHOWN) {
            (void)snprintf(list + strlen(list), sizeof list - strlen(list), " U+%04lX", (unsigned long)c);
        }
        const char *package = package_for(c);
        if (strstr(wanted, package) == NULL) {
            (void)snprintf(wanted + strlen(wanted), sizeof wanted - strlen(wanted), "%s%s", wanted[0] != '\0' ? ", " : "", package);
        }
    }
    if (missing > 0) {
        note(notes, "no glyph for%s%s, drawn as code points in boxes: install %s or name a font that has them", list,
             missing > SHOWN ? " and others" : "", wanted);
    }
}

static bool runs_leftwards(const attn__fonts *f)
{
    for (int32_t c = attn__fonts_next(f, 0x590); c < ATTN__CODE_POINTS; c = attn__fonts_next(f, c + 1)) {
        utf8proc_bidi_class_t class = (utf8proc_bidi_class_t)utf8proc_get_property(c)->bidi_class;
        if (class == UTF8PROC_BIDI_CLASS_R || class == UTF8PROC_BIDI_CLASS_AL) {
            return true;
        }
    }
    return false;
}

void attn__notes(const attn__plot *plot, const attn__plan *plan, const attn__fonts *fonts, bool drawn, char notes[ATTN_NOTES_SIZE])
{
    const attn_heatmap_layout *l = &plan->layout;
    notes[0] = '\0';
    if (fonts->remark[0] != '\0') {
        note(notes, "%s: built-in letters are used", fonts->remark);
    } else if (fonts->n == 0 && drawn) {
        note(notes, "no font was found, built-in letters are used: install the packages fonts-dejavu-core and fonts-wqy-microhei");
    }
    if (drawn) {
        note_missing(fonts, notes);
        if (runs_leftwards(fonts)) {
            note(notes, "words that run from right to left are drawn from left to right; an SVG or a page has them as they should be");
        }
    }
    if (l->block > 1) {
        note(notes, "each cell of the picture is the %s of %d x %d values: there are too many to draw them all",
             plot->diverging ? "farthest from 0" : "maximum", l->block, l->block);
    }
    if (l->label_step * l->block > 1) {
        note(notes, "one label in %d is shown: the cells are too small for more", l->label_step * l->block);
    }
    if (!l->numbers && plot->annotate == ATTN_ANNOTATE_AUTO) {
        note(notes, "numbers are hidden: cells of %d x %d pixels are too small for them", l->cell_width, l->cell_height);
    }
}

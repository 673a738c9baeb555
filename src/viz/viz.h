/* Pictures from numbers. Each part knows only those above it:
 *   number.c        doubles as text, the same in every locale
 *   cmap.c          colours
 *   canvas.c        pixels: rectangles, hatches, coverage
 *   sfnt.c          is this a sound font file?
 *   glyph.c         outlines to coverage (stb_truetype)
 *   builtin_face.c  letters without any font, and the box for a character that no font has
 *   fonts.c         the chain of fonts of one picture; font_find.c finds them on the machine
 *   text.c          labels: reading, measuring, shortening, drawing
 *   plan.c          where everything stands
 *   raster.c        the plan as pixels
 *   heatmap.c       from the caller's configuration to the picture
 *   png.c           pixels to a file (stb_image_write)
 * Everything of one picture lives in one arena. Not installed. */
#ifndef ATTN_VIZ_H
#define ATTN_VIZ_H

#include "attn/heatmap.h"
#include "core/core.h"

/* Bytes of a picture at which we refuse: the encoder counts in int and doubles its buffers, so this leaves it a factor of eight. */
#define ATTN__MAX_PICTURE ((int64_t)1 << 28)

/* ---- number.c ---- */

#define ATTN__NUMBER_SIZE 40
/* `digits` after the point, with an exponent from a million on. No sign before a rounded zero. */
void attn__number_fixed(double v, int digits, char text[ATTN__NUMBER_SIZE]);
/* As short as four significant digits allow. */
void attn__number_short(double v, char text[ATTN__NUMBER_SIZE]);

/* ---- cmap.c ---- */

#define ATTN__STEPS 256
/* Which of the colours of a map v in 0..1 has (clipped): 0..255. */
int attn__cmap_step(double v);

/* ---- canvas.c: `canvas` is an attn_image whose rgb may be drawn on; everything is clipped ---- */

typedef struct attn__box {
    int x0, y0, x1, y1; /* x1 and y1 lie outside */
} attn__box;

typedef struct attn__point {
    int x, y;
} attn__point;

bool attn__box_empty(attn__box b);
attn__box attn__box_union(attn__box a, attn__box b); /* an empty box adds nothing */
attn__box attn__box_move(attn__box b, int dx, int dy);

void attn__fill(attn_image *canvas, attn__box box, const uint8_t rgb[3]);
/* A line of `width` pixels just outside the box. */
void attn__frame(attn_image *canvas, attn__box box, int width, const uint8_t rgb[3]);
/* "Not a value": grey with diagonal lines; their phase follows the picture, so that neighbours join. */
void attn__hatch(attn_image *canvas, attn__box box, int scale);
/* Mixes one pixel with `rgb`: 0 leaves it, 255 replaces it. */
void attn__blend(attn_image *canvas, int x, int y, const uint8_t rgb[3], uint8_t coverage);

/* ---- sfnt.c ---- */

typedef struct attn__sfnt {
    const uint8_t *data;
    size_t size;
    uint32_t start; /* of the face in the file */
    uint32_t cmap;  /* of the chosen character table */
    uint32_t loca, glyf, glyf_size;
    uint32_t cff, cff_size; /* not 0: PostScript outlines */
    int glyphs, units;      /* number of glyphs, units an em */
    bool long_loca;
} attn__sfnt;

/* Checks what the rasteriser will trust. NULL if all is well, else what is wrong. */
const char *attn__sfnt_open(attn__sfnt *f, const uint8_t *bytes, size_t size, int face);
/* Number of a character's glyph, below f->glyphs; 0: none. */
int attn__sfnt_find(const attn__sfnt *f, int32_t code);
/* Whether the outline of a glyph stays inside the file and is well formed. PostScript outlines are checked while they are drawn.
 * (sfnt_glyph.c) */
bool attn__sfnt_glyph_ok(const attn__sfnt *f, int glyph);

/* ---- glyph.c ---- */

typedef struct attn__font attn__font;

/* `bytes` must outlive the font. NULL: *why says what is wrong with the file, or is NULL if memory is out. */
attn__font *attn__font_open(attn__arena *memory, const uint8_t *bytes, size_t size, int face, const char **why);
/* Number of a character's glyph; 0 if the font has none or a broken one. */
int attn__font_find(const attn__font *f, int32_t code);
double attn__font_advance(const attn__font *f, int glyph, int size);
/* Ink of a glyph whose origin lies `shift` (0..1) right of the pixel grid's origin; y points down. */
attn__box attn__font_ink(const attn__font *f, int glyph, int size, double shift);
/* Writes coverage for the box that attn__font_ink gave. False if memory is out. */
bool attn__font_render(attn__font *f, int glyph, int size, double shift, attn__box ink, uint8_t *coverage);

/* ---- builtin_face.c ---- */

bool attn__builtin_has(int32_t code);
double attn__builtin_advance(int32_t code, int size);
attn__box attn__builtin_ink(int32_t code, int size);
void attn__builtin_render(int32_t code, int size, attn__box ink, uint8_t *coverage);

/* The box with the code point in hexadecimal. */
double attn__hexbox_advance(int32_t code, int size);
attn__box attn__hexbox_ink(int32_t code, int size);
void attn__hexbox_render(int32_t code, int size, attn__box ink, uint8_t *coverage);

/* ---- fonts.c ---- */

#define ATTN__MAX_FONTS   8
#define ATTN__CODE_POINTS 0x110000
#define ATTN__ELLIPSIS    0x2026

enum { ATTN__FONT_BUILTIN = -1, ATTN__FONT_HEXBOX = -2, ATTN__FONT_BLANK = -3 };

typedef struct attn__glyph {
    int16_t font;  /* number in the chain, or one of the above */
    bool mark;     /* stands on the glyph before and takes no room */
    bool wide;     /* a square of the Chinese kind */
    bool tilt;     /* a bracket or dash, which turns when characters are stacked */
    int32_t index; /* glyph of the font; the code point for the built-in ones */
} attn__glyph;

typedef struct attn__drawn_glyph attn__drawn_glyph;

typedef struct attn__fonts {
    attn__arena *memory;
    const attn_allocator *allocator;
    int n;
    attn__font *font[ATTN__MAX_FONTS];
    char *bytes[ATTN__MAX_FONTS];
    uint8_t *used;              /* a bit a code point: characters of the labels */
    attn__drawn_glyph **bucket; /* glyphs already drawn */
    bool out_of_memory;         /* sticky: drawing goes on without effect and is checked once */
    char remark[256];           /* what was wrong with the font that was asked for */
} attn__fonts;

attn_status attn__fonts_init(attn__fonts *f, attn__arena *memory, const attn_allocator *allocator, attn_error *error);
void attn__fonts_free(attn__fonts *f);
void attn__fonts_use(attn__fonts *f, int32_t code);
bool attn__fonts_uses(const attn__fonts *f, int32_t code);
/* Opens FILE or FILE:FACE, or, for NULL, what the machine offers for the characters in use. ATTN_EIO, ATTN_ENOMEM. */
attn_status attn__fonts_choose(attn__fonts *f, const char *font, attn_error *error);
/* Adds a file to the chain: ATTN_OK, ATTN_EIO, ATTN_ENOMEM, or ATTN_EFORMAT with what is wrong with the font. */
attn_status attn__fonts_add(attn__fonts *f, const char *path, int face, attn_error *error);
attn__glyph attn__fonts_glyph(const attn__fonts *f, int32_t code);
double attn__glyph_advance(const attn__fonts *f, attn__glyph g, int size);
attn__box attn__glyph_ink(const attn__fonts *f, attn__glyph g, int size, int phase);

/* Quarters of a pixel at which glyphs are drawn. */
#define ATTN__PHASES 4

struct attn__drawn_glyph {
    attn__drawn_glyph *next;
    attn__glyph glyph;
    int size, phase;
    attn__box ink;
    uint8_t coverage[]; /* rows of the box */
};

/* A glyph's pixels, drawn once; NULL if there is no ink or memory is out (then f->out_of_memory). */
const attn__drawn_glyph *attn__glyph_pixels(attn__fonts *f, attn__glyph g, int size, int phase);

/* ---- font_find.c ---- */

/* Adds the machine's fonts for the characters in use: a Latin one first, then others, Chinese shapes preferred. */
attn_status attn__fonts_find(attn__fonts *f);

/* ---- text.c ---- */

typedef struct attn__text {
    int n; /* characters */
    int32_t *codes;
    attn__glyph *glyphs;
    int size;       /* pixels an em */
    attn__box flat; /* ink when written from left to right, origin at the baseline's left end */
    attn__box tall; /* ink when written upright: turned to the left, origin at the baseline's lower end; or, when every character is a
                       Chinese one, stacked, origin at the foot of the column's middle */
    bool stacked;
} attn__text;

/* Reads UTF-8 in composed form (NFC) and marks its characters as used. ATTN_EFORMAT: *fault is the offset of the first bad byte. */
attn_status attn__text_read(attn__fonts *f, const char *utf8, attn__text *t, int64_t *fault);
/* Chooses glyphs for `size`, shortens to `max_em` ems with an ellipsis between graphemes (0: never), and measures. */
void attn__text_set(attn__fonts *f, attn__text *t, int size, double max_em);
/* The same for a short ASCII string in the caller's arrays: numbers of cells. */
typedef struct attn__ascii {
    attn__text text;
    int32_t codes[ATTN__NUMBER_SIZE];
    attn__glyph glyphs[ATTN__NUMBER_SIZE];
} attn__ascii;
void attn__ascii_set(attn__fonts *f, attn__ascii *a, const char *string, int size);
/* Draws with the origin at (x, y). */
void attn__text_draw(attn__fonts *f, attn_image *canvas, const attn__text *t, bool upright, int x, int y, const uint8_t rgb[3]);

/* ---- plan.c ---- */

#define ATTN__MAX_PANELS 64
#define ATTN__TICKS      5
#define ATTN__CAPTIONS   2

typedef struct attn__plot_panel {
    const attn_heatmap_panel *data;
    attn__text title, *row_labels, *column_labels;
} attn__plot_panel;

/* What is to be drawn, measured. */
typedef struct attn__plot {
    int n_panels;
    attn__plot_panel *panels;
    attn__text title, row_title, column_title, bar_title;
    attn__text tick[ATTN__TICKS];
    attn__text caption[ATTN__CAPTIONS]; /* the first explains the hatch, the second thinned labels; n = 0: none */
    attn__text number[2];               /* widest number in a roomy and in a tight size */
    double vmin, vmax;
    bool below, above;             /* a visible value lies outside the range */
    uint8_t color[ATTN__STEPS][3]; /* of the colour map */
    int digits, cell, scale;       /* cell 0: chosen here */
    int top;                       /* numbers in the so many largest cells of a row; 0: in all */
    attn_annotate annotate;
    int label_size;
} attn__plot;

/* Where it stands: origins of texts, boxes of the rest, in pixels. */
typedef struct attn__plan {
    attn_heatmap_layout layout;
    int64_t width, height; /* before they are known to fit an int */
    bool upright;          /* column labels */
    int number_size;       /* index into plot->number */
    attn__point title, bar_title;
    struct {
        attn__point title, row_title, column_title;
        int label_right, label_foot; /* row labels end at this x, column labels stand on this y */
        attn__box cells;
    } panel[ATTN__MAX_PANELS];
    attn__box bar, swatch;
    int n_ticks;
    int tick_x, tick_length;
    attn__point caption[ATTN__CAPTIONS];
} attn__plan;

/* Cell sizes and label steps, then positions. Pure; cannot fail. */
void attn__plan_make(const attn__plot *plot, attn__plan *plan);
/* Bytes of the encoder's input. */
int64_t attn__plan_bytes(const attn__plan *plan);

/* ---- raster.c ---- */

/* Draws on an image of the plan's size, white at the start. Pure but for the glyph cache in `fonts`. */
void attn__raster(const attn__plot *plot, const attn__plan *plan, attn__fonts *fonts, attn_image *canvas);
/* Whether cell i of a panel holds no value. */
bool attn__cell_hidden(const attn_heatmap_panel *p, int64_t i);
/* What is written into it otherwise. */
double attn__cell_number(const attn_heatmap_panel *p, int64_t i);

#endif

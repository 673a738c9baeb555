/* Pictures from numbers. Each part knows only those above it:
 *   number.c        doubles as text, the same in every locale
 *   cmap.c          colours
 *   canvas.c        pixels: rectangles, hatches, coverage
 *   sfnt.c          is this a sound font file?
 *   glyph.c         outlines to coverage (stb_truetype)
 *   builtin_face.c  letters without any font, and the box for a character that no font has
 *   fonts.c         the chain of fonts of one picture; font_find.c finds them on the machine
 *   text.c          labels: reading, measuring, shortening, drawing
 *   plot.c          what is drawn: the caller's configuration, checked, read and measured
 *   cells.c         what a cell shows: the block of values behind it, its colour
 *   plan.c          where everything stands; plan_grid.c: the panels
 *   draw.c          the plan, stroke by stroke, with one of two pens: pixels.c, svg.c
 *   terminal.c      the plot as lines for a terminal; terminal_text.c: characters and colours there
 *   heatmap.c       from the caller's configuration to the picture; notes.c: what it has to say
 *   png.c           pixels to a file (stb_image_write)
 *   export.c        the values for other programs
 *   out.c           text that grows, for SVG, the terminal and exports
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
/* An sRGB colour in OKLab, where distances are those that the eye sees. */
void attn__oklab(const uint8_t rgb[3], double lab[3]);

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
/* "Not a value": grey with diagonal lines, rising or falling; their phase follows the picture, so that neighbours join. */
void attn__hatch(attn_image *canvas, attn__box box, bool falling, int scale);
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
    int32_t last_used;          /* the highest of them */
    attn__drawn_glyph **bucket; /* glyphs already drawn */
    bool out_of_memory;         /* sticky: drawing goes on without effect and is checked once */
    char remark[256];           /* what was wrong with the font that was asked for */
} attn__fonts;

attn_status attn__fonts_init(attn__fonts *f, attn__arena *memory, const attn_allocator *allocator, attn_error *error);
void attn__fonts_free(attn__fonts *f);
void attn__fonts_use(attn__fonts *f, int32_t code);
bool attn__fonts_uses(const attn__fonts *f, int32_t code);
/* The first character in use from `code` on, or ATTN__CODE_POINTS. */
int32_t attn__fonts_next(const attn__fonts *f, int32_t code);
/* Opens FILE or FILE:FACE, or, for NULL, what the machine offers for the characters in use. ATTN_EIO, ATTN_ENOMEM. */
attn_status attn__fonts_choose(attn__fonts *f, const char *font, attn_error *error);
/* Adds a file to the chain: ATTN_OK, ATTN_EIO, ATTN_ENOMEM, or ATTN_EFORMAT with what is wrong with the font. */
attn_status attn__fonts_add(attn__fonts *f, const char *path, int face, attn_error *error);
/* What the characters in use say of the language, where it decides the shapes of characters: "zh-Hans", "ja", "ko"; else NULL. */
const char *attn__fonts_language(const attn__fonts *f);
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

/* Offset of the first bad byte; -1: there is none. */
int64_t attn__utf8_fault(const char *utf8);
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
/* Baseline of character i of a stacked text, from the foot of the column. */
int attn__stack_base(const attn__text *t, int i);
/* Draws with the origin at (x, y). */
void attn__text_draw(attn__fonts *f, attn_image *canvas, const attn__text *t, bool upright, int x, int y, const uint8_t rgb[3]);

/* ---- out.c ---- */

typedef struct attn__out {
    char *text;
    size_t size, room;
    const attn_allocator *allocator;
    bool failed; /* sticky: out of memory */
} attn__out;

void attn__out_bytes(attn__out *o, const char *bytes, size_t size);
/* At most 400 bytes. */
void attn__out_format(attn__out *o, const char *format, ...) ATTN_PRINTF(2, 3);
void attn__out_code(attn__out *o, int32_t code);
/* Hands the text over. ATTN_ENOMEM if anything was lost. */
attn_status attn__out_end(attn__out *o, attn_document *document, attn_error *error);

/* ---- plot.c ---- */

#define ATTN__MAX_PANELS 64
#define ATTN__TICKS      5

/* Lines under the picture; those with a swatch first. */
enum { ATTN__LEGEND_MASKED, ATTN__LEGEND_NAN, ATTN__SAYS_BLOCK, ATTN__SAYS_STEP, ATTN__CAPTIONS };

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
    double tick_at[ATTN__TICKS];        /* 0: the lower end of the bar, 1: the upper */
    attn__text caption[ATTN__CAPTIONS]; /* n = 0: none */
    char widest[ATTN__NUMBER_SIZE];     /* a number as wide as any in the cells, */
    attn__ascii number[2];              /* in a roomy and in a tight size */
    double vmin, vmax;
    bool diverging;
    bool below, above;             /* a visible value lies outside the range */
    uint8_t color[ATTN__STEPS][3]; /* of the colour map */
    int digits, cell, scale;       /* cell 0: chosen by the plan */
    int top;                       /* numbers in the so many largest cells of a row; 0: in all */
    attn_annotate annotate;
    int label_size;
    const char *language; /* of the labels, where it decides the shapes of characters: "zh-Hans", "ja", "ko"; else NULL */
} attn__plot;

/* ATTN_EINVAL, ATTN_ESHAPE. */
attn_status attn__check_panels(const attn_heatmap_panel *panels, int n, attn_error *error);
/* Checks and reads: all but sizes and glyphs, which a terminal has no use for. Errors as attn_heatmap_draw. */
attn_status attn__plot_read(attn__plot *plot, const attn_heatmap_config *config, attn__fonts *fonts, attn_error *error);
/* Then chooses fonts and measures. ATTN_EIO, ATTN_ENOMEM. */
attn_status attn__plot_measure(attn__plot *plot, const attn_heatmap_config *config, attn__fonts *fonts, attn_error *error);
/* The range of the colours, for what else draws a heatmap. `config` has a known colour map and panels that are not empty. ATTN_EINVAL. */
attn_status attn__heatmap_range(const attn_heatmap_config *config, double *vmin, double *vmax, attn_error *error);
/* Sets one of the captions. ATTN_ENOMEM. */
attn_status attn__plot_caption(attn__plot *plot, attn__fonts *fonts, int which, const char *utf8, attn_error *error);

/* ---- cells.c ---- */

typedef enum attn__cell { ATTN__VALUE, ATTN__MASKED, ATTN__NAN } attn__cell;

/* What value i of a panel is, and what is written into its cell. */
attn__cell attn__cell_kind(const attn_heatmap_panel *p, int64_t i);
double attn__cell_number(const attn_heatmap_panel *p, int64_t i);
/* The block of values behind a cell of the picture: *value is their maximum, or the one farthest from 0; without any it is no value. */
attn__cell attn__block_value(const attn__plot *plot, int panel, int block, int row, int column, double *value);
/* Number of the colour of a value. */
int attn__plot_step(const attn__plot *plot, double v);
/* Whether the number of a cell is drawn, numbers being drawn at all: it is a value and, if only the largest of its row are, one of them. */
bool attn__shows_number(const attn__plot *plot, const attn_heatmap_panel *p, int64_t index);

/* ---- plan.c ---- */

/* Which part of a text stands at a point: its start, middle or end. */
typedef enum attn__anchor { ATTN__START, ATTN__MIDDLE, ATTN__END } attn__anchor;

/* A place for a text: of a level one the anchor's x and the baseline's y; of an upright one the baseline's x and the anchor's y. */
typedef struct attn__spot {
    int x, y;
    attn__anchor anchor;
} attn__spot;

/* Where it stands: in pixels. */
typedef struct attn__plan {
    attn_heatmap_layout layout;
    int64_t width, height; /* before they are known to fit an int */
    bool upright;          /* column labels */
    int number_size;       /* index into plot->number */
    attn__spot title, bar_title;
    struct {
        attn__spot title, row_title, column_title;
        bool has_row_title, has_column_title; /* those at the left and at the top of the grid */
        int label_right, label_foot;          /* row labels end at this x, column labels stand on this y */
        attn__box cells;
    } panel[ATTN__MAX_PANELS];
    attn__box bar, swatch[ATTN__LEGEND_NAN + 1];
    int n_ticks;
    int tick_x, tick_length;
    attn__spot caption[ATTN__CAPTIONS];
} attn__plan;

/* Distances at scale 1. */
enum {
    ATTN__MARGIN = 20,
    ATTN__TITLE_GAP = 14,
    ATTN__PANEL_GAP = 28,
    ATTN__LABEL_GAP = 8,
};

/* Cell sizes and label steps, then positions. Pure; cannot fail. */
void attn__plan_make(const attn__plot *plot, attn__plan *plan);
/* Bytes of the encoder's input. */
int64_t attn__plan_bytes(const attn__plan *plan);

/* Places beyond this are cut: the picture is refused anyway. */
#define ATTN__FAR (1 << 28)
int attn__place(int64_t v);
/* A line of text whose top is at y; returns its baseline and moves y below it and a gap. Nothing happens for an empty text. */
int attn__put_line(const attn__text *t, int64_t *y, int gap);
attn__box attn__line(attn__box ink, int size);

/* Puts the panels below y; returns where they end. (plan_grid.c) */
int64_t attn__put_panels(const attn__plot *plot, attn__plan *plan, int64_t y);

/* ---- draw.c ---- */

/* What a plan is drawn with. Each kind of pen begins with this. */
typedef struct attn__pen attn__pen;
struct attn__pen {
    const attn__plot *plot;
    const attn__plan *plan;
    void (*cells)(attn__pen *pen, int panel); /* their colours and hatches, without numbers */
    void (*bar)(attn__pen *pen);              /* the colours of the bar */
    void (*fill)(attn__pen *pen, attn__box box, const uint8_t rgb[3]);
    void (*frame)(attn__pen *pen, attn__box box, const uint8_t rgb[3]); /* just outside of it */
    void (*hatch)(attn__pen *pen, attn__box box, attn__cell kind);
    /* A triangle over (up) or under a line of 2 * half + 1 pixels around x. */
    void (*point)(attn__pen *pen, attn__point base, int half, bool up, const uint8_t rgb[3]);
    void (*text)(attn__pen *pen, const attn__text *t, attn__spot at, bool upright, const uint8_t rgb[3]);
};

void attn__draw(attn__pen *pen, attn__fonts *fonts);
/* The box of one cell of the picture. */
attn__box attn__cell_box(const attn__plan *plan, int panel, int row, int column);

/* ---- pixels.c, svg.c ---- */

/* Draws on an image of the plan's size, white at the start. Memory: fonts->out_of_memory. */
void attn__draw_pixels(const attn__plot *plot, const attn__plan *plan, attn__fonts *fonts, attn_image *canvas);
/* Writes SVG. ATTN_ENOMEM. */
attn_status attn__draw_svg(const attn__plot *plot, const attn__plan *plan, attn__fonts *fonts, attn_document *document, attn_error *error);

/* ---- terminal_text.c ---- */

/* Columns of a text on a terminal. */
int attn__text_columns(const attn__text *t);
/* Writes a text, cut to `room` columns with an ellipsis between graphemes; returns the columns that it takes. */
int attn__put_columns(attn__out *o, const attn__text *t, int room);
/* Writes grapheme number `which`, returns its columns; 0 if there is none. */
int attn__put_grapheme(attn__out *o, const attn__text *t, int which);
int attn__graphemes(const attn__text *t);
/* Colours of the text and of the ground (each may be NULL: as before). */
void attn__put_colors(attn__out *o, attn_terminal_colors colors, const uint8_t *text, const uint8_t *ground);

/* ---- notes.c ---- */

/* What the picture has to say; `drawn` if the characters are drawn here, so that missing ones are missing. */
void attn__notes(const attn__plot *plot, const attn__plan *plan, const attn__fonts *fonts, bool drawn, char notes[ATTN_NOTES_SIZE]);

#endif

/* Heatmaps: a matrix with words on both axes as a picture. Rows are queries (who looks), columns are keys (looked at), darker is
 * more, each cell shows its number in black or white, whichever is readable.
 * Drawing is a pure function from matrix and labels to pixels; encoding and files come after it. */
#ifndef ATTN_HEATMAP_H
#define ATTN_HEATMAP_H

#include <stdbool.h>
#include <stdint.h>

#include "attn/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/** One matrix. Pointers are the caller's and only read. */
typedef struct attn_heatmap_panel {
    const char *title;                /* NULL: none */
    int rows, columns;                /* both > 0 */
    const double *values;             /* rows x columns, row-major; NaN is drawn as "not a value" */
    const uint8_t *hidden;            /* rows x columns, true = masked, drawn as "not a value"; NULL: none */
    const char *const *row_labels;    /* UTF-8; NULL: 0, 1, 2 ... */
    const char *const *column_labels; /* UTF-8; NULL: 0, 1, 2 ... */
    const double *numbers;            /* rows x columns, finite, what is written into the cells; NULL: the values */
    int heads, head;                  /* for exports: number of heads (0: no such thing) and which of them, -1 for their mean */
    int group;                        /* panels that follow each other with one number belong together, as the heads of a sentence */
} attn_heatmap_panel;

/** Which cells show their number. */
typedef enum attn_annotate {
    ATTN_ANNOTATE_AUTO, /* numbers where they fit into the cells */
    ATTN_ANNOTATE_ALL,  /* cells grow until the numbers fit */
    ATTN_ANNOTATE_NONE, /* no numbers */
} attn_annotate;

/** Zero means the default in brackets. */
typedef struct attn_heatmap_config {
    const attn_heatmap_panel *panels; /* in a grid, on one common scale; if groups have several panels, each group begins a new row */
    int n_panels;                     /* at least 1 */
    const char *title;                /* [none] */
    const char *row_title;            /* ["query: who looks"] */
    const char *column_title;         /* ["key: looked at"] */
    const char *bar_title;            /* ["attention weight"] */
    const char *cmap;                 /* ["blues"] a name of attn_cmap_name */
    double vmin, vmax;      /* range of the colours; NAN: the least or the largest visible value [0..1 when both are 0; of a diverging
                               map, as far on either side of 0 as the values reach] */
    int digits;             /* digits after the point [2]; -1 for none */
    attn_annotate annotate; /* [auto] */
    int annotate_top;       /* > 0: numbers only in the so many largest cells of each row [0: in every cell] */
    const char *font;       /* "FILE" or "FILE:FACE" [found by the characters of the labels] */
    int cell;  /* side of a cell in pixels [by the size of the matrix; of very large ones a cell shows the maximum of a block] */
    int scale; /* pixels a pixel, for high-density screens [1] */
} attn_heatmap_config;

/** Room for remarks to the user. */
#define ATTN_NOTES_SIZE 1024

/** A picture: 8-bit RGB, row-major, no padding. Free with attn_image_free. */
typedef struct attn_image {
    int width, height;           /* in pixels */
    uint8_t *rgb;                /* (height,width,3) */
    attn_allocator allocator;    /* where they come from */
    bool font_failed;            /* the font that was asked for is broken: the built-in letters stand for it, and the first note says so */
    char notes[ATTN_NOTES_SIZE]; /* remarks for the user, a line each: hidden numbers, thinned labels, characters without a glyph; or "" */
} attn_image;

/** A picture that is text: SVG, or lines for a terminal. UTF-8 with a terminating zero. Free with attn_document_free. */
typedef struct attn_document {
    char *text;                  /* zero-terminated */
    size_t size;                 /* bytes without the zero */
    attn_allocator allocator;    /* where they come from */
    bool font_failed;            /* as in attn_image: for its widths alone, an SVG has no letters */
    char notes[ATTN_NOTES_SIZE]; /* as in attn_image */
} attn_document;

/** Where things stand in the picture, for tests and for tools that put something on top. */
typedef struct attn_heatmap_layout {
    int width, height;           /* in pixels */
    int cell_width, cell_height; /* all cells are equal */
    int n_panels;                /* entries of `panel` */
    struct {
        int x, y;          /* top left corner of the first cell, in pixels */
        int rows, columns; /* of cells */
    } panel[64];           /* one for each */
    int block;      /* a cell shows block x block values: their maximum (of a diverging map, the value farthest from 0); 1: its own */
    int label_step; /* the labels of every label_step-th row and column of cells are drawn; 1: all */
    bool numbers;   /* the numbers are drawn */
} attn_heatmap_layout;

/** Draws. Fonts: `config->font`, else chosen for the characters of the labels, else the built-in ASCII face.
 * @param config what to draw   @param image receives the picture; empty on failure   @param layout where things stand; NULL: not wanted
 * @errors ATTN_EINVAL (unknown colour map, empty matrix, vmin >= vmax, too many panels), ATTN_ESHAPE (picture too large: the message
 * names the pixel size and a cell size that would do), ATTN_EFORMAT (labels that are not UTF-8), ATTN_EIO (font), ATTN_ENOMEM */
ATTN_API ATTN_NODISCARD attn_status attn_heatmap_draw(const attn_heatmap_config *config, attn_image *image, attn_heatmap_layout *layout,
                                                      const attn_allocator *allocator, attn_error *error);

ATTN_API void attn_image_free(attn_image *image); /* Frees what it holds and leaves it empty; an empty one is fine. */

/** The same picture as SVG 1.1, with real text: a viewer draws the labels with its own fonts, so any script that it knows, right-to-left
 * ones too. The places are those of attn_heatmap_draw. Well-formed XML whatever the labels hold.
 * @param config what to draw   @param svg receives the text; empty on failure   @param layout where things stand; NULL: not wanted
 * @errors as attn_heatmap_draw */
ATTN_API ATTN_NODISCARD attn_status attn_heatmap_svg(const attn_heatmap_config *config, attn_document *svg, attn_heatmap_layout *layout,
                                                     const attn_allocator *allocator, attn_error *error);

/** What a terminal can show. */
typedef enum attn_terminal_colors {
    ATTN_COLORS_NONE, /* no escape sequences at all */
    ATTN_COLORS_256,  /* the palette of xterm */
    ATTN_COLORS_24BIT /* any colour */
} attn_terminal_colors;

/** A terminal. */
typedef struct attn_terminal {
    attn_terminal_colors colors; /* [none] */
    int columns;                 /* 0: as many as are wanted */
} attn_terminal;

/** The same matrices as lines for a terminal, one panel under the other: numbers on their colours; if they do not fit between the columns
 * of the terminal, colours alone, or without colours a digit a cell, in tenths of the range; if these do not fit, the maximum of blocks.
 * Characters count as wide as terminals draw them, those of Chinese as two columns; those that control terminals are replaced. Fonts, sizes
 * in pixels and scale are not used.
 * @param config what to draw   @param terminal what it can show   @param lines receives the text; empty on failure
 * @errors as attn_heatmap_draw */
ATTN_API ATTN_NODISCARD attn_status attn_heatmap_terminal(const attn_heatmap_config *config, attn_terminal terminal, attn_document *lines,
                                                          const attn_allocator *allocator, attn_error *error);

#define ATTN_SEQUENCE_SIZE 48 /**< room for an escape sequence */

/** The escape sequence for text on a ground of a colour, black or white, whichever is readable on what is really shown. "\033[0m" ends it.
 * @param colors what the terminal shows; "" for ATTN_COLORS_NONE   @param rgb the ground   @param sequence receives it   @return `sequence`
 */
ATTN_API const char *attn_terminal_ground(attn_terminal_colors colors, const uint8_t rgb[3], char sequence[ATTN_SEQUENCE_SIZE]);

ATTN_API void attn_document_free(attn_document *document); /* Frees what it holds and leaves it empty; an empty one is fine. */

/** Encodes as PNG into memory.  @param image what to encode   @param bytes receives the file, to be freed with the allocator (NULL: free())
 * @param size receives their number   @errors ATTN_EINVAL (an empty image), ATTN_ESHAPE (too large), ATTN_ENOMEM */
ATTN_API ATTN_NODISCARD attn_status attn_png_encode(const attn_image *image, uint8_t **bytes, size_t *size, const attn_allocator *allocator,
                                                    attn_error *error);

/** Encodes and writes: temporary file in the same folder, flushed, synced, renamed; "-" is standard output.
 * @param image what to write   @errors as attn_png_encode; ATTN_EIO with path and reason: the old file is untouched then and no rubbish
 * stays */
ATTN_API ATTN_NODISCARD attn_status attn_png_write(const char *path, const attn_image *image, attn_error *error);

/** Form of a file of weights, see attn_heatmap_export. */
typedef enum attn_export_format {
    ATTN_EXPORT_NPY,  /* .npy */
    ATTN_EXPORT_TSV,  /* TSV */
    ATTN_EXPORT_JSON, /* JSON */
} attn_export_format;

/** Writes the values of panels for other programs, and so that attn_matrix_read reads one panel back, bit by bit. Masked values are written
 * as NaN (null in JSON).
 *  - .npy: float64; one panel has the shape (rows, columns), several of one size have (panels, rows, columns). No labels.
 *  - TSV: one panel; if it has labels, a first line and column of them, with "rows\columns" in the first cell.
 *  - JSON: {"schema": "attn.weights/1", "panels": [{"title", "group", "heads", "head" (a number or "mean"), "rows", "columns", "values"}]}.
 * Atomic, "-" is standard output, as attn_file_write.
 * @param format of the file   @param panels what to write   @param n their number
 * @errors ATTN_ESHAPE (more panels than the format holds), ATTN_EFORMAT (labels that it cannot hold), ATTN_EINVAL, ATTN_EIO, ATTN_ENOMEM */
ATTN_API ATTN_NODISCARD attn_status attn_heatmap_export(const char *path, attn_export_format format, const attn_heatmap_panel *panels,
                                                        int n, const attn_allocator *allocator, attn_error *error);

ATTN_API int attn_cmap_count(void); /* number of colour maps */

/** @param cmap number of a colour map   @return its name, in static storage; NULL for a number outside */
ATTN_API const char *attn_cmap_name(int cmap);

/** @param name of a colour map   @return its number, or -1 */
ATTN_API int attn_cmap_find(const char *name);

/** All maps are lightest at 0 and darkest at 1, except the diverging ones: lightest at 0.5, which stands for the value 0, and equally dark
 * on both sides.  @param cmap number of a colour map   @return whether it is diverging */
ATTN_API bool attn_cmap_diverges(int cmap);

/** A colour of a map, one of 256.  @param cmap its number   @param v 0..1, clipped   @param rgb receives sRGB */
ATTN_API void attn_cmap_color(int cmap, double v, uint8_t rgb[3]);

/** @param rgb a colour in sRGB   @return its relative luminance, 0..1   @see WCAG 2.1, "relative luminance" */
ATTN_API double attn_luminance(const uint8_t rgb[3]);

/** @param rgb a colour in sRGB   @return whether black text is more readable on it than white: luminance > 0.179 */
ATTN_API bool attn_black_text(const uint8_t rgb[3]);

#ifdef __cplusplus
}
#endif
#endif

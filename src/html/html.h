/* Pages: from numbers and words to one HTML file that needs nothing else. Each part knows only those above it:
 *   build.c     bytes, and text as HTML wants it
 *   data.c      what the scripts of a page work on, as JSON
 *   embedded/   the scripts and styles, *.js and *.css of this folder as C arrays (scripts/embed_pages.sh makes them)
 *   page.c      what all pages have in common: head, content security policy, styles, data, scripts
 *   heatmap.c   the page of attn heatmap
 * A page loads nothing and sends nothing: its policy allows its own scripts and styles, by their hashes, and nothing else. Words get into
 * it as data alone. Not installed. */
#ifndef ATTN_HTML_H
#define ATTN_HTML_H

#include "attn/explain.h"
#include "attn/page.h"
#include "core/core.h"

/* ---- build.c ---- */

/* A page that is being written. The first failure stays, and everything after it has no effect, so that a caller asks once, at the end. */
typedef struct attn__html {
    const attn_allocator *allocator;
    char *bytes;
    size_t size, capacity;
    attn_status status;
    attn_error *error;
    const char *key; /* of the data that is being written, for messages */
} attn__html;

void attn__html_init(attn__html *h, const attn_allocator *allocator, attn_error *error);
/* Bytes as they are. */
void attn__html_bytes(attn__html *h, const char *bytes, size_t size);
void attn__html_add(attn__html *h, const char *markup);
/* UTF-8 as the text of an element or as an attribute between double quotes. ATTN_EFORMAT if it is not UTF-8. */
void attn__html_text(attn__html *h, const char *utf8);
/* Room for `size` more bytes, which the caller writes; NULL after a failure. */
char *attn__html_room(attn__html *h, size_t size);
void attn__html_fail(attn__html *h, attn_status status, const char *format, ...) ATTN_PRINTF(3, 4);
/* Notes ATTN_EFORMAT and returns false if a text (text number `item` of h->key, from 1) is not UTF-8. */
bool attn__html_check(attn__html *h, const char *utf8, int64_t item);

/* ---- data.c: JSON, in which no character could end the element around it. Commas come by themselves ---- */

void attn__data_open(attn__html *h, char bracket);  /* '{' or '[' */
void attn__data_close(attn__html *h, char bracket); /* '}' or ']' */
void attn__data_key(attn__html *h, const char *name);
void attn__data_string(attn__html *h, const char *utf8); /* NULL: null */
void attn__data_number(attn__html *h, double v);         /* the shortest form that reads back as v; NaN is null, infinity 1e999 */
void attn__data_bool(attn__html *h, bool v);
void attn__data_strings(attn__html *h, const char *const *utf8, int64_t n); /* NULL in it: "" */
void attn__data_numbers(attn__html *h, const double *v, int64_t n);         /* an array, for few numbers */
/* Many numbers: a string of base64, little-endian, of elements of that type. In a page: attn.numbers(string, type). */
typedef enum attn__packing { ATTN__U8, ATTN__F32, ATTN__F64 } attn__packing;
void attn__data_packed(attn__html *h, const double *v, int64_t n, attn__packing type);
void attn__data_packed_bytes(attn__html *h, const uint8_t *v, int64_t n);
/* The 256 colours of a colour map (NULL: blues) as one string of RRGGBB. In a page: attn.scale. */
void attn__data_colors(attn__html *h, const char *cmap);
/* "u8", "f32", "f64" */
const char *attn__packing_name(attn__packing type);

/* ---- embedded/ ---- */

typedef struct attn__asset {
    const char *const *lines; /* n of them, each with its line end */
    int n;
    const char *sha256; /* of the whole, in base64 */
} attn__asset;

/* Of every page: data, words and numbers (page.js); colours, tooltip, choices (parts.js). */
extern const attn__asset attn__page_css, attn__page_js, attn__parts_js;
/* Of the page of a heatmap. */
extern const attn__asset attn__heatmap_css, attn__matrix_js, attn__panel_js, attn__grid_js, attn__canvas_js, attn__lines_js,
    attn__heatmap_js;

/* Of the pages of predictions: what a model computes (model.js), its steps (steps.js), words as colours (mix.js), weights of all words
 * (tables.js). */
extern const attn__asset attn__model_js, attn__mix_js, attn__report_js, attn__report_css, attn__steps_css, attn__steps_js, attn__tables_js;
/* Of the film of a training run. */
extern const attn__asset attn__film_js, attn__film_css;

/* ---- steps.c ---- */

/* The members of an object that is open: what a model computes for one sentence. */
void attn__data_explanation(attn__html *h, const attn_explanation *e);

/* ---- page.c ---- */

/* What a page is made of besides its data. Those of every page come first by themselves. */
typedef struct attn__page_plan {
    attn_language language;                            /* decided: not ATTN_LANGUAGE_AUTO */
    const char *title;                                 /* of the window; UTF-8 */
    const attn__asset *const *styles, *const *scripts; /* NULL-terminated, in order */
} attn__page_plan;

/* Writes everything before the data; the caller then writes one JSON value. */
void attn__page_begin(attn__html *h, const attn__page_plan *plan);
/* Writes everything after it and hands over the bytes. Returns the first failure; nothing is left behind then. */
attn_status attn__page_end(attn__html *h, const attn__page_plan *plan, attn_page *page);

/* Counts labels in Chinese characters and labels in Latin letters, to choose a page's language by. */
typedef struct attn__scripts_seen {
    int64_t han, latin;
} attn__scripts_seen;
void attn__scripts_see(attn__scripts_seen *seen, const char *const *labels, int64_t n); /* NULL: none */
attn_language attn__language(attn_language wanted, attn__scripts_seen seen);
/* "en" or "zh-Hans" */
const char *attn__language_tag(attn_language language);

#endif

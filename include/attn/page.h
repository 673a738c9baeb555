/* Pages: one HTML file each that opens from disk in any browser, needs no network, and loads and sends nothing. They adapt to light and
 * dark screens, to phones, to paper, to the keyboard and to screen readers. */
#ifndef ATTN_PAGE_H
#define ATTN_PAGE_H

#include "attn/heatmap.h"

#ifdef __cplusplus
extern "C" {
#endif

/** The language of a page's own words. */
typedef enum attn_language {
    ATTN_LANGUAGE_AUTO, /* Chinese if as many labels are written in Chinese characters as in Latin letters, else English */
    ATTN_LANGUAGE_EN,   /* English */
    ATTN_LANGUAGE_ZH,   /* Chinese */
} attn_language;

/** A page. Free with attn_page_free. */
typedef struct attn_page {
    char *bytes;              /* UTF-8 */
    size_t size;              /* their number */
    attn_allocator allocator; /* where they come from */
} attn_page;

ATTN_API void attn_page_free(attn_page *page); /* Frees what it holds and leaves it empty; an empty one is fine. */

/** Writes a page to a file, as attn_file_write does.  @param page what to write   @errors as attn_file_write */
ATTN_API ATTN_NODISCARD attn_status attn_page_write(const char *path, const attn_page *page, attn_error *error);

/** Values of attn_heatmap_page_config.head that are no number of a head. */
enum {
    ATTN_HEAD_MEAN = -1, /* the mean of the heads */
    ATTN_HEAD_ALL = -2,  /* all of them, beside each other */
};

/** Zero means the default in brackets. */
typedef struct attn_heatmap_page_config {
    attn_heatmap_config look; /* as for a picture; n_panels is not limited, font and scale have no meaning here, and titles come in the
                                 page's language */
    int heads;                /* so many panels on end are the heads of one sentence: its labels and title are those of the first [1] */
    int head;                 /* shown first: its number, ATTN_HEAD_MEAN or ATTN_HEAD_ALL [0] */
    attn_language language;   /* [by the labels] */
} attn_heatmap_page_config;

/** The page of one heatmap or several: a sentence on hover, rows and columns that light up, locking, arrow keys, heads and their mean, sums
 * over chosen words, lines between words. Beyond 64 words it draws on a canvas. Numbers are kept as float64, or as float32 (relative error
 * 6e-8) if there are more than 2^20 of them: 512 x 512 x 8 make a page of 11 MB.
 * @param config what to show   @param page receives the page; empty on failure
 * @errors ATTN_EINVAL (unknown colour map, empty matrix, vmin >= vmax, a head that is not there, panels that are no multiple of heads),
 * ATTN_ESHAPE (heads of one sentence that differ in shape), ATTN_EFORMAT (text that is not UTF-8), ATTN_ENOMEM
 * @threads any number */
ATTN_API ATTN_NODISCARD attn_status attn_heatmap_page(const attn_heatmap_page_config *config, attn_page *page,
                                                      const attn_allocator *allocator, attn_error *error);

#ifdef __cplusplus
}
#endif
#endif

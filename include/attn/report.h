/* Pages that show how a model finds the sense of a word: every step with every number, and words as colours that are mixed. */
#ifndef ATTN_REPORT_H
#define ATTN_REPORT_H

#include "attn/explain.h"
#include "attn/page.h"

#ifdef __cplusplus
extern "C" {
#endif

/** A sentence and the word in it whose sense is asked for. */
typedef struct attn_report_sentence {
    const char *const *tokens; /* UTF-8 */
    int length, target;
} attn_report_sentence;

/** Zero means the default in brackets. Models are predicted with, which ends the life of earlier predictions. */
typedef struct attn_report_config {
    attn_word_sense *model;
    attn_word_sense *before; /* another one to compare with, such as attn_word_sense_untrained [none] */
    const char *before_name; /* what it is, UTF-8 [before training] */
    const attn_report_sentence *sentences;
    int n_sentences;
    bool steps_only;        /* no colours and sliders, no tables of all words: the page of attn explain [all] */
    int head, member;       /* whose steps are shown first [0] */
    const char *title;      /* UTF-8 [by the words] */
    attn_language language; /* [by the sentences] */
} attn_report_config;

/** A page with the sentences side by side. Each word is a colour; the new vector of the ambiguous word is the mix of them by its weights,
 * which sliders change, always with the sum 1; the probabilities of its senses follow, computed in the page in float64 from the model's own
 * numbers. Below, tables of all weights with the difference to `before`, and the steps score, scale, softmax, weighted sum, senses.
 * @return ATTN_EINVAL (no sentence, no such head or member, a target outside its sentence), ATTN_EUNKNOWN_WORD ("sentence N: ..."),
 * ATTN_EFORMAT (text that is not UTF-8), ATTN_ENOMEM. On failure the page is empty.
 * @cost for each sentence of L words a table of heads L^2 numbers, and members heads n (d + dv) numbers of 4 bytes (see attn_explanation)
 */
ATTN_API ATTN_NODISCARD attn_status attn_report_page(const attn_report_config *config, attn_page *page, const attn_allocator *allocator,
                                                     attn_error *error);

#ifdef __cplusplus
}
#endif
#endif

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
    int length, target;        /* number of tokens, index of the word */
} attn_report_sentence;

/** Zero means the default in brackets. Models are predicted with, which ends the life of earlier predictions. */
typedef struct attn_report_config {
    attn_word_sense *model;                /* must be given */
    attn_word_sense *before;               /* another one to compare with, such as attn_word_sense_untrained [none] */
    const char *before_name;               /* what it is, UTF-8 [before training] */
    const attn_report_sentence *sentences; /* side by side */
    int n_sentences;                       /* at least 1 */
    bool steps_only;                       /* no colours and sliders, no tables of all words: the page of attn explain [all] */
    int head, member;                      /* whose steps are shown first [0] */
    const char *title;                     /* UTF-8 [by the words] */
    attn_language language;                /* [by the sentences] */
} attn_report_config;

/** A page with the sentences side by side. Each word is a colour; the new vector of the ambiguous word is the mix of them by its weights,
 * which sliders change, always with the sum 1; the probabilities of its senses follow, computed in the page in float64 from the model's own
 * numbers. Below, tables of all weights with the difference to `before`, and the steps score, scale, softmax, weighted sum, senses.
 * @param config what to show   @param page receives the page; empty on failure
 * @errors ATTN_EINVAL (no sentence, no such head or member, a target outside its sentence), ATTN_EUNKNOWN_WORD ("sentence N: ..."),
 * ATTN_EFORMAT (text that is not UTF-8), ATTN_ENONFINITE (a score overflows), ATTN_ENOMEM
 * @cost for each sentence of L words a table of heads L^2 numbers, and members heads n (d + dv) numbers of 4 bytes (see attn_explanation)
 */
ATTN_API ATTN_NODISCARD attn_status attn_report_page(const attn_report_config *config, attn_page *page, const attn_allocator *allocator,
                                                     attn_error *error);

/* ---- a training run as a film ---------------------------------------------------------------------------------------------- */

/** Zero means the default in brackets. What is pointed to must live as long as the film. */
typedef struct attn_film_config {
    const attn_report_sentence *sentences; /* whose attention is filmed */
    int n_sentences;                       /* at least 1 */
    const attn_corpus *sample; /* labelled sentences whose accuracy is measured every time: at most 200 of them, evenly spread [none] */
    int most;                  /* pictures kept at most; from then on every other one goes, as often as needed [240] */
    const char *title;         /* UTF-8 [by the words] */
    attn_language language;    /* [by the sentences] */
} attn_film_config;

/** Pictures of the first model of an ensemble while it is trained: weights of its heads and probabilities of the senses, and how well it
 * does. Memory is that of `most` pictures, however long the run. Free with attn_film_free. */
typedef struct attn_film attn_film;

/** An empty film.  @param config what to film   @return to be freed with attn_film_free; NULL on error
 * @errors ATTN_EINVAL (no sentence, a target outside its sentence, most < 2), ATTN_ENOMEM */
ATTN_API attn_film *attn_film_new(const attn_film_config *config, const attn_allocator *allocator, attn_error *error);

ATTN_API void attn_film_free(attn_film *film); /* Frees it; NULL is fine. */

/** Takes a picture, after an epoch or (with epoch 0 and a loss of NaN) before the first one; those of other members than the first are
 * passed over. It changes nothing of the run, and predicts, which ends the life of earlier predictions.
 * @param at where the run stands   @errors those of attn_word_sense_explain   @cost a prediction for every sentence and for every one of
 * the sample */
ATTN_API ATTN_NODISCARD attn_status attn_film_add(attn_film *film, attn_word_sense *m, const attn_word_sense_progress *at,
                                                  attn_error *error);

/** A page with curves of loss and accuracy and the attention of the sentences over the epochs, with a slider and a button that plays it.
 * The model must still be there.  @param page receives the page; empty on failure
 * @errors ATTN_EINVAL (no picture), ATTN_EFORMAT (text that is not UTF-8), ATTN_ENOMEM */
ATTN_API ATTN_NODISCARD attn_status attn_film_page(const attn_film *film, attn_page *page, attn_error *error);

#ifdef __cplusplus
}
#endif
#endif

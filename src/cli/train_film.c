/* attn train --report FILE: the run as a film, on one page. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "pages.h"
#include "train.h"

#define SENTENCES 6 /* filmed at most, unless they are given */

/* Without a choice: the first sentence of every sense of the first word. */
static bool choose(training_film *f, const attn_corpus *data)
{
    const char *word = attn_corpus_get(data, 0).word, *senses[SENTENCES];
    int n = 0;
    f->sentence = calloc(SENTENCES, sizeof *f->sentence);
    for (int64_t i = 0; i < attn_corpus_count(data) && f->sentence != NULL && n < SENTENCES; i++) {
        attn_example x = attn_corpus_get(data, i);
        bool known = strcmp(x.word, word) != 0;
        for (int k = 0; k < n; k++) {
            known = known || strcmp(senses[k], x.sense) == 0;
        }
        if (!known) {
            senses[n] = x.sense;
            f->sentence[n++] = (attn_report_sentence){x.tokens, x.length, x.target};
        }
    }
    f->n = n;
    return f->sentence != NULL || fail("out of memory") == DONE;
}

/* The sentences that were given; their words must be those of the data. */
static bool take_given(training_film *f, const train_arguments *a, const attn_word_sense *m)
{
    report_words w;
    bool ok =
        words_collect(&w, m,
                      &(sentence_source){
                          .sentences = a->report_sentences, .n = a->n_report_sentences, .quiet = a->quiet, .name = "--report-sentence"},
                      (target_choice){NULL, -1}, ATTN_TOKENIZE_AUTO) == DONE;
    f->words = w.words;
    f->sentence = w.sentence;
    f->n = w.n;
    return ok;
}

bool film_open(training_film *f, const train_arguments *a, const attn_corpus *data, attn_word_sense *m)
{
    attn_error error;
    *f = (training_film){.path = a->report};
    if (f->path == NULL) {
        return true;
    }
    if (!(a->n_report_sentences > 0 ? take_given(f, a, m) : choose(f, data))) {
        return false;
    }
    f->film = attn_film_new(&(attn_film_config){.sentences = f->sentence, .n_sentences = f->n, .sample = data, .language = a->language},
                            NULL, &error);
    if (f->film == NULL) {
        return fail("%s", error.message) == DONE;
    }
    const attn_word_sense_progress before = {.epoch = attn_word_sense_epochs_done(m), .loss = NAN};
    return film_add(f, m, &before) == ATTN_OK || fail("%s", f->error.message) == DONE;
}

attn_status film_add(training_film *f, attn_word_sense *m, const attn_word_sense_progress *at)
{
    return f->film != NULL ? attn_film_add(f->film, m, at, &f->error) : ATTN_OK;
}

int film_write(const training_film *f, bool quiet)
{
    attn_error error;
    attn_page page;
    if (f->film == NULL) {
        return DONE;
    }
    return attn_film_page(f->film, &page, &error) == ATTN_OK ? page_write(f->path, &page, quiet) : fail("%s", error.message);
}

void film_close(training_film *f)
{
    attn_film_free(f->film);
    free(f->sentence);
    attn_corpus_free(f->words);
}

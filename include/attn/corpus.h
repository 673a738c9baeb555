/* Labelled sentences: reading them, and judging predictions about them. */
#ifndef ATTN_CORPUS_H
#define ATTN_CORPUS_H

#include <stdbool.h>
#include <stdint.h>

#include "attn/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Sentences with one ambiguous word each and its sense, from any number of files. */
typedef struct attn_corpus attn_corpus;

/** One example. Strings are UTF-8 and owned by the corpus. */
typedef struct attn_example {
    const char *const *tokens; /* the sentence */
    int length;                /* tokens, at least 1 */
    int target;                /* index of the ambiguous word, 0..length-1 */
    const char *word;          /* tokens[target] */
    const char *sense;         /* gold label; several, joined by ';', where any of them counts as right */
    const char *file;          /* where it was read, for messages */
    int64_t line;              /* counted from 1 */
} attn_example;

/** An empty corpus. @return to be freed with attn_corpus_free; NULL if out of memory */
ATTN_API attn_corpus *attn_corpus_new(const attn_allocator *allocator);

ATTN_API void attn_corpus_free(attn_corpus *c); /* Frees it and all strings that it gave; NULL is fine. */

/** Forgets all examples and the tokens of every sentence; the memory stays for what comes next. */
ATTN_API void attn_corpus_clear(attn_corpus *c);

/** Reads a file or folder and appends its examples.
 *  - a file, or "-" for standard input, is TSV: SENSE <tab> INDEX <tab> token token ..., tokens separated by one ASCII space; CRLF, a
 *    byte-order mark at the start and a missing last newline make no difference; blank lines are skipped and counted;
 *  - a folder has the layout of CoarseWSD-20: SPLIT.data.txt (INDEX <tab> tokens separated by runs of Unicode white space), SPLIT.gold.txt
 * (a class number a line) and classes_map.txt (JSON object: number -> sense).
 * On failure the corpus is as it was before the call.
 * @param split "train", "test", ... for folders; ignored for files
 * @errors ATTN_EIO (path and reason), ATTN_EFORMAT ("FILE:LINE: what is wrong, what was expected"; "0 labelled examples"), ATTN_ENOMEM */
ATTN_API ATTN_NODISCARD attn_status attn_corpus_read(attn_corpus *c, const char *path, const char *split, attn_error *error);

/** Appends one example (copied). @param sense gold label   @errors ATTN_EINVAL for an index outside or an empty sense, ATTN_EFORMAT for
 * broken UTF-8, ATTN_ENOMEM */
ATTN_API ATTN_NODISCARD attn_status attn_corpus_add(attn_corpus *c, const char *const *tokens, int length, int target, const char *sense,
                                                    attn_error *error);

ATTN_API int64_t attn_corpus_count(const attn_corpus *c); /* number of examples */

/** @param i 0 to attn_corpus_count() - 1   @return the example, owned by the corpus */
ATTN_API attn_example attn_corpus_get(const attn_corpus *c, int64_t i);

/** Appends every example to one of two other corpora. The order is kept.
 * @param fraction of each sense of each word goes to `part`, drawn by the seed: the nearest whole number, at most all but one
 * @param rest receives the others   @param part receives that share
 * @errors ATTN_EINVAL unless 0 <= fraction < 1, ATTN_ENOMEM (then the two hold some of the examples) */
ATTN_API ATTN_NODISCARD attn_status attn_corpus_split(const attn_corpus *c, double fraction, uint64_t seed, attn_corpus *rest,
                                                      attn_corpus *part, attn_error *error);

ATTN_API int64_t attn_corpus_blank_lines(const attn_corpus *c);     /* blank lines skipped so far */
ATTN_API const char *attn_corpus_first_blank(const attn_corpus *c); /* "FILE:LINE" of the first of them, "" if none; owned by the corpus */

/** A tokenised sentence from text: split at ASCII spaces, tabs and line ends, several together count as one. For command lines and standard
 * input. The tokens live as long as the corpus, which does not count the sentence.
 * @param text UTF-8   @param out receives an example without sense ("") or word (""), whose target is -1
 * @errors ATTN_EFORMAT (broken UTF-8, with the byte offset; no token), ATTN_ENOMEM */
ATTN_API ATTN_NODISCARD attn_status attn_corpus_tokenize(attn_corpus *c, const char *text, attn_example *out, attn_error *error);

/** @param bytes what should be UTF-8   @param size their number
 * @return offset of the first fault (overlong forms and surrogates are faults), or -1 if there is none */
ATTN_API int64_t attn_utf8_fault(const char *bytes, size_t size);

/** @param text UTF-8   @return columns that it takes in a terminal: 2 for a Chinese character, 0 for a combining mark */
ATTN_API int attn_utf8_width(const char *text);

/* ---- scores --------------------------------------------------------------------------------------------------------------- */

/** Scores of one sense of one word. */
typedef struct attn_sense_score {
    const char *sense;            /* owned by the scores */
    int64_t support;              /* gold examples */
    int64_t predicted;            /* predictions */
    int64_t correct;              /* both */
    double precision, recall, f1; /* 0 where the denominator is 0 */
} attn_sense_score;

/** Scores of one word. micro F1 = accuracy (one label a sentence); macro F1 = mean of the F1 of the senses that occur in gold or
 * prediction. */
typedef struct attn_word_score {
    const char *word;               /* owned by the scores */
    int64_t examples, correct;      /* predictions, those that are right */
    double micro_f1, macro_f1;      /* 0..1 */
    int n_senses;                   /* declared, gold or predicted */
    const attn_sense_score *senses; /* (n_senses) */
    const int64_t *confusion;       /* n_senses x n_senses, row = gold, column = prediction */
} attn_word_score;

/** Predictions, counted. */
typedef struct attn_scores attn_scores;

/** Empty scores. @return to be freed with attn_scores_free; NULL if out of memory */
ATTN_API attn_scores *attn_scores_new(const attn_allocator *allocator);

ATTN_API void attn_scores_free(attn_scores *s); /* Frees them and all that they gave; NULL is fine. */

/** Counts one prediction; strings are copied.  @param word the ambiguous one   @param gold "a;b": any counts as right; a wrong prediction
 * counts against the first   @param predicted sense   @errors ATTN_EINVAL (a string is empty), ATTN_ENOMEM */
ATTN_API ATTN_NODISCARD attn_status attn_scores_add(attn_scores *s, const char *word, const char *gold, const char *predicted);

/** Declares a sense before any example has it, to fix the order and to list senses that never occur.
 * @param word the ambiguous one   @param sense of it   @errors ATTN_EINVAL (a string is empty), ATTN_ENOMEM */
ATTN_API ATTN_NODISCARD attn_status attn_scores_declare(attn_scores *s, const char *word, const char *sense);

ATTN_API int64_t attn_scores_examples(const attn_scores *s); /* predictions */
ATTN_API int64_t attn_scores_correct(const attn_scores *s);  /* those that are right */
ATTN_API double attn_scores_micro_f1(const attn_scores *s);  /* mean over the words; 0 if there is none */
ATTN_API double attn_scores_macro_f1(const attn_scores *s);  /* mean over the words; 0 if there is none */
ATTN_API int attn_scores_words(const attn_scores *s);        /* number of words */

/** @param i 0 to attn_scores_words() - 1, in order of first mention   @return its scores; valid until the next add or declare */
ATTN_API attn_word_score attn_scores_word(attn_scores *s, int i);

#ifdef __cplusplus
}
#endif
#endif

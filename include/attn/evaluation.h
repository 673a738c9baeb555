/* Judging predictions, whatever made them: files of predictions, how far probabilities can be believed, how far away the word stands that
 * decided, and whether one system is better than another. Accuracy, F1 and confusion are in attn/corpus.h. */
#ifndef ATTN_EVALUATION_H
#define ATTN_EVALUATION_H

#include "attn/corpus.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- files of predictions ------------------------------------------------------------------------------------------------- */

/** What a system said about labelled sentences. */
typedef struct attn_predictions attn_predictions;

/** A prediction from a file. Strings are owned by the attn_predictions. */
typedef struct attn_predicted {
    attn_example example; /* the sentence and its gold sense; file and line are those of the prediction */
    const char *sense;    /* predicted */
    double probability;   /* of that sense, 0..1 */
} attn_predicted;

/** Reads the file that `attn eval --predictions` writes, or "-": a line a sentence, GOLD <tab> PREDICTED <tab> PROBABILITY <tab> INDEX
 * <tab> ATTENDED <tab> token token ..., where ATTENDED may be anything and tokens are separated by spaces. Other systems can write it too.
 * Line ends, a byte-order mark and blank lines are treated as in attn_corpus_read.
 * @return to be freed with attn_predictions_free; NULL on error
 * @errors ATTN_EIO (path and reason), ATTN_EFORMAT ("FILE:LINE: what is wrong, what was expected"), ATTN_ENOMEM */
ATTN_API attn_predictions *attn_predictions_read(const char *path, const attn_allocator *allocator, attn_error *error);

ATTN_API void attn_predictions_free(attn_predictions *p); /* Frees them and all strings that they gave; NULL is fine. */

ATTN_API int64_t attn_predictions_count(const attn_predictions *p); /* how many there are */

/** @param i counted from 0   @return the prediction; all zero for a number outside */
ATTN_API attn_predicted attn_predictions_get(const attn_predictions *p, int64_t i);

/** Whether two are about the same sentences, ambiguous words and gold senses, in the same order.  @param a one   @param b the other
 * @errors ATTN_EMISMATCH with the first difference, both files and lines */
ATTN_API ATTN_NODISCARD attn_status attn_predictions_match(const attn_predictions *a, const attn_predictions *b, attn_error *error);

/* ---- calibration ---------------------------------------------------------------------------------------------------------- */

#define ATTN_CALIBRATION_BINS 10 /**< bins of a reliability table */

/** Predictions of about one confidence. */
typedef struct attn_calibration_bin {
    int64_t examples, correct; /* how many, and how many of them are right */
    double confidence;         /* sum */
} attn_calibration_bin;

/** Predictions by confidence, the probability of the predicted sense: bin b of M holds b/M < confidence <= (b + 1)/M, the first one 0 too.
 * {0} is empty. The bins are the rows of a reliability table: confidence / examples beside correct / examples. */
typedef struct attn_calibration {
    attn_calibration_bin bin[ATTN_CALIBRATION_BINS]; /* by confidence */
} attn_calibration;

/** Counts one prediction.  @param confidence 0..1   @param correct whether it is right */
ATTN_API void attn_calibration_add(attn_calibration *c, double confidence, bool correct);

/** Expected calibration error: the sum over the bins of n_b / n |accuracy_b - mean confidence_b|.  @return 0..1; 0 if there is nothing
 * @see Naeini, Cooper, Hauskrecht 2015, AAAI; Guo, Pleiss, Sun, Weinberger 2017, arXiv:1706.04599, equation 3. */
ATTN_API double attn_calibration_error(const attn_calibration *c);

/* ---- the word that decided ------------------------------------------------------------------------------------------------ */

/** The tokens of a sentence with the largest weights, mean over the heads: the largest first, of equals the first.
 * @param weights (heads, length), those of one query, as attn_prediction has them   @param heads their number   @param except index of a
 * token that is left out; -1: none   @param most tokens at most   @param index receives up to `most` indices   @param weight and their
 * weights
 * @return how many there are   @cost O(most length heads) */
ATTN_API int attn_most_attended(const double *weights, int heads, int length, int except, int most, int *index, double *weight);

#define ATTN_DISTANCE_BINS 8 /**< classes of distances */

/** Predictions with about one distance. */
typedef struct attn_distance_bin {
    int64_t examples, correct; /* how many, and how many of them are right */
    double weight;             /* sum */
} attn_distance_bin;

/** Predictions by the distance, in tokens, of the word that decided: 0 (there is none), 1, 2, 3-4, 5-8, 9-16, 17-32, more. {0} is empty. */
typedef struct attn_distances {
    attn_distance_bin bin[ATTN_DISTANCE_BINS]; /* by distance */
} attn_distances;

/** Counts one prediction.  @param distance >= 0   @param weight what that word has of the attention   @param correct whether it is right */
ATTN_API void attn_distances_add(attn_distances *d, int distance, double weight, bool correct);

/** What a bin holds.  @param bin 0 to ATTN_DISTANCE_BINS - 1   @param first receives its least distance   @param last and its largest;
 * INT_MAX for the last bin */
ATTN_API void attn_distances_range(int bin, int *first, int *last);

/* ---- is B better than A? -------------------------------------------------------------------------------------------------- */

/** Two systems' answers to the same sentences. */
typedef struct attn_comparison attn_comparison;

/** An empty comparison. @return to be freed with attn_comparison_free; NULL if out of memory */
ATTN_API attn_comparison *attn_comparison_new(const attn_allocator *allocator);

ATTN_API void attn_comparison_free(attn_comparison *c); /* Frees it; NULL is fine. */

/** Adds one sentence; strings are copied.
 * @param word the ambiguous one   @param gold as in attn_scores_add   @param predicted_a what A says   @param predicted_b what B says
 * @errors ATTN_EINVAL (a string is empty), ATTN_ERANGE (more than 2^29 - 1 sentences), ATTN_ENOMEM; nothing has changed then */
ATTN_API ATTN_NODISCARD attn_status attn_comparison_add(attn_comparison *c, const char *word, const char *gold, const char *predicted_a,
                                                        const char *predicted_b);

/** Zero means the default in brackets. */
typedef struct attn_comparison_config {
    int resamples; /* [10000] */
    uint64_t seed; /* [0] */
    int threads;   /* [attn_default_threads()]; never changes the result */
} attn_comparison_config;

/** One measure of both systems. */
typedef struct attn_difference {
    double a, b;       /* of either system */
    double difference; /* b - a */
    double low, high;  /* where the middle 95 % of the resamples' differences lie */
    double not_better; /* share of the resamples in which b - a <= 0 (up to 1e-12, which rounding may leave) */
} attn_difference;

/** What a comparison says. */
typedef struct attn_comparison_result {
    int64_t sentences, both, only_a, only_b, neither; /* right */
    int words;                                        /* ambiguous ones */
    attn_difference accuracy;                         /* over all sentences */
    attn_difference micro_f1, macro_f1;               /* mean over the words, as attn_scores has them */
    double mcnemar;                                   /* attn_mcnemar(only_a, only_b) */
} attn_comparison_result;

/** Paired bootstrap: draws as many sentences as there are, with replacement, and measures both systems on them; again and again. For the
 * accuracy it draws from all sentences; for the means over the words it draws within each word, whose number of sentences stays.
 * `not_better` is the p-value of the claim that B is better. `low` and `high` are the quantiles 0.025 and 0.975, linear between neighbours.
 * @param config how often, from which seed   @param result receives all measures
 * @see Koehn 2004, EMNLP, "Statistical significance tests for machine translation evaluation"; Berg-Kirkpatrick, Burkett, Klein 2012,
 * EMNLP (who count differences above twice the observed one, which comes to the same if they lie symmetrically around it).
 * @cost O(resamples sentences)   @errors ATTN_EINVAL (no sentence, resamples < 0), ATTN_ENOMEM */
ATTN_API ATTN_NODISCARD attn_status attn_comparison_run(const attn_comparison *c, const attn_comparison_config *config,
                                                        attn_comparison_result *result, attn_error *error);

/** McNemar's exact test, two-sided: of the n = only_a + only_b sentences that one system alone has right, were the two equally good, each
 * would be A's with probability 1/2; p = min(1, 2 P(K <= min(only_a, only_b))), K ~ Binomial(n, 1/2).
 * @param only_a sentences that A alone has right   @param only_b that B alone has right
 * @return p, with a relative error below 3 n 2^-53; 1 if n = 0
 * @see McNemar 1947, Psychometrika 12; exact form e.g. Dietterich 1998, Neural Computation 10 */
ATTN_API double attn_mcnemar(int64_t only_a, int64_t only_b);

#ifdef __cplusplus
}
#endif
#endif

/* One prediction step by step: every number between a sentence and the sense that the model gives its word. */
#ifndef ATTN_EXPLAIN_H
#define ATTN_EXPLAIN_H

#include "attn/word_sense.h"

#ifdef __cplusplus
extern "C" {
#endif

/** What one head computes for the ambiguous word t. Words j are the n words that the model looks at, d = hidden, dv = 2 hidden; x_j is the
 * embedding of word j, and W_q, W_k, W_v are this head's columns of the matrices. Arrays are row-major.
 *
 *     query q = x_t W_q,  key k_j = x_j W_k,  value v_j = x_j W_v
 *     raw_j   = q . k_j                   dot and scaled dot
 *             = w . tanh(q + k_j)         additive
 *     scaled  = scale raw                 scale: 1 / sqrt(d) of scaled dot, else 1
 *     score   = scaled + position         position_j: learned, of the distance j - t
 *     weight  = softmax(score)
 *     mixed   = sum_j weight_j v_j        the word's new vector, this head's part of it
 *     part_s  = sum_c mixed_c matrix_cs   what it adds to the logit of sense s */
typedef struct attn_head_steps {
    const double *query;    /* (d) */
    const double *key;      /* (n,d) */
    const double *w;        /* (d), additive scores only, else NULL */
    const double *squashed; /* (n,d) tanh(q + k_j), additive scores only, else NULL */
    const double *raw;      /* (n) */
    const double *scaled;   /* (n) */
    const double *position; /* (n), NULL if the model has no positions */
    const double *score;    /* (n) as they enter the softmax, natural-log units */
    const double *weight;   /* (n) sum 1 */
    const double *value;    /* (n,dv) */
    const double *mixed;    /* (dv) */
    const double *matrix;   /* (dv,S) this head's rows of senses.W, the columns of the word's senses */
    const double *part;     /* (S) */
} attn_head_steps;

/** What one model of the ensemble computes from its heads:
 *     logit_s = sum over the heads of part_s + bias_s + prior_s + sum_j neighbours_js,   probability = softmax(logit)
 * where prior_s is config.prior times ln(training examples of the sense + 0.5), and neighbours_js what word j says for sense s by itself,
 * because it stood near the ambiguous word t in training:
 *     neighbours_js = weight near ln((c_js + 0.3 q_s) / ((c_j + 0.3) q_s)),   near = 5 / (5 + |j - t|);   0 if c_j = 0 or j = t
 * Here c_js sums the near of word j over the training sentences of sense s, each looked at through the same window, c_j over those of all
 * senses, and q_s is the share of s in the sums of all words and characters, 1 being added to each sense; weight = config.neighbours m / (m
 * + 10), with m training sentences a sense of the ambiguous word. In scripts without spaces each character of word j says 0.3 as much in
 * the same way. Source: naive Bayes, with counts that are shrunk to the share (Gale, Church, Yarowsky 1992, Computers and the Humanities
 * 26). */
typedef struct attn_member_steps {
    uint64_t seed;                                    /* of this model */
    const attn_head_steps *head;                      /* (heads) */
    const double *bias, *prior, *logit, *probability; /* (S) each */
} attn_member_steps;

/** Everything is owned by the model and valid until its next prediction or explanation. */
typedef struct attn_explanation {
    attn_prediction prediction; /* that of attn_word_sense_predict, by the bit: probabilities and weights are the mean of the members' */
    attn_score score;           /* how queries and keys are compared */
    double scale;               /* factor of the raw scores */
    int target;                 /* index of the ambiguous word in the sentence */
    int begin, n;               /* words begin .. begin + n - 1 of the sentence are looked at; arrays of n start at `begin` */
    const bool *known;          /* (n) false: the word shares the vector of all unknown words */
    int d, dv;                  /* widths of a query or key, and of a value, in one head */
    int heads, members;         /* of each member; of the ensemble */
    const double *neighbours;   /* (n,S) what each word says whatever its weight, for all members; NULL if config.neighbours is 0 */
    double neighbours_weight;   /* 0 then */
    const attn_member_steps *member; /* (members) */
} attn_explanation;

/** The steps of attn_word_sense_predict. The numbers are those that the model computes with, in float32, here as doubles: what is computed
 * again from them in double agrees with the prediction to about 1e-6.
 * @param explanation receives them; all zero on failure   @errors as attn_word_sense_predict
 * @cost a prediction, and O(members heads n (d + dv)) memory for the numbers   @threads one call a model at a time */
ATTN_API ATTN_NODISCARD attn_status attn_word_sense_explain(attn_word_sense *m, const char *const *tokens, int length, int target,
                                                            attn_explanation *explanation, attn_error *error);

#ifdef __cplusplus
}
#endif
#endif

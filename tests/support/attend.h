/* The functional form of attention with every option, and what plain loops in double make of the same numbers, forward and backward. */
#ifndef ATTN_TEST_ATTEND_H
#define ATTN_TEST_ATTEND_H

#include "support/guard.h"
#include "support/tensors.h"

#include "attn/attention.h"

enum { IN_QUERY, IN_KEY, IN_VALUE, IN_PAST_KEY, IN_PAST_VALUE, IN_W, IN_BIAS, IN_POSITION, INPUTS };

extern const char *const attend_names[INPUTS];

/* One of every kind, and some together, for two sentences of five queries and seven keys. */
enum { MASK_BATCH = 2, MASK_QUERIES = 5, MASK_KEYS = 7, MASKS = 14 };
extern const attn_mask attend_masks[MASKS];

typedef struct attend_problem {
    attn_attend_config config;    /* heads and key/value heads of the score must be given */
    int64_t batch, queries, keys; /* keys: without the past */
    int64_t past;                 /* keys in front; 0: no past */
    int64_t width, value_width;   /* of a head */
    attn_shape bias;              /* of the additive bias; rank 0: none */
    int64_t clip;                 /* of the position bias; 0: none */
    uint64_t seed;

    const guarded *guard;           /* inputs are handed over from memory that ends at its guard page, if given */
    double *in[INPUTS], *cotangent; /* by attend_open; NULL: this input is not there */
    attn_tensor *variable[INPUTS];  /* of the last run */
} attend_problem;

/* Random inputs in [-1, 1) and a cotangent of the output. Asks for all weights and scores. */
void attend_open(attend_problem *p);
void attend_close(attend_problem *p);

attn_shape attend_shape(const attend_problem *p, int input);
/* Keys with the past, and elements of the output and of the weights. */
int64_t attend_keys(const attend_problem *p);
int64_t attend_outputs(const attend_problem *p);
int64_t attend_pairs(const attend_problem *p);

/* The definition of the mask; j counts the past too. */
bool attend_sees(const attend_problem *p, int64_t b, int64_t i, int64_t j);
/* Query i sees something; something sees key j. */
bool attend_query_used(const attend_problem *p, int64_t b, int64_t i);
bool attend_key_used(const attend_problem *p, int64_t b, int64_t j);

/* Tensors in the order of the inputs, NULL where there is none. */
attn_attend_input attend_input(attn_tensor *const in[INPUTS]);

/* Runs attn_attend on variables; with `backward` also back from the cotangent. The tape must be fine afterwards. */
attn_attend_output attend_run(attend_problem *p, attn_tape *t, attn_dtype dtype, bool backward);

/* The same by plain loops. */
typedef struct attend_reference {
    double *scores, *weights, *output, *grad[INPUTS];
} attend_reference;
attend_reference attend_by_loops(const attend_problem *p);
void attend_reference_free(attend_reference *r);

/* Largest |actual - expected| over scores, weights, output and, with `backward`, all gradients. */
double attend_difference(const attend_problem *p, const attn_attend_output *out, const attend_reference *r, bool backward);

#endif

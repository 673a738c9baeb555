/* An attention layer with inputs and random parameters, and what plain loops in double make of the same numbers. */
#ifndef ATTN_TEST_ATTENTION_H
#define ATTN_TEST_ATTENTION_H

#include "attn/attention.h"
#include "support/tensors.h"

typedef struct attention_problem {
    attn_attention_config config; /* complete after attention_open */
    int64_t batch, queries, keys;
    bool self; /* one sequence is queries, keys and values; keys = queries */
    attn_mask mask;
    const int32_t *query_start;
    uint64_t seed;

    attn_dtype dtype;
    attn_params *params;
    const attn_attention *layer;
    double *query, *key, *value; /* inputs; with `self` three names of one array */

    attn_tensor *q, *k, *v; /* the inputs as variables of the last run */
} attention_problem;

/* Builds the layer (named "a") in the dtype; inputs and all parameters, also biases and positions, are random. */
void attention_open(attention_problem *p, attn_dtype dtype);
void attention_close(attention_problem *p);

/* Runs the layer on the inputs, as variables, and asks for all weights and scores. */
attn_attention_output attention_run(attention_problem *p, attn_tape *t);

/* The same by plain loops: scores and weights (B,H,Tq,Tk), output (B,Tq,output width). */
typedef struct attention_reference {
    double *scores, *weights, *output;
    int64_t pairs, outputs; /* elements */
} attention_reference;
attention_reference attention_by_loops(const attention_problem *p);
void attention_reference_free(attention_reference *r);

/* The definition of the mask. */
bool attention_sees(const attention_problem *p, int64_t b, int64_t i, int64_t j);

/* Width of the output. */
int64_t attention_width(const attention_problem *p);

/* Gradient of parameter NAME ("W_q", ...) of the layer, element i. */
double attention_grad(const attention_problem *p, const char *name, int64_t i);

#endif

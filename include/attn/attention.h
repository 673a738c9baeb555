/* The attention layer: learnable W_q, W_k, W_v, W_o and, for additive scores, w.
 *
 *     q = queries W_q,  k = keys W_k,  v = values W_v       (projections, cut into heads)
 *     weights = softmax(score(q, k) + position bias)        (over the visible keys)
 *     output  = concat over heads(weights v) W_o
 *
 * Queries, keys and values from one sequence: self-attention. Queries from one, keys and values from another: cross-attention. */
#ifndef ATTN_ATTENTION_H
#define ATTN_ATTENTION_H

#include "attn/ops.h"
#include "attn/params.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Zero means the default in brackets. */
typedef struct attn_attention_config {
    attn_score score;   /* [scaled dot] */
    int heads;          /* [1] */
    int query_dim;      /* width of the queries that come in; must be given */
    int key_dim;        /* width of the keys that come in [query_dim] */
    int value_dim;      /* width of the values that come in [key_dim] */
    int head_dim;       /* width of a projected query or key in one head [query_dim / heads, which must divide] */
    int head_value_dim; /* width of a projected value in one head [head_dim] */
    int output_dim;     /* width of the output [query_dim] */
    bool no_output;     /* leave out W_o: the output is (B,Tq,heads head_value_dim) */
    bool bias;          /* projections add learned biases b_q, b_k, b_v, b_o [no] */
    int relative_clip;  /* > 0: learned relative-position bias per head, offsets clipped to +-relative_clip [none] */
    double dropout;     /* rate of dropout on the weights in training [0] */
} attn_attention_config;

/** A layer in a parameter set; owned by the set, lives as long as it. */
typedef struct attn_attention attn_attention;

/** Declares the layer's parameters as NAME.W_q, NAME.W_k, NAME.W_v, NAME.W_o, NAME.w, NAME.position and NAME.b_*, before
 * attn_params_build. Matrices are (in, out) and start normal with standard deviation 1/sqrt(in); biases 0; w (heads, head_dim)
 * normal with 1/sqrt(head_dim); position bias -slope |offset| with the slopes 0, .05, .2, .5 repeated over the heads.
 * @return the layer, or NULL: the set keeps the error (ATTN_EINVAL names the numbers), which attn_params_build returns. */
ATTN_API const attn_attention *attn_attention_add(attn_params *p, const char *name, attn_attention_config config);

/** The configuration with its defaults filled in. */
ATTN_API attn_attention_config attn_attention_get_config(const attn_attention *layer);

typedef struct attn_attention_input {
    attn_tensor *query;         /* (B,Tq,query_dim) */
    attn_tensor *key;           /* (B,Tk,key_dim) [query] */
    attn_tensor *value;         /* (B,Tk,value_dim) [key] */
    attn_mask mask;             /* who may attend to whom [all to all] */
    const int32_t *query_start; /* position of the first query among the keys, B numbers [0]; for the relative-position bias */
} attn_attention_input;

typedef struct attn_attention_output {
    attn_tensor *output;  /* (B,Tq,output_dim); 0 for a query that sees nothing */
    attn_tensor *weights; /* (B,heads,Tq,Tk), rows sum to 1 (or are 0 where nothing is visible), before dropout */
    attn_tensor *scores;  /* (B,heads,Tq,Tk) as they enter the softmax; hidden pairs hold 0 */
} attn_attention_output;

/** Runs the layer on a tape. All members of the result are NULL on error (attn_tape_message names the shapes).
 * @cost O(B (Tq + Tk) D^2 + B Tq Tk D); additive scores cost a tanh for each pair and hidden unit
 * @see Vaswani et al. 2017, arXiv:1706.03762, 3.2 */
ATTN_API attn_attention_output attn_attention_apply(attn_tape *t, const attn_attention *layer, attn_attention_input in);

#ifdef __cplusplus
}
#endif
#endif

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

/* ---- the functional form: for those who bring their own projections ---------------------------------------------------------------- */

/** What attention is to tell besides its output, of queries first_query .. first_query + queries - 1. Nothing is told unasked, and asking
 * changes no bit of the output, its gradients or its dropout. Zero means the default in brackets. */
typedef struct attn_attend_report {
    bool weights, scores; /* [neither] */
    int64_t first_query;  /* [0] */
    int64_t queries;      /* [all from first_query on] */
} attn_attend_report;

/** Everything that attention can be told. Zero means the default in brackets. */
typedef struct attn_attend_config {
    attn_score_config score;   /* score, heads, key/value heads, scale */
    double soft_cap;           /* > 0: scores become soft_cap tanh(score / soft_cap) [none] */
    double dropout;            /* rate of dropout on the weights in training [0] */
    attn_mask mask;            /* who may attend to whom [all to all] */
    attn_attend_report report; /* weights and scores wanted [none] */
    bool composed;             /* the output passes through the stages that are reported, all of them stored [no] */
} attn_attend_config;

/** What attn_attend takes. In brackets what NULL means. */
typedef struct attn_attend_input {
    attn_tensor *query;      /* (B,Tq,H d) */
    attn_tensor *key;        /* (B,Tk,Hkv d) */
    attn_tensor *value;      /* (B,Tk,Hkv dv) */
    attn_tensor *past_key;   /* (B,P,Hkv d) earlier keys, put in front of the keys [none]; Tk of the mask then counts P too */
    attn_tensor *past_value; /* (B,P,Hkv dv) with past_key [none] */
    attn_tensor *w;          /* (H,d) for the additive score, else NULL */
    attn_tensor *bias;       /* added to the scores after soft-capping; repeated over (B,H,Tq,Tk) as attn_score_bias does [none] */
    attn_tensor *position;   /* (H,2 C + 1) relative-position bias by offset, clipped to +-C; query 0 stands at mask.positions[b], or 0
                                [none] */
} attn_attend_input;

/** What attn_attend gives. All of it is owned by the tape. */
typedef struct attn_attend_output {
    attn_tensor *output;      /* (B,Tq,H dv) */
    attn_tensor *weights;     /* (B,H,n,Tk) of the n queries of the report, or NULL; rows sum to 1 (or are 0 where nothing is visible),
                                 before dropout */
    attn_tensor *scaled;      /* (B,H,n,Tk) scores after scaling, or NULL; hidden pairs hold 0 in this and the next two */
    attn_tensor *capped;      /* after soft-capping too */
    attn_tensor *scores;      /* as they enter the softmax: with position and additive bias */
    attn_tensor *key, *value; /* with the past in front: the past of the next call */
} attn_attend_output;

/** Attention on projected queries, keys and values:
 *     weights = softmax over visible keys of (soft_cap(score(q, k)) + position bias + bias),   output = weights v, per head
 * All members of the result are NULL on error; all are part of the graph, so gradients may flow through any of them. What is reported is
 * computed apart from the output, for the queries in question. With `composed` it is what the output was mixed from, or a part of that: the
 * gradient of the output passes through what is reported of all queries.
 * @param in queries, keys, values, and what else there is   @param config NULL: all defaults   @return output and what was asked for
 * @grad those of the operations that it is made of   @errors ATTN_ESHAPE naming both shapes, ATTN_EINVAL, ATTN_ERANGE, ATTN_ENOMEM   @cost
 * O(B H Tq Tk (d + dv)), a report O(B H n Tk d)
 * @see Vaswani et al. 2017, arXiv:1706.03762, 3.2; the options are those of the ONNX operator Attention, opset 25 */
ATTN_API attn_attend_output attn_attend(attn_tape *t, attn_attend_input in, const attn_attend_config *config);

/** Row ranges of sentences that stand side by side in one batch entry without padding: rows offsets[s] .. offsets[s+1] - 1 are sentence s
 * and see each other only.
 * @param offsets n + 1 numbers   @param n sentences   @param begins receives offsets[n] numbers for attn_mask.row_begins
 * @param lengths the same for row_lengths   @errors ATTN_EINVAL unless 0 = offsets[0] <= offsets[1] <= ... */
ATTN_API ATTN_NODISCARD attn_status attn_packed_rows(const int32_t *offsets, int n, int32_t *begins, int32_t *lengths);

/** What weights look like: entropy in nats (0: one key gets all; ln of the visible keys: all alike) and saturation. */
typedef struct attn_weight_statistics {
    int64_t rows;      /* with any weight at all */
    double entropy;    /* mean over these rows */
    double saturation; /* share of these rows whose largest weight exceeds 0.99 */
    double largest;    /* mean of the largest weight */
} attn_weight_statistics;

/** Statistics of weights; a NaN in them makes entropy and largest NaN.
 * @param weights any shape; rows are the last dimension   @return means over the rows */
ATTN_API attn_weight_statistics attn_weights_describe(const attn_tensor *weights);

/* ---- the layer ----------------------------------------------------------------------------------------------------------------------- */

/** What a layer is. Zero means the default in brackets. */
typedef struct attn_attention_config {
    attn_score score;   /* [scaled dot] */
    int heads;          /* [1] */
    int kv_heads;       /* heads of keys and values, dividing heads: grouped queries [heads] */
    double scale;       /* factor of a dot product [1/sqrt(head_dim) scaled, 1 plain] */
    double soft_cap;    /* > 0: scores become soft_cap tanh(score / soft_cap) [none] */
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
 * @param name (copied) of the layer   @param config scores, heads, widths
 * @return the layer, or NULL: the set keeps the error (ATTN_EINVAL names the numbers), which attn_params_build returns */
ATTN_API const attn_attention *attn_attention_add(attn_params *p, const char *name, attn_attention_config config);

/** @param layer of attn_attention_add   @return its configuration with the defaults filled in */
ATTN_API attn_attention_config attn_attention_get_config(const attn_attention *layer);

/** What the layer takes. In brackets what NULL means. */
typedef struct attn_attention_input {
    attn_tensor *query;                 /* (B,Tq,query_dim) */
    attn_tensor *key;                   /* (B,Tk,key_dim) [query] */
    attn_tensor *value;                 /* (B,Tk,value_dim) [key] */
    attn_mask mask;                     /* who may attend to whom [all to all] */
    const int32_t *query_start;         /* B numbers: position of the first query among the keys, for the relative-position bias
                                           [mask.positions, or 0] */
    attn_tensor *past_key, *past_value; /* projected, from attn_attention_output of an earlier call: put in front [none] */
    attn_tensor *bias;                  /* additive bias on the scores [none] */
    attn_attend_report report;          /* weights and scores wanted [none] */
    bool composed;                      /* as attn_attend_config.composed [no] */
} attn_attention_input;

/** What the layer gives. All of it is owned by the tape. */
typedef struct attn_attention_output {
    attn_tensor *output;                   /* (B,Tq,output_dim) */
    attn_tensor *weights;                  /* (B,heads,n,Tk), or NULL: see attn_attend_output, also for the next three */
    attn_tensor *scaled, *capped, *scores; /* (B,heads,n,Tk), or NULL */
    attn_tensor *key, *value;              /* projected, with the past in front: the past of the next call */
    attn_tensor *query;                    /* (B,Tq,heads head_dim) projected */
} attn_attention_output;

/** Runs the layer on a tape.
 * @param layer of attn_attention_add   @param in queries, and what else there is   @return all members are NULL on error
 * @errors ATTN_ESHAPE naming both shapes, ATTN_EINVAL, ATTN_ERANGE, ATTN_ENOMEM; all are the tape's
 * @grad those of the operations that it is made of, also by the parameters
 * @cost O(B (Tq + Tk) D^2 + B Tq Tk D); additive scores cost a tanh for each pair and hidden unit
 * @see Vaswani et al. 2017, arXiv:1706.03762, 3.2 */
ATTN_API attn_attention_output attn_attention_apply(attn_tape *t, const attn_attention *layer, attn_attention_input in);

#ifdef __cplusplus
}
#endif
#endif

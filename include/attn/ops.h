/* Differentiable operations. Each builder runs the operation at once, records it for the backward pass, and returns the result,
 * owned by the tape `t` and valid until it is reset; NULL on error (see attn_tape_status) or if an input is NULL.
 * All inputs of one operation have the same dtype. Work is shared between the tape's threads; results do not depend on their
 * number. Unless said otherwise an operation costs O(elements) forward and backward, and nothing is saved beyond its inputs
 * and its output. What all operations have in common is not repeated: see attn/attn.h, also for the tags. */
#ifndef ATTN_OPS_H
#define ATTN_OPS_H

#include "attn/tape.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- elementwise ---------------------------------------------------------------------------------------------------------- */

/** y = a + b.  @param a any shape   @param b repeated over a where it lacks leading dimensions or has a dimension of 1: (B,T,D) + (D),
 * (B,H,Tq,Tk) + (B,1,Tq,Tk)   @grad da = g, db = g summed over the repetitions */
ATTN_API attn_tensor *attn_add(attn_tape *t, attn_tensor *a, attn_tensor *b);

/** y = a - b.  @param a any shape   @param b the same   @grad da = g, db = -g */
ATTN_API attn_tensor *attn_sub(attn_tape *t, attn_tensor *a, attn_tensor *b);

/** y = a * b element by element.  @param a any shape   @param b the same   @grad da = g b, db = g a */
ATTN_API attn_tensor *attn_mul(attn_tape *t, attn_tensor *a, attn_tensor *b);

/** y = factor * x.  @param x any shape   @param factor any number   @grad dx = factor g */
ATTN_API attn_tensor *attn_scale(attn_tape *t, attn_tensor *x, double factor);

/** y = tanh(x).  @param x any shape   @grad dx = g (1 - y^2) */
ATTN_API attn_tensor *attn_tanh(attn_tape *t, attn_tensor *x);

/** y = max(x, 0).  @param x any shape   @grad dx = g where x > 0, else 0 (at the kink 0 the derivative is taken as 0) */
ATTN_API attn_tensor *attn_relu(attn_tape *t, attn_tensor *x);

/** y = 1 / (1 + e^-x).  @param x any shape   @grad dx = g y (1 - y) */
ATTN_API attn_tensor *attn_sigmoid(attn_tape *t, attn_tensor *x);

/** The two forms of attn_gelu. */
typedef enum attn_gelu_form {
    ATTN_GELU_ERF,  /* x Phi(x), Phi the standard normal distribution function */
    ATTN_GELU_TANH, /* x (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))) / 2 */
} attn_gelu_form;

/** Gaussian error linear unit.  @param x any shape   @param form exact, or by tanh   @errors ATTN_EINVAL (no such form)
 * @grad erf: dx = g (Phi(x) + x phi(x)), phi the normal density; tanh: the derivative of that form
 * @see Hendrycks, Gimpel 2016, arXiv:1606.08415 */
ATTN_API attn_tensor *attn_gelu(attn_tape *t, attn_tensor *x, attn_gelu_form form);

/** Dropout: in training each element is 0 with probability `rate`, else x / (1 - rate); otherwise y = x.
 * The mask is a function of the tape's seed and step and of how many dropouts the step has had (attn_tape_set_random).
 * @param x any shape   @param rate 0 <= rate < 1   @errors ATTN_EINVAL (another rate)   @grad dx = g times the same mask, drawn again
 * rather than stored
 * @see Srivastava et al. 2014, JMLR 15 */
ATTN_API attn_tensor *attn_dropout(attn_tape *t, attn_tensor *x, double rate);

/* ---- shape ---------------------------------------------------------------------------------------------------------------- */

/** The same elements, shared, under another shape.  @param x any shape   @param shape of as many elements   @grad dx = g */
ATTN_API attn_tensor *attn_reshape(attn_tape *t, attn_tensor *x, attn_shape shape);

/** Part of one dimension: y[..., i, ...] = x[..., begin + i, ...] for 0 <= i < count. The whole dimension gives x itself.
 * @param x any shape but a scalar   @param dim counted from 0   @param begin first index   @param count 0 is legal
 * @errors ATTN_EINVAL (no such dimension), ATTN_ERANGE naming the shape
 * @grad dx = g in the part, 0 elsewhere */
ATTN_API attn_tensor *attn_slice(attn_tape *t, attn_tensor *x, int dim, int64_t begin, int64_t count);

/** Joins tensors along the last dimension: (..., D1), (..., D2) -> (..., D1 + D2).  @param x alike in all others   @param n their number,
 * >= 1
 * @errors ATTN_EINVAL (no tensor)   @grad each gets its own columns of g */
ATTN_API attn_tensor *attn_concat(attn_tape *t, attn_tensor *const x[], int n);

/** Joins two sequences in time, as a cache of earlier keys or values.  @param past (B,P,D), comes first   @param x (B,T,D)   @return
 * (B,P+T,D)
 * @grad each gets its own rows of g */
ATTN_API attn_tensor *attn_append(attn_tape *t, attn_tensor *past, attn_tensor *x);

/** Sum of all elements, in one fixed order.  @param x any shape   @return a scalar   @grad dx = g everywhere */
ATTN_API attn_tensor *attn_sum(attn_tape *t, attn_tensor *x);

/** Mean of all elements.  @param x any shape with an element   @return a scalar   @errors ATTN_ESHAPE (no element)   @grad dx = g / count
 */
ATTN_API attn_tensor *attn_mean(attn_tape *t, attn_tensor *x);

/* ---- products ------------------------------------------------------------------------------------------------------------- */

/** Which operand of a matrix product is read transposed. */
typedef enum attn_transpose {
    ATTN_NN, /* C = A B      A (m,k)  B (k,n) */
    ATTN_NT, /* C = A B^T    A (m,k)  B (n,k) */
    ATTN_TN, /* C = A^T B    A (k,m)  B (k,n) */
} attn_transpose;

/** Matrix product of the last two dimensions, C = A B.
 * @param a (...,m,k)   @param b (...,k,n) with the same leading dimensions, a batch; with NN and NT also of rank 2, for every matrix of A:
 * (B,T,D) x (D,E) -> (B,T,E)   @param transpose which of the two is given transposed   @return (...,m,n)
 * @grad NN: dA = G B^T, dB = A^T G;  NT: dA = G B, dB = G^T A;  TN: dA = B G^T, dB = A G
 * @errors ATTN_ESHAPE naming both shapes   @cost O(batch m n k) */
ATTN_API attn_tensor *attn_matmul(attn_tape *t, attn_tensor *a, attn_tensor *b, attn_transpose transpose);

/* ---- normalisation -------------------------------------------------------------------------------------------------------- */

/** y = gamma (x - mean) / sqrt(variance + epsilon) + beta over the last dimension; the variance divides by D.
 * @param x (...,D)   @param gamma (D)   @param beta (D)   @param epsilon >= 0   @errors ATTN_EINVAL (epsilon)
 * @grad with n = (x - mean) / sd and h = g gamma: dx = (h - mean(h) - n mean(h n)) / sd, dgamma = sum g n, dbeta = sum g
 * @see Ba, Kiros, Hinton 2016, arXiv:1607.06450 */
ATTN_API attn_tensor *attn_layer_norm(attn_tape *t, attn_tensor *x, attn_tensor *gamma, attn_tensor *beta, double epsilon);

/* ---- lookup --------------------------------------------------------------------------------------------------------------- */

/** Rows of a table: y[i] = table[ids[i]].
 * @param table (V,D)   @param ids numbers of rows (copied)   @param ids_shape their shape   @return ids_shape + (D)
 * @errors ATTN_ERANGE with the id and V for an id outside 0..V-1   @grad dtable[ids[i]] += g[i], in order of i */
ATTN_API attn_tensor *attn_embedding(attn_tape *t, attn_tensor *table, const int32_t *ids, attn_shape ids_shape);

/** One row of each batch entry: y[b] = x[b, index[b]].  @param x (B,T,D)   @param index B numbers (copied)   @return (B,D)
 * @errors ATTN_ERANGE with the index and T   @grad dx[b, index[b]] += g[b] */
ATTN_API attn_tensor *attn_gather_rows(attn_tape *t, attn_tensor *x, const int32_t *index);

/* ---- attention ------------------------------------------------------------------------------------------------------------ */

/** How well a key answers a query. */
typedef enum attn_score {
    ATTN_SCORE_SCALED_DOT, /* q . k / sqrt(d) */
    ATTN_SCORE_DOT,        /* q . k */
    ATTN_SCORE_ADDITIVE,   /* w . tanh(q + k) */
} attn_score;

/** @return "scaled-dot", "dot" or "additive", in static storage */
ATTN_API const char *attn_score_name(attn_score score);

/** Which later keys a query does not see. */
typedef enum attn_causal {
    ATTN_CAUSAL_NONE,         /* none are hidden */
    ATTN_CAUSAL_TOP_LEFT,     /* key j is visible to query i when j <= i */
    ATTN_CAUSAL_BOTTOM_RIGHT, /* key j is visible to query i when j <= i + Tk - Tq */
    ATTN_CAUSAL_POSITION,     /* key j is visible to query i when j <= i + positions[b] */
} attn_causal;

/** What attn_mask.allow holds. */
typedef enum attn_allow_form {
    ATTN_ALLOW_PAIRS, /* (B,Tq,Tk) */
    ATTN_ALLOW_KEYS,  /* (B,Tk), the same for every query */
} attn_allow_form;

/** Which keys a query may attend to. A zero struct lets everything see everything; what is given combines by AND.
 * Arrays are copied when an operation is recorded. In all of them *true means "may attend"*. Hidden keys are skipped: whatever they
 * hold, even NaN, reaches neither the output nor a gradient. A query that may attend to nothing has weights 0, output 0 and
 * gradients 0. */
typedef struct attn_mask {
    const int32_t *key_lengths;   /* (B): keys j < key_lengths[b]; 0 <= length <= Tk */
    const int32_t *query_lengths; /* (B): queries i < query_lengths[b] attend, the others (padding) attend to nothing */
    const int32_t *row_lengths;   /* (B,Tq): keys j < row_lengths[b,i] */
    const int32_t *row_begins;    /* (B,Tq): keys j >= row_begins[b,i]; with row_lengths, sentences side by side (attn_packed_rows) */
    const uint8_t *allow;         /* 1 = may attend, 0 = may not; laid out as allow_form says */
    attn_allow_form allow_form;   /* [pairs] */
    attn_causal causal;           /* [none] */
    bool window;                  /* query i at place p sees keys p - left .. p + right only; a negative number is no limit */
    int32_t left, right;          /* of the window */
    const int32_t *positions;     /* (B): place of query 0 among the keys, so that p = i + positions[b]; when not given, p = i, or
                                     i + Tk - Tq with ATTN_CAUSAL_BOTTOM_RIGHT. For a window and ATTN_CAUSAL_POSITION */
} attn_mask;

/** The two sides of attention. */
typedef enum attn_side {
    ATTN_SIDE_QUERIES, /* who looks */
    ATTN_SIDE_KEYS,    /* who is looked at */
} attn_side;

/** Queries (or keys) that take part: y[b,i] = x[b,i] if query i sees any key (or key i is seen by any query), else 0. Put before a matrix
 * product, it keeps what padding holds, even NaN, out of the product and its gradients.
 * @param x (B,T,D)   @param side of the rows of x   @param before rows of this side, in the mask's eyes, that stand before x (a cache)
 * @param other rows of the other side
 * @param mask where it hides no row, being NULL, empty or causal order alone, the result is x itself   @errors ATTN_ERANGE (lengths)
 * @grad dx = g in the rows that take part, 0 elsewhere   @cost O(B (Tq + Tk + T D)), and B Tq Tk where `allow` has a byte for each pair */
ATTN_API attn_tensor *attn_visible_rows(attn_tape *t, attn_tensor *x, attn_side side, int64_t before, int64_t other, const attn_mask *mask);

/** How queries and keys are compared. Zero means the default in brackets. */
typedef struct attn_score_config {
    attn_score score; /* [scaled dot] */
    int heads;        /* of the queries [1] */
    int kv_heads;     /* of keys and values [heads]; fewer must divide heads: query head h reads key/value head h / (heads / kv_heads) */
    double scale;     /* factor of a dot product [1/sqrt(d) scaled, 1 plain]; must be 0 for additive scores */
} attn_score_config;

/** Raw scores of all query-key pairs, per head.
 *     scaled dot  s[b,h,i,j] = sum_c q[b,i,h,c] k[b,j,g,c] / sqrt(d)          g = key head of h, h itself unless grouped
 *     dot         the same without the division
 *     additive    s[b,h,i,j] = sum_c w[h,c] tanh(q[b,i,h,c] + k[b,j,g,c])
 * @param q (B,Tq,H d) projected queries   @param k (B,Tk,Hkv d) projected keys   @param w (H,d) for additive, else NULL
 * @param config score, heads, scale   @param mask pairs to skip (their score is 0 and unused), or NULL
 * @return (B,H,Tq,Tk) scores in natural-log units   @errors ATTN_ESHAPE naming both shapes, ATTN_EINVAL (heads, scale), ATTN_ERANGE
 * (lengths)
 * @grad dot: dq = ds k, dk = ds^T q (times the scale); additive: with u = tanh(q + k), dw = ds u, dq = sum_j ds w (1 - u^2), dk likewise
 *       over i; u is computed again, not stored   @cost O(B Tq Tk H d)
 * @see scaled: Vaswani et al. 2017, arXiv:1706.03762, 3.2.1; dot: Luong, Pham, Manning 2015, arXiv:1508.04025, 3.1; additive:
 *      Bahdanau, Cho, Bengio 2015, arXiv:1409.0473, A.1.2; grouped: Ainslie et al. 2023, arXiv:2305.13245 */
ATTN_API attn_tensor *attn_attention_scores(attn_tape *t, attn_tensor *q, attn_tensor *k, attn_tensor *w, attn_score_config config,
                                            const attn_mask *mask);

/** Soft cap: y = cap tanh(s / cap), which keeps scores within +-cap.
 * @param s any shape   @param cap > 0, normal in the dtype as is 1 / cap   @errors ATTN_EINVAL (another cap)   @grad ds = g (1 - (y /
 * cap)^2)
 * @see Gemma Team 2024, arXiv:2408.00118, 2 */
ATTN_API attn_tensor *attn_soft_cap(attn_tape *t, attn_tensor *s, double cap);

/** Relative-position bias: y[b,h,i,j] = s[b,h,i,j] + table[h, clip(j - i - first[b], -C, C) + C].
 * @param s (B,H,Tq,Tk)   @param table (H, 2 C + 1), learned   @param first position of each sentence's first query among its keys, B
 *        numbers (copied), or NULL for 0 (self-attention)   @errors ATTN_ERANGE (lengths)
 * @grad ds = g, dtable = g summed by offset; hidden pairs (mask) are skipped   @cost O(B H Tq Tk)
 * @see Shaw, Uszkoreit, Vaswani 2018, arXiv:1803.02155 (clipping); Raffel et al. 2020, arXiv:1910.10683, 2.1 (bias on the score) */
ATTN_API attn_tensor *attn_relative_bias(attn_tape *t, attn_tensor *s, attn_tensor *table, const int32_t *first, const attn_mask *mask);

/** Additive bias: y = s + bias at visible pairs, 0 at hidden ones.
 * @param s (B,H,Tq,Tk)   @param bias repeated over s where it lacks leading dimensions or has a dimension of 1
 * @grad ds = g, dbias = g summed over the repetitions; hidden pairs (mask) are skipped   @errors ATTN_ESHAPE naming both shapes,
 * ATTN_ERANGE (lengths) */
ATTN_API attn_tensor *attn_score_bias(attn_tape *t, attn_tensor *s, attn_tensor *bias, const attn_mask *mask);

/** Softmax over the last dimension, of the visible entries only: y[j] = e^(x[j] - m) / sum over visible j', m their largest score.
 * Hidden entries get 0, a row without visible entries is 0.
 * Any finite score is legal; -infinity is one that gets no weight, and a row of nothing else is 0; NaN or +infinity among the visible ones
 * gives NaN in that row.
 * @param x (B,H,Tq,Tk), (B,Tq,Tk), (Tq,Tk) or (Tk)
 * @grad dx[j] = y[j] (g[j] - sum over visible g y), 0 at hidden entries   @errors ATTN_ERANGE (lengths) */
ATTN_API attn_tensor *attn_softmax(attn_tape *t, attn_tensor *x, const attn_mask *mask);

/** Weighted sums of the values: y[b,i,h,:] = sum over visible j of weights[b,h,i,j] values[b,j,h,:].
 * @param weights (B,H,Tq,Tk)   @param values (B,Tk,Hkv dv)   @param kv_heads heads of the values, dividing H [0: H]   @return (B,Tq,H dv)
 * @errors ATTN_ERANGE (lengths)   @grad dweights = g . v (0 for hidden pairs), dvalues = weights^T g   @cost O(B H Tq
 * Tk dv) */
ATTN_API attn_tensor *attn_attention_mix(attn_tape *t, attn_tensor *weights, attn_tensor *values, int kv_heads, const attn_mask *mask);

/** What fused attention takes. Zero means the default in brackets. */
typedef struct attn_fused_input {
    attn_tensor *query;      /* (B,Tq,H d) */
    attn_tensor *key;        /* (B,Tk,Hkv d) */
    attn_tensor *value;      /* (B,Tk,Hkv dv) */
    attn_tensor *w;          /* (H,d) for the additive score, else NULL */
    attn_tensor *bias;       /* as in attn_score_bias [none] */
    attn_tensor *position;   /* table of attn_relative_bias [none] */
    const int32_t *first;    /* as in attn_relative_bias (copied) [0] */
    attn_score_config score; /* score, heads, key/value heads, scale */
    double soft_cap;         /* > 0: as in attn_soft_cap [none] */
    double dropout;          /* rate of dropout on the weights in training [0] */
    attn_mask mask;          /* (copied) [all to all] */
} attn_fused_input;

/** The composition of attn_attention_scores, attn_soft_cap, attn_relative_bias, attn_score_bias, attn_softmax, attn_dropout and
 * attn_attention_mix in one pass, tile by tile, without an array of all pairs; the same formulas, meanings and random numbers.
 * @param in all of it   @return (B,Tq,H dv)   @errors those of the operations that it is made of
 * @grad those of the operations that it is made of; weights are computed again from each row's maximum and sum, which are saved
 * @cost O(B H Tq Tk (d + dv)) time; while it runs O(B (H Tq + Hkv Tk) (d + dv)) memory, in backward up to 8 times the queries' gradient,
 *       and as much as a bias of all pairs if that needs a gradient
 * @see Milakov, Gimelshein 2018, arXiv:1805.02867 (softmax in one pass); Rabe, Staats 2021, arXiv:2112.05682 (memory);
 *      Dao et al. 2022, arXiv:2205.14135 (backward) */
ATTN_API attn_tensor *attn_fused_attention(attn_tape *t, const attn_fused_input *in);

/* ---- loss ----------------------------------------------------------------------------------------------------------------- */

#define ATTN_IGNORE (-1) /**< a target that does not count */

/** Zero means: all classes, no smoothing. */
typedef struct attn_cross_entropy_config {
    const uint8_t *candidates; /* (N,C), true = class is possible; NULL: all. Others are skipped: no probability, no gradient */
    double label_smoothing;    /* in [0,1): share of the target spread evenly over the candidates */
} attn_cross_entropy_config;

/** Mean negative log-likelihood in nats, computed from the logits by log-sum-exp.
 *     loss = 1/n sum over counted i of  lse(x[i]) - (1 - e) x[i, target] - e mean over candidates x[i]
 * @param logits (N,C)   @param targets N class numbers (copied); ATTN_IGNORE leaves a row out of the sum and of n
 * @param config (copied) NULL: all classes, no smoothing
 * @return a scalar; 0 with gradients 0 if no row counts
 * @errors ATTN_ERANGE (class number outside 0..C-1, or not a candidate), ATTN_EINVAL (label_smoothing)
 * @grad dx = g / n (softmax over candidates - smoothed target); saves the log-sum-exp of each row */
ATTN_API attn_tensor *attn_cross_entropy(attn_tape *t, attn_tensor *logits, const int32_t *targets,
                                         const attn_cross_entropy_config *config);

/* ---- the list ------------------------------------------------------------------------------------------------------------- */

ATTN_API int attn_op_count(void); /* number of operations */

/** @param op 0 to attn_op_count() - 1, in the order of ops.def   @return its name, in static storage; NULL for a number outside */
ATTN_API const char *attn_op_name(int op);

#ifdef __cplusplus
}
#endif
#endif

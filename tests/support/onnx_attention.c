#include "support/onnx_attention.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "attn/attention.h"

const char *const onnx_input_names[ONNX_INPUTS] = {"Q", "K", "V", "attn_mask", "past_key", "past_value", "nonpad_kv_seqlen"};
const char *const onnx_output_names[ONNX_OUTPUTS] = {"Y", "present_key", "present_value", "qk_matmul_output"};
const onnx_attributes onnx_defaults = {.left_window_size = -1, .right_window_size = -1};

/* One run: the operator's sizes, and what is built from its inputs. */
typedef struct run {
    const onnx_attributes *a;
    const ndarray *in;
    int64_t batch, heads, kv_heads, queries, past, keys; /* keys: with the past */
    int64_t visible;                                     /* keys that the last axis of the mask reaches */
    int32_t *positions, *key_lengths;                    /* (B) */
    uint8_t *allow;                                      /* (B,Tq,Tk), or NULL */
    attn_attend_config config;
    attn_attend_input input;
    char *why;
} run;

static void *array(int64_t count, size_t size)
{
    void *memory = calloc((size_t)count + 1, size);
    if (memory == NULL) {
        abort();
    }
    return memory;
}

static bool refuse(const run *r, const char *why)
{
    (void)snprintf(r->why, ND_MESSAGE, "%s", why);
    return false;
}

/* ---- layouts: the operator's (B,H,T,d) is (B,T,H d) here ---- */

/* Place of element `i` of (B,H,T,d) in (B,T,H,d). */
static int64_t place(const int64_t dim[4], int64_t i)
{
    int64_t c = i % dim[3], t = i / dim[3] % dim[2], h = i / dim[3] / dim[2] % dim[1], b = i / dim[3] / dim[2] / dim[1];
    return ((b * dim[2] + t) * dim[1] + h) * dim[3] + c;
}

/* A 4-D input with its heads put inside, or a 3-D one as it is. */
static attn_tensor *rows_of(attn_tape *t, const ndarray *x)
{
    attn_shape shape = x->rank == 3 ? ATTN_SHAPE(x->dim[0], x->dim[1], x->dim[2]) : ATTN_SHAPE(x->dim[0], x->dim[2], x->dim[1] * x->dim[3]);
    attn_tensor *y = x->values != NULL ? attn_input(t, ATTN_F32, shape, NULL) : NULL;
    for (int64_t i = 0; y != NULL && i < x->count; i++) {
        ((float *)attn_tensor_data(y))[x->rank == 3 ? i : place(x->dim, i)] = (float)x->values[i];
    }
    return y;
}

/* The way back: (B,T,H d) as (B,H,T,d), or in three dimensions as it is. */
static ndarray from_rows(const attn_tensor *x, int64_t heads, int rank)
{
    attn_shape s = attn_tensor_shape(x);
    const int64_t three[] = {s.dim[0], s.dim[1], s.dim[2]}, four[] = {s.dim[0], heads, s.dim[1], s.dim[2] / heads};
    ndarray y = nd_new(rank, rank == 3 ? three : four);
    for (int64_t i = 0; i < y.count; i++) {
        y.values[i] = attn_tensor_get(x, rank == 3 ? i : place(four, i));
    }
    return y;
}

static ndarray from_pairs(const attn_tensor *x)
{
    attn_shape s = attn_tensor_shape(x);
    ndarray y = nd_new(4, s.dim);
    for (int64_t i = 0; i < y.count; i++) {
        y.values[i] = attn_tensor_get(x, i);
    }
    return y;
}

/* ---- sizes ---- */

static bool find_sizes(run *r)
{
    const ndarray *q = &r->in[ONNX_Q], *k = &r->in[ONNX_K], *v = &r->in[ONNX_V], *past = &r->in[ONNX_PAST_KEY];
    const ndarray *past_value = &r->in[ONNX_PAST_VALUE], *nonpad = &r->in[ONNX_NONPAD];
    if (q->values == NULL || k->values == NULL || v->values == NULL) {
        return refuse(r, "Q, K or V is missing");
    }
    if ((q->rank != 3 && q->rank != 4) || k->rank != q->rank || v->rank != q->rank) {
        return refuse(r, "Q, K and V need three or four dimensions, the same for all");
    }
    bool folded = q->rank == 3;
    r->batch = q->dim[0];
    r->heads = folded ? (int64_t)r->a->q_num_heads : q->dim[1];
    r->kv_heads = folded ? (int64_t)r->a->kv_num_heads : k->dim[1];
    if (r->heads < 1 || r->kv_heads < 1 || r->heads > INT32_MAX || r->kv_heads > INT32_MAX || (!folded && v->dim[1] != k->dim[1])) {
        return refuse(r, "no heads, or keys and values in different numbers of them");
    }
    if ((past->values != NULL) != (past_value->values != NULL) || (past->values != NULL && (past->rank != 4 || past_value->rank != 4))) {
        return refuse(r, "past_key and past_value belong together and have four dimensions");
    }
    if (nonpad->values != NULL && (nonpad->rank != 1 || nonpad->dim[0] != r->batch)) {
        return refuse(r, "nonpad_kv_seqlen needs a number for each batch entry");
    }
    r->queries = q->dim[folded ? 1 : 2];
    r->past = past->values != NULL ? past->dim[2] : 0;
    r->keys = r->past + k->dim[folded ? 1 : 2];
    r->visible = r->keys;
    return true;
}

/* ---- masks ---- */

/* Extent of the mask in dimension `d` of (B,H,Tq,Tk); missing leading dimensions are 1. */
static int64_t mask_extent(const ndarray *m, int d)
{
    return d + m->rank < 4 ? 1 : m->dim[d + m->rank - 4];
}

/* Element of the mask for a pair, repeated as NumPy does; j < visible. */
static double mask_at(const ndarray *m, int64_t b, int64_t h, int64_t i, int64_t j)
{
    const int64_t at[] = {b, h, i, j};
    int64_t index = 0;
    for (int d = 0; d < 4; d++) {
        int64_t extent = mask_extent(m, d);
        index = index * extent + (extent == 1 ? 0 : at[d]);
    }
    return m->values[index];
}

/* A mask that is the same for all heads, as pairs; keys that it does not reach are hidden by the key lengths. */
static void take_pairs(run *r, const ndarray *m)
{
    r->allow = array(r->batch * r->queries * r->keys, 1);
    for (int64_t p = 0; p < r->batch * r->queries * r->keys; p++) {
        int64_t b = p / r->keys / r->queries, i = p / r->keys % r->queries, j = p % r->keys;
        r->allow[p] = j < r->visible && mask_at(m, b, 0, i, j) != 0;
    }
    r->config.mask.allow = r->allow;
}

/* A mask of numbers is an additive bias of the mask's own shape. One of truth values that differ between the heads becomes a bias too:
 * minus infinity gets no weight. */
static void take_bias(run *r, attn_tape *t, const ndarray *m)
{
    bool truth = m->dtype[0] == 'b';
    attn_shape s = ATTN_SHAPE(mask_extent(m, 0), mask_extent(m, 1), mask_extent(m, 2), r->keys);
    r->input.bias = attn_input(t, ATTN_F32, s, NULL);
    for (int64_t p = 0; r->input.bias != NULL && p < attn_tensor_count(r->input.bias); p++) {
        int64_t j = p % s.dim[3], i = p / s.dim[3] % s.dim[2], h = p / s.dim[3] / s.dim[2] % s.dim[1],
                b = p / s.dim[3] / s.dim[2] / s.dim[1];
        double x = j < r->visible ? mask_at(m, b, h, i, j) : 0;
        ((float *)attn_tensor_data(r->input.bias))[p] = !truth ? (float)x : x != 0 || j >= r->visible ? 0 : -INFINITY;
    }
}

static bool take_mask(run *r, attn_tape *t)
{
    const ndarray *m = &r->in[ONNX_MASK];
    if (m->values == NULL) {
        return true;
    }
    const int64_t full[] = {r->batch, r->heads, r->queries};
    bool fits = m->rank >= 1 && m->rank <= 4 && mask_extent(m, 3) <= r->keys && (m->dtype[0] == 'b' || m->dtype[0] == 'f');
    for (int d = 0; fits && d < 3; d++) {
        fits = mask_extent(m, d) == 1 || mask_extent(m, d) == full[d];
    }
    if (!fits) {
        char shape[ND_SHAPE_TEXT];
        (void)snprintf(r->why, ND_MESSAGE, "attn_mask %s of %s cannot be repeated over (%lld,%lld,%lld,%lld)", nd_shape(m, shape), m->dtype,
                       (long long)r->batch, (long long)r->heads, (long long)r->queries, (long long)r->keys);
        return false;
    }
    r->visible = mask_extent(m, 3); /* a shorter last axis hides the rest */
    if (m->dtype[0] == 'b' && mask_extent(m, 1) == 1) {
        take_pairs(r, m);
    } else {
        take_bias(r, t, m);
    }
    return true;
}

/* Causality, windows and lengths. The place of query 0: behind the past, or so that the last query stands at the last real key. */
static void take_lengths(run *r)
{
    const ndarray *nonpad = &r->in[ONNX_NONPAD];
    bool external = nonpad->values != NULL && r->in[ONNX_PAST_KEY].values == NULL;
    attn_mask *m = &r->config.mask;
    r->positions = array(r->batch, sizeof *r->positions);
    r->key_lengths = array(r->batch, sizeof *r->key_lengths);
    for (int64_t b = 0; b < r->batch; b++) {
        r->positions[b] = (int32_t)(external ? (int64_t)nonpad->values[b] - r->queries : r->past);
        int64_t length = nonpad->values != NULL ? (int64_t)nonpad->values[b] : r->keys;
        r->key_lengths[b] = (int32_t)(length < r->visible ? length : r->visible);
    }
    m->key_lengths = nonpad->values != NULL || r->visible < r->keys ? r->key_lengths : NULL;
    m->causal = r->a->is_causal != 0 ? ATTN_CAUSAL_POSITION : ATTN_CAUSAL_NONE;
    m->left = (int32_t)r->a->left_window_size;
    m->right = (int32_t)r->a->right_window_size;
    m->window = m->left >= 0 || m->right >= 0;
    m->positions = m->window || r->a->is_causal != 0 ? r->positions : NULL;
}

/* The definition of the mask, for the scores that the operator shows. */
static bool sees(const run *r, int64_t b, int64_t i, int64_t j)
{
    const attn_mask *m = &r->config.mask;
    int64_t at = i + r->positions[b];
    return j < r->key_lengths[b] && (r->allow == NULL || r->allow[(b * r->queries + i) * r->keys + j]) &&
           (m->causal == ATTN_CAUSAL_NONE || j <= at) && (m->left < 0 || j >= at - m->left) && (m->right < 0 || j <= at + m->right);
}

/* ---- the run ---- */

static void take_inputs(run *r, attn_tape *t)
{
    r->input.query = rows_of(t, &r->in[ONNX_Q]);
    r->input.key = rows_of(t, &r->in[ONNX_K]);
    r->input.value = rows_of(t, &r->in[ONNX_V]);
    r->input.past_key = rows_of(t, &r->in[ONNX_PAST_KEY]);
    r->input.past_value = rows_of(t, &r->in[ONNX_PAST_VALUE]);
    r->config.score = (attn_score_config){.heads = (int)r->heads, .kv_heads = (int)r->kv_heads};
    r->config.soft_cap = r->a->softcap;
    r->config.report = (attn_attend_report){.weights = true, .scores = true};
    if (r->a->has_scale) {
        bool zero = r->a->scale == 0; /* which stands for the default here: queries of 0 score 0 too */
        r->config.score.scale = zero ? 1 : r->a->scale;
        r->input.query = zero ? attn_scale(t, r->input.query, 0) : r->input.query;
    }
}

/* Modes 0 and 1 are shown as they are before any mask, so of hidden pairs too; 2 has minus infinity there, 3 weights of 0. */
static ndarray shown(const run *r, attn_tape *t, const attn_attend_output *out)
{
    int mode = (int)r->a->qk_matmul_output_mode;
    if (mode == 3) {
        return from_pairs(out->weights);
    }
    if (mode == 2) {
        ndarray y = from_pairs(out->scores);
        for (int64_t p = 0; p < y.count; p++) {
            int64_t i = p / r->keys % r->queries, b = p / r->keys / r->queries / r->heads;
            y.values[p] = sees(r, b, i, p % r->keys) ? y.values[p] : -INFINITY;
        }
        return y;
    }
    attn_attend_config open = r->config;
    attn_attend_input input = r->input;
    open.mask = (attn_mask){.allow = NULL};
    input.bias = NULL;
    attn_attend_output all = attn_attend(t, input, &open);
    return all.output != NULL ? from_pairs(mode == 1 ? all.capped : all.scaled) : (ndarray){.rank = 0};
}

static bool attend(run *r, attn_tape *t, ndarray out[ONNX_OUTPUTS])
{
    if (!find_sizes(r) || !take_mask(r, t)) {
        return false;
    }
    take_lengths(r);
    take_inputs(r, t);
    attn_attend_output y = attn_attend(t, r->input, &r->config);
    ndarray scores = y.output != NULL ? shown(r, t, &y) : (ndarray){.rank = 0};
    if (scores.values == NULL) {
        return refuse(r, attn_tape_message(t));
    }
    out[ONNX_Y] = from_rows(y.output, r->heads, r->in[ONNX_Q].rank);
    out[ONNX_PRESENT_KEY] = from_rows(y.key, r->kv_heads, 4);
    out[ONNX_PRESENT_VALUE] = from_rows(y.value, r->kv_heads, 4);
    out[ONNX_SCORES] = scores;
    return true;
}

bool onnx_attention(const onnx_attributes *attributes, const ndarray in[ONNX_INPUTS], ndarray out[ONNX_OUTPUTS], char why[ND_MESSAGE])
{
    run r = {.a = attributes, .in = in, .why = why};
    attn_tape *t = attn_tape_new(NULL);
    bool ok = t != NULL ? attend(&r, t, out) : refuse(&r, "out of memory");
    attn_tape_free(t);
    free(r.positions);
    free(r.key_lengths);
    free(r.allow);
    return ok;
}

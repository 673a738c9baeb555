/* Weighted sums of the values, per head. Hidden pairs are skipped, so that what they hold does not matter. */
#include "ops/op.h"

#define BLOCK 16

typedef struct mix {
    attn_mask mask;
    attn__pairs d;
    int64_t width; /* of a head's values */
    int64_t kv_heads;
} mix;

static attn_status infer(attn__node *n)
{
    mix *m = n->attributes;
    attn_shape w = n->in[0]->shape, v = n->in[1]->shape;
    if (w.rank != 4 || v.rank != 3 || w.dim[0] != v.dim[0] || w.dim[3] != v.dim[1]) {
        return attn__op_fail(n, ATTN_ESHAPE, "weights %s and values %s: expected (B,H,Tq,Tk) and (B,Tk,Hkv dv)", ATTN__TEXT(w),
                             ATTN__TEXT(v));
    }
    m->kv_heads = m->kv_heads == 0 ? w.dim[1] : m->kv_heads;
    if (m->kv_heads < 1 || w.dim[1] % m->kv_heads != 0 || v.dim[2] % m->kv_heads != 0) {
        return attn__op_fail(n, ATTN_ESHAPE, "weights %s and values %s: %lld value heads do not divide the heads and the width",
                             ATTN__TEXT(w), ATTN__TEXT(v), (long long)m->kv_heads);
    }
    m->d = attn__pairs_of(w);
    m->width = v.dim[2] / m->kv_heads;
    if (m->d.heads > 0 && m->width > INT64_MAX / m->d.heads) { /* possible where there are no keys */
        return attn__op_fail(n, ATTN_ESHAPE, "weights %s and values %s: the result is too large", ATTN__TEXT(w), ATTN__TEXT(v));
    }
    n->out->shape = ATTN_SHAPE(m->d.batch, m->d.queries, m->d.heads * m->width);
    attn_mask mask = m->mask;
    return attn__mask_take(n, &mask, m->d, &m->mask);
}

/* The part of head h in query i's output, and in key j's value, for batch entry b. */
static void *output(const attn__node *n, void *data, int64_t b, int64_t h, int64_t i)
{
    const mix *m = n->attributes;
    return attn__at(n, data, ((b * m->d.queries + i) * m->d.heads + h) * m->width);
}

static void *value(const attn__node *n, void *data, int64_t b, int64_t h, int64_t j)
{
    const mix *m = n->attributes;
    return attn__at(n, data, ((b * m->d.keys + j) * m->kv_heads + h / (m->d.heads / m->kv_heads)) * m->width);
}

static int64_t pair(const mix *m, int64_t b, int64_t h, int64_t i, int64_t j)
{
    return ((b * m->d.heads + h) * m->d.queries + i) * m->d.keys + j;
}

/* One query (of all heads): out = sum w v. */
static void query_forward(attn__node *n, int64_t b, int64_t i)
{
    const mix *m = n->attributes;
    const attn__kernel_table *K = ATTN__K(n);
    attn__row row = attn__mask_row(&m->mask, m->d, b, i);
    for (int64_t h = 0; h < m->d.heads; h++) {
        void *out = output(n, n->out->data, b, h, i);
        K->zero(m->width, out);
        for (int64_t j = row.begin; j < row.end; j++) {
            if (attn__sees(row, j)) {
                K->axpy(m->width, K->get(n->in[0]->data, pair(m, b, h, i, j)), value(n, n->in[1]->data, b, h, j), out);
            }
        }
    }
}

/* dw = g . v */
static void query_backward(attn__node *n, int64_t b, int64_t i)
{
    const mix *m = n->attributes;
    const attn__kernel_table *K = ATTN__K(n);
    attn__row row = attn__mask_row(&m->mask, m->d, b, i);
    for (int64_t h = 0; h < m->d.heads; h++) {
        const void *g = output(n, n->out->grad, b, h, i);
        for (int64_t j = row.begin; j < row.end; j++) {
            if (attn__sees(row, j)) {
                int64_t at = pair(m, b, h, i, j);
                double d = K->dot(m->width, g, value(n, n->in[1]->data, b, h, j));
                K->set(n->in[0]->grad, at, K->get(n->in[0]->grad, at) + d);
            }
        }
    }
}

/* dv[j] += sum over i of w[i,j] g[i] */
static void key_backward(attn__node *n, int64_t b, int64_t j)
{
    const mix *m = n->attributes;
    const attn__kernel_table *K = ATTN__K(n);
    for (int64_t i = 0; i < m->d.queries; i++) {
        if (!attn__sees(attn__mask_row(&m->mask, m->d, b, i), j)) {
            continue;
        }
        for (int64_t h = 0; h < m->d.heads; h++) {
            K->axpy(m->width, K->get(n->in[0]->data, pair(m, b, h, i, j)), output(n, n->out->grad, b, h, i),
                    value(n, n->in[1]->grad, b, h, j));
        }
    }
}

/* Calls fn(n, b, i) for the rows of one tile; rows are numbered over (batch, query or key). */
typedef struct loop {
    attn__node *n;
    int64_t extent;
    void (*fn)(attn__node *n, int64_t b, int64_t i);
} loop;

static void tile_of_rows(void *ctx, int64_t tile)
{
    const loop *l = ctx;
    const mix *m = l->n->attributes;
    attn__span span = attn__range(m->d.batch * l->extent, BLOCK, tile);
    for (int64_t r = span.begin; r < span.end; r++) {
        l->fn(l->n, r / l->extent, r % l->extent);
    }
}

static void over_rows(attn__node *n, int64_t extent, int64_t other, void (*fn)(attn__node *n, int64_t b, int64_t i))
{
    const mix *m = n->attributes;
    double cost = BLOCK * (double)m->d.heads * (double)m->width * (double)other;
    attn__parallel(attn__tape_threads(n->tape), attn__tiles(m->d.batch * extent, BLOCK), cost, tile_of_rows, &(loop){n, extent, fn});
}

static void forward(attn__node *n)
{
    const mix *m = n->attributes;
    over_rows(n, m->d.queries, m->d.keys, query_forward);
}

static void backward(attn__node *n)
{
    const mix *m = n->attributes;
    if (n->in[0]->needs_grad) {
        over_rows(n, m->d.queries, m->d.keys, query_backward);
    }
    if (n->in[1]->needs_grad) {
        over_rows(n, m->d.keys, m->d.queries, key_backward);
    }
}

attn_tensor *attn_attention_mix(attn_tape *t, attn_tensor *weights, attn_tensor *values, int kv_heads, const attn_mask *mask)
{
    mix m = {.kv_heads = kv_heads};
    if (mask != NULL) {
        m.mask = *mask;
    }
    return attn__record(t, &attn__op_attention_mix, (attn_tensor *const[]){weights, values}, 2, &m, sizeof m);
}

static attn_tensor *build(attn_tape *t, attn_tensor *const in[])
{
    return attn_attention_mix(t, in[0], in[1], 0, NULL);
}

static attn_tensor *build_masked(attn_tape *t, attn_tensor *const in[])
{
    return attn_attention_mix(t, in[0], in[1], 0, &(attn_mask){.key_lengths = (const int32_t[]){4, 2}, .causal = ATTN_CAUSAL_BOTTOM_RIGHT});
}

static attn_tensor *build_grouped(attn_tape *t, attn_tensor *const in[])
{
    return attn_attention_mix(t, in[0], in[1], 2, &(attn_mask){.window = true, .left = 1, .right = 1});
}

static const attn__case cases[] = {
    {"2 heads", 2, {{4, {2, 2, 3, 4}}, {3, {2, 4, 6}}}, -1, 1, build},
    {"masked", 2, {{4, {2, 1, 3, 4}}, {3, {2, 4, 3}}}, -1, 1, build_masked},
    {"grouped, window", 2, {{4, {2, 4, 3, 4}}, {3, {2, 4, 6}}}, -1, 1, build_grouped},
    {"more rows than a block", 2, {{4, {1, 1, 18, 17}}, {3, {1, 17, 2}}}, -1, 1, build},
};

const attn__op attn__op_attention_mix = {
    .name = "attention_mix", .arity = 2, .infer = infer, .forward = forward, .backward = backward, ATTN__CASES(cases)};

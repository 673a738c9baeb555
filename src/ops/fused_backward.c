/* Backward, in three phases: keys and queries are packed; chunks of keys meet all tiles of queries; what several chunks have for
 * one gradient is added up in order. A chunk owns the gradients of its keys and values, and has a part of its own of every other gradient.
 *
 *     forward   p = softmax(s), y = p v
 *     backward  dv = p^T g, dp = g v^T, ds = p (dp - y . g), dq = factor ds k, dk = factor ds^T q
 *
 * p is computed again from m and l. With dropout p v becomes drop(p) v, so dv = drop(p)^T g, dp = drop(g v^T); y . g stays.
 * Source: Dao, Fu, Ermon, Rudra, Re 2022, arXiv:2205.14135, B.2. */
#include <math.h>
#include <string.h>

#include "ops/fused_backward.h"

/* Rows of a gradient, and how far they lie apart. */
typedef struct rows {
    void *data;
    int64_t stride;
} rows;

static rows key_gradient(const attn__node *n, const attn__tile *t)
{
    const attn__fused *f = n->attributes;
    void *first = attn__head(n, n->in[1]->grad, f->d.keys, f->kv_heads, f->width, t->b, t->g, t->k.begin);
    return (rows){first, f->kv_heads * f->width};
}

/* ---- one tile of queries against one of keys ---- */

static void dot_backward(const attn__node *n, const attn__task *task, attn__tile *t, const void *ds)
{
    const attn__fused *f = n->attributes;
    const attn__fused_layout *at = &f->backward;
    const attn__kernel_table *K = ATTN__K(n);
    if (n->in[0]->needs_grad) {
        void *dq = t->worker + at->d_query;
        attn__panels keys = {attn__in(n, n->scratch, at->key_rows, task->tile * K->panel_size(f->tile_keys, f->width)), t->packed,
                             f->width};
        K->panel_multiply(t->rows, f->width, t->keys, f->factor, ds, f->tile_keys, 1, keys, true, dq, f->width);
        attn__add_flagged(n, t, true, ATTN__BAD_KEY, f->factor, ds,
                          attn__head(n, n->in[1]->data, f->d.keys, f->kv_heads, f->width, t->b, t->g, t->k.begin), f->kv_heads * f->width,
                          f->width, dq, f->width);
    }
    if (n->in[1]->needs_grad) {
        rows dk = key_gradient(n, t);
        attn__panels queries = {attn__in(n, n->scratch, at->queries, task->query_tile * K->panel_size(f->tile_queries, f->width)), t->rows,
                                f->width};
        K->panel_multiply(t->keys, f->width, t->rows, f->factor, ds, 1, f->tile_keys, queries, true, dk.data, dk.stride);
        attn__add_flagged(n, t, false, ATTN__BAD_QUERY, f->factor, ds, t->query, f->width, f->width, dk.data, dk.stride);
    }
}

/* Pairs that the identity cannot take; their ds becomes 0, so that it passes them over. */
static void plain_pairs(const attn__node *n, attn__tile *t, void *ds, rows dk, void *dw)
{
    const attn__fused *f = n->attributes;
    const attn__kernel_table *K = ATTN__K(n);
    if (!attn__any_flag(t->q_flags, t->rows, ATTN__PLAIN) && !attn__any_flag(t->k_flags, t->keys, ATTN__PLAIN)) {
        return;
    }
    for (int64_t i = 0; i < t->rows; i++) {
        const void *q = attn__head(n, n->in[0]->data, f->d.queries, f->d.heads, f->width, t->b, t->h, t->q.begin + i);
        void *dq = n->in[0]->needs_grad ? attn__in(n, t->worker, f->backward.d_query, i * f->width) : NULL;
        for (int64_t j = 0; j < t->keys; j++) {
            double g = K->get(ds, i * f->tile_keys + j);
            if (((t->q_flags[i] | t->k_flags[j]) & ATTN__PLAIN) != 0 && g != 0) {
                const void *k = attn__head(n, n->in[1]->data, f->d.keys, f->kv_heads, f->width, t->b, t->g, t->k.begin + j);
                K->additive_b(f->width, q, k, attn__at(n, f->w->data, t->h * f->width), g, dq,
                              dk.data != NULL ? attn__in(n, dk.data, 0, j * dk.stride) : NULL, dw);
                K->set(ds, i * f->tile_keys + j, 0);
            }
        }
    }
}

/* to += 4 w u for rows of units u */
static void add_units(const attn__node *n, const attn__tile *t, int64_t count, const void *u, rows to)
{
    const attn__fused *f = n->attributes;
    for (int64_t i = 0; i < count; i++) {
        ATTN__K(n)->fma(f->width, 4, attn__at(n, f->w->data, t->h * f->width), attn__in(n, u, 0, i * f->units),
                        attn__in(n, to.data, 0, i * to.stride));
    }
}

static void additive_backward(const attn__node *n, const attn__task *task, attn__tile *t, void *ds)
{
    const attn__fused *f = n->attributes;
    const attn__fused_layout *at = &f->backward;
    const attn__kernel_table *K = ATTN__K(n);
    rows dk = n->in[1]->needs_grad ? key_gradient(n, t) : (rows){NULL, 0};
    void *units_q = t->worker + at->d_units_q, *units_k = t->worker + at->d_units_k, *units_w = t->worker + at->d_w;
    void *dw = attn__w_part(n, task, t->h);
    plain_pairs(n, t, ds, dk, dw);
    K->zero(t->rows * f->units, units_q);
    K->zero(t->keys * f->units, units_k);
    K->zero(f->units, units_w);
    K->tile_additive_b(t->rows, t->keys, f->units, t->query, attn__in(n, n->scratch, at->key_rows, task->tile * f->tile_keys * f->units),
                       ds, f->tile_keys, units_q, units_k, units_w);
    if (n->in[0]->needs_grad) {
        add_units(n, t, t->rows, units_q, (rows){t->worker + at->d_query, f->width});
    }
    if (dk.data != NULL) {
        add_units(n, t, t->keys, units_k, dk);
    }
    double all = 0; /* dw = sum ds (1 - 2 r) */
    for (int64_t i = 0; i < t->rows; i++) {
        all += K->sum(t->keys, attn__in(n, ds, 0, i * f->tile_keys));
    }
    K->shift(f->width, all, dw);
    K->axpy(f->width, -2, units_w, dw);
}

/* dv += p^T g, with p as it mixed the values */
static void value_backward(const attn__node *n, const attn__task *task, attn__tile *t, const void *g)
{
    const attn__fused *f = n->attributes;
    const attn__fused_layout *at = &f->backward;
    const attn__kernel_table *K = ATTN__K(n);
    int64_t stride = f->kv_heads * f->value_width;
    void *dv = attn__head(n, n->in[2]->grad, f->d.keys, f->kv_heads, f->value_width, t->b, t->g, t->k.begin);
    if (f->dropout > 0) {
        attn__tile_drop(n, t, t->scores);
    }
    attn__panels gradients = {attn__in(n, n->scratch, at->gradients, task->query_tile * K->panel_size(f->tile_queries, f->value_width)),
                              t->rows, f->value_width};
    K->panel_multiply(t->keys, f->value_width, t->rows, 1, t->scores, 1, f->tile_keys, gradients, true, dv, stride);
    attn__add_flagged(n, t, false, ATTN__BAD_GRADIENT, 1, t->scores, g, f->value_width, f->value_width, dv, stride);
}

/* Where the sum is no number, no weight is one: also where the score is -inf, which the kernel takes for hidden. */
static void spread_nan(const attn__node *n, const attn__tile *t, const void *inverse, void *ds)
{
    const attn__fused *f = n->attributes;
    const attn__kernel_table *K = ATTN__K(n);
    for (int64_t i = 0; i < t->rows; i++) {
        for (int64_t j = 0; j < t->keys && isnan(K->get(inverse, i)); j++) {
            if (attn__tile_sees(n, t, i, j)) {
                K->set(t->scores, i * f->tile_keys + j, NAN);
                K->set(ds, i * f->tile_keys + j, NAN);
            }
        }
    }
}

/* Weights and the gradients of the scores. */
static void *score_gradients(const attn__node *n, const attn__task *task, attn__tile *t, const void *g)
{
    const attn__fused *f = n->attributes;
    const attn__fused_layout *at = &f->backward;
    const attn__kernel_table *K = ATTN__K(n);
    int64_t row = (t->b * f->d.heads + t->h) * f->d.queries + t->q.begin;
    int64_t slot_row = attn__slot_head(f, t->slot, t->h) * f->d.queries + t->q.begin;
    void *ds = t->worker + at->d_scores, *m = attn__at(n, n->saved, row), *l = attn__in(n, m, 0, f->d.batch * f->d.heads * f->d.queries);
    attn__tile_scores(n, t, attn__in(n, n->scratch, at->keys, task->tile * K->panel_size(f->width, f->tile_keys)));
    attn__panels values = {attn__in(n, n->scratch, at->values, task->tile * K->panel_size(f->value_width, f->tile_keys)), f->value_width,
                           t->packed};
    K->panel_multiply(t->rows, t->columns, f->value_width, 1, g, f->value_width, 1, values, false, ds, f->tile_keys);
    if (f->dropout > 0) {
        attn__tile_drop(n, t, ds);
    }
    K->tile_softmax_b(t->rows, t->columns, t->scores, ds, f->tile_keys, m, l, attn__in(n, n->scratch, at->delta, slot_row));
    spread_nan(n, t, l, ds);
    return ds;
}

static void meet(const attn__node *n, const attn__task *task, attn__tile *t)
{
    const attn__fused *f = n->attributes;
    const void *g = t->worker + f->backward.gradient;
    void *ds = score_gradients(n, task, t, g);
    if (n->in[2]->needs_grad) {
        value_backward(n, task, t, g);
    }
    attn__bias_backward(n, task, t, ds);
    for (int64_t i = 0; f->soft_cap != 0 && i < t->rows; i++) {
        ATTN__K(n)->tile_soft_cap_b(t->columns, f->soft_cap, attn__in(n, t->capped, 0, i * f->tile_keys),
                                    attn__in(n, ds, 0, i * f->tile_keys));
    }
    if (f->additive) {
        additive_backward(n, task, t, ds);
    } else {
        dot_backward(n, task, t, ds);
    }
}

/* ---- one tile of queries against the keys of a chunk ---- */

static void load_rows(const attn__node *n, int64_t count, int64_t width, const void *from, int64_t stride, void *to)
{
    for (int64_t i = 0; i < count; i++) {
        memcpy(attn__in(n, to, 0, i * width), attn__in(n, from, 0, i * stride), (size_t)width * attn_dtype_size(n->out->dtype));
    }
}

static void load_queries(const attn__node *n, const attn__task *task, attn__tile *t)
{
    const attn__fused *f = n->attributes;
    const attn__fused_layout *at = &f->backward;
    load_rows(n, t->rows, f->value_width, attn__head(n, n->out->grad, f->d.queries, f->d.heads, f->value_width, t->b, t->h, t->q.begin),
              f->d.heads * f->value_width, t->worker + at->gradient);
    if (f->additive) {
        t->query = attn__in(n, n->scratch, at->queries, task->query_tile * f->tile_queries * f->units);
    } else {
        load_rows(n, t->rows, f->width, attn__head(n, n->in[0]->data, f->d.queries, f->d.heads, f->width, t->b, t->h, t->q.begin),
                  f->d.heads * f->width, t->worker + at->query);
        t->query = t->worker + at->query;
    }
    t->q_flags = (const uint8_t *)n->scratch + at->query_flags + attn__slot_head(f, t->slot, t->h) * f->d.queries + t->q.begin;
    ATTN__K(n)->zero(t->rows * f->width, t->worker + at->d_query);
}

/* The gradient of the tile's queries goes to its part, or to the tensor if there is one chunk only. */
static void put_queries(const attn__node *n, const attn__task *task, const attn__tile *t)
{
    const attn__fused *f = n->attributes;
    const void *dq = t->worker + f->backward.d_query;
    if (f->chunks > 1) {
        load_rows(n, t->rows, f->width, dq, f->width, attn__query_part(n, task->chunk, t->b, t->h, t->q.begin));
        return;
    }
    for (int64_t i = 0; i < t->rows; i++) {
        ATTN__K(n)->axpy(f->width, 1, attn__in(n, dq, 0, i * f->width),
                         attn__head(n, n->in[0]->grad, f->d.queries, f->d.heads, f->width, t->b, t->h, t->q.begin + i));
    }
}

static void tile_of_queries(const attn__node *n, attn__task *task, int64_t h, int64_t tile, char *memory)
{
    const attn__fused *f = n->attributes;
    const attn__fused_layout *at = &f->backward;
    attn__tile t = {.slot = task->slot, .worker = memory, .row = (attn__row *)(void *)(memory + at->rows), .scores = memory + at->scores};
    attn__span chunk = attn__range(f->key_tiles, f->chunk_tiles, task->chunk), seen = attn__tile_look(n, &t, task->b, h, tile);
    t.capped = f->soft_cap != 0 ? memory + at->capped : NULL;
    task->query_tile = attn__slot_head(f, task->slot, h) * f->query_tiles + tile;
    load_queries(n, task, &t);
    for (int64_t k = chunk.begin; k < chunk.end; k++) {
        attn__tile_turn(n, &t, at, k, seen);
        if (t.keys > 0 && seen.begin < t.k.end) {
            task->tile = task->slot * f->key_tiles + k;
            meet(n, task, &t);
        }
    }
    if (n->in[0]->needs_grad) {
        put_queries(n, task, &t);
    }
}

static void chunk_of_keys(void *ctx, int64_t number, int worker)
{
    const attn__node *n = ctx;
    const attn__fused *f = n->attributes;
    attn__task task = {.number = number, .chunk = number % f->chunks, .g = number / f->chunks % f->kv_heads};
    task.b = number / f->chunks / f->kv_heads;
    task.slot = f->by_head ? worker : number / f->chunks;
    attn__parts_begin(n, &task);
    if (f->by_head) {
        attn__pack_head(n, task.b, task.g, task.slot);
    }
    for (int64_t h = task.g * f->group; h < (task.g + 1) * f->group; h++) {
        for (int64_t tile = 0; tile < f->query_tiles; tile++) {
            tile_of_queries(n, &task, h, tile, (char *)n->scratch + f->backward.workers + (size_t)worker * f->backward.worker_size);
        }
    }
}

void attn__fused_backward(attn__node *n)
{
    const attn__fused *f = n->attributes;
    double pairs = (double)f->group * (double)f->d.queries * (double)f->chunk_tiles * (double)f->tile_keys;
    double cost = pairs * (f->additive ? (double)f->width : (double)(3 * f->width + 2 * f->value_width) / 16 + 2);
    if (f->by_head) {
        cost += 2 * (double)f->key_tiles * (double)f->tile_keys * (double)(f->width + f->value_width); /* packed, and added to gradients */
    } else {
        attn__pack_all(n);
    }
    attn__parallel_workers(f->threads, f->d.batch * f->kv_heads * f->chunks, cost, chunk_of_keys, n);
    attn__parts_end(n);
}

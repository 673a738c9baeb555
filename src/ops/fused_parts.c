/* Before and after the tiles of the backward pass: what they read is packed, and the parts of the gradients that several tasks add to are
 * added up, in order of the tasks. */
#include <string.h>

#include "ops/fused_backward.h"

/* ---- packing ---- */

/* One tile of keys and values. */
static void pack_keys(const attn__node *n, int64_t b, int64_t g, int64_t slot, int64_t key_tile)
{
    const attn__fused *f = n->attributes;
    const attn__fused_layout *at = &f->backward;
    const attn__kernel_table *K = ATTN__K(n);
    attn__span k = attn__range(f->d.keys, f->tile_keys, key_tile);
    int64_t tile = slot * f->key_tiles + key_tile;
    int64_t keys = k.end - k.begin, stride = f->kv_heads * f->width;
    const void *key = attn__head(n, n->in[1]->data, f->d.keys, f->kv_heads, f->width, b, g, k.begin);
    void *panels = attn__in(n, n->scratch, at->keys, tile * K->panel_size(f->width, f->tile_keys));
    uint8_t *flags = (uint8_t *)n->scratch + at->key_flags + slot * f->d.keys + k.begin;
    memset(flags, 0, (size_t)keys);
    if (f->additive) {
        void *rows = attn__in(n, n->scratch, at->key_rows, tile * f->tile_keys * f->units);
        attn__exp_rows(n, keys, key, stride, rows, flags);
        K->panel_pack(f->width, keys, rows, 1, f->units, panels);
    } else {
        K->panel_pack(f->width, keys, key, 1, stride, panels);
        K->panel_pack_finite(keys, f->width, key, stride, flags, ATTN__BAD_KEY,
                             attn__in(n, n->scratch, at->key_rows, tile * K->panel_size(f->tile_keys, f->width)));
    }
    K->panel_pack(f->value_width, keys, attn__head(n, n->in[2]->data, f->d.keys, f->kv_heads, f->value_width, b, g, k.begin), 1,
                  f->kv_heads * f->value_width, attn__in(n, n->scratch, at->values, tile * K->panel_size(f->value_width, f->tile_keys)));
}

/* One tile of queries and output gradients. */
static void pack_queries(const attn__node *n, int64_t b, int64_t h, int64_t slot, int64_t query_tile)
{
    const attn__fused *f = n->attributes;
    const attn__fused_layout *at = &f->backward;
    const attn__kernel_table *K = ATTN__K(n);
    int64_t head = attn__slot_head(f, slot, h), tile = head * f->query_tiles + query_tile;
    attn__span q = attn__range(f->d.queries, f->tile_queries, query_tile);
    int64_t rows = q.end - q.begin, stride = f->d.heads * f->value_width;
    const void *query = attn__head(n, n->in[0]->data, f->d.queries, f->d.heads, f->width, b, h, q.begin);
    const void *g = attn__head(n, n->out->grad, f->d.queries, f->d.heads, f->value_width, b, h, q.begin);
    const void *y = attn__head(n, n->out->data, f->d.queries, f->d.heads, f->value_width, b, h, q.begin);
    uint8_t *flags = (uint8_t *)n->scratch + at->query_flags + head * f->d.queries + q.begin;
    memset(flags, 0, (size_t)rows);
    if (f->additive) {
        attn__exp_rows(n, rows, query, f->d.heads * f->width, attn__in(n, n->scratch, at->queries, tile * f->tile_queries * f->units),
                       flags);
    } else {
        K->panel_pack_finite(rows, f->width, query, f->d.heads * f->width, flags, ATTN__BAD_QUERY,
                             attn__in(n, n->scratch, at->queries, tile * K->panel_size(f->tile_queries, f->width)));
    }
    K->panel_pack_finite(rows, f->value_width, g, stride, flags, ATTN__BAD_GRADIENT,
                         attn__in(n, n->scratch, at->gradients, tile * K->panel_size(f->tile_queries, f->value_width)));
    K->tile_dots(rows, f->value_width, y, stride, g, stride, attn__in(n, n->scratch, at->delta, head * f->d.queries + q.begin));
}

void attn__pack_head(const attn__node *n, int64_t b, int64_t g, int64_t slot)
{
    const attn__fused *f = n->attributes;
    for (int64_t tile = 0; tile < f->key_tiles; tile++) {
        pack_keys(n, b, g, slot, tile);
    }
    for (int64_t h = g * f->group; h < (g + 1) * f->group; h++) {
        for (int64_t tile = 0; tile < f->query_tiles; tile++) {
            pack_queries(n, b, h, slot, tile);
        }
    }
}

static void pack_one_keys(void *ctx, int64_t number)
{
    const attn__node *n = ctx;
    const attn__fused *f = n->attributes;
    int64_t head = number / f->key_tiles;
    pack_keys(n, head / f->kv_heads, head % f->kv_heads, head, number % f->key_tiles);
}

static void pack_one_queries(void *ctx, int64_t number)
{
    const attn__node *n = ctx;
    const attn__fused *f = n->attributes;
    int64_t head = number / f->query_tiles;
    pack_queries(n, head / f->d.heads, head % f->d.heads, head / f->group, number % f->query_tiles);
}

void attn__pack_all(attn__node *n)
{
    const attn__fused *f = n->attributes;
    double widths = (double)(f->width + f->value_width);
    attn__parallel(f->threads, f->d.batch * f->kv_heads * f->key_tiles, (double)f->tile_keys * widths, pack_one_keys, n);
    attn__parallel(f->threads, f->d.batch * f->d.heads * f->query_tiles, (double)f->tile_queries * widths, pack_one_queries, n);
}

/* ---- parts ---- */

static bool wanted(const attn_tensor *x)
{
    return x != NULL && x->needs_grad;
}

int64_t attn__bias_part(const attn__fused *f, int64_t steps[3])
{
    int64_t size = 1;
    steps[2] = f->step[3] != 0 ? size : 0;
    size *= f->step[3] != 0 ? f->chunk_tiles * f->tile_keys : 1;
    steps[1] = f->step[2] != 0 ? size : 0;
    size *= f->step[2] != 0 ? f->d.queries : 1;
    steps[0] = f->step[1] != 0 ? size : 0;
    size *= f->step[1] != 0 ? f->group : 1;
    return size;
}

void *attn__query_part(const attn__node *n, int64_t chunk, int64_t b, int64_t h, int64_t i)
{
    const attn__fused *f = n->attributes;
    return attn__in(n, n->scratch, f->backward.parts, (((chunk * f->d.batch + b) * f->d.heads + h) * f->d.queries + i) * f->width);
}

void *attn__w_part(const attn__node *n, const attn__task *task, int64_t h)
{
    const attn__fused *f = n->attributes;
    return attn__in(n, n->scratch, f->backward.w_parts, (task->number * f->group + h % f->group) * f->width);
}

static void *table_part(const attn__node *n, const attn__task *task, int64_t h)
{
    const attn__fused *f = n->attributes;
    return attn__in(n, n->scratch, f->backward.table_parts, (task->number * f->group + h % f->group) * (2 * f->clip + 1));
}

void attn__parts_begin(const attn__node *n, const attn__task *task)
{
    const attn__fused *f = n->attributes;
    const attn__kernel_table *K = ATTN__K(n);
    int64_t first = task->g * f->group, steps[3];
    if (f->additive) {
        K->zero(f->group * f->width, attn__w_part(n, task, first));
    }
    if (wanted(f->position)) {
        K->zero(f->group * (2 * f->clip + 1), table_part(n, task, first));
    }
    if (wanted(f->bias)) {
        int64_t size = attn__bias_part(f, steps);
        K->zero(size, attn__in(n, n->scratch, f->backward.bias_parts, task->number * size));
    }
}

void attn__bias_backward(const attn__node *n, const attn__task *task, const attn__tile *t, const void *ds)
{
    const attn__fused *f = n->attributes;
    const attn__kernel_table *K = ATTN__K(n);
    int64_t steps[3], size = attn__bias_part(f, steps), in_group = t->h % f->group;
    for (int64_t i = 0; i < t->rows; i++) {
        const void *g = attn__in(n, ds, 0, i * f->tile_keys);
        if (wanted(f->position)) {
            int64_t place = t->q.begin + i + (f->first != NULL ? f->first[t->b] : 0);
            K->clipped_b(t->keys, t->k.begin - place, f->clip, g, table_part(n, task, t->h));
        }
        if (wanted(f->bias)) {
            int64_t j = t->k.begin - task->chunk * f->chunk_tiles * f->tile_keys;
            void *part = attn__in(n, n->scratch, f->backward.bias_parts,
                                  task->number * size + in_group * steps[0] + (t->q.begin + i) * steps[1] + j * steps[2]);
            if (steps[2] != 0) {
                K->axpy(t->keys, 1, g, part);
            } else {
                K->shift(1, K->sum(t->keys, g), part);
            }
        }
    }
}

/* The parts of all chunks of the gradient of one tile of queries. */
static void add_query_parts(void *ctx, int64_t tile)
{
    const attn__node *n = ctx;
    const attn__fused *f = n->attributes;
    int64_t head = tile / f->query_tiles, b = head / f->d.heads, h = head % f->d.heads;
    attn__span q = attn__range(f->d.queries, f->tile_queries, tile % f->query_tiles);
    for (int64_t i = q.begin; i < q.end; i++) {
        for (int64_t chunk = 0; chunk < f->chunks; chunk++) {
            ATTN__K(n)->axpy(f->width, 1, attn__query_part(n, chunk, b, h, i),
                             attn__head(n, n->in[0]->grad, f->d.queries, f->d.heads, f->width, b, h, i));
        }
    }
}

/* The task's part of the bias's gradient. */
static void add_bias_part(const attn__node *n, const attn__task *task)
{
    const attn__fused *f = n->attributes;
    const attn__kernel_table *K = ATTN__K(n);
    int64_t steps[3], size = attn__bias_part(f, steps), k = task->chunk * f->chunk_tiles * f->tile_keys;
    int64_t keys = f->d.keys - k < f->chunk_tiles * f->tile_keys ? f->d.keys - k : f->chunk_tiles * f->tile_keys;
    for (int64_t h = 0; h < (steps[0] != 0 ? f->group : 1); h++) {
        for (int64_t i = 0; i < (steps[1] != 0 ? f->d.queries : 1); i++) {
            int64_t entry = task->b * f->step[0] + (task->g * f->group + h) * f->step[1] + i * f->step[2] + k * f->step[3];
            K->axpy(steps[2] != 0 ? keys : 1, 1,
                    attn__in(n, n->scratch, f->backward.bias_parts, task->number * size + h * steps[0] + i * steps[1]),
                    attn__at(n, f->bias->grad, entry));
        }
    }
}

void attn__parts_end(attn__node *n)
{
    const attn__fused *f = n->attributes;
    const attn__kernel_table *K = ATTN__K(n);
    if (n->in[0]->needs_grad && f->chunks > 1) {
        attn__parallel(f->threads, f->d.batch * f->d.heads * f->query_tiles, (double)f->chunks * (double)(f->tile_queries * f->width) / 4,
                       add_query_parts, n);
    }
    for (int64_t number = 0; number < f->d.batch * f->kv_heads * f->chunks; number++) {
        attn__task task = {.number = number, .chunk = number % f->chunks, .g = number / f->chunks % f->kv_heads};
        task.b = number / f->chunks / f->kv_heads;
        int64_t first = task.g * f->group;
        if (wanted(f->w)) {
            K->axpy(f->group * f->width, 1, attn__w_part(n, &task, first), attn__at(n, f->w->grad, first * f->width));
        }
        if (wanted(f->position)) {
            int64_t entries = 2 * f->clip + 1;
            K->axpy(f->group * entries, 1, table_part(n, &task, first), attn__at(n, f->position->grad, first * entries));
        }
        if (wanted(f->bias)) {
            add_bias_part(n, &task);
        }
    }
}

/* Forward: for a tile of queries, tile after tile of keys. What a softmax needs of the keys still to come is put right as they come
 * (tile_softmax). Each tile of queries owns its outputs. */
#include <string.h>

#include "ops/fused.h"

static const attn__fused_layout *layout(const attn__node *n)
{
    return &((const attn__fused *)n->attributes)->forward;
}

/* One tile of keys and values. */
static void pack(const attn__node *n, int64_t b, int64_t g, int64_t slot, int64_t key_tile, int worker)
{
    const attn__fused *f = n->attributes;
    const attn__fused_layout *at = layout(n);
    const attn__kernel_table *K = ATTN__K(n);
    attn__span k = attn__range(f->d.keys, f->tile_keys, key_tile);
    int64_t tile = slot * f->key_tiles + key_tile;
    int64_t keys = k.end - k.begin;
    uint8_t *flags = (uint8_t *)n->scratch + at->key_flags + slot * f->d.keys + k.begin;
    void *panels = attn__in(n, n->scratch, at->keys, tile * K->panel_size(f->width, f->tile_keys));
    const void *key = attn__head(n, n->in[1]->data, f->d.keys, f->kv_heads, f->width, b, g, k.begin);
    memset(flags, 0, (size_t)keys);
    if (f->additive) {
        void *units = attn__in(n, n->scratch, at->workers + (size_t)worker * at->worker_size + at->units, 0);
        attn__exp_rows(n, keys, key, f->kv_heads * f->width, units, flags);
        K->panel_pack(f->width, keys, units, 1, f->units, panels);
    } else {
        K->panel_pack(f->width, keys, key, 1, f->kv_heads * f->width, panels);
    }
    K->panel_pack_finite(keys, f->value_width, attn__head(n, n->in[2]->data, f->d.keys, f->kv_heads, f->value_width, b, g, k.begin),
                         f->kv_heads * f->value_width, flags, ATTN__BAD_VALUE,
                         attn__in(n, n->scratch, at->values, tile * K->panel_size(f->tile_keys, f->value_width)));
}

/* The tile's queries, without gaps between them. */
static void load_queries(const attn__node *n, attn__tile *t, void *to, uint8_t *flags)
{
    const attn__fused *f = n->attributes;
    const void *from = attn__head(n, n->in[0]->data, f->d.queries, f->d.heads, f->width, t->b, t->h, t->q.begin);
    memset(flags, 0, (size_t)t->rows);
    if (f->additive) {
        attn__exp_rows(n, t->rows, from, f->d.heads * f->width, to, flags);
    } else {
        for (int64_t i = 0; i < t->rows; i++) {
            memcpy(attn__in(n, to, 0, i * f->width), attn__in(n, from, 0, i * f->d.heads * f->width),
                   (size_t)f->width * attn_dtype_size(n->out->dtype));
        }
    }
    t->query = to;
    t->q_flags = flags;
}

/* acc += weights v over one tile of keys */
static void add_keys(const attn__node *n, attn__tile *t, attn__span seen, int64_t key_tile, void *m, void *l, void *acc)
{
    const attn__fused *f = n->attributes;
    const attn__fused_layout *at = layout(n);
    const attn__kernel_table *K = ATTN__K(n);
    attn__tile_turn(n, t, at, key_tile, seen);
    int64_t tile = t->slot * f->key_tiles + key_tile;
    attn__tile_scores(n, t, attn__in(n, n->scratch, at->keys, tile * K->panel_size(f->width, f->tile_keys)));
    K->tile_softmax(t->rows, t->columns, t->scores, f->tile_keys, m, l, f->value_width, acc);
    if (f->dropout > 0) {
        attn__tile_drop(n, t, t->scores);
    }
    attn__panels values = {attn__in(n, n->scratch, at->values, tile * K->panel_size(f->tile_keys, f->value_width)), t->packed,
                           f->value_width};
    K->panel_multiply(t->rows, f->value_width, t->keys, 1, t->scores, f->tile_keys, 1, values, true, acc, f->value_width);
    attn__add_flagged(n, t, true, ATTN__BAD_VALUE, 1, t->scores,
                      attn__head(n, n->in[2]->data, f->d.keys, f->kv_heads, f->value_width, t->b, t->g, t->k.begin),
                      f->kv_heads * f->value_width, f->value_width, acc, f->value_width);
}

static void tile_of_queries(attn__node *n, int64_t b, int64_t h, int64_t slot, int64_t query_tile, int worker)
{
    const attn__fused *f = n->attributes;
    const attn__fused_layout *at = layout(n);
    const attn__kernel_table *K = ATTN__K(n);
    char *memory = (char *)n->scratch + at->workers + (size_t)worker * at->worker_size;
    attn__tile t = {.slot = slot, .row = (attn__row *)(void *)(memory + at->rows), .scores = memory + at->scores};
    attn__span seen = attn__tile_look(n, &t, b, h, query_tile);
    /* these stay for the backward pass */
    void *m = attn__at(n, n->saved, (b * f->d.heads + h) * f->d.queries + t.q.begin),
         *inverse = attn__in(n, m, 0, f->d.batch * f->d.heads * f->d.queries);
    void *acc = memory + at->acc, *l = memory + at->l;
    load_queries(n, &t, memory + at->query,
                 (uint8_t *)n->scratch + at->query_flags + attn__slot_head(f, slot, h) * f->d.queries + t.q.begin);
    K->zero(t.rows * f->value_width, acc);
    K->zero(t.rows * K->panel_columns(), l);
    K->hide(t.rows, 0, 0, NULL, m);
    for (int64_t k = seen.begin / f->tile_keys; k * f->tile_keys < seen.end; k++) {
        add_keys(n, &t, seen, k, m, l, acc);
    }
    K->tile_finish(t.rows, f->value_width, acc, l, inverse,
                   attn__head(n, n->out->data, f->d.queries, f->d.heads, f->value_width, b, h, t.q.begin), f->d.heads * f->value_width);
}

/* ---- tasks ---- */

static void pack_one(void *ctx, int64_t number, int worker)
{
    const attn__node *n = ctx;
    const attn__fused *f = n->attributes;
    int64_t head = number / f->key_tiles;
    pack(n, head / f->kv_heads, head % f->kv_heads, head, number % f->key_tiles, worker);
}

static void compute_one(void *ctx, int64_t number, int worker)
{
    attn__node *n = ctx;
    const attn__fused *f = n->attributes;
    int64_t head = number / f->query_tiles;
    tile_of_queries(n, head / f->d.heads, head % f->d.heads, head / f->group, number % f->query_tiles, worker);
}

static void whole_head(void *ctx, int64_t head, int worker)
{
    attn__node *n = ctx;
    const attn__fused *f = n->attributes;
    int64_t b = head / f->kv_heads, g = head % f->kv_heads;
    for (int64_t tile = 0; tile < f->key_tiles; tile++) {
        pack(n, b, g, worker, tile, worker);
    }
    for (int64_t h = g * f->group; h < (g + 1) * f->group; h++) {
        for (int64_t tile = 0; tile < f->query_tiles; tile++) {
            tile_of_queries(n, b, h, worker, tile, worker);
        }
    }
}

void attn__fused_forward(attn__node *n)
{
    const attn__fused *f = n->attributes;
    double pair = f->additive ? (double)f->width / 3 : (double)(f->width + f->value_width) / 16 + 1;
    double cost = (double)f->tile_queries * (double)f->d.keys * pair, packing = (double)f->tile_keys * (double)(f->width + f->value_width);
    int64_t heads = f->d.batch * f->kv_heads;
    if (f->by_head) { /* short sequences: rows of a few elements are packed a fourth as fast */
        attn__parallel_workers(f->threads, heads, (double)(f->group * f->query_tiles) * cost + (double)f->key_tiles * packing, whole_head,
                               n);
    } else {
        attn__parallel_workers(f->threads, heads * f->key_tiles, packing / 4, pack_one, n);
        attn__parallel_workers(f->threads, heads * f->group * f->query_tiles, cost, compute_one, n);
    }
}

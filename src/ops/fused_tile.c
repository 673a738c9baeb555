/* Scores of one tile: products or additive scores, soft cap, biases, and -inf where a pair is hidden. */
#include <math.h>
#include <string.h>

#include "ops/fused.h"

attn__span attn__tile_look(const attn__node *n, attn__tile *t, int64_t b, int64_t h, int64_t query_tile)
{
    const attn__fused *f = n->attributes;
    t->b = b;
    t->h = h;
    t->g = h / f->group;
    t->q = attn__range(f->d.queries, f->tile_queries, query_tile);
    t->rows = t->q.end - t->q.begin;
    attn__span seen = {f->d.keys, 0};
    for (int64_t i = 0; f->masked && i < t->rows; i++) {
        attn__row row = attn__mask_row(&f->mask, f->d, b, t->q.begin + i);
        t->row[i] = row;
        if (row.begin < row.end) {
            seen.begin = row.begin < seen.begin ? row.begin : seen.begin;
            seen.end = row.end > seen.end ? row.end : seen.end;
        }
    }
    return f->masked ? seen : (attn__span){0, f->d.keys};
}

void attn__tile_turn(const attn__node *n, attn__tile *t, const attn__fused_layout *at, int64_t key_tile, attn__span seen)
{
    const attn__fused *f = n->attributes;
    int64_t panel = ATTN__K(n)->panel_columns();
    t->k = attn__range(f->d.keys, f->tile_keys, key_tile);
    t->packed = t->k.end - t->k.begin;
    t->k.end = t->k.end < seen.end ? t->k.end : seen.end;
    t->keys = t->k.end > t->k.begin ? t->k.end - t->k.begin : 0;
    t->columns = (t->keys + panel - 1) / panel * panel;
    t->k_flags = (const uint8_t *)n->scratch + at->key_flags + t->slot * f->d.keys + t->k.begin;
}

bool attn__any_flag(const uint8_t *flags, int64_t count, int flag)
{
    int any = 0;
    for (int64_t i = 0; i < count; i++) {
        any |= flags[i];
    }
    return (any & flag) != 0;
}

bool attn__tile_sees(const attn__node *n, const attn__tile *t, int64_t i, int64_t j)
{
    const attn__fused *f = n->attributes;
    return !f->masked || attn__sees(t->row[i], t->k.begin + j);
}

void attn__add_flagged(const attn__node *n, const attn__tile *t, bool of_keys, int flag, double factor, const void *p, const void *x,
                       int64_t x_stride, int64_t width, void *c, int64_t c_stride)
{
    const attn__fused *f = n->attributes;
    const attn__kernel_table *K = ATTN__K(n);
    const uint8_t *flags = of_keys ? t->k_flags : t->q_flags;
    if (!attn__any_flag(flags, of_keys ? t->keys : t->rows, flag)) {
        return;
    }
    for (int64_t i = 0; i < t->rows; i++) {
        for (int64_t j = 0; j < t->keys; j++) {
            if ((flags[of_keys ? j : i] & flag) != 0 && attn__tile_sees(n, t, i, j)) {
                K->axpy(width, factor * K->get(p, i * f->tile_keys + j), attn__in(n, x, 0, (of_keys ? j : i) * x_stride),
                        attn__in(n, c, 0, (of_keys ? i : j) * c_stride));
            }
        }
    }
}

void attn__exp_rows(const attn__node *n, int64_t rows, const void *from, int64_t stride, void *to, uint8_t *flags)
{
    const attn__fused *f = n->attributes;
    for (int64_t i = 0; i < rows; i++) {
        if (!ATTN__K(n)->additive_exp(f->width, attn__in(n, from, 0, i * stride), attn__in(n, to, 0, i * f->units))) {
            flags[i] |= ATTN__PLAIN;
        }
        ATTN__K(n)->zero(f->units - f->width, attn__in(n, to, 0, i * f->units + f->width));
    }
}

void attn__tile_drop(const attn__node *n, const attn__tile *t, void *x)
{
    const attn__fused *f = n->attributes;
    for (int64_t i = 0; i < t->rows; i++) {
        int64_t first = ((t->b * f->d.heads + t->h) * f->d.queries + t->q.begin + i) * f->d.keys + t->k.begin;
        void *row = attn__in(n, x, 0, i * f->tile_keys);
        ATTN__K(n)->dropout(first, t->keys, f->dropout, f->key.seed, f->key.stream, row, row);
    }
}

/* Pairs that the identity cannot take. */
static void plain_pairs(const attn__node *n, const attn__tile *t)
{
    const attn__fused *f = n->attributes;
    const attn__kernel_table *K = ATTN__K(n);
    if (!attn__any_flag(t->q_flags, t->rows, ATTN__PLAIN) && !attn__any_flag(t->k_flags, t->keys, ATTN__PLAIN)) {
        return;
    }
    for (int64_t i = 0; i < t->rows; i++) {
        const void *q = attn__head(n, n->in[0]->data, f->d.queries, f->d.heads, f->width, t->b, t->h, t->q.begin + i);
        for (int64_t j = 0; j < t->keys; j++) {
            if (((t->q_flags[i] | t->k_flags[j]) & ATTN__PLAIN) != 0 && attn__tile_sees(n, t, i, j)) {
                const void *k = attn__head(n, n->in[1]->data, f->d.keys, f->kv_heads, f->width, t->b, t->g, t->k.begin + j);
                K->set(t->scores, i * f->tile_keys + j, K->additive(f->width, q, k, attn__at(n, f->w->data, t->h * f->width)));
            }
        }
    }
}

static void cap(const attn__node *n, const attn__tile *t)
{
    const attn__fused *f = n->attributes;
    const attn__kernel_table *K = ATTN__K(n);
    for (int64_t i = 0; i < t->rows; i++) {
        void *x = attn__in(n, t->scores, 0, i * f->tile_keys);
        K->scale(t->columns, 1 / f->soft_cap, x, x);
        K->tanh(t->columns, x, x);
        K->scale(t->columns, f->soft_cap, x, x);
        if (t->capped != NULL) {
            memcpy(attn__in(n, t->capped, 0, i * f->tile_keys), x, (size_t)t->columns * attn_dtype_size(n->out->dtype));
        }
    }
}

static void add_bias(const attn__node *n, const attn__tile *t)
{
    const attn__fused *f = n->attributes;
    const attn__kernel_table *K = ATTN__K(n);
    for (int64_t i = 0; i < t->rows; i++) {
        void *x = attn__in(n, t->scores, 0, i * f->tile_keys);
        int64_t place = t->q.begin + i + (f->first != NULL ? f->first[t->b] : 0);
        if (f->position != NULL) {
            K->clipped(t->keys, t->k.begin - place, f->clip, attn__at(n, f->position->data, t->h * (2 * f->clip + 1)), x);
        }
        if (f->bias != NULL) {
            int64_t entry = t->b * f->step[0] + t->h * f->step[1] + (t->q.begin + i) * f->step[2] + t->k.begin * f->step[3];
            if (f->step[3] != 0) {
                K->axpy(t->keys, 1, attn__at(n, f->bias->data, entry), x);
            } else {
                K->shift(t->keys, K->get(f->bias->data, entry), x);
            }
        }
    }
}

static void hide(const attn__node *n, const attn__tile *t)
{
    const attn__fused *f = n->attributes;
    for (int64_t i = 0; i < t->rows; i++) {
        attn__row row = f->masked ? t->row[i] : (attn__row){0, f->d.keys, NULL};
        int64_t begin = row.begin - t->k.begin, end = row.end - t->k.begin;
        begin = begin < 0 ? 0 : begin > t->columns ? t->columns : begin;
        end = end < begin ? begin : end > t->keys ? t->keys : end;
        if (begin > 0 || end < t->columns || row.allow != NULL) {
            ATTN__K(n)->hide(t->columns, begin, end, row.allow != NULL ? row.allow + t->k.begin : NULL,
                             attn__in(n, t->scores, 0, i * f->tile_keys));
        }
    }
}

void attn__tile_scores(const attn__node *n, const attn__tile *t, const void *key_panels)
{
    const attn__fused *f = n->attributes;
    const attn__kernel_table *K = ATTN__K(n);
    attn__panels keys = {key_panels, f->width, t->packed};
    if (f->additive) {
        K->tile_additive(t->rows, t->columns, f->width, t->query, f->units, keys, attn__at(n, f->w->data, t->h * f->width), t->scores,
                         f->tile_keys);
        plain_pairs(n, t);
    } else {
        K->panel_multiply(t->rows, t->columns, f->width, f->factor, t->query, f->width, 1, keys, false, t->scores, f->tile_keys);
    }
    if (f->soft_cap != 0) {
        cap(n, t);
    }
    if (f->bias != NULL || f->position != NULL) {
        add_bias(n, t);
    }
    hide(n, t);
}

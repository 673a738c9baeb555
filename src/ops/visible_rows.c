/* Zeroes the rows of queries or keys that take no part in attention, so that what padding holds (even NaN) stays out of matrix products. */
#include <string.h>

#include "ops/op.h"

typedef struct rows {
    attn_mask mask;
    attn_side side;
    int64_t before;      /* rows of this side that stand before x's */
    int64_t other;       /* rows on the other side */
    const uint8_t *keep; /* (B,T) */
} rows;

static attn__pairs pairs_of(const attn__node *n)
{
    const rows *r = n->attributes;
    attn_shape x = n->in[0]->shape;
    bool keys = r->side == ATTN_SIDE_KEYS;
    int64_t all = r->before + x.dim[1];
    return (attn__pairs){x.dim[0], 1, keys ? r->other : all, keys ? all : r->other};
}

/* keep[b,i] for queries: row i sees something; for keys: something sees row j. */
static void mark(const rows *r, attn__pairs d, uint8_t *keep)
{
    bool keys = r->side == ATTN_SIDE_KEYS;
    int64_t extent = (keys ? d.keys : d.queries) - r->before;
    for (int64_t b = 0; b < d.batch; b++) {
        for (int64_t i = 0; i < d.queries; i++) {
            attn__row row = attn__mask_row(&r->mask, d, b, i);
            for (int64_t j = row.begin; j < row.end; j++) {
                int64_t at = (keys ? j : i) - r->before;
                if (at >= 0 && attn__sees(row, j)) {
                    keep[b * extent + at] = 1;
                }
            }
        }
    }
}

static attn_status infer(attn__node *n)
{
    rows *r = n->attributes;
    attn_shape x = n->in[0]->shape;
    if (x.rank != 3 || r->other < 0 || r->before < 0 || r->before > INT64_MAX - x.dim[1]) {
        return attn__op_fail(n, ATTN_ESHAPE, "x %s, %lld rows before it, %lld rows on the other side, expected (B,T,D)", ATTN__TEXT(x),
                             (long long)r->before, (long long)r->other);
    }
    attn_mask mask = r->mask;
    if (attn__mask_take(n, &mask, pairs_of(n), &r->mask) != ATTN_OK) {
        return attn_tape_status(n->tape);
    }
    uint8_t *keep = attn__tape_alloc(n->tape, x.dim[0] * x.dim[1], 1);
    if (keep == NULL) {
        return ATTN_ENOMEM;
    }
    memset(keep, 0, (size_t)(x.dim[0] * x.dim[1]));
    mark(r, pairs_of(n), keep);
    r->keep = keep;
    n->out->shape = x;
    return ATTN_OK;
}

static void forward(attn__node *n)
{
    const rows *r = n->attributes;
    attn_shape x = n->in[0]->shape;
    size_t bytes = (size_t)x.dim[2] * attn_dtype_size(n->out->dtype);
    for (int64_t i = 0; i < x.dim[0] * x.dim[1]; i++) {
        void *y = attn__at(n, n->out->data, i * x.dim[2]);
        if (r->keep[i]) {
            memcpy(y, attn__at(n, n->in[0]->data, i * x.dim[2]), bytes);
        } else {
            memset(y, 0, bytes);
        }
    }
}

static void backward(attn__node *n)
{
    const rows *r = n->attributes;
    attn_shape x = n->in[0]->shape;
    for (int64_t i = 0; i < x.dim[0] * x.dim[1]; i++) {
        if (r->keep[i]) {
            ATTN__K(n)->axpy(x.dim[2], 1, attn__at(n, n->out->grad, i * x.dim[2]), attn__at(n, n->in[0]->grad, i * x.dim[2]));
        }
    }
}

attn_tensor *attn_visible_rows(attn_tape *t, attn_tensor *x, attn_side side, int64_t before, int64_t other, const attn_mask *mask)
{
    if (attn__mask_empty(mask) && attn__may_return(t, x)) {
        return x;
    }
    rows r = {.side = side, .before = before, .other = other};
    if (mask != NULL) {
        r.mask = *mask;
    }
    return attn__record(t, &attn__op_visible_rows, &x, 1, &r, sizeof r);
}

static attn_tensor *build_keys(attn_tape *t, attn_tensor *const in[])
{
    return attn_visible_rows(t, in[0], ATTN_SIDE_KEYS, 0, 2, &(attn_mask){.row_lengths = (const int32_t[]){2, 1, 0, 4}});
}

static attn_tensor *build_queries(attn_tape *t, attn_tensor *const in[])
{
    return attn_visible_rows(t, in[0], ATTN_SIDE_QUERIES, 0, 3, &(attn_mask){.query_lengths = (const int32_t[]){4, 1}});
}

static attn_tensor *build_after(attn_tape *t, attn_tensor *const in[])
{
    return attn_visible_rows(t, in[0], ATTN_SIDE_KEYS, 2, 3, &(attn_mask){.key_lengths = (const int32_t[]){6, 3}});
}

static const attn__case cases[] = {
    {"keys", 1, {{3, {2, 4, 3}}}, -2, 2, build_keys},
    {"keys after a cache", 1, {{3, {2, 4, 3}}}, -2, 2, build_after},
    {"queries", 1, {{3, {2, 4, 3}}}, -2, 2, build_queries},
};

const attn__op attn__op_visible_rows = {
    .name = "visible_rows", .arity = 1, .infer = infer, .forward = forward, .backward = backward, ATTN__CASES(cases)};

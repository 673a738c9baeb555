/* Zeroes the rows of queries or keys that take no part in attention, so that what padding holds (even NaN) stays out of matrix products. */
#include <string.h>

#include "ops/op.h"

#define TILE_ROWS 32

typedef struct rows {
    attn_mask mask;
    attn_side side;
    int64_t before;      /* rows of this side that stand before x's */
    int64_t other;       /* rows on the other side */
    const uint8_t *keep; /* (B,T) */
} rows;

static bool fits(const rows *r, attn_shape x)
{
    return x.rank == 3 && r->other >= 0 && r->before >= 0 && r->before <= INT64_MAX - x.dim[1];
}

static attn__pairs pairs_of(const rows *r, attn_shape x)
{
    bool keys = r->side == ATTN_SIDE_KEYS;
    int64_t all = r->before + x.dim[1];
    return (attn__pairs){x.dim[0], 1, keys ? r->other : all, keys ? all : r->other};
}

/* keep[b,i]: query i sees something. */
static void mark_queries(const rows *r, attn__pairs d, int64_t b, uint8_t *keep)
{
    for (int64_t i = r->before; i < d.queries; i++) {
        attn__row row = attn__mask_row(&r->mask, d, b, i);
        int64_t j = row.begin;
        while (j < row.end && row.allow != NULL && !row.allow[j]) {
            j++;
        }
        keep[i - r->before] = j < row.end;
    }
}

/* keep[b,j]: some query sees key j. Where all queries of a batch entry have one `allow`, or none, it is enough to count in `change` how
 * many of their ranges begin and end at each key: as many steps as there are queries and keys, not pairs. */
static void mark_keys(const rows *r, attn__pairs d, int64_t b, int64_t *change, uint8_t *keep)
{
    const int64_t before = r->before, count = d.keys - before;
    const uint8_t *allow = NULL;
    memset(change, 0, (size_t)(count + 1) * sizeof *change);
    for (int64_t i = 0; i < d.queries; i++) {
        attn__row row = attn__mask_row(&r->mask, d, b, i);
        change[row.begin > before ? row.begin - before : 0]++;
        change[row.end > before ? row.end - before : 0]--;
        allow = row.allow;
    }
    for (int64_t j = 0, seen = 0; j < count; j++) {
        seen += change[j];
        keep[j] = seen > 0 && (allow == NULL || allow[before + j]);
    }
}

/* The same where each query has an `allow` of its own. */
static void mark_keys_of_pairs(const rows *r, attn__pairs d, int64_t b, uint8_t *keep)
{
    const int64_t before = r->before;
    memset(keep, 0, (size_t)(d.keys - before));
    for (int64_t i = 0; i < d.queries; i++) {
        attn__row row = attn__mask_row(&r->mask, d, b, i);
        for (int64_t j = row.begin > before ? row.begin : before; j < row.end; j++) {
            keep[j - before] |= row.allow[j] != 0;
        }
    }
}

/* Marks all batch entries; false: out of memory. */
static bool mark(const attn__node *n, const rows *r, attn__pairs d, int64_t extent, uint8_t *keep)
{
    const bool keys = r->side == ATTN_SIDE_KEYS, of_pairs = r->mask.allow != NULL && r->mask.allow_form == ATTN_ALLOW_PAIRS;
    const bool counts = keys && !of_pairs && d.batch > 0;
    int64_t *change = counts ? attn__tape_alloc(n->tape, extent + 1, sizeof *change) : NULL;
    for (int64_t b = 0; b < d.batch && (change != NULL || !counts); b++, keep += extent) {
        if (counts) {
            mark_keys(r, d, b, change, keep);
        } else if (keys) {
            mark_keys_of_pairs(r, d, b, keep);
        } else {
            mark_queries(r, d, b, keep);
        }
    }
    return change != NULL || !counts;
}

static attn_status infer(attn__node *n)
{
    rows *r = n->attributes;
    attn_shape x = n->in[0]->shape;
    if (!fits(r, x)) {
        return attn__op_fail(n, ATTN_ESHAPE, "x %s, %lld rows before it, %lld rows on the other side, expected (B,T,D)", ATTN__TEXT(x),
                             (long long)r->before, (long long)r->other);
    }
    attn_mask mask = r->mask;
    attn__pairs d = pairs_of(r, x);
    if (attn__mask_take(n, &mask, d, &r->mask) != ATTN_OK) {
        return attn_tape_status(n->tape);
    }
    uint8_t *keep = attn__tape_alloc(n->tape, x.dim[0] * x.dim[1], 1);
    if (keep == NULL || !mark(n, r, d, x.dim[1], keep)) {
        return ATTN_ENOMEM;
    }
    r->keep = keep;
    n->out->shape = x;
    return ATTN_OK;
}

static attn__span rows_of(const attn__node *n, int64_t tile)
{
    attn_shape x = n->in[0]->shape;
    return attn__range(x.dim[0] * x.dim[1], TILE_ROWS, tile);
}

static void each_row(attn__node *n, attn__tile_fn fn)
{
    attn_shape x = n->in[0]->shape;
    attn__parallel(attn__tape_threads(n->tape), attn__tiles(x.dim[0] * x.dim[1], TILE_ROWS), TILE_ROWS * (double)x.dim[2], fn, n);
}

static void tile_forward(void *ctx, int64_t tile)
{
    const attn__node *n = ctx;
    const rows *r = n->attributes;
    const int64_t width = n->in[0]->shape.dim[2];
    size_t bytes = (size_t)width * attn_dtype_size(n->out->dtype);
    attn__span s = rows_of(n, tile);
    for (int64_t i = s.begin; i < s.end; i++) {
        void *y = attn__at(n, n->out->data, i * width);
        if (r->keep[i]) {
            memcpy(y, attn__at(n, n->in[0]->data, i * width), bytes);
        } else {
            memset(y, 0, bytes);
        }
    }
}

static void forward(attn__node *n)
{
    each_row(n, tile_forward);
}

static void tile_backward(void *ctx, int64_t tile)
{
    const attn__node *n = ctx;
    const rows *r = n->attributes;
    const int64_t width = n->in[0]->shape.dim[2];
    attn__span s = rows_of(n, tile);
    attn__clear(n, s.begin * width, (s.end - s.begin) * width);
    for (int64_t i = s.begin; i < s.end; i++) {
        if (r->keep[i]) {
            ATTN__K(n)->axpy(width, 1, attn__at(n, n->out->grad, i * width), attn__at(n, n->in[0]->grad, i * width));
        }
    }
}

static void backward(attn__node *n)
{
    each_row(n, tile_backward);
}

/* Nothing but causal order, in which the last query sees every key and the first one some. Pairs beyond number are left to infer. */
static bool shows_all_rows(const attn_mask *m, attn__pairs d)
{
    attn_mask rest = *m;
    rest.causal = ATTN_CAUSAL_NONE;
    bool only_causal = attn__mask_empty(&rest) && m->positions == NULL, some = d.queries > 0 && d.keys > 0;
    return only_causal && some && attn_shape_count(ATTN_SHAPE(d.batch, d.heads, d.queries, d.keys)) >= 0 &&
           ((m->causal == ATTN_CAUSAL_TOP_LEFT && d.keys <= d.queries) || (m->causal == ATTN_CAUSAL_BOTTOM_RIGHT && d.queries <= d.keys));
}

attn_tensor *attn_visible_rows(attn_tape *t, attn_tensor *x, attn_side side, int64_t before, int64_t other, const attn_mask *mask)
{
    rows r = {.side = side, .before = before, .other = other};
    if (mask != NULL) {
        r.mask = *mask;
    }
    if (attn__may_return(t, x) && (attn__mask_empty(mask) || (fits(&r, x->shape) && shows_all_rows(&r.mask, pairs_of(&r, x->shape))))) {
        return x;
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
    .name = "visible_rows", .arity = 1, .infer = infer, .forward = forward, .backward = backward, .clears = true, ATTN__CASES(cases)};

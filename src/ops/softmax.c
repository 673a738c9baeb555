#include "ops/op.h"

#define TILE_ROWS 16

static attn_status infer(attn__node *n)
{
    n->out->shape = n->in[0]->shape;
    if (n->in[0]->shape.rank == 0) {
        return attn__op_fail(n, ATTN_ESHAPE, "a scalar has no dimension to normalise over");
    }
    attn_mask mask = *(attn_mask *)n->attributes;
    return attn__mask_take(n, &mask, attn__pairs_of(n->out->shape), n->attributes);
}

/* Rows are numbered over (batch, head, query). */
static attn__row mask_of(const attn__node *n, attn__pairs d, int64_t row)
{
    return attn__mask_row(n->attributes, d, row / d.queries / d.heads, row % d.queries);
}

static void tile_forward(void *ctx, int64_t tile)
{
    attn__node *n = ctx;
    attn__pairs d = attn__pairs_of(n->out->shape);
    attn__span span = attn__range(d.batch * d.heads * d.queries, TILE_ROWS, tile);
    for (int64_t r = span.begin; r < span.end; r++) {
        attn__row row = mask_of(n, d, r);
        int64_t first = r * d.keys + row.begin;
        ATTN__K(n)->zero(row.begin, attn__at(n, n->out->data, r * d.keys));
        ATTN__K(n)->softmax(row.end - row.begin, attn__at(n, n->in[0]->data, first), row.allow != NULL ? row.allow + row.begin : NULL,
                            attn__at(n, n->out->data, first));
        ATTN__K(n)->zero(d.keys - row.end, attn__at(n, n->out->data, r * d.keys + row.end));
    }
}

static void tile_backward(void *ctx, int64_t tile)
{
    attn__node *n = ctx;
    attn__pairs d = attn__pairs_of(n->out->shape);
    attn__span span = attn__range(d.batch * d.heads * d.queries, TILE_ROWS, tile);
    for (int64_t r = span.begin; r < span.end; r++) {
        attn__row row = mask_of(n, d, r);
        int64_t first = r * d.keys + row.begin;
        attn__clear(n, r * d.keys, d.keys);
        ATTN__K(n)->softmax_b(row.end - row.begin, attn__at(n, n->out->data, first), attn__at(n, n->out->grad, first),
                              row.allow != NULL ? row.allow + row.begin : NULL, attn__at(n, n->in[0]->grad, first));
    }
}

static void over_rows(attn__node *n, double cost, attn__tile_fn fn)
{
    attn__pairs d = attn__pairs_of(n->out->shape);
    attn__parallel(attn__tape_threads(n->tape), attn__tiles(d.batch * d.heads * d.queries, TILE_ROWS), cost * TILE_ROWS * (double)d.keys,
                   fn, n);
}

static void forward(attn__node *n)
{
    over_rows(n, 3, tile_forward);
}

static void backward(attn__node *n)
{
    over_rows(n, 2, tile_backward);
}

attn_tensor *attn_softmax(attn_tape *t, attn_tensor *x, const attn_mask *mask)
{
    const attn_mask everything = {.key_lengths = NULL};
    return attn__record(t, &attn__op_softmax, &x, 1, mask != NULL ? mask : &everything, sizeof(attn_mask));
}

static attn_tensor *build_plain(attn_tape *t, attn_tensor *const in[])
{
    return attn_softmax(t, in[0], NULL);
}

static attn_tensor *build_lengths(attn_tape *t, attn_tensor *const in[])
{
    return attn_softmax(t, in[0], &(attn_mask){.key_lengths = (const int32_t[]){3, 0}, .query_lengths = (const int32_t[]){2, 3}});
}

static attn_tensor *build_rows(attn_tape *t, attn_tensor *const in[])
{
    return attn_softmax(t, in[0], &(attn_mask){.row_lengths = (const int32_t[]){1, 4, 0, 2, 3, 4}, .causal = ATTN_CAUSAL_BOTTOM_RIGHT});
}

static attn_tensor *build_allow(attn_tape *t, attn_tensor *const in[])
{
    const uint8_t allow[] = {1, 0, 1, 0, 1, 1, 1, 1, 0, 0, 0, 0};
    return attn_softmax(t, in[0], &(attn_mask){.allow = allow, .causal = ATTN_CAUSAL_TOP_LEFT});
}

static attn_tensor *build_keys(attn_tape *t, attn_tensor *const in[])
{
    const uint8_t allow[] = {1, 0, 1, 1, 0, 1, 1, 1};
    return attn_softmax(t, in[0], &(attn_mask){.allow = allow, .allow_form = ATTN_ALLOW_KEYS});
}

static attn_tensor *build_window(attn_tape *t, attn_tensor *const in[])
{
    return attn_softmax(t, in[0], &(attn_mask){.window = true, .left = 1, .right = 0, .positions = (const int32_t[]){1, 2}});
}

static attn_tensor *build_packed(attn_tape *t, attn_tensor *const in[])
{
    return attn_softmax(t, in[0],
                        &(attn_mask){.row_begins = (const int32_t[]){0, 0, 2, 2, 2}, .row_lengths = (const int32_t[]){2, 2, 5, 5, 5}});
}

static const attn__case cases[] = {
    {"row", 1, {{1, {5}}}, -2, 2, build_plain},
    {"heads", 1, {{4, {2, 2, 3, 4}}}, -2, 2, build_plain},
    {"key and query lengths", 1, {{4, {2, 2, 3, 4}}}, -2, 2, build_lengths},
    {"row lengths, causal bottom-right", 1, {{3, {2, 3, 4}}}, -2, 2, build_rows},
    {"pairs, causal top-left", 1, {{2, {3, 4}}}, -2, 2, build_allow},
    {"keys", 1, {{4, {2, 2, 3, 4}}}, -2, 2, build_keys},
    {"window", 1, {{4, {2, 1, 3, 5}}}, -2, 2, build_window},
    {"packed", 1, {{2, {5, 5}}}, -2, 2, build_packed},
};

const attn__op attn__op_softmax = {
    .name = "softmax", .arity = 1, .clears = true, .infer = infer, .forward = forward, .backward = backward, ATTN__CASES(cases)};

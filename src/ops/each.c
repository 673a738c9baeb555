#include "ops/op.h"

attn__span attn__elements(const attn__node *n, int64_t tile)
{
    return attn__range(n->out->count, ATTN__GRAIN, tile);
}

void attn__each_tile(attn__node *n, double cost, attn__tile_fn fn)
{
    attn__parallel(attn__tape_threads(n->tape), attn__tiles(n->out->count, ATTN__GRAIN), cost * ATTN__GRAIN, fn, n);
}

static void pass_tile(void *ctx, int64_t tile)
{
    attn__node *n = ctx;
    attn__span s = attn__elements(n, tile);
    attn__clear(n, s.begin, s.end - s.begin);
    ATTN__K(n)->axpy(s.end - s.begin, 1, attn__at(n, n->out->grad, s.begin), attn__at(n, n->in[0]->grad, s.begin));
}

void attn__pass_gradient(attn__node *n)
{
    attn__each_tile(n, 1, pass_tile);
}

/* A cache line of float32 at least. */
static int64_t columns_a_tile(const attn__node *n, int64_t width)
{
    int64_t workers = attn__workers(attn__tape_threads(n->tape)), each = (width + workers - 1) / workers;
    return (each + 15) / 16 * 16;
}

void attn__each_column(attn__node *n, int64_t width, double rows, attn__tile_fn fn)
{
    if (width > 0) {
        int64_t columns = columns_a_tile(n, width);
        attn__parallel(attn__tape_threads(n->tape), attn__tiles(width, columns), (double)columns * rows, fn, n);
    }
}

attn__span attn__columns(const attn__node *n, int64_t width, int64_t tile)
{
    return attn__range(width, columns_a_tile(n, width), tile);
}

void *attn__at(const attn__node *n, void *data, int64_t i)
{
    return (char *)data + (size_t)i * attn_dtype_size(n->out->dtype);
}

bool attn__may_return(const attn_tape *t, const attn_tensor *x)
{
    return attn_tape_status(t) == ATTN_OK && x != NULL && x->tape == t;
}

attn_status attn__infer_same(attn__node *n)
{
    n->out->shape = n->in[0]->shape;
    return ATTN_OK;
}

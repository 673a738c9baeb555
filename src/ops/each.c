#include "ops/op.h"

attn__span attn__elements(const attn__node *n, int64_t tile)
{
    return attn__range(n->out->count, ATTN__GRAIN, tile);
}

void attn__each_tile(attn__node *n, double cost, attn__tile_fn fn)
{
    attn__parallel(attn__tape_threads(n->tape), attn__tiles(n->out->count, ATTN__GRAIN), cost * ATTN__GRAIN, fn, n);
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

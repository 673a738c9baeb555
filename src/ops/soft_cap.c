#include <float.h>

#include "ops/op.h"

attn_status attn__soft_cap_check(attn__node *n, double cap)
{
    double least = n->in[0]->dtype == ATTN_F32 ? (double)FLT_MIN : DBL_MIN; /* beyond, cap or 1 / cap would be 0 or infinite */
    if (!(cap >= least && cap <= 1 / least)) {
        return attn__op_fail(n, ATTN_EINVAL, "soft cap %g, expected a number from %g to %g", cap, least, 1 / least);
    }
    return ATTN_OK;
}

static attn_status infer(attn__node *n)
{
    return attn__soft_cap_check(n, *(double *)n->attributes) == ATTN_OK ? attn__infer_same(n) : attn_tape_status(n->tape);
}

static void tile_forward(void *ctx, int64_t tile)
{
    attn__node *n = ctx;
    attn__span s = attn__elements(n, tile);
    void *y = attn__at(n, n->out->data, s.begin);
    double cap = *(double *)n->attributes;
    ATTN__K(n)->scale(s.end - s.begin, 1 / cap, attn__at(n, n->in[0]->data, s.begin), y);
    ATTN__K(n)->tanh(s.end - s.begin, y, y);
    ATTN__K(n)->scale(s.end - s.begin, cap, y, y);
}

static void forward(attn__node *n)
{
    attn__each_tile(n, 3, tile_forward);
}

/* forward: y = cap u, u = tanh(s / cap);  ds = g (1 - u^2) */
static void tile_backward(void *ctx, int64_t tile)
{
    attn__node *n = ctx;
    attn__span s = attn__elements(n, tile);
    ATTN__K(n)->soft_cap_b(s.end - s.begin, *(double *)n->attributes, attn__at(n, n->out->data, s.begin),
                           attn__at(n, n->out->grad, s.begin), attn__at(n, n->in[0]->grad, s.begin));
}

static void backward(attn__node *n)
{
    attn__each_tile(n, 1, tile_backward);
}

attn_tensor *attn_soft_cap(attn_tape *t, attn_tensor *s, double cap)
{
    return attn__record(t, &attn__op_soft_cap, &s, 1, &cap, sizeof cap);
}

static attn_tensor *build(attn_tape *t, attn_tensor *const in[])
{
    return attn_soft_cap(t, in[0], 1.5);
}

static const attn__case cases[] = {
    {"cap 1.5", 1, {{2, {5, 7}}}, -4, 4, build},
};

const attn__op attn__op_soft_cap = {
    .name = "soft_cap", .arity = 1, .infer = infer, .forward = forward, .backward = backward, ATTN__CASES(cases)};

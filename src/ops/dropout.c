#include "ops/op.h"

typedef struct dropout {
    double rate;
    attn__key key;
} dropout;

static attn_status infer(attn__node *n)
{
    dropout *d = n->attributes;
    if (!(d->rate >= 0 && d->rate < 1)) {
        return attn__op_fail(n, ATTN_EINVAL, "rate %g, expected 0 <= rate < 1", d->rate);
    }
    d->key = attn__tape_next_key(n->tape);
    return attn__infer_same(n);
}

static void tile_forward(void *ctx, int64_t tile)
{
    attn__node *n = ctx;
    const dropout *d = n->attributes;
    attn__span s = attn__elements(n, tile);
    ATTN__K(n)->dropout(s.begin, s.end - s.begin, d->rate, d->key.seed, d->key.stream, attn__at(n, n->in[0]->data, s.begin),
                        attn__at(n, n->out->data, s.begin));
}

static void forward(attn__node *n)
{
    attn__each_tile(n, 4, tile_forward);
}

static void tile_backward(void *ctx, int64_t tile)
{
    attn__node *n = ctx;
    const dropout *d = n->attributes;
    attn__span s = attn__elements(n, tile);
    ATTN__K(n)->dropout_b(s.begin, s.end - s.begin, d->rate, d->key.seed, d->key.stream, attn__at(n, n->out->grad, s.begin),
                          attn__at(n, n->in[0]->grad, s.begin));
}

static void backward(attn__node *n)
{
    attn__each_tile(n, 4, tile_backward);
}

attn_tensor *attn_dropout(attn_tape *t, attn_tensor *x, double rate)
{
    bool idle = rate == 0 || (rate > 0 && rate < 1 && !attn__tape_training(t));
    return idle && attn__may_return(t, x) ? x : attn__record(t, &attn__op_dropout, &x, 1, &(dropout){.rate = rate}, sizeof(dropout));
}

/* Recorded directly: gradcheck tapes are not in training mode. */
static attn_tensor *build(attn_tape *t, attn_tensor *const in[])
{
    return attn__record(t, &attn__op_dropout, in, 1, &(dropout){.rate = 0.4}, sizeof(dropout));
}

static const attn__case cases[] = {
    {"rate 0.4", 1, {{2, {6, 9}}}, -2, 2, build},
};

const attn__op attn__op_dropout = {
    .name = "dropout", .arity = 1, .infer = infer, .forward = forward, .backward = backward, ATTN__CASES(cases)};

/* An additive bias on the scores: visible pairs only, so that scores of hidden pairs stay 0 whatever the bias holds there. */
#include "ops/op.h"

typedef struct bias {
    attn_mask mask;
    attn__pairs d;
    int64_t step[ATTN_MAX_DIMS]; /* elements of the bias between neighbours in (B,H,Tq,Tk); 0 where it is repeated */
} bias;

static attn_status infer(attn__node *n)
{
    bias *r = n->attributes;
    attn_shape s = n->in[0]->shape, x = n->in[1]->shape;
    bool fits = s.rank == ATTN_MAX_DIMS;
    int64_t step = 1;
    for (int at = ATTN_MAX_DIMS - 1, from = x.rank - 1; fits && from >= 0; at--, from--) {
        fits = x.dim[from] == s.dim[at] || x.dim[from] == 1;
        r->step[at] = x.dim[from] == 1 ? 0 : step;
        step *= x.dim[from];
    }
    if (!fits) {
        return attn__op_fail(n, ATTN_ESHAPE, "scores %s and bias %s: expected (B,H,Tq,Tk) and a shape that can be repeated over it",
                             ATTN__TEXT(s), ATTN__TEXT(x));
    }
    r->d = attn__pairs_of(s);
    n->out->shape = s;
    attn_mask mask = r->mask;
    return attn__mask_take(n, &mask, r->d, &r->mask);
}

/* Calls visit for every visible pair, in order: batch, head, query, key. */
static void over_pairs(attn__node *n, void (*visit)(attn__node *n, int64_t pair, int64_t entry))
{
    const bias *r = n->attributes;
    for (int64_t row = 0; row < r->d.batch * r->d.heads * r->d.queries; row++) {
        int64_t i = row % r->d.queries, h = row / r->d.queries % r->d.heads, b = row / r->d.queries / r->d.heads;
        int64_t first = b * r->step[0] + h * r->step[1] + i * r->step[2];
        attn__row visible = attn__mask_row(&r->mask, r->d, b, i);
        for (int64_t j = visible.begin; j < visible.end; j++) {
            if (attn__sees(visible, j)) {
                visit(n, row * r->d.keys + j, first + j * r->step[3]);
            }
        }
    }
}

static void add_entry(attn__node *n, int64_t pair, int64_t entry)
{
    const attn__kernel_table *K = ATTN__K(n);
    K->set(n->out->data, pair, K->get(n->in[0]->data, pair) + K->get(n->in[1]->data, entry));
}

static void forward(attn__node *n)
{
    ATTN__K(n)->zero(n->out->count, n->out->data);
    over_pairs(n, add_entry);
}

static void score_backward(attn__node *n, int64_t pair, int64_t entry)
{
    const attn__kernel_table *K = ATTN__K(n);
    (void)entry;
    K->set(n->in[0]->grad, pair, K->get(n->in[0]->grad, pair) + K->get(n->out->grad, pair));
}

static void bias_backward(attn__node *n, int64_t pair, int64_t entry)
{
    const attn__kernel_table *K = ATTN__K(n);
    K->set(n->in[1]->grad, entry, K->get(n->in[1]->grad, entry) + K->get(n->out->grad, pair));
}

static void backward(attn__node *n)
{
    if (n->in[0]->needs_grad) {
        over_pairs(n, score_backward);
    }
    if (n->in[1]->needs_grad) {
        over_pairs(n, bias_backward);
    }
}

attn_tensor *attn_score_bias(attn_tape *t, attn_tensor *s, attn_tensor *x, const attn_mask *mask)
{
    bias r = {.step = {0}};
    if (mask != NULL) {
        r.mask = *mask;
    }
    return attn__record(t, &attn__op_score_bias, (attn_tensor *const[]){s, x}, 2, &r, sizeof r);
}

static attn_tensor *build(attn_tape *t, attn_tensor *const in[])
{
    return attn_score_bias(t, in[0], in[1], NULL);
}

static attn_tensor *build_masked(attn_tape *t, attn_tensor *const in[])
{
    return attn_score_bias(t, in[0], in[1], &(attn_mask){.key_lengths = (const int32_t[]){4, 2}, .causal = ATTN_CAUSAL_BOTTOM_RIGHT});
}

static const attn__case cases[] = {
    {"of all pairs", 2, {{4, {2, 2, 3, 4}}, {4, {2, 2, 3, 4}}}, -2, 2, build_masked},
    {"of all heads", 2, {{4, {2, 2, 3, 4}}, {4, {2, 1, 3, 4}}}, -2, 2, build_masked},
    {"of queries and keys", 2, {{4, {2, 2, 3, 4}}, {2, {3, 4}}}, -2, 2, build_masked},
    {"of heads and keys", 2, {{4, {2, 2, 3, 4}}, {3, {2, 1, 4}}}, -2, 2, build_masked},
    {"of keys", 2, {{4, {2, 2, 3, 4}}, {1, {4}}}, -2, 2, build},
    {"of everything", 2, {{4, {1, 2, 2, 2}}, {0, {0}}}, -2, 2, build},
};

const attn__op attn__op_score_bias = {
    .name = "score_bias", .arity = 2, .infer = infer, .forward = forward, .backward = backward, ATTN__CASES(cases)};

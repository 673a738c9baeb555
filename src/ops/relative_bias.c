#include "ops/op.h"

typedef struct bias {
    const int32_t *first;
    attn_mask mask;
    attn__pairs d;
    int64_t clip;
} bias;

static attn_status infer(attn__node *n)
{
    bias *r = n->attributes;
    attn_shape s = n->in[0]->shape, table = n->in[1]->shape;
    if (s.rank != 4 || table.rank != 2 || table.dim[0] != s.dim[1] || table.dim[1] % 2 != 1) {
        return attn__op_fail(n, ATTN_ESHAPE, "scores %s and table %s: expected (B,H,Tq,Tk) and (H,2C+1)", ATTN__TEXT(s), ATTN__TEXT(table));
    }
    r->d = attn__pairs_of(s);
    r->clip = table.dim[1] / 2;
    n->out->shape = s;
    bool ok = true;
    r->first = attn__tape_copy(n->tape, r->first, r->d.batch, sizeof *r->first, &ok);
    attn_mask mask = r->mask;
    return ok ? attn__mask_take(n, &mask, r->d, &r->mask) : ATTN_ENOMEM;
}

/* Column of the table for query i and key j of batch entry b. */
static int64_t column(const bias *r, int64_t b, int64_t i, int64_t j)
{
    int64_t offset = j - i - (r->first != NULL ? r->first[b] : 0);
    offset = offset < -r->clip ? -r->clip : offset > r->clip ? r->clip : offset;
    return offset + r->clip;
}

/* Calls visit for every visible pair, in order: batch, head, query, key. */
static void over_pairs(attn__node *n, void (*visit)(attn__node *n, int64_t pair, int64_t entry))
{
    const bias *r = n->attributes;
    for (int64_t row = 0; row < r->d.batch * r->d.heads * r->d.queries; row++) {
        int64_t i = row % r->d.queries, h = row / r->d.queries % r->d.heads, b = row / r->d.queries / r->d.heads;
        attn__row visible = attn__mask_row(&r->mask, r->d, b, i);
        for (int64_t j = visible.begin; j < visible.end; j++) {
            if (attn__sees(visible, j)) {
                visit(n, row * r->d.keys + j, h * (2 * r->clip + 1) + column(r, b, i, j));
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

static void table_backward(attn__node *n, int64_t pair, int64_t entry)
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
        over_pairs(n, table_backward);
    }
}

attn_tensor *attn_relative_bias(attn_tape *t, attn_tensor *s, attn_tensor *table, const int32_t *first, const attn_mask *mask)
{
    bias r = {.first = first};
    if (mask != NULL) {
        r.mask = *mask;
    }
    return attn__record(t, &attn__op_relative_bias, (attn_tensor *const[]){s, table}, 2, &r, sizeof r);
}

static attn_tensor *build(attn_tape *t, attn_tensor *const in[])
{
    return attn_relative_bias(t, in[0], in[1], NULL, NULL);
}

static attn_tensor *build_offset(attn_tape *t, attn_tensor *const in[])
{
    return attn_relative_bias(t, in[0], in[1], (const int32_t[]){3, 1}, &(attn_mask){.key_lengths = (const int32_t[]){5, 2}});
}

static const attn__case cases[] = {
    {"self, clipped", 2, {{4, {2, 2, 5, 5}}, {2, {2, 5}}}, -1, 1, build},
    {"one query, masked", 2, {{4, {2, 2, 1, 5}}, {2, {2, 7}}}, -1, 1, build_offset},
};

const attn__op attn__op_relative_bias = {
    .name = "relative_bias", .arity = 2, .infer = infer, .forward = forward, .backward = backward, ATTN__CASES(cases)};

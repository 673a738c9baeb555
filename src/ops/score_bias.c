/* relative_bias and score_bias: numbers added to the scores of visible pairs. Scores of hidden pairs stay 0 whatever a bias holds there. */
#include "ops/op.h"

/* What both share: where in the bias a pair finds its number. */
typedef struct bias {
    attn_mask mask;
    attn__pairs d;
    int64_t step[ATTN_MAX_DIMS]; /* elements of the bias between neighbours in (B,H,Tq,Tk); 0 where it is repeated */
    bool relative;               /* the number depends on the offset j - i - first[b], clipped, instead of on i and j */
    const int32_t *first;
    int64_t clip;
} bias;

static int64_t entry_of(const bias *r, int64_t b, int64_t h, int64_t i, int64_t j)
{
    int64_t entry = b * r->step[0] + h * r->step[1] + i * r->step[2] + j * r->step[3];
    if (r->relative) {
        int64_t offset = j - i - (r->first != NULL ? r->first[b] : 0);
        entry += (offset < -r->clip ? -r->clip : offset > r->clip ? r->clip : offset) + r->clip;
    }
    return entry;
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
                visit(n, row * r->d.keys + j, entry_of(r, b, h, i, j));
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

static void entry_backward(attn__node *n, int64_t pair, int64_t entry)
{
    const attn__kernel_table *K = ATTN__K(n);
    K->set(n->in[1]->grad, entry, K->get(n->in[1]->grad, entry) + K->get(n->out->grad, pair));
}

/* forward: y = s + x[entry];  ds = g, dx[entry] += g */
static void backward(attn__node *n)
{
    if (n->in[0]->needs_grad) {
        over_pairs(n, score_backward);
    }
    if (n->in[1]->needs_grad) {
        over_pairs(n, entry_backward);
    }
}

attn_status attn__bias_steps(attn__node *n, attn_shape s, attn_shape x, int64_t steps[ATTN_MAX_DIMS])
{
    bool fits = s.rank == ATTN_MAX_DIMS;
    int64_t step = 1;
    for (int at = ATTN_MAX_DIMS - 1, from = x.rank - 1; fits && from >= 0; at--, from--) {
        fits = x.dim[from] == s.dim[at] || x.dim[from] == 1;
        steps[at] = x.dim[from] == 1 ? 0 : step;
        step *= x.dim[from];
    }
    return fits ? ATTN_OK
                : attn__op_fail(n, ATTN_ESHAPE, "scores %s and bias %s: expected (B,H,Tq,Tk) and a shape that can be repeated over it",
                                ATTN__TEXT(s), ATTN__TEXT(x));
}

attn_status attn__table_check(attn__node *n, attn_shape s, attn_shape table)
{
    if (s.rank != 4 || table.rank != 2 || table.dim[0] != s.dim[1] || table.dim[1] % 2 != 1) {
        return attn__op_fail(n, ATTN_ESHAPE, "scores %s and table %s: expected (B,H,Tq,Tk) and (H,2C+1)", ATTN__TEXT(s), ATTN__TEXT(table));
    }
    return ATTN_OK;
}

/* The part of infer that both share; the steps are known. */
static attn_status take(attn__node *n)
{
    bias *r = n->attributes;
    bool ok = true;
    r->d = attn__pairs_of(n->in[0]->shape);
    n->out->shape = n->in[0]->shape;
    r->first = attn__tape_copy(n->tape, r->first, r->d.batch, sizeof *r->first, &ok);
    attn_mask mask = r->mask;
    return ok ? attn__mask_take(n, &mask, r->d, &r->mask) : ATTN_ENOMEM;
}

static attn_tensor *record(attn_tape *t, const attn__op *op, attn_tensor *s, attn_tensor *x, const int32_t *first, const attn_mask *mask)
{
    bias r = {.first = first};
    if (mask != NULL) {
        r.mask = *mask;
    }
    return attn__record(t, op, (attn_tensor *const[]){s, x}, 2, &r, sizeof r);
}

/* ---- relative_bias ---- */

static attn_status relative_infer(attn__node *n)
{
    bias *r = n->attributes;
    attn_shape table = n->in[1]->shape;
    if (attn__table_check(n, n->in[0]->shape, table) != ATTN_OK) {
        return attn_tape_status(n->tape);
    }
    r->relative = true;
    r->clip = table.dim[1] / 2;
    r->step[1] = table.dim[1];
    return take(n);
}

attn_tensor *attn_relative_bias(attn_tape *t, attn_tensor *s, attn_tensor *table, const int32_t *first, const attn_mask *mask)
{
    return record(t, &attn__op_relative_bias, s, table, first, mask);
}

static attn_tensor *build_self(attn_tape *t, attn_tensor *const in[])
{
    return attn_relative_bias(t, in[0], in[1], NULL, NULL);
}

static attn_tensor *build_offset(attn_tape *t, attn_tensor *const in[])
{
    return attn_relative_bias(t, in[0], in[1], (const int32_t[]){3, 1}, &(attn_mask){.key_lengths = (const int32_t[]){5, 2}});
}

static const attn__case relative_cases[] = {
    {"self, clipped", 2, {{4, {2, 2, 5, 5}}, {2, {2, 5}}}, -1, 1, build_self},
    {"one query, masked", 2, {{4, {2, 2, 1, 5}}, {2, {2, 7}}}, -1, 1, build_offset},
};

const attn__op attn__op_relative_bias = {
    .name = "relative_bias", .arity = 2, .infer = relative_infer, .forward = forward, .backward = backward, ATTN__CASES(relative_cases)};

/* ---- score_bias ---- */

static attn_status score_infer(attn__node *n)
{
    bias *r = n->attributes;
    return attn__bias_steps(n, n->in[0]->shape, n->in[1]->shape, r->step) == ATTN_OK ? take(n) : attn_tape_status(n->tape);
}

attn_tensor *attn_score_bias(attn_tape *t, attn_tensor *s, attn_tensor *x, const attn_mask *mask)
{
    return record(t, &attn__op_score_bias, s, x, NULL, mask);
}

static attn_tensor *build(attn_tape *t, attn_tensor *const in[])
{
    return attn_score_bias(t, in[0], in[1], NULL);
}

static attn_tensor *build_masked(attn_tape *t, attn_tensor *const in[])
{
    return attn_score_bias(t, in[0], in[1], &(attn_mask){.key_lengths = (const int32_t[]){4, 2}, .causal = ATTN_CAUSAL_BOTTOM_RIGHT});
}

static const attn__case score_cases[] = {
    {"of all pairs", 2, {{4, {2, 2, 3, 4}}, {4, {2, 2, 3, 4}}}, -2, 2, build_masked},
    {"of all heads", 2, {{4, {2, 2, 3, 4}}, {4, {2, 1, 3, 4}}}, -2, 2, build_masked},
    {"of queries and keys", 2, {{4, {2, 2, 3, 4}}, {2, {3, 4}}}, -2, 2, build_masked},
    {"of heads and keys", 2, {{4, {2, 2, 3, 4}}, {3, {2, 1, 4}}}, -2, 2, build_masked},
    {"of keys", 2, {{4, {2, 2, 3, 4}}, {1, {4}}}, -2, 2, build},
    {"of everything", 2, {{4, {1, 2, 2, 2}}, {0, {0}}}, -2, 2, build},
};

const attn__op attn__op_score_bias = {
    .name = "score_bias", .arity = 2, .infer = score_infer, .forward = forward, .backward = backward, ATTN__CASES(score_cases)};

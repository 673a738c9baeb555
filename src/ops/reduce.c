/* sum and mean of all elements. */
#include "ops/op.h"

static attn_status sum_infer(attn__node *n)
{
    n->out->shape = ATTN_SCALAR;
    return ATTN_OK;
}

static void sum_forward(attn__node *n)
{
    ATTN__K(n)->set(n->out->data, 0, ATTN__K(n)->sum(n->in[0]->count, n->in[0]->data));
}

static void sum_backward(attn__node *n)
{
    ATTN__K(n)->shift(n->in[0]->count, ATTN__K(n)->get(n->out->grad, 0), n->in[0]->grad);
}

attn_tensor *attn_sum(attn_tape *t, attn_tensor *x)
{
    return attn__record(t, &attn__op_sum, &x, 1, NULL, 0);
}

static attn_tensor *build_sum(attn_tape *t, attn_tensor *const in[])
{
    return attn_sum(t, in[0]);
}

static const attn__case sum_cases[] = {
    {"matrix", 1, {{2, {3, 7}}}, -2, 2, build_sum},
    {"scalar", 1, {{0, {0}}}, -2, 2, build_sum},
};

const attn__op attn__op_sum = {
    .name = "sum", .arity = 1, .infer = sum_infer, .forward = sum_forward, .backward = sum_backward, ATTN__CASES(sum_cases)};

static attn_status mean_infer(attn__node *n)
{
    if (n->in[0]->count == 0) {
        return attn__op_fail(n, ATTN_ESHAPE, "%s has no elements", ATTN__TEXT(n->in[0]->shape));
    }
    return sum_infer(n);
}

static void mean_forward(attn__node *n)
{
    ATTN__K(n)->set(n->out->data, 0, ATTN__K(n)->sum(n->in[0]->count, n->in[0]->data) / (double)n->in[0]->count);
}

static void mean_backward(attn__node *n)
{
    ATTN__K(n)->shift(n->in[0]->count, ATTN__K(n)->get(n->out->grad, 0) / (double)n->in[0]->count, n->in[0]->grad);
}

attn_tensor *attn_mean(attn_tape *t, attn_tensor *x)
{
    return attn__record(t, &attn__op_mean, &x, 1, NULL, 0);
}

static attn_tensor *build_mean(attn_tape *t, attn_tensor *const in[])
{
    return attn_mean(t, in[0]);
}

static const attn__case mean_cases[] = {
    {"matrix", 1, {{2, {3, 7}}}, -2, 2, build_mean},
};

const attn__op attn__op_mean = {
    .name = "mean", .arity = 1, .infer = mean_infer, .forward = mean_forward, .backward = mean_backward, ATTN__CASES(mean_cases)};

/* Looks for numbers that are not finite, right where they arise. Reached only while a tape is checking. */
#include <math.h>
#include <stdio.h>

#include "core/core.h"

/* Index of the first element that is not finite, or -1; with `pass_minus`, -infinity is as good as finite. */
static int64_t find(const attn_tensor *x, const void *values, bool pass_minus)
{
    const attn__kernel_table *K = attn__kernels(x->dtype);
    int64_t at = 0;
    while (at < x->count) {
        int64_t i = K->first_nonfinite(x->count - at, (const char *)values + (size_t)at * attn_dtype_size(x->dtype));
        if (i < 0) {
            break;
        }
        at += i;
        if (!pass_minus || K->get(values, at) != -HUGE_VAL) {
            return at;
        }
        at++;
    }
    return -1;
}

/* Whether an input brings -infinity: a mask that is added may. A parameter may not. */
static bool brings_minus(const attn__node *n)
{
    for (int k = 0; k < n->n_in; k++) {
        const attn_tensor *x = n->in[k];
        for (int64_t i = 0; x->params == NULL && i < x->count; i++) {
            if (attn__kernels(x->dtype)->get(x->data, i) == -HUGE_VAL) {
                return true;
            }
        }
    }
    return false;
}

/* "(2,3) is nan at (0,1)" */
#define PLACE_SIZE (2 * ATTN_SHAPE_TEXT + 16)
static const char *place_of(const attn_tensor *x, const void *values, int64_t i, char text[PLACE_SIZE])
{
    double value = attn__kernels(x->dtype)->get(values, i);
    (void)snprintf(text, PLACE_SIZE, "%s is %s at %s", ATTN__TEXT(x->shape),
                   isnan(value) ? "nan"
                   : value > 0  ? "inf"
                                : "-inf",
                   ATTN__TEXT(attn__index_of(x->shape, i)));
    return text;
}

/* "input 1", "input 1, parameter 'w'" */
#define NAME_SIZE (ATTN__QUOTE_SIZE + 48)
static const char *name_of(const attn__node *n, int k, char text[NAME_SIZE])
{
    const attn_tensor *x = n->in[k];
    int at = snprintf(text, NAME_SIZE, "input %d", k);
    if (x->params != NULL) {
        (void)snprintf(text + at, (size_t)(NAME_SIZE - at), ", parameter '%s'", ATTN__QUOTE(attn_params_name(x->params, x->param)));
    }
    return text;
}

attn_status attn__check_output(attn__node *n)
{
    int64_t i = n->op->moves ? -1 : find(n->out, n->out->data, false);
    if (i >= 0 && ATTN__K(n)->get(n->out->data, i) == -HUGE_VAL && brings_minus(n)) {
        i = find(n->out, n->out->data, true);
    }
    if (i < 0) {
        return ATTN_OK;
    }
    char name[NAME_SIZE], input[PLACE_SIZE], output[PLACE_SIZE];
    place_of(n->out, n->out->data, i, output);
    for (int pass_minus = 1; pass_minus >= 0; pass_minus--) { /* NaN and +infinity are the likelier causes */
        for (int k = 0; k < n->n_in; k++) {
            int64_t j = find(n->in[k], n->in[k]->data, pass_minus != 0);
            if (j >= 0) {
                return attn__op_fail(n, ATTN_ENONFINITE, "operation %lld, forward: output %s; %s %s", (long long)n->number, output,
                                     name_of(n, k, name), place_of(n->in[k], n->in[k]->data, j, input));
            }
        }
    }
    return attn__op_fail(n, ATTN_ENONFINITE, "operation %lld, forward: output %s, its inputs are finite", (long long)n->number, output);
}

static attn_status check_gradient(attn__node *n, int k, const char *when)
{
    const attn_tensor *x = n->in[k];
    int64_t i = find(x, x->grad, false);
    if (i < 0) {
        return ATTN_OK;
    }
    char name[NAME_SIZE], place[PLACE_SIZE];
    return attn__op_fail(n, ATTN_ENONFINITE, "operation %lld, backward: gradient of %s %s%s", (long long)n->number, name_of(n, k, name),
                         place_of(x, x->grad, i, place), when);
}

attn_status attn__check_gradients(attn__node *n)
{
    attn_status status = ATTN_OK;
    for (int k = 0; k < n->n_in && status == ATTN_OK; k++) {
        status = n->in[k]->needs_grad ? check_gradient(n, k, "") : ATTN_OK;
    }
    return status;
}

attn_status attn__check_start(attn__node *last, attn_tensor *y)
{
    int64_t i = find(y, y->grad, false);
    if (i >= 0) {
        char place[PLACE_SIZE];
        return attn__tape_fail(y->tape, ATTN_ENONFINITE, "backward: the gradient that comes in, %s", place_of(y, y->grad, i, place));
    }
    attn_status status = ATTN_OK;
    for (attn__node *n = last; n != NULL && status == ATTN_OK; n = n->previous) {
        for (int k = 0; k < n->n_in && status == ATTN_OK; k++) {
            const attn_tensor *x = n->in[k];
            status = x->needs_grad && x->params != NULL ? check_gradient(n, k, " before this pass") : ATTN_OK;
        }
    }
    return status;
}

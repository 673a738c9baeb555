/* The norm of all gradients together, and scaling them down to one. */
#include <float.h>
#include <math.h>

#include "nn/nn.h"

typedef struct norm {
    attn_params *p;
    double sum;     /* of squares */
    double largest; /* absolute gradient */
    double factor;
} norm;

static double squares(attn_params *p, int id, int64_t offset, int64_t n)
{
    return attn__kernels(attn_params_dtype(p))->sum_squares(n, attn__element(p, attn_params_grad(p, id), offset));
}

static void find_largest(void *ctx, int id, int64_t offset, int64_t n)
{
    norm *s = ctx;
    const attn__kernel_table *K = attn__kernels(attn_params_dtype(s->p));
    for (int64_t i = offset; i < offset + n; i++) {
        s->largest = fmax(s->largest, fabs(K->get(attn_params_grad(s->p, id), i)));
    }
}

static void add_squares_of_ratios(void *ctx, int id, int64_t offset, int64_t n)
{
    norm *s = ctx;
    const attn__kernel_table *K = attn__kernels(attn_params_dtype(s->p));
    for (int64_t i = offset; i < offset + n; i++) {
        double g = K->get(attn_params_grad(s->p, id), i) / s->largest;
        s->sum += g * g;
    }
}

static void scale_span(void *ctx, int id, int64_t offset, int64_t n)
{
    const norm *s = ctx;
    void *g = attn__element(s->p, attn_params_grad(s->p, id), offset);
    attn__kernels(attn_params_dtype(s->p))->scale(n, s->factor, g, g);
}

static double gradient_norm(attn_params *p)
{
    norm s = {.p = p, .sum = attn__params_sum(p, 1, squares)};
    if (isnan(s.sum) || (s.sum >= DBL_MIN / DBL_EPSILON && s.sum <= DBL_MAX)) {
        return sqrt(s.sum);
    }
    /* Squares of float64 gradients left the range of double: once more in units of the largest. */
    attn__params_spans(p, find_largest, &s);
    if (s.largest == 0 || isinf(s.largest)) {
        return s.largest;
    }
    s.sum = 0;
    attn__params_spans(p, add_squares_of_ratios, &s);
    return s.largest * sqrt(s.sum);
}

double attn_clip_grad_norm(attn_params *p, double max_norm)
{
    double before = gradient_norm(p);
    if (isfinite(before) && max_norm > 0 && before > max_norm) {
        norm s = {.p = p, .factor = max_norm / before};
        attn__params_tiles(p, 1, scale_span, &s);
    }
    return before;
}

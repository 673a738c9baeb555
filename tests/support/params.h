/* Single elements of parameters, as doubles of either dtype. */
#ifndef ATTN_TEST_PARAMS_H
#define ATTN_TEST_PARAMS_H

#include "core/core.h"

static inline double get(attn_params *p, const void *array, int64_t i)
{
    return attn__kernels(attn_params_dtype(p))->get(array, i);
}

static inline double value(attn_params *p, int id, int64_t i)
{
    return get(p, attn_params_value(p, id), i);
}

static inline double grad(attn_params *p, int id, int64_t i)
{
    return get(p, attn_params_grad(p, id), i);
}

static inline void set_value(attn_params *p, int id, int64_t i, double x)
{
    attn__kernels(attn_params_dtype(p))->set(attn_params_value(p, id), i, x);
}

static inline void set_grad(attn_params *p, int id, int64_t i, double x)
{
    attn__kernels(attn_params_dtype(p))->set(attn_params_grad(p, id), i, x);
}

#endif

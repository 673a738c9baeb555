#include <math.h>

#include "core/core.h"

attn_shape attn_tensor_shape(const attn_tensor *x)
{
    return x != NULL ? x->shape : ATTN_SCALAR;
}

attn_dtype attn_tensor_dtype(const attn_tensor *x)
{
    return x != NULL ? x->dtype : ATTN_F32;
}

int64_t attn_tensor_count(const attn_tensor *x)
{
    return x != NULL ? x->count : 0;
}

void *attn_tensor_data(attn_tensor *x)
{
    return x != NULL ? x->data : NULL;
}

void *attn_tensor_grad(attn_tensor *x)
{
    return x != NULL && x->reached ? x->grad : NULL;
}

double attn_tensor_get(const attn_tensor *x, int64_t index)
{
    return x != NULL && index >= 0 && index < x->count ? attn__kernels(x->dtype)->get(x->data, index) : NAN;
}

double attn_tensor_get_grad(const attn_tensor *x, int64_t index)
{
    bool there = x != NULL && x->reached && index >= 0 && index < x->count;
    return there ? attn__kernels(x->dtype)->get(x->grad, index) : NAN;
}

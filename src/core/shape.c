#include <stdio.h>

#include "core/core.h"

size_t attn_dtype_size(attn_dtype dtype)
{
    return dtype == ATTN_F32 ? sizeof(float) : sizeof(double);
}

const char *attn_dtype_name(attn_dtype dtype)
{
    return dtype == ATTN_F32 ? "float32" : "float64";
}

int64_t attn_shape_count(attn_shape shape)
{
    if (shape.rank < 0 || shape.rank > ATTN_MAX_DIMS) {
        return -1;
    }
    int64_t product = 1; /* without zeros */
    bool empty = false;
    for (int i = 0; i < shape.rank; i++) {
        int64_t d = shape.dim[i];
        if (d < 0 || (d > 0 && product > INT64_MAX / d)) {
            return -1;
        }
        empty = empty || d == 0;
        product *= d > 0 ? d : 1;
    }
    return empty ? 0 : product;
}

bool attn_shape_equal(attn_shape a, attn_shape b)
{
    bool equal = a.rank == b.rank;
    for (int i = 0; equal && i < a.rank && i < ATTN_MAX_DIMS; i++) {
        equal = a.dim[i] == b.dim[i];
    }
    return equal;
}

_Static_assert(ATTN_MAX_DIMS == 4, "ATTN_SHAPE_TEXT has room for four dimensions of 20 digits");

const char *attn_shape_format(attn_shape shape, char text[ATTN_SHAPE_TEXT])
{
    int at = snprintf(text, ATTN_SHAPE_TEXT, "(");
    for (int i = 0; i < shape.rank && i < ATTN_MAX_DIMS; i++) {
        at += snprintf(text + at, (size_t)(ATTN_SHAPE_TEXT - at), "%s%lld", i > 0 ? "," : "", (long long)shape.dim[i]);
    }
    (void)snprintf(text + at, (size_t)(ATTN_SHAPE_TEXT - at), ")");
    return text;
}

attn_shape attn__index_of(attn_shape shape, int64_t i)
{
    attn_shape index = shape;
    for (int d = shape.rank - 1; d >= 0; d--) {
        index.dim[d] = i % shape.dim[d];
        i /= shape.dim[d];
    }
    return index;
}

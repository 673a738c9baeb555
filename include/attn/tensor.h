/* Shapes and tensors: row-major, contiguous arrays of float or double with at most four dimensions. */
#ifndef ATTN_TENSOR_H
#define ATTN_TENSOR_H

#include <stdbool.h>
#include <stdint.h>

#include "attn/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Type of the elements of a tensor. */
typedef enum attn_dtype {
    ATTN_F32, /* float */
    ATTN_F64, /* double */
} attn_dtype;

/** @return bytes of one element: 4 or 8 */
ATTN_API size_t attn_dtype_size(attn_dtype dtype);

/** @return "float32" or "float64", in static storage */
ATTN_API const char *attn_dtype_name(attn_dtype dtype);

#define ATTN_MAX_DIMS 4 /**< most dimensions of a tensor */

/** Extent of a tensor: `rank` dimensions, the last one contiguous. Rank 0 is a scalar with one element; a dimension may be 0. */
typedef struct attn_shape {
    int rank;                   /* 0 to ATTN_MAX_DIMS */
    int64_t dim[ATTN_MAX_DIMS]; /* >= 0; only the first `rank` count */
} attn_shape;

/** ATTN_SHAPE(2, 3) is the shape of a 2 x 3 matrix. */
#define ATTN_SHAPE(...) ((attn_shape){(int)(sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t)), {__VA_ARGS__}})
/** The shape of a scalar: one element, no dimension. */
#define ATTN_SCALAR ((attn_shape){0, {0}})

/** Room for any shape in words: "(2,3,4,5)". */
#define ATTN_SHAPE_TEXT 96

/** @return number of elements, or -1 if the rank or a dimension is invalid or the product of the dimensions other than 0 exceeds
 *          INT64_MAX (so that rows and pairs of an empty tensor can be counted too) */
ATTN_API int64_t attn_shape_count(attn_shape shape);

/** @param a a shape   @param b another   @return whether rank and dimensions are the same */
ATTN_API bool attn_shape_equal(attn_shape a, attn_shape b);

/** A shape in words. @param text receives "(2,3)"   @return `text` */
ATTN_API const char *attn_shape_format(attn_shape shape, char text[ATTN_SHAPE_TEXT]);

/** A tensor on a tape. Owned by the tape that made it; valid until that tape is reset or freed. */
typedef struct attn_tensor attn_tensor;

ATTN_API attn_shape attn_tensor_shape(const attn_tensor *x); /* its shape */
ATTN_API attn_dtype attn_tensor_dtype(const attn_tensor *x); /* type of its elements */
ATTN_API int64_t attn_tensor_count(const attn_tensor *x);    /* number of its elements */

/** The elements, row-major. Writable, so that an input can be refilled before the tape is reset; values that later operations have used
 * must not be changed before the backward pass.
 * @return attn_tensor_count numbers of the tensor's dtype, owned by the tape */
ATTN_API void *attn_tensor_data(attn_tensor *x);

/** @return the gradient, laid out as the data; NULL if no backward pass has reached the tensor or it needs no gradient */
ATTN_API void *attn_tensor_grad(attn_tensor *x);

/** One element. @param index row-major   @return as a double; NaN when x is NULL or the index lies outside */
ATTN_API double attn_tensor_get(const attn_tensor *x, int64_t index);

/** Gradient of one element. @param index row-major   @return as a double; NaN when there is none */
ATTN_API double attn_tensor_get_grad(const attn_tensor *x, int64_t index);

#ifdef __cplusplus
}
#endif
#endif

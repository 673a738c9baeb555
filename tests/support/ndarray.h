/* Arrays of any number of dimensions from .npy files, as doubles. */
#ifndef ATTN_TEST_NDARRAY_H
#define ATTN_TEST_NDARRAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ND_MAX_DIMS 8
/* Room for a reason, and for a shape in words. */
#define ND_MESSAGE    256
#define ND_SHAPE_TEXT 176

typedef struct ndarray {
    int rank;
    int64_t dim[ND_MAX_DIMS], count;
    const char *dtype; /* "float32", "float64", "int32", "int64" or "bool" */
    double *values;    /* row-major, of malloc's; NULL: no array */
} ndarray;

/* An array of zeros, "float32". */
ndarray nd_new(int rank, const int64_t dim[]);
void nd_free(ndarray *a);

/* "(2,3)" */
const char *nd_shape(const ndarray *a, char text[ND_SHAPE_TEXT]);

/* Reads a file (versions 1 to 3; little-endian float32, float64, int32, int64, or bool; C order). False with a reason on failure; the
 * array is then empty. */
bool nd_read(const char *path, ndarray *a, char why[ND_MESSAGE]);

#endif

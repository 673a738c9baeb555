/* Arithmetic on raw arrays, per dtype and instruction set. Knows nothing of tensors. Not installed. */
#ifndef ATTN_KERNELS_H
#define ATTN_KERNELS_H

#if (defined(__FAST_MATH__) && __FAST_MATH__) || (defined(__FINITE_MATH_ONLY__) && __FINITE_MATH_ONLY__)
#error "infinities and NaN mean something here: build without -ffast-math and -ffinite-math-only"
#elif defined(__ASSOCIATIVE_MATH__)
#error "the order of sums means something here: build without -fassociative-math and -funsafe-math-optimizations"
#elif defined(__clang__)
#pragma clang fp reassociate(off) /* clang has no such macro */
#endif

#include <stdint.h>

#include "attn/tensor.h"

/* A matrix (rows, columns) as panel_pack leaves it. A product may be with its first rows and columns alone. */
typedef struct attn__panels {
    const void *at;
    int64_t rows, columns;
} attn__panels;

/* The kernels of one dtype. */
typedef struct attn__kernel_table {
#define ATTN__KERNEL(result, name, arguments) result(*name) arguments;
#include "kernels/kernels.def"
#undef ATTN__KERNEL
} attn__kernel_table;

/* The kernels of one instruction set. */
typedef struct attn__kernel_set {
    const char *name;
    attn__kernel_table f32, f64;
} attn__kernel_set;

/* Variants; NULL where the compiler was not told to build them (see variant.inc). */
extern const attn__kernel_set *const attn__kernels_baseline;
extern const attn__kernel_set *const attn__kernels_v3;
extern const attn__kernel_set *const attn__kernels_v4;

/* The set chosen for this machine, once; any thread. */
const attn__kernel_set *attn__kernel_set_chosen(void);
const attn__kernel_table *attn__kernels(attn_dtype dtype);

#endif

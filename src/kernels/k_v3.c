/* Kernels for x86-64-v3 (AVX2, FMA); CMake compiles this file with the flags of that level. */
#if defined(__AVX2__) && defined(__FMA__)
#define ATTN__VARIANT v3
#include "kernels/variant.inc"
#else
#include "kernels/kernels.h"
const attn__kernel_set *const attn__kernels_v3 = NULL;
#endif

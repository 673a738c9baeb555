/* Kernels for x86-64-v4 (AVX-512); CMake compiles this file with the flags of that level. */
#if defined(__AVX512F__) && defined(__AVX512VL__)
#define ATTN__VARIANT v4
#include "kernels/variant.inc"
#else
#include "kernels/kernels.h"
const attn__kernel_set *const attn__kernels_v4 = NULL;
#endif

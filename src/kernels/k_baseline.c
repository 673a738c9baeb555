/* Kernels for the compilation target as it is: any x86-64 (SSE2), any aarch64 (NEON). */
#define ATTN__VARIANT baseline
#include "kernels/variant.inc"

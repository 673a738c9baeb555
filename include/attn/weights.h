/* Looking at weights, besides attn_weights_describe. */
#ifndef ATTN_WEIGHTS_H
#define ATTN_WEIGHTS_H

#include "attn/tensor.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Mean of the heads, for a picture of all of them: mean[b,i,j] = 1/H sum over h of weights[b,h,i,j]. Rows sum to 1 as those of the heads
 * do.
 * @param weights (B,H,Tq,Tk)   @param mean receives B Tq Tk numbers
 * @errors ATTN_ESHAPE for any other rank, or NULL; nothing is written */
ATTN_API ATTN_NODISCARD attn_status attn_weights_mean_heads(const attn_tensor *weights, double *mean);

#ifdef __cplusplus
}
#endif
#endif

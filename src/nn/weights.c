#include "attn/weights.h"

attn_status attn_weights_mean_heads(const attn_tensor *weights, double *mean)
{
    attn_shape s = attn_tensor_shape(weights);
    if (s.rank != 4) {
        return ATTN_ESHAPE;
    }
    int64_t heads = s.dim[1], pairs = s.dim[2] * s.dim[3];
    for (int64_t i = 0; i < s.dim[0] * pairs; i++) {
        double sum = 0;
        for (int64_t h = 0; h < heads; h++) {
            sum += attn_tensor_get(weights, (i / pairs * heads + h) * pairs + i % pairs);
        }
        mean[i] = heads > 0 ? sum / (double)heads : 0;
    }
    return ATTN_OK;
}

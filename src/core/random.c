#include <math.h>

#include "attn/random.h"

#include "kernels/philox.h"

void attn_random_block(uint64_t seed, uint64_t stream, uint64_t position, uint32_t out[4])
{
    attn__lane w[4];
    attn__philox(seed, stream, position, 1, w, w + 1, w + 2, w + 3);
    for (int i = 0; i < 4; i++) {
        out[i] = (uint32_t)w[i];
    }
}

static double unit(uint32_t high, uint32_t low)
{
    return (double)((((uint64_t)high << 32) | low) >> 11) * 0x1p-53;
}

double attn_random_uniform(uint64_t seed, uint64_t stream, uint64_t position)
{
    uint32_t w[4];
    attn_random_block(seed, stream, position, w);
    return unit(w[0], w[1]);
}

double attn_random_normal(uint64_t seed, uint64_t stream, uint64_t position)
{
    uint32_t w[4];
    attn_random_block(seed, stream, position, w);
    /* 1 - u is in (0, 1], so its logarithm is finite. */
    return sqrt(-2 * log(1 - unit(w[0], w[1]))) * cos(6.283185307179586477 * unit(w[2], w[3]));
}

uint64_t attn_random_below(uint64_t seed, uint64_t stream, uint64_t position, uint64_t bound)
{
    double u = attn_random_uniform(seed, stream, position);
    uint64_t i = (uint64_t)(u * (double)bound);
    return bound == 0 ? 0 : i < bound ? i : bound - 1;
}

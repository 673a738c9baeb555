#include <math.h>

#include "attn/random.h"

/* Philox 4x32 with 10 rounds; constants from Salmon et al. 2011, table 2 and section 3.3. */
void attn_random_block(uint64_t seed, uint64_t stream, uint64_t position, uint32_t out[4])
{
    uint32_t c0 = (uint32_t)position, c1 = (uint32_t)(position >> 32), c2 = (uint32_t)stream, c3 = (uint32_t)(stream >> 32);
    uint32_t k0 = (uint32_t)seed, k1 = (uint32_t)(seed >> 32);
    for (int round = 0; round < 10; round++) {
        uint64_t p0 = (uint64_t)0xD2511F53U * c0, p1 = (uint64_t)0xCD9E8D57U * c2;
        c0 = (uint32_t)(p1 >> 32) ^ c1 ^ k0;
        c1 = (uint32_t)p1;
        c2 = (uint32_t)(p0 >> 32) ^ c3 ^ k1;
        c3 = (uint32_t)p0;
        k0 += 0x9E3779B9U;
        k1 += 0xBB67AE85U;
    }
    out[0] = c0;
    out[1] = c1;
    out[2] = c2;
    out[3] = c3;
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

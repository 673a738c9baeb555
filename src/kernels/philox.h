/* Philox 4x32 with 10 rounds, for several positions at a time so that the compiler can use vectors.
 * Source: Salmon, Moraes, Dror, Shaw 2011, "Parallel random numbers: as easy as 1, 2, 3", table 2 and section 3.3. */
#ifndef ATTN_PHILOX_H
#define ATTN_PHILOX_H

#include <stdint.h>

/* The most useful number of positions at a time. */
#define ATTN__LANES 16

/* A word between rounds, of which the low 32 bits count. With AVX-512 a product of 64 bits is one instruction; elsewhere compilers make
 * such products of 32-bit words in fewer instructions than of 64-bit ones. */
#ifdef __AVX512DQ__
typedef uint64_t attn__lane;
#else
typedef uint32_t attn__lane;
#endif

/* Blocks position .. position + lanes - 1 (lanes is a constant): block i is the four words c0[i], c1[i], c2[i], c3[i]. */
static inline void attn__philox(uint64_t seed, uint64_t stream, uint64_t position, int lanes, attn__lane *restrict c0,
                                attn__lane *restrict c1, attn__lane *restrict c2, attn__lane *restrict c3)
{
    uint32_t k0 = (uint32_t)seed, k1 = (uint32_t)(seed >> 32);
    for (int i = 0; i < lanes; i++) {
        uint64_t p = position + (uint64_t)i;
        c0[i] = (uint32_t)p;
        c1[i] = (uint32_t)(p >> 32);
        c2[i] = (uint32_t)stream;
        c3[i] = (uint32_t)(stream >> 32);
    }
    for (int round = 0; round < 10; round++) {
        for (int i = 0; i < lanes; i++) {
            uint64_t p0 = (uint64_t)0xD2511F53U * (uint32_t)c0[i], p1 = (uint64_t)0xCD9E8D57U * (uint32_t)c2[i];
            c0[i] = (attn__lane)(p1 >> 32) ^ c1[i] ^ k0;
            c1[i] = (attn__lane)p1;
            c2[i] = (attn__lane)(p0 >> 32) ^ c3[i] ^ k1;
            c3[i] = (attn__lane)p0;
        }
        k0 += 0x9E3779B9U;
        k1 += 0xBB67AE85U;
    }
}

#endif

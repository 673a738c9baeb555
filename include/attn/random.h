/* Counter-based random numbers (Philox 4x32-10): a value is a pure function of seed, stream and position, so any thread can
 * compute any of them at any time and a run can be resumed anywhere.
 * @see Salmon, Moraes, Dror, Shaw 2011, "Parallel random numbers: as easy as 1, 2, 3", SC'11. */
#ifndef ATTN_RANDOM_H
#define ATTN_RANDOM_H

#include <stdint.h>

#include "attn/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Four independent words. No state.  @param stream which sequence   @param position place in it   @param out receives the words */
ATTN_API void attn_random_block(uint64_t seed, uint64_t stream, uint64_t position, uint32_t out[4]);

/** @param stream which sequence   @param position place in it   @return uniform in [0, 1), a multiple of 2^-53 */
ATTN_API double attn_random_uniform(uint64_t seed, uint64_t stream, uint64_t position);

/** @param stream which sequence   @param position place in it   @return normal with mean 0 and standard deviation 1, by Box and Muller's
 * transform (1958) */
ATTN_API double attn_random_normal(uint64_t seed, uint64_t stream, uint64_t position);

/** @param stream which sequence   @param position place in it   @param bound end of the range
 * @return integer in [0, bound), unbiased enough for shuffling (bias below 2^-32 for bound < 2^32); 0 when bound is 0 */
ATTN_API uint64_t attn_random_below(uint64_t seed, uint64_t stream, uint64_t position, uint64_t bound);

#ifdef __cplusplus
}
#endif
#endif

/* The one parallel loop. Threads only choose which tile to work on; what a tile computes and in which order never depends on them. */
#include "core/core.h"

#ifdef _OPENMP
#include <omp.h>
#endif

/* Elementary operations below which starting threads costs more than it saves. */
#define WORTH_THREADS 60000.0

int attn_default_threads(void)
{
#ifdef _OPENMP
    int limit = omp_get_max_threads(), processors = omp_get_num_procs();
    return limit < processors ? limit : processors;
#else
    return 1;
#endif
}

bool attn_has_threads(void)
{
#ifdef _OPENMP
    return true;
#else
    return false;
#endif
}

void attn__parallel(int threads, int64_t tiles, double cost, attn__tile_fn fn, void *ctx)
{
#ifdef _OPENMP
    if (threads != 1 && tiles > 1 && (double)tiles * cost >= WORTH_THREADS && !omp_in_parallel()) {
        threads = threads > 0 ? threads : attn_default_threads();
#pragma omp parallel for schedule(dynamic, 1) num_threads(threads)
        for (int64_t tile = 0; tile < tiles; tile++) {
            fn(ctx, tile);
        }
        return;
    }
#else
    (void)threads;
    (void)cost;
#endif
    for (int64_t tile = 0; tile < tiles; tile++) {
        fn(ctx, tile);
    }
}

int64_t attn__tiles(int64_t n, int64_t grain)
{
    return n / grain + (n % grain != 0);
}

attn__span attn__range(int64_t n, int64_t grain, int64_t tile)
{
    int64_t begin = tile * grain;
    return (attn__span){begin, n - begin < grain ? n : begin + grain};
}

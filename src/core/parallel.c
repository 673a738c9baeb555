/* The one parallel loop. Threads only choose which tile to work on; what a tile computes and in which order never depends on them. */
#include "core/core.h"

#ifdef _OPENMP
#include <omp.h>
#endif

/* Work below which threads cost more than they save: a busy machine, whose threads wait for each other, loses far more than a quiet one can
 * gain. In elementary operations of about a third of a nanosecond. */
#define WORTH_THREADS 1e6

/* OpenMP ends the process when it cannot start as many threads as it is asked for. */
#define MOST_THREADS 256

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

#ifdef _OPENMP
static int threads_for(int threads, int64_t tiles)
{
    threads = threads <= 0 ? attn_default_threads() : threads < MOST_THREADS ? threads : MOST_THREADS;
    return threads < tiles ? threads : (int)tiles;
}
#endif

void attn__parallel(int threads, int64_t tiles, double cost, attn__tile_fn fn, void *ctx)
{
#ifdef _OPENMP
    bool worth = threads < 0 || (double)tiles * cost >= WORTH_THREADS;
    if (threads != 1 && tiles > 1 && worth && !omp_in_parallel()) {
        threads = threads_for(threads < 0 ? -threads : threads, tiles);
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

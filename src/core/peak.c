/* The peak speed of the arithmetic. */
#include "attn/tape.h"
#include "core/core.h"

typedef struct rounds {
    const attn__kernel_table *K;
    int64_t n;
} rounds;

static void run(void *ctx, int64_t tile)
{
    const rounds *r = ctx;
    double sum;
    (void)tile;
    (void)r->K->fma_rounds(r->n, &sum);
}

double attn_fma_rounds(attn_dtype dtype, int64_t n, int threads)
{
    rounds r = {attn__kernels(dtype), n};
    double sum, operations = r.K->fma_rounds(1, &sum); /* of one round */
    threads = threads > 0 ? threads : attn_default_threads();
    attn__parallel(-threads, threads, 0, run, &r);
    return operations * (double)n * (double)threads;
}

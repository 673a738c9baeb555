/* The one parallel loop. Threads only choose which tile to work on; what a tile computes and in which order never depends on them. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "core/core.h"

#ifdef _OPENMP
#include <omp.h>
#include <pthread.h>
#endif

/* Work below which threads cost more than they save: a busy machine, whose threads wait for each other, loses far more than a quiet one can
 * gain. In elementary operations of about a third of a nanosecond. */
#define WORTH_THREADS 1e6

/* OpenMP ends the process when it cannot start as many threads as it is asked for. */
#define MOST_THREADS 256

bool attn__asks_for_threads(const char *text)
{
    char *end = NULL;
    long n = text != NULL ? strtol(text, &end, 10) : 0;
    return n > 0 && strchr(", \t", *end) != NULL; /* also the zero byte; what follows a comma is for regions within regions */
}

#ifdef _OPENMP
static int allowed; /* to use of the processors' time, unless the user has asked for a number of threads */
static pthread_once_t allowed_once = PTHREAD_ONCE_INIT;

static void find_allowed(void)
{
    allowed = attn__asks_for_threads(getenv("OMP_NUM_THREADS")) ? 0 : attn__quota("/proc/self", "cgroup", "/sys/fs/cgroup");
}

static int least(int a, int b)
{
    return a < b ? a : b;
}
#endif

int attn_default_threads(void)
{
#ifdef _OPENMP
    (void)pthread_once(&allowed_once, find_allowed);
    int limit = omp_get_max_threads(); /* LLVM's runtime makes any number of a variable that holds none */
    int threads = limit > 0 ? least(limit, MOST_THREADS) : MOST_THREADS;
    return allowed == 0 ? threads : least(threads, least(omp_get_num_procs(), allowed));
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

int attn__workers(int threads)
{
#ifdef _OPENMP
    threads = threads == 0 ? attn_default_threads() : threads < 0 ? -threads : threads;
    return threads < MOST_THREADS ? threads : MOST_THREADS;
#else
    (void)threads;
    return 1;
#endif
}

#ifdef _OPENMP
/* A fork copies the calling thread alone, and GCC's runtime would wait for ever for the others: a child of a process that has used them
 * works on one thread. */
static bool alone;
static pthread_once_t watch_once = PTHREAD_ONCE_INIT;

static void be_alone(void)
{
    alone = true;
}

static void watch_forks(void)
{
    (void)pthread_atfork(NULL, NULL, be_alone);
}

static bool may_start_threads(void)
{
    (void)pthread_once(&watch_once, watch_forks);
    return !alone && !omp_in_parallel();
}
#endif

void attn__parallel_workers(int threads, int64_t tiles, double cost, attn__worker_fn fn, void *ctx)
{
#ifdef _OPENMP
    bool worth = threads < 0 || (double)tiles * cost >= WORTH_THREADS;
    int workers = attn__workers(threads);
    if (workers > 1 && tiles > 1 && worth && may_start_threads()) {
        workers = workers < tiles ? workers : (int)tiles;
#pragma omp parallel for schedule(dynamic, 1) num_threads(workers)
        for (int64_t tile = 0; tile < tiles; tile++) {
            fn(ctx, tile, omp_get_thread_num());
        }
        return;
    }
#else
    (void)threads;
    (void)cost;
#endif
    for (int64_t tile = 0; tile < tiles; tile++) {
        fn(ctx, tile, 0);
    }
}

typedef struct plain {
    attn__tile_fn fn;
    void *ctx;
} plain;

static void call(void *ctx, int64_t tile, int worker)
{
    const plain *p = ctx;
    (void)worker;
    p->fn(p->ctx, tile);
}

void attn__parallel(int threads, int64_t tiles, double cost, attn__tile_fn fn, void *ctx)
{
    attn__parallel_workers(threads, tiles, cost, call, &(plain){fn, ctx});
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

/* The one parallel loop. Threads only choose which tile to work on; what a tile computes and in which order never depends on them. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/core.h"

#ifdef _OPENMP
#include <omp.h>
#include <pthread.h>
#include <stdatomic.h>
#endif

/* Work is in elementary operations of about a third of a nanosecond. Below the first number, a few times what it takes to start a loop,
 * threads cost more than they save; from the second on they are used even where they may have to wait. */
#define WORTH_THREADS 2e4
#define WORTH_WAITING 1e7

/* OpenMP ends the process when it cannot start as many threads as it is asked for. */
#define MOST_THREADS 256

bool attn__asks_for_threads(const char *text)
{
    char *end = NULL;
    long n = text != NULL ? strtol(text, &end, 10) : 0;
    return n > 0 && strchr(", \t", *end) != NULL; /* also the zero byte; what follows a comma is for regions within regions */
}

#ifdef _OPENMP
static int allowed; /* by processors and quota, unless the user has asked for a number of threads */
static pthread_once_t allowed_once = PTHREAD_ONCE_INIT;

static int least(int a, int b)
{
    return a < b ? a : b;
}

/* Once: each loop asks for its result, and it takes several calls of the system. OpenMP knows on which processors the process may run, but
 * LLVM's makes any number of a variable that holds none. */
static void find_allowed(void)
{
    bool asked = attn__asks_for_threads(getenv("OMP_NUM_THREADS"));
    long online = sysconf(_SC_NPROCESSORS_ONLN);
    int most = online > 0 && online < MOST_THREADS ? (int)online : MOST_THREADS;
    allowed = asked ? MOST_THREADS : least(most, attn__quota("/proc/self", "cgroup", "/sys/fs/cgroup"));
}
#endif

int attn_default_threads(void)
{
#ifdef _OPENMP
    (void)pthread_once(&allowed_once, find_allowed);
    int limit = omp_get_max_threads();
    return limit > 0 ? least(limit, allowed) : allowed;
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

/* Where other programs have taken a processor, the threads of a loop wait for the last of them as long as the scheduler lets the others
 * run: milliseconds, whatever the loop takes. After a loop so slow, the next ones do without threads, at each time twice as many as the
 * last time. Nobody's result depends on it, nor on several threads that count here at once. */
#define SLOW         (8 * 0.33e-9) /* seconds an operation */
#define LONGEST_REST 1023          /* loops */

static _Atomic int rest, resting;

static bool is_resting(void)
{
    int left = atomic_load_explicit(&resting, memory_order_relaxed);
    if (left > 0) {
        atomic_store_explicit(&resting, left - 1, memory_order_relaxed);
    }
    return left > 0;
}

static void judge(double seconds, double work)
{
    int length = atomic_load_explicit(&rest, memory_order_relaxed);
    if (seconds > SLOW * work) {
        length = length < LONGEST_REST ? 2 * length + 1 : LONGEST_REST;
        atomic_store_explicit(&resting, length, memory_order_relaxed);
    } else {
        length /= 2;
    }
    atomic_store_explicit(&rest, length, memory_order_relaxed);
}

/* The tiles that a thread takes first, alone on a line of the cache. */
typedef struct share {
    _Alignas(64) _Atomic int64_t next;
    int64_t end;
} share;

/* Each thread has a run of tiles of its own, the same in each loop of as many, so that it finds in its cache what it wrote in the loop
 * before; who has done his, helps the others. */
static void run_shares(int workers, int64_t tiles, attn__worker_fn fn, void *ctx)
{
    share shares[MOST_THREADS];
    int64_t each = tiles / workers, more = tiles % workers, begin = 0; /* the first `more` have one more than `each` */
    for (int w = 0; w < workers; w++) {
        atomic_init(&shares[w].next, begin);
        begin += each + (w < more);
        shares[w].end = begin;
    }
#pragma omp parallel num_threads(workers)
    {
        int me = omp_get_thread_num();
        for (int k = 0; k < workers; k++) {
            share *s = &shares[(me + k) % workers];
            for (int64_t tile; (tile = atomic_fetch_add_explicit(&s->next, 1, memory_order_relaxed)) < s->end;) {
                fn(ctx, tile, me);
            }
        }
    }
}
#endif

void attn__parallel_workers(int threads, int64_t tiles, double cost, attn__worker_fn fn, void *ctx)
{
#ifdef _OPENMP
    double work = (double)tiles * cost;
    bool always = threads < 0 || work >= WORTH_WAITING;
    int workers = attn__workers(threads);
    bool use = workers > 1 && tiles > 1 && (always || work >= WORTH_THREADS) && may_start_threads();
    if (use && (always || !is_resting())) {
        double begin = always ? 0 : omp_get_wtime();
        run_shares(workers < tiles ? workers : (int)tiles, tiles, fn, ctx);
        if (!always) {
            judge(omp_get_wtime() - begin, work);
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

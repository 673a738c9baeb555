/* How fast: the peak of the machine, and the median of many runs of a case. */
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>

#include "bench.h"

/* A case runs at least so often, unless this takes so many times the time that it is given. */
#define LEAST_RUNS 5
#define PATIENCE   20
#define MOST_RUNS  20000

/* So many rounds take a few milliseconds, on any machine: far longer than threads need to start. */
#define PEAK_ROUNDS   500000
#define FIRST_SECONDS 0.2
#define MORE_SECONDS  0.02

/* Elements of the arrays that are too large for the caches. */
#define FAR ((int64_t)1 << 24)

static double now(void)
{
    struct timespec t;
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* ---- the machine ---- */

static void find_cpu(char *name, size_t size)
{
    struct utsname system;
    char line[256];
    (void)snprintf(name, size, "%s", uname(&system) == 0 ? system.machine : "unknown");
    FILE *f = fopen("/proc/cpuinfo", "r");
    while (f != NULL && fgets(line, sizeof line, f) != NULL) {
        const char *colon = strchr(line, ':');
        if (strncmp(line, "model name", 10) == 0 && colon != NULL) {
            line[strcspn(line, "\n")] = '\0';
            (void)snprintf(name, size, "%s", colon[1] == ' ' ? colon + 2 : colon + 1);
            break;
        }
    }
    if (f != NULL) {
        (void)fclose(f);
    }
}

/* Of the first core: L3, or L2 where there is none. sysconf would tell that of the whole machine to a part of it. */
static long find_cache(void)
{
    long kilobytes = 0;
    for (int index = 3; index >= 2 && kilobytes == 0; index--) {
        char path[64], line[32];
        (void)snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu0/cache/index%d/size", index);
        FILE *f = fopen(path, "r");
        if (f != NULL) {
            kilobytes = fgets(line, sizeof line, f) != NULL ? strtol(line, NULL, 10) : 0;
            (void)fclose(f);
        }
    }
    return 1024 * kilobytes;
}

/* The best of many trials, of which there are some more before each case: other programs make a machine slower than it is, nothing makes it
 * faster. */
static void measure_peak(bench_machine *m, attn_dtype dtype, int threads)
{
    double *best = &m->peak[dtype][threads], seconds = *best == 0 ? FIRST_SECONDS : MORE_SECONDS;
    double start = now(), begin = start;
    while (begin - start < seconds) {
        double operations = attn_fma_rounds(dtype, PEAK_ROUNDS, threads), rate = operations / (now() - begin);
        *best = rate > *best ? rate : *best;
        begin = now();
    }
}

/* The sum of two arrays, which is the Add of J. D. McCalpin's STREAM: two numbers read and one written for each element. */
static double measure_bandwidth(int threads)
{
    double best = 0;
    attn_tape *t = attn_tape_new(NULL);
    for (int trial = 0; t != NULL && trial < 4; trial++) {
        attn_tape_reset(t);
        attn_tape_set_threads(t, threads);
        attn_tensor *a = attn_input(t, ATTN_F32, ATTN_SHAPE(FAR), NULL), *b = attn_input(t, ATTN_F32, ATTN_SHAPE(FAR), NULL);
        double begin = now();
        const attn_tensor *sum = attn_add(t, a, b);
        double rate = sum != NULL ? 3.0 * sizeof(float) * (double)FAR / (now() - begin) : 0;
        best = trial > 0 && rate > best ? rate : best; /* in the first one the sum's memory is new */
    }
    attn_tape_free(t);
    return best;
}

int bench_measure_machine(bench_machine *m, int threads, double seconds)
{
    *m = (bench_machine){.threads = threads, .seconds = seconds};
    find_cpu(m->cpu, sizeof m->cpu);
    m->cache = find_cache();
    (void)getloadavg(&m->load, 1);
    measure_peak(m, ATTN_F32, threads);
    measure_peak(m, ATTN_F64, threads);
    m->bandwidth = measure_bandwidth(threads);
    return m->bandwidth > 0 ? DONE : fail("out of memory");
}

/* ---- a case ---- */

/* Puts the inputs on an empty tape, where they may stay in a program too; then the time of forward and backward. */
static attn_status run_once(bench_run *r, double *seconds)
{
    attn_tape_reset(r->t);
    for (int i = 0; i < r->n; i++) {
        r->in[i] = (r->c->backward ? attn_variable : attn_input)(r->t, r->c->dtype, r->shape[i], r->data[i]);
    }
    if (r->c->backward && r->params != NULL) {
        attn_params_zero_grad(r->params);
    }
    double begin = now();
    attn_status status = r->c->work->run(r);
    if (status == ATTN_OK && r->c->backward && r->cotangent != NULL) {
        status = attn_backward_from(r->t, r->out, r->cotangent);
    }
    *seconds = now() - begin;
    return status;
}

/* The first run brings the shape of the output, the second memory for all the others. */
static attn_status warm_up(bench_run *r)
{
    double seconds;
    attn_status status = run_once(r, &seconds);
    if (status == ATTN_OK && r->c->backward) {
        int64_t n = attn_tensor_count(r->out);
        r->cotangent = calloc((size_t)n + 1, attn_dtype_size(r->c->dtype));
        for (int64_t i = 0; r->cotangent != NULL && i < n; i++) {
            double g = n == 1 ? 1 : attn_random_normal(4, 0, (uint64_t)i);
            if (r->c->dtype == ATTN_F32) {
                ((float *)r->cotangent)[i] = (float)g;
            } else {
                ((double *)r->cotangent)[i] = g;
            }
        }
        return r->cotangent != NULL ? run_once(r, &seconds) : ATTN_ENOMEM;
    }
    return status;
}

static int by_time(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Runs until the time is over and fills in median and least. */
static attn_status run_many(bench_run *r, double *times, double limit, bench_result *result)
{
    attn_status status = warm_up(r);
    int n = 0;
    for (double start = now(); status == ATTN_OK && n < MOST_RUNS; n++) {
        double passed = now() - start;
        if (n > 0 && passed >= (n < LEAST_RUNS ? PATIENCE * limit : limit)) {
            break;
        }
        status = run_once(r, &times[n]);
    }
    qsort(times, (size_t)n, sizeof *times, by_time);
    result->runs = n;
    result->median = n > 0 ? (times[(n - 1) / 2] + times[n / 2]) / 2 : 0;
    result->least = n > 0 ? times[0] : 0;
    return status;
}

/* Bytes of inputs, output and, going back, their gradients: on the tape, and together with those of parameters. */
static void count_bytes(const bench_run *r, bench_result *result)
{
    double elements = r->out != NULL ? (double)attn_tensor_count(r->out) : 0,
           bytes = (double)attn_dtype_size(r->c->dtype) * (r->c->backward ? 2 : 1);
    double parameters = r->params != NULL ? (double)attn_params_elements(r->params) : 0;
    for (int i = 0; i < r->n; i++) {
        elements += (double)attn_shape_count(r->shape[i]);
    }
    double used = (double)attn_tape_used(r->t);
    result->workspace = used > elements * bytes ? used - elements * bytes : 0;
    result->bytes = r->bytes > 0 ? r->bytes : (elements + parameters) * bytes;
    result->flops = r->flops;
}

int bench_measure_case(bench_machine *m, const bench_case *c, bench_result *result)
{
    const int threads = c->threads > 0 ? c->threads : m->threads;
    bench_run r = {.c = c, .threads = threads, .t = attn_tape_new(NULL)};
    double *times = malloc(MOST_RUNS * sizeof *times);
    attn_status status = ATTN_ENOMEM;
    *result = (bench_result){.c = c, .threads = threads};
    measure_peak(m, c->dtype, threads);
    if (times != NULL && r.t != NULL && c->work->prepare(&r)) {
        attn_tape_set_threads(r.t, threads);
        attn_tape_set_recording(r.t, c->backward);
        status = run_many(&r, times, m->seconds, result);
        count_bytes(&r, result);
    }
    const char *message = r.t != NULL && attn_tape_status(r.t) != ATTN_OK ? attn_tape_message(r.t) : r.error.message;
    int code = status == ATTN_OK ? DONE : fail("case '%s': %s", c->name, message[0] != '\0' ? message : attn_status_sentence(status));
    free(times);
    free(r.cotangent);
    free(r.ids);
    for (int i = 0; i < r.n; i++) {
        free(r.data[i]);
    }
    attn_tape_free(r.t);
    attn_optimizer_free(r.optimizer);
    attn_params_free(r.params);
    return code;
}

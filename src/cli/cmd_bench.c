/* attn bench [CASE...] */
#include <stdlib.h>
#include <string.h>

#include "bench.h"

#define SECONDS       0.5
#define QUICK_SECONDS 0.02

typedef struct arguments {
    char **words;
    int n, threads;
    double seconds;
    bool list, json;
} arguments;

enum { KEY_SECONDS = KEY_FIRST, KEY_QUICK, KEY_LIST };

static const struct argp_option options[] = {
    {"seconds", KEY_SECONDS, "X", 0, "Time to measure each case in (default 0.5); 5 runs at least, unless they take 20 times as long", 0},
    {"quick", KEY_QUICK, NULL, 0, "The same as --seconds 0.02", 0},
    OPTION_THREADS(0),
    {"list", KEY_LIST, NULL, 0, "Print the names of the cases and measure nothing", 0},
    {"json", 'j', NULL, 0, "Print one JSON object, schema attn.bench/1", 0},
    {0},
};

static error_t parse_option(int key, char *text, struct argp_state *state)
{
    arguments *a = state->input;
    switch (key) {
    case KEY_SECONDS:
        a->seconds = parse_real("seconds", text, 1e-3, 3600, state);
        return 0;
    case KEY_QUICK:
        a->seconds = QUICK_SECONDS;
        return 0;
    case KEY_LIST:
        a->list = true;
        return 0;
    case ARGP_KEY_ARG:
        a->words = rest_of_arguments(state, &a->n);
        return 0;
    default:
        return parse_common(key, text, state, (common_options){.json = &a->json, .threads = &a->threads});
    }
}

static const struct argp argp = {options,
                                 parse_option,
                                 "[CASE...]",
                                 "Measures the peak of this machine's arithmetic (multiply-adds in registers) and its memory bandwidth, "
                                 "then the speed of each case: the "
                                 "median of many runs, and what part of the peak that is.\v"
                                 "CASE is one of the standard cases (which are the default), the beginning of their names (dot, "
                                 "matmul/forward), any other sizes in a name "
                                 "of that form (dot/forward/B1-H2-L300-d32-causal; -f64 at the end for float64, -tN for N threads), or a "
                                 "set: standard, length, threads, "
                                 "heads, width (how speed and memory grow with these), all. --list tells what that means.\n\n"
                                 "forward_backward goes on to the gradients of all inputs and parameters. The workspace is the memory that "
                                 "the tape needs besides inputs, "
                                 "output and their gradients.",
                                 NULL,
                                 NULL,
                                 NULL};

/* ---- text ---- */

static void print_machine(const bench_machine *m)
{
    printf("%s, %s, %d thread%s: peak %.1f GFLOP/s in float32, %.1f in float64; memory %.1f GB/s; load %.2f\n", m->cpu, attn_isa(),
           m->threads, m->threads == 1 ? "" : "s", m->peak[0][m->threads] / 1e9, m->peak[1][m->threads] / 1e9, m->bandwidth / 1e9, m->load);
    printf("%-48s %10s %10s %8s %6s %7s %10s\n", "case", "median ms", "least ms", "GFLOP/s", "peak", "GB/s", "workspace");
    (void)fflush(stdout);
}

static double peak_fraction(const bench_machine *m, const bench_result *r)
{
    return r->flops / r->median / m->peak[r->c->dtype][r->threads];
}

static void print_case(const bench_machine *m, const bench_result *r)
{
    printf("%-48s %10.4f %10.4f %8.2f %5.1f%% %7.2f %7.2f MB\n", r->c->name, 1e3 * r->median, 1e3 * r->least, r->flops / r->median / 1e9,
           100 * peak_fraction(m, r), r->bytes / r->median / 1e9, r->workspace / 1e6);
    (void)fflush(stdout);
}

/* ---- JSON ---- */

static json_t *machine_to_json(const bench_machine *m)
{
    return json_pack("{s:s, s:s, s:i, s:f, s:f, s:f, s:I, s:f}", "cpu", m->cpu, "isa", attn_isa(), "threads", m->threads, "fma_peak_gflops",
                     m->peak[0][m->threads] / 1e9, "fma_peak_gflops_f64", m->peak[1][m->threads] / 1e9, "memory_gbytes_per_s",
                     m->bandwidth / 1e9, "cache_bytes", (json_int_t)m->cache, "load", m->load);
}

static json_t *case_to_json(const bench_machine *m, const bench_result *r)
{
    return json_pack("{s:s, s:f, s:f, s:f, s:f, s:I, s:i, s:i, s:s, s:f, s:f, s:f, s:f}", "name", r->c->name, "median_ms", 1e3 * r->median,
                     "min_ms", 1e3 * r->least, "gflops", r->flops / r->median / 1e9, "peak_fraction", peak_fraction(m, r),
                     "workspace_bytes", (json_int_t)r->workspace, "runs", r->runs, "threads", r->threads, "dtype",
                     attn_dtype_name(r->c->dtype), "flops", r->flops, "bytes", r->bytes, "gbytes_per_s", r->bytes / r->median / 1e9,
                     "memory_fraction", r->bytes / r->median / m->bandwidth);
}

static int print_all(const bench_machine *m, const bench_result *results, int n)
{
    json_t *cases = json_array();
    for (int i = 0; i < n; i++) {
        json_array_append_new(cases, case_to_json(m, &results[i]));
    }
    print_json(json_pack("{s:s, s:o, s:o}", "schema", "attn.bench/1", "machine", machine_to_json(m), "cases", cases));
    return DONE;
}

static int measure(const arguments *a, const bench_list *list)
{
    bench_machine m;
    bench_result *results = calloc((size_t)list->n, sizeof *results);
    int code = results != NULL ? bench_measure_machine(&m, a->threads, a->seconds) : fail("out of memory");
    if (code == DONE && !a->json) {
        print_machine(&m);
    }
    for (int i = 0; code == DONE && i < list->n; i++) {
        code = bench_measure_case(&m, &list->cases[i], &results[i]);
        if (code == DONE && !a->json) {
            print_case(&m, &results[i]);
        }
    }
    code = code == DONE && a->json ? print_all(&m, results, list->n) : code;
    free(results);
    return code;
}

int cmd_bench(int argc, char **argv)
{
    arguments a = {.seconds = SECONDS};
    bench_list list = {NULL, 0};
    parse(&argp, argc, argv, &a);
    note(a.threads < 2 || attn_has_threads(), "built without OpenMP: one thread is used, not %d", a.threads);
    a.threads = a.threads == 0 || !attn_has_threads() ? attn_default_threads() : a.threads < 256 ? a.threads : 256;
    int code = a.n > 0 ? DONE : bench_choose(&list, "standard", a.threads);
    for (int i = 0; code == DONE && i < a.n; i++) {
        code = bench_choose(&list, a.words[i], a.threads);
    }
    for (int i = 0; code == DONE && a.list && i < list.n; i++) {
        puts(list.cases[i].name);
    }
    if (code == DONE && !a.list) {
        code = measure(&a, &list);
    }
    free(list.cases);
    return code;
}

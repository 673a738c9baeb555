/* attn bench: which cases there are (bench_cases.c), what each of them does (bench_works.c), how long it takes (bench_measure.c). */
#ifndef ATTN_BENCH_H
#define ATTN_BENCH_H

#include "cli.h"

typedef struct bench_work bench_work;

/* One case, from its name: WORK/PASS/SIZES, as dot/forward_backward/B1-H8-L2048-d64-causal. */
typedef struct bench_case {
    char name[96];
    const bench_work *work;
    bool backward, causal;
    attn_dtype dtype;
    int threads;       /* 0: as many as --threads says */
    int64_t size[128]; /* by its letter; 0: not given */
} bench_case;

/* A case being run. A work's `prepare` fills in what stands after the tape. */
typedef struct bench_run {
    const bench_case *c;
    int threads;
    attn_tape *t;
    int n;               /* inputs */
    attn_shape shape[4]; /* of each input */
    void *data[4];       /* their values */
    attn_tensor *in[4];  /* the same on the tape, for this run */
    attn_tensor *out;    /* what the run computed; NULL: nothing to go back from */
    void *cotangent;     /* laid out as `out` */
    int32_t *ids;        /* class numbers, rows of a table */
    attn_params *params; /* NULL: none */
    const attn_attention *layer;
    attn_optimizer *optimizer;
    attn_attend_config attend;
    attn_error error; /* what the tape does not tell */
    double flops;     /* of one run */
    double bytes; /* that must pass between memory and processor in one run, at least; 0: inputs, output and their gradients, once each */
} bench_run;

struct bench_work {
    const char *name;
    const char *passes;               /* legal ones */
    const char *sizes;                /* as in a name, N for a number; in brackets what may be left out */
    bool (*prepare)(bench_run *r);    /* false: r->error tells why, or memory is out */
    attn_status (*run)(bench_run *r); /* forward: in[] to out */
};

/* What can be measured, up to one without a name. */
extern const bench_work bench_works[];

/* ---- bench_cases.c ---- */

typedef struct bench_list {
    bench_case *cases;
    int n;
} bench_list;

/* Adds what a word stands for: a set (standard, length, threads, heads, width, all), a case, or the standard cases that begin with it.
 * None is added twice. FAILED after a message if it stands for nothing. */
int bench_choose(bench_list *list, const char *word, int threads);

/* ---- bench_measure.c ---- */

typedef struct bench_machine {
    char cpu[128];
    int threads;
    double peak[2][257]; /* floating-point operations a second by dtype and threads, the best so far */
    double bandwidth;    /* bytes a second */
    long cache;          /* bytes of the largest cache; 0: unknown */
    double load;         /* processes that wanted to run in the minute before; many spoil a measurement */
    double seconds;      /* of measuring, a case */
} bench_machine;

typedef struct bench_result {
    const bench_case *c;
    int runs, threads;
    double median, least; /* seconds */
    double flops, bytes, workspace;
} bench_result;

/* Finds out what the machine can do; the peak of other dtypes and numbers of threads is measured when a case needs it. */
int bench_measure_machine(bench_machine *m, int threads, double seconds);
int bench_measure_case(bench_machine *m, const bench_case *c, bench_result *r);

#endif

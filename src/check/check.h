/* What the files of this folder share: the engine of gradient checking (engine.c). Not installed. */
#ifndef ATTN_CHECK_H
#define ATTN_CHECK_H

#include "attn/gradcheck.h"
#include "core/core.h"

/* What gradients hold before the backward pass: an operation that overwrites instead of adding loses it. */
#define ATTN__PREFILL 0.375

/* A tensor whose coordinates are moved. */
typedef struct attn__slot {
    char name[48];
    attn_shape shape;
    int64_t count;
    int64_t *pick, picked; /* the elements that are checked */
    double *values;
    double *numeric;        /* of pick[i]: (f(x+h) - f(x-h)) / 2h */
    const double *analytic; /* of all elements; NULL: none this time */
} attn__slot;

typedef struct attn__problem {
    attn_graph_fn fn;
    void *ctx;
    attn__slot *slots;
    int n;
    attn_params *params;                 /* NULL: the slots are inputs */
    int same[ATTN_GRADCHECK_MAX_INPUTS]; /* input i is passed as the tensor of input same[i] <= i */
    attn_gradcheck_config config;
    attn_tape *tape;
    attn__arena arena;
    double *cotangent;
    int64_t outputs;
    attn_gradcheck_report *report;
} attn__problem;

/* Writes the verdict and returns `status`. */
attn_status attn__check_refuse(attn__problem *p, attn_status status, const char *format, ...) ATTN_PRINTF(3, 4);
/* Fills in the defaults and allocates; then one slot for each input or parameter, with the elements to check. */
attn_status attn__check_open(attn__problem *p, const attn_gradcheck_config *config);
attn_status attn__check_slot(attn__problem *p, int k, const char *name, attn_shape shape, double *values);
void attn__check_pick(attn__slot *s, int64_t first, int64_t n, int64_t most);
attn_status attn__check_close(attn__problem *p, attn_status status);
/* The output's size and finiteness, and the random cotangent. */
attn_status attn__check_first_run(attn__problem *p);
/* Builds the graph; inputs whose bit in `needs` is set want a gradient, which starts at ATTN__PREFILL. NULL with the verdict set. */
attn_tensor *attn__check_build(attn__problem *p, unsigned needs, attn_tensor *leaf[]);
attn_status attn__check_failure(const attn__problem *p);
void attn__check_numeric(attn__problem *p);
/* One backward pass with this pattern, compared with the numeric gradient. */
attn_status attn__check_pattern(attn__problem *p, unsigned needs);
/* A check in which (nearly) nothing depends on the inputs proves nothing. */
bool attn__check_vacuous(const attn__problem *p);
/* The verdict of a check that ran to its end. */
attn_status attn__check_verdict(attn__problem *p);

#endif

/* The built-in cases of the operations. */
#include <stdio.h>
#include <string.h>

#include "attn/gradcheck.h"
#include "attn/random.h"
#include "ops/op.h"

static attn_tensor *build_case(attn_tape *t, attn_tensor *const inputs[], int n, void *ctx)
{
    const attn__case *c = ctx;
    (void)n;
    return c->build(t, inputs);
}

static attn_status check_case(const attn__case *c, const attn_gradcheck_config *config, attn_gradcheck_report *report)
{
    attn_gradcheck_input inputs[ATTN_GRADCHECK_MAX_INPUTS] = {{.name = NULL}};
    attn__arena arena;
    attn__arena_init(&arena, config != NULL ? config->allocator : NULL);
    attn_status status = ATTN_OK;
    for (int k = 0; k < c->n && status == ATTN_OK; k++) {
        int64_t count = attn_shape_count(c->shapes[k]);
        double *values = attn__arena_array(&arena, count, sizeof *values);
        for (int64_t i = 0; values != NULL && i < count; i++) {
            double u = attn_random_uniform(config != NULL ? config->seed : 0, (uint64_t)k + 1, (uint64_t)i);
            values[i] = c->low + (c->high - c->low) * u;
        }
        inputs[k] = (attn_gradcheck_input){.shape = c->shapes[k], .values = values};
        status = values != NULL ? ATTN_OK : ATTN_ENOMEM;
    }
    if (status == ATTN_OK) {
        status = attn_gradcheck(build_case, (void *)(uintptr_t)c, inputs, c->n, config, report);
    } else {
        memset(report, 0, sizeof *report);
        (void)snprintf(report->verdict, sizeof report->verdict, "out of memory");
    }
    attn__arena_free(&arena);
    return status;
}

/* Adds the report of one case to that of its operation. */
static void merge(attn_gradcheck_report *all, const attn_gradcheck_report *one)
{
    if ((one->failed > 0 && all->failed == 0) || ((one->failed > 0) == (all->failed > 0) && one->max_rel_error > all->max_rel_error) ||
        all->worst.tensor[0] == '\0') {
        all->worst = one->worst;
    }
    all->runs += one->runs;
    all->elements += one->elements;
    all->failed += one->failed;
    all->skipped += one->skipped;
    all->max_rel_error = one->max_rel_error > all->max_rel_error ? one->max_rel_error : all->max_rel_error;
}

attn_status attn_gradcheck_op(int op, const attn_gradcheck_config *config, int *cases, attn_gradcheck_report *report)
{
    const attn__op *o = attn__op_get(op);
    memset(report, 0, sizeof *report);
    *cases = 0;
    if (o == NULL || o->n_cases == 0) {
        (void)snprintf(report->verdict, sizeof report->verdict, o == NULL ? "no such operation" : "the operation has no cases");
        return ATTN_EINVAL;
    }
    attn_status first = ATTN_OK;
    for (int i = 0; i < o->n_cases; i++) {
        attn_gradcheck_report one;
        attn_status status = check_case(&o->cases[i], config, &one);
        merge(report, &one);
        (*cases)++;
        if (first == ATTN_OK) {
            first = status;
            (void)snprintf(report->verdict, sizeof report->verdict, "%s%s%.400s", status != ATTN_OK ? o->cases[i].name : "",
                           status != ATTN_OK ? ": " : "", one.verdict);
        }
    }
    return first;
}

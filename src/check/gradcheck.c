/* Checking functions of inputs. */
#include <stdio.h>
#include <string.h>

#include "check/check.h"

/* All patterns of a problem with inputs. */
static attn_status check_inputs(attn__problem *p)
{
    attn_status status = ATTN_OK;
    unsigned all = (1U << p->n) - 1;
    attn__check_numeric(p);
    for (unsigned needs = 1; needs <= all && status == ATTN_OK; needs++) {
        status = attn__check_pattern(p, needs);
    }
    if (status == ATTN_OK && attn__check_vacuous(p)) {
        return attn__check_refuse(p, ATTN_EINVAL, "vacuous: nearly all numeric gradients are 0, so nothing was checked");
    }
    for (int j = 1; j < p->n && status == ATTN_OK; j++) {
        for (int i = 0; i < j && status == ATTN_OK; i++) {
            if (attn_shape_equal(p->slots[i].shape, p->slots[j].shape)) {
                p->same[j] = i;
                attn__check_numeric(p);
                status = attn__check_pattern(p, all);
                p->same[j] = j;
            }
        }
    }
    return status;
}

attn_status attn_gradcheck(attn_graph_fn fn, void *ctx, const attn_gradcheck_input inputs[], int n, const attn_gradcheck_config *config,
                           attn_gradcheck_report *report)
{
    attn__problem p = {.fn = fn, .ctx = ctx, .n = n, .report = report};
    if (n < 1 || n > ATTN_GRADCHECK_MAX_INPUTS) {
        memset(report, 0, sizeof *report);
        return attn__check_refuse(&p, ATTN_EINVAL, "%d inputs, expected 1..%d", n, ATTN_GRADCHECK_MAX_INPUTS);
    }
    attn_status status = attn__check_open(&p, config);
    for (int i = 0; i < n && status == ATTN_OK; i++) {
        char name[48];
        (void)snprintf(name, sizeof name, "input %d", i);
        int64_t count = attn_shape_count(inputs[i].shape);
        if (count < 0) {
            status = attn__check_refuse(&p, ATTN_ESHAPE, "%s has an invalid shape", name);
            break;
        }
        double *copy = attn__arena_copy(&p.arena, inputs[i].values, (size_t)count * sizeof(double));
        status = attn__check_slot(&p, i, inputs[i].name != NULL ? inputs[i].name : name, inputs[i].shape, copy);
        if (status == ATTN_OK) {
            attn__check_pick(&p.slots[i], 0, count, 0);
        }
    }
    if (status == ATTN_OK) {
        status = attn__check_first_run(&p);
    }
    if (status == ATTN_OK) {
        status = check_inputs(&p);
    }
    return attn__check_close(&p, status == ATTN_OK ? attn__check_verdict(&p) : status);
}

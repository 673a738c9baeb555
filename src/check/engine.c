/* The engine of gradient checking. One problem = a function and its slots (inputs or parameters); its numeric gradient is computed once for
 * each pattern of repeated inputs and compared with the analytic one for each pattern of "needs a gradient". */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "attn/random.h"
#include "check/check.h"

attn_status attn__check_refuse(attn__problem *p, attn_status status, const char *format, ...)
{
    attn_error why;
    va_list args;
    va_start(args, format);
    (void)attn__vfail(&why, status, format, args);
    va_end(args);
    memcpy(p->report->verdict, why.message, sizeof why.message);
    return status;
}

/* ---- running the function ---- */

/* Builds the graph. Inputs whose bit in `needs` is set want a gradient, which starts at ATTN__PREFILL. NULL with the verdict set on error.
 */
attn_tensor *attn__check_build(attn__problem *p, unsigned needs, attn_tensor *leaf[])
{
    attn_tape *t = p->tape;
    attn_tape_reset(t);
    attn_tape_set_recording(t, needs != 0);
    for (int i = 0; i < p->n && p->params == NULL; i++) {
        const attn__slot *s = &p->slots[i];
        bool wants = (needs >> i & 1) != 0;
        leaf[i] = p->same[i] < i ? leaf[p->same[i]]
                  : wants        ? attn_variable(t, ATTN_F64, s->shape, s->values)
                                 : attn_input(t, ATTN_F64, s->shape, s->values);
        if (leaf[i] != NULL && wants && p->same[i] == i && (leaf[i]->grad = attn__tape_alloc(t, s->count, sizeof(double))) != NULL) {
            attn__kernels(ATTN_F64)->zero(s->count, leaf[i]->grad);
            attn__kernels(ATTN_F64)->shift(s->count, ATTN__PREFILL, leaf[i]->grad);
            leaf[i]->reached = true;
        }
    }
    attn_tensor *y = p->fn(t, leaf, p->params == NULL ? p->n : 0, p->ctx);
    if (y == NULL || attn_tape_status(t) != ATTN_OK) {
        (void)attn__check_refuse(p, attn_tape_status(t), "%s",
                                 attn_tape_status(t) != ATTN_OK ? attn_tape_message(t) : "the function returned no tensor");
        return NULL;
    }
    return y;
}

attn_status attn__check_failure(const attn__problem *p)
{
    attn_status status = attn_tape_status(p->tape);
    return status != ATTN_OK ? status : ATTN_EINVAL;
}

/* f = cotangent . output; NaN if the graph cannot be built. */
static double evaluate(attn__problem *p)
{
    attn_tensor *leaf[ATTN_GRADCHECK_MAX_INPUTS];
    attn_tensor *y = attn__check_build(p, 0, leaf);
    if (y == NULL || y->count != p->outputs) {
        return NAN;
    }
    double sum = 0;
    const double *data = y->data;
    for (int64_t i = 0; i < y->count; i++) {
        sum += p->cotangent[i] * data[i];
    }
    return sum;
}

static double evaluate_at(attn__problem *p, attn__slot *s, int64_t i, double x)
{
    double old = s->values[i];
    s->values[i] = x;
    double f = evaluate(p);
    s->values[i] = old;
    return f;
}

/* First run: the output's size, its finiteness, and a cotangent in +-[0.5, 1.5). */
attn_status attn__check_first_run(attn__problem *p)
{
    attn_tensor *leaf[ATTN_GRADCHECK_MAX_INPUTS];
    attn_tensor *y = attn__check_build(p, 0, leaf);
    if (y == NULL) {
        return attn__check_failure(p);
    }
    if (y->dtype != ATTN_F64) {
        return attn__check_refuse(p, ATTN_EDTYPE, "the function returned %s: gradients are checked in float64", attn_dtype_name(y->dtype));
    }
    int64_t bad = attn__kernels(ATTN_F64)->first_nonfinite(y->count, y->data);
    if (bad >= 0) {
        return attn__check_refuse(p, ATTN_ENONFINITE, "output element %lld is %g", (long long)bad, ((double *)y->data)[bad]);
    }
    p->outputs = y->count;
    p->cotangent = attn__arena_array(&p->arena, y->count, sizeof(double));
    if (p->cotangent == NULL) {
        return attn__check_refuse(p, ATTN_ENOMEM, "out of memory");
    }
    for (int64_t i = 0; i < y->count; i++) {
        double u = 2 * attn_random_uniform(p->config.seed, 0xC07A, (uint64_t)i) - 1;
        p->cotangent[i] = u < 0 ? u - 0.5 : u + 0.5;
    }
    return ATTN_OK;
}

static double step_of(const attn__problem *p, double x)
{
    return p->config.step * fmax(1, fabs(x));
}

/* Whether slot k has values of its own: an input that is passed as another one's tensor has not. */
static bool is_own(const attn__problem *p, int k)
{
    return p->params != NULL || p->same[k] == k;
}

/* (f(x + h) - f(x - h)) / 2h for element i */
static double central_difference(attn__problem *p, attn__slot *s, int64_t i, double h)
{
    double above = s->values[i] + h, below = s->values[i] - h;
    return (evaluate_at(p, s, i, above) - evaluate_at(p, s, i, below)) / (above - below);
}

void attn__check_numeric(attn__problem *p)
{
    for (int k = 0; k < p->n; k++) {
        attn__slot *s = &p->slots[k];
        for (int64_t i = 0; i < s->picked && is_own(p, k); i++) {
            s->numeric[i] = central_difference(p, s, s->pick[i], step_of(p, s->values[s->pick[i]]));
        }
    }
}

/* ---- judging ---- */

/* At a kink the slopes to the right and to the left differ by an amount that does not shrink with the step; a curve's difference does.
 * True if so and the analytic value lies between them. */
static bool is_kink(attn__problem *p, attn__slot *s, int64_t i, double analytic)
{
    double x = s->values[i], difference[2], low = 0, high = 0;
    for (int k = 0; k < 2; k++) {
        double h = step_of(p, x) / (k == 0 ? 1 : 4), f = evaluate_at(p, s, i, x);
        double right = (evaluate_at(p, s, i, x + h) - f) / h, left = (f - evaluate_at(p, s, i, x - h)) / h;
        difference[k] = fabs(right - left);
        low = fmin(left, right), high = fmax(left, right);
    }
    double slack = 1e-6 * fmax(1, fmax(fabs(low), fabs(high)));
    return difference[0] > 1e-3 * fmax(1e-3, fmax(fabs(low), fabs(high))) && difference[1] > 0.5 * difference[0] &&
           analytic >= low - slack && analytic <= high + slack;
}

static attn_gradcheck_point point_of(const attn__problem *p, const attn__slot *s, int64_t i, double analytic, double numeric)
{
    attn_gradcheck_point point = {.rank = s->shape.rank, .analytic = analytic, .numeric = numeric};
    (void)snprintf(point.tensor, sizeof point.tensor, "%s", s->name);
    memcpy(point.index, attn__index_of(s->shape, i).dim, sizeof point.index);
    double floor = p->config.atol / p->config.rtol;
    point.rel_error = fabs(analytic - numeric) / fmax(floor, fmax(fabs(analytic), fabs(numeric)));
    if (!isfinite(point.rel_error)) {
        point.rel_error = INFINITY;
    }
    return point;
}

static bool agree(const attn__problem *p, double analytic, double numeric)
{
    return isfinite(analytic) && isfinite(numeric) &&
           fabs(analytic - numeric) <= p->config.atol + p->config.rtol * fmax(fabs(analytic), fabs(numeric));
}

/* Element number `at` of those picked. */
static void compare(attn__problem *p, attn__slot *s, int64_t at)
{
    attn_gradcheck_report *r = p->report;
    int64_t i = s->pick[at];
    double analytic = s->analytic[i] - ATTN__PREFILL, numeric = s->numeric[at];
    bool right = agree(p, analytic, numeric);
    if (!right && isfinite(analytic)) { /* a kink between x - h and x + h spoils the difference, though not the gradient at x */
        double closer = central_difference(p, s, i, step_of(p, s->values[i]) / 8);
        right = agree(p, analytic, closer);
        numeric = right ? closer : numeric;
    }
    attn_gradcheck_point point = point_of(p, s, i, analytic, numeric);
    if (!right && isfinite(analytic) && is_kink(p, s, i, analytic)) {
        r->skipped++;
        s->numeric[at] = NAN; /* says nothing about vacuity */
        return;
    }
    r->elements++;
    if ((!right && r->failed == 0) || (right == (r->failed == 0) && point.rel_error > r->max_rel_error) || r->worst.tensor[0] == '\0') {
        r->worst = point;
    }
    r->max_rel_error = fmax(r->max_rel_error, point.rel_error);
    r->failed += !right;
}

/* One backward pass with this pattern, compared with the numeric gradient. */
attn_status attn__check_pattern(attn__problem *p, unsigned needs)
{
    attn_tensor *leaf[ATTN_GRADCHECK_MAX_INPUTS] = {NULL};
    attn_tensor *y = attn__check_build(p, needs, leaf);
    if (y == NULL) {
        return attn__check_failure(p);
    }
    p->report->runs++;
    if (!y->needs_grad) {
        /* legal: the output does not depend on these inputs, so their gradient is 0 */
    } else if (attn_backward_from(p->tape, y, p->cotangent) != ATTN_OK) {
        return attn__check_refuse(p, attn_tape_status(p->tape), "%s", attn_tape_message(p->tape));
    }
    for (int k = 0; k < p->n; k++) { /* gradients live on the tape, which judging a kink resets */
        attn__slot *s = &p->slots[k];
        bool wanted = is_own(p, k) && (p->params != NULL || (needs >> k & 1) != 0);
        const void *grad = p->params != NULL ? attn_params_grad(p->params, k) : wanted ? leaf[k]->grad : NULL;
        s->analytic = grad != NULL ? attn__arena_copy(&p->arena, grad, (size_t)s->count * sizeof(double)) : NULL;
        if (grad != NULL && s->analytic == NULL) {
            return attn__check_refuse(p, ATTN_ENOMEM, "out of memory");
        }
    }
    for (int k = 0; k < p->n; k++) {
        for (int64_t i = 0; p->slots[k].analytic != NULL && i < p->slots[k].picked; i++) {
            compare(p, &p->slots[k], i);
        }
    }
    return ATTN_OK;
}

/* A check in which (nearly) nothing depends on the inputs proves nothing. */
bool attn__check_vacuous(const attn__problem *p)
{
    int64_t all = 0, zero = 0, picked = 0;
    for (int k = 0; k < p->n; k++) {
        picked += p->slots[k].picked;
        for (int64_t i = 0; i < p->slots[k].picked; i++) {
            all += !isnan(p->slots[k].numeric[i]);
            zero += fabs(p->slots[k].numeric[i]) <= p->config.atol;
        }
    }
    return picked == 0 || (all > 0 && zero * 20 > all * 19);
}

attn_status attn__check_verdict(attn__problem *p)
{
    attn_gradcheck_report *r = p->report;
    const attn_gradcheck_point *w = &r->worst;
    if (r->failed > 0) {
        char index[ATTN_SHAPE_TEXT];
        attn_shape at = {.rank = w->rank};
        memcpy(at.dim, w->index, sizeof at.dim);
        return attn__check_refuse(p, ATTN_EMISMATCH, "gradient of %s at %s is wrong: analytic %.10g, numeric %.10g (%lld of %lld wrong)",
                                  w->tensor, attn_shape_format(at, index), w->analytic, w->numeric, (long long)r->failed,
                                  (long long)r->elements);
    }
    if (r->skipped > 0) {
        return attn__check_refuse(p, ATTN_OK, "ok, %lld skipped: not differentiable here", (long long)r->skipped);
    }
    return attn__check_refuse(p, ATTN_OK, "ok");
}

attn_status attn__check_open(attn__problem *p, const attn_gradcheck_config *config)
{
    memset(p->report, 0, sizeof *p->report);
    if (config != NULL) {
        p->config = *config;
    }
    p->config.step = p->config.step > 0 ? p->config.step : 6e-6;
    p->config.rtol = p->config.rtol > 0 ? p->config.rtol : 1e-6;
    p->config.atol = p->config.atol > 0 ? p->config.atol : 1e-8;
    for (int i = 0; i < ATTN_GRADCHECK_MAX_INPUTS; i++) {
        p->same[i] = i;
    }
    attn__arena_init(&p->arena, p->config.allocator);
    p->tape = attn_tape_new(p->config.allocator);
    p->slots = attn__arena_array(&p->arena, p->n, sizeof *p->slots);
    return p->tape != NULL && p->slots != NULL ? ATTN_OK : attn__check_refuse(p, ATTN_ENOMEM, "out of memory");
}

attn_status attn__check_close(attn__problem *p, attn_status status)
{
    attn_tape_free(p->tape);
    attn__arena_free(&p->arena);
    return status;
}

/* `values` is moved during the check and put back. */
attn_status attn__check_slot(attn__problem *p, int k, const char *name, attn_shape shape, double *values)
{
    attn__slot *s = &p->slots[k];
    *s = (attn__slot){.shape = shape, .count = attn_shape_count(shape), .values = values};
    (void)snprintf(s->name, sizeof s->name, "%s", name);
    s->numeric = attn__arena_array(&p->arena, s->count, sizeof(double));
    s->pick = attn__arena_array(&p->arena, s->count, sizeof *s->pick);
    return s->values != NULL && s->numeric != NULL && s->pick != NULL ? ATTN_OK : attn__check_refuse(p, ATTN_ENOMEM, "out of memory");
}

/* Picks at most `most` (0: all) of the elements first + 0 .. first + n - 1, evenly spaced. */
void attn__check_pick(attn__slot *s, int64_t first, int64_t n, int64_t most)
{
    int64_t stride = most > 0 ? attn__tiles(n, most) : 1;
    for (int64_t i = 0; i<n; i += stride> 0 ? stride : 1) {
        s->pick[s->picked++] = first + i;
    }
}

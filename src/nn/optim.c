/* Optimisers. State lies in flat blocks laid out as the values, one block a slot. */
#include <float.h>
#include <math.h>

#include "nn/nn.h"

#define MAX_SLOTS 2

/* What tells one optimiser from another. */
typedef struct rule {
    const char *name;
    int slots;
    const char *slot_name[MAX_SLOTS];
    attn__span_fn step; /* its context is a `step` */
    double cost;        /* elementary operations an element */
} rule;

struct attn_optimizer {
    attn_allocator allocator;
    attn_params *params;
    const rule *rule;
    union {
        attn_sgd_config sgd;
        attn_adamw_config adamw;
    } config;
    int64_t steps;
    void *state[MAX_SLOTS];
};

typedef struct step {
    attn_optimizer *o;
    double rate_factor;
    double correction1, correction2; /* AdamW: 1 / (1 - beta^n) */
} step;

static double decay_of(const attn_params *p, int id, double weight_decay)
{
    return attn_params_config(p, id).decay ? weight_decay : 0;
}

static void step_sgd(void *ctx, int id, int64_t offset, int64_t n)
{
    const step *s = ctx;
    const attn_sgd_config *c = &s->o->config.sgd;
    attn_params *p = s->o->params;
    attn__kernels(attn_params_dtype(p))
        ->sgd(n, c->learning_rate * s->rate_factor, c->momentum, decay_of(p, id, c->weight_decay),
              attn__element(p, attn_params_grad(p, id), offset), attn__element(p, attn_optimizer_slot(s->o, 0, id), offset),
              attn__element(p, attn_params_value(p, id), offset));
}

static void step_adamw(void *ctx, int id, int64_t offset, int64_t n)
{
    const step *s = ctx;
    const attn_adamw_config *c = &s->o->config.adamw;
    attn_params *p = s->o->params;
    attn__kernels(attn_params_dtype(p))
        ->adamw(n, c->learning_rate * s->rate_factor, c->beta1, c->beta2, c->epsilon, decay_of(p, id, c->weight_decay), s->correction1,
                s->correction2, attn__element(p, attn_params_grad(p, id), offset),
                attn__element(p, attn_optimizer_slot(s->o, 0, id), offset), attn__element(p, attn_optimizer_slot(s->o, 1, id), offset),
                attn__element(p, attn_params_value(p, id), offset));
}

static const rule sgd_rule = {"sgd", 1, {"momentum", NULL}, step_sgd, 1};
static const rule adamw_rule = {"adamw", 2, {"m", "v"}, step_adamw, 3};

/* Bytes from the first parameter's array to the parameter's own: the same in every flat block. */
static size_t place(attn_params *p, int id)
{
    return (size_t)((char *)attn_params_value(p, id) - (char *)attn_params_value(p, 0));
}

static size_t block_size(attn_params *p)
{
    int last = attn_params_count(p) - 1;
    return last < 0 ? 0 : place(p, last) + (size_t)attn_shape_count(attn_params_shape(p, last)) * attn_dtype_size(attn_params_dtype(p));
}

static attn_optimizer *create(attn_params *p, const rule *r, attn_error *error)
{
    const attn_allocator *allocator = attn__params_allocator(p);
    attn_optimizer *o = attn__calloc(allocator, 1, sizeof *o);
    bool ok = o != NULL;
    if (ok) {
        o->allocator = *allocator;
        o->params = p;
        o->rule = r;
    }
    for (int slot = 0; ok && slot < r->slots; slot++) {
        o->state[slot] = attn__calloc(allocator, 1, block_size(p));
        ok = o->state[slot] != NULL;
    }
    if (!ok) {
        (void)attn__fail(error, ATTN_ENOMEM, "%s: out of memory for the state", r->name);
        attn_optimizer_free(o);
        return NULL;
    }
    return o;
}

void attn_optimizer_free(attn_optimizer *o)
{
    if (o != NULL) {
        attn_allocator allocator = o->allocator;
        for (int slot = 0; slot < MAX_SLOTS; slot++) {
            attn__free(&allocator, o->state[slot]);
        }
        attn__free(&allocator, o);
    }
}

static bool is_built(const attn_params *p, const rule *r, attn_error *error)
{
    if (!attn__params_built(p)) {
        (void)attn__fail(error, ATTN_EINVAL, "%s: the parameters are not built, call attn_params_build first", r->name);
        return false;
    }
    return true;
}

/* low <= value < high, which a NaN fails. */
static bool in_range(const rule *r, const char *what, double value, double low, double high, attn_error *error)
{
    if (!(value >= low && value < high)) {
        (void)attn__fail(error, ATTN_EINVAL, "%s: %s is %g, expected at least %g and below %g", r->name, what, value, low, high);
        return false;
    }
    return true;
}

static double or_default(double value, double otherwise)
{
    return value == 0 ? otherwise : value;
}

attn_optimizer *attn_sgd_new(attn_params *p, attn_sgd_config c, attn_error *error)
{
    const rule *r = &sgd_rule;
    c.learning_rate = or_default(c.learning_rate, 0.01);
    bool ok = is_built(p, r, error) && in_range(r, "learning rate", c.learning_rate, 0, INFINITY, error) &&
              in_range(r, "momentum", c.momentum, 0, 1, error) && in_range(r, "weight decay", c.weight_decay, 0, INFINITY, error);
    attn_optimizer *o = ok ? create(p, r, error) : NULL;
    if (o != NULL) {
        o->config.sgd = c;
    }
    return o;
}

attn_optimizer *attn_adamw_new(attn_params *p, attn_adamw_config c, attn_error *error)
{
    const rule *r = &adamw_rule;
    c.learning_rate = or_default(c.learning_rate, 0.001);
    c.beta1 = or_default(c.beta1, 0.9);
    c.beta2 = or_default(c.beta2, 0.999);
    c.epsilon = or_default(c.epsilon, 1e-8);
    if (!is_built(p, r, error)) {
        return NULL;
    }
    /* An epsilon that vanishes in the parameters' dtype would divide 0 by 0 at the first zero gradient. */
    double smallest = attn_params_dtype(p) == ATTN_F32 ? (double)FLT_MIN : DBL_MIN;
    bool ok = in_range(r, "learning rate", c.learning_rate, 0, INFINITY, error) && in_range(r, "beta1", c.beta1, 0, 1, error) &&
              in_range(r, "beta2", c.beta2, 0, 1, error) && in_range(r, "epsilon", c.epsilon, smallest, INFINITY, error) &&
              in_range(r, "weight decay", c.weight_decay, 0, INFINITY, error);
    attn_optimizer *o = ok ? create(p, r, error) : NULL;
    if (o != NULL) {
        o->config.adamw = c;
    }
    return o;
}

/* The first parameter with a gradient that is not finite, and its smallest such index. */
typedef struct fault {
    attn_params *p;
    int id; /* -1: none */
    int64_t index;
} fault;

static void look_for_fault(void *ctx, int id, int64_t offset, int64_t n)
{
    fault *f = ctx;
    if (f->id >= 0 && f->id != id) {
        return;
    }
    int64_t i = attn__kernels(attn_params_dtype(f->p))->first_nonfinite(n, attn__element(f->p, attn_params_grad(f->p, id), offset));
    /* touched rows of a table come in any order */
    if (i >= 0 && (f->id < 0 || offset + i < f->index)) {
        f->id = id;
        f->index = offset + i;
    }
}

static double count_faults(attn_params *p, int id, int64_t offset, int64_t n)
{
    return attn__kernels(attn_params_dtype(p))->first_nonfinite(n, attn__element(p, attn_params_grad(p, id), offset)) >= 0;
}

static attn_status check_finite(attn_params *p, attn_error *error)
{
    if (attn__params_sum(p, 1, count_faults) == 0) {
        return ATTN_OK;
    }
    fault f = {.p = p, .id = -1};
    attn__params_spans(p, look_for_fault, &f);
    attn_shape shape = attn_params_shape(p, f.id);
    double value = attn__kernels(attn_params_dtype(p))->get(attn_params_grad(p, f.id), f.index);
    return attn__fail(error, ATTN_ENONFINITE, "gradient of '%s' %s is %g at %s: nothing was changed", attn_params_name(p, f.id),
                      ATTN__TEXT(shape), value, ATTN__TEXT(attn__index_of(shape, f.index)));
}

attn_status attn_optimizer_step(attn_optimizer *o, double rate_factor, attn_error *error)
{
    if (!in_range(o->rule, "rate factor", rate_factor, 0, INFINITY, error)) {
        return ATTN_EINVAL;
    }
    attn_status status = check_finite(o->params, error);
    if (status != ATTN_OK) {
        return status;
    }
    o->steps += o->steps < INT64_MAX; /* a checkpoint may claim any number */
    step s = {.o = o, .rate_factor = rate_factor};
    if (o->rule == &adamw_rule) {
        s.correction1 = 1 / (1 - pow(o->config.adamw.beta1, (double)o->steps));
        s.correction2 = 1 / (1 - pow(o->config.adamw.beta2, (double)o->steps));
    }
    attn__params_tiles(o->params, o->rule->cost, o->rule->step, &s);
    return ATTN_OK;
}

const attn_params *attn__optimizer_params(const attn_optimizer *o)
{
    return o->params;
}

const char *attn_optimizer_name(const attn_optimizer *o)
{
    return o->rule->name;
}

int64_t attn_optimizer_steps(const attn_optimizer *o)
{
    return o->steps;
}

void attn_optimizer_set_steps(attn_optimizer *o, int64_t steps)
{
    o->steps = steps > 0 ? steps : 0;
}

int attn_optimizer_slots(const attn_optimizer *o)
{
    return o->rule->slots;
}

static bool has_slot(const attn_optimizer *o, int slot)
{
    return slot >= 0 && slot < o->rule->slots;
}

const char *attn_optimizer_slot_name(const attn_optimizer *o, int slot)
{
    return has_slot(o, slot) ? o->rule->slot_name[slot] : NULL;
}

void *attn_optimizer_slot(attn_optimizer *o, int slot, int param)
{
    bool there = has_slot(o, slot) && param >= 0 && param < attn_params_count(o->params);
    return there ? (char *)o->state[slot] + place(o->params, param) : NULL;
}

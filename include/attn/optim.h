/* Optimisers, clipping and learning-rate schedules over the flat blocks of a parameter set. */
#ifndef ATTN_OPTIM_H
#define ATTN_OPTIM_H

#include "attn/params.h"

#ifdef __cplusplus
extern "C" {
#endif

/** What moves parameters along their gradients. */
typedef struct attn_optimizer attn_optimizer;

/** Stochastic gradient descent with momentum:  v = momentum v + g + decay w;  w = w - rate v.
 * @see Sutskever, Martens, Dahl, Hinton 2013, ICML (here in the form PyTorch uses) */
typedef struct attn_sgd_config {
    double learning_rate; /* [0.01] */
    double momentum;      /* [0] */
    double weight_decay;  /* [0]; only parameters that declare decay */
} attn_sgd_config;

/** AdamW:  m = b1 m + (1 - b1) g;  v = b2 v + (1 - b2) g^2;  w = w - rate (decay w + (m / (1 - b1^n)) / (sqrt(v / (1 - b2^n)) + epsilon)).
 * Sparse tables are stepped lazily: only rows touched since the last zeroing of the gradients move, with their stored moments;
 * n counts the optimiser's steps.
 * @see Loshchilov, Hutter 2019, arXiv:1711.05101; Kingma, Ba 2015, arXiv:1412.6980 */
typedef struct attn_adamw_config {
    double learning_rate; /* [0.001] */
    double beta1;         /* [0.9] */
    double beta2;         /* [0.999] */
    double epsilon;       /* [1e-8] */
    double weight_decay;  /* [0]; only parameters that declare decay */
} attn_adamw_config;

/** A new optimiser for a built set, which must outlive it. State starts at 0.
 * @param config rates   @return to be freed with attn_optimizer_free; NULL on error
 * @errors ATTN_EINVAL (a number out of range, set not built), ATTN_ENOMEM */
ATTN_API attn_optimizer *attn_sgd_new(attn_params *p, attn_sgd_config config, attn_error *error);

/** As attn_sgd_new.  @param config rates   @return to be freed with attn_optimizer_free; NULL on error   @errors as attn_sgd_new */
ATTN_API attn_optimizer *attn_adamw_new(attn_params *p, attn_adamw_config config, attn_error *error);

ATTN_API void attn_optimizer_free(attn_optimizer *o); /* Frees it, not the parameters; NULL is fine. */

/** One step with the gradients as they are. A step whose gradients are not all finite changes nothing.
 * @param rate_factor multiplies the learning rate (attn_schedule)
 * @errors ATTN_ENONFINITE naming the first such parameter and index, ATTN_EINVAL (rate_factor negative or not finite)
 * @cost O(elements); of sparse tables only the rows touched */
ATTN_API ATTN_NODISCARD attn_status attn_optimizer_step(attn_optimizer *o, double rate_factor, attn_error *error);

ATTN_API const char *attn_optimizer_name(const attn_optimizer *o); /* "sgd" or "adamw", in static storage */
ATTN_API int64_t attn_optimizer_steps(const attn_optimizer *o);    /* steps taken so far */

/** Sets the number of steps, as a checkpoint does. @param steps taken so far */
ATTN_API void attn_optimizer_set_steps(attn_optimizer *o, int64_t steps);

ATTN_API int attn_optimizer_slots(const attn_optimizer *o); /* state arrays for each parameter: 1 of SGD, 2 of AdamW */

/** @param slot counted from 0   @return "momentum" of SGD, "m" or "v" of AdamW, in static storage */
ATTN_API const char *attn_optimizer_slot_name(const attn_optimizer *o, int slot);

/** @param slot counted from 0   @param param number of the parameter   @return that state, of the shape and dtype of the values */
ATTN_API void *attn_optimizer_slot(attn_optimizer *o, int slot, int param);

/** Euclidean norm of all gradients together, to which they are cut down if it is larger than allowed. Zero gradients stay zero.
 * @param max_norm > 0; else nothing is scaled
 * @return the norm before clipping (infinity or NaN if a gradient is not finite: then nothing is scaled)
 * @see Pascanu, Mikolov, Bengio 2013, arXiv:1211.5063 */
ATTN_API double attn_clip_grad_norm(attn_params *p, double max_norm);

/** How the learning rate falls. */
typedef enum attn_decay {
    ATTN_DECAY_CONSTANT, /* not at all */
    ATTN_DECAY_LINEAR,   /* along a line */
    ATTN_DECAY_COSINE,   /* along half a wave */
} attn_decay;

/** A learning rate over time. */
typedef struct attn_schedule_config {
    attn_decay decay;     /* [constant] */
    int64_t warmup_steps; /* the factor rises as (step + 1) / warmup_steps */
    int64_t total_steps;  /* where the decay reaches its floor; must be given for linear and cosine */
    double floor;         /* smallest factor [0] */
} attn_schedule_config;

/** Learning-rate factor of a step:  min((step + 1) / warmup, max(floor, d)),  d = 1, 1 - step / total, or
 * (1 + cos(pi step / total)) / 2, with step / total at most 1. A missing total_steps gives NaN, which attn_optimizer_step refuses.
 * @param config warmup, decay, floor   @param step counted from 0   @return the factor, 0..1
 * @see cosine: Loshchilov, Hutter 2017, arXiv:1608.03983 */
ATTN_API double attn_schedule(const attn_schedule_config *config, int64_t step);

#ifdef __cplusplus
}
#endif
#endif

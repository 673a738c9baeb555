/* Optimisers, clipping and learning-rate schedules over the flat blocks of a parameter set. */
#ifndef ATTN_OPTIM_H
#define ATTN_OPTIM_H

#include "attn/params.h"

#ifdef __cplusplus
extern "C" {
#endif

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

/** A new optimiser for a built set, which must outlive it. State (momentum or moments) starts at 0.
 * @return NULL with `error` set: ATTN_EINVAL (a number out of range, set not built), ATTN_ENOMEM */
ATTN_API attn_optimizer *attn_sgd_new(attn_params *p, attn_sgd_config config, attn_error *error);
ATTN_API attn_optimizer *attn_adamw_new(attn_params *p, attn_adamw_config config, attn_error *error);
ATTN_API void attn_optimizer_free(attn_optimizer *o);

/** One step with the gradients as they are; `rate_factor` multiplies the learning rate (see attn_schedule).
 * A step whose gradients are not all finite changes nothing.
 * @return ATTN_ENONFINITE naming the first such parameter and index, ATTN_EINVAL (rate_factor negative or not finite), else ATTN_OK */
ATTN_API ATTN_NODISCARD attn_status attn_optimizer_step(attn_optimizer *o, double rate_factor, attn_error *error);

/** "sgd" or "adamw". */
ATTN_API const char *attn_optimizer_name(const attn_optimizer *o);

/** Steps taken so far; set when a checkpoint is loaded. */
ATTN_API int64_t attn_optimizer_steps(const attn_optimizer *o);
ATTN_API void attn_optimizer_set_steps(attn_optimizer *o, int64_t steps);

/** State arrays per parameter: SGD 1 ("momentum"), AdamW 2 ("m", "v"). `slot` counts from 0; same shape and dtype as the value. */
ATTN_API int attn_optimizer_slots(const attn_optimizer *o);
ATTN_API const char *attn_optimizer_slot_name(const attn_optimizer *o, int slot);
ATTN_API void *attn_optimizer_slot(attn_optimizer *o, int slot, int param);

/** Euclidean norm of all gradients together; if it exceeds `max_norm` > 0 they are scaled down to it. Zero gradients stay zero.
 * @return the norm before clipping (infinity or NaN if a gradient is not finite: then nothing is scaled)
 * @see Pascanu, Mikolov, Bengio 2013, arXiv:1211.5063 */
ATTN_API double attn_clip_grad_norm(attn_params *p, double max_norm);

typedef enum attn_decay { ATTN_DECAY_CONSTANT, ATTN_DECAY_LINEAR, ATTN_DECAY_COSINE } attn_decay;

typedef struct attn_schedule_config {
    attn_decay decay;
    int64_t warmup_steps; /* the factor rises as (step + 1) / warmup_steps */
    int64_t total_steps;  /* where the decay reaches its floor; must be given for linear and cosine */
    double floor;         /* smallest factor [0] */
} attn_schedule_config;

/** Learning-rate factor of a step counted from 0:  min((step + 1) / warmup, max(floor, d)),  d = 1, 1 - step / total, or
 * (1 + cos(pi step / total)) / 2, with step / total at most 1. A missing total_steps gives NaN, which attn_optimizer_step refuses.
 * @see cosine: Loshchilov, Hutter 2017, arXiv:1608.03983 */
ATTN_API double attn_schedule(const attn_schedule_config *config, int64_t step);

#ifdef __cplusplus
}
#endif
#endif

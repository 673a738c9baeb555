/* Learning-rate factors: a pure function of the step, so that a resumed run needs no state but its step count. */
#include <math.h>

#include "attn/optim.h"

/* step / total in [0, 1]; NaN where the total is missing. */
static double progress(int64_t step, int64_t total)
{
    if (total <= 0) {
        return NAN;
    }
    return step < total ? (double)step / (double)total : 1;
}

static double decayed(const attn_schedule_config *config, int64_t step)
{
    const double pi = 3.14159265358979323846;
    switch (config->decay) {
    case ATTN_DECAY_LINEAR:
        return 1 - progress(step, config->total_steps);
    case ATTN_DECAY_COSINE:
        return (1 + cos(pi * progress(step, config->total_steps))) / 2;
    case ATTN_DECAY_CONSTANT:
        break;
    }
    return 1;
}

double attn_schedule(const attn_schedule_config *config, int64_t step)
{
    step = step > 0 ? step : 0;
    double factor = decayed(config, step);
    if (factor < config->floor) {
        factor = config->floor;
    }
    if (step < config->warmup_steps) {
        double rise = ((double)step + 1) / (double)config->warmup_steps;
        factor = factor > rise ? rise : factor;
    }
    return factor;
}

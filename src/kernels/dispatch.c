/* Chooses the kernels for this machine, once: the best set that was built and that the processor has, or what ATTN_ISA names. */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "attn/tape.h"
#include "kernels/kernels.h"

static bool runs_here(const attn__kernel_set *set)
{
    if (set == NULL) {
        return false;
    }
#if defined(__x86_64__)
    if (set == attn__kernels_v4) {
        return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw") &&
               __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("fma");
    }
    if (set == attn__kernels_v3) {
        return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi2");
    }
#endif
    return set == attn__kernels_baseline;
}

static const attn__kernel_set *choose(void)
{
    const attn__kernel_set *const best_first[] = {attn__kernels_v4, attn__kernels_v3, attn__kernels_baseline};
    const char *wanted = getenv("ATTN_ISA");
    const attn__kernel_set *chosen = NULL;
    for (size_t i = 0; i < sizeof best_first / sizeof best_first[0]; i++) {
        const attn__kernel_set *set = best_first[i];
        if (!runs_here(set)) {
            continue;
        }
        if (wanted != NULL && strcmp(wanted, set->name) == 0) {
            return set;
        }
        if (chosen == NULL) {
            chosen = set;
        }
    }
    return chosen;
}

const attn__kernel_set *attn__kernel_set_chosen(void)
{
    /* Several threads may choose at once; they choose the same. */
    static _Atomic(const attn__kernel_set *) cached;
    const attn__kernel_set *set = atomic_load_explicit(&cached, memory_order_acquire);
    if (set == NULL) {
        set = choose();
        atomic_store_explicit(&cached, set, memory_order_release);
    }
    return set;
}

const attn__kernel_table *attn__kernels(attn_dtype dtype)
{
    const attn__kernel_set *set = attn__kernel_set_chosen();
    return dtype == ATTN_F32 ? &set->f32 : &set->f64;
}

const char *attn_isa(void)
{
    const attn__kernel_set *set = attn__kernel_set_chosen();
    return set == attn__kernels_v4 ? "x86-64-v4" : set == attn__kernels_v3 ? "x86-64-v3" : "baseline";
}

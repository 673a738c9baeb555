/* Chooses the kernels for this machine, once: the best set that was built and that the processor has, or what ATTN_ISA names. */
#if defined(__x86_64__)
#include <cpuid.h>
#endif
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "attn/tape.h"
#include "kernels/kernels.h"

#if defined(__x86_64__)
#define HAS(feature) (__builtin_cpu_supports(feature) != 0)

/* Everything that a compiler may use under -march=x86-64-v3: a virtual machine may have taken away any of it. Clang 14 knows no names of
 * the last three. Whether the system keeps the wide registers is part of the question for avx2 and avx512f. */
static bool has_v3(void)
{
    unsigned a, b, c, d;
    bool f16c_movbe = __get_cpuid(1, &a, &b, &c, &d) != 0 && (c & bit_F16C) != 0 && (c & bit_MOVBE) != 0;
    bool lzcnt = __get_cpuid(0x80000001U, &a, &b, &c, &d) != 0 && (c & bit_LZCNT) != 0;
    return HAS("avx2") && HAS("bmi") && HAS("bmi2") && HAS("fma") && HAS("popcnt") && f16c_movbe && lzcnt;
}

static bool has_v4(void)
{
    return has_v3() && HAS("avx512f") && HAS("avx512bw") && HAS("avx512cd") && HAS("avx512dq") && HAS("avx512vl");
}
#endif

static bool runs_here(const attn__kernel_set *set)
{
    if (set == NULL) {
        return false;
    }
#if defined(__x86_64__)
    if (set == attn__kernels_v4) {
        return has_v4();
    }
    if (set == attn__kernels_v3) {
        return has_v3();
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

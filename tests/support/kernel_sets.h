/* The instruction sets whose kernels a test can run. */
#ifndef ATTN_TEST_KERNEL_SETS_H
#define ATTN_TEST_KERNEL_SETS_H

#include "support/check.h"

#include "kernels/kernels.h"

/* The sets that run here: the chosen one, and those below it. ATTN_ISA leaves out the sets above the one it names. */
static inline int sets_here(const attn__kernel_set *sets[3])
{
    const attn__kernel_set *const best_first[] = {attn__kernels_v4, attn__kernels_v3, attn__kernels_baseline};
    int n = 0;
    for (int i = 0; i < 3; i++) {
        if (best_first[i] != NULL && (n > 0 || best_first[i] == attn__kernel_set_chosen())) {
            sets[n++] = best_first[i];
        }
    }
    assert_true(n >= 1 && sets[n - 1] == attn__kernels_baseline);
    return n;
}

#endif

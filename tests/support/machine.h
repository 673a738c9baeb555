/* Kernels of every instruction set that runs here, in both dtypes, on arrays that touch a page which may not be read: a test is a function
 * that on_every_machine calls once for each, and that finds the kernels in `here`. */
#ifndef ATTN_TEST_MACHINE_H
#define ATTN_TEST_MACHINE_H

#include "support/guard.h"
#include "support/kernel_sets.h"
#include "support/tensors.h"

#include "core/core.h"

enum { MACHINE_ARRAYS = 8, MACHINE_ROOM = 16 * 600 };

typedef struct machine {
    const attn__kernel_table *K;
    const char *set;
    attn_dtype dtype;
    guard_side side;
    int64_t panel;                  /* columns */
    double epsilon, least, largest; /* least: of the normal numbers */
    char where[120];                /* for messages: the case at hand */
    double share;                   /* of a bound, the largest that was used */
    guarded guards[MACHINE_ARRAYS];
    double before[MACHINE_ARRAYS][MACHINE_ROOM]; /* what the arrays held when they were put there */
} machine;

extern machine here;

void on_every_machine(void (*check)(void));
int machine_open(void **state); /* group set-up */
int machine_close(void **state);

/* Array number `array` with n numbers, at the guard page. */
void *put(int array, const double *values, int64_t n);
void *put_random(int array, int64_t n, uint64_t seed, double low, double high);
void *put_all(int array, int64_t n, double value);
/* Notes what the array holds now as what it held before. */
void put_again(int array, const void *x, int64_t n);

/* The number as a long double. */
long double at(const void *x, int64_t i);
/* The next multiple of a panel's columns. */
int64_t padded(int64_t n);
/* Elements from the first to the last of `rows` rows of n, `ld` apart. */
int64_t span(int64_t rows, int64_t n, int64_t ld);

/* |actual - expected| <= bound; NaN where NaN is expected, and the same infinity. */
#define near(actual, expected, bound) check_near((actual), (expected), (bound), #actual, __FILE__, __LINE__)
/* The same number, or both NaN. */
#define same(actual, expected) check_near((actual), (expected), 0, #actual, __FILE__, __LINE__)
void check_near(long double actual, long double expected, double bound, const char *what, const char *file, int line);
/* What lies between the rows of an array is as it was. */
void gaps_untouched(int array, const void *x, int64_t rows, int64_t n, int64_t ld);

#endif

#include "support/machine.h"

#include <float.h>
#include <math.h>

machine here;

int machine_open(void **state)
{
    (void)state;
    for (int i = 0; i < MACHINE_ARRAYS; i++) {
        here.guards[i] = guard_new(MACHINE_ROOM * sizeof(double));
    }
    return 0;
}

int machine_close(void **state)
{
    (void)state;
    for (int i = 0; i < MACHINE_ARRAYS; i++) {
        guard_free(&here.guards[i]);
    }
    return 0;
}

void on_every_machine(void (*check)(void))
{
    const attn__kernel_set *sets[3];
    here.share = 0;
    for (int n = 4 * sets_here(sets) - 1; n >= 0; n--) {
        bool single = n % 2 == 0;
        here.dtype = single ? ATTN_F32 : ATTN_F64;
        here.side = n / 2 % 2 == 0 ? GUARD_AFTER : GUARD_BEFORE;
        here.K = single ? &sets[n / 4]->f32 : &sets[n / 4]->f64;
        here.set = sets[n / 4]->name;
        here.panel = here.K->panel_columns();
        here.epsilon = epsilon_of(here.dtype);
        here.least = single ? (double)FLT_MIN : DBL_MIN;
        here.largest = single ? (double)FLT_MAX : DBL_MAX;
        check();
    }
    print_message("largest share of a bound: %.3f\n", here.share);
}

void *put(int array, const double *values, int64_t n)
{
    assert_true(n >= 0 && n <= MACHINE_ROOM);
    void *x = guard_array(&here.guards[array], (size_t)n * attn_dtype_size(here.dtype), here.side);
    for (int64_t i = 0; i < n; i++) {
        here.K->set(x, i, values[i]);
    }
    put_again(array, x, n);
    return x;
}

void put_again(int array, const void *x, int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        here.before[array][i] = here.K->get(x, i);
    }
}

void *put_random(int array, int64_t n, uint64_t seed, double low, double high)
{
    double values[MACHINE_ROOM];
    fill_random(values, n, seed + 1000 * (uint64_t)array, low, high);
    return put(array, values, n);
}

void *put_all(int array, int64_t n, double value)
{
    double values[MACHINE_ROOM];
    for (int64_t i = 0; i < n; i++) {
        values[i] = value;
    }
    return put(array, values, n);
}

long double at(const void *x, int64_t i)
{
    return (long double)here.K->get(x, i);
}

int64_t padded(int64_t n)
{
    return (n + here.panel - 1) / here.panel * here.panel;
}

int64_t span(int64_t rows, int64_t n, int64_t ld)
{
    return (rows - 1) * ld + n;
}

void check_near(long double actual, long double expected, double bound, const char *what, const char *file, int line)
{
    double off = (double)fabsl(actual - expected);
    bool good = isfinite(expected) ? off <= bound : isnan(expected) ? isnan(actual) : actual == expected;
    if (!good) {
        print_error("%s, %s, %s: %s = %.20Lg, expected %.20Lg (bound %g)\n", here.set, attn_dtype_name(here.dtype), here.where, what,
                    actual, expected, bound);
        _fail(file, line);
    }
    here.share = isfinite(expected) && bound > 0 ? fmax(here.share, off / bound) : here.share;
}

void gaps_untouched(int array, const void *x, int64_t rows, int64_t n, int64_t ld)
{
    for (int64_t i = 0; i + 1 < rows; i++) {
        for (int64_t j = n; j < ld; j++) {
            same(at(x, i * ld + j), (long double)here.before[array][i * ld + j]);
        }
    }
}

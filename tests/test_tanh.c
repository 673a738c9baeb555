/* The kernels' own tanh against the C library's, in units in the last place, in every instruction set that runs here (ATTN_ISA). */
#include "support/check.h"

#include <math.h>
#include <string.h>

#include "kernels/kernels.h"

#define N     1024
#define BOUND 2.6

/* Distance from the next larger number of the same type. */
static double error_f32(float y, double exact)
{
    double place = (double)nextafterf(fabsf((float)exact), 2) - (double)fabsf((float)exact);
    return fabs((double)y - exact) / place;
}

static void single_precision(void **state)
{
    (void)state;
    float x[N], y[N];
    double worst = 0;
    for (uint32_t bits = 0; bits < 0x7F800000U; bits += 131U * N) { /* every 131st float of either sign */
        for (uint32_t i = 0; i < N; i++) {
            uint32_t b = bits + 131 * i < 0x7F800000U ? bits + 131 * i : 0x7F7FFFFFU;
            memcpy(&x[i], &b, sizeof b);
            x[i] = i % 2 == 0 ? x[i] : -x[i];
        }
        attn__kernels(ATTN_F32)->tanh(N, x, y);
        for (int i = 0; i < N; i++) {
            worst = fmax(worst, error_f32(y[i], tanh((double)x[i])));
            assert_int_equal(signbit(y[i]) != 0, signbit(x[i]) != 0);
        }
    }
    print_message("float32: at most %.2f units in the last place\n", worst);
    assert_true(worst <= BOUND);
}

/* Against long double where it is wider, else against the C library's own rounding. */
static void double_precision(void **state)
{
    (void)state;
    double worst = 0;
    for (int i = 0; i < 400000; i++) {
        double x = pow(10, -12 + 13.5 * i / 400000), y;
        attn__kernels(ATTN_F64)->tanh(1, &x, &y);
        long double exact = tanhl((long double)x);
        worst = fmax(worst, (double)(fabsl((long double)y - exact) / (long double)(nextafter((double)exact, 2) - (double)exact)));
    }
    print_message("float64: at most %.2f units in the last place\n", worst);
    assert_true(worst <= BOUND);
}

static void ends_of_the_range(void **state)
{
    (void)state;
    const float x[] = {0.0F, -0.0F, INFINITY, -INFINITY, NAN, 1e-45F, 1e30F, -20};
    float y[8];
    attn__kernels(ATTN_F32)->tanh(8, x, y);
    assert_true(y[0] == 0 && !signbit(y[0]) && y[1] == 0 && signbit(y[1]));
    assert_true(y[2] == 1 && y[3] == -1 && isnan(y[4]) && y[5] == x[5] && y[6] == 1 && y[7] == -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(single_precision),
        cmocka_unit_test(double_precision),
        cmocka_unit_test(ends_of_the_range),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

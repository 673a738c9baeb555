/* Numbers of JSON: what printf's %.12g writes, whichever way they are made. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "attn/random.h"
#include "cli/cli.h"
#include "support/check.h"

static void assert_as_printf(double x)
{
    char text[REAL_SIZE], expected[REAL_SIZE + 2];
    int n = real_text(x, text);
    (void)snprintf(expected, sizeof expected, "%.12g", x);
    if (strpbrk(expected, ".e") == NULL) {
        (void)strcat(expected, ".0");
    }
    if (strcmp(text, expected) != 0 || n != (int)strlen(text)) {
        fail_msg("%.17g is %s (%d), expected %s", x, text, n, expected);
    }
}

static void some_are(void **state)
{
    (void)state;
    static const struct {
        double x;
        const char *text;
    } numbers[] = {{0, "0.0"},
                   {1, "1.0"},
                   {-0.25, "-0.25"},
                   {0.5, "0.5"},
                   {1e-5, "1e-05"},
                   {1e20, "1e+20"},
                   {1.0 / 3, "0.333333333333"},
                   {0.0001220703125, "0.0001220703125"},
                   {NAN, "null"},
                   {INFINITY, "null"},
                   {-INFINITY, "null"}};
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        char text[REAL_SIZE];
        assert_int_equal(real_text(numbers[i].x, text), strlen(numbers[i].text));
        assert_string_equal(text, numbers[i].text);
    }
}

/* All odd multiples of 2^-k lie in the middle between two numbers of k - 1 places. */
static void the_middle_goes_to_the_even_digit(void **state)
{
    (void)state;
    for (int k = 13; k <= 16; k++) {
        for (int64_t j = 1; j < INT64_C(1) << k; j += 2) {
            assert_as_printf(ldexp((double)j, -k));
        }
    }
}

static void next_to_a_power_of_ten(void **state)
{
    (void)state;
    for (double power = 1e-6; power < 200; power *= 10) {
        const double near[] = {power, strtod("0.1", NULL), strtod("0.01", NULL), strtod("0.001", NULL), strtod("0.0001", NULL)};
        for (size_t i = 0; i < sizeof near / sizeof near[0]; i++) {
            double below = near[i], above = near[i];
            for (int step = 0; step < 2000; step++) {
                assert_as_printf(below);
                assert_as_printf(above);
                below = nextafter(below, 0);
                above = nextafter(above, 2 * near[i]);
            }
            for (double part = 1e-16; part < 1e-9; part *= 1.01) {
                assert_as_printf(near[i] * (1 - part));
                assert_as_printf(near[i] * (1 + part));
            }
        }
    }
}

static void numbers_of_every_size(void **state)
{
    (void)state;
    for (uint64_t i = 0; i < 300000; i++) {
        double u = attn_random_uniform(7, 1, i);
        assert_as_printf(u);
        assert_as_printf((double)(float)u);
        assert_as_printf(pow(10, -6 * attn_random_uniform(7, 2, i)) * u);
        assert_as_printf(-u);
        assert_as_printf(ldexp(u, (int)(2000 * attn_random_uniform(7, 3, i)) - 1000));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(some_are),
        cmocka_unit_test(the_middle_goes_to_the_even_digit),
        cmocka_unit_test(next_to_a_power_of_ten),
        cmocka_unit_test(numbers_of_every_size),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

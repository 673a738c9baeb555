/* The random numbers: published vectors, what they depend on, bounds and moments. */
#include <math.h>
#include <stdlib.h>

#include "support/check.h"

#include "attn/random.h"

#define N 200000

/* Philox 4x32-10 of the counter (c0,c1,c2,c3) and the key (k0,k1). The counter is (position low, position high, stream low, stream high),
 * the key (seed low, seed high). */
static void check_vector(const uint32_t c[4], const uint32_t k[2], const uint32_t expected[4])
{
    uint32_t out[4];
    attn_random_block((uint64_t)k[1] << 32 | k[0], (uint64_t)c[3] << 32 | c[2], (uint64_t)c[1] << 32 | c[0], out);
    for (int i = 0; i < 4; i++) {
        assert_int_equal(out[i], expected[i]);
    }
}

/* The known answers that the authors of Philox publish with it: zeros, ones, and the digits of pi. */
static void published_vectors(void **state)
{
    (void)state;
    check_vector((const uint32_t[]){0, 0, 0, 0}, (const uint32_t[]){0, 0},
                 (const uint32_t[]){0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8});
    check_vector((const uint32_t[]){0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff}, (const uint32_t[]){0xffffffff, 0xffffffff},
                 (const uint32_t[]){0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd});
    check_vector((const uint32_t[]){0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, (const uint32_t[]){0xa4093822, 0x299f31d0},
                 (const uint32_t[]){0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1});
}

/* The words of a block are the digits of the numbers made from it. */
static void numbers_are_functions_of_the_block(void **state)
{
    (void)state;
    for (uint64_t i = 0; i < 1000; i++) {
        uint32_t w[4];
        attn_random_block(9, 8, i, w);
        double u = ldexp(w[0], -32) + ldexp(w[1] >> 11, -53), v = ldexp(w[2], -32) + ldexp(w[3] >> 11, -53);
        assert_true(attn_random_uniform(9, 8, i) == u);
        assert_close(attn_random_normal(9, 8, i), sqrt(-2 * log1p(-u)) * cos(2 * acos(-1) * v), 1e-13, 1e-15);
        assert_int_equal(attn_random_below(9, 8, i, 1000), (uint64_t)(u * 1000));
    }
}

/* Every bit of seed, stream and position changes the block. */
static void every_bit_of_the_key_counts(void **state)
{
    (void)state;
    uint32_t base[4];
    attn_random_block(1, 2, 3, base);
    for (int which = 0; which < 3; which++) {
        for (int bit = 0; bit < 64; bit++) {
            uint64_t flip = (uint64_t)1 << bit;
            uint32_t out[4];
            attn_random_block(1 ^ (which == 0 ? flip : 0), 2 ^ (which == 1 ? flip : 0), 3 ^ (which == 2 ? flip : 0), out);
            int changed = 0;
            for (int i = 0; i < 4; i++) {
                for (uint32_t x = out[i] ^ base[i]; x != 0; x &= x - 1) {
                    changed++;
                }
            }
            assert_true(changed > 30 && changed < 98); /* of 128; half of them on average */
        }
    }
}

static void uniform_numbers_lie_in_0_1(void **state)
{
    (void)state;
    double sum = 0, squares = 0, lag = 0, previous = 0.5;
    int bins[16] = {0};
    for (uint64_t i = 0; i < N; i++) {
        double u = attn_random_uniform(42, 0, i);
        assert_true(u >= 0 && u < 1);
        assert_true(ldexp(u, 53) == floor(ldexp(u, 53)));
        sum += u;
        squares += u * u;
        lag += (u - 0.5) * (previous - 0.5);
        previous = u;
        bins[(int)(u * 16)]++;
    }
    /* five standard errors */
    assert_close(sum / N, 0.5, 0, 5 * sqrt(1.0 / 12 / N));
    assert_close(squares / N, 1.0 / 3, 0, 5 * sqrt(4.0 / 45 / N));
    assert_close(lag / N, 0, 0, 5 * sqrt(1.0 / 144 / N));
    double chi = 0;
    for (int i = 0; i < 16; i++) {
        double d = bins[i] - N / 16.0;
        chi += d * d / (N / 16.0);
    }
    assert_true(chi < 45); /* 15 degrees of freedom: 1 in 10^4 lies above */
}

static void normal_numbers_have_normal_moments(void **state)
{
    (void)state;
    double m[5] = {0}, beyond = 0;
    for (uint64_t i = 0; i < N; i++) {
        double x = attn_random_normal(42, 1, i), power = x;
        assert_true(isfinite(x) && fabs(x) < 8.6); /* sqrt(-2 log 2^-53) = 8.57 */
        for (int k = 1; k <= 4; k++, power *= x) {
            m[k] += power / N;
        }
        beyond += fabs(x) > 1.959963985;
    }
    assert_close(m[1], 0, 0, 5 * sqrt(1.0 / N));
    assert_close(m[2], 1, 0, 5 * sqrt(2.0 / N));
    assert_close(m[3], 0, 0, 5 * sqrt(15.0 / N));
    assert_close(m[4], 3, 0, 5 * sqrt(96.0 / N));
    assert_close(beyond / N, 0.05, 0, 5 * sqrt(0.05 * 0.95 / N));
}

static void integers_stay_below_their_bound(void **state)
{
    (void)state;
    const uint64_t bounds[] = {1, 2, 3, 7, 1000, (uint64_t)1 << 32, (uint64_t)1 << 53, (uint64_t)1 << 63, UINT64_MAX};
    assert_int_equal(attn_random_below(1, 2, 3, 0), 0);
    for (size_t b = 0; b < sizeof bounds / sizeof bounds[0]; b++) {
        for (uint64_t i = 0; i < 10000; i++) {
            assert_true(attn_random_below(3, b, i, bounds[b]) < bounds[b]);
        }
    }
    int counts[7] = {0};
    for (uint64_t i = 0; i < N; i++) {
        counts[attn_random_below(3, 1, i, 7)]++;
    }
    for (int i = 0; i < 7; i++) {
        assert_close(counts[i], N / 7.0, 0, 5 * sqrt(N * 6.0 / 49));
    }
}

/* Streams and seeds that lie next to each other have nothing in common. */
static void streams_are_independent(void **state)
{
    (void)state;
    double across_streams = 0, across_seeds = 0;
    for (uint64_t i = 0; i < N; i++) {
        double u = attn_random_uniform(5, 0, i) - 0.5;
        across_streams += u * (attn_random_uniform(5, 1, i) - 0.5);
        across_seeds += u * (attn_random_uniform(6, 0, i) - 0.5);
    }
    assert_close(across_streams / N, 0, 0, 5 * sqrt(1.0 / 144 / N));
    assert_close(across_seeds / N, 0, 0, 5 * sqrt(1.0 / 144 / N));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(published_vectors),
        cmocka_unit_test(numbers_are_functions_of_the_block),
        cmocka_unit_test(every_bit_of_the_key_counts),
        cmocka_unit_test(uniform_numbers_lie_in_0_1),
        cmocka_unit_test(normal_numbers_have_normal_moments),
        cmocka_unit_test(integers_stay_below_their_bound),
        cmocka_unit_test(streams_are_independent),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* What attention's tiles make of scores besides softmax, against plain loops in long double: dot products, the soft cap's gradient, offsets
 * clipped to a table, packed rows that are finite, and additive scores by the identity tanh(q + k) = 1 - 2 / (1 + e^2q e^2k). */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "support/machine.h"

enum { A, B, W, PANELS, S, GA, GB, GW };
enum { MOST_ROWS = 9, MOST = 70 };

static double was(int array, int64_t i)
{
    return here.before[array][i];
}

static size_t bytes_of(int64_t n)
{
    return (size_t)n * attn_dtype_size(here.dtype);
}

/* Address of element i. */
static void *from(const void *x, int64_t i)
{
    return (char *)(uintptr_t)x + bytes_of(i);
}

/* ---- rows ---- */

/* Also the bits of a product of matrices: see tile_dots. */
static void dots_case(int64_t n, int64_t rows)
{
    int64_t ldx = n + n % 3, ldy = n + (n + 1) % 3;
    void *x = put_random(A, span(rows, n, ldx), (uint64_t)n, -1, 1), *y = put_random(B, span(rows, n, ldy), (uint64_t)n, -1, 1);
    void *dots = put_all(S, rows, NAN), *panels = put_all(PANELS, here.K->panel_size(n, 1), NAN);
    here.K->tile_dots(rows, n, x, ldx, y, ldy, dots);
    (void)snprintf(here.where, sizeof here.where, "%d rows of %d", (int)rows, (int)n);
    for (int64_t i = 0; i < rows; i++) {
        long double sum = 0;
        double product;
        for (int64_t c = 0; c < n; c++) {
            sum += at(x, i * ldx + c) * at(y, i * ldy + c);
        }
        near(at(dots, i), sum, (double)n * here.epsilon);
        here.K->panel_pack(n, 1, from(y, i * ldy), 1, 1, panels);
        here.K->panel_multiply(1, 1, n, 1, from(x, i * ldx), n, 1, (attn__panels){panels, n, 1}, false, &product, 1);
        assert_memory_equal(from(dots, i), &product, bytes_of(1));
    }
}

static void check_dots(void)
{
    const int64_t long_ones[] = {255, 256, 257, 511, 513, 600}; /* products add up blocks of 256 */
    for (int64_t n = 0; n <= MOST; n++) {
        for (int64_t rows = 1; rows <= 2 * MOST_ROWS; rows += n % 2 + 1) {
            dots_case(n, rows);
        }
    }
    for (int i = 0; i < 6; i++) {
        dots_case(long_ones[i], i + 7);
    }
}

/* Where g is 0 it stays 0, even of a NaN. */
static void check_soft_cap_b(void)
{
    for (int64_t n = 0; n <= MOST; n++) {
        const double cap = n % 2 == 0 ? 1.5 : 30;
        void *y = put_random(A, n, (uint64_t)n, -cap, cap), *g = put_random(B, n, (uint64_t)n, -2, 2);
        for (int64_t j = n % 5; j < n; j += 5) {
            here.K->set(g, j, 0);
            here.K->set(y, j, j % 2 == 0 ? NAN : cap);
        }
        put_again(A, y, n);
        put_again(B, g, n);
        here.K->tile_soft_cap_b(n, cap, y, g);
        (void)snprintf(here.where, sizeof here.where, "n %d", (int)n);
        for (int64_t j = 0; j < n; j++) {
            long double t = at(y, j) / (long double)cap, before = (long double)was(B, j);
            near(at(g, j), before == 0 ? 0 : before * (1 - t * t), 3 * here.epsilon * fabs(was(B, j)));
        }
    }
}

static void clipped_case(int64_t n, int64_t offset, int64_t clip)
{
    void *table = put_random(A, 2 * clip + 1, (uint64_t)n, -1, 1), *x = put_random(B, n, (uint64_t)n, -1, 1);
    long double sums[2 * MOST + 1];
    (void)snprintf(here.where, sizeof here.where, "n %d, offset %d, clip %d", (int)n, (int)offset, (int)clip);
    here.K->clipped(n, offset, clip, table, x);
    for (int64_t j = 0; j <= 2 * clip; j++) {
        sums[j] = (long double)was(A, j);
    }
    for (int64_t j = 0; j < n; j++) {
        int64_t o = offset + j, entry = (o < -clip ? -clip : o > clip ? clip : o) + clip;
        near(at(x, j), (long double)was(B, j) + at(table, entry), here.epsilon);
        sums[entry] += (long double)was(B, j);
    }
    void *g = put(B, here.before[B], n);
    here.K->clipped_b(n, offset, clip, g, table);
    for (int64_t j = 0; j <= 2 * clip; j++) {
        near(at(table, j), sums[j], (double)(n + 1) * (double)(n + 1) / 2 * here.epsilon);
    }
}

static void check_clipped(void)
{
    const int64_t clips[] = {0, 1, 2, 5, 16, 33, 70};
    for (int64_t n = 0; n <= MOST; n++) {
        for (int64_t offset = -80; offset <= 80; offset += 1 + n % 4) {
            clipped_case(n, offset, clips[(offset + 80 + n) % 7]);
        }
    }
}

/* Rows that are not finite are packed as zeros, the others as panel_pack does it. */
static void pack_finite_case(int64_t n, int64_t rows)
{
    const double odd[] = {NAN, HUGE_VAL, -HUGE_VAL}, fine[] = {-0.0, here.largest, -here.largest, here.least, here.epsilon * here.least};
    int64_t ld = n + n % 3, size = here.K->panel_size(rows, n);
    void *x = put_random(A, span(rows, n, ld), (uint64_t)n, -1, 1), *wanted = put_all(B, size, NAN), *panels = put_all(PANELS, size, NAN);
    void *zeroed = put_all(S, span(rows, n, ld), 0);
    uint8_t flags[MOST_ROWS];
    (void)snprintf(here.where, sizeof here.where, "%d rows of %d", (int)rows, (int)n);
    for (int64_t i = 0; i < rows; i++) {
        bool bad = (i + n) % 3 == 1;
        flags[i] = (uint8_t)i & 3;
        for (int64_t j = i % 2; j < n; j += 3) {
            here.K->set(x, i * ld + j, fine[(i + j) % 5]);
        }
        for (int64_t j = 0; j < n && !bad; j++) {
            here.K->set(zeroed, i * ld + j, here.K->get(x, i * ld + j));
        }
        if (bad && n > 0) {
            here.K->set(x, i * ld + (7 * i + n) % n, odd[i % 3]); /* one anywhere in the row is enough */
        }
    }
    here.K->panel_pack(rows, n, zeroed, ld, 1, wanted);
    here.K->panel_pack_finite(rows, n, x, ld, flags, 4, panels);
    assert_memory_equal(panels, wanted, bytes_of(size));
    for (int64_t i = 0; i < rows; i++) {
        assert_int_equal(flags[i], (i & 3) | ((i + n) % 3 == 1 && n > 0 ? 4 : 0));
    }
}

static void check_pack_finite(void)
{
    for (int64_t rows = 1; rows <= MOST_ROWS; rows++) {
        for (int64_t n = 0; n <= 3 * MOST; n++) { /* also several panels */
            pack_finite_case(n, rows);
        }
    }
}

/* ---- additive scores ---- */

/* The largest |x| whose e^2x and e^-2x are normal numbers with room for their product with another's to be taken in order. */
static double largest_unit(void)
{
    return here.dtype == ATTN_F32 ? 43 : 350;
}

static void check_additive_exp(void)
{
    const double top = largest_unit(), beyond = here.dtype == ATTN_F32 ? (double)nextafterf(43, 44) : nextafter(350, 351);
    const double odd[] = {beyond, -beyond, NAN, HUGE_VAL, -HUGE_VAL, 1e30};
    for (int64_t n = 0; n <= MOST; n++) {
        void *x = put_random(A, n, (uint64_t)n, n % 2 == 0 ? -1 : -top, n % 2 == 0 ? 1 : top), *y = put_all(B, n, NAN);
        for (int64_t p = 0; p < n; p += 4) {
            here.K->set(x, p, p % 8 == 0 ? top : -top);
        }
        (void)snprintf(here.where, sizeof here.where, "n %d", (int)n);
        assert_true(here.K->additive_exp(n, x, y));
        for (int64_t i = 0; i < n; i++) {
            long double e = expl(2 * at(x, i));
            near(at(y, i), e, 2 * here.epsilon * (double)e);
        }
        for (int64_t p = 0; p < n; p++) {
            double kept = here.K->get(x, p);
            here.K->set(x, p, odd[(p + n) % 6]);
            assert_false(here.K->additive_exp(n, x, y));
            for (int64_t i = 0; i < n; i++) {
                same(at(y, i), 1);
            }
            here.K->set(x, p, kept);
        }
    }
}

/* Vectors of queries or keys whose exponentials are kept; every fifth number is as large as may be. */
static void put_units(int array, int64_t n, uint64_t seed, double values[MACHINE_ROOM])
{
    const double top = largest_unit();
    fill_random(values, n, seed, -1, 1);
    for (int64_t i = (int64_t)seed % 5; i < n && seed % 3 == 0; i += 5) {
        values[i] = i % 2 == 0 ? top : -top;
    }
    void *x = put(array, values, n);
    assert_true(here.K->additive_exp(n, x, x));
}

/* Scores of rows x keys. The keys' exponentials are rows of h in B, which go into panels. */
static void *run_additive(int64_t rows, int64_t keys, int64_t h, const void *a, int64_t lda, const void *b, const void *w, int64_t ld)
{
    int64_t n = padded(keys);
    void *panels = put_all(PANELS, here.K->panel_size(h, keys), NAN), *s = put_all(S, span(rows, n, ld), 7);
    here.K->panel_pack(h, keys, b, 1, h, panels);
    here.K->tile_additive(rows, n, h, a, lda, (attn__panels){panels, h, n}, w, s, ld);
    gaps_untouched(S, s, rows, n, ld);
    return s;
}

/* Three roundings of a number of size 1 for each hidden unit: two of its exponentials, one of the sum. No pair depends on another by a bit.
 */
static void additive_case(int64_t rows, int64_t keys, int64_t h, uint64_t seed)
{
    static double q[MACHINE_ROOM], k[MACHINE_ROOM], scores[MACHINE_ROOM];
    int64_t lda = h + (int64_t)(seed % 2), ld = padded(keys) + (int64_t)(seed % 3);
    put_units(A, span(rows, h, lda), seed, q);
    put_units(B, keys * h, seed + 1, k);
    const void *a = guard_array(&here.guards[A], bytes_of(span(rows, h, lda)), here.side);
    const void *b = guard_array(&here.guards[B], bytes_of(keys * h), here.side), *w = put_random(W, h, seed, -1, 1);
    const void *s = run_additive(rows, keys, h, a, lda, b, w, ld);
    (void)snprintf(here.where, sizeof here.where, "%d rows, %d keys, %d hidden units", (int)rows, (int)keys, (int)h);
    for (int64_t i = 0; i < rows; i++) {
        for (int64_t j = 0; j < keys; j++) {
            long double sum = 0;
            for (int64_t c = 0; c < h; c++) {
                sum += at(w, c) * tanhl((long double)q[i * lda + c] + (long double)k[j * h + c]);
            }
            scores[i * keys + j] = here.K->get(s, i * ld + j);
            near(at(s, i * ld + j), sum, (double)(3 * h) * here.epsilon);
        }
    }
    for (int64_t p = 0; p < rows * keys; p += 1 + rows * keys / 5) {
        int64_t i = p / keys, j = p % keys;
        const void *alone = run_additive(1, 1, h, from(a, i * lda), lda, from(b, j * h), w, padded(1));
        same(at(alone, 0), (long double)scores[p]);
    }
}

static void check_additive(void)
{
    const int64_t widths[] = {0, 1, 2, 3, 4, 5, 7, 8, 9, 16, 17};
    for (int64_t keys = 1; keys <= MOST; keys++) {
        for (int64_t rows = 1; rows <= MOST_ROWS; rows += 1 + keys % 2) {
            additive_case(rows, keys, widths[(keys + 3 * rows) % 11], (uint64_t)(keys + 100 * rows));
        }
    }
    for (int64_t h = 0; h <= MOST; h++) {
        additive_case(5, h % 11 + 1, h, (uint64_t)h);
    }
}

/* ga += ds (r - r^2), gb likewise, gw += ds r, with r = 1 / (1 + a b) */
static void expect_additive_b(int64_t rows, int64_t n, int64_t h, int64_t ld, const void *const x[], long double *const sums[])
{
    for (int64_t i = 0; i < rows; i++) {
        for (int64_t j = 0; j < n; j++) {
            for (int64_t c = 0; c < h; c++) {
                long double r = 1 / (1 + at(x[A], i * h + c) * at(x[B], j * h + c)), ds = at(x[S], i * ld + j);
                sums[GA][i * h + c] += ds * (r - r * r);
                sums[GB][j * h + c] += ds * (r - r * r);
                sums[GW][c] += ds * r;
            }
        }
    }
}

/* h is whole vectors; what is behind `width` is padding, 0. A gradient that is NaN is its query's and its key's alone, and of w. */
static void additive_b_case(int64_t rows, int64_t n, int64_t width, uint64_t seed)
{
    static long double ga[MACHINE_ROOM], gb[MACHINE_ROOM], gw[MACHINE_ROOM];
    static double q[MACHINE_ROOM], k[MACHINE_ROOM];
    int64_t h = padded(width), ld = n + (int64_t)(seed % 3);
    put_units(A, rows * h, seed, q);
    put_units(B, n * h, seed + 1, k);
    void *x[] = {[A] = guard_array(&here.guards[A], bytes_of(rows * h), here.side),
                 [B] = guard_array(&here.guards[B], bytes_of(n * h), here.side),
                 [S] = put_random(S, span(rows, n, ld), seed, -1, 1),
                 [GA] = put_random(GA, rows * h, seed, -1, 1),
                 [GB] = put_random(GB, n * h, seed, -1, 1),
                 [GW] = put_random(GW, h, seed, -1, 1)};
    long double *const sums[] = {[GA] = ga, [GB] = gb, [GW] = gw};
    for (int64_t c = 0; c < rows * h; c++) {
        ga[c] = at(x[GA], c);
        here.K->set(x[A], c, c % h < width ? here.K->get(x[A], c) : 0);
    }
    for (int64_t c = 0; c < n * h; c++) {
        gb[c] = at(x[GB], c);
        here.K->set(x[B], c, c % h < width ? here.K->get(x[B], c) : 0);
    }
    for (int64_t c = 0; c < h; c++) {
        gw[c] = at(x[GW], c);
    }
    int64_t bad = seed % 4 == 0 ? (int64_t)(seed / 4) % (rows * n) : -1;
    for (int64_t p = 0; p < rows * n; p++) {
        double value = p == bad ? NAN : p % 7 == 0 ? 0 : was(S, p / n * ld + p % n);
        here.K->set(x[S], p / n * ld + p % n, value);
    }
    expect_additive_b(rows, n, h, ld, (const void *const *)x, sums);
    here.K->tile_additive_b(rows, n, h, x[A], x[B], x[S], ld, x[GA], x[GB], x[GW]);
    (void)snprintf(here.where, sizeof here.where, "%d rows, %d keys, %d of %d units", (int)rows, (int)n, (int)width, (int)h);
    for (int64_t c = 0; c < rows * h; c++) {
        near(at(x[GA], c), ga[c], (double)(n + 2) * here.epsilon);
    }
    for (int64_t c = 0; c < n * h; c++) {
        near(at(x[GB], c), gb[c], (double)(rows + 2) * here.epsilon);
    }
    for (int64_t c = 0; c < h; c++) {
        near(at(x[GW], c), gw[c], (double)(rows * n + 2) * here.epsilon);
    }
}

static void check_additive_b(void)
{
    for (int64_t width = 1; width <= MOST; width++) {
        for (int64_t rows = 1; rows <= MOST_ROWS; rows++) {
            additive_b_case(rows, 1 + (width * 3 + rows) % 11, width, (uint64_t)(width + 100 * rows));
        }
    }
    for (int64_t n = 1; n <= MOST; n++) {
        additive_b_case(n % 5 + 1, n, n % 9 + 1, (uint64_t)n);
    }
}

#define ON_EVERY_MACHINE(test, check) \
    static void test(void **state)    \
    {                                 \
        (void)state;                  \
        on_every_machine(check);      \
    }
ON_EVERY_MACHINE(dots_are_those_of_a_product, check_dots)
ON_EVERY_MACHINE(gradient_of_a_soft_cap, check_soft_cap_b)
ON_EVERY_MACHINE(offsets_are_clipped_to_a_table, check_clipped)
ON_EVERY_MACHINE(packs_are_finite, check_pack_finite)
ON_EVERY_MACHINE(exponentials_of_units, check_additive_exp)
ON_EVERY_MACHINE(additive_scores, check_additive)
ON_EVERY_MACHINE(additive_scores_backward, check_additive_b)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(dots_are_those_of_a_product),    cmocka_unit_test(gradient_of_a_soft_cap),
        cmocka_unit_test(offsets_are_clipped_to_a_table), cmocka_unit_test(packs_are_finite),
        cmocka_unit_test(exponentials_of_units),          cmocka_unit_test(additive_scores),
        cmocka_unit_test(additive_scores_backward),
    };
    return cmocka_run_group_tests(tests, machine_open, machine_close);
}

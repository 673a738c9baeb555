/* The softmax of attention's tiles against plain loops in long double: all row counts and widths around the vectors, of every instruction
 * set that runs here. */
#include <math.h>
#include <stdio.h>

#include "support/machine.h"

#include "attn/random.h"

enum { X, G, ACC, MAXIMA, SUMS, OTHER, Y };
enum { MOST_ROWS = 9, MOST = 70 };

static double was(int array, int64_t i)
{
    return here.before[array][i];
}

/* ---- padding and hiding ---- */

static void check_panels(void)
{
    int64_t bytes = here.panel * (int64_t)attn_dtype_size(here.dtype);
    assert_true(bytes == 16 || bytes == 32 || bytes == 64);
    for (int64_t n = 0; n <= MOST; n++) {
        assert_int_equal(here.K->panel_size(3, n), 3 * padded(n));
    }
}

static void check_hide(void)
{
    for (int64_t n = 0; n <= 40; n++) {
        for (int64_t begin = 0; begin <= n; begin++) {
            for (int64_t end = begin; end <= n; end++) {
                void *x = put_random(X, n, 1, -1, 1);
                uint8_t *allow = (begin + end) % 3 == 0 ? NULL : guard_array(&here.guards[G], (size_t)end, here.side);
                for (int64_t j = 0; j < n; j++) {
                    here.K->set(x, j, j % 4 == 0 ? NAN : j % 7 == 0 ? HUGE_VAL : was(X, j));
                    if (allow != NULL && j < end) {
                        allow[j] = (uint8_t)attn_random_below(2, 3, (uint64_t)(j + n), 3); /* 2 is as good as 1 */
                    }
                }
                put_again(X, x, n);
                here.K->hide(n, begin, end, allow, x);
                (void)snprintf(here.where, sizeof here.where, "n %d, from %d to %d", (int)n, (int)begin, (int)end);
                for (int64_t j = 0; j < n; j++) {
                    bool seen = j >= begin && j < end && (allow == NULL || allow[j] != 0);
                    same(at(x, j), seen ? (long double)was(X, j) : -HUGE_VALL);
                }
            }
        }
    }
}

/* ---- rows of scores ---- */

enum { PLAIN, SOME_HIDDEN, NOTHING, ONE_NAN, NAN_ALONE, INFINITE, LARGEST, EQUAL, LARGER, SMALLER, DEEP, KINDS };

/* A row of n scores, of which the first `keys` are no padding. */
static void fill_scores(double *x, int64_t keys, int64_t n, int kind, uint64_t seed)
{
    const double shift = kind == LARGER ? 50 : kind == SMALLER ? -1000 : 0;
    const int64_t p = (int64_t)(seed % (uint64_t)keys);
    fill_random(x, keys, seed, kind == DEEP ? 1.1 * log(here.least) : -4 + shift, 4 + shift);
    for (int64_t j = 0; j < n; j++) {
        if (kind == EQUAL) {
            x[j] = 2.5;
        } else if (kind == LARGEST) {
            x[j] = j % 3 == 0 ? here.largest : -here.largest;
        }
        if (j >= keys || kind == NOTHING || kind == NAN_ALONE || (kind == SOME_HIDDEN && j % 3 == p % 3)) {
            x[j] = -HUGE_VAL;
        }
    }
    x[p] = kind == ONE_NAN || kind == NAN_ALONE ? NAN : kind == INFINITE ? HUGE_VAL : x[p];
}

/* Rows of all kinds, `ld` apart, as tile number `tile` of several. */
static void *put_scores(int64_t rows, int64_t keys, int64_t ld, int64_t tile, uint64_t seed)
{
    double values[MACHINE_ROOM];
    fill_random(values, span(rows, padded(keys), ld), 9, -1, 1);
    for (int64_t i = 0; i < rows; i++) {
        int kind = (int)((seed + (uint64_t)(7 * i + 3 * tile)) % KINDS);
        fill_scores(values + i * ld, keys, padded(keys), kind, seed + (uint64_t)(31 * i + tile));
    }
    return put(X, values, span(rows, padded(keys), ld));
}

/* Of row i's partial sums. */
static long double sum_of(const void *l, int64_t i)
{
    long double sum = 0;
    for (int64_t k = 0; k < here.panel; k++) {
        sum += at(l, i * here.panel + k);
    }
    return sum;
}

/* What e^u may be off by: 2 + |u| roundings, those of u = x - m, as parts of the exponent, and those of e^. */
static double exp_bound(long double u, long double e)
{
    double at_the_edge = e > 0 && e < 1.001L * (long double)here.least ? here.least : 0;
    return u == 0 || e == 0 ? 0 : (double)((2 - u) * e) * here.epsilon + at_the_edge;
}

/* e^u, 0 where it is no normal number. */
static long double exp_normal(long double u)
{
    long double e = expl(u);
    return e < 0.999L * (long double)here.least ? 0 : e;
}

/* ---- forward ---- */

/* A call of the kernel on tiles of n keys. */
typedef struct forward {
    int64_t rows, n, ld, width;
    void *x, *m, *l, *acc;
    long double old_sum[MOST_ROWS];
} forward;

static void check_forward_row(const forward *f, int64_t i)
{
    const double old = was(MAXIMA, i);
    double top = old;
    for (int64_t j = 0; j < f->n; j++) {
        top = was(X, i * f->ld + j) > top ? was(X, i * f->ld + j) : top;
    }
    same(at(f->m, i), (long double)top);
    long double shift = top == -HUGE_VAL ? 0 : (long double)top, rise = (long double)top - (long double)old;
    long double factor = top > old ? exp_normal(-rise) : 1, sum = f->old_sum[i] * factor;
    for (int64_t j = 0; j < f->n; j++) {
        long double u = (long double)was(X, i * f->ld + j) - shift, e = exp_normal(u);
        near(at(f->x, i * f->ld + j), e, exp_bound(u, e));
        sum += e;
    }
    near(sum_of(f->l, i), sum, (double)(f->n + 8) * here.epsilon * (double)sum);
    for (int64_t c = i * f->width; c < (i + 1) * f->width; c++) {
        if (top == old || old == -HUGE_VAL) { /* nothing to scale, whatever stands there */
            same(at(f->acc, c), (long double)was(ACC, c));
        } else {
            long double scaled = (long double)was(ACC, c) * factor;
            near(at(f->acc, c), scaled, scaled == 0 ? 0 : (double)((3 + rise) * fabsl(scaled)) * here.epsilon + here.epsilon * here.least);
        }
    }
}

/* Three tiles, one after the other. */
static void forward_case(int64_t rows, int64_t keys, int64_t width, uint64_t seed)
{
    forward f = {.rows = rows, .n = padded(keys), .ld = padded(keys) + (int64_t)(seed % 3), .width = width};
    f.m = put_all(MAXIMA, rows, -HUGE_VAL);
    f.l = put_all(SUMS, rows * here.panel, 0);
    f.acc = put_random(ACC, rows * width, seed, -1, 1);
    for (int tile = 0; tile < 3; tile++) {
        f.x = put_scores(rows, keys, f.ld, tile, seed);
        for (int64_t i = 0; i < rows; i++) {
            f.old_sum[i] = sum_of(f.l, i);
        }
        put_again(MAXIMA, f.m, rows);
        put_again(ACC, f.acc, rows * width);
        (void)snprintf(here.where, sizeof here.where, "%d rows, %d keys, width %d, tile %d", (int)rows, (int)keys, (int)width, tile);
        here.K->tile_softmax(rows, f.n, f.x, f.ld, f.m, f.l, width, f.acc);
        for (int64_t i = 0; i < rows; i++) {
            check_forward_row(&f, i);
        }
        gaps_untouched(X, f.x, rows, f.n, f.ld);
    }
}

static void check_softmax(void)
{
    for (int64_t keys = 1; keys <= MOST; keys++) {
        for (int64_t rows = 1; rows <= MOST_ROWS; rows++) {
            forward_case(rows, keys, (rows * 5 + keys) % 36, (uint64_t)(rows + 13 * keys));
        }
    }
    for (int64_t width = 0; width <= MOST; width++) {
        forward_case(3, 5, width, (uint64_t)width);
    }
}

/* y = acc / sum. A sum of panel_columns positive numbers is off by as many roundings at most. */
static void check_finish(void)
{
    const double odd[] = {0, NAN, HUGE_VAL}; /* a row that saw nothing, and two whose scores were no numbers */
    for (int64_t n = 0; n < (MOST + 1) * MOST_ROWS; n++) {
        int64_t width = n / MOST_ROWS, rows = n % MOST_ROWS + 1, ldy = width + n % 4;
        void *acc = put_random(ACC, rows * width, (uint64_t)n, -4, 4), *l = put_random(SUMS, rows * here.panel, (uint64_t)n, 0, 2);
        void *inverse = put_all(OTHER, rows, NAN), *y = put_all(Y, span(rows, width, ldy), 7);
        for (int64_t i = 0; i < rows; i++) {
            int64_t kind = (i + n) % 5;
            for (int64_t k = 0; k < here.panel && kind < 3; k++) {
                here.K->set(l, i * here.panel + k, kind == 0 || k == n % here.panel ? odd[kind] : 1);
            }
        }
        here.K->tile_finish(rows, width, acc, l, inverse, y, ldy);
        (void)snprintf(here.where, sizeof here.where, "%d rows, width %d", (int)rows, (int)width);
        for (int64_t i = 0; i < rows; i++) {
            long double sum = sum_of(l, i), expected = sum == 0 ? 0 : 1 / sum;
            double bound = (double)(here.panel + 2) * here.epsilon;
            near(at(inverse, i), expected, bound * (double)expected);
            for (int64_t c = 0; c < width; c++) {
                long double product = (long double)was(ACC, i * width + c) * expected;
                near(at(y, i * ldy + c), product, bound * (double)fabsl(product));
            }
        }
        gaps_untouched(Y, y, rows, width, ldy);
    }
}

/* ---- backward ---- */

/* Weights and score gradients of one row, from its maximum, 1 / sum and delta. */
static void check_backward_row(int64_t i, int64_t n, int64_t ld, const void *x, const void *g)
{
    long double top = (long double)was(MAXIMA, i), shift = top == -HUGE_VALL ? 0 : top, delta = (long double)was(OTHER, i);
    for (int64_t j = i * ld; j < i * ld + n; j++) {
        long double u = (long double)was(X, j) - shift, e = exp_normal(u), p = e * (long double)was(SUMS, i);
        if (was(X, j) == -HUGE_VAL) {
            same(at(x, j), 0);
            same(at(g, j), 0);
            continue;
        }
        long double gradient = p * ((long double)was(G, j) - delta);
        double bound = (exp_bound(u, e) + 2 * here.epsilon * (double)e) * was(SUMS, i),
               spread = (double)fabsl((long double)was(G, j) - delta);
        near(at(x, j), p, bound);
        near(at(g, j), gradient, bound * spread * (1 + 2 * here.epsilon));
    }
}

/* What is hidden gives 0 though its gradient is NaN; a delta or a sum that is NaN is its row's alone. */
static void backward_case(int64_t rows, int64_t keys, uint64_t seed)
{
    int64_t n = padded(keys), ld = n + (int64_t)(seed % 3);
    void *x = put_scores(rows, keys, ld, 0, seed), *g = put_random(G, span(rows, n, ld), seed, -2, 2);
    void *m = put_all(MAXIMA, rows, -HUGE_VAL), *l = put_random(SUMS, rows, seed, 0, 1), *delta = put_random(OTHER, rows, seed, -1, 1);
    for (int64_t i = 0; i < rows; i++) {
        for (int64_t j = i * ld; j < i * ld + n; j++) {
            here.K->set(m, i, was(X, j) > here.K->get(m, i) ? was(X, j) : here.K->get(m, i));
            here.K->set(g, j, was(X, j) > -HUGE_VAL ? was(G, j) : j % 2 == 0 ? NAN : HUGE_VAL);
        }
        here.K->set(delta, i, (i + (int64_t)seed) % 4 == 0 ? NAN : was(OTHER, i));
        here.K->set(l, i, (i + (int64_t)seed) % 6 == 0 ? NAN : was(SUMS, i));
    }
    put_again(MAXIMA, m, rows);
    put_again(SUMS, l, rows);
    put_again(OTHER, delta, rows);
    put_again(G, g, span(rows, n, ld));
    here.K->tile_softmax_b(rows, n, x, g, ld, m, l, delta);
    (void)snprintf(here.where, sizeof here.where, "%d rows, %d keys", (int)rows, (int)keys);
    for (int64_t i = 0; i < rows; i++) {
        check_backward_row(i, n, ld, x, g);
    }
    gaps_untouched(X, x, rows, n, ld);
    gaps_untouched(G, g, rows, n, ld);
}

static void check_softmax_b(void)
{
    for (int64_t keys = 1; keys <= MOST; keys++) {
        for (int64_t rows = 1; rows <= MOST_ROWS; rows++) {
            backward_case(rows, keys, (uint64_t)(rows + 13 * keys));
        }
    }
}

#define ON_EVERY_MACHINE(test, check) \
    static void test(void **state)    \
    {                                 \
        (void)state;                  \
        on_every_machine(check);      \
    }
ON_EVERY_MACHINE(panels_are_whole_vectors, check_panels)
ON_EVERY_MACHINE(hide_writes_minus_infinity, check_hide)
ON_EVERY_MACHINE(softmax_of_keys_that_come_in_tiles, check_softmax)
ON_EVERY_MACHINE(outputs_are_divided_by_the_sums, check_finish)
ON_EVERY_MACHINE(softmax_backward, check_softmax_b)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(panels_are_whole_vectors),
        cmocka_unit_test(hide_writes_minus_infinity),
        cmocka_unit_test(softmax_of_keys_that_come_in_tiles),
        cmocka_unit_test(outputs_are_divided_by_the_sums),
        cmocka_unit_test(softmax_backward),
    };
    return cmocka_run_group_tests(tests, machine_open, machine_close);
}

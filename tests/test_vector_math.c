/* The kernels' own exp, tanh, logistic function and gelu against the C library's in more digits, in units in the last place: the distance
 * from the exact value to the next number of the type, or of the subnormal ones. One instruction set (ATTN_ISA); float32 over its whole
 * range, by default in steps, every number of it if ATTN_EVERY_FLOAT is set. */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support/check.h"

#include "kernels/kernels.h"

#define BLOCK 1024
#define STEP  2053U /* prime, so that every exponent and sign is met */

typedef struct function {
    const char *name;
    void (*run)(const attn__kernel_table *K, int64_t n, void *x, void *y, size_t size);
    long double (*exact)(long double x);
    double bound[2]; /* units, for float32 and float64 */
    double slope;    /* that many more for each |v(x)| of gelu's form by tanh */
    bool negative;   /* for x <= 0 alone */
    bool flushes;    /* what is no normal number becomes 0 */
} function;

/* ---- the functions ---- */

#define RUN(name)                                                                                 \
    static void run_##name(const attn__kernel_table *K, int64_t n, void *x, void *y, size_t size) \
    {                                                                                             \
        (void)size;                                                                               \
        K->name(n, x, y);                                                                         \
    }
RUN(exp)
RUN(tanh)
RUN(sigmoid)
RUN(gelu_erf)
RUN(gelu_tanh)

/* e^(x - 0) of the softmax: the gradient of a cross entropy whose log-sum-exp is said to be 0, but for the target, which is the first. */
static void run_exp_negative(const attn__kernel_table *K, int64_t n, void *x, void *y, size_t size)
{
    memset(y, 0, (size_t)n * size);
    K->cross_entropy_b(n, x, NULL, 0, 0, 0, 1, y);
    K->exp(1, x, y); /* the target's is less by 1 */
}

static long double sigmoid(long double x)
{
    return x < 0 ? expl(x) / (1 + expl(x)) : 1 / (1 + expl(-x));
}

static long double gelu_erf(long double x)
{
    return isinf(x) ? (x > 0 ? x : 0) : x * 0.5L * erfcl(-x * 0.70710678118654752440084436210485L);
}

/* 2 sqrt(2 / pi) (x + 0.044715 x^3) */
static long double stretched(long double x)
{
    return 1.59576912160573071175978423973752748L * x * (1 + 0.044715L * x * x);
}

static long double gelu_tanh(long double x)
{
    return isinf(x) ? (x > 0 ? x : 0) : x * sigmoid(stretched(x));
}

static const function functions[] = {
    {"exp", run_exp, expl, {1.2, 1.3}, 0, false, false},
    {"exp of the softmax", run_exp_negative, expl, {1.2, 1.3}, 0, true, true},
    {"tanh", run_tanh, tanhl, {2.6, 2.6}, 0, false, false},
    {"sigmoid", run_sigmoid, sigmoid, {2.2, 2.6}, 0, false, false},
    {"gelu_erf", run_gelu_erf, gelu_erf, {6, 12}, 0, false, false},
    {"gelu_tanh", run_gelu_tanh, gelu_tanh, {4, 4}, 5, false, false},
};
#define FUNCTIONS (sizeof functions / sizeof functions[0])

/* ---- comparing ---- */

/* The unit in the last place of a number: 2^(exponent - digits of the mantissa), but not below the smallest subnormal number. */
static long double unit_of(long double exact, attn_dtype dtype)
{
    int exponent, least = dtype == ATTN_F32 ? FLT_MIN_EXP : DBL_MIN_EXP, digits = dtype == ATTN_F32 ? FLT_MANT_DIG : DBL_MANT_DIG;
    (void)frexpl(exact, &exponent);
    return ldexpl(1, (exponent > least ? exponent : least) - digits);
}

/* Units between y and exact; infinity counts as the first number that is too large. Less than 0: within the bound in another way. */
static double error_of(double y, long double exact, attn_dtype dtype)
{
    long double beyond = ldexpl(1, dtype == ATTN_F32 ? FLT_MAX_EXP : DBL_MAX_EXP);
    if (isnan(exact) || isnan(y)) {
        return isnan(exact) && isnan(y) ? 0 : (double)INFINITY;
    }
    exact = exact > beyond ? beyond : exact;
    long double value = isinf(y) ? copysignl(beyond, (long double)y) : (long double)y;
    return (double)(fabsl(value - exact) / unit_of(exact < beyond ? exact : exact / 2, dtype));
}

typedef struct worst {
    double error, at; /* in units, above the slope */
} worst;

static void compare(const function *f, attn_dtype dtype, double x, double y, worst *w)
{
    long double exact = f->exact((long double)x);
    double least = dtype == ATTN_F32 ? (double)FLT_MIN : DBL_MIN;
    if (f->flushes && y == 0 && exact < (long double)least * (1 + 16 * (long double)FLT_EPSILON)) {
        return;
    }
    double error = error_of(y, exact, dtype), v = fabs((double)stretched((long double)x));
    error -= f->slope > 0 && error > 0 ? f->slope * fmin(v, 2000) : 0;
    if (error > w->error) {
        *w = (worst){error, x};
    }
}

static void report(const function *f, attn_dtype dtype, worst w)
{
    double bound = f->bound[dtype == ATTN_F64];
    print_message("%s, %s: at most %.3f units in the last place, at %.9g\n", f->name, attn_dtype_name(dtype), w.error, w.at);
    assert_true(w.error <= bound);
}

/* ---- float32 ---- */

static void every_float(void **state)
{
    (void)state;
    const attn__kernel_table *K = attn__kernels(ATTN_F32);
    const uint64_t step = getenv("ATTN_EVERY_FLOAT") != NULL ? 1 : STEP, count = ((uint64_t)1 << 32) / step;
    for (size_t k = 0; k < FUNCTIONS; k++) {
        const function *f = &functions[k];
        worst w = {-1, 0};
        for (uint64_t first = 0; first <= count; first += BLOCK) {
            float x[BLOCK], in[BLOCK], y[BLOCK];
            for (uint64_t i = 0; i < BLOCK; i++) {
                uint32_t bits = (uint32_t)((first + i) * step); /* the last wrap around */
                memcpy(&x[i], &bits, sizeof bits);
                x[i] = f->negative ? -fabsf(x[i]) : x[i];
                in[i] = x[i];
            }
            f->run(K, BLOCK, in, y, sizeof *y);
            for (int i = 0; i < BLOCK; i++) {
                compare(f, ATTN_F32, (double)x[i], (double)y[i], &w);
            }
        }
        report(f, ATTN_F32, w);
    }
}

/* ---- float64 ---- */

/* Numbers of every size, and evenly over what the functions bend in. */
static double some_double(uint64_t i)
{
    static const double ends[] = {0,      DBL_MIN, 4.9e-324, DBL_MAX, INFINITY, NAN,  708.39, 708.4,
                                  709.78, 709.79,  744.4,    745.1,   745.2,    38.4, 39};
    const uint64_t n_ends = sizeof ends / sizeof ends[0], scrambled = i * 0x9E3779B97F4A7C15U;
    const double part = (double)(scrambled >> 11) * 0x1p-53;
    double size = i < n_ends ? ends[i] : i % 4 == 0 ? 760 * part : i % 4 == 1 ? 40 * part : i % 4 == 2 ? 4 * part : 0;
    if (i >= n_ends && i % 4 == 3) {
        uint64_t bits = scrambled & 0x7FFFFFFFFFFFFFFFU;
        memcpy(&size, &bits, sizeof size);
    }
    return scrambled >> 63 != 0 || i < n_ends ? -size : size;
}

static void many_doubles(void **state)
{
    (void)state;
    const attn__kernel_table *K = attn__kernels(ATTN_F64);
    for (size_t k = 0; k < FUNCTIONS; k++) {
        const function *f = &functions[k];
        worst w = {-1, 0};
        for (uint64_t first = 0; first < 200 * BLOCK; first += BLOCK) {
            double x[BLOCK], in[BLOCK], y[BLOCK];
            for (uint64_t i = 0; i < BLOCK; i++) {
                double v = some_double((first + i) / 2);
                x[i] = in[i] = i % 2 != 0 && !f->negative ? -v : f->negative ? -fabs(v) : v;
            }
            f->run(K, BLOCK, in, y, sizeof *y);
            for (int i = 0; i < BLOCK; i++) {
                compare(f, ATTN_F64, x[i], y[i], &w);
            }
        }
        report(f, ATTN_F64, w);
    }
}

/* ---- what is exact ---- */

static void exact_values(void **state)
{
    (void)state;
    for (attn_dtype dtype = ATTN_F32; dtype <= ATTN_F64; dtype++) {
        const attn__kernel_table *K = attn__kernels(dtype);
        const double small = dtype == ATTN_F32 ? (double)FLT_TRUE_MIN : DBL_TRUE_MIN, large = 0x1p100;
        const double x[] = {0, -0.0, INFINITY, -INFINITY, NAN, small, large, -large};
        const double expected[][8] = {
            {1, 1, INFINITY, 0, NAN, 1, INFINITY, 0}, {1, 1, NAN, 0, NAN, 1, NAN, 0},          {0, -0.0, 1, -1, NAN, small, 1, -1},
            {0.5, 0.5, 1, 0, NAN, 0.5, 1, 0},         {0, 0, INFINITY, 0, NAN, NAN, large, 0}, {0, 0, INFINITY, 0, NAN, NAN, large, 0},
        };
        for (size_t k = 0; k < FUNCTIONS; k++) {
            double memory[3][8];
            for (int i = 0; i < 8; i++) {
                K->set(memory[0], i, x[i]);
            }
            functions[k].run(K, 8, memory[0], memory[1], attn_dtype_size(dtype));
            for (int i = 0; i < 8; i++) {
                double y = K->get(memory[1], i), e = expected[k][i];
                bool known = !isnan(e) || i == 4; /* others depend on how they are rounded, or mean nothing */
                if (known && !(isnan(e) ? isnan(y) : y == e && (k != 2 || signbit(y) == signbit(e)))) {
                    print_error("%s, %s: %g at %g, expected %g\n", functions[k].name, attn_dtype_name(dtype), y, x[i], e);
                    fail();
                }
            }
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_float),
        cmocka_unit_test(many_doubles),
        cmocka_unit_test(exact_values),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

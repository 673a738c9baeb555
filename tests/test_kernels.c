/* Every kernel of every instruction set that runs here, against the float64 kernels of the baseline: all lengths up to a few vectors, with
 * arrays that touch a page which may not be read. (What the baseline computes is right is for the tests of operations to say; they run with
 * it too.) ATTN_ISA leaves out the sets above the one it names. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/guard.h"
#include "support/kernel_sets.h"
#include "support/tensors.h"

#include "attn/random.h"
#include "core/core.h"

#define LONGEST (3 * 16 + 1) /* elements; a vector holds 16 at most */
#define ARRAYS  4
#define OUT     2

/* One call: arrays of the table's dtype, a mask, and numbers that come back. */
typedef struct call {
    const attn__kernel_table *K;
    int64_t n;
    void *x[ARRAYS];
    const uint8_t *allow;
    double out[OUT];
} call;

typedef struct kernel {
    const char *name; /* as in kernels.def, with a note after a space */
    int arrays;
    int64_t least; /* elements */
    double low, high;
    void (*run)(call *c);
} kernel;

/* ---- the calls ---- */

#define CALL(function, name, ...) \
    static void function(call *c) \
    {                             \
        c->K->name(__VA_ARGS__);  \
    }
#define RESULT(function, name, ...)          \
    static void function(call *c)            \
    {                                        \
        c->out[0] = c->K->name(__VA_ARGS__); \
    }
#define X(i) c->x[i]

CALL(add, add, c->n, X(0), X(1), X(2))
CALL(mul, mul, c->n, X(0), X(1), X(2))
CALL(mul_b, mul_b, c->n, X(0), X(1), X(2))
CALL(zero, zero, c->n, X(0))
CALL(scale, scale, c->n, 0.3, X(0), X(1))
CALL(scale_in_place, scale, c->n, 0.3, X(0), X(0))
CALL(axpy, axpy, c->n, -0.3, X(0), X(1))
CALL(fma_, fma, c->n, -0.3, X(0), X(1), X(2))
CALL(shift, shift, c->n, 0.3, X(0))
CALL(exp_, exp, c->n, X(0), X(1))
CALL(tanh_, tanh, c->n, X(0), X(1))
CALL(tanh_b, tanh_b, c->n, X(0), X(1), X(2))
CALL(soft_cap_b, soft_cap_b, c->n, 1.5, X(0), X(1), X(2))
CALL(relu, relu, c->n, X(0), X(1))
CALL(relu_b, relu_b, c->n, X(0), X(1), X(2))
CALL(sigmoid, sigmoid, c->n, X(0), X(1))
CALL(sigmoid_b, sigmoid_b, c->n, X(0), X(1), X(2))
CALL(gelu_erf, gelu_erf, c->n, X(0), X(1))
CALL(gelu_erf_b, gelu_erf_b, c->n, X(0), X(1), X(2))
CALL(gelu_tanh, gelu_tanh, c->n, X(0), X(1))
CALL(gelu_tanh_b, gelu_tanh_b, c->n, X(0), X(1), X(2))
CALL(dropout, dropout, 0, c->n, 0.3, 5, 6, X(0), X(1))
CALL(dropout_part, dropout, 1000 + c->n / 3, c->n, 0.3, 5, 6, X(0), X(1))
CALL(dropout_b, dropout_b, 0, c->n, 0.3, 5, 6, X(0), X(1))
CALL(dropout_b_part, dropout_b, 1000 + c->n / 3, c->n, 0.3, 5, 6, X(0), X(1))
RESULT(sum, sum, c->n, X(0))
RESULT(sum_squares, sum_squares, c->n, X(0))
RESULT(dot, dot, c->n, X(0), X(1))
RESULT(softmax, softmax, c->n, X(0), NULL, X(1))
RESULT(softmax_masked, softmax, c->n, X(0), c->allow, X(1))
CALL(softmax_b, softmax_b, c->n, X(0), X(1), NULL, X(2))
CALL(softmax_b_masked, softmax_b, c->n, X(0), X(1), c->allow, X(2))
CALL(layer_norm, layer_norm, c->n, X(0), X(1), X(2), 1e-3, X(3), c->out)
CALL(layer_norm_b, layer_norm_b, c->n, X(0), X(1), ((double[]){0.2, 1.5}), X(2), X(3))
static void layer_norm_gamma_b(call *c)
{
    const double stats[4] = {0.2, 1.5, -0.1, 0.7};
    const int64_t rows = c->n >= 2 ? 2 : 1;
    c->K->layer_norm_gamma_b(rows, c->n / rows, X(0), stats, X(1), X(2), X(3));
}

static void layer_norm_gamma_b_alone(call *c)
{
    c->K->layer_norm_gamma_b(1, c->n, X(0), (double[]){0.2, 1.5}, X(1), X(2), NULL);
    c->K->layer_norm_gamma_b(1, c->n, X(0), (double[]){0.2, 1.5}, X(1), NULL, X(3));
}

RESULT(cross_entropy, cross_entropy, c->n, X(0), NULL, c->n / 2, 0, &c->out[1])
RESULT(cross_entropy_smooth, cross_entropy, c->n, X(0), c->allow, c->n / 2, 0.1, &c->out[1])
CALL(cross_entropy_b, cross_entropy_b, c->n, X(0), NULL, c->n / 2, 0, 1.3, 0.7, X(1))
CALL(cross_entropy_b_smooth, cross_entropy_b, c->n, X(0), c->allow, c->n / 2, 0.1, 1.3, 0.7, X(1))
RESULT(additive, additive, c->n, X(0), X(1), X(2))
CALL(additive_b_q, additive_b, c->n, X(0), X(1), X(2), 0.7, X(3), NULL, NULL)
CALL(additive_b_k, additive_b, c->n, X(0), X(1), X(2), 0.7, NULL, X(3), NULL)
CALL(additive_b_w, additive_b, c->n, X(0), X(1), X(2), 0.7, NULL, NULL, X(3))
CALL(additive_b_none, additive_b, c->n, X(0), X(1), X(2), 0.7, NULL, NULL, NULL)
CALL(sgd, sgd, c->n, 0.1, 0.9, 0.01, X(0), X(1), X(2))
CALL(adamw, adamw, c->n, 0.1, 0.9, 0.99, 1e-8, 0.01, 1.2, 1.1, X(0), X(1), X(2), X(3))

static void get_and_set(call *c)
{
    for (int64_t i = 0; i < c->n; i++) {
        c->K->set(c->x[1], c->n - 1 - i, 2 * c->K->get(c->x[0], i));
    }
}

static const kernel kernels[] = {
    {"add", 3, 0, -2, 2, add},
    {"mul", 3, 0, -2, 2, mul},
    {"mul_b", 3, 0, -2, 2, mul_b},
    {"zero", 1, 0, -2, 2, zero},
    {"scale", 2, 0, -2, 2, scale},
    {"scale in place", 1, 0, -2, 2, scale_in_place},
    {"axpy", 2, 0, -2, 2, axpy},
    {"fma", 3, 0, -2, 2, fma_},
    {"shift", 1, 0, -2, 2, shift},
    {"exp", 2, 0, -2, 2, exp_},
    {"tanh", 2, 0, -4, 4, tanh_},
    {"tanh_b", 3, 0, -1, 1, tanh_b},
    {"soft_cap_b", 3, 0, -1, 1, soft_cap_b},
    {"relu", 2, 0, -2, 2, relu},
    {"relu_b", 3, 0, -2, 2, relu_b},
    {"sigmoid", 2, 0, -6, 6, sigmoid},
    {"sigmoid_b", 3, 0, 0, 1, sigmoid_b},
    {"gelu_erf", 2, 0, -4, 4, gelu_erf},
    {"gelu_erf_b", 3, 0, -4, 4, gelu_erf_b},
    {"gelu_tanh", 2, 0, -4, 4, gelu_tanh},
    {"gelu_tanh_b", 3, 0, -4, 4, gelu_tanh_b},
    {"dropout", 2, 0, -2, 2, dropout},
    {"dropout of a part", 2, 0, -2, 2, dropout_part},
    {"dropout_b", 2, 0, -2, 2, dropout_b},
    {"dropout_b of a part", 2, 0, -2, 2, dropout_b_part},
    {"sum", 1, 0, -2, 2, sum},
    {"sum_squares", 1, 0, -2, 2, sum_squares},
    {"dot", 2, 0, -2, 2, dot},
    {"get", 2, 0, -2, 2, get_and_set},
    {"set", 2, 0, -2, 2, get_and_set},
    {"softmax", 2, 0, -4, 4, softmax},
    {"softmax masked", 2, 0, -4, 4, softmax_masked},
    {"softmax_b", 3, 0, -1, 1, softmax_b},
    {"softmax_b masked", 3, 0, -1, 1, softmax_b_masked},
    {"layer_norm", 4, 1, -2, 2, layer_norm},
    {"layer_norm_b", 4, 1, -2, 2, layer_norm_b},
    {"layer_norm_gamma_b", 4, 0, -2, 2, layer_norm_gamma_b},
    {"layer_norm_gamma_b, one of both", 4, 0, -2, 2, layer_norm_gamma_b_alone},
    {"cross_entropy", 1, 1, -4, 4, cross_entropy},
    {"cross_entropy masked, smooth", 1, 1, -4, 4, cross_entropy_smooth},
    {"cross_entropy_b", 2, 1, -2, 2, cross_entropy_b},
    {"cross_entropy_b masked, smooth", 2, 1, -2, 2, cross_entropy_b_smooth},
    {"additive", 3, 0, -2, 2, additive},
    {"additive_b to q", 4, 0, -2, 2, additive_b_q},
    {"additive_b to k", 4, 0, -2, 2, additive_b_k},
    {"additive_b to w", 4, 0, -2, 2, additive_b_w},
    {"additive_b to none", 3, 0, -2, 2, additive_b_none},
    {"sgd", 3, 0, -2, 2, sgd},
    {"adamw", 4, 0, 0.1, 2, adamw},
};
#define KERNELS (sizeof kernels / sizeof kernels[0])

/* ---- the sets ---- */

/* What attn_isa() says in a process of its own: 0, 1, 2 for baseline, v3, v4. */
static int isa_with(const char *wanted)
{
    int status;
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        const char *isa = wanted == NULL || setenv("ATTN_ISA", wanted, 1) == 0 ? attn_isa() : "";
        _exit(strcmp(isa, "baseline") == 0 ? 0 : strcmp(isa, "x86-64-v3") == 0 ? 1 : strcmp(isa, "x86-64-v4") == 0 ? 2 : 9);
    }
    assert_true(waitpid(child, &status, 0) == child && WIFEXITED(status));
    return WEXITSTATUS(status);
}

/* Runs first: forking is for a process that has started no threads. */
static void the_environment_chooses_the_set(void **state)
{
    (void)state;
    int best = isa_with("best of all"); /* names no set */
    assert_true(best >= 0 && best <= 2);
    assert_int_equal(isa_with(""), best);
    assert_int_equal(isa_with("baseline"), 0);
    assert_int_equal(isa_with("v3"), attn__kernels_v3 != NULL && best >= 1 ? 1 : best);
    assert_int_equal(isa_with("v4"), best); /* the best there is, if it runs here */
}

static void every_kernel_is_in_the_list(void **state)
{
    (void)state;
    const char *const names[] = {
#define ATTN__KERNEL(result, name, arguments) #name,
#include "kernels/kernels.def"
#undef ATTN__KERNEL
    };
    /* These have tests of their own: below, in products, tiles and tiles_scores. */
    const char *const elsewhere[] = {"first_nonfinite", "fma_rounds",     "gemm",           "panel_size",
                                     "panel_pack",      "panel_multiply", "panel_columns",  "hide",
                                     "tile_softmax",    "tile_finish",    "tile_softmax_b", "tile_dots",
                                     "tile_soft_cap_b", "clipped",        "clipped_b",      "panel_pack_finite",
                                     "additive_exp",    "tile_additive",  "tile_additive_b"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        bool found = false;
        for (size_t k = 0; k < sizeof elsewhere / sizeof elsewhere[0]; k++) {
            found = found || strcmp(names[i], elsewhere[k]) == 0;
        }
        for (size_t k = 0; k < KERNELS; k++) {
            size_t length = strcspn(kernels[k].name, " ");
            found = found || (strlen(names[i]) == length && strncmp(names[i], kernels[k].name, length) == 0);
        }
        if (!found) {
            print_error("no test of kernel %s\n", names[i]);
            fail();
        }
    }
}

/* ---- comparing ---- */

static guarded guards[ARRAYS + 1]; /* the last holds the mask */

static int make_guards(void **state)
{
    (void)state;
    for (int i = 0; i <= ARRAYS; i++) {
        guards[i] = guard_new(140 * 140 * sizeof(double));
    }
    return 0;
}

static int free_guards(void **state)
{
    (void)state;
    for (int i = 0; i <= ARRAYS; i++) {
        guard_free(&guards[i]);
    }
    return 0;
}

/* n doubles at the guard page, in the dtype. */
static void *place(int array, const double *values, int64_t n, attn_dtype dtype, guard_side side)
{
    void *x = guard_array(&guards[array], (size_t)n * attn_dtype_size(dtype), side);
    for (int64_t i = 0; i < n; i++) {
        attn__kernels(dtype)->set(x, i, values[i]);
    }
    return x;
}

static bool agree(const void *x, attn_dtype dtype, const double *expected, int64_t n, double tolerance)
{
    for (int64_t i = 0; i < n; i++) {
        double value = dtype == ATTN_F32 ? (double)((const float *)x)[i] : ((const double *)x)[i];
        if (!close_enough(value, expected[i], tolerance, tolerance)) {
            print_error("element %d is %.17g, expected %.17g (tolerance %g)\n", (int)i, value, expected[i], tolerance);
            return false;
        }
    }
    return true;
}

static void check_kernel(const kernel *k, const attn__kernel_set *set, attn_dtype dtype, int64_t n, guard_side side)
{
    double expected[ARRAYS][LONGEST], tolerance = 4 * (double)(n + 4) * epsilon_of(dtype);
    uint8_t *allow = guard_array(&guards[ARRAYS], (size_t)n, side);
    call here = {.K = dtype == ATTN_F32 ? &set->f32 : &set->f64, .n = n, .allow = allow};
    call reference = {.K = &attn__kernels_baseline->f64, .n = n, .allow = allow};
    for (int64_t i = 0; i < n; i++) {
        allow[i] = i == n / 2 ? 1 : (uint8_t)attn_random_below(1, 2, (uint64_t)i, 3);
    }
    for (int a = 0; a < k->arrays; a++) {
        fill_random(expected[a], n, (uint64_t)(100 * a), k->low, k->high);
        here.x[a] = place(a, expected[a], n, dtype, side);
        reference.x[a] = expected[a];
    }
    k->run(&here);
    k->run(&reference);
    bool good = agree(here.out, ATTN_F64, reference.out, OUT, tolerance);
    for (int a = 0; a < k->arrays; a++) {
        good = good && agree(here.x[a], dtype, expected[a], n, tolerance);
    }
    if (!good) {
        print_error("%s, %s, %s, %d elements, %s\n", k->name, set->name, attn_dtype_name(dtype), (int)n,
                    side == GUARD_AFTER ? "at the end of the page" : "at its beginning");
        fail();
    }
}

static void every_kernel_on_every_set(void **state)
{
    (void)state;
    const attn__kernel_set *sets[3];
    int n_sets = sets_here(sets);
    for (int s = 0; s < n_sets; s++) {
        print_message("kernels of %s\n", sets[s]->name);
        for (size_t k = 0; k < KERNELS; k++) {
            for (int64_t n = kernels[k].least; n <= LONGEST; n++) {
                for (attn_dtype dtype = ATTN_F32; dtype <= ATTN_F64; dtype++) {
                    check_kernel(&kernels[k], sets[s], dtype, n, GUARD_AFTER);
                    check_kernel(&kernels[k], sets[s], dtype, n, GUARD_BEFORE);
                }
            }
        }
    }
}

static void the_first_nonfinite_is_found(void **state)
{
    (void)state;
    const attn__kernel_set *sets[3];
    const double bad[] = {NAN, INFINITY, -INFINITY};
    int n_sets = sets_here(sets);
    for (int s = 0; s < 2 * n_sets; s++) {
        attn_dtype dtype = s % 2 == 0 ? ATTN_F32 : ATTN_F64;
        const attn__kernel_table *K = s % 2 == 0 ? &sets[s / 2]->f32 : &sets[s / 2]->f64;
        for (int64_t n = 0; n <= LONGEST; n++) {
            double values[LONGEST];
            fill_random(values, n, 1, -2, 2);
            assert_int_equal(K->first_nonfinite(n, place(0, values, n, dtype, GUARD_AFTER)), -1);
            for (int64_t i = n - 1; i >= 0; i--) {
                values[i] = bad[i % 3];
                assert_int_equal(K->first_nonfinite(n, place(0, values, n, dtype, GUARD_AFTER)), i);
            }
        }
    }
}

/* Twelve chains s = s / 2 + 1 from 0, -1, ... -11: after n rounds 2 - (2 - s) / 2^n each. What they count is in proportion to the lanes. */
static void multiply_adds_are_done_and_counted(void **state)
{
    (void)state;
    const attn__kernel_set *sets[3];
    int n_sets = sets_here(sets);
    for (int s = 0; s < n_sets; s++) {
        double per_round[2] = {0, 0}, sum;
        for (attn_dtype dtype = ATTN_F32; dtype <= ATTN_F64; dtype++) {
            const attn__kernel_table *K = dtype == ATTN_F32 ? &sets[s]->f32 : &sets[s]->f64;
            for (int64_t n = 0; n <= 20; n++) {
                double operations = K->fma_rounds(n, &sum), expected = 24 - 90 / (double)(INT64_C(1) << n);
                assert_true(close_enough(sum, expected, 12 * epsilon_of(dtype), 4 * epsilon_of(dtype)));
                per_round[dtype] = n == 1 ? operations : per_round[dtype];
                assert_true(operations == per_round[dtype] * (double)n);
            }
            assert_true(attn_fma_rounds(dtype, 5, 3) == 15 * attn_fma_rounds(dtype, 1, 1));
        }
        assert_true(per_round[ATTN_F32] == 2 * per_round[ATTN_F64]);
        assert_true(per_round[ATTN_F64] == 48 || per_round[ATTN_F64] == 96 || per_round[ATTN_F64] == 192); /* 2, 4, 8 lanes */
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_environment_chooses_the_set),    cmocka_unit_test(every_kernel_is_in_the_list),
        cmocka_unit_test(every_kernel_on_every_set),          cmocka_unit_test(the_first_nonfinite_is_found),
        cmocka_unit_test(multiply_adds_are_done_and_counted),
    };
    return cmocka_run_group_tests(tests, make_guards, free_guards);
}

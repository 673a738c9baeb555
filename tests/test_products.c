/* Kernels of matrix products against plain loops: every size around the tiles, every stride, at the ends of guarded pages. Runs with the
 * set that ATTN_ISA names. */
#include <math.h>
#include <stdlib.h>

#include "support/guard.h"
#include "support/tensors.h"

#include "core/core.h"

/* Element (i,j) is x[i * row + j * column] of `count` elements in a guarded array; `values` are the same in double. */
typedef struct operand {
    int64_t row, column, count;
    double *values;
    void *x;
} operand;

enum { A, B, C, PANELS, GUARDS };
static guarded guards[GUARDS];

static int make_guards(void **state)
{
    (void)state;
    for (int i = 0; i < GUARDS; i++) {
        guards[i] = guard_new((size_t)1 << 21);
    }
    return 0;
}

static int free_guards(void **state)
{
    (void)state;
    for (int i = 0; i < GUARDS; i++) {
        guard_free(&guards[i]);
    }
    return 0;
}

/* Stored by rows, by columns, or with gaps both ways. */
enum { BY_ROWS, BY_COLUMNS, APART, LAYOUTS };

static operand operand_of(attn_dtype dtype, int which, int64_t rows, int64_t columns, int layout, guard_side side)
{
    operand o = {.row = layout == BY_ROWS      ? columns
                        : layout == BY_COLUMNS ? 1
                                               : 2 * columns + 1,
                 .column = layout == BY_ROWS      ? 1
                           : layout == BY_COLUMNS ? rows
                                                  : 2};
    o.count = rows > 0 && columns > 0 ? (rows - 1) * o.row + (columns - 1) * o.column + 1 : 0;
    o.values = random_values(o.count, (uint64_t)which + 1, -1, 1);
    o.x = guard_array(&guards[which], (size_t)o.count * attn_dtype_size(dtype), side);
    for (int64_t i = 0; i < o.count; i++) {
        attn__kernels(dtype)->set(o.x, i, o.values[i]);
    }
    return o;
}

typedef struct problem {
    int64_t m, n, k;
    int a, b;  /* layouts */
    int extra; /* columns of the matrix around C, which stay as they are */
    bool panels, add;
    guard_side side;
} problem;

static void multiply(const attn__kernel_table *K, const problem *q, const operand *a, const operand *b, const operand *c)
{
    if (!q->panels) {
        K->gemm(q->m, q->n, q->k, 0.5, a->x, a->row, a->column, b->x, b->row, b->column, q->add, c->x, c->row);
        return;
    }
    size_t size = attn_dtype_size(K == attn__kernels(ATTN_F32) ? ATTN_F32 : ATTN_F64);
    void *panels = guard_array(&guards[PANELS], (size_t)K->panel_size(q->k, q->n) * size, q->side);
    for (int64_t i = 0; i < K->panel_size(q->k, q->n); i++) {
        K->set(panels, i, NAN);
    }
    K->panel_pack(q->k, q->n, b->x, b->row, b->column, panels);
    assert_int_equal(K->first_nonfinite(K->panel_size(q->k, q->n), panels), -1); /* the padding too is set */
    K->panel_multiply(q->m, q->n, q->k, 0.5, a->x, a->row, a->column, (attn__panels){panels, q->k, q->n}, q->add, c->x, c->row);
}

/* C = or += A B / 2 */
static void expect(const problem *q, const operand *a, const operand *b, operand *c)
{
    for (int64_t i = 0; i < q->m; i++) {
        for (int64_t j = 0; j < q->n; j++) {
            double sum = 0;
            for (int64_t p = 0; p < q->k; p++) {
                sum += a->values[i * a->row + p * a->column] * b->values[p * b->row + j * b->column];
            }
            double *to = &c->values[i * c->row + j];
            *to = (q->add ? *to : 0) + sum / 2;
        }
    }
}

static void check(attn_dtype dtype, problem q)
{
    const attn__kernel_table *K = attn__kernels(dtype);
    operand a = operand_of(dtype, A, q.m, q.k, q.a, q.side), b = operand_of(dtype, B, q.k, q.n, q.b, q.side);
    operand c = operand_of(dtype, C, q.m, q.n + q.extra, BY_ROWS, q.side);
    for (int64_t i = 0; i < q.m && !q.add; i++) {
        for (int64_t j = 0; j < q.n; j++) {
            K->set(c.x, i * c.row + j, NAN); /* is not to be read */
        }
    }
    multiply(K, &q, &a, &b, &c);
    expect(&q, &a, &b, &c);
    for (int64_t i = 0; i < c.count; i++) {
        if (!close_enough(K->get(c.x, i), c.values[i], 0, (double)(q.k + 2) * epsilon_of(dtype))) {
            print_error("%s: m %d, n %d, k %d, layouts %d %d, extra %d, %s%s: element %d is %.17g, expected %.17g\n",
                        attn_dtype_name(dtype), (int)q.m, (int)q.n, (int)q.k, q.a, q.b, q.extra, q.panels ? "panels" : "gemm",
                        q.add ? ", added" : "", (int)i, K->get(c.x, i), c.values[i]);
            fail();
        }
    }
    free(a.values);
    free(b.values);
    free(c.values);
}

/* The problem with every layout, placed before and after guard pages, into C alone and into a part of a wider matrix. */
static void check_all(attn_dtype dtype, int64_t m, int64_t n, int64_t k)
{
    for (int i = 0; i < LAYOUTS * LAYOUTS; i++) {
        for (int form = 0; form < 3; form++) { /* gemm adds; panels may and may not */
            guard_side side = (i + form) % 2 == 0 ? GUARD_AFTER : GUARD_BEFORE;
            check(dtype, (problem){m, n, k, i % LAYOUTS, i / LAYOUTS, i % 2, form > 0, form < 2, side});
        }
    }
}

static void every_size(void **state)
{
    (void)state;
    const int64_t depths[] = {0, 1, 2, 3, 4, 5, 7, 8, 9, 17};
    for (attn_dtype dtype = ATTN_F32; dtype <= ATTN_F64; dtype++) {
        for (int64_t n = 0; n <= 70; n++) { /* more than two panels of the widest */
            check_all(dtype, n % 14, n, depths[n % 10]);
            check_all(dtype, (n + 7) % 14, n, depths[n * 7 % 10]);
        }
        for (int64_t m = 0; m <= 27; m++) {
            check_all(dtype, m, 5, 6);
            check_all(dtype, m, 33, 3);
        }
    }
}

static void large_ones(void **state)
{
    (void)state;
    const int64_t sizes[][3] = {{64, 64, 64}, {65, 33, 130}, {5, 130, 65}, {130, 31, 5}, {7, 9, 255},
                                {4, 32, 256}, {9, 7, 257},   {3, 5, 700},  {97, 98, 99}};
    for (attn_dtype dtype = ATTN_F32; dtype <= ATTN_F64; dtype++) {
        for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
            check_all(dtype, sizes[i][0], sizes[i][1], sizes[i][2]);
        }
    }
}

/* Columns of A a page apart, which panel_multiply packs: whole groups of rows and a part, blocks of k and a part. */
static void columns_of_a_far_apart(void **state)
{
    (void)state;
    const int64_t rows[] = {512, 523};
    for (attn_dtype dtype = ATTN_F32; dtype <= ATTN_F64; dtype++) {
        for (int i = 0; i < 8; i++) {
            check(dtype, (problem){rows[i % 2], 128 + i, i < 4 ? 5 : 259, BY_COLUMNS, i % LAYOUTS, i % 2, true, i / 2 % 2, GUARD_AFTER});
        }
    }
}

/* The first k rows and n columns of a larger B: as if nothing else had been packed. */
static void parts_of_what_is_packed(void **state)
{
    (void)state;
    enum { K = 300, N = 200, ROWS = 7 };
    const int64_t parts[][2] = {{K, N}, {3, 1}, {5, 16}, {96, 64}, {96, 65}, {257, 130}, {256, 199}, {299, 72}};
    for (attn_dtype dtype = ATTN_F32; dtype <= ATTN_F64; dtype++) {
        const attn__kernel_table *kernels = attn__kernels(dtype);
        size_t size = attn_dtype_size(dtype);
        operand a = operand_of(dtype, A, ROWS, K, BY_ROWS, GUARD_AFTER), b = operand_of(dtype, B, K, N, BY_ROWS, GUARD_AFTER);
        void *whole = calloc((size_t)kernels->panel_size(K, N), size), *panels = calloc((size_t)kernels->panel_size(K, N), size);
        void *c = calloc(ROWS * N, size), *expected = calloc(ROWS * N, size);
        assert_true(whole != NULL && panels != NULL && c != NULL && expected != NULL);
        kernels->panel_pack(K, N, b.x, b.row, b.column, whole);
        for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
            int64_t k = parts[i][0], n = parts[i][1];
            kernels->panel_pack(k, n, b.x, b.row, b.column, panels);
            kernels->panel_multiply(ROWS, n, k, 0.5, a.x, a.row, a.column, (attn__panels){whole, K, N}, false, c, N);
            kernels->panel_multiply(ROWS, n, k, 0.5, a.x, a.row, a.column, (attn__panels){panels, k, n}, false, expected, N);
            for (int64_t row = 0; row < ROWS; row++) {
                assert_memory_equal((char *)c + (size_t)(row * N) * size, (char *)expected + (size_t)(row * N) * size, (size_t)n * size);
            }
        }
        free(whole);
        free(panels);
        free(c);
        free(expected);
        free(a.values);
        free(b.values);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_size),
        cmocka_unit_test(large_ones),
        cmocka_unit_test(columns_of_a_far_apart),
        cmocka_unit_test(parts_of_what_is_packed),
    };
    return cmocka_run_group_tests(tests, make_guards, free_guards);
}

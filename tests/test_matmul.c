/* Matrix products against a triple loop: three transpositions, sizes around every block, batches, gradients. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support/tensors.h"

#include "attn/ops.h"

/* Element (i,j) of the matrix as the product sees it; it is stored (rows,columns), or transposed. */
static double at(const double *x, int64_t rows, int64_t columns, bool transposed, int64_t i, int64_t j)
{
    return transposed ? x[j * rows + i] : x[i * columns + j];
}

/* c (m,n) += a b */
static void multiply(double *c, const double *a, bool at_a, const double *b, bool at_b, int64_t m, int64_t n, int64_t k)
{
    for (int64_t i = 0; i < m; i++) {
        for (int64_t j = 0; j < n; j++) {
            for (int64_t p = 0; p < k; p++) {
                c[i * n + j] += at(a, m, k, at_a, i, p) * at(b, k, n, at_b, p, j);
            }
        }
    }
}

static attn_shape stored(int64_t batch, int64_t rows, int64_t columns, bool transposed)
{
    attn_shape s = ATTN_SHAPE(batch, transposed ? columns : rows, transposed ? rows : columns);
    return batch > 0 ? s : ATTN_SHAPE(s.dim[1], s.dim[2]);
}

/* A problem: batch 0 means matrices of rank 2; `shared` means one B of rank 2 for the whole batch. */
typedef struct problem {
    attn_transpose transpose;
    int64_t batch, m, n, k;
    bool shared;
} problem;

/* Gradients from their definition, dA[i,p] = sum over j of g[i,j] b[p,j], written at the place where A[i,p] is stored. */
static void expected_gradients(const problem *q, const double *a, const double *b, const double *g, double *da, double *db)
{
    bool ta = q->transpose == ATTN_TN, tb = q->transpose == ATTN_NT;
    for (int64_t i = 0; i < q->m; i++) {
        for (int64_t p = 0; p < q->k; p++) {
            for (int64_t j = 0; j < q->n; j++) {
                double *to_a = ta ? &da[p * q->m + i] : &da[i * q->k + p], *to_b = tb ? &db[j * q->k + p] : &db[p * q->n + j];
                *to_a += g[i * q->n + j] * at(b, q->k, q->n, tb, p, j);
                *to_b += g[i * q->n + j] * at(a, q->m, q->k, ta, i, p);
            }
        }
    }
}

static void check_product(attn_dtype dtype, problem q)
{
    bool ta = q.transpose == ATTN_TN, tb = q.transpose == ATTN_NT;
    int64_t matrices = q.batch > 0 ? q.batch : 1, b_matrices = q.shared ? 1 : matrices;
    int64_t size_a = q.m * q.k, size_b = q.k * q.n, size_c = q.m * q.n;
    double *a = random_values(matrices * size_a, 1, -1, 1), *b = random_values(b_matrices * size_b, 2, -1, 1);
    double *g = random_values(matrices * size_c, 3, -1, 1), *c = random_values(matrices * size_c, 4, 0, 0);
    double *da = random_values(matrices * size_a, 4, 0, 0), *db = random_values(b_matrices * size_b, 4, 0, 0);
    for (int64_t i = 0; i < matrices; i++) {
        int64_t j = q.shared ? 0 : i;
        multiply(c + i * size_c, a + i * size_a, ta, b + j * size_b, tb, q.m, q.n, q.k);
        expected_gradients(&q, a + i * size_a, b + j * size_b, g + i * size_c, da + i * size_a, db + j * size_b);
    }
    attn_tape *t = attn_tape_new(NULL);
    attn_tensor *x = variable_of(t, dtype, stored(q.batch, q.m, q.k, ta), a);
    attn_tensor *y = variable_of(t, dtype, stored(q.shared ? 0 : q.batch, q.k, q.n, tb), b);
    attn_tensor *z = attn_matmul(t, x, y, q.transpose);
    assert_tape_ok(t);
    double e = epsilon_of(dtype);
    assert_true(attn_shape_equal(attn_tensor_shape(z), stored(q.batch, q.m, q.n, false)));
    assert_values(z, c, 0, (double)q.k * e);
    assert_int_equal(backward_from(t, z, g), ATTN_OK);
    assert_gradient(x, da, 0, (double)q.n * e);
    assert_gradient(y, db, 0, (double)(q.m * (q.shared ? matrices : 1)) * e);
    attn_tape_free(t);
    free(a);
    free(b);
    free(c);
    free(g);
    free(da);
    free(db);
}

static const int64_t sizes[] = {0, 1, 2, 3, 5, 17, 33, 64, 65, 130, 200};
#define SIZES 11

/* Every pair of sizes meets in every pair of dimensions; small ones in all triples. */
static void every_transposition_and_size(void **state)
{
    (void)state;
    for (attn_dtype dtype = ATTN_F32; dtype <= ATTN_F64; dtype++) {
        for (attn_transpose transpose = ATTN_NN; transpose <= ATTN_TN; transpose++) {
            for (int i = 0; i < SIZES; i++) {
                for (int j = 0; j < SIZES; j++) {
                    check_product(dtype, (problem){transpose, 0, sizes[i], sizes[j], sizes[(i + 2 * j) % SIZES], false});
                }
            }
            for (int i = 0; i < 216; i++) {
                check_product(dtype, (problem){transpose, 0, i % 6, i / 6 % 6, i / 36, false});
            }
        }
    }
}

/* Sums longer than the kernel's block. */
static void long_inner_dimensions(void **state)
{
    (void)state;
    const int64_t inner[] = {255, 256, 257, 512, 700};
    for (size_t i = 0; i < sizeof inner / sizeof inner[0]; i++) {
        for (attn_transpose transpose = ATTN_NN; transpose <= ATTN_TN; transpose++) {
            check_product(ATTN_F32, (problem){transpose, 0, 5, 9, inner[i], false});
            check_product(ATTN_F64, (problem){transpose, 0, 9, 5, inner[i], false});
            check_product(ATTN_F64, (problem){transpose, 0, inner[i], 3, 2, false});
            check_product(ATTN_F32, (problem){transpose, 0, 3, inner[i], 2, false});
        }
    }
}

/* More of everything than one tile has, with a batch, and with the columns of a transposed A a page apart. */
static void several_tiles(void **state)
{
    (void)state;
    for (attn_dtype dtype = ATTN_F32; dtype <= ATTN_F64; dtype++) {
        for (attn_transpose transpose = ATTN_NN; transpose <= ATTN_TN; transpose++) {
            check_product(dtype, (problem){transpose, 0, 100, 270, 260, false});
            check_product(dtype, (problem){transpose, 2, 194, 257, 9, false});
            check_product(dtype, (problem){transpose, 0, 515, 130, 17, false});
        }
    }
}

static void batches_and_shared_matrices(void **state)
{
    (void)state;
    for (attn_dtype dtype = ATTN_F32; dtype <= ATTN_F64; dtype++) {
        for (int64_t batch = 1; batch <= 4; batch++) {
            for (attn_transpose transpose = ATTN_NN; transpose <= ATTN_TN; transpose++) {
                check_product(dtype, (problem){transpose, batch, 3, 5, 7, false});
                check_product(dtype, (problem){transpose, batch, 65, 2, 33, false});
                check_product(dtype, (problem){transpose, batch, 1, 129, 1, false});
                check_product(dtype, (problem){transpose, batch, 3, 0, 2, false});
                check_product(dtype, (problem){transpose, batch, 0, 3, 2, false});
                if (transpose != ATTN_TN) {
                    check_product(dtype, (problem){transpose, batch, 3, 5, 7, true});
                    check_product(dtype, (problem){transpose, batch, 33, 17, 2, true});
                    check_product(dtype, (problem){transpose, batch, 2, 5, 0, true});
                }
            }
        }
    }
}

/* Two leading dimensions are a batch of their product. */
static void rank_4_is_a_batch_of_a_batch(void **state)
{
    (void)state;
    attn_tape *t = attn_tape_new(NULL);
    attn_tensor *a = random_variable(t, ATTN_F64, ATTN_SHAPE(2, 3, 4, 5), 1), *b = random_variable(t, ATTN_F64, ATTN_SHAPE(2, 3, 5, 6), 2);
    attn_tensor *shared = random_variable(t, ATTN_F64, ATTN_SHAPE(6, 5), 3);
    attn_tensor *y = attn_matmul(t, a, b, ATTN_NN), *s = attn_matmul(t, a, shared, ATTN_NT);
    attn_tensor *flat = attn_matmul(t, attn_reshape(t, a, ATTN_SHAPE(6, 4, 5)), attn_reshape(t, b, ATTN_SHAPE(6, 5, 6)), ATTN_NN);
    attn_tensor *rows = attn_matmul(t, attn_reshape(t, a, ATTN_SHAPE(24, 5)), shared, ATTN_NT);
    assert_tape_ok(t);
    assert_true(attn_shape_equal(attn_tensor_shape(y), ATTN_SHAPE(2, 3, 4, 6)));
    assert_true(attn_shape_equal(attn_tensor_shape(s), ATTN_SHAPE(2, 3, 4, 6)));
    assert_values(y, (double *)attn_tensor_data(flat), 0, 0);
    assert_values(s, (double *)attn_tensor_data(rows), 0, 0);
    attn_tape_free(t);
}

/* A row of the result does not depend on how many rows are computed with it, nor a column on its neighbours: bit by bit. */
static void rows_and_columns_are_independent(void **state)
{
    (void)state;
    enum { M = 210, N = 150, K = 300 };
    for (attn_dtype dtype = ATTN_F32; dtype <= ATTN_F64; dtype++) {
        size_t size = attn_dtype_size(dtype);
        attn_tape *t = attn_tape_new(NULL);
        attn_tensor *a = random_variable(t, dtype, ATTN_SHAPE(M, K), 1), *b = random_variable(t, dtype, ATTN_SHAPE(N, K), 2);
        attn_tensor *all = attn_matmul(t, a, b, ATTN_NT);
        for (int64_t rows = 1; rows < 10; rows++) {
            for (int64_t begin = 0; begin + rows <= M; begin += 23) {
                char *from = (char *)attn_tensor_data(a) + (size_t)(begin * K) * size;
                attn_tensor *some = attn_matmul(t, attn_input(t, dtype, ATTN_SHAPE(rows, K), from), b, ATTN_NT);
                assert_memory_equal(attn_tensor_data(some), (char *)attn_tensor_data(all) + (size_t)(begin * N) * size,
                                    (size_t)(rows * N) * size);
            }
        }
        for (int64_t columns = 1; columns <= N; columns += 37) {
            attn_tensor *some = attn_matmul(t, a, attn_input(t, dtype, ATTN_SHAPE(columns, K), attn_tensor_data(b)), ATTN_NT);
            for (int64_t i = 0; i < M; i++) {
                assert_memory_equal((char *)attn_tensor_data(some) + (size_t)(i * columns) * size,
                                    (char *)attn_tensor_data(all) + (size_t)(i * N) * size, (size_t)columns * size);
            }
        }
        attn_tape_free(t);
    }
}

/* A NaN reaches its own row and column, infinities are not hidden by zeros, and the padding inside the kernel adds nothing. */
static void nan_and_infinity_pass_through(void **state)
{
    (void)state;
    for (attn_dtype dtype = ATTN_F32; dtype <= ATTN_F64; dtype++) {
        for (int64_t n = 1; n < 40; n++) {
            attn_tape *t = attn_tape_new(NULL);
            double *values = random_values(7 * n, 1, -1, 1);
            values[2 * n + n / 2] = NAN;
            values[5 * n] = INFINITY;
            attn_tensor *y =
                attn_matmul(t, variable_of(t, dtype, ATTN_SHAPE(7, n), values), variable_of(t, dtype, ATTN_SHAPE(n, n), NULL), ATTN_NN);
            for (int64_t i = 0; i < 7 * n; i++) {
                assert_true((isnan(attn_tensor_get(y, i)) != 0) == (i / n == 2 || i / n == 5)); /* 0 times infinity is no number */
            }
            y = attn_matmul(t, random_variable(t, dtype, ATTN_SHAPE(n, 7), 2), variable_of(t, dtype, ATTN_SHAPE(7, n), values), ATTN_NN);
            for (int64_t i = 0; i < n * n; i++) {
                assert_true((isnan(attn_tensor_get(y, i)) != 0) == (i % n == n / 2));
                assert_true((isinf(attn_tensor_get(y, i)) != 0) == (i % n == 0 && n / 2 != 0));
            }
            attn_tape_free(t);
            free(values);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_transposition_and_size),
        cmocka_unit_test(long_inner_dimensions),
        cmocka_unit_test(several_tiles),
        cmocka_unit_test(batches_and_shared_matrices),
        cmocka_unit_test(rank_4_is_a_batch_of_a_batch),
        cmocka_unit_test(rows_and_columns_are_independent),
        cmocka_unit_test(nan_and_infinity_pass_through),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Matrix products against those of another library, in sizes for which loops would be too slow. Needs OpenBLAS. */
#include <stdio.h>

#include "support/tensors.h"

#ifndef ATTN_CBLAS

int main(void)
{
    puts("skipped: OpenBLAS was not found (libopenblas-openmp-dev)");
    return 77;
}

#else

#include <cblas.h>
#include <stdlib.h>

#include "attn/ops.h"

/* C = op(A) op(B), all of the dtype. */
static void product(attn_dtype dtype, attn_transpose transpose, int m, int n, int k, const void *a, const void *b, void *c)
{
    CBLAS_TRANSPOSE at = transpose == ATTN_TN ? CblasTrans : CblasNoTrans, bt = transpose == ATTN_NT ? CblasTrans : CblasNoTrans;
    int lda = transpose == ATTN_TN ? m : k, ldb = transpose == ATTN_NT ? k : n;
    if (dtype == ATTN_F32) {
        cblas_sgemm(CblasRowMajor, at, bt, m, n, k, 1, a, lda, b, ldb, 0, c, n);
    } else {
        cblas_dgemm(CblasRowMajor, at, bt, m, n, k, 1, a, lda, b, ldb, 0, c, n);
    }
}

/* Both may be off by k epsilon, for entries in [-1, 1). */
static void check(attn_dtype dtype, attn_transpose transpose, int m, int n, int k)
{
    attn_tape *t = attn_tape_new(NULL);
    attn_tensor *a = random_variable(t, dtype, transpose == ATTN_TN ? ATTN_SHAPE(k, m) : ATTN_SHAPE(m, k), 1);
    attn_tensor *b = random_variable(t, dtype, transpose == ATTN_NT ? ATTN_SHAPE(n, k) : ATTN_SHAPE(k, n), 2);
    attn_tensor *c = attn_matmul(t, a, b, transpose);
    assert_tape_ok(t);
    size_t count = (size_t)m * (size_t)n;
    void *theirs = calloc(count, attn_dtype_size(dtype));
    double *expected = calloc(count, sizeof *expected);
    assert_true(theirs != NULL && expected != NULL);
    product(dtype, transpose, m, n, k, attn_tensor_data(a), attn_tensor_data(b), theirs);
    for (size_t i = 0; i < count; i++) {
        expected[i] = dtype == ATTN_F32 ? (double)((float *)theirs)[i] : ((double *)theirs)[i];
    }
    assert_values(c, expected, 0, 2 * k * epsilon_of(dtype));
    free(theirs);
    free(expected);
    attn_tape_free(t);
}

/* Every pair of sizes meets in the rows and columns; around the tiles of 96 rows, 128 or 256 columns, 256 terms, and with columns a page
 * apart. */
static void every_transposition_and_size(void **state)
{
    (void)state;
    const int sizes[] = {1, 40, 96, 97, 257, 300, 515};
    const int n = sizeof sizes / sizeof sizes[0];
    for (attn_dtype dtype = ATTN_F32; dtype <= ATTN_F64; dtype++) {
        for (attn_transpose transpose = ATTN_NN; transpose <= ATTN_TN; transpose++) {
            for (int i = 0; i < n * n; i++) {
                check(dtype, transpose, sizes[i / n], sizes[i % n], sizes[(i + i / n * 3) % n]);
            }
        }
    }
}

static void a_large_one(void **state)
{
    (void)state;
    for (attn_dtype dtype = ATTN_F32; dtype <= ATTN_F64; dtype++) {
        for (attn_transpose transpose = ATTN_NN; transpose <= ATTN_TN; transpose++) {
            check(dtype, transpose, 1024, 1024, 1024);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_transposition_and_size),
        cmocka_unit_test(a_large_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

#endif

/* Word vectors from the training text: U sqrt(S) of the truncated singular value decomposition of the matrix of mutual information, by
 * randomised subspace iteration. Source: Halko, Martinsson, Tropp 2011, "Finding structure with randomness", SIAM Review 53, algorithm 4.4.
 */
#include <math.h>
#include <string.h>

#include "word_sense/cooccurrence.h"

#define EXTRA_COLUMNS 20
#define ROUNDS        3
/* Root mean square of the vectors' components. */
#define SIZE      0.3
#define TILE_ROWS 256
#define DRAW_TILE 4096

typedef struct svd {
    const attn_word_sense *m;
    const attn__sparse *x;
    const attn__kernel_table *K;
    attn__arena *arena;
    int64_t dim;     /* width of the table */
    int64_t rows, k; /* matrices are rows x k while a sparse product runs, k x rows while columns are made orthogonal */
    bool transposed; /* multiply by X^T */
    const float *in;
    float *out;
    int64_t pivot;
} svd;

static void multiply_tile(void *ctx, int64_t tile)
{
    const svd *s = ctx;
    attn__span span = attn__range(s->rows, TILE_ROWS, tile);
    const float *value = s->transposed ? s->x->transposed : s->x->value;
    for (int64_t w = span.begin; w < span.end; w++) {
        float *row = s->out + w * s->k;
        s->K->zero(s->k, row);
        for (int64_t i = s->x->begin[w]; i < s->x->begin[w + 1]; i++) {
            if (value[i] != 0) {
                s->K->axpy(s->k, (double)value[i], s->in + s->x->column[i] * s->k, row);
            }
        }
    }
}

/* out = X in, or X^T in */
static void multiply(svd *s, bool transposed, const float *in, float *out)
{
    s->transposed = transposed;
    s->in = in;
    s->out = out;
    double cost = (double)s->x->begin[s->rows] / (double)(s->rows > 0 ? s->rows : 1) * (double)s->k * TILE_ROWS;
    attn__parallel(s->m->config.threads, attn__tiles(s->rows, TILE_ROWS), cost, multiply_tile, s);
}

typedef struct draw {
    uint64_t seed;
    int64_t count;
    float *out;
} draw;

static void draw_tile(void *ctx, int64_t tile)
{
    const draw *d = ctx;
    attn__span span = attn__range(d->count, DRAW_TILE, tile);
    for (int64_t i = span.begin; i < span.end; i++) {
        d->out[i] = (float)attn_random_normal(d->seed, 0, (uint64_t)i);
    }
}

static void transpose(int64_t rows, int64_t columns, const float *from, float *to)
{
    for (int64_t i = 0; i < rows; i++) {
        for (int64_t j = 0; j < columns; j++) {
            to[j * rows + i] = from[i * columns + j];
        }
    }
}

/* Takes the pivot's direction out of a later column. */
static void project_out(void *ctx, int64_t tile)
{
    const svd *s = ctx;
    const float *p = s->out + s->pivot * s->rows;
    float *column = s->out + (s->pivot + 1 + tile) * s->rows;
    s->K->axpy(s->rows, -s->K->dot(s->rows, p, column), p, column);
}

/* Modified Gram-Schmidt, twice, over the columns of a (rows,k) matrix; `other` is scratch of the same size. A column that vanishes becomes
 * 0. */
static void orthonormalise(svd *s, float *matrix, float *other)
{
    transpose(s->rows, s->k, matrix, other);
    s->out = other;
    for (int pass = 0; pass < 2; pass++) {
        for (s->pivot = 0; s->pivot < s->k; s->pivot++) {
            float *p = other + s->pivot * s->rows;
            double norm = sqrt(s->K->sum_squares(s->rows, p));
            s->K->scale(s->rows, norm > 1e-20 ? 1 / norm : 0, p, p);
            attn__parallel(s->m->config.threads, s->k - s->pivot - 1, 4 * (double)s->rows, project_out, s);
        }
    }
    transpose(s->k, s->rows, other, matrix);
}

/* Rotates rows and columns p and q of the symmetric a so that a[p,q] = 0; v collects the rotations. */
static void rotate(double *a, double *v, int64_t n, int64_t p, int64_t q)
{
    double theta = (a[q * n + q] - a[p * n + p]) / (2 * a[p * n + q]);
    double t = (theta >= 0 ? 1 : -1) / (fabs(theta) + sqrt(theta * theta + 1)), c = 1 / sqrt(t * t + 1), s = t * c;
    for (int64_t i = 0; i < n; i++) {
        double x = a[i * n + p], y = a[i * n + q];
        a[i * n + p] = c * x - s * y;
        a[i * n + q] = s * x + c * y;
    }
    for (int64_t i = 0; i < n; i++) {
        double x = a[p * n + i], y = a[q * n + i];
        a[p * n + i] = c * x - s * y;
        a[q * n + i] = s * x + c * y;
        x = v[i * n + p], y = v[i * n + q];
        v[i * n + p] = c * x - s * y;
        v[i * n + q] = s * x + c * y;
    }
}

/* Cyclic Jacobi: eigenvalues on the diagonal of a, eigenvectors in the columns of v. Source: Golub, Van Loan, "Matrix computations", 8.5.
 */
static void eigenvectors(double *a, double *v, int64_t n)
{
    double scale = 0;
    for (int64_t i = 0; i < n * n; i++) {
        v[i] = i % (n + 1) == 0;
        scale = fmax(scale, fabs(a[i]));
    }
    for (int sweep = 0; sweep < 30; sweep++) {
        double off = 0;
        for (int64_t p = 0; p < n; p++) {
            for (int64_t q = p + 1; q < n; q++) {
                off = fmax(off, fabs(a[p * n + q]));
                if (fabs(a[p * n + q]) > 1e-13 * scale) {
                    rotate(a, v, n, p, q);
                }
            }
        }
        if (off <= 1e-12 * scale) {
            break;
        }
    }
}

/* order[i] = index of the i-th largest diagonal element */
static void sort_eigenvalues(const double *a, int64_t n, int64_t *order)
{
    for (int64_t i = 0; i < n; i++) {
        int64_t j = i;
        for (; j > 0 && a[order[j - 1] * (n + 1)] < a[i * (n + 1)]; j--) {
            order[j] = order[j - 1];
        }
        order[j] = i;
    }
}

/* Rows of the table: Q times the eigenvectors of B B^T (B = Q^T X), column c times sigma_c^(1/2), all scaled to SIZE. */
static attn_status write_vectors(svd *s, const float *q, const float *b, float *table, attn_error *error)
{
    int64_t k = s->k, dim = s->dim, n = k < dim ? k : dim;
    double *a = attn__arena_array(s->arena, k * k, sizeof *a), *v = attn__arena_array(s->arena, k * k, sizeof *v);
    int64_t *order = attn__arena_array(s->arena, k, sizeof *order);
    float *w = attn__arena_array(s->arena, k * n, sizeof *w);
    if (a == NULL || v == NULL || order == NULL || w == NULL) {
        return attn__fail(error, ATTN_ENOMEM, "out of memory for the word vectors");
    }
    for (int64_t i = 0; i < k; i++) { /* b is k x rows here */
        for (int64_t j = 0; j <= i; j++) {
            a[i * k + j] = a[j * k + i] = s->K->dot(s->rows, b + i * s->rows, b + j * s->rows);
        }
    }
    eigenvectors(a, v, k);
    sort_eigenvalues(a, k, order);
    for (int64_t c = 0; c < n; c++) {
        double size = pow(fmax(0, a[order[c] * (k + 1)]), 0.25);
        for (int64_t i = 0; i < k; i++) {
            w[i * n + c] = (float)(v[i * k + order[c]] * size);
        }
    }
    double squares = 0;
    s->K->gemm(s->rows, n, k, 1, q, k, 1, w, n, 1, false, table, dim);
    for (int64_t i = 0; i < s->rows; i++) {
        squares += s->K->sum_squares(n, table + i * dim);
    }
    double rms = sqrt(squares / (double)(s->rows * n > 0 ? s->rows * n : 1));
    for (int64_t i = 0; i < s->rows && rms > 0; i++) {
        s->K->scale(n, SIZE / rms, table + i * dim, table + i * dim);
    }
    return ATTN_OK;
}

static attn_status decompose(svd *s, float *table, attn_error *error)
{
    float *q = attn__arena_array(s->arena, s->rows * s->k, sizeof *q), *z = attn__arena_array(s->arena, s->rows * s->k, sizeof *z);
    if (q == NULL || z == NULL) {
        return attn__fail(error, ATTN_ENOMEM, "out of memory for the word vectors");
    }
    draw d = {attn__seed_for(s->m->config.seed, ATTN__FOR_VECTORS), s->rows * s->k, z};
    attn__parallel(s->m->config.threads, attn__tiles(d.count, DRAW_TILE), ATTN__NORMAL_COST * DRAW_TILE, draw_tile, &d);
    multiply(s, false, z, q);
    orthonormalise(s, q, z);
    for (int round = 0; round < ROUNDS; round++) {
        multiply(s, true, q, z);
        multiply(s, false, z, q);
        orthonormalise(s, q, z);
    }
    multiply(s, true, q, z); /* B^T */
    float *b = attn__arena_array(s->arena, s->rows * s->k, sizeof *b);
    if (b == NULL) {
        return attn__fail(error, ATTN_ENOMEM, "out of memory for the word vectors");
    }
    transpose(s->rows, s->k, z, b);
    return write_vectors(s, q, b, table, error);
}

attn_status attn__corpus_vectors(const attn_word_sense *m, const attn_corpus *train, int64_t words, int dim, float *table,
                                 attn_error *error)
{
    attn__arena arena;
    attn__sparse x;
    attn__arena_init(&arena, &m->allocator);
    attn_status status =
        attn__cooccurrence(m, &arena, train, words, &x) ? ATTN_OK : attn__fail(error, ATTN_ENOMEM, "out of memory for the word vectors");
    if (status == ATTN_OK) {
        int64_t k = dim + EXTRA_COLUMNS;
        svd s = {.m = m, .x = &x, .K = attn__kernels(ATTN_F32), .arena = &arena, .dim = dim, .rows = x.rows, .k = k < x.rows ? k : x.rows};
        status = decompose(&s, table + dim, error);
    }
    attn__sparse_free(m, &x);
    attn__arena_free(&arena);
    return status;
}

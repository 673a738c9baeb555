/* Vectors of words that a file lacks. Every word of the training text has a vector s made from that text; the words that also have one in
 * the file, f, tell how to get from one to the other, and the others follow: W = argmin sum over words with f of |s W - f|^2 + RIDGE |W|^2,
 * so (S^T S + RIDGE I) W = S^T F;   guess = s W Source: Hoerl, Kennard 1970, "Ridge regression", Technometrics 12; for word vectors of two
 * kinds Mikolov, Le, Sutskever 2013, arXiv:1309.4168. */
#include <math.h>
#include <string.h>

#include "word_sense/vectors.h"

/* Components of the text's vectors, and the words with both vectors that it takes to say where they lead. */
#define WIDTH       100
#define LEAST_PAIRS (2 * WIDTH)
/* In the units of S^T S, of which a word adds about 0.09 to each element of the diagonal: the weight of some twenty words. */
#define RIDGE 2

typedef struct guess {
    const attn__vectors *v;
    attn__arena *arena;
    float *text;  /* (V + 1, WIDTH) vectors of the text */
    float *s, *f; /* (pairs, WIDTH), (pairs, D) */
    int64_t pairs;
} guess;

/* Solves A X = B for a symmetric positive definite A (n,n) and B (n,k), in place: A becomes its Cholesky factor, B becomes X. */
static void solve(double *a, double *b, int64_t n, int64_t k)
{
    const attn__kernel_table *K = attn__kernels(ATTN_F64);
    for (int64_t i = 0; i < n; i++) {
        for (int64_t j = 0; j <= i; j++) {
            double rest = a[i * n + j] - K->dot(j, a + i * n, a + j * n);
            a[i * n + j] = i == j ? sqrt(rest) : rest / a[j * n + j];
        }
    }
    for (int64_t i = 0; i < n; i++) { /* L Y = B */
        for (int64_t j = 0; j < i; j++) {
            K->axpy(k, -a[i * n + j], b + j * k, b + i * k);
        }
        K->scale(k, 1 / a[i * n + i], b + i * k, b + i * k);
    }
    for (int64_t i = n - 1; i >= 0; i--) { /* L^T X = Y */
        for (int64_t j = i + 1; j < n; j++) {
            K->axpy(k, -a[j * n + i], b + j * k, b + i * k);
        }
        K->scale(k, 1 / a[i * n + i], b + i * k, b + i * k);
    }
}

/* to (WIDTH,n) = S^T x, x (pairs,n) */
static bool products(const guess *g, const float *x, int64_t n, double *to)
{
    float *single = attn__arena_array(g->arena, WIDTH * n, sizeof *single);
    if (single != NULL) {
        attn__kernels(ATTN_F32)->gemm(WIDTH, n, g->pairs, 1, g->s, 1, WIDTH, x, n, 1, false, single, n);
        for (int64_t i = 0; i < WIDTH * n; i++) {
            to[i] = (double)single[i];
        }
    }
    return single != NULL;
}

static bool collect(guess *g)
{
    const attn__vectors *v = g->v;
    size_t dim = (size_t)v->dim;
    g->s = attn__arena_array(g->arena, g->pairs * WIDTH, sizeof *g->s);
    g->f = attn__arena_array(g->arena, g->pairs * v->dim, sizeof *g->f);
    if (g->s == NULL || g->f == NULL) {
        return false;
    }
    size_t at = 0;
    for (int64_t row = 1; row < v->rows; row++) {
        if (v->have[row]) {
            memcpy(g->s + at * WIDTH, g->text + row * WIDTH, WIDTH * sizeof *g->s);
            memcpy(g->f + at * dim, v->table + (size_t)row * dim, dim * sizeof *g->f);
            at++;
        }
    }
    return true;
}

/* W (WIDTH,D), NULL if out of memory */
static float *fit(guess *g)
{
    int64_t dim = g->v->dim;
    double *a = attn__arena_array(g->arena, WIDTH * WIDTH, sizeof *a), *b = attn__arena_array(g->arena, WIDTH * dim, sizeof *b);
    float *w = attn__arena_array(g->arena, WIDTH * dim, sizeof *w);
    if (a == NULL || b == NULL || w == NULL || !collect(g) || !products(g, g->s, WIDTH, a) || !products(g, g->f, dim, b)) {
        return NULL;
    }
    for (int64_t i = 0; i < WIDTH; i++) {
        a[i * (WIDTH + 1)] += RIDGE;
    }
    solve(a, b, WIDTH, dim);
    for (int64_t i = 0; i < WIDTH * dim; i++) {
        w[i] = (float)b[i];
    }
    return w;
}

static attn_status guess_rows(guess *g, attn__vectors *v, const attn_corpus *train, attn_error *error)
{
    const attn__kernel_table *K = attn__kernels(ATTN_F32);
    g->text = attn__arena_array(g->arena, v->rows * WIDTH, sizeof *g->text);
    attn_status status = ATTN_OK;
    if (g->text != NULL) {
        memset(g->text, 0, (size_t)(v->rows * WIDTH) * sizeof *g->text);
        status = attn__corpus_vectors(v->m, train, v->rows - 1, WIDTH, g->text, error);
    }
    float *w = g->text != NULL && status == ATTN_OK ? fit(g) : NULL;
    if (status == ATTN_OK && w == NULL) {
        status = attn__fail(error, ATTN_ENOMEM, "out of memory for the word vectors");
    }
    for (int64_t row = 1; row < v->rows && status == ATTN_OK; row++) {
        const float *s = g->text + row * WIDTH;
        if (!v->have[row] && K->sum_squares(WIDTH, s) > 0) { /* else the text, too, tells nothing of the word */
            K->gemm(1, v->dim, WIDTH, 1, s, WIDTH, 1, w, v->dim, 1, false, v->table + row * v->dim, v->dim);
            v->have[row] = K->first_nonfinite(v->dim, v->table + row * v->dim) < 0; /* vectors near the largest float lead beyond it */
            v->m->vectors_report.guessed += v->have[row];
        }
    }
    return status;
}

attn_status attn__vectors_guess(attn__vectors *v, const attn_corpus *train, attn_error *error)
{
    attn__arena arena;
    guess g = {.v = v, .arena = &arena};
    for (int64_t row = 1; row < v->rows; row++) {
        g.pairs += v->have[row];
    }
    if (g.pairs < LEAST_PAIRS || g.pairs == v->rows - 1) {
        return ATTN_OK;
    }
    attn__arena_init(&arena, &v->m->allocator);
    attn_status status = guess_rows(&g, v, train, error);
    attn__arena_free(&arena);
    return status;
}

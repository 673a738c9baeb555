/* Word vectors from the training text: the matrix of mutual information, and its singular vectors. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/senses.h"

#include "word_sense/cooccurrence.h"

/* A model whose vocabulary is that of the corpus; its vectors are made by the test. */
static attn_word_sense *model_of(const attn_corpus *c, int dim, int min_count)
{
    attn_word_sense_config config = tiny_config();
    config.vectors = ATTN_VECTORS_NONE;
    config.dim = dim;
    config.min_count = min_count;
    return new_model(c, config);
}

/* The matrix (rows x rows) of a corpus, and its transpose as the program keeps it. */
static double *matrix_of(const attn_word_sense *m, const attn_corpus *c, bool transposed)
{
    attn__arena arena;
    attn__sparse s;
    attn__arena_init(&arena, NULL);
    assert_true(attn__cooccurrence(m, &arena, c, (int64_t)m->vocabulary.count, &s));
    double *x = calloc((size_t)(s.rows * s.rows) + 1, sizeof *x);
    for (int64_t w = 0; w < s.rows; w++) {
        for (int64_t i = s.begin[w]; i < s.begin[w + 1]; i++) {
            assert_in_range(s.column[i], 0, s.rows - 1);
            assert_true(i == s.begin[w] || s.column[i] > s.column[i - 1]);
            x[transposed ? s.column[i] * s.rows + w : w * s.rows + s.column[i]] = (double)(transposed ? s.transposed : s.value)[i];
        }
    }
    attn__sparse_free(m, &s);
    attn__arena_free(&arena);
    return x;
}

/* "a b c", "b a", "b b c" by hand: neighbours a-b 2, a-c 1/2, b-b 2, b-c 2.5; sums 2.5, 6.5, 3; shares (roots) .269695, .434870,
 * .295436. So x[a,b] = ln(2/2.5) - ln(.434870) = .609566, x[a,c] = ln(.5/2.5) - ln(.295436) < 0, and so on. */
static void information_is_that_computed_by_hand(void **state)
{
    (void)state;
    const double expected[] = {0, 0.609566, 0, 0.131810, 0, 0.263793, 0, 0.650387, 0};
    attn_corpus *c = attn_corpus_new(NULL);
    assert_int_equal(add_sentence(c, "1", 1, "a b c"), ATTN_OK);
    assert_int_equal(add_sentence(c, "2", 0, "b a"), ATTN_OK);
    assert_int_equal(add_sentence(c, "1", 0, "b b c"), ATTN_OK);
    attn_word_sense *m = model_of(c, 2, 1);
    assert_int_equal(attn__token_row(m, "c"), 3);
    double *x = matrix_of(m, c, false), *y = matrix_of(m, c, true);
    assert_all_close(x, expected, 9, 0, 1e-6);
    assert_all_close(y, x, 9, 1e-7, 0);
    free(x);
    free(y);
    attn_word_sense_free(m);
    attn_corpus_free(c);
}

/* Neighbours are at most ten words away; a word without a vector keeps its place; sentences are apart. */
static void neighbours_end_after_ten_words(void **state)
{
    (void)state;
    attn_corpus *c = attn_corpus_new(NULL);
    for (int i = 0; i < 2; i++) { /* so that all words but the x are seen twice */
        assert_int_equal(add_sentence(c, i == 0 ? "1" : "2", 0, i == 0 ? "a x1 x2 x3 x4 x5 x6 x7 x8 x9 b c" : "a"), ATTN_OK);
    }
    assert_int_equal(add_sentence(c, "1", 0, "b"), ATTN_OK);
    assert_int_equal(add_sentence(c, "1", 0, "c"), ATTN_OK);
    attn_word_sense *m = model_of(c, 2, 2);
    assert_int_equal(attn_word_sense_vocabulary(m), 4); /* a, all x (digits are alike), b, c */
    double *x = matrix_of(m, c, false);
    int64_t a = attn__token_row(m, "a") - 1, b = attn__token_row(m, "b") - 1, last = attn__token_row(m, "c") - 1;
    assert_true(x[a * 4 + last] == 0 && x[last * 4 + a] == 0); /* eleven words away */
    /* a has 1 + 1/2 + ... + 1/9 with the x, and 1/10 with b; b has that, 1/10 and 1; c has 1/2 + ... + 1/10 and 1. */
    double near = 0;
    for (int d = 1; d <= 9; d++) {
        near += 1.0 / d;
    }
    double within = 0; /* x with x: pairs at distance d, in both directions */
    for (int d = 1; d <= 8; d++) {
        within += 2.0 * (9 - d) / d;
    }
    double to_c = near - 1 + 0.1, sums[] = {near + 0.1, near + within + near + to_c, near + 0.1 + 1, to_c + 1}, total = 0;
    for (int i = 0; i < 4; i++) {
        total += sqrt(sums[i]);
    }
    assert_close(x[b * 4 + last], log(1 / sums[2]) - log(sqrt(sums[3]) / total), 1e-5, 0);
    assert_close(x[last * 4 + b], log(1 / sums[3]) - log(sqrt(sums[2]) / total), 1e-5, 0);
    free(x);
    attn_word_sense_free(m);
    attn_corpus_free(c);
}

/* ---- singular vectors ---- */

/* Vectors of all words (rows x dim), made into a table whose row 0 must be left alone, and so must columns beyond the number of words:
 * these come back as 0. */
static float *vectors_of(const attn_word_sense *m, const attn_corpus *c)
{
    size_t dim = (size_t)m->config.dim, rows = m->vocabulary.count;
    float *table = malloc((rows + 1) * dim * sizeof *table);
    for (size_t i = 0; i < (rows + 1) * dim; i++) {
        table[i] = 77;
    }
    assert_int_equal(attn__corpus_vectors(m, c, (int64_t)rows, (int)dim, table, NULL), ATTN_OK);
    for (size_t i = 0; i < (rows + 1) * dim; i++) {
        if (i < dim || i % dim >= rows) {
            assert_true(table[i] == 77);
            table[i] = 0;
        }
    }
    memmove(table, table + dim, rows * dim * sizeof *table);
    return table;
}

/* C = A B^T or A B of square matrices */
static double *product(const double *a, const double *b, int64_t n, bool transpose)
{
    double *c = calloc((size_t)(n * n), sizeof *c);
    for (int64_t i = 0; i < n; i++) {
        for (int64_t j = 0; j < n; j++) {
            for (int64_t k = 0; k < n; k++) {
                c[i * n + j] += a[i * n + k] * (transpose ? b[j * n + k] : b[k * n + j]);
            }
        }
    }
    return c;
}

/* T T^T of the vectors. */
static double *gram_of(const float *t, int64_t rows, int64_t dim)
{
    double *g = calloc((size_t)(rows * rows), sizeof *g);
    for (int64_t i = 0; i < rows; i++) {
        for (int64_t j = 0; j < rows; j++) {
            for (int64_t k = 0; k < dim; k++) {
                g[i * rows + j] += (double)t[i * dim + k] * (double)t[j * dim + k];
            }
        }
    }
    return g;
}

/* a = factor * b, for the factor that their traces have. */
static void assert_proportional(const double *a, double *b, int64_t n, double tolerance)
{
    double trace_a = 0, trace_b = 0, largest = 0;
    for (int64_t i = 0; i < n; i++) {
        trace_a += a[i * n + i];
        trace_b += b[i * n + i];
    }
    assert_true(trace_a > 0 && trace_b > 0);
    for (int64_t i = 0; i < n * n; i++) {
        b[i] *= trace_a / trace_b;
        largest = fmax(largest, fabs(b[i]));
    }
    assert_all_close(a, b, n * n, 0, tolerance * largest);
}

/* Two groups of three words that keep to themselves: neighbours of a word are itself 4 times and the two others twice, so x is ln 3 on the
 * diagonal, ln 1.5 inside a group and 0 between them. That matrix is symmetric with positive eigenvalues: U S U^T is the matrix itself. */
static void vectors_of_a_symmetric_matrix_give_it_back(void **state)
{
    (void)state;
    attn_corpus *c = attn_corpus_new(NULL);
    const char *const words[] = {"a", "b", "c", "d", "e", "f"};
    char text[8];
    for (int i = 0; i < 6; i++) {
        for (int twice = 0; twice < 2; twice++) { /* (a,a) 4 times; the senses only make it a corpus */
            (void)snprintf(text, sizeof text, "%s %s", words[i], words[i]);
            assert_int_equal(add_sentence(c, twice == 0 ? "1" : "2", 0, text), ATTN_OK);
            (void)snprintf(text, sizeof text, "%s %s", words[i], words[i / 3 * 3 + (i + 1) % 3]);
            assert_int_equal(add_sentence(c, "1", 0, text), ATTN_OK);
        }
    }
    attn_word_sense *m = model_of(c, 6, 1);
    double *x = matrix_of(m, c, false);
    for (int i = 0; i < 36; i++) {
        double expected = i / 6 == i % 6 ? log(3) : i / 6 / 3 == i % 6 / 3 ? log(1.5) : 0;
        int64_t row = attn__token_row(m, words[i / 6]) - 1, column = attn__token_row(m, words[i % 6]) - 1;
        assert_close(x[row * 6 + column], expected, 1e-6, 1e-7);
    }
    float *t = vectors_of(m, c);
    double *g = gram_of(t, 6, 6);
    assert_proportional(g, x, 6, 1e-5);
    free(g);
    free(t);
    free(x);
    attn_word_sense_free(m);
    attn_corpus_free(c);
}

/* Of any matrix: with T = U S^(1/2) times a factor, (T T^T)^2 is X X^T times a factor. */
static void vectors_hold_the_left_singular_vectors(void **state)
{
    (void)state;
    attn_corpus *c = tiny_corpus(NULL);
    attn_word_sense *m = model_of(c, 70, 1);
    int64_t n = attn_word_sense_vocabulary(m);
    assert_in_range(n, 50, 70); /* more columns than words: nothing is cut off */
    double *x = matrix_of(m, c, false), *xx = product(x, x, n, true);
    float *t = vectors_of(m, c);
    double *g = gram_of(t, n, 70), *gg = product(g, g, n, false), squares = 0;
    assert_proportional(gg, xx, n, 1e-4);
    for (int64_t i = 0; i < n * 70; i++) {
        squares += (double)t[i] * (double)t[i];
    }
    assert_close(sqrt(squares / (double)(n * n)), 0.3, 1e-5, 0); /* the size of components, of those that can be other than 0 */
    free(gg);
    free(g);
    free(t);
    free(xx);
    free(x);
    attn_word_sense_free(m);
    attn_corpus_free(c);
}

/* Fewer columns are the first ones of many, up to sign and size. */
static void fewer_columns_are_the_first_ones(void **state)
{
    (void)state;
    enum { FEW = 5, MANY = 70 };
    attn_corpus *c = tiny_corpus(NULL);
    attn_word_sense *small = model_of(c, FEW, 1), *large = model_of(c, MANY, 1);
    int64_t n = attn_word_sense_vocabulary(small);
    float *t = vectors_of(small, c), *u = vectors_of(large, c);
    double before = HUGE_VAL, factor = 0;
    for (int64_t k = 0; k < FEW; k++) {
        double tt = 0, uu = 0, tu = 0, mixed = 0;
        for (int64_t i = 0; i < n; i++) {
            tt += (double)t[i * FEW + k] * (double)t[i * FEW + k];
            uu += (double)u[i * MANY + k] * (double)u[i * MANY + k];
            tu += (double)t[i * FEW + k] * (double)u[i * MANY + k];
            mixed += (double)t[i * FEW + k] * (double)t[i * FEW + (k + 1) % FEW];
        }
        assert_true(tt < before); /* singular values fall */
        before = tt;
        assert_close(fabs(tu) / sqrt(tt * uu), 1, 1e-3, 0);
        assert_close(mixed / tt, 0, 0, 1e-4); /* columns are orthogonal */
        factor = k == 0 ? tt / uu : factor;
        assert_close(tt / uu, factor, 1e-3, 0);
    }
    free(t);
    free(u);
    attn_word_sense_free(small);
    attn_word_sense_free(large);
    attn_corpus_free(c);
}

/* Words that never have a neighbour, and texts in which none has. */
static void words_without_neighbours_have_zeros(void **state)
{
    (void)state;
    attn_corpus *c = attn_corpus_new(NULL);
    assert_int_equal(add_sentence(c, "1", 0, "bank"), ATTN_OK);
    assert_int_equal(add_sentence(c, "2", 0, "bank"), ATTN_OK);
    for (int more = 0; more < 2; more++) {
        attn_word_sense *m = model_of(c, 4, 1);
        float *t = vectors_of(m, c);
        for (int k = 0; k < 4; k++) {
            assert_true(t[k] == 0);
        }
        free(t);
        attn_word_sense_free(m);
        assert_int_equal(add_sentence(c, "1", 1, "a b c a b"), ATTN_OK);
    }
    attn_corpus_free(c);
}

static void threads_change_no_bit(void **state)
{
    (void)state;
    attn_corpus *c = attn_corpus_new(NULL);
    assert_int_equal(attn_corpus_read(c, ATTN_SOURCE_DIR "/data/zh.train.tsv", "train", NULL), ATTN_OK);
    attn_word_sense *m = model_of(c, 40, 1);
    size_t bytes = (size_t)attn_word_sense_vocabulary(m) * 40 * sizeof(float);
    attn_word_sense_set_threads(m, 1);
    float *one = vectors_of(m, c);
    const int threads[] = {2, 3, 8};
    for (int i = 0; i < 3; i++) {
        attn_word_sense_set_threads(m, threads[i]);
        float *several = vectors_of(m, c);
        assert_memory_equal(one, several, bytes);
        free(several);
    }
    free(one);
    attn_word_sense_free(m);
    attn_corpus_free(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(information_is_that_computed_by_hand),
        cmocka_unit_test(neighbours_end_after_ten_words),
        cmocka_unit_test(vectors_of_a_symmetric_matrix_give_it_back),
        cmocka_unit_test(vectors_hold_the_left_singular_vectors),
        cmocka_unit_test(fewer_columns_are_the_first_ones),
        cmocka_unit_test(words_without_neighbours_have_zeros),
        cmocka_unit_test(threads_change_no_bit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Words that a file of vectors lacks: their vectors are a least-squares image of those that the training text gives them. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support/tensors.h"
#include "support/vectors.h"

#define FILE_NAME "test_vectors_guess.txt"

/* Words that the text holds besides "bank" and "alone"; components of the text's vectors and of the file's. */
enum { WORDS = 260, WIDTH = 100, DIM = 3 };

static const char *name_of(int word, char name[3])
{
    name[0] = (char)('a' + word / 26);
    name[1] = (char)('a' + word % 26);
    name[2] = '\0';
    return name;
}

/* Sentences of "bank" and nine words that are near each other in a circle, and one of "alone" and nothing else. */
static attn_corpus *circle(void)
{
    attn_corpus *c = attn_corpus_new(NULL);
    char names[9][3];
    const char *tokens[10] = {"bank"};
    for (int i = 0; i < 2 * WORDS; i++) {
        for (int k = 0; k < 9; k++) {
            tokens[k + 1] = name_of((i + k * k * (i % 3 + 1)) % WORDS, names[k]);
        }
        assert_int_equal(attn_corpus_add(c, tokens, 10, 0, i % 2 == 0 ? "shore" : "money", NULL), ATTN_OK);
    }
    assert_int_equal(add_sentence(c, "one", 0, "alone"), ATTN_OK);
    return c;
}

static double component(int word, int d)
{
    return (word * (d + 3) % 17) / 8.0 - 1;
}

/* The first words in a file; every component is a multiple of 1/8. */
static void write_words(int words)
{
    FILE *f = fopen(FILE_NAME, "w");
    assert_non_null(f);
    for (int i = 0; i < words; i++) {
        char name[3];
        fprintf(f, "%s %g %g %g\n", name_of(i, name), component(i, 0), component(i, 1), component(i, 2));
    }
    assert_int_equal(fclose(f), 0);
}

static attn_word_sense_config circle_config(void)
{
    attn_word_sense_config config = vectors_config(FILE_NAME, ATTN_VECTORS_FORMAT_AUTO);
    config.seeds = 2;
    return config;
}

/* Solves A X = B (n,n) (n,k) by Gaussian elimination with pivots. */
static void eliminate(double *a, double *b, int n, int k)
{
    for (int p = 0; p < n; p++) {
        int best = p;
        for (int i = p; i < n; i++) {
            best = fabs(a[i * n + p]) > fabs(a[best * n + p]) ? i : best;
        }
        for (int j = 0; j < n; j++) {
            double x = a[p * n + j];
            a[p * n + j] = a[best * n + j];
            a[best * n + j] = x;
        }
        for (int j = 0; j < k; j++) {
            double x = b[p * k + j];
            b[p * k + j] = b[best * k + j];
            b[best * k + j] = x;
        }
        for (int i = 0; i < n; i++) {
            double factor = i == p ? 0 : a[i * n + p] / a[p * n + p];
            for (int j = 0; j < n; j++) {
                a[i * n + j] -= factor * a[p * n + j];
            }
            for (int j = 0; j < k; j++) {
                b[i * k + j] -= factor * b[p * k + j];
            }
        }
    }
    for (int i = 0; i < n * k; i++) {
        b[i] /= a[i / k * (n + 1)];
    }
}

/* W (WIDTH,DIM) of the first `words` words, from the vectors of a model that starts with those of the text. */
static double *image_of(const attn_word_sense *text, int words)
{
    double *a = calloc(WIDTH * WIDTH, sizeof *a), *b = calloc(WIDTH * DIM, sizeof *b);
    for (int word = 0; word < words; word++) {
        char name[3];
        const float *s = vector_of(text, 0, name_of(word, name));
        for (int i = 0; i < WIDTH; i++) {
            for (int j = 0; j < WIDTH; j++) {
                a[i * WIDTH + j] += (double)s[i] * (double)s[j];
            }
            for (int d = 0; d < DIM; d++) {
                b[i * DIM + d] += (double)s[i] * component(word, d);
            }
        }
    }
    for (int i = 0; i < WIDTH; i++) {
        a[i * (WIDTH + 1)] += 2;
    }
    eliminate(a, b, WIDTH, DIM);
    free(a);
    return b;
}

static void the_rest_is_the_image_that_fits_best(void **state)
{
    (void)state;
    const int words = 220;
    attn_corpus *c = circle();
    attn_word_sense_config config = tiny_config();
    config.dim = WIDTH;
    attn_word_sense *text = new_model(c, config);
    double *w = image_of(text, words), largest = 0;
    write_words(words);
    attn_word_sense *m = new_model(c, circle_config());
    for (int word = 0; word < WORDS; word++) {
        char name[3];
        (void)name_of(word, name);
        const float *s = vector_of(text, 0, name);
        for (int d = 0; d < DIM; d++) {
            double x = (double)vector_of(m, 0, name)[d], y = 0;
            for (int i = 0; i < WIDTH; i++) {
                y += (double)s[i] * w[i * DIM + d];
            }
            if (word < words) {
                assert_true(x == component(word, d));
            } else {
                assert_close(x, y, 1e-4, 1e-4);
                largest = fmax(largest, fabs(x));
            }
        }
        assert_memory_equal(vector_of(m, 1, name), vector_of(m, 0, name), DIM * sizeof(float));
    }
    assert_true(largest > 0.1);
    check_random_vector(m, c, "alone"); /* without neighbours */
    attn_vectors_report r = attn_word_sense_vectors_report(m);
    assert_int_equal(r.wanted, WORDS + 2);
    assert_int_equal(r.used, words);
    assert_int_equal(r.guessed, WORDS + 1 - words);
    free(w);
    attn_word_sense_free(m);
    attn_word_sense_free(text);
    attn_corpus_free(c);
}

static void it_takes_two_hundred_words(void **state)
{
    (void)state;
    attn_corpus *c = circle();
    for (int words = 199; words <= 200; words++) {
        write_words(words);
        attn_word_sense *m = new_model(c, circle_config());
        assert_int_equal(attn_word_sense_vectors_report(m).guessed, words < 200 ? 0 : WORDS + 1 - words);
        if (words < 200) {
            check_random_vector(m, c, "jz");
        }
        attn_word_sense_free(m);
    }
    attn_corpus_free(c);
}

/* Words that only the file has take no part, and keep their vectors. */
static void other_words_change_nothing(void **state)
{
    (void)state;
    attn_corpus *c = circle();
    write_words(220);
    attn_word_sense *m = new_model(c, circle_config());
    FILE *f = fopen(FILE_NAME, "a");
    assert_non_null(f);
    fprintf(f, "elsewhere 1 2 3\nnowhere 4 5 6\n");
    assert_int_equal(fclose(f), 0);
    attn_word_sense *more = new_model(c, circle_config());
    assert_int_equal(attn_word_sense_vectors_report(more).added, 2);
    assert_vector(more, "nowhere", 4, 5, 6);
    assert_memory_equal(vector_of(more, 0, "jz"), vector_of(m, 0, "jz"), DIM * sizeof(float));
    attn_word_sense_free(more);
    attn_word_sense_free(m);
    attn_corpus_free(c);
}

/* Vectors near the largest float: their image lies beyond it, so that the words without one start at random, and the model can be loaded.
 */
static void what_no_float_holds_is_not_guessed(void **state)
{
    (void)state;
    attn_corpus *c = circle();
    FILE *f = fopen(FILE_NAME, "w");
    assert_non_null(f);
    for (int i = 0; i < 220; i++) {
        char name[3];
        fprintf(f, "%s 3e38 3e38 3e38\n", name_of(i, name));
    }
    assert_int_equal(fclose(f), 0);
    attn_word_sense *m = new_model(c, circle_config());
    assert_int_equal(attn_word_sense_vectors_report(m).used, 220);
    assert_int_equal(attn_word_sense_vectors_report(m).guessed, 0);
    check_random_vector(m, c, "jz");
    save_ok(m, "test_vectors_guess.huge");
    attn_word_sense_free(load_ok("test_vectors_guess.huge"));
    attn_word_sense_free(m);
    attn_corpus_free(c);
}

static void threads_change_no_bit(void **state)
{
    (void)state;
    attn_corpus *c = circle();
    write_words(210);
    attn_word_sense_config config = circle_config();
    train_to_file(c, NULL, config, "test_vectors_guess.one");
    config.threads = 4;
    train_to_file(c, NULL, config, "test_vectors_guess.four");
    assert_same_file("test_vectors_guess.one", "test_vectors_guess.four");
    attn_corpus_free(c);
}

static void memory_may_run_out(void **state)
{
    (void)state;
    attn_corpus *c = circle();
    write_words(220);
    attn_word_sense_config config = circle_config();
    attn_word_sense *m = NULL;
    int in_the_guess = 0;
    for (long k = 1; m == NULL; k++) {
        counting_allocator a;
        attn_error error;
        counting_init(&a, k);
        m = attn_word_sense_new(c, &config, &a.value, &error);
        if (m == NULL) {
            assert_int_equal(error.status, ATTN_ENOMEM);
            in_the_guess += strcmp(error.message, "out of memory for the word vectors") == 0;
        }
        attn_word_sense_free(m);
        assert_int_equal(a.live, 0);
    }
    assert_true(in_the_guess >= 3);
    attn_corpus_free(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_rest_is_the_image_that_fits_best),
        cmocka_unit_test(it_takes_two_hundred_words),
        cmocka_unit_test(other_words_change_nothing),
        cmocka_unit_test(what_no_float_holds_is_not_guessed),
        cmocka_unit_test(threads_change_no_bit),
        cmocka_unit_test(memory_may_run_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

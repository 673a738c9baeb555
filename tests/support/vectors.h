/* Models whose embeddings come from a file that the test wrote. */
#ifndef ATTN_TEST_VECTORS_H
#define ATTN_TEST_VECTORS_H

#include "support/files.h"
#include "support/senses.h"

#include "word_sense/model.h"

/* A corpus whose vocabulary is "bank" and the words (a NULL ends them; they may hold spaces), in this order. */
static inline attn_corpus *corpus_with(const char *const words[])
{
    const char *tokens[64] = {"bank"};
    int n = 1;
    for (int i = 0; words[i] != NULL; i++) {
        tokens[n++] = words[i];
    }
    attn_corpus *c = attn_corpus_new(NULL);
    assert_int_equal(attn_corpus_add(c, tokens, n, 0, "money", NULL), ATTN_OK);
    assert_int_equal(attn_corpus_add(c, tokens, 1, 0, "shore", NULL), ATTN_OK);
    return c;
}

static inline attn_word_sense_config vectors_config(const char *path, attn_vectors_format format)
{
    attn_word_sense_config config = tiny_config();
    config.vectors = ATTN_VECTORS_FILE;
    config.vectors_file = path;
    config.vectors_format = format;
    config.dim = 0;
    return config;
}

/* The vector of a word in one member, which must be in the vocabulary. */
static inline const float *vector_of(const attn_word_sense *m, int member, const char *word)
{
    int32_t row = attn__token_row(m, word);
    assert_true(row > 0);
    return (const float *)attn_params_value(m->member[member].params, m->member[member].embedding) + (int64_t)row * m->config.dim;
}

/* The word has exactly this vector. */
#define assert_vector(m, word, ...) \
    check_vector((m), (word), (const float[]){__VA_ARGS__}, sizeof((const float[]){__VA_ARGS__}) / sizeof(float), __FILE__, __LINE__)

static inline void check_vector(const attn_word_sense *m, const char *word, const float expected[], size_t n, const char *file, int line)
{
    const float *v = vector_of(m, 0, word);
    if (m->config.dim != (int)n) {
        print_error("dim is %d, expected %zu\n", m->config.dim, n);
        _fail(file, line);
    }
    for (size_t i = 0; i < n; i++) {
        if (!(v[i] == expected[i])) {
            print_error("vector of '%s': element %zu is %.9g, expected %.9g\n", word, i, (double)v[i], (double)expected[i]);
            _fail(file, line);
        }
    }
}

/* The word has the start that a model without a file gives it. */
static inline void check_random_vector(const attn_word_sense *m, const attn_corpus *c, const char *word)
{
    attn_word_sense_config config = attn_word_sense_get_config(m);
    config.vectors = ATTN_VECTORS_NONE;
    attn_word_sense *other = new_model(c, config);
    for (int i = 0; i < config.seeds; i++) {
        assert_memory_equal(vector_of(m, i, word), vector_of(other, i, word), (size_t)config.dim * sizeof(float));
    }
    attn_word_sense_free(other);
}

#endif

/* Word vectors in word2vec's binary form, whole and damaged. */
#include <math.h>
#include <stdlib.h>

#include "support/vectors.h"

#include "attn/random.h"
#include "word_sense/vectors.h"

#define FILE_NAME "test_vectors_binary.bin"

/* A file in the making. */
typedef struct image {
    char bytes[4096];
    size_t size, begin[16]; /* of each record, and the end of the last */
    int records, dim;
    bool line_ends;
} image;

static void add_bytes(image *f, const void *bytes, size_t size)
{
    assert_true(f->size + size <= sizeof f->bytes);
    memcpy(f->bytes + f->size, bytes, size);
    f->size += size;
}

static image begin(int promised, int dim, bool line_ends)
{
    image f = {.dim = dim, .line_ends = line_ends};
    char header[40];
    add_bytes(&f, header, (size_t)snprintf(header, sizeof header, "%d %d\n", promised, dim));
    f.begin[0] = f.size;
    return f;
}

/* Bytes of the file are little-endian whatever the machine. */
static void add(image *f, const char *word, const float vector[])
{
    add_bytes(f, word, strlen(word));
    add_bytes(f, " ", 1);
    for (int d = 0; d < f->dim; d++) {
        uint32_t bits;
        memcpy(&bits, &vector[d], sizeof bits);
        const unsigned char bytes[] = {(unsigned char)bits, (unsigned char)(bits >> 8), (unsigned char)(bits >> 16),
                                       (unsigned char)(bits >> 24)};
        add_bytes(f, bytes, 4);
    }
    add_bytes(f, "\n", f->line_ends);
    f->begin[++f->records] = f->size;
}

static const char *const five[] = {"one", "two", "three", "four", "five", NULL};

/* Five words; no byte of their vectors is a space or a line end. */
static image five_words(bool line_ends)
{
    image f = begin(5, 4, line_ends);
    for (int i = 0; i < 5; i++) {
        const float v[] = {(float)i + 0.1F, -0.5F, 1.0F / ((float)i + 3), 100};
        add(&f, five[i], v);
    }
    return f;
}

static void is_refused_as(attn_vectors_format format, const attn_corpus *c, const char *bytes, size_t size, const char *message)
{
    attn_error error = {.message = ""};
    attn_word_sense_config config = vectors_config(FILE_NAME, format);
    put_bytes(FILE_NAME, bytes, size);
    assert_null(attn_word_sense_new(c, &config, NULL, &error));
    assert_int_equal(error.status, ATTN_EFORMAT);
    assert_contains(error.message, message);
}

static void is_refused(const attn_corpus *c, const char *bytes, size_t size, const char *message)
{
    is_refused_as(ATTN_VECTORS_FORMAT_AUTO, c, bytes, size, message);
}

static void with_and_without_line_ends(void **state)
{
    (void)state;
    attn_corpus *c = corpus_with(five);
    for (int kind = 0; kind < 4; kind++) {
        image f = five_words(kind % 2 == 1);
        put_bytes(FILE_NAME, f.bytes, f.size);
        attn_word_sense *m = new_model(c, vectors_config(FILE_NAME, kind < 2 ? ATTN_VECTORS_FORMAT_AUTO : ATTN_VECTORS_FORMAT_BINARY));
        attn_vectors_report r = attn_word_sense_vectors_report(m);
        assert_string_equal(r.format, "binary");
        assert_int_equal(r.dim, 4);
        assert_int_equal(r.promised, 5);
        assert_int_equal(r.words, 5);
        assert_int_equal(r.used, 5);
        assert_int_equal(r.odd.count + r.broken.count + r.not_finite.count + r.repeated.count + r.malformed.count, 0);
        for (int i = 0; i < 5; i++) {
            assert_vector(m, five[i], (float)i + 0.1F, -0.5F, 1.0F / ((float)i + 3), 100);
        }
        check_random_vector(m, c, "bank");
        attn_word_sense_free(m);
    }
    attn_corpus_free(c);
}

/* Bytes of these numbers are ASCII and zeros. */
static void zeros_are_no_text(void **state)
{
    (void)state;
    attn_corpus *c = corpus_with(five);
    for (int line_ends = 0; line_ends < 2; line_ends++) {
        image f = begin(2, 3, line_ends);
        add(&f, "one", (const float[]){0, 2, 32});
        add(&f, "two", (const float[]){32, 0, 0});
        put_bytes(FILE_NAME, f.bytes, f.size);
        attn_word_sense *m = new_model(c, vectors_config(FILE_NAME, ATTN_VECTORS_FORMAT_AUTO));
        assert_string_equal(attn_word_sense_vectors_report(m).format, "binary");
        assert_vector(m, "one", 0, 2, 32);
        assert_vector(m, "two", 32, 0, 0);
        attn_word_sense_free(m);
    }
    attn_corpus_free(c);
}

/* Cut anywhere, also between two words, a file is refused, with the word where it ends. Whatever the bytes of the vectors: of these some
 * look like digits. */
static void a_cut_file_is_refused(void **state)
{
    (void)state;
    attn_corpus *c = corpus_with(five);
    for (int kind = 0; kind < 4; kind++) {
        image f = five_words(kind % 2);
        if (kind >= 2) {
            f = begin(5, 1, kind % 2);
            for (int i = 0; i < 5; i++) {
                add(&f, five[i], (const float[]){5.4F - (float)i});
            }
        }
        for (int k = 1; k < 5; k++) {
            for (size_t size = f.begin[k]; size < f.begin[k + 1]; size++) {
                char message[40];
                (void)snprintf(message, sizeof message, ": word %d of 5 ", k + 1);
                is_refused(c, f.bytes, size, message);
            }
        }
    }
    attn_corpus_free(c);
}

/* Bytes that are missing or too many move all that follows. A line end after each vector shows it at once. Without line ends a vector takes
 * what it lacks from the next word, whose space then ends a shorter word: nothing in the file tells that from a whole one. */
static void a_file_with_a_hole_is_refused(void **state)
{
    (void)state;
    attn_corpus *c = corpus_with(five);
    image f = five_words(true);
    for (size_t at = f.begin[1] + 4; at < f.begin[2]; at++) {
        for (size_t n = 1; n <= 9; n++) {
            image g = f;
            memmove(g.bytes + at, g.bytes + at + n, g.size - at - n);
            is_refused(c, g.bytes, g.size - n, " of 5 (binary form): ");
            g = f;
            memmove(g.bytes + at + n, g.bytes + at, g.size - at);
            memset(g.bytes + at, 'x', n);
            is_refused(c, g.bytes, g.size + n, " of 5 (binary form): ");
        }
    }
    image g = f;
    memmove(g.bytes + g.begin[2] - 3, g.bytes + g.begin[2] - 1, g.size - g.begin[2] + 1);
    is_refused(c, g.bytes, g.size - 2, "word 2 of 5 (binary form): no line end after its vector");
    f = five_words(false);
    memmove(f.bytes + f.begin[2] - 12, f.bytes + f.begin[2], f.size - f.begin[2]); /* three numbers, more than the next word has letters */
    is_refused(c, f.bytes, f.size - 12, " of 5 (binary form): ");
    attn_corpus_free(c);
}

/* Only the first line tells how many words there should be: more or fewer are damage. */
static void another_number_of_words_is_refused(void **state)
{
    (void)state;
    attn_corpus *c = corpus_with(five);
    image f = five_words(true);
    f.bytes[0] = '6';
    is_refused(c, f.bytes, f.size, "word 6 of 6 (binary form): the file ends within the word");
    f.bytes[0] = '4';
    is_refused(c, f.bytes, f.size, "word 4 of 4 (binary form): the file goes on after it");
    f.bytes[0] = '5';
    f.bytes[f.size] = '\n';
    is_refused(c, f.bytes, f.size + 1, "word 5 of 5 (binary form): the file goes on after it");
    attn_corpus_free(c);
}

static void words_and_vectors_that_are_not_used(void **state)
{
    (void)state;
    attn_corpus *c = corpus_with(five);
    image f = begin(8, 2, false);
    const float good[] = {1, 2}, other[] = {3, 4}, nan[] = {1, NAN}, infinite[] = {-INFINITY, 1}, small[] = {1e-42F, -1e-45F};
    add(&f, "one", good);
    add(&f, "one", other);
    add(&f, "two", nan);
    add(&f, "three", infinite);
    add(&f, "\xE4\xB8", good);
    add(&f, "four", small);
    add(&f, "\t", good);
    add(&f, "2020", good);
    put_bytes(FILE_NAME, f.bytes, f.size);
    attn_word_sense *m = new_model(c, vectors_config(FILE_NAME, ATTN_VECTORS_FORMAT_AUTO));
    attn_vectors_report r = attn_word_sense_vectors_report(m);
    assert_string_equal(r.format, "binary");
    assert_int_equal(r.words, 8);
    assert_int_equal(r.used, 2);
    assert_int_equal(r.repeated.count, 1);
    assert_int_equal(r.repeated.first, 2);
    assert_int_equal(r.not_finite.count, 2);
    assert_int_equal(r.not_finite.first, 3);
    assert_int_equal(r.broken.count, 1);
    assert_int_equal(r.broken.first, 5);
    assert_int_equal(r.odd.count, 1);
    assert_int_equal(r.odd.first, 7);
    assert_vector(m, "one", 1, 2);
    assert_vector(m, "four", 1e-42F, -1e-45F);
    check_random_vector(m, c, "two");
    check_random_vector(m, c, "three");
    attn_word_sense_free(m);
    attn_corpus_free(c);
}

/* The buffer ends just before the line end of the first vector. */
static void a_line_end_after_the_end_of_the_buffer(void **state)
{
    (void)state;
    attn_corpus *c = corpus_with(five);
    static char bytes[ATTN__VECTORS_ROOM + 20];
    const char rest[] = " \0\0\0\x40\ntwo \0\0\0\x40\n";
    size_t word = ATTN__VECTORS_ROOM - 4 - 5;
    memcpy(bytes, "2 1\n", 4);
    memset(bytes + 4, 'w', word);
    memcpy(bytes + 4 + word, rest, sizeof rest - 1);
    put_bytes(FILE_NAME, bytes, 4 + word + sizeof rest - 1);
    attn_word_sense *m = new_model(c, vectors_config(FILE_NAME, ATTN_VECTORS_FORMAT_BINARY));
    assert_vector(m, "two", 2);
    assert_int_equal(attn_word_sense_vectors_report(m).words, 2);
    attn_word_sense_free(m);
    attn_corpus_free(c);
}

/* Thousands of words, so that some lie across the places where the buffer is filled again; and one of more than a buffer. */
static void large_files(void **state)
{
    (void)state;
    enum { WORDS = 9000, DIM = 24 };
    attn_corpus *c = corpus_with((const char *const[]){"w0000", NULL}); /* all have the same number of digits: the first counts */
    char *bytes = malloc((size_t)WORDS * (DIM * 4 + 16) + 400000);
    assert_non_null(bytes);
    for (int line_ends = 0; line_ends < 2; line_ends++) {
        size_t n = (size_t)sprintf(bytes, "%d %d\n", WORDS + 2, DIM);
        float last[DIM], v[DIM];
        for (uint64_t i = 0; i < WORDS + 2; i++) {
            n += (size_t)sprintf(bytes + n, i == 0 ? "early " : i == WORDS + 1 ? "w9 " : "x%04d ", (int)i);
            for (uint64_t d = 0; d < DIM; d++) {
                v[d] = (float)attn_random_normal(1, i, d);
                uint32_t bits;
                memcpy(&bits, &v[d], 4);
                for (int k = 0; k < 4; k++) {
                    bytes[n++] = (char)(bits >> (8 * k));
                }
            }
            n += line_ends ? (size_t)sprintf(bytes + n, "\n") : 0;
            memcpy(last, v, sizeof last);
        }
        attn_corpus *words = corpus_with((const char *const[]){"early", "x0000", "w9", NULL});
        put_bytes(FILE_NAME, bytes, n);
        attn_word_sense *m = new_model(words, vectors_config(FILE_NAME, ATTN_VECTORS_FORMAT_AUTO));
        attn_vectors_report r = attn_word_sense_vectors_report(m);
        assert_string_equal(r.format, "binary");
        assert_int_equal(r.words, WORDS + 2);
        assert_int_equal(r.used, 3);
        assert_int_equal(r.repeated.count, WORDS - 1);
        assert_memory_equal(vector_of(m, 0, "w9"), last, sizeof last);
        for (uint64_t d = 0; d < DIM; d++) {
            assert_true(vector_of(m, 0, "early")[d] == (float)attn_random_normal(1, 0, d));
            assert_true(vector_of(m, 0, "x9999")[d] == (float)attn_random_normal(1, 1, d));
        }
        attn_word_sense_free(m);
        attn_corpus_free(words);
    }
    size_t n = (size_t)sprintf(bytes, "1 2\n");
    memset(bytes + n, 'w', 300000);
    const attn_vectors_format binary = ATTN_VECTORS_FORMAT_BINARY;
    is_refused_as(binary, c, bytes, n + 300000, "word 1 of 1 (binary form): no space ends the word");
    is_refused_as(binary, c, bytes, n + 200000, "word 1 of 1 (binary form): the file ends within the word");
    bytes[n + ATTN__VECTORS_ROOM - 10] = ' '; /* the word fits into the buffer, with a vector of 2 components but not of 9 */
    is_refused_as(binary, c, bytes, n + 300000, "word 1 of 1 (binary form): the file goes on after it");
    memcpy(bytes, "1 9\n", n);
    is_refused_as(binary, c, bytes, n + 300000, "word 1 of 1 (binary form): the word is too long");
    free(bytes);
    attn_corpus_free(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(with_and_without_line_ends),
        cmocka_unit_test(a_cut_file_is_refused),
        cmocka_unit_test(a_file_with_a_hole_is_refused),
        cmocka_unit_test(another_number_of_words_is_refused),
        cmocka_unit_test(words_and_vectors_that_are_not_used),
        cmocka_unit_test(zeros_are_no_text),
        cmocka_unit_test(a_line_end_after_the_end_of_the_buffer),
        cmocka_unit_test(large_files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

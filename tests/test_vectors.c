/* Word vectors from text files: what a line is, which words are taken, what is reported. */
#include <math.h>
#include <stdlib.h>

#include "support/locales.h"
#include "support/vectors.h"

#define FILE_NAME "test_vectors.txt"

static attn_word_sense *model_of(const attn_corpus *c, const char *text, attn_vectors_format format)
{
    put_text(FILE_NAME, text);
    return new_model(c, vectors_config(FILE_NAME, format));
}

static void check_rows(attn_vectors_rows rows, int count, int first)
{
    assert_int_equal(rows.count, count);
    assert_int_equal(rows.first, first);
}

/* Nothing is wrong with the file. */
static void check_clean(const attn_vectors_report *r)
{
    check_rows(r->repeated, 0, 0);
    check_rows(r->odd, 0, 0);
    check_rows(r->broken, 0, 0);
    check_rows(r->not_finite, 0, 0);
    check_rows(r->malformed, 0, 0);
}

static const char *const abc[] = {"a", "b", "c", NULL};

/* ---- forms of the same file ---- */

static void first_line_or_none_and_all_line_ends(void **state)
{
    (void)state;
    static const struct {
        const char *format, *text;
    } files[] = {
        {"word2vec", "3 2\na 0.5 -1\nb .25 2e-1\nc 3. +4\n"},
        {"word2vec", "3 2\na 0.5 -1 \nb .25 2e-1 \nc 3. +4 \n"}, /* word2vec and fastText end lines with a space */
        {"word2vec", "3 2 \r\na 0.5 -1\r\nb .25 2e-1 \r\nc 3. +4"},
        {"word2vec", "\xEF\xBB\xBF"
                     "3\t2\na\t0.5\t-1\nb\t.25 2e-1\nc 3.  \t +4\t\n"},
        {"word2vec", "3 2\n\na 0.5 -1\n\r\n \t\nb .25 2e-1\nc 3. +4\n\n\n"}, /* blank lines are nothing */
        {"glove", "a 0.5 -1\nb .25 2e-1\nc 3. +4\n"},
        {"glove", "a 0.5 -1\r\n\r\nb .25 2e-1\r\nc 3. +4"},
        {"glove", "\xEF\xBB\xBF"
                  "a 0.5 -1\nb .25 2e-1\nc 3. +4\n"},
    };
    attn_corpus *c = corpus_with(abc);
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        bool glove = files[i].format[0] == 'g';
        for (int forced = 0; forced < 2; forced++) {
            attn_vectors_format format = glove ? ATTN_VECTORS_FORMAT_GLOVE : ATTN_VECTORS_FORMAT_WORD2VEC;
            attn_word_sense *m = model_of(c, files[i].text, forced ? format : ATTN_VECTORS_FORMAT_AUTO);
            attn_vectors_report r = attn_word_sense_vectors_report(m);
            assert_string_equal(r.format, files[i].format);
            assert_int_equal(r.dim, 2);
            assert_int_equal(r.promised, glove ? -1 : 3);
            assert_int_equal(r.words, 3);
            assert_int_equal(r.used, 3);
            check_clean(&r);
            assert_int_equal(attn_word_sense_get_config(m).dim, 2);
            assert_vector(m, "a", 0.5F, -1);
            assert_vector(m, "b", 0.25F, 0.2F);
            assert_vector(m, "c", 3, 4);
            check_random_vector(m, c, "bank");
            attn_word_sense_free(m);
        }
    }
    attn_corpus_free(c);
}

/* A first line of two whole numbers is no word, unless it is told to be. */
static void a_number_may_be_the_first_word(void **state)
{
    (void)state;
    static const char *const words[] = {"2020", "a", NULL};
    static const struct {
        const char *text;
        attn_vectors_format format;
        float year;
    } files[] = {
        {"2020 0.5\na 2\n", ATTN_VECTORS_FORMAT_GLOVE, 0.5F},
        {"2020 1\na 2\n", ATTN_VECTORS_FORMAT_GLOVE, 1},
        {"2020 0.5\na 2\n", ATTN_VECTORS_FORMAT_AUTO, 0.5F},
        {"-2020 1\n2020 3\na 2\n", ATTN_VECTORS_FORMAT_AUTO, 3},
    };
    attn_corpus *c = corpus_with(words);
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        attn_word_sense *m = model_of(c, files[i].text, files[i].format);
        assert_string_equal(attn_word_sense_vectors_report(m).format, "glove");
        assert_int_equal(attn_word_sense_vectors_report(m).used, 2);
        assert_vector(m, "2020", files[i].year);
        assert_vector(m, "a", 2);
        attn_word_sense_free(m);
    }
    attn_word_sense *m = model_of(c, "2020 1\na 2\n", ATTN_VECTORS_FORMAT_AUTO);
    assert_string_equal(attn_word_sense_vectors_report(m).format, "word2vec");
    assert_int_equal(attn_word_sense_vectors_report(m).promised, 2020);
    assert_int_equal(attn_word_sense_vectors_report(m).words, 1);
    attn_word_sense_free(m);
    attn_corpus_free(c);
}

/* The last numbers are the vector, the rest is the word; without a first line, what most lines end with is the number of numbers. */
static void words_may_hold_spaces_and_end_in_numbers(void **state)
{
    (void)state;
    static const char *const words[] = {"new york", "page 0", "a\tb", "york", "page", "b", NULL};
    attn_corpus *c = corpus_with(words);
    const char *rows = "new york 1 2 3\npage 7 4 5 6\na\tb 7 8 9\nx 1 1 1\nnan 2 2 2\nin 9 9 3 3 3\n";
    char with_header[200];
    (void)snprintf(with_header, sizeof with_header, "6 3\n%s", rows);
    for (int header = 0; header < 2; header++) {
        attn_word_sense *m = model_of(c, header ? with_header : rows, ATTN_VECTORS_FORMAT_AUTO);
        attn_vectors_report r = attn_word_sense_vectors_report(m);
        assert_int_equal(r.words, 6);
        assert_int_equal(r.used, 3);
        check_clean(&r);
        assert_vector(m, "new york", 1, 2, 3);
        assert_vector(m, "page 3", 4, 5, 6);
        assert_vector(m, "a\tb", 7, 8, 9);
        check_random_vector(m, c, "york");
        check_random_vector(m, c, "page");
        check_random_vector(m, c, "b");
        attn_word_sense_free(m);
    }
    /* The first line alone would be one for 4 numbers. */
    attn_word_sense *m = model_of(c, "page 7 4 5 6\nyork 1 2 3\nb 7 8 9\n", ATTN_VECTORS_FORMAT_AUTO);
    assert_vector(m, "page 7", 4, 5, 6);
    assert_vector(m, "b", 7, 8, 9);
    attn_word_sense_free(m);
    /* As many lines for 2 numbers as for 3: a word can end in a number, a vector cannot lose one. */
    m = model_of(c, "york 1 2\npage 7 3 4\n", ATTN_VECTORS_FORMAT_AUTO);
    assert_vector(m, "york", 1, 2);
    assert_vector(m, "page 7", 3, 4);
    attn_word_sense_free(m);
    attn_corpus_free(c);
}

static void numbers_look_alike_in_every_locale(void **state)
{
    (void)state;
    attn_corpus *c = corpus_with(abc);
    bool there = numbers_as_in("de_DE");
    attn_word_sense *m = model_of(c, "3 2\na 0.5 1.25\nb 0,5 1\nc 123456789012345678.5 1e-5\n", ATTN_VECTORS_FORMAT_AUTO);
    numbers_as_usual();
    assert_vector(m, "a", 0.5F, 1.25F);
    assert_vector(m, "c", 123456789012345678.5F, 1e-5F);
    check_rows(attn_word_sense_vectors_report(m).malformed, 1, 3);
    attn_word_sense_free(m);
    attn_corpus_free(c);
    if (!there) {
        skip();
    }
}

/* ---- lines that something is wrong with ---- */

static void odd_words_are_skipped_one_by_one(void **state)
{
    (void)state;
    attn_corpus *c = corpus_with(abc);
    attn_word_sense *m = model_of(c, "5 3\na 1 2 3\n\t 4 5 6\nb 7 8 9\n  1 1 1\nc 2 3 4\n", ATTN_VECTORS_FORMAT_AUTO);
    attn_vectors_report r = attn_word_sense_vectors_report(m);
    assert_int_equal(r.words, 5);
    assert_int_equal(r.used, 3);
    check_rows(r.odd, 2, 3);
    check_rows(r.malformed, 0, 0);
    assert_vector(m, "a", 1, 2, 3);
    assert_vector(m, "b", 7, 8, 9);
    assert_vector(m, "c", 2, 3, 4);
    attn_word_sense_free(m);
    m = model_of(c, "a 1 2\n 3 4\nb 5 6\n5 6\n",
                 ATTN_VECTORS_FORMAT_AUTO); /* no word between the line's start and the first space; none at all */
    r = attn_word_sense_vectors_report(m);
    check_rows(r.odd, 1, 2);
    check_rows(r.malformed, 1, 4);
    assert_int_equal(r.used, 2);
    attn_word_sense_free(m);
    attn_corpus_free(c);
}

static void a_first_line_may_promise_another_number(void **state)
{
    (void)state;
    attn_corpus *c = corpus_with(abc);
    static const struct {
        const char *text;
        int promised;
    } files[] = {{"4 2\na 1 2\nb 3 4\nc 5 6\n", 4}, {"2 2\na 1 2\nb 3 4\nc 5 6\n", 2}, {"0 2\na 1 2\nb 3 4\nc 5 6\n", 0}};
    for (size_t i = 0; i < 3; i++) {
        attn_word_sense *m = model_of(c, files[i].text, ATTN_VECTORS_FORMAT_AUTO);
        attn_vectors_report r = attn_word_sense_vectors_report(m);
        assert_int_equal(r.promised, files[i].promised);
        assert_int_equal(r.words, 3);
        assert_int_equal(r.used, 3);
        assert_vector(m, "c", 5, 6);
        check_random_vector(m, c, "bank");
        attn_word_sense_free(m);
    }
    attn_corpus_free(c);
}

static void the_first_of_repeated_words_counts(void **state)
{
    (void)state;
    static const char *const words[] = {"a", "b", "1998", NULL};
    attn_corpus *c = corpus_with(words);
    attn_word_sense *m = model_of(c, "a 1 2\nb 3 4\na 5 6\n=======\n", ATTN_VECTORS_FORMAT_AUTO);
    attn_vectors_report r = attn_word_sense_vectors_report(m);
    assert_int_equal(r.used, 2);
    check_rows(r.repeated, 1, 3);
    check_rows(r.malformed, 1, 4);
    assert_vector(m, "a", 1, 2);
    attn_word_sense_free(m);
    /* For the model 1998 and 2005 are one word. A word that the training text lacks is kept, and had once, too. */
    m = model_of(c, "2005 1 2\n1998 3 4\n2005 5 6\nx 1 1\nx 2 2\n", ATTN_VECTORS_FORMAT_AUTO);
    r = attn_word_sense_vectors_report(m);
    assert_int_equal(r.words, 5);
    assert_int_equal(r.used, 1);
    assert_int_equal(r.wanted, attn_word_sense_vocabulary(m) - 1);
    assert_int_equal(r.added, 1);
    check_rows(r.repeated, 3, 2);
    assert_vector(m, "1998", 1, 2);
    assert_vector(m, "x", 1, 1);
    attn_word_sense_free(m);
    attn_corpus_free(c);
}

static void numbers_that_are_not_finite_are_not_used(void **state)
{
    (void)state;
    static const char *const words[] = {"a", "b", "c", "d", "e", "f", NULL};
    attn_corpus *c = corpus_with(words);
    attn_word_sense *m =
        model_of(c, "8 2\na nan 1\nb 1 -nan\nc -inf 2\nd 1e-42 -1e-45\ne 1e39 0\nf 1e999 1\na 5 6\nx inf inf\n", ATTN_VECTORS_FORMAT_AUTO);
    attn_vectors_report r = attn_word_sense_vectors_report(m);
    check_rows(r.not_finite, 5, 2);
    check_rows(r.malformed, 1, 7); /* no double holds 1e999 */
    check_rows(r.repeated, 0, 0);
    assert_int_equal(r.words, 7);
    assert_int_equal(r.used, 2);
    assert_vector(m, "d", 1e-42F, -1e-45F);
    assert_true(vector_of(m, 0, "d")[1] < 0);
    assert_vector(m, "a", 5, 6); /* the first that can be used */
    check_random_vector(m, c, "b");
    check_random_vector(m, c, "c");
    check_random_vector(m, c, "e");
    check_random_vector(m, c, "f");
    train_ok(m, c, NULL);
    assert_true(isfinite(vector_of(m, 0, "d")[0]));
    attn_word_sense_free(m);
    attn_corpus_free(c);
}

/* ---- bytes of words ---- */

static void only_ascii_spaces_separate(void **state)
{
    (void)state;
    static const char *const words[] = {"\xE3\x80\x80中国", "中国", "中\xC2\xA0国", "国", NULL};
    attn_corpus *c = corpus_with(words);
    attn_word_sense *m =
        model_of(c, "\xE3\x80\x80中国 1 2\n中国 3 4\n中\xC2\xA0国 5 6\n中国\xE3\x80\x80 7 8\n中国  9 9\n", ATTN_VECTORS_FORMAT_AUTO);
    attn_vectors_report r = attn_word_sense_vectors_report(m);
    assert_int_equal(r.words, 5);
    assert_int_equal(r.used, 3);
    check_clean(&r);
    assert_vector(m, words[0], 1, 2);
    assert_vector(m, words[1], 3, 4);
    assert_vector(m, words[2], 5, 6);
    check_random_vector(m, c, "国");
    attn_word_sense_free(m);
    attn_corpus_free(c);
}

static void broken_words_are_merged_with_no_other(void **state)
{
    (void)state;
    static const char *const words[] = {"\xE4\xB8\xAD", "a", NULL};
    static const char text[] = "8 2\n\xE4\xB8 1 2\n\xE4\xB8\xAD 3 4\na\0b 5 6\na\0 7 8\n\0 1 1\n\xC0\x80 1 1\n\xFF\n\xFF 1\n";
    attn_corpus *c = corpus_with(words);
    for (int header = 0; header < 2; header++) {
        put_bytes(FILE_NAME, text + (header ? 0 : 4), sizeof text - 1 - (header ? 0 : 4));
        attn_word_sense *m = new_model(c, vectors_config(FILE_NAME, ATTN_VECTORS_FORMAT_AUTO));
        attn_vectors_report r = attn_word_sense_vectors_report(m);
        assert_string_equal(r.format, header ? "word2vec" : "glove");
        check_rows(r.broken, 5, 1 + header);
        check_rows(r.malformed, 2, 7 + header);
        check_rows(r.odd, 0, 0);
        assert_int_equal(r.used, 1);
        assert_vector(m, "\xE4\xB8\xAD", 3, 4);
        check_random_vector(m, c, "a");
        attn_word_sense_free(m);
    }
    static const char zero_in_first[] = "3 2\0\na 1 2\n";
    put_bytes(FILE_NAME, zero_in_first, sizeof zero_in_first - 1);
    attn_word_sense *m = new_model(c, vectors_config(FILE_NAME, ATTN_VECTORS_FORMAT_AUTO));
    assert_string_equal(attn_word_sense_vectors_report(m).format, "glove");
    assert_vector(m, "a", 1, 2);
    attn_word_sense_free(m);
    attn_corpus_free(c);
}

/* Of 4096 numbers with 38 characters each only one line fits into what is looked at together. */
static void the_widest_vectors(void **state)
{
    (void)state;
    attn_corpus *c = corpus_with(abc);
    FILE *f = fopen(FILE_NAME, "w");
    assert_non_null(f);
    for (int line = 0; line < 3; line++) {
        fprintf(f, "%s", abc[line]);
        for (int d = 0; d < 4096; d++) {
            fprintf(f, " %.36f", d / 16.0 + line);
        }
        fprintf(f, "\n");
    }
    assert_int_equal(fclose(f), 0);
    attn_word_sense *m = new_model(c, vectors_config(FILE_NAME, ATTN_VECTORS_FORMAT_AUTO));
    attn_vectors_report r = attn_word_sense_vectors_report(m);
    assert_int_equal(r.dim, 4096);
    assert_int_equal(r.used, 3);
    assert_true(vector_of(m, 0, "a")[1] == 0.0625F && vector_of(m, 0, "c")[4095] == 257.9375F);
    attn_word_sense_free(m);
    attn_corpus_free(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(first_line_or_none_and_all_line_ends),
        cmocka_unit_test(a_number_may_be_the_first_word),
        cmocka_unit_test(words_may_hold_spaces_and_end_in_numbers),
        cmocka_unit_test(numbers_look_alike_in_every_locale),
        cmocka_unit_test(odd_words_are_skipped_one_by_one),
        cmocka_unit_test(a_first_line_may_promise_another_number),
        cmocka_unit_test(the_first_of_repeated_words_counts),
        cmocka_unit_test(numbers_that_are_not_finite_are_not_used),
        cmocka_unit_test(only_ascii_spaces_separate),
        cmocka_unit_test(broken_words_are_merged_with_no_other),
        cmocka_unit_test(the_widest_vectors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

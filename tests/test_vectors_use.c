/* Models that start with vectors from a file: what is random, what training does, errors, memory, real data. */
#include <math.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/datasets.h"
#include "support/disk.h"
#include "support/vectors.h"

#include "word_sense/vectors.h"

#define FILE_NAME "test_vectors_use.txt"

static const char *const abc[] = {"a", "b", "c", NULL};
static const char three_rows[] = "3 2\na 1 2\nb 3 4\nc 5 6\n";

/* ---- the table ---- */

static void members_share_the_file_and_nothing_else(void **state)
{
    (void)state;
    put_text(FILE_NAME, "a 1 2\nc 5 6\n");
    attn_corpus *c = corpus_with(abc);
    attn_word_sense_config config = vectors_config(FILE_NAME, ATTN_VECTORS_FORMAT_AUTO);
    config.seeds = 2;
    attn_word_sense *m = new_model(c, config);
    assert_vector(m, "a", 1, 2);
    assert_vector(m, "c", 5, 6);
    assert_memory_equal(vector_of(m, 1, "a"), vector_of(m, 0, "a"), 2 * sizeof(float));
    assert_memory_equal(vector_of(m, 1, "c"), vector_of(m, 0, "c"), 2 * sizeof(float));
    assert_memory_not_equal(vector_of(m, 1, "b"), vector_of(m, 0, "b"), 2 * sizeof(float));
    check_random_vector(m, c, "b");
    check_random_vector(m, c, "bank");
    attn_word_sense_free(m);
    attn_corpus_free(c);
}

static void training_moves_them_unless_they_are_frozen(void **state)
{
    (void)state;
    put_text(FILE_NAME, three_rows);
    attn_corpus *c = corpus_with(abc);
    for (int frozen = 0; frozen < 2; frozen++) {
        attn_word_sense_config config = vectors_config(FILE_NAME, ATTN_VECTORS_FORMAT_AUTO);
        config.freeze_vectors = frozen;
        attn_word_sense *m = new_model(c, config);
        train_ok(m, c, NULL);
        const float *a = vector_of(m, 0, "a");
        assert_int_equal(a[0] == 1 && a[1] == 2, frozen);
        assert_true(isfinite(a[0]) && isfinite(a[1]));
        attn_word_sense_free(m);
    }
    attn_corpus_free(c);
}

/* Interrupted and loaded, such a model goes on without its file to the same bytes. */
static bool stop(void *ctx, const attn_word_sense_progress *progress)
{
    (void)progress;
    return --*(int *)ctx > 0;
}

static void a_saved_model_needs_no_file(void **state)
{
    (void)state;
    attn_corpus *c = tiny_corpus(NULL);
    put_text(FILE_NAME, "bank 1 2 3\nriver 4 5 6\nbat 7 8 9\n");
    attn_word_sense_config config = vectors_config(FILE_NAME, ATTN_VECTORS_FORMAT_AUTO);
    train_to_file(c, NULL, config, "test_vectors_use.whole");
    attn_word_sense *m = new_model(c, config);
    int steps = 3;
    assert_int_equal(attn_word_sense_train(m, c, NULL, stop, &steps, NULL), ATTN_EINTERRUPTED);
    save_ok(m, "test_vectors_use.part");
    attn_word_sense_free(m);
    assert_int_equal(remove(FILE_NAME), 0);
    m = load_ok("test_vectors_use.part");
    config = attn_word_sense_get_config(m);
    assert_int_equal(config.vectors, ATTN_VECTORS_FILE);
    assert_int_equal(config.dim, 3);
    assert_null(config.vectors_file);
    assert_null(attn_word_sense_vectors_report(m).format);
    train_ok(m, c, NULL);
    save_ok(m, "test_vectors_use.part");
    assert_same_file("test_vectors_use.whole", "test_vectors_use.part");
    attn_word_sense_free(m);
    attn_corpus_free(c);
}

/* ---- reading ---- */

typedef struct reports {
    int n;
    int64_t last, total;
} reports;

static void on_bytes(void *ctx, int64_t bytes, int64_t total)
{
    reports *r = ctx;
    assert_true(bytes >= r->last && bytes <= total);
    *r = (reports){r->n + 1, bytes, total};
}

/* A megabyte of lines of many lengths, and lines that are longer than what is held in memory: at the start, in the middle, at the end. */
static void large_files_and_overlong_lines(void **state)
{
    (void)state;
    FILE *f = fopen(FILE_NAME, "w");
    assert_non_null(f);
    int64_t malformed = 0, words = 0, first_malformed = 0, line = 1;
    fprintf(f, "1 3\n");
    for (int i = 0; i < 20000; i++) {
        line++;
        if (i % 7000 == 100 || i == 19999) {
            first_malformed = malformed++ == 0 ? line : first_malformed;
            for (int k = 0; k < (i % 2 == 0 ? 270000 : 800000); k++) {
                putc(k % 5 == 0 ? ' ' : '7', f);
            }
        } else {
            words++;
            fprintf(f, "word%.*s %d %d.5 -%d", i % 50, "--------------------------------------------------", i, i, i);
        }
        if (i < 19999) {
            fprintf(f, i % 3 == 0 ? "\r\n" : "\n");
        }
    }
    assert_int_equal(fclose(f), 0);
    attn_corpus *c = corpus_with((const char *const[]){"word-------", "word", NULL});
    attn_word_sense_config config = vectors_config(FILE_NAME, ATTN_VECTORS_FORMAT_AUTO);
    reports r = {0};
    config.vectors_progress = on_bytes;
    config.vectors_progress_ctx = &r;
    attn_word_sense *m = new_model(c, config);
    attn_vectors_report report = attn_word_sense_vectors_report(m);
    assert_int_equal(report.words, words);
    assert_int_equal(report.malformed.count, malformed);
    assert_int_equal(report.malformed.first, first_malformed);
    assert_int_equal(report.used, 2);
    assert_int_equal(report.added, 48);
    assert_int_equal(report.repeated.count, words - 50);
    assert_vector(m, "word", 0, 0.5F, -0.0F);
    assert_vector(m, "word-------", 7, 7.5F, -7);
    struct stat info;
    assert_int_equal(stat(FILE_NAME, &info), 0);
    assert_int_equal(r.last, info.st_size);
    assert_int_equal(r.total, info.st_size);
    assert_true(r.n >= info.st_size / (int64_t)ATTN__VECTORS_ROOM);
    attn_word_sense_config got = attn_word_sense_get_config(m);
    assert_true(got.vectors_file == NULL && got.vectors_progress == NULL && got.vectors_progress_ctx == NULL);
    attn_word_sense_free(m);
    attn_corpus_free(c);
}

/* ---- errors ---- */

static void is_refused(const attn_corpus *c, attn_word_sense_config config, attn_status status, const char *message)
{
    attn_error error = {.message = ""};
    assert_null(attn_word_sense_new(c, &config, NULL, &error));
    assert_string_equal(error.message, message);
    assert_int_equal(error.status, status);
}

static void text_is_refused(const attn_corpus *c, const char *text, attn_vectors_format format, const char *message)
{
    put_text(FILE_NAME, text);
    is_refused(c, vectors_config(FILE_NAME, format), ATTN_EFORMAT, message);
}

static void what_is_no_file_of_vectors(void **state)
{
    (void)state;
    attn_corpus *c = corpus_with(abc);
    const char *no_vectors = FILE_NAME ": most of its first lines are no word with numbers after it";
    text_is_refused(c, "", ATTN_VECTORS_FORMAT_AUTO, no_vectors);
    text_is_refused(c, "\n \n", ATTN_VECTORS_FORMAT_AUTO, no_vectors);
    text_is_refused(c, "to be or not\nto be\n", ATTN_VECTORS_FORMAT_AUTO, no_vectors);
    text_is_refused(c, "a 0,5 1,5\n", ATTN_VECTORS_FORMAT_GLOVE, no_vectors);
    text_is_refused(c, "3 2\n", ATTN_VECTORS_FORMAT_AUTO, FILE_NAME ": no word with 2 numbers after it");
    text_is_refused(c, "3 2\na 1\n", ATTN_VECTORS_FORMAT_WORD2VEC, FILE_NAME ": no word with 2 numbers after it");
    text_is_refused(c, "3 0\na\n", ATTN_VECTORS_FORMAT_WORD2VEC, FILE_NAME ": vectors of 0 components, expected 1 to 4096");
    text_is_refused(c, "3 4097\na 1 2\n", ATTN_VECTORS_FORMAT_AUTO, FILE_NAME ": vectors of 4097 components, expected 1 to 4096");
    text_is_refused(c, "1 9223372036854775807\na 1 2\n", ATTN_VECTORS_FORMAT_AUTO,
                    FILE_NAME ": vectors of 9223372036854775807 components, expected 1 to 4096");
    for (int format = ATTN_VECTORS_FORMAT_WORD2VEC; format <= ATTN_VECTORS_FORMAT_BINARY; format += 2) {
        static const char *const bad[] = {"a 1 2\n", "3 2 1\n", "3\n", "-3 2\n", "3 2.0\n", "99999999999999999999 2\n", "3 2x\n", ""};
        for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
            text_is_refused(c, bad[i], (attn_vectors_format)format,
                            format == ATTN_VECTORS_FORMAT_BINARY ? FILE_NAME
                                ":1: no number of words and number of components, which a file of the format binary begins with"
                                                                 : FILE_NAME
                                ":1: no number of words and number of components, which a file of the format word2vec begins with");
        }
    }
    attn_corpus_free(c);
}

static void what_cannot_be_read(void **state)
{
    (void)state;
    attn_corpus *c = corpus_with(abc);
    is_refused(c, vectors_config("no/such.vec", ATTN_VECTORS_FORMAT_AUTO), ATTN_EIO, "no/such.vec: cannot open: No such file or directory");
    is_refused(c, vectors_config(".", ATTN_VECTORS_FORMAT_AUTO), ATTN_EIO, ".: cannot read: Is a directory");
    is_refused(c, vectors_config(NULL, ATTN_VECTORS_FORMAT_AUTO), ATTN_EINVAL, "vectors are to come from a file, and vectors_file is NULL");
    is_refused(c, vectors_config(FILE_NAME, (attn_vectors_format)4), ATTN_EINVAL, "no such format of a vectors file");
    attn_corpus_free(c);
}

/* The next file that is opened gets the number of the one that was read, whatever came of it. */
static void the_file_is_closed(void **state)
{
    (void)state;
    attn_corpus *c = corpus_with(abc);
    attn_word_sense_config config = vectors_config(FILE_NAME, ATTN_VECTORS_FORMAT_AUTO);
    int next = dup(STDERR_FILENO);
    assert_int_equal(close(next), 0);
    put_text(FILE_NAME, three_rows);
    attn_word_sense_free(new_model(c, config));
    put_text(FILE_NAME, "3 5000\n");
    assert_null(attn_word_sense_new(c, &config, NULL, NULL));
    assert_int_equal(dup(STDERR_FILENO), next);
    assert_int_equal(close(next), 0);
    attn_corpus_free(c);
}

static void the_width_is_that_of_the_file(void **state)
{
    (void)state;
    attn_corpus *c = corpus_with(abc);
    put_text(FILE_NAME, three_rows);
    attn_word_sense_config config = vectors_config(FILE_NAME, ATTN_VECTORS_FORMAT_AUTO);
    config.dim = 2;
    attn_word_sense *m = new_model(c, config);
    assert_vector(m, "b", 3, 4);
    attn_word_sense_free(m);
    config.dim = 100;
    is_refused(c, config, ATTN_EINVAL, FILE_NAME ": vectors of 2 components, but dim is 100");
    config.dim = -1;
    is_refused(c, config, ATTN_EINVAL, "dim is -1, expected 0 to 4096");
    config.dim = 0;
    config.vectors = ATTN_VECTORS_NONE;
    is_refused(c, config, ATTN_EINVAL, "dim is 0, expected 1 to 4096");
    assert_int_equal(attn_word_sense_defaults().dim, 100);
    attn_corpus_free(c);
}

/* Nothing is leaked whichever allocation fails, and whatever is wrong with the file. */
static void memory_may_run_out(void **state)
{
    (void)state;
    attn_corpus *c = corpus_with(abc);
    put_text(FILE_NAME, three_rows);
    attn_word_sense_config config = vectors_config(FILE_NAME, ATTN_VECTORS_FORMAT_AUTO);
    config.seeds = 2;
    attn_word_sense *m = NULL;
    int in_the_file = 0;
    for (long k = 1; m == NULL; k++) {
        counting_allocator a;
        attn_error error;
        counting_init(&a, k);
        m = attn_word_sense_new(c, &config, &a.value, &error);
        if (m == NULL) {
            assert_int_equal(error.status, ATTN_ENOMEM);
            in_the_file += strcmp(error.message, FILE_NAME ": out of memory for the vectors") == 0;
        } else {
            assert_vector(m, "c", 5, 6);
            attn_word_sense_free(m);
        }
        assert_int_equal(a.live, 0);
    }
    assert_true(in_the_file >= 1);
    static const char *const bad[] = {"", "3 2\n", "3 5000\na 1\n", "2 1\na \x01\x02\x03\x04"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        counting_allocator a;
        counting_init(&a, 0);
        put_text(FILE_NAME, bad[i]);
        assert_null(attn_word_sense_new(c, &config, &a.value, NULL));
        assert_int_equal(a.live, 0);
    }
    attn_corpus_free(c);
}

/* ---- real data ---- */

static void glove_for_coarsewsd20(void **state)
{
    (void)state;
    char folder[1024], path[1100];
    attn_error error;
    need_dataset(folder, "coarsewsd20/CoarseWSD-20/yard");
    attn_corpus *c = attn_corpus_new(NULL);
    assert_int_equal(attn_corpus_read(c, folder, "train", &error), ATTN_OK);
    need_dataset(folder, "glove100d_cut");
    (void)snprintf(path, sizeof path, "%s/glove.6B.100d.coarsewsd20.vec", folder);
    attn_word_sense_config config = vectors_config(path, ATTN_VECTORS_FORMAT_AUTO);
    attn_word_sense *m = new_model(c, config);
    attn_vectors_report r = attn_word_sense_vectors_report(m);
    assert_string_equal(r.format, "word2vec");
    assert_int_equal(r.dim, 100);
    assert_int_equal(r.promised, 7084);
    assert_int_equal(r.words, 7084);
    assert_int_equal(r.repeated.count, 2); /* numbers that differ in a digit */
    assert_int_equal(r.used + r.added, 7082);
    assert_int_equal(r.odd.count + r.broken.count + r.not_finite.count + r.malformed.count, 0);
    const float *the = vector_of(m, 0, "the"), *yard = vector_of(m, 0, "yard");
    assert_true(the[0] == -0.038194F && the[1] == -0.24487F && the[99] == 0.27062F);
    assert_true(yard[0] == 0.14977F && yard[99] == 0.0042928F);
    assert_int_equal(r.wanted, 1409);
    assert_int_equal(attn_word_sense_vocabulary(m), 1409 + r.added);
    assert_int_equal(r.used, 920);
    attn_word_sense_free(m);
    attn_corpus_free(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(members_share_the_file_and_nothing_else),
        cmocka_unit_test(training_moves_them_unless_they_are_frozen),
        cmocka_unit_test(a_saved_model_needs_no_file),
        cmocka_unit_test(large_files_and_overlong_lines),
        cmocka_unit_test(what_is_no_file_of_vectors),
        cmocka_unit_test(what_cannot_be_read),
        cmocka_unit_test(the_file_is_closed),
        cmocka_unit_test(the_width_is_that_of_the_file),
        cmocka_unit_test(memory_may_run_out),
        cmocka_unit_test(glove_for_coarsewsd20),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

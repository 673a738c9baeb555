/* Model files: what comes back is what was saved; what is damaged is refused, with its name, in little memory and without a trace. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/disk.h"
#include "support/files.h"
#include "support/senses.h"

#include "attn/checkpoint.h"

#define FOLDER "test_model_file.d"
static const char good[] = FOLDER "/good.safetensors", bad[] = FOLDER "/bad.safetensors", again[] = FOLDER "/again.safetensors";

/* A trained model in `good`, and one that was interrupted in `bad`, of the same data. */
static bool stop_soon(void *ctx, const attn_word_sense_progress *progress)
{
    (void)ctx;
    return progress->member == 0 && progress->steps + TINY_BATCHES * progress->epoch < TINY_BATCHES + 2;
}

static void make_files(attn_word_sense_config config)
{
    attn_corpus *c = tiny_corpus(NULL), *dev = tiny_dev_corpus(NULL);
    fresh_folder(FOLDER);
    train_to_file(c, dev, config, good);
    attn_word_sense *m = new_model(c, config);
    assert_int_equal(attn_word_sense_train(m, c, dev, stop_soon, NULL, NULL), ATTN_EINTERRUPTED);
    save_ok(m, bad);
    attn_word_sense_free(m);
    attn_corpus_free(c);
    attn_corpus_free(dev);
}

/* ---- what comes back ---- */

static void assert_same_config(attn_word_sense_config a, attn_word_sense_config b)
{
    assert_int_equal(a.score, b.score);
    assert_int_equal(a.position, b.position);
    assert_int_equal(a.vectors, b.vectors);
    assert_int_equal(a.freeze_vectors, b.freeze_vectors);
    const int ints_a[] = {a.dim, a.heads, a.hidden, a.window, a.min_count, a.seeds, a.epochs, a.batch, a.sense_cap, a.patience};
    const int ints_b[] = {b.dim, b.heads, b.hidden, b.window, b.min_count, b.seeds, b.epochs, b.batch, b.sense_cap, b.patience};
    assert_memory_equal(ints_a, ints_b, sizeof ints_a);
    const double reals_a[] = {a.learning_rate,     a.weight_decay,    a.clip,  a.dropout,   a.word_dropout,
                              a.attention_dropout, a.label_smoothing, a.prior, a.neighbours};
    const double reals_b[] = {b.learning_rate,     b.weight_decay,    b.clip,  b.dropout,   b.word_dropout,
                              b.attention_dropout, b.label_smoothing, b.prior, b.neighbours};
    assert_memory_equal(reals_a, reals_b, sizeof reals_a);
    assert_true(a.seed == b.seed);
}

/* Every field has another value than by default, and numbers that need all their digits. */
static void everything_comes_back(void **state)
{
    (void)state;
    for (int v = 0; v < 4; v++) {
        attn_word_sense_config config = tiny_config();
        config.score = v % 2 == 0 ? ATTN_SCORE_ADDITIVE : ATTN_SCORE_DOT;
        config.position = v % 2 == 0 ? ATTN_POSITION_NONE : ATTN_POSITION_RELATIVE;
        config.vectors = v < 2 ? ATTN_VECTORS_NONE : ATTN_VECTORS_CORPUS;
        config.freeze_vectors = v % 2 == 1;
        config.seeds = 1 + v % 2;
        config.seed = v == 0 ? UINT64_MAX : 0;
        config.learning_rate = 0.1 / 3;
        config.weight_decay = nextafter(0.05, 1);
        config.clip = 1e9;
        config.prior = 2.0 / 3;
        config.neighbours = v == 1 ? 0 : 0.1 / 7;
        config.patience = 5;
        make_files(config);
        attn_word_sense *m = load_ok(good);
        assert_same_config(attn_word_sense_get_config(m), config);
        assert_true(attn_word_sense_finished(m));
        assert_int_equal(attn_word_sense_epochs_done(m), TINY_EPOCHS);
        assert_int_equal(attn_word_sense_support(m, 0, 1), 3);
        assert_string_equal(attn_word_sense_sense(m, 1, 1), "club");
        save_ok(m, again);
        assert_same_file(good, again);
        attn_word_sense_free(m);
        m = load_ok(bad);
        assert_false(attn_word_sense_finished(m));
        save_ok(m, again);
        assert_same_file(bad, again);
        attn_word_sense_free(m);
    }
}

/* A loaded model predicts what the one that was saved did. */
static void predictions_come_back(void **state)
{
    (void)state;
    attn_corpus *c = tiny_corpus(NULL);
    attn_word_sense_config config = tiny_config();
    config.seeds = 2;
    fresh_folder(FOLDER);
    attn_word_sense *m = new_model(c, config);
    train_ok(m, c, NULL);
    save_ok(m, good);
    attn_word_sense *loaded = load_ok(good);
    attn_prediction p = predict_ok(m, c, "the muddy bank of the river", 2), q = predict_ok(loaded, c, "the muddy bank of the river", 2);
    assert_memory_equal(p.probabilities, q.probabilities, 3 * sizeof(double));
    assert_memory_equal(p.attention, q.attention, 12 * sizeof(double));
    attn_word_sense_free(loaded);
    attn_word_sense_free(m);
    attn_corpus_free(c);
}

/* Words and senses of any script, with what JSON must escape. */
static void odd_words_come_back(void **state)
{
    (void)state;
    attn_corpus *c = attn_corpus_new(NULL);
    const char *const one[] = {"\xE8\x8B\xB9\xE6\x9E\x9C", "\"", "\\u0041", "\x01", "\xF0\x9F\x8D\x8E"};
    assert_int_equal(attn_corpus_add(c, one, 5, 0, "big \"company\" \\", NULL), ATTN_OK);
    assert_int_equal(attn_corpus_add(c, one, 4, 0, "\xE6\xB0\xB4\xE6\x9E\x9C", NULL), ATTN_OK);
    fresh_folder(FOLDER);
    train_to_file(c, NULL, tiny_config(), good);
    attn_word_sense *m = load_ok(good);
    assert_string_equal(attn_word_sense_word(m, 0), one[0]);
    assert_string_equal(attn_word_sense_sense(m, 0, 0), "big \"company\" \\");
    assert_string_equal(attn_word_sense_sense(m, 0, 1), "\xE6\xB0\xB4\xE6\x9E\x9C");
    assert_int_equal(attn_word_sense_vocabulary(m), 5);
    save_ok(m, again);
    assert_same_file(good, again);
    attn_word_sense_free(m);
    attn_corpus_free(c);
}

/* ---- damage ---- */

static void load_fails(const char *path, attn_status status, const char *message)
{
    attn_error error = {.message = ""};
    counting_allocator counting;
    counting_init(&counting, 0);
    assert_null(attn_word_sense_load(path, &counting.value, &error));
    assert_contains(error.message, path);
    assert_contains(error.message, message);
    assert_int_equal(error.status, status);
    assert_int_equal(counting.live, 0);
}

static void cut_files_are_refused(void **state)
{
    (void)state;
    make_files(tiny_config());
    size_t size;
    char *bytes = take_file(good, &size);
    for (size_t n = 0; n < size; n += n < 20 || n + 20 > size ? 1 : 97) {
        put_bytes(again, bytes, n);
        load_fails(again, ATTN_EFORMAT, ": ");
    }
    char *more = malloc(size + 1);
    memcpy(more, bytes, size);
    more[size] = 'x';
    put_bytes(again, more, size + 1);
    load_fails(again, ATTN_EFORMAT, ": ");
    free(more);
    free(bytes);
    load_fails(FOLDER "/missing", ATTN_EIO, "No such file");
    load_fails(FOLDER, ATTN_EIO, "Is a directory");
}

/* Any single byte changed: refused or harmless, never a crash. (That the message is right is the business of the tests below.) */
static void changed_bytes_do_no_harm(void **state)
{
    (void)state;
    make_files(tiny_config());
    for (int file = 0; file < 2; file++) {
        size_t size;
        char *bytes = take_file(file == 0 ? good : bad, &size);
        for (size_t at = 0; at < size; at += 1 + size / 500) {
            for (int k = 0; k < 3; k++) {
                const char change[] = {'\x01', '\x80', '\x1F'};
                attn_prediction p;
                bytes[at] = (char)(bytes[at] ^ change[k]);
                put_bytes(again, bytes, size);
                attn_word_sense *m = attn_word_sense_load(again, NULL, NULL);
                if (m != NULL) {
                    const char *const tokens[] = {"the", "bank", "of"};
                    (void)!attn_word_sense_predict(m, tokens, 3, 1, &p, NULL);
                }
                attn_word_sense_free(m);
                bytes[at] = (char)(bytes[at] ^ change[k]);
            }
        }
        free(bytes);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(everything_comes_back), cmocka_unit_test(predictions_come_back),    cmocka_unit_test(odd_words_come_back),
        cmocka_unit_test(cut_files_are_refused), cmocka_unit_test(changed_bytes_do_no_harm),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

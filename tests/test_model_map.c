/* Models whose tables stay in their mapped file: what they answer is what read ones answer. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/disk.h"
#include "support/files.h"
#include "support/senses.h"

#include "attn/explain.h"
#include "nn/nn.h"
#include "word_sense/model.h"

#define FOLDER "test_model_map.d"
static const char good[] = FOLDER "/good.safetensors", edited[] = FOLDER "/edited.safetensors", again[] = FOLDER "/again.safetensors";
static const char sentence[] = "we sat on the bank of the river";
enum { TARGET = 4 };

static int make_good(void **state)
{
    (void)state;
    attn_word_sense_config config = tiny_config();
    config.seeds = 2;
    attn_corpus *c = tiny_corpus(NULL);
    fresh_folder(FOLDER);
    train_to_file(c, NULL, config, good);
    attn_corpus_free(c);
    return 0;
}

static attn_word_sense *map_ok(const char *path)
{
    attn_error error = {.message = ""};
    attn_word_sense *m = attn_word_sense_map(path, NULL, &error);
    assert_string_equal(error.message, "");
    assert_non_null(m);
    return m;
}

static bool is_in_file(const attn_word_sense *m, const void *data)
{
    const char *begin = m->file.bytes, *at = data;
    return begin != NULL && at >= begin && at < begin + m->file.size;
}

static const float *table(const attn_word_sense *m, int member)
{
    return attn_params_value(m->member[member].params, m->member[member].embedding);
}

/* Probabilities and weights of the sentence, the same to the bit. */
static void assert_same_answer(attn_word_sense *a, attn_word_sense *b)
{
    attn_corpus *words = attn_corpus_new(NULL);
    attn_prediction x = predict_ok(a, words, sentence, TARGET), y = predict_ok(b, words, sentence, TARGET);
    assert_int_equal(x.n_senses, y.n_senses);
    assert_memory_equal(x.probabilities, y.probabilities, (size_t)x.n_senses * sizeof *x.probabilities);
    assert_memory_equal(x.attention, y.attention, (size_t)x.heads * (size_t)x.length * sizeof *x.attention);
    attn_corpus_free(words);
}

static void tables_stay_in_the_file(void **state)
{
    (void)state;
    attn_word_sense *m = map_ok(good), *read = load_ok(good);
    for (int k = 0; k < 2; k++) {
        assert_true(is_in_file(m, table(m, k)));
        assert_int_equal((uintptr_t)attn_params_value(m->member[k].params, m->member[k].out) % 64, 0); /* the small ones are aligned */
        assert_false(is_in_file(m, attn_params_value(m->member[k].params, m->member[k].out)));
    }
    assert_true(is_in_file(m, m->neighbours.entry));
    assert_null(read->file.bytes);
    assert_int_equal(attn_word_sense_parameters(m), attn_word_sense_parameters(read));
    assert_same_answer(m, read);
    save_ok(m, again);
    assert_same_file(again, good);
    attn_word_sense_free(m);
    attn_word_sense_free(read);
}

/* Whoever replaces or removes the file does not touch the model; nor does the model touch the file. */
static void the_file_may_be_replaced_and_removed(void **state)
{
    (void)state;
    size_t size;
    char *bytes = take_file(good, &size);
    put_bytes(edited, bytes, size);
    attn_word_sense *m = map_ok(edited), *read = load_ok(good);
    save_ok(read, edited);
    assert_same_answer(m, read);
    save_ok(m, edited);
    assert_same_file(edited, good);
    assert_int_equal(unlink(edited), 0);
    assert_same_answer(m, read);
    attn_word_sense_free(m);
    attn_word_sense_free(read);
    free(bytes);
}

/* Training that is under way writes to its tables: all is read, and it goes on as ever. */
static void unfinished_training_is_read(void **state)
{
    (void)state;
    attn_corpus *c = tiny_corpus(NULL);
    attn_word_sense *m = new_model(c, tiny_config());
    save_ok(m, edited);
    attn_word_sense_free(m);
    m = map_ok(edited);
    assert_null(m->file.bytes);
    train_ok(m, c, NULL);
    save_ok(m, again);
    attn_word_sense_free(m);
    m = load_ok(edited);
    train_ok(m, c, NULL);
    save_ok(m, edited);
    attn_word_sense_free(m);
    assert_same_file(again, edited);
    attn_corpus_free(c);
}

/* A file of another writer, whose header aligns nothing: its tables are read. */
static void what_is_not_aligned_is_read(void **state)
{
    (void)state;
    size_t size;
    unsigned char *bytes = (unsigned char *)take_file(good, &size), *shifted = malloc(size + 1);
    size_t header = bytes[0] + 256 * (size_t)bytes[1] + 65536 * (size_t)bytes[2];
    memcpy(shifted, bytes, 8 + header);
    shifted[8 + header] = ' ';
    memcpy(shifted + 9 + header, bytes + 8 + header, size - 8 - header);
    for (int i = 0; i < 3; i++) {
        shifted[i] = (unsigned char)((header + 1) >> 8 * i);
    }
    put_bytes(edited, (char *)shifted, size + 1);
    attn_word_sense *m = map_ok(edited), *read = load_ok(good);
    assert_false(is_in_file(m, table(m, 0)));
    assert_false(is_in_file(m, m->neighbours.entry));
    assert_same_answer(m, read);
    attn_word_sense_free(m);
    attn_word_sense_free(read);
    free(bytes);
    free(shifted);
}

/* The good model with a number of a tensor made another. */
static void edit(const char *tensor, int64_t at, float value)
{
    attn_safetensors *f = attn__safetensors_open(good, NULL, NULL);
    int i = attn_safetensors_find(f, tensor);
    assert_true(i >= 0);
    size_t size;
    char *bytes = take_file(good, &size);
    memcpy(bytes + f->begin[i] + (size_t)at * sizeof value, &value, sizeof value);
    put_bytes(edited, bytes, size);
    free(bytes);
    attn_safetensors_free(f);
}

static void assert_refused(const char *message)
{
    attn_error error = {.message = ""};
    assert_null(attn_word_sense_map(edited, NULL, &error));
    assert_int_equal(error.status, ATTN_ENONFINITE);
    assert_string_equal(error.message, message);
}

/* What everyone uses is looked at when the file is mapped ... */
static void small_tensors_are_looked_at(void **state)
{
    (void)state;
    edit("1.attention.W_q", 3, NAN);
    assert_refused(FOLDER "/edited.safetensors: tensor '1.attention.W_q': element 3 is not finite");
    edit("0.embedding", 1, INFINITY);
    assert_refused(FOLDER "/edited.safetensors: tensor '0.embedding': element 1 is not finite");
    edit("neighbours", 2, INFINITY);
    assert_refused(FOLDER "/edited.safetensors: tensor 'neighbours': element 2 is not finite");
}

/* ... and a word's row when the word comes. */
static void rows_are_looked_at_when_they_are_needed(void **state)
{
    (void)state;
    attn_word_sense *read = load_ok(good);
    int64_t row = attn__token_row(read, "money"), dim = attn_word_sense_get_config(read).dim;
    assert_true(row > 0);
    edit("1.embedding", row * dim + dim - 1, -INFINITY);
    attn_error error;
    assert_null(attn_word_sense_load(edited, NULL, &error));
    assert_int_equal(error.status, ATTN_ENONFINITE);

    attn_word_sense *m = map_ok(edited);
    assert_same_answer(m, read);
    static const char *const tokens[] = {"money", "in", "the", "bank"};
    static const char told[] = FOLDER "/edited.safetensors: tensor '1.embedding': the row of 'money' is not finite";
    attn_prediction p;
    attn_explanation e;
    double weights[4 * 4 * 8];
    assert_int_equal(attn_word_sense_predict(m, tokens, 4, 3, &p, &error), ATTN_ENONFINITE);
    assert_string_equal(error.message, told);
    assert_int_equal(attn_word_sense_explain(m, tokens, 4, 3, &e, &error), ATTN_ENONFINITE);
    assert_string_equal(error.message, told);
    assert_true(attn_word_sense_get_config(m).heads <= 8);
    assert_int_equal(attn_word_sense_attention(m, tokens, 4, weights, &error), ATTN_ENONFINITE);
    assert_string_equal(error.message, told);
    attn_corpus *c = tiny_corpus(NULL);
    attn_scores *scores = attn_scores_new(NULL);
    assert_int_equal(attn_word_sense_score(m, c, scores, NULL, &error), ATTN_ENONFINITE);
    assert_string_equal(error.message, told);
    attn_scores_free(scores);
    attn_corpus_free(c);
    put_text(again, "old"); /* what could not be read again is not written */
    assert_int_equal(attn_word_sense_save(m, again, &error), ATTN_ENONFINITE);
    char whole[200];
    (void)snprintf(whole, sizeof whole, "%s: tensor '1.embedding': element %lld is not finite", edited, (long long)(row * dim + dim - 1));
    assert_string_equal(error.message, whole);
    size_t size;
    char *bytes = take_file(again, &size);
    assert_string_equal(bytes, "old");
    free(bytes);
    attn_word_sense_free(m);
    attn_word_sense_free(read);
}

/* What is no file, and what is no model, is refused as ever. */
static void errors_are_those_of_loading(void **state)
{
    (void)state;
    attn_error a, b;
    put_text(edited, "no model");
    for (int i = 0; i < 3; i++) {
        const char *path = i == 0 ? edited : i == 1 ? FOLDER "/none" : FOLDER;
        assert_null(attn_word_sense_load(path, NULL, &a));
        assert_null(attn_word_sense_map(path, NULL, &b));
        assert_int_equal(a.status, b.status);
        assert_string_equal(a.message, b.message);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tables_stay_in_the_file),     cmocka_unit_test(the_file_may_be_replaced_and_removed),
        cmocka_unit_test(unfinished_training_is_read), cmocka_unit_test(what_is_not_aligned_is_read),
        cmocka_unit_test(small_tensors_are_looked_at), cmocka_unit_test(rows_are_looked_at_when_they_are_needed),
        cmocka_unit_test(errors_are_those_of_loading),
    };
    return cmocka_run_group_tests(tests, make_good, NULL);
}

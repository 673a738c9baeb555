#include "support/senses.h"

#include <stdlib.h>
#include <string.h>

#include "support/disk.h"

typedef struct sentence {
    const char *sense;
    int target;
    const char *text;
} sentence;

static const sentence train[] = {
    {"shore", 4, "we sat on the bank of the slow river"},
    {"money", 1, "the bank lends money to small shops"},
    {"animal", 1, "a bat hung from the roof of the cave"},
    {"club", 4, "he swung the wooden bat at the ball"},
    {"shore", 5, "reeds grew along the muddy bank"},
    {"money", 5, "she took cash to the bank on friday"},
    {"shore", 3, "a steep grassy bank above the water"},
    {"club", 4, "the player broke his bat in 1998"},
    {"animal", 2, "the small bat eats insects at night"},
    {"money", 2, "my savings bank pays 3 percent interest"},
    {"row", 2, "a whole bank of switches"},
    {"animal", 3, "every night the bat leaves its cave"},
    {"shore", 5, "the boat lay on the bank"},
    {"club", 1, "his bat hit the ball hard"},
};

static const sentence dev[] = {
    {"money", 1, "the bank keeps money for shops"},
    {"shore", 2, "the muddy bank of the river"},
    {"club", 2, "his wooden bat hit nothing"},
    {"animal", 1, "a bat lives in that cave"},
};

attn_status add_sentence(attn_corpus *c, const char *sense, int target, const char *text)
{
    attn_example e;
    attn_status status = attn_corpus_tokenize(c, text, &e, NULL);
    return status == ATTN_OK ? attn_corpus_add(c, e.tokens, e.length, target, sense, NULL) : status;
}

static attn_corpus *corpus_of(const sentence list[], size_t n, const attn_allocator *allocator)
{
    attn_corpus *c = attn_corpus_new(allocator);
    attn_status status = c != NULL ? ATTN_OK : ATTN_ENOMEM;
    for (size_t i = 0; i < n && status == ATTN_OK; i++) {
        status = add_sentence(c, list[i].sense, list[i].target, list[i].text);
    }
    assert_true(status == ATTN_OK || status == ATTN_ENOMEM);
    if (status != ATTN_OK) {
        attn_corpus_free(c);
        return NULL;
    }
    for (size_t i = 0; i < n; i++) {
        const char *word = attn_corpus_get(c, (int64_t)i).word;
        assert_true(strcmp(word, "bank") == 0 || strcmp(word, "bat") == 0);
    }
    return c;
}

attn_corpus *tiny_corpus(const attn_allocator *allocator)
{
    return corpus_of(train, sizeof train / sizeof train[0], allocator);
}

attn_corpus *tiny_dev_corpus(const attn_allocator *allocator)
{
    return corpus_of(dev, sizeof dev / sizeof dev[0], allocator);
}

attn_word_sense_config tiny_config(void)
{
    attn_word_sense_config c = attn_word_sense_defaults();
    c.score = ATTN_SCORE_SCALED_DOT;
    c.position = ATTN_POSITION_RELATIVE;
    c.vectors = ATTN_VECTORS_CORPUS;
    c.freeze_vectors = false;
    c.dim = 6;
    c.heads = 2;
    c.hidden = 3;
    c.window = 4;
    c.min_count = 1;
    c.seeds = 1;
    c.epochs = TINY_EPOCHS;
    c.batch = 4;
    c.sense_cap = 100;
    c.learning_rate = 0.01;
    c.weight_decay = 0.01;
    c.clip = 1;
    c.dropout = 0.2;
    c.word_dropout = 0.2;
    c.attention_dropout = 0.1;
    c.label_smoothing = 0.1;
    c.prior = 0.5;
    c.patience = 0;
    c.seed = 7;
    c.threads = 1;
    return c;
}

attn_word_sense *new_model(const attn_corpus *c, attn_word_sense_config config)
{
    attn_error error = {.message = ""};
    attn_word_sense *m = attn_word_sense_new(c, &config, NULL, &error);
    assert_string_equal(error.message, "");
    assert_non_null(m);
    return m;
}

attn_word_sense *load_ok(const char *path)
{
    attn_error error = {.message = ""};
    attn_word_sense *m = attn_word_sense_load(path, NULL, &error);
    assert_string_equal(error.message, "");
    assert_non_null(m);
    return m;
}

void save_ok(attn_word_sense *m, const char *path)
{
    attn_error error = {.message = ""};
    attn_status status = attn_word_sense_save(m, path, &error);
    assert_string_equal(error.message, "");
    assert_int_equal(status, ATTN_OK);
}

void train_ok(attn_word_sense *m, const attn_corpus *c, const attn_corpus *held_out)
{
    attn_error error = {.message = ""};
    attn_status status = attn_word_sense_train(m, c, held_out, NULL, NULL, &error);
    assert_string_equal(error.message, "");
    assert_int_equal(status, ATTN_OK);
    assert_true(attn_word_sense_finished(m));
}

attn_prediction predict_ok(attn_word_sense *m, attn_corpus *c, const char *text, int target)
{
    attn_example e;
    attn_prediction p;
    attn_error error = {.message = ""};
    assert_int_equal(attn_corpus_tokenize(c, text, &e, NULL), ATTN_OK);
    attn_status status = attn_word_sense_predict(m, e.tokens, e.length, target, &p, &error);
    assert_string_equal(error.message, "");
    assert_int_equal(status, ATTN_OK);
    return p;
}

void train_to_file(const attn_corpus *c, const attn_corpus *held_out, attn_word_sense_config config, const char *path)
{
    attn_word_sense *m = new_model(c, config);
    train_ok(m, c, held_out);
    save_ok(m, path);
    attn_word_sense_free(m);
}

void check_same_file(const char *a, const char *b, bool same, const char *file, int line)
{
    size_t size_a, size_b;
    char *bytes_a = take_file(a, &size_a), *bytes_b = take_file(b, &size_b);
    bool equal = size_a == size_b && memcmp(bytes_a, bytes_b, size_a) == 0;
    free(bytes_a);
    free(bytes_b);
    if (equal != same) {
        print_error("%s and %s are%s the same\n", a, b, equal ? "" : " not");
        _fail(file, line);
    }
}

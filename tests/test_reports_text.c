/* Reports about text and word vectors, from file to model: each test is a report of tests/README.md. */
#include <stdlib.h>

#include "support/files.h"
#include "support/vectors.h"

#define DATA  "reports_text.tsv"
#define MODEL "reports_text.safetensors"

static attn_corpus *corpus_of_text(const char *text)
{
    attn_error error = {.message = ""};
    attn_corpus *c = attn_corpus_new(NULL);
    put_text(DATA, text);
    attn_status status = attn_corpus_read(c, DATA, "", &error);
    assert_string_equal(error.message, "");
    assert_int_equal(status, ATTN_OK);
    return c;
}

/* Words that hold spaces or tabs keep their vectors through a model file. */
static void b62(void **state)
{
    static const char *const words[] = {"new york", "a\tb", "york", NULL};
    (void)state;
    attn_corpus *c = corpus_with(words);
    put_text("reports_text.vec", "new york 0.1 0.2 0.3\na\tb 4 5 6\n");
    attn_word_sense *m = new_model(c, vectors_config("reports_text.vec", ATTN_VECTORS_FORMAT_AUTO));
    assert_vector(m, "new york", 0.1F, 0.2F, 0.3F);
    save_ok(m, MODEL);
    attn_word_sense_free(m);
    m = load_ok(MODEL);
    assert_int_equal(attn_word_sense_vocabulary(m), 4);
    assert_vector(m, "new york", 0.1F, 0.2F, 0.3F);
    assert_vector(m, "a\tb", 4, 5, 6);
    assert_false(attn_word_sense_knows(m, "new"));
    attn_word_sense_free(m);
    attn_corpus_free(c);
}

static void b72(void **state)
{
    static const char *const texts[] = {"", "\n\n", "\xEF\xBB\xBF\r\n"};
    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        attn_error error;
        attn_corpus *c = attn_corpus_new(NULL);
        put_text(DATA, texts[i]);
        assert_int_equal(attn_corpus_read(c, DATA, "", &error), ATTN_EFORMAT);
        assert_string_equal(error.message, DATA ": 0 labelled examples, expected at least one");
        attn_corpus_free(c);
    }
}

/* The first of several gold senses is learned, any of them is right. */
static void b73(void **state)
{
    (void)state;
    attn_corpus *c = corpus_of_text("here%1;here%2\t0\there it is\nhere%3\t1\tis here\n");
    attn_word_sense *m = new_model(c, tiny_config());
    assert_int_equal(attn_word_sense_senses(m, 0), 2);
    assert_string_equal(attn_word_sense_sense(m, 0, 0), "here%1");
    attn_scores *s = attn_scores_new(NULL);
    assert_int_equal(attn_scores_add(s, "here", "here%1;here%2", "here%2"), ATTN_OK);
    assert_int_equal(attn_scores_correct(s), 1);
    attn_scores_free(s);
    attn_word_sense_free(m);
    attn_corpus_free(c);
}

/* With a byte-order mark, with CRLF (B77), without a last line end: the same model, byte for byte. */
static void b76(void **state)
{
    static const char *const variants[] = {
        "x\t0\tbank of a river\ny\t1\ta bank of money\nx\t0\tbank\n",
        "\xEF\xBB\xBFx\t0\tbank of a river\ny\t1\ta bank of money\nx\t0\tbank\n",
        "x\t0\tbank of a river\r\n\r\ny\t1\ta bank of money\r\nx\t0\tbank\r\n",
        "\xEF\xBB\xBFx\t0\tbank of a river\r\ny\t1\ta bank of money\n\nx\t0\tbank",
    };
    (void)state;
    for (size_t i = 0; i < sizeof variants / sizeof variants[0]; i++) {
        attn_corpus *c = corpus_of_text(variants[i]);
        train_to_file(c, NULL, tiny_config(), i == 0 ? MODEL : "reports_text_other.safetensors");
        attn_corpus_free(c);
        assert_same_file(MODEL, i == 0 ? MODEL : "reports_text_other.safetensors");
    }
    attn_word_sense *m = load_ok(MODEL);
    assert_int_equal(attn_word_sense_vocabulary(m), 5);
    assert_string_equal(attn_word_sense_sense(m, 0, 0), "x");
    assert_string_equal(attn_word_sense_sense(m, 0, 1), "y");
    attn_word_sense_free(m);
}

/* Tokens that differ by a full-width or no-break space are three words, also of a sentence that is read at spaces. */
static void b79(void **state)
{
    (void)state;
    attn_corpus *c = corpus_of_text("x\t1\t\xE3\x80\x80中国 中国\ny\t0\t中国 \xC2\xA0中国\n");
    attn_word_sense *m = new_model(c, tiny_config());
    attn_example e;
    assert_int_equal(attn_word_sense_vocabulary(m), 3);
    assert_int_equal(attn_tokenize(m, c, "中国 \xE3\x80\x80中国 \xC2\xA0中国", ATTN_TOKENIZE_SPACES, NULL, &e, NULL), ATTN_OK);
    assert_int_equal(e.length, 3);
    for (int i = 0; i < 3; i++) {
        assert_true(attn_word_sense_knows(m, e.tokens[i]));
        for (int j = 0; j < i; j++) {
            assert_string_not_equal(e.tokens[i], e.tokens[j]);
        }
    }
    assert_false(attn_word_sense_knows(m, "\xE2\x80\x83中国"));
    attn_word_sense_free(m);
    attn_corpus_free(c);
}

/* A word is found where it stands, and counted in tokens. */
static void b81(void **state)
{
    (void)state;
    attn_corpus *c = corpus_of_text("x\t2\t我 在 银行 工作\ny\t0\t银行 他 去\n");
    attn_word_sense *m = new_model(c, tiny_config());
    attn_example e;
    attn_prediction p;
    attn_error error;
    assert_int_equal(attn_tokenize(m, c, "我在银行工作", ATTN_TOKENIZE_AUTO, "银行", &e, NULL), ATTN_OK);
    assert_int_equal(e.length, 4);
    assert_string_equal(e.tokens[2], "银行");
    assert_int_equal(attn_word_sense_predict(m, e.tokens, e.length, 2, &p, &error), ATTN_OK);
    assert_int_equal(attn_word_sense_predict(m, e.tokens, e.length, 7, &p, &error), ATTN_EINVAL);
    assert_string_equal(error.message, "target 7, expected 0..3");
    attn_word_sense_free(m);
    attn_corpus_free(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(b62), cmocka_unit_test(b72), cmocka_unit_test(b73),
        cmocka_unit_test(b76), cmocka_unit_test(b79), cmocka_unit_test(b81),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

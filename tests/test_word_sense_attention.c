/* The word-sense model: tables of attention, ensembles, words it does not know, gradients of the whole. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/senses.h"

#include "word_sense/model.h"

static attn_word_sense *trained(const attn_corpus *c, int score, attn_position position, int seeds)
{
    attn_word_sense_config config = tiny_config();
    config.score = (attn_score)score;
    config.position = position;
    config.seeds = seeds;
    attn_word_sense *m = new_model(c, config);
    train_ok(m, c, NULL);
    return m;
}

/* ---- who attends to whom ---- */

/* Rows of the table sum to 1, and the row of the ambiguous word is what the prediction used. */
static void the_table_holds_the_row_of_the_prediction(void **state)
{
    (void)state;
    enum { L = 12, HEADS = 2, WINDOW = 4 };
    attn_corpus *c = tiny_corpus(NULL);
    for (int v = 0; v < 12; v++) {
        attn_word_sense *m = trained(c, v % 3, v / 3 % 2 == 0 ? ATTN_POSITION_RELATIVE : ATTN_POSITION_NONE, 1 + v / 6);
        attn_example e;
        double table[HEADS * L * L];
        assert_int_equal(attn_corpus_tokenize(c, "we saw the bank and a bat of 1998 near the water", &e, NULL), ATTN_OK);
        assert_int_equal(e.length, L);
        assert_int_equal(attn_word_sense_attention(m, e.tokens, L, table, NULL), ATTN_OK);
        for (int row = 0; row < HEADS * L; row++) {
            double sum = 0;
            for (int j = 0; j < L; j++) {
                assert_true((table[row * L + j] > 0) == (abs(row % L - j) <= WINDOW));
                sum += table[row * L + j];
            }
            assert_close(sum, 1, 0, 1e-6);
        }
        const int targets[] = {3, 6};
        for (int k = 0; k < 2; k++) {
            attn_prediction p;
            assert_int_equal(attn_word_sense_predict(m, e.tokens, L, targets[k], &p, NULL), ATTN_OK);
            for (int h = 0; h < HEADS; h++) {
                assert_all_close(&p.attention[h * L], &table[(h * L + targets[k]) * L], L, 1e-6, 1e-7);
            }
        }
        attn_word_sense_free(m);
    }
    attn_corpus_free(c);
}

/* The table leaves the last prediction alone. */
static void a_prediction_stays_valid(void **state)
{
    (void)state;
    attn_corpus *c = tiny_corpus(NULL);
    attn_word_sense *m = trained(c, 0, ATTN_POSITION_RELATIVE, 1);
    const char *const tokens[] = {"the", "bank", "of", "the", "river"};
    double table[2 * 5 * 5], before[2 * 5], probabilities[3];
    attn_prediction p;
    assert_int_equal(attn_word_sense_predict(m, tokens, 5, 1, &p, NULL), ATTN_OK);
    memcpy(before, p.attention, sizeof before);
    memcpy(probabilities, p.probabilities, sizeof probabilities);
    assert_int_equal(attn_word_sense_attention(m, tokens, 5, table, NULL), ATTN_OK);
    assert_memory_equal(before, p.attention, sizeof before);
    assert_memory_equal(probabilities, p.probabilities, sizeof probabilities);
    assert_string_equal(p.senses[0], "shore");
    attn_word_sense_free(m);
    attn_corpus_free(c);
}

/* ---- ensembles ---- */

/* Dev scores after every epoch of two members. */
typedef struct dev_scores {
    int count;
    double score[2 * 30];
} dev_scores;

static bool note_scores(void *ctx, const attn_word_sense_progress *p)
{
    dev_scores *d = ctx;
    if (p->epoch_done) {
        assert_true(p->has_dev);
        d->score[d->count++] = p->dev_micro_f1 + p->dev_macro_f1;
    }
    return true;
}

/* An ensemble of seeds 7 and 8 says the mean of what the two models say alone; each is measured alone while it is trained. */
static void an_ensemble_is_the_mean_of_its_members(void **state)
{
    (void)state;
    attn_corpus *c = tiny_corpus(NULL);
    attn_word_sense_config config = tiny_config();
    config.vectors = ATTN_VECTORS_NONE; /* members of an ensemble share vectors that are made from the corpus */
    config.epochs = 30;
    attn_word_sense *alone[2], *both;
    dev_scores one_by_one = {.count = 0}, together = {.count = 0};
    for (int i = 0; i < 2; i++) {
        config.seed = 7 + (uint64_t)i;
        alone[i] = new_model(c, config);
        assert_int_equal(attn_word_sense_train(alone[i], c, c, note_scores, &one_by_one, NULL), ATTN_OK);
    }
    config.seed = 7;
    config.seeds = 2;
    both = new_model(c, config);
    assert_int_equal(attn_word_sense_train(both, c, c, note_scores, &together, NULL), ATTN_OK);
    assert_int_equal(together.count, 60);
    assert_all_close(together.score, one_by_one.score, 60, 0, 0);
    double probabilities[3] = {0}, attention[2 * 5] = {0};
    for (int i = 0; i < 2; i++) {
        attn_prediction p = predict_ok(alone[i], c, "the bank of the river", 1);
        for (int s = 0; s < 3; s++) {
            probabilities[s] += p.probabilities[s] / 2;
        }
        for (int k = 0; k < 10; k++) {
            attention[k] += p.attention[k] / 2;
        }
        attn_word_sense_free(alone[i]);
    }
    attn_prediction p = predict_ok(both, c, "the bank of the river", 1);
    assert_all_close(p.probabilities, probabilities, 3, 1e-12, 0);
    assert_all_close(p.attention, attention, 10, 1e-12, 0);
    attn_word_sense_free(both);
    attn_corpus_free(c);
}

/* ---- what cannot be answered ---- */

static void unknown_words_are_named_with_the_known_ones(void **state)
{
    (void)state;
    attn_corpus *c = tiny_corpus(NULL);
    attn_word_sense *m = new_model(c, tiny_config());
    const char *const tokens[] = {"the", "crane"}, *const odd[] = {"a\nb\x1B"};
    attn_prediction p;
    attn_error error;
    assert_int_equal(attn_word_sense_predict(m, tokens, 2, 1, &p, &error), ATTN_EUNKNOWN_WORD);
    assert_string_equal(error.message, "the model knows no senses of 'crane'; it knows: bank, bat");
    assert_int_equal(attn_word_sense_predict(m, odd, 1, 0, &p, &error), ATTN_EUNKNOWN_WORD);
    assert_string_equal(error.message, "the model knows no senses of 'a?b?'; it knows: bank, bat");
    assert_int_equal(attn_word_sense_predict(m, tokens, 2, 2, &p, &error), ATTN_EINVAL);
    assert_string_equal(error.message, "target 2, expected 0..1");
    assert_int_equal(attn_word_sense_predict(m, tokens, 2, -1, &p, &error), ATTN_EINVAL);
    assert_string_equal(error.message, "target -1, expected 0..1");
    assert_int_equal(attn_word_sense_predict(m, tokens, 0, 0, &p, NULL), ATTN_EINVAL);
    double table;
    assert_int_equal(attn_word_sense_attention(m, tokens, 0, &table, &error), ATTN_EINVAL);
    assert_string_equal(error.message, "a sentence without words");

    attn_corpus *other = tiny_dev_corpus(NULL);
    assert_int_equal(add_sentence(other, "bird", 1, "the crane"), ATTN_OK);
    attn_scores *scores = attn_scores_new(NULL);
    assert_int_equal(attn_word_sense_score(m, other, scores, NULL, &error), ATTN_EUNKNOWN_WORD);
    assert_string_equal(error.message, "memory:5: the model knows no senses of 'crane'");
    attn_scores_free(scores);
    attn_corpus_free(other);
    attn_word_sense_free(m);
    attn_corpus_free(c);
}

/* Too many known words for one message: as many as fit, and how many more there are. */
static void a_long_list_of_words_is_cut(void **state)
{
    (void)state;
    enum { WORDS = 300 };
    char sentence[40];
    attn_corpus *c = attn_corpus_new(NULL);
    for (int i = 0; i < WORDS; i++) {
        (void)snprintf(sentence, sizeof sentence, "\xE6\x9C\xAA\xE7\x9F\xA5%c%c x", 'a' + i / 26, 'a' + i % 26);
        assert_int_equal(add_sentence(c, "1", 0, sentence), ATTN_OK);
        assert_int_equal(add_sentence(c, "2", 0, sentence), ATTN_OK);
    }
    attn_word_sense *m = new_model(c, tiny_config());
    attn_prediction p;
    attn_error error;
    assert_int_equal(attn_word_sense_predict(m, &(const char *const){"x"}, 1, 0, &p, &error), ATTN_EUNKNOWN_WORD);
    assert_int_equal(attn_utf8_fault(error.message, strlen(error.message)), -1);
    assert_contains(error.message, "it knows: \xE6\x9C\xAA\xE7\x9F\xA5"
                                   "aa, \xE6\x9C\xAA\xE7\x9F\xA5"
                                   "ab, ");
    int listed = 1;
    for (const char *comma = strchr(error.message, ','); comma != NULL; comma = strchr(comma + 1, ',')) {
        listed++;
    }
    assert_true(listed > 20);
    (void)snprintf(sentence, sizeof sentence, " and %d more", WORDS - listed);
    assert_string_equal(error.message + strlen(error.message) - strlen(sentence), sentence);
    attn_word_sense_free(m);
    attn_corpus_free(c);
}

/* Parameters so large that a score overflows: an error, not a NaN. */
static void scores_that_overflow_are_an_error(void **state)
{
    (void)state;
    attn_corpus *c = tiny_corpus(NULL);
    attn_word_sense *m = trained(c, 0, ATTN_POSITION_RELATIVE, 1);
    attn_params *p = m->member[0].params;
    float *w = attn_params_value(p, m->member[0].out);
    for (int64_t i = 0; i < attn_shape_count(attn_params_shape(p, m->member[0].out)); i++) {
        w[i] = i % 2 == 0 ? 3e38F : -3e38F;
    }
    float *table = attn_params_value(p, m->member[0].embedding);
    for (int64_t i = 0; i < attn_shape_count(attn_params_shape(p, m->member[0].embedding)); i++) {
        table[i] *= 1e4F;
    }
    const char *const tokens[] = {"the", "bank", "of", "the", "river"};
    attn_prediction prediction;
    attn_error error;
    assert_int_equal(attn_word_sense_predict(m, tokens, 5, 1, &prediction, &error), ATTN_ENONFINITE);
    assert_string_equal(error.message, "the model's scores are not finite: its parameters are too large");
    assert_int_equal(prediction.n_senses, 0);
    attn_word_sense_free(m);
    attn_corpus_free(c);
}

/* ---- gradients ---- */

static void gradients_of_the_whole_model_are_right(void **state)
{
    (void)state;
    attn_corpus *c = tiny_corpus(NULL);
    for (int v = 0; v < 12; v++) {
        attn_gradcheck_report report;
        attn_word_sense_config config = tiny_config();
        config.score = (attn_score)(v % 3);
        config.position = v / 3 % 2 == 0 ? ATTN_POSITION_RELATIVE : ATTN_POSITION_NONE;
        config.freeze_vectors = v >= 6;
        attn_word_sense *m = new_model(c, config);
        train_ok(m, c, NULL); /* an untrained one has zeros in its last matrix */
        attn_status status = attn_word_sense_gradcheck(m, c, 5, 0, NULL, &report);
        assert_string_equal(report.verdict, "ok");
        assert_int_equal(status, ATTN_OK);
        assert_true(report.elements > 200);
        assert_int_equal(report.failed + report.skipped, 0);
        attn_word_sense_free(m);
    }
    attn_corpus_free(c);
}

static void gradients_need_sentences(void **state)
{
    (void)state;
    attn_corpus *c = tiny_corpus(NULL), *other = attn_corpus_new(NULL);
    attn_word_sense *m = new_model(c, tiny_config());
    attn_gradcheck_report report;
    assert_int_equal(attn_word_sense_gradcheck(m, c, 0, 0, NULL, &report), ATTN_EINVAL);
    assert_string_equal(report.verdict, "0 sentences to check the gradients on, expected at least 1");
    assert_int_equal(attn_word_sense_gradcheck(m, c, -3, 0, NULL, &report), ATTN_EINVAL);
    assert_int_equal(attn_word_sense_gradcheck(m, other, 3, 0, NULL, &report), ATTN_EINVAL);
    assert_int_equal(add_sentence(other, "bird", 1, "the crane"), ATTN_OK);
    assert_int_equal(attn_word_sense_gradcheck(m, other, 3, 0, NULL, &report), ATTN_EUNKNOWN_WORD);
    assert_string_equal(report.verdict, "memory:1: the model knows no senses of 'crane'");
    attn_word_sense_free(m);
    attn_corpus_free(c);
    attn_corpus_free(other);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_table_holds_the_row_of_the_prediction),
        cmocka_unit_test(a_prediction_stays_valid),
        cmocka_unit_test(an_ensemble_is_the_mean_of_its_members),
        cmocka_unit_test(unknown_words_are_named_with_the_known_ones),
        cmocka_unit_test(a_long_list_of_words_is_cut),
        cmocka_unit_test(scores_that_overflow_are_an_error),
        cmocka_unit_test(gradients_of_the_whole_model_are_right),
        cmocka_unit_test(gradients_need_sentences),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* The word-sense model: its vocabulary, its senses, and what it answers. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/senses.h"
#include "support/tensors.h"

#include "word_sense/model.h"

/* ---- tables ---- */

static void senses_are_in_the_order_of_their_frequency(void **state)
{
    (void)state;
    attn_corpus *c = tiny_corpus(NULL);
    attn_word_sense *m = new_model(c, tiny_config());
    const char *const bank[] = {"shore", "money", "row"}, *const bat[] = {"animal", "club"};
    const int64_t counts[] = {4, 3, 1};
    assert_int_equal(attn_word_sense_words(m), 2);
    assert_string_equal(attn_word_sense_word(m, 0), "bank");
    assert_string_equal(attn_word_sense_word(m, 1), "bat");
    assert_int_equal(attn_word_sense_find(m, "bat"), 1);
    assert_int_equal(attn_word_sense_find(m, "ba"), -1);
    assert_int_equal(attn_word_sense_find(m, ""), -1);
    assert_int_equal(attn_word_sense_senses(m, 0), 3);
    assert_int_equal(attn_word_sense_senses(m, 1), 2);
    for (int s = 0; s < 3; s++) {
        assert_string_equal(attn_word_sense_sense(m, 0, s), bank[s]);
        assert_int_equal(attn_word_sense_support(m, 0, s), counts[s]);
    }
    assert_string_equal(attn_word_sense_sense(m, 1, 0), bat[0]); /* equally many: the first seen is the first */
    assert_string_equal(attn_word_sense_sense(m, 1, 1), bat[1]);
    for (int outside = -1; outside <= 3; outside += 4) {
        assert_null(attn_word_sense_word(m, outside));
        assert_null(attn_word_sense_sense(m, 0, outside));
        assert_null(attn_word_sense_sense(m, outside, 0));
        assert_int_equal(attn_word_sense_senses(m, outside), 0);
        assert_int_equal(attn_word_sense_support(m, 0, outside), 0);
        assert_int_equal(attn_word_sense_support(m, outside, 0), 0);
    }
    attn_word_sense_free(m);
    attn_corpus_free(c);
}

/* The first of several gold senses is learned. A word with one sense is known too, and has that one. */
static void several_gold_senses_and_single_ones(void **state)
{
    (void)state;
    attn_corpus *c = tiny_corpus(NULL);
    assert_int_equal(add_sentence(c, "money;shore", 0, "bank robbers"), ATTN_OK);
    assert_int_equal(add_sentence(c, "bird", 1, "a crane"), ATTN_OK);
    attn_word_sense *m = new_model(c, tiny_config());
    assert_int_equal(attn_word_sense_senses(m, 0), 3);
    assert_int_equal(attn_word_sense_support(m, 0, 0), 4);
    assert_int_equal(attn_word_sense_support(m, 0, 1), 4); /* money has caught up */
    attn_prediction p = predict_ok(m, c, "this crane", 1);
    assert_int_equal(p.n_senses, 1);
    assert_string_equal(p.senses[0], "bird");
    assert_close(p.probabilities[0], 1, 0, 0);
    attn_word_sense_free(m);
    attn_corpus_free(c);
}

static void ascii_digits_are_all_the_same(void **state)
{
    (void)state;
    attn_corpus *c = tiny_corpus(NULL);
    assert_int_equal(add_sentence(c, "row", 0, "bank x7y \xEF\xBC\x97"), ATTN_OK); /* a fullwidth 7 */
    attn_word_sense *m = new_model(c, tiny_config());
    assert_true(attn__token_row(m, "1998") > 0); /* seen */
    assert_int_equal(attn__token_row(m, "1998"), attn__token_row(m, "2024"));
    assert_int_equal(attn__token_row(m, "0000"), attn__token_row(m, "2024"));
    assert_int_equal(attn__token_row(m, "199"), 0); /* three digits were not seen */
    assert_true(attn__token_row(m, "x0y") > 0);
    assert_int_equal(attn__token_row(m, "x1y"), attn__token_row(m, "x7y"));
    assert_true(attn__token_row(m, "\xEF\xBC\x97") > 0);
    assert_int_equal(attn__token_row(m, "\xEF\xBC\x98"), 0);
    assert_int_equal(attn__token_row(m, "unheard-of"), 0);
    assert_int_equal(attn__token_row(m, "Bank"), 0); /* case matters */
    attn_word_sense_free(m);
    attn_corpus_free(c);
}

/* Rows are given in the order of first appearance, to words that are seen often enough. */
static void rare_words_share_the_unknown_row(void **state)
{
    (void)state;
    attn_corpus *c = attn_corpus_new(NULL);
    assert_int_equal(add_sentence(c, "a", 0, "bank one two three"), ATTN_OK);
    assert_int_equal(add_sentence(c, "b", 2, "three two bank"), ATTN_OK);
    assert_int_equal(add_sentence(c, "a", 1, "three bank 5"), ATTN_OK);
    assert_int_equal(add_sentence(c, "a", 0, "bank 6"), ATTN_OK);
    const int kept[] = {5, 4, 2, 1, 0};
    for (int least = 1; least <= 5; least++) {
        attn_word_sense_config config = tiny_config();
        config.min_count = least;
        attn_word_sense *m = new_model(c, config);
        assert_int_equal(attn_word_sense_vocabulary(m), kept[least - 1]);
        assert_int_equal(attn__token_row(m, "bank"), least <= 4);
        assert_int_equal(attn__token_row(m, "one"), least <= 1 ? 2 : 0);
        assert_int_equal(attn__token_row(m, "two"), least <= 1 ? 3 : least <= 2 ? 2 : 0);
        assert_int_equal(attn__token_row(m, "9"), least <= 1 ? 5 : least <= 2 ? 4 : 0);
        train_ok(m, c, NULL); /* also without any vocabulary */
        attn_word_sense_free(m);
    }
    attn_corpus_free(c);
}

/* Below 100,000 tokens of training text every word has a vector, from there on those that were seen twice; who names a number gets it. */
static void the_size_of_a_text_chooses_the_rarest_word(void **state)
{
    (void)state;
    const char *tokens[2500];
    for (int i = 0; i < 2500; i++) {
        tokens[i] = i == 0 ? "bank" : "w";
    }
    attn_corpus *c = attn_corpus_new(NULL);
    for (int i = 0; i < 39; i++) {
        assert_int_equal(attn_corpus_add(c, tokens, 2500, 0, i % 2 == 0 ? "a" : "b", NULL), ATTN_OK);
    }
    tokens[1] = "rare";
    assert_int_equal(attn_corpus_add(c, tokens, 2499, 0, "a", NULL), ATTN_OK);
    for (int more = 0; more < 2; more++) {
        for (int asked = 0; asked <= 2; asked++) {
            attn_word_sense_config config = tiny_config();
            config.min_count = asked;
            attn_word_sense *m = new_model(c, config);
            int want = asked > 0 ? asked : 1 + more;
            assert_int_equal(attn_word_sense_get_config(m).min_count, want);
            assert_int_equal(attn_word_sense_knows(m, "rare"), want == 1);
            attn_word_sense_free(m);
        }
        assert_int_equal(add_sentence(c, "b", 0, "bank"), ATTN_OK); /* the 100,000th token */
    }
    attn_corpus_free(c);
}

/* Steps are small below 2048 sentences an epoch, targets are smoothed below 30 sentences a sense; who names a number gets it. */
static void the_size_of_a_corpus_chooses_batch_and_smoothing(void **state)
{
    (void)state;
    static const struct {
        int sentences, batch;
        double smoothing;
    } want[] = {{59, 16, 0.1}, {60, 16, 0}, {2047, 16, 0}, {2048, 64, 0}};
    attn_corpus *c = attn_corpus_new(NULL);
    for (size_t i = 0; i < sizeof want / sizeof want[0]; i++) {
        while (attn_corpus_count(c) < want[i].sentences) {
            assert_int_equal(add_sentence(c, attn_corpus_count(c) % 2 == 0 ? "shore" : "money", 1, "the bank"), ATTN_OK);
        }
        attn_word_sense_config config = tiny_config(), made;
        config.sense_cap = 2000;
        config.batch = 0;
        config.label_smoothing = attn_word_sense_defaults().label_smoothing;
        attn_word_sense *m = new_model(c, config);
        made = attn_word_sense_get_config(m);
        assert_int_equal(made.batch, want[i].batch);
        assert_close(made.label_smoothing, want[i].smoothing, 0, 0);
        attn_word_sense_free(m);
        config.batch = 7;
        config.label_smoothing = 0.02;
        m = new_model(c, config);
        made = attn_word_sense_get_config(m);
        assert_int_equal(made.batch, 7);
        assert_close(made.label_smoothing, 0.02, 0, 0);
        attn_word_sense_free(m);
    }
    attn_corpus_free(c);
}

/* Words of 255 bytes have a vector, longer ones do not; both are legal, also as the ambiguous word. */
static void very_long_words_are_unknown(void **state)
{
    (void)state;
    char word[302], sentence[620];
    attn_corpus *c = attn_corpus_new(NULL);
    for (int length = 255; length <= 301; length += length == 255 ? 1 : 45) {
        memset(word, 'w', (size_t)length);
        word[length] = '\0';
        (void)snprintf(sentence, sizeof sentence, "%s and %s", word, word);
        assert_int_equal(add_sentence(c, "a", 0, sentence), ATTN_OK);
        assert_int_equal(add_sentence(c, "b", 2, sentence), ATTN_OK);
    }
    attn_word_sense *m = new_model(c, tiny_config());
    assert_int_equal(attn_word_sense_vocabulary(m), 2);
    assert_int_equal(attn_word_sense_words(m), 3);
    assert_int_equal(attn__token_row(m, word), 0);
    word[256] = '\0';
    assert_int_equal(attn__token_row(m, word), 0);
    word[255] = '\0';
    assert_int_equal(attn__token_row(m, word), 1);
    train_ok(m, c, NULL);
    attn_word_sense_free(m);
    attn_corpus_free(c);
}

static void the_model_tells_its_size(void **state)
{
    (void)state;
    attn_corpus *c = tiny_corpus(NULL);
    attn_word_sense_config config = tiny_config();
    config.score = ATTN_SCORE_ADDITIVE;
    config.seeds = 3;
    attn_word_sense *m = new_model(c, config);
    int64_t words = attn_word_sense_vocabulary(m);
    int64_t embeddings = (words + 1) * 6, queries_and_keys = 2 * 6 * 6, values = 6 * 12, w = 2 * 3, position = 2 * 9, out = 12 * 5 + 5;
    assert_int_equal(attn_word_sense_parameters(m), 3 * (embeddings + queries_and_keys + values + w + position + out));
    attn_word_sense_config got = attn_word_sense_get_config(m);
    assert_int_equal(got.score, ATTN_SCORE_ADDITIVE);
    assert_int_equal(got.dim, 6);
    assert_int_equal(got.seed, 7);
    assert_false(attn_word_sense_finished(m));
    attn_word_sense_free(m);
    attn_corpus_free(c);
}

/* ---- predictions ---- */

/* An untrained model knows nothing but how often it saw a sense: p ~ (1/2 + count)^prior. */
static void the_prior_is_what_it_says(void **state)
{
    (void)state;
    attn_corpus *c = tiny_corpus(NULL);
    const double priors[] = {0, 0.5, 1};
    for (int i = 0; i < 3; i++) {
        attn_word_sense_config config = tiny_config();
        config.prior = priors[i];
        config.neighbours = 0;
        config.seeds = 1 + i;
        attn_word_sense *m = new_model(c, config);
        attn_prediction p = predict_ok(m, c, "the bank is old", 1);
        double expected[] = {pow(4.5, priors[i]), pow(3.5, priors[i]), pow(1.5, priors[i])};
        double sum = expected[0] + expected[1] + expected[2];
        assert_int_equal(p.n_senses, 3);
        assert_int_equal(p.best, 0); /* the most frequent, also in a tie */
        for (int s = 0; s < 3; s++) {
            assert_close(p.probabilities[s], expected[s] / sum, 1e-6, 0);
        }
        attn_word_sense_free(m);
    }
    attn_corpus_free(c);
}

/* A trained model with the given score and everything else that can matter for a prediction. */
static attn_word_sense *trained(const attn_corpus *c, int score, attn_position position, int seeds)
{
    attn_word_sense_config config = tiny_config();
    config.score = (attn_score)score;
    config.position = position;
    config.seeds = seeds;
    config.epochs = 30;
    config.learning_rate = 0.03;
    attn_word_sense *m = new_model(c, config);
    train_ok(m, c, NULL);
    return m;
}

static void a_prediction_is_a_distribution_over_the_window(void **state)
{
    (void)state;
    attn_corpus *c = tiny_corpus(NULL);
    for (int score = 0; score < 3; score++) {
        attn_word_sense *m = trained(c, score, score == 1 ? ATTN_POSITION_NONE : ATTN_POSITION_RELATIVE, 1 + score % 2);
        attn_prediction p = predict_ok(m, c, "a b c d e the wooden bat hit the ball hard in 1998 again", 7);
        double sum = 0;
        assert_int_equal(p.n_senses, 2);
        assert_int_equal(p.heads, 2);
        assert_int_equal(p.length, 15);
        for (int s = 0; s < p.n_senses; s++) {
            assert_true(p.probabilities[s] > 0 && p.probabilities[s] <= p.probabilities[p.best]);
            assert_string_equal(p.senses[s], attn_word_sense_sense(m, 1, s));
            sum += p.probabilities[s];
        }
        assert_close(sum, 1, 0, 1e-12);
        for (int h = 0; h < p.heads; h++) {
            double row = 0;
            for (int j = 0; j < p.length; j++) {
                double w = p.attention[h * p.length + j];
                assert_true(j < 3 || j > 11 ? w == 0 : w > 0 && w < 1); /* 4 words on each side of word 7 */
                row += w;
            }
            assert_close(row, 1, 0, 1e-6);
        }
        attn_word_sense_free(m);
    }
    attn_corpus_free(c);
}

/* A sentence of one word, and targets at both ends. */
static void the_smallest_sentences_are_answered(void **state)
{
    (void)state;
    attn_corpus *c = tiny_corpus(NULL);
    attn_word_sense *m = trained(c, ATTN_SCORE_SCALED_DOT, ATTN_POSITION_RELATIVE, 1);
    attn_prediction p = predict_ok(m, c, "bank", 0);
    assert_int_equal(p.length, 1);
    assert_close(p.attention[0], 1, 0, 0);
    assert_close(p.attention[1], 1, 0, 0);
    p = predict_ok(m, c, "bank river", 0);
    assert_close(p.attention[0] + p.attention[1], 1, 0, 1e-6);
    p = predict_ok(m, c, "river bank", 1);
    assert_close(p.attention[2] + p.attention[3], 1, 0, 1e-6);
    attn_word_sense_free(m);
    attn_corpus_free(c);
}

/* Words beyond the window change nothing, words inside do. */
static void only_the_window_is_read(void **state)
{
    (void)state;
    attn_corpus *c = tiny_corpus(NULL);
    attn_word_sense *m = trained(c, ATTN_SCORE_DOT, ATTN_POSITION_RELATIVE, 1);
    double alone = predict_ok(m, c, "of the roof the bat swung at the ball", 4).probabilities[0];
    double far = predict_ok(m, c, "cave cave of the roof the bat swung at the ball cave", 6).probabilities[0];
    double near = predict_ok(m, c, "of the roof cave bat swung at the ball", 4).probabilities[0];
    assert_true(alone == far);
    assert_true(alone != near);
    attn_word_sense_free(m);
    attn_corpus_free(c);
}

/* Padding and the other sentences of a batch change no bit of a sentence's logits. */
static void a_batch_has_the_logits_of_single_sentences(void **state)
{
    (void)state;
    attn_corpus *c = tiny_corpus(NULL);
    for (int score = 0; score < 3; score++) {
        attn_word_sense *m = trained(c, score, ATTN_POSITION_RELATIVE, 1);
        attn__arena arena;
        attn__arena_init(&arena, NULL);
        attn__encoded *data;
        int64_t n, senses = m->n_senses;
        assert_int_equal(attn__encode_corpus(m, &arena, c, true, &data, &n, NULL), ATTN_OK);
        const attn__encoded *list[TINY_SENTENCES];
        for (int64_t i = 0; i < n; i++) {
            list[i] = &data[i];
        }
        attn__batch all, one;
        attn_tape *t = attn_tape_new(NULL);
        assert_true(attn__batch_make(m, &arena, list, n, &all));
        attn_tensor *together = attn__member_logits(m, &m->member[0], t, &all, NULL);
        assert_int_equal(attn_tensor_count(together), n * senses);
        for (int64_t i = 0; i < n; i++) {
            assert_true(attn__batch_make(m, &arena, list + i, 1, &one));
            attn_tensor *alone = attn__member_logits(m, &m->member[0], t, &one, NULL);
            assert_int_equal(attn_tensor_count(alone), senses);
            assert_memory_equal((float *)attn_tensor_data(together) + i * senses, attn_tensor_data(alone), (size_t)senses * sizeof(float));
        }
        attn_tape_free(t);
        attn__arena_free(&arena);
        attn_word_sense_free(m);
    }
    attn_corpus_free(c);
}

static void a_batch_predicts_what_single_sentences_do(void **state)
{
    (void)state;
    attn_corpus *c = tiny_corpus(NULL), *many = attn_corpus_new(NULL);
    for (int i = 0; i < 10; i++) { /* 140 sentences: batches of 64, 64 and 12, of mixed lengths */
        for (int64_t k = 0; k < TINY_SENTENCES; k++) {
            attn_example e = attn_corpus_get(c, (k + i) % TINY_SENTENCES);
            assert_int_equal(attn_corpus_add(many, e.tokens, e.length - (e.target + 1 < e.length ? i % 2 : 0), e.target, e.sense, NULL),
                             ATTN_OK);
        }
    }
    for (int score = 0; score < 3; score++) {
        attn_word_sense *m = trained(c, score, ATTN_POSITION_RELATIVE, 1 + score % 2);
        const char *predictions[10 * TINY_SENTENCES];
        attn_scores *scores = attn_scores_new(NULL);
        attn_word_sense_set_threads(m, 2);
        assert_int_equal(attn_word_sense_score(m, many, scores, predictions, NULL), ATTN_OK);
        attn_word_sense_set_threads(m, 1);
        int64_t right = 0;
        for (int64_t i = 0; i < attn_corpus_count(many); i++) {
            attn_example e = attn_corpus_get(many, i);
            attn_prediction p;
            assert_int_equal(attn_word_sense_predict(m, e.tokens, e.length, e.target, &p, NULL), ATTN_OK);
            assert_string_equal(predictions[i], p.senses[p.best]);
            right += strcmp(e.sense, predictions[i]) == 0;
        }
        assert_int_equal(attn_scores_examples(scores), 140);
        assert_int_equal(attn_scores_correct(scores), right);
        assert_true(right > 70);
        attn_scores_free(scores);
        attn_word_sense_free(m);
    }
    attn_corpus_free(c);
    attn_corpus_free(many);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(senses_are_in_the_order_of_their_frequency),
        cmocka_unit_test(several_gold_senses_and_single_ones),
        cmocka_unit_test(ascii_digits_are_all_the_same),
        cmocka_unit_test(rare_words_share_the_unknown_row),
        cmocka_unit_test(the_size_of_a_text_chooses_the_rarest_word),
        cmocka_unit_test(the_size_of_a_corpus_chooses_batch_and_smoothing),
        cmocka_unit_test(very_long_words_are_unknown),
        cmocka_unit_test(the_model_tells_its_size),
        cmocka_unit_test(the_prior_is_what_it_says),
        cmocka_unit_test(a_prediction_is_a_distribution_over_the_window),
        cmocka_unit_test(the_smallest_sentences_are_answered),
        cmocka_unit_test(only_the_window_is_read),
        cmocka_unit_test(a_batch_has_the_logits_of_single_sentences),
        cmocka_unit_test(a_batch_predicts_what_single_sentences_do),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

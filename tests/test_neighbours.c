/* What stood near a word in training: counts, what they say, and how they enter a prediction. Expected values are the formula of
 * neighbours.c, written out. */
#include <math.h>
#include <string.h>

#include "support/senses.h"

#include "attn/explain.h"
#include "word_sense/model.h"

#define NEAR(d) (5.0 / (5 + (d)))

/* Two words; of "bank" A has river 1 before, muddy 1 and river 2 behind; B has money 1 and river 2 behind. */
static attn_corpus *corpus(bool mixed)
{
    static const struct {
        const char *sense;
        int target;
        const char *text;
    } of_bank[] = {{"A", 1, "river bank"}, {"A", 0, "bank muddy river"}, {"B", 0, "bank money river"}},
      of_bat[] = {{"C", 1, "big bat"}, {"D", 0, "bat river"}};
    attn_corpus *c = attn_corpus_new(NULL);
    for (int i = 0; i < 5; i++) {
        int place = mixed ? (const int[]){0, 3, 1, 4, 2}[i] : i;
        assert_int_equal(place < 3 ? add_sentence(c, of_bank[place].sense, of_bank[place].target, of_bank[place].text)
                                   : add_sentence(c, of_bat[place - 3].sense, of_bat[place - 3].target, of_bat[place - 3].text),
                         ATTN_OK);
    }
    return c;
}

static attn_word_sense_config config_of(double weight, int window)
{
    attn_word_sense_config config = tiny_config();
    config.vectors = ATTN_VECTORS_NONE;
    config.neighbours = weight;
    config.window = window;
    return config;
}

/* ln((c + 0.3 q) / ((n + 0.3) q)) */
static double said(double c, double n, double q)
{
    return log((c + 0.3 * q) / ((n + 0.3) * q));
}

typedef struct counts {
    double river[2], muddy[2], money[2], share[2];
} counts;

static counts by_hand(void)
{
    counts x = {.river = {NEAR(1) + NEAR(2), NEAR(2)}, .muddy = {NEAR(1), 0}, .money = {0, NEAR(1)}};
    double a = 1 + x.river[0] + x.muddy[0], b = 1 + x.river[1] + x.money[1];
    x.share[0] = a / (a + b);
    x.share[1] = b / (a + b);
    return x;
}

/* "bank" has three sentences of two senses. */
static double weight_of(double neighbours)
{
    return neighbours * 1.5 / (1.5 + 10);
}

/* What each word of the sentence says for A and B, (words,2). */
static void ask(const attn_word_sense *m, const char *text, int target, double *logits)
{
    attn_corpus *c = attn_corpus_new(NULL);
    attn__arena arena;
    attn_example x;
    attn__encoded e;
    attn__arena_init(&arena, NULL);
    assert_int_equal(attn_corpus_tokenize(c, text, &x, NULL), ATTN_OK);
    assert_int_equal(attn__encode(m, &arena, x.tokens, x.length, target, &e, NULL), ATTN_OK);
    int first = m->lemma[e.word].first;
    for (int j = 0; j < e.length; j++) {
        double all[4] = {0};
        attn__neighbour_says(m, &e, j, all);
        logits[2 * j] = all[first];
        logits[2 * j + 1] = all[first + 1];
        assert_true(all[(first + 2) % 4] == 0 && all[(first + 3) % 4] == 0); /* senses of the other word */
    }
    attn__arena_free(&arena);
    attn_corpus_free(c);
}

static void words_say_what_they_were_counted_near(void **state)
{
    (void)state;
    const counts x = by_hand();
    for (int mixed = 0; mixed < 2; mixed++) { /* the order of the data does not matter */
        attn_corpus *c = corpus(mixed == 1);
        attn_word_sense *m = new_model(c, config_of(0.5, 4));
        double got[12];
        ask(m, "muddy cloud bank money river bank", 2, got);
        for (int s = 0; s < 2; s++) {
            double q = x.share[s];
            assert_close(got[s], weight_of(0.5) * NEAR(2) * said(x.muddy[s], NEAR(1), q), 1e-6, 0);
            assert_true(got[2 + s] == 0); /* never seen */
            assert_true(got[4 + s] == 0); /* the word itself */
            assert_close(got[6 + s], weight_of(0.5) * NEAR(1) * said(x.money[s], NEAR(1), q), 1e-6, 0);
            assert_close(got[8 + s], weight_of(0.5) * NEAR(2) * said(x.river[s], NEAR(1) + 2 * NEAR(2), q), 1e-6, 0);
            assert_true(got[10 + s] == 0); /* known, but never near itself */
        }
        assert_true(got[0] > 0 && got[1] < 0 && got[6] < 0 && got[7] > 0);
        ask(m, "muddy bat", 1, got);
        assert_true(got[0] == 0 && got[1] == 0); /* was near the other word alone */
        attn_word_sense_free(m);
        attn_corpus_free(c);
    }
}

/* Of words without spaces the characters speak too, 0.3 as loud, also those of words that are unknown, or broken. */
static void characters_speak(void **state)
{
    (void)state;
    attn_corpus *c = attn_corpus_new(NULL);
    assert_int_equal(add_sentence(c, "A", 0, "果 手机"), ATTN_OK);
    assert_int_equal(add_sentence(c, "B", 0, "果 机会"), ATTN_OK);
    attn_word_sense *m = new_model(c, config_of(0.3, 4));
    assert_int_equal(m->neighbours.count, 6);          /* 手机, 机会; 手, 机 and 机, 会 */
    const double weight = 0.3 * 1 / (1 + 10), q = 0.5; /* as many counts of A as of B */
    double got[8];
    ask(m, "果 手机 飞机 会", 0, got);
    for (int s = 0; s < 2; s++) {
        double alone = said(s == 0 ? NEAR(1) : 0, NEAR(1), q), other = said(s == 0 ? 0 : NEAR(1), NEAR(1), q),
               both = said(NEAR(1), 2 * NEAR(1), q);
        assert_true(got[s] == 0);
        assert_close(got[2 + s], weight * NEAR(1) * (alone + 0.3 * (alone + both)), 1e-6, 1e-9);
        assert_close(got[4 + s], weight * NEAR(2) * 0.3 * both, 1e-6, 1e-9);
        assert_close(got[6 + s], weight * NEAR(3) * 0.3 * other, 1e-6, 1e-9); /* no word of training, but its character */
    }
    attn__arena arena;
    attn__encoded e;
    attn__arena_init(&arena, NULL);
    double broken[2] = {0}, whole[2] = {0};
    assert_int_equal(attn__encode(m, &arena, (const char *const[]){"果", "\xff\xe4\xbc\x9a\xe6"}, 2, 0, &e, NULL), ATTN_OK); /* around 会 */
    attn__neighbour_says(m, &e, 1, broken);
    assert_int_equal(attn__encode(m, &arena, (const char *const[]){"果", "会"}, 2, 0, &e, NULL), ATTN_OK);
    attn__neighbour_says(m, &e, 1, whole);
    assert_true(whole[1] > 0);
    assert_memory_equal(broken, whole, sizeof whole);
    attn__arena_free(&arena);
    attn_word_sense_free(m);
    attn_corpus_free(c);
}

/* Entries are sorted by ambiguous word, row and sense; with a window of one word, only that far is counted. */
static void the_window_bounds_what_is_counted(void **state)
{
    (void)state;
    attn_corpus *c = corpus(true);
    attn_word_sense *wide = new_model(c, config_of(0.3, 4)), *narrow = new_model(c, config_of(0.3, 1));
    assert_int_equal(wide->neighbours.count, 6); /* river A, river B, muddy A, money B; big C, river D */
    assert_int_equal(narrow->neighbours.count, 5);
    assert_int_equal(wide->neighbours.begin[1], 4);
    for (int64_t i = 1; i < wide->neighbours.count; i++) {
        const attn__neighbour a = wide->neighbours.entry[i - 1], b = wide->neighbours.entry[i];
        assert_true(i == 4 || a.key < b.key || (a.key == b.key && a.sense < b.sense));
    }
    assert_close((double)wide->neighbours.entry[0].count, NEAR(1) + NEAR(2), 1e-6, 0);
    assert_close((double)narrow->neighbours.entry[0].count, NEAR(1), 1e-6, 0);
    attn_word_sense_free(wide);
    attn_word_sense_free(narrow);
    attn_corpus_free(c);
}

/* An untrained model says nothing else but the priors: what it answers can be computed. */
static void a_prediction_hears_them(void **state)
{
    (void)state;
    const counts x = by_hand();
    attn_corpus *c = corpus(false), *texts = attn_corpus_new(NULL);
    const double weights[] = {0, 0.3, 9};
    for (int i = 0; i < 3; i++) {
        attn_word_sense_config config = config_of(weights[i], 4);
        config.prior = 1;
        config.seeds = 1 + i;
        attn_word_sense *m = new_model(c, config);
        attn_prediction p = predict_ok(m, texts, "bank money", 0);
        double a = 2.5 * exp(weight_of(weights[i]) * NEAR(1) * said(0, NEAR(1), x.share[0]));
        double b = 1.5 * exp(weight_of(weights[i]) * NEAR(1) * said(NEAR(1), NEAR(1), x.share[1]));
        assert_close(p.probabilities[0], a / (a + b), 1e-6, 0);
        assert_int_equal(p.best, i < 2 ? 0 : 1);
        attn_word_sense_free(m);
    }
    attn_corpus_free(texts);
    attn_corpus_free(c);
}

static void an_explanation_shows_them(void **state)
{
    (void)state;
    attn_corpus *c = corpus(false), *texts = attn_corpus_new(NULL);
    attn_example s;
    attn_explanation e;
    attn_word_sense *m = new_model(c, config_of(0.3, 1)), *without = new_model(c, config_of(0, 1));
    double expected[6];
    assert_int_equal(attn_corpus_tokenize(texts, "river money bank muddy river", &s, NULL), ATTN_OK);
    ask(m, "river money bank muddy river", 2, expected);
    assert_int_equal(attn_word_sense_explain(m, s.tokens, s.length, 2, &e, NULL), ATTN_OK);
    assert_int_equal(e.n, 3);
    assert_memory_equal(e.neighbours, expected, sizeof expected);
    assert_close(e.neighbours_weight, weight_of(0.3), 1e-15, 0);
    for (int k = 0; k < 2; k++) { /* the last matrix begins with zeros */
        assert_close(e.member[0].logit[k], e.member[0].prior[k] + expected[k] + expected[2 + k] + expected[4 + k], 1e-6, 1e-7);
    }
    assert_int_equal(attn_word_sense_explain(without, s.tokens, s.length, 2, &e, NULL), ATTN_OK);
    assert_null(e.neighbours);
    assert_int_equal(without->neighbours.count, 0);
    attn_word_sense_free(m);
    attn_word_sense_free(without);
    attn_corpus_free(texts);
    attn_corpus_free(c);
}

/* The best epoch is that of what is learned, however loud neighbours are: the same parameters, bit for bit. What is reported hears them. */
static bool last_score(void *ctx, const attn_word_sense_progress *at)
{
    *(double *)ctx = at->has_dev ? at->dev_micro_f1 : *(double *)ctx;
    return true;
}

static void early_stopping_does_not_hear_them(void **state)
{
    (void)state;
    attn_corpus *c = tiny_corpus(NULL), *dev = tiny_dev_corpus(NULL);
    attn_word_sense *model[2];
    double reported[2];
    for (int i = 0; i < 2; i++) {
        attn_word_sense_config config = tiny_config();
        config.patience = 8;
        config.epochs = 30;
        config.learning_rate = 0.03;
        config.neighbours = i == 0 ? 0 : 10;
        model[i] = new_model(c, config);
        assert_int_equal(attn_word_sense_train(model[i], c, dev, last_score, &reported[i], NULL), ATTN_OK);
    }
    const attn__member *a = &model[0]->member[0], *b = &model[1]->member[0];
    assert_true(a->best_epoch > 1);
    assert_int_equal(a->best_epoch, b->best_epoch);
    assert_int_equal(a->epochs, b->epochs);
    assert_true(reported[1] > reported[0]);
    for (int id = 0; id < attn_params_count(a->params); id++) {
        size_t size = (size_t)attn_shape_count(attn_params_shape(a->params, id)) * sizeof(float);
        assert_memory_equal(attn_params_value(a->params, id), attn_params_value(b->params, id), size);
    }
    for (int i = 0; i < 2; i++) {
        attn_word_sense_free(model[i]);
    }
    attn_corpus_free(c);
    attn_corpus_free(dev);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_say_what_they_were_counted_near),
        cmocka_unit_test(characters_speak),
        cmocka_unit_test(the_window_bounds_what_is_counted),
        cmocka_unit_test(a_prediction_hears_them),
        cmocka_unit_test(an_explanation_shows_them),
        cmocka_unit_test(early_stopping_does_not_hear_them),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

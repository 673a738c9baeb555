/* Several threads that predict with one model, each with a predictor of its own, get the bits that one alone gets. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "support/senses.h"

enum { THREADS = 4, ROUNDS = 25, SENTENCES = 5, MOST = 12, HEADS = 2 };

static const char *const texts[SENTENCES] = {
    "We sat on the bank of the slow river.",
    "The bat hit the ball hard",
    "bank",
    "a bat and a bank",
    "The bank's money, and all the cash on friday in the small shops",
};

/* What one sentence gives. */
typedef struct answer {
    int length, target, best, n_senses;
    double probabilities[3], attention[HEADS * 20], table[HEADS * 20 * 20];
} answer;

typedef struct worker {
    const attn_word_sense *m;
    const answer *expected; /* NULL: fill `answers` */
    answer answers[SENTENCES];
    bool same;
} worker;

static bool ask(attn_predictor *p, const attn_word_sense *m, attn_corpus *c, const char *text, answer *a)
{
    attn_example e;
    attn_prediction x;
    memset(a, 0, sizeof *a);
    attn_corpus_clear(c);
    if (attn_tokenize(m, c, text, ATTN_TOKENIZE_AUTO, NULL, &e, NULL) != ATTN_OK || e.length > 20) {
        return false;
    }
    while (a->target + 1 < e.length && attn_word_sense_find(m, e.tokens[a->target]) < 0) {
        a->target++;
    }
    if (attn_predictor_attention(p, e.tokens, e.length, a->table, NULL) != ATTN_OK ||
        attn_predictor_predict(p, e.tokens, e.length, a->target, &x, NULL) != ATTN_OK || x.heads != HEADS) {
        return false;
    }
    a->length = x.length;
    a->best = x.best;
    a->n_senses = x.n_senses;
    memcpy(a->probabilities, x.probabilities, (size_t)x.n_senses * sizeof(double));
    memcpy(a->attention, x.attention, (size_t)(HEADS * x.length) * sizeof(double));
    return true;
}

static void *work(void *argument)
{
    worker *w = argument;
    attn_predictor *p = attn_predictor_new(w->m, NULL);
    attn_corpus *c = attn_corpus_new(NULL);
    w->same = p != NULL && c != NULL;
    for (int round = 0; round < (w->expected != NULL ? ROUNDS : 1) && w->same; round++) {
        for (int s = 0; s < SENTENCES && w->same; s++) {
            w->same = ask(p, w->m, c, texts[s], &w->answers[s]) &&
                      (w->expected == NULL || memcmp(&w->answers[s], &w->expected[s], sizeof(answer)) == 0);
        }
    }
    attn_corpus_free(c);
    attn_predictor_free(p);
    return NULL;
}

static attn_word_sense *trained(int seeds)
{
    attn_corpus *c = tiny_corpus(NULL);
    attn_word_sense_config config = tiny_config();
    config.seeds = seeds;
    attn_word_sense *m = new_model(c, config);
    train_ok(m, c, NULL);
    attn_corpus_free(c);
    return m;
}

static void threads_get_the_bits_of_one(void **state)
{
    (void)state;
    for (int seeds = 1; seeds <= 3; seeds += 2) {
        attn_word_sense *m = trained(seeds);
        worker *alone = calloc(1, sizeof *alone), *workers = calloc(THREADS, sizeof *workers);
        pthread_t thread[THREADS];
        assert_true(alone != NULL && workers != NULL);
        alone->m = m;
        (void)work(alone);
        assert_true(alone->same);
        assert_int_equal(alone->answers[0].length, 9); /* "we sat on the bank of the slow river", and the full stop is left out */
        assert_int_equal(alone->answers[0].target, 4);
        for (int i = 0; i < THREADS; i++) {
            workers[i] = (worker){.m = m, .expected = alone->answers};
            assert_int_equal(pthread_create(&thread[i], NULL, work, &workers[i]), 0);
        }
        for (int i = 0; i < THREADS; i++) {
            assert_int_equal(pthread_join(thread[i], NULL), 0);
            assert_true(workers[i].same);
        }
        free(alone);
        free(workers);
        attn_word_sense_free(m);
    }
}

/* The model's own working memory gives the same bits, and keeps its last prediction while predictors work. */
static void a_predictor_is_the_model(void **state)
{
    (void)state;
    attn_word_sense *m = trained(2);
    attn_corpus *c = attn_corpus_new(NULL);
    attn_predictor *p = attn_predictor_new(m, NULL);
    attn_prediction one, other;
    attn_example e;
    assert_int_equal(attn_corpus_tokenize(c, "the small bat sat on the bank", &e, NULL), ATTN_OK);
    assert_int_equal(attn_word_sense_predict(m, e.tokens, e.length, 6, &one, NULL), ATTN_OK);
    double before[3];
    memcpy(before, one.probabilities, sizeof before);
    assert_int_equal(attn_predictor_predict(p, e.tokens, e.length, 2, &other, NULL), ATTN_OK);
    assert_int_equal(other.n_senses, 2);
    assert_int_equal(attn_predictor_predict(p, e.tokens, e.length, 6, &other, NULL), ATTN_OK);
    assert_int_equal(other.n_senses, 3);
    assert_int_equal(other.best, one.best);
    assert_memory_equal(one.probabilities, before, sizeof before);
    assert_memory_equal(other.probabilities, before, sizeof before);
    assert_memory_equal(other.attention, one.attention, (size_t)(2 * e.length) * sizeof(double));
    attn_predictor_free(p);
    attn_predictor_free(NULL);
    attn_corpus_free(c);
    attn_word_sense_free(m);
}

static void errors_of_a_predictor(void **state)
{
    static const char *const tokens[] = {"the", "crane"};
    (void)state;
    attn_word_sense *m = trained(1);
    attn_predictor *p = attn_predictor_new(m, NULL);
    attn_prediction x;
    attn_error error;
    double table[8];
    assert_int_equal(attn_predictor_predict(p, tokens, 2, 1, &x, &error), ATTN_EUNKNOWN_WORD);
    assert_string_equal(error.message, "the model knows no senses of 'crane'; it knows: bank, bat");
    assert_int_equal(attn_predictor_predict(p, tokens, 2, 2, &x, &error), ATTN_EINVAL);
    assert_string_equal(error.message, "target 2, expected 0..1");
    assert_int_equal(attn_predictor_attention(p, tokens, 0, table, &error), ATTN_EINVAL);
    attn_predictor_free(p);
    attn_word_sense_free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(threads_get_the_bits_of_one),
        cmocka_unit_test(a_predictor_is_the_model),
        cmocka_unit_test(errors_of_a_predictor),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* The steps of a prediction: from the numbers that are shown, every later number can be computed again, down to the prediction. */
#include <math.h>
#include <string.h>

#include "attn/explain.h"
#include "support/senses.h"

#include "word_sense/model.h"

enum { HEADS = 2, WINDOW = 4, MOST = 2 * WINDOW + 1 };

/* Longer than the window on both sides of "bank", at its border of "bat"; "and", "near" and "water" are not all known. */
static const char sentence[] = "we saw the bank and a bat of 1998 near the water";
enum { LENGTH = 12, BANK = 3, BAT = 6 };

static attn_word_sense *trained(const attn_corpus *c, int variant)
{
    attn_word_sense_config config = tiny_config();
    config.score = (attn_score)(variant % 3);
    config.position = variant / 3 % 2 == 0 ? ATTN_POSITION_RELATIVE : ATTN_POSITION_NONE;
    config.seeds = 1 + variant / 6 * 2;
    attn_word_sense *m = new_model(c, config);
    train_ok(m, c, NULL);
    return m;
}
enum { VARIANTS = 12 };

static void softmax(const double *x, int n, double *p)
{
    double max = x[0], sum = 0;
    for (int i = 1; i < n; i++) {
        max = fmax(max, x[i]);
    }
    for (int i = 0; i < n; i++) {
        sum += exp(x[i] - max);
    }
    for (int i = 0; i < n; i++) {
        p[i] = exp(x[i] - max) / sum;
    }
}

/* Adds to logits what the head says, computed from query, keys, values and positions alone; checks what is shown on the way. */
static void recompute_head(const attn_explanation *e, const attn_head_steps *s, double *logits)
{
    double score[MOST], weight[MOST];
    int senses = e->prediction.n_senses;
    for (int j = 0; j < e->n; j++) {
        double raw = 0;
        for (int c = 0; c < e->d; c++) {
            double k = s->key[j * e->d + c];
            if (e->score == ATTN_SCORE_ADDITIVE) {
                assert_close(s->squashed[j * e->d + c], tanh(s->query[c] + k), 1e-12, 0);
            }
            raw += e->score == ATTN_SCORE_ADDITIVE ? s->w[c] * tanh(s->query[c] + k) : s->query[c] * k;
        }
        assert_close(s->raw[j], raw, 1e-6, 1e-6);
        assert_close(s->scaled[j], raw * e->scale, 1e-6, 1e-6);
        score[j] = raw * e->scale + (s->position != NULL ? s->position[j] : 0);
        assert_close(s->score[j], score[j], 1e-6, 1e-6);
    }
    softmax(score, e->n, weight);
    assert_all_close(s->weight, weight, e->n, 1e-6, 1e-7);
    for (int c = 0; c < e->dv; c++) {
        double mixed = 0;
        for (int j = 0; j < e->n; j++) {
            mixed += weight[j] * s->value[j * e->dv + c];
        }
        assert_close(s->mixed[c], mixed, 1e-6, 1e-6);
        for (int k = 0; k < senses; k++) {
            logits[k] += mixed * s->matrix[c * senses + k];
        }
    }
}

static void recompute(const attn_explanation *e)
{
    double mean[3] = {0};
    int senses = e->prediction.n_senses;
    for (int k = 0; k < e->members; k++) {
        const attn_member_steps *m = &e->member[k];
        double logits[3] = {0}, p[3], parts[3] = {0};
        for (int h = 0; h < e->heads; h++) {
            recompute_head(e, &m->head[h], logits);
        }
        for (int s = 0; s < senses; s++) {
            for (int h = 0; h < e->heads; h++) {
                parts[s] += m->head[h].part[s];
            }
            assert_close(parts[s], logits[s], 1e-6, 1e-6);
            logits[s] += m->bias[s] + m->prior[s];
            for (int j = 0; j < e->n; j++) {
                logits[s] += e->neighbours[j * senses + s];
            }
        }
        assert_all_close(m->logit, logits, senses, 1e-6, 1e-6);
        softmax(logits, senses, p);
        assert_all_close(m->probability, p, senses, 0, 1e-6);
        for (int s = 0; s < senses; s++) {
            mean[s] += p[s] / e->members;
        }
    }
    assert_all_close(e->prediction.probabilities, mean, senses, 0, 1e-6);
}

static attn_explanation explain_ok(attn_word_sense *m, attn_corpus *c, const char *text, int target)
{
    attn_example x;
    attn_explanation e;
    attn_error error = {.message = ""};
    assert_int_equal(attn_corpus_tokenize(c, text, &x, NULL), ATTN_OK);
    attn_status status = attn_word_sense_explain(m, x.tokens, x.length, target, &e, &error);
    assert_string_equal(error.message, "");
    assert_int_equal(status, ATTN_OK);
    return e;
}

static void the_numbers_lead_to_the_prediction(void **state)
{
    (void)state;
    attn_corpus *c = tiny_corpus(NULL);
    for (int v = 0; v < VARIANTS; v++) {
        attn_word_sense *m = trained(c, v);
        for (int target = BANK; target <= BAT; target += BAT - BANK) {
            attn_explanation e = explain_ok(m, c, sentence, target);
            assert_int_equal(e.target, target);
            assert_int_equal(e.begin, target == BANK ? 0 : BAT - WINDOW);
            assert_int_equal(e.n, target == BANK ? BANK + WINDOW + 1 : MOST);
            assert_int_equal(e.members, v < 6 ? 1 : 3);
            assert_int_equal(e.prediction.n_senses, target == BANK ? 3 : 2);
            assert_true((e.member[0].head[1].position != NULL) == (v / 3 % 2 == 0));
            assert_true((e.member[0].head[1].w != NULL) == (v % 3 == ATTN_SCORE_ADDITIVE));
            assert_true(e.member[e.members - 1].seed == e.member[0].seed + (uint64_t)e.members - 1);
            assert_close(e.scale, e.score == ATTN_SCORE_SCALED_DOT ? 1 / sqrt(e.d) : 1, 1e-15, 0);
            recompute(&e);
        }
        attn_word_sense_free(m);
    }
    attn_corpus_free(c);
}

/* The same bits as without an explanation; the weights of the prediction are the mean of those of the steps. */
static void the_prediction_is_that_of_predict(void **state)
{
    (void)state;
    attn_corpus *c = tiny_corpus(NULL);
    for (int v = 0; v < VARIANTS; v++) {
        attn_word_sense *m = trained(c, v);
        attn_prediction p = predict_ok(m, c, sentence, BANK);
        double probabilities[3], attention[HEADS * LENGTH], mean[HEADS * LENGTH] = {0};
        memcpy(probabilities, p.probabilities, sizeof probabilities);
        memcpy(attention, p.attention, sizeof attention);
        attn_explanation e = explain_ok(m, c, sentence, BANK);
        assert_memory_equal(e.prediction.probabilities, probabilities, sizeof probabilities);
        assert_memory_equal(e.prediction.attention, attention, sizeof attention);
        for (int k = 0; k < e.members * HEADS; k++) {
            for (int j = 0; j < e.n; j++) {
                mean[k % HEADS * LENGTH + e.begin + j] += e.member[k / HEADS].head[k % HEADS].weight[j] / e.members;
            }
        }
        assert_all_close(attention, mean, HEADS * LENGTH, 1e-12, 0);
        attn_word_sense_free(m);
    }
    attn_corpus_free(c);
}

/* Queries, keys and values are embeddings times the head's columns of the matrices. */
static void projections_are_of_the_embeddings(void **state)
{
    (void)state;
    attn_corpus *c = tiny_corpus(NULL);
    attn_word_sense *m = trained(c, 6);
    attn_explanation e = explain_ok(m, c, sentence, BANK);
    const char *const word[] = {"we", "saw", "the", "bank", "and", "a", "bat", "of"};
    const char *const matrix[] = {"attention.W_q", "attention.W_k", "attention.W_v"};
    int dim = attn_word_sense_get_config(m).dim;
    for (int k = 0; k < e.members; k++) {
        attn_params *p = m->member[k].params;
        const float *table = attn_params_value(p, m->member[k].embedding);
        for (int h = 0; h < HEADS; h++) {
            const attn_head_steps *s = &e.member[k].head[h];
            const double *shown[] = {s->query, s->key, s->value};
            for (int j = 0; j < e.n; j++) {
                int32_t row = attn__token_row(m, word[j]);
                assert_int_equal(e.known[j], row != 0);
                for (int what = j == BANK ? 0 : 1; what < 3; what++) {
                    int width = what < 2 ? e.d : e.dv;
                    const float *w = attn_params_value(p, attn_params_find(p, matrix[what]));
                    for (int i = 0; i < width; i++) {
                        double sum = 0;
                        for (int x = 0; x < dim; x++) {
                            sum += (double)table[row * dim + x] * (double)w[(x * HEADS + h) * width + i];
                        }
                        assert_close(shown[what][(what > 0 ? j * width : 0) + i], sum, 1e-5, 1e-6);
                    }
                }
            }
        }
    }
    assert_false(e.known[1]); /* "saw" */
    assert_true(e.known[2]);
    attn_word_sense_free(m);
    attn_corpus_free(c);
}

static void what_cannot_be_explained(void **state)
{
    (void)state;
    attn_corpus *c = tiny_corpus(NULL);
    attn_word_sense *m = new_model(c, tiny_config());
    const char *const tokens[] = {"the", "crane"};
    attn_explanation e = {.members = 5};
    attn_error error;
    assert_int_equal(attn_word_sense_explain(m, tokens, 2, 1, &e, &error), ATTN_EUNKNOWN_WORD);
    assert_string_equal(error.message, "the model knows no senses of 'crane'; it knows: bank, bat");
    assert_int_equal(e.members, 0);
    assert_null(e.member);
    assert_int_equal(attn_word_sense_explain(m, tokens, 2, 2, &e, &error), ATTN_EINVAL);
    assert_string_equal(error.message, "target 2, expected 0..1");
    assert_int_equal(attn_word_sense_explain(m, tokens, 2, -1, &e, NULL), ATTN_EINVAL);
    attn_word_sense_free(m);
    attn_corpus_free(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_numbers_lead_to_the_prediction),
        cmocka_unit_test(the_prediction_is_that_of_predict),
        cmocka_unit_test(projections_are_of_the_embeddings),
        cmocka_unit_test(what_cannot_be_explained),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

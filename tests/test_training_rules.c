/* Training: what a run reports, when it ends, which sentences an epoch sees, and what it refuses. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support/senses.h"
#include "support/tensors.h"

#include "word_sense/model.h"

/* ---- reports ---- */

typedef struct diary {
    int reports;
    attn_word_sense_progress all[200];
    const counting_allocator *counting;
    long allocations[200];
} diary;

static bool write_down(void *ctx, const attn_word_sense_progress *progress)
{
    diary *d = ctx;
    assert_in_range(d->reports, 0, 199);
    d->allocations[d->reports] = d->counting != NULL ? d->counting->allocations : 0;
    d->all[d->reports++] = *progress;
    return true;
}

static void every_step_is_reported(void **state)
{
    (void)state;
    attn_corpus *c = tiny_corpus(NULL), *dev = tiny_dev_corpus(NULL);
    attn_word_sense_config config = tiny_config();
    config.seeds = 2;
    attn_word_sense *m = new_model(c, config);
    diary d = {.reports = 0};
    assert_int_equal(attn_word_sense_epochs_done(m), 0);
    assert_int_equal(attn_word_sense_train(m, c, dev, write_down, &d, NULL), ATTN_OK);
    assert_int_equal(d.reports, 2 * TINY_EPOCHS * TINY_BATCHES);
    for (int i = 0; i < d.reports; i++) {
        const attn_word_sense_progress *p = &d.all[i];
        int epoch = i / TINY_BATCHES % TINY_EPOCHS, step = i % TINY_BATCHES + 1;
        bool last = step == TINY_BATCHES;
        assert_int_equal(p->member, i / (TINY_BATCHES * TINY_EPOCHS));
        assert_int_equal(p->members, 2);
        assert_int_equal(p->epoch, epoch + last); /* finished ones */
        assert_int_equal(p->epochs, TINY_EPOCHS);
        assert_int_equal(p->steps, step);
        assert_int_equal(p->steps_per_epoch, TINY_BATCHES);
        assert_int_equal(p->epoch_done, last);
        assert_int_equal(p->has_dev, last);
        assert_true(p->loss > 0 && p->loss < 3);
        if (last) {
            int64_t epochs = i / TINY_BATCHES + 1;
            assert_int_equal(p->sentences, epochs * TINY_SENTENCES);
            assert_close(p->dev_micro_f1 * 4, round(p->dev_micro_f1 * 4), 0, 1e-12); /* of four sentences of two words */
        }
    }
    assert_int_equal(attn_word_sense_epochs_done(m), TINY_EPOCHS);
    attn_word_sense_free(m);
    attn_corpus_free(c);
    attn_corpus_free(dev);
}

/* The reported loss is the mean over the sentences: with nothing random and nothing learned, that of the model as it starts. */
static void the_loss_is_the_mean_over_the_sentences(void **state)
{
    (void)state;
    attn_corpus *c = tiny_corpus(NULL);
    attn_word_sense_config config = tiny_config();
    config.dropout = config.word_dropout = config.attention_dropout = config.label_smoothing = config.learning_rate = 0;
    config.epochs = 1;
    attn_word_sense *m = new_model(c, config);
    diary d = {.reports = 0};
    assert_int_equal(attn_word_sense_train(m, c, NULL, write_down, &d, NULL), ATTN_OK);
    /* Logits start at 0, so a sense has the probability of its smoothed share: bank 4.5, 3.5, 1.5 of 9.5; bat 3.5, 3.5 of 7. */
    double bank = -(4 * log(4.5 / 9.5) + 3 * log(3.5 / 9.5) + log(1.5 / 9.5)), bat = -6 * log(0.5);
    assert_close(d.all[d.reports - 1].loss, (bank + bat) / TINY_SENTENCES, 1e-6, 0);
    attn_word_sense_free(m);
    attn_corpus_free(c);
}

/* After the first epoch a run needs no more memory. */
static void epochs_allocate_nothing_after_the_first(void **state)
{
    (void)state;
    counting_allocator counting;
    counting_init(&counting, 0);
    attn_corpus *c = attn_corpus_new(NULL);
    for (int i = 0; i < 12; i++) { /* all of the same length, so that every epoch has the same batches */
        const char *const sentences[] = {"the bank of the river", "the bank lends some money"};
        assert_int_equal(add_sentence(c, i % 2 == 0 ? "shore" : "money", 1, sentences[i % 2]), ATTN_OK);
    }
    attn_word_sense_config config = tiny_config();
    config.epochs = 6;
    config.seeds = 2;
    attn_word_sense *m = attn_word_sense_new(c, &config, &counting.value, NULL);
    assert_non_null(m);
    diary d = {.counting = &counting};
    assert_int_equal(attn_word_sense_train(m, c, NULL, write_down, &d, NULL), ATTN_OK);
    for (int member = 0; member < 2; member++) {
        int first = member * d.reports / 2;
        for (int i = first + 1; i < first + d.reports / 2; i++) {
            assert_int_equal(d.allocations[i], d.allocations[first]); /* not even after the first step */
        }
    }
    attn_word_sense_free(m);
    attn_corpus_free(c);
    assert_int_equal(counting.live, 0);
}

/* ---- when it ends ---- */

static double dev_score(const attn_word_sense_progress *p)
{
    return p->dev_micro_f1 + p->dev_macro_f1;
}

static void patience_ends_a_run_and_keeps_the_best(void **state)
{
    (void)state;
    attn_corpus *c = tiny_corpus(NULL), *dev = tiny_dev_corpus(NULL);
    attn_word_sense_config config = tiny_config();
    config.epochs = 40;
    config.patience = 3;
    config.learning_rate = 0.03;
    int ended_early = 0;
    for (config.seed = 0; config.seed < 5; config.seed++) {
        attn_word_sense *m = new_model(c, config);
        diary d = {.reports = 0};
        assert_int_equal(attn_word_sense_train(m, c, dev, write_down, &d, NULL), ATTN_OK);
        int epochs = d.reports / TINY_BATCHES, best = 1;
        for (int e = 1; e <= epochs; e++) {
            best = dev_score(&d.all[e * TINY_BATCHES - 1]) > dev_score(&d.all[best * TINY_BATCHES - 1]) ? e : best;
            assert_true(e == epochs || e - best < 3); /* it did not go on for too long */
        }
        assert_true(epochs == 40 || epochs - best == 3);
        ended_early += epochs < 40;
        attn_scores *scores = attn_scores_new(NULL);
        assert_int_equal(attn_word_sense_score(m, dev, scores, NULL, NULL), ATTN_OK);
        assert_close(attn_scores_micro_f1(scores), d.all[best * TINY_BATCHES - 1].dev_micro_f1, 1e-12, 0);
        assert_close(attn_scores_macro_f1(scores), d.all[best * TINY_BATCHES - 1].dev_macro_f1, 1e-12, 0);
        attn_scores_free(scores);
        attn_word_sense_free(m);
    }
    assert_true(ended_early > 0);
    attn_corpus_free(c);
    attn_corpus_free(dev);
}

/* The eight sentences of two senses each are learned by heart, with every score. */
static void few_sentences_are_learned_by_heart(void **state)
{
    (void)state;
    attn_corpus *all = tiny_corpus(NULL), *c = attn_corpus_new(NULL);
    for (int i = 0; i < 8; i++) {
        attn_example e = attn_corpus_get(all, i);
        assert_int_equal(attn_corpus_add(c, e.tokens, e.length, e.target, e.sense, NULL), ATTN_OK);
    }
    for (int score = ATTN_SCORE_SCALED_DOT; score <= ATTN_SCORE_ADDITIVE; score++) {
        for (int vectors = ATTN_VECTORS_CORPUS; vectors <= ATTN_VECTORS_NONE; vectors++) {
            attn_word_sense_config config = tiny_config();
            config.score = (attn_score)score;
            config.vectors = (attn_vectors)vectors;
            config.epochs = 60;
            config.learning_rate = 0.03;
            attn_word_sense *m = new_model(c, config);
            train_ok(m, c, NULL);
            attn_scores *scores = attn_scores_new(NULL);
            assert_int_equal(attn_word_sense_score(m, c, scores, NULL, NULL), ATTN_OK);
            assert_int_equal(attn_scores_correct(scores), 8);
            attn_scores_free(scores);
            attn_word_sense_free(m);
        }
    }
    attn_corpus_free(all);
    attn_corpus_free(c);
}

static void frozen_vectors_stay(void **state)
{
    (void)state;
    attn_corpus *c = tiny_corpus(NULL);
    for (int frozen = 0; frozen < 2; frozen++) {
        attn_word_sense_config config = tiny_config();
        config.freeze_vectors = frozen == 1;
        attn_word_sense *before = new_model(c, config), *after = new_model(c, config);
        train_ok(after, c, NULL);
        const attn__member *a = &before->member[0], *b = &after->member[0];
        size_t bytes = (size_t)attn_shape_count(attn_params_shape(a->params, a->embedding)) * sizeof(float);
        int same = memcmp(attn_params_value(a->params, a->embedding), attn_params_value(b->params, b->embedding), bytes) == 0;
        assert_int_equal(same, frozen);
        attn_word_sense_free(before);
        attn_word_sense_free(after);
    }
    attn_corpus_free(c);
}

/* Numbers that grow beyond all bounds end the run with a name, not with a model full of NaN. */
static void numbers_that_are_not_finite_end_the_run(void **state)
{
    (void)state;
    attn_corpus *c = tiny_corpus(NULL);
    attn_word_sense *m = new_model(c, tiny_config());
    attn_error error;
    float *table = attn_params_value(m->member[0].params, m->member[0].embedding);
    for (int64_t i = 0; i < attn_shape_count(attn_params_shape(m->member[0].params, m->member[0].embedding)); i++) {
        table[i] = 3e38F;
    }
    assert_int_equal(attn_word_sense_train(m, c, NULL, NULL, NULL, &error), ATTN_ENONFINITE);
    assert_contains(error.message, "gradient of 'embedding' (60,6) is ");
    assert_contains(error.message, ": nothing was changed");
    attn_word_sense_free(m);
    attn_corpus_free(c);
}

/* ---- which sentences an epoch sees ---- */

static void epochs_take_every_sense_up_to_its_cap(void **state)
{
    (void)state;
    attn_corpus *c = tiny_corpus(NULL);
    attn_word_sense_config config = tiny_config();
    config.sense_cap = 2;
    attn_word_sense *m = new_model(c, config);
    attn__arena arena;
    attn__arena_init(&arena, NULL);
    attn__encoded *data;
    int64_t count;
    int seen[TINY_SENTENCES] = {0}, orders = 0;
    const attn__encoded *first[10];
    assert_int_equal(attn__encode_corpus(m, &arena, c, true, &data, &count, NULL), ATTN_OK);
    assert_int_equal(count, TINY_SENTENCES);
    for (int epoch = 0; epoch < 50; epoch++) {
        attn__plan plan, again;
        int of_sense[5] = {0};
        bool here[TINY_SENTENCES] = {false};
        assert_true(attn__plan_epoch(m, &arena, 3, epoch, data, count, &plan));
        assert_true(attn__plan_epoch(m, &arena, 3, epoch, data, count, &again));
        assert_int_equal(plan.count, 2 + 2 + 1 + 2 + 2);
        assert_int_equal(plan.batches, 3);
        assert_int_equal(plan.begin[0], 0);
        assert_int_equal(plan.begin[3], plan.count);
        assert_memory_equal(plan.list, again.list, (size_t)plan.count * sizeof *plan.list);
        for (int64_t i = 0; i < plan.count; i++) {
            int64_t at = plan.list[i] - data;
            assert_in_range(at, 0, TINY_SENTENCES - 1);
            assert_false(here[at]); /* no sentence twice */
            here[at] = true;
            seen[at]++;
            of_sense[plan.list[i]->sense]++;
        }
        for (int s = 0; s < 5; s++) {
            assert_int_equal(of_sense[s], m->sense[s].count < 2 ? m->sense[s].count : 2);
        }
        orders += epoch > 0 && memcmp(first, plan.list, sizeof first[0] * (size_t)plan.count) != 0;
        memcpy(first, plan.list, sizeof first[0] * (size_t)plan.count);
    }
    assert_true(orders > 40);
    for (int i = 0; i < TINY_SENTENCES; i++) {
        assert_true(seen[i] > 10); /* each takes its turn */
    }
    attn__arena_free(&arena);
    attn_word_sense_free(m);
    attn_corpus_free(c);
}

/* Largest change of any embedding of a sentence's words by training. */
static double moved(const attn_word_sense *before, const attn_word_sense *after, attn_example e)
{
    double most = 0;
    for (int j = 0; j < e.length; j++) {
        for (int64_t d = 0; d < before->config.dim; d++) {
            int64_t at = attn__token_row(before, e.tokens[j]) * before->config.dim + d;
            const float *a = attn_params_value(before->member[0].params, before->member[0].embedding);
            const float *b = attn_params_value(after->member[0].params, after->member[0].embedding);
            most = fmax(most, fabs((double)a[at] - (double)b[at]));
        }
    }
    return most;
}

/* With one sentence a sense in an epoch, every sentence still has its turn; with hardly any gradient left by clipping, nothing moves. */
static void all_sentences_teach_something_unless_clipped(void **state)
{
    (void)state;
    attn_corpus *c = attn_corpus_new(NULL);
    assert_int_equal(add_sentence(c, "shore", 0, "bank a"), ATTN_OK); /* no two share a word */
    assert_int_equal(add_sentence(c, "shore", 0, "bank b"), ATTN_OK);
    assert_int_equal(add_sentence(c, "shore", 0, "bank c"), ATTN_OK);
    assert_int_equal(add_sentence(c, "money", 0, "bank d"), ATTN_OK);
    assert_int_equal(add_sentence(c, "money", 0, "bank e"), ATTN_OK);
    for (int clipped = 0; clipped < 2; clipped++) {
        attn_word_sense_config config = tiny_config();
        config.vectors = ATTN_VECTORS_NONE;
        config.sense_cap = 1;
        config.epochs = 30;
        config.dropout = config.word_dropout = config.attention_dropout = 0;
        config.clip = clipped ? 1e-13 : 1;
        attn_word_sense *before = new_model(c, config), *after = new_model(c, config);
        train_ok(after, c, NULL);
        for (int64_t i = 0; i < attn_corpus_count(c); i++) {
            attn_example e = attn_corpus_get(c, i);
            e.tokens++; /* its own word */
            e.length--;
            double way = moved(before, after, e);
            assert_true(clipped ? way < 1e-4 : way > 1e-3);
        }
        attn_word_sense_free(before);
        attn_word_sense_free(after);
    }
    attn_corpus_free(c);
}

/* ---- what is refused ---- */

static void refuses(const attn_corpus *c, attn_word_sense_config config, attn_status status, const char *message)
{
    attn_error error;
    assert_null(attn_word_sense_new(c, &config, NULL, &error));
    assert_int_equal(error.status, status);
    assert_string_equal(error.message, message);
}

static void numbers_out_of_range_are_named(void **state)
{
    (void)state;
    attn_corpus *c = tiny_corpus(NULL);
    attn_word_sense_config config = tiny_config();
#define REFUSE(name, value, message) \
    config = tiny_config();          \
    config.name = (value);           \
    refuses(c, config, ATTN_EINVAL, message)
    REFUSE(dim, 0, "dim is 0, expected 1 to 4096");
    REFUSE(dim, 4097, "dim is 4097, expected 1 to 4096");
    REFUSE(heads, -1, "heads is -1, expected 1 to 64");
    REFUSE(hidden, 0, "hidden is 0, expected 1 to 4096");
    REFUSE(window, 0, "window is 0, expected 1 to 10000");
    REFUSE(min_count, -1, "min_count is -1, expected 0 to 1e+06");
    REFUSE(seeds, 101, "seeds is 101, expected 1 to 100");
    REFUSE(epochs, -1, "epochs is -1, expected 0 to 1e+06");
    REFUSE(sense_cap, 0, "sense_cap is 0, expected 1 to 1e+09");
    REFUSE(learning_rate, -1e-9, "learning_rate is -1e-09, expected 0 to 100");
    REFUSE(learning_rate, NAN, "learning_rate is nan, expected 0 to 100");
    REFUSE(weight_decay, INFINITY, "weight_decay is inf, expected 0 to 100");
    REFUSE(clip, -1, "clip is -1, expected 0 to 1e+09");
    REFUSE(dropout, 1, "dropout is 1, expected 0 to 0.99");
    REFUSE(word_dropout, 1, "word_dropout is 1, expected 0 to 0.99");
    REFUSE(attention_dropout, 1, "attention_dropout is 1, expected 0 to 0.99");
    REFUSE(label_smoothing, 1, "label_smoothing is 1, expected -1 to 0.99");
    REFUSE(prior, 11, "prior is 11, expected 0 to 10");
    REFUSE(prior, -1, "prior is -1, expected 0 to 10");
    REFUSE(neighbours, -0.1, "neighbours is -0.1, expected 0 to 10");
    REFUSE(patience, -1, "patience is -1, expected 0 to 1e+06");
    REFUSE(score, (attn_score)3, "no such score, position or vectors");
    REFUSE(position, (attn_position)2, "no such score, position or vectors");
    REFUSE(vectors, (attn_vectors)-1, "no such score, position or vectors");
#undef REFUSE
    attn_corpus_free(c);
}

static void there_must_be_something_to_learn(void **state)
{
    (void)state;
    attn_corpus *c = attn_corpus_new(NULL);
    refuses(c, tiny_config(), ATTN_EFORMAT, "no training sentences");
    assert_int_equal(add_sentence(c, "shore", 0, "bank of the river"), ATTN_OK);
    assert_int_equal(add_sentence(c, "shore", 1, "muddy bank"), ATTN_OK);
    assert_int_equal(add_sentence(c, "animal", 1, "small bat"), ATTN_OK);
    refuses(c, tiny_config(), ATTN_EFORMAT,
            "no word has two senses: there is nothing to learn; the index of the first sentence, counted from 0, points at 'bank'");
    assert_int_equal(add_sentence(c, "club", 1, "wooden bat"), ATTN_OK);
    attn_word_sense *m = new_model(c, tiny_config()); /* one of the words is enough */
    train_ok(m, c, NULL);
    attn_word_sense_free(m);
    attn_corpus_free(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_step_is_reported),
        cmocka_unit_test(the_loss_is_the_mean_over_the_sentences),
        cmocka_unit_test(epochs_allocate_nothing_after_the_first),
        cmocka_unit_test(patience_ends_a_run_and_keeps_the_best),
        cmocka_unit_test(few_sentences_are_learned_by_heart),
        cmocka_unit_test(frozen_vectors_stay),
        cmocka_unit_test(numbers_that_are_not_finite_end_the_run),
        cmocka_unit_test(epochs_take_every_sense_up_to_its_cap),
        cmocka_unit_test(all_sentences_teach_something_unless_clipped),
        cmocka_unit_test(numbers_out_of_range_are_named),
        cmocka_unit_test(there_must_be_something_to_learn),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

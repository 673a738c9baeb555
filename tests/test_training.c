/* Training: a run is a function of data, configuration and seed alone, however often it is interrupted and on whatever number of threads.
 */
#include <stdlib.h>
#include <string.h>

#include "support/disk.h"
#include "support/senses.h"

#include "attn/checkpoint.h"
#include "word_sense/model.h"

#define FOLDER "test_training.d"
static const char whole[] = FOLDER "/whole", parts[] = FOLDER "/parts";

/* ---- the same bytes ---- */

/* Sentences enough, and vectors wide enough, for several threads to have work. */
static attn_corpus *larger_corpus(void)
{
    attn_corpus *all = attn_corpus_new(NULL), *rest = attn_corpus_new(NULL), *part = attn_corpus_new(NULL);
    assert_int_equal(attn_corpus_read(all, ATTN_SOURCE_DIR "/data/en.train.tsv", "train", NULL), ATTN_OK);
    assert_int_equal(attn_corpus_split(all, 0.25, 1, rest, part, NULL), ATTN_OK);
    attn_corpus_free(all);
    attn_corpus_free(rest);
    return part;
}

static void threads_change_no_bit(void **state)
{
    (void)state;
    fresh_folder(FOLDER);
    attn_corpus *c = larger_corpus();
    for (int score = ATTN_SCORE_SCALED_DOT; score <= ATTN_SCORE_ADDITIVE; score++) {
        attn_word_sense_config config = tiny_config();
        config.score = (attn_score)score;
        config.dim = 48;
        config.hidden = 16;
        config.batch = 32;
        config.epochs = 1;
        config.seeds = score == ATTN_SCORE_ADDITIVE ? 2 : 1;
        train_to_file(c, NULL, config, whole);
        const int threads[] = {1, 2, 3};
        for (size_t i = 0; i < sizeof threads / sizeof threads[0]; i++) {
            config.threads = threads[i];
            train_to_file(c, NULL, config, parts);
            assert_same_file(whole, parts);
        }
        config.seed++;
        train_to_file(c, NULL, config, parts);
        assert_other_file(whole, parts);
    }
    attn_corpus_free(c);
}

/* ---- interruptions ---- */

typedef struct stopper {
    attn_word_sense *m;
    int reports, stop_at; /* stops at that report, 0: never */
    const char *save_as;  /* a save at every report, or NULL */
    attn_word_sense_progress last;
} stopper;

static bool stop(void *ctx, const attn_word_sense_progress *progress)
{
    stopper *s = ctx;
    s->last = *progress;
    if (s->save_as != NULL) {
        save_ok(s->m, s->save_as);
        attn_word_sense_free(load_ok(s->save_as));
    }
    return ++s->reports != s->stop_at;
}

/* Trains from the file or anew, until the report `stop_at`; saves to `parts`. Returns the last report. */
static attn_word_sense_progress train_part(const attn_corpus *c, const attn_corpus *dev, attn_word_sense_config config, bool resume,
                                           int stop_at, bool *finished)
{
    attn_error error = {.message = ""};
    attn_word_sense *m = resume ? load_ok(parts) : new_model(c, config);
    stopper s = {.m = m, .stop_at = stop_at};
    attn_status status = attn_word_sense_train(m, c, dev, stop, &s, &error);
    *finished = attn_word_sense_finished(m);
    assert_int_equal(status, *finished ? ATTN_OK : ATTN_EINTERRUPTED);
    if (!*finished) {
        assert_contains(error.message, s.last.epoch_done ? "interrupted after epoch " : "interrupted in epoch ");
        assert_int_equal(s.reports, stop_at); /* it stopped when it was told to */
    }
    save_ok(m, parts);
    attn_word_sense_free(m);
    return s.last;
}

/* Begins a run that is stopped at that report. */
static void train_until(const attn_corpus *c, const attn_corpus *dev, attn_word_sense_config config, int stop_at)
{
    bool finished;
    (void)train_part(c, dev, config, false, stop_at, &finished);
    assert_false(finished);
}

/* Interrupted after any step, or after every single one, a run ends in the bytes of an unbroken one and reports the same loss. */
static void check_interruptions(const attn_corpus *c, const attn_corpus *dev, attn_word_sense_config config)
{
    bool finished;
    fresh_folder(FOLDER);
    attn_word_sense *m = new_model(c, config);
    stopper unbroken = {.m = m};
    assert_int_equal(attn_word_sense_train(m, c, dev, stop, &unbroken, NULL), ATTN_OK);
    save_ok(m, whole);
    attn_word_sense_free(m);
    assert_true(unbroken.reports >= config.seeds * TINY_BATCHES);
    for (int at = 1; at < unbroken.reports; at++) {
        train_until(c, dev, config, at);
        assert_other_file(whole, parts);
        attn_word_sense_progress last = train_part(c, dev, config, true, 0, &finished);
        assert_true(finished);
        assert_same_file(whole, parts);
        assert_close(last.loss, unbroken.last.loss, 0, 0);
    }
    train_until(c, dev, config, 1);
    for (int at = 2; at <= unbroken.reports; at++) {
        (void)train_part(c, dev, config, true, 1, &finished);
        assert_int_equal(finished, at == unbroken.reports);
    }
    assert_same_file(whole, parts);
    assert_int_equal(folder_entries(FOLDER), 2);
}

static void an_interrupted_run_ends_the_same(void **state)
{
    (void)state;
    attn_corpus *c = tiny_corpus(NULL);
    check_interruptions(c, NULL, tiny_config());
    attn_corpus_free(c);
}

static void an_interrupted_ensemble_ends_the_same(void **state)
{
    (void)state;
    attn_corpus *c = tiny_corpus(NULL);
    attn_word_sense_config config = tiny_config();
    config.seeds = 2;
    config.vectors = ATTN_VECTORS_NONE;
    check_interruptions(c, NULL, config);
    attn_corpus_free(c);
}

static void an_interrupted_run_with_dev_data_ends_the_same(void **state)
{
    (void)state;
    attn_corpus *c = tiny_corpus(NULL), *dev = tiny_dev_corpus(NULL);
    attn_word_sense_config config = tiny_config();
    config.patience = 2;
    config.epochs = 8;
    config.seeds = 2;
    check_interruptions(c, dev, config);
    attn_corpus_free(c);
    attn_corpus_free(dev);
}

/* Saving at every report, also at that of a member's last epoch, changes nothing, and what was saved can be loaded and continued. */
static void saving_on_the_way_changes_nothing(void **state)
{
    (void)state;
    attn_corpus *c = tiny_corpus(NULL), *dev = tiny_dev_corpus(NULL);
    attn_word_sense_config config = tiny_config();
    config.seeds = 2;
    config.patience = 1;
    fresh_folder(FOLDER);
    train_to_file(c, dev, config, whole);
    attn_word_sense *m = new_model(c, config);
    stopper s = {.m = m, .save_as = parts};
    assert_int_equal(attn_word_sense_train(m, c, dev, stop, &s, NULL), ATTN_OK);
    assert_same_file(whole, parts); /* the report of the last epoch saw the finished model */
    save_ok(m, parts);
    assert_same_file(whole, parts);
    attn_word_sense_free(m);
    attn_corpus_free(c);
    attn_corpus_free(dev);
}

/* Asks the model for a prediction, weights and scores, in turns. */
static bool use(void *ctx, const attn_word_sense_progress *progress)
{
    stopper *s = ctx;
    const char *const tokens[] = {"the", "bank", "of", "a", "river"};
    double weights[2 * 5 * 5];
    attn_corpus *c = tiny_dev_corpus(NULL);
    attn_scores *scores = attn_scores_new(NULL);
    attn_prediction p;
    (void)progress;
    switch (s->reports++ % 3) {
    case 0:
        assert_int_equal(attn_word_sense_predict(s->m, tokens, 5, 1, &p, NULL), ATTN_OK);
        break;
    case 1:
        assert_int_equal(attn_word_sense_attention(s->m, tokens, 5, weights, NULL), ATTN_OK);
        break;
    default:
        assert_int_equal(attn_word_sense_score(s->m, c, scores, NULL, NULL), ATTN_OK);
    }
    attn_scores_free(scores);
    attn_corpus_free(c);
    return true;
}

static void using_the_model_on_the_way_changes_nothing(void **state)
{
    (void)state;
    attn_corpus *c = tiny_corpus(NULL), *dev = tiny_dev_corpus(NULL);
    attn_word_sense_config config = tiny_config();
    config.seeds = 2;
    fresh_folder(FOLDER);
    for (int k = 0; k < 2; k++) {
        train_to_file(c, k == 0 ? NULL : dev, config, whole);
        attn_word_sense *m = new_model(c, config);
        stopper s = {.m = m};
        assert_int_equal(attn_word_sense_train(m, c, k == 0 ? NULL : dev, use, &s, NULL), ATTN_OK);
        assert_int_equal(s.reports, 2 * TINY_EPOCHS * TINY_BATCHES);
        save_ok(m, parts);
        assert_same_file(whole, parts);
        attn_word_sense_free(m);
    }
    attn_corpus_free(c);
    attn_corpus_free(dev);
}

/* ---- resuming what cannot be resumed ---- */

static void refuses_data(attn_word_sense *m, const attn_corpus *c, const attn_corpus *dev, const char *message)
{
    attn_error error;
    assert_int_equal(attn_word_sense_train(m, c, dev, NULL, NULL, &error), ATTN_EMISMATCH);
    assert_contains(error.message, message);
}

static void other_data_are_refused(void **state)
{
    (void)state;
    attn_corpus *c = tiny_corpus(NULL), *more = tiny_corpus(NULL), *dev = tiny_dev_corpus(NULL), *strange = tiny_corpus(NULL);
    assert_int_equal(add_sentence(more, "shore", 0, "bank of the river"), ATTN_OK);
    assert_int_equal(add_sentence(strange, "blood", 0, "bank of the river"), ATTN_OK);
    attn_word_sense_config config = tiny_config();
    fresh_folder(FOLDER);
    train_until(c, NULL, config, 2);
    attn_word_sense *m = load_ok(parts);
    refuses_data(m, more, NULL, "training data must be the same");
    refuses_data(m, strange, NULL, "memory:15: the model does not know the sense 'blood'");
    train_ok(m, c, dev); /* dev data only watch, so they may come later */
    attn_word_sense_free(m);

    config.patience = 2;
    train_until(c, dev, config, 2);
    m = load_ok(parts);
    refuses_data(m, c, NULL, "training data and dev data must be the same");
    refuses_data(m, c, c, "training data and dev data must be the same");
    train_ok(m, c, dev);
    attn_word_sense_free(m);
    attn_corpus_free(c);
    attn_corpus_free(more);
    attn_corpus_free(dev);
    attn_corpus_free(strange);
}

/* Found before the training, not after an epoch of it. */
static void unknown_words_in_dev_data_are_found_at_once(void **state)
{
    (void)state;
    attn_corpus *c = tiny_corpus(NULL), *dev = tiny_dev_corpus(NULL);
    attn_error error;
    assert_int_equal(add_sentence(dev, "bird", 1, "the crane stands"), ATTN_OK);
    attn_word_sense *m = new_model(c, tiny_config());
    stopper s = {.m = m};
    assert_int_equal(attn_word_sense_train(m, c, dev, stop, &s, &error), ATTN_EUNKNOWN_WORD);
    assert_string_equal(error.message, "memory:5: the model knows no senses of 'crane'");
    assert_int_equal(s.reports, 0);
    attn_word_sense_free(m);
    attn_corpus_free(c);
    attn_corpus_free(dev);
}

/* Training a finished model is nothing. */
static void a_finished_model_stays_as_it_is(void **state)
{
    (void)state;
    attn_corpus *c = tiny_corpus(NULL);
    fresh_folder(FOLDER);
    train_to_file(c, NULL, tiny_config(), whole);
    attn_word_sense *m = load_ok(whole);
    stopper s = {.m = m};
    assert_int_equal(attn_word_sense_train(m, c, NULL, stop, &s, NULL), ATTN_OK);
    assert_int_equal(s.reports, 0);
    save_ok(m, parts);
    assert_same_file(whole, parts);
    attn_word_sense_free(m);
    attn_corpus_free(c);
}

/* ---- what is in the file ---- */

static int tensors_named(const char *path, const char *part)
{
    attn_safetensors *f = attn_safetensors_read(path, NULL, NULL);
    assert_non_null(f);
    int n = 0;
    for (int i = 0; i < attn_safetensors_count(f); i++) {
        n += strstr(attn_safetensors_get(f, i).name, part) != NULL;
    }
    attn_safetensors_free(f);
    return n;
}

static void only_unfinished_models_keep_the_optimiser(void **state)
{
    (void)state;
    attn_corpus *c = tiny_corpus(NULL), *dev = tiny_dev_corpus(NULL);
    attn_word_sense_config config = tiny_config();
    config.patience = 2;
    fresh_folder(FOLDER);
    attn_word_sense *m = new_model(c, config);
    save_ok(m, whole);
    attn_word_sense_free(m);
    assert_int_equal(tensors_named(whole, "optimizer") + tensors_named(whole, "best"), 0); /* nothing has been trained */
    train_until(c, dev, config, TINY_BATCHES + 1);
    train_to_file(c, dev, config, whole);
    int parameters = tensors_named(whole, "0.");
    assert_true(parameters > 5);
    assert_int_equal(tensors_named(whole, "optimizer"), 0);
    assert_int_equal(tensors_named(whole, "best"), 0);
    assert_int_equal(tensors_named(parts, "optimizer.m"), parameters);
    assert_int_equal(tensors_named(parts, "optimizer.v"), parameters);
    assert_int_equal(tensors_named(parts, "best"), parameters);
    attn_corpus_free(c);
    attn_corpus_free(dev);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(threads_change_no_bit),
        cmocka_unit_test(an_interrupted_run_ends_the_same),
        cmocka_unit_test(an_interrupted_ensemble_ends_the_same),
        cmocka_unit_test(an_interrupted_run_with_dev_data_ends_the_same),
        cmocka_unit_test(saving_on_the_way_changes_nothing),
        cmocka_unit_test(using_the_model_on_the_way_changes_nothing),
        cmocka_unit_test(other_data_are_refused),
        cmocka_unit_test(unknown_words_in_dev_data_are_found_at_once),
        cmocka_unit_test(a_finished_model_stays_as_it_is),
        cmocka_unit_test(only_unfinished_models_keep_the_optimiser),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

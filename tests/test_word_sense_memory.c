/* The word-sense model when memory runs out: at any allocation, nothing is lost, leaked or left unusable. */
#include <stdlib.h>
#include <string.h>

#include "attn/explain.h"
#include "support/disk.h"
#include "support/senses.h"

#define FOLDER "test_word_sense_memory.d"
static const char path[] = FOLDER "/m.safetensors";
static const char *const tokens[] = {"the", "muddy", "bank", "of", "the", "river"};
enum { LENGTH = 6, TARGET = 2, HEADS = 2 };

static attn_word_sense_config config_of(int score)
{
    attn_word_sense_config config = tiny_config();
    config.score = (attn_score)score;
    config.seeds = 2;
    config.patience = 1;
    return config;
}

/* Runs `step` with the 1st, 2nd, ... allocation failing until it succeeds; after each failure nothing is left. Returns the allocations. */
typedef attn_status (*step_fn)(const attn_allocator *allocator, attn_error *error);

static long sweep(step_fn step)
{
    attn_status status = ATTN_ENOMEM;
    long k = 0;
    while (status != ATTN_OK && k < 2000) {
        counting_allocator c;
        attn_error error = {.status = ATTN_OK};
        counting_init(&c, ++k);
        status = step(&c.value, &error);
        assert_int_equal(c.live, 0);
        assert_int_equal(status, error.status);
        if (status != ATTN_OK) {
            assert_int_equal(status, ATTN_ENOMEM);
            assert_contains(error.message, "out of memory");
        }
    }
    assert_int_equal(status, ATTN_OK);
    return k - 1;
}

static int sweep_score; /* what the steps below use */

static attn_status make(const attn_allocator *allocator, attn_error *error)
{
    attn_corpus *c = tiny_corpus(NULL);
    attn_word_sense_config config = config_of(sweep_score);
    attn_word_sense *m = attn_word_sense_new(c, &config, allocator, error);
    attn_status status = m != NULL ? ATTN_OK : error->status;
    attn_word_sense_free(m);
    attn_corpus_free(c);
    return status;
}

static attn_status make_and_train(const attn_allocator *allocator, attn_error *error)
{
    attn_corpus *c = tiny_corpus(NULL), *dev = tiny_dev_corpus(NULL);
    attn_word_sense_config config = config_of(sweep_score);
    attn_word_sense *m = attn_word_sense_new(c, &config, allocator, error);
    attn_status status = m != NULL ? attn_word_sense_train(m, c, dev, NULL, NULL, error) : error->status;
    attn_word_sense_free(m);
    attn_corpus_free(c);
    attn_corpus_free(dev);
    return status;
}

static attn_status load(const attn_allocator *allocator, attn_error *error)
{
    attn_word_sense *m = attn_word_sense_load(path, allocator, error);
    attn_status status = m != NULL ? ATTN_OK : error->status;
    attn_word_sense_free(m);
    return status;
}

/* Raw text and a thread's own memory: what fails is the allocator of the corpus or of the predictor, or that of the model before. */
static attn_status ask(const attn_word_sense *m, const attn_allocator *allocator, attn_error *error)
{
    attn_corpus *c = attn_corpus_new(allocator);
    attn_predictor *p = c != NULL ? attn_predictor_new(m, allocator) : NULL;
    attn_example e;
    attn_prediction x;
    attn_status status = p != NULL ? ATTN_OK : ATTN_ENOMEM;
    if (status != ATTN_OK) {
        error->status = status;
        (void)strcpy(error->message, "out of memory");
    }
    for (attn_tokenization how = ATTN_TOKENIZE_AUTO; how <= ATTN_TOKENIZE_CHARS && status == ATTN_OK; how++) {
        status = attn_tokenize(m, c, "苹果: the \"BANK\" of the slow-river, and so on and on!", how, "bank", &e, error);
    }
    status = status == ATTN_OK ? attn_predictor_predict(p, tokens, LENGTH, TARGET, &x, error) : status;
    attn_predictor_free(p);
    attn_corpus_free(c);
    return status;
}

/* Everything that a loaded model can do. */
static attn_status load_and_use(const attn_allocator *allocator, attn_error *error)
{
    attn_corpus *dev = tiny_dev_corpus(NULL);
    attn_scores *scores = attn_scores_new(NULL);
    attn_prediction p;
    attn_explanation e;
    attn_gradcheck_report report = {.verdict = ""};
    double table[HEADS * LENGTH * LENGTH];
    attn_word_sense *m = attn_word_sense_load(path, allocator, error);
    attn_status status = m != NULL ? attn_word_sense_predict(m, tokens, LENGTH, TARGET, &p, error) : error->status;
    status = status == ATTN_OK ? attn_word_sense_explain(m, tokens, LENGTH, TARGET, &e, error) : status;
    status = status == ATTN_OK ? attn_word_sense_attention(m, tokens, LENGTH, table, error) : status;
    status = status == ATTN_OK ? ask(m, allocator, error) : status;
    status = status == ATTN_OK ? attn_word_sense_score(m, dev, scores, NULL, error) : status;
    status = status == ATTN_OK ? attn_word_sense_save(m, FOLDER "/copy", error) : status;
    if (status == ATTN_OK) {
        const attn_gradcheck_config config = {.allocator = allocator};
        status = attn_word_sense_gradcheck(m, dev, 2, 3, &config, &report);
        error->status = status;
        (void)strcpy(error->message, report.verdict);
    }
    attn_scores_free(scores);
    attn_word_sense_free(m);
    attn_corpus_free(dev);
    return status;
}

static bool stop_soon(void *ctx, const attn_word_sense_progress *progress)
{
    (void)ctx;
    return progress->epoch < 1 || progress->steps == TINY_BATCHES;
}

static void memory_may_run_out_anywhere(void **state)
{
    (void)state;
    attn_corpus *c = tiny_corpus(NULL), *dev = tiny_dev_corpus(NULL);
    for (sweep_score = 0; sweep_score < 3; sweep_score++) {
        fresh_folder(FOLDER);
        long making = sweep(make), training = sweep(make_and_train);
        assert_true(making > 20 && training > making + 10);
        attn_word_sense *m = new_model(c, config_of(sweep_score)); /* an unfinished one has most to load */
        assert_int_equal(attn_word_sense_train(m, c, dev, stop_soon, NULL, NULL), ATTN_EINTERRUPTED);
        save_ok(m, path);
        attn_word_sense_free(m);
        long loading = sweep(load), using = sweep(load_and_use);
        assert_true(loading > 20 && using > loading + 10);
        assert_same_file(path, FOLDER "/copy");
    }
    attn_corpus_free(c);
    attn_corpus_free(dev);
}

/* ---- going on afterwards ---- */

/* A run that fails for want of memory can go on when there is some, to the same bytes; so can predictions and saving. */
static void a_model_survives(void **state)
{
    (void)state;
    attn_corpus *c = tiny_corpus(NULL), *dev = tiny_dev_corpus(NULL);
    fresh_folder(FOLDER);
    train_to_file(c, dev, config_of(0), path);
    long failures = 0;
    for (long k = 1; k < 400; k++) {
        counting_allocator counting;
        attn_error error;
        attn_prediction p;
        attn_word_sense_config config = config_of(0);
        counting_init(&counting, 0);
        attn_word_sense *m = attn_word_sense_new(c, &config, &counting.value, &error);
        assert_non_null(m);
        counting.fail_at = counting.allocations + k;
        bool failed = attn_word_sense_train(m, c, dev, NULL, NULL, &error) != ATTN_OK;
        failures += failed;
        if (failed) {
            assert_int_equal(error.status, ATTN_ENOMEM);
            assert_int_equal(attn_word_sense_save(m, FOLDER "/copy", NULL), ATTN_ENOMEM);
            counting.fail_at = 0;
            save_ok(m, FOLDER "/part"); /* what there is can be saved and loaded too */
            attn_word_sense_free(load_ok(FOLDER "/part"));
            train_ok(m, c, dev);
        }
        counting.fail_at = counting.allocations + 1;
        attn_status status = attn_word_sense_predict(m, tokens, LENGTH, TARGET, &p, &error);
        assert_true(status == ATTN_OK || status == ATTN_ENOMEM);
        counting.fail_at = 0;
        assert_int_equal(attn_word_sense_predict(m, tokens, LENGTH, TARGET, &p, &error), ATTN_OK);
        save_ok(m, FOLDER "/copy");
        assert_same_file(path, FOLDER "/copy");
        attn_word_sense_free(m);
        assert_int_equal(counting.live, 0);
        if (!failed) {
            break;
        }
    }
    assert_true(failures > 5 && failures < 399);
    attn_corpus_free(c);
    attn_corpus_free(dev);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memory_may_run_out_anywhere),
        cmocka_unit_test(a_model_survives),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

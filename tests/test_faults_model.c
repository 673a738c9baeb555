/* Memory that runs out in every public function of word-sense models, their explanations and their pages. */
#include <string.h>

#include "support/disk.h"
#include "support/faults.h"
#include "support/files.h"
#include "support/senses.h"

#include "attn/report.h"

#define FOLDER "test_faults_model.d"
static const char path[] = FOLDER "/m.safetensors", vectors[] = FOLDER "/vectors.txt";
static const char *const tokens[] = {"the", "muddy", "bank", "of", "the", "river"};
enum { LENGTH = 6, TARGET = 2, HEADS = 2 };
static const attn_report_sentence sentence = {tokens, LENGTH, TARGET};

static attn_corpus *train, *dev; /* of the tests themselves */

static attn_word_sense_config small_config(void)
{
    attn_word_sense_config config = tiny_config();
    config.epochs = 1;
    config.batch = 8;
    return config;
}

static attn_status failed(const void *object, const attn_error *error)
{
    return object != NULL ? ATTN_OK : error->status;
}

/* ---- making models ---- */

static attn_status make(attn_word_sense_config config, digest *d, attn_error *error)
{
    attn_word_sense *m = attn_word_sense_new(train, &config, &faulty, error);
    if (m != NULL) {
        digest_double(d, (double)attn_word_sense_parameters(m));
        digest_double(d, (double)attn_word_sense_vectors_report(m).used);
    }
    attn_word_sense_free(m);
    return failed(m, error);
}

static attn_status make_from_text(digest *d, attn_error *error)
{
    return make(small_config(), d, error);
}

static attn_status make_from_vectors(digest *d, attn_error *error)
{
    attn_word_sense_config config = small_config();
    config.vectors = ATTN_VECTORS_FILE;
    config.vectors_file = vectors;
    config.dim = 0;
    return make(config, d, error);
}

static attn_status load(digest *d, attn_error *error)
{
    attn_word_sense *m = attn_word_sense_load(path, &faulty, error);
    digest_double(d, m != NULL ? attn_word_sense_epochs_done(m) : -1);
    attn_word_sense_free(m);
    return failed(m, error);
}

static attn_status map(digest *d, attn_error *error)
{
    attn_word_sense *m = attn_word_sense_map(path, &faulty, error);
    digest_double(d, m != NULL ? attn_word_sense_epochs_done(m) : -1);
    attn_word_sense_free(m);
    return failed(m, error);
}

/* ---- using one ---- */

static attn_word_sense *model;
static attn_corpus *words;
static attn_scores *scores;
static attn_predictor *predictor;

static void begin_model(void)
{
    attn_error error = {.message = ""};
    model = attn_word_sense_load(path, &faulty, &error);
    assert_string_equal(error.message, "");
    words = attn_corpus_new(&faulty);
    predictor = attn_predictor_new(model, &faulty);
    scores = NULL;
    assert_true(words != NULL && predictor != NULL);
}

static void end_model(void)
{
    attn_scores_free(scores);
    attn_predictor_free(predictor);
    attn_corpus_free(words);
    attn_word_sense_free(model);
}

static void begin_new_model(void)
{
    attn_error error = {.message = ""};
    attn_word_sense_config config = small_config();
    model = attn_word_sense_new(train, &config, &faulty, &error);
    assert_non_null(model);
}

static void end_new_model(void)
{
    attn_word_sense_free(model);
}

/* The saved bytes; fails as saving does. */
static attn_status save(digest *d, attn_error *error)
{
    attn_status status = attn_word_sense_save(model, FOLDER "/copy", error);
    if (status == ATTN_OK) {
        digest_file(d, FOLDER "/copy");
    }
    return status;
}

/* A run that failed goes on where it was. */
static attn_status train_on(digest *d, attn_error *error)
{
    attn_status status = attn_word_sense_train(model, train, dev, NULL, NULL, error);
    if (status == ATTN_OK) {
        faults_pause();
        save_ok(model, FOLDER "/copy");
        faults_resume();
        digest_file(d, FOLDER "/copy");
    }
    return status;
}

static void digest_prediction(digest *d, const attn_prediction *p)
{
    digest_bytes(d, p->probabilities, (size_t)p->n_senses * sizeof *p->probabilities);
    digest_bytes(d, p->attention, (size_t)(p->heads * p->length) * sizeof *p->attention);
    digest_text(d, p->senses[p->best]);
}

static attn_status predict(digest *d, attn_error *error)
{
    attn_prediction p;
    double table[HEADS * LENGTH * LENGTH];
    attn_status status = attn_word_sense_predict(model, tokens, LENGTH, TARGET, &p, error);
    if (status == ATTN_OK) {
        digest_prediction(d, &p);
        status = attn_word_sense_attention(model, tokens, LENGTH, table, error);
    }
    if (status == ATTN_OK) {
        digest_bytes(d, table, sizeof table);
    }
    return status;
}

static attn_status predict_alone(digest *d, attn_error *error)
{
    attn_prediction p;
    double table[HEADS * LENGTH * LENGTH];
    attn_status status = attn_predictor_predict(predictor, tokens, LENGTH, TARGET, &p, error);
    if (status == ATTN_OK) {
        digest_prediction(d, &p);
        status = attn_predictor_attention(predictor, tokens, LENGTH, table, error);
    }
    if (status == ATTN_OK) {
        digest_bytes(d, table, sizeof table);
    }
    return status;
}

static attn_status new_predictor(digest *d, attn_error *error)
{
    attn_predictor *p = attn_predictor_new(model, &faulty);
    digest_double(d, p != NULL);
    attn_predictor_free(p);
    return made(p, error);
}

static attn_status tokenize(digest *d, attn_error *error)
{
    attn_status status = ATTN_OK;
    attn_corpus_clear(words);
    for (attn_tokenization how = ATTN_TOKENIZE_AUTO; how <= ATTN_TOKENIZE_CHARS && status == ATTN_OK; how++) {
        attn_example e = {.length = 0};
        status = attn_tokenize(model, words, "苹果: the \"BANK\" of the slow-river, and so on!", how, "bank", &e, error);
        for (int i = 0; i < e.length && status == ATTN_OK; i++) {
            digest_text(d, e.tokens[i]);
        }
    }
    return status;
}

static attn_status explain(digest *d, attn_error *error)
{
    attn_explanation e;
    attn_status status = attn_word_sense_explain(model, tokens, LENGTH, TARGET, &e, error);
    if (status == ATTN_OK) {
        digest_prediction(d, &e.prediction);
        digest_bytes(d, e.member[0].head[1].mixed, (size_t)e.dv * sizeof(double));
    }
    return status;
}

/* The scores of a call that failed are thrown away, as nobody can tell how many it has added. */
static attn_status score(digest *d, attn_error *error)
{
    const char *said[4] = {NULL};
    attn_scores_free(scores);
    scores = attn_scores_new(&faulty);
    attn_status status = scores != NULL ? attn_word_sense_score(model, dev, scores, said, error) : made(scores, error);
    for (int i = 0; i < 4 && status == ATTN_OK; i++) {
        digest_text(d, said[i]);
    }
    return status;
}

static attn_status check_gradients(digest *d, attn_error *error)
{
    attn_gradcheck_report report = {.verdict = ""};
    attn_status status = attn_word_sense_gradcheck(model, dev, 1, 2, &(attn_gradcheck_config){.allocator = &faulty}, &report);
    digest_double(d, report.max_rel_error);
    error->status = status;
    (void)strcpy(error->message, status != ATTN_OK ? report.verdict : "");
    return status;
}

/* ---- pages ---- */

static attn_status untrained(digest *d, attn_error *error)
{
    attn_word_sense *before = attn_word_sense_untrained(model, train, NULL, &faulty, error);
    digest_double(d, before != NULL ? (double)attn_word_sense_parameters(before) : 0);
    attn_word_sense_free(before);
    return failed(before, error);
}

static attn_status digest_page(digest *d, attn_page *page, attn_status status)
{
    assert_true(status == ATTN_OK || page->bytes == NULL);
    digest_bytes(d, page->bytes, page->size);
    attn_page_free(page);
    return status;
}

static attn_status report_page(digest *d, attn_error *error)
{
    attn_page page;
    attn_status status =
        attn_report_page(&(attn_report_config){.model = model, .sentences = &sentence, .n_sentences = 1}, &page, &faulty, error);
    return digest_page(d, &page, status);
}

static attn_film *film;
static bool filmed;

static void begin_film(void)
{
    attn_error error = {.message = ""};
    begin_model();
    filmed = false;
    film = attn_film_new(&(attn_film_config){.sentences = &sentence, .n_sentences = 1, .sample = dev, .most = 2}, &faulty, &error);
    assert_non_null(film);
}

static void end_film(void)
{
    attn_film_free(film);
    end_model();
}

static attn_status new_film(digest *d, attn_error *error)
{
    attn_film *f = attn_film_new(&(attn_film_config){.sentences = &sentence, .n_sentences = 1}, &faulty, error);
    digest_double(d, f != NULL);
    attn_film_free(f);
    return failed(f, error);
}

static attn_status film_page(digest *d, attn_error *error)
{
    attn_page page;
    attn_status status = filmed ? ATTN_OK : attn_film_add(film, model, &(attn_word_sense_progress){.epoch = 1}, error);
    filmed = status == ATTN_OK;
    return filmed ? digest_page(d, &page, attn_film_page(film, &page, error)) : status;
}

static void write_inputs(void)
{
    fresh_folder(FOLDER);
    put_text(vectors, "3 4\nbank 1 2 3 4\nriver 4 3 2 1\nnowhere 0 0 0 1\n");
    train_to_file(train, dev, small_config(), path);
}

static void memory_may_run_out_anywhere(void **state)
{
    (void)state;
    static const fault_case cases[] = {
        {"make a model", NULL, make_from_text, NULL},
        {"make one from vectors", NULL, make_from_vectors, NULL},
        {"train", begin_new_model, train_on, end_new_model},
        {"load", NULL, load, NULL},
        {"map", NULL, map, NULL},
        {"save", begin_model, save, end_model},
        {"predict", begin_model, predict, end_model},
        {"predictor", begin_model, new_predictor, end_model},
        {"predict with a predictor", begin_model, predict_alone, end_model},
        {"tokenize", begin_model, tokenize, end_model},
        {"explain", begin_model, explain, end_model},
        {"score", begin_model, score, end_model},
        {"gradcheck of a model", begin_model, check_gradients, end_model},
        {"untrained", begin_model, untrained, end_model},
        {"report page", begin_model, report_page, end_model},
        {"film", NULL, new_film, NULL},
        {"film page", begin_film, film_page, end_film},
    };
    train = tiny_corpus(NULL);
    dev = tiny_dev_corpus(NULL);
    write_inputs();
    faults_sweep(cases, sizeof cases / sizeof cases[0], 200);
    attn_corpus_free(train);
    attn_corpus_free(dev);
}

/* ---- what needs no memory ---- */

static void look(void)
{
    attn_word_sense_set_threads(model, 1);
    int word = attn_word_sense_find(model, "bat");
    assert_string_equal(attn_word_sense_word(model, word), "bat");
    assert_true(attn_word_sense_words(model) == 2 && attn_word_sense_senses(model, word) == 2);
    assert_string_equal(attn_word_sense_sense(model, word, 0), "animal");
    assert_int_equal(attn_word_sense_support(model, word, 0), 3);
    assert_int_equal(attn_word_sense_get_config(model).heads, HEADS);
    assert_true(attn_word_sense_defaults().dim > 0 && attn_word_sense_vocabulary(model) > 20);
    assert_true(attn_word_sense_knows(model, "cave") && attn_word_sense_finished(model));
}

static void what_needs_no_memory(void **state)
{
    (void)state;
    begin_model();
    faults_none(look);
    end_model();
    assert_int_equal(faults_live(), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memory_may_run_out_anywhere),
        cmocka_unit_test(what_needs_no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

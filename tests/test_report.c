/* Pages of predictions and of training runs: what is refused, which pictures a film keeps, a model before its training, memory that runs
 * out. tests/html has what a browser makes of the pages. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "attn/report.h"
#include "support/disk.h"
#include "support/senses.h"

static const char *const tokens[] = {"the", "muddy", "bank", "of", "the", "river"};
static const attn_report_sentence sentence = {tokens, 6, 2};

static attn_word_sense *trained(const attn_corpus *c, int score)
{
    attn_word_sense_config config = tiny_config();
    config.score = (attn_score)score;
    config.seeds = 2;
    attn_word_sense *m = new_model(c, config);
    train_ok(m, c, NULL);
    return m;
}

/* The page as a string; free it with free(). */
static char *text_of(const attn_page *page)
{
    char *text = malloc(page->size + 1);
    assert_non_null(text);
    memcpy(text, page->bytes, page->size);
    text[page->size] = '\0';
    return text;
}

static void refused(attn_report_config config, attn_status status, const char *message)
{
    attn_page page = {.size = 1};
    attn_error error;
    assert_int_equal(attn_report_page(&config, &page, NULL, &error), status);
    assert_string_equal(error.message, message);
    assert_null(page.bytes);
    assert_int_equal(page.size, 0);
}

static void what_no_report_can_show(void **state)
{
    (void)state;
    attn_corpus *c = tiny_corpus(NULL);
    attn_word_sense *m = trained(c, 0);
    const attn_report_sentence outside[] = {sentence, {tokens, 6, 6}}, unknown[] = {sentence, {tokens, 6, 0}};
    const char *const broken[] = {"bank", "\xff"};
    const attn_report_sentence no_utf8 = {broken, 2, 0};
    refused((attn_report_config){.sentences = &sentence, .n_sentences = 1}, ATTN_EINVAL,
            "page: a model and 1 sentences, expected a model and at least 1");
    refused((attn_report_config){.model = m}, ATTN_EINVAL, "page: a model and 0 sentences, expected a model and at least 1");
    refused((attn_report_config){.model = m, .sentences = &sentence, .n_sentences = 1, .head = 2}, ATTN_EINVAL,
            "page: head 2 of model 0, expected 0..1 of 0..1");
    refused((attn_report_config){.model = m, .sentences = &sentence, .n_sentences = 1, .member = -1}, ATTN_EINVAL,
            "page: head 0 of model -1, expected 0..1 of 0..1");
    refused((attn_report_config){.model = m, .sentences = outside, .n_sentences = 2}, ATTN_EINVAL, "sentence 2: target 6, expected 0..5");
    refused((attn_report_config){.model = m, .sentences = unknown, .n_sentences = 2}, ATTN_EUNKNOWN_WORD,
            "sentence 2: the model knows no senses of 'the'; it knows: bank, bat");
    refused((attn_report_config){.model = m, .sentences = unknown + 1, .n_sentences = 1}, ATTN_EUNKNOWN_WORD,
            "the model knows no senses of 'the'; it knows: bank, bat");
    refused((attn_report_config){.model = m, .sentences = &no_utf8, .n_sentences = 1}, ATTN_EFORMAT,
            "page: text 2 of \"words\" is not UTF-8: bad byte at offset 0");
    refused((attn_report_config){.model = m, .sentences = &sentence, .n_sentences = 1, .title = "\xff"}, ATTN_EFORMAT,
            "page: text 1 of \"title\" is not UTF-8: bad byte at offset 0");
    attn_word_sense_free(m);
    attn_corpus_free(c);
}

/* ---- before the training ---- */

/* The untrained model is the one that training began with, by the bit. */
static void the_untrained_model_is_the_one_it_was(void **state)
{
    (void)state;
    attn_corpus *c = tiny_corpus(NULL), *other = tiny_dev_corpus(NULL);
    for (int score = 0; score < 3; score++) {
        attn_word_sense *m = trained(c, score);
        attn_word_sense_config config = attn_word_sense_get_config(m);
        attn_word_sense *start = new_model(c, config), *before = attn_word_sense_untrained(m, c, NULL, NULL, NULL);
        assert_non_null(before);
        save_ok(start, "start.safetensors");
        save_ok(before, "before.safetensors");
        assert_same_file("start.safetensors", "before.safetensors");
        save_ok(m, "after.safetensors");
        assert_other_file("after.safetensors", "before.safetensors");
        attn_word_sense_free(before);
        attn_word_sense_free(start);

        attn_error error;
        assert_null(attn_word_sense_untrained(m, other, NULL, NULL, &error));
        assert_int_equal(error.status, ATTN_EMISMATCH);
        assert_int_equal(add_sentence(c, "shore", 0, "bank"), ATTN_OK);
        assert_null(attn_word_sense_untrained(m, c, NULL, NULL, &error));
        assert_int_equal(error.status, ATTN_EMISMATCH);
        assert_string_equal(error.message, "not the data that the model was trained on: words or senses differ");
        attn_word_sense_free(m);
        attn_corpus_free(c);
        c = tiny_corpus(NULL);
    }
    attn_corpus_free(c);
    attn_corpus_free(other);
}

static void vectors_from_a_file_are_needed_again(void **state)
{
    (void)state;
    FILE *f = fopen("report-vectors.txt", "w");
    assert_non_null(f);
    assert_true(fputs("bank 1 2 3\nriver 0.5 0.25 -1\nwater 3 2 1\n", f) > 0);
    assert_int_equal(fclose(f), 0);
    attn_corpus *c = tiny_corpus(NULL);
    attn_word_sense_config config = tiny_config();
    config.vectors = ATTN_VECTORS_FILE;
    config.vectors_file = "report-vectors.txt";
    config.dim = 3;
    attn_word_sense *m = new_model(c, config);
    save_ok(m, "start.safetensors");
    train_ok(m, c, NULL);
    attn_error error;
    assert_null(attn_word_sense_untrained(m, c, NULL, NULL, &error));
    assert_int_equal(error.status, ATTN_EINVAL);
    assert_string_equal(error.message, "the model's embeddings came from a file of word vectors, which is needed to make them again");
    attn_word_sense *before = attn_word_sense_untrained(m, c, "report-vectors.txt", NULL, &error);
    assert_non_null(before);
    save_ok(before, "before.safetensors");
    assert_same_file("start.safetensors", "before.safetensors");
    attn_word_sense_free(before);
    attn_word_sense_free(m);
    attn_corpus_free(c);
}

/* ---- films ---- */

static void what_no_film_can_be_made_of(void **state)
{
    (void)state;
    const attn_report_sentence outside = {tokens, 6, 6};
    attn_error error;
    assert_null(attn_film_new(&(attn_film_config){.sentences = &sentence}, NULL, &error));
    assert_string_equal(error.message, "film: 0 sentences, at most 240 pictures; expected 1 and 2 at least");
    assert_null(attn_film_new(&(attn_film_config){.sentences = &sentence, .n_sentences = 1, .most = 1}, NULL, &error));
    assert_string_equal(error.message, "film: 1 sentences, at most 1 pictures; expected 1 and 2 at least");
    assert_null(attn_film_new(&(attn_film_config){.sentences = &outside, .n_sentences = 1}, NULL, &error));
    assert_string_equal(error.message, "film: sentence 1: target 6, expected 0..5");
    attn_film *film = attn_film_new(&(attn_film_config){.sentences = &sentence, .n_sentences = 1}, NULL, &error);
    attn_page page;
    assert_int_equal(attn_film_page(film, &page, &error), ATTN_EINVAL);
    assert_string_equal(error.message, "film: there is no picture");
    assert_null(page.bytes);
    attn_film_free(film);
    attn_film_free(NULL);
}

/* Which epochs a film of at most so many pictures holds after `epochs` epochs, as in the page. */
static void check_epochs(attn_word_sense *m, const attn_corpus *c, int most, int epochs, const char *wanted)
{
    attn_film *film = attn_film_new(&(attn_film_config){.sentences = &sentence, .n_sentences = 1, .sample = c, .most = most}, NULL, NULL);
    attn_page page;
    for (int i = 0; i <= epochs; i++) {
        const attn_word_sense_progress at = {.epoch = i, .loss = i > 0 ? 1.0 / i : NAN}, other = {.member = 1, .epoch = 99};
        assert_int_equal(attn_film_add(film, m, &at, NULL), ATTN_OK);
        assert_int_equal(attn_film_add(film, m, &other, NULL), ATTN_OK);
    }
    assert_int_equal(attn_film_page(film, &page, NULL), ATTN_OK);
    char *text = text_of(&page);
    assert_contains(text, wanted);
    free(text);
    attn_page_free(&page);
    attn_film_free(film);
}

static void a_long_run_is_thinned_out(void **state)
{
    (void)state;
    attn_corpus *c = tiny_corpus(NULL);
    attn_word_sense *m = trained(c, 0);
    check_epochs(m, c, 4, 0, "\"step\":1,\"colors\":");
    check_epochs(m, c, 4, 0, "\"epochs\":[0],\"loss\":[null],\"accuracy\":[");
    check_epochs(m, c, 4, 3, "\"epochs\":[0,1,2,3],\"loss\":[null,1,0.5,0.3333333333333333],");
    check_epochs(m, c, 4, 4, "\"epochs\":[0,2,4],\"loss\":[null,0.5,0.25],");
    check_epochs(m, c, 4, 5, "\"epochs\":[0,2,4,5],");
    check_epochs(m, c, 4, 6, "\"epochs\":[0,2,4,6],");
    check_epochs(m, c, 4, 7, "\"epochs\":[0,4,7],");
    check_epochs(m, c, 4, 12, "\"epochs\":[0,4,8,12],");
    check_epochs(m, c, 4, 13, "\"epochs\":[0,8,13],");
    check_epochs(m, c, 4, 13, "\"step\":8,");
    check_epochs(m, c, 5, 5, "\"epochs\":[0,2,4,5],");
    check_epochs(m, c, 5, 11, "\"epochs\":[0,4,8,11],");
    check_epochs(m, c, 2, 3, "\"epochs\":[0,3],");
    check_epochs(m, c, 2, 4, "\"epochs\":[0,4],");
    attn_word_sense_free(m);
    attn_corpus_free(c);
}

/* ---- memory ---- */

static attn_status make_pages(attn_word_sense *m, attn_word_sense *before, const attn_corpus *c, const attn_allocator *allocator,
                              attn_error *error)
{
    const attn_report_sentence both[] = {sentence, {tokens + 2, 4, 0}};
    const attn_report_config config = {.model = m, .before = before, .sentences = both, .n_sentences = 2};
    attn_page page;
    attn_status status = attn_report_page(&config, &page, allocator, error);
    attn_page_free(&page);
    attn_film *film = NULL;
    if (status == ATTN_OK) {
        film = attn_film_new(&(attn_film_config){.sentences = both, .n_sentences = 2, .sample = c, .most = 2}, allocator, error);
        status = film != NULL ? ATTN_OK : error->status;
    }
    for (int i = 0; i < 4 && status == ATTN_OK; i++) {
        status = attn_film_add(film, m, &(attn_word_sense_progress){.epoch = i}, error);
    }
    if (status == ATTN_OK) {
        status = attn_film_page(film, &page, error);
        attn_page_free(&page);
    }
    attn_film_free(film);
    return status;
}

static void memory_may_run_out_anywhere(void **state)
{
    (void)state;
    attn_corpus *c = tiny_corpus(NULL);
    attn_word_sense *m = trained(c, 2), *before = attn_word_sense_untrained(m, c, NULL, NULL, NULL);
    attn_status status = ATTN_ENOMEM;
    long k = 0;
    while (status != ATTN_OK && k < 500) {
        counting_allocator counting;
        attn_error error = {.status = ATTN_OK};
        counting_init(&counting, ++k);
        status = make_pages(m, before, c, &counting.value, &error);
        assert_int_equal(counting.live, 0);
        assert_true(status == ATTN_OK || status == ATTN_ENOMEM);
        if (status != ATTN_OK) {
            assert_contains(error.message, "out of memory");
        }
    }
    assert_int_equal(status, ATTN_OK);
    assert_true(k > 30);
    attn_word_sense_free(before);
    attn_word_sense_free(m);
    attn_corpus_free(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_no_report_can_show),
        cmocka_unit_test(the_untrained_model_is_the_one_it_was),
        cmocka_unit_test(vectors_from_a_file_are_needed_again),
        cmocka_unit_test(what_no_film_can_be_made_of),
        cmocka_unit_test(a_long_run_is_thinned_out),
        cmocka_unit_test(memory_may_run_out_anywhere),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

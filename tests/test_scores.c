/* Accuracy, F1 and confusion against numbers worked out by hand. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "support/check.h"

#include "attn/corpus.h"

#define assert_exact(actual, expected) assert_close((actual), (expected), 1e-15, 0.0)

static void add(attn_scores *s, const char *word, const char *gold, const char *predicted, int times)
{
    for (int i = 0; i < times; i++) {
        assert_int_equal(attn_scores_add(s, word, gold, predicted), ATTN_OK);
    }
}

static void check_sense(attn_word_score w, int i, const char *sense, int support, int predicted, int correct)
{
    const attn_sense_score *x = &w.senses[i];
    assert_string_equal(x->sense, sense);
    assert_int_equal(x->support, support);
    assert_int_equal(x->predicted, predicted);
    assert_int_equal(x->correct, correct);
    assert_exact(x->precision, predicted > 0 ? (double)correct / predicted : 0.0);
    assert_exact(x->recall, support > 0 ? (double)correct / support : 0.0);
}

static void two_senses(void **state)
{
    (void)state;
    attn_scores *s = attn_scores_new(NULL);
    add(s, "apple", "fruit", "fruit", 6);
    add(s, "apple", "fruit", "company", 2);
    add(s, "apple", "company", "company", 3);
    add(s, "apple", "company", "fruit", 1);
    assert_int_equal(attn_scores_words(s), 1);
    attn_word_score w = attn_scores_word(s, 0);
    assert_string_equal(w.word, "apple");
    assert_int_equal(w.examples, 12);
    assert_int_equal(w.correct, 9);
    assert_int_equal(w.n_senses, 2);
    check_sense(w, 0, "fruit", 8, 7, 6);
    check_sense(w, 1, "company", 4, 5, 3);
    assert_exact(w.senses[0].f1, 12.0 / 15.0); /* P 6/7, R 6/8 */
    assert_exact(w.senses[1].f1, 6.0 / 9.0);   /* P 3/5, R 3/4 */
    assert_exact(w.micro_f1, 0.75);
    assert_exact(w.macro_f1, (12.0 / 15.0 + 6.0 / 9.0) / 2.0);
    const int64_t confusion[] = {6, 2, 1, 3};
    assert_memory_equal(w.confusion, confusion, sizeof confusion);
    assert_int_equal(attn_scores_examples(s), 12);
    assert_int_equal(attn_scores_correct(s), 9);
    attn_scores_free(s);
}

/* Four senses: one right and wrong, one never predicted, one never gold, one that does not occur and is left out of the mean. */
static void senses_that_never_occur_on_one_side(void **state)
{
    (void)state;
    attn_scores *s = attn_scores_new(NULL);
    assert_int_equal(attn_scores_declare(s, "seal", "unused"), ATTN_OK);
    assert_int_equal(attn_scores_declare(s, "seal", "animal"), ATTN_OK);
    assert_int_equal(attn_scores_declare(s, "seal", "animal"), ATTN_OK);
    add(s, "seal", "animal", "animal", 3);
    add(s, "seal", "stamp", "animal", 2);
    add(s, "seal", "animal", "singer", 1);
    attn_word_score w = attn_scores_word(s, 0);
    assert_int_equal(w.n_senses, 4);
    check_sense(w, 0, "unused", 0, 0, 0);
    check_sense(w, 1, "animal", 4, 5, 3);
    check_sense(w, 2, "stamp", 2, 0, 0);
    check_sense(w, 3, "singer", 0, 1, 0);
    assert_exact(w.senses[0].f1, 0.0);
    assert_exact(w.senses[1].f1, 6.0 / 9.0);
    assert_exact(w.senses[2].f1, 0.0);
    assert_exact(w.senses[3].f1, 0.0);
    assert_exact(w.micro_f1, 0.5);
    assert_exact(w.macro_f1, 6.0 / 9.0 / 3.0); /* three senses occur */
    const int64_t confusion[] = {0, 0, 0, 0, 0, 3, 0, 1, 0, 2, 0, 0, 0, 0, 0, 0};
    assert_memory_equal(w.confusion, confusion, sizeof confusion);
    attn_scores_free(s);
}

static void any_of_several_gold_senses_is_right(void **state)
{
    (void)state;
    attn_scores *s = attn_scores_new(NULL);
    add(s, "here", "here%4:02:00::;here%4:02:01::", "here%4:02:01::", 1);
    attn_word_score w = attn_scores_word(s, 0);
    assert_int_equal(w.correct, 1);
    assert_int_equal(w.n_senses, 1); /* the other gold sense was neither meant nor predicted */
    check_sense(w, 0, "here%4:02:01::", 1, 1, 1);
    add(s, "here", "a;b;c", "a", 1);
    add(s, "here", "a;b;c", "c", 1);
    add(s, "here", "a;b", "c", 1);  /* wrong: counts against the first */
    add(s, "here", "ab;b", "a", 1); /* part of a label is not the label */
    w = attn_scores_word(s, 0);
    assert_int_equal(w.examples, 5);
    assert_int_equal(w.correct, 3);
    check_sense(w, 1, "a", 2, 2, 1);
    check_sense(w, 2, "c", 1, 2, 1);
    check_sense(w, 3, "ab", 1, 0, 0);
    attn_scores_free(s);
}

static void words_are_averaged(void **state)
{
    (void)state;
    attn_scores *s = attn_scores_new(NULL);
    assert_exact(attn_scores_micro_f1(s), 0.0); /* of nothing, and no NaN */
    assert_exact(attn_scores_macro_f1(s), 0.0);
    assert_int_equal(attn_scores_examples(s), 0);
    assert_int_equal(attn_scores_declare(s, "idle", "x"), ATTN_OK); /* without examples: not averaged */
    add(s, "one", "a", "a", 9);
    add(s, "one", "b", "a", 1);
    add(s, "two", "a", "a", 1);
    add(s, "two", "b", "b", 1);
    assert_int_equal(attn_scores_words(s), 3);
    assert_string_equal(attn_scores_word(s, 0).word, "idle");
    assert_exact(attn_scores_word(s, 0).micro_f1, 0.0);
    assert_exact(attn_scores_word(s, 0).macro_f1, 0.0);
    assert_string_equal(attn_scores_word(s, 1).word, "one");
    assert_string_equal(attn_scores_word(s, 2).word, "two");
    assert_int_equal(attn_scores_word(s, 2).n_senses, 2); /* the same labels, but of another word */
    assert_exact(attn_scores_micro_f1(s), (0.9 + 1.0) / 2.0);
    assert_exact(attn_scores_macro_f1(s), (18.0 / 19.0 / 2.0 + 1.0) / 2.0);
    assert_int_equal(attn_scores_examples(s), 12);
    assert_int_equal(attn_scores_correct(s), 11);
    assert_null(attn_scores_word(s, 3).word); /* outside */
    assert_null(attn_scores_word(s, -1).word);
    attn_scores_free(s);
}

static void wrong_arguments_change_nothing(void **state)
{
    (void)state;
    attn_scores *s = attn_scores_new(NULL);
    assert_int_equal(attn_scores_add(s, "", "a", "a"), ATTN_EINVAL);
    assert_int_equal(attn_scores_add(s, "w", "", "a"), ATTN_EINVAL);
    assert_int_equal(attn_scores_add(s, "w", ";", "a"), ATTN_EINVAL);
    assert_int_equal(attn_scores_add(s, "w", "a", ""), ATTN_EINVAL);
    assert_int_equal(attn_scores_add(s, "w", "a;", ""), ATTN_EINVAL);
    assert_int_equal(attn_scores_declare(s, "", "a"), ATTN_EINVAL);
    assert_int_equal(attn_scores_declare(s, "w", ""), ATTN_EINVAL);
    assert_int_equal(attn_scores_words(s), 0);
    attn_scores_free(s);
    attn_scores_free(NULL);
}

/* A confusion matrix that grows keeps its counts; thousands of words are found again. */
static void many_senses_and_words(void **state)
{
    (void)state;
    enum { SENSES = 60, WORDS = 5000 };
    attn_scores *s = attn_scores_new(NULL);
    char a[16], b[16];
    for (int i = 0; i < SENSES; i++) {
        for (int k = 0; k <= i; k++) {
            (void)snprintf(a, sizeof a, "s%d", i);
            (void)snprintf(b, sizeof b, "s%d", k);
            add(s, "word", a, b, 1 + (i + k) % 3);
        }
    }
    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < WORDS; i++) {
            (void)snprintf(a, sizeof a, "w%d", i);
            add(s, a, "x", "x", 1);
        }
    }
    attn_word_score w = attn_scores_word(s, 0);
    assert_int_equal(w.n_senses, SENSES);
    for (int i = 0; i < SENSES; i++) {
        for (int k = 0; k < SENSES; k++) {
            assert_int_equal(w.confusion[i * SENSES + k], k <= i ? 1 + (i + k) % 3 : 0);
        }
    }
    assert_int_equal(attn_scores_words(s), 1 + WORDS);
    for (int i = 0; i < WORDS; i++) {
        assert_int_equal(attn_scores_word(s, 1 + i).correct, 2);
    }
    attn_scores_free(s);
}

static attn_status exercise(const attn_allocator *allocator)
{
    attn_scores *s = attn_scores_new(allocator);
    if (s == NULL) {
        return ATTN_ENOMEM;
    }
    attn_status status = attn_scores_declare(s, "w", "x");
    int64_t done = 0;
    for (int i = 0; status == ATTN_OK && i < 40; i++) {
        char word[16], sense[16];
        (void)snprintf(word, sizeof word, "w%d", i % 10);
        (void)snprintf(sense, sizeof sense, "s%d", i);
        status = attn_scores_add(s, word, sense, "x");
        done += status == ATTN_OK;
    }
    assert_int_equal(attn_scores_examples(s), done); /* what was added before stays countable */
    for (int i = 0; i < attn_scores_words(s); i++) {
        attn_word_score w = attn_scores_word(s, i);
        int64_t sum = 0;
        for (int k = 0; k < w.n_senses * w.n_senses; k++) {
            sum += w.confusion[k];
        }
        assert_int_equal(sum, w.examples);
        assert_true(isfinite(w.macro_f1));
    }
    attn_scores_free(s);
    return status;
}

static void running_out_of_memory_leaks_nothing(void **state)
{
    (void)state;
    attn_status status = ATTN_ENOMEM;
    long k = 0;
    while (status != ATTN_OK) {
        counting_allocator memory;
        counting_init(&memory, ++k);
        status = exercise(&memory.value);
        assert_int_equal(memory.live, 0);
        assert_true(status == ATTN_OK || status == ATTN_ENOMEM);
    }
    assert_true(k > 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_senses),
        cmocka_unit_test(senses_that_never_occur_on_one_side),
        cmocka_unit_test(any_of_several_gold_senses_is_right),
        cmocka_unit_test(words_are_averaged),
        cmocka_unit_test(wrong_arguments_change_nothing),
        cmocka_unit_test(many_senses_and_words),
        cmocka_unit_test(running_out_of_memory_leaks_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

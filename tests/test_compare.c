/* Is B better than A: the measures against attn_scores, the bootstrap against all resamples that there are, McNemar's test against whole
 * numbers. */
#include "support/check.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "attn/evaluation.h"
#include "attn/random.h"

typedef struct sentence {
    const char *word, *gold, *a, *b;
} sentence;

static attn_comparison *comparison_of(const sentence *list, int n)
{
    attn_comparison *c = attn_comparison_new(NULL);
    assert_non_null(c);
    for (int i = 0; i < n; i++) {
        assert_int_equal(attn_comparison_add(c, list[i].word, list[i].gold, list[i].a, list[i].b), ATTN_OK);
    }
    return c;
}

static attn_comparison_result run(const attn_comparison *c, attn_comparison_config config)
{
    attn_error error = {.message = ""};
    attn_comparison_result r;
    attn_status status = attn_comparison_run(c, &config, &r, &error);
    assert_string_equal(error.message, "");
    assert_int_equal(status, ATTN_OK);
    return r;
}

static attn_comparison_result compare(const sentence *list, int n, attn_comparison_config config)
{
    attn_comparison *c = comparison_of(list, n);
    attn_comparison_result r = run(c, config);
    attn_comparison_free(c);
    return r;
}

/* Micro and macro F1 of one system as attn_scores computes them. */
typedef struct f1 {
    double micro, macro;
} f1;

static f1 score(const sentence *list, const int *which, int n, bool second)
{
    attn_scores *s = attn_scores_new(NULL);
    for (int i = 0; i < n; i++) {
        const sentence *e = &list[which != NULL ? which[i] : i];
        assert_int_equal(attn_scores_add(s, e->word, e->gold, second ? e->b : e->a), ATTN_OK);
    }
    f1 result = {attn_scores_micro_f1(s), attn_scores_macro_f1(s)};
    attn_scores_free(s);
    return result;
}

/* Two words that do not stand together, a sense that only one system says, and gold senses of which any counts. */
static const sentence five[] = {
    {"bank", "river", "river", "river"}, {"bat", "club", "animal", "club"},   {"bank", "money", "river", "money"},
    {"bank", "money;safe", "safe", "x"}, {"bat", "animal", "animal", "club"},
};

static void measures_are_those_of_the_scores(void **state)
{
    (void)state;
    attn_comparison_result r = compare(five, 5, (attn_comparison_config){.resamples = 1});
    assert_int_equal(r.sentences, 5);
    assert_int_equal(r.words, 2);
    assert_int_equal(r.both, 1);
    assert_int_equal(r.only_a, 2);
    assert_int_equal(r.only_b, 2);
    assert_int_equal(r.neither, 0);
    assert_close(r.mcnemar, 1, 1e-15, 0);
    assert_close(r.accuracy.a, 0.6, 1e-15, 0);
    assert_close(r.accuracy.b, 0.6, 1e-15, 0);
    /* bank: river 1 of 2 said, money never said, safe right: (2/3 + 0 + 1) / 3. bat: animal 1 of 2 said, club never: (2/3 + 0) / 2 */
    assert_close(r.macro_f1.a, ((2.0 / 3 + 1) / 3 + (2.0 / 3) / 2) / 2, 1e-15, 0);
    f1 a = score(five, NULL, 5, false), b = score(five, NULL, 5, true);
    assert_close(r.micro_f1.a, a.micro, 1e-15, 0);
    assert_close(r.micro_f1.b, b.micro, 1e-15, 0);
    assert_close(r.macro_f1.a, a.macro, 1e-15, 0);
    assert_close(r.macro_f1.b, b.macro, 1e-15, 0);
    assert_close(r.macro_f1.difference, b.macro - a.macro, 1e-14, 0);
}

/* ---- all resamples that there are ---- */

enum { MOST = 8192 };

typedef struct distribution {
    double value[MOST];
    int n;
} distribution;

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* What a bootstrap of many resamples must come to, up to five standard errors. */
static void check_distribution(attn_difference d, distribution *all, int resamples)
{
    double not_better = 0;
    for (int i = 0; i < all->n; i++) {
        not_better += all->value[i] <= 1e-9;
    }
    not_better /= all->n;
    qsort(all->value, (size_t)all->n, sizeof all->value[0], by_size);
    double spread = 5 * sqrt(0.025 * 0.975 / resamples);
    for (int side = 0; side < 2; side++) {
        double at = side == 0 ? 0.025 : 0.975, found = side == 0 ? d.low : d.high;
        assert_true(found >= all->value[(int)((at - spread) * all->n)] - 1e-12);
        assert_true(found <= all->value[(int)((at + spread) * all->n)] + 1e-12);
    }
    assert_close(d.not_better, not_better, 0, 5 * sqrt(not_better * (1 - not_better) / resamples));
    assert_true(not_better > 0.001 && not_better < 0.999);
}

/* The k-th way to draw n of n. */
static void nth_draw(int k, int n, int *which)
{
    for (int i = 0; i < n; i++, k /= n) {
        which[i] = k % n;
    }
}

static int power(int n)
{
    int p = 1;
    for (int i = 0; i < n; i++) {
        p *= n;
    }
    return p;
}

static void accuracy_against_all_resamples(void **state)
{
    (void)state;
    static const sentence list[] = {
        {"w", "x", "x", "x"}, {"v", "x", "y", "x"}, {"w", "y", "x", "y"}, {"v", "y", "y", "x"}, {"v", "x", "z", "x"},
    };
    enum { N = 5, R = 50000 };
    static distribution all;
    all.n = power(N);
    for (int k = 0; k < all.n; k++) {
        int which[N], gain = 0;
        nth_draw(k, N, which);
        for (int i = 0; i < N; i++) {
            const sentence *e = &list[which[i]];
            gain += (strcmp(e->b, e->gold) == 0) - (strcmp(e->a, e->gold) == 0);
        }
        all.value[k] = (double)gain / N;
    }
    attn_comparison_result r = compare(list, N, (attn_comparison_config){.resamples = R, .seed = 3});
    assert_close(r.accuracy.difference, 0.4, 1e-15, 0);
    check_distribution(r.accuracy, &all, R);
}

/* Within each word: 3^3 ways for one, 4^4 for the other. */
static void means_over_words_against_all_resamples(void **state)
{
    (void)state;
    static const sentence list[] = {
        {"one", "x", "y", "x"}, {"two", "p", "p", "p"}, {"one", "y", "y", "y"},   {"two", "q", "p", "q"},
        {"one", "x", "x", "y"}, {"two", "q", "q", "p"}, {"two", "p;r", "q", "r"},
    };
    const int one[] = {0, 2, 4}, two[] = {1, 3, 5, 6};
    enum { R = 50000 };
    static distribution micro, macro;
    micro.n = macro.n = power(3) * power(4);
    for (int k = 0; k < micro.n; k++) {
        int which[7];
        nth_draw(k % 27, 3, which);
        nth_draw(k / 27, 4, which + 3);
        for (int i = 0; i < 7; i++) {
            which[i] = i < 3 ? one[which[i]] : two[which[i]];
        }
        f1 a = score(list, which, 7, false), b = score(list, which, 7, true);
        micro.value[k] = b.micro - a.micro;
        macro.value[k] = b.macro - a.macro;
    }
    attn_comparison_result r = compare(list, 7, (attn_comparison_config){.resamples = R, .seed = 5});
    check_distribution(r.micro_f1, &micro, R);
    check_distribution(r.macro_f1, &macro, R);
}

/* Many sentences: the difference is nearly normal, with a variance that is known. */
static void the_interval_of_many_sentences(void **state)
{
    (void)state;
    enum { N = 4000 };
    attn_comparison *c = attn_comparison_new(NULL);
    for (int i = 0; i < N; i++) {
        bool a = i % 20 < 14, b = i % 20 < 13 || i % 20 > 17; /* only A 1 in 20, only B 2 in 20 */
        assert_int_equal(attn_comparison_add(c, i % 2 == 0 ? "w" : "v", "x", a ? "x" : "y", b ? "x" : "y"), ATTN_OK);
    }
    attn_comparison_result r = run(c, (attn_comparison_config){0}); /* 10000 resamples */
    assert_close(r.accuracy.difference, 0.05, 1e-12, 0);
    double error = sqrt((0.15 - 0.05 * 0.05) / N);
    assert_close(r.accuracy.low, 0.05 - 1.959964 * error, 0, 0.1 * error);
    assert_close(r.accuracy.high, 0.05 + 1.959964 * error, 0, 0.1 * error);
    assert_close(r.accuracy.not_better, 0, 0, 0);
    attn_comparison_free(c);
}

/* Between two resamples lie 95 % of the way from one to the other, around their middle. */
static void quantiles_are_linear_between_neighbours(void **state)
{
    (void)state;
    attn_comparison_result one = compare(five, 5, (attn_comparison_config){.resamples = 1, .seed = 1});
    attn_comparison_result two = compare(five, 5, (attn_comparison_config){.resamples = 2, .seed = 1});
    double first = one.macro_f1.low, second = two.macro_f1.low + two.macro_f1.high - first;
    assert_close(one.macro_f1.high, first, 0, 0);
    assert_true(fabs(second - first) > 0.01);
    assert_close(two.macro_f1.high - two.macro_f1.low, 0.95 * fabs(second - first), 1e-12, 0);
}

static void drawing_within_words_keeps_their_shares(void **state)
{
    (void)state;
    sentence list[40]; /* B has all of one word right, A all of the other: no resample differs in the mean over the words */
    for (int i = 0; i < 40; i++) {
        list[i] = i < 4 ? (sentence){"rare", "x", "x", "y"} : (sentence){"often", "x", "y", "x"};
    }
    attn_comparison_result r = compare(list, 40, (attn_comparison_config){.resamples = 1000});
    assert_close(r.micro_f1.low, 0, 0, 0);
    assert_close(r.micro_f1.high, 0, 0, 0);
    assert_close(r.micro_f1.not_better, 1, 0, 0);
    assert_close(r.accuracy.difference, 0.8, 1e-15, 0);
    assert_close(r.accuracy.not_better, 0, 0, 0);
    assert_true(r.accuracy.low < 0.8 && r.accuracy.high > 0.8);
}

/* ---- the same numbers always ---- */

static attn_comparison *random_comparison(void)
{
    static const char *const words[] = {"a", "b", "c"}, *const senses[] = {"x", "y", "z"};
    attn_comparison *c = attn_comparison_new(NULL);
    for (uint64_t i = 0; i < 300; i++) {
        const char *gold = senses[attn_random_below(1, 0, i, 3)];
        const char *a = attn_random_uniform(1, 1, i) < 0.7 ? gold : senses[attn_random_below(1, 2, i, 3)];
        const char *b = attn_random_uniform(1, 3, i) < 0.75 ? gold : senses[attn_random_below(1, 4, i, 3)];
        assert_int_equal(attn_comparison_add(c, words[attn_random_below(1, 5, i, 3)], gold, a, b), ATTN_OK);
    }
    return c;
}

static void neither_threads_nor_time_change_a_bit(void **state)
{
    (void)state;
    attn_comparison *c = random_comparison();
    attn_comparison_result first = run(c, (attn_comparison_config){.resamples = 999, .seed = 7, .threads = 1});
    for (int threads = -5; threads <= 3; threads++) {
        attn_comparison_result again = run(c, (attn_comparison_config){.resamples = 999, .seed = 7, .threads = threads});
        assert_memory_equal(&first, &again, sizeof first);
    }
    attn_comparison_result other = run(c, (attn_comparison_config){.resamples = 999, .seed = 8});
    assert_true(memcmp(&first, &other, sizeof first) != 0);
    assert_close(first.accuracy.low, other.accuracy.low, 0, 0.02);
    attn_comparison_result usual = run(c, (attn_comparison_config){0}), said = run(c, (attn_comparison_config){.resamples = 10000});
    assert_memory_equal(&usual, &said, sizeof usual);
    attn_comparison_free(c);
}

static void a_system_is_not_better_than_itself(void **state)
{
    (void)state;
    attn_comparison *c = attn_comparison_new(NULL);
    for (int i = 0; i < 50; i++) {
        const char *said = i % 3 == 0 ? "y" : "x";
        assert_int_equal(attn_comparison_add(c, i % 7 < 2 ? "w" : "v", "x", said, said), ATTN_OK);
    }
    attn_comparison_result r = run(c, (attn_comparison_config){.resamples = 500});
    const attn_difference *all[] = {&r.accuracy, &r.micro_f1, &r.macro_f1};
    for (int i = 0; i < 3; i++) {
        assert_close(all[i]->difference, 0, 0, 0);
        assert_close(all[i]->low, 0, 0, 0);
        assert_close(all[i]->high, 0, 0, 0);
        assert_close(all[i]->not_better, 1, 0, 0);
    }
    attn_comparison_free(c);
}

/* ---- McNemar ---- */

/* Expected values from sums of binomial coefficients as whole numbers. */
static void mcnemar_exactly(void **state)
{
    (void)state;
    static const struct {
        int64_t a, b;
        double p;
    } cases[] = {
        {0, 0, 1},
        {0, 1, 1},
        {1, 0, 1},
        {0, 5, 2.0 / 32},
        {1, 9, 22.0 / 1024},
        {9, 2, 134.0 / 2048},
        {5, 5, 1},
        {5, 6, 1},
        {100, 225, 3.2934695417224673e-12},
        {1000, 1200, 2.1817026407914712e-05},
        {40000, 41000, 0.000447821823137557},
        {0, 1000, 1.8665272370064378e-301},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_close(attn_mcnemar(cases[i].a, cases[i].b), cases[i].p, 1e-11, 0);
        assert_close(attn_mcnemar(cases[i].b, cases[i].a), cases[i].p, 1e-11, 0);
    }
    assert_close(attn_mcnemar(0, 5000), 0, 0, 0);
    assert_close(attn_mcnemar(500000, 500000), 1, 0, 0);
}

/* ---- refusals ---- */

static void wrong_arguments_are_refused(void **state)
{
    (void)state;
    attn_error error;
    attn_comparison_result r;
    attn_comparison *c = attn_comparison_new(NULL);
    assert_int_equal(attn_comparison_add(c, "", "x", "x", "x"), ATTN_EINVAL);
    assert_int_equal(attn_comparison_add(c, "w", "", "x", "x"), ATTN_EINVAL);
    assert_int_equal(attn_comparison_add(c, "w", ";", "x", "x"), ATTN_EINVAL);
    assert_int_equal(attn_comparison_add(c, "w", "x", "", "x"), ATTN_EINVAL);
    assert_int_equal(attn_comparison_add(c, "w", "x", "x", ""), ATTN_EINVAL);
    assert_int_equal(attn_comparison_run(c, &(attn_comparison_config){0}, &r, &error), ATTN_EINVAL);
    assert_string_equal(error.message, "0 sentences and 10000 resamples, expected at least one");
    assert_int_equal(attn_comparison_add(c, "w", "x", "x", "y"), ATTN_OK);
    assert_int_equal(attn_comparison_run(c, &(attn_comparison_config){.resamples = -1}, &r, &error), ATTN_EINVAL);
    assert_int_equal(attn_comparison_run(c, &(attn_comparison_config){.resamples = 3}, &r, &error), ATTN_OK);
    assert_close(r.accuracy.low, -1, 0, 0);
    attn_comparison_free(c);
    attn_comparison_free(NULL);
}

static attn_status exercise(const attn_allocator *allocator)
{
    attn_comparison *c = attn_comparison_new(allocator);
    attn_status status = c != NULL ? ATTN_OK : ATTN_ENOMEM;
    int64_t done = 0;
    for (int i = 0; i < 40 && status == ATTN_OK; i++) {
        char word[16], sense[16];
        (void)snprintf(word, sizeof word, "w%d", i % 10);
        (void)snprintf(sense, sizeof sense, "s%d", i);
        status = attn_comparison_add(c, word, sense, "x", sense);
        done += status == ATTN_OK;
    }
    attn_comparison_result r;
    attn_status ran = c != NULL && done > 0 ? attn_comparison_run(c, &(attn_comparison_config){.resamples = 10}, &r, NULL) : ATTN_ENOMEM;
    if (ran == ATTN_OK) { /* what was added before counts, and nothing else */
        assert_int_equal(r.sentences, done);
        assert_int_equal(r.words, done < 10 ? done : 10);
        assert_close(r.micro_f1.b, 1, 1e-12, 0);
        assert_close(r.macro_f1.b, 1, 1e-12, 0);
    }
    attn_comparison_free(c);
    return status == ATTN_OK ? ran : status;
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
        cmocka_unit_test(measures_are_those_of_the_scores),
        cmocka_unit_test(accuracy_against_all_resamples),
        cmocka_unit_test(means_over_words_against_all_resamples),
        cmocka_unit_test(the_interval_of_many_sentences),
        cmocka_unit_test(quantiles_are_linear_between_neighbours),
        cmocka_unit_test(drawing_within_words_keeps_their_shares),
        cmocka_unit_test(neither_threads_nor_time_change_a_bit),
        cmocka_unit_test(a_system_is_not_better_than_itself),
        cmocka_unit_test(mcnemar_exactly),
        cmocka_unit_test(wrong_arguments_are_refused),
        cmocka_unit_test(running_out_of_memory_leaks_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

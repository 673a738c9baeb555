/* Splitting a corpus in two: shares of every sense, nothing lost, nothing twice. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/files.h"
#include "support/senses.h"

typedef struct group {
    const char *word, *sense;
    int size;
} group;

/* The same sense name under two words is two groups; so are a label and a list that begins with it. */
static const group groups[] = {{"bank", "one", 10}, {"bank", "two", 1},     {"bank", "three", 2},
                               {"bark", "one", 7},  {"bark", "one;two", 4}, {"bark", "two", 40}};
enum { GROUPS = sizeof groups / sizeof groups[0], ALL = 10 + 1 + 2 + 7 + 4 + 40 };

/* Examples of all groups mixed; each has its number as its last word. */
static attn_corpus *mixed(void)
{
    attn_corpus *c = attn_corpus_new(NULL);
    char text[40];
    int left[GROUPS];
    for (int g = 0; g < GROUPS; g++) {
        left[g] = groups[g].size;
    }
    for (int i = 0, g = 0; i < ALL; g = (g + 1) % GROUPS) {
        if (left[g] > 0) {
            left[g]--;
            (void)snprintf(text, sizeof text, "the %s %d", groups[g].word, i++);
            assert_int_equal(add_sentence(c, groups[g].sense, 1, text), ATTN_OK);
        }
    }
    return c;
}

static int number_of(const attn_corpus *c, int64_t i)
{
    return atoi(attn_corpus_get(c, i).tokens[2]);
}

static int count_of(const attn_corpus *c, const group *g)
{
    int n = 0;
    for (int64_t i = 0; i < attn_corpus_count(c); i++) {
        attn_example e = attn_corpus_get(c, i);
        n += strcmp(e.word, g->word) == 0 && strcmp(e.sense, g->sense) == 0;
    }
    return n;
}

static void split(const attn_corpus *c, double fraction, uint64_t seed, attn_corpus **rest, attn_corpus **part)
{
    attn_error error = {.message = ""};
    *rest = attn_corpus_new(NULL);
    *part = attn_corpus_new(NULL);
    attn_status status = attn_corpus_split(c, fraction, seed, *rest, *part, &error);
    assert_string_equal(error.message, "");
    assert_int_equal(status, ATTN_OK);
}

static void every_sense_gives_its_share(void **state)
{
    (void)state;
    const double fractions[] = {0, 0.04, 0.1, 0.25, 0.5, 0.9, 0.999};
    const int wanted[][GROUPS] = {{0, 0, 0, 0, 0, 0},  {0, 0, 0, 0, 0, 2},  {1, 0, 0, 1, 0, 4}, {3, 0, 1, 2, 1, 10},
                                  {5, 0, 1, 4, 2, 20}, {9, 0, 1, 6, 3, 36}, {9, 0, 1, 6, 3, 39}};
    attn_corpus *c = mixed(), *rest, *part;
    for (size_t f = 0; f < sizeof fractions / sizeof fractions[0]; f++) {
        for (uint64_t seed = 0; seed < 5; seed++) {
            split(c, fractions[f], seed, &rest, &part);
            for (int g = 0; g < GROUPS; g++) {
                assert_int_equal(count_of(part, &groups[g]), wanted[f][g]);
                assert_int_equal(count_of(rest, &groups[g]), groups[g].size - wanted[f][g]);
            }
            attn_corpus_free(rest);
            attn_corpus_free(part);
        }
    }
    attn_corpus_free(c);
}

static void nothing_is_lost_or_twice_and_the_order_stays(void **state)
{
    (void)state;
    attn_corpus *c = mixed(), *rest, *part;
    split(c, 0.3, 8, &rest, &part);
    assert_int_equal(attn_corpus_count(rest) + attn_corpus_count(part), ALL);
    int64_t r = 0, p = 0;
    for (int i = 0; i < ALL; i++) { /* merging the two gives 0, 1, 2, ... */
        if (r < attn_corpus_count(rest) && number_of(rest, r) == i) {
            r++;
        } else {
            assert_true(p < attn_corpus_count(part));
            assert_int_equal(number_of(part, p++), i);
        }
    }
    attn_corpus_free(rest);
    attn_corpus_free(part);
    attn_corpus_free(c);
}

/* The same seed draws the same sentences; another seed others, and none is preferred. */
static void the_seed_decides(void **state)
{
    (void)state;
    enum { SEEDS = 400 };
    attn_corpus *c = mixed(), *rest, *part, *again;
    int drawn[ALL] = {0}, different = 0;
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        split(c, 0.25, seed, &rest, &part);
        attn_corpus_free(rest);
        split(c, 0.25, seed, &rest, &again);
        assert_int_equal(attn_corpus_count(part), attn_corpus_count(again));
        for (int64_t i = 0; i < attn_corpus_count(part); i++) {
            assert_int_equal(number_of(part, i), number_of(again, i));
            drawn[number_of(part, i)]++;
            different += number_of(part, i) != i;
        }
        attn_corpus_free(rest);
        attn_corpus_free(part);
        attn_corpus_free(again);
    }
    assert_true(different > 0);
    for (int64_t i = 0; i < ALL; i++) {
        attn_example e = attn_corpus_get(c, i);
        for (int g = 0; g < GROUPS; g++) {
            if (strcmp(e.word, groups[g].word) == 0 && strcmp(e.sense, groups[g].sense) == 0) {
                const int wanted[] = {3, 0, 1, 2, 1, 10};
                double share = (double)wanted[g] / groups[g].size, deviation = sqrt(SEEDS * share * (1 - share));
                assert_close(drawn[i], SEEDS * share, 0, 4.5 * deviation);
            }
        }
    }
    attn_corpus_free(c);
}

/* Messages about held-out sentences shall still name the file that they came from. */
static void files_and_lines_stay(void **state)
{
    (void)state;
    put_text("test_corpus_split.a.tsv", "one\t0\tbank a\n\none\t0\tbank b\ntwo\t0\tbank c\n");
    put_text("test_corpus_split.b.tsv", "one\t0\tbank d\ntwo\t0\tbank e\n");
    attn_corpus *c = attn_corpus_new(NULL), *rest, *part;
    assert_int_equal(attn_corpus_read(c, "test_corpus_split.a.tsv", "", NULL), ATTN_OK);
    assert_int_equal(attn_corpus_read(c, "test_corpus_split.b.tsv", "", NULL), ATTN_OK);
    split(c, 0.5, 1, &rest, &part);
    attn_corpus_free(c); /* the two own what they need */
    const attn_corpus *const both[] = {rest, part};
    for (int k = 0; k < 2; k++) {
        assert_true(attn_corpus_count(both[k]) >= 2);
        for (int64_t i = 0; i < attn_corpus_count(both[k]); i++) {
            attn_example e = attn_corpus_get(both[k], i);
            bool second = e.tokens[1][0] > 'c';
            assert_string_equal(e.file, second ? "test_corpus_split.b.tsv" : "test_corpus_split.a.tsv");
            const int64_t lines[] = {1, 3, 4, 1, 2};
            assert_int_equal(e.line, lines[e.tokens[1][0] - 'a']);
        }
    }
    attn_corpus_free(rest);
    attn_corpus_free(part);
    assert_int_equal(remove("test_corpus_split.a.tsv") + remove("test_corpus_split.b.tsv"), 0);
}

static void parts_are_appended_to(void **state)
{
    (void)state;
    attn_corpus *c = mixed(), *rest = attn_corpus_new(NULL), *part = attn_corpus_new(NULL);
    assert_int_equal(add_sentence(part, "x", 1, "the word 99"), ATTN_OK);
    assert_int_equal(attn_corpus_split(c, 0, 0, rest, part, NULL), ATTN_OK);
    assert_int_equal(attn_corpus_count(part), 1);
    assert_int_equal(attn_corpus_count(rest), ALL);
    assert_int_equal(attn_corpus_split(c, 0.5, 0, rest, part, NULL), ATTN_OK);
    assert_int_equal(attn_corpus_count(part), 1 + 32);
    assert_int_equal(attn_corpus_count(rest), ALL + ALL - 32);
    attn_corpus *empty = attn_corpus_new(NULL);
    assert_int_equal(attn_corpus_split(empty, 0.5, 0, rest, part, NULL), ATTN_OK);
    assert_int_equal(attn_corpus_count(part), 33);
    attn_corpus_free(empty);
    attn_corpus_free(rest);
    attn_corpus_free(part);
    attn_corpus_free(c);
}

static void fractions_out_of_range_are_refused(void **state)
{
    (void)state;
    attn_error error;
    attn_corpus *c = mixed(), *rest = attn_corpus_new(NULL), *part = attn_corpus_new(NULL);
    assert_int_equal(attn_corpus_split(c, 1, 0, rest, part, &error), ATTN_EINVAL);
    assert_string_equal(error.message, "fraction 1, expected 0 <= fraction < 1");
    assert_int_equal(attn_corpus_split(c, -0.1, 0, rest, part, &error), ATTN_EINVAL);
    assert_int_equal(attn_corpus_split(c, NAN, 0, rest, part, &error), ATTN_EINVAL);
    assert_int_equal(attn_corpus_count(rest) + attn_corpus_count(part), 0);
    attn_corpus_free(rest);
    attn_corpus_free(part);
    attn_corpus_free(c);
}

/* Any of the three corpora may run out of memory. */
static void memory_may_run_out(void **state)
{
    (void)state;
    attn_status status = ATTN_ENOMEM;
    long k = 0;
    while (status != ATTN_OK && k < 300) {
        counting_allocator a;
        counting_init(&a, ++k);
        attn_corpus *c = tiny_corpus(&a.value), *rest = attn_corpus_new(&a.value), *part = attn_corpus_new(&a.value);
        attn_error error = {.status = ATTN_OK};
        status = c != NULL && rest != NULL && part != NULL ? attn_corpus_split(c, 0.4, 1, rest, part, &error) : ATTN_ENOMEM;
        assert_true(status == ATTN_OK || status == ATTN_ENOMEM);
        assert_true(error.status == ATTN_OK || strstr(error.message, "out of memory") != NULL);
        attn_corpus_free(c);
        attn_corpus_free(rest);
        attn_corpus_free(part);
        assert_int_equal(a.live, 0);
    }
    assert_true(k > 8 && k < 300);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_sense_gives_its_share),
        cmocka_unit_test(nothing_is_lost_or_twice_and_the_order_stays),
        cmocka_unit_test(the_seed_decides),
        cmocka_unit_test(files_and_lines_stay),
        cmocka_unit_test(parts_are_appended_to),
        cmocka_unit_test(fractions_out_of_range_are_refused),
        cmocka_unit_test(memory_may_run_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* The rules of the corpora in data/ (see its README), checked with the library's own reader. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/check.h"

#include "attn/corpus.h"

#define MAX_TOKENS 30

/* Training and test sentences of one language. */
typedef struct language {
    attn_example *rows;
    int n, n_train; /* the training sentences come first */
    attn_corpus *train, *test;
} language;

static attn_corpus *open_corpus(const char *name, const char *split)
{
    char path[1024];
    attn_error error = {0};
    attn_corpus *c = attn_corpus_new(NULL);
    (void)snprintf(path, sizeof path, ATTN_SOURCE_DIR "/data/%s.%s.tsv", name, split);
    if (attn_corpus_read(c, path, NULL, &error) != ATTN_OK) {
        print_error("%s\n", error.message);
        fail();
    }
    assert_int_equal(attn_corpus_blank_lines(c), 0);
    return c;
}

static void open_language(language *l, const char *name)
{
    l->train = open_corpus(name, "train");
    l->test = open_corpus(name, "test");
    l->n_train = (int)attn_corpus_count(l->train);
    l->n = l->n_train + (int)attn_corpus_count(l->test);
    l->rows = calloc((size_t)l->n, sizeof *l->rows);
    assert_non_null(l->rows);
    for (int i = 0; i < l->n; i++) {
        l->rows[i] = i < l->n_train ? attn_corpus_get(l->train, i) : attn_corpus_get(l->test, i - l->n_train);
    }
}

static void close_language(language *l)
{
    free(l->rows);
    attn_corpus_free(l->train);
    attn_corpus_free(l->test);
}

/* Runs a check of one sentence on all sentences of both languages; prints the sentences that break the rule. */
static void check_rows(bool (*holds)(const language *l, int row), bool only_test)
{
    const char *names[] = {"zh", "en"};
    int broken = 0;
    for (int k = 0; k < 2; k++) {
        language l;
        open_language(&l, names[k]);
        for (int i = only_test ? l.n_train : 0; i < l.n; i++) {
            if (!holds(&l, i)) {
                print_error("%s:%lld breaks the rule\n", l.rows[i].file, (long long)l.rows[i].line);
                broken++;
            }
        }
        close_language(&l);
    }
    assert_int_equal(broken, 0);
}

static bool same(const char *a, const char *b)
{
    return strcmp(a, b) == 0;
}

static bool contains(const attn_example *e, const char *token)
{
    for (int i = 0; i < e->length; i++) {
        if (same(e->tokens[i], token)) {
            return true;
        }
    }
    return false;
}

/* ---- form ---- */

/* The label is WORD_..., the word occurs once, tokens are words in lower case without punctuation, the length is reasonable. */
static bool is_well_formed(const language *l, int row)
{
    const attn_example *e = &l->rows[row];
    size_t size = strlen(e->word);
    int times = 0;
    bool plain = true;
    for (int i = 0; i < e->length; i++) {
        times += same(e->tokens[i], e->word);
        for (const char *at = e->tokens[i]; *at != '\0'; at++) {
            bool ascii = (unsigned char)*at < 0x80, letter = *at >= 'a' && *at <= 'z', digit = *at >= '0' && *at <= '9';
            plain = plain && (!ascii || letter || digit || same(e->tokens[i], "U盘"));
        }
    }
    return strncmp(e->sense, e->word, size) == 0 && e->sense[size] == '_' && e->sense[size + 1] != '\0' && times == 1 && plain &&
           e->length >= 5 && e->length <= MAX_TOKENS;
}

static void sentences_are_well_formed(void **state)
{
    (void)state;
    check_rows(is_well_formed, false);
}

/* ---- numbers ---- */

static int count_sense(const language *l, int begin, int end, const char *sense)
{
    int count = 0;
    for (int i = begin; i < end; i++) {
        count += same(l->rows[i].sense, sense);
    }
    return count;
}

static void words_and_senses_are_many_enough(void **state)
{
    (void)state;
    const char *names[] = {"zh", "en"};
    for (int k = 0; k < 2; k++) {
        language l;
        open_language(&l, names[k]);
        int words = 0, senses = 0;
        for (int i = 0; i < l.n; i++) {
            bool new_word = true, new_sense = true;
            for (int j = 0; j < i; j++) {
                new_word = new_word && !same(l.rows[j].word, l.rows[i].word);
                new_sense = new_sense && !same(l.rows[j].sense, l.rows[i].sense);
            }
            words += new_word;
            senses += new_sense;
            if (new_sense) {
                assert_true(count_sense(&l, 0, l.n_train, l.rows[i].sense) >= 20);
                assert_true(count_sense(&l, l.n_train, l.n, l.rows[i].sense) >= 6);
            }
        }
        assert_true(words >= 12);
        assert_true(senses >= 2 * words);
        close_language(&l);
    }
}

/* ---- what can be learned ---- */

/* A context word that more training sentences of its sense hold than of the word's other senses together. */
static bool has_a_telling_word(const language *l, int row)
{
    const attn_example *e = &l->rows[row];
    for (int i = 0; i < e->length; i++) {
        int own = 0, other = 0;
        for (int k = 0; i != e->target && k < l->n_train; k++) {
            const attn_example *t = &l->rows[k];
            if (same(t->word, e->word) && contains(t, e->tokens[i])) {
                *(same(t->sense, e->sense) ? &own : &other) += 1;
            }
        }
        if (own > other) {
            return true;
        }
    }
    return false;
}

static void test_sentences_have_a_telling_word(void **state)
{
    (void)state;
    check_rows(has_a_telling_word, true);
}

/* ---- no copies ---- */

static int edit_distance(const attn_example *a, const attn_example *b)
{
    int d[MAX_TOKENS + 1];
    for (int k = 0; k <= b->length; k++) {
        d[k] = k;
    }
    for (int i = 1; i <= a->length; i++) {
        int diagonal = d[0];
        d[0] = i;
        for (int k = 1; k <= b->length; k++) {
            int replaced = diagonal + !same(a->tokens[i - 1], b->tokens[k - 1]);
            int shorter = d[k] < d[k - 1] ? d[k] + 1 : d[k - 1] + 1;
            diagonal = d[k];
            d[k] = replaced < shorter ? replaced : shorter;
        }
    }
    return d[b->length];
}

static bool is_far_from_training(const language *l, int row)
{
    const attn_example *e = &l->rows[row];
    int least = e->length > 6 ? (e->length + 1) / 2 : 3;
    for (int k = 0; k < l->n_train; k++) {
        if (same(l->rows[k].word, e->word) && edit_distance(e, &l->rows[k]) < least) {
            return false;
        }
    }
    return true;
}

static void test_sentences_are_far_from_training(void **state)
{
    (void)state;
    check_rows(is_far_from_training, true);
}

static bool is_new(const language *l, int row)
{
    for (int k = 0; k < row; k++) {
        if (l->rows[k].length == l->rows[row].length && edit_distance(&l->rows[k], &l->rows[row]) == 0) {
            return false;
        }
    }
    return true;
}

static void no_sentence_is_repeated(void **state)
{
    (void)state;
    check_rows(is_new, false);
}

static bool contains_four(const attn_example *e, const char *const *four)
{
    for (int i = 0; i + 4 <= e->length; i++) {
        if (same(e->tokens[i], four[0]) && same(e->tokens[i + 1], four[1]) && same(e->tokens[i + 2], four[2]) &&
            same(e->tokens[i + 3], four[3])) {
            return true;
        }
    }
    return false;
}

/* No four words in a row stand in more than three sentences of a word. */
static bool is_no_template(const language *l, int row)
{
    const attn_example *e = &l->rows[row];
    for (int i = 0; i + 4 <= e->length; i++) {
        int sentences = 0;
        for (int k = 0; k < l->n; k++) {
            sentences += same(l->rows[k].word, e->word) && contains_four(&l->rows[k], e->tokens + i);
        }
        if (sentences > 3) {
            return false;
        }
    }
    return true;
}

static void sentences_follow_no_template(void **state)
{
    (void)state;
    check_rows(is_no_template, false);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sentences_are_well_formed),
        cmocka_unit_test(words_and_senses_are_many_enough),
        cmocka_unit_test(test_sentences_have_a_telling_word),
        cmocka_unit_test(test_sentences_are_far_from_training),
        cmocka_unit_test(no_sentence_is_repeated),
        cmocka_unit_test(sentences_follow_no_template),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Real data in the folder layout, where it is at hand. */
#include <stdio.h>
#include <string.h>

#include "support/datasets.h"

#include "attn/corpus.h"

/* Examples of one split of a word, in counts[] those of each of `n` senses. Up to `strays` of them may have an index that shows another
 * word. */
static int64_t count_split(const char *root, const char *word, const char *split, int strays, const char *const *senses, int64_t *counts,
                           int n)
{
    char path[1200];
    (void)snprintf(path, sizeof path, "%s/%s", root, word);
    attn_error error = {0};
    attn_corpus *c = attn_corpus_new(NULL);
    if (attn_corpus_read(c, path, split, &error) != ATTN_OK) {
        print_error("%s\n", error.message);
        fail();
    }
    for (int64_t i = 0; i < attn_corpus_count(c); i++) {
        attn_example e = attn_corpus_get(c, i);
        strays -= strcmp(e.word, word) != 0;
        assert_int_equal(e.line, i + 1);
        for (int k = 0; k < n; k++) {
            counts[k] += strcmp(e.sense, senses[k]) == 0;
        }
    }
    assert_true(strays >= 0);
    assert_int_equal(attn_corpus_blank_lines(c), 0);
    int64_t count = attn_corpus_count(c);
    attn_corpus_free(c);
    return count;
}

static void all_words_of_coarsewsd20(void **state)
{
    (void)state;
    static const struct {
        const char *word;
        int train, test;
    } words[] = {
        {"apple", 2358, 1032}, {"arm", 423, 164},     {"bank", 1107, 455},  {"bass", 3173, 1391},    {"bow", 523, 215},
        {"chair", 271, 130},   {"club", 388, 202},    {"crane", 372, 157},  {"deck", 170, 99},       {"digit", 68, 42},
        {"hood", 171, 82},     {"java", 4504, 1929},  {"mole", 480, 206},   {"pitcher", 6421, 2819}, {"pound", 186, 97},
        {"seal", 875, 363},    {"spring", 1064, 457}, {"square", 508, 207}, {"trunk", 164, 77},      {"yard", 144, 72},
    };
    char root[1024];
    need_dataset(root, "coarsewsd20/CoarseWSD-20");
    int64_t train = 0, test = 0;
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        int64_t n = count_split(root, words[i].word, "train", 0, NULL, NULL, 0),
                m = count_split(root, words[i].word, "test", 0, NULL, NULL, 0);
        assert_int_equal(n, words[i].train);
        assert_int_equal(m, words[i].test);
        train += n;
        test += m;
    }
    assert_int_equal(train, 23370);
    assert_int_equal(test, 10196);
}

static void senses_of_three_words_of_coarsewsd20(void **state)
{
    (void)state;
    char root[1024];
    need_dataset(root, "coarsewsd20/CoarseWSD-20");
    const char *apple[] = {"apple_apple_inc.", "apple_apple"};
    const char *bank[] = {"bank_bank", "bank_bank_(geography)"};
    const char *seal[] = {"seal_pinniped", "seal_seal_(musician)", "seal_seal_(emblem)", "seal_seal_(mechanical)"}; /* CRLF gold file */
    const int64_t apple_train[] = {1466, 892}, apple_test[] = {634, 398}, bank_train[] = {1061, 46}, bank_test[] = {433, 22};
    const int64_t seal_train[] = {305, 267, 265, 38}, seal_test[] = {131, 106, 114, 12};
    const struct {
        const char *word, *split, *const *senses;
        const int64_t *expected;
        int n;
    } cases[] = {
        {"apple", "train", apple, apple_train, 2}, {"apple", "test", apple, apple_test, 2}, {"bank", "train", bank, bank_train, 2},
        {"bank", "test", bank, bank_test, 2},      {"seal", "train", seal, seal_train, 4},  {"seal", "test", seal, seal_test, 4},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        int64_t counts[4] = {0};
        count_split(root, cases[i].word, cases[i].split, 0, cases[i].senses, counts, cases[i].n);
        for (int k = 0; k < cases[i].n; k++) {
            assert_int_equal(counts[k], cases[i].expected[k]);
        }
    }
}

static void all_words_of_zh_wiki_msw(void **state)
{
    (void)state;
    static const struct {
        const char *word;
        int train, test;
    } words[] = {
        {"太陽", 245, 121}, {"毒液", 38, 18}, {"葡萄", 57, 28},  {"蘋果", 412, 204},
        {"記憶", 153, 76},  {"象棋", 96, 47}, {"足球", 182, 89}, {"金星", 143, 68},
    };
    char root[1024];
    need_dataset(root, "zh_wiki_msw/derived");
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        int strays = strcmp(words[i].word, "金星") == 0; /* the index of its line 142 counts words that are a full-width space */
        assert_int_equal(count_split(root, words[i].word, "train", strays, NULL, NULL, 0), words[i].train);
        assert_int_equal(count_split(root, words[i].word, "test", 0, NULL, NULL, 0), words[i].test);
    }
    const char *senses[] = {"報紙", "公司", "main", "電影"};
    const int64_t expected[] = {324, 187, 98, 7};
    int64_t counts[4] = {0};
    count_split(root, "蘋果", "train", 0, senses, counts, 4);
    count_split(root, "蘋果", "test", 0, senses, counts, 4);
    for (int k = 0; k < 4; k++) {
        assert_int_equal(counts[k], expected[k]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_words_of_coarsewsd20),
        cmocka_unit_test(senses_of_three_words_of_coarsewsd20),
        cmocka_unit_test(all_words_of_zh_wiki_msw),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

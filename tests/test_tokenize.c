/* Raw text as the tokens that a model was trained on. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/senses.h"

/* A model, not trained, whose vocabulary is the words of these sentences; the first word of each is ambiguous. */
static attn_word_sense *model_of(const char *const sentences[], int n, const char *const senses[])
{
    attn_corpus *c = attn_corpus_new(NULL);
    assert_non_null(c);
    for (int i = 0; i < n; i++) {
        assert_int_equal(add_sentence(c, senses[i], 0, sentences[i]), ATTN_OK);
    }
    attn_word_sense *m = new_model(c, tiny_config());
    attn_corpus_free(c);
    return m;
}

static const char *const two[] = {"a", "b"};

/* Words as Penn Treebank tools write them. */
static attn_word_sense *penn(void)
{
    static const char *const sentences[] = {"bank , . ; : ! ? ( ) '' -- - ... 's n't 're ' $ % & the of it is not ca do can officials u.s. "
                                            "st. etc. yahoo! c++ c# at&t 1,000 10",
                                            "bank -lcb- -rcb- o'clock right-handed wait said over apple tree they ' he left 'd ..... i no"};
    return model_of(sentences, 2, two);
}

static attn_word_sense *chinese(void)
{
    static const char *const sentences[] = {"苹果 发布 了 新 手机 ， 。 2010年 T恤 …… 苹果树 山东 西部 在 ( )",
                                            "苹果 很 好 吃 我 爱 天气 今天 东西"};
    return model_of(sentences, 2, two);
}

/* "a|b|c", or the message of the error. */
static void check_tokens(const attn_word_sense *m, attn_tokenization how, const char *word, const char *text, const char *expected,
                         int line)
{
    attn_corpus *c = attn_corpus_new(NULL);
    attn_error error = {.message = ""};
    attn_example e;
    char got[4096] = "";
    assert_non_null(c);
    if (attn_tokenize(m, c, text, how, word, &e, &error) == ATTN_OK) {
        assert_int_equal(e.target, -1);
        assert_string_equal(e.word, "");
        assert_string_equal(e.sense, "");
        for (int i = 0; i < e.length; i++) {
            (void)strcat(strcat(got, i > 0 ? "|" : ""), e.tokens[i]);
        }
    } else {
        assert_int_equal(error.status, ATTN_EFORMAT);
        (void)strcat(got, error.message);
    }
    attn_corpus_free(c);
    if (strcmp(got, expected) != 0) {
        print_error("%s\n  gives    %s\n  expected %s\n", text, got, expected);
        _fail(__FILE__, line);
    }
}

#define SPACES(m, text, expected)      check_tokens((m), ATTN_TOKENIZE_SPACES, NULL, (text), (expected), __LINE__)
#define WORDS(m, text, expected)       check_tokens((m), ATTN_TOKENIZE_WORDS, NULL, (text), (expected), __LINE__)
#define CHARS(m, text, expected)       check_tokens((m), ATTN_TOKENIZE_CHARS, NULL, (text), (expected), __LINE__)
#define AUTO(m, text, expected)        check_tokens((m), ATTN_TOKENIZE_AUTO, NULL, (text), (expected), __LINE__)
#define ABOUT(m, word, text, expected) check_tokens((m), ATTN_TOKENIZE_AUTO, (word), (text), (expected), __LINE__)

static void spaces_change_nothing(void **state)
{
    (void)state;
    attn_word_sense *m = penn();
    SPACES(m, "The Bank's  \"door\"\t.\r\n", "The|Bank's|\"door\"|.");
    SPACES(m,
           "a\xC2\xA0"
           "b \xE3\x80\x80中国",
           "a\xC2\xA0"
           "b|\xE3\x80\x80中国"); /* other white space is a part of words */
    SPACES(m, " \t ", "a sentence without a word");
    SPACES(m, "a \xE4\xB8 b", "broken UTF-8 at byte 2 of the sentence (0xE4), expected UTF-8");
    attn_word_sense_free(m);
}

static void marks_are_tokens(void **state)
{
    (void)state;
    attn_word_sense *m = penn();
    WORDS(m, "The bank, of (it); is: over!", "the|bank|,|of|(|it|)|;|is|:|over|!");
    WORDS(m, "He said: \"Bank.\"", "he|said|:|''|bank|.|''");
    WORDS(m, "\xE2\x80\x9CIt is\xE2\x80\x9D, he said.", "''|it|is|''|,|he|said|.");
    WORDS(m, "it\xE2\x80\x94is -- over - wait\xE2\x80\x93no", "it|--|is|--|over|-|wait|--|no");
    WORDS(m, "wait... no\xE2\x80\xA6 it....", "wait|...|no|...|it|...");
    WORDS(m, "it.....", "it|.....");
    WORDS(m, "10:10 costs $1,000 or 10%", "10|:|10|costs|$|1,000|or|10|%");
    WORDS(m, "no,it;is", "no|,|it|;|is");
    WORDS(m, "{it}", "-lcb-|it|-rcb-");
    WORDS(m, "it~ \xF0\x9F\x8D\x8E! #no", "it|!|no"); /* marks that the training text does not have are left out */
    WORDS(m, "-10 .5 +10 '90s it's- 'it'", "-10|.5|+10|'90s|it|'s|-|'|it|'");
    WORDS(m, "~ \xF0\x9F\x8D\x8E", "a sentence without a word");
    attn_word_sense_free(m);
}

static void words_of_the_vocabulary_stay_whole(void **state)
{
    (void)state;
    attn_word_sense *m = penn();
    WORDS(m, "U.S. officials of St. Bank's Yahoo!, C++, C# (AT&T)!", "u.s.|officials|of|st.|bank|'s|yahoo!|,|c++|,|c#|(|at&t|)|!");
    WORDS(m,
          "right-handed o'clock O\xE2\x80\x99"
          "CLOCK",
          "right-handed|o'clock|o'clock");
    WORDS(m, "2,000 and 37", "2,000|and|37"); /* digits are alike: 1,000 and 10 */
    WORDS(m, "no, etc.", "no|,|etc.|.");      /* the full stop of the sentence too */
    WORDS(m, "etc. and U.S.A. went. Left.", "etc.|and|u.s.a.|went|.|left|.");
    WORDS(m, "http://www.apple.com/a?b=(c), no", "http://www.apple.com/a?b=(c|)|,|no");
    attn_word_sense_free(m);
}

static void clitics(void **state)
{
    (void)state;
    attn_word_sense *m = penn();
    WORDS(m, "It's the bank\xE2\x80\x99s: they're", "it|'s|the|bank|'s|:|they|'re");
    WORDS(m, "He'd can't don't cannot didn\xE2\x80\x99t", "he|'d|ca|n't|do|n't|can|not|did|n't");
    WORDS(m, "they'll", "they"); /* 'll is unknown */
    WORDS(m, "the dogs' bank", "the|dogs|'|bank");
    WORDS(m, "'s n't", "'s|n't");
    attn_word_sense_free(m);
}

/* Training text without marks: the words alone. */
/* Emoji are left out with all that they are made of; controls of direction are no part of a word. */
static void invisible_characters(void **state)
{
    (void)state;
    attn_word_sense *m = penn(), *zh = chinese();
    WORDS(m, "the 👩‍👩‍👧‍👦 bank", "the|bank");
    WORDS(m, "the bank❤️ is 👍🏽 not 🏳️‍🌈", "the|bank|is|not");
    WORDS(m, "\u200ethe\u200f \u2067bank\u2069.", "the|bank|.");
    WORDS(m, "e\u0301te\u0301 bank", "e\u0301te\u0301|bank");
    CHARS(zh, "我爱❤️苹果👩‍👧", "我|爱|苹果");
    SPACES(m, "the ❤️ bank", "the|❤️|bank");
    attn_word_sense_free(zh);
    attn_word_sense_free(m);
}

static void text_without_marks(void **state)
{
    static const char *const sentences[] = {"bank of the river", "bank cannot lend to a shop"};
    (void)state;
    attn_word_sense *m = model_of(sentences, 2, two);
    AUTO(m, "The bank's shop: \"lend\" (to, of...) a river.", "the|bank|shop|lend|to|of|a|river");
    AUTO(m, "the bank cannot lend", "the|bank|cannot|lend");
    AUTO(m, "it can't and cannot, bank", "it|can't|and|cannot|bank");
    attn_word_sense_free(m);
}

/* What the training text writes with capitals is not made small. */
static void text_with_capitals(void **state)
{
    static const char *const sentences[] = {"Bank of England .", "Bank in the North of the Bank , Inc."};
    (void)state;
    attn_word_sense *m = model_of(sentences, 2, two);
    WORDS(m, "The Bank of England, INC. In THE North.", "the|Bank|of|England|,|inc|.|in|the|North|.");
    WORDS(m, "\xC3\x89TIENNE \xD0\x91\xD0\x90\xD0\x9D\xD0\x9A", "\xC3\xA9tienne|\xD0\xB1\xD0\xB0\xD0\xBD\xD0\xBA");
    attn_word_sense_free(m);
}

static void white_space_of_unicode(void **state)
{
    (void)state;
    attn_word_sense *m = penn();
    WORDS(m,
          "\xEF\xBB\xBFThe\xC2\xA0"
          "bank\xE3\x80\x80is\xE2\x80\x8Bover\xE2\x80\xA8no\x0B",
          "the|bank|is|over|no");
    WORDS(m, "ba\xC2\xADnk", "bank"); /* a soft hyphen is no character */
    WORDS(m, "The bank.\r\n", "the|bank|.");
    attn_word_sense_free(m);
}

static void longest_match(void **state)
{
    (void)state;
    attn_word_sense *m = chinese();
    CHARS(m, "苹果发布了新手机。", "苹果|发布|了|新|手机|。");
    CHARS(m, "我爱苹果，很好吃……", "我|爱|苹果|，|很|好|吃|……");
    CHARS(m, "山东西部", "山东|西部");                   /* not 东西 */
    CHARS(m, "在2012年我爱T恤", "在|2012年|我|爱|T恤");  /* digits are alike; words with letters */
    CHARS(m, "我爱葡萄酒和苹果", "我|爱|葡萄酒和|苹果"); /* what is not known is one word */
    CHARS(m, "葡萄", "葡萄");
    CHARS(m, "新iPhone手机,3.5 (好)", "新|iphone|手机|，|3.5|(|好|)");
    CHARS(m, "今天 天气好", "今天|天气|好");
    CHARS(m, "e\xCC\x81 苹果", "e\xCC\x81|苹果");
    CHARS(m, "。", "。");
    CHARS(m, "Apple's", "apple"); /* no such script: as WORDS; 's is unknown */
    CHARS(m, "\xE0\xB8\x81\xE0\xB8\xB4\xE0\xB8\x99苹果", "\xE0\xB8\x81\xE0\xB8\xB4\xE0\xB8\x99|苹果"); /* Thai */
    attn_word_sense_free(m);
}

/* Forms of text that tell how it is to be read. */
static void auto_reads_what_it_sees(void **state)
{
    (void)state;
    attn_word_sense *m = penn(), *zh = chinese();
    AUTO(m, "The bank is over.", "the|bank|is|over|.");
    AUTO(m, "The bank is ODD-- , he said", "The|bank|is|ODD--|,|he|said"); /* a comma alone: was cut before */
    AUTO(m, "the bank 's Odd", "the|bank|'s|Odd");
    AUTO(m, "The BANK , it is", "the|bank|,|it|is"); /* but then no word is known */
    AUTO(m, "wait - the Bank", "wait|-|the|bank");   /* a dash alone tells nothing */
    AUTO(zh, "我爱苹果手机", "我|爱|苹果|手机");
    AUTO(zh, "我 最爱 苹果 手机~", "我|最爱|苹果|手机~");
    AUTO(zh, "今天最好 我爱苹果", "今天|最|好|我|爱|苹果");
    AUTO(zh, "我爱苹果， 很好", "我|爱|苹果|，|很|好");
    AUTO(zh, "最好", "最|好");
    AUTO(zh, "最 好 ,", "最|好|,");
    attn_word_sense_free(m);
    attn_word_sense_free(zh);
}

/* A word asked about by name is cut out of another one only if it stands nowhere alone. */
static void a_word_by_name(void **state)
{
    (void)state;
    attn_word_sense *m = penn(), *zh = chinese();
    ABOUT(m, "bank", "A bank-like bank", "a|bank-like|bank");
    ABOUT(m, "bank", "A Bank-like thing", "a|bank|-|like|thing");
    AUTO(m, "A Bank-like thing", "a|bank-like|thing");
    ABOUT(zh, "苹果", "我爱苹果树", "我|爱|苹果|树");
    AUTO(zh, "我爱苹果树", "我|爱|苹果树");
    ABOUT(zh, "苹果", "我爱苹果树和苹果", "我|爱|苹果树|和|苹果");
    ABOUT(zh, "东西", "山东西部", "山|东西|部");
    ABOUT(zh, "西部", "苹果在山东西部", "苹果|在|山东|西部");
    ABOUT(zh, "果", "苹果", "苹|果"); /* also one that the model does not know */
    attn_word_sense_free(m);
    attn_word_sense_free(zh);
}

/* Text that was cut as the training data is read as before, whatever it holds. */
static void training_text_stays(void **state)
{
    static const char *const files[] = {"zh", "en"};
    (void)state;
    for (int f = 0; f < 2; f++) {
        char path[600];
        attn_error error = {.message = ""};
        attn_corpus *train = attn_corpus_new(NULL), *all = attn_corpus_new(NULL), *c = attn_corpus_new(NULL);
        (void)snprintf(path, sizeof path, ATTN_SOURCE_DIR "/data/%s.train.tsv", files[f]);
        assert_int_equal(attn_corpus_read(train, path, "", &error), ATTN_OK);
        assert_int_equal(attn_corpus_read(all, path, "", &error), ATTN_OK);
        (void)snprintf(path, sizeof path, ATTN_SOURCE_DIR "/data/%s.test.tsv", files[f]);
        assert_int_equal(attn_corpus_read(all, path, "", &error), ATTN_OK);
        attn_word_sense *m = new_model(train, tiny_config());
        for (int64_t i = 0; i < attn_corpus_count(all); i++) {
            attn_example e = attn_corpus_get(all, i), got;
            char text[2000] = "";
            for (int j = 0; j < e.length; j++) {
                (void)strcat(strcat(text, j > 0 ? " " : ""), e.tokens[j]);
            }
            for (attn_tokenization how = ATTN_TOKENIZE_AUTO; how <= ATTN_TOKENIZE_SPACES; how++) {
                attn_corpus_clear(c);
                assert_int_equal(attn_tokenize(m, c, text, how, NULL, &got, &error), ATTN_OK);
                assert_int_equal(got.length, e.length);
                for (int j = 0; j < e.length; j++) {
                    assert_string_equal(got.tokens[j], e.tokens[j]);
                }
            }
        }
        assert_int_equal(attn_corpus_count(all), 816);
        attn_word_sense_free(m);
        attn_corpus_free(train);
        attn_corpus_free(all);
        attn_corpus_free(c);
    }
}

/* Long lines, with and without a space. */
static void long_lines(void **state)
{
    enum { TIMES = 20000 };
    static const char *const pieces[] = {"苹果", "!!?", "bank ", "\xE6\x9C\xAA", "a", "U.S. "};
    static const int tokens[] = {TIMES, 0, TIMES, 1, 1, TIMES + 1};
    (void)state;
    attn_word_sense *m = chinese();
    attn_corpus *c = attn_corpus_new(NULL);
    for (size_t p = 0; p < sizeof pieces / sizeof pieces[0]; p++) {
        size_t size = strlen(pieces[p]);
        char *text = malloc(size * TIMES + 1);
        assert_non_null(text);
        for (size_t i = 0; i < TIMES; i++) {
            memcpy(text + i * size, pieces[p], size + 1);
        }
        attn_example e = {.length = 0};
        attn_status status = attn_tokenize(m, c, text, ATTN_TOKENIZE_CHARS, NULL, &e, NULL);
        assert_int_equal(status, tokens[p] > 0 ? ATTN_OK : ATTN_EFORMAT);
        assert_int_equal(e.length, tokens[p]);
        attn_corpus_clear(c);
        free(text);
    }
    attn_corpus_free(c);
    attn_word_sense_free(m);
}

/* Any bytes: tokens of valid UTF-8 without white space, or an error; a second reading of the tokens as they stand gives the same. */
static void any_bytes(void **state)
{
    static const char *const alphabet[] = {"a",
                                           "B",
                                           "bank",
                                           "苹果",
                                           "果",
                                           " ",
                                           ".",
                                           "-",
                                           "'",
                                           "\"",
                                           "s",
                                           "n't",
                                           ",",
                                           "1",
                                           "\xC2\xA0",
                                           "\xE2\x80\x94",
                                           "\xCC\x81",
                                           "\xF0\x9F\x8D\x8E",
                                           "/",
                                           "+",
                                           "#",
                                           "(",
                                           "\xE3\x80\x80",
                                           "\xE2\x80\x99",
                                           "……",
                                           "://",
                                           "\xE4\xB8",
                                           "\t"};
    enum { LETTERS = sizeof alphabet / sizeof alphabet[0] };
    (void)state;
    attn_word_sense *models[] = {penn(), chinese()};
    attn_corpus *c = attn_corpus_new(NULL);
    unsigned seed = 1;
    for (int round = 0; round < 20000; round++) {
        char text[400] = "";
        for (int n = round % 24; n >= 0; n--) {
            seed = seed * 1664525u + 1013904223u;
            (void)strcat(text, alphabet[(seed >> 16) % LETTERS]);
        }
        attn_example e;
        attn_error error = {.message = ""};
        attn_corpus_clear(c);
        const char *word = round % 3 == 0 ? "bank" : round % 3 == 1 ? "苹果" : NULL;
        if (attn_tokenize(models[round % 2], c, text, (attn_tokenization)(round / 2 % 4), word, &e, &error) != ATTN_OK) {
            assert_int_equal(error.status, ATTN_EFORMAT);
            continue;
        }
        assert_true(e.length > 0);
        for (int i = 0; i < e.length; i++) {
            assert_int_equal(attn_utf8_fault(e.tokens[i], strlen(e.tokens[i])), -1);
            assert_true(e.tokens[i][0] != '\0' && strpbrk(e.tokens[i], " \t") == NULL);
        }
    }
    attn_corpus_free(c);
    attn_word_sense_free(models[0]);
    attn_word_sense_free(models[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(spaces_change_nothing),
        cmocka_unit_test(marks_are_tokens),
        cmocka_unit_test(words_of_the_vocabulary_stay_whole),
        cmocka_unit_test(clitics),
        cmocka_unit_test(invisible_characters),
        cmocka_unit_test(text_without_marks),
        cmocka_unit_test(text_with_capitals),
        cmocka_unit_test(white_space_of_unicode),
        cmocka_unit_test(longest_match),
        cmocka_unit_test(auto_reads_what_it_sees),
        cmocka_unit_test(a_word_by_name),
        cmocka_unit_test(training_text_stays),
        cmocka_unit_test(long_lines),
        cmocka_unit_test(any_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

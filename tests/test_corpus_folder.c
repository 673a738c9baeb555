/* The folder layout of CoarseWSD-20. */
#include <unistd.h>

#include "support/disk.h"
#include "support/files.h"

#include "attn/corpus.h"

#define DIR  "corpus_folder"
#define DATA DIR "/train.data.txt"
#define GOLD DIR "/train.gold.txt"
#define MAP  DIR "/classes_map.txt"

static void put_split(const char *data, const char *gold, const char *map)
{
    fresh_folder(DIR);
    put_text(DATA, data);
    put_text(GOLD, gold);
    put_text(MAP, map);
}

#define TWO "{\"0\": \"apple_inc.\", \"1\": \"apple fruit\"}"

static attn_corpus *read_split(const char *data, const char *gold, const char *map)
{
    attn_error error = {0};
    attn_corpus *c = attn_corpus_new(NULL);
    put_split(data, gold, map);
    if (attn_corpus_read(c, DIR, "train", &error) != ATTN_OK) {
        print_error("%s\n", error.message);
        fail();
    }
    return c;
}

static void check_fails(const char *data, const char *gold, const char *map, const char *message)
{
    const char *tokens[] = {"old"};
    attn_error error = {0};
    attn_corpus *c = attn_corpus_new(NULL);
    assert_int_equal(attn_corpus_add(c, tokens, 1, 0, "s", &error), ATTN_OK);
    put_split(data, gold, map);
    assert_int_equal(attn_corpus_read(c, DIR, "train", &error), ATTN_EFORMAT);
    assert_string_equal(error.message, message);
    assert_int_equal(attn_corpus_count(c), 1);
    assert_int_equal(attn_corpus_blank_lines(c), 0);
    assert_string_equal(attn_corpus_first_blank(c), "");
    attn_corpus_free(c);
}

static void three_files_make_examples(void **state)
{
    (void)state;
    attn_corpus *c = read_split("1\tan apple a day\n0\tapple sells phones", "1\n0", TWO);
    assert_int_equal(attn_corpus_count(c), 2);
    attn_example e = attn_corpus_get(c, 0);
    assert_string_equal(e.sense, "apple fruit");
    assert_string_equal(e.word, "apple");
    assert_int_equal(e.target, 1);
    assert_int_equal(e.length, 4);
    assert_string_equal(e.tokens[3], "day");
    assert_string_equal(e.file, DATA);
    assert_int_equal(e.line, 1);
    e = attn_corpus_get(c, 1);
    assert_string_equal(e.sense, "apple_inc.");
    assert_string_equal(e.tokens[2], "phones"); /* the last line has no end */
    assert_int_equal(e.line, 2);
    attn_error error;
    assert_int_equal(attn_corpus_read(c, DIR "/", "train", &error), ATTN_OK);
    assert_string_equal(attn_corpus_get(c, 3).file, DATA);
    attn_corpus_free(c);
}

/* CRLF in either file, a byte-order mark in each, a missing last line end. */
static void line_ends_and_marks_make_no_difference(void **state)
{
    (void)state;
    attn_corpus *c = read_split("\xEF\xBB\xBF"
                                "0\tapple\r\n0\tapple pie",
                                "\xEF\xBB\xBF"
                                "1\r\n0\r\n",
                                "\xEF\xBB\xBF" TWO "\r\n");
    assert_int_equal(attn_corpus_count(c), 2);
    assert_string_equal(attn_corpus_get(c, 0).sense, "apple fruit");
    assert_int_equal(attn_corpus_get(c, 0).length, 1);
    assert_string_equal(attn_corpus_get(c, 0).word, "apple");
    assert_string_equal(attn_corpus_get(c, 1).sense, "apple_inc.");
    assert_string_equal(attn_corpus_get(c, 1).tokens[1], "pie");
    attn_corpus_free(c);
}

/* Every white space of Unicode, one or two at a time; what only looks like one does not separate. */
static void words_are_cut_at_unicode_white_space(void **state)
{
    (void)state;
    const char *spaces[] = {
        " ",
        "\v",
        "\f",
        "\r",
        "\x1C",
        "\x1D",
        "\x1E",
        "\x1F",
        "\xC2\x85",
        "\xC2\xA0",
        "\xE1\x9A\x80",
        "\xE2\x80\x80",
        "\xE2\x80\x81",
        "\xE2\x80\x82",
        "\xE2\x80\x83",
        "\xE2\x80\x84",
        "\xE2\x80\x85",
        "\xE2\x80\x86",
        "\xE2\x80\x87",
        "\xE2\x80\x88",
        "\xE2\x80\x89",
        "\xE2\x80\x8A",
        "\xE2\x80\xA8",
        "\xE2\x80\xA9",
        "\xE2\x80\xAF",
        "\xE2\x81\x9F",
        "\xE3\x80\x80",
        "\t",
    };
    const char *letters[] = {
        "\xE2\x80\x8B", "\xE2\x80\xA7", "\xE2\x80\xAA", "\xE2\x81\xA0", "\xE3\x80\x81", "\xEF\xBB\xBF", "\xE1\x9A\x81",
        "\xC2\x84",     "\xC2\x86",     "\xC2\xA1",     "\xE2\x80\x93", "\xC3\xA0",     "\xE1\xA0\x8E", "\x1B",
    };
    char line[64];
    for (size_t i = 0; i < sizeof spaces / sizeof spaces[0]; i++) {
        (void)snprintf(line, sizeof line, "1\t%sa%s%sbank%s.%s", spaces[i], spaces[i], spaces[i], spaces[i], spaces[i]);
        attn_corpus *c = read_split(line, "0", TWO);
        attn_example e = attn_corpus_get(c, 0);
        assert_int_equal(e.length, 3);
        assert_string_equal(e.tokens[0], "a");
        assert_string_equal(e.word, "bank");
        assert_string_equal(e.tokens[2], ".");
        attn_corpus_free(c);
    }
    for (size_t i = 0; i < sizeof letters / sizeof letters[0]; i++) {
        (void)snprintf(line, sizeof line, "0\ta%sb", letters[i]);
        attn_corpus *c = read_split(line, "0", TWO);
        assert_int_equal(attn_corpus_get(c, 0).length, 1);
        attn_corpus_free(c);
    }
}

static void the_word_may_occur_twice(void **state)
{
    (void)state;
    attn_corpus *c = read_split("3\tapple trees and apple phones\n", "0\n", TWO);
    assert_int_equal(attn_corpus_get(c, 0).target, 3);
    attn_corpus_free(c);
}

static void unequal_files_are_an_error(void **state)
{
    (void)state;
    check_fails("0\ta\n0\tb\n0\tc\n", "0\n1\n", TWO,
                GOLD ":3: no label for " DATA ":3: 3 sentences and 2 labels, expected one label a sentence");
    check_fails("0\ta\n0\tb", "0\n1\n0\n1", TWO,
                DATA ":3: no sentence for " GOLD ":3: 2 sentences and 4 labels, expected one label a sentence");
    check_fails("0\ta\n", "", TWO, GOLD ":1: no label for " DATA ":1: 1 sentences and 0 labels, expected one label a sentence");
    /* A blank line stands where the other file goes on. */
    check_fails("0\ta\n\n0\tc\n", "0\n1\n0\n", TWO,
                DATA ":2: no sentence for " GOLD ":2: 2 sentences and 3 labels, expected one label a sentence");
    check_fails("0\ta\n0\tb\n0\tc\n", "0\n\n0\n1\n", TWO,
                GOLD ":2: no label for " DATA ":2: 3 sentences and 3 labels, expected one label a sentence");
}

static void lines_blank_in_both_files_are_counted(void **state)
{
    (void)state;
    attn_corpus *c = read_split("0\ta\n\n0\tc\n", "0\n\r\n1\n\n\n", TWO);
    assert_int_equal(attn_corpus_count(c), 2);
    assert_int_equal(attn_corpus_blank_lines(c), 3);
    assert_string_equal(attn_corpus_first_blank(c), DATA ":2");
    assert_int_equal(attn_corpus_get(c, 1).line, 3);
    assert_string_equal(attn_corpus_get(c, 1).sense, "apple fruit");
    attn_corpus_free(c);
}

static void wrong_lines_are_named(void **state)
{
    (void)state;
    check_fails("0\ta\n0 b\n", "0\n0\n", TWO, DATA ":2: no tab, expected INDEX<TAB>tokens");
    check_fails("0\t \xE3\x80\x80\n", "0\n", TWO, DATA ":1: no tokens, expected INDEX<TAB>tokens");
    check_fails("2\ta  b\n", "0\n", TWO, DATA ":1: index 2 is outside of the sentence of 2 tokens, expected 0 to 1");
    check_fails("-1\ta b\n", "0\n", TWO, DATA ":1: index '-1' is no decimal number, expected the position of the word, 0 to 1");
    check_fails("0\ta\xC0\x80\n", "0\n", TWO, DATA ":1: broken UTF-8 at byte 3 of the line (0xC0), expected UTF-8");
    check_fails("0\ta\n", "2\n", TWO, GOLD ":1: class 2 is none of the 2 of " MAP);
    const char *wrong[] = {"-0", "+1", "1.0", "one", " 1", "1 ", "0x1", "99999999999999999999"};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        char message[128];
        (void)snprintf(message, sizeof message, GOLD ":1: '%s' is no decimal number, expected a class number", wrong[i]);
        check_fails("0\ta\n", wrong[i], TWO, message);
    }
    check_fails("0\ta\n", "\xFF\n", TWO, GOLD ":1: broken UTF-8 at byte 0 of the line (0xFF), expected UTF-8");
    check_fails("", "", TWO, DIR ": 0 labelled examples, expected at least one");
    check_fails("\n", "\n", TWO, DIR ": 0 labelled examples, expected at least one");
}

#define EXPECTED ", expected one JSON object {\"0\": \"sense\", ...}"

static void wrong_class_maps_are_named(void **state)
{
    (void)state;
    check_fails("0\ta\n", "0\n", "[\"a\"]", MAP ":1: no JSON object" EXPECTED);
    check_fails("0\ta\n", "0\n", "5", MAP ":1: an array or an object was expected" EXPECTED);
    check_fails("0\ta\n", "0\n", "{\"zero\": \"a\"}", MAP ": the key 'zero' is no class number" EXPECTED);
    check_fails("0\ta\n", "0\n", "{\"\": \"a\"}", MAP ": the key '' is no class number" EXPECTED);
    check_fails("0\ta\n", "0\n", "{\"-1\": \"a\"}", MAP ": the key '-1' is no class number" EXPECTED);
    check_fails("0\ta\n", "0\n", "{\"0\": 5}", MAP ": the sense of class 0 is no string" EXPECTED);
    check_fails("0\ta\n", "0\n", "{\"0\": \"\"}", MAP ": the sense of class 0 is empty" EXPECTED);
    check_fails("0\ta\n", "0\n", "{\"0\": \"a\\tb\"}", MAP ": the sense of class 0 holds a tab or a line end" EXPECTED);
    check_fails("0\ta\n", "0\n", "{\"0\": \"a\", \"00\": \"b\"}", MAP ": class 0 twice" EXPECTED);
    const char *broken[] = {"{\n\"0\": \"a\",\n\"0\": \"b\"}", "{\n\n\"0\": }", "{\"0\": \"a\"}\n\n x"};
    for (size_t i = 0; i < sizeof broken / sizeof broken[0]; i++) {
        attn_error error;
        attn_corpus *c = attn_corpus_new(NULL);
        put_split("0\ta\n", "0\n", broken[i]);
        assert_int_equal(attn_corpus_read(c, DIR, "train", &error), ATTN_EFORMAT);
        assert_contains(error.message, i == 0 ? "duplicate object key" : MAP ":3: ");
        assert_contains(error.message, MAP ":3: ");
        assert_contains(error.message, EXPECTED);
        attn_corpus_free(c);
    }
    check_fails("0\ta\n", "0\n", "{}", GOLD ":1: class 0 is none of the 0 of " MAP);
}

static void class_numbers_need_no_order(void **state)
{
    (void)state;
    attn_corpus *c = read_split("0\ta\n0\tb\n0\tc\n0\td\n", "10\n9\n007\n1000000000000\n",
                                "{\"1000000000000\": \"s12\", \"10\": \"s10\", \"9\": \"s9\", \"7\": \"s7\"}");
    const char *senses[] = {"s10", "s9", "s7", "s12"};
    for (int i = 0; i < 4; i++) {
        assert_string_equal(attn_corpus_get(c, i).sense, senses[i]);
    }
    attn_corpus_free(c);
}

static void missing_files_are_named(void **state)
{
    (void)state;
    const char *paths[] = {DATA, GOLD, MAP};
    attn_error error;
    attn_corpus *c = attn_corpus_new(NULL);
    for (int i = 0; i < 3; i++) {
        put_split("0\ta\n", "0\n", TWO);
        assert_int_equal(unlink(paths[i]), 0);
        assert_int_equal(attn_corpus_read(c, DIR, "train", &error), ATTN_EIO);
        assert_contains(error.message, paths[i]);
        assert_contains(error.message, "cannot open");
    }
    put_split("0\ta\n", "0\n", TWO);
    assert_int_equal(attn_corpus_read(c, DIR, "test", &error), ATTN_EIO);
    assert_contains(error.message, DIR "/test.data.txt");
    assert_int_equal(attn_corpus_read(c, DIR, NULL, &error), ATTN_EINVAL);
    assert_string_equal(error.message, DIR " is a folder, expected also the name of a split");
    assert_int_equal(attn_corpus_count(c), 0);
    attn_corpus_free(c);
}

static void failed_reads_keep_no_memory(void **state)
{
    (void)state;
    char data[4096] = "0\t";
    memset(data + 2, 'a', sizeof data - 3);
    put_split(data, "2", TWO);
    counting_allocator memory;
    counting_init(&memory, 0);
    attn_corpus *c = attn_corpus_new(&memory.value);
    assert_int_equal(attn_corpus_read(c, DIR, "train", NULL), ATTN_EFORMAT);
    long live = memory.live;
    for (int i = 0; i < 100; i++) {
        assert_int_equal(attn_corpus_read(c, DIR, "train", NULL), ATTN_EFORMAT);
    }
    assert_int_equal(memory.live, live);
    attn_corpus_free(c);
    assert_int_equal(memory.live, 0);
}

static attn_status exercise(const attn_allocator *allocator)
{
    attn_corpus *c = attn_corpus_new(allocator);
    if (c == NULL) {
        return ATTN_ENOMEM;
    }
    attn_error error = {0};
    attn_status status = attn_corpus_read(c, DIR, "train", &error);
    assert_int_equal(error.status, status);
    assert_int_equal(attn_corpus_count(c), status == ATTN_OK ? 2 : 0);
    assert_int_equal(attn_corpus_blank_lines(c), status == ATTN_OK ? 1 : 0);
    attn_corpus_free(c);
    return status;
}

static void running_out_of_memory_leaks_nothing(void **state)
{
    (void)state;
    put_split("0\ta\n\n0\tc\n", "0\n\n1\n", TWO);
    attn_status status = ATTN_ENOMEM;
    long k = 0;
    while (status != ATTN_OK) {
        counting_allocator memory;
        counting_init(&memory, ++k);
        status = exercise(&memory.value);
        assert_int_equal(memory.live, 0);
        assert_true(status == ATTN_OK || status == ATTN_ENOMEM);
    }
    assert_true(k > 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(three_files_make_examples),
        cmocka_unit_test(line_ends_and_marks_make_no_difference),
        cmocka_unit_test(words_are_cut_at_unicode_white_space),
        cmocka_unit_test(the_word_may_occur_twice),
        cmocka_unit_test(unequal_files_are_an_error),
        cmocka_unit_test(lines_blank_in_both_files_are_counted),
        cmocka_unit_test(wrong_lines_are_named),
        cmocka_unit_test(wrong_class_maps_are_named),
        cmocka_unit_test(class_numbers_need_no_order),
        cmocka_unit_test(missing_files_are_named),
        cmocka_unit_test(failed_reads_keep_no_memory),
        cmocka_unit_test(running_out_of_memory_leaks_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

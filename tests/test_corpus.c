/* The TSV reader, examples given one by one, and sentences to predict. */
#include <stdlib.h>

#include "support/files.h"

#include "attn/corpus.h"

#define TSV "corpus.tsv"

static attn_corpus *read_text(const char *text)
{
    attn_error error = {0};
    attn_corpus *c = attn_corpus_new(NULL);
    assert_non_null(c);
    put_text(TSV, text);
    if (attn_corpus_read(c, TSV, NULL, &error) != ATTN_OK) {
        print_error("%s\n", error.message);
        fail();
    }
    return c;
}

/* Reading `size` bytes fails with this message and leaves the corpus as it was. */
static void check_bytes_fail(const char *bytes, size_t size, const char *message)
{
    attn_error error = {0};
    attn_corpus *c = read_text("\nold\t0\tword\n");
    put_bytes(TSV, bytes, size);
    assert_int_equal(attn_corpus_read(c, TSV, NULL, &error), ATTN_EFORMAT);
    assert_int_equal(error.status, ATTN_EFORMAT);
    assert_string_equal(error.message, message);
    assert_int_equal(attn_corpus_count(c), 1);
    assert_int_equal(attn_corpus_blank_lines(c), 1);
    assert_string_equal(attn_corpus_first_blank(c), TSV ":1");
    assert_string_equal(attn_corpus_get(c, 0).sense, "old");
    attn_corpus_free(c);
}

static void check_fails(const char *text, const char *message)
{
    check_bytes_fail(text, strlen(text), message);
}

static void a_line_is_sense_index_tokens(void **state)
{
    (void)state;
    attn_corpus *c = read_text("apple_fruit\t2\tshe ate apple pie\nbank river\t0\tbank\n");
    assert_int_equal(attn_corpus_count(c), 2);
    attn_example e = attn_corpus_get(c, 0);
    assert_string_equal(e.sense, "apple_fruit");
    assert_int_equal(e.length, 4);
    assert_int_equal(e.target, 2);
    assert_string_equal(e.word, "apple");
    assert_ptr_equal(e.word, e.tokens[2]);
    const char *tokens[] = {"she", "ate", "apple", "pie"};
    for (int i = 0; i < 4; i++) {
        assert_string_equal(e.tokens[i], tokens[i]);
    }
    assert_string_equal(e.file, TSV);
    assert_int_equal(e.line, 1);
    e = attn_corpus_get(c, 1);
    assert_string_equal(e.sense, "bank river"); /* a label may hold spaces */
    assert_string_equal(e.word, "bank");
    assert_int_equal(e.line, 2);
    assert_int_equal(attn_corpus_blank_lines(c), 0);
    assert_string_equal(attn_corpus_first_blank(c), "");
    assert_int_equal(attn_corpus_get(c, 2).length, 0); /* outside */
    assert_int_equal(attn_corpus_get(c, -1).length, 0);
    attn_corpus_free(c);
}

static void assert_same_examples(const attn_corpus *a, const attn_corpus *b)
{
    assert_int_equal(attn_corpus_count(a), attn_corpus_count(b));
    for (int64_t i = 0; i < attn_corpus_count(a); i++) {
        attn_example x = attn_corpus_get(a, i), y = attn_corpus_get(b, i);
        assert_string_equal(x.sense, y.sense);
        assert_int_equal(x.target, y.target);
        assert_int_equal(x.length, y.length);
        assert_int_equal(x.line, y.line);
        for (int k = 0; k < x.length; k++) {
            assert_string_equal(x.tokens[k], y.tokens[k]);
        }
    }
}

static void line_ends_and_byte_order_mark_make_no_difference(void **state)
{
    (void)state;
    const char *variants[] = {
        "x\t0\ta b\r\n\r\ny\t1\tc d\r\n", "x\t0\ta b\n\ny\t1\tc d",
        "x\t0\ta b\r\n\r\ny\t1\tc d",     "\xEF\xBB\xBFx\t0\ta b\r\n\r\ny\t1\tc d\r\n",
        "x\t0\ta b\n\r\ny\t1\tc d\r",     "\xEF\xBB\xBFx\t0\ta b\n \t \ny\t1\tc d\n",
    };
    attn_corpus *plain = read_text("x\t0\ta b\n\ny\t1\tc d\n");
    for (size_t i = 0; i < sizeof variants / sizeof variants[0]; i++) {
        attn_corpus *c = read_text(variants[i]);
        assert_same_examples(plain, c);
        assert_int_equal(attn_corpus_blank_lines(c), 1);
        attn_corpus_free(c);
    }
    attn_corpus_free(plain);
    attn_corpus *c = read_text("x\t0\ta\n\xEF\xBB\xBFy\t0\tb\n"); /* elsewhere it is part of the label */
    assert_string_equal(attn_corpus_get(c, 1).sense, "\xEF\xBB\xBFy");
    attn_corpus_free(c);
}

static void blank_lines_are_skipped_and_counted(void **state)
{
    (void)state;
    attn_corpus *c = read_text("s\t0\ta\ns\t0\tb\ns\t0\tc\ns\t0\td\n\ns\t0\tf\ns\t0\tg\ns\t0\th\ns\t0\ti\ns\t0\tj\n");
    assert_int_equal(attn_corpus_count(c), 9);
    assert_int_equal(attn_corpus_blank_lines(c), 1);
    assert_string_equal(attn_corpus_first_blank(c), TSV ":5");
    assert_int_equal(attn_corpus_get(c, 4).line, 6);
    attn_error error;
    put_text("second.tsv", "\n\ns\t0\tk\n\n");
    assert_int_equal(attn_corpus_read(c, "second.tsv", "ignored", &error), ATTN_OK);
    assert_int_equal(attn_corpus_count(c), 10);
    assert_int_equal(attn_corpus_blank_lines(c), 4);
    assert_string_equal(attn_corpus_first_blank(c), TSV ":5"); /* the first stays */
    assert_string_equal(attn_corpus_get(c, 9).file, "second.tsv");
    assert_int_equal(attn_corpus_get(c, 9).line, 3);
    attn_corpus_clear(c);
    assert_int_equal(attn_corpus_count(c) + attn_corpus_blank_lines(c), 0);
    assert_string_equal(attn_corpus_first_blank(c), "");
    assert_int_equal(attn_corpus_read(c, "second.tsv", "", &error), ATTN_OK);
    assert_string_equal(attn_corpus_get(c, 0).word, "k");
    attn_corpus_free(c);
}

static void only_ascii_separates_words(void **state)
{
    (void)state;
    attn_corpus *c = read_text("s\t1\t\xE3\x80\x80\xE4\xB8\xAD\xE5\x9B\xBD \xE4\xB8\xAD\xE5\x9B\xBD \xC2\xA0\xE4\xB8\xAD\xE5\x9B\xBD \v\n");
    attn_example e = attn_corpus_get(c, 0);
    assert_int_equal(e.length, 4);
    assert_string_equal(e.tokens[0], "\xE3\x80\x80\xE4\xB8\xAD\xE5\x9B\xBD");
    assert_string_equal(e.tokens[1], "\xE4\xB8\xAD\xE5\x9B\xBD");
    assert_string_equal(e.tokens[2], "\xC2\xA0\xE4\xB8\xAD\xE5\x9B\xBD");
    assert_string_equal(e.tokens[3], "\v");
    attn_corpus_free(c);
}

static void the_index_counts_tokens(void **state)
{
    (void)state;
    /* Not bytes and not characters: the bank is token 2. */
    const char *tokens = "\xE6\x88\x91 \xE5\x9C\xA8 \xE9\x93\xB6\xE8\xA1\x8C \xE5\xB7\xA5\xE4\xBD\x9C\n";
    char line[128];
    (void)snprintf(line, sizeof line, "s\t2\t%s", tokens);
    attn_corpus *c = read_text(line);
    assert_string_equal(attn_corpus_get(c, 0).word, "\xE9\x93\xB6\xE8\xA1\x8C");
    attn_corpus_free(c);
    (void)snprintf(line, sizeof line, "s\t7\t%s", tokens);
    check_fails(line, TSV ":1: index 7 is outside of the sentence of 4 tokens, expected 0 to 3");
    check_fails("s\t4\ta b c d\n", TSV ":1: index 4 is outside of the sentence of 4 tokens, expected 0 to 3");
    check_fails("s\t99999999999999999999\ta\n",
                TSV ":1: index 99999999999999999999 is outside of the sentence of 1 token, expected 0 to 0");
    check_fails("s\t2147483648\ta\n", TSV ":1: index 2147483648 is outside of the sentence of 1 token, expected 0 to 0");
    const char *wrong[] = {"", "-1", "+1", " 1", "1 ", "0x1", "1.0", "one"};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        char message[160];
        (void)snprintf(line, sizeof line, "s\t0\ta\ns\t%s\ta b c\n", wrong[i]);
        (void)snprintf(message, sizeof message, TSV ":2: index '%s' is no decimal number, expected the position of the word, 0 to 2",
                       wrong[i]);
        check_fails(line, message);
    }
}

static void wrong_lines_are_named(void **state)
{
    (void)state;
    check_fails("s\t0\ta\nno tab here\n", TSV ":2: 0 tabs, expected SENSE<TAB>INDEX<TAB>tokens");
    check_fails("bank river\ttext\n", TSV ":1: only 1 tab, expected SENSE<TAB>INDEX<TAB>tokens");
    check_fails("s\t0\ta\tb\n", TSV ":1: 3 tabs, expected SENSE<TAB>INDEX<TAB>tokens");
    check_fails("\t0\ta\n", TSV ":1: the sense '' is empty, expected SENSE<TAB>INDEX<TAB>tokens");
    check_fails("  \t0\ta\n", TSV ":1: the sense '  ' is empty, expected SENSE<TAB>INDEX<TAB>tokens");
    check_fails("a;;b\t0\ta\n", TSV ":1: the sense 'a;;b' has an empty part beside a ';', expected SENSE<TAB>INDEX<TAB>tokens");
    check_fails("a;\t0\ta\n", TSV ":1: the sense 'a;' has an empty part beside a ';', expected SENSE<TAB>INDEX<TAB>tokens");
    check_fails("; a\t0\ta\n", TSV ":1: the sense '; a' has an empty part beside a ';', expected SENSE<TAB>INDEX<TAB>tokens");
    check_fails("s\t0\t\n", TSV ":1: no tokens, expected tokens with exactly one space between them");
    check_fails("s\t0\ta  b\n", TSV ":1: two spaces in a row, expected tokens with exactly one space between them");
    check_fails("s\t0\t a b\n", TSV ":1: a space before the first token, expected tokens with exactly one space between them");
    check_fails("s\t0\ta b \r\n", TSV ":1: a space after the last token, expected tokens with exactly one space between them");
    check_fails("s\t0\ta\rs\t0\tb\n", TSV ":1: a carriage return inside of the line, expected lines that end with LF or CRLF");
    check_fails("\n\ns\t0\tok \xE4\xB8 x\n", TSV ":3: broken UTF-8 at byte 7 of the line (0xE4), expected UTF-8");
    check_bytes_fail("s\t0\ta\ns\t0\ta\0b\n", 14, TSV ":2: zero byte at byte 5 of the line, expected UTF-8 (UTF-16 has such bytes)");
    check_bytes_fail("  \0\n", 4, TSV ":1: zero byte at byte 2 of the line, expected UTF-8 (UTF-16 has such bytes)");
}

static void nothing_is_an_error(void **state)
{
    (void)state;
    check_fails("", TSV ": 0 labelled examples, expected at least one");
    check_fails("\xEF\xBB\xBF", TSV ": 0 labelled examples, expected at least one");
    check_fails("\n\r\n\n", TSV ": 0 labelled examples, expected at least one");
    check_fails("just a text\nwithout any label\n", TSV ":1: 0 tabs, expected SENSE<TAB>INDEX<TAB>tokens");
    attn_corpus *c = attn_corpus_new(NULL);
    attn_error error;
    assert_int_equal(attn_corpus_read(c, "no/such.tsv", NULL, &error), ATTN_EIO);
    assert_contains(error.message, "no/such.tsv: cannot open");
    assert_int_equal(attn_corpus_read(c, "no/such.tsv", NULL, NULL), ATTN_EIO);
    assert_int_equal(attn_corpus_count(c), 0);
    attn_corpus_free(c);
}

/* A message stays one line of UTF-8 whatever the field holds. */
static void quoted_fields_are_cut_between_characters(void **state)
{
    (void)state;
    char line[400] = "s\t";
    for (int i = 0; i < 30; i++) {
        strcat(line, i == 0 ? "\x1B-" : "\xE4\xB8\xAD");
    }
    strcat(line, "\ta\n");
    attn_corpus *c = attn_corpus_new(NULL);
    attn_error error;
    put_text(TSV, line);
    assert_int_equal(attn_corpus_read(c, TSV, NULL, &error), ATTN_EFORMAT);
    assert_contains(error.message, "index '?-\xE4\xB8\xAD");
    assert_contains(error.message, "\xE4\xB8\xAD...' is no decimal number");
    assert_int_equal(attn_utf8_fault(error.message, strlen(error.message)), -1);
    attn_corpus_free(c);
}

static void long_lines_are_fine(void **state)
{
    (void)state;
    enum { N = 200000 };
    char *text = malloc(N * 4 + 64);
    char *at = text + sprintf(text, "s\t%d\t", N - 1);
    for (int i = 0; i < N; i++) {
        at += sprintf(at, "%s%d", i > 0 ? " " : "", i % 100);
    }
    attn_corpus *c = read_text(text);
    attn_example e = attn_corpus_get(c, 0);
    assert_int_equal(e.length, N);
    assert_string_equal(e.word, "99");
    assert_string_equal(e.tokens[12345], "45");
    attn_corpus_free(c);
    free(text);
}

static void many_lines_are_fine(void **state)
{
    (void)state;
    FILE *f = fopen(TSV, "wb");
    for (int i = 0; i < 100000; i++) {
        (void)fprintf(f, "sense_%d\t%d\ta b c%d\n", i % 7, i % 3, i);
    }
    assert_int_equal(fclose(f), 0);
    attn_corpus *c = attn_corpus_new(NULL);
    assert_int_equal(attn_corpus_read(c, TSV, NULL, NULL), ATTN_OK);
    assert_int_equal(attn_corpus_count(c), 100000);
    attn_example e = attn_corpus_get(c, 77777);
    assert_string_equal(e.sense, "sense_0");
    assert_string_equal(e.tokens[2], "c77777");
    assert_int_equal(e.line, 77778);
    attn_corpus_free(c);
}

static void standard_input_is_read(void **state)
{
    (void)state;
    put_text(TSV, "s\t0\ta b\nbad\n");
    assert_non_null(freopen(TSV, "rb", stdin));
    attn_corpus *c = attn_corpus_new(NULL);
    attn_error error;
    assert_int_equal(attn_corpus_read(c, "-", NULL, &error), ATTN_EFORMAT);
    assert_string_equal(error.message, "standard input:2: 0 tabs, expected SENSE<TAB>INDEX<TAB>tokens");
    put_text(TSV, "s\t1\ta b\n");
    assert_non_null(freopen(TSV, "rb", stdin));
    assert_int_equal(attn_corpus_read(c, "-", NULL, &error), ATTN_OK);
    assert_string_equal(attn_corpus_get(c, 0).word, "b");
    assert_string_equal(attn_corpus_get(c, 0).file, "standard input");
    attn_corpus_free(c);
}

static void examples_can_be_added(void **state)
{
    (void)state;
    char word[8] = "bank", sense[] = "bank_money;bank_river";
    const char *tokens[] = {"the", word, "closed"};
    attn_corpus *c = attn_corpus_new(NULL);
    attn_error error;
    assert_int_equal(attn_corpus_add(c, tokens, 3, 1, sense, &error), ATTN_OK);
    word[0] = sense[0] = 'X'; /* copied */
    attn_example e = attn_corpus_get(c, 0);
    assert_string_equal(e.word, "bank");
    assert_string_equal(e.sense, "bank_money;bank_river");
    assert_int_equal(e.length, 3);
    assert_string_equal(e.tokens[2], "closed");
    assert_int_equal(e.line, 1);

    const char *broken[] = {"ok", "x\xE4\xB8"}, *empty[] = {"ok", ""};
    assert_int_equal(attn_corpus_add(c, tokens, 3, 3, "s", &error), ATTN_EINVAL);
    assert_string_equal(error.message, "index 3 is outside of the sentence of 3 tokens");
    assert_int_equal(attn_corpus_add(c, tokens, 3, -1, "s", &error), ATTN_EINVAL);
    assert_int_equal(attn_corpus_add(c, tokens, 0, 0, "s", &error), ATTN_EINVAL);
    assert_int_equal(attn_corpus_add(c, tokens, 3, 0, "", &error), ATTN_EINVAL);
    assert_string_equal(error.message, "the sense '' is empty");
    assert_int_equal(attn_corpus_add(c, tokens, 3, 0, "a\tb", &error), ATTN_EINVAL);
    assert_int_equal(attn_corpus_add(c, tokens, 3, 0, "\xFF", &error), ATTN_EFORMAT);
    assert_int_equal(attn_corpus_add(c, broken, 2, 0, "s", &error), ATTN_EFORMAT);
    assert_string_equal(error.message, "broken UTF-8 in token 1 at its byte 1, expected UTF-8");
    assert_int_equal(attn_corpus_add(c, empty, 2, 0, "s", &error), ATTN_EINVAL);
    assert_string_equal(error.message, "token 1 is empty");
    assert_int_equal(attn_corpus_count(c), 1);
    attn_corpus_free(c);
}

static void sentences_are_cut_at_typed_spaces(void **state)
{
    (void)state;
    attn_corpus *c = attn_corpus_new(NULL);
    attn_error error;
    attn_example e;
    assert_int_equal(attn_corpus_tokenize(c, "  she ate\t\t an\xC2\xA0 apple \r\n", &e, &error), ATTN_OK);
    assert_int_equal(e.length, 4);
    assert_string_equal(e.tokens[0], "she");
    assert_string_equal(e.tokens[2], "an\xC2\xA0");
    assert_string_equal(e.tokens[3], "apple");
    assert_int_equal(e.target, -1);
    assert_string_equal(e.sense, "");
    assert_string_equal(e.word, "");
    attn_example other;
    assert_int_equal(attn_corpus_tokenize(c, "a \xE4\xB8 b", &other, &error), ATTN_EFORMAT);
    assert_string_equal(error.message, "broken UTF-8 at byte 2 of the sentence (0xE4), expected UTF-8");
    assert_int_equal(attn_corpus_tokenize(c, " \t ", &other, &error), ATTN_EFORMAT);
    assert_int_equal(attn_corpus_tokenize(c, "", &other, NULL), ATTN_EFORMAT);
    assert_int_equal(attn_corpus_tokenize(c, "another sentence", &other, &error), ATTN_OK);
    assert_string_equal(e.tokens[3], "apple"); /* still there */
    assert_int_equal(attn_corpus_count(c), 0); /* not a labelled example */
    attn_corpus_free(c);
}

/* Everything once; the first failure. */
static attn_status exercise(const attn_allocator *allocator)
{
    attn_corpus *c = attn_corpus_new(allocator);
    if (c == NULL) {
        return ATTN_ENOMEM;
    }
    attn_error error = {0};
    const char *tokens[] = {"a", "b"};
    attn_example e;
    attn_status status = attn_corpus_read(c, TSV, NULL, &error);
    assert_int_equal(attn_corpus_count(c), status == ATTN_OK ? 12 : 0);
    assert_int_equal(attn_corpus_blank_lines(c), status == ATTN_OK ? 1 : 0);
    for (int64_t i = 0; status == ATTN_OK && i < 40; i++) {
        status = attn_corpus_add(c, tokens, 2, 1, "s", &error);
        assert_int_equal(attn_corpus_count(c), status == ATTN_OK ? 13 + i : 12 + i);
    }
    status = status == ATTN_OK ? attn_corpus_tokenize(c, "x y", &e, &error) : status;
    assert_int_equal(error.status, status);
    attn_corpus_free(c);
    return status;
}

static void running_out_of_memory_leaks_nothing(void **state)
{
    (void)state;
    put_text(TSV, "\ns\t0\ta\ns\t0\ta\ns\t0\ta\ns\t0\ta\ns\t0\ta\ns\t0\ta\ns\t0\ta\ns\t0\ta\ns\t0\ta\ns\t0\ta\ns\t0\ta\ns\t0\ta\n");
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
    attn_corpus_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_line_is_sense_index_tokens),
        cmocka_unit_test(line_ends_and_byte_order_mark_make_no_difference),
        cmocka_unit_test(blank_lines_are_skipped_and_counted),
        cmocka_unit_test(only_ascii_separates_words),
        cmocka_unit_test(the_index_counts_tokens),
        cmocka_unit_test(wrong_lines_are_named),
        cmocka_unit_test(nothing_is_an_error),
        cmocka_unit_test(quoted_fields_are_cut_between_characters),
        cmocka_unit_test(long_lines_are_fine),
        cmocka_unit_test(many_lines_are_fine),
        cmocka_unit_test(standard_input_is_read),
        cmocka_unit_test(examples_can_be_added),
        cmocka_unit_test(sentences_are_cut_at_typed_spaces),
        cmocka_unit_test(running_out_of_memory_leaks_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

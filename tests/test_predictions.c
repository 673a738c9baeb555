/* Files of predictions: reading them, what is wrong with them, and whether two are about the same. */
#include "support/files.h"

#include "attn/evaluation.h"

#define TSV  "predictions.tsv"
#define GOOD "fruit\tcompany\t0.75\t2\tpie:0.5 ate:0.25\tshe ate apple pie\n"

static attn_predictions *read_text(const char *path, const char *text)
{
    attn_error error = {.message = ""};
    put_text(path, text);
    attn_predictions *p = attn_predictions_read(path, NULL, &error);
    assert_string_equal(error.message, "");
    assert_non_null(p);
    return p;
}

static void a_line_is_a_sentence_and_what_was_said_of_it(void **state)
{
    (void)state;
    attn_predictions *p = read_text(TSV, GOOD "river;money\tmoney\t1\t0\t\tbank\n");
    assert_int_equal(attn_predictions_count(p), 2);
    attn_predicted first = attn_predictions_get(p, 0), second = attn_predictions_get(p, 1);
    assert_string_equal(first.example.sense, "fruit");
    assert_string_equal(first.sense, "company");
    assert_close(first.probability, 0.75, 0, 0);
    assert_int_equal(first.example.length, 4);
    assert_int_equal(first.example.target, 2);
    assert_string_equal(first.example.word, "apple");
    assert_string_equal(first.example.tokens[3], "pie");
    assert_string_equal(first.example.file, TSV);
    assert_int_equal(first.example.line, 1);
    assert_string_equal(second.example.sense, "river;money");
    assert_string_equal(second.sense, "money");
    assert_close(second.probability, 1, 0, 0);
    assert_string_equal(second.example.word, "bank");
    assert_int_equal(second.example.line, 2);
    assert_null(attn_predictions_get(p, 2).sense); /* outside */
    assert_null(attn_predictions_get(p, -1).sense);
    attn_predictions_free(p);
    attn_predictions_free(NULL);
}

static void line_ends_and_blank_lines_make_no_difference(void **state)
{
    (void)state;
    attn_error error = {.message = ""};
    attn_predictions *plain = read_text(TSV, GOOD "a\ta\t0.5\t1\tx\tthe bank");
    attn_predictions *windows =
        read_text("windows.tsv", "\xEF\xBB\xBF"
                                 "fruit\tcompany\t7.5e-1\t2\t?\tshe ate apple pie\r\n\r\n \t \r\na\tb\t0.6\t1\t\tthe  bank \r\n");
    assert_int_equal(attn_predictions_count(windows), 2);
    assert_close(attn_predictions_get(windows, 0).probability, 0.75, 0, 0);
    assert_int_equal(attn_predictions_get(windows, 1).example.line, 4);
    assert_int_equal(attn_predictions_match(plain, windows, &error), ATTN_OK);
    attn_predictions_free(windows);
    attn_predictions_free(plain);
}

static void what_is_wrong_is_told_with_its_line(void **state)
{
    (void)state;
    static const struct {
        const char *text, *message;
    } cases[] = {
        {GOOD "a\tb\t1\t0\tword\n", TSV ":2: only 4 tabs, expected GOLD<TAB>PREDICTED<TAB>PROBABILITY<TAB>INDEX<TAB>ATTENDED<TAB>tokens"},
        {"a\tb\t1\t0\t\tword\tmore\n", TSV ":1: 6 tabs, expected GOLD"},
        {"a\n", TSV ":1: only 0 tabs, expected GOLD"},
        {"a\tb\n", TSV ":1: only 1 tab, expected GOLD"},
        {"\tb\t1\t0\t\tword\n", TSV ":1: the sense '' is empty, expected GOLD"},
        {"a;;b\tb\t1\t0\t\tword\n", TSV ":1: the sense 'a;;b' has an empty part beside a ';', expected GOLD"},
        {"a\t\t1\t0\t\tword\n", TSV ":1: the predicted sense is empty, expected GOLD"},
        {"a\tb\t\t0\t\tword\n", TSV ":1: the probability is '', expected a number from 0 to 1"},
        {"a\tb\t1.5\t0\t\tword\n", TSV ":1: the probability is '1.5', expected a number from 0 to 1"},
        {"a\tb\t-0.1\t0\t\tword\n", TSV ":1: the probability is '-0.1', expected a number from 0 to 1"},
        {"a\tb\tnan\t0\t\tword\n", TSV ":1: the probability is 'nan', expected a number from 0 to 1"},
        {"a\tb\t0,5\t0\t\tword\n", TSV ":1: the probability is '0,5', expected a number from 0 to 1"},
        {"a\tb\t1\t1\t\tword\n", TSV ":1: index 1 is outside of the sentence of 1 token, expected 0 to 0"},
        {"a\tb\t1\tx\t\tword\n", TSV ":1: index 'x' is no decimal number"},
        {"a\tb\t1\t0\t\t \n", TSV ":1: no tokens, expected GOLD"},
        {"a\tb\t1\t0\t\tw\xFFord\n", TSV ":1: broken UTF-8 at byte 10 of the line (0xFF), expected UTF-8"},
        {"", TSV ": 0 predictions, expected at least one"},
        {"\n\n", TSV ": 0 predictions, expected at least one"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        attn_error error = {.message = ""};
        put_text(TSV, cases[i].text);
        assert_null(attn_predictions_read(TSV, NULL, &error));
        assert_int_equal(error.status, ATTN_EFORMAT);
        assert_contains(error.message, cases[i].message);
    }
    attn_error error;
    assert_null(attn_predictions_read("none.tsv", NULL, &error));
    assert_int_equal(error.status, ATTN_EIO);
    assert_string_equal(error.message, "none.tsv: cannot open: No such file or directory");
}

/* `text` beside the two lines below. */
static void check_differs(const char *text, const char *message)
{
    attn_error error = {.message = ""};
    attn_predictions *a = read_text("a.tsv", GOOD "money\tmoney\t0.5\t1\t\tthe bank lends\n"), *b = read_text("b.tsv", text);
    attn_status status = attn_predictions_match(a, b, &error);
    assert_string_equal(error.message, message);
    assert_int_equal(status, message[0] == '\0' ? ATTN_OK : ATTN_EMISMATCH);
    attn_predictions_free(b);
    attn_predictions_free(a);
}

static void both_must_be_about_the_same(void **state)
{
    (void)state;
    check_differs("fruit\tfruit\t0.6\t2\t-\tshe ate apple pie\nmoney\tshore\t0.9\t1\t-\tthe bank lends\n", "");
    check_differs("\n" GOOD "money\tmoney\t0.5\t1\t\tthe bank lent\n",
                  "b.tsv:3: another sentence than a.tsv:2, expected the same ones in the same order");
    check_differs(GOOD "money\tmoney\t0.5\t0\t\tthe bank lends\n",
                  "b.tsv:2: another sentence than a.tsv:2, expected the same ones in the same order");
    check_differs(GOOD "money\tmoney\t0.5\t1\t\tthe bank lends money\n",
                  "b.tsv:2: another sentence than a.tsv:2, expected the same ones in the same order");
    check_differs(GOOD "shore\tmoney\t0.5\t1\t\tthe bank lends\n", "b.tsv:2: the gold sense is 'shore', that of a.tsv:2 is 'money'");
    check_differs(GOOD, "b.tsv: 1 predictions, a.tsv has 2");
    check_differs(GOOD "money\tmoney\t0.5\t1\t\tthe bank lends\nx\ty\t1\t0\t\tz\n", "b.tsv: 3 predictions, a.tsv has 2");
}

static void running_out_of_memory_leaks_nothing(void **state)
{
    (void)state;
    char text[100 * sizeof GOOD] = "";
    for (int i = 0; i < 99; i++) {
        strcat(text, GOOD);
    }
    put_text(TSV, text);
    attn_predictions *p = NULL;
    long k = 0;
    while (p == NULL) {
        counting_allocator memory;
        counting_init(&memory, ++k);
        attn_error error = {.status = ATTN_OK};
        p = attn_predictions_read(TSV, &memory.value, &error);
        assert_int_equal(error.status, p != NULL ? ATTN_OK : ATTN_ENOMEM);
        if (p != NULL) {
            assert_int_equal(attn_predictions_count(p), 99);
            attn_predictions_free(p);
        }
        assert_int_equal(memory.live, 0);
    }
    assert_true(k > 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_line_is_a_sentence_and_what_was_said_of_it), cmocka_unit_test(line_ends_and_blank_lines_make_no_difference),
        cmocka_unit_test(what_is_wrong_is_told_with_its_line),          cmocka_unit_test(both_must_be_about_the_same),
        cmocka_unit_test(running_out_of_memory_leaks_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

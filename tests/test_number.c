/* Numbers from text. */
#include "support/check.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "attn/random.h"
#include "core/core.h"
#include "support/locales.h"

static bool parse(const char *text, double *value)
{
    return attn__parse_double(text, strlen(text), value);
}

/* The same bits, so that zeros have a sign. */
static void number_is(const char *text, double expected)
{
    double value;
    if (!parse(text, &value) || memcmp(&value, &expected, sizeof value) != 0) {
        fail_msg("\"%s\" is %.17g, expected %.17g", text, value, expected);
    }
}

static void all_numbers(void)
{
    number_is("0", 0);
    number_is("-0.0", -0.0);
    number_is("0.1", 0.1);
    number_is("+.5", 0.5);
    number_is("5.", 5);
    number_is("-12.25e-2", -0.1225);
    number_is("1E3", 1000);
    number_is("1e+3", 1000);
    number_is("007", 7);
    number_is("9007199254740993", 9007199254740992.0); /* 2^53 + 1 lies between two doubles */
    number_is("1.7976931348623157e308", DBL_MAX);
    number_is("4.9406564584124654e-324", 0x1p-1074);
    number_is("1e-999", 0);
    number_is("0.3333333333333333148296162562473909929394721984863281250", 0x1.5555555555555p-2);
    number_is("inf", INFINITY);
    number_is("-Infinity", -INFINITY);
    double value = 0;
    assert_true(parse("nan", &value) && isnan(value));
    assert_true(parse("-NaN", &value) && isnan(value));
}

static void text_is(double v, const char *expected)
{
    char text[ATTN__DOUBLE_SIZE];
    attn__format_double(v, text);
    assert_string_equal(text, expected);
}

static void all_texts(void)
{
    text_is(0, "0");
    text_is(-0.0, "-0");
    text_is(0.1, "0.1");
    text_is(-0.1225, "-0.1225");
    text_is(1.0 / 3, "0.3333333333333333"); /* 16 digits */
    text_is(0.1 + 0.2, "0.30000000000000004");
    text_is(1e6, "1000000");
    text_is(DBL_MAX, "1.7976931348623157e+308");
    text_is(0x1p-1074, "4.94065645841247e-324");
}

static void all_of_it(void)
{
    all_numbers();
    all_texts();
}

static void numbers(void **state)
{
    (void)state;
    all_of_it();
}

static void numbers_in_every_locale(void **state)
{
    (void)state;
    int tried = 0;
    const char *const languages[] = {"de_DE", "ps_AF"};
    for (int i = 0; i < 2; i++) {
        if (numbers_as_in(languages[i])) {
            double value;
            char half[16];
            (void)snprintf(half, sizeof half, "%.1f", 0.5);
            assert_string_not_equal(half, "0.5");
            all_of_it();
            assert_false(parse(half, &value)); /* the comma is no point, wherever we are */
            tried++;
        }
        numbers_as_usual();
    }
    if (tried == 0) {
        skip();
    }
}

static void what_is_no_number(void **state)
{
    (void)state;
    static const char *const bad[] = {"",     " ",   " 1", "1 ",  "+",    ".",      "-.",    "e5",    "1e",     "1e+",  "1,5", "1.2.3",
                                      "0x10", "1_0", "1f", "--1", "nan2", "nan(1)", "infin", "1e999", "-1e999", "1.5.", "１",  "1\n"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        double value;
        if (parse(bad[i], &value)) {
            fail_msg("\"%s\" is no number", bad[i]);
        }
    }
}

/* A text ends where its size says; what follows is not looked at. */
static void size_ends_the_text(void **state)
{
    (void)state;
    double value;
    assert_true(attn__parse_double("1.25e1", 4, &value));
    assert_close(value, 1.25, 0, 0);
    assert_true(attn__parse_double("1.25", 3, &value));
    assert_close(value, 1.2, 0, 0);
    assert_false(attn__parse_double("1.25e1", 5, &value));
    assert_false(attn__parse_double("nan", 2, &value));
}

/* The smallest double in full has 1074 digits after the point. What is much longer is refused, not cut. */
static void long_numbers(void **state)
{
    (void)state;
    char text[1500];
    double value;
    assert_int_equal(snprintf(text, sizeof text, "-%.1074f", 0x1p-1074), 1077);
    number_is(text, -0x1p-1074);
    memset(text, '1', sizeof text);
    memcpy(text, "0.", 2);
    assert_true(attn__parse_double(text, 1200, &value));
    assert_close(value, 1.0 / 9, 1e-15, 0);
    assert_false(attn__parse_double(text, 1201, &value));
}

/* What has few digits goes a way of its own; it must end in the same bits as strtod, on both sides of where that way ends. */
static void short_numbers_are_those_of_strtod(void **state)
{
    (void)state;
    for (uint64_t i = 0; i < 200000; i++) {
        uint32_t w[4];
        char text[64];
        attn_random_block(1, 0, i, w);
        int n = 0, digits = 1 + (int)(w[0] % 19), places = (int)(w[1] % 26);
        text[n++] = w[2] % 2 == 0 ? '-' : '0';
        for (int d = digits > places ? digits : places; d >= 0; d--) {
            text[n++] = (char)('0' + (d < digits ? (w[3] >> (d % 16)) * (uint32_t)(d + 7) % 10 : 0));
            if (d == places) {
                text[n++] = '.';
            }
        }
        text[n] = '\0';
        number_is(text, strtod(text, NULL));
    }
    number_is("9007199254740992", 0x1p53);
    number_is("-9007199254740993", -0x1p53);
    number_is("9007199254740995", 9007199254740996.0);
    number_is("0.0000000000000000000001", 1e-22);
    number_is("0.00000000000000000000001", 1e-23);
    number_is("-0", -0.0);
    number_is("+0.000", 0.0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers),           cmocka_unit_test(numbers_in_every_locale),
        cmocka_unit_test(what_is_no_number), cmocka_unit_test(size_ends_the_text),
        cmocka_unit_test(long_numbers),      cmocka_unit_test(short_numbers_are_those_of_strtod),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

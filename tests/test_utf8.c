/* UTF-8: what is a fault, where it is, and how wide text is. */
#include <string.h>

#include "support/check.h"

#include "attn/corpus.h"

#define FAULT(literal) attn_utf8_fault("" literal, sizeof(literal) - 1)

static void valid_text_has_no_fault(void **state)
{
    (void)state;
    assert_int_equal(attn_utf8_fault("", 0), -1);
    assert_int_equal(FAULT("plain ascii"), -1);
    assert_int_equal(FAULT("\xE4\xB8\xAD\xE5\x9B\xBD and caf\xC3\xA9"), -1);
    assert_int_equal(FAULT("\x7F\xC2\x80\xDF\xBF\xE0\xA0\x80\xEF\xBF\xBD\xF0\x90\x80\x80\xF4\x8F\xBF\xBF"),
                     -1);                                    /* the ends of every length */
    assert_int_equal(FAULT("\xED\x9F\xBF\xEE\x80\x80"), -1); /* around the surrogates */
    assert_int_equal(FAULT("a\0b"), -1);                     /* a zero byte is a character */
}

static void broken_text_is_found_at_its_byte(void **state)
{
    (void)state;
    assert_int_equal(FAULT("\x80"), 0);                     /* continues nothing */
    assert_int_equal(FAULT("ab\xC0\x80"), 2);               /* overlong */
    assert_int_equal(FAULT("ab\xC1\xBF"), 2);               /* overlong */
    assert_int_equal(FAULT("\xE0\x9F\xBF"), 0);             /* overlong */
    assert_int_equal(FAULT("\xF0\x8F\xBF\xBF"), 0);         /* overlong */
    assert_int_equal(FAULT("x\xED\xA0\x80"), 1);            /* surrogate */
    assert_int_equal(FAULT("x\xED\xBF\xBF"), 1);            /* surrogate */
    assert_int_equal(FAULT("\xF4\x90\x80\x80"), 0);         /* above U+10FFFF */
    assert_int_equal(FAULT("\xE4\xB8\xAD\xFF"), 3);         /* no such byte */
    assert_int_equal(FAULT("\xE4\xB8\xAD\xE4\xB8"), 3);     /* cut at the end */
    assert_int_equal(FAULT("\xE4\xB8 x"), 0);               /* cut in the middle */
    assert_int_equal(FAULT("\xE4\xB8\xAD\xF0\x9F\x98"), 3); /* cut, three of four bytes */
}

/* The size ends the text, whatever stands behind it. */
static void a_character_across_the_size_is_a_fault(void **state)
{
    (void)state;
    const char *text = "a\xE4\xB8\xAD";
    assert_int_equal(attn_utf8_fault(text, 4), -1);
    assert_int_equal(attn_utf8_fault(text, 3), 1);
    assert_int_equal(attn_utf8_fault(text, 2), 1);
    assert_int_equal(attn_utf8_fault(text, 1), -1);
}

static void width_counts_columns(void **state)
{
    (void)state;
    assert_int_equal(attn_utf8_width(""), 0);
    assert_int_equal(attn_utf8_width("apple"), 5);
    assert_int_equal(attn_utf8_width("\xE8\x8B\xB9\xE6\x9E\x9C"), 4); /* two Chinese characters */
    assert_int_equal(attn_utf8_width("a\xE8\x8B\xB9z"), 4);
    assert_int_equal(attn_utf8_width("\xE3\x80\x80"), 2); /* full-width space */
    assert_int_equal(attn_utf8_width("caf\xC3\xA9"), 4);
    assert_int_equal(attn_utf8_width("cafe\xCC\x81"), 4);     /* combining acute */
    assert_int_equal(attn_utf8_width("\xEF\xBD\xB1"), 1);     /* half-width katakana */
    assert_int_equal(attn_utf8_width("\xF0\x9F\x8D\x8E"), 2); /* red apple */
    assert_int_equal(attn_utf8_width("a\xFF"
                                     "b"),
                     3); /* shown as a replacement character */
    assert_int_equal(attn_utf8_width("\x01"), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(valid_text_has_no_fault),
        cmocka_unit_test(broken_text_is_found_at_its_byte),
        cmocka_unit_test(a_character_across_the_size_is_a_fault),
        cmocka_unit_test(width_counts_columns),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Pages: what is escaped, how numbers are packed, what is refused. tests/html has what a browser makes of them. */
#include "support/check.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "attn/corpus.h"
#include "html/html.h"

/* ---- one value as the data of a page ---- */

static char *written; /* what the last of the functions below has written, as a string */

static void keep(attn__html *h)
{
    attn__html_bytes(h, "", 1);
    assert_int_equal(h->status, ATTN_OK);
    free(written);
    written = h->bytes;
}

static const char *as_string(const char *utf8)
{
    attn__html h;
    attn__html_init(&h, NULL, NULL);
    attn__data_string(&h, utf8);
    keep(&h);
    return written;
}

static const char *as_number(double v)
{
    attn__html h;
    attn__html_init(&h, NULL, NULL);
    attn__data_number(&h, v);
    keep(&h);
    return written;
}

static const char *packed(const double *v, int64_t n, attn__packing type)
{
    attn__html h;
    attn__html_init(&h, NULL, NULL);
    attn__data_packed(&h, v, n, type);
    keep(&h);
    return written;
}

static void strings_cannot_end_their_element(void **state)
{
    (void)state;
    assert_string_equal(as_string("苹果 apple"), "\"苹果 apple\"");
    assert_string_equal(as_string(""), "\"\"");
    assert_string_equal(as_string(NULL), "null");
    assert_string_equal(as_string("</script><!--<script>"), "\"\\u003c/script\\u003e\\u003c!--\\u003cscript\\u003e\"");
    assert_string_equal(as_string("a\"b\\c&amp;'"), "\"a\\u0022b\\u005cc\\u0026amp;'\"");
    assert_string_equal(as_string("\x01\t\n\r\x1f\x7f"), "\"\\u0001\\u0009\\u000a\\u000d\\u001f\\u007f\"");
    assert_string_equal(as_string("a\xe2\x80\xa8"
                                  "b\xe2\x80\xa9"),
                        "\"a\\u2028b\\u2029\"");
    assert_string_equal(as_string("\xe2\x80\xa7 \xe2\x82\xac \xe2\x81\xa8"), "\"\xe2\x80\xa7 \xe2\x82\xac \xe2\x81\xa8\""); /* neighbours */
    assert_string_equal(as_string("\xf0\x9f\x8d\x8e \xd7\x90"), "\"\xf0\x9f\x8d\x8e \xd7\x90\"");
}

static void numbers_read_back(void **state)
{
    (void)state;
    assert_string_equal(as_number(0.1), "0.1");
    assert_string_equal(as_number(-0.5), "-0.5");
    assert_string_equal(as_number(1), "1");
    assert_string_equal(as_number(1.0 / 3), "0.3333333333333333"); /* 15 digits read back as another number */
    assert_string_equal(as_number(0.1 + 0.2), "0.30000000000000004");
    assert_string_equal(as_number(1e300), "1e+300");
    assert_string_equal(as_number(NAN), "null");
    assert_string_equal(as_number(INFINITY), "1e999");
    assert_string_equal(as_number(-INFINITY), "-1e999");
}

static void commas_come_by_themselves(void **state)
{
    (void)state;
    attn__html h;
    const double numbers[] = {1, 2.5};
    const char *const words[] = {"a", NULL, "{"};
    attn__html_init(&h, NULL, NULL);
    attn__html_add(&h, "<script>");
    attn__data_open(&h, '{');
    attn__data_key(&h, "empty");
    attn__data_open(&h, '[');
    attn__data_close(&h, ']');
    attn__data_key(&h, "numbers");
    attn__data_numbers(&h, numbers, 2);
    attn__data_key(&h, "words");
    attn__data_strings(&h, words, 3);
    attn__data_key(&h, "list");
    attn__data_open(&h, '[');
    attn__data_open(&h, '{');
    attn__data_close(&h, '}');
    attn__data_bool(&h, true);
    attn__data_string(&h, ":");
    attn__data_bool(&h, false);
    attn__data_close(&h, ']');
    attn__data_close(&h, '}');
    keep(&h);
    assert_string_equal(written, "<script>{\"empty\":[],\"numbers\":[1,2.5],\"words\":[\"a\",\"\",\"{\"],\"list\":[{},true,\":\",false]}");
}

/* Worked out with an independent encoder: python3 -c 'import base64, struct; print(base64.b64encode(struct.pack("<f", 1)))' */
static void many_numbers_are_packed(void **state)
{
    (void)state;
    const double v[] = {1, 0.5, -2, 3, 255};
    const uint8_t bytes[] = {0, 1, 0, 1};
    assert_string_equal(packed(v, 1, ATTN__F32), "\"AACAPw==\"");
    assert_string_equal(packed(v, 2, ATTN__F32), "\"AACAPwAAAD8=\"");
    assert_string_equal(packed(v, 3, ATTN__F32), "\"AACAPwAAAD8AAADA\"");
    assert_string_equal(packed(v, 5, ATTN__F32), "\"AACAPwAAAD8AAADAAABAQAAAf0M=\"");
    assert_string_equal(packed(v, 1, ATTN__F64), "\"AAAAAAAA8D8=\"");
    assert_string_equal(packed(v + 3, 2, ATTN__U8), "\"A/8=\"");
    assert_string_equal(packed(v, 0, ATTN__F32), "\"\"");
    attn__html h;
    attn__html_init(&h, NULL, NULL);
    attn__data_packed_bytes(&h, bytes, 4);
    keep(&h);
    assert_string_equal(written, "\"AAEAAQ==\"");
}

static void text_is_escaped(void **state)
{
    (void)state;
    attn__html h;
    attn__html_init(&h, NULL, NULL);
    attn__html_text(&h, "</title>&amp;\"'苹");
    keep(&h);
    assert_string_equal(written, "&lt;/title&gt;&amp;amp;&quot;&#39;苹");
}

/* ---- whole pages ---- */

static const double four[4] = {0.1, 0.9, 0.25, 0.75}, other[4] = {0.5, 0.5, 1, 0};
static const char *const words[] = {"苹果", "手机"}, *const hostile[] = {"</script><!--<script>", "\"</title>"};

static attn_heatmap_page_config with(const attn_heatmap_panel *p, int n)
{
    return (attn_heatmap_page_config){.look = {.panels = p, .n_panels = n}};
}

/* The page as a string; freed with free(). */
static char *page_of(attn_heatmap_page_config config)
{
    attn_page page;
    attn_error error = {.message = ""};
    if (attn_heatmap_page(&config, &page, NULL, &error) != ATTN_OK) {
        fail_msg("%s", error.message);
    }
    char *text = malloc(page.size + 1);
    assert_non_null(text);
    memcpy(text, page.bytes, page.size);
    text[page.size] = '\0';
    assert_int_equal(strlen(text), page.size);
    assert_int_equal(attn_utf8_fault(text, page.size), -1);
    attn_page_free(&page);
    attn_page_free(&page);
    return text;
}

static int count(const char *text, const char *part)
{
    int n = 0;
    for (text = strstr(text, part); text != NULL; text = strstr(text + 1, part)) {
        n++;
    }
    return n;
}

static void a_page_has_one_of_everything(void **state)
{
    (void)state;
    attn_heatmap_panel p = {.rows = 2, .columns = 2, .values = four, .row_labels = words, .column_labels = hostile, .title = hostile[0]};
    attn_heatmap_page_config c = with(&p, 1);
    c.look.title = hostile[1];
    char *text = page_of(c);
    assert_int_equal(strncmp(text, "<!DOCTYPE html>\n<html lang=\"zh-Hans\">", 37), 0);
    assert_int_equal(count(text, "<title>"), 1);
    assert_contains(text, "<title>&quot;&lt;/title&gt;</title>");
    assert_int_equal(count(text, "<script"), count(text, "</script>"));
    assert_int_equal(count(text, "<script type=\"application/json\" id=\"data\">{"), 1);
    assert_int_equal(count(text, "<style>"), count(text, "</style>"));
    assert_int_equal(count(text, "<!--"), 0);
    assert_int_equal(count(text, "'sha256-"), count(text, "<script>") + count(text, "<style>"));
    assert_contains(text, "content=\"default-src 'none';");
    assert_contains(text, "\"rows\":[\"苹果\",\"手机\"]");
    assert_contains(text, "\"vmin\":0,\"vmax\":1,\"digits\":2,");
    free(text);
}

/* Nothing in a page is an address, of this page's own parts or of the data (field report B114). */
static void a_page_refers_to_nothing(void **state)
{
    (void)state;
    attn_heatmap_panel p = {.rows = 2, .columns = 2, .values = four};
    char *text = page_of(with(&p, 1));
    assert_int_equal(count(text, "http:") - count(text, "http://www.w3.org/2000/svg"), 0); /* the name of SVG, which nobody opens */
    assert_int_equal(count(text, "https:") + count(text, "src=") + count(text, "href=") + count(text, "url(") + count(text, "@import"), 0);
    free(text);
}

static void the_language_is_that_of_the_labels(void **state)
{
    (void)state;
    static const char *const mixed[] = {"苹果", "iPhone", "12", "发布"}, *const latin[] = {"苹果", "a", "phone", "é"},
                             *const rare[] = {"𠀀", "1", "2", "?"}, *const kana[] = {"りんご", "1", "2", "3"};
    const double v[16] = {0};
    const struct {
        const char *const *labels;
        attn_language wanted;
        const char *tag;
    } cases[] = {{mixed, 0, "zh-Hans"},
                 {latin, 0, "en"},
                 {rare, 0, "zh-Hans"},
                 {kana, 0, "en"},
                 {NULL, 0, "en"},
                 {mixed, ATTN_LANGUAGE_EN, "en"},
                 {latin, ATTN_LANGUAGE_ZH, "zh-Hans"}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        attn_heatmap_panel p = {.rows = 4, .columns = 4, .values = v, .row_labels = cases[i].labels, .column_labels = cases[i].labels};
        attn_heatmap_page_config c = with(&p, 1);
        char start[64];
        c.language = cases[i].wanted;
        char *text = page_of(c);
        (void)snprintf(start, sizeof start, "<html lang=\"%s\">", cases[i].tag);
        assert_contains(text, start);
        free(text);
    }
}

static void numbers_are_as_exact_as_they_came(void **state)
{
    (void)state;
    const double exact[2] = {0.5, NAN};
    attn_heatmap_panel p[2] = {{.rows = 1, .columns = 2, .values = exact}, {.rows = 1, .columns = 2, .values = exact}};
    char *text = page_of(with(p, 2));
    assert_contains(
        text, "\"type\":\"f32\",\"sentences\":[{\"title\":null,\"rows\":[\"0\"],\"columns\":[\"0\",\"1\"],\"values\":[\"AAAAPwAAwH8=\"]");
    assert_int_equal(count(text, "\"columns\""), 2);
    free(text);
    p[1].values = four;
    text = page_of(with(p, 2));
    assert_contains(text, "\"type\":\"f64\"");
    free(text);
}

static void heads_share_their_labels(void **state)
{
    (void)state;
    const uint8_t hidden[4] = {0, 1, 0, 0};
    attn_heatmap_panel p[4];
    for (int i = 0; i < 4; i++) {
        p[i] = (attn_heatmap_panel){.rows = 2, .columns = 2, .values = other, .row_labels = words, .column_labels = words};
    }
    p[2].hidden = hidden;
    attn_heatmap_page_config c = with(p, 4);
    c.heads = 2;
    c.head = ATTN_HEAD_MEAN;
    char *text = page_of(c);
    assert_int_equal(count(text, "\"rows\":[\"苹果\",\"手机\"]"), 2);
    assert_int_equal(count(text, "\"AAAAPwAAAD8AAIA/AAAAAA==\",\"AAAAPwAAAD8AAIA/AAAAAA==\""), 2);
    assert_int_equal(count(text, "\"hidden\":[]"), 1);
    assert_int_equal(count(text, "\"numbers\":[]"), 2);
    assert_int_equal(count(text, "\"hidden\":[\"AAEAAA==\",\"\"]"), 1);
    assert_contains(text, "\"heads\":2,\"head\":-1,");
    free(text);
}

/* ---- what is refused ---- */

static void refused(attn_heatmap_page_config config, attn_status expected, const char *part)
{
    counting_allocator c;
    counting_init(&c, 0);
    attn_page page;
    attn_error error = {0};
    assert_int_equal(attn_heatmap_page(&config, &page, &c.value, &error), expected);
    assert_int_equal(error.status, expected);
    assert_contains(error.message, part);
    assert_null(page.bytes);
    assert_int_equal(c.live, 0);
    assert_int_equal(attn_heatmap_page(&config, &page, NULL, NULL), expected);
}

static void a_wrong_configuration_is_refused(void **state)
{
    (void)state;
    attn_heatmap_panel p[2] = {{.rows = 2, .columns = 2, .values = four}, {.rows = 1, .columns = 2, .values = four}};
    const attn_heatmap_panel empty = {.rows = 0, .columns = 2, .values = four}, nothing = {.rows = 1, .columns = 1};
    attn_heatmap_page_config c = with(p, 1);
    c.look.cmap = "jet";
    refused(c, ATTN_EINVAL, "no colour map is called \"jet\"");
    c = with(p, 1);
    c.look.vmin = 1;
    refused(c, ATTN_EINVAL, "vmin < vmax");
    c.look.vmin = INFINITY;
    refused(c, ATTN_EINVAL, "vmin < vmax");
    c = with(p, 1);
    c.look.digits = 16;
    refused(c, ATTN_EINVAL, "digits 16");
    c = with(p, 1);
    c.look.annotate = (attn_annotate)3;
    refused(c, ATTN_EINVAL, "annotate 3");
    c = with(p, 1);
    c.head = 1;
    refused(c, ATTN_EINVAL, "there is no head 1, the heads are 0..0");
    c = with(p, 2);
    c.heads = 2;
    refused(c, ATTN_ESHAPE, "panel 2 has 1 x 2 cells, the first head of its sentence 2 x 2");
    p[1].rows = 2;
    p[1].columns = 1;
    refused(c, ATTN_ESHAPE, "panel 2 has 2 x 1 cells, the first head of its sentence 2 x 2");
    c.heads = 3;
    refused(c, ATTN_EINVAL, "2 panels of sentences with 3 heads each");
    refused(with(&empty, 1), ATTN_EINVAL, "panel 1 is empty (0 x 2)");
    refused(with(&nothing, 1), ATTN_EINVAL, "panel 1 is empty");
    refused(with(NULL, 0), ATTN_EINVAL, "0 panels");
}

static void words_must_be_utf8(void **state)
{
    (void)state;
    static const char *const bad[] = {"ok", "a\xe4\xb8"};
    attn_heatmap_panel p = {.rows = 2, .columns = 2, .values = four, .column_labels = bad};
    refused(with(&p, 1), ATTN_EFORMAT, "page: text 2 of \"columns\" is not UTF-8: bad byte at offset 1");
    p.column_labels = NULL;
    attn_heatmap_page_config c = with(&p, 1);
    c.look.title = "\xff";
    refused(c, ATTN_EFORMAT, "page: text 1 of \"title\" is not UTF-8: bad byte at offset 0");
}

static void running_out_of_memory_is_an_error(void **state)
{
    (void)state;
    attn_heatmap_panel p = {.rows = 2, .columns = 2, .values = four, .row_labels = words, .column_labels = words};
    attn_heatmap_page_config config = with(&p, 1);
    attn_status status = ATTN_ENOMEM;
    for (long fail_at = 1; status != ATTN_OK; fail_at++) {
        counting_allocator c;
        attn_page page;
        attn_error error = {.message = ""};
        counting_init(&c, fail_at);
        status = attn_heatmap_page(&config, &page, &c.value, &error);
        assert_true(status == ATTN_OK || status == ATTN_ENOMEM);
        assert_string_equal(error.message, status == ATTN_OK ? "" : "page: out of memory");
        attn_page_free(&page);
        assert_int_equal(c.live, 0);
        assert_in_range(fail_at, 1, 100);
    }
}

static void a_page_that_cannot_be_written_leaves_nothing(void **state)
{
    (void)state;
    attn_heatmap_panel p = {.rows = 2, .columns = 2, .values = four};
    attn_heatmap_page_config config = with(&p, 1);
    attn_page page;
    attn_error error;
    struct stat info;
    assert_int_equal(attn_heatmap_page(&config, &page, NULL, NULL), ATTN_OK);
    assert_int_equal(attn_page_write("no/such/folder/page.html", &page, &error), ATTN_EIO);
    assert_contains(error.message, "no/such/folder/page.html: cannot write: ");
    assert_int_equal(attn_page_write("test_page.html", &page, &error), ATTN_OK);
    assert_int_equal(stat("test_page.html", &info), 0);
    assert_int_equal(info.st_size, page.size);
    assert_int_equal(remove("test_page.html"), 0);
    attn_page_free(&page);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(strings_cannot_end_their_element),
        cmocka_unit_test(numbers_read_back),
        cmocka_unit_test(commas_come_by_themselves),
        cmocka_unit_test(many_numbers_are_packed),
        cmocka_unit_test(text_is_escaped),
        cmocka_unit_test(a_page_has_one_of_everything),
        cmocka_unit_test(a_page_refers_to_nothing),
        cmocka_unit_test(the_language_is_that_of_the_labels),
        cmocka_unit_test(numbers_are_as_exact_as_they_came),
        cmocka_unit_test(heads_share_their_labels),
        cmocka_unit_test(a_wrong_configuration_is_refused),
        cmocka_unit_test(words_must_be_utf8),
        cmocka_unit_test(running_out_of_memory_is_an_error),
        cmocka_unit_test(a_page_that_cannot_be_written_leaves_nothing),
    };
    int failed = cmocka_run_group_tests_name("page", tests, NULL, NULL);
    free(written);
    return failed;
}

#include "core/json_scan.h"

#include <string.h>
#include <utf8proc.h>

#define DEEPEST 512

attn__scan attn__scan_new(char *bytes, size_t size)
{
    return (attn__scan){.begin = bytes, .at = bytes, .end = bytes + size};
}

/* In which bytes of x the highest bit tells of a zero; above the first of them it may lie. Source: Warren, "Hacker's Delight", 6-1. */
static uint64_t zero_bytes(uint64_t x)
{
    return (x - 0x0101010101010101U) & ~x;
}

size_t attn__scan_plain(const char *at, const char *end, bool ascii)
{
    const uint64_t each = 0x0101010101010101U;
    const char *p = at;
    for (uint64_t x; end - p >= 8; p += 8) {
        memcpy(&x, p, 8);
        uint64_t control = (x - each * ' ') & ~x;
        uint64_t stop = (zero_bytes(x ^ each * '"') | zero_bytes(x ^ each * '\\') | control | (ascii ? x : 0)) & each << 7;
        if (stop != 0) {
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
            return (size_t)(p - at) + (size_t)__builtin_ctzll(stop) / 8;
#else
            break;
#endif
        }
    }
    while (p < end && *p != '"' && *p != '\\' && (unsigned char)*p >= ' ' && (!ascii || (unsigned char)*p < 0x80)) {
        p++;
    }
    return (size_t)(p - at);
}

/* ---- checking: nothing is believed ---- */

static bool fail(attn__scan *s, const char *fault)
{
    s->fault = fault;
    return false;
}

static void skip_space(attn__scan *s)
{
    while (s->at < s->end && (*s->at == ' ' || *s->at == '\n' || *s->at == '\t' || *s->at == '\r')) {
        s->at++;
    }
}

/* The next character is this one, and is taken. */
static bool take(attn__scan *s, char c)
{
    bool here = s->at < s->end && *s->at == c;
    s->at += here;
    return here;
}

static bool is_digit(const attn__scan *s)
{
    return s->at < s->end && *s->at >= '0' && *s->at <= '9';
}

static int hex_value(char c)
{
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* Four hexadecimal digits, -1 if they are not there. */
static int32_t hex4(const char *at, const char *end)
{
    int32_t code = 0;
    for (int i = 0; i < 4; i++) {
        int digit = end - at > i ? hex_value(at[i]) : -1;
        if (digit < 0) {
            return -1;
        }
        code = code * 16 + digit;
    }
    return code;
}

/* The code point of \uXXXX at `at`, or of two of them; the bytes they take. 0 if it is none. */
static size_t escaped_code(const char *at, const char *end, int32_t *code)
{
    int32_t high = hex4(at + 2, end);
    if (high >= 0xD800 && high <= 0xDBFF && end - at >= 12 && at[6] == '\\' && at[7] == 'u') {
        int32_t low = hex4(at + 8, end);
        *code = 0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00);
        return low >= 0xDC00 && low <= 0xDFFF ? 12 : 0;
    }
    *code = high;
    return high > 0 && (high < 0xD800 || high > 0xDFFF) ? 6 : 0;
}

static bool check_escape(attn__scan *s)
{
    int32_t code;
    if (s->end - s->at < 2) {
        return fail(s, "a string without end");
    }
    char c = s->at[1];
    size_t n = c == '"' || c == '\\' ? 2 : c == 'u' ? escaped_code(s->at, s->end, &code) : c != '\0' && strchr("/bfnrt", c) != NULL ? 2 : 0;
    s->at += n;
    return n > 0 || fail(s, "an escape that is none, or of no character");
}

static bool check_string(attn__scan *s)
{
    if (!take(s, '"')) {
        return fail(s, "a string was expected");
    }
    while ((s->at += attn__scan_plain(s->at, s->end, true)) < s->end && *s->at != '"') {
        unsigned char c = (unsigned char)*s->at;
        if (c == '\\') {
            if (!check_escape(s)) {
                return false;
            }
        } else if (c < ' ') {
            return fail(s, "a control character in a string");
        } else {
            utf8proc_int32_t code;
            size_t left = (size_t)(s->end - s->at);
            utf8proc_ssize_t n = utf8proc_iterate((const utf8proc_uint8_t *)s->at, left < 4 ? (utf8proc_ssize_t)left : 4, &code);
            if (n <= 0) {
                return fail(s, "broken UTF-8");
            }
            s->at += n;
        }
    }
    return take(s, '"') || fail(s, "a string without end");
}

/* Its digits as an integer; false if 64 bits cannot hold it. */
static bool to_integer(const char *at, const char *end, int64_t *value)
{
    bool negative = *at == '-';
    uint64_t size = 0, most = (uint64_t)INT64_MAX + negative;
    for (at += negative; at < end; at++) {
        uint64_t digit = (uint64_t)(*at - '0');
        if (size > (most - digit) / 10) {
            return false;
        }
        size = size * 10 + digit;
    }
    *value = negative ? -(int64_t)(size - (size > 0)) - (size > 0) : (int64_t)size;
    return true;
}

static bool check_digits(attn__scan *s)
{
    if (!is_digit(s)) {
        return fail(s, "a digit was expected");
    }
    while (is_digit(s)) {
        s->at++;
    }
    return true;
}

static bool check_number(attn__scan *s)
{
    const char *begin = s->at;
    int64_t value;
    (void)take(s, '-');
    if (!take(s, '0') && !check_digits(s)) {
        return false;
    }
    const char *whole = s->at;
    if (take(s, '.') && !check_digits(s)) {
        return false;
    }
    if (take(s, 'e') || take(s, 'E')) {
        (void)(take(s, '+') || take(s, '-'));
        if (!check_digits(s)) {
            return false;
        }
    }
    return s->at > whole || s->any_integer || to_integer(begin, whole, &value) || fail(s, "too big an integer");
}

static bool check_word(attn__scan *s)
{
    static const char *const words[] = {"true", "false", "null"};
    for (int i = 0; i < 3; i++) {
        size_t n = strlen(words[i]);
        if ((size_t)(s->end - s->at) >= n && memcmp(s->at, words[i], n) == 0) {
            s->at += n;
            return true;
        }
    }
    return fail(s, s->at == s->end ? "the text ends too early" : "a value was expected");
}

/* What goes before an element of the container that `close` ends; false also if there is none and the container is done (no fault then). */
static bool check_element(attn__scan *s, char close, bool first)
{
    skip_space(s);
    if (first && take(s, close)) {
        return false;
    }
    if (close == '}') {
        if (!check_string(s)) {
            return false;
        }
        skip_space(s);
        return take(s, ':') || fail(s, "':' was expected");
    }
    return true;
}

/* One value. What is open at a time stands in a stack, so that depth costs a byte. */
static bool check_value(attn__scan *s)
{
    char open[DEEPEST];
    int depth = 0;
    for (bool value = true; value || depth > 0;) {
        if (value) {
            skip_space(s);
            char c = s->at < s->end ? *s->at : '\0';
            if (c == '{' || c == '[') {
                if (depth == DEEPEST) {
                    return fail(s, "maximum parsing depth reached");
                }
                s->at++;
                open[depth++] = c == '{' ? '}' : ']';
                value = check_element(s, open[depth - 1], true);
                depth -= !value;
            } else {
                value = false;
                (void)(c == '"' ? check_string(s) : c == '-' || (c >= '0' && c <= '9') ? check_number(s) : check_word(s));
            }
        } else {
            skip_space(s);
            if (take(s, ',')) {
                value = check_element(s, open[depth - 1], false);
            } else if (take(s, open[depth - 1])) {
                depth--;
            } else {
                return fail(s, s->at == s->end ? "the text ends too early" : "',' or the end of what is open was expected");
            }
        }
        if (s->fault != NULL) {
            return false;
        }
    }
    return true;
}

bool attn__scan_check(attn__scan *s)
{
    bool good = check_value(s);
    skip_space(s);
    if (good && s->at < s->end) {
        good = fail(s, "something follows the end");
    }
    s->at = good ? s->begin : s->at;
    return good;
}

/* ---- reading: everything has been checked ---- */

char attn__scan_peek(attn__scan *s)
{
    skip_space(s);
    return *s->at;
}

bool attn__scan_open(attn__scan *s)
{
    skip_space(s);
    char close = *s->at++ == '{' ? '}' : ']';
    skip_space(s);
    return !take(s, close);
}

bool attn__scan_more(attn__scan *s)
{
    skip_space(s);
    return *s->at++ == ',';
}

/* The character that the escape at `at` means, in UTF-8 at `to`; the bytes of both. */
static size_t unescape(const char *at, const char *end, char *to, size_t *written)
{
    static const char letters[] = "bfnrt", meant[] = "\b\f\n\r\t";
    *written = 1;
    if (at[1] == '"' || at[1] == '\\' || at[1] == '/') {
        *to = at[1];
    } else if (at[1] != 'u') {
        *to = meant[strchr(letters, at[1]) - letters];
    } else {
        int32_t code;
        size_t n = escaped_code(at, end, &code);
        *written = (size_t)utf8proc_encode_char(code, (utf8proc_uint8_t *)to);
        return n;
    }
    return 2;
}

char *attn__scan_string(attn__scan *s)
{
    skip_space(s);
    char *text = s->at + 1, *from = text, *to = text;
    for (;;) {
        size_t plain = attn__scan_plain(from, s->end, false), written;
        memmove(to, from, plain);
        from += plain;
        to += plain;
        if (*from == '"') {
            break;
        }
        from += unescape(from, s->end, to, &written); /* never more bytes than the escape has */
        to += written;
    }
    s->at = from + 1;
    *to = '\0';
    return text;
}

char *attn__scan_key(attn__scan *s)
{
    char *text = attn__scan_string(s);
    skip_space(s);
    s->at++; /* ':' */
    return text;
}

static void skip_string(attn__scan *s)
{
    for (s->at++; *s->at != '"'; s->at++) {
        s->at += *s->at == '\\';
    }
    s->at++;
}

bool attn__scan_integer(attn__scan *s, int64_t *value)
{
    char c = attn__scan_peek(s);
    const char *begin = s->at;
    attn__scan_skip(s);
    for (const char *p = begin; p < s->at; p++) {
        if (*p == '.' || *p == 'e' || *p == 'E') {
            return false;
        }
    }
    return (c == '-' || (c >= '0' && c <= '9')) && to_integer(begin, s->at, value);
}

void attn__scan_skip(attn__scan *s)
{
    int depth = 0;
    do {
        char c = attn__scan_peek(s);
        if (c == '"') {
            skip_string(s);
        } else if (c == '{' || c == '[' || c == '}' || c == ']') {
            depth += c == '{' || c == '[' ? 1 : -1;
            s->at++;
        } else if (c == ',' || c == ':') {
            s->at++;
        } else {
            while (s->at < s->end && strchr(" \t\r\n,]}", *s->at) == NULL) {
                s->at++;
            }
        }
    } while (depth > 0);
}

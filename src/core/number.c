/* Doubles from text and as text. strtod expects, and printf writes, the decimal point of the host program's locale; here it is always a
 * point. */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "core/core.h"

/* The longest exact decimal form of a double, with room: "-0." and 1074 digits. */
#define LONGEST 1200
#define POINT   8

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static const char *skip_digits(const char *at, const char *end)
{
    while (at < end && is_digit(*at)) {
        at++;
    }
    return at;
}

/* digits [. digits] [e [sign] digits], with a digit before or after the point. *point receives the place of the point, if any. */
static bool is_decimal(const char *at, const char *end, const char **point)
{
    const char *whole = at;
    at = skip_digits(at, end);
    bool digits = at > whole;
    if (at < end && *at == '.') {
        *point = at;
        const char *fraction = at + 1;
        at = skip_digits(fraction, end);
        digits = digits || at > fraction;
    }
    if (digits && at < end && (*at == 'e' || *at == 'E')) {
        at++;
        at += at < end && (*at == '+' || *at == '-');
        const char *exponent = at;
        at = skip_digits(exponent, end);
        digits = at > exponent;
    }
    return digits && at == end;
}

static bool is_word(const char *at, const char *end, const char *word)
{
    return (size_t)(end - at) == strlen(word) && strncasecmp(at, word, strlen(word)) == 0;
}

/* A number without sign and exponent whose digits, read as a whole number, are at most 2^53, and at most 22 of them behind the point: then
 * that number and the power of ten are doubles without an error, and their quotient rounds as strtod does. Source: Clinger 1990, "How to
 * read floating point numbers accurately", PLDI. False: it is not of this kind. */
static bool convert_short(const char *at, const char *end, double *value)
{
    static const double power[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                   1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    uint64_t digits = 0;
    size_t places = 0;
    bool fraction = false;
    for (; at < end && digits <= UINT64_C(1) << 53; at++) {
        if (is_digit(*at)) {
            digits = digits * 10 + (uint64_t)(*at - '0');
            places += fraction;
        } else if (*at == '.') {
            fraction = true;
        } else {
            return false;
        }
    }
    if (FLT_EVAL_METHOD != 0 || digits > UINT64_C(1) << 53 || places >= sizeof power / sizeof power[0]) {
        return false;
    }
    *value = (double)digits / power[places];
    return true;
}

/* What printf puts between the digits in the locale of the moment; may have several bytes. */
static size_t local_point(char text[POINT])
{
    char zero[POINT + 3];
    int n = snprintf(zero, sizeof zero, "%.1f", 0.0);
    if (n < 3 || n >= (int)sizeof zero) {
        return 0;
    }
    memcpy(text, zero + 1, (size_t)n - 2);
    return (size_t)n - 2;
}

/* Digits as strtod of this locale wants them. */
static bool convert(const char *text, size_t size, const char *point, double *value)
{
    char copy[LONGEST + POINT + 1], local[POINT];
    size_t before = point != NULL ? (size_t)(point - text) : size, n = before;
    if (size > LONGEST) {
        return false;
    }
    memcpy(copy, text, before);
    if (point != NULL) {
        size_t width = local_point(local);
        memcpy(copy + n, local, width);
        n += width;
        memcpy(copy + n, point + 1, size - before - 1);
        n += size - before - 1;
    }
    copy[n] = '\0';
    char *end;
    *value = strtod(copy, &end);
    return end == copy + n && isfinite(*value);
}

bool attn__parse_double(const char *text, size_t size, double *value)
{
    const char *end = text + size, *point = NULL;
    bool sign = size > 0 && (*text == '+' || *text == '-');
    const char *at = text + sign;
    if (is_word(at, end, "nan")) {
        *value = NAN;
        return true;
    }
    if (is_word(at, end, "inf") || is_word(at, end, "infinity")) {
        *value = *text == '-' ? -INFINITY : INFINITY;
        return true;
    }
    if (!is_decimal(at, end, &point)) {
        return false;
    }
    if (convert_short(at, end, value)) {
        *value = *text == '-' ? -*value : *value;
        return true;
    }
    return convert(text, size, point, value);
}

/* A point for what printf has put between the digits. */
static void restore_point(char *text)
{
    char local[POINT + 1] = "";
    size_t width = local_point(local);
    char *at = width > 0 ? strstr(text, local) : NULL;
    if (at != NULL) {
        *at = '.';
        memmove(at + 1, at + width, strlen(at + width) + 1);
    }
}

void attn__format_double(double v, char text[ATTN__DOUBLE_SIZE])
{
    double back = 0;
    for (int digits = 15; digits <= 17; digits++) {
        (void)snprintf(text, ATTN__DOUBLE_SIZE, "%.*g", digits, v);
        restore_point(text);
        if (attn__parse_double(text, strlen(text), &back) && back == v) {
            return;
        }
    }
}

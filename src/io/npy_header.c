/* The header of .npy: a dictionary as Python writes it, {'descr': '<f8', 'fortran_order': False, 'shape': (2, 3), }, of which the order of
 * the keys, the kind of quotes and the spaces do not matter. (numpy.lib.format describes it.) */
#include <stdio.h>
#include <string.h>

#include "io/io.h"

#define MOST_DIMS 64 /* of NumPy 2; 32 before */

typedef struct cursor {
    const attn__input *in;
    const char *at, *end;
} cursor;

/* A part of the header. */
typedef struct slice {
    const char *text;
    size_t size;
} slice;

static attn_status malformed(const cursor *c, const char *expected)
{
    return attn__input_fail(c->in, ATTN_EFORMAT, "no .npy header: %s expected before '%s'", expected,
                            attn__show(c->at, (size_t)(c->end - c->at)).text);
}

static void skip_space(cursor *c)
{
    while (c->at < c->end && (*c->at == ' ' || *c->at == '\n')) {
        c->at++;
    }
}

static bool accept(cursor *c, char wanted)
{
    skip_space(c);
    bool there = c->at < c->end && *c->at == wanted;
    c->at += there;
    return there;
}

static bool accept_word(cursor *c, const char *word)
{
    size_t size = strlen(word);
    skip_space(c);
    bool there = (size_t)(c->end - c->at) >= size && memcmp(c->at, word, size) == 0;
    c->at += there ? size : 0;
    return there;
}

/* 'text' or "text", without escapes. */
static bool accept_string(cursor *c, slice *out)
{
    skip_space(c);
    if (c->at == c->end || (*c->at != '\'' && *c->at != '"')) {
        return false;
    }
    const char *begin = c->at + 1, *stop = memchr(begin, *c->at, (size_t)(c->end - begin));
    if (stop == NULL) {
        return false;
    }
    *out = (slice){begin, (size_t)(stop - begin)};
    c->at = stop + 1;
    return true;
}

static bool is(slice s, const char *text)
{
    return s.size == strlen(text) && memcmp(s.text, text, s.size) == 0;
}

/* ---- descr ---- */

static attn_status refuse_dtype(const cursor *c, slice s)
{
    return attn__input_fail(c->in, ATTN_EFORMAT, "the dtype '%s' cannot be read, only floats, integers and bool of up to 64 bits",
                            attn__show(s.text, s.size).text);
}

/* Byte order, kind, bytes of an element: '<f4'. */
static attn_status read_descr(cursor *c, attn__npy *h)
{
    slice s;
    if (accept(c, '[')) {
        return attn__input_fail(c->in, ATTN_EFORMAT, "a structured dtype cannot be read, only plain numbers");
    }
    if (!accept_string(c, &s)) {
        return malformed(c, "a dtype in quotes");
    }
    if (s.size >= 2 && s.text[1] == 'O') {
        return attn__input_fail(c->in, ATTN_EFORMAT, "the dtype '%s' means pickled Python objects, which are never read",
                                attn__show(s.text, s.size).text);
    }
    if (s.size != 3 || strchr("<>|", s.text[0]) == NULL || strchr("fiub", s.text[1]) == NULL) {
        return refuse_dtype(c, s);
    }
    h->kind = s.text[1];
    h->size = s.text[2] - '0';
    h->big_endian = s.text[0] == '>';
    bool one = h->size == 1, more = h->size == 2 || h->size == 4 || h->size == 8;
    bool known = h->kind == 'b' ? one : h->kind == 'f' ? more : one || more;
    if (!known || (s.text[0] == '|' && !one)) {
        return refuse_dtype(c, s);
    }
    (void)snprintf(h->dtype, sizeof h->dtype, "%.*s", (int)s.size, s.text);
    return ATTN_OK;
}

/* ---- shape ---- */

/* A whole number that is not negative; Python 2 wrote an L after long ones. */
static bool accept_extent(cursor *c, int64_t *value)
{
    skip_space(c);
    const char *begin = c->at;
    *value = 0;
    for (; c->at < c->end && *c->at >= '0' && *c->at <= '9'; c->at++) {
        int digit = *c->at - '0';
        if (*value > (INT64_MAX - digit) / 10) {
            return false;
        }
        *value = *value * 10 + digit;
    }
    bool digits = c->at > begin;
    c->at += digits && c->at < c->end && *c->at == 'L';
    return digits;
}

/* Numbers and commas up to the closing bracket; returns how many, -1 if malformed. The first three are stored. */
static int accept_extents(cursor *c, int64_t extent[3])
{
    int n = 0;
    while (!accept(c, ')')) {
        int64_t value;
        if (n == MOST_DIMS || !accept_extent(c, &value)) {
            return -1;
        }
        if (n < 3) {
            extent[n] = value;
        }
        n++;
        if (!accept(c, ',')) { /* (3) is a number in Python, no tuple */
            return n > 1 && accept(c, ')') ? n : -1;
        }
    }
    return n;
}

static attn_status read_shape(cursor *c, attn__npy *h)
{
    int64_t extent[3] = {0};
    if (!accept(c, '(')) {
        return malformed(c, "a shape in brackets");
    }
    const char *begin = c->at - 1;
    int n = accept_extents(c, extent);
    if (n < 0) {
        return malformed(c, "whole numbers between commas, each below 2^63,");
    }
    h->shape = attn__show(begin, (size_t)(c->at - begin));
    if (n < 1 || n > 3) {
        return attn__input_fail(c->in, ATTN_EFORMAT, "an array of %d dimensions, shape %s, expected 1, 2 or 3", n, h->shape.text);
    }
    h->matrices = n == 3 ? extent[0] : 1;
    h->rows = n == 1 ? 1 : extent[n - 2];
    h->columns = extent[n - 1];
    if (h->matrices == 0 || h->rows == 0 || h->columns == 0) {
        return attn__input_fail(c->in, ATTN_EFORMAT, "an empty array, shape %s", h->shape.text);
    }
    return ATTN_OK;
}

/* ---- the dictionary ---- */

enum { DESCR = 1, ORDER = 2, SHAPE = 4, ALL = 7 };

/* One key and its value; *seen gains the key. */
static attn_status read_entry(cursor *c, attn__npy *h, int *seen)
{
    slice key;
    if (!accept_string(c, &key)) {
        return malformed(c, "a key in quotes");
    }
    int bit = is(key, "descr") ? DESCR : is(key, "fortran_order") ? ORDER : is(key, "shape") ? SHAPE : 0;
    if (bit == 0 || (*seen & bit) != 0) {
        return attn__input_fail(c->in, ATTN_EFORMAT, "the .npy header has the key '%s'%s, expected descr, fortran_order and shape",
                                attn__show(key.text, key.size).text, bit != 0 ? " twice" : "");
    }
    *seen |= bit;
    if (!accept(c, ':')) {
        return malformed(c, "':'");
    }
    if (bit == ORDER) {
        h->fortran = accept_word(c, "True");
        return h->fortran || accept_word(c, "False") ? ATTN_OK : malformed(c, "True or False");
    }
    return bit == DESCR ? read_descr(c, h) : read_shape(c, h);
}

attn_status attn__npy_header(const attn__input *in, const char *text, size_t size, attn__npy *h)
{
    cursor c = {in, text, text + size};
    int seen = 0;
    *h = (attn__npy){0};
    if (!accept(&c, '{')) {
        return malformed(&c, "'{'");
    }
    while (!accept(&c, '}')) {
        attn_status status = read_entry(&c, h, &seen);
        if (status != ATTN_OK) {
            return status;
        }
        if (!accept(&c, ',')) {
            if (accept(&c, '}')) {
                break;
            }
            return malformed(&c, "',' or '}'");
        }
    }
    skip_space(&c);
    if (c.at != c.end) {
        return malformed(&c, "the end of the header");
    }
    if (seen != ALL) {
        return attn__input_fail(in, ATTN_EFORMAT, "the .npy header lacks %s",
                                (seen & DESCR) == 0   ? "descr"
                                : (seen & ORDER) == 0 ? "fortran_order"
                                                      : "shape");
    }
    return ATTN_OK;
}

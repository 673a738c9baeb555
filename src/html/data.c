/* The data of a page: JSON inside a <script> element. The text of such an element ends at "</script", and after "<!--<script" not even
 * there; so < and > and & are written as \u003c and so on, which JSON reads as the same characters. So are U+2028 and U+2029, line ends to
 * JavaScript but not to JSON. Source: HTML, "restrictions for contents of script elements"; Go's encoding/json does the same. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "html/html.h"

/* A comma, unless a value is the first one of its array or object, or follows its key. */
static void separate(attn__html *h)
{
    char last = h->size > 0 ? h->bytes[h->size - 1] : '>';
    if (strchr("{[:>", last) == NULL) {
        attn__html_add(h, ",");
    }
}

void attn__data_open(attn__html *h, char bracket)
{
    separate(h);
    attn__html_bytes(h, &bracket, 1);
}

void attn__data_close(attn__html *h, char bracket)
{
    attn__html_bytes(h, &bracket, 1);
}

static void escape(attn__html *h, unsigned code)
{
    char text[8];
    (void)snprintf(text, sizeof text, "\\u%04x", code);
    attn__html_add(h, text);
}

/* `utf8` is UTF-8. Runs of plain characters are copied as a whole. */
static void quote(attn__html *h, const char *utf8)
{
    attn__html_add(h, "\"");
    for (const char *p = utf8; *p != '\0';) {
        const char *run = p;
        while ((unsigned char)*p >= ' ' && strchr("\"\\<>&\x7f\xe2", *p) == NULL) {
            p++;
        }
        attn__html_bytes(h, run, (size_t)(p - run));
        if (*p == '\xe2') {
            bool line_end = p[1] == '\x80' && (p[2] == '\xa8' || p[2] == '\xa9'); /* U+2028, U+2029; three bytes in any case */
            if (line_end) {
                escape(h, p[2] == '\xa8' ? 0x2028 : 0x2029);
            } else {
                attn__html_bytes(h, p, 3);
            }
            p += 3;
        } else if (*p != '\0') {
            escape(h, (unsigned char)*p);
            p++;
        }
    }
    attn__html_add(h, "\"");
}

static void checked_string(attn__html *h, const char *utf8, int64_t item)
{
    separate(h);
    if (utf8 == NULL) {
        attn__html_add(h, "null");
    } else if (attn__html_check(h, utf8, item)) {
        quote(h, utf8);
    }
}

void attn__data_key(attn__html *h, const char *name)
{
    separate(h);
    quote(h, name);
    attn__html_add(h, ":");
    h->key = name;
}

void attn__data_string(attn__html *h, const char *utf8)
{
    checked_string(h, utf8, 1);
}

void attn__data_strings(attn__html *h, const char *const *utf8, int64_t n)
{
    attn__data_open(h, '[');
    for (int64_t i = 0; i < n; i++) {
        checked_string(h, utf8[i] != NULL ? utf8[i] : "", i + 1);
    }
    attn__data_close(h, ']');
}

void attn__data_number(attn__html *h, double v)
{
    char text[ATTN__DOUBLE_SIZE];
    separate(h);
    if (isfinite(v)) {
        attn__format_double(v, text);
        attn__html_add(h, text);
    } else {
        attn__html_add(h, isnan(v) ? "null" : v > 0 ? "1e999" : "-1e999");
    }
}

void attn__data_numbers(attn__html *h, const double *v, int64_t n)
{
    attn__data_open(h, '[');
    for (int64_t i = 0; i < n; i++) {
        attn__data_number(h, v[i]);
    }
    attn__data_close(h, ']');
}

void attn__data_bool(attn__html *h, bool v)
{
    separate(h);
    attn__html_add(h, v ? "true" : "false");
}

/* ---- many numbers ---- */

static const struct {
    const char *name;
    int size;
} packing[] = {[ATTN__U8] = {"u8", 1}, [ATTN__F32] = {"f32", 4}, [ATTN__F64] = {"f64", 8}};

const char *attn__packing_name(attn__packing type)
{
    return packing[type].name;
}

/* The element's bytes, the lowest first, whatever the order of this machine. */
static void store(double v, attn__packing type, uint8_t *to)
{
    uint64_t bits;
    if (type == ATTN__U8) {
        bits = (uint8_t)v;
    } else if (type == ATTN__F32) {
        float single = (float)v;
        uint32_t low;
        memcpy(&low, &single, sizeof low);
        bits = low;
    } else {
        memcpy(&bits, &v, sizeof bits);
    }
    for (int i = 0; i < packing[type].size; i++) {
        to[i] = (uint8_t)(bits >> (8 * i));
    }
}

/* 1 to 3 bytes as 4 characters (RFC 4648). */
static void encode(const uint8_t *bytes, size_t n, char *to)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    unsigned group = (unsigned)bytes[0] << 16 | (n > 1 ? (unsigned)bytes[1] << 8 : 0) | (n > 2 ? bytes[2] : 0);
    to[0] = digits[group >> 18];
    to[1] = digits[group >> 12 & 63];
    to[2] = n > 1 ? digits[group >> 6 & 63] : '=';
    to[3] = n > 2 ? digits[group & 63] : '=';
}

/* Elements go through a buffer of whole groups: 3 elements are as many groups as an element has bytes. The values are doubles, or bytes. */
static void pack(attn__html *h, const void *values, bool bytes, int64_t n, attn__packing type)
{
    uint8_t buffer[3 * sizeof(double)] = {0};
    size_t size = (size_t)packing[type].size, total;
    separate(h);
    attn__html_add(h, "\"");
    if (!attn__size_mul((size_t)n, size, &total) || total > SIZE_MAX - 2) {
        attn__html_fail(h, ATTN_ENOMEM, "page: out of memory");
        return;
    }
    char *to = attn__html_room(h, (total + 2) / 3 * 4);
    for (int64_t i = 0; to != NULL && i < n; i += 3) {
        int64_t here = n - i < 3 ? n - i : 3;
        for (int64_t k = 0; k < here; k++) {
            store(bytes ? ((const uint8_t *)values)[i + k] : ((const double *)values)[i + k], type, buffer + (size_t)k * size);
        }
        for (size_t k = 0; k < (size_t)here * size; k += 3, to += 4) {
            encode(buffer + k, (size_t)here * size - k, to);
        }
    }
    attn__html_add(h, "\"");
}

void attn__data_packed(attn__html *h, const double *v, int64_t n, attn__packing type)
{
    pack(h, v, false, n, type);
}

void attn__data_packed_bytes(attn__html *h, const uint8_t *v, int64_t n)
{
    pack(h, v, true, n, ATTN__U8);
}

void attn__data_colors(attn__html *h, const char *cmap)
{
    char text[256 * 6 + 1];
    int map = attn_cmap_find(cmap != NULL ? cmap : "blues");
    for (int i = 0; i < 256; i++) {
        uint8_t rgb[3];
        attn_cmap_color(map, i / 255.0, rgb);
        (void)snprintf(text + 6 * i, 7, "%02x%02x%02x", rgb[0], rgb[1], rgb[2]);
    }
    attn__data_string(h, text);
}

#include <stdio.h>
#include <string.h>

#include <utf8proc.h>

#include "core/core.h"

const char *attn_status_name(attn_status status)
{
    switch (status) {
#define CASE(suffix, sentence) \
    case ATTN_##suffix:        \
        return "ATTN_" #suffix;
        ATTN_STATUS_MAP(CASE)
#undef CASE
    }
    return "ATTN_?";
}

const char *attn_status_sentence(attn_status status)
{
    switch (status) {
#define CASE(suffix, sentence) \
    case ATTN_##suffix:        \
        return sentence;
        ATTN_STATUS_MAP(CASE)
#undef CASE
    }
    return "unknown status";
}

#define TEXT2(x) #x
#define TEXT(x)  TEXT2(x)

const char *attn_version(void)
{
    return TEXT(ATTN_VERSION_MAJOR) "." TEXT(ATTN_VERSION_MINOR) "." TEXT(ATTN_VERSION_PATCH);
}

/* Takes an incomplete UTF-8 character off the end of a text. */
static void trim_character(char *text, size_t length)
{
    size_t begin = length;
    while (begin > 0 && length - begin < 4 && ((unsigned char)text[begin - 1] & 0xC0U) == 0x80) {
        begin--;
    }
    unsigned char first = begin > 0 ? (unsigned char)text[begin - 1] : 0;
    size_t wanted = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : first >= 0xC0 ? 2 : 1;
    if (begin > 0 && length - begin + 1 < wanted) {
        text[begin - 1] = '\0';
    }
}

/* One line of UTF-8, whatever names from outside are in it: '?' for control characters and for bytes that are no character. */
static void make_printable(char *text)
{
    char *to = text;
    for (const char *from = text; *from != '\0';) {
        utf8proc_int32_t c;
        utf8proc_ssize_t read = utf8proc_iterate((const utf8proc_uint8_t *)from, -1, &c);
        size_t n = read > 0 ? (size_t)read : 1;
        if (read > 0 && c >= 0x20 && (c < 0x7F || c > 0x9F)) {
            memmove(to, from, n);
            to += n;
        } else {
            *to++ = '?';
        }
        from += n;
    }
    *to = '\0';
}

attn_status attn__vfail(attn_error *error, attn_status status, const char *format, va_list args)
{
    if (error != NULL) {
        error->status = status;
        if (vsnprintf(error->message, sizeof error->message, format, args) >= (int)sizeof error->message) {
            trim_character(error->message, sizeof error->message - 1);
        }
        make_printable(error->message);
    }
    return status;
}

attn_status(attn__fail)(attn_error *error, attn_status status, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    attn__vfail(error, status, format, args);
    va_end(args);
    return status;
}

const char *attn__quote(const char *text, char quoted[ATTN__QUOTE_SIZE])
{
    const size_t most = ATTN__QUOTE_SIZE - sizeof "...";
    size_t size = strlen(text), n = size < most ? size : most;
    while (n < size && n > 0 && ((unsigned char)text[n] & 0xC0U) == 0x80) {
        n--; /* not inside a character */
    }
    for (size_t i = 0; i < n; i++) {
        quoted[i] = (unsigned char)text[i] < 0x20 || text[i] == 0x7F ? '?' : text[i];
    }
    memcpy(quoted + n, n < size ? "..." : "", n < size ? sizeof "..." : 1);
    return quoted;
}

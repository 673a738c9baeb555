/* Validity and width of UTF-8. */
#include <string.h>
#include <utf8proc.h>

#include "attn/corpus.h"

/* Bytes of the character at `bytes` and its code point; negative if it is broken. */
static utf8proc_ssize_t decode(const char *bytes, size_t size, utf8proc_int32_t *code)
{
    /* No character is longer than 4 bytes; a negative size would mean "until the zero byte". */
    return utf8proc_iterate((const utf8proc_uint8_t *)bytes, size < 4 ? (utf8proc_ssize_t)size : 4, code);
}

int64_t attn_utf8_fault(const char *bytes, size_t size)
{
    for (size_t i = 0; i < size;) {
        utf8proc_int32_t code;
        utf8proc_ssize_t n = (unsigned char)bytes[i] < 0x80 ? 1 : decode(bytes + i, size - i, &code);
        if (n <= 0) {
            return (int64_t)i;
        }
        i += (size_t)n;
    }
    return -1;
}

int attn_utf8_width(const char *text)
{
    int width = 0;
    for (size_t i = 0, size = strlen(text); i < size;) {
        utf8proc_int32_t code;
        utf8proc_ssize_t n = decode(text + i, size - i, &code);
        width += n > 0 ? utf8proc_charwidth(code) : 1; /* a broken byte is shown as one replacement character */
        i += n > 0 ? (size_t)n : 1;
    }
    return width;
}

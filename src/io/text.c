/* Lines of a text. */
#include <string.h>
#include <utf8proc.h>

#include "io/io.h"

/* Bytes of the character at `at`; 0 or less if there is no sound one, or a zero byte. */
static utf8proc_ssize_t character(const char *at, size_t left)
{
    utf8proc_int32_t code;
    if ((unsigned char)*at < 0x80) {
        return *at != '\0';
    }
    return utf8proc_iterate((const utf8proc_uint8_t *)at, left < 4 ? (utf8proc_ssize_t)left : 4, &code);
}

attn_status attn__text_open(attn__input *in)
{
    if (in->size >= 3 && memcmp(in->bytes, "\xEF\xBB\xBF", 3) == 0) {
        in->bytes += 3;
        in->size -= 3;
    }
    long long line = 1;
    size_t start = 0;
    for (size_t i = 0; i < in->size;) {
        utf8proc_ssize_t n = character(in->bytes + i, in->size - i);
        if (n <= 0) {
            unsigned char bad = (unsigned char)in->bytes[i];
            return attn__fail(in->error, ATTN_EFORMAT, "%s:%lld: %s at byte %zu of the line (0x%02X), expected UTF-8 text", in->name, line,
                              bad == 0 ? "a zero byte" : "broken UTF-8", i - start, bad);
        }
        if (in->bytes[i] == '\n') {
            line++;
            start = i + 1;
        }
        i += (size_t)n;
    }
    return ATTN_OK;
}

attn__text_lines attn__lines_of(const attn__input *in)
{
    return (attn__text_lines){.next = in->bytes, .end = in->bytes + in->size};
}

bool attn__next_line(attn__text_lines *lines)
{
    if (lines->next == lines->end) {
        return false;
    }
    const char *newline = memchr(lines->next, '\n', (size_t)(lines->end - lines->next));
    const char *stop = newline != NULL ? newline : lines->end;
    lines->number++;
    lines->text = lines->next;
    lines->next = newline != NULL ? newline + 1 : lines->end;
    lines->size = (size_t)(stop - lines->text);
    lines->size -= lines->size > 0 && stop[-1] == '\r';
    return true;
}

attn__shown attn__show(const char *text, size_t size)
{
    attn__shown shown = {""};
    char part[ATTN__QUOTE_SIZE + 4]; /* one character more than is shown */
    size_t n = size < sizeof part - 1 ? size : sizeof part - 1;
    memcpy(part, text, n);
    part[n] = '\0';
    (void)attn__quote(part, shown.text);
    return shown;
}

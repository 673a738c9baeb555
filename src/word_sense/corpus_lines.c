/* Lines and their parts: what the readers of both layouts share. */
#include <stdio.h>
#include <string.h>

#include "core/file.h"
#include "word_sense/corpus.h"

/* ---- lines ---- */

const char *attn__file_name(const char *path)
{
    return strcmp(path, "-") == 0 ? "standard input" : path;
}

attn_status attn__lines_open(attn_corpus *c, const char *path, attn__lines *lines, attn_error *error)
{
    char *bytes;
    size_t size;
    attn_status status = attn__read_file(path, &c->allocator, &bytes, &size, error);
    if (status != ATTN_OK) {
        return status;
    }
    const char *name = attn__file_name(path);
    char *text = attn__arena_copy(&c->arena, bytes, size + 1);
    const char *file = attn__arena_copy(&c->arena, name, strlen(name) + 1);
    attn__free(&c->allocator, bytes);
    if (text == NULL || file == NULL) {
        return attn__fail(error, ATTN_ENOMEM, "%s: out of memory", name);
    }
    size_t mark = size >= 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0 ? 3 : 0;
    *lines = (attn__lines){.file = file, .next = text + mark, .end = text + size, .text = text + size};
    return ATTN_OK;
}

bool attn__lines_next(attn__lines *lines)
{
    lines->number++;
    lines->text = lines->next;
    lines->size = 0;
    if (lines->next == lines->end) {
        return false;
    }
    char *newline = memchr(lines->next, '\n', (size_t)(lines->end - lines->next));
    char *stop = newline != NULL ? newline : lines->end;
    lines->next = newline != NULL ? newline + 1 : lines->end;
    if (stop > lines->text && stop[-1] == '\r') {
        stop--;
    }
    *stop = '\0';
    lines->size = (size_t)(stop - lines->text);
    return true;
}

bool attn__lines_blank(const attn__lines *lines)
{
    return strspn(lines->text, " \t") == lines->size;
}

attn_status(attn__lines_fail)(const attn__lines *lines, attn_error *error, const char *format, ...)
{
    char message[ATTN_MESSAGE_SIZE];
    va_list args;
    va_start(args, format);
    (void)vsnprintf(message, sizeof message, format, args);
    va_end(args);
    return attn__fail(error, ATTN_EFORMAT, "%s:%lld: %s", lines->file, (long long)lines->number, message);
}

attn_status attn__lines_check(const attn__lines *lines, attn_error *error)
{
    const char *zero = memchr(lines->text, '\0', lines->size);
    if (zero != NULL) {
        return attn__lines_fail(lines, error, "zero byte at byte %lld of the line, expected UTF-8 (UTF-16 has such bytes)",
                                (long long)(zero - lines->text));
    }
    int64_t fault = attn_utf8_fault(lines->text, lines->size);
    if (fault >= 0) {
        return attn__lines_fail(lines, error, "broken UTF-8 at byte %lld of the line (0x%02X), expected UTF-8", (long long)fault,
                                (unsigned char)lines->text[fault]);
    }
    return ATTN_OK;
}

/* ---- parts of a line ---- */

size_t attn__ascii_space(const char *at)
{
    return *at == ' ';
}

size_t attn__unicode_space(const char *at)
{
    const unsigned char *u = (const unsigned char *)at; /* zero-terminated: a test of u[1] implies that u[0] is no end */
    if (u[0] < 0x80) {
        return u[0] == ' ' || (u[0] >= 0x09 && u[0] <= 0x0D) || (u[0] >= 0x1C && u[0] <= 0x1F);
    }
    if (u[0] == 0xC2) { /* U+0085, U+00A0 */
        return u[1] == 0x85 || u[1] == 0xA0 ? 2 : 0;
    }
    if (u[0] == 0xE1) { /* U+1680 */
        return u[1] == 0x9A && u[2] == 0x80 ? 3 : 0;
    }
    if (u[0] == 0xE2 && u[1] == 0x80) { /* U+2000 to U+200A, U+2028, U+2029, U+202F */
        return (u[2] >= 0x80 && u[2] <= 0x8A) || u[2] == 0xA8 || u[2] == 0xA9 || u[2] == 0xAF ? 3 : 0;
    }
    if (u[0] == 0xE2) { /* U+205F */
        return u[1] == 0x81 && u[2] == 0x9F ? 3 : 0;
    }
    return u[0] == 0xE3 && u[1] == 0x80 && u[2] == 0x80 ? 3 : 0; /* U+3000 */
}

/* Counts the tokens; if `tokens` is given, also stores and terminates them. */
static int64_t cut(char *text, attn__separator separator, const char **tokens)
{
    int64_t count = 0;
    for (char *at = text;; count++) {
        for (size_t n = separator(at); n > 0; n = separator(at)) {
            at += n;
        }
        if (*at == '\0') {
            return count;
        }
        char *begin = at;
        while (*at != '\0' && separator(at) == 0) {
            at++; /* a byte inside a character starts no separator */
        }
        if (tokens != NULL) {
            tokens[count] = begin;
            size_t n = separator(at);
            *at = '\0';
            at += n;
        }
    }
}

attn_status attn__cut(attn_corpus *c, char *text, attn__separator separator, attn_example *e)
{
    int64_t count = cut(text, separator, NULL);
    if (count > INT32_MAX) {
        return ATTN_ERANGE;
    }
    const char **tokens = attn__arena_array(&c->arena, count, sizeof *tokens);
    if (tokens == NULL) {
        return ATTN_ENOMEM;
    }
    cut(text, separator, tokens);
    e->tokens = tokens;
    e->length = (int)count;
    return ATTN_OK;
}

bool attn__decimal(const char *text, int64_t *value)
{
    int64_t number = 0;
    const char *at = text;
    for (; *at >= '0' && *at <= '9'; at++) {
        int digit = *at - '0';
        if (number > (INT64_MAX - digit) / 10) {
            return false;
        }
        number = number * 10 + digit;
    }
    *value = number;
    return at > text && *at == '\0';
}

attn_status attn__read_target(const attn__lines *lines, const char *field, attn_example *e, attn_error *error)
{
    int64_t index;
    if (field[0] == '\0' || field[strspn(field, "0123456789")] != '\0') {
        return attn__lines_fail(lines, error, "index '%s' is no decimal number, expected the position of the word, 0 to %d",
                                ATTN__QUOTE(field), e->length - 1);
    }
    if (!attn__decimal(field, &index) || index >= e->length) {
        return attn__lines_fail(lines, error, "index %s is outside of the sentence of %d token%s, expected 0 to %d", ATTN__QUOTE(field),
                                e->length, e->length == 1 ? "" : "s", e->length - 1);
    }
    e->target = (int)index;
    e->word = e->tokens[index];
    return ATTN_OK;
}

const char *attn__label_fault(const char *label)
{
    if (label[strcspn(label, "\t\r\n")] != '\0') {
        return "holds a tab or a line end";
    }
    for (const char *part = label;; part++) {
        size_t size = strcspn(part, ";");
        if (strspn(part, " ") >= size) {
            return size == strlen(label) ? "is empty" : "has an empty part beside a ';'";
        }
        part += size;
        if (*part == '\0') {
            return NULL;
        }
    }
}

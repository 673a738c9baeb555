#include <stdlib.h>
#include <string.h>

#include "cli.h"

void print_json(json_t *object)
{
    char *text = object != NULL ? json_dumps(object, JSON_COMPACT | JSON_REAL_PRECISION(12)) : NULL;
    json_decref(object);
    if (text == NULL) { /* memory that is out has ended the program before */
        exit(fail("JSON cannot hold a name that is not UTF-8, or a number that is not finite"));
    }
    puts(text);
    free(text);
}

void print_json_text(const char *text)
{
    putchar('"');
    while (*text != '\0') {
        size_t plain = 0;
        while ((unsigned char)text[plain] >= ' ' && text[plain] != '"' && text[plain] != '\\') {
            plain++;
        }
        (void)fwrite(text, 1, plain, stdout);
        text += plain;
        if (*text != '\0') {
            printf((unsigned char)*text < ' ' ? "\\u%04x" : "\\%c", (unsigned char)*text);
            text++;
        }
    }
    putchar('"');
}

/* Bytes of the control character at `text`; 0: it is none. */
static size_t control_at(const char *text)
{
    unsigned char first = (unsigned char)text[0], second = first != '\0' ? (unsigned char)text[1] : 0;
    return first != '\0' && (first < ' ' || first == 0x7F) ? 1 : first == 0xC2 && second >= 0x80 && second < 0xA0 ? 2 : 0;
}

void hide_controls(char *text)
{
    for (size_t n; *text != '\0'; text += n > 0 ? n : 1) {
        n = control_at(text);
        memset(text, '?', n);
    }
}

void print_text(const char *text)
{
    for (size_t n = 1; *text != '\0'; text += n) {
        n = control_at(text);
        if (n == 0) {
            putchar((unsigned char)*text);
            n = 1;
        } else if (n == 1) { /* U+2400 .. U+2421 */
            printf("\xE2\x90%c", *text == 0x7F ? 0xA1 : 0x80 + *text);
        } else {
            fputs("\xEF\xBF\xBD", stdout); /* U+FFFD */
        }
    }
}

void print_token(int i, const char *token, bool asked)
{
    fputs(i > 0 ? " " : "", stdout);
    fputs(asked ? "[" : "", stdout);
    print_text(token);
    fputs(asked ? "]" : "", stdout);
}

int text_width(const char *text)
{
    int width = attn_utf8_width(text);
    for (; *text != '\0'; text++) {
        width += control_at(text) > 0;
    }
    return width;
}

void print_padded(const char *text, int width)
{
    print_text(text);
    for (int i = text_width(text); i < width; i++) {
        putchar(' ');
    }
}

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"

void print_json(json_t *object)
{
    char *text = object != NULL ? json_dumps(object, JSON_COMPACT | JSON_REAL_PRECISION(12)) : NULL;
    json_decref(object);
    if (text == NULL) {
        exit(fail("out of memory"));
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

void print_json_real(double x)
{
    char text[40];
    int n = snprintf(text, sizeof text, "%.12g", x);
    if (!isfinite(x)) {
        fputs("null", stdout);
        return;
    }
    (void)fwrite(text, 1, (size_t)n, stdout);
    if (strpbrk(text, ".e") == NULL) {
        fputs(".0", stdout);
    }
}

void print_padded(const char *text, int width)
{
    fputs(text, stdout);
    for (int i = attn_utf8_width(text); i < width; i++) {
        putchar(' ');
    }
}

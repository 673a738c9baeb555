#include <stdlib.h>

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

void print_padded(const char *text, int width)
{
    fputs(text, stdout);
    for (int i = attn_utf8_width(text); i < width; i++) {
        putchar(' ');
    }
}

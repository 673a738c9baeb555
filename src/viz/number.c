/* Doubles as text. printf writes the decimal point of the host program's locale; here it is always a point. */
#include "viz/viz.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static bool is_ours(char c)
{
    return c != '\0' && strchr("0123456789+-einfa", c) != NULL;
}

/* Replaces whatever stands between the digits, one byte or several, by a point. */
static void unlocalise(char *text)
{
    size_t n = 0;
    for (size_t i = 0; text[i] != '\0'; i++) {
        if (is_ours(text[i])) {
            text[n++] = text[i];
        } else if (n == 0 || text[n - 1] != '.') {
            text[n++] = '.';
        }
    }
    text[n] = '\0';
}

static void drop_sign_of_zero(char *text)
{
    if (text[0] == '-' && strspn(text + 1, "0.") == strlen(text + 1)) {
        memmove(text, text + 1, strlen(text));
    }
}

void attn__number_fixed(double v, int digits, char text[ATTN__NUMBER_SIZE])
{
    if (fabs(v) < 1e6) {
        (void)snprintf(text, ATTN__NUMBER_SIZE, "%.*f", digits, v);
    } else {
        (void)snprintf(text, ATTN__NUMBER_SIZE, "%.*e", digits, v);
    }
    unlocalise(text);
    drop_sign_of_zero(text);
}

void attn__number_short(double v, char text[ATTN__NUMBER_SIZE])
{
    (void)snprintf(text, ATTN__NUMBER_SIZE, "%.4g", v);
    unlocalise(text);
    drop_sign_of_zero(text);
}

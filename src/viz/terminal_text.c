/* Characters and colours of a terminal. */
#include <math.h>
#include <stdio.h>

#include <utf8proc.h>

#include "viz/viz.h"

/* ---- characters ---- */

/* What is written for a character: nothing that could control the terminal or turn the order of what follows. Control characters below 0x80
 * are pictures already. 0: nothing. */
static int32_t harmless(int32_t code)
{
    switch (utf8proc_category(code)) {
    case UTF8PROC_CATEGORY_CF:
        return code == 0x200c || code == 0x200d ? code : 0; /* joiners belong to their grapheme */
    case UTF8PROC_CATEGORY_CC:
    case UTF8PROC_CATEGORY_CN:
    case UTF8PROC_CATEGORY_ZL:
    case UTF8PROC_CATEGORY_ZP:
        return 0xfffd;
    default:
        return code;
    }
}

/* The grapheme that begins at character i: where it ends, and its columns. Joined emoji are as wide as their widest. */
static int grapheme(const attn__text *t, int i, int *columns)
{
    utf8proc_int32_t state = 0;
    int end = i;
    *columns = 0;
    do {
        int32_t code = harmless(t->codes[end]);
        int width = code != 0 ? utf8proc_charwidth(code) : 0;
        *columns = width > *columns ? width : *columns;
        end++;
    } while (end < t->n && !utf8proc_grapheme_break_stateful(t->codes[end - 1], t->codes[end], &state));
    return end;
}

static void put(attn__out *o, const attn__text *t, int i, int end)
{
    for (; i < end; i++) {
        int32_t code = harmless(t->codes[i]);
        if (code != 0) {
            attn__out_code(o, code);
        }
    }
}

int attn__text_columns(const attn__text *t)
{
    int sum = 0, columns;
    for (int i = 0; i < t->n; sum += columns) {
        i = grapheme(t, i, &columns);
    }
    return sum;
}

int attn__put_columns(attn__out *o, const attn__text *t, int room)
{
    bool whole = attn__text_columns(t) <= room;
    int used = 0, columns, most = whole ? room : room - 1;
    for (int i = 0, end; i < t->n; i = end) {
        end = grapheme(t, i, &columns);
        if (used + columns > most) {
            break;
        }
        put(o, t, i, end);
        used += columns;
    }
    if (!whole && room > 0) {
        attn__out_code(o, ATTN__ELLIPSIS);
        used++;
    }
    return used;
}

int attn__graphemes(const attn__text *t)
{
    int n = 0, columns;
    for (int i = 0; i < t->n; n++) {
        i = grapheme(t, i, &columns);
    }
    return n;
}

int attn__put_grapheme(attn__out *o, const attn__text *t, int which)
{
    int columns = 0;
    for (int i = 0, end; i < t->n; i = end, which--) {
        end = grapheme(t, i, &columns);
        if (which == 0) {
            put(o, t, i, end);
            return columns;
        }
    }
    return 0;
}

/* ---- colours ---- */

/* xterm's palette from 16 on: a cube of 6 x 6 x 6 colours, then 24 greys. */
static void palette_color(int n, uint8_t rgb[3])
{
    static const uint8_t levels[6] = {0, 95, 135, 175, 215, 255};
    for (int c = 0, power = 36; c < 3; c++, power /= 6) {
        rgb[c] = n < 216 ? levels[n / power % 6] : (uint8_t)(8 + 10 * (n - 216));
    }
}

/* The number of the nearest colour, and what it looks like. Near to the eye: in RGB the nearest colours of a ramp change their hue. */
static int palette(const uint8_t rgb[3], uint8_t shown[3])
{
    double wanted[3], best = INFINITY;
    int nearest = 0;
    attn__oklab(rgb, wanted);
    for (int n = 0; n < 240; n++) {
        uint8_t color[3];
        double lab[3], distance = 0;
        palette_color(n, color);
        attn__oklab(color, lab);
        for (int c = 0; c < 3; c++) {
            distance += (lab[c] - wanted[c]) * (lab[c] - wanted[c]);
        }
        if (distance < best) {
            best = distance;
            nearest = n;
        }
    }
    palette_color(nearest, shown);
    return 16 + nearest;
}

/* "\033[48;2;R;G;Bm", or with 38 for the text. */
static int color_sequence(attn_terminal_colors colors, int what, const uint8_t rgb[3], char *to, size_t room)
{
    uint8_t shown[3];
    switch (colors) {
    case ATTN_COLORS_24BIT:
        return snprintf(to, room, "\033[%d;2;%d;%d;%dm", what, rgb[0], rgb[1], rgb[2]);
    case ATTN_COLORS_256:
        return snprintf(to, room, "\033[%d;5;%dm", what, palette(rgb, shown));
    default:
        return 0;
    }
}

void attn__put_colors(attn__out *o, attn_terminal_colors colors, const uint8_t *text, const uint8_t *ground)
{
    char sequence[ATTN_SEQUENCE_SIZE];
    const uint8_t *const of[2] = {text, ground};
    for (int i = 0; i < 2; i++) {
        int n = of[i] != NULL ? color_sequence(colors, i == 0 ? 38 : 48, of[i], sequence, sizeof sequence) : 0;
        attn__out_bytes(o, sequence, (size_t)n);
    }
}

const char *attn_terminal_ground(attn_terminal_colors colors, const uint8_t rgb[3], char sequence[ATTN_SEQUENCE_SIZE])
{
    static const uint8_t black[3] = {0, 0, 0}, white[3] = {255, 255, 255};
    uint8_t shown[3] = {rgb[0], rgb[1], rgb[2]};
    if (colors == ATTN_COLORS_256) {
        (void)palette(rgb, shown);
    }
    sequence[0] = '\0';
    int n = color_sequence(colors, 38, attn_black_text(shown) ? black : white, sequence, ATTN_SEQUENCE_SIZE);
    (void)color_sequence(colors, 48, rgb, sequence + n, ATTN_SEQUENCE_SIZE - (size_t)n);
    return sequence;
}

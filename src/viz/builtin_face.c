/* Letters without any font, and the box that stands for a character which no font has. */
#include "viz/viz.h"

#include <math.h>

#define FACE_COLUMNS  5
#define FACE_ROWS     9 /* 7 above the baseline, 2 below */
#define FACE_RISE     7
#define FACE_PER_LINE 16

/* ASCII 32..127, sixteen letters a line of nine rows, six columns a letter. */
/* clang-format off */
static const char face[6 * FACE_ROWS][96] = {
    "        #    # #   # #    #   ##  #  ##     #      #   #                                      #",
    "        #    # #   # #   #### ##  # #  #    #     #     #   # # #   #                         #",
    "        #    # #  ##### # #      #  # #     #    #       #   ###    #                        # ",
    "        #          # #   ###    #    #           #       #  ##### #####        ###          #  ",
    "        #         #####   # #  #    # # #        #       #   ###    #     ##               #   ",
    "                   # #  ####  #  ## #  #          #     #   # # #   #     ##         ##   #    ",
    "        #          # #    #   #  ##  ## #          #   #                   #         ##   #    ",
    "                                                                          #                    ",
    "                                                                                               ",
    " ###    #    ###   ###     #  #####   ##  #####  ###   ###                                 ### ",
    "#   #  ##   #   # #   #   ##  #      #        # #   # #   #  ##     ##     ##       ##    #   #",
    "#  ## # #       #     #  # #  ####  #        #  #   # #   #  ##     ##   ##   #####   ##      #",
    "# # #   #     ##    ##  #  #      # ####     #   ###   ####             #               #    # ",
    "##  #   #    #        # #####     # #   #   #   #   #     #         ##   ##   #####   ##    #  ",
    "#   #   #   #     #   #    #  #   # #   #   #   #   #    #   ##     ##     ##       ##         ",
    " ###  ##### #####  ###     #   ###   ###    #    ###   ##    ##      #                      #  ",
    "                                                                    #                          ",
    "                                                                                               ",
    " ###    #   ####   ###  ###   ##### #####  ###  #   #  ###    ### #   # #     #   # #   #  ### ",
    "#   #  # #  #   # #   # #  #  #     #     #   # #   #   #      #  #  #  #     ## ## ##  # #   #",
    "# ###  # #  #   # #     #   # #     #     #     #   #   #      #  # #   #     # # # ##  # #   #",
    "# # # #   # ####  #     #   # ####  ####  #  ## #####   #      #  ##    #     # # # # # # #   #",
    "# ### ##### #   # #     #   # #     #     #   # #   #   #      #  # #   #     #   # #  ## #   #",
    "#     #   # #   # #   # #  #  #     #     #   # #   #   #   #  #  #  #  #     #   # #  ## #   #",
    " #### #   # ####   ###  ###   ##### #      #### #   #  ###   ##   #   # ##### #   # #   #  ### ",
    "                                                                                               ",
    "                                                                                               ",
    "####   ###  ####   #### ##### #   # #   # #   # #   # #   # #####  ###  #      ###    #        ",
    "#   # #   # #   # #       #   #   # #   # #   # #   # #   #     #  #    #        #   # #       ",
    "#   # #   # #   # #       #   #   # #   # #   #  # #   # #     #   #     #       #  #   #      ",
    "####  #   # ####   ###    #   #   #  # #  # # #   #     #     #    #      #      #             ",
    "#     # # # # #       #   #   #   #  # #  # # #  # #    #    #     #       #     #             ",
    "#     #  #  #  #      #   #   #   #   #   ## ## #   #   #   #      #        #    #             ",
    "#      ## # #   # ####    #    ###    #   #   # #   #   #   #####  ###      #  ###             ",
    "                                                                                          #####",
    "                                                                                               ",
    " #          #               #         ##        #       #      #  #      ##                    ",
    "  #         #               #        #          #                 #       #                    ",
    "   #   ###  ####   ###   ####  ###  ####   #### # ##   ##     ##  #  #    #   ## #  # ##   ### ",
    "          # #   # #   # #   # #   #  #    #   # ##  #   #      #  # #     #   # # # ##  # #   #",
    "       #### #   # #     #   # #####  #    #   # #   #   #      #  ##      #   # # # #   # #   #",
    "      #   # #   # #   # #   # #      #    #   # #   #   #      #  # #     #   # # # #   # #   #",
    "       #### ####   ###   ####  ###   #     #### #   #  ###     #  #  #   ###  # # # #   #  ### ",
    "                                              #                #                               ",
    "                                           ###               ##                                ",
    "                         #                                           ##   #   ##               ",
    "                         #                                          #     #     #              ",
    "####   #### # ##   #### ####  #   # #   # #   # #   # #   # #####   #     #     #    #  #      ",
    "#   # #   # ##  # #      #    #   # #   # # # #  # #  #   #    #   #      #      #  # # #      ",
    "#   # #   # #      ###   #    #   #  # #  # # #   #   #   #   #     #     #     #   #  #       ",
    "#   # #   # #         #  #  # #  ##  # #  # # #  # #  #  ##  #      #     #     #              ",
    "####   #### #     ####    ##   ## #   #    # #  #   #  ## # #####    ##   #   ##               ",
    "#         #                                               #               #                    ",
    "#         #                                            ###                                     ",
};

/* 0..F, four columns a digit. */
static const char hex[5][64] = {
    "###  #  ### ### # # ### ### ### ### ###  #  ##   ## ##  ### ###",
    "# # ##    #   # # # #   #     # # # # # # # # # #   # # #   #  ",
    "# #  #  ###  ## ### ### ###  #  ### ### ### ##  #   # # ##  ## ",
    "# #  #  #     #   #   # # #  #  # #   # # # # # #   # # #   #  ",
    "### ### ### ###   # ### ###  #  ### ### # # ##   ## ##  ### #  ",
};
/* clang-format on */

static bool face_dot(int32_t code, int column, int row)
{
    int letter = (int)code - ' ';
    return face[letter / FACE_PER_LINE * FACE_ROWS + row][letter % FACE_PER_LINE * (FACE_COLUMNS + 1) + column] == '#';
}

/* Pixels a dot: capitals are 0.72 em high. */
static double dot(int size)
{
    return 0.72 * size / FACE_RISE;
}

bool attn__builtin_has(int32_t code)
{
    return code >= ' ' && code <= '~';
}

double attn__builtin_advance(int32_t code, int size)
{
    (void)code; /* every letter is as wide as every other */
    return dot(size) * (FACE_COLUMNS + 1);
}

/* Columns and rows that have dots. */
static attn__box dots(int32_t code)
{
    attn__box b = {0, 0, 0, 0};
    for (int row = 0; row < FACE_ROWS; row++) {
        for (int column = 0; column < FACE_COLUMNS; column++) {
            if (face_dot(code, column, row)) {
                b = attn__box_union(b, (attn__box){column, row, column + 1, row + 1});
            }
        }
    }
    return b;
}

attn__box attn__builtin_ink(int32_t code, int size)
{
    attn__box b = dots(code);
    double d = dot(size);
    if (attn__box_empty(b)) {
        return b;
    }
    return (attn__box){(int)floor(b.x0 * d), (int)floor((b.y0 - FACE_RISE) * d), (int)ceil(b.x1 * d), (int)ceil((b.y1 - FACE_RISE) * d)};
}

/* Length that [a, a+1) and [b, b+width) have in common. */
static double overlap(double a, double b, double width)
{
    double low = a > b ? a : b, high = a + 1 < b + width ? a + 1 : b + width;
    return high > low ? high - low : 0;
}

/* Each pixel takes the share of it that dots cover. */
void attn__builtin_render(int32_t code, int size, attn__box ink, uint8_t *coverage)
{
    double d = dot(size);
    for (int y = ink.y0; y < ink.y1; y++) {
        for (int x = ink.x0; x < ink.x1; x++) {
            double share = 0;
            for (int row = 0; row < FACE_ROWS; row++) {
                double tall = overlap(y, (row - FACE_RISE) * d, d);
                for (int column = 0; column < FACE_COLUMNS && tall > 0; column++) {
                    share += face_dot(code, column, row) ? tall * overlap(x, column * d, d) : 0;
                }
            }
            *coverage++ = (uint8_t)lround(255 * (share < 1 ? share : 1));
        }
    }
}

/* The box holds two lines of two digits, or of three beyond U+FFFF; a digit is 3 x 5 dots; dots are whole pixels, to stay legible. */
static int hex_dot(int size)
{
    return size < 28 ? 1 : size / 14;
}

static int hex_columns(int32_t code)
{
    return code > 0xffff ? 3 : 2;
}

static int hex_width(int32_t code)
{
    return 4 * hex_columns(code) + 3;
}

#define HEX_HEIGHT 15
#define HEX_DROP   2 /* dots below the baseline */

double attn__hexbox_advance(int32_t code, int size)
{
    return (hex_width(code) + 2) * hex_dot(size);
}

attn__box attn__hexbox_ink(int32_t code, int size)
{
    int d = hex_dot(size);
    return (attn__box){d, (HEX_DROP - HEX_HEIGHT) * d, (hex_width(code) + 1) * d, HEX_DROP * d};
}

/* Dot (x, y) of the box: its border, or a dot of the digit there. */
static bool hexbox_dot(int32_t code, int x, int y)
{
    int columns = hex_columns(code), width = hex_width(code);
    if (x == 0 || y == 0 || x == width - 1 || y == HEX_HEIGHT - 1) {
        return true;
    }
    int column = (x - 2) / 4, row = (y - 2) / 6, dx = (x - 2) % 4, dy = (y - 2) % 6;
    if (x < 2 || y < 2 || column >= columns || row > 1 || dx > 2 || dy > 4) {
        return false;
    }
    int place = 2 * columns - 1 - (row * columns + column); /* digits from the right */
    int digit = (code >> (4 * place)) & 15;
    return hex[dy][4 * digit + dx] == '#';
}

void attn__hexbox_render(int32_t code, int size, attn__box ink, uint8_t *coverage)
{
    int d = hex_dot(size);
    for (int y = ink.y0; y < ink.y1; y++) {
        for (int x = ink.x0; x < ink.x1; x++) {
            *coverage++ = hexbox_dot(code, (x - ink.x0) / d, (y - ink.y0) / d) ? 255 : 0;
        }
    }
}

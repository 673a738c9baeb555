/* Aligned tables: the first column to the left, the others to the right. A table wider than the screen is cut into blocks of columns, each
 * with the first column again. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* vasprintf */
#endif
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "table.h"

#define INDENT    2
#define GAP       2
#define PAGE      120 /* columns, where no terminal says otherwise */
#define NARROWEST 60

/* Columns of the terminal; where output goes elsewhere, a fixed number. */
static int screen_width(void)
{
    struct winsize size = {.ws_col = 0};
    bool known = isatty(STDOUT_FILENO) && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
    return !known ? PAGE : size.ws_col > NARROWEST ? size.ws_col : NARROWEST;
}

void table_text(table *t, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    t->cell = realloc(t->cell, ((size_t)t->cells + 1) * sizeof *t->cell);
    if (t->cell == NULL || vasprintf(&t->cell[t->cells], format, args) < 0) {
        exit(fail("out of memory"));
    }
    t->cells++;
    va_end(args);
}

void table_number(table *t, double value, int digits)
{
    bool plain = fabs(value) < 1e6;
    double half = 0.5 * pow(10, -digits);
    table_text(t, plain ? "%.*f" : "%.*e", digits, fabs(value) < half ? 0 : value);
}

void table_numbers(table *t, const double *values, int n, int digits)
{
    for (int i = 0; i < n; i++) {
        table_number(t, values[i], digits);
    }
}

static int width_of(const table *t, int column)
{
    int most = 0;
    for (int i = column; i < t->cells; i += t->columns) {
        int width = text_width(t->cell[i]);
        most = width > most ? width : most;
    }
    return most;
}

static void put_right(const char *text, int width)
{
    for (int i = text_width(text); i < width; i++) {
        putchar(' ');
    }
    print_text(text);
}

/* Columns begin .. end - 1 of all rows, after the first column. */
static void print_block(const table *t, const int *width, int begin, int end)
{
    for (int row = 0; row < t->cells; row += t->columns) {
        printf("%*s", INDENT, "");
        print_padded(t->cell[row], width[0]);
        for (int c = begin; c < end; c++) {
            put_right(t->cell[row + c], width[c] + GAP);
        }
        putchar('\n');
    }
}

void table_print(table *t)
{
    int *width = malloc((size_t)t->columns * sizeof *width), screen = screen_width();
    if (width == NULL) {
        exit(fail("out of memory"));
    }
    for (int c = 0; c < t->columns; c++) {
        width[c] = width_of(t, c);
    }
    for (int begin = 1, end; begin < t->columns; begin = end) {
        int used = INDENT + width[0];
        for (end = begin; end < t->columns && (end == begin || used + GAP + width[end] <= screen); end++) {
            used += GAP + width[end];
        }
        if (begin > 1) {
            putchar('\n');
        }
        print_block(t, width, begin, end);
    }
    free(width);
    for (int i = 0; i < t->cells; i++) {
        free(t->cell[i]);
    }
    free(t->cell);
    *t = (table){.columns = t->columns};
}

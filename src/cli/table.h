/* Aligned tables in the terminal; Chinese characters take two columns. */
#ifndef ATTN_CLI_TABLE_H
#define ATTN_CLI_TABLE_H

#include "cli.h"

/* Cells row by row: {.columns = N}, then N cells a row, at least two. Running out of memory ends the program. */
typedef struct table {
    int columns, cells;
    char **cell;
} table;

/* The next cell, or the next n. A number has `digits` digits after the point. */
void table_text(table *t, const char *format, ...) ATTN_PRINTF(2, 3);
void table_number(table *t, double value, int digits);
void table_numbers(table *t, const double *values, int n, int digits);
/* Prints the table and empties it. */
void table_print(table *t);

#endif

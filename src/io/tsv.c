/* Numbers between tabs. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "io/io.h"

/* A cell of a line, or what is left of the line. */
typedef struct cell {
    const char *text;
    size_t size;
} cell;

/* What a look at the whole file tells. */
typedef struct survey {
    int64_t lines, first_line; /* lines that are not empty, and the number of the first */
    int64_t cells;             /* of each line */
    bool column_labels, row_labels;
    int64_t doubtful;       /* as that of attn_matrix */
    size_t row_label_bytes; /* first cells, the corner too */
    size_t first_line_size;
} survey;

/* Takes the first cell off the rest of a line; false after the last. A line has one cell more than it has tabs. */
static bool next_cell(cell *rest, cell *out)
{
    *out = *rest;
    if (rest->text == NULL) {
        return false;
    }
    const char *tab = memchr(rest->text, '\t', rest->size);
    if (tab == NULL) {
        *rest = (cell){NULL, 0};
        return true;
    }
    out->size = (size_t)(tab - out->text);
    *rest = (cell){tab + 1, rest->size - out->size - 1};
    return true;
}

static cell trim(cell c)
{
    while (c.size > 0 && c.text[0] == ' ') {
        c.text++;
        c.size--;
    }
    while (c.size > 0 && c.text[c.size - 1] == ' ') {
        c.size--;
    }
    return c;
}

static bool is_blank(cell c)
{
    return trim(c).size == 0;
}

/* A number, or NaN for an empty cell. */
static bool read_number(cell c, double *value)
{
    c = trim(c);
    *value = NAN;
    return c.size == 0 || attn__parse_double(c.text, c.size, value);
}

static bool is_word(cell c)
{
    double number;
    return !read_number(c, &number);
}

/* The next line that is not empty. */
static bool next_row(attn__text_lines *lines, cell *rest)
{
    while (attn__next_line(lines)) {
        if (lines->size > 0) {
            *rest = (cell){lines->text, lines->size};
            return true;
        }
    }
    return false;
}

static attn_status fail(const attn__input *in, int64_t line, const char *format, ...) ATTN_PRINTF(3, 4);
static attn_status fail(const attn__input *in, int64_t line, const char *format, ...)
{
    char message[ATTN_MESSAGE_SIZE];
    va_list args;
    va_start(args, format);
    (void)vsnprintf(message, sizeof message, format, args);
    va_end(args);
    return attn__fail(in->error, ATTN_EFORMAT, "%s:%lld: %s", in->name, (long long)line, message);
}

/* ---- first look: how many cells, which of them are labels ---- */

/* The first line decides about column labels; a single column has no row labels. */
static void look_at_first(cell rest, survey *s)
{
    cell first, c;
    (void)next_cell(&rest, &first);
    int64_t words = is_word(first), blank = is_blank(first);
    s->cells = 1;
    while (next_cell(&rest, &c)) {
        s->cells++;
        s->column_labels = s->column_labels || is_word(c);
        words += is_word(c);
        blank += is_blank(c);
    }
    bool marked = s->cells > 1 && first.size == strlen(ATTN__TSV_CORNER) && memcmp(first.text, ATTN__TSV_CORNER, first.size) == 0;
    s->column_labels = s->column_labels || marked || (s->cells == 1 && is_word(first));
    s->row_labels = marked || (s->column_labels ? is_blank(first) : is_word(first));
    int64_t numbers = s->cells - words - blank;
    s->doubtful = s->column_labels && !marked && !is_blank(first) && numbers >= words ? numbers : 0;
}

static attn_status look(const attn__input *in, survey *s)
{
    attn__text_lines lines = attn__lines_of(in);
    cell rest, first, c;
    while (next_row(&lines, &rest)) {
        cell whole = rest;
        int64_t cells = 1;
        (void)next_cell(&rest, &first);
        while (next_cell(&rest, &c)) {
            cells++;
        }
        if (s->lines == 0) {
            look_at_first(whole, s);
            s->first_line = lines.number;
            s->first_line_size = lines.size;
        } else if (cells != s->cells) {
            return fail(in, lines.number, "%lld cell%s, expected %lld as in line %lld", (long long)cells, cells == 1 ? "" : "s",
                        (long long)s->cells, (long long)s->first_line);
        }
        if (s->lines == 1 && s->column_labels && s->cells > 1) {
            s->row_labels = s->row_labels || is_word(first);
        }
        s->row_label_bytes += first.size;
        s->lines++;
    }
    if (s->lines == 0) {
        return attn__input_fail(in, ATTN_EFORMAT, "the file has no line that is not empty, expected a matrix");
    }
    if (s->lines == 1 && s->column_labels) {
        return fail(in, s->first_line, "labels only, expected numbers between tabs");
    }
    return ATTN_OK;
}

/* ---- second look: labels and numbers ---- */

static attn_status make_room(const attn__input *in, const survey *s, attn_matrix *m, attn__label_room *rows, attn__label_room *columns)
{
    attn_status status = attn__matrix_room(in, m, s->lines - s->column_labels, s->cells - s->row_labels);
    if (status == ATTN_OK && s->row_labels) {
        status = attn__labels_begin(in, m->rows, s->row_label_bytes, rows) ? ATTN_OK : attn__input_no_memory(in);
        m->row_labels = rows->text;
    }
    if (status == ATTN_OK && s->column_labels) {
        status = attn__labels_begin(in, m->columns, s->first_line_size, columns) ? ATTN_OK : attn__input_no_memory(in);
        m->column_labels = columns->text;
    }
    return status;
}

static attn_status read_row(const attn__input *in, int64_t line, cell rest, bool labelled, double *values)
{
    cell c;
    for (int64_t i = 0; next_cell(&rest, &c); i++) {
        if (!read_number(c, &values[i])) {
            return fail(in, line, "cell %lld is '%s', expected a number, nan or nothing between tabs", (long long)i + 1 + labelled,
                        attn__show(c.text, c.size).text);
        }
    }
    return ATTN_OK;
}

/* The lines again, now with room for what they hold. */
static attn_status fill(const attn__input *in, const survey *s, attn_matrix *m, attn__label_room *rows, attn__label_room *columns)
{
    attn__text_lines lines = attn__lines_of(in);
    attn_status status = ATTN_OK;
    cell rest, c;
    if (s->column_labels && next_row(&lines, &rest)) {
        if (s->row_labels) {
            (void)next_cell(&rest, &c); /* the corner */
        }
        while (next_cell(&rest, &c)) {
            attn__labels_put(columns, c.text, c.size);
        }
    }
    for (double *values = m->values; status == ATTN_OK && next_row(&lines, &rest); values += m->columns) {
        if (s->row_labels && next_cell(&rest, &c)) {
            attn__labels_put(rows, c.text, c.size);
        }
        status = read_row(in, lines.number, rest, s->row_labels, values);
    }
    return status;
}

attn_status attn__parse_tsv(const attn__input *given, attn_matrices *m)
{
    attn__input in = *given;
    survey s = {0};
    attn__label_room rows, columns;
    attn_status status = attn__text_open(&in);
    if (status == ATTN_OK) {
        status = look(&in, &s);
    }
    if (status == ATTN_OK) {
        status = attn__matrices_room(&in, m, 1);
    }
    if (status == ATTN_OK) {
        m->matrix->doubtful = s.doubtful;
        status = make_room(&in, &s, m->matrix, &rows, &columns);
    }
    return status == ATTN_OK ? fill(&in, &s, m->matrix, &rows, &columns) : status;
}

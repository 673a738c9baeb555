/* Word vectors as text: a word and its numbers a line. The numbers are the last fields of a line, so that a word may hold spaces; only the
 * space and the tab of ASCII separate fields. */
#include <float.h>
#include <limits.h>
#include <math.h>
#include <string.h>

#include "word_sense/corpus.h"
#include "word_sense/vectors.h"

/* Lines that are looked at to find the number of numbers. */
#define FIRST_LINES 64

static bool separates(char c)
{
    return c == ' ' || c == '\t';
}

/* Reads numbers from the end of a line backwards, `most` at most, the last one into row[most - 1] (NULL: they are counted only). A number
 * has a separator before it. Returns how many, and through `word` the bytes before the separator of the foremost. */
static int read_numbers(const char *text, size_t size, int most, float *row, size_t *word)
{
    int n = 0;
    *word = size;
    while (n < most) {
        size_t end = *word, begin;
        double x;
        while (end > 0 && separates(text[end - 1])) {
            end--;
        }
        for (begin = end; begin > 0 && !separates(text[begin - 1]);) {
            begin--;
        }
        if (begin == 0 || !attn__parse_double(text + begin, end - begin, &x)) {
            break;
        }
        n++;
        if (row != NULL) {
            row[most - n] = fabs(x) <= (double)FLT_MAX ? (float)x : NAN;
        }
        *word = begin - 1;
    }
    return n;
}

bool attn__vectors_header(const char *text, size_t size, int64_t *words, int64_t *dim)
{
    char copy[64];
    while (size > 0 && separates(text[size - 1])) {
        size--;
    }
    if (size >= sizeof copy || memchr(text, '\0', size) != NULL) {
        return false;
    }
    memcpy(copy, text, size);
    copy[size] = '\0';
    char *gap = strpbrk(copy, " \t");
    if (gap == NULL) {
        return false;
    }
    const char *second = gap + strspn(gap, " \t");
    *gap = '\0';
    return attn__decimal(copy, words) && attn__decimal(second, dim);
}

/* Bytes of a line without the carriage return of a CRLF. */
static size_t without_return(const char *text, size_t size)
{
    return size > 0 && text[size - 1] == '\r' ? size - 1 : size;
}

static bool is_blank(const char *text, size_t size)
{
    size_t i = 0;
    while (i < size && separates(text[i])) {
        i++;
    }
    return i == size;
}

/* ---- the first lines ---- */

typedef struct first_lines {
    int n, numbers[FIRST_LINES]; /* how many numbers each of them ends with */
    bool raw[FIRST_LINES];       /* it holds what is no text */
} first_lines;

static bool is_raw(const char *text, size_t size)
{
    return memchr(text, '\0', size) != NULL || attn_utf8_fault(text, size) >= 0;
}

/* Looks at the lines of the start of a file; of the last one the rest may be missing, unless the file is over. Blank lines are left out. */
static first_lines look(const char *text, size_t size, bool over)
{
    first_lines f = {.n = 0};
    for (const char *at = text, *end = text + size; f.n < FIRST_LINES && at < end;) {
        const char *newline = memchr(at, '\n', (size_t)(end - at)), *line_end = newline != NULL ? newline : end;
        size_t word, length = without_return(at, (size_t)(line_end - at));
        if (newline == NULL && !over && f.n > 0) {
            break;
        }
        if (!is_blank(at, length)) {
            f.raw[f.n] = is_raw(at, length);
            f.numbers[f.n++] = read_numbers(at, length, INT_MAX, NULL, &word);
        }
        at = line_end + (newline != NULL);
    }
    return f;
}

int attn__vectors_width(const char *text, size_t size, bool over)
{
    first_lines f = look(text, size, over);
    int best = 0, votes = 0;
    for (int i = 0; i < f.n; i++) {
        int same = 0, x = f.numbers[i];
        for (int j = 0; j < f.n; j++) {
            same += f.numbers[j] == x;
        }
        if (same > votes || (same == votes && x > 0 && (best == 0 || x < best))) {
            best = x;
            votes = same;
        }
    }
    return best;
}

/* Bytes of a number may look like a digit at the end of a line, hardly like several numbers. */
bool attn__vectors_look_binary(const char *text, size_t size, bool over, int64_t dim)
{
    first_lines f = look(text, size, over);
    int rows = 0, raw = 0;
    for (int i = 0; i < f.n; i++) {
        bool row = f.numbers[i] >= dim && (f.numbers[i] > 1 || !f.raw[i]);
        rows += row;
        raw += f.raw[i] && !row;
    }
    return raw > rows;
}

/* ---- all lines ---- */

/* Uses up a line that the buffer has no room for. */
static attn_status skip_line(attn__vectors *v, attn_error *error)
{
    attn__stream *s = &v->stream;
    attn_status status = ATTN_OK;
    const char *end = NULL;
    while (end == NULL && s->at < s->end && status == ATTN_OK) {
        s->at = s->end;
        status = attn__vectors_fill(v, error);
        end = memchr(s->buffer, '\n', s->end);
    }
    s->at = end != NULL ? (size_t)(end - s->buffer) + 1 : s->end;
    return status;
}

static void take_line(attn__vectors *v, char *text, size_t size)
{
    size_t word;
    size = without_return(text, size);
    if (is_blank(text, size)) {
        return;
    }
    if (read_numbers(text, size, v->dim, v->row, &word) == v->dim) {
        attn__vectors_take(v, text, word);
    } else {
        attn__vectors_count(v, &v->report.malformed);
    }
}

attn_status attn__vectors_text(attn__vectors *v, attn_error *error)
{
    attn__stream *s = &v->stream;
    for (;;) {
        char *end = memchr(s->buffer + s->at, '\n', s->end - s->at);
        if (end == NULL && !s->over) {
            attn_status status = attn__vectors_fill(v, error);
            if (status != ATTN_OK) {
                return status;
            }
            end = memchr(s->buffer, '\n', s->end);
        }
        if (s->at == s->end) {
            return ATTN_OK;
        }
        v->place++;
        if (end == NULL && !s->over) {
            attn__vectors_count(v, &v->report.malformed);
            attn_status status = skip_line(v, error);
            if (status != ATTN_OK) {
                return status;
            }
            continue;
        }
        char *text = s->buffer + s->at;
        size_t size = (size_t)((end != NULL ? end : s->buffer + s->end) - text);
        s->at += size + (end != NULL);
        take_line(v, text, size);
    }
}

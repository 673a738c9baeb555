/* What the readers of the two layouts share. Not installed. */
#ifndef ATTN_WORD_SENSE_CORPUS_H
#define ATTN_WORD_SENSE_CORPUS_H

#include "attn/corpus.h"
#include "core/core.h"

struct attn_corpus {
    attn_allocator allocator;
    attn__arena arena; /* every string: a file is one block, the pointers to the tokens of a sentence are another */
    attn_example *examples;
    size_t count, capacity;
    int64_t blank_lines;
    const char *first_blank;
};

/* ---- corpus_lines.c: lines of a file, cut out of one block in the arena ---- */

typedef struct attn__lines {
    const char *file; /* as messages name it */
    char *next, *end;
    int64_t number; /* of the current line, from 1 */
    char *text;     /* the current line without its end, zero-terminated */
    size_t size;
} attn__lines;

/* How messages name a path: "-" is standard input. */
const char *attn__file_name(const char *path);
/* Reads the file into the corpus's arena, without a byte-order mark at its start. */
attn_status attn__lines_open(attn_corpus *c, const char *path, attn__lines *lines, attn_error *error);
/* The next line; false (and an empty text) after the last one. A line ends with LF or CRLF, the last one also with the file. */
bool attn__lines_next(attn__lines *lines);
/* Nothing but spaces and tabs (what POSIX calls a blank line). */
bool attn__lines_blank(const attn__lines *lines);
/* No zero byte and no broken UTF-8 in the current line. */
attn_status attn__lines_check(const attn__lines *lines, attn_error *error);
/* ATTN_EFORMAT "FILE:LINE: message". */
attn_status attn__lines_fail(const attn__lines *lines, attn_error *error, const char *format, ...) ATTN_PRINTF(3, 4);
#define attn__lines_fail(lines, ...) ((void)attn__lines_fail(lines, __VA_ARGS__), (attn_status)ATTN_EFORMAT)

/* ---- parts of a line ---- */

/* How many bytes of a separator stand at `at`, 0 if none. */
typedef size_t (*attn__separator)(const char *at);
size_t attn__ascii_space(const char *at);
size_t attn__typed_space(const char *at);   /* space, tab and line end */
size_t attn__unicode_space(const char *at); /* the white space of Unicode, the set of Python's str.split() */

/* Cuts a text in place at runs of separators: the example's tokens and length. Length 0 is no error here.
 * Errors: ATTN_ENOMEM, and ATTN_ERANGE if an int cannot count the tokens. */
attn_status attn__cut(attn_corpus *c, char *text, attn__separator separator, attn_example *e);
/* Reads the field INDEX (a decimal number without sign) of a sentence that has been cut, and sets target and word. */
attn_status attn__read_target(const attn__lines *lines, const char *field, attn_example *e, attn_error *error);
/* A decimal number without sign and with nothing around it; false if it is none or above INT64_MAX. */
bool attn__decimal(const char *text, int64_t *value);
/* What is wrong with a label, NULL if nothing: it may hold spaces, and be several joined by ';', none of them empty. */
const char *attn__label_fault(const char *label);

/* ---- corpus.c, corpus_tsv.c, corpus_folder.c ---- */

attn_status attn__corpus_push(attn_corpus *c, const attn_example *e, attn_error *error);
/* ATTN_EFORMAT for broken UTF-8, with its byte. */
attn_status attn__sentence_check(const char *text, attn_error *error);
/* Appends a copy of another corpus's example, which keeps its file and line. */
attn_status attn__corpus_copy(attn_corpus *c, const attn_example *e, attn_error *error);
/* Counts a blank line. */
attn_status attn__corpus_blank(attn_corpus *c, const attn__lines *lines, attn_error *error);

attn_status attn__read_tsv(attn_corpus *c, const char *path, attn_error *error);
attn_status attn__read_folder(attn_corpus *c, const char *path, const char *split, attn_error *error);

#endif

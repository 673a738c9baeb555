/* Matrices and labels from files. Each format is one function from bytes to a matrix. Not installed. */
#ifndef ATTN_IO_H
#define ATTN_IO_H

#include "attn/matrix.h"
#include "core/core.h"

/* What is read, and where messages and memory come from. */
typedef struct attn__input {
    const char *bytes;
    size_t size;
    const char *name;
    const attn_allocator *allocator;
    attn_error *error;
} attn__input;

/* ---- matrix.c ---- */

/* "NAME: message". */
attn_status attn__input_fail(const attn__input *in, attn_status status, const char *format, ...) ATTN_PRINTF(3, 4);
#define attn__input_fail(in, status, ...) ((void)attn__input_fail(in, status, __VA_ARGS__), (attn_status)(status))
attn_status attn__input_no_memory(const attn__input *in);
/* Makes room for `count` matrices, which are empty. */
attn_status attn__matrices_room(const attn__input *in, attn_matrices *m, size_t count);
/* Gives the matrix room for rows x columns values. */
attn_status attn__matrix_room(const attn__input *in, attn_matrix *m, int64_t rows, int64_t columns);

/* The formats. `m` is empty before; on failure it may hold a part, which the caller frees. */
attn_status attn__parse_npy(const attn__input *in, attn_matrices *m);     /* npy.c */
attn_status attn__parse_tsv(const attn__input *given, attn_matrices *m);  /* tsv.c */
attn_status attn__parse_json(const attn__input *given, attn_matrices *m); /* json.c */

/* float64, little-endian, C order. Atomic. ATTN_EIO, ATTN_ENOMEM. (npy_write.c) */
attn_status attn__write_npy(const char *path, const int64_t *shape, int rank, const double *values, const attn_allocator *allocator,
                            attn_error *error);

/* First cell of a TSV whose first line and first column are labels, whatever they look like. */
#define ATTN__TSV_CORNER "rows\\columns"
/* "schema" of weights as JSON. */
#define ATTN__WEIGHTS_SCHEMA "attn.weights/1"

#define ATTN__NPY_MAGIC      "\x93NUMPY"
#define ATTN__NPY_MAGIC_SIZE ((size_t)6)

/* ---- text.c: lines ---- */

typedef struct attn__text_lines {
    const char *next, *end;
    int64_t number; /* of the current line, from 1 */
    const char *text;
    size_t size; /* without LF or CRLF */
} attn__text_lines;

/* Drops a byte-order mark at the start, and checks that the rest is UTF-8 without a zero byte. */
attn_status attn__text_open(attn__input *in);
attn__text_lines attn__lines_of(const attn__input *in);
/* The next line; false after the last one, which ends with a line end or with the file. */
bool attn__next_line(attn__text_lines *lines);

/* ATTN__QUOTE for a text without a zero byte after its end. */
typedef struct attn__shown {
    char text[ATTN__QUOTE_SIZE];
} attn__shown;
attn__shown attn__show(const char *text, size_t size);

/* ---- npy_header.c ---- */

/* What the header of an array says. */
typedef struct attn__npy {
    char kind;       /* 'f', 'i', 'u' or 'b' */
    int size;        /* bytes of an element */
    bool big_endian; /* the byte of the highest value first */
    bool fortran;    /* column after column */
    int64_t matrices, rows, columns;
    char dtype[4]; /* as they are written there, for messages */
    attn__shown shape;
} attn__npy;

/* Reads the dictionary, a Python literal. */
attn_status attn__npy_header(const attn__input *in, const char *text, size_t size, attn__npy *h);

/* ---- labels.c: an array of pointers and the texts behind it, in one block ---- */

typedef struct attn__label_room {
    const char **text;
    char *at;
    int64_t count;
} attn__label_room;

/* Room for `count` labels of `bytes` bytes together, without their terminating zeros; false if memory is out. */
bool attn__labels_begin(const attn__input *in, int64_t count, size_t bytes, attn__label_room *room);
void attn__labels_put(attn__label_room *room, const char *text, size_t size);

#endif

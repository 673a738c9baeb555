/* Matrices from files and to files: attention weights that come from anywhere, and our own for others to go on with. */
#ifndef ATTN_MATRIX_H
#define ATTN_MATRIX_H

#include <stdint.h>

#include "attn/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/** A matrix. Filled by attn_matrix_read and attn_matrix_parse, then freed with attn_matrix_free; a caller may also fill in one of his own.
 */
typedef struct attn_matrix {
    int64_t rows, columns;            /* both > 0 */
    double *values;                   /* rows x columns, row-major; NaN: not a value */
    const char *const *row_labels;    /* UTF-8; NULL: none */
    const char *const *column_labels; /* UTF-8; NULL: none */
    const char *title;                /* UTF-8; NULL: none */
    int group;                        /* as that of attn_heatmap_panel */
    int64_t doubtful; /* of a TSV whose first line was taken for labels, cells of it that are numbers, if they are half of them or more:
                         that line may be numbers with a slip; else 0 */
    attn_allocator allocator; /* where all of it comes from */
} attn_matrix;

/** Reads a matrix from a file or from standard input ("-"). The extension names the format; other names and "-" are recognised by their
 * content.
 *  - .npy, versions 1.0, 2.0 and 3.0: one array of one dimension (a row), two, or three (matrices), in C or Fortran order, of floats (16,
 *    32, 64 bits), integers or bool, of either byte order. Objects, structures and what else NumPy can store are refused by name.
 *  - .tsv: numbers between tabs, a line a row; an empty cell and "nan" are NaN; empty lines are skipped. The first line holds column labels
 *    if one of its cells, other than the first, is neither number nor empty. The first column holds row labels if its cell in the first row
 *    of numbers is no number, or if the column labels begin with an empty cell. Where the first cell is rows\columns, both are labels
 * whatever they look like.
 *  - .json: an array of rows, which are arrays of numbers, null (NaN), "inf" or "-inf"; or an object of such "values" and, if wanted,
 * "rows" and "columns", arrays of labels; or what attn_heatmap_export wrote.
 * @param m receives the only matrix of the file; empty on failure
 * @errors ATTN_EIO; ATTN_EFORMAT (what is wrong and where, with FILE:LINE in text; several matrices); ATTN_ESHAPE (labels that do not
 * fit); ATTN_ENOMEM */
ATTN_API ATTN_NODISCARD attn_status attn_matrix_read(const char *path, attn_matrix *m, const attn_allocator *allocator, attn_error *error);

/** The same from memory, recognised by its content.  @param bytes the file   @param size their number   @param name stands for the file in
 * messages   @param m receives the matrix; empty on failure   @errors ATTN_EFORMAT, ATTN_ESHAPE, ATTN_ENOMEM as above */
ATTN_API ATTN_NODISCARD attn_status attn_matrix_parse(const void *bytes, size_t size, const char *name, attn_matrix *m,
                                                      const attn_allocator *allocator, attn_error *error);

/** Frees what the matrix holds and leaves it empty; an empty one is fine. */
ATTN_API void attn_matrix_free(attn_matrix *m);

/** All matrices of a file, such as the heads of a sentence. Free with attn_matrices_free. */
typedef struct attn_matrices {
    int64_t count;            /* > 0 */
    attn_matrix *matrix;      /* count of them */
    attn_allocator allocator; /* where all of it comes from */
} attn_matrices;

/** As attn_matrix_read, for any number of matrices: those of an array of three dimensions, of which the first counts them, and the panels
 * that attn_heatmap_export wrote.  @param m receives them; empty on failure   @errors ATTN_EIO, ATTN_EFORMAT, ATTN_ESHAPE, ATTN_ENOMEM */
ATTN_API ATTN_NODISCARD attn_status attn_matrices_read(const char *path, attn_matrices *m, const attn_allocator *allocator,
                                                       attn_error *error);

/** The same from memory, as attn_matrix_parse.  @param bytes the file   @param size their number   @param name stands for the file in
 * messages   @param m receives them; empty on failure   @errors ATTN_EFORMAT, ATTN_ESHAPE, ATTN_ENOMEM */
ATTN_API ATTN_NODISCARD attn_status attn_matrices_parse(const void *bytes, size_t size, const char *name, attn_matrices *m,
                                                        const attn_allocator *allocator, attn_error *error);

/** Frees what the matrices hold and leaves none; none is fine. */
ATTN_API void attn_matrices_free(attn_matrices *m);

/** Writes the values (not the labels) as .npy, version 1.0: float64, little-endian, C order. Atomic: temporary file in the same folder,
 * flushed, synced, renamed; "-" is standard output.
 * @param m the matrix   @errors ATTN_EINVAL (an empty matrix), ATTN_EIO with path and reason, ATTN_ENOMEM */
ATTN_API ATTN_NODISCARD attn_status attn_matrix_write_npy(const char *path, const attn_matrix *m, const attn_allocator *allocator,
                                                          attn_error *error);

/** Labels of one axis. */
typedef struct attn_labels {
    int64_t count;            /* how many */
    const char *const *text;  /* UTF-8 */
    attn_allocator allocator; /* where they come from */
} attn_labels;

/** Reads labels from a text file or standard input ("-"), one a line; an empty line is an empty label.
 * @param labels receives them; empty on failure   @errors ATTN_EIO, ATTN_EFORMAT (broken UTF-8, a zero byte, no label), ATTN_ENOMEM */
ATTN_API ATTN_NODISCARD attn_status attn_labels_read(const char *path, attn_labels *labels, const attn_allocator *allocator,
                                                     attn_error *error);

ATTN_API void attn_labels_free(attn_labels *labels); /* Frees them and leaves it empty; an empty one is fine. */

#ifdef __cplusplus
}
#endif
#endif

/* Reading word vectors from a file, grouped by the file that defines it. Not installed. */
#ifndef ATTN_VECTORS_H
#define ATTN_VECTORS_H

#include "core/file.h"
#include "word_sense/model.h"

/* Bytes of a file that are looked at together. No line, and no word and vector of a binary file, may be longer. */
#define ATTN__VECTORS_ROOM ((size_t)256 * 1024)

/* A file on its way into a table of vectors. */
typedef struct attn__vectors {
    attn_word_sense *m;
    const attn_word_sense_config *source;
    attn__arena arena;
    attn__stream stream;
    int64_t place; /* of the current row: its line, or in a binary file its number */
    int dim;
    float *row;   /* (dim) the current row */
    float *table; /* (V + 1, dim), as the embeddings */
    bool *have;   /* (V + 1), the rows of the table that have a vector, read or guessed */
    int64_t rows; /* V + 1 */
    float *more;  /* rows of words that the training text does not have: the next rows of the vocabulary */
    size_t more_capacity;
    bool full; /* out of memory */
    attn_vectors_report report;
} attn__vectors;

/* ---- vectors_file.c ---- */

/* Reads the file that the configuration names, for the vocabulary of the model, whose width it decides. Free it also after a failure.
 * Errors: ATTN_EIO, ATTN_EFORMAT, ATTN_EINVAL (another width was asked for), ATTN_ENOMEM. */
attn_status attn__vectors_read(attn__vectors *v, attn_word_sense *m, const attn_word_sense_config *source, attn_error *error);
/* Puts the vectors that were found into the rows of an embedding table and leaves the other rows alone. */
void attn__vectors_copy(const attn__vectors *v, float *table);
void attn__vectors_free(attn__vectors *v);

/* attn__stream_fill, and tells the progress. */
attn_status attn__vectors_fill(attn__vectors *v, attn_error *error);
/* Counts the current row and keeps it if it is wanted. Behind the word there must be a byte to spare. */
void attn__vectors_take(attn__vectors *v, char *word, size_t size);
/* Counts one more row of a kind. */
void attn__vectors_count(const attn__vectors *v, attn_vectors_rows *rows);

/* ---- vectors_guess.c ---- */

/* Guesses, from the training text, the vectors of its words that the file lacks. Errors: ATTN_ENOMEM. */
attn_status attn__vectors_guess(attn__vectors *v, const attn_corpus *train, attn_error *error);

/* ---- vectors_text.c ---- */

/* The line "WORDS DIMENSION" that may stand first; false if this is another one. */
bool attn__vectors_header(const char *text, size_t size, int64_t *words, int64_t *dim);
/* How many numbers most of the lines at the start of a file end with; of several answers the smallest that is not 0, because a word may end
 * in numbers of its own. `over`: the text is the whole file, else its last line may be cut off. */
int attn__vectors_width(const char *text, size_t size, bool over);
/* More lines of what comes after a first line are no text than have a word and `dim` numbers. */
bool attn__vectors_look_binary(const char *text, size_t size, bool over, int64_t dim);
/* Takes all lines that are left. */
attn_status attn__vectors_text(attn__vectors *v, attn_error *error);

/* ---- vectors_binary.c ---- */

/* Takes all words that the file promises. */
attn_status attn__vectors_binary(attn__vectors *v, attn_error *error);

#endif

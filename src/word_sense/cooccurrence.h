/* The matrix of neighbouring words, from which word vectors are made. Not installed. */
#ifndef ATTN_COOCCURRENCE_H
#define ATTN_COOCCURRENCE_H

#include "word_sense/model.h"

/* A square sparse matrix whose transpose has the same places: row w has columns column[begin[w]] .. column[begin[w + 1] - 1]. */
typedef struct attn__sparse {
    int64_t rows, *begin;
    int32_t *column;
    float *value, *transposed; /* x[w,u] and x[u,w] */
} attn__sparse;

/* Positive mutual information of the vocabulary's first `words` words in the training text. false if out of memory; free in either case. */
bool attn__cooccurrence(const attn_word_sense *m, attn__arena *arena, const attn_corpus *train, int64_t words, attn__sparse *s);
void attn__sparse_free(const attn_word_sense *m, attn__sparse *s);

#endif

/* attn: tensors, reverse-mode gradients, a trainable attention layer, word senses and heatmaps. Includes everything.
 *
 * How the headers speak. The comment above a function, or behind it, says what applies of: what it computes, as a formula; shapes, in
 * brackets, of row-major arrays; units; what the result is; who owns what; where the formula comes from. B is a batch, T (queries Tq, keys
 * Tk) words, H heads, d and D widths. In brackets behind a member of a struct stands what zero means. There are seven tags:
 *
 *     @param NAME   what goes in or out
 *     @return       what comes back; a comment behind a function is that alone
 *     @errors       how it can fail; a function that says nothing of errors cannot
 *     @grad         gradients of the inputs of an operation, g being the gradient of its output
 *     @cost         time and memory, if not those of looking at every element once
 *     @threads      who may call it at once, if not: one thread an object, any number of objects
 *     @see          papers, with the place in them
 *
 * What is the same everywhere is said here. A function that is named after its first parameter (attn_tape_reset) is about that. A function
 * that returns attn_status returns ATTN_OK or one of its errors. An operation returns a tensor that its tape owns, NULL on error; its
 * @errors come on top of those of all, and its dtype is that of its inputs:
 *
 *     an operation               ATTN_ESHAPE, ATTN_EDTYPE (inputs of two dtypes), ATTN_EINVAL (an input is NULL or of another tape),
 * ATTN_ENOMEM
 *
 *     attn_tape *t               the tape that computes and keeps the result
 *     attn_error *error          receives what went wrong, on failure alone; NULL: not wanted
 *     attn_allocator *allocator  where memory comes from; NULL: malloc and free
 *     attn_dtype dtype           type of the elements
 *     attn_params *p             the parameter set
 *     attn_word_sense *m         the model
 *     attn_mask *mask            who may attend to whom, copied; NULL: all to all
 *     int id                     number of a parameter: 0, 1, 2, ..., outside of which nothing happens
 *     char *path                 name of a file
 *     void *ctx                  handed to the function that is given with it
 *     uint64_t seed              key of the random numbers
 *     char **tokens              the words of a sentence, UTF-8
 *     int length                 their number
 *     int target                 index of the word that is asked about
 *
 * docs/Doxyfile makes a manual of the headers; what these rules leave open, a parameter or a result without a word, is an error there. */
#ifndef ATTN_H
#define ATTN_H

#include "attn/attention.h"
#include "attn/checkpoint.h"
#include "attn/corpus.h"
#include "attn/evaluation.h"
#include "attn/explain.h"
#include "attn/file.h"
#include "attn/gradcheck.h"
#include "attn/heatmap.h"
#include "attn/matrix.h"
#include "attn/ops.h"
#include "attn/optim.h"
#include "attn/page.h"
#include "attn/params.h"
#include "attn/random.h"
#include "attn/report.h"
#include "attn/status.h"
#include "attn/tape.h"
#include "attn/tensor.h"
#include "attn/weights.h"
#include "attn/word_sense.h"

#endif

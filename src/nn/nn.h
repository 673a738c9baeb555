/* What the files of nn/ share. Not installed. */
#ifndef ATTN_NN_H
#define ATTN_NN_H

#include <stddef.h>

#include "attn/checkpoint.h"
#include "attn/optim.h"
#include "core/core.h"
#include "core/file.h"

/* The set that an optimiser was made for. */
const attn_params *attn__optimizer_params(const attn_optimizer *o);

/* Element `i` of an array of the set's dtype. */
static inline void *attn__element(const attn_params *p, void *array, int64_t i)
{
    return (char *)array + (size_t)i * attn_dtype_size(attn_params_dtype(p));
}

/* Key of the header that is no tensor. */
#define ATTN__METADATA "__metadata__"
/* The format's own limit. */
#define ATTN__LONGEST_HEADER ((size_t)100000000)

/* An open file. Everything lives in the arena. */
struct attn_safetensors {
    attn_allocator allocator;
    attn__arena arena;
    attn__parts parts; /* where data that was not read comes from */
    uint64_t *begin;   /* and where each tensor begins there */
    const char *name;  /* as it was given to the reader */
    attn_file_tensor *tensor;
    int tensors;
    attn_file_text *text;
    int texts;
};

/* ---- safetensors_read.c ---- */

/* attn_safetensors_read, but the data of a regular file stays in it: then the tensors' `data` is NULL. */
attn_safetensors *attn__safetensors_open(const char *path, const attn_allocator *allocator, attn_error *error);
/* Writes `count` elements of tensor `i`, from the `first` on, to where they are wanted, read or not. Error: ATTN_EIO. */
attn_status attn__safetensors_fill(const attn_safetensors *f, int i, int64_t first, int64_t count, void *to, attn_error *error);

/* The data of tensor `i` in a mapping of the file; NULL if it cannot be used there: no mapping, not aligned, or not this machine's numbers.
 */
void *attn__safetensors_inside(const attn_safetensors *f, int i, attn__mapping m);

/* ---- checkpoint.c: how the tensors of a file differ from those of a model ---- */

/* A message that lists differences: as many as fit, then how many more there are. */
typedef struct attn__differences {
    char text[ATTN_MESSAGE_SIZE];
    size_t size, room;
    int count, listed;
} attn__differences;

/* An empty list. The message begins with `head`, and leaves `reserved` bytes for what its user will put before it. */
attn__differences attn__differences_begin(const char *head, size_t reserved);
void attn__differ(attn__differences *d, const char *format, ...) ATTN_PRINTF(2, 3);
/* Notes it if the file's tensor (NULL: there is none) is not of this shape and dtype. */
void attn__differ_tensor(attn__differences *d, const char *name, const attn_file_tensor *x, attn_shape shape, attn_dtype dtype);
/* Notes a tensor that the model does not have. */
void attn__differ_surplus(attn__differences *d, const attn_file_tensor *x);
/* ATTN_OK if nothing was noted, else ATTN_EMISMATCH with the list. */
attn_status attn__differences_end(const attn__differences *d, attn_error *error);

/* Whether this machine's numbers are, as those of files. */
bool attn__little_endian(void);
/* Copies elements of `size` bytes between memory and a file, whose numbers are little-endian whatever the machine's are. `to` may be
 * `from`. */
void attn__copy_little_endian(void *to, const void *from, size_t count, size_t size);

#endif

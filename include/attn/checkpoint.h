/* Model files: safetensors (tensors plus string metadata in one file), written so that a crash or a full disk never costs the old file.
 * Format: 8 bytes little-endian N, N bytes of JSON, then the tensors. @see github.com/huggingface/safetensors, README "Format" */
#ifndef ATTN_CHECKPOINT_H
#define ATTN_CHECKPOINT_H

#include "attn/optim.h"
#include "attn/params.h"

#ifdef __cplusplus
extern "C" {
#endif

/** A named array in a file. Nothing in it is owned. */
typedef struct attn_file_tensor {
    const char *name; /* UTF-8 */
    attn_dtype dtype; /* type of the elements */
    attn_shape shape; /* any */
    const void *data; /* row-major */
} attn_file_tensor;

/** An entry of `__metadata__`. Nothing in it is owned. */
typedef struct attn_file_text {
    const char *key;   /* UTF-8 */
    const char *value; /* UTF-8 */
} attn_file_text;

/** Writes a safetensors file: to a temporary name in the same folder, flushed, synced, renamed. The same content gives the same bytes, in
 * whatever order it is given. Adds the text "format": "pt", which some readers ask for, unless there is a "format". `path` "-" is refused.
 * @param tensors the arrays   @param n their number   @param texts the metadata   @param m their number
 * @errors ATTN_EIO with path and reason (the old file is untouched, no temporary file stays), ATTN_EINVAL (repeated or empty name, name
 * that begins with "__metadata__", broken UTF-8), ATTN_ENOMEM */
ATTN_API ATTN_NODISCARD attn_status attn_safetensors_write(const char *path, const attn_file_tensor tensors[], int n,
                                                           const attn_file_text texts[], int m, const attn_allocator *allocator,
                                                           attn_error *error);

/** A file that was read. */
typedef struct attn_safetensors attn_safetensors;

/** Reads a whole file and checks it completely: header length against the file size before anything is allocated, JSON without
 * repeated keys, known dtypes, offsets sorted without hole or overlap, shape products against spans. Elements other than F32 and F64 are
 * refused by name.
 * @return to be freed with attn_safetensors_free; NULL on error   @errors ATTN_EIO, ATTN_EFORMAT (what and where), ATTN_ENOMEM */
ATTN_API attn_safetensors *attn_safetensors_read(const char *path, const attn_allocator *allocator, attn_error *error);

/** The same from memory.  @param bytes the file (copied)   @param size their number   @param name stands for the file in messages
 * @return to be freed with attn_safetensors_free; NULL on error   @errors ATTN_EFORMAT, ATTN_ENOMEM */
ATTN_API attn_safetensors *attn_safetensors_parse(const void *bytes, size_t size, const char *name, const attn_allocator *allocator,
                                                  attn_error *error);
ATTN_API void attn_safetensors_free(attn_safetensors *f); /* Frees it and all that it gave; NULL is fine. */

ATTN_API int attn_safetensors_count(const attn_safetensors *f); /* number of tensors */

/** @param i counted from 0, in file order   @return the tensor, owned by `f`, its data aligned to 8 bytes; all zero for a number outside */
ATTN_API attn_file_tensor attn_safetensors_get(const attn_safetensors *f, int i);

/** @param name of a tensor   @return its number, or -1 */
ATTN_API int attn_safetensors_find(const attn_safetensors *f, const char *name);

/** @param key of a text   @return its value, owned by `f`, or NULL */
ATTN_API const char *attn_safetensors_text(const attn_safetensors *f, const char *key);

ATTN_API int attn_safetensors_text_count(const attn_safetensors *f); /* number of texts */

/** @param i counted from 0   @return the text, owned by `f`; all NULL for a number outside */
ATTN_API attn_file_text attn_safetensors_text_at(const attn_safetensors *f, int i);

/** Saves parameters under their names, and an optimiser as the tensors "optimizer.SLOT.NAME" and the texts "optimizer" and
 * "optimizer.steps".
 * @param o NULL: none   @param texts further ones, the caller's   @param m their number   @errors as attn_safetensors_write */
ATTN_API ATTN_NODISCARD attn_status attn_checkpoint_save(const char *path, attn_params *p, attn_optimizer *o, const attn_file_text texts[],
                                                         int m, attn_error *error);

/** Fills parameters and optimiser from a file. All names, shapes and dtypes are compared first: on any difference nothing is changed and
 * the message lists every one with both shapes.
 * @param f the file   @param o NULL: none   @errors ATTN_EMISMATCH, ATTN_EINVAL (set not built, optimiser of another set) */
ATTN_API ATTN_NODISCARD attn_status attn_checkpoint_load(const attn_safetensors *f, attn_params *p, attn_optimizer *o, attn_error *error);

#ifdef __cplusplus
}
#endif
#endif

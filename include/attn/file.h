/* Files written as this library writes all of its own: so that a crash, a full disk or a mistaken path never costs the old file. */
#ifndef ATTN_FILE_H
#define ATTN_FILE_H

#include <stddef.h>

#include "attn/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Writes `size` bytes to a temporary name in the same folder, syncs them and renames it, so that the path holds the old file or the new
 * one, never a part of it. The new file has the permissions of the old one; a symbolic link stays, and the file behind it is replaced. Of
 * processes that were killed while they wrote the same file, the temporary files are removed. A device or pipe is written to directly;
 * "-" is standard output.
 * @param bytes what to write   @param size how many
 * @errors ATTN_EIO with path and reason (the old file is untouched, no temporary file stays), ATTN_ENOMEM
 * @threads any number, also on the same path: the last one to finish is the one that stays */
ATTN_API ATTN_NODISCARD attn_status attn_file_write(const char *path, const void *bytes, size_t size, const attn_allocator *allocator,
                                                    attn_error *error);

/** Whether attn_file_write could write there now; for asking before a long computation. Leaves nothing behind.
 * @errors as attn_file_write */
ATTN_API ATTN_NODISCARD attn_status attn_file_check(const char *path, const attn_allocator *allocator, attn_error *error);

#ifdef __cplusplus
}
#endif
#endif

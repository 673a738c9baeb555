/* Whole files in; attn/file.h has the way out. Not installed. */
#ifndef ATTN_CORE_FILE_H
#define ATTN_CORE_FILE_H

#include "attn/file.h"

/* Reads all of `path` ("-": standard input) into memory of the allocator, with a zero byte after the end.
 * Errors: ATTN_EIO "PATH: reason" (also for a folder), ATTN_ENOMEM. */
attn_status attn__read_file(const char *path, const attn_allocator *allocator, char **bytes, size_t *size, attn_error *error);

/* attn_file_write in the other order of arguments. */
static inline attn_status attn__write_file(const char *path, const attn_allocator *allocator, const void *bytes, size_t size,
                                           attn_error *error)
{
    return attn_file_write(path, bytes, size, allocator, error);
}

#endif

/* Whole files in and out. Not installed. */
#ifndef ATTN_FILE_H
#define ATTN_FILE_H

#include <stddef.h>

#include "attn/status.h"

/* Reads all of `path` ("-": standard input) into memory of the allocator, with a zero byte after the end.
 * Errors: ATTN_EIO "PATH: reason" (also for a folder), ATTN_ENOMEM. */
attn_status attn__read_file(const char *path, const attn_allocator *allocator, char **bytes, size_t *size, attn_error *error);

/* Writes `size` bytes so that a failure leaves the old file and no rubbish: temporary name in the same folder, write, fsync, rename, fsync
 * of the folder. A path that is a device or pipe ("/dev/stdout") is written to directly; "-" is standard output.
 * Errors: ATTN_EIO "PATH: reason", ATTN_ENOMEM. */
attn_status attn__write_file(const char *path, const attn_allocator *allocator, const void *bytes, size_t size, attn_error *error);

#endif

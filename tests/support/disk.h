/* Looking at what a program left on the disk, and filling the disk. Folders are made under the working directory. */
#ifndef ATTN_TEST_DISK_H
#define ATTN_TEST_DISK_H

#include <stdbool.h>
#include <stddef.h>

/* Makes an empty folder; one that is there from an earlier run loses its files. */
void fresh_folder(const char *path);

/* Number of entries of a folder. */
int folder_entries(const char *path);

/* The content of a file (malloc, with a zero byte after its end). */
char *take_file(const char *path, size_t *size);

/* Makes `path` a link to the device that is always full; false where there is none. Going through a link, a writer that wrongly replaces
 * what it should write to replaces the link, never the machine's device. */
bool link_full_device(const char *path);

/* The largest file that this process may write, which fails with EFBIG instead of a signal; 0 lifts the limit again. */
void limit_file_size(size_t bytes);

#endif

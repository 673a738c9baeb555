/* Files in; attn/file.h has the way out. Not installed. */
#ifndef ATTN_CORE_FILE_H
#define ATTN_CORE_FILE_H

#include <stdbool.h>
#include <stdint.h>

#include "attn/file.h"

/* ATTN_EIO "PATH: cannot DO: reason", where `why` is an errno. */
attn_status attn__io_fail(attn_error *error, const char *path, const char *doing, int why);

/* Reads all of `path` ("-": standard input) into memory of the allocator, with a zero byte after the end.
 * Errors: ATTN_EIO "PATH: reason" (also for a folder), ATTN_ENOMEM. */
attn_status attn__read_file(const char *path, const attn_allocator *allocator, char **bytes, size_t *size, attn_error *error);

/* ---- parts.c: a file that is read piece by piece, in any order ---- */

typedef struct attn__parts {
    const char *path;
    int fd; /* -1: closed, or what is at `path` is no regular file, which can only be read as a whole */
    uint64_t size;
} attn__parts;

/* Error: ATTN_EIO. */
attn_status attn__parts_open(attn__parts *p, const char *path, attn_error *error);
/* Bytes offset .. offset + size - 1. Error: ATTN_EIO, also if the file has meanwhile become shorter. */
attn_status attn__parts_read(const attn__parts *p, uint64_t offset, void *to, size_t size, attn_error *error);
void attn__parts_close(attn__parts *p);

/* A file's bytes as memory, which outlives the open file. What is written to it stays in memory. */
typedef struct attn__mapping {
    void *bytes; /* NULL: none */
    size_t size;
} attn__mapping;

/* The whole file, as long as it does not become shorter: bytes that it no longer has are zeros until the end of their page, and to touch
 * the pages behind ends the process by SIGBUS. None if the system refuses, or what is at the path is no regular file. */
attn__mapping attn__parts_map(const attn__parts *p);
void attn__mapping_end(attn__mapping *m);

/* ---- stream.c: a file of any size through a buffer of the caller's ---- */

typedef struct attn__stream {
    const char *path; /* as messages name it */
    bool standard;    /* standard input, which is not ours to close */
    int fd;
    char *buffer;
    size_t room;
    size_t at, end;      /* the bytes buffer[at] .. buffer[end - 1] are the next ones; whoever has used some moves `at` */
    bool over;           /* nothing comes after them */
    int64_t done, total; /* bytes read so far, and bytes of the file (0: not known) */
} attn__stream;

/* Opens `path` ("-": standard input); nothing is read yet. Close it also after a failure. Error: ATTN_EIO. */
attn_status attn__stream_open(attn__stream *s, const char *path, char *buffer, size_t room, attn_error *error);
/* Moves the bytes that were not used to the start of the buffer, and reads until it is full or the file is over. Error: ATTN_EIO. */
attn_status attn__stream_fill(attn__stream *s, attn_error *error);
void attn__stream_close(attn__stream *s);

#endif

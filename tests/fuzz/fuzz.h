/* Fuzz targets: each gives bytes that come from strangers to one reader. A reader must come back with or without an error, leak nothing,
 * and ask for no more memory than a multiple of its input. */
#ifndef ATTN_FUZZ_H
#define ATTN_FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "attn/attn.h"

/* One function a line of targets.def. `a` is the only memory that the reader may use, besides what it gives back at once. */
#define TARGET(name, base, times) void fuzz_##name(const uint8_t *data, size_t size, const attn_allocator *a);
#include "targets.def"
#undef TARGET

/* What no input may do: ends the process, so that the fuzzer keeps the input. */
#define PROMISE(condition)                                                          \
    do {                                                                            \
        if (!(condition)) {                                                         \
            fprintf(stderr, "%s:%d: broken: %s\n", __FILE__, __LINE__, #condition); \
            abort();                                                                \
        }                                                                           \
    } while (0)

/* ---- inputs.c: bytes as files and texts ---- */

/* A file without a name in any folder; its path is valid until it is closed. */
typedef struct fuzz_file {
    int descriptor;
    char path[32];
} fuzz_file;

fuzz_file file_of(const uint8_t *data, size_t size);
/* Part number `part` of the input, whose parts end with a byte of 0x1e. */
fuzz_file part_of(const uint8_t *data, size_t size, int part);
/* The input with runs: 0x1f and a byte n stand for n KiB of the byte before them, so that small inputs make lines longer than any buffer.
 */
fuzz_file long_file_of(const uint8_t *data, size_t size);
void close_file(const fuzz_file *f);
/* A copy with a zero at its end; free it. */
char *text_of(const uint8_t *data, size_t size);

/* ---- inputs.c: what is made once, and never freed ---- */

/* Sentences about two words of two senses each, English and Chinese. */
const attn_corpus *sentences(void);
/* A small model of them. */
attn_word_sense *small_model(void);

/* Where readers write their messages. */
extern attn_error fuzz_error;

#endif

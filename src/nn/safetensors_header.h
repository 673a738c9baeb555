/* What the two files that read safetensors share. Not installed. */
#ifndef ATTN_SAFETENSORS_HEADER_H
#define ATTN_SAFETENSORS_HEADER_H

#include "nn/nn.h"

/* A tensor as the header describes it: its elements are the bytes begin..end of the data. */
typedef struct attn__header_entry {
    attn_file_tensor tensor;
    size_t begin, end;
    int order; /* in the header */
} attn__header_entry;

typedef struct attn__header_reader {
    attn_safetensors *f;
    char *header;              /* in the file's arena: texts and names stay where they are in it */
    const unsigned char *data; /* NULL if it stays in the file */
    size_t header_size, data_size;
    attn__header_entry *entry;
    attn_error *error;
} attn__header_reader;

/* Fails with "FILE: message". */
attn_status attn__header_fail(const attn__header_reader *r, attn_status status, const char *format, ...) ATTN_PRINTF(3, 4);
/* Is the header JSON? */
attn_status attn__header_check(const attn__header_reader *r);
/* Reads texts and entries of a header that is, in the order in which they stand there. */
attn_status attn__header_read(attn__header_reader *r);

#endif

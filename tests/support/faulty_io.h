/* Input and output that fail on demand. The functions that talk to the file system are defined here once more, before the C library's, for
 * the whole program; they count and fail for the thread that asked for it, and else are the C library's. */
#ifndef ATTN_TEST_FAULTY_IO_H
#define ATTN_TEST_FAULTY_IO_H

#include <stdbool.h>

typedef enum io_fault {
    IO_ERROR,       /* any call fails: EIO */
    IO_FULL,        /* a write fails: ENOSPC */
    IO_INTERRUPTED, /* a read or write is interrupted before it has done anything: EINTR */
    IO_SHORT        /* a read or write does one byte */
} io_fault;

/* From now on call `k` (1, 2, ...; 0: none) of those that can fail in this way does, alone or with all after it. */
void io_begin(io_fault fault, long k, bool alone);
/* Until now; the number of such calls since. */
long io_end(void);

/* The first call that failed since io_begin, "unlink" and the like; "" if none did. */
const char *io_failed(void);

#endif

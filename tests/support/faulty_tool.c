/* A program whose main thread is let down: by the disk at the call that ATTN_FAULT_IO names, by memory at the allocation that
 * ATTN_FAULT_MEMORY names. 0: by none. The file ATTN_FAULT_COUNT is told how many there were, and which call to the disk has failed. */
#include <stdio.h>
#include <stdlib.h>

#include "support/faulty_io.h"
#include "support/faulty_memory.h"

__attribute__((constructor)) static void begin(void)
{
    const char *io = getenv("ATTN_FAULT_IO"), *memory = getenv("ATTN_FAULT_MEMORY");
    if (io != NULL) {
        io_begin(IO_ERROR, strtol(io, NULL, 10), true);
    }
    if (memory != NULL) {
        faults_begin(strtol(memory, NULL, 10), true);
    }
}

__attribute__((destructor)) static void end(void)
{
    const char *path = getenv("ATTN_FAULT_COUNT");
    long n = io_end() + faults_end();
    FILE *f = path != NULL ? fopen(path, "w") : NULL;
    if (f != NULL) {
        fprintf(f, "%ld\n%s\n", n, io_failed());
        (void)fclose(f);
    }
}

/* Allocations that fail on demand: those of the library, of jansson, and, where no sanitizer keeps its own books, every other one of the
 * calling thread, such as the C library's and fontconfig's. malloc is defined here once more, for the whole program. */
#ifndef ATTN_TEST_FAULTY_MEMORY_H
#define ATTN_TEST_FAULTY_MEMORY_H

#include <stdbool.h>

#include "attn/status.h"

/* What tests hand over. New memory is dirty. */
extern const attn_allocator faulty;

/* Gives jansson the same. */
void faults_in_jansson(void);

/* From now on allocation `k` of the calling thread (1, 2, ...; 0: none) fails, alone or with all after it. */
void faults_begin(long k, bool alone);
/* Until now; the number of allocations tried since. */
long faults_end(void);
/* Nothing fails or counts between these two. */
void faults_pause(void);
void faults_resume(void);
/* Blocks of `faulty` and of jansson that are not freed. */
long faults_live(void);

#endif

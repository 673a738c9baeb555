/* What every test uses: CMocka, and comparisons that a NaN cannot pass. */
#ifndef ATTN_TEST_CHECK_H
#define ATTN_TEST_CHECK_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "attn/status.h"

/* |actual - expected| <= atol + rtol |expected|; both finite, or the same infinity. */
bool close_enough(double actual, double expected, double rtol, double atol);

#define assert_close(actual, expected, rtol, atol) check_close((actual), (expected), (rtol), (atol), #actual, __FILE__, __LINE__)
void check_close(double actual, double expected, double rtol, double atol, const char *what, const char *file, int line);

/* All n elements of two arrays of doubles. */
#define assert_all_close(actual, expected, n, rtol, atol) \
    check_all_close((actual), (expected), (n), (rtol), (atol), #actual, __FILE__, __LINE__)
void check_all_close(const double *actual, const double *expected, int64_t n, double rtol, double atol, const char *what, const char *file,
                     int line);

/* The text contains the part. */
#define assert_contains(text, part) check_contains((text), (part), __FILE__, __LINE__)
void check_contains(const char *text, const char *part, const char *file, int line);

/* An allocator that counts, and that fails the allocation number `fail_at` (1, 2, ...; 0: never) and all after it. */
typedef struct counting_allocator {
    attn_allocator value;
    long allocations, live, fail_at;
} counting_allocator;
void counting_init(counting_allocator *c, long fail_at);

#endif

/* Tensors of either dtype from doubles, and their values and gradients back as doubles. */
#ifndef ATTN_TEST_TENSORS_H
#define ATTN_TEST_TENSORS_H

#include "support/check.h"

#include "attn/tape.h"

/* Distance from 1 to the next number of the dtype. */
double epsilon_of(attn_dtype dtype);

/* n numbers uniform in [low, high) that float32 holds exactly, so that both dtypes start from the same ones. */
void fill_random(double *values, int64_t n, uint64_t seed, double low, double high);

/* The same, in memory of malloc's. */
double *random_values(int64_t n, uint64_t seed, double low, double high);

/* A variable with these values (NULL: zeros). */
attn_tensor *variable_of(attn_tape *t, attn_dtype dtype, attn_shape shape, const double *values);

/* A variable with random values in [-1, 1). */
attn_tensor *random_variable(attn_tape *t, attn_dtype dtype, attn_shape shape, uint64_t seed);

/* Backward with a cotangent of either dtype given as doubles. */
attn_status backward_from(attn_tape *t, attn_tensor *y, const double *cotangent);

/* The tensor has these values (or this gradient). */
#define assert_values(x, expected, rtol, atol)   check_tensor((x), false, (expected), (rtol), (atol), #x, __FILE__, __LINE__)
#define assert_gradient(x, expected, rtol, atol) check_tensor((x), true, (expected), (rtol), (atol), "gradient of " #x, __FILE__, __LINE__)
void check_tensor(const attn_tensor *x, bool gradient, const double *expected, double rtol, double atol, const char *what, const char *file,
                  int line);

/* The tape's first error has this status and exactly this message; the builder's result is NULL. Resets the tape. */
#define assert_refused(t, result, status, message) check_refused((t), (result), (status), (message), #result, __FILE__, __LINE__)
void check_refused(attn_tape *t, const attn_tensor *result, attn_status status, const char *message, const char *what, const char *file,
                   int line);

/* A tape on which nothing has failed; prints the message if something has. */
#define assert_tape_ok(t) check_tape_ok((t), __FILE__, __LINE__)
void check_tape_ok(const attn_tape *t, const char *file, int line);

#endif

#include "support/tensors.h"

#include <float.h>
#include <stdlib.h>
#include <string.h>

#include "attn/random.h"

double epsilon_of(attn_dtype dtype)
{
    return dtype == ATTN_F32 ? (double)FLT_EPSILON : DBL_EPSILON;
}

void fill_random(double *values, int64_t n, uint64_t seed, double low, double high)
{
    for (int64_t i = 0; i < n; i++) {
        values[i] = (double)(float)(low + (high - low) * attn_random_uniform(seed, 77, (uint64_t)i));
    }
}

double *random_values(int64_t n, uint64_t seed, double low, double high)
{
    double *values = malloc((size_t)(n > 0 ? n : 1) * sizeof *values);
    assert_non_null(values);
    fill_random(values, n, seed, low, high);
    return values;
}

/* In the dtype, in memory of malloc's. */
static void *converted(attn_dtype dtype, const double *values, int64_t n)
{
    void *bytes = malloc((size_t)(n > 0 ? n : 1) * attn_dtype_size(dtype));
    assert_non_null(bytes);
    for (int64_t i = 0; i < n; i++) {
        if (dtype == ATTN_F32) {
            ((float *)bytes)[i] = (float)values[i];
        } else {
            ((double *)bytes)[i] = values[i];
        }
    }
    return bytes;
}

attn_tensor *variable_of(attn_tape *t, attn_dtype dtype, attn_shape shape, const double *values)
{
    void *bytes = values != NULL ? converted(dtype, values, attn_shape_count(shape)) : NULL;
    attn_tensor *x = attn_variable(t, dtype, shape, bytes);
    free(bytes);
    return x;
}

attn_tensor *random_variable(attn_tape *t, attn_dtype dtype, attn_shape shape, uint64_t seed)
{
    double *values = random_values(attn_shape_count(shape), seed, -1, 1);
    attn_tensor *x = variable_of(t, dtype, shape, values);
    free(values);
    return x;
}

attn_status backward_from(attn_tape *t, attn_tensor *y, const double *cotangent)
{
    void *bytes = converted(attn_tensor_dtype(y), cotangent, attn_tensor_count(y));
    attn_status status = attn_backward_from(t, y, bytes);
    free(bytes);
    return status;
}

void check_tensor(const attn_tensor *x, bool gradient, const double *expected, double rtol, double atol, const char *what, const char *file,
                  int line)
{
    if (x == NULL) {
        print_error("%s is NULL\n", what);
        _fail(file, line);
    }
    for (int64_t i = 0; i < attn_tensor_count(x); i++) {
        double actual = gradient ? attn_tensor_get_grad(x, i) : attn_tensor_get(x, i);
        if (!close_enough(actual, expected[i], rtol, atol)) {
            print_error("%s, %s, element %lld: %.17g, expected %.17g (rtol %g, atol %g)\n", what, attn_dtype_name(attn_tensor_dtype(x)),
                        (long long)i, actual, expected[i], rtol, atol);
            _fail(file, line);
        }
    }
}

void check_refused(attn_tape *t, const attn_tensor *result, attn_status status, const char *message, const char *what, const char *file,
                   int line)
{
    if (result != NULL || attn_tape_status(t) != status || strcmp(attn_tape_message(t), message) != 0) {
        print_error("%s: %s, %s, \"%s\"\nexpected NULL, %s, \"%s\"\n", what, result != NULL ? "a tensor" : "NULL",
                    attn_status_name(attn_tape_status(t)), attn_tape_message(t), attn_status_name(status), message);
        _fail(file, line);
    }
    attn_tape_reset(t);
}

void check_tape_ok(const attn_tape *t, const char *file, int line)
{
    if (attn_tape_status(t) != ATTN_OK) {
        print_error("%s: %s\n", attn_status_name(attn_tape_status(t)), attn_tape_message(t));
        _fail(file, line);
    }
}

#include "support/check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

bool close_enough(double actual, double expected, double rtol, double atol)
{
    if (isinf(expected)) {
        return actual == expected; /* the same infinity */
    }
    return isfinite(actual) && isfinite(expected) && fabs(actual - expected) <= atol + rtol * fabs(expected);
}

void check_close(double actual, double expected, double rtol, double atol, const char *what, const char *file, int line)
{
    if (!close_enough(actual, expected, rtol, atol)) {
        print_error("%s = %.17g, expected %.17g (rtol %g, atol %g)\n", what, actual, expected, rtol, atol);
        _fail(file, line);
    }
}

void check_all_close(const double *actual, const double *expected, int64_t n, double rtol, double atol, const char *what, const char *file,
                     int line)
{
    for (int64_t i = 0; i < n; i++) {
        if (!close_enough(actual[i], expected[i], rtol, atol)) {
            print_error("%s[%lld] = %.17g, expected %.17g (rtol %g, atol %g)\n", what, (long long)i, actual[i], expected[i], rtol, atol);
            _fail(file, line);
        }
    }
}

void check_contains(const char *text, const char *part, const char *file, int line)
{
    if (strstr(text, part) == NULL) {
        print_error("\"%s\" does not contain \"%s\"\n", text, part);
        _fail(file, line);
    }
}

static void *counting_alloc(void *ctx, size_t size)
{
    counting_allocator *c = ctx;
    c->allocations++;
    if (c->fail_at > 0 && c->allocations >= c->fail_at) {
        return NULL;
    }
    void *ptr = malloc(size);
    c->live += ptr != NULL;
    return ptr != NULL ? memset(ptr, 0xA5, size) : NULL; /* new memory is dirty */
}

static void counting_free(void *ctx, void *ptr)
{
    counting_allocator *c = ctx;
    c->live -= ptr != NULL;
    free(ptr);
}

void counting_init(counting_allocator *c, long fail_at)
{
    *c = (counting_allocator){.value = {counting_alloc, counting_free, c}, .fail_at = fail_at};
}

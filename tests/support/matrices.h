/* Comparing matrices. */
#ifndef ATTN_TEST_MATRICES_H
#define ATTN_TEST_MATRICES_H

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "attn/matrix.h"
#include "support/check.h"

/* Each value is the same, or both are NaN. */
static inline void values_are(const attn_matrix *m, int64_t rows, int64_t columns, const double *values)
{
    assert_int_equal(m->rows, rows);
    assert_int_equal(m->columns, columns);
    for (int64_t i = 0; i < rows * columns; i++) {
        if (isnan(values[i])) {
            assert_true(isnan(m->values[i]));
        } else {
            assert_close(m->values[i], values[i], 0, 0);
        }
    }
}

/* Labels joined by '|'; NULL: none. */
static inline void labels_are(const char *const *labels, int64_t n, const char *joined)
{
    char text[200] = "";
    if (joined == NULL) {
        assert_null(labels);
        return;
    }
    assert_non_null(labels);
    for (int64_t i = 0; i < n; i++) {
        (void)snprintf(text + strlen(text), sizeof text - strlen(text), "%s%s", i > 0 ? "|" : "", labels[i]);
    }
    assert_string_equal(text, joined);
}

#endif

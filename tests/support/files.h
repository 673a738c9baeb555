/* Small files that tests write, under the test's working directory. */
#ifndef ATTN_TEST_FILES_H
#define ATTN_TEST_FILES_H

#include <stdio.h>
#include <string.h>

#include "support/check.h"

static inline void put_bytes(const char *path, const char *bytes, size_t size)
{
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(bytes, 1, size, f), size);
    assert_int_equal(fclose(f), 0);
}

static inline void put_text(const char *path, const char *text)
{
    put_bytes(path, text, strlen(text));
}

#endif

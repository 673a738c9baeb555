/* Small files that tests write, under the test's working directory. */
#ifndef ATTN_TEST_FILES_H
#define ATTN_TEST_FILES_H

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

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

/* Makes the folder if it is not there. */
static inline void put_folder(const char *path)
{
    struct stat info;
    if (stat(path, &info) != 0) {
        assert_int_equal(mkdir(path, 0777), 0);
    }
}

#endif

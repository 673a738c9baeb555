/* Real data, where it is at hand: in the folder of the environment variable ATTN_DATASETS, or in ../shared/datasets beside the project. */
#ifndef ATTN_TEST_DATASETS_H
#define ATTN_TEST_DATASETS_H

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "support/check.h"

/* Path of a data set; skips the test if it is not there. */
static inline void need_dataset(char path[1024], const char *name)
{
    const char *root = getenv("ATTN_DATASETS");
    struct stat info;
    (void)snprintf(path, 1024, "%s/%s", root != NULL ? root : ATTN_SOURCE_DIR "/../shared/datasets", name);
    if (stat(path, &info) != 0) {
        print_message("skipped: no %s (ATTN_DATASETS names the folder)\n", path);
        skip();
    }
}

#endif

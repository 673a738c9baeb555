#include "support/disk.h"

#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/check.h"

/* Counts the entries and, if asked to, removes them. */
static int walk(const char *path, bool removing)
{
    int n = 0;
    DIR *folder = opendir(path);
    assert_non_null(folder);
    for (struct dirent *e = readdir(folder); e != NULL; e = readdir(folder)) {
        char name[1024];
        if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0) {
            continue;
        }
        n++;
        (void)snprintf(name, sizeof name, "%s/%s", path, e->d_name);
        if (removing) {
            assert_int_equal(remove(name), 0);
        }
    }
    closedir(folder);
    return n;
}

void fresh_folder(const char *path)
{
    struct stat info;
    if (stat(path, &info) == 0) {
        (void)walk(path, true);
    } else {
        assert_int_equal(mkdir(path, 0777), 0);
    }
}

int folder_entries(const char *path)
{
    return walk(path, false);
}

char *take_file(const char *path, size_t *size)
{
    struct stat info;
    FILE *f = fopen(path, "rb");
    assert_non_null(f);
    assert_int_equal(stat(path, &info), 0);
    *size = (size_t)info.st_size;
    char *bytes = calloc(*size + 1, 1);
    assert_non_null(bytes);
    assert_int_equal(fread(bytes, 1, *size, f), *size);
    assert_int_equal(fclose(f), 0);
    return bytes;
}

bool link_full_device(const char *path)
{
    struct stat info;
    if (stat("/dev/full", &info) != 0 || !S_ISCHR(info.st_mode)) {
        return false;
    }
    assert_int_equal(symlink("/dev/full", path), 0);
    return true;
}

void limit_file_size(size_t bytes)
{
    struct rlimit limit;
    (void)signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
    limit.rlim_cur = bytes > 0 ? (rlim_t)bytes : limit.rlim_max;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

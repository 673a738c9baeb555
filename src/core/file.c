/* Whole files in and out; the only place that talks to the file system. */
#include "core/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/core.h"

#define FIRST_ROOM ((size_t)16 * 1024)

static bool is_stdio(const char *path)
{
    return strcmp(path, "-") == 0;
}

static attn_status io_fail(attn_error *error, const char *path, const char *doing, int why)
{
    char text[128];
    if (strerror_r(why, text, sizeof text) != 0) {
        (void)snprintf(text, sizeof text, "error %d", why);
    }
    return attn__fail(error, ATTN_EIO, "%s: cannot %s: %s", path, doing, text);
}

/* Reads until the end; *bytes is freed by the caller also on failure. */
static attn_status read_all(int fd, const char *path, const attn_allocator *allocator, char **bytes, size_t *size, attn_error *error)
{
    struct stat info;
    size_t capacity = 0, want = FIRST_ROOM;
    if (fstat(fd, &info) == 0 && S_ISREG(info.st_mode) && info.st_size > 0 && (uintmax_t)info.st_size < SIZE_MAX - 2) {
        want = (size_t)info.st_size + 2; /* the end is then seen without growing */
    }
    for (;;) {
        void *array = *bytes;
        bool grown = attn__grow(allocator, &array, &capacity, want, 1);
        *bytes = array;
        if (!grown) {
            return attn__fail(error, ATTN_ENOMEM, "%s: out of memory: %zu bytes wanted", path, want);
        }
        ssize_t n = read(fd, *bytes + *size, capacity - *size - 1);
        if (n < 0 && errno != EINTR) {
            return io_fail(error, path, "read", errno);
        }
        if (n == 0) {
            (*bytes)[*size] = '\0';
            return ATTN_OK;
        }
        *size += n > 0 ? (size_t)n : 0;
        want = *size + 2;
    }
}

attn_status attn__read_file(const char *path, const attn_allocator *allocator, char **bytes, size_t *size, attn_error *error)
{
    *bytes = NULL;
    *size = 0;
    int fd = is_stdio(path) ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        return io_fail(error, path, "open", errno);
    }
    attn_status status = read_all(fd, is_stdio(path) ? "standard input" : path, allocator, bytes, size, error);
    if (fd != STDIN_FILENO) {
        close(fd);
    }
    if (status != ATTN_OK) {
        attn__free(allocator, *bytes);
        *bytes = NULL;
    }
    return status;
}

static bool write_all(int fd, const char *bytes, size_t size)
{
    while (size > 0) {
        ssize_t n = write(fd, bytes, size);
        if (n < 0 && errno != EINTR) {
            return false;
        }
        bytes += n > 0 ? n : 0;
        size -= n > 0 ? (size_t)n : 0;
    }
    return true;
}

/* Makes the renaming itself durable. Not every file system can; the file is whole in any case. */
static void sync_folder(const char *path, char *scratch)
{
    const char *slash = strrchr(path, '/');
    size_t length = slash == NULL ? 0 : slash == path ? 1 : (size_t)(slash - path);
    memcpy(scratch, path, length);
    (void)snprintf(scratch + length, 2, "%s", length == 0 ? "." : "");
    int fd = open(scratch, O_RDONLY | O_CLOEXEC);
    if (fd >= 0) {
        (void)fsync(fd);
        close(fd);
    }
}

/* `temporary` has room for strlen(path) + 16 bytes. */
static attn_status replace(const char *path, char *temporary, const char *bytes, size_t size, attn_error *error)
{
    int fd = -1;
    for (int attempt = 0; attempt < 1000 && fd < 0; attempt++) {
        (void)sprintf(temporary, "%s.%03d.tmp", path, attempt);
        fd = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (fd < 0 && errno != EEXIST) {
            break;
        }
    }
    if (fd < 0) {
        return io_fail(error, path, "write", errno);
    }
    bool ok = write_all(fd, bytes, size) && fsync(fd) == 0;
    int why = errno;
    if (close(fd) != 0 && ok) {
        ok = false;
        why = errno;
    }
    if (ok && rename(temporary, path) != 0) {
        ok = false;
        why = errno;
    }
    if (!ok) {
        (void)unlink(temporary);
        return io_fail(error, path, "write", why);
    }
    sync_folder(path, temporary);
    return ATTN_OK;
}

/* Devices and pipes cannot be replaced: they are written to. */
static attn_status write_through(const char *path, const char *bytes, size_t size, attn_error *error)
{
    int fd = is_stdio(path) ? STDOUT_FILENO : open(path, O_WRONLY | O_CLOEXEC);
    if (fd < 0) {
        return io_fail(error, path, "open", errno);
    }
    bool ok = write_all(fd, bytes, size);
    int why = errno;
    if (fd != STDOUT_FILENO && close(fd) != 0 && ok) {
        ok = false;
        why = errno;
    }
    return ok ? ATTN_OK : io_fail(error, is_stdio(path) ? "standard output" : path, "write", why);
}

attn_status attn__write_file(const char *path, const attn_allocator *allocator, const void *bytes, size_t size, attn_error *error)
{
    struct stat info;
    if (is_stdio(path) || (stat(path, &info) == 0 && !S_ISREG(info.st_mode) && !S_ISDIR(info.st_mode))) {
        return write_through(path, bytes, size, error);
    }
    char *temporary = attn__calloc(allocator, strlen(path) + 16, 1);
    if (temporary == NULL) {
        return attn__fail(error, ATTN_ENOMEM, "%s: out of memory", path);
    }
    attn_status status = replace(path, temporary, bytes, size, error);
    attn__free(allocator, temporary);
    return status;
}

#undef _FORTIFY_SOURCE /* the headers would define some of these functions themselves */
#define _GNU_SOURCE    /* RTLD_NEXT */
#include "support/faulty_io.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- which call fails ---- */

static _Thread_local bool counting, only_one;
static _Thread_local long tried, first_fault;
static _Thread_local io_fault kind;
static _Thread_local const char *failed = "";

void io_begin(io_fault fault, long k, bool alone)
{
    kind = fault;
    tried = 0;
    first_fault = k;
    only_one = alone;
    counting = true;
    failed = "";
}

const char *io_failed(void)
{
    return failed;
}

long io_end(void)
{
    counting = false;
    return tried;
}

enum { ANY = 0, READS = 1, WRITES = 2 };

/* The call is one that fails; errno says why. */
static bool fails(int call, const char *name)
{
    bool can = kind == IO_ERROR || (kind == IO_FULL ? call == WRITES : call != ANY);
    if (!counting || !can) {
        return false;
    }
    tried++;
    if (first_fault == 0 || (only_one ? tried != first_fault : tried < first_fault)) {
        return false;
    }
    failed = failed[0] == '\0' ? name : failed;
    errno = kind == IO_ERROR ? EIO : kind == IO_FULL ? ENOSPC : EINTR;
    return true;
}

/* ---- the calls ---- */

/* The C library's function of this name, or a sanitizer's, which comes before it. */
#define REAL(name, type, ...)                  \
    static type (*real)(__VA_ARGS__);          \
    if (real == NULL) {                        \
        void *found = dlsym(RTLD_NEXT, #name); \
        memcpy(&real, &found, sizeof real);    \
    }

/* Bytes to move instead of `size`; -1: none. */
static ssize_t allowed(size_t size, int call, const char *name)
{
    return !fails(call, name) ? (ssize_t)size : kind == IO_SHORT && size > 0 ? 1 : -1;
}

ssize_t read(int fd, void *to, size_t size)
{
    REAL(read, ssize_t, int, void *, size_t)
    ssize_t n = allowed(size, READS, __func__);
    return n >= 0 ? real(fd, to, (size_t)n) : -1;
}

ssize_t pread(int fd, void *to, size_t size, off_t offset)
{
    REAL(pread, ssize_t, int, void *, size_t, off_t)
    ssize_t n = allowed(size, READS, __func__);
    return n >= 0 ? real(fd, to, (size_t)n, offset) : -1;
}

ssize_t write(int fd, const void *from, size_t size)
{
    REAL(write, ssize_t, int, const void *, size_t)
    ssize_t n = allowed(size, WRITES, __func__);
    return n >= 0 ? real(fd, from, (size_t)n) : -1;
}

int open(const char *path, int flags, ...)
{
    REAL(open, int, const char *, int, ...)
    va_list args;
    va_start(args, flags);
    mode_t mode = (flags & O_CREAT) != 0 ? va_arg(args, mode_t) : 0;
    va_end(args);
    return fails(ANY, __func__) ? -1 : real(path, flags, mode);
}

int close(int fd)
{
    REAL(close, int, int)
    bool failing = fails(ANY, __func__);
    int result = real(fd); /* closed in any case, as on Linux */
    if (failing) {
        errno = EIO;
    }
    return failing ? -1 : result;
}

int fcntl(int fd, int command, ...)
{
    REAL(fcntl, int, int, int, ...)
    va_list args;
    va_start(args, command);
    void *argument = va_arg(args, void *);
    va_end(args);
    return fails(ANY, __func__) ? -1 : real(fd, command, argument);
}

#define SIMPLE(name, parameters, arguments, ...)           \
    int name parameters                                    \
    {                                                      \
        REAL(name, int, __VA_ARGS__)                       \
        return fails(ANY, __func__) ? -1 : real arguments; \
    }
SIMPLE(rename, (const char *from, const char *to), (from, to), const char *, const char *)
SIMPLE(unlink, (const char *path), (path), const char *)
SIMPLE(fchmod, (int fd, mode_t mode), (fd, mode), int, mode_t)
SIMPLE(fstat, (int fd, struct stat *info), (fd, info), int, struct stat *)
SIMPLE(stat, (const char *path, struct stat *info), (path, info), const char *, struct stat *)
SIMPLE(lstat, (const char *path, struct stat *info), (path, info), const char *, struct stat *)
SIMPLE(faccessat, (int fd, const char *path, int mode, int flags), (fd, path, mode, flags), int, const char *, int, int)

/* Nothing here needs to survive the machine. */
int fsync(int fd)
{
    (void)fd;
    return fails(ANY, __func__) ? -1 : 0;
}

ssize_t readlink(const char *path, char *to, size_t size)
{
    REAL(readlink, ssize_t, const char *, char *, size_t)
    return fails(ANY, __func__) ? -1 : real(path, to, size);
}

FILE *fopen(const char *path, const char *mode)
{
    REAL(fopen, FILE *, const char *, const char *)
    return fails(ANY, __func__) ? NULL : real(path, mode);
}

/* Whole files in and out; with stream.c the only place that talks to the file system. */
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
/* What a device that is no terminal may give: some, such as /dev/zero, never end. */
#define MOST_OF_DEVICE ((size_t)1 << 26)
/* What the systems take at most. */
#define LONGEST_PATH 4096
#define MOST_LINKS   40
/* Processes that may write one file at the same time. */
#define MOST_TEMPORARIES 32

/* Locks of the open file, where the system has them, instead of the process: so threads of one process respect each other too. */
#if defined(__linux__) && !defined(F_OFD_SETLK)
#define F_OFD_SETLK 37 /* the headers hide it from strict POSIX */
#endif
#ifdef F_OFD_SETLK
#define SET_LOCK F_OFD_SETLK
#else
#define SET_LOCK F_SETLK
#endif

static bool is_stdio(const char *path)
{
    return strcmp(path, "-") == 0;
}

attn_status attn__io_fail(attn_error *error, const char *path, const char *doing, int why)
{
    char text[128];
    if (strerror_r(why, text, sizeof text) != 0) {
        (void)snprintf(text, sizeof text, "error %d", why);
    }
    return attn__fail(error, ATTN_EIO, "%s: cannot %s: %s", path[0] != '\0' ? path : "''", doing, text);
}

static bool is_endless(int fd, const struct stat *info, size_t size)
{
    return size > MOST_OF_DEVICE && S_ISCHR(info->st_mode) && isatty(fd) != 1;
}

/* Reads until the end; *bytes is freed by the caller also on failure. */
static attn_status read_all(int fd, const char *path, const attn_allocator *allocator, char **bytes, size_t *size, attn_error *error)
{
    struct stat info = {.st_mode = 0};
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
            return attn__io_fail(error, path, "read", errno);
        }
        if (n == 0) {
            (*bytes)[*size] = '\0';
            return ATTN_OK;
        }
        *size += n > 0 ? (size_t)n : 0;
        want = *size + 2;
        if (is_endless(fd, &info, *size)) {
            return attn__fail(error, ATTN_EIO, "%s: cannot read: a device that has no end, expected a file", path);
        }
    }
}

attn_status attn__read_file(const char *path, const attn_allocator *allocator, char **bytes, size_t *size, attn_error *error)
{
    *bytes = NULL;
    *size = 0;
    int fd = is_stdio(path) ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        return attn__io_fail(error, path, "open", errno);
    }
    attn_status status = read_all(fd, is_stdio(path) ? "standard input" : path, allocator, bytes, size, error);
    if (!is_stdio(path)) {
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

/* ---- temporary files ---- */

/* Where a file goes. */
typedef struct place {
    char target[LONGEST_PATH];    /* behind the links */
    char temporary[LONGEST_PATH]; /* in the target's folder */
    char scratch[LONGEST_PATH];
    bool exists;
    mode_t mode; /* of the file that is there */
} place;

/* Length of the folder's part of a path, with its slash. */
static size_t folder_length(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash == NULL ? 0 : (size_t)(slash - path) + 1;
}

/* Sets the target to what the path means when its last part is a symbolic link, perhaps to a file that is not there yet. 0 or errno. */
static int follow(const char *path, place *p)
{
    if (strlen(path) >= LONGEST_PATH) {
        return ENAMETOOLONG;
    }
    (void)strcpy(p->target, path);
    for (int links = 0; links < MOST_LINKS; links++) {
        ssize_t n = readlink(p->target, p->scratch, LONGEST_PATH - 1);
        if (n < 0) {
            return errno == EINVAL || errno == ENOENT ? 0 : errno; /* no link, or no file yet */
        }
        size_t keep = p->scratch[0] == '/' ? 0 : folder_length(p->target);
        if (keep + (size_t)n >= LONGEST_PATH) {
            return ENAMETOOLONG;
        }
        memcpy(p->target + keep, p->scratch, (size_t)n);
        p->target[keep + (size_t)n] = '\0';
    }
    return ELOOP;
}

/* Finds the place of a file, and whether one may be put there. 0 or errno. */
static int find_place(const char *path, place *p)
{
    struct stat info;
    int why = path[0] != '\0' ? follow(path, p) : ENOENT;
    p->exists = why == 0 && stat(p->target, &info) == 0;
    if (!p->exists) {
        return why != 0 || errno == ENOENT ? why : errno;
    }
    if (!S_ISREG(info.st_mode)) { /* no device either, whatever was there a moment ago */
        return S_ISDIR(info.st_mode) ? EISDIR : EIO;
    }
    p->mode = info.st_mode & 0777;
    return faccessat(AT_FDCWD, p->target, W_OK, AT_EACCESS) == 0 ? 0 : errno;
}

/* The name depends on the target's, but not its length. */
static bool name_temporary(place *p, int number)
{
    size_t folder = folder_length(p->target), room = LONGEST_PATH - folder;
    uint64_t hash = 0xCBF29CE484222325U; /* FNV-1a */
    for (const char *c = p->target + folder; *c != '\0'; c++) {
        hash = (hash ^ (unsigned char)*c) * 0x100000001B3U;
    }
    memcpy(p->temporary, p->target, folder);
    return snprintf(p->temporary + folder, room, ".attn-%016llx.%d.tmp", (unsigned long long)hash, number) < (int)room;
}

/* Who writes a temporary file holds a lock on it until it is renamed. */
typedef enum lock { LOCKED, BUSY, UNKNOWN /* this file system has no locks */ } lock;

static lock take_lock(int fd)
{
    struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    if (fcntl(fd, SET_LOCK, &whole) == 0) {
        return LOCKED;
    }
    return errno == EAGAIN || errno == EACCES ? BUSY : UNKNOWN;
}

/* The open file is (still) the one of that name. */
static bool is_file(int fd, const char *name, struct stat *info)
{
    struct stat named;
    return fstat(fd, info) == 0 && lstat(name, &named) == 0 && info->st_dev == named.st_dev && info->st_ino == named.st_ino;
}

/* Removes a temporary file of ours whose writer is gone. Nobody else can remove or rename it while this holds the lock. */
static void remove_stale(const char *name)
{
    struct stat info;
    int fd = open(name, O_WRONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0) {
        return;
    }
    if (take_lock(fd) == LOCKED && is_file(fd, name, &info) && S_ISREG(info.st_mode) && info.st_uid == geteuid()) {
        (void)unlink(name);
    }
    close(fd);
}

/* A new file of that name, locked; -1 and errno, EEXIST if the name is taken. */
static int create_locked(const char *name, mode_t mode)
{
    struct stat info;
    int fd = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
    if (fd < 0) {
        return -1;
    }
    bool busy = take_lock(fd) == BUSY;
    errno = 0;
    if (!busy && is_file(fd, name, &info)) {
        return fd;
    }
    int why = busy || errno == ENOENT ? 0 : errno;
    if (why != 0) { /* the disk */
        (void)unlink(name);
    }
    close(fd);
    errno = why != 0 ? why : EEXIST; /* before the lock was there, another process took the file for a stale one */
    return -1;
}

/* Opens the first free temporary and removes all stale ones. -1 and errno. */
static int open_temporary(place *p)
{
    int fd = -1, mine = 0;
    for (int number = 0; number < MOST_TEMPORARIES; number++) {
        if (!name_temporary(p, number)) {
            errno = ENAMETOOLONG;
            return -1;
        }
        remove_stale(p->temporary);
        if (fd < 0) {
            fd = create_locked(p->temporary, p->exists ? p->mode | S_IWUSR : 0666);
            mine = number;
        }
        if (fd < 0 && errno != EEXIST) {
            return -1;
        }
    }
    (void)name_temporary(p, mine);
    return fd;
}

/* Makes the renaming itself durable. Not every file system can; the file is whole in any case. */
static void sync_folder(place *p)
{
    size_t length = folder_length(p->target);
    memcpy(p->scratch, length > 0 ? p->target : ".", length > 0 ? length : 1);
    p->scratch[length > 0 ? length : 1] = '\0';
    int fd = open(p->scratch, O_RDONLY | O_CLOEXEC);
    if (fd >= 0) {
        (void)fsync(fd);
        close(fd);
    }
}

/* 0 or errno. */
static int replace(place *p, const char *bytes, size_t size)
{
    int fd = open_temporary(p);
    if (fd < 0) {
        return errno;
    }
    bool ok = write_all(fd, bytes, size);
    if (ok && p->exists) {
        (void)fchmod(fd, p->mode); /* a failure leaves less permissions than the old file had, never more */
    }
    ok = ok && fsync(fd) == 0 && rename(p->temporary, p->target) == 0;
    int why = ok ? 0 : errno;
    if (!ok) {
        (void)unlink(p->temporary);
    }
    close(fd); /* only now: it ends the lock */
    if (ok) {
        sync_folder(p);
    }
    return why;
}

/* ---- writing ---- */

/* Devices and pipes cannot be replaced: they are written to. */
static bool is_device(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 && !S_ISREG(info.st_mode) && !S_ISDIR(info.st_mode);
}

/* 0 or errno. */
static int write_through(const char *path, const char *bytes, size_t size)
{
    int fd = is_stdio(path) ? STDOUT_FILENO : open(path, O_WRONLY | O_CLOEXEC);
    int why = fd >= 0 && write_all(fd, bytes, size) ? 0 : errno;
    if (fd >= 0 && !is_stdio(path) && close(fd) != 0 && why == 0) {
        why = errno;
    }
    return why;
}

static attn_status no_memory(attn_error *error, const char *path)
{
    return attn__fail(error, ATTN_ENOMEM, "%s: out of memory", path);
}

attn_status attn_file_write(const char *path, const void *bytes, size_t size, const attn_allocator *allocator, attn_error *error)
{
    int why;
    if (is_stdio(path) || is_device(path)) {
        why = write_through(path, bytes, size);
    } else {
        place *p = attn__calloc(allocator, 1, sizeof *p);
        if (p == NULL) {
            return no_memory(error, path);
        }
        why = find_place(path, p);
        why = why == 0 ? replace(p, bytes, size) : why;
        attn__free(allocator, p);
    }
    return why == 0 ? ATTN_OK : attn__io_fail(error, is_stdio(path) ? "standard output" : path, "write", why);
}

attn_status attn_file_check(const char *path, const attn_allocator *allocator, attn_error *error)
{
    int why = 0;
    if (is_stdio(path)) {
        return ATTN_OK;
    }
    if (is_device(path)) {
        why = faccessat(AT_FDCWD, path, W_OK, AT_EACCESS) == 0 ? 0 : errno;
    } else {
        place *p = attn__calloc(allocator, 1, sizeof *p);
        if (p == NULL) {
            return no_memory(error, path);
        }
        why = find_place(path, p);
        int fd = why == 0 ? open_temporary(p) : -1;
        why = why == 0 && fd < 0 ? errno : why;
        if (fd >= 0) {
            (void)unlink(p->temporary);
            close(fd);
        }
        attn__free(allocator, p);
    }
    return why == 0 ? ATTN_OK : attn__io_fail(error, path, "write", why);
}

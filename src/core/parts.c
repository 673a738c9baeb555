/* Regular files, piece by piece: what is large goes straight to where it is wanted. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/file.h"
#include "core/core.h"

attn_status attn__parts_open(attn__parts *p, const char *path, attn_error *error)
{
    struct stat info;
    *p = (attn__parts){.path = path, .fd = -1};
    if (strcmp(path, "-") == 0) {
        return ATTN_OK;
    }
    if (stat(path, &info) != 0) {
        return attn__io_fail(error, path, "open", errno);
    }
    if (!S_ISREG(info.st_mode)) { /* not even opened: a pipe can be opened once */
        return ATTN_OK;
    }
    p->fd = open(path, O_RDONLY | O_CLOEXEC);
    if (p->fd < 0 || fstat(p->fd, &info) != 0) {
        int why = errno;
        attn__parts_close(p);
        return attn__io_fail(error, path, "open", why);
    }
    p->size = (uint64_t)info.st_size;
    return ATTN_OK;
}

attn_status attn__parts_read(const attn__parts *p, uint64_t offset, void *to, size_t size, attn_error *error)
{
    unsigned char *at = to;
    while (size > 0) {
        ssize_t n = pread(p->fd, at, size, (off_t)offset);
        if (n < 0 && errno != EINTR) {
            return attn__io_fail(error, p->path, "read", errno);
        }
        if (n == 0) {
            return attn__fail(error, ATTN_EIO, "%s: cannot read: it has become shorter", p->path);
        }
        at += n > 0 ? n : 0;
        offset += n > 0 ? (uint64_t)n : 0;
        size -= n > 0 ? (size_t)n : 0;
    }
    return ATTN_OK;
}

void attn__parts_close(attn__parts *p)
{
    if (p->fd >= 0) {
        close(p->fd);
    }
    p->fd = -1;
}

attn__mapping attn__parts_map(const attn__parts *p)
{
    bool possible = p->fd >= 0 && p->size > 0 && p->size <= SIZE_MAX;
    void *bytes = possible ? mmap(NULL, (size_t)p->size, PROT_READ | PROT_WRITE, MAP_PRIVATE, p->fd, 0) : MAP_FAILED;
    return bytes != MAP_FAILED ? (attn__mapping){bytes, (size_t)p->size} : (attn__mapping){NULL, 0};
}

void attn__mapping_end(attn__mapping *m)
{
    if (m->bytes != NULL) {
        (void)munmap(m->bytes, m->size);
    }
    *m = (attn__mapping){NULL, 0};
}

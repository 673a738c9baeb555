/* Files of any size, read once from their start to their end through memory of a fixed size. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/file.h"

attn_status attn__stream_open(attn__stream *s, const char *path, char *buffer, size_t room, attn_error *error)
{
    bool input = strcmp(path, "-") == 0;
    struct stat info;
    *s = (attn__stream){.path = input ? "standard input" : path, .fd = -1, .standard = input, .buffer = buffer, .room = room};
    s->fd = input ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
    if (s->fd < 0) {
        return attn__io_fail(error, path, "open", errno);
    }
    s->total = fstat(s->fd, &info) == 0 && S_ISREG(info.st_mode) ? info.st_size : 0;
    return ATTN_OK;
}

void attn__stream_close(attn__stream *s)
{
    if (s->fd >= 0 && !s->standard) {
        close(s->fd);
    }
    s->fd = -1;
}

attn_status attn__stream_fill(attn__stream *s, attn_error *error)
{
    if (s->at > 0) {
        memmove(s->buffer, s->buffer + s->at, s->end - s->at);
        s->end -= s->at;
        s->at = 0;
    }
    while (!s->over && s->end < s->room) {
        ssize_t n = read(s->fd, s->buffer + s->end, s->room - s->end);
        if (n < 0 && errno != EINTR) {
            return attn__io_fail(error, s->path, "read", errno);
        }
        s->over = n == 0;
        s->end += n > 0 ? (size_t)n : 0;
        s->done += n > 0 ? n : 0;
    }
    return ATTN_OK;
}

#include <errno.h>
#include <stdarg.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"

int fail(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    fputs("attn: ", stderr);
    vfprintf(stderr, format, args);
    fputc('\n', stderr);
    va_end(args);
    return FAILED;
}

void note(bool quiet, const char *format, ...)
{
    if (!quiet) {
        va_list args;
        va_start(args, format);
        fputs("attn: ", stderr);
        vfprintf(stderr, format, args);
        fputc('\n', stderr);
        va_end(args);
    }
}

void close_output(void)
{
    errno = 0;
    if (fflush(stdout) != 0 || ferror(stdout)) {
        _exit(fail("standard output: cannot write: %s", errno != 0 ? strerror(errno) : "an earlier write failed"));
    }
}

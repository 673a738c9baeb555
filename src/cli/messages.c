#include <errno.h>
#include <stdarg.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"

#define LONGEST 8192 /* a path and what is said of it */

/* One line, whatever is in the names that it holds. */
static void say(const char *format, va_list args)
{
    char text[LONGEST];
    (void)vsnprintf(text, sizeof text, format, args);
    hide_controls(text);
    fprintf(stderr, "attn: %s\n", text);
}

int(fail)(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    say(format, args);
    va_end(args);
    return FAILED;
}

void note(bool quiet, const char *format, ...)
{
    if (!quiet) {
        va_list args;
        va_start(args, format);
        say(format, args);
        va_end(args);
    }
}

void close_output(void)
{
    bool lost = ferror(stdout) != 0;
    errno = 0;
    if (lost) { /* stdio has forgotten why: the same happens to another byte, unless there is room again */
        (void)!write(STDOUT_FILENO, "\n", 1);
    }
    if (fflush(stdout) != 0 || lost) {
        _exit(fail("standard output: cannot write: %s", errno != 0 ? strerror(errno) : "an earlier write failed"));
    }
}

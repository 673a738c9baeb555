/* How much processor time a container may use. OpenMP knows which processors a process may run on, but not that control groups grant it a
 * part of their time only: threads beyond that stand still together until the next period, and whoever waits for them does too. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/core.h"

#define LONGEST 4096

/* Appends what a file of a few bytes holds to a text; the text's new length. */
static size_t append_file(const char *folder, const char *name, char *text, size_t length, size_t room)
{
    char path[LONGEST];
    int fd = -1;
    if (snprintf(path, sizeof path, "%s/%s", folder, name) < (int)sizeof path) {
        fd = open(path, O_RDONLY | O_CLOEXEC);
    }
    while (fd >= 0 && length + 1 < room) {
        ssize_t n = read(fd, text + length, room - length - 1);
        if (n == 0 || (n < 0 && errno != EINTR)) {
            break;
        }
        length += n > 0 ? (size_t)n : 0;
    }
    if (fd >= 0) {
        close(fd);
    }
    text[length] = '\0';
    return length;
}

/* Whole processors that the group of this folder may use, at least 1; INT_MAX: no limit. */
static int quota_of(const char *folder)
{
    char text[128], *end;
    size_t n = append_file(folder, "cpu.max", text, 0, sizeof text); /* version 2: QUOTA PERIOD, or "max" PERIOD */
    if (n == 0) {
        n = append_file(folder, "cpu.cfs_quota_us", text, 0, sizeof text); /* version 1: -1 is no limit */
        (void)append_file(folder, "cpu.cfs_period_us", text, n, sizeof text);
    }
    long long quota = strtoll(text, &end, 10), period = strtoll(end, NULL, 10);
    if (quota <= 0 || period <= 0 || quota / period >= INT_MAX) {
        return INT_MAX;
    }
    return quota < period ? 1 : (int)(quota / period);
}

/* The least quota of a group and of those that it is in. Where a container sees the path of its host, but as its root its own group, the
 * folders on the way are not there, and the root is. */
static int least_quota(const char *mount, const char *group)
{
    char folder[LONGEST];
    int least = INT_MAX;
    size_t root = strlen(mount);
    if (snprintf(folder, sizeof folder, "%s%s", mount, group) >= (int)sizeof folder) {
        return least;
    }
    for (;;) {
        int quota = quota_of(folder);
        least = quota < least ? quota : least;
        char *slash = strrchr(folder + root, '/');
        if (slash == NULL) {
            return least;
        }
        *slash = '\0';
    }
}

/* "cpu" is one of the names between commas. */
static bool has_cpu(const char *controllers)
{
    for (const char *at = controllers; at != NULL; at = strchr(at, ',')) {
        at += *at == ',';
        if (strncmp(at, "cpu", 3) == 0 && (at[3] == ',' || at[3] == '\0')) {
            return true;
        }
    }
    return false;
}

int attn__quota(const char *folder, const char *groups, const char *mount)
{
    char text[2 * LONGEST], cpu[LONGEST];
    int least = INT_MAX;
    (void)append_file(folder, groups, text, 0, sizeof text);
    if (snprintf(cpu, sizeof cpu, "%s/cpu", mount) >= (int)sizeof cpu) {
        return least;
    }
    for (char *line = text, *next; *line != '\0'; line = next) { /* NUMBER:CONTROLLERS:GROUP, version 2 without controllers */
        next = line + strcspn(line, "\n");
        next += *next == '\n' ? (*next = '\0', 1) : 0;
        char *controllers = strchr(line, ':'), *group = controllers != NULL ? strchr(controllers + 1, ':') : NULL;
        if (group != NULL) {
            *group++ = '\0';
            bool second = controllers[1] == '\0';
            int quota = second || has_cpu(controllers + 1) ? least_quota(second ? mount : cpu, group) : INT_MAX;
            least = quota < least ? quota : least;
        }
    }
    return least;
}

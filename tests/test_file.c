#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/check.h"
#include "support/disk.h"
#include "support/files.h"

#include "core/file.h"

#define FOLDER "test_file.d"
static const char path[] = FOLDER "/f";

static void assert_file(const char *name, const void *bytes, size_t size)
{
    size_t actual_size;
    char *actual = take_file(name, &actual_size);
    assert_int_equal(actual_size, size);
    assert_memory_equal(actual, bytes, size);
    free(actual);
}

static void write_ok(const char *name, const void *bytes, size_t size)
{
    attn_error error = {0};
    assert_int_equal(attn_file_write(name, bytes, size, NULL, &error), ATTN_OK);
    assert_file(name, bytes, size);
}

static void write_fails(const char *name, const void *bytes, size_t size, const char *reason)
{
    attn_error error = {0};
    assert_int_equal(attn_file_write(name, bytes, size, NULL, &error), ATTN_EIO);
    assert_int_equal(error.status, ATTN_EIO);
    assert_contains(error.message, name);
    assert_contains(error.message, reason);
    assert_int_equal(attn_file_write(name, bytes, size, NULL, NULL), ATTN_EIO);
}

static void read_ok(const char *name, const void *bytes, size_t size)
{
    char *actual;
    size_t actual_size;
    attn_error error = {0};
    assert_int_equal(attn__read_file(name, NULL, &actual, &actual_size, &error), ATTN_OK);
    assert_int_equal(actual_size, size);
    assert_memory_equal(actual, bytes, size);
    assert_int_equal(actual[size], 0);
    free(actual);
}

static void read_fails(const char *name, const char *reason)
{
    char *bytes = (char *)&bytes;
    size_t size;
    attn_error error = {0};
    assert_int_equal(attn__read_file(name, NULL, &bytes, &size, &error), ATTN_EIO);
    assert_null(bytes);
    assert_contains(error.message, name);
    assert_contains(error.message, reason);
}

static void writes_and_replaces(void **state)
{
    (void)state;
    fresh_folder(FOLDER);
    write_ok(path, "first\0with zero", 15);
    write_ok(path, "second", 6);
    write_ok(path, "", 0);
    assert_int_equal(folder_entries(FOLDER), 1);
    write_ok("test_file.tmp", "no folder in the path", 21);
    assert_int_equal(remove("test_file.tmp"), 0);
}

static void reads_whole_files(void **state)
{
    (void)state;
    enum { LARGE = 200000 };
    fresh_folder(FOLDER);
    char *large = malloc(LARGE);
    assert_non_null(large);
    for (size_t i = 0; i < LARGE; i++) {
        large[i] = (char)(i * 7919 >> 3);
    }
    const size_t sizes[] = {0, 1, 6, 16 * 1024 - 1, 16 * 1024, LARGE};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        put_bytes(path, large, sizes[i]);
        read_ok(path, large, sizes[i]);
    }
    free(large);
}

/* A pipe tells no size and gives its bytes in pieces. */
static void reads_standard_input(void **state)
{
    (void)state;
    enum { SIZE = 50000 };
    static char bytes[SIZE];
    int ends[2], saved = dup(STDIN_FILENO);
    memset(bytes, 'x', sizeof bytes);
    bytes[0] = 'a';
    bytes[SIZE - 1] = 'z';
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(write(ends[1], bytes, sizeof bytes), SIZE); /* fits into a pipe's buffer */
    close(ends[1]);
    assert_int_equal(dup2(ends[0], STDIN_FILENO), STDIN_FILENO);
    close(ends[0]);
    read_ok("-", bytes, sizeof bytes);
    assert_int_equal(dup2(saved, STDIN_FILENO), STDIN_FILENO);
    close(saved);
}

static void writes_standard_output(void **state)
{
    (void)state;
    fresh_folder(FOLDER);
    fflush(stdout);
    int saved = dup(STDOUT_FILENO);
    assert_non_null(freopen(path, "wb", stdout));
    attn_status status = attn_file_write("-", "hello", 5, NULL, NULL);
    assert_int_equal(dup2(saved, STDOUT_FILENO), STDOUT_FILENO);
    close(saved);
    assert_int_equal(status, ATTN_OK);
    assert_file(path, "hello", 5);
}

static void do_nothing(int signal)
{
    (void)signal;
}

/* Bytes that a pipe holds until a writer must wait. */
static size_t room(const int ends[2])
{
    static char byte[1];
    size_t n = 0;
    assert_int_equal(fcntl(ends[1], F_SETFL, O_NONBLOCK), 0);
    while (write(ends[1], byte, 1) == 1) {
        n++;
    }
    assert_int_equal(fcntl(ends[1], F_SETFL, 0), 0);
    for (size_t i = 0; i < n; i++) {
        assert_int_equal(read(ends[0], byte, 1), 1);
    }
    return n;
}

/* Interrupts the writer when the pipe is full, so that it waits inside write(); then reads. 0 if all bytes came in order. */
static int interrupt_and_read(int from, int full, const char *expected, size_t size)
{
    int waiting = 0;
    while (waiting < full) {
        if (ioctl(from, FIONREAD, &waiting) != 0) {
            return 2;
        }
    }
    (void)kill(getppid(), SIGUSR1);
    for (size_t at = 0; at < size;) {
        char part[4096];
        ssize_t n = read(from, part, sizeof part);
        if (n <= 0 || (size_t)n > size - at || memcmp(part, expected + at, (size_t)n) != 0) {
            return 1;
        }
        at += (size_t)n;
    }
    return 0;
}

/* write() may write less than it was asked to. */
static void short_writes_are_continued(void **state)
{
    (void)state;
    int ends[2], outcome, saved = dup(STDOUT_FILENO);
    assert_int_equal(pipe(ends), 0);
    size_t full = room(ends), size = 3 * full;
    char *bytes = malloc(size);
    assert_non_null(bytes);
    for (size_t i = 0; i < size; i++) {
        bytes[i] = (char)(i % 251);
    }
    const struct sigaction interrupting = {.sa_handler = do_nothing};
    assert_int_equal(sigaction(SIGUSR1, &interrupting, NULL), 0);
    fflush(stdout);
    pid_t reader = fork();
    if (reader == 0) {
        _exit(interrupt_and_read(ends[0], (int)full, bytes, size));
    }
    assert_int_equal(dup2(ends[1], STDOUT_FILENO), STDOUT_FILENO);
    attn_status status = attn_file_write("-", bytes, size, NULL, NULL);
    assert_int_equal(dup2(saved, STDOUT_FILENO), STDOUT_FILENO);
    close(saved);
    close(ends[0]);
    close(ends[1]);
    assert_int_equal(waitpid(reader, &outcome, 0), reader);
    assert_int_equal(outcome, 0);
    assert_int_equal(status, ATTN_OK);
    free(bytes);
}

static void reading_names_what_is_wrong(void **state)
{
    (void)state;
    fresh_folder(FOLDER);
    read_fails(FOLDER "/missing", "No such file");
    read_fails(FOLDER, "Is a directory");
}

static void folders_cannot_be_written(void **state)
{
    (void)state;
    fresh_folder(FOLDER);
    write_fails(FOLDER "/missing/f", "x", 1, "No such file");
    assert_int_equal(mkdir(FOLDER "/inner", 0777), 0);
    write_fails(FOLDER "/inner", "x", 1, "Is a directory");
    assert_int_equal(folder_entries(FOLDER), 1);
    assert_int_equal(folder_entries(FOLDER "/inner"), 0);
}

static void names_may_be_chinese_and_long(void **state)
{
    (void)state;
    char name[sizeof FOLDER + 300];
    fresh_folder(FOLDER);
    write_ok(FOLDER "/注意力 热图.bin", "x", 1);
    (void)snprintf(name, sizeof name, "%s/%0255d", FOLDER, 7); /* the longest that the file systems take */
    write_ok(name, "long", 4);
    (void)snprintf(name, sizeof name, "%s/%0256d", FOLDER, 7);
    write_fails(name, "x", 1, "File name too long");
    assert_int_equal(folder_entries(FOLDER), 2);
}

/* A device is written to, never replaced. */
static void full_disk_is_an_error(void **state)
{
    (void)state;
    struct stat info;
    fresh_folder(FOLDER);
    if (!link_full_device(path)) {
        skip();
    }
    write_fails(path, "x", 1, "No space left");
    assert_int_equal(lstat(path, &info), 0);
    assert_true(S_ISLNK(info.st_mode));
    assert_int_equal(folder_entries(FOLDER), 1);
}

static void limit_leaves_the_old_file(void **state)
{
    (void)state;
    static char large[8192];
    fresh_folder(FOLDER);
    write_ok(path, "old", 3);
    memset(large, 'n', sizeof large);
    limit_file_size(4096);
    write_fails(path, large, sizeof large, "File too large");
    write_fails(FOLDER "/new", large, sizeof large, "File too large");
    limit_file_size(0);
    assert_file(path, "old", 3);
    assert_int_equal(folder_entries(FOLDER), 1);
    write_ok(path, large, sizeof large);
    assert_int_equal(folder_entries(FOLDER), 1);
}

static void memory_may_run_out(void **state)
{
    (void)state;
    attn_status status = ATTN_ENOMEM;
    long k = 0;
    fresh_folder(FOLDER);
    put_bytes(path, "old", 3);
    while (status != ATTN_OK && k < 10) {
        counting_allocator c;
        attn_error error = {0};
        counting_init(&c, ++k);
        status = attn_file_write(path, "new", 3, &c.value, &error);
        assert_int_equal(status, error.status);
        assert_file(path, status == ATTN_OK ? "new" : "old", 3);
        assert_int_equal(c.live, 0);
    }
    assert_int_equal(k, 2);

    char *bytes = NULL;
    size_t size;
    for (k = 0, status = ATTN_ENOMEM; status != ATTN_OK && k < 10;) {
        counting_allocator c;
        attn_error error = {0};
        counting_init(&c, ++k);
        status = attn__read_file(path, &c.value, &bytes, &size, &error);
        assert_int_equal(status, error.status);
        assert_int_equal(c.live, status == ATTN_OK);
    }
    assert_int_equal(k, 2);
    free(bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(writes_and_replaces),        cmocka_unit_test(reads_whole_files),
        cmocka_unit_test(reads_standard_input),       cmocka_unit_test(writes_standard_output),
        cmocka_unit_test(short_writes_are_continued), cmocka_unit_test(reading_names_what_is_wrong),
        cmocka_unit_test(folders_cannot_be_written),  cmocka_unit_test(names_may_be_chinese_and_long),
        cmocka_unit_test(full_disk_is_an_error),      cmocka_unit_test(limit_leaves_the_old_file),
        cmocka_unit_test(memory_may_run_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

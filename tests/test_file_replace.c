/* Replacing a file: links, permissions, and what killed writers leave. */
#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/check.h"
#include "support/disk.h"
#include "support/files.h"

#include "attn/file.h"

#define FOLDER "test_file_replace.d"
static const char path[] = FOLDER "/f";

static void assert_file(const char *name, const char *text)
{
    size_t size;
    char *actual = take_file(name, &size);
    assert_string_equal(actual, text);
    free(actual);
}

/* The number that the next opened file would get. */
static int next_descriptor(void)
{
    int fd = dup(STDIN_FILENO);
    assert_int_equal(close(fd), 0);
    return fd;
}

static void write_ok(const char *name, const char *text)
{
    attn_error error = {.message = ""};
    int descriptor = next_descriptor();
    attn_status status = attn_file_write(name, text, strlen(text), NULL, &error);
    assert_string_equal(error.message, "");
    assert_int_equal(status, ATTN_OK);
    assert_int_equal(next_descriptor(), descriptor);
    assert_file(name, text);
}

static mode_t mode_of(const char *name)
{
    struct stat info;
    assert_int_equal(stat(name, &info), 0);
    return info.st_mode & 07777;
}

static bool is_link(const char *name)
{
    struct stat info;
    assert_int_equal(lstat(name, &info), 0);
    return S_ISLNK(info.st_mode);
}

static void permissions_stay(void **state)
{
    (void)state;
    const mode_t modes[] = {0600, 0640, 0666, 0755, 0200};
    fresh_folder(FOLDER);
    mode_t mask = umask(027);
    write_ok(path, "new");
    assert_int_equal(mode_of(path), 0640); /* as for any new file */
    for (size_t i = 0; i < sizeof modes / sizeof modes[0]; i++) {
        assert_int_equal(chmod(path, modes[i]), 0);
        assert_int_equal(attn_file_write(path, "again", 5, NULL, NULL), ATTN_OK);
        assert_int_equal(mode_of(path), modes[i]);
    }
    (void)umask(mask);
}

static void a_file_that_may_not_be_written_is_not_replaced(void **state)
{
    (void)state;
    attn_error error;
    if (geteuid() == 0) {
        skip(); /* may write everything */
    }
    fresh_folder(FOLDER);
    write_ok(path, "old");
    assert_int_equal(chmod(path, 0444), 0);
    assert_int_equal(attn_file_write(path, "x", 1, NULL, &error), ATTN_EIO);
    assert_string_equal(error.message, FOLDER "/f: cannot write: Permission denied");
    assert_file(path, "old");
}

/* The file behind the link is replaced, whichever way the link names it. */
static void links_stay_links(void **state)
{
    (void)state;
    char target[4096];
    fresh_folder(FOLDER "/inner");
    fresh_folder(FOLDER);
    assert_int_equal(mkdir(FOLDER "/inner", 0777), 0);
    assert_non_null(getcwd(target, sizeof target - sizeof FOLDER - 20));
    (void)strcat(target, "/" FOLDER "/inner/absolute");
    assert_int_equal(symlink("inner/f", path), 0); /* there is no such file yet */
    assert_int_equal(symlink("../f", FOLDER "/inner/second"), 0);
    assert_int_equal(symlink(target, FOLDER "/absolute"), 0);
    write_ok(path, "first");
    assert_file(FOLDER "/inner/f", "first");
    write_ok(FOLDER "/inner/second", "second"); /* over two links */
    assert_file(FOLDER "/inner/f", "second");
    write_ok(FOLDER "/absolute", "third");
    assert_file(target, "third");
    assert_true(is_link(path) && is_link(FOLDER "/inner/second") && is_link(FOLDER "/absolute"));
    assert_false(is_link(FOLDER "/inner/f") || is_link(target));
    assert_int_equal(folder_entries(FOLDER), 3);
    assert_int_equal(folder_entries(FOLDER "/inner"), 3);
    fresh_folder(FOLDER "/inner");
}

static void links_in_a_circle_are_an_error(void **state)
{
    (void)state;
    attn_error error;
    fresh_folder(FOLDER);
    assert_int_equal(symlink("f", path), 0);
    assert_int_equal(attn_file_write(path, "x", 1, NULL, &error), ATTN_EIO);
    assert_contains(error.message, path);
    assert_contains(error.message, "cannot write: Too many levels of symbolic links");
    assert_int_equal(attn_file_check(path, NULL, NULL), ATTN_EIO);
    assert_int_equal(folder_entries(FOLDER), 1);
}

/* ---- killed writers ---- */

/* A process that the system kills in the middle of writing the path. */
static void killed_writer(void)
{
    static char large[8192];
    int outcome;
    pid_t writer = fork();
    if (writer == 0) {
        const struct rlimit no_core = {0, 0}, limit = {4096, 4096};
        (void)setrlimit(RLIMIT_CORE, &no_core);
        (void)signal(SIGXFSZ, SIG_DFL);
        (void)setrlimit(RLIMIT_FSIZE, &limit);
        _exit(attn_file_write(path, large, sizeof large, NULL, NULL) == ATTN_OK ? 0 : 1);
    }
    assert_int_equal(waitpid(writer, &outcome, 0), writer);
    assert_true(WIFSIGNALED(outcome));
    assert_int_equal(WTERMSIG(outcome), SIGXFSZ);
}

/* The path of the one entry of the folder that is not "f". */
static const char *leftover(void)
{
    static char name[sizeof FOLDER + 260];
    DIR *folder = opendir(FOLDER);
    assert_non_null(folder);
    name[0] = '\0';
    for (struct dirent *e = readdir(folder); e != NULL; e = readdir(folder)) {
        if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0 && strcmp(e->d_name, "f") != 0) {
            assert_string_equal(name, "");
            (void)snprintf(name, sizeof name, FOLDER "/%s", e->d_name);
        }
    }
    closedir(folder);
    assert_string_not_equal(name, "");
    return name;
}

static void the_next_save_removes_what_a_killed_one_left(void **state)
{
    (void)state;
    fresh_folder(FOLDER);
    write_ok(path, "old");
    killed_writer();
    assert_int_equal(folder_entries(FOLDER), 2);
    assert_file(path, "old");
    write_ok(FOLDER "/other", "x"); /* another file's business */
    assert_int_equal(folder_entries(FOLDER), 3);
    assert_int_equal(remove(FOLDER "/other"), 0);
    (void)leftover(); /* is still there, and alone */
    write_ok(path, "new");
    assert_int_equal(folder_entries(FOLDER), 1);
    killed_writer();
    assert_int_equal(attn_file_check(path, NULL, NULL), ATTN_OK); /* the question tidies up too */
    assert_int_equal(folder_entries(FOLDER), 1);
    assert_file(path, "new");
}

/* Another process that still writes holds a lock on its temporary. */
static void a_living_writer_keeps_its_temporary(void **state)
{
    (void)state;
    int ready[2], outcome;
    char byte;
    fresh_folder(FOLDER);
    killed_writer();
    const char *temporary = leftover();
    assert_int_equal(pipe(ready), 0);
    pid_t writer = fork();
    if (writer == 0) {
        struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
        int fd = open(temporary, O_WRONLY);
        byte = fd >= 0 && fcntl(fd, F_SETLK, &whole) == 0 ? 'y' : 'n';
        _exit(write(ready[1], &byte, 1) == 1 && pause() == 0);
    }
    assert_int_equal(read(ready[0], &byte, 1), 1);
    assert_int_equal(byte, 'y');
    write_ok(path, "new");
    assert_int_equal(folder_entries(FOLDER), 2);
    assert_string_equal(leftover(), temporary);
    assert_int_equal(kill(writer, SIGKILL), 0);
    assert_int_equal(waitpid(writer, &outcome, 0), writer);
    write_ok(path, "newer");
    assert_int_equal(folder_entries(FOLDER), 1);
    close(ready[0]);
    close(ready[1]);
}

/* What is no file of ours is left alone: here a folder, a link, and a pipe that nobody reads. */
static void names_that_are_taken_are_left_alone(void **state)
{
    (void)state;
    for (int kind = 0; kind < 3; kind++) {
        fresh_folder(FOLDER);
        killed_writer();
        const char *temporary = leftover();
        put_text(FOLDER "/f", "old");
        assert_int_equal(remove(temporary), 0);
        int made = kind == 0 ? mkdir(temporary, 0777) : kind == 1 ? symlink("f", temporary) : mkfifo(temporary, 0666);
        assert_int_equal(made, 0);
        write_ok(path, "new");
        assert_int_equal(folder_entries(FOLDER), 2);
        assert_string_equal(leftover(), temporary);
    }
}

/* ---- several writers ---- */

enum { WRITERS = 4, ROUNDS = 60, SIZE = 20000 };

static void *write_often(void *letter)
{
    static _Atomic int failures;
    char *bytes = malloc(SIZE);
    memset(bytes, *(char *)letter, SIZE);
    for (int i = 0; i < ROUNDS; i++) {
        failures += attn_file_write(path, bytes, SIZE, NULL, NULL) != ATTN_OK;
    }
    free(bytes);
    return failures == 0 ? NULL : letter;
}

/* Threads of one process and other processes write the same path: none fails, one of them wins, nothing stays behind. */
static void writers_do_not_disturb_each_other(void **state)
{
    (void)state;
    static char letters[] = "abcd";
    pthread_t threads[WRITERS];
    pid_t child;
    int outcome;
    fresh_folder(FOLDER);
    assert_true((child = fork()) >= 0);
    if (child == 0) {
        _exit(write_often("e") != NULL);
    }
    for (int i = 0; i < WRITERS; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, write_often, &letters[i]), 0);
    }
    for (int i = 0; i < WRITERS; i++) {
        void *failed;
        assert_int_equal(pthread_join(threads[i], &failed), 0);
        assert_null(failed);
    }
    assert_int_equal(waitpid(child, &outcome, 0), child);
    assert_int_equal(outcome, 0);
    size_t size;
    char *bytes = take_file(path, &size);
    assert_int_equal(size, SIZE);
    for (size_t i = 1; i < size; i++) {
        assert_int_equal(bytes[i], bytes[0]);
    }
    free(bytes);
    assert_int_equal(folder_entries(FOLDER), 1);
}

/* ---- asking beforehand ---- */

static void check_refuses(const char *name, const char *reason)
{
    attn_error error;
    char expected[600];
    assert_int_equal(attn_file_check(name, NULL, &error), ATTN_EIO);
    (void)snprintf(expected, sizeof expected, "%s: cannot write: %s", name[0] != '\0' ? name : "''", reason);
    assert_string_equal(error.message, expected);
}

static void asking_leaves_no_trace(void **state)
{
    (void)state;
    char name[sizeof FOLDER + 300];
    counting_allocator c;
    fresh_folder(FOLDER);
    counting_init(&c, 0);
    int descriptor = next_descriptor();
    assert_int_equal(attn_file_check(path, &c.value, NULL), ATTN_OK);
    assert_int_equal(c.live, 0);
    assert_int_equal(attn_file_check("-", NULL, NULL), ATTN_OK);
    assert_int_equal(folder_entries(FOLDER), 0);
    check_refuses(FOLDER, "Is a directory");
    check_refuses(FOLDER "/missing/f", "No such file or directory");
    check_refuses("", "No such file or directory");
    (void)snprintf(name, sizeof name, "%s/%0256d", FOLDER, 7);
    check_refuses(name, "File name too long");
    assert_int_equal(folder_entries(FOLDER), 0);
    if (link_full_device(path)) {
        assert_int_equal(attn_file_check(path, NULL, NULL), ATTN_OK); /* it can be opened; only writing finds it full */
        assert_true(is_link(path));
    }
    assert_int_equal(next_descriptor(), descriptor);
    counting_init(&c, 1);
    attn_error error;
    assert_int_equal(attn_file_check(FOLDER "/g", &c.value, &error), ATTN_ENOMEM);
    assert_string_equal(error.message, FOLDER "/g: out of memory");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(permissions_stay),
        cmocka_unit_test(a_file_that_may_not_be_written_is_not_replaced),
        cmocka_unit_test(links_stay_links),
        cmocka_unit_test(links_in_a_circle_are_an_error),
        cmocka_unit_test(the_next_save_removes_what_a_killed_one_left),
        cmocka_unit_test(a_living_writer_keeps_its_temporary),
        cmocka_unit_test(names_that_are_taken_are_left_alone),
        cmocka_unit_test(writers_do_not_disturb_each_other),
        cmocka_unit_test(asking_leaves_no_trace),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

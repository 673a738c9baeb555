#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli.h"

/* The folder that a file's name lies in, and where the rest of the name begins. */
static bool find_folder(const char *path, struct stat *info, const char **rest)
{
    const char *slash = strrchr(path, '/');
    *rest = slash != NULL ? slash + 1 : path;
    char *folder = slash != NULL ? strndup(path, (size_t)(*rest - path)) : strdup(".");
    bool there = folder != NULL && stat(folder, info) == 0;
    free(folder);
    return there;
}

/* Two names of one file, or of one that would be made. */
static bool is_same(const char *a, const char *b)
{
    struct stat x, y;
    bool there = stat(a, &x) == 0, other = stat(b, &y) == 0;
    if (there || other) {
        return there && other && S_ISREG(x.st_mode) && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
    }
    const char *rest_a, *rest_b;
    return find_folder(a, &x, &rest_a) && find_folder(b, &y, &rest_b) && x.st_dev == y.st_dev && x.st_ino == y.st_ino &&
           strcmp(rest_a, rest_b) == 0;
}

/* Something is named, and not standard input or output. */
static bool names_file(const char *path)
{
    return path != NULL && strcmp(path, "-") != 0;
}

bool overwrites(const char *output, const char *const others[], int n)
{
    for (int i = 0; i < n; i++) {
        if (names_file(output) && names_file(others[i]) && is_same(output, others[i])) {
            (void)fail("%s: would be written over: it is also given as %s", output, others[i]);
            return true;
        }
    }
    return false;
}

attn_corpus *read_corpus(char *const paths[], int n, const char *split, bool quiet)
{
    attn_error error = {.message = "out of memory"};
    attn_corpus *c = attn_corpus_new(NULL);
    attn_status status = c != NULL ? ATTN_OK : ATTN_ENOMEM;
    for (int i = 0; i < n && status == ATTN_OK; i++) {
        status = attn_corpus_read(c, paths[i], split, &error);
    }
    if (status != ATTN_OK) {
        (void)fail("%s", error.message);
        attn_corpus_free(c);
        return NULL;
    }
    if (attn_corpus_blank_lines(c) > 0) {
        note(quiet, "%lld blank line%s skipped, the first at %s", (long long)attn_corpus_blank_lines(c),
             attn_corpus_blank_lines(c) == 1 ? "" : "s", attn_corpus_first_blank(c));
    }
    return c;
}

static attn_word_sense *ready_model(attn_word_sense *m, int threads, const attn_error *error)
{
    if (m == NULL) {
        (void)fail("%s", error->message);
    } else {
        attn_word_sense_set_threads(m, threads);
    }
    return m;
}

attn_word_sense *load_model(const char *path, int threads)
{
    attn_error error;
    attn_word_sense *m = attn_word_sense_load(path, NULL, &error);
    return ready_model(m, threads, &error);
}

static char gone[5000]; /* the message */

/* Pages of the mapped file are gone. They are touched by computations, never in the middle of printing. */
static void end_without_file(int number, siginfo_t *info, void *context)
{
    (void)context;
    if (info->si_code != BUS_ADRERR) {
        (void)raise(number); /* which now does what it does by itself */
        return;
    }
    (void)fflush(stdout);
    ssize_t n = write(STDERR_FILENO, gone, strlen(gone));
    (void)n;
    _exit(FAILED);
}

attn_word_sense *map_model(const char *path, int threads)
{
    attn_error error;
    struct sigaction action = {.sa_sigaction = end_without_file, .sa_flags = SA_SIGINFO | (int)SA_RESETHAND};
    (void)snprintf(gone, sizeof gone - 1, "attn: %s: cannot read: it has become shorter", path);
    hide_controls(gone);
    (void)strcat(gone, "\n");
    (void)sigaction(SIGBUS, &action, NULL);
    attn_word_sense *m = attn_word_sense_map(path, NULL, &error);
    return ready_model(m, threads, &error);
}

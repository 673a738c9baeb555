#include <string.h>
#include <sys/stat.h>

#include "cli.h"

static bool is_file(const char *path, struct stat *info)
{
    return path != NULL && strcmp(path, "-") != 0 && stat(path, info) == 0 && S_ISREG(info->st_mode);
}

bool overwrites(const char *output, const char *const others[], int n)
{
    struct stat mine, other;
    for (int i = 0; i < n && output != NULL; i++) {
        bool same = others[i] != NULL && strcmp(output, "-") != 0 && strcmp(output, others[i]) == 0;
        if (is_file(output, &mine) && is_file(others[i], &other)) {
            same = mine.st_dev == other.st_dev && mine.st_ino == other.st_ino;
        }
        if (same) {
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

attn_word_sense *load_model(const char *path, int threads)
{
    attn_error error;
    attn_word_sense *m = attn_word_sense_load(path, NULL, &error);
    if (m == NULL) {
        (void)fail("%s", error.message);
    } else {
        attn_word_sense_set_threads(m, threads);
    }
    return m;
}

#include <errno.h>
#include <stdlib.h>
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

/* The words that the model knows, as many as fit, for a message. */
static void known_words(const attn_word_sense *m, char *text, size_t size)
{
    size_t at = 0;
    int n = attn_word_sense_words(m);
    text[0] = '\0';
    for (int i = 0; i < n; i++) {
        const char *word = attn_word_sense_word(m, i);
        if (at + strlen(word) + 30 > size) {
            (void)snprintf(text + at, size - at, " and %d more", n - i);
            return;
        }
        at += (size_t)snprintf(text + at, size - at, "%s%s", i > 0 ? ", " : "", word);
    }
}

static int each_line(bool all, sentence_fn visit, void *ctx)
{
    char *line = NULL, where[64];
    size_t room = 0;
    ssize_t n;
    int code = DONE;
    bool none = true;
    for (long long number = 1; (code == DONE || all) && (n = getline(&line, &room, stdin)) >= 0; number++) {
        (void)snprintf(where, sizeof where, "standard input:%lld: ", number);
        bool zero = strlen(line) != (size_t)n, blank = !zero && line[strspn(line, " \t\r\n")] == '\0';
        int outcome = zero ? fail("%sa zero byte, expected words separated by spaces", where) : blank ? DONE : visit(ctx, line, where);
        code = outcome != DONE ? outcome : code;
        none = none && blank;
    }
    free(line);
    if ((code == DONE || all) && !feof(stdin)) {
        return fail("standard input: cannot read: %s", strerror(errno));
    }
    return none ? fail("standard input: no sentence") : code;
}

int each_sentence(char *const sentences[], int n, bool all, sentence_fn visit, void *ctx)
{
    char where[64] = "";
    int code = DONE;
    for (int i = 0; i < n && (code == DONE || all); i++) {
        if (n > 1) {
            (void)snprintf(where, sizeof where, "sentence %d: ", i + 1);
        }
        int outcome = visit(ctx, sentences[i], where);
        code = outcome != DONE ? outcome : code;
    }
    return n > 0 ? code : each_line(all, visit, ctx);
}

int find_target(const attn_word_sense *m, const attn_example *sentence, target_choice choice, const char *where, bool quiet)
{
    char known[600];
    if (choice.index >= sentence->length) {
        (void)fail("%s--target-index is %d, the sentence has the words 0..%d", where, choice.index, sentence->length - 1);
        return -1;
    }
    if (choice.index >= 0) {
        return choice.index;
    }
    int first = -1, count = 0;
    for (int i = 0; i < sentence->length; i++) {
        bool wanted =
            choice.word != NULL ? strcmp(sentence->tokens[i], choice.word) == 0 : attn_word_sense_find(m, sentence->tokens[i]) >= 0;
        first = wanted && first < 0 ? i : first;
        count += wanted;
    }
    if (first < 0 && choice.word != NULL) {
        (void)fail("%sthe word '%s' is not in the sentence (words are separated by spaces)", where, choice.word);
    } else if (first < 0) {
        known_words(m, known, sizeof known);
        (void)fail("%sno word of the sentence is one whose senses the model knows (words are separated by spaces); it knows: %s", where,
                   known);
    } else if (count > 1) {
        note(quiet, "%s%d words could be meant; took '%s' at index %d (--target-index chooses)", where, count, sentence->tokens[first],
             first);
    }
    return first;
}

/* Pages about sentences. */
#include "pages.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define LARGE_PAGE 50000000 /* bytes */

/* ---- sentences ---- */

typedef struct collecting {
    report_words *w;
    const attn_word_sense *m;
    target_choice target;
    attn_tokenization how;
    bool quiet;
} collecting;

static int add_sentence(void *ctx, const char *text, const char *where, long long number)
{
    const collecting *c = ctx;
    report_words *w = c->w;
    attn_example words;
    (void)number;
    if (read_sentence(c->m, w->words, text, c->how, c->target, where, &words) != DONE) {
        return FAILED;
    }
    int target = find_target(c->m, &words, c->target, where, c->quiet);
    attn_report_sentence *more = target >= 0 ? realloc(w->sentence, ((size_t)w->n + 1) * sizeof *more) : NULL;
    if (more == NULL) {
        return target >= 0 ? fail("out of memory") : FAILED;
    }
    w->sentence = more;
    w->sentence[w->n++] = (attn_report_sentence){words.tokens, words.length, target};
    return DONE;
}

int words_collect(report_words *w, const attn_word_sense *m, const sentence_source *from, target_choice target, attn_tokenization how)
{
    *w = (report_words){.words = attn_corpus_new(NULL)};
    if (w->words == NULL) {
        return fail("out of memory");
    }
    return each_sentence(from, add_sentence, &(collecting){w, m, target, how, from->quiet});
}

void words_free(report_words *w)
{
    free(w->sentence);
    attn_corpus_free(w->words);
}

/* ---- files ---- */

static bool is_page(const char *path)
{
    const char *slash = strrchr(path, '/'), *dot = strrchr(slash != NULL ? slash : path, '.');
    return dot == NULL || strcasecmp(dot, ".html") == 0 || strcasecmp(dot, ".htm") == 0;
}

int page_check(const char *path)
{
    attn_error error;
    if (!is_page(path)) {
        return fail("%s: a page is an HTML file: expected the extension .html", path);
    }
    return attn_file_check(path, NULL, &error) == ATTN_OK ? DONE : fail("%s", error.message);
}

int page_write(const char *path, attn_page *page, bool quiet)
{
    attn_error error;
    int code = attn_page_write(path, page, &error) == ATTN_OK ? DONE : fail("%s", error.message);
    if (code == DONE && page->size > LARGE_PAGE) {
        note(quiet, "%s: a page of %zu MB, which browsers are slow to open, or cannot; shorter sentences make a smaller one",
             is_stdio(path) ? "standard output" : path, page->size / 1000000);
    }
    attn_page_free(page);
    return code;
}

int report_write(const char *path, const attn_report_config *config, bool quiet)
{
    attn_error error;
    attn_page page;
    return attn_report_page(config, &page, NULL, &error) == ATTN_OK ? page_write(path, &page, quiet) : fail("%s", error.message);
}

/* attn eval --confusion DIR: a picture of every word's confusion matrix. Its cells show counts, and have the colour of the share of their
 * row, so that a sense with few sentences is seen as well as one with many. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* asprintf */
#endif
#include <stdlib.h>
#include <string.h>

#include "eval.h"
#include "heatmap.h"

/* FOLDER/WORD.png; NULL if memory is out. In a name, a '/' and control characters become '_'. */
static char *picture_path(const char *folder, const char *word)
{
    char *path = NULL;
    if (asprintf(&path, "%s/%s.png", folder, word) < 0) {
        return NULL;
    }
    for (char *at = path + strlen(folder) + 1; *at != '\0'; at++) {
        *at = *at == '/' || (unsigned char)*at < ' ' ? '_' : *at;
    }
    return path;
}

bool confusion_open(const char *folder)
{
    attn_error error = {.message = "out of memory"};
    int why = make_folder(folder);
    if (why != 0) {
        return fail("%s: cannot make the folder: %s", folder, strerror(why)) == DONE;
    }
    char *path = picture_path(folder, "confusion");
    bool ok = path != NULL && attn_file_check(path, NULL, &error) == ATTN_OK;
    free(path);
    return ok || fail("%s", error.message) == DONE;
}

/* What a picture is made of. */
typedef struct parts {
    double *shares, *counts;
    const char **senses;
    char *title;
} parts;

/* Bytes of "WORD_" if the names of all senses begin so, for then it tells nothing. */
static size_t common_prefix(const attn_word_score *w)
{
    size_t size = strlen(w->word);
    bool all = true;
    for (int i = 0; i < w->n_senses && all; i++) {
        const char *name = w->senses[i].sense;
        all = strncmp(name, w->word, size) == 0 && name[size] == '_' && name[size + 1] != '\0';
    }
    return all ? size + 1 : 0;
}

static bool fill_parts(const attn_word_score *w, parts *p)
{
    size_t n = (size_t)w->n_senses;
    p->shares = calloc(n * n, sizeof *p->shares);
    p->counts = calloc(n * n, sizeof *p->counts);
    p->senses = calloc(n, sizeof *p->senses);
    if (p->shares == NULL || p->counts == NULL || p->senses == NULL ||
        asprintf(&p->title, "%s: %lld of %lld right, macro F1 %.3f", w->word, (long long)w->correct, (long long)w->examples, w->macro_f1) <
            0) {
        p->title = NULL;
        return false;
    }
    size_t prefix = common_prefix(w);
    for (size_t i = 0; i < n * n; i++) {
        int64_t support = w->senses[i / n].support;
        p->counts[i] = (double)w->confusion[i];
        p->shares[i] = support > 0 ? p->counts[i] / (double)support : 0;
        p->senses[i / n] = w->senses[i / n].sense + prefix;
    }
    return true;
}

/* `said` holds the remarks of the picture before, which need not be made again. */
static attn_status draw(const attn_word_score *w, const char *path, bool quiet, char said[], size_t room, attn_error *error)
{
    parts p = {0};
    attn_image image;
    attn_status status = ATTN_ENOMEM;
    if (path != NULL && fill_parts(w, &p)) {
        const attn_heatmap_panel panel = {.rows = w->n_senses,
                                          .columns = w->n_senses,
                                          .values = p.shares,
                                          .numbers = p.counts,
                                          .row_labels = p.senses,
                                          .column_labels = p.senses};
        const attn_heatmap_config look = {.panels = &panel,
                                          .n_panels = 1,
                                          .title = p.title,
                                          .row_title = "gold sense",
                                          .column_title = "predicted sense",
                                          .bar_title = "share of the gold sense",
                                          .digits = -1};
        status = attn_heatmap_draw(&look, &image, NULL, NULL, error);
    }
    if (status == ATTN_OK) {
        print_notes(image.notes, quiet || strcmp(image.notes, said) == 0);
        (void)snprintf(said, room, "%s", image.notes);
        status = attn_png_write(path, &image, error);
        attn_image_free(&image);
    }
    free(p.title);
    free(p.senses);
    free(p.counts);
    free(p.shares);
    return status;
}

int confusion_draw(const char *folder, attn_scores *scores, bool quiet)
{
    attn_error error = {.message = "out of memory for a picture"};
    attn_status status = ATTN_OK;
    char said[sizeof((attn_image *)0)->notes] = "";
    for (int i = 0; i < attn_scores_words(scores) && status == ATTN_OK; i++) {
        attn_word_score w = attn_scores_word(scores, i);
        char *path = picture_path(folder, w.word);
        status = draw(&w, path, quiet, said, sizeof said, &error);
        free(path);
    }
    return status == ATTN_OK ? DONE : fail("%s", error.message);
}

/* attn train --heatmaps DIR: how the attention of one sentence changes, a picture an epoch. All have the scale 0..1 and so can be compared.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* asprintf */
#endif
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "heatmap.h"
#include "train.h"

int make_folder(const char *path)
{
    char *copy = strdup(path);
    int why = copy == NULL ? ENOMEM : path[0] == '\0' ? ENOENT : 0;
    for (size_t i = 1; why == 0 && i <= strlen(path); i++) {
        if (path[i] == '/' || path[i] == '\0') {
            copy[i] = '\0';
            why = mkdir(copy, 0777) == 0 || errno == EEXIST ? 0 : errno;
            copy[i] = path[i];
        }
    }
    free(copy);
    return why;
}

/* Of an ensemble, whose members are trained one after the other, the member comes first. NULL if memory is out. */
static char *picture_path(const epoch_pictures *p, int member, int members, int epoch)
{
    char *path = NULL;
    int n = members > 1 ? asprintf(&path, "%s/model-%d-epoch-%03d.png", p->folder, member + 1, epoch)
                        : asprintf(&path, "%s/epoch-%03d.png", p->folder, epoch);
    return n >= 0 ? path : NULL;
}

/* Whether pictures can be written is found out before the training. */
static bool check_folder(const epoch_pictures *p, int members)
{
    attn_error error = {.message = "out of memory"};
    int why = make_folder(p->folder);
    if (why != 0) {
        return fail("%s: cannot make the folder: %s", p->folder, strerror(why)) == DONE;
    }
    char *path = picture_path(p, 0, members, 1);
    bool ok = path != NULL && attn_file_check(path, NULL, &error) == ATTN_OK;
    free(path);
    return ok || fail("%s", error.message) == DONE;
}

bool pictures_open(epoch_pictures *p, const train_arguments *a, const attn_corpus *data, progress *line)
{
    *p = (epoch_pictures){.folder = a->heatmaps, .line = line, .quiet = a->quiet};
    if (p->folder == NULL) {
        return true;
    }
    if (a->heatmap_sentence == NULL) {
        p->sentence = attn_corpus_get(data, 0);
    } else {
        attn_error error = {.message = "out of memory"};
        p->words = attn_corpus_new(NULL);
        p->text = a->heatmap_sentence;
        if (p->words == NULL || attn_corpus_tokenize(p->words, a->heatmap_sentence, &p->sentence, &error) != ATTN_OK) {
            return fail("--heatmap-sentence: %s", error.message) == DONE;
        }
    }
    return check_folder(p, a->config.seeds);
}

void pictures_close(epoch_pictures *p)
{
    attn_corpus_free(p->words);
}

static attn_status draw(epoch_pictures *p, const double *values, const char *title, const char *path)
{
    attn_image image;
    const attn_heatmap_panel panel = {.rows = p->sentence.length,
                                      .columns = p->sentence.length,
                                      .values = values,
                                      .row_labels = p->sentence.tokens,
                                      .column_labels = p->sentence.tokens};
    const attn_heatmap_config look = {.panels = &panel, .n_panels = 1, .title = title, .vmin = 0, .vmax = 1};
    attn_status status = attn_heatmap_draw(&look, &image, NULL, NULL, &p->error);
    if (status == ATTN_OK) {
        if (!p->noted && image.notes[0] != '\0') {
            progress_clear(p->line);
            print_notes(image.notes, p->quiet);
        }
        p->noted = true;
        status = attn_png_write(path, &image, &p->error);
        attn_image_free(&image);
    }
    return status;
}

/* The sentence that was given, as the model reads it; if that leaves nothing of it, at its spaces. */
static void cut_text(epoch_pictures *p, const attn_word_sense *m)
{
    attn_example words;
    if (p->text != NULL && attn_tokenize(m, p->words, p->text, ATTN_TOKENIZE_AUTO, NULL, &words, NULL) == ATTN_OK) {
        p->sentence = words;
    }
    p->text = NULL;
}

attn_status pictures_draw(epoch_pictures *p, attn_word_sense *m, const attn_word_sense_progress *at)
{
    if (p->folder == NULL) {
        return ATTN_OK;
    }
    cut_text(p, m);
    int heads = attn_word_sense_get_config(m).heads, length = p->sentence.length;
    char title[60], *path = picture_path(p, at->member, at->members, at->epoch);
    double *weights = calloc((size_t)heads * (size_t)length, (size_t)length * sizeof *weights), *mean = NULL;
    (void)snprintf(title, sizeof title, at->members > 1 ? "epoch %d of model %d" : "epoch %d", at->epoch, at->member + 1);
    p->error = (attn_error){ATTN_ENOMEM, "out of memory for a picture"};
    attn_status status = path != NULL && weights != NULL ? ATTN_OK : ATTN_ENOMEM;
    if (status == ATTN_OK) {
        status = attn_word_sense_attention(m, p->sentence.tokens, length, weights, &p->error);
    }
    if (status == ATTN_OK) {
        mean = weights_of_head(weights, heads, length, ATTN_HEAD_MEAN);
        status = mean != NULL ? draw(p, mean, title, path) : ATTN_ENOMEM;
    }
    free(mean);
    free(weights);
    free(path);
    return status;
}

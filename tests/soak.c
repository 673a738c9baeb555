/* A long life: trains, interrupts, saves, loads, resumes, measures, draws, writes pages, and again. Resident memory must be flat after the
 * first rounds and no descriptor may stay open: soak TRAIN.tsv TEST.tsv SECONDS (0: a few rounds) */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#ifdef __GLIBC__
#include <malloc.h>
#endif

#include "attn/attn.h"
#include "support/sanitized.h"

enum { WARM_UP = 4, FEW = 10, MAY_GROW = 1 << 20 };

static attn_error error;

static void must(attn_status status)
{
    if (status != ATTN_OK) {
        fprintf(stderr, "soak: %s\n", error.message);
        exit(1);
    }
}

/* Of what is in use: glibc keeps up to some 30 MB of what was freed, depending on the largest block so far. */
static long resident(void)
{
    long pages = 0;
#ifdef __GLIBC__
    (void)malloc_trim(0);
#endif
    FILE *f = fopen("/proc/self/statm", "r");
    if (f == NULL || fscanf(f, "%*d %ld", &pages) != 1) {
        fprintf(stderr, "soak: /proc/self/statm cannot be read\n");
        exit(2);
    }
    fclose(f);
    return pages * sysconf(_SC_PAGESIZE);
}

static int open_files(void)
{
    int n = 0;
    DIR *d = opendir("/proc/self/fd");
    while (d != NULL && readdir(d) != NULL) {
        n++;
    }
    closedir(d);
    return n;
}

static bool two_epochs(void *ctx, const attn_word_sense_progress *p)
{
    (void)ctx;
    return !(p->epoch_done && p->epoch == 2);
}

static attn_word_sense *trained(const attn_corpus *train, uint64_t seed)
{
    attn_word_sense_config config = attn_word_sense_defaults();
    config.seed = seed;
    config.epochs = 4;
    config.score = (attn_score)(seed % 3);
    attn_word_sense *m = attn_word_sense_new(train, &config, NULL, &error);
    must(m != NULL ? ATTN_OK : error.status);
    if (attn_word_sense_train(m, train, NULL, two_epochs, NULL, &error) != ATTN_EINTERRUPTED) {
        must(ATTN_EINVAL);
    }
    must(attn_word_sense_save(m, "soak.safetensors", &error));
    attn_word_sense_free(m);
    m = attn_word_sense_load("soak.safetensors", NULL, &error);
    must(m != NULL ? ATTN_OK : error.status);
    must(attn_word_sense_train(m, train, NULL, NULL, NULL, &error));
    must(attn_word_sense_save(m, "soak.safetensors", &error));
    return m;
}

static void draw(attn_word_sense *m, attn_example e)
{
    int heads = attn_word_sense_get_config(m).heads;
    size_t cells = (size_t)e.length * (size_t)e.length;
    double *weights = calloc((size_t)heads * cells, sizeof *weights);
    must(weights != NULL ? attn_word_sense_attention(m, e.tokens, e.length, weights, &error) : ATTN_ENOMEM);
    attn_heatmap_panel panels[16];
    for (int h = 0; h < heads; h++) {
        panels[h] = (attn_heatmap_panel){.rows = e.length,
                                         .columns = e.length,
                                         .values = weights + (size_t)h * cells,
                                         .row_labels = e.tokens,
                                         .column_labels = e.tokens};
    }
    attn_heatmap_config config = {.panels = panels, .n_panels = heads};
    attn_image image;
    must(attn_heatmap_draw(&config, &image, NULL, NULL, &error));
    must(attn_png_write("soak.png", &image, &error));
    attn_image_free(&image);
    attn_heatmap_page_config page_config = {.look = config, .heads = heads};
    attn_page page;
    must(attn_heatmap_page(&page_config, &page, NULL, &error));
    must(attn_page_write("soak.html", &page, &error));
    attn_page_free(&page);
    free(weights);
}

static void one_round(const char *train_path, const char *test_path, uint64_t seed)
{
    attn_corpus *train = attn_corpus_new(NULL), *test = attn_corpus_new(NULL);
    attn_scores *scores = attn_scores_new(NULL);
    must(attn_corpus_read(train, train_path, "train", &error));
    must(attn_corpus_read(test, test_path, "test", &error));
    attn_word_sense *m = trained(train, seed);
    must(attn_word_sense_score(m, test, scores, NULL, &error));
    draw(m, attn_corpus_get(test, (int64_t)(seed % (uint64_t)attn_corpus_count(test))));
    attn_scores_free(scores);
    attn_word_sense_free(m);
    attn_corpus_free(test);
    attn_corpus_free(train);
}

int main(int argc, char **argv)
{
#ifdef SANITIZED
    printf("skipped: the address sanitizer keeps memory that was freed\n");
    return 77;
#endif
    if (argc != 4) {
        fprintf(stderr, "usage: soak TRAIN.tsv TEST.tsv SECONDS\n");
        return 2;
    }
    double seconds = strtod(argv[3], NULL);
    time_t begin = time(NULL);
    long at_first = 0, most = 0;
    int files = 0, rounds = 0;
    while (rounds < FEW || difftime(time(NULL), begin) < seconds) {
        one_round(argv[1], argv[2], (uint64_t)rounds);
        long now = resident();
        rounds++;
        if (rounds == WARM_UP) {
            at_first = now;
            files = open_files();
        } else if (rounds > WARM_UP) {
            most = now > most ? now : most;
        }
    }
    printf("%d rounds, resident %ld KB after %d, %ld KB at most later; %d descriptors open, %d then\n", rounds, at_first / 1024, WARM_UP,
           most / 1024, open_files(), files);
    return most - at_first <= MAY_GROW && open_files() == files ? 0 : 1;
}

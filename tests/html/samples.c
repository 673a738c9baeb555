/* Pages for the tests in a browser that the tool cannot make: masked cells, many heads of long sentences, hostile words.
 * Usage: html_samples FOLDER */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "attn/attn.h"

static int write_page(const char *folder, const char *name, attn_heatmap_page_config config)
{
    char path[1024];
    attn_page page = {0};
    attn_error error = {.message = ""};
    (void)snprintf(path, sizeof path, "%s/%s.html", folder, name);
    attn_status status = attn_heatmap_page(&config, &page, NULL, &error);
    if (status == ATTN_OK) {
        status = attn_page_write(path, &page, &error);
    }
    attn_page_free(&page);
    if (status != ATTN_OK) {
        fprintf(stderr, "html_samples: %s\n", error.message);
    }
    return status != ATTN_OK;
}

/* Field report B03: equal scores and a mask with 1, 0, 0 in its first row give the weights 1, 0, 0. One cell is no number. */
static int masked(const char *folder)
{
    static const char *const words[] = {"one", "two", "three"};
    static const float scores[9] = {0};
    static const uint8_t allow[9] = {1, 0, 0, 1, 1, 0, 1, 1, 1};
    uint8_t hidden[9];
    double weights[9];
    attn_tape *t = attn_tape_new(NULL);
    attn_tensor *y = attn_softmax(t, attn_input(t, ATTN_F32, ATTN_SHAPE(1, 3, 3), scores), &(attn_mask){.allow = allow});
    for (int i = 0; i < 9; i++) {
        hidden[i] = !allow[i];
        weights[i] = y != NULL ? attn_tensor_get(y, i) : 0;
    }
    attn_tape_free(t);
    weights[8] = NAN;
    const attn_heatmap_panel p = {
        .rows = 3, .columns = 3, .values = weights, .hidden = hidden, .row_labels = words, .column_labels = words};
    return write_page(folder, "masked", (attn_heatmap_page_config){.look = {.panels = &p, .n_panels = 1}});
}

/* Field report B111: two queries, five keys, and all of the first query's weight on the last key. */
static int cross(const char *folder)
{
    static const char *const queries[] = {"q0", "q1"}, *const keys[] = {"k0", "k1", "k2", "k3", "k4"};
    static const double w[10] = {0, 0, 0, 0, 1, 0.2, 0.2, 0.2, 0.2, 0.2};
    const attn_heatmap_panel p = {.rows = 2, .columns = 5, .values = w, .row_labels = queries, .column_labels = keys};
    return write_page(folder, "cross", (attn_heatmap_page_config){.look = {.panels = &p, .n_panels = 1}});
}

/* A confusion matrix: shares as colours, counts as numbers. */
static int counted(const char *folder)
{
    static const double share[4] = {0.75, 0.25, 0.1, 0.9}, count[4] = {3, 1, 2, 18};
    const attn_heatmap_panel p = {.rows = 2, .columns = 2, .values = share, .numbers = count};
    return write_page(folder, "counted", (attn_heatmap_page_config){.look = {.panels = &p, .n_panels = 1, .digits = -1, .cmap = "greys"}});
}

/* Words that would be markup, leave their place or be invisible if they were taken for more than text. */
static int hostile(const char *folder)
{
    static const char *const words[] = {"</script><!--<script>",
                                        "<h2>",
                                        "a\"b",
                                        "&amp;",
                                        "'",
                                        "<!--",
                                        "<img src=x onerror=document.title=1>",
                                        "`${1}`\\u003c",
                                        "שלום",
                                        "مرحبا",
                                        "\xe2\x80\xae"
                                        "abc",
                                        "👩‍👩‍👧‍👦",
                                        "a\xe2\x80\xa8"
                                        "b",
                                        "\x01\x1f\x7f",
                                        "",
                                        "__proto__",
                                        "   ",
                                        "a\tb"};
    enum { N = sizeof words / sizeof words[0] };
    static double w[N * N];
    for (int i = 0; i < N * N; i++) {
        w[i] = (i * 7 % 11) / 11.0;
    }
    const attn_heatmap_panel p = {.title = words[0], .rows = N, .columns = N, .values = w, .row_labels = words, .column_labels = words};
    attn_heatmap_config look = {.panels = &p, .n_panels = 1, .title = words[0], .row_title = words[1], .column_title = words[2]};
    look.bar_title = words[3];
    return write_page(folder, "hostile", (attn_heatmap_page_config){.look = look});
}

/* Field report B124: 512 words, 8 heads. Head h looks h words back, and a little everywhere; the last head sees nothing to come. */
static int long_sentence(const char *folder)
{
    enum { L = 512, HEADS = 8 };
    static char text[L][16];
    static const char *words[L];
    double *w = malloc(sizeof(double) * HEADS * L * L);
    uint8_t *hidden = malloc((size_t)L * L);
    attn_heatmap_panel p[HEADS];
    int failed = w == NULL || hidden == NULL;
    for (int i = 0; i < L; i++) {
        (void)snprintf(text[i], sizeof text[i], "word%d", i);
        words[i] = text[i];
    }
    for (int h = 0; h < HEADS && !failed; h++) {
        for (int i = 0; i < L * L; i++) {
            int row = i / L, column = i % L, visible = h < HEADS - 1 ? L : row + 1;
            double near = exp(-abs(row - h - column) / 4.0);
            hidden[i] = column >= visible;
            w[(size_t)h * L * L + (size_t)i] = hidden[i] ? 0 : 0.9 * near + 0.1 / visible;
        }
        p[h] = (attn_heatmap_panel){.rows = L, .columns = L, .values = w + (size_t)h * L * L, .row_labels = words, .column_labels = words};
    }
    p[HEADS - 1].hidden = hidden;
    failed = failed || write_page(folder, "long", (attn_heatmap_page_config){.look = {.panels = p, .n_panels = HEADS}, .heads = HEADS});
    free(hidden);
    free(w);
    return failed;
}

int main(int argc, char **argv)
{
    if (argc != 2) {
        fprintf(stderr, "usage: html_samples FOLDER\n");
        return 2;
    }
    return masked(argv[1]) || cross(argv[1]) || counted(argv[1]) || hostile(argv[1]) || long_sentence(argv[1]);
}

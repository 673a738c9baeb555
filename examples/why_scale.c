/* Why dot products are divided by sqrt(d): of random queries and keys of width d they have the standard deviation sqrt(d). Undivided,
 * softmax gives one key nearly everything, and then next to no gradient passes. Usage: why_scale [FILE.png] Gradients are those of the
 * median query: a mean would be that of the few whose two best keys happen to be about as good. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "attn/attn.h"

enum { ROWS = 64, VALUES = 16, WIDTHS = 9, MEASURES = 4 }; /* 64 queries, 64 keys, widths 4, 8, ... 1024 */

typedef double measures[MEASURES][WIDTHS];
static const char *const names[MEASURES] = {"entropy / ln 64", "saturation", "d loss / d scores", "d loss / d query"};
static const char *const widths[WIDTHS] = {"4", "8", "16", "32", "64", "128", "256", "512", "1024"};

static attn_tensor *normal(attn_tape *t, uint64_t stream, int64_t width)
{
    attn_tensor *x = attn_variable(t, ATTN_F64, ATTN_SHAPE(1, ROWS, width), NULL);
    for (int64_t i = 0; x != NULL && i < ROWS * width; i++) {
        ((double *)attn_tensor_data(x))[i] = attn_random_normal(1, stream, (uint64_t)i);
    }
    return x;
}

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Median over the queries of the root mean square of what each has in x. */
static double median_gradient(const attn_tensor *x)
{
    double squares[ROWS] = {0};
    int64_t width = attn_tensor_count(x) / ROWS;
    for (int64_t i = 0; i < ROWS * width; i++) {
        squares[i / width] += pow(attn_tensor_get_grad(x, i), 2) / (double)width;
    }
    qsort(squares, ROWS, sizeof *squares, by_size);
    return sqrt(squares[ROWS / 2]);
}

static void measure(attn_tape *t, attn_score score, int w, measures m)
{
    attn_tape_reset(t);
    attn_attend_input in = {.query = normal(t, 1, 4 << w), .key = normal(t, 2, 4 << w), .value = normal(t, 3, VALUES)};
    const attn_attend_config config = {
        .score = {.score = score, .heads = 1}, .report = {.weights = true, .scores = true}, .composed = true}; /* scores get gradients */
    attn_attend_output a = attn_attend(t, in, &config);
    if (attn_backward(t, attn_sum(t, attn_mul(t, a.output, normal(t, 4, VALUES)))) == ATTN_OK) {
        attn_weight_statistics s = attn_weights_describe(a.weights);
        m[0][w] = s.entropy / log(ROWS);
        m[1][w] = s.saturation;
        m[2][w] = median_gradient(a.scores);
        m[3][w] = median_gradient(in.query);
    }
}

static void print(const char *title, measures m)
{
    printf("%s\n", title);
    for (int i = 0; i < MEASURES; i++) {
        printf("  %-18s", names[i]);
        for (int w = 0; w < WIDTHS; w++) {
            printf("%9.5f%s", m[i][w], w == WIDTHS - 1 ? "\n" : "");
        }
    }
}

int main(int argc, char **argv)
{
    measures scaled = {{0}}, plain = {{0}};
    attn_tape *t = attn_tape_new(NULL);
    for (int w = 0; t != NULL && w < WIDTHS; w++) {
        measure(t, ATTN_SCORE_SCALED_DOT, w, scaled);
        measure(t, ATTN_SCORE_DOT, w, plain);
    }
    attn_tape_free(t);
    print("q . k / sqrt(d), d = 4, 8, ... 1024", scaled);
    print("q . k", plain);
    bool ok = plain[1][WIDTHS - 1] > 0.5;
    for (int w = 0; w < WIDTHS; w++) { /* by the division itself the gradient of a query falls as 1/sqrt(d), and no faster */
        ok = ok && scaled[1][w] < 0.01 && scaled[2][w] > 0.5 * scaled[2][0] && scaled[3][w] > 0.5 * scaled[3][0] / sqrt(1 << w);
    }
    ok = ok && plain[2][WIDTHS - 1] < 0.01 * plain[2][0] && plain[3][WIDTHS - 1] < 0.01 * plain[3][0];
    const attn_heatmap_panel panels[] = {
        {.title = "q . k / sqrt(d)",
         .rows = MEASURES,
         .columns = WIDTHS,
         .values = scaled[0],
         .row_labels = names,
         .column_labels = widths},
        {.title = "q . k", .rows = MEASURES, .columns = WIDTHS, .values = plain[0], .row_labels = names, .column_labels = widths}};
    const attn_heatmap_config config = {
        .panels = panels, .n_panels = 2, .row_title = "64 queries, 64 keys", .column_title = "d", .bar_title = "measure", .digits = 4};
    attn_error error = {.message = ""};
    attn_image image = {.width = 0};
    ok = attn_heatmap_draw(&config, &image, NULL, NULL, &error) == ATTN_OK && ok;
    ok = image.rgb != NULL && attn_png_write(argc > 1 ? argv[1] : "why_scale.png", &image, &error) == ATTN_OK && ok;
    attn_image_free(&image);
    fputs(error.message, stderr);
    return ok ? EXIT_SUCCESS : EXIT_FAILURE;
}

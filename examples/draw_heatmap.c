/* Draws who attends to whom in 苹果 发布 新 手机 ("Apple releases a new phone"): a row is the word that looks, a column the word looked at,
 * and each row sums to 1. Usage: draw_heatmap [FILE.png] */
#include <stdio.h>

#include "attn/heatmap.h"

int main(int argc, char **argv)
{
    const char *path = argc > 1 ? argv[1] : "heatmap.png";
    static const char *const words[] = {"苹果", "发布", "新", "手机"};
    static const double weights[] = {
        0.46, 0.25, 0.08, 0.21, /* 苹果 */
        0.33, 0.31, 0.10, 0.26, /* 发布 */
        0.12, 0.15, 0.28, 0.45, /* 新 */
        0.29, 0.17, 0.19, 0.35, /* 手机 */
    };
    const attn_heatmap_panel panel = {
        .rows = 4,
        .columns = 4,
        .values = weights,
        .row_labels = words,
        .column_labels = words,
    };
    const attn_heatmap_config config = {.panels = &panel, .n_panels = 1, .title = "Self-attention"};

    attn_error error;
    attn_image image;
    attn_status status = attn_heatmap_draw(&config, &image, NULL, NULL, &error);
    if (status == ATTN_OK) {
        fputs(image.notes, stderr);
        status = attn_png_write(path, &image, &error);
        attn_image_free(&image);
    }
    if (status != ATTN_OK) {
        fprintf(stderr, "draw_heatmap: %s\n", error.message);
        return 1;
    }
    printf("%s: %d x %d weights\n", path, panel.rows, panel.columns);
    return 0;
}

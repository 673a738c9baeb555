/* What a program outside does with the library, a little of every dependency; valid C and valid C++. */
#include "attn/attn.h"

#include <stdio.h>
#include <string.h>

int main(void)
{
    const double values[3] = {1, -2, 0.5};
    attn_shape shape = {1, {3}};
    attn_tape *t = attn_tape_new(NULL);
    attn_tensor *x = attn_variable(t, ATTN_F64, shape, values);
    attn_status status = attn_backward(t, attn_sum(t, attn_mul(t, x, x)));
    double slope = attn_tensor_get_grad(x, 1);
    attn_tape_free(t);

    attn_error error;
    attn_safetensors *file = attn_safetensors_parse("{}", 2, "memory", NULL, &error);
    attn_image image;
    attn_heatmap_panel panel;
    attn_heatmap_config heatmap;
    memset(&panel, 0, sizeof panel); /* C++17 cannot name the members that it sets */
    memset(&heatmap, 0, sizeof heatmap);
    panel.rows = 1;
    panel.columns = 3;
    panel.values = values;
    heatmap.panels = &panel;
    heatmap.n_panels = 1;
    attn_status drawn = attn_heatmap_draw(&heatmap, &image, NULL, NULL, &error);
    printf("attn %s: the gradient of x^2 at -2 is %g; a picture of %d x %d pixels\n", attn_version(), slope, image.width, image.height);
    attn_image_free(&image);
    return status == ATTN_OK && slope == -4 && file == NULL && drawn == ATTN_OK && attn_utf8_width("x") == 1 ? 0 : 1;
}

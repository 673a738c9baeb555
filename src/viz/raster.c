/* The plan as pixels. */
#include <math.h>

#include "viz/viz.h"

static const uint8_t ink_black[3] = {0, 0, 0}, ink_white[3] = {255, 255, 255};
static const uint8_t ink_label[3] = {0x20, 0x22, 0x24}, ink_title[3] = {0x50, 0x54, 0x58}, ink_line[3] = {0xb4, 0xb8, 0xbc};

bool attn__cell_hidden(const attn_heatmap_panel *p, int64_t i)
{
    return (p->hidden != NULL && p->hidden[i] != 0) || isnan(p->values[i]);
}

double attn__cell_number(const attn_heatmap_panel *p, int64_t i)
{
    return p->numbers != NULL ? p->numbers[i] : p->values[i];
}

/* Origin y that centres a label's letters, which reach from the baseline to about 0.72 em, on y. */
static int middle_base(int y, int size)
{
    return y + size * 36 / 100;
}

static void draw_number(const attn__plot *plot, const attn__plan *plan, attn__fonts *fonts, attn_image *canvas, attn__box cell, double v,
                        const uint8_t rgb[3])
{
    char string[ATTN__NUMBER_SIZE];
    attn__ascii a;
    const attn__text *widest = &plot->number[plan->number_size];
    attn__number_fixed(v, plot->digits, string);
    attn__ascii_set(fonts, &a, string, widest->size);
    int x = (cell.x0 + cell.x1 - a.text.flat.x0 - a.text.flat.x1) / 2;
    int y = (cell.y0 + cell.y1 - widest->flat.y0 - widest->flat.y1) / 2; /* one baseline for all */
    attn__text_draw(fonts, canvas, &a.text, false, x, y, attn_black_text(rgb) ? ink_black : ink_white);
}

/* Whether a visible cell is among the `top` largest of its row; of equal ones the first counts as the larger. */
static bool is_among_largest(const attn_heatmap_panel *p, int64_t index, int top)
{
    int larger = 0;
    int64_t first = index / p->columns * p->columns;
    for (int64_t i = first; i < first + p->columns && top > 0; i++) {
        larger += !attn__cell_hidden(p, i) && (p->values[i] > p->values[index] || (p->values[i] == p->values[index] && i < index));
    }
    return top == 0 || larger < top;
}

static void draw_cell(const attn__plot *plot, const attn__plan *plan, attn__fonts *fonts, attn_image *canvas, int i, int64_t index)
{
    const attn_heatmap_panel *p = plot->panels[i].data;
    const attn_heatmap_layout *l = &plan->layout;
    int row = (int)(index / p->columns), column = (int)(index % p->columns);
    int x = l->panel[i].x + column * l->cell_width, y = l->panel[i].y + row * l->cell_height;
    attn__box cell = {x, y, x + l->cell_width, y + l->cell_height};
    if (attn__cell_hidden(p, index)) {
        attn__hatch(canvas, cell, plot->scale);
        return;
    }
    const uint8_t *rgb = plot->color[attn__cmap_step((p->values[index] - plot->vmin) / (plot->vmax - plot->vmin))];
    attn__fill(canvas, cell, rgb);
    if (l->numbers && is_among_largest(p, index, plot->top)) {
        draw_number(plot, plan, fonts, canvas, cell, attn__cell_number(p, index), rgb);
    }
}

static void draw_row_labels(const attn__plot *plot, const attn__plan *plan, attn__fonts *fonts, attn_image *canvas, int i)
{
    const attn_heatmap_layout *l = &plan->layout;
    for (int r = 0; r < l->panel[i].rows; r += l->label_step) {
        const attn__text *t = &plot->panels[i].row_labels[r];
        int y = l->panel[i].y + r * l->cell_height + l->cell_height / 2;
        attn__text_draw(fonts, canvas, t, false, plan->panel[i].label_right - t->flat.x1, middle_base(y, t->size), ink_label);
    }
}

/* Upright labels are centred on their column by the line's usual height, so that neighbours share it; stacked ones are centred already. */
static void draw_column_labels(const attn__plot *plot, const attn__plan *plan, attn__fonts *fonts, attn_image *canvas, int i)
{
    const attn_heatmap_layout *l = &plan->layout;
    for (int c = 0; c < l->panel[i].columns; c += l->label_step) {
        const attn__text *t = &plot->panels[i].column_labels[c];
        int x = l->panel[i].x + c * l->cell_width + l->cell_width / 2, y = plan->panel[i].label_foot;
        if (!plan->upright) {
            x -= (t->flat.x0 + t->flat.x1) / 2;
        } else if (!t->stacked) {
            x = middle_base(x, t->size);
        }
        attn__text_draw(fonts, canvas, t, plan->upright, x, y, ink_label);
    }
}

static void draw_panel(const attn__plot *plot, const attn__plan *plan, attn__fonts *fonts, attn_image *canvas, int i)
{
    const attn__plot_panel *p = &plot->panels[i];
    int64_t cells = (int64_t)p->data->rows * p->data->columns;
    attn__frame(canvas, plan->panel[i].cells, plot->scale, ink_line);
    for (int64_t index = 0; index < cells; index++) {
        draw_cell(plot, plan, fonts, canvas, i, index);
    }
    draw_row_labels(plot, plan, fonts, canvas, i);
    draw_column_labels(plot, plan, fonts, canvas, i);
    attn__text_draw(fonts, canvas, &p->title, false, plan->panel[i].title.x, plan->panel[i].title.y, ink_label);
    attn__text_draw(fonts, canvas, &plot->column_title, false, plan->panel[i].column_title.x, plan->panel[i].column_title.y, ink_title);
    attn__text_draw(fonts, canvas, &plot->row_title, true, plan->panel[i].row_title.x, plan->panel[i].row_title.y, ink_title);
}

static void draw_triangle(attn_image *canvas, int middle, int half, int y, int step, const uint8_t rgb[3])
{
    for (int k = 0; k < half; k++, y += step) {
        attn__fill(canvas, (attn__box){middle - half + k, y, middle + half - k, y + 1}, rgb);
    }
}

/* A triangle on the end of the bar: values go on beyond it. `step` is -1 upwards, 1 downwards. */
static void draw_point(const attn__plot *plot, const attn__plan *plan, attn_image *canvas, const uint8_t rgb[3], int y, int step)
{
    int s = plot->scale, half = (plan->bar.x1 - plan->bar.x0) / 2, middle = plan->bar.x0 + half;
    draw_triangle(canvas, middle, half + s, y, step, ink_line);
    draw_triangle(canvas, middle, half - s / 2, y, step, rgb);
}

static void draw_bar(const attn__plot *plot, const attn__plan *plan, attn__fonts *fonts, attn_image *canvas)
{
    attn__box b = plan->bar;
    int tall = b.y1 - b.y0, s = plot->scale;
    attn__frame(canvas, b, s, ink_line);
    for (int y = b.y0; y < b.y1; y++) {
        attn__fill(canvas, (attn__box){b.x0, y, b.x1, y + 1}, plot->color[attn__cmap_step((double)(b.y1 - 1 - y) / (tall - 1))]);
    }
    if (plot->above) {
        draw_point(plot, plan, canvas, plot->color[ATTN__STEPS - 1], b.y0 - s - 1, -1);
    }
    if (plot->below) {
        draw_point(plot, plan, canvas, plot->color[0], b.y1 + s, 1);
    }
    int every = (ATTN__TICKS - 1) / (plan->n_ticks - 1);
    for (int i = 0; i < ATTN__TICKS; i += every) {
        int y = b.y1 - s - (int)((int64_t)(tall - s) * i / (ATTN__TICKS - 1));
        attn__fill(canvas, (attn__box){b.x1 + s, y, b.x1 + s + plan->tick_length, y + s}, ink_line);
        attn__text_draw(fonts, canvas, &plot->tick[i], false, plan->tick_x, middle_base(y, plot->tick[i].size), ink_label);
    }
    attn__text_draw(fonts, canvas, &plot->bar_title, true, plan->bar_title.x, plan->bar_title.y, ink_title);
}

static void draw_captions(const attn__plot *plot, const attn__plan *plan, attn__fonts *fonts, attn_image *canvas)
{
    if (!attn__box_empty(plan->swatch)) {
        attn__hatch(canvas, plan->swatch, plot->scale);
        attn__frame(canvas, plan->swatch, plot->scale, ink_line);
    }
    for (int i = 0; i < ATTN__CAPTIONS; i++) {
        if (plan->caption[i].y > 0) {
            attn__text_draw(fonts, canvas, &plot->caption[i], false, plan->caption[i].x, plan->caption[i].y, ink_title);
        }
    }
}

void attn__raster(const attn__plot *plot, const attn__plan *plan, attn__fonts *fonts, attn_image *canvas)
{
    attn__text_draw(fonts, canvas, &plot->title, false, plan->title.x, plan->title.y, ink_label);
    for (int i = 0; i < plot->n_panels; i++) {
        draw_panel(plot, plan, fonts, canvas, i);
    }
    draw_bar(plot, plan, fonts, canvas);
    draw_captions(plot, plan, fonts, canvas);
}

/* The plan, stroke by stroke. What a stroke looks like is the pen's affair. */
#include "viz/viz.h"

static const uint8_t ink_black[3] = {0, 0, 0}, ink_white[3] = {255, 255, 255};
static const uint8_t ink_label[3] = {0x20, 0x22, 0x24}, ink_title[3] = {0x50, 0x54, 0x58}, ink_line[3] = {0xb4, 0xb8, 0xbc};

attn__box attn__cell_box(const attn__plan *plan, int panel, int row, int column)
{
    const attn_heatmap_layout *l = &plan->layout;
    int x = l->panel[panel].x + column * l->cell_width, y = l->panel[panel].y + row * l->cell_height;
    return (attn__box){x, y, x + l->cell_width, y + l->cell_height};
}

/* Baseline that centres a label's letters, which reach from it to about 0.72 em, on y. */
static int middle_base(int y, int size)
{
    return y + size * 36 / 100;
}

static void text(attn__pen *pen, const attn__text *t, attn__spot at, bool upright, const uint8_t rgb[3])
{
    if (t->n > 0) {
        pen->text(pen, t, at, upright, rgb);
    }
}

static void draw_number(attn__pen *pen, attn__fonts *fonts, int panel, int row, int column)
{
    char string[ATTN__NUMBER_SIZE];
    attn__ascii a;
    const attn_heatmap_panel *p = pen->plot->panels[panel].data;
    const attn__text *widest = &pen->plot->number[pen->plan->number_size].text;
    int64_t index = (int64_t)row * p->columns + column;
    const uint8_t *ground = pen->plot->color[attn__plot_step(pen->plot, p->values[index])];
    attn__box cell = attn__cell_box(pen->plan, panel, row, column);
    attn__number_fixed(attn__cell_number(p, index), pen->plot->digits, string);
    attn__ascii_set(fonts, &a, string, widest->size);
    int base = (cell.y0 + cell.y1 - widest->flat.y0 - widest->flat.y1) / 2; /* one for all */
    text(pen, &a.text, (attn__spot){(cell.x0 + cell.x1) / 2, base, ATTN__MIDDLE}, false, attn_black_text(ground) ? ink_black : ink_white);
}

static void draw_numbers(attn__pen *pen, attn__fonts *fonts, int panel)
{
    const attn_heatmap_panel *p = pen->plot->panels[panel].data;
    int64_t cells = (int64_t)p->rows * p->columns;
    for (int64_t i = 0; i < cells && pen->plan->layout.numbers; i++) {
        if (attn__shows_number(pen->plot, p, i)) {
            draw_number(pen, fonts, panel, (int)(i / p->columns), (int)(i % p->columns));
        }
    }
}

static void draw_row_labels(attn__pen *pen, int panel)
{
    const attn_heatmap_layout *l = &pen->plan->layout;
    for (int r = 0; r < l->panel[panel].rows; r += l->label_step) {
        const attn__text *t = &pen->plot->panels[panel].row_labels[r * l->block];
        attn__box cell = attn__cell_box(pen->plan, panel, r, 0);
        int y = middle_base(cell.y0 + l->cell_height / 2, t->size);
        text(pen, t, (attn__spot){pen->plan->panel[panel].label_right, y, ATTN__END}, false, ink_label);
    }
}

/* Upright labels are centred on their column by the line's usual height, so that neighbours share it; stacked ones are centred already. */
static void draw_column_labels(attn__pen *pen, int panel)
{
    const attn_heatmap_layout *l = &pen->plan->layout;
    bool upright = pen->plan->upright;
    for (int c = 0; c < l->panel[panel].columns; c += l->label_step) {
        const attn__text *t = &pen->plot->panels[panel].column_labels[c * l->block];
        int x = attn__cell_box(pen->plan, panel, 0, c).x0 + l->cell_width / 2, y = pen->plan->panel[panel].label_foot;
        x = upright && !t->stacked ? middle_base(x, t->size) : x;
        text(pen, t, (attn__spot){x, y, upright ? ATTN__START : ATTN__MIDDLE}, upright, ink_label);
    }
}

static void draw_panel(attn__pen *pen, attn__fonts *fonts, int i)
{
    const attn__plan *plan = pen->plan;
    pen->frame(pen, plan->panel[i].cells, ink_line);
    pen->cells(pen, i);
    draw_numbers(pen, fonts, i);
    draw_row_labels(pen, i);
    draw_column_labels(pen, i);
    text(pen, &pen->plot->panels[i].title, plan->panel[i].title, false, ink_label);
    if (plan->panel[i].has_column_title) {
        text(pen, &pen->plot->column_title, plan->panel[i].column_title, false, ink_title);
    }
    if (plan->panel[i].has_row_title) {
        text(pen, &pen->plot->row_title, plan->panel[i].row_title, true, ink_title);
    }
}

/* A triangle on the end of the bar: values go on beyond it. */
static void draw_point(attn__pen *pen, bool up)
{
    int s = pen->plot->scale;
    attn__box b = pen->plan->bar;
    int half = (b.x1 - b.x0) / 2, y = up ? b.y0 - s - 1 : b.y1 + s;
    attn__point base = {b.x0 + half, y};
    pen->point(pen, base, half + s, up, ink_line);
    pen->point(pen, base, half - s / 2, up, pen->plot->color[attn__plot_step(pen->plot, up ? pen->plot->vmax : pen->plot->vmin)]);
}

static void draw_bar(attn__pen *pen)
{
    const attn__plot *plot = pen->plot;
    const attn__plan *plan = pen->plan;
    attn__box b = plan->bar;
    int tall = b.y1 - b.y0, s = plot->scale;
    pen->frame(pen, b, ink_line);
    pen->bar(pen);
    if (plot->above) {
        draw_point(pen, true);
    }
    if (plot->below) {
        draw_point(pen, false);
    }
    int every = (ATTN__TICKS - 1) / (plan->n_ticks - 1);
    for (int i = 0; i < ATTN__TICKS; i += every) {
        int y = b.y1 - s - (int)((tall - s) * plot->tick_at[i]);
        pen->fill(pen, (attn__box){b.x1 + s, y, b.x1 + s + plan->tick_length, y + s}, ink_line);
        text(pen, &plot->tick[i], (attn__spot){plan->tick_x, middle_base(y, plot->tick[i].size), ATTN__START}, false, ink_label);
    }
    text(pen, &plot->bar_title, plan->bar_title, true, ink_title);
}

static void draw_captions(attn__pen *pen)
{
    for (int i = 0; i < ATTN__CAPTIONS; i++) {
        if (i <= ATTN__LEGEND_NAN && pen->plot->caption[i].n > 0) {
            pen->hatch(pen, pen->plan->swatch[i], i == ATTN__LEGEND_NAN ? ATTN__NAN : ATTN__MASKED);
            pen->frame(pen, pen->plan->swatch[i], ink_line);
        }
        text(pen, &pen->plot->caption[i], pen->plan->caption[i], false, ink_title);
    }
}

void attn__draw(attn__pen *pen, attn__fonts *fonts)
{
    text(pen, &pen->plot->title, pen->plan->title, false, ink_label);
    for (int i = 0; i < pen->plot->n_panels; i++) {
        draw_panel(pen, fonts, i);
    }
    draw_bar(pen);
    draw_captions(pen);
}

/* Where everything stands. From left to right: row title, row labels, cells, colour bar with ticks and title. From top to bottom: title,
 * the grid of panels with their titles and column labels, captions at the end. Distances are in pixels at scale 1. */
#include "viz/viz.h"

#include <string.h>

enum {
    BAR_GAP = 28,
    BAR_WIDTH = 16,
    BAR_MIN_HEIGHT = 120,
    BAR_POINT = 10, /* triangle at an end of the bar */
    TICK_LENGTH = 4,
    SWATCH = 16,
    SWATCH_GAP = 28,
    CELL_MOST = 64,
    CELL_WIDE = 96,     /* a cell may become this wide so that column labels stay level, */
    PLOT_WIDE = 1000,   /* while all cells together are no wider than this */
    CELL_LABELLED = 20, /* room for a label beside every row */
    ROWS_LABELLED = 64, /* up to here every row and column gets one */
    PLOT_SMALL = 900,   /* side of the cells together, up to there, */
    PLOT_SHARED = 640,  /* of one of several panels, */
    PLOT_LARGE = 1280,  /* and beyond */
    PLOT_DENSE = 1600   /* with cells of one pixel; for more, blocks of values share one */
};

static int max(int a, int b)
{
    return a > b ? a : b;
}

static int min(int a, int b)
{
    return a < b ? a : b;
}

int attn__place(int64_t v)
{
    return v < ATTN__FAR ? (int)v : ATTN__FAR;
}

static int width(attn__box b)
{
    return b.x1 - b.x0;
}

static int height(attn__box b)
{
    return b.y1 - b.y0;
}

static int ceil_div(int a, int b)
{
    return (a + b - 1) / b;
}

/* ---- cells ---- */

static int longest_side(const attn__plot *plot)
{
    int n = 1;
    for (int i = 0; i < plot->n_panels; i++) {
        n = max(n, max(plot->panels[i].data->rows, plot->panels[i].data->columns));
    }
    return n;
}

static int widest_column_label(const attn__plot *plot)
{
    int w = 0;
    for (int i = 0; i < plot->n_panels; i++) {
        for (int c = 0; c < plot->panels[i].data->columns; c++) {
            w = max(w, width(plot->panels[i].column_labels[c].flat));
        }
    }
    return w;
}

/* Side of a cell for n of them. */
static int usual_cell(const attn__plot *plot, int n)
{
    if (n > ROWS_LABELLED) {
        return max(PLOT_LARGE / n, 1);
    }
    return min(max((plot->n_panels > 1 ? PLOT_SHARED : PLOT_SMALL) / n, CELL_LABELLED), CELL_MOST);
}

static bool number_fits(const attn__plot *plot, int size, const attn_heatmap_layout *l, int air)
{
    attn__box ink = plot->number[size].text.flat;
    return width(ink) + air <= l->cell_width && height(ink) + air <= l->cell_height;
}

static void choose_numbers(const attn__plot *plot, attn__plan *plan)
{
    attn_heatmap_layout *l = &plan->layout;
    int s = plot->scale, roomy = 14 * s, tight = 5 * s;
    if (plot->annotate == ATTN_ANNOTATE_ALL) {
        attn__box ink = plot->number[1].text.flat;
        l->block = 1;
        l->cell_width = max(l->cell_width, width(ink) + tight);
        l->cell_height = max(l->cell_height, height(ink) + tight);
    }
    plan->number_size = number_fits(plot, 0, l, roomy) ? 0 : 1;
    l->numbers = l->block == 1 && plot->annotate != ATTN_ANNOTATE_NONE && number_fits(plot, plan->number_size, l, tight);
}

/* The next of 1, 2, 5, 10, 20, 50 ... */
static int round_step(int n)
{
    int power = 1;
    while (10 * power < n) {
        power *= 10;
    }
    return n <= power ? power : n <= 2 * power ? 2 * power : n <= 5 * power ? 5 * power : 10 * power;
}

static void choose_cells(const attn__plot *plot, attn__plan *plan)
{
    attn_heatmap_layout *l = &plan->layout;
    int n = longest_side(plot), s = plot->scale, label = widest_column_label(plot);
    l->block = plot->cell > 0 ? 1 : ceil_div(n, PLOT_DENSE);
    l->cell_width = l->cell_height = (plot->cell > 0 ? plot->cell : usual_cell(plot, ceil_div(n, l->block))) * s;
    choose_numbers(plot, plan);
    int level = label + 10 * s;
    if (plot->cell == 0 && level > l->cell_width && level <= CELL_WIDE * s && n <= PLOT_WIDE * s / level) {
        l->cell_width = level;
        choose_numbers(plot, plan);
    }
    plan->upright = label + 6 * s > l->cell_width;
    int pitch = plot->label_size * 5 / 4;
    l->label_step = round_step(max(ceil_div(pitch, l->cell_height), plan->upright ? ceil_div(pitch, l->cell_width) : 1));
    l->n_panels = plot->n_panels;
    for (int i = 0; i < plot->n_panels; i++) {
        l->panel[i].rows = ceil_div(plot->panels[i].data->rows, l->block);
        l->panel[i].columns = ceil_div(plot->panels[i].data->columns, l->block);
    }
}

/* ---- lines of text ---- */

/* Ink of a line, at least what letters of this size usually take. */
attn__box attn__line(attn__box ink, int size)
{
    return (attn__box){ink.x0, min(ink.y0, -size * 3 / 4), ink.x1, max(ink.y1, size / 5)};
}

int attn__put_line(const attn__text *t, int64_t *y, int gap)
{
    if (t->n == 0) {
        return attn__place(*y);
    }
    attn__box ink = attn__line(t->flat, t->size);
    int base = attn__place(*y) - ink.y0;
    *y = (int64_t)base + ink.y1 + gap;
    return base;
}

/* ---- colour bar and captions ---- */

static int panels_right(const attn__plot *plot, const attn__plan *plan)
{
    int64_t right = 0;
    for (int i = 0; i < plot->n_panels; i++) {
        attn__box cells = plan->panel[i].cells;
        int titles = max(width(plot->panels[i].title.flat), plan->panel[i].has_column_title ? width(plot->column_title.flat) : 0);
        int64_t end = (int64_t)cells.x0 + max(width(cells), titles);
        right = end > right ? end : right;
    }
    return attn__place(right);
}

/* Beside the panels; returns its right end and lowers *bottom to its foot. */
static int put_bar(const attn__plot *plot, attn__plan *plan, int64_t *bottom, int top)
{
    int s = plot->scale, x = panels_right(plot, plan) + BAR_GAP * s, ticks = 0;
    attn__box cells = plan->panel[0].cells;
    int tall = max(height(cells), BAR_MIN_HEIGHT * s);
    plan->bar = (attn__box){x, cells.y0, x + BAR_WIDTH * s, attn__place((int64_t)cells.y0 + tall)};
    plan->n_ticks = tall >= 3 * ATTN__TICKS * plot->label_size ? ATTN__TICKS : 3;
    for (int i = 0; i < ATTN__TICKS; i += (ATTN__TICKS - 1) / (plan->n_ticks - 1)) {
        ticks = max(ticks, width(plot->tick[i].flat));
    }
    plan->tick_length = TICK_LENGTH * s;
    plan->tick_x = plan->bar.x1 + (TICK_LENGTH + 4) * s;
    attn__box ink = plot->bar_title.tall;
    x = plan->tick_x + ticks + (ATTN__LABEL_GAP + 4) * s;
    int start = max(top, plan->bar.y0 + (height(plan->bar) - height(ink)) / 2);
    plan->bar_title = (attn__spot){x - ink.x0, start + height(ink) / 2, ATTN__MIDDLE};
    int foot = max(plan->bar.y1 + (plot->below ? BAR_POINT * s : 0), start + height(ink));
    *bottom = *bottom > foot ? *bottom : foot;
    return x + width(ink);
}

/* What hatched cells are: on one line. Returns its right end. */
static int put_legend(const attn__plot *plot, attn__plan *plan, int64_t *y)
{
    int s = plot->scale, x = plan->panel[0].cells.x0, right = 0;
    int64_t foot = *y;
    for (int i = 0; i <= ATTN__LEGEND_NAN; i++) {
        const attn__text *t = &plot->caption[i];
        if (t->n > 0) {
            int64_t top = *y + ATTN__TITLE_GAP * s, text_top = top + (SWATCH * s - t->size) / 2;
            plan->swatch[i] = (attn__box){x, attn__place(top), x + SWATCH * s, attn__place(top + SWATCH * s)};
            x += (SWATCH + ATTN__LABEL_GAP) * s;
            plan->caption[i] = (attn__spot){x, attn__put_line(t, &text_top, 0), ATTN__START};
            right = x + width(t->flat);
            x = right + SWATCH_GAP * s;
            foot = max(plan->swatch[i].y1, attn__place(text_top));
        }
    }
    *y = foot;
    return right;
}

/* Lines at the foot, under the cells; returns the right end of the longest. */
static int put_captions(const attn__plot *plot, attn__plan *plan, int64_t *y)
{
    int right = put_legend(plot, plan, y), x = plan->panel[0].cells.x0;
    for (int i = ATTN__LEGEND_NAN + 1; i < ATTN__CAPTIONS; i++) {
        const attn__text *t = &plot->caption[i];
        if (t->n > 0) {
            *y += ATTN__TITLE_GAP * plot->scale;
            plan->caption[i] = (attn__spot){x, attn__put_line(t, y, 0), ATTN__START};
            right = max(right, x + width(t->flat));
        }
    }
    return right;
}

void attn__plan_make(const attn__plot *plot, attn__plan *plan)
{
    memset(plan, 0, sizeof *plan);
    choose_cells(plot, plan);
    int s = plot->scale;
    int64_t y = ATTN__MARGIN * s;
    plan->title = (attn__spot){ATTN__MARGIN * s, attn__put_line(&plot->title, &y, ATTN__TITLE_GAP * s), ATTN__START};
    int top = attn__place(y);
    int64_t bottom = attn__put_panels(plot, plan, y);
    int right = put_bar(plot, plan, &bottom, top);
    right = max(right, put_captions(plot, plan, &bottom));
    right = max(right, ATTN__MARGIN * s + width(plot->title.flat));
    plan->width = (int64_t)right + ATTN__MARGIN * s;
    plan->height = bottom + ATTN__MARGIN * s;
    plan->layout.width = attn__place(plan->width);
    plan->layout.height = attn__place(plan->height);
}

int64_t attn__plan_bytes(const attn__plan *plan)
{
    if (plan->width >= ATTN__FAR || plan->height >= ATTN__FAR) {
        return INT64_MAX;
    }
    return (3 * plan->width + 1) * plan->height; /* a row has a filter byte */
}

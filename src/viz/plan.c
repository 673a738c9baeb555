/* Where everything stands. From left to right: row title, row labels, cells, colour bar with ticks and title. From top to bottom: title,
 * then for each panel its title, the column title, column labels and cells; captions at the end. Distances are in pixels at scale 1. */
#include "viz/viz.h"

#include <string.h>

enum {
    MARGIN = 20,
    TITLE_GAP = 14,
    PANEL_GAP = 28,
    LABEL_GAP = 8,
    BAR_GAP = 28,
    BAR_WIDTH = 16,
    BAR_MIN_HEIGHT = 120,
    BAR_POINT = 10, /* triangle at an end of the bar */
    TICK_LENGTH = 4,
    SWATCH = 16,
    CELL_MOST = 64,
    CELL_WIDE = 96,     /* a cell may become this wide so that column labels stay level, */
    PLOT_WIDE = 1000,   /* while all cells together are no wider than this */
    CELL_LABELLED = 20, /* room for a label beside every row */
    ROWS_LABELLED = 64, /* up to here every row and column gets one */
    PLOT_SMALL = 900,   /* side of the cells together, up to there */
    PLOT_LARGE = 1280,  /* and beyond */
    FAR = 1 << 28       /* places beyond this are cut: the picture is refused anyway */
};

static int max(int a, int b)
{
    return a > b ? a : b;
}

static int min(int a, int b)
{
    return a < b ? a : b;
}

static int place(int64_t v)
{
    return v < FAR ? (int)v : FAR;
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

static int usual_cell(int n)
{
    return n <= ROWS_LABELLED ? min(max(PLOT_SMALL / n, CELL_LABELLED), CELL_MOST) : max(PLOT_LARGE / n, 2);
}

static bool number_fits(const attn__plot *plot, int size, int cell_width, int cell_height, int air)
{
    attn__box ink = plot->number[size].flat;
    return width(ink) + air <= cell_width && height(ink) + air <= cell_height;
}

static void choose_numbers(const attn__plot *plot, attn__plan *plan)
{
    attn_heatmap_layout *l = &plan->layout;
    int s = plot->scale, roomy = 14 * s, tight = 5 * s;
    if (plot->annotate == ATTN_ANNOTATE_ALL) {
        attn__box ink = plot->number[1].flat;
        l->cell_width = max(l->cell_width, width(ink) + tight);
        l->cell_height = max(l->cell_height, height(ink) + tight);
    }
    plan->number_size = number_fits(plot, 0, l->cell_width, l->cell_height, roomy) ? 0 : 1;
    l->numbers = plot->annotate != ATTN_ANNOTATE_NONE && number_fits(plot, plan->number_size, l->cell_width, l->cell_height, tight);
}

static void choose_cells(const attn__plot *plot, attn__plan *plan)
{
    attn_heatmap_layout *l = &plan->layout;
    int n = longest_side(plot), s = plot->scale, label = widest_column_label(plot);
    l->cell_width = l->cell_height = (plot->cell > 0 ? plot->cell : usual_cell(n)) * s;
    choose_numbers(plot, plan);
    int level = label + 10 * s;
    if (plot->cell == 0 && level > l->cell_width && level <= CELL_WIDE * s && n <= PLOT_WIDE * s / level) {
        l->cell_width = level;
        choose_numbers(plot, plan);
    }
    plan->upright = label + 6 * s > l->cell_width;
    int pitch = plot->label_size * 5 / 4;
    l->label_step = max(ceil_div(pitch, l->cell_height), plan->upright ? ceil_div(pitch, l->cell_width) : 1);
}

/* ---- lines of text ---- */

/* Ink of a line, at least what letters of this size usually take. */
static attn__box line(attn__box ink, int size)
{
    return (attn__box){ink.x0, min(ink.y0, -size * 3 / 4), ink.x1, max(ink.y1, size / 5)};
}

/* A line of text whose top is at y; returns its baseline and moves y below it and a gap. Nothing happens for an empty text. */
static int put_line(const attn__text *t, int64_t *y, int gap)
{
    if (t->n == 0) {
        return place(*y);
    }
    attn__box ink = line(t->flat, t->size);
    int base = place(*y) - ink.y0;
    *y = (int64_t)base + ink.y1 + gap;
    return base;
}

/* Origin x that centres the text over the cells, or starts it at their left where it is wider. */
static int centred(const attn__text *t, attn__box cells)
{
    int spare = width(cells) - width(t->flat);
    return cells.x0 - t->flat.x0 + (spare > 0 ? spare / 2 : 0);
}

/* ---- panels ---- */

/* Column labels between y and the cells; returns the y of the cells. */
static int64_t put_column_labels(const attn__plot *plot, attn__plan *plan, int i, int64_t y)
{
    const attn__plot_panel *p = &plot->panels[i];
    attn__box all = {0, 0, 0, 0};
    int rise = 0, drop = 0;
    for (int c = 0; c < p->data->columns; c += plan->layout.label_step) {
        attn__box ink = plan->upright ? p->column_labels[c].tall : line(p->column_labels[c].flat, plot->label_size);
        all = attn__box_union(all, ink);
        rise = max(rise, -ink.y0);
        drop = max(drop, ink.y1);
    }
    plan->panel[i].label_foot = place(y + rise);
    return y + rise + drop + (plan->upright ? LABEL_GAP : LABEL_GAP - 2) * plot->scale;
}

static void put_row_title(const attn__plot *plot, attn__plan *plan, int i, int x)
{
    attn__box cells = plan->panel[i].cells, ink = plot->row_title.tall;
    int top = cells.y0 + (height(cells) - height(ink)) / 2;
    plan->panel[i].row_title = (attn__point){x - ink.x0, top - ink.y0};
}

/* One panel from y down; returns where it ends. */
static int64_t put_panel(const attn__plot *plot, attn__plan *plan, int i, int64_t y, int x)
{
    const attn_heatmap_panel *data = plot->panels[i].data;
    attn_heatmap_layout *l = &plan->layout;
    int s = plot->scale;
    int64_t cells_height = (int64_t)data->rows * l->cell_height, start = y;
    int title_base = put_line(&plot->panels[i].title, &y, TITLE_GAP * s);
    int column_base = put_line(&plot->column_title, &y, (LABEL_GAP + 2) * s);
    int64_t top = put_column_labels(plot, plan, i, y);
    /* A row title longer than the cells reaches above and below them. */
    int64_t beyond = (height(plot->row_title.tall) - cells_height + 1) / 2, push = beyond > top - start ? beyond - (top - start) : 0;
    plan->panel[i].label_foot = place(plan->panel[i].label_foot + push);
    attn__box cells = {x, place(top + push), place(x + (int64_t)data->columns * l->cell_width), place(top + push + cells_height)};
    plan->panel[i].cells = cells;
    plan->panel[i].title = (attn__point){x - plot->panels[i].title.flat.x0, place(title_base + push)};
    plan->panel[i].column_title = (attn__point){centred(&plot->column_title, cells), place(column_base + push)};
    plan->panel[i].label_right = x - LABEL_GAP * s;
    put_row_title(plot, plan, i, MARGIN * s);
    l->panel[i].x = cells.x0;
    l->panel[i].y = cells.y0;
    l->panel[i].rows = data->rows;
    l->panel[i].columns = data->columns;
    return (int64_t)cells.y1 + (beyond > 0 ? beyond : 0);
}

/* x of the cells: all panels share it. */
static int cells_left(const attn__plot *plot)
{
    int labels = 0, s = plot->scale;
    for (int i = 0; i < plot->n_panels; i++) {
        for (int r = 0; r < plot->panels[i].data->rows; r++) {
            labels = max(labels, width(plot->panels[i].row_labels[r].flat));
        }
    }
    int title = width(plot->row_title.tall);
    return MARGIN * s + (title > 0 ? title + (LABEL_GAP + 4) * s : 0) + labels + LABEL_GAP * s;
}

static int panels_right(const attn__plot *plot, const attn__plan *plan)
{
    int64_t right = 0;
    for (int i = 0; i < plot->n_panels; i++) {
        attn__box cells = plan->panel[i].cells;
        int titles = max(width(plot->panels[i].title.flat), width(plot->column_title.flat));
        int64_t end = (int64_t)cells.x0 + max(width(cells), titles);
        right = end > right ? end : right;
    }
    return place(right);
}

/* ---- colour bar and captions ---- */

/* Beside the first panel; returns its right end and lowers *bottom to its foot. */
static int put_bar(const attn__plot *plot, attn__plan *plan, int64_t *bottom, int top)
{
    int s = plot->scale, x = panels_right(plot, plan) + BAR_GAP * s, ticks = 0;
    attn__box cells = plan->panel[0].cells;
    int tall = max(height(cells), BAR_MIN_HEIGHT * s);
    plan->bar = (attn__box){x, cells.y0, x + BAR_WIDTH * s, place((int64_t)cells.y0 + tall)};
    plan->n_ticks = tall >= 3 * ATTN__TICKS * plot->label_size ? ATTN__TICKS : 3;
    for (int i = 0; i < ATTN__TICKS; i += (ATTN__TICKS - 1) / (plan->n_ticks - 1)) {
        ticks = max(ticks, width(plot->tick[i].flat));
    }
    plan->tick_length = TICK_LENGTH * s;
    plan->tick_x = plan->bar.x1 + (TICK_LENGTH + 4) * s;
    attn__box ink = plot->bar_title.tall;
    x = plan->tick_x + ticks + (LABEL_GAP + 4) * s;
    int start = max(top, plan->bar.y0 + (height(plan->bar) - height(ink)) / 2);
    plan->bar_title = (attn__point){x - ink.x0, start - ink.y0};
    int foot = max(plan->bar.y1 + (plot->below ? BAR_POINT * s : 0), start + height(ink));
    *bottom = *bottom > foot ? *bottom : foot;
    return x + width(ink);
}

/* Lines at the foot, under the cells; returns the right end of the longest. */
static int put_captions(const attn__plot *plot, attn__plan *plan, int64_t *y)
{
    int s = plot->scale, right = 0;
    for (int i = 0; i < ATTN__CAPTIONS; i++) {
        const attn__text *t = &plot->caption[i];
        if (t->n == 0) {
            continue;
        }
        int x = plan->panel[0].cells.x0;
        *y += TITLE_GAP * s;
        if (i == 0) {
            plan->swatch = (attn__box){x, place(*y), x + SWATCH * s, place(*y + SWATCH * s)};
            x = plan->swatch.x1 + LABEL_GAP * s;
        }
        int64_t top = *y + (i == 0 ? (SWATCH * s - t->size) / 2 : 0);
        plan->caption[i] = (attn__point){x - t->flat.x0, put_line(t, &top, 0)};
        *y = i == 0 && plan->swatch.y1 > top ? plan->swatch.y1 : top;
        right = max(right, x + width(t->flat));
    }
    return right;
}

void attn__plan_make(const attn__plot *plot, attn__plan *plan)
{
    memset(plan, 0, sizeof *plan);
    plan->layout.n_panels = plot->n_panels;
    choose_cells(plot, plan);
    int s = plot->scale, x = cells_left(plot);
    int64_t y = MARGIN * s, bottom = 0;
    plan->title = (attn__point){MARGIN * s - plot->title.flat.x0, put_line(&plot->title, &y, TITLE_GAP * s)};
    int top = place(y);
    for (int i = 0; i < plot->n_panels; i++) {
        bottom = put_panel(plot, plan, i, y, x);
        y = bottom + PANEL_GAP * s;
    }
    int right = put_bar(plot, plan, &bottom, top);
    right = max(right, put_captions(plot, plan, &bottom));
    right = max(right, MARGIN * s + width(plot->title.flat));
    plan->width = (int64_t)right + MARGIN * s;
    plan->height = bottom + MARGIN * s;
    plan->layout.width = place(plan->width);
    plan->layout.height = place(plan->height);
}

int64_t attn__plan_bytes(const attn__plan *plan)
{
    if (plan->width >= FAR || plan->height >= FAR) {
        return INT64_MAX;
    }
    return (3 * plan->width + 1) * plan->height; /* a row has a filter byte */
}

/* Panels in a grid. Those of one row of the grid have their cells at one height, those of one column at one x. Axis titles stand once: at
 * the left of each row and over the first. */
#include "viz/viz.h"

/* Panels stand side by side up to the first width, and up to the second where else there would be more rows than columns. */
enum { WIDE = 1400, WIDEST = 2 * WIDE };

/* Panels first .. end - 1 stand side by side. */
typedef struct row {
    int first, end;
} row;

/* A grid of `across` columns. */
typedef struct grid {
    int across, n;
    row rows[ATTN__MAX_PANELS];
    int x[ATTN__MAX_PANELS]; /* of the cells of each column */
    int64_t width;
} grid;

static int max(int a, int b)
{
    return a > b ? a : b;
}

static int min(int a, int b)
{
    return a < b ? a : b;
}

static int width(attn__box b)
{
    return b.x1 - b.x0;
}

static int height(attn__box b)
{
    return b.y1 - b.y0;
}

/* ---- which panel stands where ---- */

/* The end of the panels that belong together with the first one; all, if every group is one panel. */
static int group_end(const attn__plot *plot, int first)
{
    bool single = true;
    int end = first + 1;
    for (int i = 1; i < plot->n_panels; i++) {
        single = single && plot->panels[i].data->group != plot->panels[i - 1].data->group;
    }
    while (end < plot->n_panels && (single || plot->panels[end].data->group == plot->panels[first].data->group)) {
        end++;
    }
    return end;
}

/* Rows of at most `across` panels, those of a group as evenly as it goes. */
static void fill_rows(const attn__plot *plot, int across, grid *g)
{
    g->across = g->n = 0;
    for (int first = 0; first < plot->n_panels;) {
        int end = group_end(plot, first), rows = (end - first + across - 1) / across, each = (end - first + rows - 1) / rows;
        for (; first < end; first += each) {
            g->rows[g->n++] = (row){first, min(first + each, end)};
        }
        first = end;
        g->across = max(g->across, each);
    }
}

static int widest_row_label(const attn__plot_panel *p)
{
    int w = 0;
    for (int r = 0; r < p->data->rows; r++) {
        w = max(w, width(p->row_labels[r].flat));
    }
    return w;
}

/* Column after column: room for row labels, then cells or what is wider above them. */
static void place_columns(const attn__plot *plot, const attn__plan *plan, const int labels[], grid *g)
{
    const attn_heatmap_layout *l = &plan->layout;
    int s = plot->scale, title = width(plot->row_title.tall);
    g->width = 0;
    int64_t x = ATTN__MARGIN * s + (title > 0 ? title + (ATTN__LABEL_GAP + 4) * s : 0);
    for (int c = 0; c < g->across; c++) {
        int label = 0;
        int64_t wide = 0;
        for (int r = 0; r < g->n; r++) {
            int i = g->rows[r].first + c;
            if (i < g->rows[r].end) {
                int64_t cells = (int64_t)l->panel[i].columns * l->cell_width;
                int above = max(width(plot->panels[i].title.flat), r == 0 ? width(plot->column_title.flat) : 0);
                label = max(label, labels[i]);
                wide = cells > wide ? cells : wide;
                wide = above > wide ? above : wide;
            }
        }
        x += label + ATTN__LABEL_GAP * s;
        g->x[c] = attn__place(x);
        g->width = x + wide;
        x = g->width + ATTN__PANEL_GAP * s;
    }
}

static void make_grid(const attn__plot *plot, const attn__plan *plan, grid *g)
{
    int labels[ATTN__MAX_PANELS], across = 1;
    for (int i = 0; i < plot->n_panels; i++) {
        labels[i] = widest_row_label(&plot->panels[i]);
        across = max(across, group_end(plot, i) - i);
    }
    do {
        fill_rows(plot, across, g);
        place_columns(plot, plan, labels, g);
    } while (g->width > (g->across > g->n ? WIDE : WIDEST) * plot->scale && --across > 0);
}

/* ---- a row of the grid ---- */

/* Ink of all texts of one kind in a row: what the line takes. */
static attn__text tallest(attn__text all, const attn__text *t)
{
    if (t->n > 0) {
        all.n = 1;
        all.size = t->size;
        all.flat = attn__box_union(all.flat, attn__line(t->flat, t->size));
    }
    return all;
}

/* Column labels of a row between y and the cells; returns the y of the cells. */
static int64_t put_column_labels(const attn__plot *plot, attn__plan *plan, row r, int64_t y)
{
    const attn_heatmap_layout *l = &plan->layout;
    int rise = 0, drop = 0;
    for (int i = r.first; i < r.end; i++) {
        for (int c = 0; c < l->panel[i].columns; c += l->label_step) {
            const attn__text *t = &plot->panels[i].column_labels[c * l->block];
            attn__box ink = plan->upright ? t->tall : attn__line(t->flat, plot->label_size);
            rise = max(rise, -ink.y0);
            drop = max(drop, ink.y1);
        }
    }
    for (int i = r.first; i < r.end; i++) {
        plan->panel[i].label_foot = attn__place(y + rise);
    }
    return y + rise + drop + (plan->upright ? ATTN__LABEL_GAP : ATTN__LABEL_GAP - 2) * plot->scale;
}

/* Centred over the cells, or from their left on where it is wider. */
static attn__spot centred(const attn__text *t, attn__box cells, int y)
{
    bool fits = width(t->flat) <= width(cells);
    return fits ? (attn__spot){(cells.x0 + cells.x1) / 2, y, ATTN__MIDDLE} : (attn__spot){cells.x0, y, ATTN__START};
}

static void put_cells(const attn__plot *plot, attn__plan *plan, int i, int x, int64_t top)
{
    attn_heatmap_layout *l = &plan->layout;
    int64_t right = x + (int64_t)l->panel[i].columns * l->cell_width, bottom = top + (int64_t)l->panel[i].rows * l->cell_height;
    plan->panel[i].cells = (attn__box){x, attn__place(top), attn__place(right), attn__place(bottom)};
    plan->panel[i].label_right = x - ATTN__LABEL_GAP * plot->scale;
    l->panel[i].x = x;
    l->panel[i].y = attn__place(top);
}

/* One row from y down; returns where it ends. */
static int64_t put_row(const attn__plot *plot, attn__plan *plan, const grid *g, int which, int64_t y)
{
    row r = g->rows[which];
    int s = plot->scale, first_height = attn__place((int64_t)plan->layout.panel[r.first].rows * plan->layout.cell_height);
    attn__text titles = {0}, none = {0};
    for (int i = r.first; i < r.end; i++) {
        titles = tallest(titles, &plot->panels[i].title);
    }
    int64_t start = y, end = 0;
    int title_base = attn__put_line(&titles, &y, ATTN__TITLE_GAP * s);
    int column_base = attn__put_line(which == 0 ? &plot->column_title : &none, &y, (ATTN__LABEL_GAP + 2) * s);
    int64_t top = put_column_labels(plot, plan, r, y);
    /* A row title longer than the cells reaches above and below them. */
    int beyond = max(0, (height(plot->row_title.tall) - first_height + 1) / 2), push = (int)max(0, attn__place(beyond - (top - start)));
    for (int i = r.first; i < r.end; i++) {
        put_cells(plot, plan, i, g->x[i - r.first], top + push);
        attn__box cells = plan->panel[i].cells;
        plan->panel[i].label_foot = attn__place((int64_t)plan->panel[i].label_foot + push);
        plan->panel[i].title = (attn__spot){cells.x0, attn__place((int64_t)title_base + push), ATTN__START};
        plan->panel[i].column_title = centred(&plot->column_title, cells, attn__place((int64_t)column_base + push));
        plan->panel[i].has_column_title = which == 0;
        plan->panel[i].has_row_title = i == r.first;
        end = cells.y1 > end ? cells.y1 : end;
    }
    attn__box first = plan->panel[r.first].cells;
    plan->panel[r.first].row_title = (attn__spot){ATTN__MARGIN * s - plot->row_title.tall.x0, (first.y0 + first.y1) / 2, ATTN__MIDDLE};
    return end > (int64_t)first.y1 + beyond ? end : (int64_t)first.y1 + beyond;
}

int64_t attn__put_panels(const attn__plot *plot, attn__plan *plan, int64_t y)
{
    grid g;
    make_grid(plot, plan, &g);
    for (int r = 0; r < g.n; r++) {
        y = put_row(plot, plan, &g, r, y) + (r + 1 < g.n ? ATTN__PANEL_GAP * plot->scale : 0);
    }
    return y;
}

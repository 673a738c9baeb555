/* What a cell shows. */
#include <math.h>

#include "viz/viz.h"

attn__cell attn__cell_kind(const attn_heatmap_panel *p, int64_t i)
{
    return p->hidden != NULL && p->hidden[i] != 0 ? ATTN__MASKED : isnan(p->values[i]) ? ATTN__NAN : ATTN__VALUE;
}

double attn__cell_number(const attn_heatmap_panel *p, int64_t i)
{
    return p->numbers != NULL ? p->numbers[i] : p->values[i];
}

static bool outdoes(const attn__plot *plot, double v, double best)
{
    return plot->diverging ? fabs(v) > fabs(best) || (v > best && v == -best) : v > best;
}

attn__cell attn__block_value(const attn__plot *plot, int panel, int block, int row, int column, double *value)
{
    const attn_heatmap_panel *p = plot->panels[panel].data;
    int r0 = row * block, c0 = column * block;
    int r1 = p->rows - r0 < block ? p->rows : r0 + block, c1 = p->columns - c0 < block ? p->columns : c0 + block;
    attn__cell kind = ATTN__NAN;
    *value = NAN;
    for (int r = r0; r < r1; r++) {
        for (int c = c0; c < c1; c++) {
            int64_t i = (int64_t)r * p->columns + c;
            attn__cell here = attn__cell_kind(p, i);
            if (here == ATTN__VALUE && (kind != ATTN__VALUE || outdoes(plot, p->values[i], *value))) {
                *value = p->values[i];
            }
            kind = kind == ATTN__VALUE || here == ATTN__NAN ? kind : here;
        }
    }
    return kind;
}

/* A diverging map is lightest at 0, and as far away from it on both sides equally dark: where the range is lopsided, a part of the map is
 * not used. */
int attn__plot_step(const attn__plot *plot, double v)
{
    double in = fmin(fmax(v, plot->vmin), plot->vmax);
    if (plot->diverging) {
        return attn__cmap_step(0.5 + in / (2 * fmax(fabs(plot->vmin), fabs(plot->vmax))));
    }
    return attn__cmap_step((in - plot->vmin) / (plot->vmax - plot->vmin));
}

bool attn__shows_number(const attn__plot *plot, const attn_heatmap_panel *p, int64_t index)
{
    if (attn__cell_kind(p, index) != ATTN__VALUE) {
        return false;
    }
    int larger = 0;
    int64_t first = index / p->columns * p->columns;
    for (int64_t i = first; i < first + p->columns && plot->top > 0; i++) {
        bool before = p->values[i] > p->values[index] || (i < index && p->values[i] == p->values[index]); /* of equal ones the first */
        larger += before && attn__cell_kind(p, i) == ATTN__VALUE;
    }
    return plot->top == 0 || larger < plot->top;
}

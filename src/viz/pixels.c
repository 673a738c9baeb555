/* The pen that draws pixels. */
#include "viz/viz.h"

typedef struct pixels {
    attn__pen pen;
    attn__fonts *fonts;
    attn_image *canvas;
} pixels;

static attn_image *canvas_of(attn__pen *pen)
{
    return ((pixels *)pen)->canvas;
}

static void fill(attn__pen *pen, attn__box box, const uint8_t rgb[3])
{
    attn__fill(canvas_of(pen), box, rgb);
}

static void frame(attn__pen *pen, attn__box box, const uint8_t rgb[3])
{
    attn__frame(canvas_of(pen), box, pen->plot->scale, rgb);
}

static void hatch(attn__pen *pen, attn__box box, attn__cell kind)
{
    attn__hatch(canvas_of(pen), box, kind == ATTN__NAN, pen->plot->scale);
}

static void cells(attn__pen *pen, int panel)
{
    const attn_heatmap_layout *l = &pen->plan->layout;
    for (int r = 0; r < l->panel[panel].rows; r++) {
        for (int c = 0; c < l->panel[panel].columns; c++) {
            double v;
            attn__cell kind = attn__block_value(pen->plot, panel, l->block, r, c, &v);
            attn__box box = attn__cell_box(pen->plan, panel, r, c);
            if (kind == ATTN__VALUE) {
                fill(pen, box, pen->plot->color[attn__plot_step(pen->plot, v)]);
            } else {
                hatch(pen, box, kind);
            }
        }
    }
}

static void bar(attn__pen *pen)
{
    attn__box b = pen->plan->bar;
    const attn__plot *plot = pen->plot;
    for (int y = b.y0; y < b.y1; y++) {
        double part = (double)(b.y1 - 1 - y) / (b.y1 - b.y0 - 1), v = plot->vmin * (1 - part) + plot->vmax * part;
        fill(pen, (attn__box){b.x0, y, b.x1, y + 1}, plot->color[attn__plot_step(plot, v)]);
    }
}

static void point(attn__pen *pen, attn__point base, int half, bool up, const uint8_t rgb[3])
{
    for (int k = 0; k < half; k++) {
        int y = up ? base.y - k : base.y + k;
        fill(pen, (attn__box){base.x - half + k, y, base.x + half - k, y + 1}, rgb);
    }
}

/* From the place of the anchor to that of the origin: by the ink, so that what is centred looks it. */
static int origin(attn__anchor anchor, int at, int start, int end)
{
    return anchor == ATTN__START ? at - start : anchor == ATTN__END ? at - end : at - (start + end) / 2;
}

/* Upright texts run upwards: their start has the larger y. */
static void text(attn__pen *pen, const attn__text *t, attn__spot at, bool upright, const uint8_t rgb[3])
{
    int x = upright ? at.x : origin(at.anchor, at.x, t->flat.x0, t->flat.x1);
    int y = upright && at.anchor != ATTN__START ? origin(at.anchor, at.y, t->tall.y1, t->tall.y0) : at.y;
    attn__text_draw(((pixels *)pen)->fonts, canvas_of(pen), t, upright, x, y, rgb);
}

void attn__draw_pixels(const attn__plot *plot, const attn__plan *plan, attn__fonts *fonts, attn_image *canvas)
{
    pixels p = {{plot, plan, cells, bar, fill, frame, hatch, point, text}, fonts, canvas};
    attn__draw(&p.pen, fonts);
}

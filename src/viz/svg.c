/* The pen that writes SVG. Cells of one colour are one path; of large matrices they are an image of a pixel a cell. Labels are real text,
 * which the viewer draws with its own fonts: so anchors stand at their start, middle or end instead of where our ink begins. */
#include <math.h>
#include <string.h>

#include "viz/viz.h"

#define MOST_PATHS 4096 /* cells of a panel that are drawn as paths */

/* Widths like those that the labels were measured with, then simplified Chinese shapes, wherever the viewer runs. */
static const char families[] = "'DejaVu Sans',Verdana,'Noto Sans CJK SC','Source Han Sans SC','PingFang SC','Microsoft YaHei',"
                               "'WenQuanYi Micro Hei',sans-serif";

typedef struct svg {
    attn__pen pen;
    attn__out out;
    int size; /* of the open group of texts; 0: none is open */
    attn__anchor anchor;
    uint8_t rgb[3];
} svg;

static attn__out *out_of(attn__pen *pen)
{
    return &((svg *)pen)->out;
}

static void put_color(attn__out *o, const char *attribute, const uint8_t rgb[3])
{
    attn__out_format(o, " %s=\"#%02x%02x%02x\"", attribute, rgb[0], rgb[1], rgb[2]);
}

/* ---- shapes ---- */

static void close_group(svg *s)
{
    if (s->size > 0) {
        attn__out_format(&s->out, "</g>\n");
    }
    s->size = 0;
}

static void fill(attn__pen *pen, attn__box b, const uint8_t rgb[3])
{
    close_group((svg *)pen);
    attn__out_format(out_of(pen), "<path d=\"M%d %dh%dv%dh%dz\"", b.x0, b.y0, b.x1 - b.x0, b.y1 - b.y0, b.x0 - b.x1);
    put_color(out_of(pen), "fill", rgb);
    attn__out_format(out_of(pen), "/>\n");
}

static void frame(attn__pen *pen, attn__box b, const uint8_t rgb[3])
{
    int w = pen->plot->scale;
    fill(pen, (attn__box){b.x0 - w, b.y0 - w, b.x1 + w, b.y0}, rgb);
    fill(pen, (attn__box){b.x0 - w, b.y1, b.x1 + w, b.y1 + w}, rgb);
    fill(pen, (attn__box){b.x0 - w, b.y0, b.x0, b.y1}, rgb);
    fill(pen, (attn__box){b.x1, b.y0, b.x1 + w, b.y1}, rgb);
}

static const char *hatch_name(attn__cell kind)
{
    return kind == ATTN__NAN ? "attn-nan" : "attn-masked";
}

static void hatch(attn__pen *pen, attn__box b, attn__cell kind)
{
    close_group((svg *)pen);
    attn__out_format(out_of(pen), "<path d=\"M%d %dh%dv%dh%dz\" fill=\"url(#%s)\"/>\n", b.x0, b.y0, b.x1 - b.x0, b.y1 - b.y0, b.x0 - b.x1,
                     hatch_name(kind));
}

static void point(attn__pen *pen, attn__point base, int half, bool up, const uint8_t rgb[3])
{
    close_group((svg *)pen);
    attn__out_format(out_of(pen), "<path d=\"M%d %dh%dl%d %dz\"", base.x - half, up ? base.y + 1 : base.y, 2 * half + 1, -half,
                     up ? -half : half);
    put_color(out_of(pen), "fill", rgb);
    attn__out_format(out_of(pen), "/>\n");
}

static void bar(attn__pen *pen)
{
    attn__box b = pen->plan->bar;
    attn__out_format(out_of(pen), "<path d=\"M%d %dh%dv%dh%dz\" fill=\"url(#attn-bar)\"/>\n", b.x0, b.y0, b.x1 - b.x0, b.y1 - b.y0,
                     b.x0 - b.x1);
}

/* ---- cells ---- */

enum { MASKED = ATTN__STEPS, NAN_STEP, KINDS }; /* after the colours */

static int kind_of(const attn__pen *pen, int panel, int row, int column)
{
    double v;
    attn__cell kind = attn__block_value(pen->plot, panel, pen->plan->layout.block, row, column, &v);
    return kind == ATTN__VALUE ? attn__plot_step(pen->plot, v) : kind == ATTN__MASKED ? MASKED : NAN_STEP;
}

/* One path of all cells of a kind, those beside each other as one rectangle; nothing if there is none. `kinds` are those of all cells. */
static void put_kind(attn__pen *pen, int panel, const uint16_t *kinds, int kind)
{
    attn__out *o = out_of(pen);
    const attn_heatmap_layout *l = &pen->plan->layout;
    int columns = l->panel[panel].columns;
    bool any = false;
    for (int r = 0; r < l->panel[panel].rows; r++) {
        const uint16_t *row = kinds + (size_t)r * (size_t)columns;
        for (int c = 0, end; c < columns; c = end) {
            for (end = c + 1; end < columns && row[end] == row[c];) {
                end++;
            }
            if (row[c] == kind) {
                attn__box b = attn__cell_box(pen->plan, panel, r, c);
                int wide = (end - c) * l->cell_width;
                attn__out_format(o, "%sM%d %dh%dv%dh%dz", any ? "" : "<path d=\"", b.x0, b.y0, wide, l->cell_height, -wide);
                any = true;
            }
        }
    }
    if (any && kind < ATTN__STEPS) {
        attn__out_format(o, "\"");
        put_color(o, "fill", pen->plot->color[kind]);
        attn__out_format(o, "/>\n");
    } else if (any) {
        attn__out_format(o, "\" fill=\"url(#%s)\"/>\n", hatch_name(kind == MASKED ? ATTN__MASKED : ATTN__NAN));
    }
}

static void put_base64(attn__out *o, const uint8_t *bytes, size_t size)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (size_t i = 0; i < size; i += 3) {
        uint32_t b1 = i + 1 < size ? bytes[i + 1] : 0, b2 = i + 2 < size ? bytes[i + 2] : 0, all = (uint32_t)bytes[i] << 16 | b1 << 8 | b2;
        char four[4] = {digits[all >> 18], digits[all >> 12 & 63], digits[all >> 6 & 63], digits[all & 63]};
        four[2] = i + 1 < size ? four[2] : '=';
        four[3] = i + 2 < size ? four[3] : '=';
        attn__out_bytes(o, four, sizeof four);
    }
}

static void put_image(attn__pen *pen, int panel, const uint16_t *kinds)
{
    attn__out *o = out_of(pen);
    attn__box b = pen->plan->panel[panel].cells;
    attn_image image = {.width = pen->plan->layout.panel[panel].columns, .height = pen->plan->layout.panel[panel].rows};
    size_t n = (size_t)image.width * (size_t)image.height, size = 0;
    uint8_t *bytes = NULL;
    image.rgb = attn__calloc(o->allocator, n, 3);
    for (size_t i = 0; i < n && image.rgb != NULL; i++) {
        memcpy(image.rgb + 3 * i, pen->plot->color[kinds[i] < ATTN__STEPS ? kinds[i] : 0], 3);
    }
    if (image.rgb == NULL || attn_png_encode(&image, &bytes, &size, o->allocator, NULL) != ATTN_OK) {
        o->failed = true;
    } else {
        attn__out_format(o, "<image x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" preserveAspectRatio=\"none\" ", b.x0, b.y0, b.x1 - b.x0,
                         b.y1 - b.y0);
        attn__out_format(o, "style=\"image-rendering:pixelated\" xlink:href=\"data:image/png;base64,");
        put_base64(o, bytes, size);
        attn__out_format(o, "\"/>\n");
    }
    attn__free(o->allocator, bytes);
    attn__free(o->allocator, image.rgb);
}

static void cells(attn__pen *pen, int panel)
{
    attn__out *o = out_of(pen);
    int rows = pen->plan->layout.panel[panel].rows, columns = pen->plan->layout.panel[panel].columns;
    uint16_t *kinds = attn__calloc(o->allocator, (size_t)rows * (size_t)columns, sizeof *kinds);
    if (kinds == NULL) {
        o->failed = true;
        return;
    }
    for (int i = 0; i < rows * columns; i++) {
        kinds[i] = (uint16_t)kind_of(pen, panel, i / columns, i % columns);
    }
    close_group((svg *)pen);
    bool paths = rows * columns <= MOST_PATHS;
    attn__out_format(o, "<g shape-rendering=\"crispEdges\">\n");
    if (!paths) {
        put_image(pen, panel, kinds);
    }
    for (int kind = paths ? 0 : MASKED; kind < KINDS; kind++) {
        put_kind(pen, panel, kinds, kind);
    }
    attn__out_format(o, "</g>\n");
    attn__free(o->allocator, kinds);
}

/* ---- texts ---- */

/* A character as XML content; XML has none of the last two. */
static void put_code(attn__out *o, int32_t code)
{
    switch (code) {
    case '&':
        attn__out_format(o, "&amp;");
        break;
    case '<':
        attn__out_format(o, "&lt;");
        break;
    case '>':
        attn__out_format(o, "&gt;");
        break;
    case 0xfffe:
    case 0xffff:
        attn__out_code(o, 0xfffd);
        break;
    default:
        attn__out_code(o, code);
    }
}

/* Texts of one size, anchor and colour share a group. */
static void open_group(svg *s, int size, attn__anchor anchor, const uint8_t rgb[3])
{
    static const char *const names[] = {"start", "middle", "end"};
    if (s->size == size && s->anchor == anchor && memcmp(s->rgb, rgb, 3) == 0) {
        return;
    }
    close_group(s);
    s->size = size;
    s->anchor = anchor;
    memcpy(s->rgb, rgb, 3);
    attn__out_format(&s->out, "<g font-size=\"%d\" text-anchor=\"%s\"", size, names[anchor]);
    put_color(&s->out, "fill", rgb);
    attn__out_format(&s->out, ">\n");
}

/* One character below the other; brackets and dashes are turned around the middle of their square. */
static void put_stack(svg *s, const attn__text *t, attn__spot at)
{
    for (int i = 0; i < t->n; i++) {
        int base = at.y + attn__stack_base(t, i), middle = t->size * 38 / 100;
        if (t->glyphs[i].tilt) {
            attn__out_format(&s->out, "<text transform=\"translate(%d %d)rotate(90)\" y=\"%d\">", at.x, base - middle, middle);
        } else {
            attn__out_format(&s->out, "<text x=\"%d\" y=\"%d\">", at.x, base);
        }
        put_code(&s->out, t->codes[i]);
        attn__out_format(&s->out, "</text>\n");
    }
}

static void text(attn__pen *pen, const attn__text *t, attn__spot at, bool upright, const uint8_t rgb[3])
{
    svg *s = (svg *)pen;
    bool stacked = upright && t->stacked;
    open_group(s, t->size, stacked ? ATTN__MIDDLE : at.anchor, rgb);
    if (stacked) {
        put_stack(s, t, at);
        return;
    }
    attn__out_format(&s->out, upright ? "<text transform=\"translate(%d %d)rotate(-90)\">" : "<text x=\"%d\" y=\"%d\">", at.x, at.y);
    for (int i = 0; i < t->n; i++) {
        put_code(&s->out, t->codes[i]);
    }
    attn__out_format(&s->out, "</text>\n");
}

/* ---- the document ---- */

static void put_pattern(attn__out *o, attn__cell kind, int scale)
{
    static const char *const lines[] = {"M-2 2L2-2M-1 9L9-1M6 10L10 6", "M-2 6L2 10M-1-1L9 9M6-2L10 2"};
    attn__out_format(o, "<pattern id=\"%s\" patternUnits=\"userSpaceOnUse\" width=\"8\" height=\"8\" patternTransform=\"scale(%d)\">",
                     hatch_name(kind), scale);
    attn__out_format(o, "<path d=\"M0 0h8v8h-8z\" fill=\"#d9d9d9\"/><path d=\"%s\" stroke=\"#9a9a9a\"/></pattern>\n",
                     lines[kind == ATTN__NAN]);
}

/* 17 stops are enough: between two of them no map turns. A stop's place is in percent times 100. */
static void put_gradient(attn__out *o, const attn__plot *plot)
{
    attn__out_format(o, "<linearGradient id=\"attn-bar\" x1=\"0\" y1=\"1\" x2=\"0\" y2=\"0\">\n");
    for (int i = 0; i <= 16; i++) {
        double part = i / 16.0;
        attn__out_format(o, "<stop offset=\"%d.%02d%%\"", i * 625 / 100, i * 625 % 100);
        put_color(o, "stop-color", plot->color[attn__plot_step(plot, plot->vmin * (1 - part) + plot->vmax * part)]);
        attn__out_format(o, "/>\n");
    }
    attn__out_format(o, "</linearGradient>\n");
}

static void put_head(attn__out *o, const attn__plot *plot, const attn__plan *plan)
{
    int width = plan->layout.width, height = plan->layout.height;
    attn__out_format(o, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<svg xmlns=\"http://www.w3.org/2000/svg\" "
                        "xmlns:xlink=\"http://www.w3.org/1999/xlink\" version=\"1.1\" role=\"img\" xml:space=\"preserve\" ");
    attn__out_format(o, "width=\"%d\" height=\"%d\" viewBox=\"0 0 %d %d\" font-family=\"%s\"", width, height, width, height, families);
    if (plot->language != NULL) {
        attn__out_format(o, " xml:lang=\"%s\" lang=\"%s\"", plot->language, plot->language);
    }
    attn__out_format(o, ">\n<title>");
    const attn__text *title = plot->title.n > 0 ? &plot->title : &plot->bar_title;
    for (int i = 0; i < title->n; i++) {
        put_code(o, title->codes[i]);
    }
    attn__out_format(o, "</title>\n<defs>\n");
    put_gradient(o, plot);
    put_pattern(o, ATTN__MASKED, plot->scale);
    put_pattern(o, ATTN__NAN, plot->scale);
    attn__out_format(o, "</defs>\n<path d=\"M0 0h%dv%dh%dz\" fill=\"#fff\"/>\n", width, height, -width);
}

attn_status attn__draw_svg(const attn__plot *plot, const attn__plan *plan, attn__fonts *fonts, attn_document *document, attn_error *error)
{
    svg s = {.pen = {plot, plan, cells, bar, fill, frame, hatch, point, text}, .out = {.allocator = fonts->allocator}};
    put_head(&s.out, plot, plan);
    attn__draw(&s.pen, fonts);
    close_group(&s);
    attn__out_format(&s.out, "</svg>\n");
    return attn__out_end(&s.out, document, error);
}

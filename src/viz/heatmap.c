/* From the caller's configuration to the picture: check, read the labels, choose fonts, measure, plan, draw. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "viz/viz.h"

enum { LABEL_SIZE = 14, TITLE_SIZE = 20, PANEL_TITLE_SIZE = 16, NUMBER_SIZE = 15, NUMBER_SIZE_TIGHT = 12 };

#define MAX_SIDE  65536 /* rows or columns */
#define LABEL_EMS 12    /* longer labels are shortened */
#define TITLE_EMS 60

/* What one call works on. */
typedef struct job {
    const attn_heatmap_config *config;
    attn__arena memory;
    attn__fonts fonts;
    attn__plot plot;
    attn__plan plan;
    attn_error *error;
} job;

static attn_status out_of_memory(attn_error *error)
{
    return attn__fail(error, ATTN_ENOMEM, "heatmap: out of memory");
}

/* ---- the configuration ---- */

static attn_status check_panels(const attn_heatmap_config *c, attn_error *error)
{
    if (c->panels == NULL || c->n_panels < 1 || c->n_panels > ATTN__MAX_PANELS) {
        return attn__fail(error, ATTN_EINVAL, "heatmap: %d panels; 1 to %d can be drawn", c->n_panels, ATTN__MAX_PANELS);
    }
    for (int i = 0; i < c->n_panels; i++) {
        const attn_heatmap_panel *p = &c->panels[i];
        if (p->rows < 1 || p->columns < 1 || p->values == NULL) {
            return attn__fail(error, ATTN_EINVAL, "heatmap: panel %d is empty (%d x %d)", i + 1, p->rows, p->columns);
        }
        if (p->rows > MAX_SIDE || p->columns > MAX_SIDE) {
            return attn__fail(error, ATTN_ESHAPE, "heatmap: panel %d has %d x %d cells; at most %d a side can be drawn", i + 1, p->rows,
                              p->columns, MAX_SIDE);
        }
    }
    return ATTN_OK;
}

static attn_status check(const attn_heatmap_config *c, attn__plot *plot, attn_error *error)
{
    const char *cmap = c->cmap != NULL ? c->cmap : "blues";
    bool usual = c->vmin == 0 && c->vmax == 0;
    *plot = (attn__plot){.n_panels = c->n_panels, .vmin = c->vmin, .vmax = usual ? 1 : c->vmax, .annotate = c->annotate};
    plot->digits = c->digits == 0 ? 2 : c->digits < 0 ? 0 : c->digits;
    plot->cell = c->cell;
    plot->top = c->annotate_top;
    plot->scale = c->scale == 0 ? 1 : c->scale;
    plot->label_size = LABEL_SIZE * plot->scale;
    if (attn_cmap_find(cmap) < 0) {
        return attn__fail(error, ATTN_EINVAL, "heatmap: no colour map is called \"%s\"", ATTN__QUOTE(cmap));
    }
    for (int i = 0; i < ATTN__STEPS; i++) {
        attn_cmap_color(attn_cmap_find(cmap), (double)i / (ATTN__STEPS - 1), plot->color[i]);
    }
    if (!(plot->vmin < plot->vmax) || !isfinite(plot->vmax - plot->vmin)) {
        return attn__fail(error, ATTN_EINVAL, "heatmap: the colour range must rise: vmin < vmax");
    }
    if (c->annotate_top < 0) {
        return attn__fail(error, ATTN_EINVAL, "heatmap: annotate_top is %d, expected 0 or more", c->annotate_top);
    }
    if (c->digits < -1 || c->digits > 15 || c->cell < 0 || c->cell > 100000 || c->scale < 0 || c->scale > 16) {
        return attn__fail(error, ATTN_EINVAL, "heatmap: digits %d, cell %d, scale %d; they may be -1 to 15, 0 to 100000 and 0 to 16",
                          c->digits, c->cell, c->scale);
    }
    return check_panels(c, error);
}

/* ---- texts ---- */

/* Reads one text; `what`, `number` and `panel` say which in a message. */
static attn_status read_text(job *j, const char *utf8, attn__text *t, const char *what, int number, int panel)
{
    int64_t fault;
    attn_status status = attn__text_read(&j->fonts, utf8, t, &fault);
    if (status == ATTN_EFORMAT) {
        return attn__fail(j->error, status, "heatmap: %s %d of panel %d is not UTF-8: bad byte at offset %lld", what, number, panel,
                          (long long)fault);
    }
    return status == ATTN_OK ? status : out_of_memory(j->error);
}

static attn_status read_labels(job *j, const char *const *labels, int n, attn__text **out, const char *what, int panel)
{
    *out = attn__arena_array(&j->memory, n, sizeof **out);
    attn_status status = *out != NULL ? ATTN_OK : out_of_memory(j->error);
    for (int i = 0; i < n && status == ATTN_OK; i++) {
        char number[16];
        (void)snprintf(number, sizeof number, "%d", i);
        status = read_text(j, labels == NULL ? number : labels[i] == NULL ? "" : labels[i], &(*out)[i], what, i + 1, panel);
    }
    return status;
}

static attn_status read_panels(job *j)
{
    const attn_heatmap_config *c = j->config;
    j->plot.panels = attn__arena_array(&j->memory, c->n_panels, sizeof *j->plot.panels);
    attn_status status = j->plot.panels != NULL ? ATTN_OK : out_of_memory(j->error);
    for (int i = 0; i < c->n_panels && status == ATTN_OK; i++) {
        attn__plot_panel *p = &j->plot.panels[i];
        *p = (attn__plot_panel){.data = &c->panels[i]};
        status = read_text(j, p->data->title != NULL ? p->data->title : "", &p->title, "title", 1, i + 1);
        if (status == ATTN_OK) {
            status = read_labels(j, p->data->row_labels, p->data->rows, &p->row_labels, "row label", i + 1);
        }
        if (status == ATTN_OK) {
            status = read_labels(j, p->data->column_labels, p->data->columns, &p->column_labels, "column label", i + 1);
        }
    }
    return status;
}

/* What the matrices hold: whether some cells are no values, and the ends of the others. */
typedef struct survey {
    bool masked, nan, any;
    double low, high;
    double least, most; /* of the numbers in the cells */
} survey;

static survey look_at(const attn_heatmap_config *c)
{
    survey s = {.low = INFINITY, .high = -INFINITY, .least = INFINITY, .most = -INFINITY};
    for (int i = 0; i < c->n_panels; i++) {
        const attn_heatmap_panel *p = &c->panels[i];
        int64_t n = (int64_t)p->rows * p->columns;
        for (int64_t k = 0; k < n; k++) {
            if (attn__cell_hidden(p, k)) {
                bool masked = p->hidden != NULL && p->hidden[k] != 0;
                s.masked = s.masked || masked;
                s.nan = s.nan || !masked;
                continue;
            }
            s.low = fmin(s.low, p->values[k]);
            s.high = fmax(s.high, p->values[k]);
            s.least = fmin(s.least, attn__cell_number(p, k));
            s.most = fmax(s.most, attn__cell_number(p, k));
            s.any = true;
        }
    }
    return s;
}

static attn_status read_texts(job *j, survey s)
{
    const attn_heatmap_config *c = j->config;
    attn__plot *p = &j->plot;
    const char *legend = s.masked && s.nan ? "masked or not a number" : s.masked ? "masked" : s.nan ? "not a number" : "";
    const struct {
        const char *utf8, *what;
        attn__text *text;
    } one[] = {
        {c->title != NULL ? c->title : "", "title", &p->title},
        {c->row_title != NULL ? c->row_title : "query: who looks", "row title", &p->row_title},
        {c->column_title != NULL ? c->column_title : "key: looked at", "column title", &p->column_title},
        {c->bar_title != NULL ? c->bar_title : "attention weight", "bar title", &p->bar_title},
        {legend, "caption", &p->caption[0]},
    };
    attn_status status = read_panels(j);
    for (size_t i = 0; i < sizeof one / sizeof one[0] && status == ATTN_OK; i++) {
        status = read_text(j, one[i].utf8, one[i].text, one[i].what, 1, 1);
    }
    for (int i = 0; i < ATTN__TICKS && status == ATTN_OK; i++) {
        char number[ATTN__NUMBER_SIZE];
        double part = (double)i / (ATTN__TICKS - 1);
        attn__number_short(p->vmin * (1 - part) + p->vmax * part, number);
        status = read_text(j, number, &p->tick[i], "tick", i, 1);
    }
    return status;
}

/* ---- measuring ---- */

/* The widest number has the most characters; digits are of one width in nearly every font, so eights stand for all. */
static void set_number(job *j, attn__ascii widest[2], survey s)
{
    char low[ATTN__NUMBER_SIZE] = "", high[ATTN__NUMBER_SIZE] = "";
    if (s.any) {
        attn__number_fixed(s.least, j->plot.digits, low);
        attn__number_fixed(s.most, j->plot.digits, high);
    }
    char *longest = strlen(low) > strlen(high) ? low : high;
    for (char *p = longest; *p != '\0'; p++) {
        *p = *p >= '0' && *p <= '9' ? '8' : *p;
    }
    const int size[2] = {NUMBER_SIZE, NUMBER_SIZE_TIGHT};
    for (int i = 0; i < 2; i++) {
        attn__ascii_set(&j->fonts, &widest[i], longest, size[i] * j->plot.scale);
        j->plot.number[i] = widest[i].text;
    }
}

static void set_texts(job *j)
{
    attn__plot *p = &j->plot;
    attn__text *plain[] = {&p->row_title, &p->column_title, &p->bar_title, &p->caption[0]};
    attn__text_set(&j->fonts, &p->title, TITLE_SIZE * p->scale, TITLE_EMS);
    for (size_t i = 0; i < sizeof plain / sizeof plain[0]; i++) {
        attn__text_set(&j->fonts, plain[i], p->label_size, TITLE_EMS / 2);
    }
    for (int i = 0; i < ATTN__TICKS; i++) {
        attn__text_set(&j->fonts, &p->tick[i], p->label_size, 0);
    }
    for (int i = 0; i < p->n_panels; i++) {
        attn__plot_panel *panel = &p->panels[i];
        attn__text_set(&j->fonts, &panel->title, PANEL_TITLE_SIZE * p->scale, TITLE_EMS);
        for (int r = 0; r < panel->data->rows; r++) {
            attn__text_set(&j->fonts, &panel->row_labels[r], p->label_size, LABEL_EMS);
        }
        for (int c = 0; c < panel->data->columns; c++) {
            attn__text_set(&j->fonts, &panel->column_labels[c], p->label_size, LABEL_EMS);
        }
    }
}

/* ---- the size of the picture ---- */

/* Largest cell with which the picture would not be too large; 0: none. */
static int smaller_cell(const attn__plot *plot, int cell)
{
    attn__plot trial = *plot;
    attn__plan plan;
    int low = 0, high = cell;
    trial.annotate = ATTN_ANNOTATE_AUTO;
    while (low + 1 < high) {
        trial.cell = low + (high - low) / 2;
        attn__plan_make(&trial, &plan);
        *(attn__plan_bytes(&plan) <= ATTN__MAX_PICTURE ? &low : &high) = trial.cell;
    }
    return low;
}

static attn_status too_large(const attn__plot *plot, const attn__plan *plan, attn_error *error)
{
    int cell = smaller_cell(plot, plan->layout.cell_height / plot->scale);
    char advice[80] = "not even cells of 1 pixel would do";
    if (cell > 0) {
        (void)snprintf(advice, sizeof advice, "cells of %d pixel%s would do", cell, cell == 1 ? "" : "s");
    }
    return attn__fail(error, ATTN_ESHAPE, "heatmap: %lld x %lld pixels are too many for one picture; %s", (long long)plan->width,
                      (long long)plan->height, advice);
}

/* The plan, and once more if labels are thinned: the picture says so. */
static attn_status make_plan(job *j)
{
    attn__plan_make(&j->plot, &j->plan);
    int step = j->plan.layout.label_step;
    if (step > 1) {
        char caption[64];
        (void)snprintf(caption, sizeof caption, "one label in %d is shown", step);
        attn_status status = read_text(j, caption, &j->plot.caption[1], "caption", 2, 1);
        if (status != ATTN_OK) {
            return status;
        }
        attn__text_set(&j->fonts, &j->plot.caption[1], j->plot.label_size, 0);
        attn__plan_make(&j->plot, &j->plan);
    }
    return attn__plan_bytes(&j->plan) <= ATTN__MAX_PICTURE ? ATTN_OK : too_large(&j->plot, &j->plan, j->error);
}

/* ---- notes ---- */

/* Appends a line if there is room for all of it. */
static void note(attn_image *image, const char *format, ...) ATTN_PRINTF(2, 3);
static void note(attn_image *image, const char *format, ...)
{
    size_t used = strlen(image->notes), room = sizeof image->notes - used;
    char *start = image->notes + used;
    va_list args;
    va_start(args, format);
    int n = vsnprintf(start, room, format, args);
    va_end(args);
    if (n < 0 || (size_t)n + 1 >= room) {
        *start = '\0';
        return;
    }
    start[n] = '\n';
    start[n + 1] = '\0';
}

static void note_missing(attn_image *image, const attn__fonts *f)
{
    char list[256] = "";
    int missing = 0, shown = 0;
    for (int32_t c = 0; c < ATTN__CODE_POINTS; c++) {
        if (!attn__fonts_uses(f, c) || attn__fonts_glyph(f, c).font != ATTN__FONT_HEXBOX) {
            continue;
        }
        missing++;
        if (shown < 16) {
            (void)snprintf(list + strlen(list), sizeof list - strlen(list), " U+%04lX", (unsigned long)c);
            shown++;
        }
    }
    if (missing > 0) {
        note(image,
             "no glyph for%s%s, drawn as code points in boxes: install a font that has them (Chinese: the package fonts-wqy-microhei) or "
             "name one",
             list, missing > shown ? " and others" : "");
    }
}

static void write_notes(const job *j, attn_image *image)
{
    const attn_heatmap_layout *l = &j->plan.layout;
    if (j->fonts.remark[0] != '\0') {
        note(image, "%s: built-in letters are used", j->fonts.remark);
    } else if (j->fonts.n == 0) {
        note(image, "no font was found, built-in letters are used: install the packages fonts-dejavu-core and fonts-wqy-microhei");
    }
    note_missing(image, &j->fonts);
    if (l->label_step > 1) {
        note(image, "one label in %d is shown: the cells are too small for more", l->label_step);
    }
    if (!l->numbers && j->config->annotate == ATTN_ANNOTATE_AUTO) {
        note(image, "numbers are hidden: cells of %d x %d pixels are too small for them", l->cell_width, l->cell_height);
    }
}

/* ---- drawing ---- */

static attn_status paint(job *j, attn_image *image, const attn_allocator *allocator)
{
    const attn_heatmap_layout *l = &j->plan.layout;
    size_t bytes = (size_t)l->width * (size_t)l->height * 3;
    *image = (attn_image){.width = l->width, .height = l->height, .allocator = allocator != NULL ? *allocator : attn__malloc};
    image->rgb = attn__calloc(allocator, bytes, 1);
    if (image->rgb == NULL) {
        return out_of_memory(j->error);
    }
    memset(image->rgb, 255, bytes);
    attn__raster(&j->plot, &j->plan, &j->fonts, image);
    if (j->fonts.out_of_memory) {
        attn_image_free(image);
        return out_of_memory(j->error);
    }
    write_notes(j, image);
    return ATTN_OK;
}

static attn_status run(job *j, attn_image *image, const attn_allocator *allocator)
{
    attn__ascii widest[2];
    survey s = look_at(j->config);
    j->plot.below = s.any && s.low < j->plot.vmin;
    j->plot.above = s.any && s.high > j->plot.vmax;
    attn_status status = attn__fonts_init(&j->fonts, &j->memory, allocator, j->error);
    if (status == ATTN_OK) {
        status = read_texts(j, s);
    }
    if (status == ATTN_OK) {
        status = attn__fonts_choose(&j->fonts, j->config->font, j->error);
    }
    if (status != ATTN_OK) {
        return status;
    }
    set_texts(j);
    set_number(j, widest, s);
    status = make_plan(j);
    return status == ATTN_OK ? paint(j, image, allocator) : status;
}

attn_status attn_heatmap_draw(const attn_heatmap_config *config, attn_image *image, attn_heatmap_layout *layout,
                              const attn_allocator *allocator, attn_error *error)
{
    job j = {.config = config, .error = error};
    *image = (attn_image){0};
    attn_status status = check(config, &j.plot, error);
    if (status != ATTN_OK) {
        return status;
    }
    attn__arena_init(&j.memory, allocator);
    status = run(&j, image, allocator);
    if (status == ATTN_OK && layout != NULL) {
        *layout = j.plan.layout;
    }
    attn__fonts_free(&j.fonts);
    attn__arena_free(&j.memory);
    return status;
}

void attn_image_free(attn_image *image)
{
    if (image == NULL || image->rgb == NULL) {
        return;
    }
    attn__free(image->allocator.free != NULL ? &image->allocator : NULL, image->rgb);
    *image = (attn_image){0};
}

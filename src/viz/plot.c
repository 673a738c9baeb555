/* What is to be drawn: the caller's configuration checked, its labels read, fonts chosen for them, and everything measured. */
#include <math.h>
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
    attn__plot *plot;
    attn__fonts *fonts;
    attn_error *error;
} job;

static attn_status out_of_memory(attn_error *error)
{
    return attn__fail(error, ATTN_ENOMEM, "heatmap: out of memory");
}

/* ---- the configuration ---- */

attn_status attn__check_panels(const attn_heatmap_panel *panels, int n, attn_error *error)
{
    if (panels == NULL || n < 1 || n > ATTN__MAX_PANELS) {
        return attn__fail(error, ATTN_EINVAL, "heatmap: %d panels; 1 to %d can be drawn", n, ATTN__MAX_PANELS);
    }
    for (int i = 0; i < n; i++) {
        const attn_heatmap_panel *p = &panels[i];
        if (p->rows < 1 || p->columns < 1 || p->values == NULL) {
            return attn__fail(error, ATTN_EINVAL, "heatmap: panel %d is empty (%d x %d)", i + 1, p->rows, p->columns);
        }
        if (p->rows > MAX_SIDE || p->columns > MAX_SIDE) {
            return attn__fail(error, ATTN_ESHAPE,
                              "heatmap: panel %d has %d x %d cells; at most %d a side can be drawn: draw a part of them", i + 1, p->rows,
                              p->columns, MAX_SIDE);
        }
    }
    return ATTN_OK;
}

static attn_status check(const attn_heatmap_config *c, attn_error *error)
{
    const char *cmap = c->cmap != NULL ? c->cmap : "blues";
    if (attn_cmap_find(cmap) < 0) {
        return attn__fail(error, ATTN_EINVAL, "heatmap: no colour map is called \"%s\"", ATTN__QUOTE(cmap));
    }
    if (c->annotate < ATTN_ANNOTATE_AUTO || c->annotate > ATTN_ANNOTATE_NONE || c->annotate_top < 0) {
        return attn__fail(error, ATTN_EINVAL, "heatmap: annotate %d, annotate_top %d; they may be 0 to 2, and from 0", (int)c->annotate,
                          c->annotate_top);
    }
    if (c->digits < -1 || c->digits > 15 || c->cell < 0 || c->cell > 100000 || c->scale < 0 || c->scale > 16) {
        return attn__fail(error, ATTN_EINVAL, "heatmap: digits %d, cell %d, scale %d; they may be -1 to 15, 0 to 100000 and 0 to 16",
                          c->digits, c->cell, c->scale);
    }
    return attn__check_panels(c->panels, c->n_panels, error);
}

static void set_look(attn__plot *plot, const attn_heatmap_config *c)
{
    int cmap = attn_cmap_find(c->cmap != NULL ? c->cmap : "blues");
    *plot = (attn__plot){.n_panels = c->n_panels, .cell = c->cell, .top = c->annotate_top, .annotate = c->annotate};
    plot->digits = c->digits == 0 ? 2 : c->digits < 0 ? 0 : c->digits;
    plot->scale = c->scale == 0 ? 1 : c->scale;
    plot->label_size = LABEL_SIZE * plot->scale;
    plot->diverging = attn_cmap_diverges(cmap);
    for (int i = 0; i < ATTN__STEPS; i++) {
        attn_cmap_color(cmap, (double)i / (ATTN__STEPS - 1), plot->color[i]);
    }
}

/* ---- the values ---- */

/* What the matrices hold: whether some cells are no values, and the ends of the others. */
typedef struct survey {
    bool masked, nan, any;
    double low, high;
    double finite_low, finite_high;
    double least, most; /* of the numbers in the cells */
} survey;

static void look_at_cell(survey *s, const attn_heatmap_panel *p, int64_t i)
{
    attn__cell kind = attn__cell_kind(p, i);
    if (kind != ATTN__VALUE) {
        *(kind == ATTN__MASKED ? &s->masked : &s->nan) = true;
        return;
    }
    double number = attn__cell_number(p, i);
    s->low = fmin(s->low, p->values[i]);
    s->high = fmax(s->high, p->values[i]);
    if (isfinite(p->values[i])) {
        s->finite_low = fmin(s->finite_low, p->values[i]);
        s->finite_high = fmax(s->finite_high, p->values[i]);
    }
    s->least = fmin(s->least, number);
    s->most = fmax(s->most, number);
    s->any = true;
}

static survey look_at(const attn_heatmap_config *c)
{
    survey s = {.low = INFINITY, .high = -INFINITY, .least = INFINITY, .most = -INFINITY};
    s.finite_low = INFINITY;
    s.finite_high = -INFINITY;
    for (int i = 0; i < c->n_panels; i++) {
        int64_t n = (int64_t)c->panels[i].rows * c->panels[i].columns;
        for (int64_t k = 0; k < n; k++) {
            look_at_cell(&s, &c->panels[i], k);
        }
    }
    return s;
}

/* Evenly; but a diverging map has its middle tick at 0, if that is not too near to an end. */
static void set_ticks(attn__plot *plot)
{
    double zero = -plot->vmin / (plot->vmax - plot->vmin);
    double middle = plot->diverging && zero > 0.15 && zero < 0.85 ? zero : 0.5;
    const double at[ATTN__TICKS] = {0, middle / 2, middle, (1 + middle) / 2, 1};
    memcpy(plot->tick_at, at, sizeof at);
}

/* The range of the colours. Where the values are to decide, infinite ones have no say; where they do not decide (none, or all the same), it
 * has the width 1. */
static attn_status set_range(attn__plot *plot, const attn_heatmap_config *c, survey s, attn_error *error)
{
    bool usual = c->vmin == 0 && c->vmax == 0, by_low = isnan(c->vmin), by_high = isnan(c->vmax);
    bool any = s.finite_low <= s.finite_high;
    double far = any ? fmax(fabs(s.finite_low), fabs(s.finite_high)) : 0;
    plot->vmin = by_low ? (any ? s.finite_low : 0) : c->vmin;
    plot->vmax = by_high ? (any ? s.finite_high : 1) : usual ? 1 : c->vmax;
    if (plot->diverging && (usual || (by_low && by_high))) {
        plot->vmax = far > 0 ? far : 1;
        plot->vmin = -plot->vmax;
    }
    if (!(plot->vmin < plot->vmax) && (by_low || by_high)) {
        plot->vmin = by_low ? plot->vmax - (by_high ? 0.5 : 1) : plot->vmin;
        plot->vmax = by_high ? plot->vmin + 1 : plot->vmax;
    }
    if (!(plot->vmin < plot->vmax) || !isfinite(plot->vmax - plot->vmin)) {
        return attn__fail(error, ATTN_EINVAL, "heatmap: the colours reach from %g to %g, expected finite numbers with vmin < vmax",
                          plot->vmin, plot->vmax);
    }
    plot->below = s.any && s.low < plot->vmin;
    plot->above = s.any && s.high > plot->vmax;
    set_ticks(plot);
    return ATTN_OK;
}

attn_status attn__heatmap_range(const attn_heatmap_config *config, double *vmin, double *vmax, attn_error *error)
{
    attn__plot plot;
    attn_heatmap_config unscaled = *config;
    unscaled.scale = 0; /* of a page it has no meaning, and may be anything */
    set_look(&plot, &unscaled);
    attn_status status = set_range(&plot, config, look_at(config), error);
    *vmin = plot.vmin;
    *vmax = plot.vmax;
    return status;
}

/* ---- reading texts ---- */

/* Reads one text; `what`, `number` and `panel` say which in a message. */
static attn_status read_text(const job *j, const char *utf8, attn__text *t, const char *what, int number, int panel)
{
    int64_t fault;
    attn_status status = attn__text_read(j->fonts, utf8 != NULL ? utf8 : "", t, &fault);
    if (status == ATTN_EFORMAT) {
        return attn__fail(j->error, status, "heatmap: %s %d of panel %d is not UTF-8: bad byte at offset %lld", what, number, panel,
                          (long long)fault);
    }
    return status == ATTN_OK ? status : out_of_memory(j->error);
}

static attn_status read_labels(const job *j, const char *const *labels, int n, attn__text **out, const char *what, int panel)
{
    *out = attn__arena_array(j->fonts->memory, n, sizeof **out);
    attn_status status = *out != NULL ? ATTN_OK : out_of_memory(j->error);
    for (int i = 0; i < n && status == ATTN_OK; i++) {
        char number[16];
        (void)snprintf(number, sizeof number, "%d", i);
        status = read_text(j, labels == NULL ? number : labels[i], &(*out)[i], what, i + 1, panel);
    }
    return status;
}

static attn_status read_panels(const job *j)
{
    const attn_heatmap_config *c = j->config;
    j->plot->panels = attn__arena_array(j->fonts->memory, c->n_panels, sizeof *j->plot->panels);
    attn_status status = j->plot->panels != NULL ? ATTN_OK : out_of_memory(j->error);
    for (int i = 0; i < c->n_panels && status == ATTN_OK; i++) {
        attn__plot_panel *p = &j->plot->panels[i];
        *p = (attn__plot_panel){.data = &c->panels[i]};
        status = read_text(j, p->data->title, &p->title, "title", 1, i + 1);
        if (status == ATTN_OK) {
            status = read_labels(j, p->data->row_labels, p->data->rows, &p->row_labels, "row label", i + 1);
        }
        if (status == ATTN_OK) {
            status = read_labels(j, p->data->column_labels, p->data->columns, &p->column_labels, "column label", i + 1);
        }
    }
    return status;
}

static attn_status read_texts(const job *j, survey s)
{
    const attn_heatmap_config *c = j->config;
    attn__plot *p = j->plot;
    const struct {
        const char *utf8, *what;
        attn__text *text;
    } one[] = {
        {c->title, "title", &p->title},
        {c->row_title != NULL ? c->row_title : "query: who looks", "row title", &p->row_title},
        {c->column_title != NULL ? c->column_title : "key: looked at", "column title", &p->column_title},
        {c->bar_title != NULL ? c->bar_title : "attention weight", "bar title", &p->bar_title},
        {s.masked ? "masked" : "", "caption", &p->caption[ATTN__LEGEND_MASKED]},
        {s.nan ? "not a number" : "", "caption", &p->caption[ATTN__LEGEND_NAN]},
    };
    attn_status status = read_panels(j);
    for (size_t i = 0; i < sizeof one / sizeof one[0] && status == ATTN_OK; i++) {
        status = read_text(j, one[i].utf8, one[i].text, one[i].what, 1, 1);
    }
    for (int i = 0; i < ATTN__TICKS && status == ATTN_OK; i++) {
        char number[ATTN__NUMBER_SIZE];
        double part = p->tick_at[i], v = p->vmin * (1 - part) + p->vmax * part;
        attn__number_short(fabs(v) < 1e-12 * (p->vmax - p->vmin) ? 0 : v, number);
        status = read_text(j, number, &p->tick[i], "tick", i, 1);
    }
    return status;
}

/* ---- measuring ---- */

/* The widest number has the most characters; digits are of one width in nearly every font, so eights stand for all. */
static void set_widest(attn__plot *plot, survey s)
{
    char low[ATTN__NUMBER_SIZE] = "", high[ATTN__NUMBER_SIZE] = "";
    if (s.any) {
        attn__number_fixed(s.least, plot->digits, low);
        attn__number_fixed(s.most, plot->digits, high);
    }
    (void)strcpy(plot->widest, strlen(low) > strlen(high) ? low : high);
    for (char *p = plot->widest; *p != '\0'; p++) {
        *p = *p >= '0' && *p <= '9' ? '8' : *p;
    }
}

static void set_texts(attn__plot *p, attn__fonts *fonts)
{
    attn__text *plain[] = {&p->row_title, &p->column_title, &p->bar_title, &p->caption[ATTN__LEGEND_MASKED], &p->caption[ATTN__LEGEND_NAN]};
    attn__text_set(fonts, &p->title, TITLE_SIZE * p->scale, TITLE_EMS);
    for (size_t i = 0; i < sizeof plain / sizeof plain[0]; i++) {
        attn__text_set(fonts, plain[i], p->label_size, TITLE_EMS * 0.5);
    }
    for (int i = 0; i < ATTN__TICKS; i++) {
        attn__text_set(fonts, &p->tick[i], p->label_size, 0);
    }
    for (int i = 0; i < p->n_panels; i++) {
        attn__plot_panel *panel = &p->panels[i];
        attn__text_set(fonts, &panel->title, PANEL_TITLE_SIZE * p->scale, TITLE_EMS);
        for (int r = 0; r < panel->data->rows; r++) {
            attn__text_set(fonts, &panel->row_labels[r], p->label_size, LABEL_EMS);
        }
        for (int c = 0; c < panel->data->columns; c++) {
            attn__text_set(fonts, &panel->column_labels[c], p->label_size, LABEL_EMS);
        }
    }
    const int size[2] = {NUMBER_SIZE, NUMBER_SIZE_TIGHT};
    for (int i = 0; i < 2; i++) {
        attn__ascii_set(fonts, &p->number[i], p->widest, size[i] * p->scale);
    }
}

attn_status attn__plot_caption(attn__plot *plot, attn__fonts *fonts, int which, const char *utf8, attn_error *error)
{
    int64_t fault;
    if (attn__text_read(fonts, utf8, &plot->caption[which], &fault) != ATTN_OK) {
        return out_of_memory(error);
    }
    attn__text_set(fonts, &plot->caption[which], plot->label_size, 0);
    return ATTN_OK;
}

attn_status attn__plot_read(attn__plot *plot, const attn_heatmap_config *config, attn__fonts *fonts, attn_error *error)
{
    job j = {config, plot, fonts, error};
    attn_status status = check(config, error);
    if (status != ATTN_OK) {
        return status;
    }
    survey s = look_at(config);
    set_look(plot, config);
    set_widest(plot, s);
    status = set_range(plot, config, s, error);
    return status == ATTN_OK ? read_texts(&j, s) : status;
}

attn_status attn__plot_measure(attn__plot *plot, const attn_heatmap_config *config, attn__fonts *fonts, attn_error *error)
{
    attn_status status = attn__fonts_choose(fonts, config->font, error);
    if (status == ATTN_OK) {
        set_texts(plot, fonts);
        plot->language = attn__fonts_language(fonts);
    }
    return status;
}

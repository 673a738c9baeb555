/* The page of attn heatmap: its data. What is done with them is in heatmap.js. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "html/html.h"
#include "viz/viz.h"

/* More numbers than this are kept in single precision. */
#define MANY ((int64_t)1 << 20)

static const attn__asset *const styles[] = {&attn__heatmap_css, NULL};
static const attn__asset *const scripts[] = {
    &attn__matrix_js, &attn__panel_js, &attn__grid_js, &attn__canvas_js, &attn__lines_js, &attn__heatmap_js, NULL};

/* ---- the configuration ---- */

static int heads_of(const attn_heatmap_page_config *c)
{
    return c->heads == 0 ? 1 : c->heads;
}

static attn_status check_panel(const attn_heatmap_page_config *c, int i, attn_error *error)
{
    const attn_heatmap_panel *p = &c->look.panels[i], *first = &c->look.panels[i - i % heads_of(c)];
    if (p->rows < 1 || p->columns < 1 || p->values == NULL) {
        return attn__fail(error, ATTN_EINVAL, "page: panel %d is empty (%d x %d)", i + 1, p->rows, p->columns);
    }
    if (p->rows != first->rows || p->columns != first->columns) {
        return attn__fail(error, ATTN_ESHAPE, "page: panel %d has %d x %d cells, the first head of its sentence %d x %d", i + 1, p->rows,
                          p->columns, first->rows, first->columns);
    }
    return ATTN_OK;
}

static attn_status check(const attn_heatmap_page_config *c, attn_error *error)
{
    const attn_heatmap_config *look = &c->look;
    int heads = heads_of(c);
    if (look->cmap != NULL && attn_cmap_find(look->cmap) < 0) {
        return attn__fail(error, ATTN_EINVAL, "page: no colour map is called \"%s\"", ATTN__QUOTE(look->cmap));
    }
    if (look->digits < -1 || look->digits > 15 || look->cell < 0 || look->annotate_top < 0) {
        return attn__fail(error, ATTN_EINVAL, "page: digits %d, cell %d, annotate_top %d; they may be -1 to 15, and from 0", look->digits,
                          look->cell, look->annotate_top);
    }
    if (look->annotate < ATTN_ANNOTATE_AUTO || look->annotate > ATTN_ANNOTATE_NONE) {
        return attn__fail(error, ATTN_EINVAL, "page: annotate %d, expected 0 to 2", (int)look->annotate);
    }
    if (look->panels == NULL || look->n_panels < 1 || heads < 1 || look->n_panels % heads != 0) {
        return attn__fail(error, ATTN_EINVAL, "page: %d panels of sentences with %d heads each", look->n_panels, heads);
    }
    if (c->head < ATTN_HEAD_ALL || c->head >= heads) {
        return attn__fail(error, ATTN_EINVAL, "page: there is no head %d, the heads are 0..%d", c->head, heads - 1);
    }
    attn_status status = ATTN_OK;
    for (int i = 0; i < look->n_panels && status == ATTN_OK; i++) {
        status = check_panel(c, i, error);
    }
    return status;
}

/* ---- data ---- */

/* Whether single precision holds all of these; NULL: none. */
static bool fits_f32(const double *v, int64_t n)
{
    for (int64_t i = 0; v != NULL && i < n; i++) {
        if (!isnan(v[i]) && (double)(float)v[i] != v[i]) {
            return false;
        }
    }
    return true;
}

/* Single precision where nothing is lost by it, or much is saved. */
static attn__packing packing_of(const attn_heatmap_config *look)
{
    int64_t total = 0;
    for (int i = 0; i < look->n_panels && total <= MANY; i++) {
        total += (int64_t)look->panels[i].rows * look->panels[i].columns;
    }
    for (int i = 0; i < look->n_panels && total <= MANY; i++) {
        const attn_heatmap_panel *p = &look->panels[i];
        int64_t n = (int64_t)p->rows * p->columns;
        if (!fits_f32(p->values, n) || !fits_f32(p->numbers, n)) {
            return ATTN__F64;
        }
    }
    return ATTN__F32;
}

static void write_labels(attn__html *h, const char *key, const char *const *labels, int n)
{
    attn__data_key(h, key);
    if (labels != NULL) {
        attn__data_strings(h, labels, n);
        return;
    }
    attn__data_open(h, '[');
    for (int i = 0; i < n; i++) {
        char number[16];
        (void)snprintf(number, sizeof number, "%d", i);
        attn__data_string(h, number);
    }
    attn__data_close(h, ']');
}

/* One sentence: labels once, then the cells of each head. */
static void write_sentence(attn__html *h, const attn_heatmap_panel *p, int heads, attn__packing packing)
{
    int64_t n = (int64_t)p->rows * p->columns;
    bool masked = false, numbered = false;
    attn__data_open(h, '{');
    attn__data_key(h, "title");
    attn__data_string(h, p->title);
    write_labels(h, "rows", p->row_labels, p->rows);
    write_labels(h, "columns", p->column_labels, p->columns);
    attn__data_key(h, "values");
    attn__data_open(h, '[');
    for (int i = 0; i < heads; i++) {
        attn__data_packed(h, p[i].values, n, packing);
        masked = masked || p[i].hidden != NULL;
        numbered = numbered || p[i].numbers != NULL;
    }
    attn__data_close(h, ']');
    attn__data_key(h, "numbers");
    attn__data_open(h, '[');
    for (int i = 0; i < heads && numbered; i++) {
        attn__data_packed(h, p[i].numbers, p[i].numbers != NULL ? n : 0, packing);
    }
    attn__data_close(h, ']');
    attn__data_key(h, "hidden");
    attn__data_open(h, '[');
    for (int i = 0; i < heads && masked; i++) {
        attn__data_packed_bytes(h, p[i].hidden, p[i].hidden != NULL ? n : 0);
    }
    attn__data_close(h, ']');
    attn__data_close(h, '}');
}

/* NULL stays null: the page has words of its own then. */
static void write_title(attn__html *h, const char *key, const char *title)
{
    attn__data_key(h, key);
    attn__data_string(h, title);
}

static void write_look(attn__html *h, const attn_heatmap_page_config *c, const double range[2])
{
    static const char *const annotate[] = {[ATTN_ANNOTATE_AUTO] = "auto", [ATTN_ANNOTATE_ALL] = "all", [ATTN_ANNOTATE_NONE] = "none"};
    const attn_heatmap_config *look = &c->look;
    const struct {
        const char *key;
        double value;
    } numbers[] = {{"vmin", range[0]},
                   {"vmax", range[1]},
                   {"digits", look->digits == 0  ? 2
                              : look->digits < 0 ? 0
                                                 : look->digits},
                   {"top", look->annotate_top},
                   {"cell", look->cell},
                   {"heads", heads_of(c)},
                   {"head", c->head}};
    write_title(h, "title", look->title);
    write_title(h, "rowTitle", look->row_title);
    write_title(h, "columnTitle", look->column_title);
    write_title(h, "barTitle", look->bar_title);
    attn__data_key(h, "annotate");
    attn__data_string(h, annotate[look->annotate]);
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        attn__data_key(h, numbers[i].key);
        attn__data_number(h, numbers[i].value);
    }
    attn__data_key(h, "diverging");
    attn__data_bool(h, attn_cmap_diverges(attn_cmap_find(look->cmap != NULL ? look->cmap : "blues")));
    attn__data_key(h, "colors");
    attn__data_colors(h, look->cmap);
}

attn_status attn_heatmap_page(const attn_heatmap_page_config *config, attn_page *page, const attn_allocator *allocator, attn_error *error)
{
    const attn_heatmap_config *look = &config->look;
    *page = (attn_page){0};
    double range[2];
    attn_status status = check(config, error);
    if (status == ATTN_OK) {
        status = attn__heatmap_range(look, &range[0], &range[1], error);
    }
    if (status != ATTN_OK) {
        return status;
    }
    attn__scripts_seen seen = {0};
    for (int i = 0; i < look->n_panels; i += heads_of(config)) {
        attn__scripts_see(&seen, look->panels[i].row_labels, look->panels[i].rows);
        attn__scripts_see(&seen, look->panels[i].column_labels, look->panels[i].columns);
    }
    attn__page_plan plan = {.language = attn__language(config->language, seen), .styles = styles, .scripts = scripts};
    plan.title = look->title != NULL ? look->title : plan.language == ATTN_LANGUAGE_ZH ? "注意力" : "Attention";
    attn__html h;
    attn__html_init(&h, allocator, error);
    attn__page_begin(&h, &plan);
    attn__data_open(&h, '{');
    write_look(&h, config, range);
    attn__packing packing = packing_of(look);
    attn__data_key(&h, "type");
    attn__data_string(&h, attn__packing_name(packing));
    attn__data_key(&h, "sentences");
    attn__data_open(&h, '[');
    for (int i = 0; i < look->n_panels; i += heads_of(config)) {
        write_sentence(&h, &look->panels[i], heads_of(config), packing);
    }
    attn__data_close(&h, ']');
    attn__data_close(&h, '}');
    return attn__page_end(&h, &plan, page);
}

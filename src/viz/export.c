/* The values of panels for other programs: .npy, TSV, JSON. What is no value is NaN there, and null in JSON. */
#include <math.h>
#include <string.h>

#include "core/file.h"
#include "io/io.h"
#include "viz/viz.h"

/* What one call works on. */
typedef struct job {
    const char *path;
    const attn_heatmap_panel *panels;
    int n;
    attn__out out;
    attn_error *error;
} job;

static double value_of(const attn_heatmap_panel *p, int64_t i)
{
    return attn__cell_kind(p, i) == ATTN__VALUE ? p->values[i] : NAN;
}

static void put_double(attn__out *o, double v)
{
    char text[ATTN__DOUBLE_SIZE];
    attn__format_double(v, text);
    attn__out_format(o, "%s", text);
}

/* ---- .npy ---- */

/* One panel is rows x columns, several of one size are panels x rows x columns. */
static attn_status write_npy(job *j)
{
    int64_t rows = j->panels[0].rows, columns = j->panels[0].columns;
    for (int i = 1; i < j->n; i++) {
        if (j->panels[i].rows != rows || j->panels[i].columns != columns) {
            return attn__fail(j->error, ATTN_ESHAPE,
                              "%s: panel %d is %d x %d, panel 1 is %lld x %lld, and one array has one size: JSON holds them all", j->path,
                              i + 1, j->panels[i].rows, j->panels[i].columns, (long long)rows, (long long)columns);
        }
    }
    size_t each = (size_t)rows * (size_t)columns; /* both are an int */
    double *all = attn__calloc(j->out.allocator, each, (size_t)j->n * sizeof *all);
    if (all == NULL) {
        return attn__fail(j->error, ATTN_ENOMEM, "%s: out of memory", j->path);
    }
    for (size_t i = 0; i < each * (size_t)j->n; i++) {
        all[i] = value_of(&j->panels[i / each], (int64_t)(i % each));
    }
    const int64_t shape[3] = {j->n, rows, columns};
    attn_status status = attn__write_npy(j->path, j->n > 1 ? shape : shape + 1, j->n > 1 ? 3 : 2, all, j->out.allocator, j->error);
    attn__free(j->out.allocator, all);
    return status;
}

/* ---- TSV ---- */

static attn_status check_tsv_labels(const job *j, const char *const *labels, int n, const char *what)
{
    for (int i = 0; i < n && labels != NULL; i++) {
        if (labels[i] != NULL && strpbrk(labels[i], "\t\r\n") != NULL) {
            return attn__fail(j->error, ATTN_EFORMAT, "%s: %s label %d holds a tab or a line end, which TSV cannot: JSON can", j->path,
                              what, i + 1);
        }
    }
    return ATTN_OK;
}

/* A number where there is no label. */
static void put_label(attn__out *o, const char *const *labels, int i)
{
    if (labels == NULL) {
        attn__out_format(o, "%d", i);
    } else if (labels[i] != NULL) {
        attn__out_bytes(o, labels[i], strlen(labels[i]));
    }
}

static attn_status write_tsv(job *j)
{
    const attn_heatmap_panel *p = &j->panels[0];
    bool labelled = p->row_labels != NULL || p->column_labels != NULL;
    if (j->n > 1) {
        return attn__fail(j->error, ATTN_ESHAPE, "%s: TSV holds one matrix, there are %d panels: JSON holds them all", j->path, j->n);
    }
    attn_status status = check_tsv_labels(j, p->row_labels, p->rows, "row");
    if (status == ATTN_OK) {
        status = check_tsv_labels(j, p->column_labels, p->columns, "column");
    }
    for (int c = 0; c < p->columns && labelled; c++) {
        attn__out_format(&j->out, c == 0 ? ATTN__TSV_CORNER "\t" : "\t");
        put_label(&j->out, p->column_labels, c);
    }
    for (int64_t i = 0; i < (int64_t)p->rows * p->columns && status == ATTN_OK; i++) {
        bool first = i % p->columns == 0;
        attn__out_format(&j->out, first && (i > 0 || labelled) ? "\n" : first ? "" : "\t");
        if (first && labelled) {
            put_label(&j->out, p->row_labels, (int)(i / p->columns));
            attn__out_format(&j->out, "\t");
        }
        put_double(&j->out, value_of(p, i));
    }
    attn__out_format(&j->out, "\n");
    return status;
}

/* ---- JSON ---- */

static void put_string(attn__out *o, const char *text)
{
    attn__out_bytes(o, "\"", 1);
    for (; *text != '\0'; text++) {
        unsigned char c = (unsigned char)*text;
        if (c < 0x20 || c == 0x7f) {
            attn__out_format(o, "\\u%04x", c);
        } else {
            attn__out_bytes(o, "\\", c == '"' || c == '\\');
            attn__out_bytes(o, text, 1);
        }
    }
    attn__out_bytes(o, "\"", 1);
}

static void put_labels(attn__out *o, const char *name, const char *const *labels, int n)
{
    for (int i = 0; i < n && labels != NULL; i++) {
        attn__out_format(o, i == 0 ? ",\n  \"%s\": [" : ", ", name);
        put_string(o, labels[i] != NULL ? labels[i] : "");
    }
    attn__out_format(o, labels != NULL ? "]" : "");
}

/* JSON has no infinity: it is a string. */
static void put_json_value(attn__out *o, double v)
{
    if (isnan(v)) {
        attn__out_format(o, "null");
    } else if (isinf(v)) {
        attn__out_format(o, v > 0 ? "\"inf\"" : "\"-inf\"");
    } else {
        put_double(o, v);
    }
}

static void put_panel(attn__out *o, const attn_heatmap_panel *p)
{
    attn__out_format(o, "{\"title\": ");
    put_string(o, p->title != NULL ? p->title : "");
    attn__out_format(o, ", \"group\": %d", p->group);
    if (p->heads > 0 && p->head < 0) {
        attn__out_format(o, ", \"heads\": %d, \"head\": \"mean\"", p->heads);
    } else if (p->heads > 0) {
        attn__out_format(o, ", \"heads\": %d, \"head\": %d", p->heads, p->head);
    }
    put_labels(o, "rows", p->row_labels, p->rows);
    put_labels(o, "columns", p->column_labels, p->columns);
    attn__out_format(o, ",\n  \"values\": [");
    for (int64_t i = 0; i < (int64_t)p->rows * p->columns; i++) {
        attn__out_format(o, i == 0 ? "[" : i % p->columns == 0 ? "],\n    [" : ", ");
        put_json_value(o, value_of(p, i));
    }
    attn__out_format(o, "]]}");
}

static attn_status write_json(job *j)
{
    attn__out_format(&j->out, "{\"schema\": \"" ATTN__WEIGHTS_SCHEMA "\", \"panels\": [\n");
    for (int i = 0; i < j->n; i++) {
        attn__out_format(&j->out, i > 0 ? ",\n" : "");
        put_panel(&j->out, &j->panels[i]);
    }
    attn__out_format(&j->out, "\n]}\n");
    return ATTN_OK;
}

/* ---- public ---- */

static attn_status check(const job *j)
{
    for (int i = 0; i < j->n; i++) {
        const attn_heatmap_panel *p = &j->panels[i];
        for (int k = 0; k < p->rows && p->row_labels != NULL; k++) {
            if (p->row_labels[k] != NULL && attn__utf8_fault(p->row_labels[k]) >= 0) {
                return attn__fail(j->error, ATTN_EFORMAT, "%s: row label %d of panel %d is not UTF-8", j->path, k + 1, i + 1);
            }
        }
        for (int k = 0; k < p->columns && p->column_labels != NULL; k++) {
            if (p->column_labels[k] != NULL && attn__utf8_fault(p->column_labels[k]) >= 0) {
                return attn__fail(j->error, ATTN_EFORMAT, "%s: column label %d of panel %d is not UTF-8", j->path, k + 1, i + 1);
            }
        }
    }
    return ATTN_OK;
}

attn_status attn_heatmap_export(const char *path, attn_export_format format, const attn_heatmap_panel *panels, int n,
                                const attn_allocator *allocator, attn_error *error)
{
    job j = {.path = path, .panels = panels, .n = n, .out = {.allocator = allocator}, .error = error};
    attn_status status = attn__check_panels(panels, n, error);
    if (status == ATTN_OK && (format < ATTN_EXPORT_NPY || format > ATTN_EXPORT_JSON)) {
        status = attn__fail(error, ATTN_EINVAL, "%s: no such format: %d", path, (int)format);
    }
    if (status == ATTN_OK) {
        status = check(&j);
    }
    if (status == ATTN_OK && format == ATTN_EXPORT_NPY) {
        return write_npy(&j);
    }
    if (status == ATTN_OK) {
        status = format == ATTN_EXPORT_TSV ? write_tsv(&j) : write_json(&j);
    }
    if (status == ATTN_OK && j.out.failed) {
        status = attn__fail(error, ATTN_ENOMEM, "%s: out of memory", path);
    }
    if (status == ATTN_OK) {
        status = attn_file_write(path, j.out.text, j.out.size, allocator, error);
    }
    attn__free(allocator, j.out.text);
    return status;
}

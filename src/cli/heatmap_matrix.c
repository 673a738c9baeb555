/* attn heatmap --matrix: a matrix and its labels as one panel. */
#include <limits.h>
#include <math.h>

#include "heatmap.h"

/* `labels` stays empty if there is no such file. */
static int read_labels(const char *path, const char *matrix, int64_t wanted, const char *what, attn_labels *labels)
{
    attn_error error;
    if (path == NULL) {
        return DONE;
    }
    if (attn_labels_read(path, labels, NULL, &error) != ATTN_OK) {
        return fail("%s", error.message);
    }
    if (labels->count != wanted) {
        return fail("%s: %lld label%s, the matrix %s has %lld %s", path, (long long)labels->count, labels->count == 1 ? "" : "s", matrix,
                    (long long)wanted, what);
    }
    return DONE;
}

/* Something must be a number. Weights lie in 0..1, other matrices need not. */
static int check_values(const heatmap_arguments *a, const attn_matrix *m)
{
    double low = INFINITY, high = -INFINITY;
    for (int64_t i = 0; i < m->rows * m->columns; i++) {
        low = m->values[i] < low ? m->values[i] : low;
        high = m->values[i] > high ? m->values[i] : high;
    }
    if (low > high) {
        return fail("%s: none of its %lld values is a number, nothing can be drawn", a->matrix, (long long)(m->rows * m->columns));
    }
    if (!a->has_vmin && !a->has_vmax && a->look.vmax > 0 && (low < a->look.vmin || high > a->look.vmax)) {
        note(a->request.quiet,
             "the values reach from %g to %g, the colours from %g to %g: --vmin and --vmax change that, to numbers or auto", low, high,
             a->look.vmin, a->look.vmax);
    }
    return DONE;
}

int draw_matrix(const heatmap_arguments *a)
{
    attn_error error;
    attn_matrix m;
    attn_labels rows = {0}, columns = {0};
    if (attn_matrix_read(a->matrix, &m, NULL, &error) != ATTN_OK) {
        return fail("%s", error.message);
    }
    int code = m.rows <= INT_MAX && m.columns <= INT_MAX ? DONE : fail("%s: too large for a picture", a->matrix);
    if (code == DONE) {
        code = read_labels(a->rows, a->matrix, m.rows, "rows", &rows);
    }
    if (code == DONE) {
        code = read_labels(a->columns, a->matrix, m.columns, "columns", &columns);
    }
    if (code == DONE) {
        code = check_values(a, &m);
    }
    if (code == DONE) {
        attn_heatmap_panel panel = {.rows = (int)m.rows, .columns = (int)m.columns, .values = m.values};
        panel.row_labels = a->rows != NULL ? rows.text : m.row_labels;
        panel.column_labels = a->columns != NULL ? columns.text : m.column_labels;
        code = draw_panels(a, &(panels){.panel = &panel, .n = 1});
    }
    attn_labels_free(&columns);
    attn_labels_free(&rows);
    attn_matrix_free(&m);
    return code;
}

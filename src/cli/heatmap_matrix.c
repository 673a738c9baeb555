/* attn heatmap --matrix: matrices and their labels as panels. */
#include <limits.h>
#include <math.h>
#include <stdlib.h>

#include "heatmap.h"

/* `labels` stays empty if there is no such file. */
static int read_labels(const char *path, attn_labels *labels)
{
    attn_error error;
    return path == NULL || attn_labels_read(path, labels, NULL, &error) == ATTN_OK ? DONE : fail("%s", error.message);
}

/* As many as the matrix wants. */
static int check_labels(const char *path, const attn_labels *labels, const char *matrix, int64_t wanted, const char *what)
{
    if (path != NULL && labels->count != wanted) {
        return fail("%s: %lld label%s, the matrix %s has %lld %s", path, (long long)labels->count, labels->count == 1 ? "" : "s", matrix,
                    (long long)wanted, what);
    }
    return DONE;
}

/* The ends of all values, which none narrows if it is no number. */
static void widen(const attn_matrix *m, double *low, double *high)
{
    for (int64_t i = 0; i < m->rows * m->columns; i++) {
        *low = m->values[i] < *low ? m->values[i] : *low;
        *high = m->values[i] > *high ? m->values[i] : *high;
    }
}

/* Something must be a number. Weights lie in 0..1, other matrices need not. */
static int check_values(const heatmap_arguments *a, const attn_matrices *all)
{
    double low = INFINITY, high = -INFINITY;
    long long values = 0;
    for (int64_t i = 0; i < all->count; i++) {
        widen(&all->matrix[i], &low, &high);
        values += all->matrix[i].rows * all->matrix[i].columns;
    }
    if (low > high) {
        return fail("%s: none of its %lld values is a number, nothing can be drawn", a->matrix, values);
    }
    bool drawn = a->output != NULL || (a->weights == NULL && !a->json);
    if (drawn && !a->has_vmin && !a->has_vmax && a->look.vmax > 0 && (low < a->look.vmin || high > a->look.vmax)) {
        note(a->request.quiet,
             "the values reach from %g to %g, the colours from %g to %g: --vmin and --vmax change that, to numbers or auto", low, high,
             a->look.vmin, a->look.vmax);
    }
    return DONE;
}

/* Labels of the command line go before those of the file. */
static int make_panel(const heatmap_arguments *a, const attn_matrix *m, const attn_labels *rows, const attn_labels *columns,
                      attn_heatmap_panel *panel)
{
    if (m->rows > INT_MAX || m->columns > INT_MAX) {
        return fail("%s: too large for a picture", a->matrix);
    }
    if (m->doubtful > 0 && a->columns == NULL) {
        note(a->request.quiet, "%s: its first line was taken for labels, since not all of its cells are numbers, but %lld of them are",
             a->matrix, (long long)m->doubtful);
    }
    *panel = (attn_heatmap_panel){.title = m->title, .rows = (int)m->rows, .columns = (int)m->columns, .values = m->values};
    panel->group = m->group;
    panel->row_labels = a->rows != NULL ? rows->text : m->row_labels;
    panel->column_labels = a->columns != NULL ? columns->text : m->column_labels;
    int code = check_labels(a->rows, rows, a->matrix, m->rows, "rows");
    return code == DONE ? check_labels(a->columns, columns, a->matrix, m->columns, "columns") : code;
}

static int draw_all(const heatmap_arguments *a, const attn_matrices *all, const attn_labels *rows, const attn_labels *columns)
{
    attn_heatmap_panel *panel = all->count <= INT_MAX ? calloc((size_t)all->count, sizeof *panel) : NULL;
    int code = panel != NULL ? DONE : fail("out of memory");
    for (int64_t i = 0; i < all->count && code == DONE; i++) {
        code = make_panel(a, &all->matrix[i], rows, columns, &panel[i]);
    }
    code = code == DONE ? check_values(a, all) : code;
    code = code == DONE ? draw_panels(a, &(panels){.panel = panel, .n = (int)all->count}) : code;
    free(panel);
    return code;
}

int draw_matrix(const heatmap_arguments *a)
{
    attn_error error;
    attn_matrices all;
    attn_labels rows = {0}, columns = {0};
    if (attn_matrices_read(a->matrix, &all, NULL, &error) != ATTN_OK) {
        return fail("%s", error.message);
    }
    int code = read_labels(a->rows, &rows);
    code = code == DONE ? read_labels(a->columns, &columns) : code;
    code = code == DONE ? draw_all(a, &all, &rows, &columns) : code;
    attn_labels_free(&columns);
    attn_labels_free(&rows);
    attn_matrices_free(&all);
    return code;
}

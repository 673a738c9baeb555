/* attn heatmap MODEL SENTENCE... -o FILE, attn heatmap --matrix FILE -o FILE */
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "heatmap.h"

typedef struct arguments {
    sentence_request request;
    const char *matrix, *rows, *columns, *output, *weights;
    attn_heatmap_config look;
    bool has_head, has_vmin, has_vmax, list;
} arguments;

enum {
    KEY_MATRIX = KEY_FIRST,
    KEY_ROWS,
    KEY_COLUMNS,
    KEY_HEAD,
    KEY_CMAP,
    KEY_VMIN,
    KEY_VMAX,
    KEY_DIGITS,
    KEY_ANNOTATE,
    KEY_FONT,
    KEY_SCALE,
    KEY_TITLE,
    KEY_ROW_TITLE,
    KEY_COLUMN_TITLE,
    KEY_BAR_TITLE,
    KEY_CELL,
    KEY_WEIGHTS
};

static const struct argp_option options[] = {
    {"output", 'o', "FILE", 0, "Where the picture goes, a PNG; - is standard output", 0},
    {"matrix", KEY_MATRIX, "FILE", 0, "Draw this matrix instead: .npy, .tsv or .json; - is standard input", 1},
    {"rows", KEY_ROWS, "FILE", 0, "Labels of its rows, one a line", 1},
    {"columns", KEY_COLUMNS, "FILE", 0, "Labels of its columns, one a line", 1},
    {"head", KEY_HEAD, "N|mean|all", 0, "One head, counted from 0; their mean (default); or a panel each", 2},
    {"save-weights", KEY_WEIGHTS, "FILE", 0, "Save the numbers of the first panel for NumPy, as .npy", 2},
    OPTION_THREADS(2),
    {"cmap", KEY_CMAP, "NAME|list", 0, "Colours (default blues); list prints the names", 3},
    {"vmin", KEY_VMIN, "X", 0, "Value of the first colour (default 0)", 3},
    {"vmax", KEY_VMAX, "X", 0, "Value of the last colour (default 1)", 3},
    {"digits", KEY_DIGITS, "N", 0, "Digits after the point (default 2)", 3},
    {"annotate", KEY_ANNOTATE, "auto|all|none|top=K", 0,
     "Numbers in the cells: where they fit (default), always, never, or in the K largest of each row", 3},
    {"font", KEY_FONT, "FILE[:FACE]", 0, "Font (default: one that has the characters of the labels)", 4},
    {"scale", KEY_SCALE, "N", 0, "Pixels a pixel, for screens of high density (default 1)", 4},
    {"cell", KEY_CELL, "N", 0, "Side of a cell in pixels (default: by the size of the matrix)", 4},
    {"title", KEY_TITLE, "TEXT", 0, "Line above everything", 4},
    {"row-title", KEY_ROW_TITLE, "TEXT", 0, "What the rows are (default query: who looks)", 4},
    {"column-title", KEY_COLUMN_TITLE, "TEXT", 0, "What the columns are (default key: looked at)", 4},
    {"bar-title", KEY_BAR_TITLE, "TEXT", 0, "What the colours are (default attention weight)", 4},
    {"quiet", 'q', NULL, 0, "No remarks on stderr", 5},
    {0},
};

/* ---- options ---- */

static int parse_head(const char *text, struct argp_state *state)
{
    if (text[0] >= '0' && text[0] <= '9') {
        return parse_int("head", text, 0, INT_MAX, state);
    }
    static const char *const names[] = {"mean", "all", NULL};
    return parse_choice("head", text, names, state) == 0 ? HEADS_MEAN : HEADS_ALL;
}

static void parse_annotate(const char *text, struct argp_state *state, attn_heatmap_config *look)
{
    static const char *const names[] = {"auto", "all", "none", "top=K", NULL};
    static const attn_annotate values[] = {ATTN_ANNOTATE_AUTO, ATTN_ANNOTATE_ALL, ATTN_ANNOTATE_NONE, ATTN_ANNOTATE_AUTO};
    bool top = strncmp(text, "top=", 4) == 0;
    look->annotate_top = top ? parse_int("annotate top", text + 4, 1, INT_MAX, state) : 0;
    look->annotate = top ? ATTN_ANNOTATE_AUTO : values[parse_choice("annotate", text, names, state)];
}

static const char *parse_cmap(const char *text, struct argp_state *state)
{
    char names[400] = "";
    if (attn_cmap_find(text) < 0) {
        for (int i = 0; i < attn_cmap_count(); i++) {
            size_t used = strlen(names);
            (void)snprintf(names + used, sizeof names - used, "%s%s", i > 0 ? ", " : "", attn_cmap_name(i));
        }
        argp_error(state, "--cmap is '%s', expected list or one of: %s", text, names);
    }
    return text;
}

/* ".svg" of a path, "" if it has none. */
static const char *extension(const char *path)
{
    const char *slash = strrchr(path, '/'), *name = slash != NULL ? slash + 1 : path, *dot = strrchr(name, '.');
    return dot != NULL && dot != name ? dot : "";
}

/* A picture must not have the name of what it is not; no extension at all is fine ("-", devices). */
static void check_extension(const char *option, const char *path, const char *wanted, const char *what, struct argp_state *state)
{
    if (extension(path)[0] != '\0' && strcasecmp(extension(path), wanted) != 0) {
        argp_error(state, "%s: this version writes %s, expected a name that ends in %s for %s", path, what, wanted, option);
    }
}

static bool is_stdio(const char *path)
{
    return path != NULL && strcmp(path, "-") == 0;
}

static void check_arguments(arguments *a, struct argp_state *state)
{
    attn_heatmap_config *look = &a->look;
    look->vmax = a->has_vmax ? look->vmax : 1;
    if (a->list) {
        return;
    }
    if (a->matrix == NULL && a->request.model == NULL) {
        argp_error(state, "a model or --matrix is missing");
    } else if (a->matrix != NULL && (a->request.model != NULL || a->has_head)) {
        argp_error(state, "--matrix draws a matrix as it is: no model, sentence or --head goes with it");
    } else if (a->matrix == NULL && (a->rows != NULL || a->columns != NULL)) {
        argp_error(state, "--rows and --columns are labels for --matrix; a sentence is labelled by its words");
    } else if (a->output == NULL && a->weights == NULL) {
        argp_error(state, "an output is missing: -o FILE.png");
    } else if (is_stdio(a->output) && is_stdio(a->weights)) {
        argp_error(state, "the picture and the weights cannot both go to standard output");
    } else if (is_stdio(a->matrix) + is_stdio(a->rows) + is_stdio(a->columns) > 1) {
        argp_error(state, "only one of --matrix, --rows and --columns can be standard input");
    } else if (!(look->vmin < look->vmax)) {
        argp_error(state, "the colours reach from %g to %g, expected --vmin below --vmax", look->vmin, look->vmax);
    }
}

/* Options of how the picture looks. */
static error_t parse_look(int key, char *text, arguments *a, struct argp_state *state)
{
    const double most = 1e300;
    switch (key) {
    case KEY_CMAP:
        a->list = strcmp(text, "list") == 0;
        a->look.cmap = a->list ? NULL : parse_cmap(text, state);
        return 0;
    case KEY_VMIN:
        a->look.vmin = parse_real("vmin", text, -most, most, state);
        a->has_vmin = true;
        return 0;
    case KEY_VMAX:
        a->look.vmax = parse_real("vmax", text, -most, most, state);
        a->has_vmax = true;
        return 0;
    case KEY_DIGITS:
        a->look.digits = parse_int("digits", text, 0, 15, state);
        a->look.digits = a->look.digits == 0 ? -1 : a->look.digits;
        return 0;
    case KEY_ANNOTATE:
        parse_annotate(text, state, &a->look);
        return 0;
    case KEY_FONT:
        a->look.font = text;
        return 0;
    case KEY_SCALE:
        a->look.scale = parse_int("scale", text, 1, 16, state);
        return 0;
    case KEY_CELL:
        a->look.cell = parse_int("cell", text, 1, 100000, state);
        return 0;
    case KEY_TITLE:
        a->look.title = text;
        return 0;
    case KEY_ROW_TITLE:
        a->look.row_title = text;
        return 0;
    case KEY_COLUMN_TITLE:
        a->look.column_title = text;
        return 0;
    case KEY_BAR_TITLE:
        a->look.bar_title = text;
        return 0;
    default:
        return parse_common(key, text, state, (common_options){.quiet = &a->request.quiet, .threads = &a->request.threads});
    }
}

static error_t parse_option(int key, char *text, struct argp_state *state)
{
    arguments *a = state->input;
    switch (key) {
    case 'o':
        check_extension("-o", text, ".png", "PNG", state);
        a->output = text;
        return 0;
    case KEY_MATRIX:
        a->matrix = text;
        return 0;
    case KEY_ROWS:
        a->rows = text;
        return 0;
    case KEY_COLUMNS:
        a->columns = text;
        return 0;
    case KEY_HEAD:
        a->request.head = parse_head(text, state);
        a->has_head = true;
        return 0;
    case KEY_WEIGHTS:
        check_extension("--save-weights", text, ".npy", "weights as NumPy does", state);
        a->weights = text;
        return 0;
    case ARGP_KEY_ARG:
        if (a->request.model == NULL) {
            a->request.model = text;
            return 0;
        }
        a->request.sentences = rest_of_arguments(state, &a->request.n);
        return 0;
    case ARGP_KEY_END:
        check_arguments(a, state);
        return 0;
    default:
        return parse_look(key, text, a, state);
    }
}

static const struct argp argp = {
    options,
    parse_option,
    "MODEL [SENTENCE...] -o FILE.png\n--matrix FILE [--rows FILE] [--columns FILE] -o FILE.png",
    "Draws who attends to whom in sentences, a panel for each: rows are the words that look, columns those that are looked at, darker is "
    "more. Words of a sentence are separated by spaces; without SENTENCE, sentences are read from standard input, one a line. Or draws any "
    "matrix in the same way.",
    NULL,
    NULL,
    NULL};

/* ---- output ---- */

static int save_weights(const char *path, const attn_heatmap_panel *panel)
{
    attn_error error;
    const attn_matrix m = {.rows = panel->rows, .columns = panel->columns, .values = (double *)panel->values};
    return attn_matrix_write_npy(path, &m, NULL, &error) == ATTN_OK ? DONE : fail("%s", error.message);
}

void print_notes(const attn_image *image, bool quiet)
{
    for (const char *line = image->notes; *line != '\0';) {
        size_t n = strcspn(line, "\n");
        note(quiet, "%.*s", (int)n, line);
        line += n + (line[n] == '\n');
    }
}

/* Weights first: they need no font and no room for pixels. */
static int write_outputs(arguments *a, const attn_heatmap_panel *panel, int n)
{
    attn_error error;
    attn_image image;
    int code = a->weights != NULL ? save_weights(a->weights, &panel[0]) : DONE;
    if (code != DONE || a->output == NULL) {
        return code;
    }
    a->look.panels = panel;
    a->look.n_panels = n;
    if (attn_heatmap_draw(&a->look, &image, NULL, NULL, &error) != ATTN_OK) {
        return fail("%s", error.message);
    }
    print_notes(&image, a->request.quiet);
    if (attn_png_write(a->output, &image, &error) != ATTN_OK) {
        code = fail("%s", error.message);
    }
    attn_image_free(&image);
    return code;
}

/* ---- a matrix ---- */

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

/* Weights lie in 0..1, other matrices need not. */
static void note_range(const arguments *a, const attn_matrix *m)
{
    double low = INFINITY, high = -INFINITY;
    for (int64_t i = 0; i < m->rows * m->columns; i++) {
        low = m->values[i] < low ? m->values[i] : low;
        high = m->values[i] > high ? m->values[i] : high;
    }
    if (!a->has_vmin && !a->has_vmax && (low < a->look.vmin || high > a->look.vmax)) {
        note(a->request.quiet, "the values reach from %g to %g, the colours from %g to %g: --vmin and --vmax change that", low, high,
             a->look.vmin, a->look.vmax);
    }
}

static int draw_matrix(arguments *a)
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
        attn_heatmap_panel panel = {.rows = (int)m.rows, .columns = (int)m.columns, .values = m.values};
        panel.row_labels = a->rows != NULL ? rows.text : m.row_labels;
        panel.column_labels = a->columns != NULL ? columns.text : m.column_labels;
        note_range(a, &m);
        code = write_outputs(a, &panel, 1);
    }
    attn_labels_free(&columns);
    attn_labels_free(&rows);
    attn_matrix_free(&m);
    return code;
}

/* ---- sentences ---- */

static int draw_sentences(arguments *a)
{
    panels p;
    int code = panels_of_sentences(&a->request, &p);
    if (code == DONE) {
        code = write_outputs(a, p.panel, p.n);
    }
    panels_free(&p);
    return code;
}

int cmd_heatmap(int argc, char **argv)
{
    arguments a = {.request.head = HEADS_MEAN};
    parse(&argp, argc, argv, &a);
    if (a.list) {
        for (int i = 0; i < attn_cmap_count(); i++) {
            puts(attn_cmap_name(i));
        }
        return DONE;
    }
    return a.matrix != NULL ? draw_matrix(&a) : draw_sentences(&a);
}

/* attn heatmap MODEL SENTENCE... -o FILE, attn heatmap --matrix FILE -o FILE */
#include <limits.h>
#include <math.h>
#include <string.h>

#include "heatmap.h"

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
    KEY_WEIGHTS,
    KEY_COLOR
};

static const struct argp_option options[] = {
    {"output", 'o', "FILE", 0,
     "Where the picture goes: .png, .svg or .html, a page to explore; - is standard output, a PNG. Default: to the terminal as text", 0},
    {"matrix", KEY_MATRIX, "FILE", 0, "Draw this matrix instead: .npy, .tsv or .json; - is standard input", 1},
    {"rows", KEY_ROWS, "FILE", 0, "Labels of the rows of --matrix, one a line", 1},
    {"columns", KEY_COLUMNS, "FILE", 0, "Labels of the columns of --matrix, one a line", 1},
    {"head", KEY_HEAD, "N|mean|all", 0,
     "One head, counted from 0; their mean (default); or a panel each. A page has them all and shows this first", 2},
    {"save-weights", KEY_WEIGHTS, "FILE", 0, "Save the numbers for other programs, as .npy, .tsv or .json (all panels, with their labels)",
     2},
    OPTION_TOKENIZE(2),
    OPTION_THREADS(2),
    {"cmap", KEY_CMAP, "NAME|list", 0, "Colours (default blues); list shows all maps", 3},
    {"vmin", KEY_VMIN, "X|auto", 0, "Value of the first colour (default 0); auto: the least value", 3},
    {"vmax", KEY_VMAX, "X|auto", 0,
     "Value of the last colour (default 1); auto: the largest value. Of blue_red both are by default as far from 0 as the values reach", 3},
    {"digits", KEY_DIGITS, "N", 0, "Digits after the point (default 2)", 3},
    {"annotate", KEY_ANNOTATE, "auto|all|none|top=K", 0,
     "Numbers in the cells: where they fit (default), always, never, or in the K largest of each row", 3},
    {"color", KEY_COLOR, "auto|always|never", 0, "Colours in the terminal (default: if it has them and NO_COLOR is not set)", 3},
    {"font", KEY_FONT, "FILE[:FACE]", 0,
     "Font (default: one that has the characters of the labels); a broken one is an error, and built-in letters stand for it", 4},
    {"scale", KEY_SCALE, "N", 0, "Everything N times as large, for screens of high density (default 1)", 4},
    OPTION_LANG(4),
    {"cell", KEY_CELL, "N", 0, "Side of a cell in pixels (default: by the size of the matrix)", 4},
    {"title", KEY_TITLE, "TEXT", 0, "Line above everything", 4},
    {"row-title", KEY_ROW_TITLE, "TEXT", 0, "What the rows are (default query: who looks)", 4},
    {"column-title", KEY_COLUMN_TITLE, "TEXT", 0, "What the columns are (default key: looked at)", 4},
    {"bar-title", KEY_BAR_TITLE, "TEXT", 0, "What the colours are (default attention weight)", 4},
    {"json", 'j', NULL, 0, "Print the numbers of all panels as one JSON object, schema attn.weights/1", 2},
    {"quiet", 'q', NULL, 0, "No remarks on stderr", 5},
    {0},
};

/* ---- options ---- */

static const char *const heads[] = {"mean", "all", NULL}; /* as ATTN_HEAD_MEAN, ATTN_HEAD_ALL */

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

/* A file must not have the name of what it is not; no extension at all is fine ("-", devices). */
static void check_format(const char *option, const char *path, const output_format *formats, struct argp_state *state)
{
    char names[200];
    if (format_of(path, formats) == NULL) {
        argp_error(state, "%s: expected a name that ends in %s for %s", path, format_names(formats, names, sizeof names), option);
    }
}

static void check_arguments(heatmap_arguments *a, struct argp_state *state)
{
    attn_heatmap_config *look = &a->look;
    if (!a->has_vmax && (a->has_vmin || !attn_cmap_diverges(attn_cmap_find(look->cmap != NULL ? look->cmap : "blues")))) {
        look->vmax = 1;
    }
    if (a->list) {
        return;
    }
    if (a->matrix == NULL && a->request.model == NULL) {
        argp_error(state, "a model or --matrix is missing");
    } else if (a->matrix != NULL && (a->request.model != NULL || a->has_head)) {
        argp_error(state, "--matrix draws a matrix as it is: no model, sentence or --head goes with it");
    } else if (a->matrix == NULL && (a->rows != NULL || a->columns != NULL)) {
        argp_error(state, "--rows and --columns are labels for --matrix; a sentence is labelled by its words");
    } else if (is_stdio(a->output) + is_stdio(a->weights) + a->json > 1) {
        argp_error(state, "only one of the picture, the weights and --json can go to standard output");
    } else if (is_stdio(a->matrix) + is_stdio(a->rows) + is_stdio(a->columns) > 1) {
        argp_error(state, "only one of --matrix, --rows and --columns can be standard input");
    } else if (look->vmin >= look->vmax && (look->vmin != 0 || look->vmax != 0 || a->has_vmax)) {
        argp_error(state, "the colours reach from %g to %g, expected --vmin below --vmax", look->vmin, look->vmax);
    }
}

/* NAN: the values decide. */
static double parse_range(const char *option, const char *text, struct argp_state *state)
{
    const double most = 1e300;
    return strcmp(text, "auto") == 0 ? NAN : parse_real(option, text, -most, most, state);
}

/* Options of how the picture looks. */
static error_t parse_look(int key, char *text, heatmap_arguments *a, struct argp_state *state)
{
    switch (key) {
    case KEY_CMAP:
        a->list = strcmp(text, "list") == 0;
        a->look.cmap = a->list ? NULL : parse_cmap(text, state);
        return 0;
    case KEY_VMIN:
        a->look.vmin = parse_range("vmin", text, state);
        a->has_vmin = true;
        return 0;
    case KEY_VMAX:
        a->look.vmax = parse_range("vmax", text, state);
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
        return parse_common(key, text, state,
                            (common_options){.json = &a->json,
                                             .quiet = &a->request.quiet,
                                             .threads = &a->request.threads,
                                             .tokenize = &a->request.tokenize,
                                             .language = &a->language});
    }
}

static error_t parse_option(int key, char *text, struct argp_state *state)
{
    heatmap_arguments *a = state->input;
    switch (key) {
    case 'o':
        check_format("-o", text, picture_formats, state);
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
        a->request.head = parse_index_or("head", text, heads, state);
        a->has_head = true;
        return 0;
    case KEY_COLOR: {
        static const char *const wishes[] = {"auto", "always", "never", NULL};
        a->color = (color_wish)parse_choice("color", text, wishes, state);
        return 0;
    }
    case KEY_WEIGHTS:
        check_format("--save-weights", text, weights_formats, state);
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
    "MODEL [SENTENCE...] [-o FILE]\n--matrix FILE [--rows FILE] [--columns FILE] [-o FILE]",
    "Draws who attends to whom in sentences, a panel for each: rows are the words that look, columns those that are looked at, darker is "
    "more. Without SENTENCE, or where it is -, sentences are read from standard input, one a line. Or draws any matrix in the same way.",
    NULL,
    NULL,
    NULL};

/* ---- running ---- */

/* Kinds of pictures. */
enum { TERMINAL = 1, PNG = 2, SVG = 4, PAGE = 8, ANY = 15 };

static unsigned kind_of(const heatmap_arguments *a)
{
    static const unsigned kinds[] = {PNG, SVG, PAGE}; /* in the order of picture_formats */
    return a->output != NULL                ? kinds[format_of(a->output, picture_formats) - picture_formats]
           : a->weights == NULL && !a->json ? TERMINAL
                                            : 0;
}

/* Options that what is made has no use for. */
static void note_idle_options(const heatmap_arguments *a)
{
    static const struct {
        int key;
        unsigned kinds; /* on which it has an effect */
    } looks[] = {{KEY_CMAP, ANY},      {KEY_VMIN, ANY},       {KEY_VMAX, ANY},        {KEY_DIGITS, ANY},
                 {KEY_ANNOTATE, ANY},  {KEY_TITLE, ANY},      {KEY_ROW_TITLE, ANY},   {KEY_COLUMN_TITLE, ANY},
                 {KEY_BAR_TITLE, ANY}, {KEY_FONT, PNG | SVG}, {KEY_SCALE, PNG | SVG}, {KEY_CELL, ANY - TERMINAL},
                 {KEY_LANG, PAGE},     {KEY_COLOR, TERMINAL}};
    static const char *const where[] = {
        [0] = "where nothing is drawn", [TERMINAL] = "in a terminal", [PNG] = "on a PNG", [SVG] = "on an SVG", [PAGE] = "on a page"};
    unsigned kind = kind_of(a);
    for (size_t i = 0; i < sizeof looks / sizeof looks[0]; i++) {
        note_idle(a->request.quiet, looks[i].key, (looks[i].kinds & kind) == 0, where[kind]);
    }
    note_idle(a->request.quiet, KEY_TOKENIZE, a->matrix != NULL, "on a matrix");
}

/* For want of an output: to the terminal. */
static int print_heatmap(const heatmap_arguments *a, const attn_heatmap_config *look)
{
    attn_error error;
    attn_document lines;
    if (attn_heatmap_terminal(look, terminal_of_output(a->color), &lines, NULL, &error) != ATTN_OK) {
        return fail("%s", error.message);
    }
    print_notes(lines.notes, a->request.quiet);
    fputs(lines.text, stdout);
    attn_document_free(&lines);
    return DONE;
}

/* Weights first: they need no font and no room for pixels. */
int draw_panels(const heatmap_arguments *a, const panels *p)
{
    drawing d = {.look = a->look, .language = a->language};
    d.look.panels = p->panel;
    d.look.n_panels = p->n;
    int code = a->weights != NULL ? output_write(a->weights, weights_formats, &d, a->request.quiet) : DONE;
    if (code == DONE && a->json) {
        code = json_format.write("-", &d, a->request.quiet);
    }
    if (code != DONE || a->output == NULL) {
        return code == DONE && a->weights == NULL && !a->json ? print_heatmap(a, &d.look) : code;
    }
    if (p->every != NULL) {
        d.look.panels = p->every;
        d.look.n_panels = p->n_every;
        d.heads = p->heads;
        d.head = a->request.head;
    }
    return output_write(a->output, picture_formats, &d, a->request.quiet);
}

static int draw_sentences(heatmap_arguments *a)
{
    panels p;
    a->request.every_head = a->output != NULL && format_of(a->output, picture_formats)->every_head;
    int code = panels_of_sentences(&a->request, &p);
    if (code == DONE) {
        code = draw_panels(a, &p);
    }
    panels_free(&p);
    return code;
}

int cmd_heatmap(int argc, char **argv)
{
    heatmap_arguments a = {.request.head = ATTN_HEAD_MEAN};
    parse(&argp, argc, argv, &a);
    if (a.list) {
        print_cmaps(a.color);
        return DONE;
    }
    note_idle_options(&a);
    const char *const others[] = {a.request.model, a.matrix, a.rows, a.columns, a.weights};
    if (overwrites(a.output, others, 5) || overwrites(a.weights, others, 4)) {
        return FAILED;
    }
    return a.matrix != NULL ? draw_matrix(&a) : draw_sentences(&a);
}

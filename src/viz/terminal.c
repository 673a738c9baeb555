/* The plot as lines for a terminal. */
#include <stdio.h>
#include <string.h>

#include "viz/viz.h"

enum {
    LABEL_MOST = 20, /* columns of a row label */
    LEVEL_MOST = 12, /* a column grows up to here for a label that stays level */
    STACK_MOST = 12, /* lines of a label whose characters stand one below the other */
    RULE = 10,       /* where there is no room for labels, every so many columns are counted */
    BAR = 24,        /* columns of the colour bar */
    UNLIMITED = 1 << 24
};

/* How a cell is shown: its number on its colour; its colour (or a digit) in two columns; in one, two rows a line. */
typedef enum look { NUMBERS, TINTS, DOTS } look;

/* What one call works on. */
typedef struct page {
    const attn__plot *plot;
    attn_terminal terminal;
    attn__out out;
    int panel; /* the one that is written, and how: */
    look look;
    int label, cell, block; /* columns of row labels and of a cell; values a side of a cell */
    bool hidden_numbers, blocks;
} page;

static const uint8_t hidden_ground[3] = {0xd9, 0xd9, 0xd9};

static int min(int a, int b)
{
    return a < b ? a : b;
}

static int max(int a, int b)
{
    return a > b ? a : b;
}

static int ceil_div(int a, int b)
{
    return (a + b - 1) / b;
}

static bool colored(const page *p)
{
    return p->terminal.colors != ATTN_COLORS_NONE;
}

static void spaces(page *p, int n)
{
    for (int i = 0; i < n; i++) {
        attn__out_bytes(&p->out, " ", 1);
    }
}

/* Without colours, blanks at the end of a line show nothing. */
static void end_line(page *p)
{
    while (!colored(p) && p->out.size > 0 && p->out.text[p->out.size - 1] == ' ') {
        p->out.size--;
    }
    attn__out_format(&p->out, colored(p) ? "\033[0m\n" : "\n");
}

static const attn__plot_panel *panel_of(const page *p)
{
    return &p->plot->panels[p->panel];
}

static int rows(const page *p)
{
    return ceil_div(panel_of(p)->data->rows, p->block);
}

static int columns(const page *p)
{
    return ceil_div(panel_of(p)->data->columns, p->block);
}

/* ---- how a panel is shown ---- */

static int widest(const attn__text *labels, int n)
{
    int most = 0;
    for (int i = 0; i < n; i++) {
        most = max(most, attn__text_columns(&labels[i]));
    }
    return most;
}

/* The roomiest way that fits between the columns of the terminal. */
static void choose(page *p)
{
    const attn__plot_panel *panel = panel_of(p);
    int n = panel->data->columns, width = p->terminal.columns > 0 ? p->terminal.columns : UNLIMITED, number = (int)strlen(p->plot->widest);
    p->label = min(min(widest(panel->row_labels, panel->data->rows), LABEL_MOST), width / 3);
    int room = max(width - p->label - 1, 1);
    const int wide[] = {max(number + 2, min(widest(panel->column_labels, n), LEVEL_MOST) + 1), number + 2, number + 1};
    p->block = 1;
    p->look = NUMBERS;
    for (int i = 0; i < 3 && p->plot->annotate != ATTN_ANNOTATE_NONE; i++) {
        p->cell = wide[i];
        if (n <= room / p->cell || (i == 2 && p->plot->annotate == ATTN_ANNOTATE_ALL)) {
            return;
        }
    }
    p->hidden_numbers = p->hidden_numbers || p->plot->annotate == ATTN_ANNOTATE_AUTO;
    p->look = n <= room / 2 ? TINTS : DOTS;
    p->cell = p->look == TINTS ? 2 : 1;
    p->block = p->look == TINTS ? 1 : ceil_div(n, room);
    p->blocks = p->blocks || p->block > 1;
}

/* ---- labels of the columns ---- */

static void put_level_labels(page *p)
{
    spaces(p, p->label + 1);
    for (int c = 0; c < columns(p); c++) {
        const attn__text *t = &panel_of(p)->column_labels[c];
        int left = (p->cell - min(attn__text_columns(t), p->cell)) / 2;
        spaces(p, left);
        int used = attn__put_columns(&p->out, t, p->cell - left);
        spaces(p, p->cell - left - used);
    }
    end_line(p);
}

/* The characters of each label one below the other, down to the cells. */
static void put_stacked_labels(page *p)
{
    const attn__text *labels = panel_of(p)->column_labels;
    int lines = 1;
    for (int c = 0; c < columns(p); c++) {
        lines = max(lines, min(attn__graphemes(&labels[c]), STACK_MOST));
    }
    for (int line = 0; line < lines; line++) {
        spaces(p, p->label + 1);
        for (int c = 0; c < columns(p); c++) {
            int n = attn__graphemes(&labels[c]), which = line - (lines - min(n, STACK_MOST)), left = (p->cell - 1) / 2, used = 0;
            spaces(p, left);
            if (n > STACK_MOST && which == STACK_MOST - 1) {
                attn__out_code(&p->out, ATTN__ELLIPSIS);
                used = 1;
            } else if (which >= 0) {
                used = attn__put_grapheme(&p->out, &labels[c], which);
            }
            spaces(p, p->cell - left - used);
        }
        end_line(p);
    }
}

static void put_rule(page *p)
{
    spaces(p, p->label + 1);
    for (int c = 0; c < columns(p); c += RULE) {
        char number[16];
        int n = snprintf(number, sizeof number, "%d", c * p->block);
        int room = min(RULE, columns(p) - c);
        if (n < RULE && n <= room) {
            attn__out_format(&p->out, "%s", number);
            spaces(p, room - n);
        }
    }
    end_line(p);
}

/* ---- cells ---- */

/* A digit for tenths of the range, so that the eye finds the large ones. */
static char tenths(int step)
{
    int digit = step * 10 / ATTN__STEPS;
    return (char)(digit > 0 ? '0' + digit : '.');
}

static attn__cell value_of(const page *p, int row, int column, int *step)
{
    double v;
    attn__cell kind = attn__block_value(p->plot, p->panel, p->block, row, column, &v);
    *step = kind == ATTN__VALUE ? attn__plot_step(p->plot, v) : 0;
    return kind;
}

static const uint8_t *ground_of(const page *p, attn__cell kind, int step)
{
    return kind == ATTN__VALUE ? p->plot->color[step] : hidden_ground;
}

/* Its number, right-aligned with those above and below it. */
static void put_number(page *p, int row, int column, attn__cell kind)
{
    char text[ATTN__NUMBER_SIZE] = "", sequence[ATTN_SEQUENCE_SIZE];
    int64_t i = (int64_t)row * panel_of(p)->data->columns + column;
    int step, number = (int)strlen(p->plot->widest);
    kind = value_of(p, row, column, &step);
    if (kind == ATTN__VALUE && attn__shows_number(p->plot, panel_of(p)->data, i)) {
        attn__number_fixed(attn__cell_number(panel_of(p)->data, i), p->plot->digits, text);
    } else if (kind != ATTN__VALUE) {
        (void)strcpy(text, kind == ATTN__MASKED ? "/" : "\\");
    }
    int left = p->cell - (p->cell - number) / 2 - (int)strlen(text);
    left = max(left, 0);
    attn__out_format(&p->out, "%s%*s%s", attn_terminal_ground(p->terminal.colors, ground_of(p, kind, step), sequence), left, "", text);
    spaces(p, max(p->cell - left - (int)strlen(text), 0));
}

static void put_tint(page *p, attn__cell kind, int step)
{
    char sequence[ATTN_SEQUENCE_SIZE], sign = kind == ATTN__MASKED ? '/' : kind == ATTN__NAN ? '\\' : colored(p) ? ' ' : tenths(step);
    attn__out_format(&p->out, "%s%c", attn_terminal_ground(p->terminal.colors, ground_of(p, kind, step), sequence), sign);
    spaces(p, p->cell - 1);
}

/* Two rows in one line: the upper half of the character and its ground. */
static void put_halves(page *p, int row, int column)
{
    int step;
    attn__cell kind = value_of(p, row, column, &step);
    const uint8_t *upper = ground_of(p, kind, step), *lower = NULL;
    if (row + 1 < rows(p)) {
        kind = value_of(p, row + 1, column, &step);
        lower = ground_of(p, kind, step);
    }
    attn__put_colors(&p->out, p->terminal.colors, upper, lower);
    attn__out_format(&p->out, "\u2580");
}

static void put_row(page *p, int row)
{
    const attn__text *label = &panel_of(p)->row_labels[row * p->block];
    spaces(p, p->label - min(attn__text_columns(label), p->label));
    (void)attn__put_columns(&p->out, label, p->label);
    spaces(p, 1);
    for (int c = 0; c < columns(p); c++) {
        int step;
        attn__cell kind = value_of(p, row, c, &step);
        if (p->look == NUMBERS) {
            put_number(p, row, c, kind);
        } else if (p->look == DOTS && colored(p)) {
            put_halves(p, row, c);
        } else {
            put_tint(p, kind, step);
        }
    }
    end_line(p);
}

static void put_panel(page *p)
{
    const attn__plot_panel *panel = panel_of(p);
    choose(p);
    if (panel->title.n > 0) {
        spaces(p, p->label + 1);
        (void)attn__put_columns(&p->out, &panel->title, p->terminal.columns > 0 ? max(p->terminal.columns - p->label - 1, 1) : UNLIMITED);
        end_line(p);
    }
    if (p->look == DOTS) {
        put_rule(p);
    } else if (widest(panel->column_labels, panel->data->columns) <= p->cell) {
        put_level_labels(p);
    } else {
        put_stacked_labels(p);
    }
    for (int r = 0; r < rows(p); r += p->look == DOTS && colored(p) ? 2 : 1) {
        put_row(p, r);
    }
}

/* ---- what it all means ---- */

static void put_text_line(page *p, const char *before, const attn__text *t)
{
    int room = p->terminal.columns > 0 ? max(p->terminal.columns - (int)strlen(before), 1) : UNLIMITED;
    if (t->n > 0) {
        attn__out_format(&p->out, "%s", before);
        (void)attn__put_columns(&p->out, t, room);
        attn__out_format(&p->out, "\n");
    }
}

static void put_bar(page *p)
{
    const attn__plot *plot = p->plot;
    attn__out_format(&p->out, "         ");
    (void)attn__put_columns(&p->out, &plot->tick[0], BAR);
    attn__out_format(&p->out, plot->below ? "\u25c2" : " ");
    for (int i = 0; i < BAR; i++) {
        char sequence[ATTN_SEQUENCE_SIZE];
        double part = i / (BAR - 1.0);
        int step = attn__plot_step(plot, plot->vmin * (1 - part) + plot->vmax * part);
        attn__out_format(&p->out, "%s ", attn_terminal_ground(p->terminal.colors, plot->color[step], sequence));
    }
    attn__out_format(&p->out, plot->above ? "\033[0m\u25b8" : "\033[0m ");
    (void)attn__put_columns(&p->out, &plot->tick[ATTN__TICKS - 1], BAR);
    attn__out_format(&p->out, "\n");
}

static void put_legend(page *p)
{
    const attn__plot *plot = p->plot;
    bool digits = p->hidden_numbers || plot->annotate == ATTN_ANNOTATE_NONE;
    put_text_line(p, "rows     ", &plot->row_title);
    put_text_line(p, "columns  ", &plot->column_title);
    put_text_line(p, colored(p) ? "colours  " : digits ? "digits   " : "numbers  ", &plot->bar_title);
    if (colored(p)) {
        put_bar(p);
    } else if (digits) {
        attn__out_format(&p->out, "         in tenths of the way from ");
        (void)attn__put_columns(&p->out, &plot->tick[0], BAR);
        attn__out_format(&p->out, " to ");
        (void)attn__put_columns(&p->out, &plot->tick[ATTN__TICKS - 1], BAR);
        attn__out_format(&p->out, "; a point is less than one\n");
    }
    if (p->blocks) {
        attn__out_format(&p->out, "blocks   a cell is the %s of its block\n", plot->diverging ? "farthest from 0" : "maximum");
    }
    put_text_line(p, "/        ", &plot->caption[ATTN__LEGEND_MASKED]);
    put_text_line(p, "\\        ", &plot->caption[ATTN__LEGEND_NAN]);
}

static void write_page(page *p)
{
    const attn__text *title = &p->plot->title;
    put_text_line(p, "", title);
    for (p->panel = 0; p->panel < p->plot->n_panels; p->panel++) {
        attn__out_format(&p->out, p->panel > 0 || title->n > 0 ? "\n" : "");
        put_panel(p);
    }
    attn__out_format(&p->out, "\n");
    put_legend(p);
}

attn_status attn_heatmap_terminal(const attn_heatmap_config *config, attn_terminal terminal, attn_document *lines,
                                  const attn_allocator *allocator, attn_error *error)
{
    attn__arena memory;
    attn__fonts fonts;
    attn__plot plot;
    page p = {.plot = &plot, .terminal = terminal, .out = {.allocator = allocator}};
    *lines = (attn_document){0};
    attn__arena_init(&memory, allocator);
    attn_status status = attn__fonts_init(&fonts, &memory, allocator, error);
    if (status == ATTN_OK) {
        status = attn__plot_read(&plot, config, &fonts, error);
    }
    if (status == ATTN_OK) {
        write_page(&p);
        status = attn__out_end(&p.out, lines, error);
    }
    if (status == ATTN_OK && p.hidden_numbers) {
        (void)snprintf(lines->notes, sizeof lines->notes, "numbers are hidden: %d columns are too few for them\n", terminal.columns);
    }
    attn__fonts_free(&fonts);
    attn__arena_free(&memory);
    return status;
}

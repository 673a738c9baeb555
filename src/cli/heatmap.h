/* attn heatmap: what its files share, and some of it with the pictures of other subcommands. */
#ifndef ATTN_CLI_HEATMAP_H
#define ATTN_CLI_HEATMAP_H

#include "cli.h"

typedef struct sentence_request {
    const char *model;
    char **sentences; /* of the command line; n = 0: from standard input, one a line */
    int n;
    int head, threads; /* a number, ATTN_HEAD_MEAN or ATTN_HEAD_ALL */
    bool every_head;   /* also fill panels.every */
    attn_tokenization tokenize;
    bool quiet;
} sentence_request;

/* --color */
typedef enum color_wish { COLOR_AUTO, COLOR_ALWAYS, COLOR_NEVER } color_wish;

/* What the command line asks for. */
typedef struct heatmap_arguments {
    sentence_request request;
    const char *matrix, *rows, *columns, *output, *weights;
    attn_heatmap_config look; /* without panels */
    attn_language language;
    color_wish color;
    bool has_head, has_vmin, has_vmax, list, json;
} heatmap_arguments;

/* ---- outputs.c ---- */

/* What is drawn: a picture is made of `look` alone. */
typedef attn_heatmap_page_config drawing;

/* A kind of file that a heatmap can become. `write` returns DONE, or FAILED after a message; its remarks are silent if `quiet`. */
typedef struct output_format {
    const char *extension; /* with its dot, in lower case; NULL ends a list */
    int (*write)(const char *path, const drawing *d, bool quiet);
    bool every_head; /* wants all heads of a sentence, and shows the one that was asked for first */
} output_format;
extern const output_format picture_formats[], weights_formats[], json_format;

/* The format of a path's extension in any case; the first for a path without one ("-", devices); NULL: none has it. */
const output_format *format_of(const char *path, const output_format *formats);
/* ".png, .svg or .html"; returns `names`. */
const char *format_names(const output_format *formats, char *names, size_t room);
int output_write(const char *path, const output_format *formats, const drawing *d, bool quiet);
/* What a picture has to say, line by line. */
void print_notes(const char *notes, bool quiet);

/* ---- terminal.c ---- */

/* By NO_COLOR, TERM, COLORTERM and COLUMNS, and whether standard output is a terminal. */
attn_terminal terminal_of_output(color_wish wish);
/* The colour maps: in colours, or as names and nine colours each. */
void print_cmaps(color_wish wish);

/* ---- cmd_heatmap.c, heatmap_matrix.c ---- */

/* Panels and all that they point to. */
typedef struct panels {
    attn_heatmap_panel *panel; /* n of them */
    int n;
    attn_heatmap_panel *every; /* all heads of each sentence on end, n_every panels; NULL: not asked for */
    int n_every, heads;
    attn_corpus *words;
} panels;

/* Writes these panels in the way that was asked for. */
int draw_panels(const heatmap_arguments *a, const panels *p);
int draw_matrix(const heatmap_arguments *a);

/* ---- heatmap_sentences.c ---- */

/* A panel for each sentence and head. Returns DONE, or FAILED after a message; panels_free is right in any case. */
int panels_of_sentences(const sentence_request *request, panels *p);
void panels_free(panels *p);

/* One head of weights (heads, length, length), or their mean, as a matrix of its own; NULL if memory is out. Free it with free(). */
double *weights_of_head(const double *weights, int heads, int length, int head);
/* Makes a folder for pictures and those above it. 0 or errno. (epoch_pictures.c) */
int make_folder(const char *path);

#endif

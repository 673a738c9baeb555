/* attn heatmap: what its two files share, and some of it with the pictures of attn train. */
#ifndef ATTN_CLI_HEATMAP_H
#define ATTN_CLI_HEATMAP_H

#include "cli.h"

/* Values of --head that are no number of a head. */
enum { HEADS_MEAN = -1, HEADS_ALL = -2 };

typedef struct sentence_request {
    const char *model;
    char **sentences; /* of the command line; n = 0: from standard input, one a line */
    int n;
    int head, threads;
    bool quiet;
} sentence_request;

/* Panels and all that they point to. */
typedef struct panels {
    attn_heatmap_panel *panel;
    int n;
    attn_corpus *words;
} panels;

/* A panel for each sentence and head. Returns DONE, or FAILED after a message; panels_free is right in any case. */
int panels_of_sentences(const sentence_request *request, panels *p);
void panels_free(panels *p);

/* One head of weights (heads, length, length), or their mean, as a matrix of its own; NULL if memory is out. Free it with free(). */
double *weights_of_head(const double *weights, int heads, int length, int head);
/* Makes a folder for pictures and those above it. 0 or errno. (epoch_pictures.c) */
int make_folder(const char *path);
/* What the picture has to say, line by line. */
void print_notes(const attn_image *image, bool quiet);

#endif

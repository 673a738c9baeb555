/* attn heatmap: what its two files share. */
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

#endif

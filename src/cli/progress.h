/* The line that moves while a model is trained. */
#ifndef ATTN_PROGRESS_H
#define ATTN_PROGRESS_H

#include "cli.h"

typedef struct progress {
    bool quiet, terminal;
    double begin, last_drawn; /* seconds */
} progress;

/* Seconds from some fixed moment, for durations only. */
double seconds_now(void);
void progress_begin(progress *p, bool quiet);
/* On a terminal a line that is redrawn at most ten times a second, elsewhere a line an epoch. */
void progress_show(progress *p, const attn_word_sense_progress *at);

#endif

/* The line that moves while vectors are read and a model is trained. */
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
/* Bytes of a file of vectors: on a terminal a bar, elsewhere nothing. `total` 0: not known. */
void progress_bytes(progress *p, int64_t bytes, int64_t total);
/* Takes the line off the terminal, so that a message can follow. */
void progress_clear(const progress *p);

#endif

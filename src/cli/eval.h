/* attn eval: what its files share. */
#ifndef ATTN_CLI_EVAL_H
#define ATTN_CLI_EVAL_H

#include "cli.h"

/* All that is known about a model's predictions. */
typedef struct evaluation {
    attn_scores *scores;
    attn_calibration calibration;
    attn_distances distances;
} evaluation;

double accuracy_of(const attn_scores *s);

/* ---- eval_print.c ---- */

typedef struct eval_tables {
    bool calibration, distances;
} eval_tables;

void print_evaluation(const evaluation *v, eval_tables tables);
void print_evaluation_json(const evaluation *v);

/* ---- eval_confusion.c ---- */

/* Makes the folder and finds out whether pictures can be written there. */
bool confusion_open(const char *folder);
/* A picture a word: FOLDER/WORD.png. */
int confusion_draw(const char *folder, attn_scores *scores, bool quiet);

#endif

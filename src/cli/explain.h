/* attn explain: what its files share; the JSON is also what the pages show. */
#ifndef ATTN_CLI_EXPLAIN_H
#define ATTN_CLI_EXPLAIN_H

#include "cli.h"

/* What of an explanation is told. */
typedef struct explain_part {
    int head, member; /* one of each, or -1 for all */
    int digits;
    bool brief; /* no vectors */
} explain_part;

static inline bool is_told(int one, int i)
{
    return one < 0 || one == i;
}

/* "scaled-dot", ... */
const char *score_name(attn_score score);

/* ---- explain_print.c ---- */

/* `prior` is that of the configuration. */
void print_explanation(const attn_example *sentence, const attn_explanation *e, const explain_part *part, double prior);

/* ---- explain_json.c ---- */

/* Schema attn.explain/1. */
json_t *explanation_to_json(const attn_example *sentence, const attn_explanation *e, const explain_part *part);

#endif

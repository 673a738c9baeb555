/* What the ways of scoring share. Not installed. */
#ifndef ATTN_WORD_SENSE_SCORES_H
#define ATTN_WORD_SENSE_SCORES_H

#include <stddef.h>

/* The one of several gold senses ("a;b") that counts: the predicted one if it is among them, else the first. Size 0 if there is none. */
const char *attn__pick_gold(const char *gold, const char *predicted, size_t *size);

#endif

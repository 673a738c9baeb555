/* What saving and loading of models share. Not installed. */
#ifndef ATTN_MODEL_FILE_H
#define ATTN_MODEL_FILE_H

#include "attn/checkpoint.h"
#include "core/json.h"
#include "word_sense/model.h"

/* "attn.model" is this and a version. 1 had no neighbours. */
#define ATTN__MODEL_FORMAT  "attn.word-sense/"
#define ATTN__MODEL_VERSION 2

/* What the file holds of a member whose training is under way: the optimiser's state after so many steps (0: no state), and whether there
 * are parameters of a best epoch. */
typedef struct attn__underway {
    int64_t steps;
    bool best;
} attn__underway;

#define ATTN__NEIGHBOURS "neighbours"

/* The tensors of all members: "MEMBER.NAME", "MEMBER.optimizer.m.NAME", "MEMBER.optimizer.v.NAME", "MEMBER.best.NAME"; and, if they have
 * a weight, ATTN__NEIGHBOURS. Their data is that of the members, NULL where it is not made yet. In scratch; NULL if out of memory. */
attn_file_tensor *attn__model_tensors(attn_word_sense *m, const attn__underway underway[], int *count);

/* ATTN_ENONFINITE if one of n elements from `at` on is not finite. */
attn_status attn__model_check_tensor(const attn_file_tensor *x, int64_t at, int64_t n, attn_error *error);

/* A text of the file into the scratch memory; *root is NULL if there is none, or if it is no JSON. Error: ATTN_ENOMEM. */
attn_status attn__model_parse(attn_word_sense *m, const attn_safetensors *f, const char *key, const attn__json **root, attn_error *error);

/* ---- model_words.c ---- */

/* The vocabulary. Errors: ATTN_EFORMAT, ATTN_ENOMEM. */
attn_status attn__model_load_words(attn_word_sense *m, const attn_safetensors *f, attn_error *error);

#endif

/* What the two files of the fused attention's backward pass share. */
#ifndef ATTN_FUSED_BACKWARD_H
#define ATTN_FUSED_BACKWARD_H

#include "ops/fused.h"

/* A chunk of the keys of one key head, and where it is at. */
typedef struct attn__task {
    int64_t number, chunk, b, g, slot;
    int64_t tile;       /* of keys, among those of all slots */
    int64_t query_tile; /* likewise */
} attn__task;

/* ---- fused_parts.c ---- */

/* Packs keys, values, queries and output gradients of one key head, or of all, and works out delta. */
void attn__pack_head(const attn__node *n, int64_t b, int64_t g, int64_t slot);
void attn__pack_all(attn__node *n);
/* Zeroes the task's parts. */
void attn__parts_begin(const attn__node *n, const attn__task *task);
/* Adds all parts to their gradients. */
void attn__parts_end(attn__node *n);
/* The chunk's part of the gradient of query i, which the next queries' follow. */
void *attn__query_part(const attn__node *n, int64_t chunk, int64_t b, int64_t h, int64_t i);
void *attn__w_part(const attn__node *n, const attn__task *task, int64_t h);
/* Adds the gradients of the tile's scores to the parts of the bias and of the position table. */
void attn__bias_backward(const attn__node *n, const attn__task *task, const attn__tile *t, const void *ds);
/* Elements of the part of the bias's gradient that a task has; steps of its dimensions (head, query, key), 0 where the bias is repeated. */
int64_t attn__bias_part(const attn__fused *f, int64_t steps[3]);

#endif

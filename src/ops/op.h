/* What the files of this folder share, grouped by the file that defines it. */
#ifndef ATTN_OP_H
#define ATTN_OP_H

#include "attn/ops.h"
#include "core/core.h"

/* ---- registry.c ---- */

#define ATTN__OP(name) extern const attn__op attn__op_##name;
#include "ops/ops.def"
#undef ATTN__OP

const attn__op *attn__op_get(int op); /* NULL outside 0..attn_op_count()-1 */

/* ---- each.c: loops over elements and rows ---- */

/* Elements a tile of an elementwise operation holds: fixed, so that tiles do not depend on threads. */
#define ATTN__GRAIN 4096

/* The elements of tile `tile` of the node's output. */
attn__span attn__elements(const attn__node *n, int64_t tile);
/* Calls fn(node, tile) for all element tiles of the output; `cost` in elementary operations an element. */
void attn__each_tile(attn__node *n, double cost, attn__tile_fn fn);
/* Adds the output's gradient to that of the first input, of as many elements; for an operation that clears it. */
void attn__pass_gradient(attn__node *n);
/* Calls fn(node, tile) for tiles of columns of a sum over rows: tile `tile` owns attn__columns(node, width, tile) of 0..width-1. Each
 * column is added up in the order of the rows, so how they are cut changes nothing: there are as many tiles as threads. */
void attn__each_column(attn__node *n, int64_t width, double rows, attn__tile_fn fn);
attn__span attn__columns(const attn__node *n, int64_t width, int64_t tile);
/* Address of element i of an array of the node's dtype. */
void *attn__at(const attn__node *n, void *data, int64_t i);
/* Before adding to elements first .. first + count - 1 of the first input's gradient, of an operation that clears it. */
static inline void attn__clear(const attn__node *n, int64_t first, int64_t count)
{
    if (n->in[0]->stale) {
        ATTN__K(n)->zero(count, (char *)n->in[0]->grad + (size_t)first * attn_dtype_size(n->in[0]->dtype));
    }
}
/* Whether an operation that has nothing to do may return x itself: x is on the tape, which has no error. */
bool attn__may_return(const attn_tape *t, const attn_tensor *x);
/* One input, output of the same shape: the infer of most elementwise operations. */
attn_status attn__infer_same(attn__node *n);

/* ---- mask.c: who may attend to whom ---- */

/* The dimensions a mask speaks of. */
typedef struct attn__pairs {
    int64_t batch, heads, queries, keys;
} attn__pairs;

/* (B,H,Tq,Tk), or the same with leading dimensions left out (rank 3: B,Tq,Tk; rank 2: Tq,Tk; rank 1: Tk). */
attn__pairs attn__pairs_of(attn_shape shape);
/* Checks that the pairs can be counted and the mask (NULL: none), and copies its arrays to the tape. */
attn_status attn__mask_take(attn__node *n, const attn_mask *from, attn__pairs d, attn_mask *to);
/* Keys visible to query i of batch entry b: begin <= j < end, and allow[j] unless allow is NULL. */
typedef struct attn__row {
    int64_t begin, end;
    const uint8_t *allow;
} attn__row;
attn__row attn__mask_row(const attn_mask *mask, attn__pairs d, int64_t b, int64_t i);
static inline bool attn__sees(attn__row row, int64_t j)
{
    return j >= row.begin && j < row.end && (row.allow == NULL || row.allow[j]);
}
/* Whether the mask hides anything at all. */
bool attn__mask_empty(const attn_mask *mask);
/* What a mask that fits `d` says of queries begin .. begin + count - 1, as the mask of these alone: lengths, causality and window have gone
 * into ranges of rows. New arrays are memory of the step, the others the caller's. Notes ATTN_ENOMEM or ATTN_ERANGE on the tape. */
attn_status attn__mask_slice(attn_tape *t, const attn_mask *from, attn__pairs d, int64_t begin, int64_t count, attn_mask *to);

/* ---- attention_scores.c, score_bias.c: what the plain and the fused form of attention ask of their inputs ---- */

/* Checks queries (input 0), keys (input 1) and w (NULL: none) and puts the defaults into the configuration. */
attn_status attn__score_check(attn__node *n, attn_score_config *c, const attn_tensor *w);
/* Factor of a dot product of vectors of this width. */
double attn__score_factor(const attn_score_config *c, int64_t width);
/* The cap and its inverse are normal numbers of the node's dtype. */
attn_status attn__soft_cap_check(attn__node *n, double cap);
/* Elements of a bias of shape x between neighbours in scores of shape s = (B,H,Tq,Tk), 0 where it is repeated; all 0 before the call. */
attn_status attn__bias_steps(attn__node *n, attn_shape s, attn_shape x, int64_t steps[ATTN_MAX_DIMS]);
/* The table of a relative-position bias is (H, 2 C + 1). */
attn_status attn__table_check(attn__node *n, attn_shape scores, attn_shape table);

#endif

/* What the files of the fused attention share.
 *
 *     fused.c           shapes, memory, the operation
 *     fused_tile.c      the scores of one tile of queries and keys
 *     fused_forward.c   output, tile by tile
 *     fused_backward.c  gradients, tile by tile, from weights that are computed again
 *
 * Nothing of size Tq x Tk is stored. Work is cut into tiles whose size depends on shapes alone, so results do not depend on threads. */
#ifndef ATTN_FUSED_H
#define ATTN_FUSED_H

#include "ops/op.h"

/* Most queries and keys of a tile (fused.c, cut): multiples of the rows and columns that matrix products keep in registers, small enough
 * that the tile's scores, weights and vectors stay in the second-level cache. */
#define ATTN__TILE_QUERIES 96
#define ATTN__TILE_KEYS    192

/* Vectors that hold NaN or infinity would spread it over a matrix product. They are packed as zeros, and added where they are seen. */
enum { ATTN__BAD_KEY = 1, ATTN__BAD_VALUE = 2, ATTN__BAD_QUERY = 4, ATTN__BAD_GRADIENT = 8, ATTN__PLAIN = 16 /* see additive_exp */ };

/* Where parts of the scratch memory begin, in bytes. What is packed lies by (slot, tile), keys once and queries once for each query head of
 * a slot. */
typedef struct attn__fused_layout {
    size_t keys;        /* panels of k^T, or of e^2k transposed */
    size_t key_rows;    /* backward: panels of k, or rows e^2k */
    size_t values;      /* forward: panels of v; backward: of v^T */
    size_t queries;     /* backward: panels of q, or rows e^2q */
    size_t gradients;   /* backward: panels of the output's gradient */
    size_t delta;       /* backward: by (slot, head, query): output . gradient */
    size_t parts;       /* backward: of the queries' gradient, by (chunk, b, head, query), if there is more than one chunk */
    size_t w_parts;     /* backward: of w's gradient, by task and head */
    size_t bias_parts;  /* backward: of the bias's gradient, by task */
    size_t table_parts; /* backward: of the position table's gradient, by task and head */
    size_t key_flags;   /* bytes, by (slot, key) */
    size_t query_flags; /* bytes, by (slot, head, query) */
    size_t workers;     /* memory of worker 0, 1, ... */
    size_t size;        /* of everything */
    size_t worker_size;
    /* in a worker's memory */
    size_t rows;                      /* attn__row by query */
    size_t query, gradient;           /* the tile's queries (or e^2q) and output gradients, rows without gaps */
    size_t scores, capped, d_scores;  /* queries x keys */
    size_t l;                         /* forward: partial sums of each query's softmax */
    size_t acc;                       /* forward: queries x value width */
    size_t d_query;                   /* backward: sums of the tile's queries */
    size_t d_units_q, d_units_k, d_w; /* backward, additive: see tile_additive_b */
    size_t units;                     /* forward, additive: e^2k of a tile of keys on their way to a panel */
} attn__fused_layout;

typedef struct attn__fused {
    attn_score_config config;
    double soft_cap, dropout;
    attn_mask mask;
    const int32_t *first; /* place of query 0 for the position table */
    attn__key key;
    attn_tensor *w, *bias, *position; /* NULL: none */
    /* worked out by infer */
    attn__pairs d;
    bool additive, masked;
    int64_t kv_heads, group; /* group: query heads that share a key head */
    int64_t width, value_width;
    int64_t units; /* additive: width, padded to whole vectors */
    double factor;
    int64_t step[ATTN_MAX_DIMS], clip;
    int64_t tile_queries, tile_keys; /* tile_keys: padded to whole panels */
    int64_t query_tiles, key_tiles;
    int threads;                 /* in both directions, whatever the tape is told between them: so many have memory */
    bool by_head;                /* there are enough key heads: one task packs a head and goes on to compute it while it is in the cache */
    int64_t slots;               /* packed key heads at a time: one a worker, or all (b, key head) */
    int64_t chunks, chunk_tiles; /* backward: parts of a head's keys, and key tiles in each */
    attn__fused_layout forward, backward;
} attn__fused;

/* One tile of queries and keys. */
typedef struct attn__tile {
    int64_t b, h, g; /* entry of the batch, query head, key head */
    int64_t slot;    /* where its key head is packed */
    attn__span q, k;
    int64_t rows, keys;     /* lengths of q and k */
    int64_t columns;        /* keys, padded to a multiple of panel_columns */
    int64_t packed;         /* keys that are packed, also those behind the last that is seen */
    char *worker;           /* its memory */
    const void *query;      /* rows, or e^2q */
    const uint8_t *q_flags; /* of its queries */
    const uint8_t *k_flags; /* of its keys */
    void *scores, *capped;  /* ld apart; capped NULL if nothing is capped */
    attn__row *row;
} attn__tile;

/* ---- fused_tile.c ---- */

/* Element i of an array of the node's dtype that begins `offset` bytes after `base`. */
static inline void *attn__in(const attn__node *n, const void *base, size_t offset, int64_t i)
{
    return (char *)(uintptr_t)base + offset + (size_t)i * attn_dtype_size(n->out->dtype);
}
/* The part of a head in row i of entry b of a tensor (B,T,heads width). */
static inline void *attn__head(const attn__node *n, void *data, int64_t rows, int64_t heads, int64_t width, int64_t b, int64_t h, int64_t i)
{
    return attn__at(n, data, ((b * rows + i) * heads + h) * width);
}
/* Number of a query head among those of all slots. */
static inline int64_t attn__slot_head(const attn__fused *f, int64_t slot, int64_t h)
{
    return slot * f->group + h % f->group;
}
/* The tile's queries: fills row[], and returns the range of keys that any of them sees. */
attn__span attn__tile_look(const attn__node *n, attn__tile *t, int64_t b, int64_t h, int64_t query_tile);
/* Turns to those keys of a tile that are not behind the last that the same queries see; there may be none. */
void attn__tile_turn(const attn__node *n, attn__tile *t, const attn__fused_layout *at, int64_t key_tile, attn__span seen);
/* Scores of the tile, -inf where a pair is hidden. */
void attn__tile_scores(const attn__node *n, const attn__tile *t, const void *key_panels);
/* Whether query i of the tile sees its key j. */
bool attn__tile_sees(const attn__node *n, const attn__tile *t, int64_t i, int64_t j);
bool attn__any_flag(const uint8_t *flags, int64_t count, int flag);
/* c[i] += p(i, j) x[j] for visible pairs whose x[j] has the flag (of_keys), or c[j] += p(i, j) x[i]: what a product with packed rows lacks.
 */
void attn__add_flagged(const attn__node *n, const attn__tile *t, bool of_keys, int flag, double factor, const void *p, const void *x,
                       int64_t x_stride, int64_t width, void *c, int64_t c_stride);
void attn__tile_drop(const attn__node *n, const attn__tile *t, void *x);

/* ---- fused_forward.c, fused_backward.c ---- */

void attn__fused_forward(attn__node *n);
void attn__fused_backward(attn__node *n);
/* e^2k or e^2q of `rows` rows that lie `stride` apart, padded with zeros to `units`; rows the identity cannot take get the flag. */
void attn__exp_rows(const attn__node *n, int64_t rows, const void *from, int64_t stride, void *to, uint8_t *flags);

#endif

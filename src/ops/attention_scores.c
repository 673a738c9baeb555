/* Raw scores of all visible query-key pairs: the plain form, one pair at a time. */
#include <math.h>

#include "ops/op.h"

/* Queries (or keys) that one tile handles. */
#define BLOCK 16

typedef struct scores {
    attn_score kind;
    int heads;
    attn_mask mask;
    attn__pairs d;
    int64_t width; /* of a head */
    double factor; /* of a dot product */
} scores;

const char *attn_score_name(attn_score score)
{
    switch (score) {
    case ATTN_SCORE_SCALED_DOT:
        return "scaled-dot";
    case ATTN_SCORE_DOT:
        return "dot";
    case ATTN_SCORE_ADDITIVE:
        return "additive";
    }
    return "?";
}

static attn_status check_shapes(attn__node *n, const scores *s)
{
    attn_shape q = n->in[0]->shape, k = n->in[1]->shape;
    if (q.rank != 3 || k.rank != 3 || q.dim[0] != k.dim[0] || q.dim[2] != k.dim[2]) {
        return attn__op_fail(n, ATTN_ESHAPE, "queries %s and keys %s: expected (B,Tq,HD) and (B,Tk,HD)", ATTN__TEXT(q), ATTN__TEXT(k));
    }
    if (s->heads < 1 || q.dim[2] % s->heads != 0) {
        return attn__op_fail(n, ATTN_EINVAL, "width %lld cannot be cut into %d heads", (long long)q.dim[2], s->heads);
    }
    bool additive = s->kind == ATTN_SCORE_ADDITIVE;
    if (s->kind < ATTN_SCORE_SCALED_DOT || s->kind > ATTN_SCORE_ADDITIVE || additive != (n->n_in == 3)) {
        return attn__op_fail(n, ATTN_EINVAL, "the %s score takes %s w", attn_score_name(s->kind), additive ? "a vector" : "no vector");
    }
    attn_shape w = ATTN_SHAPE(s->heads, q.dim[2] / s->heads);
    if (additive && !attn_shape_equal(n->in[2]->shape, w)) {
        return attn__op_fail(n, ATTN_ESHAPE, "w %s, expected (heads, width of a head) = %s", ATTN__TEXT(n->in[2]->shape), ATTN__TEXT(w));
    }
    return ATTN_OK;
}

static int64_t query_blocks(const scores *s)
{
    return attn__tiles(s->d.queries, BLOCK);
}

static attn_status infer(attn__node *n)
{
    scores *s = n->attributes;
    if (check_shapes(n, s) != ATTN_OK) {
        return attn_tape_status(n->tape);
    }
    attn_shape q = n->in[0]->shape, k = n->in[1]->shape;
    s->d = (attn__pairs){q.dim[0], s->heads, q.dim[1], k.dim[1]};
    s->width = q.dim[2] / s->heads;
    s->factor = s->kind == ATTN_SCORE_SCALED_DOT && s->width > 0 ? 1 / sqrt((double)s->width) : 1;
    n->out->shape = ATTN_SHAPE(s->d.batch, s->d.heads, s->d.queries, s->d.keys);
    attn_mask mask = s->mask;
    if (attn__mask_take(n, &mask, s->d, &s->mask) != ATTN_OK) {
        return attn_tape_status(n->tape);
    }
    if (s->kind == ATTN_SCORE_ADDITIVE) { /* one partial gradient of w a tile of queries */
        n->saved_size = (size_t)(s->d.batch * s->d.heads * query_blocks(s) * s->width) * attn_dtype_size(n->out->dtype);
    }
    return ATTN_OK;
}

/* One tile: a head of a batch entry, and a range of its queries or keys. */
typedef struct block {
    int64_t b, h;
    attn__span span;
} block;

static block block_of(const scores *s, int64_t extent, int64_t tile)
{
    int64_t blocks = attn__tiles(extent, BLOCK), head = tile / blocks;
    return (block){head / s->d.heads, head % s->d.heads, attn__range(extent, BLOCK, tile % blocks)};
}

/* Address of row i, head h of a (B,T,H width) array; of score (i,j); and of head h of w. */
static void *vector(const attn__node *n, void *data, int64_t extent, const block *at, int64_t i)
{
    const scores *s = n->attributes;
    return attn__at(n, data, ((at->b * extent + i) * s->d.heads + at->h) * s->width);
}

static int64_t pair(const scores *s, const block *at, int64_t i, int64_t j)
{
    return ((at->b * s->d.heads + at->h) * s->d.queries + i) * s->d.keys + j;
}

static void *head_of_w(const attn__node *n, void *data, const block *at)
{
    const scores *s = n->attributes;
    return s->kind == ATTN_SCORE_ADDITIVE ? attn__at(n, data, at->h * s->width) : NULL;
}

static void tile_forward(void *ctx, int64_t tile)
{
    attn__node *n = ctx;
    const scores *s = n->attributes;
    const attn__kernel_table *K = ATTN__K(n);
    block at = block_of(s, s->d.queries, tile);
    void *w = s->kind == ATTN_SCORE_ADDITIVE ? head_of_w(n, n->in[2]->data, &at) : NULL;
    for (int64_t i = at.span.begin; i < at.span.end; i++) {
        attn__row row = attn__mask_row(&s->mask, s->d, at.b, i);
        const void *q = vector(n, n->in[0]->data, s->d.queries, &at, i);
        for (int64_t j = 0; j < s->d.keys; j++) {
            double score = 0;
            if (attn__sees(row, j)) {
                const void *k = vector(n, n->in[1]->data, s->d.keys, &at, j);
                score = w != NULL ? K->additive(s->width, q, k, w) : s->factor * K->dot(s->width, q, k);
            }
            K->set(n->out->data, pair(s, &at, i, j), score);
        }
    }
}

/* One pair backward, into whichever of gq, gk, gw is not NULL.
 * forward: s = factor q . k;  dq = g factor k, dk = g factor q */
static void pair_backward(attn__node *n, const block *at, int64_t i, int64_t j, void *gq, void *gk, void *gw)
{
    const scores *s = n->attributes;
    const attn__kernel_table *K = ATTN__K(n);
    const void *q = vector(n, n->in[0]->data, s->d.queries, at, i), *k = vector(n, n->in[1]->data, s->d.keys, at, j);
    double g = K->get(n->out->grad, pair(s, at, i, j));
    if (s->kind == ATTN_SCORE_ADDITIVE) {
        K->additive_b(s->width, q, k, head_of_w(n, n->in[2]->data, at), g, gq, gk, gw);
        return;
    }
    if (gq != NULL) {
        K->axpy(s->width, g * s->factor, k, gq);
    }
    if (gk != NULL) {
        K->axpy(s->width, g * s->factor, q, gk);
    }
}

/* Owns the gradients of a block of queries, and a partial gradient of w. */
static void tile_backward_queries(void *ctx, int64_t tile)
{
    attn__node *n = ctx;
    const scores *s = n->attributes;
    block at = block_of(s, s->d.queries, tile);
    void *gw = NULL;
    if (s->kind == ATTN_SCORE_ADDITIVE && n->in[2]->needs_grad) {
        gw = attn__at(n, n->saved, tile * s->width);
        ATTN__K(n)->zero(s->width, gw);
    }
    for (int64_t i = at.span.begin; i < at.span.end; i++) {
        attn__row row = attn__mask_row(&s->mask, s->d, at.b, i);
        void *gq = n->in[0]->needs_grad ? vector(n, n->in[0]->grad, s->d.queries, &at, i) : NULL;
        for (int64_t j = 0; j < row.limit; j++) {
            if (attn__sees(row, j)) {
                pair_backward(n, &at, i, j, gq, NULL, gw);
            }
        }
    }
}

/* Owns the gradients of a block of keys. */
static void tile_backward_keys(void *ctx, int64_t tile)
{
    attn__node *n = ctx;
    const scores *s = n->attributes;
    block at = block_of(s, s->d.keys, tile);
    for (int64_t i = 0; i < s->d.queries; i++) {
        attn__row row = attn__mask_row(&s->mask, s->d, at.b, i);
        for (int64_t j = at.span.begin; j < at.span.end; j++) {
            if (attn__sees(row, j)) {
                pair_backward(n, &at, i, j, NULL, vector(n, n->in[1]->grad, s->d.keys, &at, j), NULL);
            }
        }
    }
}

static void over_blocks(attn__node *n, int64_t extent, int64_t other, attn__tile_fn fn)
{
    const scores *s = n->attributes;
    double cost = (double)s->width * (s->kind == ATTN_SCORE_ADDITIVE ? 20 : 1) * (double)(extent < BLOCK ? extent : BLOCK) * (double)other;
    attn__parallel(attn__tape_threads(n->tape), s->d.batch * s->d.heads * attn__tiles(extent, BLOCK), cost, fn, n);
}

static void forward(attn__node *n)
{
    const scores *s = n->attributes;
    over_blocks(n, s->d.queries, s->d.keys, tile_forward);
}

static void backward(attn__node *n)
{
    const scores *s = n->attributes;
    bool w = s->kind == ATTN_SCORE_ADDITIVE && n->in[2]->needs_grad;
    if (n->in[0]->needs_grad || w) {
        over_blocks(n, s->d.queries, s->d.keys, tile_backward_queries);
    }
    for (int64_t tile = 0; w && tile < s->d.batch * s->d.heads * query_blocks(s); tile++) {
        block at = block_of(s, s->d.queries, tile);
        ATTN__K(n)->axpy(s->width, 1, attn__at(n, n->saved, tile * s->width), head_of_w(n, n->in[2]->grad, &at));
    }
    if (n->in[1]->needs_grad) {
        over_blocks(n, s->d.keys, s->d.queries, tile_backward_keys);
    }
}

attn_tensor *attn_attention_scores(attn_tape *t, attn_tensor *q, attn_tensor *k, attn_tensor *w, attn_score score, int heads,
                                   const attn_mask *mask)
{
    scores s = {.kind = score, .heads = heads};
    if (mask != NULL) {
        s.mask = *mask;
    }
    int inputs = w != NULL || score == ATTN_SCORE_ADDITIVE ? 3 : 2;
    return attn__record(t, &attn__op_attention_scores, (attn_tensor *const[]){q, k, w}, inputs, &s, sizeof s);
}

static attn_tensor *build_scaled(attn_tape *t, attn_tensor *const in[])
{
    return attn_attention_scores(t, in[0], in[1], NULL, ATTN_SCORE_SCALED_DOT, 2, NULL);
}

static attn_tensor *build_dot(attn_tape *t, attn_tensor *const in[])
{
    return attn_attention_scores(t, in[0], in[1], NULL, ATTN_SCORE_DOT, 1, &(attn_mask){.causal = ATTN_CAUSAL_TOP_LEFT});
}

static attn_tensor *build_additive(attn_tape *t, attn_tensor *const in[])
{
    return attn_attention_scores(t, in[0], in[1], in[2], ATTN_SCORE_ADDITIVE, 2, NULL);
}

static attn_tensor *build_additive_masked(attn_tape *t, attn_tensor *const in[])
{
    return attn_attention_scores(t, in[0], in[1], in[2], ATTN_SCORE_ADDITIVE, 1, &(attn_mask){.key_lengths = (const int32_t[]){2, 4}});
}

static const attn__case cases[] = {
    {"scaled dot, 2 heads", 2, {{3, {2, 3, 6}}, {3, {2, 4, 6}}}, -1, 1, build_scaled},
    {"scaled dot, self", 2, {{3, {2, 3, 4}}, {3, {2, 3, 4}}}, -1, 1, build_scaled},
    {"dot, causal", 2, {{3, {2, 3, 5}}, {3, {2, 3, 5}}}, -1, 1, build_dot},
    {"dot, more queries than a block", 2, {{3, {1, 18, 2}}, {3, {1, 17, 2}}}, -1, 1, build_dot},
    {"additive, 2 heads", 3, {{3, {2, 3, 4}}, {3, {2, 5, 4}}, {2, {2, 2}}}, -1, 1, build_additive},
    {"additive, masked", 3, {{3, {2, 3, 3}}, {3, {2, 4, 3}}, {2, {1, 3}}}, -1, 1, build_additive_masked},
};

const attn__op attn__op_attention_scores = {
    .name = "attention_scores", .arity = -1, .infer = infer, .forward = forward, .backward = backward, ATTN__CASES(cases)};

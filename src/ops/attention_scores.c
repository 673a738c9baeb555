/* Raw scores of all visible query-key pairs: the plain form, one pair at a time. */
#include <math.h>

#include "ops/op.h"

/* Queries that one tile of the forward pass handles. */
#define BLOCK 16

typedef struct scores {
    attn_score_config config;
    attn_mask mask;
    attn__pairs d;
    int64_t group; /* query heads that share a key head */
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

static attn_status check_config(attn__node *n, const attn_score_config *c, bool vector)
{
    bool additive = c->score == ATTN_SCORE_ADDITIVE;
    if (c->score < ATTN_SCORE_SCALED_DOT || c->score > ATTN_SCORE_ADDITIVE) {
        return attn__op_fail(n, ATTN_EINVAL, "no such score: %d", (int)c->score);
    }
    if (additive != vector) {
        return attn__op_fail(n, ATTN_EINVAL, "the %s score takes %s w", attn_score_name(c->score), additive ? "a vector" : "no vector");
    }
    if (c->heads < 1 || c->kv_heads < 1 || c->heads % c->kv_heads != 0) {
        return attn__op_fail(n, ATTN_EINVAL, "%d query heads cannot share %d key heads", c->heads, c->kv_heads);
    }
    bool fits = n->in[0]->dtype == ATTN_F32 ? isfinite((float)c->scale) != 0 : isfinite(c->scale) != 0;
    if (!fits || (additive && c->scale != 0)) {
        return attn__op_fail(n, ATTN_EINVAL, "scale %g: expected a finite %s, and 0 for additive scores", c->scale,
                             attn_dtype_name(n->in[0]->dtype));
    }
    return ATTN_OK;
}

attn_status attn__score_check(attn__node *n, attn_score_config *c, const attn_tensor *w)
{
    attn_shape q = n->in[0]->shape, k = n->in[1]->shape;
    c->heads = c->heads == 0 ? 1 : c->heads;
    c->kv_heads = c->kv_heads == 0 ? c->heads : c->kv_heads;
    if (check_config(n, c, w != NULL) != ATTN_OK) {
        return attn_tape_status(n->tape);
    }
    if (q.rank != 3 || k.rank != 3 || q.dim[0] != k.dim[0]) {
        return attn__op_fail(n, ATTN_ESHAPE, "queries %s and keys %s: expected (B,Tq,H d) and (B,Tk,Hkv d)", ATTN__TEXT(q), ATTN__TEXT(k));
    }
    if (q.dim[2] % c->heads != 0 || k.dim[2] % c->kv_heads != 0) {
        bool queries = q.dim[2] % c->heads != 0;
        return attn__op_fail(n, ATTN_EINVAL, "width %lld cannot be cut into %d heads", (long long)(queries ? q : k).dim[2],
                             queries ? c->heads : c->kv_heads);
    }
    if (q.dim[2] / c->heads != k.dim[2] / c->kv_heads) {
        return attn__op_fail(n, ATTN_ESHAPE, "queries %s in %d heads and keys %s in %d heads differ in the width of a head", ATTN__TEXT(q),
                             c->heads, ATTN__TEXT(k), c->kv_heads);
    }
    attn_shape expected = ATTN_SHAPE(c->heads, q.dim[2] / c->heads);
    if (w != NULL && !attn_shape_equal(w->shape, expected)) {
        return attn__op_fail(n, ATTN_ESHAPE, "w %s, expected (heads, width of a head) = %s", ATTN__TEXT(w->shape), ATTN__TEXT(expected));
    }
    return ATTN_OK;
}

double attn__score_factor(const attn_score_config *c, int64_t width)
{
    double usual = c->score == ATTN_SCORE_SCALED_DOT && width > 0 ? 1 / sqrt((double)width) : 1;
    return c->scale != 0 ? c->scale : usual;
}

static attn_status infer(attn__node *n)
{
    scores *s = n->attributes;
    if (attn__score_check(n, &s->config, n->n_in == 3 ? n->in[2] : NULL) != ATTN_OK) {
        return attn_tape_status(n->tape);
    }
    attn_shape q = n->in[0]->shape, k = n->in[1]->shape;
    s->d = (attn__pairs){q.dim[0], s->config.heads, q.dim[1], k.dim[1]};
    s->width = q.dim[2] / s->config.heads;
    s->group = s->config.heads / s->config.kv_heads;
    s->factor = attn__score_factor(&s->config, s->width);
    n->out->shape = ATTN_SHAPE(s->d.batch, s->d.heads, s->d.queries, s->d.keys);
    attn_mask mask = s->mask;
    if (attn__mask_take(n, &mask, s->d, &s->mask) != ATTN_OK) {
        return attn_tape_status(n->tape);
    }
    int64_t partial =
        s->config.score == ATTN_SCORE_ADDITIVE ? s->d.batch * s->d.heads * s->width : 0; /* gradients of w, one a batch entry */
    if (!attn__size_mul((size_t)partial, attn_dtype_size(n->out->dtype), &n->saved_size)) {
        return attn__op_fail(n, ATTN_ENOMEM, "%lld partial gradients of w are too many", (long long)partial);
    }
    return ATTN_OK;
}

/* Part of the work: a head of a batch entry, and a range of its queries. */
typedef struct block {
    int64_t b, h;
    attn__span span;
} block;

/* Addresses: the head's part of query i, and of key j. */
static void *query(const attn__node *n, void *data, const block *at, int64_t i)
{
    const scores *s = n->attributes;
    return attn__at(n, data, ((at->b * s->d.queries + i) * s->d.heads + at->h) * s->width);
}

static void *key(const attn__node *n, void *data, const block *at, int64_t j)
{
    const scores *s = n->attributes;
    return attn__at(n, data, ((at->b * s->d.keys + j) * s->config.kv_heads + at->h / s->group) * s->width);
}

static int64_t pair(const scores *s, const block *at, int64_t i, int64_t j)
{
    return ((at->b * s->d.heads + at->h) * s->d.queries + i) * s->d.keys + j;
}

static void *head_of_w(const attn__node *n, void *data, const block *at)
{
    const scores *s = n->attributes;
    return s->config.score == ATTN_SCORE_ADDITIVE ? attn__at(n, data, at->h * s->width) : NULL;
}

static void tile_forward(void *ctx, int64_t tile)
{
    attn__node *n = ctx;
    const scores *s = n->attributes;
    const attn__kernel_table *K = ATTN__K(n);
    int64_t blocks = attn__tiles(s->d.queries, BLOCK), head = tile / blocks;
    block at = {head / s->d.heads, head % s->d.heads, attn__range(s->d.queries, BLOCK, tile % blocks)};
    void *w = s->config.score == ATTN_SCORE_ADDITIVE ? head_of_w(n, n->in[2]->data, &at) : NULL;
    for (int64_t i = at.span.begin; i < at.span.end; i++) {
        attn__row row = attn__mask_row(&s->mask, s->d, at.b, i);
        const void *q = query(n, n->in[0]->data, &at, i);
        for (int64_t j = 0; j < s->d.keys; j++) {
            double score = 0;
            if (attn__sees(row, j)) {
                const void *k = key(n, n->in[1]->data, &at, j);
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
    const void *q = query(n, n->in[0]->data, at, i), *k = key(n, n->in[1]->data, at, j);
    double g = K->get(n->out->grad, pair(s, at, i, j));
    if (s->config.score == ATTN_SCORE_ADDITIVE) {
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

/* Owns all gradients of one key head of a batch entry: its keys, the queries of the heads that share it, and a partial gradient of w for
 * each of these heads. One pass, so that additive scores compute each tanh once. */
static void tile_backward(void *ctx, int64_t tile)
{
    attn__node *n = ctx;
    const scores *s = n->attributes;
    block at = {.b = tile / s->config.kv_heads};
    int64_t first = tile % s->config.kv_heads * s->group;
    for (at.h = first; at.h < first + s->group; at.h++) {
        void *gw = NULL;
        if (s->config.score == ATTN_SCORE_ADDITIVE && n->in[2]->needs_grad) {
            gw = attn__at(n, n->saved, (at.b * s->d.heads + at.h) * s->width);
            ATTN__K(n)->zero(s->width, gw);
        }
        for (int64_t i = 0; i < s->d.queries; i++) {
            attn__row row = attn__mask_row(&s->mask, s->d, at.b, i);
            void *gq = n->in[0]->needs_grad ? query(n, n->in[0]->grad, &at, i) : NULL;
            for (int64_t j = row.begin; j < row.end; j++) {
                if (attn__sees(row, j)) {
                    pair_backward(n, &at, i, j, gq, n->in[1]->needs_grad ? key(n, n->in[1]->grad, &at, j) : NULL, gw);
                }
            }
        }
    }
}

static void over_tiles(attn__node *n, int64_t tiles, attn__tile_fn fn)
{
    const scores *s = n->attributes;
    double pairs = (double)s->d.batch * (double)s->d.heads * (double)s->d.queries * (double)s->d.keys;
    double cost = pairs * (double)s->width * (s->config.score == ATTN_SCORE_ADDITIVE ? 20 : 1);
    attn__parallel(attn__tape_threads(n->tape), tiles, tiles > 0 ? cost / (double)tiles : 0, fn, n);
}

static void forward(attn__node *n)
{
    const scores *s = n->attributes;
    over_tiles(n, s->d.batch * s->d.heads * attn__tiles(s->d.queries, BLOCK), tile_forward);
}

static void backward(attn__node *n)
{
    const scores *s = n->attributes;
    if (s->width == 0) { /* no gradients, and no memory for them */
        return;
    }
    over_tiles(n, s->d.batch * s->config.kv_heads, tile_backward);
    for (int64_t i = 0; s->config.score == ATTN_SCORE_ADDITIVE && n->in[2]->needs_grad && i < s->d.batch * s->d.heads; i++) {
        ATTN__K(n)->axpy(s->width, 1, attn__at(n, n->saved, i * s->width), attn__at(n, n->in[2]->grad, i % s->d.heads * s->width));
    }
}

attn_tensor *attn_attention_scores(attn_tape *t, attn_tensor *q, attn_tensor *k, attn_tensor *w, attn_score_config config,
                                   const attn_mask *mask)
{
    scores s = {.config = config};
    if (mask != NULL) {
        s.mask = *mask;
    }
    int inputs = w != NULL || config.score == ATTN_SCORE_ADDITIVE ? 3 : 2;
    return attn__record(t, &attn__op_attention_scores, (attn_tensor *const[]){q, k, w}, inputs, &s, sizeof s);
}

static attn_tensor *build_scaled(attn_tape *t, attn_tensor *const in[])
{
    return attn_attention_scores(t, in[0], in[1], NULL, (attn_score_config){.score = ATTN_SCORE_SCALED_DOT, .heads = 2}, NULL);
}

static attn_tensor *build_dot(attn_tape *t, attn_tensor *const in[])
{
    return attn_attention_scores(t, in[0], in[1], NULL, (attn_score_config){.score = ATTN_SCORE_DOT, .heads = 1},
                                 &(attn_mask){.causal = ATTN_CAUSAL_TOP_LEFT});
}

static attn_tensor *build_additive(attn_tape *t, attn_tensor *const in[])
{
    return attn_attention_scores(t, in[0], in[1], in[2], (attn_score_config){.score = ATTN_SCORE_ADDITIVE, .heads = 2}, NULL);
}

static attn_tensor *build_additive_masked(attn_tape *t, attn_tensor *const in[])
{
    return attn_attention_scores(t, in[0], in[1], in[2], (attn_score_config){.score = ATTN_SCORE_ADDITIVE, .heads = 1},
                                 &(attn_mask){.key_lengths = (const int32_t[]){2, 4}});
}

static attn_tensor *build_grouped(attn_tape *t, attn_tensor *const in[])
{
    const attn_score_config config = {.heads = 4, .kv_heads = 2, .scale = 0.7};
    return attn_attention_scores(t, in[0], in[1], NULL, config, &(attn_mask){.window = true, .left = 1, .right = -1});
}

static attn_tensor *build_additive_grouped(attn_tape *t, attn_tensor *const in[])
{
    return attn_attention_scores(t, in[0], in[1], in[2], (attn_score_config){.score = ATTN_SCORE_ADDITIVE, .heads = 2, .kv_heads = 1},
                                 NULL);
}

static const attn__case cases[] = {
    {"scaled dot, 2 heads", 2, {{3, {2, 3, 6}}, {3, {2, 4, 6}}}, -1, 1, build_scaled},
    {"scaled dot, self", 2, {{3, {2, 3, 4}}, {3, {2, 3, 4}}}, -1, 1, build_scaled},
    {"dot, causal", 2, {{3, {2, 3, 5}}, {3, {2, 3, 5}}}, -1, 1, build_dot},
    {"dot, more queries than a block", 2, {{3, {1, 18, 2}}, {3, {1, 17, 2}}}, -1, 1, build_dot},
    {"additive, 2 heads", 3, {{3, {2, 3, 4}}, {3, {2, 5, 4}}, {2, {2, 2}}}, -1, 1, build_additive},
    {"grouped, scale, window", 2, {{3, {2, 3, 8}}, {3, {2, 4, 4}}}, -1, 1, build_grouped},
    {"additive, grouped", 3, {{3, {2, 3, 4}}, {3, {2, 4, 2}}, {2, {2, 2}}}, -1, 1, build_additive_grouped},
    {"additive, masked", 3, {{3, {2, 3, 3}}, {3, {2, 4, 3}}, {2, {1, 3}}}, -1, 1, build_additive_masked},
};

const attn__op attn__op_attention_scores = {
    .name = "attention_scores", .arity = -1, .infer = infer, .forward = forward, .backward = backward, ATTN__CASES(cases)};

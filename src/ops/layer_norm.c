#include "ops/op.h"

#define TILE_ROWS   16
#define TILE_ROWS_B 64

/* saved: mean and 1/sd of each row; then, for each tile of the backward pass, its part of the gradients of gamma and of beta */
typedef double stats[2];

static int64_t width(const attn__node *n)
{
    return n->out->shape.dim[n->out->shape.rank - 1];
}

static int64_t rows(const attn__node *n)
{
    return width(n) > 0 ? n->out->count / width(n) : 0;
}

static attn_status infer(attn__node *n)
{
    attn_shape x = n->in[0]->shape, gamma = n->in[1]->shape, beta = n->in[2]->shape;
    double epsilon = *(double *)n->attributes;
    if (x.rank < 1 || gamma.rank != 1 || !attn_shape_equal(gamma, beta) || gamma.dim[0] != x.dim[x.rank - 1]) {
        return attn__op_fail(n, ATTN_ESHAPE, "x %s, gamma %s, beta %s: expected gamma and beta of x's last dimension", ATTN__TEXT(x),
                             ATTN__TEXT(gamma), ATTN__TEXT(beta));
    }
    if (!(epsilon >= 0)) {
        return attn__op_fail(n, ATTN_EINVAL, "epsilon %g, expected >= 0", epsilon);
    }
    n->out->shape = x;
    if (gamma.dim[0] > 0) {
        int64_t r = n->in[0]->count / gamma.dim[0];
        n->saved_size =
            (size_t)r * sizeof(stats) + (size_t)(attn__tiles(r, TILE_ROWS_B) * 2 * gamma.dim[0]) * attn_dtype_size(n->in[0]->dtype);
    }
    return ATTN_OK;
}

static void tile_forward(void *ctx, int64_t tile)
{
    attn__node *n = ctx;
    attn__span span = attn__range(rows(n), TILE_ROWS, tile);
    int64_t d = width(n);
    for (int64_t r = span.begin; r < span.end; r++) {
        ATTN__K(n)->layer_norm(d, attn__at(n, n->in[0]->data, r * d), n->in[1]->data, n->in[2]->data, *(double *)n->attributes,
                               attn__at(n, n->out->data, r * d), ((stats *)n->saved)[r]);
    }
}

static void over_rows(attn__node *n, int64_t rows_a_tile, attn__tile_fn fn)
{
    attn__parallel(attn__tape_threads(n->tape), attn__tiles(rows(n), rows_a_tile), 2 * (double)(rows_a_tile * width(n)), fn, n);
}

static void forward(attn__node *n)
{
    over_rows(n, TILE_ROWS, tile_forward);
}

/* A tile's part of the gradient of gamma (1) or beta (2), NULL where none is wanted. */
static void *part_of(const attn__node *n, int input, int64_t tile)
{
    char *parts = (char *)n->saved + (size_t)rows(n) * sizeof(stats);
    return n->in[input]->needs_grad ? attn__at(n, parts, (2 * tile + input - 1) * width(n)) : NULL;
}

static void tile_backward(void *ctx, int64_t tile)
{
    attn__node *n = ctx;
    attn__span span = attn__range(rows(n), TILE_ROWS_B, tile);
    int64_t d = width(n);
    const stats *s = n->saved;
    void *x = attn__at(n, n->in[0]->data, span.begin * d), *g = attn__at(n, n->out->grad, span.begin * d);
    for (int64_t r = span.begin; r < span.end && n->in[0]->needs_grad; r++) {
        attn__clear(n, r * d, d);
        ATTN__K(n)->layer_norm_b(d, attn__at(n, n->in[0]->data, r * d), n->in[1]->data, s[r], attn__at(n, n->out->grad, r * d),
                                 attn__at(n, n->in[0]->grad, r * d));
    }
    for (int input = 1; input <= 2; input++) {
        if (n->in[input]->needs_grad) {
            ATTN__K(n)->zero(d, part_of(n, input, tile));
        }
    }
    if (n->in[1]->needs_grad || n->in[2]->needs_grad) {
        ATTN__K(n)->layer_norm_gamma_b(span.end - span.begin, d, x, s[span.begin], g, part_of(n, 1, tile), part_of(n, 2, tile));
    }
}

/* The gradients of gamma and beta are sums over all rows: of the parts of the tiles, in their order. */
static void backward(attn__node *n)
{
    over_rows(n, TILE_ROWS_B, tile_backward);
    for (int64_t tile = 0; tile < attn__tiles(rows(n), TILE_ROWS_B); tile++) {
        for (int input = 1; input <= 2; input++) {
            if (n->in[input]->needs_grad) {
                ATTN__K(n)->axpy(width(n), 1, part_of(n, input, tile), n->in[input]->grad);
            }
        }
    }
}

attn_tensor *attn_layer_norm(attn_tape *t, attn_tensor *x, attn_tensor *gamma, attn_tensor *beta, double epsilon)
{
    return attn__record(t, &attn__op_layer_norm, (attn_tensor *const[]){x, gamma, beta}, 3, &epsilon, sizeof epsilon);
}

static attn_tensor *build(attn_tape *t, attn_tensor *const in[])
{
    return attn_layer_norm(t, in[0], in[1], in[2], 1e-5);
}

static attn_tensor *build_large_epsilon(attn_tape *t, attn_tensor *const in[])
{
    return attn_layer_norm(t, in[0], in[1], in[2], 0.5);
}

static const attn__case cases[] = {
    {"rows", 3, {{3, {2, 3, 5}}, {1, {5}}, {1, {5}}}, -2, 2, build},
    {"large epsilon", 3, {{2, {4, 3}}, {1, {3}}, {1, {3}}}, -2, 2, build_large_epsilon},
    {"one row", 3, {{1, {6}}, {1, {6}}, {1, {6}}}, -2, 2, build},
};

const attn__op attn__op_layer_norm = {
    .name = "layer_norm", .arity = 3, .clears = true, .infer = infer, .forward = forward, .backward = backward, ATTN__CASES(cases)};

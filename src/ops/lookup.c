/* embedding and gather_rows: rows picked by number. */
#include <string.h>

#include "ops/op.h"

#define TILE_ROWS 64

typedef struct lookup {
    const int32_t *ids;
    attn_shape shape; /* of ids */
    int64_t count;
} lookup;

static attn_status take_ids(attn__node *n, int64_t limit)
{
    lookup *at = n->attributes;
    bool ok = true;
    if (at->ids == NULL && at->count > 0) {
        return attn__op_fail(n, ATTN_EINVAL, "no row numbers were given");
    }
    for (int64_t i = 0; i < at->count; i++) {
        if (at->ids[i] < 0 || at->ids[i] >= limit) {
            return attn__op_fail(n, ATTN_ERANGE, "row number %d at position %lld, the table has %lld rows", at->ids[i], (long long)i,
                                 (long long)limit);
        }
    }
    at->ids = attn__tape_copy(n->tape, at->ids, at->count, sizeof *at->ids, &ok);
    return ok ? ATTN_OK : ATTN_ENOMEM;
}

static void copy_row(attn__node *n, int64_t to, int64_t from, int64_t d)
{
    memcpy(attn__at(n, n->out->data, to * d), attn__at(n, n->in[0]->data, from * d), (size_t)d * attn_dtype_size(n->out->dtype));
}

/* ---- embedding ---- */

static attn_status embedding_infer(attn__node *n)
{
    lookup *at = n->attributes;
    attn_shape table = n->in[0]->shape;
    at->count = attn_shape_count(at->shape);
    if (table.rank != 2 || at->count < 0 || at->shape.rank >= ATTN_MAX_DIMS) {
        return attn__op_fail(n, ATTN_ESHAPE, "table %s, ids %s: expected a table of rank 2 and ids of rank 0..%d", ATTN__TEXT(table),
                             ATTN__TEXT(at->shape), ATTN_MAX_DIMS - 1);
    }
    n->out->shape = at->shape;
    n->out->shape.dim[n->out->shape.rank++] = table.dim[1];
    return take_ids(n, table.dim[0]);
}

static void tile_rows(void *ctx, int64_t tile)
{
    attn__node *n = ctx;
    const lookup *at = n->attributes;
    attn__span span = attn__range(at->count, TILE_ROWS, tile);
    for (int64_t i = span.begin; i < span.end; i++) {
        copy_row(n, i, at->ids[i], n->in[0]->shape.dim[1]);
    }
}

static void embedding_forward(attn__node *n)
{
    const lookup *at = n->attributes;
    attn__parallel(attn__tape_threads(n->tape), attn__tiles(at->count, TILE_ROWS), TILE_ROWS * (double)n->in[0]->shape.dim[1], tile_rows,
                   n);
}

/* A row that is picked twice gets both gradients, in their order: a tile owns some columns. */
static void tile_columns(void *ctx, int64_t tile)
{
    attn__node *n = ctx;
    const lookup *at = n->attributes;
    int64_t d = n->in[0]->shape.dim[1];
    attn__span span = attn__columns(n, d, tile);
    for (int64_t i = 0; i < at->count; i++) {
        ATTN__K(n)->axpy(span.end - span.begin, 1, attn__at(n, n->out->grad, i * d + span.begin),
                         attn__at(n, n->in[0]->grad, at->ids[i] * d + span.begin));
    }
}

static void embedding_backward(attn__node *n)
{
    const lookup *at = n->attributes;
    attn_tensor *table = n->in[0];
    for (int64_t i = 0; i < at->count && table->params != NULL; i++) {
        attn__params_touch(table->params, table->param, at->ids[i]);
    }
    attn__each_column(n, table->shape.dim[1], (double)at->count, tile_columns);
}

attn_tensor *attn_embedding(attn_tape *t, attn_tensor *table, const int32_t *ids, attn_shape ids_shape)
{
    return attn__record(t, &attn__op_embedding, &table, 1, &(lookup){.ids = ids, .shape = ids_shape}, sizeof(lookup));
}

static attn_tensor *build_embedding(attn_tape *t, attn_tensor *const in[])
{
    return attn_embedding(t, in[0], (const int32_t[]){4, 0, 2, 2, 1, 4}, ATTN_SHAPE(2, 3));
}

static const attn__case embedding_cases[] = {
    {"repeated and unused rows", 1, {{2, {5, 3}}}, -2, 2, build_embedding},
};

const attn__op attn__op_embedding = {.name = "embedding",
                                     .arity = 1,
                                     .sparse = true,
                                     .infer = embedding_infer,
                                     .forward = embedding_forward,
                                     .backward = embedding_backward,
                                     ATTN__CASES(embedding_cases)};

/* ---- gather_rows ---- */

static attn_status gather_infer(attn__node *n)
{
    lookup *at = n->attributes;
    attn_shape x = n->in[0]->shape;
    if (x.rank != 3) {
        return attn__op_fail(n, ATTN_ESHAPE, "x %s, expected (B,T,D)", ATTN__TEXT(x));
    }
    at->count = x.dim[0];
    n->out->shape = ATTN_SHAPE(x.dim[0], x.dim[2]);
    return take_ids(n, x.dim[1]);
}

static void gather_forward(attn__node *n)
{
    const lookup *at = n->attributes;
    attn_shape x = n->in[0]->shape;
    for (int64_t b = 0; b < at->count; b++) {
        copy_row(n, b, b * x.dim[1] + at->ids[b], x.dim[2]);
    }
}

static void add_row(attn__node *n, int64_t to, int64_t from, int64_t d)
{
    ATTN__K(n)->axpy(d, 1, attn__at(n, n->out->grad, from * d), attn__at(n, n->in[0]->grad, to * d));
}

static void gather_backward(attn__node *n)
{
    const lookup *at = n->attributes;
    attn_shape x = n->in[0]->shape;
    for (int64_t b = 0; b < at->count; b++) {
        add_row(n, b * x.dim[1] + at->ids[b], b, x.dim[2]);
    }
}

attn_tensor *attn_gather_rows(attn_tape *t, attn_tensor *x, const int32_t *index)
{
    return attn__record(t, &attn__op_gather_rows, &x, 1, &(lookup){.ids = index}, sizeof(lookup));
}

static attn_tensor *build_gather(attn_tape *t, attn_tensor *const in[])
{
    return attn_gather_rows(t, in[0], (const int32_t[]){2, 0, 1});
}

static const attn__case gather_cases[] = {
    {"one row each", 1, {{3, {3, 3, 4}}}, -2, 2, build_gather},
};

const attn__op attn__op_gather_rows = {.name = "gather_rows",
                                       .arity = 1,
                                       .infer = gather_infer,
                                       .forward = gather_forward,
                                       .backward = gather_backward,
                                       ATTN__CASES(gather_cases)};

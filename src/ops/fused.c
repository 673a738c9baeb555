/* Attention as one operation: shapes, memory, cases. */
#include "ops/fused.h"
#include "ops/fused_backward.h"

/* ---- memory ---- */

/* Room for count elements of `size` bytes behind what `end` holds so far; where it begins. A sum that leaves size_t stays at SIZE_MAX. */
static size_t room(size_t *end, int64_t count, size_t size)
{
    size_t begin = *end, bytes;
    bool fits = count >= 0 && attn__size_mul((size_t)count, size, &bytes) && bytes < SIZE_MAX / 2 - begin && begin < SIZE_MAX / 2;
    *end = fits ? (begin + bytes + ATTN__ALIGN - 1) / ATTN__ALIGN * ATTN__ALIGN : SIZE_MAX;
    return begin;
}

static int64_t larger(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* Memory of one worker that both directions have. */
static void lay_out_tile(attn__fused_layout *at, const attn__fused *f, size_t size)
{
    size_t *end = &at->worker_size;
    int64_t pairs = f->tile_queries * f->tile_keys;
    at->rows = room(end, f->tile_queries, sizeof(attn__row));
    at->query = room(end, f->tile_queries * larger(f->width, f->units), size);
    at->scores = room(end, pairs, size);
}

static void lay_out_forward(attn__node *n)
{
    attn__fused *f = n->attributes;
    const attn__kernel_table *K = ATTN__K(n);
    attn__fused_layout *at = &f->forward;
    size_t size = attn_dtype_size(n->out->dtype);
    int64_t tiles = f->slots * f->key_tiles;
    lay_out_tile(at, f, size);
    at->units = room(&at->worker_size, f->tile_keys * f->units, size);
    at->l = room(&at->worker_size, f->tile_queries * K->panel_columns(), size);
    at->acc = room(&at->worker_size, f->tile_queries * f->value_width, size);
    at->keys = room(&at->size, tiles * K->panel_size(f->width, f->tile_keys), size);
    at->values = room(&at->size, tiles * K->panel_size(f->tile_keys, f->value_width), size);
    at->key_flags = room(&at->size, f->slots * f->d.keys, 1);
    at->query_flags = room(&at->size, f->slots * f->group * f->d.queries, 1);
    at->workers = room(&at->size, attn__workers(f->threads), at->worker_size);
    n->scratch_size = at->size;
}

/* Backward: memory of one worker. */
static void lay_out_sums(attn__fused_layout *at, const attn__fused *f, size_t size)
{
    size_t *end = &at->worker_size;
    lay_out_tile(at, f, size);
    at->gradient = room(end, f->tile_queries * f->value_width, size);
    at->capped = room(end, f->soft_cap != 0 ? f->tile_queries * f->tile_keys : 0, size);
    at->d_scores = room(end, f->tile_queries * f->tile_keys, size);
    at->d_query = room(end, f->tile_queries * f->width, size);
    at->d_units_q = room(end, f->tile_queries * f->units, size);
    at->d_units_k = room(end, f->tile_keys * f->units, size);
    at->d_w = room(end, f->units, size);
}

static void lay_out_backward(attn__node *n)
{
    attn__fused *f = n->attributes;
    const attn__kernel_table *K = ATTN__K(n);
    attn__fused_layout *at = &f->backward;
    size_t size = attn_dtype_size(n->out->dtype), *end = &at->size;
    int64_t key_tiles = f->slots * f->key_tiles, query_tiles = f->slots * f->group * f->query_tiles, steps[3];
    int64_t rows = f->d.batch * f->d.heads * f->d.queries, slot_rows = f->slots * f->group * f->d.queries,
            tasks = f->d.batch * f->kv_heads * f->chunks;
    lay_out_sums(at, f, size);
    at->keys = room(end, key_tiles * K->panel_size(f->width, f->tile_keys), size);
    at->key_rows = room(end, key_tiles * larger(K->panel_size(f->tile_keys, f->width), f->tile_keys * f->units), size);
    at->values = room(end, key_tiles * K->panel_size(f->value_width, f->tile_keys), size);
    at->queries = room(end, query_tiles * larger(K->panel_size(f->tile_queries, f->width), f->tile_queries * f->units), size);
    at->gradients = room(end, query_tiles * K->panel_size(f->tile_queries, f->value_width), size);
    at->delta = room(end, slot_rows, size);
    at->parts = room(end, f->chunks > 1 ? f->chunks * rows * f->width : 0, size);
    at->w_parts = room(end, f->additive ? tasks * f->group * f->width : 0, size);
    at->bias_parts = room(end, f->bias != NULL && f->bias->needs_grad ? tasks * attn__bias_part(f, steps) : 0, size);
    at->table_parts = room(end, f->position != NULL ? tasks * f->group * (2 * f->clip + 1) : 0, size);
    at->key_flags = room(end, f->slots * f->d.keys, 1);
    at->query_flags = room(end, slot_rows, 1);
    at->workers = room(end, attn__workers(f->threads), at->worker_size);
    n->scratch_size_b = at->size;
}

/* ---- shapes ---- */

/* Tasks of the backward pass, if the keys can be cut into so many: enough for several threads to share. More cost memory. */
#define TASKS 8

/* Keys of a tile. Where a head's keys are cut into chunks, tiles are of like size and so many that the chunks are, too, as far as
 * whole vectors allow: two threads wait for each other otherwise, for half of the time with 512 keys. */
static int64_t tile_keys(int64_t keys, int64_t chunks)
{
    int64_t tiles = attn__tiles(keys, ATTN__TILE_KEYS);
    if (chunks == 1 || tiles <= 1) {
        return keys < ATTN__TILE_KEYS ? larger(keys, 1) : ATTN__TILE_KEYS;
    }
    int64_t multiple = tiles >= chunks ? chunks : 2;
    return attn__tiles(keys, attn__tiles(tiles, multiple) * multiple);
}

static void cut(const attn__node *n, attn__fused *f)
{
    int64_t panel = ATTN__K(n)->panel_columns(), heads = larger(f->d.batch * f->kv_heads, 1), chunks = attn__tiles(TASKS, heads);
    f->tile_keys = attn__tiles(tile_keys(f->d.keys, chunks), panel) * panel;
    f->tile_queries = f->d.queries < ATTN__TILE_QUERIES ? larger(f->d.queries, 1) : ATTN__TILE_QUERIES;
    f->query_tiles = attn__tiles(f->d.queries, f->tile_queries);
    f->key_tiles = attn__tiles(f->d.keys, f->tile_keys);
    f->chunk_tiles = larger(attn__tiles(f->key_tiles, chunks), 1);
    f->chunks = larger(attn__tiles(f->key_tiles, f->chunk_tiles), 1);
    f->by_head = heads >= TASKS;
    f->slots = f->by_head ? attn__workers(f->threads) : heads;
    f->units = f->additive ? attn__tiles(f->width, panel) * panel : 0;
}

static attn_status check_values(attn__node *n, const attn__fused *f)
{
    attn_shape k = n->in[1]->shape, v = n->in[2]->shape;
    if (v.rank != 3 || v.dim[0] != k.dim[0] || v.dim[1] != k.dim[1] || v.dim[2] % f->kv_heads != 0) {
        return attn__op_fail(n, ATTN_ESHAPE, "keys %s and values %s: expected (B,Tk,Hkv d) and (B,Tk,Hkv dv) with Hkv = %lld",
                             ATTN__TEXT(k), ATTN__TEXT(v), (long long)f->kv_heads);
    }
    if (v.dim[2] / f->kv_heads > INT64_MAX / f->d.heads) { /* possible where there are no keys */
        return attn__op_fail(n, ATTN_ESHAPE, "values %s for %lld heads: the result is too large", ATTN__TEXT(v), (long long)f->d.heads);
    }
    return ATTN_OK;
}

static attn_status check_options(attn__node *n, const attn__fused *f)
{
    if (f->soft_cap != 0 && attn__soft_cap_check(n, f->soft_cap) != ATTN_OK) {
        return attn_tape_status(n->tape);
    }
    if (!(f->dropout >= 0 && f->dropout < 1)) {
        return attn__op_fail(n, ATTN_EINVAL, "rate of dropout %g, expected 0 <= rate < 1", f->dropout);
    }
    return ATTN_OK;
}

static attn_status check_bias(attn__node *n, attn__fused *f)
{
    attn_shape pairs = ATTN_SHAPE(f->d.batch, f->d.heads, f->d.queries, f->d.keys);
    if (f->bias != NULL && attn__bias_steps(n, pairs, f->bias->shape, f->step) != ATTN_OK) {
        return attn_tape_status(n->tape);
    }
    if (f->position != NULL && attn__table_check(n, pairs, f->position->shape) != ATTN_OK) {
        return attn_tape_status(n->tape);
    }
    f->clip = f->position != NULL ? f->position->shape.dim[1] / 2 : 0;
    return ATTN_OK;
}

static attn_status infer(attn__node *n)
{
    attn__fused *f = n->attributes;
    if (attn__score_check(n, &f->config, f->w) != ATTN_OK) {
        return attn_tape_status(n->tape);
    }
    attn_shape q = n->in[0]->shape;
    f->additive = f->config.score == ATTN_SCORE_ADDITIVE;
    f->kv_heads = f->config.kv_heads;
    f->group = f->config.heads / f->config.kv_heads;
    f->width = q.dim[2] / f->config.heads;
    f->factor = attn__score_factor(&f->config, f->width);
    f->d = (attn__pairs){q.dim[0], f->config.heads, q.dim[1], n->in[1]->shape.dim[1]};
    if (check_values(n, f) != ATTN_OK || check_options(n, f) != ATTN_OK || check_bias(n, f) != ATTN_OK) {
        return attn_tape_status(n->tape);
    }
    f->value_width = n->in[2]->shape.dim[2] / f->kv_heads;
    n->out->shape = ATTN_SHAPE(q.dim[0], q.dim[1], f->config.heads * f->value_width);
    attn_mask mask = f->mask;
    bool ok = true;
    f->masked = !attn__mask_empty(&mask);
    f->first = attn__tape_copy(n->tape, f->first, f->d.batch, sizeof *f->first, &ok);
    if (!ok || attn__mask_take(n, &mask, f->d, &f->mask) != ATTN_OK) {
        return attn_tape_status(n->tape);
    }
    f->dropout = attn__tape_training(n->tape) ? f->dropout : 0;
    if (f->dropout > 0) {
        f->key = attn__tape_next_key(n->tape);
    }
    int threads = attn__tape_threads(n->tape);
    f->threads = threads < 0 ? threads : attn__workers(threads);
    cut(n, f);
    n->saved_size = 2 * (size_t)(f->d.batch * f->d.heads * f->d.queries) * attn_dtype_size(n->out->dtype);
    lay_out_forward(n);
    lay_out_backward(n);
    return ATTN_OK;
}

attn_tensor *attn_fused_attention(attn_tape *t, const attn_fused_input *in)
{
    attn__fused f = {
        .config = in->score,
        .soft_cap = in->soft_cap,
        .dropout = in->dropout,
        .first = in->first,
        .w = in->w,
        .bias = in->bias,
        .position = in->position,
        .mask = in->mask,
    };
    attn_tensor *inputs[6] = {in->query, in->key, in->value}, *others[] = {in->w, in->bias, in->position};
    int count = 3;
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        if (others[i] != NULL) {
            inputs[count++] = others[i];
        }
    }
    return attn__record(t, &attn__op_fused_attention, inputs, count, &f, sizeof f);
}

/* ---- cases ---- */

static attn_tensor *build_scaled(attn_tape *t, attn_tensor *const in[])
{
    return attn_fused_attention(t, &(attn_fused_input){.query = in[0], .key = in[1], .value = in[2], .score = {.heads = 2}});
}

static attn_tensor *build_dot(attn_tape *t, attn_tensor *const in[])
{
    return attn_fused_attention(
        t, &(attn_fused_input){
               .query = in[0], .key = in[1], .value = in[2], .score = {.score = ATTN_SCORE_DOT}, .mask = {.causal = ATTN_CAUSAL_TOP_LEFT}});
}

static attn_tensor *build_additive(attn_tape *t, attn_tensor *const in[])
{
    return attn_fused_attention(t, &(attn_fused_input){.query = in[0],
                                                       .key = in[1],
                                                       .value = in[2],
                                                       .w = in[3],
                                                       .score = {.score = ATTN_SCORE_ADDITIVE, .heads = 2, .kv_heads = 1},
                                                       .mask = {.key_lengths = (const int32_t[]){3, 5}}});
}

static attn_tensor *build_grouped(attn_tape *t, attn_tensor *const in[])
{
    return attn_fused_attention(t, &(attn_fused_input){.query = in[0],
                                                       .key = in[1],
                                                       .value = in[2],
                                                       .bias = in[3],
                                                       .position = in[4],
                                                       .first = (const int32_t[]){2, 0},
                                                       .score = {.heads = 4, .kv_heads = 2, .scale = 0.7},
                                                       .soft_cap = 1.5,
                                                       .mask = {.window = true, .left = 1, .right = -1}});
}

static const attn__case cases[] = {
    {"scaled dot, 2 heads", 3, {{3, {2, 3, 6}}, {3, {2, 4, 6}}, {3, {2, 4, 2}}}, -1, 1, build_scaled},
    {"scaled dot, self", 3, {{3, {2, 3, 4}}, {3, {2, 3, 4}}, {3, {2, 3, 4}}}, -1, 1, build_scaled},
    {"dot, causal, several tiles", 3, {{3, {1, 99, 1}}, {3, {1, 98, 1}}, {3, {1, 98, 2}}}, -1, 1, build_dot},
    {"additive, grouped, masked", 4, {{3, {2, 3, 4}}, {3, {2, 5, 2}}, {3, {2, 5, 3}}, {2, {2, 2}}}, -1, 1, build_additive},
    {"grouped, cap, bias, position, window",
     5,
     {{3, {2, 3, 8}}, {3, {2, 4, 4}}, {3, {2, 4, 6}}, {4, {1, 4, 3, 4}}, {2, {4, 5}}},
     -1,
     1,
     build_grouped},
};

const attn__op attn__op_fused_attention = {.name = "fused_attention",
                                           .arity = -1,
                                           .infer = infer,
                                           .forward = attn__fused_forward,
                                           .backward = attn__fused_backward,
                                           ATTN__CASES(cases)};

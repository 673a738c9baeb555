/* The attention layer: projections around attn_attend. */
#include "attn/attention.h"

#include <math.h>
#include <stdio.h>

#include "nn/attend.h"

/* A learned matrix (in,out) with an optional bias (out); numbers in the parameter set, -1 where there is none. */
typedef struct projection {
    int matrix, bias;
} projection;

struct attn_attention {
    attn_attention_config config;
    attn_params *params;
    projection query, key, value, output;
    int w, position;
};

static attn_attention_config with_defaults(attn_attention_config c)
{
    c.heads = c.heads != 0 ? c.heads : 1;
    c.kv_heads = c.kv_heads != 0 ? c.kv_heads : c.heads;
    c.key_dim = c.key_dim != 0 ? c.key_dim : c.query_dim;
    c.value_dim = c.value_dim != 0 ? c.value_dim : c.key_dim;
    c.output_dim = c.output_dim != 0 ? c.output_dim : c.query_dim;
    if (c.head_dim == 0 && c.heads > 0 && c.query_dim % c.heads == 0) {
        c.head_dim = c.query_dim / c.heads;
    }
    c.head_value_dim = c.head_value_dim != 0 ? c.head_value_dim : c.head_dim;
    return c;
}

/* `given` as the caller wrote it, `c` with defaults. */
static attn_status check_config(attn_params *p, const char *name, const attn_attention_config *given, const attn_attention_config *c)
{
    if (given->head_dim == 0 && c->head_dim == 0) {
        return attn__params_fail(p, ATTN_EINVAL, "attention '%s': query width %d cannot be cut into %d heads", name, c->query_dim,
                                 c->heads);
    }
    if (c->heads < 1 || c->query_dim < 1 || c->key_dim < 1 || c->value_dim < 1 || c->head_dim < 1 || c->head_value_dim < 1 ||
        c->output_dim < 1 || c->relative_clip < 0) {
        return attn__params_fail(p, ATTN_EINVAL,
                                 "attention '%s': heads %d, widths query %d, key %d, value %d, head %d, head value %d, output %d, clip %d: "
                                 "all but the last must be positive",
                                 name, c->heads, c->query_dim, c->key_dim, c->value_dim, c->head_dim, c->head_value_dim, c->output_dim,
                                 c->relative_clip);
    }
    if (c->score < ATTN_SCORE_SCALED_DOT || c->score > ATTN_SCORE_ADDITIVE || !(c->dropout >= 0 && c->dropout < 1)) {
        return attn__params_fail(p, ATTN_EINVAL, "attention '%s': score %d, dropout %g: no such score, or not 0 <= dropout < 1", name,
                                 (int)c->score, c->dropout);
    }
    if (c->kv_heads < 1 || c->heads % c->kv_heads != 0) {
        return attn__params_fail(p, ATTN_EINVAL, "attention '%s': %d query heads cannot share %d key and value heads", name, c->heads,
                                 c->kv_heads);
    }
    if (!isfinite(c->scale) || (c->score == ATTN_SCORE_ADDITIVE && c->scale != 0) || !(c->soft_cap >= 0) || !isfinite(c->soft_cap)) {
        return attn__params_fail(p, ATTN_EINVAL, "attention '%s': scale %g (0 for additive scores), soft cap %g: not in their range", name,
                                 c->scale, c->soft_cap);
    }
    if ((int64_t)c->heads * c->head_dim > INT32_MAX || (int64_t)c->heads * c->head_value_dim > INT32_MAX) {
        return attn__params_fail(p, ATTN_ESHAPE, "attention '%s': %d heads of width %d are too large", name, c->heads, c->head_dim);
    }
    return ATTN_OK;
}

static int add(attn_params *p, const char *layer, const char *name, attn_shape shape, attn_param_config config)
{
    char full[256];
    if (snprintf(full, sizeof full, "%s.%s", layer, name) >= (int)sizeof full) {
        attn__params_fail(p, ATTN_EINVAL, "attention: the name '%s' is too long", ATTN__QUOTE(layer));
        return -1;
    }
    return attn_params_add(p, full, shape, config);
}

static projection add_projection(attn_params *p, const char *layer, char letter, int in, int out, double scale, bool bias)
{
    char matrix[] = {'W', '_', letter, '\0'}, vector[] = {'b', '_', letter, '\0'};
    projection q = {.bias = -1};
    q.matrix =
        add(p, layer, matrix, ATTN_SHAPE(in, out), (attn_param_config){.init = ATTN_INIT_NORMAL, .scale = scale / sqrt(in), .decay = true});
    if (bias) {
        q.bias = add(p, layer, vector, ATTN_SHAPE(out), (attn_param_config){.init = ATTN_INIT_ZEROS});
    }
    return q;
}

const attn_attention *attn_attention_add(attn_params *p, const char *name, attn_attention_config config)
{
    attn_attention_config c = with_defaults(config);
    attn_attention *layer = attn__params_alloc(p, sizeof *layer);
    if (layer == NULL || check_config(p, name, &config, &c) != ATTN_OK) {
        return NULL;
    }
    *layer = (attn_attention){.config = c, .params = p, .output = {-1, -1}, .w = -1, .position = -1};
    double near = c.score == ATTN_SCORE_DOT ? pow(c.head_dim, -0.25) : 1; /* first scores as large as the scaled ones */
    layer->query = add_projection(p, name, 'q', c.query_dim, c.heads * c.head_dim, near, c.bias);
    layer->key = add_projection(p, name, 'k', c.key_dim, c.kv_heads * c.head_dim, near, c.bias);
    layer->value = add_projection(p, name, 'v', c.value_dim, c.kv_heads * c.head_value_dim, 1, c.bias);
    if (!c.no_output) {
        layer->output = add_projection(p, name, 'o', c.heads * c.head_value_dim, c.output_dim, 1, c.bias);
    }
    if (c.score == ATTN_SCORE_ADDITIVE) {
        layer->w = add(p, name, "w", ATTN_SHAPE(c.heads, c.head_dim),
                       (attn_param_config){.init = ATTN_INIT_NORMAL, .scale = 1 / sqrt(c.head_dim), .decay = true});
    }
    if (c.relative_clip > 0) {
        layer->position = add(p, name, "position", ATTN_SHAPE(c.heads, 2 * (int64_t)c.relative_clip + 1),
                              (attn_param_config){.init = ATTN_INIT_DISTANCE, .scale = 1});
    }
    return attn__params_status(p) == ATTN_OK ? layer : NULL;
}

attn_attention_config attn_attention_get_config(const attn_attention *layer)
{
    return layer->config;
}

/* (B,T,in) -> (B,T,out) */
static attn_tensor *project(attn_tape *t, const attn_attention *layer, projection q, attn_tensor *x)
{
    attn_tensor *y = attn_matmul(t, x, attn_param(t, layer->params, q.matrix), ATTN_NN);
    return q.bias >= 0 ? attn_add(t, y, attn_param(t, layer->params, q.bias)) : y;
}

/* What comes in must have three dimensions, the declared width and one batch size; said in the layer's terms. */
static bool check_input(attn_tape *t, const char *name, const attn_tensor *x, int width, const attn_tensor *query)
{
    attn_shape s = attn_tensor_shape(x), q = attn_tensor_shape(query);
    if (attn_tape_status(t) == ATTN_OK && x != NULL && (s.rank != 3 || s.dim[2] != width || s.dim[0] != q.dim[0])) {
        char batch[24] = "B";
        if (x != query) {
            (void)snprintf(batch, sizeof batch, "%lld", (long long)q.dim[0]);
        }
        attn__tape_fail(t, ATTN_ESHAPE, "attention: %s has shape %s, expected (%s,T,%d)", name, ATTN__TEXT(s), batch, width);
    }
    return attn_tape_status(t) == ATTN_OK;
}

static bool check_lengths(attn_tape *t, const attn_tensor *key, const attn_tensor *value)
{
    attn_shape k = attn_tensor_shape(key), v = attn_tensor_shape(value);
    if (k.dim[1] != v.dim[1]) {
        attn__tape_fail(t, ATTN_ESHAPE, "attention: keys %s and values %s differ in length", ATTN__TEXT(k), ATTN__TEXT(v));
    }
    return attn_tape_status(t) == ATTN_OK;
}

/* Takes what padding holds out of the inputs, then projects them. `past` keys stand in front of these, in the mask's eyes. */
static void project_inputs(attn_tape *t, const attn_attention *layer, const attn_attention_input *in, int64_t past, attn_attend_input *to)
{
    int64_t queries = attn_tensor_shape(in->query).dim[1], keys = past + attn_tensor_shape(in->key).dim[1];
    attn_tensor *key = attn_visible_rows(t, in->key, ATTN_SIDE_KEYS, past, queries, &in->mask);
    attn_tensor *value = in->value == in->key ? key : attn_visible_rows(t, in->value, ATTN_SIDE_KEYS, past, queries, &in->mask);
    to->query = project(t, layer, layer->query, attn_visible_rows(t, in->query, ATTN_SIDE_QUERIES, 0, keys, &in->mask));
    to->key = project(t, layer, layer->key, key);
    to->value = project(t, layer, layer->value, value);
}

attn_attention_output attn_attention_apply(attn_tape *t, const attn_attention *layer, attn_attention_input in)
{
    const attn_attention_output nothing = {.output = NULL};
    const attn_attention_config *c = &layer->config;
    in.key = in.key != NULL ? in.key : in.query;
    in.value = in.value != NULL ? in.value : in.key;
    if (in.query == NULL && attn_tape_status(t) == ATTN_OK) {
        attn__tape_fail(t, ATTN_EINVAL, "attention: no query");
    }
    if (!check_input(t, "query", in.query, c->query_dim, in.query) || !check_input(t, "key", in.key, c->key_dim, in.query) ||
        !check_input(t, "value", in.value, c->value_dim, in.query) || !check_lengths(t, in.key, in.value)) {
        return nothing;
    }
    int64_t past = in.past_key != NULL ? attn_tensor_shape(in.past_key).dim[1] : 0;
    attn_attend_input to = {.past_key = in.past_key, .past_value = in.past_value, .bias = in.bias};
    project_inputs(t, layer, &in, past, &to);
    to.w = layer->w >= 0 ? attn_param(t, layer->params, layer->w) : NULL;
    to.position = layer->position >= 0 ? attn_param(t, layer->params, layer->position) : NULL;
    const attn_attend_config config = {
        .score = {.score = c->score, .heads = c->heads, .kv_heads = c->kv_heads, .scale = c->scale},
        .soft_cap = c->soft_cap,
        .dropout = c->dropout,
        .mask = in.mask,
        .report = in.report,
        .composed = in.composed,
    };
    attn_attend_output a = attn__attend(t, &to, &config, in.query_start != NULL ? in.query_start : in.mask.positions);
    attn_attention_output out = {a.output, a.weights, a.scaled, a.capped, a.scores, a.key, a.value, to.query};
    if (!c->no_output) {
        /* A query that sees nothing: b_o must not speak for it, nor its gradient reach W_o, where NaN times 0 would show. */
        out.output = project(t, layer, layer->output, out.output);
        out.output = attn_visible_rows(t, out.output, ATTN_SIDE_QUERIES, 0, past + attn_tensor_shape(in.key).dim[1], &in.mask);
    }
    return attn_tape_status(t) == ATTN_OK ? out : nothing;
}

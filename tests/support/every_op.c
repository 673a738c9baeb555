#include "support/every_op.h"

#include <stdlib.h>

#include "support/check.h"

#define WORDS   11
#define CLASSES 5
#define HEADS   2
#define HIDDEN  4 /* of a head's additive score */
#define CLIP    3

enum { TABLE, POSITION, GAMMA, BETA, W_Q, W_K, W_V, W_U, VECTOR, BIAS, W_C, PARAMETERS };

static void declare(every_op *e)
{
    int64_t d = e->width;
    const struct {
        const char *name;
        attn_shape shape;
        bool sparse;
    } declared[PARAMETERS] = {
        {"table", ATTN_SHAPE(WORDS, d), true},
        {"position", ATTN_SHAPE(e->time, d), false},
        {"gamma", ATTN_SHAPE(d), false},
        {"beta", ATTN_SHAPE(d), false},
        {"w_q", ATTN_SHAPE(d, d), false},
        {"w_k", ATTN_SHAPE(d, d), false},
        {"w_v", ATTN_SHAPE(d, d), false},
        {"w_u", ATTN_SHAPE(d, HEADS * HIDDEN), false},
        {"vector", ATTN_SHAPE(HEADS, HIDDEN), false},
        {"bias", ATTN_SHAPE(HEADS, 2 * CLIP + 1), false},
        {"w_c", ATTN_SHAPE(2 * d, CLASSES), false},
    };
    for (int i = 0; i < PARAMETERS; i++) {
        attn_param_config config = {.init = ATTN_INIT_UNIFORM, .scale = 0.4, .sparse_rows = declared[i].sparse};
        (void)attn_params_add(e->params, declared[i].name, declared[i].shape, config);
    }
}

attn_status every_op_new(every_op *e, attn_dtype dtype, int64_t batch, int64_t time, int64_t width, const attn_allocator *allocator)
{
    *e = (every_op){.batch = batch, .time = time, .width = width};
    e->ids = malloc((size_t)(batch * time) * sizeof *e->ids);
    e->lengths = malloc((size_t)batch * sizeof *e->lengths);
    e->index = malloc((size_t)batch * sizeof *e->index);
    e->targets = malloc((size_t)batch * sizeof *e->targets);
    e->candidates = malloc((size_t)batch * CLASSES);
    assert_true(e->ids != NULL && e->lengths != NULL && e->index != NULL && e->targets != NULL && e->candidates != NULL);
    for (int64_t i = 0; i < batch * time; i++) {
        e->ids[i] = (int32_t)(i * i % (WORDS - 1)); /* the last row of the table is never looked up */
    }
    for (int64_t b = 0; b < batch; b++) {
        e->lengths[b] = (int32_t)(time - b % 3 * time / 4);
        e->index[b] = (int32_t)(b % time);
        e->targets[b] = b % 4 == 3 ? ATTN_IGNORE : (int32_t)(b % CLASSES);
        for (int c = 0; c < CLASSES; c++) {
            e->candidates[b * CLASSES + c] = c == b % CLASSES || (b + c) % 3 != 0;
        }
    }
    e->params = attn_params_new(dtype, allocator);
    if (e->params == NULL) {
        return ATTN_ENOMEM;
    }
    declare(e);
    return attn_params_build(e->params, 5, NULL);
}

void every_op_free(every_op *e)
{
    attn_params_free(e->params);
    free(e->ids);
    free(e->lengths);
    free(e->index);
    free(e->targets);
    free(e->candidates);
}

static attn_tensor *attend(const every_op *e, attn_tape *t, attn_tensor *h, const attn_mask *mask)
{
    attn_params *p = e->params;
    attn_tensor *q = attn_tanh(t, attn_matmul(t, h, attn_param(t, p, W_Q), ATTN_NN));
    attn_tensor *k = attn_matmul(t, h, attn_param(t, p, W_K), ATTN_NT);
    attn_tensor *v = attn_gelu(t, attn_matmul(t, h, attn_param(t, p, W_V), ATTN_NN), ATTN_GELU_ERF);
    attn_tensor *u = attn_matmul(t, h, attn_param(t, p, W_U), ATTN_NN);
    attn_tensor *dots = attn_attention_scores(t, q, k, NULL, (attn_score_config){.score = ATTN_SCORE_SCALED_DOT, .heads = HEADS}, mask);
    attn_tensor *sums = attn_attention_scores(t, u, attn_scale(t, u, -0.7), attn_param(t, p, VECTOR),
                                              (attn_score_config){.score = ATTN_SCORE_ADDITIVE, .heads = HEADS}, mask);
    attn_tensor *s = attn_relative_bias(t, attn_soft_cap(t, dots, 3), attn_param(t, p, BIAS), NULL, mask);
    s = attn_score_bias(t, s, sums, mask);
    attn_tensor *plain = attn_attention_mix(t, attn_dropout(t, attn_softmax(t, s, mask), 0.25), v, 0, mask);
    attn_fused_input additive = {.query = u, .key = u, .value = v, .w = attn_param(t, p, VECTOR), .position = attn_param(t, p, BIAS)};
    additive.score = (attn_score_config){.score = ATTN_SCORE_ADDITIVE, .heads = HEADS};
    additive.dropout = 0.1;
    additive.mask = *mask;
    attn_fused_input dot = {.query = q, .key = k, .value = v, .bias = sums, .soft_cap = 2, .score = {.heads = HEADS}, .mask = *mask};
    return attn_add(t, plain, attn_add(t, attn_fused_attention(t, &additive), attn_fused_attention(t, &dot)));
}

attn_tensor *every_op_loss(const every_op *e, attn_tape *t)
{
    const attn_mask mask = {.key_lengths = e->lengths, .causal = ATTN_CAUSAL_BOTTOM_RIGHT};
    const attn_cross_entropy_config config = {.candidates = e->candidates, .label_smoothing = 0.1};
    attn_params *p = e->params;
    attn_tensor *x = attn_embedding(t, attn_param(t, p, TABLE), e->ids, ATTN_SHAPE(e->batch, e->time));
    x = attn_visible_rows(t, attn_add(t, x, attn_param(t, p, POSITION)), ATTN_SIDE_KEYS, 0, e->time, &mask);
    attn_tensor *o = attend(e, t, attn_layer_norm(t, x, attn_param(t, p, GAMMA), attn_param(t, p, BETA), 1e-5), &mask);
    o = attn_sub(t, attn_gelu(t, o, ATTN_GELU_TANH), attn_mul(t, attn_sigmoid(t, o), attn_relu(t, o)));
    attn_tensor *flat = attn_reshape(t, o, ATTN_SHAPE(e->batch * e->time, e->width));
    attn_tensor *gram = attn_matmul(t, flat, flat, ATTN_TN);
    attn_tensor *word = attn_gather_rows(t, o, e->index);
    attn_tensor *both = attn_concat(t, (attn_tensor *const[]){word, attn_gather_rows(t, attn_slice(t, x, 1, 0, e->time), e->index)}, 2);
    attn_tensor *loss = attn_cross_entropy(t, attn_matmul(t, both, attn_param(t, p, W_C), ATTN_NN), e->targets, &config);
    attn_tensor *extra = attn_add(t, attn_scale(t, attn_sum(t, attn_append(t, o, attn_slice(t, x, 1, 1, e->time - 2))), 1e-3),
                                  attn_mean(t, attn_mul(t, gram, gram)));
    return attn_add(t, loss, extra);
}

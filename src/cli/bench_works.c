/* The works that attn bench measures, through the public interface alone. Operations are counted as docs/performance.md says. */
#include <stdlib.h>
#include <string.h>

#include "bench.h"

static int64_t size_of(const bench_run *r, char letter)
{
    int64_t n = r->c->size[(unsigned char)letter];
    return n > 0 ? n : 1; /* one head, where none are named */
}

static void *memory(int64_t n, size_t element)
{
    return n > 0 ? calloc((size_t)n, element) : NULL;
}

static void fill(attn_dtype dtype, int64_t n, uint64_t stream, void *to)
{
    for (int64_t i = 0; i < n; i++) {
        double x = attn_random_normal(1, stream, (uint64_t)i);
        if (dtype == ATTN_F32) {
            ((float *)to)[i] = (float)x;
        } else {
            ((double *)to)[i] = x;
        }
    }
}

/* One more input, of random numbers. */
static bool add_input(bench_run *r, attn_shape shape)
{
    int64_t n = attn_shape_count(shape);
    void *data = memory(n, attn_dtype_size(r->c->dtype));
    if (data != NULL) {
        fill(r->c->dtype, n, (uint64_t)r->n, data);
        r->shape[r->n] = shape;
        r->data[r->n++] = data;
    }
    return data != NULL;
}

/* n numbers below `bound`. */
static bool add_ids(bench_run *r, int64_t n, int64_t bound)
{
    r->ids = memory(n, sizeof *r->ids);
    for (int64_t i = 0; r->ids != NULL && i < n; i++) {
        r->ids[i] = (int32_t)attn_random_below(2, 0, (uint64_t)i, (uint64_t)bound);
    }
    return r->ids != NULL;
}

static bool build(bench_run *r)
{
    attn_params_set_threads(r->params, r->threads);
    return attn_params_build(r->params, 3, &r->error) == ATTN_OK;
}

/* ---- attention ---- */

static attn_status attend(bench_run *r)
{
    r->out = attn_attend(r->t,
                         (attn_attend_input){
                             .query = r->in[0],
                             .key = r->in[1],
                             .value = r->in[2],
                             .w = r->in[3],
                         },
                         &r->attend)
                 .output;
    return attn_tape_status(r->t);
}

static bool prepare_dot(bench_run *r)
{
    int64_t B = size_of(r, 'B'), H = size_of(r, 'H'), L = size_of(r, 'L'), d = size_of(r, 'd');
    attn_shape shape = ATTN_SHAPE(B, L, H * d);
    double pairs = (double)B * (double)H * (double)L * (double)L * (r->c->causal ? 0.5 : 1);
    r->flops = pairs * (double)d * (r->c->backward ? 14 : 4);
    r->attend.score = (attn_score_config){.score = ATTN_SCORE_SCALED_DOT, .heads = (int)H};
    r->attend.mask.causal = r->c->causal ? ATTN_CAUSAL_TOP_LEFT : ATTN_CAUSAL_NONE;
    bool ok = true;
    for (int i = 0; i < 3 && ok; i++) {
        ok = add_input(r, shape);
    }
    return ok;
}

static bool prepare_additive(bench_run *r)
{
    int64_t B = size_of(r, 'B'), H = size_of(r, 'H'), n = size_of(r, 'n'), m = size_of(r, 'm'), h = size_of(r, 'h');
    double pairs = (double)B * (double)H * (double)n * (double)m;
    r->flops = pairs * (double)h * (r->c->backward ? 22 : 6);
    r->attend.score = (attn_score_config){.score = ATTN_SCORE_ADDITIVE, .heads = (int)H};
    return add_input(r, ATTN_SHAPE(B, n, H * h)) && add_input(r, ATTN_SHAPE(B, m, H * h)) && add_input(r, ATTN_SHAPE(B, m, H * h)) &&
           add_input(r, ATTN_SHAPE(H, h));
}

/* Self-attention with its four projections. */
static bool prepare_layer(bench_run *r)
{
    int64_t B = size_of(r, 'B'), L = size_of(r, 'L'), D = size_of(r, 'D'), H = size_of(r, 'H');
    double b = (double)B, l = (double)L * (r->c->causal ? 0.5 : 1), d = (double)D; /* l: keys that a query sees */
    r->flops = b * (double)L * d * (r->c->backward ? 24 * d + 14 * l : 8 * d + 4 * l);
    r->params = attn_params_new(r->c->dtype, NULL);
    if (r->params == NULL) {
        return false;
    }
    r->layer = attn_attention_add(r->params, "attention", (attn_attention_config){.query_dim = (int)D, .heads = (int)H});
    return build(r) && add_input(r, ATTN_SHAPE(B, L, D));
}

static attn_status apply(bench_run *r)
{
    attn_mask mask = {.causal = r->c->causal ? ATTN_CAUSAL_TOP_LEFT : ATTN_CAUSAL_NONE};
    r->out = attn_attention_apply(r->t, r->layer, (attn_attention_input){.query = r->in[0], .mask = mask}).output;
    return attn_tape_status(r->t);
}

/* ---- operations ---- */

static bool prepare_matmul(bench_run *r)
{
    int64_t m = size_of(r, 'm'), n = size_of(r, 'n'), k = size_of(r, 'k');
    r->flops = (double)m * (double)n * (double)k * (r->c->backward ? 6 : 2);
    return add_input(r, ATTN_SHAPE(m, k)) && add_input(r, ATTN_SHAPE(k, n));
}

static attn_status matmul(bench_run *r)
{
    r->out = attn_matmul(r->t, r->in[0], r->in[1], ATTN_NN);
    return attn_tape_status(r->t);
}

static bool prepare_softmax(bench_run *r)
{
    int64_t R = size_of(r, 'R'), C = size_of(r, 'C');
    r->flops = (double)R * (double)C * (r->c->backward ? 8 : 4);
    return add_input(r, ATTN_SHAPE(R, C));
}

static attn_status softmax(bench_run *r)
{
    r->out = attn_softmax(r->t, r->in[0], NULL);
    return attn_tape_status(r->t);
}

static bool prepare_layer_norm(bench_run *r)
{
    int64_t R = size_of(r, 'R'), D = size_of(r, 'D');
    r->flops = (double)R * (double)D * (r->c->backward ? 19 : 8);
    return add_input(r, ATTN_SHAPE(R, D)) && add_input(r, ATTN_SHAPE(D)) && add_input(r, ATTN_SHAPE(D));
}

static attn_status layer_norm(bench_run *r)
{
    r->out = attn_layer_norm(r->t, r->in[0], r->in[1], r->in[2], 1e-5);
    return attn_tape_status(r->t);
}

static bool prepare_cross_entropy(bench_run *r)
{
    int64_t R = size_of(r, 'R'), C = size_of(r, 'C');
    r->flops = (double)R * (double)C * (r->c->backward ? 6 : 3);
    return add_input(r, ATTN_SHAPE(R, C)) && add_ids(r, R, C);
}

static attn_status cross_entropy(bench_run *r)
{
    r->out = attn_cross_entropy(r->t, r->in[0], r->ids, NULL);
    return attn_tape_status(r->t);
}

/* R rows of a (V,D) table: each is read and written, and so is its gradient. */
static bool prepare_embedding(bench_run *r)
{
    int64_t V = size_of(r, 'V'), D = size_of(r, 'D'), R = size_of(r, 'R');
    r->flops = (double)R * (double)D;
    r->bytes = 4 * r->flops * (double)attn_dtype_size(r->c->dtype);
    r->params = attn_params_new(r->c->dtype, NULL);
    if (r->params == NULL) {
        return false;
    }
    attn_params_add(r->params, "table", ATTN_SHAPE(V, D), (attn_param_config){.init = ATTN_INIT_NORMAL, .scale = 1, .sparse_rows = true});
    return build(r) && add_ids(r, R, V);
}

static attn_status embedding(bench_run *r)
{
    r->out = attn_embedding(r->t, attn_param(r->t, r->params, 0), r->ids, ATTN_SHAPE(size_of(r, 'R')));
    return attn_tape_status(r->t);
}

/* Reads w, its gradient and two moments, writes w and the moments. */
static bool prepare_adamw(bench_run *r)
{
    int64_t P = size_of(r, 'P');
    r->flops = 15 * (double)P;
    r->bytes = 7 * (double)P * (double)attn_dtype_size(r->c->dtype);
    r->params = attn_params_new(r->c->dtype, NULL);
    if (r->params == NULL) {
        return false;
    }
    attn_params_add(r->params, "w", ATTN_SHAPE(P), (attn_param_config){.init = ATTN_INIT_NORMAL, .scale = 1, .decay = true});
    if (!build(r)) {
        return false;
    }
    fill(r->c->dtype, P, 1, attn_params_grad(r->params, 0));
    r->optimizer = attn_adamw_new(r->params, (attn_adamw_config){.weight_decay = 0.01}, &r->error);
    return r->optimizer != NULL;
}

static attn_status adamw(bench_run *r)
{
    return attn_optimizer_step(r->optimizer, 1, &r->error);
}

const bench_work bench_works[] = {
    {"dot", "forward|forward_backward", "BN-HN-LN-dN[-causal]", prepare_dot, attend},
    {"additive", "forward|forward_backward", "BN[-HN]-nN-mN-hN", prepare_additive, attend},
    {"layer", "forward|forward_backward", "BN-LN-DN[-HN][-causal]", prepare_layer, apply},
    {"matmul", "forward|forward_backward", "mN-nN-kN", prepare_matmul, matmul},
    {"softmax", "forward|forward_backward", "RN-CN", prepare_softmax, softmax},
    {"layer_norm", "forward|forward_backward", "RN-DN", prepare_layer_norm, layer_norm},
    {"cross_entropy", "forward|forward_backward", "RN-CN", prepare_cross_entropy, cross_entropy},
    {"embedding", "forward_backward", "VN-DN-RN", prepare_embedding, embedding},
    {"adamw", "step", "PN", prepare_adamw, adamw},
    {0},
};

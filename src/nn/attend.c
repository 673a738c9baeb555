/* Attention on projected queries, keys and values: the output, and what of the way to it was asked for. */
#include <math.h>

#include "nn/attend.h"
#include "ops/op.h"

/* Attention of all queries, or of some of them. Keys and values have the past in front. */
typedef struct problem {
    attn_attend_input in;
    attn_attend_config config;
    const int32_t *first; /* place of query 0 for the relative-position bias */
} problem;

/* The plain composition: scores through their three stages, then weights if they are wanted. */
static void compose(attn_tape *t, const problem *p, bool weights, attn_attend_output *out)
{
    const attn_attend_config *c = &p->config;
    out->scaled = attn_attention_scores(t, p->in.query, p->in.key, p->in.w, c->score, &c->mask);
    out->capped = c->soft_cap != 0 ? attn_soft_cap(t, out->scaled, c->soft_cap) : out->scaled;
    out->scores = out->capped;
    if (p->in.position != NULL) {
        out->scores = attn_relative_bias(t, out->scores, p->in.position, p->first, &c->mask);
    }
    if (p->in.bias != NULL) {
        out->scores = attn_score_bias(t, out->scores, p->in.bias, &c->mask);
    }
    out->weights = weights ? attn_softmax(t, out->scores, &c->mask) : NULL;
}

static attn_tensor *mix(attn_tape *t, const problem *p, attn_tensor *weights)
{
    const attn_attend_config *c = &p->config;
    return attn_attention_mix(t, attn_dropout(t, weights, c->dropout), p->in.value, c->score.kv_heads, &c->mask);
}

/* The output alone, without an array of all pairs. */
static attn_tensor *output_of(attn_tape *t, const problem *p)
{
    const attn_attend_config *c = &p->config;
    return attn_fused_attention(t, &(attn_fused_input){.query = p->in.query,
                                                       .key = p->in.key,
                                                       .value = p->in.value,
                                                       .w = p->in.w,
                                                       .bias = p->in.bias,
                                                       .position = p->in.position,
                                                       .first = p->first,
                                                       .score = c->score,
                                                       .soft_cap = c->soft_cap,
                                                       .dropout = c->dropout,
                                                       .mask = c->mask});
}

/* ---- the report ---- */

/* Fills in how many queries the report is of. What is no batch of queries is left to the operations to refuse. */
static bool find_range(attn_tape *t, const attn_tensor *query, attn_attend_report *r)
{
    attn_shape q = attn_tensor_shape(query);
    if (attn_tape_status(t) == ATTN_OK && q.rank == 3) {
        int64_t n = q.dim[1];
        if (r->first_query < 0 || r->first_query > n || r->queries < 0 || r->queries > n - r->first_query) {
            attn__tape_fail(t, ATTN_ERANGE, "attention: a report of %lld queries from %lld on, but there are %lld", (long long)r->queries,
                            (long long)r->first_query, (long long)n);
            return false;
        }
        r->queries = r->queries != 0 ? r->queries : n - r->first_query;
    }
    return attn_tape_status(t) == ATTN_OK;
}

/* Where the first of some queries stands in each sentence: that of all queries, and as many further. */
static const int32_t *move_first(attn_tape *t, const int32_t *first, int64_t batch, int64_t begin)
{
    int32_t *moved = begin > 0 ? attn__tape_alloc(t, batch, sizeof *moved) : NULL;
    for (int64_t b = 0; moved != NULL && b < batch; b++) {
        int64_t at = begin + (first != NULL ? first[b] : 0);
        moved[b] = at < INT32_MAX ? (int32_t)at : INT32_MAX; /* so far away every offset is clipped */
    }
    return begin > 0 ? moved : first;
}

/* The queries of the report as a problem of their own. `p` has passed the checks of the operations. */
static problem part_of(attn_tape *t, const problem *p)
{
    problem part = *p;
    const attn_attend_report *r = &p->config.report;
    attn_shape q = attn_tensor_shape(p->in.query), bias = attn_tensor_shape(p->in.bias);
    attn__pairs d = {q.dim[0], 1, q.dim[1], attn_tensor_shape(p->in.key).dim[1]};
    part.in.query = attn_slice(t, p->in.query, 1, r->first_query, r->queries);
    part.first = move_first(t, p->first, q.dim[0], r->first_query);
    if (bias.rank >= 2 && bias.dim[bias.rank - 2] != 1) { /* else it is repeated over the queries */
        part.in.bias = attn_slice(t, p->in.bias, bias.rank - 2, r->first_query, r->queries);
    }
    (void)attn__mask_slice(t, &p->config.mask, d, r->first_query, r->queries, &part.config.mask);
    return part;
}

/* Keeps only what was asked for. */
static void forget(const attn_attend_report *r, attn_attend_output *out)
{
    out->weights = r->weights ? out->weights : NULL;
    if (!r->scores) {
        out->scaled = out->capped = out->scores = NULL;
    }
}

/* ---- both ---- */

/* The output through stages of all queries; those of the report are cut out of them. */
static void attend_composed(attn_tape *t, const problem *p, attn_attend_output *out)
{
    const attn_attend_report *r = &p->config.report;
    attn_tensor **stages[] = {&out->weights, &out->scaled, &out->capped, &out->scores};
    compose(t, p, true, out);
    out->output = mix(t, p, out->weights);
    forget(r, out);
    for (int i = 0; i < 4; i++) {
        *stages[i] = *stages[i] != NULL ? attn_slice(t, *stages[i], 2, r->first_query, r->queries) : NULL;
    }
}

/* The output first, so that its dropout and its bits are the same whether or not there is a report. */
static void attend_apart(attn_tape *t, const problem *p, attn_attend_output *out)
{
    const attn_attend_report *r = &p->config.report;
    out->output = output_of(t, p);
    if (out->output != NULL && (r->weights || r->scores)) {
        problem part = part_of(t, p);
        compose(t, &part, r->weights, out);
        forget(r, out);
    }
}

attn_attend_output attn__attend(attn_tape *t, const attn_attend_input *in, const attn_attend_config *c, const int32_t *first)
{
    const attn_attend_output nothing = {NULL, NULL, NULL, NULL, NULL, NULL, NULL};
    problem p = {.in = *in, .config = *c, .first = first};
    if (!find_range(t, in->query, &p.config.report)) {
        return nothing;
    }
    p.in.key = in->past_key != NULL ? attn_append(t, in->past_key, in->key) : in->key;
    p.in.value = in->past_value != NULL ? attn_append(t, in->past_value, in->value) : in->value;
    attn_attend_output out = {.key = p.in.key, .value = p.in.value};
    (c->composed ? attend_composed : attend_apart)(t, &p, &out);
    return attn_tape_status(t) == ATTN_OK ? out : nothing;
}

attn_attend_output attn_attend(attn_tape *t, attn_attend_input in, const attn_attend_config *config)
{
    const attn_attend_config everything = {.dropout = 0}, *c = config != NULL ? config : &everything;
    return attn__attend(t, &in, c, c->mask.positions);
}

attn_status attn_packed_rows(const int32_t *offsets, int n, int32_t *begins, int32_t *lengths)
{
    if (n < 0 || offsets[0] != 0) {
        return ATTN_EINVAL;
    }
    for (int s = 0; s < n; s++) {
        if (offsets[s + 1] < offsets[s]) {
            return ATTN_EINVAL;
        }
    }
    for (int s = 0; s < n; s++) {
        for (int32_t i = offsets[s]; i < offsets[s + 1]; i++) {
            begins[i] = offsets[s];
            lengths[i] = offsets[s + 1];
        }
    }
    return ATTN_OK;
}

attn_weight_statistics attn_weights_describe(const attn_tensor *weights)
{
    attn_weight_statistics all = {.rows = 0};
    attn_shape shape = attn_tensor_shape(weights);
    int64_t n = shape.rank > 0 ? shape.dim[shape.rank - 1] : 0;
    for (int64_t r = 0; n > 0 && r < attn_tensor_count(weights) / n; r++) {
        double entropy = 0, largest = 0;
        for (int64_t j = 0; j < n; j++) {
            double w = attn_tensor_get(weights, r * n + j);
            entropy -= w != 0 ? w * log(w) : 0;
            largest = w > largest || isnan(w) ? w : largest; /* a NaN stays */
        }
        if (largest != 0) {
            all.rows++;
            all.entropy += entropy;
            all.largest += largest;
            all.saturation += largest > 0.99;
        }
    }
    double rows = all.rows > 0 ? (double)all.rows : 1;
    all.entropy /= rows;
    all.largest /= rows;
    all.saturation /= rows;
    return all;
}

/* Attention on projected queries, keys and values: the plain composition of the operations that ops/ has. */
#include <math.h>

#include "nn/attend.h"

/* Scores through their three stages. */
static attn_attend_output score(attn_tape *t, const attn_attend_input *in, const attn_attend_config *c, const int32_t *first,
                                attn_attend_output out)
{
    out.scaled = attn_attention_scores(t, in->query, out.key, in->w, c->score, &c->mask);
    out.capped = c->soft_cap != 0 ? attn_soft_cap(t, out.scaled, c->soft_cap) : out.scaled;
    out.scores = out.capped;
    if (in->position != NULL) {
        out.scores = attn_relative_bias(t, out.scores, in->position, first, &c->mask);
    }
    if (in->bias != NULL) {
        out.scores = attn_score_bias(t, out.scores, in->bias, &c->mask);
    }
    return out;
}

attn_attend_output attn__attend(attn_tape *t, const attn_attend_input *in, const attn_attend_config *c, const int32_t *first)
{
    const attn_attend_output nothing = {NULL, NULL, NULL, NULL, NULL, NULL, NULL};
    attn_attend_output out = {
        .key = in->past_key != NULL ? attn_append(t, in->past_key, in->key) : in->key,
        .value = in->past_value != NULL ? attn_append(t, in->past_value, in->value) : in->value,
    };
    out = score(t, in, c, first, out);
    out.weights = attn_softmax(t, out.scores, &c->mask);
    out.output = attn_attention_mix(t, attn_dropout(t, out.weights, c->dropout), out.value, c->score.kv_heads, &c->mask);
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

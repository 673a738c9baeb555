#include "support/attend.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *const attend_names[INPUTS] = {"query", "key", "value", "past key", "past value", "w", "bias", "position"};

/* ---- masks ---- */

static const int32_t key_lengths[] = {4, 6}, no_keys[] = {5, 0}, query_lengths[] = {2, 4}, row_lengths[] = {0, 2, 7, 1, 3, 5, 0, 0, 6, 2},
                     row_begins[] = {0, 1, 5, 1, 2, 3, 2, 7, 5, 0}, places[] = {3, -2};
static const uint8_t allow_keys[] = {1, 0, 1, 1, 0, 0, 1, 0, 0, 1, 0, 1, 1, 0};
static const uint8_t allow_pairs[] = {1, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 0, 0, 1, 0, 0,
                                      0, 0, 0, 0, 0, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 1, 1, 0,
                                      0, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 0, 0};
const attn_mask attend_masks[MASKS] = {
    {.key_lengths = key_lengths},
    {.key_lengths = no_keys},
    {.query_lengths = query_lengths},
    {.row_lengths = row_lengths},
    {.row_begins = row_begins, .row_lengths = row_lengths},
    {.allow = allow_pairs},
    {.allow = allow_keys, .allow_form = ATTN_ALLOW_KEYS},
    {.causal = ATTN_CAUSAL_TOP_LEFT},
    {.causal = ATTN_CAUSAL_BOTTOM_RIGHT},
    {.causal = ATTN_CAUSAL_POSITION, .positions = places},
    {.window = true, .left = 1, .right = 0},
    {.window = true, .left = 1, .right = 1, .positions = places},
    {.window = true, .left = 2, .right = -1, .causal = ATTN_CAUSAL_TOP_LEFT},
    {.key_lengths = key_lengths, .query_lengths = query_lengths, .allow = allow_pairs, .causal = ATTN_CAUSAL_BOTTOM_RIGHT},
};

/* ---- the problem ---- */

int64_t attend_keys(const attend_problem *p)
{
    return p->past + p->keys;
}

int64_t attend_outputs(const attend_problem *p)
{
    return p->batch * p->queries * p->config.score.heads * p->value_width;
}

int64_t attend_pairs(const attend_problem *p)
{
    return p->batch * p->config.score.heads * p->queries * attend_keys(p);
}

attn_shape attend_shape(const attend_problem *p, int input)
{
    int64_t h = p->config.score.heads, g = p->config.score.kv_heads;
    const attn_shape shapes[INPUTS] = {
        [IN_QUERY] = ATTN_SHAPE(p->batch, p->queries, h * p->width),
        [IN_KEY] = ATTN_SHAPE(p->batch, p->keys, g * p->width),
        [IN_VALUE] = ATTN_SHAPE(p->batch, p->keys, g * p->value_width),
        [IN_PAST_KEY] = ATTN_SHAPE(p->batch, p->past, g * p->width),
        [IN_PAST_VALUE] = ATTN_SHAPE(p->batch, p->past, g * p->value_width),
        [IN_W] = ATTN_SHAPE(h, p->width),
        [IN_BIAS] = p->bias,
        [IN_POSITION] = ATTN_SHAPE(h, 2 * p->clip + 1),
    };
    return shapes[input];
}

static bool has(const attend_problem *p, int input)
{
    switch (input) {
    case IN_PAST_KEY:
    case IN_PAST_VALUE:
        return p->past > 0;
    case IN_W:
        return p->config.score.score == ATTN_SCORE_ADDITIVE;
    case IN_BIAS:
        return p->bias.rank > 0;
    case IN_POSITION:
        return p->clip > 0;
    default:
        return true;
    }
}

void attend_open(attend_problem *p)
{
    for (int k = 0; k < INPUTS; k++) {
        p->in[k] = has(p, k) ? random_values(attn_shape_count(attend_shape(p, k)), 10 * p->seed + (uint64_t)k, -1, 1) : NULL;
    }
    p->cotangent = random_values(attend_outputs(p), 10 * p->seed + 9, -1, 1);
    p->config.report = (attn_attend_report){.weights = true, .scores = true};
}

void attend_close(attend_problem *p)
{
    for (int k = 0; k < INPUTS; k++) {
        free(p->in[k]);
    }
    free(p->cotangent);
}

/* ---- the run ---- */

/* A variable from memory that ends at the guard page. */
static attn_tensor *guarded_variable(const guarded *g, attn_tape *t, attn_dtype dtype, attn_shape shape, const double *values)
{
    int64_t n = attn_shape_count(shape);
    unsigned char *bytes = guard_array(g, (size_t)n * attn_dtype_size(dtype), GUARD_AFTER);
    for (int64_t i = 0; i < n; i++) {
        float single = (float)values[i];
        memcpy(bytes + (size_t)i * attn_dtype_size(dtype), dtype == ATTN_F32 ? (const void *)&single : &values[i], attn_dtype_size(dtype));
    }
    return attn_variable(t, dtype, shape, bytes);
}

attn_attend_input attend_input(attn_tensor *const in[INPUTS])
{
    return (attn_attend_input){.query = in[IN_QUERY],
                               .key = in[IN_KEY],
                               .value = in[IN_VALUE],
                               .past_key = in[IN_PAST_KEY],
                               .past_value = in[IN_PAST_VALUE],
                               .w = in[IN_W],
                               .bias = in[IN_BIAS],
                               .position = in[IN_POSITION]};
}

attn_attend_output attend_run(attend_problem *p, attn_tape *t, attn_dtype dtype, bool backward)
{
    for (int k = 0; k < INPUTS; k++) {
        p->variable[k] = p->in[k] == NULL   ? NULL
                         : p->guard != NULL ? guarded_variable(p->guard, t, dtype, attend_shape(p, k), p->in[k])
                                            : variable_of(t, dtype, attend_shape(p, k), p->in[k]);
    }
    attn_attend_output out = attn_attend(t, attend_input(p->variable), &p->config);
    assert_tape_ok(t);
    if (backward) {
        assert_int_equal(backward_from(t, out.output, p->cotangent), ATTN_OK);
    }
    return out;
}

/* ---- the definition of the mask ---- */

bool attend_sees(const attend_problem *p, int64_t b, int64_t i, int64_t j)
{
    const attn_mask *m = &p->config.mask;
    int64_t keys = attend_keys(p), row = b * p->queries + i;
    int64_t place = i + (m->positions != NULL ? m->positions[b] : m->causal == ATTN_CAUSAL_BOTTOM_RIGHT ? keys - p->queries : 0);
    if ((m->causal != ATTN_CAUSAL_NONE && j > place) || (m->window && m->left >= 0 && j < place - m->left) ||
        (m->window && m->right >= 0 && j > place + m->right)) {
        return false;
    }
    if ((m->key_lengths != NULL && j >= m->key_lengths[b]) || (m->query_lengths != NULL && i >= m->query_lengths[b]) ||
        (m->row_lengths != NULL && j >= m->row_lengths[row]) || (m->row_begins != NULL && j < m->row_begins[row])) {
        return false;
    }
    return m->allow == NULL || m->allow[(m->allow_form == ATTN_ALLOW_KEYS ? b : row) * keys + j] == 1;
}

bool attend_query_used(const attend_problem *p, int64_t b, int64_t i)
{
    bool used = false;
    for (int64_t j = 0; j < attend_keys(p); j++) {
        used = used || attend_sees(p, b, i, j);
    }
    return used;
}

bool attend_key_used(const attend_problem *p, int64_t b, int64_t j)
{
    bool used = false;
    for (int64_t i = 0; i < p->queries; i++) {
        used = used || attend_sees(p, b, i, j);
    }
    return used;
}

/* ---- the reference ---- */

static double *query_at(const attend_problem *p, double *const a[], int64_t b, int64_t h, int64_t i)
{
    return a[IN_QUERY] + ((b * p->queries + i) * p->config.score.heads + h) * p->width;
}

/* Key (or value) j of the head that query head h reads, in the past or behind it. */
static double *key_at(const attend_problem *p, double *const a[], int input, int64_t b, int64_t h, int64_t j)
{
    int64_t kv = p->config.score.kv_heads, g = h / (p->config.score.heads / kv), d = input == IN_KEY ? p->width : p->value_width;
    bool past = j < p->past;
    double *from = past ? a[input == IN_KEY ? IN_PAST_KEY : IN_PAST_VALUE] : a[input];
    return from + ((past ? b * p->past + j : b * p->keys + j - p->past) * kv + g) * d;
}

static double *bias_at(const attend_problem *p, double *const a[], int64_t b, int64_t h, int64_t i, int64_t j)
{
    const int64_t at[] = {b, h, i, j};
    int64_t index = 0;
    for (int d = 0; d < p->bias.rank; d++) {
        index = index * p->bias.dim[d] + (p->bias.dim[d] == 1 ? 0 : at[4 - p->bias.rank + d]);
    }
    return a[IN_BIAS] + index;
}

static double *position_at(const attend_problem *p, double *const a[], int64_t b, int64_t h, int64_t i, int64_t j)
{
    int64_t offset = j - i - (p->config.mask.positions != NULL ? p->config.mask.positions[b] : 0);
    offset = offset < -p->clip ? -p->clip : offset > p->clip ? p->clip : offset;
    return a[IN_POSITION] + h * (2 * p->clip + 1) + offset + p->clip;
}

static double factor(const attend_problem *p)
{
    const attn_score_config *c = &p->config.score;
    return c->scale != 0 ? c->scale : c->score == ATTN_SCORE_SCALED_DOT ? 1 / sqrt((double)p->width) : 1;
}

/* Before the cap, before any bias. */
static double raw_score(const attend_problem *p, int64_t b, int64_t h, int64_t i, int64_t j)
{
    const double *q = query_at(p, p->in, b, h, i), *k = key_at(p, p->in, IN_KEY, b, h, j);
    double s = 0;
    if (p->in[IN_W] != NULL) {
        for (int64_t c = 0; c < p->width; c++) {
            s += p->in[IN_W][h * p->width + c] * tanh(q[c] + k[c]);
        }
        return s;
    }
    for (int64_t c = 0; c < p->width; c++) {
        s += q[c] * k[c];
    }
    return s * factor(p);
}

static double full_score(const attend_problem *p, int64_t b, int64_t h, int64_t i, int64_t j)
{
    double s = raw_score(p, b, h, i, j), cap = p->config.soft_cap;
    s = cap > 0 ? cap * tanh(s / cap) : s;
    s += p->clip > 0 ? *position_at(p, p->in, b, h, i, j) : 0;
    return s + (p->bias.rank > 0 ? *bias_at(p, p->in, b, h, i, j) : 0);
}

/* Adds what the score of one pair passes back, given its gradient ds. */
static void score_backward(const attend_problem *p, double *const grad[], int64_t b, int64_t h, int64_t i, int64_t j, double ds)
{
    const double *q = query_at(p, p->in, b, h, i), *k = key_at(p, p->in, IN_KEY, b, h, j);
    double *dq = query_at(p, grad, b, h, i), *dk = key_at(p, grad, IN_KEY, b, h, j), cap = p->config.soft_cap;
    if (p->clip > 0) {
        *position_at(p, grad, b, h, i, j) += ds;
    }
    if (p->bias.rank > 0) {
        *bias_at(p, grad, b, h, i, j) += ds;
    }
    double u = cap > 0 ? tanh(raw_score(p, b, h, i, j) / cap) : 0;
    ds *= 1 - u * u;
    for (int64_t c = 0; c < p->width; c++) {
        if (p->in[IN_W] != NULL) {
            double w = p->in[IN_W][h * p->width + c], v = tanh(q[c] + k[c]);
            grad[IN_W][h * p->width + c] += ds * v;
            dq[c] += ds * w * (1 - v * v);
            dk[c] += ds * w * (1 - v * v);
        } else {
            dq[c] += ds * factor(p) * k[c];
            dk[c] += ds * factor(p) * q[c];
        }
    }
}

/* Weights and output of one query of one head; a row that sees nothing stays 0. */
static void row_forward(const attend_problem *p, const attend_reference *r, int64_t b, int64_t h, int64_t i, double *w, double *out)
{
    double *s = r->scores + (w - r->weights), top = -HUGE_VAL, sum = 0;
    for (int64_t j = 0; j < attend_keys(p); j++) {
        if (attend_sees(p, b, i, j)) {
            s[j] = full_score(p, b, h, i, j);
            top = fmax(top, s[j]);
        }
    }
    for (int64_t j = 0; j < attend_keys(p) && top > -HUGE_VAL; j++) {
        w[j] = attend_sees(p, b, i, j) ? exp(s[j] - top) : 0;
        sum += w[j];
    }
    for (int64_t j = 0; j < attend_keys(p) && top > -HUGE_VAL; j++) {
        w[j] /= sum;
        for (int64_t c = 0; c < p->value_width && attend_sees(p, b, i, j); c++) {
            out[c] += w[j] * key_at(p, p->in, IN_VALUE, b, h, j)[c];
        }
    }
}

/* With y = sum w v: dw = g . v, ds = w (dw - sum w dw), dv = w g. */
static void row_backward(const attend_problem *p, const attend_reference *r, int64_t b, int64_t h, int64_t i, const double *w,
                         const double *g)
{
    double mean = 0, *dw = calloc((size_t)attend_keys(p) + 1, sizeof *dw);
    assert_non_null(dw);
    for (int64_t j = 0; j < attend_keys(p); j++) {
        for (int64_t c = 0; c < p->value_width && attend_sees(p, b, i, j); c++) {
            dw[j] += g[c] * key_at(p, p->in, IN_VALUE, b, h, j)[c];
            key_at(p, r->grad, IN_VALUE, b, h, j)[c] += w[j] * g[c];
        }
        mean += w[j] * dw[j];
    }
    for (int64_t j = 0; j < attend_keys(p); j++) {
        if (attend_sees(p, b, i, j)) {
            score_backward(p, r->grad, b, h, i, j, w[j] * (dw[j] - mean));
        }
    }
    free(dw);
}

attend_reference attend_by_loops(const attend_problem *p)
{
    int64_t heads = p->config.score.heads;
    attend_reference r = {
        .scores = random_values(attend_pairs(p), 0, 0, 0),
        .weights = random_values(attend_pairs(p), 0, 0, 0),
        .output = random_values(attend_outputs(p), 0, 0, 0),
    };
    for (int k = 0; k < INPUTS; k++) {
        r.grad[k] = p->in[k] != NULL ? random_values(attn_shape_count(attend_shape(p, k)), 0, 0, 0) : NULL;
    }
    for (int64_t row = 0; row < p->batch * heads * p->queries; row++) {
        int64_t i = row % p->queries, h = row / p->queries % heads, b = row / p->queries / heads;
        int64_t at = ((b * p->queries + i) * heads + h) * p->value_width;
        double *w = r.weights + row * attend_keys(p);
        row_forward(p, &r, b, h, i, w, r.output + at);
        row_backward(p, &r, b, h, i, w, p->cotangent + at);
    }
    return r;
}

void attend_reference_free(attend_reference *r)
{
    free(r->scores);
    free(r->weights);
    free(r->output);
    for (int k = 0; k < INPUTS; k++) {
        free(r->grad[k]);
    }
}

/* NaN counts as infinitely far. */
static double farther(double most, double actual, double expected)
{
    double d = fabs(actual - expected);
    return isnan(d) ? HUGE_VAL : fmax(most, d);
}

double attend_difference(const attend_problem *p, const attn_attend_output *out, const attend_reference *r, bool backward)
{
    double most = 0;
    for (int64_t i = 0; i < attend_pairs(p); i++) {
        most = farther(most, attn_tensor_get(out->scores, i), r->scores[i]);
        most = farther(most, attn_tensor_get(out->weights, i), r->weights[i]);
    }
    for (int64_t i = 0; i < attend_outputs(p); i++) {
        most = farther(most, attn_tensor_get(out->output, i), r->output[i]);
    }
    for (int k = 0; k < INPUTS && backward; k++) {
        for (int64_t i = 0; p->in[k] != NULL && i < attn_shape_count(attend_shape(p, k)); i++) {
            most = farther(most, attn_tensor_get_grad(p->variable[k], i), r->grad[k][i]);
        }
    }
    return most;
}

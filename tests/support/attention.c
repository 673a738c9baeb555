#include "support/attention.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "support/params.h"

int64_t attention_width(const attention_problem *p)
{
    return p->config.no_output ? (int64_t)p->config.heads * p->config.head_value_dim : p->config.output_dim;
}

void attention_open(attention_problem *p, attn_dtype dtype)
{
    attn_error error = {.message = ""};
    p->dtype = dtype;
    p->params = attn_params_new(dtype, NULL);
    assert_non_null(p->params);
    p->layer = attn_attention_add(p->params, "a", p->config);
    attn_status status = attn_params_build(p->params, p->seed, &error);
    assert_string_equal(error.message, "");
    assert_int_equal(status, ATTN_OK);
    p->config = attn_attention_get_config(p->layer);
    for (int id = 0; id < attn_params_count(p->params); id++) {
        int64_t n = attn_shape_count(attn_params_shape(p->params, id));
        double *values = random_values(n, p->seed + 100 + (uint64_t)id, -1, 1);
        for (int64_t i = 0; i < n; i++) {
            set_value(p->params, id, i, values[i]);
        }
        free(values);
    }
    p->query = random_values(p->batch * p->queries * p->config.query_dim, p->seed + 1, -1, 1);
    p->key = p->self ? p->query : random_values(p->batch * p->keys * p->config.key_dim, p->seed + 2, -1, 1);
    p->value = p->self ? p->query : random_values(p->batch * p->keys * p->config.value_dim, p->seed + 3, -1, 1);
}

void attention_close(attention_problem *p)
{
    attn_params_free(p->params);
    if (!p->self) {
        free(p->key);
        free(p->value);
    }
    free(p->query);
}

attn_attention_output attention_run(attention_problem *p, attn_tape *t)
{
    p->q = variable_of(t, p->dtype, ATTN_SHAPE(p->batch, p->queries, p->config.query_dim), p->query);
    p->k = p->self ? NULL : variable_of(t, p->dtype, ATTN_SHAPE(p->batch, p->keys, p->config.key_dim), p->key);
    p->v = p->self ? NULL : variable_of(t, p->dtype, ATTN_SHAPE(p->batch, p->keys, p->config.value_dim), p->value);
    return attn_attention_apply(t, p->layer,
                                (attn_attention_input){.query = p->q,
                                                       .key = p->k,
                                                       .value = p->v,
                                                       .mask = p->mask,
                                                       .query_start = p->query_start,
                                                       .report = {.weights = true, .scores = true}});
}

/* ---- the reference ---- */

static int find(const attention_problem *p, const char *name)
{
    char full[64];
    (void)snprintf(full, sizeof full, "a.%s", name);
    return attn_params_find(p->params, full);
}

double attention_grad(const attention_problem *p, const char *name, int64_t i)
{
    return grad(p->params, find(p, name), i);
}

/* y = x W + b for every row */
static double *projected(const attention_problem *p, const double *x, int64_t rows, char letter)
{
    const char matrix[] = {'W', '_', letter, '\0'}, bias[] = {'b', '_', letter, '\0'};
    int w = find(p, matrix), b = find(p, bias);
    attn_shape shape = attn_params_shape(p->params, w);
    int64_t in = shape.dim[0], out = shape.dim[1];
    double *y = calloc((size_t)(rows * out + 1), sizeof *y);
    for (int64_t r = 0; r < rows; r++) {
        for (int64_t c = 0; c < out; c++) {
            y[r * out + c] = b >= 0 ? value(p->params, b, c) : 0;
            for (int64_t i = 0; i < in; i++) {
                y[r * out + c] += x[r * in + i] * value(p->params, w, i * out + c);
            }
        }
    }
    return y;
}

bool attention_sees(const attention_problem *p, int64_t b, int64_t i, int64_t j)
{
    const attn_mask *m = &p->mask;
    bool early = m->causal == ATTN_CAUSAL_NONE || j <= i + (m->causal == ATTN_CAUSAL_BOTTOM_RIGHT ? p->keys - p->queries : 0);
    bool key = m->key_lengths == NULL || j < m->key_lengths[b], query = m->query_lengths == NULL || i < m->query_lengths[b];
    bool row = m->row_lengths == NULL || j < m->row_lengths[b * p->queries + i];
    int64_t at = m->allow_form == ATTN_ALLOW_KEYS ? b * p->keys + j : (b * p->queries + i) * p->keys + j;
    return early && key && query && row && (m->allow == NULL || m->allow[at] == 1);
}

static double score(const attention_problem *p, const double *q, const double *k, int64_t head)
{
    double s = 0;
    for (int64_t c = 0; c < p->config.head_dim; c++) {
        s += p->config.score == ATTN_SCORE_ADDITIVE ? value(p->params, find(p, "w"), head * p->config.head_dim + c) * tanh(q[c] + k[c])
                                                    : q[c] * k[c];
    }
    return p->config.score == ATTN_SCORE_SCALED_DOT ? s / sqrt(p->config.head_dim) : s;
}

static double position_bias(const attention_problem *p, int64_t b, int64_t head, int64_t i, int64_t j)
{
    int64_t clip = p->config.relative_clip, offset = j - i - (p->query_start != NULL ? p->query_start[b] : 0);
    offset = offset < -clip ? -clip : offset > clip ? clip : offset;
    return clip > 0 ? value(p->params, find(p, "position"), head * (2 * clip + 1) + offset + clip) : 0;
}

/* Scores and weights of one query in one head, and its mixture of values. */
static void one_query(const attention_problem *p, const attention_reference *r, int64_t b, int64_t h, int64_t i, const double *q,
                      const double *k, const double *v, double *mixed)
{
    int64_t heads = p->config.heads, d = p->config.head_dim, dv = p->config.head_value_dim;
    double *s = r->scores + ((b * heads + h) * p->queries + i) * p->keys, *w = r->weights + (s - r->scores), top = -HUGE_VAL, sum = 0;
    for (int64_t j = 0; j < p->keys; j++) {
        if (attention_sees(p, b, i, j)) {
            s[j] = score(p, q + ((b * p->queries + i) * heads + h) * d, k + ((b * p->keys + j) * heads + h) * d, h) +
                   position_bias(p, b, h, i, j);
            top = fmax(top, s[j]);
        }
    }
    for (int64_t j = 0; j < p->keys; j++) {
        w[j] = attention_sees(p, b, i, j) ? exp(s[j] - top) : 0;
        sum += w[j];
    }
    for (int64_t j = 0; j < p->keys; j++) {
        w[j] = sum > 0 ? w[j] / sum : 0;
        for (int64_t c = 0; c < dv && attention_sees(p, b, i, j); c++) {
            mixed[((b * p->queries + i) * heads + h) * dv + c] += w[j] * v[((b * p->keys + j) * heads + h) * dv + c];
        }
    }
}

/* A query that sees nothing has output 0, also where there is a bias. */
static void silence(const attention_problem *p, double *output)
{
    for (int64_t r = 0; r < p->batch * p->queries; r++) {
        bool any = false;
        for (int64_t j = 0; j < p->keys; j++) {
            any = any || attention_sees(p, r / p->queries, r % p->queries, j);
        }
        for (int64_t c = 0; !any && c < attention_width(p); c++) {
            output[r * attention_width(p) + c] = 0;
        }
    }
}

attention_reference attention_by_loops(const attention_problem *p)
{
    int64_t rows = p->batch * p->queries, heads = p->config.heads;
    attention_reference r = {.pairs = rows * heads * p->keys, .outputs = rows * attention_width(p)};
    r.scores = calloc((size_t)r.pairs + 1, sizeof *r.scores);
    r.weights = calloc((size_t)r.pairs + 1, sizeof *r.weights);
    double *q = projected(p, p->query, rows, 'q'), *k = projected(p, p->key, p->batch * p->keys, 'k');
    double *v = projected(p, p->value, p->batch * p->keys, 'v');
    double *mixed = calloc((size_t)(rows * heads * p->config.head_value_dim) + 1, sizeof *mixed);
    for (int64_t b = 0; b < p->batch; b++) {
        for (int64_t h = 0; h < heads; h++) {
            for (int64_t i = 0; i < p->queries; i++) {
                one_query(p, &r, b, h, i, q, k, v, mixed);
            }
        }
    }
    r.output = p->config.no_output ? mixed : projected(p, mixed, rows, 'o');
    silence(p, r.output);
    if (!p->config.no_output) {
        free(mixed);
    }
    free(q);
    free(k);
    free(v);
    return r;
}

void attention_reference_free(attention_reference *r)
{
    free(r->scores);
    free(r->weights);
    free(r->output);
}

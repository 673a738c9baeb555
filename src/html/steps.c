/* The steps of predictions as data of a page; steps.js shows them. Numbers that the model computed in float32 are packed as such. */
#include "html/html.h"

static void packed(attn__html *h, const char *key, const double *v, int64_t n)
{
    attn__data_key(h, key);
    attn__data_packed(h, v, n, ATTN__F32);
}

static void numbers(attn__html *h, const char *key, const double *v, int64_t n)
{
    attn__data_key(h, key);
    attn__data_numbers(h, v, n);
}

static void number(attn__html *h, const char *key, double v)
{
    attn__data_key(h, key);
    attn__data_number(h, v);
}

static void write_head(attn__html *h, const attn_explanation *e, const attn_head_steps *s)
{
    int64_t n = e->n, d = e->d, dv = e->dv, senses = e->prediction.n_senses;
    attn__data_open(h, '{');
    packed(h, "query", s->query, d);
    packed(h, "keys", s->key, n * d);
    if (s->w != NULL) {
        packed(h, "w", s->w, d);
    }
    packed(h, "raw", s->raw, n);
    packed(h, "scaled", s->scaled, n);
    if (s->position != NULL) {
        packed(h, "position", s->position, n);
    }
    packed(h, "scores", s->score, n);
    packed(h, "weights", s->weight, n);
    packed(h, "values", s->value, n * dv);
    packed(h, "mixed", s->mixed, dv);
    packed(h, "matrix", s->matrix, dv * senses);
    attn__data_close(h, '}');
}

static void write_member(attn__html *h, const attn_explanation *e, const attn_member_steps *m)
{
    int64_t senses = e->prediction.n_senses;
    attn__data_open(h, '{');
    number(h, "seed", (double)m->seed);
    numbers(h, "bias", m->bias, senses);
    numbers(h, "prior", m->prior, senses);
    numbers(h, "logits", m->logit, senses);
    numbers(h, "probabilities", m->probability, senses);
    attn__data_key(h, "heads");
    attn__data_open(h, '[');
    for (int i = 0; i < e->heads; i++) {
        write_head(h, e, &m->head[i]);
    }
    attn__data_close(h, ']');
    attn__data_close(h, '}');
}

void attn__data_explanation(attn__html *h, const attn_explanation *e)
{
    static const char *const scores[] = {
        [ATTN_SCORE_SCALED_DOT] = "scaled-dot", [ATTN_SCORE_DOT] = "dot", [ATTN_SCORE_ADDITIVE] = "additive"};
    attn__data_key(h, "senses");
    attn__data_strings(h, e->prediction.senses, e->prediction.n_senses);
    numbers(h, "probabilities", e->prediction.probabilities, e->prediction.n_senses);
    attn__data_key(h, "score");
    attn__data_string(h, scores[e->score]);
    number(h, "scale", e->scale);
    number(h, "d", e->d);
    number(h, "dv", e->dv);
    number(h, "begin", e->begin);
    number(h, "count", e->n);
    attn__data_key(h, "known");
    attn__data_open(h, '[');
    for (int i = 0; i < e->n; i++) {
        attn__data_bool(h, e->known[i]);
    }
    attn__data_close(h, ']');
    if (e->neighbours != NULL) {
        numbers(h, "neighbours", e->neighbours, (int64_t)e->n * e->prediction.n_senses);
    }
    attn__data_key(h, "members");
    attn__data_open(h, '[');
    for (int k = 0; k < e->members; k++) {
        write_member(h, e, &e->member[k]);
    }
    attn__data_close(h, ']');
}

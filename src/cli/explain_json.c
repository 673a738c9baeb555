/* The steps of a prediction as JSON, schema attn.explain/1 (docs/formats.md). */
#include "explain.h"

static json_t *numbers(const double *x, int n)
{
    json_t *list = json_array();
    for (int i = 0; i < n; i++) {
        json_array_append_new(list, json_real(x[i]));
    }
    return list;
}

static json_t *matrix(const double *x, int rows, int columns)
{
    json_t *list = json_array();
    for (int i = 0; i < rows; i++) {
        json_array_append_new(list, numbers(x + (int64_t)i * columns, columns));
    }
    return list;
}

static json_t *words(const attn_example *sentence)
{
    json_t *list = json_array();
    for (int i = 0; i < sentence->length; i++) {
        json_array_append_new(list, json_string(sentence->tokens[i]));
    }
    return list;
}

static json_t *head_to_json(const attn_explanation *e, const attn_head_steps *s, int head)
{
    int n = e->n, senses = e->prediction.n_senses;
    json_t *o = json_pack("{s:i, s:o, s:o}", "head", head, "query", numbers(s->query, e->d), "keys", matrix(s->key, n, e->d));
    if (s->w != NULL) {
        json_object_set_new(o, "w", numbers(s->w, e->d));
        json_object_set_new(o, "squashed", matrix(s->squashed, n, e->d));
    }
    json_object_set_new(o, "raw", numbers(s->raw, n));
    json_object_set_new(o, "scaled", numbers(s->scaled, n));
    if (s->position != NULL) {
        json_object_set_new(o, "position", numbers(s->position, n));
    }
    json_object_set_new(o, "scores", numbers(s->score, n));
    json_object_set_new(o, "weights", numbers(s->weight, n));
    json_object_set_new(o, "values", matrix(s->value, n, e->dv));
    json_object_set_new(o, "mixed", numbers(s->mixed, e->dv));
    json_object_set_new(o, "matrix", matrix(s->matrix, e->dv, senses));
    json_object_set_new(o, "part", numbers(s->part, senses));
    return o;
}

static json_t *member_to_json(const attn_explanation *e, const attn_member_steps *m, int member, const explain_part *part)
{
    int senses = e->prediction.n_senses;
    json_t *heads = json_array();
    for (int h = 0; h < e->heads; h++) {
        if (is_told(part->head, h)) {
            json_array_append_new(heads, head_to_json(e, &m->head[h], h));
        }
    }
    return json_pack("{s:i, s:I, s:o, s:o, s:o, s:o, s:o}", "member", member, "seed", (json_int_t)m->seed, "heads", heads, "bias",
                     numbers(m->bias, senses), "prior", numbers(m->prior, senses), "logits", numbers(m->logit, senses), "probabilities",
                     numbers(m->probability, senses));
}

json_t *explanation_to_json(const attn_example *sentence, const attn_explanation *e, const explain_part *part)
{
    const attn_prediction *p = &e->prediction;
    json_t *senses = json_array(), *probabilities = json_object(), *known = json_array(), *members = json_array();
    for (int s = 0; s < p->n_senses; s++) {
        json_array_append_new(senses, json_string(p->senses[s]));
        json_object_set_new(probabilities, p->senses[s], json_real(p->probabilities[s]));
    }
    for (int j = 0; j < e->n; j++) {
        json_array_append_new(known, json_boolean(e->known[j]));
    }
    for (int k = 0; k < e->members; k++) {
        if (is_told(part->member, k)) {
            json_array_append_new(members, member_to_json(e, &e->member[k], k, part));
        }
    }
    json_t *neighbours = e->neighbours != NULL ? matrix(e->neighbours, e->n, p->n_senses) : NULL;
    json_t *weight = e->neighbours != NULL ? json_real(e->neighbours_weight) : NULL;
    return json_pack("{s:s, s:o, s:i, s:s, s:o, s:o, s:s, s:f, s:i, s:i, s:i, s:i, s:o, s:o*, s:o*, s:o}", "schema", "attn.explain/1",
                     "sentence", words(sentence), "target", e->target, "sense", p->senses[p->best], "probabilities", probabilities,
                     "senses", senses, "score", score_name(e->score), "scale", e->scale, "head_dim", e->d, "value_dim", e->dv, "begin",
                     e->begin, "count", e->n, "known", known, "neighbours", neighbours, "neighbours_weight", weight, "members", members);
}

/* The numbers of one prediction, in the order in which they arise. They are read off the tape on which the model computed them. */
#include "attn/explain.h"

#include <math.h>
#include <string.h>

#include "word_sense/model.h"

/* One sentence under one member: what was computed, and where the next numbers go. */
typedef struct reading {
    const attn_word_sense *m;
    const attn__member *member;
    const attn_explanation *e;
    attn_attention_output a;
    attn_tensor *raw; /* (1,H,1,n) scores before scaling */
    int first;        /* sense 0 of the word among all senses */
    double *at;       /* free numbers */
} reading;

static double *take(reading *r, int64_t n)
{
    double *numbers = r->at;
    r->at += n;
    return numbers;
}

/* Head h of what holds (rows, heads, width). */
static const double *head_of(reading *r, const attn_tensor *x, int h, int rows, int width)
{
    double *numbers = take(r, (int64_t)rows * width);
    for (int64_t i = 0; i < rows; i++) {
        for (int64_t c = 0; c < width; c++) {
            numbers[i * width + c] = attn_tensor_get(x, (i * r->e->heads + h) * width + c);
        }
    }
    return numbers;
}

/* Values of a parameter of the attention layer; NULL if it has no such parameter. */
static const float *layer_values(const reading *r, const char *name)
{
    return attn_params_value(r->member->params, attn_params_find(r->member->params, name));
}

/* w and tanh(q + k) of additive scores. */
static void read_additive(reading *r, int h, attn_head_steps *s)
{
    const float *all = layer_values(r, "attention.w");
    int n = r->e->n, d = r->e->d;
    double *w = take(r, d), *squashed = take(r, (int64_t)n * d);
    for (int c = 0; c < d; c++) {
        w[c] = (double)all[h * d + c];
    }
    for (int i = 0; i < n * d; i++) {
        squashed[i] = tanh(s->query[i % d] + s->key[i]);
    }
    s->w = w;
    s->squashed = squashed;
}

/* Entries of the table (heads, 2 window + 1) at the distances of the words; all lie inside the window. */
static const double *read_positions(reading *r, int h)
{
    const float *table = layer_values(r, "attention.position");
    if (table == NULL) {
        return NULL;
    }
    int64_t window = r->m->config.window, middle = h * (2 * window + 1) + window;
    double *position = take(r, r->e->n);
    for (int j = 0; j < r->e->n; j++) {
        position[j] = (double)table[middle + r->e->begin + j - r->e->target];
    }
    return position;
}

/* The head's share of the last matrix, and of the logits. */
static void read_senses(reading *r, int h, attn_head_steps *s)
{
    const float *all = attn_params_value(r->member->params, r->member->out);
    int senses = r->e->prediction.n_senses, dv = r->e->dv;
    double *matrix = take(r, (int64_t)dv * senses), *part = take(r, senses);
    memset(part, 0, (size_t)senses * sizeof *part);
    for (int c = 0; c < dv; c++) {
        for (int k = 0; k < senses; k++) {
            matrix[c * senses + k] = (double)all[((int64_t)h * dv + c) * r->m->n_senses + r->first + k];
            part[k] += s->mixed[c] * matrix[c * senses + k];
        }
    }
    s->matrix = matrix;
    s->part = part;
}

static attn_head_steps read_head(reading *r, int h)
{
    int n = r->e->n, d = r->e->d, dv = r->e->dv;
    attn_head_steps s = {.query = head_of(r, r->a.query, h, 1, d), .key = head_of(r, r->a.key, h, n, d)};
    if (r->e->score == ATTN_SCORE_ADDITIVE) {
        read_additive(r, h, &s);
    }
    s.raw = head_of(r, r->raw, h, 1, n);
    s.scaled = head_of(r, r->a.scaled, h, 1, n);
    s.position = read_positions(r, h);
    s.score = head_of(r, r->a.scores, h, 1, n);
    s.weight = head_of(r, r->a.weights, h, 1, n);
    s.value = head_of(r, r->a.value, h, n, dv);
    s.mixed = head_of(r, r->a.output, h, 1, dv);
    read_senses(r, h, &s);
    return s;
}

/* What read_head takes of the numbers. */
static int64_t numbers_of_head(const attn_explanation *e)
{
    int64_t n = e->n, senses = e->prediction.n_senses;
    return 2 * (e->d + n * e->d) + 5 * n + n * e->dv + e->dv + e->dv * senses + senses;
}

static attn_status no_memory(attn_error *error)
{
    return attn__fail(error, ATTN_ENOMEM, "out of memory for the steps of a prediction");
}

/* Runs the member on the sentence again; what it computed stays on the tape until the next one. */
static attn_tensor *run(reading *r, const attn__batch *b)
{
    attn_tape *t = r->m->tape;
    attn_tape_reset(t);
    attn_tape_set_recording(t, false);
    attn_tape_set_training(t, false);
    attn_tensor *logits = attn__member_logits(r->m, r->member, t, b, &r->a);
    int w = attn_params_find(r->member->params, "attention.w");
    const attn_score_config plain = {.score = r->e->score, .heads = r->e->heads, .scale = w >= 0 ? 0 : 1};
    r->raw = attn_attention_scores(t, r->a.query, r->a.key, w >= 0 ? attn_param(t, r->member->params, w) : NULL, plain, NULL);
    return r->raw != NULL ? logits : NULL;
}

static void read_logits(reading *r, const attn_tensor *logits, const attn__batch *b, double *probabilities, attn_member_steps *to)
{
    const float *all = attn_params_value(r->member->params, r->member->out_bias);
    int senses = r->e->prediction.n_senses;
    double *bias = take(r, senses), *prior = take(r, senses), *logit = take(r, senses);
    for (int s = 0; s < senses; s++) {
        bias[s] = (double)all[r->first + s];
        prior[s] = attn__sense_prior(r->m, r->first + s);
        logit[s] = attn_tensor_get(logits, r->first + s) + b->counted[r->first + s];
    }
    memset(probabilities, 0, (size_t)r->m->n_senses * sizeof *probabilities);
    (void)attn__add_probabilities(r->m, logits, b, 0, 1, probabilities); /* the prediction found them to be finite */
    to->bias = bias;
    to->prior = prior;
    to->logit = logit;
    to->probability = probabilities + r->first;
}

static attn_status read_member(attn_word_sense *m, const attn__member *member, const attn__batch *b, int first, const attn_explanation *e,
                               attn_member_steps *to, attn_error *error)
{
    reading r = {.m = m, .member = member, .e = e, .first = first};
    attn_head_steps *head = attn__arena_array(&m->scratch, e->heads, sizeof *head);
    double *probabilities = attn__arena_array(&m->scratch, m->n_senses, sizeof *probabilities);
    r.at = attn__arena_array(&m->scratch, e->heads * numbers_of_head(e) + 3 * (int64_t)e->prediction.n_senses, sizeof *r.at);
    if (head == NULL || probabilities == NULL || r.at == NULL) {
        return no_memory(error);
    }
    const attn_tensor *logits = run(&r, b);
    if (logits == NULL) {
        return attn__fail(error, attn_tape_status(m->tape), "%s", attn_tape_message(m->tape));
    }
    for (int h = 0; h < e->heads; h++) {
        head[h] = read_head(&r, h);
    }
    *to = (attn_member_steps){.seed = member->seed, .head = head};
    read_logits(&r, logits, b, probabilities, to);
    return ATTN_OK;
}

/* What each word says by having stood near the ambiguous word. False if out of memory. */
static bool read_neighbours(attn_word_sense *m, const attn__encoded *sentence, attn_explanation *e)
{
    if (m->config.neighbours == 0) {
        return true;
    }
    int senses = e->prediction.n_senses;
    int64_t count = (int64_t)e->n * senses;
    double *all = attn__arena_array(&m->scratch, m->n_senses, sizeof *all); /* of which a word's senses are used */
    double *neighbours = attn__arena_array(&m->scratch, count, sizeof *neighbours);
    for (int j = 0; all != NULL && neighbours != NULL && j < e->n; j++) {
        memset(all, 0, (size_t)m->n_senses * sizeof *all);
        attn__neighbour_says(m, sentence, j, all);
        memcpy(neighbours + (int64_t)j * senses, all + m->lemma[sentence->word].first, (size_t)senses * sizeof *all);
    }
    e->neighbours = neighbours;
    e->neighbours_weight = m->neighbours.weight[sentence->word];
    return all != NULL && neighbours != NULL;
}

/* Everything besides the members. */
static attn_status describe(attn_word_sense *m, const attn__encoded *sentence, attn_explanation *e, attn_error *error)
{
    const attn_attention_config layer = attn_attention_get_config(m->member[0].layer);
    bool *known = attn__arena_array(&m->scratch, sentence->length, sizeof *known);
    for (int j = 0; known != NULL && j < sentence->length; j++) {
        known[j] = sentence->ids[j] != 0;
    }
    e->score = layer.score;
    e->scale = layer.score != ATTN_SCORE_SCALED_DOT ? 1 : 1 / sqrt(layer.head_dim);
    e->begin = sentence->begin;
    e->n = sentence->length;
    e->target = sentence->begin + sentence->target;
    e->known = known;
    e->d = layer.head_dim;
    e->dv = layer.head_value_dim;
    e->heads = layer.heads;
    e->members = m->config.seeds;
    return known != NULL && read_neighbours(m, sentence, e) ? ATTN_OK : no_memory(error);
}

static attn_status explain(attn_word_sense *m, const char *const *tokens, int length, attn_explanation *e, attn_error *error)
{
    attn__encoded sentence;
    attn__batch b;
    const attn__encoded *const list[] = {&sentence};
    attn_member_steps *member = attn__arena_array(&m->scratch, m->config.seeds, sizeof *member);
    attn_status status = attn__encode(m, &m->scratch, tokens, length, e->target, &sentence, error);
    if (status != ATTN_OK) {
        return status;
    }
    if (member == NULL || !attn__batch_ask(m, &m->scratch, list, 1, true, &b)) {
        return no_memory(error);
    }
    status = describe(m, &sentence, e, error);
    for (int k = 0; k < m->config.seeds && status == ATTN_OK; k++) {
        status = read_member(m, &m->member[k], &b, m->lemma[sentence.word].first, e, &member[k], error);
    }
    e->member = member;
    return status;
}

attn_status attn_word_sense_explain(attn_word_sense *m, const char *const *tokens, int length, int target, attn_explanation *explanation,
                                    attn_error *error)
{
    attn_explanation e = {.target = target};
    attn_status status = attn_word_sense_predict(m, tokens, length, target, &e.prediction, error); /* it checks, and clears scratch */
    if (status == ATTN_OK) {
        status = explain(m, tokens, length, &e, error);
    }
    *explanation = status == ATTN_OK ? e : (attn_explanation){.members = 0};
    return status;
}

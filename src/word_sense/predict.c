/* From a trained model to senses, probabilities and weights. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "word_sense/model.h"

#define BATCH 64

double attn__sense_prior(const attn_word_sense *m, int sense)
{
    return m->config.prior * log(0.5 + (double)m->sense[sense].count);
}

bool attn__add_probabilities(const attn_word_sense *m, const attn_tensor *logits, const attn__batch *b, int64_t i, double share, double *p)
{
    double max = -HUGE_VAL, total = 0;
    for (int pass = 0; pass < 3; pass++) {
        for (int s = 0; s < m->n_senses; s++) {
            int64_t at = i * m->n_senses + s;
            if (b->candidates[at]) {
                double x = attn_tensor_get(logits, at) + b->counted[at];
                max = pass == 0 ? fmax(max, x) : max;
                total += pass == 1 ? exp(x - max) : 0;
                p[s] += pass == 2 ? share * exp(x - max) / total : 0;
            }
        }
    }
    return isfinite(total);
}

/* Probabilities (B,S) of a batch under one member, added to `sum` times 1/members; weights likewise if wanted. */
static attn_status add_member(const attn_word_sense *m, attn_tape *t, const attn__member *member, const attn__batch *b, double share,
                              double *sum, double *weights, attn_error *error)
{
    attn_tape_reset(t);
    attn_tape_set_recording(t, false);
    attn_tape_set_training(t, false);
    attn_attention_output attention = {.weights = NULL};
    attn_tensor *logits = attn__member_logits(m, member, t, b, weights != NULL ? &attention : NULL);
    if (logits == NULL) {
        return attn__fail(error, attn_tape_status(t), "%s", attn_tape_message(t));
    }
    for (int64_t i = 0; i < b->size; i++) {
        if (!attn__add_probabilities(m, logits, b, i, share, sum + i * m->n_senses)) {
            return attn__fail(error, ATTN_ENONFINITE, "the model's scores are not finite: its parameters are too large");
        }
    }
    for (int64_t i = 0; weights != NULL && i < attn_tensor_count(attention.weights); i++) {
        weights[i] += share * attn_tensor_get(attention.weights, i);
    }
    return ATTN_OK;
}

static int best_of(const attn_word_sense *m, int word, const double *p)
{
    const attn__lemma *l = &m->lemma[word];
    int best = l->first;
    for (int s = l->first + 1; s < l->first + l->senses; s++) {
        best = p[s] > p[best] ? s : best;
    }
    return best;
}

/* Who answers: one member or, if that is NULL, all; and whether neighbours are heard. */
typedef struct answering {
    const attn__member *only;
    bool neighbours;
} answering;

/* Predicts encoded sentences, BATCH at a time, and calls visit(ctx, i, sense) for each. */
typedef attn_status (*visit_fn)(void *ctx, int64_t i, int sense);

static attn_status predict_all(attn_word_sense *m, const answering *a, const attn__encoded *list, int64_t count, visit_fn visit, void *ctx,
                               attn_error *error)
{
    attn_status status = ATTN_OK;
    for (int64_t i = 0; i < count && status == ATTN_OK; i += BATCH) {
        attn__mark mark = attn__arena_mark(&m->scratch);
        int64_t n = count - i < BATCH ? count - i : BATCH;
        const attn__encoded *batch[BATCH];
        for (int64_t j = 0; j < n; j++) {
            batch[j] = &list[i + j];
        }
        attn__batch b;
        double *p = attn__arena_array(&m->scratch, n * m->n_senses, sizeof *p);
        if (p == NULL || !attn__batch_ask(m, &m->scratch, batch, n, a->neighbours, &b)) {
            status = attn__fail(error, ATTN_ENOMEM, "out of memory for a prediction");
        } else {
            memset(p, 0, (size_t)(n * m->n_senses) * sizeof *p);
        }
        for (int k = 0; k < m->config.seeds && status == ATTN_OK; k++) {
            if (a->only == NULL || a->only == &m->member[k]) {
                status = add_member(m, m->tape, &m->member[k], &b, a->only == NULL ? 1.0 / m->config.seeds : 1, p, NULL, error);
            }
        }
        for (int64_t j = 0; j < n && status == ATTN_OK; j++) {
            status = visit(ctx, i + j, best_of(m, batch[j]->word, p + j * m->n_senses));
        }
        attn__arena_rewind(&m->scratch, mark);
    }
    return status;
}

typedef struct judge {
    attn_word_sense *m;
    const attn_corpus *corpus;
    attn_scores *scores;
    const char **predictions;
} judge;

static attn_status judge_one(void *ctx, int64_t i, int sense)
{
    judge *j = ctx;
    attn_example e = attn_corpus_get(j->corpus, i);
    if (j->predictions != NULL) {
        j->predictions[i] = j->m->sense[sense].label;
    }
    return attn_scores_add(j->scores, e.word, e.sense, j->m->sense[sense].label);
}

/* Senses are declared in the model's order, so that tables have the same order whatever the data. */
static attn_status declare(const attn_word_sense *m, const attn_corpus *corpus, attn_scores *scores)
{
    attn_status status = ATTN_OK;
    for (int64_t i = 0; i < attn_corpus_count(corpus) && status == ATTN_OK; i++) {
        int word = attn_word_sense_find(m, attn_corpus_get(corpus, i).word);
        if (i > 0 && strcmp(attn_corpus_get(corpus, i).word, attn_corpus_get(corpus, i - 1).word) == 0) {
            continue;
        }
        for (int s = 0; s < attn_word_sense_senses(m, word) && status == ATTN_OK; s++) {
            status = attn_scores_declare(scores, attn_word_sense_word(m, word), attn_word_sense_sense(m, word, s));
        }
    }
    return status;
}

static attn_status score(attn_word_sense *m, const answering *a, const attn_corpus *corpus, attn_scores *scores, const char **predictions,
                         attn_error *error)
{
    attn__arena arena;
    attn__arena_init(&arena, &m->allocator);
    attn__encoded *list;
    int64_t count;
    attn_status status = attn__encode_corpus(m, &arena, corpus, true, &list, &count, error);
    if (status == ATTN_OK && declare(m, corpus, scores) != ATTN_OK) {
        status = attn__fail(error, ATTN_ENOMEM, "out of memory for the scores");
    }
    if (status == ATTN_OK) {
        judge j = {m, corpus, scores, predictions};
        status = predict_all(m, a, list, count, judge_one, &j, error);
    }
    attn__arena_free(&arena);
    return status;
}

attn_status attn__member_score(attn_word_sense *m, const attn__member *member, const attn_corpus *corpus, bool neighbours,
                               attn_scores *scores, attn_error *error)
{
    return score(m, &(answering){member, neighbours}, corpus, scores, NULL, error);
}

attn_status attn_word_sense_score(attn_word_sense *m, const attn_corpus *corpus, attn_scores *scores, const char **predictions,
                                  attn_error *error)
{
    return score(m, &(answering){NULL, true}, corpus, scores, predictions, error);
}

/* "'x' ...; it knows: a, b, c" */
static attn_status unknown_word(const attn_word_sense *m, const char *word, attn_error *error)
{
    char known[360] = "";
    size_t at = 0, n = m->lemmas.count;
    for (size_t i = 0; i < n && at + m->lemmas.list[i].size + 24 < sizeof known; i++) {
        at += (size_t)snprintf(known + at, sizeof known - at, "%s%s", i > 0 ? ", " : "", m->lemmas.list[i].text);
        if (i + 1 < n && at + m->lemmas.list[i + 1].size + 24 >= sizeof known) {
            (void)snprintf(known + at, sizeof known - at, " and %zu more", n - i - 1);
        }
    }
    return attn__fail(error, ATTN_EUNKNOWN_WORD, "the model knows no senses of '%s'; it knows: %s", ATTN__QUOTE(word), known);
}

static attn_status no_memory(attn_error *error)
{
    return attn__fail(error, ATTN_ENOMEM, "out of memory for a prediction");
}

/* Fills the prediction from probabilities p (S) and weights w (H, window), all in scratch. */
static attn_status fill(const attn_word_sense *m, attn__arena *scratch, const attn__encoded *e, int length, const double *p,
                        const double *w, attn_prediction *out, attn_error *error)
{
    const attn__lemma *l = &m->lemma[e->word];
    const char **senses = attn__arena_array(scratch, l->senses, sizeof *senses);
    double *attention = attn__arena_array(scratch, (int64_t)m->config.heads * length, sizeof *attention);
    if (senses == NULL || attention == NULL) {
        return no_memory(error);
    }
    memset(attention, 0, (size_t)m->config.heads * (size_t)length * sizeof *attention);
    for (int h = 0; h < m->config.heads; h++) {
        memcpy(attention + (int64_t)h * length + e->begin, w + (int64_t)h * e->length, (size_t)e->length * sizeof *w);
    }
    for (int s = 0; s < l->senses; s++) {
        senses[s] = m->sense[l->first + s].label;
    }
    *out = (attn_prediction){.n_senses = l->senses,
                             .senses = senses,
                             .probabilities = p + l->first,
                             .best = best_of(m, e->word, p) - l->first,
                             .heads = m->config.heads,
                             .length = length,
                             .attention = attention};
    return ATTN_OK;
}

attn_status attn__predict(const attn_word_sense *m, attn_tape *tape, attn__arena *scratch, const char *const *tokens, int length,
                          int target, attn_prediction *prediction, attn_error *error)
{
    *prediction = (attn_prediction){.n_senses = 0};
    attn__arena_rewind(scratch, (attn__mark){NULL, 0, 0});
    if (target < 0 || target >= length) {
        return attn__fail(error, ATTN_EINVAL, "target %d, expected 0..%d", target, length - 1);
    }
    attn__encoded e;
    attn_status status = attn__encode(m, scratch, tokens, length, target, &e, error);
    if (status != ATTN_OK) {
        return status;
    }
    if (e.word < 0) {
        return unknown_word(m, tokens[target], error);
    }
    const attn__encoded *const list[] = {&e};
    attn__batch b;
    double *p = attn__arena_array(scratch, m->n_senses, sizeof *p);
    double *w = attn__arena_array(scratch, (int64_t)m->config.heads * e.length, sizeof *w);
    if (p == NULL || w == NULL || !attn__batch_ask(m, scratch, list, 1, true, &b)) {
        return no_memory(error);
    }
    memset(p, 0, (size_t)m->n_senses * sizeof *p);
    memset(w, 0, (size_t)m->config.heads * (size_t)e.length * sizeof *w);
    for (int k = 0; k < m->config.seeds && status == ATTN_OK; k++) {
        status = add_member(m, tape, &m->member[k], &b, 1.0 / m->config.seeds, p, w, error);
    }
    return status == ATTN_OK ? fill(m, scratch, &e, length, p, w, prediction, error) : status;
}

attn_status attn__attention(const attn_word_sense *m, attn_tape *t, attn__arena *scratch, const char *const *tokens, int length,
                            double *weights, attn_error *error)
{
    if (length < 1) {
        return attn__fail(error, ATTN_EINVAL, "a sentence without words");
    }
    attn__mark mark = attn__arena_mark(scratch);
    int32_t *ids = attn__arena_array(scratch, length, sizeof *ids);
    const attn_mask window = {.window = true, .left = m->config.window, .right = m->config.window};
    attn_status status = ids != NULL ? ATTN_OK : no_memory(error);
    for (int i = 0; i < length && status == ATTN_OK; i++) {
        ids[i] = attn__token_row(m, tokens[i]);
    }
    status = status == ATTN_OK ? attn__check_rows(m, ids, tokens, length, error) : status;
    if (status == ATTN_OK) {
        memset(weights, 0, (size_t)m->config.heads * (size_t)length * (size_t)length * sizeof *weights);
    }
    attn_tape_set_recording(t, false);
    attn_tape_set_training(t, false);
    for (int k = 0; k < m->config.seeds && status == ATTN_OK; k++) {
        attn_tape_reset(t);
        attn_tensor *x = attn_embedding(t, attn_param(t, m->member[k].params, m->member[k].embedding), ids, ATTN_SHAPE(1, length));
        attn_attention_output a =
            attn_attention_apply(t, m->member[k].layer, (attn_attention_input){.query = x, .mask = window, .report = {.weights = true}});
        if (a.weights == NULL) {
            status = attn__fail(error, attn_tape_status(t), "%s", attn_tape_message(t));
        }
        for (int64_t i = 0; i < attn_tensor_count(a.weights); i++) {
            weights[i] += attn_tensor_get(a.weights, i) / m->config.seeds;
        }
    }
    attn__arena_rewind(scratch, mark);
    return status;
}

/* ---- numeric check of the whole model ---- */

typedef struct loss_of_batch {
    const attn_word_sense *m;
    const attn__member *member;
    const attn__batch *batch;
} loss_of_batch;

static attn_tensor *build_loss(attn_tape *t, attn_tensor *const inputs[], int n, void *ctx)
{
    const loss_of_batch *l = ctx;
    (void)inputs;
    (void)n;
    return attn__member_loss(l->m, l->member, t, l->batch);
}

attn_status attn_word_sense_gradcheck(attn_word_sense *m, const attn_corpus *corpus, int64_t sentences, int64_t most,
                                      const attn_gradcheck_config *config, attn_gradcheck_report *report)
{
    attn__arena arena;
    attn__arena_init(&arena, &m->allocator);
    memset(report, 0, sizeof *report);
    attn__encoded *data;
    int64_t count;
    attn_error error = {.status = ATTN_OK};
    attn_status status = attn__encode_corpus(m, &arena, corpus, true, &data, &count, &error);
    count = count < sentences ? count : sentences;
    if (status == ATTN_OK && count < 1) {
        status = attn__fail(&error, ATTN_EINVAL, "%lld sentences to check the gradients on, expected at least 1", (long long)count);
    }
    const attn__encoded **list = attn__arena_array(&arena, count, sizeof *list);
    attn__member copy = {.seed = m->member[0].seed};
    attn__batch b;
    for (int64_t i = 0; i < count && list != NULL && status == ATTN_OK; i++) {
        list[i] = &data[i];
    }
    if (status == ATTN_OK && (list == NULL || !attn__batch_make(m, &arena, list, count, &b))) {
        status = no_memory(&error);
    }
    if (status == ATTN_OK) {
        status = attn__member_declare(m, &copy, ATTN_F64, &error);
    }
    if (status == ATTN_OK) {
        status = attn__member_build(&copy, &error);
    }
    if (status == ATTN_OK) {
        for (int id = 0; id < attn_params_count(copy.params); id++) { /* the trained values, in double */
            const float *from = attn_params_value(m->member[0].params, id);
            double *to = attn_params_value(copy.params, id);
            for (int64_t i = 0; i < attn_shape_count(attn_params_shape(copy.params, id)); i++) {
                to[i] = (double)from[i];
            }
        }
        status = attn_gradcheck_params(build_loss, &(loss_of_batch){m, &copy, &b}, copy.params, most, config, report);
    } else {
        (void)snprintf(report->verdict, sizeof report->verdict, "%s", error.message);
    }
    attn__member_free(m, &copy);
    attn__arena_free(&arena);
    return status;
}

/* The model: its parameters, and the computation from a batch to its loss. */
#include "word_sense/model.h"

#include <math.h>
#include <string.h>

#include "word_sense/vectors.h"

uint64_t attn__seed_for(uint64_t seed, attn__purpose purpose)
{
    uint32_t w[4];
    attn_random_block(seed, 0x5EED, (uint64_t)purpose, w);
    return ((uint64_t)w[0] << 32) | w[1];
}

attn_word_sense *attn__model_new(const attn_allocator *allocator)
{
    attn_word_sense *m = attn__calloc(allocator, 1, sizeof *m);
    if (m != NULL) {
        m->allocator = allocator != NULL ? *allocator : attn__malloc;
        attn__arena_init(&m->arena, &m->allocator);
        attn__arena_init(&m->scratch, &m->allocator);
        m->vocabulary = attn__names_new(&m->arena);
        m->lemmas = attn__names_new(&m->arena);
    }
    return m;
}

void attn_word_sense_free(attn_word_sense *m)
{
    if (m == NULL) {
        return;
    }
    for (int i = 0; i < m->config.seeds && m->member != NULL; i++) {
        attn__member_free(m, &m->member[i]);
    }
    attn_tape_free(m->tape);
    if (!m->neighbours.borrowed) {
        attn__free(&m->allocator, m->neighbours.entry);
    }
    attn__mapping_end(&m->file);
    attn__names_free(&m->vocabulary);
    attn__names_free(&m->lemmas);
    attn__arena_free(&m->arena);
    attn__arena_free(&m->scratch);
    attn_allocator allocator = m->allocator;
    attn__free(&allocator, m);
}

attn_status attn__member_declare(const attn_word_sense *m, attn__member *member, attn_dtype dtype, attn_error *error)
{
    const attn_word_sense_config *c = &m->config;
    attn_params *p = attn_params_new(dtype, &m->allocator);
    if (p == NULL) {
        return attn__fail(error, ATTN_ENOMEM, "out of memory for the model");
    }
    attn_params_set_threads(p, c->threads);
    int64_t rows = (int64_t)m->vocabulary.count + 1;
    int value_dim = 2 * c->hidden;
    member->params = p;
    member->embedding =
        attn_params_add(p, "embedding", ATTN_SHAPE(rows, c->dim),
                        (attn_param_config){.init = ATTN_INIT_NORMAL, .scale = 0.1, .sparse_rows = true, .frozen = c->freeze_vectors});
    member->layer = attn_attention_add(p, "attention",
                                       (attn_attention_config){.score = c->score,
                                                               .heads = c->heads,
                                                               .query_dim = c->dim,
                                                               .head_dim = c->hidden,
                                                               .head_value_dim = value_dim,
                                                               .no_output = true,
                                                               .relative_clip = c->position == ATTN_POSITION_RELATIVE ? c->window : 0,
                                                               .dropout = c->attention_dropout});
    member->out =
        attn_params_add(p, "senses.W", ATTN_SHAPE((int64_t)c->heads * value_dim, m->n_senses), (attn_param_config){.decay = true});
    member->out_bias = attn_params_add(p, "senses.b", ATTN_SHAPE(m->n_senses), (attn_param_config){.decay = false});
    return attn__params_status(p) == ATTN_OK ? ATTN_OK : attn__member_build(member, error); /* which then tells what is wrong */
}

attn_status attn__member_build(attn__member *member, attn_error *error)
{
    return attn_params_build(member->params, attn__seed_for(member->seed, ATTN__FOR_INIT), error);
}

void attn__member_free(const attn_word_sense *m, attn__member *member)
{
    attn_optimizer_free(member->optimizer);
    attn_params_free(member->params);
    attn__free(&m->allocator, member->best);
    *member = (attn__member){.params = NULL};
}

attn_status attn__model_open(attn_word_sense *m, attn_error *error)
{
    m->member = attn__arena_array(&m->arena, m->config.seeds, sizeof *m->member);
    if (m->member == NULL) {
        return attn__fail(error, ATTN_ENOMEM, "out of memory for the model");
    }
    memset(m->member, 0, (size_t)m->config.seeds * sizeof *m->member);
    m->tape = attn_tape_new(&m->allocator);
    if (m->tape == NULL) {
        return attn__fail(error, ATTN_ENOMEM, "out of memory for the model");
    }
    attn_tape_set_threads(m->tape, m->config.threads);
    attn_status status = ATTN_OK;
    for (int i = 0; i < m->config.seeds && status == ATTN_OK; i++) {
        m->member[i].seed = m->config.seed + (uint64_t)i;
        status = attn__member_declare(m, &m->member[i], ATTN_F32, error);
    }
    return status;
}

static float *embeddings(const attn_word_sense *m, int member)
{
    return attn_params_value(m->member[member].params, m->member[member].embedding);
}

/* Row 0, the unknown word, stays each member's own, and so do the words of which neither a file of vectors nor the training text tells. */
static attn_status start_embeddings(const attn_word_sense *m, const attn_corpus *train, const attn__vectors *v, attn_error *error)
{
    size_t dim = (size_t)m->config.dim;
    attn_status status = m->config.vectors == ATTN_VECTORS_CORPUS
                             ? attn__corpus_vectors(m, train, (int64_t)m->vocabulary.count, m->config.dim, embeddings(m, 0), error)
                             : ATTN_OK;
    for (int i = 0; i < m->config.seeds && status == ATTN_OK; i++) {
        if (m->config.vectors == ATTN_VECTORS_FILE) {
            attn__vectors_copy(v, embeddings(m, i));
        } else if (m->config.vectors == ATTN_VECTORS_CORPUS && i > 0) {
            memcpy(embeddings(m, i) + dim, embeddings(m, 0) + dim, m->vocabulary.count * dim * sizeof(float));
        }
    }
    return status;
}

/* Sets the configuration; the model keeps no pointer of the caller's. */
static attn_status take_config(attn_word_sense *m, const attn_word_sense_config *c, attn_error *error)
{
    attn_status status = attn__config_check(c, error);
    if (status == ATTN_OK) {
        m->config = *c;
        m->config.vectors_file = NULL;
        m->config.vectors_progress = NULL;
        m->config.vectors_progress_ctx = NULL;
    }
    return status;
}

attn_word_sense *attn_word_sense_new(const attn_corpus *train, const attn_word_sense_config *config, const attn_allocator *allocator,
                                     attn_error *error)
{
    attn_word_sense *m = attn__model_new(allocator);
    if (m == NULL) {
        (void)attn__fail(error, ATTN_ENOMEM, "out of memory for the model");
        return NULL;
    }
    attn_word_sense_config c = config != NULL ? *config : attn_word_sense_defaults();
    attn__vectors v = {.m = NULL};
    attn_status status = take_config(m, &c, error);
    if (status == ATTN_OK) {
        status = attn__vocabulary_build(m, train, error);
    }
    if (status == ATTN_OK && c.vectors == ATTN_VECTORS_FILE) {
        status = attn__vectors_read(&v, m, &c, error);
        status = status == ATTN_OK ? attn__vectors_guess(&v, train, error) : status;
    }
    if (status == ATTN_OK) { /* by now all words have their rows */
        status = attn__neighbours_count(m, train, error);
    }
    if (status == ATTN_OK) {
        status = attn__model_open(m, error);
    }
    for (int i = 0; i < c.seeds && status == ATTN_OK; i++) {
        status = attn__member_build(&m->member[i], error);
    }
    if (status == ATTN_OK) {
        status = start_embeddings(m, train, &v, error);
    }
    attn__vectors_free(&v);
    if (status != ATTN_OK) {
        attn_word_sense_free(m);
        return NULL;
    }
    return m;
}

attn_tensor *attn__member_logits(const attn_word_sense *m, const attn__member *member, attn_tape *t, const attn__batch *b,
                                 attn_attention_output *attention)
{
    const attn_word_sense_config *c = &m->config;
    attn_tensor *table = attn_param(t, member->params, member->embedding);
    attn_tensor *x = attn_dropout(t, attn_embedding(t, table, b->ids, ATTN_SHAPE(b->size, b->length)), c->dropout);
    attn_attention_output a = attn_attention_apply(t, member->layer,
                                                   (attn_attention_input){
                                                       .query = attn_embedding(t, table, b->query, ATTN_SHAPE(b->size, 1)),
                                                       .key = x,
                                                       .mask = {.allow = b->keep, .allow_form = ATTN_ALLOW_KEYS},
                                                       .query_start = b->start,
                                                       .report = {.weights = attention != NULL, .scores = attention != NULL},
                                                   });
    if (attention != NULL) {
        *attention = a;
    }
    attn_tensor *f = attn_reshape(t, a.output, ATTN_SHAPE(b->size, (int64_t)c->heads * 2 * c->hidden));
    f = attn_dropout(t, f, 0.6 * c->dropout);
    return attn_add(t, attn_matmul(t, f, attn_param(t, member->params, member->out), ATTN_NN),
                    attn_param(t, member->params, member->out_bias));
}

attn_tensor *attn__member_loss(const attn_word_sense *m, const attn__member *member, attn_tape *t, const attn__batch *b)
{
    attn_tensor *logits = attn__member_logits(m, member, t, b, NULL);
    attn_dtype dtype = attn_params_dtype(member->params);
    attn_tensor *share = attn_input(t, dtype, ATTN_SHAPE(m->n_senses), NULL);
    for (int w = 0; w < (int)m->lemmas.count && share != NULL; w++) {
        const attn__lemma *l = &m->lemma[w];
        double total = 0;
        for (int s = l->first; s < l->first + l->senses; s++) {
            total += 0.5 + fmin((double)m->sense[s].count, m->config.sense_cap);
        }
        for (int s = l->first; s < l->first + l->senses; s++) {
            attn__kernels(dtype)->set(attn_tensor_data(share), s,
                                      log((0.5 + fmin((double)m->sense[s].count, m->config.sense_cap)) / total));
        }
    }
    const attn_cross_entropy_config config = {.candidates = b->candidates, .label_smoothing = m->config.label_smoothing};
    return attn_cross_entropy(t, attn_add(t, logits, share), b->labels, &config);
}

/* ---- what a model knows ---- */

void attn_word_sense_set_threads(attn_word_sense *m, int threads)
{
    m->config.threads = threads;
    attn_tape_set_threads(m->tape, threads);
}

int attn_word_sense_words(const attn_word_sense *m)
{
    return (int)m->lemmas.count;
}

const char *attn_word_sense_word(const attn_word_sense *m, int word)
{
    return word >= 0 && word < (int)m->lemmas.count ? m->lemmas.list[word].text : NULL;
}

int attn_word_sense_find(const attn_word_sense *m, const char *word)
{
    return (int)attn__names_find(&m->lemmas, word, strlen(word));
}

int attn_word_sense_senses(const attn_word_sense *m, int word)
{
    return word >= 0 && word < (int)m->lemmas.count ? m->lemma[word].senses : 0;
}

static const attn__sense *sense_at(const attn_word_sense *m, int word, int sense)
{
    return sense >= 0 && sense < attn_word_sense_senses(m, word) ? &m->sense[m->lemma[word].first + sense] : NULL;
}

const char *attn_word_sense_sense(const attn_word_sense *m, int word, int sense)
{
    const attn__sense *s = sense_at(m, word, sense);
    return s != NULL ? s->label : NULL;
}

int64_t attn_word_sense_support(const attn_word_sense *m, int word, int sense)
{
    const attn__sense *s = sense_at(m, word, sense);
    return s != NULL ? s->count : 0;
}

attn_word_sense_config attn_word_sense_get_config(const attn_word_sense *m)
{
    return m->config;
}

attn_vectors_report attn_word_sense_vectors_report(const attn_word_sense *m)
{
    return m->vectors_report;
}

int64_t attn_word_sense_vocabulary(const attn_word_sense *m)
{
    return (int64_t)m->vocabulary.count;
}

bool attn_word_sense_knows(const attn_word_sense *m, const char *token)
{
    return attn__token_row(m, token) > 0;
}

int64_t attn_word_sense_parameters(const attn_word_sense *m)
{
    return m->config.seeds * attn_params_elements(m->member[0].params);
}

int attn_word_sense_epochs_done(const attn_word_sense *m)
{
    return m->member[m->config.seeds - 1].epochs;
}

bool attn_word_sense_finished(const attn_word_sense *m)
{
    bool finished = true;
    for (int i = 0; i < m->config.seeds; i++) {
        finished = finished && m->member[i].finished;
    }
    return finished;
}

/* Sentences as row numbers, and batches of them. */
#include <string.h>

#include "word_sense/model.h"

attn_status attn__check_rows(const attn_word_sense *m, const int32_t *ids, const char *const *tokens, int64_t n, attn_error *error)
{
    for (int k = 0; m->file.bytes != NULL && k < m->config.seeds; k++) {
        const float *table = attn_params_value(m->member[k].params, m->member[k].embedding);
        for (int64_t i = 0; i < n; i++) {
            if (attn__kernels(ATTN_F32)->first_nonfinite(m->config.dim, table + (int64_t)ids[i] * m->config.dim) >= 0) {
                return attn__fail(error, ATTN_ENONFINITE, "%s: tensor '%d.embedding': the row of '%s' is not finite", m->file_name, k,
                                  ATTN__QUOTE(tokens[i]));
            }
        }
    }
    return ATTN_OK;
}

attn_status attn__encode(const attn_word_sense *m, attn__arena *arena, const char *const *tokens, int length, int target, attn__encoded *e,
                         attn_error *error)
{
    int begin = target > m->config.window ? target - m->config.window : 0;
    int end = length - target > m->config.window ? target + m->config.window + 1 : length;
    int32_t *ids = attn__arena_array(arena, end - begin, sizeof *ids);
    if (ids == NULL) {
        return attn__fail(error, ATTN_ENOMEM, "out of memory for a sentence");
    }
    for (int j = begin; j < end; j++) {
        ids[j - begin] = attn__token_row(m, tokens[j]);
    }
    *e = (attn__encoded){.ids = ids,
                         .tokens = tokens + begin,
                         .length = end - begin,
                         .target = target - begin,
                         .begin = begin,
                         .word = (int32_t)attn__names_find(&m->lemmas, tokens[target], strlen(tokens[target])),
                         .sense = -1};
    return attn__check_rows(m, ids, e->tokens, e->length, error);
}

attn_status attn__encode_corpus(const attn_word_sense *m, attn__arena *arena, const attn_corpus *corpus, bool strict, attn__encoded **list,
                                int64_t *count, attn_error *error)
{
    *count = 0;
    *list = attn__arena_array(arena, attn_corpus_count(corpus), sizeof **list);
    for (int64_t i = 0; i < attn_corpus_count(corpus) && *list != NULL; i++) {
        attn_example x = attn_corpus_get(corpus, i);
        attn__encoded *e = &(*list)[*count];
        attn_status status = attn__encode(m, arena, x.tokens, x.length, x.target, e, error);
        if (status != ATTN_OK) {
            return status;
        }
        if (e->word < 0 && strict) {
            return attn__fail(error, ATTN_EUNKNOWN_WORD, "%s:%lld: the model knows no senses of '%s'", x.file, (long long)x.line, x.word);
        }
        e->sense = attn__sense_find(m, e->word, x.sense, strcspn(x.sense, ";"));
        *count += strict || e->sense >= 0;
    }
    return *list != NULL ? ATTN_OK
                         : attn__fail(error, ATTN_ENOMEM, "out of memory for %lld sentences", (long long)attn_corpus_count(corpus));
}

bool attn__batch_make(const attn_word_sense *m, attn__arena *arena, const attn__encoded *const *list, int64_t n, attn__batch *b)
{
    *b = (attn__batch){.size = n};
    for (int64_t i = 0; i < n; i++) {
        b->length = list[i]->length > b->length ? list[i]->length : b->length;
    }
    b->ids = attn__arena_array(arena, n * b->length, sizeof *b->ids);
    b->keep = attn__arena_array(arena, n * b->length, 1);
    b->start = attn__arena_array(arena, n, sizeof *b->start);
    b->query = attn__arena_array(arena, n, sizeof *b->query);
    b->labels = attn__arena_array(arena, n, sizeof *b->labels);
    b->candidates = attn__arena_array(arena, n * m->n_senses, 1);
    if (b->ids == NULL || b->keep == NULL || b->start == NULL || b->query == NULL || b->labels == NULL || b->candidates == NULL) {
        return false;
    }
    memset(b->ids, 0, (size_t)(n * b->length) * sizeof *b->ids);
    memset(b->keep, 0, (size_t)(n * b->length));
    memset(b->candidates, 0, (size_t)(n * m->n_senses));
    for (int64_t i = 0; i < n; i++) {
        const attn__encoded *e = list[i];
        memcpy(b->ids + i * b->length, e->ids, (size_t)e->length * sizeof *e->ids);
        memset(b->keep + i * b->length, 1, (size_t)e->length);
        b->start[i] = e->target;
        b->query[i] = e->ids[e->target];
        b->labels[i] = e->sense >= 0 ? e->sense : ATTN_IGNORE;
        const attn__lemma *l = &m->lemma[e->word];
        memset(b->candidates + i * m->n_senses + l->first, 1, (size_t)l->senses);
    }
    return true;
}

bool attn__batch_ask(const attn_word_sense *m, attn__arena *arena, const attn__encoded *const *list, int64_t n, bool neighbours,
                     attn__batch *b)
{
    double *counted = attn__arena_array(arena, n * m->n_senses, sizeof *counted);
    if (counted == NULL || !attn__batch_make(m, arena, list, n, b)) {
        return false;
    }
    for (int64_t i = 0; i < n; i++) {
        attn__counted(m, list[i], neighbours, counted + i * m->n_senses);
    }
    b->counted = counted;
    return true;
}

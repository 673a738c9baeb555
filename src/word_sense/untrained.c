/* A trained model as it was before: made anew from its configuration and its data, which must be the same. */
#include <string.h>

#include "word_sense/model.h"

static bool same_names(const attn__names *a, const attn__names *b)
{
    bool same = a->count == b->count;
    for (size_t i = 0; same && i < a->count; i++) {
        same = a->list[i].size == b->list[i].size && memcmp(a->list[i].text, b->list[i].text, a->list[i].size) == 0;
    }
    return same;
}

static bool same_senses(const attn_word_sense *a, const attn_word_sense *b)
{
    bool same = a->n_senses == b->n_senses;
    for (int s = 0; same && s < a->n_senses; s++) {
        same = a->sense[s].count == b->sense[s].count && strcmp(a->sense[s].label, b->sense[s].label) == 0;
    }
    return same;
}

attn_word_sense *attn_word_sense_untrained(const attn_word_sense *m, const attn_corpus *train, const char *vectors_file,
                                           const attn_allocator *allocator, attn_error *error)
{
    attn_word_sense_config config = m->config;
    config.vectors_file = vectors_file;
    if (config.vectors == ATTN_VECTORS_FILE && vectors_file == NULL) {
        (void)attn__fail(error, ATTN_EINVAL, "the model's embeddings came from a file of word vectors, which is needed to make them again");
        return NULL;
    }
    attn_word_sense *before = attn_word_sense_new(train, &config, allocator, error);
    if (before != NULL &&
        !(same_names(&before->vocabulary, &m->vocabulary) && same_names(&before->lemmas, &m->lemmas) && same_senses(before, m))) {
        (void)attn__fail(error, ATTN_EMISMATCH, "not the data that the model was trained on: words or senses differ");
        attn_word_sense_free(before);
        before = NULL;
    }
    return before;
}

/* The tables of a model: its vocabulary, the ambiguous words and their senses. */
#include <stdlib.h>
#include <string.h>

#include "word_sense/model.h"

/* Sentences of an epoch below which steps are small, and the two sizes of a step. Found by cross-validation on training data: small steps
 * reach the same accuracy on small corpora in a third of the time. */
#define SMALL_EPOCH 2048
#define SMALL_BATCH 16
#define LARGE_BATCH 64

/* Training sentences of a sense, on average, below which targets are smoothed, and by how much. A few sentences look easier than they are;
 * many tell by themselves how sure to be, and smoothing would bound the logits, so that the prior buries rare senses. Found like the sizes
 * of a step. */
#define FEW_SENTENCES  30
#define SMOOTHED_SHARE 0.1

/* Tokens of training text from which on words seen once are too many to be worth a vector. Found like the others. */
#define LARGE_CORPUS 100000

static char without_digit(char byte)
{
    return byte >= '0' && byte <= '9' ? '0' : byte;
}

size_t attn__normalise(const char *token, char *buffer, size_t room)
{
    size_t n = 0;
    for (; n < room && token[n] != '\0'; n++) {
        buffer[n] = without_digit(token[n]);
    }
    return n;
}

#define LONGEST_WORD 256

/* Longer words than this are never in the vocabulary. */
static bool normalised(const char *token, char buffer[LONGEST_WORD], size_t *size)
{
    *size = attn__normalise(token, buffer, LONGEST_WORD);
    return *size < LONGEST_WORD;
}

int32_t attn__text_row(const attn_word_sense *m, const char *text, size_t size)
{
    char word[LONGEST_WORD];
    if (size >= LONGEST_WORD) {
        return 0;
    }
    for (size_t i = 0; i < size; i++) {
        word[i] = without_digit(text[i]);
    }
    return (int32_t)(attn__names_find(&m->vocabulary, word, size) + 1);
}

int32_t attn__token_row(const attn_word_sense *m, const char *token)
{
    return attn__text_row(m, token, strlen(token));
}

int32_t attn__vocabulary_add(attn_word_sense *m, const char *token)
{
    char word[LONGEST_WORD];
    size_t size;
    if (!normalised(token, word, &size)) {
        return 0;
    }
    int64_t n = attn__names_add(&m->vocabulary, word, size);
    return n >= 0 && n < ATTN__MOST_WORDS ? (int32_t)(n + 1) : -1;
}

static attn_status no_memory(attn_error *error)
{
    return attn__fail(error, ATTN_ENOMEM, "out of memory for the vocabulary");
}

/* Words seen often enough, in the order of their first appearance. */
static attn_status build_words(attn_word_sense *m, const attn_corpus *train, attn_error *error)
{
    attn__names all = attn__names_new(&m->scratch);
    int64_t *counts = NULL, tokens = 0;
    size_t capacity = 0;
    bool ok = true;
    for (int64_t i = 0; i < attn_corpus_count(train) && ok; i++) {
        attn_example e = attn_corpus_get(train, i);
        for (int j = 0; j < e.length && ok; j++) {
            char word[LONGEST_WORD];
            size_t size, before = all.count;
            if (!normalised(e.tokens[j], word, &size)) {
                continue;
            }
            int64_t n = attn__names_add(&all, word, size);
            void *array = counts;
            ok = n >= 0 && attn__grow(&m->allocator, &array, &capacity, all.count, sizeof *counts);
            counts = array;
            if (ok) {
                counts[n] = (all.count > before ? 0 : counts[n]) + 1;
                tokens++;
            }
        }
    }
    if (m->config.min_count == 0) {
        m->config.min_count = tokens >= LARGE_CORPUS ? 2 : 1;
    }
    for (size_t n = 0; counts != NULL && n < all.count && ok; n++) {
        if (counts[n] >= m->config.min_count) {
            ok = attn__names_add(&m->vocabulary, all.list[n].text, all.list[n].size) >= 0;
        }
    }
    attn__free(&m->allocator, counts);
    attn__names_free(&all);
    if (ok && m->vocabulary.count > ATTN__MOST_WORDS) {
        return attn__fail(error, ATTN_EINVAL, "%zu words, expected at most %d", m->vocabulary.count, ATTN__MOST_WORDS);
    }
    return ok ? ATTN_OK : no_memory(error);
}

int attn__sense_find(const attn_word_sense *m, int word, const char *label, size_t size)
{
    if (word < 0) {
        return -1;
    }
    const attn__lemma *l = &m->lemma[word];
    for (int s = l->first; s < l->first + l->senses; s++) {
        if (strlen(m->sense[s].label) == size && memcmp(m->sense[s].label, label, size) == 0) {
            return s;
        }
    }
    return -1;
}

/* An ambiguous word with a sense, as first seen in the training data. */
typedef struct found {
    attn__sense sense;
    int64_t order;
} found;

static int by_word_and_count(const void *a_, const void *b_)
{
    const found *a = a_, *b = b_;
    if (a->sense.word != b->sense.word) {
        return a->sense.word < b->sense.word ? -1 : 1;
    }
    if (a->sense.count != b->sense.count) {
        return a->sense.count > b->sense.count ? -1 : 1;
    }
    return a->order < b->order ? -1 : a->order > b->order;
}

/* The first of several gold senses is the one that is learned. */
static size_t first_label(const char *label)
{
    return strcspn(label, ";");
}

/* Collects pairs of word and sense; keys are "word NUL sense". */
static attn_status collect_senses(attn_word_sense *m, const attn_corpus *train, attn__names *pairs, found **list, size_t *capacity,
                                  attn_error *error)
{
    for (int64_t i = 0; i < attn_corpus_count(train); i++) {
        attn_example e = attn_corpus_get(train, i);
        size_t word_size = strlen(e.word), label_size = first_label(e.sense), before = pairs->count;
        int64_t word = attn__names_add(&m->lemmas, e.word, word_size);
        char *key = attn__arena_alloc(&m->scratch, word_size + 1 + label_size + 1);
        if (word < 0 || word > INT32_MAX || key == NULL) {
            return no_memory(error);
        }
        memcpy(key, e.word, word_size + 1);
        memcpy(key + word_size + 1, e.sense, label_size);
        key[word_size + 1 + label_size] = '\0';
        int64_t n = attn__names_add(pairs, key, word_size + 1 + label_size);
        void *array = *list;
        bool ok = n >= 0 && n < INT32_MAX && attn__grow(&m->allocator, &array, capacity, pairs->count, sizeof **list);
        *list = array;
        if (!ok) {
            return no_memory(error);
        }
        if (pairs->count > before) {
            (*list)[n] = (found){{attn__arena_copy(&m->arena, key + word_size + 1, label_size + 1), (int)word, 0}, n};
        }
        (*list)[n].sense.count++;
    }
    return ATTN_OK;
}

/* Nothing to learn. Where an index is counted from 1, or points into a sentence that was not cut, the word that it finds shows that. */
static attn_status no_choice(const attn_corpus *train, attn_error *error)
{
    attn_example e = attn_corpus_get(train, 0);
    return attn__fail(error, ATTN_EFORMAT,
                      "no word has two senses: there is nothing to learn; the index of the first sentence, counted from 0, points at '%s'",
                      ATTN__QUOTE(e.word));
}

static attn_status take_senses(attn_word_sense *m, const attn_corpus *train, found *list, size_t count, attn_error *error)
{
    bool choice = false;
    m->lemma = attn__arena_array(&m->arena, (int64_t)m->lemmas.count, sizeof *m->lemma);
    m->sense = attn__arena_array(&m->arena, (int64_t)count, sizeof *m->sense);
    if (m->lemma == NULL || m->sense == NULL || list == NULL) {
        return no_memory(error);
    }
    qsort(list, count, sizeof *list, by_word_and_count);
    for (size_t s = 0; s < count; s++) {
        m->sense[s] = list[s].sense;
        if (m->sense[s].label == NULL) {
            return no_memory(error);
        }
        if (s == 0 || m->sense[s].word != m->sense[s - 1].word) {
            m->lemma[m->sense[s].word] = (attn__lemma){(int)s, 0};
        }
        choice = ++m->lemma[m->sense[s].word].senses > 1 || choice;
    }
    m->n_senses = (int)count;
    return choice ? ATTN_OK : no_choice(train, error);
}

static attn_status build_senses(attn_word_sense *m, const attn_corpus *train, attn_error *error)
{
    attn__names pairs = attn__names_new(&m->scratch);
    found *list = NULL;
    size_t capacity = 0;
    attn_status status = collect_senses(m, train, &pairs, &list, &capacity, error);
    if (status == ATTN_OK) {
        status = take_senses(m, train, list, pairs.count, error);
    }
    attn__free(&m->allocator, list);
    attn__names_free(&pairs);
    return status;
}

int64_t attn__epoch_sentences(const attn_word_sense *m)
{
    int64_t sentences = 0;
    for (int s = 0; s < m->n_senses; s++) {
        sentences += m->sense[s].count < m->config.sense_cap ? m->sense[s].count : m->config.sense_cap;
    }
    return sentences;
}

attn_status attn__vocabulary_build(attn_word_sense *m, const attn_corpus *train, attn_error *error)
{
    if (attn_corpus_count(train) == 0) {
        return attn__fail(error, ATTN_EFORMAT, "no training sentences");
    }
    attn__mark mark = attn__arena_mark(&m->scratch);
    attn_status status = build_words(m, train, error);
    if (status == ATTN_OK) {
        status = build_senses(m, train, error);
    }
    if (status == ATTN_OK && m->config.batch == 0) {
        m->config.batch = attn__epoch_sentences(m) < SMALL_EPOCH ? SMALL_BATCH : LARGE_BATCH;
    }
    if (m->config.label_smoothing < 0) {
        m->config.label_smoothing = attn_corpus_count(train) < (int64_t)FEW_SENTENCES * m->n_senses ? SMOOTHED_SHARE : 0;
    }
    attn__arena_rewind(&m->scratch, mark);
    return status;
}

/* Predictions with the working memory of the model, or with that of one thread among several. */
#include "word_sense/model.h"

attn_status attn_word_sense_predict(attn_word_sense *m, const char *const *tokens, int length, int target, attn_prediction *prediction,
                                    attn_error *error)
{
    return attn__predict(m, m->tape, &m->scratch, tokens, length, target, prediction, error);
}

attn_status attn_word_sense_attention(attn_word_sense *m, const char *const *tokens, int length, double *weights, attn_error *error)
{
    return attn__attention(m, m->tape, &m->scratch, tokens, length, weights, error);
}

struct attn_predictor {
    const attn_word_sense *m;
    attn_allocator allocator;
    attn_tape *tape;
    attn__arena scratch;
};

attn_predictor *attn_predictor_new(const attn_word_sense *m, const attn_allocator *allocator)
{
    attn_predictor *p = attn__calloc(allocator, 1, sizeof *p);
    if (p == NULL) {
        return NULL;
    }
    *p = (attn_predictor){.m = m, .allocator = allocator != NULL ? *allocator : attn__malloc, .tape = attn_tape_new(allocator)};
    attn__arena_init(&p->scratch, &p->allocator);
    if (p->tape == NULL) {
        attn_predictor_free(p);
        return NULL;
    }
    attn_tape_set_threads(p->tape, 1); /* the threads are the caller's */
    return p;
}

void attn_predictor_free(attn_predictor *p)
{
    if (p != NULL) {
        attn_allocator allocator = p->allocator;
        attn_tape_free(p->tape);
        attn__arena_free(&p->scratch);
        attn__free(&allocator, p);
    }
}

attn_status attn_predictor_predict(attn_predictor *p, const char *const *tokens, int length, int target, attn_prediction *prediction,
                                   attn_error *error)
{
    return attn__predict(p->m, p->tape, &p->scratch, tokens, length, target, prediction, error);
}

attn_status attn_predictor_attention(attn_predictor *p, const char *const *tokens, int length, double *weights, attn_error *error)
{
    return attn__attention(p->m, p->tape, &p->scratch, tokens, length, weights, error);
}

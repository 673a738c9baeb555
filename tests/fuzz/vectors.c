/* Readers of word vectors. */
#include "fuzz.h"

#include <math.h>

#include "word_sense/model.h"

/* A model that can be saved is one that can be loaded: its embeddings are finite. */
static void check_embeddings(attn_word_sense *m)
{
    attn_params *p = m->member[0].params;
    const float *x = attn_params_value(p, m->member[0].embedding);
    int64_t n = attn_shape_count(attn_params_shape(p, m->member[0].embedding));
    for (int64_t i = 0; i < n; i++) {
        PROMISE(isfinite(x[i]));
    }
}

static void read_vectors(const attn_corpus *c, const uint8_t *data, size_t size, attn_vectors_format format, const attn_allocator *a)
{
    fuzz_file f = long_file_of(data, size);
    attn_word_sense_config config = attn_word_sense_defaults();
    config.vectors = ATTN_VECTORS_FILE;
    config.vectors_file = f.path;
    config.vectors_format = format;
    config.dim = 0;
    config.heads = config.hidden = config.threads = 1;
    config.window = 2;
    config.vectors_words = 20;
    attn_word_sense *m = attn_word_sense_new(c, &config, a, &fuzz_error);
    if (m != NULL) {
        attn_vectors_report r = attn_word_sense_vectors_report(m);
        PROMISE(r.used + r.added + r.repeated.count + r.odd.count + r.broken.count + r.not_finite.count <= r.words && r.added <= 20);
        check_embeddings(m);
    }
    attn_word_sense_free(m);
    close_file(&f);
}

void fuzz_vectors_text(const uint8_t *data, size_t size, const attn_allocator *a)
{
    read_vectors(sentences(), data, size, ATTN_VECTORS_FORMAT_WORD2VEC, a);
    read_vectors(sentences(), data, size, ATTN_VECTORS_FORMAT_GLOVE, a);
    read_vectors(sentences(), data, size, ATTN_VECTORS_FORMAT_AUTO, a);
}

void fuzz_vectors_binary(const uint8_t *data, size_t size, const attn_allocator *a)
{
    read_vectors(sentences(), data, size, ATTN_VECTORS_FORMAT_BINARY, a);
}

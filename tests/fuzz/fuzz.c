/* What a fuzzer feeds: every reader of bytes that come from strangers. Built once a target, which ATTN_FUZZ names; with libFuzzer, or with
 * replay.c, which runs over files. A reader must come back with or without an error, leak nothing, and ask for no more memory than a
 * multiple of its input. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* memfd_create */
#endif
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "attn/attn.h"
#include "core/core.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* ---- memory in proportion ---- */

typedef struct budget {
    size_t used, most;
} budget;

typedef union block {
    size_t size;
    max_align_t align;
} block;

static void *budget_alloc(void *ctx, size_t size)
{
    budget *b = ctx;
    if (size > b->most - b->used) {
        fprintf(stderr, "%zu bytes asked for, with %zu of %zu in use\n", size, b->used, b->most);
        abort();
    }
    block *p = malloc(sizeof *p + size);
    if (p == NULL) {
        return NULL;
    }
    p->size = size;
    b->used += size;
    return p + 1;
}

static void budget_free(void *ctx, void *ptr)
{
    budget *b = ctx;
    block *p = ptr;
    if (p != NULL) {
        b->used -= p[-1].size;
        free(p - 1);
    }
}

/* ---- bytes as files ---- */

typedef struct file {
    int descriptor;
    char path[32];
} file;

static file file_of(const uint8_t *data, size_t size)
{
    file f = {.descriptor = memfd_create("fuzz", 0)};
    if (f.descriptor < 0 || (size > 0 && write(f.descriptor, data, size) != (ssize_t)size)) {
        abort();
    }
    snprintf(f.path, sizeof f.path, "/proc/self/fd/%d", f.descriptor);
    return f;
}

/* Part number `part` of the input, whose parts end with a byte of 0x1e. */
static file part_of(const uint8_t *data, size_t size, int part)
{
    for (; part > 0 && size > 0; part--) {
        const uint8_t *end = memchr(data, 0x1e, size);
        size_t skip = end != NULL ? (size_t)(end - data) + 1 : size;
        data += skip;
        size -= skip;
    }
    const uint8_t *end = size > 0 ? memchr(data, 0x1e, size) : NULL;
    return file_of(data, end != NULL ? (size_t)(end - data) : size);
}

static char *text_of(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1);
    if (text == NULL) {
        abort();
    }
    memcpy(text, data, size);
    text[size] = 0;
    return text;
}

static attn_error error;

/* ---- sentences ---- */

static void read_corpus(const char *path, const attn_allocator *a)
{
    attn_corpus *c = attn_corpus_new(a);
    if (attn_corpus_read(c, path, "train", &error) == ATTN_OK) {
        for (int64_t i = 0; i < attn_corpus_count(c); i++) {
            attn_example e = attn_corpus_get(c, i);
            if (e.target < 0 || e.target >= e.length || strcmp(e.tokens[e.target], "") == 0) {
                abort();
            }
        }
    }
    attn_corpus_free(c);
}

static void tsv(const uint8_t *data, size_t size, const attn_allocator *a)
{
    file f = file_of(data, size);
    read_corpus(f.path, a);
    close(f.descriptor);
}

static void folder(const uint8_t *data, size_t size, const attn_allocator *a)
{
    static const char *const names[] = {"train.data.txt", "train.gold.txt", "classes_map.txt"};
    static char home[] = "/tmp/attn-fuzz-XXXXXX";
    if (home[sizeof home - 2] == 'X' && mkdtemp(home) == NULL) {
        abort();
    }
    char link[3][64];
    file f[3];
    for (int i = 0; i < 3; i++) {
        f[i] = part_of(data, size, i);
        snprintf(link[i], sizeof link[i], "%s/%s", home, names[i]);
        if (symlink(f[i].path, link[i]) != 0) {
            abort();
        }
    }
    read_corpus(home, a);
    for (int i = 0; i < 3; i++) {
        unlink(link[i]);
        close(f[i].descriptor);
    }
}

/* A few sentences, made once. */
static const attn_corpus *sentences(void)
{
    static attn_corpus *c;
    static const char *const tokens[][4] = {{"the", "bank", "of", "rivers"}, {"the", "bank", "lends", "money"}};
    static const char *const senses[] = {"shore", "house"};
    for (int i = 0; c == NULL || i < 2; i++) {
        c = c == NULL ? attn_corpus_new(NULL) : c;
        if (attn_corpus_add(c, tokens[i % 2], 4, 1, senses[i % 2], &error) != ATTN_OK) {
            abort();
        }
    }
    return c;
}

static void vectors_in(const uint8_t *data, size_t size, const attn_allocator *a, attn_vectors_format format)
{
    file f = file_of(data, size);
    attn_word_sense_config config = attn_word_sense_defaults();
    config.vectors = ATTN_VECTORS_FILE;
    config.vectors_file = f.path;
    config.vectors_format = format;
    config.dim = 0;
    config.vectors_words = 50;
    attn_word_sense_free(attn_word_sense_new(sentences(), &config, a, &error));
    close(f.descriptor);
}

static void vectors_text(const uint8_t *data, size_t size, const attn_allocator *a)
{
    vectors_in(data, size, a, ATTN_VECTORS_FORMAT_WORD2VEC);
}

static void vectors_glove(const uint8_t *data, size_t size, const attn_allocator *a)
{
    vectors_in(data, size, a, ATTN_VECTORS_FORMAT_GLOVE);
}

static void vectors_binary(const uint8_t *data, size_t size, const attn_allocator *a)
{
    vectors_in(data, size, a, ATTN_VECTORS_FORMAT_BINARY);
}

static void predictions(const uint8_t *data, size_t size, const attn_allocator *a)
{
    file f = file_of(data, size);
    attn_predictions *p = attn_predictions_read(f.path, a, &error);
    for (int64_t i = 0; p != NULL && i < attn_predictions_count(p); i++) {
        if (attn_predictions_get(p, i).sense == NULL) {
            abort();
        }
    }
    attn_predictions_free(p);
    close(f.descriptor);
}

/* ---- models ---- */

static void safetensors(const uint8_t *data, size_t size, const attn_allocator *a)
{
    static volatile uint8_t sink;
    attn_safetensors *s = attn_safetensors_parse(data, size, "fuzz", a, &error);
    for (int i = 0; s != NULL && i < attn_safetensors_count(s); i++) {
        attn_file_tensor t = attn_safetensors_get(s, i);
        const uint8_t *bytes = t.data;
        for (size_t k = 0; k < (size_t)attn_shape_count(t.shape) * attn_dtype_size(t.dtype); k++) {
            sink = bytes[k];
        }
    }
    (void)sink;
    attn_safetensors_free(s);
}

/* Loads a model and predicts with it. */
static void model(const uint8_t *data, size_t size, const attn_allocator *a)
{
    static const char *const tokens[] = {"the", "bank", "of", "money"};
    file f = file_of(data, size);
    attn_word_sense *m = attn_word_sense_load(f.path, a, &error);
    attn_prediction p;
    if (m != NULL && attn_word_sense_words(m) > 0) {
        const char *words[] = {tokens[0], attn_word_sense_word(m, 0), tokens[2], tokens[3]};
        (void)!attn_word_sense_predict(m, words, 4, 1, &p, &error);
    }
    attn_word_sense_free(m);
    close(f.descriptor);
}

/* ---- matrices and pictures ---- */

static void matrix(const uint8_t *data, size_t size, const attn_allocator *a)
{
    attn_matrix m;
    if (attn_matrix_parse(data, size, "fuzz", &m, a, &error) == ATTN_OK) {
        double sum = 0;
        for (int64_t i = 0; i < m.rows * m.columns; i++) {
            sum += m.values[i];
        }
        (void)sum;
        attn_matrix_free(&m);
    }
}

static void labels(const uint8_t *data, size_t size, const attn_allocator *a)
{
    file f = file_of(data, size);
    attn_labels l;
    if (attn_labels_read(f.path, &l, a, &error) == ATTN_OK) {
        for (int64_t i = 0; i < l.count; i++) {
            if (attn_utf8_fault(l.text[i], strlen(l.text[i])) >= 0) {
                abort();
            }
        }
        attn_labels_free(&l);
    }
    close(f.descriptor);
}

/* The machine has no fonts, so that pictures are quick and the same everywhere. */
static void without_fonts(void)
{
    static char path[32];
    if (path[0] == 0) {
        static const char nothing[] = "<fontconfig/>";
        memcpy(path, file_of((const uint8_t *)nothing, sizeof nothing - 1).path, sizeof path);
        setenv("FONTCONFIG_FILE", path, 1);
    }
}

/* A font draws its letters. */
static void font(const uint8_t *data, size_t size, const attn_allocator *a)
{
    without_fonts();
    file f = file_of(data, size);
    double value = 0.5;
    const char *label = "Ab\xe8\x8b\xb9";
    attn_heatmap_panel panel = {.rows = 1, .columns = 1, .values = &value, .row_labels = &label, .column_labels = &label};
    attn_heatmap_config config = {.panels = &panel, .n_panels = 1, .font = f.path};
    attn_image image;
    if (attn_heatmap_draw(&config, &image, NULL, a, &error) == ATTN_OK) {
        attn_image_free(&image);
    }
    close(f.descriptor);
}

/* Labels of any text, drawn without any font. */
static void label(const uint8_t *data, size_t size, const attn_allocator *a)
{
    without_fonts();
    char *text = text_of(data, size);
    const char *line = text;
    double value = 0.5;
    attn_heatmap_panel panel = {.title = text, .rows = 1, .columns = 1, .values = &value, .row_labels = &line, .column_labels = &line};
    attn_heatmap_config config = {.panels = &panel, .n_panels = 1};
    attn_image image;
    if (attn_heatmap_draw(&config, &image, NULL, a, &error) == ATTN_OK) {
        attn_image_free(&image);
    }
    free(text);
}

/* ---- text ---- */

static void utf8(const uint8_t *data, size_t size, const attn_allocator *a)
{
    char *text = text_of(data, size);
    attn_corpus *c = attn_corpus_new(a);
    attn_example e;
    bool sound = attn_utf8_fault(text, strlen(text)) < 0;
    if (sound) {
        (void)attn_utf8_width(text);
    }
    if (attn_corpus_tokenize(c, text, &e, &error) == ATTN_OK && !sound) {
        abort();
    }
    attn_corpus_free(c);
    free(text);
}

/* A sentence is cut in every way and its word predicted. */
static void sentence(const uint8_t *data, size_t size, const attn_allocator *a)
{
    static attn_word_sense *m;
    attn_word_sense_config config = attn_word_sense_defaults();
    config.dim = 4;
    if (m == NULL && (m = attn_word_sense_new(sentences(), &config, NULL, &error)) == NULL) {
        abort();
    }
    char *text = text_of(data, size);
    for (int how = ATTN_TOKENIZE_AUTO; how <= ATTN_TOKENIZE_CHARS; how++) {
        attn_corpus *c = attn_corpus_new(a);
        attn_example e;
        if (attn_tokenize(m, c, text, (attn_tokenization)how, NULL, &e, &error) == ATTN_OK) {
            attn_prediction p;
            for (int i = 0; i < e.length && i < 50; i++) {
                if (attn_word_sense_find(m, e.tokens[i]) >= 0 && attn_word_sense_predict(m, e.tokens, e.length, i, &p, &error) != ATTN_OK) {
                    abort();
                }
            }
        }
        attn_corpus_free(c);
    }
    free(text);
}

static void number(const uint8_t *data, size_t size, const attn_allocator *a)
{
    (void)a;
    char *text = text_of(data, size);
    double mine, theirs;
    char *end;
    theirs = strtod(text, &end); /* in the C locale */
    if (attn__parse_double(text, strlen(text), &mine) && end == text + strlen(text) && memcmp(&mine, &theirs, sizeof mine) != 0 &&
        !(mine != mine && theirs != theirs)) {
        fprintf(stderr, "%s is %.17g, not %.17g\n", text, theirs, mine);
        abort();
    }
    free(text);
}

/* ---- */

typedef void (*target_fn)(const uint8_t *data, size_t size, const attn_allocator *a);

#define TARGET(name) \
    {                \
#name, name  \
    }
static const struct {
    const char *name;
    target_fn run;
} targets[] = {
    TARGET(tsv),         TARGET(folder),      TARGET(vectors_text), TARGET(vectors_glove), TARGET(vectors_binary),
    TARGET(predictions), TARGET(safetensors), TARGET(model),        TARGET(matrix),        TARGET(labels),
    TARGET(font),        TARGET(label),       TARGET(utf8),         TARGET(sentence),      TARGET(number),
};

static target_fn chosen(void)
{
    for (size_t i = 0; i < sizeof targets / sizeof targets[0]; i++) {
        if (strcmp(targets[i].name, ATTN_FUZZ) == 0) {
            return targets[i].run;
        }
    }
    abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    budget b = {.most = ((size_t)64 << 20) + 64 * size};
    attn_allocator a = {budget_alloc, budget_free, &b};
    chosen()(data, size, &a);
    if (b.used != 0) {
        fprintf(stderr, "%zu bytes are lost\n", b.used);
        abort();
    }
    return 0;
}

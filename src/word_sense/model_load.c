/* Models from safetensors files. The texts are read first, then the tensors are compared with what the texts promise, and only then is
 * memory of their size asked for. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/json.h"
#include "nn/nn.h"
#include "word_sense/model_file.h"

/* Elements of a tensor that are read at a time. */
#define PIECE ((int64_t)1 << 16)
/* What training may have reached: the epochs that the configuration allows at most, and steps and a loss that can be counted on from. */
#define MOST_EPOCHS 1000000
#define MOST_STEPS  ((int64_t)1 << 53)
#define MOST_LOSS   1e300

/* ---- texts ---- */

attn_status attn__model_parse(attn_word_sense *m, const attn_safetensors *f, const char *key, const attn__json **root, attn_error *error)
{
    attn__json_fault fault;
    const char *text = attn_safetensors_text(f, key);
    *root = NULL;
    bool lost = text != NULL && attn__json_parse(text, strlen(text), &m->scratch, root, &fault) == ATTN_ENOMEM;
    return lost ? attn__fail(error, ATTN_ENOMEM, "out of memory for \"%s\"", key) : ATTN_OK;
}

/* Numbers that may be left to us are chosen when a model is made, before it is saved. */
static attn_status load_config(attn_word_sense *m, const attn_safetensors *f, int version, attn_error *error)
{
    attn_word_sense_config config;
    const attn__json *object;
    attn__mark mark = attn__arena_mark(&m->scratch);
    attn_status status = attn__model_parse(m, f, "attn.config", &object, error);
    status = status == ATTN_OK ? attn__config_from_json(object, version, &config, error) : status;
    attn__arena_rewind(&m->scratch, mark);
    if (status == ATTN_OK && (config.min_count < 1 || config.batch < 1)) {
        status = attn__fail(error, ATTN_EFORMAT, "configuration: min_count is %d and batch %d, expected at least 1", config.min_count,
                            config.batch);
    }
    if (status == ATTN_OK && config.label_smoothing < 0) {
        status = attn__fail(error, ATTN_EFORMAT, "configuration: label_smoothing is %g, expected at least 0", config.label_smoothing);
    }
    if (status == ATTN_OK) {
        m->config = config;
    }
    return status;
}

/* Senses of a word must stand together. */
static attn_status load_sense(attn_word_sense *m, const attn__json *entry, int s, attn_error *error)
{
    const char *word = attn__json_text(attn__json_get(entry, "word")), *label = attn__json_text(attn__json_get(entry, "sense"));
    int64_t count;
    if (!attn__json_integer(attn__json_get(entry, "count"), 0, INT64_MAX, &count) || word == NULL || word[0] == '\0' || label == NULL ||
        label[0] == '\0') {
        return attn__fail(error, ATTN_EFORMAT, "senses: entry %d lacks a word, a sense or a count", s);
    }
    int64_t known = (int64_t)m->lemmas.count, w = attn__names_add(&m->lemmas, word, strlen(word));
    char *copy = attn__arena_copy(&m->arena, label, strlen(label) + 1);
    if (w < 0 || copy == NULL) {
        return attn__fail(error, ATTN_ENOMEM, "out of memory for the senses");
    }
    if (w < known && (s == 0 || m->sense[s - 1].word != (int)w)) {
        return attn__fail(error, ATTN_EFORMAT, "senses: entry %d: the senses of a word must stand together", s);
    }
    if (w == known) {
        m->lemma[w] = (attn__lemma){s, 0};
    }
    m->lemma[w].senses++;
    m->sense[s] = (attn__sense){copy, (int)w, count};
    return ATTN_OK;
}

static attn_status load_senses(attn_word_sense *m, const attn_safetensors *f, attn_error *error)
{
    const attn__json *array;
    attn__mark mark = attn__arena_mark(&m->scratch);
    attn_status status = attn__model_parse(m, f, "attn.senses", &array, error);
    size_t n = attn__json_is(array, ATTN__JSON_ARRAY) ? array->size : 0;
    if (status == ATTN_OK && (n == 0 || n >= INT32_MAX)) {
        status = attn__fail(error, ATTN_EFORMAT, "no senses");
    }
    if (status == ATTN_OK) {
        m->sense = attn__arena_array(&m->arena, (int64_t)n, sizeof *m->sense);
        m->lemma = attn__arena_array(&m->arena, (int64_t)n, sizeof *m->lemma);
        status = m->sense != NULL && m->lemma != NULL ? ATTN_OK : attn__fail(error, ATTN_ENOMEM, "out of memory for the senses");
    }
    int s = 0;
    for (const attn__json *v = status == ATTN_OK ? array->first : NULL; v != NULL && status == ATTN_OK; v = v->next) {
        status = load_sense(m, v, s++, error);
    }
    m->n_senses = (int)n;
    attn__arena_rewind(&m->scratch, mark);
    return status;
}

static attn_status load_member_progress(attn__member *k, const attn__json *entry, attn__underway *underway, const attn_word_sense *m,
                                        attn_error *error)
{
    int64_t epochs, steps, best_epoch;
    bool good = attn__json_integer(attn__json_get(entry, "epochs"), 0, MOST_EPOCHS, &epochs);
    good = attn__json_integer(attn__json_get(entry, "step"), 0, MOST_STEPS, &k->step) && good;
    good = attn__json_number(attn__json_get(entry, "loss"), &k->loss) && k->loss >= 0 && k->loss <= MOST_LOSS && good;
    good = attn__json_flag(attn__json_get(entry, "finished"), &k->finished) && good;
    good = attn__json_number(attn__json_get(entry, "best_score"), &k->best_score) && k->best_score >= 0 && k->best_score <= 2 && good;
    good = attn__json_integer(attn__json_get(entry, "best_epoch"), 0, epochs, &best_epoch) && good;
    good = attn__json_integer(attn__json_get(entry, "optimizer_steps"), 0, MOST_STEPS, &steps) && good;
    if (!good || (k->finished && (k->step > 0 || steps > 0))) {
        return attn__fail(error, ATTN_EFORMAT, "training: a member's progress is incomplete");
    }
    k->epochs = (int)epochs;
    k->best_epoch = (int)best_epoch;
    *underway = (attn__underway){steps, m->config.patience > 0 && k->best_epoch > 0 && !k->finished};
    return ATTN_OK;
}

static attn_status fill_progress(attn_word_sense *m, const attn__json *object, attn__underway underway[], attn_error *error)
{
    const attn__json *members = attn__json_get(object, "members");
    const char *hash = attn__json_text(attn__json_get(object, "training_data"));
    int64_t planned;
    if (!attn__json_integer(attn__json_get(object, "epochs_planned"), 0, MOST_EPOCHS, &planned) || hash == NULL ||
        strspn(hash, "0123456789abcdef") != 16 || strlen(hash) != 16 || !attn__json_is(members, ATTN__JSON_ARRAY) ||
        members->size != (size_t)m->config.seeds) {
        return attn__fail(error, ATTN_EFORMAT, "no progress of training, or not of %d members", m->config.seeds);
    }
    m->epochs_planned = (int)planned;
    m->fingerprint = strtoull(hash, NULL, 16);
    attn_status status = ATTN_OK;
    int i = 0;
    for (const attn__json *v = members->first; v != NULL && status == ATTN_OK; v = v->next, i++) {
        status = load_member_progress(&m->member[i], v, &underway[i], m, error);
    }
    return status;
}

static attn_status load_progress(attn_word_sense *m, const attn_safetensors *f, attn__underway underway[], attn_error *error)
{
    const attn__json *object;
    attn__mark mark = attn__arena_mark(&m->scratch);
    attn_status status = attn__model_parse(m, f, "attn.training", &object, error);
    status = status == ATTN_OK ? fill_progress(m, object, underway, error) : status;
    attn__arena_rewind(&m->scratch, mark);
    return status;
}

/* ---- tensors ---- */

/* All names, shapes and dtypes must be those that the texts promise. */
static attn_status compare(const attn_safetensors *f, const attn_file_tensor list[], int count, attn_error *error)
{
    attn__differences d = attn__differences_begin("the tensors do not fit the configuration: ", strlen(ATTN__QUOTE(f->name)) + 2);
    for (int i = 0; i < count; i++) {
        int at = attn_safetensors_find(f, list[i].name);
        attn_file_tensor x = attn_safetensors_get(f, at);
        attn__differ_tensor(&d, list[i].name, at >= 0 ? &x : NULL, list[i].shape, list[i].dtype);
    }
    for (int i = 0; i < attn_safetensors_count(f); i++) {
        attn_file_tensor x = attn_safetensors_get(f, i);
        bool known = false;
        for (int k = 0; k < count && !known; k++) {
            known = strcmp(list[k].name, x.name) == 0;
        }
        if (!known) {
            attn__differ_surplus(&d, &x);
        }
    }
    return attn__differences_end(&d, error);
}

/* Reads a tensor to its place, and looks at each piece while it is still in the cache. One that stays in the file is only looked at, and of
 * a table of embeddings there only the first row, which pads: attn__check_rows sees to the others, when they are needed. */
static attn_status fill_tensor(const attn_word_sense *m, const attn_safetensors *f, const attn_file_tensor *x, attn_error *error)
{
    int index = attn_safetensors_find(f, x->name);
    int64_t count = attn_shape_count(x->shape);
    bool there = x->data == attn__safetensors_inside(f, index, m->file);
    attn_status status = ATTN_OK;
    count = there && strcmp(x->name, ATTN__NEIGHBOURS) != 0 ? x->shape.dim[1] : count;
    for (int64_t at = 0; at < count && status == ATTN_OK; at += PIECE) {
        int64_t n = count - at < PIECE ? count - at : PIECE;
        void *to = (char *)(uintptr_t)x->data + (size_t)at * attn_dtype_size(x->dtype);
        status = there ? ATTN_OK : attn__safetensors_fill(f, index, at, n, to, error);
        status = status == ATTN_OK ? attn__model_check_tensor(x, at, n, error) : status;
    }
    return status;
}

/* Makes the parameters, with gradients if they will be trained, and what a member under way needs. */
static attn_status build_member(attn_word_sense *m, const attn_safetensors *f, int number, attn__underway underway, attn_error *error)
{
    attn__member *k = &m->member[number];
    char name[64];
    (void)snprintf(name, sizeof name, "%d.%s", number, attn_params_name(k->params, k->embedding));
    attn__params_borrow(k->params, k->embedding, attn__safetensors_inside(f, attn_safetensors_find(f, name), m->file));
    attn_status status = attn__params_build_bare(k->params, !k->finished, error);
    if (status == ATTN_OK && underway.steps > 0) {
        status = attn__member_optimizer(m, k, error);
    }
    if (status == ATTN_OK && underway.steps > 0) {
        attn_optimizer_set_steps(k->optimizer, underway.steps);
    }
    if (status == ATTN_OK && underway.best) {
        k->best = attn__calloc(&m->allocator, (size_t)attn_params_elements(k->params), sizeof *k->best);
        status = k->best != NULL ? ATTN_OK : attn__fail(error, ATTN_ENOMEM, "out of memory for the best parameters");
    }
    return status;
}

/* As many neighbours as the file has, if its configuration has any. Memory for them is asked for only once all tensors were compared. */
static void find_neighbours(attn_word_sense *m, const attn_safetensors *f)
{
    int at = m->config.neighbours > 0 ? attn_safetensors_find(f, ATTN__NEIGHBOURS) : -1;
    attn_shape shape = at >= 0 ? attn_safetensors_get(f, at).shape : (attn_shape){.rank = 0};
    m->neighbours.count = shape.rank == 2 ? shape.dim[0] : 0;
}

static attn_status build_neighbours(attn_word_sense *m, const attn_safetensors *f, attn_error *error)
{
    attn__neighbours *n = &m->neighbours;
    n->entry = n->count > 0 ? attn__safetensors_inside(f, attn_safetensors_find(f, ATTN__NEIGHBOURS), m->file) : NULL;
    n->borrowed = n->entry != NULL;
    if (n->borrowed) {
        return ATTN_OK;
    }
    n->entry = n->count > 0 ? attn__calloc(&m->allocator, (size_t)n->count, sizeof *n->entry) : NULL;
    return n->entry != NULL || n->count == 0 ? ATTN_OK : attn__fail(error, ATTN_ENOMEM, "out of memory for the neighbours");
}

static attn_status load_tensors(attn_word_sense *m, const attn_safetensors *f, const attn__underway underway[], attn_error *error)
{
    int count;
    if (!attn_word_sense_finished(m)) { /* what will be trained on is read */
        attn__mapping_end(&m->file);
    }
    find_neighbours(m, f);
    const attn_file_tensor *list = attn__model_tensors(m, underway, &count);
    attn_status status = list != NULL ? compare(f, list, count, error) : attn__fail(error, ATTN_ENOMEM, "out of memory for the tensors");
    status = status == ATTN_OK ? build_neighbours(m, f, error) : status;
    for (int i = 0; i < m->config.seeds && status == ATTN_OK; i++) {
        status = build_member(m, f, i, underway[i], error);
    }
    if (status == ATTN_OK) { /* the same list again, now with places to fill */
        list = attn__model_tensors(m, underway, &count);
        status = list != NULL ? ATTN_OK : attn__fail(error, ATTN_ENOMEM, "out of memory for the tensors");
    }
    for (int i = 0; i < count && status == ATTN_OK; i++) {
        status = fill_tensor(m, f, &list[i], error);
    }
    return status == ATTN_OK ? attn__neighbours_open(m, error) : status;
}

/* ---- the file ---- */

/* The version of a format "attn.word-sense/VERSION" that we know, else 0. */
static int version_of(const char *format)
{
    size_t size = strlen(ATTN__MODEL_FORMAT);
    bool ours = format != NULL && strncmp(format, ATTN__MODEL_FORMAT, size) == 0 && strlen(format) == size + 1;
    int version = ours ? format[size] - '0' : 0;
    return version >= 1 && version <= ATTN__MODEL_VERSION ? version : 0;
}

static attn_status fill_model(attn_word_sense *m, const attn_safetensors *f, attn_error *error)
{
    const char *format = attn_safetensors_text(f, "attn.model");
    int version = version_of(format);
    if (version == 0) {
        return attn__fail(error, ATTN_EFORMAT, "no word-sense model: \"attn.model\" is %s, expected " ATTN__MODEL_FORMAT "1 to %d",
                          format != NULL ? ATTN__QUOTE(format) : "missing", ATTN__MODEL_VERSION);
    }
    attn_status status = load_config(m, f, version, error);
    status = status == ATTN_OK ? attn__model_load_words(m, f, error) : status;
    status = status == ATTN_OK ? load_senses(m, f, error) : status;
    status = status == ATTN_OK ? attn__model_open(m, error) : status;
    if (status == ATTN_OK) {
        attn__mark mark = attn__arena_mark(&m->scratch);
        attn__underway *underway = attn__arena_array(&m->scratch, m->config.seeds, sizeof *underway);
        status = underway != NULL ? load_progress(m, f, underway, error) : attn__fail(error, ATTN_ENOMEM, "out of memory");
        status = status == ATTN_OK ? load_tensors(m, f, underway, error) : status;
        attn__arena_rewind(&m->scratch, mark);
    }
    return status;
}

static attn_word_sense *load(const char *path, bool map, const attn_allocator *allocator, attn_error *error)
{
    attn_error why = {.status = ATTN_OK};
    attn_safetensors *f = attn__safetensors_open(path, allocator, error);
    if (f == NULL) {
        return NULL;
    }
    attn_word_sense *m = attn__model_new(allocator);
    if (m != NULL && map) {
        m->file = attn__parts_map(&f->parts);
        m->file_name = attn__arena_copy(&m->arena, path, strlen(path) + 1);
    }
    attn_status status =
        m != NULL && (!map || m->file_name != NULL) ? fill_model(m, f, &why) : attn__fail(&why, ATTN_ENOMEM, "out of memory for the model");
    attn_safetensors_free(f);
    if (status == ATTN_OK) {
        return m;
    }
    if (status == ATTN_EIO) { /* its message begins with the path */
        (void)attn__fail(error, status, "%s", why.message);
    } else {
        (void)attn__fail(error, status, "%s: %s", path, why.message);
    }
    attn_word_sense_free(m);
    return NULL;
}

attn_word_sense *attn_word_sense_load(const char *path, const attn_allocator *allocator, attn_error *error)
{
    return load(path, false, allocator, error);
}

attn_word_sense *attn_word_sense_map(const char *path, const attn_allocator *allocator, attn_error *error)
{
    return load(path, true, allocator, error);
}

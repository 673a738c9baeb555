/* Models in safetensors files: tensors "MEMBER.NAME", texts for everything else (docs/formats.md). */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "attn/checkpoint.h"
#include "word_sense/model.h"

#define FORMAT "attn.word-sense/1"

/* ---- saving ---- */

/* Frees what jansson allocated when the file is written. */
typedef struct texts {
    attn_file_text list[8];
    int count;
} texts;

static bool add_text(texts *t, const char *key, char *owned)
{
    t->list[t->count++] = (attn_file_text){key, owned};
    return owned != NULL;
}

static char *dump(json_t *value)
{
    char *text = value != NULL ? json_dumps(value, JSON_COMPACT) : NULL;
    json_decref(value);
    return text;
}

static char *names_to_json(const attn__names *names)
{
    json_t *array = json_array();
    for (size_t i = 0; i < names->count; i++) {
        (void)json_array_append_new(array, json_stringn(names->list[i].text, names->list[i].size));
    }
    return dump(array);
}

static char *senses_to_json(const attn_word_sense *m)
{
    json_t *array = json_array();
    for (int s = 0; s < m->n_senses; s++) {
        (void)json_array_append_new(array, json_pack("{s:s, s:s, s:I}", "word", m->lemmas.list[m->sense[s].word].text, "sense",
                                                     m->sense[s].label, "count", (json_int_t)m->sense[s].count));
    }
    return dump(array);
}

static char *progress_to_json(const attn_word_sense *m)
{
    json_t *members = json_array();
    for (int i = 0; i < m->config.seeds; i++) {
        const attn__member *k = &m->member[i];
        (void)json_array_append_new(members, json_pack("{s:i, s:I, s:f, s:b, s:f, s:i, s:I}", "epochs", k->epochs, "step",
                                                       (json_int_t)k->step, "loss", k->loss, "finished", k->finished, "best_score",
                                                       k->best_score, "best_epoch", k->best_epoch, "optimizer_steps",
                                                       (json_int_t)(k->optimizer != NULL ? attn_optimizer_steps(k->optimizer) : 0)));
    }
    char hash[20];
    (void)snprintf(hash, sizeof hash, "%016llx", (unsigned long long)m->fingerprint);
    return dump(json_pack("{s:i, s:s, s:o}", "epochs_planned", m->epochs_planned, "training_data", hash, "members", members));
}

/* Tensors of a member: values, then "optimizer.SLOT", then "best" where there are any. */
typedef struct tensors {
    attn__arena *arena;
    attn_file_tensor *list;
    int count;
    bool ok;
} tensors;

static void add_tensor(tensors *t, int member, const char *kind, const char *name, attn_shape shape, const void *data)
{
    size_t size = strlen(kind) + strlen(name) + 24;
    char *full = attn__arena_alloc(t->arena, size);
    t->ok = t->ok && full != NULL;
    if (t->ok) {
        (void)snprintf(full, size, "%d.%s%s%s", member, kind, kind[0] != '\0' ? "." : "", name);
        t->list[t->count++] = (attn_file_tensor){full, ATTN_F32, shape, data};
    }
}

static void add_member(tensors *t, attn_word_sense *m, int member)
{
    attn__member *k = &m->member[member];
    const float *best = k->best;
    for (int id = 0; id < attn_params_count(k->params); id++) {
        const char *name = attn_params_name(k->params, id);
        attn_shape shape = attn_params_shape(k->params, id);
        add_tensor(t, member, "", name, shape, attn_params_value(k->params, id));
        for (int slot = 0; k->optimizer != NULL && slot < attn_optimizer_slots(k->optimizer); slot++) {
            add_tensor(t, member, slot == 0 ? "optimizer.m" : "optimizer.v", name, shape, attn_optimizer_slot(k->optimizer, slot, id));
        }
        if (best != NULL) {
            add_tensor(t, member, "best", name, shape, best);
            best += attn_shape_count(shape);
        }
    }
}

attn_status attn_word_sense_save(attn_word_sense *m, const char *path, attn_error *error)
{
    attn__mark mark = attn__arena_mark(&m->scratch);
    int most = 0;
    for (int i = 0; i < m->config.seeds; i++) {
        most += 4 * attn_params_count(m->member[i].params);
    }
    tensors list = {.arena = &m->scratch, .list = attn__arena_array(&m->scratch, most, sizeof *list.list)};
    list.ok = list.list != NULL;
    for (int i = 0; i < m->config.seeds && list.ok; i++) {
        add_member(&list, m, i);
    }
    texts t = {.count = 0};
    bool ok = list.ok && add_text(&t, "attn.config", attn__config_to_json(&m->config));
    ok = ok && add_text(&t, "attn.vocabulary", names_to_json(&m->vocabulary));
    ok = ok && add_text(&t, "attn.senses", senses_to_json(m)) && add_text(&t, "attn.training", progress_to_json(m));
    int owned = t.count;
    t.list[t.count++] = (attn_file_text){"attn.model", FORMAT};
    t.list[t.count++] = (attn_file_text){"attn.version", attn_version()};
    attn_status status = ok ? attn_safetensors_write(path, list.list, list.count, t.list, t.count, &m->allocator, error)
                            : attn__fail(error, ATTN_ENOMEM, "%s: out of memory", path);
    for (int i = 0; i < owned; i++) {
        free((void *)(uintptr_t)t.list[i].value);
    }
    attn__arena_rewind(&m->scratch, mark);
    return status;
}

/* ---- loading ---- */

static attn_status load_vocabulary(attn_word_sense *m, const attn_safetensors *f, attn_error *error)
{
    const char *text = attn_safetensors_text(f, "attn.vocabulary");
    json_t *array = text != NULL ? json_loads(text, JSON_ALLOW_NUL, NULL) : NULL;
    attn_status status =
        json_is_array(array) && json_array_size(array) < INT32_MAX ? ATTN_OK : attn__fail(error, ATTN_EFORMAT, "no vocabulary");
    for (size_t i = 0; status == ATTN_OK && i < json_array_size(array); i++) {
        const json_t *word = json_array_get(array, i);
        int64_t n = json_is_string(word) ? attn__names_add(&m->vocabulary, json_string_value(word), json_string_length(word)) : -2;
        if (n == -1) {
            status = attn__fail(error, ATTN_ENOMEM, "out of memory for the vocabulary");
        } else if (n != (int64_t)i) {
            status = attn__fail(error, ATTN_EFORMAT, "vocabulary: entry %zu is no word, or stands twice", i);
        }
    }
    json_decref(array);
    return status;
}

/* Senses of a word must stand together. */
static attn_status load_sense(attn_word_sense *m, const json_t *entry, int s, attn_error *error)
{
    const char *word = json_string_value(json_object_get(entry, "word")), *label = json_string_value(json_object_get(entry, "sense"));
    const json_t *count = json_object_get(entry, "count");
    if (word == NULL || word[0] == '\0' || label == NULL || label[0] == '\0' || !json_is_integer(count) || json_integer_value(count) < 0) {
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
    m->sense[s] = (attn__sense){copy, (int)w, json_integer_value(count)};
    return ATTN_OK;
}

static attn_status load_senses(attn_word_sense *m, const attn_safetensors *f, attn_error *error)
{
    const char *text = attn_safetensors_text(f, "attn.senses");
    json_t *array = text != NULL ? json_loads(text, JSON_REJECT_DUPLICATES, NULL) : NULL;
    size_t n = json_array_size(array);
    attn_status status = n > 0 && n < INT32_MAX ? ATTN_OK : attn__fail(error, ATTN_EFORMAT, "no senses");
    if (status == ATTN_OK) {
        m->sense = attn__arena_array(&m->arena, (int64_t)n, sizeof *m->sense);
        m->lemma = attn__arena_array(&m->arena, (int64_t)n, sizeof *m->lemma);
        status = m->sense != NULL && m->lemma != NULL ? ATTN_OK : attn__fail(error, ATTN_ENOMEM, "out of memory for the senses");
    }
    for (size_t s = 0; s < n && status == ATTN_OK; s++) {
        status = load_sense(m, json_array_get(array, s), (int)s, error);
    }
    m->n_senses = (int)n;
    json_decref(array);
    return status;
}

/* Counts and flags of a member; also makes its optimiser if training was under way. */
static attn_status load_member_progress(attn_word_sense *m, attn__member *k, const json_t *entry, attn_error *error)
{
    json_int_t step, steps;
    int finished;
    if (json_unpack((json_t *)(uintptr_t)entry, "{s:i, s:I, s:F, s:b, s:F, s:i, s:I}", "epochs", &k->epochs, "step", &step, "loss",
                    &k->loss, "finished", &finished, "best_score", &k->best_score, "best_epoch", &k->best_epoch, "optimizer_steps",
                    &steps) != 0 ||
        k->epochs < 0 || step < 0 || steps < 0 || k->best_epoch < 0) {
        return attn__fail(error, ATTN_EFORMAT, "training: a member's progress is incomplete");
    }
    k->step = step;
    k->finished = finished != 0;
    if (k->finished || steps == 0) {
        return ATTN_OK;
    }
    attn_adamw_config config = {.learning_rate = m->config.learning_rate, .weight_decay = m->config.weight_decay};
    k->optimizer = attn_adamw_new(k->params, config, error);
    if (k->optimizer == NULL) {
        return ATTN_ENOMEM;
    }
    attn_optimizer_set_steps(k->optimizer, steps);
    if (m->config.patience > 0 && k->best_epoch > 0) {
        k->best = attn__calloc(&m->allocator, (size_t)attn_params_elements(k->params), sizeof *k->best);
        return k->best != NULL ? ATTN_OK : attn__fail(error, ATTN_ENOMEM, "out of memory for the best parameters");
    }
    return ATTN_OK;
}

static attn_status load_progress(attn_word_sense *m, const attn_safetensors *f, attn_error *error)
{
    const char *text = attn_safetensors_text(f, "attn.training"), *hash = NULL;
    json_t *object = text != NULL ? json_loads(text, JSON_REJECT_DUPLICATES, NULL) : NULL, *members = NULL;
    attn_status status = ATTN_OK;
    if (json_unpack(object, "{s:i, s:s, s:o}", "epochs_planned", &m->epochs_planned, "training_data", &hash, "members", &members) != 0 ||
        json_array_size(members) != (size_t)m->config.seeds || m->epochs_planned < 0 || strspn(hash, "0123456789abcdef") != 16 ||
        strlen(hash) != 16) {
        status = attn__fail(error, ATTN_EFORMAT, "no progress of training, or not of %d members", m->config.seeds);
    }
    if (status == ATTN_OK) {
        m->fingerprint = strtoull(hash, NULL, 16);
    }
    for (int i = 0; i < m->config.seeds && status == ATTN_OK; i++) {
        status = load_member_progress(m, &m->member[i], json_array_get(members, (size_t)i), error);
    }
    json_decref(object);
    return status;
}

/* The list of the tensors that this model has, with writable data; compared with the file as a whole before anything is copied. */
static attn_status load_tensors(attn_word_sense *m, const attn_safetensors *f, attn_error *error)
{
    int most = 0;
    for (int i = 0; i < m->config.seeds; i++) {
        most += 4 * attn_params_count(m->member[i].params);
    }
    tensors list = {.arena = &m->scratch, .list = attn__arena_array(&m->scratch, most, sizeof *list.list)};
    list.ok = list.list != NULL;
    for (int i = 0; i < m->config.seeds && list.ok; i++) {
        add_member(&list, m, i);
    }
    if (!list.ok) {
        return attn__fail(error, ATTN_ENOMEM, "out of memory for the tensors");
    }
    char wrong[400] = "";
    size_t at = 0;
    for (int i = 0; i < list.count && at < sizeof wrong - 1; i++) {
        int j = attn_safetensors_find(f, list.list[i].name);
        attn_file_tensor x = j >= 0 ? attn_safetensors_get(f, j) : (attn_file_tensor){.shape = ATTN_SCALAR};
        if (j < 0 || x.dtype != ATTN_F32 || !attn_shape_equal(x.shape, list.list[i].shape)) {
            int n = snprintf(wrong + at, sizeof wrong - at, "%s%s is %s, expected %s", at > 0 ? "; " : "", list.list[i].name,
                             j < 0 ? "missing" : ATTN__TEXT(x.shape), ATTN__TEXT(list.list[i].shape));
            at += n > 0 ? (size_t)n : 0;
        }
    }
    if (at > 0 || list.count != attn_safetensors_count(f)) {
        return attn__fail(error, ATTN_EMISMATCH, "%s", at > 0 ? wrong : "there are more tensors than the configuration has");
    }
    for (int i = 0; i < list.count; i++) {
        attn_file_tensor x = attn_safetensors_get(f, attn_safetensors_find(f, list.list[i].name));
        size_t bytes = (size_t)attn_shape_count(x.shape) * sizeof(float);
        if (bytes > 0) {
            memcpy((void *)(uintptr_t)list.list[i].data, x.data, bytes);
        }
    }
    return ATTN_OK;
}

/* The tables must agree with each other before memory of their size is asked for: the embeddings are in the file. */
static attn_status check_size(const attn_word_sense *m, const attn_safetensors *f, attn_error *error)
{
    attn_shape wanted = ATTN_SHAPE((int64_t)m->vocabulary.count + 1, m->config.dim);
    int table = attn_safetensors_find(f, "0.embedding"), last;
    char name[32];
    (void)snprintf(name, sizeof name, "%d.senses.b", m->config.seeds - 1);
    last = attn_safetensors_find(f, name);
    if (table < 0 || last < 0 || !attn_shape_equal(attn_safetensors_get(f, table).shape, wanted)) {
        return attn__fail(error, ATTN_EMISMATCH, "0.embedding is %s, expected %s; %s is %s",
                          table < 0 ? "missing" : ATTN__TEXT(attn_safetensors_get(f, table).shape), ATTN__TEXT(wanted), name,
                          last < 0 ? "missing" : "there");
    }
    return ATTN_OK;
}

static attn_status fill_model(attn_word_sense *m, const attn_safetensors *f, attn_error *error)
{
    const char *format = attn_safetensors_text(f, "attn.model");
    attn_word_sense_config config;
    if (format == NULL || strcmp(format, FORMAT) != 0) {
        return attn__fail(error, ATTN_EFORMAT, "no word-sense model: \"attn.model\" is %.40s, expected " FORMAT,
                          format != NULL ? format : "missing");
    }
    attn_status status = attn__config_from_json(attn_safetensors_text(f, "attn.config"), &config, error);
    if (status != ATTN_OK) {
        return status;
    }
    m->config = config;
    status = load_vocabulary(m, f, error);
    status = status == ATTN_OK ? load_senses(m, f, error) : status;
    status = status == ATTN_OK ? check_size(m, f, error) : status;
    status = status == ATTN_OK ? attn__model_open(m, error) : status;
    status = status == ATTN_OK ? load_progress(m, f, error) : status;
    return status == ATTN_OK ? load_tensors(m, f, error) : status;
}

attn_word_sense *attn_word_sense_load(const char *path, const attn_allocator *allocator, attn_error *error)
{
    attn_error why = {.status = ATTN_OK};
    attn_safetensors *f = attn_safetensors_read(path, allocator, error);
    if (f == NULL) {
        return NULL;
    }
    attn_word_sense *m = attn__model_new(allocator);
    attn_status status = m != NULL ? fill_model(m, f, &why) : attn__fail(&why, ATTN_ENOMEM, "out of memory for the model");
    attn_safetensors_free(f);
    if (status == ATTN_OK) {
        return m;
    }
    (void)attn__fail(error, status, "%s: %.440s", path, why.message);
    attn_word_sense_free(m);
    return NULL;
}

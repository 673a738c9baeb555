/* Models into safetensors files: tensors "MEMBER.NAME", texts for everything else (docs/formats.md). */
#include <stdio.h>
#include <string.h>

#include "core/json.h"
#include "word_sense/model_file.h"

/* ---- tensors ---- */

typedef struct tensors {
    attn__arena *arena;
    attn_file_tensor *list;
    int count;
    bool ok;
} tensors;

/* Of no member if its number is below 0. */
static void add_tensor(tensors *t, int member, const char *kind, const char *name, attn_shape shape, const void *data)
{
    size_t size = strlen(kind) + strlen(name) + 24;
    char *full = attn__arena_alloc(t->arena, size);
    t->ok = t->ok && full != NULL;
    if (t->ok) {
        int at = member >= 0 ? snprintf(full, size, "%d.", member) : 0;
        (void)snprintf(full + at, size - (size_t)at, "%s%s%s", kind, kind[0] != '\0' ? "." : "", name);
        t->list[t->count++] = (attn_file_tensor){full, ATTN_F32, shape, data};
    }
}

static void add_member(tensors *t, int number, attn__member *k, attn__underway underway)
{
    const float *best = k->best;
    for (int id = 0; id < attn_params_count(k->params); id++) {
        const char *name = attn_params_name(k->params, id);
        attn_shape shape = attn_params_shape(k->params, id);
        add_tensor(t, number, "", name, shape, attn_params_value(k->params, id));
        for (int slot = 0; underway.steps > 0 && slot < 2; slot++) {
            add_tensor(t, number, slot == 0 ? "optimizer.m" : "optimizer.v", name, shape,
                       k->optimizer != NULL ? attn_optimizer_slot(k->optimizer, slot, id) : NULL);
        }
        if (underway.best) {
            add_tensor(t, number, "best", name, shape, best);
            best = best != NULL ? best + attn_shape_count(shape) : NULL;
        }
    }
}

attn_file_tensor *attn__model_tensors(attn_word_sense *m, const attn__underway underway[], int *count)
{
    int64_t most = 1;
    for (int i = 0; i < m->config.seeds; i++) {
        most += 4 * attn_params_count(m->member[i].params);
    }
    tensors t = {.arena = &m->scratch, .list = attn__arena_array(&m->scratch, most, sizeof *t.list)};
    t.ok = t.list != NULL;
    for (int i = 0; i < m->config.seeds && t.ok; i++) {
        add_member(&t, i, &m->member[i], underway[i]);
    }
    if (m->config.neighbours > 0) {
        add_tensor(&t, -1, "", ATTN__NEIGHBOURS, ATTN_SHAPE(m->neighbours.count, 3), m->neighbours.entry);
    }
    *count = t.count;
    return t.ok ? t.list : NULL;
}

attn_status attn__model_check_tensor(const attn_file_tensor *x, int64_t at, int64_t n, attn_error *error)
{
    int64_t i = attn__kernels(x->dtype)->first_nonfinite(n, (const char *)x->data + (size_t)at * attn_dtype_size(x->dtype));
    return i < 0 ? ATTN_OK
                 : attn__fail(error, ATTN_ENONFINITE, "tensor '%s': element %lld is not finite", ATTN__QUOTE(x->name), (long long)at + i);
}

/* What a mapped file has, nobody has looked at. */
static attn_status check_mapped(const attn_word_sense *m, const attn_file_tensor list[], int count, attn_error *error)
{
    attn_error why;
    for (int i = 0; m->file.bytes != NULL && i < count; i++) {
        if (attn__model_check_tensor(&list[i], 0, attn_shape_count(list[i].shape), &why) != ATTN_OK) {
            return attn__fail(error, why.status, "%s: %s", m->file_name, why.message);
        }
    }
    return ATTN_OK;
}

/* ---- texts ---- */

/* Appends and takes the value; false if memory is out (jansson takes NULL for a failure too). */
static bool append(json_t *array, json_t *value)
{
    return json_array_append_new(array, value) == 0;
}

/* The array as text, or NULL if not everything could be appended. */
static char *dump_if(bool ok, json_t *array, const attn_allocator *allocator)
{
    char *text = attn__json_dump(ok ? json_incref(array) : NULL, allocator);
    json_decref(array);
    return text;
}

static char *names_to_json(const attn__names *names, const attn_allocator *allocator)
{
    json_t *array = json_array();
    bool ok = true;
    for (size_t i = 0; i < names->count && ok; i++) {
        ok = append(array, json_stringn(names->list[i].text, names->list[i].size));
    }
    return dump_if(ok, array, allocator);
}

static char *senses_to_json(const attn_word_sense *m)
{
    json_t *array = json_array();
    bool ok = true;
    for (int s = 0; s < m->n_senses && ok; s++) {
        ok = append(array, json_pack("{s:s, s:s, s:I}", "word", m->lemmas.list[m->sense[s].word].text, "sense", m->sense[s].label, "count",
                                     (json_int_t)m->sense[s].count));
    }
    return dump_if(ok, array, &m->allocator);
}

static char *progress_to_json(const attn_word_sense *m, const attn__underway underway[])
{
    json_t *members = json_array();
    bool ok = true;
    for (int i = 0; i < m->config.seeds && ok; i++) {
        const attn__member *k = &m->member[i];
        ok = append(members, json_pack("{s:i, s:I, s:f, s:b, s:f, s:i, s:I}", "epochs", k->epochs, "step", (json_int_t)k->step, "loss",
                                       k->loss, "finished", k->finished, "best_score", k->best_score, "best_epoch", k->best_epoch,
                                       "optimizer_steps", (json_int_t)underway[i].steps));
    }
    char hash[20];
    (void)snprintf(hash, sizeof hash, "%016llx", (unsigned long long)m->fingerprint);
    json_t *object = json_pack("{s:i, s:s, s:O}", "epochs_planned", m->epochs_planned, "training_data", hash, "members", members);
    json_decref(members);
    return dump_if(ok && object != NULL, object, &m->allocator);
}

/* ---- the file ---- */

static attn_status write_model(attn_word_sense *m, const char *path, const attn__underway underway[], attn_error *error)
{
    int count;
    const attn_file_tensor *list = attn__model_tensors(m, underway, &count);
    char *owned[] = {attn__config_to_json(&m->config, &m->allocator), names_to_json(&m->vocabulary, &m->allocator), senses_to_json(m),
                     progress_to_json(m, underway)};
    char format[sizeof ATTN__MODEL_FORMAT + 12];
    (void)snprintf(format, sizeof format, "%s%d", ATTN__MODEL_FORMAT, ATTN__MODEL_VERSION);
    const attn_file_text texts[] = {{"attn.config", owned[0]},   {"attn.vocabulary", owned[1]}, {"attn.senses", owned[2]},
                                    {"attn.training", owned[3]}, {"attn.model", format},        {"attn.version", attn_version()}};
    bool ok = list != NULL && owned[0] != NULL && owned[1] != NULL && owned[2] != NULL && owned[3] != NULL;
    attn_status status = ok ? check_mapped(m, list, count, error) : attn__fail(error, ATTN_ENOMEM, "%s: out of memory", path);
    if (status == ATTN_OK) {
        status = attn_safetensors_write(path, list, count, texts, sizeof texts / sizeof texts[0], &m->allocator, error);
    }
    for (int i = 0; i < 4; i++) {
        attn__free(&m->allocator, owned[i]);
    }
    return status;
}

attn_status attn_word_sense_save(attn_word_sense *m, const char *path, attn_error *error)
{
    attn__mark mark = attn__arena_mark(&m->scratch);
    attn__underway *underway = attn__arena_array(&m->scratch, m->config.seeds, sizeof *underway);
    for (int i = 0; i < m->config.seeds && underway != NULL; i++) {
        const attn__member *k = &m->member[i];
        underway[i] = (attn__underway){k->optimizer != NULL ? attn_optimizer_steps(k->optimizer) : 0, k->best != NULL};
    }
    attn_status status =
        underway != NULL ? write_model(m, path, underway, error) : attn__fail(error, ATTN_ENOMEM, "%s: out of memory", path);
    attn__arena_rewind(&m->scratch, mark);
    return status;
}

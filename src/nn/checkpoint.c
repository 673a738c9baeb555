/* Parameters and optimiser state in one model file: "NAME", "optimizer.SLOT.NAME" and the texts "optimizer", "optimizer.steps". */
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "nn/nn.h"

#define OPTIMIZER "optimizer"
#define STEPS     OPTIMIZER ".steps"
#define STATE     OPTIMIZER "."

static attn_status check_model(const attn_params *p, const attn_optimizer *o, attn_error *error)
{
    if (!attn__params_built(p)) {
        return attn__fail(error, ATTN_EINVAL, "checkpoint: the parameters are not built, call attn_params_build first");
    }
    if (o != NULL && attn__optimizer_params(o) != p) {
        return attn__fail(error, ATTN_EINVAL, "checkpoint: the optimizer belongs to other parameters");
    }
    return ATTN_OK;
}

/* ---- saving ---- */

static const char *state_name(attn__arena *a, const char *slot, const char *name)
{
    size_t size = strlen(STATE) + strlen(slot) + 1 + strlen(name) + 1;
    char *text = attn__arena_alloc(a, size);
    if (text != NULL) {
        (void)snprintf(text, size, "%s%s.%s", STATE, slot, name);
    }
    return text;
}

/* The tensors of parameters and state, (1 + slots) * count of them; NULL if out of memory. */
static const attn_file_tensor *collect(attn__arena *a, attn_params *p, attn_optimizer *o)
{
    int count = attn_params_count(p), slots = o != NULL ? attn_optimizer_slots(o) : 0;
    attn_file_tensor *tensors = attn__arena_array(a, (int64_t)count * (1 + slots), sizeof *tensors);
    for (int id = 0; tensors != NULL && id < count; id++) {
        tensors[id] = (attn_file_tensor){attn_params_name(p, id), attn_params_dtype(p), attn_params_shape(p, id), attn_params_value(p, id)};
        for (int slot = 0; slot < slots; slot++) {
            attn_file_tensor *x = &tensors[(1 + slot) * count + id];
            *x = tensors[id];
            x->name = state_name(a, attn_optimizer_slot_name(o, slot), tensors[id].name);
            x->data = attn_optimizer_slot(o, slot, id);
            if (x->name == NULL) {
                return NULL;
            }
        }
    }
    return tensors;
}

attn_status attn_checkpoint_save(const char *path, attn_params *p, attn_optimizer *o, const attn_file_text texts[], int m,
                                 attn_error *error)
{
    attn_status status = check_model(p, o, error);
    if (status != ATTN_OK) {
        return status;
    }
    const attn_allocator *allocator = attn__params_allocator(p);
    attn__arena a;
    attn__arena_init(&a, allocator);
    int n = attn_params_count(p) * (1 + (o != NULL ? attn_optimizer_slots(o) : 0));
    const attn_file_tensor *tensors = collect(&a, p, o);
    attn_file_text *all = attn__arena_array(&a, (int64_t)m + 2, sizeof *all);
    if (tensors == NULL || all == NULL) {
        status = attn__fail(error, ATTN_ENOMEM, "%s: out of memory", path);
    } else {
        char steps[24];
        for (int i = 0; i < m; i++) {
            all[i] = texts[i];
        }
        if (o != NULL) {
            (void)snprintf(steps, sizeof steps, "%lld", (long long)attn_optimizer_steps(o));
            all[m++] = (attn_file_text){OPTIMIZER, attn_optimizer_name(o)};
            all[m++] = (attn_file_text){STEPS, steps};
        }
        status = attn_safetensors_write(path, tensors, n, all, m, allocator, error);
    }
    attn__arena_free(&a);
    return status;
}

/* ---- loading ---- */

#define REST_SIZE sizeof "; and 2147483647 more"

attn__differences attn__differences_begin(const char *head, size_t reserved)
{
    attn__differences d = {.room = sizeof d.text - reserved};
    d.size = (size_t)snprintf(d.text, d.room, "%s", head);
    return d;
}

void attn__differ(attn__differences *d, const char *format, ...)
{
    char item[ATTN_MESSAGE_SIZE];
    va_list args;
    va_start(args, format);
    (void)vsnprintf(item, sizeof item, format, args);
    va_end(args);
    size_t n = strlen(item) + 2;
    if (d->size + n + REST_SIZE <= d->room) {
        d->size += (size_t)snprintf(d->text + d->size, d->room - d->size, "%s%s", d->listed > 0 ? "; " : "", item);
        d->listed++;
    }
    d->count++;
}

void attn__differ_tensor(attn__differences *d, const char *name, const attn_file_tensor *x, attn_shape shape, attn_dtype dtype)
{
    if (x == NULL) {
        attn__differ(d, "'%s' %s is missing", ATTN__QUOTE(name), ATTN__TEXT(shape));
    } else if (!attn_shape_equal(x->shape, shape) || x->dtype != dtype) {
        bool shapes = x->dtype == dtype; /* the dtypes are only worth a word where they differ */
        attn__differ(d, "'%s' is %s%s%s in the file, %s%s%s in the model", ATTN__QUOTE(name), ATTN__TEXT(x->shape), shapes ? "" : " ",
                     shapes ? "" : attn_dtype_name(x->dtype), ATTN__TEXT(shape), shapes ? "" : " ", shapes ? "" : attn_dtype_name(dtype));
    }
}

void attn__differ_surplus(attn__differences *d, const attn_file_tensor *x)
{
    attn__differ(d, "'%s' %s is in the file only", ATTN__QUOTE(x->name), ATTN__TEXT(x->shape));
}

attn_status attn__differences_end(const attn__differences *d, attn_error *error)
{
    char rest[REST_SIZE] = "";
    if (d->count == 0) {
        return ATTN_OK;
    }
    if (d->count > d->listed) {
        (void)snprintf(rest, sizeof rest, "; and %d more", d->count - d->listed);
    }
    return attn__fail(error, ATTN_EMISMATCH, "%s%s", d->text, rest);
}

/* Whether `name` is "optimizer.SLOT.PARAM". */
static bool is_state_name(const char *name, const char *slot, const char *param)
{
    size_t prefix = strlen(STATE), length = strlen(slot);
    return strncmp(name, STATE, prefix) == 0 && strncmp(name + prefix, slot, length) == 0 && name[prefix + length] == '.' &&
           strcmp(name + prefix + length + 1, param) == 0;
}

/* Number of a parameter's tensor (slot -1) or of its state in the file, or -1. */
static int find(const attn_safetensors *f, const attn_params *p, const attn_optimizer *o, int slot, int id)
{
    if (slot < 0) {
        return attn_safetensors_find(f, attn_params_name(p, id));
    }
    for (int i = 0; i < attn_safetensors_count(f); i++) {
        if (is_state_name(attn_safetensors_get(f, i).name, attn_optimizer_slot_name(o, slot), attn_params_name(p, id))) {
            return i;
        }
    }
    return -1;
}

static void compare_tensor(attn__differences *d, const attn_safetensors *f, const attn_params *p, const attn_optimizer *o, int slot, int id)
{
    char name[ATTN__QUOTE_SIZE + sizeof STATE + 16];
    (void)snprintf(name, sizeof name, "%s%s%s%s", slot < 0 ? "" : STATE, slot < 0 ? "" : attn_optimizer_slot_name(o, slot),
                   slot < 0 ? "" : ".", ATTN__QUOTE(attn_params_name(p, id)));
    int i = find(f, p, o, slot, id);
    attn_file_tensor x = attn_safetensors_get(f, i);
    attn__differ_tensor(d, name, i >= 0 ? &x : NULL, attn_params_shape(p, id), attn_params_dtype(p));
}

/* Whether a tensor of the file has its place: a parameter, or state of the optimiser or of one that is not asked for. */
static bool is_expected(const attn_params *p, const attn_optimizer *o, const char *name)
{
    if (attn_params_find(p, name) >= 0) {
        return true;
    }
    if (o == NULL) {
        return strncmp(name, STATE, strlen(STATE)) == 0;
    }
    for (int slot = 0; slot < attn_optimizer_slots(o); slot++) {
        for (int id = 0; id < attn_params_count(p); id++) {
            if (is_state_name(name, attn_optimizer_slot_name(o, slot), attn_params_name(p, id))) {
                return true;
            }
        }
    }
    return false;
}

/* Reads a count of decimal digits; false if it is none or too large. */
static bool read_count(const char *text, int64_t *count)
{
    *count = 0;
    for (const char *c = text; *c != '\0'; c++) {
        int digit = *c - '0';
        if (digit < 0 || digit > 9 || *count > (INT64_MAX - digit) / 10) {
            return false;
        }
        *count = *count * 10 + digit;
    }
    return text[0] != '\0';
}

/* Whether the file holds state of this kind of optimiser; what it says otherwise is a difference. */
static bool compare_optimizer(attn__differences *d, const attn_safetensors *f, const attn_optimizer *o, int64_t *steps)
{
    const char *name = attn_safetensors_text(f, OPTIMIZER), *count = attn_safetensors_text(f, STEPS);
    if (name == NULL || strcmp(name, attn_optimizer_name(o)) != 0) {
        attn__differ(d, "the optimizer is '%s' in the file, '%s' here", name != NULL ? ATTN__QUOTE(name) : "", attn_optimizer_name(o));
        return false;
    }
    if (count == NULL || !read_count(count, steps)) {
        attn__differ(d, "'" STEPS "' is '%s' in the file, a count was expected", count != NULL ? ATTN__QUOTE(count) : "");
    }
    return true;
}

static void fill(const attn_safetensors *f, attn_params *p, attn_optimizer *o)
{
    int slots = o != NULL ? attn_optimizer_slots(o) : 0;
    for (int id = 0; id < attn_params_count(p); id++) {
        size_t bytes = (size_t)attn_shape_count(attn_params_shape(p, id)) * attn_dtype_size(attn_params_dtype(p));
        for (int slot = -1; bytes > 0 && slot < slots; slot++) {
            void *to = slot < 0 ? attn_params_value(p, id) : attn_optimizer_slot(o, slot, id);
            memcpy(to, attn_safetensors_get(f, find(f, p, o, slot, id)).data, bytes);
        }
    }
}

attn_status attn_checkpoint_load(const attn_safetensors *f, attn_params *p, attn_optimizer *o, attn_error *error)
{
    attn_status status = check_model(p, o, error);
    if (status != ATTN_OK) {
        return status;
    }
    char head[ATTN__QUOTE_SIZE + sizeof " does not fit the model: "];
    (void)snprintf(head, sizeof head, "%s does not fit the model: ", ATTN__QUOTE(f->name));
    attn__differences d = attn__differences_begin(head, 0);
    int64_t steps = 0;
    bool same_kind = o != NULL && compare_optimizer(&d, f, o, &steps);
    for (int slot = -1; slot < (same_kind ? attn_optimizer_slots(o) : 0); slot++) {
        for (int id = 0; id < attn_params_count(p); id++) {
            compare_tensor(&d, f, p, o, slot, id);
        }
    }
    for (int i = 0; i < attn_safetensors_count(f); i++) {
        attn_file_tensor x = attn_safetensors_get(f, i);
        if (!is_expected(p, same_kind ? o : NULL, x.name)) {
            attn__differ_surplus(&d, &x);
        }
    }
    status = attn__differences_end(&d, error);
    if (status == ATTN_OK) {
        fill(f, p, o);
        if (o != NULL) {
            attn_optimizer_set_steps(o, steps);
        }
    }
    return status;
}

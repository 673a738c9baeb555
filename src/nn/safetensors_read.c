/* Reading safetensors: every number that a file states is checked before it is used. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/core.h"
#include "core/file.h"
#include "core/json.h"
#include "nn/nn.h"

#define PREFIX ((size_t)8)

/* A tensor as the header describes it: its elements are the bytes begin..end of the data. */
typedef struct entry {
    attn_file_tensor tensor;
    size_t begin, end;
    int order; /* in the header */
} entry;

typedef struct reader {
    attn_safetensors *f;
    const unsigned char *header, *data; /* data: NULL if it stays in the file */
    size_t header_size, data_size;
    entry *entry;
    attn_error *error;
} reader;

static attn_status fail(const reader *r, attn_status status, const char *format, ...) ATTN_PRINTF(3, 4);
static attn_status fail(const reader *r, attn_status status, const char *format, ...)
{
    char text[ATTN_MESSAGE_SIZE];
    va_list args;
    va_start(args, format);
    (void)vsnprintf(text, sizeof text, format, args);
    va_end(args);
    return attn__fail(r->error, status, "%s: %s", r->f->name, text);
}

static attn_status out_of_memory(const reader *r)
{
    return fail(r, ATTN_ENOMEM, "out of memory");
}

/* Sizes of header and data of a file of `size` bytes, which begins with `prefix`. */
static attn_status split(reader *r, const unsigned char *prefix, size_t size)
{
    if (size < PREFIX) {
        return fail(r, ATTN_EFORMAT, "%zu bytes are no safetensors file, which begins with 8 bytes of header length", size);
    }
    uint64_t n = 0;
    for (size_t i = PREFIX; i-- > 0;) {
        n = n << 8 | prefix[i];
    }
    if (n > size - PREFIX || n > ATTN__LONGEST_HEADER) {
        return fail(r, ATTN_EFORMAT, "no safetensors file: a header of %llu bytes is announced, %zu bytes follow (at most %zu are legal)",
                    (unsigned long long)n, size - PREFIX, ATTN__LONGEST_HEADER);
    }
    r->header_size = (size_t)n;
    r->data_size = size - PREFIX - (size_t)n;
    return ATTN_OK;
}

static attn_status parse_header(const reader *r, json_t **json)
{
    json_error_t why;
    if (r->header_size == 0 || r->header[0] != '{') {
        return fail(r, ATTN_EFORMAT, "the header does not begin with '{'");
    }
    *json = attn__json_load((const char *)r->header, r->header_size, 0, &why);
    if (*json != NULL) {
        return ATTN_OK;
    }
    if (why.text[0] == '\0') {
        return out_of_memory(r);
    }
    return fail(r, ATTN_EFORMAT, "header, byte %d: %s", why.position, ATTN__QUOTE(why.text));
}

static attn_status read_texts(reader *r, json_t *metadata)
{
    if (metadata == NULL) {
        return ATTN_OK;
    }
    if (!json_is_object(metadata)) {
        return fail(r, ATTN_EFORMAT, ATTN__METADATA " is not an object of strings");
    }
    attn_safetensors *f = r->f;
    f->text = attn__arena_array(&f->arena, (int64_t)json_object_size(metadata), sizeof *f->text);
    if (f->text == NULL) {
        return out_of_memory(r);
    }
    for (void *i = json_object_iter(metadata); i != NULL; i = json_object_iter_next(metadata, i)) {
        const char *key = json_object_iter_key(i);
        json_t *value = json_object_iter_value(i);
        if (!json_is_string(value)) {
            return fail(r, ATTN_EFORMAT, ATTN__METADATA " '%s' is not a string", ATTN__QUOTE(key));
        }
        attn_file_text text = {attn__arena_copy(&f->arena, key, strlen(key) + 1),
                               attn__arena_copy(&f->arena, json_string_value(value), json_string_length(value) + 1)};
        if (text.key == NULL || text.value == NULL) {
            return out_of_memory(r);
        }
        f->text[f->texts++] = text;
    }
    return ATTN_OK;
}

static attn_status fail_tensor(const reader *r, const char *name, const char *what)
{
    return fail(r, ATTN_EFORMAT, "tensor '%s': %s", ATTN__QUOTE(name), what);
}

static attn_status read_dtype(const reader *r, const char *name, const json_t *value, attn_dtype *dtype)
{
    static const char *const others[] = {"BOOL", "U8",  "I8",  "I16", "U16",     "F16",     "BF16",    "I32",     "U32",
                                         "I64",  "U64", "C64", "F4",  "F6_E2M3", "F6_E3M2", "F8_E4M3", "F8_E5M2", "F8_E8M0"};
    const char *text = json_string_value(value);
    if (text == NULL) {
        return fail_tensor(r, name, "dtype is missing or no string");
    }
    if (strcmp(text, "F32") == 0 || strcmp(text, "F64") == 0) {
        *dtype = text[1] == '3' ? ATTN_F32 : ATTN_F64;
        return ATTN_OK;
    }
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        if (strcmp(text, others[i]) == 0) {
            return fail(r, ATTN_EFORMAT, "tensor '%s' holds %s, only F32 and F64 can be read", ATTN__QUOTE(name), text);
        }
    }
    return fail(r, ATTN_EFORMAT, "tensor '%s': unknown dtype '%s'", ATTN__QUOTE(name), ATTN__QUOTE(text));
}

/* An array of `least` to `most` integers that are not negative; returns how many, or -1. */
static int read_integers(const json_t *array, size_t least, size_t most, int64_t out[])
{
    if (!json_is_array(array) || json_array_size(array) < least || json_array_size(array) > most) {
        return -1;
    }
    int n = (int)json_array_size(array);
    for (int i = 0; i < n; i++) {
        const json_t *number = json_array_get(array, (size_t)i);
        if (!json_is_integer(number) || json_integer_value(number) < 0) {
            return -1;
        }
        out[i] = json_integer_value(number);
    }
    return n;
}

static attn_status read_entry(reader *r, const char *name, const json_t *value, entry *e)
{
    if (!json_is_object(value) || json_object_size(value) != 3) {
        return fail_tensor(r, name, "expected an object of dtype, shape and data_offsets");
    }
    attn_status status = read_dtype(r, name, json_object_get(value, "dtype"), &e->tensor.dtype);
    if (status != ATTN_OK) {
        return status;
    }
    attn_shape *shape = &e->tensor.shape;
    shape->rank = read_integers(json_object_get(value, "shape"), 0, ATTN_MAX_DIMS, shape->dim);
    if (shape->rank < 0) {
        return fail_tensor(r, name, "shape is not an array of at most 4 integers from 0 to 2^63 - 1");
    }
    int64_t offsets[2];
    if (read_integers(json_object_get(value, "data_offsets"), 2, 2, offsets) < 0 || offsets[0] > offsets[1]) {
        return fail_tensor(r, name, "data_offsets are not two rising integers from 0 to 2^63 - 1");
    }
    if ((uint64_t)offsets[1] > r->data_size) {
        return fail(r, ATTN_EFORMAT, "truncated: tensor '%s' ends at byte %lld of the data, which has %zu", ATTN__QUOTE(name),
                    (long long)offsets[1], r->data_size);
    }
    int64_t count = attn_shape_count(*shape);
    size_t bytes;
    if (count < 0 || (uint64_t)count > SIZE_MAX || !attn__size_mul((size_t)count, attn_dtype_size(e->tensor.dtype), &bytes) ||
        bytes != (size_t)(offsets[1] - offsets[0])) {
        return fail(r, ATTN_EFORMAT, "tensor '%s': shape %s of %s does not fill bytes %lld to %lld", ATTN__QUOTE(name), ATTN__TEXT(*shape),
                    attn_dtype_name(e->tensor.dtype), (long long)offsets[0], (long long)offsets[1]);
    }
    e->begin = (size_t)offsets[0];
    e->end = (size_t)offsets[1];
    e->tensor.name = attn__arena_copy(&r->f->arena, name, strlen(name) + 1);
    return e->tensor.name != NULL ? ATTN_OK : out_of_memory(r);
}

static attn_status read_entries(reader *r, json_t *header)
{
    r->entry = attn__calloc(&r->f->allocator, json_object_size(header), sizeof *r->entry);
    if (r->entry == NULL) {
        return out_of_memory(r);
    }
    for (void *i = json_object_iter(header); i != NULL; i = json_object_iter_next(header, i)) {
        const char *name = json_object_iter_key(i);
        if (strcmp(name, ATTN__METADATA) == 0) {
            continue;
        }
        entry *e = &r->entry[r->f->tensors];
        attn_status status = read_entry(r, name, json_object_iter_value(i), e);
        if (status != ATTN_OK) {
            return status;
        }
        e->order = r->f->tensors++;
    }
    return ATTN_OK;
}

/* By place in the data; empty tensors stand before the one that begins where they are. */
static int compare_entries(const void *a_, const void *b_)
{
    const entry *a = a_, *b = b_;
    if (a->begin != b->begin) {
        return a->begin < b->begin ? -1 : 1;
    }
    if (a->end != b->end) {
        return a->end < b->end ? -1 : 1;
    }
    return a->order < b->order ? -1 : a->order > b->order;
}

/* Sorts the entries; together they must cover the data once, and all of it. */
static attn_status check_layout(const reader *r)
{
    size_t covered = 0;
    qsort(r->entry, (size_t)r->f->tensors, sizeof *r->entry, compare_entries);
    for (int i = 0; i < r->f->tensors; i++) {
        const entry *e = &r->entry[i];
        if (e->begin != covered) {
            return fail(r, ATTN_EFORMAT, "tensor '%s' begins at byte %zu of the data, %s", ATTN__QUOTE(e->tensor.name), e->begin,
                        e->begin < covered ? "inside another tensor" : "after a hole");
        }
        covered = e->end;
    }
    if (covered != r->data_size) {
        return fail(r, ATTN_EFORMAT, "%zu bytes follow the last tensor", r->data_size - covered);
    }
    return ATTN_OK;
}

/* Lists the tensors, and copies each to an aligned place of its own: a file aligns nothing. Data that stays in the file is only noted. */
static attn_status place_data(reader *r)
{
    attn_safetensors *f = r->f;
    f->tensor = attn__arena_array(&f->arena, f->tensors, sizeof *f->tensor);
    f->begin = attn__arena_array(&f->arena, f->tensors, sizeof *f->begin);
    if (f->tensor == NULL || f->begin == NULL) {
        return out_of_memory(r);
    }
    for (int i = 0; i < f->tensors; i++) {
        const entry *e = &r->entry[i];
        size_t size = attn_dtype_size(e->tensor.dtype), bytes = e->end - e->begin;
        f->tensor[i] = e->tensor;
        f->begin[i] = PREFIX + r->header_size + e->begin;
        if (r->data != NULL) {
            void *copy = attn__arena_alloc(&f->arena, bytes);
            if (copy == NULL) {
                return out_of_memory(r);
            }
            attn__copy_little_endian(copy, r->data + e->begin, bytes / size, size);
            f->tensor[i].data = copy;
        }
    }
    return ATTN_OK;
}

static attn_status parse(reader *r)
{
    json_t *header = NULL;
    attn_status status = parse_header(r, &header);
    if (status == ATTN_OK) {
        status = read_texts(r, json_object_get(header, ATTN__METADATA));
    }
    if (status == ATTN_OK) {
        status = read_entries(r, header);
    }
    json_decref(header);
    if (status == ATTN_OK) {
        status = check_layout(r);
    }
    if (status == ATTN_OK) {
        status = place_data(r);
    }
    attn__free(&r->f->allocator, r->entry);
    return status;
}

static attn_safetensors *new_file(const char *name, const attn_allocator *allocator, attn_error *error)
{
    attn_safetensors *f = attn__calloc(allocator, 1, sizeof *f);
    if (f != NULL) {
        f->allocator = allocator != NULL ? *allocator : attn__malloc;
        f->parts.fd = -1;
        attn__arena_init(&f->arena, &f->allocator);
        f->name = attn__arena_copy(&f->arena, name, strlen(name) + 1);
    }
    if (f == NULL || f->name == NULL) {
        attn__fail(error, ATTN_ENOMEM, "%s: out of memory", name);
        attn_safetensors_free(f);
        return NULL;
    }
    return f;
}

attn_safetensors *attn_safetensors_parse(const void *bytes, size_t size, const char *name, const attn_allocator *allocator,
                                         attn_error *error)
{
    attn_safetensors *f = new_file(name, allocator, error);
    reader r = {.f = f, .error = error};
    attn_status status = f != NULL ? split(&r, bytes, size) : ATTN_ENOMEM;
    if (status == ATTN_OK) {
        r.header = (const unsigned char *)bytes + PREFIX;
        r.data = r.header + r.header_size;
        status = parse(&r);
    }
    if (status != ATTN_OK) {
        attn_safetensors_free(f);
        return NULL;
    }
    return f;
}

attn_safetensors *attn_safetensors_read(const char *path, const attn_allocator *allocator, attn_error *error)
{
    char *bytes;
    size_t size;
    if (attn__read_file(path, allocator, &bytes, &size, error) != ATTN_OK) {
        return NULL;
    }
    attn_safetensors *f = attn_safetensors_parse(bytes, size, path, allocator, error);
    attn__free(allocator, bytes);
    return f;
}

/* ---- without the data ---- */

static attn_status read_header(reader *r)
{
    unsigned char prefix[PREFIX] = {0};
    uint64_t size = r->f->parts.size;
    attn_status status = attn__parts_read(&r->f->parts, 0, prefix, size < PREFIX ? (size_t)size : PREFIX, r->error);
    if (status == ATTN_OK) {
        status = size <= SIZE_MAX ? split(r, prefix, (size_t)size) : out_of_memory(r);
    }
    unsigned char *header = status == ATTN_OK ? attn__calloc(&r->f->allocator, r->header_size, 1) : NULL;
    if (status == ATTN_OK) {
        status = header != NULL ? attn__parts_read(&r->f->parts, PREFIX, header, r->header_size, r->error) : out_of_memory(r);
    }
    if (status == ATTN_OK) {
        r->header = header;
        status = parse(r);
    }
    attn__free(&r->f->allocator, header);
    return status;
}

attn_safetensors *attn__safetensors_open(const char *path, const attn_allocator *allocator, attn_error *error)
{
    attn__parts parts;
    if (attn__parts_open(&parts, path, error) != ATTN_OK) {
        return NULL;
    }
    if (parts.fd < 0) {
        return attn_safetensors_read(path, allocator, error);
    }
    attn_safetensors *f = new_file(path, allocator, error);
    if (f == NULL) {
        attn__parts_close(&parts);
        return NULL;
    }
    f->parts = parts;
    f->parts.path = f->name;
    if (read_header(&(reader){.f = f, .error = error}) != ATTN_OK) {
        attn_safetensors_free(f);
        return NULL;
    }
    return f;
}

attn_status attn__safetensors_fill(const attn_safetensors *f, int i, void *to, attn_error *error)
{
    const attn_file_tensor *x = &f->tensor[i];
    size_t size = attn_dtype_size(x->dtype), count = (size_t)attn_shape_count(x->shape);
    if (count == 0) {
        return ATTN_OK;
    }
    if (x->data != NULL) {
        memcpy(to, x->data, count * size);
        return ATTN_OK;
    }
    attn_status status = attn__parts_read(&f->parts, f->begin[i], to, count * size, error);
    attn__copy_little_endian(to, to, count, size);
    return status;
}

/* Reading safetensors: every number that a file states is checked before it is used. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/core.h"
#include "core/file.h"
#include "nn/safetensors_header.h"

#define PREFIX ((size_t)8)

static attn_status out_of_memory(const attn__header_reader *r)
{
    return attn__header_fail(r, ATTN_ENOMEM, "out of memory");
}

/* Sizes of header and data of a file of `size` bytes, which begins with `prefix`. */
static attn_status split(attn__header_reader *r, const unsigned char *prefix, size_t size)
{
    if (size < PREFIX) {
        return attn__header_fail(r, ATTN_EFORMAT, "%zu bytes are no safetensors file, which begins with 8 bytes of header length", size);
    }
    uint64_t n = 0;
    for (size_t i = PREFIX; i-- > 0;) {
        n = n << 8 | prefix[i];
    }
    if (n > size - PREFIX || n > ATTN__LONGEST_HEADER) {
        return attn__header_fail(r, ATTN_EFORMAT,
                                 "no safetensors file: a header of %llu bytes is announced, %zu bytes follow (at most %zu are legal)",
                                 (unsigned long long)n, size - PREFIX, ATTN__LONGEST_HEADER);
    }
    r->header_size = (size_t)n;
    r->data_size = size - PREFIX - (size_t)n;
    return ATTN_OK;
}

/* By place in the data; empty tensors stand before the one that begins where they are. */
static int compare_entries(const void *a_, const void *b_)
{
    const attn__header_entry *a = a_, *b = b_;
    if (a->begin != b->begin) {
        return a->begin < b->begin ? -1 : 1;
    }
    if (a->end != b->end) {
        return a->end < b->end ? -1 : 1;
    }
    return a->order < b->order ? -1 : a->order > b->order;
}

/* Sorts the entries; together they must cover the data once, and all of it. */
static attn_status check_layout(const attn__header_reader *r)
{
    size_t covered = 0;
    qsort(r->entry, (size_t)r->f->tensors, sizeof *r->entry, compare_entries);
    for (int i = 0; i < r->f->tensors; i++) {
        const attn__header_entry *e = &r->entry[i];
        if (e->begin != covered) {
            return attn__header_fail(r, ATTN_EFORMAT, "tensor '%s' begins at byte %zu of the data, %s", ATTN__QUOTE(e->tensor.name),
                                     e->begin, e->begin < covered ? "inside another tensor" : "after a hole");
        }
        covered = e->end;
    }
    if (covered != r->data_size) {
        return attn__header_fail(r, ATTN_EFORMAT, "%zu bytes follow the last tensor", r->data_size - covered);
    }
    return ATTN_OK;
}

/* Lists the tensors, and copies each to an aligned place of its own: a file aligns nothing. Data that stays in the file is only noted. */
static attn_status place_data(attn__header_reader *r)
{
    attn_safetensors *f = r->f;
    f->tensor = attn__arena_array(&f->arena, f->tensors, sizeof *f->tensor);
    f->begin = attn__arena_array(&f->arena, f->tensors, sizeof *f->begin);
    if (f->tensor == NULL || f->begin == NULL) {
        return out_of_memory(r);
    }
    for (int i = 0; i < f->tensors; i++) {
        const attn__header_entry *e = &r->entry[i];
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

static attn_status parse(attn__header_reader *r)
{
    attn_status status = attn__header_check(r);
    if (status == ATTN_OK) {
        status = attn__header_read(r);
    }
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
        (void)attn__fail(error, ATTN_ENOMEM, "%s: out of memory", name);
        attn_safetensors_free(f);
        return NULL;
    }
    return f;
}

attn_safetensors *attn_safetensors_parse(const void *bytes, size_t size, const char *name, const attn_allocator *allocator,
                                         attn_error *error)
{
    attn_safetensors *f = new_file(name, allocator, error);
    attn__header_reader r = {.f = f, .error = error};
    attn_status status = f != NULL ? split(&r, bytes, size) : ATTN_ENOMEM;
    if (status == ATTN_OK) {
        r.data = (const unsigned char *)bytes + PREFIX + r.header_size;
        r.header = attn__arena_copy(&f->arena, (const char *)bytes + PREFIX, r.header_size);
        status = r.header != NULL ? parse(&r) : out_of_memory(&r);
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

static attn_status read_header(attn__header_reader *r)
{
    unsigned char prefix[PREFIX] = {0};
    uint64_t size = r->f->parts.size;
    attn_status status = attn__parts_read(&r->f->parts, 0, prefix, size < PREFIX ? (size_t)size : PREFIX, r->error);
    if (status == ATTN_OK) {
        status = size <= SIZE_MAX ? split(r, prefix, (size_t)size) : out_of_memory(r);
    }
    if (status == ATTN_OK) {
        r->header = attn__arena_alloc(&r->f->arena, r->header_size);
        status = r->header != NULL ? attn__parts_read(&r->f->parts, PREFIX, r->header, r->header_size, r->error) : out_of_memory(r);
    }
    return status == ATTN_OK ? parse(r) : status;
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
    if (read_header(&(attn__header_reader){.f = f, .error = error}) != ATTN_OK) {
        attn_safetensors_free(f);
        return NULL;
    }
    return f;
}

attn_status attn__safetensors_fill(const attn_safetensors *f, int i, int64_t first, int64_t count, void *to, attn_error *error)
{
    const attn_file_tensor *x = &f->tensor[i];
    size_t size = attn_dtype_size(x->dtype), bytes = (size_t)count * size, offset = (size_t)first * size;
    if (count == 0) {
        return ATTN_OK;
    }
    if (x->data != NULL) {
        memcpy(to, (const char *)x->data + offset, bytes);
        return ATTN_OK;
    }
    attn_status status = attn__parts_read(&f->parts, f->begin[i] + offset, to, bytes, error);
    attn__copy_little_endian(to, to, (size_t)count, size);
    return status;
}

void *attn__safetensors_inside(const attn_safetensors *f, int i, attn__mapping m)
{
    size_t size = attn_dtype_size(f->tensor[i].dtype);
    bool usable = m.bytes != NULL && f->tensor[i].data == NULL && f->begin[i] % size == 0 && attn__little_endian();
    return usable ? (char *)m.bytes + f->begin[i] : NULL;
}

/* The header of a safetensors file: every number that it states is checked before it is used. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/json_scan.h"
#include "nn/safetensors_header.h"

attn_status attn__header_fail(const attn__header_reader *r, attn_status status, const char *format, ...)
{
    char text[ATTN_MESSAGE_SIZE];
    va_list args;
    va_start(args, format);
    (void)vsnprintf(text, sizeof text, format, args);
    va_end(args);
    return attn__fail(r->error, status, "%s: %s", r->f->name, text);
}

static attn_status out_of_memory(const attn__header_reader *r)
{
    return attn__header_fail(r, ATTN_ENOMEM, "out of memory");
}

attn_status attn__header_check(const attn__header_reader *r)
{
    if (r->header_size == 0 || r->header[0] != '{') {
        return attn__header_fail(r, ATTN_EFORMAT, "the header does not begin with '{'");
    }
    attn__scan s = attn__scan_new(r->header, r->header_size);
    return attn__scan_check(&s) ? ATTN_OK : attn__header_fail(r, ATTN_EFORMAT, "header, byte %td: %s", s.at - s.begin, s.fault);
}

static int compare_names(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Of n names, each the first member of a struct of `size` bytes, none may stand twice. */
static attn_status check_unique(const attn__header_reader *r, const void *structs, size_t n, size_t size)
{
    attn_status status = ATTN_OK;
    const char **names = attn__calloc(&r->f->allocator, n, sizeof *names);
    if (names == NULL) {
        return out_of_memory(r);
    }
    for (size_t i = 0; i < n; i++) {
        memcpy(&names[i], (const char *)structs + i * size, sizeof *names);
    }
    qsort(names, n, sizeof *names, compare_names);
    for (size_t i = 1; i < n && status == ATTN_OK; i++) {
        if (strcmp(names[i], names[i - 1]) == 0) {
            status = attn__header_fail(r, ATTN_EFORMAT, "header: duplicate key '%s'", ATTN__QUOTE(names[i]));
        }
    }
    attn__free(&r->f->allocator, names);
    return status;
}

/* Room for one more element of an array in memory of the file's allocator. */
static attn_status one_more(const attn__header_reader *r, void **array, size_t *capacity, int count, size_t size)
{
    return count < INT32_MAX - 1 && attn__grow(&r->f->allocator, array, capacity, (size_t)count + 1, size) ? ATTN_OK : out_of_memory(r);
}

static attn_status read_text(attn__header_reader *r, attn__scan *s, attn_file_text *text)
{
    text->key = attn__scan_key(s);
    if (attn__scan_peek(s) != '"') {
        return attn__header_fail(r, ATTN_EFORMAT, ATTN__METADATA " '%s' is not a string", ATTN__QUOTE(text->key));
    }
    text->value = attn__scan_string(s);
    return ATTN_OK;
}

static attn_status read_texts(attn__header_reader *r, attn__scan *s)
{
    attn_safetensors *f = r->f;
    if (attn__scan_peek(s) != '{') {
        return attn__header_fail(r, ATTN_EFORMAT, ATTN__METADATA " is not an object of strings");
    }
    if (f->text != NULL) {
        return attn__header_fail(r, ATTN_EFORMAT, "header: duplicate key '" ATTN__METADATA "'");
    }
    void *list = NULL;
    size_t capacity = 0;
    attn_status status = one_more(r, &list, &capacity, 0, sizeof *f->text);
    for (bool more = status == ATTN_OK && attn__scan_open(s); more; more = status == ATTN_OK && attn__scan_more(s)) {
        status = one_more(r, &list, &capacity, f->texts, sizeof *f->text);
        status = status == ATTN_OK ? read_text(r, s, (attn_file_text *)list + f->texts) : status;
        f->texts += status == ATTN_OK;
    }
    if (status == ATTN_OK) {
        size_t kept = f->texts > 0 ? (size_t)f->texts : 1; /* so that text is not NULL where there are none */
        f->text = attn__arena_copy(&f->arena, list, kept * sizeof *f->text);
        status = f->text != NULL ? check_unique(r, &f->text[0].key, (size_t)f->texts, sizeof *f->text) : out_of_memory(r);
    }
    attn__free(&f->allocator, list);
    return status;
}

static attn_status fail_tensor(const attn__header_reader *r, const char *name, const char *what)
{
    return attn__header_fail(r, ATTN_EFORMAT, "tensor '%s': %s", ATTN__QUOTE(name), what);
}

/* `at` NULL: there is none. */
static attn_status read_dtype(const attn__header_reader *r, const char *name, attn__scan s, attn_dtype *dtype)
{
    static const char *const others[] = {"BOOL", "U8",  "I8",  "I16", "U16",     "F16",     "BF16",    "I32",     "U32",
                                         "I64",  "U64", "C64", "F4",  "F6_E2M3", "F6_E3M2", "F8_E4M3", "F8_E5M2", "F8_E8M0"};
    if (s.at == NULL || attn__scan_peek(&s) != '"') {
        return fail_tensor(r, name, "dtype is missing or no string");
    }
    const char *text = attn__scan_string(&s);
    if (strcmp(text, "F32") == 0 || strcmp(text, "F64") == 0) {
        *dtype = text[1] == '3' ? ATTN_F32 : ATTN_F64;
        return ATTN_OK;
    }
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        if (strcmp(text, others[i]) == 0) {
            return attn__header_fail(r, ATTN_EFORMAT, "tensor '%s' holds %s, only F32 and F64 can be read", ATTN__QUOTE(name), text);
        }
    }
    return attn__header_fail(r, ATTN_EFORMAT, "tensor '%s': unknown dtype '%s'", ATTN__QUOTE(name), ATTN__QUOTE(text));
}

/* An array of `least` to `most` integers that are not negative; returns how many, or -1. */
static int read_integers(attn__scan s, int least, int most, int64_t out[])
{
    int n = 0;
    if (s.at == NULL || attn__scan_peek(&s) != '[') {
        return -1;
    }
    for (bool more = attn__scan_open(&s); more; more = attn__scan_more(&s), n++) {
        if (n == most || !attn__scan_integer(&s, &out[n]) || out[n] < 0) {
            return -1;
        }
    }
    return n >= least ? n : -1;
}

/* Where the values of an entry's keys are; `at` NULL: not there. */
typedef struct members {
    attn__scan dtype, shape, offsets;
} members;

/* Finds them, and goes over the entry. An entry has these three and no other. */
static attn_status find_members(const attn__header_reader *r, const char *name, attn__scan *s, members *m)
{
    static const char expected[] = "expected an object of dtype, shape and data_offsets";
    *m = (members){.dtype = {.at = NULL}};
    if (attn__scan_peek(s) != '{') {
        return fail_tensor(r, name, expected);
    }
    int n = 0;
    for (bool more = attn__scan_open(s); more; more = attn__scan_more(s)) {
        const char *key = attn__scan_key(s);
        attn__scan other = {.at = NULL}, *place = strcmp(key, "dtype") == 0          ? &m->dtype
                                                  : strcmp(key, "shape") == 0        ? &m->shape
                                                  : strcmp(key, "data_offsets") == 0 ? &m->offsets
                                                                                     : &other;
        if (place->at != NULL) {
            return fail_tensor(r, name, "a duplicate key");
        }
        *place = *s;
        attn__scan_skip(s);
        n += n < 4;
    }
    return n == 3 ? ATTN_OK : fail_tensor(r, name, expected);
}

static attn_status read_entry(attn__header_reader *r, const char *name, attn__scan *s, attn__header_entry *e)
{
    members m;
    attn_status status = find_members(r, name, s, &m);
    status = status == ATTN_OK ? read_dtype(r, name, m.dtype, &e->tensor.dtype) : status;
    if (status != ATTN_OK) {
        return status;
    }
    attn_shape *shape = &e->tensor.shape;
    shape->rank = read_integers(m.shape, 0, ATTN_MAX_DIMS, shape->dim);
    if (shape->rank < 0) {
        return fail_tensor(r, name, "shape is not an array of at most 4 integers from 0 to 2^63 - 1");
    }
    int64_t offsets[2];
    if (read_integers(m.offsets, 2, 2, offsets) < 0 || offsets[0] > offsets[1]) {
        return fail_tensor(r, name, "data_offsets are not two rising integers from 0 to 2^63 - 1");
    }
    if ((uint64_t)offsets[1] > r->data_size) {
        return attn__header_fail(r, ATTN_EFORMAT, "truncated: tensor '%s' ends at byte %lld of the data, which has %zu", ATTN__QUOTE(name),
                                 (long long)offsets[1], r->data_size);
    }
    int64_t count = attn_shape_count(*shape);
    size_t bytes;
    if (count < 0 || (uint64_t)count > SIZE_MAX || !attn__size_mul((size_t)count, attn_dtype_size(e->tensor.dtype), &bytes) ||
        bytes != (size_t)(offsets[1] - offsets[0])) {
        return attn__header_fail(r, ATTN_EFORMAT, "tensor '%s': shape %s of %s does not fill bytes %lld to %lld", ATTN__QUOTE(name),
                                 ATTN__TEXT(*shape), attn_dtype_name(e->tensor.dtype), (long long)offsets[0], (long long)offsets[1]);
    }
    e->begin = (size_t)offsets[0];
    e->end = (size_t)offsets[1];
    return ATTN_OK;
}

attn_status attn__header_read(attn__header_reader *r)
{
    attn_safetensors *f = r->f;
    attn__scan s = attn__scan_new(r->header, r->header_size);
    void *list = NULL;
    size_t capacity = 0;
    attn_status status = one_more(r, &list, &capacity, 0, sizeof *r->entry);
    for (bool more = status == ATTN_OK && attn__scan_open(&s); more; more = status == ATTN_OK && attn__scan_more(&s)) {
        const char *name = attn__scan_key(&s);
        if (strcmp(name, ATTN__METADATA) == 0) {
            status = read_texts(r, &s);
        } else if ((status = one_more(r, &list, &capacity, f->tensors, sizeof *r->entry)) == ATTN_OK) {
            attn__header_entry *e = (attn__header_entry *)list + f->tensors;
            *e = (attn__header_entry){.tensor.name = name, .order = f->tensors};
            status = read_entry(r, name, &s, e);
            f->tensors++;
        }
    }
    r->entry = list;
    return status == ATTN_OK ? check_unique(r, &r->entry[0].tensor.name, (size_t)f->tensors, sizeof *r->entry) : status;
}

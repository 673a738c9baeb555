/* Writing safetensors. The whole file is built in memory and then replaces the old one at once; the same content gives the same bytes. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <utf8proc.h>

#include "core/file.h"
#include "nn/nn.h"

#define PREFIX ((size_t)8)

/* A text that grows; after a failure it stays as it is. */
typedef struct text {
    const attn_allocator *allocator;
    char *bytes;
    size_t size, capacity;
    bool failed;
} text;

static void put(text *t, const char *bytes, size_t size)
{
    void *array = t->bytes;
    t->failed = t->failed || size > SIZE_MAX - t->size || !attn__grow(t->allocator, &array, &t->capacity, t->size + size, 1);
    if (!t->failed) {
        t->bytes = array;
        memcpy(t->bytes + t->size, bytes, size);
        t->size += size;
    }
}

static void put_text(text *t, const char *words)
{
    put(t, words, strlen(words));
}

static void put_number(text *t, uint64_t number)
{
    char digits[24];
    (void)snprintf(digits, sizeof digits, "%llu", (unsigned long long)number);
    put_text(t, digits);
}

/* A JSON string: quotes, backslashes and control characters are escaped, everything else stands as it is. */
static void put_string(text *t, const char *s)
{
    put_text(t, "\"");
    for (; *s != '\0'; s++) {
        unsigned char c = (unsigned char)*s;
        if (c == '"' || c == '\\') {
            put(t, (const char[]){'\\', *s}, 2);
        } else if (c >= '\b' && c <= '\r' && c != '\v') {
            put(t, (const char[]){'\\', "btnvfr"[c - '\b']}, 2);
        } else if (c < 0x20) {
            char escape[8];
            (void)snprintf(escape, sizeof escape, "\\u%04x", (unsigned)c);
            put_text(t, escape);
        } else {
            put(t, s, 1);
        }
    }
    put_text(t, "\"");
}

static bool is_utf8(const char *s)
{
    utf8proc_ssize_t left = (utf8proc_ssize_t)strlen(s);
    while (left > 0) {
        utf8proc_int32_t point;
        utf8proc_ssize_t n = utf8proc_iterate((const utf8proc_uint8_t *)s, left, &point);
        if (n <= 0) {
            return false;
        }
        s += n;
        left -= n;
    }
    return true;
}

/* ---- order ---- */

static int by_name(const void *a, const void *b)
{
    const attn_file_tensor *const *x = a, *const *y = b;
    return strcmp((*x)->name, (*y)->name);
}

/* As the reference writer: wider elements first, so that every tensor is aligned if the data is; then by name. */
static int by_width_and_name(const void *a, const void *b)
{
    const attn_file_tensor *const *x = a, *const *y = b;
    size_t m = attn_dtype_size((*x)->dtype), n = attn_dtype_size((*y)->dtype);
    return m != n ? (m > n ? -1 : 1) : by_name(a, b);
}

static int by_key(const void *a, const void *b)
{
    const attn_file_text *const *x = a, *const *y = b;
    return strcmp((*x)->key, (*y)->key);
}

/* What is written, in order. */
typedef struct content {
    const char *path;
    const attn_file_tensor **tensor;
    const attn_file_text **text;
    int n, m;
    attn_error *error;
} content;

static attn_status refuse(const content *c, const char *what, const char *name, const char *why)
{
    return attn__fail(c->error, ATTN_EINVAL, "%s: %s '%s' %s", c->path, what, ATTN__QUOTE(name), why);
}

static attn_status out_of_memory(const content *c)
{
    return attn__fail(c->error, ATTN_ENOMEM, "%s: out of memory", c->path);
}

/* Bytes of a tensor's elements; false if the shape is invalid or they are too many. */
static bool tensor_size(const attn_file_tensor *x, size_t *bytes)
{
    int64_t count = attn_shape_count(x->shape);
    return count >= 0 && (uint64_t)count <= SIZE_MAX && attn__size_mul((size_t)count, attn_dtype_size(x->dtype), bytes);
}

/* Names that cannot be shown are counted instead. */
static attn_status check_name(const content *c, const char *what, int i, const char *name)
{
    if (name == NULL || name[0] == '\0' || !is_utf8(name)) {
        return attn__fail(c->error, ATTN_EINVAL, "%s: %s number %d has a name that is empty or not UTF-8", c->path, what, i);
    }
    return ATTN_OK;
}

static attn_status check_tensor(const content *c, int i)
{
    const attn_file_tensor *x = c->tensor[i];
    size_t bytes;
    attn_status status = check_name(c, "tensor", i, x->name);
    if (status != ATTN_OK) {
        return status;
    }
    if (strncmp(x->name, ATTN__METADATA, strlen(ATTN__METADATA)) == 0) {
        return refuse(c, "tensor", x->name, "has a name that begins with " ATTN__METADATA);
    }
    if ((x->dtype != ATTN_F32 && x->dtype != ATTN_F64) || !tensor_size(x, &bytes)) {
        return refuse(c, "tensor", x->name, "has an invalid dtype or shape");
    }
    return x->data != NULL || bytes == 0 ? ATTN_OK : refuse(c, "tensor", x->name, "has no data");
}

static attn_status check_text(const content *c, int i)
{
    const attn_file_text *x = c->text[i];
    attn_status status = check_name(c, "metadata", i, x->key);
    if (status == ATTN_OK && (x->value == NULL || !is_utf8(x->value))) {
        status = refuse(c, "metadata", x->key, "is missing or not UTF-8");
    }
    return status;
}

/* Checks everything and leaves it in the order of the file. */
static attn_status check_and_sort(content *c)
{
    attn_status status = ATTN_OK;
    for (int i = 0; i < c->n && status == ATTN_OK; i++) {
        status = check_tensor(c, i);
    }
    for (int i = 0; i < c->m && status == ATTN_OK; i++) {
        status = check_text(c, i);
    }
    if (status != ATTN_OK) {
        return status;
    }
    qsort(c->tensor, (size_t)c->n, sizeof(const attn_file_tensor *), by_name);
    qsort(c->text, (size_t)c->m, sizeof(const attn_file_text *), by_key);
    for (int i = 1; i < c->n; i++) {
        if (strcmp(c->tensor[i - 1]->name, c->tensor[i]->name) == 0) {
            return refuse(c, "tensor", c->tensor[i]->name, "is given twice");
        }
    }
    for (int i = 1; i < c->m; i++) {
        if (strcmp(c->text[i - 1]->key, c->text[i]->key) == 0) {
            return refuse(c, "metadata", c->text[i]->key, "is given twice");
        }
    }
    qsort(c->tensor, (size_t)c->n, sizeof(const attn_file_tensor *), by_width_and_name);
    return ATTN_OK;
}

/* ---- bytes ---- */

static void put_tensor(text *t, const attn_file_tensor *x, size_t begin, size_t end)
{
    put_string(t, x->name);
    put_text(t, x->dtype == ATTN_F32 ? ":{\"dtype\":\"F32\",\"shape\":[" : ":{\"dtype\":\"F64\",\"shape\":[");
    for (int i = 0; i < x->shape.rank; i++) {
        put_text(t, i > 0 ? "," : "");
        put_number(t, (uint64_t)x->shape.dim[i]);
    }
    put_text(t, "],\"data_offsets\":[");
    put_number(t, begin);
    put_text(t, ",");
    put_number(t, end);
    put_text(t, "]}");
}

/* The header, padded so that the data is aligned; *total counts the bytes of the data. */
static attn_status put_header(const content *c, text *t, size_t *total)
{
    put_text(t, "{\"" ATTN__METADATA "\":{");
    for (int i = 0; i < c->m; i++) {
        put_text(t, i > 0 ? "," : "");
        put_string(t, c->text[i]->key);
        put_text(t, ":");
        put_string(t, c->text[i]->value);
    }
    put_text(t, "}");
    *total = 0;
    for (int i = 0; i < c->n; i++) {
        size_t bytes = 0;
        if (!tensor_size(c->tensor[i], &bytes) || bytes > SIZE_MAX / 2 - *total) {
            return refuse(c, "tensor", c->tensor[i]->name, "does not fit into the address space");
        }
        put_text(t, ",");
        put_tensor(t, c->tensor[i], *total, *total + bytes);
        *total += bytes;
    }
    put_text(t, "}");
    put(t, "       ", (PREFIX - t->size % PREFIX) % PREFIX);
    if (!t->failed && t->size > ATTN__LONGEST_HEADER) {
        return attn__fail(c->error, ATTN_EINVAL, "%s: names and texts make a header of %zu bytes, %zu are legal", c->path, t->size,
                          ATTN__LONGEST_HEADER);
    }
    return t->failed ? out_of_memory(c) : ATTN_OK;
}

static attn_status write_content(const content *c, const text *header, size_t data_size, const attn_allocator *allocator)
{
    size_t size = PREFIX + header->size + data_size;
    unsigned char *bytes = attn__calloc(allocator, size, 1), *at = bytes;
    if (bytes == NULL) {
        return out_of_memory(c);
    }
    for (size_t i = 0; i < PREFIX; i++) {
        *at++ = (unsigned char)((uint64_t)header->size >> 8 * i);
    }
    memcpy(at, header->bytes, header->size);
    at += header->size;
    for (int i = 0; i < c->n; i++) {
        const attn_file_tensor *x = c->tensor[i];
        size_t width = attn_dtype_size(x->dtype), count = (size_t)attn_shape_count(x->shape);
        attn__copy_little_endian(at, x->data, count, width);
        at += count * width;
    }
    attn_status status = attn_file_write(c->path, bytes, size, allocator, c->error);
    attn__free(allocator, bytes);
    return status;
}

static attn_status write_sorted(content *c, const attn_allocator *allocator)
{
    text header = {.allocator = allocator};
    size_t data_size;
    attn_status status = check_and_sort(c);
    if (status == ATTN_OK) {
        status = put_header(c, &header, &data_size);
    }
    if (status == ATTN_OK) {
        status = write_content(c, &header, data_size, allocator);
    }
    attn__free(allocator, header.bytes);
    return status;
}

attn_status attn_safetensors_write(const char *path, const attn_file_tensor tensors[], int n, const attn_file_text texts[], int m,
                                   const attn_allocator *allocator, attn_error *error)
{
    /* Some readers refuse a file that does not say which library's layout it follows; row-major is "pt". */
    static const attn_file_text format = {"format", "pt"};
    if (strcmp(path, "-") == 0 || n < 0 || m < 0) {
        return attn__fail(error, ATTN_EINVAL, "%s: a model needs a file with a name, and counts of at least 0", path);
    }
    content c = {.path = path, .n = n, .m = m, .error = error};
    c.tensor = attn__calloc(allocator, (size_t)n, sizeof *c.tensor);
    c.text = attn__calloc(allocator, (size_t)m + 1, sizeof *c.text);
    attn_status status = c.tensor != NULL && c.text != NULL ? ATTN_OK : out_of_memory(&c);
    bool has_format = false;
    for (int i = 0; i < n && status == ATTN_OK; i++) {
        c.tensor[i] = &tensors[i];
    }
    for (int i = 0; i < m && status == ATTN_OK; i++) {
        c.text[i] = &texts[i];
        has_format = has_format || (texts[i].key != NULL && strcmp(texts[i].key, format.key) == 0);
    }
    if (status == ATTN_OK && !has_format) {
        c.text[c.m++] = &format;
    }
    if (status == ATTN_OK) {
        status = write_sorted(&c, allocator);
    }
    attn__free(allocator, c.tensor);
    attn__free(allocator, c.text);
    return status;
}

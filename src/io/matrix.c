/* From a path to a matrix: which format it is, and what all formats share. */
#include "attn/matrix.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "core/file.h"
#include "io/io.h"

typedef attn_status (*parser)(const attn__input *in, attn_matrices *m);

attn_status(attn__input_fail)(const attn__input *in, attn_status status, const char *format, ...)
{
    char message[ATTN_MESSAGE_SIZE];
    va_list args;
    va_start(args, format);
    (void)vsnprintf(message, sizeof message, format, args);
    va_end(args);
    return attn__fail(in->error, status, "%s: %s", in->name, message);
}

attn_status attn__input_no_memory(const attn__input *in)
{
    return attn__input_fail(in, ATTN_ENOMEM, "out of memory");
}

attn_status attn__matrices_room(const attn__input *in, attn_matrices *m, size_t count)
{
    m->matrix = attn__calloc(in->allocator, count, sizeof *m->matrix);
    if (m->matrix == NULL) {
        return attn__input_no_memory(in);
    }
    m->count = (int64_t)count;
    for (size_t i = 0; i < count; i++) {
        m->matrix[i].allocator = *in->allocator;
    }
    return ATTN_OK;
}

attn_status attn__matrix_room(const attn__input *in, attn_matrix *m, int64_t rows, int64_t columns)
{
    size_t count;
    if (!attn__size_mul((size_t)rows, (size_t)columns, &count)) {
        return attn__input_no_memory(in);
    }
    m->values = attn__calloc(in->allocator, count, sizeof *m->values);
    if (m->values == NULL) {
        return attn__input_no_memory(in);
    }
    m->rows = rows;
    m->columns = columns;
    return ATTN_OK;
}

/* ---- formats ---- */

static bool is_npy(const attn__input *in)
{
    return in->size >= ATTN__NPY_MAGIC_SIZE && memcmp(in->bytes, ATTN__NPY_MAGIC, ATTN__NPY_MAGIC_SIZE) == 0;
}

/* Begins like JSON; a label such as "[CLS]" also does, but a tab follows it. */
static bool is_json(const attn__input *in)
{
    static const char mark[] = "\xEF\xBB\xBF";
    size_t i = in->size >= 3 && memcmp(in->bytes, mark, 3) == 0 ? 3 : 0;
    while (i < in->size && strchr(" \r\n", in->bytes[i]) != NULL && in->bytes[i] != '\0') {
        i++;
    }
    if (i == in->size || (in->bytes[i] != '[' && in->bytes[i] != '{')) {
        return false;
    }
    const char *line_end = memchr(in->bytes + i, '\n', in->size - i);
    return memchr(in->bytes + i, '\t', line_end != NULL ? (size_t)(line_end - in->bytes) - i : in->size - i) == NULL;
}

static parser by_content(const attn__input *in)
{
    return is_npy(in) ? attn__parse_npy : is_json(in) ? attn__parse_json : attn__parse_tsv;
}

/* NULL: the name does not say. */
static parser by_name(const char *path)
{
    static const struct {
        const char *extension;
        parser parse;
    } formats[] = {{".npy", attn__parse_npy}, {".tsv", attn__parse_tsv}, {".json", attn__parse_json}};
    const char *slash = strrchr(path, '/'), *dot = strrchr(slash != NULL ? slash : path, '.');
    for (size_t i = 0; i < sizeof formats / sizeof formats[0] && dot != NULL; i++) {
        if (strcasecmp(dot, formats[i].extension) == 0) {
            return formats[i].parse;
        }
    }
    return NULL;
}

/* ---- public ---- */

static attn_status run(parser parse, const attn__input *in, attn_matrices *m)
{
    attn_status status = in->size == 0 ? attn__input_fail(in, ATTN_EFORMAT, "the file is empty, expected a matrix")
                                       : (parse != NULL ? parse : by_content(in))(in, m);
    if (status != ATTN_OK) {
        attn_matrices_free(m);
    }
    return status;
}

attn_status attn_matrices_parse(const void *bytes, size_t size, const char *name, attn_matrices *m, const attn_allocator *allocator,
                                attn_error *error)
{
    *m = (attn_matrices){.allocator = allocator != NULL ? *allocator : attn__malloc};
    const attn__input in = {bytes, size, name, &m->allocator, error};
    return run(NULL, &in, m);
}

static const char *name_of(const char *path)
{
    return strcmp(path, "-") == 0 ? "standard input" : path;
}

attn_status attn_matrices_read(const char *path, attn_matrices *m, const attn_allocator *allocator, attn_error *error)
{
    char *bytes;
    size_t size;
    *m = (attn_matrices){.allocator = allocator != NULL ? *allocator : attn__malloc};
    attn_status status = attn__read_file(path, allocator, &bytes, &size, error);
    if (status == ATTN_OK) {
        const attn__input in = {bytes, size, name_of(path), &m->allocator, error};
        status = run(by_name(path), &in, m);
        attn__free(allocator, bytes);
    }
    return status;
}

/* The only matrix of several that were read with this status; there must not be more. */
static attn_status only(attn_status status, attn_matrices *all, const char *name, attn_matrix *m, attn_error *error)
{
    *m = (attn_matrix){.allocator = all->allocator};
    if (status == ATTN_OK && all->count != 1) {
        status = attn__fail(error, ATTN_EFORMAT, "%s: %lld matrices, expected one", name, (long long)all->count);
    } else if (status == ATTN_OK) {
        *m = all->matrix[0];
        all->count = 0;
    }
    attn_matrices_free(all);
    return status;
}

attn_status attn_matrix_parse(const void *bytes, size_t size, const char *name, attn_matrix *m, const attn_allocator *allocator,
                              attn_error *error)
{
    attn_matrices all;
    return only(attn_matrices_parse(bytes, size, name, &all, allocator, error), &all, name, m, error);
}

attn_status attn_matrix_read(const char *path, attn_matrix *m, const attn_allocator *allocator, attn_error *error)
{
    attn_matrices all;
    return only(attn_matrices_read(path, &all, allocator, error), &all, name_of(path), m, error);
}

static const attn_allocator *allocator_of(const attn_allocator *a)
{
    return a->free != NULL ? a : NULL;
}

void attn_matrix_free(attn_matrix *m)
{
    if (m != NULL) {
        const attn_allocator *allocator = allocator_of(&m->allocator);
        attn__free(allocator, m->values);
        attn__free(allocator, (void *)m->row_labels);
        attn__free(allocator, (void *)m->column_labels);
        attn__free(allocator, (void *)m->title);
        *m = (attn_matrix){.allocator = m->allocator};
    }
}

void attn_matrices_free(attn_matrices *m)
{
    if (m != NULL) {
        for (int64_t i = 0; i < m->count; i++) {
            attn_matrix_free(&m->matrix[i]);
        }
        attn__free(allocator_of(&m->allocator), m->matrix);
        *m = (attn_matrices){.allocator = m->allocator};
    }
}

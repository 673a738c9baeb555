/* From a path to a matrix: which format it is, and what all formats share. */
#include "attn/matrix.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "core/file.h"
#include "io/io.h"

typedef attn_status (*parser)(const attn__input *in, attn_matrix *m);

attn_status attn__input_fail(const attn__input *in, attn_status status, const char *format, ...)
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

static attn_status run(parser parse, const attn__input *in, attn_matrix *m)
{
    attn_status status = in->size == 0 ? attn__input_fail(in, ATTN_EFORMAT, "the file is empty, expected a matrix")
                                       : (parse != NULL ? parse : by_content(in))(in, m);
    if (status != ATTN_OK) {
        attn_matrix_free(m);
    }
    return status;
}

static attn_matrix empty(const attn_allocator *allocator)
{
    return (attn_matrix){.allocator = allocator != NULL ? *allocator : attn__malloc};
}

attn_status attn_matrix_parse(const void *bytes, size_t size, const char *name, attn_matrix *m, const attn_allocator *allocator,
                              attn_error *error)
{
    *m = empty(allocator);
    const attn__input in = {bytes, size, name, &m->allocator, error};
    return run(NULL, &in, m);
}

attn_status attn_matrix_read(const char *path, attn_matrix *m, const attn_allocator *allocator, attn_error *error)
{
    char *bytes;
    size_t size;
    *m = empty(allocator);
    attn_status status = attn__read_file(path, allocator, &bytes, &size, error);
    if (status == ATTN_OK) {
        const attn__input in = {bytes, size, strcmp(path, "-") == 0 ? "standard input" : path, &m->allocator, error};
        status = run(by_name(path), &in, m);
        attn__free(allocator, bytes);
    }
    return status;
}

void attn_matrix_free(attn_matrix *m)
{
    if (m != NULL) {
        const attn_allocator *allocator = m->allocator.free != NULL ? &m->allocator : NULL;
        attn__free(allocator, m->values);
        attn__free(allocator, (void *)m->row_labels);
        attn__free(allocator, (void *)m->column_labels);
        *m = (attn_matrix){.allocator = m->allocator};
    }
}

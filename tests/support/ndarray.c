#include "support/ndarray.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

ndarray nd_new(int rank, const int64_t dim[])
{
    ndarray a = {.rank = rank, .count = 1, .dtype = "float32"};
    for (int i = 0; i < rank; i++) {
        a.dim[i] = dim[i];
        a.count *= dim[i];
    }
    a.values = calloc((size_t)a.count + 1, sizeof *a.values);
    if (a.values == NULL) {
        abort();
    }
    return a;
}

void nd_free(ndarray *a)
{
    free(a->values);
    *a = (ndarray){.rank = 0};
}

const char *nd_shape(const ndarray *a, char text[ND_SHAPE_TEXT])
{
    int at = snprintf(text, ND_SHAPE_TEXT, "(");
    for (int i = 0; i < a->rank; i++) {
        at += snprintf(text + at, (size_t)(ND_SHAPE_TEXT - at), "%s%lld", i > 0 ? "," : "", (long long)a->dim[i]);
    }
    (void)snprintf(text + at, (size_t)(ND_SHAPE_TEXT - at), ")");
    return text;
}

/* ---- the header: a Python dict of 'descr', 'fortran_order' and 'shape' ---- */

/* Text after 'KEY': and blanks; NULL if there is none. */
static const char *entry(const char *header, const char *key)
{
    char quoted[32];
    (void)snprintf(quoted, sizeof quoted, "'%s':", key);
    const char *at = strstr(header, quoted);
    return at != NULL ? at + strlen(quoted) + strspn(at + strlen(quoted), " ") : NULL;
}

static bool starts_with(const char *text, const char *with)
{
    return text != NULL && strncmp(text, with, strlen(with)) == 0;
}

static const struct form {
    const char *descr, *name;
    size_t size;
} forms[] = {{"'<f4'", "float32", 4}, {"'<f8'", "float64", 8}, {"'<i4'", "int32", 4}, {"'<i8'", "int64", 8}, {"'|b1'", "bool", 1}};

static const struct form *form_of(const char *header)
{
    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) {
        if (starts_with(entry(header, "descr"), forms[i].descr)) {
            return &forms[i];
        }
    }
    return NULL;
}

/* "(2, 3)", "(2,)" or "()"; the product of the dimensions stays below `most`. */
static bool parse_shape(const char *text, int64_t most, ndarray *a)
{
    if (!starts_with(text, "(")) {
        return false;
    }
    a->count = 1;
    for (text += 1 + strspn(text + 1, " ,"); *text != ')'; text += strspn(text, " ,")) {
        char *end;
        errno = 0;
        long long dim = strtoll(text, &end, 10);
        if (end == text || errno != 0 || dim < 0 || a->rank == ND_MAX_DIMS || (dim > 0 && a->count > most / dim)) {
            return false;
        }
        a->dim[a->rank++] = dim;
        a->count *= dim;
        text = end;
    }
    return true;
}

/* ---- the elements ---- */

static double element(const unsigned char *bytes, const struct form *f)
{
    uint64_t bits = 0;
    for (size_t i = 0; i < f->size; i++) {
        bits |= (uint64_t)bytes[i] << (8 * i);
    }
    uint32_t half = (uint32_t)bits;
    if (f->size == 1) {
        return bits != 0;
    }
    if (f->name[0] == 'f') {
        float single;
        double full;
        memcpy(&single, &half, sizeof single);
        memcpy(&full, &bits, sizeof full);
        return f->size == 4 ? (double)single : full;
    }
    return f->size == 4 ? (double)(int32_t)half : (double)(int64_t)bits;
}

/* `bytes` ends with a zero that does not count in `size`. */
static bool parse(unsigned char *bytes, size_t size, ndarray *a, char why[ND_MESSAGE])
{
    bool is_long = size > 6 && bytes[6] > 1;
    size_t begin = is_long ? 12 : 10;
    if (size < begin || memcmp(bytes, "\x93NUMPY", 6) != 0) {
        (void)snprintf(why, ND_MESSAGE, "no .npy file");
        return false;
    }
    size_t length = bytes[8] | (size_t)bytes[9] << 8 | (is_long ? (size_t)bytes[10] << 16 | (size_t)bytes[11] << 24 : 0);
    if (length < 1 || length > size - begin) {
        (void)snprintf(why, ND_MESSAGE, "the header is cut off");
        return false;
    }
    bytes[begin + length - 1] = '\0'; /* the line end */
    const char *header = (const char *)bytes + begin;
    const struct form *f = form_of(header);
    size_t data = size - begin - length;
    if (f == NULL || !starts_with(entry(header, "fortran_order"), "False") ||
        !parse_shape(entry(header, "shape"), f != NULL ? (int64_t)(data / f->size) : 0, a) || (size_t)a->count * f->size != data) {
        (void)snprintf(why, ND_MESSAGE, "expected float32, float64, int32, int64 or bool in C order and all elements, header %.120s",
                       header);
        return false;
    }
    *a = nd_new(a->rank, a->dim);
    a->dtype = f->name;
    for (int64_t i = 0; i < a->count; i++) {
        a->values[i] = element(bytes + begin + length + (size_t)i * f->size, f);
    }
    return true;
}

/* The whole file and a zero behind it, or NULL. */
static unsigned char *slurp(FILE *file, size_t *size)
{
    unsigned char *bytes = NULL;
    for (size_t room = 4096, got = 1; got > 0; room *= 2) {
        unsigned char *grown = realloc(bytes, room + 1);
        if (grown == NULL) {
            free(bytes);
            return NULL;
        }
        bytes = grown;
        got = fread(bytes + *size, 1, room - *size, file);
        *size += got;
    }
    bytes[*size] = 0;
    return bytes;
}

bool nd_read(const char *path, ndarray *a, char why[ND_MESSAGE])
{
    *a = (ndarray){.rank = 0};
    FILE *file = fopen(path, "rb");
    size_t size = 0;
    unsigned char *bytes = file != NULL ? slurp(file, &size) : NULL;
    bool read = bytes != NULL && ferror(file) == 0;
    if (!read) {
        (void)snprintf(why, ND_MESSAGE, "%s", strerror(errno));
    }
    bool ok = read && parse(bytes, size, a, why);
    if (!ok) {
        *a = (ndarray){.rank = 0};
    }
    if (file != NULL) {
        (void)fclose(file);
    }
    free(bytes);
    return ok;
}

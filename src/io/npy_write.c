/* Writing .npy. */
#include <stdio.h>
#include <string.h>

#include "core/file.h"
#include "io/io.h"

enum { PREFIX = 10, HEADER_ROOM = 192, ALIGN = 64 };

/* Magic, version 1.0, length, dictionary with its keys in order, spaces up to a multiple of 64 with the line end; returns the size. */
static size_t write_header(unsigned char header[HEADER_ROOM], const int64_t *shape, int rank)
{
    char dictionary[HEADER_ROOM - ALIGN];
    size_t used = (size_t)snprintf(dictionary, sizeof dictionary, "{'descr': '<f8', 'fortran_order': False, 'shape': (");
    for (int i = 0; i < rank; i++) {
        used += (size_t)snprintf(dictionary + used, sizeof dictionary - used, i > 0 ? ", %lld" : "%lld", (long long)shape[i]);
    }
    used += (size_t)snprintf(dictionary + used, sizeof dictionary - used, "), }");
    size_t size = (PREFIX + used + 1 + ALIGN - 1) / ALIGN * ALIGN;
    memset(header, ' ', size);
    memcpy(header, ATTN__NPY_MAGIC "\x01", ATTN__NPY_MAGIC_SIZE + 1);
    header[7] = 0;
    header[8] = (unsigned char)(size - PREFIX);
    header[9] = 0;
    memcpy(header + PREFIX, dictionary, used);
    header[size - 1] = '\n';
    return size;
}

attn_status attn__write_npy(const char *path, const int64_t *shape, int rank, const double *values, const attn_allocator *allocator,
                            attn_error *error)
{
    unsigned char header[HEADER_ROOM];
    size_t count = 1, bytes = 0, begin = write_header(header, shape, rank);
    bool fits = true;
    for (int i = 0; i < rank; i++) {
        fits = fits && attn__size_mul(count, (size_t)shape[i], &count);
    }
    fits = fits && attn__size_mul(count, 8, &bytes) && bytes <= SIZE_MAX - begin;
    unsigned char *file = fits ? attn__calloc(allocator, begin + bytes, 1) : NULL;
    if (file == NULL) {
        return attn__fail(error, ATTN_ENOMEM, "%s: out of memory", path);
    }
    memcpy(file, header, begin);
    for (size_t i = 0; i < count; i++) {
        uint64_t bits;
        memcpy(&bits, &values[i], sizeof bits);
        for (size_t k = 0; k < sizeof bits; k++) {
            file[begin + 8 * i + k] = (unsigned char)(bits >> (8 * k));
        }
    }
    attn_status status = attn_file_write(path, file, begin + bytes, allocator, error);
    attn__free(allocator, file);
    return status;
}

attn_status attn_matrix_write_npy(const char *path, const attn_matrix *m, const attn_allocator *allocator, attn_error *error)
{
    if (m->rows < 1 || m->columns < 1 || m->values == NULL) {
        return attn__fail(error, ATTN_EINVAL, "%s: an empty matrix (%lld x %lld) is not written", path, (long long)m->rows,
                          (long long)m->columns);
    }
    const int64_t shape[2] = {m->rows, m->columns};
    return attn__write_npy(path, shape, 2, m->values, allocator, error);
}

/* NumPy's .npy: magic, version, length of the header, header, elements. Every number that a file states is checked before it is used. */
#include <math.h>
#include <string.h>

#include "io/io.h"

#define VERSION_AT ATTN__NPY_MAGIC_SIZE
#define LENGTH_AT  (VERSION_AT + 2)

/* Cuts the bytes into header and elements. */
static attn_status split(const attn__input *in, const char **header, size_t *header_size)
{
    const unsigned char *bytes = (const unsigned char *)in->bytes;
    if (in->size < VERSION_AT || memcmp(bytes, ATTN__NPY_MAGIC, ATTN__NPY_MAGIC_SIZE) != 0) {
        bool zip = in->size >= 4 && memcmp(bytes, "PK\x03\x04", 4) == 0;
        return attn__input_fail(in, ATTN_EFORMAT, "no .npy file: it does not begin with the bytes 93 'NUMPY'%s",
                                zip ? "; .npz archives are not read, save one array with numpy.save" : "");
    }
    if (in->size < LENGTH_AT) {
        return attn__input_fail(in, ATTN_EFORMAT, "truncated: a .npy file of %zu bytes", in->size);
    }
    int major = bytes[VERSION_AT], minor = bytes[VERSION_AT + 1];
    if (major < 1 || major > 3 || minor != 0) {
        return attn__input_fail(in, ATTN_EFORMAT, ".npy version %d.%d cannot be read, only 1.0, 2.0 and 3.0", major, minor);
    }
    size_t width = major == 1 ? 2 : 4, length = 0;
    if (in->size < LENGTH_AT + width) {
        return attn__input_fail(in, ATTN_EFORMAT, "truncated: a .npy file of %zu bytes", in->size);
    }
    for (size_t i = width; i-- > 0;) {
        length = length << 8 | bytes[LENGTH_AT + i];
    }
    size_t left = in->size - LENGTH_AT - width;
    if (length > left) {
        return attn__input_fail(in, ATTN_EFORMAT, "truncated: a .npy header of %zu bytes is announced, %zu bytes follow", length, left);
    }
    *header = in->bytes + LENGTH_AT + width;
    *header_size = length;
    return ATTN_OK;
}

/* ---- elements ---- */

static uint64_t load(const unsigned char *at, int size, bool big_endian)
{
    uint64_t bits = 0;
    for (int i = 0; i < size; i++) {
        bits = bits << 8 | at[big_endian ? i : size - 1 - i];
    }
    return bits;
}

/* IEEE 754 binary16: a sign, 5 bits of exponent, 10 of fraction. */
static double half(uint64_t bits)
{
    int exponent = (int)(bits >> 10 & 31);
    double fraction = (double)(bits & 1023), sign = (bits >> 15) != 0 ? -1 : 1;
    if (exponent == 31) {
        return fraction != 0 ? NAN : sign * INFINITY;
    }
    return sign * (exponent == 0 ? ldexp(fraction, -24) : ldexp(1024 + fraction, exponent - 25));
}

static double to_float(uint64_t bits, int size)
{
    float single;
    double whole;
    uint32_t low = (uint32_t)bits;
    if (size == 2) {
        return half(bits);
    }
    memcpy(&single, &low, sizeof single);
    memcpy(&whole, &bits, sizeof whole);
    return size == 4 ? (double)single : whole;
}

/* Two's complement: the highest bit weighs -2^(n-1). */
static double to_signed(uint64_t bits, int size)
{
    uint64_t top = (uint64_t)1 << (8 * size - 1);
    return (bits & top) == 0 ? (double)bits : -(double)(top - (bits & (top - 1)));
}

static double element(const attn__npy *h, const unsigned char *at)
{
    uint64_t bits = load(at, h->size, h->big_endian);
    switch (h->kind) {
    case 'f':
        return to_float(bits, h->size);
    case 'i':
        return to_signed(bits, h->size);
    case 'u':
        return (double)bits;
    default:
        return bits != 0;
    }
}

/* The elements must fill what follows the header. */
static attn_status check_size(const attn__input *in, const attn__npy *h, size_t left)
{
    size_t each, count, bytes;
    if (!attn__size_mul((size_t)h->rows, (size_t)h->columns, &each) || !attn__size_mul(each, (size_t)h->matrices, &count) ||
        !attn__size_mul(count, (size_t)h->size, &bytes)) {
        return attn__input_fail(in, ATTN_EFORMAT, "truncated: shape %s of '%s' is larger than any file, %zu bytes follow the header",
                                h->shape.text, h->dtype, left);
    }
    if (bytes != left) {
        return attn__input_fail(in, ATTN_EFORMAT, "%sshape %s of '%s' takes %zu bytes, %zu follow the header%s",
                                bytes > left ? "truncated: " : "", h->shape.text, h->dtype, bytes, left,
                                bytes < left ? "; only one array a file is read" : "");
    }
    return ATTN_OK;
}

/* Matrix number p of h->matrices. In Fortran order the first index changes fastest. */
static attn_status fill(const attn__input *in, const attn__npy *h, const unsigned char *data, int64_t p, attn_matrix *m)
{
    attn_status status = attn__matrix_room(in, m, h->rows, h->columns);
    for (int64_t r = 0; r < h->rows && status == ATTN_OK; r++) {
        for (int64_t c = 0; c < h->columns; c++) {
            int64_t i = h->fortran ? p + h->matrices * (r + h->rows * c) : (p * h->rows + r) * h->columns + c;
            m->values[r * h->columns + c] = element(h, data + (size_t)i * (size_t)h->size);
        }
    }
    return status;
}

attn_status attn__parse_npy(const attn__input *in, attn_matrices *m)
{
    const char *header = NULL;
    size_t size = 0;
    attn__npy h;
    attn_status status = split(in, &header, &size);
    if (status == ATTN_OK) {
        status = attn__npy_header(in, header, size, &h);
    }
    if (status == ATTN_OK) {
        status = check_size(in, &h, in->size - (size_t)(header + size - in->bytes));
    }
    if (status == ATTN_OK) {
        status = attn__matrices_room(in, m, (size_t)h.matrices);
    }
    for (int64_t p = 0; p < m->count && status == ATTN_OK; p++) {
        status = fill(in, &h, (const unsigned char *)header + size, p, &m->matrix[p]);
    }
    return status;
}

/* Word vectors from a file of any size: what form it has, and which of its words are wanted. */
#include <math.h>
#include <string.h>

#include "attn/corpus.h"
#include "word_sense/vectors.h"

#define MOST_DIM 4096

void attn__vectors_count(const attn__vectors *v, attn_vectors_rows *rows)
{
    rows->first = rows->count == 0 ? v->place : rows->first;
    rows->count++;
}

attn_status attn__vectors_fill(attn__vectors *v, attn_error *error)
{
    attn_status status = attn__stream_fill(&v->stream, error);
    if (status == ATTN_OK && v->source->vectors_progress != NULL) {
        v->source->vectors_progress(v->source->vectors_progress_ctx, v->stream.done, v->stream.total);
    }
    return status;
}

static bool is_finite(const attn__vectors *v)
{
    bool finite = true;
    for (int d = 0; d < v->dim; d++) {
        finite = finite && isfinite(v->row[d]);
    }
    return finite;
}

/* A word that the training text does not have: new sentences may have it. Files begin with the most frequent words. */
static void add_word(attn__vectors *v, const char *word)
{
    if (v->report.added >= v->source->vectors_words) {
        return;
    }
    int32_t row = attn__vocabulary_add(v->m, word);
    void *more = v->more;
    size_t want = row > 0 ? ((size_t)(row - v->rows) + 1) * (size_t)v->dim : 0;
    v->full = v->full || row < 0 || !attn__grow(&v->m->allocator, &more, &v->more_capacity, want, sizeof *v->more);
    v->more = more;
    if (row > 0 && !v->full) {
        memcpy(v->more + (row - v->rows) * v->dim, v->row, (size_t)v->dim * sizeof *v->row);
        v->report.added++;
    }
}

void attn__vectors_take(attn__vectors *v, char *word, size_t size)
{
    attn_vectors_report *r = &v->report;
    word[size] = '\0';
    r->words++;
    if (strspn(word, " \t") == size) {
        attn__vectors_count(v, &r->odd);
    } else if (strlen(word) < size || attn_utf8_fault(word, size) >= 0) {
        attn__vectors_count(v, &r->broken);
    } else if (!is_finite(v)) {
        attn__vectors_count(v, &r->not_finite);
    } else {
        int32_t row = attn__token_row(v->m, word);
        if (row >= v->rows || (row > 0 && v->have[row])) {
            attn__vectors_count(v, &r->repeated);
        } else if (row == 0) {
            add_word(v, word);
        } else {
            memcpy(v->table + (int64_t)row * v->dim, v->row, (size_t)v->dim * sizeof *v->row);
            v->have[row] = true;
            r->used++;
        }
    }
}

/* ---- what form the file has ---- */

/* Finds out format and width from the start of the file, and uses up the header. */
static attn_status open_format(attn__vectors *v, attn_vectors_format format, int64_t *width, attn_error *error)
{
    static const char *const names[] = {"auto", "word2vec", "glove", "binary"};
    attn__stream *s = &v->stream;
    attn_status status = attn__vectors_fill(v, error);
    if (status != ATTN_OK) {
        return status;
    }
    s->at = s->end >= 3 && memcmp(s->buffer, "\xEF\xBB\xBF", 3) == 0 ? 3 : 0; /* byte-order mark */
    const char *text = s->buffer + s->at, *newline = memchr(text, '\n', s->end - s->at);
    size_t size = s->end - s->at, first = newline != NULL ? (size_t)(newline - text) : size, rest = newline != NULL ? first + 1 : size;
    int64_t words, dim;
    bool header = attn__vectors_header(text, first > 0 && text[first - 1] == '\r' ? first - 1 : first, &words, &dim);
    if (format == ATTN_VECTORS_FORMAT_AUTO) {
        format = !header                                                             ? ATTN_VECTORS_FORMAT_GLOVE
                 : attn__vectors_look_binary(text + rest, size - rest, s->over, dim) ? ATTN_VECTORS_FORMAT_BINARY
                                                                                     : ATTN_VECTORS_FORMAT_WORD2VEC;
    }
    v->report.format = names[format];
    v->report.promised = -1;
    if (format == ATTN_VECTORS_FORMAT_GLOVE) {
        *width = attn__vectors_width(text, size, s->over);
        return *width > 0 ? ATTN_OK
                          : attn__fail(error, ATTN_EFORMAT, "%s: most of its first lines are no word with numbers after it", s->path);
    }
    if (!header) {
        return attn__fail(error, ATTN_EFORMAT,
                          "%s:1: no number of words and number of components, which a file of the format %s begins with", s->path,
                          names[format]);
    }
    s->at += rest;
    v->place = 1;
    v->report.promised = words;
    *width = dim;
    return ATTN_OK;
}

static attn_status set_dim(attn__vectors *v, int64_t width, attn_error *error)
{
    if (width < 1 || width > MOST_DIM) {
        return attn__fail(error, ATTN_EFORMAT, "%s: vectors of %lld components, expected 1 to %d", v->stream.path, (long long)width,
                          MOST_DIM);
    }
    if (v->source->dim != 0 && v->source->dim != width) {
        return attn__fail(error, ATTN_EINVAL, "%s: vectors of %lld components, but dim is %d", v->stream.path, (long long)width,
                          v->source->dim);
    }
    v->dim = v->report.dim = (int)width;
    return ATTN_OK;
}

/* ---- the whole file ---- */

static attn_status no_memory(const attn__vectors *v, attn_error *error)
{
    return attn__fail(error, ATTN_ENOMEM, "%s: out of memory for the vectors", v->source->vectors_file);
}

static attn_status read_rows(attn__vectors *v, attn_error *error)
{
    int64_t rows = v->rows = (int64_t)v->m->vocabulary.count + 1;
    v->report.wanted = rows - 1;
    v->row = attn__arena_array(&v->arena, v->dim, sizeof *v->row);
    v->table = attn__arena_array(&v->arena, rows * v->dim, sizeof *v->table);
    v->have = attn__arena_array(&v->arena, rows, sizeof *v->have);
    if (v->row == NULL || v->table == NULL || v->have == NULL) {
        return no_memory(v, error);
    }
    memset(v->have, 0, (size_t)rows * sizeof *v->have);
    bool binary = v->report.format[0] == 'b';
    attn_status status = binary ? attn__vectors_binary(v, error) : attn__vectors_text(v, error);
    if (status == ATTN_OK && v->full) {
        status = no_memory(v, error);
    }
    if (status == ATTN_OK && v->report.words == 0) {
        status = attn__fail(error, ATTN_EFORMAT, "%s: no word with %d numbers after it", v->stream.path, v->dim);
    }
    return status;
}

attn_status attn__vectors_read(attn__vectors *v, attn_word_sense *m, const attn_word_sense_config *source, attn_error *error)
{
    *v = (attn__vectors){.m = m, .source = source};
    attn__arena_init(&v->arena, &m->allocator);
    if (source->vectors_file == NULL) {
        return attn__fail(error, ATTN_EINVAL, "vectors are to come from a file, and vectors_file is NULL");
    }
    char *buffer = attn__arena_alloc(&v->arena, ATTN__VECTORS_ROOM);
    if (buffer == NULL) {
        return no_memory(v, error);
    }
    attn_status status = attn__stream_open(&v->stream, source->vectors_file, buffer, ATTN__VECTORS_ROOM, error);
    int64_t width = 0;
    status = status == ATTN_OK ? open_format(v, source->vectors_format, &width, error) : status;
    status = status == ATTN_OK ? set_dim(v, width, error) : status;
    status = status == ATTN_OK ? read_rows(v, error) : status;
    attn__stream_close(&v->stream);
    if (status == ATTN_OK) {
        m->config.dim = v->dim;
        m->vectors_report = v->report;
    }
    return status;
}

void attn__vectors_copy(const attn__vectors *v, float *table)
{
    size_t dim = (size_t)v->dim;
    for (int64_t row = 1; row <= (int64_t)v->m->vocabulary.count; row++) {
        bool more = row >= v->rows;
        if (more || v->have[row]) {
            memcpy(table + (size_t)row * dim, more ? v->more + (size_t)(row - v->rows) * dim : v->table + (size_t)row * dim,
                   dim * sizeof *table);
        }
    }
}

void attn__vectors_free(attn__vectors *v)
{
    if (v->m != NULL) {
        attn__free(&v->m->allocator, v->more);
    }
    attn__arena_free(&v->arena);
}

/* Word vectors in word2vec's binary form: word, space, numbers as little-endian float32, and after each vector a line end or none. Nothing
 * but the number of words in the first line and these spaces and line ends tells a whole file from a damaged one. */
#include <string.h>

#include "word_sense/vectors.h"

static attn_status damaged(const attn__vectors *v, attn_error *error, const char *what)
{
    return attn__fail(error, ATTN_EFORMAT, "%s: word %lld of %lld (binary form): %s", v->stream.path, (long long)v->place,
                      (long long)v->report.promised, what);
}

static size_t ready(const attn__vectors *v)
{
    return v->stream.end - v->stream.at;
}

/* Has `size` bytes ready, or all that are left. */
static attn_status want(attn__vectors *v, size_t size, attn_error *error)
{
    return ready(v) >= size || v->stream.over ? ATTN_OK : attn__vectors_fill(v, error);
}

static float read_float(const char *bytes)
{
    uint32_t bits = 0;
    float x;
    for (int i = 3; i >= 0; i--) {
        bits = bits << 8 | (unsigned char)bytes[i];
    }
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* Finds the space after the word. */
static attn_status find_word(attn__vectors *v, size_t *size, attn_error *error)
{
    attn__stream *s = &v->stream;
    const char *space = memchr(s->buffer + s->at, ' ', ready(v));
    if (space == NULL && !s->over) {
        attn_status status = attn__vectors_fill(v, error);
        if (status != ATTN_OK) {
            return status;
        }
        space = memchr(s->buffer, ' ', s->end);
    }
    if (space == NULL) {
        return damaged(v, error, s->over ? "the file ends within the word" : "no space ends the word");
    }
    *size = (size_t)(space - (s->buffer + s->at));
    return ATTN_OK;
}

/* The line end after a vector; the first one decides whether there are any. */
static attn_status read_line_end(attn__vectors *v, bool *line_ends, attn_error *error)
{
    attn__stream *s = &v->stream;
    attn_status status = want(v, 1, error);
    if (status != ATTN_OK) {
        return status;
    }
    bool here = ready(v) > 0 && s->buffer[s->at] == '\n';
    *line_ends = v->place == 1 ? here : *line_ends;
    if (*line_ends && !here) {
        return damaged(v, error, ready(v) > 0 ? "no line end after its vector" : "the file ends before the line end after its vector");
    }
    s->at += *line_ends;
    return ATTN_OK;
}

static attn_status read_record(attn__vectors *v, bool *line_ends, attn_error *error)
{
    size_t word = 0, vector = (size_t)v->dim * sizeof(float);
    attn__stream *s = &v->stream;
    attn_status status = find_word(v, &word, error);
    if (status == ATTN_OK) {
        status = want(v, word + 1 + vector, error);
    }
    if (status != ATTN_OK) {
        return status;
    }
    if (ready(v) < word + 1 + vector) {
        return damaged(v, error, s->over ? "the file ends within its vector" : "the word is too long");
    }
    char *text = s->buffer + s->at;
    for (int d = 0; d < v->dim; d++) {
        v->row[d] = read_float(text + word + 1 + (size_t)d * sizeof(float));
    }
    s->at += word + 1 + vector;
    attn__vectors_take(v, text, word);
    return read_line_end(v, line_ends, error);
}

attn_status attn__vectors_binary(attn__vectors *v, attn_error *error)
{
    attn_status status = ATTN_OK;
    bool line_ends = false;
    for (int64_t i = 0; i < v->report.promised && status == ATTN_OK; i++) {
        v->place = i + 1;
        status = read_record(v, &line_ends, error);
    }
    if (status == ATTN_OK) {
        status = want(v, 1, error);
    }
    return status == ATTN_OK && ready(v) > 0 ? damaged(v, error, "the file goes on after it") : status;
}

/* The collection of labelled sentences. */
#include "word_sense/corpus.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

attn_corpus *attn_corpus_new(const attn_allocator *allocator)
{
    attn_corpus *c = attn__calloc(allocator, 1, sizeof *c);
    if (c != NULL) {
        c->allocator = allocator != NULL ? *allocator : attn__malloc;
        c->first_blank = "";
        attn__arena_init(&c->arena, &c->allocator);
    }
    return c;
}

void attn_corpus_free(attn_corpus *c)
{
    if (c != NULL) {
        attn_allocator allocator = c->allocator;
        attn__arena_free(&c->arena);
        attn__free(&allocator, c->examples);
        attn__free(&allocator, c);
    }
}

attn_status attn__corpus_push(attn_corpus *c, const attn_example *e, attn_error *error)
{
    void *array = c->examples;
    bool grown = attn__grow(&c->allocator, &array, &c->capacity, c->count + 1, sizeof *c->examples);
    c->examples = array;
    if (!grown) {
        return attn__fail(error, ATTN_ENOMEM, "%s: out of memory after %zu examples", e->file, c->count);
    }
    c->examples[c->count++] = *e;
    return ATTN_OK;
}

attn_status attn__corpus_blank(attn_corpus *c, const attn__lines *lines, attn_error *error)
{
    if (c->blank_lines == 0) {
        size_t size = strlen(lines->file) + 24;
        char *place = attn__arena_alloc(&c->arena, size);
        if (place == NULL) {
            return attn__fail(error, ATTN_ENOMEM, "%s: out of memory", lines->file);
        }
        (void)snprintf(place, size, "%s:%lld", lines->file, (long long)lines->number);
        c->first_blank = place;
    }
    c->blank_lines++;
    return ATTN_OK;
}

attn_status attn_corpus_read(attn_corpus *c, const char *path, const char *split, attn_error *error)
{
    attn_corpus before = *c;
    attn__mark mark = attn__arena_mark(&c->arena);
    struct stat info;
    bool folder = strcmp(path, "-") != 0 && stat(path, &info) == 0 && S_ISDIR(info.st_mode);
    attn_status status = folder ? attn__read_folder(c, path, split, error) : attn__read_tsv(c, path, error);
    if (status == ATTN_OK && c->count == before.count) {
        status = attn__fail(error, ATTN_EFORMAT, "%s: 0 labelled examples, expected at least one", attn__file_name(path));
    }
    if (status != ATTN_OK) {
        c->count = before.count;
        c->blank_lines = before.blank_lines;
        c->first_blank = before.first_blank;
        attn__arena_rewind(&c->arena, mark);
    }
    return status;
}

/* `size` bytes of text after `length` pointers in one block. */
static char *new_block(attn_corpus *c, int64_t length, size_t size, const char ***tokens)
{
    size_t pointers;
    if (!attn__size_mul((size_t)length, sizeof **tokens, &pointers) || size > SIZE_MAX - pointers) {
        return NULL;
    }
    char *block = attn__arena_alloc(&c->arena, pointers + size);
    *tokens = (const char **)(void *)block;
    return block != NULL ? block + pointers : NULL;
}

static attn_status check_example(const char *const *tokens, int length, int target, const char *sense, attn_error *error)
{
    if (target < 0 || target >= length) {
        return attn__fail(error, ATTN_EINVAL, "index %d is outside of the sentence of %d tokens", target, length);
    }
    const char *fault = attn__label_fault(sense);
    if (fault != NULL) {
        return attn__fail(error, ATTN_EINVAL, "the sense '%s' %s", ATTN__QUOTE(sense), fault);
    }
    if (attn_utf8_fault(sense, strlen(sense)) >= 0) {
        return attn__fail(error, ATTN_EFORMAT, "broken UTF-8 in the sense, expected UTF-8");
    }
    for (int i = 0; i < length; i++) {
        int64_t at = attn_utf8_fault(tokens[i], strlen(tokens[i]));
        if (at >= 0) {
            return attn__fail(error, ATTN_EFORMAT, "broken UTF-8 in token %d at its byte %lld, expected UTF-8", i, (long long)at);
        }
        if (tokens[i][0] == '\0') {
            return attn__fail(error, ATTN_EINVAL, "token %d is empty", i);
        }
    }
    return ATTN_OK;
}

attn_status attn_corpus_add(attn_corpus *c, const char *const *tokens, int length, int target, const char *sense, attn_error *error)
{
    attn_status status = check_example(tokens, length, target, sense, error);
    if (status != ATTN_OK) {
        return status;
    }
    attn__mark mark = attn__arena_mark(&c->arena);
    size_t size = strlen(sense) + 1;
    for (int i = 0; i < length; i++) {
        size += strlen(tokens[i]) + 1;
    }
    const char **copies;
    char *text = new_block(c, length, size, &copies);
    if (text == NULL) {
        return attn__fail(error, ATTN_ENOMEM, "out of memory for a sentence of %d tokens", length);
    }
    attn_example e = {.tokens = copies, .length = length, .target = target, .file = "memory", .line = (int64_t)c->count + 1};
    e.sense = strcpy(text, sense);
    text += strlen(sense) + 1;
    for (int i = 0; i < length; i++) {
        copies[i] = strcpy(text, tokens[i]);
        text += strlen(text) + 1;
    }
    e.word = copies[target];
    status = attn__corpus_push(c, &e, error);
    if (status != ATTN_OK) {
        attn__arena_rewind(&c->arena, mark);
    }
    return status;
}

attn_status attn__corpus_copy(attn_corpus *c, const attn_example *e, attn_error *error)
{
    const char *file = c->count > 0 ? c->examples[c->count - 1].file : ""; /* most examples come from the same file as the one before */
    if (strcmp(file, e->file) != 0) {
        file = attn__arena_copy(&c->arena, e->file, strlen(e->file) + 1);
    }
    attn_status status = file != NULL ? attn_corpus_add(c, e->tokens, e->length, e->target, e->sense, error)
                                      : attn__fail(error, ATTN_ENOMEM, "%s: out of memory", e->file);
    if (status == ATTN_OK) {
        c->examples[c->count - 1].file = file;
        c->examples[c->count - 1].line = e->line;
    }
    return status;
}

void attn_corpus_clear(attn_corpus *c)
{
    attn__arena_rewind(&c->arena, (attn__mark){NULL, 0, 0});
    c->count = 0;
    c->blank_lines = 0;
    c->first_blank = "";
}

int64_t attn_corpus_count(const attn_corpus *c)
{
    return (int64_t)c->count;
}

attn_example attn_corpus_get(const attn_corpus *c, int64_t i)
{
    return i >= 0 && (size_t)i < c->count ? c->examples[i] : (attn_example){0};
}

int64_t attn_corpus_blank_lines(const attn_corpus *c)
{
    return c->blank_lines;
}

const char *attn_corpus_first_blank(const attn_corpus *c)
{
    return c->first_blank;
}

size_t attn__typed_space(const char *at)
{
    return *at == ' ' || *at == '\t' || *at == '\n' || *at == '\r';
}

attn_status attn__sentence_check(const char *text, attn_error *error)
{
    int64_t fault = attn_utf8_fault(text, strlen(text));
    return fault < 0 ? ATTN_OK
                     : attn__fail(error, ATTN_EFORMAT, "broken UTF-8 at byte %lld of the sentence (0x%02X), expected UTF-8",
                                  (long long)fault, (unsigned char)text[fault]);
}

attn_status attn_corpus_tokenize(attn_corpus *c, const char *text, attn_example *out, attn_error *error)
{
    size_t size = strlen(text);
    attn_status status = attn__sentence_check(text, error);
    if (status != ATTN_OK) {
        return status;
    }
    attn__mark mark = attn__arena_mark(&c->arena);
    attn_example e = {.target = -1, .word = "", .sense = "", .file = "", .line = 0};
    char *copy = attn__arena_copy(&c->arena, text, size + 1);
    status = copy != NULL ? attn__cut(c, copy, attn__typed_space, &e) : ATTN_ENOMEM;
    if (status != ATTN_OK) {
        status = attn__fail(error, status, "%s: a sentence of %zu bytes", attn_status_sentence(status), size);
    } else if (e.length == 0) {
        status = attn__fail(error, ATTN_EFORMAT, "a sentence without a word, expected words with spaces between them");
    }
    if (status != ATTN_OK) {
        attn__arena_rewind(&c->arena, mark);
        return status;
    }
    *out = e;
    return ATTN_OK;
}

/* The vocabulary of a model file: tens of thousands of words, as an array of JSON. */
#include <string.h>

#include "core/json_scan.h"
#include "word_sense/model_file.h"

/* `n`: the number that the word got, which is to be `number`. */
static attn_status check_word(int64_t n, size_t number, attn_error *error)
{
    if (n < 0) {
        return attn__fail(error, ATTN_ENOMEM, "out of memory for the vocabulary");
    }
    return n == (int64_t)number ? ATTN_OK : attn__fail(error, ATTN_EFORMAT, "vocabulary: entry %zu is no word, or stands twice", number);
}

/* What follows the string of JSON at `at`, whose text is written over its own escapes, with a zero behind; NULL if there is none, or with
 * other escapes than of '"' and '\\'. */
static char *plain_string(char *at, const char *end, size_t *size)
{
    char *begin = at + 1, *from = begin, *to = begin;
    while (at < end && *at == '"') {
        size_t plain = attn__scan_plain(from, end, false);
        if (to != from) {
            memmove(to, from, plain);
        }
        from += plain;
        to += plain;
        if (*from == '"') {
            *size = (size_t)(to - begin);
            *to = '\0';
            return from + 1;
        }
        if (*from != '\\' || (from[1] != '"' && from[1] != '\\')) {
            break;
        }
        *to++ = from[1];
        from += 2;
    }
    return NULL;
}

/* At least as many as there are words: commas, and one. */
static size_t count_words(const char *text, const char *end)
{
    size_t n = 1;
    for (; text < end; text++) {
        n += *text == ',';
    }
    return n;
}

/* Words as they nearly always are; as JSON values they would take half the time of loading a model. The text lies in the model's arena, and
 * is used there. *plain: there was nothing else. */
static attn_status load_plain_words(attn_word_sense *m, char *text, const char *end, bool *plain, attn_error *error)
{
    attn_status status = ATTN_OK;
    char *at = text;
    *plain = false;
    if (!attn__names_reserve(&m->vocabulary, count_words(text, end))) {
        return attn__fail(error, ATTN_ENOMEM, "out of memory for the vocabulary");
    }
    while (status == ATTN_OK && *at == (at == text ? '[' : ',')) {
        char *word = at + 2;
        size_t size, number = m->vocabulary.count;
        at = plain_string(at + 1, end, &size);
        if (at == NULL) {
            return ATTN_OK;
        }
        status = check_word(attn__names_add_kept(&m->vocabulary, word, size), number, error);
    }
    *plain = at > text && strcmp(at, "]") == 0;
    return status;
}

static attn_status load_any_words(attn_word_sense *m, const attn_safetensors *f, attn_error *error)
{
    const attn__json *array;
    attn_status status = attn__model_parse(m, f, "attn.vocabulary", &array, error);
    if (status == ATTN_OK && !attn__json_is(array, ATTN__JSON_ARRAY)) {
        status = attn__fail(error, ATTN_EFORMAT, "no vocabulary");
    }
    size_t i = 0;
    for (const attn__json *v = status == ATTN_OK ? array->first : NULL; v != NULL && status == ATTN_OK; v = v->next, i++) {
        const char *word = attn__json_text(v);
        status = word != NULL ? check_word(attn__names_add(&m->vocabulary, word, strlen(word)), i, error)
                              : attn__fail(error, ATTN_EFORMAT, "vocabulary: entry %zu is no word, or stands twice", i);
    }
    return status;
}

attn_status attn__model_load_words(attn_word_sense *m, const attn_safetensors *f, attn_error *error)
{
    const char *text = attn_safetensors_text(f, "attn.vocabulary");
    size_t size = text != NULL ? strlen(text) : 0;
    char *copy = text != NULL ? attn__arena_copy(&m->arena, text, size + 1) : NULL;
    bool plain = false;
    attn_status status = copy != NULL || text == NULL ? ATTN_OK : attn__fail(error, ATTN_ENOMEM, "out of memory for the vocabulary");
    if (copy != NULL) {
        status = load_plain_words(m, copy, copy + size, &plain, error);
    }
    if (status == ATTN_OK && !plain) {
        attn__mark mark = attn__arena_mark(&m->scratch);
        status = load_any_words(m, f, error); /* those that are there already come first, and keep their numbers */
        attn__arena_rewind(&m->scratch, mark);
    }
    return status == ATTN_OK && m->vocabulary.count > ATTN__MOST_WORDS ? attn__fail(error, ATTN_EFORMAT, "too many words") : status;
}

/* The layout of CoarseWSD-20: SPLIT.data.txt and SPLIT.gold.txt, line by line, and classes_map.txt. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/file.h"
#include "core/json.h"
#include "word_sense/corpus.h"

typedef struct sense_class {
    int64_t number;
    const char *sense;
} sense_class;

typedef struct folder {
    attn__lines data, gold;
    const char *map; /* path of classes_map.txt */
    sense_class *classes;
    size_t n_classes;
} folder;

static char *join(attn_corpus *c, const char *path, const char *name, const char *suffix)
{
    size_t length = strlen(path), size = length + strlen(name) + strlen(suffix) + 2;
    char *joined = attn__arena_alloc(&c->arena, size);
    if (joined != NULL) {
        (void)snprintf(joined, size, "%s%s%s%s", path, length > 0 && path[length - 1] == '/' ? "" : "/", name, suffix);
    }
    return joined;
}

/* ---- classes_map.txt ---- */

#define EXPECTED_MAP "expected one JSON object {\"0\": \"sense\", ...}"

static int by_number(const void *a, const void *b)
{
    int64_t x = ((const sense_class *)a)->number, y = ((const sense_class *)b)->number;
    return (x > y) - (x < y);
}

static attn_status add_class(attn_corpus *c, folder *f, const char *key, const attn__json *value, attn_error *error)
{
    int64_t number;
    if (!attn__decimal(key, &number)) {
        return attn__fail(error, ATTN_EFORMAT, "%s: the key '%s' is no class number, " EXPECTED_MAP, f->map, ATTN__QUOTE(key));
    }
    const char *sense = attn__json_text(value);
    const char *fault = sense == NULL ? "is no string" : attn__label_fault(sense);
    if (fault != NULL) {
        return attn__fail(error, ATTN_EFORMAT, "%s: the sense of class %s %s, " EXPECTED_MAP, f->map, ATTN__QUOTE(key), fault);
    }
    const char *copy = attn__arena_copy(&c->arena, sense, strlen(sense) + 1);
    if (copy == NULL) {
        return attn__fail(error, ATTN_ENOMEM, "%s: out of memory", f->map);
    }
    f->classes[f->n_classes++] = (sense_class){number, copy};
    return ATTN_OK;
}

static attn_status add_classes(attn_corpus *c, folder *f, const attn__json *root, attn_error *error)
{
    if (!attn__json_is(root, ATTN__JSON_OBJECT)) {
        return attn__fail(error, ATTN_EFORMAT, "%s:1: no JSON object, " EXPECTED_MAP, f->map);
    }
    f->classes = attn__arena_array(&c->arena, (int64_t)root->size, sizeof *f->classes);
    if (f->classes == NULL) {
        return attn__fail(error, ATTN_ENOMEM, "%s: out of memory", f->map);
    }
    for (const attn__json *v = root->first; v != NULL; v = v->next) {
        attn_status status = add_class(c, f, v->key, v, error);
        if (status != ATTN_OK) {
            return status;
        }
    }
    qsort(f->classes, f->n_classes, sizeof *f->classes, by_number);
    for (size_t i = 1; i < f->n_classes; i++) { /* "1" and "01" are two keys but one number */
        if (f->classes[i].number == f->classes[i - 1].number) {
            return attn__fail(error, ATTN_EFORMAT, "%s: class %lld twice, " EXPECTED_MAP, f->map, (long long)f->classes[i].number);
        }
    }
    return ATTN_OK;
}

static attn_status parse_classes(attn_corpus *c, folder *f, const char *bytes, size_t size, attn_error *error)
{
    attn__arena arena;
    attn__json_fault fault;
    const attn__json *root;
    attn__arena_init(&arena, &c->allocator);
    attn_status status = attn__json_parse(bytes, size, &arena, &root, &fault);
    status = status == ATTN_OK       ? add_classes(c, f, root, error)
             : status == ATTN_ENOMEM ? attn__fail(error, ATTN_ENOMEM, "%s: out of memory", f->map)
                                     : attn__fail(error, ATTN_EFORMAT, "%s:%d: %s, " EXPECTED_MAP, f->map, fault.line, fault.text);
    attn__arena_free(&arena);
    return status;
}

static attn_status read_classes(attn_corpus *c, folder *f, attn_error *error)
{
    char *bytes;
    size_t size;
    attn_status status = attn__read_file(f->map, &c->allocator, &bytes, &size, error);
    if (status == ATTN_OK) {
        size_t mark = size >= 3 && memcmp(bytes, "\xEF\xBB\xBF", 3) == 0 ? 3 : 0;
        status = parse_classes(c, f, bytes + mark, size - mark, error);
        attn__free(&c->allocator, bytes);
    }
    return status;
}

/* ---- sentences and their labels ---- */

static attn_status read_sense(folder *f, attn_example *e, attn_error *error)
{
    sense_class wanted = {0, NULL};
    if (!attn__decimal(f->gold.text, &wanted.number)) {
        return attn__lines_fail(&f->gold, error, "'%s' is no decimal number, expected a class number", ATTN__QUOTE(f->gold.text));
    }
    const sense_class *found = bsearch(&wanted, f->classes, f->n_classes, sizeof wanted, by_number);
    if (found == NULL) {
        return attn__lines_fail(&f->gold, error, "class %lld is none of the %zu of %s", (long long)wanted.number, f->n_classes, f->map);
    }
    e->sense = found->sense;
    return ATTN_OK;
}

static attn_status read_sentence(attn_corpus *c, attn__lines *data, attn_example *e, attn_error *error)
{
    char *tab = strchr(data->text, '\t');
    if (tab == NULL) {
        return attn__lines_fail(data, error, "no tab, expected INDEX<TAB>tokens");
    }
    *tab = '\0';
    attn_status status = attn__cut(c, tab + 1, attn__unicode_space, e);
    if (status != ATTN_OK) {
        return attn__fail(error, status, "%s:%lld: %s", data->file, (long long)data->number, attn_status_sentence(status));
    }
    if (e->length == 0) {
        return attn__lines_fail(data, error, "no tokens, expected INDEX<TAB>tokens");
    }
    return attn__read_target(data, data->text, e, error);
}

static attn_status read_pair(attn_corpus *c, folder *f, attn_error *error)
{
    attn_example e = {.file = f->data.file, .line = f->data.number};
    attn_status status = attn__lines_check(&f->data, error);
    if (status == ATTN_OK) {
        status = attn__lines_check(&f->gold, error);
    }
    if (status == ATTN_OK) {
        status = read_sentence(c, &f->data, &e, error);
    }
    if (status == ATTN_OK) {
        status = read_sense(f, &e, error);
    }
    return status != ATTN_OK ? status : attn__corpus_push(c, &e, error);
}

/* Lines from the current one on that are not blank. */
static int64_t count_rest(attn__lines lines)
{
    int64_t count = 0;
    do {
        count += !attn__lines_blank(&lines);
    } while (attn__lines_next(&lines));
    return count;
}

/* A sentence without a label, or the other way round. */
static attn_status misaligned(const folder *f, int64_t pairs, attn_error *error)
{
    bool no_label = attn__lines_blank(&f->gold);
    const attn__lines *gap = no_label ? &f->gold : &f->data, *other = no_label ? &f->data : &f->gold;
    return attn__lines_fail(gap, error, "no %s for %s:%lld: %lld sentences and %lld labels, expected one label a sentence",
                            no_label ? "label" : "sentence", other->file, (long long)other->number,
                            (long long)(pairs + count_rest(f->data)), (long long)(pairs + count_rest(f->gold)));
}

static attn_status read_pairs(attn_corpus *c, folder *f, attn_error *error)
{
    size_t first = c->count;
    for (;;) {
        bool sentence = attn__lines_next(&f->data), label = attn__lines_next(&f->gold);
        if (!sentence && !label) {
            return ATTN_OK;
        }
        bool blank = attn__lines_blank(&f->data);
        if (blank != attn__lines_blank(&f->gold)) {
            return misaligned(f, (int64_t)(c->count - first), error);
        }
        attn_status status = blank ? attn__corpus_blank(c, sentence ? &f->data : &f->gold, error) : read_pair(c, f, error);
        if (status != ATTN_OK) {
            return status;
        }
    }
}

attn_status attn__read_folder(attn_corpus *c, const char *path, const char *split, attn_error *error)
{
    if (split == NULL) {
        return attn__fail(error, ATTN_EINVAL, "%s is a folder, expected also the name of a split", path);
    }
    const char *data = join(c, path, split, ".data.txt"), *gold = join(c, path, split, ".gold.txt");
    folder f = {.map = join(c, path, "classes_map", ".txt")};
    if (data == NULL || gold == NULL || f.map == NULL) {
        return attn__fail(error, ATTN_ENOMEM, "%s: out of memory", path);
    }
    attn_status status = attn__lines_open(c, data, &f.data, error);
    if (status == ATTN_OK) {
        status = attn__lines_open(c, gold, &f.gold, error);
    }
    if (status == ATTN_OK) {
        status = read_classes(c, &f, error);
    }
    return status != ATTN_OK ? status : read_pairs(c, &f, error);
}

/* A text of JSON as a tree: checked, counted, and then built in one array. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/json.h"
#include "core/json_scan.h"

typedef struct builder {
    attn__scan scan;
    attn__arena *arena;
    attn__json *node;
    size_t used;
    const char *fault;
    bool no_memory;
} builder;

/* At least as many as there are values: each but the first stands behind one of these. */
static size_t count_values(const char *text, size_t size)
{
    size_t n = 1;
    for (size_t i = 0; i < size; i++) {
        n += text[i] == ',' || text[i] == '[' || text[i] == '{';
    }
    return n;
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static void check_keys(builder *b, const attn__json *object)
{
    attn__mark mark = attn__arena_mark(b->arena);
    const char **keys = attn__arena_array(b->arena, (int64_t)object->size, sizeof *keys);
    size_t n = 0;
    if (keys == NULL) {
        b->no_memory = true;
        return;
    }
    for (const attn__json *v = object->first; v != NULL; v = v->next) {
        keys[n++] = v->key;
    }
    qsort(keys, n, sizeof *keys, by_text);
    for (size_t i = 1; i < n && b->fault == NULL; i++) {
        b->fault = strcmp(keys[i - 1], keys[i]) == 0 ? "duplicate object key" : NULL;
    }
    attn__arena_rewind(b->arena, mark);
}

static void build_number(builder *b, attn__json *v)
{
    const char *begin = b->scan.at;
    v->type = ATTN__JSON_INTEGER;
    if (!attn__scan_integer(&b->scan, &v->integer) || (v->integer == 0 && begin[0] == '-')) { /* -0 has a sign as a real */
        v->type = ATTN__JSON_REAL;
        if (!attn__parse_double(begin, (size_t)(b->scan.at - begin), &v->real) || !isfinite(v->real)) {
            b->fault = "too big a number";
        }
    }
}

static void build(builder *b, attn__json *v);

/* As deep as the check has allowed. */
static void build_inside(builder *b, attn__json *v, bool object)
{
    const attn__json **link = &v->first;
    v->type = object ? ATTN__JSON_OBJECT : ATTN__JSON_ARRAY;
    v->first = NULL;
    v->size = 0;
    for (bool more = attn__scan_open(&b->scan); more; more = attn__scan_more(&b->scan)) {
        attn__json *child = &b->node[b->used++];
        child->key = object ? attn__scan_key(&b->scan) : NULL;
        child->next = NULL;
        build(b, child);
        *link = child;
        link = &child->next;
        v->size++;
        if (b->fault != NULL || b->no_memory) {
            return;
        }
    }
    if (object && v->size > 1) {
        check_keys(b, v);
    }
}

static void build(builder *b, attn__json *v)
{
    char c = attn__scan_peek(&b->scan);
    switch (c) {
    case '{':
    case '[':
        build_inside(b, v, c == '{');
        break;
    case '"':
        v->type = ATTN__JSON_STRING;
        v->text = attn__scan_string(&b->scan);
        break;
    case 't':
    case 'f':
    case 'n':
        v->type = c == 't' ? ATTN__JSON_TRUE : c == 'f' ? ATTN__JSON_FALSE : ATTN__JSON_NULL;
        attn__scan_skip(&b->scan);
        break;
    default:
        build_number(b, v);
    }
}

static int line_of(const char *bytes, size_t at)
{
    int line = 1;
    for (size_t i = 0; i < at; i++) {
        line += bytes[i] == '\n';
    }
    return line;
}

attn_status attn__json_parse(const char *bytes, size_t size, attn__arena *arena, const attn__json **root, attn__json_fault *fault)
{
    builder b = {.arena = arena};
    char *copy = attn__arena_alloc(arena, size + 1);
    *root = NULL;
    if (copy == NULL) {
        return ATTN_ENOMEM;
    }
    memcpy(copy, bytes, size);
    copy[size] = '\0';
    b.scan = attn__scan_new(copy, size);
    b.scan.any_integer = true;
    if (!attn__scan_check(&b.scan)) {
        b.fault = b.scan.fault;
    } else if (strchr("[{", attn__scan_peek(&b.scan)) == NULL) {
        b.fault = "an array or an object was expected";
    } else {
        b.node = attn__arena_array(arena, (int64_t)count_values(bytes, size), sizeof *b.node);
        b.no_memory = b.node == NULL;
    }
    if (b.node != NULL) {
        b.node[b.used++] = (attn__json){.key = NULL};
        build(&b, &b.node[0]);
    }
    *fault = (attn__json_fault){b.fault, line_of(bytes, (size_t)(b.scan.at - b.scan.begin))};
    *root = b.fault == NULL && !b.no_memory ? b.node : NULL;
    return b.no_memory ? ATTN_ENOMEM : b.fault != NULL ? ATTN_EFORMAT : ATTN_OK;
}

/* ---- looking at it ---- */

const attn__json *attn__json_get(const attn__json *object, const char *key)
{
    const attn__json *v = attn__json_is(object, ATTN__JSON_OBJECT) ? object->first : NULL;
    while (v != NULL && strcmp(v->key, key) != 0) {
        v = v->next;
    }
    return v;
}

const char *attn__json_text(const attn__json *value)
{
    return attn__json_is(value, ATTN__JSON_STRING) ? value->text : NULL;
}

bool attn__json_integer(const attn__json *value, int64_t low, int64_t high, int64_t *out)
{
    bool good = attn__json_is(value, ATTN__JSON_INTEGER) && value->integer >= low && value->integer <= high;
    *out = good ? value->integer : low;
    return good;
}

bool attn__json_number(const attn__json *value, double *out)
{
    bool integer = attn__json_is(value, ATTN__JSON_INTEGER), real = attn__json_is(value, ATTN__JSON_REAL);
    *out = integer ? (double)value->integer : real ? value->real : 0;
    return integer || real;
}

bool attn__json_flag(const attn__json *value, bool *out)
{
    *out = attn__json_is(value, ATTN__JSON_TRUE);
    return *out || attn__json_is(value, ATTN__JSON_FALSE);
}

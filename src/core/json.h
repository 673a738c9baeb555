/* JSON as a tree, and text from jansson's values. Not installed. */
#ifndef ATTN_JSON_H
#define ATTN_JSON_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/core.h"

/* ---- reading (json_tree.c): not by jansson, which aborts or writes past its memory when that runs out while it reads ---- */

typedef enum attn__json_type {
    ATTN__JSON_OBJECT,
    ATTN__JSON_ARRAY,
    ATTN__JSON_STRING,
    ATTN__JSON_INTEGER,
    ATTN__JSON_REAL,
    ATTN__JSON_TRUE,
    ATTN__JSON_FALSE,
    ATTN__JSON_NULL
} attn__json_type;

typedef struct attn__json {
    const char *key;               /* of a member of an object */
    const struct attn__json *next; /* in the same object or array */
    union {
        const char *text; /* UTF-8 without a zero byte */
        int64_t integer;
        double real;
        struct {
            const struct attn__json *first;
            size_t size;
        };
    };
    attn__json_type type;
} attn__json;

typedef struct attn__json_fault {
    const char *text;
    int line; /* from 1 */
} attn__json_fault;

/* The object or array that a text holds, in memory of the arena. Keys do not repeat; an integer beyond 64 bits is a real.
 * @return ATTN_EFORMAT with `fault`, ATTN_ENOMEM; *root is NULL then */
attn_status attn__json_parse(const char *bytes, size_t size, attn__arena *arena, const attn__json **root, attn__json_fault *fault);

/* A member; NULL if there is none, or no object. */
const attn__json *attn__json_get(const attn__json *object, const char *key);
/* False for NULL, as the next ones. */
static inline bool attn__json_is(const attn__json *value, attn__json_type type)
{
    return value != NULL && value->type == type;
}
const char *attn__json_text(const attn__json *value); /* NULL unless a string */
bool attn__json_integer(const attn__json *value, int64_t low, int64_t high, int64_t *out);
bool attn__json_number(const attn__json *value, double *out); /* integers too */
bool attn__json_flag(const attn__json *value, bool *out);

/* ---- writing ---- */

/* Compact JSON text from the allocator, in which the program's locale does not matter; takes the value, which may be NULL. NULL if memory
 * is out. */
char *attn__json_dump(json_t *value, const attn_allocator *allocator);

#endif

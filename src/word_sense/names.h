/* A numbered set of strings. Not installed. */
#ifndef ATTN_NAMES_H
#define ATTN_NAMES_H

#include "core/core.h"

typedef struct attn__name {
    const char *text; /* zero-terminated, in the arena, aligned to nothing */
    size_t size;
    uint64_t hash;
} attn__name;

/* Different strings, numbered 0, 1, 2, ... in the order of their adding. */
typedef struct attn__names {
    attn__arena *arena;
    attn__name *list;
    size_t count, capacity;
    size_t longest; /* bytes of the longest string */
    int32_t *slots; /* open addressing: number or -1 */
    size_t n_slots; /* power of two, at least twice the count */
    char *room;     /* in the arena, for the next strings */
    size_t left;
} attn__names;

/* An empty set; the strings will live in the arena, the table in memory of its allocator. */
attn__names attn__names_new(attn__arena *arena);
void attn__names_free(attn__names *n);
/* Makes room for `count` strings in all; false if out of memory. Only saves time. */
bool attn__names_reserve(attn__names *n, size_t count);
/* The number of the string of `size` bytes, or -1 if it is not in the set. */
int64_t attn__names_find(const attn__names *n, const char *text, size_t size);
/* The same, adding the string if it is new; -1 if out of memory, the set is then unchanged. */
int64_t attn__names_add(attn__names *n, const char *text, size_t size);
/* The same without a copy: the string lies in the arena already, with a zero behind it. */
int64_t attn__names_add_kept(attn__names *n, const char *text, size_t size);

#endif

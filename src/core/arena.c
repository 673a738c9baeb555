/* A chain of chunks. Allocation moves a pointer; rewinding moves it back and keeps the chunks, so that the second run of a step finds all
 * the memory that the first one needed. */
#include <string.h>

#include "core/core.h"

#define FIRST_CHUNK ((size_t)64 * 1024)

struct attn__chunk {
    attn__chunk *next;
    unsigned char *base; /* aligned */
    size_t size;         /* usable bytes from base */
};

void attn__arena_init(attn__arena *a, const attn_allocator *allocator)
{
    *a = (attn__arena){.allocator = allocator != NULL ? *allocator : attn__malloc};
}

void attn__arena_free(attn__arena *a)
{
    for (attn__chunk *c = a->first; c != NULL;) {
        attn__chunk *next = c->next;
        attn__free(&a->allocator, c);
        c = next;
    }
    attn__arena_init(a, &a->allocator);
}

static attn__chunk *new_chunk(attn__arena *a, size_t size)
{
    size_t extra = sizeof(attn__chunk) + ATTN__ALIGN;
    if (size > SIZE_MAX - extra) {
        return NULL;
    }
    unsigned char *memory = a->allocator.alloc(a->allocator.ctx, size + extra);
    if (memory == NULL) {
        return NULL;
    }
    attn__chunk *c = (attn__chunk *)(void *)memory;
    size_t misaligned = (size_t)((uintptr_t)(memory + sizeof *c) % ATTN__ALIGN);
    *c = (attn__chunk){NULL, memory + sizeof *c + (ATTN__ALIGN - misaligned) % ATTN__ALIGN, size};
    a->capacity += size;
    return c;
}

/* Takes the first chunk with room for `size` bytes out of the list that begins at *link; NULL if there is none. */
static attn__chunk *take_chunk(attn__chunk **link, size_t size)
{
    while (*link != NULL && (*link)->size < size) {
        link = &(*link)->next;
    }
    attn__chunk *c = *link;
    if (c != NULL) {
        *link = c->next;
    }
    return c;
}

/* Makes `current` a chunk with room for `size` bytes: one of the unused chunks behind it, else a new one. A new one holds as much as all
 * before it together, so steps of at most N bytes never make the arena hold more than 4 N. */
static bool advance(attn__arena *a, size_t size)
{
    attn__chunk **link = a->current != NULL ? &a->current->next : &a->first;
    attn__chunk *c = take_chunk(link, size);
    if (c == NULL) {
        size_t doubled = a->capacity < FIRST_CHUNK ? FIRST_CHUNK : a->capacity;
        c = new_chunk(a, size > doubled ? size : doubled);
        if (c == NULL && size < doubled) {
            c = new_chunk(a, size);
        }
    }
    if (c == NULL) {
        return false;
    }
    c->next = *link;
    *link = c;
    a->before += a->used;
    a->current = c;
    a->used = 0;
    return true;
}

void *attn__arena_alloc(attn__arena *a, size_t size)
{
    if (size > SIZE_MAX - ATTN__ALIGN) {
        return NULL;
    }
    size = size == 0 ? ATTN__ALIGN : (size + ATTN__ALIGN - 1) / ATTN__ALIGN * ATTN__ALIGN;
    if ((a->current == NULL || a->current->size - a->used < size) && !advance(a, size)) {
        return NULL;
    }
    void *ptr = a->current->base + a->used;
    a->used += size;
    return ptr;
}

void *attn__arena_array(attn__arena *a, int64_t count, size_t size)
{
    size_t bytes;
    return count >= 0 && (uint64_t)count <= SIZE_MAX && attn__size_mul((size_t)count, size, &bytes) ? attn__arena_alloc(a, bytes) : NULL;
}

void *attn__arena_copy(attn__arena *a, const void *data, size_t size)
{
    void *copy = attn__arena_alloc(a, size);
    if (copy != NULL && size > 0) {
        memcpy(copy, data, size);
    }
    return copy;
}

attn__mark attn__arena_mark(const attn__arena *a)
{
    return (attn__mark){a->current, a->used, a->before};
}

size_t attn__arena_most(const attn__arena *a)
{
    size_t now = a->before + a->used;
    return a->most > now ? a->most : now;
}

void attn__arena_rewind(attn__arena *a, attn__mark mark)
{
    a->most = attn__arena_most(a);
    a->current = mark.chunk;
    a->used = mark.used;
    a->before = mark.before;
}

void attn__arena_reset(attn__arena *a)
{
    attn__arena_rewind(a, (attn__mark){NULL, 0, 0});
    a->most = 0;
}

#include "word_sense/names.h"

#include <string.h>

static uint64_t hash_of(const char *text, size_t size)
{
    uint64_t hash = 0xCBF29CE484222325U; /* FNV-1a */
    for (size_t i = 0; i < size; i++) {
        hash = (hash ^ (unsigned char)text[i]) * 0x100000001B3U;
    }
    return hash ^ hash >> 32;
}

attn__names attn__names_new(attn__arena *arena)
{
    return (attn__names){.arena = arena};
}

void attn__names_free(attn__names *n)
{
    attn__free(&n->arena->allocator, n->list);
    attn__free(&n->arena->allocator, n->slots);
    *n = attn__names_new(n->arena);
}

/* The slot that holds the string, or the free one where it belongs. */
static size_t slot_of(const attn__names *n, const char *text, size_t size, uint64_t hash)
{
    size_t i = (size_t)hash & (n->n_slots - 1);
    while (n->slots[i] >= 0) {
        const attn__name *name = &n->list[n->slots[i]];
        if (name->hash == hash && name->size == size && memcmp(name->text, text, size) == 0) {
            break;
        }
        i = (i + 1) & (n->n_slots - 1);
    }
    return i;
}

/* Twice as many as there are, and at least twice `count`. */
static bool more_slots(attn__names *n, size_t count)
{
    size_t n_slots = n->n_slots == 0 ? 16 : n->n_slots * 2;
    while (n_slots / 2 < count) {
        n_slots *= 2;
    }
    size_t bytes;
    const attn_allocator *allocator = &n->arena->allocator;
    int32_t *slots = count < INT32_MAX && attn__size_mul(n_slots, sizeof *slots, &bytes) ? allocator->alloc(allocator->ctx, bytes) : NULL;
    if (slots == NULL) {
        return false;
    }
    attn__free(allocator, n->slots);
    n->slots = memset(slots, 0xFF, bytes); /* all of them -1 */
    n->n_slots = n_slots;
    for (size_t i = 0; i < n->count; i++) {
        slots[slot_of(n, n->list[i].text, n->list[i].size, n->list[i].hash)] = (int32_t)i;
    }
    return true;
}

bool attn__names_reserve(attn__names *n, size_t count)
{
    void *array = n->list;
    bool ok = count < SIZE_MAX / 4 && attn__grow(&n->arena->allocator, &array, &n->capacity, count, sizeof *n->list);
    n->list = array;
    return ok && (2 * count <= n->n_slots || more_slots(n, count));
}

int64_t attn__names_find(const attn__names *n, const char *text, size_t size)
{
    return size > n->longest || n->n_slots == 0 ? -1 : n->slots[slot_of(n, text, size, hash_of(text, size))];
}

/* Strings share pieces of the arena, which alone would give each of them a line of the cache. */
static char *copy_text(attn__names *n, const char *text, size_t size)
{
    if (n->left <= size) {
        size_t piece = n->count < 512 ? 64 * (n->count + 1) : 32768;
        piece = size < piece ? piece : size + 1;
        n->room = attn__arena_alloc(n->arena, piece);
        n->left = n->room != NULL ? piece : 0;
        if (n->room == NULL) {
            return NULL;
        }
    }
    char *copy = memcpy(n->room, text, size);
    copy[size] = '\0';
    n->room += size + 1;
    n->left -= size + 1;
    return copy;
}

static int64_t add(attn__names *n, const char *text, size_t size, bool kept)
{
    uint64_t hash = hash_of(text, size);
    if (2 * (n->count + 1) > n->n_slots && !more_slots(n, n->count + 1)) {
        return -1;
    }
    size_t slot = slot_of(n, text, size, hash);
    if (n->slots[slot] >= 0) {
        return n->slots[slot];
    }
    void *array = n->list;
    bool grown = attn__grow(&n->arena->allocator, &array, &n->capacity, n->count + 1, sizeof *n->list);
    n->list = array;
    const char *ours = grown && !kept ? copy_text(n, text, size) : text;
    if (!grown || ours == NULL) {
        return -1;
    }
    n->slots[slot] = (int32_t)n->count;
    n->longest = size > n->longest ? size : n->longest;
    n->list[n->count] = (attn__name){ours, size, hash};
    return (int64_t)n->count++;
}

int64_t attn__names_add(attn__names *n, const char *text, size_t size)
{
    return add(n, text, size, false);
}

int64_t attn__names_add_kept(attn__names *n, const char *text, size_t size)
{
    return add(n, text, size, true);
}

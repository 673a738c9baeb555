/* Checked sizes and the allocator value. */
#ifndef _DEFAULT_SOURCE
#define _DEFAULT_SOURCE /* madvise */
#endif
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "core/core.h"

#define HUGE_PAGE ((uintptr_t)2 << 20)

/* Large blocks ask for huge pages: to take a table of embeddings page by page costs more than to read it from a file. */
static void *malloc_alloc(void *ctx, size_t size)
{
    (void)ctx;
    void *block = malloc(size);
#ifdef MADV_HUGEPAGE
    if (block != NULL && size >= HUGE_PAGE) {
        uintptr_t begin = ((uintptr_t)block + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE,
                  end = ((uintptr_t)block + size) / HUGE_PAGE * HUGE_PAGE;
        if (begin < end) {
            (void)madvise((void *)begin, end - begin, MADV_HUGEPAGE); /* a wish */
        }
    }
#endif
    return block;
}

static void malloc_free(void *ctx, void *ptr)
{
    (void)ctx;
    free(ptr);
}

const attn_allocator attn__malloc = {malloc_alloc, malloc_free, NULL};

bool attn__size_mul(size_t a, size_t b, size_t *product)
{
    if (b != 0 && a > SIZE_MAX / b) {
        return false;
    }
    *product = a * b;
    return true;
}

static const attn_allocator *or_default(const attn_allocator *allocator)
{
    return allocator != NULL ? allocator : &attn__malloc;
}

void *attn__calloc(const attn_allocator *allocator, size_t count, size_t size)
{
    allocator = or_default(allocator);
    size_t bytes;
    if (!attn__size_mul(count, size, &bytes)) {
        return NULL;
    }
    bytes = bytes == 0 ? 1 : bytes;
    void *ptr = allocator->alloc(allocator->ctx, bytes);
    if (ptr != NULL) {
        memset(ptr, 0, bytes);
    }
    return ptr;
}

void attn__free(const attn_allocator *allocator, void *ptr)
{
    allocator = or_default(allocator);
    if (ptr != NULL) {
        allocator->free(allocator->ctx, ptr);
    }
}

bool attn__grow(const attn_allocator *allocator, void **array, size_t *capacity, size_t want, size_t size)
{
    if (want <= *capacity) {
        return true;
    }
    allocator = or_default(allocator);
    size_t room = *capacity < 8 ? 8 : *capacity, bytes;
    while (room < want) {
        if (room > SIZE_MAX / 2) {
            return false;
        }
        room *= 2;
    }
    if (!attn__size_mul(room, size, &bytes)) {
        return false;
    }
    void *bigger = allocator->alloc(allocator->ctx, bytes);
    if (bigger == NULL) {
        return false;
    }
    if (*array != NULL) {
        memcpy(bigger, *array, *capacity * size);
        allocator->free(allocator->ctx, *array);
    }
    *array = bigger;
    *capacity = room;
    return true;
}

char *attn__strdup(const attn_allocator *allocator, const char *text)
{
    size_t size = strlen(text) + 1;
    allocator = or_default(allocator);
    char *copy = allocator->alloc(allocator->ctx, size);
    if (copy != NULL) {
        memcpy(copy, text, size);
    }
    return copy;
}

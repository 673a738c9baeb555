#include "support/faulty_memory.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "support/sanitized.h"

/* ---- counting ---- */

static _Thread_local bool counting, paused;
static _Thread_local long tried, first_fault;
static _Thread_local bool only_one;
static long live;

void faults_begin(long k, bool alone)
{
    tried = 0;
    first_fault = k;
    only_one = alone;
    counting = true;
}

long faults_end(void)
{
    counting = false;
    return tried;
}

long faults_live(void)
{
    return live;
}

void faults_pause(void)
{
    paused = counting;
    counting = false;
}

void faults_resume(void)
{
    counting = paused;
}

static bool fails(void)
{
    if (!counting) {
        return false;
    }
    tried++;
    return first_fault > 0 && (only_one ? tried == first_fault : tried >= first_fault);
}

/* ---- malloc itself ---- */

#if defined(__GLIBC__) && !defined(SANITIZED)
/* The program's definitions come before those of the C library, for every library that it loads. */
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *block, size_t size);
void __libc_free(void *block);

static void *none(void)
{
    errno = ENOMEM;
    return NULL;
}

__attribute__((visibility("default"))) void *malloc(size_t size)
{
    return fails() ? none() : __libc_malloc(size);
}

__attribute__((visibility("default"))) void *calloc(size_t count, size_t size)
{
    return fails() ? none() : __libc_calloc(count, size);
}

__attribute__((visibility("default"))) void *realloc(void *block, size_t size)
{
    return fails() ? none() : __libc_realloc(block, size);
}

__attribute__((visibility("default"))) void free(void *block)
{
    __libc_free(block);
}

static bool fails_here(void)
{
    return false; /* malloc does */
}
#else
static bool fails_here(void)
{
    return fails();
}
#endif

static void *take(size_t size)
{
    void *block = fails_here() ? NULL : malloc(size);
    live += block != NULL;
    return block != NULL ? memset(block, 0xA5, size) : NULL;
}

static void give_back(void *block)
{
    live -= block != NULL;
    free(block);
}

static void *alloc(void *ctx, size_t size)
{
    (void)ctx;
    return take(size);
}

static void release(void *ctx, void *block)
{
    (void)ctx;
    give_back(block);
}

const attn_allocator faulty = {alloc, release, NULL};

void faults_in_jansson(void)
{
    json_set_alloc_funcs(take, give_back);
}

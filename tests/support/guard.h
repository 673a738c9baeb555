/* Arrays that touch a page which may not be read or written, so that one element too far is a crash. */
#ifndef ATTN_TEST_GUARD_H
#define ATTN_TEST_GUARD_H

#include <stddef.h>

typedef enum guard_side { GUARD_AFTER, GUARD_BEFORE } guard_side;

typedef struct guarded {
    unsigned char *memory; /* guard page, room, guard page */
    size_t room, page;
} guarded;

/* Room for at least `room` bytes. */
guarded guard_new(size_t room);
void guard_free(guarded *g);

/* `size` bytes that end at the guard page after them, or begin right behind the one before them. */
void *guard_array(const guarded *g, size_t size, guard_side side);

#endif

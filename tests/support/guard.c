#include "support/guard.h"

#include <sys/mman.h>
#include <unistd.h>
#include <fcntl.h>

#include "support/check.h"

guarded guard_new(size_t room)
{
    guarded g = {.page = (size_t)sysconf(_SC_PAGESIZE)};
    g.room = (room + g.page - 1) / g.page * g.page;
    int zero = open("/dev/zero", O_RDWR | O_CLOEXEC); /* POSIX 2008 has no anonymous mapping */
    assert_true(zero >= 0);
    g.memory = mmap(NULL, g.room + 2 * g.page, PROT_READ | PROT_WRITE, MAP_PRIVATE, zero, 0);
    assert_true(g.memory != MAP_FAILED);
    assert_int_equal(close(zero), 0);
    assert_int_equal(mprotect(g.memory, g.page, PROT_NONE), 0);
    assert_int_equal(mprotect(g.memory + g.page + g.room, g.page, PROT_NONE), 0);
    return g;
}

void guard_free(guarded *g)
{
    assert_int_equal(munmap(g->memory, g->room + 2 * g->page), 0);
    *g = (guarded){.memory = NULL};
}

void *guard_array(const guarded *g, size_t size, guard_side side)
{
    assert_true(size <= g->room);
    return g->memory + g->page + (side == GUARD_AFTER ? g->room - size : 0);
}

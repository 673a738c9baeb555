/* Loops on threads: which of them use threads, and that those which had to wait for a processor leave the next ones to one thread. */
#include <stdatomic.h>
#include <time.h>

#include "support/check.h"

#include "core/core.h"

enum { SMALL = 200000, LARGE = 20000000 }; /* operations: worth threads; worth them however long they wait */

typedef struct loop {
    double patience, pause; /* seconds */
    _Atomic int begun;
    atomic_bool together;
} loop;

static double now(void)
{
    struct timespec t;
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void tile(void *ctx, int64_t at)
{
    loop *l = ctx;
    double begin = now();
    (void)at;
    l->begun++;
    while (l->begun < 2 && now() - begin < l->patience) {
    }
    if (l->begun == 2 && now() - begin < l->patience && at == 0) {
        l->together = true; /* the other tile began while this one waited */
    }
    while (now() - begin < l->pause) {
    }
}

/* Whether two tiles run at once, which takes two threads: whether both begin before one of them has lost its patience. */
static bool together(double patience, int64_t work, double pause)
{
    loop l = {.patience = patience, .pause = pause};
    attn__parallel(2, 2, (double)work / 2, tile, &l);
    assert_int_equal(l.begun, 2);
    return l.together;
}

#define ENOUGH 30   /* seconds, for a thread to begin on a busy machine */
#define ALONE  0.02 /* enough to see that none does */

static void small_work_is_for_one_thread(void **state)
{
    (void)state;
    assert_false(together(ALONE, 1000, 0));
}

static void loops_that_wait_leave_the_next_to_one_thread(void **state)
{
    (void)state;
    if (!attn_has_threads()) {
        assert_false(together(ALONE, LARGE, 0));
        return;
    }
    assert_true(together(ENOUGH, SMALL, 0.01));
    for (int rest = 1; rest <= 7; rest = 2 * rest + 1) {
        for (int i = 0; i < rest; i++) {
            assert_false(together(ALONE, SMALL, 0));
        }
        assert_true(together(ENOUGH, LARGE, 0.01)); /* not counted */
        assert_true(together(ENOUGH, SMALL, 0.01));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(small_work_is_for_one_thread),
        cmocka_unit_test(loops_that_wait_leave_the_next_to_one_thread),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

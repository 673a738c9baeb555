/* What a tape costs: stack, memory from step to step, running out of it, and tapes in several threads at once. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "support/every_op.h"
#include "support/tensors.h"

#include "attn/attention.h"
#include "core/core.h"

/* ---- long chains on a small stack ---- */

#define CHAIN 200000

static void *run_chain(void *ctx)
{
    double *slope = ctx;
    attn_tape *t = attn_tape_new(NULL);
    const double one = 1;
    attn_tensor *x = attn_variable(t, ATTN_F64, ATTN_SCALAR, &one), *y = x;
    for (int i = 0; i < CHAIN; i++) {
        y = attn_add(t, y, x);
    }
    if (attn_backward(t, y) == ATTN_OK && attn_tensor_get(y, 0) == CHAIN + 1) {
        *slope = attn_tensor_get_grad(x, 0);
    }
    attn_tape_free(t);
    return NULL;
}

static void a_long_chain_needs_no_stack(void **state)
{
    (void)state;
    double slope = 0;
    pthread_attr_t small;
    pthread_t thread;
    assert_int_equal(pthread_attr_init(&small), 0);
    assert_int_equal(pthread_attr_setstacksize(&small, (size_t)256 * 1024), 0);
    assert_int_equal(pthread_create(&thread, &small, run_chain, &slope), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_equal(pthread_attr_destroy(&small), 0);
    assert_true(slope == CHAIN + 1);
}

/* ---- steps ---- */

/* Forward and backward; NaN if something fails. */
static double run_step(const every_op *e, attn_tape *t)
{
    attn_tape_reset(t);
    attn_params_zero_grad(e->params);
    attn_tape_set_training(t, true);
    attn_tape_set_random(t, 3, 4);
    attn_tensor *loss = every_op_loss(e, t);
    return attn_backward(t, loss) == ATTN_OK ? attn_tensor_get(loss, 0) : attn_tensor_get(NULL, 0);
}

/* The list that the sweeps below rest on. */
static void the_step_uses_every_operation(void **state)
{
    (void)state;
    assert_int_equal(attn_op_count(), EVERY_OP_COUNT);
}

static void identical_steps_allocate_once(void **state)
{
    (void)state;
    for (attn_dtype dtype = ATTN_F32; dtype <= ATTN_F64; dtype++) {
        counting_allocator a;
        counting_init(&a, 0);
        every_op e;
        assert_int_equal(every_op_new(&e, dtype, 3, 7, 4, NULL), ATTN_OK);
        attn_tape *t = attn_tape_new(&a.value);
        double loss = run_step(&e, t);
        long allocations = a.allocations;
        size_t used = attn_tape_used(t), capacity = attn_tape_capacity(t);
        assert_true(loss > 0 && allocations > 1 && used > 0);
        for (int step = 2; step <= 1000; step++) {
            assert_true(run_step(&e, t) == loss);
            assert_int_equal(attn_tape_used(t), used);
        }
        assert_int_equal(a.allocations, allocations);
        assert_int_equal(attn_tape_capacity(t), capacity);
        attn_tape_free(t);
        assert_int_equal(a.live, 0);
        every_op_free(&e);
    }
}

/* What attention works in is given back when it is done, and was in use all the same. */
static void memory_given_back_within_a_step_counts(void **state)
{
    (void)state;
    attn_tape *t = attn_tape_new(NULL);
    attn_tensor *x = attn_input(t, ATTN_F32, ATTN_SHAPE(1, 200, 64), NULL);
    const size_t tensor = (size_t)200 * 64 * sizeof(float);
    assert_in_range(attn_tape_used(t), tensor, tensor + 1000);
    assert_non_null(attn_attend(t, (attn_attend_input){.query = x, .key = x, .value = x}, NULL).output);
    size_t used = attn_tape_used(t);
    assert_true(used > 2 * tensor + 20000); /* a tile of scores, at least */
    assert_non_null(attn_input(t, ATTN_F32, ATTN_SHAPE(10), NULL));
    assert_int_equal(attn_tape_used(t), used); /* there was room for it */
    attn_tape_reset(t);
    assert_int_equal(attn_tape_used(t), 0);
    attn_tape_free(t);
}

/* Keeping the losses of steps of two sizes keeps no graph alive. */
static void steps_of_two_sizes_settle(void **state)
{
    (void)state;
    counting_allocator a;
    counting_init(&a, 0);
    every_op small, large;
    assert_int_equal(every_op_new(&small, ATTN_F32, 1, 3, 4, NULL), ATTN_OK);
    assert_int_equal(every_op_new(&large, ATTN_F32, 4, 20, 8, NULL), ATTN_OK);
    attn_tape *t = attn_tape_new(&a.value);
    double losses[300];
    long settled = 0;
    for (int step = 0; step < 300; step++) {
        losses[step] = run_step(step % 3 == 1 ? &large : &small, t);
        assert_true(losses[step] == losses[step % 3]);
        settled = step == 5 ? a.allocations : settled;
    }
    assert_int_equal(a.allocations, settled);
    attn_tape_free(t);
    every_op_free(&small);
    every_op_free(&large);
}

/* ---- running out of memory ---- */

/* An allocator that gives at most `limit` bytes at a time. The arena asks for less when it cannot have much, so every single piece of a
 * step is refused at some limit. */
typedef struct budget {
    size_t limit, used;
    long live;
} budget;

static void *budget_alloc(void *ctx, size_t size)
{
    budget *b = ctx;
    if (size > b->limit - b->used) {
        return NULL;
    }
    size_t *block = malloc(size + 64);
    assert_non_null(block);
    *block = size;
    b->used += size;
    b->live++;
    return (char *)block + 64;
}

static void budget_free(void *ctx, void *ptr)
{
    budget *b = ctx;
    size_t *block = (size_t *)(void *)((char *)ptr - 64);
    b->used -= *block;
    b->live--;
    free(block);
}

static void every_piece_of_memory_can_be_missing(void **state)
{
    (void)state;
    every_op e;
    assert_int_equal(every_op_new(&e, ATTN_F32, 1, 3, 2, NULL), ATTN_OK);
    double loss = 0;
    int failures = 0;
    for (budget b = {.limit = 0}; loss == 0; b.limit += 64) {
        attn_tape *t = attn_tape_new(&(attn_allocator){budget_alloc, budget_free, &b});
        if (t == NULL) {
            continue;
        }
        double got = run_step(&e, t);
        if (attn_tape_status(t) == ATTN_OK) {
            loss = got;
        } else {
            assert_int_equal(attn_tape_status(t), ATTN_ENOMEM);
            assert_contains(attn_tape_message(t), "out of memory: ");
            assert_contains(attn_tape_message(t), " bytes wanted, ");
            failures++;
        }
        attn_tape_free(t);
        assert_int_equal(b.live, 0);
        assert_int_equal(b.used, 0);
    }
    assert_true(loss > 0 && failures > 200);
    every_op_free(&e);
}

/* A tape that ran out works again with what it has. */
static void a_tape_survives_running_out(void **state)
{
    (void)state;
    counting_allocator a;
    counting_init(&a, 0);
    every_op small, large;
    assert_int_equal(every_op_new(&small, ATTN_F64, 1, 3, 2, NULL), ATTN_OK);
    assert_int_equal(every_op_new(&large, ATTN_F64, 6, 60, 8, NULL), ATTN_OK);
    attn_tape *t = attn_tape_new(&a.value);
    double loss = run_step(&small, t);
    a.fail_at = 1;
    assert_true(close_enough(run_step(&small, t), loss, 0, 0));
    (void)run_step(&large, t);
    assert_int_equal(attn_tape_status(t), ATTN_ENOMEM);
    assert_true(close_enough(run_step(&small, t), loss, 0, 0));
    assert_int_equal(attn_tape_status(t), ATTN_OK);
    a.fail_at = 0;
    assert_true(run_step(&large, t) > 0);
    attn_tape_free(t);
    assert_int_equal(a.live, 0);
    every_op_free(&small);
    every_op_free(&large);
}

static void a_failing_allocation_is_reported(void **state)
{
    (void)state;
    every_op e;
    assert_int_equal(every_op_new(&e, ATTN_F64, 6, 60, 8, NULL), ATTN_OK);
    bool done = false;
    long k = 0;
    while (!done) {
        counting_allocator a;
        counting_init(&a, ++k);
        attn_tape *t = attn_tape_new(&a.value);
        if (t != NULL) {
            (void)run_step(&e, t);
            done = attn_tape_status(t) == ATTN_OK;
            assert_true(done || attn_tape_status(t) == ATTN_ENOMEM);
        }
        attn_tape_free(t);
        assert_int_equal(a.live, 0);
    }
    assert_true(k > 5);
    every_op_free(&e);
}

/* ---- several tapes at once ---- */

#define RUNNERS 4

typedef struct runner {
    double losses[2];
    double *gradient; /* of every parameter, joined */
    int64_t n;
} runner;

static void *run_alone(void *ctx)
{
    runner *r = ctx;
    every_op e;
    if (every_op_new(&e, ATTN_F32, 4, 24, 16, NULL) != ATTN_OK) {
        return NULL;
    }
    attn_tape *t = attn_tape_new(NULL);
    attn__tape_force_threads(t, 2);
    for (int step = 0; step < 2; step++) {
        r->losses[step] = run_step(&e, t);
    }
    r->n = attn_params_elements(e.params);
    r->gradient = malloc((size_t)r->n * sizeof(double));
    int64_t at = 0;
    for (int id = 0; id < attn_params_count(e.params); id++) {
        for (int64_t i = 0; i < attn_shape_count(attn_params_shape(e.params, id)); i++) {
            r->gradient[at++] = attn__kernels(ATTN_F32)->get(attn_params_grad(e.params, id), i);
        }
    }
    attn_tape_free(t);
    every_op_free(&e);
    return ctx;
}

static void tapes_in_several_threads_agree(void **state)
{
    (void)state;
    runner alone = {.n = 0}, together[RUNNERS] = {{.n = 0}};
    pthread_t thread[RUNNERS];
    assert_non_null(run_alone(&alone));
    for (int i = 0; i < RUNNERS; i++) {
        assert_int_equal(pthread_create(&thread[i], NULL, run_alone, &together[i]), 0);
    }
    for (int i = 0; i < RUNNERS; i++) {
        assert_int_equal(pthread_join(thread[i], NULL), 0);
    }
    for (int i = 0; i < RUNNERS; i++) {
        assert_int_equal(together[i].n, alone.n);
        assert_memory_equal(together[i].losses, alone.losses, sizeof alone.losses);
        assert_memory_equal(together[i].gradient, alone.gradient, (size_t)alone.n * sizeof(double));
        free(together[i].gradient);
    }
    assert_true(alone.losses[0] > 0 && alone.losses[1] == alone.losses[0]);
    free(alone.gradient);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_long_chain_needs_no_stack),    cmocka_unit_test(the_step_uses_every_operation),
        cmocka_unit_test(identical_steps_allocate_once),  cmocka_unit_test(memory_given_back_within_a_step_counts),
        cmocka_unit_test(steps_of_two_sizes_settle),      cmocka_unit_test(every_piece_of_memory_can_be_missing),
        cmocka_unit_test(a_tape_survives_running_out),    cmocka_unit_test(a_failing_allocation_is_reported),
        cmocka_unit_test(tapes_in_several_threads_agree),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

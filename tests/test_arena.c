/* The arena: alignment, mark and rewind, reuse, and what happens when memory runs out. */
#include <stdlib.h>
#include <string.h>

#include "support/check.h"

#include "attn/random.h"
#include "core/core.h"

static bool is_aligned(const void *ptr)
{
    return (uintptr_t)ptr % ATTN__ALIGN == 0;
}

/* Memory that is aligned as malloc's must be and no better: `shift` is a multiple of 16. */
typedef struct shifting {
    size_t shift;
    long live;
} shifting;

static void *shifting_alloc(void *ctx, size_t size)
{
    shifting *s = ctx;
    unsigned char *memory = aligned_alloc(64, (size + 128) / 64 * 64);
    assert_non_null(memory);
    s->live++;
    return memory + s->shift;
}

static void shifting_free(void *ctx, void *ptr)
{
    shifting *s = ctx;
    s->live--;
    free((unsigned char *)ptr - s->shift);
}

static void memory_is_aligned_whatever_the_allocator_gives(void **state)
{
    (void)state;
    for (size_t shift = 0; shift < 64; shift += 16) {
        shifting s = {.shift = shift};
        attn__arena a;
        attn__arena_init(&a, &(attn_allocator){shifting_alloc, shifting_free, &s});
        for (size_t size = 0; size < 3000; size += 7) {
            unsigned char *ptr = attn__arena_alloc(&a, size);
            assert_true(is_aligned(ptr));
            memset(ptr, 0xA5, size);
        }
        assert_true(is_aligned(attn__arena_alloc(&a, 1000000)));
        attn__arena_free(&a);
        assert_int_equal(s.live, 0);
    }
}

/* Pieces of many sizes keep their content while others are made and filled. */
static void pieces_do_not_overlap(void **state)
{
    (void)state;
    enum { PIECES = 300 };
    counting_allocator c;
    counting_init(&c, 0);
    attn__arena a;
    attn__arena_init(&a, &c.value);
    unsigned char *piece[PIECES];
    size_t size[PIECES], total = 0;
    for (int i = 0; i < PIECES; i++) {
        size[i] = i % 50 == 49 ? 200000 : (size_t)attn_random_below(1, 1, (uint64_t)i, 5000);
        piece[i] = attn__arena_alloc(&a, size[i]);
        assert_non_null(piece[i]);
        memset(piece[i], i % 251, size[i]);
        total += size[i];
        assert_true(a.before + a.used >= total && a.capacity >= total);
    }
    for (int i = 0; i < PIECES; i++) {
        for (size_t j = 0; j < size[i]; j++) {
            assert_int_equal(piece[i][j], i % 251);
        }
    }
    attn__arena_free(&a);
    assert_int_equal(c.live, 0);
    assert_int_equal(a.capacity, 0);
    assert_non_null(attn__arena_alloc(&a, 1)); /* a freed arena is an empty one */
    attn__arena_free(&a);
    assert_int_equal(c.live, 0);
}

static void pieces_of_size_0_are_distinct(void **state)
{
    (void)state;
    attn__arena a;
    attn__arena_init(&a, NULL);
    void *first = attn__arena_alloc(&a, 0), *second = attn__arena_alloc(&a, 0);
    assert_true(first != NULL && second != NULL && first != second);
    assert_non_null(attn__arena_copy(&a, NULL, 0));
    attn__arena_free(&a);
}

static void impossible_sizes_are_refused(void **state)
{
    (void)state;
    counting_allocator c;
    counting_init(&c, 0);
    attn__arena a;
    attn__arena_init(&a, &c.value);
    for (size_t less = 0; less < 64; less++) { /* no room for the padding or the chunk's own header */
        assert_null(attn__arena_alloc(&a, SIZE_MAX - less));
    }
    assert_null(attn__arena_array(&a, -1, 1));
    assert_null(attn__arena_array(&a, INT64_MAX, 4));
    assert_null(attn__arena_array(&a, (int64_t)1 << 61, 8)); /* 2^64 bytes: would be 0 */
    assert_int_equal(c.allocations, 0);
    assert_int_equal(a.capacity, 0);
    int *five = attn__arena_array(&a, 5, sizeof(int));
    assert_non_null(five);
    int *copy = attn__arena_copy(&a, memset(five, 1, 5 * sizeof(int)), 5 * sizeof(int));
    assert_memory_equal(five, copy, 5 * sizeof(int));
    attn__arena_free(&a);
}

/* ---- rewinding ---- */

static void rewinding_gives_the_same_memory_again(void **state)
{
    (void)state;
    counting_allocator c;
    counting_init(&c, 0);
    attn__arena a;
    attn__arena_init(&a, &c.value);
    unsigned char *kept = attn__arena_alloc(&a, 100);
    memset(kept, 7, 100);
    attn__mark mark = attn__arena_mark(&a);
    void *first[40];
    for (int i = 0; i < 40; i++) {
        first[i] = attn__arena_alloc(&a, (size_t)i * 5000);
    }
    size_t used = a.before + a.used, capacity = a.capacity;
    long allocations = c.allocations;
    assert_true(allocations > 2);
    for (int round = 0; round < 3; round++) {
        attn__arena_rewind(&a, mark);
        assert_int_equal(a.before + a.used, 128);
        for (int i = 0; i < 40; i++) {
            assert_ptr_equal(attn__arena_alloc(&a, (size_t)i * 5000), first[i]);
        }
        assert_int_equal(a.before + a.used, used);
    }
    assert_int_equal(c.allocations, allocations);
    assert_int_equal(a.capacity, capacity);
    for (int i = 0; i < 100; i++) {
        assert_int_equal(kept[i], 7);
    }
    attn__arena_free(&a);
}

/* Marks nest, also when chunks are made between them, and a mark of an empty arena is its beginning. */
static void marks_nest(void **state)
{
    (void)state;
    attn__arena a;
    attn__arena_init(&a, NULL);
    attn__mark empty = attn__arena_mark(&a);
    void *begin = attn__arena_alloc(&a, 60000);
    attn__mark outer = attn__arena_mark(&a);
    void *after_outer = attn__arena_alloc(&a, 90000);
    attn__mark inner = attn__arena_mark(&a);
    void *after_inner = attn__arena_alloc(&a, 400000);
    attn__arena_rewind(&a, inner);
    assert_ptr_equal(attn__arena_alloc(&a, 400000), after_inner);
    attn__arena_rewind(&a, outer);
    assert_ptr_equal(attn__arena_alloc(&a, 90000), after_outer);
    attn__arena_rewind(&a, empty);
    assert_int_equal(a.before + a.used, 0);
    assert_ptr_equal(attn__arena_alloc(&a, 60000), begin);
    attn__arena_free(&a);
}

/* What a step needed at its fullest is still known after it was given back, and a reset forgets it. */
static void the_most_in_use_is_remembered(void **state)
{
    (void)state;
    attn__arena a;
    attn__arena_init(&a, NULL);
    assert_int_equal(attn__arena_most(&a), 0);
    for (int step = 0; step < 3; step++) {
        attn__arena_alloc(&a, 640);
        attn__mark mark = attn__arena_mark(&a);
        attn__arena_alloc(&a, 6400000); /* in a chunk of its own */
        assert_int_equal(attn__arena_most(&a), 640 + 6400000);
        attn__arena_rewind(&a, mark);
        attn__arena_alloc(&a, 64);
        assert_int_equal(attn__arena_most(&a), 640 + 6400000);
        attn__arena_rewind(&a, mark);
        attn__arena_alloc(&a, 12800000);
        assert_int_equal(attn__arena_most(&a), 640 + 12800000);
        attn__arena_reset(&a);
        assert_int_equal(attn__arena_most(&a), 0);
        assert_int_equal(a.before + a.used, 0);
    }
    attn__arena_free(&a);
}

/* Steps of changing sizes, none above LIMIT bytes, settle down: the memory held stays within a small multiple of LIMIT. */
static void changing_steps_do_not_pile_up_memory(void **state)
{
    (void)state;
    const size_t limit = (size_t)16 << 20;
    uint64_t draws = 0;
    for (int run = 0; run < 20; run++) {
        counting_allocator c;
        counting_init(&c, 0);
        attn__arena a;
        attn__arena_init(&a, &c.value);
        for (int step = 0; step < 400; step++) {
            size_t left = limit >> attn_random_below(2, 1, draws++, 9);
            attn__arena_rewind(&a, (attn__mark){NULL, 0, 0});
            while (left > ATTN__ALIGN) {
                size_t most = left >> attn_random_below(2, 2, draws++, 6), size = 1 + (size_t)attn_random_below(2, 3, draws++, most);
                assert_non_null(attn__arena_alloc(&a, size));
                size = (size + ATTN__ALIGN - 1) / ATTN__ALIGN * ATTN__ALIGN;
                left -= size < left ? size : left;
            }
        }
        if (a.capacity > 4 * limit) {
            print_error("%zu bytes held for steps of at most %zu\n", a.capacity, limit);
            fail();
        }
        attn__arena_free(&a);
        assert_int_equal(c.live, 0);
    }
}

/* ---- running out ---- */

/* An allocator with `left` bytes. */
static void *budget_alloc(void *ctx, size_t size)
{
    size_t *left = ctx;
    if (size > *left) {
        return NULL;
    }
    *left -= size;
    return malloc(size);
}

static void budget_free(void *ctx, void *ptr)
{
    (void)ctx;
    free(ptr);
}

/* A chunk is made larger than asked for, but not at the price of failing. */
static void a_chunk_that_just_fits_will_do(void **state)
{
    (void)state;
    size_t left = 3000;
    attn__arena a;
    attn__arena_init(&a, &(attn_allocator){budget_alloc, budget_free, &left});
    unsigned char *ptr = attn__arena_alloc(&a, 2000);
    assert_non_null(ptr);
    memset(ptr, 1, 2000);
    assert_null(attn__arena_alloc(&a, 2000));
    size_t used = a.before + a.used;
    assert_null(attn__arena_alloc(&a, 2000));
    assert_int_equal(a.before + a.used, used);
    for (int i = 0; i < 2000; i++) {
        assert_int_equal(ptr[i], 1);
    }
    attn__arena_rewind(&a, (attn__mark){NULL, 0, 0});
    assert_ptr_equal(attn__arena_alloc(&a, 1500), ptr);
    attn__arena_free(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memory_is_aligned_whatever_the_allocator_gives),
        cmocka_unit_test(pieces_do_not_overlap),
        cmocka_unit_test(pieces_of_size_0_are_distinct),
        cmocka_unit_test(impossible_sizes_are_refused),
        cmocka_unit_test(rewinding_gives_the_same_memory_again),
        cmocka_unit_test(marks_nest),
        cmocka_unit_test(the_most_in_use_is_remembered),
        cmocka_unit_test(changing_steps_do_not_pile_up_memory),
        cmocka_unit_test(a_chunk_that_just_fits_will_do),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

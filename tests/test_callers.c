/* The caller's own threads, processes and memory: trainings side by side, a fork after threads have worked, JSON from another heap. */
#include <jansson.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/senses.h"

enum { CALLERS = 4, SIDE = 400, MOST = 1 << 20 };

/* ---- trainings side by side ---- */

typedef struct training {
    uint64_t seed;
    char path[40];
    bool done;
} training;

static void *train(void *argument)
{
    training *t = argument;
    attn_corpus *c = tiny_corpus(NULL);
    attn_word_sense_config config = tiny_config();
    config.seed = t->seed;
    config.score = (attn_score)(t->seed % 3);
    config.threads = 2;
    attn_word_sense *m = attn_word_sense_new(c, &config, NULL, NULL);
    t->done =
        m != NULL && attn_word_sense_train(m, c, NULL, NULL, NULL, NULL) == ATTN_OK && attn_word_sense_save(m, t->path, NULL) == ATTN_OK;
    attn_word_sense_free(m);
    attn_corpus_free(c);
    return NULL;
}

static size_t bytes_of(const char *path, char *bytes)
{
    FILE *f = fopen(path, "rb");
    assert_non_null(f);
    size_t size = fread(bytes, 1, MOST, f);
    assert_int_equal(fclose(f), 0);
    assert_true(size > 0 && size < MOST);
    return size;
}

static void trainings_side_by_side_are_those_in_turn(void **state)
{
    (void)state;
    static char one[MOST], other[MOST];
    training turn[CALLERS], side[CALLERS];
    pthread_t thread[CALLERS];
    for (int i = 0; i < CALLERS; i++) {
        turn[i].seed = side[i].seed = (uint64_t)i;
        snprintf(turn[i].path, sizeof turn[i].path, "callers-turn-%d.safetensors", i);
        snprintf(side[i].path, sizeof side[i].path, "callers-side-%d.safetensors", i);
        (void)train(&turn[i]);
    }
    for (int i = 0; i < CALLERS; i++) {
        assert_int_equal(pthread_create(&thread[i], NULL, train, &side[i]), 0);
    }
    for (int i = 0; i < CALLERS; i++) {
        assert_int_equal(pthread_join(thread[i], NULL), 0);
        assert_true(turn[i].done && side[i].done);
        size_t size = bytes_of(turn[i].path, one);
        assert_int_equal(bytes_of(side[i].path, other), size);
        assert_memory_equal(one, other, size);
    }
}

/* ---- fork ---- */

/* A product large enough for threads; the sum of its elements. */
static double product(const float *x)
{
    attn_tape *t = attn_tape_new(NULL);
    attn_tape_set_threads(t, 4);
    attn_tensor *a = attn_input(t, ATTN_F32, ATTN_SHAPE(SIDE, SIDE), x), *y = attn_sum(t, attn_matmul(t, a, a, ATTN_NN));
    double sum = y != NULL ? (double)*(const float *)attn_tensor_data(y) : -1;
    attn_tape_free(t);
    return sum;
}

/* The threads of a process are not there in its child: work goes on with one, to the same result, and does not wait for them. */
static void a_child_goes_on_alone(void **state)
{
    (void)state;
    static float x[SIDE * SIDE];
    for (int i = 0; i < SIDE * SIDE; i++) {
        x[i] = (float)(i % 7) - 3;
    }
    double expected = product(x);
    for (int round = 0; round < 2; round++) {
        int status;
        pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0) {
            alarm(60); /* ends a child that waits for ever */
            _exit(product(x) == expected ? 0 : 1);
        }
        assert_true(waitpid(child, &status, 0) == child);
        assert_true(WIFEXITED(status));
        assert_int_equal(WEXITSTATUS(status), 0);
        assert_true(product(x) == expected); /* and the parent with its threads */
    }
}

/* ---- memory ---- */

static long json_blocks;

/* Not what malloc returned: free() would end the process. */
static void *take(size_t size)
{
    max_align_t *p = malloc(sizeof *p + size);
    json_blocks += p != NULL;
    return p != NULL ? p + 1 : NULL;
}

static void give_back(void *ptr)
{
    max_align_t *p = ptr;
    if (p != NULL) {
        json_blocks--;
        free(p - 1);
    }
}

/* A host program that uses jansson too may have given it memory of its own. */
static void json_may_have_a_heap_of_its_own(void **state)
{
    (void)state;
    json_malloc_t before_take;
    json_free_t before_give_back;
    attn_corpus *c = tiny_corpus(NULL);
    attn_word_sense *m = new_model(c, tiny_config());
    save_ok(m, "callers-usual.safetensors");
    json_get_alloc_funcs(&before_take, &before_give_back);
    json_set_alloc_funcs(take, give_back);
    save_ok(m, "callers-own.safetensors");
    attn_word_sense_free(load_ok("callers-own.safetensors"));
    json_set_alloc_funcs(before_take, before_give_back);
    assert_int_equal(json_blocks, 0);
    assert_same_file("callers-usual.safetensors", "callers-own.safetensors");
    attn_word_sense_free(m);
    attn_corpus_free(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(trainings_side_by_side_are_those_in_turn),
        cmocka_unit_test(a_child_goes_on_alone),
        cmocka_unit_test(json_may_have_a_heap_of_its_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

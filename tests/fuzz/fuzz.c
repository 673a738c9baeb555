/* The entry of all targets: the environment variable ATTN_FUZZ names one. Built with libFuzzer, or with replay.c, which runs over files. */
#include "fuzz.h"

#include <jansson.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerInitialize(int *argc, char ***argv);

/* ---- memory in proportion ---- */

#define EACH ((size_t)64) /* bytes for one of the input */

typedef struct budget {
    size_t used, most;
} budget;

typedef union block {
    size_t size;
    max_align_t align;
} block;

static budget memory; /* of the current input */

static void *take(void *ctx, size_t size)
{
    budget *b = ctx;
    if (size > b->most - b->used) {
        fprintf(stderr, "%zu bytes asked for, with %zu of %zu in use\n", size, b->used, b->most);
        abort();
    }
    block *p = malloc(sizeof *p + size);
    if (p == NULL) {
        return NULL;
    }
    p->size = size;
    b->used += size;
    return p + 1;
}

static void give_back(void *ctx, void *ptr)
{
    budget *b = ctx;
    block *p = ptr;
    if (p != NULL) {
        b->used -= p[-1].size;
        free(p - 1);
    }
}

/* jansson has memory of its own, which counts like any other. */
static void *take_json(size_t size)
{
    return take(&memory, size);
}

static void give_back_json(void *ptr)
{
    give_back(&memory, ptr);
}

/* ---- */

static const struct target {
    const char *name;
    void (*run)(const uint8_t *data, size_t size, const attn_allocator *a);
    size_t base; /* KiB */
} targets[] = {
#define TARGET(name, base, times) {#name, fuzz_##name, base},
#include "targets.def"
#undef TARGET
};
#define N_TARGETS (sizeof targets / sizeof targets[0])

static const struct target *target;

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    const char *wanted = getenv("ATTN_FUZZ");
    (void)argc;
    (void)argv;
    for (size_t i = 0; i < N_TARGETS; i++) {
        if (wanted != NULL && strcmp(targets[i].name, wanted) == 0) {
            target = &targets[i];
        }
    }
    if (target == NULL) {
        fprintf(stderr, "ATTN_FUZZ is '%s', no target\n", wanted != NULL ? wanted : "");
        exit(2);
    }
    memory.most = SIZE_MAX; /* what is made once */
    json_set_alloc_funcs(take_json, give_back_json);
    (void)small_model();
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    memory = (budget){.most = (target->base << 10) + EACH * size};
    attn_allocator a = {take, give_back, &memory};
    target->run(data, size, &a);
    if (memory.used != 0) {
        fprintf(stderr, "%zu bytes are lost\n", memory.used);
        abort();
    }
    return 0;
}

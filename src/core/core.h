/* What the folders above core/ use of it, grouped by the file that defines it. Not installed. */
#ifndef ATTN_CORE_H
#define ATTN_CORE_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "attn/params.h"
#include "attn/status.h"
#include "attn/tape.h"
#include "attn/tensor.h"
#include "kernels/kernels.h"

/* ---- status.c ---- */

/* Sets *error (which may be NULL) and returns `status`, so that a failure is one line: return attn__fail(error, ATTN_EIO, ...). Also a
 * macro, as are others of its kind, so that the compiler, and an analyser, sees in each file that what failed is not ATTN_OK. */
attn_status attn__fail(attn_error *error, attn_status status, const char *format, ...) ATTN_PRINTF(3, 4);
#define attn__fail(error, status, ...) ((void)attn__fail(error, status, __VA_ARGS__), (attn_status)(status))
attn_status attn__vfail(attn_error *error, attn_status status, const char *format, va_list args) ATTN_PRINTF(3, 0);

/* The beginning of a text from outside for a message, cut between characters, with '?' for control characters, so that a hostile name
 * cannot break a message's one line; returns `quoted`. */
#define ATTN__QUOTE_SIZE  72
#define ATTN__QUOTE(text) attn__quote((text), (char[ATTN__QUOTE_SIZE]){0})
const char *attn__quote(const char *text, char quoted[ATTN__QUOTE_SIZE]);

/* ---- memory.c: checked sizes and the allocator value ---- */

extern const attn_allocator attn__malloc; /* malloc and free */

/* *product = a * b; false if it overflows. */
bool attn__size_mul(size_t a, size_t b, size_t *product);
/* count * size bytes (at least 1), zeroed; NULL if too large or out of memory. */
void *attn__calloc(const attn_allocator *allocator, size_t count, size_t size);
/* Room for `want` elements of `size` bytes in *array, which holds *capacity; grows by doubling, keeps the content. */
bool attn__grow(const attn_allocator *allocator, void **array, size_t *capacity, size_t want, size_t size);
void attn__free(const attn_allocator *allocator, void *ptr);
/* Copies of strings and bytes. */
char *attn__strdup(const attn_allocator *allocator, const char *text);

/* ---- number.c ---- */

/* A decimal number with nothing around it, or "nan", "inf" (any case); the point is a point in every locale. False if it is none, or if no
 * double can hold it. */
bool attn__parse_double(const char *text, size_t size, double *value);
/* The way back: the shortest of 15 to 17 significant digits that reads back as the same number, with a point in every locale. */
#define ATTN__DOUBLE_SIZE 40
void attn__format_double(double v, char text[ATTN__DOUBLE_SIZE]);

/* ---- shape.c ---- */

/* Element `i` (row-major) as an index: attn__index_of((2,3), 4) is (1,1). */
attn_shape attn__index_of(attn_shape shape, int64_t i);

/* ---- arena.c: chunks of memory that are given back together ---- */

#define ATTN__ALIGN 64

typedef struct attn__chunk attn__chunk;

typedef struct attn__arena {
    attn_allocator allocator;
    attn__chunk *first, *current;
    size_t used;     /* bytes used in `current` */
    size_t capacity; /* bytes of all chunks */
    size_t before;   /* bytes used in the chunks before `current` */
    size_t most;     /* the most bytes that were in use when it was rewound */
} attn__arena;

typedef struct attn__mark {
    attn__chunk *chunk;
    size_t used, before;
} attn__mark;

void attn__arena_init(attn__arena *a, const attn_allocator *allocator);
void attn__arena_free(attn__arena *a);
/* `size` bytes aligned to ATTN__ALIGN; NULL if out of memory. Not zeroed. */
void *attn__arena_alloc(attn__arena *a, size_t size);
void *attn__arena_array(attn__arena *a, int64_t count, size_t size); /* overflow-checked, not zeroed */
void *attn__arena_copy(attn__arena *a, const void *data, size_t size);
attn__mark attn__arena_mark(const attn__arena *a);
void attn__arena_rewind(attn__arena *a, attn__mark mark);
/* The most bytes in use at one time since the last reset, which takes everything back. */
size_t attn__arena_most(const attn__arena *a);
void attn__arena_reset(attn__arena *a);

/* ---- parallel.c: the one parallel loop ---- */

typedef void (*attn__tile_fn)(void *ctx, int64_t tile);

/* Cost of one attn_random_normal, in elementary operations. */
#define ATTN__NORMAL_COST 200.0

/* Calls fn(ctx, tile) for every tile in 0..tiles-1, on up to `threads` threads (0: the default; -n: n threads however little there is to
 * do, for tests) if tiles * cost (in elementary operations) is worth it, each tile exactly once. Tiles must write to disjoint memory: then
 * no result depends on the threads. */
void attn__parallel(int threads, int64_t tiles, double cost, attn__tile_fn fn, void *ctx);

/* The same; fn is also told which worker it runs on, 0 <= worker < attn__workers(threads), each busy with one tile at a time: for memory
 * that a tile works in. */
typedef void (*attn__worker_fn)(void *ctx, int64_t tile, int worker);
void attn__parallel_workers(int threads, int64_t tiles, double cost, attn__worker_fn fn, void *ctx);
int attn__workers(int threads);

/* Cuts 0..n-1 into tiles of `grain`. Use: for tile t, [begin,end) = attn__range(n, grain, t). */
static inline int64_t attn__tiles(int64_t n, int64_t grain)
{
    return n / grain + (n % grain != 0);
}
typedef struct attn__span {
    int64_t begin, end;
} attn__span;
static inline attn__span attn__range(int64_t n, int64_t grain, int64_t tile)
{
    int64_t begin = tile * grain;
    return (attn__span){begin, n - begin < grain ? n : begin + grain};
}

/* The value of OMP_NUM_THREADS (NULL: not set) names a number of threads, as OpenMP understands it. */
bool attn__asks_for_threads(const char *text);

/* ---- quota.c ---- */

/* Whole processors that this process's control groups allow it at a time, at least 1; INT_MAX: no limit. FOLDER/GROUPS names the groups as
 * /proc/self/cgroup does; they lie under `mount`, as under /sys/fs/cgroup. */
int attn__quota(const char *folder, const char *groups, const char *mount);

/* ---- params.c ---- */

/* attn_params_build without setting values, for those who bring all of them: drawing numbers for a vocabulary, or only clearing its memory,
 * would take as long as reading them from a file. Without `grads` the set can never be trained, and a recording tape treats it as frozen.
 */
attn_status attn__params_build_bare(attn_params *p, bool grads, attn_error *error);
/* Before that, and without gradients: the values of parameter `id` are these, which the caller keeps as long as the set lives and aligns
 * for their dtype. */
void attn__params_borrow(attn_params *p, int id, void *values);
/* The first error stays with the set; returns `status`. */
attn_status attn__params_fail(attn_params *p, attn_status status, const char *format, ...) ATTN_PRINTF(3, 4);
/* Memory that lives as long as the set (zeroed); NULL sets the error. */
void *attn__params_alloc(attn_params *p, size_t size);
const attn_allocator *attn__params_allocator(const attn_params *p);
bool attn__params_built(const attn_params *p);
/* The first error so far. */
attn_status attn__params_status(const attn_params *p);
/* Notes that a row of a sparse table has a gradient. Not thread-safe. */
void attn__params_touch(attn_params *p, int id, int64_t row);
/* The same for all rows, when an operation other than a lookup adds to the gradient. Nothing to do for dense parameters. */
void attn__params_touch_all(attn_params *p, int id);
/* Rows touched since the last zeroing, in order of first touch; *count of them. */
const int64_t *attn__params_touched(const attn_params *p, int id, int64_t *count);

int attn__params_threads(const attn_params *p);
/* A number for each parameter, for a loop over a set that is built. */
int64_t *attn__params_scratch(const attn_params *p);
/* From now on `threads` threads, however little there is to do: for tests. */
void attn__params_force_threads(attn_params *p, int threads);

/* ---- params_tiles.c: the parameters that a step visits, as spans of contiguous elements ---- */

/* A dense parameter is one span, a sparse table one a touched row. */
typedef void (*attn__span_fn)(void *ctx, int id, int64_t offset, int64_t n);
void attn__params_spans(const attn_params *p, attn__span_fn fn, void *ctx);
/* The same, with long spans cut, on the set's threads if `cost` (elementary operations an element) is worth it; fn writes to what belongs
 * to its span alone. */
void attn__params_tiles(const attn_params *p, double cost, attn__span_fn fn, void *ctx);
/* The sum of fn over these spans, in an order that does not depend on threads. */
typedef double (*attn__span_sum_fn)(attn_params *p, int id, int64_t offset, int64_t n);
double attn__params_sum(attn_params *p, double cost, attn__span_sum_fn fn);

/* ---- tensor.c ---- */

struct attn_tensor {
    attn_shape shape;
    int64_t count;
    attn_dtype dtype;
    bool needs_grad;
    bool reached; /* a backward pass has started to add to `grad` */
    bool stale;   /* ... which the operation that is running has to clear first, see attn__op.clears */
    void *data, *grad;
    attn_tape *tape;
    attn_params *params; /* not NULL: a parameter, with its number */
    int param;
};

/* "(2,3) x (4,5)"-like texts are built from these. */
#define ATTN__TEXT(shape) attn_shape_format((shape), (char[ATTN_SHAPE_TEXT]){0})

/* ---- tape.c: what an operation is, and recording it ---- */

typedef struct attn__op attn__op;

/* One recorded operation. */
typedef struct attn__node {
    const attn__op *op;
    struct attn__node *previous; /* recorded before this one */
    attn_tensor *out;
    attn_tensor **in;
    int n_in;
    void *attributes; /* the operation's own struct, copied when recorded; infer may store derived numbers in it */
    void *saved;      /* bytes that infer asked for, from forward to backward */
    size_t saved_size;
    void *scratch;         /* bytes that infer asked for, for the time of one forward or backward; not zeroed */
    size_t scratch_size;   /* in forward */
    size_t scratch_size_b; /* in backward */
    int64_t number;        /* 1, 2, ... among the operations of the step */
    attn_tape *tape;
} attn__node;

/* A gradcheck case: inputs of these shapes, uniform in [low, high), go through `build`. */
typedef struct attn__case {
    const char *name;
    int n;
    attn_shape shapes[8];
    double low, high;
    attn_tensor *(*build)(attn_tape *t, attn_tensor *const in[]);
} attn__case;

/* An operation: one const object in one file. */
struct attn__op {
    const char *name;
    int arity;   /* -1: any number */
    bool sparse; /* backward notes itself which rows of a sparse table it adds to */
    bool moves;  /* only arranges its inputs anew, whatever they hold */
    bool clears; /* backward finds in[0]->grad as it is, and where it is stale sets each element, or calls attn__clear before it adds */
    attn_status (*infer)(
        attn__node *n); /* sets out->shape and the sizes of saved and scratch, copies arrays it points to; the only part that can fail */
    void (*forward)(attn__node *n);  /* writes out->data */
    void (*backward)(attn__node *n); /* adds to in[i]->grad where in[i]->needs_grad, from out->grad */
    const attn__case *cases;
    int n_cases;
};

#define ATTN__CASES(array) .cases = (array), .n_cases = (int)(sizeof(array) / sizeof((array)[0]))

/* Runs and records `op` on the inputs; `attributes` (size bytes, may be NULL) is copied. NULL on error. */
attn_tensor *attn__record(attn_tape *t, const attn__op *op, attn_tensor *const in[], int n_in, const void *attributes, size_t size);
/* Notes an error on the tape (the first stays), prefixed with the operation's name, and returns `status`. */
attn_status attn__op_fail(attn__node *n, attn_status status, const char *format, ...) ATTN_PRINTF(3, 4);
attn_status attn__tape_fail(attn_tape *t, attn_status status, const char *format, ...) ATTN_PRINTF(3, 4);
/* Memory of the step; NULL notes ATTN_ENOMEM on the tape. */
void *attn__tape_alloc(attn_tape *t, int64_t count, size_t size);
/* A copy of `count` elements in the step's memory; NULL stays NULL. *ok becomes false if memory is out. */
const void *attn__tape_copy(attn_tape *t, const void *data, int64_t count, size_t size, bool *ok);
int attn__tape_threads(const attn_tape *t);

/* Gives `x` a gradient to add to: zeros the first time a pass reaches it, or, with `leave`, whatever was there and the order to clear it.
 * False if memory is out. */
bool attn__gradient_reach(attn_tensor *x, bool leave);

/* The same for the tensor that a pass begins with, and adds its cotangent. */
bool attn__gradient_start(attn_tensor *y, const void *cotangent);
/* From now on `threads` threads for every loop, however small: for tests. */
void attn__tape_force_threads(attn_tape *t, int threads);
bool attn__tape_training(const attn_tape *t);
/* Random key of the next dropout of this step. */
typedef struct attn__key {
    uint64_t seed, stream;
} attn__key;
attn__key attn__tape_next_key(attn_tape *t);

/* ---- check_finite.c: while a tape is checking; what is not finite is noted on it as ATTN_ENONFINITE ---- */

/* After forward. */
attn_status attn__check_output(attn__node *n);
/* Before a backward pass: the gradient of `y` that it starts from, and those of parameters, which it adds to. */
attn_status attn__check_start(attn__node *last, attn_tensor *y);
/* After backward of one node: the gradients of its inputs. */
attn_status attn__check_gradients(attn__node *n);

/* Kernels of a node's dtype. */
#define ATTN__K(node) attn__kernels((node)->out->dtype)

#endif

/* The tape: a list of nodes in creation order, which is a topological order; backward is one loop from the last to the first. */
#include <stdio.h>
#include <string.h>

#include "core/core.h"

struct attn_tape {
    attn__arena arena;
    attn_allocator allocator;
    attn__node *last;
    attn_error error;
    bool recording, training, checking;
    int threads;
    int64_t operations;         /* of this step */
    uint64_t seed, step, drawn; /* random key, and how many keys this step has drawn */
};

attn_tape *attn_tape_new(const attn_allocator *allocator)
{
    attn_tape *t = attn__calloc(allocator, 1, sizeof *t);
    if (t != NULL) {
        t->allocator = allocator != NULL ? *allocator : attn__malloc;
        attn__arena_init(&t->arena, &t->allocator);
        t->recording = true;
    }
    return t;
}

void attn_tape_free(attn_tape *t)
{
    if (t != NULL) {
        attn__arena_free(&t->arena);
        attn_allocator allocator = t->allocator;
        attn__free(&allocator, t);
    }
}

void attn_tape_reset(attn_tape *t)
{
    attn__arena_reset(&t->arena);
    t->last = NULL;
    t->error = (attn_error){.status = ATTN_OK};
    t->drawn = 0;
    t->operations = 0;
}

void attn_tape_set_recording(attn_tape *t, bool recording)
{
    t->recording = recording;
}

void attn_tape_set_training(attn_tape *t, bool training)
{
    t->training = training;
}

void attn_tape_set_checking(attn_tape *t, bool checking)
{
    t->checking = checking;
}

void attn_tape_set_random(attn_tape *t, uint64_t seed, uint64_t step)
{
    t->seed = seed;
    t->step = step;
    t->drawn = 0;
}

void attn_tape_set_threads(attn_tape *t, int threads)
{
    t->threads = threads > 0 ? threads : 0;
}

void attn__tape_force_threads(attn_tape *t, int threads)
{
    t->threads = -threads;
}

int attn__tape_threads(const attn_tape *t)
{
    return t->threads;
}

bool attn__tape_training(const attn_tape *t)
{
    return t->training;
}

attn__key attn__tape_next_key(attn_tape *t)
{
    /* A step of more than 2^16 dropouts, or a run of more than 2^48 steps, would meet an old key again. */
    return (attn__key){t->seed, (t->step << 16) + t->drawn++};
}

attn_status attn_tape_status(const attn_tape *t)
{
    return t->error.status;
}

const char *attn_tape_message(const attn_tape *t)
{
    return t->error.message;
}

size_t attn_tape_capacity(const attn_tape *t)
{
    return t->arena.capacity;
}

size_t attn_tape_used(const attn_tape *t)
{
    return attn__arena_most(&t->arena);
}

attn_status attn__tape_fail(attn_tape *t, attn_status status, const char *format, ...)
{
    if (t->error.status == ATTN_OK) {
        va_list args;
        va_start(args, format);
        attn__vfail(&t->error, status, format, args);
        va_end(args);
    }
    return status;
}

attn_status attn__op_fail(attn__node *n, attn_status status, const char *format, ...)
{
    attn_error why;
    va_list args;
    va_start(args, format);
    attn__vfail(&why, status, format, args);
    va_end(args);
    return attn__tape_fail(n->tape, status, "%s: %.460s", n->op->name, why.message);
}

void *attn__tape_alloc(attn_tape *t, int64_t count, size_t size)
{
    void *ptr = attn__arena_array(&t->arena, count, size);
    if (ptr == NULL) {
        attn__tape_fail(t, ATTN_ENOMEM, "out of memory: %lld x %zu bytes wanted, %zu bytes held by the tape", (long long)count, size,
                        t->arena.capacity);
    }
    return ptr;
}

const void *attn__tape_copy(attn_tape *t, const void *data, int64_t count, size_t size, bool *ok)
{
    if (data == NULL) {
        return NULL;
    }
    void *copy = attn__tape_alloc(t, count, size);
    *ok = *ok && copy != NULL;
    if (copy != NULL && count > 0) {
        memcpy(copy, data, (size_t)count * size);
    }
    return copy;
}

static attn_tensor *new_tensor(attn_tape *t, attn_dtype dtype, attn_shape shape)
{
    int64_t count = attn_shape_count(shape);
    if (count < 0) {
        attn__tape_fail(t, ATTN_ESHAPE, "shape %s is invalid or too large", ATTN__TEXT(shape));
        return NULL;
    }
    attn_tensor *x = attn__tape_alloc(t, 1, sizeof *x);
    if (x != NULL) {
        *x = (attn_tensor){.shape = shape, .count = count, .dtype = dtype, .tape = t};
    }
    return x;
}

static attn_tensor *leaf(attn_tape *t, attn_dtype dtype, attn_shape shape, const void *data, bool needs_grad)
{
    if (t->error.status != ATTN_OK) {
        return NULL;
    }
    if (dtype != ATTN_F32 && dtype != ATTN_F64) {
        attn__tape_fail(t, ATTN_EDTYPE, "input: no such element type: %d", (int)dtype);
        return NULL;
    }
    attn_tensor *x = new_tensor(t, dtype, shape);
    if (x == NULL || (x->data = attn__tape_alloc(t, x->count, attn_dtype_size(dtype))) == NULL) {
        return NULL;
    }
    if (x->count > 0 && data != NULL) {
        memcpy(x->data, data, (size_t)x->count * attn_dtype_size(dtype));
    } else if (x->count > 0) {
        memset(x->data, 0, (size_t)x->count * attn_dtype_size(dtype));
    }
    x->needs_grad = needs_grad && t->recording;
    return x;
}

attn_tensor *attn_input(attn_tape *t, attn_dtype dtype, attn_shape shape, const void *data)
{
    return leaf(t, dtype, shape, data, false);
}

attn_tensor *attn_variable(attn_tape *t, attn_dtype dtype, attn_shape shape, const void *data)
{
    return leaf(t, dtype, shape, data, true);
}

attn_tensor *attn_param(attn_tape *t, attn_params *p, int id)
{
    if (t->error.status != ATTN_OK) {
        return NULL;
    }
    if (!attn__params_built(p) || id < 0 || id >= attn_params_count(p)) {
        attn__tape_fail(t, ATTN_EINVAL, "param: no parameter %d in a built set", id);
        return NULL;
    }
    attn_tensor *x = new_tensor(t, attn_params_dtype(p), attn_params_shape(p, id));
    if (x != NULL) {
        x->data = attn_params_value(p, id);
        x->grad = attn_params_grad(p, id);
        x->needs_grad = t->recording && x->grad != NULL && !attn_params_config(p, id).frozen;
        x->params = p;
        x->param = id;
    }
    return x;
}

/* Inputs must exist, be of this tape and of one dtype. */
static bool check_inputs(attn_tape *t, const attn__op *op, attn_tensor *const in[], int n_in)
{
    for (int i = 0; i < n_in; i++) {
        if (in[i] == NULL) {
            attn__tape_fail(t, ATTN_EINVAL, "%s: input %d is NULL", op->name, i);
            return false;
        }
        if (in[i]->tape != t) {
            attn__tape_fail(t, ATTN_EINVAL, "%s: input %d belongs to another tape", op->name, i);
            return false;
        }
        if (in[i]->dtype != in[0]->dtype) {
            attn__tape_fail(t, ATTN_EDTYPE, "%s: input 0 is %s, input %d is %s", op->name, attn_dtype_name(in[0]->dtype), i,
                            attn_dtype_name(in[i]->dtype));
            return false;
        }
    }
    return n_in > 0;
}

/* Calls one direction of a node with the memory that it works in. Where neither the result nor any input has
 * elements there is nothing to do, in however many rows. */
static bool run(attn__node *n, void (*direction)(attn__node *n), size_t scratch_size)
{
    bool empty = n->out->count == 0;
    for (int i = 0; i < n->n_in && empty; i++) {
        empty = n->in[i]->count == 0;
    }
    if (empty) {
        return true;
    }
    attn__mark mark = attn__arena_mark(&n->tape->arena);
    if (scratch_size > 0 && (n->scratch = attn__tape_alloc(n->tape, (int64_t)scratch_size, 1)) == NULL) {
        return false;
    }
    direction(n);
    attn__arena_rewind(&n->tape->arena, mark);
    n->scratch = NULL;
    return true;
}

attn_tensor *attn__record(attn_tape *t, const attn__op *op, attn_tensor *const in[], int n_in, const void *attributes, size_t size)
{
    if (t->error.status != ATTN_OK || !check_inputs(t, op, in, n_in)) {
        return NULL;
    }
    attn__node *n = attn__tape_alloc(t, 1, sizeof *n);
    attn_tensor *out = attn__tape_alloc(t, 1, sizeof *out);
    if (n == NULL || out == NULL) {
        return NULL;
    }
    bool ok = true;
    *out = (attn_tensor){.dtype = in[0]->dtype, .tape = t};
    *n = (attn__node){.op = op, .out = out, .n_in = n_in, .number = ++t->operations, .tape = t};
    n->in = (attn_tensor **)(uintptr_t)attn__tape_copy(t, in, n_in, sizeof *in, &ok);
    n->attributes = (void *)(uintptr_t)attn__tape_copy(t, attributes, 1, size, &ok);
    for (int i = 0; i < n_in; i++) {
        out->needs_grad = out->needs_grad || (t->recording && in[i]->needs_grad);
    }
    if (!ok || op->infer(n) != ATTN_OK) {
        return NULL;
    }
    out->count = attn_shape_count(out->shape);
    if (out->count < 0) {
        attn__op_fail(n, ATTN_ESHAPE, "result %s is too large", ATTN__TEXT(out->shape));
        return NULL;
    }
    if (out->data == NULL && (out->data = attn__tape_alloc(t, out->count, attn_dtype_size(out->dtype))) == NULL) {
        return NULL;
    }
    if (n->saved_size > 0 && (n->saved = attn__tape_alloc(t, (int64_t)n->saved_size, 1)) == NULL) {
        return NULL;
    }
    if (!run(n, op->forward, n->scratch_size)) {
        return NULL;
    }
    if (t->checking && attn__check_output(n) != ATTN_OK) {
        return NULL;
    }
    if (out->needs_grad) {
        n->previous = t->last;
        t->last = n;
    }
    return out;
}

/* Whether the node's operation clears the gradient of its input i itself, which is then no other input too. */
static bool clears(const attn__node *n, int i)
{
    bool alone = i == 0 && n->op->clears;
    for (int k = 1; k < n->n_in && alone; k++) {
        alone = n->in[k] != n->in[0];
    }
    return alone;
}

attn_status attn_backward_from(attn_tape *t, attn_tensor *y, const void *cotangent)
{
    if (t->error.status != ATTN_OK) {
        return t->error.status;
    }
    if (y == NULL || y->tape != t || !y->needs_grad) {
        return attn__tape_fail(t, ATTN_EINVAL, "backward: the tensor is %s",
                               y == NULL      ? "NULL"
                               : y->tape != t ? "on another tape"
                                              : "independent of every variable and parameter");
    }
    for (attn__node *n = t->last; n != NULL; n = n->previous) {
        n->out->reached = false; /* a second pass starts its intermediate gradients anew */
    }
    if (!attn__gradient_start(y, cotangent)) {
        return t->error.status;
    }
    if (t->checking && attn__check_start(t->last, y) != ATTN_OK) {
        return t->error.status;
    }
    for (attn__node *n = t->last; n != NULL; n = n->previous) {
        if (!n->out->reached) {
            continue;
        }
        for (int i = 0; i < n->n_in; i++) {
            attn_tensor *x = n->in[i];
            if (x->needs_grad && !attn__gradient_reach(x, clears(n, i))) {
                return t->error.status;
            }
            if (x->needs_grad && x->params != NULL && !n->op->sparse) {
                attn__params_touch_all(x->params, x->param);
            }
        }
        if (!run(n, n->op->backward, n->scratch_size_b)) {
            return t->error.status;
        }
        n->in[0]->stale = false;
        if (t->checking && attn__check_gradients(n) != ATTN_OK) {
            return t->error.status;
        }
    }
    return ATTN_OK;
}

attn_status attn_backward(attn_tape *t, attn_tensor *loss)
{
    const float one_f32 = 1;
    const double one_f64 = 1;
    if (t->error.status == ATTN_OK && loss != NULL && loss->count != 1) {
        return attn__tape_fail(t, ATTN_ESHAPE, "backward: the loss has shape %s, a scalar was expected", ATTN__TEXT(loss->shape));
    }
    return attn_backward_from(t, loss, attn_tensor_dtype(loss) == ATTN_F32 ? (const void *)&one_f32 : (const void *)&one_f64);
}

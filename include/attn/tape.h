/* The tape: builds a computation as it runs it, and runs it backwards for the gradients.
 *
 *     attn_tape *t = attn_tape_new(NULL);
 *     attn_tensor *x = attn_variable(t, ATTN_F64, ATTN_SHAPE(3), values);
 *     attn_tensor *y = attn_sum(t, attn_mul(t, x, x));            // an expression is written straight ...
 *     if (attn_backward(t, y) != ATTN_OK)                         // ... and checked once
 *         fprintf(stderr, "%s\n", attn_tape_message(t));
 *     attn_tensor_get_grad(x, 0);                                 // 2 x[0]
 *     attn_tape_free(t);
 *
 * The first error of a step stays on the tape, builders return NULL after it, and NULL inputs pass through, so nothing is
 * lost by checking late. One tape serves one thread at a time; different tapes may run at once. */
#ifndef ATTN_TAPE_H
#define ATTN_TAPE_H

#include "attn/params.h"
#include "attn/tensor.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct attn_tape attn_tape;

/** A new tape with default settings: recording, not training, seed 0, all threads. @return NULL if out of memory. */
ATTN_API attn_tape *attn_tape_new(const attn_allocator *allocator);

/** Frees the tape and every tensor on it; NULL is fine. */
ATTN_API void attn_tape_free(attn_tape *t);

/** Forgets every tensor and the error of this step. Keeps the memory: a second step of the same size allocates nothing. */
ATTN_API void attn_tape_reset(attn_tape *t);

/** Whether operations are recorded for a backward pass (default true). Off for inference: nothing needs a gradient then. */
ATTN_API void attn_tape_set_recording(attn_tape *t, bool recording);

/** Whether dropout is active (default false). */
ATTN_API void attn_tape_set_training(attn_tape *t, bool training);

/** Whether every number that operations compute is searched for NaN and infinity (default false). On it costs a reading of each output and
 * gradient, off nothing; a result never changes. The first find becomes the tape's error, ATTN_ENONFINITE, and is named in full:
 *     mul: operation 7, forward: output (2,3) is nan at (0,1); input 1, parameter 'w' (2,3) is nan at (0,1)
 *     mul: operation 7, backward: gradient of input 0 (2,3) is inf at (1,2)
 * Operations count from 1 in each step. Searched are outputs, after forward; gradients of all inputs, after backward; and before a pass the
 * gradient it starts from and those of parameters, to which it adds.
 *
 * NaN and +infinity are faults. So is -infinity, unless an input of the operation, other than a parameter, holds one too: that is how an
 * additive mask hides a key. An input is not searched by itself but named when an operation makes something of it, so what attn_mask hides
 * is no fault: masked operations write 0 there. reshape, concat and append compute nothing and may carry anything. */
ATTN_API void attn_tape_set_checking(attn_tape *t, bool checking);

/** Key of the random numbers that dropout draws on this tape: the same seed, step and order of operations give the same masks. */
ATTN_API void attn_tape_set_random(attn_tape *t, uint64_t seed, uint64_t step);

/** Threads that operations may use, 256 at most; 0 (the default) means attn_default_threads(). The number never changes a result by a
 * bit. A child of fork(2) whose parent has used threads works on one. */
ATTN_API void attn_tape_set_threads(attn_tape *t, int threads);

/** Threads used when none are asked for: as many as OMP_NUM_THREADS says, 256 at most; if it says nothing, as many as there are processors on
 * which this process may run, and no more than the quota of its control groups (Linux, both versions) allows, as in a container; 1 when the
 * library was built without OpenMP. Variable and quota are read once. */
ATTN_API int attn_default_threads(void);

/** Whether the library was built with OpenMP. */
ATTN_API bool attn_has_threads(void);

/** The instruction set chosen at run time: "baseline", "x86-64-v3" or "x86-64-v4". The environment variable ATTN_ISA
 * (baseline, v3, v4) overrides the choice when the machine has it. */
ATTN_API const char *attn_isa(void);

/** Does nothing but multiply-adds, in the registers of `threads` threads at once (as attn_tape_set_threads) and with the vectors of that
 * instruction set, `rounds` rounds in each. Timed, it gives the peak speed of the arithmetic, which that of real work is a part of.
 * @return the floating-point operations done, two a multiply-add */
ATTN_API double attn_fma_rounds(attn_dtype dtype, int64_t rounds, int threads);

/** First error since the last reset, and its message ("" when there is none). */
ATTN_API attn_status attn_tape_status(const attn_tape *t);
ATTN_API const char *attn_tape_message(const attn_tape *t);

/** Bytes that the tape holds, and the most of them that the current step has had in use at one time. */
ATTN_API size_t attn_tape_capacity(const attn_tape *t);
ATTN_API size_t attn_tape_used(const attn_tape *t);

/** A constant tensor with a copy of `data` (NULL: zeros). @return NULL on error (ATTN_ESHAPE, ATTN_ENOMEM). */
ATTN_API attn_tensor *attn_input(attn_tape *t, attn_dtype dtype, attn_shape shape, const void *data);

/** As attn_input, and a backward pass leaves its gradient in it. */
ATTN_API attn_tensor *attn_variable(attn_tape *t, attn_dtype dtype, attn_shape shape, const void *data);

/** Parameter `id` as a tensor: it shares the values, and a backward pass adds to the gradients of the flat block. */
ATTN_API attn_tensor *attn_param(attn_tape *t, attn_params *p, int id);

/** Gradients of a scalar (one element): backward from cotangent 1.
 * Gradients of variables and parameters are added to; those of intermediate tensors are made anew, so a second pass over the
 * same tape is right too.
 * @return the tape's first error, ATTN_ESHAPE if `loss` has not exactly one element, ATTN_ENOMEM. */
ATTN_API ATTN_NODISCARD attn_status attn_backward(attn_tape *t, attn_tensor *loss);

/** Backward from any tensor: `cotangent` has the shape and dtype of `y` and is the gradient of the final scalar by y. */
ATTN_API ATTN_NODISCARD attn_status attn_backward_from(attn_tape *t, attn_tensor *y, const void *cotangent);

#ifdef __cplusplus
}
#endif
#endif

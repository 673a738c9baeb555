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

/** What a step computes, and the memory for it. */
typedef struct attn_tape attn_tape;

/** A new tape with default settings: recording, not training, seed 0, all threads.
 * @return to be freed with attn_tape_free; NULL if out of memory */
ATTN_API attn_tape *attn_tape_new(const attn_allocator *allocator);

/** Frees the tape and every tensor on it; NULL is fine. */
ATTN_API void attn_tape_free(attn_tape *t);

/** Forgets every tensor and the error of this step. Keeps the memory: a second step of the same size allocates nothing. */
ATTN_API void attn_tape_reset(attn_tape *t);

/** Says whether operations are recorded for a backward pass. @param recording [true]; false for inference: nothing needs a gradient then */
ATTN_API void attn_tape_set_recording(attn_tape *t, bool recording);

/** Says whether dropout is active. @param training [false] */
ATTN_API void attn_tape_set_training(attn_tape *t, bool training);

/** Says whether every number that operations compute is searched for NaN and infinity. A result never changes. The first find becomes the
 * tape's error, ATTN_ENONFINITE, and is named in full: mul: operation 7, forward: output (2,3) is nan at (0,1); input 1, parameter 'w'
 * (2,3) is nan at (0,1) mul: operation 7, backward: gradient of input 0 (2,3) is inf at (1,2) Operations count from 1 in each step.
 * Searched are outputs, after forward; gradients of all inputs, after backward; and before a pass the gradient it starts from and those of
 * parameters, to which it adds.
 *
 * NaN and +infinity are faults. So is -infinity, unless an input of the operation, other than a parameter, holds one too: that is how an
 * additive mask hides a key. An input is not searched by itself but named when an operation makes something of it, so what attn_mask hides
 * is no fault: masked operations write 0 there. reshape, slice, concat and append compute nothing and may carry
 * anything.
 * @param checking [false]   @cost a reading of each output and gradient; off, nothing */
ATTN_API void attn_tape_set_checking(attn_tape *t, bool checking);

/** Chooses the random numbers of dropout: the same seed, step and order of operations give the same masks.
 * @param step number of the training step, a part of the key */
ATTN_API void attn_tape_set_random(attn_tape *t, uint64_t seed, uint64_t step);

/** Sets how many threads operations may use. The number never changes a result by a bit. A child of fork(2) whose parent has used threads
 * works on one. @param threads 256 at most [0: attn_default_threads()] */
ATTN_API void attn_tape_set_threads(attn_tape *t, int threads);

/** @return threads used when none are asked for: as many as OMP_NUM_THREADS says, 256 at most; if it says nothing, as many as there were
 *          processors on which this process might run when it began, and no more than the quota of its control groups (Linux, both
 *          versions) allows, as in a container; 1 when the library was built without OpenMP. Variable, processors and quota are read once
 */
ATTN_API int attn_default_threads(void);

ATTN_API bool attn_has_threads(void); /* whether the library was built with OpenMP */

/** @return the instruction set chosen at run time: "baseline", "x86-64-v3" or "x86-64-v4". The environment variable ATTN_ISA (baseline, v3,
 *          v4) overrides the choice when the machine has it */
ATTN_API const char *attn_isa(void);

/** Does nothing but multiply-adds, in registers, with the vectors of that instruction set. Timed, it gives the peak speed of the
 * arithmetic, which that of real work is a part of.
 * @param rounds in each thread   @param threads at once, as in attn_tape_set_threads
 * @return the floating-point operations done, two a multiply-add */
ATTN_API double attn_fma_rounds(attn_dtype dtype, int64_t rounds, int threads);

/** @return ATTN_OK, or the first error since the last reset   @errors those of what was built */
ATTN_API attn_status attn_tape_status(const attn_tape *t);
ATTN_API const char *attn_tape_message(const attn_tape *t); /* the message of that error, "" when there is none; until the next reset */

ATTN_API size_t attn_tape_capacity(const attn_tape *t); /* bytes that the tape holds */
ATTN_API size_t attn_tape_used(const attn_tape *t);     /* the most of them that the current step has had in use at one time */

/** A constant tensor. @param shape any   @param data its elements, row-major (copied); NULL: zeros
 * @errors ATTN_ESHAPE, ATTN_EDTYPE (no such type), ATTN_ENOMEM */
ATTN_API attn_tensor *attn_input(attn_tape *t, attn_dtype dtype, attn_shape shape, const void *data);

/** A tensor in which a backward pass leaves a gradient. @param shape any   @param data as in attn_input
 * @errors as attn_input */
ATTN_API attn_tensor *attn_variable(attn_tape *t, attn_dtype dtype, attn_shape shape, const void *data);

/** A parameter as a tensor: it shares the values, and a backward pass adds to the gradients of the flat block.
 * @errors ATTN_EINVAL (no such parameter, set not built), ATTN_ENOMEM */
ATTN_API attn_tensor *attn_param(attn_tape *t, attn_params *p, int id);

/** Gradients of a scalar by everything that it was made of. Those of variables and parameters are added to; those of intermediate tensors
 * are made anew, so a second pass over the same tape is right too.
 * @param loss has one element   @errors the tape's first; ATTN_ESHAPE (not one element), ATTN_EINVAL (NULL, or no variable and no parameter
 * in it), ATTN_ENOMEM, ATTN_ENONFINITE (attn_tape_set_checking)
 * @cost about twice that of computing it */
ATTN_API ATTN_NODISCARD attn_status attn_backward(attn_tape *t, attn_tensor *loss);

/** The same from any tensor. @param y where to begin   @param cotangent gradient of the final scalar by y, of its shape and dtype
 * @errors the tape's first; ATTN_EINVAL, ATTN_ENOMEM, ATTN_ENONFINITE as in attn_backward */
ATTN_API ATTN_NODISCARD attn_status attn_backward_from(attn_tape *t, attn_tensor *y, const void *cotangent);

#ifdef __cplusplus
}
#endif
#endif

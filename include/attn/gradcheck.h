/* Numeric gradient checking: are the gradients that a backward pass computes those of the function that the forward pass computes?
 *
 * The function's output is multiplied by a fixed random cotangent c and summed; every coordinate x of every input is then moved:
 *     numeric = (f(x + h) - f(x - h)) / 2h,   h = step max(1, |x|),   in float64
 * and compared, with its sign:  |analytic - numeric| <= atol + rtol max(|analytic|, |numeric|). A coordinate that fails is measured
 * once more with h / 8, because of kinks nearby. */
#ifndef ATTN_GRADCHECK_H
#define ATTN_GRADCHECK_H

#include "attn/tape.h"

#ifdef __cplusplus
extern "C" {
#endif

/** A function under test: builds a graph from the inputs on the tape and returns its output (any shape). Must be deterministic. */
typedef attn_tensor *(*attn_graph_fn)(attn_tape *t, attn_tensor *const inputs[], int n, void *ctx);

/** One input: float64 values of the caller's, never changed. */
typedef struct attn_gradcheck_input {
    const char *name;     /* for the report; NULL: "input 0" ... */
    attn_shape shape;     /* any */
    const double *values; /* row-major */
} attn_gradcheck_input;

#define ATTN_GRADCHECK_MAX_INPUTS 8 /**< most inputs of a function under test */

/** Zero means the default in brackets. */
typedef struct attn_gradcheck_config {
    double step;                     /* h of the difference, for |x| up to 1 [6e-6] */
    double rtol;                     /* relative tolerance [1e-6] */
    double atol;                     /* absolute tolerance [1e-8] */
    uint64_t seed;                   /* of the random cotangent */
    const attn_allocator *allocator; /* [malloc and free] */
} attn_gradcheck_config;

/** One coordinate. */
typedef struct attn_gradcheck_point {
    char tensor[48];              /* name of the input or parameter */
    int rank;                     /* of the tensor */
    int64_t index[ATTN_MAX_DIMS]; /* in it */
    double analytic, numeric;     /* gradient of the backward pass, and the difference */
    double rel_error;             /* |a - n| / max(|a|, |n|, atol / rtol) */
} attn_gradcheck_point;

/** What a check found. */
typedef struct attn_gradcheck_report {
    int64_t runs;                    /* needs-gradient patterns and repeated-input patterns tried */
    int64_t elements;                /* coordinates compared, over all runs */
    int64_t failed;                  /* of them: wrong */
    int64_t skipped;                 /* of them: not differentiable here (slopes to the left and to the right differ) */
    double max_rel_error;            /* largest of all coordinates */
    attn_gradcheck_point worst;      /* the coordinate with the largest error; the first failure if there is one */
    char verdict[ATTN_MESSAGE_SIZE]; /* one line: "ok", or what is wrong, with tensor, index, analytic and numeric value */
} attn_gradcheck_report;

/** Checks any function that builds a graph: all 2^n - 1 patterns of "needs a gradient"; every two inputs of equal shape passed
 * as the same tensor; gradients that start at a constant instead of 0 (so that = for += shows); outputs and gradients finite first.
 * A check of no coordinate, or in which nearly all numeric gradients are 0, proves nothing and is refused.
 * @param fn the function under test   @param inputs where it is checked   @param n their number   @param config NULL: all defaults
 * @param report filled in all cases; kinks are counted as skipped
 * @errors ATTN_EMISMATCH (a gradient is wrong), ATTN_ENONFINITE, ATTN_EINVAL (a vacuous check, too many inputs), ATTN_ENOMEM, or the error
 * of the function under test
 * @cost two forward passes a coordinate and pattern   @threads any number of checks at once */
ATTN_API ATTN_NODISCARD attn_status attn_gradcheck(attn_graph_fn fn, void *ctx, const attn_gradcheck_input inputs[], int n,
                                                   const attn_gradcheck_config *config, attn_gradcheck_report *report);

/** Checks the gradients of a float64 parameter set. Elements are moved and put back; of a sparse table only in rows that the function looks
 * up; of a frozen parameter none. Gradients of the set are 0 afterwards. A parameter that the function does not use has gradient 0.
 * @param fn builds a tensor from the parameters; its inputs are empty   @param most about so many elements of each parameter at most,
 * evenly spaced [0: all]   @param config NULL: all defaults   @param report filled in all cases   @errors as attn_gradcheck; ATTN_EDTYPE
 * (another set, or not built)
 * @cost two forward passes a coordinate */
ATTN_API ATTN_NODISCARD attn_status attn_gradcheck_params(attn_graph_fn fn, void *ctx, attn_params *p, int64_t most,
                                                          const attn_gradcheck_config *config, attn_gradcheck_report *report);

/** Runs the built-in cases of an operation: shapes, attribute values, broadcasting, masks.
 * @param op its number (attn_op_name)   @param config NULL: all defaults   @param cases receives their number
 * @param report over all cases together   @errors as attn_gradcheck; ATTN_EINVAL (no such operation) */
ATTN_API ATTN_NODISCARD attn_status attn_gradcheck_op(int op, const attn_gradcheck_config *config, int *cases,
                                                      attn_gradcheck_report *report);

#ifdef __cplusplus
}
#endif
#endif

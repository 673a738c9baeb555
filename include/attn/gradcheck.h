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
    const char *name; /* for the report; NULL: "input 0" ... */
    attn_shape shape;
    const double *values;
} attn_gradcheck_input;

#define ATTN_GRADCHECK_MAX_INPUTS 8

typedef struct attn_gradcheck_config {
    double step;   /* [6e-6] */
    double rtol;   /* [1e-6] */
    double atol;   /* [1e-8] */
    uint64_t seed; /* of the random cotangent */
    const attn_allocator *allocator;
} attn_gradcheck_config;

/** One coordinate. */
typedef struct attn_gradcheck_point {
    char tensor[48];
    int rank;
    int64_t index[ATTN_MAX_DIMS];
    double analytic, numeric;
    double rel_error; /* |a - n| / max(|a|, |n|, atol / rtol) */
} attn_gradcheck_point;

typedef struct attn_gradcheck_report {
    int64_t runs;     /* needs-gradient patterns and repeated-input patterns tried */
    int64_t elements; /* coordinates compared, over all runs */
    int64_t failed;   /* of them: wrong */
    int64_t skipped;  /* of them: not differentiable here (slopes to the left and to the right differ) */
    double max_rel_error;
    attn_gradcheck_point worst;      /* the coordinate with the largest error; the first failure if there is one */
    char verdict[ATTN_MESSAGE_SIZE]; /* one line: "ok", or what is wrong, with tensor, index, analytic and numeric value */
} attn_gradcheck_report;

/** Checks any function that builds a graph: all 2^n - 1 patterns of "needs a gradient"; every two inputs of equal shape passed
 * as the same tensor; gradients that start at a constant instead of 0 (so that = for += shows); outputs and gradients finite first.
 * A check in which nearly all numeric gradients are 0 proves nothing and is refused.
 * @return ATTN_OK if all is right (kinks are reported as skipped), ATTN_EMISMATCH if a gradient is wrong, ATTN_ENONFINITE,
 *         ATTN_EINVAL for a vacuous check or too many inputs, or the error of the function under test; `report` is filled in all cases
 * @cost two forward passes a coordinate and pattern   @threads any number of checks at once */
ATTN_API ATTN_NODISCARD attn_status attn_gradcheck(attn_graph_fn fn, void *ctx, const attn_gradcheck_input inputs[], int n,
                                                   const attn_gradcheck_config *config, attn_gradcheck_report *report);

/** Checks the gradients of a float64 parameter set: `fn` (its inputs are empty) builds a tensor from the parameters. Of each parameter
 * at most about `most` elements (0: all), evenly spaced, are moved and put back; of a sparse table only in rows that the function looks
 * up; of a frozen parameter none. Gradients of the set are 0 afterwards. Rules as above; a parameter that the function does not use is
 * legal and has gradient 0. */
ATTN_API ATTN_NODISCARD attn_status attn_gradcheck_params(attn_graph_fn fn, void *ctx, attn_params *p, int64_t most,
                                                          const attn_gradcheck_config *config, attn_gradcheck_report *report);

/** Runs the built-in cases of operation number `op` (attn_op_name): shapes, attribute values, broadcasting, masks.
 * `cases` receives their number. Status and report as above, over all cases together. */
ATTN_API ATTN_NODISCARD attn_status attn_gradcheck_op(int op, const attn_gradcheck_config *config, int *cases,
                                                      attn_gradcheck_report *report);

#ifdef __cplusplus
}
#endif
#endif

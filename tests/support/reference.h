/* The configurations of attention that PyTorch has computed (tests/reference/attention), and the library's run of each. */
#ifndef ATTN_TEST_REFERENCE_H
#define ATTN_TEST_REFERENCE_H

#include <jansson.h>

#include "attn/attention.h"
#include "attn/matrix.h"
#include "support/tensors.h"

typedef struct reference {
    json_t *index, *configurations;
    attn_matrix numbers; /* all results, one after the other */
} reference;

void reference_open(reference *r);
void reference_close(reference *r);

/* One configuration on a tape of its own, forward and backward from its cotangent. */
typedef struct reference_run {
    const json_t *c; /* the configuration */
    attn_dtype dtype;
    attn_tape *tape;
    attn_params *params; /* of the layer, or NULL */
    attn_mask mask;
    attn_attend_input in; /* all inputs, also the layer's */
    attn_attend_output out;
} reference_run;

void reference_run_open(reference_run *run, const json_t *configuration, attn_dtype dtype);
void reference_run_close(reference_run *run);

/* A result by its name in the index: "output", "weights", ..., or "d NAME", the gradient of an input or parameter. Its numbers in memory of
 * malloc's. */
double *reference_result(const reference_run *run, const char *name, attn_shape *shape);

/* Members of a configuration. */
int64_t reference_number(const json_t *c, const char *name);
bool reference_true(const json_t *c, const char *name);
attn_shape reference_shape(const json_t *dimensions);

#endif

/* One scalar that depends on every operation of the library, over a set of parameters: a small model of the kind that people train. */
#ifndef ATTN_TEST_EVERY_OP_H
#define ATTN_TEST_EVERY_OP_H

#include "attn/ops.h"
#include "attn/params.h"

/* Operations that every_op_loss uses. A test asserts that there are no others. */
#define EVERY_OP_COUNT 28

typedef struct every_op {
    int64_t batch, time, width; /* of the sentences; width is a multiple of 2 */
    attn_params *params;
    int32_t *ids, *lengths, *index, *targets;
    uint8_t *candidates;
} every_op;

/* Builds the parameters. ATTN_ENOMEM if the allocator fails; every_op_free is right in any case. */
attn_status every_op_new(every_op *e, attn_dtype dtype, int64_t batch, int64_t time, int64_t width, const attn_allocator *allocator);
void every_op_free(every_op *e);

attn_tensor *every_op_loss(const every_op *e, attn_tape *t);

#endif

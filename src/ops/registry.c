#include "ops/op.h"

static const attn__op *const ops[] = {
#define ATTN__OP(name) &attn__op_##name,
#include "ops/ops.def"
#undef ATTN__OP
};

int attn_op_count(void)
{
    return (int)(sizeof ops / sizeof ops[0]);
}

const attn__op *attn__op_get(int op)
{
    return op >= 0 && op < attn_op_count() ? ops[op] : NULL;
}

const char *attn_op_name(int op)
{
    const attn__op *o = attn__op_get(op);
    return o != NULL ? o->name : NULL;
}

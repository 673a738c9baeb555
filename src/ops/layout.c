/* reshape, slice, concat and append: the same numbers in another arrangement. */
#include <string.h>

#include "ops/op.h"

/* ---- reshape ---- */

static attn_status reshape_infer(attn__node *n)
{
    attn_shape shape = *(attn_shape *)n->attributes;
    if (attn_shape_count(shape) != n->in[0]->count) {
        return attn__op_fail(n, ATTN_ESHAPE, "%s does not have the elements of %s", ATTN__TEXT(shape), ATTN__TEXT(n->in[0]->shape));
    }
    n->out->shape = shape;
    n->out->data = n->in[0]->data;
    return ATTN_OK;
}

static void reshape_forward(attn__node *n)
{
    (void)n;
}

attn_tensor *attn_reshape(attn_tape *t, attn_tensor *x, attn_shape shape)
{
    return attn__record(t, &attn__op_reshape, &x, 1, &shape, sizeof shape);
}

static attn_tensor *build_reshape(attn_tape *t, attn_tensor *const in[])
{
    return attn_reshape(t, in[0], ATTN_SHAPE(4, 3));
}

static const attn__case reshape_cases[] = {
    {"(2,3,2) to (4,3)", 1, {{3, {2, 3, 2}}}, -2, 2, build_reshape},
};

const attn__op attn__op_reshape = {.name = "reshape",
                                   .arity = 1,
                                   .clears = true,
                                   .moves = true,
                                   .infer = reshape_infer,
                                   .forward = reshape_forward,
                                   .backward = attn__pass_gradient,
                                   ATTN__CASES(reshape_cases)};

/* ---- slice ---- */

typedef struct slice {
    int dim;
    int64_t begin, count;
    int64_t blocks;           /* of contiguous elements */
    int64_t whole, at, piece; /* elements of such a block of the input, of these before the slice, and in it */
} slice;

static attn_status slice_infer(attn__node *n)
{
    slice *s = n->attributes;
    attn_shape x = n->in[0]->shape;
    if (s->dim < 0 || s->dim >= x.rank) {
        return attn__op_fail(n, ATTN_EINVAL, "%s has no dimension %d", ATTN__TEXT(x), s->dim);
    }
    int64_t extent = x.dim[s->dim];
    if (s->begin < 0 || s->begin > extent || s->count < 0 || s->count > extent - s->begin) {
        return attn__op_fail(n, ATTN_ERANGE, "%lld from %lld on are not in dimension %d of %s", (long long)s->count, (long long)s->begin,
                             s->dim, ATTN__TEXT(x));
    }
    n->out->shape = x;
    n->out->shape.dim[s->dim] = s->count;
    int64_t before = 1, behind = 1; /* products of the dimensions before this one and behind it */
    for (int d = 0; d < x.rank; d++) {
        before *= d < s->dim ? x.dim[d] : 1;
        behind *= d > s->dim ? x.dim[d] : 1;
    }
    s->whole = extent * behind;
    s->at = s->begin * behind;
    s->piece = s->count * behind;
    s->blocks = s->piece > 0 ? before : 0;
    return ATTN_OK;
}

static void slice_forward(attn__node *n)
{
    const slice *s = n->attributes;
    for (int64_t b = 0; b < s->blocks; b++) {
        memcpy(attn__at(n, n->out->data, b * s->piece), attn__at(n, n->in[0]->data, b * s->whole + s->at),
               (size_t)s->piece * attn_dtype_size(n->out->dtype));
    }
}

static void slice_backward(attn__node *n)
{
    const slice *s = n->attributes;
    for (int64_t b = 0; b < s->blocks; b++) {
        ATTN__K(n)->axpy(s->piece, 1, attn__at(n, n->out->grad, b * s->piece), attn__at(n, n->in[0]->grad, b * s->whole + s->at));
    }
}

attn_tensor *attn_slice(attn_tape *t, attn_tensor *x, int dim, int64_t begin, int64_t count)
{
    attn_shape shape = attn_tensor_shape(x);
    if (attn__may_return(t, x) && dim >= 0 && dim < shape.rank && begin == 0 && count == shape.dim[dim]) {
        return x;
    }
    return attn__record(t, &attn__op_slice, &x, 1, &(slice){.dim = dim, .begin = begin, .count = count}, sizeof(slice));
}

static attn_tensor *build_slice_first(attn_tape *t, attn_tensor *const in[])
{
    return attn_slice(t, in[0], 0, 1, 2);
}

static attn_tensor *build_slice_middle(attn_tape *t, attn_tensor *const in[])
{
    return attn_slice(t, in[0], 2, 1, 2);
}

static attn_tensor *build_slice_last(attn_tape *t, attn_tensor *const in[])
{
    return attn_slice(t, in[0], 1, 0, 3);
}

static attn_tensor *build_slices(attn_tape *t, attn_tensor *const in[])
{
    return attn_concat(t, (attn_tensor *const[]){attn_slice(t, in[0], 1, 0, 3), attn_slice(t, in[0], 1, 1, 3)}, 2);
}

static const attn__case slice_cases[] = {
    {"of the first dimension", 1, {{2, {4, 3}}}, -2, 2, build_slice_first},
    {"of a middle dimension", 1, {{4, {2, 2, 3, 2}}}, -2, 2, build_slice_middle},
    {"of the last dimension", 1, {{2, {3, 5}}}, -2, 2, build_slice_last},
    {"two that overlap", 1, {{3, {2, 4, 2}}}, -2, 2, build_slices},
};

const attn__op attn__op_slice = {.name = "slice",
                                 .arity = 1,
                                 .moves = true,
                                 .infer = slice_infer,
                                 .forward = slice_forward,
                                 .backward = slice_backward,
                                 ATTN__CASES(slice_cases)};

/* ---- concat ---- */

static attn_status concat_infer(attn__node *n)
{
    attn_shape shape = n->in[0]->shape;
    if (shape.rank == 0) {
        return attn__op_fail(n, ATTN_ESHAPE, "a scalar has no last dimension to join along");
    }
    for (int i = 1; i < n->n_in; i++) {
        attn_shape other = n->in[i]->shape, leading = other;
        int last = shape.rank - 1;
        leading.dim[last] = shape.dim[last];
        if (other.rank != shape.rank || !attn_shape_equal(leading, shape)) {
            return attn__op_fail(n, ATTN_ESHAPE, "inputs 0 and %d, %s and %s, differ before the last dimension", i,
                                 ATTN__TEXT(n->in[0]->shape), ATTN__TEXT(other));
        }
        if (other.dim[last] > INT64_MAX - shape.dim[last]) {
            return attn__op_fail(n, ATTN_ESHAPE, "result is too large");
        }
        shape.dim[last] += other.dim[last];
    }
    n->out->shape = shape;
    return ATTN_OK;
}

static int64_t width(const attn_tensor *x)
{
    return x->shape.dim[x->shape.rank - 1];
}

static int64_t rows(const attn_tensor *x)
{
    return width(x) > 0 ? x->count / width(x) : 0;
}

static void concat_forward(attn__node *n)
{
    int64_t at = 0, total = width(n->out);
    for (int i = 0; i < n->n_in; i++) {
        int64_t w = width(n->in[i]);
        for (int64_t r = 0; r < rows(n->in[i]); r++) {
            memcpy(attn__at(n, n->out->data, r * total + at), attn__at(n, n->in[i]->data, r * w),
                   (size_t)w * attn_dtype_size(n->out->dtype));
        }
        at += w;
    }
}

/* Inputs without gradient still take up their columns. */
static void concat_backward(attn__node *n)
{
    int64_t at = 0, total = width(n->out);
    for (int i = 0; i < n->n_in; i++) {
        int64_t w = width(n->in[i]);
        for (int64_t r = 0; n->in[i]->needs_grad && r < rows(n->in[i]); r++) {
            ATTN__K(n)->axpy(w, 1, attn__at(n, n->out->grad, r * total + at), attn__at(n, n->in[i]->grad, r * w));
        }
        at += w;
    }
}

attn_tensor *attn_concat(attn_tape *t, attn_tensor *const x[], int n)
{
    if (n < 1) {
        attn__tape_fail(t, ATTN_EINVAL, "concat: %d inputs, at least 1 was expected", n);
        return NULL;
    }
    return attn__record(t, &attn__op_concat, x, n, NULL, 0);
}

static attn_tensor *build_concat(attn_tape *t, attn_tensor *const in[])
{
    return attn_concat(t, in, 3);
}

static attn_tensor *build_concat_two(attn_tape *t, attn_tensor *const in[])
{
    return attn_concat(t, in, 2);
}

static const attn__case concat_cases[] = {
    {"three widths", 3, {{3, {2, 3, 2}}, {3, {2, 3, 1}}, {3, {2, 3, 4}}}, -2, 2, build_concat},
    {"equal", 2, {{2, {3, 2}}, {2, {3, 2}}}, -2, 2, build_concat_two},
};

const attn__op attn__op_concat = {.name = "concat",
                                  .arity = -1,
                                  .moves = true,
                                  .infer = concat_infer,
                                  .forward = concat_forward,
                                  .backward = concat_backward,
                                  ATTN__CASES(concat_cases)};

/* ---- append ---- */

static attn_status append_infer(attn__node *n)
{
    attn_shape a = n->in[0]->shape, b = n->in[1]->shape;
    if (a.rank != 3 || b.rank != 3 || a.dim[0] != b.dim[0] || a.dim[2] != b.dim[2] || a.dim[1] > INT64_MAX - b.dim[1]) {
        return attn__op_fail(n, ATTN_ESHAPE, "%s and %s: expected (B,P,D) and (B,T,D)", ATTN__TEXT(a), ATTN__TEXT(b));
    }
    n->out->shape = ATTN_SHAPE(a.dim[0], a.dim[1] + b.dim[1], a.dim[2]);
    return ATTN_OK;
}

/* Batch entry b of the result is that of the first input, then that of the second. */
static void append_forward(attn__node *n)
{
    attn_shape y = n->out->shape;
    int64_t past = n->in[0]->shape.dim[1] * y.dim[2], all = y.dim[1] * y.dim[2];
    size_t size = attn_dtype_size(n->out->dtype);
    for (int64_t b = 0; b < y.dim[0]; b++) {
        memcpy(attn__at(n, n->out->data, b * all), attn__at(n, n->in[0]->data, b * past), (size_t)past * size);
        memcpy(attn__at(n, n->out->data, b * all + past), attn__at(n, n->in[1]->data, b * (all - past)), (size_t)(all - past) * size);
    }
}

static void append_backward(attn__node *n)
{
    attn_shape y = n->out->shape;
    int64_t past = n->in[0]->shape.dim[1] * y.dim[2], all = y.dim[1] * y.dim[2];
    for (int64_t b = 0; b < y.dim[0]; b++) {
        if (n->in[0]->needs_grad) {
            ATTN__K(n)->axpy(past, 1, attn__at(n, n->out->grad, b * all), attn__at(n, n->in[0]->grad, b * past));
        }
        if (n->in[1]->needs_grad) {
            ATTN__K(n)->axpy(all - past, 1, attn__at(n, n->out->grad, b * all + past), attn__at(n, n->in[1]->grad, b * (all - past)));
        }
    }
}

attn_tensor *attn_append(attn_tape *t, attn_tensor *past, attn_tensor *x)
{
    return attn__record(t, &attn__op_append, (attn_tensor *const[]){past, x}, 2, NULL, 0);
}

static attn_tensor *build_append(attn_tape *t, attn_tensor *const in[])
{
    return attn_append(t, in[0], in[1]);
}

static const attn__case append_cases[] = {
    {"2 + 3", 2, {{3, {2, 2, 4}}, {3, {2, 3, 4}}}, -2, 2, build_append},
    {"equal", 2, {{3, {2, 2, 3}}, {3, {2, 2, 3}}}, -2, 2, build_append},
};

const attn__op attn__op_append = {.name = "append",
                                  .arity = 2,
                                  .moves = true,
                                  .infer = append_infer,
                                  .forward = append_forward,
                                  .backward = append_backward,
                                  ATTN__CASES(append_cases)};

/* add, sub, mul, scale. */
#include "ops/op.h"

/* ---- add: b is repeated over a ---- */

/* b has rank at most that of a; its dimensions, from the last, are a's or 1. */
static attn_status add_infer(attn__node *n)
{
    attn_shape a = n->in[0]->shape, b = n->in[1]->shape;
    bool fits = b.rank <= a.rank;
    for (int i = 1; fits && i <= b.rank; i++) {
        fits = b.dim[b.rank - i] == a.dim[a.rank - i] || b.dim[b.rank - i] == 1;
    }
    if (!fits) {
        return attn__op_fail(n, ATTN_ESHAPE, "shapes %s and %s: the second cannot be repeated over the first", ATTN__TEXT(a),
                             ATTN__TEXT(b));
    }
    n->out->shape = a;
    return ATTN_OK;
}

/* How b is repeated: the last dimensions, in which it is as long as a, make runs; steps[d] elements of b go by where dimension d of a
 * (before the run) goes by one. */
typedef struct repetition {
    int outer;
    int64_t run, dim[ATTN_MAX_DIMS], steps[ATTN_MAX_DIMS];
} repetition;

static repetition repetition_of(attn_shape a, attn_shape b)
{
    repetition r = {.outer = a.rank, .run = 1};
    int missing = a.rank - b.rank;
    while (r.outer > missing && b.dim[r.outer - 1 - missing] == a.dim[r.outer - 1]) {
        r.run *= a.dim[--r.outer];
    }
    int64_t step = r.run;
    for (int d = r.outer - 1; d >= 0; d--) {
        int64_t extent = d >= missing ? b.dim[d - missing] : 1;
        r.dim[d] = a.dim[d];
        r.steps[d] = extent == 1 ? 0 : step;
        step *= extent;
    }
    return r;
}

/* Where run number `i` of a finds its numbers in b. */
static int64_t place_in_b(const repetition *r, int64_t i)
{
    int64_t at = 0;
    for (int d = r->outer - 1; d >= 0; d--) {
        at += i % r->dim[d] * r->steps[d];
        i /= r->dim[d];
    }
    return at;
}

static int64_t smaller(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static void add_tile(void *ctx, int64_t tile)
{
    attn__node *n = ctx;
    repetition r = repetition_of(n->out->shape, n->in[1]->shape);
    attn__span s = attn__elements(n, tile);
    for (int64_t i = s.begin, m; i < s.end; i += m) {
        m = smaller(r.run - i % r.run, s.end - i);
        ATTN__K(n)->add(m, attn__at(n, n->in[0]->data, i), attn__at(n, n->in[1]->data, place_in_b(&r, i / r.run) + i % r.run),
                        attn__at(n, n->out->data, i));
    }
}

static void add_forward(attn__node *n)
{
    attn__each_tile(n, 1, add_tile);
}

/* What is added up for one element of b comes in the order of a: a tile owns some columns of the runs. */
static void sum_tile(void *ctx, int64_t tile)
{
    attn__node *n = ctx;
    repetition r = repetition_of(n->out->shape, n->in[1]->shape);
    attn__span s = attn__columns(n, r.run, tile);
    for (int64_t i = 0; i < n->out->count / r.run; i++) {
        ATTN__K(n)->axpy(s.end - s.begin, 1, attn__at(n, n->out->grad, i * r.run + s.begin),
                         attn__at(n, n->in[1]->grad, place_in_b(&r, i) + s.begin));
    }
}

static void add_backward(attn__node *n)
{
    int64_t run = repetition_of(n->out->shape, n->in[1]->shape).run;
    if (n->in[0]->needs_grad) {
        attn__pass_gradient(n);
    }
    if (n->in[1]->needs_grad && run > 0) {
        const int64_t runs = n->out->count / run;
        attn__each_column(n, run, (double)runs, sum_tile);
    }
}

attn_tensor *attn_add(attn_tape *t, attn_tensor *a, attn_tensor *b)
{
    return attn__record(t, &attn__op_add, (attn_tensor *const[]){a, b}, 2, NULL, 0);
}

static attn_tensor *build_add(attn_tape *t, attn_tensor *const in[])
{
    return attn_add(t, in[0], in[1]);
}

static const attn__case add_cases[] = {
    {"same shape", 2, {{2, {3, 4}}, {2, {3, 4}}}, -2, 2, build_add},
    {"row", 2, {{3, {2, 3, 5}}, {1, {5}}}, -2, 2, build_add},
    {"block", 2, {{3, {2, 3, 4}}, {2, {3, 4}}}, -2, 2, build_add},
    {"scalar", 2, {{1, {7}}, {0, {0}}}, -2, 2, build_add},
    {"per batch", 2, {{4, {2, 3, 2, 2}}, {4, {2, 1, 2, 2}}}, -2, 2, build_add},
    {"per head and key", 2, {{4, {2, 3, 2, 4}}, {3, {3, 1, 4}}}, -2, 2, build_add},
};

const attn__op attn__op_add = {.name = "add",
                               .arity = 2,
                               .clears = true,
                               .infer = add_infer,
                               .forward = add_forward,
                               .backward = add_backward,
                               ATTN__CASES(add_cases)};

/* ---- sub, mul: the same shape twice ---- */

static attn_status infer_equal(attn__node *n)
{
    if (!attn_shape_equal(n->in[0]->shape, n->in[1]->shape)) {
        return attn__op_fail(n, ATTN_ESHAPE, "shapes %s and %s differ", ATTN__TEXT(n->in[0]->shape), ATTN__TEXT(n->in[1]->shape));
    }
    return attn__infer_same(n);
}

static void sub_tile(void *ctx, int64_t tile)
{
    attn__node *n = ctx;
    attn__span s = attn__elements(n, tile);
    ATTN__K(n)->scale(s.end - s.begin, -1, attn__at(n, n->in[1]->data, s.begin), attn__at(n, n->out->data, s.begin));
    ATTN__K(n)->axpy(s.end - s.begin, 1, attn__at(n, n->in[0]->data, s.begin), attn__at(n, n->out->data, s.begin));
}

static void sub_forward(attn__node *n)
{
    attn__each_tile(n, 2, sub_tile);
}

static void sub_tile_b(void *ctx, int64_t tile)
{
    attn__node *n = ctx;
    attn__span s = attn__elements(n, tile);
    attn__clear(n, s.begin, s.end - s.begin);
    for (int i = 0; i < 2; i++) {
        if (n->in[i]->needs_grad) {
            ATTN__K(n)->axpy(s.end - s.begin, i == 0 ? 1 : -1, attn__at(n, n->out->grad, s.begin), attn__at(n, n->in[i]->grad, s.begin));
        }
    }
}

static void sub_backward(attn__node *n)
{
    attn__each_tile(n, 2, sub_tile_b);
}

attn_tensor *attn_sub(attn_tape *t, attn_tensor *a, attn_tensor *b)
{
    return attn__record(t, &attn__op_sub, (attn_tensor *const[]){a, b}, 2, NULL, 0);
}

static attn_tensor *build_sub(attn_tape *t, attn_tensor *const in[])
{
    return attn_sub(t, in[0], in[1]);
}

static const attn__case sub_cases[] = {
    {"plain", 2, {{2, {3, 5}}, {2, {3, 5}}}, -2, 2, build_sub},
};

const attn__op attn__op_sub = {.name = "sub",
                               .arity = 2,
                               .clears = true,
                               .infer = infer_equal,
                               .forward = sub_forward,
                               .backward = sub_backward,
                               ATTN__CASES(sub_cases)};

static void mul_tile(void *ctx, int64_t tile)
{
    attn__node *n = ctx;
    attn__span s = attn__elements(n, tile);
    ATTN__K(n)->mul(s.end - s.begin, attn__at(n, n->in[0]->data, s.begin), attn__at(n, n->in[1]->data, s.begin),
                    attn__at(n, n->out->data, s.begin));
}

static void mul_forward(attn__node *n)
{
    attn__each_tile(n, 1, mul_tile);
}

static void mul_tile_b(void *ctx, int64_t tile)
{
    attn__node *n = ctx;
    attn__span s = attn__elements(n, tile);
    attn__clear(n, s.begin, s.end - s.begin);
    for (int i = 0; i < 2; i++) {
        if (n->in[i]->needs_grad) {
            ATTN__K(n)->mul_b(s.end - s.begin, attn__at(n, n->out->grad, s.begin), attn__at(n, n->in[1 - i]->data, s.begin),
                              attn__at(n, n->in[i]->grad, s.begin));
        }
    }
}

static void mul_backward(attn__node *n)
{
    attn__each_tile(n, 2, mul_tile_b);
}

attn_tensor *attn_mul(attn_tape *t, attn_tensor *a, attn_tensor *b)
{
    return attn__record(t, &attn__op_mul, (attn_tensor *const[]){a, b}, 2, NULL, 0);
}

static attn_tensor *build_mul(attn_tape *t, attn_tensor *const in[])
{
    return attn_mul(t, in[0], in[1]);
}

static const attn__case mul_cases[] = {
    {"plain", 2, {{3, {2, 3, 2}}, {3, {2, 3, 2}}}, -2, 2, build_mul},
};

const attn__op attn__op_mul = {.name = "mul",
                               .arity = 2,
                               .clears = true,
                               .infer = infer_equal,
                               .forward = mul_forward,
                               .backward = mul_backward,
                               ATTN__CASES(mul_cases)};

/* ---- scale ---- */

static void scale_tile(void *ctx, int64_t tile)
{
    attn__node *n = ctx;
    attn__span s = attn__elements(n, tile);
    ATTN__K(n)->scale(s.end - s.begin, *(double *)n->attributes, attn__at(n, n->in[0]->data, s.begin), attn__at(n, n->out->data, s.begin));
}

static void scale_forward(attn__node *n)
{
    attn__each_tile(n, 1, scale_tile);
}

static void scale_tile_b(void *ctx, int64_t tile)
{
    attn__node *n = ctx;
    attn__span s = attn__elements(n, tile);
    attn__clear(n, s.begin, s.end - s.begin);
    ATTN__K(n)->axpy(s.end - s.begin, *(double *)n->attributes, attn__at(n, n->out->grad, s.begin), attn__at(n, n->in[0]->grad, s.begin));
}

static void scale_backward(attn__node *n)
{
    attn__each_tile(n, 1, scale_tile_b);
}

attn_tensor *attn_scale(attn_tape *t, attn_tensor *x, double factor)
{
    return attn__record(t, &attn__op_scale, &x, 1, &factor, sizeof factor);
}

static attn_tensor *build_scale(attn_tape *t, attn_tensor *const in[])
{
    return attn_scale(t, in[0], -1.7);
}

static const attn__case scale_cases[] = {
    {"by -1.7", 1, {{2, {3, 4}}}, -2, 2, build_scale},
};

const attn__op attn__op_scale = {.name = "scale",
                                 .arity = 1,
                                 .clears = true,
                                 .infer = attn__infer_same,
                                 .forward = scale_forward,
                                 .backward = scale_backward,
                                 ATTN__CASES(scale_cases)};

/* tanh, relu, sigmoid, gelu: one input, one output of the same shape. */
#include "ops/op.h"

/* Defines attn_NAME and its operation; backward needs the output alone (relu: y > 0 just where x > 0).
 * Cases: near 0, and over [LOW, HIGH). */
#define ACTIVATION(NAME, COST, LOW, HIGH)                                                                             \
    static void NAME##_tile(void *ctx, int64_t tile)                                                                  \
    {                                                                                                                 \
        attn__node *n = ctx;                                                                                          \
        attn__span s = attn__elements(n, tile);                                                                       \
        ATTN__K(n)->NAME(s.end - s.begin, attn__at(n, n->in[0]->data, s.begin), attn__at(n, n->out->data, s.begin));  \
    }                                                                                                                 \
    static void NAME##_forward(attn__node *n)                                                                         \
    {                                                                                                                 \
        attn__each_tile(n, COST, NAME##_tile);                                                                        \
    }                                                                                                                 \
    static void NAME##_tile_b(void *ctx, int64_t tile)                                                                \
    {                                                                                                                 \
        attn__node *n = ctx;                                                                                          \
        attn__span s = attn__elements(n, tile);                                                                       \
        attn__clear(n, s.begin, s.end - s.begin);                                                                     \
        ATTN__K(n)->NAME##_b(s.end - s.begin, attn__at(n, n->out->data, s.begin), attn__at(n, n->out->grad, s.begin), \
                             attn__at(n, n->in[0]->grad, s.begin));                                                   \
    }                                                                                                                 \
    static void NAME##_backward(attn__node *n)                                                                        \
    {                                                                                                                 \
        attn__each_tile(n, 1, NAME##_tile_b);                                                                         \
    }                                                                                                                 \
    attn_tensor *attn_##NAME(attn_tape *t, attn_tensor *x)                                                            \
    {                                                                                                                 \
        return attn__record(t, &attn__op_##NAME, &x, 1, NULL, 0);                                                     \
    }                                                                                                                 \
    static attn_tensor *NAME##_build(attn_tape *t, attn_tensor *const in[])                                           \
    {                                                                                                                 \
        return attn_##NAME(t, in[0]);                                                                                 \
    }                                                                                                                 \
    static const attn__case NAME##_cases[] = {                                                                        \
        {"around zero", 1, {{2, {5, 7}}}, -1.5, 1.5, NAME##_build},                                                   \
        {"wide", 1, {{1, {23}}}, LOW, HIGH, NAME##_build},                                                            \
    };                                                                                                                \
    const attn__op attn__op_##NAME = {.name = #NAME,                                                                  \
                                      .arity = 1,                                                                     \
                                      .clears = true,                                                                 \
                                      .infer = attn__infer_same,                                                      \
                                      .forward = NAME##_forward,                                                      \
                                      .backward = NAME##_backward,                                                    \
                                      ATTN__CASES(NAME##_cases)};

ACTIVATION(tanh, 2, -4, 4)
ACTIVATION(relu, 1, -50, 50)
ACTIVATION(sigmoid, 2, -6, 6)

/* ---- gelu: two forms, backward from the input ---- */

static void gelu_tile(void *ctx, int64_t tile)
{
    attn__node *n = ctx;
    attn__span s = attn__elements(n, tile);
    bool erf_form = *(attn_gelu_form *)n->attributes == ATTN_GELU_ERF;
    (erf_form ? ATTN__K(n)->gelu_erf : ATTN__K(n)->gelu_tanh)(s.end - s.begin, attn__at(n, n->in[0]->data, s.begin),
                                                              attn__at(n, n->out->data, s.begin));
}

static void gelu_tile_b(void *ctx, int64_t tile)
{
    attn__node *n = ctx;
    attn__span s = attn__elements(n, tile);
    bool erf_form = *(attn_gelu_form *)n->attributes == ATTN_GELU_ERF;
    attn__clear(n, s.begin, s.end - s.begin);
    (erf_form ? ATTN__K(n)->gelu_erf_b : ATTN__K(n)->gelu_tanh_b)(s.end - s.begin, attn__at(n, n->in[0]->data, s.begin),
                                                                  attn__at(n, n->out->grad, s.begin), attn__at(n, n->in[0]->grad, s.begin));
}

static attn_status gelu_infer(attn__node *n)
{
    attn_gelu_form form = *(attn_gelu_form *)n->attributes;
    if (form != ATTN_GELU_ERF && form != ATTN_GELU_TANH) {
        return attn__op_fail(n, ATTN_EINVAL, "no such form: %d", (int)form);
    }
    return attn__infer_same(n);
}

static void gelu_forward(attn__node *n)
{
    attn__each_tile(n, 3, gelu_tile);
}

static void gelu_backward(attn__node *n)
{
    attn__each_tile(n, 4, gelu_tile_b);
}

attn_tensor *attn_gelu(attn_tape *t, attn_tensor *x, attn_gelu_form form)
{
    return attn__record(t, &attn__op_gelu, &x, 1, &form, sizeof form);
}

static attn_tensor *build_erf(attn_tape *t, attn_tensor *const in[])
{
    return attn_gelu(t, in[0], ATTN_GELU_ERF);
}

static attn_tensor *build_tanh(attn_tape *t, attn_tensor *const in[])
{
    return attn_gelu(t, in[0], ATTN_GELU_TANH);
}

static const attn__case gelu_cases[] = {
    {"erf", 1, {{2, {5, 7}}}, -3, 3, build_erf},
    {"tanh", 1, {{2, {5, 7}}}, -3, 3, build_tanh},
};

const attn__op attn__op_gelu = {.name = "gelu",
                                .arity = 1,
                                .clears = true,
                                .infer = gelu_infer,
                                .forward = gelu_forward,
                                .backward = gelu_backward,
                                ATTN__CASES(gelu_cases)};

/* Faults of shapes that users of other libraries reported, in the forms they could take here. README.md has the list. */
#include <stdlib.h>
#include <string.h>

#include "support/attention.h"
#include "support/params.h"

#include "attn/gradcheck.h"
#include "attn/ops.h"
#include "core/core.h"

#define F64(...) attn_variable(t, ATTN_F64, ATTN_SHAPE(__VA_ARGS__), NULL)

/* ---- nothing is stretched ---- */

/* Field reports B34 and B35, in a layer: a batch of one is not repeated over a batch of two, a bias of other sizes is not fitted in, a past
 * belongs to the same sentences, heads and widths. The message has both shapes. */
static void b35_a_layer_stretches_nothing(void **state)
{
    (void)state;
    attn_params *p = attn_params_new(ATTN_F64, NULL);
    const attn_attention *layer = attn_attention_add(p, "a", (attn_attention_config){.query_dim = 6, .heads = 2, .kv_heads = 1});
    assert_int_equal(attn_params_build(p, 0, NULL), ATTN_OK);
    const struct {
        attn_shape shape[6]; /* query, key, value, past key, past value, bias; rank 0: none */
        const char *parts[2];
    } wrong[] = {
        {{{3, {2, 3, 6}}, {3, {1, 5, 6}}}, {"(1,5,6)", "(2,T,6)"}},
        {{{3, {1, 3, 6}}, {3, {2, 5, 6}}}, {"(2,5,6)", "(1,T,6)"}},
        {{{3, {2, 3, 6}}, {3, {2, 5, 6}}, {3, {1, 5, 6}}}, {"(1,5,6)", "(2,T,6)"}},
        {{{3, {2, 3, 6}}, {3, {2, 5, 6}}, {3, {2, 1, 6}}}, {"(2,5,6)", "(2,1,6)"}},
        {{{3, {2, 3, 6}}, {3, {2, 5, 6}}, {0, {0}}, {3, {1, 4, 3}}, {3, {2, 4, 3}}}, {"(1,4,3)", "(2,5,3)"}},
        {{{3, {2, 3, 6}}, {3, {2, 5, 6}}, {0, {0}}, {3, {2, 4, 6}}, {3, {2, 4, 3}}}, {"(2,4,6)", "(2,5,3)"}},
        {{{3, {2, 3, 6}}, {3, {2, 5, 6}}, {0, {0}}, {3, {2, 4, 3}}, {3, {2, 3, 3}}}, {"9", "8"}},
        {{{3, {2, 3, 6}}, {3, {2, 5, 6}}, {0, {0}}, {3, {2, 4, 3}}}, {"9", "5"}}, /* a past key without its value */
        {{{3, {2, 3, 6}}, {3, {2, 5, 6}}, {0, {0}}, {2, {4, 3}}, {3, {2, 4, 3}}}, {"(4,3)", "(2,5,3)"}},
        {{{3, {2, 3, 6}}, {3, {2, 5, 6}}, {0, {0}}, {0, {0}}, {0, {0}}, {2, {2, 5}}}, {"(2,2,3,5)", "(2,5)"}},
        {{{3, {2, 3, 6}}, {3, {2, 5, 6}}, {0, {0}}, {0, {0}}, {0, {0}}, {3, {3, 3, 5}}}, {"(2,2,3,5)", "(3,3,5)"}},
        {{{3, {2, 3, 6}}, {3, {2, 5, 6}}, {0, {0}}, {3, {2, 4, 3}}, {3, {2, 4, 3}}, {2, {3, 5}}}, {"(2,2,3,9)", "(3,5)"}},
    };
    attn_tape *t = attn_tape_new(NULL);
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        attn_tensor *x[6];
        for (int k = 0; k < 6; k++) {
            x[k] = wrong[i].shape[k].rank > 0 ? attn_variable(t, ATTN_F64, wrong[i].shape[k], NULL) : NULL;
        }
        attn_attention_output out = attn_attention_apply(
            t, layer,
            (attn_attention_input){.query = x[0], .key = x[1], .value = x[2], .past_key = x[3], .past_value = x[4], .bias = x[5]});
        assert_true(out.output == NULL && out.weights == NULL && out.scores == NULL && out.key == NULL && out.value == NULL);
        assert_int_equal(attn_tape_status(t), ATTN_ESHAPE);
        assert_contains(attn_tape_message(t), wrong[i].parts[0]);
        assert_contains(attn_tape_message(t), wrong[i].parts[1]);
        attn_tape_reset(t);
    }
    attn_tape_free(t);
    attn_params_free(p);
}

/* Field report B40: a loss of several elements is not summed silently; the message shows its shape. */
static void b40_a_loss_is_a_scalar(void **state)
{
    (void)state;
    const attn_shape shapes[] = {{1, {4}}, {2, {4, 1}}, {2, {1, 4}}, {1, {0}}};
    const char *const texts[] = {"(4)", "(4,1)", "(1,4)", "(0)"};
    attn_tape *t = attn_tape_new(NULL);
    for (int i = 0; i < 4; i++) {
        assert_int_equal(attn_backward(t, attn_variable(t, ATTN_F64, shapes[i], NULL)), ATTN_ESHAPE);
        assert_contains(attn_tape_message(t), texts[i]);
        attn_tape_reset(t);
    }
    attn_tensor *one = F64(1, 1); /* one element is one, in any rank */
    assert_int_equal(attn_backward(t, attn_scale(t, one, 3)), ATTN_OK);
    assert_gradient(one, ((const double[]){3}), 0, 0);
    attn_tape_free(t);
}

/* ---- two names of one thing ---- */

static attn_tensor *by_two_shapes(attn_tape *t, attn_tensor *const in[], int n, void *ctx)
{
    (void)n;
    (void)ctx;
    attn_tensor *flat = attn_reshape(t, in[0], ATTN_SHAPE(6)), *back = attn_reshape(t, flat, ATTN_SHAPE(2, 3));
    attn_tensor *squares = attn_mul(t, in[0], back), *row = attn_reshape(t, attn_tanh(t, flat), ATTN_SHAPE(2, 3));
    return attn_add(t, attn_mul(t, squares, row), attn_dropout(t, in[0], 0.5)); /* without training that is in[0] itself */
}

/* Field reports B42 and B43: a tensor and its reshapes share their numbers, and their gradients meet in it, once each. */
static void b42_shared_data_shares_gradients(void **state)
{
    (void)state;
    const double x[] = {0.5, -1, 2, 0.25, -0.75, 1.5};
    attn_gradcheck_report report;
    const attn_gradcheck_input input = {.shape = ATTN_SHAPE(2, 3), .values = x};
    assert_int_equal(attn_gradcheck(by_two_shapes, NULL, &input, 1, NULL, &report), ATTN_OK);
    assert_int_equal(report.elements, 6);
    attn_tape *t = attn_tape_new(NULL);
    attn_tensor *v = attn_variable(t, ATTN_F64, ATTN_SHAPE(2, 3), x), *flat = attn_reshape(t, v, ATTN_SHAPE(3, 2));
    assert_int_equal(attn_backward(t, attn_add(t, attn_sum(t, v), attn_sum(t, flat))), ATTN_OK);
    assert_gradient(v, ((const double[]){2, 2, 2, 2, 2, 2}), 0, 0);
    assert_gradient(flat, ((const double[]){1, 1, 1, 1, 1, 1}), 0, 0);
    attn_tape_free(t);
}

/* ---- counts ---- */

/* Field report B44: tensors without elements have dimensions of any size, and what is made of them may have more elements, or need more
 * bytes, than 64 bits can count. That is an error each time, and nothing is allocated for it. */
static void b44_sizes_of_nothing_overflow_nothing(void **state)
{
    (void)state;
    const int64_t p40 = (int64_t)1 << 40, p22 = (int64_t)1 << 22;
    attn_tape *t = attn_tape_new(NULL);
    assert_refused(t, attn_attention_mix(t, F64(1, p40, 0, 0), F64(1, 0, p40), 1, NULL), ATTN_ESHAPE,
                   "attention_mix: weights (1,1099511627776,0,0) and values (1,0,1099511627776): the result is too large");
    attn_tensor *q = attn_input(t, ATTN_F32, ATTN_SHAPE(p40, 0, p22), NULL), *w = attn_variable(t, ATTN_F32, ATTN_SHAPE(1, p22), NULL);
    assert_refused(t, attn_attention_scores(t, q, q, w, (attn_score_config){.score = ATTN_SCORE_ADDITIVE}, NULL), ATTN_ENOMEM,
                   "attention_scores: 4611686018427387904 partial gradients of w are too many");
    assert_refused(t, attn_append(t, F64(0, INT64_MAX, 0), F64(0, 1, 0)), ATTN_ESHAPE,
                   "append: (0,9223372036854775807,0) and (0,1,0): expected (B,P,D) and (B,T,D)");
    assert_null(attn_embedding(t, F64(0, p40), NULL, ATTN_SHAPE(0, p40)));
    assert_int_equal(attn_tape_status(t), ATTN_ESHAPE);
    assert_true(attn_tape_capacity(t) < (size_t)1 << 26);
    attn_tape_free(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(b35_a_layer_stretches_nothing),
        cmocka_unit_test(b40_a_loss_is_a_scalar),
        cmocka_unit_test(b42_shared_data_shares_gradients),
        cmocka_unit_test(b44_sizes_of_nothing_overflow_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

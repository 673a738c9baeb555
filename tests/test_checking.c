/* attn_tape_set_checking: the first number that is not finite is named, what a mask hides is none, and nothing else changes. */
#include <math.h>
#include <string.h>

#include "attn/attention.h"
#include "ops/op.h"
#include "support/every_op.h"
#include "support/params.h"
#include "support/tensors.h"

static attn_tape *checking_tape(void)
{
    attn_tape *t = attn_tape_new(NULL);
    assert_non_null(t);
    attn_tape_set_checking(t, true);
    return t;
}

#define F64(t, shape, ...) variable_of((t), ATTN_F64, (shape), (const double[]){__VA_ARGS__})

static void assert_backward_refused(attn_tape *t, attn_status status, const char *message)
{
    assert_int_equal(status, ATTN_ENONFINITE);
    assert_int_equal(attn_tape_status(t), ATTN_ENONFINITE);
    assert_string_equal(attn_tape_message(t), message);
    attn_tape_reset(t);
}

/* ---- forward ---- */

static void what_an_operation_makes_is_named(void **state)
{
    (void)state;
    attn_tape *t = checking_tape();
    attn_tensor *x = attn_scale(t, F64(t, ATTN_SHAPE(2, 3), 1, 2, 3, 4, 1e300, 6), 0.5);
    assert_refused(t, attn_scale(t, x, 1e10), ATTN_ENONFINITE,
                   "scale: operation 2, forward: output (2,3) is inf at (1,1), its inputs are finite");
    x = variable_of(t, ATTN_F32, ATTN_SHAPE(2), (const double[]){1, -1e30});
    assert_refused(t, attn_scale(t, x, 1e10), ATTN_ENONFINITE,
                   "scale: operation 1, forward: output (2) is -inf at (1), its inputs are finite");
    x = variable_of(t, ATTN_F32, ATTN_SHAPE(2), (const double[]){3e38, 3e38});
    assert_refused(t, attn_sum(t, x), ATTN_ENONFINITE, "sum: operation 1, forward: output () is inf at (), its inputs are finite");
    attn_tape_free(t);
}

static void inputs_and_parameters_are_named(void **state)
{
    (void)state;
    attn_tape *t = checking_tape();
    attn_params *p = attn_params_new(ATTN_F64, NULL);
    int w = attn_params_add(p, "layer.w", ATTN_SHAPE(2, 2), (attn_param_config){.init = ATTN_INIT_CONSTANT, .scale = 2});
    assert_int_equal(attn_params_build(p, 1, NULL), ATTN_OK);
    attn_tensor *x = F64(t, ATTN_SHAPE(2, 2), 1, 2, NAN, 4);
    assert_refused(t, attn_mul(t, attn_param(t, p, w), x), ATTN_ENONFINITE,
                   "mul: operation 1, forward: output (2,2) is nan at (1,0); input 1 (2,2) is nan at (1,0)");
    set_value(p, w, 3, -INFINITY);
    x = F64(t, ATTN_SHAPE(2, 2), 1, 2, 3, 4);
    assert_refused(t, attn_matmul(t, x, attn_param(t, p, w), ATTN_NN), ATTN_ENONFINITE,
                   "matmul: operation 1, forward: output (2,2) is -inf at (0,1); input 1, parameter 'layer.w' (2,2) is -inf at (1,1)");
    /* the NaN is the likelier cause, whichever comes first */
    x = F64(t, ATTN_SHAPE(2, 2), -INFINITY, 2, 3, 4);
    assert_refused(t, attn_mul(t, x, F64(t, ATTN_SHAPE(2, 2), 1, NAN, 1, 1)), ATTN_ENONFINITE,
                   "mul: operation 1, forward: output (2,2) is nan at (0,1); input 1 (2,2) is nan at (0,1)");
    attn_params_free(p);
    attn_tape_free(t);
}

/* Every operation, all of whose inputs are NaN: found, except where numbers are only arranged anew. */
static void every_operation_is_searched(void **state)
{
    (void)state;
    attn_tape *t = checking_tape();
    int searched = 0;
    for (int op = 0; op < attn_op_count(); op++) {
        const attn__op *o = attn__op_get(op);
        for (int i = 0; i < o->n_cases; i++) {
            attn_tensor *in[8] = {NULL};
            for (int k = 0; k < o->cases[i].n; k++) {
                in[k] = attn_input(t, ATTN_F64, o->cases[i].shapes[k], NULL);
                attn__kernels(ATTN_F64)->shift(in[k]->count, NAN, in[k]->data);
            }
            attn_tensor *y = o->cases[i].build(t, in);
            if (o->moves) {
                assert_non_null(y);
                assert_true(isnan(attn_tensor_get(y, 0)));
            } else {
                assert_null(y);
                assert_int_equal(attn_tape_status(t), ATTN_ENONFINITE);
                assert_int_equal(strncmp(attn_tape_message(t), o->name, strlen(o->name)), 0);
                assert_contains(attn_tape_message(t), ": operation 1, forward: output ");
                assert_contains(attn_tape_message(t), "; input 0 ");
                searched++;
            }
            attn_tape_reset(t);
        }
    }
    assert_true(searched > 40);
    attn_tape_free(t);
}

static void without_recording_too(void **state)
{
    (void)state;
    attn_tape *t = checking_tape();
    attn_tape_set_recording(t, false);
    attn_tensor *x = attn_input(t, ATTN_F64, ATTN_SHAPE(1), (const double[]){NAN});
    assert_refused(t, attn_tanh(t, x), ATTN_ENONFINITE, "tanh: operation 1, forward: output (1) is nan at (0); input 0 (1) is nan at (0)");
    attn_tape_free(t);
}

/* ---- -infinity is how an additive mask hides ---- */

static attn_attend_output attend(attn_tape *t, const double bias[4], const attn_mask *mask)
{
    const double q[] = {1, 0, 0, 1}, k[] = {0, 1, 1, 0}, v[] = {1, 2, 3, 4};
    attn_attend_input in = {
        .query = variable_of(t, ATTN_F64, ATTN_SHAPE(1, 2, 2), q),
        .key = variable_of(t, ATTN_F64, ATTN_SHAPE(1, 2, 2), k),
        .value = variable_of(t, ATTN_F64, ATTN_SHAPE(1, 2, 2), v),
        .bias = bias != NULL ? attn_input(t, ATTN_F64, ATTN_SHAPE(2, 2), bias) : NULL,
    };
    attn_attend_config config = {.score = {.heads = 1}};
    if (mask != NULL) {
        config.mask = *mask;
    }
    return attn_attend(t, in, &config);
}

static void minus_infinity_in_a_bias_is_no_fault(void **state)
{
    (void)state;
    attn_tape *t = checking_tape();
    attn_attend_output a = attend(t, (const double[]){-INFINITY, 0, -INFINITY, -INFINITY}, NULL);
    assert_tape_ok(t);
    assert_values(a.output, ((const double[]){3, 4, 0, 0}), 0, 1e-15);
    assert_int_equal(backward_from(t, a.output, (const double[]){1, 2, 3, 4}), ATTN_OK);
    attn_tape_reset(t);
    a = attend(t, (const double[]){-INFINITY, INFINITY, 0, 0}, NULL);
    assert_refused(t, a.output, ATTN_ENONFINITE,
                   "fused_attention: operation 1, forward: output (1,2,2) is nan at (0,0,0); input 3 (2,2) is inf at (0,1)");
    a = attend(t, (const double[]){-INFINITY, 0, 0, NAN}, NULL);
    assert_refused(t, a.output, ATTN_ENONFINITE,
                   "fused_attention: operation 1, forward: output (1,2,2) is nan at (0,1,0); input 3 (2,2) is nan at (1,1)");
    a = attend(t, (const double[]){0, NAN, 0, INFINITY}, &(attn_mask){.key_lengths = (const int32_t[]){1}});
    assert_tape_ok(t); /* hidden pairs take no bias */
    assert_values(a.output, ((const double[]){1, 2, 1, 2}), 0, 1e-15);
    attn_tape_free(t);
}

/* ---- what a mask hides ---- */

static void hidden_numbers_are_no_fault(void **state)
{
    (void)state;
    for (int score = ATTN_SCORE_SCALED_DOT; score <= ATTN_SCORE_ADDITIVE; score++) {
        attn_tape *t = checking_tape();
        attn_params *p = attn_params_new(ATTN_F64, NULL);
        const attn_attention *layer = attn_attention_add(
            p, "a", (attn_attention_config){.query_dim = 2, .score = (attn_score)score, .bias = true, .relative_clip = 1, .soft_cap = 5});
        assert_int_equal(attn_params_build(p, 1, NULL), ATTN_OK);
        const double q[] = {1, 2, NAN, INFINITY, 3, 4, 5, 6}, k[] = {1, -1, 2, 1, NAN, 1, 1, 2, -INFINITY, NAN, 1e308, 1e308};
        attn_attention_input in = {
            .query = variable_of(t, ATTN_F64, ATTN_SHAPE(2, 2, 2), q),
            .key = variable_of(t, ATTN_F64, ATTN_SHAPE(2, 3, 2), k),
            .mask = {.key_lengths = (const int32_t[]){2, 1}, .query_lengths = (const int32_t[]){1, 2}},
        };
        attn_tensor *y = attn_attention_apply(t, layer, in).output;
        assert_tape_ok(t);
        assert_int_equal(attn_backward(t, attn_sum(t, y)), ATTN_OK);
        assert_true(attn_tensor_get_grad(in.key, 4) == 0 && attn_tensor_get_grad(in.query, 2) == 0);

        /* one key more, and the NaN is seen */
        attn_tape_reset(t);
        in.query = variable_of(t, ATTN_F64, ATTN_SHAPE(2, 2, 2), q);
        in.key = variable_of(t, ATTN_F64, ATTN_SHAPE(2, 3, 2), k);
        in.mask.key_lengths = (const int32_t[]){3, 1};
        assert_refused(t, attn_attention_apply(t, layer, in).output, ATTN_ENONFINITE,
                       "visible_rows: operation 1, forward: output (2,3,2) is nan at (0,2,0); input 0 (2,3,2) is nan at (0,2,0)");
        attn_params_free(p);
        attn_tape_free(t);
    }
}

/* A cache may hold anything where it is not filled yet. */
static void an_unfilled_cache_is_no_fault(void **state)
{
    (void)state;
    attn_tape *t = checking_tape();
    const double past[] = {NAN, NAN, 1, 1}, now[] = {1, 2};
    attn_attend_input in = {.query = F64(t, ATTN_SHAPE(1, 1, 2), 1, 1), .past_key = variable_of(t, ATTN_F64, ATTN_SHAPE(1, 2, 2), past)};
    in.key = in.value = variable_of(t, ATTN_F64, ATTN_SHAPE(1, 1, 2), now);
    in.past_value = in.past_key;
    attn_attend_config config = {.mask = {.row_begins = (const int32_t[]){1}}, .score = {.heads = 1}};
    attn_tensor *y = attn_attend(t, in, &config).output;
    assert_tape_ok(t);
    assert_int_equal(attn_backward(t, attn_sum(t, y)), ATTN_OK);
    attn_tape_free(t);
}

/* ---- backward ---- */

static void a_gradient_is_named(void **state)
{
    (void)state;
    attn_tape *t = checking_tape();
    attn_params *p = attn_params_new(ATTN_F64, NULL);
    int w = attn_params_add(p, "w", ATTN_SHAPE(2), (attn_param_config){.init = ATTN_INIT_CONSTANT, .scale = 1e-200});
    assert_int_equal(attn_params_build(p, 1, NULL), ATTN_OK);
    attn_tensor *x = F64(t, ATTN_SHAPE(2), 1, 1e200); /* dw = g x = (1e200, inf), dx = g w = (1, 1) */
    attn_tensor *y = attn_tanh(t, attn_scale(t, attn_mul(t, x, attn_param(t, p, w)), 1));
    assert_backward_refused(t, backward_from(t, y, (const double[]){1e200, 1e200}),
                            "mul: operation 1, backward: gradient of input 1, parameter 'w' (2) is inf at (1)");

    /* the parameter's gradient stays until it is zeroed */
    y = attn_mul(t, attn_scale(t, F64(t, ATTN_SHAPE(2), 1, 1), 2), attn_param(t, p, w));
    assert_backward_refused(t, backward_from(t, y, (const double[]){1, 1}),
                            "mul: operation 2, backward: gradient of input 1, parameter 'w' (2) is inf at (1) before this pass");
    attn_params_zero_grad(p);
    y = attn_mul(t, F64(t, ATTN_SHAPE(2), 1, 1), attn_param(t, p, w));
    assert_int_equal(backward_from(t, y, (const double[]){1, 1}), ATTN_OK);
    attn_params_free(p);
    attn_tape_free(t);
}

static void a_gradient_that_comes_in_is_named(void **state)
{
    (void)state;
    attn_tape *t = checking_tape();
    attn_tensor *x = F64(t, ATTN_SHAPE(1, 3), 1, 2, 3);
    assert_backward_refused(t, backward_from(t, attn_tanh(t, x), (const double[]){1, -INFINITY, NAN}),
                            "backward: the gradient that comes in, (1,3) is -inf at (0,1)");
    attn_tape_free(t);
}

/* An operation of three inputs whose backward spoils the gradient of one. */
static attn_status spoil_infer(attn__node *n)
{
    return attn__infer_same(n);
}
static void spoil_forward(attn__node *n)
{
    ATTN__K(n)->add(n->out->count, n->in[0]->data, n->in[1]->data, n->out->data);
}
static void spoil_backward(attn__node *n)
{
    attn_tensor *x = n->in[*(int *)n->attributes];
    if (x->needs_grad) {
        ATTN__K(n)->set(x->grad, 3, NAN);
    }
}
static const attn__op spoil = {.name = "spoil", .arity = 3, .infer = spoil_infer, .forward = spoil_forward, .backward = spoil_backward};

static void each_gradient_is_searched(void **state)
{
    (void)state;
    static const char *const expected[] = {
        "spoil: operation 2, backward: gradient of input 0 (2,2) is nan at (1,1)",
        "spoil: operation 2, backward: gradient of input 1 (2,2) is nan at (1,1)",
        "spoil: operation 2, backward: gradient of input 2 (2,2) is nan at (1,1)",
    };
    for (int dtype = ATTN_F32; dtype <= ATTN_F64; dtype++) {
        for (int k = 0; k < 3; k++) {
            attn_tape *t = checking_tape();
            attn_tensor *x[3];
            for (int i = 0; i < 3; i++) {
                x[i] = random_variable(t, (attn_dtype)dtype, ATTN_SHAPE(2, 2), (uint64_t)i);
            }
            x[1] = attn_tanh(t, x[1]);
            attn_tensor *y = attn_sum(t, attn__record(t, &spoil, x, 3, &k, sizeof k));
            assert_backward_refused(t, attn_backward(t, y), expected[k]);

            /* not needed, not searched */
            x[0] = attn_input(t, (attn_dtype)dtype, ATTN_SHAPE(2, 2), NULL);
            x[1] = random_variable(t, (attn_dtype)dtype, ATTN_SHAPE(2, 2), 7);
            x[2] = attn_input(t, (attn_dtype)dtype, ATTN_SHAPE(2, 2), NULL);
            y = attn_sum(t, attn__record(t, &spoil, x, 3, &k, sizeof k));
            assert_int_equal(attn_backward(t, y), k == 1 ? ATTN_ENONFINITE : ATTN_OK);
            attn_tape_free(t);
        }
    }
}

/* ---- the switch ---- */

static void off_it_says_nothing_and_reset_keeps_it(void **state)
{
    (void)state;
    attn_tape *t = attn_tape_new(NULL);
    attn_tensor *y = attn_scale(t, F64(t, ATTN_SHAPE(1), NAN), 2);
    assert_true(y != NULL && isnan(attn_tensor_get(y, 0)));
    assert_int_equal(attn_backward(t, y), ATTN_OK);
    attn_tape_set_checking(t, true);
    for (int step = 0; step < 2; step++) {
        attn_tape_reset(t);
        assert_null(attn_scale(t, F64(t, ATTN_SHAPE(1), NAN), 2));
        assert_contains(attn_tape_message(t), "scale: operation 1,"); /* the count begins anew */
    }
    attn_tape_reset(t);
    attn_tape_set_checking(t, false);
    assert_non_null(attn_scale(t, F64(t, ATTN_SHAPE(1), NAN), 2));
    attn_tape_free(t);
}

/* Every operation of the library, with and without: the same bits, the same memory. */
static void it_changes_nothing(void **state)
{
    (void)state;
    for (int dtype = ATTN_F32; dtype <= ATTN_F64; dtype++) {
        every_op e[2];
        double loss[2];
        size_t used[2];
        for (int on = 0; on < 2; on++) {
            assert_int_equal(every_op_new(&e[on], (attn_dtype)dtype, 5, 7, 6, NULL), ATTN_OK);
            attn_tape *t = attn_tape_new(NULL);
            attn_tape_set_checking(t, on == 1);
            attn_tape_set_training(t, true);
            attn_tensor *y = every_op_loss(&e[on], t);
            assert_int_equal(attn_backward(t, y), ATTN_OK);
            loss[on] = attn_tensor_get(y, 0);
            used[on] = attn_tape_used(t);
            attn_tape_free(t);
        }
        assert_true(loss[0] == loss[1] && used[0] == used[1]);
        for (int id = 0; id < attn_params_count(e[0].params); id++) {
            size_t bytes = (size_t)attn_shape_count(attn_params_shape(e[0].params, id)) * attn_dtype_size((attn_dtype)dtype);
            assert_memory_equal(attn_params_grad(e[0].params, id), attn_params_grad(e[1].params, id), bytes);
        }
        every_op_free(&e[0]);
        every_op_free(&e[1]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_an_operation_makes_is_named),
        cmocka_unit_test(inputs_and_parameters_are_named),
        cmocka_unit_test(every_operation_is_searched),
        cmocka_unit_test(without_recording_too),
        cmocka_unit_test(minus_infinity_in_a_bias_is_no_fault),
        cmocka_unit_test(hidden_numbers_are_no_fault),
        cmocka_unit_test(an_unfilled_cache_is_no_fault),
        cmocka_unit_test(a_gradient_is_named),
        cmocka_unit_test(a_gradient_that_comes_in_is_named),
        cmocka_unit_test(each_gradient_is_searched),
        cmocka_unit_test(off_it_says_nothing_and_reset_keeps_it),
        cmocka_unit_test(it_changes_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* The tape: gradients of values used twice, repeated passes, errors, recording, inputs and accessors. */
#include <math.h>
#include <string.h>

#include "support/tensors.h"

#include "attn/ops.h"

static attn_tensor *scalar(attn_tape *t, double value)
{
    return attn_variable(t, ATTN_F64, ATTN_SCALAR, &value);
}

static double slope(const attn_tensor *x)
{
    return attn_tensor_get_grad(x, 0);
}

/* ---- values that are used more than once ---- */

/* Field report B48. */
static void a_value_used_twice_gets_both_gradients(void **state)
{
    (void)state;
    attn_tape *t = attn_tape_new(NULL);
    attn_tensor *x = scalar(t, 2), *y = attn_scale(t, x, 3);
    attn_tensor *c = attn_add(t, attn_scale(t, y, 2), attn_scale(t, y, 5));
    assert_int_equal(attn_backward(t, c), ATTN_OK);
    assert_true(attn_tensor_get(c, 0) == 42 && slope(x) == 21 && slope(y) == 7 && slope(c) == 1);

    attn_tape_reset(t);
    x = scalar(t, 1);
    attn_tensor *one = scalar(t, 1), *x1 = attn_mul(t, x, one);
    attn_tensor *first = attn_mul(t, x, x1), *second = attn_mul(t, attn_mul(t, x, x), one), *third = attn_mul(t, x, attn_mul(t, x, one));
    assert_int_equal(attn_backward(t, attn_add(t, attn_add(t, first, second), third)), ATTN_OK);
    assert_true(slope(x) == 6);

    attn_tape_reset(t);
    x = scalar(t, 1);
    y = attn_add(t, x, x);
    assert_int_equal(attn_backward(t, attn_add(t, y, y)), ATTN_OK);
    assert_true(slope(x) == 4 && slope(y) == 2);

    attn_tape_reset(t); /* the same tensor on both sides of other operations */
    x = scalar(t, 3);
    assert_int_equal(attn_backward(t, attn_sub(t, x, x)), ATTN_OK);
    assert_true(slope(x) == 0);
    attn_tensor *m = attn_variable(t, ATTN_F64, ATTN_SHAPE(2, 2), (const double[]){1, 2, 3, 4});
    assert_int_equal(attn_backward(t, attn_sum(t, attn_matmul(t, m, m, ATTN_NN))), ATTN_OK);
    assert_gradient(m, ((const double[]){7, 11, 9, 13}), 0, 0); /* row sums of m, by columns, plus column sums, by rows */
    attn_tape_free(t);
}

/* A result whose elements reach the loss by paths of different length. */
static void early_values_wait_for_late_contributions(void **state)
{
    (void)state;
    attn_tape *t = attn_tape_new(NULL);
    attn_tensor *x = scalar(t, 2), *y = attn_mul(t, x, x), *deep = y;
    for (int i = 0; i < 5; i++) {
        deep = attn_mul(t, deep, y); /* y^6 in the end */
    }
    assert_int_equal(attn_backward(t, attn_add(t, y, deep)), ATTN_OK);
    assert_true(slope(x) == 2 * 2 + 12 * 2048); /* d(x^2 + x^12) */
    attn_tape_free(t);
}

/* However many rows it has. What it was made of has a gradient, which is 0. */
static void a_result_without_elements_takes_no_time(void **state)
{
    (void)state;
    const int64_t many = (int64_t)1 << 45;
    attn_tape *t = attn_tape_new(NULL);
    attn_tensor *past = attn_variable(t, ATTN_F64, ATTN_SHAPE(many, 0, 3), NULL),
                *rows = attn_variable(t, ATTN_F64, ATTN_SHAPE(many, 0), NULL);
    assert_int_equal(attn_backward_from(t, attn_append(t, past, past), ""), ATTN_OK);
    assert_int_equal(attn_backward_from(t, attn_softmax(t, rows, &(attn_mask){.causal = ATTN_CAUSAL_TOP_LEFT}), ""), ATTN_OK);
    attn_tensor *x = scalar(t, 2), *y = attn_scale(t, x, 3), *none = attn_slice(t, attn_reshape(t, y, ATTN_SHAPE(1)), 0, 0, 0);
    assert_int_equal(attn_backward_from(t, attn_add(t, none, y), ""), ATTN_OK);
    assert_true(slope(y) == 0 && slope(x) == 0);
    attn_tape_free(t);
}

/* ---- more than one backward pass ---- */

static void a_second_pass_adds_to_variables_alone(void **state)
{
    (void)state;
    attn_tape *t = attn_tape_new(NULL);
    attn_tensor *x = scalar(t, 3), *y = attn_mul(t, x, x), *z = attn_scale(t, y, 2);
    for (int pass = 1; pass <= 3; pass++) {
        assert_int_equal(attn_backward(t, z), ATTN_OK);
        assert_true(slope(x) == 12 * pass && slope(y) == 2 && slope(z) == 1);
    }
    /* another loss on the same tape: what it does not reach has no gradient of this pass */
    attn_tensor *w = attn_scale(t, x, 5);
    assert_int_equal(attn_backward(t, w), ATTN_OK);
    assert_true(slope(x) == 36 + 5 && slope(w) == 1);
    assert_null(attn_tensor_grad(y));
    assert_true(isnan(slope(z)));
    /* and a pass that begins in the middle */
    assert_int_equal(attn_backward(t, y), ATTN_OK);
    assert_true(slope(x) == 41 + 6 && slope(y) == 1 && isnan(slope(w)));
    attn_tape_free(t);
}

static void a_variable_can_be_the_loss(void **state)
{
    (void)state;
    attn_tape *t = attn_tape_new(NULL);
    attn_tensor *x = attn_variable(t, ATTN_F32, ATTN_SHAPE(1, 1), NULL);
    assert_int_equal(attn_backward(t, x), ATTN_OK); /* one element is scalar enough */
    assert_int_equal(attn_backward(t, x), ATTN_OK);
    assert_true(slope(x) == 2);
    attn_tape_free(t);
}

static void backward_from_a_cotangent(void **state)
{
    (void)state;
    for (attn_dtype dtype = ATTN_F32; dtype <= ATTN_F64; dtype++) {
        attn_tape *t = attn_tape_new(NULL);
        attn_tensor *x = variable_of(t, dtype, ATTN_SHAPE(2, 2), (const double[]){1, 2, 3, 4}), *y = attn_mul(t, x, x);
        assert_int_equal(backward_from(t, y, (const double[]){1, 0, -1, 0.5}), ATTN_OK);
        assert_gradient(x, ((const double[]){2, 0, -6, 4}), 0, 0);
        assert_gradient(y, ((const double[]){1, 0, -1, 0.5}), 0, 0);
        attn_tape_free(t);
    }
}

/* ---- errors ---- */

static void the_first_error_stays_until_reset(void **state)
{
    (void)state;
    attn_tape *t = attn_tape_new(NULL);
    assert_int_equal(attn_tape_status(t), ATTN_OK);
    assert_string_equal(attn_tape_message(t), "");
    attn_tensor *x = attn_variable(t, ATTN_F64, ATTN_SHAPE(2, 3), NULL), *y = attn_variable(t, ATTN_F64, ATTN_SHAPE(3, 2), NULL);
    const char *message = "mul: shapes (2,3) and (3,2) differ";
    attn_tensor *bad = attn_mul(t, x, y);
    assert_null(bad);
    assert_null(attn_sum(t, attn_tanh(t, attn_add(t, bad, x)))); /* NULL passes through */
    assert_null(attn_reshape(t, x, ATTN_SHAPE(9)));              /* so does a second fault */
    assert_null(attn_scale(t, x, 2));                            /* and what would have been right */
    assert_null(attn_input(t, ATTN_F64, ATTN_SCALAR, NULL));
    assert_null(attn_variable(t, ATTN_F64, ATTN_SHAPE(-1), NULL));
    assert_null(attn_param(t, NULL, 0));
    assert_null(attn_concat(t, NULL, 0));
    assert_null(attn_dropout(t, x, 0.5));
    assert_null(attn_dropout(t, NULL, 0.5));
    assert_null(attn_visible_rows(t, x, ATTN_SIDE_KEYS, 0, 1, NULL));
    assert_int_equal(attn_backward(t, x), ATTN_ESHAPE);
    assert_int_equal(attn_backward(t, NULL), ATTN_ESHAPE);
    assert_refused(t, bad, ATTN_ESHAPE, message);
    assert_int_equal(attn_tape_status(t), ATTN_OK);
    assert_string_equal(attn_tape_message(t), "");
    assert_non_null(attn_input(t, ATTN_F64, ATTN_SCALAR, NULL));
    attn_tape_free(t);
}

static void inputs_must_exist_and_belong_together(void **state)
{
    (void)state;
    attn_tape *t = attn_tape_new(NULL), *other = attn_tape_new(NULL);
    attn_tensor *x = attn_input(t, ATTN_F64, ATTN_SHAPE(2), NULL), *foreign = attn_input(other, ATTN_F64, ATTN_SHAPE(2), NULL);
    assert_refused(t, attn_mul(t, x, NULL), ATTN_EINVAL, "mul: input 1 is NULL");
    x = attn_input(t, ATTN_F64, ATTN_SHAPE(2), NULL);
    assert_refused(t, attn_mul(t, x, foreign), ATTN_EINVAL, "mul: input 1 belongs to another tape");
    assert_refused(t, attn_tanh(t, foreign), ATTN_EINVAL, "tanh: input 0 belongs to another tape");
    assert_refused(t, attn_dropout(t, foreign, 0.5), ATTN_EINVAL, "dropout: input 0 belongs to another tape");
    x = attn_input(t, ATTN_F64, ATTN_SHAPE(2), NULL);
    attn_tensor *single = attn_input(t, ATTN_F32, ATTN_SHAPE(2), NULL);
    assert_refused(t, attn_add(t, x, single), ATTN_EDTYPE, "add: input 0 is float64, input 1 is float32");
    x = attn_input(t, ATTN_F64, ATTN_SHAPE(2, 2), NULL);
    single = attn_input(t, ATTN_F32, ATTN_SHAPE(2, 2), NULL);
    assert_refused(t, attn_matmul(t, single, x, ATTN_NN), ATTN_EDTYPE, "matmul: input 0 is float32, input 1 is float64");
    assert_int_equal(attn_tape_status(other), ATTN_OK);
    attn_tape_free(other);
    attn_tape_free(t);
    attn_tape_free(NULL);
}

static void check_backward_fails(attn_tape *t, attn_tensor *loss, attn_status status, const char *message)
{
    assert_int_equal(attn_backward(t, loss), status);
    assert_refused(t, NULL, status, message);
}

static void backward_needs_a_scalar_that_depends_on_something(void **state)
{
    (void)state;
    attn_tape *t = attn_tape_new(NULL), *other = attn_tape_new(NULL);
    attn_tensor *x = attn_variable(t, ATTN_F64, ATTN_SHAPE(2, 3), NULL);
    check_backward_fails(t, x, ATTN_ESHAPE, "backward: the loss has shape (2,3), a scalar was expected");
    check_backward_fails(t, attn_variable(t, ATTN_F64, ATTN_SHAPE(0), NULL), ATTN_ESHAPE,
                         "backward: the loss has shape (0), a scalar was expected");
    check_backward_fails(t, NULL, ATTN_EINVAL, "backward: the tensor is NULL");
    check_backward_fails(t, scalar(other, 1), ATTN_EINVAL, "backward: the tensor is on another tape");
    attn_tensor *constant = attn_sum(t, attn_input(t, ATTN_F64, ATTN_SHAPE(3), NULL));
    check_backward_fails(t, constant, ATTN_EINVAL, "backward: the tensor is independent of every variable and parameter");
    attn_tape_free(other);
    attn_tape_free(t);
}

static void parameters_must_exist(void **state)
{
    (void)state;
    attn_tape *t = attn_tape_new(NULL);
    attn_params *p = attn_params_new(ATTN_F64, NULL);
    assert_refused(t, attn_param(t, NULL, 0), ATTN_EINVAL, "param: no parameter 0 in a built set");
    assert_int_equal(attn_params_add(p, "w", ATTN_SHAPE(2), (attn_param_config){.init = ATTN_INIT_CONSTANT, .scale = 3}), 0);
    assert_refused(t, attn_param(t, p, 0), ATTN_EINVAL, "param: no parameter 0 in a built set");
    assert_int_equal(attn_params_build(p, 1, NULL), ATTN_OK);
    assert_refused(t, attn_param(t, p, -1), ATTN_EINVAL, "param: no parameter -1 in a built set");
    assert_refused(t, attn_param(t, p, 1), ATTN_EINVAL, "param: no parameter 1 in a built set");
    attn_tensor *w = attn_param(t, p, 0), *again = attn_param(t, p, 0);
    assert_ptr_equal(attn_tensor_data(w), attn_params_value(p, 0));
    assert_int_equal(attn_backward(t, attn_sum(t, attn_mul(t, w, again))), ATTN_OK);
    assert_ptr_equal(attn_tensor_grad(w), attn_params_grad(p, 0));
    assert_gradient(w, ((const double[]){6, 6}), 0, 0); /* both uses */
    attn_params_free(p);
    attn_tape_free(t);
}

/* ---- recording ---- */

static void nothing_needs_a_gradient_while_recording_is_off(void **state)
{
    (void)state;
    attn_tape *t = attn_tape_new(NULL);
    attn_tape_set_recording(t, false);
    attn_tensor *x = scalar(t, 3), *y = attn_mul(t, x, x);
    assert_true(attn_tensor_get(y, 0) == 9);
    check_backward_fails(t, y, ATTN_EINVAL, "backward: the tensor is independent of every variable and parameter");
    attn_tape_set_recording(t, true);
    x = scalar(t, 3);
    attn_tape_set_recording(t, false);
    y = attn_mul(t, x, x); /* an operation that is not recorded, on a variable that was made before */
    attn_tape_set_recording(t, true);
    attn_tensor *z = attn_add(t, attn_scale(t, x, 4), y);
    assert_int_equal(attn_backward(t, z), ATTN_OK);
    assert_true(slope(x) == 4);
    assert_null(attn_tensor_grad(y));
    attn_tape_free(t);
}

static void inputs_get_no_gradient(void **state)
{
    (void)state;
    attn_tape *t = attn_tape_new(NULL);
    const double two = 2;
    attn_tensor *x = scalar(t, 3), *c = attn_input(t, ATTN_F64, ATTN_SCALAR, &two), *unused = scalar(t, 1);
    attn_tensor *constant = attn_mul(t, c, c), *y = attn_mul(t, attn_mul(t, x, c), constant);
    assert_int_equal(attn_backward(t, y), ATTN_OK);
    assert_true(slope(x) == 8);
    assert_null(attn_tensor_grad(c));
    assert_null(attn_tensor_grad(constant));
    assert_null(attn_tensor_grad(unused));
    assert_true(isnan(slope(unused)) && isnan(slope(c)));
    attn_tape_free(t);
}

/* ---- tensors ---- */

static void tensors_tell_what_they_are(void **state)
{
    (void)state;
    attn_tape *t = attn_tape_new(NULL);
    float data[] = {1, 2, 3, 4, 5, 6};
    attn_tensor *x = attn_input(t, ATTN_F32, ATTN_SHAPE(2, 3), data), *zeros = attn_input(t, ATTN_F64, ATTN_SHAPE(5), NULL);
    data[0] = 9; /* the tensor has its own copy */
    assert_true(attn_shape_equal(attn_tensor_shape(x), ATTN_SHAPE(2, 3)));
    assert_int_equal(attn_tensor_dtype(x), ATTN_F32);
    assert_int_equal(attn_tensor_count(x), 6);
    assert_values(x, ((const double[]){1, 2, 3, 4, 5, 6}), 0, 0);
    assert_values(zeros, ((const double[]){0, 0, 0, 0, 0}), 0, 0);
    assert_int_equal((uintptr_t)attn_tensor_data(x) % 64, 0);
    ((float *)attn_tensor_data(x))[1] = 7; /* refilled */
    assert_true(attn_tensor_get(attn_sum(t, x), 0) == 26);
    assert_true(isnan(attn_tensor_get(x, -1)) && isnan(attn_tensor_get(x, 6)) && isnan(attn_tensor_get(NULL, 0)));
    assert_true(isnan(attn_tensor_get_grad(NULL, 0)));
    assert_null(attn_tensor_data(NULL));
    assert_null(attn_tensor_grad(NULL));
    assert_int_equal(attn_tensor_count(NULL), 0);
    assert_true(attn_shape_equal(attn_tensor_shape(NULL), ATTN_SCALAR));
    attn_tape_free(t);
}

/* Memory that an earlier step has used is dirty; gradients and inputs of zeros must not show it. */
static void a_new_step_sees_nothing_of_the_last(void **state)
{
    (void)state;
    attn_tape *t = attn_tape_new(NULL);
    double nan[512];
    for (int i = 0; i < 512; i++) {
        nan[i] = NAN;
    }
    for (int step = 0; step < 2; step++) {
        for (int i = 0; i < 100; i++) {
            assert_non_null(attn_input(t, ATTN_F64, ATTN_SHAPE(512), nan));
        }
        assert_true(attn_tape_used(t) >= 100 * sizeof nan && attn_tape_capacity(t) >= attn_tape_used(t));
        attn_tape_reset(t);
        assert_int_equal(attn_tape_used(t), 0);
    }
    attn_tensor *x = attn_variable(t, ATTN_F64, ATTN_SHAPE(3), NULL);
    attn_tensor *s = attn_softmax(t, attn_reshape(t, x, ATTN_SHAPE(1, 3)), &(attn_mask){.key_lengths = (const int32_t[]){2}});
    attn_tensor *m = attn_matmul(t, s, attn_reshape(t, s, ATTN_SHAPE(3, 1)), ATTN_NN);
    assert_int_equal(attn_backward(t, attn_sum(t, m)), ATTN_OK);
    assert_values(m, ((const double[]){0.5}), 1e-15, 0);
    assert_gradient(x, ((const double[]){0, 0, 0}), 0, 1e-15);
    attn_tape_free(t);
}

static void operations_have_names(void **state)
{
    (void)state;
    for (int i = 0; i < attn_op_count(); i++) {
        assert_true(strlen(attn_op_name(i)) > 2);
        for (int j = 0; j < i; j++) {
            assert_string_not_equal(attn_op_name(i), attn_op_name(j));
        }
    }
    assert_null(attn_op_name(-1));
    assert_null(attn_op_name(attn_op_count()));
    const char *isa = attn_isa();
    assert_true(strcmp(isa, "baseline") == 0 || strcmp(isa, "x86-64-v3") == 0 || strcmp(isa, "x86-64-v4") == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_value_used_twice_gets_both_gradients),
        cmocka_unit_test(early_values_wait_for_late_contributions),
        cmocka_unit_test(a_result_without_elements_takes_no_time),
        cmocka_unit_test(a_second_pass_adds_to_variables_alone),
        cmocka_unit_test(a_variable_can_be_the_loss),
        cmocka_unit_test(backward_from_a_cotangent),
        cmocka_unit_test(the_first_error_stays_until_reset),
        cmocka_unit_test(inputs_must_exist_and_belong_together),
        cmocka_unit_test(backward_needs_a_scalar_that_depends_on_something),
        cmocka_unit_test(parameters_must_exist),
        cmocka_unit_test(nothing_needs_a_gradient_while_recording_is_off),
        cmocka_unit_test(inputs_get_no_gradient),
        cmocka_unit_test(tensors_tell_what_they_are),
        cmocka_unit_test(a_new_step_sees_nothing_of_the_last),
        cmocka_unit_test(operations_have_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Memory that runs out in every public function of tensors, tapes, parameters, operations, layers, optimisers and gradient checks. */
#include <math.h>
#include <string.h>

#include "support/every_op.h"
#include "support/faults.h"

#include "attn/attention.h"
#include "attn/gradcheck.h"
#include "attn/optim.h"
#include "attn/random.h"
#include "attn/weights.h"

/* ---- a tape, and parameters on which a step with every operation is made ---- */

static attn_tape *tape;
static every_op step;

static attn_status tape_result(attn_tape *t, attn_error *error)
{
    attn_status status = attn_tape_status(t);
    if (status != ATTN_OK) {
        error->status = status;
        (void)strcpy(error->message, attn_tape_message(t));
    }
    return status;
}

static attn_status new_tape(digest *d, attn_error *error)
{
    attn_tape *t = attn_tape_new(&faulty);
    digest_double(d, t != NULL);
    attn_status status = made(t, error);
    attn_tape_free(t);
    return status;
}

static void begin_step(void)
{
    tape = attn_tape_new(&faulty);
    assert_non_null(tape);
    attn_tape_set_threads(tape, 1);
    assert_int_equal(every_op_new(&step, ATTN_F32, 2, 5, 4, &faulty), ATTN_OK);
    attn_params_set_threads(step.params, 1);
}

static void end_step(void)
{
    attn_tape_free(tape);
    every_op_free(&step);
}

static void digest_params(digest *d, attn_params *p)
{
    for (int id = 0; id < attn_params_count(p); id++) {
        size_t size = (size_t)attn_shape_count(attn_params_shape(p, id)) * attn_dtype_size(attn_params_dtype(p));
        digest_bytes(d, attn_params_value(p, id), size);
        digest_bytes(d, attn_params_grad(p, id), size);
    }
}

static attn_status every_operation(digest *d, attn_error *error)
{
    attn_tape_reset(tape);
    attn_tape_set_training(tape, true);
    attn_tape_set_random(tape, 3, 4);
    attn_params_zero_grad(step.params);
    attn_tensor *loss = every_op_loss(&step, tape);
    if (attn_backward(tape, loss) == ATTN_OK) {
        digest_double(d, attn_tensor_get(loss, 0));
        digest_params(d, step.params);
    }
    return tape_result(tape, error);
}

static const float values[12] = {1, -2, 3, -4, 5, -6, 7, -8, 9, -10, 11, -12};

/* With every number looked at, and from a cotangent. */
static attn_status checked(digest *d, attn_error *error)
{
    attn_tape_reset(tape);
    attn_tape_set_checking(tape, true);
    attn_tensor *x = attn_variable(tape, ATTN_F32, ATTN_SHAPE(3, 4), values), *c = attn_input(tape, ATTN_F32, ATTN_SHAPE(3, 4), values);
    attn_tensor *y = attn_matmul(tape, attn_mul(tape, x, c), x, ATTN_NT);
    if (attn_backward_from(tape, y, values) == ATTN_OK) {
        digest_bytes(d, attn_tensor_data(y), 9 * sizeof(float));
        digest_bytes(d, attn_tensor_grad(x), 12 * sizeof(float));
    }
    return tape_result(tape, error);
}

static void attend_on(attn_tape *t, bool composed)
{
    const int32_t lengths[] = {3};
    const attn_attend_config config = {
        .score = {.heads = 2}, .mask = {.key_lengths = lengths}, .report = {.weights = true, .scores = true}, .composed = composed};
    attn_tensor *x = attn_variable(t, ATTN_F32, ATTN_SHAPE(1, 3, 4), values);
    attn_attend_output out = attn_attend(t, (attn_attend_input){.query = x, .key = x, .value = x}, &config);
    (void)!attn_backward(t, attn_sum(t, attn_mul(t, out.output, out.output)));
    (void)attn_attend(t, (attn_attend_input){.query = x, .key = x, .value = x, .past_key = x, .past_value = x}, &(attn_attend_config){0});
}

static attn_status attend(digest *d, attn_error *error)
{
    attn_tape_reset(tape);
    attend_on(tape, false);
    attend_on(tape, true);
    digest_double(d, (double)attn_tape_used(tape));
    return tape_result(tape, error);
}

/* ---- parameters and layers ---- */

static const attn_attention *layer;

static attn_params *layer_params(attn_dtype dtype, const attn_allocator *allocator)
{
    attn_params *p = attn_params_new(dtype, allocator);
    if (p != NULL) {
        layer = attn_attention_add(
            p, "a", (attn_attention_config){.query_dim = 4, .heads = 2, .score = ATTN_SCORE_ADDITIVE, .bias = true, .relative_clip = 2});
        (void)attn_params_add(p, "table", ATTN_SHAPE(5, 3), (attn_param_config){.init = ATTN_INIT_NORMAL, .scale = 1, .sparse_rows = true});
        attn_params_set_threads(p, 1);
    }
    return p;
}

static attn_status build_params(digest *d, attn_error *error)
{
    attn_params *p = layer_params(ATTN_F32, &faulty);
    attn_status status = p != NULL ? attn_params_build(p, 7, error) : made(p, error);
    if (status == ATTN_OK) {
        digest_params(d, p);
    }
    attn_params_free(p);
    return status;
}

static attn_params *params;

static void begin_layer(void)
{
    tape = attn_tape_new(&faulty);
    params = layer_params(ATTN_F32, &faulty);
    assert_int_equal(attn_params_build(params, 7, NULL), ATTN_OK);
}

static void end_layer(void)
{
    attn_tape_free(tape);
    attn_params_free(params);
}

static attn_tensor *layer_loss(attn_tape *t)
{
    attn_tensor *x = attn_variable(t, ATTN_F32, ATTN_SHAPE(1, 3, 4), values);
    attn_attention_output out = attn_attention_apply(t, layer, (attn_attention_input){.query = x, .report = {.weights = true}});
    return attn_sum(t, attn_mul(t, out.output, out.output));
}

static attn_status apply_layer(digest *d, attn_error *error)
{
    attn_tape_reset(tape);
    attn_params_zero_grad(params);
    if (attn_backward(tape, layer_loss(tape)) == ATTN_OK) {
        digest_params(d, params);
    }
    return tape_result(tape, error);
}

static attn_status optimise(digest *d, attn_error *error)
{
    attn_optimizer *o = attn_sgd_new(params, (attn_sgd_config){.momentum = 0.5}, error);
    attn_status status = o != NULL ? ATTN_OK : error->status;
    digest_text(d, o != NULL ? attn_optimizer_name(o) : "");
    attn_optimizer_free(o);
    o = status == ATTN_OK ? attn_adamw_new(params, (attn_adamw_config){0}, error) : NULL;
    status = o != NULL ? ATTN_OK : error->status;
    attn_optimizer_free(o);
    return status;
}

/* ---- gradient checks ---- */

static attn_tensor *square(attn_tape *t, attn_tensor *const inputs[], int n, void *ctx)
{
    (void)ctx;
    return n > 0 ? attn_tanh(t, attn_mul(t, inputs[0], inputs[1])) : attn_sum(t, attn_tanh(t, attn_param(t, params, 0)));
}

/* The report tells, in the place of an error. */
static attn_status verdict(attn_status status, const attn_gradcheck_report *report, digest *d, attn_error *error)
{
    digest_double(d, report->max_rel_error);
    digest_double(d, (double)report->elements);
    if (status != ATTN_OK) {
        error->status = status;
        (void)strcpy(error->message, report->verdict);
    }
    return status;
}

static attn_status check_function(digest *d, attn_error *error)
{
    const double x[] = {0.3, -0.7};
    const attn_gradcheck_input inputs[] = {{"x", ATTN_SHAPE(2), x}, {"y", ATTN_SHAPE(2), x}};
    attn_gradcheck_report report;
    attn_status status = attn_gradcheck(square, NULL, inputs, 2, &(attn_gradcheck_config){.allocator = &faulty}, &report);
    return verdict(status, &report, d, error);
}

static void begin_doubles(void)
{
    params = attn_params_new(ATTN_F64, &faulty);
    (void)attn_params_add(params, "w", ATTN_SHAPE(2, 2), (attn_param_config){.init = ATTN_INIT_NORMAL, .scale = 1});
    assert_int_equal(attn_params_build(params, 7, NULL), ATTN_OK);
}

static void end_params(void)
{
    attn_params_free(params);
}

static attn_status check_parameters(digest *d, attn_error *error)
{
    attn_gradcheck_report report;
    attn_status status = attn_gradcheck_params(square, NULL, params, 0, &(attn_gradcheck_config){.allocator = &faulty}, &report);
    return verdict(status, &report, d, error);
}

static attn_status check_operation(digest *d, attn_error *error)
{
    attn_gradcheck_report report;
    int cases;
    attn_status status = attn_gradcheck_op(0, &(attn_gradcheck_config){.allocator = &faulty}, &cases, &report);
    return verdict(status, &report, d, error);
}

static void memory_may_run_out_anywhere(void **state)
{
    (void)state;
    static const fault_case cases[] = {
        {"tape", NULL, new_tape, NULL},
        {"every operation", begin_step, every_operation, end_step},
        {"checked step", begin_step, checked, end_step},
        {"attend", begin_step, attend, end_step},
        {"parameters", NULL, build_params, NULL},
        {"layer", begin_layer, apply_layer, end_layer},
        {"optimisers", begin_layer, optimise, end_layer},
        {"gradcheck", NULL, check_function, NULL},
        {"gradcheck of parameters", begin_doubles, check_parameters, end_params},
        {"gradcheck of an operation", NULL, check_operation, NULL},
    };
    faults_sweep(cases, sizeof cases / sizeof cases[0], 400);
}

/* ---- what needs no memory ---- */

static attn_optimizer *optimizer;
static attn_tensor *weights;

static void tell(void)
{
    char text[ATTN_SHAPE_TEXT];
    uint32_t block[4];
    for (attn_status s = ATTN_OK; s <= ATTN_EINTERRUPTED; s++) {
        assert_true(attn_status_name(s)[0] != '\0' && attn_status_sentence(s)[0] != '\0');
    }
    assert_true(attn_version()[0] != '\0' && attn_isa()[0] != '\0' && attn_default_threads() >= 1);
    for (int i = 0; i < attn_library_count(); i++) {
        assert_true(attn_library_name(i) != NULL && attn_library_version(i) != NULL);
    }
    for (int i = 0; i < attn_op_count(); i++) {
        assert_non_null(attn_op_name(i));
    }
    assert_string_equal(attn_shape_format(ATTN_SHAPE(2, 3), text), "(2,3)");
    assert_string_equal(attn_dtype_name(ATTN_F64), "float64");
    assert_string_equal(attn_score_name(ATTN_SCORE_DOT), "dot");
    assert_true(attn_shape_equal(ATTN_SHAPE(2), ATTN_SHAPE(2)));
    (void)attn_has_threads();
    attn_random_block(1, 2, 3, block);
    assert_true(attn_random_uniform(1, 2, 3) < 1 && attn_random_normal(1, 2, 3) < 9 && attn_random_below(1, 2, 3, 4) < 4);
    assert_true(attn_fma_rounds(ATTN_F32, 1, 1) > 0);
    assert_true(attn_schedule(&(attn_schedule_config){.warmup_steps = 4}, 0) < 1);
}

static void look_and_step(void)
{
    double mean[9];
    int32_t begins[3], lengths[3];
    assert_int_equal(attn_packed_rows((const int32_t[]){0, 1, 3}, 2, begins, lengths), ATTN_OK);
    assert_int_equal(attn_weights_describe(weights).rows, 6);
    assert_int_equal(attn_weights_mean_heads(weights, mean), ATTN_OK);
    assert_int_equal(attn_attention_get_config(layer).head_dim, 2);
    assert_int_equal(attn_params_find(params, "table"), attn_params_count(params) - 1);
    assert_string_equal(attn_params_name(params, attn_params_count(params) - 1), "table");
    assert_true(attn_params_config(params, attn_params_count(params) - 1).sparse_rows);
    assert_true(attn_params_elements(params) > 15);
    assert_true(attn_tensor_count(weights) == 18 && attn_tensor_dtype(weights) == ATTN_F32 && attn_tensor_shape(weights).rank == 4);
    assert_true(isnan(attn_tensor_get_grad(weights, 0)) && attn_tape_capacity(tape) > 0);
    attn_tape_set_recording(tape, true);
    assert_true(attn_clip_grad_norm(params, 1) > 0);
    assert_int_equal(attn_optimizer_step(optimizer, 1, NULL), ATTN_OK);
    attn_optimizer_set_steps(optimizer, attn_optimizer_steps(optimizer) + 1);
    for (int slot = 0; slot < attn_optimizer_slots(optimizer); slot++) {
        assert_true(attn_optimizer_slot_name(optimizer, slot) != NULL && attn_optimizer_slot(optimizer, slot, 0) != NULL);
    }
    attn_params_zero_grad(params);
}

static void what_needs_no_memory(void **state)
{
    (void)state;
    begin_layer();
    optimizer = attn_adamw_new(params, (attn_adamw_config){0}, NULL);
    assert_int_equal(attn_backward(tape, layer_loss(tape)), ATTN_OK);
    attn_tensor *x = attn_input(tape, ATTN_F32, ATTN_SHAPE(1, 3, 4), values);
    weights = attn_attention_apply(tape, layer, (attn_attention_input){.query = x, .report = {.weights = true}}).weights;
    assert_non_null(weights);
    faults_none(tell);
    faults_none(look_and_step);
    attn_optimizer_free(optimizer);
    end_layer();
    assert_int_equal(faults_live(), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memory_may_run_out_anywhere),
        cmocka_unit_test(what_needs_no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

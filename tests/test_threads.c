/* The number of threads never changes a result by a bit: a step with every operation, large enough that all of them are cut into tiles, on
 * threads that start however small the work is. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support/every_op.h"
#include "support/tensors.h"

#include "attn/optim.h"
#include "attn/random.h"
#include "core/core.h"

/* ---- one step of everything ---- */

/* The loss and all gradients of one step, as bytes. */
typedef struct result {
    char *bytes;
    size_t size;
} result;

static void append(result *r, const void *data, size_t size)
{
    r->bytes = realloc(r->bytes, r->size + size);
    assert_non_null(r->bytes);
    memcpy(r->bytes + r->size, data, size);
    r->size += size;
}

static result run(const every_op *e, int threads)
{
    result r = {NULL, 0};
    attn_params *p = e->params;
    attn_tape *t = attn_tape_new(NULL);
    attn__tape_force_threads(t, threads);
    if (threads > 1) {
        attn__tape_force_threads(t, threads);
    }
    attn_tape_set_training(t, true);
    attn_tape_set_random(t, 7, 8);
    attn_params_zero_grad(p);
    attn_tensor *loss = every_op_loss(e, t);
    assert_tape_ok(t);
    assert_int_equal(attn_backward(t, loss), ATTN_OK);
    append(&r, attn_tensor_data(loss), attn_dtype_size(attn_params_dtype(p)));
    for (int i = 0; i < attn_params_count(p); i++) {
        int64_t n = attn_shape_count(attn_params_shape(p, i));
        assert_int_equal(attn__kernels(attn_params_dtype(p))->first_nonfinite(n, attn_params_grad(p, i)), -1);
        append(&r, attn_params_grad(p, i), (size_t)n * attn_dtype_size(attn_params_dtype(p)));
    }
    attn_tape_free(t);
    return r;
}

static const int threads[] = {2, 3, 4, 8, 0}; /* 0: the default, where the work is worth it */
#define THREADS (sizeof threads / sizeof threads[0])

static void a_step_is_the_same_on_any_number_of_threads(void **state)
{
    (void)state;
    assert_int_equal(attn_op_count(), EVERY_OP_COUNT);
    for (attn_dtype dtype = ATTN_F32; dtype <= ATTN_F64; dtype++) {
        every_op e;
        assert_int_equal(every_op_new(&e, dtype, 4, 64, 72, NULL), ATTN_OK);
        result one = run(&e, 1);
        assert_true(one.size > 10000);
        for (size_t i = 0; i < THREADS; i++) {
            result many = run(&e, threads[i]);
            assert_int_equal(many.size, one.size);
            assert_memory_equal(many.bytes, one.bytes, one.size);
            free(many.bytes);
        }
        free(one.bytes);
        every_op_free(&e);
    }
}

/* ---- each operation that is cut into tiles ---- */

static attn_tensor *big(attn_tape *t, attn_shape shape, uint64_t seed)
{
    return random_variable(t, ATTN_F32, shape, seed);
}

static attn_tensor *tanh_of(attn_tape *t, attn_tensor *in[])
{
    return attn_tanh(t, in[0] = big(t, ATTN_SHAPE(300, 301), 1));
}

static attn_tensor *relu_of(attn_tape *t, attn_tensor *in[])
{
    return attn_relu(t, in[0] = big(t, ATTN_SHAPE(300, 301), 1));
}

static attn_tensor *gelu_of(attn_tape *t, attn_tensor *in[])
{
    return attn_gelu(t, in[0] = big(t, ATTN_SHAPE(300, 301), 1), ATTN_GELU_ERF);
}

static attn_tensor *dropout_of(attn_tape *t, attn_tensor *in[])
{
    return attn_dropout(t, in[0] = big(t, ATTN_SHAPE(300, 301), 1), 0.3);
}

static attn_tensor *softmax_of(attn_tape *t, attn_tensor *in[])
{
    return attn_softmax(t, in[0] = big(t, ATTN_SHAPE(150, 301), 1), &(attn_mask){.causal = ATTN_CAUSAL_BOTTOM_RIGHT});
}

static attn_tensor *layer_norm_of(attn_tape *t, attn_tensor *in[])
{
    in[0] = big(t, ATTN_SHAPE(150, 301), 1);
    return attn_layer_norm(t, in[0], in[1] = big(t, ATTN_SHAPE(301), 2), in[2] = big(t, ATTN_SHAPE(301), 3), 1e-5);
}

static attn_tensor *matmul_of(attn_tape *t, attn_tensor *in[])
{
    in[0] = big(t, ATTN_SHAPE(2, 130, 70), 1);
    return attn_matmul(t, in[0], in[1] = big(t, ATTN_SHAPE(2, 300, 70), 2), ATTN_NT);
}

static attn_tensor *shared_matmul_of(attn_tape *t, attn_tensor *in[])
{
    in[0] = big(t, ATTN_SHAPE(3, 130, 70), 1);
    return attn_matmul(t, in[0], in[1] = big(t, ATTN_SHAPE(70, 131), 2), ATTN_NN);
}

static attn_tensor *dots_of(attn_tape *t, attn_tensor *in[])
{
    in[0] = big(t, ATTN_SHAPE(2, 70, 32), 1);
    return attn_attention_scores(t, in[0], in[1] = big(t, ATTN_SHAPE(2, 71, 32), 2), NULL,
                                 (attn_score_config){.score = ATTN_SCORE_SCALED_DOT, .heads = 2}, NULL);
}

static attn_tensor *additive_of(attn_tape *t, attn_tensor *in[])
{
    in[0] = big(t, ATTN_SHAPE(2, 70, 8), 1);
    in[1] = big(t, ATTN_SHAPE(2, 71, 8), 2);
    return attn_attention_scores(t, in[0], in[1], in[2] = big(t, ATTN_SHAPE(2, 4), 3),
                                 (attn_score_config){.score = ATTN_SCORE_ADDITIVE, .heads = 2}, NULL);
}

static attn_tensor *mix_of(attn_tape *t, attn_tensor *in[])
{
    in[0] = big(t, ATTN_SHAPE(2, 2, 70, 71), 1);
    return attn_attention_mix(t, in[0], in[1] = big(t, ATTN_SHAPE(2, 71, 32), 2), 0, NULL);
}

static attn_tensor *add_of(attn_tape *t, attn_tensor *in[])
{
    in[0] = big(t, ATTN_SHAPE(150, 601), 1);
    return attn_add(t, attn_mul(t, in[0], in[0]), in[1] = big(t, ATTN_SHAPE(601), 2));
}

static attn_tensor *add_per_batch_of(attn_tape *t, attn_tensor *in[])
{
    in[0] = big(t, ATTN_SHAPE(30, 3, 1001), 1);
    return attn_add(t, in[0], in[1] = big(t, ATTN_SHAPE(30, 1, 1001), 2));
}

static attn_tensor *embedding_of(attn_tape *t, attn_tensor *in[])
{
    int32_t ids[700];
    for (int i = 0; i < 700; i++) {
        ids[i] = i * i % 50; /* most rows many times */
    }
    return attn_embedding(t, in[0] = big(t, ATTN_SHAPE(50, 301), 1), ids, ATTN_SHAPE(700));
}

static attn_tensor *cross_entropy_of(attn_tape *t, attn_tensor *in[])
{
    int32_t targets[150];
    for (int i = 0; i < 150; i++) {
        targets[i] = i % 7 == 0 ? ATTN_IGNORE : i;
    }
    return attn_cross_entropy(t, in[0] = big(t, ATTN_SHAPE(150, 301), 1), targets, &(attn_cross_entropy_config){.label_smoothing = 0.1});
}

static result run_one(attn_tensor *(*build)(attn_tape *t, attn_tensor *in[]), int number)
{
    result r = {NULL, 0};
    attn_tape *t = attn_tape_new(NULL);
    attn__tape_force_threads(t, number);
    attn_tape_set_training(t, true);
    attn_tensor *in[3] = {NULL}, *y = build(t, in);
    assert_tape_ok(t);
    double *g = random_values(attn_tensor_count(y), 9, -1, 1);
    assert_int_equal(backward_from(t, y, g), ATTN_OK);
    append(&r, attn_tensor_data(y), (size_t)attn_tensor_count(y) * sizeof(float));
    for (int i = 0; i < 3 && in[i] != NULL; i++) {
        append(&r, attn_tensor_grad(in[i]), (size_t)attn_tensor_count(in[i]) * sizeof(float));
    }
    attn_tape_free(t);
    free(g);
    return r;
}

static void each_tiled_operation_is_the_same_on_any_number_of_threads(void **state)
{
    (void)state;
    attn_tensor *(*const all[])(attn_tape * t, attn_tensor * in[]) = {
        tanh_of, relu_of,     gelu_of, dropout_of,   softmax_of,       layer_norm_of, matmul_of,       shared_matmul_of,
        dots_of, additive_of, mix_of,  embedding_of, cross_entropy_of, add_of,        add_per_batch_of};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        result one = run_one(all[i], 1);
        for (size_t k = 0; k < THREADS; k++) {
            for (int again = 0; again < 3; again++) {
                result many = run_one(all[i], threads[k]);
                assert_int_equal(many.size, one.size);
                assert_memory_equal(many.bytes, one.bytes, one.size);
                free(many.bytes);
            }
        }
        free(one.bytes);
    }
}

/* ---- what goes over all parameters ---- */

/* Dense parameters of several tiles and of less than one, a frozen one, and a table of which every third row was touched, in odd order. */
static attn_params *parameters(attn_dtype dtype)
{
    const attn_param_config dense = {.init = ATTN_INIT_UNIFORM, .scale = 1, .decay = true}, table = {.sparse_rows = true};
    attn_params *p = attn_params_new(dtype, NULL);
    attn_params_add(p, "long", ATTN_SHAPE(90001), dense);
    attn_params_add(p, "frozen", ATTN_SHAPE(50000), (attn_param_config){.frozen = true});
    attn_params_add(p, "none", ATTN_SHAPE(0), dense);
    attn_params_add(p, "table", ATTN_SHAPE(2000, 33), table);
    attn_params_add(p, "short", ATTN_SHAPE(5), dense);
    assert_int_equal(attn_params_build(p, 7, NULL), ATTN_OK);
    for (int id = 0; id < attn_params_count(p); id++) {
        for (int64_t i = 0; i < attn_shape_count(attn_params_shape(p, id)); i++) {
            attn__kernels(dtype)->set(attn_params_grad(p, id), i, 2 * attn_random_uniform(3, (uint64_t)id, (uint64_t)i) - 1);
        }
    }
    for (int64_t i = 0; i < 666; i++) {
        attn__params_touch(p, 3, i * 5 % 666 * 3);
    }
    return p;
}

static void append_parameters(result *r, attn_params *p, attn_optimizer *o)
{
    for (int id = 0; id < attn_params_count(p); id++) {
        size_t size = (size_t)attn_shape_count(attn_params_shape(p, id)) * attn_dtype_size(attn_params_dtype(p));
        append(r, attn_params_value(p, id), size);
        append(r, attn_params_grad(p, id), size);
        for (int slot = 0; slot < attn_optimizer_slots(o); slot++) {
            append(r, attn_optimizer_slot(o, slot, id), size);
        }
    }
}

/* Clipping, a step and zeroing. */
static result run_step(attn_dtype dtype, bool sgd, int number)
{
    result r = {NULL, 0};
    attn_params *p = parameters(dtype);
    attn_optimizer *o = sgd ? attn_sgd_new(p, (attn_sgd_config){.momentum = 0.9, .weight_decay = 0.1}, NULL)
                            : attn_adamw_new(p, (attn_adamw_config){.weight_decay = 0.1}, NULL);
    attn__params_force_threads(p, number);
    double norm = attn_clip_grad_norm(p, 2);
    assert_true(norm > 100);
    append(&r, &norm, sizeof norm);
    assert_int_equal(attn_optimizer_step(o, 1, NULL), ATTN_OK);
    append_parameters(&r, p, o);
    attn_params_zero_grad(p);
    append_parameters(&r, p, o);
    attn_optimizer_free(o);
    attn_params_free(p);
    return r;
}

static void steps_are_the_same_on_any_number_of_threads(void **state)
{
    (void)state;
    for (int form = 0; form < 4; form++) {
        attn_dtype dtype = form & 1 ? ATTN_F32 : ATTN_F64;
        result one = run_step(dtype, form & 2, 1);
        for (size_t k = 0; k < THREADS; k++) {
            result many = run_step(dtype, form & 2, threads[k]);
            assert_int_equal(many.size, one.size);
            assert_memory_equal(many.bytes, one.bytes, one.size);
            free(many.bytes);
        }
        free(one.bytes);
    }
}

/* Of two gradients that are not finite the first is named, whichever tile is looked at first. */
static void the_first_fault_is_named_on_any_number_of_threads(void **state)
{
    (void)state;
    for (size_t k = 0; k < THREADS; k++) {
        attn_params *p = parameters(ATTN_F32);
        attn_optimizer *o = attn_adamw_new(p, (attn_adamw_config){0}, NULL);
        attn_error error = {0};
        attn__params_force_threads(p, threads[k]);
        attn__kernels(ATTN_F32)->set(attn_params_grad(p, 3), 600 * 33 + 4, NAN);
        attn__kernels(ATTN_F32)->set(attn_params_grad(p, 3), 30 * 33 + 5, INFINITY);
        assert_int_equal(attn_optimizer_step(o, 1, &error), ATTN_ENONFINITE);
        assert_contains(error.message, "gradient of 'table' (2000,33) is inf at (30,5)");
        attn__kernels(ATTN_F32)->set(attn_params_grad(p, 0), 80000, NAN);
        assert_int_equal(attn_optimizer_step(o, 1, &error), ATTN_ENONFINITE);
        assert_contains(error.message, "gradient of 'long' (90001) is ");
        assert_contains(error.message, "at (80000)");
        attn_optimizer_free(o);
        attn_params_free(p);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_step_is_the_same_on_any_number_of_threads),
        cmocka_unit_test(each_tiled_operation_is_the_same_on_any_number_of_threads),
        cmocka_unit_test(steps_are_the_same_on_any_number_of_threads),
        cmocka_unit_test(the_first_fault_is_named_on_any_number_of_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* The number of threads never changes a result by a bit: a step with every operation, large enough that all of them are cut into tiles, on
 * threads that start however small the work is. */
#include <stdlib.h>
#include <string.h>

#include "support/every_op.h"
#include "support/tensors.h"

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
        tanh_of, relu_of, gelu_of, dropout_of, softmax_of, layer_norm_of, matmul_of, shared_matmul_of, dots_of, additive_of, mix_of};
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_step_is_the_same_on_any_number_of_threads),
        cmocka_unit_test(each_tiled_operation_is_the_same_on_any_number_of_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* The attention layer in training: every gradient, any number of threads, no allocation after the first step. */
#include <stdlib.h>
#include <string.h>

#include "support/attention.h"
#include "support/params.h"

#include "attn/gradcheck.h"
#include "attn/optim.h"

static const attn_score scores[] = {ATTN_SCORE_SCALED_DOT, ATTN_SCORE_DOT, ATTN_SCORE_ADDITIVE};

/* ---- gradients ---- */

/* Inputs do not change, so the parameters are what the function depends on. Output and weights both count. */
static attn_tensor *build(attn_tape *t, attn_tensor *const inputs[], int n, void *ctx)
{
    (void)inputs;
    (void)n;
    attn_attention_output out = attention_run(ctx, t);
    attn_tensor *x[] = {attn_reshape(t, out.output, ATTN_SHAPE(1, attn_tensor_count(out.output))),
                        attn_reshape(t, out.weights, ATTN_SHAPE(1, attn_tensor_count(out.weights)))};
    return out.output != NULL ? attn_concat(t, x, 2) : NULL;
}

static void check(attention_problem p)
{
    attn_gradcheck_report report;
    attention_open(&p, ATTN_F64);
    attn_status status = attn_gradcheck_params(build, &p, p.params, 0, &(attn_gradcheck_config){.seed = p.seed, .rtol = 1e-6}, &report);
    if (status != ATTN_OK) {
        print_error("score %d, %d heads, clip %d, seed %d: %s\n", (int)p.config.score, p.config.heads, p.config.relative_clip, (int)p.seed,
                    report.verdict);
    }
    assert_int_equal(status, ATTN_OK);
    assert_int_equal(report.skipped, 0);
    int64_t elements = attn_params_elements(p.params);
    assert_int_equal(report.elements, elements);
    attention_close(&p);
}

/* Every score, 1 and 3 heads, with and without positions, with and without a mask, self and cross, 20 seeds. */
static void gradients_are_those_of_the_function(void **state)
{
    (void)state;
    const int32_t lengths[] = {4, 2}, start[] = {1, 0};
    for (uint64_t seed = 0; seed < 20; seed++) {
        for (int v = 0; v < 3 * 2 * 2 * 2 * 2; v++) {
            attention_problem p = {.batch = 2, .queries = 4, .keys = 4, .self = v / 24 == 0, .seed = 1000 * seed + (uint64_t)v};
            p.config = (attn_attention_config){.score = scores[v % 3],
                                               .heads = v / 3 % 2 == 0 ? 1 : 3,
                                               .query_dim = 3,
                                               .relative_clip = v / 6 % 2 == 0 ? 0 : 2,
                                               .bias = seed % 2 == 0};
            if (!p.self) {
                p.queries = 3;
                p.query_start = start;
                p.config.key_dim = 2;
                p.config.head_dim = 2;
                p.config.output_dim = 1;
            }
            if (v / 12 % 2 == 1) {
                p.mask = (attn_mask){.key_lengths = lengths, .causal = ATTN_CAUSAL_BOTTOM_RIGHT};
            }
            check(p);
        }
    }
}

/* Dropout in training is a fixed mask too: the same seed and step draw it again. */
static attn_tensor *build_training(attn_tape *t, attn_tensor *const inputs[], int n, void *ctx)
{
    attn_tape_set_training(t, true);
    attn_tape_set_random(t, 5, 6);
    return build(t, inputs, n, ctx);
}

static void gradients_with_dropout_are_right(void **state)
{
    (void)state;
    attention_problem p = {.config = {.query_dim = 4, .heads = 2, .dropout = 0.4}, .batch = 2, .queries = 4, .keys = 4, .self = true};
    attn_gradcheck_report report;
    attention_open(&p, ATTN_F64);
    assert_int_equal(attn_gradcheck_params(build_training, &p, p.params, 0, NULL, &report), ATTN_OK);
    attention_close(&p);
}

/* ---- threads ---- */

/* Output, weights and gradients of a run that is large enough for threads, as bytes. */
static float *run_on(attention_problem *p, int threads, int64_t *count)
{
    attn_tape *t = attn_tape_new(NULL);
    attn_tape_set_threads(t, threads);
    if (threads > 1) {
        attn__tape_force_threads(t, threads);
    }
    attn_tape_set_training(t, true);
    attn_params_zero_grad(p->params);
    attn_attention_output out = attention_run(p, t);
    double *cotangent = random_values(attn_tensor_count(out.output), 3, -1, 1);
    assert_tape_ok(t);
    assert_int_equal(backward_from(t, out.output, cotangent), ATTN_OK);
    attn_tensor *const seen[] = {out.output, out.weights};
    *count = attn_tensor_count(out.output) + attn_tensor_count(out.weights) + attn_tensor_count(p->q);
    for (int id = 0; id < attn_params_count(p->params); id++) {
        *count += attn_shape_count(attn_params_shape(p->params, id));
    }
    float *bits = malloc((size_t)*count * sizeof *bits), *at = bits;
    for (int i = 0; i < 2; i++) {
        memcpy(at, attn_tensor_data(seen[i]), (size_t)attn_tensor_count(seen[i]) * sizeof *at);
        at += attn_tensor_count(seen[i]);
    }
    memcpy(at, attn_tensor_grad(p->q), (size_t)attn_tensor_count(p->q) * sizeof *at);
    at += attn_tensor_count(p->q);
    for (int id = 0; id < attn_params_count(p->params); id++) {
        int64_t n = attn_shape_count(attn_params_shape(p->params, id));
        memcpy(at, attn_params_grad(p->params, id), (size_t)n * sizeof *at);
        at += n;
    }
    free(cotangent);
    attn_tape_free(t);
    return bits;
}

static void threads_change_no_bit(void **state)
{
    (void)state;
    const int32_t lengths[] = {100, 37, 99};
    for (size_t s = 0; s < 3; s++) {
        attention_problem p = {.batch = 3, .queries = 101, .keys = 101, .self = true, .mask = {.key_lengths = lengths}};
        p.config =
            (attn_attention_config){.score = scores[s], .heads = 3, .query_dim = 45, .bias = true, .relative_clip = 10, .dropout = 0.1};
        attention_open(&p, ATTN_F32);
        int64_t n;
        float *one = run_on(&p, 1, &n);
        const int threads[] = {2, 3, 8, 0, 1};
        for (size_t i = 0; i < 5; i++) {
            float *several = run_on(&p, threads[i], &n);
            assert_memory_equal(one, several, (size_t)n * sizeof *one);
            free(several);
        }
        free(one);
        attention_close(&p);
    }
}

/* ---- memory ---- */

static double train_step(attn_params *p, const attn_attention *layer, attn_optimizer *o, attn_tape *t, uint64_t step)
{
    const int32_t lengths[] = {7, 4};
    attn_tape_reset(t);
    attn_tape_set_random(t, 1, step);
    attn_params_zero_grad(p);
    attn_tensor *x = random_variable(t, ATTN_F32, ATTN_SHAPE(2, 7, 12), 4);
    attn_attention_output out = attn_attention_apply(t, layer, (attn_attention_input){.query = x, .mask = {.key_lengths = lengths}});
    attn_tensor *loss = attn_mean(t, attn_mul(t, out.output, out.output));
    assert_int_equal(attn_backward(t, loss), ATTN_OK);
    double value = attn_tensor_get(loss, 0);
    (void)attn_clip_grad_norm(p, 1);
    assert_int_equal(attn_optimizer_step(o, 1, NULL), ATTN_OK);
    return value;
}

static void steps_allocate_nothing_after_the_first(void **state)
{
    (void)state;
    for (size_t s = 0; s < 3; s++) {
        counting_allocator c;
        counting_init(&c, 0);
        attn_params *p = attn_params_new(ATTN_F32, &c.value);
        const attn_attention *layer = attn_attention_add(
            p, "a",
            (attn_attention_config){.score = scores[s], .query_dim = 12, .heads = 3, .relative_clip = 4, .bias = true, .dropout = 0.1});
        assert_int_equal(attn_params_build(p, 0, NULL), ATTN_OK);
        attn_optimizer *o = attn_adamw_new(p, (attn_adamw_config){.learning_rate = 0.02}, NULL);
        attn_tape *t = attn_tape_new(&c.value);
        attn_tape_set_training(t, true);
        double first = train_step(p, layer, o, t, 0), last = 0;
        long allocations = c.allocations;
        size_t capacity = attn_tape_capacity(t);
        for (uint64_t step = 1; step < 50; step++) {
            last = train_step(p, layer, o, t, step);
            assert_int_equal(c.allocations, allocations);
        }
        assert_int_equal(attn_tape_capacity(t), capacity);
        assert_true(last < 0.5 * first); /* and it does learn */
        attn_tape_free(t);
        attn_optimizer_free(o);
        attn_params_free(p);
        assert_int_equal(c.live, 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gradients_are_those_of_the_function),
        cmocka_unit_test(gradients_with_dropout_are_right),
        cmocka_unit_test(threads_change_no_bit),
        cmocka_unit_test(steps_allocate_nothing_after_the_first),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

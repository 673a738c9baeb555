/* The attention layer under masks: hidden positions, padding, batch mates and the future reach nothing. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support/attention.h"
#include "support/params.h"

static const attn_score scores[] = {ATTN_SCORE_SCALED_DOT, ATTN_SCORE_DOT, ATTN_SCORE_ADDITIVE};

/* Everything that the layer can have, in one of the three scores. */
static attn_attention_config full(size_t score, int heads)
{
    return (attn_attention_config){.score = scores[score], .heads = heads, .query_dim = 6, .bias = true, .relative_clip = 2};
}

static void assert_same_bits(attn_tensor *x, int64_t from, attn_tensor *y, int64_t to, int64_t count)
{
    size_t size = attn_dtype_size(attn_tensor_dtype(x));
    assert_non_null(x);
    assert_non_null(y);
    assert_memory_equal((char *)attn_tensor_data(x) + (size_t)from * size, (char *)attn_tensor_data(y) + (size_t)to * size,
                        (size_t)count * size);
}

/* ---- which pairs see each other ---- */

static const int32_t key_lengths[] = {5, 2}, query_lengths[] = {4, 3}, row_lengths[] = {0, 1, 2, 3, 5, 4, 3, 0};
static const uint8_t allow_keys[] = {1, 0, 1, 1, 0, 0, 1, 1, 1, 1};
static const uint8_t allow_pairs[] = {1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 1, 0, 1, 0, 1, 0, 0, 0, 0, 1,
                                      1, 0, 0, 0, 0, 0, 1, 0, 0, 0, 1, 1, 1, 1, 1, 0, 0, 1, 0, 0};

static void every_mask_is_that_of_the_loops(void **state)
{
    (void)state;
    const attn_mask masks[] = {
        {.key_lengths = key_lengths},
        {.query_lengths = query_lengths},
        {.row_lengths = row_lengths},
        {.allow = allow_pairs},
        {.allow = allow_keys, .allow_form = ATTN_ALLOW_KEYS},
        {.causal = ATTN_CAUSAL_TOP_LEFT},
        {.causal = ATTN_CAUSAL_BOTTOM_RIGHT},
        {.key_lengths = key_lengths, .query_lengths = query_lengths, .allow = allow_pairs, .causal = ATTN_CAUSAL_BOTTOM_RIGHT},
    };
    for (size_t i = 0; i < sizeof masks / sizeof masks[0]; i++) {
        for (size_t s = 0; s < 3; s++) {
            attention_problem p = {.config = full(s, 2), .batch = 2, .queries = 4, .keys = 5, .mask = masks[i], .seed = i};
            attention_open(&p, ATTN_F64);
            attn_tape *t = attn_tape_new(NULL);
            attn_attention_output out = attention_run(&p, t);
            assert_tape_ok(t);
            attention_reference r = attention_by_loops(&p);
            assert_values(out.scores, r.scores, 1e-13, 1e-13);
            assert_values(out.weights, r.weights, 1e-13, 1e-13);
            assert_values(out.output, r.output, 1e-13, 1e-13);
            attention_reference_free(&r);
            attn_tape_free(t);
            attention_close(&p);
        }
    }
}

/* ---- padding and batch mates ---- */

enum { WORDS = 5, LONGEST = 32, WIDTH = 6 };

/* A sentence of WORDS words padded to `length` with `filling`, in a batch with `mates` sentences of full length; its output (WORDS,WIDTH).
 */
static void padded_output(const attention_problem *p, int64_t length, int64_t mates, float filling, float *output)
{
    attn_tape *t = attn_tape_new(NULL);
    int32_t lengths[3] = {WORDS, (int32_t)length, (int32_t)length};
    attn_tensor *x = attn_input(t, ATTN_F32, ATTN_SHAPE(1 + mates, length, WIDTH), NULL);
    float *data = attn_tensor_data(x);
    for (int64_t i = 0; i < attn_tensor_count(x); i++) {
        data[i] = i < WORDS * (int64_t)WIDTH ? (float)p->query[i] : i < length * WIDTH ? filling : (float)(i % 7) - 3;
    }
    attn_attention_output out =
        attn_attention_apply(t, p->layer, (attn_attention_input){.query = x, .mask = {.key_lengths = lengths, .query_lengths = lengths}});
    assert_tape_ok(t);
    memcpy(output, attn_tensor_data(out.output), sizeof(float) * WORDS * WIDTH);
    attn_tape_free(t);
}

/* Field report B07. */
static void padding_and_batch_mates_change_nothing(void **state)
{
    (void)state;
    float alone[WORDS * WIDTH], padded[WORDS * WIDTH];
    for (size_t s = 0; s < 3; s++) {
        attention_problem p = {.config = full(s, 3), .batch = 1, .queries = WORDS, .keys = WORDS, .self = true, .seed = s};
        attention_open(&p, ATTN_F32);
        padded_output(&p, WORDS, 0, 0, alone);
        const int64_t length[] = {8, LONGEST, WORDS, 8, LONGEST};
        for (size_t i = 0; i < 5; i++) {
            padded_output(&p, length[i], i < 2 ? 0 : 2, i % 2 == 0 ? NAN : 1e30F, padded);
            assert_memory_equal(alone, padded, sizeof alone);
        }
        attention_close(&p);
    }
}

/* Seven queries at once and one by one. */
static void queries_do_not_depend_on_each_other(void **state)
{
    (void)state;
    for (size_t s = 0; s < 3; s++) {
        attention_problem p = {.config = full(s, 2), .batch = 1, .queries = 7, .keys = 9, .seed = s};
        attention_open(&p, ATTN_F32);
        attn_tape *t = attn_tape_new(NULL);
        attn_attention_output all = attention_run(&p, t);
        for (int32_t i = 0; i < 7; i++) {
            attn_tensor *one = variable_of(t, ATTN_F32, ATTN_SHAPE(1, 1, WIDTH), p.query + (int64_t)i * WIDTH);
            attn_attention_output out =
                attn_attention_apply(t, p.layer, (attn_attention_input){.query = one, .key = p.k, .value = p.v, .query_start = &i});
            assert_tape_ok(t);
            assert_same_bits(out.output, 0, all.output, (int64_t)i * WIDTH, WIDTH);
        }
        attn_tape_free(t);
        attention_close(&p);
    }
}

/* With causal order, words that come later change nothing that was computed before them. */
static void the_future_is_not_seen(void **state)
{
    (void)state;
    enum { T = 6 };
    for (size_t s = 0; s < 3; s++) {
        attention_problem p = {
            .config = full(s, 2), .batch = 1, .queries = T, .keys = T, .self = true, .mask = {.causal = ATTN_CAUSAL_TOP_LEFT}};
        attention_open(&p, ATTN_F32);
        attn_tape *t = attn_tape_new(NULL);
        attn_attention_output before = attention_run(&p, t);
        for (int64_t known = 1; known < T; known++) {
            for (int64_t i = known * WIDTH; i < T * (int64_t)WIDTH; i++) {
                p.query[i] = i % 2 == 0 ? NAN : 1e20;
            }
            attn_attention_output after = attention_run(&p, t);
            assert_tape_ok(t);
            assert_same_bits(before.output, 0, after.output, 0, known * WIDTH);
            free(p.query);
            p.query = p.key = p.value = random_values(T * (int64_t)WIDTH, p.seed + 1, -1, 1);
        }
        attn_tape_free(t);
        attention_close(&p);
    }
}

/* ---- NaN in what is hidden ---- */

/* Bits of the output's sum-of-rows loss and of every parameter gradient, in one array. */
static float *bits_of_run(attention_problem *p, int64_t *count)
{
    attn_tape *t = attn_tape_new(NULL);
    attn_params_zero_grad(p->params);
    attn_attention_output out = attention_run(p, t);
    double *cotangent = random_values(attn_tensor_count(out.output), 9, -1, 1);
    assert_tape_ok(t);
    assert_int_equal(backward_from(t, out.output, cotangent), ATTN_OK);
    *count = attn_tensor_count(out.output);
    for (int id = 0; id < attn_params_count(p->params); id++) {
        *count += attn_shape_count(attn_params_shape(p->params, id));
    }
    float *bits = malloc((size_t)*count * sizeof *bits);
    int64_t at = attn_tensor_count(out.output);
    memcpy(bits, attn_tensor_data(out.output), (size_t)at * sizeof *bits);
    for (int id = 0; id < attn_params_count(p->params); id++) {
        int64_t n = attn_shape_count(attn_params_shape(p->params, id));
        memcpy(bits + at, attn_params_grad(p->params, id), (size_t)n * sizeof *bits);
        at += n;
    }
    free(cotangent);
    attn_tape_free(t);
    return bits;
}

/* The rows of queries (or keys) that no pair uses are filled. */
static void fill_hidden(attention_problem *p, double filling)
{
    for (int64_t b = 0; b < p->batch; b++) {
        for (int64_t i = 0; i < p->queries; i++) {
            bool used = false;
            for (int64_t j = 0; j < p->keys; j++) {
                used = used || attention_sees(p, b, i, j);
            }
            for (int64_t c = 0; c < p->config.query_dim && !used; c++) {
                p->query[(b * p->queries + i) * p->config.query_dim + c] = filling;
            }
        }
        for (int64_t j = 0; j < p->keys; j++) {
            bool used = false;
            for (int64_t i = 0; i < p->queries; i++) {
                used = used || attention_sees(p, b, i, j);
            }
            for (int64_t c = 0; c < p->config.key_dim && !used; c++) {
                p->key[(b * p->keys + j) * p->config.key_dim + c] = filling;
                p->value[(b * p->keys + j) * p->config.value_dim + c] = filling;
            }
        }
    }
}

static void nan_in_padding_reaches_neither_outputs_nor_gradients(void **state)
{
    (void)state;
    const int32_t no_keys[] = {4, 0};
    const attn_mask masks[] = {
        {.key_lengths = key_lengths},
        {.query_lengths = query_lengths, .key_lengths = key_lengths},
        {.allow = allow_keys, .allow_form = ATTN_ALLOW_KEYS},
        {.allow = allow_pairs},
        {.row_lengths = row_lengths},
        {.key_lengths = no_keys, .causal = ATTN_CAUSAL_TOP_LEFT},
    };
    for (size_t i = 0; i < 3 * sizeof masks / sizeof masks[0]; i++) {
        attention_problem p = {.config = full(i % 3, 2), .batch = 2, .queries = 4, .keys = 5, .mask = masks[i / 3], .seed = i};
        int64_t n;
        attention_open(&p, ATTN_F32);
        float *clean = bits_of_run(&p, &n);
        const double fillings[] = {0, NAN, INFINITY, -1e30};
        for (size_t f = 0; f < 4; f++) {
            fill_hidden(&p, fillings[f]);
            float *filled = bits_of_run(&p, &n);
            assert_memory_equal(clean, filled, (size_t)n * sizeof *clean);
            free(filled);
        }
        for (int64_t k = 0; k < n; k++) {
            assert_true(isfinite(clean[k]));
        }
        free(clean);
        attention_close(&p);
    }
}

/* A sentence without a visible key: weights 0, output 0 whatever the biases, and the gradients are those of the other sentence alone. Field
 * report B01. */
static void an_empty_sentence_takes_no_part(void **state)
{
    (void)state;
    const int32_t lengths[] = {3, 0};
    for (size_t s = 0; s < 3; s++) {
        attention_problem p = {.config = full(s, 2), .batch = 2, .queries = 1, .keys = 3, .mask = {.key_lengths = lengths}};
        attention_open(&p, ATTN_F32);
        int64_t n, outputs = WIDTH;
        attn_tape *t = attn_tape_new(NULL);
        attn_attention_output out = attention_run(&p, t);
        for (int64_t j = 0; j < 3; j++) {
            assert_close(attn_tensor_get(out.weights, 6 + j), 0, 0, 0);
            assert_close(attn_tensor_get(out.weights, 9 + j), 0, 0, 0);
        }
        for (int64_t c = 0; c < outputs; c++) {
            assert_close(attn_tensor_get(out.output, outputs + c), 0, 0, 0);
        }
        float *both = bits_of_run(&p, &n);
        p.batch = 1;
        int64_t alone_count;
        float *alone = bits_of_run(&p, &alone_count);
        assert_int_equal(alone_count, n - outputs);
        assert_memory_equal(both, alone, (size_t)outputs * sizeof *both);
        assert_memory_equal(both + 2 * outputs, alone + outputs, (size_t)(n - 2 * outputs) * sizeof *both);
        free(both);
        free(alone);
        attn_tape_free(t);
        attention_close(&p);
    }
}

/* ---- weights ---- */

/* In training, with dropout: the reported weights are those before it. Field reports B46, B47. */
static void weights_are_those_before_dropout(void **state)
{
    (void)state;
    for (int heads = 1; heads <= 3; heads += 2) {
        attention_problem p = {.config = full(0, heads), .batch = 2, .queries = 4, .keys = 5, .mask = {.key_lengths = key_lengths}};
        p.config.dropout = 0.5;
        attention_open(&p, ATTN_F32);
        attn_tape *t = attn_tape_new(NULL);
        attn_attention_output quiet = attention_run(&p, t), again = attention_run(&p, t);
        attn_tape_set_training(t, true);
        attn_attention_output noisy = attention_run(&p, t);
        assert_tape_ok(t);
        int64_t n = attn_tensor_count(quiet.weights), outputs = attn_tensor_count(quiet.output);
        assert_true(attn_shape_equal(attn_tensor_shape(noisy.weights), ATTN_SHAPE(2, (int64_t)heads, 4, 5)));
        assert_same_bits(quiet.weights, 0, noisy.weights, 0, n);
        assert_same_bits(quiet.output, 0, again.output, 0, outputs);
        assert_memory_not_equal(attn_tensor_data(quiet.output), attn_tensor_data(noisy.output), (size_t)outputs * sizeof(float));
        for (int64_t row = 0; row < n / 5; row++) {
            double sum = 0;
            for (int64_t j = 0; j < 5; j++) {
                sum += attn_tensor_get(noisy.weights, row * 5 + j);
            }
            assert_close(sum, 1, 0, 1e-6);
        }
        attn_tape_free(t);
        attention_close(&p);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_mask_is_that_of_the_loops),
        cmocka_unit_test(padding_and_batch_mates_change_nothing),
        cmocka_unit_test(queries_do_not_depend_on_each_other),
        cmocka_unit_test(the_future_is_not_seen),
        cmocka_unit_test(nan_in_padding_reaches_neither_outputs_nor_gradients),
        cmocka_unit_test(an_empty_sentence_takes_no_part),
        cmocka_unit_test(weights_are_those_before_dropout),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

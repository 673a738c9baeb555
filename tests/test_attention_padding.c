/* What is hidden changes no bit; sentences side by side are what they are apart; a cache is what the whole sentence is; asking for weights
 * changes nothing. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support/attend.h"
#include "support/attention.h"
#include "support/params.h"

static const attn_score scores[] = {ATTN_SCORE_SCALED_DOT, ATTN_SCORE_DOT, ATTN_SCORE_ADDITIVE};

enum { B = MASK_BATCH, TQ = MASK_QUERIES, TK = MASK_KEYS, PAST = 3 }; /* TK counts the past */

static const double fillings[] = {0, NAN, INFINITY, -INFINITY, 1e30};

/* Numbers of any count, compared by their bits. */
typedef struct numbers {
    int64_t count;
    double values[8192];
} numbers;

static void take(numbers *n, const attn_tensor *x, bool gradient)
{
    for (int64_t i = 0; i < attn_tensor_count(x); i++) {
        assert_true(n->count < (int64_t)(sizeof n->values / sizeof n->values[0]));
        n->values[n->count++] = gradient ? attn_tensor_get_grad(x, i) : attn_tensor_get(x, i);
    }
}

static void assert_same_numbers(const numbers *a, const numbers *b)
{
    assert_int_equal(a->count, b->count);
    assert_memory_equal(a->values, b->values, (size_t)a->count * sizeof a->values[0]);
}

/* ---- padding ---- */

static void fill_row(double *x, int64_t row, int64_t width, double filling)
{
    for (int64_t c = 0; x != NULL && c < width; c++) {
        x[row * width + c] = filling;
    }
}

/* Everything that takes no part: rows of queries, keys, values and the past, the cotangent of silent queries, the bias of hidden pairs. */
static void fill_hidden(attend_problem *p, double filling)
{
    int64_t h = p->config.score.heads, g = p->config.score.kv_heads, keys = attend_keys(p);
    for (int64_t b = 0; b < p->batch; b++) {
        for (int64_t i = 0; i < p->queries; i++) {
            if (!attend_query_used(p, b, i)) {
                fill_row(p->in[IN_QUERY], b * p->queries + i, h * p->width, filling);
                fill_row(p->cotangent, b * p->queries + i, h * p->value_width, filling);
            }
            for (int64_t j = 0; j < h * keys && p->in[IN_BIAS] != NULL; j++) {
                double *x = p->in[IN_BIAS] + ((b * h + j / keys) * p->queries + i) * keys + j % keys;
                *x = attend_sees(p, b, i, j % keys) ? *x : filling;
            }
        }
        for (int64_t j = 0; j < keys; j++) {
            bool past = j < p->past;
            int64_t row = past ? b * p->past + j : b * p->keys + j - p->past;
            if (!attend_key_used(p, b, j)) {
                fill_row(p->in[past ? IN_PAST_KEY : IN_KEY], row, g * p->width, filling);
                fill_row(p->in[past ? IN_PAST_VALUE : IN_VALUE], row, g * p->value_width, filling);
            }
        }
    }
}

static numbers run_functional(attend_problem *p, attn_dtype dtype)
{
    numbers n = {.count = 0};
    attn_tape *t = attn_tape_new(NULL);
    attn_attend_output out = attend_run(p, t, dtype, true);
    take(&n, out.output, false);
    take(&n, out.weights, false);
    take(&n, out.scores, false);
    for (int k = 0; k < INPUTS; k++) {
        if (p->in[k] != NULL) {
            take(&n, p->variable[k], true);
        }
    }
    for (int64_t i = 0; i < n.count; i++) {
        assert_true(isfinite(n.values[i]));
    }
    attn_tape_free(t);
    return n;
}

/* Every mask and score, alone and with all that can be added, behind a past: also what the loops say. */
static void hidden_rows_change_no_bit(void **state)
{
    (void)state;
    for (int n = 0; n < MASKS * 3 * 4; n++) {
        bool all = n / (MASKS * 3) % 2 == 1;
        attn_dtype dtype = n / (MASKS * 6) == 0 ? ATTN_F32 : ATTN_F64;
        attend_problem p = {.batch = B, .queries = TQ, .keys = all ? TK - PAST : TK, .past = all ? PAST : 0, .width = 3, .value_width = 5};
        p.config.score = (attn_score_config){.score = scores[n % 3], .heads = 4, .kv_heads = all ? 2 : 4};
        p.config.mask = attend_masks[n / 3 % MASKS];
        p.config.soft_cap = all ? 0.8 : 0;
        p.bias = all ? ATTN_SHAPE(B, 4, TQ, TK) : ATTN_SCALAR;
        p.clip = all ? 2 : 0;
        p.seed = (uint64_t)n;
        attend_open(&p);
        attn_tape *t = attn_tape_new(NULL);
        attend_reference r = attend_by_loops(&p);
        attn_attend_output out = attend_run(&p, t, dtype, true);
        assert_true(attend_difference(&p, &out, &r, true) < 40 * epsilon_of(dtype));
        attend_reference_free(&r);
        attn_tape_free(t);
        p.config.report.first_query = n % (TQ + 1); /* also a part of the queries, or none */
        numbers clean = run_functional(&p, dtype);
        for (size_t f = 0; f < sizeof fillings / sizeof fillings[0]; f++) {
            fill_hidden(&p, fillings[f]);
            numbers filled = run_functional(&p, dtype);
            assert_same_numbers(&clean, &filled);
        }
        attend_close(&p);
    }
}

/* ---- the layer ---- */

enum { WIDTH = 8, PAST_WIDTH = 4 }; /* of inputs, and of two key/value heads of width 2 */

/* A layer with grouped heads, perhaps biases, positions and a cap, behind a past of projected rows. */
static attention_problem layer_problem(int score, const attn_mask *mask, bool bias)
{
    attention_problem p = {.batch = B, .queries = TQ, .keys = TK - PAST, .mask = *mask};
    p.config = (attn_attention_config){
        .score = scores[score], .heads = 4, .kv_heads = 2, .query_dim = WIDTH, .bias = bias, .relative_clip = 2, .soft_cap = 0.8};
    return p;
}

static numbers run_layer(attention_problem *p, const double *past, const double *cotangent, attn_dtype dtype)
{
    numbers n = {.count = 0};
    attn_tape *t = attn_tape_new(NULL);
    attn_params_zero_grad(p->params);
    attn_tensor *x[] = {
        variable_of(t, dtype, ATTN_SHAPE(B, TQ, WIDTH), p->query),        variable_of(t, dtype, ATTN_SHAPE(B, TK - PAST, WIDTH), p->key),
        variable_of(t, dtype, ATTN_SHAPE(B, TK - PAST, WIDTH), p->value), variable_of(t, dtype, ATTN_SHAPE(B, PAST, PAST_WIDTH), past),
        variable_of(t, dtype, ATTN_SHAPE(B, PAST, PAST_WIDTH), past),
    };
    attn_attention_output out = attn_attention_apply(t, p->layer,
                                                     (attn_attention_input){.query = x[0],
                                                                            .key = x[1],
                                                                            .value = x[2],
                                                                            .mask = p->mask,
                                                                            .past_key = x[3],
                                                                            .past_value = x[4],
                                                                            .report = {.weights = true, .scores = true}});
    assert_tape_ok(t);
    assert_int_equal(backward_from(t, out.output, cotangent), ATTN_OK);
    take(&n, out.output, false);
    take(&n, out.weights, false);
    take(&n, out.scores, false);
    for (int k = 0; k < 5; k++) {
        take(&n, x[k], true);
    }
    for (int id = 0; id < attn_params_count(p->params); id++) {
        for (int64_t i = 0; i < attn_shape_count(attn_params_shape(p->params, id)); i++) {
            n.values[n.count++] = grad(p->params, id, i);
        }
    }
    for (int64_t i = 0; i < n.count; i++) {
        assert_true(isfinite(n.values[i]));
    }
    attn_tape_free(t);
    return n;
}

/* Also where what comes back for a silent query is NaN: it reaches no parameter, W_o and b_o included. */
static void hidden_rows_change_no_bit_of_a_layer(void **state)
{
    (void)state;
    for (int n = 0; n < MASKS * 3 * 4; n++) {
        attn_dtype dtype = n / (MASKS * 3) % 2 == 0 ? ATTN_F32 : ATTN_F64;
        attention_problem p = layer_problem(n % 3, &attend_masks[n / 3 % MASKS], n / (MASKS * 6) == 0);
        attend_problem shape = {.batch = B, .queries = TQ, .keys = TK - PAST, .past = PAST, .width = PAST_WIDTH, .value_width = 0};
        shape.config.score = (attn_score_config){.heads = WIDTH / PAST_WIDTH, .kv_heads = 1};
        shape.config.mask = p.mask; /* who sees whom; the rows are filled by hand below */
        attention_open(&p, dtype);
        double *past = random_values(B * PAST * PAST_WIDTH, 4, -1, 1), *cotangent = random_values(B * TQ * WIDTH, 3, -1, 1);
        numbers clean = run_layer(&p, past, cotangent, dtype);
        for (size_t f = 0; f < sizeof fillings / sizeof fillings[0]; f++) {
            for (int64_t b = 0; b < B; b++) {
                for (int64_t i = 0; i < TQ; i++) {
                    bool used = attend_query_used(&shape, b, i);
                    fill_row(used ? NULL : p.query, b * TQ + i, WIDTH, fillings[f]);
                    fill_row(used ? NULL : cotangent, b * TQ + i, WIDTH, fillings[f]);
                }
                for (int64_t j = 0; j < TK; j++) {
                    bool used = attend_key_used(&shape, b, j);
                    fill_row(used || j >= PAST ? NULL : past, b * PAST + j, PAST_WIDTH, fillings[f]);
                    fill_row(used || j < PAST ? NULL : p.key, b * (TK - PAST) + j - PAST, WIDTH, fillings[f]);
                    fill_row(used || j < PAST ? NULL : p.value, b * (TK - PAST) + j - PAST, WIDTH, fillings[f]);
                }
            }
            numbers filled = run_layer(&p, past, cotangent, dtype);
            assert_same_numbers(&clean, &filled);
        }
        free(past);
        free(cotangent);
        attention_close(&p);
    }
}

/* ---- asking ---- */

/* What is reported is per head, and the same whether or not the tape records or trains, and on any number of threads. Field reports B45,
 * B46. */
static void what_is_reported_is_the_same_everywhere(void **state)
{
    (void)state;
    for (int n = 0; n < MASKS * 3 * 2; n++) {
        attend_problem p = {.batch = B, .queries = TQ, .keys = TK, .width = 3, .value_width = 5, .clip = 1, .seed = (uint64_t)n};
        p.config.score = (attn_score_config){.score = scores[n % 3], .heads = 4, .kv_heads = 2};
        p.config.mask = attend_masks[n / 3 % MASKS];
        p.config.composed = n / 3 / MASKS == 1;
        attend_open(&p);
        numbers quiet = run_functional(&p, ATTN_F32);
        for (int way = 0; way < 4; way++) { /* bit 0: record, bit 1: train (without dropout) on four threads */
            attn_tape *t = attn_tape_new(NULL);
            attn_tape_set_recording(t, way & 1);
            attn_tape_set_training(t, way & 2);
            attn_tape_set_threads(t, way & 2 ? 4 : 1);
            attn_attend_output out = attend_run(&p, t, ATTN_F32, false);
            attn_tensor *used =
                attn_add(t, attn_sum(t, attn_mul(t, out.weights, out.scores)), attn_sum(t, attn_mul(t, out.capped, out.scaled)));
            assert_true((way & 1) == 0 || attn_backward(t, used) == ATTN_OK);
            assert_true(attn_shape_equal(attn_tensor_shape(out.weights), ATTN_SHAPE(B, 4, TQ, TK)));
            numbers asked = {.count = 0};
            take(&asked, out.output, false);
            take(&asked, out.weights, false);
            take(&asked, out.scores, false);
            assert_memory_equal(asked.values, quiet.values, (size_t)asked.count * sizeof asked.values[0]);
            attn_tape_free(t);
        }
        attend_close(&p);
    }
}

/* Output and gradients of a step with dropout, and what the next dropout of the step does. */
static numbers run_asked(attend_problem *p, attn_dtype dtype, attn_attend_report report)
{
    numbers n = {.count = 0};
    attn_tape *t = attn_tape_new(NULL);
    attn_tape_set_training(t, true);
    attn_tape_set_random(t, 7, p->seed);
    p->config.report = report;
    attn_attend_output out = attend_run(p, t, dtype, true);
    assert_true((out.weights != NULL) == report.weights && (out.scores != NULL) == report.scores);
    assert_true((out.scaled != NULL) == report.scores && (out.capped != NULL) == report.scores);
    take(&n, out.output, false);
    for (int k = 0; k < INPUTS; k++) {
        if (p->in[k] != NULL) {
            take(&n, p->variable[k], true);
        }
    }
    take(&n, attn_dropout(t, p->variable[IN_VALUE], 0.5), false);
    attn_tape_free(t);
    return n;
}

/* Whatever is asked for, output, gradients and random numbers keep their bits: all options, with a past and dropout. */
static void asking_changes_no_bit(void **state)
{
    (void)state;
    const attn_attend_report reports[] = {
        {.weights = true},
        {.scores = true},
        {.weights = true, .scores = true},
        {.weights = true, .scores = true, .first_query = 2, .queries = 1},
        {.weights = true, .queries = 2},
        {.scores = true, .first_query = 3},
        {.weights = true, .scores = true, .first_query = TQ},
        {.first_query = 1, .queries = 2},
    };
    for (int n = 0; n < MASKS * 3 * 4; n++) {
        attn_dtype dtype = n / (MASKS * 3) % 2 == 0 ? ATTN_F32 : ATTN_F64;
        attend_problem p = {.batch = B, .queries = TQ, .keys = TK - PAST, .past = PAST, .width = 3, .value_width = 5, .seed = (uint64_t)n};
        p.config.score = (attn_score_config){.score = scores[n % 3], .heads = 4, .kv_heads = 2};
        p.config.mask = attend_masks[n / 3 % MASKS];
        p.config.soft_cap = 0.8;
        p.config.dropout = 0.3;
        p.config.composed = n / (MASKS * 6) == 1;
        p.bias = n % 2 == 0 ? ATTN_SHAPE(B, 1, TQ, TK) : ATTN_SHAPE(4, 1, TK);
        p.clip = 2;
        attend_open(&p);
        numbers unasked = run_asked(&p, dtype, (attn_attend_report){.weights = false});
        for (size_t i = 0; i < sizeof reports / sizeof reports[0]; i++) {
            numbers asked = run_asked(&p, dtype, reports[i]);
            assert_same_numbers(&asked, &unasked);
        }
        attend_close(&p);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hidden_rows_change_no_bit),
        cmocka_unit_test(hidden_rows_change_no_bit_of_a_layer),
        cmocka_unit_test(what_is_reported_is_the_same_everywhere),
        cmocka_unit_test(asking_changes_no_bit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

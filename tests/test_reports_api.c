/* Faults of interfaces that users of other libraries reported, in the forms they could take here. README.md has the list. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support/attend.h"
#include "support/attention.h"
#include "support/params.h"

#include "attn/checkpoint.h"
#include "attn/corpus.h"
#include "attn/heatmap.h"
#include "attn/optim.h"
#include "attn/weights.h"

static const attn_score scores[] = {ATTN_SCORE_SCALED_DOT, ATTN_SCORE_DOT, ATTN_SCORE_ADDITIVE};

static const int32_t lengths[] = {4, 2};
static const attn_mask no_mask = {.allow = NULL}, masked = {.key_lengths = lengths, .causal = ATTN_CAUSAL_BOTTOM_RIGHT};

static void assert_same_data(attn_tensor *a, attn_tensor *b)
{
    assert_non_null(a);
    assert_non_null(b);
    assert_memory_equal(attn_tensor_data(a), attn_tensor_data(b), (size_t)attn_tensor_count(a) * attn_dtype_size(attn_tensor_dtype(a)));
}

/* ---- results do not depend on what else is asked ---- */

/* Field report B45: the output has the same bits whatever wants a gradient, and each gradient the same bits whatever else wants one. */
static void b45_wanting_gradients_changes_nothing(void **state)
{
    (void)state;
    for (int n = 0; n < 3 * 2 * 2; n++) {
        attn_dtype dtype = n / 3 % 2 == 0 ? ATTN_F32 : ATTN_F64;
        attend_problem p = {.batch = 2, .queries = 3, .keys = 4, .past = 2, .width = 3, .value_width = 5, .clip = 2};
        p.bias = ATTN_SHAPE(2, 4, 3, 6);
        p.config.score = (attn_score_config){.score = scores[n % 3], .heads = 4, .kv_heads = 2};
        p.config.mask = n / 6 == 0 ? no_mask : masked;
        attend_open(&p);
        attn_tape *t = attn_tape_new(NULL);
        attn_tensor *all = attend_run(&p, t, dtype, true).output;
        for (unsigned wants = 0; wants < 1U << INPUTS; wants++) {
            attn_tensor *in[INPUTS] = {NULL};
            for (int k = 0; k < INPUTS; k++) {
                const void *data = p.in[k] != NULL ? attn_tensor_data(p.variable[k]) : NULL;
                in[k] = data == NULL            ? NULL
                        : (wants >> k & 1) != 0 ? attn_variable(t, dtype, attend_shape(&p, k), data)
                                                : attn_input(t, dtype, attend_shape(&p, k), data);
            }
            attn_tensor *out = attn_attend(t, attend_input(in), &p.config).output;
            assert_same_data(out, all);
            bool any = false;
            for (int k = 0; k < INPUTS; k++) {
                any = any || (in[k] != NULL && (wants >> k & 1) != 0);
            }
            assert_int_equal(backward_from(t, out, p.cotangent), any ? ATTN_OK : ATTN_EINVAL);
            for (int k = 0; k < INPUTS && any; k++) {
                if (in[k] != NULL && (wants >> k & 1) != 0) {
                    assert_memory_equal(attn_tensor_grad(in[k]), attn_tensor_grad(p.variable[k]),
                                        (size_t)attn_tensor_count(in[k]) * attn_dtype_size(dtype));
                }
            }
            if (!any) { /* nothing to go back to, which is said; the results above are not needed any more */
                assert_contains(attn_tape_message(t), "independent of every variable");
                attn_tape_reset(t);
                all = attend_run(&p, t, dtype, true).output;
            }
        }
        attn_tape_free(t);
        attend_close(&p);
    }
}

/* ---- heads ---- */

/* Field report B46: weights are per head on every path, and their mean over the heads is what one asks for by name. */
static void b46_weights_per_head_and_their_mean(void **state)
{
    (void)state;
    enum { H = 3, TQ = 4, TK = 5 };
    for (int way = 0; way < 2 * 2 * 2 * 3; way++) { /* train, mask, threads; score */
        attention_problem p = {.batch = 2, .queries = TQ, .keys = TK, .mask = way & 2 ? masked : no_mask};
        p.config = (attn_attention_config){.score = scores[way / 8], .heads = H, .query_dim = 6, .dropout = 0.5};
        attention_open(&p, ATTN_F32);
        attn_tape *t = attn_tape_new(NULL);
        attn_tape_set_training(t, way & 1);
        attn_tape_set_threads(t, way & 4 ? 4 : 1);
        attn_tensor *w = attention_run(&p, t).weights;
        double mean[2 * TQ * TK];
        assert_true(attn_shape_equal(attn_tensor_shape(w), ATTN_SHAPE(2, H, TQ, TK)));
        assert_int_equal(attn_weights_mean_heads(w, mean), ATTN_OK);
        for (int i = 0; i < 2 * TQ * TK; i++) {
            double sum = 0, least = 1, most = 0;
            for (int h = 0; h < H; h++) {
                double x = attn_tensor_get(w, (i / (TQ * TK) * H + h) * TQ * TK + i % (TQ * TK));
                sum += x;
                least = fmin(least, x);
                most = fmax(most, x);
            }
            assert_close(mean[i], sum / H, 1e-15, 0);
            assert_true(most == 0 || most == 1 || most > least); /* heads differ */
        }
        attn_tape_free(t);
        attention_close(&p);
    }
    attn_tape *t = attn_tape_new(NULL);
    double untouched = 7;
    assert_int_equal(attn_weights_mean_heads(NULL, &untouched), ATTN_ESHAPE);
    assert_int_equal(attn_weights_mean_heads(random_variable(t, ATTN_F64, ATTN_SHAPE(1, 1, 1), 1), &untouched), ATTN_ESHAPE);
    assert_int_equal(attn_weights_mean_heads(variable_of(t, ATTN_F64, ATTN_SHAPE(0, 2, 1, 1), NULL), &untouched), ATTN_OK);
    assert_true(untouched == 7);
    assert_int_equal(attn_weights_mean_heads(variable_of(t, ATTN_F64, ATTN_SHAPE(1, 0, 1, 1), NULL), &untouched), ATTN_OK);
    assert_true(untouched == 0);
    attn_tape_free(t);
}

/* ---- dropout ---- */

/* Field report B47: everything that is reported of the weights is from before dropout, whatever the rate, and inference has none; what is
 * dropped is a function of the step. */
static void b47_reports_know_no_dropout(void **state)
{
    (void)state;
    for (int n = 0; n < 3 * 3; n++) {
        attend_problem p = {.batch = 2, .queries = 3, .keys = 6, .width = 3, .value_width = 4};
        p.config.score = (attn_score_config){.score = scores[n % 3], .heads = 2, .kv_heads = 2};
        p.config.soft_cap = 1.5;
        attend_open(&p);
        attn_tape *t = attn_tape_new(NULL);
        attn_attend_output plain = attend_run(&p, t, ATTN_F32, false);
        p.config.dropout = 0.3 * (n / 3 + 1);
        attn_attend_output quiet = attend_run(&p, t, ATTN_F32, false);
        attn_tape_set_training(t, true);
        attn_attend_output noisy[3];
        for (int i = 0; i < 3; i++) {
            attn_tape_set_random(t, 1, i == 2 ? 6 : 5);
            noisy[i] = attend_run(&p, t, ATTN_F32, false);
            assert_same_data(noisy[i].weights, plain.weights);
            assert_same_data(noisy[i].scaled, plain.scaled);
            assert_same_data(noisy[i].capped, plain.capped);
            assert_same_data(noisy[i].scores, plain.scores);
        }
        assert_same_data(quiet.output, plain.output);
        assert_same_data(noisy[0].output, noisy[1].output);
        size_t bytes = (size_t)attend_outputs(&p) * sizeof(float);
        assert_memory_not_equal(attn_tensor_data(noisy[0].output), attn_tensor_data(noisy[2].output), bytes);
        assert_memory_not_equal(attn_tensor_data(noisy[0].output), attn_tensor_data(plain.output), bytes);
        attn_tape_free(t);
        attend_close(&p);
    }
}

/* ---- one tensor in several places ---- */

/* Field report B48: one tensor as query, key, value and past gathers what five copies of it receive. */
static void b48_one_tensor_in_every_place(void **state)
{
    (void)state;
    for (int n = 0; n < 3 * 2; n++) {
        attn_dtype dtype = n / 3 == 0 ? ATTN_F32 : ATTN_F64;
        attn_tape *t = attn_tape_new(NULL);
        const attn_attend_config config = {.score = {.score = scores[n % 3]}, .mask = {.window = true, .left = 3, .right = 2}};
        attn_tensor *w = random_variable(t, dtype, ATTN_SHAPE(1, 3), 2), *x = random_variable(t, dtype, ATTN_SHAPE(2, 4, 3), 1), *y[5];
        attn_tensor *same[INPUTS] = {x, x, x, x, x, n % 3 == 2 ? w : NULL}, *apart[INPUTS] = {NULL};
        for (int k = 0; k < 5; k++) {
            apart[k] = y[k] = random_variable(t, dtype, ATTN_SHAPE(2, 4, 3), 1);
        }
        apart[IN_W] = same[IN_W];
        double *cotangent = random_values(24, 3, -1, 1);
        attn_tensor *one = attn_attend(t, attend_input(same), &config).output, *many = attn_attend(t, attend_input(apart), &config).output;
        assert_same_data(one, many);
        assert_int_equal(backward_from(t, one, cotangent), ATTN_OK);
        assert_int_equal(backward_from(t, many, cotangent), ATTN_OK);
        for (int64_t i = 0; i < 24; i++) {
            double sum = 0;
            for (int k = 0; k < 5; k++) {
                sum += attn_tensor_get_grad(y[k], i);
            }
            assert_close(attn_tensor_get_grad(x, i), sum, 0, 16 * epsilon_of(dtype));
        }
        free(cotangent);
        attn_tape_free(t);
    }
}

/* Field report B48: a layer that is used twice in one graph, and once more in a second one before the step. */
static void b48_a_layer_used_again(void **state)
{
    (void)state;
    for (int n = 0; n < 3; n++) {
        attention_problem p = {.batch = 2, .queries = 3, .keys = 3, .self = true};
        p.config = (attn_attention_config){.score = scores[n], .heads = 2, .query_dim = 4, .bias = true, .relative_clip = 1};
        attention_open(&p, ATTN_F64);
        int64_t count = attn_params_elements(p.params), at = 0;
        double *once = random_values(count, 0, 0, 0);
        attn_tape *t = attn_tape_new(NULL);
        assert_int_equal(attn_backward(t, attn_sum(t, attention_run(&p, t).output)), ATTN_OK);
        for (int id = 0; id < attn_params_count(p.params); id++) {
            for (int64_t i = 0; i < attn_shape_count(attn_params_shape(p.params, id)); i++) {
                once[at++] = grad(p.params, id, i);
            }
        }
        attn_tape_reset(t);
        attn_tensor *a = attn_sum(t, attention_run(&p, t).output), *b = attn_sum(t, attention_run(&p, t).output);
        assert_int_equal(attn_backward(t, attn_add(t, a, attn_scale(t, b, 2))), ATTN_OK); /* 1 + 1 + 2 times */
        at = 0;
        for (int id = 0; id < attn_params_count(p.params); id++) {
            for (int64_t i = 0; i < attn_shape_count(attn_params_shape(p.params, id)); i++, at++) {
                assert_close(grad(p.params, id, i), 4 * once[at], 1e-12, 1e-12);
            }
        }
        free(once);
        attn_tape_free(t);
        attention_close(&p);
    }
}

/* ---- numbers outside ---- */

static const int outside[] = {-1, -2, 1, 2, INT32_MAX, INT32_MIN};

/* Field report B52: wherever a number chooses one of several things, one that is outside finds nothing; it reads nothing either. There is
 * one thing of each kind here. */
static void b52_numbers_outside_find_nothing(void **state)
{
    (void)state;
    attn_params *p = attn_params_new(ATTN_F32, NULL);
    (void)attn_params_add(p, "w", ATTN_SHAPE(1), (attn_param_config){.scale = 0});
    assert_int_equal(attn_params_build(p, 1, NULL), ATTN_OK);
    attn_optimizer *o = attn_sgd_new(p, (attn_sgd_config){.learning_rate = 1}, NULL);
    attn_corpus *c = attn_corpus_new(NULL);
    const char *const tokens[] = {"word"};
    assert_int_equal(attn_corpus_add(c, tokens, 1, 0, "sense", NULL), ATTN_OK);
    attn_scores *s = attn_scores_new(NULL);
    assert_int_equal(attn_scores_add(s, "word", "sense", "sense"), ATTN_OK);
    attn_tape *t = attn_tape_new(NULL);
    attn_tensor *x = variable_of(t, ATTN_F32, ATTN_SHAPE(1), NULL);
    assert_int_equal(attn_backward(t, attn_sum(t, x)), ATTN_OK);
    assert_non_null(attn_params_name(p, 0));
    for (size_t i = 0; i < sizeof outside / sizeof outside[0]; i++) {
        int k = outside[i];
        assert_null(attn_params_name(p, k));
        assert_null(attn_params_value(p, k));
        assert_null(attn_params_grad(p, k));
        assert_int_equal(attn_params_shape(p, k).rank, 0);
        assert_true(attn_params_config(p, k).init == ATTN_INIT_ZEROS && !attn_params_config(p, k).frozen);
        assert_null(attn_optimizer_slot(o, k, 0));
        assert_null(attn_optimizer_slot(o, 0, k));
        assert_null(attn_optimizer_slot_name(o, k));
        assert_null(attn_corpus_get(c, k).tokens);
        assert_null(attn_scores_word(s, k).word);
        assert_true(isnan(attn_tensor_get(x, k)) && isnan(attn_tensor_get_grad(x, k)));
        assert_int_equal(attn_corpus_add(c, tokens, 1, k, "sense", NULL), ATTN_EINVAL);
        assert_null(attn_param(t, p, k));
        assert_int_equal(attn_tape_status(t), ATTN_EINVAL);
        attn_tape_reset(t);
        x = variable_of(t, ATTN_F32, ATTN_SHAPE(1), NULL);
        assert_int_equal(attn_backward(t, attn_sum(t, x)), ATTN_OK);
        assert_null(k < 0 || k == INT32_MAX ? attn_op_name(k) : NULL);
        assert_null(k < 0 || k == INT32_MAX ? attn_cmap_name(k) : NULL);
        assert_null(k < 0 || k == INT32_MAX ? attn_library_name(k) : NULL);
    }
    attn_tape_free(t);
    attn_scores_free(s);
    attn_corpus_free(c);
    attn_optimizer_free(o);
    attn_params_free(p);
}

/* Field report B52, in operations: ids, targets and rows are checked also where the number that means "none" elsewhere is in use. */
static void b52_no_id_is_special(void **state)
{
    (void)state;
    attn_tape *t = attn_tape_new(NULL);
    for (size_t i = 0; i < sizeof outside / sizeof outside[0]; i++) {
        const int32_t id[] = {outside[i]}, ids[] = {0, outside[i]};
        assert_null(attn_embedding(t, random_variable(t, ATTN_F32, ATTN_SHAPE(1, 2), 1), id, ATTN_SHAPE(1)));
        assert_int_equal(attn_tape_status(t), ATTN_ERANGE);
        attn_tape_reset(t);
        assert_null(attn_gather_rows(t, random_variable(t, ATTN_F32, ATTN_SHAPE(2, 1, 2), 1), ids));
        assert_int_equal(attn_tape_status(t), ATTN_ERANGE);
        attn_tape_reset(t);
        attn_tensor *loss = attn_cross_entropy(t, random_variable(t, ATTN_F32, ATTN_SHAPE(2, 1), 1), ids, NULL);
        assert_int_equal(attn_tape_status(t), outside[i] == ATTN_IGNORE ? ATTN_OK : ATTN_ERANGE);
        assert_true((loss != NULL) == (outside[i] == ATTN_IGNORE));
        attn_tape_reset(t);
    }
    attn_tape_free(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(b45_wanting_gradients_changes_nothing),
        cmocka_unit_test(b46_weights_per_head_and_their_mean),
        cmocka_unit_test(b47_reports_know_no_dropout),
        cmocka_unit_test(b48_one_tensor_in_every_place),
        cmocka_unit_test(b48_a_layer_used_again),
        cmocka_unit_test(b52_numbers_outside_find_nothing),
        cmocka_unit_test(b52_no_id_is_special),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

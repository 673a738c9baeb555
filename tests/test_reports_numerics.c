/* Faults of arithmetic that users of other libraries reported, in the forms they could take here. README.md has the list. */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support/attend.h"
#include "support/attention.h"
#include "support/params.h"
#include "support/senses.h"

#include "attn/gradcheck.h"
#include "attn/optim.h"
#include "word_sense/model.h"

static const attn_score scores[] = {ATTN_SCORE_SCALED_DOT, ATTN_SCORE_DOT, ATTN_SCORE_ADDITIVE};

/* ---- minus infinity ---- */

/* Field report B13: an additive mask hides whole blocks of a long input. What is left are the last ten keys, as with a window; nothing
 * becomes NaN where a block holds -infinity alone, forward or backward. */
static void b13_an_additive_mask_hides_blocks(void **state)
{
    (void)state;
    enum { TK = 640, WINDOW = 10 };
    double *minus = random_values((int64_t)TK * TK, 0, 0, 0);
    for (int64_t i = 0; i < (int64_t)TK * TK; i++) {
        minus[i] = i % TK <= i / TK && i % TK > i / TK - WINDOW ? 0 : -INFINITY;
    }
    for (int n = 0; n < 3 * 2; n++) {
        attn_dtype dtype = n / 3 == 0 ? ATTN_F32 : ATTN_F64;
        attend_problem by_bias = {.batch = 1, .queries = TK, .keys = TK, .width = 2, .value_width = 2, .bias = ATTN_SHAPE(TK, TK)};
        by_bias.config.score = (attn_score_config){.score = scores[n % 3], .heads = 1, .kv_heads = 1};
        attend_problem by_window = by_bias;
        by_window.bias = ATTN_SCALAR;
        by_window.config.mask = (attn_mask){.window = true, .left = WINDOW - 1, .right = 0};
        attend_open(&by_bias);
        attend_open(&by_window);
        memcpy(by_bias.in[IN_BIAS], minus, sizeof *minus * TK * TK);
        attn_tape *t = attn_tape_new(NULL);
        attn_tensor *a = attend_run(&by_bias, t, dtype, true).output, *b = attend_run(&by_window, t, dtype, true).output;
        for (int64_t i = 0; i < (int64_t)TK * 2; i++) {
            assert_close(attn_tensor_get(a, i), attn_tensor_get(b, i), 0, 8 * epsilon_of(dtype));
            for (int k = IN_QUERY; k <= IN_VALUE; k++) {
                assert_close(attn_tensor_get_grad(by_bias.variable[k], i), attn_tensor_get_grad(by_window.variable[k], i), 0,
                             64 * epsilon_of(dtype));
            }
        }
        for (int64_t i = 0; i < (int64_t)TK * TK; i++) {
            double g = attn_tensor_get_grad(by_bias.variable[IN_BIAS], i);
            assert_true(minus[i] == 0 ? isfinite(g) : g == 0);
        }
        attn_tape_free(t);
        attend_close(&by_bias);
        attend_close(&by_window);
    }
    free(minus);
}

/* ---- large numbers ---- */

typedef attn_tensor *(*one_input)(attn_tape *t, attn_tensor *x);

static attn_tensor *gelu_erf(attn_tape *t, attn_tensor *x)
{
    return attn_gelu(t, x, ATTN_GELU_ERF);
}

static attn_tensor *gelu_tanh(attn_tape *t, attn_tensor *x)
{
    return attn_gelu(t, x, ATTN_GELU_TANH);
}

static attn_tensor *cap(attn_tape *t, attn_tensor *x)
{
    return attn_soft_cap(t, x, 30);
}

/* Field report B17: an exponential of a large number is infinite, and infinity over infinity NaN. Every operation with an exponential in
 * it, at the largest numbers: its limit, and the gradient's. */
static void b17_no_exponential_overflows(void **state)
{
    (void)state;
    const struct {
        one_input build;
        double low, high, slope_high; /* values far to the left and right (1: x itself), and the slope on the right; on the left it is 0 */
        bool identity;
    } limits[] = {{attn_tanh, -1, 1, 0, false}, {attn_sigmoid, 0, 1, 0, false}, {attn_relu, 0, 0, 1, true},
                  {gelu_erf, 0, 0, 1, true},    {gelu_tanh, 0, 0, 1, true},     {cap, -30, 30, 0, false}};
    for (size_t n = 0; n < 2 * sizeof limits / sizeof limits[0]; n++) {
        attn_dtype dtype = n % 2 == 0 ? ATTN_F32 : ATTN_F64;
        const double most = dtype == ATTN_F32 ? (double)FLT_MAX : DBL_MAX, x[] = {-most, -1e30, -1e9, -400, 400, 1e9, 1e30, most};
        attn_tape *t = attn_tape_new(NULL);
        attn_tensor *in = variable_of(t, dtype, ATTN_SHAPE(8), x), *out = limits[n / 2].build(t, in);
        assert_int_equal(attn_backward(t, attn_sum(t, out)), ATTN_OK);
        for (int i = 0; i < 8; i++) {
            double right = limits[n / 2].identity ? attn_tensor_get(in, i) : limits[n / 2].high;
            assert_close(attn_tensor_get(out, i), i < 4 ? limits[n / 2].low : right, 0, 1e-4);
            assert_close(attn_tensor_get_grad(in, i), i < 4 ? 0 : limits[n / 2].slope_high, 0, 1e-6);
        }
        attn_tape_free(t);
    }
}

/* Field report B17, in what is made of a number once: a cap or a factor that the dtype cannot hold is refused and not used as infinity,
 * whose product with a score of 0 is NaN. */
static void b17_factors_fit_the_dtype(void **state)
{
    (void)state;
    attn_tape *t = attn_tape_new(NULL);
    const double caps[] = {0, -1, NAN, INFINITY, 1e-45, 1e39}, fine[] = {2e-38, 1e-3, 1, 1e37};
    for (int i = 0; i < 6; i++) {
        attn_tensor *x = variable_of(t, ATTN_F32, ATTN_SHAPE(2), NULL);
        assert_null(attn_soft_cap(t, x, caps[i]));
        assert_int_equal(attn_tape_status(t), ATTN_EINVAL);
        assert_contains(attn_tape_message(t), "expected a number from 1.17549e-38 to 8.50706e+37");
        attn_tape_reset(t);
    }
    for (int i = 0; i < 4; i++) {
        attn_tensor *x = variable_of(t, ATTN_F32, ATTN_SHAPE(4), (const double[]){0, 0.25, 1, -1e30}), *y = attn_soft_cap(t, x, fine[i]);
        assert_tape_ok(t);
        assert_int_equal(attn_backward(t, attn_sum(t, y)), ATTN_OK);
        for (int k = 0; k < 4; k++) {
            double expected = fine[i] * tanh(attn_tensor_get(x, k) / fine[i]), u = expected / fine[i];
            assert_close(attn_tensor_get(y, k), expected, 1e-6, 0);
            assert_close(attn_tensor_get_grad(x, k), 1 - u * u, 0, 1e-6);
        }
    }
    attn_tensor *q = variable_of(t, ATTN_F32, ATTN_SHAPE(1, 2, 3), NULL);
    assert_refused(t, attn_attention_scores(t, q, q, NULL, (attn_score_config){.scale = 1e39}, NULL), ATTN_EINVAL,
                   "attention_scores: scale 1e+39: expected a finite float32, and 0 for additive scores");
    attn_tape_free(t);
}

/* ---- nothing is missing ---- */

/* Field report B22: every part that a layer is said to have is there and learns, in every form of the layer. */
static void b22_every_parameter_learns(void **state)
{
    (void)state;
    for (int n = 0; n < 3 * 2 * 2 * 2; n++) {
        attention_problem p = {.batch = 2, .queries = 4, .keys = 5, .seed = (uint64_t)n};
        p.config =
            (attn_attention_config){.score = scores[n % 3], .heads = 4, .query_dim = 8, .key_dim = 5, .value_dim = 6, .output_dim = 7};
        p.config.kv_heads = n / 3 % 2 == 0 ? 4 : 2;
        p.config.bias = n / 6 % 2 == 0;
        p.config.relative_clip = n / 12 % 2 == 0 ? 2 : 0;
        attention_open(&p, ATTN_F64);
        assert_int_equal(attn_params_count(p.params), 4 + (n % 3 == 2) + (p.config.bias ? 4 : 0) + (p.config.relative_clip > 0));
        attn_tape *t = attn_tape_new(NULL);
        attn_tensor *y = attention_run(&p, t).output;
        assert_int_equal(attn_backward(t, attn_sum(t, attn_mul(t, y, y))), ATTN_OK);
        for (int id = 0; id < attn_params_count(p.params); id++) {
            for (int64_t i = 0; i < attn_shape_count(attn_params_shape(p.params, id)); i++) {
                double g = grad(p.params, id, i);
                bool of_keys = strcmp(attn_params_name(p.params, id), "a.b_k") == 0 && n % 3 != 2; /* shifts all scores of a query alike */
                assert_true(isfinite(g) && (of_keys ? fabs(g) < 1e-13 : fabs(g) > 1e-9));
            }
        }
        attn_tape_free(t);
        attention_close(&p);
    }
}

/* ---- probabilities ---- */

/* Field report B23: scores so far apart that a probability is 0 have finite probabilities that sum to 1, in the word-sense model too.
 */
static void b23_probabilities_far_apart(void **state)
{
    (void)state;
    attn_corpus *c = tiny_corpus(NULL);
    attn_word_sense_config config = tiny_config();
    config.prior = 0;
    attn_word_sense *m = new_model(c, config);
    attn_params *params = m->member[0].params;
    const double biases[] = {1000, 1e30, -1e30};
    for (int k = 0; k < 3; k++) {
        set_value(params, m->member[0].out_bias, 0, biases[k]); /* of the first sense of the first word */
        attn_prediction p = predict_ok(m, c, "the bank of the river", 1);
        assert_int_equal(p.n_senses, 3);
        assert_true((p.best == 0) == (k < 2));
        assert_close(p.probabilities[0], k < 2 ? 1 : 0, 0, 0);
        assert_close(p.probabilities[0] + p.probabilities[1] + p.probabilities[2], 1, 1e-15, 0);
    }
    attn_word_sense_free(m);
    attn_corpus_free(c);
}

/* ---- what counts ---- */

/* Field report B25: a batch without a single label is a step that changes nothing, in either optimiser, whatever stands in the logits. */
static void b25_a_step_without_labels_changes_nothing(void **state)
{
    (void)state;
    const double logits[] = {NAN, 3, INFINITY, 1, -INFINITY, 1e30};
    for (int n = 0; n < 4; n++) {
        attn_params *p = attn_params_new(n % 2 == 0 ? ATTN_F32 : ATTN_F64, NULL);
        int w = attn_params_add(p, "w", ATTN_SHAPE(3, 2), (attn_param_config){.init = ATTN_INIT_NORMAL, .scale = 1});
        assert_int_equal(attn_params_build(p, 1, NULL), ATTN_OK);
        attn_optimizer *o = n / 2 == 0 ? attn_adamw_new(p, (attn_adamw_config){.learning_rate = 1}, NULL)
                                       : attn_sgd_new(p, (attn_sgd_config){.learning_rate = 1, .momentum = 0.9}, NULL);
        double before[6];
        for (int i = 0; i < 6; i++) {
            before[i] = value(p, w, i);
        }
        attn_tape *t = attn_tape_new(NULL);
        attn_tensor *x = attn_add(t, attn_param(t, p, w), variable_of(t, attn_params_dtype(p), ATTN_SHAPE(3, 2), logits));
        attn_tensor *loss = attn_cross_entropy(t, x, (const int32_t[]){ATTN_IGNORE, ATTN_IGNORE, ATTN_IGNORE}, NULL);
        assert_int_equal(attn_backward(t, loss), ATTN_OK);
        assert_true(attn_tensor_get(loss, 0) == 0);
        assert_true(attn_clip_grad_norm(p, 1) == 0);
        assert_int_equal(attn_optimizer_step(o, 1, NULL), ATTN_OK);
        for (int i = 0; i < 6; i++) {
            assert_true(value(p, w, i) == before[i]);
        }
        attn_tape_free(t);
        attn_optimizer_free(o);
        attn_params_free(p);
    }
}

static bool note_loss(void *ctx, const attn_word_sense_progress *p)
{
    *(double *)ctx = p->loss;
    return true;
}

/* Field report B26: the loss of an epoch is the mean over its sentences, however they fall into batches, the last of which is smaller, and
 * whatever pads them. */
static void b26_the_mean_is_over_sentences(void **state)
{
    (void)state;
    attn_corpus *c = tiny_corpus(NULL);
    double first = 0;
    const int batches[] = {1, 2, 3, 4, 5, 13, 14, 100};
    for (size_t i = 0; i < sizeof batches / sizeof batches[0]; i++) {
        attn_word_sense_config config = tiny_config();
        config.learning_rate = config.weight_decay = 0; /* the model stays as it is */
        config.dropout = config.word_dropout = config.attention_dropout = 0;
        config.epochs = 1;
        config.batch = batches[i];
        attn_word_sense *m = new_model(c, config);
        double loss = NAN;
        assert_int_equal(attn_word_sense_train(m, c, NULL, note_loss, &loss, NULL), ATTN_OK);
        first = i == 0 ? loss : first;
        assert_close(loss, first, 1e-6, 0);
        attn_word_sense_free(m);
    }
    attn_corpus_free(c);
}

/* ---- the check of gradients ---- */

static attn_tensor *single(attn_tape *t, attn_tensor *const in[], int n, void *ctx)
{
    (void)in;
    (void)n;
    (void)ctx;
    return attn_tanh(t, attn_variable(t, ATTN_F32, ATTN_SHAPE(1), (const float[]){1}));
}

/* Field report B29: a check in single precision would be flaky. It is refused, and the message says so. */
static void b29_single_precision_is_named(void **state)
{
    (void)state;
    const double x[] = {1};
    attn_gradcheck_report report;
    const attn_gradcheck_input input = {.shape = ATTN_SHAPE(1), .values = x};
    assert_int_equal(attn_gradcheck(single, NULL, &input, 1, NULL, &report), ATTN_EDTYPE);
    assert_string_equal(report.verdict, "the function returned float32: gradients are checked in float64");
    attn_params *p = attn_params_new(ATTN_F32, NULL);
    (void)attn_params_add(p, "w", ATTN_SHAPE(1), (attn_param_config){.scale = 0});
    assert_int_equal(attn_params_build(p, 1, NULL), ATTN_OK);
    assert_int_equal(attn_gradcheck_params(single, NULL, p, 0, NULL, &report), ATTN_EDTYPE);
    assert_string_equal(report.verdict, "gradients are checked on a built, non-empty float64 set");
    attn_params_free(p);
}

static attn_tensor *relu_of_first(attn_tape *t, attn_tensor *const in[], int n, void *ctx)
{
    (void)n;
    return attn_scale(t, attn_relu(t, in[0]), *(const double *)ctx);
}

/* Field report B30: a kink not at the point but within a step of it spoils the difference and not the gradient. */
static void b30_a_kink_nearby_is_no_fault(void **state)
{
    (void)state;
    double factor = 1;
    for (int i = -100; i <= 100; i++) {
        const double x[] = {i * 1.3e-7, 0.5};
        attn_gradcheck_report report;
        const attn_gradcheck_input input = {.shape = ATTN_SHAPE(2), .values = x};
        assert_int_equal(attn_gradcheck(relu_of_first, &factor, &input, 1, NULL, &report), ATTN_OK);
        assert_int_equal(report.elements + report.skipped, 2);
        assert_true(report.skipped == 0 || fabs(x[0]) < 1e-6);
    }
}

static attn_tensor *scaled_tanh(attn_tape *t, attn_tensor *const in[], int n, void *ctx)
{
    (void)n;
    return attn_scale(t, attn_tanh(t, in[0]), *(const double *)ctx);
}

/* Field report B32: right whatever the size of the gradients, and where they are too small for the tolerance to say anything, that is what
 * the check says. */
static void b32_gradients_of_every_size(void **state)
{
    (void)state;
    const double x[] = {0.3, -1.2, 2};
    for (double factor = 1e-12; factor < 1e13; factor *= 100) {
        attn_gradcheck_report report;
        const attn_gradcheck_input input = {.shape = ATTN_SHAPE(3), .values = x};
        attn_status status = attn_gradcheck(scaled_tanh, &factor, &input, 1, NULL, &report);
        assert_int_equal(status, factor < 1e-7 ? ATTN_EINVAL : ATTN_OK);
        assert_contains(report.verdict, factor < 1e-7 ? "vacuous" : "ok");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(b13_an_additive_mask_hides_blocks), cmocka_unit_test(b17_no_exponential_overflows),
        cmocka_unit_test(b17_factors_fit_the_dtype),         cmocka_unit_test(b22_every_parameter_learns),
        cmocka_unit_test(b23_probabilities_far_apart),       cmocka_unit_test(b25_a_step_without_labels_changes_nothing),
        cmocka_unit_test(b26_the_mean_is_over_sentences),    cmocka_unit_test(b29_single_precision_is_named),
        cmocka_unit_test(b30_a_kink_nearby_is_no_fault),     cmocka_unit_test(b32_gradients_of_every_size),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

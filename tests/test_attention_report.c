/* Weights and scores on request: of all queries or some, of the functional form and the layer, with gradients, apart from the output or
 * composed with it. That asking changes nothing else stands in test_attention_padding. */
#include <stdlib.h>

#include "support/attend.h"
#include "support/attention.h"

#include "attn/gradcheck.h"

static const attn_score scores[] = {ATTN_SCORE_SCALED_DOT, ATTN_SCORE_DOT, ATTN_SCORE_ADDITIVE};

enum { B = MASK_BATCH, TQ = MASK_QUERIES, TK = MASK_KEYS, PAST = 3, HEADS = 4, KINDS = MASKS * 3 * 2 };

/* Every mask and score, apart and composed, behind a past, with all that can be added to a score; biases of many shapes. */
static attend_problem problem_number(int n)
{
    static const attn_shape biases[] = {{4, {B, HEADS, TQ, TK}}, {2, {TQ, 1}}, {4, {B, 1, 1, TK}}, {1, {TK}}, {3, {HEADS, TQ, TK}}};
    attend_problem p = {.batch = B, .queries = TQ, .keys = TK - PAST, .past = PAST, .width = 3, .value_width = 5, .seed = (uint64_t)n};
    p.config.score = (attn_score_config){.score = scores[n % 3], .heads = HEADS, .kv_heads = 2};
    p.config.mask = attend_masks[n / 3 % MASKS];
    p.config.soft_cap = 0.8;
    p.config.composed = n / 3 / MASKS == 1;
    p.bias = biases[n % 5];
    p.clip = 2;
    return p;
}

/* ---- ranges ---- */

/* What is reported of queries first .. first + count - 1 is that part of (B,H,all,Tk). */
static void assert_part(const attn_tensor *part, const double *whole, int64_t all, int64_t first, int64_t count, double tolerance)
{
    assert_true(attn_shape_equal(attn_tensor_shape(part), ATTN_SHAPE(B, HEADS, count, TK)));
    for (int64_t i = 0; i < attn_tensor_count(part); i++) {
        int64_t row = i / TK / count * all + first + i / TK % count;
        assert_close(attn_tensor_get(part, i), whole[row * TK + i % TK], tolerance, tolerance);
    }
}

static double *values_of(const attn_tensor *x)
{
    double *values = malloc((size_t)attn_tensor_count(x) * sizeof *values);
    assert_non_null(values);
    for (int64_t i = 0; i < attn_tensor_count(x); i++) {
        values[i] = attn_tensor_get(x, i);
    }
    return values;
}

static void ranges_are_parts_of_the_whole(void **state)
{
    (void)state;
    for (int n = 0; n < KINDS * 2; n++) {
        attn_dtype dtype = n / KINDS == 0 ? ATTN_F32 : ATTN_F64;
        double tolerance = 40 * epsilon_of(dtype);
        attend_problem p = problem_number(n % KINDS);
        attend_open(&p);
        attn_tape *t = attn_tape_new(NULL);
        attend_reference r = attend_by_loops(&p);
        attn_attend_output all = attend_run(&p, t, dtype, false);
        double *scaled = values_of(all.scaled), *capped = values_of(all.capped);
        for (int first = 0; first < TQ; first++) {
            for (int count = 0; count <= TQ - first; count++) {
                attn_tape_reset(t);
                p.config.report = (attn_attend_report){.weights = true, .scores = true, .first_query = first, .queries = count};
                attn_attend_output out = attend_run(&p, t, dtype, false);
                int rows = count != 0 ? count : TQ - first;
                assert_part(out.weights, r.weights, TQ, first, rows, tolerance);
                assert_part(out.scores, r.scores, TQ, first, rows, tolerance);
                assert_part(out.scaled, scaled, TQ, first, rows, tolerance);
                assert_part(out.capped, capped, TQ, first, rows, tolerance);
            }
        }
        free(scaled);
        free(capped);
        attend_reference_free(&r);
        attn_tape_free(t);
        attend_close(&p);
    }
}

/* No queries, or no keys, or no sentences, or a range of nothing at the end. */
static void nothing_may_be_reported(void **state)
{
    (void)state;
    const int64_t sizes[][3] = {{2, 0, 3}, {2, 3, 0}, {0, 3, 3}, {2, 3, 3}};
    attn_tape *t = attn_tape_new(NULL);
    for (int n = 0; n < 8; n++) {
        attend_problem p = {.batch = sizes[n / 2][0], .queries = sizes[n / 2][1], .keys = sizes[n / 2][2], .width = 2, .value_width = 2};
        p.config = (attn_attend_config){.score = {.heads = 2, .kv_heads = 2}, .composed = n % 2 == 1, .mask = {.window = true, .left = 1}};
        p.bias = ATTN_SHAPE(p.queries, p.keys);
        p.clip = 1;
        attend_open(&p);
        attn_attend_output out = attend_run(&p, t, ATTN_F64, false);
        assert_true(attn_shape_equal(attn_tensor_shape(out.weights), ATTN_SHAPE(p.batch, 2, p.queries, p.keys)));
        p.config.report.first_query = p.queries;
        out = attend_run(&p, t, ATTN_F64, false);
        assert_true(attn_shape_equal(attn_tensor_shape(out.weights), ATTN_SHAPE(p.batch, 2, 0, p.keys)));
        assert_true(attn_shape_equal(attn_tensor_shape(out.scores), ATTN_SHAPE(p.batch, 2, 0, p.keys)));
        attend_close(&p);
    }
    attn_tape_free(t);
}

/* Where far places meet a range, offsets stay clipped. */
static void far_places(void **state)
{
    (void)state;
    const int32_t far[] = {INT32_MAX, INT32_MIN};
    attn_tape *t = attn_tape_new(NULL);
    for (int n = 0; n < 2; n++) {
        attend_problem p = {.batch = B, .queries = TQ, .keys = TK, .width = 2, .value_width = 2, .clip = 2};
        p.config.score = (attn_score_config){.heads = HEADS, .kv_heads = HEADS};
        p.config.mask = (attn_mask){.window = true, .left = n == 0 ? INT32_MAX : -1, .right = n == 0 ? -1 : INT32_MAX, .positions = far};
        attend_open(&p);
        attend_reference r = attend_by_loops(&p);
        p.config.report.first_query = 2;
        attn_attend_output out = attend_run(&p, t, ATTN_F64, false);
        assert_part(out.weights, r.weights, TQ, 2, TQ - 2, 1e-14);
        assert_part(out.scores, r.scores, TQ, 2, TQ - 2, 1e-14);
        attend_reference_free(&r);
        attend_close(&p);
    }
    attn_tape_free(t);
}

/* ---- cost ---- */

static size_t memory_of(attend_problem *p, attn_attend_report report)
{
    attn_tape *t = attn_tape_new(NULL);
    p->config.report = report;
    (void)attend_run(p, t, ATTN_F32, false);
    size_t used = attn_tape_used(t);
    attn_tape_free(t);
    return used;
}

/* The report of a row takes the memory of rows, not of (Tq,Tk). */
static void a_row_costs_a_row(void **state)
{
    (void)state;
    enum { LONG = 512 };
    attend_problem p = {.batch = 1, .queries = LONG, .keys = LONG, .width = 2, .value_width = 2, .clip = 1};
    p.config.score = (attn_score_config){.heads = 2, .kv_heads = 2};
    p.config.mask.causal = ATTN_CAUSAL_TOP_LEFT;
    attend_open(&p);
    size_t none = memory_of(&p, (attn_attend_report){.weights = false});
    size_t all = memory_of(&p, (attn_attend_report){.weights = true}),
           row = memory_of(&p, (attn_attend_report){.weights = true, .queries = 1});
    /* two stages of scores, and the weights; less what the output needs for a while, and gives back */
    assert_true(all - none >= 2 * LONG * LONG * 2 * sizeof(float));
    assert_true(none < LONG * LONG * 2 * sizeof(float));
    assert_true(row >= none && row - none < (all - none) / 16);
    attend_close(&p);
}

/* ---- composed ---- */

/* Output and gradients are right, and the gradient of the output arrives at the weights that are reported: dw = g . v. */
static void composed_output_comes_from_what_is_reported(void **state)
{
    (void)state;
    for (int n = KINDS / 2; n < KINDS; n++) {
        attend_problem p = problem_number(n);
        attend_open(&p);
        attn_tape *t = attn_tape_new(NULL);
        attend_reference r = attend_by_loops(&p);
        attn_attend_output out = attend_run(&p, t, ATTN_F64, true);
        assert_true(attend_difference(&p, &out, &r, true) < 40 * epsilon_of(ATTN_F64));
        for (int64_t i = 0; i < attend_pairs(&p); i++) {
            int64_t j = i % TK, q = i / TK % TQ, h = i / TK / TQ % HEADS, b = i / TK / TQ / HEADS;
            double expected = 0;
            for (int64_t c = 0; c < 5 && attend_sees(&p, b, q, j); c++) {
                double v = attn_tensor_get(out.value, ((b * TK + j) * 2 + h / 2) * 5 + c);
                expected += p.cotangent[((b * TQ + q) * HEADS + h) * 5 + c] * v;
            }
            assert_close(attn_tensor_get_grad(out.weights, i), expected, 1e-14, 1e-14);
        }
        assert_non_null(attn_tensor_grad(out.scaled));
        attn_tape_reset(t);
        p.config.composed = false;
        out = attend_run(&p, t, ATTN_F64, true);
        assert_null(attn_tensor_grad(out.weights));
        assert_null(attn_tensor_grad(out.scaled));
        attn_tape_free(t);
        attend_reference_free(&r);
        attend_close(&p);
    }
}

/* ---- gradients ---- */

/* Inputs that are there, in order: number `k` of attn_gradcheck is input `which[k]` of attention. */
typedef struct check {
    attend_problem p;
    int which[INPUTS];
} check;

static attn_tensor *flat(attn_tape *t, attn_tensor *x)
{
    return attn_reshape(t, x, ATTN_SHAPE(1, attn_tensor_count(x)));
}

static attn_tensor *build(attn_tape *t, attn_tensor *const inputs[], int n, void *ctx)
{
    const check *c = ctx;
    attn_tensor *in[INPUTS] = {NULL};
    for (int k = 0; k < n; k++) {
        in[c->which[k]] = inputs[k];
    }
    attn_attend_output out = attn_attend(t, attend_input(in), &c->p.config);
    attn_tensor *const all[] = {flat(t, out.output), flat(t, out.weights), flat(t, out.scaled), flat(t, out.capped), flat(t, out.scores)};
    return attn_concat(t, all, 5);
}

/* Output, weights and all scores of a range together. */
static void gradients_through_what_is_reported(void **state)
{
    (void)state;
    for (int n = 0; n < KINDS; n++) {
        check c = {.p = problem_number(n)};
        attn_gradcheck_input inputs[INPUTS];
        attn_gradcheck_report report;
        int present = 0;
        c.p.config.score.heads = HEADS;
        c.p.width = c.p.value_width = 1;
        attend_open(&c.p);
        c.p.config.report.first_query = n % TQ;
        c.p.config.report.queries = n % 3 == 2 ? 0 : 1;
        for (int k = 0; k < INPUTS; k++) {
            if (c.p.in[k] != NULL) {
                inputs[present] = (attn_gradcheck_input){attend_names[k], attend_shape(&c.p, k), c.p.in[k]};
                c.which[present++] = k;
            }
        }
        attn_status status = attn_gradcheck(build, &c, inputs, present, &(attn_gradcheck_config){.seed = (uint64_t)n}, &report);
        if (status != ATTN_OK || report.skipped > 0 || !(report.max_rel_error <= 1e-6)) {
            fail_msg("%d: %s, error %g, %lld skipped", n, report.verdict, report.max_rel_error, (long long)report.skipped);
        }
        attend_close(&c.p);
    }
}

/* ---- the layer ---- */

static void layers_report_too(void **state)
{
    (void)state;
    const int32_t start[] = {2, -1}, lengths[] = {7, 4};
    for (int n = 0; n < 3 * 2; n++) {
        bool self = n % 2 == 1;
        attention_problem p = {.batch = B, .queries = self ? TK : TQ, .keys = TK, .self = self, .seed = (uint64_t)n};
        p.config = (attn_attention_config){.score = scores[n / 2], .heads = HEADS, .query_dim = 8, .bias = true, .relative_clip = 2};
        p.mask = (attn_mask){.key_lengths = lengths, .causal = ATTN_CAUSAL_BOTTOM_RIGHT};
        p.query_start = start;
        attention_open(&p, ATTN_F64);
        attn_tape *t = attn_tape_new(NULL);
        attention_reference r = attention_by_loops(&p);
        attn_attention_output all = attention_run(&p, t);
        attn_attention_input in = {.query = p.q, .key = p.k, .value = p.v, .mask = p.mask, .query_start = start};
        attn_attention_output none = attn_attention_apply(t, p.layer, in);
        assert_true(none.weights == NULL && none.scaled == NULL && none.capped == NULL && none.scores == NULL);
        for (int way = 0; way < 2; way++) {
            in.report = (attn_attend_report){.weights = true, .scores = true, .first_query = 1, .queries = 3};
            in.composed = way == 1;
            attn_attention_output out = attn_attention_apply(t, p.layer, in);
            assert_tape_ok(t);
            assert_part(out.weights, r.weights, p.queries, 1, 3, 1e-13);
            assert_part(out.scores, r.scores, p.queries, 1, 3, 1e-13);
            double *scaled = values_of(all.scaled);
            assert_part(out.scaled, scaled, p.queries, 1, 3, 1e-13);
            assert_part(out.capped, scaled, p.queries, 1, 3, 1e-13); /* there is no cap */
            free(scaled);
            assert_values(out.output, r.output, 1e-13, 1e-13);
            in.report = (attn_attend_report){.weights = true};
            out = attn_attention_apply(t, p.layer, in);
            assert_int_equal(attn_backward(t, attn_sum(t, out.output)), ATTN_OK);
            assert_true((attn_tensor_grad(out.weights) != NULL) == in.composed);
        }
        attn_tape_free(t);
        attention_reference_free(&r);
        attention_close(&p);
    }
}

/* ---- errors ---- */

static void ranges_outside_are_refused(void **state)
{
    (void)state;
    const struct {
        int64_t first, queries;
        const char *message;
    } wrong[] = {
        {-1, 0, "attention: a report of 0 queries from -1 on, but there are 3"},
        {0, -1, "attention: a report of -1 queries from 0 on, but there are 3"},
        {4, 0, "attention: a report of 0 queries from 4 on, but there are 3"},
        {1, 3, "attention: a report of 3 queries from 1 on, but there are 3"},
        {3, INT64_MAX, "attention: a report of 9223372036854775807 queries from 3 on, but there are 3"},
        {INT64_MIN, INT64_MAX, "attention: a report of 9223372036854775807 queries from -9223372036854775808 on, but there are 3"},
    };
    attn_tape *t = attn_tape_new(NULL);
    attn_params *p = attn_params_new(ATTN_F32, NULL);
    const attn_attention *layer = attn_attention_add(p, "a", (attn_attention_config){.query_dim = 2});
    assert_int_equal(attn_params_build(p, 0, NULL), ATTN_OK);
    for (size_t i = 0; i < 2 * (sizeof wrong / sizeof wrong[0]); i++) {
        bool composed = i % 2 == 1;
        attn_attend_report report = {.weights = composed, .first_query = wrong[i / 2].first, .queries = wrong[i / 2].queries};
        attn_tensor *x = attn_input(t, ATTN_F32, ATTN_SHAPE(1, 3, 2), NULL);
        const attn_attend_config config = {.report = report, .composed = composed};
        attn_attend_output out = attn_attend(t, (attn_attend_input){.query = x, .key = x, .value = x}, &config);
        assert_true(out.weights == NULL && out.key == NULL);
        assert_refused(t, out.output, ATTN_ERANGE, wrong[i / 2].message);
        x = attn_input(t, ATTN_F32, ATTN_SHAPE(1, 3, 2), NULL);
        const attn_attention_input in = {.query = x, .report = report, .composed = composed};
        assert_refused(t, attn_attention_apply(t, layer, in).output, ATTN_ERANGE, wrong[i / 2].message);
    }
    /* what is no batch of queries has no number of them */
    attn_tensor *flat_query = attn_input(t, ATTN_F32, ATTN_SHAPE(3, 2), NULL);
    const attn_attend_config config = {.report = {.weights = true, .first_query = 9}};
    assert_refused(t, attn_attend(t, (attn_attend_input){.query = flat_query, .key = flat_query, .value = flat_query}, &config).output,
                   ATTN_ESHAPE, "fused_attention: queries (3,2) and keys (3,2): expected (B,Tq,H d) and (B,Tk,Hkv d)");
    assert_refused(t, attn_attend(t, (attn_attend_input){.query = NULL}, &config).output, ATTN_EINVAL, "fused_attention: input 0 is NULL");
    attn_params_free(p);
    attn_tape_free(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ranges_are_parts_of_the_whole),
        cmocka_unit_test(nothing_may_be_reported),
        cmocka_unit_test(far_places),
        cmocka_unit_test(a_row_costs_a_row),
        cmocka_unit_test(composed_output_comes_from_what_is_reported),
        cmocka_unit_test(gradients_through_what_is_reported),
        cmocka_unit_test(layers_report_too),
        cmocka_unit_test(ranges_outside_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

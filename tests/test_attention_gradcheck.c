/* Gradients of attention against numeric differences: every score, mask, number of heads and pattern of inputs that need a gradient, and
 * everything that can be added to a score in combination. */
#include <stdlib.h>
#include <string.h>

#include "support/attend.h"

#include "attn/gradcheck.h"
#include "attn/random.h"

static const attn_score scores[] = {ATTN_SCORE_SCALED_DOT, ATTN_SCORE_DOT, ATTN_SCORE_ADDITIVE};

/* Inputs that are there, in order: number `k` of attn_gradcheck is input `which[k]` of attention. */
typedef struct check {
    attend_problem p;
    int which[INPUTS];
    int n;
} check;

static attn_tensor *build(attn_tape *t, attn_tensor *const inputs[], int n, void *ctx)
{
    const check *c = ctx;
    attn_tensor *in[INPUTS] = {NULL};
    for (int k = 0; k < n; k++) {
        in[c->which[k]] = inputs[k];
    }
    return attn_attend(t, attend_input(in), &c->p.config).output;
}

/* Adds what was checked to the totals. */
static void run(attend_problem p, attn_gradcheck_report *total)
{
    check c = {.p = p};
    attn_gradcheck_input inputs[INPUTS];
    attn_gradcheck_report report;
    attend_open(&c.p);
    c.p.config.report = (attn_attend_report){.weights = false};
    for (int k = 0; k < INPUTS; k++) {
        if (c.p.in[k] != NULL) {
            inputs[c.n] = (attn_gradcheck_input){attend_names[k], attend_shape(&c.p, k), c.p.in[k]};
            c.which[c.n++] = k;
        }
    }
    attn_status status = attn_gradcheck(build, &c, inputs, c.n, &(attn_gradcheck_config){.seed = p.seed}, &report);
    if (status != ATTN_OK || report.skipped > 0 || !(report.max_rel_error <= 1e-6)) {
        print_error("seed %llu, %s: %s, error %g, %lld skipped\n", (unsigned long long)p.seed, attn_score_name(p.config.score.score),
                    report.verdict, report.max_rel_error, (long long)report.skipped);
        fail();
    }
    total->runs += report.runs;
    total->elements += report.elements;
    total->max_rel_error = report.max_rel_error > total->max_rel_error ? report.max_rel_error : total->max_rel_error;
    attend_close(&c.p);
}

static void print_total(const attn_gradcheck_report *total)
{
    print_message("%lld patterns, %lld elements, max relative error %.2e\n", (long long)total->runs, (long long)total->elements,
                  total->max_rel_error);
}

/* ---- scores, masks, heads ---- */

enum { B = 2, TQ = 3, TK = 4 };

static const int32_t key_lengths[] = {4, 2}, row_lengths[] = {2, 0, 4, 3, 1, 4}, query_lengths[] = {3, 1};
static const uint8_t allow[] = {1, 0, 1, 1, 0, 0, 0, 0, 1, 1, 1, 0, 0, 1, 0, 1, 1, 1, 1, 1, 0, 0, 1, 0};

static void every_score_mask_and_number_of_heads(void **state)
{
    (void)state;
    attn_gradcheck_report total = {.runs = 0};
    const attn_mask masks[6] = {
        {.key_lengths = key_lengths},     {.row_lengths = row_lengths},         {.allow = allow},
        {.query_lengths = query_lengths}, {.causal = ATTN_CAUSAL_BOTTOM_RIGHT}, {.allow = NULL}, /* the last has an additive bias */
    };
    for (int n = 0; n < 3 * 6 * 2; n++) {
        int heads = n / 18 == 0 ? 1 : 4, kind = n / 3 % 6;
        attend_problem p = {.batch = B, .queries = TQ, .keys = TK, .width = 2, .value_width = 2, .seed = (uint64_t)n};
        p.config.score = (attn_score_config){.score = scores[n % 3], .heads = heads, .kv_heads = heads};
        p.config.mask = masks[kind];
        p.bias = kind == 5 ? ATTN_SHAPE(B, 1, TQ, TK) : ATTN_SCALAR;
        run(p, &total);
    }
    print_total(&total);
}

/* ---- options ---- */

/* Grouped heads, soft cap, window, past, bias and positions, each with and without the others. */
static void every_combination_of_options(void **state)
{
    (void)state;
    attn_gradcheck_report total = {.runs = 0};
    for (int n = 0; n < 3 * 64; n++) {
        int on = n / 3;
        const int32_t places[] = {1};
        attend_problem p = {.batch = 1, .queries = 2, .keys = 2, .width = 1, .value_width = 1, .seed = (uint64_t)n};
        p.config.score = (attn_score_config){.score = scores[n % 3], .heads = 2, .kv_heads = on & 1 ? 1 : 2};
        p.config.soft_cap = on & 2 ? 0.7 : 0;
        if (on & 4) {
            p.config.mask = (attn_mask){.window = true, .left = 1, .right = 1, .positions = places};
        }
        p.past = on & 8 ? 1 : 0;
        p.bias = on & 16 ? ATTN_SHAPE(2, 1, attend_keys(&p)) : ATTN_SCALAR;
        p.clip = on & 32 ? 1 : 0;
        run(p, &total);
    }
    print_total(&total);
}

/* ---- seeds ---- */

static int64_t draw(uint64_t seed, uint64_t what, int64_t most)
{
    return (int64_t)(attn_random_uniform(seed, 5, what) * (double)most);
}

/* 200 random problems, 200 passes. Field report B29. */
static void two_hundred_seeds(void **state)
{
    (void)state;
    attn_gradcheck_report total = {.runs = 0};
    for (uint64_t seed = 0; seed < 200; seed++) {
        attend_problem p = {.batch = 1 + draw(seed, 0, 2), .queries = 1 + draw(seed, 1, 3), .keys = 2 + draw(seed, 2, 3), .seed = seed};
        p.width = 1 + draw(seed, 3, 3);
        p.value_width = 1 + draw(seed, 4, 3);
        int kv_heads = 1 + (int)draw(seed, 5, 2);
        p.config.score =
            (attn_score_config){.score = scores[seed % 3], .heads = kv_heads * (1 + (int)draw(seed, 6, 2)), .kv_heads = kv_heads};
        p.config.score.scale = seed % 3 != 2 && draw(seed, 7, 2) == 1 ? -0.8 : 0;
        p.config.soft_cap = draw(seed, 8, 3) == 0 ? 1.1 : 0;
        p.clip = draw(seed, 9, 4) == 0 ? 2 : 0;
        const int32_t lengths[] = {(int32_t)p.keys, 1 + (int32_t)draw(seed, 10, p.keys)};
        const int32_t queries[] = {(int32_t)p.queries, (int32_t)draw(seed, 11, p.queries + 1)};
        p.config.mask.key_lengths = draw(seed, 12, 2) == 0 ? lengths : NULL;
        p.config.mask.query_lengths = draw(seed, 13, 2) == 0 ? queries : NULL;
        p.config.mask.causal = p.keys >= p.queries && draw(seed, 14, 3) == 0 ? ATTN_CAUSAL_BOTTOM_RIGHT : ATTN_CAUSAL_NONE;
        run(p, &total);
    }
    print_total(&total);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_score_mask_and_number_of_heads),
        cmocka_unit_test(every_combination_of_options),
        cmocka_unit_test(two_hundred_seeds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Attention against the same thing put together from operations that know nothing of attention: products, sums, tanh, softmax of plain
 * rows, lookups. A head is cut out by a product with a matrix of zeros and ones, a mask is a matrix of zeros and -infinities that is added.
 * Both are run forward and backward. */
#include <math.h>
#include <stdlib.h>

#include "support/attend.h"

static const attn_score scores[] = {ATTN_SCORE_SCALED_DOT, ATTN_SCORE_DOT, ATTN_SCORE_ADDITIVE};

static attn_tensor *constant(attn_tape *t, attn_dtype dtype, attn_shape shape, double *values)
{
    attn_tensor *x = variable_of(t, dtype, shape, values);
    free(values);
    return x;
}

/* x (B,T,n d) -> (B,T,d), part number `which` of n */
static attn_tensor *part_of_rows(attn_tape *t, attn_tensor *x, int64_t n, int64_t which)
{
    int64_t all = attn_tensor_shape(x).dim[2], d = all / n;
    double *select = random_values(all * d, 0, 0, 0);
    for (int64_t c = 0; c < d; c++) {
        select[(which * d + c) * d + c] = 1;
    }
    return attn_matmul(t, x, constant(t, attn_tensor_dtype(x), ATTN_SHAPE(all, d), select), ATTN_NN);
}

/* x (B,n,m) -> (B,1,m), row number `which` */
static attn_tensor *one_row(attn_tape *t, attn_tensor *x, int64_t which)
{
    attn_shape s = attn_tensor_shape(x);
    double *select = random_values(s.dim[0] * s.dim[1], 0, 0, 0);
    for (int64_t b = 0; b < s.dim[0]; b++) {
        select[b * s.dim[1] + which] = 1;
    }
    return attn_matmul(t, constant(t, attn_tensor_dtype(x), ATTN_SHAPE(s.dim[0], 1, s.dim[1]), select), x, ATTN_NN);
}

/* tanh(q + k) for all pairs, times w */
static attn_tensor *additive_scores(attn_tape *t, const attend_problem *p, attn_tensor *q, attn_tensor *k, attn_tensor *w)
{
    int64_t b = p->batch, tq = p->queries, tk = attend_keys(p), d = p->width;
    attn_tensor *pairs = variable_of(t, attn_tensor_dtype(q), ATTN_SHAPE(b, tq, tk, d), NULL);
    pairs = attn_add(t, pairs, attn_reshape(t, q, ATTN_SHAPE(b, tq, 1, d)));
    pairs = attn_add(t, pairs, attn_reshape(t, k, ATTN_SHAPE(b, 1, tk, d)));
    return attn_reshape(t, attn_matmul(t, attn_tanh(t, pairs), attn_reshape(t, w, ATTN_SHAPE(d, 1)), ATTN_NN), ATTN_SHAPE(b, tq, tk));
}

/* The table's entries by clipped offset, looked up for all pairs. */
static attn_tensor *position_bias(attn_tape *t, const attend_problem *p, attn_tensor *table, int64_t h)
{
    int64_t n = 2 * p->clip + 1, tq = p->queries, tk = attend_keys(p);
    int32_t *ids = malloc((size_t)(p->batch * tq * tk) * sizeof *ids);
    for (int64_t i = 0; i < p->batch * tq * tk; i++) {
        int64_t first = p->config.mask.positions != NULL ? p->config.mask.positions[i / tk / tq] : 0;
        int64_t offset = i % tk - i / tk % tq - first;
        ids[i] = (int32_t)(p->clip + (offset < -p->clip ? -p->clip : offset > p->clip ? p->clip : offset));
    }
    attn_tensor *row = one_row(t, attn_reshape(t, table, ATTN_SHAPE(1, p->config.score.heads, n)), h);
    attn_tensor *found = attn_embedding(t, attn_reshape(t, row, ATTN_SHAPE(n, 1)), ids, ATTN_SHAPE(p->batch, tq, tk));
    free(ids);
    return attn_reshape(t, found, ATTN_SHAPE(p->batch, tq, tk));
}

static attn_tensor *additive_bias(attn_tape *t, const attend_problem *p, attn_tensor *bias, int64_t h)
{
    int64_t heads = p->config.score.heads, tq = p->queries, tk = attend_keys(p);
    attn_tensor *all = attn_add(t, variable_of(t, attn_tensor_dtype(bias), ATTN_SHAPE(p->batch, heads, tq, tk), NULL), bias);
    return attn_reshape(t, one_row(t, attn_reshape(t, all, ATTN_SHAPE(p->batch, heads, tq * tk)), h), ATTN_SHAPE(p->batch, tq, tk));
}

static attn_tensor *added_mask(attn_tape *t, const attend_problem *p, attn_dtype dtype)
{
    int64_t tq = p->queries, tk = attend_keys(p);
    double *minus = random_values(p->batch * tq * tk, 0, 0, 0);
    for (int64_t i = 0; i < p->batch * tq * tk; i++) {
        minus[i] = attend_sees(p, i / tk / tq, i / tk % tq, i % tk) ? 0 : -INFINITY;
    }
    return constant(t, dtype, ATTN_SHAPE(p->batch, tq, tk), minus);
}

/* Scores, softmax and weighted sum of one head. */
static attn_tensor *head(attn_tape *t, const attend_problem *p, attn_tensor *const in[INPUTS], int64_t h)
{
    const attn_attend_config *c = &p->config;
    int64_t g = h / (c->score.heads / c->score.kv_heads);
    attn_tensor *q = part_of_rows(t, in[IN_QUERY], c->score.heads, h), *k = part_of_rows(t, in[IN_KEY], c->score.kv_heads, g);
    attn_tensor *v = part_of_rows(t, in[IN_VALUE], c->score.kv_heads, g), *s;
    if (c->score.score == ATTN_SCORE_ADDITIVE) {
        s = additive_scores(t, p, q, k, one_row(t, attn_reshape(t, in[IN_W], ATTN_SHAPE(1, c->score.heads, p->width)), h));
    } else {
        double factor = c->score.scale != 0 ? c->score.scale : c->score.score == ATTN_SCORE_DOT ? 1 : 1 / sqrt((double)p->width);
        s = attn_scale(t, attn_matmul(t, q, k, ATTN_NT), factor);
    }
    s = c->soft_cap != 0 ? attn_scale(t, attn_tanh(t, attn_scale(t, s, 1 / c->soft_cap)), c->soft_cap) : s;
    s = in[IN_POSITION] != NULL ? attn_add(t, s, position_bias(t, p, in[IN_POSITION], h)) : s;
    s = in[IN_BIAS] != NULL ? attn_add(t, s, additive_bias(t, p, in[IN_BIAS], h)) : s;
    attn_tensor *weights = attn_softmax(t, attn_add(t, s, added_mask(t, p, attn_tensor_dtype(q))), NULL);
    return attn_matmul(t, attn_dropout(t, weights, c->dropout), v, ATTN_NN);
}

static attn_tensor *compose(attn_tape *t, const attend_problem *p, attn_tensor *in[INPUTS])
{
    attn_tensor *heads[8], *own[INPUTS];
    for (int k = 0; k < INPUTS; k++) {
        own[k] = in[k];
    }
    for (int k = 0; k < 2 && p->past > 0; k++) {
        own[IN_KEY + k] = attn_append(t, in[IN_PAST_KEY + k], in[IN_KEY + k]);
    }
    for (int h = 0; h < p->config.score.heads; h++) {
        heads[h] = head(t, p, own, h);
    }
    return attn_concat(t, heads, p->config.score.heads);
}

/* Largest difference, in units of the bound 2 (d + Tq + Tk) epsilon. */
static double compare(attend_problem *p, attn_dtype dtype)
{
    double bound = 2 * (double)(p->width + p->queries + attend_keys(p)) * epsilon_of(dtype), share = 0;
    attn_tensor *in[INPUTS] = {NULL};
    attend_open(p);
    attn_tape *t = attn_tape_new(NULL);
    attn_tape_set_training(t, true);
    attn_tensor *one = attend_run(p, t, dtype, true).output;
    for (int k = 0; k < INPUTS; k++) {
        in[k] = p->in[k] != NULL ? variable_of(t, dtype, attend_shape(p, k), p->in[k]) : NULL;
    }
    attn_tape_set_random(t, 0, 0);
    attn_tensor *other = compose(t, p, in);
    assert_tape_ok(t);
    assert_int_equal(backward_from(t, other, p->cotangent), ATTN_OK);
    for (int64_t i = 0; i < attn_tensor_count(one); i++) {
        share = fmax(share, fabs(attn_tensor_get(one, i) - attn_tensor_get(other, i)) / bound);
    }
    for (int k = 0; k < INPUTS; k++) {
        for (int64_t i = 0; in[k] != NULL && i < attn_tensor_count(in[k]); i++) {
            double a = attn_tensor_get_grad(p->variable[k], i), b = attn_tensor_get_grad(in[k], i);
            assert_true(isfinite(a) && isfinite(b));
            share = fmax(share, fabs(a - b) / bound);
        }
    }
    attn_tape_free(t);
    attend_close(p);
    return share;
}

static const int32_t key_lengths[] = {17, 4}, query_lengths[] = {2, 18}, places[] = {3, -2};

static void attention_is_what_it_is_made_of(void **state)
{
    (void)state;
    double largest = 0;
    const attn_mask masks[] = {
        {.allow = NULL},
        {.key_lengths = key_lengths},
        {.query_lengths = query_lengths, .key_lengths = key_lengths},
        {.causal = ATTN_CAUSAL_TOP_LEFT},
        {.causal = ATTN_CAUSAL_BOTTOM_RIGHT},
        {.causal = ATTN_CAUSAL_POSITION, .positions = places},
        {.window = true, .left = 2, .right = 1, .positions = places},
    };
    for (int n = 0; n < 3 * 7 * 2 * 4; n++) {
        int options = n / 42; /* bit 0: grouped heads, cap, position; bit 1: past, bias */
        attend_problem p = {.batch = 2, .queries = 18, .keys = 17, .width = 5, .value_width = 3, .seed = (uint64_t)n};
        p.config.mask = masks[n / 3 % 7];
        p.config.score = (attn_score_config){.score = scores[n % 3], .heads = 4, .kv_heads = options & 1 ? 2 : 4};
        p.config.score.scale = options & 2 && n % 3 != 2 ? -0.7 : 0;
        p.config.soft_cap = options & 1 ? 0.9 : 0;
        p.clip = options & 1 ? 3 : 0;
        p.past = options & 2 ? 4 : 0;
        p.bias = options & 2 ? ATTN_SHAPE(2, 1, 18, 21) : ATTN_SCALAR;
        attn_dtype dtype = n / 21 % 2 == 0 ? ATTN_F32 : ATTN_F64;
        double share = compare(&p, dtype);
        if (!(share <= 1)) {
            print_error("problem %d: %g of the bound\n", n, share);
            fail();
        }
        largest = fmax(largest, share);
    }
    print_message("largest share of the bound: %.3f\n", largest);
}

/* One head, so that both draw the same dropout. */
static void dropout_is_that_of_the_weights(void **state)
{
    (void)state;
    for (int n = 0; n < 3 * 2 * 2; n++) {
        attend_problem p = {.batch = 2, .queries = 18, .keys = 21, .width = 5, .value_width = 3, .seed = (uint64_t)n};
        p.config.score = (attn_score_config){.score = scores[n % 3], .heads = 1, .kv_heads = 1};
        p.config.mask = n / 6 == 0 ? (attn_mask){.allow = NULL} : (attn_mask){.causal = ATTN_CAUSAL_BOTTOM_RIGHT};
        p.config.dropout = 0.4;
        assert_true(compare(&p, n / 3 % 2 == 0 ? ATTN_F32 : ATTN_F64) <= 1);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(attention_is_what_it_is_made_of),
        cmocka_unit_test(dropout_is_that_of_the_weights),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

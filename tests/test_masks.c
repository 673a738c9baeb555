/* Attention step by step (scores, position bias, softmax, weighted sum) under every combination of masks, against a plain reference.
 * What takes no part holds NaN throughout: it must reach neither values nor gradients. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support/tensors.h"

#include "attn/ops.h"
#include "attn/random.h"

#define CLIP 2

typedef struct sizes {
    int64_t b, h, tq, tk, d, dv; /* batch, heads, queries, keys, width of a head's keys and values */
} sizes;

enum { Q, K, V, W, TABLE, INPUTS };

/* Inputs, and whatever the reference computes from them. */
typedef struct problem {
    sizes n;
    attn_score score;
    attn_mask mask;
    const int32_t *first;
    double *in[INPUTS], *grad[INPUTS];
    double *weights, *output, *g; /* g: cotangent of the output */
} problem;

static attn_shape shape_of(const problem *p, int input)
{
    sizes n = p->n;
    const attn_shape shapes[] = {ATTN_SHAPE(n.b, n.tq, n.h * n.d), ATTN_SHAPE(n.b, n.tk, n.h * n.d), ATTN_SHAPE(n.b, n.tk, n.h * n.dv),
                                 ATTN_SHAPE(n.h, n.d), ATTN_SHAPE(n.h, 2 * CLIP + 1)};
    return shapes[input];
}

/* The definition of a mask, word by word. */
static bool is_visible(const problem *p, int64_t b, int64_t i, int64_t j)
{
    const attn_mask *m = &p->mask;
    int64_t tq = p->n.tq, tk = p->n.tk;
    bool allowed = m->allow == NULL || m->allow[m->allow_form == ATTN_ALLOW_KEYS ? b * tk + j : (b * tq + i) * tk + j] != 0;
    bool in_time = m->causal == ATTN_CAUSAL_NONE || (m->causal == ATTN_CAUSAL_TOP_LEFT ? j <= i : j <= i + tk - tq);
    return allowed && in_time && (m->key_lengths == NULL || j < m->key_lengths[b]) &&
           (m->query_lengths == NULL || i < m->query_lengths[b]) && (m->row_lengths == NULL || j < m->row_lengths[b * tq + i]);
}

/* ---- the reference ---- */

static double *q_at(const problem *p, double *const a[], int64_t b, int64_t h, int64_t i)
{
    return a[Q] + ((b * p->n.tq + i) * p->n.h + h) * p->n.d;
}

static double *k_at(const problem *p, double *const a[], int64_t b, int64_t h, int64_t j)
{
    return a[K] + ((b * p->n.tk + j) * p->n.h + h) * p->n.d;
}

static double *v_at(const problem *p, double *const a[], int64_t b, int64_t h, int64_t j)
{
    return a[V] + ((b * p->n.tk + j) * p->n.h + h) * p->n.dv;
}

static double *bias_at(const problem *p, double *const a[], int64_t b, int64_t h, int64_t i, int64_t j)
{
    int64_t offset = j - i - (p->first != NULL ? p->first[b] : 0);
    return a[TABLE] + h * (2 * CLIP + 1) + (offset < -CLIP ? 0 : offset > CLIP ? 2 * CLIP : offset + CLIP);
}

static double factor(const problem *p)
{
    return p->score == ATTN_SCORE_SCALED_DOT ? 1 / sqrt((double)p->n.d) : 1;
}

static double score_of(const problem *p, int64_t b, int64_t h, int64_t i, int64_t j)
{
    const double *q = q_at(p, p->in, b, h, i), *k = k_at(p, p->in, b, h, j), *w = p->in[W] + h * p->n.d;
    double s = 0;
    for (int64_t c = 0; c < p->n.d; c++) {
        s += p->score == ATTN_SCORE_ADDITIVE ? w[c] * tanh(q[c] + k[c]) : q[c] * k[c] * factor(p);
    }
    return s + *bias_at(p, p->in, b, h, i, j);
}

/* Adds what the score of one pair passes back, given its gradient ds. */
static void score_backward(problem *p, int64_t b, int64_t h, int64_t i, int64_t j, double ds)
{
    const double *q = q_at(p, p->in, b, h, i), *k = k_at(p, p->in, b, h, j), *w = p->in[W] + h * p->n.d;
    double *dq = q_at(p, p->grad, b, h, i), *dk = k_at(p, p->grad, b, h, j), *dw = p->grad[W] + h * p->n.d;
    for (int64_t c = 0; c < p->n.d; c++) {
        double u = tanh(q[c] + k[c]);
        if (p->score == ATTN_SCORE_ADDITIVE) {
            dw[c] += ds * u;
            dq[c] += ds * w[c] * (1 - u * u);
            dk[c] += ds * w[c] * (1 - u * u);
        } else {
            dq[c] += ds * factor(p) * k[c];
            dk[c] += ds * factor(p) * q[c];
        }
    }
    *bias_at(p, p->grad, b, h, i, j) += ds;
}

/* One query of one head: weights, output, and all gradients. */
static void reference_row(problem *p, int64_t b, int64_t h, int64_t i)
{
    double *w = p->weights + ((b * p->n.h + h) * p->n.tq + i) * p->n.tk, sum = 0, mean = 0;
    int64_t at = ((b * p->n.tq + i) * p->n.h + h) * p->n.dv;
    for (int64_t j = 0; j < p->n.tk; j++) {
        w[j] = is_visible(p, b, i, j) ? exp(score_of(p, b, h, i, j)) : 0;
        sum += w[j];
    }
    for (int64_t j = 0; j < p->n.tk; j++) {
        if (is_visible(p, b, i, j)) {
            w[j] /= sum;
            for (int64_t c = 0; c < p->n.dv; c++) {
                p->output[at + c] += w[j] * v_at(p, p->in, b, h, j)[c];
                mean += p->g[at + c] * w[j] * v_at(p, p->in, b, h, j)[c];
                v_at(p, p->grad, b, h, j)[c] += w[j] * p->g[at + c];
            }
        }
    }
    for (int64_t j = 0; j < p->n.tk; j++) {
        if (is_visible(p, b, i, j)) {
            double dw = 0;
            for (int64_t c = 0; c < p->n.dv; c++) {
                dw += p->g[at + c] * v_at(p, p->in, b, h, j)[c];
            }
            score_backward(p, b, h, i, j, w[j] * (dw - mean));
        }
    }
}

/* ---- one problem ---- */

/* NaN into queries that see nothing and keys and values that nobody sees. */
static void poison(problem *p)
{
    sizes n = p->n;
    for (int64_t b = 0; b < n.b; b++) {
        for (int64_t r = 0; r < n.tq + n.tk; r++) {
            bool used = false;
            for (int64_t o = 0; o < (r < n.tq ? n.tk : n.tq); o++) {
                used = used || (r < n.tq ? is_visible(p, b, r, o) : is_visible(p, b, o, r - n.tq));
            }
            for (int64_t c = 0; c < n.h * n.d && !used; c++) {
                (r < n.tq ? q_at(p, p->in, b, 0, r) : k_at(p, p->in, b, 0, r - n.tq))[c] = NAN;
            }
            for (int64_t c = 0; c < n.h * n.dv && !used && r >= n.tq; c++) {
                v_at(p, p->in, b, 0, r - n.tq)[c] = NAN;
            }
        }
    }
}

static void solve(problem *p)
{
    sizes n = p->n;
    for (int i = 0; i < INPUTS; i++) {
        int64_t count = attn_shape_count(shape_of(p, i));
        p->in[i] = random_values(count, (uint64_t)i, -1, 1);
        p->grad[i] = random_values(count, 0, 0, 0);
    }
    p->weights = random_values(n.b * n.h * n.tq * n.tk, 0, 0, 0);
    p->output = random_values(n.b * n.tq * n.h * n.dv, 0, 0, 0);
    p->g = random_values(n.b * n.tq * n.h * n.dv, 9, -1, 1);
    poison(p);
    for (int64_t r = 0; r < n.b * n.h * n.tq; r++) {
        reference_row(p, r / n.tq / n.h, r / n.tq % n.h, r % n.tq);
    }
}

static void free_problem(problem *p)
{
    for (int i = 0; i < INPUTS; i++) {
        free(p->in[i]);
        free(p->grad[i]);
    }
    free(p->weights);
    free(p->output);
    free(p->g);
}

/* Exactly 0: hidden weights, the outputs of queries that see nothing, and the gradients of what takes no part (the NaN inputs). */
static void check(const problem *p, attn_dtype dtype)
{
    counting_allocator dirty;
    counting_init(&dirty, 0);
    attn_tape *t = attn_tape_new(&dirty.value);
    attn_tensor *in[INPUTS];
    for (int i = 0; i < INPUTS; i++) {
        in[i] = variable_of(t, dtype, shape_of(p, i), p->in[i]);
    }
    attn_tensor *w = p->score == ATTN_SCORE_ADDITIVE ? in[W] : NULL;
    attn_tensor *s = attn_attention_scores(t, in[Q], in[K], w, (attn_score_config){.score = p->score, .heads = (int)p->n.h}, &p->mask);
    attn_tensor *a = attn_softmax(t, attn_relative_bias(t, s, in[TABLE], p->first, &p->mask), &p->mask);
    attn_tensor *o = attn_attention_mix(t, a, in[V], 0, &p->mask);
    assert_tape_ok(t);
    double e = 64 * epsilon_of(dtype);
    assert_values(a, p->weights, e, 0);
    for (int64_t k = 0; k < attn_tensor_count(o); k++) {
        assert_close(attn_tensor_get(o, k), p->output[k], e, p->output[k] == 0 ? 0 : e);
    }
    assert_int_equal(backward_from(t, o, p->g), ATTN_OK);
    for (int i = 0; i < INPUTS; i++) {
        for (int64_t k = 0; k < attn_tensor_count(in[i]) && (i != W || w != NULL); k++) {
            assert_close(attn_tensor_get_grad(in[i], k), p->grad[i][k], e, isnan(p->in[i][k]) ? 0 : e);
        }
    }
    attn_tape_free(t);
}

static void check_problem(problem p)
{
    solve(&p);
    check(&p, ATTN_F32);
    check(&p, ATTN_F64);
    free_problem(&p);
}

/* ---- all masks ---- */

typedef struct arrays {
    int32_t keys[4], queries[4], rows[4 * 40], first[4];
    uint8_t allow[4 * 40 * 40];
} arrays;

/* Lengths from none to all of them; entry 0 is always full, so that no problem is empty throughout. */
static arrays random_arrays(sizes n, uint64_t seed)
{
    arrays a = {{0}, {0}, {0}, {0}, {0}};
    for (int64_t b = 0; b < n.b; b++) {
        a.keys[b] = (int32_t)(b == 0 ? n.tk : (int64_t)attn_random_below(seed, 1, (uint64_t)b, (uint64_t)n.tk + 1));
        a.queries[b] = (int32_t)(b == 0 ? n.tq : (int64_t)attn_random_below(seed, 2, (uint64_t)b, (uint64_t)n.tq + 1));
        a.first[b] = (int32_t)attn_random_below(seed, 5, (uint64_t)b, 4);
    }
    for (int64_t r = 0; r < n.b * n.tq; r++) {
        a.rows[r] = (int32_t)attn_random_below(seed, 3, (uint64_t)r, (uint64_t)n.tk + 1);
    }
    for (int64_t i = 0; i < n.b * n.tq * n.tk; i++) {
        a.allow[i] = (uint8_t)(attn_random_below(seed, 4, (uint64_t)i, 3) > 0 ? 1 + i % 255 : 0); /* anything but 0 is true */
    }
    return a;
}

/* Bits 0..2: lengths of keys, queries, rows; then allow (none, pairs, keys) and causal (none, two alignments) in base 3. */
#define COMBINATIONS (8 * 3 * 3)

static attn_mask mask_number(const arrays *a, int number)
{
    int allow = number / 8 % 3;
    return (attn_mask){
        .key_lengths = number & 1 ? a->keys : NULL,
        .query_lengths = number & 2 ? a->queries : NULL,
        .row_lengths = number & 4 ? a->rows : NULL,
        .allow = allow > 0 ? a->allow : NULL,
        .allow_form = allow == 2 ? ATTN_ALLOW_KEYS : ATTN_ALLOW_PAIRS,
        .causal = (attn_causal)(number / 24),
    };
}

static void every_combination(void **state)
{
    (void)state;
    const sizes all[] = {{3, 2, 5, 7, 3, 2}, {2, 1, 6, 4, 4, 5}, {2, 3, 4, 4, 1, 1}};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        arrays a = random_arrays(all[i], i);
        for (int number = 0; number < COMBINATIONS; number++) {
            for (attn_score score = ATTN_SCORE_SCALED_DOT; score <= ATTN_SCORE_ADDITIVE; score++) {
                check_problem(
                    (problem){.n = all[i], .score = score, .mask = mask_number(&a, number), .first = number % 2 ? a.first : NULL});
            }
        }
    }
}

/* More queries and keys than a tile holds. */
static void more_rows_than_a_tile(void **state)
{
    (void)state;
    const sizes n = {2, 2, 37, 33, 5, 3};
    arrays a = random_arrays(n, 9);
    for (int number = 0; number < COMBINATIONS; number += 7) {
        check_problem((problem){.n = n, .score = (attn_score)(number % 3), .mask = mask_number(&a, number), .first = a.first});
    }
}

/* No queries, no keys, no batch, vectors of width 0: nothing to do, or sums of nothing. */
static void empty_dimensions(void **state)
{
    (void)state;
    const sizes all[] = {{2, 2, 0, 3, 2, 2}, {2, 2, 3, 0, 2, 2}, {0, 2, 3, 3, 2, 2}, {2, 2, 3, 3, 0, 2}, {2, 2, 3, 3, 2, 0}};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        arrays a = random_arrays(all[i], i);
        for (int number = 0; number < COMBINATIONS; number++) {
            check_problem((problem){.n = all[i], .score = (attn_score)(number % 3), .mask = mask_number(&a, number)});
        }
    }
}

/* A mask is copied: changing its arrays afterwards changes nothing in the backward pass. */
static void check_copies(int overwritten)
{
    const sizes n = {2, 2, 4, 5, 3, 2};
    arrays a = random_arrays(n, 3), given = a;
    problem p = {.n = n, .mask = mask_number(&a, 7 + 8), .first = a.first};
    attn_mask mask = mask_number(&given, 7 + 8);
    solve(&p);
    attn_tape *t = attn_tape_new(NULL);
    attn_tensor *q = variable_of(t, ATTN_F64, shape_of(&p, Q), p.in[Q]), *k = variable_of(t, ATTN_F64, shape_of(&p, K), p.in[K]);
    attn_tensor *v = variable_of(t, ATTN_F64, shape_of(&p, V), p.in[V]),
                *table = variable_of(t, ATTN_F64, shape_of(&p, TABLE), p.in[TABLE]);
    attn_tensor *s = attn_attention_scores(t, q, k, NULL, (attn_score_config){.score = p.score, .heads = 2}, &mask);
    attn_tensor *o = attn_attention_mix(t, attn_softmax(t, attn_relative_bias(t, s, table, given.first, &mask), &mask), v, 0, &mask);
    memset(&given, overwritten, sizeof given);
    assert_values(o, p.output, 1e-14, 1e-14);
    assert_int_equal(backward_from(t, o, p.g), ATTN_OK);
    assert_gradient(q, p.grad[Q], 1e-13, 1e-14);
    assert_gradient(k, p.grad[K], 1e-13, 1e-14);
    assert_gradient(v, p.grad[V], 1e-13, 1e-14);
    assert_gradient(table, p.grad[TABLE], 1e-13, 1e-14);
    attn_tape_free(t);
    free_problem(&p);
}

static void arrays_are_copied(void **state)
{
    (void)state;
    check_copies(0);
    check_copies(1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_combination),
        cmocka_unit_test(more_rows_than_a_tile),
        cmocka_unit_test(empty_dimensions),
        cmocka_unit_test(arrays_are_copied),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

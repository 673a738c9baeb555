/* Random attention problems: any parts of a mask together, with any options, sizes, dropout and threads. The result is that of plain loops;
 * what takes no part, in inputs and in gradients that come in, may be anything, and changes no bit. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support/attend.h"
#include "support/attention.h"
#include "support/params.h"

#include "attn/random.h"

enum { LONGEST = 218 }; /* queries or keys: more than two tiles */

/* ---- problems ---- */

static uint64_t seed, drawn;

static int64_t draw(int64_t below)
{
    return (int64_t)attn_random_below(seed, 77, drawn++, (uint64_t)below);
}

static bool one_in(int64_t n)
{
    return draw(n) == 0;
}

static int32_t key_lengths[3], query_lengths[3], positions[3], row_lengths[3 * LONGEST], row_begins[3 * LONGEST];
static uint8_t allow[3 * LONGEST * LONGEST];

/* Every part of a mask is there or not; between them they often leave nothing. */
static attn_mask random_mask(int64_t batch, int64_t queries, int64_t keys)
{
    attn_mask m = {.causal = one_in(2) ? (attn_causal)draw(4) : ATTN_CAUSAL_NONE};
    for (int b = 0; b < 3; b++) {
        key_lengths[b] = (int32_t)draw(keys + 1);
        query_lengths[b] = (int32_t)draw(queries + 1);
        positions[b] = (int32_t)(draw(2 * keys + 1) - keys / 2);
    }
    for (int64_t i = 0; i < batch * queries; i++) {
        row_lengths[i] = (int32_t)draw(keys + 1);
        row_begins[i] = (int32_t)draw(keys / 2 + 1);
    }
    int64_t density = 2 + draw(4);
    for (int64_t i = 0; i < batch * queries * keys; i++) {
        allow[i] = draw(density) != 0;
    }
    m.key_lengths = one_in(3) ? key_lengths : NULL;
    m.query_lengths = one_in(3) ? query_lengths : NULL;
    m.row_lengths = one_in(4) ? row_lengths : NULL;
    m.row_begins = one_in(4) ? row_begins : NULL;
    m.allow = one_in(3) ? allow : NULL;
    m.allow_form = (attn_allow_form)draw(2);
    m.window = one_in(3);
    m.left = (int32_t)draw(7) - 1;
    m.right = (int32_t)draw(7) - 1;
    m.positions = m.causal == ATTN_CAUSAL_POSITION || (m.causal == ATTN_CAUSAL_NONE && one_in(3)) ? positions : NULL;
    return m;
}

/* A bias of any shape that can be repeated over all pairs. */
static attn_shape random_bias(const attend_problem *p)
{
    attn_shape pairs = ATTN_SHAPE(p->batch, p->config.score.heads, p->queries, attend_keys(p)), bias = {.rank = 1 + (int)draw(4)};
    for (int d = 0; d < bias.rank; d++) {
        bias.dim[d] = one_in(3) ? 1 : pairs.dim[4 - bias.rank + d];
    }
    return bias;
}

/* Every twelfth is one of several tiles. */
static attend_problem random_problem(void)
{
    bool large = seed % 12 == 0;
    attend_problem p = {.batch = large ? 1 : 1 + draw(3), .seed = seed};
    p.queries = 1 + draw(large ? 200 : 20);
    p.keys = 1 + draw(large ? 200 : 20);
    p.past = one_in(3) ? 1 + draw(18) : 0;
    p.width = 1 + draw(5);
    p.value_width = 1 + draw(5);
    int groups = large ? 1 : 1 + (int)draw(3);
    p.config.score = (attn_score_config){.score = (attn_score)draw(3), .heads = groups * (1 + (int)draw(2)), .kv_heads = groups};
    p.config.soft_cap = one_in(3) ? 0.5 : 0;
    p.config.dropout = one_in(3) ? 0.4 : 0;
    p.config.composed = one_in(2);
    p.clip = one_in(3) ? 1 + draw(3) : 0;
    p.config.mask = random_mask(p.batch, p.queries, attend_keys(&p));
    p.bias = one_in(3) ? random_bias(&p) : ATTN_SCALAR;
    return p;
}

/* ---- results ---- */

typedef struct numbers {
    int64_t count;
    double values[1 << 19];
} numbers;

static void take_one(numbers *n, double x)
{
    assert_true(n->count < (int64_t)(sizeof n->values / sizeof n->values[0]) && isfinite(x));
    n->values[n->count++] = x;
}

static void take(numbers *n, const attn_tensor *x, bool gradient)
{
    for (int64_t i = 0; i < attn_tensor_count(x); i++) {
        take_one(n, gradient ? attn_tensor_get_grad(x, i) : attn_tensor_get(x, i));
    }
}

static void assert_same_numbers(const numbers *a, const numbers *b)
{
    assert_int_equal(a->count, b->count);
    if (memcmp(a->values, b->values, (size_t)a->count * sizeof a->values[0]) != 0) {
        print_error("seed %llu\n", (unsigned long long)seed);
        fail();
    }
}

static const double fillings[] = {NAN, INFINITY, -INFINITY, 1e30};
enum { FILLINGS = sizeof fillings / sizeof fillings[0] };

static void fill_row(double *x, int64_t row, int64_t width, double filling)
{
    for (int64_t c = 0; c < width; c++) {
        x[row * width + c] = filling;
    }
}

/* ---- the functional form ---- */

enum { STAGES = 4 };
static double *stage_cotangent[STAGES]; /* of weights, scores, capped and scaled scores */

static void run(attend_problem *p, attn_dtype dtype, bool training, int threads, numbers *n)
{
    n->count = 0;
    attn_tape *t = attn_tape_new(NULL);
    attn_tape_set_training(t, training);
    attn_tape_set_threads(t, threads);
    attn_attend_output out = attend_run(p, t, dtype, true);
    attn_tensor *stages[STAGES] = {out.weights, out.scores, out.capped, out.scaled};
    take(n, out.output, false);
    for (int i = 0; i < STAGES; i++) {
        take(n, stages[i], false);
        assert_int_equal(backward_from(t, stages[i], stage_cotangent[i]), ATTN_OK);
    }
    for (int k = 0; k < INPUTS; k++) {
        if (p->in[k] != NULL) {
            take(n, p->variable[k], true);
        }
    }
    attn_tape_free(t);
}

static void compare_with_loops(attend_problem *p, attn_dtype dtype)
{
    attn_tape *t = attn_tape_new(NULL);
    attend_reference r = attend_by_loops(p);
    attn_attend_output out = attend_run(p, t, dtype, true);
    double difference = attend_difference(p, &out, &r, true);
    if (!(difference < (double)(64 + p->queries + attend_keys(p)) * epsilon_of(dtype))) {
        print_error("seed %llu: off by %g epsilon\n", (unsigned long long)seed, difference / epsilon_of(dtype));
        fail();
    }
    attend_reference_free(&r);
    attn_tape_free(t);
}

/* Where pair (i, j) reads the bias or the position table. */
static int64_t entry_of(const attend_problem *p, int input, int64_t b, int64_t h, int64_t i, int64_t j)
{
    const int64_t at[] = {b, h, i, j};
    int64_t entry = 0, offset = j - i - (p->config.mask.positions != NULL ? p->config.mask.positions[b] : 0);
    if (input == IN_POSITION) {
        return h * (2 * p->clip + 1) + p->clip + (offset < -p->clip ? -p->clip : offset > p->clip ? p->clip : offset);
    }
    for (int d = 0; d < p->bias.rank; d++) {
        entry = entry * p->bias.dim[d] + (p->bias.dim[d] == 1 ? 0 : at[4 - p->bias.rank + d]);
    }
    return entry;
}

/* Hidden pairs: what comes in for them, and entries of the bias and of the position table that no visible pair reads. */
static void fill_pairs(attend_problem *p, double filling)
{
    uint8_t *used[INPUTS] = {NULL};
    for (int k = IN_BIAS; k <= IN_POSITION; k++) {
        used[k] = p->in[k] != NULL ? calloc((size_t)attn_shape_count(attend_shape(p, k)), 1) : NULL;
    }
    for (int64_t n = 0; n < attend_pairs(p); n++) {
        int64_t keys = attend_keys(p), j = n % keys, i = n / keys % p->queries;
        int64_t h = n / keys / p->queries % p->config.score.heads, b = n / keys / p->queries / p->config.score.heads;
        bool sees = attend_sees(p, b, i, j);
        for (int s = 0; s < STAGES && !sees; s++) {
            stage_cotangent[s][n] = filling;
        }
        for (int k = IN_BIAS; k <= IN_POSITION && sees; k++) {
            if (used[k] != NULL) {
                used[k][entry_of(p, k, b, h, i, j)] = 1;
            }
        }
    }
    for (int k = IN_BIAS; k <= IN_POSITION; k++) {
        for (int64_t i = 0; used[k] != NULL && i < attn_shape_count(attend_shape(p, k)); i++) {
            p->in[k][i] = used[k][i] ? p->in[k][i] : filling;
        }
        free(used[k]);
    }
}

static void fill_rows(attend_problem *p, double filling)
{
    int64_t h = p->config.score.heads, g = p->config.score.kv_heads;
    for (int64_t b = 0; b < p->batch; b++) {
        for (int64_t i = 0; i < p->queries; i++) {
            if (!attend_query_used(p, b, i)) {
                fill_row(p->in[IN_QUERY], b * p->queries + i, h * p->width, filling);
                fill_row(p->cotangent, b * p->queries + i, h * p->value_width, filling);
            }
        }
        for (int64_t j = 0; j < attend_keys(p); j++) {
            bool past = j < p->past;
            if (!attend_key_used(p, b, j)) {
                int64_t row = past ? b * p->past + j : b * p->keys + j - p->past;
                fill_row(p->in[past ? IN_PAST_KEY : IN_KEY], row, g * p->width, filling);
                fill_row(p->in[past ? IN_PAST_VALUE : IN_VALUE], row, g * p->value_width, filling);
            }
        }
    }
}

static void random_problems(void **state)
{
    (void)state;
    static numbers clean, filled;
    for (seed = 0; seed < 500; seed++) {
        drawn = 0;
        attend_problem p = random_problem();
        attn_dtype dtype = one_in(2) ? ATTN_F32 : ATTN_F64;
        bool training = one_in(2);
        attend_open(&p);
        for (int i = 0; i < STAGES; i++) {
            stage_cotangent[i] = random_values(attend_pairs(&p), seed + 100 + (uint64_t)i, -1, 1);
        }
        compare_with_loops(&p, dtype); /* without dropout */
        run(&p, dtype, training, 1, &clean);
        for (int f = 0; f < FILLINGS; f++) {
            fill_rows(&p, fillings[f]);
            fill_pairs(&p, fillings[f]);
            run(&p, dtype, training, f % 2 == 0 ? 4 : 1, &filled);
            assert_same_numbers(&clean, &filled);
        }
        for (int i = 0; i < STAGES; i++) {
            free(stage_cotangent[i]);
        }
        attend_close(&p);
    }
}

/* ---- the layer ---- */

typedef struct layer_problem {
    attention_problem layer; /* without a past */
    int64_t past;
    double *past_key, *past_value, *cotangent;
    int64_t past_widths[2];
} layer_problem;

static layer_problem random_layer(void)
{
    layer_problem p = {.layer = {.batch = 1 + draw(3), .queries = 1 + draw(18), .keys = 1 + draw(18), .seed = seed}};
    attn_attention_config *c = &p.layer.config;
    p.past = one_in(3) ? 1 + draw(17) : 0;
    *c = (attn_attention_config){.score = (attn_score)draw(3), .kv_heads = 1 + (int)draw(3), .no_output = one_in(3), .bias = one_in(2)};
    c->heads = c->kv_heads * (1 + (int)draw(2));
    int *const widths[] = {&c->query_dim, &c->key_dim, &c->value_dim, &c->head_dim, &c->head_value_dim, &c->output_dim};
    for (size_t i = 0; i < sizeof widths / sizeof widths[0]; i++) {
        *widths[i] = 1 + (int)draw(6);
    }
    c->relative_clip = (int)draw(3);
    c->dropout = one_in(3) ? 0.4 : 0;
    c->soft_cap = one_in(3) ? 0.5 : 0;
    p.layer.mask = random_mask(p.layer.batch, p.layer.queries, p.past + p.layer.keys);
    p.layer.query_start = one_in(3) ? positions : NULL;
    return p;
}

static void run_layer(layer_problem *p, bool training, int threads, numbers *n)
{
    attention_problem *a = &p->layer;
    const attn_attention_config *c = &a->config;
    n->count = 0;
    attn_tape *t = attn_tape_new(NULL);
    attn_tape_set_training(t, training);
    attn_tape_set_threads(t, threads);
    attn_params_zero_grad(a->params);
    attn_tensor *x[] = {variable_of(t, a->dtype, ATTN_SHAPE(a->batch, a->queries, c->query_dim), a->query),
                        variable_of(t, a->dtype, ATTN_SHAPE(a->batch, a->keys, c->key_dim), a->key),
                        variable_of(t, a->dtype, ATTN_SHAPE(a->batch, a->keys, c->value_dim), a->value), NULL, NULL};
    for (int i = 0; i < 2 && p->past > 0; i++) {
        x[3 + i] = variable_of(t, a->dtype, ATTN_SHAPE(a->batch, p->past, p->past_widths[i]), i == 0 ? p->past_key : p->past_value);
    }
    attn_attention_output out = attn_attention_apply(t, a->layer,
                                                     (attn_attention_input){.query = x[0],
                                                                            .key = x[1],
                                                                            .value = x[2],
                                                                            .past_key = x[3],
                                                                            .past_value = x[4],
                                                                            .mask = a->mask,
                                                                            .query_start = a->query_start});
    assert_tape_ok(t);
    assert_int_equal(backward_from(t, out.output, p->cotangent), ATTN_OK);
    take(n, out.output, false);
    take(n, out.weights, false);
    take(n, out.scores, false);
    for (int i = 0; i < 5; i++) {
        take(n, x[i], true);
    }
    for (int id = 0; id < attn_params_count(a->params); id++) {
        for (int64_t i = 0; i < attn_shape_count(attn_params_shape(a->params, id)); i++) {
            take_one(n, grad(a->params, id, i));
        }
    }
    attn_tape_free(t);
}

static void fill_layer(layer_problem *p, double filling)
{
    attention_problem *a = &p->layer;
    attend_problem shape = {.batch = a->batch, .queries = a->queries, .keys = a->keys, .past = p->past, .config = {.mask = a->mask}};
    for (int64_t b = 0; b < a->batch; b++) {
        for (int64_t i = 0; i < a->queries; i++) {
            if (!attend_query_used(&shape, b, i)) {
                fill_row(a->query, b * a->queries + i, a->config.query_dim, filling);
                fill_row(p->cotangent, b * a->queries + i, attention_width(a), filling);
            }
        }
        for (int64_t j = 0; j < p->past + a->keys; j++) {
            if (attend_key_used(&shape, b, j)) {
                continue;
            }
            if (j < p->past) {
                fill_row(p->past_key, b * p->past + j, p->past_widths[0], filling);
                fill_row(p->past_value, b * p->past + j, p->past_widths[1], filling);
            } else {
                fill_row(a->key, b * a->keys + j - p->past, a->config.key_dim, filling);
                fill_row(a->value, b * a->keys + j - p->past, a->config.value_dim, filling);
            }
        }
    }
}

static void random_layers(void **state)
{
    (void)state;
    static numbers clean, filled;
    for (seed = 0; seed < 300; seed++) {
        drawn = 0;
        layer_problem p = random_layer();
        attention_open(&p.layer, one_in(2) ? ATTN_F32 : ATTN_F64);
        const attn_attention_config *c = &p.layer.config;
        bool training = one_in(2);
        p.past_widths[0] = (int64_t)c->kv_heads * c->head_dim;
        p.past_widths[1] = (int64_t)c->kv_heads * c->head_value_dim;
        p.past_key = random_values(p.layer.batch * p.past * p.past_widths[0], seed + 51, -1, 1);
        p.past_value = random_values(p.layer.batch * p.past * p.past_widths[1], seed + 52, -1, 1);
        p.cotangent = random_values(p.layer.batch * p.layer.queries * attention_width(&p.layer), seed + 53, -1, 1);
        run_layer(&p, training, 1, &clean);
        for (int f = 0; f < FILLINGS; f++) {
            fill_layer(&p, fillings[f]);
            run_layer(&p, training, f % 2 == 0 ? 4 : 1, &filled);
            assert_same_numbers(&clean, &filled);
        }
        free(p.past_key);
        free(p.past_value);
        free(p.cotangent);
        attention_close(&p.layer);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_problems),
        cmocka_unit_test(random_layers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

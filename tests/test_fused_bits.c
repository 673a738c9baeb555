/* What changes no bit of attn_fused_attention: threads, recording, and whatever hidden rows hold. What a number that is not finite does,
 * and what a step costs in memory. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support/fused.h"

#include "core/core.h"
#include "ops/fused.h"

static const attn_score scores[] = {ATTN_SCORE_SCALED_DOT, ATTN_SCORE_DOT, ATTN_SCORE_ADDITIVE};

static void assert_same_bits(const fused_problem *p, const fused_result *a, const fused_result *b, int64_t count)
{
    for (int64_t i = 0; i < count; i++) {
        if (memcmp(&a->values[i], &b->values[i], sizeof a->values[i]) != 0) {
            print_error("%s: %s, number %lld of all is %.17g, not %.17g\n", fused_text(p, (char[FUSED_TEXT]){0}), fused_name(p, i),
                        (long long)i, b->values[i], a->values[i]);
            fail();
        }
    }
}

/* ---- threads ---- */

static void threads_and_recording_change_no_bit(void **state)
{
    (void)state;
    for (uint64_t n = 0; n < 120; n++) {
        attn_dtype dtype = n / 3 % 2 == 0 ? ATTN_F32 : ATTN_F64;
        fused_problem p = fused_random(n + 1000, 2e7);
        fused_result one = fused_run(&p, (fused_way){.dtype = dtype});
        const int threads[] = {2, 3, 8, 1};
        for (int i = 0; i < 4; i++) {
            fused_way way = {.dtype = dtype, .threads = threads[i]};
            fused_result many = fused_run(&p, way);
            assert_int_equal(many.count, one.count);
            assert_same_bits(&p, &one, &many, one.count);
            fused_free(&many);
        }
        fused_result alone = fused_run(&p, (fused_way){.dtype = dtype, .threads = 2, .unrecorded = true});
        assert_int_equal(alone.count, one.outputs);
        assert_same_bits(&p, &one, &alone, alone.count);
        fused_free(&alone);
        fused_free(&one);
        fused_close(&p);
    }
}

/* The backward pass may run on more threads than the forward pass had. */
static void threads_may_change_between_the_passes(void **state)
{
    (void)state;
    float *gradients[2] = {NULL, NULL};
    size_t bytes = (size_t)(3 * 200 * 32) * sizeof(float);
    double *cotangent = random_values(3 * 200 * 32, 2, -1, 1);
    for (int way = 0; way < 2; way++) {
        attn_tape *t = attn_tape_new(NULL);
        attn__tape_force_threads(t, 1);
        attn_tensor *x = random_variable(t, ATTN_F32, ATTN_SHAPE(3, 200, 32), 1);
        attn_tensor *y = attn_fused_attention(t, &(attn_fused_input){.query = x, .key = x, .value = x, .score = {.heads = 4}});
        attn__tape_force_threads(t, way == 0 ? 1 : 16);
        assert_int_equal(backward_from(t, y, cotangent), ATTN_OK);
        gradients[way] = malloc(bytes);
        assert_non_null(gradients[way]);
        memcpy(gradients[way], attn_tensor_grad(x), bytes);
        attn_tape_free(t);
    }
    assert_memory_equal(gradients[0], gradients[1], bytes);
    free(gradients[0]);
    free(gradients[1]);
    free(cotangent);
}

/* ---- hidden rows ---- */

static void fill_row(double *x, int64_t row, int64_t width, double filling)
{
    for (int64_t c = 0; c < width; c++) {
        x[row * width + c] = filling;
    }
}

/* Numbers of the bias (or of the position table) that no visible pair takes. */
static void fill_entries(fused_problem *p, int input, double filling)
{
    attend_problem *a = &p->a;
    int64_t count = a->in[input] != NULL ? attn_shape_count(attend_shape(a, input)) : 0;
    bool *used = calloc((size_t)count + 1, sizeof *used);
    assert_non_null(used);
    for (int64_t pair = 0; pair < attend_pairs(a) && count > 0; pair++) {
        int64_t j = pair % a->keys, i = pair / a->keys % a->queries, head = pair / a->keys / a->queries;
        int64_t h = head % a->config.score.heads, b = head / a->config.score.heads;
        if (attend_sees(a, b, i, j)) {
            used[fused_entry(p, input, b, h, i, j)] = true;
        }
    }
    for (int64_t i = 0; i < count; i++) {
        a->in[input][i] = used[i] ? a->in[input][i] : filling;
    }
    free(used);
}

/* Everything that takes no part: also the cotangents of queries that see nothing. */
static void fill_hidden(fused_problem *p, double filling)
{
    attend_problem *a = &p->a;
    int64_t h = a->config.score.heads, g = a->config.score.kv_heads;
    for (int64_t i = 0; i < a->batch * a->queries; i++) {
        if (!attend_query_used(a, i / a->queries, i % a->queries)) {
            fill_row(a->in[IN_QUERY], i, h * a->width, filling);
            fill_row(a->cotangent, i, h * a->value_width, filling);
        }
    }
    for (int64_t j = 0; j < a->batch * a->keys; j++) {
        if (!attend_key_used(a, j / a->keys, j % a->keys)) {
            fill_row(a->in[IN_KEY], j, g * a->width, filling);
            fill_row(a->in[IN_VALUE], j, g * a->value_width, filling);
        }
    }
    fill_entries(p, IN_BIAS, filling);
    fill_entries(p, IN_POSITION, filling);
}

/* The problem's results with its own numbers in hidden rows, and with others there. */
static void check_hidden(fused_problem *p, attn_dtype dtype)
{
    const double fillings[] = {NAN, HUGE_VAL, -HUGE_VAL, 1e30, -1e300, 0.25, 0};
    fused_result clean = fused_run(p, (fused_way){.dtype = dtype});
    for (int64_t i = 0; i < clean.count; i++) {
        assert_true(isfinite(clean.values[i]));
    }
    for (size_t f = 0; f < sizeof fillings / sizeof fillings[0]; f++) {
        fill_hidden(p, fillings[f]);
        fused_result filled = fused_run(p, (fused_way){.dtype = dtype});
        assert_int_equal(filled.count, clean.count);
        assert_same_bits(p, &clean, &filled, clean.count);
        fused_free(&filled);
    }
    fused_free(&clean);
}

static void hidden_rows_change_no_bit(void **state)
{
    (void)state;
    for (uint64_t n = 0; n < 200; n++) {
        fused_problem p = fused_random(n + 2000, 8e5);
        check_hidden(&p, n / 3 % 2 == 0 ? ATTN_F32 : ATTN_F64);
        fused_close(&p);
    }
}

/* Which of three tiles' rows are hidden. */
static bool hidden_at_border(int pattern, int64_t tile, int64_t i)
{
    const int64_t at = i % tile;
    switch (pattern) {
    case 0: /* the first, one in the middle, the last of each tile */
        return at == 0 || at == tile / 2 || at == tile - 1;
    case 1:
        return i / tile == 0;
    case 2:
        return i / tile == 1;
    case 3:
        return i / tile == 2;
    case 4: /* the last row of the first tile to the first of the third */
        return i >= tile - 1 && i <= 2 * tile;
    default: /* all but the tiles' first rows */
        return at != 0;
    }
}

/* Keys by bytes, queries by row lengths of 0. */
static void hidden_rows_at_the_borders_of_tiles(void **state)
{
    (void)state;
    enum { Q = 2 * ATTN__TILE_QUERIES + 5, K = 2 * ATTN__TILE_KEYS + 5, PATTERNS = 6 };
    for (int n = 0; n < 3 * 2 * PATTERNS * 2; n++) {
        uint8_t allow[K];
        int32_t lengths[Q];
        int keys = n / 6 % PATTERNS, queries = (keys + n / 36 + 1) % PATTERNS;
        for (int64_t i = 0; i < K; i++) {
            allow[i] = !hidden_at_border(keys, ATTN__TILE_KEYS, i);
        }
        for (int64_t i = 0; i < Q; i++) {
            lengths[i] = hidden_at_border(queries, ATTN__TILE_QUERIES, i) ? 0 : K;
        }
        fused_problem p = {.a = {.batch = 1, .queries = Q, .keys = K, .width = 3, .value_width = 5, .clip = n / 36, .seed = (uint64_t)n}};
        p.a.config.score = (attn_score_config){.score = scores[n % 3], .heads = 2, .kv_heads = 1};
        p.a.config.mask = (attn_mask){.row_lengths = lengths, .allow = allow, .allow_form = ATTN_ALLOW_KEYS};
        p.a.config.soft_cap = n / 36 == 0 ? 0 : 2;
        fused_open(&p);
        check_hidden(&p, n / 3 % 2 == 0 ? ATTN_F32 : ATTN_F64);
        fused_close(&p);
    }
}

/* ---- numbers that are not finite ---- */

/* The output is of the same kind everywhere as that of the plain operations in the same dtype, gradients are finite in the same places. */
static void check_nonfinite(const fused_problem *p, attn_dtype dtype, int64_t *poisoned, int64_t *spared)
{
    int64_t worst = 0;
    fused_result expected = fused_run(p, (fused_way){.dtype = dtype, .composed = true}), r = fused_run(p, (fused_way){.dtype = dtype});
    double most = 4 * (double)(p->a.width + p->a.value_width + p->a.queries + p->a.keys) * epsilon_of(dtype);
    bool good = fused_difference(&r, &expected, &worst) <= most;
    for (int64_t i = 0; i < r.outputs && good; i++) {
        double a = r.values[i], e = expected.values[i];
        good = isnan(a) == isnan(e) && (!isinf(e) || a == e);
        worst = good ? worst : i;
    }
    if (!good) {
        print_error("%s, %s: %s, number %lld of all: %g, expected %g\n", fused_text(p, (char[FUSED_TEXT]){0}), attn_dtype_name(dtype),
                    fused_name(p, worst), (long long)worst, r.values[worst], expected.values[worst]);
        fail();
    }
    for (int64_t i = 0; i < r.count; i++) {
        *(isfinite(r.values[i]) ? spared : poisoned) += 1;
    }
    fused_free(&expected);
    fused_free(&r);
}

static void one_number_that_is_not_finite(void **state)
{
    (void)state;
    const double odd[] = {NAN, HUGE_VAL, -HUGE_VAL};
    const int inputs[] = {IN_QUERY, IN_KEY, IN_VALUE, INPUTS, IN_BIAS, IN_POSITION}; /* INPUTS: the cotangent */
    int64_t poisoned = 0, spared = 0;
    for (uint64_t n = 0; n < 540; n++) {
        fused_problem p = fused_random(n + 3000, 1e6);
        int input = inputs[n / 3 % 6];
        double *x = input == INPUTS ? p.a.cotangent : p.a.in[input];
        int64_t count = input == INPUTS ? attend_outputs(&p.a) : x != NULL ? attn_shape_count(attend_shape(&p.a, input)) : 0;
        p.a.config.dropout = 0; /* it hides some of it */
        if (count > 0) {
            x[fused_draw(&p, 40, count)] = odd[n / 18 % 3];
            check_nonfinite(&p, n % 2 == 0 ? ATTN_F32 : ATTN_F64, &poisoned, &spared);
        }
        fused_close(&p);
    }
    print_message("%lld numbers poisoned, %lld not\n", (long long)poisoned, (long long)spared);
    assert_true(poisoned > 100000 && spared > 100000);
}

/* ---- memory ---- */

static void a_second_step_allocates_nothing(void **state)
{
    (void)state;
    for (uint64_t n = 0; n < 60; n++) {
        counting_allocator a;
        counting_init(&a, 0);
        fused_problem p = fused_random(n + 4000, 5e6);
        attn_tape *t = attn_tape_new(&a.value);
        fused_way way = {.dtype = n % 2 == 0 ? ATTN_F32 : ATTN_F64, .threads = 1 + (int)(n % 3)};
        fused_result first = fused_run_on(t, &p, way);
        long allocations = a.allocations;
        for (int step = 0; step < 3; step++) {
            attn_tape_reset(t);
            fused_result again = fused_run_on(t, &p, way);
            assert_same_bits(&p, &first, &again, first.count);
            fused_free(&again);
        }
        assert_int_equal(a.allocations, allocations);
        attn_tape_free(t);
        assert_int_equal(a.live, 0);
        fused_free(&first);
        fused_close(&p);
    }
}

/* Nothing grows with the number of pairs: twice the length is twice the memory. */
static void memory_is_in_proportion_to_the_lengths(void **state)
{
    (void)state;
    for (int n = 0; n < 6; n++) {
        size_t capacity[2];
        for (int64_t i = 0; i < 2; i++) {
            fused_problem p = {
                .a = {.batch = 1, .queries = 800 << i, .keys = 800 << i, .width = 4, .value_width = 4, .clip = 2, .seed = 1}};
            p.a.config.score = (attn_score_config){.score = scores[n % 3], .heads = 2, .kv_heads = 2};
            p.a.config.soft_cap = n < 3 ? 0 : 2;
            fused_open(&p);
            attn_tape *t = attn_tape_new(NULL);
            fused_result r = fused_run_on(t, &p, (fused_way){.dtype = ATTN_F32});
            capacity[i] = attn_tape_capacity(t);
            assert_true(r.count == 4 * p.a.queries * 8 + (n % 3 == 2 ? 8 : 0) + 10);
            attn_tape_free(t);
            fused_free(&r);
            fused_close(&p);
        }
        assert_true(capacity[1] <= 2 * capacity[0] + 4096);
        assert_true(capacity[1] < (size_t)(1600 * 1600) * sizeof(float)); /* half of one array of all pairs */
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(threads_and_recording_change_no_bit),
        cmocka_unit_test(threads_may_change_between_the_passes),
        cmocka_unit_test(hidden_rows_change_no_bit),
        cmocka_unit_test(hidden_rows_at_the_borders_of_tiles),
        cmocka_unit_test(one_number_that_is_not_finite),
        cmocka_unit_test(a_second_step_allocates_nothing),
        cmocka_unit_test(memory_is_in_proportion_to_the_lengths),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

#include "support/fused.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "attn/random.h"
#include "core/core.h"
#include "ops/fused.h"

/* ---- problems ---- */

int64_t fused_draw(const fused_problem *p, int what, int64_t bound)
{
    return (int64_t)attn_random_below(p->a.seed, 5, (uint64_t)what, (uint64_t)bound);
}

/* `count` numbers in low..high, which the problem owns. */
static int32_t *numbers(fused_problem *p, int array, int64_t count, int64_t low, int64_t high)
{
    int32_t *x = malloc((size_t)(count + 1) * sizeof *x);
    assert_non_null(x);
    for (int64_t i = 0; i < count; i++) {
        x[i] = (int32_t)(low + (int64_t)attn_random_below(p->a.seed, 10 + (uint64_t)array, (uint64_t)i, (uint64_t)(high - low + 1)));
    }
    p->arrays[array] = x;
    return x;
}

/* Bytes, of which six in ten are true. */
static uint8_t *truths(fused_problem *p, int array, int64_t count)
{
    uint8_t *x = malloc((size_t)(count + 1));
    assert_non_null(x);
    for (int64_t i = 0; i < count; i++) {
        x[i] = attn_random_below(p->a.seed, 20, (uint64_t)i, 10) < 6;
    }
    p->arrays[array] = x;
    return x;
}

void fused_mask(fused_problem *p, unsigned parts)
{
    const int64_t batch = p->a.batch, rows = batch * p->a.queries, keys = p->a.keys;
    const bool pairs = (parts & MASK_ALLOW_PAIRS) != 0, places = (parts & (MASK_POSITION | MASK_PLACES)) != 0;
    p->a.config.mask = (attn_mask){
        .key_lengths = parts & MASK_KEY_LENGTHS ? numbers(p, 0, batch, keys / 3, keys) : NULL,
        .query_lengths = parts & MASK_QUERY_LENGTHS ? numbers(p, 1, batch, 0, p->a.queries) : NULL,
        .row_lengths = parts & MASK_ROW_LENGTHS ? numbers(p, 2, rows, 0, keys) : NULL,
        .row_begins = parts & MASK_ROW_BEGINS ? numbers(p, 3, rows, 0, keys) : NULL,
        .allow = parts & (MASK_ALLOW_PAIRS | MASK_ALLOW_KEYS) ? truths(p, 4, (pairs ? rows : batch) * keys) : NULL,
        .allow_form = pairs ? ATTN_ALLOW_PAIRS : ATTN_ALLOW_KEYS,
        .causal = parts & MASK_TOP_LEFT       ? ATTN_CAUSAL_TOP_LEFT
                  : parts & MASK_BOTTOM_RIGHT ? ATTN_CAUSAL_BOTTOM_RIGHT
                  : parts & MASK_POSITION     ? ATTN_CAUSAL_POSITION
                                              : ATTN_CAUSAL_NONE,
        .window = (parts & MASK_WINDOW) != 0,
        .left = (int32_t)fused_draw(p, 1, keys + 5) - 5,
        .right = (int32_t)fused_draw(p, 2, keys + 5) - 5,
        .positions = places ? numbers(p, 5, batch, -5, keys) : NULL,
    };
}

void fused_first(fused_problem *p)
{
    p->first = numbers(p, 6, p->a.batch, -5, p->a.keys);
}

void fused_open(fused_problem *p)
{
    attend_open(&p->a);
    if (p->scalar) {
        p->a.in[IN_BIAS] = random_values(1, p->a.seed, -1, 1);
    }
    p->needs = ~0U;
}

void fused_close(fused_problem *p)
{
    attend_close(&p->a);
    for (size_t i = 0; i < sizeof p->arrays / sizeof p->arrays[0]; i++) {
        free(p->arrays[i]);
    }
}

int64_t fused_entry(const fused_problem *p, int input, int64_t b, int64_t h, int64_t i, int64_t j)
{
    const int64_t at[] = {b, h, i, j}, c = p->a.clip, offset = j - i - (p->first != NULL ? p->first[b] : 0);
    if (input == IN_POSITION) {
        return h * (2 * c + 1) + (offset < -c ? -c : offset > c ? c : offset) + c;
    }
    int64_t index = 0;
    for (int d = 0; d < p->a.bias.rank; d++) {
        index = index * p->a.bias.dim[d] + (p->a.bias.dim[d] == 1 ? 0 : at[4 - p->a.bias.rank + d]);
    }
    return index;
}

/* ---- random problems ---- */

/* Repeated over (B,H,Tq,Tk) in every way that a shape can say. */
static attn_shape bias_shape(const fused_problem *p, int64_t form)
{
    int64_t b = p->a.batch, h = p->a.config.score.heads, q = p->a.queries, k = p->a.keys;
    const attn_shape shapes[] = {
        ATTN_SHAPE(b, h, q, k), ATTN_SHAPE(1, h, q, k), ATTN_SHAPE(b, 1, q, k), ATTN_SHAPE(b, h, 1, k), ATTN_SHAPE(b, h, q, 1),
        ATTN_SHAPE(b, 1, 1, k), ATTN_SHAPE(b, 1, 1, 1), ATTN_SHAPE(1, h, 1, 1), ATTN_SHAPE(h, q, k),    ATTN_SHAPE(h, 1, k),
        ATTN_SHAPE(h, q, 1),    ATTN_SHAPE(1, q, k),    ATTN_SHAPE(q, k),       ATTN_SHAPE(1, k),       ATTN_SHAPE(q, 1),
        ATTN_SHAPE(k),          ATTN_SHAPE(1),
    };
    return shapes[form % (int64_t)(sizeof shapes / sizeof shapes[0])];
}

static double work_of(const fused_problem *p)
{
    double width = (double)p->a.width * (p->a.config.score.score == ATTN_SCORE_ADDITIVE ? 12 : 1);
    return (double)attend_pairs(&p->a) * (width + (double)p->a.value_width + 40);
}

/* Makes the problem smaller until it is no more work than allowed, the lengths last. */
static void reduce(fused_problem *p, double work)
{
    const int64_t queries[] = {ATTN__TILE_QUERIES + 1, ATTN__TILE_QUERIES, 33, 17}, keys[] = {ATTN__TILE_KEYS + 1, ATTN__TILE_KEYS, 33, 17};
    for (int step = 0; work_of(p) > work && step < 12; step++) {
        if (p->a.batch > 1) {
            p->a.batch = 1;
        } else if (p->a.width > 5) {
            p->a.width = 5;
        } else if (p->a.value_width > 8) {
            p->a.value_width = 8;
        } else if (p->a.config.score.heads > 2) {
            p->a.config.score.heads = 2;
            p->a.config.score.kv_heads = 1;
        } else if (p->a.queries > p->a.keys) {
            p->a.queries = queries[step % 4];
        } else {
            p->a.keys = keys[step % 4];
        }
    }
}

static unsigned random_parts(const fused_problem *p)
{
    const unsigned causal[] = {0, 0, 0, MASK_TOP_LEFT, MASK_BOTTOM_RIGHT, MASK_POSITION},
                   allow[] = {0, 0, MASK_ALLOW_PAIRS, MASK_ALLOW_KEYS};
    unsigned parts = causal[fused_draw(p, 20, 6)] | allow[fused_draw(p, 21, 4)];
    parts |= fused_draw(p, 22, 4) == 0 ? MASK_KEY_LENGTHS : 0;
    parts |= fused_draw(p, 23, 4) == 0 ? MASK_QUERY_LENGTHS : 0;
    parts |= fused_draw(p, 24, 4) == 0 ? MASK_ROW_LENGTHS : 0;
    parts |= fused_draw(p, 25, 4) == 0 ? MASK_ROW_BEGINS : 0;
    parts |= fused_draw(p, 26, 3) == 0 ? MASK_WINDOW : 0;
    bool causality = (parts & (MASK_TOP_LEFT | MASK_BOTTOM_RIGHT | MASK_POSITION)) != 0;
    return parts | (fused_draw(p, 27, 2) == 0 && !causality ? MASK_PLACES : 0);
}

static void random_sizes(fused_problem *p)
{
    enum { Q = ATTN__TILE_QUERIES, K = ATTN__TILE_KEYS }; /* lengths around tiles and the panels in them */
    static const int64_t queries[] = {0, 1, 2, 5, 6, 7, 17, 33, Q - 1, Q, Q + 1, Q + 6, 2 * Q - 1, 2 * Q, 2 * Q + 1, 2 * Q + 8};
    static const int64_t keys[] = {0, 1, 2, 15, 16, 17, 33, 63, 64, 65, K - 1, K, K + 1, K + 17, 2 * K, 2 * K + 1};
    static const int64_t widths[] = {0, 1, 2, 3, 5, 8, 16, 33, 64};
    static const int64_t batches[] = {1, 1, 2, 3, 9};
    static const int heads[][2] = {{1, 1}, {2, 2}, {2, 1}, {4, 2}, {4, 1}, {3, 3}, {6, 2}};
    const int *h = heads[fused_draw(p, 3, 7)];
    p->a.batch = fused_draw(p, 4, 40) == 0 ? 0 : batches[fused_draw(p, 5, 5)];
    p->a.queries = queries[fused_draw(p, 6, 16)];
    p->a.keys = keys[fused_draw(p, 7, 16)];
    p->a.width = widths[fused_draw(p, 8, 9)];
    p->a.value_width = widths[fused_draw(p, 9, 9)];
    p->a.config.score.heads = h[0];
    p->a.config.score.kv_heads = h[1];
}

fused_problem fused_random(uint64_t number, double work)
{
    static const attn_score scores[] = {ATTN_SCORE_SCALED_DOT, ATTN_SCORE_DOT, ATTN_SCORE_ADDITIVE};
    static const double scales[] = {0, 0, 0.7, -1.3}, caps[] = {0, 0, 1.5, 10};
    static const int64_t clips[] = {1, 3, 40};
    fused_problem p = {.a.seed = number + 1};
    p.a.config.score.score = scores[number % 3];
    random_sizes(&p);
    reduce(&p, work);
    p.a.config.score.scale = scores[number % 3] == ATTN_SCORE_ADDITIVE ? 0 : scales[fused_draw(&p, 10, 4)];
    p.a.config.soft_cap = caps[fused_draw(&p, 11, 4)];
    p.a.config.dropout = fused_draw(&p, 12, 3) == 0 ? 0.3 : 0;
    p.a.clip = fused_draw(&p, 13, 2) == 0 ? clips[fused_draw(&p, 14, 3)] : 0;
    p.a.bias = fused_draw(&p, 15, 3) > 0 ? bias_shape(&p, fused_draw(&p, 16, 17)) : ATTN_SCALAR;
    p.scalar = p.a.bias.rank == 0 && fused_draw(&p, 17, 6) == 0;
    /* each part of a mask alone, with every score, then several */
    fused_mask(&p, number < 33 ? 1U << number / 3 : random_parts(&p));
    if (p.a.clip > 0 && fused_draw(&p, 18, 2) == 0) {
        fused_first(&p);
    }
    fused_open(&p);
    unsigned needs = (unsigned)fused_draw(&p, 19, 1 << INPUTS);
    for (int k = 0; k < INPUTS; k++) {
        needs &= p.a.in[k] != NULL ? ~0U : ~(1U << k);
    }
    p.needs = number % 2 == 0 || needs == 0 ? ~0U : needs;
    return p;
}

/* ---- runs ---- */

static attn_tensor *fused(attn_tape *t, const fused_problem *p, attn_tensor *const x[])
{
    const attn_attend_config *c = &p->a.config;
    return attn_fused_attention(t, &(attn_fused_input){.query = x[IN_QUERY],
                                                       .key = x[IN_KEY],
                                                       .value = x[IN_VALUE],
                                                       .w = x[IN_W],
                                                       .bias = x[IN_BIAS],
                                                       .position = x[IN_POSITION],
                                                       .first = p->first,
                                                       .score = c->score,
                                                       .soft_cap = c->soft_cap,
                                                       .dropout = c->dropout,
                                                       .mask = c->mask});
}

static attn_tensor *composed(attn_tape *t, const fused_problem *p, attn_tensor *const x[])
{
    const attn_attend_config *c = &p->a.config;
    attn_tensor *s = attn_attention_scores(t, x[IN_QUERY], x[IN_KEY], x[IN_W], c->score, &c->mask);
    s = c->soft_cap != 0 ? attn_soft_cap(t, s, c->soft_cap) : s;
    s = x[IN_POSITION] != NULL ? attn_relative_bias(t, s, x[IN_POSITION], p->first, &c->mask) : s;
    s = x[IN_BIAS] != NULL ? attn_score_bias(t, s, x[IN_BIAS], &c->mask) : s;
    attn_tensor *w = attn_dropout(t, attn_softmax(t, s, &c->mask), c->dropout);
    return attn_attention_mix(t, w, x[IN_VALUE], c->score.kv_heads, &c->mask);
}

static void take(fused_result *r, const attn_tensor *x, bool gradient)
{
    int64_t n = attn_tensor_count(x);
    r->values = realloc(r->values, (size_t)(r->count + n + 1) * sizeof *r->values);
    assert_non_null(r->values);
    for (int64_t i = 0; i < n; i++) {
        r->values[r->count++] = gradient ? attn_tensor_get_grad(x, i) : attn_tensor_get(x, i);
    }
}

/* The input whose tensor this one is. */
static int input_of(const fused_problem *p, int input)
{
    bool query = (input == IN_KEY && (p->same & SAME_QUERY_KEY) != 0) || (input == IN_VALUE && (p->same & SAME_QUERY_VALUE) != 0);
    return query ? IN_QUERY : input == IN_VALUE && (p->same & SAME_KEY_VALUE) != 0 ? IN_KEY : input;
}

static bool counted(const fused_problem *p, int input)
{
    return p->a.in[input] != NULL && (p->needs >> input & 1) != 0 && input_of(p, input) == input;
}

/* An input that needs no gradient is a constant. */
static void make_inputs(attn_tape *t, const fused_problem *p, attn_dtype dtype, attn_tensor *x[INPUTS])
{
    for (int k = 0; k < INPUTS; k++) {
        attn_tape_set_recording(t, (p->needs >> k & 1) != 0);
        x[k] = p->a.in[k] != NULL ? variable_of(t, dtype, attend_shape(&p->a, k), p->a.in[k]) : NULL;
    }
    for (int k = 0; k < INPUTS; k++) {
        x[k] = x[input_of(p, k)];
    }
}

fused_result fused_run_on(attn_tape *t, const fused_problem *p, fused_way way)
{
    fused_result r = {.count = 0};
    attn_tensor *x[INPUTS];
    attn__tape_force_threads(t, way.threads > 0 ? way.threads : 1);
    attn_tape_set_training(t, true);
    attn_tape_set_random(t, 3, p->a.seed);
    make_inputs(t, p, way.dtype, x);
    attn_tape_set_recording(t, !way.unrecorded);
    attn_tensor *y = way.composed ? composed(t, p, x) : fused(t, p, x);
    assert_tape_ok(t);
    take(&r, y, false);
    r.outputs = r.count;
    int passes = way.unrecorded ? 0 : way.passes > 0 ? way.passes : 1;
    for (int i = 0; i < passes; i++) {
        assert_int_equal(backward_from(t, y, p->a.cotangent), ATTN_OK);
    }
    for (int k = 0; k < INPUTS && passes > 0; k++) {
        if (counted(p, k)) {
            take(&r, x[k], true);
        }
    }
    return r;
}

fused_result fused_run(const fused_problem *p, fused_way way)
{
    attn_tape *t = attn_tape_new(NULL);
    assert_non_null(t);
    fused_result r = fused_run_on(t, p, way);
    attn_tape_free(t);
    return r;
}

void fused_free(fused_result *r)
{
    free(r->values);
    *r = (fused_result){.count = 0};
}

/* ---- comparing ---- */

double fused_difference(const fused_result *a, const fused_result *b, int64_t *worst)
{
    double most = 0;
    assert_int_equal(a->count, b->count);
    for (int64_t i = 0; i < a->count; i++) {
        double d = fabs(a->values[i] - b->values[i]);
        bool finite = isfinite(a->values[i]);
        d = finite != isfinite(b->values[i]) ? HUGE_VAL : finite ? d : 0;
        if (d > most) {
            most = d;
            *worst = i;
        }
    }
    return most;
}

const char *fused_name(const fused_problem *p, int64_t i)
{
    i -= attend_outputs(&p->a);
    for (int k = 0; k < INPUTS && i >= 0; k++) {
        int64_t n = counted(p, k) ? attn_shape_count(attend_shape(&p->a, k)) : 0;
        if (i < n) {
            return attend_names[k];
        }
        i -= n;
    }
    return "output";
}

const char *fused_text(const fused_problem *p, char text[FUSED_TEXT])
{
    const attn_attend_config *c = &p->a.config;
    (void)snprintf(text, FUSED_TEXT, "problem %d: %s, B %d, H %d/%d, Tq %d, Tk %d, d %d, dv %d, cap %g, bias %s%s, clip %d%s, dropout %g",
                   (int)p->a.seed - 1, attn_score_name(c->score.score), (int)p->a.batch, c->score.heads, c->score.kv_heads,
                   (int)p->a.queries, (int)p->a.keys, (int)p->a.width, (int)p->a.value_width, c->soft_cap, ATTN__TEXT(p->a.bias),
                   p->scalar ? " given" : "", (int)p->a.clip, p->first != NULL ? " with first" : "", c->dropout);
    return text;
}

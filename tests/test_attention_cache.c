/* The same sentences in other forms: packed side by side instead of padded, and word by word with a cache instead of all at once. Values
 * and gradients are the same numbers. */
#include <stdlib.h>
#include <string.h>

#include "support/attend.h"
#include "support/attention.h"
#include "support/params.h"

static const attn_score scores[] = {ATTN_SCORE_SCALED_DOT, ATTN_SCORE_DOT, ATTN_SCORE_ADDITIVE};

/* Sums of a few dozen numbers of size 1, perhaps in another order. */
static double tolerance(attn_dtype dtype)
{
    return 64 * epsilon_of(dtype);
}

/* ---- packed ---- */

enum { SENTENCES = 5, LONGEST = 33 };

static void copy_rows(double *to, int64_t to_row, const double *from, int64_t from_row, int64_t rows, int64_t width)
{
    memcpy(to + to_row * width, from + from_row * width, (size_t)(rows * width) * sizeof *to);
}

/* Rows of one input (or its gradient) agree, sentence by sentence. */
static void assert_same_rows(const attn_tensor *packed, const attn_tensor *padded, const int32_t *offsets, bool gradient, double atol)
{
    int64_t longest = attn_tensor_shape(padded).dim[1], width = attn_tensor_shape(padded).dim[2];
    for (int64_t s = 0; s < SENTENCES; s++) {
        for (int64_t i = 0; i < (offsets[s + 1] - offsets[s]) * width; i++) {
            int64_t a = offsets[s] * width + i, b = s * longest * width + i;
            assert_close(gradient ? attn_tensor_get_grad(packed, a) : attn_tensor_get(packed, a),
                         gradient ? attn_tensor_get_grad(padded, b) : attn_tensor_get(padded, b), 0, atol);
        }
    }
}

static void compare_packed(attend_problem packed, const int32_t *queries, const int32_t *keys, attn_dtype dtype)
{
    int32_t begins[64], lengths[64], key_lengths[SENTENCES], query_lengths[SENTENCES];
    attend_problem padded = packed;
    padded.batch = SENTENCES;
    padded.queries = padded.keys = LONGEST;
    for (int s = 0; s < SENTENCES; s++) {
        query_lengths[s] = queries[s + 1] - queries[s];
        key_lengths[s] = keys[s + 1] - keys[s];
        for (int32_t i = queries[s]; i < queries[s + 1]; i++) {
            begins[i] = keys[s];
            lengths[i] = keys[s + 1];
        }
    }
    if (queries == keys) { /* one sequence: the library makes the same ranges */
        int32_t made[2][64];
        assert_int_equal(attn_packed_rows(queries, SENTENCES, made[0], made[1]), ATTN_OK);
        assert_memory_equal(made[0], begins, (size_t)queries[SENTENCES] * sizeof begins[0]);
        assert_memory_equal(made[1], lengths, (size_t)queries[SENTENCES] * sizeof begins[0]);
    }
    packed.batch = 1;
    packed.queries = queries[SENTENCES];
    packed.keys = keys[SENTENCES];
    packed.config.mask.row_begins = begins;
    packed.config.mask.row_lengths = lengths;
    padded.config.mask.key_lengths = key_lengths;
    padded.config.mask.query_lengths = query_lengths;
    attend_open(&packed);
    attend_open(&padded);
    for (int64_t s = 0, h = packed.config.score.heads, g = packed.config.score.kv_heads; s < SENTENCES; s++) {
        copy_rows(padded.in[IN_QUERY], s * LONGEST, packed.in[IN_QUERY], queries[s], query_lengths[s], h * packed.width);
        copy_rows(padded.in[IN_KEY], s * LONGEST, packed.in[IN_KEY], keys[s], key_lengths[s], g * packed.width);
        copy_rows(padded.in[IN_VALUE], s * LONGEST, packed.in[IN_VALUE], keys[s], key_lengths[s], g * packed.value_width);
        copy_rows(padded.cotangent, s * LONGEST, packed.cotangent, queries[s], query_lengths[s], h * packed.value_width);
    }
    attn_tape *t = attn_tape_new(NULL);
    attn_attend_output a = attend_run(&packed, t, dtype, true), b = attend_run(&padded, t, dtype, true);
    assert_same_rows(a.output, b.output, queries, false, tolerance(dtype));
    assert_same_rows(packed.variable[IN_QUERY], padded.variable[IN_QUERY], queries, true, tolerance(dtype));
    assert_same_rows(packed.variable[IN_KEY], padded.variable[IN_KEY], keys, true, tolerance(dtype));
    assert_same_rows(packed.variable[IN_VALUE], padded.variable[IN_VALUE], keys, true, tolerance(dtype));
    for (int k = IN_W; k <= IN_POSITION; k += IN_POSITION - IN_W) {
        for (int64_t i = 0; packed.in[k] != NULL && i < attn_tensor_count(packed.variable[k]); i++) {
            assert_close(attn_tensor_get_grad(packed.variable[k], i), attn_tensor_get_grad(padded.variable[k], i), 0, tolerance(dtype));
        }
    }
    attn_tape_free(t);
    attend_close(&packed);
    attend_close(&padded);
}

/* Sentences of 3, 0, 17, 1 and 33 words: attending to themselves, also with positions, windows and causality, and to others of 5, 7, 0, 2
 * and 20. */
static void packed_sentences_are_padded_ones(void **state)
{
    (void)state;
    static const int32_t own[] = {0, 3, 3, 20, 21, 54}, others[] = {0, 5, 12, 12, 14, 34};
    for (int n = 0; n < 3 * 2 * 4; n++) {
        attn_dtype dtype = n / 3 % 2 == 0 ? ATTN_F32 : ATTN_F64;
        int form = n / 6;
        attend_problem p = {.width = 4, .value_width = 3, .clip = form == 1 ? 2 : 0, .seed = (uint64_t)n};
        p.config.score = (attn_score_config){.score = scores[n % 3], .heads = 4, .kv_heads = 2};
        p.config.soft_cap = form == 1 ? 1.5 : 0;
        if (form == 2) {
            p.config.mask = (attn_mask){.causal = ATTN_CAUSAL_TOP_LEFT, .window = true, .left = 4, .right = -1};
        }
        compare_packed(p, own, form == 3 ? others : own, dtype);
    }
    static const int32_t falling[] = {0, 3, 2}, late[] = {1, 2};
    int32_t ignored[8];
    assert_int_equal(attn_packed_rows(falling, 2, ignored, ignored), ATTN_EINVAL);
    assert_int_equal(attn_packed_rows(late, 1, ignored, ignored), ATTN_EINVAL);
    assert_int_equal(attn_packed_rows(own, -1, ignored, ignored), ATTN_EINVAL);
    assert_int_equal(attn_packed_rows(own, 0, ignored, ignored), ATTN_OK);
}

/* ---- a cache ---- */

enum { WORDS = 19, BATCH = 2 };

/* Word `i` of each batch entry of an input (B,T,width) as a variable (B,1,width). */
static attn_tensor *word_of(attn_tape *t, attn_dtype dtype, const double *x, int64_t i, int64_t width)
{
    double *rows = random_values(BATCH * width, 0, 0, 0);
    for (int64_t b = 0; b < BATCH; b++) {
        copy_rows(rows, b, x, b * WORDS + i, 1, width);
    }
    attn_tensor *y = variable_of(t, dtype, ATTN_SHAPE(BATCH, 1, width), rows);
    free(rows);
    return y;
}

/* Word i of a (B,T,width) tensor is the (B,1,width) tensor `word`. */
static void assert_word(const attn_tensor *all, const attn_tensor *word, int64_t i, bool gradient, double atol)
{
    int64_t width = attn_tensor_shape(all).dim[2];
    for (int64_t c = 0; c < BATCH * width; c++) {
        int64_t at = (c / width * WORDS + i) * width + c % width;
        assert_close(gradient ? attn_tensor_get_grad(word, c) : attn_tensor_get(word, c),
                     gradient ? attn_tensor_get_grad(all, at) : attn_tensor_get(all, at), 0, atol);
    }
}

/* One word after the other, each with the keys and values of those before it; then all the way back. */
static void compare_decoding(attend_problem p, attn_dtype dtype)
{
    static const int widths[] = {IN_QUERY, IN_KEY, IN_VALUE};
    attend_open(&p);
    attn_tape *t = attn_tape_new(NULL);
    attn_attend_output all = attend_run(&p, t, dtype, true), step = {.key = NULL};
    attn_tensor *word[WORDS][3], *output[WORDS],
        *loss = NULL, *w = p.in[IN_W] != NULL ? attn_variable(t, dtype, attend_shape(&p, IN_W), attn_tensor_data(p.variable[IN_W])) : NULL;
    attn_tensor *position =
        p.clip > 0 ? attn_variable(t, dtype, attend_shape(&p, IN_POSITION), attn_tensor_data(p.variable[IN_POSITION])) : NULL;
    int64_t out_width = p.config.score.heads * p.value_width;
    for (int32_t i = 0; i < WORDS; i++) {
        for (int k = 0; k < 3; k++) {
            word[i][k] = word_of(t, dtype, p.in[widths[k]], i, attend_shape(&p, widths[k]).dim[2]);
        }
        const int32_t places[BATCH] = {i, i};
        attn_attend_config config = p.config;
        config.mask.causal = ATTN_CAUSAL_POSITION;
        config.mask.positions = places;
        step = attn_attend(t,
                           (attn_attend_input){.query = word[i][0],
                                               .key = word[i][1],
                                               .value = word[i][2],
                                               .past_key = step.key,
                                               .past_value = step.value,
                                               .w = w,
                                               .position = position},
                           &config);
        assert_tape_ok(t);
        output[i] = step.output;
        attn_tensor *part = attn_sum(t, attn_mul(t, step.output, word_of(t, dtype, p.cotangent, i, out_width)));
        loss = loss != NULL ? attn_add(t, loss, part) : part;
    }
    assert_int_equal(attn_backward(t, loss), ATTN_OK);
    for (int64_t i = 0; i < WORDS; i++) {
        assert_word(all.output, output[i], i, false, tolerance(dtype));
        for (int k = 0; k < 3; k++) {
            assert_word(p.variable[widths[k]], word[i][k], i, true, tolerance(dtype));
        }
    }
    assert_true(attn_shape_equal(attn_tensor_shape(step.key), attend_shape(&p, IN_KEY)));
    for (int64_t i = 0; w != NULL && i < attn_tensor_count(w); i++) {
        assert_close(attn_tensor_get_grad(w, i), attn_tensor_get_grad(p.variable[IN_W], i), 0, tolerance(dtype));
    }
    for (int64_t i = 0; position != NULL && i < attn_tensor_count(position); i++) {
        assert_close(attn_tensor_get_grad(position, i), attn_tensor_get_grad(p.variable[IN_POSITION], i), 0, tolerance(dtype));
    }
    attn_tape_free(t);
    attend_close(&p);
}

static void word_by_word_is_all_at_once(void **state)
{
    (void)state;
    for (int n = 0; n < 3 * 2 * 3; n++) {
        attend_problem p = {.batch = BATCH, .queries = WORDS, .keys = WORDS, .width = 4, .value_width = 3, .seed = (uint64_t)n};
        p.config.score = (attn_score_config){.score = scores[n % 3], .heads = 4, .kv_heads = n / 6 == 0 ? 4 : 2};
        p.config.mask.causal = ATTN_CAUSAL_TOP_LEFT;
        p.clip = n / 6 > 0 ? 3 : 0;
        p.config.soft_cap = n / 6 > 0 ? 1.2 : 0;
        p.config.mask.window = n / 6 == 2;
        p.config.mask.left = 5;
        p.config.mask.right = -1;
        compare_decoding(p, n / 3 % 2 == 0 ? ATTN_F32 : ATTN_F64);
    }
}

/* The layer: outputs of every word, and the gradients of all its parameters, with the cache on one tape. */
static void a_layer_word_by_word(void **state)
{
    (void)state;
    for (int n = 0; n < 3 * 2; n++) {
        attn_dtype dtype = n / 3 == 0 ? ATTN_F32 : ATTN_F64;
        attention_problem p = {.batch = BATCH, .queries = WORDS, .keys = WORDS, .self = true, .mask = {.causal = ATTN_CAUSAL_TOP_LEFT}};
        p.config =
            (attn_attention_config){.score = scores[n % 3], .heads = 4, .kv_heads = 2, .query_dim = 8, .bias = true, .relative_clip = 2};
        attention_open(&p, dtype);
        attn_tape *t = attn_tape_new(NULL);
        attn_attention_output all = attention_run(&p, t), step = {.key = NULL};
        double *ones = random_values(attn_tensor_count(all.output), 1, 1, 1), whole[4096];
        assert_int_equal(backward_from(t, all.output, ones), ATTN_OK);
        int64_t count = 0;
        for (int id = 0; id < attn_params_count(p.params); id++) {
            for (int64_t i = 0; i < attn_shape_count(attn_params_shape(p.params, id)); i++) {
                whole[count++] = grad(p.params, id, i);
            }
        }
        attn_params_zero_grad(p.params);
        attn_tensor *loss = NULL;
        for (int32_t i = 0; i < WORDS; i++) {
            const int32_t places[BATCH] = {i, i};
            attn_tensor *x = word_of(t, dtype, p.query, i, 8);
            step = attn_attention_apply(t, p.layer,
                                        (attn_attention_input){.query = x,
                                                               .past_key = step.key,
                                                               .past_value = step.value,
                                                               .mask = {.causal = ATTN_CAUSAL_POSITION, .positions = places}});
            assert_tape_ok(t);
            assert_word(all.output, step.output, i, false, tolerance(dtype));
            loss = loss != NULL ? attn_add(t, loss, attn_sum(t, step.output)) : attn_sum(t, step.output);
        }
        assert_int_equal(attn_backward(t, loss), ATTN_OK);
        for (int id = attn_params_count(p.params) - 1; id >= 0; id--) {
            for (int64_t i = attn_shape_count(attn_params_shape(p.params, id)) - 1; i >= 0; i--) {
                assert_close(grad(p.params, id, i), whole[--count], tolerance(dtype), tolerance(dtype));
            }
        }
        free(ones);
        attn_tape_free(t);
        attention_close(&p);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(packed_sentences_are_padded_ones),
        cmocka_unit_test(word_by_word_is_all_at_once),
        cmocka_unit_test(a_layer_word_by_word),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

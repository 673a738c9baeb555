/* The attention layer refuses what does not fit, with the numbers; and running out of memory at any point. */
#include <stdlib.h>
#include <string.h>

#include "support/attention.h"
#include "support/params.h"

static void refuses_config(attn_attention_config config, attn_status status, const char *message)
{
    attn_error error;
    attn_params *p = attn_params_new(ATTN_F32, NULL);
    assert_null(attn_attention_add(p, "a", config));
    assert_int_equal(attn_params_build(p, 0, &error), status);
    assert_string_equal(error.message, message);
    attn_params_free(p);
}

static void heads_must_divide_the_width(void **state)
{
    (void)state;
    refuses_config((attn_attention_config){.query_dim = 10, .heads = 3}, ATTN_EINVAL,
                   "attention 'a': query width 10 cannot be cut into 3 heads");
    refuses_config((attn_attention_config){.query_dim = 10, .heads = -2}, ATTN_EINVAL,
                   "attention 'a': query width 10 cannot be cut into -2 heads");
    refuses_config((attn_attention_config){.heads = 1}, ATTN_EINVAL, "attention 'a': query width 0 cannot be cut into 1 heads");
}

static void numbers_must_make_sense(void **state)
{
    (void)state;
    const char all[] = ": all but the last must be positive";
    char text[300];
    const attn_attention_config bad[] = {
        {.query_dim = -4, .head_dim = 2},       {.query_dim = 4, .key_dim = -1},    {.query_dim = 4, .value_dim = -1},
        {.query_dim = 4, .head_value_dim = -1}, {.query_dim = 4, .output_dim = -1}, {.query_dim = 4, .relative_clip = -1},
        {.query_dim = 4, .head_dim = -1},
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        attn_error error;
        attn_params *p = attn_params_new(ATTN_F32, NULL);
        assert_null(attn_attention_add(p, "a", bad[i]));
        assert_int_equal(attn_params_build(p, 0, &error), ATTN_EINVAL);
        assert_contains(error.message, all);
        attn_params_free(p);
    }
    refuses_config(
        (attn_attention_config){.query_dim = 4, .key_dim = 5, .value_dim = 6, .head_dim = 7, .head_value_dim = -8, .output_dim = 9},
        ATTN_EINVAL,
        "attention 'a': heads 1, widths query 4, key 5, value 6, head 7, head value -8, output 9, clip 0: all but the last must "
        "be positive");
    refuses_config((attn_attention_config){.query_dim = 4, .dropout = 1}, ATTN_EINVAL,
                   "attention 'a': score 0, dropout 1: no such score, or not 0 <= dropout < 1");
    refuses_config((attn_attention_config){.query_dim = 4, .score = (attn_score)7}, ATTN_EINVAL,
                   "attention 'a': score 7, dropout 0: no such score, or not 0 <= dropout < 1");
    refuses_config((attn_attention_config){.query_dim = 12, .heads = 3, .kv_heads = 2}, ATTN_EINVAL,
                   "attention 'a': 3 query heads cannot share 2 key and value heads");
    refuses_config((attn_attention_config){.query_dim = 4, .soft_cap = -1}, ATTN_EINVAL,
                   "attention 'a': scale 0 (0 for additive scores), soft cap -1: not in their range");
    refuses_config((attn_attention_config){.query_dim = 4, .score = ATTN_SCORE_ADDITIVE, .scale = 2}, ATTN_EINVAL,
                   "attention 'a': scale 2 (0 for additive scores), soft cap 0: not in their range");
    refuses_config((attn_attention_config){.query_dim = 4, .heads = 65536, .head_dim = 65536}, ATTN_ESHAPE,
                   "attention 'a': 65536 heads of width 65536 are too large");
    memset(text, 'n', sizeof text);
    text[sizeof text - 1] = '\0';
    attn_error error;
    attn_params *p = attn_params_new(ATTN_F32, NULL);
    assert_null(attn_attention_add(p, text, (attn_attention_config){.query_dim = 4}));
    assert_int_equal(attn_params_build(p, 0, &error), ATTN_EINVAL);
    assert_contains(error.message, "...' is too long");
    attn_params_free(p);
}

static void names_may_not_repeat(void **state)
{
    (void)state;
    attn_error error;
    attn_params *p = attn_params_new(ATTN_F32, NULL);
    assert_non_null(attn_attention_add(p, "a", (attn_attention_config){.query_dim = 4}));
    assert_null(attn_attention_add(p, "a", (attn_attention_config){.query_dim = 4}));
    assert_int_equal(attn_params_build(p, 0, &error), ATTN_EINVAL);
    assert_contains(error.message, "a.W_q");
    attn_params_free(p);
}

/* ---- inputs ---- */

typedef struct bench {
    attn_params *params;
    const attn_attention *layer;
    attn_tape *t;
} bench;

static bench new_bench(attn_attention_config config)
{
    bench b = {.params = attn_params_new(ATTN_F32, NULL), .t = attn_tape_new(NULL)};
    b.layer = attn_attention_add(b.params, "a", config);
    assert_int_equal(attn_params_build(b.params, 0, NULL), ATTN_OK);
    return b;
}

static void free_bench(bench *b)
{
    attn_tape_free(b->t);
    attn_params_free(b->params);
}

static attn_tensor *zeros(const bench *b, attn_shape shape)
{
    return attn_input(b->t, ATTN_F32, shape, NULL);
}

static void refuses(const bench *b, attn_attention_input in, attn_status status, const char *message)
{
    attn_attention_output out = attn_attention_apply(b->t, b->layer, in);
    assert_null(out.weights);
    assert_null(out.scores);
    assert_refused(b->t, out.output, status, message);
}

static void shapes_must_fit(void **state)
{
    (void)state;
    bench b = new_bench((attn_attention_config){.query_dim = 8});
    refuses(&b, (attn_attention_input){.query = zeros(&b, ATTN_SHAPE(1, 1, 8)), .key = zeros(&b, ATTN_SHAPE(4, 6, 8))}, ATTN_ESHAPE,
            "attention: key has shape (4,6,8), expected (1,T,8)");
    refuses(&b, (attn_attention_input){.query = zeros(&b, ATTN_SHAPE(2, 5, 7))}, ATTN_ESHAPE,
            "attention: query has shape (2,5,7), expected (B,T,8)");
    refuses(&b, (attn_attention_input){.query = zeros(&b, ATTN_SHAPE(5, 8))}, ATTN_ESHAPE,
            "attention: query has shape (5,8), expected (B,T,8)");
    refuses(&b, (attn_attention_input){.query = zeros(&b, ATTN_SCALAR)}, ATTN_ESHAPE, "attention: query has shape (), expected (B,T,8)");
    refuses(&b,
            (attn_attention_input){
                .query = zeros(&b, ATTN_SHAPE(2, 5, 8)), .key = zeros(&b, ATTN_SHAPE(2, 4, 8)), .value = zeros(&b, ATTN_SHAPE(2, 3, 8))},
            ATTN_ESHAPE, "attention: keys (2,4,8) and values (2,3,8) differ in length");
    refuses(&b,
            (attn_attention_input){
                .query = zeros(&b, ATTN_SHAPE(2, 5, 8)), .key = zeros(&b, ATTN_SHAPE(2, 4, 8)), .value = zeros(&b, ATTN_SHAPE(2, 4, 9))},
            ATTN_ESHAPE, "attention: value has shape (2,4,9), expected (2,T,8)");
    refuses(&b, (attn_attention_input){.query = NULL}, ATTN_EINVAL, "attention: no query");
    const int32_t lengths[] = {9, -1};
    refuses(&b, (attn_attention_input){.query = zeros(&b, ATTN_SHAPE(2, 5, 8)), .mask = {.key_lengths = lengths}}, ATTN_ERANGE,
            "visible_rows: mask.key_lengths[0] is 9, expected 0..5");
    attn_tensor *doubles = attn_input(b.t, ATTN_F64, ATTN_SHAPE(1, 2, 8), NULL);
    attn_attention_output out = attn_attention_apply(b.t, b.layer, (attn_attention_input){.query = doubles});
    assert_null(out.output);
    assert_int_equal(attn_tape_status(b.t), ATTN_EDTYPE);
    assert_contains(attn_tape_message(b.t), "float64");
    assert_contains(attn_tape_message(b.t), "float32");
    free_bench(&b);
}

/* Dot products of vectors of different widths; a layer projects them to one, the operation alone cannot. Field report B39. */
static void dot_products_need_one_width(void **state)
{
    (void)state;
    bench b = new_bench((attn_attention_config){.query_dim = 8});
    attn_tensor *s = attn_attention_scores(b.t, zeros(&b, ATTN_SHAPE(1, 2, 24)), zeros(&b, ATTN_SHAPE(1, 3, 10)), NULL,
                                           (attn_score_config){.score = ATTN_SCORE_DOT, .heads = 1}, NULL);
    assert_null(s);
    assert_int_equal(attn_tape_status(b.t), ATTN_ESHAPE);
    assert_contains(attn_tape_message(b.t), "(1,2,24)");
    assert_contains(attn_tape_message(b.t), "(1,3,10)");
    free_bench(&b);
}

/* An error that happened before stays the first one. */
static void earlier_errors_pass_through(void **state)
{
    (void)state;
    bench b = new_bench((attn_attention_config){.query_dim = 8});
    attn_tensor *sum = attn_add(b.t, zeros(&b, ATTN_SHAPE(1, 2, 8)), zeros(&b, ATTN_SHAPE(1, 3, 8)));
    assert_null(sum);
    char first[ATTN_MESSAGE_SIZE];
    (void)strcpy(first, attn_tape_message(b.t));
    refuses(&b, (attn_attention_input){.query = sum}, ATTN_ESHAPE, first);
    free_bench(&b);
}

/* No words, no sentences: legal and empty. */
static void nothing_is_legal(void **state)
{
    (void)state;
    bench b = new_bench((attn_attention_config){.query_dim = 8, .heads = 2, .relative_clip = 3, .bias = true});
    const attn_shape shapes[] = {ATTN_SHAPE(0, 5, 8), ATTN_SHAPE(2, 0, 8), ATTN_SHAPE(0, 0, 8)};
    for (size_t i = 0; i < 3; i++) {
        attn_attention_output out = attn_attention_apply(b.t, b.layer, (attn_attention_input){.query = zeros(&b, shapes[i])});
        assert_tape_ok(b.t);
        assert_true(attn_shape_equal(attn_tensor_shape(out.output), shapes[i]));
    }
    /* queries without keys see nothing: output 0 */
    attn_attention_output out = attn_attention_apply(
        b.t, b.layer, (attn_attention_input){.query = zeros(&b, ATTN_SHAPE(1, 2, 8)), .key = zeros(&b, ATTN_SHAPE(1, 0, 8))});
    assert_tape_ok(b.t);
    assert_close(attn_tensor_get(out.output, 0), 0, 0, 0);
    free_bench(&b);
}

/* ---- memory ---- */

/* Everything from the declaration to the gradients. */
static attn_status whole_run(const attn_allocator *allocator)
{
    attn_status status = ATTN_ENOMEM;
    const int32_t lengths[] = {3, 2};
    const uint8_t allow[2 * 3 * 3] = {1, 1, 1, 1};
    attn_params *p = attn_params_new(ATTN_F32, allocator);
    attn_tape *t = attn_tape_new(allocator);
    if (p != NULL && t != NULL) {
        const attn_attention *layer = attn_attention_add(
            p, "a", (attn_attention_config){.score = ATTN_SCORE_ADDITIVE, .query_dim = 4, .heads = 2, .bias = true, .relative_clip = 1});
        status = attn_params_build(p, 0, NULL);
        if (status == ATTN_OK) {
            assert_non_null(layer);
            attn_tensor *x = attn_variable(t, ATTN_F32, ATTN_SHAPE(2, 3, 4), NULL);
            attn_attention_output out = attn_attention_apply(
                t, layer,
                (attn_attention_input){.query = x,
                                       .mask = {.key_lengths = lengths, .allow = allow, .causal = ATTN_CAUSAL_TOP_LEFT},
                                       .report = {.weights = true, .scores = true, .first_query = 1, .queries = 1}});
            status = attn_backward(t, attn_sum(t, out.output));
        }
    }
    attn_tape_free(t);
    attn_params_free(p);
    return status;
}

static void memory_may_run_out_anywhere(void **state)
{
    (void)state;
    attn_status status = ATTN_ENOMEM;
    long k = 0;
    while (status != ATTN_OK && k < 200) {
        counting_allocator c;
        counting_init(&c, ++k);
        status = whole_run(&c.value);
        assert_true(status == ATTN_OK || status == ATTN_ENOMEM);
        assert_int_equal(c.live, 0);
    }
    assert_true(k > 5 && k < 200);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(heads_must_divide_the_width),
        cmocka_unit_test(numbers_must_make_sense),
        cmocka_unit_test(names_may_not_repeat),
        cmocka_unit_test(shapes_must_fit),
        cmocka_unit_test(dot_products_need_one_width),
        cmocka_unit_test(earlier_errors_pass_through),
        cmocka_unit_test(nothing_is_legal),
        cmocka_unit_test(memory_may_run_out_anywhere),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* What operations refuse, and what they say: every message, whole. */
#include <math.h>

#include "support/tensors.h"

#include "attn/ops.h"

#define F64(...) attn_variable(t, ATTN_F64, ATTN_SHAPE(__VA_ARGS__), NULL)
#define SCALAR   attn_variable(t, ATTN_F64, ATTN_SCALAR, NULL)

/* Field report B40. */
static void shapes_of_elementwise_operations(void **state)
{
    (void)state;
    attn_tape *t = attn_tape_new(NULL);
    /* a column is no row: (4,1) and (4) must not become (4,4) */
    assert_refused(t, attn_add(t, F64(4, 1), F64(4)), ATTN_ESHAPE,
                   "add: shapes (4,1) and (4): the second cannot be repeated over the first");
    assert_refused(t, attn_add(t, F64(4), F64(4, 1)), ATTN_ESHAPE,
                   "add: shapes (4) and (4,1): the second cannot be repeated over the first");
    assert_refused(t, attn_add(t, SCALAR, F64(1)), ATTN_ESHAPE, "add: shapes () and (1): the second cannot be repeated over the first");
    assert_refused(t, attn_add(t, F64(2, 3, 5), F64(2, 3)), ATTN_ESHAPE,
                   "add: shapes (2,3,5) and (2,3): the second cannot be repeated over the first");
    assert_refused(t, attn_add(t, F64(2, 3), F64(3, 3)), ATTN_ESHAPE,
                   "add: shapes (2,3) and (3,3): the second cannot be repeated over the first");
    assert_refused(t, attn_sub(t, F64(4, 1), F64(4)), ATTN_ESHAPE, "sub: shapes (4,1) and (4) differ");
    assert_refused(t, attn_mul(t, F64(2, 3), F64(3)), ATTN_ESHAPE, "mul: shapes (2,3) and (3) differ");
    assert_refused(t, attn_mul(t, F64(6), F64(2, 3)), ATTN_ESHAPE, "mul: shapes (6) and (2,3) differ");
    assert_refused(t, attn_gelu(t, F64(2), (attn_gelu_form)7), ATTN_EINVAL, "gelu: no such form: 7");
    attn_tape_free(t);
}

static void rates_of_dropout(void **state)
{
    (void)state;
    attn_tape *t = attn_tape_new(NULL);
    for (int training = 0; training < 2; training++) {
        attn_tape_set_training(t, training);
        assert_refused(t, attn_dropout(t, F64(2), 1), ATTN_EINVAL, "dropout: rate 1, expected 0 <= rate < 1");
        assert_refused(t, attn_dropout(t, F64(2), -0.5), ATTN_EINVAL, "dropout: rate -0.5, expected 0 <= rate < 1");
        assert_refused(t, attn_dropout(t, F64(2), NAN), ATTN_EINVAL, "dropout: rate nan, expected 0 <= rate < 1");
    }
    attn_tape_free(t);
}

static void shapes_of_reshape_slice_concat_and_mean(void **state)
{
    (void)state;
    const int64_t p31 = (int64_t)1 << 31;
    attn_tape *t = attn_tape_new(NULL);
    assert_refused(t, attn_reshape(t, F64(2, 3), ATTN_SHAPE(5)), ATTN_ESHAPE, "reshape: (5) does not have the elements of (2,3)");
    assert_refused(t, attn_reshape(t, F64(0), ATTN_SHAPE(p31, p31, 4)), ATTN_ESHAPE,
                   "reshape: (2147483648,2147483648,4) does not have the elements of (0)");
    assert_refused(t, attn_reshape(t, F64(4), ATTN_SHAPE(-2, -2)), ATTN_ESHAPE, "reshape: (-2,-2) does not have the elements of (4)");
    assert_refused(t, attn_slice(t, F64(2, 3), 2, 0, 1), ATTN_EINVAL, "slice: (2,3) has no dimension 2");
    assert_refused(t, attn_slice(t, F64(2, 3), -1, 0, 1), ATTN_EINVAL, "slice: (2,3) has no dimension -1");
    assert_refused(t, attn_slice(t, SCALAR, 0, 0, 1), ATTN_EINVAL, "slice: () has no dimension 0");
    assert_refused(t, attn_slice(t, F64(2, 3), 1, 2, 2), ATTN_ERANGE, "slice: 2 from 2 on are not in dimension 1 of (2,3)");
    assert_refused(t, attn_slice(t, F64(2, 3), 1, 4, 0), ATTN_ERANGE, "slice: 0 from 4 on are not in dimension 1 of (2,3)");
    assert_refused(t, attn_slice(t, F64(2, 3), 0, -1, 1), ATTN_ERANGE, "slice: 1 from -1 on are not in dimension 0 of (2,3)");
    assert_refused(t, attn_slice(t, F64(2, 3), 0, 0, -1), ATTN_ERANGE, "slice: -1 from 0 on are not in dimension 0 of (2,3)");
    assert_refused(t, attn_slice(t, F64(2, 3), 0, 1, INT64_MAX), ATTN_ERANGE,
                   "slice: 9223372036854775807 from 1 on are not in dimension 0 of (2,3)");
    assert_refused(t, attn_slice(t, NULL, 0, 0, 1), ATTN_EINVAL, "slice: input 0 is NULL");
    assert_refused(t, attn_concat(t, NULL, 0), ATTN_EINVAL, "concat: 0 inputs, at least 1 was expected");
    assert_refused(t, attn_concat(t, (attn_tensor *const[]){SCALAR}, 1), ATTN_ESHAPE,
                   "concat: a scalar has no last dimension to join along");
    assert_refused(t, attn_concat(t, (attn_tensor *const[]){F64(2, 3), F64(2, 1), F64(3, 3)}, 3), ATTN_ESHAPE,
                   "concat: inputs 0 and 2, (2,3) and (3,3), differ before the last dimension");
    assert_refused(t, attn_concat(t, (attn_tensor *const[]){F64(2, 3), F64(3)}, 2), ATTN_ESHAPE,
                   "concat: inputs 0 and 1, (2,3) and (3), differ before the last dimension");
    assert_refused(t, attn_concat(t, (attn_tensor *const[]){F64(2), SCALAR}, 2), ATTN_ESHAPE,
                   "concat: inputs 0 and 1, (2) and (), differ before the last dimension");
    attn_tensor *wide = F64(0, INT64_MAX);
    assert_refused(t, attn_concat(t, (attn_tensor *const[]){wide, wide}, 2), ATTN_ESHAPE, "concat: result is too large");
    assert_refused(t, attn_concat(t, (attn_tensor *const[]){F64(2), NULL}, 2), ATTN_EINVAL, "concat: input 1 is NULL");
    assert_refused(t, attn_mean(t, F64(3, 0)), ATTN_ESHAPE, "mean: (3,0) has no elements");
    attn_tape_free(t);
}

static void shapes_of_matmul(void **state)
{
    (void)state;
    const int64_t p31 = (int64_t)1 << 31;
    attn_tape *t = attn_tape_new(NULL);
#define DIFFER(shapes) "matmul: " shapes ": inner or leading dimensions differ"
    assert_refused(t, attn_matmul(t, F64(2, 3), F64(4, 5), ATTN_NN), ATTN_ESHAPE, DIFFER("(2,3) x (4,5) (nn)"));
    assert_refused(t, attn_matmul(t, F64(2, 3), F64(3, 5), ATTN_NT), ATTN_ESHAPE, DIFFER("(2,3) x (3,5) (nt)"));
    assert_refused(t, attn_matmul(t, F64(2, 3), F64(3, 5), ATTN_TN), ATTN_ESHAPE, DIFFER("(2,3) x (3,5) (tn)"));
    assert_refused(t, attn_matmul(t, F64(2, 3, 4), F64(3, 4, 5), ATTN_NN), ATTN_ESHAPE, DIFFER("(2,3,4) x (3,4,5) (nn)"));
    assert_refused(t, attn_matmul(t, F64(1, 3, 4), F64(2, 4, 5), ATTN_NN), ATTN_ESHAPE, DIFFER("(1,3,4) x (2,4,5) (nn)"));
    assert_refused(t, attn_matmul(t, F64(3, 4), F64(2, 4, 5), ATTN_NN), ATTN_ESHAPE, DIFFER("(3,4) x (2,4,5) (nn)"));
    assert_refused(t, attn_matmul(t, F64(2, 4, 3), F64(4, 5), ATTN_TN), ATTN_ESHAPE, DIFFER("(2,4,3) x (4,5) (tn)"));
    assert_refused(t, attn_matmul(t, F64(4), F64(4, 5), ATTN_NN), ATTN_ESHAPE, DIFFER("(4) x (4,5) (nn)"));
    assert_refused(t, attn_matmul(t, F64(3, 4), F64(4), ATTN_NN), ATTN_ESHAPE, DIFFER("(3,4) x (4) (nn)"));
    assert_refused(t, attn_matmul(t, SCALAR, SCALAR, ATTN_NN), ATTN_ESHAPE, DIFFER("() x () (nn)"));
    assert_refused(t, attn_matmul(t, F64(2, 2), F64(2, 2), (attn_transpose)3), ATTN_EINVAL, "matmul: no such transposition: 3");
    assert_refused(t, attn_matmul(t, F64(2 * p31, 0), F64(0, p31), ATTN_NN), ATTN_ESHAPE,
                   "matmul: result (4294967296,2147483648) is too large");
    attn_tape_free(t);
}

/* Field report B52. */
static void rows_outside_the_table(void **state)
{
    (void)state;
    attn_tape *t = attn_tape_new(NULL);
    const int32_t wrong[] = {3, -2, 10};
    assert_refused(t, attn_embedding(t, F64(10, 2), wrong, ATTN_SHAPE(3)), ATTN_ERANGE,
                   "embedding: row number -2 at position 1, the table has 10 rows");
    assert_refused(t, attn_embedding(t, F64(10, 2), wrong + 2, ATTN_SCALAR), ATTN_ERANGE,
                   "embedding: row number 10 at position 0, the table has 10 rows");
    assert_refused(t, attn_embedding(t, F64(0, 2), (const int32_t[]){0}, ATTN_SHAPE(1)), ATTN_ERANGE,
                   "embedding: row number 0 at position 0, the table has 0 rows");
    assert_refused(t, attn_embedding(t, F64(10, 2), NULL, ATTN_SHAPE(1)), ATTN_EINVAL, "embedding: no row numbers were given");
    assert_refused(t, attn_embedding(t, F64(10), wrong, ATTN_SHAPE(1)), ATTN_ESHAPE,
                   "embedding: table (10), ids (1): expected a table of rank 2 and ids of rank 0..3");
    assert_refused(t, attn_embedding(t, F64(10, 2), wrong, ATTN_SHAPE(1, 1, 1, 1)), ATTN_ESHAPE,
                   "embedding: table (10,2), ids (1,1,1,1): expected a table of rank 2 and ids of rank 0..3");
    assert_refused(t, attn_embedding(t, F64(10, 2), wrong, ATTN_SHAPE(-1)), ATTN_ESHAPE,
                   "embedding: table (10,2), ids (-1): expected a table of rank 2 and ids of rank 0..3");
    assert_refused(t, attn_gather_rows(t, F64(2, 3, 4), (const int32_t[]){2, 3}), ATTN_ERANGE,
                   "gather_rows: row number 3 at position 1, the table has 3 rows");
    assert_refused(t, attn_gather_rows(t, F64(2, 3), wrong), ATTN_ESHAPE, "gather_rows: x (2,3), expected (B,T,D)");
    assert_refused(t, attn_gather_rows(t, F64(2, 3, 4), NULL), ATTN_EINVAL, "gather_rows: no row numbers were given");
    attn_tape_free(t);
}

static void shapes_and_numbers_of_rows(void **state)
{
    (void)state;
    attn_tape *t = attn_tape_new(NULL);
    assert_refused(t, attn_layer_norm(t, F64(2, 3), F64(2), F64(3), 1e-5), ATTN_ESHAPE,
                   "layer_norm: x (2,3), gamma (2), beta (3): expected gamma and beta of x's last dimension");
    assert_refused(t, attn_layer_norm(t, F64(2, 3), F64(3), F64(3, 1), 1e-5), ATTN_ESHAPE,
                   "layer_norm: x (2,3), gamma (3), beta (3,1): expected gamma and beta of x's last dimension");
    assert_refused(t, attn_layer_norm(t, SCALAR, F64(1), F64(1), 1e-5), ATTN_ESHAPE,
                   "layer_norm: x (), gamma (1), beta (1): expected gamma and beta of x's last dimension");
    assert_refused(t, attn_layer_norm(t, F64(3), F64(3), F64(3), -1), ATTN_EINVAL, "layer_norm: epsilon -1, expected >= 0");
    assert_refused(t, attn_layer_norm(t, F64(3), F64(3), F64(3), NAN), ATTN_EINVAL, "layer_norm: epsilon nan, expected >= 0");
    assert_refused(t, attn_softmax(t, SCALAR, NULL), ATTN_ESHAPE, "softmax: a scalar has no dimension to normalise over");
    attn_tape_free(t);
}

static void targets_of_cross_entropy(void **state)
{
    (void)state;
    attn_tape *t = attn_tape_new(NULL);
    const uint8_t allow[] = {1, 1, 1, 1, 0, 1};
    const attn_cross_entropy_config config = {.candidates = allow}, negative = {.label_smoothing = -0.1}, one = {.label_smoothing = 1},
                                    nan = {.label_smoothing = NAN};
    const int32_t good[] = {0, 1};
    assert_refused(t, attn_cross_entropy(t, F64(4), good, NULL), ATTN_ESHAPE, "cross_entropy: logits (4), expected (N,C)");
    assert_refused(t, attn_cross_entropy(t, F64(2, 3, 1), good, NULL), ATTN_ESHAPE, "cross_entropy: logits (2,3,1), expected (N,C)");
    assert_refused(t, attn_cross_entropy(t, F64(2, 3), (const int32_t[]){0, 3}, NULL), ATTN_ERANGE,
                   "cross_entropy: target 3 of row 1 is no class of the logits");
    assert_refused(t, attn_cross_entropy(t, F64(2, 3), (const int32_t[]){-2, 0}, NULL), ATTN_ERANGE,
                   "cross_entropy: target -2 of row 0 is no class of the logits");
    assert_refused(t, attn_cross_entropy(t, F64(1, 0), (const int32_t[]){0}, NULL), ATTN_ERANGE,
                   "cross_entropy: target 0 of row 0 is no class of the logits");
    assert_refused(t, attn_cross_entropy(t, F64(2, 3), good, &config), ATTN_ERANGE, "cross_entropy: target 1 of row 1 is not a candidate");
#define SMOOTHING(e) "cross_entropy: label smoothing " e " (expected 0 <= e < 1), or no targets"
    assert_refused(t, attn_cross_entropy(t, F64(2, 3), good, &negative), ATTN_EINVAL, SMOOTHING("-0.1"));
    assert_refused(t, attn_cross_entropy(t, F64(2, 3), good, &one), ATTN_EINVAL, SMOOTHING("1"));
    assert_refused(t, attn_cross_entropy(t, F64(2, 3), good, &nan), ATTN_EINVAL, SMOOTHING("nan"));
    assert_refused(t, attn_cross_entropy(t, F64(2, 3), NULL, NULL), ATTN_EINVAL, SMOOTHING("0"));
    attn_tape_free(t);
}

/* ---- attention ---- */

static void shapes_of_scores(void **state)
{
    (void)state;
    attn_tape *t = attn_tape_new(NULL);
#define DOTS(q, k, n)    attn_attention_scores(t, q, k, NULL, (attn_score_config){.score = ATTN_SCORE_DOT, .heads = n}, NULL)
#define QUERIES_AND_KEYS ": expected (B,Tq,H d) and (B,Tk,Hkv d)"
    assert_refused(t, DOTS(F64(1, 1, 8), F64(4, 6, 8), 1), ATTN_ESHAPE,
                   "attention_scores: queries (1,1,8) and keys (4,6,8)" QUERIES_AND_KEYS);
    assert_refused(t, DOTS(F64(2, 3, 24), F64(2, 5, 10), 1), ATTN_ESHAPE,
                   "attention_scores: queries (2,3,24) in 1 heads and keys (2,5,10) in 1 heads differ in the width of a head");
    assert_refused(t, DOTS(F64(3, 8), F64(2, 5, 8), 1), ATTN_ESHAPE, "attention_scores: queries (3,8) and keys (2,5,8)" QUERIES_AND_KEYS);
    assert_refused(t, DOTS(F64(1, 4, 10), F64(1, 4, 10), 3), ATTN_EINVAL, "attention_scores: width 10 cannot be cut into 3 heads");
    assert_refused(t, DOTS(F64(1, 4, 10), F64(1, 4, 10), -2), ATTN_EINVAL, "attention_scores: -2 query heads cannot share -2 key heads");
    attn_tensor *q = F64(1, 4, 10);
    assert_refused(t, attn_attention_scores(t, q, q, F64(2, 5), (attn_score_config){.score = ATTN_SCORE_SCALED_DOT, .heads = 2}, NULL),
                   ATTN_EINVAL, "attention_scores: the scaled-dot score takes no vector w");
    q = F64(1, 4, 10);
    assert_refused(t, attn_attention_scores(t, q, q, NULL, (attn_score_config){.score = ATTN_SCORE_ADDITIVE, .heads = 2}, NULL),
                   ATTN_EINVAL, "attention_scores: input 2 is NULL");
    q = F64(1, 4, 10);
    assert_refused(t, attn_attention_scores(t, q, q, F64(10), (attn_score_config){.score = ATTN_SCORE_ADDITIVE, .heads = 2}, NULL),
                   ATTN_ESHAPE, "attention_scores: w (10), expected (heads, width of a head) = (2,5)");
    q = F64(1, 4, 10);
    assert_refused(t, attn_attention_scores(t, q, q, NULL, (attn_score_config){.score = (attn_score)9, .heads = 2}, NULL), ATTN_EINVAL,
                   "attention_scores: no such score: 9");
    assert_string_equal(attn_score_name(ATTN_SCORE_DOT), "dot");
    assert_string_equal(attn_score_name((attn_score)-1), "?");
    attn_tape_free(t);
}

static void shapes_of_bias_mix_and_rows(void **state)
{
    (void)state;
    attn_tape *t = attn_tape_new(NULL);
#define TABLE ": expected (B,H,Tq,Tk) and (H,2C+1)"
    assert_refused(t, attn_relative_bias(t, F64(2, 2, 3, 4), F64(2, 4), NULL, NULL), ATTN_ESHAPE,
                   "relative_bias: scores (2,2,3,4) and table (2,4)" TABLE);
    assert_refused(t, attn_relative_bias(t, F64(2, 2, 3, 4), F64(1, 5), NULL, NULL), ATTN_ESHAPE,
                   "relative_bias: scores (2,2,3,4) and table (1,5)" TABLE);
    assert_refused(t, attn_relative_bias(t, F64(2, 3, 4), F64(2, 5), NULL, NULL), ATTN_ESHAPE,
                   "relative_bias: scores (2,3,4) and table (2,5)" TABLE);
#define VALUES ": expected (B,H,Tq,Tk) and (B,Tk,Hkv dv)"
    assert_refused(t, attn_attention_mix(t, F64(2, 1, 3, 5), F64(2, 3, 4), 0, NULL), ATTN_ESHAPE,
                   "attention_mix: weights (2,1,3,5) and values (2,3,4)" VALUES);
    assert_refused(t, attn_attention_mix(t, F64(1, 1, 3, 5), F64(2, 5, 4), 0, NULL), ATTN_ESHAPE,
                   "attention_mix: weights (1,1,3,5) and values (2,5,4)" VALUES);
    assert_refused(t, attn_attention_mix(t, F64(2, 3, 3, 5), F64(2, 5, 4), 0, NULL), ATTN_ESHAPE,
                   "attention_mix: weights (2,3,3,5) and values (2,5,4): 3 value heads do not divide the heads and the width");
    assert_refused(t, attn_attention_mix(t, F64(2, 3, 5), F64(2, 5, 4), 0, NULL), ATTN_ESHAPE,
                   "attention_mix: weights (2,3,5) and values (2,5,4)" VALUES);
    const attn_mask causal = {.causal = ATTN_CAUSAL_TOP_LEFT};
    assert_refused(t, attn_visible_rows(t, F64(2, 3), ATTN_SIDE_KEYS, 0, 2, &causal), ATTN_ESHAPE,
                   "visible_rows: x (2,3), 0 rows before it, 2 rows on the other side, expected (B,T,D)");
    assert_refused(t, attn_visible_rows(t, F64(2, 3, 1), ATTN_SIDE_KEYS, 0, -1, &causal), ATTN_ESHAPE,
                   "visible_rows: x (2,3,1), 0 rows before it, -1 rows on the other side, expected (B,T,D)");
    attn_tape_free(t);
}

static void lengths_and_forms_of_masks(void **state)
{
    (void)state;
    attn_tape *t = attn_tape_new(NULL);
    const int32_t long_key[] = {5, 6}, negative[] = {-1, 2}, long_query[] = {0, 4}, long_row[] = {0, 5, 2, 1, 6, 3};
    assert_refused(t, attn_softmax(t, F64(2, 3, 5), &(attn_mask){.key_lengths = long_key}), ATTN_ERANGE,
                   "softmax: mask.key_lengths[1] is 6, expected 0..5");
    assert_refused(t, attn_softmax(t, F64(2, 3, 5), &(attn_mask){.key_lengths = negative}), ATTN_ERANGE,
                   "softmax: mask.key_lengths[0] is -1, expected 0..5");
    assert_refused(t, attn_softmax(t, F64(2, 1, 3, 5), &(attn_mask){.query_lengths = long_query}), ATTN_ERANGE,
                   "softmax: mask.query_lengths[1] is 4, expected 0..3");
    assert_refused(t, attn_softmax(t, F64(2, 2, 3, 5), &(attn_mask){.row_lengths = long_row}), ATTN_ERANGE,
                   "softmax: mask.row_lengths[4] is 6, expected 0..5");
    assert_refused(t, attn_softmax(t, F64(5), &(attn_mask){.causal = (attn_causal)4}), ATTN_EINVAL,
                   "softmax: mask: no such causal alignment or form");
    assert_refused(t, attn_softmax(t, F64(5), &(attn_mask){.allow_form = (attn_allow_form)2}), ATTN_EINVAL,
                   "softmax: mask: no such causal alignment or form");
    const attn_mask bad = {.key_lengths = long_key};
    attn_tensor *x = F64(2, 5, 4);
    assert_refused(t, attn_attention_scores(t, x, x, NULL, (attn_score_config){.score = ATTN_SCORE_DOT, .heads = 1}, &bad), ATTN_ERANGE,
                   "attention_scores: mask.key_lengths[1] is 6, expected 0..5");
    assert_refused(t, attn_attention_mix(t, F64(2, 1, 3, 5), F64(2, 5, 4), 0, &bad), ATTN_ERANGE,
                   "attention_mix: mask.key_lengths[1] is 6, expected 0..5");
    assert_refused(t, attn_relative_bias(t, F64(2, 1, 3, 5), F64(1, 3), NULL, &bad), ATTN_ERANGE,
                   "relative_bias: mask.key_lengths[1] is 6, expected 0..5");
    assert_refused(t, attn_visible_rows(t, F64(2, 5, 4), ATTN_SIDE_KEYS, 0, 3, &bad), ATTN_ERANGE,
                   "visible_rows: mask.key_lengths[1] is 6, expected 0..5");
    attn_tape_free(t);
}

/* Vectors of width 0 are cheap, so more pairs than 64 bits can count are in reach. */
static void more_pairs_than_can_be_counted(void **state)
{
    (void)state;
    const int64_t p32 = (int64_t)1 << 32, p20 = (int64_t)1 << 20;
    attn_tape *t = attn_tape_new(NULL);
    attn_tensor *q = F64(p20, p32, 0);
    assert_refused(t, attn_attention_scores(t, q, q, NULL, (attn_score_config){.score = ATTN_SCORE_DOT, .heads = 1}, NULL), ATTN_ESHAPE,
                   "attention_scores: (B,H,Tq,Tk) = (1048576,1,4294967296,4294967296) is too large");
    q = F64(p32, 1, 0);
    assert_null(
        attn_attention_scores(t, q, q, F64(INT32_MAX, 0), (attn_score_config){.score = ATTN_SCORE_ADDITIVE, .heads = INT32_MAX}, NULL));
    assert_int_equal(attn_tape_status(t), ATTN_ENOMEM);
    assert_contains(attn_tape_message(t), "out of memory: 9223372032559808512 x 8 bytes wanted");
    attn_tape_reset(t);
    assert_refused(t, attn_visible_rows(t, F64(p32, p20, 0), ATTN_SIDE_KEYS, 0, p32, &(attn_mask){.causal = ATTN_CAUSAL_TOP_LEFT}),
                   ATTN_ESHAPE, "visible_rows: (B,H,Tq,Tk) = (4294967296,1,4294967296,1048576) is too large");
    attn_tape_free(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shapes_of_elementwise_operations),
        cmocka_unit_test(rates_of_dropout),
        cmocka_unit_test(shapes_of_reshape_slice_concat_and_mean),
        cmocka_unit_test(shapes_of_matmul),
        cmocka_unit_test(rows_outside_the_table),
        cmocka_unit_test(shapes_and_numbers_of_rows),
        cmocka_unit_test(targets_of_cross_entropy),
        cmocka_unit_test(shapes_of_scores),
        cmocka_unit_test(shapes_of_bias_mix_and_rows),
        cmocka_unit_test(lengths_and_forms_of_masks),
        cmocka_unit_test(more_pairs_than_can_be_counted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

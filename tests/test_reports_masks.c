/* Faults of masks that users of other libraries reported, in the forms they could take here. README.md has the list. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support/attention.h"
#include "support/params.h"
#include "support/senses.h"

#include "attn/optim.h"
#include "word_sense/model.h"

static const attn_score scores[] = {ATTN_SCORE_SCALED_DOT, ATTN_SCORE_DOT, ATTN_SCORE_ADDITIVE};

static void assert_same_bits(attn_tensor *a, int64_t from, attn_tensor *b, int64_t to, int64_t count)
{
    size_t size = attn_dtype_size(attn_tensor_dtype(a));
    assert_non_null(a);
    assert_non_null(b);
    assert_memory_equal((char *)attn_tensor_data(a) + (size_t)from * size, (char *)attn_tensor_data(b) + (size_t)to * size,
                        (size_t)count * size);
}

/* ---- nothing to see ---- */

/* Field report B01: a batch in which no sentence has a visible key is a step like any other, which changes nothing: zeros come out, zeros
 * come back, and the optimiser leaves every parameter where it was. */
static void b01_a_batch_of_nothing_trains_nothing(void **state)
{
    (void)state;
    const int32_t none[] = {0, 0, 0};
    const uint8_t hidden[3 * 5] = {0};
    const attn_mask masks[] = {{.key_lengths = none}, {.query_lengths = none}, {.allow = hidden, .allow_form = ATTN_ALLOW_KEYS}};
    for (int n = 0; n < 3 * 3 * 2; n++) {
        attention_problem p = {.batch = 3, .queries = 4, .keys = 5, .mask = masks[n / 3 % 3]};
        p.config = (attn_attention_config){.score = scores[n % 3], .heads = 2, .query_dim = 6, .bias = true, .relative_clip = 2};
        p.config.dropout = 0.5;
        attention_open(&p, n / 9 == 0 ? ATTN_F32 : ATTN_F64);
        attn_optimizer *o = attn_adamw_new(p.params, (attn_adamw_config){.learning_rate = 1}, NULL);
        attn_tape *t = attn_tape_new(NULL);
        attn_tape_set_training(t, true);
        attn_attention_output out = attention_run(&p, t);
        int64_t count = attn_params_elements(p.params), at = 0;
        double *before = random_values(count, 0, 0, 0);
        for (int id = 0; id < attn_params_count(p.params); id++) {
            for (int64_t i = 0; i < attn_shape_count(attn_params_shape(p.params, id)); i++) {
                before[at++] = value(p.params, id, i);
            }
        }
        assert_int_equal(attn_backward(t, attn_sum(t, out.output)), ATTN_OK);
        assert_int_equal(attn_optimizer_step(o, 1, NULL), ATTN_OK);
        for (int64_t i = 0; i < attn_tensor_count(out.output); i++) {
            assert_true(attn_tensor_get(out.output, i) == 0);
        }
        at = 0;
        for (int id = 0; id < attn_params_count(p.params); id++) {
            for (int64_t i = 0; i < attn_shape_count(attn_params_shape(p.params, id)); i++) {
                assert_true(grad(p.params, id, i) == 0 && value(p.params, id, i) == before[at++]);
            }
        }
        free(before);
        attn_tape_free(t);
        attn_optimizer_free(o);
        attention_close(&p);
    }
}

/* ---- what a mask holds ---- */

/* Outputs, gradients of the inputs and the loss of a classifier on top, under masks whose true bytes are `yes`. */
static void run_with(uint8_t yes, attn_tape *t, attn_tensor *out[], int *n)
{
    static const uint8_t pairs[] = {1, 0, 1, 1, 1, 0, 0, 0, 0, 1, 1, 1}, keys[] = {1, 0, 1},
                         classes[] = {1, 1, 0, 1, 0, 1, 1, 1, 1, 0, 1, 1};
    uint8_t allow[3][12];
    for (int i = 0; i < 12; i++) {
        allow[0][i] = pairs[i] ? yes : 0;
        allow[1][i] = keys[i % 3] ? yes : 0;
        allow[2][i] = classes[i] ? yes : 0;
    }
    *n = 0;
    for (int form = 0; form < 2; form++) {
        attention_problem p = {.batch = 1, .queries = 4, .keys = 3, .mask = {.allow = allow[form], .allow_form = (attn_allow_form)form}};
        p.config = (attn_attention_config){.query_dim = 3, .bias = true, .relative_clip = 1};
        attention_open(&p, ATTN_F64);
        attn_attention_output a = attention_run(&p, t);
        const attn_cross_entropy_config config = {.candidates = allow[2], .label_smoothing = 0.3};
        attn_tensor *loss = attn_cross_entropy(t, attn_reshape(t, a.output, ATTN_SHAPE(4, 3)), (const int32_t[]){0, 0, 1, 2}, &config);
        assert_int_equal(attn_backward(t, loss), ATTN_OK);
        out[(*n)++] = loss;
        out[(*n)++] = a.output;
        out[(*n)++] = a.weights;
        out[(*n)++] = attn_input(t, ATTN_F64, attn_tensor_shape(p.k), attn_tensor_grad(p.k));
        attention_close(&p);
    }
}

/* Field report B04: a mask that comes from elsewhere may say true as 255 or 2. Every byte that is not 0 is true, and counts once. */
static void b04_every_byte_but_0_is_true(void **state)
{
    (void)state;
    const uint8_t yes[] = {2, 127, 128, 255};
    attn_tape *t = attn_tape_new(NULL);
    attn_tensor *one[8], *other[8];
    int n;
    run_with(1, t, one, &n);
    for (size_t i = 0; i < sizeof yes; i++) {
        run_with(yes[i], t, other, &n);
        for (int k = 0; k < n; k++) {
            assert_same_bits(one[k], 0, other[k], 0, attn_tensor_count(one[k]));
        }
    }
    attn_tape_free(t);
}

/* ---- company ---- */

/* Field report B07: a sentence alone, and in a batch with longer ones, which pad it. The same bits in every sense's score, so the same
 * predicted sense; over several models, so that some sentences are close calls. */
static void b07_a_sense_does_not_depend_on_company(void **state)
{
    (void)state;
    attn_corpus *c = tiny_corpus(NULL);
    assert_int_equal(add_sentence(c, "shore", 12, "they walked for an hour along the old stone wall and the bank of the wide"), ATTN_OK);
    for (int v = 0; v < 6; v++) {
        attn_word_sense_config config = tiny_config();
        config.score = scores[v % 3];
        config.position = v / 3 == 0 ? ATTN_POSITION_RELATIVE : ATTN_POSITION_NONE;
        config.window = 10;
        attn_word_sense *m = new_model(c, config);
        train_ok(m, c, NULL);
        attn__arena arena;
        attn__arena_init(&arena, NULL);
        attn__encoded *list;
        const attn__encoded *all[TINY_SENTENCES + 1];
        int64_t count;
        assert_int_equal(attn__encode_corpus(m, &arena, c, true, &list, &count, NULL), ATTN_OK);
        assert_int_equal(count, TINY_SENTENCES + 1);
        for (int64_t i = 0; i < count; i++) {
            all[i] = &list[i];
        }
        const char *predictions[TINY_SENTENCES + 1];
        attn_scores *s = attn_scores_new(NULL);
        assert_int_equal(attn_word_sense_score(m, c, s, predictions, NULL), ATTN_OK);
        attn_tape *t = attn_tape_new(NULL);
        attn__batch b;
        assert_true(attn__batch_make(m, &arena, all, count, &b) && b.length > list[0].length);
        attn_tensor *together = attn__member_logits(m, &m->member[0], t, &b, NULL);
        for (int64_t i = 0; i < count; i++) {
            attn_example e = attn_corpus_get(c, i);
            assert_true(attn__batch_make(m, &arena, &all[i], 1, &b) && b.length == list[i].length);
            assert_same_bits(attn__member_logits(m, &m->member[0], t, &b, NULL), 0, together, i * m->n_senses, m->n_senses);
            attn_prediction p;
            assert_int_equal(attn_word_sense_predict(m, e.tokens, e.length, e.target, &p, NULL), ATTN_OK);
            assert_string_equal(predictions[i], p.senses[p.best]);
        }
        attn_scores_free(s);
        attn_tape_free(t);
        attn__arena_free(&arena);
        attn_word_sense_free(m);
    }
    attn_corpus_free(c);
}

/* ---- the future ---- */

enum { T = 6, WIDTH = 4 };

/* Every way to say that a word sees itself and what came before it. */
static int causal_masks(attn_mask masks[8])
{
    static const int32_t zero[] = {0}, up_to[] = {1, 2, 3, 4, 5, 6};
    static uint8_t triangle[T * T];
    for (int i = 0; i < T * T; i++) {
        triangle[i] = i % T <= i / T;
    }
    int n = 0;
    masks[n++] = (attn_mask){.causal = ATTN_CAUSAL_TOP_LEFT};
    masks[n++] = (attn_mask){.causal = ATTN_CAUSAL_BOTTOM_RIGHT};
    masks[n++] = (attn_mask){.causal = ATTN_CAUSAL_POSITION, .positions = zero};
    masks[n++] = (attn_mask){.window = true, .left = -1, .right = 0};
    masks[n++] = (attn_mask){.window = true, .left = -1, .right = 0, .positions = zero};
    masks[n++] = (attn_mask){.row_lengths = up_to};
    masks[n++] = (attn_mask){.allow = triangle};
    return n;
}

/* Changes the words after `now`; what came before is the same to the bit, also in training with dropout, and all masks agree. */
static void check_forward(attention_problem *p, attn_tensor *first)
{
    attn_tape *t = attn_tape_new(NULL);
    attn_tape_set_training(t, true);
    attn_attention_output before = attention_run(p, t);
    assert_same_bits(before.output, 0, first, 0, T * WIDTH);
    for (int64_t now = 0; now < T - 1; now++) {
        double *kept = p->query, *changed = random_values(T * WIDTH, 77 + (uint64_t)now, -9, 9);
        memcpy(changed, kept, (size_t)((now + 1) * WIDTH) * sizeof *changed);
        p->query = changed;
        attn_tape_set_random(t, 0, 0); /* the same dropout again */
        attn_attention_output after = attention_run(p, t);
        assert_same_bits(before.output, 0, after.output, 0, (now + 1) * WIDTH);
        p->query = kept;
        free(changed);
    }
    attn_tape_free(t);
}

/* A gradient that comes in at word `now` reaches no later word, and reaches this one. */
static void check_backward(attention_problem *p)
{
    for (int64_t now = 0; now < T; now++) {
        double cotangent[T * WIDTH] = {0}, here = 0;
        attn_tape *t = attn_tape_new(NULL);
        attn_tape_set_training(t, true);
        attn_attention_output out = attention_run(p, t);
        for (int c = 0; c < WIDTH; c++) {
            cotangent[now * WIDTH + c] = c + 1;
        }
        assert_int_equal(backward_from(t, out.output, cotangent), ATTN_OK);
        for (int64_t i = 0; i < T * WIDTH; i++) {
            double g = attn_tensor_get_grad(p->q, i);
            here += i / WIDTH == now ? fabs(g) : 0;
            assert_true(i / WIDTH <= now || g == 0);
        }
        assert_true(here > 0 || p->config.dropout > 0);
        attn_tape_free(t);
    }
}

/* Field report B11: nothing flows from later words to earlier ones, nor gradients from earlier to later, however the mask says it. */
static void b11_the_future_sends_nothing_back(void **state)
{
    (void)state;
    attn_mask masks[8];
    int count = causal_masks(masks);
    for (int n = 0; n < 3 * 2 * 2; n++) {
        attn_tape *t = attn_tape_new(NULL);
        attn_tensor *first = NULL;
        for (int k = 0; k < count; k++) {
            attention_problem p = {.batch = 1, .queries = T, .keys = T, .self = true, .mask = masks[k]};
            p.config = (attn_attention_config){.score = scores[n % 3], .heads = 2, .query_dim = WIDTH, .relative_clip = 2};
            p.config.dropout = n / 3 % 2 == 0 ? 0 : 0.4;
            attention_open(&p, n / 6 == 0 ? ATTN_F32 : ATTN_F64);
            attn_tape_set_training(t, true);
            attn_tape_set_random(t, 0, 0);
            first = first != NULL ? first : attention_run(&p, t).output;
            check_forward(&p, first);
            check_backward(&p);
            attention_close(&p);
        }
        attn_tape_free(t);
    }
}

/* Field report B10: behind a cache the queries are the last positions. Causal order and a window that end at the bottom right know that by
 * themselves; the position bias is told by query_start. Word by word is what all at once is from the top left. */
static void b10_the_last_queries_stand_at_the_end(void **state)
{
    (void)state;
    for (int n = 0; n < 3 * 2; n++) {
        attn_dtype dtype = n / 3 == 0 ? ATTN_F32 : ATTN_F64;
        attention_problem p = {.batch = 1, .queries = T, .keys = T, .self = true};
        p.config = (attn_attention_config){.score = scores[n % 3], .heads = 2, .query_dim = WIDTH, .relative_clip = 2};
        p.mask = (attn_mask){.causal = ATTN_CAUSAL_TOP_LEFT, .window = true, .left = 2, .right = -1};
        attention_open(&p, dtype);
        attn_tape *t = attn_tape_new(NULL);
        attn_attention_output all = attention_run(&p, t), step = {.key = NULL};
        for (int32_t i = 0; i < T; i += 1 + i % 2) { /* one word, then two at once */
            int64_t words = i + 1 + i % 2 <= T ? 1 + i % 2 : T - i;
            step = attn_attention_apply(
                t, p.layer,
                (attn_attention_input){.query = variable_of(t, dtype, ATTN_SHAPE(1, words, WIDTH), p.query + (int64_t)i * WIDTH),
                                       .past_key = step.key,
                                       .past_value = step.value,
                                       .mask = {.causal = ATTN_CAUSAL_BOTTOM_RIGHT, .window = true, .left = 2, .right = -1},
                                       .query_start = &i});
            assert_tape_ok(t);
            for (int64_t k = 0; k < words * WIDTH; k++) {
                assert_close(attn_tensor_get(step.output, k), attn_tensor_get(all.output, i * WIDTH + k), 0, 32 * epsilon_of(dtype));
            }
        }
        assert_int_equal(attn_tensor_shape(step.key).dim[1], T);
        attn_tape_free(t);
        attention_close(&p);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(b01_a_batch_of_nothing_trains_nothing),  cmocka_unit_test(b04_every_byte_but_0_is_true),
        cmocka_unit_test(b07_a_sense_does_not_depend_on_company), cmocka_unit_test(b10_the_last_queries_stand_at_the_end),
        cmocka_unit_test(b11_the_future_sends_nothing_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

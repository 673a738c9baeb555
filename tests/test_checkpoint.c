#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/check.h"
#include "support/disk.h"
#include "support/params.h"

#include "attn/checkpoint.h"
#include "attn/random.h"

#define FOLDER "test_checkpoint.d"
static const char path[] = FOLDER "/m.safetensors";

/* A model of a matrix, a bias, a table and a scalar. */
static attn_params *model(attn_dtype dtype, int64_t hidden, uint64_t seed, const attn_allocator *allocator)
{
    const attn_param_config uniform = {.init = ATTN_INIT_UNIFORM, .scale = 1, .decay = true};
    attn_params *p = attn_params_new(dtype, allocator);
    attn_params_add(p, "att.W_q", ATTN_SHAPE(3, hidden), uniform);
    attn_params_add(p, "att.b_q", ATTN_SHAPE(hidden), uniform);
    attn_params_add(p, "table", ATTN_SHAPE(4, 2), (attn_param_config){.init = ATTN_INIT_UNIFORM, .scale = 1, .sparse_rows = true});
    attn_params_add(p, "scale", ATTN_SCALAR, uniform);
    assert_int_equal(attn_params_build(p, seed, NULL), ATTN_OK);
    return p;
}

static attn_optimizer *optimizer(attn_params *p, bool adamw)
{
    attn_optimizer *o = adamw ? attn_adamw_new(p, (attn_adamw_config){.weight_decay = 0.01}, NULL)
                              : attn_sgd_new(p, (attn_sgd_config){.momentum = 0.9, .weight_decay = 0.01}, NULL);
    assert_non_null(o);
    return o;
}

static void drop(attn_params *p, attn_optimizer *o)
{
    attn_optimizer_free(o);
    attn_params_free(p);
}

/* Gradients that depend on the values and on a noise of the step's number, rows of the table by turns. */
static void train(attn_params *p, attn_optimizer *o, int steps)
{
    const attn_schedule_config schedule = {ATTN_DECAY_COSINE, 5, 20, 0.1};
    for (int k = 0; k < steps; k++) {
        int64_t n = attn_optimizer_steps(o);
        attn_params_zero_grad(p);
        attn__params_touch(p, 2, n % 4);
        attn__params_touch(p, 2, n * 3 % 4);
        for (int id = 0; id < attn_params_count(p); id++) {
            for (int64_t i = 0; i < attn_shape_count(attn_params_shape(p, id)); i++) {
                set_grad(p, id, i, value(p, id, i) + attn_random_normal(5, (uint64_t)n, (uint64_t)(100 * id + i)));
            }
        }
        (void)attn_clip_grad_norm(p, 2);
        assert_int_equal(attn_optimizer_step(o, attn_schedule(&schedule, n), NULL), ATTN_OK);
    }
}

/* Every bit of values, state and step count. */
static bool same(attn_params *p, attn_optimizer *o, attn_params *q, attn_optimizer *r)
{
    bool equal = attn_optimizer_steps(o) == attn_optimizer_steps(r);
    for (int id = 0; id < attn_params_count(p); id++) {
        size_t bytes = (size_t)attn_shape_count(attn_params_shape(p, id)) * attn_dtype_size(attn_params_dtype(p));
        equal = equal && memcmp(attn_params_value(p, id), attn_params_value(q, id), bytes) == 0;
        for (int slot = 0; slot < attn_optimizer_slots(o); slot++) {
            equal = equal && memcmp(attn_optimizer_slot(o, slot, id), attn_optimizer_slot(r, slot, id), bytes) == 0;
        }
    }
    return equal;
}

static void save_ok(attn_params *p, attn_optimizer *o, const attn_file_text texts[], int m)
{
    attn_error error = {0};
    attn_status status = attn_checkpoint_save(path, p, o, texts, m, &error);
    assert_string_equal(error.message, "");
    assert_int_equal(status, ATTN_OK);
}

static attn_status load(attn_params *p, attn_optimizer *o, attn_error *error)
{
    *error = (attn_error){0};
    attn_safetensors *f = attn_safetensors_read(path, NULL, error);
    assert_non_null(f);
    attn_status status = attn_checkpoint_load(f, p, o, error);
    attn_safetensors_free(f);
    return status;
}

static void resumed_is_straight(attn_dtype dtype, bool adamw)
{
    attn_error error;
    fresh_folder(FOLDER);
    attn_params *straight = model(dtype, 5, 1, NULL), *first = model(dtype, 5, 1, NULL), *second = model(dtype, 5, 999, NULL);
    attn_optimizer *so = optimizer(straight, adamw), *fo = optimizer(first, adamw), *to = optimizer(second, adamw);
    train(straight, so, 20);
    train(first, fo, 10);
    save_ok(first, fo, NULL, 0);
    train(second, to, 3); /* whatever was there before goes */
    assert_int_equal(load(second, to, &error), ATTN_OK);
    assert_true(same(first, fo, second, to));
    assert_false(same(straight, so, second, to));
    train(second, to, 10);
    assert_int_equal(attn_optimizer_steps(to), 20);
    assert_true(same(straight, so, second, to));

    /* weights alone are not enough, which shows that the state matters */
    attn_params *third = model(dtype, 5, 999, NULL);
    attn_optimizer *uo = optimizer(third, adamw);
    assert_int_equal(load(third, NULL, &error), ATTN_OK);
    attn_optimizer_set_steps(uo, 10);
    train(third, uo, 10);
    assert_false(same(straight, so, third, uo));
    drop(straight, so);
    drop(first, fo);
    drop(second, to);
    drop(third, uo);
}

static void resuming_is_exact(void **state)
{
    (void)state;
    resumed_is_straight(ATTN_F32, true);
    resumed_is_straight(ATTN_F64, true);
    resumed_is_straight(ATTN_F32, false);
    resumed_is_straight(ATTN_F64, false);
}

static void files_say_what_they_hold(void **state)
{
    (void)state;
    fresh_folder(FOLDER);
    attn_params *p = model(ATTN_F64, 5, 1, NULL);
    attn_optimizer *o = optimizer(p, true);
    train(p, o, 4);
    save_ok(p, o, (attn_file_text[]){{"words", "苹果"}, {"heads", "2"}}, 2);
    attn_safetensors *f = attn_safetensors_read(path, NULL, NULL);
    assert_int_equal(attn_safetensors_count(f), 12);
    assert_string_equal(attn_safetensors_text(f, "optimizer"), "adamw");
    assert_string_equal(attn_safetensors_text(f, "optimizer.steps"), "4");
    assert_string_equal(attn_safetensors_text(f, "words"), "苹果");
    assert_string_equal(attn_safetensors_text(f, "heads"), "2");
    attn_file_tensor x = attn_safetensors_get(f, attn_safetensors_find(f, "optimizer.v.att.W_q"));
    assert_true(attn_shape_equal(x.shape, ATTN_SHAPE(3, 5)));
    assert_int_equal(x.dtype, ATTN_F64);
    assert_memory_equal(x.data, attn_optimizer_slot(o, 1, 0), 15 * sizeof(double));
    attn_safetensors_free(f);

    save_ok(p, NULL, NULL, 0);
    f = attn_safetensors_read(path, NULL, NULL);
    assert_int_equal(attn_safetensors_count(f), 4);
    assert_null(attn_safetensors_text(f, "optimizer"));
    attn_safetensors_free(f);
    drop(p, o);
}

/* All of a model and its optimiser as bytes. */
static char *image(attn_params *p, attn_optimizer *o, size_t *size)
{
    assert_int_equal(attn_checkpoint_save(FOLDER "/image", p, o, NULL, 0, NULL), ATTN_OK);
    return take_file(FOLDER "/image", size);
}

/* Loading fails with every one of the NULL-terminated `parts` in the message, and neither model nor optimiser changes. */
static void load_refused(attn_params *p, attn_optimizer *o, const char *const parts[])
{
    attn_error error;
    size_t before_size, after_size;
    char *before = image(p, o, &before_size);
    assert_int_equal(load(p, o, &error), ATTN_EMISMATCH);
    assert_contains(error.message, "test_checkpoint.d/m.safetensors does not fit the model: ");
    for (int i = 0; parts[i] != NULL; i++) {
        assert_contains(error.message, parts[i]);
    }
    char *after = image(p, o, &after_size);
    assert_int_equal(after_size, before_size);
    assert_memory_equal(after, before, before_size);
    free(before);
    free(after);
}

#define PARTS(...) ((const char *const[]){__VA_ARGS__, NULL})

/* Saves a trained model of these properties. */
static void saved(attn_dtype dtype, int64_t hidden, bool adamw)
{
    attn_params *p = model(dtype, hidden, 1, NULL);
    attn_optimizer *o = optimizer(p, adamw);
    train(p, o, 2);
    save_ok(p, o, NULL, 0);
    drop(p, o);
}

static void every_difference_is_named(void **state)
{
    (void)state;
    attn_error error;
    fresh_folder(FOLDER);
    attn_params *p = model(ATTN_F32, 16, 2, NULL);
    attn_optimizer *o = optimizer(p, false);
    train(p, o, 3);
    saved(ATTN_F32, 8, false);
    load_refused(p, o,
                 PARTS("'att.W_q' is (3,8) in the file, (3,16) in the model; ", "; 'att.b_q' is (8) in the file, (16) in the model; ",
                       "'optimizer.momentum.att.W_q' is (3,8) in the file, (3,16) in the model",
                       "'optimizer.momentum.att.b_q' is (8) in the file, (16) in the model"));
    assert_int_equal(load(p, NULL, &error), ATTN_EMISMATCH);
    assert_contains(error.message,
                    "model: 'att.W_q' is (3,8) in the file, (3,16) in the model; 'att.b_q' is (8) in the file, (16) in the model");
    assert_null(strstr(error.message, "optimizer"));
    saved(ATTN_F64, 16, false);
    load_refused(p, o, PARTS("'att.W_q' is (3,16) float64 in the file, (3,16) float32 in the model", "; and 2 more"));
    saved(ATTN_F32, 16, true);
    load_refused(p, o, PARTS("model: the optimizer is 'adamw' in the file, 'sgd' here"));
    assert_int_equal(load(p, NULL, &error), ATTN_OK);
    save_ok(p, NULL, NULL, 0);
    load_refused(p, o, PARTS("model: the optimizer is '' in the file, 'sgd' here"));
    drop(p, o);
}

static void rewrite(const attn_file_tensor *tensors, int n, const char *steps)
{
    const attn_file_text texts[] = {{"optimizer", "sgd"}, {"optimizer.steps", steps}};
    assert_int_equal(attn_safetensors_write(path, tensors, n, texts, steps != NULL ? 2 : 1, NULL, NULL), ATTN_OK);
}

/* A good file's tensors, then one less, one more, one of other shape but the same size, and step counts that are none. */
static void one_wrong_piece_is_enough(void **state)
{
    (void)state;
    fresh_folder(FOLDER);
    saved(ATTN_F32, 8, false);
    attn_safetensors *f = attn_safetensors_read(path, NULL, NULL);
    attn_params *p = model(ATTN_F32, 8, 2, NULL);
    attn_optimizer *o = optimizer(p, false);
    attn_error error;
    attn_file_tensor x[9];
    for (int i = 0; i < 8; i++) {
        x[i] = attn_safetensors_get(f, i);
    }
    x[8] = (attn_file_tensor){"optimizer.momentum.stray", ATTN_F32, ATTN_SHAPE(1, 1), x[0].data};
    assert_string_equal(x[7].name, "table");

    rewrite(x, 7, "2");
    load_refused(p, o, PARTS("model: 'table' (4,2) is missing"));
    x[2].name = "optimizer.momentum.att.W";
    rewrite(x, 8, "2");
    load_refused(p, o, PARTS("model: 'optimizer.momentum.att.W_q' (3,8) is missing; 'optimizer.momentum.att.W' (3,8) is in the file only"));
    x[2].name = "optimizer.momentum.att.W_q";
    rewrite(x, 9, "2");
    load_refused(p, o, PARTS("model: 'optimizer.momentum.stray' (1,1) is in the file only"));
    x[8].name = "att.W_k";
    rewrite(x, 9, "2");
    load_refused(p, o, PARTS("model: 'att.W_k' (1,1) is in the file only"));
    x[7].shape = ATTN_SHAPE(1, 8);
    rewrite(x, 8, "2");
    load_refused(p, o, PARTS("model: 'table' is (1,8) in the file, (4,2) in the model"));
    x[7].shape = ATTN_SHAPE(4, 2);
    const char *counts[] = {"", "-1", "+1", "1x", " 1", "1.0", "9223372036854775808", "99999999999999999999"};
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        rewrite(x, 8, counts[i]);
        load_refused(p, o, PARTS("model: 'optimizer.steps' is '", counts[i], "a count was expected"));
    }
    rewrite(x, 8, NULL);
    load_refused(p, o, PARTS("'optimizer.steps' is '' in the file"));
    rewrite(x, 8, "9223372036854775807");
    assert_int_equal(load(p, o, &error), ATTN_OK);
    assert_int_equal(attn_optimizer_steps(o), INT64_MAX);
    attn_safetensors_free(f);
    drop(p, o);
}

/* A hundred parameters with names of that many digits. */
static attn_params *hundred(int digits, int64_t width)
{
    attn_params *p = attn_params_new(ATTN_F32, NULL);
    for (int i = 0; i < 100; i++) {
        char name[60];
        assert_in_range(snprintf(name, sizeof name, "W.%0*d", digits, i), 1, sizeof name - 1);
        attn_params_add(p, name, ATTN_SHAPE(width, 3), (attn_param_config){0});
    }
    assert_int_equal(attn_params_build(p, 0, NULL), ATTN_OK);
    return p;
}

/* A hundred differences: as many as fit, and the exact number of the others, wherever the space ends. */
static void many_differences_are_counted(void **state)
{
    (void)state;
    fresh_folder(FOLDER);
    for (int digits = 2; digits < 50; digits++) {
        attn_error error;
        attn_params *p = hundred(digits, 1), *q = hundred(digits, 2);
        int listed = 0, more = 0;
        save_ok(p, NULL, NULL, 0);
        assert_int_equal(load(q, NULL, &error), ATTN_EMISMATCH);
        for (const char *c = strstr(error.message, "'W."); c != NULL; c = strstr(c + 1, "'W.")) {
            listed++;
        }
        assert_contains(error.message, "; and ");
        assert_int_equal(sscanf(strstr(error.message, "; and "), "; and %d more", &more), 1);
        assert_int_equal(listed + more, 100);
        assert_true(listed > 3);
        assert_string_equal(error.message + strlen(error.message) - 5, " more");
        attn_params_free(p);
        attn_params_free(q);
    }
}

static void misuse_is_refused(void **state)
{
    (void)state;
    attn_error error = {0};
    fresh_folder(FOLDER);
    attn_params *unbuilt = attn_params_new(ATTN_F32, NULL), *p = model(ATTN_F32, 8, 1, NULL), *q = model(ATTN_F32, 8, 1, NULL);
    attn_optimizer *o = optimizer(p, true);
    assert_int_equal(attn_checkpoint_save(path, unbuilt, NULL, NULL, 0, &error), ATTN_EINVAL);
    assert_contains(error.message, "not built");
    assert_int_equal(attn_checkpoint_save(path, q, o, NULL, 0, &error), ATTN_EINVAL);
    assert_contains(error.message, "belongs to other parameters");
    assert_int_equal(attn_checkpoint_save(path, p, o, &(attn_file_text){"optimizer", "mine"}, 1, &error), ATTN_EINVAL);
    assert_contains(error.message, "metadata 'optimizer' is given twice");
    assert_int_equal(attn_checkpoint_save("-", p, o, NULL, 0, &error), ATTN_EINVAL);
    assert_int_equal(attn_checkpoint_save(FOLDER, p, o, NULL, 0, &error), ATTN_EIO);
    assert_int_equal(folder_entries(FOLDER), 0);
    save_ok(p, o, NULL, 0);
    assert_int_equal(load(unbuilt, NULL, &error), ATTN_EINVAL);
    assert_int_equal(load(q, o, &error), ATTN_EINVAL);
    drop(p, o);
    attn_params_free(q);
    attn_params_free(unbuilt);
}

static void a_full_disk_keeps_the_old_checkpoint(void **state)
{
    (void)state;
    attn_error error;
    fresh_folder(FOLDER);
    attn_params *p = model(ATTN_F32, 8, 1, NULL), *q = model(ATTN_F32, 8, 2, NULL), *large = model(ATTN_F32, 1000, 1, NULL);
    attn_optimizer *o = optimizer(p, true), *r = optimizer(q, true);
    train(p, o, 5);
    save_ok(p, o, NULL, 0);
    limit_file_size(4096);
    assert_int_equal(attn_checkpoint_save(path, large, NULL, NULL, 0, &error), ATTN_EIO);
    limit_file_size(0);
    assert_contains(error.message, "test_checkpoint.d/m.safetensors: cannot write: File too large");
    assert_int_equal(folder_entries(FOLDER), 1);
    assert_int_equal(load(q, r, &error), ATTN_OK);
    assert_true(same(p, o, q, r));
    save_ok(large, NULL, NULL, 0);
    assert_int_equal(folder_entries(FOLDER), 1);
    drop(p, o);
    drop(q, r);
    attn_params_free(large);
}

static void memory_may_run_out(void **state)
{
    (void)state;
    counting_allocator c;
    counting_init(&c, 0);
    fresh_folder(FOLDER);
    attn_params *p = model(ATTN_F32, 8, 1, &c.value);
    attn_optimizer *o = optimizer(p, true);
    attn_status status = ATTN_ENOMEM;
    long live = c.live, k = 0;
    while (status != ATTN_OK && k < 100) {
        attn_error error = {0};
        c.fail_at = c.allocations + ++k;
        status = attn_checkpoint_save(path, p, o, &(attn_file_text){"a", "b"}, 1, &error);
        assert_int_equal(error.status, status);
        assert_true(status == ATTN_OK || status == ATTN_ENOMEM);
        assert_int_equal(c.live, live);
        assert_int_equal(folder_entries(FOLDER), status == ATTN_OK);
    }
    assert_true(k > 5 && k < 100);
    drop(p, o);
    assert_int_equal(c.live, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(resuming_is_exact),
        cmocka_unit_test(files_say_what_they_hold),
        cmocka_unit_test(every_difference_is_named),
        cmocka_unit_test(one_wrong_piece_is_enough),
        cmocka_unit_test(many_differences_are_counted),
        cmocka_unit_test(misuse_is_refused),
        cmocka_unit_test(a_full_disk_keeps_the_old_checkpoint),
        cmocka_unit_test(memory_may_run_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

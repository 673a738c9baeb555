/* Files that were written once are read for ever: tests/kept/ holds models and a checkpoint of each version of the formats, and here stands
 * what they said on the day. They are never written anew. When a format gets another version, `test_kept FOLDER` writes the files of that
 * one, and prints their numbers. */
#include <stdio.h>
#include <string.h>

#include "support/disk.h"
#include "support/senses.h"

#include "attn/attention.h"
#include "attn/checkpoint.h"

#define KEPT ATTN_SOURCE_DIR "/tests/kept/"

/* ---- how they came to be ---- */

static attn_word_sense_config kept_config(void)
{
    attn_word_sense_config config = tiny_config();
    config.seeds = 2;
    config.patience = 2;
    return config;
}

static bool stop_soon(void *ctx, const attn_word_sense_progress *progress)
{
    (void)ctx;
    return progress->epoch < 1 || progress->steps < 2;
}

static attn_params *layer(uint64_t seed, attn_optimizer **o)
{
    attn_params *p = attn_params_new(ATTN_F64, NULL);
    (void)attn_attention_add(p, "att", (attn_attention_config){.query_dim = 4, .heads = 2, .score = ATTN_SCORE_ADDITIVE, .bias = true});
    assert_int_equal(attn_params_build(p, seed, NULL), ATTN_OK);
    *o = attn_adamw_new(p, (attn_adamw_config){.learning_rate = 0.1}, NULL);
    assert_non_null(*o);
    return p;
}

static void write_models(const char *folder)
{
    char path[300];
    attn_corpus *c = tiny_corpus(NULL), *dev = tiny_dev_corpus(NULL);
    (void)snprintf(path, sizeof path, "%s/model-2.safetensors", folder);
    train_to_file(c, dev, kept_config(), path);
    attn_word_sense *m = new_model(c, kept_config());
    assert_int_equal(attn_word_sense_train(m, c, dev, stop_soon, NULL, NULL), ATTN_EINTERRUPTED);
    (void)snprintf(path, sizeof path, "%s/unfinished-2.safetensors", folder);
    save_ok(m, path);
    attn_word_sense_free(m);
    attn_corpus_free(c);
    attn_corpus_free(dev);
}

static void write_checkpoint(const char *folder)
{
    char path[300];
    attn_optimizer *o;
    attn_params *p = layer(1, &o);
    for (int step = 0; step < 3; step++) {
        for (int id = 0; id < attn_params_count(p); id++) {
            memcpy(attn_params_grad(p, id), attn_params_value(p, id), (size_t)attn_shape_count(attn_params_shape(p, id)) * sizeof(double));
        }
        assert_int_equal(attn_optimizer_step(o, 1, NULL), ATTN_OK);
    }
    (void)snprintf(path, sizeof path, "%s/checkpoint-1.safetensors", folder);
    assert_int_equal(attn_checkpoint_save(path, p, o, &(attn_file_text){"note", "苹果"}, 1, NULL), ATTN_OK);
    attn_optimizer_free(o);
    attn_params_free(p);
}

/* ---- what they say ---- */

#define SENTENCE "the muddy bank of the river"
enum { TARGET = 2, SENSES = 3, WEIGHTS = 12, SUMS = 3 };

typedef struct said {
    double probabilities[SENSES], weights[WEIGHTS];
} said;

static said ask(attn_word_sense *m)
{
    said s;
    attn_corpus *c = attn_corpus_new(NULL);
    attn_prediction p = predict_ok(m, c, SENTENCE, TARGET);
    assert_int_equal(p.n_senses, SENSES);
    assert_int_equal(p.heads * p.length, WEIGHTS);
    assert_string_equal(p.senses[0], "shore");
    memcpy(s.probabilities, p.probabilities, sizeof s.probabilities);
    memcpy(s.weights, p.attention, sizeof s.weights);
    attn_corpus_free(c);
    return s;
}

/* Each element times its place in the set, of the values and of both moments. */
static void sum_up(attn_params *p, attn_optimizer *o, double sums[SUMS])
{
    int64_t place = 0;
    memset(sums, 0, SUMS * sizeof *sums);
    for (int id = 0; id < attn_params_count(p); id++) {
        const double *const arrays[] = {attn_params_value(p, id), attn_optimizer_slot(o, 0, id), attn_optimizer_slot(o, 1, id)};
        for (int64_t i = 0; i < attn_shape_count(attn_params_shape(p, id)); i++) {
            place++;
            for (int a = 0; a < SUMS; a++) {
                sums[a] += (double)place * arrays[a][i];
            }
        }
    }
}

static attn_word_sense *resumed(const char *path)
{
    attn_corpus *c = tiny_corpus(NULL), *dev = tiny_dev_corpus(NULL);
    attn_word_sense *m = load_ok(path);
    assert_false(attn_word_sense_finished(m));
    train_ok(m, c, dev);
    attn_corpus_free(c);
    attn_corpus_free(dev);
    return m;
}

static void load_checkpoint(const char *path, double sums[SUMS])
{
    attn_error error = {.message = ""};
    attn_optimizer *o;
    attn_params *p = layer(2, &o);
    attn_safetensors *f = attn_safetensors_read(path, NULL, &error);
    assert_string_equal(error.message, "");
    assert_non_null(f);
    assert_string_equal(attn_safetensors_text(f, "note"), "苹果");
    attn_status status = attn_checkpoint_load(f, p, o, &error);
    assert_string_equal(error.message, "");
    assert_int_equal(status, ATTN_OK);
    assert_int_equal(attn_optimizer_steps(o), 3);
    sum_up(p, o, sums);
    attn_safetensors_free(f);
    attn_optimizer_free(o);
    attn_params_free(p);
}

static void print(const char *what, const double *x, int n)
{
    printf("%s", what);
    for (int i = 0; i < n; i++) {
        printf("%s%.17g", i > 0 ? ", " : "", x[i]);
    }
    printf("\n");
}

static int write_all(const char *folder)
{
    char path[300];
    double sums[SUMS];
    write_models(folder);
    write_checkpoint(folder);
    (void)snprintf(path, sizeof path, "%s/model-2.safetensors", folder);
    attn_word_sense *m = load_ok(path);
    said s = ask(m);
    attn_word_sense_free(m);
    print("probabilities: ", s.probabilities, SENSES);
    print("weights: ", s.weights, WEIGHTS);
    (void)snprintf(path, sizeof path, "%s/unfinished-2.safetensors", folder);
    m = resumed(path);
    s = ask(m);
    attn_word_sense_free(m);
    print("resumed: ", s.probabilities, SENSES);
    (void)snprintf(path, sizeof path, "%s/checkpoint-1.safetensors", folder);
    load_checkpoint(path, sums);
    print("sums: ", sums, SUMS);
    return 0;
}

/* ---- and always will ---- */

/* Version 1 had no neighbours. The weights are those of both. */
static const double said_of_version[][SENSES] = {{0.40736903134070257, 0.35843720205664648, 0.23419376660265095},
                                                 {0.49262543586016749, 0.31634477712106479, 0.19102978701876766}};
static const double weights[WEIGHTS] = {0.16681689769029617, 0.1565166711807251,  0.17293493449687958, 0.17177848517894745,
                                        0.16706281155347824, 0.16489023715257645, 0.1582879051566124,  0.17960293591022491,
                                        0.17481210082769394, 0.17218609899282455, 0.15825702995061874, 0.15685395151376724};
enum { VERSIONS = sizeof said_of_version / sizeof said_of_version[0] };

/* Instruction sets differ in the last bits of float32. */
static void models(void **state)
{
    (void)state;
    for (int version = 1; version <= VERSIONS; version++) {
        char path[300];
        (void)snprintf(path, sizeof path, KEPT "model-%d.safetensors", version);
        attn_word_sense *m = load_ok(path);
        said s = ask(m);
        assert_all_close(s.probabilities, said_of_version[version - 1], SENSES, 1e-5, 0);
        assert_all_close(s.weights, weights, WEIGHTS, 1e-5, 1e-7);
        assert_int_equal(attn_word_sense_words(m), 2);
        assert_int_equal(attn_word_sense_support(m, attn_word_sense_find(m, "bat"), 1), 3);
        assert_int_equal(attn_word_sense_get_config(m).patience, 2);
        assert_close(attn_word_sense_get_config(m).neighbours, version == 1 ? 0 : 0.3, 0, 0);
        assert_true(attn_word_sense_finished(m) && attn_word_sense_knows(m, "cave") && !attn_word_sense_knows(m, "riverbank"));
        attn_word_sense_free(m);
    }
}

/* Their moments, best epochs and places in their runs. Steps of AdamW make more of the last bits than a prediction does. */
static void interrupted_models(void **state)
{
    (void)state;
    for (int version = 1; version <= VERSIONS; version++) {
        char path[300];
        (void)snprintf(path, sizeof path, KEPT "unfinished-%d.safetensors", version);
        attn_word_sense *m = resumed(path);
        said s = ask(m);
        assert_all_close(s.probabilities, said_of_version[version - 1], SENSES, 1e-3, 0);
        attn_word_sense_free(m);
    }
}

static void a_checkpoint(void **state)
{
    (void)state;
    static const double expected[SUMS] = {-100.18645868322361, -34.583611524300245, 1.3456669945494193};
    double sums[SUMS];
    load_checkpoint(KEPT "checkpoint-1.safetensors", sums);
    assert_all_close(sums, expected, SUMS, 1e-13, 0);
}

int main(int argc, char **argv)
{
    if (argc == 2) {
        return write_all(argv[1]);
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(models),
        cmocka_unit_test(interrupted_models),
        cmocka_unit_test(a_checkpoint),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

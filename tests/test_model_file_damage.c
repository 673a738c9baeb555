/* Model files whose parts do not fit together: every text and tensor wrong in turn, each refused with its name. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/disk.h"
#include "support/senses.h"

#include "attn/checkpoint.h"

#define FOLDER "test_model_file_damage.d"
static const char good[] = FOLDER "/good.safetensors", bad[] = FOLDER "/bad.safetensors";

/* ---- a file with one thing changed ---- */

enum { MOST = 100 };

typedef struct parts {
    attn_safetensors *f;
    attn_file_tensor tensor[MOST];
    attn_file_text text[MOST];
    int tensors, texts;
} parts;

static parts open_parts(void)
{
    parts p = {.f = attn_safetensors_read(good, NULL, NULL)};
    assert_non_null(p.f);
    p.tensors = attn_safetensors_count(p.f);
    p.texts = attn_safetensors_text_count(p.f);
    assert_true(p.tensors < MOST && p.texts < MOST);
    for (int i = 0; i < p.tensors; i++) {
        p.tensor[i] = attn_safetensors_get(p.f, i);
    }
    for (int i = 0; i < p.texts; i++) {
        p.text[i] = attn_safetensors_text_at(p.f, i);
    }
    return p;
}

/* An allocator that refuses what is out of proportion to the files here, all of which are small. */
typedef struct little_memory {
    size_t largest;
    long live;
} little_memory;

static void *alloc_little(void *ctx, size_t size)
{
    little_memory *memory = ctx;
    memory->largest = size > memory->largest ? size : memory->largest;
    void *ptr = size < 1000000 ? malloc(size) : NULL;
    memory->live += ptr != NULL;
    return ptr;
}

static void free_little(void *ctx, void *ptr)
{
    little_memory *memory = ctx;
    memory->live -= ptr != NULL;
    free(ptr);
}

/* Writes the parts; loading them fails so. */
static void fails(parts *p, attn_status status, const char *message)
{
    attn_error error = {.message = ""};
    little_memory memory = {.largest = 0};
    const attn_allocator little = {alloc_little, free_little, &memory};
    assert_int_equal(attn_safetensors_write(bad, p->tensor, p->tensors, p->text, p->texts, NULL, &error), ATTN_OK);
    attn_safetensors_free(p->f);
    attn_word_sense *m = attn_word_sense_load(bad, &little, &error);
    if (m != NULL) {
        print_error("loaded, expected: %s\n", message);
    }
    assert_null(m);
    assert_contains(error.message, FOLDER "/bad.safetensors: ");
    assert_contains(error.message, message);
    assert_int_equal(error.status, status);
    assert_int_equal(memory.live, 0);
    assert_true(memory.largest < 1000000); /* nothing of a size that the file merely claims */
}

/* The text of that key becomes `value`; NULL takes it away. */
static void set_text(parts *p, const char *key, const char *value)
{
    for (int i = 0; i < p->texts; i++) {
        if (strcmp(p->text[i].key, key) == 0) {
            p->text[i].value = value;
            if (value == NULL) {
                p->text[i] = p->text[--p->texts];
            }
            return;
        }
    }
    fail_msg("no text %s", key);
}

static void text_fails(const char *key, const char *value, const char *message)
{
    parts p = open_parts();
    set_text(&p, key, value);
    fails(&p, ATTN_EFORMAT, message);
}

/* The first `from` in a text becomes `to`. */
static void edit_fails(const char *key, const char *from, const char *to, attn_status status, const char *message)
{
    parts p = open_parts();
    const char *text = attn_safetensors_text(p.f, key), *at = strstr(text, from);
    if (at == NULL) {
        print_error("%s is %s\n", key, text);
    }
    assert_non_null(at);
    char *edited = malloc(strlen(text) + strlen(to) + 1);
    (void)sprintf(edited, "%.*s%s%s", (int)(at - text), text, to, at + strlen(from));
    set_text(&p, key, edited);
    fails(&p, status, message);
    free(edited);
}

static attn_file_tensor *tensor_named(parts *p, const char *name)
{
    for (int i = 0; i < p->tensors; i++) {
        if (strcmp(p->tensor[i].name, name) == 0) {
            return &p->tensor[i];
        }
    }
    fail_msg("no tensor %s", name);
    return NULL;
}

static int make_good(void **state)
{
    (void)state;
    attn_corpus *c = tiny_corpus(NULL);
    attn_word_sense_config config = tiny_config();
    config.seeds = 2;
    fresh_folder(FOLDER);
    train_to_file(c, NULL, config, good);
    attn_corpus_free(c);
    return 0;
}

/* ---- texts ---- */

static void other_formats_are_refused(void **state)
{
    (void)state;
    text_fails("attn.model", NULL, "no word-sense model: \"attn.model\" is missing, expected attn.word-sense/1 to 2");
    const char *const others[] = {"attn.word-sense/3",
                                  "attn.word-sense/0",
                                  "attn.word-sense/",
                                  "attn.word-sense/12",
                                  "attn.word-sense/2 ",
                                  "attn.word-sens",
                                  "1",
                                  ""};
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        char message[100];
        (void)snprintf(message, sizeof message, "\"attn.model\" is %s, expected attn.word-sense/1 to 2", others[i]);
        text_fails("attn.model", others[i], message);
    }
    text_fails("attn.model", "a\nb", "\"attn.model\" is a?b, expected");
}

static void every_text_is_needed_and_checked(void **state)
{
    (void)state;
    const char *const rubbish[] = {NULL, "", "{", "[1", "null", "7", "\"x\"", "[]", "{}", "[{}]", "[[]]", "[null]", "{\"a\":1,\"a\":2}"};
    for (size_t i = 0; i < sizeof rubbish / sizeof rubbish[0]; i++) {
        text_fails("attn.config", rubbish[i], "onfiguration");
        text_fails("attn.senses", rubbish[i], "senses");
        text_fails("attn.training", rubbish[i], "no progress of training, or not of 2 members");
        if (rubbish[i] == NULL || strcmp(rubbish[i], "[]") != 0) { /* that one is a vocabulary, though too small */
            text_fails("attn.vocabulary", rubbish[i], "vocabulary");
        }
    }
}

static void every_number_of_the_configuration_is_checked(void **state)
{
    (void)state;
    const char *const names[] = {"dim",
                                 "heads",
                                 "hidden",
                                 "window",
                                 "min_count",
                                 "seeds",
                                 "epochs",
                                 "batch",
                                 "sense_cap",
                                 "learning_rate",
                                 "weight_decay",
                                 "clip",
                                 "dropout",
                                 "word_dropout",
                                 "attention_dropout",
                                 "label_smoothing",
                                 "prior",
                                 "neighbours",
                                 "patience"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        char from[60], message[60];
        (void)snprintf(from, sizeof from, "\"%s\":", names[i]);
        (void)snprintf(message, sizeof message, "%s", names[i]);
        edit_fails("attn.config", from, "\"x\":", ATTN_EFORMAT, message); /* missing */
        const char *const values[] = {"-1,\"x\":", "1e300,\"x\":", "\"7\",\"x\":", "null,\"x\":", "99999999999999,\"x\":"};
        for (size_t k = 0; k < sizeof values / sizeof values[0]; k++) {
            char to[100];
            parts p = open_parts();
            (void)snprintf(to, sizeof to, "\"%s\":%s", names[i], values[k]);
            const char *text = attn_safetensors_text(p.f, "attn.config"), *at = strstr(text, from);
            char *edited = malloc(strlen(text) + sizeof to);
            (void)sprintf(edited, "%.*s%s%s", (int)(at - text), text, to, at + strlen(from));
            set_text(&p, "attn.config", edited);
            assert_int_equal(attn_safetensors_write(bad, p.tensor, p.tensors, p.text, p.texts, NULL, NULL), ATTN_OK);
            attn_safetensors_free(p.f);
            attn_error error;
            assert_null(attn_word_sense_load(bad, NULL, &error));
            assert_true(error.status == ATTN_EFORMAT || error.status == ATTN_EINVAL);
            assert_contains(error.message, names[i]);
            free(edited);
        }
    }
    edit_fails("attn.config", "\"scaled-dot\"", "\"scaled\"", ATTN_EFORMAT, "'score' is missing or not in its range");
    edit_fails("attn.config", "\"relative\"", "\"absolute\"", ATTN_EFORMAT, "'position' is missing or not in its range");
    edit_fails("attn.config", "\"vectors\":\"corpus\"", "\"vectors\":3", ATTN_EFORMAT, "'vectors' is missing or not in its range");
    edit_fails("attn.config", "\"freeze_vectors\":false", "\"freeze_vectors\":0", ATTN_EFORMAT, "'freeze_vectors'");
    edit_fails("attn.config", "\"seed\":\"7\"", "\"seed\":\"18446744073709551616\"", ATTN_EFORMAT, "'seed'");
    edit_fails("attn.config", "\"seed\":\"7\"", "\"seed\":\"-7\"", ATTN_EFORMAT, "'seed'");
    edit_fails("attn.config", "\"seed\":\"7\"", "\"seed\":\"\"", ATTN_EFORMAT, "'seed'");
    edit_fails("attn.config", "\"batch\":4", "\"batch\":0", ATTN_EFORMAT, "batch 0, expected at least 1");
    edit_fails("attn.config", "\"min_count\":1", "\"min_count\":0", ATTN_EFORMAT, "min_count is 0");
    edit_fails("attn.config", "\"label_smoothing\":0.1", "\"label_smoothing\":-0.1", ATTN_EFORMAT,
               "label_smoothing is -0.1, expected at least 0");
}

static void words_and_senses_are_checked(void **state)
{
    (void)state;
    edit_fails("attn.vocabulary", "\"sat\"", "\"we\"", ATTN_EFORMAT, "vocabulary: entry 1 is no word, or stands twice");
    edit_fails("attn.vocabulary", "\"sat\"", "17", ATTN_EFORMAT, "vocabulary: entry 1 is no word, or stands twice");
    edit_fails("attn.vocabulary", "\"sat\",", "", ATTN_EMISMATCH, "'0.embedding' is (60,6) in the file, (59,6) in the model");
    edit_fails("attn.senses", "\"word\":\"bank\"", "\"word\":\"\"", ATTN_EFORMAT, "entry 0 lacks a word, a sense or a count");
    edit_fails("attn.senses", "\"sense\":\"shore\"", "\"sense\":1", ATTN_EFORMAT, "entry 0 lacks a word, a sense or a count");
    edit_fails("attn.senses", "\"count\":4", "\"count\":-4", ATTN_EFORMAT, "entry 0 lacks a word, a sense or a count");
    edit_fails("attn.senses", "\"count\":4", "\"count\":4.5", ATTN_EFORMAT, "entry 0 lacks a word, a sense or a count");
    edit_fails("attn.senses", "\"word\":\"bank\"", "\"word\":\"bat\"", ATTN_EFORMAT, "entry 3: the senses of a word must stand together");
    edit_fails("attn.senses", "{\"word\":\"bank\",\"sense\":\"row\",\"count\":1},", "", ATTN_EMISMATCH,
               "'0.senses.W' is (12,5) in the file, (12,4) in the model; '0.senses.b' is (5) in the file, (4) in the model; '1.senses.W'");
}

static void progress_is_checked(void **state)
{
    (void)state;
    const char *const names[] = {"epochs", "step", "loss", "finished", "best_score", "best_epoch", "optimizer_steps"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        char from[40];
        (void)snprintf(from, sizeof from, "\"%s\":", names[i]);
        edit_fails("attn.training", from, "\"x\":", ATTN_EFORMAT, "training: a member's progress is incomplete");
    }
    edit_fails("attn.training", "\"epochs\":3", "\"epochs\":-3", ATTN_EFORMAT, "a member's progress is incomplete");
    edit_fails("attn.training", "\"step\":0", "\"step\":2", ATTN_EFORMAT, "a member's progress is incomplete"); /* though finished */
    edit_fails("attn.training", "\"optimizer_steps\":0", "\"optimizer_steps\":9", ATTN_EFORMAT, "a member's progress is incomplete");
    /* Counts that no training reaches, and from which it could not go on. */
    edit_fails("attn.training", "\"epochs\":3", "\"epochs\":2147483647", ATTN_EFORMAT, "a member's progress is incomplete");
    edit_fails("attn.training", "\"best_epoch\":0", "\"best_epoch\":4", ATTN_EFORMAT, "a member's progress is incomplete");
    edit_fails("attn.training", "\"step\":0,\"loss\":0.0,\"finished\":true", "\"step\":9223372036854775807,\"loss\":0.0,\"finished\":false",
               ATTN_EFORMAT, "a member's progress is incomplete");
    edit_fails("attn.training", "\"finished\":true,\"best_score\":0.0,\"best_epoch\":0,\"optimizer_steps\":0",
               "\"finished\":false,\"best_score\":0.0,\"best_epoch\":0,\"optimizer_steps\":9223372036854775807", ATTN_EFORMAT,
               "a member's progress is incomplete");
    edit_fails("attn.training", "\"loss\":0.0", "\"loss\":1e308", ATTN_EFORMAT, "a member's progress is incomplete");
    edit_fails("attn.training", "\"best_score\":0.0", "\"best_score\":3.5", ATTN_EFORMAT, "a member's progress is incomplete");
    edit_fails("attn.training", "\"epochs_planned\":3", "\"epochs_planned\":-1", ATTN_EFORMAT, "no progress of training");
    edit_fails("attn.training", "\"training_data\":\"", "\"training_data\":\"0", ATTN_EFORMAT, "no progress of training");
    edit_fails("attn.training", "\"training_data\":\"", "\"training_data\":\"x", ATTN_EFORMAT, "no progress of training");
}

/* ---- another configuration ---- */

static void tensors_of_another_configuration_are_named(void **state)
{
    (void)state;
    edit_fails("attn.config", "\"dim\":6", "\"dim\":7", ATTN_EMISMATCH,
               "the tensors do not fit the configuration: '0.embedding' is (60,6) in the file, (60,7) in the model; '0.attention.W_q' is "
               "(6,6) in the file, (7,6) in the model; ");
    edit_fails("attn.config", "\"dim\":6", "\"dim\":7", ATTN_EMISMATCH, " more"); /* of two members not all fit into the line */
    edit_fails("attn.config", "\"heads\":2", "\"heads\":3", ATTN_EMISMATCH, "'0.attention.W_q' is (6,6) in the file, (6,9) in the model");
    edit_fails("attn.config", "\"window\":4", "\"window\":5", ATTN_EMISMATCH,
               "'0.attention.position' is (2,9) in the file, (2,11) in the model; '1.attention.position' is");
    edit_fails("attn.config", "\"scaled-dot\"", "\"additive\"", ATTN_EMISMATCH, "'0.attention.w' (2,3) is missing");
    edit_fails("attn.config", "\"relative\"", "\"none\"", ATTN_EMISMATCH, "'0.attention.position' (2,9) is in the file only");
    edit_fails("attn.config", "\"seeds\":2", "\"seeds\":1", ATTN_EFORMAT, "no progress of training, or not of 1 members");
    /* Far more than there is: refused before any memory of that size is asked for. */
    edit_fails("attn.config", "\"hidden\":3", "\"hidden\":4096", ATTN_EMISMATCH, "'0.attention.W_q' is (6,6) in the file, (6,8192)");
    edit_fails("attn.config", "\"heads\":2", "\"heads\":64", ATTN_EMISMATCH, "'0.attention.W_q' is (6,6) in the file, (6,192)");
    edit_fails("attn.config", "\"dim\":6", "\"dim\":4096", ATTN_EMISMATCH, "'0.embedding' is (60,6) in the file, (60,4096)");
    /* Unfinished, it would have an optimiser. */
    edit_fails("attn.training", "\"finished\":true,\"best_score\":0.0,\"best_epoch\":0,\"optimizer_steps\":0",
               "\"finished\":false,\"best_score\":0.0,\"best_epoch\":0,\"optimizer_steps\":12", ATTN_EMISMATCH,
               "'0.optimizer.m.embedding' (60,6) is missing");
}

static void every_tensor_is_needed_and_checked(void **state)
{
    (void)state;
    static const double zeros[1000];
    parts all = open_parts();
    attn_safetensors_free(all.f);
    for (int i = 0; i < all.tensors; i++) {
        char message[400], name[100], shape[ATTN_SHAPE_TEXT];
        parts p = open_parts();
        (void)snprintf(name, sizeof name, "%s", p.tensor[i].name);
        (void)attn_shape_format(p.tensor[i].shape, shape);
        bool any_number = strcmp(name, "neighbours") == 0; /* of rows */
        (void)snprintf(message, sizeof message, "'%s' %s is missing", name, any_number ? "(0,3)" : shape);
        p.tensor[i] = p.tensor[--p.tensors];
        fails(&p, ATTN_EMISMATCH, message);

        p = open_parts();
        p.tensor[i].dtype = ATTN_F64;
        p.tensor[i].data = zeros;
        (void)snprintf(message, sizeof message, "'%s' is %s float64 in the file, %s float32 in the model", name, shape, shape);
        fails(&p, ATTN_EMISMATCH, message);

        p = open_parts();
        p.tensor[i].shape.dim[any_number ? 1 : 0]++;
        p.tensor[i].data = zeros;
        (void)snprintf(message, sizeof message, "'%s' is (", name);
        fails(&p, ATTN_EMISMATCH, message);
    }
    parts p = open_parts();
    p.tensor[p.tensors++] = (attn_file_tensor){"2.embedding", ATTN_F32, ATTN_SHAPE(2, 3), zeros};
    fails(&p, ATTN_EMISMATCH, "the tensors do not fit the configuration: '2.embedding' (2,3) is in the file only");
}

static void numbers_that_are_not_finite_are_refused(void **state)
{
    (void)state;
    const float wrong[] = {NAN, INFINITY, -INFINITY};
    for (int i = 0; i < 3; i++) {
        float values[5] = {0};
        parts p = open_parts();
        values[i + 2] = wrong[i];
        tensor_named(&p, "1.senses.b")->data = values;
        char message[100];
        (void)snprintf(message, sizeof message, "tensor '1.senses.b': element %d is not finite", i + 2);
        fails(&p, ATTN_ENONFINITE, message);
    }
}

/* Entry i of the neighbours becomes another one. */
static void neighbour_fails(int i, float row, float sense, float count, attn_status status, const char *message)
{
    parts p = open_parts();
    attn_file_tensor *x = tensor_named(&p, "neighbours");
    size_t size = (size_t)attn_shape_count(x->shape) * sizeof(float);
    float *values = malloc(size);
    memcpy(values, x->data, size);
    memcpy(values + 3 * (int64_t)i, (const float[]){row, sense, count}, 3 * sizeof(float));
    x->data = values;
    fails(&p, status, message);
    free(values);
}

static void neighbours_are_checked(void **state)
{
    (void)state;
    const char *const none = "neighbours: entry 1 is no word, sense and count", *const misplaced =
                                                                                    "neighbours: entry 1 is not in its place";
    neighbour_fails(1, 0, 0, 1, ATTN_EFORMAT, none);        /* the unknown word */
    neighbour_fails(1, -1114112, 0, 1, ATTN_EFORMAT, none); /* behind the last character */
    neighbour_fails(1, -1, 0, 1, ATTN_EFORMAT, misplaced);  /* a character, before words */
    neighbour_fails(1, 60, 0, 1, ATTN_EFORMAT, none);       /* there are 59 words */
    neighbour_fails(1, 2.5F, 0, 1, ATTN_EFORMAT, none);
    neighbour_fails(1, 1e30F, 0, 1, ATTN_EFORMAT, none);
    neighbour_fails(1, 2, -1, 1, ATTN_EFORMAT, none);
    neighbour_fails(1, 2, 5, 1, ATTN_EFORMAT, none); /* there are 5 senses */
    neighbour_fails(1, 2, 0.5F, 1, ATTN_EFORMAT, none);
    neighbour_fails(1, 2, 0, 0, ATTN_EFORMAT, none);
    neighbour_fails(1, 2, 0, -1, ATTN_EFORMAT, none);
    neighbour_fails(1, 2, 0, NAN, ATTN_ENONFINITE, "tensor 'neighbours': element 5 is not finite");
    neighbour_fails(1, 1, 0, 1, ATTN_EFORMAT, misplaced); /* twice the same */
    neighbour_fails(0, 59, 0, 1, ATTN_EFORMAT, misplaced);
    neighbour_fails(0, 1, 4, 1, ATTN_EFORMAT, misplaced); /* of the other word, before those of the first */
    edit_fails("attn.config", "\"neighbours\":0.29999999999999999", "\"neighbours\":0.0", ATTN_EMISMATCH,
               "'neighbours' (63,3) is in the file only");
    edit_fails("attn.model", "attn.word-sense/2", "attn.word-sense/1", ATTN_EMISMATCH, "'neighbours' (63,3) is in the file only");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(other_formats_are_refused),
        cmocka_unit_test(every_text_is_needed_and_checked),
        cmocka_unit_test(every_number_of_the_configuration_is_checked),
        cmocka_unit_test(words_and_senses_are_checked),
        cmocka_unit_test(progress_is_checked),
        cmocka_unit_test(tensors_of_another_configuration_are_named),
        cmocka_unit_test(every_tensor_is_needed_and_checked),
        cmocka_unit_test(numbers_that_are_not_finite_are_refused),
        cmocka_unit_test(neighbours_are_checked),
    };
    return cmocka_run_group_tests(tests, make_good, NULL);
}

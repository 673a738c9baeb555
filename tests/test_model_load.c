/* How a model is loaded quickly: tensors from the file to their places, words without a decoder where they need none, no gradients. The
 * result is what the plain ways give. */
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/disk.h"
#include "support/files.h"
#include "support/senses.h"

#include "core/json_scan.h"
#include "nn/nn.h"
#include "word_sense/model.h"

#define FOLDER "test_model_load.d"
static const char good[] = FOLDER "/good.safetensors", edited[] = FOLDER "/edited.safetensors";

static int make_good(void **state)
{
    (void)state;
    attn_corpus *c = tiny_corpus(NULL);
    assert_int_equal(add_sentence(c, "row", 0, "bank \" \\ \\\" \\u0041 \xE9\x93\xB6"), ATTN_OK);
    fresh_folder(FOLDER);
    train_to_file(c, NULL, tiny_config(), good);
    attn_corpus_free(c);
    return 0;
}

/* ---- files in parts ---- */

static void parts_come_in_any_order(void **state)
{
    (void)state;
    const char *path = FOLDER "/parts";
    attn__parts p;
    char text[8] = "";
    attn_error error;
    put_text(path, "0123456789");
    assert_int_equal(attn__parts_open(&p, path, &error), ATTN_OK);
    assert_true(p.fd >= 0);
    assert_int_equal(p.size, 10);
    assert_int_equal(attn__parts_read(&p, 7, text, 3, &error), ATTN_OK);
    assert_string_equal(text, "789");
    assert_int_equal(attn__parts_read(&p, 2, text, 2, &error), ATTN_OK);
    assert_string_equal(text, "239");
    assert_int_equal(attn__parts_read(&p, 10, text, 0, &error), ATTN_OK);
    put_text(path, "01234567"); /* the same file, cut */
    assert_int_equal(attn__parts_read(&p, 7, text, 3, &error), ATTN_EIO);
    assert_string_equal(error.message, FOLDER "/parts: cannot read: it has become shorter");
    attn__parts_close(&p);
    assert_int_equal(p.fd, -1);
    assert_int_equal(attn__parts_open(&p, FOLDER "/none", &error), ATTN_EIO);
    assert_string_equal(error.message, FOLDER "/none: cannot open: No such file or directory");
    assert_int_equal(attn__parts_open(&p, FOLDER, &error), ATTN_OK); /* to be read as a whole, which then fails */
    assert_int_equal(p.fd, -1);
    assert_int_equal(attn__parts_open(&p, "-", &error), ATTN_OK);
    assert_int_equal(p.fd, -1);
}

/* Memory with the bytes of the file, which writing to it does not change; none of what cannot be mapped. */
static void a_file_is_mapped_if_it_can_be(void **state)
{
    (void)state;
    const char *path = FOLDER "/mapped";
    attn__parts p, closed = {.path = path, .fd = -1, .size = 8}, unreadable = {.path = path, .size = 8};
    put_text(path, "01234567");
    assert_int_equal(attn__parts_open(&p, path, NULL), ATTN_OK);
    attn__mapping m = attn__parts_map(&p);
    attn__parts_close(&p);
    assert_int_equal(m.size, 8);
    assert_memory_equal(m.bytes, "01234567", 8);
    memcpy(m.bytes, "abc", 3);
    size_t size;
    char *bytes = take_file(path, &size);
    assert_string_equal(bytes, "01234567");
    free(bytes);
    attn__mapping_end(&m);
    assert_null(m.bytes);
    attn__mapping_end(&m); /* nothing to do */

    assert_null(attn__parts_map(&closed).bytes);
    unreadable.fd = open(path, O_WRONLY);
    assert_true(unreadable.fd >= 0);
    assert_null(attn__parts_map(&unreadable).bytes);
    close(unreadable.fd);
    put_text(path, "");
    assert_int_equal(attn__parts_open(&p, path, NULL), ATTN_OK);
    assert_null(attn__parts_map(&p).bytes);
    attn__parts_close(&p);
}

static void tensors_in_the_file_are_those_of_a_whole_read(void **state)
{
    (void)state;
    attn_safetensors *whole = attn_safetensors_read(good, NULL, NULL), *open = attn__safetensors_open(good, NULL, NULL);
    assert_non_null(whole);
    assert_non_null(open);
    assert_int_equal(attn_safetensors_count(open), attn_safetensors_count(whole));
    assert_int_equal(attn_safetensors_text_count(open), attn_safetensors_text_count(whole));
    for (int i = 0; i < attn_safetensors_count(whole); i++) {
        attn_file_tensor a = attn_safetensors_get(whole, i), b = attn_safetensors_get(open, i);
        size_t size = (size_t)attn_shape_count(a.shape) * sizeof(float);
        float *filled = calloc(1, size), *copied = calloc(1, size);
        assert_string_equal(a.name, b.name);
        assert_null(b.data);
        int64_t count = attn_shape_count(a.shape), half = count / 2; /* in two pieces */
        assert_int_equal(attn__safetensors_fill(open, i, half, count - half, filled + half, NULL), ATTN_OK);
        assert_int_equal(attn__safetensors_fill(open, i, 0, half, filled, NULL), ATTN_OK);
        assert_int_equal(attn__safetensors_fill(whole, i, half, count - half, copied + half, NULL), ATTN_OK);
        assert_int_equal(attn__safetensors_fill(whole, i, 0, half, copied, NULL), ATTN_OK);
        assert_memory_equal(filled, a.data, size);
        assert_memory_equal(copied, a.data, size);
        free(filled);
        free(copied);
    }
    attn_safetensors_free(whole);
    attn_safetensors_free(open);
}

/* A model from a pipe, which can only be read as a whole, is the same model. */
static void *feed(void *path)
{
    size_t size;
    char *bytes = take_file(good, &size);
    put_bytes(path, bytes, size);
    free(bytes);
    return NULL;
}

static void a_pipe_is_read_as_a_whole(void **state)
{
    (void)state;
    char pipe_path[] = FOLDER "/pipe";
    pthread_t writer;
    assert_int_equal(mkfifo(pipe_path, 0600), 0);
    assert_int_equal(pthread_create(&writer, NULL, feed, pipe_path), 0);
    attn_word_sense *m = load_ok(pipe_path);
    assert_int_equal(pthread_join(writer, NULL), 0);
    save_ok(m, edited);
    assert_same_file(edited, good);
    attn_word_sense_free(m);
}

static void a_file_that_ends_too_soon_is_named_once(void **state)
{
    (void)state;
    size_t size;
    attn_error error;
    char *bytes = take_file(good, &size);
    put_bytes(edited, bytes, size);
    attn_safetensors *f = attn__safetensors_open(edited, NULL, NULL);
    assert_non_null(f);
    put_bytes(edited, bytes, size - 4);
    float last[4096];
    int n = attn_safetensors_count(f) - 1;
    assert_true(attn_shape_count(attn_safetensors_get(f, n).shape) < 4096);
    assert_int_equal(attn__safetensors_fill(f, n, 0, attn_shape_count(attn_safetensors_get(f, n).shape), last, &error), ATTN_EIO);
    assert_string_equal(error.message, FOLDER "/edited.safetensors: cannot read: it has become shorter");
    attn_safetensors_free(f);
    free(bytes);
}

/* ---- words ---- */

/* The good model with another text for its vocabulary. */
static attn_word_sense *with_vocabulary(const char *text, attn_error *error)
{
    enum { MOST = 40 };
    attn_safetensors *f = attn_safetensors_read(good, NULL, NULL);
    attn_file_tensor tensors[MOST];
    attn_file_text texts[MOST];
    int n = attn_safetensors_count(f), k = attn_safetensors_text_count(f);
    assert_true(n <= MOST && k <= MOST);
    for (int i = 0; i < n; i++) {
        tensors[i] = attn_safetensors_get(f, i);
    }
    for (int i = 0; i < k; i++) {
        texts[i] = attn_safetensors_text_at(f, i);
        texts[i].value = strcmp(texts[i].key, "attn.vocabulary") == 0 ? text : texts[i].value;
    }
    assert_int_equal(attn_safetensors_write(edited, tensors, n, texts, k, NULL, NULL), ATTN_OK);
    attn_safetensors_free(f);
    return attn_word_sense_load(edited, NULL, error);
}

static char *vocabulary_of_good(void)
{
    attn_safetensors *f = attn_safetensors_read(good, NULL, NULL);
    char *text = strdup(attn_safetensors_text(f, "attn.vocabulary"));
    attn_safetensors_free(f);
    return text;
}

/* `text` with the first `from` made `to`. */
static char *replaced(const char *text, const char *from, const char *to)
{
    const char *at = strstr(text, from);
    assert_non_null(at);
    char *result = malloc(strlen(text) + strlen(to) + 1);
    (void)sprintf(result, "%.*s%s%s", (int)(at - text), text, to, at + strlen(from));
    return result;
}

/* Each kind of byte that ends a run, at each place of texts of each length, before others or alone; and bytes next to those kinds. */
static void runs_of_plain_bytes_end_where_they_should(void **state)
{
    (void)state;
    static const unsigned char bytes[] = {'"', '\\', 0, 1, 0x1F, ' ', '!', '#', '[', ']', 0x7F, 0x80, 0x81, 0xA2, 0xDC, 0xFF};
    for (size_t length = 0; length < 20; length++) {
        for (size_t at = 0; at < length; at++) {
            for (size_t k = 0; k < sizeof bytes; k++) {
                char text[20];
                memset(text, 'x', sizeof text);
                text[at] = (char)bytes[k];
                text[length - 1] = at % 2 == 0 && at + 1 < length ? '"' : text[length - 1];
                size_t last = length - (at % 2 == 0 && at + 1 < length);
                bool ends = bytes[k] == '"' || bytes[k] == '\\' || bytes[k] < ' ';
                assert_int_equal(attn__scan_plain(text, text + length, false), ends ? at : last);
                assert_int_equal(attn__scan_plain(text, text + length, true), ends || bytes[k] >= 0x80 ? at : last);
            }
        }
    }
}

/* Whatever way of writing JSON was chosen: the same words, and so the same bytes when saved again. */
static void words_are_read_however_they_are_written(void **state)
{
    (void)state;
    static const char *const ways[][2] = {
        {"[\"we\",", "[\"we\" , "},         {"[\"we\",", " [ \"we\","},          {"[\"we\",", "[\"\\u0077e\","},
        {"\"sat\"", "\"\\u0073\\u0061t\""}, {"\"\xE9\x93\xB6\"", "\"\\u94F6\""}, {"\"the\"", "\"the\"\t\r\n"},

    };
    char *text = vocabulary_of_good();
    for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++) {
        attn_error error = {.message = ""};
        char *other = replaced(text, ways[i][0], ways[i][1]);
        attn_word_sense *m = with_vocabulary(other, &error);
        assert_string_equal(error.message, "");
        assert_true(attn__token_row(m, "we") == 1 && attn__token_row(m, "sat") == 2);
        assert_true(attn__token_row(m, "\"") > 0 && attn__token_row(m, "\\") > 0 && attn__token_row(m, "\\\"") > 0);
        assert_true(attn__token_row(m, "\\u0041") > 0 && attn__token_row(m, "\xE9\x93\xB6") > 0);
        save_ok(m, edited);
        assert_same_file(edited, good);
        attn_word_sense_free(m);
        free(other);
    }
    free(text);
}

static void what_is_no_array_of_words_is_refused(void **state)
{
    (void)state;
    static const char *const ways[][2] = {
        {"[\"we\",", "[\"we\""}, {"[\"we\",", "[\"we\",,"}, {"[\"we\",", "[,\"we\","}, {"[\"we\",", "[\"we\" x,"}, {"[\"we\",", "\"we\","},
        {"\"sat\"", "\"s\\x\""}, {"\"sat\"", "\"s\nt\""},   {"\"sat\"", "\"s\\u12\""}, {"[\"we\",", "{\"we\","},   {"\"sat\",", "\"sat\"]"},
    };
    char *text = vocabulary_of_good();
    for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++) {
        attn_error error = {.message = ""};
        char *other = replaced(text, ways[i][0], ways[i][1]);
        if (with_vocabulary(other, &error) != NULL) {
            print_error("loaded: %s\n", ways[i][1]);
        }
        assert_string_equal(error.message, FOLDER "/edited.safetensors: no vocabulary");
        free(other);
    }
    free(text);
}

/* ---- parameters ---- */

static void parameters_without_gradients(void **state)
{
    (void)state;
    const float ones[] = {1, 1, 1};
    attn_params *p = attn_params_new(ATTN_F32, NULL);
    int id = attn_params_add(p, "w", ATTN_SHAPE(3), (attn_param_config){.init = ATTN_INIT_CONSTANT, .scale = 5});
    int table = attn_params_add(p, "t", ATTN_SHAPE(2, 3), (attn_param_config){.init = ATTN_INIT_NORMAL, .scale = 1, .sparse_rows = true});
    float borrowed[] = {7, 8, 9, 10};
    int other = attn_params_add(p, "b", ATTN_SHAPE(4), (attn_param_config){.init = ATTN_INIT_ZEROS});
    int last = attn_params_add(p, "l", ATTN_SHAPE(1), (attn_param_config){.init = ATTN_INIT_ZEROS});
    attn__params_borrow(p, other, borrowed);
    assert_int_equal(attn__params_build_bare(p, false, NULL), ATTN_OK);
    assert_ptr_equal(attn_params_value(p, other), borrowed);
    assert_int_equal(attn_params_elements(p), 3 + 6 + 4 + 1);
    assert_ptr_equal(attn_params_value(p, last), (float *)attn_params_value(p, table) + 16); /* no room between */
    float *value = attn_params_value(p, id);
    for (int i = 0; i < 3; i++) {
        value[i] = (float)i;
    }
    assert_null(attn_params_grad(p, id));
    assert_null(attn_params_grad(p, table));
    attn_params_zero_grad(p); /* nothing to do */
    attn_tape *t = attn_tape_new(NULL);
    attn_tensor *x = attn_sum(t, attn_mul(t, attn_param(t, p, id), attn_input(t, ATTN_F32, ATTN_SHAPE(3), ones)));
    assert_close(attn_tensor_get(x, 0), 3, 0, 0);
    assert_int_equal(attn_backward(t, x), ATTN_EINVAL); /* nothing in it wants a gradient */
    attn_tape_free(t);
    attn_params_free(p);
}

/* Only what will be trained on gets gradients. */
static void only_unfinished_models_have_gradients(void **state)
{
    (void)state;
    attn_word_sense *m = load_ok(good);
    assert_null(attn_params_grad(m->member[0].params, m->member[0].embedding));
    attn_word_sense_free(m);
    attn_corpus *c = tiny_corpus(NULL);
    m = new_model(c, tiny_config());
    save_ok(m, edited);
    attn_word_sense_free(m);
    m = load_ok(edited);
    assert_non_null(attn_params_grad(m->member[0].params, m->member[0].embedding));
    train_ok(m, c, NULL);
    attn_word_sense_free(m);
    attn_corpus_free(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parts_come_in_any_order),
        cmocka_unit_test(a_file_is_mapped_if_it_can_be),
        cmocka_unit_test(tensors_in_the_file_are_those_of_a_whole_read),
        cmocka_unit_test(a_pipe_is_read_as_a_whole),
        cmocka_unit_test(a_file_that_ends_too_soon_is_named_once),
        cmocka_unit_test(runs_of_plain_bytes_end_where_they_should),
        cmocka_unit_test(words_are_read_however_they_are_written),
        cmocka_unit_test(what_is_no_array_of_words_is_refused),
        cmocka_unit_test(parameters_without_gradients),
        cmocka_unit_test(only_unfinished_models_have_gradients),
    };
    return cmocka_run_group_tests(tests, make_good, NULL);
}

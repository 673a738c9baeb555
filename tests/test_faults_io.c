/* Every call to the file system fails in turn, in every function that reads or writes: what was there stays whole, nothing is left over,
 * the message names the file, and the same call succeeds as soon as the disk is well again. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "support/disk.h"
#include "support/faulty_io.h"
#include "support/files.h"
#include "support/senses.h"

#include "attn/checkpoint.h"
#include "attn/evaluation.h"
#include "attn/file.h"
#include "attn/matrix.h"
#include "attn/page.h"

#define FOLDER "test_faults_io.d"
#define IN     "test_faults_io.in"
#define SPLITS "test_faults_io.in.folder"
static const char out[] = FOLDER "/out";

static attn_corpus *train;
static attn_word_sense *model;
static attn_params *params;
static attn_optimizer *optimizer;
static attn_image image;
static attn_page page;
static const double values[] = {0.5, 0.25, 0.25, 0.125};
static attn_heatmap_panel panel = {.rows = 2, .columns = 2, .values = values};

/* ---- what writes `out` ---- */

static attn_status save_model(attn_error *error)
{
    return attn_word_sense_save(model, out, error);
}

static attn_status save_checkpoint(attn_error *error)
{
    return attn_checkpoint_save(out, params, optimizer, NULL, 0, error);
}

static attn_status write_png(attn_error *error)
{
    return attn_png_write(out, &image, error);
}

static attn_status write_page(attn_error *error)
{
    return attn_page_write(out, &page, error);
}

static attn_status write_matrix(attn_error *error)
{
    double copy[4];
    memcpy(copy, values, sizeof copy);
    return attn_matrix_write_npy(out, &(attn_matrix){.rows = 2, .columns = 2, .values = copy}, NULL, error);
}

static attn_status export_npy(attn_error *error)
{
    return attn_heatmap_export(out, ATTN_EXPORT_NPY, &panel, 1, NULL, error);
}

static attn_status export_tsv(attn_error *error)
{
    return attn_heatmap_export(out, ATTN_EXPORT_TSV, &panel, 1, NULL, error);
}

static attn_status export_json(attn_error *error)
{
    return attn_heatmap_export(out, ATTN_EXPORT_JSON, &panel, 1, NULL, error);
}

static attn_status write_file(attn_error *error)
{
    return attn_file_write(out, "some bytes", 10, NULL, error);
}

static attn_status check_file(attn_error *error)
{
    return attn_file_check(out, NULL, error);
}

/* ---- what reads ---- */

static attn_status failed(const void *object, const attn_error *error)
{
    return object != NULL ? ATTN_OK : error->status;
}

static attn_status load_model(attn_error *error)
{
    attn_word_sense *m = attn_word_sense_load(IN "/model", NULL, error);
    attn_word_sense_free(m);
    return failed(m, error);
}

static attn_status load_checkpoint(attn_error *error)
{
    attn_safetensors *f = attn_safetensors_read(IN "/checkpoint", NULL, error);
    attn_status status = f != NULL ? attn_checkpoint_load(f, params, optimizer, error) : error->status;
    attn_safetensors_free(f);
    return status;
}

static attn_status read_corpus(const char *path, int64_t examples, attn_error *error)
{
    attn_corpus *c = attn_corpus_new(NULL);
    attn_status status = attn_corpus_read(c, path, "train", error);
    assert_int_equal(attn_corpus_count(c), status == ATTN_OK ? examples : 0);
    attn_corpus_free(c);
    return status;
}

static attn_status read_tsv(attn_error *error)
{
    return read_corpus(IN "/s.tsv", 2, error);
}

static attn_status read_folder(attn_error *error)
{
    return read_corpus(SPLITS, 2, error);
}

static attn_status read_vectors(attn_error *error)
{
    attn_word_sense_config config = tiny_config();
    config.vectors = ATTN_VECTORS_FILE;
    config.vectors_file = IN "/vectors";
    config.dim = 0;
    attn_word_sense *m = attn_word_sense_new(train, &config, NULL, error);
    attn_word_sense_free(m);
    return failed(m, error);
}

static attn_status read_predictions(attn_error *error)
{
    attn_predictions *p = attn_predictions_read(IN "/p.tsv", NULL, error);
    attn_predictions_free(p);
    return failed(p, error);
}

static attn_status read_matrix(attn_error *error)
{
    attn_matrix m;
    attn_status status = attn_matrix_read(IN "/m.tsv", &m, NULL, error);
    attn_matrix_free(&m);
    return status;
}

static attn_status read_labels(attn_error *error)
{
    attn_labels labels;
    attn_status status = attn_labels_read(IN "/labels", &labels, NULL, error);
    attn_labels_free(&labels);
    return status;
}

/* ---- the sweep ---- */

typedef struct io_case {
    const char *name;
    attn_status (*run)(attn_error *error);
    bool writes, rewrites; /* `out`; with other bytes than "old" */
} io_case;

static const io_case cases[] = {
    {"save a model", save_model, true, true},
    {"save a checkpoint", save_checkpoint, true, true},
    {"PNG", write_png, true, true},
    {"page", write_page, true, true},
    {".npy", write_matrix, true, true},
    {"export .npy", export_npy, true, true},
    {"export TSV", export_tsv, true, true},
    {"export JSON", export_json, true, true},
    {"write a file", write_file, true, true},
    {"check a file", check_file, true, false},
    {"load a model", load_model, false, false},
    {"load a checkpoint", load_checkpoint, false, false},
    {"read TSV", read_tsv, false, false},
    {"read a folder", read_folder, false, false},
    {"read vectors", read_vectors, false, false},
    {"read predictions", read_predictions, false, false},
    {"read a matrix", read_matrix, false, false},
    {"read labels", read_labels, false, false},
};

/* The number that the next opened file would get. */
static int next_descriptor(void)
{
    int fd = dup(STDIN_FILENO);
    assert_int_equal(close(fd), 0);
    return fd;
}

static bool holds(const char *bytes, size_t size)
{
    size_t found;
    char *actual = take_file(out, &found);
    bool same = found == size && memcmp(actual, bytes, size) == 0;
    free(actual);
    return same;
}

static void must(bool ok, const io_case *c, long k, const char *what)
{
    if (!ok) {
        print_error("%s, call %ld: %s\n", c->name, k, what);
        fail();
    }
}

/* A run whose call k fails, over an old file, and one without a fault. */
static void one_fault(const io_case *c, io_fault fault, long k, bool alone, const char *fresh, size_t size)
{
    attn_error error = {.message = ""};
    fresh_folder(FOLDER);
    put_text(out, "old");
    int descriptor = next_descriptor();
    io_begin(fault, k, alone);
    attn_status status = c->run(&error);
    (void)io_end();
    must(next_descriptor() == descriptor, c, k, "a file stays open");
    if (status == ATTN_OK) {
        must(holds(c->rewrites ? fresh : "old", c->rewrites ? size : 3), c, k, "success, and other bytes");
    } else {
        must(status == ATTN_EIO && error.status == ATTN_EIO, c, k, error.message);
        must(strstr(error.message, c->writes ? FOLDER "/out: cannot write: " : IN) != NULL, c, k, error.message);
        must(!c->writes || strstr(error.message, strerror(fault == IO_FULL ? ENOSPC : EIO)) != NULL, c, k, error.message);
        must(holds("old", 3), c, k, "the old file is lost");
    }
    must(status == ATTN_OK || fault == IO_ERROR || fault == IO_FULL, c, k, error.message);
    must(folder_entries(FOLDER) == 1 || !alone || strcmp(io_failed(), "unlink") == 0, c, k, "a temporary file is left");
    must(c->run(&error) == ATTN_OK, c, k, error.message);
    must(holds(c->rewrites ? fresh : "old", c->rewrites ? size : 3), c, k, "other bytes afterwards");
    must(folder_entries(FOLDER) == 1, c, k, "a temporary file is left for good");
}

static long sweep(const io_case *c, io_fault fault)
{
    attn_error error = {.message = ""};
    size_t size;
    fresh_folder(FOLDER);
    put_text(out, "old");
    io_begin(fault, 0, false);
    attn_status status = c->run(&error);
    long calls = io_end();
    must(status == ATTN_OK, c, 0, error.message);
    char *fresh = take_file(out, &size);
    for (long k = 1; k <= calls; k++) {
        one_fault(c, fault, k, true, fresh, size);
        if (fault == IO_ERROR || fault == IO_FULL) {
            one_fault(c, fault, k, false, fresh, size);
        }
    }
    free(fresh);
    return calls;
}

static void make_inputs(void)
{
    attn_error error = {.message = ""};
    fresh_folder(IN);
    fresh_folder(SPLITS);
    put_text(IN "/s.tsv", "x\t0\ta b\ny\t1\tc a\n");
    put_text(SPLITS "/train.data.txt", "0\ta b\n1\tc a\n");
    put_text(SPLITS "/train.gold.txt", "0\n1\n");
    put_text(SPLITS "/classes_map.txt", "{\"0\": \"x\", \"1\": \"y\"}");
    put_text(IN "/vectors", "2 4\nbank 1 2 3 4\nriver 4 3 2 1\n");
    put_text(IN "/p.tsv", "x\tx\t0.75\t0\tb\ta b\n");
    put_text(IN "/m.tsv", "1\t2\n3\t4\n");
    put_text(IN "/labels", "one\ntwo\n");
    train = tiny_corpus(NULL);
    model = new_model(train, tiny_config());
    save_ok(model, IN "/model");
    params = attn_params_new(ATTN_F32, NULL);
    (void)attn_params_add(params, "w", ATTN_SHAPE(3, 2), (attn_param_config){.init = ATTN_INIT_NORMAL, .scale = 1});
    assert_int_equal(attn_params_build(params, 1, &error), ATTN_OK);
    optimizer = attn_adamw_new(params, (attn_adamw_config){0}, &error);
    assert_int_equal(attn_checkpoint_save(IN "/checkpoint", params, optimizer, NULL, 0, &error), ATTN_OK);
    const attn_heatmap_config look = {.panels = &panel, .n_panels = 1};
    assert_int_equal(attn_heatmap_draw(&look, &image, NULL, NULL, &error), ATTN_OK);
    assert_int_equal(attn_heatmap_page(&(attn_heatmap_page_config){.look = look}, &page, NULL, &error), ATTN_OK);
}

static void every_call_may_fail(void **state)
{
    (void)state;
    static const char *const names[] = {"errors", "full disks", "interruptions", "single bytes"};
    make_inputs();
    for (io_fault fault = IO_ERROR; fault <= IO_SHORT; fault++) {
        long calls = 0;
        for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
            long n = sweep(&cases[i], fault);
            must(n > 0 || fault == IO_FULL || !cases[i].rewrites, &cases[i], 0, "there is nothing to fail");
            calls += n;
        }
        print_message("%s: %ld calls\n", names[fault], calls);
        assert_true(calls >= 9);
    }
    attn_page_free(&page);
    attn_image_free(&image);
    attn_optimizer_free(optimizer);
    attn_params_free(params);
    attn_word_sense_free(model);
    attn_corpus_free(train);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_call_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Memory that runs out in every public function of files: sentences, scores, predictions, matrices, safetensors, checkpoints. */
#include <string.h>

#include "support/disk.h"
#include "support/faults.h"
#include "support/files.h"
#include "support/senses.h"

#include "attn/checkpoint.h"
#include "attn/evaluation.h"
#include "attn/file.h"
#include "attn/matrix.h"

#define FOLDER "test_faults_data.d"
#define PANELS "{\"panels\": [{\"title\": \"one\", \"values\": [[1]]}, {\"title\": \"two\", \"values\": [[2, 3]], \"rows\": [\"r\"]}]}"
static const char tsv[] = FOLDER "/s.tsv", out[] = FOLDER "/out";

static void write_inputs(void)
{
    fresh_folder(FOLDER);
    put_text(tsv, "\nx\t0\ta b\ny\t1\tc a\nx\t0\ta b c\ny\t0\ta d\n");
    put_text(FOLDER "/train.data.txt", "0\ta b\n1\tc a\n");
    put_text(FOLDER "/train.gold.txt", "0\n1\n");
    put_text(FOLDER "/classes_map.txt", "{\"0\": \"x\", \"1\": \"y\"}");
    put_text(FOLDER "/p.tsv", "x\tx\t0.75\t0\tb\ta b\ny\tx\t0.5\t1\tc\tc a\n");
    put_text(FOLDER "/m.tsv", "\tk1\tk2\nq1\t1\t2\nq2\t3\t\n");
    put_text(FOLDER "/m.json", "{\"rows\": [\"q\"], \"columns\": [\"k\", \"l\"], \"values\": [[1, null]]}");
    put_text(FOLDER "/panels.json", PANELS);
    put_text(FOLDER "/labels", "one\n\ntwo\n");
}

/* ---- sentences ---- */

static attn_corpus *corpus, *rest, *part;

static void begin_corpora(void)
{
    corpus = attn_corpus_new(&faulty);
    rest = attn_corpus_new(&faulty);
    part = attn_corpus_new(&faulty);
    assert_true(corpus != NULL && rest != NULL && part != NULL);
}

static void end_corpora(void)
{
    attn_corpus_free(corpus);
    attn_corpus_free(rest);
    attn_corpus_free(part);
}

static void digest_corpus(digest *d, const attn_corpus *c)
{
    for (int64_t i = 0; i < attn_corpus_count(c); i++) {
        attn_example e = attn_corpus_get(c, i);
        for (int k = 0; k < e.length; k++) {
            digest_text(d, e.tokens[k]);
        }
        digest_text(d, e.sense);
        digest_text(d, e.file);
        digest_double(d, (double)e.line);
    }
    digest_text(d, attn_corpus_first_blank(c));
    digest_double(d, (double)attn_corpus_blank_lines(c));
}

static attn_status new_corpus(digest *d, attn_error *error)
{
    attn_corpus *c = attn_corpus_new(&faulty);
    digest_double(d, c != NULL);
    attn_status status = made(c, error);
    attn_corpus_free(c);
    return status;
}

/* What is read is in the corpus once, however often it failed before. */
static attn_status read_corpus(const char *path, digest *d, attn_error *error)
{
    attn_corpus_clear(corpus);
    attn_status status = attn_corpus_read(corpus, path, "train", error);
    assert_true(status == ATTN_OK || attn_corpus_count(corpus) == 0);
    digest_corpus(d, corpus);
    return status;
}

static attn_status read_tsv(digest *d, attn_error *error)
{
    return read_corpus(tsv, d, error);
}

static attn_status read_folder(digest *d, attn_error *error)
{
    return read_corpus(FOLDER, d, error);
}

static attn_status add_and_split(digest *d, attn_error *error)
{
    static const char *const tokens[] = {"a", "b"};
    attn_example e;
    attn_status status = ATTN_OK;
    attn_corpus_clear(corpus);
    attn_corpus_clear(rest);
    attn_corpus_clear(part);
    for (int i = 0; i < 20 && status == ATTN_OK; i++) {
        status = attn_corpus_add(corpus, tokens, 2, i % 2, i < 9 ? "x" : "y", error);
    }
    status = status == ATTN_OK ? attn_corpus_split(corpus, 0.4, 1, rest, part, error) : status;
    status = status == ATTN_OK ? attn_corpus_tokenize(corpus, " some more words ", &e, error) : status;
    digest_corpus(d, corpus);
    digest_corpus(d, rest);
    digest_corpus(d, part);
    return status;
}

/* ---- scores and comparisons ---- */

static attn_scores *scores;
static attn_comparison *comparison;
static int added;

static void begin_scores(void)
{
    scores = attn_scores_new(&faulty);
    comparison = attn_comparison_new(&faulty);
    added = 0;
    assert_true(scores != NULL && comparison != NULL);
}

static void end_scores(void)
{
    attn_scores_free(scores);
    attn_comparison_free(comparison);
}

static attn_status new_scores(digest *d, attn_error *error)
{
    attn_scores *s = attn_scores_new(&faulty);
    attn_comparison *c = attn_comparison_new(&faulty);
    attn_status status = s != NULL ? made(c, error) : made(s, error);
    digest_double(d, status == ATTN_OK);
    attn_scores_free(s);
    attn_comparison_free(c);
    return status;
}

static const char *const said[][4] = {{"bank", "shore", "money", "shore"}, {"bank", "money", "money", "money"},
                                      {"bat", "club", "animal", "club"},   {"bat", "a;b", "b", "a"},
                                      {"pen", "ink", "ink", "pig"},        {"row", "line", "line", "line"}};
enum { SAID = sizeof said / sizeof said[0] };

/* Goes on after the last sentence that was taken: what fails leaves no trace. */
static attn_status score(digest *d, attn_error *error)
{
    attn_status status = attn_scores_declare(scores, "bank", "row");
    for (; added < SAID && status == ATTN_OK; added += status == ATTN_OK) {
        status = attn_scores_add(scores, said[added][0], said[added][1], said[added][2]);
    }
    digest_double(d, (double)attn_scores_examples(scores) + (double)attn_scores_correct(scores));
    for (int w = 0; w < attn_scores_words(scores); w++) {
        attn_word_score x = attn_scores_word(scores, w);
        digest_text(d, x.word);
        digest_double(d, x.macro_f1);
        digest_bytes(d, x.confusion, (size_t)(x.n_senses * x.n_senses) * sizeof *x.confusion);
    }
    return told(status, error);
}

static attn_status compare(digest *d, attn_error *error)
{
    attn_comparison_result r;
    attn_status status = ATTN_OK;
    for (; added < SAID && status == ATTN_OK; added += status == ATTN_OK) {
        status = attn_comparison_add(comparison, said[added][0], said[added][1], said[added][2], said[added][3]);
    }
    if (told(status, error) == ATTN_OK) {
        status = attn_comparison_run(comparison, &(attn_comparison_config){.resamples = 20, .threads = 1}, &r, error);
    }
    if (status == ATTN_OK) {
        digest_bytes(d, &r.macro_f1, sizeof r.macro_f1);
        digest_double(d, r.mcnemar + (double)r.sentences);
    }
    return status;
}

static attn_status read_predictions(digest *d, attn_error *error)
{
    attn_predictions *p = attn_predictions_read(FOLDER "/p.tsv", &faulty, error);
    attn_status status = p != NULL ? attn_predictions_match(p, p, error) : error->status;
    for (int64_t i = 0; p != NULL && i < attn_predictions_count(p); i++) {
        digest_text(d, attn_predictions_get(p, i).sense);
        digest_double(d, attn_predictions_get(p, i).probability);
    }
    attn_predictions_free(p);
    return status;
}

/* ---- matrices and labels ---- */

static attn_status digest_matrix(digest *d, attn_matrix *m, attn_status status)
{
    if (status == ATTN_OK) {
        digest_bytes(d, m->values, (size_t)(m->rows * m->columns) * sizeof *m->values);
        digest_text(d, m->row_labels != NULL ? m->row_labels[0] : "");
        digest_text(d, m->column_labels != NULL ? m->column_labels[m->columns - 1] : "");
    } else {
        assert_true(m->values == NULL && m->rows == 0);
    }
    attn_matrix_free(m);
    return status;
}

static attn_status read_matrices(digest *d, attn_error *error)
{
    attn_matrix m;
    attn_status status = digest_matrix(d, &m, attn_matrix_read(FOLDER "/m.tsv", &m, &faulty, error));
    status = status == ATTN_OK ? digest_matrix(d, &m, attn_matrix_read(FOLDER "/m.json", &m, &faulty, error)) : status;
    return status == ATTN_OK ? digest_matrix(d, &m, attn_matrix_parse("1\t2\n", 4, "text", &m, &faulty, error)) : status;
}

static attn_status digest_panels(digest *d, attn_matrices *m, attn_status status)
{
    assert_int_equal(m->count, status == ATTN_OK ? 2 : 0);
    for (int64_t i = 0; i < m->count; i++) {
        digest_text(d, m->matrix[i].title);
        digest_bytes(d, m->matrix[i].values, (size_t)(m->matrix[i].rows * m->matrix[i].columns) * sizeof *m->matrix[i].values);
    }
    attn_matrices_free(m);
    return status;
}

static attn_status read_panels(digest *d, attn_error *error)
{
    attn_matrices m;
    attn_status status = digest_panels(d, &m, attn_matrices_read(FOLDER "/panels.json", &m, &faulty, error));
    return status == ATTN_OK ? digest_panels(d, &m, attn_matrices_parse(PANELS, strlen(PANELS), "text", &m, &faulty, error)) : status;
}

static attn_status write_matrix(digest *d, attn_error *error)
{
    double values[] = {1, 2, 3, 4, 5, 6};
    attn_matrix m = {.rows = 2, .columns = 3, .values = values};
    attn_status status = attn_matrix_write_npy(FOLDER "/w.npy", &m, &faulty, error);
    return status == ATTN_OK ? digest_matrix(d, &m, attn_matrix_read(FOLDER "/w.npy", &m, &faulty, error)) : status;
}

static attn_status read_labels(digest *d, attn_error *error)
{
    attn_labels labels;
    attn_status status = attn_labels_read(FOLDER "/labels", &labels, &faulty, error);
    for (int64_t i = 0; i < labels.count; i++) {
        digest_text(d, labels.text[i]);
    }
    attn_labels_free(&labels);
    return status;
}

/* ---- files of tensors ---- */

static attn_params *params;
static attn_optimizer *optimizer;

static void begin_params(void)
{
    attn_error error = {.message = ""};
    params = attn_params_new(ATTN_F64, &faulty);
    (void)attn_params_add(params, "w", ATTN_SHAPE(3, 2), (attn_param_config){.init = ATTN_INIT_NORMAL, .scale = 1});
    (void)attn_params_add(params, "b", ATTN_SHAPE(2), (attn_param_config){0});
    assert_int_equal(attn_params_build(params, 1, &error), ATTN_OK);
    optimizer = attn_adamw_new(params, (attn_adamw_config){0}, &error);
    assert_non_null(optimizer);
}

static void end_params(void)
{
    attn_optimizer_free(optimizer);
    attn_params_free(params);
}

static attn_status checkpoint(digest *d, attn_error *error)
{
    attn_status status = attn_checkpoint_save(out, params, optimizer, &(attn_file_text){"a", "b"}, 1, error);
    attn_safetensors *f = status == ATTN_OK ? attn_safetensors_read(out, &faulty, error) : NULL;
    status = f != NULL ? attn_checkpoint_load(f, params, optimizer, error) : error->status;
    if (status == ATTN_OK) {
        digest_file(d, out);
        digest_bytes(d, attn_params_value(params, 0), 6 * sizeof(double));
    }
    attn_safetensors_free(f);
    return status;
}

static attn_status safetensors(digest *d, attn_error *error)
{
    const float data[] = {1, 2, 3};
    const attn_file_tensor tensors[] = {{"b", ATTN_F32, ATTN_SHAPE(3), data}, {"a", ATTN_F32, ATTN_SHAPE(1, 2), data}};
    attn_status status = attn_safetensors_write(out, tensors, 2, &(attn_file_text){"k", "v"}, 1, &faulty, error);
    if (status != ATTN_OK) {
        return status;
    }
    digest_file(d, out);
    attn_safetensors *f = attn_safetensors_parse("\x08\0\0\0\0\0\0\0{}      ", 16, "bytes", &faulty, error);
    digest_double(d, f != NULL ? attn_safetensors_count(f) : -1);
    attn_safetensors_free(f);
    f = error->status == ATTN_OK ? attn_safetensors_read(out, &faulty, error) : NULL;
    if (f == NULL) {
        return error->status;
    }
    digest_text(d, attn_safetensors_get(f, attn_safetensors_find(f, "a")).name);
    digest_text(d, attn_safetensors_text(f, "k"));
    digest_text(d, attn_safetensors_text_at(f, attn_safetensors_text_count(f) - 1).key);
    digest_double(d, attn_safetensors_count(f));
    attn_safetensors_free(f);
    return ATTN_OK;
}

static attn_status write_file(digest *d, attn_error *error)
{
    attn_status status = attn_file_check(out, &faulty, error);
    status = status == ATTN_OK ? attn_file_write(out, "bytes", 5, &faulty, error) : status;
    if (status == ATTN_OK) {
        digest_file(d, out);
    }
    return status;
}

static void memory_may_run_out_anywhere(void **state)
{
    (void)state;
    static const fault_case cases[] = {
        {"corpus", NULL, new_corpus, NULL},
        {"read TSV", begin_corpora, read_tsv, end_corpora},
        {"read a folder", begin_corpora, read_folder, end_corpora},
        {"add, split, tokenize", begin_corpora, add_and_split, end_corpora},
        {"scores", NULL, new_scores, NULL},
        {"add to scores", begin_scores, score, end_scores},
        {"compare", begin_scores, compare, end_scores},
        {"read predictions", NULL, read_predictions, NULL},
        {"read matrices", NULL, read_matrices, NULL},
        {"read panels", NULL, read_panels, NULL},
        {"write a matrix", NULL, write_matrix, NULL},
        {"read labels", NULL, read_labels, NULL},
        {"safetensors", NULL, safetensors, NULL},
        {"checkpoint", begin_params, checkpoint, end_params},
        {"write a file", NULL, write_file, NULL},
    };
    write_inputs();
    faults_sweep(cases, sizeof cases / sizeof cases[0], 400);
}

/* ---- what needs no memory ---- */

static void judge(void)
{
    const double weights[] = {0.5, 0.3, 0.2};
    double weight[2];
    int index[2], first, last;
    attn_calibration calibration = {0};
    attn_distances distances = {0};
    attn_calibration_add(&calibration, 0.8, true);
    assert_true(attn_calibration_error(&calibration) > 0.1);
    assert_int_equal(attn_most_attended(weights, 1, 3, 0, 2, index, weight), 2);
    attn_distances_add(&distances, 3, 0.5, true);
    attn_distances_range(3, &first, &last);
    assert_int_equal(first, 3);
    assert_true(attn_mcnemar(3, 9) < 1);
    assert_true(attn_utf8_fault("\xff", 1) == 0 && attn_utf8_width("\xE8\x8B\xB9") == 2);
    assert_true(attn_scores_micro_f1(scores) > 0 && attn_scores_macro_f1(scores) > 0);
}

static void what_needs_no_memory(void **state)
{
    (void)state;
    begin_scores();
    assert_int_equal(attn_scores_add(scores, "bank", "shore", "shore"), ATTN_OK);
    faults_none(judge);
    end_scores();
    assert_int_equal(faults_live(), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memory_may_run_out_anywhere),
        cmocka_unit_test(what_needs_no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* attn train DATA... -o MODEL.safetensors */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "pages.h"
#include "train.h"

/* What holds unless an option says otherwise. */
static train_arguments defaults(attn_word_sense_config config)
{
    return (train_arguments){.config = config, .split = "train", .save_every = 5};
}

/* ---- the run ---- */

static volatile sig_atomic_t interrupted;

static void interrupt(int signal)
{
    (void)signal;
    interrupted = 1;
}

typedef struct run {
    const train_arguments *a;
    attn_word_sense *m;
    progress line;
    FILE *log;
    epoch_pictures pictures;
    training_film film;
    double last_save, loss;
    attn_word_sense_progress last; /* of a finished epoch */
    attn_error error;              /* of a save during the run */
    bool save_failed, picture_failed, film_failed;
} run;

static void write_log(run *r, const attn_word_sense_progress *at)
{
    json_t *line =
        json_pack("{s:s, s:i, s:i, s:i, s:f, s:I, s:f}", "schema", "attn.log/1", "member", at->member, "epoch", at->epoch, "epochs",
                  at->epochs, "loss", at->loss, "sentences", (json_int_t)at->sentences, "seconds", seconds_now() - r->line.begin);
    if (at->has_dev) {
        json_object_set_new(line, "dev", json_pack("{s:f, s:f}", "micro_f1", at->dev_micro_f1, "macro_f1", at->dev_macro_f1));
    }
    (void)json_dumpf(line, r->log, JSON_COMPACT | JSON_REAL_PRECISION(12));
    fputc('\n', r->log);
    (void)fflush(r->log);
    json_decref(line);
}

static bool on_progress(void *ctx, const attn_word_sense_progress *at)
{
    run *r = ctx;
    progress_show(&r->line, at);
    if (at->epoch_done) {
        r->last = *at;
        if (r->log != NULL) {
            write_log(r, at);
        }
        r->picture_failed = pictures_draw(&r->pictures, r->m, at) != ATTN_OK;
        r->film_failed = film_add(&r->film, r->m, at) != ATTN_OK;
        if (!attn_word_sense_finished(r->m) && seconds_now() - r->last_save >= r->a->save_every) {
            r->save_failed = attn_word_sense_save(r->m, r->a->output, &r->error) != ATTN_OK;
            r->last_save = seconds_now();
        }
    }
    return !interrupted && !r->save_failed && !r->picture_failed && !r->film_failed;
}

static void print_summary(const run *r, int64_t examples)
{
    const train_arguments *a = r->a;
    double seconds = seconds_now() - r->line.begin;
    int epochs = attn_word_sense_epochs_done(r->m);
    bool trained = r->last.epochs > 0;
    if (!a->json && !trained) {
        note(a->quiet, "%s: its training was finished before, nothing has changed", a->output);
        return;
    }
    if (!a->json) {
        note(a->quiet, "%s: %lld sentences, %d epochs, loss %.4f, %lld parameters, seed %llu, %.1f s", a->output, (long long)examples,
             epochs, r->last.loss, (long long)attn_word_sense_parameters(r->m), (unsigned long long)a->config.seed, seconds);
        return;
    }
    json_t *dev = r->last.has_dev ? json_pack("{s:f, s:f}", "micro_f1", r->last.dev_micro_f1, "macro_f1", r->last.dev_macro_f1)
                                  : json_pack("{s:n, s:n}", "micro_f1", "macro_f1");
    print_json(json_pack("{s:s, s:s, s:I, s:i, s:f, s:I, s:I, s:o, s:o, s:o*}", "schema", "attn.train/1", "model", a->output, "seed",
                         (json_int_t)a->config.seed, "epochs", epochs, "seconds", seconds, "examples", (json_int_t)examples, "parameters",
                         (json_int_t)attn_word_sense_parameters(r->m), "train_loss", trained ? json_real(r->last.loss) : json_null(), "dev",
                         dev, "vectors", vectors_to_json(r->m)));
}

/* Trains and saves, also when interrupted. */
static int train(run *r, const attn_corpus *data, const attn_corpus *dev)
{
    struct sigaction action = {.sa_handler = interrupt}, old;
    attn_error error;
    (void)sigaction(SIGINT, &action, &old);
    progress_begin(&r->line, r->a->quiet);
    r->last_save = r->line.begin;
    attn_status status = attn_word_sense_train(r->m, data, dev, on_progress, r, &error);
    (void)sigaction(SIGINT, &old, NULL);
    if (r->save_failed) {
        return fail("%s", r->error.message);
    }
    if (status != ATTN_OK && status != ATTN_EINTERRUPTED) {
        return fail("%s", error.message);
    }
    if (attn_word_sense_save(r->m, r->a->output, &error) != ATTN_OK) {
        return fail("%s", error.message);
    }
    if (r->picture_failed || r->film_failed) { /* what was learned is saved all the same */
        progress_clear(&r->line);
        return fail("%s", r->picture_failed ? r->pictures.error.message : r->film.error.message);
    }
    if (film_write(&r->film, r->a->quiet) != DONE) {
        return FAILED;
    }
    if (status == ATTN_EINTERRUPTED) {
        note(r->a->quiet, "%sinterrupted; saved to %s, --resume continues", r->line.terminal ? "\n" : "", r->a->output);
        return INTERRUPTED;
    }
    print_summary(r, attn_corpus_count(data));
    return DONE;
}

/* Holds out a part of *data; the two replace it. false after a message. */
static bool hold_out(const train_arguments *a, attn_corpus **data, attn_corpus **dev)
{
    attn_error error = {.message = "out of memory"};
    attn_corpus *rest = attn_corpus_new(NULL), *part = attn_corpus_new(NULL);
    if (rest == NULL || part == NULL || attn_corpus_split(*data, a->dev_fraction, a->config.seed, rest, part, &error) != ATTN_OK) {
        (void)fail("%s", error.message);
        attn_corpus_free(rest);
        attn_corpus_free(part);
        return false;
    }
    attn_corpus_free(*data);
    *data = rest;
    *dev = part;
    return true;
}

static bool open_log(run *r)
{
    if (r->a->log != NULL) {
        bool standard = strcmp(r->a->log, "-") == 0;
        r->log = standard ? stdout : fopen(r->a->log, r->a->resume ? "a" : "w");
        return r->log != NULL || fail("%s: cannot write: %s", r->a->log, strerror(errno)) == DONE;
    }
    return true;
}

/* Outputs that cannot be written are found before the training, not after it. */
static bool can_write(const train_arguments *a)
{
    attn_error error;
    const char *const others[] = {a->log, a->report, a->dev, a->config.vectors_file};
    const char *const *data = (const char *const *)a->data;
    if (overwrites(a->output, others, 4) || overwrites(a->output, data, a->n) || overwrites(a->log, others + 1, 3) ||
        overwrites(a->log, data, a->n) || overwrites(a->report, others + 2, 2) || overwrites(a->report, data, a->n)) {
        return false;
    }
    if (a->report != NULL && page_check(a->report) != DONE) {
        return false;
    }
    if (a->json && attn_utf8_fault(a->output, strlen(a->output)) >= 0) {
        return fail("the name of the model is not UTF-8, which --json could not print") == DONE;
    }
    bool ok = attn_file_check(a->output, NULL, &error) == ATTN_OK && (a->log == NULL || attn_file_check(a->log, NULL, &error) == ATTN_OK);
    return ok || fail("%s", error.message) == DONE;
}

/* Opens the model to go on with, whose configuration then replaces that of the command line; options must not contradict it. */
static bool open_resumed(run *r, train_arguments *a, int argc, char **argv)
{
    int threads = a->config.threads;
    r->m = load_model(a->output, threads);
    if (r->m == NULL) {
        return false;
    }
    attn_word_sense_config config = attn_word_sense_get_config(r->m);
    free(a->report_sentences);
    *a = defaults(config);
    a->resumed = &config;
    parse_train(argc, argv, a);
    a->resumed = NULL;
    return true;
}

/* Reads the data. false after a message. */
static bool open_data(const train_arguments *a, attn_corpus **data, attn_corpus **dev)
{
    *data = read_corpus(a->data, a->n, a->split, a->quiet);
    if (*data != NULL && a->dev != NULL) {
        *dev = read_corpus((char *const[]){(char *)(uintptr_t)a->dev}, 1, "dev", a->quiet);
        return *dev != NULL;
    }
    return *data != NULL && (a->dev_fraction <= 0 || hold_out(a, data, dev));
}

/* Often a slip: an index beside the word, or a word that something sticks to. */
static void note_single_senses(const train_arguments *a, const attn_word_sense *m)
{
    int n = 0, first = 0;
    for (int w = attn_word_sense_words(m) - 1; w >= 0; w--) {
        if (attn_word_sense_senses(m, w) == 1) {
            n++;
            first = w;
        }
    }
    if (n == 1) {
        note(a->quiet, "'%s' has one sense only: '%s'", attn_word_sense_word(m, first), attn_word_sense_sense(m, first, 0));
    } else if (n > 1) {
        note(a->quiet, "%d words have one sense only, the first is '%s': '%s'", n, attn_word_sense_word(m, first),
             attn_word_sense_sense(m, first, 0));
    }
}

static bool open_model(run *r, const attn_corpus *data)
{
    if (r->m == NULL) {
        r->m = make_model(r->a, data, &r->line);
        if (r->m != NULL) {
            note_single_senses(r->a, r->m);
        }
    }
    return r->m != NULL;
}

int cmd_train(int argc, char **argv)
{
    train_arguments a = defaults(attn_word_sense_defaults());
    a.config.dim = 0; /* so that a width that was asked for can be told from the default */
    parse_train(argc, argv, &a);
    note_idle(a.quiet, KEY_LANG, a.report == NULL, "without --report");
    run r = {.a = &a};
    attn_corpus *data = NULL, *dev = NULL;
    int code = FAILED;
    if (can_write(&a) && (!a.resume || open_resumed(&r, &a, argc, argv)) && open_data(&a, &data, &dev) &&
        pictures_open(&r.pictures, &a, data, &r.line) && open_model(&r, data) && film_open(&r.film, &a, data, r.m) && open_log(&r)) {
        code = train(&r, data, dev);
    }
    if (r.log != NULL && r.log != stdout && (ferror(r.log) != 0) + (fclose(r.log) != 0) > 0) {
        code = fail("%s: cannot write", a.log);
    }
    pictures_close(&r.pictures);
    film_close(&r.film);
    free(a.report_sentences);
    attn_word_sense_free(r.m);
    attn_corpus_free(data);
    attn_corpus_free(dev);
    return code;
}

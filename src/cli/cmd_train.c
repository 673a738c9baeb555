/* attn train DATA... -o MODEL.safetensors */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "progress.h"

/* While a run goes on, a state that can be continued is saved at most this often, after an epoch. */
#define SAVE_SECONDS 5

typedef struct arguments {
    attn_word_sense_config config;
    const char *output, *dev, *split, *log;
    double dev_fraction;
    char **data;
    int n;
    bool resume, json, quiet;
} arguments;

enum {
    KEY_SCORE = KEY_FIRST,
    KEY_HEADS,
    KEY_DIM,
    KEY_HIDDEN,
    KEY_POSITION,
    KEY_WINDOW,
    KEY_VECTORS,
    KEY_FREEZE,
    KEY_SEEDS,
    KEY_EPOCHS,
    KEY_BATCH,
    KEY_RATE,
    KEY_DECAY,
    KEY_DROPOUT,
    KEY_SMOOTHING,
    KEY_CLIP,
    KEY_DEV,
    KEY_DEV_FRACTION,
    KEY_PATIENCE,
    KEY_SEED,
    KEY_THREADS,
    KEY_RESUME,
    KEY_LOG,
    KEY_SPLIT,
};

static const struct argp_option options[] = {
    {"output", 'o', "FILE", 0, "Where the model goes (safetensors); must be given", 1},
    {"resume", KEY_RESUME, NULL, 0, "Continue the model in FILE exactly where it stopped", 1},
    {"seed", KEY_SEED, "N", 0, "Seed of everything random (default 0); the same seed gives the same bytes", 1},
    {"seeds", KEY_SEEDS, "N", 0, "Train N models of different seeds into one file; their probabilities are averaged (default 1)", 1},
    {"threads", KEY_THREADS, "N", 0, "Threads (default: OMP_NUM_THREADS, or all processors); never changes the result", 1},
    {"split", KEY_SPLIT, "NAME", 0, "Which split of a data folder to train on (default train)", 1},
    {"score", KEY_SCORE, "NAME", 0, "dot, scaled-dot (default) or additive", 2},
    {"heads", KEY_HEADS, "N", 0, "Attention heads (default 4)", 2},
    {"dim", KEY_DIM, "D", 0, "Width of an embedding (default 100)", 2},
    {"hidden", KEY_HIDDEN, "H", 0, "Width of a projected query or key in a head; hidden units of the additive score (default 16)", 2},
    {"position", KEY_POSITION, "NAME", 0, "relative (default): a learned bias for every distance; or none", 2},
    {"window", KEY_WINDOW, "N", 0, "Words looked at on each side of the ambiguous word (default 30)", 2},
    {"vectors", KEY_VECTORS, "NAME", 0, "Start of the embeddings: corpus (default), made from the training text; or none, random", 2},
    {"freeze-vectors", KEY_FREEZE, NULL, 0, "Leave the embeddings as they start", 2},
    {"epochs", KEY_EPOCHS, "N", 0, "Passes over the data (default: 15 to 60, enough for 1500 steps)", 3},
    {"batch", KEY_BATCH, "N", 0, "Sentences a step (default: 16 for up to 2047 sentences an epoch, else 64)", 3},
    {"learning-rate", KEY_RATE, "X", 0, "AdamW's learning rate, warmed up and decayed linearly (default 0.003)", 3},
    {"weight-decay", KEY_DECAY, "X", 0, "Decay of the matrices (default 0.05)", 3},
    {"dropout", KEY_DROPOUT, "X", 0, "Dropout of embedding components (default 0.5)", 3},
    {"label-smoothing", KEY_SMOOTHING, "X", 0, "Share of the target spread over all senses of the word (default 0.1)", 3},
    {"clip", KEY_CLIP, "X", 0, "Largest norm of the gradients, 0 for no limit (default 5)", 3},
    {"dev", KEY_DEV, "DATA", 0, "Sentences to measure the model on after every epoch (of a folder: its split dev)", 4},
    {"dev-fraction", KEY_DEV_FRACTION, "X", 0, "The same, with a share of every sense held out from DATA (default 0)", 4},
    {"patience", KEY_PATIENCE, "N", 0, "Stop after N epochs without a better dev score and keep the best (default 0: never)", 4},
    {"log", KEY_LOG, "FILE", 0, "Write one JSON object an epoch to FILE (JSON Lines)", 5},
    {"json", 'j', NULL, 0, "Print one JSON object at the end, schema attn.train/1", 5},
    {"quiet", 'q', NULL, 0, "No progress", 5},
    {0},
};

static error_t parse_model_option(int key, char *text, struct argp_state *state)
{
    static const char *const scores[] = {"scaled-dot", "dot", "additive", NULL}, *const positions[] = {"relative", "none", NULL};
    static const char *const vectors[] = {"corpus", "none", NULL};
    attn_word_sense_config *c = &((arguments *)state->input)->config;
    switch (key) {
    case KEY_SCORE:
        c->score = (attn_score)parse_choice("score", text, scores, state);
        return 0;
    case KEY_HEADS:
        c->heads = parse_int("heads", text, 1, 64, state);
        return 0;
    case KEY_DIM:
        c->dim = parse_int("dim", text, 1, 4096, state);
        return 0;
    case KEY_HIDDEN:
        c->hidden = parse_int("hidden", text, 1, 4096, state);
        return 0;
    case KEY_POSITION:
        c->position = (attn_position)parse_choice("position", text, positions, state);
        return 0;
    case KEY_WINDOW:
        c->window = parse_int("window", text, 1, 10000, state);
        return 0;
    case KEY_VECTORS:
        c->vectors = (attn_vectors)parse_choice("vectors", text, vectors, state);
        return 0;
    case KEY_FREEZE:
        c->freeze_vectors = true;
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static error_t parse_training_option(int key, char *text, struct argp_state *state)
{
    attn_word_sense_config *c = &((arguments *)state->input)->config;
    switch (key) {
    case KEY_SEED:
        c->seed = parse_seed("seed", text, state);
        return 0;
    case KEY_SEEDS:
        c->seeds = parse_int("seeds", text, 1, 100, state);
        return 0;
    case KEY_THREADS:
        c->threads = parse_int("threads", text, 1, 1024, state);
        return 0;
    case KEY_EPOCHS:
        c->epochs = parse_int("epochs", text, 1, 1000000, state);
        return 0;
    case KEY_BATCH:
        c->batch = parse_int("batch", text, 1, 65536, state);
        return 0;
    case KEY_RATE:
        c->learning_rate = parse_real("learning-rate", text, 0, 100, state);
        return 0;
    case KEY_DECAY:
        c->weight_decay = parse_real("weight-decay", text, 0, 100, state);
        return 0;
    case KEY_DROPOUT:
        c->dropout = parse_real("dropout", text, 0, 0.99, state);
        return 0;
    case KEY_SMOOTHING:
        c->label_smoothing = parse_real("label-smoothing", text, 0, 0.99, state);
        return 0;
    case KEY_CLIP:
        c->clip = parse_real("clip", text, 0, 1e9, state);
        return 0;
    case KEY_PATIENCE:
        c->patience = parse_int("patience", text, 0, 1000000, state);
        return 0;
    default:
        return parse_model_option(key, text, state);
    }
}

static error_t parse_option(int key, char *text, struct argp_state *state)
{
    arguments *a = state->input;
    switch (key) {
    case 'o':
        a->output = text;
        return 0;
    case KEY_DEV:
        a->dev = text;
        return 0;
    case KEY_DEV_FRACTION:
        a->dev_fraction = parse_real("dev-fraction", text, 0, 0.9, state);
        return 0;
    case KEY_RESUME:
        a->resume = true;
        return 0;
    case KEY_LOG:
        a->log = text;
        return 0;
    case KEY_SPLIT:
        a->split = text;
        return 0;
    case 'j':
        a->json = true;
        return 0;
    case 'q':
        a->quiet = true;
        return 0;
    case ARGP_KEY_ARG:
        a->data = &state->argv[state->next - 1];
        a->n = state->argc - state->next + 1;
        state->next = state->argc;
        return 0;
    case ARGP_KEY_END:
        if (a->n == 0 || a->output == NULL) {
            argp_error(state, a->n == 0 ? "no training data" : "no model file: give -o FILE");
        }
        if (a->dev != NULL && a->dev_fraction > 0) {
            argp_error(state, "--dev and --dev-fraction exclude each other");
        }
        if (a->config.patience > 0 && a->dev == NULL && a->dev_fraction <= 0) {
            argp_error(state, "--patience needs --dev or --dev-fraction");
        }
        return 0;
    default:
        return parse_training_option(key, text, state);
    }
}

static const struct argp argp = {
    options,
    parse_option,
    "DATA...",
    "Learns word senses from labelled sentences: TSV files (SENSE, INDEX, words, separated by tabs) or folders in the "
    "layout of CoarseWSD-20. Several DATA are learned jointly in one model. Ctrl-C saves what is learned so far.",
    NULL,
    NULL,
    NULL};

/* ---- the run ---- */

static volatile sig_atomic_t interrupted;

static void interrupt(int signal)
{
    (void)signal;
    interrupted = 1;
}

typedef struct run {
    const arguments *a;
    attn_word_sense *m;
    progress line;
    FILE *log;
    double last_save, loss;
    attn_word_sense_progress last; /* of a finished epoch */
    attn_error error;              /* of a save during the run */
    bool save_failed;
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
        if (!attn_word_sense_finished(r->m) && seconds_now() - r->last_save > SAVE_SECONDS) {
            r->save_failed = attn_word_sense_save(r->m, r->a->output, &r->error) != ATTN_OK;
            r->last_save = seconds_now();
        }
    }
    return !interrupted && !r->save_failed;
}

static void print_summary(const run *r, int64_t examples)
{
    const arguments *a = r->a;
    double seconds = seconds_now() - r->line.begin;
    if (!a->json) {
        note(a->quiet, "%s: %lld sentences, %d epochs, loss %.4f, %lld parameters, seed %llu, %.1f s", a->output, (long long)examples,
             r->last.epoch, r->last.loss, (long long)attn_word_sense_parameters(r->m), (unsigned long long)a->config.seed, seconds);
        return;
    }
    json_t *dev =
        r->last.has_dev ? json_pack("{s:f, s:f}", "micro_f1", r->last.dev_micro_f1, "macro_f1", r->last.dev_macro_f1) : json_null();
    print_json(json_pack("{s:s, s:s, s:I, s:i, s:f, s:I, s:I, s:f, s:o}", "schema", "attn.train/1", "model", a->output, "seed",
                         (json_int_t)attn_word_sense_get_config(r->m).seed, "epochs", attn_word_sense_epochs_done(r->m), "seconds", seconds,
                         "examples", (json_int_t)examples, "parameters", (json_int_t)attn_word_sense_parameters(r->m), "train_loss",
                         r->last.loss, "dev", dev));
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
    if (status == ATTN_EINTERRUPTED) {
        note(r->a->quiet, "%sinterrupted; saved to %s, --resume continues", r->line.terminal ? "\n" : "", r->a->output);
        return INTERRUPTED;
    }
    print_summary(r, attn_corpus_count(data));
    return DONE;
}

/* Holds out a part of *data; the two replace it. false after a message. */
static bool hold_out(const arguments *a, attn_corpus **data, attn_corpus **dev)
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

static attn_word_sense *open_model(const arguments *a, const attn_corpus *data)
{
    attn_error error;
    if (a->resume) {
        return load_model(a->output, a->config.threads);
    }
    attn_word_sense *m = attn_word_sense_new(data, &a->config, NULL, &error);
    if (m == NULL) {
        (void)fail("%s", error.message);
    }
    return m;
}

/* An output that cannot be written is found before the training, not after it. */
static bool can_write(const char *path)
{
    char folder[4096];
    const char *slash = strrchr(path, '/');
    int n = snprintf(folder, sizeof folder, "%.*s",
                     slash == NULL   ? 1
                     : slash == path ? 1
                                     : (int)(slash - path),
                     slash == NULL ? "." : path);
    if (access(path, F_OK) == 0 ? access(path, W_OK) == 0 : (n < (int)sizeof folder && access(folder, W_OK | X_OK) == 0)) {
        return true;
    }
    (void)fail("%s: cannot write there", path);
    return false;
}

int cmd_train(int argc, char **argv)
{
    arguments a = {.config = attn_word_sense_defaults(), .split = "train"};
    parse(&argp, argc, argv, &a);
    run r = {.a = &a};
    attn_corpus *data = can_write(a.output) ? read_corpus(a.data, a.n, a.split, a.quiet) : NULL, *dev = NULL;
    int code = FAILED;
    bool ready = data != NULL;
    if (ready && a.dev != NULL) {
        ready = (dev = read_corpus((char *const[]){(char *)(uintptr_t)a.dev}, 1, "dev", a.quiet)) != NULL;
    } else if (ready && a.dev_fraction > 0) {
        ready = hold_out(&a, &data, &dev);
    }
    if (ready && a.log != NULL) {
        r.log = fopen(a.log, a.resume ? "a" : "w");
        ready = r.log != NULL || fail("%s: cannot write there", a.log) == DONE;
    }
    if (ready && (r.m = open_model(&a, data)) != NULL) {
        code = train(&r, data, dev);
    }
    if (r.log != NULL && (ferror(r.log) != 0) + (fclose(r.log) != 0) > 0) {
        code = fail("%s: cannot write", a.log);
    }
    attn_word_sense_free(r.m);
    attn_corpus_free(data);
    attn_corpus_free(dev);
    return code;
}

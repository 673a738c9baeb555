/* The options of attn train. */
#include <string.h>

#include "train.h"

enum {
    KEY_SCORE = KEY_FIRST,
    KEY_HEADS,
    KEY_DIM,
    KEY_HIDDEN,
    KEY_POSITION,
    KEY_WINDOW,
    KEY_NEIGHBOURS,
    KEY_VECTORS,
    KEY_FORMAT,
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
    KEY_RESUME,
    KEY_SAVE_EVERY,
    KEY_LOG,
    KEY_HEATMAPS,
    KEY_SENTENCE,
    KEY_REPORT,
    KEY_REPORT_SENTENCE,
};

static const struct argp_option options[] = {
    {"output", 'o', "FILE", 0, "Where the model goes (safetensors); must be given", 1},
    {"resume", KEY_RESUME, NULL, 0, "Continue the model in FILE exactly where it stopped", 1},
    {"save-every", KEY_SAVE_EVERY, "SECONDS", 0,
     "Save after an epoch, for --resume, if the last save is so long ago (default 5; 0: after every epoch)", 1},
    {"seed", KEY_SEED, "N", 0, "Seed of everything random (default 0); the same seed gives the same bytes", 1},
    {"seeds", KEY_SEEDS, "N", 0, "Train N models of different seeds into one file; their probabilities are averaged (default 1)", 1},
    OPTION_THREADS(1),
    {"split", KEY_SPLIT, "NAME", 0, "Which split of a data folder to train on (default train)", 1},
    {"score", KEY_SCORE, "dot|scaled-dot|additive", 0, "How a query and a key are compared (default scaled-dot)", 2},
    {"heads", KEY_HEADS, "N", 0, "Attention heads (default 4)", 2},
    {"dim", KEY_DIM, "D", 0, "Width of an embedding (default 100), or that of the vectors file", 2},
    {"hidden", KEY_HIDDEN, "H", 0, "Width of a projected query or key in a head; hidden units of the additive score (default 16)", 2},
    {"position", KEY_POSITION, "relative|none", 0, "A learned bias for every distance (default), or none", 2},
    {"window", KEY_WINDOW, "N", 0, "Words looked at on each side of the ambiguous word (default 30)", 2},
    {"neighbours", KEY_NEIGHBOURS, "X", 0,
     "Weight of what words near the ambiguous one tell by counts alone, beside attention (default 0.3; 0: nothing)", 2},
    {"vectors", KEY_VECTORS, "FILE|corpus|none", 0,
     "Start of the embeddings: a file of word vectors (word2vec, fastText, GloVe); corpus (default), from the training text; none, random",
     2},
    {"vectors-format", KEY_FORMAT, "auto|word2vec|glove|binary", 0, "How the file of vectors is written; auto (default) finds it out", 2},
    {"freeze-vectors", KEY_FREEZE, NULL, 0, "Leave the embeddings as they start", 2},
    {"epochs", KEY_EPOCHS, "N", 0, "Passes over the data (default: 15 to 60, enough for 1500 steps)", 3},
    {"batch", KEY_BATCH, "N", 0, "Sentences a step (default: 16 for up to 2047 sentences an epoch, else 64)", 3},
    {"learning-rate", KEY_RATE, "X", 0, "AdamW's learning rate, warmed up and decayed linearly (default 0.003)", 3},
    {"weight-decay", KEY_DECAY, "X", 0, "Decay of the matrices (default 0.05)", 3},
    {"dropout", KEY_DROPOUT, "X", 0, "Dropout of embedding components (default 0.5)", 3},
    {"label-smoothing", KEY_SMOOTHING, "X", 0,
     "Share of the target spread over all senses of the word (default: 0.1 for less than 30 sentences a sense, else 0)", 3},
    {"clip", KEY_CLIP, "X", 0, "Largest norm of the gradients, 0 for no limit (default 5)", 3},
    {"dev", KEY_DEV, "DATA", 0, "Sentences to measure the model on after every epoch (of a folder: its split dev)", 4},
    {"dev-fraction", KEY_DEV_FRACTION, "X", 0, "The same, with a share of every sense held out from DATA (default 0)", 4},
    {"patience", KEY_PATIENCE, "N", 0,
     "Stop after N epochs without a better dev score, neighbours left out, and keep the best (default 0: never)", 4},
    {"log", KEY_LOG, "FILE", 0, "Write one JSON object an epoch to FILE, - for standard output (JSON Lines)", 5},
    {"heatmaps", KEY_HEATMAPS, "DIR", 0, "Draw a sentence's attention after every epoch: DIR/epoch-001.png ...", 5},
    {"heatmap-sentence", KEY_SENTENCE, "TEXT", 0, "The sentence of --heatmaps, raw or cut into words (default: the first of DATA)", 5},
    {"report", KEY_REPORT, "FILE", 0, "Write a page of the run: loss, accuracy and attention over the epochs, an .html file", 5},
    {"report-sentence", KEY_REPORT_SENTENCE, "TEXT", 0,
     "A sentence of --report; may be given several times (default: the first of every sense of the first word of DATA, 6 at "
     "most)",
     5},
    OPTION_LANG(5),
    {"json", 'j', NULL, 0, "Print one JSON object at the end, schema attn.train/1", 5},
    {"quiet", 'q', NULL, 0, "No progress", 5},
    {0},
};

/* A file of the name of a choice is "./corpus". */
static void parse_vectors(const char *text, attn_word_sense_config *c)
{
    c->vectors = strcmp(text, "corpus") == 0 ? ATTN_VECTORS_CORPUS : strcmp(text, "none") == 0 ? ATTN_VECTORS_NONE : ATTN_VECTORS_FILE;
    c->vectors_file = c->vectors == ATTN_VECTORS_FILE ? text : NULL;
}

static error_t parse_model_option(int key, char *text, struct argp_state *state)
{
    static const char *const scores[] = {"scaled-dot", "dot", "additive", NULL}, *const positions[] = {"relative", "none", NULL};
    static const char *const formats[] = {"auto", "word2vec", "glove", "binary", NULL};
    train_arguments *a = state->input;
    attn_word_sense_config *c = &a->config;
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
    case KEY_NEIGHBOURS:
        c->neighbours = parse_real("neighbours", text, 0, 10, state);
        return 0;
    case KEY_VECTORS:
        parse_vectors(text, c);
        return 0;
    case KEY_FORMAT:
        c->vectors_format = (attn_vectors_format)parse_choice("vectors-format", text, formats, state);
        return 0;
    case KEY_FREEZE:
        c->freeze_vectors = true;
        return 0;
    default:
        return parse_common(
            key, text, state,
            (common_options){.json = &a->json, .quiet = &a->quiet, .threads = &c->threads, .split = &a->split, .language = &a->language});
    }
}

static error_t parse_training_option(int key, char *text, struct argp_state *state)
{
    attn_word_sense_config *c = &((train_arguments *)state->input)->config;
    switch (key) {
    case KEY_SEED:
        c->seed = parse_seed("seed", text, state);
        return 0;
    case KEY_SEEDS:
        c->seeds = parse_int("seeds", text, 1, 100, state);
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

/* Whether two configurations make the same run, in what options can change. */
static bool same_run(const attn_word_sense_config *a, const attn_word_sense_config *b)
{
    return a->score == b->score && a->position == b->position && a->vectors == b->vectors && a->freeze_vectors == b->freeze_vectors &&
           a->dim == b->dim && a->heads == b->heads && a->hidden == b->hidden && a->window == b->window && a->neighbours == b->neighbours &&
           a->seeds == b->seeds && a->epochs == b->epochs && a->batch == b->batch && a->learning_rate == b->learning_rate &&
           a->weight_decay == b->weight_decay && a->clip == b->clip && a->dropout == b->dropout &&
           a->label_smoothing == b->label_smoothing && a->patience == b->patience && a->seed == b->seed;
}

static error_t parse_run_option(int key, char *text, struct argp_state *state)
{
    const train_arguments *a = state->input;
    error_t code = parse_training_option(key, text, state);
    if (code == 0 && a->resumed != NULL && !same_run(&a->config, a->resumed)) {
        const struct argp_option *o = options;
        while (o->key != key) {
            o++;
        }
        argp_error(state, "--resume goes on as the model began: --%s must be as it was then, or left out", o->name);
    }
    return code;
}

/* What options mean together. */
static void check_arguments(train_arguments *a, struct argp_state *state)
{
    attn_word_sense_config *c = &a->config;
    if (a->n == 0 || a->output == NULL) {
        argp_error(state, a->n == 0 ? "no training data" : "no model file: give -o FILE");
    }
    if (is_stdio(a->output)) {
        argp_error(state, "a model cannot go to standard output: give -o FILE");
    }
    if (is_stdio(a->log) + is_stdio(a->report) + a->json > 1) {
        argp_error(state, "only one of --log, --report and --json can go to standard output");
    }
    if (a->dev != NULL && a->dev_fraction > 0) {
        argp_error(state, "--dev and --dev-fraction exclude each other");
    }
    if (c->patience > 0 && a->dev == NULL && a->dev_fraction <= 0) {
        argp_error(state, "--patience needs --dev or --dev-fraction");
    }
    if (c->vectors_format != ATTN_VECTORS_FORMAT_AUTO && c->vectors != ATTN_VECTORS_FILE) {
        argp_error(state, "--vectors-format needs --vectors FILE");
    }
    if (a->heatmap_sentence != NULL && a->heatmaps == NULL) {
        argp_error(state, "--heatmap-sentence needs --heatmaps DIR");
    }
    if (a->n_report_sentences > 0 && a->report == NULL) {
        argp_error(state, "--report-sentence needs --report FILE");
    }
    if (c->dim == 0 && c->vectors != ATTN_VECTORS_FILE) {
        c->dim = attn_word_sense_defaults().dim;
    }
}

static error_t parse_option(int key, char *text, struct argp_state *state)
{
    train_arguments *a = state->input;
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
    case KEY_SAVE_EVERY:
        a->save_every = parse_real("save-every", text, 0, 1e9, state);
        return 0;
    case KEY_LOG:
        a->log = text;
        return 0;
    case KEY_HEATMAPS:
        a->heatmaps = text;
        return 0;
    case KEY_SENTENCE:
        a->heatmap_sentence = text;
        return 0;
    case KEY_REPORT:
        a->report = text;
        return 0;
    case KEY_REPORT_SENTENCE:
        add_text(&a->report_sentences, &a->n_report_sentences, text);
        return 0;
    case ARGP_KEY_ARG:
        a->data = rest_of_arguments(state, &a->n);
        return 0;
    case ARGP_KEY_END:
        check_arguments(a, state);
        return 0;
    default:
        return parse_run_option(key, text, state);
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

void parse_train(int argc, char **argv, train_arguments *a)
{
    parse(&argp, argc, argv, a);
}

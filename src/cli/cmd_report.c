/* attn report MODEL SENTENCE SENTENCE... -o FILE.html */
#include <stdlib.h>

#include "pages.h"

typedef struct arguments {
    const char *model, *output, *before, *vectors, *split, *title;
    char **sentences, **data;
    int n, n_data, threads;
    double dev_fraction;
    target_choice target;
    attn_tokenization tokenize;
    attn_language language;
    bool quiet;
} arguments;

enum { KEY_BEFORE = KEY_FIRST, KEY_DATA, KEY_DEV_FRACTION, KEY_VECTORS, KEY_TITLE };

static error_t parse_end(const arguments *a, struct argp_state *state)
{
    if (a->n == 0 || a->output == NULL) {
        argp_error(state, a->model == NULL ? "a model is missing" : a->n == 0 ? "a sentence is missing" : "-o FILE.html is missing");
    }
    check_target(a->target, state);
    if (a->before != NULL && a->n_data > 0) {
        argp_error(state, "--before and --data exclude each other");
    }
    if (a->n_data == 0 && (a->dev_fraction > 0 || a->vectors != NULL)) {
        argp_error(state, "--dev-fraction and --vectors say how --data is to be used, which is missing");
    }
    return 0;
}

static error_t parse_option(int key, char *text, struct argp_state *state)
{
    arguments *a = state->input;
    switch (key) {
    case 'o':
        a->output = text;
        return 0;
    case KEY_BEFORE:
        a->before = text;
        return 0;
    case KEY_DATA:
        add_text(&a->data, &a->n_data, text);
        return 0;
    case KEY_DEV_FRACTION:
        a->dev_fraction = parse_real("dev-fraction", text, 0, 0.99, state);
        return 0;
    case KEY_VECTORS:
        a->vectors = text;
        return 0;
    case KEY_TITLE:
        a->title = text;
        return 0;
    case ARGP_KEY_ARG:
        if (a->model == NULL) {
            a->model = text;
        } else {
            a->sentences = rest_of_arguments(state, &a->n);
        }
        return 0;
    case ARGP_KEY_END:
        return parse_end(a, state);
    default:
        return parse_common(key, text, state,
                            (common_options){.quiet = &a->quiet,
                                             .threads = &a->threads,
                                             .split = &a->split,
                                             .tokenize = &a->tokenize,
                                             .target = &a->target,
                                             .language = &a->language});
    }
}

static const struct argp_option options[] = {
    {"output", 'o', "FILE", 0, "The page to write, an .html file; '-' is standard output", 0},
    {"target", KEY_TARGET, "WORD", 0, "The word in question in every sentence (default: the first that the model knows)", 0},
    OPTION_TARGET_INDEX(0),
    OPTION_TOKENIZE(0),
    {"title", KEY_TITLE, "TEXT", 0, "Heading of the page (default: by the word)", 0},
    OPTION_LANG(0),
    {NULL, 0, NULL, 0, "Before and after the training:", 1},
    {"data", KEY_DATA, "DATA", 0,
     "What the model was trained on: the untrained model is made again from it, with the same seed, and stands beside the trained one; may "
     "be given several times (default: no comparison)",
     1},
    {"split", KEY_SPLIT, "NAME", 0, "Part of a data folder (default: train)", 1},
    {"dev-fraction", KEY_DEV_FRACTION, "X", 0, "The part of DATA that was held out in training (default: 0)", 1},
    {"vectors", KEY_VECTORS, "FILE", 0, "The word vectors that training began with (default: none)", 1},
    {"before", KEY_BEFORE, "MODEL", 0, "Another model to stand beside this one, instead of the untrained (default: none)", 1},
    {NULL, 0, NULL, 0, "Other options:", 2},
    OPTION_THREADS(2),
    {"quiet", 'q', NULL, 0, "No remarks on stderr", 2},
    {0},
};
static const struct argp argp = {
    options,
    parse_option,
    "MODEL SENTENCE...",
    "Writes a page that shows how the model tells the senses of a word apart: the sentences side by side, words as colours that sliders "
    "mix, tables of who attends to whom, and every step with every number. It is one file, which needs no network.",
    NULL,
    NULL,
    NULL};

/* The training data as the training saw it: without the part that was held out. NULL after a message. */
static attn_corpus *read_training(const arguments *a, uint64_t seed)
{
    attn_error error = {.message = "out of memory"};
    attn_corpus *all = read_corpus(a->data, a->n_data, a->split, a->quiet);
    if (all == NULL || a->dev_fraction <= 0) {
        return all;
    }
    attn_corpus *rest = attn_corpus_new(NULL), *held_out = attn_corpus_new(NULL);
    if (rest == NULL || held_out == NULL || attn_corpus_split(all, a->dev_fraction, seed, rest, held_out, &error) != ATTN_OK) {
        (void)fail("%s", error.message);
        attn_corpus_free(rest);
        rest = NULL;
    }
    attn_corpus_free(held_out);
    attn_corpus_free(all);
    return rest;
}

/* The model to compare with, if one is wanted: DONE, or FAILED after a message. */
static int open_before(const arguments *a, const attn_word_sense *m, attn_word_sense **before)
{
    if (a->before != NULL) {
        *before = load_model(a->before, a->threads);
        return *before != NULL ? DONE : FAILED;
    }
    if (a->n_data == 0) {
        return DONE;
    }
    attn_error error;
    attn_corpus *train = read_training(a, attn_word_sense_get_config(m).seed);
    if (train == NULL) {
        return FAILED;
    }
    *before = attn_word_sense_untrained(m, train, a->vectors, NULL, &error);
    attn_corpus_free(train);
    return *before != NULL ? DONE : fail("%s: %s", a->model, error.message);
}

static int make_page(const arguments *a, attn_word_sense *m)
{
    attn_word_sense *before = NULL;
    report_words w = {.n = 0};
    target_choice target = a->target;
    int code = settle_target(m, &target);
    if (code == DONE) {
        code = words_collect(&w, m, &(sentence_source){.sentences = a->sentences, .n = a->n, .quiet = a->quiet}, target, a->tokenize);
    }
    code = code == DONE ? open_before(a, m, &before) : code;
    if (code == DONE) {
        code = report_write(a->output,
                            &(attn_report_config){.model = m,
                                                  .before = before,
                                                  .before_name = a->before,
                                                  .sentences = w.sentence,
                                                  .n_sentences = w.n,
                                                  .title = a->title,
                                                  .language = a->language},
                            a->quiet);
    }
    attn_word_sense_free(before);
    words_free(&w);
    return code;
}

int cmd_report(int argc, char **argv)
{
    arguments a = {.target = {NULL, -1}, .split = "train"};
    parse(&argp, argc, argv, &a);
    note_idle(a.quiet, KEY_SPLIT, a.n_data == 0, "without --data");
    const char *const inputs[] = {a.model, a.before, a.vectors};
    bool safe = !overwrites(a.output, inputs, 3) && !overwrites(a.output, (const char *const *)a.data, a.n_data);
    int code = safe ? page_check(a.output) : FAILED;
    attn_word_sense *m = code == DONE ? load_model(a.model, a.threads) : NULL;
    code = m != NULL ? make_page(&a, m) : FAILED;
    attn_word_sense_free(m);
    free(a.data);
    return code;
}

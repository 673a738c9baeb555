/* attn eval MODEL DATA... */
#include <stdlib.h>
#include <string.h>

#include "cli.h"

#define MOST_ATTENDED 5

typedef struct arguments {
    const char *model, *split, *predictions;
    char **data;
    int n, threads;
    double min_accuracy;
    bool json, quiet;
} arguments;

enum { KEY_PREDICTIONS = KEY_FIRST, KEY_ACCURACY };

static const struct argp_option options[] = {
    {"split", KEY_SPLIT, "NAME", 0, "Which split of a data folder to use (default test)", 0},
    {"predictions", KEY_PREDICTIONS, "FILE", 0,
     "Write a TSV line a sentence: gold, predicted, probability, index, the five most attended words with their weights, the sentence", 0},
    {"min-accuracy", KEY_ACCURACY, "X", 0, "Exit with status 1 if the accuracy is below X (0 to 1)", 0},
    OPTION_THREADS(0),
    {"json", 'j', NULL, 0, "Print one JSON object, schema attn.eval/1", 0},
    {"quiet", 'q', NULL, 0, "No remarks on stderr", 0},
    {0},
};

static error_t parse_option(int key, char *text, struct argp_state *state)
{
    arguments *a = state->input;
    switch (key) {
    case KEY_PREDICTIONS:
        a->predictions = text;
        return 0;
    case KEY_ACCURACY:
        a->min_accuracy = parse_real("min-accuracy", text, 0, 1, state);
        return 0;
    case ARGP_KEY_ARG:
        if (a->model == NULL) {
            a->model = text;
            return 0;
        }
        a->data = rest_of_arguments(state, &a->n);
        return 0;
    case ARGP_KEY_END:
        if (a->model == NULL || a->n == 0) {
            argp_error(state, a->model == NULL ? "a model is missing" : "no data");
        }
        if (a->json && a->predictions != NULL && strcmp(a->predictions, "-") == 0) {
            argp_error(state, "--json and --predictions cannot both go to standard output");
        }
        return 0;
    default:
        return parse_common(key, text, state,
                            (common_options){.json = &a->json, .quiet = &a->quiet, .threads = &a->threads, .split = &a->split});
    }
}

static const struct argp argp = {
    options,
    parse_option,
    "MODEL DATA...",
    "Measures a model: accuracy (which is micro F1 here) and macro F1 of every word, precision, recall and F1 of every sense, "
    "and the confusion matrix.",
    NULL,
    NULL,
    NULL};

static double accuracy(const attn_scores *s)
{
    return attn_scores_examples(s) > 0 ? (double)attn_scores_correct(s) / (double)attn_scores_examples(s) : 0;
}

static json_t *word_to_json(const attn_word_score *w)
{
    json_t *senses = json_array(), *confusion = json_array();
    for (int i = 0; i < w->n_senses; i++) {
        const attn_sense_score *s = &w->senses[i];
        json_t *row = json_array();
        for (int j = 0; j < w->n_senses; j++) {
            json_array_append_new(row, json_integer(w->confusion[i * w->n_senses + j]));
        }
        json_array_append_new(confusion, row);
        json_array_append_new(senses, json_pack("{s:s, s:I, s:f, s:f, s:f}", "sense", s->sense, "support", (json_int_t)s->support,
                                                "precision", s->precision, "recall", s->recall, "f1", s->f1));
    }
    return json_pack("{s:s, s:I, s:f, s:f, s:o, s:o}", "word", w->word, "examples", (json_int_t)w->examples, "micro_f1", w->micro_f1,
                     "macro_f1", w->macro_f1, "senses", senses, "confusion", confusion);
}

static void print_as_json(attn_scores *s)
{
    json_t *words = json_array();
    for (int i = 0; i < attn_scores_words(s); i++) {
        attn_word_score w = attn_scores_word(s, i);
        json_array_append_new(words, word_to_json(&w));
    }
    print_json(json_pack("{s:s, s:I, s:I, s:f, s:{s:f, s:f}, s:o}", "schema", "attn.eval/1", "examples",
                         (json_int_t)attn_scores_examples(s), "correct", (json_int_t)attn_scores_correct(s), "accuracy", accuracy(s),
                         "mean_over_words", "micro_f1", attn_scores_micro_f1(s), "macro_f1", attn_scores_macro_f1(s), "words", words));
}

static int widest_name(attn_scores *s)
{
    int width = 14;
    for (int i = 0; i < attn_scores_words(s); i++) {
        attn_word_score w = attn_scores_word(s, i);
        for (int j = 0; j < w.n_senses; j++) {
            int n = attn_utf8_width(w.senses[j].sense) + 2;
            width = n > width ? n : width;
        }
    }
    return width;
}

static void print_as_text(attn_scores *s)
{
    int width = widest_name(s);
    print_padded("word / sense", width);
    printf("  %8s %9s %9s %9s   confusion (row = gold)\n", "support", "precision", "recall", "F1");
    for (int i = 0; i < attn_scores_words(s); i++) {
        attn_word_score w = attn_scores_word(s, i);
        print_padded(w.word, width);
        printf("  %8lld   micro F1 %.4f   macro F1 %.4f\n", (long long)w.examples, w.micro_f1, w.macro_f1);
        for (int j = 0; j < w.n_senses; j++) {
            const attn_sense_score *x = &w.senses[j];
            fputs("  ", stdout);
            print_padded(x->sense, width - 2);
            printf("  %8lld %9.4f %9.4f %9.4f  ", (long long)x->support, x->precision, x->recall, x->f1);
            for (int k = 0; k < w.n_senses; k++) {
                printf(" %5lld", (long long)w.confusion[j * w.n_senses + k]);
            }
            putchar('\n');
        }
    }
    printf("%lld of %lld right: accuracy %.4f; mean over %d words: micro F1 %.4f, macro F1 %.4f\n", (long long)attn_scores_correct(s),
           (long long)attn_scores_examples(s), accuracy(s), attn_scores_words(s), attn_scores_micro_f1(s), attn_scores_macro_f1(s));
}

/* ---- predictions ---- */

/* The words with the largest mean weight over the heads, "word:0.42", largest first. */
static void write_attended(FILE *to, const attn_example *e, const attn_prediction *p)
{
    int taken[MOST_ATTENDED];
    for (int n = 0; n < MOST_ATTENDED && n < e->length; n++) {
        int best = -1;
        double best_weight = -1;
        for (int i = 0; i < e->length; i++) {
            double weight = 0;
            bool used = false;
            for (int h = 0; h < p->heads; h++) {
                weight += p->attention[h * p->length + i] / p->heads;
            }
            for (int k = 0; k < n; k++) {
                used = used || taken[k] == i;
            }
            if (!used && weight > best_weight) {
                best = i;
                best_weight = weight;
            }
        }
        taken[n] = best;
        fprintf(to, "%s%s:%.3f", n > 0 ? " " : "", e->tokens[best], best_weight);
    }
}

static int write_prediction(FILE *to, attn_word_sense *m, const attn_example *e)
{
    attn_error error;
    attn_prediction p;
    if (attn_word_sense_predict(m, e->tokens, e->length, e->target, &p, &error) != ATTN_OK) {
        return fail("%s:%lld: %s", e->file, (long long)e->line, error.message);
    }
    fprintf(to, "%s\t%s\t%.6f\t%d\t", e->sense, p.senses[p.best], p.probabilities[p.best], e->target);
    write_attended(to, e, &p);
    for (int j = 0; j < e->length; j++) {
        fprintf(to, "%c%s", j == 0 ? '\t' : ' ', e->tokens[j]);
    }
    fputc('\n', to);
    return DONE;
}

/* The whole text first, then the file as a whole. */
static int write_predictions(const char *path, attn_word_sense *m, const attn_corpus *data)
{
    char *text = NULL;
    size_t size = 0;
    attn_error error;
    FILE *to = open_memstream(&text, &size);
    int code = to != NULL ? DONE : fail("out of memory");
    for (int64_t i = 0; i < attn_corpus_count(data) && code == DONE; i++) {
        attn_example e = attn_corpus_get(data, i);
        code = write_prediction(to, m, &e);
    }
    bool lost = to != NULL && (ferror(to) != 0) + (fclose(to) != 0) > 0;
    if (code == DONE && lost) {
        code = fail("out of memory");
    }
    close_output(); /* what is there already comes first, should both go to one place */
    if (code == DONE && attn_file_write(path, text, size, NULL, &error) != ATTN_OK) {
        code = fail("%s", error.message);
    }
    free(text);
    return code;
}

/* An output that cannot be written is found before the work, not after it. */
static bool can_write(const arguments *a)
{
    attn_error error;
    if (overwrites(a->predictions, &a->model, 1) || overwrites(a->predictions, (const char *const *)a->data, a->n)) {
        return false;
    }
    return a->predictions == NULL || attn_file_check(a->predictions, NULL, &error) == ATTN_OK || fail("%s", error.message) == DONE;
}

int cmd_eval(int argc, char **argv)
{
    arguments a = {.split = "test"};
    parse(&argp, argc, argv, &a);
    attn_word_sense *m = can_write(&a) ? load_model(a.model, a.threads) : NULL;
    attn_corpus *data = m != NULL ? read_corpus(a.data, a.n, a.split, a.quiet) : NULL;
    attn_scores *scores = attn_scores_new(NULL);
    attn_error error = {.message = "out of memory"};
    int code = FAILED;
    if (data != NULL && (scores == NULL || attn_word_sense_score(m, data, scores, NULL, &error) != ATTN_OK)) {
        (void)fail("%s", error.message);
    } else if (data != NULL) {
        (a.json ? print_as_json : print_as_text)(scores);
        code = a.predictions != NULL ? write_predictions(a.predictions, m, data) : DONE;
        if (code == DONE && accuracy(scores) < a.min_accuracy) {
            note(a.quiet, "accuracy %.4f is below %g", accuracy(scores), a.min_accuracy);
            code = ANSWER_IS_NO;
        }
    }
    attn_scores_free(scores);
    attn_corpus_free(data);
    attn_word_sense_free(m);
    return code;
}

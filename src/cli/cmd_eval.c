/* attn eval MODEL DATA... */
#include <stdlib.h>
#include <string.h>

#include "eval.h"

#define MOST_ATTENDED 5

typedef struct arguments {
    const char *model, *split, *predictions, *confusion;
    char **data;
    int n, threads;
    double min_accuracy;
    eval_tables tables;
    bool json, quiet;
} arguments;

enum { KEY_PREDICTIONS = KEY_FIRST, KEY_ACCURACY, KEY_CONFUSION, KEY_CALIBRATION, KEY_DISTANCE };

static const struct argp_option options[] = {
    {"split", KEY_SPLIT, "NAME", 0, "Which split of a data folder to use (default test)", 0},
    {"calibration", KEY_CALIBRATION, NULL, 0, "Print also a reliability table and the expected calibration error", 0},
    {"by-distance", KEY_DISTANCE, NULL, 0, "Print also the accuracy by the distance of the most attended word other than the ambiguous one",
     0},
    {"confusion", KEY_CONFUSION, "DIR", 0, "Draw the confusion matrix of every word as DIR/WORD.png", 0},
    {"predictions", KEY_PREDICTIONS, "FILE", 0,
     "Write a TSV line a sentence, for attn compare: gold, predicted, probability, index, the five most attended words with their "
     "weights, the sentence",
     0},
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
    case KEY_CONFUSION:
        a->confusion = text;
        return 0;
    case KEY_CALIBRATION:
        a->tables.calibration = true;
        return 0;
    case KEY_DISTANCE:
        a->tables.distances = true;
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
        if (a->json && is_stdio(a->predictions)) {
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

/* ---- one sentence ---- */

/* A stream in memory notes no failure (glibc): each write tells, and in the end the text that is not there. */

/* "word:0.420 word:0.310", mean weights over the heads, largest first. */
static bool write_attended(FILE *to, const attn_example *e, const attn_prediction *p)
{
    int index[MOST_ATTENDED];
    double weight[MOST_ATTENDED];
    int n = attn_most_attended(p->attention, p->heads, p->length, -1, MOST_ATTENDED, index, weight);
    bool ok = true;
    for (int k = 0; k < n && ok; k++) {
        ok = fprintf(to, "%s%s:%.3f", k > 0 ? " " : "", e->tokens[index[k]], weight[k]) >= 0;
    }
    return ok;
}

static bool write_prediction(FILE *to, const attn_example *e, const attn_prediction *p)
{
    bool ok = fprintf(to, "%s\t%s\t%.6f\t%d\t", e->sense, p->senses[p->best], p->probabilities[p->best], e->target) >= 0 &&
              write_attended(to, e, p);
    for (int j = 0; j < e->length && ok; j++) {
        ok = fprintf(to, "%c%s", j == 0 ? '\t' : ' ', e->tokens[j]) >= 0;
    }
    return ok && fputc('\n', to) != EOF;
}

static void add_distance(attn_distances *to, const attn_example *e, const attn_prediction *p, bool correct)
{
    int index;
    double weight;
    bool any = attn_most_attended(p->attention, p->heads, p->length, e->target, 1, &index, &weight) > 0;
    attn_distances_add(to, any ? abs(index - e->target) : 0, any ? weight : 0, correct);
}

/* Senses are declared in the model's order, so that tables have the same order whatever the data. */
static attn_status add_score(const attn_word_sense *m, const attn_example *e, const attn_prediction *p, attn_scores *scores)
{
    attn_status status = ATTN_OK;
    int w = attn_word_sense_find(m, e->word);
    const char *word = attn_word_sense_word(m, w);
    for (int s = 0; s < attn_word_sense_senses(m, w) && status == ATTN_OK; s++) {
        status = attn_scores_declare(scores, word, attn_word_sense_sense(m, w, s));
    }
    return status == ATTN_OK ? attn_scores_add(scores, word, e->sense, p->senses[p->best]) : status;
}

static int evaluate_one(attn_word_sense *m, const attn_example *e, evaluation *v, FILE *predictions)
{
    attn_error error;
    attn_prediction p;
    if (attn_word_sense_predict(m, e->tokens, e->length, e->target, &p, &error) != ATTN_OK) {
        return fail("%s:%lld: %s", e->file, (long long)e->line, error.message);
    }
    int64_t before = attn_scores_correct(v->scores);
    if (add_score(m, e, &p, v->scores) != ATTN_OK) {
        return fail("out of memory for the scores");
    }
    bool correct = attn_scores_correct(v->scores) > before;
    attn_calibration_add(&v->calibration, p.probabilities[p.best], correct);
    add_distance(&v->distances, e, &p, correct);
    bool lost = predictions != NULL && !write_prediction(predictions, e, &p);
    return lost ? fail("out of memory for the predictions") : DONE;
}

/* ---- all of them ---- */

/* The text of the predictions file goes to *text if there shall be one; free it. */
static int evaluate(const arguments *a, attn_word_sense *m, const attn_corpus *data, evaluation *v, char **text, size_t *size)
{
    *v = (evaluation){.scores = attn_scores_new(NULL)};
    FILE *to = a->predictions != NULL ? open_memstream(text, size) : NULL;
    int code = v->scores != NULL && (a->predictions == NULL || to != NULL) ? DONE : fail("out of memory");
    for (int64_t i = 0; i < attn_corpus_count(data) && code == DONE; i++) {
        attn_example e = attn_corpus_get(data, i);
        code = evaluate_one(m, &e, v, to);
    }
    bool lost = to != NULL && (fclose(to) != 0 || *text == NULL);
    return code == DONE && lost ? fail("out of memory for the predictions") : code;
}

/* What no answer could be. */
static void note_unknown_senses(const arguments *a, const attn_word_sense *m, attn_scores *scores)
{
    attn_sense_score first = {.sense = NULL};
    int n = 0;
    for (int i = 0; i < attn_scores_words(scores); i++) {
        attn_word_score w = attn_scores_word(scores, i);
        for (int s = attn_word_sense_senses(m, attn_word_sense_find(m, w.word)); s < w.n_senses; s++) { /* behind those of the model */
            first = n++ == 0 ? w.senses[s] : first;
        }
    }
    if (n > 0) {
        note(a->quiet, "the model does not know %d of the senses, the first is '%s' (%lld sentence%s)", n, first.sense,
             (long long)first.support, first.support == 1 ? "" : "s");
    }
}

static int write_predictions(const char *path, const char *text, size_t size)
{
    attn_error error;
    close_output(); /* what is there already comes first, should both go to one place */
    return attn_file_write(path, text, size, NULL, &error) == ATTN_OK ? DONE : fail("%s", error.message);
}

/* An output that cannot be written is found before the work, not after it. */
static bool can_write(const arguments *a)
{
    attn_error error;
    if (overwrites(a->predictions, &a->model, 1) || overwrites(a->predictions, (const char *const *)a->data, a->n)) {
        return false;
    }
    if (a->predictions != NULL && attn_file_check(a->predictions, NULL, &error) != ATTN_OK) {
        return fail("%s", error.message) == DONE;
    }
    return a->confusion == NULL || confusion_open(a->confusion);
}

static int report(const arguments *a, const evaluation *v, const char *predictions, size_t size)
{
    double accuracy = accuracy_of(v->scores);
    if (a->json) {
        print_evaluation_json(v);
    } else {
        print_evaluation(v, a->tables);
    }
    int code = a->predictions != NULL ? write_predictions(a->predictions, predictions, size) : DONE;
    if (code == DONE && a->confusion != NULL) {
        code = confusion_draw(a->confusion, v->scores, a->quiet);
    }
    if (code == DONE && accuracy < a->min_accuracy) {
        note(a->quiet, "accuracy %.4f is below %g", accuracy, a->min_accuracy);
        code = ANSWER_IS_NO;
    }
    return code;
}

int cmd_eval(int argc, char **argv)
{
    arguments a = {.split = "test"};
    parse(&argp, argc, argv, &a);
    attn_word_sense *m = can_write(&a) ? load_model(a.model, a.threads) : NULL;
    attn_corpus *data = m != NULL ? read_corpus(a.data, a.n, a.split, a.quiet) : NULL;
    evaluation v = {0};
    char *predictions = NULL;
    size_t size = 0;
    int code = data != NULL ? evaluate(&a, m, data, &v, &predictions, &size) : FAILED;
    if (code == DONE) {
        note_unknown_senses(&a, m, v.scores);
        code = report(&a, &v, predictions, size);
    }
    free(predictions);
    attn_scores_free(v.scores);
    attn_corpus_free(data);
    attn_word_sense_free(m);
    return code;
}

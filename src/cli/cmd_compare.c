/* attn compare A.tsv B.tsv */
#include <string.h>

#include "cli.h"

typedef struct arguments {
    const char *path[2];
    int n;
    attn_comparison_config config;
    bool json;
} arguments;

enum { KEY_RESAMPLES = KEY_FIRST, KEY_SEED };

static const struct argp_option options[] = {
    {"resamples", KEY_RESAMPLES, "N", 0, "How often sentences are drawn anew (default 10000)", 0},
    {"seed", KEY_SEED, "N", 0, "What is drawn: the same seed gives the same numbers (default 0)", 0},
    OPTION_THREADS(0),
    {"json", 'j', NULL, 0, "Print one JSON object, schema attn.compare/1", 0},
    {0},
};

static error_t parse_option(int key, char *text, struct argp_state *state)
{
    arguments *a = state->input;
    switch (key) {
    case KEY_RESAMPLES:
        a->config.resamples = parse_int("resamples", text, 1, 10000000, state);
        return 0;
    case KEY_SEED:
        a->config.seed = parse_seed("seed", text, state);
        return 0;
    case ARGP_KEY_ARG:
        if (a->n == 2) {
            argp_error(state, "two files are compared, not more");
        }
        a->path[a->n++] = text;
        return 0;
    case ARGP_KEY_END:
        if (a->n < 2) {
            argp_error(state, "two files of predictions are compared, as attn eval --predictions writes them");
        }
        if (strcmp(a->path[0], "-") == 0 && strcmp(a->path[1], "-") == 0) {
            argp_error(state, "only one of the two can be standard input");
        }
        return 0;
    default:
        return parse_common(key, text, state, (common_options){.json = &a->json, .threads = &a->config.threads});
    }
}

static const struct argp argp = {
    options,
    parse_option,
    "A.tsv B.tsv",
    "Tells whether the predictions in B are better than those in A, which must be about the same sentences in the same order: a paired "
    "bootstrap for the accuracy and for the mean over the words of micro and macro F1, and McNemar's exact test.",
    NULL,
    NULL,
    NULL};

static json_t *difference_to_json(const attn_difference *d)
{
    return json_pack("{s:f, s:f, s:f, s:f, s:f, s:f}", "a", d->a, "b", d->b, "difference", d->difference, "low", d->low, "high", d->high,
                     "not_better", d->not_better);
}

static void print_as_json(const arguments *a, const attn_comparison_result *r)
{
    print_json(json_pack("{s:s, s:s, s:s, s:I, s:i, s:i, s:I, s:o, s:{s:o, s:o}, s:{s:I, s:I, s:I, s:I}, s:f}", "schema", "attn.compare/1",
                         "a", a->path[0], "b", a->path[1], "sentences", (json_int_t)r->sentences, "words", r->words, "resamples",
                         a->config.resamples, "seed", (json_int_t)a->config.seed, "accuracy", difference_to_json(&r->accuracy),
                         "mean_over_words", "micro_f1", difference_to_json(&r->micro_f1), "macro_f1", difference_to_json(&r->macro_f1),
                         "right", "both", (json_int_t)r->both, "only_a", (json_int_t)r->only_a, "only_b", (json_int_t)r->only_b, "neither",
                         (json_int_t)r->neither, "mcnemar", r->mcnemar));
}

static void print_difference(const char *name, const attn_difference *d)
{
    printf("%-20s %8.4f %8.4f %+9.4f   %+9.4f to %+7.4f %14.4f\n", name, d->a, d->b, d->difference, d->low, d->high, d->not_better);
}

static void print_as_text(const arguments *a, const attn_comparison_result *r)
{
    printf("A is %s\nB is %s\n", a->path[0], a->path[1]);
    printf("%-20s %8s %8s %9s   %20s %14s\n", "", "A", "B", "B - A", "95 % of resamples", "B not better");
    print_difference("accuracy", &r->accuracy);
    print_difference("micro F1 of words", &r->micro_f1);
    print_difference("macro F1 of words", &r->macro_f1);
    printf("right: both %lld, only A %lld, only B %lld, neither %lld; McNemar's exact test: p = %.3g\n", (long long)r->both,
           (long long)r->only_a, (long long)r->only_b, (long long)r->neither, r->mcnemar);
    printf("%lld sentences of %d word%s, %d resamples, seed %llu\n", (long long)r->sentences, r->words, r->words == 1 ? "" : "s",
           a->config.resamples, (unsigned long long)a->config.seed);
}

static int compare(const arguments *a, const attn_predictions *first, const attn_predictions *second)
{
    attn_error error = {.message = "out of memory"};
    attn_comparison_result result;
    attn_comparison *c = attn_comparison_new(NULL);
    attn_status status = c != NULL ? attn_predictions_match(first, second, &error) : ATTN_ENOMEM;
    for (int64_t i = 0; i < attn_predictions_count(first) && status == ATTN_OK; i++) {
        attn_predicted p = attn_predictions_get(first, i), q = attn_predictions_get(second, i);
        status = attn_comparison_add(c, p.example.word, p.example.sense, p.sense, q.sense);
    }
    if (status == ATTN_OK) {
        status = attn_comparison_run(c, &a->config, &result, &error);
    }
    attn_comparison_free(c);
    if (status != ATTN_OK) {
        return fail("%s", error.message);
    }
    (a->json ? print_as_json : print_as_text)(a, &result);
    return DONE;
}

int cmd_compare(int argc, char **argv)
{
    arguments a = {.config.resamples = 10000};
    attn_error error;
    parse(&argp, argc, argv, &a);
    attn_predictions *p[2] = {NULL, NULL};
    int code = DONE;
    for (int i = 0; i < 2 && code == DONE; i++) {
        p[i] = attn_predictions_read(a.path[i], NULL, &error);
        code = p[i] != NULL ? DONE : fail("%s", error.message);
    }
    if (code == DONE) {
        code = compare(&a, p[0], p[1]);
    }
    attn_predictions_free(p[1]);
    attn_predictions_free(p[0]);
    return code;
}

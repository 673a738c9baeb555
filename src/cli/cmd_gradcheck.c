/* attn gradcheck [OP...] [--model MODEL --data DATA] */
#include <stdlib.h>
#include <string.h>

#include "cli.h"

/* Of each parameter of a model at most so many elements are moved, on so many sentences. */
#define MOST_ELEMENTS 200
#define SENTENCES     8

typedef struct arguments {
    const char *model, *data, *split;
    char **ops;
    int n;
    double tolerance;
    uint64_t seed;
    bool json, quiet;
} arguments;

enum { KEY_MODEL = KEY_FIRST, KEY_DATA, KEY_TOLERANCE, KEY_SEED };

static const struct argp_option options[] = {
    {"model", KEY_MODEL, "MODEL", 0,
     "Check a whole model instead: its loss on the first 8 sentences of --data, at most about 200 elements of each parameter (of an "
     "ensemble the first model)",
     0},
    {"data", KEY_DATA, "DATA", 0, "Labelled sentences for --model", 0},
    {"split", KEY_SPLIT, "NAME", 0, "Which split of a data folder (default test)", 0},
    {"tolerance", KEY_TOLERANCE, "X", 0, "Largest relative error that counts as right (default 1e-6)", 0},
    {"seed", KEY_SEED, "N", 0, "Seed of the inputs and the cotangent (default 0)", 0},
    {"json", 'j', NULL, 0, "Print one JSON object, schema attn.gradcheck/1", 0},
    {"quiet", 'q', NULL, 0, "Print failures only", 0},
    {0},
};

static error_t parse_option(int key, char *text, struct argp_state *state)
{
    arguments *a = state->input;
    switch (key) {
    case KEY_MODEL:
        a->model = text;
        return 0;
    case KEY_DATA:
        a->data = text;
        return 0;
    case KEY_TOLERANCE:
        a->tolerance = parse_real("tolerance", text, 1e-15, 1, state);
        return 0;
    case KEY_SEED:
        a->seed = parse_seed("seed", text, state);
        return 0;
    case ARGP_KEY_ARG:
        a->ops = rest_of_arguments(state, &a->n);
        return 0;
    case ARGP_KEY_END:
        if ((a->model != NULL) != (a->data != NULL)) {
            argp_error(state, "--model and --data belong together");
        }
        if (a->model != NULL && a->n > 0) {
            argp_error(state, "a model is checked as a whole: name no operations");
        }
        return 0;
    default:
        return parse_common(key, text, state, (common_options){.json = &a->json, .quiet = &a->quiet, .split = &a->split});
    }
}

static const struct argp argp = {
    options,
    parse_option,
    "[OP...]",
    "Compares the gradients of every operation (or of those named) with central differences in float64, every coordinate, with "
    "its sign. Exit status 1 if one is wrong.",
    NULL,
    NULL,
    NULL};

/* What has been checked so far. */
typedef struct totals {
    const arguments *a;
    int checked, failed;
    double max_rel_error;
    json_t *ops;
} totals;

static json_t *index_to_json(const attn_gradcheck_point *p)
{
    json_t *index = json_array();
    for (int i = 0; i < p->rank; i++) {
        json_array_append_new(index, json_integer(p->index[i]));
    }
    return index;
}

/* JSON has no infinity and no NaN: they become null. */
static json_t *real_or_null(double x)
{
    json_t *value = json_real(x);
    return value != NULL ? value : json_null();
}

static void add(totals *t, const char *name, int cases, attn_status status, const attn_gradcheck_report *r)
{
    const attn_gradcheck_point *w = &r->worst;
    t->checked++;
    t->failed += status != ATTN_OK;
    t->max_rel_error = r->max_rel_error > t->max_rel_error ? r->max_rel_error : t->max_rel_error;
    if (t->a->json) {
        json_array_append_new(t->ops,
                              json_pack("{s:s, s:i, s:I, s:o, s:b, s:s, s:{s:s, s:o, s:o, s:o}}", "op", name, "cases", cases, "elements",
                                        (json_int_t)r->elements, "max_rel_error", real_or_null(r->max_rel_error), "ok", status == ATTN_OK,
                                        "verdict", r->verdict, "worst", "tensor", w->tensor, "index", index_to_json(w), "analytic",
                                        real_or_null(w->analytic), "numeric", real_or_null(w->numeric)));
    } else if (!t->a->quiet || status != ATTN_OK) {
        if (!t->a->quiet && t->checked == 1) {
            printf("%-18s %5s %9s %12s   %s\n", "operation", "cases", "elements", "max rel err", "verdict");
        }
        printf("%-18s %5d %9lld %12.2e   %s%s\n", name, cases, (long long)r->elements, r->max_rel_error,
               status == ATTN_OK ? "" : "WRONG: ", r->verdict);
    }
}

static bool is_wanted(const arguments *a, const char *name)
{
    for (int i = 0; i < a->n; i++) {
        if (strcmp(a->ops[i], name) == 0) {
            return true;
        }
    }
    return a->n == 0;
}

/* Every name that was given must be an operation. */
static bool names_are_known(const arguments *a)
{
    for (int i = 0; i < a->n; i++) {
        bool known = false;
        for (int op = 0; op < attn_op_count(); op++) {
            known = known || strcmp(a->ops[i], attn_op_name(op)) == 0;
        }
        if (!known) {
            (void)fail("no operation '%s'; 'attn gradcheck' lists them", a->ops[i]);
            return false;
        }
    }
    return true;
}

/* A tighter tolerance is one for small gradients too. */
static attn_gradcheck_config config_of(const arguments *a, double tolerance)
{
    tolerance = a->tolerance > 0 ? a->tolerance : tolerance;
    return (attn_gradcheck_config){.rtol = tolerance, .atol = tolerance < 1e-6 ? 0.01 * tolerance : 1e-8, .seed = a->seed};
}

static int check_ops(totals *t)
{
    const attn_gradcheck_config config = config_of(t->a, 1e-6);
    for (int op = 0; op < attn_op_count(); op++) {
        if (is_wanted(t->a, attn_op_name(op))) {
            attn_gradcheck_report report;
            int cases;
            attn_status status = attn_gradcheck_op(op, &config, &cases, &report);
            add(t, attn_op_name(op), cases, status, &report);
        }
    }
    return DONE;
}

static int check_model(totals *t)
{
    const attn_gradcheck_config config = config_of(t->a, 1e-6);
    attn_word_sense *m = load_model(t->a->model, 0);
    attn_corpus *data = m != NULL ? read_corpus((char *const[]){(char *)(uintptr_t)t->a->data}, 1, t->a->split, t->a->quiet) : NULL;
    int code = data != NULL ? DONE : FAILED;
    if (data != NULL) {
        attn_gradcheck_report report;
        attn_status status = attn_word_sense_gradcheck(m, data, SENTENCES, MOST_ELEMENTS, &config, &report);
        if (report.elements == 0) {
            code = fail("%s", report.verdict);
        } else {
            add(t, "model", 1, status, &report);
        }
    }
    attn_corpus_free(data);
    attn_word_sense_free(m);
    return code;
}

int cmd_gradcheck(int argc, char **argv)
{
    arguments a = {.split = "test"};
    parse(&argp, argc, argv, &a);
    note_idle(a.quiet, KEY_SPLIT, a.data == NULL, "without --data");
    if (!names_are_known(&a)) {
        return FAILED;
    }
    totals t = {.a = &a, .ops = json_array()};
    int code = a.model != NULL ? check_model(&t) : check_ops(&t);
    if (code == DONE && a.json) {
        print_json(json_pack("{s:s, s:i, s:i, s:o, s:O}", "schema", "attn.gradcheck/1", "checked", t.checked, "failed", t.failed,
                             "max_rel_error", real_or_null(t.max_rel_error), "ops", t.ops));
    } else if (code == DONE && (!a.quiet || t.failed > 0)) {
        printf("%d checked, %d wrong, largest relative error %.2e\n", t.checked, t.failed, t.max_rel_error);
    }
    json_decref(t.ops);
    return code == DONE && t.failed > 0 ? ANSWER_IS_NO : code;
}

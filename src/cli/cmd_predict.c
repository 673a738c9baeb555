/* attn predict MODEL [SENTENCE...] */

#include "cli.h"

typedef struct arguments {
    const char *model;
    char **sentences;
    int n;
    target_choice target;
    bool json, quiet;
    int threads;
} arguments;

enum { KEY_TARGET = KEY_FIRST, KEY_INDEX };

static error_t parse_option(int key, char *text, struct argp_state *state)
{
    arguments *a = state->input;
    switch (key) {
    case KEY_TARGET:
        a->target.word = text;
        return 0;
    case KEY_INDEX:
        a->target.index = parse_int("target-index", text, 0, INT32_MAX, state);
        return 0;
    case ARGP_KEY_ARG:
        if (a->model == NULL) {
            a->model = text;
            return 0;
        }
        a->sentences = rest_of_arguments(state, &a->n);
        return 0;
    case ARGP_KEY_END:
        if (a->model == NULL) {
            argp_error(state, "a model is missing");
        }
        if (a->target.word != NULL && a->target.index >= 0) {
            argp_error(state, "--target and --target-index exclude each other");
        }
        return 0;
    default:
        return parse_common(key, text, state, (common_options){.json = &a->json, .quiet = &a->quiet, .threads = &a->threads});
    }
}

static const struct argp_option options[] = {
    {"target", KEY_TARGET, "WORD", 0, "The word whose sense is asked for (default: the first that the model knows)", 0},
    {"target-index", KEY_INDEX, "N", 0, "The same by its place, counted from 0 (default: as --target)", 0},
    OPTION_THREADS(0),
    {"json", 'j', NULL, 0, "Print one JSON object a sentence, schema attn.predict/1", 0},
    {"quiet", 'q', NULL, 0, "No remarks on stderr", 0},
    {0},
};
static const struct argp argp = {
    options,
    parse_option,
    "MODEL [SENTENCE...]",
    "Tells the sense of a word in each sentence, with the probability of every sense it could have. Words of a "
    "sentence are separated by spaces. Without SENTENCE, sentences are read from standard input, one a line.",
    NULL,
    NULL,
    NULL};

static void print_as_json(const attn_example *e, int target, const attn_prediction *p)
{
    json_t *sentence = json_array(), *probabilities = json_object(), *attention = json_array();
    for (int i = 0; i < e->length; i++) {
        json_array_append_new(sentence, json_string(e->tokens[i]));
    }
    for (int s = 0; s < p->n_senses; s++) {
        json_object_set_new(probabilities, p->senses[s], json_real(p->probabilities[s]));
    }
    for (int h = 0; h < p->heads; h++) {
        json_t *row = json_array();
        for (int i = 0; i < p->length; i++) {
            json_array_append_new(row, json_real(p->attention[h * p->length + i]));
        }
        json_array_append_new(attention, row);
    }
    print_json(json_pack("{s:s, s:o, s:i, s:s, s:o, s:o}", "schema", "attn.predict/1", "sentence", sentence, "target", target, "sense",
                         p->senses[p->best], "probabilities", probabilities, "attention", attention));
}

static void print_as_text(const attn_example *e, int target, const attn_prediction *p)
{
    for (int i = 0; i < e->length; i++) {
        printf(i == target ? "%s[%s]" : "%s%s", i > 0 ? " " : "", e->tokens[i]);
    }
    printf("\n  ");
    for (int s = 0; s < p->n_senses; s++) {
        printf("%s%s%s %.3f", s > 0 ? "   " : "", s == p->best ? "* " : "", p->senses[s], p->probabilities[s]);
    }
    putchar('\n');
}

typedef struct job {
    const arguments *a;
    attn_word_sense *m;
} job;

static int predict_sentence(void *ctx, const char *text, const char *where)
{
    const job *j = ctx;
    attn_error error = {.message = "out of memory"};
    attn_corpus *c = attn_corpus_new(NULL);
    attn_example e;
    attn_prediction p;
    int code = FAILED, target = -1;
    if (c == NULL || attn_corpus_tokenize(c, text, &e, &error) != ATTN_OK) {
        (void)fail("%s%s", where, error.message);
    } else if ((target = find_target(j->m, &e, j->a->target, where, j->a->quiet)) >= 0) {
        if (attn_word_sense_predict(j->m, e.tokens, e.length, target, &p, &error) != ATTN_OK) {
            (void)fail("%s%s", where, error.message);
        } else {
            (j->a->json ? print_as_json : print_as_text)(&e, target, &p);
            code = DONE;
        }
    }
    attn_corpus_free(c);
    return code;
}

int cmd_predict(int argc, char **argv)
{
    arguments a = {.target = {NULL, -1}};
    parse(&argp, argc, argv, &a);
    attn_word_sense *m = load_model(a.model, a.threads);
    if (m == NULL) {
        return FAILED;
    }
    int code = each_sentence(a.sentences, a.n, true, predict_sentence, &(job){&a, m}); /* one without an answer stops none of the others */
    attn_word_sense_free(m);
    return code;
}

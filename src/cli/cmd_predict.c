/* attn predict MODEL [SENTENCE...] */
#include <string.h>

#include "cli.h"

typedef struct arguments {
    const char *model;
    sentence_source from;
    target_choice target;
    attn_tokenization tokenize;
    bool json, quiet;
    int threads;
} arguments;

static void check_arguments(const arguments *a, struct argp_state *state)
{
    int standard = a->from.file != NULL && strcmp(a->from.file, "-") == 0;
    for (int i = 0; i < a->from.n; i++) {
        standard += strcmp(a->from.sentences[i], "-") == 0;
    }
    if (a->model == NULL) {
        argp_error(state, "a model is missing");
    }
    check_target(a->target, state);
    if (standard > 1) {
        argp_error(state, "standard input can be read only once");
    }
}

static error_t parse_option(int key, char *text, struct argp_state *state)
{
    arguments *a = state->input;
    switch (key) {
    case 'f':
        a->from.file = text;
        return 0;
    case ARGP_KEY_ARG:
        if (a->model == NULL) {
            a->model = text;
            return 0;
        }
        a->from.sentences = rest_of_arguments(state, &a->from.n);
        return 0;
    case ARGP_KEY_END:
        check_arguments(a, state);
        return 0;
    default:
        return parse_common(
            key, text, state,
            (common_options){.json = &a->json, .quiet = &a->quiet, .threads = &a->threads, .tokenize = &a->tokenize, .target = &a->target});
    }
}

static const struct argp_option options[] = {
    {"file", 'f', "FILE", 0, "Sentences from a file, one a line; - is standard input (default: no file)", 0},
    OPTION_TOKENIZE(0),
    {"target", KEY_TARGET, "WORD", 0, "The word whose sense is asked for, wherever it stands (default: every word that the model knows)",
     0},
    OPTION_TARGET_INDEX(0),
    OPTION_THREADS(0),
    {"json", 'j', NULL, 0, "Print one JSON object a line for each word asked about, schema attn.predict/1", 0},
    {"quiet", 'q', NULL, 0, "No remarks on stderr", 0},
    {0},
};
static const struct argp argp = {
    options,
    parse_option,
    "MODEL [SENTENCE...]",
    "Tells the sense of the ambiguous words in each sentence, with the probability of every sense they could have. Without SENTENCE or "
    "--file, or where SENTENCE is -, sentences are read from standard input, one a line.",
    NULL,
    NULL,
    NULL};

static void print_real(char before, double x)
{
    char text[1 + REAL_SIZE] = {before};
    int n = real_text(x, text + 1);
    (void)fwrite(text, 1, 1 + (size_t)n, stdout);
}

/* At least one. */
static void print_reals(const double *x, int n)
{
    for (int i = 0; i < n; i++) {
        print_real(i > 0 ? ',' : '[', x[i]);
    }
    putchar(']');
}

static void print_texts(const char *const *texts, int n)
{
    putchar('[');
    for (int i = 0; i < n; i++) {
        fputs(i > 0 ? "," : "", stdout);
        print_json_text(texts[i]);
    }
    putchar(']');
}

/* Indices of the words without a vector of their own. */
static void print_unknown(const attn_word_sense *m, const attn_example *e)
{
    const char *before = "";
    putchar('[');
    for (int i = 0; i < e->length; i++) {
        if (!attn_word_sense_knows(m, e->tokens[i])) {
            printf("%s%d", before, i);
            before = ",";
        }
    }
    putchar(']');
}

static void print_as_json(const attn_word_sense *m, const attn_example *e, int target, const attn_prediction *p)
{
    printf("{\"schema\":\"attn.predict/1\",\"line\":%lld,\"sentence\":", (long long)e->line);
    print_texts(e->tokens, e->length);
    printf(",\"target\":%d,\"word\":", target);
    print_json_text(e->tokens[target]);
    fputs(",\"sense\":", stdout);
    print_json_text(p->senses[p->best]);
    fputs(",\"probabilities\":{", stdout);
    for (int s = 0; s < p->n_senses; s++) {
        fputs(s > 0 ? "," : "", stdout);
        print_json_text(p->senses[s]);
        print_real(':', p->probabilities[s]);
    }
    fputs("},\"attention\":[", stdout);
    for (int h = 0; h < p->heads; h++) {
        fputs(h > 0 ? "," : "", stdout);
        print_reals(p->attention + (size_t)h * (size_t)p->length, p->length);
    }
    fputs("],\"unknown\":", stdout);
    print_unknown(m, e);
    puts("}");
}

static void print_as_text(const attn_word_sense *m, const attn_example *e, int target, const attn_prediction *p)
{
    (void)m;
    for (int i = 0; i < e->length; i++) {
        print_token(i, e->tokens[i], i == target);
    }
    printf("\n  ");
    for (int s = 0; s < p->n_senses; s++) {
        printf("%s%s", s > 0 ? "   " : "", s == p->best ? "* " : "");
        print_text(p->senses[s]);
        printf(" %.3f", p->probabilities[s]);
    }
    putchar('\n');
}

typedef struct job {
    const arguments *a;
    attn_word_sense *m;
    attn_corpus *words; /* of one sentence */
} job;

/* A sentence of which the model knows little was perhaps cut otherwise than its training text. */
static void note_unknown(const job *j, const attn_example *e, const char *where)
{
    int unknown = 0;
    for (int i = 0; i < e->length; i++) {
        unknown += !attn_word_sense_knows(j->m, e->tokens[i]);
    }
    if (2 * unknown > e->length) {
        note(j->a->quiet, "%s%d of %d words are unknown to the model", where, unknown, e->length);
    }
}

static int predict_sentence(void *ctx, const char *text, const char *where, long long number)
{
    const job *j = ctx;
    const arguments *a = j->a;
    attn_example e;
    attn_prediction p;
    attn_error error;
    attn_corpus_clear(j->words);
    if (read_sentence(j->m, j->words, text, a->tokenize, a->target, where, &e) != DONE) {
        return FAILED;
    }
    e.line = number;
    int target = next_target(j->m, &e, a->target, 0);
    if (target < 0) {
        return no_target(j->m, a->target, where);
    }
    note_unknown(j, &e, where);
    for (; target >= 0; target = next_target(j->m, &e, a->target, target + 1)) {
        if (attn_word_sense_predict(j->m, e.tokens, e.length, target, &p, &error) != ATTN_OK) {
            return fail("%s%s", where, error.message);
        }
        (a->json ? print_as_json : print_as_text)(j->m, &e, target, &p);
    }
    return DONE;
}

/* All sentences are known, none is waited for. */
static bool is_brief(const sentence_source *from)
{
    bool brief = from->file == NULL && from->n > 0;
    for (int i = 0; i < from->n; i++) {
        brief = brief && strcmp(from->sentences[i], "-") != 0;
    }
    return brief;
}

int cmd_predict(int argc, char **argv)
{
    arguments a = {.from = {.all = true}, .target = {NULL, -1}}; /* a sentence without an answer stops none of the others */
    parse(&argp, argc, argv, &a);
    a.from.quiet = a.quiet;
    job j = {.a = &a, .m = (is_brief(&a.from) ? map_model : load_model)(a.model, a.threads), .words = attn_corpus_new(NULL)};
    int code = FAILED;
    if (j.m != NULL && j.words == NULL) {
        (void)fail("out of memory");
    } else if (j.m != NULL && settle_target(j.m, &a.target) == DONE) {
        code = each_sentence(&a.from, predict_sentence, &j);
    }
    attn_corpus_free(j.words);
    attn_word_sense_free(j.m);
    return code;
}

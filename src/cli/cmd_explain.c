/* attn explain MODEL SENTENCE */
#include <string.h>

#include "explain.h"
#include "pages.h"

typedef struct arguments {
    const char *model, *output;
    char *sentence; /* "-": standard input */
    target_choice target;
    explain_part part;
    attn_tokenization tokenize;
    attn_language language;
    bool json, quiet;
    int threads;
} arguments;

enum { KEY_HEAD = KEY_FIRST, KEY_MEMBER, KEY_DIGITS, KEY_BRIEF };

static const char *const all_or_one[] = {"all", NULL};

static error_t parse_argument(arguments *a, char *text, struct argp_state *state)
{
    if (a->model == NULL) {
        a->model = text;
    } else if (a->sentence == NULL) {
        a->sentence = text;
    } else {
        argp_error(state, "'%s' is one argument too many: a sentence is one argument, in quotes", text);
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
    case KEY_HEAD:
        a->part.head = parse_index_or("head", text, all_or_one, state);
        return 0;
    case KEY_MEMBER:
        a->part.member = parse_index_or("member", text, all_or_one, state);
        return 0;
    case KEY_DIGITS:
        a->part.digits = parse_int("digits", text, 0, 12, state);
        return 0;
    case KEY_BRIEF:
        a->part.brief = true;
        return 0;
    case ARGP_KEY_ARG:
        return parse_argument(a, text, state);
    case ARGP_KEY_END:
        if (a->sentence == NULL) {
            argp_error(state, a->model == NULL ? "a model is missing" : "a sentence is missing");
        }
        check_target(a->target, state);
        if (a->json && a->output != NULL) {
            argp_error(state, "--json prints and -o writes a page: one of them");
        }
        return 0;
    default:
        return parse_common(key, text, state,
                            (common_options){.json = &a->json,
                                             .quiet = &a->quiet,
                                             .threads = &a->threads,
                                             .tokenize = &a->tokenize,
                                             .target = &a->target,
                                             .language = &a->language});
    }
}

static const struct argp_option options[] = {
    {"target", KEY_TARGET, "WORD", 0, "The word whose sense is explained (default: the first that the model knows)", 0},
    OPTION_TARGET_INDEX(0),
    OPTION_TOKENIZE(0),
    {"output", 'o', "FILE", 0, "Write a page that goes through the steps, an .html file, instead of printing them", 0},
    OPTION_LANG(0),
    {"head", KEY_HEAD, "N", 0, "One head, counted from 0, or 'all' (default: all)", 0},
    {"member", KEY_MEMBER, "N", 0, "Of an ensemble one model, counted from 0, or 'all' (default: all)", 0},
    {"digits", KEY_DIGITS, "N", 0, "Digits after the point in tables, 0 to 12 (default: 4)", 0},
    {"brief", KEY_BRIEF, NULL, 0, "One number a word and step: leave out the vectors", 0},
    OPTION_THREADS(0),
    {"json", 'j', NULL, 0, "Print one JSON object with every number, schema attn.explain/1", 0},
    {"quiet", 'q', NULL, 0, "No remarks on stderr", 0},
    {0},
};
static const struct argp argp = {
    options,
    parse_option,
    "MODEL SENTENCE",
    "Shows step by step, with every number, how the model finds the sense of a word: score, scale, softmax, weighted sum, senses. What is "
    "shown is what 'attn predict' computes. '-' reads sentences from standard input, one "
    "a line.",
    NULL,
    NULL,
    NULL};

typedef struct job {
    const arguments *a;
    attn_word_sense *m;
} job;

static int explain_words(const job *j, const attn_example *words, const char *where)
{
    attn_explanation e;
    attn_error error;
    int target = find_target(j->m, words, j->a->target, where, j->a->quiet);
    if (target < 0) {
        return FAILED;
    }
    if (attn_word_sense_explain(j->m, words->tokens, words->length, target, &e, &error) != ATTN_OK) {
        return fail("%s%s", where, error.message);
    }
    if (j->a->json) {
        print_json(explanation_to_json(words, &e, &j->a->part));
    } else {
        print_explanation(words, &e, &j->a->part, attn_word_sense_get_config(j->m).prior);
    }
    return DONE;
}

static int explain_sentence(void *ctx, const char *text, const char *where, long long number)
{
    const job *j = ctx;
    attn_corpus *c = attn_corpus_new(NULL);
    attn_example words;
    (void)number;
    int code = read_sentence(j->m, c, text, j->a->tokenize, j->a->target, where, &words);
    code = code == DONE ? explain_words(j, &words, where) : code;
    attn_corpus_free(c);
    return code;
}

static int check_part(const attn_word_sense *m, const explain_part *part)
{
    attn_word_sense_config c = attn_word_sense_get_config(m);
    if (part->head >= c.heads) {
        return fail("--head is %d, the model has the heads 0..%d", part->head, c.heads - 1);
    }
    if (part->member >= c.seeds) {
        return fail("--member is %d, the ensemble has the models 0..%d", part->member, c.seeds - 1);
    }
    return DONE;
}

static sentence_source source_of(const arguments *a)
{
    return (sentence_source){.sentences = &a->sentence, .n = 1, .quiet = a->quiet};
}

static int print_steps(const arguments *a, attn_word_sense *m)
{
    const sentence_source from = source_of(a);
    return each_sentence(&from, explain_sentence, &(job){a, m});
}

/* The page has all heads and models; it begins with those that were asked for. */
static int write_page(const arguments *a, attn_word_sense *m)
{
    const sentence_source from = source_of(a);
    report_words w;
    int code = words_collect(&w, m, &from, a->target, a->tokenize);
    if (code == DONE) {
        code = report_write(a->output,
                            &(attn_report_config){.model = m,
                                                  .sentences = w.sentence,
                                                  .n_sentences = w.n,
                                                  .steps_only = true,
                                                  .language = a->language,
                                                  .head = a->part.head < 0 ? 0 : a->part.head,
                                                  .member = a->part.member < 0 ? 0 : a->part.member},
                            a->quiet);
    }
    words_free(&w);
    return code;
}

int cmd_explain(int argc, char **argv)
{
    arguments a = {.target = {NULL, -1}, .part = {.head = -1, .member = -1, .digits = 4}};
    parse(&argp, argc, argv, &a);
    note_idle(a.quiet, KEY_LANG, a.output == NULL, "without -o");
    note_idle(a.quiet, KEY_DIGITS, a.output != NULL || a.json, a.json ? "on JSON" : "on a page");
    note_idle(a.quiet, KEY_BRIEF, a.output != NULL || a.json, a.json ? "on JSON" : "on a page");
    if (a.output != NULL && (overwrites(a.output, &a.model, 1) || page_check(a.output) != DONE)) {
        return FAILED;
    }
    attn_word_sense *m = load_model(a.model, a.threads);
    if (m == NULL) {
        return FAILED;
    }
    int code = check_part(m, &a.part);
    code = code == DONE ? settle_target(m, &a.target) : code;
    if (code == DONE) {
        code = (a.output != NULL ? write_page : print_steps)(&a, m);
    }
    attn_word_sense_free(m);
    return code;
}

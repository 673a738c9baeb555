/* attn info [MODEL] */
#include <string.h>

#include "cli.h"

typedef struct arguments {
    const char *model;
    bool json;
} arguments;

static error_t parse_option(int key, char *text, struct argp_state *state)
{
    arguments *a = state->input;
    switch (key) {
    case 'j':
        a->json = true;
        return 0;
    case ARGP_KEY_ARG:
        if (a->model != NULL) {
            argp_error(state, "one model at most");
        }
        a->model = text;
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_option options[] = {
    {"json", 'j', NULL, 0, "Print one JSON object, schema attn.info/1", 0},
    {0},
};
static const struct argp argp = {
    options, parse_option, "[MODEL]", "Prints version, instruction set, threads and libraries; or what a model file holds.",
    NULL,    NULL,         NULL};

static json_t *libraries_to_json(void)
{
    json_t *libraries = json_array();
    for (int i = 0; i < attn_library_count(); i++) {
        json_array_append_new(libraries, json_pack("{s:s, s:s}", "name", attn_library_name(i), "version", attn_library_version(i)));
    }
    return libraries;
}

static int show_machine(const arguments *a)
{
    if (a->json) {
        print_json(json_pack("{s:s, s:s, s:s, s:b, s:i, s:[s,s], s:o}", "schema", "attn.info/1", "version", attn_version(), "isa",
                             attn_isa(), "openmp", attn_has_threads(), "threads", attn_default_threads(), "dtypes", "float32", "float64",
                             "libraries", libraries_to_json()));
        return DONE;
    }
    printf("attn %s\ninstruction set: %s\nthreads: %d%s\ndtypes: float32 (training), float64 (gradient checks)\noperations: %d\n",
           attn_version(), attn_isa(), attn_default_threads(), attn_has_threads() ? " (OpenMP)" : " (built without OpenMP)",
           attn_op_count());
    printf("libraries:");
    for (int i = 0; i < attn_library_count(); i++) {
        printf("%s %s%s%s", i > 0 ? "," : "", attn_library_name(i), attn_library_version(i)[0] != '\0' ? " " : "", attn_library_version(i));
    }
    putchar('\n');
    return DONE;
}

static json_t *words_to_json(const attn_word_sense *m)
{
    json_t *words = json_array();
    for (int w = 0; w < attn_word_sense_words(m); w++) {
        json_t *senses = json_array();
        for (int s = 0; s < attn_word_sense_senses(m, w); s++) {
            json_array_append_new(senses, json_pack("{s:s, s:I}", "sense", attn_word_sense_sense(m, w, s), "training_examples",
                                                    (json_int_t)attn_word_sense_support(m, w, s)));
        }
        json_array_append_new(words, json_pack("{s:s, s:o}", "word", attn_word_sense_word(m, w), "senses", senses));
    }
    return words;
}

static void show_model(const arguments *a, const attn_word_sense *m)
{
    attn_word_sense_config c = attn_word_sense_get_config(m);
    if (a->json) {
        char seed[24];
        (void)snprintf(seed, sizeof seed, "%llu", (unsigned long long)c.seed);
        print_json(json_pack("{s:s, s:s, s:s, s:i, s:i, s:i, s:s, s:f, s:s, s:i, s:i, s:b, s:I, s:I, s:o}", "schema", "attn.info/1",
                             "model", a->model, "score", attn_score_name(c.score), "heads", c.heads, "dim", c.dim, "hidden", c.hidden,
                             "position", c.position == ATTN_POSITION_NONE ? "none" : "relative", "neighbours", c.neighbours, "seed", seed,
                             "members", c.seeds, "epochs", attn_word_sense_epochs_done(m), "finished", attn_word_sense_finished(m),
                             "parameters", (json_int_t)attn_word_sense_parameters(m), "vocabulary",
                             (json_int_t)attn_word_sense_vocabulary(m), "words", words_to_json(m)));
        return;
    }
    printf("%s: word-sense model%s\nscore %s, %d heads, embeddings of %d, %d hidden a head, position %s, neighbours %g, %d member%s\n",
           a->model, attn_word_sense_finished(m) ? "" : ", training not finished", attn_score_name(c.score), c.heads, c.dim, c.hidden,
           c.position == ATTN_POSITION_NONE ? "none" : "relative", c.neighbours, c.seeds, c.seeds == 1 ? "" : "s");
    printf("seed %llu, %d epochs trained, %lld parameters, %lld words in the vocabulary\n", (unsigned long long)c.seed,
           attn_word_sense_epochs_done(m), (long long)attn_word_sense_parameters(m), (long long)attn_word_sense_vocabulary(m));
    for (int w = 0; w < attn_word_sense_words(m); w++) {
        printf("%s:", attn_word_sense_word(m, w));
        for (int s = 0; s < attn_word_sense_senses(m, w); s++) {
            printf("%s %s (%lld)", s > 0 ? "," : "", attn_word_sense_sense(m, w, s), (long long)attn_word_sense_support(m, w, s));
        }
        putchar('\n');
    }
}

int cmd_info(int argc, char **argv)
{
    arguments a = {.model = NULL};
    parse(&argp, argc, argv, &a);
    if (a.model == NULL) {
        return show_machine(&a);
    }
    attn_word_sense *m = load_model(a.model, 0);
    if (m == NULL) {
        return FAILED;
    }
    show_model(&a, m);
    attn_word_sense_free(m);
    return DONE;
}

/* The tool: one subcommand a file, this header for what they share. It sees the public headers only. */
#ifndef ATTN_CLI_H
#define ATTN_CLI_H

#include <argp.h>
#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "attn/attn.h"

/* Exit codes. */
enum { DONE = 0, ANSWER_IS_NO = 1, FAILED = 2, INTERRUPTED = 130 };

/* One subcommand; `run` gets its own name as argv[0]. The list is commands.def. */
typedef struct command {
    const char *name, *summary;
    int (*run)(int argc, char **argv);
} command;

#define COMMAND(name, summary) int cmd_##name(int argc, char **argv);
#include "commands.def"
#undef COMMAND

/* ---- messages.c ---- */

/* "attn: message" on stderr; returns FAILED. */
int fail(const char *format, ...) ATTN_PRINTF(1, 2);
#define fail(...) ((void)fail(__VA_ARGS__), FAILED) /* so that the compiler knows */
/* The same without failing, silent with --quiet. */
void note(bool quiet, const char *format, ...) ATTN_PRINTF(2, 3);
/* Ends the program with FAILED and a message if anything written to stdout was lost. For atexit, and before others write there. */
void close_output(void);

/* ---- options.c: parsing of numbers and names; a bad one is a usage error ---- */

/* Keys of long options without a letter: those that several subcommands have, then each one's own from KEY_FIRST on. */
enum { KEY_THREADS = 900, KEY_SPLIT, KEY_TOKENIZE, KEY_LANG, KEY_TARGET, KEY_TARGET_INDEX, KEY_FIRST = 1000 };

#define OPTION_THREADS(group)                                                                                                            \
    {                                                                                                                                    \
        "threads", KEY_THREADS, "N", 0, "Threads (default: OMP_NUM_THREADS, or the processors allowed); never changes the result", group \
    }

#define OPTION_TOKENIZE(group)                                                                                             \
    {                                                                                                                      \
        "tokenize", KEY_TOKENIZE, "HOW", 0,                                                                                \
            "How a sentence becomes words: spaces (as it is), words (raw English: lower case, punctuation and 's apart), " \
            "chars (the same, and Chinese without spaces by the model's words), auto (default: by the sentence)",          \
            group                                                                                                          \
    }

#define OPTION_LANG(group)                                                                                            \
    {                                                                                                                 \
        "lang", KEY_LANG, "auto|en|zh", 0, "Language of a page's own words (default auto: by the words shown)", group \
    }

#define OPTION_TARGET_INDEX(group)                                                                                   \
    {                                                                                                                \
        "target-index", KEY_TARGET_INDEX, "N", 0,                                                                    \
            "The same by its place, counted from 0; --tokenize auto then means spaces (default: as --target)", group \
    }

/* Which words of a sentence are asked about: --target WORD, --target-index N, else all that the model knows. */
typedef struct target_choice {
    const char *word; /* NULL: not given */
    int index;        /* -1: not given */
} target_choice;

/* Where the options that several subcommands have leave their values; NULL for those that a subcommand has not. */
typedef struct common_options {
    bool *json, *quiet;
    int *threads;
    const char **split;
    attn_tokenization *tokenize;
    attn_language *language;
    target_choice *target;
} common_options;

/* The parser of these: ARGP_ERR_UNKNOWN for any other key. */
error_t parse_common(int key, char *text, struct argp_state *state, common_options to);
/* At ARGP_KEY_END: not both of --target and --target-index. */
void check_target(target_choice choice, struct argp_state *state);
/* At ARGP_KEY_ARG: this positional argument and all after it, *n of them. */
char **rest_of_arguments(struct argp_state *state, int *n);

/* Adds an option that may be given several times to a list, which free() frees. */
void add_text(char ***list, int *n, char *text);
/* Is the path "-", standard input or output? Not if it is NULL. */
bool is_stdio(const char *path);
int parse_int(const char *option, const char *text, int low, int high, struct argp_state *state);
double parse_real(const char *option, const char *text, double low, double high, struct argp_state *state);
uint64_t parse_seed(const char *option, const char *text, struct argp_state *state);
/* Index of `text` in a NULL-terminated list of names. */
int parse_choice(const char *option, const char *text, const char *const names[], struct argp_state *state);
/* A number counted from 0, or -1 - i for the i-th name. */
int parse_index_or(const char *option, const char *text, const char *const names[], struct argp_state *state);
/* Runs argp with exit status FAILED on a usage error, and positional arguments anywhere. */
void parse(const struct argp *argp, int argc, char **argv, void *input);
/* Says "--OPTION has no effect WHERE" if the option with this key is idle and was given in the latest parse. */
void note_idle(bool quiet, int key, bool idle, const char *where);

/* ---- output.c ---- */

/* Prints one JSON object on a line and frees it. */
void print_json(json_t *object);
/* Text as a JSON string, for what is printed often. */
void print_json_text(const char *text);
/* Puts '?' in the place of control characters, so that a message stays on its line. */
void hide_controls(char *text);
/* Text for people: pictures of control characters (U+2400 ...) stand for them, so that no word controls the terminal. */
void print_text(const char *text);
/* Token number i of a sentence, in brackets if it is asked about. */
void print_token(int i, const char *token, bool asked);
/* Terminal columns that it takes. */
int text_width(const char *text);
/* The same padded with spaces to `width` terminal columns (Chinese characters take two). */
void print_padded(const char *text, int width);

/* ---- reals.c ---- */

/* A number of JSON: 12 significant digits, with a point or an exponent; null if it is not finite. Returns the length of the text. */
enum { REAL_SIZE = 40 };
int real_text(double x, char text[REAL_SIZE]);

/* ---- data.c ---- */

/* Reads all of the paths into a new corpus and notes skipped blank lines; NULL after a message. */
attn_corpus *read_corpus(char *const paths[], int n, const char *split, bool quiet);
/* An output must not be one of the files that are read (or another output): true, after a message, if `output` is the same file as one of
 * the n others. NULL and "-" are no files. */
bool overwrites(const char *output, const char *const others[], int n);
/* Loads a model; NULL after a message. */
attn_word_sense *load_model(const char *path, int threads);
/* The same in less time, for a process that will be over in a moment: if pages of the file go meanwhile, it ends with a message. */
attn_word_sense *map_model(const char *path, int threads);

/* ---- sentences.c ---- */

/* Where sentences come from: the command line ("-": standard input, one a line), then a file, one a line; standard input if there is
 * neither. */
typedef struct sentence_source {
    char *const *sentences;
    int n;
    const char *file; /* NULL: none; "-": standard input */
    bool all, quiet;  /* all: one that fails stops none of the others */
    const char *name; /* of one, before messages; NULL: "sentence", if there are several */
} sentence_source;

/* What is done with each: `where` goes before messages ("", "sentence 2: ", "standard input:3: "), `number` is that of the line or
 * argument. */
typedef int (*sentence_fn)(void *ctx, const char *text, const char *where, long long number);

/* Visits the sentences in order. Blank lines are skipped and counted, a byte-order mark at the start and CRLF make no difference, and what
 * was printed is shown before the next lines are waited for. DONE, or the code of a visit or reading that failed (also: no sentence). */
int each_sentence(const sentence_source *from, sentence_fn visit, void *ctx);

/* Makes the word the one that the model has ("Bank" becomes bank). FAILED after a message if it knows no senses of it. */
int settle_target(const attn_word_sense *m, target_choice *choice);
/* The words of a sentence; auto with an index counts what stands between spaces. FAILED after a message, also for an index outside. */
int read_sentence(const attn_word_sense *m, attn_corpus *c, const char *text, attn_tokenization how, target_choice choice,
                  const char *where, attn_example *words);
/* Index of the next word asked about at `from` or behind it, -1 if there is none. */
int next_target(const attn_word_sense *m, const attn_example *words, target_choice choice, int from);
/* FAILED after the message that there is none at all. */
int no_target(const attn_word_sense *m, target_choice choice, const char *where);
/* The first of them, -1 after a message. */
int find_target(const attn_word_sense *m, const attn_example *words, target_choice choice, const char *where, bool quiet);

#endif

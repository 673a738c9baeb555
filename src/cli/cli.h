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
/* The same without failing, silent with --quiet. */
void note(bool quiet, const char *format, ...) ATTN_PRINTF(2, 3);
/* Ends the program with FAILED and a message if anything written to stdout was lost. For atexit, and before others write there. */
void close_output(void);

/* ---- options.c: parsing of numbers and names; a bad one is a usage error ---- */

/* Keys of long options without a letter: those that several subcommands have, then each one's own from KEY_FIRST on. */
enum { KEY_THREADS = 900, KEY_SPLIT, KEY_FIRST = 1000 };

#define OPTION_THREADS(group)                                                                                                    \
    {                                                                                                                            \
        "threads", KEY_THREADS, "N", 0, "Threads (default: OMP_NUM_THREADS, or all processors); never changes the result", group \
    }

/* Where the options that several subcommands have leave their values; NULL for those that a subcommand has not. */
typedef struct common_options {
    bool *json, *quiet;
    int *threads;
    const char **split;
} common_options;

/* The parser of these: ARGP_ERR_UNKNOWN for any other key. */
error_t parse_common(int key, char *text, struct argp_state *state, common_options to);
/* At ARGP_KEY_ARG: this positional argument and all after it, *n of them. */
char **rest_of_arguments(struct argp_state *state, int *n);

/* Adds an option that may be given several times to a list, which free() frees. */
void add_text(char ***list, int *n, char *text);
int parse_int(const char *option, const char *text, int low, int high, struct argp_state *state);
double parse_real(const char *option, const char *text, double low, double high, struct argp_state *state);
uint64_t parse_seed(const char *option, const char *text, struct argp_state *state);
/* Index of `text` in a NULL-terminated list of names. */
int parse_choice(const char *option, const char *text, const char *const names[], struct argp_state *state);
/* Runs argp with exit status FAILED on a usage error, and positional arguments anywhere. */
void parse(const struct argp *argp, int argc, char **argv, void *input);

/* ---- output.c ---- */

/* Prints one JSON object on a line and frees it. */
void print_json(json_t *object);
/* Text padded with spaces to `width` terminal columns (Chinese characters take two). */
void print_padded(const char *text, int width);

/* ---- data.c ---- */

/* Reads all of the paths into a new corpus and notes skipped blank lines; NULL after a message. */
attn_corpus *read_corpus(char *const paths[], int n, const char *split, bool quiet);
/* An output must not be one of the files that are read (or another output): true, after a message, if `output` is the same file as one of
 * the n others. NULL and "-" are no files. */
bool overwrites(const char *output, const char *const others[], int n);
/* Loads a model; NULL after a message. */
attn_word_sense *load_model(const char *path, int threads);

/* Calls visit(ctx, text, where) for each of the sentences, or if there are none for each line of standard input that is not blank. `where`
 * goes before messages: "", "sentence 2: ", "standard input:3: ". Ends at the first failure, or goes on after it if `all`. FAILED if a call
 * failed or if there is no sentence. */
typedef int (*sentence_fn)(void *ctx, const char *text, const char *where);
int each_sentence(char *const sentences[], int n, bool all, sentence_fn visit, void *ctx);

/* Which word of a sentence is asked about: --target WORD, --target-index N, else the first that the model knows. */
typedef struct target_choice {
    const char *word; /* NULL: not given */
    int index;        /* -1: not given */
} target_choice;
/* Index of that word, -1 after a message. */
int find_target(const attn_word_sense *m, const attn_example *sentence, target_choice choice, const char *where, bool quiet);

#endif

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"

/* The program never calls setlocale, so strtod reads a point whatever the user's locale. */

bool is_stdio(const char *path)
{
    return path != NULL && strcmp(path, "-") == 0;
}

int parse_int(const char *option, const char *text, int low, int high, struct argp_state *state)
{
    char *end;
    errno = 0;
    long value = strtol(text, &end, 10);
    if (end == text || *end != '\0' || errno != 0 || value < low || value > high) {
        argp_error(state, "--%s is '%s', expected a whole number from %d to %d", option, text, low, high);
    }
    return (int)value;
}

double parse_real(const char *option, const char *text, double low, double high, struct argp_state *state)
{
    char *end;
    double value = strtod(text, &end);
    if (end == text || *end != '\0' || !(value >= low && value <= high)) {
        argp_error(state, "--%s is '%s', expected a number from %g to %g", option, text, low, high);
    }
    return value;
}

uint64_t parse_seed(const char *option, const char *text, struct argp_state *state)
{
    char *end;
    errno = 0;
    unsigned long long value = strtoull(text, &end, 10);
    if (text[0] < '0' || text[0] > '9' || *end != '\0' || errno != 0 || value > INT64_MAX) { /* the largest integer of jansson */
        argp_error(state, "--%s is '%s', expected a whole number from 0 to %lld", option, text, (long long)INT64_MAX);
    }
    return value;
}

/* Index of `text` in a NULL-terminated list of names, -1 if it is none of them. */
static int find_name(const char *text, const char *const names[])
{
    int i = 0;
    while (names[i] != NULL && strcmp(text, names[i]) != 0) {
        i++;
    }
    return names[i] != NULL ? i : -1;
}

/* "a, b, c", cut where `room` ends. */
static const char *list_names(const char *const names[], char *list, size_t room)
{
    list[0] = '\0';
    for (int i = 0; names[i] != NULL; i++) {
        size_t at = strlen(list);
        (void)snprintf(list + at, room - at, "%s%s", i > 0 ? ", " : "", names[i]);
    }
    return list;
}

int parse_choice(const char *option, const char *text, const char *const names[], struct argp_state *state)
{
    char list[200];
    int i = find_name(text, names);
    if (i < 0) {
        argp_error(state, "--%s is '%s', expected one of: %s", option, text, list_names(names, list, sizeof list));
    }
    return i;
}

int parse_index_or(const char *option, const char *text, const char *const names[], struct argp_state *state)
{
    char list[200], *end;
    int name = find_name(text, names);
    if (name >= 0) {
        return -1 - name;
    }
    errno = 0;
    long value = strtol(text, &end, 10);
    if (text[0] < '0' || text[0] > '9' || *end != '\0' || errno != 0 || value > INT_MAX) {
        argp_error(state, "--%s is '%s', expected %s or a whole number from 0 on", option, text, list_names(names, list, sizeof list));
    }
    return (int)value;
}

/* ---- the command line ---- */

enum { MOST_KEYS = KEY_FIRST + 100 };

static const struct argp *parsed;
static bool given[MOST_KEYS];

static error_t note_and_parse(int key, char *text, struct argp_state *state)
{
    if (key >= 0 && key < MOST_KEYS) {
        given[key] = true;
    }
    return parsed->parser(key, text, state);
}

void parse(const struct argp *argp, int argc, char **argv, void *input)
{
    struct argp noting = *argp;
    noting.parser = note_and_parse;
    parsed = argp;
    memset(given, 0, sizeof given);
    argp_err_exit_status = FAILED;
    error_t why = argp_parse(&noting, argc, argv, 0, NULL, input);
    if (why != 0) { /* memory: what is wrong with the arguments has been told */
        exit(fail("%s", strerror(why)));
    }
}

void note_idle(bool quiet, int key, bool idle, const char *where)
{
    if (idle && given[key]) {
        const struct argp_option *o = parsed->options;
        while (o->key != key) {
            o++;
        }
        note(quiet, "--%s has no effect %s", o->name, where);
    }
}

error_t parse_common(int key, char *text, struct argp_state *state, common_options to)
{
    if (key == 'j' && to.json != NULL) {
        *to.json = true;
    } else if (key == 'q' && to.quiet != NULL) {
        *to.quiet = true;
    } else if (key == KEY_THREADS && to.threads != NULL) {
        *to.threads = parse_int("threads", text, 1, 1024, state);
    } else if (key == KEY_SPLIT && to.split != NULL) {
        *to.split = text;
    } else if (key == KEY_TOKENIZE && to.tokenize != NULL) {
        static const char *const names[] = {"auto", "spaces", "words", "chars", NULL}; /* in the order of the values */
        *to.tokenize = (attn_tokenization)parse_choice("tokenize", text, names, state);
    } else if (key == KEY_LANG && to.language != NULL) {
        static const char *const names[] = {"auto", "en", "zh", NULL}; /* in the order of the values */
        *to.language = (attn_language)parse_choice("lang", text, names, state);
    } else if (key == KEY_TARGET && to.target != NULL) {
        to.target->word = text;
    } else if (key == KEY_TARGET_INDEX && to.target != NULL) {
        to.target->index = parse_int("target-index", text, 0, INT32_MAX, state);
    } else {
        return ARGP_ERR_UNKNOWN;
    }
    return 0;
}

void check_target(target_choice choice, struct argp_state *state)
{
    if (choice.word != NULL && choice.index >= 0) {
        argp_error(state, "--target and --target-index exclude each other");
    }
}

char **rest_of_arguments(struct argp_state *state, int *n)
{
    char **first = &state->argv[state->next - 1];
    *n = state->argc - state->next + 1;
    state->next = state->argc;
    return first;
}

void add_text(char ***list, int *n, char *text)
{
    *list = realloc(*list, ((size_t)*n + 1) * sizeof **list);
    if (*list == NULL) {
        exit(fail("out of memory"));
    }
    (*list)[(*n)++] = text;
}

/* attn SUBCOMMAND ...: finds the subcommand and runs it. */
#include <stdlib.h>
#include <string.h>

#include "cli.h"

static const command commands[] = {
#define COMMAND(name, summary) {#name, summary, cmd_##name},
#include "commands.def"
#undef COMMAND
};
#define N_COMMANDS (sizeof commands / sizeof commands[0])

static void help(FILE *to)
{
    fprintf(to, "Usage: attn SUBCOMMAND [OPTION...]\n"
                "Trainable attention: word senses from labelled sentences, checked gradients, heatmaps.\n\n");
    for (size_t i = 0; i < N_COMMANDS; i++) {
        fprintf(to, "  %-10s %s\n", commands[i].name, commands[i].summary);
    }
    fprintf(to, "\n'attn SUBCOMMAND --help' lists the options of a subcommand with their defaults; 'attn --version' prints the version.\n"
                "Exit status: 0 done, 1 it ran and the answer is no, 2 usage, input or output error, 130 interrupted.\n");
}

static int usage_error(const char *what, const char *word)
{
    fprintf(stderr, "attn: %s'%s'; 'attn --help' lists the subcommands\n", what, word);
    return FAILED;
}

int main(int argc, char **argv)
{
    if (argc < 2) {
        help(stderr);
        return FAILED;
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-?") == 0 || strcmp(argv[1], "-h") == 0 || strcmp(argv[1], "help") == 0) {
        help(stdout);
        return finish(DONE);
    }
    if (strcmp(argv[1], "--version") == 0 || strcmp(argv[1], "-V") == 0) {
        printf("attn %s\nthreads: %s\n", attn_version(), attn_has_threads() ? "yes (OpenMP)" : "no");
        return finish(DONE);
    }
    for (size_t i = 0; i < N_COMMANDS; i++) {
        if (strcmp(argv[1], commands[i].name) == 0) {
            char name[32];
            (void)snprintf(name, sizeof name, "attn %s", commands[i].name);
            argv[1] = name;
            return finish(commands[i].run(argc - 1, argv + 1));
        }
    }
    return usage_error(argv[1][0] == '-' ? "unknown option " : "unknown subcommand ", argv[1]);
}

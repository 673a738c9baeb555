/* attn SUBCOMMAND ...: finds the subcommand and runs it. */
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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
    return fail("%s'%s'; 'attn --help' lists the subcommands", what, word);
}

/* jansson asks for memory here. Where there is none, half an object is worth nothing. */
static void *alloc_or_exit(size_t size)
{
    void *ptr = malloc(size);
    if (ptr == NULL) {
        exit(fail("out of memory: %zu bytes wanted", size));
    }
    return ptr;
}

/* A standard stream that is closed must not become a file of ours: it becomes one that cannot be used. */
static bool hold_standard_streams(void)
{
    for (int fd = 0; fd <= 2; fd++) {
        if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", fd == 0 ? O_WRONLY : O_RDONLY) < 0) {
            return false;
        }
    }
    return true;
}

/* Where the variable is no number or a very large one, LLVM's OpenMP (14) takes sizes from memory that it has not set: it aborts, or asks
 * for all there is. It reads the variable at the first call; GCC's has done so before main, with a warning of its own. */
static void drop_nonsense(void)
{
#if defined(__clang__)
    const char *threads = getenv("OMP_NUM_THREADS");
    size_t digits = threads != NULL ? strspn(threads, "0123456789") : 0;
    bool number = digits > 0 && digits < 6 && strtol(threads, NULL, 10) > 0 && strspn(threads, "0123456789,") == strlen(threads);
    if (threads != NULL && attn_has_threads() && !number) {
        note(false, "OMP_NUM_THREADS is '%s', no number of threads: passed over", threads);
        (void)unsetenv("OMP_NUM_THREADS");
    }
#endif
}

int main(int argc, char **argv)
{
    if (!hold_standard_streams()) {
        return FAILED;
    }
    drop_nonsense();
    if (!isatty(STDOUT_FILENO)) {
        (void)setvbuf(stdout, NULL, _IOFBF, 1 << 16); /* a whole help text: its loss is then noticed with its reason */
    }
    (void)unsetenv("ARGP_HELP_FMT"); /* with some margins argp prints for ever */
    (void)signal(SIGXFSZ, SIG_IGN);  /* a file that may not grow is an error like others */
    json_set_alloc_funcs(alloc_or_exit, free);
    if (atexit(close_output) != 0) {
        return fail("out of memory");
    }
    if (argc < 2) {
        help(stderr);
        return FAILED;
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-?") == 0 || strcmp(argv[1], "-h") == 0 || strcmp(argv[1], "help") == 0) {
        help(stdout);
        return DONE;
    }
    if (strcmp(argv[1], "--version") == 0 || strcmp(argv[1], "-V") == 0) {
        printf("attn %s\nthreads: %s\n", attn_version(), attn_has_threads() ? "yes (OpenMP)" : "no");
        return DONE;
    }
    for (size_t i = 0; i < N_COMMANDS; i++) {
        if (strcmp(argv[1], commands[i].name) == 0) {
            char name[32];
            (void)snprintf(name, sizeof name, "attn %s", commands[i].name);
            argv[1] = name;
            return commands[i].run(argc - 1, argv + 1);
        }
    }
    return usage_error(argv[1][0] == '-' ? "unknown option " : "unknown subcommand ", argv[1]);
}

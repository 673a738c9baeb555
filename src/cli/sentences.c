/* Raw sentences from the command line, files and pipes, and the words in them that are asked about. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"

#define FIRST_ROOM ((size_t)1 << 16)
#define MOST_ROOM  ((size_t)1 << 26) /* no sentence; what comes without line ends may never end */

/* ---- lines ---- */

/* A file of lines of any length. */
typedef struct lines {
    const char *name; /* as messages have it */
    int fd;
    char *buffer;
    size_t room, at, end; /* buffer[at] .. buffer[end - 1] are still to be read */
    bool over;
} lines;

/* Makes room and reads on. What was printed so far is shown before: this may wait for whoever writes the lines. */
static int read_on(lines *l)
{
    if (l->at > 0) {
        memmove(l->buffer, l->buffer + l->at, l->end - l->at);
        l->end -= l->at;
        l->at = 0;
    }
    if (l->end + 1 >= l->room) {
        size_t room = l->room == 0 ? FIRST_ROOM : 2 * l->room;
        if (room > MOST_ROOM) {
            return fail("%s: a line of more than %zu MiB", l->name, MOST_ROOM >> 20);
        }
        char *larger = realloc(l->buffer, room);
        if (larger == NULL) {
            return fail("%s: out of memory for a line of %zu bytes", l->name, l->end);
        }
        l->buffer = larger;
        l->room = room;
    }
    (void)fflush(stdout); /* a failure shows at the end */
    ssize_t n;
    do {
        n = read(l->fd, l->buffer + l->end, l->room - l->end - 1);
    } while (n < 0 && errno == EINTR);
    if (n < 0) {
        return fail("%s: cannot read: %s", l->name, strerror(errno));
    }
    l->over = n == 0;
    l->end += (size_t)n;
    return DONE;
}

/* The next line without its end, zero-terminated, *size bytes; NULL after the last one, or after a failure (*code). */
static char *next_line(lines *l, size_t *size, int *code)
{
    size_t seen = 0; /* bytes of the line that hold no end */
    char *stop = NULL;
    while (l->end - l->at == seen || (stop = memchr(l->buffer + l->at + seen, '\n', l->end - l->at - seen)) == NULL) {
        seen = l->end - l->at;
        if (l->over || (*code = read_on(l)) != DONE) {
            break;
        }
    }
    if (*code != DONE || (stop == NULL && seen == 0)) {
        return NULL;
    }
    char *line = l->buffer + l->at;
    stop = stop != NULL ? stop : line + seen; /* the last line may lack its end */
    l->at = (size_t)(stop - l->buffer) + (stop < l->buffer + l->end);
    stop -= stop > line && stop[-1] == '\r';
    *stop = '\0';
    *size = (size_t)(stop - line);
    return line;
}

typedef struct visitor {
    sentence_fn visit;
    void *ctx;
    bool all, quiet;
} visitor;

static int visit_lines(lines *l, const visitor *v)
{
    char where[4200], first_blank[4200];
    long long number = 0, sentences = 0, blank = 0;
    int code = DONE, reading = DONE;
    size_t size;
    for (char *line; (code == DONE || v->all) && (line = next_line(l, &size, &reading)) != NULL;) {
        bool marked = number++ == 0 && strncmp(line, "\xEF\xBB\xBF", 3) == 0;
        line += marked ? 3 : 0;
        size -= marked ? 3 : 0;
        (void)snprintf(where, sizeof where, "%s:%lld", l->name, number);
        if (strspn(line, " \t\r") == size) {
            if (blank++ == 0) {
                (void)strcpy(first_blank, where);
            }
            continue;
        }
        sentences++;
        (void)strcat(where, ": ");
        int outcome = strlen(line) != size ? fail("%sa zero byte, expected UTF-8 (UTF-16 has such bytes)", where)
                                           : v->visit(v->ctx, line, where, number);
        code = outcome != DONE ? outcome : code;
    }
    if (reading != DONE) {
        return reading;
    }
    if (blank > 0 && sentences > 0) {
        note(v->quiet, "%lld blank line%s skipped, the first at %s", blank, blank == 1 ? "" : "s", first_blank);
    }
    return sentences == 0 && code == DONE ? fail("%s: no sentence", l->name) : code;
}

static int visit_file(const char *path, const visitor *v)
{
    bool standard = strcmp(path, "-") == 0;
    lines l = {.name = standard          ? "standard input"
                       : path[0] == '\0' ? "''"
                                         : path,
               .fd = standard ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC)};
    if (l.fd < 0) {
        return fail("%s: cannot open: %s", l.name, strerror(errno));
    }
    int code = visit_lines(&l, v);
    if (!standard) {
        (void)close(l.fd);
    }
    free(l.buffer);
    return code;
}

int each_sentence(const sentence_source *from, sentence_fn visit, void *ctx)
{
    const visitor v = {visit, ctx, from->all, from->quiet};
    char where[64] = "";
    int code = DONE;
    for (int i = 0; i < from->n && (code == DONE || from->all); i++) {
        const char *name = from->name != NULL ? from->name : "sentence";
        if (from->n > 1) {
            (void)snprintf(where, sizeof where, "%s %d: ", name, i + 1);
        } else if (from->name != NULL) {
            (void)snprintf(where, sizeof where, "%s: ", name);
        }
        int outcome = strcmp(from->sentences[i], "-") == 0 ? visit_file("-", &v) : visit(ctx, from->sentences[i], where, i + 1);
        code = outcome != DONE ? outcome : code;
    }
    if (from->file != NULL && (code == DONE || from->all)) {
        int outcome = visit_file(from->file, &v);
        code = outcome != DONE ? outcome : code;
    }
    return from->n == 0 && from->file == NULL ? visit_file("-", &v) : code;
}

/* ---- words asked about ---- */

/* The words that the model knows, as many as fit, for a message. */
static void known_words(const attn_word_sense *m, char *text, size_t size)
{
    size_t at = 0;
    int n = attn_word_sense_words(m);
    text[0] = '\0';
    for (int i = 0; i < n; i++) {
        const char *word = attn_word_sense_word(m, i);
        if (at + strlen(word) + 30 > size) {
            (void)snprintf(text + at, size - at, " and %d more", n - i);
            return;
        }
        at += (size_t)snprintf(text + at, size - at, "%s%s", i > 0 ? ", " : "", word);
    }
}

int settle_target(const attn_word_sense *m, target_choice *choice)
{
    char known[600];
    attn_example e;
    int w = choice->word != NULL ? attn_word_sense_find(m, choice->word) : 0;
    attn_corpus *c = w < 0 ? attn_corpus_new(NULL) : NULL;
    if (c != NULL && attn_tokenize(m, c, choice->word, ATTN_TOKENIZE_WORDS, NULL, &e, NULL) == ATTN_OK && e.length == 1) {
        w = attn_word_sense_find(m, e.tokens[0]);
    }
    attn_corpus_free(c);
    if (w < 0) {
        known_words(m, known, sizeof known);
        return fail("the model knows no senses of '%s'; it knows: %s", choice->word, known);
    }
    choice->word = choice->word != NULL ? attn_word_sense_word(m, w) : NULL;
    return DONE;
}

/* SENSE <tab> INDEX <tab> words: whoever took it for a sentence would ask about sense and index too. */
static bool is_labelled(const char *text)
{
    const char *tab = strchr(text, '\t');
    size_t digits = tab != NULL ? strspn(tab + 1, "0123456789") : 0;
    return digits > 0 && tab[1 + digits] == '\t';
}

int read_sentence(const attn_word_sense *m, attn_corpus *c, const char *text, attn_tokenization how, target_choice choice,
                  const char *where, attn_example *words)
{
    attn_error error = {.message = "out of memory"};
    if (is_labelled(text)) {
        return fail("%sa labelled sentence, expected words alone: cut -f 3 leaves these, attn eval reads the labels", where);
    }
    how = how == ATTN_TOKENIZE_AUTO && choice.index >= 0 ? ATTN_TOKENIZE_SPACES : how;
    if (c == NULL || attn_tokenize(m, c, text, how, choice.word, words, &error) != ATTN_OK) {
        return fail("%s%s", where, error.message);
    }
    if (choice.index >= words->length) {
        return fail("%s--target-index is %d, the sentence has the words 0..%d", where, choice.index, words->length - 1);
    }
    return DONE;
}

int next_target(const attn_word_sense *m, const attn_example *words, target_choice choice, int from)
{
    for (int i = from; i < words->length; i++) {
        if (choice.index >= 0     ? i == choice.index
            : choice.word != NULL ? strcmp(words->tokens[i], choice.word) == 0
                                  : attn_word_sense_find(m, words->tokens[i]) >= 0) {
            return i;
        }
    }
    return -1;
}

int no_target(const attn_word_sense *m, target_choice choice, const char *where)
{
    char known[600];
    if (choice.word != NULL) {
        return fail("%sthe word '%s' is not in the sentence", where, choice.word);
    }
    known_words(m, known, sizeof known);
    return fail("%sno word of the sentence is one whose senses the model knows; it knows: %s", where, known);
}

int find_target(const attn_word_sense *m, const attn_example *words, target_choice choice, const char *where, bool quiet)
{
    int first = next_target(m, words, choice, 0), count = 0;
    for (int i = first; i >= 0; i = next_target(m, words, choice, i + 1)) {
        count++;
    }
    if (first < 0) {
        (void)no_target(m, choice, where);
    } else if (count > 1) {
        note(quiet, "%s%d words could be meant; took '%s' at index %d (--target-index chooses)", where, count, words->tokens[first], first);
    }
    return first;
}

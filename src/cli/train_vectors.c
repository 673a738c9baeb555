/* A new model, and what there is to say about the file of vectors that it starts with. */
#include <string.h>

#include "train.h"

static void on_bytes(void *ctx, int64_t bytes, int64_t total)
{
    progress_bytes(ctx, bytes, total);
}

static const char *file_name(const train_arguments *a)
{
    return strcmp(a->config.vectors_file, "-") == 0 ? "standard input" : a->config.vectors_file;
}

/* "FILE:LINE: what", or "FILE: word N: what" of a binary file, with how many more there are. */
static void note_rows(const train_arguments *a, const attn_vectors_report *r, attn_vectors_rows rows, const char *what)
{
    char more[40] = "";
    if (rows.count > 1) {
        (void)snprintf(more, sizeof more, " (and %lld more)", (long long)rows.count - 1);
    }
    if (rows.count > 0) {
        note(a->quiet, "%s:%s%lld: %s%s", file_name(a), r->format[0] == 'b' ? " word " : "", (long long)rows.first, what, more);
    }
}

static void note_vectors(const train_arguments *a, const attn_word_sense *m)
{
    attn_vectors_report r = attn_word_sense_vectors_report(m);
    const char *file = file_name(a);
    char numbers[60], guessed[80] = "", more[60] = "";
    (void)snprintf(numbers, sizeof numbers, "no word with %d number%s after it, skipped", r.dim, r.dim == 1 ? "" : "s");
    if (r.promised >= 0 && r.promised != r.words && r.promised != r.words + r.malformed.count) {
        note(a->quiet, "%s: its first line promises %lld words, it has %lld", file, (long long)r.promised, (long long)r.words);
    }
    note_rows(a, &r, r.malformed, numbers);
    note_rows(a, &r, r.odd, "a word of nothing but spaces, skipped");
    note_rows(a, &r, r.broken, "a word that is no UTF-8, skipped");
    note_rows(a, &r, r.not_finite, "a vector with nan or inf, skipped");
    note_rows(a, &r, r.repeated, "a word that has its vector already: the first one counts, and all digits are alike");
    if (r.guessed > 0) {
        (void)snprintf(guessed, sizeof guessed, "%lld get one from that text, ", (long long)r.guessed);
    }
    if (r.added > 0) {
        (void)snprintf(more, sizeof more, "; %lld more are kept for new sentences", (long long)r.added);
    }
    note(a->quiet,
         "%s (%s): %lld words of %d components; %lld of the %lld words of the training text are among them, %sthe others start at random%s",
         file, r.format, (long long)r.words, r.dim, (long long)r.used, (long long)r.wanted, guessed, more);
}

attn_word_sense *make_model(const train_arguments *a, const attn_corpus *data, progress *line)
{
    attn_error error;
    attn_word_sense_config config = a->config;
    config.vectors_progress = on_bytes;
    config.vectors_progress_ctx = line;
    progress_begin(line, a->quiet);
    attn_word_sense *m = attn_word_sense_new(data, &config, NULL, &error);
    progress_clear(line);
    if (m == NULL) {
        (void)fail("%s", error.message);
    } else if (config.vectors == ATTN_VECTORS_FILE) {
        note_vectors(a, m);
    }
    return m;
}

json_t *vectors_to_json(const attn_word_sense *m)
{
    attn_vectors_report r = attn_word_sense_vectors_report(m);
    if (r.format == NULL) {
        return NULL;
    }
    return json_pack("{s:s, s:i, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I}", "format", r.format, "dim", r.dim, "words",
                     (json_int_t)r.words, "used", (json_int_t)r.used, "added", (json_int_t)r.added, "guessed", (json_int_t)r.guessed,
                     "repeated", (json_int_t)r.repeated.count, "odd", (json_int_t)r.odd.count, "broken", (json_int_t)r.broken.count,
                     "not_finite", (json_int_t)r.not_finite.count, "malformed", (json_int_t)r.malformed.count);
}

/* Readers of sentences: data to learn from, predictions, lines and texts to predict. */
#include "fuzz.h"

#include <unistd.h>

#include "cli/cli.h"

/* ---- labelled ---- */

/* Every example is whole; the corpus can be parted and learned from. */
static void use_corpus(const attn_corpus *c, const attn_allocator *a)
{
    attn_corpus *rest = attn_corpus_new(a), *part = attn_corpus_new(a);
    for (int64_t i = 0; i < attn_corpus_count(c); i++) {
        attn_example e = attn_corpus_get(c, i);
        PROMISE(e.target >= 0 && e.target < e.length && e.sense[0] != '\0' && e.tokens[e.target][0] != '\0');
    }
    PROMISE(attn_corpus_split(c, 0.5, 1, rest, part, &fuzz_error) == ATTN_OK);
    PROMISE(attn_corpus_count(rest) + attn_corpus_count(part) == attn_corpus_count(c));
    attn_word_sense_config config = attn_word_sense_defaults();
    config.vectors = ATTN_VECTORS_NONE;
    config.dim = config.heads = config.hidden = 1;
    config.window = 2;
    attn_word_sense_free(attn_word_sense_new(c, &config, a, &fuzz_error));
    attn_corpus_free(part);
    attn_corpus_free(rest);
}

static void read_corpus_at(const char *path, const attn_allocator *a)
{
    attn_corpus *c = attn_corpus_new(a);
    if (attn_corpus_read(c, path, "train", &fuzz_error) == ATTN_OK) {
        use_corpus(c, a);
    }
    attn_corpus_free(c);
}

void fuzz_tsv(const uint8_t *data, size_t size, const attn_allocator *a)
{
    fuzz_file f = file_of(data, size);
    read_corpus_at(f.path, a);
    close_file(&f);
}

void fuzz_folder(const uint8_t *data, size_t size, const attn_allocator *a)
{
    static const char *const names[] = {"train.data.txt", "train.gold.txt", "classes_map.txt"};
    char home[] = "/tmp/attn-fuzz-XXXXXX";
    if (mkdtemp(home) == NULL) {
        abort();
    }
    char link[3][64];
    fuzz_file f[3];
    for (int i = 0; i < 3; i++) {
        f[i] = part_of(data, size, i);
        snprintf(link[i], sizeof link[i], "%s/%s", home, names[i]);
        if (symlink(f[i].path, link[i]) != 0) {
            abort();
        }
    }
    read_corpus_at(home, a);
    for (int i = 0; i < 3; i++) {
        unlink(link[i]);
        close_file(&f[i]);
    }
    rmdir(home);
}

/* ---- predictions, and two of them side by side ---- */

static void compare(const attn_predictions *p, const attn_predictions *q, const attn_allocator *a)
{
    attn_comparison *c = attn_comparison_new(a);
    attn_comparison_result result;
    for (int64_t i = 0; i < attn_predictions_count(p); i++) {
        attn_predicted x = attn_predictions_get(p, i), y = attn_predictions_get(q, i);
        PROMISE(attn_comparison_add(c, x.example.word, x.example.sense, x.sense, y.sense) == ATTN_OK);
    }
    PROMISE(attn_comparison_run(c, &(attn_comparison_config){.resamples = 2, .threads = 1}, &result, &fuzz_error) == ATTN_OK);
    PROMISE(result.both + result.only_a + result.only_b + result.neither == attn_predictions_count(p));
    PROMISE(result.accuracy.a >= 0 && result.accuracy.a <= 1 && result.mcnemar >= 0 && result.mcnemar <= 1);
    attn_comparison_free(c);
}

void fuzz_predictions(const uint8_t *data, size_t size, const attn_allocator *a)
{
    fuzz_file f[2] = {part_of(data, size, 0), part_of(data, size, 1)};
    attn_predictions *p = attn_predictions_read(f[0].path, a, &fuzz_error), *q = attn_predictions_read(f[1].path, a, &fuzz_error);
    for (int64_t i = 0; p != NULL && i < attn_predictions_count(p); i++) {
        attn_predicted x = attn_predictions_get(p, i);
        PROMISE(x.sense[0] != '\0' && x.probability >= 0 && x.probability <= 1 && x.example.target < x.example.length);
    }
    if (p != NULL && q != NULL && attn_predictions_match(p, q, &fuzz_error) == ATTN_OK) {
        compare(p, q, a);
    }
    if (p != NULL) {
        PROMISE(attn_predictions_match(p, p, &fuzz_error) == ATTN_OK);
    }
    attn_predictions_free(q);
    attn_predictions_free(p);
    close_file(&f[1]);
    close_file(&f[0]);
}

/* ---- lines that are piped to attn predict ---- */

/* Messages of the tool go nowhere. */
int(fail)(const char *format, ...)
{
    (void)format;
    return FAILED;
}

void note(bool quiet, const char *format, ...)
{
    (void)quiet;
    (void)format;
}

static int see_line(void *ctx, const char *text, const char *where, long long number)
{
    long long *last = ctx;
    PROMISE(number > *last && strchr(text, '\n') == NULL && text[strspn(text, " \t\r")] != '\0' && where[0] != '\0');
    *last = number;
    return DONE;
}

void fuzz_lines(const uint8_t *data, size_t size, const attn_allocator *a)
{
    (void)a;
    fuzz_file f = long_file_of(data, size);
    long long last = 0;
    (void)each_sentence(&(sentence_source){.file = f.path, .all = true, .quiet = true}, see_line, &last);
    close_file(&f);
}

/* ---- texts ---- */

/* Broken UTF-8 is refused, and what is sound has a width. */
static void check_utf8(const char *text, const attn_allocator *a)
{
    attn_corpus *c = attn_corpus_new(a);
    attn_example e;
    bool sound = attn_utf8_fault(text, strlen(text)) < 0;
    if (sound) {
        PROMISE(attn_utf8_width(text) >= 0);
    }
    attn_status status = attn_corpus_tokenize(c, text, &e, &fuzz_error);
    PROMISE(sound || status == ATTN_EFORMAT);
    attn_corpus_free(c);
}

/* A sentence is cut in every way and its words predicted; what is cut is UTF-8 without spaces. */
static void cut(const char *text, attn_tokenization how, const char *word, const attn_allocator *a)
{
    attn_word_sense *m = small_model();
    attn_corpus *c = attn_corpus_new(a);
    attn_example e;
    attn_prediction p;
    if (attn_tokenize(m, c, text, how, word, &e, &fuzz_error) == ATTN_OK) {
        int asked = -1;
        for (int i = 0; i < e.length; i++) {
            PROMISE(e.tokens[i][0] != '\0' && attn_utf8_fault(e.tokens[i], strlen(e.tokens[i])) < 0);
            asked = attn_word_sense_find(m, e.tokens[i]) >= 0 ? i : asked;
        }
        PROMISE(asked < 0 || attn_word_sense_predict(m, e.tokens, e.length, asked, &p, &fuzz_error) == ATTN_OK);
    }
    attn_corpus_free(c);
}

void fuzz_sentence(const uint8_t *data, size_t size, const attn_allocator *a)
{
    char *text = text_of(data, size);
    check_utf8(text, a);
    for (int how = ATTN_TOKENIZE_AUTO; how <= ATTN_TOKENIZE_CHARS; how++) {
        cut(text, (attn_tokenization)how, NULL, a);
        cut(text, (attn_tokenization)how, "苹果", a);
        cut(text, (attn_tokenization)how, "bank", a);
    }
    free(text);
}

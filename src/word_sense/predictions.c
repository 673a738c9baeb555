/* Files of predictions: GOLD <tab> PREDICTED <tab> PROBABILITY <tab> INDEX <tab> ATTENDED <tab> token token ... */
#include <string.h>

#include "attn/evaluation.h"
#include "word_sense/corpus.h"

enum { GOLD, PREDICTED, PROBABILITY, INDEX, ATTENDED, SENTENCE, FIELDS };

#define EXPECTED "expected GOLD<TAB>PREDICTED<TAB>PROBABILITY<TAB>INDEX<TAB>ATTENDED<TAB>tokens"

typedef struct answer {
    const char *sense;
    double probability;
} answer;

struct attn_predictions {
    attn_allocator allocator;
    attn_corpus *corpus; /* sentences and gold senses; every string lives there */
    answer *answers;     /* one a sentence */
    size_t room;
};

/* Cuts the line at its tabs. */
static attn_status cut_fields(const attn__lines *lines, char *fields[FIELDS], attn_error *error)
{
    int tabs = 0;
    fields[0] = lines->text;
    for (char *tab = strchr(lines->text, '\t'); tab != NULL; tab = strchr(tab + 1, '\t')) {
        if (++tabs < FIELDS) {
            *tab = '\0';
            fields[tabs] = tab + 1;
        }
    }
    return tabs == FIELDS - 1
               ? ATTN_OK
               : attn__lines_fail(lines, error, "%s%d tab%s, " EXPECTED, tabs < FIELDS - 1 ? "only " : "", tabs, tabs == 1 ? "" : "s");
}

static attn_status check_answer(const attn__lines *lines, char *const fields[FIELDS], double *probability, attn_error *error)
{
    const char *fault = attn__label_fault(fields[GOLD]);
    if (fault != NULL) {
        return attn__lines_fail(lines, error, "the sense '%s' %s, " EXPECTED, ATTN__QUOTE(fields[GOLD]), fault);
    }
    if (fields[PREDICTED][0] == '\0') {
        return attn__lines_fail(lines, error, "the predicted sense is empty, " EXPECTED);
    }
    const char *text = fields[PROBABILITY];
    if (!attn__parse_double(text, strlen(text), probability) || !(*probability >= 0 && *probability <= 1)) {
        return attn__lines_fail(lines, error, "the probability is '%s', expected a number from 0 to 1", ATTN__QUOTE(text));
    }
    return ATTN_OK;
}

static attn_status add(attn_predictions *p, const attn_example *e, answer a, attn_error *error)
{
    void *array = p->answers;
    bool grown = attn__grow(&p->allocator, &array, &p->room, p->corpus->count + 1, sizeof *p->answers);
    p->answers = array;
    if (!grown) {
        return attn__fail(error, ATTN_ENOMEM, "%s: out of memory after %zu predictions", e->file, p->corpus->count);
    }
    p->answers[p->corpus->count] = a;
    return attn__corpus_push(p->corpus, e, error);
}

static attn_status read_line(attn_predictions *p, const attn__lines *lines, attn_error *error)
{
    char *fields[FIELDS];
    double probability = 0;
    attn_status status = attn__lines_check(lines, error);
    if (status == ATTN_OK) {
        status = cut_fields(lines, fields, error);
    }
    if (status == ATTN_OK) {
        status = check_answer(lines, fields, &probability, error);
    }
    if (status != ATTN_OK) {
        return status;
    }
    attn_example e = {.sense = fields[GOLD], .file = lines->file, .line = lines->number};
    status = attn__cut(p->corpus, fields[SENTENCE], attn__ascii_space, &e);
    if (status != ATTN_OK) {
        return attn__fail(error, status, "%s:%lld: %s", lines->file, (long long)lines->number, attn_status_sentence(status));
    }
    status = e.length > 0 ? attn__read_target(lines, fields[INDEX], &e, error) : attn__lines_fail(lines, error, "no tokens, " EXPECTED);
    return status == ATTN_OK ? add(p, &e, (answer){fields[PREDICTED], probability}, error) : status;
}

attn_predictions *attn_predictions_read(const char *path, const attn_allocator *allocator, attn_error *error)
{
    attn_predictions *p = attn__calloc(allocator, 1, sizeof *p);
    if (p == NULL || (p->corpus = attn_corpus_new(allocator)) == NULL) {
        attn__free(allocator, p);
        (void)attn__fail(error, ATTN_ENOMEM, "%s: out of memory", attn__file_name(path));
        return NULL;
    }
    p->allocator = allocator != NULL ? *allocator : attn__malloc;
    attn__lines lines;
    attn_status status = attn__lines_open(p->corpus, path, &lines, error);
    while (status == ATTN_OK && attn__lines_next(&lines)) {
        status = attn__lines_blank(&lines) ? ATTN_OK : read_line(p, &lines, error);
    }
    if (status == ATTN_OK && p->corpus->count == 0) {
        status = attn__fail(error, ATTN_EFORMAT, "%s: 0 predictions, expected at least one", attn__file_name(path));
    }
    if (status != ATTN_OK) {
        attn_predictions_free(p);
        return NULL;
    }
    return p;
}

void attn_predictions_free(attn_predictions *p)
{
    if (p != NULL) {
        attn_allocator allocator = p->allocator;
        attn_corpus_free(p->corpus);
        attn__free(&allocator, p->answers);
        attn__free(&allocator, p);
    }
}

int64_t attn_predictions_count(const attn_predictions *p)
{
    return attn_corpus_count(p->corpus);
}

attn_predicted attn_predictions_get(const attn_predictions *p, int64_t i)
{
    if (i < 0 || i >= attn_predictions_count(p)) {
        return (attn_predicted){.probability = 0};
    }
    return (attn_predicted){attn_corpus_get(p->corpus, i), p->answers[i].sense, p->answers[i].probability};
}

static bool same_sentence(const attn_example *a, const attn_example *b)
{
    bool same = a->length == b->length && a->target == b->target;
    for (int k = 0; k < a->length && same; k++) {
        same = strcmp(a->tokens[k], b->tokens[k]) == 0;
    }
    return same;
}

attn_status attn_predictions_match(const attn_predictions *a, const attn_predictions *b, attn_error *error)
{
    int64_t n = attn_predictions_count(a), m = attn_predictions_count(b);
    for (int64_t i = 0; i < n && i < m; i++) {
        attn_example x = attn_corpus_get(a->corpus, i), y = attn_corpus_get(b->corpus, i);
        if (!same_sentence(&x, &y)) {
            return attn__fail(error, ATTN_EMISMATCH, "%s:%lld: another sentence than %s:%lld, expected the same ones in the same order",
                              y.file, (long long)y.line, x.file, (long long)x.line);
        }
        if (strcmp(x.sense, y.sense) != 0) {
            return attn__fail(error, ATTN_EMISMATCH, "%s:%lld: the gold sense is '%s', that of %s:%lld is '%s'", y.file, (long long)y.line,
                              ATTN__QUOTE(y.sense), x.file, (long long)x.line, ATTN__QUOTE(x.sense));
        }
    }
    if (n != m) {
        return attn__fail(error, ATTN_EMISMATCH, "%s: %lld predictions, %s has %lld", attn_corpus_get(b->corpus, 0).file, (long long)m,
                          attn_corpus_get(a->corpus, 0).file, (long long)n);
    }
    return ATTN_OK;
}

/* SENSE <tab> INDEX <tab> token token ... */
#include <string.h>

#include "word_sense/corpus.h"

#define EXPECTED "expected SENSE<TAB>INDEX<TAB>tokens"

/* Cuts the line at its two tabs. */
static attn_status cut_fields(const attn__lines *lines, char *fields[3], attn_error *error)
{
    int tabs = 0;
    fields[0] = lines->text;
    for (char *tab = strchr(lines->text, '\t'); tab != NULL; tab = strchr(tab + 1, '\t')) {
        if (++tabs <= 2) {
            *tab = '\0';
            fields[tabs] = tab + 1;
        }
    }
    if (tabs != 2) {
        return attn__lines_fail(lines, error, "%s%d tab%s, " EXPECTED, tabs == 1 ? "only " : "", tabs, tabs == 1 ? "" : "s");
    }
    const char *fault = attn__label_fault(fields[0]);
    if (fault != NULL) {
        return attn__lines_fail(lines, error, "the sense '%s' %s, " EXPECTED, ATTN__QUOTE(fields[0]), fault);
    }
    return ATTN_OK;
}

/* Only single spaces, so that no token is empty. */
static attn_status check_spaces(const attn__lines *lines, const char *tokens, attn_error *error)
{
    size_t size = strlen(tokens);
    const char *fault = size == 0                      ? "no tokens"
                        : tokens[0] == ' '             ? "a space before the first token"
                        : tokens[size - 1] == ' '      ? "a space after the last token"
                        : strstr(tokens, "  ") != NULL ? "two spaces in a row"
                                                       : NULL;
    return fault == NULL ? ATTN_OK : attn__lines_fail(lines, error, "%s, expected tokens with exactly one space between them", fault);
}

static attn_status read_line(attn_corpus *c, const attn__lines *lines, attn_error *error)
{
    char *fields[3];
    attn_status status = attn__lines_check(lines, error);
    if (status == ATTN_OK && memchr(lines->text, '\r', lines->size) != NULL) {
        status = attn__lines_fail(lines, error, "a carriage return inside of the line, expected lines that end with LF or CRLF");
    }
    if (status == ATTN_OK) {
        status = cut_fields(lines, fields, error);
    }
    if (status == ATTN_OK) {
        status = check_spaces(lines, fields[2], error);
    }
    if (status != ATTN_OK) {
        return status;
    }
    attn_example e = {.sense = fields[0], .file = lines->file, .line = lines->number};
    status = attn__cut(c, fields[2], attn__ascii_space, &e);
    if (status != ATTN_OK) {
        return attn__fail(error, status, "%s:%lld: %s", lines->file, (long long)lines->number, attn_status_sentence(status));
    }
    status = attn__read_target(lines, fields[1], &e, error);
    return status != ATTN_OK ? status : attn__corpus_push(c, &e, error);
}

attn_status attn__read_tsv(attn_corpus *c, const char *path, attn_error *error)
{
    attn__lines lines;
    attn_status status = attn__lines_open(c, path, &lines, error);
    while (status == ATTN_OK && attn__lines_next(&lines)) {
        status = attn__lines_blank(&lines) ? attn__corpus_blank(c, &lines, error) : read_line(c, &lines, error);
    }
    return status;
}

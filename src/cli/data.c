#include <string.h>

#include "cli.h"

attn_corpus *read_corpus(char *const paths[], int n, const char *split, bool quiet)
{
    attn_error error = {.message = "out of memory"};
    attn_corpus *c = attn_corpus_new(NULL);
    attn_status status = c != NULL ? ATTN_OK : ATTN_ENOMEM;
    for (int i = 0; i < n && status == ATTN_OK; i++) {
        status = attn_corpus_read(c, paths[i], split, &error);
    }
    if (status != ATTN_OK) {
        (void)fail("%s", error.message);
        attn_corpus_free(c);
        return NULL;
    }
    if (attn_corpus_blank_lines(c) > 0) {
        note(quiet, "%lld blank line%s skipped, the first at %s", (long long)attn_corpus_blank_lines(c),
             attn_corpus_blank_lines(c) == 1 ? "" : "s", attn_corpus_first_blank(c));
    }
    return c;
}

attn_word_sense *load_model(const char *path, int threads)
{
    attn_error error;
    attn_word_sense *m = attn_word_sense_load(path, NULL, &error);
    if (m == NULL) {
        (void)fail("%s", error.message);
    } else {
        attn_word_sense_set_threads(m, threads);
    }
    return m;
}

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

int find_target(const attn_word_sense *m, const attn_example *sentence, target_choice choice, bool quiet)
{
    char known[600];
    if (choice.index >= sentence->length) {
        (void)fail("--target-index is %d, the sentence has the words 0..%d", choice.index, sentence->length - 1);
        return -1;
    }
    if (choice.index >= 0) {
        return choice.index;
    }
    int first = -1, count = 0;
    for (int i = 0; i < sentence->length; i++) {
        bool wanted =
            choice.word != NULL ? strcmp(sentence->tokens[i], choice.word) == 0 : attn_word_sense_find(m, sentence->tokens[i]) >= 0;
        first = wanted && first < 0 ? i : first;
        count += wanted;
    }
    if (first < 0 && choice.word != NULL) {
        (void)fail("the word '%s' is not in the sentence (words are separated by spaces)", choice.word);
    } else if (first < 0) {
        known_words(m, known, sizeof known);
        (void)fail("no word of the sentence is one whose senses the model knows (words are separated by spaces); it knows: %s", known);
    } else if (count > 1) {
        note(quiet, "%d words could be meant; took '%s' at index %d (--target-index chooses)", count, sentence->tokens[first], first);
    }
    return first;
}

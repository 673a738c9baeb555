/* Pages: what the subcommands that write them share. */
#ifndef ATTN_CLI_PAGES_H
#define ATTN_CLI_PAGES_H

#include "cli.h"

/* Sentences with the word in question, and all that they point to. */
typedef struct report_words {
    attn_corpus *words;
    attn_report_sentence *sentence;
    int n;
} report_words;

/* Collects sentences, of each the first word that is asked about. DONE, or FAILED after a message; words_free is right in any case. */
int words_collect(report_words *w, const attn_word_sense *m, const sentence_source *from, target_choice target, attn_tokenization how);
void words_free(report_words *w);

/* Whether a page can be written there: DONE, or FAILED after a message. To be asked before the work. */
int page_check(const char *path);
/* Writes a page and frees it; says how large it is if browsers will have trouble with it. DONE, or FAILED after a message. */
int page_write(const char *path, attn_page *page, bool quiet);
int report_write(const char *path, const attn_report_config *config, bool quiet);

#endif

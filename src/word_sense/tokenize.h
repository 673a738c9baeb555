/* Raw text as the tokens that a model was trained on: what the files of attn_tokenize share. Not installed. */
#ifndef ATTN_TOKENIZE_H
#define ATTN_TOKENIZE_H

#include "word_sense/model.h"

/* Tokens on their way: bytes one token after the other, each with its zero byte. */
typedef struct attn__cutter {
    const attn_word_sense *m;
    const attn_allocator *allocator; /* the caller's: several threads may work with the model */
    const char *word;                /* asked about; NULL: every ambiguous word of the model */
    bool chars;                      /* text of scripts without spaces is cut too */
    bool keep;                       /* words asked about are cut out wherever they stand, also out of other words */
    char *tokens;
    size_t used, room;
    int64_t count;
    bool asked; /* there is a token that was asked about */
    char *folded;
    size_t folded_room;
    size_t *unit; /* where the units of a chunk begin */
    size_t unit_room;
    bool failed; /* out of memory: nothing more is added */
} attn__cutter;

/* One character of valid UTF-8. */
typedef struct attn__rune {
    int32_t code;
    size_t size; /* bytes */
} attn__rune;

attn__rune attn__rune_at(const char *at);
/* Punctuation or a symbol. */
bool attn__is_mark(int32_t code);
/* Whether all of the text is accents, joiners and selectors, as what is left of an emoji without its signs: nothing that could be a word.
 */
bool attn__is_accessory(const char *text, size_t size);
/* A character of a script that is written without spaces between words: Chinese, Japanese, Thai, Lao, Khmer, Burmese. */
bool attn__is_unspaced(int32_t code);

/* ---- tokenize.c: tokens and what the model knows of them ---- */

/* Bytes of the longest text that attn__cut_knows can know. */
size_t attn__cut_longest(const attn__cutter *c);
bool attn__cut_knows(const attn__cutter *c, const char *text, size_t size);
bool attn__cut_asks(const attn__cutter *c, const char *text, size_t size);
/* Adds a token as it stands. */
void attn__cut_add(attn__cutter *c, const char *text, size_t size);
/* The text in lower case, with straight apostrophes, without soft hyphens and controls of direction; valid until the next call. */
const char *attn__cut_fold(attn__cutter *c, const char *text, size_t size, size_t *folded);
/* Adds the text if the model knows it as it stands, else folded if it knows that; false if neither. */
bool attn__cut_add_known(attn__cutter *c, const char *text, size_t size);

/* ---- tokenize_words.c: what stands between two spaces ---- */

/* `last`: nothing but white space follows. */
void attn__cut_words(attn__cutter *c, const char *at, size_t size, bool last);
/* Adds the mark at `at`, or a row of the same marks, in the spelling that the model knows; leaves it out if it knows none. Returns the
 * bytes that are done. */
size_t attn__cut_mark(attn__cutter *c, const char *at, const char *end, bool opening);

/* ---- tokenize_chars.c ---- */

void attn__cut_chars(attn__cutter *c, const char *text, size_t size, bool last);

#endif

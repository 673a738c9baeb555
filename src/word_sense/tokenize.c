/* From the text of a sentence to tokens: which reading is taken, and what becomes a token. */
#include "word_sense/tokenize.h"

#include <string.h>
#include <utf8proc.h>

#include "word_sense/corpus.h"

/* ---- characters ---- */

attn__rune attn__rune_at(const char *at)
{
    const unsigned char *u = (const unsigned char *)at;
    if (u[0] < 0x80) {
        return (attn__rune){u[0], 1};
    }
    utf8proc_int32_t code = 0;
    utf8proc_ssize_t n = utf8proc_iterate(u, -1, &code);
    return (attn__rune){code, n > 0 ? (size_t)n : 1};
}

bool attn__is_mark(int32_t code)
{
    if (code < 0x80) {
        return (code > ' ' && code < '0') || (code > '9' && code < 'A') || (code > 'Z' && code < 'a') || (code > 'z' && code < 0x7F);
    }
    utf8proc_category_t kind = utf8proc_category(code);
    return kind >= UTF8PROC_CATEGORY_PC && kind <= UTF8PROC_CATEGORY_SO;
}

bool attn__is_accessory(const char *text, size_t size)
{
    for (size_t i = 0; i < size;) {
        attn__rune r = attn__rune_at(text + i);
        utf8proc_category_t kind = utf8proc_category(r.code);
        if (kind != UTF8PROC_CATEGORY_MN && kind != UTF8PROC_CATEGORY_ME && kind != UTF8PROC_CATEGORY_CF) {
            return false;
        }
        i += r.size;
    }
    return true;
}

bool attn__is_unspaced(int32_t code)
{
    static const int32_t ranges[][2] = {
        {0x0E00, 0x0EFF},   /* Thai, Lao */
        {0x1000, 0x109F},   /* Burmese */
        {0x1780, 0x17FF},   /* Khmer */
        {0x2E80, 0x2FDF},   /* radicals */
        {0x3005, 0x3007},   /* iteration mark, closing mark, zero */
        {0x3021, 0x3029},   /* numerals */
        {0x3041, 0x309F},   /* Hiragana */
        {0x30A1, 0x30FA},   /* Katakana, with its signs of length */
        {0x30FC, 0x312F},   /* and Bopomofo */
        {0x31A0, 0x31BF},   /* Bopomofo */
        {0x31F0, 0x31FF},   /* Katakana */
        {0x3400, 0x4DBF},   /* Chinese characters */
        {0x4E00, 0x9FFF},   /* of them most */
        {0xF900, 0xFAFF},   /* and their compatible forms */
        {0xFF66, 0xFF9F},   /* narrow Katakana */
        {0x20000, 0x3FFFF}, /* rare Chinese characters */
    };
    for (size_t i = 0; code >= ranges[0][0] && i < sizeof ranges / sizeof ranges[0]; i++) {
        if (code >= ranges[i][0] && code <= ranges[i][1]) {
            return true;
        }
    }
    return false;
}

/* Bytes of white space or of a character without width at `at`. */
static size_t gap_at(const char *at)
{
    size_t n = attn__unicode_space(at);
    return n > 0 ? n : strncmp(at, "\xE2\x80\x8B", 3) == 0 || strncmp(at, "\xEF\xBB\xBF", 3) == 0 ? 3 : 0; /* U+200B, U+FEFF */
}

static size_t chunk_size(const char *at, attn__separator separator)
{
    size_t n = 0;
    while (at[n] != '\0' && separator(at + n) == 0) {
        n++; /* a byte inside a character starts no separator */
    }
    return n;
}

static const char *skip(const char *at, attn__separator separator)
{
    for (size_t n = separator(at); n > 0; n = separator(at)) {
        at += n;
    }
    return at;
}

/* ---- tokens ---- */

bool attn__cut_asks(const attn__cutter *c, const char *text, size_t size)
{
    return c->word != NULL ? strlen(c->word) == size && memcmp(c->word, text, size) == 0 : attn__names_find(&c->m->lemmas, text, size) >= 0;
}

size_t attn__cut_longest(const attn__cutter *c)
{
    size_t longest = c->m->vocabulary.longest > c->m->lemmas.longest ? c->m->vocabulary.longest : c->m->lemmas.longest;
    return c->word != NULL && strlen(c->word) > longest ? strlen(c->word) : longest;
}

bool attn__cut_knows(const attn__cutter *c, const char *text, size_t size)
{
    return attn__text_row(c->m, text, size) > 0 || attn__names_find(&c->m->lemmas, text, size) >= 0 || attn__cut_asks(c, text, size);
}

static bool make_room(attn__cutter *c, void **array, size_t *room, size_t want, size_t size)
{
    c->failed = c->failed || !attn__grow(c->allocator, array, room, want, size);
    return !c->failed;
}

void attn__cut_add(attn__cutter *c, const char *text, size_t size)
{
    void *array = c->tokens;
    bool ok = make_room(c, &array, &c->room, c->used + size + 1, 1);
    c->tokens = array;
    if (ok && size > 0) {
        memcpy(c->tokens + c->used, text, size);
        c->tokens[c->used + size] = '\0';
        c->used += size + 1;
        c->count++;
        c->asked = c->asked || attn__cut_asks(c, text, size);
    }
}

/* No part of a word: soft hyphens, and what says in which direction is written. */
static bool is_silent(int32_t code)
{
    return code == 0xAD || code == 0x61C || code == 0x200E || code == 0x200F || (code >= 0x202A && code <= 0x202E) ||
           (code >= 0x2066 && code <= 0x2069);
}

/* The character in lower case at `to`; its size, at most 4 bytes. */
static size_t fold_rune(attn__rune r, char *to)
{
    if (r.code < 0x80) {
        *to = (char)(r.code >= 'A' && r.code <= 'Z' ? r.code + ('a' - 'A') : r.code);
        return 1;
    }
    if (r.code == 0x2019 || r.code == 0x2BC || r.code == 0xFF07) {
        *to = '\'';
        return 1;
    }
    return is_silent(r.code) ? 0 : (size_t)utf8proc_encode_char(utf8proc_tolower(r.code), (utf8proc_uint8_t *)to);
}

const char *attn__cut_fold(attn__cutter *c, const char *text, size_t size, size_t *folded)
{
    void *array = c->folded;
    *folded = 0;
    bool ok = size < SIZE_MAX / 4 && make_room(c, &array, &c->folded_room, 4 * size + 4, 1);
    c->folded = array;
    for (size_t i = 0; ok && i < size;) {
        attn__rune r = attn__rune_at(text + i);
        *folded += fold_rune(r, c->folded + *folded);
        i += r.size;
    }
    return c->folded;
}

bool attn__cut_add_known(attn__cutter *c, const char *text, size_t size)
{
    if (attn__cut_knows(c, text, size)) {
        attn__cut_add(c, text, size);
        return true;
    }
    if (size / 3 > attn__cut_longest(c)) { /* no character becomes shorter than a third */
        return false;
    }
    size_t n;
    const char *folded = attn__cut_fold(c, text, size, &n);
    if (n == 0 || (n == size && memcmp(folded, text, n) == 0) || !attn__cut_knows(c, folded, n)) {
        return false;
    }
    attn__cut_add(c, folded, n);
    return true;
}

/* ---- readings ---- */

static void cut_at_spaces(attn__cutter *c, const char *text)
{
    for (const char *at = skip(text, attn__typed_space); *at != '\0'; at = skip(at, attn__typed_space)) {
        size_t size = chunk_size(at, attn__typed_space);
        attn__cut_add(c, at, size);
        at += size;
    }
}

static void cut_raw(attn__cutter *c, const char *text)
{
    for (const char *at = skip(text, gap_at), *next; *at != '\0' && !c->failed; at = next) {
        size_t size = chunk_size(at, gap_at);
        next = skip(at + size, gap_at);
        (c->chars ? attn__cut_chars : attn__cut_words)(c, at, size, *next == '\0');
    }
}

/* Cuts anew; true if a word asked about is among the tokens. */
static bool cut(attn__cutter *c, const char *text, attn_tokenization how)
{
    c->chars = how == ATTN_TOKENIZE_CHARS;
    for (int keep = 0; keep < (c->word != NULL ? 2 : 1); keep++) { /* a word by name is cut out of others where it stands nowhere alone */
        c->used = 0;
        c->count = 0;
        c->asked = false;
        c->keep = keep == 1;
        if (how == ATTN_TOKENIZE_SPACES) {
            cut_at_spaces(c, text);
            break;
        }
        cut_raw(c, text);
        if (c->asked) {
            break;
        }
    }
    return c->asked;
}

/* Whether a mark that raw text never leaves alone stands alone, as it does in text that was cut into tokens. */
static bool has_free_mark(const char *text)
{
    static const char *const marks[] = {",",  ".",  ";",  ":",  "!",  "?",  "(",  ")", "''", "``", "'s", "n't", "，", "。",
                                        "、", "；", "：", "！", "？", "（", "）", "“", "”",  "「", "」", "《",  "》"};
    for (const char *at = skip(text, gap_at); *at != '\0';) {
        size_t size = chunk_size(at, gap_at);
        for (size_t i = 0; size <= 3 && i < sizeof marks / sizeof marks[0]; i++) {
            if (strlen(marks[i]) == size && memcmp(at, marks[i], size) == 0) {
                return true;
            }
        }
        at = skip(at + size, gap_at);
    }
    return false;
}

/* How text without such a mark is written: characters of a script without spaces are parted by a space, so that it was cut before; or stand
 * together and were not; or there are none to tell by. */
static attn_tokenization reading_of_script(const char *text)
{
    bool together = false, before = false, gap = false;
    for (const char *at = text; *at != '\0';) {
        size_t space = gap_at(at);
        if (space > 0) {
            gap = true;
            at += space;
            continue;
        }
        attn__rune r = attn__rune_at(at);
        bool unspaced = attn__is_unspaced(r.code);
        if (unspaced && before && gap) {
            return ATTN_TOKENIZE_SPACES;
        }
        together = together || (unspaced && before);
        before = unspaced;
        gap = false;
        at += r.size;
    }
    return together ? ATTN_TOKENIZE_CHARS : ATTN_TOKENIZE_WORDS;
}

static void cut_auto(attn__cutter *c, const char *text)
{
    attn_tokenization first = has_free_mark(text) ? ATTN_TOKENIZE_SPACES : reading_of_script(text);
    if (cut(c, text, first)) {
        return;
    }
    for (attn_tokenization other = ATTN_TOKENIZE_SPACES; other <= ATTN_TOKENIZE_CHARS; other++) {
        if (other != first && cut(c, text, other)) {
            return;
        }
    }
    (void)cut(c, text, first); /* none shows a word asked about */
}

static attn_status take(const attn__cutter *cutter, attn_corpus *c, attn_example *e)
{
    attn__mark mark = attn__arena_mark(&c->arena);
    const char **tokens = attn__arena_array(&c->arena, cutter->count, sizeof *tokens);
    char *bytes = tokens != NULL ? attn__arena_copy(&c->arena, cutter->tokens, cutter->used) : NULL;
    if (bytes == NULL) {
        attn__arena_rewind(&c->arena, mark);
        return ATTN_ENOMEM;
    }
    for (int64_t i = 0; i < cutter->count; i++) {
        tokens[i] = bytes;
        bytes += strlen(bytes) + 1;
    }
    *e = (attn_example){.tokens = tokens, .length = (int)cutter->count, .target = -1, .word = "", .sense = "", .file = ""};
    return ATTN_OK;
}

attn_status attn_tokenize(const attn_word_sense *m, attn_corpus *c, const char *text, attn_tokenization how, const char *word,
                          attn_example *out, attn_error *error)
{
    attn_status status = attn__sentence_check(text, error);
    if (status != ATTN_OK) {
        return status;
    }
    attn__cutter cutter = {.m = m, .allocator = &c->allocator, .word = word};
    if (how == ATTN_TOKENIZE_AUTO) {
        cut_auto(&cutter, text);
    } else {
        (void)cut(&cutter, text, how);
    }
    status = cutter.failed ? ATTN_ENOMEM : cutter.count > INT32_MAX ? ATTN_ERANGE : ATTN_OK;
    if (status == ATTN_OK && cutter.count == 0) {
        status = attn__fail(error, ATTN_EFORMAT, "a sentence without a word");
    } else if (status != ATTN_OK || (status = take(&cutter, c, out)) != ATTN_OK) {
        (void)attn__fail(error, status, "%s: a sentence of %zu bytes", attn_status_sentence(status), strlen(text));
    }
    attn__free(&c->allocator, cutter.tokens);
    attn__free(&c->allocator, cutter.folded);
    attn__free(&c->allocator, cutter.unit);
    return status;
}

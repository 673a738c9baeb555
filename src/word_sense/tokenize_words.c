/* Raw text with spaces between its words, cut as the training text of most corpora is: marks, clitics and n't are tokens of their own. The
 * vocabulary decides what is one word in spite of its marks: "u.s.", "yahoo!", "c++", "at&t". */
#include <string.h>

#include "word_sense/tokenize.h"

/* ---- marks ---- */

/* How a mark may be spelled in the training text: the first spelling that the model knows is taken. Tools that cut text write quotation
 * marks as `` and '', dashes as --, and brackets as -lrb- and the like. */
static const struct {
    const char *mark, *opening, *closing; /* closing NULL: the same */
} spellings[] = {
    {"\"", "`` '' \" “", "'' \" ”"},
    {"“", "`` “ '' \"", "'' “ \""},
    {"”", "'' ” \"", NULL},
    {"„", "`` „ '' \"", NULL},
    {"'", "` '", "'"},
    {"‘", "` ‘ '", NULL},
    {"’", "' ’", NULL},
    {"--", "-- — – -", NULL},
    {"—", "-- — -", NULL},
    {"–", "-- – -", NULL},
    {"―", "-- ― -", NULL},
    {"−", "− -", NULL},
    {"-", "- --", NULL},
    {"...", "... … ……", NULL},
    {"…", "... … ……", NULL},
    {"(", "( （ -lrb- -LRB-", NULL},
    {")", ") ） -rrb- -RRB-", NULL},
    {"[", "[ -lsb- -LSB-", NULL},
    {"]", "] -rsb- -RSB-", NULL},
    {"{", "{ -lcb- -LCB-", NULL},
    {"}", "} -rcb- -RCB-", NULL},
    {",", ", ，", NULL},
    {".", ". 。", NULL},
    {";", "; ；", NULL},
    {":", ": ：", NULL},
    {"!", "! ！", NULL},
    {"?", "? ？", NULL},
    {"，", "， ,", NULL},
    {"。", "。 .", NULL},
    {"；", "； ;", NULL},
    {"：", "： :", NULL},
    {"！", "！ !", NULL},
    {"？", "？ ?", NULL},
    {"（", "（ ( -lrb-", NULL},
    {"）", "） ) -rrb-", NULL},
};

/* Adds the first of several spellings, parted by spaces, that the model knows. */
static void add_spelling(attn__cutter *c, const char *list)
{
    for (size_t n; *list != '\0'; list += n + (list[n] == ' ')) {
        n = strcspn(list, " ");
        if (attn__cut_knows(c, list, n)) {
            attn__cut_add(c, list, n);
            return;
        }
    }
}

static void add_mark(attn__cutter *c, const char *mark, size_t size, bool opening)
{
    for (size_t i = 0; i < sizeof spellings / sizeof spellings[0]; i++) {
        if (strlen(spellings[i].mark) == size && memcmp(spellings[i].mark, mark, size) == 0) {
            add_spelling(c, opening || spellings[i].closing == NULL ? spellings[i].opening : spellings[i].closing);
            return;
        }
    }
    if (attn__cut_knows(c, mark, size)) {
        attn__cut_add(c, mark, size);
    }
}

size_t attn__cut_mark(attn__cutter *c, const char *at, const char *end, bool opening)
{
    size_t one = attn__rune_at(at).size, row = one;
    while ((size_t)(end - at) >= row + one && memcmp(at, at + row, one) == 0) {
        row += one;
    }
    if (row > one && attn__cut_knows(c, at, row)) {
        attn__cut_add(c, at, row);
        return row;
    }
    const char *same = row == one                                               ? NULL
                       : *at == '.'                                             ? "..."
                       : *at == '-'                                             ? "--"
                       : row == 2 && (*at == '\'' || *at == '`')                ? "\""
                       : memcmp(at, "…", one) == 0 || memcmp(at, "—", one) == 0 ? at
                                                                                : NULL;
    if (same != NULL) { /* one mark of several characters */
        add_mark(c, same, same == at ? one : strlen(same), opening || *at == '`');
        return row;
    }
    add_mark(c, at, one, opening);
    return one;
}

/* ---- words ---- */

static bool is_digit(const char *at)
{
    return *at >= '0' && *at <= '9';
}

/* A byte of a letter or digit. */
static bool is_wordly(const char *at)
{
    unsigned char byte = (unsigned char)*at;
    return byte >= 0x80 || !attn__is_mark(byte);
}

/* A mark before a word; not the sign or point of a number, nor the apostrophe of '90s. */
static bool leads(const char *at, size_t size)
{
    attn__rune r = attn__rune_at(at);
    bool numeric = strchr(".-+'", *at) != NULL || r.code == 0x2019;
    return attn__is_mark(r.code) && !(numeric && r.size < size && is_digit(at + r.size));
}

/* "j." or "u.s.": single letters with a full stop each. */
static bool is_initials(const char *at, const char *end)
{
    bool any = false;
    for (; at < end; any = true) {
        attn__rune r = attn__rune_at(at);
        if (attn__is_mark(r.code) || is_digit(at) || attn__is_unspaced(r.code) || at + r.size >= end || at[r.size] != '.') {
            return false;
        }
        at += r.size + 1;
    }
    return any;
}

/* Bytes of a mark behind a word, 0 if it ends with none; c# and c++ end with none. */
static size_t trails(const char *at, const char *end, bool last)
{
    size_t n = 1;
    while (n < (size_t)(end - at) && ((unsigned char)end[-(ptrdiff_t)n] & 0xC0) == 0x80) {
        n++;
    }
    const char *mark = end - n;
    if (!attn__is_mark(attn__rune_at(mark).code) || (*mark == '.' && !last && is_initials(at, end))) {
        return 0;
    }
    return mark > at && (*mark == '+' || *mark == '#') && (mark[-1] == *mark || is_wordly(mark - 1)) ? 0 : n;
}

/* Cuts off what belongs to the word before it only by writing. Negations are cut only if the model knows n't; the other endings always, as
 * marks are, because the word before them is meant without them. */
static void cut_clitic(attn__cutter *c, const char *at, size_t size)
{
    static const char *const endings[] = {"n't", "'s", "'re", "'ve", "'ll", "'m", "'d"};
    size_t n;
    const char *word = attn__cut_fold(c, at, size, &n);
    bool negations = attn__cut_knows(c, endings[0], 3);
    size_t rest = negations && n == 6 && memcmp(word, "cannot", 6) == 0 ? 3 : n;
    for (size_t i = negations ? 0 : 1; i < sizeof endings / sizeof endings[0] && rest == n; i++) {
        size_t ending = strlen(endings[i]);
        rest -= n > ending && memcmp(word + n - ending, endings[i], ending) == 0 ? ending : 0;
    }
    if (!attn__is_accessory(word, rest)) {
        attn__cut_add(c, word, rest);
    }
    if (rest < n && attn__cut_knows(c, word + rest, n - rest)) {
        attn__cut_add(c, word + rest, n - rest);
    }
}

/* A word asked about that stands between marks inside of another one, as in "apple-based", is cut out; false if there is none. */
static bool cut_around_asked(attn__cutter *c, const char *at, const char *end)
{
    bool asked = false;
    for (int pass = 0; pass < 2; pass++) {
        for (const char *begin = at, *stop = at; begin < end; begin = stop) {
            attn__rune r = attn__rune_at(begin);
            if (attn__is_mark(r.code)) {
                stop = begin + (pass == 1 ? attn__cut_mark(c, begin, end, false) : r.size);
                continue;
            }
            for (stop = begin; stop < end && !attn__is_mark(attn__rune_at(stop).code);) {
                stop += attn__rune_at(stop).size;
            }
            size_t n;
            if (pass == 0) {
                const char *part = attn__cut_fold(c, begin, (size_t)(stop - begin), &n);
                asked = asked || attn__cut_asks(c, begin, (size_t)(stop - begin)) || attn__cut_asks(c, part, n);
            } else if (!attn__cut_add_known(c, begin, (size_t)(stop - begin))) {
                cut_clitic(c, begin, (size_t)(stop - begin));
            }
        }
        if (!asked) {
            return false;
        }
    }
    return true;
}

static void cut_piece(attn__cutter *c, const char *at, const char *end)
{
    if (at < end && !attn__cut_add_known(c, at, (size_t)(end - at)) && !(c->keep && cut_around_asked(c, at, end))) {
        cut_clitic(c, at, (size_t)(end - at));
    }
}

/* Whether words end at this mark also where no space stands: 10:30 and yes;no are cut, 1,000 and at&t and right-handed are not. */
static bool parts_words(const char *begin, const char *at, const char *end)
{
    attn__rune r = attn__rune_at(at);
    const char *after = at + r.size;
    if (*at == ',') {
        return !(at > begin && is_digit(at - 1) && after < end && is_digit(after));
    }
    if (*at == '-' || *at == '.') {
        return after < end && *after == *at;
    }
    bool joins = r.code == 0x2019 || r.code == 0xB7 || r.code == 0x2010 || r.code == 0x2011; /* apostrophe, middle dot, hyphens */
    return r.code < 0x80 ? strchr(";:!?()[]{}\"", *at) != NULL : attn__is_mark(r.code) && !joins;
}

static void cut_inside(attn__cutter *c, const char *at, const char *end)
{
    const char *begin = at;
    for (const char *p = at; p < end;) {
        if (!parts_words(begin, p, end)) {
            p += attn__rune_at(p).size;
            continue;
        }
        cut_piece(c, begin, p);
        p += attn__cut_mark(c, p, end, p == begin);
        begin = p;
    }
    cut_piece(c, begin, end);
}

/* An abbreviation at the end of the text is followed by the full stop of the sentence, which is written once and tokenised twice. */
static bool add_known_word(attn__cutter *c, const char *at, const char *end, bool last)
{
    if (!attn__cut_add_known(c, at, (size_t)(end - at))) {
        return false;
    }
    if (last && end - at > 1 && end[-1] == '.' && is_wordly(end - 2)) {
        add_mark(c, ".", 1, false);
    }
    return true;
}

void attn__cut_words(attn__cutter *c, const char *at, size_t size, bool last)
{
    const char *end = at + size, *stop = end;
    bool done = add_known_word(c, at, end, last);
    while (!done && at < end && leads(at, (size_t)(end - at))) {
        at += attn__cut_mark(c, at, end, true);
        done = at < end && add_known_word(c, at, end, last);
    }
    if (done || at == end) {
        return;
    }
    bool address = size > 3 && strstr(at, "://") != NULL && strstr(at, "://") < end;
    for (size_t n = trails(at, stop, last); !done && n > 0 && stop - n > at; n = done ? 0 : trails(at, stop, last)) {
        stop -= n;
        done = attn__cut_add_known(c, at, (size_t)(stop - at));
    }
    if (!done && address) {
        attn__cut_add(c, at, (size_t)(stop - at));
    } else if (!done) {
        cut_inside(c, at, stop);
    }
    while (stop < end) {
        stop += attn__cut_mark(c, stop, end, false);
    }
}

/* Text of scripts that are written without spaces, cut by longest match: at each place the longest word of the vocabulary that begins
 * there. What lies between two known words is one unknown word. Letters and digits of other scripts that stand together are never parted,
 * but may be a part of a word (T恤, 2010年). */
#include <string.h>
#include <utf8proc.h>

#include "word_sense/tokenize.h"

/* The end of the grapheme at `at`. */
static const char *grapheme_end(const char *at, const char *end)
{
    utf8proc_int32_t state = 0;
    attn__rune r = attn__rune_at(at);
    for (at += r.size; at < end; at += r.size) {
        attn__rune next = attn__rune_at(at);
        if (utf8proc_grapheme_break_stateful(r.code, next.code, &state)) {
            break;
        }
        r = next;
    }
    return at;
}

/* The end of the unit at `at`: a grapheme of a script without spaces, a mark, or letters and digits together with marks inside of them. */
static const char *unit_end(const char *at, const char *end)
{
    attn__rune r = attn__rune_at(at);
    if (attn__is_unspaced(r.code)) {
        return grapheme_end(at, end);
    }
    if (attn__is_mark(r.code)) {
        return at + r.size;
    }
    while (at < end) {
        r = attn__rune_at(at);
        if (attn__is_unspaced(r.code)) {
            break;
        }
        const char *next = at + r.size;
        if (attn__is_mark(r.code)) {
            int32_t after = next < end ? attn__rune_at(next).code : 0;
            if (next == end || attn__is_mark(after) || attn__is_unspaced(after) || r.code >= 0x3000) {
                break;
            }
        }
        at = next;
    }
    return at;
}

/* Sets c->unit to the places where the units of the chunk begin, and its end; the number of units. */
static size_t find_units(attn__cutter *c, const char *text, size_t size)
{
    size_t n = 0;
    for (size_t at = 0; !c->failed; n++) {
        void *array = c->unit;
        c->failed = !attn__grow(c->allocator, &array, &c->unit_room, n + 1, sizeof *c->unit);
        c->unit = array;
        if (!c->failed) {
            c->unit[n] = at;
        }
        if (at == size) {
            break;
        }
        at = (size_t)(unit_end(text + at, text + size) - text);
    }
    return c->failed ? 0 : n;
}

typedef bool (*test_fn)(const attn__cutter *c, const char *text, size_t size);

/* How many units from number i on are the longest word that passes the test; 0 if there is none. At most `most`. */
static size_t longest(const attn__cutter *c, const char *text, size_t i, size_t most, test_fn test)
{
    size_t limit = attn__cut_longest(c), n = 0;
    while (n < most && c->unit[i + n + 1] - c->unit[i] <= limit) {
        n++;
    }
    while (n > 0 && !test(c, text + c->unit[i], c->unit[i + n] - c->unit[i])) {
        n--;
    }
    return n;
}

/* The chunk on its way. */
typedef struct walk {
    attn__cutter *c;
    const char *text, *end;
    size_t units, i; /* units in all, and the next one */
    size_t unknown;  /* the unknown word that is being read begins here; i: none is */
    size_t asked;    /* the next word asked about begins here or later */
} walk;

/* Ends the unknown word, and goes on after `n` units. */
static void go_on(walk *w, size_t n)
{
    w->i += n;
    w->unknown = w->i;
}

static void add_unknown(const walk *w)
{
    const size_t *unit = w->c->unit;
    if (w->unknown < w->i) {
        attn__cut_add(w->c, w->text + unit[w->unknown], unit[w->i] - unit[w->unknown]);
    }
}

/* Units that a word may have here: no other word reaches into one that is asked about and must be kept. */
static size_t most_units(walk *w)
{
    if (!w->c->keep) {
        return w->units - w->i;
    }
    for (w->asked = w->asked < w->i ? w->i : w->asked; w->asked < w->units; w->asked++) {
        size_t n = longest(w->c, w->text, w->asked, w->units - w->asked, attn__cut_asks);
        if (n > 0) {
            return w->asked == w->i ? n : w->asked - w->i;
        }
    }
    return w->units - w->i;
}

static void add_next(walk *w, bool last)
{
    attn__cutter *c = w->c;
    const char *at = w->text + c->unit[w->i];
    int32_t code = attn__rune_at(at).code;
    size_t n = longest(c, w->text, w->i, most_units(w), attn__cut_knows);
    if (n > 0) {
        add_unknown(w);
        attn__cut_add(c, at, c->unit[w->i + n] - c->unit[w->i]);
        go_on(w, n);
    } else if (attn__is_mark(code)) {
        add_unknown(w);
        const char *done = at + attn__cut_mark(c, at, w->end, false);
        for (n = 1; w->text + c->unit[w->i + n] < done;) {
            n++;
        }
        go_on(w, n);
    } else if (!attn__is_unspaced(code)) {
        add_unknown(w);
        attn__cut_words(c, at, c->unit[w->i + 1] - c->unit[w->i], last && w->i + 1 == w->units);
        go_on(w, 1);
    } else {
        w->i++;
    }
}

static bool has_unspaced(const char *at, const char *end)
{
    while (at < end && !attn__is_unspaced(attn__rune_at(at).code)) {
        at += attn__rune_at(at).size;
    }
    return at < end;
}

void attn__cut_chars(attn__cutter *c, const char *text, size_t size, bool last)
{
    if (!has_unspaced(text, text + size)) {
        attn__cut_words(c, text, size, last);
        return;
    }
    walk w = {.c = c, .text = text, .end = text + size, .units = find_units(c, text, size)};
    while (w.i < w.units && !c->failed) {
        add_next(&w, last);
    }
    if (!c->failed) {
        add_unknown(&w);
    }
}

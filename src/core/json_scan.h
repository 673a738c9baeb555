/* JSON read in place, from front to back, without a tree: for texts whose form is known, and which may be large. Its strings are written
 * over. Not installed. */
#ifndef ATTN_JSON_SCAN_H
#define ATTN_JSON_SCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct attn__scan {
    char *begin, *at, *end;
    const char *fault; /* what is wrong at `at`; NULL: nothing */
    bool any_integer;  /* integers may be too big for 64 bits: attn__scan_integer then takes them for none */
} attn__scan;

attn__scan attn__scan_new(char *bytes, size_t size);

/* Whether all of it is one value of JSON (RFC 8259) in UTF-8, whose integers fit into 64 bits (unless any may come) and whose strings hold
 * no zero byte; then goes back to the beginning. Else `fault`. Everything below is for texts that passed this. */
bool attn__scan_check(attn__scan *s);

/* How many bytes at the start of a text stand for themselves in a string of JSON: none of '"', '\\' and control characters; if `ascii`,
 * also none of other characters. Mostly eight at a time. */
size_t attn__scan_plain(const char *at, const char *end, bool ascii);

/* The first character of the next value or key. */
char attn__scan_peek(attn__scan *s);
/* Enters an array or object; false if there is nothing in it, and it is done. */
bool attn__scan_open(attn__scan *s);
/* Behind an element: false if it was the last, and array or object are done. */
bool attn__scan_more(attn__scan *s);
/* A string, and behind a key its colon. It is decoded over its own bytes, with a zero byte behind, so that it can be read only once. */
char *attn__scan_string(attn__scan *s);
char *attn__scan_key(attn__scan *s);
/* Goes over a value; true if it was an integer. */
bool attn__scan_integer(attn__scan *s, int64_t *value);
void attn__scan_skip(attn__scan *s);

#endif

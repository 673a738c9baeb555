/* Reading JSON. Not installed. */
#ifndef ATTN_JSON_H
#define ATTN_JSON_H

#include <jansson.h>
#include <stddef.h>

/* json_loadb without repeated keys, in which the program's locale does not matter. NULL: `why` says what and where; its text is empty if
 * memory is out. */
json_t *attn__json_load(const char *bytes, size_t size, size_t flags, json_error_t *why);

/* Compact JSON text, in which the program's locale does not matter either; takes the value, which may be NULL. The caller frees the text
 * with free(); NULL if memory is out. */
char *attn__json_dump(json_t *value);

#endif

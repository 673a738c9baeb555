/* Reading and writing JSON. Not installed. */
#ifndef ATTN_JSON_H
#define ATTN_JSON_H

#include <jansson.h>
#include <stddef.h>

#include "attn/status.h"

/* json_loadb without repeated keys, in which the program's locale does not matter. NULL: `why` says what and where; its text is empty if
 * memory is out. */
json_t *attn__json_load(const char *bytes, size_t size, size_t flags, json_error_t *why);

/* The same for a text whose form is known: *value is NULL if it has another one, or is NULL. Error: ATTN_ENOMEM. */
attn_status attn__json_read(const char *text, size_t flags, json_t **value, attn_error *error);

/* json_unpack. Errors: ATTN_EFORMAT with the message `fault`, ATTN_ENOMEM. */
attn_status attn__json_unpack(json_t *value, attn_error *error, const char *fault, const char *format, ...);

/* Compact JSON text from the allocator, in which the program's locale does not matter either; takes the value, which may be NULL. NULL if
 * memory is out. */
char *attn__json_dump(json_t *value, const attn_allocator *allocator);

#endif

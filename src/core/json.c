/* jansson aborts on a fraction when the decimal point of the host program's locale has several bytes (as in Pashto), and writes rubbish, so
 * the calling thread does both in the C locale. No other thread notices. */
#include "core/json.h"

#include <locale.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include "core/core.h"
#include "core/json_scan.h"

/* When memory runs out, jansson may say that a string or a value was expected where there is one. */
static bool is_sound(const char *bytes, size_t size)
{
    attn__scan s = attn__scan_new((char *)(uintptr_t)bytes, size); /* checking does not write */
    return attn__scan_check(&s) && strchr("[{", attn__scan_peek(&s)) != NULL;
}

static bool is_memory(const json_error_t *why, const char *bytes, size_t size)
{
    switch (json_error_code(why)) {
    case json_error_out_of_memory:
        return true;
    case json_error_duplicate_key:
    case json_error_numeric_overflow:
        return false;
    default:
        return is_sound(bytes, size);
    }
}

json_t *attn__json_load(const char *bytes, size_t size, size_t flags, json_error_t *why)
{
    memset(why, 0, sizeof *why);
    locale_t c = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    if (c == (locale_t)0) {
        return NULL;
    }
    locale_t before = uselocale(c);
    json_t *json = json_loadb(bytes, size, flags | JSON_REJECT_DUPLICATES, why);
    (void)uselocale(before);
    freelocale(c);
    if (json == NULL && is_memory(why, bytes, size)) {
        why->text[0] = '\0';
    }
    return json;
}

attn_status attn__json_read(const char *text, size_t flags, json_t **value, attn_error *error)
{
    json_error_t why;
    *value = text != NULL ? attn__json_load(text, strlen(text), flags, &why) : NULL;
    bool lost = text != NULL && *value == NULL && why.text[0] == '\0';
    return lost ? attn__fail(error, ATTN_ENOMEM, "out of memory for JSON of %zu bytes", strlen(text)) : ATTN_OK;
}

attn_status attn__json_unpack(json_t *value, attn_error *error, const char *fault, const char *format, ...)
{
    json_error_t why = {.line = 0};
    va_list args;
    va_start(args, format);
    int failed = json_vunpack_ex(value, &why, 0, format, args);
    va_end(args);
    if (failed != 0 && json_error_code(&why) == json_error_out_of_memory) {
        return attn__fail(error, ATTN_ENOMEM, "out of memory for JSON");
    }
    return failed != 0 ? attn__fail(error, ATTN_EFORMAT, "%s", fault) : ATTN_OK;
}

/* jansson's own text grows as it goes, and a piece for which there is no memory may be left out without a word; so its length is found out
 * first, and nothing grows. */
static char *dump(const json_t *value, const attn_allocator *allocator)
{
    size_t size = json_dumpb(value, NULL, 0, JSON_COMPACT);
    char *text = size > 0 ? attn__calloc(allocator, size + 1, 1) : NULL;
    if (text != NULL && json_dumpb(value, text, size, JSON_COMPACT) != size) {
        attn__free(allocator, text);
        text = NULL;
    }
    return text;
}

char *attn__json_dump(json_t *value, const attn_allocator *allocator)
{
    char *text = NULL;
    locale_t c = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    if (c != (locale_t)0) {
        locale_t before = uselocale(c);
        text = value != NULL ? dump(value, allocator) : NULL;
        (void)uselocale(before);
        freelocale(c);
    }
    json_decref(value);
    return text;
}

/* jansson writes rubbish when the decimal point of the host program's locale has several bytes (as in Pashto), so the calling thread writes
 * in the C locale. No other thread notices. */
#include "core/json.h"

#include <locale.h>

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

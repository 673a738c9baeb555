/* jansson aborts on a fraction when the decimal point of the host program's locale has several bytes (as in Pashto), and writes rubbish, so
 * the calling thread does both in the C locale. No other thread notices. */
#include "core/json.h"

#include <locale.h>
#include <string.h>

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
    if (json == NULL && json_error_code(why) == json_error_out_of_memory) {
        why->text[0] = '\0';
    }
    return json;
}

char *attn__json_dump(json_t *value)
{
    char *text = NULL;
    locale_t c = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    if (c != (locale_t)0) {
        locale_t before = uselocale(c);
        text = value != NULL ? json_dumps(value, JSON_COMPACT) : NULL;
        (void)uselocale(before);
        freelocale(c);
    }
    json_decref(value);
    return text;
}

/* Bytes of a page, and text as HTML wants it. */
#include <string.h>

#include "attn/corpus.h"
#include "html/html.h"

void attn__html_init(attn__html *h, const attn_allocator *allocator, attn_error *error)
{
    *h = (attn__html){.allocator = allocator, .error = error, .key = "title"};
}

void attn__html_fail(attn__html *h, attn_status status, const char *format, ...)
{
    if (h->status != ATTN_OK) {
        return;
    }
    va_list args;
    va_start(args, format);
    h->status = attn__vfail(h->error, status, format, args);
    va_end(args);
}

char *attn__html_room(attn__html *h, size_t size)
{
    if (h->status != ATTN_OK) {
        return NULL;
    }
    void *array = h->bytes;
    bool grown = size <= SIZE_MAX - h->size && attn__grow(h->allocator, &array, &h->capacity, h->size + size, 1);
    h->bytes = array;
    if (!grown) {
        attn__html_fail(h, ATTN_ENOMEM, "page: out of memory");
        return NULL;
    }
    h->size += size;
    return h->bytes + h->size - size;
}

void attn__html_bytes(attn__html *h, const char *bytes, size_t size)
{
    char *to = attn__html_room(h, size);
    if (to != NULL && size > 0) {
        memcpy(to, bytes, size);
    }
}

void attn__html_add(attn__html *h, const char *markup)
{
    attn__html_bytes(h, markup, strlen(markup));
}

bool attn__html_check(attn__html *h, const char *utf8, int64_t item)
{
    int64_t fault = attn_utf8_fault(utf8, strlen(utf8));
    if (fault >= 0) {
        attn__html_fail(h, ATTN_EFORMAT, "page: text %lld of \"%s\" is not UTF-8: bad byte at offset %lld", (long long)item, h->key,
                        (long long)fault);
    }
    return fault < 0;
}

void attn__html_text(attn__html *h, const char *utf8)
{
    static const char *const entity[128] = {['&'] = "&amp;", ['<'] = "&lt;", ['>'] = "&gt;", ['"'] = "&quot;", ['\''] = "&#39;"};
    if (!attn__html_check(h, utf8, 1)) {
        return;
    }
    for (const char *p = utf8; *p != '\0'; p++) {
        unsigned char c = (unsigned char)*p;
        if (c < 128 && entity[c] != NULL) {
            attn__html_add(h, entity[c]);
        } else {
            attn__html_bytes(h, p, 1);
        }
    }
}

/* Text that grows: what documents are written into. */
#include <stdio.h>
#include <string.h>

#include <utf8proc.h>

#include "viz/viz.h"

void attn__out_bytes(attn__out *o, const char *bytes, size_t size)
{
    void *text = o->text;
    bool room = !o->failed && size < SIZE_MAX - o->size && attn__grow(o->allocator, &text, &o->room, o->size + size + 1, 1);
    o->text = text;
    o->failed = !room;
    if (room) {
        memcpy(o->text + o->size, bytes, size);
        o->size += size;
        o->text[o->size] = '\0';
    }
}

void attn__out_format(attn__out *o, const char *format, ...)
{
    char line[400];
    va_list args;
    va_start(args, format);
    int n = vsnprintf(line, sizeof line, format, args);
    va_end(args);
    o->failed = o->failed || n < 0 || (size_t)n >= sizeof line;
    if (!o->failed) {
        attn__out_bytes(o, line, (size_t)n);
    }
}

void attn__out_code(attn__out *o, int32_t code)
{
    utf8proc_uint8_t bytes[4];
    attn__out_bytes(o, (const char *)bytes, (size_t)utf8proc_encode_char(code, bytes));
}

attn_status attn__out_end(attn__out *o, attn_document *document, attn_error *error)
{
    if (o->failed) {
        attn__free(o->allocator, o->text);
        return attn__fail(error, ATTN_ENOMEM, "heatmap: out of memory");
    }
    *document = (attn_document){.text = o->text, .size = o->size, .allocator = o->allocator != NULL ? *o->allocator : attn__malloc};
    return ATTN_OK;
}

void attn_document_free(attn_document *document)
{
    if (document != NULL && document->text != NULL) {
        attn__free(document->allocator.free != NULL ? &document->allocator : NULL, document->text);
        *document = (attn_document){0};
    }
}

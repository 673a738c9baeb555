/* What an open safetensors file holds, and what its reader and writer share. */
#include <string.h>

#include "nn/nn.h"

const char *attn__printable(const char *text, char shown[ATTN__PRINTABLE_SIZE])
{
    const size_t most = ATTN__PRINTABLE_SIZE - sizeof "...";
    size_t size = strlen(text), n = size < most ? size : most;
    while (n < size && n > 0 && ((unsigned char)text[n] & 0xc0) == 0x80) {
        n--; /* do not cut a character */
    }
    for (size_t i = 0; i < n; i++) {
        unsigned char c = (unsigned char)text[i];
        shown[i] = c < 0x20 || c == 0x7f ? '?' : (char)c;
    }
    memcpy(shown + n, n < size ? "..." : "", n < size ? sizeof "..." : 1);
    return shown;
}

void attn__copy_little_endian(void *to, const void *from, size_t count, size_t size)
{
    const uint16_t probe = 1;
    unsigned char *out = to;
    const unsigned char *in = from, *first = (const unsigned char *)&probe;
    if (*first == 1) {
        if (count > 0) {
            memcpy(out, in, count * size);
        }
        return;
    }
    for (size_t i = 0; i < count * size; i++) {
        out[i] = in[i / size * size + (size - 1 - i % size)];
    }
}

void attn_safetensors_free(attn_safetensors *f)
{
    if (f != NULL) {
        attn_allocator allocator = f->allocator;
        attn__arena_free(&f->arena);
        attn__free(&allocator, f);
    }
}

int attn_safetensors_count(const attn_safetensors *f)
{
    return f->tensors;
}

attn_file_tensor attn_safetensors_get(const attn_safetensors *f, int i)
{
    return i >= 0 && i < f->tensors ? f->tensor[i] : (attn_file_tensor){0};
}

int attn_safetensors_find(const attn_safetensors *f, const char *name)
{
    for (int i = 0; i < f->tensors; i++) {
        if (strcmp(f->tensor[i].name, name) == 0) {
            return i;
        }
    }
    return -1;
}

int attn_safetensors_text_count(const attn_safetensors *f)
{
    return f->texts;
}

attn_file_text attn_safetensors_text_at(const attn_safetensors *f, int i)
{
    return i >= 0 && i < f->texts ? f->text[i] : (attn_file_text){0};
}

const char *attn_safetensors_text(const attn_safetensors *f, const char *key)
{
    for (int i = 0; i < f->texts; i++) {
        if (strcmp(f->text[i].key, key) == 0) {
            return f->text[i].value;
        }
    }
    return NULL;
}

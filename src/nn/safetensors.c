/* What an open safetensors file holds, and what its reader and writer share. */
#include <string.h>

#include "nn/nn.h"

bool attn__little_endian(void)
{
    const uint16_t probe = 1;
    return *(const unsigned char *)&probe == 1;
}

void attn__copy_little_endian(void *to, const void *from, size_t count, size_t size)
{
    if (count > 0 && to != from) {
        memcpy(to, from, count * size);
    }
    for (size_t i = 0; !attn__little_endian() && i < count; i++) {
        unsigned char *element = (unsigned char *)to + i * size;
        for (size_t k = 0; k < size / 2; k++) {
            unsigned char kept = element[k];
            element[k] = element[size - 1 - k];
            element[size - 1 - k] = kept;
        }
    }
}

void attn_safetensors_free(attn_safetensors *f)
{
    if (f != NULL) {
        attn_allocator allocator = f->allocator;
        attn__arena_free(&f->arena);
        attn__parts_close(&f->parts);
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

/* Pixels to a file: the only file that sees stb_image_write. Its memory comes from an arena; when there is none, its allocation does not
 * return but jumps back to us, for it does not check everywhere. Its macros know no context, hence one pointer a thread, set during a call
 * only. */
#include <setjmp.h>
#include <string.h>

#include "core/file.h"
#include "viz/viz.h"

typedef struct scratch {
    attn__arena memory;
    jmp_buf out_of_memory;
    const attn_allocator *allocator;
    uint8_t *bytes; /* the result */
    size_t size;
} scratch;

static _Thread_local scratch *current;

static void *scratch_alloc(size_t size)
{
    void *p = attn__arena_alloc(&current->memory, size);
    if (p == NULL) {
        longjmp(current->out_of_memory, 1);
    }
    return p;
}

static void *scratch_grow(const void *old, size_t old_size, size_t size)
{
    void *p = scratch_alloc(size);
    if (old != NULL) {
        memcpy(p, old, old_size);
    }
    return p;
}

#define STB_IMAGE_WRITE_STATIC
#define STBI_WRITE_NO_STDIO
#define STBIW_ASSERT(x)                        ((void)0)
#define STBIW_MALLOC(size)                     scratch_alloc((size_t)(size))
#define STBIW_REALLOC_SIZED(old, before, size) scratch_grow((old), (size_t)(before), (size_t)(size))
#define STBIW_FREE(p)                          ((void)(p))
#define STB_IMAGE_WRITE_IMPLEMENTATION
#include <stb_image_write.h>

static void keep(void *context, void *data, int size)
{
    scratch *s = context;
    s->size = (size_t)size;
    s->bytes = attn__calloc(s->allocator, s->size, 1);
    if (s->bytes != NULL) {
        memcpy(s->bytes, data, s->size);
    }
}

/* False if memory is out. */
static bool encode(scratch *s, const attn_image *image)
{
    current = s;
    if (setjmp(s->out_of_memory) != 0) {
        return false;
    }
    return stbi_write_png_to_func(keep, s, image->width, image->height, 3, image->rgb, 3 * image->width) != 0 && s->bytes != NULL;
}

attn_status attn_png_encode(const attn_image *image, uint8_t **bytes, size_t *size, const attn_allocator *allocator, attn_error *error)
{
    *bytes = NULL;
    *size = 0;
    if (image->rgb == NULL || image->width < 1 || image->height < 1) {
        return attn__fail(error, ATTN_EINVAL, "png: the picture is empty");
    }
    if ((3 * (int64_t)image->width + 1) * image->height > ATTN__MAX_PICTURE) {
        return attn__fail(error, ATTN_ESHAPE, "png: %d x %d pixels are too many for one picture", image->width, image->height);
    }
    scratch s = {.allocator = allocator};
    attn__arena_init(&s.memory, allocator);
    bool ok = encode(&s, image);
    current = NULL;
    attn__arena_free(&s.memory);
    if (!ok) {
        return attn__fail(error, ATTN_ENOMEM, "png: out of memory for %d x %d pixels", image->width, image->height);
    }
    *bytes = s.bytes;
    *size = s.size;
    return ATTN_OK;
}

attn_status attn_png_write(const char *path, const attn_image *image, attn_error *error)
{
    uint8_t *bytes;
    size_t size;
    const attn_allocator *allocator = image->allocator.alloc != NULL ? &image->allocator : NULL; /* a picture made by the caller */
    attn_status status = attn_png_encode(image, &bytes, &size, allocator, error);
    if (status == ATTN_OK) {
        status = attn_file_write(path, bytes, size, allocator, error);
        attn__free(allocator, bytes);
    }
    return status;
}

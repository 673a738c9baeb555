/* Status codes, error reports, the allocator value and the version: what every other header uses. */
#ifndef ATTN_STATUS_H
#define ATTN_STATUS_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define ATTN_API                __attribute__((visibility("default")))
#define ATTN_NODISCARD          __attribute__((warn_unused_result))
#define ATTN_PRINTF(fmt, first) __attribute__((format(printf, fmt, first)))
#else
#define ATTN_API
#define ATTN_NODISCARD
#define ATTN_PRINTF(fmt, first)
#endif

#define ATTN_VERSION_MAJOR 0
#define ATTN_VERSION_MINOR 1
#define ATTN_VERSION_PATCH 0

/** Every status a function of this library returns: X(suffix, sentence). The one list; names and sentences come from it. */
#define ATTN_STATUS_MAP(X)                                \
    X(OK, "success")                                      \
    X(ENOMEM, "out of memory")                            \
    X(EINVAL, "invalid argument")                         \
    X(ESHAPE, "shapes do not fit")                        \
    X(EDTYPE, "element types do not fit")                 \
    X(ERANGE, "index out of range")                       \
    X(EIO, "input or output failed")                      \
    X(EFORMAT, "malformed data")                          \
    X(EMISMATCH, "data does not belong to this model")    \
    X(ENONFINITE, "a value is not finite")                \
    X(EUNKNOWN_WORD, "the model does not know this word") \
    X(EINTERRUPTED, "interrupted")

typedef enum attn_status {
#define ATTN_STATUS_ENUM(suffix, sentence) ATTN_##suffix,
    ATTN_STATUS_MAP(ATTN_STATUS_ENUM)
#undef ATTN_STATUS_ENUM
} attn_status;

/** Longest error message, with its terminating zero. */
#define ATTN_MESSAGE_SIZE 512

/** What went wrong. A plain value of the caller's; a function that takes `attn_error *` accepts NULL and writes only on failure. */
typedef struct attn_error {
    attn_status status;
    char message[ATTN_MESSAGE_SIZE]; /* one line, UTF-8, with the file and line number or the shapes concerned */
} attn_error;

/** Where memory comes from. A value given when an object is made, never a global; NULL means malloc and free.
 * `alloc` returns memory aligned for any type, or NULL; it may be called with any size above 0. `free` accepts NULL.
 * Both may be called from any thread that uses the object. */
typedef struct attn_allocator {
    void *(*alloc)(void *ctx, size_t size);
    void (*free)(void *ctx, void *ptr);
    void *ctx;
} attn_allocator;

/** "ATTN_ESHAPE" and the like; "ATTN_?" for a number that is no status. Static storage, any thread. */
ATTN_API const char *attn_status_name(attn_status status);

/** "shapes do not fit" and the like; "unknown status" for a number that is no status. Static storage, any thread. */
ATTN_API const char *attn_status_sentence(attn_status status);

/** The library's version as "MAJOR.MINOR.PATCH". Static storage, any thread. */
ATTN_API const char *attn_version(void);

/** Number, names and versions of the libraries that are in use ("jansson", "2.14"); version "" where a library does not tell it, name NULL
 * for a number outside. Static storage, any thread. */
ATTN_API int attn_library_count(void);
ATTN_API const char *attn_library_name(int library);
ATTN_API const char *attn_library_version(int library);

#ifdef __cplusplus
}
#endif
#endif

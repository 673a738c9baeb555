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

#define ATTN_VERSION_MAJOR 0 /**< changes when a program must be rewritten */
#define ATTN_VERSION_MINOR 1 /**< changes with what is new, before 1.0.0 with all of it */
#define ATTN_VERSION_PATCH 0 /**< changes with what is mended */

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

/** How a call ended. */
typedef enum attn_status {
#define ATTN_STATUS_ENUM(suffix, sentence) ATTN_##suffix,
    ATTN_STATUS_MAP(ATTN_STATUS_ENUM)
#undef ATTN_STATUS_ENUM
} attn_status;

/** Longest error message, with its terminating zero. */
#define ATTN_MESSAGE_SIZE 512

/** What went wrong. A plain value of the caller's; a function that takes `attn_error *` accepts NULL and writes only on failure. */
typedef struct attn_error {
    attn_status status;              /* never ATTN_OK */
    char message[ATTN_MESSAGE_SIZE]; /* one line, UTF-8, with the file and line number or the shapes concerned */
} attn_error;

/** Where memory comes from. A value given when an object is made, never a global. Both functions may be called from any thread that uses
 * the object. */
typedef struct attn_allocator {
    void *(*alloc)(void *ctx, size_t size); /* memory aligned for any type, or NULL; any size above 0 */
    void (*free)(void *ctx, void *ptr);     /* accepts NULL */
    void *ctx;                              /* handed to both */
} attn_allocator;

/** @return "ATTN_ESHAPE" and the like, in static storage; "ATTN_?" for a number that is no status */
ATTN_API const char *attn_status_name(attn_status status);

/** @return "shapes do not fit" and the like, in static storage; "unknown status" for a number that is no status */
ATTN_API const char *attn_status_sentence(attn_status status);

/** @return the library's version as "MAJOR.MINOR.PATCH", in static storage */
ATTN_API const char *attn_version(void);

ATTN_API int attn_library_count(void); /* number of other libraries that are in use */

/** @param library 0 to attn_library_count() - 1   @return its name ("jansson"), in static storage; NULL for a number outside */
ATTN_API const char *attn_library_name(int library);

/** @param library as above   @return its version ("2.14"), in static storage; "" where a library does not tell it */
ATTN_API const char *attn_library_version(int library);

#ifdef __cplusplus
}
#endif
#endif

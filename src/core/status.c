#include <stdio.h>

#include "core/core.h"

const char *attn_status_name(attn_status status)
{
    switch (status) {
#define CASE(suffix, sentence) \
    case ATTN_##suffix:        \
        return "ATTN_" #suffix;
        ATTN_STATUS_MAP(CASE)
#undef CASE
    }
    return "ATTN_?";
}

const char *attn_status_sentence(attn_status status)
{
    switch (status) {
#define CASE(suffix, sentence) \
    case ATTN_##suffix:        \
        return sentence;
        ATTN_STATUS_MAP(CASE)
#undef CASE
    }
    return "unknown status";
}

#define TEXT2(x) #x
#define TEXT(x)  TEXT2(x)

const char *attn_version(void)
{
    return TEXT(ATTN_VERSION_MAJOR) "." TEXT(ATTN_VERSION_MINOR) "." TEXT(ATTN_VERSION_PATCH);
}

attn_status attn__vfail(attn_error *error, attn_status status, const char *format, va_list args)
{
    if (error != NULL) {
        error->status = status;
        (void)vsnprintf(error->message, sizeof error->message, format, args);
    }
    return status;
}

attn_status attn__fail(attn_error *error, attn_status status, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    attn__vfail(error, status, format, args);
    va_end(args);
    return status;
}

/* Which libraries this one was built on, and their versions at run time. */
#include <jansson.h>
#include <utf8proc.h>

#include "attn/status.h"

typedef struct library {
    const char *name;
    const char *(*version)(void); /* NULL: it does not tell */
} library;

#ifdef _OPENMP
/* OpenMP names its versions by their month. */
static const char *openmp_version(void)
{
    return _OPENMP >= 202011 ? "5.1 or later" : _OPENMP >= 201811 ? "5.0" : _OPENMP >= 201511 ? "4.5" : "before 4.5";
}
#endif

#ifdef ATTN_HAVE_FONTCONFIG
#include <fontconfig/fontconfig.h>

/* 21401 is 2.14.1 */
static const char *fontconfig_version(void)
{
    static _Thread_local char text[16];
    int v = FcGetVersion() % 1000000, at = 0;
    const int parts[] = {v / 10000, v / 100 % 100, v % 100};
    for (int i = 0; i < 3; i++) {
        if (parts[i] >= 10) {
            text[at++] = (char)('0' + parts[i] / 10);
        }
        text[at++] = (char)('0' + parts[i] % 10);
        text[at++] = i < 2 ? '.' : '\0';
    }
    return text;
}
#endif

static const library libraries[] = {
#ifdef _OPENMP
    {"OpenMP", openmp_version},
#endif
    {"jansson", jansson_version_str},
    {"utf8proc", utf8proc_version},
#ifdef ATTN_HAVE_FONTCONFIG
    {"fontconfig", fontconfig_version},
#endif
    {"stb", NULL},
};

int attn_library_count(void)
{
    return (int)(sizeof libraries / sizeof libraries[0]);
}

const char *attn_library_name(int i)
{
    return i >= 0 && i < attn_library_count() ? libraries[i].name : NULL;
}

const char *attn_library_version(int i)
{
    return i >= 0 && i < attn_library_count() && libraries[i].version != NULL ? libraries[i].version() : "";
}

/* Locales in which a number looks different. */
#ifndef ATTN_TEST_LOCALES_H
#define ATTN_TEST_LOCALES_H

#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "support/check.h"

/* "de_DE" has a decimal comma, "ps_AF" a decimal point of two bytes. Switches to it; makes it in the working folder where it is not
 * installed; false where that cannot be done. numbers_as_usual switches back. */
static inline bool numbers_as_in(const char *language)
{
    char name[64], make[200], here[1000];
    (void)snprintf(name, sizeof name, "%s.UTF-8", language);
    if (setlocale(LC_ALL, name) != NULL) {
        return true;
    }
    (void)snprintf(make, sizeof make, "localedef -c -i %s -f UTF-8 ./%s >/dev/null 2>&1", language, name);
    if (system(make) == -1 || getcwd(here, sizeof here) == NULL) {
        return false;
    }
    (void)setenv("LOCPATH", here, 1);
    return setlocale(LC_ALL, name) != NULL;
}

static inline void numbers_as_usual(void)
{
    assert_non_null(setlocale(LC_ALL, "C"));
}

#endif

/* A sweep that lets one allocation after the other fail. */
#ifndef ATTN_TEST_FAULTS_H
#define ATTN_TEST_FAULTS_H

#include "support/check.h"
#include "support/faulty_memory.h"

/* ---- what a call says, in a form that can be compared ---- */

typedef uint64_t digest;
void digest_bytes(digest *d, const void *bytes, size_t size);
void digest_text(digest *d, const char *text);
void digest_double(digest *d, double x);
void digest_file(digest *d, const char *path); /* its bytes; nothing fails meanwhile */

/* ATTN_OK, or ATTN_ENOMEM with a message for what returns NULL or a status alone. */
attn_status made(const void *object, attn_error *error);
attn_status told(attn_status status, attn_error *error);

/* ---- the sweep ---- */

/* One public function, or several that are used together. */
typedef struct fault_case {
    const char *name;
    void (*begin)(void);                              /* makes what `run` works on, from `faulty`; may be NULL */
    attn_status (*run)(digest *d, attn_error *error); /* what may fail; leaves nothing behind but in what it works on */
    void (*end)(void);                                /* frees what `begin` has made; may be NULL */
} fault_case;

/* Lets the 1st, 2nd, ... allocation of each `run` fail, alone and with all that follow, until there is none left to fail. Each time the
 * status is ATTN_ENOMEM with a message, or, if the function can do without, ATTN_OK and the same digest; the same call then succeeds with
 * the same digest; and nothing is left in the end. At most `most` places are tried for each, evenly spread (0: all). */
void faults_sweep(const fault_case cases[], size_t n, long most);

/* The function allocates nothing, however often it is called. */
void faults_none(void (*run)(void));

#endif

#include "support/faults.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "support/disk.h"

/* No test of memory needs what it writes to survive the machine. */
__attribute__((visibility("default"))) int fsync(int fd)
{
    (void)fd;
    return 0;
}

/* ---- digests ---- */

void digest_bytes(digest *d, const void *bytes, size_t size)
{
    const unsigned char *at = bytes;
    for (size_t i = 0; i < size; i++) {
        *d = (*d ^ at[i]) * 0x100000001B3U; /* FNV-1a */
    }
    *d = (*d ^ size) * 0x100000001B3U;
}

void digest_text(digest *d, const char *text)
{
    digest_bytes(d, text != NULL ? text : "", text != NULL ? strlen(text) : 0);
}

void digest_double(digest *d, double x)
{
    digest_bytes(d, &x, sizeof x);
}

void digest_file(digest *d, const char *path)
{
    size_t size;
    faults_pause();
    char *bytes = take_file(path, &size);
    digest_bytes(d, bytes, size);
    free(bytes);
    faults_resume();
}

attn_status told(attn_status status, attn_error *error)
{
    if (status != ATTN_OK) {
        *error = (attn_error){.status = status, .message = "out of memory"};
    }
    return status;
}

attn_status made(const void *object, attn_error *error)
{
    return told(object != NULL ? ATTN_OK : ATTN_ENOMEM, error);
}

/* ---- the sweep ---- */

static const fault_case *now; /* for messages */

static void must(bool ok, const char *what, long k)
{
    if (!ok) {
        (void)faults_end();
        print_error("%s, allocation %ld: %s\n", now->name, k, what);
        fail();
    }
}

static attn_status run(digest *d, attn_error *error, long k, bool alone, long *count)
{
    *d = 0xCBF29CE484222325U;
    *error = (attn_error){.message = ""};
    faults_begin(k, alone);
    attn_status status = now->run(d, error);
    *count = faults_end();
    must(status == error->status, "the status is not that of the error", k);
    return status;
}

/* A run with a fault, another one without, on the same objects. */
static void one_fault(long k, bool alone, digest expected)
{
    digest d;
    attn_error error;
    long count, before = faults_live();
    if (now->begin != NULL) {
        now->begin();
    }
    attn_status status = run(&d, &error, k, alone, &count);
    if (status != ATTN_OK) {
        must(status == ATTN_ENOMEM, error.message, k);
        must(strstr(error.message, "out of memory") != NULL, error.message, k);
        status = run(&d, &error, 0, false, &count);
        must(status == ATTN_OK, error.message, k);
    }
    must(d == expected, "another result", k);
    if (now->end != NULL) {
        now->end();
    }
    must(faults_live() == before, "memory is left", k);
}

static long sweep_one(long most)
{
    digest expected;
    attn_error error;
    long count, faults = 0, before = faults_live();
    if (now->begin != NULL) {
        now->begin();
    }
    attn_status status = run(&expected, &error, 0, false, &count);
    must(status == ATTN_OK, error.message, 0);
    if (now->end != NULL) {
        now->end();
    }
    must(faults_live() == before, "memory is left", 0);
    must(count > 0, "nothing is allocated", 0);
    long step = most > 0 && count > most ? count / most : 1;
    for (long k = 1; k <= count; k += step) {
        one_fault(k, true, expected);
        one_fault(k, false, expected);
        faults += 2;
    }
    return faults;
}

void faults_sweep(const fault_case cases[], size_t n, long most)
{
    long faults = 0;
    faults_in_jansson();
    for (size_t i = 0; i < n; i++) {
        now = &cases[i];
        long some = sweep_one(most);
        print_message("%-28s %6ld faults\n", now->name, some);
        faults += some;
    }
    print_message("%ld faults in %zu cases\n", faults, n);
}

void faults_none(void (*quiet)(void))
{
    faults_begin(1, false);
    quiet();
    assert_int_equal(faults_end(), 0);
}

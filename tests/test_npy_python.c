/* Do NumPy and we see the same numbers in each other's files? Needs python3 with NumPy. */
#include "support/check.h"

#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/disk.h"
#include "support/matrices.h"

#define FOLDER "test_npy_python.d"
#define SCRIPT "'" ATTN_SOURCE_DIR "/tests/reference/npy.py' "

/* An interpreter with NumPy: the first in the path, else the system's. */
static const char *python;

/* The text has these rows and nothing more. */
static void text_is(const char *text, const attn_matrix *m)
{
    const char *at = text;
    for (int64_t i = 0; i < m->rows * m->columns; i++) {
        char *end;
        double number = strtod(at, &end);
        assert_true(end > at);
        assert_memory_equal(&number, &m->values[i], sizeof number);
        at = end;
        assert_int_equal(*at, (i + 1) % m->columns == 0 ? '\n' : ' ');
        at++;
    }
    assert_int_equal(*at, '\0');
}

static void we_read_what_numpy_writes(void **state)
{
    (void)state;
    char command[1000];
    int files = 0;
    fresh_folder(FOLDER);
    (void)snprintf(command, sizeof command, "%s " SCRIPT "write " FOLDER, python);
    assert_int_equal(system(command), 0);
    DIR *folder = opendir(FOLDER);
    assert_non_null(folder);
    for (struct dirent *e = readdir(folder); e != NULL; e = readdir(folder)) {
        char path[600];
        attn_matrix m;
        attn_error error;
        char *dot = strrchr(e->d_name, '.');
        if (strcmp(dot, ".npy") != 0) {
            continue;
        }
        (void)snprintf(path, sizeof path, FOLDER "/%s", e->d_name);
        if (attn_matrix_read(path, &m, NULL, &error) != ATTN_OK) {
            fail_msg("%s", error.message);
        }
        memcpy(strrchr(path, '.'), ".txt", 4);
        size_t size;
        char *text = take_file(path, &size);
        text_is(text, &m);
        free(text);
        attn_matrix_free(&m);
        files++;
    }
    closedir(folder);
    assert_int_equal(files, 17 * 3 + 7);
}

static void numpy_reads_what_we_write(void **state)
{
    (void)state;
    static char output[100000];
    double values[1000] = {1.0 / 3, -0.0, INFINITY, 0x1p-1074, -1e308};
    for (int i = 5; i < 1000; i++) {
        values[i] = i / 7.0;
    }
    const int64_t shapes[][2] = {{1, 1}, {2, 3}, {1000, 1}, {1, 1000}, {25, 40}};
    char command[1000];
    (void)snprintf(command, sizeof command, "%s " SCRIPT "read " FOLDER "/m.npy", python);
    fresh_folder(FOLDER);
    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++) {
        const attn_matrix m = {.rows = shapes[i][0], .columns = shapes[i][1], .values = values};
        assert_int_equal(attn_matrix_write_npy(FOLDER "/m.npy", &m, NULL, NULL), ATTN_OK);
        FILE *from = popen(command, "r");
        assert_non_null(from);
        size_t size = fread(output, 1, sizeof output - 1, from);
        assert_int_equal(pclose(from), 0);
        output[size] = '\0';
        text_is(output, &m);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(we_read_what_numpy_writes),
        cmocka_unit_test(numpy_reads_what_we_write),
    };
    static const char *const pythons[] = {"python3", "/usr/bin/python3"};
    for (int i = 0; i < 2 && python == NULL; i++) {
        char command[100];
        (void)snprintf(command, sizeof command, "%s -c 'import numpy' 2>/dev/null", pythons[i]);
        python = system(command) == 0 ? pythons[i] : NULL;
    }
    if (python == NULL) {
        (void)fprintf(stderr, "skipped: there is no python3 with NumPy\n");
        return 77;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Does a reader that was written apart from the library see the same names, shapes and numbers in its files? Needs python3. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/check.h"
#include "support/disk.h"

#include "attn/checkpoint.h"

#define FOLDER "test_safetensors_python.d"
static const char path[] = FOLDER "/m.safetensors";
static const char command[] = "python3 '" ATTN_SOURCE_DIR "/tests/reference/read_safetensors.py' " FOLDER "/m.safetensors";

enum { TENSORS = 5, LONGEST = 12 };

static const float singles[LONGEST] = {1, -2.5F, 0x1.fffffep-1F, 0x1p-149F, -0.0F, 3e38F, 7, 8, 9, 10, 11, 12};
static const double doubles[] = {0x1.fffffffffffffp-2, -1e300, 0x1p-1074};
static const attn_file_tensor tensors[TENSORS] = {
    {"W_q", ATTN_F32, {2, {2, 6}}, singles}, {"empty", ATTN_F32, {3, {2, 0, 3}}, singles},
    {"double", ATTN_F64, {1, {3}}, doubles}, {"four \"x\"", ATTN_F32, {4, {1, 3, 2, 1}}, singles},
    {"scalar", ATTN_F64, {0, {0}}, doubles},
};

static double element(const attn_file_tensor *x, int64_t i)
{
    return x->dtype == ATTN_F32 ? (double)((const float *)x->data)[i] : ((const double *)x->data)[i];
}

/* The line that belongs to a tensor, up to its numbers, in the words of the reader. */
static const char *line_of(const char *output, const attn_file_tensor *x)
{
    char start[200];
    size_t n = (size_t)snprintf(start, sizeof start, "tensor \"%s\" %s [", x->name[0] == 'f' ? "four \\\"x\\\"" : x->name,
                                x->dtype == ATTN_F32 ? "F32" : "F64");
    for (int d = 0; d < x->shape.rank; d++) {
        n += (size_t)snprintf(start + n, sizeof start - n, "%s%d", d > 0 ? ", " : "", (int)x->shape.dim[d]);
    }
    (void)snprintf(start + n, sizeof start - n, "]");
    assert_contains(output, start);
    return strstr(output, start) + strlen(start);
}

static void python_reads_the_same(void **state)
{
    (void)state;
    static char output[10000];
    const attn_file_text texts[] = {{"note", "tab\there"}, {"words", "苹果"}};
    fresh_folder(FOLDER);
    assert_int_equal(attn_safetensors_write(path, tensors, TENSORS, texts, 2, NULL, NULL), ATTN_OK);
    FILE *python = popen(command, "r");
    assert_non_null(python);
    size_t size = fread(output, 1, sizeof output - 1, python);
    assert_int_equal(pclose(python), 0);
    output[size] = '\0';
    assert_contains(output, "text \"format\" \"pt\"\ntext \"note\" \"tab\\there\"\ntext \"words\" \"\\u82f9\\u679c\"\n");
    for (int i = 0; i < TENSORS; i++) {
        const char *at = line_of(output, &tensors[i]);
        for (int64_t k = 0; k < attn_shape_count(tensors[i].shape); k++) {
            char *end;
            double number = strtod(at, &end), expected = element(&tensors[i], k);
            assert_true(end > at);
            assert_memory_equal(&number, &expected, sizeof number); /* zeros have a sign */
            at = end;
        }
        assert_int_equal(*at, '\n');
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(python_reads_the_same),
    };
    if (system("python3 -c '' 2>/dev/null") != 0) {
        (void)fprintf(stderr, "skipped: python3 is not installed\n");
        return 77;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* The conformance program on small folders made here: right and wrong cases, and folders that cannot be read. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "support/check.h"

#define FOLDER "onnx_cases"

static void write_text(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

/* FOLDER/CASE/NAME.npy, version 1: `shape` as Python writes it. */
static void write_npy(const char *name, const char *array, const char *descr, const char *shape, const void *data, size_t size)
{
    char path[128], header[118];
    (void)mkdir(FOLDER, 0777);
    (void)snprintf(path, sizeof path, FOLDER "/%s", name);
    (void)mkdir(path, 0777);
    (void)snprintf(path, sizeof path, FOLDER "/%s/%s.npy", name, array);
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    int n = snprintf(header, sizeof header, "{'descr': '%s', 'fortran_order': False, 'shape': %s, }", descr, shape);
    memset(header + n, ' ', sizeof header - (size_t)n);
    header[sizeof header - 1] = '\n';
    assert_int_equal(fwrite("\x93NUMPY\x01\x00\x76\x00", 1, 10, file), 10);
    assert_int_equal(fwrite(header, 1, sizeof header, file), sizeof header);
    assert_int_equal(fwrite(data, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

/* One query, two keys of width 1 that score 0 and ln 3: weights 1/4 and 3/4 of the values 4 and 8; `y` is what the case expects. */
static void write_case(const char *name, float y)
{
    const float q[] = {1}, k[] = {0, logf(3)}, v[] = {4, 8};
    write_npy(name, "Q", "<f4", "(1, 1, 1, 1)", q, sizeof q);
    write_npy(name, "K", "<f4", "(1, 1, 2, 1)", k, sizeof k);
    write_npy(name, "V", "<f4", "(1, 1, 2, 1)", v, sizeof v);
    write_npy(name, "Y", "<f4", "(1, 1, 1, 1)", &y, sizeof y);
}

static const char inputs[] = "\"Q\":[\"float32\",[1,1,1,1]],\"K\":[\"float32\",[1,1,2,1]],\"V\":[\"float32\",[1,1,2,1]]";
static const char outputs[] = "\"outputs\":{\"Y\":[\"float32\",[1,1,1,1]]}";

/* A list of cases, text that begins empty and is FOLDER/manifest.json in the end. */
typedef struct manifest {
    char text[4096];
} manifest;

static void append(manifest *m, const char *more)
{
    size_t length = strlen(m->text);
    assert_true(snprintf(m->text + length, sizeof m->text - length, "%s%s", length > 0 ? "," : "[", more) > 0);
}

/* A case of one query and two keys with these attributes, and these inputs beside Q, K and V. */
static void add(manifest *m, const char *name, const char *attributes, const char *more)
{
    char text[512];
    (void)snprintf(text, sizeof text, "{\"name\":\"%s\",\"attributes\":{%s},\"inputs\":{%s%s},%s}", name, attributes, inputs, more,
                   outputs);
    append(m, text);
}

static void finish(const manifest *m)
{
    char text[sizeof m->text + 2];
    (void)snprintf(text, sizeof text, "%s]", m->text);
    write_text(FOLDER "/manifest.json", text);
}

static int run(const char *folder, char output[4096])
{
    char command[1200];
    (void)snprintf(command, sizeof command, "'%s' %s 2>&1", ATTN_ONNX_CASES, folder);
    FILE *pipe = popen(command, "r");
    assert_non_null(pipe);
    output[fread(output, 1, 4095, pipe)] = '\0';
    int status = pclose(pipe);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static void right_cases_pass(void **state)
{
    (void)state;
    char output[4096];
    const uint8_t first[] = {1, 0}, none[] = {0, 0};
    const int64_t one[] = {1}, both[] = {2};
    const float bias[] = {3};
    write_case("plain", 7);
    write_case("scaled to 0", 6);
    write_case("mask", 4);
    write_npy("mask", "attn_mask", "|b1", "(1, 2)", first, sizeof first);
    write_case("nothing", 0);
    write_npy("nothing", "attn_mask", "|b1", "(1, 2)", none, sizeof none);
    write_case("length", 4);
    write_npy("length", "nonpad_kv_seqlen", "<i8", "(1,)", one, sizeof one);
    write_case("short", 4);
    write_npy("short", "attn_mask", "<f4", "(1, 1)", bias, sizeof bias);
    write_case("window", 8);
    write_npy("window", "nonpad_kv_seqlen", "<i8", "(1,)", both, sizeof both);
    manifest m = {""};
    add(&m, "plain", "", "");
    add(&m, "scaled to 0", "\"scale\":0.0", "");
    add(&m, "mask", "\"softmax_precision\":1", ",\"attn_mask\":[\"bool\",[1,2]]");
    add(&m, "nothing", "", ",\"attn_mask\":[\"bool\",[1,2]]");
    add(&m, "length", "", ",\"nonpad_kv_seqlen\":[\"int64\",[1]]");
    add(&m, "short", "", ",\"attn_mask\":[\"float32\",[1,1]]");
    add(&m, "window", "\"left_window_size\":0", ",\"nonpad_kv_seqlen\":[\"int64\",[1]]");
    finish(&m);
    int status = run(FOLDER, output);
    print_message("%s", output);
    assert_int_equal(status, 0);
    assert_contains(output, "ok plain max abs diff ");
    assert_contains(output, "\n7 passed, 0 failed\n");
}

static void wrong_cases_fail_by_name(void **state)
{
    (void)state;
    char output[4096];
    write_case("plain", 7);
    write_case("off", 7.001F);
    write_case("nan", NAN);
    manifest m = {""};
    char text[512];
    add(&m, "plain", "", "");
    add(&m, "off", "", "");
    add(&m, "nan", "", "");
    add(&m, "plain", "\"colour\":1", "");
    add(&m, "plain", "\"is_causal\":true", "");
    add(&m, "plain", "", ",\"bias\":[\"float32\",[1]]");
    add(&m, "missing", "", "");
    (void)snprintf(text, sizeof text, "{\"name\":\"plain\",\"inputs\":{\"Q\":[\"float32\",[1,1,1,2]]},%s}", outputs);
    append(&m, text);
    (void)snprintf(text, sizeof text, "{\"name\":\"plain\",\"inputs\":{%s}}", inputs);
    append(&m, text);
    append(&m, "{\"inputs\":{}}");
    finish(&m);
    assert_int_equal(run(FOLDER, output), 1);
    assert_contains(output, "ok plain max abs diff ");
    assert_contains(output, ", expected 7.00099993\n");
    assert_contains(output, ", expected nan\n");
    assert_contains(output, "\nFAILED plain attribute colour is not known or no number\n");
    assert_contains(output, "\nFAILED plain attribute is_causal is not known or no number\n");
    assert_contains(output, "\nFAILED plain input bias is not known\n");
    assert_contains(output, "\nFAILED missing Q.npy: No such file or directory\n");
    assert_contains(output, "\nFAILED plain Q.npy is float32 (1,1,1,1), not what the manifest says\n");
    assert_contains(output, "\nFAILED plain no outputs to compare with\n");
    assert_contains(output, "\nFAILED ? the case has no name\n");
    assert_contains(output, "\n1 passed, 9 failed\n");
}

/* Files that are cut, too long, of another order or kind. */
static void broken_arrays_fail(void **state)
{
    (void)state;
    char output[4096];
    static const struct {
        const char *descr, *shape;
        size_t size;
    } broken[] = {
        {"<f4", "(1, 1, 1, 1)", 3},
        {"<f4", "(1, 1, 1, 1)", 8},
        {">f4", "(1, 1, 1, 1)", 4},
        {"<f2", "(1, 1, 1, 1)", 2},
        {"<f4", "(1, -1, 1, 1)", 4},
        {"<f4", "(1, 1, 1, 1", 4},
        {"<f4", "", 4},
        {"<f4", "(4611686018427387904, 4)", 0},
    };
    manifest m = {""};
    add(&m, "broken", "", "");
    finish(&m);
    for (size_t i = 0; i < sizeof broken / sizeof broken[0]; i++) {
        write_case("broken", 7);
        write_npy("broken", "Q", broken[i].descr, broken[i].shape, "\0\0\0\0\0\0\0", broken[i].size);
        assert_int_equal(run(FOLDER, output), 1);
        assert_contains(output, "FAILED broken Q.npy: expected float32");
    }
    write_text(FOLDER "/broken/Q.npy", "\x93NUMPY\x01");
    assert_int_equal(run(FOLDER, output), 1);
    assert_contains(output, "FAILED broken Q.npy: no .npy file");
}

static void folders_that_cannot_be_read(void **state)
{
    (void)state;
    char output[4096];
    assert_int_equal(run("no_such_folder", output), 2);
    assert_contains(output, "no_such_folder/manifest.json");
    assert_int_equal(run("", output), 2);
    assert_contains(output, "usage: onnx_attention_cases DIR");
    (void)mkdir(FOLDER, 0777);
    const char *const bad[] = {"[", "{}", "[]", ""};
    for (int i = 0; i < 4; i++) {
        write_text(FOLDER "/manifest.json", bad[i]);
        assert_int_equal(run(FOLDER, output), 2);
        assert_contains(output, FOLDER "/manifest.json: ");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(right_cases_pass),
        cmocka_unit_test(wrong_cases_fail_by_name),
        cmocka_unit_test(broken_arrays_fail),
        cmocka_unit_test(folders_that_cannot_be_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

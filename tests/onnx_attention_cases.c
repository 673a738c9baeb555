/* Runs conformance cases of the ONNX operator Attention in float32.
 *
 *     onnx_attention_cases DIR
 *
 * DIR/manifest.json lists the cases: [{"name", "attributes": {NAME: number}, "inputs": {NAME: [dtype, shape]}, "outputs": the same}];
 * the arrays are DIR/CASE/NAME.npy. Prints "ok CASE max abs diff X" or "FAILED CASE why" for each and "N passed, N failed" at the end.
 * A case passes when |actual - expected| <= 1e-5 max(1, |expected|) everywhere and infinities are the same.
 * Exit status: 0 all passed, 1 some failed, 2 the folder cannot be read. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include <jansson.h>

#include "support/onnx_attention.h"

#define TOLERANCE 1e-5

typedef struct test_case {
    const char *folder, *name;
    onnx_attributes attributes;
    ndarray in[ONNX_INPUTS], out[ONNX_OUTPUTS];
    char why[ND_MESSAGE];
} test_case;

static int index_of(const char *name, const char *const names[], int n)
{
    for (int i = 0; i < n; i++) {
        if (strcmp(name, names[i]) == 0) {
            return i;
        }
    }
    return -1;
}

static bool take_attribute(test_case *c, const char *name, const json_t *value)
{
    onnx_attributes *a = &c->attributes;
    const struct {
        const char *name;
        double *to;
    } known[] = {
        {"is_causal", &a->is_causal},
        {"softcap", &a->softcap},
        {"scale", &a->scale},
        {"q_num_heads", &a->q_num_heads},
        {"kv_num_heads", &a->kv_num_heads},
        {"left_window_size", &a->left_window_size},
        {"right_window_size", &a->right_window_size},
        {"qk_matmul_output_mode", &a->qk_matmul_output_mode},
        {"softmax_precision", &a->softmax_precision},
    };
    for (size_t i = 0; json_is_number(value) && i < sizeof known / sizeof known[0]; i++) {
        if (strcmp(name, known[i].name) == 0) {
            *known[i].to = json_number_value(value);
            a->has_scale = a->has_scale || known[i].to == &a->scale;
            return true;
        }
    }
    (void)snprintf(c->why, sizeof c->why, "attribute %.60s is not known or no number", name);
    return false;
}

/* The array is what the manifest says: [dtype, [dimensions]]. */
static bool is_as_declared(const ndarray *a, const json_t *declared)
{
    const char *dtype = json_string_value(json_array_get(declared, 0));
    const json_t *shape = json_array_get(declared, 1);
    bool same = dtype != NULL && strcmp(dtype, a->dtype) == 0 && json_is_array(shape) && json_array_size(shape) == (size_t)a->rank;
    for (int d = 0; same && d < a->rank; d++) {
        same = json_integer_value(json_array_get(shape, (size_t)d)) == a->dim[d];
    }
    return same;
}

static bool read_array(test_case *c, const char *name, const json_t *declared, ndarray *a)
{
    char path[4096], why[ND_MESSAGE] = "the path is too long", shape[ND_SHAPE_TEXT];
    bool ok = snprintf(path, sizeof path, "%s/%s/%s.npy", c->folder, c->name, name) < (int)sizeof path && nd_read(path, a, why);
    if (!ok) {
        (void)snprintf(c->why, sizeof c->why, "%.40s.npy: %.200s", name, why);
    } else if (!is_as_declared(a, declared)) {
        (void)snprintf(c->why, sizeof c->why, "%.40s.npy is %s %s, not what the manifest says", name, a->dtype, nd_shape(a, shape));
        ok = false;
    }
    return ok;
}

static bool read_case(test_case *c, json_t *entry)
{
    const char *name;
    json_t *value;
    json_object_foreach(json_object_get(entry, "attributes"), name, value)
    {
        if (!take_attribute(c, name, value)) {
            return false;
        }
    }
    json_object_foreach(json_object_get(entry, "inputs"), name, value)
    {
        int i = index_of(name, onnx_input_names, ONNX_INPUTS);
        if (i < 0) {
            (void)snprintf(c->why, sizeof c->why, "input %.60s is not known", name);
            return false;
        }
        if (!read_array(c, name, value, &c->in[i])) {
            return false;
        }
    }
    return true;
}

/* The largest difference, or a reason. */
static bool compare(test_case *c, const char *name, const ndarray *actual, const ndarray *expected, double *largest)
{
    char shapes[2][ND_SHAPE_TEXT];
    if (strcmp(nd_shape(actual, shapes[0]), nd_shape(expected, shapes[1])) != 0) {
        (void)snprintf(c->why, sizeof c->why, "%.40s is %.90s, expected %.90s", name, shapes[0], shapes[1]);
        return false;
    }
    for (int64_t i = 0; i < expected->count; i++) {
        double a = actual->values[i], e = expected->values[i], difference = fabs(a - e);
        if (a == e || (isnan(a) && isnan(e))) {
            continue;
        }
        if (!(difference <= TOLERANCE * fmax(1, fabs(e))) || isinf(e)) {
            (void)snprintf(c->why, sizeof c->why, "%.40s[%lld] is %.9g, expected %.9g", name, (long long)i, a, e);
            return false;
        }
        *largest = fmax(*largest, difference);
    }
    return true;
}

static bool check_outputs(test_case *c, json_t *outputs, double *largest)
{
    const char *name;
    json_t *value;
    if (json_object_size(outputs) == 0) {
        (void)snprintf(c->why, sizeof c->why, "no outputs to compare with");
        return false;
    }
    json_object_foreach(outputs, name, value)
    {
        int i = index_of(name, onnx_output_names, ONNX_OUTPUTS);
        ndarray expected = {.rank = 0};
        if (i < 0) {
            (void)snprintf(c->why, sizeof c->why, "output %.60s is not known", name);
            return false;
        }
        bool ok = read_array(c, name, value, &expected) && compare(c, name, &c->out[i], &expected, largest);
        nd_free(&expected);
        if (!ok) {
            return false;
        }
    }
    return true;
}

static bool run_case(const char *folder, json_t *entry)
{
    test_case c = {.folder = folder, .name = json_string_value(json_object_get(entry, "name")), .attributes = onnx_defaults};
    double largest = 0;
    bool ok = false;
    if (c.name == NULL) {
        c.name = "?";
        (void)snprintf(c.why, sizeof c.why, "the case has no name");
    } else {
        ok = read_case(&c, entry) && onnx_attention(&c.attributes, c.in, c.out, c.why) &&
             check_outputs(&c, json_object_get(entry, "outputs"), &largest);
    }
    if (ok) {
        (void)printf("ok %s max abs diff %.2e\n", c.name, largest);
    } else {
        (void)printf("FAILED %s %s\n", c.name, c.why);
    }
    for (int i = 0; i < ONNX_INPUTS; i++) {
        nd_free(&c.in[i]);
    }
    for (int i = 0; i < ONNX_OUTPUTS; i++) {
        nd_free(&c.out[i]);
    }
    return ok;
}

int main(int argc, char **argv)
{
    char path[4096];
    if (argc != 2 || snprintf(path, sizeof path, "%s/manifest.json", argv[1]) >= (int)sizeof path) {
        (void)fprintf(stderr, "usage: onnx_attention_cases DIR\n");
        return 2;
    }
    json_error_t error;
    json_t *manifest = json_load_file(path, JSON_REJECT_DUPLICATES, &error);
    if (json_array_size(manifest) == 0) {
        (void)fprintf(stderr, "onnx_attention_cases: %s: %s\n", path, manifest == NULL ? error.text : "expected an array of cases");
        json_decref(manifest);
        return 2;
    }
    int passed = 0, failed = 0;
    size_t i;
    json_t *entry;
    json_array_foreach(manifest, i, entry)
    {
        if (run_case(argv[1], entry)) {
            passed++;
        } else {
            failed++;
        }
    }
    json_decref(manifest);
    (void)printf("%d passed, %d failed\n", passed, failed);
    return failed > 0 ? 1 : 0;
}

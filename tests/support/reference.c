#include "support/reference.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/core.h"
#include "support/params.h"

#define FOLDER ATTN_SOURCE_DIR "/tests/reference/attention/"

void reference_open(reference *r)
{
    json_error_t why;
    r->index = json_load_file(FOLDER "index.json", JSON_REJECT_DUPLICATES, &why);
    if (r->index == NULL) {
        fail_msg("%s:%d: %s", why.source, why.line, why.text);
    }
    r->configurations = json_object_get(r->index, "configurations");
    attn_error error = {.message = ""};
    if (attn_matrix_read(FOLDER "values.npy", &r->numbers, NULL, &error) != ATTN_OK) {
        fail_msg("%s", error.message);
    }
}

void reference_close(reference *r)
{
    json_decref(r->index);
    attn_matrix_free(&r->numbers);
}

/* ---- members ---- */

int64_t reference_number(const json_t *c, const char *name)
{
    const json_t *number = json_object_get(c, name);
    if (!json_is_integer(number)) {
        fail_msg("index.json: %s is no integer", name);
    }
    return json_integer_value(number);
}

bool reference_true(const json_t *c, const char *name)
{
    return json_is_true(json_object_get(c, name));
}

static double real(const json_t *c, const char *name)
{
    const json_t *number = json_object_get(c, name);
    assert_true(json_is_number(number));
    return json_number_value(number);
}

attn_shape reference_shape(const json_t *dimensions)
{
    attn_shape shape = {.rank = (int)json_array_size(dimensions)};
    for (int i = 0; i < shape.rank; i++) {
        shape.dim[i] = json_integer_value(json_array_get(dimensions, (size_t)i));
    }
    return shape;
}

/* Memory of the tape, so that it lives as long as the run. */
static void *memory(const reference_run *run, int64_t count, size_t size)
{
    void *array = attn__tape_alloc(run->tape, count, size);
    assert_non_null(array);
    return array;
}

/* A list of integers that has `count` of them; NULL if there is none of this name. */
static int32_t *integers(const reference_run *run, const json_t *object, const char *name, int64_t count)
{
    const json_t *list = json_object_get(object, name);
    if (list == NULL) {
        return NULL;
    }
    assert_int_equal(json_array_size(list), count);
    int32_t *numbers = memory(run, count, sizeof *numbers);
    for (int64_t i = 0; i < count; i++) {
        numbers[i] = (int32_t)json_integer_value(json_array_get(list, (size_t)i));
    }
    return numbers;
}

static int one_of(const char *const names[], int n, const char *name)
{
    for (int i = 0; i < n; i++) {
        if (strcmp(names[i], name) == 0) {
            return i;
        }
    }
    fail_msg("index.json: unknown name %s", name);
    return -1;
}

static attn_score score_of(const json_t *c)
{
    static const char *const scores[] = {"scaled-dot", "dot", "additive"};
    return (attn_score)one_of(scores, 3, json_string_value(json_object_get(c, "score")));
}

/* ---- the mask ---- */

static void take_packed(reference_run *run, const json_t *offsets, int64_t batch, int64_t queries)
{
    int32_t *begins = memory(run, batch * queries, sizeof *begins), *lengths = memory(run, batch * queries, sizeof *lengths);
    for (int64_t b = 0; b < batch; b++) {
        const json_t *list = json_array_get(offsets, (size_t)b);
        int32_t ends[5];
        assert_int_equal(json_array_size(list), 5);
        for (int i = 0; i < 5; i++) {
            ends[i] = (int32_t)json_integer_value(json_array_get(list, (size_t)i));
        }
        assert_int_equal(attn_packed_rows(ends, 4, begins + b * queries, lengths + b * queries), ATTN_OK);
    }
    run->mask.row_begins = begins;
    run->mask.row_lengths = lengths;
}

static void take_allow(reference_run *run, const json_t *mask, int64_t batch, int64_t queries, int64_t keys)
{
    static const char *const forms[] = {"pairs", "keys"};
    const char *bits = json_string_value(json_object_get(mask, "allow"));
    run->mask.allow_form = (attn_allow_form)one_of(forms, 2, json_string_value(json_object_get(mask, "allow_form")));
    int64_t count = batch * keys * (run->mask.allow_form == ATTN_ALLOW_KEYS ? 1 : queries);
    assert_int_equal(strlen(bits), count);
    uint8_t *allow = memory(run, count, 1);
    for (int64_t i = 0; i < count; i++) {
        allow[i] = bits[i] == '1';
    }
    run->mask.allow = allow;
}

static void take_mask(reference_run *run)
{
    static const char *const alignments[] = {"none", "top-left", "bottom-right", "position"};
    const json_t *mask = json_object_get(run->c, "mask"), *causal = json_object_get(mask, "causal"),
                 *window = json_object_get(mask, "window");
    int64_t batch = reference_number(run->c, "batch"), queries = reference_number(run->c, "queries");
    int64_t keys = reference_number(run->c, "past") + reference_number(run->c, "keys");
    run->mask = (attn_mask){
        .key_lengths = integers(run, mask, "key_lengths", batch),
        .query_lengths = integers(run, mask, "query_lengths", batch),
        .row_lengths = integers(run, mask, "row_lengths", batch * queries),
        .row_begins = integers(run, mask, "row_begins", batch * queries),
        .positions = integers(run, mask, "positions", batch),
        .causal = causal != NULL ? (attn_causal)one_of(alignments, 4, json_string_value(causal)) : ATTN_CAUSAL_NONE,
        .window = window != NULL,
    };
    if (window != NULL) {
        run->mask.left = (int32_t)json_integer_value(json_array_get(window, 0));
        run->mask.right = (int32_t)json_integer_value(json_array_get(window, 1));
    }
    if (json_object_get(mask, "offsets") != NULL) {
        take_packed(run, json_object_get(mask, "offsets"), batch, queries);
    }
    if (json_object_get(mask, "allow") != NULL) {
        take_allow(run, mask, batch, queries, keys);
    }
}

/* ---- inputs ---- */

/* In the order of attention_cases.py: the place is part of the seed. */
static const char *const names[] = {"query", "key", "value", "past_key", "past_value", "w",   "bias", "position", "cotangent",
                                    "W_q",   "W_k", "W_v",   "W_o",      "b_q",        "b_k", "b_v",  "b_o"};

/* The numbers of an input, of malloc's. */
static double *numbers_of(const json_t *c, const char *name, int64_t count, double amplitude)
{
    uint64_t place = (uint64_t)one_of(names, sizeof names / sizeof names[0], name);
    return random_values(count, 100 * (uint64_t)reference_number(c, "number") + place, -amplitude, amplitude);
}

static attn_tensor *input(const reference_run *run, const char *name, double amplitude, attn_shape shape)
{
    double *numbers = numbers_of(run->c, name, attn_shape_count(shape), amplitude);
    const json_t *hidden = strcmp(name, "bias") == 0 ? json_object_get(run->c, "minus_infinity") : NULL, *at;
    size_t i;
    json_array_foreach(hidden, i, at)
    {
        numbers[json_integer_value(at)] = -(double)INFINITY;
    }
    attn_tensor *x = variable_of(run->tape, run->dtype, shape, numbers);
    free(numbers);
    return x;
}

/* What the functional form and the layer both take; the widths are those of what comes in. */
static void take_inputs(reference_run *run, const int64_t widths[3])
{
    const json_t *c = run->c;
    int64_t batch = reference_number(c, "batch"), past = reference_number(c, "past"), keys = reference_number(c, "keys");
    int64_t key_heads = reference_number(c, "kv_heads");
    double amplitude = real(c, "amplitude");
    run->in.query = input(run, "query", amplitude, ATTN_SHAPE(batch, reference_number(c, "queries"), widths[0]));
    if (!reference_true(c, "self")) {
        run->in.key = input(run, "key", amplitude, ATTN_SHAPE(batch, keys, widths[1]));
        run->in.value = input(run, "value", 1, ATTN_SHAPE(batch, keys, widths[2]));
    }
    if (past > 0) {
        run->in.past_key = input(run, "past_key", amplitude, ATTN_SHAPE(batch, past, key_heads * reference_number(c, "width")));
        run->in.past_value = input(run, "past_value", 1, ATTN_SHAPE(batch, past, key_heads * reference_number(c, "value_width")));
    }
    if (json_object_get(c, "bias") != NULL) {
        run->in.bias = input(run, "bias", 1, reference_shape(json_object_get(c, "bias")));
    }
}

/* ---- the two forms ---- */

static void run_attend(reference_run *run)
{
    const json_t *c = run->c;
    const attn_attend_config config = {
        .score = {.score = score_of(c),
                  .heads = (int)reference_number(c, "heads"),
                  .kv_heads = (int)reference_number(c, "kv_heads"),
                  .scale = real(c, "scale")},
        .soft_cap = real(c, "soft_cap"),
        .mask = run->mask,
        .report = {.weights = true, .scores = true},
    };
    int64_t heads = config.score.heads, kv_heads = config.score.kv_heads, width = reference_number(c, "width"),
            clip = reference_number(c, "clip");
    take_inputs(run, (int64_t[]){heads * width, kv_heads * width, kv_heads * reference_number(c, "value_width")});
    if (config.score.score == ATTN_SCORE_ADDITIVE) {
        run->in.w = input(run, "w", 1, ATTN_SHAPE(heads, width));
    }
    if (clip >= 0) {
        run->in.position = input(run, "position", 1, ATTN_SHAPE(heads, 2 * clip + 1));
    }
    run->out = attn_attend(run->tape, run->in, &config);
}

static const attn_attention *layer_of(reference_run *run)
{
    const json_t *c = run->c;
    int64_t clip = reference_number(c, "clip");
    run->params = attn_params_new(run->dtype, NULL);
    const attn_attention *layer = attn_attention_add(run->params, "a",
                                                     (attn_attention_config){.score = score_of(c),
                                                                             .heads = (int)reference_number(c, "heads"),
                                                                             .kv_heads = (int)reference_number(c, "kv_heads"),
                                                                             .scale = real(c, "scale"),
                                                                             .soft_cap = real(c, "soft_cap"),
                                                                             .query_dim = (int)reference_number(c, "query_dim"),
                                                                             .key_dim = (int)reference_number(c, "key_dim"),
                                                                             .value_dim = (int)reference_number(c, "value_dim"),
                                                                             .head_dim = (int)reference_number(c, "width"),
                                                                             .head_value_dim = (int)reference_number(c, "value_width"),
                                                                             .output_dim = (int)reference_number(c, "output_dim"),
                                                                             .no_output = !reference_true(c, "output_projection"),
                                                                             .bias = reference_true(c, "bias_vectors"),
                                                                             .relative_clip = (int)(clip > 0 ? clip : 0)});
    attn_error error = {.message = ""};
    if (attn_params_build(run->params, 0, &error) != ATTN_OK) {
        fail_msg("%s", error.message);
    }
    for (int id = 0; id < attn_params_count(run->params); id++) {
        int64_t count = attn_shape_count(attn_params_shape(run->params, id));
        double *numbers = numbers_of(c, attn_params_name(run->params, id) + strlen("a."), count, 1);
        for (int64_t i = 0; i < count; i++) {
            set_value(run->params, id, i, numbers[i]);
        }
        free(numbers);
    }
    return layer;
}

static void run_layer(reference_run *run)
{
    const attn_attention *layer = layer_of(run);
    const attn_attention_config config = attn_attention_get_config(layer);
    take_inputs(run, (int64_t[]){config.query_dim, config.key_dim, config.value_dim});
    const attn_attention_input in = {.query = run->in.query,
                                     .key = run->in.key,
                                     .value = run->in.value,
                                     .mask = run->mask,
                                     .query_start = integers(run, run->c, "query_start", reference_number(run->c, "batch")),
                                     .past_key = run->in.past_key,
                                     .past_value = run->in.past_value,
                                     .bias = run->in.bias,
                                     .report = {.weights = true, .scores = true}};
    attn_attention_output out = attn_attention_apply(run->tape, layer, in);
    run->out = (attn_attend_output){out.output, out.weights, out.scaled, out.capped, out.scores, out.key, out.value};
}

void reference_run_open(reference_run *run, const json_t *configuration, attn_dtype dtype)
{
    *run = (reference_run){.c = configuration, .dtype = dtype, .tape = attn_tape_new(NULL)};
    assert_non_null(run->tape);
    take_mask(run);
    if (reference_true(configuration, "layer")) {
        run_layer(run);
    } else {
        run_attend(run);
    }
    assert_tape_ok(run->tape);
    double *cotangent = numbers_of(configuration, "cotangent", attn_tensor_count(run->out.output), 1);
    attn_status status = backward_from(run->tape, run->out.output, cotangent);
    free(cotangent);
    assert_tape_ok(run->tape);
    assert_int_equal(status, ATTN_OK);
}

void reference_run_close(reference_run *run)
{
    attn_tape_free(run->tape);
    attn_params_free(run->params);
}

/* ---- results ---- */

static const attn_tensor *tensor_of(const reference_run *run, const char *name)
{
    const struct {
        const char *name;
        const attn_tensor *tensor;
    } all[] = {
        {"output", run->out.output},      {"weights", run->out.weights},        {"scaled", run->out.scaled}, {"capped", run->out.capped},
        {"scores", run->out.scores},      {"d query", run->in.query},           {"d key", run->in.key},      {"d value", run->in.value},
        {"d past_key", run->in.past_key}, {"d past_value", run->in.past_value}, {"d w", run->in.w},          {"d bias", run->in.bias},
        {"d position", run->in.position},
    };
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        if (strcmp(all[i].name, name) == 0) {
            return all[i].tensor;
        }
    }
    return NULL;
}

double *reference_result(const reference_run *run, const char *name, attn_shape *shape)
{
    const attn_tensor *x = tensor_of(run, name);
    bool gradient = strncmp(name, "d ", 2) == 0;
    char full[32];
    (void)snprintf(full, sizeof full, "a.%s", gradient ? name + 2 : name);
    int id = run->params != NULL ? attn_params_find(run->params, full) : -1;
    if (x == NULL && id < 0) {
        fail_msg("configuration %lld has no %s", (long long)reference_number(run->c, "number"), name);
    }
    *shape = x != NULL ? attn_tensor_shape(x) : attn_params_shape(run->params, id);
    int64_t count = attn_shape_count(*shape);
    double *numbers = malloc((size_t)(count > 0 ? count : 1) * sizeof *numbers);
    assert_non_null(numbers);
    for (int64_t i = 0; i < count; i++) {
        numbers[i] = x == NULL ? grad(run->params, id, i) : gradient ? attn_tensor_get_grad(x, i) : attn_tensor_get(x, i);
    }
    return numbers;
}

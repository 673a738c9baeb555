/* [[0.1, null], ...] or {"values": [[...], ...], "rows": ["...", ...], "columns": [...]}, or weights that were saved. */
#include "core/json.h"

#include <math.h>
#include <string.h>

#include "io/io.h"

static attn_status parse_text(const attn__input *in, json_t **json)
{
    json_error_t why;
    *json = attn__json_load(in->bytes, in->size, JSON_DECODE_INT_AS_REAL, &why);
    if (*json != NULL) {
        return ATTN_OK;
    }
    if (why.text[0] == '\0') {
        return attn__input_no_memory(in);
    }
    return attn__fail(in->error, ATTN_EFORMAT, "%s:%d: no JSON: %s", in->name, why.line, attn__show(why.text, strlen(why.text)).text);
}

static const char *kind(const json_t *value)
{
    static const char *const names[] = {"an object", "an array", "a string", "a number", "a number", "true", "false", "null"};
    return names[json_typeof(value)];
}

/* A number, null for NaN, or "inf" or "-inf", which JSON has no numbers for. */
static bool read_value(const json_t *value, double *out)
{
    const char *text = json_is_string(value) ? json_string_value(value) : "";
    bool infinite = strcmp(text, "inf") == 0 || strcmp(text, "-inf") == 0;
    *out = infinite ? (text[0] == '-' ? -INFINITY : INFINITY) : json_is_null(value) ? NAN : json_number_value(value);
    return infinite || json_is_null(value) || json_is_number(value);
}

static attn_status read_values(const attn__input *in, const json_t *values, attn_matrix *m)
{
    size_t rows = json_array_size(values), columns = json_array_size(json_array_get(values, 0));
    if (rows == 0 || (columns == 0 && json_is_array(json_array_get(values, 0)))) {
        return attn__input_fail(in, ATTN_EFORMAT, "an empty matrix (%zu rows, %zu columns)", rows, columns);
    }
    for (size_t r = 0; r < rows; r++) {
        const json_t *row = json_array_get(values, r);
        if (!json_is_array(row)) {
            return attn__input_fail(in, ATTN_EFORMAT, "row %zu is %s, expected an array of numbers", r, kind(row));
        }
        if (json_array_size(row) != columns) {
            return attn__input_fail(in, ATTN_EFORMAT, "row %zu has %zu values, row 0 has %zu", r, json_array_size(row), columns);
        }
    }
    attn_status status = attn__matrix_room(in, m, (int64_t)rows, (int64_t)columns);
    for (size_t i = 0; status == ATTN_OK && i < rows * columns; i++) {
        const json_t *value = json_array_get(json_array_get(values, i / columns), i % columns);
        if (!read_value(value, &m->values[i])) {
            return attn__input_fail(in, ATTN_EFORMAT, "row %zu, column %zu is %s, expected a number or null", i / columns, i % columns,
                                    kind(value));
        }
    }
    return status;
}

/* `labels` may be NULL: none. */
static attn_status read_labels(const attn__input *in, const json_t *labels, const char *what, int64_t count, const char *const **out)
{
    attn__label_room room;
    size_t bytes = 0, n = json_array_size(labels);
    if (labels == NULL) {
        return ATTN_OK;
    }
    if (!json_is_array(labels)) {
        return attn__input_fail(in, ATTN_EFORMAT, "\"%s\" is %s, expected an array of labels", what, kind(labels));
    }
    if (n != (size_t)count) {
        return attn__input_fail(in, ATTN_ESHAPE, "%zu labels in \"%s\", the matrix has %lld %s", n, what, (long long)count, what);
    }
    for (size_t i = 0; i < n; i++) {
        if (!json_is_string(json_array_get(labels, i))) {
            return attn__input_fail(in, ATTN_EFORMAT, "label %zu of \"%s\" is %s, expected a string", i, what,
                                    kind(json_array_get(labels, i)));
        }
        bytes += json_string_length(json_array_get(labels, i));
    }
    if (!attn__labels_begin(in, count, bytes, &room)) {
        return attn__input_no_memory(in);
    }
    for (size_t i = 0; i < n; i++) {
        const json_t *label = json_array_get(labels, i);
        attn__labels_put(&room, json_string_value(label), json_string_length(label));
    }
    *out = room.text;
    return ATTN_OK;
}

/* Keys that say something of a matrix besides what is read. */
static bool is_known(const char *key)
{
    static const char *const known[] = {"values", "rows", "columns", "title", "group", "heads", "head", "schema"};
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        if (strcmp(key, known[i]) == 0) {
            return true;
        }
    }
    return false;
}

/* The only panel of weights that were saved; else the object itself. NULL after a failure. */
static json_t *only_panel(const attn__input *in, json_t *object, attn_status *status)
{
    const json_t *panels = json_object_get(object, "panels");
    *status = ATTN_OK;
    if (panels == NULL) {
        return object;
    }
    if (json_array_size(panels) != 1 || !json_is_object(json_array_get(panels, 0))) {
        *status = attn__input_fail(in, ATTN_EFORMAT, "%zu panels, expected one matrix", json_array_size(panels));
        return NULL;
    }
    return json_array_get(panels, 0);
}

static attn_status read_object(const attn__input *in, json_t *whole, attn_matrix *m)
{
    attn_status found;
    json_t *object = only_panel(in, whole, &found);
    if (object == NULL) {
        return found;
    }
    for (void *i = json_object_iter(object); i != NULL; i = json_object_iter_next(object, i)) {
        const char *key = json_object_iter_key(i);
        if (!is_known(key)) {
            return attn__input_fail(in, ATTN_EFORMAT, "unknown key \"%s\", expected \"values\", \"rows\" and \"columns\"",
                                    attn__show(key, strlen(key)).text);
        }
    }
    const json_t *values = json_object_get(object, "values");
    if (!json_is_array(values)) {
        return attn__input_fail(in, ATTN_EFORMAT, "\"values\" is %s, expected an array of rows", values != NULL ? kind(values) : "missing");
    }
    attn_status status = read_values(in, values, m);
    if (status == ATTN_OK) {
        status = read_labels(in, json_object_get(object, "rows"), "rows", m->rows, &m->row_labels);
    }
    if (status == ATTN_OK) {
        status = read_labels(in, json_object_get(object, "columns"), "columns", m->columns, &m->column_labels);
    }
    return status;
}

attn_status attn__parse_json(const attn__input *given, attn_matrix *m)
{
    attn__input in = *given;
    json_t *json = NULL;
    attn_status status = attn__text_open(&in);
    if (status == ATTN_OK) {
        status = parse_text(&in, &json);
    }
    if (status == ATTN_OK) {
        status = json_is_array(json) ? read_values(&in, json, m) : read_object(&in, json, m);
    }
    json_decref(json);
    return status;
}

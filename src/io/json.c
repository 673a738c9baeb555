/* [[0.1, null], ...] or {"values": [[...], ...], "rows": ["...", ...], "columns": [...]}, or weights that were saved. */
#include "core/json.h"

#include <limits.h>
#include <math.h>
#include <string.h>

#include "io/io.h"

static const char *kind(const attn__json *value)
{
    static const char *const names[] = {"an object", "an array", "a string", "a number", "a number", "true", "false", "null"};
    return names[value->type];
}

/* A number, null for NaN, or "inf" or "-inf", which JSON has no numbers for. */
static bool read_value(const attn__json *value, double *out)
{
    const char *text = attn__json_is(value, ATTN__JSON_STRING) ? value->text : "";
    bool infinite = strcmp(text, "inf") == 0 || strcmp(text, "-inf") == 0, null = attn__json_is(value, ATTN__JSON_NULL);
    bool number = attn__json_number(value, out);
    *out = infinite ? (text[0] == '-' ? -INFINITY : INFINITY) : null ? NAN : *out;
    return infinite || null || number;
}

static attn_status check_rows(const attn__input *in, const attn__json *values, size_t columns)
{
    size_t r = 0;
    for (const attn__json *row = values->first; row != NULL; row = row->next, r++) {
        if (!attn__json_is(row, ATTN__JSON_ARRAY)) {
            return attn__input_fail(in, ATTN_EFORMAT, "row %zu is %s, expected an array of numbers", r, kind(row));
        }
        if (row->size != columns) {
            return attn__input_fail(in, ATTN_EFORMAT, "row %zu has %zu values, row 0 has %zu", r, row->size, columns);
        }
    }
    return ATTN_OK;
}

static attn_status read_values(const attn__input *in, const attn__json *values, attn_matrix *m)
{
    bool array = attn__json_is(values->first, ATTN__JSON_ARRAY);
    size_t rows = values->size, columns = array ? values->first->size : 0, r = 0;
    if (rows == 0 || (columns == 0 && array)) {
        return attn__input_fail(in, ATTN_EFORMAT, "an empty matrix (%zu rows, %zu columns)", rows, columns);
    }
    attn_status status = check_rows(in, values, columns);
    status = status == ATTN_OK ? attn__matrix_room(in, m, (int64_t)rows, (int64_t)columns) : status;
    for (const attn__json *row = values->first; status == ATTN_OK && row != NULL; row = row->next, r++) {
        size_t c = 0;
        for (const attn__json *value = row->first; value != NULL; value = value->next, c++) {
            if (!read_value(value, &m->values[r * columns + c])) {
                return attn__input_fail(in, ATTN_EFORMAT, "row %zu, column %zu is %s, expected a number or null", r, c, kind(value));
            }
        }
    }
    return status;
}

/* `labels` may be NULL: none. */
static attn_status read_labels(const attn__input *in, const attn__json *labels, const char *what, int64_t count, const char *const **out)
{
    attn__label_room room;
    size_t bytes = 0, i = 0;
    if (labels == NULL) {
        return ATTN_OK;
    }
    if (!attn__json_is(labels, ATTN__JSON_ARRAY)) {
        return attn__input_fail(in, ATTN_EFORMAT, "\"%s\" is %s, expected an array of labels", what, kind(labels));
    }
    if (labels->size != (size_t)count) {
        return attn__input_fail(in, ATTN_ESHAPE, "%zu labels in \"%s\", the matrix has %lld %s", labels->size, what, (long long)count,
                                what);
    }
    for (const attn__json *label = labels->first; label != NULL; label = label->next, i++) {
        if (!attn__json_is(label, ATTN__JSON_STRING)) {
            return attn__input_fail(in, ATTN_EFORMAT, "label %zu of \"%s\" is %s, expected a string", i, what, kind(label));
        }
        bytes += strlen(label->text);
    }
    if (!attn__labels_begin(in, count, bytes, &room)) {
        return attn__input_no_memory(in);
    }
    for (const attn__json *label = labels->first; label != NULL; label = label->next) {
        attn__labels_put(&room, label->text, strlen(label->text));
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

/* An empty title is none. */
static attn_status read_title(const attn__input *in, const attn__json *title, attn_matrix *m)
{
    if (title != NULL && !attn__json_is(title, ATTN__JSON_STRING)) {
        return attn__input_fail(in, ATTN_EFORMAT, "\"title\" is %s, expected a string", kind(title));
    }
    size_t size = title != NULL ? strlen(title->text) : 0;
    char *copy = size > 0 ? attn__calloc(in->allocator, size + 1, 1) : NULL;
    if (size > 0 && copy == NULL) {
        return attn__input_no_memory(in);
    }
    if (copy != NULL) {
        memcpy(copy, title->text, size);
    }
    m->title = copy;
    return ATTN_OK;
}

static attn_status read_object(const attn__input *in, const attn__json *object, attn_matrix *m)
{
    int64_t group = 0;
    for (const attn__json *v = object->first; v != NULL; v = v->next) {
        if (!is_known(v->key)) {
            return attn__input_fail(in, ATTN_EFORMAT, "unknown key \"%s\", expected \"values\", \"rows\" and \"columns\"",
                                    attn__show(v->key, strlen(v->key)).text);
        }
    }
    const attn__json *values = attn__json_get(object, "values");
    if (!attn__json_is(values, ATTN__JSON_ARRAY)) {
        return attn__input_fail(in, ATTN_EFORMAT, "\"values\" is %s, expected an array of rows", values != NULL ? kind(values) : "missing");
    }
    attn_status status = read_values(in, values, m);
    if (status == ATTN_OK) {
        status = read_labels(in, attn__json_get(object, "rows"), "rows", m->rows, &m->row_labels);
    }
    if (status == ATTN_OK) {
        status = read_labels(in, attn__json_get(object, "columns"), "columns", m->columns, &m->column_labels);
    }
    (void)attn__json_integer(attn__json_get(object, "group"), 0, INT_MAX, &group); /* 0 if it is none */
    m->group = (int)group;
    return status == ATTN_OK ? read_title(in, attn__json_get(object, "title"), m) : status;
}

/* The panels of weights that were saved. */
static attn_status read_panels(const attn__input *in, const attn__json *panels, attn_matrices *m)
{
    size_t n = attn__json_is(panels, ATTN__JSON_ARRAY) ? panels->size : 0, i = 0;
    attn_status status = n > 0 ? attn__matrices_room(in, m, n) : attn__input_fail(in, ATTN_EFORMAT, "no panels, expected an array of them");
    for (const attn__json *panel = n > 0 ? panels->first : NULL; panel != NULL && status == ATTN_OK; panel = panel->next, i++) {
        status = attn__json_is(panel, ATTN__JSON_OBJECT)
                     ? read_object(in, panel, &m->matrix[i])
                     : attn__input_fail(in, ATTN_EFORMAT, "panel %zu is %s, expected an object", i, kind(panel));
    }
    return status;
}

static attn_status read_whole(const attn__input *in, const attn__json *root, attn_matrices *m)
{
    const attn__json *panels = attn__json_get(root, "panels");
    if (panels != NULL) {
        return read_panels(in, panels, m);
    }
    attn_status status = attn__matrices_room(in, m, 1);
    if (status != ATTN_OK) {
        return status;
    }
    return attn__json_is(root, ATTN__JSON_ARRAY) ? read_values(in, root, m->matrix) : read_object(in, root, m->matrix);
}

static attn_status read_tree(const attn__input *in, attn__arena *arena, attn_matrices *m)
{
    attn__json_fault fault;
    const attn__json *root;
    attn_status status = attn__json_parse(in->bytes, in->size, arena, &root, &fault);
    if (status == ATTN_OK) {
        return read_whole(in, root, m);
    }
    return status == ATTN_ENOMEM ? attn__input_no_memory(in)
                                 : attn__fail(in->error, ATTN_EFORMAT, "%s:%d: no JSON: %s", in->name, fault.line, fault.text);
}

attn_status attn__parse_json(const attn__input *given, attn_matrices *m)
{
    attn__input in = *given;
    attn__arena arena;
    attn_status status = attn__text_open(&in);
    if (status == ATTN_OK) {
        attn__arena_init(&arena, in.allocator);
        status = read_tree(&in, &arena, m);
        attn__arena_free(&arena);
    }
    return status;
}

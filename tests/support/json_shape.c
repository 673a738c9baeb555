/* Reads JSON texts from standard input, one a line, and prints the shape of each: the keys in the order of the alphabet, the types of the
 * values, and the value of "schema". Elements of an array must have one shape. Exit status 1 for what is no JSON, with repeated keys, or
 * mixed.
 *     {"schema":"a/1","n":2,"xs":[{"y":0.5}]}  ->  {n:integer,schema:a/1,xs:[{y:real}]} */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void print_shape(FILE *to, const char *key, json_t *value);

static char *shape_of(json_t *value)
{
    char *text = NULL;
    size_t size = 0;
    FILE *to = open_memstream(&text, &size);
    if (to == NULL) {
        exit(2);
    }
    print_shape(to, "", value);
    fclose(to);
    return text;
}

static void print_array(FILE *to, const json_t *array)
{
    char *first = NULL;
    for (size_t i = 0; i < json_array_size(array); i++) {
        char *shape = shape_of(json_array_get(array, i));
        if (first != NULL && strcmp(first, shape) != 0) {
            fprintf(stderr, "elements of one array: %s and %s\n", first, shape);
            exit(1);
        }
        free(first);
        first = shape;
    }
    fprintf(to, "[%s]", first != NULL ? first : "");
    free(first);
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static void print_object(FILE *to, json_t *object)
{
    const char *key, **keys = calloc(json_object_size(object) + 1, sizeof *keys);
    json_t *value;
    size_t n = 0;
    if (keys == NULL) {
        exit(2);
    }
    json_object_foreach(object, key, value)
    {
        keys[n++] = key;
    }
    qsort(keys, n, sizeof *keys, by_text);
    fputc('{', to);
    for (size_t i = 0; i < n; i++) {
        fprintf(to, "%s%s:", i > 0 ? "," : "", keys[i]);
        print_shape(to, keys[i], json_object_get(object, keys[i]));
    }
    fputc('}', to);
    free(keys);
}

static void print_shape(FILE *to, const char *key, json_t *value)
{
    static const char *const names[] = {"object", "array", "string", "integer", "real", "boolean", "boolean", "null"};
    if (json_is_object(value)) {
        print_object(to, value);
    } else if (json_is_array(value)) {
        print_array(to, value);
    } else {
        fputs(strcmp(key, "schema") == 0 && json_is_string(value) ? json_string_value(value) : names[json_typeof(value)], to);
    }
}

int main(void)
{
    char *line = NULL;
    size_t room = 0;
    while (getline(&line, &room, stdin) >= 0) {
        json_error_t why;
        json_t *value = json_loads(line, JSON_REJECT_DUPLICATES, &why);
        if (value == NULL) {
            fprintf(stderr, "no JSON: %s: %s", why.text, line);
            return 1;
        }
        char *shape = shape_of(value);
        puts(shape);
        free(shape);
        json_decref(value);
    }
    free(line);
    return 0;
}

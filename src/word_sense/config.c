/* The configuration: defaults, ranges, and its form in the model file. One table lists the fields. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/json.h"
#include "word_sense/model.h"

typedef enum kind { INTEGER, REAL, FLAG, SEED, SCORE, POSITION, VECTORS } kind;

typedef struct field {
    const char *name;
    size_t offset;
    kind kind;
    double low, high;
    int since; /* version of the model file that has it */
} field;

#define AT(name) #name, offsetof(attn_word_sense_config, name)

/* `threads` is missing: it decides nothing. So are the fields that say how to read a vectors file: the model holds what was in it. */
static const field fields[] = {
    {AT(score), SCORE, 0, 0, 1},
    {AT(position), POSITION, 0, 0, 1},
    {AT(vectors), VECTORS, 0, 0, 1},
    {AT(freeze_vectors), FLAG, 0, 0, 1},
    {AT(dim), INTEGER, 1, 4096, 1},
    {AT(heads), INTEGER, 1, 64, 1},
    {AT(hidden), INTEGER, 1, 4096, 1},
    {AT(window), INTEGER, 1, 10000, 1},
    {AT(min_count), INTEGER, 0, 1000000, 1},
    {AT(seeds), INTEGER, 1, 100, 1},
    {AT(epochs), INTEGER, 0, 1000000, 1},
    {AT(batch), INTEGER, 0, 65536, 1},
    {AT(sense_cap), INTEGER, 1, 1000000000, 1},
    {AT(learning_rate), REAL, 0, 100, 1},
    {AT(weight_decay), REAL, 0, 100, 1},
    {AT(clip), REAL, 0, 1e9, 1},
    {AT(dropout), REAL, 0, 0.99, 1},
    {AT(word_dropout), REAL, 0, 0.99, 1},
    {AT(attention_dropout), REAL, 0, 0.99, 1},
    {AT(label_smoothing), REAL, -1, 0.99, 1},
    {AT(prior), REAL, 0, 10, 1},
    {AT(neighbours), REAL, 0, 10, 2},
    {AT(patience), INTEGER, 0, 1000000, 1},
    {AT(seed), SEED, 0, 0, 1},
};
#define N_FIELDS (sizeof fields / sizeof fields[0])

static const char *const position_names[] = {"relative", "none"};
static const char *const vectors_names[] = {"corpus", "none", "file"};

attn_word_sense_config attn_word_sense_defaults(void)
{
    return (attn_word_sense_config){
        .score = ATTN_SCORE_SCALED_DOT,
        .position = ATTN_POSITION_RELATIVE,
        .vectors = ATTN_VECTORS_CORPUS,
        .dim = 100,
        .vectors_words = 20000,
        .heads = 4,
        .hidden = 16,
        .window = 30,
        .seeds = 1,
        .sense_cap = 300,
        .learning_rate = 3e-3,
        .weight_decay = 0.05,
        .clip = 5,
        .dropout = 0.5,
        .word_dropout = 0.2,
        .attention_dropout = 0.1,
        .label_smoothing = -1,
        .prior = 0.5,
        .neighbours = 0.3,
    };
}

static double number_of(const attn_word_sense_config *c, const field *f)
{
    const char *at = (const char *)c + f->offset;
    return f->kind == INTEGER ? (double)*(const int *)(const void *)at : *(const double *)(const void *)at;
}

/* A width may be left to the file that decides it. */
static double lowest(const attn_word_sense_config *c, const field *f)
{
    return c->vectors == ATTN_VECTORS_FILE && f->offset == offsetof(attn_word_sense_config, dim) ? 0 : f->low;
}

attn_status attn__config_check(const attn_word_sense_config *c, attn_error *error)
{
    for (size_t i = 0; i < N_FIELDS; i++) {
        const field *f = &fields[i];
        double x = f->kind == INTEGER || f->kind == REAL ? number_of(c, f) : 0;
        if ((f->kind == INTEGER || f->kind == REAL) && !(x >= lowest(c, f) && x <= f->high)) {
            return attn__fail(error, ATTN_EINVAL, "%s is %g, expected %g to %g", f->name, x, lowest(c, f), f->high);
        }
    }
    if (c->score < ATTN_SCORE_SCALED_DOT || c->score > ATTN_SCORE_ADDITIVE || c->position < ATTN_POSITION_RELATIVE ||
        c->position > ATTN_POSITION_NONE || c->vectors < ATTN_VECTORS_CORPUS || c->vectors > ATTN_VECTORS_FILE) {
        return attn__fail(error, ATTN_EINVAL, "no such score, position or vectors");
    }
    if (c->vectors_format < ATTN_VECTORS_FORMAT_AUTO || c->vectors_format > ATTN_VECTORS_FORMAT_BINARY) {
        return attn__fail(error, ATTN_EINVAL, "no such format of a vectors file");
    }
    return ATTN_OK;
}

static json_t *field_to_json(const attn_word_sense_config *c, const field *f)
{
    switch (f->kind) {
    case INTEGER:
        return json_integer((json_int_t)number_of(c, f));
    case REAL:
        return json_real(number_of(c, f));
    case FLAG:
        return json_boolean(c->freeze_vectors);
    case SEED:
        return json_sprintf("%llu", (unsigned long long)c->seed); /* JSON numbers end at 2^63 */
    case SCORE:
        return json_string(attn_score_name(c->score));
    case POSITION:
        return json_string(position_names[c->position]);
    case VECTORS:
        return json_string(vectors_names[c->vectors]);
    }
    return NULL;
}

char *attn__config_to_json(const attn_word_sense_config *c, const attn_allocator *allocator)
{
    json_t *object = json_object();
    for (size_t i = 0; i < N_FIELDS; i++) {
        (void)json_object_set_new(object, fields[i].name, field_to_json(c, &fields[i]));
    }
    if (json_object_size(object) != N_FIELDS) {
        json_decref(object);
        return NULL;
    }
    return attn__json_dump(object, allocator);
}

/* Index of a JSON string in a list of names, -1 if it is none of them. */
static int index_of(const attn__json *value, const char *const names[], int n)
{
    const char *text = attn__json_text(value);
    for (int i = 0; text != NULL && i < n; i++) {
        if (strcmp(text, names[i]) == 0) {
            return i;
        }
    }
    return -1;
}

static bool choice_from_json(const attn__json *value, kind k, attn_word_sense_config *c)
{
    int position = index_of(value, position_names, 2), vectors = index_of(value, vectors_names, 3), score = -1;
    for (int s = ATTN_SCORE_SCALED_DOT; s <= ATTN_SCORE_ADDITIVE; s++) {
        const char *const name = attn_score_name((attn_score)s);
        score = index_of(value, &name, 1) == 0 ? s : score;
    }
    if (k == SCORE && score >= 0) {
        c->score = (attn_score)score;
    } else if (k == POSITION && position >= 0) {
        c->position = (attn_position)position;
    } else if (k == VECTORS && vectors >= 0) {
        c->vectors = (attn_vectors)vectors;
    } else {
        return false;
    }
    return true;
}

static bool seed_from_json(const attn__json *value, uint64_t *seed)
{
    const char *text = attn__json_text(value);
    *seed = 0;
    for (size_t i = 0; text != NULL && text[i] != '\0'; i++) {
        uint64_t digit = (uint64_t)(text[i] - '0');
        if (text[i] < '0' || text[i] > '9' || *seed > (UINT64_MAX - digit) / 10) {
            return false;
        }
        *seed = *seed * 10 + digit;
    }
    return text != NULL && text[0] != '\0';
}

static bool field_from_json(const attn__json *value, const field *f, attn_word_sense_config *c)
{
    char *at = (char *)c + f->offset;
    int64_t integer;
    switch (f->kind) {
    case INTEGER:
        if (!attn__json_integer(value, (int64_t)f->low, (int64_t)f->high, &integer)) {
            return false;
        }
        *(int *)(void *)at = (int)integer;
        return true;
    case REAL:
        return attn__json_number(value, (double *)(void *)at);
    case FLAG:
        return attn__json_flag(value, &c->freeze_vectors);
    case SEED:
        return seed_from_json(value, &c->seed);
    case SCORE:
    case POSITION:
    case VECTORS:
        return choice_from_json(value, f->kind, c);
    }
    return false;
}

attn_status attn__config_from_json(const attn__json *object, int version, attn_word_sense_config *c, attn_error *error)
{
    attn_status status = attn__json_is(object, ATTN__JSON_OBJECT) ? ATTN_OK : attn__fail(error, ATTN_EFORMAT, "no configuration");
    *c = attn_word_sense_defaults();
    c->neighbours = 0;
    for (size_t i = 0; i < N_FIELDS && status == ATTN_OK; i++) {
        if (fields[i].since <= version && !field_from_json(attn__json_get(object, fields[i].name), &fields[i], c)) {
            status = attn__fail(error, ATTN_EFORMAT, "configuration: '%s' is missing or not in its range", fields[i].name);
        }
    }
    return status == ATTN_OK ? attn__config_check(c, error) : status;
}

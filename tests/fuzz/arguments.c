/* What stands on the command line: numbers, names, a font and its face. */
#include "fuzz.h"

#include <errno.h>
#include <stdarg.h>

#include "cli/cli.h"
#include "core/core.h"
#include "viz/viz.h"

/* strtod in the C locale is what the file's numbers must be; each is written so that it is read again. */
static void check_number(const char *text)
{
    char *end, again[ATTN__DOUBLE_SIZE];
    double mine, theirs = strtod(text, &end), back;
    if (attn__parse_double(text, strlen(text), &mine)) {
        PROMISE(end == text + strlen(text));
        PROMISE(mine == theirs || (mine != mine && theirs != theirs));
        attn__format_double(mine, again);
        PROMISE(attn__parse_double(again, strlen(again), &back) && (back == mine || mine != mine));
    }
}

/* ---- options: the tool's own argp_error, which does not end the process ---- */

static bool refused;

void argp_error(const struct argp_state *state, const char *format, ...)
{
    char message[256];
    va_list args;
    (void)state;
    va_start(args, format);
    (void)vsnprintf(message, sizeof message, format, args);
    va_end(args);
    refused = true;
}

/* A decimal number, all of the text, that a long holds. */
static bool whole(const char *text, long *value)
{
    char *end;
    errno = 0;
    *value = strtol(text, &end, 10);
    return end != text && *end == '\0' && errno == 0;
}

static void check_options(const char *text)
{
    static const char *const names[] = {"mean", "all", NULL};
    struct argp_state state = {.name = "fuzz"};
    long value;
    refused = false;
    int i = parse_int("n", text, -5, 1000, &state);
    PROMISE(refused == !(whole(text, &value) && value >= -5 && value <= 1000));
    PROMISE(refused || i == value);
    refused = false;
    double x = parse_real("x", text, -1, 100, &state);
    PROMISE(refused || (x >= -1 && x <= 100));
    refused = false;
    uint64_t seed = parse_seed("seed", text, &state);
    PROMISE(refused || (seed <= INT64_MAX && whole(text, &value) && (uint64_t)value == seed));
    refused = false;
    i = parse_index_or("head", text, names, &state);
    PROMISE(refused || i >= 0 || strcmp(text, names[-1 - i]) == 0);
    refused = false;
    i = parse_choice("head", text, names, &state);
    PROMISE(refused || strcmp(text, names[i]) == 0);
}

/* What stands behind the path of a sound font of one face: nothing and ":0" are that face, another number a remark, all else no file. */
static void check_font(const char *text, const attn_allocator *a)
{
    char font[400];
    attn__arena arena;
    attn__fonts fonts;
    attn__arena_init(&arena, a);
    snprintf(font, sizeof font, "%s%s", ATTN_SOURCE_DIR "/tests/fuzz/seeds/font/three_glyphs.ttf", text);
    PROMISE(attn__fonts_init(&fonts, &arena, a, &fuzz_error) == ATTN_OK);
    attn_status status = attn__fonts_choose(&fonts, font, &fuzz_error);
    bool number = text[0] == ':' && text[1] != '\0' && strlen(text) <= 5 && strspn(text + 1, "0123456789") == strlen(text + 1);
    bool there = text[0] == '\0' || number, first = text[0] == '\0' || strtol(text + 1, NULL, 10) == 0;
    PROMISE((status == ATTN_OK) == there && (!there || (fonts.n == 1) == first));
    attn__fonts_free(&fonts);
    attn__arena_free(&arena);
}

void fuzz_arguments(const uint8_t *data, size_t size, const attn_allocator *a)
{
    char *text = text_of(data, size);
    check_number(text);
    check_options(text);
    check_font(text, a);
    free(text);
}

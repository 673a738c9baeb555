/* Files that somebody else wrote, broke or made up. Every file lies in memory of its exact size, so that a sanitizer sees a read beyond it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/check.h"

#include "attn/checkpoint.h"

/* An allocator that knows how much it has given at most. */
typedef struct peak {
    size_t now, most;
} peak;

static void *peak_alloc(void *ctx, size_t size)
{
    peak *p = ctx;
    size_t *block = malloc(size + 64);
    if (block != NULL) {
        *block = size;
        p->now += size;
        p->most = p->now > p->most ? p->now : p->most;
    }
    return block != NULL ? (char *)block + 64 : NULL;
}

static void peak_free(void *ctx, void *ptr)
{
    if (ptr != NULL) {
        size_t *block = (size_t *)(void *)((char *)ptr - 64);
        ((peak *)ctx)->now -= *block;
        free(block);
    }
}

/* A file: announced header length, header, and data_size bytes 0, 1, 2 ... */
typedef struct bytes {
    unsigned char *at;
    size_t size;
} bytes;

static bytes file(uint64_t announced, const char *header, size_t data_size)
{
    size_t n = strlen(header);
    bytes b = {malloc(8 + n + data_size), 8 + n + data_size};
    assert_non_null(b.at);
    for (size_t i = 0; i < 8; i++) {
        b.at[i] = (unsigned char)(announced >> 8 * i);
    }
    memcpy(b.at + 8, header, n);
    for (size_t i = 0; i < data_size; i++) {
        b.at[8 + n + i] = (unsigned char)i;
    }
    return b;
}

/* Reads everything that an open file offers; whatever is offered must hang together. */
static void assert_well_formed(const attn_safetensors *f, size_t file_size)
{
    size_t data = 0;
    unsigned sum = 0;
    for (int i = 0; i < attn_safetensors_count(f); i++) {
        attn_file_tensor x = attn_safetensors_get(f, i);
        int64_t count = attn_shape_count(x.shape);
        assert_true(x.dtype == ATTN_F32 || x.dtype == ATTN_F64);
        assert_true(count >= 0 && (size_t)count <= file_size);
        assert_int_equal(attn_safetensors_find(f, x.name), i);
        for (size_t j = 0; j < (size_t)count * attn_dtype_size(x.dtype); j++, data++) {
            sum += ((const unsigned char *)x.data)[j];
        }
    }
    assert_true(data < file_size);
    for (int i = 0; i < attn_safetensors_text_count(f); i++) {
        attn_file_text t = attn_safetensors_text_at(f, i);
        assert_string_equal(attn_safetensors_text(f, t.key), t.value);
        sum += (unsigned)strlen(t.value);
    }
    assert_true(sum < UINT32_MAX);
}

/* Either a whole file, or one line that says what is wrong; never more memory than a small multiple of the file. */
static bool survives(const void *at, size_t size, attn_error *error)
{
    peak p = {0};
    const attn_allocator allocator = {peak_alloc, peak_free, &p};
    *error = (attn_error){0};
    attn_safetensors *f = attn_safetensors_parse(at, size, "FILE", &allocator, error);
    if (f != NULL) {
        assert_well_formed(f, size);
    } else {
        assert_int_equal(error->status, ATTN_EFORMAT);
        assert_contains(error->message, "FILE: ");
        for (const char *c = error->message; *c != '\0'; c++) {
            assert_true((unsigned char)*c >= 0x20);
        }
    }
    attn_safetensors_free(f);
    assert_int_equal(p.now, 0);
    assert_true(p.most < 200000 + 20 * size);
    return f != NULL;
}

static void refuses(const char *header, size_t data_size, const char *message)
{
    attn_error error;
    bytes b = file(strlen(header), header, data_size);
    assert_false(survives(b.at, b.size, &error));
    assert_contains(error.message, message);
    free(b.at);
}

static attn_safetensors *accepts(const char *header, size_t data_size)
{
    attn_error error = {0};
    bytes b = file(strlen(header), header, data_size);
    assert_true(survives(b.at, b.size, &error));
    attn_safetensors *f = attn_safetensors_parse(b.at, b.size, "FILE", NULL, &error);
    assert_non_null(f);
    free(b.at); /* the file is copied */
    return f;
}

static void header_length_is_checked_first(void **state)
{
    (void)state;
    const uint64_t lengths[] = {UINT64_MAX, UINT64_MAX - 7, (uint64_t)1 << 63, 100000001, 100000000, 15};
    attn_error error;
    for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
        bytes b = file(lengths[i], "{}            ", 0);
        assert_false(survives(b.at, b.size, &error));
        assert_contains(error.message, "a header of ");
        free(b.at);
    }
    bytes b = file(0, "{}            ", 0);
    assert_false(survives(b.at, b.size, &error));
    assert_contains(error.message, "the header does not begin with '{'");
    for (size_t size = 0; size < 8; size++) {
        assert_false(survives(b.at, size, &error));
        assert_contains(error.message, "8 bytes of header length");
    }
    free(b.at);
}

static void longest_header_is_enforced(void **state)
{
    (void)state;
    const size_t n = 100000001;
    attn_error error = {0};
    unsigned char *at = calloc(8 + n, 1); /* a header that is there, and too long */
    assert_non_null(at);
    memcpy(at, "\x01\xe1\xf5\x05", 4);
    assert_null(attn_safetensors_parse(at, 8 + n, "FILE", NULL, &error));
    assert_contains(error.message, "a header of 100000001 bytes is announced, 100000001 bytes follow (at most 100000000 are legal)");
    free(at);
}

#define TENSOR(name, dtype, shape, offsets) "\"" name "\":{\"dtype\":\"" dtype "\",\"shape\":" shape ",\"data_offsets\":" offsets "}"
#define ONE(dtype, shape, offsets)          "{" TENSOR("w", dtype, shape, offsets) "}"

static void json_is_strict(void **state)
{
    (void)state;
    refuses(" {}", 0, "does not begin with '{'");
    refuses("[]", 0, "does not begin with '{'");
    refuses("{", 0, "header, byte ");
    refuses("{} x", 0, "header, byte ");
    refuses("{" TENSOR("a", "F32", "[0]", "[0,0]") "," TENSOR("b", "F32", "[0]", "[0,0]") "," TENSOR("\\u0061", "F32", "[0]", "[0,0]") "}",
            0, "header: duplicate key 'a'");
    refuses("{\"__metadata__\":{},\"__metadata__\":{}}", 0, "header: duplicate key '__metadata__'");
    refuses("{\"a\":{\"dtype\":\"F32\",\"dtype\":\"F32\",\"shape\":[],\"data_offsets\":[0,4]}}", 4, "duplicate");
    refuses("{\"__metadata__\":{\"a\":\"\",\"a\":\"\"}}", 0, "duplicate");
    refuses("{\"a\xff\":1}", 0, "header, byte ");
    refuses("{\"\xe4\xb8\":1}", 0, "header, byte ");
    refuses("{\"\\ud800\":1}", 0, "header, byte ");
    refuses("{\"a\\u0000b\":1}", 0, "header, byte ");
    refuses("{\"a\nb\":1}", 0, "header, byte ");
    refuses("{\"a\":99999999999999999999}", 0, "header, byte 25: too big an integer");
    refuses("{\"a\":-9223372036854775809}", 0, "too big");
    refuses("{\"a\":-9223372036854775808}", 0, "tensor 'a': expected an object");
    static const char *const broken[] = {"01",         "1.",   "1e",      "+1",        ".5",          "-",           "tru",
                                         "nul",        "\"a",  "\"\\x\"", "\"\\u12\"", "[1,]",        "[1 2]",       "{\"b\"}",
                                         "{b:1}",      "{,}",  "[}",      "{]",        "\"\\udc00\"", "\"\\ud83d\"", "\"\\ud83d\\u0041\"",
                                         "'a'",        "[,1]", "nan",     "1 1",       "\"\t\"",      "\"\\\"",      "{\"b\":}",
                                         "{\"b\":1,}", ""};
    for (size_t i = 0; i < sizeof broken / sizeof broken[0]; i++) {
        char header[100];
        (void)snprintf(header, sizeof header, "{\"a\":%s}", broken[i]);
        refuses(header, 0, "header, byte ");
        (void)snprintf(header, sizeof header, "{\"__metadata__\":{\"a\":%s}}", broken[i]);
        refuses(header, 0, "header, byte ");
    }
}

static void metadata_holds_strings(void **state)
{
    (void)state;
    refuses("{\"__metadata__\":null}", 0, "__metadata__ is not an object");
    refuses("{\"__metadata__\":[]}", 0, "__metadata__ is not an object");
    refuses("{\"__metadata__\":{\"a\":1}}", 0, "__metadata__ 'a' is not a string");
    refuses("{\"__metadata__\":{\"a\":null}}", 0, "__metadata__ 'a' is not a string");
    refuses("{\"__metadata__\":{\"a\":{\"b\":\"c\"}}}", 0, "__metadata__ 'a' is not a string");
}

/* As many texts as an array has room for, and one more or less: a sanitizer sees a read beyond them. */
static void any_number_of_texts_is_read_back(void **state)
{
    (void)state;
    for (int n = 0; n < 70; n++) {
        char header[70 * 40 + 40] = "{\"__metadata__\":{";
        for (int i = 0; i < n; i++) {
            snprintf(header + strlen(header), 40, "%s\"k%d\":\"%d\"", i > 0 ? "," : "", i, i * i);
        }
        strcat(header, "}}");
        bytes b = file(strlen(header), header, 0);
        attn_error error;
        attn_safetensors *f = attn_safetensors_parse(b.at, b.size, "mem", NULL, &error);
        assert_non_null(f);
        assert_int_equal(attn_safetensors_text_count(f), n);
        for (int i = 0; i < n; i++) {
            char key[16], value[16];
            snprintf(key, sizeof key, "k%d", i);
            snprintf(value, sizeof value, "%d", i * i);
            assert_string_equal(attn_safetensors_text(f, key), value);
        }
        attn_safetensors_free(f);
        free(b.at);
    }
}

static void entries_are_complete(void **state)
{
    (void)state;
    refuses("{\"w\":1}", 0, "tensor 'w': expected an object");
    refuses("{\"w\":{}}", 0, "tensor 'w': expected an object");
    refuses("{\"w\":{\"dtype\":\"F32\",\"shape\":[1],\"offsets\":[0,4]}}", 4, "tensor 'w': data_offsets");
    refuses("{\"w\":{\"type\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4]}}", 4, "tensor 'w': dtype is missing");
    refuses("{\"w\":{\"dtype\":\"F32\",\"size\":[1],\"data_offsets\":[0,4]}}", 4, "tensor 'w': shape");
    refuses("{\"w\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4],\"scale\":2}}", 4, "tensor 'w': expected an object");
    refuses("{\"w\":{\"dtype\":32,\"shape\":[1],\"data_offsets\":[0,4]}}", 4, "tensor 'w': dtype is missing or no string");
    refuses(ONE("F16", "[2]", "[0,4]"), 4, "tensor 'w' holds F16, only F32 and F64 can be read");
    refuses(ONE("BF16", "[2]", "[0,4]"), 4, "tensor 'w' holds BF16");
    refuses(ONE("I64", "[1]", "[0,8]"), 8, "tensor 'w' holds I64");
    refuses(ONE("f32", "[1]", "[0,4]"), 4, "tensor 'w': unknown dtype 'f32'");
    refuses(ONE("F3\\n2", "[1]", "[0,4]"), 4, "tensor 'w': unknown dtype 'F3?2'");
}

static void shapes_and_offsets_are_integers(void **state)
{
    (void)state;
    const char *shapes[] = {"[-1]", "[1.0]", "[1e0]", "[\"1\"]", "[true]", "1", "null", "[1,1,1,1,1]", "[[1]]"};
    const char *offsets[] = {"[-4,4]", "[-4,0]", "[8,0]", "[0]", "[0,4,8]", "[0,4.0]", "4", "[null,4]", "{}"};
    char header[200];
    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++) {
        (void)snprintf(header, sizeof header, "{\"w\":{\"dtype\":\"F32\",\"shape\":%s,\"data_offsets\":[0,4]}}", shapes[i]);
        refuses(header, 4, "tensor 'w': shape is not an array of at most 4 integers");
    }
    for (size_t i = 0; i < sizeof offsets / sizeof offsets[0]; i++) {
        (void)snprintf(header, sizeof header, "{\"w\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":%s}}", offsets[i]);
        refuses(header, 8, "tensor 'w': data_offsets are not two rising integers");
    }
}

static void shapes_fill_their_spans(void **state)
{
    (void)state;
    refuses(ONE("F32", "[3]", "[0,8]"), 8, "tensor 'w': shape (3) of float32 does not fill bytes 0 to 8");
    refuses(ONE("F32", "[1]", "[0,8]"), 8, "does not fill");
    refuses(ONE("F32", "[]", "[0,0]"), 0, "shape () of float32 does not fill");
    refuses(ONE("F64", "[1,2]", "[0,8]"), 8, "shape (1,2) of float64 does not fill");
    refuses(ONE("F32", "[0]", "[0,4]"), 4, "does not fill");
    refuses(ONE("F32", "[4611686018427387905]", "[0,4]"), 4, "does not fill");   /* 4 (2^62 + 1) = 4 mod 2^64 */
    refuses(ONE("F32", "[4294967296,4294967296]", "[0,0]"), 0, "does not fill"); /* 2^64 */
    refuses(ONE("F64", "[2305843009213693953]", "[0,8]"), 8, "does not fill");   /* 8 (2^61 + 1) */
    refuses(ONE("F32", "[9223372036854775807,4]", "[0,4]"), 4, "does not fill");
    refuses(ONE("F32", "[0,9223372036854775807,4]", "[0,0]"), 0, "does not fill"); /* beyond 64 bits without its zero */
    refuses(ONE("F32", "[9223372036854775808]", "[0,4]"), 4, "too big");
    refuses(ONE("F32", "[2]", "[0,8]"), 4, "truncated: tensor 'w' ends at byte 8 of the data, which has 4");
    refuses(ONE("F32", "[2305843009213693950]", "[0,9223372036854775800]"), 4, "truncated");
}

static void data_is_covered_once(void **state)
{
    (void)state;
    refuses("{" TENSOR("a", "F32", "[1]", "[0,4]") "," TENSOR("b", "F32", "[1]", "[8,12]") "}", 12,
            "'b' begins at byte 8 of the data, after a hole");
    refuses("{" TENSOR("a", "F32", "[2]", "[0,8]") "," TENSOR("b", "F32", "[2]", "[4,12]") "}", 12,
            "'b' begins at byte 4 of the data, inside");
    refuses("{" TENSOR("a", "F32", "[2]", "[0,8]") "," TENSOR("b", "F32", "[2]", "[0,8]") "}", 8,
            "'b' begins at byte 0 of the data, inside");
    refuses("{" TENSOR("a", "F32", "[2]", "[0,8]") "," TENSOR("b", "F32", "[0]", "[4,4]") "}", 8, "inside another");
    refuses(ONE("F32", "[1]", "[4,8]"), 8, "begins at byte 4 of the data, after a hole");
    refuses(ONE("F32", "[1]", "[0,4]"), 5, "1 bytes follow the last tensor");
    refuses(ONE("F32", "[0]", "[4,4]"), 4, "after a hole");
    refuses("{}", 1, "1 bytes follow the last tensor");
}

/* Names of a file enter messages without control characters, and not without end. */
static void names_cannot_break_a_message(void **state)
{
    (void)state;
    refuses("{\"\\u001b[2J\\n-\\u007f\":1}", 0, "tensor '?[2J?-?': expected");
    refuses("{\"果果果果果果果果果果果果果果果果果果果果果果果果\":1}", 0, "果果...': expected"); /* cut between characters */
    refuses("{\"a果果果果果果果果果果果果果果果果果果果果果果果果\":1}", 0, "果果...': expected");
    refuses("{\"ab果果果果果果果果果果果果果果果果果果果果果果果果\":1}", 0, "果果...': expected");
}

static void what_is_legal_is_read(void **state)
{
    (void)state;
    attn_safetensors *f = accepts("{}", 0);
    assert_int_equal(attn_safetensors_count(f), 0);
    attn_safetensors_free(f);

    /* odd header length, white space, any order of keys and tensors, escapes, empty tensors and texts, no alignment */
    f = accepts("{ \"z\" : {\"data_offsets\":[4,12], \"shape\":[ ], \"dtype\":\"F64\"},\t\"__metadata__\":{\"k\\u00e9y\":\"\"},\n"
                "\"e\":{\"dtype\":\"F32\",\"shape\":[0,9223372036854775807,1],\"data_offsets\":[4,4]},"
                "\"\\u82f9\\ud83d\\ude00\\/\":{\"dtype\":\"F32\",\"shape\":[1,1,1,1],\"data_offsets\":[0,4]}}   ",
                12);
    assert_int_equal(attn_safetensors_count(f), 3);
    assert_string_equal(attn_safetensors_get(f, 0).name, "苹😀/");
    assert_string_equal(attn_safetensors_get(f, 1).name, "e");
    attn_file_tensor z = attn_safetensors_get(f, 2);
    assert_string_equal(z.name, "z");
    assert_int_equal(z.shape.rank, 0);
    assert_int_equal((uintptr_t)z.data % 8, 0);
    assert_memory_equal(z.data, "\x04\x05\x06\x07\x08\x09\x0a\x0b", 8);
    assert_memory_equal(attn_safetensors_get(f, 0).data, "\x00\x01\x02\x03", 4);
    assert_int_equal(attn_safetensors_get(f, 1).shape.dim[1], INT64_MAX);
    assert_string_equal(attn_safetensors_text(f, "kéy"), "");
    attn_safetensors_free(f);
}

static void deep_nesting_is_harmless(void **state)
{
    (void)state;
    enum { DEPTH = 200000 };
    static const char *const openings[] = {"[", "{\"a\":"};
    for (int i = 0; i < 2; i++) {
        size_t n = strlen(openings[i]);
        char *header = malloc(5 + DEPTH * n + 1);
        assert_non_null(header);
        memcpy(header, "{\"a\":", 5);
        for (size_t d = 0; d < DEPTH; d++) {
            memcpy(header + 5 + d * n, openings[i], n);
        }
        header[5 + DEPTH * n] = '\0';
        refuses(header, 0, "maximum parsing depth");
        free(header);
    }
}

static const char valid[] = "{\"__metadata__\":{\"format\":\"pt\",\"note\":\"a\\\"b\"}," TENSOR("b", "F64", "[2]", "[0,16]") "," TENSOR(
    "W_q", "F32", "[2,3]", "[16,40]") "," TENSOR("empty", "F32", "[0,2]", "[40,40]") "," TENSOR("s", "F32", "[]", "[40,44]") "}";

/* Cut anywhere, or one byte too long: never read. */
static void every_truncation_is_seen(void **state)
{
    (void)state;
    attn_error error;
    bytes b = file(strlen(valid), valid, 44);
    assert_true(survives(b.at, b.size, &error));
    for (size_t size = 0; size < b.size; size++) {
        unsigned char *cut = malloc(size > 0 ? size : 1);
        assert_non_null(cut);
        memcpy(cut, b.at, size);
        assert_false(survives(cut, size, &error));
        free(cut);
    }
    free(b.at);
    b = file(strlen(valid), valid, 45);
    assert_false(survives(b.at, b.size, &error));
    free(b.at);
}

/* One bit of the length or the header flipped, or one byte replaced: a whole file or a clean error. */
static void every_flipped_bit_is_survived(void **state)
{
    (void)state;
    static const unsigned char others[] = {0, ' ', '"', '\\', '{', '}', '[', ']', ',', ':', '-', '0', '9', 'e', 0x80, 0xff};
    attn_error error;
    long loaded = 0;
    bytes b = file(strlen(valid), valid, 44);
    for (size_t i = 0; i < 8 + strlen(valid); i++) {
        unsigned char original = b.at[i];
        for (unsigned bit = 0; bit < 8; bit++) {
            b.at[i] = (unsigned char)(original ^ 1U << bit);
            loaded += survives(b.at, b.size, &error);
        }
        for (size_t j = 0; j < sizeof others; j++) {
            b.at[i] = others[j];
            loaded += survives(b.at, b.size, &error);
        }
        b.at[i] = original;
    }
    assert_true(loaded > 50); /* other names and texts */
    free(b.at);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(header_length_is_checked_first),
        cmocka_unit_test(longest_header_is_enforced),
        cmocka_unit_test(json_is_strict),
        cmocka_unit_test(metadata_holds_strings),
        cmocka_unit_test(any_number_of_texts_is_read_back),
        cmocka_unit_test(entries_are_complete),
        cmocka_unit_test(shapes_and_offsets_are_integers),
        cmocka_unit_test(shapes_fill_their_spans),
        cmocka_unit_test(data_is_covered_once),
        cmocka_unit_test(names_cannot_break_a_message),
        cmocka_unit_test(what_is_legal_is_read),
        cmocka_unit_test(deep_nesting_is_harmless),
        cmocka_unit_test(every_truncation_is_seen),
        cmocka_unit_test(every_flipped_bit_is_survived),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Files that are read through a small buffer. */
#include <fcntl.h>
#include <unistd.h>

#include "support/files.h"

#include "core/file.h"

#define FILE_NAME "test_stream.txt"

/* Whatever the sizes of the buffer and of the pieces that are used, the bytes come once each and in order. */
static void bytes_come_in_order(void **state)
{
    (void)state;
    char bytes[1000], buffer[64], got[sizeof bytes];
    for (size_t i = 0; i < sizeof bytes; i++) {
        bytes[i] = (char)(i * i % 251);
    }
    put_bytes(FILE_NAME, bytes, sizeof bytes);
    for (size_t room = 1; room <= sizeof buffer; room += 7) {
        attn__stream s;
        size_t n = 0;
        assert_int_equal(attn__stream_open(&s, FILE_NAME, buffer, room, NULL), ATTN_OK);
        assert_int_equal(s.total, sizeof bytes);
        while (!s.over || s.at < s.end) {
            size_t use = (s.end - s.at) / 2 + (s.end > s.at);
            memcpy(got + n, buffer + s.at, use);
            n += use;
            s.at += use;
            assert_int_equal(attn__stream_fill(&s, NULL), ATTN_OK);
            assert_true(s.end == room || s.over);
            assert_true(n + s.end - s.at <= sizeof bytes);
            assert_int_equal(s.done, n + s.end - s.at);
        }
        assert_int_equal(n, sizeof bytes);
        assert_memory_equal(got, bytes, n);
        attn__stream_close(&s);
    }
}

static void an_empty_file_is_over_at_once(void **state)
{
    (void)state;
    char buffer[8];
    attn__stream s;
    put_text(FILE_NAME, "");
    assert_int_equal(attn__stream_open(&s, FILE_NAME, buffer, sizeof buffer, NULL), ATTN_OK);
    assert_int_equal(attn__stream_fill(&s, NULL), ATTN_OK);
    assert_true(s.over && s.at == s.end && s.done == 0 && s.total == 0);
    attn__stream_close(&s);
    attn__stream_close(&s); /* once is enough */
}

static void failures_name_the_file(void **state)
{
    (void)state;
    char buffer[8];
    attn__stream s;
    attn_error error;
    assert_int_equal(attn__stream_open(&s, "no/such/file", buffer, sizeof buffer, &error), ATTN_EIO);
    assert_string_equal(error.message, "no/such/file: cannot open: No such file or directory");
    attn__stream_close(&s);
    assert_int_equal(attn__stream_open(&s, ".", buffer, sizeof buffer, &error), ATTN_OK);
    assert_int_equal(s.total, 0);
    assert_int_equal(attn__stream_fill(&s, &error), ATTN_EIO);
    assert_string_equal(error.message, ".: cannot read: Is a directory");
    attn__stream_close(&s);
}

/* Standard input comes in pieces, has no size, and stays open. */
static void standard_input_is_a_stream_too(void **state)
{
    (void)state;
    int ends[2], input = dup(STDIN_FILENO);
    char buffer[8];
    attn__stream s;
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(write(ends[1], "hello, world", 12), 12);
    assert_int_equal(close(ends[1]), 0);
    assert_int_equal(dup2(ends[0], STDIN_FILENO), STDIN_FILENO);
    assert_int_equal(attn__stream_open(&s, "-", buffer, sizeof buffer, NULL), ATTN_OK);
    assert_string_equal(s.path, "standard input");
    assert_int_equal(s.total, 0);
    assert_int_equal(attn__stream_fill(&s, NULL), ATTN_OK);
    assert_memory_equal(buffer, "hello, w", 8);
    s.at = 5;
    assert_int_equal(attn__stream_fill(&s, NULL), ATTN_OK);
    assert_int_equal(s.end, 7);
    assert_memory_equal(buffer, ", world", 7);
    assert_true(s.over);
    attn__stream_close(&s);
    assert_true(fcntl(STDIN_FILENO, F_GETFD) != -1);
    assert_int_equal(dup2(input, STDIN_FILENO), STDIN_FILENO);
    close(input);
    close(ends[0]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bytes_come_in_order),
        cmocka_unit_test(an_empty_file_is_over_at_once),
        cmocka_unit_test(failures_name_the_file),
        cmocka_unit_test(standard_input_is_a_stream_too),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

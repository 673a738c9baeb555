#include "support/check.h"

#include "attn/tape.h"

static void version_is_the_headers(void **state)
{
    (void)state;
    assert_string_equal(attn_version(), "0.1.0");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(version_is_the_headers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

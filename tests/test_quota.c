/* How many threads there are when nobody says: field reports B117 and B118. The files of control groups are made here; cli_threads.sh shows
 * the kernel's own. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "support/check.h"
#include "support/files.h"

#include "core/core.h"

#define FOLDER "test_quota.d"

/* A file under the folder, with the folders on the way to it. */
static void put(const char *path, const char *text)
{
    char name[300];
    (void)snprintf(name, sizeof name, FOLDER "/%s", path);
    for (char *slash = strchr(name, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        (void)mkdir(name, 0777);
        *slash = '/';
    }
    put_text(name, text);
}

static int quota(const char *groups)
{
    put("cgroup", groups);
    return attn__quota(FOLDER, "cgroup", FOLDER "/mount");
}

static void groups_of_version_2(void **state)
{
    (void)state;
    put("mount/two/cpu.max", "200000 100000\n");
    assert_int_equal(quota("0::/two\n"), 2);
    put("mount/none/cpu.max", "max 100000\n");
    assert_int_equal(quota("0::/none\n"), INT_MAX);
    put("mount/part/cpu.max", "50000 100000\n");
    assert_int_equal(quota("0::/part\n"), 1); /* less than one processor is one thread */
    put("mount/odd/cpu.max", "350000 100000\n");
    assert_int_equal(quota("0::/odd\n"), 3); /* a fourth would stand still half of the time */
    put("mount/none/inner/cpu.max", "900000 100000\n");
    put("mount/two/inner/cpu.max", "900000 100000\n");
    assert_int_equal(quota("0::/none/inner\n"), 9);
    assert_int_equal(quota("0::/two/inner"), 2); /* that of the group around it */
    assert_int_equal(quota("0::/gone/away\n"), INT_MAX);
    put("mount/cpu.max", "400000 100000\n"); /* a container sees its own group as the root */
    assert_int_equal(quota("0::/\n"), 4);
    assert_int_equal(quota("0::/gone/away\n"), 4);
    assert_int_equal(quota("0::/two/inner\n"), 2);
    put("mount/cpu.max", "max 100000\n");
}

static void groups_of_version_1(void **state)
{
    (void)state;
    put("mount/cpu/three/cpu.cfs_quota_us", "300000\n");
    put("mount/cpu/three/cpu.cfs_period_us", "100000\n");
    put("mount/cpu/free/cpu.cfs_quota_us", "-1\n");
    put("mount/cpu/free/cpu.cfs_period_us", "100000\n");
    assert_int_equal(quota("7:memory:/three\n3:cpu,cpuacct:/three\n0::/\n"), 3);
    assert_int_equal(quota("3:cpuacct,cpu:/three\n"), 3);
    assert_int_equal(quota("3:cpu:/three/inner\n"), 3);
    assert_int_equal(quota("3:cpu:/free\n"), INT_MAX);
    assert_int_equal(quota("3:cpuset:/three\n2:cpuacct:/three\n"), INT_MAX); /* other controllers */
}

/* Whatever stands there is no reason to fail. */
static void what_is_no_quota(void **state)
{
    (void)state;
    static const char *const texts[] = {"",         "\n", "0 100000", "100000", "-5 100000", "100000 0", "x y", "9999999999999999999 1",
                                        "100000 -1"};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        put("mount/bad/cpu.max", texts[i]);
        assert_int_equal(quota("0::/bad\n"), INT_MAX);
    }
    static const char *const groups[] = {"", "\n", ":", "::", "0:", "0::", "1:cpu", "\n\n0::/bad", "no colon\n"};
    for (size_t i = 0; i < sizeof groups / sizeof groups[0]; i++) {
        assert_int_equal(quota(groups[i]), INT_MAX);
    }
    char *path = malloc(9000);
    assert_non_null(path);
    memset(path, '/', 9000);
    memcpy(path, "0::", 3);
    path[8999] = '\0';
    assert_int_equal(quota(path), INT_MAX);
    free(path);
    assert_int_equal(attn__quota("none", "cgroup", FOLDER "/mount"), INT_MAX);
}

static void a_wish_is_a_whole_number(void **state)
{
    (void)state;
    assert_true(attn__asks_for_threads("1") && attn__asks_for_threads(" 12 ") && attn__asks_for_threads("4,2"));
    static const char *const none[] = {"", " ", "0", "-1", "abc", "2x", "1.5", "0x4", ",3"};
    assert_false(attn__asks_for_threads(NULL));
    for (size_t i = 0; i < sizeof none / sizeof none[0]; i++) {
        assert_false(attn__asks_for_threads(none[i]));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(groups_of_version_2),
        cmocka_unit_test(groups_of_version_1),
        cmocka_unit_test(what_is_no_quota),
        cmocka_unit_test(a_wish_is_a_whole_number),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

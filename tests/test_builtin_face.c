/* The letters that need no font, and the box with a code point. */
#include "support/check.h"

#include "viz/viz.h"

static uint64_t picture_of(int32_t code, bool box)
{
    enum { SIZE = 24 };
    uint8_t coverage[64 * 64];
    attn__box ink = box ? attn__hexbox_ink(code, SIZE) : attn__builtin_ink(code, SIZE);
    size_t n = (size_t)(ink.x1 - ink.x0) * (size_t)(ink.y1 - ink.y0);
    assert_true(n <= sizeof coverage);
    (box ? attn__hexbox_render : attn__builtin_render)(code, SIZE, ink, coverage);
    uint64_t hash = (uint64_t)(ink.x0 * 64 + ink.y0 * 4096);
    for (size_t i = 0; i < n; i++) {
        hash = (hash ^ coverage[i]) * UINT64_C(1099511628211);
    }
    return hash;
}

static void built_in_pictures_differ_from_each_other(void **state)
{
    (void)state;
    for (int32_t a = ' '; a <= '~'; a++) {
        assert_true(attn__builtin_has(a));
        assert_int_equal(attn__box_empty(attn__builtin_ink(a, 14)), a == ' ');
        for (int32_t b = a + 1; b <= '~'; b++) {
            assert_true(picture_of(a, false) != picture_of(b, false));
        }
    }
    assert_false(attn__builtin_has(0x1f) || attn__builtin_has(0x7f) || attn__builtin_has(0xe9));
    const int32_t codes[] = {0x94f6, 0x884c, 0x4f6, 0x1094f6, 0x100000, 0, 0x5678, 0x9abc, 0xdef0, 0x1234};
    for (int i = 0; i < 10; i++) {
        for (int k = i + 1; k < 10; k++) {
            assert_true(picture_of(codes[i], true) != picture_of(codes[k], true));
        }
    }
}

/* All ink lies in the box that is announced: a larger box shows no more. */
static void built_in_ink_is_whole(void **state)
{
    (void)state;
    static uint8_t coverage[100 * 100];
    for (int32_t code = '!'; code <= '~'; code++) {
        int sum[2] = {0, 0};
        attn__box boxes[2] = {attn__builtin_ink(code, 23), {-10, -40, 40, 20}};
        for (int i = 0; i < 2; i++) {
            attn__builtin_render(code, 23, boxes[i], coverage);
            int n = (boxes[i].x1 - boxes[i].x0) * (boxes[i].y1 - boxes[i].y0);
            for (int k = 0; k < n; k++) {
                sum[i] += coverage[k];
            }
        }
        assert_int_equal(sum[0], sum[1]);
    }
}

/* Digits of a code point stand in reading order: changing one changes the picture there only. */
static void hex_digits_stand_in_their_places(void **state)
{
    (void)state;
    static const struct {
        int32_t zero, one;
        int column, row, columns;
    } places[] = {{0, 0x1000, 0, 0, 2},         {0, 0x100, 1, 0, 2},         {0, 0x10, 0, 1, 2},          {0, 1, 1, 1, 2},
                  {0x10000, 0x110000, 0, 0, 3}, {0x10000, 0x11000, 2, 0, 3}, {0x10000, 0x10100, 0, 1, 3}, {0x10000, 0x10001, 2, 1, 3}};
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        uint8_t zero[32 * 32], one[32 * 32];
        attn__box ink = attn__hexbox_ink(places[i].zero, 14);
        int width = ink.x1 - ink.x0, changed = 0;
        attn__hexbox_render(places[i].zero, 14, ink, zero);
        attn__hexbox_render(places[i].one, 14, ink, one);
        for (int k = 0; k < width * (ink.y1 - ink.y0); k++) {
            if (zero[k] != one[k]) {
                changed++;
                assert_int_equal((k % width - 2) / 4, places[i].column);
                assert_int_equal((k / width - 2) / 6, places[i].row);
            }
        }
        assert_true(changed > 3);
        assert_int_equal(width, 4 * places[i].columns + 3);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(built_in_pictures_differ_from_each_other),
        cmocka_unit_test(built_in_ink_is_whole),
        cmocka_unit_test(hex_digits_stand_in_their_places),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

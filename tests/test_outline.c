/* TrueType outlines, sound and not, glyph by glyph: what the rasteriser would follow out of its arrays is refused. */
#include "support/check.h"

#include <stdlib.h>
#include <string.h>

#include "support/guard.h"
#include "viz/viz.h"

#define MOST 64 /* glyphs */

/* A font of a few glyphs in the making: loca as 32-bit numbers, then glyf, which ends at a guard page. */
typedef struct maker {
    uint8_t bytes[16384];
    uint32_t end[MOST + 1], size;
    int n;
} maker;

static void put(maker *m, const void *bytes, size_t size)
{
    memcpy(m->bytes + m->size, bytes, size);
    m->size += (uint32_t)size;
}

static void put16(maker *m, unsigned v)
{
    put(m, (const uint8_t[]){(uint8_t)(v >> 8), (uint8_t)v}, 2);
}

static void finish_glyph(maker *m)
{
    m->end[++m->n] = m->size;
}

static void head(maker *m, unsigned contours)
{
    put16(m, contours);
    put(m, "\0\0\0\0\0\x64\0\x64", 8);
}

/* `n` contours that end at these points; then no instructions, flags as given, and so many bytes of coordinates. */
static void simple(maker *m, int n, const unsigned *ends, const char *flags, size_t n_flags, size_t coordinates)
{
    head(m, (unsigned)n);
    for (int i = 0; i < n; i++) {
        put16(m, ends[i]);
    }
    put16(m, 0);
    put(m, flags, n_flags);
    put(m, (const uint8_t[64]){0}, coordinates);
    finish_glyph(m);
}

/* One part; `more` follows. Flags: 2 = offsets, 1 = as 16 bits, 32 = more parts. */
static void part(maker *m, unsigned flags, unsigned glyph)
{
    put16(m, flags);
    put16(m, glyph);
    put(m, "\0\0\0\0", (flags & 1) != 0 ? 4 : 2);
}

static void composite(maker *m, unsigned flags, unsigned glyph)
{
    head(m, 0xffff);
    part(m, flags, glyph);
    finish_glyph(m);
}

/* Whether glyph `which` is sound when glyf is `cut` bytes shorter than was made. */
static bool sound(const maker *m, int which, uint32_t cut)
{
    uint32_t loca = 4 * ((uint32_t)m->n + 1), size = loca + m->size - cut;
    guarded g = guard_new(size);
    uint8_t *data = guard_array(&g, size, GUARD_AFTER);
    for (int i = 0; i <= m->n; i++) {
        const uint32_t v = m->end[i];
        memcpy(data + 4 * i, (const uint8_t[]){(uint8_t)(v >> 24), (uint8_t)(v >> 16), (uint8_t)(v >> 8), (uint8_t)v}, 4);
    }
    memcpy(data + loca, m->bytes, m->size - cut);
    const attn__sfnt f = {
        .data = data, .size = size, .glyf = loca, .glyf_size = m->size - cut, .glyphs = m->n, .units = 1000, .long_loca = true};
    bool ok = attn__sfnt_glyph_ok(&f, which);
    guard_free(&g);
    return ok;
}

static void simple_outlines(void **state)
{
    (void)state;
    static const char on[] = "\x37\x37\x37\x37\x37\x37"; /* on the curve, x and y in one byte each */
    maker m = {0};
    finish_glyph(&m);                                            /* 0: empty */
    simple(&m, 1, (const unsigned[]){2}, on, 3, 6);              /* 1: a triangle */
    simple(&m, 2, (const unsigned[]){2, 5}, on, 6, 12);          /* 2: two */
    simple(&m, 2, (const unsigned[]){2, 2}, on, 3, 6);           /* 3: the second ends where the first does */
    simple(&m, 2, (const unsigned[]){5, 2}, on, 6, 12);          /* 4: before it */
    simple(&m, 1, (const unsigned[]){2}, on, 3, 5);              /* 5: a coordinate is missing */
    simple(&m, 1, (const unsigned[]){2}, "\x3f\x02", 2, 6);      /* 6: one flag, twice repeated */
    simple(&m, 1, (const unsigned[]){2}, "\x01\x01\x01", 3, 12); /* 7: two bytes each */
    simple(&m, 1, (const unsigned[]){2}, "\x01\x01\x01", 3, 11); /* 8: one too few */
    simple(&m, 1, (const unsigned[]){2}, "\x31\x31\x31", 3, 0);  /* 9: none, all the same point */
    simple(&m, 0, NULL, "", 0, 0);                               /* 10: no contour */
    simple(&m, 1, (const unsigned[]){0xffff}, on, 6, 12);        /* 11: 65536 points */
    simple(&m, 1, (const unsigned[]){2}, on, 3, 6);              /* 12: as 1, at the end of the file */
    static const bool expected[] = {true, true, true, false, false, false, true, true, false, true, true, false, true};
    for (int i = 0; i < m.n; i++) {
        if (sound(&m, i, 0) != expected[i]) {
            fail_msg("glyph %d", i);
        }
    }
    for (uint32_t cut = 1; cut < 23; cut++) {
        assert_false(sound(&m, 12, cut));
    }
    assert_false(sound(&m, 13, 0));
    m.end[2] = m.end[1] - 1; /* the triangle ends before it starts */
    assert_false(sound(&m, 1, 0));
}

static void outlines_of_parts(void **state)
{
    (void)state;
    maker m = {0};
    simple(&m, 1, (const unsigned[]){2}, "\x37\x37\x37", 3, 6); /* 0 */
    composite(&m, 2, 0);                                        /* 1: small offsets */
    composite(&m, 3, 0);                                        /* 2: large ones */
    composite(&m, 1, 0);                                        /* 3: by matching points */
    composite(&m, 2, 4);                                        /* 4: itself */
    composite(&m, 2, 99);                                       /* 5: no such glyph */
    composite(&m, 2 | 32, 0);                                   /* 6: another part is announced, but none comes */
    composite(&m, 2 | 8, 0);                                    /* 7: a scale is announced, but none comes */
    composite(&m, 2 | 128, 0);                                  /* 8: a matrix */
    static const bool expected[] = {true, true, true, false, false, false, false, false, false};
    for (int i = 0; i < m.n; i++) {
        if (sound(&m, i, 0) != expected[i]) {
            fail_msg("glyph %d", i);
        }
    }
}

/* Glyph i is made of i - 1: in the end too deep. Then one of ten parts, each of ten, each of ten. */
static void nesting_is_bounded(void **state)
{
    (void)state;
    maker m = {0};
    simple(&m, 1, (const unsigned[]){2}, "\x37\x37\x37", 3, 6);
    for (unsigned i = 0; i < 10; i++) {
        composite(&m, 2, i);
    }
    assert_true(sound(&m, 6, 0));
    assert_false(sound(&m, 7, 0));
    assert_false(sound(&m, 10, 0));
    m = (maker){0};
    simple(&m, 1, (const unsigned[]){2}, "\x37\x37\x37", 3, 6);
    for (unsigned level = 0; level < 3; level++) {
        head(&m, 0xffff);
        for (int i = 0; i < 10; i++) {
            part(&m, i < 9 ? 2 | 32 : 2, level);
        }
        finish_glyph(&m);
    }
    assert_true(sound(&m, 2, 0));
    assert_false(sound(&m, 3, 0));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(simple_outlines),
        cmocka_unit_test(outlines_of_parts),
        cmocka_unit_test(nesting_is_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

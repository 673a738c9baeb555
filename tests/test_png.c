/* Pictures as PNG: what is written is what was drawn, and a failure costs nothing that was there. */
#include "support/check.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define STBI_ONLY_PNG
#define STBI_NO_STDIO
#define STB_IMAGE_IMPLEMENTATION
#include <stb_image.h>

#include "attn/heatmap.h"
#include "attn/random.h"
#include "support/disk.h"
#include "support/files.h"
#include "support/picture.h"

static attn_image noise(int width, int height)
{
    attn_image image = {.width = width, .height = height};
    size_t n = 3 * (size_t)width * (size_t)height;
    image.rgb = malloc(n);
    assert_non_null(image.rgb);
    for (size_t i = 0; i < n; i++) {
        image.rgb[i] = (uint8_t)attn_random_below(7, 1, i, 256);
    }
    return image;
}

static uint32_t be32(const uint8_t *p)
{
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static uint32_t adler(const uint8_t *p, size_t n)
{
    uint32_t a = 1, b = 0;
    while (n-- > 0) {
        a = (a + *p++) % 65521;
        b = (b + a) % 65521;
    }
    return b << 16 | a;
}

/* Three chunks with right check sums, nothing after them; the data inflate to the right number of bytes, with filters 0 to 4. */
static void strictly_valid(const uint8_t *png, size_t size, int width, int height)
{
    static const char *const names[] = {"IHDR", "IDAT", "IEND"};
    assert_memory_equal(png, "\x89PNG\r\n\x1a\n", 8);
    size_t at = 8;
    for (int i = 0; i < 3; i++) {
        assert_true(at + 12 <= size);
        size_t n = be32(png + at);
        assert_memory_equal(png + at + 4, names[i], 4);
        assert_true(at + 12 + n <= size);
        assert_int_equal(be32(png + at + 8 + n), crc(png + at + 4, n + 4));
        if (i == 0) {
            assert_int_equal(n, 13);
            assert_int_equal(be32(png + at + 8), width);
            assert_int_equal(be32(png + at + 12), height);
            assert_memory_equal(png + at + 16, "\x08\x02\0\0\0", 5); /* 8 bits, RGB, not interlaced */
        } else if (i == 1) {
            int bytes = 0, row = 3 * width + 1;
            char *raw = stbi_zlib_decode_malloc((const char *)png + at + 8, (int)n, &bytes);
            assert_non_null(raw);
            assert_int_equal(bytes, row * height);
            assert_int_equal(be32(png + at + 8 + n - 4), adler((const uint8_t *)raw, (size_t)bytes));
            for (int y = 0; y < height; y++) {
                assert_in_range(raw[(size_t)row * (size_t)y], 0, 4);
            }
            free(raw);
        }
        at += 12 + n;
    }
    assert_int_equal(at, size);
}

static void survives(attn_image image)
{
    uint8_t *png;
    size_t size;
    attn_error error;
    assert_int_equal(attn_png_encode(&image, &png, &size, NULL, &error), ATTN_OK);
    strictly_valid(png, size, image.width, image.height);
    int width, height, channels;
    stbi_uc *back = stbi_load_from_memory(png, (int)size, &width, &height, &channels, 0);
    assert_non_null(back);
    assert_int_equal(width, image.width);
    assert_int_equal(height, image.height);
    assert_int_equal(channels, 3);
    assert_memory_equal(back, image.rgb, 3 * (size_t)width * (size_t)height);
    stbi_image_free(back);
    free(png);
}

static void pixels_survive(void **state)
{
    (void)state;
    const int sizes[][2] = {{1, 1}, {1, 300}, {300, 1}, {3, 2}, {257, 129}, {1024, 600}, {2048, 2048}}; /* the last: field report B101 */
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        attn_image image = noise(sizes[i][0], sizes[i][1]);
        survives(image);
        memset(image.rgb, 0x5a, 3 * (size_t)image.width * (size_t)image.height);
        survives(image);
        attn_image_free(&image);
    }
}

static void what_cannot_be_a_picture_is_refused(void **state)
{
    (void)state;
    uint8_t pixel[3] = {0}, *png;
    size_t size;
    attn_error error;
    attn_image image = {.width = 30000, .height = 20000, .rgb = pixel};
    assert_int_equal(attn_png_encode(&image, &png, &size, NULL, &error), ATTN_ESHAPE);
    assert_contains(error.message, "30000 x 20000");
    assert_null(png);
    image = (attn_image){.width = 0, .height = 1, .rgb = pixel};
    assert_int_equal(attn_png_encode(&image, &png, &size, NULL, &error), ATTN_EINVAL);
    image = (attn_image){.width = 1, .height = 1};
    assert_int_equal(attn_png_encode(&image, &png, &size, NULL, &error), ATTN_EINVAL);
    attn_image_free(NULL);
    attn_image_free(&image);
}

static void encoding_without_memory_fails_cleanly(void **state)
{
    (void)state;
    attn_image image = noise(600, 400);
    attn_status status = ATTN_ENOMEM;
    long k = 0;
    while (status == ATTN_ENOMEM) {
        counting_allocator c;
        counting_init(&c, ++k);
        uint8_t *png;
        size_t size;
        attn_error error;
        status = attn_png_encode(&image, &png, &size, &c.value, &error);
        if (status == ATTN_ENOMEM) {
            assert_null(png);
            assert_contains(error.message, "out of memory");
        } else {
            c.value.free(c.value.ctx, png);
        }
        assert_int_equal(c.live, 0);
    }
    assert_int_equal(status, ATTN_OK);
    assert_true(k > 3);
    attn_image_free(&image);
}

static void writing_without_memory_keeps_the_old_file(void **state)
{
    (void)state;
    fresh_folder("png_memory");
    attn_image image = noise(40, 40);
    put_text("png_memory/a.png", "old");
    attn_status status = ATTN_ENOMEM;
    for (long k = 1; status == ATTN_ENOMEM; k++) {
        counting_allocator c;
        counting_init(&c, k);
        image.allocator = c.value;
        status = attn_png_write("png_memory/a.png", &image, NULL);
        size_t size;
        char *bytes = take_file("png_memory/a.png", &size);
        assert_true(status == ATTN_OK ? size > 100 : size == 3);
        free(bytes);
        assert_int_equal(folder_entries("png_memory"), 1);
        assert_int_equal(c.live, 0);
    }
    assert_int_equal(status, ATTN_OK);
    image.allocator = (attn_allocator){0};
    attn_image_free(&image);
}

static void file_holds(const char *path, const attn_image *image)
{
    size_t size;
    char *bytes = take_file(path, &size);
    strictly_valid((const uint8_t *)bytes, size, image->width, image->height);
    free(bytes);
}

static void any_utf8_path_will_do(void **state)
{
    (void)state;
    attn_image image = noise(5, 4);
    attn_error error;
    fresh_folder("热图");
    assert_int_equal(attn_png_write("热图/注意力.png", &image, &error), ATTN_OK);
    file_holds("热图/注意力.png", &image);
    char path[400] = "热图/";
    for (int i = 0; i < 30; i++) {
        strcat(path, "层");
    }
    assert_true(mkdir(path, 0777) == 0 || access(path, F_OK) == 0);
    strcat(path, "/");
    while (strlen(path) < 300) {
        strcat(path, "图");
    }
    assert_int_equal(attn_png_write(path, &image, &error), ATTN_OK);
    file_holds(path, &image);
    assert_int_equal(unlink(path), 0);
    *strrchr(path, '/') = '\0';
    assert_int_equal(rmdir(path), 0);
    attn_image_free(&image);
}

static void a_full_disk_costs_nothing(void **state)
{
    (void)state;
    attn_image image = noise(100, 100);
    attn_error error;
    if (access("/dev/full", W_OK) == 0) {
        assert_int_equal(attn_png_write("/dev/full", &image, &error), ATTN_EIO);
        assert_contains(error.message, "/dev/full: ");
    }
    fresh_folder("png_full");
    put_text("png_full/a.png", "old");
    limit_file_size(4096);
    attn_status status = attn_png_write("png_full/a.png", &image, &error);
    limit_file_size(0);
    assert_int_equal(status, ATTN_EIO);
    assert_contains(error.message, "png_full/a.png: cannot write: ");
    size_t size;
    char *bytes = take_file("png_full/a.png", &size);
    assert_string_equal(bytes, "old");
    free(bytes);
    assert_int_equal(folder_entries("png_full"), 1);
    assert_int_equal(attn_png_write("no/such/folder/a.png", &image, &error), ATTN_EIO);
    assert_contains(error.message, "no/such/folder/a.png: ");
    attn_image_free(&image);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pixels_survive),
        cmocka_unit_test(what_cannot_be_a_picture_is_refused),
        cmocka_unit_test(encoding_without_memory_fails_cleanly),
        cmocka_unit_test(writing_without_memory_keeps_the_old_file),
        cmocka_unit_test(any_utf8_path_will_do),
        cmocka_unit_test(a_full_disk_costs_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

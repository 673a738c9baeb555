/* Memory that runs out in every public function of pictures and of their pages. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/disk.h"
#include "support/faults.h"

#include "attn/page.h"

#define FOLDER "test_faults_pictures.d"
static const char path[] = FOLDER "/out";

static const double values[] = {0.5, 0.25, 0.25, 0.125};
static const char *const labels[] = {"苹果", "é"};
static attn_heatmap_panel panel;
static attn_heatmap_config config;

static void begin_plain(void)
{
    panel = (attn_heatmap_panel){.title = "head", .rows = 2, .columns = 2, .values = values, .row_labels = labels, .column_labels = labels};
    config = (attn_heatmap_config){.panels = &panel, .n_panels = 1, .font = "/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf", .cell = 20};
}

static attn_status draw(digest *d, attn_error *error)
{
    attn_image image;
    attn_status status = attn_heatmap_draw(&config, &image, NULL, &faulty, error);
    if (status == ATTN_OK) {
        digest_bytes(d, image.rgb, 3 * (size_t)image.width * (size_t)image.height);
        digest_text(d, image.notes);
        attn_image_free(&image);
    }
    return status;
}

static attn_image image;

static void begin_image(void)
{
    attn_error error = {.message = ""};
    begin_plain();
    assert_int_equal(attn_heatmap_draw(&config, &image, NULL, &faulty, &error), ATTN_OK);
}

static void end_image(void)
{
    attn_image_free(&image);
}

static attn_status encode(digest *d, attn_error *error)
{
    uint8_t *bytes;
    size_t size;
    attn_status status = attn_png_encode(&image, &bytes, &size, &faulty, error);
    if (status == ATTN_OK) {
        digest_bytes(d, bytes, size);
        faulty.free(faulty.ctx, bytes);
        status = attn_png_write(path, &image, error);
    }
    if (status == ATTN_OK) {
        digest_file(d, path);
    }
    return status;
}

static attn_status digest_document(digest *d, attn_document *document, attn_status status)
{
    if (status == ATTN_OK) {
        digest_text(d, document->text);
        attn_document_free(document);
    }
    return status;
}

static attn_status svg(digest *d, attn_error *error)
{
    attn_document document;
    return digest_document(d, &document, attn_heatmap_svg(&config, &document, NULL, &faulty, error));
}

static attn_status terminal(digest *d, attn_error *error)
{
    attn_document lines;
    return digest_document(d, &lines, attn_heatmap_terminal(&config, (attn_terminal){ATTN_COLORS_24BIT, 80}, &lines, &faulty, error));
}

static attn_status export(digest *d, attn_error *error)
{
    attn_status status = ATTN_OK;
    for (attn_export_format format = ATTN_EXPORT_NPY; format <= ATTN_EXPORT_JSON && status == ATTN_OK; format++) {
        status = attn_heatmap_export(path, format, &panel, 1, &faulty, error);
        if (status == ATTN_OK) {
            digest_file(d, path);
        }
    }
    return status;
}

static attn_status page(digest *d, attn_error *error)
{
    attn_page p;
    attn_status status = attn_heatmap_page(&(attn_heatmap_page_config){.look = config}, &p, &faulty, error);
    status = status == ATTN_OK ? attn_page_write(path, &p, error) : status;
    attn_page_free(&p);
    if (status == ATTN_OK) {
        digest_file(d, path);
    }
    return status;
}

static const fault_case cases[] = {
    {"draw", begin_plain, draw, NULL},         {"PNG", begin_image, encode, end_image}, {"SVG", begin_plain, svg, NULL},
    {"terminal", begin_plain, terminal, NULL}, {"export", begin_plain, export, NULL},   {"page", begin_plain, page, NULL},
};

/* With a font that is named: fontconfig crashes by itself when its memory runs out (version 2.14.1, in its FcRuleDestroy). */
static void memory_may_run_out_anywhere(void **state)
{
    (void)state;
    fresh_folder(FOLDER);
    faults_sweep(cases, sizeof cases / sizeof cases[0], 300);
}

/* ---- what needs no memory ---- */

static void look(void)
{
    uint8_t rgb[3];
    char sequence[ATTN_SEQUENCE_SIZE];
    for (int i = 0; i < attn_cmap_count(); i++) {
        assert_int_equal(attn_cmap_find(attn_cmap_name(i)), i);
        attn_cmap_color(i, 0.5, rgb);
        assert_true(attn_cmap_diverges(i) || attn_luminance(rgb) < 0.9);
        assert_true(attn_black_text(rgb) || attn_luminance(rgb) < 0.2);
    }
    assert_string_equal(attn_terminal_ground(ATTN_COLORS_NONE, rgb, sequence), "");
}

static void what_needs_no_memory(void **state)
{
    (void)state;
    faults_none(look);
    assert_int_equal(faults_live(), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memory_may_run_out_anywhere),
        cmocka_unit_test(what_needs_no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

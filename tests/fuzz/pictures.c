/* Readers of what is drawn: matrices, labels, fonts. */
#include "fuzz.h"

#include "attn/page.h"
#include "io/io.h"

/* ---- matrices ---- */

/* All values are there, and so are all labels. Small ones are drawn. */
static void use_matrix(const attn_matrix *m, const attn_allocator *a)
{
    const char *const *labels[2] = {m->row_labels, m->column_labels};
    const int64_t counts[2] = {m->rows, m->columns};
    volatile double sum = 0; /* every value is read */
    PROMISE(m->rows > 0 && m->columns > 0);
    for (int64_t i = 0; i < m->rows * m->columns; i++) {
        sum = sum + m->values[i];
    }
    (void)sum;
    for (int side = 0; side < 2; side++) {
        for (int64_t i = 0; labels[side] != NULL && i < counts[side]; i++) {
            PROMISE(attn_utf8_fault(labels[side][i], strlen(labels[side][i])) < 0);
        }
    }
    if (m->rows <= 40 && m->columns <= 40) {
        attn_heatmap_panel panel = {.rows = (int)m->rows, .columns = (int)m->columns, .values = m->values};
        panel.row_labels = m->row_labels;
        panel.column_labels = m->column_labels;
        attn_heatmap_config config = {.panels = &panel, .n_panels = 1};
        attn_document lines;
        if (attn_heatmap_terminal(&config, (attn_terminal){ATTN_COLORS_NONE, 80}, &lines, a, &fuzz_error) == ATTN_OK) {
            attn_document_free(&lines);
        }
    }
}

/* As one format, and as what the content looks like. */
static void parse_as(attn_status (*parse)(const attn__input *in, attn_matrices *m), const uint8_t *data, size_t size,
                     const attn_allocator *a)
{
    attn_matrices m = {.allocator = *a};
    attn_matrix one;
    const attn__input in = {(const char *)data, size, "fuzz", a, &fuzz_error};
    attn_status status = parse(&in, &m);
    for (int64_t i = 0; i < m.count && status == ATTN_OK; i++) {
        use_matrix(&m.matrix[i], a);
    }
    attn_matrices_free(&m);
    if (attn_matrix_parse(data, size, "fuzz", &one, a, &fuzz_error) == ATTN_OK) {
        use_matrix(&one, a);
        attn_matrix_free(&one);
    }
}

void fuzz_matrix_npy(const uint8_t *data, size_t size, const attn_allocator *a)
{
    parse_as(attn__parse_npy, data, size, a);
}

void fuzz_matrix_json(const uint8_t *data, size_t size, const attn_allocator *a)
{
    parse_as(attn__parse_json, data, size, a);
}

static void read_labels(const uint8_t *data, size_t size, const attn_allocator *a)
{
    fuzz_file f = file_of(data, size);
    attn_labels l;
    if (attn_labels_read(f.path, &l, a, &fuzz_error) == ATTN_OK) {
        for (int64_t i = 0; i < l.count; i++) {
            PROMISE(attn_utf8_fault(l.text[i], strlen(l.text[i])) < 0 && strchr(l.text[i], '\n') == NULL);
        }
        attn_labels_free(&l);
    }
    close_file(&f);
}

void fuzz_matrix_tsv(const uint8_t *data, size_t size, const attn_allocator *a)
{
    parse_as(attn__parse_tsv, data, size, a);
    read_labels(data, size, a);
}

/* ---- fonts ---- */

/* The machine has no fonts, so that pictures are quick and the same everywhere. */
static void without_fonts(void)
{
    static char path[32];
    if (path[0] == 0) {
        static const char nothing[] = "<fontconfig/>";
        memcpy(path, file_of((const uint8_t *)nothing, sizeof nothing - 1).path, sizeof path);
        setenv("FONTCONFIG_FILE", path, 1);
    }
}

/* A font draws its letters, or is replaced. */
void fuzz_font(const uint8_t *data, size_t size, const attn_allocator *a)
{
    static const double value = 0.5;
    static const char *const label = "Ab\xe8\x8b\xb9";
    without_fonts();
    fuzz_file f = file_of(data, size);
    attn_heatmap_panel panel = {.rows = 1, .columns = 1, .values = &value, .row_labels = &label, .column_labels = &label};
    attn_heatmap_config config = {.panels = &panel, .n_panels = 1, .font = f.path, .row_title = "", .column_title = "", .bar_title = ""};
    attn_image image;
    PROMISE(attn_heatmap_draw(&config, &image, NULL, a, &fuzz_error) == ATTN_OK);
    attn_image_free(&image);
    close_file(&f);
}

/* A label of any text in one kind of picture, drawn without any font. */
static void draw(const attn_heatmap_config *config, size_t kind, const attn_allocator *a)
{
    attn_heatmap_page_config whole = {.look = *config};
    attn_image image;
    attn_document document;
    attn_page page;
    if (kind == 0 && attn_heatmap_draw(config, &image, NULL, a, &fuzz_error) == ATTN_OK) {
        attn_image_free(&image);
    } else if (kind == 1 && attn_heatmap_svg(config, &document, NULL, a, &fuzz_error) == ATTN_OK) {
        PROMISE(strlen(document.text) == document.size && attn_utf8_fault(document.text, document.size) < 0);
        attn_document_free(&document);
    } else if (kind == 2 && attn_heatmap_terminal(config, (attn_terminal){ATTN_COLORS_24BIT, 80}, &document, a, &fuzz_error) == ATTN_OK) {
        PROMISE(attn_utf8_fault(document.text, document.size) < 0);
        attn_document_free(&document);
    } else if (kind == 3 && attn_heatmap_page(&whole, &page, a, &fuzz_error) == ATTN_OK) {
        PROMISE(attn_utf8_fault(page.bytes, page.size) < 0);
        attn_page_free(&page);
    }
}

/* The kind is that of the first byte, "0" to "3". */
void fuzz_label(const uint8_t *data, size_t size, const attn_allocator *a)
{
    without_fonts();
    char *text = text_of(data, size);
    const char *line = size > 0 ? text + 1 : text;
    double value = 0.5;
    attn_heatmap_panel panel = {.title = line, .rows = 1, .columns = 1, .values = &value, .row_labels = &line, .column_labels = &line};
    draw(&(attn_heatmap_config){.panels = &panel, .n_panels = 1, .cell = 20}, size > 0 ? data[0] % 4U : 0, a);
    free(text);
}

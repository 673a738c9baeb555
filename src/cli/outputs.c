/* What the extension of an output's name means: which function writes it. A new format is a row here. */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "heatmap.h"
#include "pages.h"

void print_notes(const char *notes, bool quiet)
{
    for (const char *line = notes; *line != '\0';) {
        size_t n = strcspn(line, "\n");
        note(quiet, "%.*s", (int)n, line);
        line += n + (line[n] == '\n');
    }
}

/* ---- pictures: a broken font that was asked for costs its letters and the exit status, not the picture ---- */

static int write_png(const char *path, const drawing *d, bool quiet)
{
    attn_error error;
    attn_image image;
    if (attn_heatmap_draw(&d->look, &image, NULL, NULL, &error) != ATTN_OK) {
        return fail("%s", error.message);
    }
    print_notes(image.notes, quiet && !image.font_failed);
    int code = attn_png_write(path, &image, &error) == ATTN_OK ? DONE : fail("%s", error.message);
    code = image.font_failed ? FAILED : code;
    attn_image_free(&image);
    return code;
}

static int write_svg(const char *path, const drawing *d, bool quiet)
{
    attn_error error;
    attn_document svg;
    if (attn_heatmap_svg(&d->look, &svg, NULL, NULL, &error) != ATTN_OK) {
        return fail("%s", error.message);
    }
    print_notes(svg.notes, quiet && !svg.font_failed);
    int code = attn_file_write(path, svg.text, svg.size, NULL, &error) == ATTN_OK ? DONE : fail("%s", error.message);
    code = svg.font_failed ? FAILED : code;
    attn_document_free(&svg);
    return code;
}

static int write_html(const char *path, const drawing *d, bool quiet)
{
    attn_error error;
    attn_page page;
    return attn_heatmap_page(d, &page, NULL, &error) == ATTN_OK ? page_write(path, &page, quiet) : fail("%s", error.message);
}

const output_format picture_formats[] = {
    {".png", write_png, false},
    {".svg", write_svg, false},
    {".html", write_html, true},
    {NULL, NULL, false},
};

/* ---- weights ---- */

static int export(const char *path, attn_export_format format, const drawing *d)
{
    attn_error error;
    return attn_heatmap_export(path, format, d->look.panels, d->look.n_panels, NULL, &error) == ATTN_OK ? DONE : fail("%s", error.message);
}

static int write_npy(const char *path, const drawing *d, bool quiet)
{
    (void)quiet;
    return export(path, ATTN_EXPORT_NPY, d);
}

static int write_tsv(const char *path, const drawing *d, bool quiet)
{
    (void)quiet;
    return export(path, ATTN_EXPORT_TSV, d);
}

static int write_json(const char *path, const drawing *d, bool quiet)
{
    (void)quiet;
    return export(path, ATTN_EXPORT_JSON, d);
}

const output_format json_format = {".json", write_json, false};
const output_format weights_formats[] = {
    {".npy", write_npy, false},
    {".tsv", write_tsv, false},
    {".json", write_json, false},
    {NULL, NULL, false},
};

/* ---- finding a format ---- */

static const char *extension(const char *path)
{
    const char *slash = strrchr(path, '/'), *name = slash != NULL ? slash + 1 : path, *dot = strrchr(name, '.');
    return dot != NULL && dot != name ? dot : "";
}

const output_format *format_of(const char *path, const output_format *formats)
{
    const char *wanted = extension(path);
    if (wanted[0] == '\0') {
        return formats;
    }
    while (formats->extension != NULL && strcasecmp(formats->extension, wanted) != 0) {
        formats++;
    }
    return formats->extension != NULL ? formats : NULL;
}

const char *format_names(const output_format *formats, char *names, size_t room)
{
    size_t used = 0;
    names[0] = '\0';
    for (int i = 0; formats[i].extension != NULL && used < room; i++) {
        const char *before = i == 0 ? "" : formats[i + 1].extension != NULL ? ", " : " or ";
        used += (size_t)snprintf(names + used, room - used, "%s%s", before, formats[i].extension);
    }
    return names;
}

int output_write(const char *path, const output_format *formats, const drawing *d, bool quiet)
{
    const output_format *format = format_of(path, formats);
    return format != NULL ? format->write(path, d, quiet) : fail("%s: no format has this extension", path);
}

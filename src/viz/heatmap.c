/* From the caller's configuration to the picture: plot, plan, draw. */
#include <stdio.h>
#include <string.h>

#include "viz/viz.h"

/* What one call works on. */
typedef struct job {
    attn__arena memory;
    attn__fonts fonts;
    attn__plot plot;
    attn__plan plan;
    attn_error *error;
} job;

/* ---- the size of the picture ---- */

static bool would_fit(const attn__plot *plot, int cell, int scale, attn_annotate annotate)
{
    attn__plot trial = *plot;
    attn__plan plan;
    trial.annotate = annotate;
    trial.cell = cell;
    trial.scale = scale;
    attn__plan_make(&trial, &plan);
    return attn__plan_bytes(&plan) <= ATTN__MAX_PICTURE;
}

/* What would be small enough: smaller cells, else a smaller scale, else numbers that need not fit, else cells whose size is open, so that
 * they may show blocks. */
static void advise(const attn__plot *plot, int cell, char *advice, size_t room)
{
    const attn_annotate given = plot->annotate;
    int low = 0, scale = plot->scale;
    for (int high = cell; low + 1 < high;) {
        int middle = low + (high - low) / 2;
        *(would_fit(plot, middle, scale, given) ? &low : &high) = middle;
    }
    while (low == 0 && scale > 1 && !would_fit(plot, plot->cell, --scale, given)) {
    }
    if (low > 0) {
        (void)snprintf(advice, room, "cells of %d pixel%s would do", low, low == 1 ? "" : "s");
    } else if (scale < plot->scale && would_fit(plot, plot->cell, scale, given)) {
        (void)snprintf(advice, room, "a scale of %d would do", scale);
    } else if (would_fit(plot, plot->cell, plot->scale, ATTN_ANNOTATE_AUTO)) {
        (void)snprintf(advice, room, "numbers only where they fit would do");
    } else {
        bool open = would_fit(plot, 0, 1, ATTN_ANNOTATE_AUTO);
        (void)snprintf(advice, room, "%s%s would do", open ? "scale 1 and cells without a given size" : "fewer panels",
                       open && given == ATTN_ANNOTATE_ALL ? ", numbers only where they fit" : "");
    }
}

static attn_status too_large(const attn__plot *plot, const attn__plan *plan, attn_error *error)
{
    char advice[100];
    advise(plot, plan->layout.block > 1 ? 1 : plan->layout.cell_height / plot->scale, advice, sizeof advice);
    return attn__fail(error, ATTN_ESHAPE, "heatmap: %lld x %lld pixels are too many for one picture; %s", (long long)plan->width,
                      (long long)plan->height, advice);
}

/* The plan, and once more if the picture does not show everything: then it says so. */
static attn_status make_plan(job *j)
{
    attn_status status = ATTN_OK;
    char caption[100];
    attn__plan_make(&j->plot, &j->plan);
    int block = j->plan.layout.block, step = j->plan.layout.label_step * block;
    if (block > 1) {
        (void)snprintf(caption, sizeof caption, "each %s the %s of %d x %d values", j->plan.layout.cell_width == 1 ? "pixel is" : "cell is",
                       j->plot.diverging ? "farthest from 0" : "maximum", block, block);
        status = attn__plot_caption(&j->plot, &j->fonts, ATTN__SAYS_BLOCK, caption, j->error);
    }
    if (step > 1 && status == ATTN_OK) {
        (void)snprintf(caption, sizeof caption, "one label in %d is shown", step);
        status = attn__plot_caption(&j->plot, &j->fonts, ATTN__SAYS_STEP, caption, j->error);
    }
    if (status == ATTN_OK && step > 1) {
        attn__plan_make(&j->plot, &j->plan);
    }
    return status != ATTN_OK ? status : attn__plan_bytes(&j->plan) <= ATTN__MAX_PICTURE ? ATTN_OK : too_large(&j->plot, &j->plan, j->error);
}

static attn_status open_job(job *j, const attn_heatmap_config *config, const attn_allocator *allocator, attn_error *error)
{
    *j = (job){.error = error};
    attn__arena_init(&j->memory, allocator);
    attn_status status = attn__fonts_init(&j->fonts, &j->memory, allocator, error);
    if (status == ATTN_OK) {
        status = attn__plot_read(&j->plot, config, &j->fonts, error);
    }
    if (status == ATTN_OK) {
        status = attn__plot_measure(&j->plot, config, &j->fonts, error);
    }
    return status == ATTN_OK ? make_plan(j) : status;
}

static void close_job(job *j)
{
    attn__fonts_free(&j->fonts);
    attn__arena_free(&j->memory);
}

/* ---- public ---- */

static attn_status paint(job *j, attn_image *image, const attn_allocator *allocator)
{
    const attn_heatmap_layout *l = &j->plan.layout;
    size_t bytes = (size_t)l->width * (size_t)l->height * 3;
    *image = (attn_image){.width = l->width, .height = l->height, .allocator = allocator != NULL ? *allocator : attn__malloc};
    image->rgb = attn__calloc(allocator, bytes, 1);
    if (image->rgb != NULL) {
        memset(image->rgb, 255, bytes);
        attn__draw_pixels(&j->plot, &j->plan, &j->fonts, image);
    }
    if (image->rgb == NULL || j->fonts.out_of_memory) {
        attn_image_free(image);
        return attn__fail(j->error, ATTN_ENOMEM, "heatmap: out of memory for %d x %d pixels", l->width, l->height);
    }
    image->font_failed = j->fonts.remark[0] != '\0';
    attn__notes(&j->plot, &j->plan, &j->fonts, true, image->notes);
    return ATTN_OK;
}

attn_status attn_heatmap_draw(const attn_heatmap_config *config, attn_image *image, attn_heatmap_layout *layout,
                              const attn_allocator *allocator, attn_error *error)
{
    job j;
    *image = (attn_image){0};
    attn_status status = open_job(&j, config, allocator, error);
    if (status == ATTN_OK) {
        status = paint(&j, image, allocator);
    }
    if (status == ATTN_OK && layout != NULL) {
        *layout = j.plan.layout;
    }
    close_job(&j);
    return status;
}

attn_status attn_heatmap_svg(const attn_heatmap_config *config, attn_document *svg, attn_heatmap_layout *layout,
                             const attn_allocator *allocator, attn_error *error)
{
    job j;
    *svg = (attn_document){0};
    attn_status status = open_job(&j, config, allocator, error);
    if (status == ATTN_OK) {
        status = attn__draw_svg(&j.plot, &j.plan, &j.fonts, svg, error);
    }
    if (status == ATTN_OK) {
        svg->font_failed = j.fonts.remark[0] != '\0';
        attn__notes(&j.plot, &j.plan, &j.fonts, false, svg->notes);
    }
    if (status == ATTN_OK && layout != NULL) {
        *layout = j.plan.layout;
    }
    close_job(&j);
    return status;
}

void attn_image_free(attn_image *image)
{
    if (image == NULL || image->rgb == NULL) {
        return;
    }
    attn__free(image->allocator.free != NULL ? &image->allocator : NULL, image->rgb);
    *image = (attn_image){0};
}

/* The pages of attn explain and attn report: their data. What is done with them is in report.js, mix.js and steps.js. */
#include <string.h>

#include "attn/report.h"
#include "html/html.h"

static const attn__asset *const styles[] = {&attn__heatmap_css, &attn__steps_css, &attn__report_css, NULL};
static const attn__asset *const scripts[] = {&attn__matrix_js, &attn__panel_js, &attn__grid_js,   &attn__canvas_js, &attn__model_js,
                                             &attn__steps_js,  &attn__mix_js,   &attn__tables_js, &attn__report_js, NULL};

/* ---- the configuration ---- */

static attn_status check_sentence(const attn_report_config *c, int i, attn_error *error)
{
    const attn_report_sentence *s = &c->sentences[i];
    if (s->target < 0 || s->target >= s->length) {
        return attn__fail(error, ATTN_EINVAL, "sentence %d: target %d, expected 0..%d", i + 1, s->target, s->length - 1);
    }
    return ATTN_OK;
}

static attn_status check(const attn_report_config *c, attn_error *error)
{
    if (c->model == NULL || c->sentences == NULL || c->n_sentences < 1) {
        return attn__fail(error, ATTN_EINVAL, "page: a model and %d sentences, expected a model and at least 1", c->n_sentences);
    }
    attn_word_sense_config m = attn_word_sense_get_config(c->model);
    if (c->head < 0 || c->head >= m.heads || c->member < 0 || c->member >= m.seeds) {
        return attn__fail(error, ATTN_EINVAL, "page: head %d of model %d, expected 0..%d of 0..%d", c->head, c->member, m.heads - 1,
                          m.seeds - 1);
    }
    attn_status status = ATTN_OK;
    for (int i = 0; i < c->n_sentences && status == ATTN_OK; i++) {
        status = check_sentence(c, i, error);
    }
    return status;
}

/* ---- data ---- */

/* Who attends to whom: a packed (L,L) a head. */
static attn_status write_table(attn__html *h, attn_word_sense *m, const attn_report_sentence *s, attn_error *error)
{
    int heads = attn_word_sense_get_config(m).heads;
    size_t cells = (size_t)s->length * (size_t)s->length;
    double *weights = cells <= SIZE_MAX / (size_t)heads ? attn__calloc(h->allocator, cells * (size_t)heads, sizeof *weights) : NULL;
    attn_status status = weights != NULL ? attn_word_sense_attention(m, s->tokens, s->length, weights, error)
                                         : attn__fail(error, ATTN_ENOMEM, "page: out of memory");
    attn__data_key(h, "table");
    attn__data_open(h, '[');
    for (int i = 0; i < heads && status == ATTN_OK; i++) {
        attn__data_packed(h, weights + (size_t)i * cells, (int64_t)cells, ATTN__F32);
    }
    attn__data_close(h, ']');
    attn__free(h->allocator, weights);
    return status;
}

/* What one model makes of a sentence. */
static attn_status write_run(attn__html *h, attn_word_sense *m, const attn_report_config *c, int i, attn_error *error)
{
    const attn_report_sentence *s = &c->sentences[i];
    attn_explanation e;
    attn_error why = {.status = ATTN_OK};
    attn_status status = attn_word_sense_explain(m, s->tokens, s->length, s->target, &e, &why);
    if (status != ATTN_OK) {
        return c->n_sentences > 1 ? attn__fail(error, status, "sentence %d: %s", i + 1, why.message)
                                  : attn__fail(error, status, "%s", why.message);
    }
    attn__data_open(h, '{');
    attn__data_explanation(h, &e);
    if (!c->steps_only) {
        status = write_table(h, m, s, error);
    }
    attn__data_close(h, '}');
    return status;
}

static attn_status write_sentence(attn__html *h, const attn_report_config *c, int i, attn_error *error)
{
    const attn_report_sentence *s = &c->sentences[i];
    attn__data_open(h, '{');
    attn__data_key(h, "words");
    attn__data_strings(h, s->tokens, s->length);
    attn__data_key(h, "target");
    attn__data_number(h, s->target);
    attn__data_key(h, "runs");
    attn__data_open(h, '[');
    attn_status status = write_run(h, c->model, c, i, error);
    if (status == ATTN_OK && c->before != NULL) {
        status = write_run(h, c->before, c, i, error);
    }
    attn__data_close(h, ']');
    attn__data_close(h, '}');
    return status;
}

static attn_status write_all(attn__html *h, const attn_report_config *c, attn_error *error)
{
    attn_status status = ATTN_OK;
    attn__data_open(h, '{');
    attn__data_key(h, "title");
    attn__data_string(h, c->title);
    attn__data_key(h, "stepsOnly");
    attn__data_bool(h, c->steps_only);
    attn__data_key(h, "beforeName");
    attn__data_string(h, c->before_name);
    attn__data_key(h, "head");
    attn__data_number(h, c->head);
    attn__data_key(h, "member");
    attn__data_number(h, c->member);
    attn__data_key(h, "colors");
    attn__data_colors(h, "blues");
    attn__data_key(h, "differenceColors");
    attn__data_colors(h, "blue_red");
    attn__data_key(h, "sentences");
    attn__data_open(h, '[');
    for (int i = 0; i < c->n_sentences && status == ATTN_OK; i++) {
        status = write_sentence(h, c, i, error);
    }
    attn__data_close(h, ']');
    attn__data_close(h, '}');
    return status;
}

attn_status attn_report_page(const attn_report_config *config, attn_page *page, const attn_allocator *allocator, attn_error *error)
{
    *page = (attn_page){0};
    attn_status status = check(config, error);
    if (status != ATTN_OK) {
        return status;
    }
    attn__scripts_seen seen = {0};
    for (int i = 0; i < config->n_sentences; i++) {
        attn__scripts_see(&seen, config->sentences[i].tokens, config->sentences[i].length);
    }
    attn__page_plan plan = {.language = attn__language(config->language, seen), .styles = styles, .scripts = scripts};
    const attn_report_sentence *first = &config->sentences[0];
    plan.title = config->title != NULL ? config->title : first->tokens[first->target];
    attn__html h;
    attn__html_init(&h, allocator, error);
    attn__page_begin(&h, &plan);
    status = write_all(&h, config, error);
    h.status = h.status == ATTN_OK ? status : h.status; /* the message is there */
    return attn__page_end(&h, &plan, page);
}

/* A training run as a film: pictures of a fixed number, and the page that shows them. What is done with them there is in film.js. */
#include <math.h>
#include <string.h>

#include "attn/report.h"
#include "html/html.h"
#include "word_sense/model.h"

#define SAMPLE 200 /* sentences whose accuracy is measured, at most */
#define MOST   240 /* pictures, unless the caller says otherwise */

static const attn__asset *const styles[] = {&attn__steps_css, &attn__report_css, &attn__film_css, NULL};
static const attn__asset *const scripts[] = {&attn__film_js, NULL};

/* How well the model does. */
typedef struct moment {
    double epoch, loss, accuracy, dev_micro, dev_macro; /* NaN: not known */
} moment;

/* What is filmed of one sentence: room for `most` pictures. */
typedef struct clip {
    int n, begin, heads, n_senses;
    const char **senses;   /* (n_senses), owned by the model */
    double *weights;       /* (pictures, heads, n) */
    double *probabilities; /* (pictures, n_senses) */
} clip;

struct attn_film {
    attn_allocator allocator;
    attn_film_config config;
    attn_corpus *sample; /* NULL: none */
    clip *clip;          /* (n_sentences) */
    moment *moment;
    int64_t seen; /* pictures taken, kept or not */
    int64_t step; /* every step-th is kept; the last one is always there, after those that are kept */
    int kept;
    bool last; /* there is one after those */
};

static attn_status check(const attn_film_config *c, attn_error *error)
{
    if (c->sentences == NULL || c->n_sentences < 1 || c->most < 2) {
        return attn__fail(error, ATTN_EINVAL, "film: %d sentences, at most %d pictures; expected 1 and 2 at least", c->n_sentences,
                          c->most);
    }
    for (int i = 0; i < c->n_sentences; i++) {
        const attn_report_sentence *s = &c->sentences[i];
        if (s->target < 0 || s->target >= s->length) {
            return attn__fail(error, ATTN_EINVAL, "film: sentence %d: target %d, expected 0..%d", i + 1, s->target, s->length - 1);
        }
    }
    return ATTN_OK;
}

static attn_status no_memory(attn_error *error)
{
    return attn__fail(error, ATTN_ENOMEM, "out of memory for the film of the training");
}

/* Copies at most SAMPLE of the sentences, evenly spread. */
static attn_status take_sample(attn_film *f, const attn_corpus *from, attn_error *error)
{
    int64_t all = from != NULL ? attn_corpus_count(from) : 0, n = all < SAMPLE ? all : SAMPLE;
    if (n == 0) {
        return ATTN_OK;
    }
    f->sample = attn_corpus_new(&f->allocator);
    attn_status status = f->sample != NULL ? ATTN_OK : no_memory(error);
    for (int64_t i = 0; i < n && status == ATTN_OK; i++) {
        attn_example x = attn_corpus_get(from, i * all / n);
        status = attn_corpus_add(f->sample, x.tokens, x.length, x.target, x.sense, error);
    }
    return status;
}

attn_film *attn_film_new(const attn_film_config *config, const attn_allocator *allocator, attn_error *error)
{
    attn_film_config c = *config;
    c.most = c.most != 0 ? c.most : MOST;
    if (check(&c, error) != ATTN_OK) {
        return NULL;
    }
    attn_film *f = attn__calloc(allocator, 1, sizeof *f);
    if (f == NULL) {
        (void)no_memory(error);
        return NULL;
    }
    *f = (attn_film){.allocator = allocator != NULL ? *allocator : attn__malloc, .config = c, .step = 1};
    f->clip = attn__calloc(allocator, (size_t)c.n_sentences, sizeof *f->clip);
    f->moment = attn__calloc(allocator, (size_t)c.most, sizeof *f->moment);
    attn_status status = f->clip != NULL && f->moment != NULL ? take_sample(f, c.sample, error) : no_memory(error);
    if (status != ATTN_OK) {
        attn_film_free(f);
        return NULL;
    }
    return f;
}

static void free_clip(const attn_film *f, clip *c)
{
    attn__free(&f->allocator, c->senses);
    attn__free(&f->allocator, c->weights);
    attn__free(&f->allocator, c->probabilities);
    *c = (clip){0};
}

void attn_film_free(attn_film *film)
{
    if (film == NULL) {
        return;
    }
    attn_allocator a = film->allocator;
    for (int i = 0; film->clip != NULL && i < film->config.n_sentences; i++) {
        free_clip(film, &film->clip[i]);
    }
    attn_corpus_free(film->sample);
    attn__free(&a, film->clip);
    attn__free(&a, film->moment);
    attn__free(&a, film);
}

/* ---- taking pictures ---- */

/* Room for all pictures of a clip, when its sizes are known; none at all if there is not enough. */
static bool make_room(const attn_film *f, clip *c, const attn_explanation *e)
{
    size_t pictures = (size_t)f->config.most, weights, numbers;
    if (!attn__size_mul((size_t)e->heads, (size_t)e->n, &weights) || !attn__size_mul(weights, pictures, &numbers)) {
        return false;
    }
    *c = (clip){.n = e->n, .begin = e->begin, .heads = e->heads, .n_senses = e->prediction.n_senses};
    c->senses = attn__calloc(&f->allocator, (size_t)c->n_senses, sizeof *c->senses);
    c->weights = attn__calloc(&f->allocator, numbers, sizeof *c->weights);
    c->probabilities = attn__calloc(&f->allocator, (size_t)c->n_senses * pictures, sizeof *c->probabilities);
    bool ok = c->senses != NULL && c->weights != NULL && c->probabilities != NULL;
    if (!ok) {
        free_clip(f, c);
    }
    return ok;
}

/* Picture number `to` of a sentence. */
static attn_status take_clip(attn_film *f, attn_word_sense *m, int i, int to, attn_error *error)
{
    const attn_report_sentence *s = &f->config.sentences[i];
    clip *c = &f->clip[i];
    attn_explanation e;
    attn_status status = attn_word_sense_explain(m, s->tokens, s->length, s->target, &e, error);
    if (status != ATTN_OK) {
        return status;
    }
    if (c->probabilities == NULL && !make_room(f, c, &e)) {
        return no_memory(error);
    }
    double *weights = c->weights + (int64_t)to * c->heads * c->n;
    for (int h = 0; h < c->heads; h++) {
        memcpy(weights + (int64_t)h * c->n, e.member[0].head[h].weight, (size_t)c->n * sizeof *weights);
    }
    memcpy(c->probabilities + (int64_t)to * c->n_senses, e.member[0].probability, (size_t)c->n_senses * sizeof *c->probabilities);
    memcpy(c->senses, e.prediction.senses, (size_t)c->n_senses * sizeof *c->senses);
    return ATTN_OK;
}

/* Accuracy of the first model on the sample; NaN without one. */
static attn_status measure(const attn_film *f, attn_word_sense *m, double *accuracy, attn_error *error)
{
    *accuracy = NAN;
    if (f->sample == NULL) {
        return ATTN_OK;
    }
    attn_scores *scores = attn_scores_new(&f->allocator);
    attn_status status = scores != NULL ? attn__member_score(m, &m->member[0], f->sample, true, scores, error) : no_memory(error);
    if (status == ATTN_OK) {
        *accuracy = (double)attn_scores_correct(scores) / (double)attn_scores_examples(scores);
    }
    attn_scores_free(scores);
    return status;
}

/* Every other picture goes. */
static void thin_out(attn_film *f)
{
    f->step *= 2;
    f->kept = (f->kept + 1) / 2;
    for (int k = 1; k < f->kept; k++) {
        f->moment[k] = f->moment[2 * k];
        for (int i = 0; i < f->config.n_sentences; i++) {
            clip *c = &f->clip[i];
            int64_t weights = (int64_t)c->heads * c->n;
            memcpy(c->weights + k * weights, c->weights + 2 * k * weights, (size_t)weights * sizeof *c->weights);
            memcpy(c->probabilities + (int64_t)k * c->n_senses, c->probabilities + 2 * (int64_t)k * c->n_senses,
                   (size_t)c->n_senses * sizeof *c->probabilities);
        }
    }
}

attn_status attn_film_add(attn_film *film, attn_word_sense *m, const attn_word_sense_progress *at, attn_error *error)
{
    if (at->member != 0) {
        return ATTN_OK;
    }
    if (film->kept == film->config.most) {
        thin_out(film);
    }
    int to = film->kept;
    moment now = {.epoch = at->epoch,
                  .loss = at->loss,
                  .dev_micro = at->has_dev ? at->dev_micro_f1 : NAN,
                  .dev_macro = at->has_dev ? at->dev_macro_f1 : NAN};
    attn_status status = measure(film, m, &now.accuracy, error);
    for (int i = 0; i < film->config.n_sentences && status == ATTN_OK; i++) {
        status = take_clip(film, m, i, to, error);
    }
    if (status == ATTN_OK) {
        film->moment[to] = now;
        film->last = film->seen % film->step != 0; /* else it is one of those that are kept */
        film->kept += !film->last;
        film->seen++;
    }
    return status;
}

/* ---- the page ---- */

static void write_moments(attn__html *h, const attn_film *f, int pictures)
{
    static const struct {
        const char *key;
        size_t offset;
    } curves[] = {{"epochs", offsetof(moment, epoch)},
                  {"loss", offsetof(moment, loss)},
                  {"accuracy", offsetof(moment, accuracy)},
                  {"devMicro", offsetof(moment, dev_micro)},
                  {"devMacro", offsetof(moment, dev_macro)}};
    for (size_t i = 0; i < sizeof curves / sizeof curves[0]; i++) {
        attn__data_key(h, curves[i].key);
        attn__data_open(h, '[');
        for (int k = 0; k < pictures; k++) {
            double v;
            memcpy(&v, (const char *)&f->moment[k] + curves[i].offset, sizeof v);
            attn__data_number(h, v);
        }
        attn__data_close(h, ']');
    }
}

static void write_clip(attn__html *h, const attn_film *f, int i, int pictures)
{
    const attn_report_sentence *s = &f->config.sentences[i];
    const clip *c = &f->clip[i];
    const struct {
        const char *key;
        int value;
    } numbers[] = {{"target", s->target}, {"begin", c->begin}, {"count", c->n}, {"heads", c->heads}};
    attn__data_open(h, '{');
    attn__data_key(h, "words");
    attn__data_strings(h, s->tokens, s->length);
    for (size_t k = 0; k < sizeof numbers / sizeof numbers[0]; k++) {
        attn__data_key(h, numbers[k].key);
        attn__data_number(h, numbers[k].value);
    }
    attn__data_key(h, "senses");
    attn__data_strings(h, c->senses, c->n_senses);
    attn__data_key(h, "weights");
    attn__data_packed(h, c->weights, (int64_t)pictures * c->heads * c->n, ATTN__F32);
    attn__data_key(h, "probabilities");
    attn__data_packed(h, c->probabilities, (int64_t)pictures * c->n_senses, ATTN__F64);
    attn__data_close(h, '}');
}

static void write_film(attn__html *h, const attn_film *f)
{
    int pictures = f->kept + f->last;
    attn__data_open(h, '{');
    attn__data_key(h, "title");
    attn__data_string(h, f->config.title);
    attn__data_key(h, "sample");
    attn__data_number(h, f->sample != NULL ? (double)attn_corpus_count(f->sample) : 0);
    attn__data_key(h, "step");
    attn__data_number(h, (double)f->step);
    attn__data_key(h, "colors");
    attn__data_colors(h, "blues");
    write_moments(h, f, pictures);
    attn__data_key(h, "sentences");
    attn__data_open(h, '[');
    for (int i = 0; i < f->config.n_sentences; i++) {
        write_clip(h, f, i, pictures);
    }
    attn__data_close(h, ']');
    attn__data_close(h, '}');
}

attn_status attn_film_page(const attn_film *film, attn_page *page, attn_error *error)
{
    const attn_film_config *c = &film->config;
    *page = (attn_page){0};
    if (film->seen == 0) {
        return attn__fail(error, ATTN_EINVAL, "film: there is no picture");
    }
    attn__scripts_seen seen = {0};
    for (int i = 0; i < c->n_sentences; i++) {
        attn__scripts_see(&seen, c->sentences[i].tokens, c->sentences[i].length);
    }
    attn__page_plan plan = {.language = attn__language(c->language, seen), .styles = styles, .scripts = scripts};
    plan.title = c->title != NULL ? c->title : plan.language == ATTN_LANGUAGE_ZH ? "训练过程" : "A training run";
    attn__html h;
    attn__html_init(&h, &film->allocator, error);
    attn__page_begin(&h, &plan);
    write_film(&h, film);
    return attn__page_end(&h, &plan, page);
}

/* Readers of models: safetensors, checkpoints, whole models, those to go on with, those to compare with. */
#include "fuzz.h"

#include "attn/explain.h"
#include "attn/report.h"

static void see_bytes(attn_file_tensor t)
{
    static volatile uint8_t sink;
    const uint8_t *bytes = t.data;
    for (size_t k = 0; k < (size_t)attn_shape_count(t.shape) * attn_dtype_size(t.dtype); k++) {
        sink = bytes[k];
    }
    (void)sink;
}

void fuzz_safetensors(const uint8_t *data, size_t size, const attn_allocator *a)
{
    attn_safetensors *s = attn_safetensors_parse(data, size, "fuzz", a, &fuzz_error);
    for (int i = 0; s != NULL && i < attn_safetensors_count(s); i++) {
        attn_file_tensor t = attn_safetensors_get(s, i);
        see_bytes(t);
        PROMISE(attn_safetensors_find(s, t.name) == i);
    }
    for (int i = 0; s != NULL && i < attn_safetensors_text_count(s); i++) {
        attn_file_text t = attn_safetensors_text_at(s, i);
        PROMISE(strcmp(attn_safetensors_text(s, t.key), t.value) == 0);
    }
    attn_safetensors_free(s);
}

/* ---- parameters and optimisers; the seeds are what `save` of this pair wrote ---- */

void fuzz_checkpoint(const uint8_t *data, size_t size, const attn_allocator *a)
{
    attn_params *p = attn_params_new(ATTN_F32, a);
    (void)attn_params_add(p, "table", ATTN_SHAPE(3, 2), (attn_param_config){.sparse_rows = true});
    (void)attn_params_add(p, "W", ATTN_SHAPE(2, 2), (attn_param_config){.decay = true});
    PROMISE(attn_params_build(p, 1, &fuzz_error) == ATTN_OK);
    attn_optimizer *o[2] = {attn_adamw_new(p, (attn_adamw_config){.weight_decay = 0.1}, &fuzz_error),
                            attn_sgd_new(p, (attn_sgd_config){.momentum = 0.9}, &fuzz_error)};
    attn_safetensors *s = attn_safetensors_parse(data, size, "fuzz", a, &fuzz_error);
    for (int i = 0; i < 3 && s != NULL; i++) {
        attn_optimizer *one = i < 2 ? o[i] : NULL;
        if (attn_checkpoint_load(s, p, one, &fuzz_error) == ATTN_OK && one != NULL) {
            PROMISE(attn_optimizer_step(one, 1, &fuzz_error) == ATTN_OK);
        }
    }
    attn_safetensors_free(s);
    attn_optimizer_free(o[1]);
    attn_optimizer_free(o[0]);
    attn_params_free(p);
}

/* ---- whole models ---- */

/* Some sentence about word number w: "the bank of money". */
static void about(const attn_word_sense *m, int w, const char *tokens[4])
{
    tokens[0] = "the";
    tokens[1] = attn_word_sense_word(m, w);
    tokens[2] = "of";
    tokens[3] = "money";
}

static void use_model(attn_word_sense *m, bool mapped)
{
    const char *tokens[4];
    for (int w = 0; w < attn_word_sense_words(m) && w < 8; w++) {
        attn_prediction p;
        attn_explanation e;
        about(m, w, tokens);
        PROMISE(attn_word_sense_find(m, tokens[1]) == w);
        for (int s = 0; s < attn_word_sense_senses(m, w); s++) {
            PROMISE(attn_word_sense_sense(m, w, s)[0] != '\0' && attn_word_sense_support(m, w, s) >= 0);
        }
        if (attn_word_sense_predict(m, tokens, 4, 1, &p, &fuzz_error) == ATTN_OK) {
            PROMISE(p.best >= 0 && p.best < p.n_senses && p.probabilities[p.best] >= 0 && p.probabilities[p.best] <= 1.0001);
        }
        (void)!attn_word_sense_explain(m, tokens, 4, 1, &e, &fuzz_error);
    }
    double weights[64 * 4 * 4];
    about(m, 0, tokens);
    (void)!attn_word_sense_attention(m, tokens, 4, weights, &fuzz_error);
    attn_status saved = attn_word_sense_save(m, "/dev/null", &fuzz_error);
    PROMISE(saved == ATTN_OK || (mapped && saved == ATTN_ENONFINITE));
}

/* The first step and the end of an epoch, then it stops. */
static bool two_reports(void *ctx, const attn_word_sense_progress *at)
{
    int *left = ctx;
    PROMISE(at->epoch >= 0 && at->steps >= 0 && at->steps <= at->steps_per_epoch);
    return --*left > 0;
}

/* As attn train --resume. */
static void go_on(attn_word_sense *m)
{
    int left = 2;
    const attn_corpus *dev = attn_word_sense_get_config(m).patience > 0 ? sentences() : NULL;
    (void)!attn_word_sense_train(m, sentences(), dev, two_reports, &left, &fuzz_error);
    PROMISE(attn_word_sense_save(m, "/dev/null", &fuzz_error) == ATTN_OK);
}

/* As attn report with one model and --before the other. */
static void report(attn_word_sense *m, attn_word_sense *before, const attn_allocator *a)
{
    const char *tokens[4];
    attn_page page;
    about(m, 0, tokens);
    attn_report_sentence sentence = {tokens, 4, 1};
    attn_report_config config = {.model = m, .before = before, .sentences = &sentence, .n_sentences = 1};
    if (attn_report_page(&config, &page, a, &fuzz_error) == ATTN_OK) {
        attn_page_free(&page);
    }
}

void fuzz_model(const uint8_t *data, size_t size, const attn_allocator *a)
{
    fuzz_file f = file_of(data, size);
    attn_word_sense *m = attn_word_sense_load(f.path, a, &fuzz_error);
    if (m != NULL) {
        attn_word_sense_set_threads(m, 1);
        use_model(m, false);
        report(m, small_model(), a);
        report(small_model(), m, a);
        go_on(m);
    }
    bool loaded = m != NULL;
    attn_word_sense_free(m);
    m = attn_word_sense_map(f.path, a, &fuzz_error);
    PROMISE(m != NULL || !loaded);
    if (m != NULL) {
        attn_word_sense_set_threads(m, 1);
        use_model(m, true);
    }
    attn_word_sense_free(m);
    close_file(&f);
}

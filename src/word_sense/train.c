/* Training. A run is a function of data, configuration and seed alone: every random number is drawn by its place in the run (epoch, step,
 * position), so that a run that was interrupted goes on with the same bits. */
#include <math.h>
#include <string.h>

#include "word_sense/model.h"

#define WARMUP_STEPS 50
#define RATE_FLOOR   0.02
/* Steps that a run takes at least when the number of epochs is left to us, within the bounds of epochs. */
#define WANTED_STEPS  1500
#define FEWEST_EPOCHS 15
#define MOST_EPOCHS   60

typedef struct run {
    attn_word_sense *m;
    attn__member *member;
    attn__arena arena; /* the encoded data, for the whole run */
    attn__encoded *data;
    int64_t count;
    const attn_corpus *dev;
    attn_word_sense_progress_fn report;
    void *ctx;
    attn_word_sense_progress progress;
    attn_error *error;
} run;

static attn_status no_memory(const run *r)
{
    return attn__fail(r->error, ATTN_ENOMEM, "out of memory during training");
}

/* Hides context words from the sentences of a training batch, never the ambiguous word itself. */
static void hide_words(const run *r, attn__batch *b, int64_t step)
{
    uint64_t seed = attn__seed_for(r->member->seed, ATTN__FOR_WORDS);
    for (int64_t i = 0; i < b->size; i++) {
        for (int64_t j = 0; j < b->length; j++) {
            int64_t at = i * b->length + j;
            if (j != b->start[i] && b->keep[at] && attn_random_uniform(seed, (uint64_t)step, (uint64_t)at) < r->m->config.word_dropout) {
                b->keep[at] = 0;
            }
        }
    }
}

/* One step on sentences begin..end-1 of the plan; `step` counts from the start of training. */
static attn_status take_step(run *r, const attn__plan *plan, int64_t index, int64_t step, int64_t total)
{
    attn_word_sense *m = r->m;
    attn__mark mark = attn__arena_mark(&m->scratch);
    attn__batch b;
    int64_t n = plan->begin[index + 1] - plan->begin[index];
    if (!attn__batch_make(m, &m->scratch, plan->list + plan->begin[index], n, &b)) {
        attn__arena_rewind(&m->scratch, mark);
        return no_memory(r);
    }
    hide_words(r, &b, step);
    attn_tape_reset(m->tape);
    attn_tape_set_recording(m->tape, true); /* each step anew: between two of them the model may be used */
    attn_tape_set_training(m->tape, true);
    attn_tape_set_random(m->tape, attn__seed_for(r->member->seed, ATTN__FOR_DROPOUT), (uint64_t)step);
    attn_params_set_threads(r->member->params, m->config.threads);
    attn_params_zero_grad(r->member->params);
    attn_tensor *loss = attn__member_loss(m, r->member, m->tape, &b);
    attn__arena_rewind(&m->scratch, mark);
    attn_status status = attn_tape_status(m->tape);
    if (status == ATTN_OK) {
        status = attn_backward(m->tape, loss);
    }
    if (status != ATTN_OK) {
        return attn__fail(r->error, status, "%s", attn_tape_message(m->tape));
    }
    (void)attn_clip_grad_norm(r->member->params, m->config.clip);
    const attn_schedule_config schedule = {
        .decay = ATTN_DECAY_LINEAR, .warmup_steps = WARMUP_STEPS, .total_steps = total, .floor = RATE_FLOOR};
    status = attn_optimizer_step(r->member->optimizer, m->config.learning_rate * attn_schedule(&schedule, step), r->error);
    if (status == ATTN_OK) {
        r->member->loss += attn_tensor_get(loss, 0) * (double)n;
        r->progress.sentences += n;
        r->member->step++;
    }
    return status;
}

attn_status attn__member_optimizer(const attn_word_sense *m, attn__member *member, attn_error *error)
{
    const attn_adamw_config config = {.learning_rate = 1, .weight_decay = m->config.weight_decay}; /* 0 there would be the default */
    attn_error why = {.status = ATTN_OK};
    member->optimizer = attn_adamw_new(member->params, config, &why);
    return member->optimizer != NULL ? ATTN_OK : attn__fail(error, why.status, "%s", why.message);
}

/* ---- dev data and early stopping ---- */

static int64_t best_elements(const attn__member *member)
{
    return attn_params_elements(member->params);
}

/* Copies all parameters to or from `best`. */
static void copy_parameters(attn__member *member, bool save)
{
    float *best = member->best;
    for (int id = 0; id < attn_params_count(member->params); id++) {
        int64_t n = attn_shape_count(attn_params_shape(member->params, id));
        void *value = attn_params_value(member->params, id);
        memcpy(save ? (void *)best : value, save ? value : (const void *)best, (size_t)n * sizeof *best);
        best += n;
    }
}

/* Keeps the parameters if they are better than before, score being what they reach on the dev data by themselves. */
static attn_status keep_best(run *r, double score)
{
    attn__member *member = r->member;
    if (member->best_epoch > 0 && score <= member->best_score) {
        return ATTN_OK;
    }
    if (member->best == NULL) {
        member->best = attn__calloc(&r->m->allocator, (size_t)best_elements(member), sizeof *member->best);
    }
    if (member->best == NULL) {
        return no_memory(r);
    }
    member->best_score = score;
    member->best_epoch = member->epochs + 1;
    copy_parameters(member, true);
    return ATTN_OK;
}

/* Means over the words of the member's F1 on the dev data. */
static attn_status measure(run *r, bool neighbours, double *micro, double *macro)
{
    attn_scores *scores = attn_scores_new(&r->m->allocator);
    attn_status status = scores != NULL ? attn__member_score(r->m, r->member, r->dev, neighbours, scores, r->error) : no_memory(r);
    if (status == ATTN_OK) {
        *micro = attn_scores_micro_f1(scores);
        *macro = attn_scores_macro_f1(scores);
    }
    attn_scores_free(scores);
    return status;
}

/* What is reported hears neighbours, as predictions will. The best epoch is chosen without: neighbours know much before anything is
 * learned, and would hide that attention still learns. */
static attn_status judge_epoch(run *r)
{
    attn_status status = measure(r, true, &r->progress.dev_micro_f1, &r->progress.dev_macro_f1);
    r->progress.has_dev = status == ATTN_OK;
    double micro = r->progress.dev_micro_f1, macro = r->progress.dev_macro_f1;
    bool choose = r->m->config.patience > 0;
    if (status == ATTN_OK && choose && r->m->config.neighbours > 0) {
        status = measure(r, false, &micro, &macro);
    }
    return status == ATTN_OK && choose ? keep_best(r, micro + macro) : status;
}

static bool out_of_patience(const run *r)
{
    int patience = r->m->config.patience;
    return patience > 0 && r->dev != NULL && r->member->best_epoch > 0 && r->member->epochs - r->member->best_epoch >= patience;
}

/* ---- epochs ---- */

/* Reports the state after `steps` steps of the epoch. */
static bool tell(run *r, const attn__plan *plan, int64_t steps)
{
    attn_word_sense_progress *p = &r->progress;
    p->epoch = r->member->epochs;
    p->steps = steps;
    p->steps_per_epoch = plan->batches;
    p->epoch_done = steps == plan->batches;
    p->has_dev = p->has_dev && p->epoch_done;
    return r->report == NULL || r->report(r->ctx, p);
}

static void set_loss(run *r, const attn__plan *plan, int64_t steps)
{
    r->progress.loss = r->member->loss / (double)plan->begin[steps];
}

/* A finished member is what its best epoch made of it, and needs no optimiser. */
static void close_member(const run *r)
{
    attn__member *member = r->member;
    if (member->best != NULL) {
        copy_parameters(member, false);
    }
    attn__free(&r->m->allocator, member->best);
    member->best = NULL;
    attn_optimizer_free(member->optimizer);
    member->optimizer = NULL;
}

/* The member is ready for its next epoch, and can be saved, when the report is made. */
static attn_status end_epoch(run *r, const attn__plan *plan)
{
    attn__member *member = r->member;
    set_loss(r, plan, plan->batches);
    attn_status status = r->dev != NULL ? judge_epoch(r) : ATTN_OK;
    if (status != ATTN_OK) {
        return status;
    }
    member->epochs++;
    member->step = 0;
    member->loss = 0;
    member->finished = member->epochs >= r->m->epochs_planned || out_of_patience(r);
    if (member->finished) {
        close_member(r);
    }
    bool go_on = tell(r, plan, plan->batches);
    return go_on || attn_word_sense_finished(r->m) ? ATTN_OK
                                                   : attn__fail(r->error, ATTN_EINTERRUPTED, "interrupted after epoch %d", member->epochs);
}

/* The rest of the current epoch. */
static attn_status train_epoch(run *r, attn__arena *arena)
{
    attn__plan plan;
    attn__member *member = r->member;
    if (!attn__plan_epoch(r->m, arena, attn__seed_for(member->seed, ATTN__FOR_ORDER), member->epochs, r->data, r->count, &plan)) {
        return no_memory(r);
    }
    int64_t before = member->epochs * plan.batches, total = r->m->epochs_planned * plan.batches;
    while (member->step < plan.batches) {
        attn_status status = take_step(r, &plan, member->step, before + member->step, total);
        if (status != ATTN_OK) {
            return status;
        }
        set_loss(r, &plan, member->step);
        if (member->step < plan.batches && !tell(r, &plan, member->step)) {
            return attn__fail(r->error, ATTN_EINTERRUPTED, "interrupted in epoch %d", member->epochs + 1);
        }
    }
    return end_epoch(r, &plan);
}

static attn_status train_member(run *r)
{
    attn__member *member = r->member;
    attn_status status = ATTN_OK;
    if (member->optimizer == NULL && !member->finished) {
        status = attn__member_optimizer(r->m, member, r->error);
    }
    while (!member->finished && status == ATTN_OK) {
        attn__mark mark = attn__arena_mark(&r->arena);
        status = train_epoch(r, &r->arena);
        attn__arena_rewind(&r->arena, mark);
    }
    return status;
}

/* FNV-1a over encoded sentences, going on from `hash`. */
static uint64_t fingerprint(uint64_t hash, const attn__encoded *data, int64_t count)
{
    for (int64_t i = 0; i < count; i++) {
        for (int32_t j = -2; j < data[i].length; j++) {
            int32_t x = j == -2 ? data[i].sense : j == -1 ? data[i].target : data[i].ids[j];
            hash = (hash ^ (uint32_t)x) * 0x100000001B3U;
        }
    }
    return hash;
}

/* Reads the dev data once, to find words that the model does not know before the training and not after an epoch of it; goes on with *hash
 * if they decide when the run ends. */
static attn_status open_dev(const run *r, uint64_t *hash)
{
    attn__arena arena;
    attn__encoded *data;
    int64_t count;
    attn__arena_init(&arena, &r->m->allocator);
    attn_status status = attn__encode_corpus(r->m, &arena, r->dev, true, &data, &count, r->error);
    if (status == ATTN_OK && r->m->config.patience > 0) {
        *hash = fingerprint(*hash, data, count);
    }
    attn__arena_free(&arena);
    return status;
}

/* Epochs when the user names none: enough for WANTED_STEPS steps. */
static int plan_epochs(const run *r)
{
    const attn_word_sense_config *c = &r->m->config;
    if (c->epochs > 0) {
        return c->epochs;
    }
    int64_t epochs = attn__tiles(WANTED_STEPS, attn__tiles(attn__epoch_sentences(r->m), c->batch));
    return (int)(epochs < FEWEST_EPOCHS ? FEWEST_EPOCHS : epochs > MOST_EPOCHS ? MOST_EPOCHS : epochs);
}

static attn_status open_run(run *r, const attn_corpus *train)
{
    attn_status status = attn__encode_corpus(r->m, &r->arena, train, true, &r->data, &r->count, r->error);
    for (int64_t i = 0; i < r->count && status == ATTN_OK; i++) {
        if (r->data[i].sense < 0) {
            attn_example e = attn_corpus_get(train, i);
            status =
                attn__fail(r->error, ATTN_EMISMATCH, "%s:%lld: the model does not know the sense '%s'", e.file, (long long)e.line, e.sense);
        }
    }
    uint64_t now = 0xCBF29CE484222325U;
    if (status == ATTN_OK) {
        now = fingerprint(now, r->data, r->count);
        status = r->dev != NULL ? open_dev(r, &now) : ATTN_OK;
    }
    if (status == ATTN_OK && r->m->fingerprint != 0 && r->m->fingerprint != now) {
        status = attn__fail(r->error, ATTN_EMISMATCH, "the data are not those that the model began with: training data%s must be the same",
                            r->m->config.patience > 0 ? " and dev data" : "");
    }
    if (status != ATTN_OK) {
        return status;
    }
    r->m->fingerprint = now != 0 ? now : 1; /* 0 means none yet */
    r->m->epochs_planned = plan_epochs(r);
    r->progress.members = r->m->config.seeds;
    r->progress.epochs = r->m->epochs_planned;
    return ATTN_OK;
}

attn_status attn_word_sense_train(attn_word_sense *m, const attn_corpus *train, const attn_corpus *dev,
                                  attn_word_sense_progress_fn progress, void *ctx, attn_error *error)
{
    attn_error ignored = {.message = ""};
    run r = {.m = m, .dev = dev, .report = progress, .ctx = ctx, .error = error != NULL ? error : &ignored};
    attn__arena_init(&r.arena, &m->allocator);
    attn_status status = open_run(&r, train);
    for (int i = 0; i < m->config.seeds && status == ATTN_OK; i++) {
        r.member = &m->member[i];
        r.progress.member = i;
        status = train_member(&r);
    }
    attn_tape_set_training(m->tape, false);
    attn__arena_free(&r.arena);
    return status;
}

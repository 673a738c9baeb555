#include "ops/op.h"

#define TILE_ROWS 16

typedef struct loss {
    const int32_t *targets;
    attn_cross_entropy_config config;
    int64_t counted;
} loss;

/* saved of each row */
typedef struct row_loss {
    double lse, loss;
} row_loss;

static const uint8_t *candidates(const loss *l, int64_t row, int64_t classes)
{
    return l->config.candidates != NULL ? l->config.candidates + row * classes : NULL;
}

static attn_status check_targets(attn__node *n, loss *l, int64_t rows, int64_t classes)
{
    for (int64_t i = 0; i < rows; i++) {
        int32_t target = l->targets[i];
        if (target == ATTN_IGNORE) {
            continue;
        }
        const uint8_t *allow = candidates(l, i, classes);
        if (target < 0 || target >= classes || (allow != NULL && !allow[target])) {
            return attn__op_fail(n, ATTN_ERANGE, "target %d of row %lld is %s", target, (long long)i,
                                 target < 0 || target >= classes ? "no class of the logits" : "not a candidate");
        }
        l->counted++;
    }
    return ATTN_OK;
}

static attn_status infer(attn__node *n)
{
    loss *l = n->attributes;
    attn_shape x = n->in[0]->shape;
    if (x.rank != 2) {
        return attn__op_fail(n, ATTN_ESHAPE, "logits %s, expected (N,C)", ATTN__TEXT(x));
    }
    if (!(l->config.label_smoothing >= 0 && l->config.label_smoothing < 1) || (l->targets == NULL && x.dim[0] > 0)) {
        return attn__op_fail(n, ATTN_EINVAL, "label smoothing %g (expected 0 <= e < 1), or no targets", l->config.label_smoothing);
    }
    if (check_targets(n, l, x.dim[0], x.dim[1]) != ATTN_OK) {
        return attn_tape_status(n->tape);
    }
    bool ok = true;
    l->targets = attn__tape_copy(n->tape, l->targets, x.dim[0], sizeof *l->targets, &ok);
    l->config.candidates = attn__tape_copy(n->tape, l->config.candidates, x.dim[0] * x.dim[1], 1, &ok);
    n->out->shape = ATTN_SCALAR;
    n->saved_size = (size_t)x.dim[0] * sizeof(row_loss);
    return ok ? ATTN_OK : ATTN_ENOMEM;
}

static void tile_forward(void *ctx, int64_t tile)
{
    attn__node *n = ctx;
    const loss *l = n->attributes;
    attn__span span = attn__range(n->in[0]->shape.dim[0], TILE_ROWS, tile);
    int64_t classes = n->in[0]->shape.dim[1];
    row_loss *saved = n->saved;
    for (int64_t i = span.begin; i < span.end; i++) {
        if (l->targets[i] != ATTN_IGNORE) {
            saved[i].loss = ATTN__K(n)->cross_entropy(classes, attn__at(n, n->in[0]->data, i * classes), candidates(l, i, classes),
                                                      l->targets[i], l->config.label_smoothing, &saved[i].lse);
        }
    }
}

static void over_rows(attn__node *n, attn__tile_fn fn)
{
    attn__parallel(attn__tape_threads(n->tape), attn__tiles(n->in[0]->shape.dim[0], TILE_ROWS),
                   3 * TILE_ROWS * (double)n->in[0]->shape.dim[1], fn, n);
}

static void forward(attn__node *n)
{
    const loss *l = n->attributes;
    const row_loss *saved = n->saved;
    double sum = 0;
    over_rows(n, tile_forward);
    for (int64_t i = 0; i < n->in[0]->shape.dim[0]; i++) {
        sum += l->targets[i] != ATTN_IGNORE ? saved[i].loss : 0;
    }
    ATTN__K(n)->set(n->out->data, 0, l->counted > 0 ? sum / (double)l->counted : 0);
}

static void tile_backward(void *ctx, int64_t tile)
{
    attn__node *n = ctx;
    const loss *l = n->attributes;
    const row_loss *saved = n->saved;
    attn__span span = attn__range(n->in[0]->shape.dim[0], TILE_ROWS, tile);
    int64_t classes = n->in[0]->shape.dim[1];
    double g = ATTN__K(n)->get(n->out->grad, 0) / (double)(l->counted > 0 ? l->counted : 1);
    for (int64_t i = span.begin; i < span.end; i++) {
        attn__clear(n, i * classes, classes);
        if (l->targets[i] != ATTN_IGNORE) {
            ATTN__K(n)->cross_entropy_b(classes, attn__at(n, n->in[0]->data, i * classes), candidates(l, i, classes), l->targets[i],
                                        l->config.label_smoothing, saved[i].lse, g, attn__at(n, n->in[0]->grad, i * classes));
        }
    }
}

static void backward(attn__node *n)
{
    over_rows(n, tile_backward);
}

attn_tensor *attn_cross_entropy(attn_tape *t, attn_tensor *logits, const int32_t *targets, const attn_cross_entropy_config *config)
{
    loss l = {.targets = targets};
    if (config != NULL) {
        l.config = *config;
    }
    return attn__record(t, &attn__op_cross_entropy, &logits, 1, &l, sizeof l);
}

static attn_tensor *build(attn_tape *t, attn_tensor *const in[])
{
    return attn_cross_entropy(t, in[0], (const int32_t[]){2, 0, 3}, NULL);
}

static attn_tensor *build_full(attn_tape *t, attn_tensor *const in[])
{
    const uint8_t allow[] = {1, 0, 1, 1, 1, 1, 1, 0, 0, 0, 1, 1};
    const attn_cross_entropy_config config = {.candidates = allow, .label_smoothing = 0.1};
    return attn_cross_entropy(t, in[0], (const int32_t[]){2, ATTN_IGNORE, 3}, &config);
}

static const attn__case cases[] = {
    {"plain", 1, {{2, {3, 4}}}, -2, 2, build},
    {"candidates, smoothing, ignored", 1, {{2, {3, 4}}}, -2, 2, build_full},
};

const attn__op attn__op_cross_entropy = {
    .name = "cross_entropy", .arity = 1, .clears = true, .infer = infer, .forward = forward, .backward = backward, ATTN__CASES(cases)};

/* Gradient checking a function of your own: a small network with attention, every gradient compared with central differences. */
#include <stdio.h>
#include <stdlib.h>

#include "attn/attn.h"

/* tanh(attention(x, x, x)) summed with its square: any expression of the library's operations will do. */
static attn_tensor *network(attn_tape *t, attn_tensor *const in[], int n, void *ctx)
{
    (void)n;
    (void)ctx;
    attn_tensor *weights = attn_softmax(
        t, attn_attention_scores(t, in[0], in[0], in[1], (attn_score_config){.score = ATTN_SCORE_ADDITIVE, .heads = 2}, NULL), NULL);
    attn_tensor *y = attn_tanh(t, attn_attention_mix(t, weights, in[0], 0, NULL));
    return attn_add(t, y, attn_mul(t, y, y));
}

/* A layer with parameters: the loss is the mean square of its output. */
typedef struct layered {
    attn_params *params;
    const attn_attention *layer;
    const double *x;
} layered;

static attn_tensor *layer_loss(attn_tape *t, attn_tensor *const in[], int n, void *ctx)
{
    const layered *l = ctx;
    (void)in;
    (void)n;
    attn_tensor *x = attn_input(t, ATTN_F64, ATTN_SHAPE(2, 3, 4), l->x);
    attn_mask mask = {.key_lengths = (const int32_t[]){3, 2}};
    attn_tensor *y = attn_attention_apply(t, l->layer, (attn_attention_input){.query = x, .mask = mask}).output;
    return attn_mean(t, attn_mul(t, y, y));
}

static void print(const char *name, const attn_gradcheck_report *r)
{
    printf("%-10s %lld gradients in %lld runs, largest relative error %.1e: %s\n", name, (long long)r->elements, (long long)r->runs,
           r->max_rel_error, r->verdict);
}

int main(void)
{
    double x[24], w[4];
    for (int i = 0; i < 24; i++) {
        x[i] = attn_random_normal(1, 0, (uint64_t)i);
    }
    for (int i = 0; i < 4; i++) {
        w[i] = attn_random_normal(1, 1, (uint64_t)i);
    }
    const attn_gradcheck_input inputs[] = {{"x", ATTN_SHAPE(2, 3, 4), x}, {"w", ATTN_SHAPE(2, 2), w}};
    attn_gradcheck_report report;
    attn_status first = attn_gradcheck(network, NULL, inputs, 2, NULL, &report);
    print("network", &report);

    layered l = {.params = attn_params_new(ATTN_F64, NULL), .x = x};
    if (l.params == NULL) {
        return EXIT_FAILURE;
    }
    l.layer =
        attn_attention_add(l.params, "attention", (attn_attention_config){.query_dim = 4, .heads = 2, .relative_clip = 2, .bias = true});
    attn_error error;
    if (attn_params_build(l.params, 7, &error) != ATTN_OK) {
        fprintf(stderr, "%s\n", error.message);
        attn_params_free(l.params);
        return EXIT_FAILURE;
    }
    attn_status second = attn_gradcheck_params(layer_loss, &l, l.params, 0, NULL, &report);
    print("layer", &report);
    attn_params_free(l.params);
    return first == ATTN_OK && second == ATTN_OK ? EXIT_SUCCESS : EXIT_FAILURE;
}

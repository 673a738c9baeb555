/* Trains an attention layer of two heads to turn a sentence of four words around. */
#include <stdio.h>

#include "attn/attn.h"

int main(void)
{
    float words[32], turned[32];
    for (int i = 0; i < 32; i++) { /* four random words of width 8, and the same in reverse order */
        words[i] = turned[(3 - i / 8) * 8 + i % 8] = (float)attn_random_normal(1, 0, (uint64_t)i);
    }
    attn_error error = {.message = ""};
    attn_params *p = attn_params_new(ATTN_F32, NULL);
    const attn_attention *layer = attn_attention_add(p, "attention", (attn_attention_config){.query_dim = 8, .heads = 2});
    attn_status status = attn_params_build(p, 42, &error);
    attn_optimizer *adam = attn_adamw_new(p, (attn_adamw_config){.learning_rate = 0.01}, &error);
    attn_tape *t = attn_tape_new(NULL);
    double last = 0;
    for (int step = 0; step < 500 && status == ATTN_OK; step++, attn_tape_reset(t), attn_params_zero_grad(p)) {
        attn_tensor *x = attn_input(t, ATTN_F32, ATTN_SHAPE(1, 4, 8), words);
        attn_tensor *y = attn_attention_apply(t, layer, (attn_attention_input){.query = x}).output;
        attn_tensor *d = attn_sub(t, y, attn_input(t, ATTN_F32, ATTN_SHAPE(1, 4, 8), turned));
        attn_tensor *loss = attn_mean(t, attn_mul(t, d, d));
        status = attn_backward(t, loss) != ATTN_OK ? attn_tape_status(t) : attn_optimizer_step(adam, 1, &error);
        last = attn_tensor_get(loss, 0);
    }
    printf("loss after 500 steps: %.6f %s\n", last, error.message);
    attn_tape_free(t);
    attn_optimizer_free(adam);
    attn_params_free(p);
    return status == ATTN_OK && last < 0.01 ? 0 : 1;
}

/* The three score functions, on one query and three keys, and what softmax makes of scores.
 *     dot         q . k                     query and key of one width
 *     scaled dot  q . k / sqrt(d)           the same, tamed for large d
 *     additive    w . tanh(q W_q + k W_k)   widths may differ: here the query has 3 numbers, a key 2 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "attn/attn.h"

/* Prints scores and weights; true if the weights are what is expected to three digits. */
static bool show(const char *name, attn_tape *t, attn_tensor *scores, const double expected[3])
{
    attn_tensor *weights = attn_softmax(t, scores, NULL);
    bool ok = attn_tape_status(t) == ATTN_OK;
    printf("%-12s scores", name);
    for (int j = 0; j < 3; j++) {
        printf(" %7.4f", attn_tensor_get(scores, j));
    }
    printf("   weights");
    for (int j = 0; j < 3; j++) {
        printf(" %.3f", attn_tensor_get(weights, j));
        ok = ok && fabs(attn_tensor_get(weights, j) - expected[j]) < 5e-4;
    }
    printf("\n");
    return ok;
}

int main(void)
{
    const double query[] = {1, 2, 0, 1}, keys[] = {1, 1, 1, 1, 0, 1, 0, 0, 1, 0, 1, -1};
    const double query_3[] = {1, -1, 0.5}, keys_2[] = {1, 0, 0, 1, -1, 1};
    const double w_q[] = {1, 0, 0, 1, 0.5, 0.5}, w_k[] = {1, 0, 0, 1}, w[] = {1, -1}, raw[] = {2.0, 1.0, 0.1};
    attn_tape *t = attn_tape_new(NULL);
    if (t == NULL) {
        return EXIT_FAILURE;
    }
    attn_tensor *q = attn_input(t, ATTN_F64, ATTN_SHAPE(1, 1, 4), query), *k = attn_input(t, ATTN_F64, ATTN_SHAPE(1, 3, 4), keys);
    attn_tensor *q3 = attn_input(t, ATTN_F64, ATTN_SHAPE(1, 1, 3), query_3), *k2 = attn_input(t, ATTN_F64, ATTN_SHAPE(1, 3, 2), keys_2);
    attn_tensor *projected_q = attn_matmul(t, q3, attn_input(t, ATTN_F64, ATTN_SHAPE(3, 2), w_q), ATTN_NN);
    attn_tensor *projected_k = attn_matmul(t, k2, attn_input(t, ATTN_F64, ATTN_SHAPE(2, 2), w_k), ATTN_NN);
    attn_tensor *vector = attn_input(t, ATTN_F64, ATTN_SHAPE(1, 2), w);

    /* q . k = 4, 2, 0;  q W_q = (1.25, -0.75), so the additive scores are tanh 2.25 + tanh 0.75, tanh 1.25 - tanh 0.25, 0 */
    const double dot[] = {0.867, 0.117, 0.016}, scaled[] = {0.665, 0.245, 0.090}, additive[] = {0.640, 0.233, 0.127};
    bool ok = show("dot", t, attn_attention_scores(t, q, k, NULL, (attn_score_config){.score = ATTN_SCORE_DOT, .heads = 1}, NULL), dot);
    ok = show("scaled dot", t, attn_attention_scores(t, q, k, NULL, (attn_score_config){.score = ATTN_SCORE_SCALED_DOT, .heads = 1}, NULL),
              scaled) &&
         ok;
    ok = show("additive", t,
              attn_attention_scores(t, projected_q, projected_k, vector, (attn_score_config){.score = ATTN_SCORE_ADDITIVE, .heads = 1},
                                    NULL),
              additive) &&
         ok;
    ok = show("raw scores", t, attn_input(t, ATTN_F64, ATTN_SHAPE(3), raw), (const double[]){0.659, 0.242, 0.099}) && ok;
    if (attn_tape_status(t) != ATTN_OK) {
        fprintf(stderr, "%s\n", attn_tape_message(t));
    }
    attn_tape_free(t);
    return ok ? EXIT_SUCCESS : EXIT_FAILURE;
}

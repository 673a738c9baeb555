/* A trained model from C: load it, cut a raw sentence into tokens, ask for the sense of every ambiguous word in it.
 *     predict_sense MODEL.safetensors "SENTENCE" */
#include <stdio.h>
#include <stdlib.h>

#include "attn/attn.h"

int main(int argc, char **argv)
{
    if (argc != 3) {
        fprintf(stderr, "usage: predict_sense MODEL.safetensors \"SENTENCE\"\n");
        return EXIT_FAILURE;
    }
    attn_error error = {.message = "out of memory"};
    attn_word_sense *model = attn_word_sense_load(argv[1], NULL, &error);
    attn_predictor *predictor = model != NULL ? attn_predictor_new(model, NULL) : NULL; /* one for each thread */
    attn_corpus *words = attn_corpus_new(NULL);
    attn_example e = {.length = 0};
    attn_status status = predictor != NULL && words != NULL ? ATTN_OK : ATTN_ENOMEM;
    if (status == ATTN_OK) {
        status = attn_tokenize(model, words, argv[2], ATTN_TOKENIZE_AUTO, NULL, &e, &error);
    }
    int answers = 0;
    for (int i = 0; i < e.length && status == ATTN_OK; i++) {
        attn_prediction p;
        if (attn_word_sense_find(model, e.tokens[i]) >= 0) {
            status = attn_predictor_predict(predictor, e.tokens, e.length, i, &p, &error);
            if (status == ATTN_OK) {
                printf("%s: %s (%.3f)\n", e.tokens[i], p.senses[p.best], p.probabilities[p.best]);
                answers++;
            }
        }
    }
    if (status != ATTN_OK) {
        fprintf(stderr, "%s\n", error.message);
    }
    attn_corpus_free(words);
    attn_predictor_free(predictor);
    attn_word_sense_free(model);
    return status == ATTN_OK && answers > 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

/* A word-sense model from C: train on labelled sentences, measure it, ask it about a new sentence.
 *     train_word_sense TRAIN.tsv TEST.tsv "SENTENCE" */
#include <stdio.h>
#include <stdlib.h>

#include "attn/attn.h"

static bool after_step(void *ctx, const attn_word_sense_progress *p)
{
    (void)ctx;
    if (p->epoch_done && p->epoch % 10 == 0) {
        printf("epoch %d of %d: loss %.3f\n", p->epoch, p->epochs, p->loss);
    }
    return true; /* false would stop the training here */
}

/* The sense of the first word of the sentence that the model knows. */
static attn_status ask(attn_word_sense *m, attn_corpus *c, const char *text, attn_error *error)
{
    attn_example e;
    attn_prediction p;
    attn_status status = attn_corpus_tokenize(c, text, &e, error);
    int target = 0;
    while (status == ATTN_OK && target + 1 < e.length && attn_word_sense_find(m, e.tokens[target]) < 0) {
        target++;
    }
    if (status == ATTN_OK) {
        status = attn_word_sense_predict(m, e.tokens, e.length, target, &p, error);
    }
    if (status == ATTN_OK) {
        printf("%s: %s (%.3f); it looks at", text, p.senses[p.best], p.probabilities[p.best]);
        for (int i = 0; i < p.length; i++) {
            printf(" %s %.2f", e.tokens[i], p.attention[i]); /* of the first head */
        }
        printf("\n");
    }
    return status;
}

int main(int argc, char **argv)
{
    if (argc != 4) {
        fprintf(stderr, "usage: train_word_sense TRAIN.tsv TEST.tsv \"SENTENCE\"\n");
        return EXIT_FAILURE;
    }
    attn_error error = {.message = "out of memory"};
    attn_corpus *train = attn_corpus_new(NULL), *test = attn_corpus_new(NULL);
    attn_scores *scores = attn_scores_new(NULL);
    attn_word_sense *model = NULL;
    attn_status status = train != NULL && test != NULL && scores != NULL ? ATTN_OK : ATTN_ENOMEM;
    if (status == ATTN_OK && (status = attn_corpus_read(train, argv[1], "train", &error)) == ATTN_OK &&
        (status = attn_corpus_read(test, argv[2], "test", &error)) == ATTN_OK) {
        attn_word_sense_config config = attn_word_sense_defaults();
        config.score = ATTN_SCORE_ADDITIVE;
        config.seed = 1;
        model = attn_word_sense_new(train, &config, NULL, &error);
        status = model != NULL ? attn_word_sense_train(model, train, NULL, after_step, NULL, &error) : error.status;
    }
    if (status == ATTN_OK && (status = attn_word_sense_score(model, test, scores, NULL, &error)) == ATTN_OK) {
        printf("%lld of %lld test sentences right, macro F1 %.4f\n", (long long)attn_scores_correct(scores),
               (long long)attn_scores_examples(scores), attn_scores_macro_f1(scores));
        status = ask(model, test, argv[3], &error);
    }
    if (status != ATTN_OK) {
        fprintf(stderr, "%s\n", error.message);
    }
    bool good = status == ATTN_OK && attn_scores_correct(scores) * 10 >= attn_scores_examples(scores) * 9;
    attn_word_sense_free(model);
    attn_scores_free(scores);
    attn_corpus_free(train);
    attn_corpus_free(test);
    return good ? EXIT_SUCCESS : EXIT_FAILURE;
}

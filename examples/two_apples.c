/* One word, two meanings: 苹果 next to 手机 is a company, next to 香蕉 a fruit. Self-attention gives it a new vector in each sentence, made
 * of score -> softmax -> weighted sum. All vectors are toys of four numbers: (technology, food, person, action). */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "attn/attn.h"

#define WIDTH 4

typedef struct word {
    const char *text;
    double vector[WIDTH];
} word;

static const word sentence_1[] = {
    {"苹果", {1.0, 1.0, 0.0, 0.0}}, {"发布", {0.8, 0.0, 0.2, 1.0}}, {"新", {0.3, 0.1, 0.0, 0.0}}, {"手机", {1.6, 0.0, 0.0, 0.2}}};
static const word sentence_2[] = {{"她", {0.0, 0.1, 1.0, 0.2}},
                                  {"吃", {0.0, 1.2, 0.3, 1.0}},
                                  {"苹果", {1.0, 1.0, 0.0, 0.0}},
                                  {"和", {0.0, 0.0, 0.0, 0.1}},
                                  {"香蕉", {0.0, 1.6, 0.0, 0.0}}};

static void print_numbers(const attn_tensor *x, int64_t from, int64_t n, double factor)
{
    for (int64_t j = 0; j < n; j++) {
        printf("  %7.4f", factor * attn_tensor_get(x, from + j));
    }
}

/* A line a word: its vector, which is key and value; its score, by the vector of the word that asks; its weight; what the weight lets
 * through. Then the sums, of which the last are the new vector. */
static void print_steps(const word *words, int n, int asked, const attn_tensor *x, const attn_tensor *scores, const attn_tensor *weights,
                        const attn_tensor *mixed)
{
    printf("  technology, food, person, action      score   weight    weight * vector\n");
    double sum = 0;
    for (int j = 0; j < n; j++) {
        double weight = attn_tensor_get(weights, asked * n + j);
        print_numbers(x, (int64_t)j * WIDTH, WIDTH, 1);
        print_numbers(scores, asked * n + j, 1, 1);
        print_numbers(weights, asked * n + j, 1, 1);
        print_numbers(x, (int64_t)j * WIDTH, WIDTH, weight);
        printf("   %s\n", words[j].text);
        sum += weight;
    }
    printf("%42s  %7.4f", "sum", sum);
    print_numbers(mixed, (int64_t)asked * WIDTH, WIDTH, 1);
    printf("   new vector of %s\n", words[asked].text);
}

/* Prints the three steps for word `asked` and the whole table; copies its new vector. Returns false if anything failed. */
static bool explain(const word *words, int n, int asked, double new_vector[WIDTH])
{
    double vectors[8 * WIDTH];
    for (int i = 0; i < n * WIDTH; i++) {
        vectors[i] = words[i / WIDTH].vector[i % WIDTH];
    }
    attn_tape *t = attn_tape_new(NULL);
    if (t == NULL) {
        return false;
    }
    attn_tensor *x = attn_input(t, ATTN_F64, ATTN_SHAPE(1, n, WIDTH), vectors);
    attn_tensor *scores =
        attn_attention_scores(t, x, x, NULL, (attn_score_config){.score = ATTN_SCORE_SCALED_DOT, .heads = 1}, NULL); /* q . k / sqrt(4) */
    attn_tensor *weights = attn_softmax(t, scores, NULL);
    attn_tensor *mixed = attn_attention_mix(t, weights, x, 0, NULL);
    bool ok = attn_tape_status(t) == ATTN_OK;
    if (!ok) {
        fprintf(stderr, "%s\n", attn_tape_message(t));
        attn_tape_free(t);
        return false;
    }
    for (int i = 0; i < n; i++) {
        printf("%s%s", words[i].text, i + 1 < n ? " " : "\n");
    }
    print_steps(words, n, asked, x, scores, weights, mixed);
    printf("  every word's weights (row = who looks, column = looked at):\n");
    for (int i = 0; i < n; i++) {
        double sum = 0;
        for (int j = 0; j < n; j++) {
            sum += attn_tensor_get(weights, i * n + j);
        }
        print_numbers(weights, i * n, n, 1);
        printf("   %s\n", words[i].text);
        ok = ok && fabs(sum - 1) < 1e-12;
    }
    for (int c = 0; c < WIDTH; c++) {
        new_vector[c] = attn_tensor_get(mixed, asked * WIDTH + c);
    }
    attn_tape_free(t);
    return ok;
}

int main(void)
{
    double company[WIDTH], fruit[WIDTH];
    if (!explain(sentence_1, 4, 0, company) || !explain(sentence_2, 5, 2, fruit)) {
        return EXIT_FAILURE;
    }
    printf("苹果 leans to technology in the first sentence (%.2f technology, %.2f food), to food in the second (%.2f, %.2f).\n", company[0],
           company[1], fruit[0], fruit[1]);
    return company[0] > company[1] && fruit[1] > fruit[0] ? EXIT_SUCCESS : EXIT_FAILURE;
}

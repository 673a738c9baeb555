/* naive_bayes TRAIN TEST [TRAIN TEST ...]: how far bag-of-words counting gets on word senses. A file is TSV; of a folder in the layout of
 * CoarseWSD-20, TRAIN is its training split and TEST its test split.
 *
 * Multinomial naive Bayes, one classifier a word: log P(sense) + sum over the other tokens of log P(token | sense), with add-one smoothing
 * over the tokens seen with the word in training; tokens never seen there are left out. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "attn/corpus.h"

static void *checked(void *ptr)
{
    if (ptr == NULL) {
        (void)fprintf(stderr, "naive_bayes: out of memory\n");
        exit(2);
    }
    return ptr;
}

/* ---- a table of counts, by token ---- */

typedef struct entry {
    const char *token; /* a string of the corpus, which lives longer */
    int64_t count;
} entry;

typedef struct table {
    entry *slots;
    size_t used, room; /* room: a power of two, more than twice `used` */
} table;

static entry *find(const table *t, const char *token)
{
    uint64_t hash = 0xCBF29CE484222325u;
    for (const char *at = token; *at != '\0'; at++) {
        hash = (hash ^ (unsigned char)*at) * 0x100000001B3u;
    }
    size_t i = (size_t)(hash ^ hash >> 32) & (t->room - 1);
    while (t->slots[i].token != NULL && strcmp(t->slots[i].token, token) != 0) {
        i = (i + 1) & (t->room - 1);
    }
    return &t->slots[i];
}

static int64_t count_of(const table *t, const char *token)
{
    return t->room == 0 ? 0 : find(t, token)->count;
}

static void add(table *t, const char *token)
{
    if (2 * (t->used + 1) >= t->room) {
        table wider = {NULL, t->used, t->room == 0 ? 1024 : 2 * t->room};
        wider.slots = checked(calloc(wider.room, sizeof *wider.slots));
        for (size_t i = 0; i < t->room; i++) {
            if (t->slots[i].token != NULL) {
                *find(&wider, t->slots[i].token) = t->slots[i];
            }
        }
        free(t->slots);
        *t = wider;
    }
    entry *e = find(t, token);
    t->used += e->token == NULL;
    e->token = token;
    e->count++;
}

/* ---- the classifiers ---- */

typedef struct sense {
    const char *label;
    double examples, total; /* sentences, and tokens in them */
    table tokens;
} sense;

typedef struct word {
    const char *name;
    table seen; /* the tokens of all its senses: as many different ones as the table has used */
    sense *senses;
    size_t n_senses;
} word;

typedef struct model {
    word *words;
    size_t n_words;
} model;

static word *find_word(const model *m, const char *name)
{
    for (size_t i = 0; i < m->n_words; i++) {
        if (strcmp(m->words[i].name, name) == 0) {
            return &m->words[i];
        }
    }
    return NULL;
}

static word *word_of(model *m, const char *name)
{
    word *found = find_word(m, name);
    if (found == NULL) {
        m->words = checked(realloc(m->words, (m->n_words + 1) * sizeof *m->words));
        found = &m->words[m->n_words++];
        *found = (word){.name = name};
    }
    return found;
}

static sense *sense_of(word *w, const char *label)
{
    for (size_t i = 0; i < w->n_senses; i++) {
        if (strcmp(w->senses[i].label, label) == 0) {
            return &w->senses[i];
        }
    }
    w->senses = checked(realloc(w->senses, (w->n_senses + 1) * sizeof *w->senses));
    w->senses[w->n_senses] = (sense){.label = label};
    return &w->senses[w->n_senses++];
}

static void train(model *m, const attn_corpus *c)
{
    for (int64_t i = 0; i < attn_corpus_count(c); i++) {
        attn_example e = attn_corpus_get(c, i);
        word *w = word_of(m, e.word);
        sense *s = sense_of(w, e.sense);
        s->examples++;
        s->total += e.length - 1;
        for (int k = 0; k < e.length; k++) {
            if (k != e.target) {
                add(&s->tokens, e.tokens[k]);
                add(&w->seen, e.tokens[k]);
            }
        }
    }
}

static double score_of(const word *w, const sense *s, const attn_example *e)
{
    double score = log(s->examples);
    for (int k = 0; k < e->length; k++) {
        if (k != e->target && count_of(&w->seen, e->tokens[k]) > 0) {
            score += log(((double)count_of(&s->tokens, e->tokens[k]) + 1.0) / (s->total + (double)w->seen.used));
        }
    }
    return score;
}

static const char *predict(const model *m, const attn_example *e)
{
    const word *w = find_word(m, e->word);
    const char *best = "(unknown word)";
    double best_score = -INFINITY;
    for (size_t i = 0; w != NULL && i < w->n_senses; i++) {
        double score = score_of(w, &w->senses[i], e);
        if (score > best_score) {
            best_score = score;
            best = w->senses[i].label;
        }
    }
    return best;
}

static void free_model(model *m)
{
    for (size_t i = 0; i < m->n_words; i++) {
        for (size_t k = 0; k < m->words[i].n_senses; k++) {
            free(m->words[i].senses[k].tokens.slots);
        }
        free(m->words[i].senses);
        free(m->words[i].seen.slots);
    }
    free(m->words);
}

/* ---- the program ---- */

static attn_corpus *read_corpus(const char *path, const char *split)
{
    attn_error error;
    attn_corpus *c = checked(attn_corpus_new(NULL));
    if (attn_corpus_read(c, path, split, &error) != ATTN_OK) {
        (void)fprintf(stderr, "naive_bayes: %s\n", error.message);
        exit(2);
    }
    return c;
}

static void run(const char *train_path, const char *test_path)
{
    attn_corpus *training = read_corpus(train_path, "train"), *test = read_corpus(test_path, "test");
    attn_scores *scores = checked(attn_scores_new(NULL));
    model m = {0};
    train(&m, training);
    for (int64_t i = 0; i < attn_corpus_count(test); i++) {
        attn_example e = attn_corpus_get(test, i);
        if (attn_scores_add(scores, e.word, e.sense, predict(&m, &e)) != ATTN_OK) {
            checked(NULL);
        }
    }
    double n = (double)attn_scores_examples(scores), correct = (double)attn_scores_correct(scores);
    printf("| %s | %d | %.0f | %.0f | %.2f | %.2f |\n", test_path, attn_scores_words(scores), n, correct, 100.0 * correct / n,
           100.0 * attn_scores_macro_f1(scores));
    free_model(&m);
    attn_scores_free(scores);
    attn_corpus_free(test);
    attn_corpus_free(training);
}

int main(int argc, char **argv)
{
    if (argc < 3 || argc % 2 == 0) {
        (void)fprintf(stderr, "usage: naive_bayes TRAIN TEST [TRAIN TEST ...]\n");
        return 2;
    }
    printf("| test | words | sentences | correct | accuracy %% | macro F1 %% |\n| --- | --- | --- | --- | --- | --- |\n");
    for (int i = 1; i < argc; i += 2) {
        run(argv[i], argv[i + 1]);
    }
    return 0;
}

/* Counting predictions: accuracy, F1 and confusion, a word. */
#include <limits.h>
#include <string.h>

#include "attn/corpus.h"
#include "word_sense/names.h"
#include "word_sense/scores.h"

typedef struct word_counts {
    attn__names senses;
    attn_sense_score *scores; /* one a sense */
    size_t scores_room;
    int64_t *confusion; /* a row of `stride` numbers a sense */
    size_t confusion_room, stride;
    int64_t examples, correct;
} word_counts;

struct attn_scores {
    attn_allocator allocator;
    attn__arena arena;
    attn__names words;
    word_counts *counts; /* one a word */
    size_t counts_room;
};

attn_scores *attn_scores_new(const attn_allocator *allocator)
{
    attn_scores *s = attn__calloc(allocator, 1, sizeof *s);
    if (s != NULL) {
        s->allocator = allocator != NULL ? *allocator : attn__malloc;
        attn__arena_init(&s->arena, &s->allocator);
        s->words = attn__names_new(&s->arena);
    }
    return s;
}

void attn_scores_free(attn_scores *s)
{
    if (s == NULL) {
        return;
    }
    attn_allocator allocator = s->allocator;
    for (size_t i = 0; i < s->words.count; i++) {
        attn__names_free(&s->counts[i].senses);
        attn__free(&allocator, s->counts[i].scores);
        attn__free(&allocator, s->counts[i].confusion);
    }
    attn__names_free(&s->words);
    attn__free(&allocator, s->counts);
    attn__arena_free(&s->arena);
    attn__free(&allocator, s);
}

/* Finds or adds the word; NULL if out of memory. */
static word_counts *word_of(attn_scores *s, const char *word)
{
    size_t count = s->words.count;
    void *array = s->counts;
    bool grown = attn__grow(&s->allocator, &array, &s->counts_room, count + 1, sizeof *s->counts);
    s->counts = array;
    int64_t i = grown && count < INT_MAX ? attn__names_add(&s->words, word, strlen(word)) : -1;
    if (i < 0) {
        return NULL;
    }
    if ((size_t)i == count) {
        s->counts[i] = (word_counts){.senses = attn__names_new(&s->arena)};
    }
    return &s->counts[i];
}

/* Moves the n rows of a matrix, `from` numbers each, to where rows of `to` numbers stand; what is new is 0. */
static void restride(int64_t *matrix, size_t n, size_t from, size_t to)
{
    for (size_t k = 0; k < n; k++) {
        size_t row = to > from ? n - 1 - k : k; /* no row is written over before it has moved */
        memmove(matrix + row * to, matrix + row * from, n * sizeof *matrix);
        if (to > n) {
            memset(matrix + row * to + n, 0, (to - n) * sizeof *matrix);
        }
    }
    if (to > n) {
        memset(matrix + n * to, 0, (to - n) * to * sizeof *matrix);
    }
}

/* Room for one sense more. The rows of the matrix have room to spare, so that n senses do not move it n times. */
static bool make_room(attn_scores *s, word_counts *w)
{
    size_t n = w->senses.count, stride = w->stride > n ? w->stride : 2 * n + 8, cells;
    void *scores = w->scores, *confusion = w->confusion;
    bool grown = n < INT_MAX && attn__size_mul(stride, stride, &cells) &&
                 attn__grow(&s->allocator, &scores, &w->scores_room, n + 1, sizeof *w->scores) &&
                 attn__grow(&s->allocator, &confusion, &w->confusion_room, cells, sizeof *w->confusion);
    w->scores = scores;
    w->confusion = confusion;
    if (grown && stride != w->stride) {
        restride(w->confusion, n, w->stride, stride);
        w->stride = stride;
    }
    return grown;
}

/* Finds or adds a sense of the word; -1 if out of memory, nothing has changed then. */
static int64_t sense_of(attn_scores *s, word_counts *w, const char *sense, size_t size)
{
    int64_t found = attn__names_find(&w->senses, sense, size);
    if (found >= 0) {
        return found;
    }
    size_t n = w->senses.count;
    if (!make_room(s, w) || attn__names_add(&w->senses, sense, size) < 0) {
        return -1;
    }
    w->scores[n] = (attn_sense_score){.sense = w->senses.list[n].text};
    return (int64_t)n;
}

attn_status attn_scores_declare(attn_scores *s, const char *word, const char *sense)
{
    if (*word == '\0' || *sense == '\0') {
        return ATTN_EINVAL;
    }
    word_counts *w = word_of(s, word);
    return w != NULL && sense_of(s, w, sense, strlen(sense)) >= 0 ? ATTN_OK : ATTN_ENOMEM;
}

const char *attn__pick_gold(const char *gold, const char *predicted, size_t *size)
{
    const char *first = gold;
    *size = 0;
    for (const char *part = gold;; part++) {
        size_t n = strcspn(part, ";");
        if (n == strlen(predicted) && memcmp(part, predicted, n) == 0) {
            *size = n;
            return part;
        }
        if (*size == 0) {
            first = part;
            *size = n;
        }
        part += n;
        if (*part == '\0') {
            return first;
        }
    }
}

attn_status attn_scores_add(attn_scores *s, const char *word, const char *gold, const char *predicted)
{
    size_t size;
    const char *counted = attn__pick_gold(gold, predicted, &size);
    if (*word == '\0' || *predicted == '\0' || size == 0) {
        return ATTN_EINVAL;
    }
    word_counts *w = word_of(s, word);
    int64_t row = w != NULL ? sense_of(s, w, counted, size) : -1;
    int64_t column = row >= 0 ? sense_of(s, w, predicted, strlen(predicted)) : -1;
    if (column < 0) {
        return ATTN_ENOMEM;
    }
    bool correct = row == column;
    w->examples++;
    w->correct += correct;
    w->scores[row].support++;
    w->scores[row].correct += correct;
    w->scores[column].predicted++;
    w->confusion[(size_t)row * w->stride + (size_t)column]++;
    return ATTN_OK;
}

/* ---- results ---- */

static double ratio(int64_t part, int64_t whole)
{
    return whole > 0 ? (double)part / (double)whole : 0.0;
}

/* 2 P R / (P + R) = 2 correct / (support + predicted), which is also right where P or R has no value. */
static double f1_of(const attn_sense_score *score)
{
    return ratio(2 * score->correct, score->support + score->predicted);
}

static double macro_f1_of(const word_counts *w)
{
    double sum = 0.0;
    int64_t occurring = 0;
    for (size_t i = 0; i < w->senses.count; i++) {
        sum += f1_of(&w->scores[i]);
        occurring += w->scores[i].support + w->scores[i].predicted > 0;
    }
    return occurring > 0 ? sum / (double)occurring : 0.0;
}

int64_t attn_scores_examples(const attn_scores *s)
{
    int64_t sum = 0;
    for (size_t i = 0; i < s->words.count; i++) {
        sum += s->counts[i].examples;
    }
    return sum;
}

int64_t attn_scores_correct(const attn_scores *s)
{
    int64_t sum = 0;
    for (size_t i = 0; i < s->words.count; i++) {
        sum += s->counts[i].correct;
    }
    return sum;
}

static double micro_f1_of(const word_counts *w)
{
    return ratio(w->correct, w->examples);
}

/* Words that were only declared have no scores to average. */
static double mean_over_words(const attn_scores *s, double (*score)(const word_counts *w))
{
    double sum = 0.0;
    int64_t words = 0;
    for (size_t i = 0; i < s->words.count; i++) {
        sum += score(&s->counts[i]);
        words += s->counts[i].examples > 0;
    }
    return words > 0 ? sum / (double)words : 0.0;
}

double attn_scores_micro_f1(const attn_scores *s)
{
    return mean_over_words(s, micro_f1_of);
}

double attn_scores_macro_f1(const attn_scores *s)
{
    return mean_over_words(s, macro_f1_of);
}

int attn_scores_words(const attn_scores *s)
{
    return (int)s->words.count;
}

attn_word_score attn_scores_word(attn_scores *s, int i)
{
    if (i < 0 || (size_t)i >= s->words.count) {
        return (attn_word_score){0};
    }
    word_counts *w = &s->counts[i];
    for (size_t k = 0; k < w->senses.count; k++) {
        attn_sense_score *score = &w->scores[k];
        score->precision = ratio(score->correct, score->predicted);
        score->recall = ratio(score->correct, score->support);
        score->f1 = f1_of(score);
    }
    if (w->stride > w->senses.count) {
        restride(w->confusion, w->senses.count, w->stride, w->senses.count);
        w->stride = w->senses.count;
    }
    return (attn_word_score){
        .word = s->words.list[i].text,
        .examples = w->examples,
        .correct = w->correct,
        .micro_f1 = micro_f1_of(w),
        .macro_f1 = macro_f1_of(w),
        .n_senses = (int)w->senses.count,
        .senses = w->scores,
        .confusion = w->confusion,
    };
}

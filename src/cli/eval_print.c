/* attn eval: its results as text and as JSON. */
#include <limits.h>

#include "eval.h"

double accuracy_of(const attn_scores *s)
{
    return attn_scores_examples(s) > 0 ? (double)attn_scores_correct(s) / (double)attn_scores_examples(s) : 0;
}

/* ---- JSON ---- */

static json_t *word_to_json(const attn_word_score *w)
{
    json_t *senses = json_array(), *confusion = json_array();
    for (int i = 0; i < w->n_senses; i++) {
        const attn_sense_score *s = &w->senses[i];
        json_t *row = json_array();
        for (int j = 0; j < w->n_senses; j++) {
            json_array_append_new(row, json_integer(w->confusion[i * w->n_senses + j]));
        }
        json_array_append_new(confusion, row);
        json_array_append_new(senses, json_pack("{s:s, s:I, s:f, s:f, s:f}", "sense", s->sense, "support", (json_int_t)s->support,
                                                "precision", s->precision, "recall", s->recall, "f1", s->f1));
    }
    return json_pack("{s:s, s:I, s:f, s:f, s:o, s:o}", "word", w->word, "examples", (json_int_t)w->examples, "micro_f1", w->micro_f1,
                     "macro_f1", w->macro_f1, "senses", senses, "confusion", confusion);
}

static double mean(double sum, int64_t n)
{
    return n > 0 ? sum / (double)n : 0;
}

static json_t *calibration_to_json(const attn_calibration *c)
{
    json_t *bins = json_array();
    for (int i = 0; i < ATTN_CALIBRATION_BINS; i++) {
        const attn_calibration_bin *b = &c->bin[i];
        json_array_append_new(bins, json_pack("{s:f, s:f, s:I, s:f, s:f}", "above", (double)i / ATTN_CALIBRATION_BINS, "to",
                                              (double)(i + 1) / ATTN_CALIBRATION_BINS, "examples", (json_int_t)b->examples, "confidence",
                                              mean(b->confidence, b->examples), "accuracy", mean((double)b->correct, b->examples)));
    }
    return json_pack("{s:f, s:o}", "expected_error", attn_calibration_error(c), "bins", bins);
}

static json_t *distances_to_json(const attn_distances *d)
{
    json_t *bins = json_array();
    for (int i = 0; i < ATTN_DISTANCE_BINS; i++) {
        const attn_distance_bin *b = &d->bin[i];
        int first, last;
        attn_distances_range(i, &first, &last);
        json_t *bin = json_pack("{s:i, s:I, s:f, s:f}", "from", first, "examples", (json_int_t)b->examples, "weight",
                                mean(b->weight, b->examples), "accuracy", mean((double)b->correct, b->examples));
        json_array_append_new(bins, bin);
    }
    return bins;
}

void print_evaluation_json(const evaluation *v)
{
    attn_scores *s = v->scores;
    json_t *words = json_array();
    for (int i = 0; i < attn_scores_words(s); i++) {
        attn_word_score w = attn_scores_word(s, i);
        json_array_append_new(words, word_to_json(&w));
    }
    print_json(json_pack("{s:s, s:I, s:I, s:f, s:{s:f, s:f}, s:o, s:o, s:o}", "schema", "attn.eval/1", "examples",
                         (json_int_t)attn_scores_examples(s), "correct", (json_int_t)attn_scores_correct(s), "accuracy", accuracy_of(s),
                         "mean_over_words", "micro_f1", attn_scores_micro_f1(s), "macro_f1", attn_scores_macro_f1(s), "words", words,
                         "calibration", calibration_to_json(&v->calibration), "by_distance", distances_to_json(&v->distances)));
}

/* ---- text ---- */

static int widest_name(attn_scores *s)
{
    int width = 14;
    for (int i = 0; i < attn_scores_words(s); i++) {
        attn_word_score w = attn_scores_word(s, i);
        for (int j = 0; j < w.n_senses; j++) {
            int n = text_width(w.senses[j].sense) + 2;
            width = n > width ? n : width;
        }
    }
    return width;
}

static void print_scores(attn_scores *s)
{
    int width = widest_name(s);
    print_padded("word / sense", width);
    printf("  %8s %9s %9s %9s   confusion (row = gold)\n", "support", "precision", "recall", "F1");
    for (int i = 0; i < attn_scores_words(s); i++) {
        attn_word_score w = attn_scores_word(s, i);
        print_padded(w.word, width);
        printf("  %8lld   micro F1 %.4f   macro F1 %.4f\n", (long long)w.examples, w.micro_f1, w.macro_f1);
        for (int j = 0; j < w.n_senses; j++) {
            const attn_sense_score *x = &w.senses[j];
            fputs("  ", stdout);
            print_padded(x->sense, width - 2);
            printf("  %8lld %9.4f %9.4f %9.4f  ", (long long)x->support, x->precision, x->recall, x->f1);
            for (int k = 0; k < w.n_senses; k++) {
                printf(" %5lld", (long long)w.confusion[j * w.n_senses + k]);
            }
            putchar('\n');
        }
    }
}

static void print_calibration(const attn_calibration *c, int64_t examples)
{
    double confidence = 0;
    int64_t correct = 0;
    printf("%-14s  %8s %9s %11s %9s\n", "confidence", "support", "share", "their mean", "accuracy");
    for (int i = 0; i < ATTN_CALIBRATION_BINS; i++) {
        const attn_calibration_bin *b = &c->bin[i];
        printf("%.1f to %.1f      %8lld %9.4f", (double)i / ATTN_CALIBRATION_BINS, (double)(i + 1) / ATTN_CALIBRATION_BINS,
               (long long)b->examples, mean((double)b->examples, examples));
        if (b->examples > 0) {
            printf(" %11.4f %9.4f\n", mean(b->confidence, b->examples), mean((double)b->correct, b->examples));
        } else {
            printf(" %11s %9s\n", "-", "-");
        }
        confidence += b->confidence;
        correct += b->correct;
    }
    printf("%-14s  %8lld %9.4f %11.4f %9.4f   expected calibration error %.4f\n", "all", (long long)examples, examples > 0 ? 1.0 : 0.0,
           mean(confidence, examples), mean((double)correct, examples), attn_calibration_error(c));
}

/* "none", "1", "3-4", "33-" */
static void name_distances(int bin, char text[32])
{
    int first, last;
    attn_distances_range(bin, &first, &last);
    if (first == last) {
        (void)snprintf(text, 32, first == 0 ? "none" : "%d", first);
    } else if (last == INT_MAX) {
        (void)snprintf(text, 32, "%d-", first);
    } else {
        (void)snprintf(text, 32, "%d-%d", first, last);
    }
}

static void print_distances(const attn_distances *d, int64_t examples)
{
    printf("%-14s  %8s %9s %11s %9s   (of the most attended other word)\n", "distance", "support", "share", "weight", "accuracy");
    for (int i = 0; i < ATTN_DISTANCE_BINS; i++) {
        const attn_distance_bin *b = &d->bin[i];
        char name[32];
        name_distances(i, name);
        if (b->examples > 0) {
            printf("%-14s  %8lld %9.4f %11.4f %9.4f\n", name, (long long)b->examples, mean((double)b->examples, examples),
                   mean(b->weight, b->examples), mean((double)b->correct, b->examples));
        }
    }
}

void print_evaluation(const evaluation *v, eval_tables tables)
{
    attn_scores *s = v->scores;
    int64_t examples = attn_scores_examples(s);
    print_scores(s);
    if (tables.calibration) {
        print_calibration(&v->calibration, examples);
    }
    if (tables.distances) {
        print_distances(&v->distances, examples);
    }
    printf("%lld of %lld right: accuracy %.4f; mean over %d word%s: micro F1 %.4f, macro F1 %.4f\n", (long long)attn_scores_correct(s),
           (long long)examples, accuracy_of(s), attn_scores_words(s), attn_scores_words(s) == 1 ? "" : "s", attn_scores_micro_f1(s),
           attn_scores_macro_f1(s));
}

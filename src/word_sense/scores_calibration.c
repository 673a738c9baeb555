/* Bins of predictions: by confidence, and by the distance of the word that decided. */
#include <limits.h>
#include <math.h>

#include "attn/evaluation.h"

void attn_calibration_add(attn_calibration *c, double confidence, bool correct)
{
    int b = 0;
    while (b + 1 < ATTN_CALIBRATION_BINS && confidence > (double)(b + 1) / ATTN_CALIBRATION_BINS) {
        b++;
    }
    c->bin[b].examples++;
    c->bin[b].correct += correct;
    c->bin[b].confidence += confidence;
}

/* n_b / n |correct_b / n_b - confidence_b / n_b| needs no division by n_b. */
double attn_calibration_error(const attn_calibration *c)
{
    double sum = 0;
    int64_t examples = 0;
    for (int b = 0; b < ATTN_CALIBRATION_BINS; b++) {
        sum += fabs((double)c->bin[b].correct - c->bin[b].confidence);
        examples += c->bin[b].examples;
    }
    return examples > 0 ? sum / (double)examples : 0;
}

static double mean_over_heads(const double *weights, int heads, int length, int token)
{
    double sum = 0;
    for (int h = 0; h < heads; h++) {
        sum += weights[(int64_t)h * length + token];
    }
    return sum / heads;
}

/* Each next one is the largest of those that come after the last one: smaller, or equal and further right. */
int attn_most_attended(const double *weights, int heads, int length, int except, int most, int *index, double *weight)
{
    int n = 0;
    for (bool found = true; n < most && found; n += found) {
        found = false;
        for (int i = 0; i < length; i++) {
            double w = mean_over_heads(weights, heads, length, i);
            bool next = i != except && (n == 0 || w < weight[n - 1] || (w == weight[n - 1] && i > index[n - 1]));
            if (next && (!found || w > weight[n])) {
                index[n] = i;
                weight[n] = w;
                found = true;
            }
        }
    }
    return n;
}

void attn_distances_range(int bin, int *first, int *last)
{
    *first = bin < 2 ? bin : (1 << (bin - 2)) + 1;
    *last = bin < 2 ? bin : bin + 1 < ATTN_DISTANCE_BINS ? 1 << (bin - 1) : INT_MAX;
}

void attn_distances_add(attn_distances *d, int distance, double weight, bool correct)
{
    int b = 0, first, last;
    for (attn_distances_range(b, &first, &last); distance > last; attn_distances_range(b, &first, &last)) {
        b++;
    }
    d->bin[b].examples++;
    d->bin[b].correct += correct;
    d->bin[b].weight += weight;
}

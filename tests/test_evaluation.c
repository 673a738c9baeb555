/* Calibration and the distance of the word that decided, against numbers worked out by hand and by other means. */
#include "support/check.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "attn/evaluation.h"
#include "attn/random.h"

#define assert_exact(actual, expected) assert_close((actual), (expected), 1e-15, 0.0)

/* ---- calibration ---- */

static void by_hand(void **state)
{
    (void)state;
    attn_calibration c = {0};
    assert_exact(attn_calibration_error(&c), 0.0); /* of nothing, and no NaN */
    attn_calibration_add(&c, 0.92, true);
    attn_calibration_add(&c, 0.98, false);
    attn_calibration_add(&c, 0.95, true);
    attn_calibration_add(&c, 0.55, true);
    attn_calibration_add(&c, 0.65, false);
    assert_int_equal(c.bin[9].examples, 3);
    assert_int_equal(c.bin[9].correct, 2);
    assert_exact(c.bin[9].confidence, 2.85);
    assert_int_equal(c.bin[5].examples, 1);
    assert_int_equal(c.bin[5].correct, 1);
    assert_int_equal(c.bin[6].examples, 1);
    assert_int_equal(c.bin[6].correct, 0);
    /* 3/5 |2/3 - 0.95| + 1/5 |1 - 0.55| + 1/5 |0 - 0.65| = 0.17 + 0.09 + 0.13 */
    assert_exact(attn_calibration_error(&c), 0.39);
}

static int bin_of(double confidence)
{
    attn_calibration c = {0};
    attn_calibration_add(&c, confidence, true);
    int found = -1;
    for (int b = 0; b < ATTN_CALIBRATION_BINS; b++) {
        assert_true(c.bin[b].examples == 0 || found < 0);
        found = c.bin[b].examples > 0 ? b : found;
    }
    return found;
}

/* The edge of two bins belongs to the lower one, also where 10 times it is not a whole number. */
static void edges_belong_to_the_bin_below(void **state)
{
    (void)state;
    const double edges[] = {0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0};
    for (int b = 0; b < 10; b++) {
        assert_int_equal(bin_of(edges[b]), b);
        assert_int_equal(bin_of(nextafter(edges[b], 0)), b);
        assert_int_equal(bin_of(nextafter(edges[b], 2)), b < 9 ? b + 1 : 9);
    }
    assert_int_equal(bin_of(0), 0);
}

/* Ends at which the error is known: always as sure as right; always sure and wrong; sure by halves and always right. */
static void extremes(void **state)
{
    (void)state;
    attn_calibration exact = {0}, wrong = {0}, timid = {0};
    for (int i = 0; i < 8; i++) {
        attn_calibration_add(&exact, 0.75, i < 6);
        attn_calibration_add(&wrong, 1, false);
        attn_calibration_add(&timid, 0.5, true);
    }
    assert_exact(attn_calibration_error(&exact), 0.0);
    assert_exact(attn_calibration_error(&wrong), 1.0);
    assert_exact(attn_calibration_error(&timid), 0.5);
}

/* The formula of the paper, written out over the sets of predictions: for each bin a pass over all of them. */
static void the_formula_over_random_predictions(void **state)
{
    (void)state;
    enum { N = 5000 };
    double *confidence = malloc(N * sizeof *confidence), expected = 0;
    bool *correct = malloc(N * sizeof *correct);
    assert_true(confidence != NULL && correct != NULL);
    attn_calibration c = {0};
    for (int i = 0; i < N; i++) {
        confidence[i] = sqrt(attn_random_uniform(1, 0, (uint64_t)i));
        correct[i] = attn_random_uniform(1, 1, (uint64_t)i) < confidence[i] * confidence[i];
        attn_calibration_add(&c, confidence[i], correct[i]);
    }
    for (int m = 1; m <= 10; m++) {
        double right = 0, sure = 0, size = 0;
        for (int i = 0; i < N; i++) {
            if (ceil(confidence[i] * 10) == m) {
                size += 1;
                right += correct[i];
                sure += confidence[i];
            }
        }
        expected += size > 0 ? size / N * fabs(right / size - sure / size) : 0;
    }
    assert_true(expected > 0.05);
    assert_close(attn_calibration_error(&c), expected, 1e-12, 0.0);
    free(correct);
    free(confidence);
}

/* ---- the word that decided ---- */

static void the_largest_mean_weights_first(void **state)
{
    (void)state;
    const double weights[2][5] = {{0.5, 0.1, 0.2, 0.1, 0.1}, {0.1, 0.3, 0.2, 0.3, 0.1}}; /* means 0.3, 0.2, 0.2, 0.2, 0.1 */
    int index[6];
    double weight[6];
    assert_int_equal(attn_most_attended(weights[0], 2, 5, -1, 6, index, weight), 5); /* no more than there are */
    const int order[] = {0, 1, 2, 3, 4};
    assert_memory_equal(index, order, sizeof order);
    assert_exact(weight[0], 0.3);
    assert_exact(weight[4], 0.1);
    assert_int_equal(attn_most_attended(weights[1], 1, 5, -1, 3, index, weight), 3); /* of equals the first */
    assert_int_equal(index[0], 1);
    assert_int_equal(index[1], 3);
    assert_int_equal(index[2], 2);
    assert_int_equal(attn_most_attended(weights[1], 1, 5, 1, 2, index, weight), 2);
    assert_int_equal(index[0], 3);
    assert_int_equal(index[1], 2);
    assert_exact(weight[1], 0.2);
    assert_int_equal(attn_most_attended(weights[0], 2, 5, 0, 1, index, weight), 1);
    assert_int_equal(index[0], 1);
    assert_int_equal(attn_most_attended(weights[0], 1, 1, 0, 5, index, weight), 0); /* the only one is left out */
    assert_int_equal(attn_most_attended(weights[0], 1, 5, -1, 0, index, weight), 0);
}

static void distances_double(void **state)
{
    (void)state;
    const int first[] = {0, 1, 2, 3, 5, 9, 17, 33}, last[] = {0, 1, 2, 4, 8, 16, 32, INT_MAX};
    int seen = 0;
    for (int b = 0; b < ATTN_DISTANCE_BINS; b++) {
        int from, to;
        attn_distances_range(b, &from, &to);
        assert_int_equal(from, first[b]);
        assert_int_equal(to, last[b]);
        for (int distance = from; distance <= to && distance <= 40; distance++, seen++) {
            attn_distances d = {0}, expected = {0};
            attn_distances_add(&d, distance, 0.25, true);
            expected.bin[b] = (attn_distance_bin){1, 1, 0.25};
            assert_memory_equal(&d, &expected, sizeof d);
        }
    }
    assert_int_equal(seen, 41);
    attn_distances d = {0};
    attn_distances_add(&d, INT_MAX, 0.5, false);
    attn_distances_add(&d, 33, 0.25, true);
    assert_int_equal(d.bin[7].examples, 2);
    assert_int_equal(d.bin[7].correct, 1);
    assert_exact(d.bin[7].weight, 0.75);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(by_hand),
        cmocka_unit_test(edges_belong_to_the_bin_below),
        cmocka_unit_test(extremes),
        cmocka_unit_test(the_formula_over_random_predictions),
        cmocka_unit_test(the_largest_mean_weights_first),
        cmocka_unit_test(distances_double),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Attention against PyTorch: outputs, weights, scores and all gradients of the configurations that tests/reference/attention_torch.py has
 * drawn and computed in float64.
 *
 * float64. A difference is relative to the largest absolute value of its tensor: at most 1e-12 for values, 1e-10 for gradients. Some
 * gradients are zero in exact arithmetic, since what they belong to moves all scores of a row alike (b_k under a dot product, a bias that
 * is repeated over the keys). Both sides then hold rounding errors, below 1e-12 of the configuration's largest gradient; these may differ
 * by 1e-13 of that.
 *
 * float32, on the same numbers, which it holds exactly: at most n epsilon with n = (1 + S) (Tq + Tk + H (d + dv)), what the sums run over,
 * times 1 + S, S the largest absolute score, because e^s turns an absolute error of s into a relative one. Values are relative to the
 * largest of their tensor, gradients to the largest of the configuration or, where that is smaller, to 1, the size of what is summed. */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/reference.h"

#include "attn/random.h"

static reference stored;

static int open_all(void **state)
{
    (void)state;
    reference_open(&stored);
    return 0;
}

static int close_all(void **state)
{
    (void)state;
    reference_close(&stored);
    return 0;
}

/* ---- what is there ---- */

static void both_sides_draw_the_same_numbers(void **state)
{
    (void)state;
    const json_t *sample = json_object_get(stored.index, "uniform");
    assert_int_equal(json_array_size(sample), 8);
    for (size_t i = 0; i < 8; i++) {
        double here = i < 4 ? attn_random_uniform(1, 2, i) : attn_random_uniform(UINT64_MAX, UINT64_C(1) << 40, i - 4);
        double there = strtod(json_string_value(json_array_get(sample, i)), NULL);
        assert_memory_equal(&here, &there, sizeof here);
    }
}

static int count(bool (*is_so)(const json_t *c, const char *name), const char *name)
{
    int n = 0;
    const json_t *c;
    size_t i;
    json_array_foreach(stored.configurations, i, c)
    {
        n += is_so(c, name);
    }
    return n;
}

static bool has_score(const json_t *c, const char *name)
{
    return strcmp(json_string_value(json_object_get(c, "score")), name) == 0;
}

static bool is_of_kind(const json_t *c, const char *name)
{
    return strcmp(json_string_value(json_object_get(c, "kind")), name) == 0;
}

static bool has_option(const json_t *c, const char *name)
{
    const json_t *number = json_object_get(c, name);
    return json_is_integer(number) ? json_integer_value(number) > 0
                                   : json_is_real(number) || json_array_size(number) > 0 || json_is_true(number);
}

static bool has_none(const json_t *c, const char *name)
{
    return reference_number(c, name) == 0;
}

static bool is_grouped(const json_t *c, const char *name)
{
    return reference_number(c, "heads") > reference_number(c, name);
}

static void every_option_is_among_the_configurations(void **state)
{
    (void)state;
    static const char *const kinds[] = {"none", "key_lengths", "query_lengths", "row_lengths", "row_begins",    "pairs",
                                        "keys", "top-left",    "bottom-right",  "position",    "window",        "packed",
                                        "bias", "several",     "no_key",        "no_row",      "minus_infinity"};
    static const char *const scores[] = {"scaled-dot", "dot", "additive"};
    static const char *const options[] = {"past", "scale", "soft_cap", "clip", "bias", "self", "query_start", "output_projection", "layer"};
    static const char *const sizes[] = {"batch", "queries", "keys", "width", "value_width"};
    assert_true(json_array_size(stored.configurations) >= 300);
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        assert_true(count(is_of_kind, kinds[i]) >= 15);
    }
    for (size_t i = 0; i < sizeof scores / sizeof scores[0]; i++) {
        assert_true(count(has_score, scores[i]) >= 100);
    }
    for (size_t i = 0; i < sizeof options / sizeof options[0]; i++) {
        assert_true(count(has_option, options[i]) >= 10);
    }
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        assert_true(count(has_none, sizes[i]) >= 5);
    }
    assert_true(count(is_grouped, "kv_heads") >= 50);
}

/* ---- the comparison ---- */

/* What a result is; ZERO: a gradient that is zero in exact arithmetic. */
typedef enum kind { VALUE, GRADIENT, ZERO, KINDS } kind;

/* How far a result may be off, as a share of its scale; for float32 in units of n epsilon. */
static const double limits[2][KINDS] = {[ATTN_F32] = {1, 1, 1}, [ATTN_F64] = {1e-12, 1e-10, 1e-13}};

/* A configuration, its results by PyTorch, and what they are measured with. */
typedef struct expectation {
    const json_t *c;
    const double *numbers;
    double gradient; /* the largest of all */
    double n;        /* of the bound of float32 */
} expectation;

static bool is_gradient(const char *name)
{
    return strncmp(name, "d ", 2) == 0;
}

/* Largest finite absolute value. */
static double largest(const double *x, int64_t n)
{
    double most = 0;
    for (int64_t i = 0; i < n; i++) {
        most = isfinite(x[i]) ? fmax(most, fabs(x[i])) : most;
    }
    return most;
}

/* Largest difference; a NaN, or an infinity on one side alone, is infinitely far. */
static double distance(const double *x, const double *y, int64_t n)
{
    double most = 0;
    for (int64_t i = 0; i < n; i++) {
        double d = x[i] == y[i] ? 0 : fabs(x[i] - y[i]);
        most = isnan(d) ? (double)INFINITY : fmax(most, d);
    }
    return most;
}

static json_t *results_of(const json_t *c)
{
    return json_object_get(c, "results");
}

static expectation expect(const json_t *c, const double *numbers)
{
    expectation e = {.c = c, .numbers = numbers};
    const char *name;
    json_t *shape;
    double score = 0;
    json_object_foreach(results_of(c), name, shape)
    {
        int64_t count = attn_shape_count(reference_shape(shape));
        double most = largest(numbers, count);
        e.gradient = is_gradient(name) ? fmax(e.gradient, most) : e.gradient;
        score = strcmp(name, "scores") == 0 || strcmp(name, "scaled") == 0 ? fmax(score, most) : score;
        numbers += count;
    }
    int64_t widths = reference_number(c, "width") + reference_number(c, "value_width");
    int64_t lengths = reference_number(c, "queries") + reference_number(c, "past") + reference_number(c, "keys");
    e.n = (1 + score) * (double)(lengths + reference_number(c, "heads") * widths);
    return e;
}

/* One result: what it is, and its difference as a share of its scale, in the unit of its limit. */
static double compare(const reference_run *run, const expectation *e, const char *name, const json_t *dimensions, const double *expected,
                      kind *k)
{
    attn_shape shape, wanted = reference_shape(dimensions);
    double *actual = reference_result(run, name, &shape);
    assert_true(attn_shape_equal(shape, wanted));
    int64_t n = attn_shape_count(shape);
    double scale = largest(expected, n), d = distance(actual, expected, n);
    free(actual);
    *k = !is_gradient(name) ? VALUE : scale < 1e-12 * e->gradient ? ZERO : GRADIENT;
    if (run->dtype == ATTN_F32) {
        scale = e->n * (double)FLT_EPSILON * (*k == VALUE ? scale : fmax(1, e->gradient));
    } else if (*k == ZERO) {
        scale = e->gradient;
    }
    return d == 0 ? 0 : d / scale;
}

static void complain(const expectation *e, const char *name, attn_dtype dtype, double difference, double limit)
{
    char *text = json_dumps(e->c, JSON_COMPACT);
    print_error("%s, %s: differs by %.3g, expected %.3g at most\n%s\n", name, attn_dtype_name(dtype), difference, limit, text);
    free(text);
    fail();
}

/* All results of a configuration; returns how many numbers there are. */
static int64_t compare_all(const expectation *e, attn_dtype dtype, double worst[KINDS])
{
    reference_run run;
    reference_run_open(&run, e->c, dtype);
    int64_t at = 0;
    const char *name;
    json_t *shape;
    json_object_foreach(results_of(e->c), name, shape)
    {
        kind k;
        double difference = compare(&run, e, name, shape, e->numbers + at, &k);
        if (!(difference <= limits[dtype][k])) {
            complain(e, name, dtype, difference, limits[dtype][k]);
        }
        worst[k] = fmax(worst[k], difference);
        at += attn_shape_count(reference_shape(shape));
    }
    reference_run_close(&run);
    return at;
}

static void compare_everything(attn_dtype dtype, const char *unit)
{
    double worst[KINDS] = {0};
    int64_t at = 0;
    const json_t *c;
    size_t i;
    json_array_foreach(stored.configurations, i, c)
    {
        expectation e = expect(c, stored.numbers.values + at);
        at += compare_all(&e, dtype, worst);
    }
    assert_int_equal(at, stored.numbers.columns);
    print_message("%s, %s, %zu configurations, %lld numbers: values within %.2g%s, gradients %.2g, those that are zero %.2g\n", attn_isa(),
                  attn_dtype_name(dtype), i, (long long)at, worst[VALUE], unit, worst[GRADIENT], worst[ZERO]);
}

static void float64_agrees_with_pytorch(void **state)
{
    (void)state;
    compare_everything(ATTN_F64, "");
}

static void float32_stays_within_its_bound(void **state)
{
    (void)state;
    compare_everything(ATTN_F32, " n epsilon");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(both_sides_draw_the_same_numbers),
        cmocka_unit_test(every_option_is_among_the_configurations),
        cmocka_unit_test(float64_agrees_with_pytorch),
        cmocka_unit_test(float32_stays_within_its_bound),
    };
    return cmocka_run_group_tests(tests, open_all, close_all);
}

/* The steps of a prediction as tables, each under its formula. */
#include <math.h>
#include <stdlib.h>

#include "explain.h"
#include "table.h"

/* What is printed: a sentence, its explanation, and how much of it. */
typedef struct page {
    const attn_example *sentence;
    const attn_explanation *e;
    const explain_part *part;
    double prior; /* weight of the logarithm of how often training saw a sense */
} page;

const char *score_name(attn_score score)
{
    static const char *const names[] = {
        [ATTN_SCORE_SCALED_DOT] = "scaled-dot", [ATTN_SCORE_DOT] = "dot", [ATTN_SCORE_ADDITIVE] = "additive"};
    return names[score];
}

/* Free them with free(). */
static double *new_numbers(size_t n)
{
    double *x = calloc(n, sizeof *x);
    if (x == NULL) {
        exit(fail("out of memory"));
    }
    return x;
}

static const char *word_at(const page *p, int j)
{
    return p->sentence->tokens[p->e->begin + j];
}

/* A first row "TITLE 0 1 2 ..." */
static table vectors(const char *title, int width)
{
    table t = {.columns = 1 + width};
    table_text(&t, "%s", title);
    for (int c = 0; c < width; c++) {
        table_text(&t, "%d", c);
    }
    return t;
}

static void add_row(const page *p, table *t, const char *name, const double *values)
{
    table_text(t, "%s", name);
    table_numbers(t, values, t->columns - 1, p->part->digits);
}

/* A row a word, of an array (n,width). */
static void add_words(const page *p, table *t, const double *values)
{
    for (int j = 0; j < p->e->n; j++) {
        add_row(p, t, word_at(p, j), values + (int64_t)j * (t->columns - 1));
    }
}

static void print_query_and_keys(const page *p, const attn_head_steps *s)
{
    printf("\n1. Query and keys: q = x W_q of '%s', k = x W_k of every word; x is a word's learned vector\n",
           p->sentence->tokens[p->e->target]);
    if (!p->part->brief) {
        table t = vectors("", p->e->d);
        add_row(p, &t, "q", s->query);
        add_words(p, &t, s->key);
        table_print(&t);
    }
    if (s->w != NULL && !p->part->brief) {
        printf("\n   w, and tanh(q + k) of every word\n");
        table t = vectors("", p->e->d);
        add_row(p, &t, "w", s->w);
        add_words(p, &t, s->squashed);
        table_print(&t);
    }
}

/* Formulas of the steps from score to weights. */
static void print_formulas(const page *p, const attn_head_steps *s)
{
    printf("\n2. Score, how well a key answers the query: %s\n",
           s->w != NULL ? "w · tanh(q + k) = Σ w[c] tanh(q[c] + k[c])" : "q · k = Σ q[c] k[c]");
    if (p->e->score == ATTN_SCORE_SCALED_DOT) {
        printf("3. Scale: divided by √%d = %.*f, or softmax would saturate at large widths\n", p->e->d, p->part->digits, sqrt(p->e->d));
    } else {
        printf("3. Scale: none with %s scores\n", score_name(p->e->score));
    }
    if (s->position != NULL) {
        printf("4. Position: plus a number that was learned for the distance to '%s'\n", p->sentence->tokens[p->e->target]);
    } else {
        printf("4. Position: none in this model\n");
    }
    printf("5. Softmax: weight = exp(score) / Σ exp(score); the largest score is subtracted from all first, which changes no weight\n\n");
}

/* A column of the table of scores; `summed` tells its sum in the last row. */
typedef struct column {
    const char *title;
    const double *values;
    bool summed;
} column;

static void print_columns(const page *p, const column *c, int columns)
{
    table t = {.columns = 2 + columns};
    table_text(&t, "word");
    table_text(&t, "distance");
    for (int i = 0; i < columns; i++) {
        table_text(&t, "%s", c[i].title);
    }
    for (int j = 0; j < p->e->n; j++) {
        table_text(&t, "%s", word_at(p, j));
        int distance = p->e->begin + j - p->e->target;
        table_text(&t, distance != 0 ? "%+d" : "%d", distance);
        for (int i = 0; i < columns; i++) {
            table_number(&t, c[i].values[j], p->part->digits);
        }
    }
    table_text(&t, "sum");
    table_text(&t, "%s", "");
    for (int i = 0; i < columns; i++) {
        double sum = 0;
        for (int j = 0; j < p->e->n; j++) {
            sum += c[i].values[j];
        }
        if (c[i].summed) {
            table_number(&t, sum, p->part->digits);
        } else {
            table_text(&t, "%s", "");
        }
    }
    table_print(&t);
}

/* exp(x - max) of n numbers; free it with free(). */
static double *exponentials(const double *x, int n)
{
    double max = x[0], *y = new_numbers((size_t)n);
    for (int i = 1; i < n; i++) {
        max = fmax(max, x[i]);
    }
    for (int i = 0; i < n; i++) {
        y[i] = exp(x[i] - max);
    }
    return y;
}

static void print_scores(const page *p, const attn_head_steps *s)
{
    column c[6];
    int n = 0;
    char scale[32];
    double *e = exponentials(s->score, p->e->n);
    (void)snprintf(scale, sizeof scale, "/√%d", p->e->d);
    print_formulas(p, s);
    c[n++] = (column){s->w != NULL ? "w·tanh(q+k)" : "q·k", s->raw, false};
    if (p->e->score == ATTN_SCORE_SCALED_DOT) {
        c[n++] = (column){scale, s->scaled, false};
    }
    if (s->position != NULL) {
        c[n++] = (column){"position", s->position, false};
        c[n++] = (column){"score", s->score, false};
    }
    c[n++] = (column){"exp(score-max)", e, true};
    c[n++] = (column){"weight", s->weight, true};
    print_columns(p, c, n);
    free(e);
}

static void print_mix(const page *p, const attn_head_steps *s)
{
    int dv = p->e->dv;
    printf("\n6. Weighted sum: new vector = Σ weight · v, with v = x W_v of every word\n");
    if (p->part->brief) {
        return;
    }
    double *parts = new_numbers((size_t)p->e->n * (size_t)dv);
    for (int i = 0; i < p->e->n * dv; i++) {
        parts[i] = s->weight[i / dv] * s->value[i];
    }
    table t = vectors("v", dv);
    add_words(p, &t, s->value);
    table_print(&t);
    printf("\n");
    t = vectors("weight · v", dv);
    add_words(p, &t, parts);
    add_row(p, &t, "sum: new vector", s->mixed);
    table_print(&t);
    free(parts);
}

/* The last matrix: a row a sense. */
static void print_matrix(const page *p, const attn_head_steps *s)
{
    int senses = p->e->prediction.n_senses, dv = p->e->dv;
    printf("\n7. What this head says for each sense: new vector · W of the sense, for the logits below\n");
    if (p->part->brief) {
        return;
    }
    double *row = new_numbers((size_t)dv);
    table t = vectors("", dv);
    add_row(p, &t, "new vector", s->mixed);
    for (int k = 0; k < senses; k++) {
        for (int c = 0; c < dv; c++) {
            row[c] = s->matrix[c * senses + k];
        }
        add_row(p, &t, p->e->prediction.senses[k], row);
    }
    table_print(&t);
    free(row);
}

/* What each word says for each sense, whatever its weight. The sums over the words are added to sums (senses). */
static void print_neighbours(const page *p, double *sums)
{
    const attn_explanation *e = p->e;
    int senses = e->prediction.n_senses;
    column *c = calloc((size_t)senses, sizeof *c);
    double *said = new_numbers((size_t)e->n * (size_t)senses); /* (senses,n) */
    if (c == NULL) {
        exit(fail("out of memory"));
    }
    for (int s = 0; s < senses; s++) {
        c[s] = (column){e->prediction.senses[s], said + (int64_t)s * e->n, true};
        for (int j = 0; j < e->n; j++) {
            said[s * e->n + j] = e->neighbours[j * senses + s];
            sums[s] += said[s * e->n + j];
        }
    }
    printf("8. Neighbours: what a word says by having stood near '%s' in training, whatever its weight:\n"
           "   %.4g near · ln((n[sense] + 0.3 q[sense]) / ((n + 0.3) q[sense])), near = 5 / (5 + distance);\n"
           "   n: near summed over training, n[sense]: over the sentences of a sense; q: share of a sense in all of these;\n"
           "   where words are written without spaces, each of its characters says as much in the same way, times 0.3;\n"
           "   %.4g is larger the more training sentences a sense has\n\n",
           p->sentence->tokens[e->target], e->neighbours_weight, e->neighbours_weight);
    print_columns(p, c, senses);
    printf("\n");
    free(said);
    free(c);
}

/* All heads together: logits and probabilities of one member. */
static void print_senses(const page *p, const attn_member_steps *m)
{
    int senses = p->e->prediction.n_senses, heads = p->e->heads, step = 8;
    bool neighbours = p->e->neighbours != NULL;
    double *e = exponentials(m->logit, senses), *sums = new_numbers((size_t)senses);
    printf("\n== senses, from all heads\n\n");
    if (neighbours) {
        print_neighbours(p, sums);
        step++;
    }
    printf("%d. Logit = Σ over the heads of new vector · W, + bias, + prior = %g ln(training sentences of the sense + 0.5)%s\n"
           "%d. Softmax: probability = exp(logit) / Σ exp(logit)\n\n",
           step, p->prior, neighbours ? ", + neighbours" : "", step + 1);
    static const char *const titles[] = {"bias", "prior", "neighbours", "logit", "exp(logit-max)", "probability"};
    table t = {.columns = 6 + heads + neighbours};
    table_text(&t, "sense");
    for (int h = 0; h < heads; h++) {
        table_text(&t, "head %d", h);
    }
    for (int i = 0; i < 6; i++) {
        if (i != 2 || neighbours) {
            table_text(&t, "%s", titles[i]);
        }
    }
    for (int s = 0; s < senses; s++) {
        const double first[] = {m->bias[s], m->prior[s], sums[s]}, last[] = {m->logit[s], e[s], m->probability[s]};
        table_text(&t, "%s", p->e->prediction.senses[s]);
        for (int h = 0; h < heads; h++) {
            table_number(&t, m->head[h].part[s], p->part->digits);
        }
        table_numbers(&t, first, 2 + neighbours, p->part->digits);
        table_numbers(&t, last, 3, p->part->digits);
    }
    table_print(&t);
    free(sums);
    free(e);
}

static void print_member(const page *p, int k)
{
    const attn_explanation *e = p->e;
    const attn_member_steps *m = &e->member[k];
    if (e->members > 1) {
        printf("\n==== model %d of 0..%d, seed %llu\n", k, e->members - 1, (unsigned long long)m->seed);
    }
    for (int h = 0; h < e->heads; h++) {
        if (is_told(p->part->head, h)) {
            printf("\n== head %d of 0..%d\n", h, e->heads - 1);
            print_query_and_keys(p, &m->head[h]);
            print_scores(p, &m->head[h]);
            print_mix(p, &m->head[h]);
            print_matrix(p, &m->head[h]);
        }
    }
    print_senses(p, m);
}

/* What is explained, and which words the model does not know. */
static void print_title(const page *p)
{
    const attn_explanation *e = p->e;
    for (int i = 0; i < p->sentence->length; i++) {
        print_token(i, p->sentence->tokens[i], i == e->target);
    }
    printf("\n%s scores, heads: %d, width of a query and of a key: %d, of a value: %d\n", score_name(e->score), e->heads, e->d, e->dv);
    if (e->n < p->sentence->length) {
        printf("the model looks at the words %d..%d\n", e->begin, e->begin + e->n - 1);
    }
    bool any = false;
    for (int j = 0; j < e->n; j++) {
        if (!e->known[j]) {
            fputs(any ? " " : "unknown words, which share one vector: ", stdout);
            print_text(word_at(p, j));
            any = true;
        }
    }
    if (any) {
        printf("\n");
    }
}

void print_explanation(const attn_example *sentence, const attn_explanation *e, const explain_part *part, double prior)
{
    const page p = {sentence, e, part, prior};
    print_title(&p);
    for (int k = 0; k < e->members; k++) {
        if (is_told(part->member, k)) {
            print_member(&p, k);
        }
    }
    printf(e->members > 1 ? "\n==== prediction: the mean of %d models\n\n" : "\n== prediction\n\n", e->members);
    table t = {.columns = 2};
    for (int s = 0; s < e->prediction.n_senses; s++) {
        table_text(&t, "%s%s", s == e->prediction.best ? "* " : "  ", e->prediction.senses[s]);
        table_number(&t, e->prediction.probabilities[s], part->digits);
    }
    table_print(&t);
}

/* Sentences and a model as the panels of a heatmap: who attends to whom. */
#include <stdlib.h>
#include <string.h>

#include "heatmap.h"

/* One sentence on its way to panels. */
typedef struct job {
    const sentence_request *request;
    attn_word_sense *m;
    panels *p;
    attn_example words;
    int sentence;      /* counted from 0 */
    const char *where; /* for messages: "", "sentence 2: ", "standard input:2: " */
    int heads;
    double *weights; /* (heads, L, L) */
    char *title;     /* senses of the ambiguous words, NULL if there is none */
} job;

static int out_of_memory(void)
{
    return fail("out of memory");
}

/* ---- what a panel shows ---- */

static const target_choice any_target = {NULL, -1};

/* "apple: company (0.98), bank: river (0.73)". A sentence without a word that the model knows senses of is drawn all the same. */
static int tell_senses(job *j)
{
    attn_prediction p;
    attn_error error;
    size_t used = 0;
    j->title = NULL;
    for (int i = next_target(j->m, &j->words, any_target, 0); i >= 0; i = next_target(j->m, &j->words, any_target, i + 1)) {
        if (attn_word_sense_predict(j->m, j->words.tokens, j->words.length, i, &p, &error) != ATTN_OK) {
            return fail("%s%s", j->where, error.message);
        }
        const char *word = j->words.tokens[i], *sense = p.senses[p.best];
        bool named = strncmp(sense, word, strlen(word)) == 0; /* the label names the word itself */
        size_t room = strlen(word) + strlen(sense) + 40;
        char *longer = realloc(j->title, used + room);
        if (longer == NULL) {
            return out_of_memory();
        }
        j->title = longer;
        used += (size_t)snprintf(longer + used, room, "%s%s%s%s (%.2f)", used > 0 ? ", " : "", named ? "" : word, named ? "" : ": ", sense,
                                 p.probabilities[p.best]);
    }
    if (j->title == NULL) {
        note(j->request->quiet, "%sno word whose senses the model knows, so no sense is told", j->where);
    }
    return DONE;
}

double *weights_of_head(const double *weights, int heads, int length, int head)
{
    size_t n = (size_t)length * (size_t)length;
    double *values = calloc(n, sizeof *values);
    for (int h = 0; values != NULL && h < heads; h++) {
        if (head == ATTN_HEAD_MEAN || head == h) {
            for (size_t i = 0; i < n; i++) {
                values[i] += weights[(size_t)h * n + i] / (head == ATTN_HEAD_MEAN ? heads : 1);
            }
        }
    }
    return values;
}

/* NULL if memory is out. */
static char *panel_title(const job *j, int head)
{
    const char *sense = j->title != NULL ? j->title : "";
    size_t size = strlen(sense) + 60;
    char *title = malloc(size);
    if (title != NULL && head == ATTN_HEAD_MEAN) {
        (void)snprintf(title, size, "%s", sense);
    } else if (title != NULL) {
        (void)snprintf(title, size, "%s%shead %d", sense, sense[0] != '\0' ? ", " : "", head);
    }
    return title;
}

/* At the end of list[0 .. *n - 1]. Takes the title, which is NULL if memory is out. */
static int add_panel(job *j, attn_heatmap_panel **list, int *n, int head, char *title)
{
    attn_heatmap_panel *larger = realloc(*list, ((size_t)*n + 1) * sizeof *larger);
    if (larger == NULL) {
        free(title);
        return out_of_memory();
    }
    *list = larger;
    attn_heatmap_panel *panel = &larger[(*n)++];
    *panel = (attn_heatmap_panel){.title = title, .rows = j->words.length, .columns = j->words.length};
    panel->group = j->sentence;
    panel->heads = j->heads;
    panel->head = head;
    panel->values = weights_of_head(j->weights, j->heads, j->words.length, head);
    panel->row_labels = panel->column_labels = j->words.tokens;
    return panel->title != NULL && panel->values != NULL ? DONE : out_of_memory();
}

/* ---- sentences ---- */

static int add_panels(job *j)
{
    attn_error error;
    int head = j->request->head, code = tell_senses(j), L = j->words.length;
    j->weights = code == DONE ? calloc((size_t)j->heads * (size_t)L, (size_t)L * sizeof *j->weights) : NULL;
    if (code == DONE && j->weights == NULL) {
        code = fail("%sout of memory: %d heads of %d x %d weights take %zu bytes", j->where, j->heads, L, L,
                    (size_t)j->heads * (size_t)L * (size_t)L * sizeof *j->weights);
    }
    if (code == DONE && attn_word_sense_attention(j->m, j->words.tokens, L, j->weights, &error) != ATTN_OK) {
        code = fail("%s%s", j->where, error.message);
    }
    int first = head == ATTN_HEAD_ALL ? 0 : head, last = head == ATTN_HEAD_ALL ? j->heads - 1 : head;
    for (int h = first; h <= last && code == DONE; h++) {
        code = add_panel(j, &j->p->panel, &j->p->n, h, panel_title(j, h));
    }
    for (int h = 0; h < j->heads && j->request->every_head && code == DONE; h++) {
        code = add_panel(j, &j->p->every, &j->p->n_every, h, panel_title(j, ATTN_HEAD_MEAN));
    }
    free(j->weights);
    free(j->title);
    return code;
}

static int add_sentence(void *ctx, const char *text, const char *where, long long number)
{
    job *j = ctx;
    (void)number;
    j->where = where;
    int code = read_sentence(j->m, j->p->words, text, j->request->tokenize, any_target, where, &j->words);
    code = code == DONE ? add_panels(j) : code;
    j->sentence++;
    return code;
}

int panels_of_sentences(const sentence_request *request, panels *p)
{
    *p = (panels){.heads = 1};
    attn_word_sense *m = load_model(request->model, request->threads);
    if (m == NULL) {
        return FAILED;
    }
    job j = {.request = request, .m = m, .p = p, .heads = attn_word_sense_get_config(m).heads};
    p->heads = j.heads;
    int code = DONE;
    p->words = attn_corpus_new(NULL);
    if (p->words == NULL) {
        code = out_of_memory();
    } else if (request->head >= j.heads) {
        code = fail("--head is %d, the model has the heads 0..%d", request->head, j.heads - 1);
    } else {
        code =
            each_sentence(&(sentence_source){.sentences = request->sentences, .n = request->n, .quiet = request->quiet}, add_sentence, &j);
    }
    attn_word_sense_free(m);
    return code;
}

static void free_list(attn_heatmap_panel *list, int n)
{
    for (int i = 0; i < n; i++) {
        free((void *)list[i].title);
        free((void *)list[i].values);
    }
    free(list);
}

void panels_free(panels *p)
{
    free_list(p->panel, p->n);
    free_list(p->every, p->n_every);
    attn_corpus_free(p->words);
}

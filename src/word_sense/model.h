/* The word-sense model's inside, grouped by the file that defines it. Not installed. */
#ifndef ATTN_MODEL_H
#define ATTN_MODEL_H

#include "attn/optim.h"
#include "attn/random.h"
#include "attn/word_sense.h"
#include "core/core.h"
#include "core/file.h"
#include "word_sense/names.h"

/* Words of a vocabulary at most: row numbers that a float32 holds exactly. */
#define ATTN__MOST_WORDS ((1 << 24) - 1)

/* One sense of one word. Senses of a word are numbered one after the other, the most frequent first. */
typedef struct attn__sense {
    const char *label;
    int word;
    int64_t count; /* training examples */
} attn__sense;

typedef struct attn__lemma {
    int first, senses; /* its senses are first .. first + senses - 1 */
} attn__lemma;

/* How often a word or character stood near an ambiguous word in one of its senses, as neighbours.c counts; in the file a row of three
 * numbers. */
typedef struct attn__neighbour {
    float key, sense, count; /* row in the vocabulary, or minus a code point; number of the sense: both are exact */
} attn__neighbour;
_Static_assert(sizeof(attn__neighbour) == 3 * sizeof(float), "a row of the file");

typedef struct attn__neighbours {
    attn__neighbour *entry; /* by ambiguous word, key, sense */
    bool borrowed;          /* they lie in the mapped file */
    int64_t count;
    int64_t *begin; /* entries of word w are begin[w] .. begin[w + 1] - 1 */
    double *share;  /* (S) of the counts of the word */
    double *weight; /* (words) of what they say */
} attn__neighbours;

/* One model of the ensemble, and how far it has been trained. */
typedef struct attn__member {
    uint64_t seed;
    attn_params *params;
    const attn_attention *layer;
    int embedding, out, out_bias; /* parameters: (V,D), (H dv, S), (S) */
    attn_optimizer *optimizer;    /* NULL unless training is under way */
    int epochs;                   /* finished */
    int64_t step;                 /* finished steps of the current epoch */
    double loss;                  /* sum over the sentences of the current epoch */
    bool finished;
    double best_score; /* of the dev data, and the epoch that reached it; 0 = none */
    int best_epoch;
    float *best; /* parameters of that epoch, one after the other */
} attn__member;

struct attn_word_sense {
    attn_allocator allocator;
    attn__arena arena;
    attn_word_sense_config config;
    attn__names vocabulary; /* number n is row n + 1 of the embeddings; row 0 is the unknown word */
    attn__names lemmas;     /* the ambiguous words */
    attn__lemma *lemma;
    attn__sense *sense;
    int n_senses;
    attn__neighbours neighbours; /* none if config.neighbours is 0 */
    attn__member *member;        /* config.seeds of them */
    attn__mapping file;          /* whose tables of embeddings and neighbours are used where they are; none: they were read */
    const char *file_name;       /* for messages about what is found in it later */
    attn_tape *tape;
    attn__arena scratch;  /* of one batch or prediction */
    uint64_t fingerprint; /* of the training data; 0: not trained yet */
    int epochs_planned;
    attn_vectors_report vectors_report;
};

/* ---- config.c ---- */

/* Every number in its range? ATTN_EINVAL names the first that is not. */
attn_status attn__config_check(const attn_word_sense_config *c, attn_error *error);
/* As a JSON object from the allocator, and back: every field must be there that the version of the format has; the others are 0. */
struct attn__json;
char *attn__config_to_json(const attn_word_sense_config *c, const attn_allocator *allocator);
attn_status attn__config_from_json(const struct attn__json *object, int version, attn_word_sense_config *c, attn_error *error);

/* ---- vocabulary.c ---- */

/* Tables of words, lemmas and senses from the training data. */
attn_status attn__vocabulary_build(attn_word_sense *m, const attn_corpus *train, attn_error *error);
/* Sentences that an epoch sees: of each sense at most sense_cap. */
int64_t attn__epoch_sentences(const attn_word_sense *m);
/* Adds a word that is not there; its row, 0 if it is too long, -1 if memory is out. */
int32_t attn__vocabulary_add(attn_word_sense *m, const char *token);
/* Row of a token in the embedding table, 0 if it is unknown; the same of a text of `size` bytes. */
int32_t attn__token_row(const attn_word_sense *m, const char *token);
int32_t attn__text_row(const attn_word_sense *m, const char *text, size_t size);
/* Number of a sense of a word, -1 if unknown. */
int attn__sense_find(const attn_word_sense *m, int word, const char *label, size_t size);
/* Writes the token as the vocabulary knows it (ASCII digits as 0) into buffer; its size, at most `room`. */
size_t attn__normalise(const char *token, char *buffer, size_t room);

/* ---- encode.c: sentences as numbers, and batches of them ---- */

/* A sentence cut to the window around its ambiguous word. */
typedef struct attn__encoded {
    const int32_t *ids;
    const char *const *tokens; /* what the ids stand for: the caller's */
    int32_t length, target;    /* target: place in ids */
    int32_t begin;             /* of the window in the sentence */
    int32_t word, sense;       /* lemma and sense number; -1 unknown */
} attn__encoded;

typedef struct attn__batch {
    int64_t size, length;
    int32_t *ids;        /* (B,L), padded with 0 */
    uint8_t *keep;       /* (B,L), true = visible */
    int32_t *start;      /* (B), place of the ambiguous word */
    int32_t *query;      /* (B,1), its row */
    int32_t *labels;     /* (B) */
    uint8_t *candidates; /* (B,S) */
    double *counted;     /* (B,S) what attn__counted says of each sentence; NULL in training */
} attn__batch;

/* Of a mapped file, whose table of embeddings nobody has looked at, the rows that are needed: ATTN_ENONFINITE names one that is not finite.
 */
attn_status attn__check_rows(const attn_word_sense *m, const int32_t *ids, const char *const *tokens, int64_t n, attn_error *error);
/* Errors: ATTN_ENOMEM, that of attn__check_rows. */
attn_status attn__encode(const attn_word_sense *m, attn__arena *arena, const char *const *tokens, int length, int target, attn__encoded *e,
                         attn_error *error);
/* All examples of a corpus. ATTN_EUNKNOWN_WORD with place if `strict`, else unknown words and senses are left out. */
attn_status attn__encode_corpus(const attn_word_sense *m, attn__arena *arena, const attn_corpus *corpus, bool strict, attn__encoded **list,
                                int64_t *count, attn_error *error);
/* Puts n sentences side by side; false if out of memory. */
bool attn__batch_make(const attn_word_sense *m, attn__arena *arena, const attn__encoded *const *list, int64_t n, attn__batch *b);
/* The same for a prediction, which hears neighbours or not. */
bool attn__batch_ask(const attn_word_sense *m, attn__arena *arena, const attn__encoded *const *list, int64_t n, bool neighbours,
                     attn__batch *b);

/* ---- neighbours.c ---- */

/* Counts the neighbours of the training sentences, unless config.neighbours is 0. */
attn_status attn__neighbours_count(attn_word_sense *m, const attn_corpus *train, attn_error *error);
/* Makes entries ready for use: after counting, or from a file, where ATTN_EFORMAT tells what is wrong with them. */
attn_status attn__neighbours_open(attn_word_sense *m, attn_error *error);
/* Adds what word j of the sentence says to the logits (S) of the senses of its ambiguous word. */
void attn__neighbour_says(const attn_word_sense *m, const attn__encoded *e, int j, double *logit);
/* What counts of the training data add to the logits (S) of those senses: their priors, and what the neighbours say if they are heard. The
 * others stay as they are. */
void attn__counted(const attn_word_sense *m, const attn__encoded *e, bool neighbours, double *logit);

/* ---- model.c ---- */

/* An independent seed for each use of the one that the user gave. */
typedef enum attn__purpose { ATTN__FOR_INIT = 1, ATTN__FOR_DROPOUT, ATTN__FOR_WORDS, ATTN__FOR_ORDER, ATTN__FOR_VECTORS } attn__purpose;
uint64_t attn__seed_for(uint64_t seed, attn__purpose purpose);

/* Declares the parameters of a member in the given dtype, which allocates none of them; then makes them. */
attn_status attn__member_declare(const attn_word_sense *m, attn__member *member, attn_dtype dtype, attn_error *error);
attn_status attn__member_build(attn__member *member, attn_error *error);
void attn__member_free(const attn_word_sense *m, attn__member *member);
/* Logits (B,S) of a batch. `attention` receives what the attention did on the way, with weights and scores (B,H,1,L), if it is not NULL. */
attn_tensor *attn__member_logits(const attn_word_sense *m, const attn__member *member, attn_tape *t, const attn__batch *b,
                                 attn_attention_output *attention);
/* Loss of a batch: cross entropy of the logits with the log share of each sense in an epoch added. */
attn_tensor *attn__member_loss(const attn_word_sense *m, const attn__member *member, attn_tape *t, const attn__batch *b);
/* Makes the tape of a model whose tables are filled, and declares its members. */
attn_status attn__model_open(attn_word_sense *m, attn_error *error);
attn_word_sense *attn__model_new(const attn_allocator *allocator);

/* ---- train.c ---- */

/* Gives the member a new optimiser; the learning rate is a factor of every step. */
attn_status attn__member_optimizer(const attn_word_sense *m, attn__member *member, attn_error *error);

/* ---- predict.c ---- */

/* What a prediction adds to the logit of a sense: how often training saw it. */
double attn__sense_prior(const attn_word_sense *m, int sense);
/* Adds `share` times the softmax over the candidate senses of sentence i of a batch, with what was counted, to p (S). False if a number is
 * not finite. */
bool attn__add_probabilities(const attn_word_sense *m, const attn_tensor *logits, const attn__batch *b, int64_t i, double share, double *p);
/* Scores of one member alone, with neighbours or without. */
attn_status attn__member_score(attn_word_sense *m, const attn__member *member, const attn_corpus *corpus, bool neighbours,
                               attn_scores *scores, attn_error *error);

/* attn_word_sense_predict and attn_word_sense_attention with working memory of the model's own or of a predictor. */
attn_status attn__predict(const attn_word_sense *m, attn_tape *tape, attn__arena *scratch, const char *const *tokens, int length,
                          int target, attn_prediction *prediction, attn_error *error);
attn_status attn__attention(const attn_word_sense *m, attn_tape *t, attn__arena *scratch, const char *const *tokens, int length,
                            double *weights, attn_error *error);

/* ---- corpus_vectors.c ---- */

/* Vectors from the training text for the vocabulary's first `words` words, rows 1.. of a (words + 1, dim) table; columns beyond the number
 * of words stay as they are. */
attn_status attn__corpus_vectors(const attn_word_sense *m, const attn_corpus *train, int64_t words, int dim, float *table,
                                 attn_error *error);

/* ---- plan.c: which sentences an epoch sees, in which batches ---- */

typedef struct attn__plan {
    const attn__encoded **list; /* sentences of the epoch in order */
    int64_t count, batches;
    int64_t *begin; /* batch i is list[begin[i]] .. list[begin[i + 1] - 1] */
} attn__plan;

/* The same seed and epoch give the same plan. Lives in the arena; false if out of memory. */
bool attn__plan_epoch(const attn_word_sense *m, attn__arena *arena, uint64_t seed, int epoch, attn__encoded *data, int64_t count,
                      attn__plan *plan);

#endif

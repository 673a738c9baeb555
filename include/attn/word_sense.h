/* Word senses: a model that learns from labelled sentences which sense of an ambiguous word a sentence means.
 *
 *     tokens -> embeddings -> self-attention -> the ambiguous word's new vector -> its candidate senses (masked softmax)
 *
 * The query of a word is W_q of its own embedding, so that every word of a sentence has a row of weights, not only the ambiguous one.
 * A prediction also hears counts of the training sentences: how frequent each sense was, and which words stood near it (config.prior and
 * config.neighbours).
 * Several ambiguous words are learned jointly: they share embeddings and attention, and have senses of their own. */
#ifndef ATTN_WORD_SENSE_H
#define ATTN_WORD_SENSE_H

#include "attn/attention.h"
#include "attn/corpus.h"
#include "attn/gradcheck.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Whether the distance of two words counts. */
typedef enum attn_position {
    ATTN_POSITION_RELATIVE, /* a learned bias of the score for every distance */
    ATTN_POSITION_NONE,     /* no */
} attn_position;

/** Where the embeddings start. */
typedef enum attn_vectors {
    ATTN_VECTORS_CORPUS, /* made from the training sentences: PPMI of neighbouring words, truncated SVD */
    ATTN_VECTORS_NONE,   /* random */
    ATTN_VECTORS_FILE,   /* from a file of word vectors. A word that it lacks gets the vector that the training text suggests: the
                             linear image of its ATTN_VECTORS_CORPUS vector that fits the words which have both best. If there are fewer
                             than 200 such words, or the text has no vector of it either, it starts at random */
} attn_vectors;

/** How a file of word vectors is written; docs/formats.md has the rules. */
typedef enum attn_vectors_format {
    ATTN_VECTORS_FORMAT_AUTO,     /* found out from the first lines */
    ATTN_VECTORS_FORMAT_WORD2VEC, /* text, of word2vec or fastText: a line "WORDS DIMENSION", then a word and its numbers a line */
    ATTN_VECTORS_FORMAT_GLOVE,    /* the same without the first line */
    ATTN_VECTORS_FORMAT_BINARY, /* of word2vec: the same first line, then word, space, little-endian float32 numbers, perhaps a line end */
} attn_vectors_format;

/** Called while a file of word vectors is read: bytes so far, and of how many (0: not known). */
typedef void (*attn_vectors_progress_fn)(void *ctx, int64_t bytes, int64_t total);

/** Everything that decides a training run. Obtain the defaults from attn_word_sense_defaults, then change what should differ. */
typedef struct attn_word_sense_config {
    attn_score score;       /* how a query and a key are compared */
    attn_position position; /* whether their distance counts */
    attn_vectors vectors;   /* where the embeddings start */
    bool freeze_vectors;    /* and whether they stay there */
    int dim;                /* width of an embedding; with ATTN_VECTORS_FILE that of the file, which 0 accepts whatever it is */
    int heads;              /* of attention */
    int hidden;             /* width of a projected query or key in one head; for additive scores the hidden units of the small network */
    int window;             /* tokens looked at on each side of the ambiguous word */
    int min_count;          /* words seen less often in training share the vector of unknown words; 0: chosen by the size of the corpus */
    int seeds;              /* models of different seeds whose probabilities are averaged */
    int epochs;             /* 0: chosen by the size of the corpus */
    int batch;              /* sentences a step; 0: chosen by the size of the corpus */
    int sense_cap;          /* sentences of one sense in an epoch at most, drawn anew each time */
    double learning_rate, weight_decay; /* of AdamW; warmed up and decayed linearly */
    double clip;                        /* largest norm of the gradients; 0: no limit */
    double dropout;                     /* of embedding components; of the features it is 3/5 of that */
    double word_dropout;                /* share of context words hidden from a sentence */
    double attention_dropout;           /* of weights */
    double label_smoothing;             /* share of the target spread over all senses of the word; -1: by the sentences of a sense */
    double prior;                       /* weight of the training share of a sense at prediction; 0: all senses alike, 1: as in training */
    double neighbours; /* weight at prediction of what words near the ambiguous one say for its senses by themselves, counted in the
                          training sentences: see attn_explanation; 0: nothing, attention and share alone decide */
    int patience;  /* stop after so many epochs without a better dev score (without neighbours) and keep the best; 0: never stop early */
    uint64_t seed; /* of everything random */
    int threads;   /* 0: attn_default_threads(); never changes the result */
    /* For ATTN_VECTORS_FILE. Only attn_word_sense_new looks at these; no model keeps them. */
    const char *vectors_file;                  /* "-": standard input */
    attn_vectors_format vectors_format;        /* how it is written */
    int vectors_words;                         /* words that the training text lacks are kept too, as many, the first of the file [20000] */
    attn_vectors_progress_fn vectors_progress; /* NULL: none */
    void *vectors_progress_ctx;                /* handed to it */
} attn_word_sense_config;

ATTN_API attn_word_sense_config attn_word_sense_defaults(void); /* the default configuration */

/** A model, trained or not. */
typedef struct attn_word_sense attn_word_sense;

/** A new, untrained model: vocabulary, senses, candidates and counts are those of the data; embeddings are initialised. A file of word
 * vectors is read once, in memory that grows with the vocabulary and not with the file.
 * @param train labelled sentences   @param config NULL: all defaults   @return to be freed with attn_word_sense_free; NULL on error
 * @errors ATTN_EINVAL (a number out of range, named; dim is not that of the vectors file), ATTN_EFORMAT (fewer
 * than two senses of every word; no vectors in the file, or a damaged binary one: "FILE: word K of N ..."), ATTN_EIO (vectors file),
 * ATTN_ENOMEM */
ATTN_API attn_word_sense *attn_word_sense_new(const attn_corpus *train, const attn_word_sense_config *config,
                                              const attn_allocator *allocator, attn_error *error);

ATTN_API void attn_word_sense_free(attn_word_sense *m); /* Frees it and all that it gave; NULL is fine. */

/** The model as it was before its training: the same numbers, from the same seed.
 * @param train what it was trained on, without the part that was held out   @param vectors_file the file that its embeddings came from, or
 * NULL
 * @return to be freed with attn_word_sense_free; NULL on error
 * @errors ATTN_EMISMATCH (other data: their words or senses are not the model's), ATTN_EINVAL (a vectors file is
 * needed), and the errors of attn_word_sense_new */
ATTN_API attn_word_sense *attn_word_sense_untrained(const attn_word_sense *m, const attn_corpus *train, const char *vectors_file,
                                                    const attn_allocator *allocator, attn_error *error);

/** Rows of a vectors file that are of one kind: how many, and the place of the first: its line, or in a binary file its number. 0: none. */
typedef struct attn_vectors_rows {
    int64_t count, first; /* how many, and where */
} attn_vectors_rows;

/** What a file of word vectors held. Of the words, those that are counted nowhere else are not in the vocabulary. */
typedef struct attn_vectors_report {
    const char *format;           /* "word2vec", "glove" or "binary"; NULL if the model was not made from a file */
    int dim;                      /* of the vectors */
    int64_t promised;             /* words, by the file's first line; -1 if it has no such line */
    int64_t words;                /* rows with a word and its vector; of these: */
    int64_t used;                 /*   words of the training text that got their vector, of `wanted` */
    int64_t wanted;               /*   words of the training text */
    int64_t added;                /*   other words that are kept */
    int64_t guessed;              /* further words of the training text whose vector was guessed from that text */
    attn_vectors_rows repeated;   /*   words of the vocabulary that had one: the first counts. 1998 and 2005 are one word to the model */
    attn_vectors_rows odd;        /*   words of nothing but spaces and tabs: not used */
    attn_vectors_rows broken;     /*   words with broken UTF-8 or a zero byte: not used */
    attn_vectors_rows not_finite; /*   vectors with nan, inf or what no float can hold: not used */
    attn_vectors_rows malformed;  /* lines that are no word with `dim` numbers after it, or longer than 256 KiB */
} attn_vectors_report;

/** @return what the file held that attn_word_sense_new read. Nothing of it is saved with a model */
ATTN_API attn_vectors_report attn_word_sense_vectors_report(const attn_word_sense *m);

/** What a training run reports after every epoch. */
typedef struct attn_word_sense_progress {
    int member, members;               /* model of the ensemble, from 0 */
    int epoch, epochs;                 /* finished epochs; 0 before the first */
    int64_t steps;                     /* finished steps of this epoch (mid-epoch reports), and of how many */
    int64_t steps_per_epoch;           /* all of them */
    bool epoch_done;                   /* the epoch is finished */
    double loss;                       /* mean over the epoch so far, nats */
    int64_t sentences;                 /* trained on so far in this run */
    bool has_dev;                      /* the next two are valid: after an epoch, with dev data */
    double dev_micro_f1, dev_macro_f1; /* means over the words */
} attn_word_sense_progress;

/** Called after every step; false stops the run (ATTN_EINTERRUPTED) at the end of that step. It may save the model, predict with it and
 * look at its attention, which changes nothing of the run; it must not train or free it. */
typedef bool (*attn_word_sense_progress_fn)(void *ctx, const attn_word_sense_progress *progress);

/** Trains from where the model stands (a new model: from the start; a loaded one that was interrupted: exactly where it stopped). The same
 * seed, data and configuration give the same bits for any number of threads.
 * @param train labelled sentences   @param dev others to measure the model on after every epoch; NULL: none   @param progress NULL: none
 * @errors ATTN_EINTERRUPTED (the model can be saved and continued), ATTN_ENONFINITE, ATTN_EMISMATCH (other data than before),
 *         ATTN_EUNKNOWN_WORD (in the dev data), ATTN_ENOMEM */
ATTN_API ATTN_NODISCARD attn_status attn_word_sense_train(attn_word_sense *m, const attn_corpus *train, const attn_corpus *dev,
                                                          attn_word_sense_progress_fn progress, void *ctx, attn_error *error);

/** One prediction; strings and arrays are owned by the model or predictor and valid until its next prediction. */
typedef struct attn_prediction {
    int n_senses;                /* of the word */
    const char *const *senses;   /* of the word, in the order of their frequency in training */
    const double *probabilities; /* sum 1 */
    int best;                    /* index of the most probable sense */
    int heads, length;           /* of the model, of the sentence */
    const double *attention;     /* (heads, length): weights of the ambiguous word on each token of the sentence; 0 outside the window */
} attn_prediction;

/** The sense of tokens[target].  @param prediction receives it
 * @errors ATTN_EUNKNOWN_WORD naming the word and the known ones, ATTN_EINVAL (target outside), ATTN_ENONFINITE
 *         (parameters so large that a score overflows; an embedding in a mapped file), ATTN_ENOMEM */
ATTN_API ATTN_NODISCARD attn_status attn_word_sense_predict(attn_word_sense *m, const char *const *tokens, int length, int target,
                                                            attn_prediction *prediction, attn_error *error);

/** Predicts a whole corpus.
 * @param corpus labelled sentences   @param scores receives them   @param predictions receives attn_corpus_count senses, owned by the
 * model; NULL: not wanted   @errors ATTN_EUNKNOWN_WORD with file and line for a word that the model does not know,
 * ATTN_ENONFINITE, ATTN_ENOMEM */
ATTN_API ATTN_NODISCARD attn_status attn_word_sense_score(attn_word_sense *m, const attn_corpus *corpus, attn_scores *scores,
                                                          const char **predictions, attn_error *error);

/** Who attends to whom in a sentence; mean over the members of an ensemble.
 * @param weights receives (heads, length, length) numbers; rows are queries   @errors ATTN_EINVAL (no word), ATTN_ENONFINITE, ATTN_ENOMEM
 */
ATTN_API ATTN_NODISCARD attn_status attn_word_sense_attention(attn_word_sense *m, const char *const *tokens, int length, double *weights,
                                                              attn_error *error);

/** How the text of a sentence becomes tokens. */
typedef enum attn_tokenization {
    ATTN_TOKENIZE_AUTO,   /* one of the others, by the text */
    ATTN_TOKENIZE_SPACES, /* what stands between spaces, tabs and line ends, as it is */
    ATTN_TOKENIZE_WORDS,  /* raw text with spaces between words: lower case, punctuation and clitics apart */
    ATTN_TOKENIZE_CHARS,  /* the same, and text of scripts without spaces, as Chinese, cut by longest match */
} attn_tokenization;

/** Cuts the text of a sentence into the tokens that the model was trained on.
 *
 * SPACES changes nothing: for text that was cut like the training data.
 *
 * WORDS cuts at white space of Unicode. What stands between loses the marks (punctuation, symbols) before and behind it, the marks inside
 * of it but for hyphens, slashes, & and the like, clitics ('s 're 've 'll 'm 'd) and n't, which become tokens of their own; letters become
 * lower case. What the vocabulary holds is neither changed nor parted ("u.s.", "yahoo!"; capitals, if the training text had them). Marks
 * are spelled as the vocabulary has them (as '' or --); marks and clitics that it does not have in any spelling are left
 * out.
 *
 * CHARS is the same, with Chinese, Japanese, Thai, Lao, Khmer and Burmese cut by longest match: at each place the longest word of the
 * vocabulary that begins there; what lies between two known words is one unknown word.
 *
 * AUTO is SPACES if a mark such as , or 's stands alone or a space parts characters of a script without spaces, as only in text that was
 * cut before; else CHARS if such characters stand together; else WORDS. If that shows no word asked about and another one does, it is the
 * other.
 *
 * @param c     owns the tokens until it is cleared or freed; does not count the sentence
 * @param text  UTF-8
 * @param how   one of the above
 * @param word  the word asked about, as the model has it; NULL: any ambiguous word of the model. WORDS and CHARS cut it out of longer words
 *              ("apple-based", 苹果树) if it stands nowhere alone.
 * @param out   an example without sense ("") or word (""), whose target is -1
 * @errors ATTN_EFORMAT (broken UTF-8, with its byte; no token), ATTN_ENOMEM, ATTN_ERANGE (more tokens than an int counts)
 * @cost O(bytes); CHARS O(bytes times the square of the longest word)
 * @threads any number with one model, each with a corpus of its own */
ATTN_API ATTN_NODISCARD attn_status attn_tokenize(const attn_word_sense *m, attn_corpus *c, const char *text, attn_tokenization how,
                                                  const char *word, attn_example *out, attn_error *error);

/** The working memory in which one thread predicts. As long as nothing trains, changes or frees the model, any number of threads predict
 * with it at once, each with a predictor of its own; all get the same bits. */
typedef struct attn_predictor attn_predictor;

/** A predictor for a model, which must live longer. @return to be freed with attn_predictor_free; NULL if out of memory */
ATTN_API attn_predictor *attn_predictor_new(const attn_word_sense *m, const attn_allocator *allocator);

ATTN_API void attn_predictor_free(attn_predictor *p); /* Frees it and its predictions, not the model; NULL is fine. */

/** attn_word_sense_predict on the calling thread alone.  @param prediction receives it, valid until the predictor's next one
 * @errors as attn_word_sense_predict */
ATTN_API ATTN_NODISCARD attn_status attn_predictor_predict(attn_predictor *p, const char *const *tokens, int length, int target,
                                                           attn_prediction *prediction, attn_error *error);

/** attn_word_sense_attention on the calling thread alone.  @param weights as there   @errors as attn_word_sense_attention */
ATTN_API ATTN_NODISCARD attn_status attn_predictor_attention(attn_predictor *p, const char *const *tokens, int length, double *weights,
                                                             attn_error *error);

/** Numeric check of the whole model's gradients, in float64.
 * @param corpus labelled sentences   @param sentences so many of them, the first   @param most about so many elements of each parameter at
 * most [0: all]   @param config NULL: all defaults   @param report filled in all cases   @errors as attn_gradcheck; ATTN_EUNKNOWN_WORD */
ATTN_API ATTN_NODISCARD attn_status attn_word_sense_gradcheck(attn_word_sense *m, const attn_corpus *corpus, int64_t sentences,
                                                              int64_t most, const attn_gradcheck_config *config,
                                                              attn_gradcheck_report *report);

/** Sets the threads of everything that follows. Never changes a result.  @param threads [0: attn_default_threads()] */
ATTN_API void attn_word_sense_set_threads(attn_word_sense *m, int threads);

ATTN_API int attn_word_sense_words(const attn_word_sense *m); /* number of words that the model knows senses of */

/** @param word 0 to attn_word_sense_words() - 1   @return the word, owned by the model; NULL for a number outside */
ATTN_API const char *attn_word_sense_word(const attn_word_sense *m, int word);

/** @param word a word   @return its number, or -1 if the model knows no senses of it */
ATTN_API int attn_word_sense_find(const attn_word_sense *m, const char *word);

/** @param word its number   @return number of its senses */
ATTN_API int attn_word_sense_senses(const attn_word_sense *m, int word);

/** @param word its number   @param sense counted from 0   @return the sense, owned by the model; NULL for a number outside */
ATTN_API const char *attn_word_sense_sense(const attn_word_sense *m, int word, int sense);

/** @param word its number   @param sense counted from 0   @return training examples of the sense */
ATTN_API int64_t attn_word_sense_support(const attn_word_sense *m, int word, int sense);

/** @return the configuration; numbers that were left to the model (0) are filled in */
ATTN_API attn_word_sense_config attn_word_sense_get_config(const attn_word_sense *m);

ATTN_API int64_t attn_word_sense_vocabulary(const attn_word_sense *m); /* words with a vector, without the unknown word */

/** @param token a word   @return whether it has a vector of its own */
ATTN_API bool attn_word_sense_knows(const attn_word_sense *m, const char *token);

ATTN_API int64_t attn_word_sense_parameters(const attn_word_sense *m); /* learned numbers, of all members */
ATTN_API int attn_word_sense_epochs_done(const attn_word_sense *m);    /* finished epochs, of the last member */
ATTN_API bool attn_word_sense_finished(const attn_word_sense *m);      /* whether its training is */

/** Saves to a safetensors file (see docs/formats.md), atomically; an unfinished model with the optimiser's state, so that training can go
 * on. The same model gives the same bytes.  @errors as attn_safetensors_write; ATTN_ENONFINITE (of a mapped model, whose tables are looked
 * at for this) */
ATTN_API ATTN_NODISCARD attn_status attn_word_sense_save(attn_word_sense *m, const char *path, attn_error *error);

/** Loads a model. Nothing of a size that the file merely claims is allocated.
 * @return to be freed with attn_word_sense_free; NULL on error
 * @errors ATTN_EIO, ATTN_EFORMAT (not a model of this program, damaged), ATTN_EMISMATCH (tensors do not fit the
 * configuration, as many named as fit into the message), ATTN_ENONFINITE (a tensor holds such a number, named), ATTN_ENOMEM */
ATTN_API attn_word_sense *attn_word_sense_load(const char *path, const attn_allocator *allocator, attn_error *error);

/** The same, but the tables that make up nearly all of a trained model, of embeddings and neighbours, stay in the file, which is mapped
 * into memory: a model is there in a fraction of the time, and processes that map one file share its memory. Predictions are the same to
 * the bit. The embedding of a word is looked at when a sentence has the word: if it is not finite, the prediction fails with
 * ATTN_ENONFINITE. The file may be replaced or removed meanwhile (attn_word_sense_save replaces it), but not written into or made shorter:
 * bytes that change, or go, change predictions unseen, and to touch a page that has none left ends the process by SIGBUS. Of a pipe, a file
 * whose header leaves its data unaligned, a model whose training is not finished, and on a machine of other byte order, all is read as
 * attn_word_sense_load reads it.
 * @return as attn_word_sense_load   @errors the same */
ATTN_API attn_word_sense *attn_word_sense_map(const char *path, const attn_allocator *allocator, attn_error *error);

#ifdef __cplusplus
}
#endif
#endif

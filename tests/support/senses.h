/* A few sentences with two ambiguous words, and models small enough to be trained many times in a test. */
#ifndef ATTN_TEST_SENSES_H
#define ATTN_TEST_SENSES_H

#include "attn/word_sense.h"
#include "support/check.h"

enum { TINY_SENTENCES = 14, TINY_BATCHES = 4, TINY_EPOCHS = 3 };

/* bank: shore 4, money 3, row 1; bat: animal 3, club 3. NULL if out of memory. */
attn_corpus *tiny_corpus(const attn_allocator *allocator);
/* Four other sentences about the same words. */
attn_corpus *tiny_dev_corpus(const attn_allocator *allocator);
attn_status add_sentence(attn_corpus *c, const char *sense, int target, const char *sentence);

/* Every number is set, so that no default matters: TINY_BATCHES batches an epoch, TINY_EPOCHS epochs, 1 thread. */
attn_word_sense_config tiny_config(void);

/* These fail the test with the error's message. */
attn_word_sense *new_model(const attn_corpus *train, attn_word_sense_config config);
attn_word_sense *load_ok(const char *path);
void save_ok(attn_word_sense *m, const char *path);
void train_ok(attn_word_sense *m, const attn_corpus *train, const attn_corpus *dev);
/* Tokens are separated by spaces; the example stays in `c`. */
attn_prediction predict_ok(attn_word_sense *m, attn_corpus *c, const char *sentence, int target);

/* A new model, trained and saved. */
void train_to_file(const attn_corpus *train, const attn_corpus *dev, attn_word_sense_config config, const char *path);

/* The two files hold the same bytes. */
#define assert_same_file(a, b)  check_same_file((a), (b), true, __FILE__, __LINE__)
#define assert_other_file(a, b) check_same_file((a), (b), false, __FILE__, __LINE__)
void check_same_file(const char *a, const char *b, bool same, const char *file, int line);

#endif

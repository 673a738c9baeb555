/* What the files of attn train share. */
#ifndef ATTN_TRAIN_H
#define ATTN_TRAIN_H

#include "progress.h"

/* The command line of attn train. */
typedef struct train_arguments {
    attn_word_sense_config config; /* dim is 0 until it is known: that of a file of vectors is the file's */
    const char *output, *dev, *split, *log;
    const char *heatmaps, *heatmap_sentence;
    const char *report;
    attn_language language;
    char **report_sentences;
    int n_report_sentences;
    double dev_fraction;
    double save_every; /* seconds from one save during the run to the next, at least */
    char **data;
    int n;
    bool resume, json, quiet;
    const attn_word_sense_config *resumed; /* that of the model to go on with, which the options must not change; or NULL */
} train_arguments;

/* ---- train_options.c ---- */

/* Parses and checks the command line, over what *a holds (options that are not given stay). Ends the program on a usage error. */
void parse_train(int argc, char **argv, train_arguments *a);

/* ---- train_vectors.c ---- */

/* A new model for the data; tells how a file of vectors is read and what was in it. NULL after a message. */
attn_word_sense *make_model(const train_arguments *a, const attn_corpus *data, progress *line);
/* What was in the file, NULL if there was none. */
json_t *vectors_to_json(const attn_word_sense *m);

/* ---- epoch_pictures.c ---- */

/* A picture of the attention of one sentence after every epoch. */
typedef struct epoch_pictures {
    const char *folder; /* NULL: no pictures */
    attn_corpus *words; /* holds the sentence if it was given */
    const char *text;   /* as it was given, until the model that cuts it is there */
    attn_example sentence;
    progress *line;
    bool quiet, noted; /* remarks about the pictures are made once */
    attn_error error;  /* of the picture that could not be drawn */
} epoch_pictures;

/* Makes the folder and finds the sentence; false after a message. Remarks will go below the line of the progress. Close it in any case. */
bool pictures_open(epoch_pictures *p, const train_arguments *a, const attn_corpus *data, progress *line);
/* The picture of the epoch that was just finished. */
attn_status pictures_draw(epoch_pictures *p, attn_word_sense *m, const attn_word_sense_progress *at);
void pictures_close(epoch_pictures *p);

/* ---- train_film.c ---- */

/* The run as a film, and the sentences in it. */
typedef struct training_film {
    const char *path; /* NULL: no film */
    attn_film *film;
    attn_report_sentence *sentence;
    int n;
    attn_corpus *words; /* hold the sentences that were given */
    attn_error error;   /* of the picture that could not be taken */
} training_film;

/* Finds the sentences and takes the picture before the training; false after a message. Close it in any case. */
bool film_open(training_film *f, const train_arguments *a, const attn_corpus *data, attn_word_sense *m);
/* The picture of the epoch that was just finished. */
attn_status film_add(training_film *f, attn_word_sense *m, const attn_word_sense_progress *at);
/* DONE, or FAILED after a message. The model must still be there. */
int film_write(const training_film *f, bool quiet);
void film_close(training_film *f);

#endif

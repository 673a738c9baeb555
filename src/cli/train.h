/* What the two files of attn train share. */
#ifndef ATTN_TRAIN_H
#define ATTN_TRAIN_H

#include "cli.h"

/* The command line of attn train. */
typedef struct train_arguments {
    attn_word_sense_config config;
    const char *output, *dev, *split, *log;
    double dev_fraction;
    char **data;
    int n;
    bool resume, json, quiet;
    const attn_word_sense_config *resumed; /* that of the model to go on with, which the options must not change; or NULL */
} train_arguments;

/* Parses and checks the command line, over what *a holds (options that are not given stay). Ends the program on a usage error. */
void parse_train(int argc, char **argv, train_arguments *a);

#endif

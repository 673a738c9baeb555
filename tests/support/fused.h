/* Problems for attn_fused_attention: it runs them, and so does the composition of plain operations that it stands for. */
#ifndef ATTN_TEST_FUSED_H
#define ATTN_TEST_FUSED_H

#include "support/attend.h"

/* Parts of a mask; those of one row exclude each other. */
enum {
    MASK_KEY_LENGTHS = 1,
    MASK_QUERY_LENGTHS = 2,
    MASK_ROW_LENGTHS = 4,
    MASK_ROW_BEGINS = 8,
    MASK_ALLOW_PAIRS = 16,
    MASK_ALLOW_KEYS = 32,
    MASK_TOP_LEFT = 64,
    MASK_BOTTOM_RIGHT = 128,
    MASK_POSITION = 256,
    MASK_WINDOW = 512,
    MASK_PLACES = 1024, /* for a window without causality */
};

enum { SAME_QUERY_KEY = 1, SAME_QUERY_VALUE = 2, SAME_KEY_VALUE = 4 };

/* A problem without a past, and what attn_attend cannot be told. */
typedef struct fused_problem {
    attend_problem a;
    bool scalar;          /* the bias is a scalar, whose rank 0 means "none" there */
    const int32_t *first; /* for the position table */
    unsigned needs;       /* bit k: input k needs a gradient */
    unsigned same;        /* SAME_ bits: inputs that are one tensor, the first of them */
    void *arrays[8];      /* of the mask, and first */
} fused_problem;

/* A number in 0..bound-1, a function of the problem's seed and of `what`. */
int64_t fused_draw(const fused_problem *p, int what, int64_t bound);
/* Gives the problem a random mask with these parts; its sizes are known. */
void fused_mask(fused_problem *p, unsigned parts);
/* Places of the first queries for the position table. */
void fused_first(fused_problem *p);
void fused_open(fused_problem *p); /* as attend_open; all inputs need gradients */
void fused_close(fused_problem *p);

/* Index of the number of the bias, or of the position table, that is added to the score of a pair. */
int64_t fused_entry(const fused_problem *p, int input, int64_t b, int64_t h, int64_t i, int64_t j);

/* What comes of a run: the output, then the gradients of the inputs that need one. */
typedef struct fused_result {
    int64_t count, outputs;
    double *values;
} fused_result;

typedef struct fused_way {
    attn_dtype dtype;
    bool composed;   /* of the plain operations */
    int passes;      /* backward passes [1] */
    int threads;     /* forced to start [1] */
    bool unrecorded; /* forward only, on a tape that does not record */
} fused_way;

fused_result fused_run(const fused_problem *p, fused_way way);
/* The same on a tape that is given. */
fused_result fused_run_on(attn_tape *t, const fused_problem *p, fused_way way);
void fused_free(fused_result *r);

/* Largest |a - b| and where it is; HUGE_VAL where only one of them is finite, nothing where neither is. */
double fused_difference(const fused_result *a, const fused_result *b, int64_t *worst);
/* Which input's gradient element i is, or "output". */
const char *fused_name(const fused_problem *p, int64_t i);
#define FUSED_TEXT 280
const char *fused_text(const fused_problem *p, char text[FUSED_TEXT]);

/* Problem number `number` of a series: every option by chance, sizes that straddle the tiles, and no more than about `work` operations. */
fused_problem fused_random(uint64_t number, double work);

#endif

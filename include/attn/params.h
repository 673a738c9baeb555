/* Parameters: the learned tensors of a model, kept in two flat blocks (values, gradients), so that clipping, stepping and
 * saving are one loop each.
 *
 *     attn_params *p = attn_params_new(ATTN_F32, NULL);
 *     int w = attn_params_add(p, "w", ATTN_SHAPE(8, 2), (attn_param_config){.init = ATTN_INIT_NORMAL, .scale = 0.1});
 *     if (attn_params_build(p, 42, &error) != ATTN_OK) ...      // the first error of all the adds, or of the memory
 *     ... attn_param(tape, p, w) ...
 *     attn_params_free(p);
 */
#ifndef ATTN_PARAMS_H
#define ATTN_PARAMS_H

#include "attn/tensor.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct attn_params attn_params;

typedef enum attn_init {
    ATTN_INIT_ZEROS,    /* 0 */
    ATTN_INIT_CONSTANT, /* scale */
    ATTN_INIT_NORMAL,   /* normal with mean 0 and standard deviation `scale` */
    ATTN_INIT_UNIFORM,  /* uniform in [-scale, scale) */
    ATTN_INIT_DISTANCE, /* a (heads, 2 C + 1) table of position biases: -scale slope[h mod 4] |column - C|, slopes 0, .05, .2, .5 */
} attn_init;

/** How a parameter starts and how it is updated; zero means zeros, no decay, dense. */
typedef struct attn_param_config {
    attn_init init;
    double scale;
    bool decay;       /* weight decay applies (matrices yes; biases, norms and tables usually not) */
    bool sparse_rows; /* a table whose rows are looked up: only rows seen since the last step are cleared, clipped and stepped */
    bool frozen;      /* never gets a gradient nor a step */
} attn_param_config;

/** A new, empty set. @return NULL if out of memory. Free with attn_params_free. */
ATTN_API attn_params *attn_params_new(attn_dtype dtype, const attn_allocator *allocator);

/** Frees the set and everything that belongs to it; NULL is fine. Layers added to it and tensors made from it end with it. */
ATTN_API void attn_params_free(attn_params *p);

/** Declares a parameter. Its name (copied) must be new.
 * @return its number (0, 1, 2, ...), or -1: the set keeps the first error, which attn_params_build reports. */
ATTN_API int attn_params_add(attn_params *p, const char *name, attn_shape shape, attn_param_config config);

/** Allocates the flat blocks and fills the values: parameter i takes its numbers from stream i of `seed`. Once only.
 * @return the first error of the declarations, ATTN_ENOMEM, or ATTN_OK. */
ATTN_API ATTN_NODISCARD attn_status attn_params_build(attn_params *p, uint64_t seed, attn_error *error);

ATTN_API attn_dtype attn_params_dtype(const attn_params *p);
ATTN_API int attn_params_count(const attn_params *p);

/** Elements of all parameters together, without padding. */
ATTN_API int64_t attn_params_elements(const attn_params *p);

/** Number of the parameter with this name, or -1. */
ATTN_API int attn_params_find(const attn_params *p, const char *name);

/** What was declared; NULL, a scalar and zeros for a number outside 0..count-1, such as the -1 of attn_params_find. */
ATTN_API const char *attn_params_name(const attn_params *p, int id);
ATTN_API attn_shape attn_params_shape(const attn_params *p, int id);
ATTN_API attn_param_config attn_params_config(const attn_params *p, int id);

/** Values and gradients of one parameter, inside the flat blocks; NULL before attn_params_build, and for a number outside. */
ATTN_API void *attn_params_value(attn_params *p, int id);
ATTN_API void *attn_params_grad(attn_params *p, int id);

/** Threads that steps, clipping and zeroing may use; 0 (the default) means attn_default_threads(). The number never changes a result by a
 * bit. */
ATTN_API void attn_params_set_threads(attn_params *p, int threads);

/** Sets all gradients to 0 (of sparse tables: the rows that were touched). Gradients add up until then. */
ATTN_API void attn_params_zero_grad(attn_params *p);

#ifdef __cplusplus
}
#endif
#endif

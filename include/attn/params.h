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

/** A set of parameters. */
typedef struct attn_params attn_params;

/** How a parameter starts. */
typedef enum attn_init {
    ATTN_INIT_ZEROS,    /* 0 */
    ATTN_INIT_CONSTANT, /* scale */
    ATTN_INIT_NORMAL,   /* normal with mean 0 and standard deviation `scale` */
    ATTN_INIT_UNIFORM,  /* uniform in [-scale, scale) */
    ATTN_INIT_DISTANCE, /* a (heads, 2 C + 1) table of position biases: -scale slope[h mod 4] |column - C|, slopes 0, .05, .2, .5 */
} attn_init;

/** How a parameter starts and how it is updated; zero means zeros, no decay, dense. */
typedef struct attn_param_config {
    attn_init init;   /* [zeros] */
    double scale;     /* what the start needs */
    bool decay;       /* weight decay applies (matrices yes; biases, norms and tables usually not) */
    bool sparse_rows; /* a table whose rows are looked up: only rows seen since the last step are cleared, clipped and stepped */
    bool frozen;      /* never gets a gradient nor a step */
} attn_param_config;

/** A new, empty set. @return to be freed with attn_params_free; NULL if out of memory */
ATTN_API attn_params *attn_params_new(attn_dtype dtype, const attn_allocator *allocator);

/** Frees the set and everything that belongs to it; NULL is fine. Layers added to it and tensors made from it end with it. */
ATTN_API void attn_params_free(attn_params *p);

/** Declares a parameter, before attn_params_build.
 * @param name (copied) a new one   @param shape any   @param config how it starts and is updated
 * @return its number (0, 1, 2, ...), or -1: the set keeps the first error, which attn_params_build reports */
ATTN_API int attn_params_add(attn_params *p, const char *name, attn_shape shape, attn_param_config config);

/** Allocates the flat blocks and fills the values: parameter i takes its numbers from stream i of `seed`. Once only.
 * @errors the first of the declarations: ATTN_EDTYPE (no such type), ATTN_EINVAL (name, numbers), ATTN_ESHAPE, ATTN_ENOMEM;
 * ATTN_EINVAL (built before) */
ATTN_API ATTN_NODISCARD attn_status attn_params_build(attn_params *p, uint64_t seed, attn_error *error);

ATTN_API attn_dtype attn_params_dtype(const attn_params *p); /* type of the elements */
ATTN_API int attn_params_count(const attn_params *p);        /* number of parameters */
ATTN_API int64_t attn_params_elements(const attn_params *p); /* elements of all parameters together, without padding */

/** @param name of a parameter   @return its number, or -1 */
ATTN_API int attn_params_find(const attn_params *p, const char *name);

ATTN_API const char *attn_params_name(const attn_params *p, int id);         /* its name, owned by the set; NULL for a number outside */
ATTN_API attn_shape attn_params_shape(const attn_params *p, int id);         /* its shape; a scalar for a number outside */
ATTN_API attn_param_config attn_params_config(const attn_params *p, int id); /* as declared; zeros for a number outside */

ATTN_API void *attn_params_value(attn_params *p,
                                 int id);                /* inside the flat block; NULL before attn_params_build and for a number outside */
ATTN_API void *attn_params_grad(attn_params *p, int id); /* the same of its gradient */

/** Sets how many threads building, steps, clipping and zeroing may use; before attn_params_build, to have it there too. The number never
 * changes a result by a bit.
 * @param threads [0: attn_default_threads()] */
ATTN_API void attn_params_set_threads(attn_params *p, int threads);

/** Sets all gradients to 0 (of sparse tables: the rows that were touched). Gradients add up until then. */
ATTN_API void attn_params_zero_grad(attn_params *p);

#ifdef __cplusplus
}
#endif
#endif

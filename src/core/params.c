/* Parameters in flat blocks. Names, layers and row lists live in an arena of the set's own. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "attn/random.h"
#include "core/core.h"

/* A parameter starts at a multiple of this many elements, so that its data is aligned for either dtype. */
#define ALIGN_ELEMENTS 16

/* Elements that a thread fills with random numbers at a time. */
#define FILL_TILE 4096

typedef struct param {
    const char *name;
    attn_shape shape;
    int64_t count, offset; /* elements, and where they start in the blocks */
    void *borrowed;        /* values that are not in the block; NULL: they are */
    attn_param_config config;
    int64_t *touched, n_touched; /* sparse tables: rows with a gradient, in order of first touch */
    bool *is_touched;            /* by row */
} param;

struct attn_params {
    attn_allocator allocator;
    attn__arena arena;
    attn_dtype dtype;
    attn_error error;
    param *param;
    size_t capacity;
    int count, threads;
    bool built;
    void *values, *grads;
    int64_t *scratch; /* one for each parameter */
};

attn_params *attn_params_new(attn_dtype dtype, const attn_allocator *allocator)
{
    attn_params *p = attn__calloc(allocator, 1, sizeof *p);
    if (p != NULL) {
        p->allocator = allocator != NULL ? *allocator : attn__malloc;
        p->dtype = dtype;
        attn__arena_init(&p->arena, &p->allocator);
        if (dtype != ATTN_F32 && dtype != ATTN_F64) {
            attn__params_fail(p, ATTN_EDTYPE, "params: no such element type: %d", (int)dtype);
        }
    }
    return p;
}

void attn_params_free(attn_params *p)
{
    if (p != NULL) {
        attn__arena_free(&p->arena);
        attn_allocator allocator = p->allocator;
        attn__free(&allocator, p->param);
        attn__free(&allocator, p);
    }
}

attn_status attn__params_fail(attn_params *p, attn_status status, const char *format, ...)
{
    if (p->error.status == ATTN_OK) {
        va_list args;
        va_start(args, format);
        attn__vfail(&p->error, status, format, args);
        va_end(args);
    }
    return status;
}

static void *alloc(attn_params *p, size_t size)
{
    void *ptr = attn__arena_alloc(&p->arena, size);
    if (ptr == NULL) {
        attn__params_fail(p, ATTN_ENOMEM, "params: out of memory: %zu bytes wanted", size);
    }
    return ptr;
}

void *attn__params_alloc(attn_params *p, size_t size)
{
    void *ptr = alloc(p, size);
    return ptr != NULL ? memset(ptr, 0, size) : NULL;
}

const attn_allocator *attn__params_allocator(const attn_params *p)
{
    return &p->allocator;
}

bool attn__params_built(const attn_params *p)
{
    return p != NULL && p->built;
}

attn_status attn__params_status(const attn_params *p)
{
    return p->error.status;
}

static attn_status check_declaration(attn_params *p, const char *name, attn_shape shape, attn_param_config config)
{
    if (p->built) {
        return attn__params_fail(p, ATTN_EINVAL, "params: '%s' declared after attn_params_build", name);
    }
    if (name[0] == '\0' || attn_params_find(p, name) >= 0) {
        return attn__params_fail(p, ATTN_EINVAL, "params: name '%s' is %s", name, name[0] == '\0' ? "empty" : "declared twice");
    }
    if (attn_shape_count(shape) < 0) {
        return attn__params_fail(p, ATTN_ESHAPE, "params: '%s' has shape %s, which is invalid or too large", name, ATTN__TEXT(shape));
    }
    if (config.sparse_rows && shape.rank != 2) {
        return attn__params_fail(p, ATTN_ESHAPE, "params: '%s' has shape %s, a table of rows has rank 2", name, ATTN__TEXT(shape));
    }
    if (!isfinite(config.scale)) {
        return attn__params_fail(p, ATTN_EINVAL, "params: '%s' has scale %g", name, config.scale);
    }
    return ATTN_OK;
}

int attn_params_add(attn_params *p, const char *name, attn_shape shape, attn_param_config config)
{
    if (p->error.status != ATTN_OK || check_declaration(p, name, shape, config) != ATTN_OK) {
        return -1;
    }
    char *copy = attn__arena_copy(&p->arena, name, strlen(name) + 1);
    void *array = p->param;
    bool grown = copy != NULL && attn__grow(&p->allocator, &array, &p->capacity, (size_t)p->count + 1, sizeof *p->param);
    p->param = array;
    if (!grown) {
        attn__params_fail(p, ATTN_ENOMEM, "params: out of memory for '%s'", name);
        return -1;
    }
    p->param[p->count] = (param){.name = copy, .shape = shape, .count = attn_shape_count(shape), .config = config};
    return p->count++;
}

/* -slope |offset|; heads take turns in how soon they lose interest with the distance. */
static double distance_bias(attn_shape shape, int64_t i)
{
    static const double slopes[] = {0, 0.05, 0.2, 0.5};
    int64_t columns = shape.rank == 2 ? shape.dim[1] : 1;
    int64_t offset = i % columns - columns / 2;
    return -slopes[i / columns % 4] * fabs((double)offset);
}

static double initial(const param *q, uint64_t seed, int id, int64_t i)
{
    const attn_param_config *config = &q->config;
    switch (config->init) {
    case ATTN_INIT_CONSTANT:
        return config->scale;
    case ATTN_INIT_NORMAL:
        return config->scale * attn_random_normal(seed, (uint64_t)id, (uint64_t)i);
    case ATTN_INIT_UNIFORM:
        return config->scale * (2 * attn_random_uniform(seed, (uint64_t)id, (uint64_t)i) - 1);
    case ATTN_INIT_DISTANCE:
        return config->scale * distance_bias(q->shape, i);
    case ATTN_INIT_ZEROS:
        break;
    }
    return 0;
}

static int64_t padded(int64_t count)
{
    return (count + ALIGN_ELEMENTS - 1) / ALIGN_ELEMENTS * ALIGN_ELEMENTS;
}

/* Elements that a parameter has in the block of values. */
static int64_t room(const param *q)
{
    return q->borrowed == NULL ? padded(q->count) : 0;
}

static bool allocate(attn_params *p, bool grads)
{
    int64_t total = 0;
    for (int i = 0; i < p->count; i++) {
        param *q = &p->param[i];
        if (q->count > INT64_MAX / 64 - total) {
            attn__params_fail(p, ATTN_ENOMEM, "params: too many elements");
            return false;
        }
        q->offset = total;
        total += room(q);
        if (q->config.sparse_rows && grads) {
            q->touched = attn__params_alloc(p, (size_t)q->shape.dim[0] * sizeof *q->touched);
            q->is_touched = attn__params_alloc(p, (size_t)q->shape.dim[0] * sizeof *q->is_touched);
        }
    }
    p->values = alloc(p, (size_t)total * attn_dtype_size(p->dtype));
    for (int i = 0; i < p->count && p->values != NULL; i++) { /* between the parameters */
        const param *q = &p->param[i];
        size_t size = attn_dtype_size(p->dtype), gap = room(q) > 0 ? (size_t)(room(q) - q->count) : 0;
        memset((char *)p->values + (size_t)(q->offset + q->count) * size, 0, gap * size);
    }
    p->grads = grads ? attn__params_alloc(p, (size_t)total * attn_dtype_size(p->dtype)) : NULL;
    p->scratch = attn__params_alloc(p, (size_t)p->count * sizeof *p->scratch);
    return p->error.status == ATTN_OK;
}

void attn__params_borrow(attn_params *p, int id, void *values)
{
    p->param[id].borrowed = values;
}

attn_status attn__params_build_bare(attn_params *p, bool grads, attn_error *error)
{
    if (p->error.status == ATTN_OK && p->built) {
        return attn__fail(error, ATTN_EINVAL, "params: built twice");
    }
    if (p->error.status == ATTN_OK) {
        p->built = allocate(p, grads);
    }
    return p->error.status == ATTN_OK ? ATTN_OK : attn__fail(error, p->error.status, "%s", p->error.message);
}

typedef struct filling {
    attn_params *p;
    uint64_t seed;
    int id;
} filling;

static void fill_tile(void *ctx, int64_t tile)
{
    const filling *f = ctx;
    const param *q = &f->p->param[f->id];
    const attn__kernel_table *K = attn__kernels(f->p->dtype);
    void *value = attn_params_value(f->p, f->id);
    attn__span s = attn__range(q->count, FILL_TILE, tile);
    for (int64_t i = s.begin; i < s.end; i++) {
        K->set(value, i, initial(q, f->seed, f->id, i));
    }
}

attn_status attn_params_build(attn_params *p, uint64_t seed, attn_error *error)
{
    attn_status status = attn__params_build_bare(p, true, error);
    for (int id = 0; id < p->count && status == ATTN_OK; id++) {
        attn__parallel(p->threads, attn__tiles(p->param[id].count, FILL_TILE), ATTN__NORMAL_COST * FILL_TILE, fill_tile,
                       &(filling){p, seed, id});
    }
    return status;
}

attn_dtype attn_params_dtype(const attn_params *p)
{
    return p->dtype;
}

int attn_params_count(const attn_params *p)
{
    return p->count;
}

int64_t attn_params_elements(const attn_params *p)
{
    int64_t sum = 0;
    for (int i = 0; i < p->count; i++) {
        sum += p->param[i].count;
    }
    return sum;
}

int attn_params_find(const attn_params *p, const char *name)
{
    for (int i = 0; i < p->count; i++) {
        if (strcmp(p->param[i].name, name) == 0) {
            return i;
        }
    }
    return -1;
}

static bool is_there(const attn_params *p, int id)
{
    return id >= 0 && id < p->count;
}

const char *attn_params_name(const attn_params *p, int id)
{
    return is_there(p, id) ? p->param[id].name : NULL;
}

attn_shape attn_params_shape(const attn_params *p, int id)
{
    return is_there(p, id) ? p->param[id].shape : ATTN_SCALAR;
}

attn_param_config attn_params_config(const attn_params *p, int id)
{
    return is_there(p, id) ? p->param[id].config : (attn_param_config){.scale = 0};
}

static void *inside(const attn_params *p, void *block, int id)
{
    return block != NULL && is_there(p, id) ? (char *)block + (size_t)p->param[id].offset * attn_dtype_size(p->dtype) : NULL;
}

void *attn_params_value(attn_params *p, int id)
{
    return is_there(p, id) && p->param[id].borrowed != NULL ? p->param[id].borrowed : inside(p, p->values, id);
}

void *attn_params_grad(attn_params *p, int id)
{
    return inside(p, p->grads, id);
}

void attn__params_touch(attn_params *p, int id, int64_t row)
{
    param *q = &p->param[id];
    if (q->config.sparse_rows && !q->is_touched[row]) {
        q->is_touched[row] = true;
        q->touched[q->n_touched++] = row;
    }
}

void attn__params_touch_all(attn_params *p, int id)
{
    for (int64_t row = 0; p->param[id].config.sparse_rows && row < p->param[id].shape.dim[0]; row++) {
        attn__params_touch(p, id, row);
    }
}

const int64_t *attn__params_touched(const attn_params *p, int id, int64_t *count)
{
    *count = p->param[id].n_touched;
    return p->param[id].touched;
}

void attn_params_set_threads(attn_params *p, int threads)
{
    p->threads = threads > 0 ? threads : 0;
}

void attn__params_force_threads(attn_params *p, int threads)
{
    p->threads = -threads;
}

int attn__params_threads(const attn_params *p)
{
    return p->threads;
}

int64_t *attn__params_scratch(const attn_params *p)
{
    return p->scratch;
}

static void zero_span(void *ctx, int id, int64_t offset, int64_t n)
{
    attn_params *p = ctx;
    size_t size = attn_dtype_size(p->dtype);
    if (n > 0) {
        memset((char *)attn_params_grad(p, id) + (size_t)offset * size, 0, (size_t)n * size);
    }
}

void attn_params_zero_grad(attn_params *p)
{
    if (!p->built || p->grads == NULL) {
        return;
    }
    attn__params_tiles(p, 1, zero_span, p);
    for (int id = 0; id < p->count; id++) {
        param *q = &p->param[id];
        for (int64_t r = 0; r < q->n_touched; r++) {
            q->is_touched[q->touched[r]] = false;
        }
        q->n_touched = 0;
    }
}

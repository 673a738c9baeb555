/* Loops over the elements of a parameter set, cut into tiles for threads. */
#include "core/core.h"

/* Elements of a tile, about: some of a dense parameter, or some rows of a table. */
#define TILE_ELEMENTS 16384

/* Sums of so many tiles are kept before they are added up. */
#define GROUP 256

static int64_t rows_a_tile(attn_shape table)
{
    return 1 + TILE_ELEMENTS / (table.dim[1] + 1);
}

static int64_t touched_rows(const attn_params *p, int id)
{
    int64_t n;
    (void)attn__params_touched(p, id, &n);
    return n;
}

/* The tiles of all parameters, and how many elements they hold on average: a parameter of few elements is one tile, too. */
typedef struct tiling {
    int64_t tiles;
    double elements;
} tiling;

static tiling tiling_of(const attn_params *p, int id)
{
    const attn_param_config config = attn_params_config(p, id);
    const attn_shape shape = attn_params_shape(p, id);
    if (config.frozen) {
        return (tiling){0, 0};
    }
    if (config.sparse_rows) {
        int64_t rows = touched_rows(p, id);
        return (tiling){attn__tiles(rows, rows_a_tile(shape)), (double)rows * (double)shape.dim[1]};
    }
    int64_t n = attn_shape_count(shape);
    return (tiling){attn__tiles(n, TILE_ELEMENTS), (double)n};
}

/* Tiles are counted over all parameters: notes how many there are before each. */
static tiling count_tiles(const attn_params *p)
{
    tiling all = {0, 0};
    int64_t *before = attn__params_scratch(p);
    for (int id = 0; before != NULL && id < attn_params_count(p); id++) {
        tiling one = tiling_of(p, id);
        before[id] = all.tiles;
        all.tiles += one.tiles;
        all.elements += one.elements;
    }
    all.elements /= all.tiles > 0 ? (double)all.tiles : 1;
    return all;
}

/* The parameter that a tile belongs to: the last that does not begin behind it. (One without tiles begins where the next does.) */
static int owner(const attn_params *p, int64_t tile)
{
    const int64_t *before = attn__params_scratch(p);
    int low = 0, high = attn_params_count(p); /* low begins at or before the tile, high behind it */
    while (high - low > 1) {
        int middle = low + (high - low) / 2;
        if (before[middle] <= tile) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return low;
}

/* Calls fn for touched rows begin..end-1, in the order of their first touch. */
static void visit_rows(const attn_params *p, int id, attn__span rows, attn__span_fn fn, void *ctx)
{
    int64_t n, width = attn_params_shape(p, id).dim[1];
    const int64_t *touched = attn__params_touched(p, id, &n);
    for (int64_t r = rows.begin; r < rows.end; r++) {
        fn(ctx, id, touched[r] * width, width);
    }
}

void attn__params_spans(const attn_params *p, attn__span_fn fn, void *ctx)
{
    for (int id = 0; id < attn_params_count(p); id++) {
        const attn_param_config config = attn_params_config(p, id);
        if (config.frozen) {
            continue;
        }
        if (config.sparse_rows) {
            visit_rows(p, id, (attn__span){0, touched_rows(p, id)}, fn, ctx);
        } else {
            fn(ctx, id, 0, attn_shape_count(attn_params_shape(p, id)));
        }
    }
}

static void visit_tile(const attn_params *p, int64_t tile, attn__span_fn fn, void *ctx)
{
    const int id = owner(p, tile);
    const attn_shape shape = attn_params_shape(p, id);
    tile -= attn__params_scratch(p)[id];
    if (attn_params_config(p, id).sparse_rows) {
        visit_rows(p, id, attn__range(touched_rows(p, id), rows_a_tile(shape), tile), fn, ctx);
    } else {
        attn__span s = attn__range(attn_shape_count(shape), TILE_ELEMENTS, tile);
        fn(ctx, id, s.begin, s.end - s.begin);
    }
}

typedef struct loop {
    const attn_params *p;
    attn__span_fn fn;
    void *ctx;
} loop;

static void tile_of_loop(void *ctx, int64_t tile)
{
    const loop *l = ctx;
    visit_tile(l->p, tile, l->fn, l->ctx);
}

void attn__params_tiles(const attn_params *p, double cost, attn__span_fn fn, void *ctx)
{
    tiling all = count_tiles(p);
    attn__parallel(attn__params_threads(p), all.tiles, cost * all.elements, tile_of_loop, &(loop){p, fn, ctx});
}

typedef struct sum_loop {
    attn_params *p;
    attn__span_sum_fn fn;
    int64_t first; /* tile of part[0] */
    double part[GROUP];
} sum_loop;

/* The sum of one tile. */
typedef struct part {
    const sum_loop *loop;
    double sum;
} part;

static void add_span(void *ctx, int id, int64_t offset, int64_t n)
{
    part *s = ctx;
    s->sum += s->loop->fn(s->loop->p, id, offset, n);
}

static void tile_of_sum(void *ctx, int64_t tile)
{
    sum_loop *l = ctx;
    part s = {l, 0};
    visit_tile(l->p, l->first + tile, add_span, &s);
    l->part[tile] = s.sum;
}

double attn__params_sum(attn_params *p, double cost, attn__span_sum_fn fn)
{
    sum_loop l = {.p = p, .fn = fn};
    double sum = 0;
    for (tiling all = count_tiles(p); l.first < all.tiles; l.first += GROUP) {
        int64_t n = all.tiles - l.first < GROUP ? all.tiles - l.first : GROUP;
        attn__parallel(attn__params_threads(p), n, cost * all.elements, tile_of_sum, &l);
        for (int64_t i = 0; i < n; i++) {
            sum += l.part[i];
        }
    }
    return sum;
}

/* The memory of a tensor's gradient, as a pass backward finds it. */
#include <string.h>

#include "core/core.h"

#define GRAIN 16384 /* elements a tile */

/* y += x, y = x, or y = 0 where x is NULL. */
typedef struct filling {
    attn_tensor *of;
    const void *x;
    bool add;
} filling;

static void fill_tile(void *ctx, int64_t tile)
{
    const filling *f = ctx;
    attn__span s = attn__range(f->of->count, GRAIN, tile);
    size_t size = attn_dtype_size(f->of->dtype), first = (size_t)s.begin * size, bytes = (size_t)(s.end - s.begin) * size;
    char *y = (char *)f->of->grad + first;
    if (f->x == NULL) {
        memset(y, 0, bytes);
    } else if (f->add) {
        attn__kernels(f->of->dtype)->axpy(s.end - s.begin, 1, (const char *)f->x + first, y);
    } else {
        memcpy(y, (const char *)f->x + first, bytes);
    }
}

static void fill(attn_tensor *y, const void *x, bool add)
{
    attn__parallel(attn__tape_threads(y->tape), attn__tiles(y->count, GRAIN), GRAIN, fill_tile, &(filling){y, x, add});
}

bool attn__gradient_reach(attn_tensor *x, bool leave)
{
    if (x->grad == NULL && (x->grad = attn__tape_alloc(x->tape, x->count, attn_dtype_size(x->dtype))) == NULL) {
        return false;
    }
    if (!x->reached && x->params == NULL) {
        x->stale = leave;
        if (!leave) {
            fill(x, NULL, false);
        }
    }
    x->reached = true;
    return true;
}

bool attn__gradient_start(attn_tensor *y, const void *cotangent)
{
    if (!attn__gradient_reach(y, true)) {
        return false;
    }
    fill(y, cotangent, !y->stale);
    y->stale = false;
    if (y->params != NULL) {
        attn__params_touch_all(y->params, y->param);
    }
    return true;
}

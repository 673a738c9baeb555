#include "ops/op.h"

/* Rows of the result that one tile computes, and columns of B that one tile of packing packs, a multiple of what a panel has. Tiles depend
 * on the shapes alone. If a product has more rows than a tile, all its tiles share a packed B. */
#define TILE_ROWS    96
#define ROW_STEP     6 /* rows whose sums a kernel keeps in registers */
#define PACK_COLUMNS 64

/* Rows of a tile: TILE_ROWS at most, and two tiles at least, of like size, so that two threads have as much to do. */
static int64_t tile_rows(int64_t m)
{
    int64_t tiles = attn__tiles(m, TILE_ROWS), even = attn__tiles(m, tiles > 2 ? tiles : 2);
    return attn__tiles(even > 0 ? even : 1, ROW_STEP) * ROW_STEP;
}

/* Columns of a tile: the wider, the fewer times A is read; but threads want tiles. */
static int64_t tile_columns(int64_t n)
{
    return n > 512 ? 256 : 128;
}

/* A matrix inside a batch: element (i,j) of matrix b is data[b * step + i * row + j * column]. */
typedef struct matrix {
    void *data;
    int64_t step, row, column;
} matrix;

/* C[b] = A[b] B[b], or C[b] += where `add`; C is (m,n) and contiguous. The last numbers are for multiply to set. */
typedef struct product {
    const attn__node *node;
    matrix a, b, c;
    int64_t batch, m, n, k;
    bool add;
    int64_t rows, columns;        /* of a tile */
    int64_t down, across, packed; /* tiles of one matrix C, elements of one packed B */
} product;

/* Elements of a packed B (k,n) in a product of m rows; 0 if it is not packed. */
static int64_t packed_size(const attn__node *node, int64_t m, int64_t n, int64_t k)
{
    return m > TILE_ROWS && k > 0 ? ATTN__K(node)->panel_size(k, n) : 0;
}

static void *element(const product *p, const matrix *x, int64_t batch, int64_t i, int64_t j)
{
    return attn__at(p->node, x->data, batch * x->step + i * x->row + j * x->column);
}

/* The packed B of a batch entry from column j on. */
static void *packed(const product *p, int64_t batch, int64_t j)
{
    return attn__at(p->node, p->node->scratch, batch * p->packed + j * p->k);
}

static void pack_tile(void *ctx, int64_t tile)
{
    const product *p = ctx;
    int64_t across = attn__tiles(p->n, PACK_COLUMNS), batch = tile / across;
    attn__span j = attn__range(p->n, PACK_COLUMNS, tile % across);
    ATTN__K(p->node)->panel_pack(p->k, j.end - j.begin, element(p, &p->b, batch, 0, j.begin), p->b.row, p->b.column,
                                 packed(p, batch, j.begin));
}

/* Tiles that follow each other share their columns of B. */
static void multiply_tile(void *ctx, int64_t tile)
{
    const product *p = ctx;
    int64_t batch = tile / p->down / p->across;
    attn__span i = attn__range(p->m, p->rows, tile % p->down), j = attn__range(p->n, p->columns, tile / p->down % p->across);
    void *a = element(p, &p->a, batch, i.begin, 0), *c = element(p, &p->c, batch, i.begin, j.begin);
    if (p->packed > 0) {
        ATTN__K(p->node)->panel_multiply(i.end - i.begin, j.end - j.begin, p->k, 1, a, p->a.row, p->a.column,
                                         (attn__panels){packed(p, batch, j.begin), p->k, p->n - j.begin}, p->add, c, p->c.row);
    } else {
        ATTN__K(p->node)->gemm(i.end - i.begin, j.end - j.begin, p->k, 1, a, p->a.row, p->a.column, element(p, &p->b, batch, 0, j.begin),
                               p->b.row, p->b.column, p->add, c, p->c.row);
    }
}

static void multiply(product *p)
{
    int threads = attn__tape_threads(p->node->tape);
    double work = (double)p->batch * (double)p->m * (double)p->n * (double)p->k / 16; /* vectors do 16 multiply-adds at a time */
    p->rows = tile_rows(p->m), p->columns = tile_columns(p->n);
    p->down = attn__tiles(p->m, p->rows), p->across = attn__tiles(p->n, p->columns);
    p->packed = packed_size(p->node, p->m, p->n, p->k);
    int64_t tiles = p->batch * p->down * p->across, packs = p->packed > 0 ? p->batch * attn__tiles(p->n, PACK_COLUMNS) : 0;
    if (packs > 0) {
        attn__parallel(threads, packs, (double)p->k * (double)(p->n < PACK_COLUMNS ? p->n : PACK_COLUMNS), pack_tile, p);
    }
    if (tiles > 0) {
        attn__parallel(threads, tiles, work / (double)tiles, multiply_tile, p);
    }
}

/* Numbers that infer derives: with a B of rank 2 for a batched A, the batch is folded into the rows of A. */
typedef struct attributes {
    attn_transpose transpose;
    int64_t batch, m, n, k;
} attributes;

static attn_status infer(attn__node *n)
{
    attributes *at = n->attributes;
    attn_shape a = n->in[0]->shape, b = n->in[1]->shape;
    const char *names[] = {"nn", "nt", "tn"};
    if (at->transpose < ATTN_NN || at->transpose > ATTN_TN) {
        return attn__op_fail(n, ATTN_EINVAL, "no such transposition: %d", (int)at->transpose);
    }
    bool folded = b.rank == 2 && a.rank > 2 && at->transpose != ATTN_TN, fits = a.rank >= 2 && b.rank >= 2 && (folded || a.rank == b.rank);
    if (fits) {
        int64_t a0 = a.dim[a.rank - 2], a1 = a.dim[a.rank - 1], b0 = b.dim[b.rank - 2], b1 = b.dim[b.rank - 1];
        at->m = at->transpose == ATTN_TN ? a1 : a0;
        at->k = at->transpose == ATTN_TN ? a0 : a1;
        at->n = at->transpose == ATTN_NT ? b0 : b1;
        fits = at->k == (at->transpose == ATTN_NT ? b1 : b0);
    }
    at->batch = 1;
    for (int i = 0; fits && i < a.rank - 2; i++) {
        fits = folded || a.dim[i] == b.dim[i];
        at->batch *= a.dim[i];
    }
    if (!fits) {
        return attn__op_fail(n, ATTN_ESHAPE, "%s x %s (%s): inner or leading dimensions differ", ATTN__TEXT(a), ATTN__TEXT(b),
                             names[at->transpose]);
    }
    n->out->shape = a;
    n->out->shape.dim[a.rank - 2] = at->m;
    n->out->shape.dim[a.rank - 1] = at->n;
    if (folded) {
        at->m *= at->batch;
        at->batch = 1;
    }
    size_t size = at->batch > 0 ? (size_t)at->batch * attn_dtype_size(n->out->dtype) : 0; /* of one element of every B */
    bool tn = at->transpose == ATTN_TN, nt = at->transpose == ATTN_NT;
    int64_t da = !n->in[0]->needs_grad ? 0 : tn ? packed_size(n, at->k, at->m, at->n) : packed_size(n, at->m, at->k, at->n);
    int64_t db = !n->in[1]->needs_grad ? 0 : nt ? packed_size(n, at->n, at->k, at->m) : packed_size(n, at->k, at->n, at->m);
    n->scratch_size = (size_t)packed_size(n, at->m, at->n, at->k) * size;
    n->scratch_size_b = (size_t)(da > db ? da : db) * size;
    return ATTN_OK;
}

/* The stored matrix (rows, columns), or its transpose as seen by the product. */
static matrix plain(void *data, int64_t rows, int64_t columns)
{
    return (matrix){data, rows * columns, columns, 1};
}

static matrix transposed(void *data, int64_t rows, int64_t columns)
{
    return (matrix){data, rows * columns, 1, columns};
}

static void forward(attn__node *n)
{
    const attributes *at = n->attributes;
    void *a = n->in[0]->data, *b = n->in[1]->data;
    multiply(&(product){
        .node = n,
        .a = at->transpose == ATTN_TN ? transposed(a, at->k, at->m) : plain(a, at->m, at->k),
        .b = at->transpose == ATTN_NT ? transposed(b, at->n, at->k) : plain(b, at->k, at->n),
        .c = plain(n->out->data, at->m, at->n),
        .batch = at->batch,
        .m = at->m,
        .n = at->n,
        .k = at->k,
    });
}

/* forward: C = op(A) op(B).  As stored: NN  dA = G B^T, dB = A^T G;  NT  dA = G B, dB = G^T A;  TN  dA = B G^T, dB = A G */
static void backward(attn__node *n)
{
    const attributes *at = n->attributes;
    int64_t m = at->m, c = at->n, k = at->k;
    void *a = n->in[0]->data, *b = n->in[1]->data, *g = n->out->grad;
    if (n->in[0]->needs_grad) {
        product p = {.node = n, .batch = at->batch, .add = !n->in[0]->stale};
        if (at->transpose == ATTN_TN) {
            p.a = plain(b, k, c), p.b = transposed(g, m, c), p.c = plain(n->in[0]->grad, k, m);
            p.m = k, p.n = m, p.k = c;
        } else {
            p.a = plain(g, m, c), p.b = at->transpose == ATTN_NT ? plain(b, c, k) : transposed(b, k, c), p.c = plain(n->in[0]->grad, m, k);
            p.m = m, p.n = k, p.k = c;
        }
        multiply(&p);
    }
    if (n->in[1]->needs_grad) {
        product p = {.node = n, .batch = at->batch, .add = true};
        if (at->transpose == ATTN_NT) {
            p.a = transposed(g, m, c), p.b = plain(a, m, k), p.c = plain(n->in[1]->grad, c, k);
            p.m = c, p.n = k, p.k = m;
        } else {
            p.a = at->transpose == ATTN_TN ? plain(a, k, m) : transposed(a, m, k), p.b = plain(g, m, c), p.c = plain(n->in[1]->grad, k, c);
            p.m = k, p.n = c, p.k = m;
        }
        multiply(&p);
    }
}

attn_tensor *attn_matmul(attn_tape *t, attn_tensor *a, attn_tensor *b, attn_transpose transpose)
{
    return attn__record(t, &attn__op_matmul, (attn_tensor *const[]){a, b}, 2, &(attributes){.transpose = transpose}, sizeof(attributes));
}

static attn_tensor *build_nn(attn_tape *t, attn_tensor *const in[])
{
    return attn_matmul(t, in[0], in[1], ATTN_NN);
}

static attn_tensor *build_nt(attn_tape *t, attn_tensor *const in[])
{
    return attn_matmul(t, in[0], in[1], ATTN_NT);
}

static attn_tensor *build_tn(attn_tape *t, attn_tensor *const in[])
{
    return attn_matmul(t, in[0], in[1], ATTN_TN);
}

static const attn__case cases[] = {
    {"nn", 2, {{2, {3, 5}}, {2, {5, 4}}}, -1, 1, build_nn},
    {"nt", 2, {{2, {3, 5}}, {2, {4, 5}}}, -1, 1, build_nt},
    {"tn", 2, {{2, {5, 3}}, {2, {5, 4}}}, -1, 1, build_tn},
    {"nn square", 2, {{2, {3, 3}}, {2, {3, 3}}}, -1, 1, build_nn},
    {"nt square", 2, {{2, {3, 3}}, {2, {3, 3}}}, -1, 1, build_nt},
    {"tn square", 2, {{2, {3, 3}}, {2, {3, 3}}}, -1, 1, build_tn},
    {"nn batched", 2, {{3, {2, 3, 5}}, {3, {2, 5, 2}}}, -1, 1, build_nn},
    {"nt batched", 2, {{4, {2, 2, 3, 4}}, {4, {2, 2, 2, 4}}}, -1, 1, build_nt},
    {"tn batched", 2, {{3, {2, 5, 3}}, {3, {2, 5, 2}}}, -1, 1, build_tn},
    {"nn shared", 2, {{3, {2, 3, 5}}, {2, {5, 4}}}, -1, 1, build_nn},
    {"nt shared", 2, {{3, {2, 3, 5}}, {2, {4, 5}}}, -1, 1, build_nt},
};

const attn__op attn__op_matmul = {
    .name = "matmul", .arity = 2, .clears = true, .infer = infer, .forward = forward, .backward = backward, ATTN__CASES(cases)};

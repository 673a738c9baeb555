#include <string.h>

#include "ops/op.h"

_Static_assert(ATTN_MAX_DIMS == 4, "pairs are (batch, heads, queries, keys)");

attn__pairs attn__pairs_of(attn_shape s)
{
    return (attn__pairs){
        .batch = s.rank >= 3 ? s.dim[0] : 1,
        .heads = s.rank == 4 ? s.dim[1] : 1,
        .queries = s.rank >= 2 ? s.dim[s.rank - 2] : 1,
        .keys = s.rank >= 1 ? s.dim[s.rank - 1] : 1,
    };
}

/* Every length lies in 0..limit. */
static attn_status check_lengths(attn__node *n, const char *name, const int32_t *lengths, int64_t count, int64_t limit)
{
    for (int64_t i = 0; lengths != NULL && i < count; i++) {
        if (lengths[i] < 0 || lengths[i] > limit) {
            return attn__op_fail(n, ATTN_ERANGE, "%s[%lld] is %d, expected 0..%lld", name, (long long)i, lengths[i], (long long)limit);
        }
    }
    return ATTN_OK;
}

static attn_status check_mask(attn__node *n, const attn_mask *m, attn__pairs d)
{
    if (m->causal < ATTN_CAUSAL_NONE || m->causal > ATTN_CAUSAL_POSITION || m->allow_form < ATTN_ALLOW_PAIRS ||
        m->allow_form > ATTN_ALLOW_KEYS) {
        return attn__op_fail(n, ATTN_EINVAL, "mask: no such causal alignment or form");
    }
    if (m->causal == ATTN_CAUSAL_POSITION ? m->positions == NULL : m->positions != NULL && m->causal != ATTN_CAUSAL_NONE) {
        return attn__op_fail(n, ATTN_EINVAL, "mask: positions belong to ATTN_CAUSAL_POSITION, or to a window without causality");
    }
    int64_t rows = d.batch * d.queries;
    if (check_lengths(n, "mask.key_lengths", m->key_lengths, d.batch, d.keys) != ATTN_OK ||
        check_lengths(n, "mask.query_lengths", m->query_lengths, d.batch, d.queries) != ATTN_OK ||
        check_lengths(n, "mask.row_lengths", m->row_lengths, rows, d.keys) != ATTN_OK ||
        check_lengths(n, "mask.row_begins", m->row_begins, rows, d.keys) != ATTN_OK) {
        return attn_tape_status(n->tape);
    }
    return ATTN_OK;
}

attn_status attn__mask_take(attn__node *n, const attn_mask *from, attn__pairs d, attn_mask *to)
{
    *to = (attn_mask){.key_lengths = NULL};
    attn_shape pairs = ATTN_SHAPE(d.batch, d.heads, d.queries, d.keys);
    if (attn_shape_count(pairs) < 0) { /* possible where the vectors are empty */
        return attn__op_fail(n, ATTN_ESHAPE, "(B,H,Tq,Tk) = %s is too large", ATTN__TEXT(pairs));
    }
    if (from == NULL) {
        return ATTN_OK;
    }
    if (check_mask(n, from, d) != ATTN_OK) {
        return attn_tape_status(n->tape);
    }
    bool ok = true;
    attn_tape *t = n->tape;
    int64_t rows = d.batch * d.queries, allowed = (from->allow_form == ATTN_ALLOW_KEYS ? d.batch : rows) * d.keys;
    *to = *from;
    to->key_lengths = attn__tape_copy(t, from->key_lengths, d.batch, sizeof(int32_t), &ok);
    to->query_lengths = attn__tape_copy(t, from->query_lengths, d.batch, sizeof(int32_t), &ok);
    to->row_lengths = attn__tape_copy(t, from->row_lengths, rows, sizeof(int32_t), &ok);
    to->row_begins = attn__tape_copy(t, from->row_begins, rows, sizeof(int32_t), &ok);
    to->positions = attn__tape_copy(t, from->positions, d.batch, sizeof(int32_t), &ok);
    to->allow = attn__tape_copy(t, from->allow, allowed, 1, &ok);
    return ok ? ATTN_OK : ATTN_ENOMEM;
}

bool attn__mask_empty(const attn_mask *m)
{
    return m == NULL || (m->key_lengths == NULL && m->query_lengths == NULL && m->row_lengths == NULL && m->row_begins == NULL &&
                         m->allow == NULL && m->causal == ATTN_CAUSAL_NONE && !m->window);
}

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t most(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* Narrows the row to what causality and the window leave of it. */
static void cut_by_place(const attn_mask *mask, attn__pairs d, int64_t b, int64_t i, attn__row *row)
{
    int64_t place = i;
    if (mask->positions != NULL) {
        place += mask->positions[b];
    } else if (mask->causal == ATTN_CAUSAL_BOTTOM_RIGHT) {
        place += d.keys - d.queries;
    }
    if (mask->causal != ATTN_CAUSAL_NONE) {
        row->end = least(row->end, place + 1);
    }
    if (mask->window && mask->left >= 0) {
        row->begin = most(row->begin, place - mask->left);
    }
    if (mask->window && mask->right >= 0) {
        row->end = least(row->end, place + mask->right + 1);
    }
}

attn__row attn__mask_row(const attn_mask *mask, attn__pairs d, int64_t b, int64_t i)
{
    int64_t number = b * d.queries + i;
    attn__row row = {0, d.keys, mask->allow};
    if (mask->key_lengths != NULL) {
        row.end = least(row.end, mask->key_lengths[b]);
    }
    if (mask->row_lengths != NULL) {
        row.end = least(row.end, mask->row_lengths[number]);
    }
    if (mask->row_begins != NULL) {
        row.begin = mask->row_begins[number];
    }
    if (mask->query_lengths != NULL && i >= mask->query_lengths[b]) {
        row.end = 0;
    }
    cut_by_place(mask, d, b, i, &row);
    row.end = most(row.end, 0);
    row.begin = least(row.begin, row.end); /* an empty row begins where it ends */
    if (mask->allow != NULL) {
        row.allow += (mask->allow_form == ATTN_ALLOW_KEYS ? b : number) * d.keys;
    }
    return row;
}

/* The rows of `allow` that belong to the queries, side by side; one for all queries is the same for some. */
static const uint8_t *slice_allow(attn_tape *t, const attn_mask *from, attn__pairs d, int64_t begin, int64_t count)
{
    if (from->allow == NULL || from->allow_form == ATTN_ALLOW_KEYS) {
        return from->allow;
    }
    uint8_t *allow = attn__tape_alloc(t, d.batch * count * d.keys, 1);
    for (int64_t b = 0; allow != NULL && b < d.batch; b++) {
        memcpy(allow + b * count * d.keys, from->allow + (b * d.queries + begin) * d.keys, (size_t)(count * d.keys));
    }
    return allow;
}

attn_status attn__mask_slice(attn_tape *t, const attn_mask *from, attn__pairs d, int64_t begin, int64_t count, attn_mask *to)
{
    *to = *from;
    if (attn__mask_empty(from) || count == d.queries) {
        return ATTN_OK;
    }
    if (d.keys > INT32_MAX) {
        return attn__tape_fail(t, ATTN_ERANGE, "mask: rows of %lld keys, expected at most %d", (long long)d.keys, (int)INT32_MAX);
    }
    int32_t *begins = attn__tape_alloc(t, d.batch * count, sizeof *begins), *ends = attn__tape_alloc(t, d.batch * count, sizeof *ends);
    if (begins == NULL || ends == NULL) {
        return ATTN_ENOMEM;
    }
    for (int64_t r = 0; r < d.batch * count; r++) {
        attn__row row = attn__mask_row(from, d, r / count, begin + r % count);
        begins[r] = (int32_t)row.begin;
        ends[r] = (int32_t)row.end;
    }
    *to = (attn_mask){.row_begins = begins, .row_lengths = ends, .allow_form = from->allow_form};
    to->allow = slice_allow(t, from, d, begin, count);
    return attn_tape_status(t);
}

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
    if (from->causal < ATTN_CAUSAL_NONE || from->causal > ATTN_CAUSAL_BOTTOM_RIGHT || from->allow_form < ATTN_ALLOW_PAIRS ||
        from->allow_form > ATTN_ALLOW_KEYS) {
        return attn__op_fail(n, ATTN_EINVAL, "mask: no such causal alignment or form");
    }
    int64_t rows = d.batch * d.queries;
    if (check_lengths(n, "mask.key_lengths", from->key_lengths, d.batch, d.keys) != ATTN_OK ||
        check_lengths(n, "mask.query_lengths", from->query_lengths, d.batch, d.queries) != ATTN_OK ||
        check_lengths(n, "mask.row_lengths", from->row_lengths, rows, d.keys) != ATTN_OK) {
        return attn_tape_status(n->tape);
    }
    bool ok = true;
    int64_t allowed = (from->allow_form == ATTN_ALLOW_KEYS ? d.batch : rows) * d.keys;
    *to = (attn_mask){
        .key_lengths = attn__tape_copy(n->tape, from->key_lengths, d.batch, sizeof(int32_t), &ok),
        .query_lengths = attn__tape_copy(n->tape, from->query_lengths, d.batch, sizeof(int32_t), &ok),
        .row_lengths = attn__tape_copy(n->tape, from->row_lengths, rows, sizeof(int32_t), &ok),
        .allow = attn__tape_copy(n->tape, from->allow, allowed, 1, &ok),
        .allow_form = from->allow_form,
        .causal = from->causal,
    };
    return ok ? ATTN_OK : ATTN_ENOMEM;
}

attn__row attn__mask_row(const attn_mask *mask, attn__pairs d, int64_t b, int64_t i)
{
    int64_t limit = d.keys, row = b * d.queries + i;
    if (mask->key_lengths != NULL && mask->key_lengths[b] < limit) {
        limit = mask->key_lengths[b];
    }
    if (mask->row_lengths != NULL && mask->row_lengths[row] < limit) {
        limit = mask->row_lengths[row];
    }
    if (mask->query_lengths != NULL && i >= mask->query_lengths[b]) {
        limit = 0;
    }
    if (mask->causal != ATTN_CAUSAL_NONE) {
        int64_t causal = i + 1 + (mask->causal == ATTN_CAUSAL_BOTTOM_RIGHT ? d.keys - d.queries : 0);
        causal = causal < 0 ? 0 : causal;
        limit = causal < limit ? causal : limit;
    }
    const uint8_t *allow = mask->allow;
    if (allow != NULL) {
        allow += (mask->allow_form == ATTN_ALLOW_KEYS ? b : row) * d.keys;
    }
    return (attn__row){limit, allow};
}

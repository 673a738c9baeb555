/* Checking functions of a parameter set. */
#include "check/check.h"

/* Gradients 0, or ATTN__PREFILL, in every row of every parameter. */
static void fill_gradients(attn_params *params, double value)
{
    for (int i = 0; i < attn_params_count(params); i++) {
        attn__params_touch_all(params, i); /* so that sparse tables are zeroed as a whole */
    }
    attn_params_zero_grad(params);
    for (int i = 0; value != 0 && i < attn_params_count(params); i++) {
        if (attn_params_config(params, i).frozen) {
            continue;
        }
        attn__kernels(ATTN_F64)->shift(attn_shape_count(attn_params_shape(params, i)), value, attn_params_grad(params, i));
    }
}

/* Of a table the rows that a backward pass touches, of the rest everything; nothing of what is frozen. */
static attn_status pick_parameters(attn__problem *p, int64_t most)
{
    attn_tensor *y = attn__check_build(p, 1, NULL);
    fill_gradients(p->params, 0);
    if (y == NULL || attn_backward_from(p->tape, y, p->cotangent) != ATTN_OK) {
        return attn__check_refuse(p, attn__check_failure(p), "%s", attn_tape_message(p->tape));
    }
    for (int k = 0; k < p->n; k++) {
        attn_param_config config = attn_params_config(p->params, k);
        attn__slot *s = &p->slots[k];
        int64_t rows, width = config.sparse_rows ? s->shape.dim[1] : 0;
        const int64_t *touched = attn__params_touched(p->params, k, &rows);
        if (!config.frozen && !config.sparse_rows) {
            attn__check_pick(s, 0, s->count, most);
        }
        for (int64_t r = 0; !config.frozen && config.sparse_rows && r < rows; r++) {
            attn__check_pick(s, touched[r] * width, width, most > 0 ? (most + rows - 1) / rows : 0);
        }
    }
    return ATTN_OK;
}

attn_status attn_gradcheck_params(attn_graph_fn fn, void *ctx, attn_params *params, int64_t most, const attn_gradcheck_config *config,
                                  attn_gradcheck_report *report)
{
    attn__problem p = {.fn = fn, .ctx = ctx, .n = attn_params_count(params), .params = params, .report = report};
    attn_status status = attn__check_open(&p, config);
    if (status == ATTN_OK && (!attn__params_built(params) || attn_params_dtype(params) != ATTN_F64 || p.n < 1)) {
        status = attn__check_refuse(&p, ATTN_EDTYPE, "gradients are checked on a built, non-empty float64 set");
    }
    for (int i = 0; i < p.n && status == ATTN_OK; i++) {
        status = attn__check_slot(&p, i, attn_params_name(params, i), attn_params_shape(params, i), attn_params_value(params, i));
    }
    if (status == ATTN_OK) {
        status = attn__check_first_run(&p);
    }
    if (status == ATTN_OK) {
        status = pick_parameters(&p, most);
    }
    if (status == ATTN_OK) {
        attn__check_numeric(&p);
        fill_gradients(params, ATTN__PREFILL);
        status = attn__check_pattern(&p, 1);
        fill_gradients(params, 0);
        if (status == ATTN_OK && attn__check_vacuous(&p)) {
            status = attn__check_refuse(&p, ATTN_EINVAL, "vacuous: nearly all numeric gradients are 0, so nothing was checked");
        }
    }
    return attn__check_close(&p, status == ATTN_OK ? attn__check_verdict(&p) : status);
}

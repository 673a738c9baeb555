/* The functional form of attention, as the layer uses it. Not installed. */
#ifndef ATTN_ATTEND_H
#define ATTN_ATTEND_H

#include "attn/attention.h"
#include "core/core.h"

/* attn_attend with the place of query 0 for the relative-position bias given apart. */
attn_attend_output attn__attend(attn_tape *t, const attn_attend_input *in, const attn_attend_config *c, const int32_t *first);

#endif

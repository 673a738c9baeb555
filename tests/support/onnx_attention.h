/* The ONNX operator Attention (opsets 23 to 25), by attn_attend in float32. */
#ifndef ATTN_TEST_ONNX_ATTENTION_H
#define ATTN_TEST_ONNX_ATTENTION_H

#include "support/ndarray.h"

enum { ONNX_Q, ONNX_K, ONNX_V, ONNX_MASK, ONNX_PAST_KEY, ONNX_PAST_VALUE, ONNX_NONPAD, ONNX_INPUTS };
enum { ONNX_Y, ONNX_PRESENT_KEY, ONNX_PRESENT_VALUE, ONNX_SCORES, ONNX_OUTPUTS };

/* The operator's own names of its inputs and outputs, in the order above. */
extern const char *const onnx_input_names[ONNX_INPUTS];
extern const char *const onnx_output_names[ONNX_OUTPUTS];

typedef struct onnx_attributes {
    double is_causal, softcap, q_num_heads, kv_num_heads, left_window_size, right_window_size, qk_matmul_output_mode;
    double softmax_precision; /* read and not needed */
    double scale;
    bool has_scale;
} onnx_attributes;

/* What an operator without attributes has. */
extern const onnx_attributes onnx_defaults;

/* Fills `out` (free each with nd_free), or returns false with a reason. Inputs that are not given have no values. */
bool onnx_attention(const onnx_attributes *attributes, const ndarray in[ONNX_INPUTS], ndarray out[ONNX_OUTPUTS], char why[ND_MESSAGE]);

#endif

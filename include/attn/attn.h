/* attn: tensors, reverse-mode gradients, a trainable attention layer, word senses and heatmaps. Includes everything. */
#ifndef ATTN_H
#define ATTN_H

#include "attn/attention.h"
#include "attn/checkpoint.h"
#include "attn/corpus.h"
#include "attn/evaluation.h"
#include "attn/explain.h"
#include "attn/file.h"
#include "attn/gradcheck.h"
#include "attn/heatmap.h"
#include "attn/matrix.h"
#include "attn/ops.h"
#include "attn/optim.h"
#include "attn/page.h"
#include "attn/params.h"
#include "attn/random.h"
#include "attn/report.h"
#include "attn/status.h"
#include "attn/tape.h"
#include "attn/tensor.h"
#include "attn/weights.h"
#include "attn/word_sense.h"

#endif

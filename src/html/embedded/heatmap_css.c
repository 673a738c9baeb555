/* src/html/heatmap.css; made by scripts/embed_pages.sh. */
#include "html/html.h"

/* clang-format off */
static const char *const lines[] = {
    "/* The page of a heatmap. */\n",
};

const attn__asset attn__heatmap_css = {lines, (int)(sizeof lines / sizeof lines[0]), "qtcROeGIgHuvpSFHH/aVgdofTfc81XEGUqE26CUVW3w="};

/* src/html/heatmap.js; made by scripts/embed_pages.sh. */
#include "html/html.h"

/* clang-format off */
static const char *const lines[] = {
    "// The page of a heatmap.\n",
    "'use strict';\n",
    "{\n",
    "    attn.page(attn.data.title || 'Attention');\n",
    "}\n",
};

const attn__asset attn__heatmap_js = {lines, (int)(sizeof lines / sizeof lines[0]), "FjRN2yYxYJZUDx8I75Wecj7yelB3vAsUp4WQL/2uNjc="};

#!/bin/sh
# Makes src/html/embedded/*.c of the scripts and styles in src/html, so that they are part of the library and a compiler is all that building
# needs: sh scripts/embed_pages.sh [FOLDER]
# Run it after a change of a .js or .css file there, and commit what it wrote; the test embedded_pages holds them together.
# Another FOLDER than src/html/embedded is for that test.
set -eu
cd "$(dirname "$0")/.."
to=${1:-src/html/embedded}

# hash FILE: its SHA-256 in base64, as a Content-Security-Policy wants it. Three hexadecimal digits are two of base64.
hash() {
    sha256sum "$1" | awk '
        BEGIN { hex = "0123456789abcdef"; digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/" }
        {
            for (i = 1; i <= 64; i += 3) {
                bits = 0
                for (k = i; k < i + 3; k++) bits = bits * 16 + (k <= 64 ? index(hex, substr($1, k, 1)) - 1 : 0)
                text = text substr(digits, int(bits / 64) + 1, 1) (i < 64 ? substr(digits, bits % 64 + 1, 1) : "=")
            }
            print text
        }'
}

for file in src/html/*.js src/html/*.css; do
    if grep -n -i -e '</script' -e '</style' -e '<!--' "$file"; then
        printf '%s: would end its element in the page\n' "$file" >&2
        exit 1
    fi
    name=$(basename "$file" | tr .- __)
    # Question marks are escaped where two of them could begin a trigraph.
    {
        printf '/* %s; made by scripts/embed_pages.sh. */\n#include "html/html.h"\n\n/* clang-format off */\n' "$file"
        printf 'static const char *const lines[] = {\n'
        sed 's/\\/\\\\/g; s/"/\\"/g; s/??/?\\?/g; s/^/    "/; s/$/\\n",/' "$file"
        printf '};\n\nconst attn__asset attn__%s = {lines, (int)(sizeof lines / sizeof lines[0]), "%s"};\n' "$name" "$(hash "$file")"
    } >"$to/$name.c"
done

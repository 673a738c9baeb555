#!/bin/sh
# The C program in README.md is examples/train_layer.c, and every relative link in the project's pages leads to something.
# Usage: readme.sh SOURCE_FOLDER
set -eu
cd "$1"
failed=0

awk '/^```c$/ { inside = 1; next } /^```$/ { inside = 0 } inside' README.md >"${TMPDIR:-/tmp}/attn-readme.$$"
sed '1{/^\/\*/d}' examples/train_layer.c | cmp - "${TMPDIR:-/tmp}/attn-readme.$$" || {
    echo "README.md: the C program is not examples/train_layer.c"
    failed=1
}
rm -f "${TMPDIR:-/tmp}/attn-readme.$$"

for page in README.md CONTRIBUTING.md CHANGELOG.md docs/*.md src/README.md data/README.md; do
    for link in $(grep -o '](\([^)]*\))' "$page" | sed 's/^](//; s/)$//; s/#.*//' | grep -v '^https\{0,1\}:' || true); do
        [ -e "$(dirname "$page")/$link" ] || {
            echo "$page: link to $link leads nowhere"
            failed=1
        }
    done
done
exit $failed

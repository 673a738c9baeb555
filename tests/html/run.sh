#!/bin/sh
# The pages in a real browser. Usage: run.sh ATTN HTML_SAMPLES SOURCE_FOLDER [NODE_OPTION...]
# Without node, Chromium or playwright-core (sh scripts/setup.sh --browser installs them) it ends with 77: skipped.
set -eu
attn=$1
samples=$2
source=$3
shift 3

skip() {
    echo "skipped: $*; sh scripts/setup.sh --browser installs it"
    exit 77
}

CHROMIUM=${CHROMIUM-$(command -v chromium || true)}
[ -n "$CHROMIUM" ] || skip 'there is no chromium'
command -v node >/dev/null || skip 'there is no node'
[ -d "$source/tests/html/node_modules/playwright-core" ] || skip 'there is no playwright-core in tests/html'

rm -rf html.d
mkdir html.d
"$samples" html.d
cd html.d
"$attn" train "$source/data/zh.train.tsv" "$source/data/en.train.tsv" -o m.safetensors --epochs 3 --dim 16 --heads 3 --threads 1 --quiet
export CHROMIUM ATTN="$attn" PAGES="$PWD" DATA_ZH="$source/data/zh.train.tsv" DATA_EN="$source/data/en.train.tsv"
exec node --test --test-concurrency=1 "$@" "$source"/tests/html/*.test.mjs

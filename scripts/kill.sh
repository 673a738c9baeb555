#!/bin/sh
# Kills a training again and again and lets it go on: sh scripts/kill.sh build/attn [KILLS, default 200]
# At every moment there must be a valid model or none yet, nothing else in the folder but it and one unfinished copy, and in the end the bytes
# of a training that nobody disturbed.
set -eu
attn=$(realpath "$1")
kills=${2-200}
data=$(realpath "$(dirname "$0")/../data/en.train.tsv")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
options='--seed 5 --epochs 40 --dim 40 --quiet'
# shellcheck disable=SC2086
"$attn" train "$data" -o whole.safetensors $options
started=0 killed=0 seed=1
while [ "$killed" -lt "$kills" ]; do
    seed=$(((seed * 1103515245 + 12345) % 2147483648))
    resume=
    if [ -e broken.safetensors ]; then
        resume=--resume
        "$attn" info broken.safetensors >/dev/null || { printf 'kill.sh: after %d kills: no valid model\n' "$killed" >&2; exit 1; }
    fi
    # shellcheck disable=SC2086
    "$attn" train "$data" -o broken.safetensors $options $resume &
    started=$((started + 1))
    sleep "0.$(printf '%03d' $((seed / 65536 % 400)))"
    if kill -9 $! 2>/dev/null; then
        killed=$((killed + 1))
    fi
    wait $! 2>/dev/null || true
    left=$(find . -type f ! -name whole.safetensors ! -name broken.safetensors | wc -l)
    [ "$left" -le "$killed" ] || { printf 'kill.sh: %d files are left over\n' "$left" >&2; exit 1; }
    if [ -e broken.safetensors ] && cmp -s broken.safetensors whole.safetensors; then
        rm broken.safetensors # done: from the start again
    fi
done
# shellcheck disable=SC2086
"$attn" train "$data" -o broken.safetensors $options $([ -e broken.safetensors ] && echo --resume)
cmp broken.safetensors whole.safetensors
printf '%d trainings, %d killed, %d unfinished files left: the last model is that of an undisturbed training\n' "$started" "$killed" "$left"

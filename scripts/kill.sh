#!/bin/sh
# Kills a training again and again and lets it go on: sh scripts/kill.sh build/attn [KILLS, default 200]
# At every moment there must be a valid model or none yet, nothing else in the folder but it and unfinished copies, and in the end the bytes
# of a training that nobody disturbed. The moments are spread over the time that the undisturbed one took, on whatever machine; how many of them
# found no model yet, and how many fell into a save, is told, for a run without the latter shows nothing.
set -eu
attn=$(realpath "$1")
kills=${2-200}
data=$(realpath "$(dirname "$0")/../data/en.train.tsv")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM HUP
cd "$work"
options='--seed 5 --epochs 40 --dim 40 --save-every 0 --quiet'

# train FILE [--resume]
train() {
    model=$1
    shift
    # shellcheck disable=SC2086
    exec "$attn" train "$data" -o "$model" $options "$@"
}

milliseconds() {
    echo $(($(date +%s%N) / 1000000))
}

begin=$(milliseconds)
(train whole.safetensors)
took=$(($(milliseconds) - begin))

started=0 killed=0 early=0 in_save=0 whole=0 before=0 seed=1
while [ "$killed" -lt "$kills" ]; do
    seed=$(((seed * 1103515245 + 12345) % 2147483648))
    resume=
    if [ -e broken.safetensors ]; then
        resume=--resume
        "$attn" info broken.safetensors >/dev/null || { printf 'kill.sh: after %d kills: no valid model\n' "$killed" >&2; exit 1; }
    fi
    # shellcheck disable=SC2086
    train broken.safetensors $resume &
    started=$((started + 1))
    delay=$((seed / 65536 * took / 32768))
    sleep "$((delay / 1000)).$(printf '%03d' $((delay % 1000)))"
    if kill -9 $! 2>/dev/null; then
        killed=$((killed + 1))
        [ -e broken.safetensors ] || early=$((early + 1))
    fi
    wait $! 2>/dev/null || true
    left=$(find . -type f ! -name whole.safetensors ! -name broken.safetensors | wc -l)
    [ "$left" -le "$killed" ] || { printf 'kill.sh: %d files are left over\n' "$left" >&2; exit 1; }
    [ "$left" -le "$before" ] || in_save=$((in_save + 1))
    before=$left
    if [ -e broken.safetensors ] && cmp -s broken.safetensors whole.safetensors; then
        rm broken.safetensors # done: from the start again
        whole=$((whole + 1))
    fi
done
if [ -e broken.safetensors ]; then
    (train broken.safetensors --resume)
else
    (train broken.safetensors)
fi
cmp broken.safetensors whole.safetensors
printf '%d trainings, %d killed, %d of them before the first model and %d in a save; %d reached the end, and the last one, with the bytes of the undisturbed one\n' \
    "$started" "$killed" "$early" "$in_save" "$whole"
[ "$in_save" -gt 0 ] || { printf 'kill.sh: no save was disturbed\n' >&2; exit 1; }

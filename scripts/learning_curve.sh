#!/bin/sh
# Accuracy against the size of the training data: trains on growing parts of it and measures each model on the same test data.
#
#     sh scripts/learning_curve.sh TRAIN... [--test TEST...] [-- OPTION...]
#
# TRAIN and TEST are what attn train and attn eval read; a folder has its own test split, so TEST may be left out. OPTIONs go to attn train.
# From the environment: SHARES, the parts; SEEDS, of which mean and standard deviation are taken; ATTN, the tool; OUT, a new folder that
# keeps parts and models. The part of share 1 gives the model that attn train makes of TRAIN.
#
# A part of share s holds sentence i (from 0, in the order of the file) of each sense of each word if the fractional part of i times the
# golden ratio is below s. So each sense has its share, to about a sentence and with the first one always; each part holds all smaller ones;
# and nothing is drawn.
set -eu
export LC_ALL=C
SHARES=${SHARES:-0.03125 0.0625 0.125 0.25 0.5 1}
SEEDS=${SEEDS:-0}
ATTN=${ATTN:-$(dirname "$0")/../build/attn}

fail() {
    printf 'learning_curve.sh: %s\n' "$1" >&2
    exit 2
}

# Two lists, a name a line; the options stay in "$@".
trains='' tests='' to=trains newline='
'
while [ $# -gt 0 ] && [ "$1" != -- ]; do
    case $1 in
    --test) to=tests ;;
    -*) fail "unknown option $1; options of attn train come after --" ;;
    *)
        [ -e "$1" ] || fail "$1: no such file or folder"
        eval "$to=\$$to\$1\$newline"
        ;;
    esac
    shift
done
[ $# -eq 0 ] || shift
[ -n "$trains" ] || fail 'no training data'
if [ -z "${OUT:-}" ]; then
    OUT=$(mktemp -d)
    trap 'rm -rf "$OUT"' EXIT
    trap 'exit 130' INT TERM
fi

# Line ends make no difference to what a sense is; the last line may have none.
belongs='function belongs(sense,    x) { sub(/\r$/, "", sense); x = seen[sense]++ * 0.6180339887498949; return x - int(x) < share }'

# part_of DATA SHARE PLACE: writes that share of DATA to PLACE, a file or folder like DATA
part_of() {
    if [ -d "$1" ]; then
        mkdir "$3"
        cp "$1/classes_map.txt" "$3/"
        awk -v share="$2" -v gold="$3/train.gold.txt" -v data="$3/train.data.txt" "$belongs"'
            NR == FNR { class[NR] = $0; next }
            belongs(class[FNR]) { print class[FNR] >gold; print >data }' "$1/train.gold.txt" "$1/train.data.txt"
    else
        awk -F '\t' -v share="$2" "$belongs"'
            NF == 3 { text = $3; sub(/\r$/, "", text); split(text, token, " "); if (!belongs($1 "\t" token[$2 + 1])) next }
            { print }' "$1" >"$3"
    fi
}

if [ -z "$tests" ]; then
    printf '%s' "$trains" | while read -r data; do
        [ -d "$data" ] || fail "$data: a file has no test split: give --test"
    done
    tests=$trains
fi
mkdir -p "$OUT"

printf '%-8s %9s %9s %9s %9s %9s\n' share sentences 'micro F1' spread 'macro F1' spread
for share in $SHARES; do
    part=$OUT/train-$share
    mkdir "$part" || exit 2
    n=1000 # names of one length, so that their order stays
    printf '%s' "$trains" | while read -r data; do
        n=$((n + 1))
        part_of "$data" "$share" "$part/$n"
    done
    for seed in $SEEDS; do
        model=$OUT/model-$share-$seed.safetensors
        "$ATTN" train "$part"/* -o "$model" --seed "$seed" --quiet --json "$@" >"$OUT/train.json"
        sentences=$(sed 's/.*"examples":\([0-9]*\).*/\1/' "$OUT/train.json")
        # shellcheck disable=SC2086
        (IFS=$newline && set -f && exec "$ATTN" eval "$model" --quiet $tests) >"$OUT/eval.txt"
        printf '%s ' "$sentences"
        sed -n 's/.*micro F1 \([0-9.]*\), macro F1 \([0-9.]*\)$/\1 \2/p' "$OUT/eval.txt" | tail -n 1
    done >"$OUT/results.txt"
    awk -v share="$share" '
        function spread(sum, squares) { return NR > 1 ? sqrt((squares > sum * sum / NR ? squares - sum * sum / NR : 0) / (NR - 1)) : 0 }
        { a += $2; aa += $2 * $2; b += $3; bb += $3 * $3 }
        END { printf "%-8s %9d %9.4f %9.4f %9.4f %9.4f\n", share, $1, a / NR, spread(a, aa), b / NR, spread(b, bb) }' "$OUT/results.txt"
done

#!/bin/sh
# Accuracy of a configuration by cross-validation on training data, which is how the defaults were found: no test split is read.
#
#     sh scripts/cross_validate.sh DATA... [-- OPTION...]
#
# DATA is what attn train reads, of a folder the split train. OPTIONs go to attn train. From the environment: FOLDS, how many parts; SEEDS;
# ATTN, the tool; OUT, a new folder that keeps parts and models.
#
# Sentence i (from 0, in the order of the file) of each sense of each word belongs to part i modulo FOLDS: nothing is drawn. Each part is
# answered by a model that was trained on all the others. A line a part and seed, then means and standard deviations.
set -eu
export LC_ALL=C
FOLDS=${FOLDS:-4}
SEEDS=${SEEDS:-0}
ATTN=${ATTN:-$(dirname "$0")/../build/attn}

fail() {
    printf 'cross_validate.sh: %s\n' "$1" >&2
    exit 2
}

data='' newline='
'
while [ $# -gt 0 ] && [ "$1" != -- ]; do
    case $1 in
    -*) fail "unknown option $1; options of attn train come after --" ;;
    esac
    [ -e "$1" ] || fail "$1: no such file or folder"
    data=$data$1$newline
    shift
done
[ $# -eq 0 ] || shift
[ -n "$data" ] || fail 'no training data'
[ "$FOLDS" -ge 2 ] || fail "FOLDS is $FOLDS, expected at least 2"
if [ -z "${OUT:-}" ]; then
    OUT=$(mktemp -d)
    trap 'rm -rf "$OUT"' EXIT
    trap 'exit 130' INT TERM
fi

# split_of DATA FOLD PLACE NAME: of the sentences of DATA those of the part go to PLACE/test/NAME, the others to PLACE/train/NAME, in the form
# of DATA
split_of() {
    if [ -d "$1" ]; then
        for split in train test; do
            mkdir "$3/$split/$4"
            cp "$1/classes_map.txt" "$3/$split/$4/"
        done
        awk -v fold="$2" -v folds="$FOLDS" -v place="$3" -v name="$4" '
            NR == FNR { class[NR] = $0; next }
            { split_name = seen[class[FNR] + 0]++ % folds == fold ? "test" : "train"
              start = place "/" split_name "/" name "/" split_name
              print class[FNR] >(start ".gold.txt")
              print >(start ".data.txt") }' "$1/train.gold.txt" "$1/train.data.txt"
    else
        awk -F '\t' -v fold="$2" -v folds="$FOLDS" -v place="$3" -v name="$4" '
            NF == 3 { text = $3; sub(/\r$/, "", text); split(text, token, " ")
                      print >(place "/" (seen[$1 "\t" token[$2 + 1]]++ % folds == fold ? "test" : "train") "/" name) }' "$1"
    fi
}

mkdir -p "$OUT"
: >"$OUT/results.txt"
printf '%-4s %6s %9s %9s %9s\n' part seed 'micro F1' 'macro F1' ECE
fold=0
while [ "$fold" -lt "$FOLDS" ]; do
    part=$OUT/part-$fold
    mkdir "$part" "$part/train" "$part/test" || exit 2
    n=1000 # names of one length, so that their order stays
    printf '%s' "$data" | while read -r one; do
        n=$((n + 1))
        split_of "$one" "$fold" "$part" "$n"
    done
    for seed in $SEEDS; do
        model=$OUT/model-$fold-$seed.safetensors
        "$ATTN" train "$part"/train/* -o "$model" --seed "$seed" --quiet "$@"
        "$ATTN" eval "$model" --quiet --calibration "$part"/test/* >"$OUT/eval.txt"
        sed -n 's/.*expected calibration error \(.*\)/\1/p; $s/.*micro F1 \(.*\), macro F1 \(.*\)/\1 \2/p' "$OUT/eval.txt" | tr '\n' ' ' |
            awk -v fold="$fold" -v seed="$seed" '{ printf "%-4d %6d %9.4f %9.4f %9.4f\n", fold, seed, $2, $3, $1 }' | tee -a "$OUT/results.txt"
    done
    fold=$((fold + 1))
done
awk '
    function spread(sum, squares) { return NR > 1 ? sqrt((squares > sum * sum / NR ? squares - sum * sum / NR : 0) / (NR - 1)) : 0 }
    { a += $3; aa += $3 * $3; b += $4; bb += $4 * $4; e += $5; ee += $5 * $5 }
    END { printf "%-11s %9.4f %9.4f %9.4f\n%-11s %9.4f %9.4f %9.4f\n", "mean", a / NR, b / NR, e / NR, "spread", spread(a, aa), spread(b, bb),
                 spread(e, ee) }' "$OUT/results.txt"

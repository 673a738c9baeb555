#!/bin/sh
# The tool on a disk and in a memory that fail, at a choice of calls to the one and of allocations: it ends with 2 and one message, or as if
# nothing had been; its output is the old one or the new one; no temporary file is left. Usage as cli.sh, and the tool with faults.
# shellcheck source=tests/support/cli.sh
. "$2/support/cli.sh"
faulty=$4

small_model
ends 0 eval m.safetensors test.tsv --predictions p.tsv
cp p.tsv q.tsv
printf '1\t2\n3\t4\n' >matrix.tsv
faults=0

# whole FILE: old or as it should be; a picture may also have other letters, with status 2
whole() {
    cmp -s "$1" good.out && return
    [ "$code" -eq 2 ] && [ "$(cat "$1")" = old ] && return
    case $1 in
    *.svg) [ "$code" -eq 2 ] && tail -n 1 "$1" | grep -q '</svg>$' ;;
    *) false ;;
    esac
}

# one_fault: fault number k of this kind while "$@" runs
one_fault() {
    [ "$output" = none ] || echo old >"$output"
    env "ATTN_FAULT_$kind=$k" ATTN_FAULT_COUNT=count "$faulty" "$@" >out.txt 2>err.txt
    code=$?
    case $code in
    0) cmp -s out.txt good.txt || bad "$last, $kind fault $k: success, and other output" ;;
    2) [ "$(grep -c '^attn' err.txt)" -eq 1 ] || bad "$last, $kind fault $k: not one message" ;;
    *) bad "$last, $kind fault $k: exit status $code" ;;
    esac
    [ "$output" = none ] || whole "$output" || bad "$last, $kind fault $k: $output is neither old nor new"
    [ -z "$(find . -name '.attn-*')" ] || grep -qx unlink count || bad "$last, $kind fault $k: a temporary file stayed"
    rm -f .attn-*
    faults=$((faults + 1))
}

# sweep KIND MOST OUTPUT ARGUMENT...: at most so many faults, evenly spread; OUTPUT may be none
sweep() {
    kind=$1 most=$2 output=$3
    shift 3
    last="attn $*"
    [ "$output" = none ] || echo old >"$output"
    env "ATTN_FAULT_$kind=0" ATTN_FAULT_COUNT=count "$faulty" "$@" >good.txt 2>err.txt || bad "$last: failed"
    [ "$output" = none ] || cp "$output" good.out
    n=$(head -n 1 count)
    step=$(((n + most - 1) / most))
    k=1
    while [ "$k" -le "$n" ]; do
        one_fault "$@"
        k=$((k + step))
    done
}

# all KIND MOST: every subcommand that reads or writes
all() {
    sweep "$1" "$2" out.safetensors train train.tsv -o out.safetensors --epochs 1 --dim 4 --heads 1 --hidden 2 --threads 1 --quiet --log log.jsonl
    sweep "$1" "$2" out.tsv eval m.safetensors test.tsv --predictions out.tsv --threads 1
    sweep "$1" "$2" none compare p.tsv q.tsv --threads 1
    sweep "$1" "$2" none predict m.safetensors 'the muddy bank' --threads 1
    sweep "$1" "$2" out.html explain m.safetensors 'the muddy bank' -o out.html --threads 1
    sweep "$1" "$2" out.html report m.safetensors 'the muddy bank' 'the bank lends money' -o out.html --threads 1
    sweep "$1" "$2" out.html heatmap m.safetensors 'the muddy bank' -o out.html --threads 1
    sweep "$1" "$2" out.svg heatmap m.safetensors 'the muddy bank' -o out.svg --threads 1 --font /usr/share/fonts/truetype/dejavu/DejaVuSans.ttf
    sweep "$1" "$2" out.npy heatmap --matrix matrix.tsv --save-weights out.npy --quiet
    sweep "$1" "$2" none info m.safetensors --json
}

all IO 30
env ATTN_FAULT_MEMORY=0 ATTN_FAULT_COUNT=count "$faulty" --version >out.txt
[ "$(head -n 1 count)" -eq 0 ] || all MEMORY 12 # 0: under a sanitizer, which has a memory of its own
# Clocks that jump are asked by nobody: progress and logs go by the monotonic one.
grep -rnE '\<(time|gettimeofday|localtime)\(|CLOCK_REALTIME' "$2/../src" --include='*.c' && bad 'a clock that can jump'
printf '%d faults\n' "$faults"
[ "$faults" -gt 150 ] || bad 'too few faults'

finish

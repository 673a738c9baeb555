#!/bin/sh
# Outputs of the tool that cannot be written, and memory that runs out. Usage as cli.sh.
# shellcheck source=tests/support/cli.sh disable=SC3045
. "$2/support/cli.sh"

small_model
cp m.safetensors kept.safetensors

# ---- found before the work, which would never end ----

endless='--epochs 1000000 --dim 8 --quiet'
mkdir folder
# shellcheck disable=SC2086
for output in none/m.safetensors folder m.safetensors/x "$(printf '%0256d' 7)"; do
    ends 2 train train.tsv -o "$output" $endless
    says "attn: $output: cannot write: "
    one_line
    ends 2 train train.tsv -o new.safetensors --log "$output" $endless
    says "attn: $output: cannot write: "
    ends 2 eval m.safetensors test.tsv --predictions "$output"
    says "attn: $output: cannot write: "
    one_line
done
absent new.safetensors
absent folder/m.safetensors

# ---- full disks: a link to the device, which must stay a link ----

if [ -c /dev/full ]; then
    ln -s /dev/full full
    ends 0 eval m.safetensors test.tsv --predictions p.tsv
    ends 2 train train.tsv -o full --epochs 1 --quiet
    says 'attn: full: cannot write: No space left on device'
    ends 2 train train.tsv -o new.safetensors --epochs 1 --quiet --log full
    says 'attn: full: cannot write'
    ends 2 eval m.safetensors test.tsv --predictions full
    says 'attn: full: cannot write: No space left on device'
    if [ ! -L full ] || [ ! -c /dev/full ]; then
        bad 'the full device was replaced'
    fi
    for command in --help --version 'train --help' info 'info --json' 'info m.safetensors' 'eval m.safetensors test.tsv' \
        'eval m.safetensors test.tsv --json' 'eval m.safetensors test.tsv --predictions -' 'compare p.tsv p.tsv --json' 'predict m.safetensors bank' \
        'predict m.safetensors bank --json' 'gradcheck add' 'train train.tsv -o new.safetensors --epochs 1 --json --quiet'; do
        # shellcheck disable=SC2086
        "$attn" $command >/dev/full 2>err.txt
        code=$?
        : >out.txt
        last="attn $command >/dev/full"
        [ "$code" -eq 2 ] || bad "$last: exit status $code, expected 2"
        says 'attn: standard output: cannot write: No space left on device'
        one_line
    done
    # What is larger than the buffer of stdio.
    yes bank | head -n 500 >many.txt
    for command in 'explain m.safetensors - --json' 'explain m.safetensors -' 'predict m.safetensors --json'; do
        # shellcheck disable=SC2086
        "$attn" $command <many.txt >out.txt 2>err.txt
        [ "$(wc -c <out.txt)" -gt 4096 ] || bad "attn $command: a larger output was expected"
        # shellcheck disable=SC2086
        "$attn" $command <many.txt >/dev/full 2>err.txt
        code=$?
        : >out.txt
        last="attn $command >/dev/full"
        [ "$code" -eq 2 ] || bad "$last: exit status $code, expected 2"
        says 'attn: standard output: cannot write: No space left on device'
        one_line
    done
fi

# ---- a file that may not grow so far, over a good one ----

(
    ulimit -f 4
    exec "$attn" train train.tsv -o m.safetensors --epochs 1 --dim 64 --quiet
) >out.txt 2>err.txt
[ $? -eq 2 ] || bad 'a limited file size: exit status'
says 'attn: m.safetensors: cannot write: File too large'
same m.safetensors kept.safetensors

# Links are written through, permissions stay.
mkdir models
ln -s models/real.safetensors link.safetensors
: >models/real.safetensors
chmod 600 models/real.safetensors
ends 0 train train.tsv -o link.safetensors --epochs 5 --dim 8 --hidden 4 --heads 2 --quiet
same models/real.safetensors kept.safetensors
[ -L link.safetensors ] || bad 'a link was replaced'
case $(ls -l models/real.safetensors) in
-rw-------*) ;;
*) bad 'permissions have changed' ;;
esac

# ---- out of memory: told, without a signal; sanitizers need more room than there is on any machine ----

if (ulimit -v 2000000 && exec "$attn" --version) >/dev/null 2>&1; then
    # in_kilobytes LIMIT ARGUMENT...: the last run's outputs and code, with so much room
    in_kilobytes() {
        limit=$1
        shift
        last="attn $* (in $limit kB)"
        (ulimit -v "$limit" && exec "$attn" "$@") >out.txt 2>err.txt
        code=$?
    }
    in_kilobytes 400000 train train.tsv -o m.safetensors --dim 4096 --heads 64 --hidden 1024 --threads 1 --quiet
    [ "$code" -eq 2 ] || bad "$last: exit status $code, expected 2"
    says 'out of memory'
    one_line
    same m.safetensors kept.safetensors
    enough=20000
    in_kilobytes $enough --version
    while [ "$code" -ne 0 ] && [ $enough -lt 2000000 ]; do # too little for the program itself to be loaded
        enough=$((enough + 1000))
        in_kilobytes $enough --version
    done
    outcomes=
    for command in 'train train.tsv -o new.safetensors --epochs 1 --dim 4096 --hidden 64 --threads 1 --quiet' 'eval m.safetensors test.tsv --threads 1 --json' \
        'gradcheck matmul --json'; do
        for more in 0 100 200 400 600 800 1000 2000 4000 8000 16000 100000; do
            # shellcheck disable=SC2086
            in_kilobytes $((enough + more)) $command
            case $code in
            0) silent ;;
            2) grep -qE 'out of memory|Cannot allocate memory' err.txt || bad "$last: no word of memory" ;;
            *) bad "$last: exit status $code" ;;
            esac
            outcomes="$outcomes $code"
        done
        [ "$code" -eq 0 ] || bad "$last: still not enough"
    done
    case $outcomes in
    *2*) ;;
    *) bad 'memory never ran out' ;;
    esac
fi

finish

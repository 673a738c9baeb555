#!/bin/sh
# attn train: interrupted and resumed runs, held-out data, logs. Usage as cli.sh.
# shellcheck source=tests/support/cli.sh
. "$2/support/cli.sh"

small_corpus
run='--epochs 4000 --dim 32 --heads 2 --hidden 8 --seed 7 --seeds 2 --batch 8 --threads 1'

# ---- Ctrl-C ----

# interrupt LINES ARGUMENT...: runs the tool until its log has so many lines, then sends it SIGINT; must end with 130
interrupt() {
    lines=$1
    shift
    last="attn $* (interrupted)"
    : >log.jsonl
    "$attn" "$@" --log log.jsonl >out.txt 2>err.txt &
    pid=$!
    while [ "$(wc -l <log.jsonl)" -lt "$lines" ] && kill -0 $pid 2>/dev/null; do
        :
    done
    kill -INT $pid 2>/dev/null
    wait $pid
    code=$?
    [ "$code" -eq 130 ] || bad "$last: exit status $code, expected 130"
}

# shellcheck disable=SC2086
{
    ends 0 train train.tsv -o whole.safetensors $run --quiet
    interrupt 3 train train.tsv -o parts.safetensors $run
    grep -qxF 'attn: interrupted; saved to parts.safetensors, --resume continues' err.txt || bad 'nothing said of the interruption'
    [ ! -s out.txt ] || bad 'an interrupted run prints'
    cp parts.safetensors first.safetensors
    ends 0 info first.safetensors
    prints 'training not finished'
    ends 0 predict first.safetensors 'the muddy bank' # half-trained is good enough
    interrupt 2 train train.tsv -o parts.safetensors $run --resume --quiet
    [ ! -s err.txt ] || bad 'an interrupted run is not quiet'
    cmp -s first.safetensors parts.safetensors && bad 'the second part has changed nothing'
    interrupt 1 train train.tsv -o parts.safetensors --resume --json # the numbers of the run need not be said again
    [ ! -s out.txt ] || bad 'an interrupted run prints'
    cp parts.safetensors third.safetensors
    ends 0 train train.tsv -o parts.safetensors --resume --threads 2 --quiet
    same whole.safetensors parts.safetensors
    cp third.safetensors parts.safetensors
    ends 0 train train.tsv -o parts.safetensors $run --resume --json --quiet
    same whole.safetensors parts.safetensors
    prints '"epochs":4000,'
    prints '"seed":7,'
}

# ---- saves during a run ----

# killed LINES ARGUMENT...: runs the tool until its log has so many lines, then kills it, which it cannot notice
killed() {
    lines=$1
    shift
    : >log.jsonl
    "$attn" "$@" --log log.jsonl --quiet &
    pid=$!
    while [ "$(wc -l <log.jsonl)" -lt "$lines" ] && kill -0 $pid 2>/dev/null; do
        :
    done
    kill -KILL $pid 2>/dev/null
    wait $pid 2>/dev/null
}

# The line of an epoch is written before its state is saved.
# shellcheck disable=SC2086
{
    killed 3 train train.tsv -o saved.safetensors $run --save-every 0
    ends 0 info saved.safetensors
    prints 'training not finished'
    ends 0 train train.tsv -o saved.safetensors --resume --save-every 1000 --quiet
    same whole.safetensors saved.safetensors
    killed 3 train train.tsv -o never.safetensors $run --save-every 1000
    absent never.safetensors
}

# ---- resuming what is done, or something else ----

ends 0 train train.tsv -o parts.safetensors --resume
says 'attn: parts.safetensors: its training was finished before, nothing has changed'
ends 0 train train.tsv -o parts.safetensors --resume --json --quiet
shaped '{dev:{macro_f1:null,micro_f1:null},epochs:integer,examples:integer,model:string,parameters:integer,schema:attn.train/1,seconds:real,seed:integer,train_loss:null}'
same whole.safetensors parts.safetensors
for option in '--epochs 4001' '--dim 33' '--seed 8' '--seeds 1' '--score dot' '--position none' '--vectors none' --freeze-vectors '--dropout 0.1' \
    '--patience 3 --dev test.tsv' '--learning-rate 0.1' '--batch 9' '--window 9' '--heads 4' '--hidden 9' '--weight-decay 0' '--clip 1' \
    '--label-smoothing 0.2'; do
    # shellcheck disable=SC2086
    ends 2 train train.tsv -o third.safetensors --resume $option
    word=${option%% *}
    says "attn train: --resume goes on as the model began: $word must be as it was then, or left out"
done
cp third.safetensors parts.safetensors
cat train.tsv test.tsv >more.tsv
ends 2 train more.tsv -o parts.safetensors --resume --quiet
says 'attn: the data are not those that the model began with: training data must be the same'
same third.safetensors parts.safetensors
ends 2 train train.tsv -o none.safetensors --resume --quiet
says 'attn: none.safetensors: cannot open: No such file or directory'
absent none.safetensors

# ---- held-out data ----

run='--epochs 3 --dim 8 --heads 2 --hidden 4 --seed 3 --threads 1'
# shellcheck disable=SC2086
{
    ends 0 train train.tsv -o a.safetensors $run --dev test.tsv
    [ "$(grep -c '^epoch [1-3]/3 .* dev micro [0-9.]* macro [0-9.]* ' err.txt)" -eq 3 ] || bad 'no dev scores'
    ends 0 train train.tsv -o b.safetensors $run --quiet
    same a.safetensors b.safetensors # they only watch
    ends 0 train train.tsv -o c.safetensors $run --dev-fraction 0.3 --json --quiet
    prints '"examples":8,'
    grep -q '"dev":{"micro_f1":' out.txt || bad 'held-out sentences have no scores'
    cmp -s b.safetensors c.safetensors && bad 'sentences that are held out are learned all the same'
    run="$run --epochs 4000 --patience 3999 --dev-fraction 0.3"
    ends 0 train train.tsv -o whole.safetensors $run --quiet
    interrupt 5 train train.tsv -o parts.safetensors $run --quiet
    cp parts.safetensors first.safetensors
    ends 2 train train.tsv -o parts.safetensors --resume --quiet
    says 'attn train: --patience needs --dev or --dev-fraction'
    ends 2 train train.tsv -o parts.safetensors --resume --dev test.tsv --quiet
    says 'attn: the data are not those that the model began with: training data and dev data must be the same'
    same first.safetensors parts.safetensors
    ends 0 train train.tsv -o parts.safetensors --resume --dev-fraction 0.3 --quiet # divided by the model's own seed
    same whole.safetensors parts.safetensors
}

# A log goes on where the run goes on.
ends 0 train train.tsv -o a.safetensors --epochs 2 --dim 4 --quiet --log l.jsonl
ends 0 train train.tsv -o a.safetensors --epochs 3 --dim 4 --quiet --log l.jsonl
[ "$(wc -l <l.jsonl)" -eq 3 ] || bad 'a new run adds to an old log'

# Folders: train takes the training split, eval the test split.
mkdir f
cut -f 2- train.tsv >f/train.data.txt
cut -f 2- test.tsv >f/test.data.txt
for split in train test; do
    cut -f 1 $split.tsv | sed 's/shore/0/; s/money/1/; s/animal/2/; s/club/3/' >f/$split.gold.txt
done
printf '{"0": "shore", "1": "money", "2": "animal", "3": "club"}' >f/classes_map.txt
ends 0 train f -o a.safetensors --epochs 3 --dim 8 --quiet
ends 0 train train.tsv -o b.safetensors --epochs 3 --dim 8 --quiet
same a.safetensors b.safetensors
ends 0 eval a.safetensors f
cp out.txt a.txt
ends 0 eval a.safetensors test.tsv
same a.txt out.txt
ends 0 eval a.safetensors f --split train
cp out.txt a.txt
ends 0 eval a.safetensors train.tsv
same a.txt out.txt
ends 0 train f --split test -o a.safetensors --epochs 3 --dim 8 --quiet
ends 0 train test.tsv -o b.safetensors --epochs 3 --dim 8 --quiet
same a.safetensors b.safetensors

# Windows line ends, a byte-order mark and blank lines make no difference but a remark.
{
    printf '\357\273\277'
    sed 's/$/\r/; 3s/$/\n\r/' train.tsv
} >windows.tsv
ends 0 train windows.tsv -o a.safetensors --epochs 3 --dim 8
grep -qxF 'attn: 1 blank line skipped, the first at windows.tsv:4' err.txt || bad 'nothing said of a blank line'
ends 0 train train.tsv -o b.safetensors --epochs 3 --dim 8 --quiet
same a.safetensors b.safetensors
"$attn" train - -o b.safetensors --epochs 3 --dim 8 --quiet <windows.tsv || bad 'train from stdin'
same a.safetensors b.safetensors

finish

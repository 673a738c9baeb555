#!/bin/sh
# What the tool says of bad input: one line with place or numbers, exit status 2, nothing lost. Usage as cli.sh.
# shellcheck source=tests/support/cli.sh
. "$2/support/cli.sh"

small_model
cp m.safetensors kept.safetensors

# refuses MESSAGE ARGUMENT...: exit status 2 and one line with the message
refuses() {
    message=$1
    shift
    ends 2 "$@"
    says "$message"
    one_line
}

# ---- sentences: for train and eval alike ----

# bad_data MESSAGE: bad.tsv is refused, after a good file and alone
bad_data() {
    for command in train eval; do
        model=m.safetensors
        [ $command = eval ] || model=-om.safetensors
        for data in bad.tsv 'test.tsv bad.tsv'; do
            # shellcheck disable=SC2086
            refuses "$1" $command $model $data
        done
    done
    same m.safetensors kept.safetensors
}

rm -f bad.tsv
bad_data 'attn: bad.tsv: cannot open: No such file or directory'
: >bad.tsv
bad_data 'attn: bad.tsv: 0 labelled examples, expected at least one'
printf '\n \n' >bad.tsv
bad_data 'attn: bad.tsv: 0 labelled examples'
{
    row shore 2 'the muddy bank'
    row shore 3 'the muddy bank'
} >bad.tsv
bad_data 'attn: bad.tsv:2: index 3 is outside of the sentence of 3 tokens, expected 0 to 2'
row shore 99999999999999999999 'the muddy bank' >bad.tsv
bad_data 'attn: bad.tsv:1: index 99999999999999999999 is outside of the sentence of 3 tokens, expected 0 to 2'
row shore -1 'the muddy bank' >bad.tsv
bad_data "attn: bad.tsv:1: index '-1' is no decimal number, expected the position of the word, 0 to 2"
row '' 2 'the muddy bank' >bad.tsv
bad_data "attn: bad.tsv:1: the sense '' is empty, expected SENSE<TAB>INDEX<TAB>tokens"
printf '\n\nshore\tthe muddy bank\n' >bad.tsv
bad_data 'attn: bad.tsv:3: only 1 tab, expected SENSE<TAB>INDEX<TAB>tokens'
printf 'the muddy bank\n' >bad.tsv
bad_data 'attn: bad.tsv:1: 0 tabs, expected SENSE<TAB>INDEX<TAB>tokens'
printf 'shore\t2\tthe muddy bank\tshore\n' >bad.tsv
bad_data 'attn: bad.tsv:1: 3 tabs, expected SENSE<TAB>INDEX<TAB>tokens'
row shore 1 'the  bank' >bad.tsv
bad_data 'attn: bad.tsv:1: two spaces in a row, expected tokens with exactly one space between them'
printf 'shore\t1\tthe b\344\270nk\n' >bad.tsv
bad_data 'attn: bad.tsv:1: broken UTF-8 at byte 13 of the line (0xE4), expected UTF-8'
printf 'shore\t1\tthe \000ank\n' >bad.tsv
bad_data 'attn: bad.tsv:1: zero byte at byte 12 of the line, expected UTF-8 (UTF-16 has such bytes)'
printf 'shore\t0\tbank\n' | iconv -t UTF-16 >bad.tsv # as a spreadsheet saves "Unicode text"
bad_data 'attn: bad.tsv:1: zero byte at byte 3 of the line, expected UTF-8 (UTF-16 has such bytes)'
mkdir empty
refuses 'attn: empty/train.data.txt: cannot open: No such file or directory' train empty -o m.safetensors
refuses 'attn: empty/test.data.txt: cannot open: No such file or directory' eval m.safetensors empty

# ---- folders ----

# folder SENTENCES LABELS: printf formats
# shellcheck disable=SC2059
folder() {
    rm -rf f
    mkdir f
    for split in train test; do
        printf "$1" >f/$split.data.txt
        printf "$2" >f/$split.gold.txt
    done
    printf '{"0": "shore", "1": "money"}' >f/classes_map.txt
}

folder '1\tthe bank\n0\tbank money\n' '0\n1\n'
ends 0 train f -o f.safetensors --epochs 1 --quiet
ends 0 eval f.safetensors f
ends 2 eval f.safetensors f --split dev
says 'attn: f/dev.data.txt: cannot open'
rm f/train.gold.txt f/test.gold.txt
refuses 'attn: f/train.gold.txt: cannot open: No such file or directory' train f -o f.safetensors
refuses 'attn: f/test.gold.txt: cannot open: No such file or directory' eval f.safetensors f
folder '1\tthe bank\n0\tbank money\n' '0\n1\n0\n'
refuses 'attn: f/train.data.txt:3: no sentence for f/train.gold.txt:3: 2 sentences and 3 labels, expected one label a sentence' \
    train f -o f.safetensors
folder '1\tthe bank\n0\tbank money\n' '0\n'
refuses 'attn: f/train.gold.txt:2: no label for f/train.data.txt:2: 2 sentences and 1 labels' train f -o f.safetensors
folder '1\tthe bank\n0\tbank money\n' '0\n2\n'
refuses 'attn: f/test.gold.txt:2: class 2 is none of the 2 of f/classes_map.txt' eval f.safetensors f
folder '1\tthe bank\n7\tbank money\n' '0\n1\n'
refuses 'attn: f/train.data.txt:2: index 7 is outside of the sentence of 2 tokens, expected 0 to 1' train f -o f.safetensors
rm f/classes_map.txt
refuses 'attn: f/classes_map.txt: cannot open: No such file or directory' train f -o f.safetensors
folder '1\tthe bank\n' '0\n'
printf '{"0": "shore"' >f/classes_map.txt
ends 2 train f -o f.safetensors
says 'attn: f/classes_map.txt:1: '

# ---- nothing to learn, words that were never seen ----

row shore 1 'the bank' >bad.tsv
row shore 1 'a bank' >>bad.tsv
refuses "attn: no word has two senses: there is nothing to learn; the index of the first sentence, counted from 0, points at 'bank'" \
    train bad.tsv -o m.safetensors
# Words of one sense among others: punctuation that sticks to a word, an index beside it.
{
    cat train.tsv
    row shore 1 'the bank. of the river'
} >slips.tsv
ends 0 train slips.tsv -o slips.safetensors --epochs 1 --quiet
silent
ends 0 train slips.tsv -o slips.safetensors --epochs 1
says "attn: 'bank.' has one sense only: 'shore'"
row animal 0 'a bat' >>slips.tsv
ends 0 train slips.tsv -o slips.safetensors --epochs 1
says "attn: 2 words have one sense only, the first is 'bank.': 'shore'"
row bird 1 'the crane' >bad.tsv
refuses "attn: bad.tsv:1: the model knows no senses of 'crane'" eval m.safetensors bad.tsv
refuses "attn: bad.tsv:1: the model knows no senses of 'crane'" train train.tsv --dev bad.tsv -o m.safetensors --quiet
refuses "attn: bad.tsv:1: the model knows no senses of 'crane'" gradcheck --model m.safetensors --data bad.tsv --quiet
refuses 'attn: no word of the sentence is one whose senses the model knows; it knows: bank, bat' \
    predict m.safetensors 'the crane'
refuses "attn: the word 'bat' is not in the sentence" predict m.safetensors 'the bank' --target bat
refuses "attn: the model knows no senses of 'crane'; it knows: bank, bat" predict m.safetensors 'the bank' --target crane
refuses "attn: the model knows no senses of 'crane'; it knows: bank, bat" predict m.safetensors 'the crane' --target crane
refuses 'attn: --target-index is 2, the sentence has the words 0..1' predict m.safetensors 'the bank' --target-index 2
refuses 'attn: a sentence without a word' predict m.safetensors ''
refuses 'attn: broken UTF-8 at byte 4 of the sentence (0xFF), expected UTF-8' predict m.safetensors "$(printf 'the \377')"

# Of several sentences those that can be answered are; the others are told with their place.
ends 2 predict m.safetensors 'the bank' 'the crane' 'a bat'
[ "$(grep -c '^  ' out.txt)" -eq 2 ] || bad 'a sentence without an answer took others with it'
says 'attn: sentence 2: no word of the sentence is one'
printf 'the bank\n\nthe \000bank\nthe \377\na bat\n' | "$attn" predict m.safetensors >out.txt 2>err.txt
[ $? -eq 2 ] || bad 'bad lines on stdin: exit status'
[ "$(grep -c '^  ' out.txt)" -eq 2 ] || bad 'bad lines on stdin took others with them'
says 'attn: standard input:3: a zero byte, expected UTF-8 (UTF-16 has such bytes)'
grep -qF 'attn: standard input:4: broken UTF-8 at byte 4 of the sentence (0xFF)' err.txt || bad 'stdin: no line number'
ends 2 predict m.safetensors </dev/null
says 'attn: standard input: no sentence'
ends 2 predict m.safetensors <.
says 'attn: standard input: cannot read: Is a directory'

# ---- devices without an end, names that are empty or no text, help that argp would never end ----

if [ -c /dev/zero ]; then
    for command in 'train /dev/zero -o m.safetensors' 'eval m.safetensors /dev/zero' 'info /dev/zero' 'heatmap --matrix /dev/zero' \
        'compare /dev/zero /dev/zero'; do
        # shellcheck disable=SC2086
        refuses 'attn: /dev/zero: cannot read: a device that has no end, expected a file' $command
    done
    refuses 'attn: /dev/zero: a line of more than 64 MiB' predict m.safetensors --file /dev/zero
    same m.safetensors kept.safetensors
fi
refuses "attn: '': cannot open: No such file or directory" predict '' bank
refuses "attn: '': cannot open: No such file or directory" predict m.safetensors --file ''
broken=$(printf 'p\377.tsv')
ends 0 eval m.safetensors test.tsv --predictions "$broken"
refuses 'attn: JSON cannot hold a name that is not UTF-8, or a number that is not finite' compare "$broken" "$broken" --json
refuses 'attn: empty: cannot read: Is a directory' gradcheck --model empty --data test.tsv
ARGP_HELP_FMT=rmargin=x "$attn" train --help 2>&1 | head -c 100000 >help.txt
"$attn" train --help >out.txt
same help.txt out.txt

# ---- models ----

refuses 'attn: none.safetensors: cannot open: No such file or directory' eval none.safetensors test.tsv
size=$(($(wc -c <m.safetensors)))
for part in 0 4 8 1000 $((size / 2)) $((size - 1)); do
    head -c "$part" m.safetensors >cut.safetensors
    for command in 'eval cut.safetensors test.tsv' 'predict cut.safetensors bank' 'info cut.safetensors' \
        'gradcheck --quiet --model cut.safetensors --data test.tsv' 'train train.tsv --resume -o cut.safetensors'; do
        # shellcheck disable=SC2086
        refuses 'attn: cut.safetensors: ' $command
    done
done
# edited FROM TO: the model with one word of its texts replaced by another of the same length
edited() {
    sed "s/$1/$2/" m.safetensors >edited.safetensors
    cmp -s m.safetensors edited.safetensors && bad "nothing to edit: $1"
}
edited 'hidden\\":4,' 'hidden\\":5,'
refuses "attn: edited.safetensors: the tensors do not fit the configuration: '0.attention.W_q' is (8,8) in the file, (8,10) in the model; " \
    eval edited.safetensors test.tsv
edited 'attn.word-sense\/2' 'attn.word-sense\/9'
refuses 'attn: edited.safetensors: no word-sense model: "attn.model" is attn.word-sense/9, expected attn.word-sense/1 to 2' info edited.safetensors
printf 'shore\t1\tthe bank\n' >text.safetensors
ends 2 info text.safetensors
says 'attn: text.safetensors: '

# ---- numbers and options ----

# usage MESSAGE ARGUMENT...: a usage error, which argp follows with a hint
usage() {
    message=$1
    shift
    ends 2 "$@"
    says "$message"
    [ ! -s out.txt ] || bad "$last: printed something besides its message"
}

for option in heads=0 heads=65 dim=0 dim=4097 dim=x dim= hidden=0 hidden=4097 window=0 window=10001 seeds=0 seeds=101 epochs=0 epochs=1.5 \
    epochs=99999999999999999999 batch=0 batch=65537 learning-rate=-1 learning-rate=nan learning-rate=inf learning-rate=1e3 learning-rate=1,5 \
    weight-decay=-1 dropout=1 dropout=-0.1 label-smoothing=1 clip=-1 patience=-1 seed=-1 seed=9223372036854775808 seed=x threads=0 \
    threads=1025 dev-fraction=1 dev-fraction=-1 save-every=-1 save-every=nan score=cosine position=absolute; do
    usage "attn train: --${option%%=*} is '${option#*=}', expected " train train.tsv -o m.safetensors "--$option"
done
usage 'attn train: no training data' train -o m.safetensors
usage 'attn train: no model file: give -o FILE' train train.tsv
usage 'attn train: a model cannot go to standard output: give -o FILE' train train.tsv -o -
usage 'attn train: --patience needs --dev or --dev-fraction' train train.tsv -o m.safetensors --patience 2
usage 'attn train: --dev and --dev-fraction exclude each other' train train.tsv -o m.safetensors --dev test.tsv --dev-fraction 0.1
usage 'attn eval: a model is missing' eval
usage 'attn eval: no data' eval m.safetensors
usage "attn eval: --min-accuracy is '1.1', expected a number from 0 to 1" eval m.safetensors test.tsv --min-accuracy 1.1
usage 'attn eval: --json and --predictions cannot both go to standard output' eval m.safetensors test.tsv --json --predictions -
usage 'attn compare: two files of predictions are compared' compare p.tsv
usage 'attn compare: two files are compared, not more' compare p.tsv q.tsv r.tsv
usage 'attn compare: only one of the two can be standard input' compare - -
usage "attn compare: --resamples is '0', expected a whole number from 1" compare p.tsv q.tsv --resamples 0
usage "attn compare: --seed is 'x', expected a whole number from 0" compare p.tsv q.tsv --seed x
usage 'attn predict: a model is missing' predict
usage 'attn predict: --target and --target-index exclude each other' predict m.safetensors bank --target bank --target-index 0
usage "attn predict: --target-index is '-1', expected a whole number from 0" predict m.safetensors bank --target-index=-1
usage 'attn gradcheck: --model and --data belong together' gradcheck --model m.safetensors
usage 'attn gradcheck: a model is checked as a whole: name no operations' gradcheck add --model m.safetensors --data test.tsv
usage "attn gradcheck: --tolerance is '0', expected a number from 1e-15 to 1" gradcheck --tolerance 0
refuses "attn: no operation 'sine'; 'attn gradcheck' lists them" gradcheck sine --quiet
usage 'attn info: one model at most' info m.safetensors m.safetensors

# ---- names that would take more than a line, or command the terminal ----

unpleasant=$(printf 'a\nb\033[1m')
refuses 'attn: a?b?[1m: cannot open: No such file or directory' predict "$unpleasant" bank
refuses 'attn: a?b?[1m: cannot open: No such file or directory' predict m.safetensors --file "$unpleasant"
refuses "attn: unknown subcommand 'a?b?[1m'" "$unpleasant"

# ---- an output that is an input, or two outputs in one file ----

cp train.tsv kept.tsv
ln -s train.tsv link.tsv
refuses 'attn: train.tsv: would be written over: it is also given as train.tsv' train train.tsv -o train.tsv
refuses 'attn: link.tsv: would be written over: it is also given as train.tsv' train train.tsv -o link.tsv
refuses 'attn: m.safetensors: would be written over' eval m.safetensors test.tsv --predictions m.safetensors
refuses 'attn: test.tsv: would be written over' eval m.safetensors test.tsv --predictions test.tsv
refuses 'attn: both.st: would be written over' train train.tsv -o both.st --log both.st
refuses 'attn: both.html: would be written over: it is also given as ./both.html' train train.tsv -o both.html --report ./both.html
refuses 'attn: train.tsv: would be written over' train train.tsv -o new.st --log train.tsv
mkdir sub
refuses 'attn: sub/../picture: would be written over: it is also given as picture' heatmap m.safetensors bank -o sub/../picture --save-weights picture
cp m.safetensors model
refuses 'attn: sub/../model: would be written over' heatmap model bank -o sub/../model
printf '1\t2\n' >matrix.tsv
printf 'a row\n' >rows.tsv
refuses 'attn: rows.tsv: would be written over' heatmap --matrix matrix.tsv --rows rows.tsv --save-weights rows.tsv
refuses 'attn: ./matrix.tsv: would be written over' heatmap --matrix matrix.tsv --save-weights ./matrix.tsv
same train.tsv kept.tsv
same m.safetensors kept.safetensors
same model kept.safetensors

finish

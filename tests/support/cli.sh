# shellcheck shell=sh disable=SC2034
# What the tests of the tool share. Arguments of each: ATTN TESTS_FOLDER JSON_SHAPE
set -u
unset POSIXLY_CORRECT OMP_NUM_THREADS
attn=$1
shape=$3
name=$(basename "$0" .sh)
rm -rf "$name.d"
mkdir "$name.d"
cd "$name.d" || exit 1
failures=0
last=

bad() {
    printf '%s.sh: %s\n' "$name" "$*" >&2
    [ -s err.txt ] && sed 's/^/    /' err.txt >&2
    failures=$((failures + 1))
}

# ends CODE ARGUMENT...: the tool with these arguments ends so; its outputs go to out.txt and err.txt
ends() {
    wanted=$1
    shift
    last="attn $*"
    "$attn" "$@" >out.txt 2>err.txt
    code=$?
    [ "$code" -eq "$wanted" ] || bad "$last: exit status $code, expected $wanted"
}

# says TEXT: the last run's message, its first line on stderr, contains the text
says() {
    head -n 1 err.txt | grep -qF -e "$1" || bad "$last: did not say: $1"
}

# prints TEXT: the last run's output contains the text
prints() {
    grep -qF -e "$1" out.txt || bad "$last: did not print: $1"
}

# one_line: there is one message and nothing else
one_line() {
    [ ! -s out.txt ] || bad "$last: printed something besides its message"
    [ "$(($(wc -l <err.txt)))" -eq 1 ] || bad "$last: its message is not one line"
}

silent() {
    [ ! -s err.txt ] || bad "$last: not silent"
}

# same FILE FILE
same() {
    cmp -s "$1" "$2" || bad "$1 and $2 differ"
}

absent() {
    [ ! -e "$1" ] || bad "$last: left $1"
}

# shaped SHAPE: the last run printed JSON objects, one a line, all of this shape
shaped() {
    "$shape" <out.txt >shapes.txt 2>err.txt || bad "$last: no clean JSON"
    sort -u shapes.txt >one.txt
    printf '%s\n' "$1" | cmp -s - one.txt || bad "$last: shape $(cat one.txt)
    expected $1"
}

# At the end: nothing temporary is left, and how it went.
finish() {
    left=$(find . -name '.attn-*' | head -n 3)
    [ -z "$left" ] || bad "temporary files stayed: $left"
    [ "$failures" -eq 0 ] || printf '%s.sh: %d failed\n' "$name" "$failures" >&2
    [ "$failures" -eq 0 ]
    exit
}

tab=$(printf '\t')
# row SENSE INDEX WORDS: a line of TSV
row() {
    printf '%s\t%s\t%s\n' "$1" "$2" "$3"
}

# Twelve sentences about two words, and four others.
small_corpus() {
    {
        row shore 4 'we sat on the bank of the slow river'
        row money 1 'the bank lends money to small shops'
        row animal 1 'a bat hung from the roof of the cave'
        row club 4 'he swung the wooden bat at the ball'
        row shore 5 'reeds grew along the muddy bank'
        row money 5 'she took cash to the bank on friday'
        row animal 2 'the small bat eats insects at night'
        row club 4 'the player broke his bat in 1998'
        row shore 3 'a steep grassy bank above the water'
        row money 2 'my savings bank pays 3 percent interest'
        row animal 3 'every night the bat leaves its cave'
        row club 1 'his bat hit the ball hard'
    } >train.tsv
    {
        row money 1 'the bank keeps money for shops'
        row shore 2 'the muddy bank of the river'
        row club 2 'his wooden bat hit nothing'
        row animal 1 'a bat lives in that cave'
    } >test.tsv
}

# A model of it in m.safetensors, trained so quickly that tests do not notice.
small_model() {
    small_corpus
    ends 0 train train.tsv -o m.safetensors --epochs 5 --dim 8 --hidden 4 --heads 2 --threads 1 --quiet
}

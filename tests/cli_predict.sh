#!/bin/sh
# attn predict: raw sentences, several words in one, files and pipes. Usage: cli_predict.sh ATTN TESTS_FOLDER JSON_SHAPE
# shellcheck source=tests/support/cli.sh
. "$2/support/cli.sh"
data=$2/../data

ends 0 train "$data/en.train.tsv" "$data/zh.train.tsv" -o m.safetensors --epochs 12 --quiet --threads 1

# The answers of the last run without their probabilities: exactly these lines.
answers() {
    sed 's/ [01]\.[0-9][0-9][0-9]\( \|$\)/\1/g' out.txt >got.txt
    printf '%s\n' "$@" >expected.txt
    cmp -s got.txt expected.txt || bad "$last: printed
$(cat out.txt)
    expected
$(cat expected.txt)"
}

# predicts FILE OPTION...: reads standard input from the file
predicts() {
    from=$1
    shift
    last="attn predict m.safetensors $* <$from"
    "$attn" predict m.safetensors "$@" <"$from" >out.txt 2>err.txt
    code=$?
}

# ---- how a sentence is read ----

ends 0 predict m.safetensors 'She took her money to the Bank.'
silent
answers 'she took her money to the [bank]' '  * bank_money   bank_river'
ends 0 predict m.safetensors 'She took her money to the Bank.' --tokenize words
answers 'she took her money to the [bank]' '  * bank_money   bank_river'
ends 2 predict m.safetensors 'She took her money to the Bank.' --tokenize spaces
says 'attn: no word of the sentence is one whose senses the model knows; it knows: apple, '
ends 0 predict m.safetensors "The Apple's juice: sweet!"
answers 'the [apple] juice sweet' '  apple_company   * apple_fruit'
ends 0 predict m.safetensors '她吃苹果和香蕉。'
silent
answers '她 吃 [苹果] 和 香蕉' '  苹果_公司   * 苹果_水果'
ends 0 predict m.safetensors '她 吃 苹果 和 香蕉'
answers '她 吃 [苹果] 和 香蕉' '  苹果_公司   * 苹果_水果'
ends 2 predict m.safetensors '她吃苹果和香蕉。' --tokenize words
ends 0 predict m.safetensors '她吃苹果和香蕉。' --tokenize chars
answers '她 吃 [苹果] 和 香蕉' '  苹果_公司   * 苹果_水果'
ends 0 predict m.safetensors "a sweet apple-tree" --target Apple
answers 'a sweet [apple] tree' '  apple_company   * apple_fruit'

# Sentences as the training data has them, read by itself or at spaces: the same bytes, and the accuracy that eval tells.
for language in en zh; do
    cut -f 3 "$data/$language.test.tsv" >sentences.txt
    cut -f 2 "$data/$language.test.tsv" >index.txt
    ends 0 predict m.safetensors --file sentences.txt --tokenize spaces --quiet
    cp out.txt spaces.txt
    ends 0 predict m.safetensors --file sentences.txt --quiet
    same out.txt spaces.txt
    [ "$(wc -l <out.txt)" -ge 384 ] || bad "$language: not an answer a sentence"
    ends 0 predict m.safetensors --file sentences.txt --quiet --json
    sed 's/.*"line":\([0-9]*\),.*"target":\([0-9]*\),.*"sense":"\([^"]*\)".*/\1 \2 \3/' out.txt >told.txt
    cut -f 1 "$data/$language.test.tsv" | paste -d ' ' - index.txt |
        awk 'NR == FNR { gold[NR " " $2] = $1; next } ($1 " " $2) in gold { n++; right += gold[$1 " " $2] == $3 } END { print right " of " n " right" }' \
            - told.txt >right.txt
    ends 0 eval m.safetensors "$data/$language.test.tsv" --quiet
    prints "$(cat right.txt): accuracy"
    grep -q ' of 192 right' right.txt || bad "$language: $(cat right.txt)"
done

# ---- which words ----

ends 0 predict m.safetensors 'the Crane by the Bank' 'his bat'
silent
sed -i '/^  .*\*/d' out.txt
answers 'the [crane] by the bank' 'the crane by the [bank]' 'his [bat]'
ends 0 predict m.safetensors 'the bank of the river is a bank'
[ "$(grep -c '^  ' out.txt)" -eq 2 ] || bad "$last: not an answer for each of two"
prints 'the [bank] of the river is a bank'
prints 'the bank of the river is a [bank]'
ends 0 predict m.safetensors 'the bank of the river is a bank' --target-index 7
[ "$(wc -l <out.txt)" -eq 2 ] || bad "$last: more than one answer"
prints 'the bank of the river is a [bank]'
ends 0 predict m.safetensors 'the crane by the bank' 'a bank' --target bank
[ "$(grep -c '^  ' out.txt)" -eq 2 ] || bad "$last: not one answer a sentence"
prints 'the crane by the [bank]'
ends 2 predict m.safetensors 'the crane by the river' 'a bank' --target bank
says "attn: sentence 1: the word 'bank' is not in the sentence"
prints 'a [bank]'
ends 2 predict m.safetensors 'the bank' --target shop
says "attn: the model knows no senses of 'shop'; it knows: apple, "
one_line
ends 0 predict m.safetensors 'qqq www eee bank'
says 'attn: 3 of 4 words are unknown to the model'
ends 0 predict m.safetensors 'qqq the bank'
silent
ends 2 predict m.safetensors 'the bank' --target-index 1 --target bank
says 'attn predict: --target and --target-index exclude each other'
ends 2 predict m.safetensors 'the bank' --tokenize letters
says "attn predict: --tokenize is 'letters', expected one of: auto, spaces, words, chars"

# ---- JSON: an object a word asked about ----

printf 'the crane by the bank\n\nThe "qqq" \\ Bank.\n' >lines.txt
predicts lines.txt --json
[ "$code" -eq 0 ] || bad "$last: exit status $code"
says 'attn: 1 blank line skipped, the first at standard input:2'
[ "$(wc -l <out.txt)" -eq 3 ] || bad "$last: not three objects"
shaped_line='{attention:[[real]],line:integer,probabilities:{X:real,Y:real},schema:attn.predict/1,sense:string,sentence:[string],target:integer,unknown:[integer],word:string}'
sed -n 1p out.txt | grep -qF '{"schema":"attn.predict/1","line":1,"sentence":["the","crane","by","the","bank"],"target":1,"word":"crane","sense":"crane_' || bad "$last: first object"
sed -n 2p out.txt | grep -qF '"line":1,"sentence":["the","crane","by","the","bank"],"target":4,"word":"bank","sense":"bank_' || bad "$last: second object"
sed -n 3p out.txt | grep -qF '"line":3,"sentence":["the","qqq","bank"],"target":2,"word":"bank","sense":"bank_' || bad "$last: third object"
sed -n 3p out.txt | grep -qF ']],"unknown":[1]}' || bad "$last: unknown words"
ends 0 predict m.safetensors --json --tokenize spaces "$(printf 'a "b\\\\c\001 /\177 苹果')" --quiet
prints '"sentence":["a","\"b\\\\c\u0001","/'
"$shape" <out.txt | sed 's/probabilities:{[^}]*}/probabilities:{X:real,Y:real}/' >shapes.txt
printf '%s\n' "$shaped_line" | cmp -s - shapes.txt || bad "$last: shape $(cat shapes.txt)"
# A word alone attends to itself; what is printed as a number is one.
ends 0 predict m.safetensors --json bank
prints '"attention":[[1.0],[1.0],[1.0],[1.0]],"unknown":[]}'

# ---- files and pipes ----

printf 'his bat\na bank\n' >plain.txt
printf '\357\273\277his bat\r\n\r\n \t \r\na bank' >dos.txt # the last line without its end
ends 0 predict m.safetensors -f plain.txt
silent
cp out.txt a.txt
ends 0 predict m.safetensors --file dos.txt
says 'attn: 2 blank lines skipped, the first at dos.txt:2'
same out.txt a.txt
ends 0 predict m.safetensors --file dos.txt --quiet
silent
predicts plain.txt
same out.txt a.txt
predicts plain.txt -
same out.txt a.txt
predicts plain.txt -f -
same out.txt a.txt
ends 0 predict m.safetensors 'his bat' 'a bank'
same out.txt a.txt
printf 'a bank\n' >one.txt
predicts one.txt 'his bat' -
same out.txt a.txt
ends 0 predict m.safetensors 'his bat' -f one.txt
same out.txt a.txt
predicts plain.txt - -f -
says 'attn predict: standard input can be read only once'
[ "$code" -eq 2 ] || bad "$last: exit status $code"
ends 2 predict m.safetensors -f none.txt
says 'attn: none.txt: cannot open: No such file or directory'
one_line
ends 2 predict m.safetensors -f .
says 'attn: .: cannot read: Is a directory'
: >empty.txt
ends 2 predict m.safetensors -f empty.txt
says 'attn: empty.txt: no sentence'
printf '\n\n' >empty.txt
ends 2 predict m.safetensors -f empty.txt
says 'attn: empty.txt: no sentence'

# Lines that cannot be answered: each is told with its place, and none stops the others.
printf 'his bat\nno such word\nthe \000bank\nthe \344\270 bank\na bank\n' >bad.txt
ends 2 predict m.safetensors -f bad.txt
same out.txt a.txt
says 'attn: bad.txt:2: no word of the sentence is one whose senses the model knows; it knows: '
grep -qxF 'attn: bad.txt:3: a zero byte, expected UTF-8 (UTF-16 has such bytes)' err.txt || bad "$last: zero byte"
grep -qxF 'attn: bad.txt:4: broken UTF-8 at byte 4 of the sentence (0xE4), expected UTF-8' err.txt || bad "$last: broken UTF-8"
[ "$(wc -l <err.txt)" -eq 3 ] || bad "$last: not a message a line"

# Training data are no sentences.
row animal 1 'his bat' >labelled.tsv
ends 2 predict m.safetensors -f labelled.tsv
says 'attn: labelled.tsv:1: a labelled sentence, expected words alone: cut -f 3 leaves these, attn eval reads the labels'
one_line
ends 0 predict m.safetensors "his${tab}bat" "his${tab}2nd${tab}bat" --quiet # tabs are spaces

# A line of 100,001 words, and one that is longer than any buffer and has no space.
awk 'BEGIN { for (i = 0; i < 100000; i++) printf "the "; print "bank" }' >long.txt
ends 0 predict m.safetensors -f long.txt
[ "$(head -n 1 out.txt | wc -w)" -eq 100001 ] || bad "$last: words are missing"
awk 'BEGIN { for (i = 0; i < 50000; i++) printf "吃"; print "苹果" }' >long.txt
ends 0 predict m.safetensors -f long.txt
[ "$(head -n 1 out.txt | wc -w)" -eq 50001 ] || bad "$last: characters are missing"

# An answer comes before the next sentence is asked for, also through pipes.
mkfifo to from
timeout 60 "$attn" predict m.safetensors <to >from 2>err.txt &
exec 3>to 4<from
for sentence in 'his bat' 'a bank'; do
    printf '%s\n' "$sentence" >&3
    { read -r first && read -r second; } <&4 || bad 'no answer through a pipe'
    printf '%s\n  %s\n' "$first" "$second"
done >out.txt
exec 3>&-
wait $! || bad 'predict through a pipe failed'
exec 4<&-
same out.txt a.txt

# Whoever reads no further ends it without a word.
awk 'BEGIN { for (i = 0; i < 20000; i++) print "his bat" }' >many.txt
{
    "$attn" predict m.safetensors -f many.txt 2>err.txt
    echo $? >code.txt
} | head -n 1 >out.txt
silent
[ "$(cat code.txt)" -ne 2 ] || bad 'a closed pipe is told as an error'
cmp -s out.txt "$(head -n 1 a.txt >first.txt && echo first.txt)" || bad 'a closed pipe: no first line'
ends 0 predict m.safetensors -f many.txt
[ "$(wc -l <out.txt)" -eq 40000 ] || bad 'answers are missing'
[ "$(sort -u out.txt | wc -l)" -eq 2 ] || bad 'the same sentence has several answers'

# Who makes the model shorter while it answers is told so: the first answer is there, the others wait in a full pipe.
short=$(printf 'sh\033ort.safetensors')
cp m.safetensors "$short"
rm -f answers.fifo
mkfifo answers.fifo
i=0
set --
while [ $i -lt 3000 ]; do
    set -- "$@" 'she took her money to the bank'
    i=$((i + 1))
done
"$attn" predict "$short" "$@" >answers.fifo 2>err.txt &
{
    read -r first
    : >"$short"
    cat >rest.txt
} <answers.fifo
wait $!
code=$?
last='attn predict, the model made shorter'
[ "$code" -eq 2 ] || bad "exit status $code, expected 2"
[ "$first" = 'she took her money to the [bank]' ] || bad "the first line is $first"
says 'attn: sh?ort.safetensors: cannot read: it has become shorter'

# Words do not control the terminal.
for command in predict explain; do
    ends 0 "$command" m.safetensors "$(printf 'his \033[31mred\177 \302\233x bat')" --tokenize spaces
    [ "$(head -n 1 out.txt)" = 'his ␛[31mred␡ �x [bat]' ] || bad "$last: the first line is $(head -n 1 out.txt)"
    LC_ALL=C grep -q "$(printf '[\001-\010\013-\037\177]')" out.txt && bad "$last: control characters"
done
[ "$(grep -c '^  ␛\[31mred␡   ' out.txt)" -gt 0 ] || bad "$last: no such row in a table"

finish

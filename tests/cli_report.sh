#!/bin/sh
# Pages of the tool: attn report, attn explain -o, attn train --report. Usage: cli_report.sh ATTN TESTS_FOLDER JSON_SHAPE
# What a browser makes of them is in tests/html.
# shellcheck source=tests/support/cli.sh
. "$2/support/cli.sh"

# page FILE LANGUAGE: it is a whole page in that language, and names no other place
page() {
    head -c 15 "$1" | grep -q '^<!DOCTYPE html>' || bad "$last: $1 is no page"
    grep -q "^<html lang=\"$2\">" "$1" || bad "$last: $1 is not in $2"
    [ "$(tail -n 1 "$1")" = '</html>' ] || bad "$last: $1 is not whole"
    sed 's|http://www.w3.org/2000/svg||' "$1" | grep -q 'https\{0,1\}:' && bad "$last: $1 names another place"
}

# holds FILE TEXT
holds() {
    grep -qF -e "$2" "$1" || bad "$last: $1 does not hold $2"
}

# ---- attn report ----

small_model
ends 0 report m.safetensors 'the muddy bank of the river' 'the bank lends money' -o r.html
silent
page r.html en
holds r.html '"words":["the","muddy","bank","of","the","river"],"target":2,'
holds r.html '"words":["the","bank","lends","money"],"target":1,'
holds r.html '"stepsOnly":false'
ends 0 report m.safetensors 'the muddy bank of the river' 'the bank lends money' -o - --threads 1
same r.html out.txt
cp r.html old.html
ends 0 report m.safetensors 'the bank and the bat' --target bat --title 'Bats & <banks>' -o r.html
holds r.html '<title>Bats &amp; &lt;banks&gt;</title>'
holds r.html '"target":4,'
ends 0 report m.safetensors 'the bank and the bat' -o r.html
says "attn: 2 words could be meant; took 'bank' at index 1 (--target-index chooses)"
ends 0 report m.safetensors 'the bank and the bat' --target-index 4 -o r.html
holds r.html '"target":4,'

# Before and after: the training data make the untrained model again, and only they do.
ends 0 report m.safetensors 'the bank' -o before.html --data train.tsv
silent
[ "$(grep -o '"table":' before.html | wc -l)" -eq 2 ] || bad "$last: no two models"
ends 2 report m.safetensors 'the bank' -o no.html --data test.tsv
says 'attn: m.safetensors: not the data that the model was trained on: words or senses differ'
one_line
ends 2 report m.safetensors 'the bank' -o no.html --data train.tsv --data test.tsv
says 'attn: m.safetensors: not the data that the model was trained on: words or senses differ'
ends 0 train train.tsv -o held.safetensors --epochs 1 --dim 4 --dev-fraction 0.4 --quiet
ends 2 report held.safetensors 'the bank' -o no.html --data train.tsv
ends 0 report held.safetensors 'the bank' -o held.html --data train.tsv --dev-fraction 0.4
printf 'bank 1 2 3\nbat 3 2 1\n' >vectors.txt
ends 0 train train.tsv -o v.safetensors --epochs 1 --vectors vectors.txt --quiet
ends 2 report v.safetensors 'the bank' -o no.html --data train.tsv
says "attn: v.safetensors: the model's embeddings came from a file of word vectors, which is needed to make them again"
ends 0 report v.safetensors 'the bank' -o v.html --data train.tsv --vectors vectors.txt
ends 0 report m.safetensors 'the bank' -o v.html --before v.safetensors
holds v.html '"beforeName":"v.safetensors"'
absent no.html

ends 2 report
says 'attn report: a model is missing'
ends 2 report m.safetensors
says 'attn report: a sentence is missing'
ends 2 report m.safetensors 'the bank'
says 'attn report: -o FILE.html is missing'
ends 2 report m.safetensors 'the bank' -o no.html --target bank --target-index 1
says 'attn report: --target and --target-index exclude each other'
ends 2 report m.safetensors 'the bank' -o no.html --before v.safetensors --data train.tsv
says 'attn report: --before and --data exclude each other'
ends 2 report m.safetensors 'the bank' -o no.html --vectors vectors.txt
says 'attn report: --dev-fraction and --vectors say how --data is to be used, which is missing'
ends 2 report m.safetensors 'the bank' 'a crane' -o no.html
says 'attn: sentence 2: no word of the sentence is one whose senses the model knows'
one_line
ends 2 report m.safetensors 'the bank' -o no.png
says 'attn: no.png: a page is an HTML file: expected the extension .html'
one_line
ends 2 report m.safetensors 'the bank' -o absent/no.html
one_line
ends 2 report m.safetensors 'the bank' -o m.safetensors
says 'attn: m.safetensors: would be written over: it is also given as m.safetensors'
ends 2 report m.safetensors 'the bank' -o ./train.tsv --data train.tsv
says 'attn: ./train.tsv: would be written over: it is also given as train.tsv'
if [ -c /dev/full ]; then
    for command in report explain; do
        ends 2 "$command" m.safetensors 'the bank' -o /dev/full
        says 'attn: /dev/full: cannot write: No space left on device'
        one_line
    done
fi
ends 2 report absent.safetensors 'the bank' -o no.html
one_line
ends 2 report m.safetensors '' -o no.html
one_line
absent no.html
absent no.png

# What is given in vain is said, and what browsers will not like.
ends 0 report m.safetensors 'the bank' -o r.html --split dev
says 'attn: --split has no effect without --data'
ends 0 report m.safetensors "$(yes bank | head -n 2200 | tr '\n' ' ')" --target-index 0 -o large.html
says 'attn: large.html: a page of 51 MB, which browsers are slow to open, or cannot; shorter sentences make a smaller one'
rm large.html

# ---- attn explain -o ----

ends 0 explain m.safetensors 'the muddy bank of the river' -o e.html --head 1
silent
page e.html en
holds e.html '"stepsOnly":true'
holds e.html '"head":1,"member":0,'
ends 2 explain m.safetensors 'the bank' -o e.html --json
says 'attn explain: --json prints and -o writes a page: one of them'
ends 2 explain m.safetensors 'the bank' -o no.svg
says 'attn: no.svg: a page is an HTML file: expected the extension .html'
ends 2 explain m.safetensors 'the bank' -o no.html --head 2
absent no.html
ends 0 explain m.safetensors 'the bank' --lang zh
says 'attn: --lang has no effect without -o'
ends 0 explain m.safetensors 'the bank' --json --brief
says 'attn: --brief has no effect on JSON'
ends 0 explain m.safetensors 'the bank' -o e.html --digits 3
says 'attn: --digits has no effect on a page'
ends 0 explain m.safetensors 'the bank' -o e.html --digits 3 --quiet
silent

# ---- attn train --report ----

ends 0 train train.tsv -o t.safetensors --epochs 7 --dim 8 --hidden 4 --heads 2 --threads 1 --dev test.tsv --quiet --report film.html --log log.jsonl
silent
page film.html en
holds film.html '"epochs":[0,1,2,3,4,5,6,7],'
holds film.html 'and the first is the model before any.'
# The first sentence of each sense of the first word.
holds film.html '"words":["we","sat","on","the","bank","of","the","slow","river"],"target":4,'
holds film.html '"words":["the","bank","lends","money","to","small","shops"],"target":1,'
[ "$(grep -o '"words":' film.html | wc -l)" -eq 2 ] || bad "$last: not two sentences"
loss=$(sed -n 's/.*"loss":\([0-9.]*\),.*/\1/p' log.jsonl | cut -c 1-9 | paste -sd ' ')
film=$(grep -o '"loss":\[[^]]*' film.html | sed 's/.*\[null,//' | tr , '\n' | cut -c 1-9 | paste -sd ' ')
[ "$loss" = "$film" ] || bad "$last: the losses are $film, expected $loss"
# Filming changes nothing of the model.
ends 0 train train.tsv -o u.safetensors --epochs 7 --dim 8 --hidden 4 --heads 2 --threads 1 --dev test.tsv --quiet
same t.safetensors u.safetensors
ends 0 train train.tsv -o t.safetensors --epochs 2 --dim 4 --quiet --seeds 2 --report film.html --report-sentence 'a bat' --report-sentence 'the bank of the river'
holds film.html '"epochs":[0,1,2],'
holds film.html '"words":["a","bat"],"target":1,'
[ "$(grep -o '"words":' film.html | wc -l)" -eq 2 ] || bad "$last: not two sentences"
ends 0 train train.tsv -o t.safetensors --epochs 1 --dim 4 --lang zh
says 'attn: --lang has no effect without --report'
ends 2 train train.tsv -o no.safetensors --quiet --report-sentence 'a bat'
says 'attn train: --report-sentence needs --report FILE'
ends 2 train train.tsv -o no.safetensors --quiet --report no.html --report-sentence ''
says 'attn: --report-sentence: a sentence without a word'
ends 2 train train.tsv -o no.safetensors --quiet --report no.html --report-sentence 'a bat' --report-sentence 'a crane'
says 'attn: --report-sentence 2: no word of the sentence'
for outputs in '--report - --json' '--report - --log -' '--log - --json'; do
    # shellcheck disable=SC2086
    ends 2 train train.tsv -o no.safetensors --quiet $outputs
    says 'attn train: only one of --log, --report and --json can go to standard output'
done
ends 2 train train.tsv -o no.safetensors --quiet --report no.html --report-sentence 'a crane'
says 'attn: --report-sentence: no word of the sentence is one whose senses the model knows'
ends 2 train train.tsv -o no.safetensors --quiet --report no.txt
says 'attn: no.txt: a page is an HTML file: expected the extension .html'
ends 2 train train.tsv -o no.safetensors --quiet --report train.tsv
says 'attn: train.tsv: would be written over: it is also given as train.tsv'
ends 2 train train.tsv -o no.safetensors --quiet --report absent/no.html
absent no.safetensors
absent no.html

# The language is that of the sentences.
{
    row 公司 0 '苹果 发布 手机'
    row 水果 1 '吃 苹果'
} >zh.tsv
ends 0 train zh.tsv -o zh.safetensors --epochs 1 --dim 4 --hidden 2 --heads 1 --quiet --report film.html
page film.html zh-Hans
ends 0 report zh.safetensors '吃 苹果' -o r.html
page r.html zh-Hans
ends 0 explain zh.safetensors '吃 苹果' -o r.html
page r.html zh-Hans
ends 0 explain zh.safetensors '吃 苹果' -o r.html --lang en
page r.html en
ends 0 report zh.safetensors '吃 苹果' -o r.html --lang en
page r.html en
ends 0 train train.tsv -o t.safetensors --epochs 1 --dim 4 --quiet --report film.html --lang zh
page film.html zh-Hans
ends 2 report zh.safetensors '吃 苹果' -o r.html --lang fr
says "attn report: --lang is 'fr', expected one of: auto, en, zh"

finish

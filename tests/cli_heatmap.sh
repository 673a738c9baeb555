#!/bin/sh
# attn heatmap from the shell: what it writes, what it says, how it ends. Usage: cli_heatmap.sh ATTN SOURCE_FOLDER
set -u
attn=$1
data=$2/data
folder=cli_heatmap.d
rm -rf "$folder"
mkdir "$folder"
cd "$folder" || exit 1
failures=0

bad() {
    printf 'cli_heatmap.sh: %s\n' "$*" >&2
    sed 's/^/    /' err.txt >&2
    failures=$((failures + 1))
}

# ends CODE ARGUMENT...: attn heatmap with these arguments ends so; its outputs go to out.bin and err.txt
ends() {
    wanted=$1
    shift
    "$attn" heatmap "$@" >out.bin 2>err.txt
    code=$?
    [ "$code" -eq "$wanted" ] || bad "attn heatmap $*: exit status $code, expected $wanted"
    last=$*
}

# says TEXT: the last run has said so, in its first line
says() {
    head -n 1 err.txt | grep -qF -e "$1" || bad "attn heatmap $last: did not say: $1"
}

silent() {
    [ ! -s err.txt ] || bad "attn heatmap $last: not silent"
}

# absent FILE: the last run has not left it
absent() {
    [ ! -e "$1" ] || bad "attn heatmap $last: left $1"
}

# bytes FILE SKIP COUNT: as decimal numbers
bytes() {
    od -An -v -tu1 -j "$2" -N "$3" "$1" | tr -s ' \n' '  ' | sed 's/^ //; s/ $//'
}

# number FILE OFFSET: four bytes, the highest first
number() {
    # shellcheck disable=SC2046
    set -- $(bytes "$1" "$2" 4)
    echo $(((($1 * 256 + $2) * 256 + $3) * 256 + $4))
}

# measure FILE: checks that it is a whole PNG of 8-bit RGB, and sets width and height
measure() {
    width=0 height=0
    [ "$(bytes "$1" 0 16)" = '137 80 78 71 13 10 26 10 0 0 0 13 73 72 68 82' ] || bad "$1: no PNG"
    [ "$(bytes "$1" 24 2)" = '8 2' ] || bad "$1: not 8-bit RGB"
    size=$(($(wc -c <"$1")))
    [ "$(bytes "$1" $((size - 8)) 4)" = '73 69 78 68' ] || bad "$1: no end"
    width=$(number "$1" 16) height=$(number "$1" 20)
}

same() {
    cmp -s "$1" "$2" || bad "$1 and $2 differ"
}

: >err.txt
"$attn" train "$data/en.train.tsv" -o m.safetensors --epochs 1 --vectors none --dim 8 --heads 2 --quiet 2>err.txt || bad 'training failed'
tab=$(printf '\t')
cat >m.tsv <<END
0.5${tab}0.25${tab}0.25
0${tab}0.9${tab}0.1
0.2${tab}0.2${tab}0.6
0.3${tab}${tab}0.7
END

# ---- a matrix ----

ends 0 --matrix m.tsv -o a.png --cell 100 --quiet
silent
measure a.png
wide=$width high=$height
ends 0 --matrix m.tsv -o a.png --cell 110 --quiet
measure a.png
grown="$((width - wide)) x $((height - high))"
[ "$grown" = '30 x 40' ] || bad "3 x 4 cells grew by 10 pixels, the picture by $grown"
ends 0 --matrix - -o - --cell 110 --quiet <m.tsv
same out.bin a.png
ends 0 --matrix m.tsv -o '热图 苹果.png' --cell 110 --quiet
same '热图 苹果.png' a.png
ends 0 --matrix m.tsv -o A.PNG --cell 100 --scale 2 --quiet
measure A.PNG
if [ "$width" -lt $((2 * wide - 40)) ] || [ "$width" -gt $((2 * wide + 40)) ]; then
    bad "scale 2: $width pixels wide, $wide before"
fi

# Labels inside of the file and beside it are the same.
printf 'the\ncat\nsat\ndown\n' >rows.txt
printf 'x\n苹果\ny z\n' >columns.txt
{
    printf '\tx\t苹果\ty z\n'
    paste rows.txt m.tsv
} >labelled.tsv
ends 0 --matrix m.tsv --rows rows.txt --columns columns.txt -o b.png --quiet
ends 0 --matrix labelled.tsv -o c.png --quiet
same b.png c.png
cmp -s a.png b.png && bad 'labels make no difference'
printf '{"values":[[0.5,0.25,0.25],[0,0.9,0.1],[0.2,0.2,0.6],[0.3,null,0.7]],' >m.json
printf '"rows":["the","cat","sat","down"],"columns":["x","苹果","y z"]}' >>m.json
ends 0 --matrix m.json -o c.png --quiet
same b.png c.png
ends 0 --matrix m.tsv --rows - --columns columns.txt -o c.png --quiet <rows.txt
same b.png c.png
ends 0 --matrix m.json --save-weights m.npy --quiet
ends 0 --matrix m.npy --rows rows.txt --columns columns.txt -o c.png --quiet
same b.png c.png

for look in '--cmap greys' '--vmin -1' '--vmax 2' '--digits 0' '--digits 5' '--annotate none' '--title x' \
    '--row-title x' '--column-title x' '--bar-title x'; do
    # shellcheck disable=SC2086
    ends 0 --matrix m.json -o c.png --quiet $look
    measure c.png
    cmp -s b.png c.png && bad "$look makes no difference"
done
for look in '--cmap blues' '--vmin 0' '--vmax 1' '--digits 2' '--annotate auto' '--scale 1'; do
    # shellcheck disable=SC2086
    ends 0 --matrix m.json -o c.png --quiet $look
    same b.png c.png
done

printf '3\t-2\n' >wide.tsv
ends 0 --matrix wide.tsv -o c.png
grep -qF 'attn: the values reach from -2 to 3, the colours from 0 to 1: --vmin and --vmax' err.txt || bad 'nothing said of the range'
ends 0 --matrix wide.tsv -o c.png --quiet
silent
ends 0 --matrix m.tsv --cell 4 -o c.png
grep -qF 'attn: numbers are hidden: cells of 4 x 4 pixels are too small for them' err.txt || bad 'nothing said of hidden numbers'

# ---- sentences ----

one='apple will release a new phone' two='she ate an apple'
ends 0 m.safetensors "$one" -o a.png --quiet
silent
measure a.png
wide=$width high=$height
ends 0 m.safetensors "$one" "$two" -o b.png --quiet
measure b.png
[ "$width" -gt $((wide + 100)) ] || bad 'two sentences are no wider than one'
printf '%s\n\n  \n%s' "$one" "$two" >lines.txt
ends 0 m.safetensors -o c.png --quiet <lines.txt
same b.png c.png
ends 0 -o c.png --head mean m.safetensors --quiet "$one" --threads 1
same a.png c.png
ends 0 m.safetensors "$one" --head all -o c.png --quiet
measure c.png
[ "$width" -gt $((wide + 100)) ] || bad 'two heads are no wider than their mean'
ends 0 m.safetensors "$one" "$two" --head all -o c.png --quiet
measure c.png
[ "$height" -gt $((high + 100)) ] || bad 'two sentences of two heads are no higher than one'
ends 0 m.safetensors "$one" --head 1 -o c.png --quiet
cmp -s a.png c.png && bad 'a head is its mean'

# numbers FILE: of a .npy, one a line
numbers() {
    od -An -v -tf8 -w8 -j 128 "$1"
}
for head in 0 1 mean all; do
    ends 0 m.safetensors "$two" --head "$head" --save-weights "$head.npy" --quiet
    numbers "$head.npy" >"$head.txt"
done
tail -c +129 1.npy >1.tail
[ "$(tail -c +129 all.npy | cksum)" = "$(tail -c +129 0.npy | cat - 1.tail | cksum)" ] || bad 'all heads are not one head after the other'
paste 0.txt 1.txt mean.txt | awk '
    { wrong += ($1 + $2) / 2 - $3 > 1e-9 || $3 - ($1 + $2) / 2 > 1e-9; other += $1 != $2; sum += $1 }
    NR % 4 == 0 { wrong += sum < 0.999999 || sum > 1.000001; sum = 0 }
    END { exit wrong || NR != 16 || !other }' || bad 'the heads, their mean, or the sum of a row'

# Without a known word there is no sense, but a picture; its numbers, read again, give the same picture.
ends 0 m.safetensors 'nothing known here' --save-weights w.npy -o a.png
grep -qF 'attn: no word whose senses the model knows, so no sense is told' err.txt || bad 'nothing said of the unknown words'
printf 'nothing\nknown\nhere\n' >words.txt
ends 0 --matrix w.npy --rows words.txt --columns words.txt -o b.png --quiet
same a.png b.png
ends 0 m.safetensors "$one" 'nothing known' -o c.png
grep -qF 'attn: sentence 2: no word whose senses the model knows, so no sense is told' err.txt || bad 'the sentence is not named'

# Saved weights are drawn as they were.
ends 0 m.safetensors "$two" --head 1 -o a.png --save-weights w.tsv --quiet
ends 0 m.safetensors "$two" --head 1 --save-weights w.json --quiet
ends 0 --matrix w.tsv -o b.png --quiet
ends 0 --matrix w.json -o c.png --quiet
same a.png c.png
cmp -s b.png c.png && bad 'TSV has a title'
ends 0 m.safetensors "$one" "$two" --head all --save-weights w.json --quiet
ends 0 m.safetensors "$one" "$two" --head all --json --quiet
same out.bin w.json
ends 2 m.safetensors "$one" --json -o - --quiet
says 'only one of the picture, the weights and --json can go to standard output'
[ "$(grep -c '"head": [01],' w.json)" = 4 ] || bad 'not all panels are saved'
for output in all.png all.svg; do
    ends 0 m.safetensors "$one" "$two" --head all -o "$output" --quiet
    ends 0 --matrix w.json -o "again-$output" --quiet
    same "$output" "again-$output"
done
ends 0 m.safetensors "$two" --head all --save-weights w.npy --quiet
ends 0 --matrix w.npy --json --quiet
[ "$(grep -c '"title"' out.bin)" = 2 ] || bad 'two heads of a .npy are not two panels'

# Labels that may be none, and options in vain, are remarked.
printf '0.5\t0,2\t0.3\n0.1\t0.2\t0.7\n' >slip.tsv
ends 0 --matrix slip.tsv
says 'attn: slip.tsv: its first line was taken for labels, since not all of its cells are numbers, but 2 of them are'
ends 0 --matrix m.tsv -o a.html --font none.ttf
says 'attn: --font has no effect on a page'
ends 0 --matrix m.tsv --cell 20
says 'attn: --cell has no effect in a terminal'
ends 0 --matrix m.tsv -o a.png --lang zh
says 'attn: --lang has no effect on a PNG'
ends 0 --matrix m.tsv -o a.svg --color always
says 'attn: --color has no effect on an SVG'
ends 0 --matrix m.tsv --json --cmap viridis_r
says 'attn: --cmap has no effect where nothing is drawn'
printf '1\t2\n' >beyond.tsv
ends 0 --matrix beyond.tsv --json
silent
ends 0 --matrix m.tsv --tokenize words
says 'attn: --tokenize has no effect on a matrix'
ends 0 --matrix m.tsv -o a.html --font none.ttf --quiet
silent

# The title tells the sense of every ambiguous word.
ends 0 m.safetensors 'a crane by the bank'
grep -qE '^ *crane_[a-z]+ \(0\.[0-9]+\), bank_[a-z]+ \(0\.[0-9]+\)$' out.bin || bad 'a title without both senses'

# ---- what is refused ----

ends 2
says 'a model or --matrix is missing'
ends 2 m.safetensors "$one" -o x.jpg
says 'x.jpg: expected a name that ends in .png, .svg or .html for -o'
ends 2 m.safetensors "$one" --save-weights x.csv
says 'x.csv: expected a name that ends in .npy, .tsv or .json for --save-weights'
ends 2 m.safetensors "$one" "$two" --save-weights x.tsv
says 'x.tsv: TSV holds one matrix, there are 2 panels: JSON holds them all'
absent x.tsv
ends 2 m.safetensors "$one" --annotate top=0 -o x.png
says "--annotate top is '0', expected a whole number from 1"
ends 2 m.safetensors "$one" --annotate most -o x.png
says "--annotate is 'most', expected one of: auto, all, none, top=K"
ends 0 m.safetensors "$one" --annotate top=1 -o x.png
rm -f x.png
ends 2 m.safetensors "$one" --cmap pink -o x.png
says "--cmap is 'pink', expected list or one of: blues, viridis_r"
ends 2 m.safetensors "$one" --head 2 -o x.png
says 'attn: --head is 2, the model has the heads 0..1'
ends 2 m.safetensors "$one" --head most -o x.png
says "--head is 'most', expected mean, all or a whole number from 0 on"
ends 2 --matrix m.tsv --vmin 1 -o x.png
says 'the colours reach from 1 to 1, expected --vmin below --vmax'
ends 2 --matrix m.tsv --digits 16 -o x.png
says "--digits is '16', expected a whole number from 0 to 15"
ends 2 --matrix m.tsv --head mean -o x.png
says 'no model, sentence or --head goes with it'
ends 2 --matrix m.tsv m.safetensors -o x.png
says 'no model, sentence or --head goes with it'
ends 2 m.safetensors "$one" --rows rows.txt -o x.png
says '--rows and --columns are labels for --matrix'
ends 2 --matrix - --rows - -o x.png
says 'only one of --matrix, --rows and --columns can be standard input'
ends 2 --matrix m.tsv -o - --save-weights -
says 'can go to standard output'
ends 2 none.safetensors "$one" -o x.png
says 'attn: none.safetensors: cannot open: '
head -c 1000 m.safetensors >cut.safetensors
ends 2 cut.safetensors "$one" -o x.png
says 'attn: cut.safetensors: '
ends 2 m.safetensors '' -o x.png
says 'attn: '
ends 2 m.safetensors -o x.png </dev/null
says 'attn: standard input: no sentence'
printf 'an apple\nan \200 apple\n' >lines.txt
ends 2 m.safetensors -o x.png <lines.txt
says 'attn: standard input:2: '
printf 'an apple\n\nan \000 apple\n' >lines.txt
ends 2 m.safetensors -o x.png <lines.txt
says 'attn: standard input:3: a zero byte, expected UTF-8 (UTF-16 has such bytes)'
ends 2 --matrix none.npy -o x.png
says 'attn: none.npy: cannot open: '
ends 2 --matrix m.tsv --rows columns.txt -o x.png
says 'attn: columns.txt: 3 labels, the matrix m.tsv has 4 rows'
ends 2 --matrix m.tsv --columns rows.txt -o x.png
says 'attn: rows.txt: 4 labels, the matrix m.tsv has 3 columns'
ends 2 --matrix m.tsv --rows none.txt -o x.png
says 'attn: none.txt: cannot open: '
printf '1\t2\n3\n' >ragged.tsv
ends 2 --matrix ragged.tsv -o x.png
says 'attn: ragged.tsv:2: 1 cell, expected 2 as in line 1'
ends 2 --matrix m.tsv --font none.ttf -o x.png
says 'attn: '
for empty in '[]' '[[]]' '[[],[]]' '{"values":[]}'; do
    printf '%s' "$empty" >empty.json
    ends 2 --matrix empty.json -o x.png
    says 'attn: empty.json: an empty matrix ('
done
: >empty.tsv
ends 2 --matrix empty.tsv -o x.png
says 'attn: empty.tsv: the file is empty, expected a matrix'
printf 'nan\t\nNaN\tnan\n' >nan.tsv
for output in x.png x.svg x.html; do
    ends 2 --matrix nan.tsv -o "$output"
    says 'attn: nan.tsv: none of its 4 values is a number, nothing can be drawn'
    absent "$output"
done
ends 2 --matrix nan.tsv
says 'attn: nan.tsv: none of its 4 values is a number'
[ ! -s out.bin ] || bad 'lines of nothing'
awk 'BEGIN { for (i = 0; i < 65537; i++) print "0.5\t0.5" }' >long.tsv
ends 2 --matrix long.tsv -o x.png
says 'attn: heatmap: panel 1 has 65537 x 2 cells; at most 65536 a side can be drawn'
ends 2 --matrix m.tsv --cell 100000 -o x.png
says 'are too many for one picture'
absent x.png

# ---- fonts that are none ----

# A broken font is an error, and the picture has the built-in letters.
font=/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf
if [ -r "$font" ]; then
    size=$(($(wc -c <"$font")))
    for percent in 10 50 90; do
        head -c $((size * percent / 100)) "$font" >cut.ttf
        for output in cut.png cut.svg; do
            rm -f "$output"
            ends 2 --matrix m.tsv --font cut.ttf -o "$output" --quiet
            says 'attn: font cut.ttf: a table lies outside the file: it is cut off or damaged: built-in letters are used'
            [ -s "$output" ] || bad "$output: no picture"
        done
        measure cut.png
    done
fi
: >empty.ttf
ends 2 --matrix m.tsv --font empty.ttf -o cut.png
says 'attn: font empty.ttf: too short for a font: built-in letters are used'
measure cut.png
for seed in 1 2 3; do
    awk -v seed=$seed 'BEGIN { srand(seed); for (i = 0; i < 9999; i++) printf "%c", 1 + int(rand() * 127) }' >noise.ttf
    ends 2 --matrix m.tsv --font noise.ttf -o cut.png
    says 'attn: font noise.ttf: not a TrueType or OpenType font: built-in letters are used'
    measure cut.png
done

# ---- outputs that cannot be written ----

ends 2 --matrix m.tsv -o none/x.png --quiet
says 'attn: none/x.png: cannot write: '
mkdir d.png
ends 2 --matrix m.tsv -o d.png --quiet
says 'attn: d.png: cannot write: '
rmdir d.png || bad 'something was left in the folder d.png'
for output in x.svg x.html; do
    ends 2 --matrix m.tsv -o "none/$output" --quiet
    says "attn: none/$output: cannot write: "
    (
        ulimit -f 1
        trap '' XFSZ
        "$attn" heatmap --matrix m.tsv -o "$output" --quiet 2>err.txt
    )
    [ $? -eq 2 ] || bad "$output beyond the largest size of a file did not fail"
    absent "$output"
done
for output in x.npy x.tsv x.json; do
    ends 2 --matrix m.tsv --save-weights "none/$output"
    says "attn: none/$output: cannot write: "
done
locked=locked
mkdir locked
chmod 555 locked
if [ "$(id -u)" -eq 0 ]; then # may write there; in /proc nobody makes files
    locked=/proc
fi
for output in x.png x.svg x.html; do
    ends 2 --matrix m.tsv -o "$locked/$output" --quiet
    says "attn: $locked/$output: cannot write: "
done
chmod 755 locked
ends 2 --matrix m.tsv --save-weights none/x.npy -o x.png
says 'attn: none/x.npy: cannot write: '
absent x.png
printf 'old' >old.png
(
    ulimit -f 1
    trap '' XFSZ
    "$attn" heatmap --matrix m.tsv --cell 200 -o old.png --quiet 2>err.txt
)
[ $? -eq 2 ] || bad 'a picture beyond the largest size of a file did not fail'
[ "$(cat old.png)" = old ] || bad 'the old file is lost'
# Through standard output, so that whatever the tool does it cannot replace the device.
if [ -c /dev/full ]; then
    "$attn" heatmap --matrix m.tsv -o - --quiet >/dev/full 2>err.txt
    [ $? -eq 2 ] || bad 'a full device did not fail'
    last='-o - >/dev/full'
    says 'attn: standard output: cannot write: '
    "$attn" heatmap --matrix m.tsv >/dev/full 2>err.txt
    [ $? -eq 2 ] || bad 'lines to a full device did not fail'
    "$attn" heatmap --matrix m.tsv --json >/dev/full 2>err.txt
    [ $? -eq 2 ] || bad 'JSON to a full device did not fail'
    "$attn" heatmap --cmap list >/dev/full 2>err.txt
    [ $? -eq 2 ] || bad 'a list to a full device did not fail'
    [ -c /dev/full ] || bad '/dev/full is no device any more'
fi
for rubbish in *.tmp .*.tmp; do
    absent "$rubbish"
done

[ "$failures" -eq 0 ]

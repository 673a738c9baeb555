#!/bin/sh
# attn eval beyond its first tables, attn compare, and the learning curve. Usage as cli.sh.
# shellcheck source=tests/support/cli.sh
. "$2/support/cli.sh"

small_model

# Twelve sentences none of which holds a token twice, so that a word's place can be found again.
{
    row shore 4 'we sat on the bank of slow river'
    row money 1 'the bank lends money to small shops'
    row animal 1 'a bat hung from roof of its cave'
    row club 4 'he swung the wooden bat at ball'
    row shore 5 'reeds grew along that muddy bank'
    row money 5 'she took cash to the bank friday'
    row money 2 'the small bat eats insects at night'
    row animal 4 'the player broke his bat in 1998'
    row money 3 'a steep grassy bank above water'
    row 'shore;money' 2 'my savings bank pays 3 percent interest'
    row animal 3 'every night the bat leaves its cave'
    row club 0 'bat'
} >unique.tsv
ends 0 train train.tsv -o other.safetensors --epochs 40 --learning-rate 0.02 --dim 8 --hidden 4 --heads 2 --quiet
ends 0 eval other.safetensors unique.tsv --predictions p.tsv --calibration --by-distance
says "attn: the model does not know 1 of the senses, the first is 'money' (1 sentence)"
cp out.txt text.txt

# ---- calibration: the table and its error, computed again from the predictions ----

awk -F "$tab" '
    { n++; b = 0; while ($3 > (b + 1) / 10) b++
      right = 0; k = split($1, gold, ";"); for (i = 1; i <= k; i++) if (gold[i] == $2) right = 1
      size[b]++; sure[b] += $3; good[b] += right; all += right; confidence += $3 }
    END { for (b = 0; b < 10; b++) {
              printf "%.1f to %.1f %d %.4f ", b / 10, (b + 1) / 10, size[b], size[b] / n
              if (size[b]) printf "%.4f %.4f\n", sure[b] / size[b], good[b] / size[b]; else print "- -"
              d = good[b] - sure[b]; error += (d < 0 ? -d : d) / n }
          printf "all %d 1.0000 %.4f %.4f expected calibration error %.4f\n", n, confidence / n, all / n, error }' p.tsv >expected.txt
sed -n '/^confidence/,/^all/p' text.txt | tail -n +2 | tr -s ' ' | cmp -s - expected.txt || bad "reliability table: $(cat text.txt)
    expected $(cat expected.txt)"
[ "$(awk '$4 > 0' expected.txt | wc -l)" -ge 3 ] || bad 'too few bins are in use for a test'

# ---- distance of the most attended other word ----

awk -F "$tab" '
    { n++; right = 0; k = split($1, gold, ";"); for (i = 1; i <= k; i++) if (gold[i] == $2) right = 1
      words = split($6, token, " "); split($5, attended, " "); d = w = 0
      for (i = 1; i <= 2 && d == 0; i++) {
          at = attended[i]; sub(/:[0-9.]*$/, "", at)
          for (j = 1; j <= words; j++) if (token[j] == at && j != $4 + 1) { d = j - 1 - $4; w = attended[i]; sub(/.*:/, "", w) } }
      d = d < 0 ? -d : d; bin = d == 0 ? "none" : d < 3 ? d : d < 5 ? "3-4" : d < 9 ? "5-8" : "more"
      size[bin]++; weight[bin] += w; good[bin] += right }
    END { split("none 1 2 3-4 5-8", order, " ")
          for (i = 1; i <= 5; i++) if (b = size[order[i]])
              printf "%s %d %.4f %.4f %.4f\n", order[i], b, b / n, weight[order[i]] / b, good[order[i]] / b }' p.tsv >expected.txt
sed -n '/^distance/,/right: /p' text.txt | sed '1d; $d' | paste -d ' ' - expected.txt |
    awk '{ d = $4 - $9; if (NF != 10 || $1 != $6 || $2 != $7 || $3 != $8 || d > 0.0006 || d < -0.0006 || $5 != $10) bad = 1 } END { exit bad || NR < 4 }' ||
    bad "distances: $(cat text.txt)
    expected $(cat expected.txt)"
grep -q '^none 1 ' expected.txt || bad 'a sentence of one word has another word'
tail -n 1 text.txt | grep -q ' of 12 right: accuracy ' || bad 'eval: the summary is not the last line'
ends 0 eval other.safetensors unique.tsv
grep -v -e '^[0-9none-]* *[0-9]* *[01]\.[0-9]* *[01]\.[0-9]* *[01]\.[0-9]*$' -e '^[0-9.]* to ' -e '^confidence ' -e '^all ' -e '^distance ' text.txt |
    cmp -s - out.txt || bad 'the other lines depend on the tables'

# JSON has the same numbers.
ends 0 eval other.safetensors unique.tsv --json
python3 - text.txt >expected.txt <<'PYTHON' || bad "JSON and text differ: $(cat expected.txt)"
import json, sys
out = json.load(open('out.txt'))
text = [line.split() for line in open(sys.argv[1])]
rows = {' '.join(line[:3]): line[3:] for line in text if line[1:2] == ['to']}
for b in out['calibration']['bins']:
    row = rows['%.1f to %.1f' % (b['above'], b['to'])]
    assert int(row[0]) == b['examples'], (row, b)
    if b['examples']:
        assert row[2:] == ['%.4f' % b['confidence'], '%.4f' % b['accuracy']], (row, b)
    else:
        assert b['confidence'] == b['accuracy'] == 0
assert sum(b['examples'] for b in out['calibration']['bins']) == out['examples'] == 12
error = next(line[-1] for line in text if line[:1] == ['all'])
assert '%.4f' % out['calibration']['expected_error'] == error
assert [b['from'] for b in out['by_distance']] == [0, 1, 2, 3, 5, 9, 17, 33]
names = {0: 'none', 1: '1', 2: '2', 3: '3-4', 5: '5-8'}
rows = {line[0]: line[1:] for line in text if line and line[0] in names.values()}
for b in out['by_distance']:
    if b['examples']:
        row = rows[names[b['from']]]
        assert [row[0], row[2], row[3]] == ['%d' % b['examples'], '%.4f' % b['weight'], '%.4f' % b['accuracy']], (row, b)
assert sum(b['examples'] for b in out['by_distance']) == 12
PYTHON

# ---- senses that the training did not show ----

{
    cat test.tsv
    row stump 1 'the bat broke'
    row 'stump;club' 1 'the bat broke'
} >unseen.tsv
ends 0 eval m.safetensors unseen.tsv
says "attn: the model does not know 1 of the senses, the first is 'stump' ("
prints '  stump '
ends 0 eval m.safetensors unseen.tsv --quiet
silent
ends 0 eval m.safetensors test.tsv
silent

# ---- confusion: with one sentence a sense, counts and shares are the same, and the picture is that of a matrix ----

row animal 1 'a bat bites' >one.tsv
row club 1 'a bat bites' >>one.tsv
ends 0 eval m.safetensors one.tsv --confusion new/pictures --json
silent
[ "$(ls new/pictures)" = bat.png ] || bad "pictures: $(ls new/pictures)"
sed 's/.*"confusion":\[\[\([01]\),\([01]\)\],\[\([01]\),\([01]\)\]\].*/\1 \2\n\3 \4/; y/ /\t/' out.txt >confusion.tsv
[ "$(wc -l <confusion.tsv)" -eq 2 ] || bad "no confusion of one sense: $(cat out.txt)"
macro=$(sed 's/.*"macro_f1":0\.\([0-9]*\).*/0.\1/' out.txt)
grep -o '"sense":"[a-z]*"' out.txt | cut -d '"' -f 4 >senses.txt
ends 0 heatmap --matrix confusion.tsv --rows senses.txt --columns senses.txt -o expected.png --digits 0 --row-title 'gold sense' \
    --column-title 'predicted sense' --bar-title 'share of the gold sense' --title "bat: 1 of 2 right, macro F1 $(printf %.3f "$macro")"
same new/pictures/bat.png expected.png
# Two sentences a sense: up to the numbers beside the colour bar it is the picture of the counts.
sed 's/1/2/g' confusion.tsv >counts.tsv
ends 0 heatmap --matrix counts.tsv --vmax 2 --rows senses.txt --columns senses.txt -o expected.png --digits 0 --row-title 'gold sense' \
    --column-title 'predicted sense' --bar-title 'share of the gold sense' --title "bat: 2 of 4 right, macro F1 $(printf %.3f "$macro")"
cat one.tsv one.tsv >two.tsv
ends 0 eval m.safetensors two.tsv --confusion new/pictures
python3 - new/pictures/bat.png expected.png <<'PYTHON' || bad 'the picture of two sentences a sense shows other counts'
import struct, sys, zlib
def columns(path):
    data, at, pixels = open(path, 'rb').read(), 8, b''
    while at < len(data):
        size, kind = struct.unpack('>I4s', data[at:at + 8])
        if kind == b'IHDR':
            width, height = struct.unpack('>II', data[at + 8:at + 16])
        pixels += data[at + 8:at + 8 + size] if kind == b'IDAT' else b''
        at += size + 12
    raw, stride, rows, above = zlib.decompress(pixels), 3 * width, [], bytes(3 * width)
    for y in range(height):
        kind, row = raw[y * (stride + 1)], bytearray(raw[y * (stride + 1) + 1:(y + 1) * (stride + 1)])
        for i in range(stride):
            a, b, c = row[i - 3] if i > 2 else 0, above[i], above[i - 3] if i > 2 else 0
            p = min((abs(b - c), 0, a), (abs(a - c), 1, b), (abs(a + b - 2 * c), 2, c))[2]
            row[i] = (row[i] + (0, a, b, (a + b) // 2, p)[kind]) & 255
        above = bytes(row)
        rows.append(above)
    return [[row[3 * x:3 * x + 3] for row in rows] for x in range(width)]
a, b = columns(sys.argv[1]), columns(sys.argv[2])
same = 0
while same < min(len(a), len(b)) and a[same] == b[same]:
    same += 1
assert same > 0.6 * len(a), (same, len(a), len(b))
PYTHON
# "WORD_" before every sense is left out; a name is a file's name.
sed 's/^\([a-z]*\)\t1\ta bat/a\/b_\1\t1\ta a\/b/' one.tsv >slash.tsv
ends 0 train slash.tsv -o slash.safetensors --epochs 1 --dim 4 --quiet
ends 0 eval slash.safetensors slash.tsv --confusion slashes --json
[ "$(ls slashes)" = a_b.png ] || bad "pictures: $(ls slashes)"
sed 's/.*"confusion":\[\[\([01]\),\([01]\)\],\[\([01]\),\([01]\)\]\].*/\1 \2\n\3 \4/; y/ /\t/' out.txt >confusion.tsv
grep -o '"sense":"[a-z/_]*"' out.txt | cut -d '"' -f 4 | cut -d _ -f 2 >senses.txt
ends 0 heatmap --matrix confusion.tsv --rows senses.txt --columns senses.txt -o expected.png --digits 0 --row-title 'gold sense' \
    --column-title 'predicted sense' --bar-title 'share of the gold sense' --title "a/b: 1 of 2 right, macro F1 0.333"
same slashes/a_b.png expected.png
: >file
ends 2 eval none.safetensors one.tsv --confusion file # found before anything else
says 'attn: file/confusion.png: cannot write: Not a directory'
one_line
mkdir locked
chmod 500 locked
if ! (: >locked/x) 2>/dev/null; then # root may write anywhere
    ends 2 eval none.safetensors one.tsv --confusion locked
    says 'attn: locked/confusion.png: cannot write: '
    ends 2 eval none.safetensors one.tsv --confusion locked/new
    says 'attn: locked/new: cannot make the folder: Permission denied'
fi

# ---- compare: what eval wrote, and by hand ----

ends 0 eval m.safetensors unique.tsv --predictions q.tsv --json
macro=$(sed 's/.*"mean_over_words":{"micro_f1":[0-9.]*,"macro_f1":\([0-9.]*\)}.*/\1/' out.txt)
ends 0 compare p.tsv q.tsv
silent
cp out.txt a.txt
grep -q "^macro F1 of words  *[01]\.[0-9]* *$(printf %.4f "$macro") " out.txt || bad "$last: not the macro F1 of eval, $macro"
ends 0 compare p.tsv q.tsv --threads 1 --seed 0 --resamples 10000
same a.txt out.txt
"$attn" compare p.tsv - <q.tsv | sed 's/^B is -$/B is q.tsv/' | cmp -s - a.txt || bad 'compare from stdin'
ends 0 compare p.tsv q.tsv --seed 1
cmp -s a.txt out.txt && bad 'the seed makes no difference'
ends 0 compare p.tsv p.tsv
prints 'right: both'
grep -q '^accuracy  *\([01]\.[0-9]*\)  *\1  *+0.0000  *+0.0000 to +0.0000  *1.0000$' out.txt || bad "$last: a file differs from itself"

answer() { # GOLD PREDICTED TIMES
    i=0
    while [ $i -lt "$3" ]; do
        printf '%s\t%s\t0.5\t1\t\tthe bank %s %d\n' "$1" "$2" "$1" $i
        i=$((i + 1))
    done
}
{
    answer shore shore 40
    answer money money 10
    answer both money 9
    answer x money 41
} >a.tsv
{
    answer shore shore 40
    answer money shore 10
    answer both both 9
    answer x x 41
} >b.tsv
ends 0 compare a.tsv b.tsv --resamples 100
prints 'accuracy               0.5000   0.9000   +0.4000'
prints 'micro F1 of words      0.5000   0.9000   +0.4000'
# A: shore 1, money 2 10 / (10 + 60), the others 0; B: shore 2 40 / (40 + 50), money 0, the others 1
prints 'macro F1 of words      0.3214   0.7222   +0.4008'
prints 'right: both 40, only A 10, only B 50, neither 0; McNemar'"'"'s exact test: p = 1.62e-07'
prints '100 sentences of 1 word, 100 resamples, seed 0'
prints '         0.0000'
ends 0 compare b.tsv a.tsv --resamples 100
prints '         1.0000'
ends 0 compare a.tsv b.tsv --json --seed 5
shaped '{a:string,accuracy:{a:real,b:real,difference:real,high:real,low:real,not_better:real},b:string,mcnemar:real,mean_over_words:{macro_f1:{a:real,b:real,difference:real,high:real,low:real,not_better:real},micro_f1:{a:real,b:real,difference:real,high:real,low:real,not_better:real}},resamples:integer,right:{both:integer,neither:integer,only_a:integer,only_b:integer},schema:attn.compare/1,seed:integer,sentences:integer,words:integer}'
prints '"a":"a.tsv","b":"b.tsv","sentences":100,"words":1,"resamples":10000,"seed":5,"accuracy":{"a":0.5,"b":0.9,"difference":0.4,'
prints '"right":{"both":40,"only_a":10,"only_b":50,"neither":0},"mcnemar":'

# ---- what cannot be compared ----

differs() { # MESSAGE: of a.tsv and c.tsv
    ends 2 compare a.tsv c.tsv
    says "attn: $1"
    one_line
}
sed '7s/the/a/' b.tsv >c.tsv
differs 'c.tsv:7: another sentence than a.tsv:7, expected the same ones in the same order'
sed '7s/^shore/money/' b.tsv >c.tsv
differs "c.tsv:7: the gold sense is 'money', that of a.tsv:7 is 'shore'"
head -n 99 b.tsv >c.tsv
differs 'c.tsv: 99 predictions, a.tsv has 100'
cp train.tsv c.tsv
differs 'c.tsv:1: only 2 tabs, expected GOLD<TAB>PREDICTED<TAB>PROBABILITY<TAB>INDEX<TAB>ATTENDED<TAB>tokens'
rm c.tsv
differs 'c.tsv: cannot open: No such file or directory'

# ---- the learning curve ----

curve=$2/../scripts/learning_curve.sh
i=0
while [ $i -lt 20 ]; do
    row shore 1 "the bank of water $i"
    [ $((i % 2)) -eq 1 ] || row money 1 "the bank of cash $i"
    [ $((i % 4)) -ne 0 ] || row club 1 "his bat is wood $i"
    [ $((i % 10)) -ne 0 ] || row animal 1 "some bat has wings $i"
    i=$((i + 1))
done >many.tsv # 20 shore, 10 money, 5 club, 2 animal
ATTN=$attn OUT=curve SHARES='0.1 0.5 1' SEEDS='0 1' sh "$curve" many.tsv --test test.tsv -- --epochs 3 --dim 4 >curve.txt 2>err.txt ||
    bad 'learning curve: exit status'
silent
for share in 0.1 0.5 1; do
    cut -f 1 curve/train-$share/1001 | sort | uniq -c | awk '{ printf "%s %s ", $2, $1 }' >counts.txt
    case $share in
    0.1) expected='animal 1 club 1 money 2 shore 3 ' ;; # of 0 to 19 times the golden ratio the fractions of 0, 5 and 13 lie below
    0.5) expected='animal 1 club 3 money 5 shore 10 ' ;;
    1) expected='animal 2 club 5 money 10 shore 20 ' ;;
    esac
    [ "$(cat counts.txt)" = "$expected" ] || bad "learning curve: share $share has $(cat counts.txt), expected $expected"
done
same curve/train-1/1001 many.tsv
grep -vxFf curve/train-0.5/1001 curve/train-0.1/1001 && bad 'learning curve: parts are not nested'
ends 0 train many.tsv -o whole.safetensors --epochs 3 --dim 4 --seed 1 --quiet
same whole.safetensors curve/model-1-1.safetensors
for share in 0.1 0.5 1; do
    for seed in 0 1; do
        "$attn" eval curve/model-$share-$seed.safetensors test.tsv | tail -n 1
    done | sed 's/.*micro F1 \([0-9.]*\), macro F1 \([0-9.]*\)/\1 \2/' | tr '\n' ' ' | awk -v share=$share -v n="$(wc -l <curve/train-$share/1001)" '
        function spread(x, y) { return (x > y ? x - y : y - x) / sqrt(2) } # of two numbers
        { printf "%-8s %9d %9.4f %9.4f %9.4f %9.4f\n", share, n, ($1 + $3) / 2, spread($1, $3), ($2 + $4) / 2, spread($2, $4) }'
done >expected.txt
tail -n +2 curve.txt | cmp -s - expected.txt || bad "learning curve: $(cat curve.txt)
    expected $(cat expected.txt)"
# Folders, whose files may end with CRLF or with nothing.
mkdir f
cut -f 2- many.tsv | head -c -1 >f/train.data.txt
cut -f 1 many.tsv | sed 's/shore/0/; s/money/1/; s/animal/2/; s/club/3/; s/$/\r/' | head -c -2 >f/train.gold.txt
cut -f 2- test.tsv >f/test.data.txt
cut -f 1 test.tsv | sed 's/shore/0/; s/money/1/; s/animal/2/; s/club/3/' >f/test.gold.txt
printf '{"0": "shore", "1": "money", "2": "animal", "3": "club"}' >f/classes_map.txt
ATTN=$attn OUT=folders SHARES='0.1 0.5 1' SEEDS='0 1' sh "$curve" f -- --epochs 3 --dim 4 >out.txt 2>err.txt || bad 'learning curve of a folder'
same out.txt curve.txt
refused() { # MESSAGE ARGUMENT...
    message=$1
    shift
    ATTN=$attn sh "$curve" "$@" >out.txt 2>err.txt
    [ $? -eq 2 ] || bad "${curve##*/} $*: exit status"
    says "$message"
}
refused 'learning_curve.sh: no training data'
refused 'learning_curve.sh: many.tsv: a file has no test split: give --test' many.tsv
refused 'learning_curve.sh: none: no such file or folder' none
refused 'learning_curve.sh: unknown option --epochs; options of attn train come after --' many.tsv --epochs 3
refused "attn train: unrecognized option '--no-such-option'" many.tsv --test test.tsv -- --no-such-option
refused 'attn: p.tsv:1: 5 tabs, expected' many.tsv --test p.tsv -- --epochs 1 --dim 4

# ---- cross-validation ----

curve=$2/../scripts/cross_validate.sh
ATTN=$attn OUT=cross FOLDS=2 SEEDS='0 1' sh "$curve" many.tsv -- --epochs 3 --dim 4 >cross.txt 2>err.txt || bad 'cross-validation: exit status'
silent
for fold in 0 1; do
    cut -f 1 cross/part-$fold/test/1001 | sort | uniq -c | awk '{ printf "%s %s ", $2, $1 }' >counts.txt
    [ $fold -eq 0 ] && expected='animal 1 club 3 money 5 shore 10 ' || expected='animal 1 club 2 money 5 shore 10 '
    [ "$(cat counts.txt)" = "$expected" ] || bad "cross-validation: part $fold has $(cat counts.txt), expected $expected"
    sort many.tsv >all.txt
    sort cross/part-$fold/*/1001 | cmp -s - all.txt || bad "cross-validation: part $fold and the rest are not the whole"
    for seed in 0 1; do
        ends 0 train cross/part-$fold/train/1001 -o whole.safetensors --epochs 3 --dim 4 --seed $seed --quiet
        same whole.safetensors cross/model-$fold-$seed.safetensors
        "$attn" eval whole.safetensors cross/part-$fold/test/1001 --calibration | tail -n 2 |
            sed 's/.*expected calibration error/ECE/; s/.*micro F1 \([0-9.]*\), macro F1 \([0-9.]*\)/\1 \2/' | tr '\n' ' ' |
            awk -v fold=$fold -v seed=$seed '{ printf "%-4d %6d %9.4f %9.4f %9.4f\n", fold, seed, $3, $4, $2 }'
    done
done >expected.txt
tail -n +2 cross.txt | head -n 4 | cmp -s - expected.txt || bad "cross-validation: $(cat cross.txt)
    expected $(cat expected.txt)"
awk 'NR > 1 && NR < 6 { sum += $4; squares += $4 * $4 } $1 == "mean" { mean = $3 } $1 == "spread" { spread = $3 }
    function far(x, y) { return x - y > 1e-4 || y - x > 1e-4 }
    END { exit far(mean, sum / 4) || far(spread, sqrt((squares - sum * sum / 4) / 3)) }' cross.txt || bad "cross-validation: means of $(cat cross.txt)"
ATTN=$attn FOLDS=2 SEEDS='0 1' sh "$curve" f -- --epochs 3 --dim 4 >out.txt 2>err.txt || bad 'cross-validation of a folder'
same out.txt cross.txt
refused 'cross_validate.sh: no training data'
refused 'cross_validate.sh: none: no such file or folder' none
refused 'cross_validate.sh: unknown option --epochs; options of attn train come after --' many.tsv --epochs 3
refused "attn train: unrecognized option '--no-such-option'" many.tsv -- --no-such-option
FOLDS=1 refused 'cross_validate.sh: FOLDS is 1, expected at least 2' many.tsv

finish

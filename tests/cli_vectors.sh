#!/bin/sh
# attn train with a file of word vectors, and with a picture an epoch. Usage: cli_vectors.sh ATTN TESTS_FOLDER JSON_SHAPE
# shellcheck source=tests/support/cli.sh
. "$2/support/cli.sh"

small_corpus
small='--epochs 2 --heads 2 --hidden 4'

# learns CODE OPTION...: a small training run with these options ends so
learns() {
    wanted=$1
    shift
    # shellcheck disable=SC2086
    ends "$wanted" train train.tsv -o v.safetensors $small "$@"
}

# said LINE: the last run has said exactly this, in a line of its own
said() {
    grep -qxF -e "$1" err.txt || bad "$last: did not say: $1"
}

# ---- forms of a file ----

cat >word2vec.txt <<'END'
4 3
bank 0.5 -1 0.25
river 1 2 3
money -1 0 1
elsewhere 7 7 7
END
tail -n +2 word2vec.txt >glove.txt
{
    printf '4 3\n'
    printf 'bank \000\000\000\077\000\000\200\277\000\000\200\076\n'
    printf 'river \000\000\200\077\000\000\000\100\000\000\100\100\n'
    printf 'money \000\000\200\277\000\000\000\000\000\000\200\077\n'
    printf 'elsewhere \000\000\340\100\000\000\340\100\000\000\340\100\n'
} >binary.bin

learns 0 --vectors word2vec.txt
said "attn: word2vec.txt (word2vec): 4 words of 3 components; 3 of the 55 words of the training text are among them, the others start at random; 1 more are kept for new sentences"
mv v.safetensors m.safetensors
ends 0 info m.safetensors
prints 'embeddings of 3,'
for form in 'glove.txt glove' 'binary.bin binary' 'word2vec.txt word2vec'; do
    learns 0 --vectors "${form% *}" --vectors-format "${form#* }" --quiet
    silent
    same m.safetensors v.safetensors
    learns 0 --vectors "${form% *}" --dim 3
    grep -qF "attn: ${form% *} (${form#* }): 4 words of 3 components" err.txt || bad "$last: found no ${form#* }"
    same m.safetensors v.safetensors
done
learns 0 --vectors - <glove.txt
grep -q '^attn: standard input (glove): ' err.txt || bad 'vectors from standard input'
same m.safetensors v.safetensors
learns 0 --vectors none --dim 3 --quiet
cmp -s m.safetensors v.safetensors && bad 'the vectors make no difference'
learns 0 --vectors glove.txt --freeze-vectors --quiet
cmp -s m.safetensors v.safetensors && bad 'frozen vectors make no difference'
learns 0 --vectors glove.txt --json --quiet
shaped '{dev:{macro_f1:null,micro_f1:null},epochs:integer,examples:integer,model:string,parameters:integer,schema:attn.train/1,seconds:real,seed:integer,train_loss:real,vectors:{added:integer,broken:integer,dim:integer,format:string,guessed:integer,malformed:integer,not_finite:integer,odd:integer,repeated:integer,used:integer,words:integer}}'
prints '"vectors":{"format":"glove","dim":3,"words":4,"used":3,"added":1,"guessed":0,"repeated":0,'

# Going on needs no vectors, and does not mind them.
cp m.safetensors v.safetensors
rm -f glove.txt
learns 0 --resume
says 'attn: v.safetensors: its training was finished before, nothing has changed'
learns 0 --resume --vectors glove.txt --quiet
learns 2 --resume --vectors none
says 'attn train: --resume goes on as the model began: --vectors must be as it was then, or left out'

# ---- what is wrong with a file ----

printf '9 2\nbank 1 2\nriver nan 1\nmoney 1 inf\n\t 1 2\n=======\nbank 3 4\n\377 1 2\n1998 1 1\n' >bad.txt
learns 0 --vectors bad.txt
cat >expected.txt <<'END'
attn: bad.txt: its first line promises 9 words, it has 7
attn: bad.txt:6: no word with 2 numbers after it, skipped
attn: bad.txt:5: a word of nothing but spaces, skipped
attn: bad.txt:8: a word that is no UTF-8, skipped
attn: bad.txt:3: a vector with nan or inf, skipped (and 1 more)
attn: bad.txt:7: a word that has its vector already: the first one counts, and all digits are alike
attn: bad.txt (word2vec): 7 words of 2 components; 2 of the 55 words of the training text are among them, the others start at random
END
head -n 7 err.txt | cmp -s - expected.txt || bad 'remarks about a bad file'
learns 0 --vectors bad.txt --quiet
silent
rm -f v.safetensors
head -c 50 binary.bin >cut.bin
learns 2 --vectors cut.bin
says 'attn: cut.bin: word 3 of 4 (binary form): the file ends within its vector'
one_line
learns 2 --vectors word2vec.txt --dim 100
says 'attn: word2vec.txt: vectors of 3 components, but dim is 100'
one_line
learns 2 --vectors nowhere.txt
says 'attn: nowhere.txt: cannot open: No such file or directory'
learns 2 --vectors train.tsv
one_line
learns 2 --vectors word2vec.txt --vectors-format text
says "attn train: --vectors-format is 'text', expected one of: auto, word2vec, glove, binary"
learns 2 --vectors corpus --vectors-format glove
says 'attn train: --vectors-format needs --vectors FILE'
absent v.safetensors

# ---- a picture an epoch ----

# is_png FILE
is_png() {
    [ "$(od -An -tx1 -N 8 "$1" | tr -d ' \n')" = 89504e470d0a1a0a ] || bad "$last: $1 is no PNG"
}

learns 0 --dim 6 --quiet
cp v.safetensors m.safetensors
learns 0 --dim 6 --quiet --heatmaps pictures/of/attention
silent
same m.safetensors v.safetensors # looking changes nothing
[ "$(ls pictures/of/attention)" = "$(printf 'epoch-001.png\nepoch-002.png')" ] || bad "pictures: $(ls pictures/of/attention)"
is_png pictures/of/attention/epoch-001.png
is_png pictures/of/attention/epoch-002.png
cmp -s pictures/of/attention/epoch-001.png pictures/of/attention/epoch-002.png && bad 'two epochs look the same'
learns 0 --dim 6 --quiet --heatmaps default/ --heatmap-sentence 'we sat on the bank of the slow river'
same default/epoch-002.png pictures/of/attention/epoch-002.png # the first sentence
learns 0 --dim 6 --quiet --heatmaps raw --heatmap-sentence 'We sat on the Bank of the slow river.'
for picture in default/*.png; do
    same "$picture" "raw/${picture#default/}"
done
learns 0 --dim 6 --quiet --heatmaps default --heatmap-sentence 'his bat'
cmp -s default/epoch-002.png pictures/of/attention/epoch-002.png && bad 'the sentence makes no difference'
learns 0 --dim 6 --quiet --seeds 2 --dev test.tsv --heatmaps both
[ "$(find both -name 'model-[12]-epoch-00[12].png' | wc -l)" -eq 4 ] || bad "pictures of two models: $(ls both)"

rm -f v.safetensors
learns 2 --heatmap-sentence 'his bat'
says 'attn train: --heatmap-sentence needs --heatmaps DIR'
learns 2 --heatmaps p --heatmap-sentence ' '
says 'attn: --heatmap-sentence: a sentence without a word'
learns 2 --heatmaps train.tsv
says 'attn: train.tsv/epoch-001.png: cannot write: Not a directory'
learns 2 --heatmaps train.tsv/p
says 'attn: train.tsv/p: cannot make the folder: Not a directory'
learns 2 --heatmaps ''
says 'attn: : cannot make the folder: No such file or directory'
absent v.safetensors
mkdir -p later/epoch-002.png # this picture fails after the training has begun
learns 2 --dim 6 --quiet --heatmaps later
says 'attn: later/epoch-002.png: cannot write: Is a directory'
same m.safetensors v.safetensors # the model is saved all the same

finish

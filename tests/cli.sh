#!/bin/sh
# The tool from the shell: help, answers, JSON, options. Usage: cli.sh ATTN TESTS_FOLDER JSON_SHAPE
# shellcheck source=tests/support/cli.sh
. "$2/support/cli.sh"

# ---- help ----

ends 0 --version
prints 'attn 0.'
prints 'threads: '
silent
ends 0 -V
prints 'attn 0.'
for help in --help -h '-?' help; do
    ends 0 "$help"
    silent
    for command in train eval compare predict explain heatmap report gradcheck bench info; do
        grep -q "^  $command " out.txt || bad "$last: does not list $command"
    done
done
ends 2
grep -q '^Usage: attn SUBCOMMAND' err.txt || bad 'no usage without a subcommand'
[ ! -s out.txt ] || bad 'usage without a subcommand is on stdout'
ends 2 trian
says "attn: unknown subcommand 'trian'; 'attn --help' lists the subcommands"
one_line
ends 2 --frobnicate
says "attn: unknown option '--frobnicate'"
one_line

for command in train eval compare predict explain heatmap report gradcheck bench info; do
    ends 0 "$command" --help
    silent
    grep -q "^Usage: attn $command " out.txt || bad "$last: no usage"
    # Every option that takes a number or a name says what it is without it; words may be broken anywhere.
    tr -s ' \n' '  ' <out.txt >flat.txt
    grep -oE -e '--[a-z-]+=[A-Z]+' out.txt | sort -u >options.txt
    while read -r option; do
        case ${option%%=*} in
        --output | --predictions | --min-accuracy | --log | --dev | --model | --data | --matrix | --rows | --columns | --save-weights | --title | \
            --heatmaps | --confusion | --report) continue ;; # without it, nothing is done
        esac
        sed "s/.*${option%%=*}=//; s/ --[a-z-]*=.*//" flat.txt | grep -qE '[Dd]efault' || bad "$last: no default of $option"
    done <options.txt
    ends 2 "$command" --no-such-option
    says "attn $command: unrecognized option '--no-such-option'"
    ends 0 "$command" --usage
done

# The help tells the defaults that the library has: a training run with them all written out gives the same bytes.
small_corpus
ends 0 train --help
number() {
    tr -s ' \n' '  ' <out.txt | sed -n "s/.* --$1=[A-Z]* [^=]*(default \([-0-9a-z.]*\)[):].*/\1/p"
}
set --
for option in heads dim hidden window learning-rate weight-decay dropout clip seed seeds patience; do
    value=$(number $option)
    [ -n "$value" ] || bad "the help of train does not tell the default of --$option"
    [ $option = patience ] || set -- "$@" "--$option" "$value"
done
ends 0 train train.tsv -o a.safetensors --epochs 2 --quiet
ends 0 train train.tsv -o b.safetensors --epochs 2 --quiet --score scaled-dot --position relative --vectors corpus --batch 16 --label-smoothing 0.1 "$@"
same a.safetensors b.safetensors

# ---- answers ----

small_model
silent
[ ! -s out.txt ] || bad 'train --quiet prints'
ends 0 train train.tsv -o b.safetensors --epochs 5 --dim 8 --hidden 4 --heads 2 --threads 2
same m.safetensors b.safetensors
[ "$(grep -c '^epoch [1-5]/5  loss [0-9.]*  [0-9]* sentences/s  [0-9]*:[0-5][0-9] left$' err.txt)" -eq 5 ] || bad 'no plain line an epoch'
grep -q '^attn: b.safetensors: 12 sentences, 5 epochs, loss [0-9.]*, [0-9]* parameters, seed 0, [0-9.]* s$' err.txt || bad 'no summary'
ends 0 train train.tsv -o b.safetensors --epochs 5 --dim 8 --hidden 4 --heads 2 --seed 1 --quiet
cmp -s m.safetensors b.safetensors && bad 'the seed makes no difference'

ends 0 eval m.safetensors test.tsv
silent
grep -qE '^[0-4] of 4 right: accuracy [01]\.[0-9]{4}; mean over 2 words: micro F1 [01]\.[0-9]{4}, macro F1 [01]\.[0-9]{4}$' out.txt ||
    bad 'eval: no last line'
ends 0 eval m.safetensors test.tsv --threads 2
cp out.txt a.txt
ends 0 eval m.safetensors test.tsv --threads 1
same out.txt a.txt
cat test.tsv train.tsv >both.tsv
ends 0 eval m.safetensors both.tsv
cp out.txt a.txt
ends 0 eval m.safetensors test.tsv train.tsv # several data are one
same out.txt a.txt
ends 0 eval m.safetensors - <test.tsv
prints ' of 4 right'

ends 0 eval m.safetensors train.tsv --json
right=$(sed 's/.*"correct":\([0-9]*\).*/\1/' out.txt)
ends 0 eval m.safetensors train.tsv --min-accuracy "$(awk "BEGIN { print $right / 12 - 0.0001 }")" --quiet
row shore 1 'the bank' >wrong.tsv
row money 1 'the bank' >>wrong.tsv
ends 1 eval m.safetensors wrong.tsv --min-accuracy 0.51
says 'attn: accuracy 0.5000 is below 0.51'
prints '1 of 2 right'
ends 1 eval m.safetensors wrong.tsv --min-accuracy 0.51 --quiet --json
silent
prints '"accuracy":0.5,'
ends 0 eval m.safetensors wrong.tsv --min-accuracy 0.5

# Predictions: gold, predicted, probability, index, five words with their weights, the sentence.
ends 0 eval m.safetensors test.tsv --predictions p.tsv --quiet
[ "$(wc -l <p.tsv)" -eq 4 ] || bad 'predictions: not a line a sentence'
awk -F "$tab" '
    NF != 6 || ($1 != "money" && $1 != "shore" && $1 != "club" && $1 != "animal") || $3 < 0.33 || $3 > 1 { bad = 1 }
    { n = split($5, words, " "); sum = 0
      for (i = 1; i <= n; i++) { sub(/.*:/, "", words[i]); sum += words[i]; if (i > 1 && words[i] > before) bad = 1; before = words[i] }
      if (n != 5 || sum > 1.003) bad = 1 }
    END { exit bad }' p.tsv || bad "predictions: $(cat p.tsv)"
cut -f 1,4,6 p.tsv | cmp -s - test.tsv || bad 'predictions do not repeat the sentences'
ends 0 eval m.safetensors test.tsv --predictions - --quiet
tail -n 4 out.txt | cmp -s - p.tsv || bad 'predictions on stdout are others'

ends 0 predict m.safetensors 'the muddy bank of the river' 'his bat'
silent
[ "$(grep -c '^  .*\* ' out.txt)" -eq 2 ] || bad 'predict: no two senses'
prints 'the muddy [bank] of the river'
cp out.txt a.txt
printf 'the muddy bank of the river\r\n\n   \nhis bat' | "$attn" predict m.safetensors >out.txt 2>err.txt || bad 'predict from stdin'
same a.txt out.txt
ends 0 predict m.safetensors --target bat 'the bank and the bat'
prints 'the bank and the [bat]'
ends 0 predict m.safetensors --target-index 4 'the bank and the bat'
prints 'the bank and the [bat]'
ends 0 predict m.safetensors 'the bank and the bat'
prints 'the [bank] and the bat'
prints 'the bank and the [bat]'
silent

ends 0 info
prints 'operations: '
ends 0 info m.safetensors
prints 'score scaled-dot, 2 heads, embeddings of 8, 4 hidden a head, position relative, neighbours 0.3, 1 member'
prints 'bank: shore (3), money (3)'
ends 0 gradcheck add softmax
prints '2 checked, 0 wrong'
ends 0 gradcheck --model m.safetensors --data test.tsv
prints '1 checked, 0 wrong'
ends 1 gradcheck tanh --tolerance 1e-15
prints 'WRONG'

# ---- JSON ----

ends 0 eval m.safetensors test.tsv --json
shaped '{accuracy:real,by_distance:[{accuracy:real,examples:integer,from:integer,weight:real}],calibration:{bins:[{above:real,accuracy:real,confidence:real,examples:integer,to:real}],expected_error:real},correct:integer,examples:integer,mean_over_words:{macro_f1:real,micro_f1:real},schema:attn.eval/1,words:[{confusion:[[integer]],examples:integer,macro_f1:real,micro_f1:real,senses:[{f1:real,precision:real,recall:real,sense:string,support:integer}],word:string}]}'
printf 'a bat\nthe bat hit\n' | "$attn" predict m.safetensors --json >out.txt || bad 'predict --json'
shaped '{attention:[[real]],line:integer,probabilities:{animal:real,club:real},schema:attn.predict/1,sense:string,sentence:[string],target:integer,unknown:[],word:string}'
ends 0 gradcheck mul matmul --json
shaped '{checked:integer,failed:integer,max_rel_error:real,ops:[{cases:integer,elements:integer,max_rel_error:real,ok:boolean,op:string,verdict:string,worst:{analytic:real,index:[integer],numeric:real,tensor:string}}],schema:attn.gradcheck/1}'
ends 0 train train.tsv -o b.safetensors --epochs 1 --dim 4 --json --quiet
shaped '{dev:{macro_f1:null,micro_f1:null},epochs:integer,examples:integer,model:string,parameters:integer,schema:attn.train/1,seconds:real,seed:integer,train_loss:real}'
ends 0 train train.tsv -o b.safetensors --epochs 2 --dim 4 --json --quiet --dev test.tsv --log l.jsonl --seed 9223372036854775807
shaped '{dev:{macro_f1:real,micro_f1:real},epochs:integer,examples:integer,model:string,parameters:integer,schema:attn.train/1,seconds:real,seed:integer,train_loss:real}'
prints '"seed":9223372036854775807,'
cp l.jsonl out.txt
shaped '{dev:{macro_f1:real,micro_f1:real},epoch:integer,epochs:integer,loss:real,member:integer,schema:attn.log/1,seconds:real,sentences:integer}'
[ "$(wc -l <l.jsonl)" -eq 2 ] || bad 'the log has not a line an epoch'
ends 0 info --json
shaped '{dtypes:[string],isa:string,libraries:[{name:string,version:string}],openmp:boolean,schema:attn.info/1,threads:integer,version:string}'
ends 0 info m.safetensors --json
grep -q '"schema":"attn.info/1"' out.txt || bad 'info --json of a model'

# Numbers have a point whatever the locale; sums are 1.
mkdir locale
if localedef -c -i de_DE -f UTF-8 locale/de_DE.UTF-8 >/dev/null 2>&1; then
    ends 0 eval m.safetensors test.tsv --json
    cp out.txt a.txt
    LOCPATH=$PWD/locale LC_ALL=de_DE.UTF-8 "$attn" eval m.safetensors test.tsv --json >out.txt || bad 'eval in another locale'
    same a.txt out.txt
    LOCPATH=$PWD/locale LC_ALL=de_DE.UTF-8 "$attn" train train.tsv -o b.safetensors --epochs 5 --dim 8 --hidden 4 --heads 2 \
        --learning-rate 0.003 --quiet || bad 'train in another locale'
    same m.safetensors b.safetensors
fi
ends 0 predict m.safetensors 'the muddy bank of the river' --json
sed 's/.*"attention":\[\[//; s/\].*//' out.txt | awk -F , '{ for (i = 1; i <= NF; i++) sum += $i; exit NF != 6 || sum < 0.999999 || sum > 1.000001 }' ||
    bad 'a row of attention does not sum to 1'
sed 's/.*"probabilities":{//; s/}.*//; s/"[a-z]*"://g' out.txt | awk -F , '{ exit NF != 2 || $1 + $2 < 0.999999999 || $1 + $2 > 1.000000001 }' ||
    bad 'probabilities do not sum to 1'

finish

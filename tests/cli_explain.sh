#!/bin/sh
# attn explain: every number on the way to a sense. Usage: cli_explain.sh ATTN TESTS_FOLDER JSON_SHAPE
# shellcheck source=tests/support/cli.sh
. "$2/support/cli.sh"
support=$2/support

# ---- from the numbers that are shown, the prediction can be computed again ----

small_corpus
text='near the muddy bank of the slow river he swung a wooden bat'
for score in scaled-dot dot additive; do
    for position in relative none; do
        ends 0 train train.tsv -o m.safetensors --score $score --position $position --epochs 12 --seeds 3 --window 5 --quiet --threads 1
        for target in bank bat; do
            ends 0 explain m.safetensors "$text" --target $target --json
            silent
            cp out.txt e.json
            ends 0 predict m.safetensors "$text" --target $target --json
            python3 "$support/recompute.py" e.json out.txt >py.txt 2>err.txt || bad "$score, $position, $target: the numbers do not agree"
        done
    done
done
additive=',squashed:[[real]]' w=',w:[real]'
shape_of_head() {
    echo "{head:integer,keys:[[real]],matrix:[[real]],mixed:[real],part:[real],$1query:[real],raw:[real],scaled:[real],scores:[real]$2,values:[[real]]$3,weights:[real]}"
}
shape_of() {
    echo "{begin:integer,count:integer,head_dim:integer,known:[boolean],members:[{bias:[real],heads:[$1],logits:[real],member:integer,prior:[real],probabilities:[real],seed:integer}]$2,probabilities:{animal:real,club:real},scale:real,schema:attn.explain/1,score:string,sense:string,senses:[string],sentence:[string],target:integer,value_dim:integer}"
}
ends 0 explain m.safetensors 'a bat' --json
shaped "$(shape_of "$(shape_of_head '' "$additive" "$w")" ',neighbours:[[real]],neighbours_weight:real')"
small_model
ends 0 explain m.safetensors 'a bat' --json
shaped "$(shape_of "$(shape_of_head 'position:[real],' '' '')" ',neighbours:[[real]],neighbours_weight:real')"

# ---- exact values: a model whose numbers were chosen so that all steps can be done by hand ----
# q = (2,2,2,2), the key of "river" = (k,k,k,k) with 8 k / 2 = ln 1.5, its distance adds ln 2: weights 1/5 1/5 3/5.
# New vector (1/5, 3/5, 0 ...); shore hears it times (5,5), money times (10,-10/3): logits 4 and 0, before equal priors ln(3.5) / 2.
# In training "river" stood near "bank" once, 4 words away, in a sentence of shore: counts 5/9 and 0, where shore has 0.4985 of all counts.
# So it says w 5/7 ln((5/9 + 0.3 0.4985) / ((5/9 + 0.3) 0.4985)) and w 5/7 ln(0.3 / (5/9 + 0.3)), w = 0.3 3 / (3 + 10) for 3 sentences a sense.

ends 0 train train.tsv -o hand.safetensors --epochs 1 --dim 2 --hidden 4 --heads 1 --threads 1 --quiet
cat >hand.json <<'END'
{"0.embedding": {"=bank,0": 1, "=river,1": 1},
 "0.attention.W_q": {"0,0": 2, "0,1": 2, "0,2": 2, "0,3": 2},
 "0.attention.W_k": {"1,0": 0.10136627702704110, "1,1": 0.10136627702704110, "1,2": 0.10136627702704110, "1,3": 0.10136627702704110},
 "0.attention.position": {"0,32": 0.69314718055994531},
 "0.attention.W_v": {"0,0": 1, "1,1": 1},
 "0.senses.W": {"0,0": 5, "1,0": 5, "0,1": 10, "1,1": -3.3333333333333335}}
END
python3 "$support/set_tensors.py" hand.safetensors hand.json || bad 'set_tensors.py'
cat >wanted.txt <<'END'
[bank] mud river
scaled-dot scores, heads: 1, width of a query and of a key: 4, of a value: 8
unknown words, which share one vector: mud

== head 0 of 0..0

1. Query and keys: q = x W_q of 'bank', k = x W_k of every word; x is a word's learned vector
              0       1       2       3
  q      2.0000  2.0000  2.0000  2.0000
  bank   0.0000  0.0000  0.0000  0.0000
  mud    0.0000  0.0000  0.0000  0.0000
  river  0.1014  0.1014  0.1014  0.1014

2. Score, how well a key answers the query: q · k = Σ q[c] k[c]
3. Scale: divided by √4 = 2.0000, or softmax would saturate at large widths
4. Position: plus a number that was learned for the distance to 'bank'
5. Softmax: weight = exp(score) / Σ exp(score); the largest score is subtracted from all first, which changes no weight

  word   distance     q·k     /√4  position   score  exp(score-max)  weight
  bank          0  0.0000  0.0000    0.0000  0.0000          0.3333  0.2000
  mud          +1  0.0000  0.0000    0.0000  0.0000          0.3333  0.2000
  river        +2  0.8109  0.4055    0.6931  1.0986          1.0000  0.6000
  sum                                                        1.6667  1.0000

6. Weighted sum: new vector = Σ weight · v, with v = x W_v of every word
  v           0       1       2       3       4       5       6       7
  bank   1.0000  0.0000  0.0000  0.0000  0.0000  0.0000  0.0000  0.0000
  mud    0.0000  0.0000  0.0000  0.0000  0.0000  0.0000  0.0000  0.0000
  river  0.0000  1.0000  0.0000  0.0000  0.0000  0.0000  0.0000  0.0000

  weight · v            0       1       2       3       4       5       6       7
  bank             0.2000  0.0000  0.0000  0.0000  0.0000  0.0000  0.0000  0.0000
  mud              0.0000  0.0000  0.0000  0.0000  0.0000  0.0000  0.0000  0.0000
  river            0.0000  0.6000  0.0000  0.0000  0.0000  0.0000  0.0000  0.0000
  sum: new vector  0.2000  0.6000  0.0000  0.0000  0.0000  0.0000  0.0000  0.0000

7. What this head says for each sense: new vector · W of the sense, for the logits below
                    0        1       2       3       4       5       6       7
  new vector   0.2000   0.6000  0.0000  0.0000  0.0000  0.0000  0.0000  0.0000
  shore        5.0000   5.0000  0.0000  0.0000  0.0000  0.0000  0.0000  0.0000
  money       10.0000  -3.3333  0.0000  0.0000  0.0000  0.0000  0.0000  0.0000

== senses, from all heads

8. Neighbours: what a word says by having stood near 'bank' in training, whatever its weight:
   0.06923 near · ln((n[sense] + 0.3 q[sense]) / ((n + 0.3) q[sense])), near = 5 / (5 + distance);
   n: near summed over training, n[sense]: over the sentences of a sense; q: share of a sense in all of these;
   where words are written without spaces, each of its characters says as much in the same way, times 0.3;
   0.06923 is larger the more training sentences a sense has

  word   distance   shore    money
  bank          0  0.0000   0.0000
  mud          +1  0.0000   0.0000
  river        +2  0.0249  -0.0518
  sum              0.0249  -0.0518

9. Logit = Σ over the heads of new vector · W, + bias, + prior = 0.5 ln(training sentences of the sense + 0.5), + neighbours
10. Softmax: probability = exp(logit) / Σ exp(logit)

  sense  head 0    bias   prior  neighbours   logit  exp(logit-max)  probability
  shore  4.0000  0.0000  0.6264      0.0249  4.6512          1.0000       0.9833
  money  0.0000  0.0000  0.6264     -0.0518  0.5746          0.0170       0.0167

== prediction

  * shore  0.9833
    money  0.0167
END
ends 0 explain hand.safetensors 'bank mud river'
silent
same wanted.txt out.txt
ends 0 explain hand.safetensors 'bank mud river' --brief --digits 2
prints '  bank          0  0.00  0.00      0.00   0.00            0.33    0.20'
[ "$(wc -l <out.txt)" -eq 48 ] || bad "$last: $(wc -l <out.txt) lines"
ends 0 explain hand.safetensors 'bank mud river' --digits 9
prints '  * shore  0.983319'
printf 'bank mud river\n' | "$attn" explain hand.safetensors - >out.txt 2>err.txt || bad 'explain from stdin'
same wanted.txt out.txt

# Without neighbours no number and no step tells of them.
ends 0 train train.tsv -o alone.safetensors --neighbours 0 --epochs 1 --dim 2 --hidden 4 --heads 1 --threads 1 --quiet
python3 "$support/set_tensors.py" alone.safetensors hand.json || bad 'set_tensors.py'
ends 0 explain alone.safetensors 'bank mud river'
prints '8. Logit = Σ over the heads of new vector · W, + bias, + prior = 0.5 ln(training sentences of the sense + 0.5)'
prints '  shore  4.0000  0.0000  0.6264  4.6264          1.0000       0.9820'
ends 0 explain alone.safetensors 'bank mud river' --json
shaped "$(shape_of "$(shape_of_head 'position:[real],' '' '')" '' | sed 's/animal:real,club:real/money:real,shore:real/')"

# The other scores: dot leaves the scale out; additive, with w = (1,1,1,1), scores 4 tanh(q + k).
ends 0 train train.tsv -o dot.safetensors --score dot --position none --epochs 1 --dim 2 --hidden 4 --heads 1 --threads 1 --quiet
sed '/position/d' hand.json >dot.json
python3 "$support/set_tensors.py" dot.safetensors dot.json || bad 'set_tensors.py'
ends 0 explain dot.safetensors 'bank mud river'
prints '3. Scale: none with dot scores'
prints '4. Position: none in this model'
prints '  word   distance     q·k  exp(score-max)  weight'
prints '  river        +2  0.8109          1.0000  0.5294' # 1.5^2 / (1 + 1 + 1.5^2)
ends 0 train train.tsv -o add.safetensors --score additive --epochs 1 --dim 2 --hidden 4 --heads 1 --threads 1 --quiet
sed 's/"0.attention.W_v"/"0.attention.w": {"0,0": 1, "0,1": 1, "0,2": 1, "0,3": 1}, &/' hand.json >add.json
python3 "$support/set_tensors.py" add.safetensors add.json || bad 'set_tensors.py'
ends 0 explain add.safetensors 'bank mud river'
prints '2. Score, how well a key answers the query: w · tanh(q + k) = Σ w[c] tanh(q[c] + k[c])'
prints '3. Scale: none with additive scores'
prints '  river  0.9705  0.9705  0.9705  0.9705' # tanh(2.1014)
prints '  word   distance  w·tanh(q+k)  position   score  exp(score-max)  weight'
prints '  river        +2       3.8821    0.6931  4.5753          1.0000  0.5065' # 2 exp(3.8821) of that and 2 exp(4 tanh 2)

# ---- which word, head and model ----

ends 0 explain m.safetensors 'the bank and the bat' --head 1 --brief
prints '== head 1 of 0..1'
says "attn: 2 words could be meant; took 'bank' at index 1 (--target-index chooses)"
grep -q '^== head 0' out.txt && bad "$last: head 0 too"
ends 0 explain m.safetensors 'the bank and the bat' --target-index 4 --quiet
prints 'the bank and the [bat]'
silent
ends 0 train train.tsv -o two.safetensors --seeds 2 --epochs 1 --dim 4 --hidden 2 --heads 1 --window 2 --seed 5 --quiet
ends 0 explain two.safetensors 'he keeps the muddy bank of the slow river'
prints '==== model 1 of 0..1, seed 6'
prints '==== prediction: the mean of 2 models'
prints 'the model looks at the words 2..6'
ends 0 explain two.safetensors 'the bank' --member 1
grep -q '^==== model 0' out.txt && bad "$last: model 0 too"
ends 2 explain two.safetensors 'the bank' --member 2
says 'attn: --member is 2, the ensemble has the models 0..1'
one_line
ends 2 explain two.safetensors 'the bank' --head 1
says 'attn: --head is 1, the model has the heads 0..0'
one_line

# Chinese characters take two columns, and every row of a table ends in the same one.
{
    row 公司 0 '苹果 发布 手机'
    row 水果 1 '吃 苹果'
} >zh.tsv
ends 0 train zh.tsv -o zh.safetensors --epochs 1 --dim 4 --hidden 2 --heads 1 --quiet
ends 0 explain zh.safetensors '苹果 发布 a' --brief
prints '  苹果         0'
prints '  a           +2'

# ---- what cannot be explained ----

ends 2 explain m.safetensors 'a crane'
says 'attn: no word of the sentence is one whose senses the model knows; it knows: bank, bat'
one_line
ends 2 explain m.safetensors 'a bat' --target-index 2
says 'attn: --target-index is 2, the sentence has the words 0..1'
one_line
ends 2 explain m.safetensors 'the bat' --target the
says "attn: the model knows no senses of 'the'; it knows: bank, bat"
one_line
ends 2 explain m.safetensors
says 'attn explain: a sentence is missing'
ends 2 explain
says 'attn explain: a model is missing'
ends 2 explain m.safetensors the bat
says "attn explain: 'bat' is one argument too many: a sentence is one argument, in quotes"
ends 2 explain m.safetensors 'a bat' --target bat --target-index 1
says 'attn explain: --target and --target-index exclude each other'
ends 2 explain m.safetensors 'a bat' --head one
says "attn explain: --head is 'one', expected all or a whole number from 0 on"
for number in '' -1 1.5 ' 1' 99999999999; do
    ends 2 explain m.safetensors 'a bat' --member "$number"
    says "attn explain: --member is '$number', expected all or a whole number from 0 on"
done
ends 2 explain m.safetensors ''
one_line
ends 2 explain absent.safetensors 'a bat'
one_line

finish

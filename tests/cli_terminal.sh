#!/bin/sh
# attn heatmap without -o: what goes to a terminal, what to a pipe, and what the environment says of colours and width.
. "$(dirname "$0")/support/cli.sh"
unset NO_COLOR COLORTERM COLUMNS
export TERM=xterm-256color

printf '\t苹果\tx\n苹果\t0.25\t0.75\nx\t1\tnan\n' >m.tsv
escape=$(printf '\033')

# lines FILE: a file without carriage returns and escape sequences
lines() {
    tr -d '\r' <"$1" | sed "s/$escape\\[[0-9;]*m//g"
}

# terminal ARGUMENT...: attn heatmap in a terminal of 80 columns; output in out.txt
terminal() {
    last="attn heatmap $* (in a terminal)"
    script -qec "stty cols 80; '$attn' heatmap $*" /dev/null </dev/null >out.txt 2>err.txt
    code=$?
    [ "$code" -eq 0 ] || bad "$last: exit status $code"
}

colored() {
    grep -q "$escape\\[48;$1[;m]" out.txt || bad "$last: no colours of kind $1"
}

plain() {
    ! grep -q "$escape" out.txt || bad "$last: escape sequences"
}

cat >expected.txt <<END
      苹果   x
苹果  0.25  0.75
   x  1.00     \\

rows     query: who looks
columns  key: looked at
numbers  attention weight
\\        not a number
END
ends 0 heatmap --matrix m.tsv
silent
plain
same out.txt expected.txt
ends 0 heatmap --matrix - <m.tsv
same out.txt expected.txt
ends 0 heatmap --matrix m.tsv --color always
colored 5
COLORTERM=truecolor ends 0 heatmap --matrix m.tsv --color always
colored 2
TERM=dumb ends 0 heatmap --matrix m.tsv --color always
colored 2
COLUMNS=14 ends 0 heatmap --matrix m.tsv
says 'attn: numbers are hidden: 14 columns are too few for them'
prints '苹果 2 7'
COLUMNS=14 ends 0 heatmap --matrix m.tsv --quiet
silent
COLUMNS=4294967310 ends 0 heatmap --matrix m.tsv # 2^32 + 14
same out.txt expected.txt
ends 0 heatmap --matrix m.tsv --annotate none
silent
prints '苹果 2 7'
ends 2 heatmap --matrix m.tsv --color red
says "--color is 'red', expected one of: auto, always, never"

# Weights asked for and no picture: no lines.
ends 0 heatmap --matrix m.tsv --save-weights w.npy
[ ! -s out.txt ] || bad "$last: printed something"

ends 0 heatmap --cmap list
printf 'blues\nviridis_r\ncividis_r\nmagma_r\ngreys\nblue_red\n' >names.txt
cut -f 1 out.txt >list.txt
same names.txt list.txt
prints "blues${tab}#f8fafd${tab}#c1e1fd"
[ "$(awk -F '\t' 'NF != 10' out.txt)" = '' ] || bad "$last: not nine colours each"
COLORTERM=24bit ends 0 heatmap --cmap list --color always
colored '2;248;250;253'
lines out.txt | grep -q '^blues  *$' || bad "$last: no name before the colours"

if command -v script >/dev/null 2>&1 && terminal --matrix m.tsv && grep -q 0.75 out.txt; then
    colored 5
    lines out.txt | grep -q '^苹果  0.25  0.75 $' || bad "$last: not the lines"
    COLORTERM=truecolor terminal --matrix m.tsv
    colored 2
    TERM=xterm-direct terminal --matrix m.tsv
    colored 2
    NO_COLOR=1 terminal --matrix m.tsv
    plain
    NO_COLOR='' terminal --matrix m.tsv
    colored 5
    NO_COLOR=1 terminal --matrix m.tsv --color always
    colored 5
    TERM=dumb terminal --matrix m.tsv
    plain
    TERM=xterm terminal --matrix m.tsv
    plain
    terminal --matrix m.tsv --color never
    plain
    terminal --cmap list
    colored 5
    awk 'BEGIN { for (i = 0; i < 13; i++) { for (k = 0; k < 13; k++) printf "%s0.5", k ? "\t" : ""; print "" } }' >wide.tsv
    terminal --matrix wide.tsv
    [ "$(lines out.txt | LC_ALL=C.UTF-8 wc -L)" -le 80 ] || bad "$last: wider than the terminal"
    prints '0.50'
    awk 'BEGIN { for (i = 0; i < 99; i++) { for (k = 0; k < 99; k++) printf "%s0.5", k ? "\t" : ""; print "" } }' >wide.tsv
    terminal --matrix wide.tsv
    [ "$(lines out.txt | grep -v '^attn: ' | LC_ALL=C.UTF-8 wc -L)" -le 80 ] || bad "$last: wider than the terminal"
    prints 'blocks   a cell is the maximum of its block'
else
    printf 'cli_terminal.sh: skipped what needs the program script\n' >&2
fi
finish

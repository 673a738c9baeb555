#!/bin/sh
# attn bench: names of cases, what it prints, that it ends. No times: machines differ. Usage as cli.sh.
# shellcheck source=tests/support/cli.sh
. "$2/support/cli.sh"
export OMP_WAIT_POLICY=passive
ends 0 --version
threads=2
grep -q '^threads: no' out.txt && threads=1

# ---- names ----

# refuses MESSAGE CASE...: exit status 2 and one line with the message, before anything is measured
refuses() {
    message=$1
    shift
    ends 2 bench "$@"
    says "$message"
    one_line
}

for word in dott dott/forward/B1-H1-L8-d4 dot/forwards '' / // /dot forward do dot/forward/ \
    dot/forward/B1-H1-L8-d44444444444444444444444444444444444444444444444444444444444444444444444444444444444444444444444444444; do
    case $word in
    dot/forward/) refuses "attn: case 'dot/forward/': expected dot/PASS/BN-HN-LN-dN[-causal][-f64][-tN] with PASS forward|forward_backward" "$word" ;;
    *) refuses "attn: no case '$word'; 'attn bench --list' lists them" "$word" ;;
    esac
done
for sizes in B1 B1-H1-L8 B1-H1-L8-d4- B1-H1-L8-d4-d4 B1-H1-L0-d4 B1-H1-L-8-d4 B1-H1-L08-d4 B1-H1-L8x-d4 B1-H1-L8-d4-x3 B1-H1-L8-d4-Causal \
    B1-H1-L8-d4-f32 B1-H1-L8-d4-t257 B1-H1-L8-d4-t0 B1-H1-L1-d100000001 B1-H1-L99999999999999999999-d4 N1-B1-H1-L8-d4; do
    refuses "attn: case 'dot/forward/$sizes': expected dot/PASS/BN-HN-LN-dN[-causal][-f64][-tN]" "dot/forward/$sizes"
done
refuses "attn: case 'dot/step/B1-H1-L8-d4': expected dot/PASS/" dot/step/B1-H1-L8-d4
refuses "attn: case 'dot/forward_/B1-H1-L8-d4': expected dot/PASS/" dot/forward_/B1-H1-L8-d4
refuses "attn: case 'matmul/forward/m2-n2-k2-causal': expected matmul/PASS/mN-nN-kN[-f64]" matmul/forward/m2-n2-k2-causal
refuses "attn: case 'adamw/forward/P3': expected adamw/PASS/PN[-f64][-tN] with PASS step and" adamw/forward/P3
refuses "attn: no case 'foo'" dot/forward/B1-H1-L8-d4 foo # the good one is not measured first
refuses "attn: no case 'foo'" --list foo

# What a word stands for.
ends 0 bench --list
silent
cp out.txt standard.txt
[ "$(wc -l <standard.txt)" -gt 20 ] || bad 'few standard cases'
for word in dot/forward/B1-H8-L2048-d64 dot/forward_backward/B1-H8-L2048-d64 additive/forward_backward/B1-n2048-m2048-h64 \
    layer/forward_backward/B1-L4-D8; do
    grep -qx "$word" standard.txt || bad "not standard: $word"
done
ends 0 bench --list standard standard
same out.txt standard.txt
ends 0 bench --list dot
grep '^dot/' standard.txt >a.txt
same out.txt a.txt
ends 0 bench --list matmul/forward
grep '^matmul/forward/' standard.txt >a.txt
same out.txt a.txt
ends 0 bench --list length
for n in 64 128 256 512 1024 2048 4096 8192 16384; do
    [ "$(grep -cE "[Ln]$n-" out.txt)" -eq 3 ] || bad "length: not three works of $n"
done
ends 0 bench --list threads --threads 3
if [ $threads -eq 1 ]; then
    says 'attn: built without OpenMP: one thread is used, not 3'
else
    silent
    [ "$(grep -cE -e '-t[123]$' out.txt)" -eq "$(wc -l <out.txt)" ] || bad 'threads: other than 1, 2, 3'
    grep -q -e '-t3$' out.txt || bad 'threads: not the last'
fi
for set in length threads heads width; do
    ends 0 bench --list $set --threads 4
    cat out.txt
done >a.txt
ends 0 bench --list all --threads 4
sort -u standard.txt a.txt >b.txt
sort out.txt | cmp -s - b.txt || bad 'all is not all, or has something twice'

# ---- measuring: every work, small, in float32 and float64 ----

works='dot/forward/B1-H2-L9-d4 dot/forward_backward/B2-H1-L9-d4-causal additive/forward/B1-n5-m7-h4 additive/forward_backward/B1-H2-n5-m7-h4
layer/forward/B1-L4-D8 layer/forward_backward/B1-L4-D8-H2-causal matmul/forward/m3-n4-k5 matmul/forward_backward/m3-n4-k5 softmax/forward/R3-C9
softmax/forward_backward/R3-C9 layer_norm/forward/R3-D9 layer_norm/forward_backward/R3-D9 cross_entropy/forward/R3-C9
cross_entropy/forward_backward/R3-C9 embedding/forward_backward/V9-D4-R5 adamw/step/P100'
wide=
for work in $works; do
    wide="$wide $work-f64"
done
machine='machine:{cache_bytes:integer,cpu:string,fma_peak_gflops:real,fma_peak_gflops_f64:real,isa:string,load:real,memory_gbytes_per_s:real,threads:integer}'
case='bytes:real,dtype:string,flops:real,gbytes_per_s:real,gflops:real,median_ms:real,memory_fraction:real,min_ms:real,name:string'
case="$case,peak_fraction:real,runs:integer,threads:integer,workspace_bytes:integer"
# shellcheck disable=SC2086
ends 0 bench --quick --threads $threads --json $works $wide
silent
shaped "{cases:[{$case}],$machine,schema:attn.bench/1}"
prints "\"threads\":$threads"
# All numbers are finite (JSON has no others) and above 0, the workspace also 0; names and dtypes are as asked for, in that order.
tr '{' '\n' <out.txt | grep '"name"' >cases.txt
# shellcheck disable=SC2086
sed 's/.*"name":"\([^"]*\)".*/\1/' cases.txt | tr '\n' ' ' >names.txt
[ "$(cat names.txt)" = "$(echo $works $wide) " ] || bad "names: $(cat names.txt)"
tr ',{' '\n\n' <out.txt | grep -vE '"(cache_bytes|cpu|isa|name|dtype|schema|cases|load|machine|workspace_bytes)"|^$' |
    sed 's/.*://; s/[]}]//g' | awk '!($1 > 0) { print "not above 0: " $0; bad = 1 } END { exit bad || NR < 200 }' >a.txt || bad "$(cat a.txt)"
grep -qE '"workspace_bytes":-' out.txt && bad 'a negative workspace'
[ "$(grep -c -e '-f64".*"dtype":"float64"' cases.txt)" -eq 16 ] || bad 'float64 is not float64'
# The least is at most the median; runs are five or more; rates belong to times.
tr -d '"{}[]' <cases.txt | awk -F '[:,]' '
    { for (i = 1; i < NF; i += 2) value[$i] = $(i + 1)
      ms = value["median_ms"]
      if (value["min_ms"] > ms || value["runs"] < 5) bad = 1
      if (value["gflops"] * ms / value["flops"] > 1.001e-6 || value["gflops"] * ms / value["flops"] < 0.999e-6) bad = 1
      if (value["gbytes_per_s"] * ms / value["bytes"] > 1.001e-6 || value["gbytes_per_s"] * ms / value["bytes"] < 0.999e-6) bad = 1 }
    END { exit bad || NR != 32 }' || bad 'numbers do not belong together'
# Operations and bytes by hand: 4 L^2 d H; half of 14 L^2 d for each entry of the batch; 2 m n k; q, k, v and the output; these twice.
counts() {
    grep -F "\"name\":\"$1\"," cases.txt | grep -qF "\"flops\":$2.0,\"bytes\":$3.0," || bad "$1: $(grep -F "\"$1\"" cases.txt)"
}
counts dot/forward/B1-H2-L9-d4 2592 1152
counts dot/forward_backward/B2-H1-L9-d4-causal 4536 2304
counts matmul/forward/m3-n4-k5 120 188
counts matmul/forward_backward/m3-n4-k5-f64 360 752
counts layer/forward/B1-L4-D8 2560 1280
counts layer/forward_backward/B1-L4-D8-H2-causal 7040 2560
counts adamw/step/P100 1500 2800

ends 0 bench --quick --threads 1 dot/forward/B1-H1-L8-d4-t2 softmax/forward/R4-C4
silent
head -n 1 out.txt | grep -qE ', 1 thread: peak [0-9.]+ GFLOP/s in float32, [0-9.]+ in float64; memory [0-9.]+ GB/s; load [0-9.]+$' || bad "machine: $(head -n 1 out.txt)"
[ "$(grep -cE '^(dot/forward/B1-H1-L8-d4-t2|softmax/forward/R4-C4) +[0-9.]+ +[0-9.]+ +[0-9.]+ +[0-9.]+% +[0-9.]+ +[0-9.]+ MB$' out.txt)" -eq 2 ] ||
    bad "text: $(cat out.txt)"
ends 0 bench --json --seconds 0.001 adamw/step/P10 --threads 1
prints '"isa":"'
ATTN_ISA=baseline "$attn" bench --quick --json adamw/step/P10 >out.txt 2>err.txt || bad 'with ATTN_ISA=baseline'
prints '"isa":"baseline"'

# A case that takes longer than its time runs five times all the same, and ends if that takes very long.
ends 0 bench --seconds 0.004 --json dot/forward_backward/B1-H1-L1024-d64
tr -d '"{}[]' <out.txt | tr ',' '\n' | awk -F : '{ value[$1] = $2 } END { exit !(value["runs"] >= 5 || value["runs"] * value["median_ms"] >= 40) }' ||
    bad "too few runs: $(cat out.txt)"
timeout 300 "$attn" bench --quick dot/forward_backward/B1-H1-L512-d64 additive/forward_backward/B1-n256-m256-h64 >out.txt 2>err.txt ||
    bad 'does not end soon'

# ---- what goes wrong while measuring ----

ends 2 bench --quick --json layer/forward/B1-L4-D8-H3
says "attn: case 'layer/forward/B1-L4-D8-H3': attention 'attention': query width 8 cannot be cut into 3 heads"
one_line
ends 2 bench --quick --json dot/forward/B100000000-H100000000-L100000000-d100000000
says "attn: case 'dot/forward/B100000000-H100000000-L100000000-d100000000': "
one_line
ends 2 bench --seconds 0
says "--seconds is '0', expected a number from 0.001 to 3600"

finish

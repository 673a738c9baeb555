# shellcheck shell=sh
# attn heatmap -o FILE.html from the shell: what is in the page, how it fails. Arguments: as support/cli.sh wants them
. "$2/support/cli.sh"

# has FILE TEXT
has() {
    grep -qF -e "$2" "$1" || bad "$last: $1 has no $2"
}
# counts N FILE TEXT: lines do not count, occurrences do
counts() {
    [ "$(grep -oF -e "$3" "$2" | wc -l)" -eq "$1" ] || bad "$last: $2 has not $1 times $3"
}

small_model
one='the bank lends money' two='a bat leaves its cave'

# Every head is in the page, and the one that was asked for is shown first.
ends 0 heatmap m.safetensors "$one" "$two" -o mean.html
silent
has mean.html '"heads":2,"head":-1,'
ends 0 heatmap m.safetensors "$one" "$two" -o all.html --head all
has all.html '"heads":2,"head":-2,'
ends 0 heatmap m.safetensors "$one" "$two" -o 1.HTML --head 1 --threads 1
has 1.HTML '"heads":2,"head":1,'
for page in mean.html all.html 1.HTML; do
    counts 2 "$page" '"values":['
    counts 1 "$page" '"columns":["the","bank","lends","money"]'
    sed 's/"head":-*[0-9]*,//' "$page" >without.txt
    [ -f first.txt ] || cp without.txt first.txt
    same without.txt first.txt
done
printf '%s\n%s\n' "$one" "$two" | "$attn" heatmap m.safetensors -o stdin.html
same stdin.html mean.html
ends 0 heatmap m.safetensors "$one" -o both.html --save-weights w.npy --head 1
has both.html '"heads":2,"head":1,'
ends 0 heatmap --matrix w.npy -o w.html
has w.html '"heads":1,"head":0,'
LC_ALL=de_DE.UTF-8 "$attn" heatmap m.safetensors "$one" "$two" -o locale.html 2>err.txt || bad 'another locale'
same locale.html mean.html

# What it looks like is decided as for a picture.
printf '0.5\t-2\n\t1\n' >m.tsv
ends 0 heatmap --matrix m.tsv -o m.html --vmin -2 --vmax 3 --digits 0 --annotate top=1 --cell 20 --title 'a < b' --lang zh --cmap greys
has m.html '<html lang="zh-Hans">'
has m.html '<title>a &lt; b</title>'
has m.html '"title":"a \u003c b","rowTitle":null,'
has m.html '"annotate":"auto","vmin":-2,"vmax":3,"digits":0,"top":1,"cell":20,'
has m.html '"type":"f32"'
has m.html '"AAAAPwAAAMAAAMB/AACAPw=="'
ends 0 heatmap --matrix m.tsv -o m.html --vmin auto --vmax auto --quiet
has m.html '"vmin":-2,"vmax":1,'
printf '你\n好\n' >zh.txt
ends 0 heatmap --matrix m.tsv --rows zh.txt --columns zh.txt -o m.html --quiet
has m.html '<html lang="zh-Hans">'

# ---- what is refused; no file is left ----

ends 2 heatmap m.safetensors "$one" -o x.html --lang de
says "--lang is 'de', expected one of: auto, en, zh"
ends 2 heatmap m.safetensors "$one" -o x.html --head 2
says 'attn: --head is 2, the model has the heads 0..1'
ends 2 heatmap m.safetensors "the $(printf 'b\344\270')" -o x.html
says 'UTF-8'
ends 2 heatmap --matrix m.tsv --title "$(printf '\377')" -o x.html --quiet
says 'attn: page: text 1 of "title" is not UTF-8: bad byte at offset 0'
ends 2 heatmap m.safetensors "$one" -o none/x.html
says 'attn: none/x.html: cannot write: '
mkdir d.html
ends 2 heatmap m.safetensors "$one" -o d.html
says 'attn: d.html: cannot write: '
rmdir d.html || bad 'something was left in the folder d.html'
printf 'old' >old.html
(
    ulimit -f 8
    trap '' XFSZ
    "$attn" heatmap m.safetensors "$one" -o old.html 2>err.txt
)
[ $? -eq 2 ] || bad 'a page beyond the largest size of a file did not fail'
says 'attn: old.html: cannot write: '
[ "$(cat old.html)" = old ] || bad 'the old file is lost'
absent x.html
finish

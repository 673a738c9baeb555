#!/bin/sh
# From a clone to trained models, checked gradients and pictures: sh scripts/demo.sh
# Sets up what is missing, builds into build/, and leaves everything under out/.
set -eu
cd "$(dirname "$0")/.."

sh scripts/setup.sh
mkdir -p build out

heading() {
    printf '\n== %s\n' "$1"
}

# Runs the tool, after showing the command as one would type it.
attn() {
    printf '$ build/attn'
    for word in "$@"; do
        case $word in
        *' '*) printf " '%s'" "$word" ;;
        *) printf ' %s' "$word" ;;
        esac
    done
    printf '\n'
    build/attn "$@"
}

heading 'Build'
export CMAKE_GENERATOR=Ninja # for a new build folder; an old one keeps its own
{ cmake -S . -B build -DCMAKE_BUILD_TYPE=Release && cmake --build build --target attn_tool; } >build/demo.log 2>&1 || {
    cat build/demo.log
    exit 1
}
attn info

heading 'Chinese: learn from data/zh.train.tsv, judge on data/zh.test.tsv'
attn train data/zh.train.tsv -o out/zh.safetensors
attn eval out/zh.safetensors data/zh.test.tsv
attn predict out/zh.safetensors '苹果 发布 新 手机' '她 吃 苹果 和 香蕉'

heading 'English: learn from data/en.train.tsv, judge on data/en.test.tsv'
attn train data/en.train.tsv -o out/en.safetensors
attn eval out/en.safetensors data/en.test.tsv
attn predict out/en.safetensors 'the bank raised its interest rate' 'they sat on the grassy bank of the river'

heading 'Gradients: every operation against finite differences'
attn gradcheck

heading 'Pictures: who attends to whom'
attn heatmap out/zh.safetensors '苹果 发布 新 手机' '她 吃 苹果 和 香蕉' -o out/zh-apple.png
attn heatmap out/en.safetensors 'apple will release a new phone' 'she ate an apple and a banana' -o out/en-apple.png
attn heatmap out/en.safetensors 'the bank raised its interest rate' 'they sat on the grassy bank of the river' -o out/en-bank.png

heading 'Pages to explore: open them in a browser'
attn heatmap out/zh.safetensors '苹果 发布 新 手机' '她 吃 苹果 和 香蕉' -o out/zh-apple.html
attn report out/zh.safetensors '苹果 发布 新 手机' '她 吃 苹果 和 香蕉' --data data/zh.train.tsv -o out/zh-report.html

heading 'Every number of one prediction'
attn explain out/en.safetensors 'the bank raised its interest rate' --head 0 --brief

heading 'What is there now'
printf '%-22s %s\n' \
    out/zh.safetensors 'senses of ambiguous Chinese words, a model' \
    out/en.safetensors 'senses of ambiguous English words, a model' \
    out/zh-apple.png '苹果, the company and the fruit: attention as a heatmap' \
    out/zh-apple.html 'the same as a page to explore' \
    out/zh-report.html 'words as colours, sliders, every step' \
    out/en-apple.png 'apple, the company and the fruit' \
    out/en-bank.png 'bank, of money and of a river'

#!/bin/bash
# What the shells complete, against what is expected: completions.sh ATTN FOLDER. A shell that is not there is skipped with a message.
set -eu
attn=$(realpath "$1") share=$(realpath "$2")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
ln -s "$attn" "$work/attn"
PATH=$work:$PATH
mkdir "$work/here" "$work/here/texts"
: >"$work/here/model.safetensors"
cd "$work/here"

# Completes a command line that ends with its last argument: a candidate a line.
in_bash() {
    bash --norc -c '
        compopt() { :; }
        source "$1/attn.bash"
        shift
        COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
        _attn
        printf "%s\n" "${COMPREPLY[@]}"' bash "$share" "$@"
}

in_fish() {
    fish --no-config -c 'source $argv[1]/attn.fish; complete -C "$argv[2]"' "$share" "$(printf '%s ' "${@:1:$#-1}" && printf '%s' "${@: -1}")" |
        sed 's/\t.*//; s/^--[a-z-]*=\(..*\)/\1/'
}

# The candidates that zsh would list: compadd is caught.
in_zsh() {
    zsh -f -c '
        fpath=($1 $fpath)
        zmodload zsh/zpty
        zpty shell zsh -f -i
        zpty -w shell "PS1= PS2= RPS1=; fpath=($1 \$fpath); autoload -Uz compinit; compinit -u -d $2/dump; unsetopt list_beep zle_bracketed_paste; zstyle \":completion:*\" list-colors \"\"; bindkey \"^I\" complete-word"
        zpty -w shell "compadd() { if [[ \${@[(I)-O|-A|-D]} != 0 ]]; then builtin compadd \"\$@\"; else local -a found; builtin compadd -O found \"\$@\"; print -rC1 -- \"<\"\${^found}\">\" >>$2/found; builtin compadd \"\$@\"; fi }"
        : >$2/found
        zpty -w -n shell "$3"$'"'\\t'"'
        zpty -r -t shell 2>/dev/null
        for i in {1..100}; do [[ -s $2/found ]] && break; sleep 0.05; zpty -r -t shell text 2>/dev/null; done
        sleep 0.3
        zpty -d shell' zsh "$share" "$work" "$(printf '%s ' "${@:1:$#-1}" && printf '%s' "${@: -1}")" >/dev/null 2>&1
    sed -n 's/^<\(..*\)>$/\1/p' "$work/found"
}

failures=0
# expect CANDIDATES WORD...: every shell offers these, among others only where CANDIDATES ends with " ..."
expect() {
    local expected=$1 shell found
    shift
    for shell in $shells; do
        found=$(in_"$shell" "$@" | sed 's/[=/ ]*$//' | LC_ALL=C sort -u | tr '\n' ' ')
        if [ "${found% }" != "$expected" ]; then
            printf '%s: %s: offers "%s", expected "%s"\n' "$shell" "$*" "${found% }" "$expected"
            failures=$((failures + 1))
        fi
    done
}

shells=
for shell in bash fish zsh; do
    if command -v "$shell" >/dev/null; then
        shells="$shells $shell"
    else
        printf 'skipped: %s is not there\n' "$shell"
    fi
done
expect 'train' attn tr
expect 'gradcheck' attn gr
expect '--learning-rate' attn train --lea
expect '--vectors --vectors-format' attn train --vec
expect 'additive dot scaled-dot' attn train --score ''
expect 'none relative' attn train --position ''
expect 'all mean' attn heatmap --head ''
expect 'all auto none top' attn heatmap --annotate ''
expect 'magma_r' attn heatmap --cmap mag
expect 'model.safetensors texts' attn train -o ''
expect 'model.safetensors' attn eval mod
exit $((failures > 0))

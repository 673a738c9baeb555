#!/bin/sh
# The manual pages: man.sh ATTN SOURCE. Each subcommand has one, with the options that --help has, and each header stands in libattn(3).
set -eu
attn=$1 source=$2
cd "$source/docs/man"
fail() {
    printf 'man.sh: %s\n' "$*" >&2
    exit 1
}
subcommands=$("$attn" --help | sed -n 's/^  \([a-z]*\)  .*/\1/p')
[ -n "$subcommands" ] || fail 'attn --help lists no subcommand'
for subcommand in $subcommands; do
    [ -e "attn-$subcommand.1" ] || fail "docs/man/attn-$subcommand.1 is not there"
    grep -q "^\.It Cm $subcommand\$" attn.1 || fail "attn.1 lists no $subcommand"
    grep -q "^\.Xr attn-$subcommand 1" attn.1 || fail "attn.1 does not refer to attn-$subcommand(1)"
done
for page in attn-*.1; do
    subcommand=${page#attn-}
    printf '%s\n' "$subcommands" | grep -q -x "${subcommand%.1}" || fail "$page is about no subcommand"
done
for header in "$source"/include/attn/*.h; do
    header=attn/${header##*/}
    [ "$header" = attn/attn.h ] || grep -q "$header" libattn.3 || fail "libattn.3 does not name $header"
done
# Names of functions and of what a model file holds are those of the source, and the example of libattn(3) is a program.
for name in $(grep -h -o 'attn_[a-z0-9_]*' ./*.[135] | sort -u); do
    grep -q -w -e "$name" "$source"/include/attn/*.h || fail "there is no $name"
done
for key in $(sed -n 's/.*AT(\([a-z_]*\)).*/\1/p' "$source/src/word_sense/config.c" | sort -u) \
    $(sed -n '/^static char \*progress_to_json/,/^}/p' "$source/src/word_sense/model_save.c" | grep -o '"[a-z_]*"' | tr -d '"'); do
    [ "$key" = name ] || grep -q -w -e "$key" attn-model.5 || fail "attn-model.5 does not name $key"
done
sed -n '/^\.Bd/,/^\.Ed/{/^\./d;s/\\e/\\/g;p;}' libattn.3 | ${CC:-cc} -std=c17 -Wall -Werror -I"$source/include" -fsyntax-only -x c - ||
    fail 'the example of libattn.3 does not compile'
sh "$source/scripts/man.sh" "$attn" --check || fail 'write the options anew: sh scripts/man.sh build/attn'
if command -v mandoc >/dev/null; then
    # The pages are not installed here, so that mandoc does not find what they refer to.
    remarks=$(mandoc -Tlint -W style ./*.[135] | grep -v 'referenced manual not found' || true)
    [ -z "$remarks" ] || fail "$remarks"
else
    printf 'skipped: there is no mandoc\n'
fi

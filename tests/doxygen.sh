#!/bin/sh
# The public headers are documented: doxygen.sh SOURCE_FOLDER
# Each function names its errors, each operation its gradients, each member has a comment (docs/doxygen.awk), and Doxygen finds nothing without a word (docs/Doxyfile). Then
# the headers are damaged, a kind of documentation at a time, and each damage must be found. Exit status 77: there is no doxygen.
set -eu
cd "$1"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() {
    printf 'doxygen.sh: %s\n' "$*" >&2
    exit 1
}

# rules FOLDER, manual FOLDER: what is found wrong with the headers there
rules() {
    awk -v check=1 -f docs/doxygen.awk "$1"/*.h
}
manual() {
    { cat docs/Doxyfile && printf 'INPUT = %s\nOUTPUT_DIRECTORY = %s\n' "$1" "$work"; } | doxygen -
}

# must_find CHECK HEADER COMMAND WORDS: after the sed command the header is another, and the check fails with these words.
must_find() {
    rm -rf "$work/attn"
    cp -r include/attn "$work/attn"
    sed "$3" "include/attn/$2" >"$work/attn/$2"
    ! cmp -s "include/attn/$2" "$work/attn/$2" || fail "$2 has nothing for sed '$3'"
    ! "$1" "$work/attn" >"$work/found" 2>&1 || fail "nothing is found wrong after sed '$3' $2"
    grep -q -e "$4" "$work/found" || fail "not found wrong after sed '$3' $2: $4, but: $(cat "$work/found")"
}

rules include/attn || fail 'the rules of include/attn/attn.h are broken'
must_find rules ops.h 's/@grad dx = factor g/@see nothing/' 'attn_scale: no @grad'
must_find rules corpus.h 's/@errors ATTN_EIO (path/@see (path/' 'attn_corpus_read: no @errors'
must_find rules optim.h 's/@errors ATTN_ENONFINITE/@errors ATTN_ENOTFINITE/' 'attn_optimizer_step: no such status: ATTN_ENOTFINITE'
must_find rules ops.h 's|\(ATTN_SCORE_DOT,\).*|\1|' 'ATTN_SCORE_DOT: nothing behind it'
must_find rules heatmap.h 's| /\* of cells \*/||' 'rows, columns: nothing behind it'

command -v doxygen >/dev/null || {
    printf 'skipped: there is no doxygen\n'
    exit 77
}
manual include/attn || fail 'something is without a word'
must_find manual ops.h '/y = tanh(x)/d' 'attn_tanh.* is not documented'
must_find manual ops.h 's/@param factor any number//' "parameter 'factor'"
must_find manual tensor.h 's/@return as a double; NaN when there is none//' 'return type of member attn_tensor_get_grad'
must_find manual optim.h 's| /\* steps taken so far \*/||' 'attn_optimizer_steps.* is not documented'
must_find manual matrix.h 's|/\* both > 0 \*/||' 'rows (variable).* is not documented'
must_find manual status.h '/Longest error message/d' 'ATTN_MESSAGE_SIZE (macro definition).* is not documented'
must_find manual attn.h '/attn_allocator \*allocator/d' "parameter 'allocator'"

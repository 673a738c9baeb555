#!/bin/sh
# Writes the options into the manual pages from the tool's own --help: sh scripts/man.sh build/attn [--check]
# With --check nothing is written; exit status 1 and a difference if a page is not up to date.
set -eu
attn=$(realpath "$1") check=${2-}
cd "$(dirname "$0")/../docs/man"

# The option list of a --help text in mdoc. A line of the list is at most "  -o, --output=FILE   what it does"; what goes on below stands
# far to the right.
options() {
    awk '
        function escaped(text) {
            gsub(/\\/, "\\e", text)
            gsub(/\.\.\./, "...\\\\\\&", text) # no end of a sentence
            sub(/^[.'"'"']/, "\\\\\\&&", text)
            return text
        }
        function put(text,    word, n, i, line) { # lines of 78 characters
            n = split(text, word, / /)
            for (i = 1; i <= n; i++) {
                if (line != "" && length(line) + length(word[i]) >= 78) {
                    print escaped(line)
                    line = ""
                }
                line = line (line == "" ? "" : " ") word[i]
            }
            print escaped(line)
        }
        function finish(    n, i, sentence, rest) {
            if (item == "") {
                return
            }
            print item
            gsub(/ +/, " ", text)
            sub(/ $/, "", text)
            n = split(text, sentence, /[.;] /)
            for (i = 1; i <= n; i++) { # a sentence a line
                rest = substr(text, length(sentence[i]) + 1, 1)
                text = substr(text, length(sentence[i]) + 3)
                put(sentence[i] rest)
            }
            item = ""
        }
        /^  (    )?-/ {
            finish()
            line = $0
            sub(/^ +/, "", line)
            short = match(line, /^-[a-zA-Z?], /) ? substr(line, 2, 1) : ""
            sub(/^-[a-zA-Z?], /, "", line)
            name = line
            sub(/^--/, "", name)
            sub(/[ =].*/, "", name)
            argument = ""
            if (match(line, /^--[a-z-]+=[^ ]+/)) {
                argument = substr(line, length(name) + 4, RLENGTH - length(name) - 3)
            }
            text = substr(line, length(name) + 3 + (argument == "" ? 0 : length(argument) + 1))
            sub(/^ +/, "", text)
            gsub(/-/, "\\-", name)
            item = ".It " (short == "" ? "" : "Fl " short " , ") "Fl Fl " name (argument == "" ? "" : " Ns = Ns Ar " argument)
            next
        }
        /^                    / && item != "" {
            line = $0
            sub(/^ +/, "", line)
            text = text (text == "" ? "" : " ") line
            next
        }
        { finish() }
        END { finish() }'
}

stale=0
new=$(mktemp)
trap 'rm -f "$new"' EXIT
for page in attn-*.1; do
    subcommand=${page#attn-}
    "$attn" "${subcommand%.1}" --help >"$new.help"
    {
        sed '/^\.\\" options of --help/q' "$page"
        printf '.Bl -tag -width Ds\n'
        options <"$new.help"
        printf '.El\n'
        sed -n '/^\.\\" end of options/,$p' "$page"
    } >"$new"
    rm "$new.help"
    if [ -n "$check" ]; then
        diff -u "$page" "$new" || stale=1
    else
        cat "$new" >"$page"
    fi
done
exit $stale

# What the headers leave unsaid, for Doxygen: awk -f docs/doxygen.awk HEADER >HEADER_AS_DOXYGEN_WANTS_IT
# The headers are written to be read (include/attn/attn.h has the rules): parameters that are the same everywhere are explained once, what
# stands behind a member or a one-line function is about it, and the first comment is about the file. This filter says all that in full at
# every function; so Doxygen, told to accept no parameter and no result without a word, finds what the rules leave open. No line moves.
# With -v check=1 it prints what breaks the rules in ways that Doxygen does not see, and exits 1 if there is something: functions without @errors,
# operations without @grad, members without a comment.

BEGIN {
    folder = ARGV[1]
    sub(/[^\/]*$/, "", folder)
    while ((getline line <(folder "attn.h")) > 0) { # " *     attn_tape *t        the tape ..."
        if (line ~ /^ \*     [a-z0-9_]+ [*]*[a-z]+  /) {
            sub(/^ \* +/, "", line)
            split(line, words, / /)
            name = words[1] " " words[2]
            sub(/^[^ ]+ [^ ]+ +/, "", line)
            meaning[name] = line
        }
        if (line ~ /^ \*     an operation  /) {
            common_errors = line
            sub(/^.*  /, "", common_errors)
        }
    }
    while ((getline line <(folder "status.h")) > 0) {
        if (line ~ /^    X\(/) {
            name = line
            gsub(/^    X\(|,.*/, "", name)
            sentence = line
            gsub(/^[^"]*"|".*/, "", sentence)
            statuses = statuses "    ATTN_" name ", /**< " sentence " */"
            is_status["ATTN_" name] = 1
        }
    }
}

FNR == 1 {
    in_first = 1
    first = ""
    in_doc = inside = 0
}

# Text for Doxygen, which takes <tab> for markup and \n for a command; not what is indented, which is code, or a table.
function plain(text) {
    if (text ~ /^ \*     /) {
        return text
    }
    gsub(/\\/, "\\\\\\\\", text)
    gsub(/</, "\\<", text)
    gsub(/#/, "\\#", text)
    return text
}

function trimmed(text) {
    gsub(/^ +| +$/, "", text)
    return text
}

function complain(text) {
    printf "%s:%d: %s: %s\n", FILENAME, FNR, name, text
    bad = 1
}

function has(tag) {
    return doc ~ ("@" tag "[^a-z]")
}

# Every status behind @errors is one.
function check_errors(    text, found) {
    text = doc
    if (!sub(/^.*@errors/, "", text)) {
        return
    }
    sub(/@(param|return|grad|cost|threads|see).*/, "", text)
    while (match(text, /ATTN_E[A-Z_]+/)) {
        found = substr(text, RSTART, RLENGTH)
        if (!(found in is_status)) {
            complain("no such status: " found)
        }
        text = substr(text, RSTART + RLENGTH)
    }
}

function check_rules() {
    if ((returns == "attn_status" || prototype ~ /attn_error \*error/) && !has("errors")) {
        complain("no @errors")
    }
    if (is_operation && FILENAME ~ /\/ops\.h$/ && !has("grad")) {
        complain("no @grad")
    }
    check_errors()
}

# The prototype in `prototype` and its comment in `doc`: what is to be added to the comment.
function rest(    list, n, i, type, param, base, text) {
    list = prototype
    sub(/^[^(]*\(/, "", list)
    sub(/\);.*/, "", list)
    returns = prototype
    sub(/\(.*/, "", returns)
    gsub(/ATTN_API|ATTN_NODISCARD|const /, "", returns)
    name = returns
    sub(/^.*[ *]/, "", name)
    returns = trimmed(substr(returns, 1, length(returns) - length(name)))
    n = list == "void" ? 0 : split(list, params, /,/)
    is_operation = returns == "attn_tensor *" && list ~ /^attn_tape \*t/
    text = ""
    for (i = 1; i <= n; i++) {
        type = trimmed(params[i])
        gsub(/const |\[[^\]]*\]/, "", type)
        gsub(/\*const /, "*", type)
        param = type
        sub(/^.*[ *]/, "", param)
        base = type
        sub(/ .*/, "", base)
        if (doc ~ ("@param " param "[^a-z_0-9]")) {
            continue
        }
        if (type in meaning) {
            text = text " @param " param " " meaning[type]
        } else if (i == 1 && index(name, base "_") == 1) {
            text = text " @param " param " what this is about, of type " base
        }
    }
    if (is_operation && !has("errors") && FILENAME ~ /\/ops\.h$/) {
        text = text " @errors " common_errors
    }
    if (returns != "void" && !has("return")) {
        if (returns == "attn_status") {
            text = text " @return ATTN_OK, or what went wrong"
        } else if (is_operation) {
            text = text " @return the result, owned by t until it is reset; NULL on error"
        }
    }
    return text
}

# Members that are declared together: those before the last, which the comment is behind, are told to be explained there.
function each_alone(    names, n, i, comment, type) {
    comment = substr($0, index($0, ";"))
    n = split(substr($0, 1, index($0, ";") - 1), names, /, */)
    type = names[1]
    sub(/[*]*[a-z_0-9]+$/, "", type)
    $0 = ""
    for (i = 1; i <= n; i++) {
        $0 = $0 (i > 1 ? type : "") names[i] (i < n ? "; /**< with " names[n] " */" : comment)
    }
}

# Prints the comment collected in lines[1..count], with what is missing before its end.
function print_doc(more,    i, line) {
    for (i = 1; i <= count; i++) {
        line = plain(lines[i])
        if (i == count) {
            sub(/ *\*\/ *$/, "", line)
            line = line more " */"
        }
        print line
    }
    count = 0
}

in_first {
    first = first plain($0) "\n"
    in_first = $0 !~ /\*\/ *$/
    if (!check) {
        print
    }
    next
}

/^\/\*\* / {
    in_doc = 1
    count = 0
    doc = ""
}
in_doc {
    lines[++count] = $0
    doc = doc " " $0
    if ($0 ~ /\*\/ *$/) {
        in_doc = 0
    }
    next
}

/^ATTN_API/ || prototype != "" {
    prototype = prototype == "" ? $0 : prototype " " trimmed($0)
    texts[++n_lines] = $0
    if ($0 !~ /;/) {
        next
    }
    if (match(prototype, /; *\/\* .*\*\/$/)) { # the comment behind it: what it returns, or does
        doc = " " substr(prototype, RSTART + 1)
        behind = 1
    } else {
        behind = 0
    }
    more = rest()
    if (check) {
        check_rules()
    } else if (behind) {
        sub(/\/\* /, "/**< " (returns != "void" && !has("return") ? "@return " : ""), texts[n_lines])
        sub(/ \*\/$/, more " */", texts[n_lines])
    }
    if (!check) {
        if (count > 0) {
            print_doc(more)
        }
        for (i = 1; i <= n_lines; i++) {
            print texts[i]
        }
    }
    prototype = doc = ""
    n_lines = count = 0
    next
}

{
    if (count > 0 && !check) {
        print_doc("")
    }
    count = 0
    doc = ""
}
/^(typedef struct|typedef enum|enum).*\{$/ {
    inside = 1
}
/^\}/ {
    inside = 0
}
check {
    # Doxygen lets the values of an enum and the members of a struct in a struct pass.
    if (inside && /^ +[a-zA-Z].*[,;]$/ && $0 !~ /\/\*/ && !in_remark) {
        name = $0
        sub(/^ +/, "", name)
        sub(/[,;]$/, "", name)
        complain("nothing behind it")
    }
    in_remark = (in_remark || /\/\*/) && !/\*\//
    next
}
inside && /ATTN_STATUS_MAP\(/ {
    print statuses
    next
}
inside && /^ +[a-z_0-9 ]+ [*]*[a-z_0-9]+, [^;(]*; *\/\*/ {
    each_alone()
}
inside && /[^ ].* \/\* / {
    sub(/ \/\* /, " /**< ")
}
inside && /^ +\/\* / {
    sub(/\/\* /, "/** ")
}
{
    print
}

END {
    if (check) {
        exit bad
    }
    sub(/^\/\* /, "/** @file\n * ", first)
    printf "%s", first
}

# Completion of attn for bash. Subcommands, options and the words an option knows are read from `attn --help` and
# `attn SUBCOMMAND --help` at the moment they are needed, so they are those of the installed attn.

# Lines "OPTION ARGUMENT" of a subcommand; ARGUMENT is empty for a switch.
_attn_options() {
    "$1" "$2" --help 2>/dev/null | sed -nE -e 's/^ +(-[a-zA-Z]), (--[a-z-]+)(=([^ ]+))?.*/\1 \4\n\2 \4/p;t' -e 's/^ +(--[a-z-]+)(=([^ ]+))?.*/\1 \3/p'
}

_attn_reply() {
    mapfile -t COMPREPLY < <(compgen "$@")
}

_attn_files() {
    compopt -o filenames
    _attn_reply -f -- "$1"
}

# What may stand where an option has ARGUMENT: of a|B|c=D the words a and c=, and files where it names any.
_attn_values() {
    local attn=$1 option=$2 argument=$3 current=$4 word words=() known
    while read -r word; do
        [[ $word =~ ^[a-z0-9][a-z0-9-]*=? ]] && words+=("${BASH_REMATCH[0]}")
    done <<<"${argument//|/$'\n'}"
    if [[ $option == --cmap ]]; then
        mapfile -t -O ${#words[@]} words < <("$attn" heatmap --cmap list 2>/dev/null | sed -E 's/[[:space:]].*//')
    fi
    _attn_reply -W "${words[*]}" -- "$current"
    if [[ $argument =~ FILE|DIR|DATA ]]; then
        known=("${COMPREPLY[@]}")
        _attn_files "$current"
        COMPREPLY+=("${known[@]}")
    fi
}

_attn() {
    local attn=${COMP_WORDS[0]} current=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} subcommand= word option argument
    COMPREPLY=()
    for word in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
        [[ $word != -* ]] && subcommand=$word && break
    done
    if [[ -z $subcommand ]]; then
        _attn_reply -W "$("$attn" --help 2>/dev/null | sed -nE 's/^  ([a-z]+)  .*/\1/p') --help --version" -- "$current"
        return
    fi
    if [[ $current == '=' ]]; then # bash takes --score=dot for three words
        current=
    elif [[ $before == '=' ]]; then
        before=${COMP_WORDS[COMP_CWORD - 2]}
    fi
    while read -r option argument; do
        if [[ $option == "$before" && -n $argument ]]; then
            _attn_values "$attn" "$option" "$argument" "$current"
            return
        fi
    done < <(_attn_options "$attn" "$subcommand")
    if [[ $current == -* ]]; then
        _attn_reply -W "$(_attn_options "$attn" "$subcommand" | sed -nE 's/^(--[a-z-]+) (.*)$/\1 \2/p' | sed -E 's/ .+/=/')" -- "$current"
        [[ ${#COMPREPLY[@]} == 1 && ${COMPREPLY[0]} == *= ]] && compopt -o nospace
        return
    fi
    _attn_files "$current"
}

complete -F _attn attn

# Completion of attn for fish. Subcommands, options and the words an option knows are read from `attn --help` and
# `attn SUBCOMMAND --help` at the moment they are needed, so they are those of the installed attn.

# Lines "SUBCOMMAND<TAB>what it does"
function __attn_subcommands
    attn --help 2>/dev/null | string replace -fr '^  ([a-z]+) +(.*)$' '$1\t$2'
end

# Lines "OPTION<TAB>ARGUMENT<TAB>what it does" of the subcommand on the command line
function __attn_options
    set -l words (commandline -opc)
    attn $words[2] --help 2>/dev/null | string replace -fr '^ +(?:-[a-zA-Z], )?(--[a-z-]+)(?:=(\S+))?\s*(.*)$' '$1\t$2\t$3'
end

function __attn_option_names
    for line in (__attn_options)
        set -l part (string split \t -- $line)
        test -n "$part[2]"; and set part[1] $part[1]=
        printf '%s\t%s\n' $part[1] $part[3]
    end
end

# The long option whose argument is being typed, if any
function __attn_option_before
    set -l current (commandline -ct)
    if string match -qr -- '^--[a-z-]+=' $current
        string replace -r '=.*' '' -- $current
        return
    end
    set -l words (commandline -opc)
    set -l last $words[-1]
    if string match -qr -- '^-[a-zA-Z]$' $last
        set last (attn $words[2] --help 2>/dev/null | string replace -fr "^ +$last, (--[a-z-]+)=.*" '$1')
    end
    contains -- "$last" (string match -r -- '^--[a-z-]+(?=\t[^\t])' (__attn_options)); and echo $last
end

# What may stand there: of a|B|c=D the words a and c=, and files where it names any
function __attn_values
    set -l option (__attn_option_before)
    set -l current (commandline -ct)
    set -l prefix (string match -r -- '^--[a-z-]+=' $current)
    for line in (__attn_options)
        set -l part (string split \t -- $line)
        test "$part[1]" = "$option"; or continue
        for word in (string split '|' -- $part[2])
            string match -qr '^[a-z0-9]' -- $word; and echo "$prefix"(string replace -r '=.*' '=' -- $word)
        end
        if test "$option" = --cmap
            attn heatmap --cmap list 2>/dev/null | string replace -r '\s.*' '' | string replace -r '^' -- "$prefix"
        end
        if string match -qr 'FILE|DIR|DATA' -- $part[2]
            __fish_complete_path (string replace -r -- '^--[a-z-]+=' '' $current) | string replace -r '^' -- "$prefix"
        end
    end
end

function __attn_wants_value
    not __fish_use_subcommand; and set -l option (__attn_option_before); and test -n "$option"
end

function __attn_wants_option
    not __fish_use_subcommand; and not __attn_wants_value; and string match -q -- '-*' (commandline -ct)
end

complete -c attn -n __fish_use_subcommand -f -a '(__attn_subcommands)'
complete -c attn -n __fish_use_subcommand -f -a '--help --version'
complete -c attn -n __attn_wants_value -f -a '(__attn_values)'
complete -c attn -n __attn_wants_option -f -a '(__attn_option_names)'

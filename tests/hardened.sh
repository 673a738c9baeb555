#!/bin/sh
# What an attack would have to get past is in the built files: hardened.sh PROGRAM|LIBRARY...
# Places chosen at load time (a program is position-independent too), tables of addresses bound and sealed at start, no memory that is both
# written and run, guards of the stack, checked copies.
# Of an archive (.a): each object's jumps and returns are checked by processors that can, which on x86 every part of a program must say.
set -eu
failed=0
for file in "$@"; do
    case $file in
    *.a)
        objects=$(readelf --file-header "$file" | grep -c 'Machine: .*X86-64' || true)
        guarded=$(readelf --notes "$file" | grep -c 'IBT, SHSTK' || true)
        [ "$objects" -eq "$guarded" ] || {
            printf '%s: %d of %d objects have guarded jumps and returns (CET)\n' "$file" "$guarded" "$objects"
            failed=1
        }
        continue
        ;;
    esac
    # has WHAT PATTERN READELF-OPTION...
    has() {
        what=$1 pattern=$2
        shift 2
        readelf --wide "$@" "$file" 2>/dev/null | grep -qE "$pattern" || {
            printf '%s: %s\n' "$file" "$what"
            failed=1
        }
    }
    has 'not position-independent' 'Type: +DYN' --file-header
    has 'addresses are not sealed (relro)' 'GNU_RELRO' --program-headers
    has 'addresses are bound late (no BIND_NOW)' 'FLAGS.*NOW' --dynamic
    has 'the stack may be executed' 'GNU_STACK .* RW +0x' --program-headers
    has 'the stack has no guards' '__stack_chk_fail' --syms --dyn-syms
    has 'copies are not checked' '__(mem|str|.*printf|read)[a-z]*_chk' --syms --dyn-syms
done
exit $failed

#!/bin/sh
# isa_features.sh CC DISPATCH.C: whatever the compiler may use under -march=x86-64-v3 and -v4, the choice of the set asks for, save what
# avx2 brings with it. Skipped (77) where the compiler knows no such levels.
set -eu
cc=$1 dispatch=$2

macros() {
    "$cc" "$@" -dM -E - </dev/null | sed -n 's/^#define __\([A-Z][A-Z0-9_]*\)__ 1$/\1/p' | tr 'A-Z' 'a-z' | sort
}

"$cc" -march=x86-64-v4 -E - </dev/null >/dev/null 2>&1 || exit 77 # of a compiler that knows it, x86-64 is one too
with_avx2='avx evex256 evex512 sse3 ssse3 sse4_1 sse4_2 crc32 xsave lahf_sahf'
asked=0
for level in v3 v4; do
    macros -march=x86-64 >isa_baseline.txt
    for feature in $(macros -march=x86-64-$level | comm -13 isa_baseline.txt -); do
        case " $with_avx2 " in *" $feature "*) continue ;; esac
        asked=$((asked + 1))
        grep -qiE "HAS\(\"$feature\"\)|bit_$feature\b" "$dispatch" || {
            echo "$dispatch does not ask for $feature, which $level uses"
            exit 1
        }
    done
done
[ $asked -ge 20 ] || { echo "only $asked features were found in the compiler's macros"; exit 1; }

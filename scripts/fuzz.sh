#!/bin/sh
# Fuzzes every reader with clang's libFuzzer and its sanitizers: sh scripts/fuzz.sh [SECONDS a target, default 300] [TARGET...]
# New inputs that reach new code go to build-fuzz/corpus/TARGET; what crashes, to build-fuzz/crash-TARGET-*. Memory in proportion to the
# input is the targets' own check (tests/fuzz/fuzz.c); the limits here are for what does not go through the library's allocator.
set -eu
cd "$(dirname "$0")/.."
seconds=${1-300}
[ $# -eq 0 ] || shift
flags='-O1 -g -fsanitize=address,undefined -fno-sanitize-recover=all -fsanitize=fuzzer-no-link'
cmake -S . -B build-fuzz -G Ninja -DCMAKE_C_COMPILER=clang -DCMAKE_BUILD_TYPE=Debug -DATTN_OPENMP=OFF -DATTN_FUZZ=ON -DCMAKE_C_FLAGS="$flags" >/dev/null
cmake --build build-fuzz --target fuzz >build-fuzz/build.log || { cat build-fuzz/build.log; exit 2; }
# shellcheck disable=SC2046
[ $# -gt 0 ] || set -- $(sed -n 's/^TARGET(\([a-z0-9_]*\),.*/\1/p' tests/fuzz/targets.def)
for target in "$@"; do
    mkdir -p "build-fuzz/corpus/$target"
    dictionary=
    [ ! -e "tests/fuzz/$target.dict" ] || dictionary=-dict=tests/fuzz/$target.dict
    printf '%s: ' "$target"
    # shellcheck disable=SC2086
    if ! ATTN_FUZZ=$target build-fuzz/fuzz -max_total_time="$seconds" -max_len=65536 -malloc_limit_mb=128 -rss_limit_mb=512 -timeout=20 \
        -print_final_stats=1 -artifact_prefix="build-fuzz/crash-$target-" $dictionary "build-fuzz/corpus/$target" "tests/fuzz/seeds/$target" \
        >"build-fuzz/$target.log" 2>&1; then
        tail -n 30 "build-fuzz/$target.log"
        exit 1
    fi
    sed -n 's/^stat::number_of_executed_units: */inputs /p' "build-fuzz/$target.log"
done

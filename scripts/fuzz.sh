#!/bin/sh
# Fuzzes every reader with clang's libFuzzer and its sanitizers: sh scripts/fuzz.sh [SECONDS a target, default 300] [TARGET...]
# Seconds are of the processor, so that they mean the same on a busy machine; libFuzzer knows only those of the clock and judges nothing by them.
# New inputs that reach new code go to build-fuzz/corpus/TARGET; what crashes, to build-fuzz/crash-TARGET-*. Memory in proportion to the input is
# the targets' own check (tests/fuzz/fuzz.c); the limits here are for what does not go through the library's allocator or jansson's.
set -eu
cd "$(dirname "$0")/.."
seconds=${1-300}
[ $# -eq 0 ] || shift
flags='-O1 -g -fsanitize=address,undefined -fno-sanitize-recover=all -fsanitize=fuzzer-no-link'
cmake -S . -B build-fuzz -G Ninja -DCMAKE_C_COMPILER=clang -DCMAKE_BUILD_TYPE=Debug -DATTN_OPENMP=OFF -DATTN_FUZZ=ON -DCMAKE_C_FLAGS="$flags" >/dev/null
cmake --build build-fuzz --target fuzz >build-fuzz/build.log || { cat build-fuzz/build.log; exit 2; }
[ $# -gt 0 ] || set -- $(sed -n 's/^TARGET(\([a-z0-9_]*\),.*/\1/p' tests/fuzz/targets.def)

# used PID: its seconds of the processor; nothing if it has ended
used() {
    ps -o cputimes= -p "$1" | tr -d ' '
}

failed=0
for target in "$@"; do
    mkdir -p "build-fuzz/corpus/$target"
    dictionary=
    [ ! -e "tests/fuzz/$target.dict" ] || dictionary=-dict=tests/fuzz/$target.dict
    printf '%s: ' "$target"
    # shellcheck disable=SC2086
    ATTN_FUZZ=$target nice -n 19 build-fuzz/fuzz -max_len=65536 -malloc_limit_mb=128 -rss_limit_mb=1024 -timeout=3600 -report_slow_units=3600 -print_final_stats=1 \
        -artifact_prefix="build-fuzz/crash-$target-" $dictionary "build-fuzz/corpus/$target" "tests/fuzz/seeds/$target" \
        >"build-fuzz/$target.log" 2>&1 &
    pid=$!
    while now=$(used $pid) && [ -n "$now" ]; do
        [ "$now" -lt "$seconds" ] || kill -USR1 $pid # it ends after the current input,
        [ "$now" -lt $((seconds + 60)) ] || kill -ABRT $pid # unless that one takes too long: then it is kept
        sleep 2
    done
    if wait $pid; then
        sed -n 's/^stat::number_of_executed_units: */inputs /p' "build-fuzz/$target.log"
    else
        tail -n 30 "build-fuzz/$target.log"
        failed=1
    fi
done
exit $failed

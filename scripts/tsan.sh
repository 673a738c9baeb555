#!/bin/sh
# Data races: clang's ThreadSanitizer, with LLVM's OpenMP and its tool Archer, so that OpenMP is understood: sh scripts/tsan.sh
# Packages: clang, libomp-14-dev.
set -eu
cd "$(dirname "$0")/.."
archer=$(find /usr/lib/llvm-*/lib -name libarcher.so | head -n 1)
[ -n "$archer" ] || { printf 'tsan.sh: there is no libarcher.so, which libomp-14-dev has\n' >&2; exit 2; }
tests='threads matmul products fused attention training predict_threads callers'
cmake -S . -B build-tsan -G Ninja -DCMAKE_C_COMPILER=clang -DCMAKE_BUILD_TYPE=RelWithDebInfo -DATTN_HARDEN=OFF -DCMAKE_C_FLAGS='-O1 -fsanitize=thread' >/dev/null
targets=attn
for test in $tests; do
    targets="$targets test_$test"
done
# shellcheck disable=SC2086
cmake --build build-tsan --target $targets >/dev/null
export OMP_TOOL_LIBRARIES="$archer" OMP_NUM_THREADS=3
export TSAN_OPTIONS="ignore_noninstrumented_modules=1 suppressions=$PWD/scripts/tsan.supp"
for target in $targets; do
    [ "$target" != attn ] || continue
    printf '%s: ' "$target"
    (cd build-tsan && "./$target") >build-tsan/log.txt 2>&1 || { cat build-tsan/log.txt; exit 1; }
    printf 'no race\n'
done
printf 'attn train: '
build-tsan/attn train data/zh.train.tsv -o build-tsan/model.safetensors --epochs 2 --quiet --threads 3
printf 'no race\n'

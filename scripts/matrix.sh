#!/bin/sh
# Every way to build: sh scripts/matrix.sh [gcc|clang]...   Each compiler, Debug and Release, with and without OpenMP: the suite on the static
# library, and the shared one with its tool; then one compiler command without a build system. Results stand in build-matrix/.
# Not repeated: the browser, the documentation, and what tests the lower instruction sets. The tests that take longest run for gcc, Debug, with
# OpenMP alone; for all of them eight times this would take hours.
set -eu
cd "$(dirname "$0")/.."
jobs=$(getconf _NPROCESSORS_ONLN 2>/dev/null || echo 2)
log=build-matrix/log.txt
failed=0
mkdir -p build-matrix

# build FOLDER OPTION...
build() {
    folder=$1
    shift
    cmake -S . -B "$folder" -G Ninja -DATTN_WERROR=ON -DCMAKE_C_COMPILER="$compiler" -DCMAKE_BUILD_TYPE="$type" -DATTN_OPENMP="$openmp" "$@" &&
        cmake --build "$folder" --parallel "$jobs"
}

long='fused|fused_bits|matmul|matmul_blas|products|tiles|tiles_scores|threads|vector_math|attention_(tails|extremes|padding|random|composition|cache|gradcheck)
|faults_.*|cli_faults|fuzz_.*|cli_predict|cli_train|cli_explain|soak'

static_suite() {
    left="_(baseline|v3)$"
    [ "$compiler-$type-$openmp" = gcc-Debug-ON ] || left="$left|^($(printf '%s' "$long" | tr -d '\n'))$"
    build "$1" && OMP_WAIT_POLICY=passive ctest --test-dir "$1" --label-exclude 'browser|docs' -E "$left" --parallel "$jobs" --output-on-failure
}

shared_tool() {
    build "$1" -DBUILD_SHARED_LIBS=ON -DATTN_TESTS=OFF && "$1/attn" gradcheck --quiet
}

by_hand() {
    mkdir -p "$1"
    # shellcheck disable=SC2046
    "$compiler" -Wall -Werror -Wno-unused-function -Iinclude -Isrc $(find src -name '*.c') $(pkg-config --cflags --libs libutf8proc jansson stb) -lm -o "$1/attn" && "$1/attn" gradcheck --quiet
}

# run FUNCTION NAME
run() {
    printf '%-40s ' "$2"
    if "$1" "build-matrix/$2" >$log 2>&1; then
        sed -n 's/^100% tests passed, .* out of \([0-9]*\)$/\1 tests /p' $log | tr -d '\n'
        printf 'ok\n'
    else
        printf 'FAILED\n'
        tail -n 60 $log
        failed=1
    fi
}

[ $# -gt 0 ] || set -- gcc clang
for compiler in "$@"; do
    for type in Debug Release; do
        for openmp in ON OFF; do
            run static_suite "$compiler-$type-openmp-$openmp-static"
            run shared_tool "$compiler-$type-openmp-$openmp-shared"
        done
    done
    run by_hand "$compiler-by-hand"
done
exit $failed

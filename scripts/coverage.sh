#!/bin/sh
# Which lines and branches of src/ the tests reach: sh scripts/coverage.sh [--again]
# The suite on a build that counts (gcc -O1, or it would take hours), without the browser, the documentation, the tests that repeat others on lower
# instruction sets, and those that take longest: they go through a great many sizes, and reach hardly a line that the others do not. Ends with
# status 1 if a test fails or a total is below the bounds. --again shows what an earlier run counted.
# build-coverage/files.txt lists the files and what is not reached, build-coverage/lines/index.html shows every line.
# Package: gcovr.
set -eu
cd "$(dirname "$0")/.."
jobs=$(getconf _NPROCESSORS_ONLN 2>/dev/null || echo 2)
build="build-coverage"
if [ "${1-}" != --again ]; then
    # Atomic, since threads count too: lost counts would make gcov subtract below zero.
    cmake -S . -B $build -G Ninja -DCMAKE_C_COMPILER=gcc -DCMAKE_BUILD_TYPE=Debug -DCMAKE_C_FLAGS='-O1 --coverage -fprofile-update=atomic' >/dev/null
    cmake --build $build --parallel "$jobs" >$build/build.txt || { tail -n 50 $build/build.txt; exit 2; }
    find $build -name '*.gcda' -delete
    left='_(baseline|v3)$|^(fused|fused_bits|matmul_blas|vector_math|attention_(tails|extremes|padding|random|composition|cache|gradcheck)|soak|fuzz_.*)$'
    OMP_WAIT_POLICY=passive ctest --test-dir $build --label-exclude 'browser|docs' -E "$left" --parallel "$jobs" --output-on-failure >$build/tests.txt ||
        { tail -n 100 $build/tests.txt; exit 1; }
fi
mkdir -p $build/lines
# Branches that no source line has are the compiler's, and C throws nothing; a page's scripts as arrays have no lines that run.
gcovr --root . --filter src/ --exclude src/html/embedded/ --exclude-unreachable-branches --exclude-throw-branches -j "$jobs" $build/src \
    --sort-percentage --html-details $build/lines/index.html --json $build/counts.json >/dev/null
gcovr --root . --add-tracefile $build/counts.json --txt $build/files.txt
gcovr --root . --add-tracefile $build/counts.json --sort-percentage --branches --txt $build/branches.txt
gcovr --root . --add-tracefile $build/counts.json --print-summary --fail-under-line 95 --fail-under-branch 85 --txt /dev/null

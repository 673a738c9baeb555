#!/bin/sh
# Static analysers over src/: sh scripts/analyse.sh [gcc|clang-tidy|cppcheck]...   Without names: all of them.
# What they find is an error. What they need not say stands, with its reason, in .clang-tidy and scripts/cppcheck.supp.
# Packages: clang-tidy-14, cppcheck.
set -eu
cd "$(dirname "$0")/.."
jobs=$(getconf _NPROCESSORS_ONLN 2>/dev/null || echo 2)
build="build-analyse"
mkdir -p $build

# Not asked of gcc 12: whether a shift is too wide (it takes the lanes of a vector for its bits), whether something was filled before it is used (it
# does not see that a loop fills an array), and what leaks (it loses what stands in an array that realloc has grown). clang-tidy looks for the
# last two, and the tests run under the leak sanitizer.
gcc_flags='-fanalyzer -Wno-analyzer-shift-count-overflow -Wno-analyzer-use-of-uninitialized-value -Wno-analyzer-malloc-leak'

configure() {
    cmake -S . -B $build -G Ninja -DCMAKE_C_COMPILER=gcc -DCMAKE_BUILD_TYPE=Debug -DATTN_WERROR=ON -DATTN_TESTS=OFF \
        -DCMAKE_EXPORT_COMPILE_COMMANDS=ON -DCMAKE_C_FLAGS="$gcc_flags" >$build/log.txt
}

analyse_gcc() {
    cmake --build $build --parallel "$jobs" -- -k 0 >$build/gcc.txt 2>&1 || { cat $build/gcc.txt; return 1; }
}

# clang does not know gcc's flags, and would say so for every file.
analyse_clang_tidy() {
    mkdir -p $build/clang
    sed "s/ $gcc_flags//" $build/compile_commands.json >$build/clang/compile_commands.json
    run-clang-tidy-14 -quiet -p $build/clang -j "$jobs" "$PWD/src/.*\.c$" >$build/clang-tidy.txt 2>&1 || { grep -vE '^(clang-tidy|[0-9]+ warnings)' $build/clang-tidy.txt; return 1; }
}

analyse_cppcheck() {
    mkdir -p $build/cppcheck
    cppcheck --quiet --project=$build/compile_commands.json --cppcheck-build-dir=$build/cppcheck -j "$jobs" --std=c11 --error-exitcode=1 \
        --enable=warning,performance,portability --inconclusive --suppressions-list=scripts/cppcheck.supp --template=gcc
}

[ $# -gt 0 ] || set -- gcc clang-tidy cppcheck
configure
for analyser in "$@"; do
    printf '== %s\n' "$analyser"
    "analyse_$(printf '%s' "$analyser" | tr - _)"
done

#!/bin/sh
# Every check of the project: sh scripts/test.sh [--quick|--torch]
# First the short ones (style, a second compiler, sanitizers, other ways to build), each under a heading and silent while all is well;
# then the whole test suite on the Release build. --quick runs the last alone; --torch computes the reference data of the tests again with
# PyTorch, compares it with what is stored, and runs the test that uses it. Builds go into build-test/.
set -eu
cd "$(dirname "$0")/.."

# Tests in a browser, which see only the bytes of pages, and those of the documentation run once, on the Release build.
no_pages='--label-exclude browser|docs'

# Tests that touch every layer in seconds, for valgrind. Not among them: what forks (the child's exit looks like a leak) and what needs the
# 80-bit long double, which valgrind has not.
quick='core arena params random tape ops ops_lookup ops_errors kernels masks masks_cases gradcheck attention attention_errors attention_masks
optim clip utf8 corpus corpus_folder scores evaluation predictions safetensors safetensors_hostile checkpoint matrix_files npy cmap text heatmap terminal export page'

jobs=$(getconf _NPROCESSORS_ONLN 2>/dev/null || echo 2)
log=build-test/log.txt
running=
export CMAKE_GENERATOR=Ninja # for a new build folder; an old one keeps its own
export CTEST_OUTPUT_ON_FAILURE=1
export CTEST_PARALLEL_LEVEL=$jobs
export OMP_WAIT_POLICY=passive # threads that spin while they wait make a busy machine ten times slower

have_command() {
    command -v "$1" >/dev/null 2>&1
}

# stage HEADING COMMAND...: shows the command's output only if it fails, and then nothing else is run (by set -e and the trap below).
stage() {
    running=$1
    shift
    printf '== %s\n' "$running"
    "$@" >"$log" 2>&1
    running=
}

# needs COMMAND HEADING COMMAND...: a stage that is skipped where its tool is not there
needs() {
    if have_command "$1"; then
        shift
        stage "$@"
    else
        printf '== %s: skipped, there is no %s\n' "$2" "$1"
    fi
}

exec 3>&1
report_failure() {
    if [ -n "$running" ]; then
        tail -n 200 "$log" >&3
        printf 'test.sh: failed: %s (whole output: %s)\n' "$running" "$log" >&3
    fi
}
trap report_failure EXIT

# build NAME OPTION...: configures and builds build-test/NAME, warnings being errors
build() {
    folder=build-test/$1
    shift
    cmake -S . -B "$folder" -DATTN_WERROR=ON "$@"
    cmake --build "$folder" --parallel "$jobs"
}

formatting() {
    find . -path './build*' -prune -o \( -name '*.[ch]' -o -name '*.inc' \) -exec clang-format-14 --dry-run -Werror {} +
}

# Every public header stands alone, in C and in C++.
headers() {
    for header in include/attn/*.h; do
        if ! grep -q -e '^extern "C" {' -e '^#include "attn/heatmap.h"' "$header"; then
            printf '%s: no extern "C"\n' "$header"
            exit 1
        fi
        for language in 'c -std=c17 -Wpedantic' 'c++ -std=c++17'; do
            # shellcheck disable=SC2086
            printf '#include "%s"\n' "${header#include/}" | cc -x $language -Wall -Wextra -Werror -Iinclude -fsyntax-only -
        done
    done
}

# No build system: one compiler command makes a program of the library's sources; the files for newer processors compile to nothing.
bare_compiler() {
    # shellcheck disable=SC2046
    cc -std=c17 -D_POSIX_C_SOURCE=200809L -Iinclude -Isrc $(find src -name '*.c' ! -path 'src/cli/*') tests/linkage/use.c \
        -o build-test/bare $(pkg-config --cflags --libs libutf8proc jansson stb) -lm
    build-test/bare
}

# The lower instruction sets are tested in the Release build. LLVM's OpenMP ends the process when memory for itself runs out.
clang_build() {
    build clang -DCMAKE_C_COMPILER=clang
    # shellcheck disable=SC2086
    ctest --test-dir build-test/clang $no_pages -E '_(baseline|v3)$|^(faults_.*|cli_faults)$'
}

# fused_bits compares threads and the order of work.
serial_build() {
    build serial -DCMAKE_BUILD_TYPE=RelWithDebInfo -DATTN_OPENMP=OFF
    # shellcheck disable=SC2086
    ctest --test-dir build-test/serial $no_pages -E '_(baseline|v3)$|^fused_bits$'
}

# On the build without threads, which the OpenMP runtime keeps until the end and which would look like leaks.
valgrind_quick() {
    (
        cd build-test/serial/tests
        # shellcheck disable=SC2086
        printf '../test_%s\n' $quick |
            xargs -n 1 -P "$jobs" valgrind --quiet --error-exitcode=9 --leak-check=full --errors-for-leak-kinds=definite,indirect
    )
}

# -O2: at -O1, kernels on vectors take three times as long.
sanitizers() {
    build sanitizers -DCMAKE_BUILD_TYPE=Debug -DCMAKE_C_FLAGS='-O2 -fsanitize=address,undefined -fno-sanitize-recover=all'
    # Of the lower instruction sets what is quick: kernels, tiles, products. fused_bits goes nowhere that fused does not.
    # shellcheck disable=SC2086
    UBSAN_OPTIONS=print_stacktrace=1 ctest --test-dir build-test/sanitizers $no_pages -E '^(fused|matmul_blas|attention_.*|reports_.*)_(baseline|v3)$|^fused_bits'
}

# only_names PATTERN NM...: every global symbol that the command (an nm) lists as defined matches the pattern
only_names() {
    pattern=$1
    shift
    "$@" --extern-only --defined-only >build-test/symbols.txt
    awk -v pattern="$pattern" '
        NF == 3 { n++ }
        NF == 3 && $3 !~ pattern { print $3 " does not match " pattern; bad = 1 }
        END { if (!n) print "no symbol found"; exit bad || !n }' build-test/symbols.txt
}

# installed NAME: outside programs in C and C++ find the library of build-test/NAME through CMake and through pkg-config.
installed() {
    prefix=$PWD/build-test/installed-$1
    rm -rf "$prefix" "build-test/linkage-$1"
    cmake --install "build-test/$1" --prefix "$prefix"
    cmake -S tests/linkage -B "build-test/linkage-$1" -DCMAKE_PREFIX_PATH="$prefix"
    cmake --build "build-test/linkage-$1"
    "build-test/linkage-$1/use_from_c"
    "build-test/linkage-$1/use_from_cxx"
    export PKG_CONFIG_PATH="$prefix/lib/pkgconfig"
    # shellcheck disable=SC2046
    cc tests/linkage/use.c -o "build-test/linkage-$1/use" $(pkg-config --cflags --libs attn) -Wl,-rpath,"$prefix/lib"
    "build-test/linkage-$1/use"
    "$prefix/bin/attn" info
}

# With debug information, which tells the types behind the symbols.
shared_library() {
    build shared -DCMAKE_BUILD_TYPE=RelWithDebInfo -DBUILD_SHARED_LIBS=ON -DATTN_TESTS=OFF -DCMAKE_INSTALL_LIBDIR=lib
    only_names '^attn_[^_]' nm --dynamic build-test/shared/src/libattn.so
    version=$(sed -n 's/^#define ATTN_VERSION_M[A-Z]* \([0-9]*\).*/\1/p' include/attn/status.h | paste -s -d .)
    readelf --dynamic build-test/shared/src/libattn.so | grep "SONAME.*\[libattn\.so\.$version\]"
    sh tests/hardened.sh build-test/shared/attn build-test/shared/src/libattn.so
    installed shared
}

release_build() {
    build release -DCMAKE_BUILD_TYPE=Release -DCMAKE_INSTALL_LIBDIR=lib
}

static_library() {
    only_names '^attn_' nm build-test/release/src/libattn.a
    installed release
}

# The suite runs some tests once more with each instruction set (their names end in it); here all the others see the plainest one.
baseline_kernels() {
    again=$(ctest --test-dir build-test/release --show-only | sed -n 's/^ *Test *#[0-9]*: \(.*\)_baseline$/\1/p' | paste -s -d '|')
    [ -n "$again" ]
    # shellcheck disable=SC2086
    ATTN_ISA=baseline ctest --test-dir build-test/release $no_pages -E "_(baseline|v3)\$|^($again)\$"
}

# The system's python3, for which Debian packages PyTorch, not another one that is first in the path.
pytorch_again() {
    /usr/bin/python3 tests/reference/attention_torch.py check tests/reference/attention
}

if [ "${1-}" = --torch ]; then
    sh scripts/setup.sh --torch
else
    sh scripts/setup.sh --tests
fi
mkdir -p build-test
case ${1-} in
'')
    needs clang-format-14 'Formatting' formatting
    needs cppcheck 'cppcheck' sh scripts/analyse.sh cppcheck
    stage 'Public headers stand alone, in C and in C++' headers
    stage 'One compiler command, no build system' bare_compiler
    needs clang 'clang, tests' clang_build
    stage 'Without OpenMP, tests' serial_build
    needs valgrind 'valgrind, the quick tests' valgrind_quick
    stage 'Address and undefined-behaviour sanitizers, tests' sanitizers
    stage 'Shared library, installed and used from outside' shared_library
    needs abidiff "Binary interface, compared with the one that is kept" sh scripts/abi.sh build-test/shared/src/libattn.so
    ;;
--quick) ;;
--torch)
    printf '== PyTorch again\n'
    pytorch_again
    stage 'Release build' release_build
    printf '== The library against PyTorch\n'
    ctest --test-dir build-test/release --no-tests=error --verbose -R '^reference'
    exit
    ;;
*)
    printf 'test.sh: unknown option %s, expected --quick, --torch or nothing\n' "$1" >&2
    exit 2
    ;;
esac
stage 'Release build' release_build
if [ -z "${1-}" ]; then
    stage 'Static library, installed and used from outside' static_library
    stage 'Kernels without AVX, all tests' baseline_kernels
fi
printf '== All tests\n'
ctest --test-dir build-test/release --output-on-failure

#!/bin/sh
# The binary interface of the shared library against the one that is kept: sh scripts/abi.sh [--renew | LIBRARY]
# A program linked yesterday must run with today's library: a difference needs a new SONAME (the minor version, before 1.0) and --renew, and
# additions need --renew alone. LIBRARY is one built with -g and -DBUILD_SHARED_LIBS=ON; without it, one is built.
# Package: abigail-tools.
set -eu
cd "$(dirname "$0")/.."
kept=tests/linkage/libattn-x86_64.abi
case ${1-} in
'' | --renew)
    cmake -S . -B build-abi -G Ninja -DCMAKE_C_COMPILER=gcc -DCMAKE_BUILD_TYPE=RelWithDebInfo -DBUILD_SHARED_LIBS=ON -DATTN_TESTS=OFF >/dev/null
    cmake --build build-abi --target attn >/dev/null
    library=build-abi/src/libattn.so
    ;;
*) library=$1 ;;
esac
found=$(dirname "$library")/found.abi
abidw --headers-dir include --drop-private-types --exported-interfaces-only --no-show-locs --no-corpus-path --no-comp-dir-path \
    --no-elf-needed --no-parameter-names --no-write-default-sizes --out-file "$found" "$library"
sed -i "s|path='$PWD/|path='|" "$found" # what is kept is the same wherever it was made
if [ "${1-}" = --renew ]; then
    cp "$found" "$kept"
else
    abidiff "$kept" "$found"
fi

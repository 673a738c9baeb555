#!/bin/sh
# The whole suite for aarch64 (its NEON vectors) under qemu, on Debian for another processor: sh scripts/aarch64.sh [TEST-REGEX]
# Installs a cross compiler, qemu and the libraries of that architecture. Slow: every instruction is emulated.
set -eu
cd "$(dirname "$0")/.."
packages='gcc-aarch64-linux-gnu libc6-dev-arm64-cross qemu-user libutf8proc-dev:arm64 libjansson-dev:arm64 libfontconfig-dev:arm64 libcmocka-dev:arm64 libgomp1:arm64'
if ! command -v aarch64-linux-gnu-gcc >/dev/null || ! command -v qemu-aarch64 >/dev/null || [ ! -e /usr/lib/aarch64-linux-gnu/libcmocka.so ]; then
    dpkg --add-architecture arm64
    apt-get update -qq
    # shellcheck disable=SC2086
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $packages
fi

# Not here: the browser, which is none of this processor's; the lower instruction sets, of which it has none, so that they would repeat others;
# "hardened", which reads the program itself and is run below; "docs_tutorial", which starts programs that it has compiled itself; and
# "cli_outputs", which gives the tool so little memory that qemu has none. The other tests that compile do not start what they make.
without='^(hardened|docs_tutorial|cli_outputs)$|_(baseline|v3)$'

build="build-aarch64"
programs=$build/programs
jobs=$(getconf _NPROCESSORS_ONLN 2>/dev/null || echo 2)
export PKG_CONFIG_LIBDIR=/usr/lib/aarch64-linux-gnu/pkgconfig:/usr/share/pkgconfig
mkdir -p $programs
for program in "$programs"/*; do # back, so that what has not changed is not linked again
    [ ! -e "$program" ] || mv "$program" $build/
done
cmake -S . -B $build -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_SYSTEM_NAME=Linux -DCMAKE_SYSTEM_PROCESSOR=aarch64 \
    -DCMAKE_C_COMPILER=aarch64-linux-gnu-gcc -DCMAKE_CROSSCOMPILING_EMULATOR=
cmake --build $build --parallel "$jobs"
sh tests/hardened.sh $build/attn

# Tests and their scripts start programs; in the place of each, a script of its name starts it under qemu.
for program in "$build"/*; do
    if [ -f "$program" ] && readelf --file-header "$program" 2>/dev/null | grep -q AArch64; then
        mv "$program" $programs/
        printf '#!/bin/sh\nexec qemu-aarch64 "%s/%s/%s" "$@"\n' "$PWD" $programs "${program##*/}" >"$program"
        chmod +x "$program"
    fi
done
OMP_WAIT_POLICY=passive ctest --test-dir $build --output-on-failure --timeout 7200 --parallel "$jobs" --label-exclude browser -E "$without" ${1:+-R "$1"}

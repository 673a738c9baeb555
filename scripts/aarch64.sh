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
export PKG_CONFIG_LIBDIR=/usr/lib/aarch64-linux-gnu/pkgconfig:/usr/share/pkgconfig
cmake -S . -B build-aarch64 -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_SYSTEM_NAME=Linux -DCMAKE_SYSTEM_PROCESSOR=aarch64 \
    -DCMAKE_C_COMPILER=aarch64-linux-gnu-gcc -DCMAKE_CROSSCOMPILING_EMULATOR=qemu-aarch64
cmake --build build-aarch64
ctest --test-dir build-aarch64 --output-on-failure --timeout 7200 ${1:+-R "$1"}

#!/bin/sh
# The Debian source package and its binaries, built by dpkg-buildpackage in a copy of the tracked files, and lintian over all of them, whose
# errors are errors; then the tool and the library of the packages at work: sh scripts/package.sh
# Everything is left in build-package/. Packages: dpkg-dev, debhelper, fakeroot, lintian.
set -eu
cd "$(dirname "$0")/.."
root=$PWD
work=$root/build-package
rm -rf "$work"
mkdir -p "$work/attn" "$work/unpacked"
git ls-files -z | xargs -0 tar -c | tar -x -C "$work/attn"
cd "$work/attn"
dpkg-buildpackage --no-sign >"$work/build.txt" 2>&1 || { tail -n 50 "$work/build.txt"; exit 1; }
cd "$work"
lintian --allow-root --fail-on error --display-info ./*.changes >lintian.txt 2>&1 || { cat lintian.txt; exit 1; }
cat lintian.txt

for package in ./*.deb; do
    dpkg-deb -x "$package" unpacked
done
library=$(dirname "$(find unpacked -name libattn.so)")
sh "$root/tests/hardened.sh" "unpacked/usr/bin/attn" "$library/libattn.so"
LD_LIBRARY_PATH=$library unpacked/usr/bin/attn gradcheck --quiet
# shellcheck disable=SC2046
cc "$root/tests/linkage/use.c" -o use $(PKG_CONFIG_PATH=$library/pkgconfig pkg-config --cflags --libs attn)
LD_LIBRARY_PATH=$library ./use
ls ./*.dsc ./*.deb

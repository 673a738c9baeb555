#!/bin/sh
# Installs what building (and with --tests, testing) needs and is not there yet: sh scripts/setup.sh [--tests|--browser|--torch|--bench|--checks]
# --browser adds to --tests a browser and what drives it, --torch what computes the tests' reference data again; --bench installs what speed is
# compared with; --checks what scripts/analyse.sh, coverage.sh and package.sh need. --tests tries the browser too, but can do without it.
# Says nothing if nothing is missing. Where it cannot install, it names the packages and exits 2.
set -eu

# The one list of packages, under their Debian names: stage, package, how to see that it is there, what it is for.
# A line marked "extra" serves a check that is skipped without it.
packages() {
    cat <<'LIST'
build build-essential     header:stdlib.h               C compiler, C library
build cmake               command:cmake                 configures the build, runs the tests
build ninja-build         command:ninja                 builds
build pkg-config          command:pkg-config            finds the libraries below
build libstb-dev          header:stb/stb_image_write.h  writes PNG, draws glyphs
build libutf8proc-dev     library:libutf8proc           validates UTF-8, finds what belongs to one character
build libjansson-dev      library:jansson               reads and writes JSON
build libfontconfig-dev   library:fontconfig            finds a font that has the characters of a heatmap
build fontconfig          command:fc-list               keeps the list of fonts
build fonts-wqy-microhei  font:zh-cn                    Chinese characters in heatmaps
build fonts-dejavu-core   font:en                       Latin letters and digits in heatmaps
tests libcmocka-dev       library:cmocka                unit tests
tests python3             command:python3               checks files against independent readers, runs what the documentation shows
extra valgrind            command:valgrind              finds reads of unset memory
extra libc6-dbg           package:libc6-dbg             lets valgrind see into the C library
extra pngcheck            command:pngcheck              reads PNG more strictly than most programs
extra python3-numpy       package:python3-numpy         a second reader and writer of .npy files
extra libopenblas-openmp-dev library:openblas          computes matrix products independently
extra mandoc              command:mandoc                checks the manual pages
extra doxygen             command:doxygen               makes a manual of the headers, and finds what they leave unsaid
extra zsh                 command:zsh                   completes attn's options in the tests
extra fish                command:fish                  completes attn's options in the tests
extra clang               command:clang                 a second compiler's warnings
extra clang-format-14     command:clang-format-14       checks the formatting, of which versions differ
extra cppcheck            command:cppcheck              analyses the sources
extra abigail-tools       command:abidiff               compares the library's binary interface with the one that is kept
checks clang-tidy-14      command:clang-tidy-14         analyses the sources, for minutes
checks gcovr              command:gcovr                 tells which lines and branches the tests reach
checks dpkg-dev           command:dpkg-buildpackage     builds the Debian packages
checks debhelper          command:dh                    builds the Debian packages
checks fakeroot           command:fakeroot              builds the Debian packages
checks lintian            command:lintian               checks the Debian packages
browser chromium          command:chromium              shows the pages that attn writes
browser nodejs            command:node                  runs the tests of the pages
browser npm               command:npm                   installs playwright-core, which drives the browser, into tests/html
torch python3-torch       package:python3-torch         computes attention and its gradients independently
bench libopenblas0-openmp package:libopenblas0-openmp   makes PyTorch as fast as it can be: matrix products
bench libtcmalloc-minimal4 package:libtcmalloc-minimal4 makes PyTorch as fast as it can be: memory
LIST
}

fail() {
    printf 'setup: %s\n' "$*" >&2
    exit 2
}

have_command() {
    command -v "$1" >/dev/null 2>&1
}

# is_there KIND:NAME
is_there() {
    name=${1#*:}
    case $1 in
    command:*) have_command "$name" ;;
    header:*) printf '#include <%s>\n' "$name" | cc -E -x c - >/dev/null 2>&1 ;;
    library:*) pkg-config --exists "$name" 2>/dev/null ;;
    font:*) fc-list ":lang=$name" file 2>/dev/null | grep -q . ;;
    package:*) ! have_command dpkg-query || dpkg-query -W -f '${Status}' "$name" 2>/dev/null | grep -q 'ok installed' ;;
    esac
}

# missing STAGE...: the lines of the list whose package is not there
missing() {
    packages | while read -r stage package sign purpose; do
        case " $* " in
        *" $stage "*) is_there "$sign" || printf '%s %s %s\n' "$stage" "$package" "$purpose" ;;
        esac
    done
}

as_root() {
    if [ "$(id -u)" -eq 0 ]; then
        "$@"
    else
        sudo "$@"
    fi
}

may_install() {
    have_command apt-get && { [ "$(id -u)" -eq 0 ] || have_command sudo; }
}

# From npm, since Debian has no package of it; the version is that of tests/html/package-lock.json, and no browser comes with it.
install_playwright() {
    have_command npm || return 1
    installed=$(find tests/html/node_modules/playwright-core/package.json -newer tests/html/package-lock.json 2>/dev/null || true)
    [ -z "$installed" ] || return 0
    printf 'setup: installing playwright-core\n'
    npm --prefix tests/html ci --ignore-scripts --no-audit --no-fund >/dev/null </dev/null &&
        touch tests/html/node_modules/playwright-core/package.json
}

stages=build optional=extra
case ${1-} in
'') ;;
--tests) stages='build tests extra browser' optional='extra|browser' ;;
--browser) stages='build tests extra browser' ;;
--torch) stages='build tests extra browser torch' optional='extra|browser' ;;
--bench) stages='build torch bench' ;;
--checks) stages='build tests extra checks' ;;
*) fail "unknown option $1, expected --tests, --browser, --torch, --bench, --checks or nothing" ;;
esac

# install_packages: what is missing of the stages. Word splitting is wanted wherever $stages is used.
# shellcheck disable=SC2086
install_packages() {
    lines=$(missing $stages)
    if [ -n "$lines" ] && may_install; then
        names=$(printf '%s\n' "$lines" | cut -d ' ' -f 2)
        printf 'setup: installing %s\n' "$(printf '%s' "$names" | tr '\n' ' ')"
        as_root apt-get update -qq </dev/null
        as_root env DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends $names </dev/null >/dev/null
        lines=$(missing $stages)
    fi
}

cd "$(dirname "$0")/.."
install_packages
required=$(printf '%s\n' "$lines" | grep -vE "^($optional) |^$" || true)
if [ -n "$required" ]; then
    printf '%s\n' "$required" | while read -r stage package purpose; do
        printf 'setup: missing %-19s %s\n' "$package" "$purpose" >&2
    done
    fail 'install these (the names are those of Debian 12) and try again'
fi
case $stages in
*browser*)
    install_playwright || [ "$optional" != extra ] || fail 'playwright-core could not be installed (npm ci in tests/html)'
    ;;
esac

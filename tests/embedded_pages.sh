#!/bin/sh
# The scripts and styles of pages are in the library as they are in src/html. Usage: embedded_pages.sh SOURCE_FOLDER
set -eu
rm -rf embedded_pages.d
mkdir embedded_pages.d
here=$PWD
sh "$1/scripts/embed_pages.sh" "$here/embedded_pages.d"
diff -r "$1/src/html/embedded" embedded_pages.d || {
    echo 'src/html/embedded is not what src/html/*.js and *.css are: run scripts/embed_pages.sh' >&2
    exit 1
}

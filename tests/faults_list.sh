#!/bin/sh
# Every public function is called by a sweep of faults, or by what shows that it needs no memory. Usage: faults_list.sh SOURCE_DIR
set -eu
cd "$1"
missing=0 known=0
for name in $(sed -n 's/^ATTN_API.*[ *]\(attn_[a-z0-9_]*\)(.*/\1/p' include/attn/*.h); do
    known=$((known + 1))
    # every_op.c has the step with every operation.
    if ! grep -q "\<$name(" tests/test_faults_core.c tests/test_faults_data.c tests/test_faults_model.c tests/test_faults_pictures.c \
        tests/support/every_op.c; then
        printf '%s is called by no test_faults_*.c\n' "$name" >&2
        missing=$((missing + 1))
    fi
done
[ "$(grep -c '^ATTN_API' include/attn/*.h | awk -F: '{ n += $2 } END { print n }')" -eq "$known" ] || { printf 'functions were overlooked\n' >&2; exit 1; }
printf '%d functions, %d missing\n' "$known" "$missing"
[ "$known" -gt 200 ] && [ "$missing" -eq 0 ]

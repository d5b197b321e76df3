#!/bin/sh
# The libraries export seen_ and nothing else; inside the archive, sn_ may be shared.
cd "$(dirname "$0")/.." || exit 1
build=${BUILD:-build}
echo 1..3
so=$(nm -D --defined-only "$build"/libseen.so | awk '{ print $NF }' | grep -v '^seen_')
[ -z "$so" ] && echo "ok 1 - the shared library exports only seen_" ||
    { echo "not ok 1 - the shared library exports only seen_"; echo "$so" | sed 's/^/# /'; }
a=$(nm --defined-only "$build"/libseen.a 2>/dev/null | awk '$2 ~ /^[A-Z]$/ { print $3 }' |
    grep -vE '^(seen_|sn_)')
[ -z "$a" ] && echo "ok 2 - the archive defines only seen_ and sn_" ||
    { echo "not ok 2 - the archive defines only seen_ and sn_"; echo "$a" | sed 's/^/# /'; }
# The library never prints, exits or aborts. (Sanitizer builds call their own.)
bad=$(nm -D --undefined-only "$build"/libseen.so | awk '{ print $NF }' | sed 's/@.*//' |
    grep -xE 'printf|puts|fprintf|perror|exit|_exit|abort|__assert_fail|system')
[ -z "$bad" ] && echo "ok 3 - the library cannot print, exit or abort" ||
    { echo "not ok 3 - the library cannot print, exit or abort"; echo "$bad" | sed 's/^/# /'; }

#!/bin/sh
# libseen.so exports what seen.h declares and nothing else; inside the archive, sn_ and
# the structures that the module shares with the library may be seen too.
cd "$(dirname "$0")/.." || exit 1
build=${BUILD:-build}
echo 1..4
told() { # NUMBER PROMISE OFFENDERS
    if [ -z "$3" ]; then
        echo "ok $1 - $2"
    else
        echo "not ok $1 - $2"
        echo "$3" | sed 's/^/# /'
    fi
}
# differ A B: the lines that only one of two lists has.
differ() { printf '%s\n%s\n' "$1" "$2" | sort | uniq -u; }
declared=$(awk '/^SEEN_API/ { on = 1; s = "" }
    on { s = s $0; if (/;/) { on = 0; sub(/\(.*/, "", s); sub(/.*[ *]/, "", s); print s } }' \
    include/seen.h | sort -u)
listed=$(grep -oE 'seen_[a-z0-9_]+;' lib/libseen.map | tr -d ';' | sort -u)
exported=$(nm -D --defined-only "$build"/libseen.so | awk '$2 != "A" { print $NF }' |
    sed 's/@.*//' | sort -u)
told 1 "lib/libseen.map lists what seen.h declares" "$(differ "$declared" "$listed")"
told 2 "the shared library exports that list and nothing else" \
    "$(differ "$listed" "$exported")"
told 3 "the archive defines only seen_ and sn_" "$(nm --defined-only "$build"/libseen.a \
    2>/dev/null | awk '$2 ~ /^[A-Z]$/ { print $3 }' | grep -vE '^(seen_|sn_)')"
# (Sanitizer builds call their own.)
told 4 "the library cannot print, exit or abort" "$(nm -D --undefined-only \
    "$build"/libseen.so | awk '{ print $NF }' | sed 's/@.*//' |
    grep -xE 'printf|puts|fprintf|perror|exit|_exit|abort|__assert_fail|system')"

#!/bin/sh
# libseen.so exports what its headers declare and nothing else; inside the archive, sn_ and
# the structures that the module shares with the library may be seen too.
. "$(dirname "$0")/tap.sh"
cd "$top" || exit 1
# differ A B: the lines that only one of two lists has.
differ() { printf '%s\n%s\n' "$1" "$2" | sort | uniq -u; }
declared=$(awk '/^SEEN_API/ { on = 1; s = "" }
    on { s = s $0; if (/;/) { on = 0; sub(/\(.*/, "", s); sub(/.*[ *]/, "", s); print s } }' \
    include/seen*.h | sort -u)
listed=$(grep -oE 'seen_[a-z0-9_]+;' lib/libseen.map | tr -d ';' | sort -u)
exported=$(nm -D --defined-only "$build"/libseen.so | awk '$2 != "A" { print $NF }' |
    sed 's/@.*//' | sort -u)
same "lib/libseen.map lists what the headers declare" "" "$(differ "$declared" "$listed")"
same "the shared library exports that list and nothing else" "" \
    "$(differ "$listed" "$exported")"
# What seen.h has not frozen stands in a block of its own, so that a package that needs a
# sketch asks for more than one that does not.
same "no symbol is listed twice" "" "$(grep -oE 'seen_[a-z0-9_]+;' lib/libseen.map | sort | uniq -d)"
same "sketches are exported as SEEN_SKETCHES_0, everything else as SEEN_0 or what came after it" "" "$(nm -D --defined-only --with-symbol-versions \
    "$build"/libseen.so | awk '$2 != "A" { split($NF, at, "@@")
        if (at[2] !~ (at[1] ~ /^seen_(cms|top|tdigest|distinct)_/ ? "^SEEN_SKETCHES_0$" : "^SEEN_0(_[0-9]+)?$")) print $NF }')"
same "debian/libseen0.symbols has those versions" "$(sed -n 's/^\(SEEN_[A-Z_0-9]*\) {$/\1/p' lib/libseen.map | sort)" \
    "$(sed -n 's/^ (symver.*)\(SEEN_[A-Z_0-9]*\) .*/\1/p' debian/libseen0.symbols | sort)"
same "the archive defines only seen_ and sn_" "" "$(nm --defined-only "$build"/libseen.a \
    2>/dev/null | awk '$2 ~ /^[A-Z]$/ { print $3 }' | grep -vE '^(seen_|sn_)')"
# (Sanitizer builds call their own.)
same "the library cannot print, exit or abort" "" "$(nm -D --undefined-only \
    "$build"/libseen.so | awk '{ print $NF }' | sed 's/@.*//' |
    grep -xE 'printf|puts|fprintf|perror|exit|_exit|abort|__assert_fail|system')"
finish

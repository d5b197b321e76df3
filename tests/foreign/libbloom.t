#!/bin/sh
# libbloom.t - libbloom 1.x (libbloom-dev) and we set the same bits.
. "$(dirname "$0")/../cli/tap.sh"
seen=$(command -v seen)
echo '#include <bloom.h>' | ${CC:-cc} -E - >/dev/null 2>&1 || {
    echo "1..0 # SKIP no libbloom headers (libbloom-dev)"
    exit 0
}
ok "a program with libbloom" ${CC:-cc} -o live "$top/tests/foreign/libbloom_live.c" -lbloom
seq 1 1500 | sed 's/^/key /' >keys
for p in 0.3 0.05 0.001; do
    ./live 2000 $p <keys >theirs
    "$seen" new --kind libbloom1 -n 2000 -e $p ours
    "$seen" add --format libbloom1:n=2000,p=$p ours keys
    ok "error $p: the same bit array" cmp theirs ours
    same "error $p: every key is found in libbloom's" 1500 \
        "$("$seen" has -c --format libbloom1:n=2000,p=$p theirs keys)"
    rm ours
done
finish

#!/bin/sh
# libbloom.t - the packaged libbloom, 1.x or 2.x (libbloom-dev), and we set the same bits.
. "$(dirname "$0")/../tap.sh"
seen=$(command -v seen)
echo '#include <bloom.h>' | ${CC:-cc} -E - >/dev/null 2>&1 || {
    echo "1..0 # SKIP no libbloom headers (libbloom-dev)"
    exit 0
}
ok "a program with libbloom" ${CC:-cc} -o live "$top/tests/foreign/libbloom_live.c" -lbloom
case $(./live) in
# The array alone says neither size nor error. A file of 2.x is an image of its structure,
# with an address in it: what comes after those 75 bytes is compared.
1) kind=libbloom1 bits=1 ;;
2) kind=libbloom bits=76 ;;
esac
seq 1 1500 | sed 's/^/key /' >keys
for p in 0.3 0.05 0.001; do
    [ $kind = libbloom ] && form=libbloom || form=libbloom1:n=2000,p=$p
    ./live 2000 $p theirs <keys
    "$seen" new --kind $kind -n 2000 -e $p ours
    "$seen" add --format $form ours keys
    tail -c +$bits theirs >their_bits
    tail -c +$bits ours >our_bits
    ok "error $p: bits are set" test "$(tr -d '\000' <our_bits | wc -c)" -gt 100
    ok "error $p: the same bit array" cmp their_bits our_bits
    same "error $p: every key is found in libbloom's" 1500 \
        "$("$seen" has -c --format $form theirs keys)"
    [ $kind = libbloom1 ] || same "error $p: libbloom finds every key in ours" 1500 "$(./live ours <keys)"
    rm ours
done
finish

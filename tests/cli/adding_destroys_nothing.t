#!/bin/sh
# Formats without a header take any bytes for a filter: what is recognised as something
# else is not added to. Lists that are not lists, keys that are not keys, CRLF.
. "$(dirname "$0")/../tap.sh"

printf 'one\ntwo\n' >keys
printf 'three\n' >other
seen new --kind guava -n 1000 -e 0.01 f.guava
seen new -n 1000 f.seen
seen new --kind leveldb -n 1000 f.leveldb
seen add f.guava keys && seen add f.seen keys
for pair in "leveldb keys text" "leveldb f.guava guava" "leveldb f.seen filter.of.seen" \
    "libbloom:n=1000,p=0.01 keys text" "redis-bitmap:m=10000,k=5 keys text" "redis-bitmap:m=10000,k=5 f.guava guava"; do
    set -- $pair
    sum=$(cksum <"$2")
    fails "add --format ${1%%:*} to $2 is refused" 2 "$2: .*$3" seen add --format "$1" "$2" other
    same "and $2 is as it was" "$sum" "$(cksum <"$2")"
done
ok "the arguments in their order work" sh -c 'seen add --format leveldb f.leveldb other &&
    seen has -q --word three --format leveldb f.leveldb'
cp keys forced
ok "--force overrides the refusal" seen add --force --format leveldb forced other

# --against: a damaged filter is not a list.
printf 'one\nfour\n' >in
for at in 0 3 20 70; do
    perl -0777pe "substr(\$_, $at, 1) ^= chr(32)" f.seen >damaged.seen
    fails "--against a filter damaged at byte $at" 2 'damaged.seen' \
        seen uniq --against damaged.seen in
    fails "-x too, at byte $at" 2 'damaged.seen' seen uniq -x --against damaged.seen in
done
head -c 100 f.seen >short.seen
fails "--against a filter cut short" 2 'short.seen' seen uniq --against short.seen in
perl -0777pe 'substr($_, 2, 1) = chr(77)' f.guava >damaged.guava
fails "--against a damaged Guava filter" 2 'damaged.guava: neither a filter' seen uniq --against damaged.guava in
printf 'a\0b\nfour\n' >nul
same "a list with NUL bytes is accepted from standard input" one "$(seen uniq --against - in <nul)"
printf 'four\0' >zero
same "-z: a list that ends in NUL" "one" "$(printf 'one\0four\0' | seen uniq -z --against zero - | tr '\0' '\n')"

# CRLF.
printf 'one\r\nfive\r\n' >windows
same "a carriage return is part of a line" "" "$(seen has f.seen windows)"
same "--crlf: it is not" "one" "$(seen has --crlf f.seen windows | tr -d '\r')"
seen new --kind dcso -n 100 -e 0.001 f.dcso && seen add f.dcso windows
same "DCSO's command drops it, so its filters are filled and asked without it" "$(printf 'one\nfive')" \
    "$(printf 'one\nfive\nsix\n' | seen has f.dcso)"
if command -v bloom >/dev/null; then
    same "DCSO's own command finds them" "$(printf 'one\nfive')" "$(printf 'one\r\nfive\n' | bloom check f.dcso | tr -d '\r')"
fi
seen new --kind guava:type=int32 -n 100 -e 0.001 f.int32
printf '5\n-7\n' | seen add --format guava:type=int32 f.int32
same "keys of a type" "$(printf '5\n-7')" "$(printf '5\n6\n-7\n' | seen has --format guava:type=int32 f.int32)"
printf '5\r\n' >typed
for c in "has" "has -v" "has -c" "add"; do
    # shellcheck disable=SC2086
    fails "$c: a key that is not of the type is an error, not an answer" 2 'f.int32: key "5.?" is not an int32' \
        seen $c --format guava:type=int32 f.int32 typed
done
fails "which says what to do" 2 'crlf ignores' seen has -v --format guava:type=int32 f.int32 typed
same "--crlf does" 5 "$(seen has --crlf --format guava:type=int32 f.int32 typed | tr -d '\r')"
fails "--word too" 2 'is not an int32' seen has --word five --format guava:type=int32 f.int32
printf 'x\ny\r\nx\r\n' >mixed
printf 'x\ny\r\n' >want
ok "uniq --crlf keeps the line as it came" sh -c 'seen uniq --crlf mixed | cmp - want'
printf 'a,1\r\nb,1\n' >csv
same "--crlf: the last field too" "a,1" "$(seen uniq --crlf -t , -k 2 csv | tr -d '\r')"
printf 'abc1\nabc2\nabd\n' >wide
same "-w: only the first bytes of the key" "$(printf 'abc1\nabd')" "$(seen uniq -w 3 wide)"
same "-w with -k" "$(printf 'abc1\nabd')" "$(seen uniq -k 1 -w 3 wide)"
fails "-w 0" 2 "width: '0' is not" seen uniq -w 0 wide
same "-x -w" "$(printf 'abc1\nabd')" "$(seen uniq -x -w 3 wide)"
finish
